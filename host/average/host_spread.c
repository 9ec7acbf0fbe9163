#include "average/host_spread.h"

#include "parallel.h"

#include <math.h>

typedef struct spreading {
    const average_mesh *mesh;
    const frame_place *place;
    const float *position_A;
    const double *charge;
    int64_t *density;
} spreading;

/* The first node of an atom along an axis, and the weights of its nodes. */
static int64_t find(const spreading *s, const float *x_A, int axis, double weight[WINDOW_MOST_POINTS])
{
    const double *along = s->place->along[axis];
    const int64_t n = s->mesh->n[axis];
    double at = s->place->first[axis];
    for (int d = 0; d < 3; d++)
        at += along[d] * (double)x_A[d];
    at -= floor(at / (double)n) * (double)n;
    const double below = floor(at);
    window_weights(s->mesh->window, at - below, weight);
    return ((int64_t)below - s->mesh->window->points / 2 + 1 + n) % n;
}

static void spread_atoms(void *context, size_t first, size_t last)
{
    const spreading *s = context;
    const int points = s->mesh->window->points;
    const int64_t *n = s->mesh->n;
    for (size_t i = first; i < last; i++) {
        double weight[3][WINDOW_MOST_POINTS];
        int64_t node[3];
        for (int axis = 0; axis < 3; axis++)
            node[axis] = find(s, s->position_A + 3 * i, axis, weight[axis]);
        for (int c = 0; c < points; c++)
            for (int b = 0; b < points; b++) {
                const double across = s->charge[i] * weight[2][c] * weight[1][b];
                int64_t *row = s->density + ((node[2] + c) % n[2] * n[1] + (node[1] + b) % n[1]) * n[0];
                for (int a = 0; a < points; a++)
                    __atomic_fetch_add(row + (node[0] + a) % n[0], llrint(across * weight[0][a]), __ATOMIC_RELAXED);
            }
    }
}

void host_spread_frame(const average_mesh *mesh, const frame_place *place, size_t atoms, const float *position_A,
                       const double *charge, int64_t *density)
{
    spreading s = {mesh, place, position_A, charge, density};
    parallel_ranges(atoms, spread_atoms, &s);
}
