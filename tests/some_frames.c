#include "some_frames.h"

#include "support.h"

#include <complex.h>

double walk_fraction(unsigned *seed)
{
    return rand_r(seed) / (RAND_MAX + 1.0);
}

float *frame_of(walk *w, int f)
{
    return &w->position_A[0][0] + (size_t)f * 3 * (size_t)w->atoms;
}

walk *walk_make(int atoms, int frames, double wobble, unsigned seed)
{
    static const double cell_A[9] = {18, 0, 0, 3, 15, 0, -2, 4, 21};
    walk *w = calloc(1, sizeof *w);
    assert_non_null(w);
    w->atoms = atoms;
    w->frames = frames;
    for (int i = 0; i < atoms; i++)
        w->charge_e[i] = i % 2 == 0 ? 1 - 0.3 * walk_fraction(&seed) : -0.8;
    for (int f = 0; f < frames; f++) {
        for (int k = 0; k < 9; k++)
            w->cell_A[f][k] = cell_A[k] + (cell_A[k] != 0 && f > 0 ? wobble * (walk_fraction(&seed) - 0.5) : 0);
        for (int i = 0; i < 3 * atoms; i++)
            frame_of(w, f)[i] = f == 0 ? (float)(60 * walk_fraction(&seed) - 20)
                                       : frame_of(w, f - 1)[i] + (float)(4 * walk_fraction(&seed) - 2);
    }
    return w;
}

double reciprocal_of(const double c[9], double reciprocal[3][3])
{
    double volume = 0;
    for (int i = 0; i < 3; i++) {
        const double *a = c + 3 * ((i + 1) % 3), *b = c + 3 * ((i + 2) % 3);
        reciprocal[i][0] = a[1] * b[2] - a[2] * b[1];
        reciprocal[i][1] = a[2] * b[0] - a[0] * b[2];
        reciprocal[i][2] = a[0] * b[1] - a[1] * b[0];
    }
    for (int d = 0; d < 3; d++)
        volume += c[d] * reciprocal[0][d];
    for (int i = 0; i < 9; i++)
        reciprocal[i / 3][i % 3] *= 2 * M_PI / volume;
    return fabs(volume);
}

void add_potential(walk *w, int frame, const double cell_A[9], double sigma_A, size_t points, const double (*at)[3],
                   double share, double *sum)
{
    enum { MOST = 24 };
    double k[3][3], own[3][3];
    const double volume = reciprocal_of(cell_A, k), most = 6.5 / sigma_A;
    reciprocal_of(w->cell_A[frame], own);
    for (int x = 0; x <= MOST; x++)
        for (int y = -MOST; y <= MOST; y++)
            for (int z = -MOST; z <= MOST; z++) {
                double k2 = 0;
                double complex s = 0;
                for (int d = 0; d < 3; d++)
                    k2 += pow(x * k[0][d] + y * k[1][d] + z * k[2][d], 2);
                if (k2 == 0 || k2 > most * most)
                    continue;
                for (int i = 0; i < w->atoms; i++) {
                    const float *p = frame_of(w, frame) + 3 * i;
                    double phase = 0;
                    for (int d = 0; d < 3; d++)
                        phase += (x * own[0][d] + y * own[1][d] + z * own[2][d]) * (double)p[d];
                    s += w->charge_e[i] * cexp(-I * phase);
                }
                s *= (x == 0 ? 1 : 2) * 4 * M_PI / volume * exp(-sigma_A * sigma_A * k2 / 2) / k2;
                for (size_t p = 0; p < points; p++)
                    sum[p] += share * creal(s * cexp(2 * M_PI * I * (x * at[p][0] + y * at[p][1] + z * at[p][2])));
            }
}

void sample_make(const ley_map *map, const double origin[3], sample *s)
{
    const ley_grid *g = ley_map_grid(map);
    unsigned seed = 3;
    memset(s, 0, sizeof *s);
    for (int p = 0; p < POINTS; p++)
        for (int axis = 2; axis >= 0; axis--) {
            const int64_t i = (int64_t)((double)g->n[axis] * walk_fraction(&seed));
            s->number[p] = s->number[p] * g->n[axis] + i;
            s->at[p][axis] = origin[axis] + (double)i / (double)g->n[axis];
        }
}

double sample_error(const ley_map *map, const sample *s)
{
    double off = 0, all = 0;
    for (int p = 0; p < POINTS; p++) {
        const double right = s->right[p] * ley_coulomb_constant(LEY_UNITS_VOLT, 1, 300);
        off += pow((double)ley_map_read_values(map)[s->number[p]] - right, 2);
        all += right * right;
    }
    return sqrt(off / all);
}
