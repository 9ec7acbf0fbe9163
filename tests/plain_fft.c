#include "plain_fft.h"

#include <math.h>
#include <stdlib.h>

/* A row of `n` complex numbers, `stride` apart, by the definition. */
static void transform_row(double *values, size_t n, size_t stride, int sign, const double *turn, double *scratch)
{
    for (size_t k = 0; k < n; k++) {
        double re = 0, im = 0;
        for (size_t i = 0, at = 0; i < n; i++, at = at + k < n ? at + k : at + k - n) {
            const double c = turn[2 * at], s = sign * turn[2 * at + 1];
            const double x = values[2 * i * stride], y = values[2 * i * stride + 1];
            re += x * c - y * s;
            im += x * s + y * c;
        }
        scratch[2 * k] = re;
        scratch[2 * k + 1] = im;
    }
    for (size_t k = 0; k < n; k++) {
        values[2 * k * stride] = scratch[2 * k];
        values[2 * k * stride + 1] = scratch[2 * k + 1];
    }
}

/* cos and sin of n angles round the circle. */
static double *make_turns(size_t n)
{
    double *turn = malloc(2 * n * sizeof *turn);
    for (size_t i = 0; i < n; i++) {
        turn[2 * i] = cos(2 * M_PI * (double)i / (double)n);
        turn[2 * i + 1] = sin(2 * M_PI * (double)i / (double)n);
    }
    return turn;
}

/* All three axes of a full complex mesh. */
static void transform(const size_t n[3], double *values, int sign)
{
    const size_t stride[3] = {1, n[0], n[0] * n[1]};
    for (size_t axis = 0; axis < 3; axis++) {
        double *turn = make_turns(n[axis]), *scratch = malloc(2 * n[axis] * sizeof *scratch);
        const size_t a = axis == 0 ? 1 : 0, b = axis == 2 ? 1 : 2;
        for (size_t j = 0; j < n[b]; j++)
            for (size_t i = 0; i < n[a]; i++)
                transform_row(values + 2 * (i * stride[a] + j * stride[b]), n[axis], stride[axis], sign, turn, scratch);
        free(turn);
        free(scratch);
    }
}

void plain_fft_columns(size_t count, size_t n, int sign, float *values)
{
    double *turn = make_turns(n), *column = malloc(2 * n * sizeof *column), *scratch = malloc(2 * n * sizeof *scratch);
    for (size_t c = 0; c < count; c++) {
        for (size_t i = 0; i < 2 * n; i++)
            column[i] = (double)values[2 * (i / 2 * count + c) + i % 2];
        transform_row(column, n, 1, sign, turn, scratch);
        for (size_t i = 0; i < 2 * n; i++)
            values[2 * (i / 2 * count + c) + i % 2] = (float)column[i];
    }
    free(turn);
    free(column);
    free(scratch);
}

static double *full_mesh(const size_t n[3])
{
    return calloc(2 * n[0] * n[1] * n[2], sizeof(double));
}

void plain_fft_exact(const size_t n[3], const double *grid, double *spectrum)
{
    const size_t rows = n[1] * n[2], half = n[0] / 2 + 1;
    double *full = full_mesh(n);
    for (size_t i = 0; i < n[0] * rows; i++)
        full[2 * i] = grid[i];
    transform(n, full, -1);
    for (size_t r = 0; r < rows; r++)
        for (size_t k = 0; k < 2 * half; k++)
            spectrum[2 * half * r + k] = full[2 * n[0] * r + k];
    free(full);
}

void plain_fft_there(const size_t n[3], size_t pitch, const float *grid, float *spectrum)
{
    const size_t rows = n[1] * n[2], half = n[0] / 2 + 1;
    double *plain = calloc(n[0] * rows, sizeof *plain), *made = malloc(2 * half * rows * sizeof *made);
    for (size_t r = 0; r < rows; r++)
        for (size_t x = 0; x < n[0]; x++)
            plain[r * n[0] + x] = (double)grid[r * pitch + x];
    plain_fft_exact(n, plain, made);
    for (size_t i = 0; i < 2 * half * rows; i++)
        spectrum[i] = (float)made[i];
    free(plain);
    free(made);
}

void plain_fft_back(const size_t n[3], size_t pitch, const float *spectrum, float *grid)
{
    const size_t half = n[0] / 2 + 1;
    double *full = full_mesh(n);
    for (size_t z = 0; z < n[2]; z++)
        for (size_t y = 0; y < n[1]; y++)
            for (size_t x = 0; x < n[0]; x++) {
                const bool is_there = x < half;
                const size_t from_x = is_there ? x : n[0] - x, from_y = is_there ? y : (n[1] - y) % n[1];
                const size_t from_z = is_there ? z : (n[2] - z) % n[2];
                const float *from = spectrum + 2 * ((from_z * n[1] + from_y) * half + from_x);
                double *to = full + 2 * ((z * n[1] + y) * n[0] + x);
                to[0] = (double)from[0];
                to[1] = is_there ? (double)from[1] : -(double)from[1];
            }
    transform(n, full, 1);
    for (size_t r = 0; r < n[1] * n[2]; r++)
        for (size_t x = 0; x < n[0]; x++)
            grid[r * pitch + x] = (float)full[2 * (r * n[0] + x)];
    free(full);
}
