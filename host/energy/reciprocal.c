#include "energy/reciprocal.h"

#include "average/frame_potential.h"
#include "average/place.h"
#include "average/spread_kernel.h"
#include "energy/lists.h"
#include "error.h"
#include "numerics/cell.h"
#include "numerics/influence.h"
#include "verify/self_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const kernel_dialect plain = {.sum = LEY_SPEC_SUM_FLOAT, .width = 1, .root = LEY_ROOT_STANDARD};

/* ---- Choices --------------------------------------------------------------------------------- */

/* Of water at 0.1 atoms / A^3, whose squared charges are 0.35 e^2 and whose forces 16 kcal/mol/A,
 * both in the mean. */
double reciprocal_alpha(const ley_energy_options *o)
{
    const double per_A3 = 0.1, square = 0.35, force = 16,
                 share = 2 * LEY_COULOMB_CONSTANT_AMBER * square * sqrt(per_A3 / o->cutoff_A) / force;
    return sqrt(log(2 * share / o->ewald_tolerance)) / o->cutoff_A;
}

/* Measured on the same: of order p a constant times alpha^2 (h alpha)^p. */
double reciprocal_error(int order, double alpha_per_A, double h_A)
{
    const double constant = order == 4 ? 0.9 : order == 6 ? 0.3 : 0.3;
    return constant * alpha_per_A * alpha_per_A * pow(h_A * alpha_per_A, order);
}

/* Relative costs of what a particle adds to and has from a mesh, and of a node's transforms. */
static double cost_of(const average_mesh *m, size_t particles, bool on_card)
{
    const double points = m->window->points, nodes = (double)average_mesh_nodes(m);
    return on_card ? (double)particles * points * points * points + 10 * nodes
                   : (double)particles * (60 + 6 * points * points) + 20 * nodes;
}

ley_status reciprocal_mesh(const ley_energy_options *options, const double cell_A[9], size_t particles, bool on_card,
                           average_mesh *made, ley_error *error)
{
    static const window_kind kinds[] = {WINDOW_BSPLINE4, WINDOW_BSPLINE6, WINDOW_BSPLINE8};
    const double alpha = reciprocal_alpha(options), half = options->ewald_tolerance / 2;
    const double most = 1e5; /* nodes along an edge */
    double least = INFINITY;
    for (int i = 0; i < 3; i++) {
        average_mesh m = {.window = window_get(kinds[i])};
        double nodes = 1, widest_A = 0;
        const int order = m.window->points;
        const double h_A = pow(half / reciprocal_error(order, alpha, 1), 1.0 / order);
        for (int axis = 0; axis < 3; axis++) {
            const double edge_A = cell_length(cell_A + 3 * axis), wanted = fmax(edge_A / h_A, 2.0 * order);
            m.n[axis] = (int64_t)fft_good_size((size_t)ceil(fmin(wanted, most)));
            nodes *= wanted < most ? (double)m.n[axis] : INFINITY;
            widest_A = fmax(widest_A, edge_A / (double)m.n[axis]);
        }
        m.expected_error = reciprocal_error(order, alpha, widest_A);
        if (nodes < 0x1p31 && cost_of(&m, particles, on_card) < least) {
            least = cost_of(&m, particles, on_card);
            *made = m;
        }
    }
    return least < INFINITY
               ? LEY_OK
               : ley_fail(error, LEY_ERROR_INPUT,
                          "a cell of %.4g x %.4g x %.4g A needs a mesh of more than 2^31 nodes, or 1e5 along "
                          "an edge: take a larger ewald_tolerance, or a larger cutoff",
                          cell_length(cell_A), cell_length(cell_A + 3), cell_length(cell_A + 6));
}

static mesh_gather_spec gather_spec(const dev_info *info, int points)
{
    return (mesh_gather_spec){.sum = LEY_SPEC_SUM_FLOAT,
                              .width = info->device_class == DEV_CPU && info->vector_width >= 4 ? 8 : 1,
                              .root = LEY_ROOT_STANDARD,
                              .window = points};
}

/* ---- Memory ---------------------------------------------------------------------------------- */

enum { ORDERS = 3, PLANS = 32 }; /* of splines; plans that are kept: all sizes of cells that breathe */

/* What all meshes of an order share. */
typedef struct spline_order {
    dev_kernel gather;
    spreader spreader;
    buffer_of_float window;
} spline_order;

/* What a mesh has of its own. */
typedef struct mesh_plan {
    average_mesh mesh;
    dev_fft fft;
    arena room;
    buffer_of_float splines;
    int64_t used; /* the latest batch with a frame of it */
} mesh_plan;

