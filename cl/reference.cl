/* The judge on a device: any method's sum at single points, in plain double precision, from the
 * formulas of laws/ alone: of the law whose number is LEY_LAW.
 *
 * gm_atoms   {x, y, z, q} each: A, e
 * gm_more    {R, eps} each: A, kcal/mol; where terms have none, anything
 * first_atom, n_atoms  the atoms to sum
 * gm_points  {x, y, z, -} each: A
 * gm_cell    of pairs within a cutoff: the cell's vectors, see laws/pairs.h; else anything
 * numbers    what else the law's terms take: see its file
 * accumulate 0: store the sums; 1: add to what gm_sums holds (a further batch of atoms)
 * gm_sums    {value, sum of absolute terms, lower, higher} of each point
 *
 * Global size {work-groups of LEY_WG, one for each point}. Kernels that are fast have other
 * formulas, other orders and other positions: what they share with this one is the definition. */
#if !defined(LEY_WG) || !defined(LEY_LAW)
#error "the specification is incomplete: see LEY_REFERENCE_KEYS in spec.h"
#endif
#include "dialect.h"

#define LEY_TERM_FN LEY_FN
#include "reference_sum.h"
/* Every law: flatten.h. */
#include "laws/*.h"

#ifdef LEY_LAW_TERM
LEY_FN void law_add(reference_sum *sum, atom a, double R, double eps, atom point, LEY_GLOBAL const atom *gm_cell,
                    atom numbers)
{
    const double x = point.x - a.x, y = point.y - a.y, z = point.z - a.z;
    const ley_term term = LEY_LAW_TERM(a.w, sqrt(x * x + y * y + z * z), R, eps, numbers);
    sum->value += term.value;
    sum->absolute += term.absolute;
}
#endif

/* Every step-th of n atoms, from `first` on. gm_more: {R, eps} of each; read only where terms
 * have them. */
LEY_FN reference_sum sum_atoms(LEY_GLOBAL const atom *gm_atoms, LEY_GLOBAL const double *gm_more, int first, int n,
                               int step, atom point, LEY_GLOBAL const atom *gm_cell, atom numbers)
{
    reference_sum sum = {0, 0, 0, 0};
    for (int j = first; j < n; j += step) {
#if LEY_LAW_HAS_MORE
        const double R = gm_more[2 * j], eps = gm_more[2 * j + 1];
#else
        const double R = 0, eps = 0;
#endif
        law_add(&sum, gm_atoms[j], R, eps, point, gm_cell, numbers);
    }
    return sum;
}

LEY_KERNEL_OF(LEY_WG, 1, 1) reference(LEY_PARAMETERS(LEY_REFERENCE_ARGUMENTS))
{
    LEY_LOCAL_VARIABLE double sm_sums[4 * LEY_WG];
    const int item = LEY_LOCAL_ID(0);
    const size_t group = LEY_GROUP_ID(0);
    const reference_sum own = sum_atoms(gm_atoms + first_atom, gm_more + 2 * (size_t)first_atom, item, n_atoms, LEY_WG,
                                        gm_points[group], gm_cell, numbers);
    sm_sums[4 * item] = own.value;
    sm_sums[4 * item + 1] = own.absolute;
    sm_sums[4 * item + 2] = own.lower;
    sm_sums[4 * item + 3] = own.higher;
    LEY_BARRIER();
    if (item == 0) {
        atom sum = accumulate ? gm_sums[group] : LEY_ATOM(0, 0, 0, 0);
        for (int i = 0; i < LEY_WG; i++)
            LEY_ADD_ATOM(sum, LEY_ATOM(sm_sums[4 * i], sm_sums[4 * i + 1], sm_sums[4 * i + 2], sm_sums[4 * i + 3]));
        gm_sums[group] = sum;
    }
}
