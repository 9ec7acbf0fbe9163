/* What methods of `leyden map` are given, and what they may say of it. */
#ifndef LEYDEN_MAP_PROBLEM_H
#define LEYDEN_MAP_PROBLEM_H

#include "leyden.h"

#include <stdio.h>

typedef struct map_problem {
    ley_direct medium;
    void *input; /* the method's own */
    ley_atoms *atoms;
    ley_target target; /* a map, or points; with a field where one is asked for */
} map_problem;

/* The line "units: ..." of a header, with the medium where the potential is that of charges. */
void put_units(FILE *to, const map_problem *problem, bool has_medium);

/* "dielectric 78.54", "in vacuum (dielectric 1)", of a map_problem. */
void put_uniform(const void *problem, FILE *to);

#endif