typedef struct reciprocal {
    dev_kernel points, floats, fold;
    spline_order order[ORDERS];
    mesh_plan *plan;
    int plans;
    arena room;      /* of what all meshes share, within the part's; it has room for */
    int64_t most[3]; /* so many nodes along each axis, */
    size_t scratch_bytes;
    int64_t batches;              /* so far */
    double alpha_per_A, charge_e; /* the latter: of all particles */
    int exponent;
    float *charge;                /* in quanta */
    int *plan_of;                 /* [frames], */
    float (*place)[PLACE_FLOATS]; /* [frames]: of a batch */
    buffer_of_int first, excluded;
    buffer_of_float packed; /* positions */
    buffer_of_float4 places;
    buffer_of_float nodes, phi;
    buffer_of_float2 spectrum, folded;
    buffer_of_int2 density, dropped; /* integers; what density_floats adds up */
    dev_buffer *scratch;
} reciprocal;

static spline_order *order_of(reciprocal *r, const average_mesh *m)
{
    return &r->order[(m->window->points - 4) / 2];
}

/* What the waves along each axis are multiplied by: the window is in charges and in values. */
static ley_status upload_splines(mesh_plan *p, ley_error *error)
{
    const int64_t *n = p->mesh.n;
    size_t count = 0;
    float *spline = malloc((size_t)(n[0] + n[1] + n[2] + 3) * sizeof *spline);
    if (spline == NULL)
        return ley_fail_memory(error, 4 * (size_t)n[0], "the splines' transform");
    for (int axis = 0; axis < 3; axis++)
        for (int64_t m = 0; m <= n[axis] / 2; m++)
            spline[count++] = (float)influence_factor(p->mesh.window, m, n[axis]);
    const ley_status status = arena_upload(&p->room, spline, count * sizeof *spline, &p->splines.buffer, error);
    free(spline);
    return status;
}

static ley_status upload_window(reciprocal *r, const window *of, buffer_of_float *made, ley_error *error)
{
    float by_power[WINDOW_MOST_POINTS * LEY_LANES_OF_WINDOW] = {0};
    const int points = of->points;
    for (int i = 0; i < points; i++)
        for (int k = 0; k < points; k++)
            by_power[k * LEY_LANES_OF_WINDOW + i] = (float)of->c[i][k];
    return arena_upload(&r->room, by_power, sizeof by_power, &made->buffer, error);
}

static ley_status make_zeros(reciprocal *r, command_sequence *w, size_t bytes, dev_buffer **buffer, ley_error *error)
{
    const ley_status status = arena_buffer(&r->room, bytes, DEV_READ_WRITE, buffer, error);
    if (status == LEY_OK)
        sequence_fill(w, *buffer, 0, 0, bytes);
    return status;
}

/* Each mesh leaves zeros where it adds up. */
static ley_status make_buffers(reciprocal *r, command_sequence *w, ley_error *error)
{
    const size_t n[3] = {(size_t)r->most[0], (size_t)r->most[1], (size_t)r->most[2]}, nodes = n[0] * n[1] * n[2],
                 beyond = LEY_LANES_OF_WINDOW * sizeof(float);
    const struct {
        size_t bytes;
        dev_buffer **buffer;
    } all[] = {{8 * nodes, &r->density.buffer},
               {8 * nodes, &r->dropped.buffer},
               {fft_mesh_bytes(n, false), &r->nodes.buffer},
               {fft_spectrum_bytes(n), &r->spectrum.buffer},
               {fft_mesh_bytes(n, false) + beyond, &r->phi.buffer},
               {fft_spectrum_bytes(n), &r->folded.buffer},
               {r->scratch_bytes, &r->scratch}};
    ley_status status = LEY_OK;
    for (size_t i = 0; i < sizeof all / sizeof *all && status == LEY_OK; i++)
        if (all[i].bytes > 0)
            status = make_zeros(r, w, all[i].bytes, all[i].buffer, error);
    return status;
}

static void drop_shared(reciprocal *r)
{
    for (int i = 0; i < ORDERS; i++) {
        kernel_destroy(&r->order[i].gather);
        spreader_destroy(&r->order[i].spreader);
        r->order[i] = (spline_order){.window = {NULL}};
    }
    arena_clear(&r->room);
    r->nodes.buffer = r->scratch = NULL;
}

static void drop_plan(mesh_plan *p)
{
    fft_destroy(&p->fft);
    arena_clear(&p->room);
    p->mesh.window = NULL;
}

static ley_status make_order(reciprocal *r, energy_part *part, const average_mesh *m, command_sequence *w,
                             ley_error *error)
{
    spline_order *o = order_of(r, m);
    average_mesh most = *m;
    const mesh_gather_spec gather = gather_spec(part->arena.device->info, m->window->points);
    if (o->window.buffer != NULL)
        return LEY_OK;
    memcpy(most.n, r->most, sizeof most.n);
    ley_status status = kernel_create(part->arena.device, &mesh_gather_kind, &gather, NULL, NULL, &o->gather, error);
    if (status == LEY_OK)
        status = spreader_create(&o->spreader, &r->room, &most, part->problem->count, r->charge, w, error);
    return status == LEY_OK ? upload_window(r, m->window, &o->window, error) : status;
}

