/* ions_bricks.cl for processors: a work-item for each brick, vectors along x. */

#define STORE LEY_PASTE(vstore, LEY_WIDTH)

LEY_FN int first_of(LEY_GLOBAL const float *gm_values, float value)
{
    int at = 0;
    while (at + 1 < NODES && gm_values[at] != value)
        at++;
    return at;
}

/* What an effect adds to the nodes from x on, in a periodic cell. */
#if LEY_PERIODIC
LEY_FN real of_ways(LEY_GLOBAL const float *gm_table, int4 grid, int x, int y, int z)
{
    float values[LEY_WIDTH];
    for (int k = 0; k < LEY_WIDTH; k++)
        values[k] = of_images(gm_table, grid, x + k, y, z);
    return LEY_LOAD(values);
}
#endif

/* Of the whole brick. */
LEY_FN extremes update(int4 work, int4 first, LEY_GLOBAL const float4 *gm_effects, int4 grid,
                       LEY_REFERENCE(sixteen) metric, LEY_GLOBAL const float *gm_table, LEY_GLOBAL float *gm_values)
{
    real least = (real)INFINITE, most = (real)(-INFINITE), next_least = least, next_most = most, count = (real)0;
    float lanes[5 * LEY_WIDTH];
    extremes e;
    for (int at = 0; at < NODES; at += LEY_WIDTH) {
        const int row = at / LEY_BRICK, x = first.x + at % LEY_BRICK, y = first.y + row % LEY_BRICK,
                  z = first.z + row / LEY_BRICK;
        real value = LEY_LOAD(gm_values + at);
        for (int i = work.y; i < work.z; i++) {
            const float4 effect = gm_effects[2 * i];
            const float dy = (float)y - effect.y, dz = (float)z - effect.z;
            const real dx = LEY_LANES + ((float)x - effect.x);
            const real d2 = dx * (dx + (metric.s2 * dy + metric.s3 * dz)) +
                            (metric.s0 * dy * dy + (metric.s1 * dz + metric.s4 * dy) * dz);
#if LEY_PERIODIC
            real change = (real)0;
            if (effect.w != 0)
                change = effect.w *
                         of_ways(gm_table, grid, x - (int)effect.x, y - (int)effect.y, z - (int)effect.z);
#else
            const real root = ley_unscaled_root(fmax(d2, (real)0.25f)), change = effect.w * TERM(root);
#endif
            value = select(value + change, (real)NOTHING, isless(d2, (real)gm_effects[2 * i + 1].x));
        }
        if (work.z > work.y)
            STORE(value, 0, gm_values + at);
        const real upper = select(value, least, isless(value, least)),
                   lower = select(value, most, isgreater(value, most));
        next_least = select(next_least, upper, isless(upper, next_least));
        next_most = select(next_most, lower, isgreater(lower, next_most));
        least = select(least, value, isless(value, least));
        most = select(most, value, isgreater(value, most));
        count += select((real)1, (real)0, isnan(value));
    }
    STORE(least, 0, lanes);
    STORE(most, 0, lanes + LEY_WIDTH);
    STORE(count, 0, lanes + 2 * LEY_WIDTH);
    STORE(next_least, 0, lanes + 3 * LEY_WIDTH);
    STORE(next_most, 0, lanes + 4 * LEY_WIDTH);
    e.least = e.next_least = INFINITE;
    e.most = e.next_most = -INFINITE;
    e.count = 0;
    for (int k = 0; k < LEY_WIDTH; k++) {
        e.next_least = fmin(fmin(e.next_least, lanes[3 * LEY_WIDTH + k]), fmax(e.least, lanes[k]));
        e.next_most = fmax(fmax(e.next_most, lanes[4 * LEY_WIDTH + k]), fmin(e.most, lanes[LEY_WIDTH + k]));
        e.least = lanes[k] < e.least ? lanes[k] : e.least;
        e.most = lanes[LEY_WIDTH + k] > e.most ? lanes[LEY_WIDTH + k] : e.most;
        e.count += lanes[2 * LEY_WIDTH + k];
    }
    e.at_least = e.count > 0 ? first_of(gm_values, e.least) : NODES;
    e.at_most = e.count > 0 ? first_of(gm_values, e.most) : NODES;
    return e;
}
