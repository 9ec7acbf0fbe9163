/* Where atoms of frames are on a grid, for fit_cells.cl and fit_place.cl.
 *
 * gm_position  [frames][n_atoms][3] A
 * numbers      what takes a way from the grid's first node in A to nodes along x, along y, along z;
 *              from .s9 that node; from .sc what rounding has taken from it */
#ifndef LEY_FIT_PLACE_H
#define LEY_FIT_PLACE_H

LEY_FN float4 ley_fit_place(LEY_GLOBAL const float *gm_position, size_t i, LEY_REFERENCE(sixteen) numbers)
{
    const float x = gm_position[3 * i] - numbers.s9 - numbers.sc, y = gm_position[3 * i + 1] - numbers.sa - numbers.sd,
                z = gm_position[3 * i + 2] - numbers.sb - numbers.se;
    return LEY_FLOAT4(numbers.s0 * x + numbers.s1 * y + numbers.s2 * z,
                      numbers.s3 * x + numbers.s4 * y + numbers.s5 * z,
                      numbers.s6 * x + numbers.s7 * y + numbers.s8 * z, 0);
}

#endif
