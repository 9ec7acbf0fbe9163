#include "energy/module.h"

const energy_module *const energy_modules[] = {&energy_pairs, &energy_pairs_14, NULL};
