/* What one work-item of separable.cl does alone, on CPU devices: LEY_TILE tiles of LEY_UX vectors
 * along x, ROWS rows. It lists the terms that reach its plane, SEGMENT of all at a time; of these,
 * for LEY_UY rows at a time, those that reach these, with their B; and of these, for each tile
 * along x, those that reach it, which are multiplied in registers. Of derivatives all that is done
 * for each. */
#ifndef LEY_SEPARABLE_VECTORS_H
#define LEY_SEPARABLE_VECTORS_H

#define SEGMENT 1024
#define ROWS (LEY_SEPARABLE_STEPS * LEY_UY)
#define TILE_X (LEY_UX * LEY_WIDTH)
#define rows_type LEY_PASTE(float, LEY_UY)
#define LOAD_ROWS LEY_PASTE(vload, LEY_UY)

#define SUMS (ROWS * LEY_TILE * LEY_UX)

/* A block of a plane of an orbital, or of a derivative of it, of which so many are taken along each
 * axis. */
LEY_FN void sum_terms(ALL_PARAMETERS, int orbital, int plane, int3 derivative, real *sums)
{
    const int block_x = LEY_GROUP_ID(0), block_y = LEY_GROUP_ID(1);
    const float threshold = gm_weights[orbital].y;
    __global const float *z_row = gm_z + ((size_t)derivative.z * size.w + slab.x + plane) * size.x;
    __global const float *x_tables = gm_x + (size_t)derivative.x * size.x * size.y,
                         *y_tables = gm_y + (size_t)derivative.y * size.x * size.z;
    __global const float *x_mosts = gm_x_most + (size_t)derivative.x * size.x * (size.y / TILE_X),
                         *y_mosts = gm_y_most + (size_t)derivative.y * size.x * (size.z / LEY_UY);
    __global const float *coefficients = gm_coefficients + (size_t)orbital * slab.z;
    int near_term[SEGMENT], near_row[SEGMENT], near_powers[SEGMENT], term[SEGMENT], reaching[SEGMENT];
    float along_z[SEGMENT * LEY_POWERS], all_most[SEGMENT], near_most[SEGMENT], most[SEGMENT];
    rows_type b[SEGMENT];
    __global const float *x_own_mosts = x_mosts + (size_t)block_x * LEY_TILE * size.x;
    const int n_tiles = min(LEY_TILE, size.y / TILE_X - block_x * LEY_TILE);
    for (int k = 0; k < SUMS; k++)
        sums[k] = 0;

    for (int base = 0; base < n_terms; base += SEGMENT) {
        const int n_all = min(SEGMENT, n_terms - base);
        for (int t = 0; t < n_all; t++)
            all_most[t] = 0;
        for (int tile = 0; tile < n_tiles; tile++) /* X may be far more than 1 */
            for (int t = 0; t < n_all; t++)
                all_most[t] = fmax(all_most[t], x_own_mosts[(size_t)tile * size.x + base + t]);
        int n_near = 0;
        for (int t = base; t < base + n_all; t++) {
            const int4 own = gm_terms[t];
            if (!ley_reaches_plane(own, slab, plane))
                continue;
            int c = own.z;
            float largest = 0;
            for (int j = 0; j < own.y; j++) {
                const float factor = ley_along_z(coefficients, z_row + own.x, own.y - j, &c);
                along_z[n_near * LEY_POWERS + j] = factor;
                largest = fmax(largest, fabs(factor));
            }
            near_term[n_near] = t;
            near_row[n_near] = own.x;
            near_powers[n_near] = own.y;
            near_most[n_near] = all_most[t - base];
            n_near += largest > 0;
        }
        for (int step = 0; step < LEY_SEPARABLE_STEPS; step++) {
            const int first_row = block_y * ROWS + step * LEY_UY;
            if (first_row >= size.z)
                break;
            __global const float *y_most = y_mosts + (size_t)(first_row / LEY_UY) * size.x;
            int count = 0;
            for (int i = 0; i < n_near; i++) {
                const int row = near_row[i];
                float bound = 0;
                for (int j = 0; j < near_powers[i]; j++)
                    bound += fabs(along_z[i * LEY_POWERS + j]) * y_most[row + j];
                if (!(bound * near_most[i] > threshold))
                    continue;
                rows_type sum = 0;
                for (int j = 0; j < near_powers[i]; j++)
                    sum += along_z[i * LEY_POWERS + j] *
                           LOAD_ROWS(0, y_tables + (size_t)(row + j) * size.z + first_row);
                b[count] = sum;
                most[count] = bound;
                term[count++] = near_term[i];
            }
            for (int tile = 0; tile < n_tiles; tile++) {
                const int first_column = (block_x * LEY_TILE + tile) * TILE_X;
                __global const float *x_most = x_own_mosts + (size_t)tile * size.x;
                __global const float *x_tile = x_tables + first_column;
                int n_reaching = 0;
                for (int i = 0; i < count; i++) {
                    reaching[n_reaching] = i;
                    n_reaching += most[i] * x_most[term[i]] > threshold;
                }
                real sum[LEY_UY * LEY_UX];
                UNROLL for (int k = 0; k < LEY_UY * LEY_UX; k++) sum[k] = 0;
                for (int n = 0; n < n_reaching; n++) {
                    const int i = reaching[n];
                    __global const float *x_at = x_tile + (size_t)term[i] * size.y;
                    const float *rows = (const float *)&b[i];
                    real x[LEY_UX];
                    UNROLL for (int u = 0; u < LEY_UX; u++) x[u] = LEY_LOAD(x_at + u * LEY_WIDTH);
                    UNROLL for (int v = 0; v < LEY_UY; v++)
                        UNROLL for (int u = 0; u < LEY_UX; u++)
                            sum[v * LEY_UX + u] = fma((real)rows[v], x[u], sum[v * LEY_UX + u]);
                }
                for (int v = 0; v < LEY_UY; v++)
                    for (int u = 0; u < LEY_UX; u++)
                        sums[((step * LEY_UY + v) * LEY_TILE + tile) * LEY_UX + u] += sum[v * LEY_UX + u];
            }
        }
    }
}

