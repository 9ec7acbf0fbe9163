/* What one work-item of separable.cl does alone, on CPU devices: LEY_TILE tiles of LEY_UX vectors
 * along x, ROWS rows. It lists the terms that reach its plane, SEGMENT of all at a time; of these,
 * for LEY_UY rows at a time, those that reach these, with their B; and of these, for each tile
 * along x, those that reach it, which are multiplied in registers. */
#ifndef LEY_SEPARABLE_VECTORS_H
#define LEY_SEPARABLE_VECTORS_H

#define SEGMENT 1024
#define ROWS (LEY_SEPARABLE_STEPS * LEY_UY)
#define TILE_X (LEY_UX * LEY_WIDTH)
#define rows_type LEY_PASTE(float, LEY_UY)
#define LOAD_ROWS LEY_PASTE(vload, LEY_UY)

/* A block of a plane of an orbital. */
LEY_FN void compute(ALL_PARAMETERS)
{
    const int block_x = LEY_GROUP_ID(0), block_y = LEY_GROUP_ID(1);
    const int orbital = (int)LEY_GROUP_ID(2) / slab.y, plane = (int)LEY_GROUP_ID(2) - orbital * slab.y;
    const size_t component = (size_t)slab.y * size.y * size.z;
    const float threshold = weights.x;
    __global const float *z_row = gm_z + first.z + (size_t)(slab.x + plane) * size.x;
    __global const float *x_tables = gm_x + first.x, *y_tables = gm_y + first.y;
    __global const float *coefficients = gm_coefficients + first.w + (size_t)orbital * slab.z;
    int near_term[SEGMENT], near_row[SEGMENT], near_powers[SEGMENT], term[SEGMENT], reaching[SEGMENT];
    float along_z[SEGMENT * LEY_POWERS], most[SEGMENT];
    rows_type b[SEGMENT];
    real sums[ROWS * LEY_TILE * LEY_UX];
    for (int k = 0; k < ROWS * LEY_TILE * LEY_UX; k++)
        sums[k] = 0;

    for (int base = 0; base < n_terms; base += SEGMENT) {
        int n_near = 0;
        for (int t = base; t < min(base + SEGMENT, n_terms); t++) {
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
            n_near += largest > 0;
        }
        for (int step = 0; step < LEY_SEPARABLE_STEPS; step++) {
            const int first_row = block_y * ROWS + step * LEY_UY;
            if (first_row >= size.z)
                break;
            __global const float *y_most = gm_y_most + first_most.y + (size_t)(first_row / LEY_UY) * size.x;
            int count = 0;
            for (int i = 0; i < n_near; i++) {
                const int row = near_row[i];
                float bound = 0;
                for (int j = 0; j < near_powers[i]; j++)
                    bound += fabs(along_z[i * LEY_POWERS + j]) * y_most[row + j];
                if (!(bound > threshold))
                    continue;
                rows_type sum = 0;
                for (int j = 0; j < near_powers[i]; j++)
                    sum += along_z[i * LEY_POWERS + j] *
                           LOAD_ROWS(0, y_tables + (size_t)(row + j) * size.z + first_row);
                b[count] = sum;
                most[count] = bound;
                term[count++] = near_term[i];
            }
            for (int tile = 0; tile < LEY_TILE; tile++) {
                const int first_column = (block_x * LEY_TILE + tile) * TILE_X;
                if (first_column >= size.y)
                    break;
                __global const float *x_most =
                    gm_x_most + first_most.x + (size_t)(block_x * LEY_TILE + tile) * size.x;
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
    for (int v = 0; v < ROWS && block_y * ROWS + v < size.z; v++) {
        const int first_column = block_x * LEY_TILE * TILE_X, row = block_y * ROWS + v;
        __global float *to = gm_values + orbital * component + ((size_t)plane * size.z + row) * size.y + first_column;
        for (int u = 0; u < LEY_TILE * LEY_UX && first_column + u * LEY_WIDTH < size.y; u++) {
            const real psi = sums[v * LEY_TILE * LEY_UX + u];
            __global float *at = to + u * LEY_WIDTH;
            if (places.x >= 0)
                LEY_PASTE(vstore, LEY_WIDTH)(psi, 0, at + places.x * component);
            if (places.y >= 0)
                LEY_PASTE(vstore, LEY_WIDTH)(
                    LEY_LOAD(at + places.y * component) + weights.y * psi * psi, 0, at + places.y * component);
            if (places.z >= 0)
                LEY_PASTE(vstore, LEY_WIDTH)(LEY_LOAD(at + places.z * component) +
                                                 weights.z * psi * LEY_LOAD(at + places.w * component),
                                             0, at + places.z * component);
        }
    }
}

#endif
