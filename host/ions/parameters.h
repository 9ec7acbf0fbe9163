/* The options of ions. */
#ifndef LEY_IONS_PARAMETERS_H
#define LEY_IONS_PARAMETERS_H

#include "core/parameters.h"

extern const ley_parameter_table ions_parameters;

#endif
