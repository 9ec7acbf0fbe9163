#include "energy/born.h"

#include "energy/born_kernel.h"
#include "error.h"
#include "law/energy_born.h"
#include "numerics/neck.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Work-groups of a pass that keep a card busy; as many as that all the same have this many
 * particles to go through. */
enum { GROUPS_WANTED = 4096, LEAST_RANGE = 256, BLOCK = 128 };

/* The buffers of all batches, by place. */
typedef struct born {
    born_kernels kernels;
    buffer_of_float4 spheres, factors, states;
    buffer_of_float neck, parts, none;
    buffer_of_float4 nowhere;
    buffer_of_int4 ranges[BORN_PASSES]; /* of each pass: only those of energies end where groups do */
    int32_t parts_of[BORN_PASSES], classes;
    double numbers[16], of_particles[4];
} born;

/* ---- Numbers of particles -------------------------------------------------------------------- */

static bool has_salt(const energy_problem *p)
{
    return p->options.salt_M > 0;
}

/* The chain is of forces alone. */
static int passes_of(const energy_problem *p)
{
    return p->options.forces ? BORN_PASSES : LEY_BORN_CHAIN;
}

static int cutoff_kind(const ley_energy_options *o)
{
    return !(o->born_cutoff_A > 0) ? LEY_BORN_CUT_NOT : o->born_taper ? LEY_BORN_TAPERED : LEY_BORN_CUT;
}

/* What particles are to kernels. */
typedef struct numbers {
    float (*sphere)[4], (*factor)[4]; /* [padded]; [2][padded] */
    double *radius;                   /* [classes], ascending; 0: no sphere */
    int32_t classes;
    float *neck; /* [4][classes][padded] */
} numbers;

