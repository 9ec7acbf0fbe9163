/* Orbitals on a slab of z-planes of an orthogonal grid. A Gaussian times a polynomial is a product
 * over the axes, so that an orbital is a sum of terms, one for each Gaussian (a centre and an
 * exponent) and power i of x:
 *
 *     psi(x, y, z) = sum_t X_t(x) B_t(y, z)
 *     X_t(x)    = (x - x_c)^i e^(-a (x - x_c)^2)
 *     B_t(y, z) = sum_j Y_tj(y) sum_k C_tjk Z_tk(z),   i + j + k <= L
 *
 * where Y_tj and Z_tk are for y and z what X_t is for x. In a plane that is a product of two
 * matrices, one of which is formed on the way. Derivatives have other tables.
 *
 * gm_terms         {its Gaussian's first row of tables, n = L - i + 1, its first coefficient, the
 *                  first and the last plane that it reaches, the latter times 2^16}
 * n_terms          of them; a term's number is its row of gm_x
 * gm_x, gm_y       [rows][pitch] of tables: their values at the grid's points, 0 beyond them
 * gm_z             [planes][rows]
 * gm_x_most        [tiles along x][rows]: the largest magnitude in a tile; gm_y_most: along y
 * gm_coefficients  C_tjk, k fastest, j + k < n
 * first            {number in gm_x where this launch's table begins, in gm_y, in gm_z, in
 *                  gm_coefficients}
 * first_most       {the same in gm_x_most, in gm_y_most, -, -}
 * size             {rows of tables, points of a row with its padding, rows of a plane with theirs,
 *                  -}
 * slab             {its first plane, its planes, coefficients of an orbital, s: planes that terms
 *                  reach are numbered in units of 2^s}
 * weights          {terms below this at all points of a tile are left out; of squares; of products;
 *                  -}
 * places           components of gm_values: {where psi is stored, or -1; where its square is added,
 *                  times its weight, or -1; the same of its product with another component; which
 *                  that is}. Of several orbitals all are one further on for each
 * gm_values        [components][planes][rows][points]
 *
 * Global size {tiles along x, tiles along y, planes times orbitals, planes first} of groups. GPUs:
 * separable_group.h; one work-item alone: separable_vectors.h. */
#if !defined(LEY_LX) || !defined(LEY_POWERS) || !defined(LEY_TILE)
#error "the specification is incomplete: see LEY_SEPARABLE_KEYS in spec.h"
#endif
#include "dialect.h"

/* What becomes of psi at a point, whose number in a component is `at`. */
LEY_FN void ley_put_value(LEY_GLOBAL float *gm_values, int4 places, atom weights, size_t component, size_t at,
                          float psi)
{
    if (places.x >= 0)
        gm_values[places.x * component + at] = psi;
    if (places.y >= 0)
        gm_values[places.y * component + at] += weights.y * psi * psi;
    if (places.z >= 0)
        gm_values[places.z * component + at] += weights.z * psi * gm_values[places.w * component + at];
}

/* Whether a term reaches a plane of the slab. */
LEY_FN bool ley_reaches_plane(int4 term, int4 slab, int plane)
{
    const int number = (slab.x + plane) >> slab.w;
    return number >= (term.w & 0xffff) && number <= (term.w >> 16 & 0xffff);
}

/* The factor of Y_tj in a plane: sum_k C_tjk Z_tk, of `left` k; *c goes on to the next one. */
LEY_FN float ley_along_z(LEY_GLOBAL const float *gm_coefficients, LEY_GLOBAL const float *gm_z, int left, int *c)
{
    float sum = 0;
    for (int k = 0; k < left; k++)
        sum += gm_coefficients[(*c)++] * gm_z[k];
    return sum;
}

/* What the kernel hands on: all that it has. */
#define ALL_PARAMETERS LEY_SEPARABLE_ARGUMENTS(LEY_FIRST_PARAMETER, LEY_NEXT_PARAMETER)

#if LEY_WIDTH == 1
#include "separable_group.h"
#else
#include "separable_vectors.h"
#endif

LEY_KERNEL_OF(LEY_LX, LEY_LY, 1) separable(LEY_PARAMETERS(LEY_SEPARABLE_ARGUMENTS))
{
#if LEY_WIDTH == 1
    LEY_LOCAL_VARIABLE float4 sm_x[2 * FOURS_X];
    LEY_LOCAL_VARIABLE float4 sm_b[2 * FOURS_Y];
    LEY_LOCAL_VARIABLE int sm_term[ROOM];
    LEY_LOCAL_VARIABLE int sm_row[ROOM];
    LEY_LOCAL_VARIABLE int sm_counts[ITEMS];
    LEY_LOCAL_VARIABLE float sm_along_z[ROOM * LEY_POWERS];
    compute(gm_terms, n_terms, gm_x, gm_y, gm_z, gm_x_most, gm_y_most, gm_coefficients, first, first_most, size, slab,
            weights, places, gm_values, sm_x, sm_b, sm_term, sm_row, sm_counts, sm_along_z);
#else
    compute(gm_terms, n_terms, gm_x, gm_y, gm_z, gm_x_most, gm_y_most, gm_coefficients, first, first_most, size, slab,
            weights, places, gm_values);
#endif
}
