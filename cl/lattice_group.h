/* What a work-group of lattice.cl does, on GPUs: it folds rows into local memory, then each
 * work-item adds up columns from there. */
#ifndef LEY_LATTICE_GROUP_H
#define LEY_LATTICE_GROUP_H

#define ITEMS (LEY_LX * LEY_LY * LEY_LZ)
#define STAGED (PLANES * PITCH)
#define STAGED_PLACES PLANES
#define FOLDED 4
#define COLUMNS_PER_ITEM ((PITCH + LEY_LX - 1) / LEY_LX)

/* A column's weights in registers, and which one is that of dz. */
#define ALONG_Z LEY_ALONG(LEY_RZ, LEY_MIRRORED)
#define WEIGHT_OF(dz) (LEY_MIRRORED ? ((dz) < 0 ? -(dz) : (dz)) : (dz) + LEY_RZ)

/* What columns are cut to: most of a sphere's reach less than its radius. */
#define REACH_MIDDLE (3 * LEY_RZ / 4)
#define REACH_LOW (LEY_RZ / 2)

#if LEY_MIRRORED
#define CHARGES_AT(at) (sm_first[(at) + dx] + sm_first[(at) - dx])
#else
#define CHARGES_AT(at) sm_first[(at) + dx]
#endif

/* Adds the columns at dx (and -dx), cut to a reach, to the sums of a work-item, whose first node's
 * row begins at `sm_first`. The reach is a constant, so that all of it is unrolled and in
 * registers. */
#define ADD_COLUMNS(name, REACH) \
    LEY_FN void name(sums *s, LEY_LOCAL const float *sm_first, int dx, CONSTANT_SPACE const float *column) \
    { \
        float w[ALONG_Z]; \
        UNROLL for (int k = 0; k < ALONG_Z; k++) \
            w[k] = column[k]; \
        UNROLL for (int p = 0; p < LEY_UZ + 2 * (REACH); p++) { \
            UNROLL for (int u = 0; u < LEY_UX; u++) { \
                const float charge = CHARGES_AT((p - (REACH) + DEPTH) * PITCH + u * STRIDE_X); \
                UNROLL for (int z = 0; z < LEY_UZ; z++) \
                    if (p - z >= 0 && p - z <= 2 * (REACH)) \
                        s->sum[z * LEY_UX + u] += w[WEIGHT_OF(p - z - (REACH))] * charge; \
            } \
        } \
    }

ADD_COLUMNS(add_columns, LEY_RZ)
ADD_COLUMNS(add_middle_columns, REACH_MIDDLE)
ADD_COLUMNS(add_low_columns, REACH_LOW)

/* Adds the rows at dy (and -dy), folded. */
LEY_FN void add_rows(sums *s, LEY_LOCAL const float *sm_first, int dy, CONSTANT_SPACE const float *weights)
{
    const int extent = (int)weights[dy - FIRST_Y];
    for (int dx = LEY_MIRRORED ? 0 : -extent; dx <= extent; dx++) {
        CONSTANT_SPACE const float *column = COLUMN_AT(weights, dx, dy);
        const int reach = (int)column[COLUMN - 1];
        if (reach > REACH_MIDDLE)
            add_columns(s, sm_first, dx, column);
        else if (reach > REACH_LOW)
            add_middle_columns(s, sm_first, dx, column);
        else
            add_low_columns(s, sm_first, dx, column);
    }
    end_part(s);
}

/* The rows dy above and below the region's, added up: `FOLDED` planes at a time, so that as many
 * reads are under way. The same charges are needed again and again, so that most come from
 * caches. */
LEY_FN void fold(const region *r, const int *place_x, int upper, int lower, LEY_LOCAL const int *sm_place_z,
                 LEY_LOCAL float *sm_rows)
{
    for (int first = LEY_LOCAL_ID(2); first < PLANES; first += FOLDED * LEY_LZ) {
        float charge[FOLDED * COLUMNS_PER_ITEM];
        UNROLL for (int k = 0; k < FOLDED; k++) {
            const int p = first + k * LEY_LZ, place_z = p < PLANES ? sm_place_z[p] : LEY_NOWHERE;
            UNROLL for (int c = 0; c < COLUMNS_PER_ITEM; c++) {
                charge[k * COLUMNS_PER_ITEM + c] = charge_at(r->charges, place_x[c], upper + place_z);
#if LEY_MIRRORED
                charge[k * COLUMNS_PER_ITEM + c] += charge_at(r->charges, place_x[c], lower + place_z);
#endif
            }
        }
        UNROLL for (int k = 0; k < FOLDED; k++) {
            const int p = first + k * LEY_LZ;
            UNROLL for (int c = 0; c < COLUMNS_PER_ITEM; c++) {
                const int x = (int)LEY_LOCAL_ID(0) + c * LEY_LX;
                if (x < PITCH && p < PLANES)
                    sm_rows[p * PITCH + x] = charge[k * COLUMNS_PER_ITEM + c];
            }
        }
    }
}

LEY_FN void sum_region(sums *s, const region *r, CONSTANT_SPACE const float *weights, LEY_LOCAL float *sm_rows,
                       LEY_LOCAL int *sm_place_z)
{
    LEY_LOCAL const float *sm_first = sm_rows + LEY_LOCAL_ID(2) * LEY_UZ * PITCH + HALO_X + LEY_LOCAL_ID(0);
    int place_x[COLUMNS_PER_ITEM];
    UNROLL for (int c = 0; c < COLUMNS_PER_ITEM; c++) {
        const int x = (int)LEY_LOCAL_ID(0) + c * LEY_LX;
        place_x[c] = x < PITCH ? r->place_x[x - HALO_X] : LEY_NOWHERE;
    }
    for (int p = (int)LEY_LOCAL_ID(2) * LEY_LX + (int)LEY_LOCAL_ID(0); p < PLANES; p += ITEMS)
        sm_place_z[p] = r->place_z[p - DEPTH];
    for (int dy = FIRST_Y; dy <= LEY_RY; dy++) {
        const int upper = r->place_y[dy], lower = LEY_MIRRORED ? r->place_y[-dy] : LEY_NOWHERE;
        if (max(upper, lower) < 0)
            continue;
        LEY_BARRIER_OF(ITEMS);
        fold(r, place_x, upper, lower, sm_place_z, sm_rows);
        LEY_BARRIER_OF(ITEMS);
        add_rows(s, sm_first, dy, weights);
    }
}

LEY_FN void store(const sums *s, const region *r)
{
    UNROLL for (int z = 0; z < LEY_UZ; z++) {
        UNROLL for (int u = 0; u < LEY_UX; u++) {
            LEY_GLOBAL float *gm_node = place_of(r, r->x + (int)LEY_LOCAL_ID(0) + u * STRIDE_X, r->y,
                                                 r->z + (int)LEY_LOCAL_ID(2) * LEY_UZ + z);
            if (gm_node != 0)
                *gm_node = result(s, z * LEY_UX + u) * r->scale;
        }
    }
}

#endif
