/* Densities and their gradients on a slab of z-planes of an orthogonal grid, by the density matrix
 * D of all orbitals together, whatever their number is:
 *
 *     X_m = sum_n D_mn f_n,   rho = sum_m f_m X_m,   grad rho = 2 sum_m X_m grad f_m
 *     f = (x^i y^j z^k) R(r^2),   R = sum_p d_p e^(-a_p r^2)
 *
 * so that one product of matrices, D and the functions at points, is all that grows with the square
 * of their number. A work-group has a block of BLOCK_X x BLOCK_Y x BLOCK_Z points. It lists the
 * functions that reach the block; of ROWS of these at a time it sums X in registers, STEP terms at
 * a time from local memory; then each work-item takes X of its own point from there.
 *
 * gm_shells      {its first function, functions, its first primitive, primitives}; behind the last
 *                one a shell without any
 * gm_centres     of each {x, y, z, the square of its reach}, {what is to be added to x, y, z, -}
 * n_shells       without the last
 * gm_primitives  {-a log2 e, d_p}
 * gm_functions   ((shell * 8 + i) * 8 + j) * 8 + k; behind the last one a function of the last
 *                shell
 * n_functions    without the last
 * gm_matrix      [functions and the last one][pitch], 0 for the last one
 * gm_axes        {coordinate, what is to be added to it} of points, x, y, z behind each other
 * size           {points of a row with their padding, rows of a plane with theirs, planes of the
 *                grid, pitch}
 * slab           {its first plane, its planes, -, -}
 * places         components of gm_values: {the density, the first of its gradient, or -1, -, -}
 * gm_values      [components][planes][rows][points]
 *
 * Global size {blocks along x, y, z} of groups; blocks are those of the grid, so that no value
 * depends on the slab. */
#if !defined(LEY_POWERS) || !defined(LEY_ROOM) || !defined(LEY_EXP)
#error "the specification is incomplete: see LEY_DENSITY_MATRIX_KEYS in spec.h"
#endif
#include "dialect.h"

#define BLOCK_X LEY_DENSITY_MATRIX_X
#define BLOCK_Y LEY_DENSITY_MATRIX_Y
#define BLOCK_Z LEY_DENSITY_MATRIX_Z
#define POINTS (BLOCK_X * BLOCK_Y * BLOCK_Z) /* as many as work-items */
#define STEP 8
#define ROWS LEY_DENSITY_MATRIX_ROWS
#define GROUP_OF_ROWS (ROWS / 2) /* that are in local memory at once, of X */
#define FOURS (POINTS / 4)

/* The polynomial recipe for 2^x ends there, and so do floats. */
#if LEY_EXP == LEY_EXP_POLYNOMIAL
#define EXPONENT(x) LEY_MAX(x, -126.0f)
#else
#define EXPONENT(x) (x)
#endif
#define LN_2 0.693147180559945309f

typedef struct {
    LEY_GLOBAL const int4 *shells;
    LEY_GLOBAL const float4 *centres;
    LEY_GLOBAL const float2 *primitives;
    LEY_GLOBAL const int *functions;
} basis;

/* A point, and what is left there of a shell: x, y, z from its centre, R, and dR / d(r^2). */
typedef struct {
    float2 place_x, place_y, place_z;
    int shell;
    float x, y, z, radial, slope;
} view;

LEY_FN void look_at(view *v, LEY_REFERENCE(basis) b, int shell)
{
    const int4 own = b.shells[shell];
    const float4 high = b.centres[2 * shell], low = b.centres[2 * shell + 1];
    v->shell = shell;
    v->x = (v->place_x.x - high.x) + (v->place_x.y - low.x);
    v->y = (v->place_y.x - high.y) + (v->place_y.y - low.y);
    v->z = (v->place_z.x - high.z) + (v->place_z.y - low.z);
    const float r2 = v->x * v->x + v->y * v->y + v->z * v->z;
    v->radial = v->slope = 0;
    for (int p = own.z; p < own.z + own.w; p++) {
        const float2 primitive = b.primitives[p];
        const float e = primitive.y * ley_exp2(EXPONENT(r2 * primitive.x));
        v->radial += e;
        v->slope += LN_2 * primitive.x * e;
    }
}

