#include "energy/born.h"
#include "energy/listed.h"
#include "energy/pairs.h"
#include "energy/pairs_14.h"
#include "energy/reciprocal.h"
#include "energy/surface.h"

const energy_module *const energy_modules[] = {&energy_pairs, &energy_listed,   &energy_pairs_14, &energy_reciprocal,
                                               &energy_born,  &energy_surfaces, &energy_matrix,   NULL};
