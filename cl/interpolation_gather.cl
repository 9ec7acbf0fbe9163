/* Interpolation where the map's axes are not the mesh's, as of an orthogonal map in a triclinic
 * cell: each point takes its LEY_WINDOW^3 nodes,
 *
 *     phi[p] += sum over i, j, k of w_i(t_x) w_j(t_y) w_k(t_z) e[b + (i, j, k)],
 *
 * and with LEY_FIELD to the field beside it the derivatives of that along the mesh's axes, from
 * those of the weights, as they lie along x, y and z.
 *
 * Where a point is on the mesh is counted in nodes / 2^32, exactly: origin + x along_x +
 * y along_y + z along_z; its whole part is its cell, its fraction is t.
 *
 * gm_window      as in anterpolate.cl; with LEY_FIELD behind that [3][3]: along x, y and z, what
 *                the derivatives along the mesh's axes, per node, are multiplied by
 * gm_potentials, gm_places, mesh  as in interpolation.cl
 * gm_index       {origin, along_x, along_y, along_z}, each three pairs of ints, the low one and the
 *                high one of a 64-bit number
 * whole          of each axis of the mesh: nodes of a period; 0: it is open; fourth, with
 *                LEY_FIELD, numbers of gm_phi from one component to the next
 * points         of the map along x, y, the first and the end of its planes along z
 * map, accumulate, gm_phi  as in interpolation.cl
 *
 * Global size: points along x, y, z, each rounded up to work-groups. */
#include "dialect.h"
#include "nodes.h"

typedef struct {
    float weight[LEY_WINDOW];
    float slope[LEY_FIELD ? LEY_WINDOW : 1];
    int place[LEY_WINDOW]; /* what each node's coordinate adds to its number */
} spread;

LEY_FN long number_of(LEY_GLOBAL const int2 *gm_index, int which)
{
    const int2 halves = gm_index[which];
    return (long)(((unsigned long)(unsigned)halves.y << 32) | (unsigned)halves.x);
}

/* gm_places: of the mesh along this axis. */
LEY_FN spread spread_of(LEY_GLOBAL const float *gm_window, LEY_GLOBAL const int2 *gm_index,
                        LEY_GLOBAL const int *gm_places, int axis, int whole, int x, int y, int z)
{
    spread s;
    const long at = number_of(gm_index, axis) + x * number_of(gm_index, 3 + axis) + y * number_of(gm_index, 6 + axis) +
                    z * number_of(gm_index, 9 + axis);
    const float u = (float)(unsigned)(at & 0xffffffff) * 2.3283064365386963e-10f - 0.5f; /* 2^-32 */
    int cell = (int)(at >> 32);
    if (whole > 0) {
        cell %= whole;
        cell += cell < 0 ? whole : 0;
    }
    const int first = cell + 1 - LEY_WINDOW / 2;
    for (int i = 0; i < LEY_WINDOW; i++) {
        float sum = gm_window[i * LEY_WINDOW + LEY_WINDOW - 1], slope = 0;
        for (int k = LEY_WINDOW - 2; k >= 0; k--) {
            slope = slope * u + sum;
            sum = sum * u + gm_window[i * LEY_WINDOW + k];
        }
        s.weight[i] = sum;
        s.slope[LEY_FIELD ? i : 0] = slope;
        s.place[i] = gm_places[first + i];
    }
    return s;
}

LEY_KERNEL interpolation_gather(LEY_PARAMETERS(LEY_INTERPOLATION_GATHER_ARGUMENTS))
{
    const int x = (int)LEY_GLOBAL_ID(0), y = (int)LEY_GLOBAL_ID(1), z = points.z + (int)LEY_GLOBAL_ID(2);
    if (x >= points.x || y >= points.y || z >= points.w)
        return;
    const spread along_x = spread_of(gm_window, gm_index, gm_places + mesh.x, 0, whole.x, x, y, z),
                 along_y = spread_of(gm_window, gm_index, gm_places + mesh.y, 1, whole.y, x, y, z),
                 along_z = spread_of(gm_window, gm_index, gm_places + mesh.z, 2, whole.z, x, y, z);
    float sum = 0;
#if LEY_FIELD
    float slope_x = 0, slope_y = 0, slope_z = 0;
#endif
    for (int k = 0; k < LEY_WINDOW; k++)
        for (int j = 0; j < LEY_WINDOW; j++) {
            const node_number row_place = row_of(mesh, along_y.place[j], along_z.place[k]);
            float row = 0;
#if LEY_FIELD
            float row_slope = 0;
#endif
            for (int i = 0; i < LEY_WINDOW; i++) {
                const node_number at = node_in_row(along_x.place[i], row_place); /* negative: there is no such node */
                row += at < 0 ? 0.0f : along_x.weight[i] * gm_potentials[at + nodes_before(mesh)];
#if LEY_FIELD
                row_slope += at < 0 ? 0.0f : along_x.slope[i] * gm_potentials[at + nodes_before(mesh)];
#endif
            }
            sum += along_y.weight[j] * along_z.weight[k] * row;
#if LEY_FIELD
            slope_x += along_y.weight[j] * along_z.weight[k] * row_slope;
            slope_y += along_y.slope[j] * along_z.weight[k] * row;
            slope_z += along_y.weight[j] * along_z.slope[k] * row;
#endif
        }
    const int at = gm_places[map.x + x] + gm_places[map.y + y] + gm_places[map.z + z - points.z] + map.w;
    gm_phi[at] = accumulate ? gm_phi[at] + sum : sum;
#if LEY_FIELD
    LEY_GLOBAL const float *gm_factors = gm_window + LEY_WINDOW * LEY_WINDOW;
    for (int c = 0; c < 3; c++) {
        const size_t to = (c + 1) * (size_t)whole.w + at;
        const float field =
            gm_factors[3 * c] * slope_x + gm_factors[3 * c + 1] * slope_y + gm_factors[3 * c + 2] * slope_z;
        gm_phi[to] = accumulate ? gm_phi[to] + field : field;
    }
#endif
}
