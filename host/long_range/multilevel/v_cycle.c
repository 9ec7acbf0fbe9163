#include "long_range/multilevel/v_cycle.h"

#include "cancel.h"
#include "core/sizes.h"
#include "error.h"
#include "long_range/mesh/mesh_rows.h"
#include "long_range/mesh/transfer_build.h"
#include "long_range/multilevel/lattice_build.h"
#include "numerics/lattice_sum.h"
#include "parallel.h"

#include <math.h>
#include <stdlib.h>

/* Of their costs. */
static const char cutoff_name[] = "lattice cutoff", top_name[] = "top level";

static void run_cutoff(const v_cycle *c, command_sequence *w, int top)
{
    for (int k = 0; k < top && c->by_level; k++)
        lattice_launch(w, &c->cutoff_tables, k, 1, c->weights[k], c->charges, c->potentials);
    if (top > 0 && !c->by_level)
        lattice_launch(w, &c->cutoff_tables, 0, top, c->weights[0], c->charges, c->potentials);
}

static bool is_given(const v_cycle *c)
{
    return c->hierarchy->solver == HIERARCHY_LOWER;
}

/* The potentials of the top level: all of its pairs, by transforms, or as they are given. */
static void run_top(const v_cycle *c, command_sequence *w)
{
    const int top = c->hierarchy->levels - 1;
    if (c->is_mixed)
        spectral_transform(&c->spectral, w);
    if (is_given(c))
        mesh_rows_write(w, &c->arrays[top], c->top_potentials, c->potentials);
    if (c->is_mixed || is_given(c))
        return;
    sequence_step(w, CYCLE_TOP_LEVEL);
    lattice_launch(w, &c->top_tables, top, 1, c->weights[top], c->charges, c->potentials);
}

void v_cycle_run_up(const v_cycle *c, command_sequence *w)
{
    const int top = c->hierarchy->levels - 1;
    const buffer_of_float top_charges = c->is_mixed ? c->spectral.charges : c->charges;
    sequence_fill(w, c->charges.buffer, 0, DEV_NO_NUMBERS, c->bytes); /* what is left out must not pass */
    if (c->is_mixed)
        spectral_clear(&c->spectral, w);
    sequence_step(w, CYCLE_ANTERPOLATION);
    if (c->given_charges != NULL)
        mesh_rows_write(w, &c->arrays[0], c->given_charges, c->charges);
    else
        transfer_anterpolate(w, &c->meshes, &c->atoms, c->charges);
    sequence_step(w, CYCLE_RESTRICTION);
    for (int k = 0; k < top; k++)
        transfer_restrict(w, &c->meshes, k, c->charges, k + 1 < top ? c->charges : top_charges);
}

void v_cycle_run(const v_cycle *c, command_sequence *w)
{
    const int top = c->hierarchy->levels - 1;
    const buffer_of_float top_potentials = c->is_mixed ? c->spectral.potentials : c->potentials;
    v_cycle_run_up(c, w);
    sequence_fill(w, c->potentials.buffer, 0, DEV_NO_NUMBERS, c->bytes);
    sequence_step(w, CYCLE_LATTICE_CUTOFF);
    run_cutoff(c, w, top);
    run_top(c, w);
    sequence_step(w, CYCLE_PROLONGATION);
    for (int k = top - 1; k >= 0; k--)
        transfer_prolongate(w, &c->meshes, k, k + 1 < top ? c->potentials : top_potentials, c->potentials);
}

void v_cycle_learn(const v_cycle *c, const sequence_times *times)
{
    const double *predicted_s = times->step_predicted_s, *took_s = times->step_s;
    static const struct {
        int step, transfer;
    } transfers[] = {{CYCLE_ANTERPOLATION, TRANSFER_ANTERPOLATION},
                     {CYCLE_RESTRICTION, TRANSFER_RESTRICTION},
                     {CYCLE_PROLONGATION, TRANSFER_PROLONGATION}};
    for (size_t i = 0; i < sizeof transfers / sizeof *transfers; i++)
        transfer_learn(&c->transfer, transfers[i].transfer, predicted_s[transfers[i].step], took_s[transfers[i].step]);
    if (c->is_mixed)
        spectral_learn(&c->spectral, times);
    else if (!is_given(c))
        lattice_learn(&c->top, top_name, predicted_s[CYCLE_TOP_LEVEL], took_s[CYCLE_TOP_LEVEL]);
    if (c->hierarchy->levels > 1)
        lattice_learn(&c->cutoff, cutoff_name, predicted_s[CYCLE_LATTICE_CUTOFF], took_s[CYCLE_LATTICE_CUTOFF]);
}

