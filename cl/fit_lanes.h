/* What kernels of densities of atoms do with lanes: PICK(condition, a, b), a where it holds; and a
 * number's sum over them. */
#ifndef LEY_FIT_LANES_H
#define LEY_FIT_LANES_H

#if LEY_WIDTH == 1
#define PICK(condition, a, b) ((condition) ? (a) : (b))
#define SUM_OF_LANES(x) (x)
#else
#define PICK(condition, a, b) select((real)(b), (real)(a), condition)
#define SUM_OF_LANES(x) sum_of_lanes(x)
LEY_FN float sum_of_lanes(real x)
{
    float lanes[LEY_WIDTH], sum = 0;
    LEY_PASTE(vstore, LEY_WIDTH)(x, 0, lanes);
    for (int k = 0; k < LEY_WIDTH; k++)
        sum += lanes[k];
    return sum;
}
#endif

#endif
