#include "energy/module.h"

const energy_module *const energy_modules[] = {&energy_module_born, NULL};