/* Stores a block, or where there are `factors` adds it, times these and a weight; gm_own is where
 * the block begins. */
LEY_FN void put(__global float *gm_own, int4 size, const real *sums, const real *factors, float weight)
{
    const int left_rows = size.z - LEY_GROUP_ID(1) * ROWS, left = size.y - LEY_GROUP_ID(0) * LEY_TILE * TILE_X;
    for (int v = 0; v < ROWS && v < left_rows; v++)
        for (int u = 0; u < LEY_TILE * LEY_UX && u * LEY_WIDTH < left; u++) {
            const int k = v * LEY_TILE * LEY_UX + u;
            __global float *at = gm_own + (size_t)v * size.y + u * LEY_WIDTH;
            LEY_PASTE(vstore, LEY_WIDTH)(
                factors != 0 ? LEY_LOAD(at) + weight * factors[k] * sums[k] : sums[k], 0, at);
        }
}

/* A block of a plane of an orbital, or of the density of all: psi, its derivatives, and the second
 * ones along the axes, as far as they are needed. */
LEY_FN void compute(ALL_PARAMETERS)
{
    const int own = (int)LEY_GROUP_ID(2) / slab.y, plane = (int)LEY_GROUP_ID(2) - own * slab.y;
    const size_t component = (size_t)slab.y * size.y * size.z;
    __global float *gm_own = gm_values + ((size_t)plane * size.z + LEY_GROUP_ID(1) * ROWS) * size.y +
                             LEY_GROUP_ID(0) * LEY_TILE * TILE_X;
    const int begin = orbitals.x + (places.x >= 0 ? own : 0), end = places.x >= 0 ? begin + 1 : begin + orbitals.y,
              last = places.w >= 0 ? 6 : places.z >= 0 ? 3 : 0;
    real psi[SUMS], others[SUMS];
    for (int o = begin; o < end; o++) {
        const float weight = gm_weights[o].x;
        for (int set = 0; set <= last; set++) {
            const int axis = (set + 2) % 3, order = set == 0 ? 0 : set <= 3 ? 1 : 2;
            real *sums = set == 0 ? psi : others;
            sum_terms(ALL, o, plane, (int3)(axis == 0 ? order : 0, axis == 1 ? order : 0, axis == 2 ? order : 0), sums);
            if (order == 0 && places.x >= 0)
                put(gm_own + (size_t)(places.x + own) * component, size, sums, 0, 0);
            if (order == 0 && places.y >= 0)
                put(gm_own + (size_t)places.y * component, size, sums, psi, weight);
            if (order == 1 && places.z >= 0)
                put(gm_own + (size_t)(places.z + axis) * component, size, sums, psi, 2 * weight);
            if (order > 0 && places.w >= 0)
                put(gm_own + (size_t)places.w * component, size, sums, order == 1 ? sums : psi, 2 * weight);
        }
    }
}

#endif