static ley_status make_plan(mesh_plan *p, energy_part *part, const average_mesh *m, ley_error *error)
{
    const fft_wish wish = {.n = {(size_t)m->n[0], (size_t)m->n[1], (size_t)m->n[2]}, .is_steady = true};
    *p = (mesh_plan){.mesh = *m, .room = {.device = part->arena.device, .within = &part->arena}};
    const ley_status status = fft_create(part->arena.device, &wish, &p->fft, error);
    return status == LEY_OK ? upload_splines(p, error) : status;
}

/* ---- Frames ---------------------------------------------------------------------------------- */

static void cell_of(const energy_batch *b, int frame, double cell_A[9])
{
    const float *cells = b->cell_out->bytes;
    for (int i = 0; i < 9; i++)
        cell_A[i] = (double)cells[24 * frame + 4 * (i / 3) + i % 3];
}

static bool are_same(const average_mesh *a, const average_mesh *b)
{
    return a->window == b->window && a->n[0] == b->n[0] && a->n[1] == b->n[1] && a->n[2] == b->n[2];
}

/* A place for another plan: that of one which has not been used for longest and is not needed now;
 * as many as the batch needs. */
static mesh_plan *place_for_plan(reciprocal *r)
{
    mesh_plan *oldest = NULL;
    for (int i = 0; i < r->plans; i++)
        if (r->plan[i].used < r->batches && (oldest == NULL || r->plan[i].used < oldest->used))
            oldest = &r->plan[i];
    if (oldest != NULL && (r->plans >= PLANS || oldest->mesh.window == NULL)) {
        drop_plan(oldest);
        return oldest;
    }
    mesh_plan *more = realloc(r->plan, ((size_t)r->plans + 1) * sizeof *more);
    if (more == NULL)
        return NULL;
    r->plan = more;
    r->plan[r->plans] = (mesh_plan){.mesh = {.window = NULL}};
    return &r->plan[r->plans++];
}

static ley_status wait_for_others(energy_part *part, const energy_batch *b, ley_error *error)
{
    ley_status status = LEY_OK;
    for (int i = 0; i < FRAME_BATCHES && status == LEY_OK; i++)
        if (&part->batch[i] != b)
            status = sequence_finish(&part->batch[i].sequence, error);
    return status;
}

/* The number of a mesh's plan, which is made if there is none. */
static ley_status find_plan(reciprocal *r, energy_part *part, const energy_batch *b, const average_mesh *m, int *found,
                            ley_error *error)
{
    for (*found = 0; *found < r->plans && !(r->plan[*found].mesh.window != NULL && are_same(&r->plan[*found].mesh, m));)
        ++*found;
    if (*found < r->plans) {
        r->plan[*found].used = r->batches;
        return LEY_OK;
    }
    ley_status status = wait_for_others(part, b, error);
    mesh_plan *p = status == LEY_OK ? place_for_plan(r) : NULL;
    if (p == NULL)
        return status != LEY_OK ? status : ley_fail_memory(error, sizeof *p, "Ewald's sum");
    *found = (int)(p - r->plan);
    status = make_plan(p, part, m, error);
    if (status != LEY_OK)
        drop_plan(p);
    p->used = r->batches;
    return status;
}

/* All frames' meshes, which are those of their cells alone, and places on them. */
static ley_status find_plans(reciprocal *r, energy_part *part, const energy_batch *b, ley_error *error)
{
    static const double origin[3];
    ley_status status = LEY_OK;
    r->batches++;
    for (int f = 0; f < b->frames && status == LEY_OK; f++) {
        double cell_A[9];
        average_mesh m;
        frame_place at;
        cell_of(b, f, cell_A);
        status = reciprocal_mesh(&part->problem->options, cell_A, part->problem->count,
                                 part->arena.device->info->device_class != DEV_CPU, &m, error);
        if (status == LEY_OK)
            status = find_plan(r, part, b, &m, &r->plan_of[f], error);
        place_make(cell_A, m.n, origin, &at);
        place_floats(&at, r->place[f]);
    }
    return status;
}

/* What meshes share, larger where some needs it so. Nothing of the batch's has been launched. */
static ley_status prepare(reciprocal *r, energy_part *part, energy_batch *b, ley_error *error)
{
    bool is_enough = r->nodes.buffer != NULL;
    ley_status status = find_plans(r, part, b, error);
    for (int i = 0; i < r->plans && status == LEY_OK; i++) {
        const mesh_plan *p = &r->plan[i];
        for (int axis = 0; axis < 3 && p->mesh.window != NULL; axis++)
            if (p->mesh.n[axis] > r->most[axis]) {
                r->most[axis] = p->mesh.n[axis];
                is_enough = false;
            }
        if (p->fft.scratch_bytes > r->scratch_bytes) {
            r->scratch_bytes = p->fft.scratch_bytes;
            is_enough = false;
        }
    }
    if (status == LEY_OK && !is_enough) {
        status = wait_for_others(part, b, error);
        drop_shared(r);
        if (status == LEY_OK)
            status = make_buffers(r, &b->sequence, error);
    }
    for (int f = 0; f < b->frames && status == LEY_OK; f++)
        status = make_order(r, part, &r->plan[r->plan_of[f]].mesh, &b->sequence, error);
    return status;
}

