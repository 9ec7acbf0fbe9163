/* What frames are compared with: the model of atoms and grid, the map in units of its own
 * deviation, windows. */
#ifndef LEY_FIT_PROBLEM_H
#define LEY_FIT_PROBLEM_H

#include "core/parameters.h"
#include "law/density_map.h"

extern const ley_parameter_table density_parameters;

typedef struct fit_problem {
    ley_density_options options;
    density_model model;
    int64_t nodes;
    bool is_varied, is_oblique; /* widths of atoms; the grid */
    bool has_threshold, has_gradient;
    double reach_nodes[3]; /* of the widest atom */
    double metric[6];      /* products of steps, A^2: of x, y, z with themselves, twice those of xy, xz, yz */

    float *map;               /* [nodes]: (value - mean) / deviation; not-a-numbers do not count. NULL: none */
    float *mask;              /* [nodes]: 1, or 0; NULL: none */
    double mean, deviation;   /* of the values that count */
    density_sums all, masked; /* n, b and bb alone: of the map as it is here */

    int32_t windows;
    int32_t *window_first, *window_atom; /* [2][windows + 1] where its atoms, and their boxes, begin; atoms, window
                                            after window; NULL: none */
    size_t window_atoms, window_boxes;
} fit_problem;

/* Errors as ley_fit_create() has them; fit_problem_end() ends it also on failure. */
ley_status fit_problem_make(fit_problem *p, const ley_fit_target *target, size_t n, const double *weight,
                            const double *radius_A, const ley_density_options *options, ley_error *error);
void fit_problem_end(fit_problem *p);

/* How far from a window's atoms its nodes are, A. */
double fit_window_A(const fit_problem *p);

/* Whether the density at all nodes is needed. */
static inline bool fit_is_stored(const fit_problem *p)
{
    return p->map == NULL || p->has_gradient || p->windows > 0;
}

/* LEY_FIT_ALL and so on. */
int fit_sets(const fit_problem *p);

/* ---- A frame's results ----------------------------------------------------------------------- */

/* Of sums over the nodes of each set. */
typedef struct fit_sums {
    density_sums all, masked, above;
} fit_sums;

void fit_score(const fit_problem *p, const fit_sums *s, double score[LEY_FIT_SCORES]);

/* What the gradients of a frame have in common; all 0 where its correlation is undefined. */
typedef struct fit_slopes {
    double mean_a, mean_b, by_a, by_b; /* means, and what ways from them are multiplied by */
} fit_slopes;

fit_slopes fit_slopes_of(const density_sums *s);

/* The gradient by an atom's place, of sums (fit_gradient.cl) of e b d, e a d, e d. */
void fit_atom_gradient(const fit_problem *p, const fit_slopes *s, size_t atom, const double sums[9], float gradient[3]);

/* What a node adds to sums over sets. */
void fit_add_node(const fit_problem *p, int64_t node, double density, double threshold, fit_sums *s);

#endif
