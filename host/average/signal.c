#include "average/signal.h"

#include "average/intake.h"
#include "average/mesh.h"
#include "average/place.h"
#include "average/share.h"
#include "numerics/cell.h"
#include "parallel.h"

#include <math.h>
#include <string.h>

enum { MOST_WAVES = 500, SAMPLE = 64 };

typedef struct wave_list {
    const average_problem *p;
    const double *cell_A;
    const float *position_A;
    double reciprocal[3][3], least_k;
    size_t count;
    double k[MOST_WAVES][3], weight[MOST_WAVES], sum[MOST_WAVES][2]; /* the last: structure factors */
    size_t first, atoms;                                             /* of this rank */
} wave_list;

static double add_wave(wave_list *w, const int64_t m[3])
{
    double *k = w->k[w->count];
    for (int d = 0; d < 3; d++)
        k[d] = 2 * M_PI *
               ((double)m[0] * w->reciprocal[0][d] + (double)m[1] * w->reciprocal[1][d] +
                (double)m[2] * w->reciprocal[2][d]);
    return cell_dot(k, k);
}

/* All waves, one of each pair of opposite ones; false: there are too many. */
static bool list_all(wave_list *w)
{
    const double sigma_A = w->p->options.smooth_A, most_k = place_most_wave(w->least_k, 5.4 / sigma_A);
    int64_t most[3], m[3];
    for (int i = 0; i < 3; i++)
        most[i] = (int64_t)(most_k * cell_length(w->cell_A + 3 * i) / (2 * M_PI));
    if ((double)(most[0] + 1) * (double)(2 * most[1] + 1) * (double)(2 * most[2] + 1) > 1e6)
        return false;
    for (m[0] = 0; m[0] <= most[0]; m[0]++)
        for (m[1] = m[0] == 0 ? 0 : -most[1]; m[1] <= most[1]; m[1]++)
            for (m[2] = m[0] == 0 && m[1] == 0 ? 1 : -most[2]; m[2] <= most[2]; m[2]++) {
                if (w->count == MOST_WAVES)
                    return false;
                const double k2 = add_wave(w, m);
                if (k2 > most_k * most_k)
                    continue;
                w->weight[w->count++] = exp(-sigma_A * sigma_A * (k2 - w->least_k * w->least_k)) / (k2 * k2);
            }
    return true;
}

/* From a fixed sequence, (0, 1). */
static double next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return ((double)(*state >> 11) + 0.5) * 0x1p-53;
}

/* Waves whose number grows as the model's signal, exp(-sigma^2 k^2) / (k^2 + screened^2): normal
 * lengths, any direction. */
static void list_sample(wave_list *w)
{
    uint64_t state = 88172645463325252u;
    w->count = 0;
    for (int i = 0; i < 2 * SAMPLE && w->count < SAMPLE; i++) {
        const double length = sqrt(-log(next(&state))) * fabs(cos(2 * M_PI * next(&state))) / w->p->options.smooth_A,
                     z = 2 * next(&state) - 1, across = sqrt(1 - z * z), turn = 2 * M_PI * next(&state),
                     k[3] = {length * across * cos(turn), length * across * sin(turn), length * z};
        int64_t m[3];
        for (int axis = 0; axis < 3; axis++)
            m[axis] = llrint(cell_dot(k, w->cell_A + 3 * axis) / (2 * M_PI));
        if (m[0] == 0 && m[1] == 0 && m[2] == 0)
            continue;
        const double k2 = add_wave(w, m);
        w->weight[w->count++] = 1 / average_mesh_matter(k2);
    }
}

static void sum_waves(void *context, size_t first, size_t last)
{
    wave_list *w = context;
    for (size_t i = first; i < last; i++) {
        const double *k = w->k[i], wave[4] = {k[0] / (2 * M_PI), k[1] / (2 * M_PI), k[2] / (2 * M_PI), 0};
        intake_add_turns(w->position_A + 3 * w->first, w->p->charge_e + w->first, wave, w->atoms, w->sum[i]);
    }
}

ley_status average_signal(const average_problem *p, const ley_average_ranks *ranks, const double cell_A[9],
                          const float *position_A, double *signal, ley_error *error)
{
    wave_list w = {.p = p, .cell_A = cell_A, .position_A = position_A};
    w.atoms = share_atoms(ranks, p->atoms, &w.first);
    place_reciprocal(cell_A, w.reciprocal);
    w.least_k = place_least_wave(cell_A);
    if (!list_all(&w))
        list_sample(&w);
    parallel_ranges(w.count, sum_waves, &w);
    const ley_status status = share_doubles(ranks, w.sum[0], 2 * w.count, error);
    double found = 0, model = 0;
    for (size_t i = 0; i < w.count; i++) {
        found += w.weight[i] * (w.sum[i][0] * w.sum[i][0] + w.sum[i][1] * w.sum[i][1]);
        model += w.weight[i] * p->square_charge_e * average_mesh_matter(cell_dot(w.k[i], w.k[i]));
    }
    *signal = model > 0 ? fmin(fmax(sqrt(found / model), SIGNAL_LEAST), 1) : 1;
    return status;
}
