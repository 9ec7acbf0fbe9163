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
 * Global size: points along x, y, z, each rounded up to work-groups.
 *
 * Where the map's rows are along the mesh's first axis, as they are in open space, and those of an
 * orthogonal map in a cell with its first vector along x, LEY_ROW_NODES has a node's column summed
 * once for all points of a row. */
#include "dialect.h"
#include "nodes.h"

LEY_FN long number_of(LEY_GLOBAL const int2 *gm_index, int which)
{
    const int2 halves = gm_index[which];
    return (long)(((unsigned long)(unsigned)halves.y << 32) | (unsigned)halves.x);
}

/* Where a point is along an axis. */
LEY_FN long index_of(LEY_GLOBAL const int2 *gm_index, int axis, int x, int y, int z)
{
    return number_of(gm_index, axis) + x * number_of(gm_index, 3 + axis) + y * number_of(gm_index, 6 + axis) +
           z * number_of(gm_index, 9 + axis);
}

LEY_FN int cell_of(long at)
{
    return (int)(at >> 32);
}

/* The coordinate of the first node that a point in this cell has a share of, in the period that the
 * cell is in. */
LEY_FN int first_node(int cell, int whole)
{
    if (whole > 0) {
        cell %= whole;
        cell += cell < 0 ? whole : 0;
    }
    const int first = cell + 1 - LEY_WINDOW / 2;
    return first;
}

LEY_FN float fraction_of(long at)
{
    return (float)(unsigned)(at & 0xffffffff) * 2.3283064365386963e-10f - 0.5f; /* 2^-32 */
}

/* The weight of a point's i-th node, from the fraction of where it is. */
LEY_FN float weight_of(LEY_GLOBAL const float *gm_window, long at, int i)
{
    const float u = fraction_of(at);
    float sum = gm_window[i * LEY_WINDOW + LEY_WINDOW - 1];
    for (int k = LEY_WINDOW - 2; k >= 0; k--)
        sum = sum * u + gm_window[i * LEY_WINDOW + k];
    return sum;
}

#if LEY_FIELD
/* The derivative of that weight. */
LEY_FN float slope_of(LEY_GLOBAL const float *gm_window, long at, int i)
{
    const float u = fraction_of(at);
    float slope = 0;
    for (int k = LEY_WINDOW - 1; k > 0; k--)
        slope = slope * u + k * gm_window[i * LEY_WINDOW + k];
    return slope;
}
#endif

#if LEY_ROW_NODES > 0
/* Along y and z, where all points of a row are at the same place: the weights, with LEY_FIELD their
 * derivatives, and what each node's coordinate adds to its number; and along x what a node's column
 * sums to, with LEY_FIELD its derivatives along y and z, too. */
typedef struct {
    float weight[2][LEY_WINDOW];
    float slope[2][LEY_FIELD ? LEY_WINDOW : 1];
    int place[2][LEY_WINDOW];
    float sums[LEY_FIELD ? 3 : 1][LEY_ROW_NODES];
} row_part;

/* One of the weights along y, or along z, for each of the first work-items. */
LEY_FN void fill_across(LEY_GLOBAL const float *gm_window, LEY_GLOBAL const int2 *gm_index,
                        LEY_GLOBAL const int *gm_places, int4 mesh, int4 whole, int y, int z, int item,
                        LEY_LOCAL row_part *sm)
{
    const int along_z = item / LEY_WINDOW, i = item % LEY_WINDOW;
    if (item >= 2 * LEY_WINDOW)
        return;
    const long at = index_of(gm_index, 1 + along_z, 0, y, z);
    sm->weight[along_z][i] = weight_of(gm_window, at, i);
#if LEY_FIELD
    sm->slope[along_z][i] = slope_of(gm_window, at, i);
#endif
    sm->place[along_z][i] =
        gm_places[(along_z ? mesh.z : mesh.y) + first_node(cell_of(at), along_z ? whole.z : whole.y) + i];
}

