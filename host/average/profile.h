/* Profiles: means over planes, of the charges in the planes of the mesh. */
#ifndef LEY_AVERAGE_PROFILE_H
#define LEY_AVERAGE_PROFILE_H

#include "average/state.h"

/* As ley_average_profile(); sums have all frames. */
ley_status profile_make(ley_average *a, int axis, ley_profile_boundary boundary, ley_profile *profile,
                        ley_error *error);

#endif