/* x^n, times a factor. */
LEY_FN float times_power(float factor, float x, int n)
{
    if (n > 0)
        factor *= x;
    if (n > 1)
        factor *= x;
#if LEY_POWERS > 3
    for (; n > 2; n--)
        factor *= x;
#endif
    return factor;
}

LEY_FN float value_of(view *v, LEY_REFERENCE(basis) b, int function)
{
    const int code = b.functions[function], shell = code >> 9;
    if (shell != v->shell)
        look_at(v, b, shell);
    return times_power(times_power(times_power(v->radial, v->x, code >> 6 & 7), v->y, code >> 3 & 7), v->z, code & 7);
}

/* A density and its gradient; and of the shell at hand, of polynomials alone. */
typedef struct {
    float rho, x, y, z;
    float own, own_x, own_y, own_z;
} sums;

LEY_FN void end_shell(sums *s, LEY_REFERENCE(view) v)
{
    s->rho += v.radial * s->own;
    s->x += v.radial * s->own_x + 2 * v.slope * v.x * s->own;
    s->y += v.radial * s->own_y + 2 * v.slope * v.y * s->own;
    s->z += v.radial * s->own_z + 2 * v.slope * v.z * s->own;
    s->own = s->own_x = s->own_y = s->own_z = 0;
}

/* Adds X_m f_m, and its gradient. */
LEY_FN void add_row(sums *s, view *v, LEY_REFERENCE(basis) b, int function, float own)
{
    const int code = b.functions[function], shell = code >> 9, i = code >> 6 & 7, j = code >> 3 & 7, k = code & 7;
    if (shell != v->shell) {
        end_shell(s, *v);
        look_at(v, b, shell);
    }
    const float along_x = times_power(1, v->x, i), along_y = times_power(1, v->y, j),
                along_z = times_power(own, v->z, k);
    s->own += along_x * along_y * along_z;
    if (i > 0)
        s->own_x += i * times_power(along_y, v->x, i - 1) * along_z;
    if (j > 0)
        s->own_y += j * times_power(along_x, v->y, j - 1) * along_z;
    if (k > 0)
        s->own_z += k * times_power(own, v->z, k - 1) * along_x * along_y;
}

/* How far a coordinate is from a range. */
LEY_FN float beside(float c, float low, float high) { return LEY_MAX(LEY_MAX(low - c, c - high), 0.0f); }

/* Lists the functions of shells that reach the box, and behind them as many of the last one as
 * ROWS. Returns how many there are. */
LEY_FN int list_functions(LEY_REFERENCE(basis) b, int n_shells, int n_functions, float4 low, float4 high, int item,
                          LEY_LOCAL int *sm_list, LEY_LOCAL int *sm_counts)
{
    int count = 0;
    for (int base = 0; base < n_shells; base += POINTS) {
        const int shell = base + item;
        int own = 0, first = 0;
        if (shell < n_shells) {
            const float4 c = b.centres[2 * shell];
            const float x = beside(c.x, low.x, high.x), y = beside(c.y, low.y, high.y), z = beside(c.z, low.z, high.z);
            first = b.shells[shell].x;
            own = x * x + y * y + z * z < c.w ? b.shells[shell].y : 0;
        }
        sm_counts[item] = own;
        LEY_BARRIER();
        for (int step = 1; step < POINTS; step *= 2) { /* sums of all work-items up to each */
            const int before = item >= step ? sm_counts[item - step] : 0;
            LEY_BARRIER();
            sm_counts[item] += before;
            LEY_BARRIER();
        }
        for (int k = 0, slot = count + sm_counts[item] - own; k < own; k++)
            sm_list[slot + k] = first + k;
        count += sm_counts[POINTS - 1];
        LEY_BARRIER();
    }
    if (item < ROWS)
        sm_list[count + item] = n_functions;
    LEY_BARRIER();
    return count;
}