/* Sums a node's column with the weights along y and z. */
LEY_FN void sum_column(LEY_GLOBAL const float *gm_potentials, int4 mesh, int place, int node, LEY_LOCAL row_part *sm)
{
    float sum = 0, slope_y = 0, slope_z = 0;
    for (int k = 0; k < LEY_WINDOW; k++) {
        float row = 0, row_slope = 0;
        for (int j = 0; j < LEY_WINDOW; j++) {
            const node_number at = node_in_row(place, row_of(mesh, sm->place[0][j], sm->place[1][k]));
            row += at < 0 ? 0.0f : sm->weight[0][j] * gm_potentials[at + nodes_before(mesh)];
#if LEY_FIELD
            row_slope += at < 0 ? 0.0f : sm->slope[0][j] * gm_potentials[at + nodes_before(mesh)];
#endif
        }
        sum += sm->weight[1][k] * row;
#if LEY_FIELD
        slope_y += sm->weight[1][k] * row_slope;
        slope_z += sm->slope[1][k] * row;
#endif
    }
    sm->sums[0][node] = sum;
#if LEY_FIELD
    sm->sums[1][node] = slope_y;
    sm->sums[2][node] = slope_z;
#endif
}
#else
typedef struct {
    float weight[LEY_WINDOW];
    float slope[LEY_FIELD ? LEY_WINDOW : 1];
    int place[LEY_WINDOW]; /* what each node's coordinate adds to its number */
} spread;

/* gm_places: of the mesh along this axis. */
LEY_FN spread spread_of(LEY_GLOBAL const float *gm_window, LEY_GLOBAL const int2 *gm_index,
                        LEY_GLOBAL const int *gm_places, int axis, int whole, int x, int y, int z)
{
    spread s;
    const long at = index_of(gm_index, axis, x, y, z);
    const int first = first_node(cell_of(at), whole);
    for (int i = 0; i < LEY_WINDOW; i++) {
        s.weight[i] = weight_of(gm_window, at, i);
#if LEY_FIELD
        s.slope[i] = slope_of(gm_window, at, i);
#endif
        s.place[i] = gm_places[first + i];
    }
    return s;
}
#endif

LEY_KERNEL interpolation_gather(LEY_PARAMETERS(LEY_INTERPOLATION_GATHER_ARGUMENTS))
{
    const int x = (int)LEY_GLOBAL_ID(0), y = (int)LEY_GLOBAL_ID(1), z = points.z + (int)LEY_GLOBAL_ID(2);
    float sum = 0;
#if LEY_FIELD
    float slope_x = 0, slope_y = 0, slope_z = 0;
#endif
#if LEY_ROW_NODES > 0
    LEY_LOCAL_VARIABLE row_part sm;
    const int item = LEY_LOCAL_ID(0), first_x = x - item, last_x = min(first_x + LEY_ROW_POINTS, points.x) - 1;
    const int cell = cell_of(index_of(gm_index, 0, first_x, y, z)),
              nodes = cell_of(index_of(gm_index, 0, last_x, y, z)) - cell + LEY_WINDOW;
    fill_across(gm_window, gm_index, gm_places, mesh, whole, y, z, item, &sm);
    LEY_BARRIER();
    for (int node = item; node < min(nodes, LEY_ROW_NODES); node += LEY_ROW_POINTS)
        sum_column(gm_potentials, mesh, gm_places[mesh.x + first_node(cell + node, whole.x)], node, &sm);
    LEY_BARRIER();
    if (x >= points.x || y >= points.y || z >= points.w)
        return;
    const long index = index_of(gm_index, 0, x, y, z);
    for (int i = 0; i < LEY_WINDOW; i++) {
        const int node = cell_of(index) - cell + i;
        const float weight = weight_of(gm_window, index, i);
        sum += weight * sm.sums[0][node];
#if LEY_FIELD
        slope_x += slope_of(gm_window, index, i) * sm.sums[0][node];
        slope_y += weight * sm.sums[1][node];
        slope_z += weight * sm.sums[2][node];
#endif
    }
#else
    if (x >= points.x || y >= points.y || z >= points.w)
        return;
    const spread along_x = spread_of(gm_window, gm_index, gm_places + mesh.x, 0, whole.x, x, y, z),
                 along_y = spread_of(gm_window, gm_index, gm_places + mesh.y, 1, whole.y, x, y, z),
                 along_z = spread_of(gm_window, gm_index, gm_places + mesh.z, 2, whole.z, x, y, z);
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
#endif
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
