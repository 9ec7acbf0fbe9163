/* Atoms into lists, one per bin, and their images, where a cell has some. What is done with an atom
 * is what host/layout/binning.c does, operation by operation, so that both put it into the same bin
 * and the same slot:
 *
 * gm_position  [n_atoms][3] A
 * gm_charge    [n_atoms] e
 * origin       of the mesh, A; fourth, what a charge is multiplied by
 * low, high    where atoms are in reach, from the origin, A
 * side         of a bin, A; fourth, how many layers of bins there are along z, kept or not
 * bins_per_A   1 / side
 * zero         along each axis the bin that begins at the origin; fourth, the first layer of bins
 *              along z that is kept
 * n            bins that are kept along each axis, and all
 * vector_a, _b, _c  of the cell, A
 * dual_a, _b, _c    their product with what is from the origin is a fraction of the vector;
 *              fourth, 1 where the vector is periodic, else 0
 * image_low, image_high  along each vector: a fraction and the number of an image lie between these
 * n_images     an atom has as many images at most, itself among them
 * gm_count     [bins + 3] atoms and images of each bin; behind them the atoms that are out of reach
 *              with all of their images, those in reach without charge (where there are images, all
 *              without charge), and all others. 0 beforehand
 * gm_head      [bins] 1 + the first entry of the bin's list. 0 beforehand, and where there is none
 * gm_next      [n_atoms][n_images] 1 + the list's next entry; 0: there is none
 * gm_records   [n_atoms][n_images] {x, y, z, q} as slots hold them: A from the bin's lowest corner,
 *              and the multiplied charge; of an atom's images in reach, along c, then b, then a
 *
 * Lists are in no order: fill_bins brings one in. Global size: n_atoms, rounded up to
 * work-groups. */
#include "dialect.h"

LEY_NO_CONTRACTION

LEY_FN int along(scalar d, scalar bins_per_A, scalar zero, int bins)
{
    return min((int)(LEY_ROUNDED_PRODUCT(d, bins_per_A) + zero), bins - 1);
}

LEY_FN float from_corner(scalar d, int bin, scalar zero, scalar side)
{
    return (float)(d - LEY_ROUNDED_PRODUCT((scalar)bin - zero, side));
}

/* What an atom's fractional coordinate along a vector is, from the origin. */
LEY_FN scalar fraction(atom dual, scalar x, scalar y, scalar z)
{
    return LEY_ROUNDED_PRODUCT(dual.x, x) + LEY_ROUNDED_PRODUCT(dual.y, y) + LEY_ROUNDED_PRODUCT(dual.z, z);
}

/* The first and the last image along a vector that may be in reach, a hair beyond; none but the
 * atom itself where the vector is not periodic. */
LEY_FN int first_image(atom dual, scalar low, scalar at)
{
    return dual.w != 0 ? (int)ceil(low - at - (scalar)1e-5) : 0;
}

LEY_FN int last_image(atom dual, scalar high, scalar at)
{
    return dual.w != 0 ? (int)floor(high - at + (scalar)1e-5) : 0;
}

/* A coordinate of an image. */
LEY_FN scalar shifted(scalar d, int c, scalar of_c, int b, scalar of_b, int a, scalar of_a)
{
    return d + LEY_ROUNDED_PRODUCT((scalar)c, of_c) + LEY_ROUNDED_PRODUCT((scalar)b, of_b) +
           LEY_ROUNDED_PRODUCT((scalar)a, of_a);
}

LEY_KERNEL link_atoms(LEY_PARAMETERS(LEY_LINK_ATOMS_ARGUMENTS))
{
    const size_t i = LEY_GLOBAL_ID(0);
    if (i >= (size_t)n_atoms)
        return;
    const scalar x0 = gm_position[3 * i] - origin.x, y0 = gm_position[3 * i + 1] - origin.y,
                 z0 = gm_position[3 * i + 2] - origin.z;
    const float charge = (float)(origin.w * gm_charge[i]);
    const scalar at_a = fraction(dual_a, x0, y0, z0), at_b = fraction(dual_b, x0, y0, z0),
                 at_c = fraction(dual_c, x0, y0, z0);
    const int last_a = last_image(dual_a, image_high.x, at_a), last_b = last_image(dual_b, image_high.y, at_b),
              last_c = last_image(dual_c, image_high.z, at_c);
    int found = 0;
    for (int c = first_image(dual_c, image_low.z, at_c); c <= last_c; c++)
        for (int b = first_image(dual_b, image_low.y, at_b); b <= last_b; b++)
            for (int a = first_image(dual_a, image_low.x, at_a); a <= last_a; a++) {
                const scalar x = shifted(x0, c, vector_c.x, b, vector_b.x, a, vector_a.x),
                             y = shifted(y0, c, vector_c.y, b, vector_b.y, a, vector_a.y),
                             z = shifted(z0, c, vector_c.z, b, vector_b.z, a, vector_a.z);
                if (!(x >= low.x && x <= high.x && y >= low.y && y <= high.y && z >= low.z && z <= high.z))
                    continue;
                const int layer = along(z, bins_per_A.z, zero.z, (int)side.w), at_z = layer - (int)zero.w;
                if (at_z < 0 || at_z >= n.z)
                    continue;
                if (charge == 0 || found == n_images) {
                    found++;
                    continue;
                }
                const int at_x = along(x, bins_per_A.x, zero.x, n.x), at_y = along(y, bins_per_A.y, zero.y, n.y);
                const int bin = (at_z * n.y + at_y) * n.x + at_x, entry = (int)i * n_images + found++;
                gm_records[entry] =
                    LEY_FLOAT4(from_corner(x, at_x, zero.x, side.x), from_corner(y, at_y, zero.y, side.y),
                               from_corner(z, layer, zero.z, side.z), charge);
                LEY_ATOMIC_ADD(&gm_count[bin], 1);
                gm_next[entry] = LEY_ATOMIC_EXCHANGE(&gm_head[bin], entry + 1);
            }
    const bool has_images = dual_a.w + dual_b.w + dual_c.w > 0;
    if (found > n_images) /* it has more than the host said: the counts do not add up */
        return;
    LEY_ATOMIC_ADD(&gm_count[charge == 0 && (found > 0 || has_images) ? n.w + 1 : found == 0 ? n.w : n.w + 2], 1);
}