static void launch_mesh(reciprocal *r, const mesh_plan *p, command_sequence *w, int frame)
{
    const int64_t *n = p->mesh.n;
    const size_t nodes = (size_t)average_mesh_nodes(&p->mesh);
    spreader spread = order_of(r, &p->mesh)->spreader;
    spread.mesh = p->mesh;
    sequence_step(w, ENERGY_STEP_SPREAD);
    spreader_launch(&spread, w, r->packed, r->places, frame, 1, r->density);
    lists_launch(w, &r->floats, nodes, 1,
                 KERNEL_ARGUMENTS(density_floats, .gm_frame = r->density, .nodes = (int32_t)nodes,
                                  .scale = ldexp(1, -r->exponent), .gm_sum = r->dropped, .gm_mesh = r->nodes));
    sequence_step(w, ENERGY_STEP_TRANSFORM);
    sequence_fft(w, &p->fft, true, r->nodes.buffer, r->spectrum.buffer, r->scratch);
    density_fold_arguments a = {.kind = &density_fold_kind,
                                .gm_spectrum = r->spectrum,
                                .gm_splines = p->splines,
                                .gm_cells = r->places,
                                .frame = frame,
                                .half_square = 1 / (4 * r->alpha_per_A * r->alpha_per_A),
                                .gm_folded = r->folded};
    size_t groups[3];
    for (int axis = 0; axis < 3; axis++) {
        const size_t items = (size_t)(axis == 0 ? n[0] / 2 + 1 : n[axis]), group = r->fold.group_size[axis];
        a.mesh[axis] = a.points[axis] = (int32_t)n[axis];
        groups[axis] = (items + group - 1) / group;
    }
    sequence_launch(w, &r->fold, groups, &a, 0.001);
    sequence_fft(w, &p->fft, false, r->folded.buffer, r->phi.buffer, r->scratch);
}

/* What the mesh has at particles is added to what lists of pairs have put aside. */
static void launch_gather(reciprocal *r, const mesh_plan *p, const energy_part *part, energy_batch *b, int frame)
{
    const energy_problem *o = part->problem;
    const spline_order *order = order_of(r, &p->mesh);
    const double alpha = r->alpha_per_A;
    const bool has_forces = o->options.forces;
    const int32_t n[3] = {(int32_t)p->mesh.n[0], (int32_t)p->mesh.n[1], (int32_t)p->mesh.n[2]};
    sequence_step(&b->sequence, ENERGY_STEP_MESH_GATHER);
    lists_launch(
        &b->sequence, &order->gather, o->count, 1,
        KERNEL_ARGUMENTS(mesh_gather, .gm_position = b->position, .particles = (int32_t)o->count,
                         .padded = (int32_t)o->padded, .gm_places = r->places, .gm_cells = b->cell,
                         .gm_window = order->window, .mesh = {n[0], n[1], n[2], frame}, .gm_phi = r->phi,
                         .gm_first = r->first, .gm_excluded = r->excluded,
                         .factors = {o->coulomb, 2 * alpha / sqrt(M_PI), M_PI * r->charge_e / (alpha * alpha), alpha},
                         .has_forces = has_forces,
                         .terms = {LEY_ENERGY_TERMS, LEY_ENERGY_COULOMB, energy_pairs_place(&o->options), 0},
                         .gm_energy = b->energy, .gm_force = has_forces ? b->force : b->position));
}

static void launch(energy_part *part, void *own, energy_batch *b)
{
    reciprocal *r = own;
    const energy_problem *p = part->problem;
    command_sequence *w = &b->sequence;
    ley_error error = {.status = LEY_OK};
    if (prepare(r, part, b, &error) != LEY_OK) {
        sequence_fail(w, &error);
        ley_error_clear(&error);
        return;
    }
    part->splitting_per_A = r->alpha_per_A;
    sequence_write(w, r->places.buffer, 0, r->place, (size_t)b->frames * sizeof *r->place);
    sequence_step(w, ENERGY_STEP_SPREAD);
    lists_launch(w, &r->points, p->count, b->frames,
                 KERNEL_ARGUMENTS(mesh_points, .gm_position = b->position, .particles = (int32_t)p->count,
                                  .padded = (int32_t)p->padded, .gm_to = r->packed));
    for (int f = 0; f < b->frames; f++) {
        const mesh_plan *plan = &r->plan[r->plan_of[f]];
        launch_mesh(r, plan, w, f);
        launch_gather(r, plan, part, b, f);
        memcpy(part->mesh, plan->mesh.n, sizeof part->mesh);
    }
    sequence_step(w, ENERGY_STEP_ANY);
}