/* Adds a factor times a vector to four sums. */
LEY_FN void add(float *sum, float factor, float4 f)
{
    sum[0] += factor * f.x;
    sum[1] += factor * f.y;
    sum[2] += factor * f.z;
    sum[3] += factor * f.w;
}

/* The next STEP functions, [STEP][FOURS], and D of these and all rows, [STEP][ROWS / 4]. */
LEY_FN void form(view *v, LEY_REFERENCE(basis) b, LEY_GLOBAL const float *gm_matrix, int pitch,
                 LEY_LOCAL const int *sm_list, int first_row, int first, int item, LEY_LOCAL float *sm_f,
                 LEY_LOCAL float *sm_d)
{
    const int column = sm_list[first_row + item % ROWS];
    UNROLL for (int k = 0; k < STEP; k += POINTS / ROWS) {
        const int own = k + item / ROWS;
        sm_d[own * ROWS + item % ROWS] = gm_matrix[(size_t)sm_list[first + own] * pitch + column];
    }
    UNROLL for (int k = 0; k < STEP; k++) sm_f[k * POINTS + item] = value_of(v, b, sm_list[first + k]);
}

/* Of each work-item eight rows and eight points: fours of both; or half of the rows, where no more
 * are left. */
LEY_FN void multiply(LEY_LOCAL const float4 *sm_f, LEY_LOCAL const float4 *sm_d, int item_row, int item_point,
                     int parts, float *sum)
{
    UNROLL for (int k = 0; k < STEP; k++) {
        const float4 f = sm_f[k * FOURS + item_point], g = sm_f[k * FOURS + FOURS / 2 + item_point];
        UNROLL for (int part = 0; part < 2; part++) {
            if (part >= parts)
                continue;
            const float4 d = sm_d[k * (ROWS / 4) + part * (ROWS / 8) + item_row];
            float *own = sum + part * 32;
            add(own, d.x, f), add(own + 4, d.x, g);
            add(own + 8, d.y, f), add(own + 12, d.y, g);
            add(own + 16, d.z, f), add(own + 20, d.z, g);
            add(own + 24, d.w, f), add(own + 28, d.w, g);
        }
    }
}

/* What the kernel hands on: all that it has. */
#define ALL_PARAMETERS LEY_DENSITY_MATRIX_ARGUMENTS(LEY_FIRST_PARAMETER, LEY_NEXT_PARAMETER)
#define ALL \
    gm_shells, gm_centres, n_shells, gm_primitives, gm_functions, n_functions, gm_matrix, gm_axes, size, slab, places, \
        gm_values

