/* Frames of a series of very many points: a job of points each, by meshes or whatever is chosen. */
#ifndef LEY_SERIES_MESH_FRAMES_H
#define LEY_SERIES_MESH_FRAMES_H

#include "leyden.h"

typedef struct mesh_frames {
    const ley_series_options *options;
    size_t n, points;
    const double *charge_e;
    const int64_t *first, *excluded; /* NULL: none is */
    const ley_series_frames *frames;
    ley_series_report *report; /* the largest errors are put there */
    double *tolerance;         /* of the jobs: less than the options', where fields need it; kept from frame to frame */
} mesh_frames;

/* Errors: those of jobs, with the number of the frame; LEY_ERROR_WRONG_RESULT where a field is off
 * by more than the tolerance. */
ley_status mesh_frames_run(const mesh_frames *m, ley_error *error);

/* What a frame is expected to take on the options' engine; infinite where that is not known. */
double mesh_frame_seconds(const ley_series_options *options, size_t n, const double *charge_e, size_t points,
                          const ley_series_frames *frames);

#endif