static void numbers_free(numbers *n)
{
    free(n->sphere);
    free(n->factor);
    free(n->radius);
    free(n->neck);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The intrinsic radius at a place; 0: there is no sphere. */
static double radius_at(const energy_problem *p, size_t place)
{
    const int32_t i = p->order[place];
    if (i < 0)
        return 0;
    const double radius = p->arrays.born_radii[i];
    return radius > energy_born_model_of(&p->arrays, &p->options, i).offset_A ? radius : 0;
}

static void find_classes(const energy_problem *p, numbers *n)
{
    for (size_t i = 0; i < p->padded; i++)
        n->radius[i] = radius_at(p, i);
    qsort(n->radius, p->padded, sizeof *n->radius, ascending);
    n->classes = 0;
    for (size_t i = 0; i < p->padded; i++)
        if (n->classes == 0 || n->radius[n->classes - 1] != n->radius[i])
            n->radius[n->classes++] = n->radius[i];
}

static void set_neck(const energy_problem *p, const numbers *n, int32_t kind, size_t place, double share)
{
    const double own = radius_at(p, place), other = n->radius[kind];
    const size_t step = (size_t)n->classes * p->padded, at = (size_t)kind * p->padded + place;
    const bool is_there = own > 0 && other > 0;
    const neck of = is_there ? neck_of(own, other) : (neck){0, 0}, back = is_there ? neck_of(other, own) : of;
    n->neck[at] = (float)of.position_A;
    n->neck[step + at] = (float)(share * of.height_per_A);
    n->neck[2 * step + at] = (float)back.position_A;
    n->neck[3 * step + at] = (float)(share * back.height_per_A);
}

/* One without a sphere is a particle like others that nobody sees. */
static void set_particle(const energy_problem *p, const numbers *n, size_t place)
{
    const double radius = radius_at(p, place),
                 *found = bsearch(&radius, n->radius, (size_t)n->classes, sizeof *n->radius, ascending);
    const int32_t i = p->order[place] < 0 ? 0 : p->order[place];
    const energy_born_model m = energy_born_model_of(&p->arrays, &p->options, i);
    const double rho = radius > 0 ? radius - m.offset_A : 1;
    const bool has_most = p->options.born == LEY_BORN_HCT || p->options.born_taper;
    const double sphere[4] = {rho, radius > 0 ? p->arrays.born_screens[i] * rho : 0, (double)(found - n->radius), 0},
                 factor[2][4] = {{m.factor[0], -m.factor[1], m.factor[2], rho},
                                 {radius > 0 ? 1 / radius : 0, radius > 0 ? 1 / rho - 1 / radius : 1,
                                  has_most ? p->options.born_most_A : 1e30, (double)p->charge[place]}};
    for (int k = 0; k < 4; k++) {
        n->sphere[place][k] = (float)sphere[k];
        n->factor[place][k] = (float)factor[0][k];
        n->factor[p->padded + place][k] = (float)factor[1][k];
    }
    for (int32_t kind = 0; kind < n->classes && m.neck > 0; kind++)
        set_neck(p, n, kind, place, m.neck);
}

static ley_status numbers_make(const energy_problem *p, numbers *n, ley_error *error)
{
    const bool has_neck = energy_born_model_of(&p->arrays, &p->options, 0).neck > 0;
    *n = (numbers){.sphere = malloc(p->padded * sizeof *n->sphere),
                   .factor = malloc(2 * p->padded * sizeof *n->factor),
                   .radius = malloc(p->padded * sizeof *n->radius)};
    if (n->sphere != NULL && n->factor != NULL && n->radius != NULL) {
        find_classes(p, n);
        n->neck = malloc(4 * sizeof *n->neck * (has_neck ? (size_t)n->classes * p->padded : 1));
    }
    if (n->neck == NULL)
        return ley_fail_memory(error, 64 * p->padded, "Born's numbers of particles");
    for (size_t i = 0; i < p->padded; i++)
        set_particle(p, n, i);
    return LEY_OK;
}

/* The numbers of born_pairs.cl and born_particles.cl. */
static ley_status set_numbers(const energy_problem *p, const numbers *n, born *b, ley_error *error)
{
    const ley_energy_options *o = &p->options;
    const energy_frame frame = {.particles = &p->arrays, .options = o};
    const double c = o->born_cutoff_A, gap = NECK_GAP_A + 2 * energy_born_model_of(&p->arrays, o, 0).offset_A;
    double rho = 0, s = 0;
    energy_law law;
    const ley_status status = energy_law_begin(&frame, &law, error);
    if (status != LEY_OK)
        return status;
    for (size_t i = 0; i < p->padded; i++) {
        rho = fmax(rho, (double)n->sphere[i][0]);
        s = fmax(s, fabs((double)n->sphere[i][1]));
    }
    const double near = 1.0001 * fmax(3 * s, rho + s), reach = 1.0001 * (2 * rho + gap), inner = fmax(0, c - s - 1e-3),
                 outer = c + s, by[2] = {1 / o->dielectric, 1 / o->solvent_dielectric};
    const double all[16] = {near * near,   reach * reach,       gap,       c,     c * c, inner * inner,
                            outer * outer, -law.kappa / log(2), law.kappa, by[0], by[1]};
    memcpy(b->numbers, all, sizeof all);
    b->of_particles[0] = -0.5 * o->coulomb_constant * (has_salt(p) ? 1 : by[0] - by[1]);
    b->of_particles[1] = o->born == LEY_BORN_HCT;
    return LEY_OK;
}

/* ---- Parts of sums --------------------------------------------------------------------------- */

/* Others of a part of sums: the same whatever frames a run has, for a frame's bytes are to be the
 * same. */
static int32_t range_length(const energy_problem *p)
{
    const size_t wanted = GROUPS_WANTED / (p->padded / BLOCK < 1 ? 1 : p->padded / BLOCK),
                 length = wanted > 0 ? p->padded / wanted : p->padded;
    return (int32_t)(length < LEAST_RANGE ? LEAST_RANGE : length);
}

/* Writes the ranges {first, end, group, 0} that make [first, end), at least one; `ranges` NULL:
 * counts them. */
static int32_t split(int32_t first, int32_t end, int32_t group, int32_t length, int32_t (*ranges)[4])
{
    const int32_t count = end - first <= length ? 1 : (end - first + length - 1) / length, all = end - first;
    for (int32_t k = 0; k < count && ranges != NULL; k++) {
        const int32_t range[4] = {first + (int32_t)((int64_t)all * k / count),
                                  first + (int32_t)((int64_t)all * (k + 1) / count), group, 0};
        memcpy(ranges[k], range, sizeof range);
    }
    return count;
}

/* Of energies, or of another pass. Of pairs that are computed once there are parts without one. */
static int32_t make_ranges(const energy_problem *p, bool is_half, int pass, int32_t length, int32_t (*ranges)[4])
{
    const int32_t parts = (int32_t)born_half_parts(p->padded);
    int32_t count = 0;
    for (int32_t k = 0; k < parts && is_half && ranges != NULL; k++)
        memcpy(ranges[k], (const int32_t[4]){0, 0, -1, 0}, sizeof *ranges);
    if (is_half)
        return parts;
    if (p->column_first == NULL || pass != LEY_BORN_ENERGIES)
        return split(0, (int32_t)p->count, -1, length, ranges);
    for (int32_t g = 0; g < p->options.groups; g++)
        count += split(p->column_first[g], p->column_first[g + 1], g, length, ranges == NULL ? NULL : ranges + count);
    return count;
}

/* ---- The module ------------------------------------------------------------------------------ */

static bool wanted(const energy_problem *p, bool is_periodic)
{
    (void)is_periodic;
    return p->options.born != LEY_BORN_NONE;
}

static size_t frame_floats(const energy_problem *p, int pass, int32_t parts)
{
    return (size_t)parts * (size_t)LEY_BORN_SUMS(pass, p->options.forces) * p->padded;
}

/* On whatever device. */
static size_t frame_bytes(const energy_problem *p)
{
    const int32_t parts = make_ranges(p, false, LEY_BORN_ENERGIES, range_length(p), NULL),
                  half = make_ranges(p, true, LEY_BORN_ENERGIES, 0, NULL);
    return 4 * (4 * p->padded + frame_floats(p, LEY_BORN_ENERGIES, parts > half ? parts : half));
}

static ley_status upload_ranges(energy_part *part, const energy_problem *p, int pass, born *b, ley_error *error)
{
    const bool is_half = ((const born_pairs_spec *)b->kernels.pairs[pass].spec)->half != 0;
    /* A processor's work-items have no need of others beside them. */
    const int32_t length = part->arena.device->info->device_class == DEV_CPU ? (int32_t)p->padded : range_length(p),
                  count = make_ranges(p, is_half, pass, length, NULL);
    int32_t(*ranges)[4] = malloc((size_t)count * sizeof *ranges);
    if (ranges == NULL)
        return ley_fail_memory(error, (size_t)count * sizeof *ranges, "parts of sums");
    make_ranges(p, is_half, pass, length, ranges);
    b->parts_of[pass] = count;
    const ley_status status =
        arena_upload(&part->arena, ranges, (size_t)count * sizeof *ranges, &b->ranges[pass].buffer, error);
    free(ranges);
    return status;
}

static ley_status upload(energy_part *part, const energy_problem *p, const numbers *n, born *b, ley_error *error)
{
    const size_t sphere = p->padded * sizeof *n->sphere;
    const bool has_neck = energy_born_model_of(&p->arrays, &p->options, 0).neck > 0;
    arena *a = &part->arena;
    ley_status status = LEY_OK;
    b->classes = n->classes;
    for (int pass = 0; pass < passes_of(p) && status == LEY_OK; pass++)
        status = upload_ranges(part, p, pass, b, error);
    if (status == LEY_OK)
        status = arena_upload(a, n->sphere, sphere, &b->spheres.buffer, error);
    if (status == LEY_OK)
        status = arena_upload(a, n->factor, 2 * sphere, &b->factors.buffer, error);
    return status == LEY_OK ? arena_upload(a, n->neck, has_neck ? (size_t)n->classes * sphere : 4 * sizeof(float),
                                           &b->neck.buffer, error)
                            : status;
}

static ley_status make_buffers(energy_part *part, const energy_problem *p, born *b, ley_error *error)
{
    const size_t frames = (size_t)part->frames;
    size_t floats = 0; /* of the pass that has the most */
    arena *a = &part->arena;
    for (int pass = 0; pass < passes_of(p); pass++)
        if (frame_floats(p, pass, b->parts_of[pass]) > floats)
            floats = frame_floats(p, pass, b->parts_of[pass]);
    ley_status status =
        arena_buffer(a, frames * p->padded * 4 * sizeof(float), DEV_READ_WRITE, &b->states.buffer, error);
    if (status == LEY_OK) /* in place of what is not there */
        status = arena_buffer(a, 4 * sizeof(float), DEV_READ_WRITE, &b->none.buffer, error);
    b->nowhere.buffer = b->none.buffer;
    return status == LEY_OK ? arena_buffer(a, frames * floats * sizeof(float), DEV_READ_WRITE, &b->parts.buffer, error)
                            : status;
}

static ley_status create(energy_part *part, command_sequence *w, void **own, ley_error *error)
{
    const energy_problem *p = part->problem;
    const born_wish wish = {.cutoff = cutoff_kind(&p->options),
                            .neck = energy_born_model_of(&p->arrays, &p->options, 0).neck > 0,
                            .salt = has_salt(p),
                            .periodic = part->is_periodic,
                            .forces = p->options.forces,
                            .columns = p->column_first != NULL,
                            .padded = p->padded};
    born *b = calloc(1, sizeof *b);
    numbers n = {.sphere = NULL};
    (void)w;
    *own = b;
    if (b == NULL)
        return ley_fail_memory(error, sizeof *b, "Born energies");
    ley_status status = born_kernels_create(part->arena.device, &wish, &b->kernels, error);
    if (status == LEY_OK)
        status = numbers_make(p, &n, error);
    if (status == LEY_OK)
        status = set_numbers(p, &n, b, error);
    if (status == LEY_OK)
        status = upload(part, p, &n, b, error);
    if (status == LEY_OK)
        status = make_buffers(part, p, b, error);
    numbers_free(&n);
    return status;
}

static void launch_pairs(const energy_problem *p, const born *b, energy_batch *batch, int pass)
{
    const dev_kernel *kernel = &b->kernels.pairs[pass];
    size_t groups[3];
    born_groups(kernel, p->padded, (size_t)b->parts_of[pass], (size_t)batch->frames, groups);
    born_pairs_arguments a = {.kind = &born_pairs_kind,
                              .gm_at = batch->position,
                              .gm_spheres = b->spheres,
                              .gm_states = b->states,
                              .gm_neck = b->neck,
                              .gm_cell = batch->cell.buffer != NULL ? batch->cell : b->nowhere,
                              .gm_ranges = b->ranges[pass],
                              .size = {(int32_t)p->count, (int32_t)p->padded, b->parts_of[pass], b->classes},
                              .gm_parts = b->parts};
    const size_t sums = (size_t)LEY_BORN_SUMS(pass, p->options.forces) * p->padded;
    memcpy(a.numbers, b->numbers, sizeof a.numbers);
    /* What another pass has left there must not pass for this one's. */
    sequence_fill(&batch->sequence, b->parts.buffer, 0, DEV_NO_NUMBERS,
                  (size_t)batch->frames * (size_t)b->parts_of[pass] * sums * sizeof(float));
    sequence_step(&batch->sequence, BORN_STEP + pass);
    sequence_launch(&batch->sequence, kernel, groups, &a,
                    born_predict(kernel, (double)batch->frames * (double)p->padded * (double)p->count));
    sequence_step(&batch->sequence, 0);
}

static void launch_particles(const energy_problem *p, const born *b, energy_batch *batch, int pass)
{
    const dev_kernel *kernel = &b->kernels.particles[pass];
    const int32_t columns = p->column_first == NULL ? 0 : p->options.groups;
    born_particles_arguments a = {.kind = &born_particles_kind,
                                  .gm_parts = b->parts,
                                  .gm_ranges = b->ranges[pass],
                                  .gm_factors = b->factors,
                                  .size = {(int32_t)p->padded, b->parts_of[pass], columns, 0},
                                  .gm_states = b->states,
                                  .gm_energy = batch->energy,
                                  .gm_column = columns > 0 ? batch->parts : b->none,
                                  .gm_radius = batch->radius,
                                  .gm_slope = batch->slope,
                                  .gm_force = p->options.forces ? batch->force : b->nowhere};
    memcpy(a.numbers, b->of_particles, sizeof a.numbers);
    sequence_launch(
        &batch->sequence, kernel, (const size_t[3]){p->padded / kernel->group_size[0], (size_t)batch->frames, 1}, &a,
        born_predict(&b->kernels.pairs[pass], (double)(b->parts_of[pass] * batch->frames) * (double)p->padded));
}

static void launch(energy_part *part, void *own, energy_batch *batch)
{
    for (int pass = 0; pass < passes_of(part->problem); pass++) {
        launch_pairs(part->problem, own, batch, pass);
        launch_particles(part->problem, own, batch, pass);
    }
}

static void destroy(energy_part *part, void *own)
{
    born *b = own;
    (void)part;
    if (b != NULL)
        born_kernels_destroy(&b->kernels);
    free(b);
}

const energy_module energy_born = {
    .name = "born",
    .wanted = wanted,
    .create = create,
    .frame_bytes = frame_bytes,
    .launch = launch,
    .destroy = destroy,
};
