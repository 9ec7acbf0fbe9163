/* One frame of a series: charges at their places, in a cell or in open space, and what they bring
 * at points. Of unit charges, in 1/A. */
#ifndef LEY_SERIES_FRAME_H
#define LEY_SERIES_FRAME_H

#include "law/neighbours.h"
#include "series/smooth.h"
#include "series/structure_factors.h"

#include <stdbool.h>

/* How the frames of a series are summed. */
typedef struct frame_sum {
    bool is_open;
    double s, r_min_A;
    smooth_part smooth; /* in cells */
} frame_sum;

typedef struct series_frame series_frame;

/* Makes the structure factors of these charges. Errors: those of neighbours_make(). */
ley_status frame_create(const frame_sum *sum, const cell *c, size_t n, const double *position_A, const double *charge_e,
                        series_frame **made, ley_error *error);
void frame_destroy(series_frame *f); /* may be NULL */

/* One of each pair of opposite waves. */
int64_t frame_waves(const series_frame *f);

/* At so many points, of which FRAME_POINTS take no longer than one. Errors: LEY_ERROR_MEMORY. */
enum { FRAME_POINTS = 4 };
ley_status frame_at(const series_frame *f, size_t points, const double *point_A, point_sum *at, ley_error *error);

/* Takes off what a charge at the end of this way, the shortest one of its images, has brought. */
void frame_leave_out(const frame_sum *sum, const double way_A[3], double charge_e, point_sum *at);

/* The cutoff of least time for so many charges and points in this cell with s = beta rc, and about
 * how many ns a frame takes then on one core. */
double frame_best_cutoff(const cell *c, double s, double charges, double points, double *time_ns);

#endif
