/* What the short-range kernel may add to its sums by itself, before it stores them: a mesh's
 * potentials, interpolated along the map's axes (cl/cutoff_epilogue.h). Whose mesh that is, its
 * caller alone knows. The map is written once, then; elsewhere a pass of its own reads and writes
 * it once more. A job's plan says which: `interpolation` of a device. */
#ifndef LEY_CUTOFF_EPILOGUE_H
#define LEY_CUTOFF_EPILOGUE_H

#include "calibrate.h"
#include "engine/decisions.h"
#include "methods/cutoff/tuning.h"

/* What a caller wishes to have added. */
typedef struct cutoff_epilogue {
    int nodes;                 /* along each axis, that have a part in a region, at most; 0: the kernel cannot */
    int window;                /* nodes of a point along each axis */
    double nodes_per_point[3]; /* the map's steps in the mesh's */
    bool by_plane;             /* LEY_BY_PLANE, of the mesh */

    /* Seconds per point that a pass of its own is predicted to take, with what bytes take. */
    double (*pass_s)(const dev_info *info, const calibration *facts, const struct cutoff_epilogue *wish);
} cutoff_epilogue;

/* Words of the decision, and its row in a plan. */
extern const char *const cutoff_interpolation_words[]; /* "epilogue", "pass" */
/* clang-format off */
#define CUTOFF_EPILOGUE_PLAN_ROW {.name = "interpolation", .of_device = true, .words = cutoff_interpolation_words}
/* clang-format on */

/* Seconds per point that it is predicted to take in the kernel. */
double cutoff_epilogue_s(const calibration *facts, int nodes);

/* The nodes that the device's kernel is to have room for: as the plan says, else where that is
 * predicted to be done well before a pass of its own; 0: a pass. Errors: of calibrate_get(), and
 * LEY_ERROR_USAGE where the plan wants what cannot be. */
ley_status cutoff_epilogue_choose(dev *device, const cutoff_epilogue *wish, const job_plan *plan, int *nodes,
                                  ley_error *error);

/* After the choice of a kernel: the word for what it does. LEY_ERROR_USAGE where the plan says
 * otherwise. */
ley_status cutoff_epilogue_check(const dev_info *info, const job_plan *plan, const cutoff_choice *choice,
                                 const char **word, ley_error *error);

#endif
