/* The judge on a device: any method's sum at single points, in plain double precision, from the
 * formulas of terms.h alone.
 *
 * gm_atoms   {x, y, z, q} each: A, e
 * gm_more    {R, eps} each: A, kcal/mol; where terms have none, anything
 * first_atom, n_atoms  the atoms to sum
 * gm_points  {x, y, z, -} each: A
 * gm_cell    of short-range sums: the cell's vectors, see reference_sum.h; else anything
 * limits     {r_min, cutoff, kappa or steepness, place of terms.h}; of long-range sums {r_min,
 *            share of meshes, kappa, place in A}
 * accumulate 0: store the sums; 1: add to what gm_sums holds (a further batch of atoms)
 * gm_sums    {value, sum of absolute terms, lower, higher} of each point
 *
 * Global size {work-groups of LEY_WG, one for each point}. Kernels that are fast have other
 * formulas, other orders and other positions: what they share with this one is the definition. */
#if !defined(LEY_WG) || !defined(LEY_TERM)
#error "the specification is incomplete: see LEY_REFERENCE_KEYS in spec.h"
#endif
#include "dialect.h"

#define LEY_TERM_FN LEY_FN
#include "terms.h"
#include "reference_sum.h"

LEY_KERNEL_OF(LEY_WG, 1, 1) reference(LEY_PARAMETERS(LEY_REFERENCE_ARGUMENTS))
{
    LEY_LOCAL_VARIABLE double sm_sums[4 * LEY_WG];
    const int item = LEY_LOCAL_ID(0);
    const size_t group = LEY_GROUP_ID(0);
    const reference_sum own = sum_atoms(gm_atoms + first_atom, gm_more + 2 * (size_t)first_atom, item, n_atoms, LEY_WG,
                                        gm_points[group], gm_cell, limits);
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