/* ---- Kernels --------------------------------------------------------------------------------- */

_Static_assert((int)HIERARCHY_MOST_REACH == (int)LATTICE_MOST_RADIUS, "hierarchies are what kernels can do");

/* How many nodes the sums of a level reach along each axis: the cutoff, or at the top all of
 * them. */
static void find_reach(const hierarchy *h, bool is_top, int64_t reach[3])
{
    if (is_top)
        hierarchy_whole_reach(h, h->levels - 1, reach);
    else
        hierarchy_reach(h, reach);
}

/* The kernel's, which at the top is a little more, so that hierarchies of similar sizes share
 * one. */
static ley_status find_radius(const hierarchy *h, bool is_top, int radius[3], ley_error *error)
{
    int64_t reach[3];
    find_reach(h, is_top, reach);
    for (int axis = 0; axis < 3; axis++) {
        const int64_t shared = is_top ? ley_round_up(reach[axis], 4) : reach[axis];
        if (reach[axis] > LATTICE_MOST_RADIUS)
            return ley_fail(error, LEY_ERROR_USAGE,
                            "mesh: the sums of %s reach %lld nodes far along axis %d, must be at most %d: take %s, or "
                            "the fourier solver",
                            is_top ? "the top level" : "the levels", (long long)reach[axis], axis + 1,
                            LATTICE_MOST_RADIUS,
                            is_top ? "more levels, a wider mesh spacing" : "a shorter cutoff, a wider mesh spacing");
        radius[axis] = (int)(shared < LATTICE_MOST_RADIUS ? shared : LATTICE_MOST_RADIUS);
    }
    return LEY_OK;
}

static ley_status make_wish(const hierarchy *h, bool is_top, int sum, lattice_wish *wish, ley_error *error)
{
    *wish = (lattice_wish){.sum = sum, .mirrored = hierarchy_is_rectangular(h)};
    return find_radius(h, is_top, wish->radius, error);
}

/* Of the top level: its kernel, or its transforms. */
static ley_status ready_top(v_cycle *c, dev *device, int sum, const fft_wish *fft, bool foreseen, ley_error *error)
{
    lattice_wish top;
    if (c->is_mixed) {
        const ley_status status =
            (foreseen ? spectral_foresee_mesh : spectral_ready_mesh)(&c->spectral, device, &c->top_level, fft, error);
        c->spectral.step = CYCLE_FORWARD - SPECTRAL_FORWARD;
        c->spectral.arena.within = &c->arena;
        return status;
    }
    if (is_given(c))
        return LEY_OK;
    ley_status status = make_wish(c->hierarchy, true, sum, &top, error);
    if (status == LEY_OK)
        status = lattice_kernel_create(device, &top, &c->top, error);
    if (status == LEY_OK)
        lattice_look_up_cost(&c->top, top_name);
    return status;
}

ley_status v_cycle_ready(v_cycle *c, dev *device, const hierarchy *h, const transfer_wish *wish, int sum,
                         const fft_wish *fft, bool foreseen, ley_error *error)
{
    *c = (v_cycle){.hierarchy = h,
                   .by_level = h->kappa_per_A > 0,
                   .is_mixed = h->solver == HIERARCHY_MIXED,
                   .arena = {.device = device}};
    transfer_wish own = *wish;
    lattice_wish cutoff;
    own.has_levels = h->levels > 1;
    hierarchy_top(h, &c->top_level);
    ley_status status = ready_top(c, device, sum, fft, foreseen, error);
    if (status == LEY_OK && h->levels > 1)
        status = make_wish(h, false, sum, &cutoff, error);
    if (status == LEY_OK)
        status = transfer_kernels_create(device, &own, &c->transfer, error);
    if (status == LEY_OK && h->levels > 1)
        status = lattice_kernel_create(device, &cutoff, &c->cutoff, error);
    if (status == LEY_OK && h->levels > 1)
        lattice_look_up_cost(&c->cutoff, cutoff_name);
    return status;
}