LEY_FN void compute(ALL_PARAMETERS, LEY_LOCAL float4 *sm_room, LEY_LOCAL int *sm_list, LEY_LOCAL int *sm_counts)
{
    const int item = LEY_LOCAL_ID(0), item_row = item / (FOURS / 2), item_point = item % (FOURS / 2);
    const int x = LEY_GROUP_ID(0) * BLOCK_X, y = LEY_GROUP_ID(1) * BLOCK_Y,
              z = (slab.x / BLOCK_Z + LEY_GROUP_ID(2)) * BLOCK_Z,
              last = (z + BLOCK_Z < size.z ? z + BLOCK_Z : size.z) - 1,
              own_x = x + item % BLOCK_X, own_y = y + item / BLOCK_X % BLOCK_Y,
              plane = z + item / (BLOCK_X * BLOCK_Y), own_z = plane < last ? plane : last;
    LEY_GLOBAL const float2 *gm_y = gm_axes + size.x, *gm_z = gm_y + size.y;
    basis b;
    b.shells = gm_shells;
    b.centres = gm_centres;
    b.primitives = gm_primitives;
    b.functions = gm_functions;
    view v;
    v.place_x = gm_axes[own_x];
    v.place_y = gm_y[own_y];
    v.place_z = gm_z[own_z];
    v.shell = -1;
    v.x = v.y = v.z = v.radial = v.slope = 0;
    const int count = list_functions(
        b, n_shells, n_functions, LEY_FLOAT4(gm_axes[x].x, gm_y[y].x, gm_z[z].x, 0),
        LEY_FLOAT4(gm_axes[x + BLOCK_X - 1].x, gm_y[y + BLOCK_Y - 1].x, gm_z[last].x, 0), item, sm_list, sm_counts);
    LEY_LOCAL float4 *sm_f = sm_room, *sm_d = sm_room + 2 * STEP * FOURS;
    sums s;
    s.rho = s.x = s.y = s.z = s.own = s.own_x = s.own_y = s.own_z = 0;
    for (int first_row = 0; first_row < count; first_row += ROWS) {
        float sum[ROWS]; /* eight rows of eight points */
        UNROLL for (int k = 0; k < ROWS; k++) sum[k] = 0;
        const int parts = count - first_row > GROUP_OF_ROWS ? 2 : 1;
        int now = 0;
        form(&v, b, gm_matrix, size.w, sm_list, first_row, 0, item, (LEY_LOCAL float *)sm_f, (LEY_LOCAL float *)sm_d);
        LEY_BARRIER();
        for (int first = 0; first < count; first += STEP, now ^= 1) {
            if (first + STEP < count)
                form(&v, b, gm_matrix, size.w, sm_list, first_row, first + STEP, item,
                     (LEY_LOCAL float *)(sm_f + (now ^ 1) * STEP * FOURS),
                     (LEY_LOCAL float *)(sm_d + (now ^ 1) * STEP * (ROWS / 4)));
            multiply(sm_f + now * STEP * FOURS, sm_d + now * STEP * (ROWS / 4), item_row, item_point, parts, sum);
            LEY_BARRIER();
        }
        UNROLL for (int part = 0; part < 2; part++) {
            UNROLL for (int k = 0; k < 4; k++) {
                const float *own = sum + part * 32 + k * 8;
                LEY_LOCAL float4 *sm_row = sm_room + (4 * item_row + k) * FOURS + item_point;
                sm_row[0] = LEY_FLOAT4(own[0], own[1], own[2], own[3]);
                sm_row[FOURS / 2] = LEY_FLOAT4(own[4], own[5], own[6], own[7]);
            }
            LEY_BARRIER();
            const int begin = first_row + part * GROUP_OF_ROWS;
            for (int k = 0; k < GROUP_OF_ROWS && begin + k < count; k++)
                add_row(&s, &v, b, sm_list[begin + k], ((LEY_LOCAL const float *)sm_room)[k * POINTS + item]);
            end_shell(&s, v);
            LEY_BARRIER();
        }
    }
    if (plane < slab.x || plane >= slab.x + slab.y)
        return;
    const size_t component = (size_t)slab.y * size.x * size.y;
    LEY_GLOBAL float *gm_own = gm_values + ((size_t)(plane - slab.x) * size.y + own_y) * size.x + own_x;
    gm_own[places.x * component] = s.rho;
    if (places.y < 0)
        return;
    gm_own[places.y * component] = 2 * s.x;
    gm_own[(places.y + 1) * component] = 2 * s.y;
    gm_own[(places.y + 2) * component] = 2 * s.z;
}

LEY_KERNEL_OF(POINTS, 1, 1) density_matrix(LEY_PARAMETERS(LEY_DENSITY_MATRIX_ARGUMENTS))
{
    LEY_LOCAL_VARIABLE float4 sm_room[GROUP_OF_ROWS * FOURS];
    LEY_LOCAL_VARIABLE int sm_list[LEY_ROOM + ROWS];
    LEY_LOCAL_VARIABLE int sm_counts[POINTS];
    compute(ALL, sm_room, sm_list, sm_counts);
}
