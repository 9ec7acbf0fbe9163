/* The object behind ley_points. */
#ifndef LEY_CORE_POINTS_H
#define LEY_CORE_POINTS_H

#include "core/boundary.h"

struct ley_points {
    ley_boundary *list; /* the points and their values */
    double *field;      /* [n][3]; NULL: nobody asks for it */
    char units[32];
};

#endif