/* ---- Weights --------------------------------------------------------------------------------- */

/* The weights of a level. */
typedef struct weighing {
    const hierarchy *h;
    int level;
    int64_t reach[3];
    const lattice_sum *images; /* of all images of a charge: at the top, where it is periodic; */
    lattice_weights weights;
    double *values;
    const atomic_bool *cancelled;
} weighing;

/* What the nodes so far apart have to do with each other. A node that is half a period away is so
 * in both directions, and has half of its share in each. */
static double weigh(const weighing *w, const int64_t d[3])
{
    const double at[3] = {(double)d[0], (double)d[1], (double)d[2]};
    double d_A[3], share = 1;
    for (int axis = 0; axis < 3; axis++) {
        const int64_t away = d[axis] < 0 ? -d[axis] : d[axis];
        if (away > w->reach[axis])
            return 0;
        if (w->images != NULL && w->h->cell.periodic[axis] && 2 * away == w->h->level[w->level].n[axis])
            share /= 2;
    }
    hierarchy_displacement(w->h, w->level, at, d_A);
    return share *
           (w->images != NULL ? lattice_sum_at(w->images, d_A) : hierarchy_weight(w->h, w->level, cell_length(d_A)));
}

static void weigh_some(void *context, size_t first, size_t last)
{
    const weighing *w = context;
    const int *radius = w->weights.radius, low = w->weights.mirrored ? 0 : -1;
    const size_t n_x = (size_t)((low < 0 ? 2 : 1) * radius[0] + 1), n_y = (size_t)((low < 0 ? 2 : 1) * radius[1] + 1);
    for (size_t i = first; i < last && !cancel_is_asked(w->cancelled); i++) {
        const int64_t d[3] = {(int64_t)(i % n_x) + low * radius[0], (int64_t)(i / n_x % n_y) + low * radius[1],
                              (int64_t)(i / n_x / n_y) + low * radius[2]};
        w->values[i] = weigh(w, d);
    }
}

/* All images of a charge, beyond the top level's cutoff; NULL where there are none. */
static ley_status make_images(const hierarchy *h, lattice_sum **made, ley_error *error)
{
    static const double origin_A[3] = {0}, unit = 1;
    const hierarchy_level *top = &h->level[h->levels - 1];
    const lattice_sum_options options = {.cell = h->cell,
                                         .kappa_per_A = h->kappa_per_A,
                                         .far = &top->split,
                                         .cutoff_A = top->cutoff_A,
                                         .without_mean = h->mean_per_A > 0};
    *made = NULL;
    return h->cell.dimensions > 0 ? lattice_sum_create(&options, 1, origin_A, &unit, made, error) : LEY_OK;
}

/* On all cores. */
static ley_status upload_weights(v_cycle *c, weighing *w, const lattice_kernel *kernel, ley_error *error)
{
    const size_t count = lattice_weights_count(&w->weights);
    w->values = malloc(count * sizeof *w->values);
    if (w->values == NULL)
        return ley_fail_memory(error, count * sizeof *w->values, "weights of a mesh");
    parallel_ranges(count, weigh_some, w);
    w->weights.values = w->values;
    const ley_status status = cancel_is_asked(c->cancelled) ? ley_fail(error, LEY_CANCELLED, "cancelled")
                                                            : lattice_weights_create(kernel, &w->weights, &c->arena,
                                                                                     &c->weights[w->level], error);
    free(w->values);
    return status;
}

