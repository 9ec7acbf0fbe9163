/* ions_bricks.cl for devices whose work-items work in step: LEY_BRICK^2 of them, one for each
 * column of a brick along z, whose values it keeps in registers. */

/* Least and largest value of some nodes: values, nodes, how many there are. */
typedef struct {
    float least, most, count;
    int at_least, at_most;
} extremes;

/* Of two equal values the one of the node with the lower number. */
LEY_FN void take_least(extremes *e, float value, int at)
{
    if (value < e->least || (value == e->least && at < e->at_least)) {
        e->least = value;
        e->at_least = at;
    }
}

LEY_FN void take_most(extremes *e, float value, int at)
{
    if (value > e->most || (value == e->most && at < e->at_most)) {
        e->most = value;
        e->at_most = at;
    }
}

LEY_KERNEL_OF(LEY_BRICK * LEY_BRICK, 1, 1) ions_bricks(LEY_PARAMETERS(LEY_IONS_BRICKS_ARGUMENTS))
{
    LEY_LOCAL_VARIABLE float sm_least[ROWS];
    LEY_LOCAL_VARIABLE float sm_most[ROWS];
    LEY_LOCAL_VARIABLE float sm_count[ROWS];
    LEY_LOCAL_VARIABLE int sm_at_least[ROWS];
    LEY_LOCAL_VARIABLE int sm_at_most[ROWS];
    const int place = first_work + (int)LEY_GROUP_ID(0), item = (int)LEY_LOCAL_ID(0);
    const int4 work = gm_work[place];
    const int x = work.x % bricks.x * LEY_BRICK + item % LEY_BRICK,
              y = work.x / bricks.x % bricks.y * LEY_BRICK + item / LEY_BRICK,
              z = work.x / (bricks.x * bricks.y) * LEY_BRICK;
    LEY_GLOBAL float *gm_values = gm_phi + (size_t)work.x * NODES + item;
    float values[LEY_BRICK];
    extremes e;
    UNROLL for (int k = 0; k < LEY_BRICK; k++) values[k] = gm_values[k * ROWS];
    for (int i = work.y; i < work.z; i++) {
        const float4 effect = gm_effects[2 * i];
        const float radius2 = gm_effects[2 * i + 1].x;
        const float dx = (float)x - effect.x, dy = (float)y - effect.y;
        const float plane = dx * dx + metric.s0 * dy * dy + metric.s2 * dx * dy,
                    along = metric.s3 * dx + metric.s4 * dy;
        UNROLL for (int k = 0; k < LEY_BRICK; k++) {
            const float dz = (float)(z + k) - effect.z;
            const float d2 = plane + (metric.s1 * dz + along) * dz;
#if LEY_PERIODIC
            float change = 0;
            if (effect.w != 0)
                change = effect.w * of_images(gm_table, grid, x - (int)effect.x, y - (int)effect.y,
                                              z + k - (int)effect.z);
#else
            const float change = effect.w * ley_unscaled_root(d2 > 0.25f ? d2 : 0.25f);
#endif
            values[k] = d2 < radius2 ? NOTHING : values[k] + change;
        }
    }
    e.least = INFINITE;
    e.most = -INFINITE;
    e.count = 0;
    e.at_least = e.at_most = NODES;
    UNROLL for (int k = 0; k < LEY_BRICK; k++) {
        if (work.z > work.y)
            gm_values[k * ROWS] = values[k];
        take_least(&e, values[k], k * ROWS + item);
        take_most(&e, values[k], k * ROWS + item);
        e.count += values[k] == values[k] ? 1.0f : 0.0f;
    }
    for (int pairs = ROWS / 2; pairs > 0; pairs /= 2) {
        sm_least[item] = e.least;
        sm_most[item] = e.most;
        sm_count[item] = e.count;
        sm_at_least[item] = e.at_least;
        sm_at_most[item] = e.at_most;
        LEY_BARRIER();
        if (item < pairs) {
            take_least(&e, sm_least[item + pairs], sm_at_least[item + pairs]);
            take_most(&e, sm_most[item + pairs], sm_at_most[item + pairs]);
            e.count += sm_count[item + pairs];
        }
        LEY_BARRIER();
    }
    if (item == 0) {
        gm_records[2 * place] = LEY_FLOAT4(e.least, e.most, e.count, 0);
        gm_records[2 * place + 1] = LEY_FLOAT4((float)e.at_least, (float)e.at_most, 0, 0);
    }
}
