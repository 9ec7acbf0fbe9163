#include "numerics/quadrature.h"

#include "numerics/tables.h"

/* Of one panel: the rule is exact to rounding for cosines of up to this many radians. */
static const double most_turns = 20;

double quadrature(quadrature_function *f, const void *context, double from, double to, double turns)
{
    const int panels = 1 + (int)(turns / most_turns);
    const double half = (to - from) / (2 * panels);
    double sum = 0;
    for (int panel = 0; panel < panels; panel++) {
        const double middle = from + (2 * panel + 1) * half;
        for (int i = 0; i < TABLES_GAUSS; i++)
            sum += tables_gauss[i][1] *
                   (f(context, middle - half * tables_gauss[i][0]) + f(context, middle + half * tables_gauss[i][0]));
    }
    return half * sum;
}
