/* Orbitals on a slab of z-planes of an orthogonal grid. A Gaussian times a polynomial is a product
 * over the axes, so that an orbital is a sum of terms, one for each Gaussian (a centre and an
 * exponent) and power i of x:
 *
 *     psi(x, y, z) = sum_t X_t(x) B_t(y, z)
 *     X_t(x)    = (x - x_c)^i e^(-a (x - x_c)^2)
 *     B_t(y, z) = sum_j Y_tj(y) sum_k C_tjk Z_tk(z),   i + j + k <= L
 *
 * where Y_tj and Z_tk are for y and z what X_t is for x. In a plane that is a product of two
 * matrices, one of which is formed on the way. Derivatives have other tables: for one along x that
 * of X, for one along y that of Y, and so on.
 *
 * gm_terms         {its Gaussian's first row of tables, n = L - i + 1, its first coefficient, the
 *                  first and the last plane that it reaches, the latter times 2^16}
 * n_terms          of them; a term's number is its row of gm_x
 * gm_x, gm_y       [derivatives][rows][pitch] of tables: values at the grid's points, 0 beyond them
 * gm_z             [derivatives][planes of the grid][rows]
 * gm_x_most        [derivatives][tiles along x][rows]: the largest magnitude in a tile; gm_y_most:
 *                  along y
 * gm_coefficients  [orbitals]: C_tjk, k fastest, j + k < n
 * gm_weights       [orbitals]: {what its square is multiplied by in the density, terms below this
 *                  at all points of a tile are left out}
 * size             {rows of tables, points of a row with its padding, rows of a plane with theirs,
 *                  planes of the grid}
 * slab             {its first plane, its planes, coefficients of an orbital, s: planes that terms
 *                  reach are numbered in units of 2^s}
 * orbitals         {the first one of this launch, how many of them, -, -}
 * places           components of gm_values: {where orbitals are stored, one behind the other, or
 *                  -1; where the density is added, or -1; the first of its gradient, or -1; its
 *                  Laplacian, or -1}
 * gm_values        [components][planes][rows][points]
 *
 * Global size {tiles along x, tiles along y, planes, for orbitals by themselves times these, planes
 * first} of groups. GPUs: separable_group.h; one work-item alone: separable_vectors.h. */
#if !defined(LEY_LX) || !defined(LEY_POWERS) || !defined(LEY_TILE) || !defined(LEY_DERIVATIVES)
#error "the specification is incomplete: see LEY_SEPARABLE_KEYS in spec.h"
#endif
#include "dialect.h"

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
#define ALL \
    gm_terms, n_terms, gm_x, gm_y, gm_z, gm_x_most, gm_y_most, gm_coefficients, gm_weights, size, slab, orbitals, \
        places, gm_values

#if LEY_WIDTH == 1
#include "separable_group.h"
#else
#include "separable_vectors.h"
#endif

LEY_KERNEL_OF(LEY_LX, LEY_LY, 1) separable(LEY_PARAMETERS(LEY_SEPARABLE_ARGUMENTS))
{
#if LEY_WIDTH == 1
    LEY_LOCAL_VARIABLE float4 sm_x[2 * TABLES_X * FOURS_X];
    LEY_LOCAL_VARIABLE float4 sm_b[2 * TABLES_B * FOURS_Y];
    LEY_LOCAL_VARIABLE int sm_term[ROOM];
    LEY_LOCAL_VARIABLE int sm_row[ROOM];
    LEY_LOCAL_VARIABLE int sm_counts[ITEMS];
    LEY_LOCAL_VARIABLE float sm_along_z[ROOM * LEY_POWERS * FACTORS];
    compute(ALL, sm_x, sm_b, sm_term, sm_row, sm_counts, sm_along_z);
#else
    compute(ALL);
#endif
}
