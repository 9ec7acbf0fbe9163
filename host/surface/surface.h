/* The parameters of surfaces of molecules. */
#ifndef LEY_SURFACE_SURFACE_H
#define LEY_SURFACE_SURFACE_H

#include "leyden.h"

extern const ley_parameter_table surface_parameters;

#endif