/* ---- The module ------------------------------------------------------------------------------ */

static bool is_wanted(const energy_problem *p, bool is_periodic)
{
    (void)is_periodic;
    return p->options.coulomb == LEY_COULOMB_EWALD;
}

static ley_status make_kernels(reciprocal *r, dev *device, ley_error *error)
{
    ley_status status = kernel_create(device, &mesh_points_kind, &plain, NULL, NULL, &r->points, error);
    if (status == LEY_OK)
        status = kernel_create(device, &density_floats_kind, &plain, NULL, NULL, &r->floats, error);
    return status == LEY_OK ? kernel_create(device, &density_fold_kind, &plain, NULL, NULL, &r->fold, error) : status;
}

static ley_status make_particles(reciprocal *r, energy_part *part, ley_error *error)
{
    static const int32_t none[1];
    const energy_problem *p = part->problem;
    const size_t frames = (size_t)part->frames, partners = (size_t)p->first[p->padded];
    double absolute_e = 0;
    r->charge = malloc(p->count * sizeof *r->charge);
    r->place = malloc(frames * sizeof *r->place);
    r->plan_of = malloc(frames * sizeof *r->plan_of);
    if (r->charge == NULL || r->place == NULL || r->plan_of == NULL)
        return ley_fail_memory(error, p->count * sizeof *r->charge, "Ewald's sum");
    for (size_t i = 0; i < p->count; i++) {
        absolute_e += fabs((double)p->charge[i]);
        r->charge_e += (double)p->charge[i];
    }
    r->exponent = spread_exponent(absolute_e, p->count);
    for (size_t i = 0; i < p->count; i++)
        r->charge[i] = ldexpf(p->charge[i], r->exponent);
    ley_status status =
        arena_upload(&part->arena, p->first, (p->padded + 1) * sizeof *p->first, &r->first.buffer, error);
    if (status == LEY_OK)
        status = arena_upload(&part->arena, partners > 0 ? p->excluded : none,
                              (partners > 0 ? partners : 1) * sizeof *p->excluded, &r->excluded.buffer, error);
    if (status == LEY_OK)
        status =
            arena_buffer(&part->arena, 3 * frames * p->count * sizeof(float), DEV_READ_WRITE, &r->packed.buffer, error);
    return status == LEY_OK
               ? arena_buffer(&part->arena, frames * sizeof *r->place, DEV_READ_WRITE, &r->places.buffer, error)
               : status;
}

static ley_status create(energy_part *part, command_sequence *w, void **own, ley_error *error)
{
    reciprocal *r = *own = calloc(1, sizeof *r);
    (void)w;
    if (r == NULL)
        return ley_fail_memory(error, sizeof *r, "Ewald's sum");
    r->room = (arena){.device = part->arena.device, .within = &part->arena};
    r->alpha_per_A = reciprocal_alpha(&part->problem->options);
    const ley_status status = make_kernels(r, part->arena.device, error);
    return status == LEY_OK ? make_particles(r, part, error) : status;
}

static size_t frame_bytes(const energy_problem *p)
{
    return 3 * p->count * sizeof(float);
}

static void destroy(energy_part *part, void *own)
{
    reciprocal *r = own;
    (void)part;
    if (r == NULL)
        return;
    for (int i = 0; i < r->plans; i++)
        drop_plan(&r->plan[i]);
    drop_shared(r);
    kernel_destroy(&r->points);
    kernel_destroy(&r->floats);
    kernel_destroy(&r->fold);
    free(r->charge);
    free(r->place);
    free(r->plan_of);
    free(r->plan);
    free(r);
}

const energy_module energy_reciprocal = {.name = "Ewald's sum",
                                         .wanted = is_wanted,
                                         .create = create,
                                         .frame_bytes = frame_bytes,
                                         .launch = launch,
                                         .destroy = destroy};

/* ---- Known answers --------------------------------------------------------------------------- */

enum { TRIAL_PARTICLES = 70, TRIAL_PADDED = 128, TRIAL_FRAMES = 2, TRIAL_TERMS = 3 };
static const int32_t trial_mesh[3] = {14, 10, 18};
static const double trial_cell_A[9] = {14, 1, -1.5, 3, 11, 2, -2, 4, 16}, trial_alpha = 0.4;

typedef struct trial {
    float position[TRIAL_FRAMES][TRIAL_PADDED][4], phi[14 * 10 * 18 + LEY_LANES_OF_WINDOW];
    float energy[TRIAL_FRAMES][TRIAL_TERMS][TRIAL_PADDED], force[TRIAL_FRAMES][TRIAL_PADDED][4];
    float places[TRIAL_FRAMES][PLACE_FLOATS], cells[TRIAL_FRAMES][6][4],
        by_power[WINDOW_MOST_POINTS * LEY_LANES_OF_WINDOW];
    int32_t first[TRIAL_PADDED + 1], excluded[2 * TRIAL_PADDED];
    frame_place place;
    double reciprocal[3][3], volume;
    cell cell;
} trial;

