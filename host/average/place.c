#include "average/place.h"

#include <math.h>
#include <string.h>

/* Cells flatter than this share of their edges' product span no volume. */
static const double least_volume = 1e-6;

static void cross(const double a[3], const double b[3], double made[3])
{
    for (int i = 0; i < 3; i++)
        made[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

double place_reciprocal(const double cell_A[9], double reciprocal[3][3])
{
    double volume = 0;
    for (int i = 0; i < 3; i++)
        cross(cell_A + 3 * ((i + 1) % 3), cell_A + 3 * ((i + 2) % 3), reciprocal[i]);
    for (int d = 0; d < 3; d++)
        volume += cell_A[d] * reciprocal[0][d];
    for (int i = 0; i < 3; i++)
        for (int d = 0; d < 3; d++)
            reciprocal[i][d] /= volume;
    return fabs(volume);
}

bool place_make(const double cell_A[9], const int64_t n[3], const double origin[3], frame_place *made)
{
    double reciprocal[3][3], edges = 1;
    for (int i = 0; i < 3; i++)
        edges *= sqrt(cell_A[3 * i] * cell_A[3 * i] + cell_A[3 * i + 1] * cell_A[3 * i + 1] +
                      cell_A[3 * i + 2] * cell_A[3 * i + 2]);
    const double volume = place_reciprocal(cell_A, reciprocal);
    if (!isfinite(volume) || !isfinite(edges) || !(volume > least_volume * edges))
        return false;
    for (int i = 0; i < 3; i++) {
        for (int d = 0; d < 3; d++)
            made->along[i][d] = reciprocal[i][d] * (double)n[i];
        made->first[i] = -origin[i] * (double)n[i];
        made->first[i] -= floor(made->first[i] / (double)n[i]) * (double)n[i];
    }
    return true;
}

void place_floats(const frame_place *p, float made[PLACE_FLOATS])
{
    for (int i = 0; i < 3; i++) {
        float *row = made + 4 * i, *lost = made + 12 + 4 * i;
        for (int d = 0; d < 3; d++) {
            row[d] = (float)p->along[i][d];
            lost[d] = (float)(p->along[i][d] - (double)row[d]);
        }
        lost[3] = (float)floor(p->first[i]);
        row[3] = (float)(p->first[i] - floor(p->first[i]));
    }
}

double place_least_wave(const double cell_A[9])
{
    double reciprocal[3][3], least2 = INFINITY;
    place_reciprocal(cell_A, reciprocal);
    for (int x = -2; x <= 2; x++)
        for (int y = -2; y <= 2; y++)
            for (int z = -2; z <= 2; z++) {
                double k2 = 0;
                for (int d = 0; d < 3; d++)
                    k2 += pow(x * reciprocal[0][d] + y * reciprocal[1][d] + z * reciprocal[2][d], 2);
                if (x != 0 || y != 0 || z != 0)
                    least2 = fmin(least2, k2);
            }
    return 2 * M_PI * sqrt(least2);
}

double place_most_wave(double least_k, double widths)
{
    return sqrt(least_k * least_k + widths * widths);
}
