/* The judge of densities of atoms: leyden_density_map.h's formula in plain double precision, and
 * correlations by sums. */
#ifndef LEY_LAW_DENSITY_MAP_H
#define LEY_LAW_DENSITY_MAP_H

#include "leyden.h"

/* Atoms and a grid. */
typedef struct density_model {
    ley_grid grid;
    double inverse[3][3]; /* rows take a way in A to nodes along each axis */
    size_t count;
    double *weight;  /* [count]: w_i A_i */
    double *sigma_A; /* [count] */
    double cut;      /* c */
} density_model;

/* Of these weights and radii. Errors as ley_fit_create() has them. */
ley_status density_model_make(density_model *m, const ley_grid *grid, size_t count, const double *weight,
                              const double *radius_A, const ley_density_options *options, ley_error *error);
void density_model_end(density_model *m);

/* Errors: LEY_ERROR_INPUT of a resolution below the spacing. */
ley_status density_check_spacing(const ley_grid *grid, double resolution_A, ley_error *error);

/* How many nodes along an axis an atom of this width reaches. */
double density_reach_nodes(const density_model *m, double sigma_A, int axis);

/* A place in nodes from the grid's first one on. */
void density_place(const density_model *m, const float position_A[3], double at[3]);

/* The density at the nodes [first, first + count), values[z][y][x]. `doubt`, or NULL: at each node
 * what atoms bring there that are at the very end of their reach. Places are of one frame. */
void density_law_box(const density_model *m, const float *position_A, const int64_t first[3], const int64_t count[3],
                     double *values, double *doubt);

/* Sums over nodes: how many, a, b, a b, a^2, b^2. */
typedef struct density_sums {
    double n, a, b, ab, aa, bb;
} density_sums;

static inline void density_sums_add(density_sums *s, double a, double b)
{
    s->n += 1;
    s->a += a;
    s->b += b;
    s->ab += a * b;
    s->aa += a * a;
    s->bb += b * b;
}

/* Pearson's correlation; not-a-number: it is undefined, as a or b does not vary by more than what
 * floats lose. */
double density_correlation(const density_sums *s);

#endif