/* Neighbours are excluded partners, some of them at the same place. */
static void set_trial(trial *t, const window *of)
{
    uint32_t state = 31;
    static const double origin[3];
    double vector_A[3][3];
    memset(t, 0, sizeof *t);
    place_make(trial_cell_A, (const int64_t[3]){trial_mesh[0], trial_mesh[1], trial_mesh[2]}, origin, &t->place);
    t->volume = place_reciprocal(trial_cell_A, t->reciprocal);
    memcpy(vector_A, trial_cell_A, sizeof vector_A);
    cell_make((const bool[3]){true, true, true}, (const double(*)[3])vector_A, &t->cell, NULL);
    for (int f = 0; f < TRIAL_FRAMES; f++) {
        place_floats(&t->place, t->places[f]);
        for (int i = 0; i < 9; i++) {
            t->cells[f][i / 3][i % 3] = (float)trial_cell_A[i];
            t->cells[f][3 + i / 3][i % 3] = (float)t->reciprocal[i / 3][i % 3];
        }
        for (int i = 0; i < TRIAL_PARTICLES; i++) {
            for (int d = 0; d < 3; d++)
                t->position[f][i][d] = (float)(20 * self_test_fraction(&state) - 10);
            t->position[f][i][3] = (float)(self_test_fraction(&state) - 0.4);
            if (i % 7 == 3)
                memcpy(t->position[f][i], t->position[f][i - 1], 3 * sizeof(float));
            else if (i % 7 == 5)
                t->position[f][i][1] = t->position[f][i - 1][1];
        }
        for (int i = 0; i < TRIAL_TERMS * TRIAL_PADDED; i++)
            t->energy[f][i / TRIAL_PADDED][i % TRIAL_PADDED] = i / TRIAL_PADDED == 1 ? NAN : (float)(i % 5);
    }
    for (int i = 0; i < trial_mesh[0] * trial_mesh[1] * trial_mesh[2]; i++)
        t->phi[i] = (float)(self_test_fraction(&state) - 0.5);
    for (int i = 0; i < TRIAL_PADDED; i++) {
        t->first[i + 1] = t->first[i];
        for (int k = -1; k <= 1 && i < TRIAL_PARTICLES; k += 2)
            if (i + k >= 0 && i + k < TRIAL_PARTICLES)
                t->excluded[t->first[i + 1]++] = i + k;
    }
    for (int i = 0; i < of->points; i++)
        for (int k = 0; k < of->points; k++)
            t->by_power[k * LEY_LANES_OF_WINDOW + i] = (float)of->c[i][k];
}

/* The mesh's value and gradient. */
static void value_of(const trial *t, const window *of, const float x[4], double value[4])
{
    double weight[3][WINDOW_MOST_POINTS], slope[3][WINDOW_MOST_POINTS];
    int64_t first[3];
    memset(value, 0, 4 * sizeof *value);
    for (int i = 0; i < 3; i++) {
        double s = t->place.first[i];
        for (int d = 0; d < 3; d++)
            s += t->place.along[i][d] * (double)x[d];
        first[i] = (int64_t)floor(s) - of->points / 2 + 1 + 16 * trial_mesh[i];
        window_weights(of, s - floor(s), weight[i]);
        window_slopes(of, s - floor(s), slope[i]);
    }
    for (int k = 0; k < of->points; k++)
        for (int j = 0; j < of->points; j++)
            for (int i = 0; i < of->points; i++) {
                const int64_t at =
                    ((first[2] + k) % trial_mesh[2] * trial_mesh[1] + (first[1] + j) % trial_mesh[1]) * trial_mesh[0] +
                    (first[0] + i) % trial_mesh[0];
                const double phi = (double)t->phi[at], along[3] = {slope[0][i] * weight[1][j] * weight[2][k],
                                                                   weight[0][i] * slope[1][j] * weight[2][k],
                                                                   weight[0][i] * weight[1][j] * slope[2][k]};
                value[0] += phi * weight[0][i] * weight[1][j] * weight[2][k];
                for (int axis = 0; axis < 3; axis++)
                    for (int d = 0; d < 3; d++)
                        value[1 + d] += phi * along[axis] * t->place.along[axis][d];
            }
}

