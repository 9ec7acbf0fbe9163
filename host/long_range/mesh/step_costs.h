/* What the steps of long-range sums take on a device, in seconds for each unit of what they do:
 * found in passing by jobs, and kept in the build cache (costs.h). */
#ifndef LEY_LONG_RANGE_MESH_STEP_COSTS_H
#define LEY_LONG_RANGE_MESH_STEP_COSTS_H

#include "costs.h"

/* Of the step of this name with a kernel of this kind: a window's points, or a variant. `usual_s`:
 * until a job has shown it; 0: nobody knows. */
double step_cost(const dev_info *info, const char *step, const char *kind, double usual_s);

/* The step was predicted to take so long at `unit_s` each, and took so long. The least that jobs
 * took counts, for what else runs makes some longer and none shorter; but where one takes more than
 * twice as long, half-way to it, so that what was measured wrongly is forgotten. Steps of less than
 * half a millisecond show nothing: starting them is all that they are. */
void step_cost_learn(const dev_info *info, const char *step, const char *kind, double unit_s, double predicted_s,
                     double took_s);

/* Whether jobs have had a kernel of this kind for the step, which is then in the build cache. */
bool step_was_done(const dev_info *info, const char *step, const char *kind);
void step_note_done(const dev_info *info, const char *step, const char *kind);

#endif
