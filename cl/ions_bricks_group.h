/* ions_bricks.cl for devices whose work-items work in step: LEY_BRICK^2 of them for each part of a
 * brick, one for each column of it along z, whose values it keeps in registers. */

LEY_FN float smaller(float a, float b)
{
    return b < a ? b : a;
}

/* Of two equal values the one of the node with the lower number. */
LEY_FN void take_least(extremes *e, float value, int at)
{
    if (value < e->least || (value == e->least && at < e->at_least)) {
        e->next_least = e->least;
        e->least = value;
        e->at_least = at;
    } else if (value < e->next_least)
        e->next_least = value;
}

LEY_FN void take_most(extremes *e, float value, int at)
{
    if (value > e->most || (value == e->most && at < e->at_most)) {
        e->next_most = e->most;
        e->most = value;
        e->at_most = at;
    } else if (value > e->next_most)
        e->next_most = value;
}

/* One effect upon a column, whose first node is at (x, y, z). */
LEY_FN void add_effect(float *values, int x, int y, int z, float4 effect, float radius2, int4 grid,
                       LEY_REFERENCE(sixteen) metric, LEY_GLOBAL const float *gm_table)
{
    const float dx = (float)x - effect.x, dy = (float)y - effect.y;
    const float plane = dx * dx + metric.s0 * dy * dy + metric.s2 * dx * dy, along = metric.s3 * dx + metric.s4 * dy;
    UNROLL for (int k = 0; k < DEPTH; k++) {
        const float dz = (float)(z + k) - effect.z;
        const float d2 = plane + (metric.s1 * dz + along) * dz;
#if LEY_PERIODIC
        float change = 0;
        if (effect.w != 0)
            change = effect.w *
                     of_images(gm_table, grid, x - (int)effect.x, y - (int)effect.y, z + k - (int)effect.z);
#else
        const float root = ley_unscaled_root(d2 > 0.25f ? d2 : 0.25f), change = effect.w * TERM(root);
#endif
        values[k] = d2 < radius2 ? NOTHING : values[k] + change;
    }
}

/* Effects that a work-group has at hand at a time. */
#define AT_HAND (ROWS / 2)

/* Of the work-item's column, whose first node is in plane `plane` of the brick. A brick that was
 * not looked at for long has many effects to add, one after the other, from local memory. */
LEY_FN extremes update(int4 work, int4 first, int plane, LEY_GLOBAL const float4 *gm_effects, int4 grid,
                       LEY_REFERENCE(sixteen) metric, LEY_GLOBAL const float *gm_table, LEY_GLOBAL float *gm_values,
                       LEY_LOCAL float4 *sm_effects)
{
    const int item = (int)LEY_LOCAL_ID(0);
    float values[DEPTH];
    extremes e;
    UNROLL for (int k = 0; k < DEPTH; k++) values[k] = gm_values[(plane + k) * ROWS + item];
    for (int begin = work.y; begin < work.z; begin += AT_HAND) {
        const int count = work.z - begin < AT_HAND ? work.z - begin : AT_HAND;
        LEY_BARRIER();
        if (item < 2 * count)
            sm_effects[item] = gm_effects[2 * begin + item];
        LEY_BARRIER();
        for (int i = 0; i < count; i++)
            add_effect(values, first.x + item % LEY_BRICK, first.y + item / LEY_BRICK, first.z + plane,
                       sm_effects[2 * i], sm_effects[2 * i + 1].x, grid, metric, gm_table);
    }
    e.least = e.next_least = INFINITE;
    e.most = e.next_most = -INFINITE;
    e.count = 0;
    e.at_least = e.at_most = NODES;
    UNROLL for (int k = 0; k < DEPTH; k++) {
        const int at = (plane + k) * ROWS + item;
        if (work.z > work.y)
            gm_values[at] = values[k];
        take_least(&e, values[k], at);
        take_most(&e, values[k], at);
        e.count += values[k] == values[k] ? 1.0f : 0.0f;
    }
    return e;
}

/* Those of all columns, for work-item 0, in an order that is always the same. */
LEY_FN void reduce(extremes *e, LEY_LOCAL float *sm_values, LEY_LOCAL int *sm_nodes)
{
    const int item = (int)LEY_LOCAL_ID(0);
    for (int pairs = ROWS / 2; pairs > 0; pairs /= 2) {
        sm_values[item] = e->least;
        sm_values[ROWS + item] = e->most;
        sm_values[2 * ROWS + item] = e->count;
        sm_values[3 * ROWS + item] = e->next_least;
        sm_values[4 * ROWS + item] = e->next_most;
        sm_nodes[item] = e->at_least;
        sm_nodes[ROWS + item] = e->at_most;
        LEY_BARRIER();
        if (item < pairs) {
            take_least(e, sm_values[item + pairs], sm_nodes[item + pairs]);
            take_most(e, sm_values[ROWS + item + pairs], sm_nodes[ROWS + item + pairs]);
            e->count += sm_values[2 * ROWS + item + pairs];
            e->next_least = smaller(e->next_least, sm_values[3 * ROWS + item + pairs]);
            e->next_most = -smaller(-e->next_most, -sm_values[4 * ROWS + item + pairs]);
        }
        LEY_BARRIER();
    }
}
