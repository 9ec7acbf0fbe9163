#include "methods/msm/cycle.h"

#include "error.h"
#include "methods/msm/lattice_build.h"
#include "methods/msm/transfer_build.h"

#include <math.h>
#include <stdlib.h>

void cycle_run(const cycle *c, work *w)
{
    const int top = c->hierarchy->levels - 1;
    work_fill(w, c->charges.buffer, 0, DEV_NO_NUMBERS, c->bytes); /* what is left out must not pass */
    work_fill(w, c->potentials.buffer, 0, DEV_NO_NUMBERS, c->bytes);
    work_step(w, CYCLE_ANTERPOLATION);
    transfer_anterpolate(w, &c->lattices, &c->atoms, c->charges);
    work_step(w, CYCLE_RESTRICTION);
    for (int k = 0; k < top; k++)
        transfer_restrict(w, &c->lattices, k, c->charges);
    work_step(w, CYCLE_LATTICE_CUTOFF);
    if (top > 0)
        lattice_launch(w, &c->cutoff_tables, 0, top, c->cutoff_weights, c->charges, c->potentials);
    work_step(w, CYCLE_TOP_LEVEL);
    lattice_launch(w, &c->top_tables, top, 1, c->top_weights, c->charges, c->potentials);
    work_step(w, CYCLE_PROLONGATION);
    for (int k = top - 1; k >= 0; k--)
        transfer_prolongate(w, &c->lattices, k, c->potentials);
}

/* ---- Kernels --------------------------------------------------------------------------------- */

/* How many nodes the sums of the top level, or of the others, reach along an axis: all, or the
 * cutoff. Of a period half, to either side. */
static int reach_of(const hierarchy *h, bool is_top, int axis)
{
    int64_t reach[3];
    const int64_t n = h->level[h->levels - 1].n[axis];
    hierarchy_reach(h, reach);
    return (int)(!is_top ? reach[axis] : h->cell.periodic[axis] ? n / 2 : n - 1);
}

static ley_status ready_lattice(const hierarchy *h, bool is_top, dev *device, int sum, lattice_kernel *made,
                                ley_error *error)
{
    lattice_wish wish = {.sum = sum, .mirrored = true};
    for (int axis = 0; axis < 3; axis++) {
        wish.radius[axis] = reach_of(h, is_top, axis);
        if (wish.radius[axis] > LATTICE_MOST_RADIUS)
            return ley_fail(error, LEY_ERROR_USAGE, "lattice: the sums of %s reach %d nodes far, must be at most %d",
                            is_top ? "the top level" : "the levels", wish.radius[axis], LATTICE_MOST_RADIUS);
    }
    return lattice_kernel_create(device, &wish, made, error);
}

ley_status cycle_ready(cycle *c, dev *device, const hierarchy *h, const transfer_wish *wish, int sum, ley_error *error)
{
    *c = (cycle){.hierarchy = h, .room = {.device = device}};
    transfer_wish own = *wish;
    own.has_levels = h->levels > 1;
    ley_status status = transfer_kernels_create(device, &own, &c->transfer, error);
    if (status == LEY_OK && h->levels > 1)
        status = ready_lattice(h, false, device, sum, &c->cutoff, error);
    return status == LEY_OK ? ready_lattice(h, true, device, sum, &c->top, error) : status;
}

/* ---- Weights --------------------------------------------------------------------------------- */

/* What the nodes so far apart have to do with each other: of an octant, by distance. */
static ley_status make_weights(const cycle *c, bool is_top, buffer_of_float *made, room *memory, ley_error *error)
{
    const hierarchy *h = c->hierarchy;
    const int level = is_top ? h->levels - 1 : 0;
    lattice_weights w = {.mirrored = true};
    for (int axis = 0; axis < 3; axis++)
        w.radius[axis] = reach_of(h, is_top, axis);
    const size_t count = lattice_weights_count(&w);
    double *values = malloc(count * sizeof *values);
    if (values == NULL)
        return ley_fail_memory(error, count * sizeof *values, "weights of a lattice");
    for (size_t i = 0; i < count; i++) {
        const size_t n_x = (size_t)w.radius[0] + 1, n_y = (size_t)w.radius[1] + 1;
        const double at[3] = {(double)(i % n_x), (double)(i / n_x % n_y), (double)(i / n_x / n_y)};
        double d_A[3];
        hierarchy_displacement(h, level, at, d_A);
        values[i] = hierarchy_weight(h, level, sqrt(d_A[0] * d_A[0] + d_A[1] * d_A[1] + d_A[2] * d_A[2]));
    }
    w.values = values;
    const ley_status status = lattice_weights_create(is_top ? &c->top : &c->cutoff, &w, memory, made, error);
    free(values);
    return status;
}

/* ---- Lattices -------------------------------------------------------------------------------- */

/* Weights are those of level 0, which the others have 2^-k of, and of the top level. */
static ley_status make_layout(const hierarchy *h, lattice_layout *layout, ley_error *error)
{
    lattice_level levels[HIERARCHY_MOST_LEVELS];
    for (int k = 0; k < h->levels; k++) {
        levels[k].scale = k == h->levels - 1 ? 1 : ldexp(1, -k);
        for (int axis = 0; axis < 3; axis++) {
            levels[k].n[axis] = h->level[k].n[axis];
            levels[k].periodic[axis] = h->cell.periodic[axis];
        }
    }
    return lattice_layout_make(levels, h->levels, layout, error);
}

static void make_arrays(cycle *c, const lattice_layout *layout)
{
    for (int k = 0; k < c->hierarchy->levels; k++) {
        places_array *a = &c->arrays[k];
        *a = (places_array){
            .in_cubes = true, .pitch = {layout->cubes[k][0], layout->cubes[k][1]}, .first = layout->first_node[k]};
        for (int axis = 0; axis < 3; axis++) {
            a->n[axis] = layout->levels[k].n[axis];
            a->periodic[axis] = layout->levels[k].periodic[axis];
        }
    }
}

ley_status cycle_load(cycle *c, const spread *atoms, ley_error *error)
{
    const hierarchy *h = c->hierarchy;
    lattice_layout layout;
    ley_status status = make_layout(h, &layout, error);
    if (status != LEY_OK)
        return status;
    make_arrays(c, &layout);
    const size_t bytes = c->bytes = (size_t)lattice_layout_bytes(&layout);
    status = transfer_lattices_create(&c->lattices, &c->transfer, h, c->arrays, &c->room, error);
    if (status == LEY_OK)
        status = transfer_atoms_create(&c->atoms, atoms, &c->room, error);
    if (status == LEY_OK)
        status = room_buffer(&c->room, bytes, DEV_READ_WRITE, &c->charges.buffer, error);
    if (status == LEY_OK)
        status = room_buffer(&c->room, bytes, DEV_READ_WRITE, &c->potentials.buffer, error);
    if (status == LEY_OK)
        status = lattice_tables_create(&c->top_tables, &c->top, &layout, &c->room, error);
    if (status == LEY_OK)
        status = make_weights(c, true, &c->top_weights, &c->room, error);
    if (status == LEY_OK && h->levels > 1)
        status = lattice_tables_create(&c->cutoff_tables, &c->cutoff, &layout, &c->room, error);
    return status == LEY_OK && h->levels > 1 ? make_weights(c, false, &c->cutoff_weights, &c->room, error) : status;
}

void cycle_end(cycle *c)
{
    room_clear(&c->room);
    transfer_kernels_destroy(&c->transfer);
    lattice_kernel_destroy(&c->cutoff);
    lattice_kernel_destroy(&c->top);
}
