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

LEY_KERNEL ions_bricks(LEY_PARAMETERS(LEY_IONS_BRICKS_ARGUMENTS))
{
    const int place = first_work + (int)LEY_GROUP_ID(0);
    const int4 work = gm_work[place];
    const int x = work.x % bricks.x * LEY_BRICK, y = work.x / bricks.x % bricks.y * LEY_BRICK,
              z = work.x / (bricks.x * bricks.y) * LEY_BRICK;
    LEY_GLOBAL float *gm_values = gm_phi + (size_t)work.x * NODES;
    real least = (real)INFINITE, most = (real)(-INFINITE), count = (real)0;
    float lanes[LEY_WIDTH], least_of_all = INFINITE, most_of_all = -INFINITE, count_of_all = 0;
    for (int at = 0; at < NODES; at += LEY_WIDTH) {
        const int row = at / LEY_BRICK, node_x = x + at % LEY_BRICK, node_y = y + row % LEY_BRICK,
                  node_z = z + row / LEY_BRICK;
        real value = LEY_LOAD(gm_values + at);
        for (int i = work.y; i < work.z; i++) {
            const float4 effect = gm_effects[2 * i];
            const float dy = (float)node_y - effect.y, dz = (float)node_z - effect.z;
            const real dx = LEY_LANES + ((float)node_x - effect.x);
            const real d2 = dx * (dx + (metric.s2 * dy + metric.s3 * dz)) +
                            (metric.s0 * dy * dy + (metric.s1 * dz + metric.s4 * dy) * dz);
#if LEY_PERIODIC
            real change = (real)0;
            if (effect.w != 0)
                change = effect.w * of_ways(gm_table, grid, node_x - (int)effect.x, node_y - (int)effect.y,
                                            node_z - (int)effect.z);
#else
            const real change = effect.w * ley_unscaled_root(fmax(d2, (real)0.25f));
#endif
            value = select(value + change, (real)NOTHING, isless(d2, (real)gm_effects[2 * i + 1].x));
        }
        if (work.z > work.y)
            STORE(value, 0, gm_values + at);
        least = select(least, value, isless(value, least));
        most = select(most, value, isgreater(value, most));
        count += select((real)1, (real)0, isnan(value));
    }
    STORE(least, 0, lanes);
    for (int k = 0; k < LEY_WIDTH; k++)
        least_of_all = lanes[k] < least_of_all ? lanes[k] : least_of_all;
    STORE(most, 0, lanes);
    for (int k = 0; k < LEY_WIDTH; k++)
        most_of_all = lanes[k] > most_of_all ? lanes[k] : most_of_all;
    STORE(count, 0, lanes);
    for (int k = 0; k < LEY_WIDTH; k++)
        count_of_all += lanes[k];
    gm_records[2 * place] = LEY_FLOAT4(least_of_all, most_of_all, count_of_all, 0);
    gm_records[2 * place + 1] = LEY_FLOAT4(count_of_all > 0 ? (float)first_of(gm_values, least_of_all) : NODES,
                                           count_of_all > 0 ? (float)first_of(gm_values, most_of_all) : NODES, 0, 0);
}
