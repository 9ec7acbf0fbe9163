/* A short-range problem for the kernels. */
#ifndef LEY_CUTOFF_PROBLEM_H
#define LEY_CUTOFF_PROBLEM_H

#include "expression/expression.h"
#include "law/reference.h"
#include "layout/binning.h"
#include "layout/grid_frame.h"
#include "leyden.h"
#include "methods/cutoff/tuning.h"
#include "schedule/job_memory.h"

/* What is to be summed where: phi = constant * sum over r < a of f(max(r, r_min)) on a grid, and
 * the atoms in their bins. Kernels compute in units of their own: lengths are
 * multiplied by unit_per_A. Values, which are inverse lengths, would have to be multiplied by it,
 * too: the first number of each atom already is. */
typedef struct cutoff_problem {
    const ley_atoms *source; /* the caller's */
    grid_frame frame;        /* in which columns of an oblique grid are along z; there: */
    ley_atoms *turned;       /* the atoms; NULL: the frame is the world's */
    const ley_atoms *atoms;  /* these, or the caller's */
    ley_grid grid;
    const ley_short_range *range;
    double constant, r_min_A;
    double cutoff_A; /* the range's, or shorter where screening leaves nothing beyond */
    double unit_per_A;
    double charge_scale; /* from charges to first numbers */
    bool is_of_charge;   /* charges multiply what the pair function does of a unit charge */
    bool is_part; /* something larger is added to the sums: what is next to the cutoff needs no digits of its own */
    float limits[4], series[4], fringe[4]; /* the kernel's arguments */
    expression *formula;                   /* of LEY_PAIR_EXPRESSION */
    expression *slope;                     /* its derivative, where cutoff_problem_add_field() has made it */
    char *prelude;                         /* the source of both, for the kernel */
    double numbers[2][16];                 /* and the numbers that it takes as arguments */
    binning_plan plan;
    binned_atoms *binned;
    float (*more)[2]; /* [bins and extra bins][depth] second and third numbers, where LEY_PAIR has them */
} cutoff_problem;

/* Everything but the bins. The range must be checked, and outlive the problem, as must the
 * atoms. */
ley_status cutoff_problem_init(cutoff_problem *problem, const ley_atoms *atoms, const ley_grid *grid,
                               const ley_short_range *range, double coulomb_constant, double dielectric, double r_min_A,
                               ley_error *error);

/* Bins of even sides (layout/binning.h) in place of usual ones, before there are any: next to
 * atoms, where the places' roundings count most, points are off by half as much. Errors: those of
 * binning_prepare(). */
ley_status cutoff_problem_even_bins(cutoff_problem *problem, ley_error *error);

/* For kernels that have the field as well. Errors: those of expression_slope(). */
ley_status cutoff_problem_add_field(cutoff_problem *problem, ley_error *error);

/* What kernels take for r_min: no more than their cutoff, which may have become shorter than it. */
double cutoff_problem_r_min_A(const cutoff_problem *problem);

/* How far a step along one of the grid's axes leads along x, y or z, all axes' together. */
double cutoff_problem_step_A(const cutoff_problem *problem, int axis);

/* The longest edge of a bin or a region: what positions are rounded by. */
double cutoff_problem_largest_A(const cutoff_problem *problem);

/* Puts the atoms into bins, on the host, and what overflows these into bins behind them. */
ley_status cutoff_problem_bin(cutoff_problem *problem, ley_error *error);

/* Takes them out again; and that where they have moved, so that they can be binned anew. Errors:
 * those of grid_frame_move(). */
void cutoff_problem_empty(cutoff_problem *problem);
ley_status cutoff_problem_move(cutoff_problem *problem, ley_error *error);

/* Pairs within the cutoff, estimated from a sample. */
double cutoff_problem_pairs(const cutoff_problem *problem);

/* The pairs, without bins: from a sample of the atoms; where these have images, from their density,
 * as if it were that everywhere. */
double cutoff_problem_expected_pairs(const cutoff_problem *problem);

/* Planes [planes[0], planes[1]) of z that are this rank's; all, where atoms are no part. */
void cutoff_problem_planes(const cutoff_problem *problem, int64_t planes[2]);

/* The cutoff in steps of the grid, by which kernels are chosen. */
void cutoff_problem_reach(const cutoff_problem *problem, double reach[3]);

/* The first and further numbers of an atom as the kernels take them. */
void cutoff_problem_numbers(const cutoff_problem *problem, size_t atom, float numbers[3]);

/* What is summed, for the judge. */
reference_terms cutoff_problem_sum(const cutoff_problem *problem);

/* The double-precision value of a cutoff_problem at a point: an accuracy_reference. */
reference_value cutoff_problem_reference(const void *problem, const double point_A[3]);

/* The same of the field. */
void cutoff_problem_reference_field(const void *problem, const double point_A[3], reference_value field[3]);

/* What the bins of a problem that has been planned take of the host's memory. */
void cutoff_problem_add_needs(const cutoff_problem *problem, job_needs *needs);

/* What a job of this takes of the host's memory beside its map, from its input alone. */
void cutoff_problem_needs(const ley_atoms *atoms, const ley_grid *grid, const ley_short_range *range, job_needs *needs);

/* Layers of CUTOFF_LAYER planes. */
static inline int64_t cutoff_layers(const ley_grid *grid)
{
    return (grid->n[2] + CUTOFF_LAYER - 1) / CUTOFF_LAYER;
}

void cutoff_problem_clear(cutoff_problem *problem);

#endif
