#include "energy/born.h"
#include "energy/pairs.h"
#include "energy/pairs_14.h"
#include "energy/surface.h"

const energy_module *const energy_modules[] = {&energy_pairs,    &energy_pairs_14, &energy_born,
                                               &energy_surfaces, &energy_matrix,   NULL};
