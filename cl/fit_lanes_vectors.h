/* Those of vectors: see fit_lanes.h. */
#ifndef LEY_FIT_LANES_VECTORS_H
#define LEY_FIT_LANES_VECTORS_H

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