/* Energy and force of a particle. */
static void right_of(const trial *t, const window *of, int frame, int i, double right[4])
{
    const float *x = t->position[frame][i];
    const double q = (double)x[3], c = 332, self = 2 * trial_alpha / sqrt(M_PI);
    value_of(t, of, x, right);
    right[0] -= self * q + M_PI * 3 / (trial_alpha * trial_alpha * t->volume);
    for (int e = t->first[i]; e < t->first[i + 1]; e++) {
        const float *y = t->position[frame][t->excluded[e]];
        double way[3], square = 0;
        for (int d = 0; d < 3; d++)
            way[d] = (double)x[d] - (double)y[d];
        cell_bring_near(&t->cell, way);
        for (int d = 0; d < 3; d++)
            square += way[d] * way[d];
        const double r = sqrt(square), value = r > 0 ? erf(trial_alpha * r) / r : self,
                     steep = r > 0 ? (value - self * exp(-trial_alpha * trial_alpha * square)) / square : 0;
        right[0] -= (double)y[3] * value;
        for (int d = 0; d < 3; d++)
            right[1 + d] += (double)y[3] * steep * way[d];
    }
    right[0] *= c * q / 2;
    for (int d = 0; d < 3; d++)
        right[1 + d] *= -c * q;
}

static ley_status judge_gather(const trial *t, const window *of, const float *energy, const float *force,
                               ley_error *error)
{
    for (int i = 0; i < TRIAL_PARTICLES; i++) {
        double right[4];
        right_of(t, of, 1, i, right);
        for (int k = 0; k < 4; k++) {
            const size_t at = (TRIAL_TERMS + 1) * TRIAL_PADDED + (size_t)i;
            const double before = k == 0 ? (double)t->energy[1][2][i] : 0,
                         found = k == 0 ? (double)energy[at] : (double)force[4 * (TRIAL_PADDED + i) + k - 1],
                         tolerance = 4 * SELF_TEST_FLOAT, scale = 332 * (fabs((double)t->position[1][i][3]) + 0.05);
            self_test_note(fabs(found - before - right[k]) / scale, tolerance, scale, found, before + right[k]);
            if (!(fabs(found - before - right[k]) <= tolerance * scale))
                return ley_fail(error, LEY_ERROR_WRONG_RESULT, "number %d of particle %d is %.9g, not %.9g", k, i,
                                found, before + right[k]);
        }
    }
    for (int i = 0; i < TRIAL_FRAMES * TRIAL_TERMS * TRIAL_PADDED; i++) {
        const int f = i / (TRIAL_TERMS * TRIAL_PADDED), term = i / TRIAL_PADDED % TRIAL_TERMS, at = i % TRIAL_PADDED;
        if ((f != 1 || term != 1 || at >= TRIAL_PARTICLES) &&
            memcmp(&energy[i], &t->energy[f][term][at], sizeof *energy) != 0)
            return ley_fail(error, LEY_ERROR_WRONG_RESULT, "energy %d is %g, and was %g", i, (double)energy[i],
                            (double)t->energy[f][term][at]);
    }
    return LEY_OK;
}

static ley_status run_gather(const dev_kernel *built, const trial *t, arena *memory, command_sequence *w,
                             ley_error *error)
{
    const struct {
        const void *bytes;
        size_t size;
    } all[] = {{t->position, sizeof t->position}, {t->places, sizeof t->places}, {t->cells, sizeof t->cells},
               {t->by_power, sizeof t->by_power}, {t->phi, sizeof t->phi},       {t->first, sizeof t->first},
               {t->excluded, sizeof t->excluded}};
    dev_buffer *made[7];
    results energy, force;
    ley_status status = LEY_OK;
    for (int i = 0; i < 7 && status == LEY_OK; i++)
        status = arena_upload(memory, all[i].bytes, all[i].size, &made[i], error);
    if (status == LEY_OK)
        status = arena_results(memory, sizeof t->energy, &energy, error);
    if (status == LEY_OK)
        status = arena_results(memory, sizeof t->force, &force, error);
    if (status != LEY_OK)
        return status;
    sequence_write(w, energy.buffer, 0, t->energy, sizeof t->energy);
    sequence_write(w, force.buffer, 0, t->force, sizeof t->force);
    lists_launch(w, built, TRIAL_PARTICLES, 1,
                 KERNEL_ARGUMENTS(mesh_gather, .gm_position = {made[0]}, .particles = TRIAL_PARTICLES,
                                  .padded = TRIAL_PADDED, .gm_places = {made[1]}, .gm_cells = {made[2]},
                                  .gm_window = {made[3]}, .mesh = {trial_mesh[0], trial_mesh[1], trial_mesh[2], 1},
                                  .gm_phi = {made[4]}, .gm_first = {made[5]}, .gm_excluded = {made[6]},
                                  .factors = {332, 2 * trial_alpha / sqrt(M_PI), M_PI * 3 / (trial_alpha * trial_alpha),
                                              trial_alpha},
                                  .has_forces = 1, .terms = {TRIAL_TERMS, 1, 2, 0}, .gm_energy = {energy.buffer},
                                  .gm_force = {force.buffer}));
    sequence_read(w, energy.buffer, 0, energy.staging, sizeof t->energy);
    sequence_read(w, force.buffer, 0, force.staging, sizeof t->force);
    status = sequence_finish(w, error);
    const int points = ((const mesh_gather_spec *)built->spec)->window;
    return status == LEY_OK ? judge_gather(t,
                                           window_get(points == 4   ? WINDOW_BSPLINE4
                                                      : points == 6 ? WINDOW_BSPLINE6
                                                                    : WINDOW_BSPLINE8),
                                           energy.staging->bytes, force.staging->bytes, error)
                            : status;
}