static ley_status make_weights(v_cycle *c, int level, ley_error *error)
{
    const hierarchy *h = c->hierarchy;
    const bool is_top = level == h->levels - 1;
    lattice_sum *images = NULL;
    weighing w = {
        .h = h, .level = level, .weights = {.mirrored = hierarchy_is_rectangular(h)}, .cancelled = c->cancelled};
    find_reach(h, is_top, w.reach);
    ley_status status = find_radius(h, is_top, w.weights.radius, error);
    if (status == LEY_OK && is_top)
        status = make_images(h, &images, error);
    w.images = images;
    if (status == LEY_OK)
        status = upload_weights(c, &w, is_top ? &c->top : &c->cutoff, error);
    lattice_sum_destroy(images);
    return status;
}

/* Of the top level, but where it is done by transforms; and of the first one for all others, or of
 * each of them. */
static ley_status make_all_weights(v_cycle *c, const spread *atoms, ley_error *error)
{
    const int top = c->hierarchy->levels - 1;
    ley_status status = c->is_mixed   ? spectral_load_influence(&c->spectral, c->hierarchy, atoms, error)
                        : is_given(c) ? LEY_OK
                                      : make_weights(c, top, error);
    for (int k = 0; k < (c->by_level ? top : top > 0 ? 1 : 0) && status == LEY_OK; k++)
        status = make_weights(c, k, error);
    return status;
}

/* ---- Meshes -------------------------------------------------------------------------------- */

/* Levels that are stored one after the other: all but a top one that is done by transforms. */
static int stored_levels(const hierarchy *h)
{
    return h->solver == HIERARCHY_MIXED ? h->levels - 1 : h->levels;
}

/* Where weights are those of level 0, the others have 2^-k of them, but for the top level. */
static ley_status make_layout(const hierarchy *h, bool by_level, lattice_layout *layout, ley_error *error)
{
    lattice_level levels[HIERARCHY_MOST_LEVELS];
    const int count = stored_levels(h);
    for (int k = 0; k < count; k++) {
        levels[k].scale = by_level || k == h->levels - 1 ? 1 : ldexp(1, -k);
        for (int axis = 0; axis < 3; axis++) {
            levels[k].n[axis] = h->level[k].n[axis];
            levels[k].periodic[axis] = h->cell.periodic[axis];
        }
    }
    return lattice_layout_make(levels, count, layout, error);
}

bool v_cycle_can_number(const hierarchy *h)
{
    lattice_layout layout;
    bool can = make_layout(h, false, &layout, NULL) == LEY_OK;
    for (int k = 0; k < layout.count && can; k++) {
        const coordinate_table array = lattice_layout_array(&layout, k);
        can = coordinates_can_number(&array);
    }
    if (can && h->solver == HIERARCHY_MIXED) {
        hierarchy top;
        hierarchy_top(h, &top);
        can = spectral_can_number(&top);
    }
    return can;
}

static ley_status load_top(v_cycle *c, const lattice_layout *layout, ley_error *error)
{
    if (is_given(c))
        return LEY_OK;
    if (!c->is_mixed)
        return lattice_tables_create(&c->top_tables, &c->top, layout, &c->arena, error);
    const ley_status status = spectral_load_mesh(&c->spectral, error);
    c->arrays[c->hierarchy->levels - 1] = c->spectral.arrays[0];
    return status;
}

static ley_status load_meshes(v_cycle *c, const lattice_layout *layout, ley_error *error)
{
    const hierarchy *h = c->hierarchy;
    const size_t bytes = c->bytes = (size_t)lattice_layout_bytes(layout);
    ley_status status = arena_check_host(&c->arena, "meshes for the processor as a device", 2 * (double)bytes,
                                         "a wider mesh spacing", error);
    if (status == LEY_OK)
        status = load_top(c, layout, error);
    if (status == LEY_OK)
        status = transfer_meshes_create(&c->meshes, &c->transfer, h, c->arrays, &c->arena, error);
    if (status == LEY_OK)
        status = arena_buffer(&c->arena, bytes, DEV_READ_WRITE, &c->charges.buffer, error);
    if (status == LEY_OK)
        status = arena_buffer(&c->arena, bytes, DEV_READ_WRITE, &c->potentials.buffer, error);
    return status == LEY_OK && h->levels > 1
               ? lattice_tables_create(&c->cutoff_tables, &c->cutoff, layout, &c->arena, error)
               : status;
}

