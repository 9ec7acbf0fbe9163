#include "law/fourier.h"

#include "error.h"

#include <math.h>
#include <stdlib.h>

typedef struct fourier_line {
    int64_t n;
    fourier_number *root, *in, *out, *term; /* exp(-+ 2 pi i j / n), and room for a line each */
} fourier_line;

static fourier_number times(fourier_number a, fourier_number b)
{
    return (fourier_number){a.real * b.real - a.imaginary * b.imaginary, a.real * b.imaginary + a.imaginary * b.real};
}

/* out[k] = sum of in[j stride] root^(j k n/count), by the smallest factor of count: Cooley and
 * Tukey. */
static void transform(const fourier_line *l, int64_t count, int64_t stride, const fourier_number *in,
                      fourier_number *out)
{
    if (count == 1) {
        out[0] = in[0];
        return;
    }
    int64_t p = 2;
    while (count % p != 0)
        p++;
    const int64_t m = count / p, step = l->n / count;
    for (int64_t r = 0; r < p; r++)
        transform(l, m, stride * p, in + r * stride, out + r * m);
    for (int64_t k = 0; k < m; k++) {
        for (int64_t r = 0; r < p; r++)
            l->term[r] = times(out[r * m + k], l->root[r * k * step]);
        for (int64_t q = 0; q < p; q++) {
            fourier_number sum = l->term[0];
            for (int64_t r = 1; r < p; r++) {
                const fourier_number t = times(l->term[r], l->root[r * q * m * step % l->n]);
                sum.real += t.real;
                sum.imaginary += t.imaginary;
            }
            out[q * m + k] = sum;
        }
    }
}

static bool make_line(fourier_line *l, int64_t n, bool inverse)
{
    l->n = n;
    l->root = calloc(4 * (size_t)n, sizeof *l->root);
    if (l->root == NULL)
        return false;
    l->in = l->root + n;
    l->out = l->in + n;
    l->term = l->out + n;
    for (int64_t j = 0; j < n; j++) {
        const double angle = 2 * M_PI * (double)j / (double)n;
        l->root[j] = (fourier_number){cos(angle), inverse ? sin(angle) : -sin(angle)};
    }
    return true;
}

static void transform_line(const fourier_line *l, fourier_number *first, int64_t stride, double scale)
{
    for (int64_t j = 0; j < l->n; j++)
        l->in[j] = first[j * stride];
    transform(l, l->n, 1, l->in, l->out);
    for (int64_t j = 0; j < l->n; j++)
        first[j * stride] = (fourier_number){scale * l->out[j].real, scale * l->out[j].imaginary};
}

ley_status fourier_transform(fourier_number *values, const int64_t n[3], const bool along[3], bool inverse,
                             ley_error *error)
{
    const int64_t stride[3] = {1, n[0], n[0] * n[1]};
    for (int axis = 0; axis < 3; axis++) {
        const int b = (axis + 1) % 3, c = (axis + 2) % 3;
        fourier_line line;
        if (!along[axis] || n[axis] == 1)
            continue;
        if (!make_line(&line, n[axis], inverse))
            return ley_fail_memory(error, 4 * (size_t)n[axis] * sizeof(fourier_number), "a transform");
        for (int64_t i = 0; i < n[b]; i++)
            for (int64_t j = 0; j < n[c]; j++)
                transform_line(&line, values + i * stride[b] + j * stride[c], stride[axis],
                               inverse ? 1 / (double)n[axis] : 1);
        free(line.root);
    }
    return LEY_OK;
}