static ley_status run_points(const dev_kernel *built, const trial *t, arena *memory, command_sequence *w,
                             ley_error *error)
{
    const size_t bytes = 3 * TRIAL_FRAMES * TRIAL_PARTICLES * sizeof(float);
    dev_buffer *position;
    results packed;
    ley_status status = arena_upload(memory, t->position, sizeof t->position, &position, error);
    if (status == LEY_OK)
        status = arena_results(memory, (int64_t)bytes, &packed, error);
    if (status != LEY_OK)
        return status;
    sequence_poison(w, &packed, bytes);
    lists_launch(w, built, TRIAL_PARTICLES, TRIAL_FRAMES,
                 KERNEL_ARGUMENTS(mesh_points, .gm_position = {position}, .particles = TRIAL_PARTICLES,
                                  .padded = TRIAL_PADDED, .gm_to = {packed.buffer}));
    sequence_read(w, packed.buffer, 0, packed.staging, bytes);
    status = sequence_finish(w, error);
    const float *found = packed.staging->bytes;
    for (int i = 0; i < 3 * TRIAL_FRAMES * TRIAL_PARTICLES && status == LEY_OK; i++) {
        const int particle = i / 3 % TRIAL_PARTICLES, frame = i / (3 * TRIAL_PARTICLES);
        if (found[i] != t->position[frame][particle][i % 3])
            status = ley_fail(error, LEY_ERROR_WRONG_RESULT, "number %d is %g, not %g", i, (double)found[i],
                              (double)t->position[frame][particle][i % 3]);
    }
    return status;
}

typedef ley_status run_trial(const dev_kernel *built, const trial *t, arena *memory, command_sequence *w,
                             ley_error *error);

static ley_status test_with(const dev_kernel *built, int points, run_trial *run, ley_error *error)
{
    arena memory = {.device = built->device};
    flight *f = calloc(1, sizeof *f);
    command_sequence *w = calloc(1, sizeof *w);
    trial *t = malloc(sizeof *t);
    ley_status status;
    if (f == NULL || w == NULL || t == NULL) {
        status = ley_fail_memory(error, sizeof *t, "the self-test");
    } else {
        f->device = built->device;
        sequence_begin(w, f, NULL);
        set_trial(t, window_get(points == 4 ? WINDOW_BSPLINE4 : points == 6 ? WINDOW_BSPLINE6 : WINDOW_BSPLINE8));
        status = run(built, t, &memory, w, error);
        sequence_end(w);
    }
    arena_clear(&memory);
    free(t);
    free(w);
    free(f);
    return status;
}

static ley_status test_gather(const dev_kernel *built, void *context, ley_error *error)
{
    (void)context;
    return test_with(built, ((const mesh_gather_spec *)built->spec)->window, run_gather, error);
}

static ley_status test_points(const dev_kernel *built, void *context, ley_error *error)
{
    (void)context;
    return test_with(built, 4, run_points, error);
}

/* ---- The kinds ------------------------------------------------------------------------------- */

static void group_of_particles(const dev_info *info, const void *spec, size_t size[3])
{
    (void)spec;
    size[0] = info->max_work_group > 0 && info->max_work_group < 64 ? info->max_work_group : 64;
    size[1] = size[2] = 1;
}

static void gather_specs(const dev_info *info, kernel_depth depth, kernel_visit *visit, void *context)
{
    static const char *const names[] = {"mesh_gather-4",       "mesh_gather-6",       "mesh_gather-8",
                                        "mesh_gather-group-4", "mesh_gather-group-6", "mesh_gather-group-8"};
    for (int i = 0; i < (depth > KERNEL_FEW ? 6 : 3); i++) {
        mesh_gather_spec spec = gather_spec(info, 4 + 2 * (i % 3));
        spec.width = i < 3 ? spec.width : 1;
        visit(context, names[i], &spec);
    }
}

KERNEL_DESCRIBE_ARGUMENTS(mesh_points, LEY_MESH_POINTS_ARGUMENTS)
KERNEL_DESCRIBE_ARGUMENTS(mesh_gather, LEY_MESH_GATHER_ARGUMENTS)
const kernel_kind mesh_points_kind = {KERNEL_DESCRIPTION(mesh_points, LEY_DIALECT_KEYS, mesh_points),
                                      .group = group_of_particles, .test = test_points};
const kernel_kind mesh_gather_kind = {KERNEL_DESCRIPTION(mesh_gather, LEY_MESH_GATHER_KEYS, mesh_gather),
                                      .group = group_of_particles, .specs = gather_specs, .test = test_gather};
