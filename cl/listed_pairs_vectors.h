/* What a work-item of listed_pairs.cl does alone, on CPU devices: it has a row, whose particles are
 * a vector, and takes what is near one by one. With a LEY_TYPES of more than 0, which is no less
 * than there are types, it first looks up what each type has with each of the row's particles. */
#ifndef LEY_LISTED_PAIRS_VECTORS_H
#define LEY_LISTED_PAIRS_VECTORS_H

/* Others at a time, whose sum is made first: long sums of floats lose digits. */
#define STRETCH 32

typedef struct {
    real x, y, z, charge;
    int type[LEY_WIDTH];
} own_particles;

LEY_FN void load_row(__global const float4 *gm_at, __global const int *gm_type, int row, float coulomb,
                     own_particles *own)
{
    __global const float *gm_row = (__global const float *)(gm_at + row * LEY_CLUSTER);
    own->x = LEY_LOAD(gm_row);
    own->y = LEY_LOAD(gm_row + LEY_CLUSTER);
    own->z = LEY_LOAD(gm_row + 2 * LEY_CLUSTER);
    own->charge = LEY_LOAD(gm_row + 3 * LEY_CLUSTER) * coulomb;
    for (int i = 0; i < LEY_WIDTH; i++)
        own->type[i] = gm_type[row * LEY_CLUSTER + i];
}

LEY_FN float4 load_slot(__global const float4 *gm_at, int slot)
{
    __global const float *gm_x =
        (__global const float *)(gm_at + slot / LEY_CLUSTER * LEY_CLUSTER) + slot % LEY_CLUSTER;
    return (float4)(gm_x[0], gm_x[LEY_CLUSTER], gm_x[2 * LEY_CLUSTER], gm_x[3 * LEY_CLUSTER]);
}

/* a and b of the row's particles with a type: at 2 type, and 2 type + 1, vectors. */
LEY_FN void look_up(const own_particles *own, int types, int type, __global const float2 *gm_table,
                    __local float *sm_to)
{
    for (int i = 0; i < LEY_WIDTH; i++) {
        const float2 factors = gm_table[own->type[i] * types + type];
        sm_to[i] = factors.x;
        sm_to[LEY_WIDTH + i] = factors.y;
    }
}

/* One that is near, at p: `bits`: of the row's particles that it has a pair with. */
LEY_FN void add_other(__global const float4 *gm_frame, const own_particles *own, float4 p, bool each, bool has_bits,
                      int bits, real a, real b, LEY_REFERENCE(sixteen) numbers, LEY_REFERENCE(sixteen) series,
                      pair_sums *s)
{
    real dx = own->x - p.x, dy = own->y - p.y, dz = own->z - p.z;
    if (each)
        LEY_NEAREST_IMAGE(gm_frame, dx, dy, dz)
    const real r2 = dx * dx + dy * dy + dz * dz;
    real within = r2 < (real)(numbers.s0) ? (real)1 : (real)0;
    if (has_bits) {
        float lanes[LEY_WIDTH];
        for (int i = 0; i < LEY_WIDTH; i++)
            lanes[i] = (float)(bits >> i & 1);
        within *= LEY_LOAD(lanes);
    }
    const pair_terms t = ley_pair_terms(r2, a, b, own->charge * p.w, numbers, series);
    s->lennard_jones += within > (real)0 ? t.lennard_jones : (real)0;
    s->coulomb += within > (real)0 ? t.coulomb : (real)0;
#if LEY_FORCES
    const real slope = within > (real)0 ? t.slope : (real)0;
    s->x += slope * dx;
    s->y += slope * dy;
    s->z += slope * dz;
#endif
}

LEY_FN pair_sums row_sums(__global const float4 *gm_frame, __global const float4 *gm_at, __global const int *gm_type,
                          int row, __global const int *gm_tile, int tiles, __global const int *gm_mask,
                          __global const int *gm_list, int near, int types, __global const float2 *gm_table,
                          sixteen numbers, sixteen series, float coulomb, __local float *sm_table,
                          __local float4 *sm_shift)
{
    own_particles own;
    pair_sums sums, part;
    load_row(gm_at, gm_type, row, coulomb, &own);
    clear_sums(&sums);
#if LEY_TYPES > 0
    for (int type = 0; type < types; type++)
        look_up(&own, types, type, gm_table, sm_table + 2 * type * LEY_WIDTH);
#endif
    for (int shift = 0; shift <= LEY_LIST_EACH; shift++)
        sm_shift[shift] = ley_list_shift(gm_frame, shift);
    for (int begin = 0; begin < LEY_CLUSTER * tiles + near; begin += STRETCH) {
        clear_sums(&part);
        for (int k = begin; k < begin + STRETCH && k < LEY_CLUSTER * tiles + near; k++) {
            const bool is_tile = k < LEY_CLUSTER * tiles;
            const int name = is_tile ? gm_tile[k / LEY_CLUSTER] : gm_list[k - LEY_CLUSTER * tiles],
                      number = name & LEY_LIST_NUMBER, shift = name >> LEY_LIST_SHIFT,
                      slot = is_tile ? number * LEY_CLUSTER + k % LEY_CLUSTER : number;
            const float4 p = load_slot(gm_at, slot) + sm_shift[shift];
            if (!(p.x == p.x)) /* behind the last particle */
                continue;
#if LEY_TYPES > 0
            __local const float *sm_factors = sm_table + 2 * gm_type[slot] * LEY_WIDTH;
#else
            __local const float *sm_factors = sm_table;
            look_up(&own, types, gm_type[slot], gm_table, sm_table);
#endif
            add_other(gm_frame, &own, p, shift == LEY_LIST_EACH, is_tile,
                      is_tile ? gm_mask[k] : 0, LEY_LOAD(sm_factors), LEY_LOAD(sm_factors + LEY_WIDTH), numbers, series,
                      &part);
        }
        add_sums(&sums, &part);
    }
    return sums;
}

LEY_FN void store_sums(const pair_sums *s, size_t slots, __global float *gm_own)
{
    LEY_PASTE(vstore, LEY_WIDTH)(0.5f * s->lennard_jones, 0, gm_own);
    LEY_PASTE(vstore, LEY_WIDTH)(0.5f * s->coulomb, 0, gm_own + slots);
    LEY_PASTE(vstore, LEY_WIDTH)(s->x, 0, gm_own + 2 * slots);
    LEY_PASTE(vstore, LEY_WIDTH)(s->y, 0, gm_own + 3 * slots);
    LEY_PASTE(vstore, LEY_WIDTH)(s->z, 0, gm_own + 4 * slots);
}

#endif
