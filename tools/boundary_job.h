/* What `leyden boundary` and `leyden apbs` share: computing a boundary, choosing the stride of its
 * map, describing it. */
#ifndef LEYDEN_BOUNDARY_JOB_H
#define LEYDEN_BOUNDARY_JOB_H

#include "console.h"
#include "job_frame.h"

#include <stdio.h>

/* What methods of boundaries are given. */
typedef struct boundary_problem {
    const ley_atoms *atoms;
    const ley_solvent *solvent;
    ley_boundary *boundary;
} boundary_problem;

/* Choices of --boundary-stride. */
enum { STRIDE_AUTO, STRIDE_1, STRIDE_2, STRIDE_4, STRIDE_COUNT };
extern const char *const stride_names[];

/* Rows of a command's table, `type` its struct of values with int stride and double
 * stride_tolerance. */
#define OPTION_ROW_STRIDE(type) \
    { \
        .name = "boundary-stride", .kind = OPTION_CHOICE, .offset = offsetof(type, stride), .value = "STRIDE", \
        .choices = stride_names, \
        .help = "write every STRIDE-th node of the faces; auto is the largest stride within --boundary-tol" \
    }
#define OPTION_ROW_STRIDE_TOLERANCE(type) \
    { \
        .name = "boundary-tol", .kind = OPTION_REAL, .offset = offsetof(type, stride_tolerance), .value = "T", \
        .low = 0, .high = 1, \
        .help = "largest error allowed from interpolation between the nodes, relative to the largest value" \
    }

/* Whether a choice of stride fits a grid of n nodes; else what is wrong. STRIDE_AUTO always
 * fits. */
bool boundary_stride_fits(const int64_t n[3], int choice, short_text *why);

/* The stride that a choice, which must fit, stands for, and its error. */
int boundary_choose_stride(const ley_boundary *boundary, int choice, double tolerance, double *stride_error);

/* Grid of n points around a centre, spacing h: x_i = centre - (n - 1) h / 2 + i h. */
ley_grid boundary_grid(const int64_t n[3], const double spacing_A[3], const double centre_A[3]);

/* Whether atoms, with their radii, reach a face of the grid or lie beyond it; then a text that
 * says how many, and where. The boundary conditions hold outside of the molecule only. */
bool boundary_cuts_molecule(const ley_grid *grid, const ley_atoms *atoms, short_text *what);

/* Comment for the file: what made it, without dates and paths, so that the same command makes the
 * same bytes. `report`: of MDH, else NULL. The caller frees it. */
typedef struct boundary_facts {
    const method_row *method;
    const char *path; /* of the atoms */
    const ley_atoms *atoms;
    const ley_solvent *solvent;
    int stride;
    double stride_error;
    const job_values *values;
    const ley_report *report;
} boundary_facts;
char *boundary_comment(const boundary_facts *facts);

/* Line "solvent: ..." as in the comment. */
void put_solvent(FILE *to, const ley_solvent *solvent);

/* Members of the rows of these methods. */
void boundary_put_medium(const void *problem, FILE *to);
void boundary_print_solvent(const void *problem, const ley_report *report);
json_t *json_of_solvent(const ley_solvent *solvent);

#endif