ley_status v_cycle_load(v_cycle *c, const spread *atoms, ley_error *error)
{
    const hierarchy *h = c->hierarchy;
    lattice_layout layout;
    ley_status status = make_layout(h, c->by_level, &layout, error);
    if (status != LEY_OK)
        return status;
    for (int k = 0; k < layout.count; k++)
        c->arrays[k] = lattice_layout_array(&layout, k);
    status = load_meshes(c, &layout, error);
    if (status == LEY_OK && atoms->at != NULL)
        status = transfer_atoms_create(&c->atoms, atoms, &c->arena, error);
    return status == LEY_OK ? make_all_weights(c, atoms, error) : status;
}

/* 0: kernels cannot number the meshes. */
size_t v_cycle_lent_bytes(const v_cycle *c)
{
    lattice_layout layout;
    return make_layout(c->hierarchy, c->by_level, &layout, NULL) == LEY_OK
               ? sizeof(float) * (size_t)layout.first_node[1]
               : 0;
}

/* Of coarser levels nothing is there but where they would be: interpolation looks at the finest. */
ley_status v_cycle_borrow(v_cycle *c, ley_error *error)
{
    lattice_layout layout;
    ley_status status = make_layout(c->hierarchy, c->by_level, &layout, error);
    for (int k = 0; k < c->hierarchy->levels && status == LEY_OK; k++)
        c->arrays[k] = lattice_layout_array(&layout, k < layout.count ? k : 0);
    if (status == LEY_OK)
        status = arena_check_host(&c->arena, "meshes for the processor as a device", (double)v_cycle_lent_bytes(c),
                                  "a wider mesh spacing", error);
    if (status == LEY_OK)
        status = transfer_meshes_create(&c->meshes, &c->transfer, c->hierarchy, c->arrays, &c->arena, error);
    return status == LEY_OK
               ? arena_buffer(&c->arena, v_cycle_lent_bytes(c), DEV_READ_WRITE, &c->potentials.buffer, error)
               : status;
}

void v_cycle_unload(v_cycle *c)
{
    arena_clear(&c->spectral.arena);
    arena_clear(&c->arena);
}

void v_cycle_end(v_cycle *c)
{
    if (c->is_mixed)
        spectral_end(&c->spectral);
    arena_clear(&c->arena);
    transfer_kernels_destroy(&c->transfer);
    lattice_kernel_destroy(&c->cutoff);
    lattice_kernel_destroy(&c->top);
}

double v_cycle_seconds(const v_cycle *c, size_t atoms)
{
    const hierarchy *h = c->hierarchy;
    const int top = h->levels - 1;
    lattice_layout layout;
    if (make_layout(h, c->by_level, &layout, NULL) != LEY_OK)
        return 0;
    double sum_s = transfer_anterpolation_s(&c->transfer, atoms) +
                   (c->is_mixed   ? spectral_transform_s(&c->spectral) + spectral_send_s(&c->spectral)
                    : is_given(c) ? 0
                                  : lattice_predict(&c->top, &layout, top, 1));
    for (int k = 0; k < top; k++)
        sum_s += transfer_restriction_s(&c->transfer, h->level[k + 1].n) + lattice_predict(&c->cutoff, &layout, k, 1) +
                 transfer_prolongation_s(&c->transfer, h->level[k].n);
    return sum_s;
}

double v_cycle_bytes(const v_cycle *c, double *largest)
{
    lattice_layout layout;
    double levels = 0, top_largest = 0;
    if (make_layout(c->hierarchy, c->by_level, &layout, NULL) == LEY_OK)
        levels = (double)lattice_layout_bytes(&layout);
    const double top = c->is_mixed ? spectral_bytes(&c->spectral, &top_largest) : 0;
    *largest = fmax(levels, top_largest);
    return 2 * levels + top;
}
