/* The methods that there are: a row each. */
#include "methods/cutoff/method.h"
#include "methods/dcs/method.h"
#include "methods/mdh/method.h"

const method *const method_registry[] = {&method_dcs, &method_mdh, &method_cutoff, NULL};
