#include "energy/module.h"

const energy_module *const energy_modules[] = {NULL};
