#include "source/atoms_part.h"

#include <math.h>

double atoms_part_plane_A(const atoms_part *part, int64_t plane)
{
    return part->origin_A + (double)plane * part->step_A;
}

void atoms_part_reach(const atoms_part *part, int64_t first, int64_t end, double reach_A[2])
{
    reach_A[0] = first < end ? atoms_part_plane_A(part, first) - part->halo_A : INFINITY;
    reach_A[1] = first < end ? atoms_part_plane_A(part, end - 1) + part->halo_A : -INFINITY;
}

int64_t atoms_part_images(const atoms_part *part, double z_A, const double within_A[2], double *first_A)
{
    const double low_A = within_A[0], high_A = within_A[1], period_A = part->period_A;
    *first_A = period_A > 0 ? z_A + ceil((low_A - z_A) / period_A) * period_A : z_A;
    *first_A += *first_A < low_A ? period_A : 0; /* by rounding */
    if (!(*first_A >= low_A && *first_A <= high_A))
        return 0;
    return period_A > 0 ? (int64_t)floor((high_A - *first_A) / period_A) + 1 : 1;
}
