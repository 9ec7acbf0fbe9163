#include "energy/surface.h"

#include "calibrate.h"
#include "energy/trial.h"
#include "error.h"

#include <math.h>
#include <stdlib.h>

/* As LEY_LCPO_KEYS. */
typedef struct lcpo_spec {
    LEY_LCPO_KEYS(KERNEL_KEY_FIELD)
} lcpo_spec;

enum { ROOM = 96 }; /* for neighbours of a particle, at first */

typedef struct surfaces {
    dev_kernel kernel;
    buffer_of_float radius;
    buffer_of_float4 factors;
    int room;
    buffer_of_int list;
} surfaces;

bool energy_surface_is_devices(const energy_problem *p)
{
    return p->options.surface == LEY_SURFACE_LCPO && !p->options.forces;
}

static bool has_vectors(const dev_info *info)
{
    return info->device_class == DEV_CPU && info->vector_width >= 4;
}

static lcpo_spec spec_for(const dev_info *info, bool is_group, bool is_periodic)
{
    lcpo_spec s = {.sum = LEY_SPEC_SUM_FLOAT, .width = 1, .root = LEY_ROOT_STANDARD, .wg = 64, .periodic = is_periodic};
    if (has_vectors(info) && !is_group) {
        s.width = calibrate_width(info);
        s.wg = 1;
    }
    while (info->max_work_group > 0 && s.wg > (int)info->max_work_group)
        s.wg /= 2;
    return s;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static size_t list_bytes(const energy_problem *p, int room)
{
    return 2 * p->padded * (size_t)room * sizeof(int32_t); /* of vectors a part of it more, see lcpo_vectors.h */
}

static ley_status make_list(surfaces *s, energy_part *part, int room, ley_error *error)
{
    if (s->list.buffer != NULL)
        arena_free_buffer(&part->arena, &s->list.buffer);
    s->room = room;
    return arena_buffer(&part->arena, list_bytes(part->problem, room) * (size_t)part->frames, DEV_READ_WRITE,
                        &s->list.buffer, error);
}

static ley_status upload(surfaces *s, energy_part *part, ley_error *error)
{
    const energy_problem *p = part->problem;
    float *radius = calloc(p->padded, sizeof *radius), (*factors)[4] = calloc(p->padded, sizeof *factors);
    ley_status status = radius != NULL && factors != NULL ? LEY_OK : ley_fail_memory(error, 20 * p->padded, "surfaces");
    for (size_t i = 0; i < p->count && status == LEY_OK; i++) {
        const double own_A = p->arrays.surface_radii[p->order[i]];
        radius[i] = own_A > 0 ? (float)(own_A + p->options.probe_A) : 0;
        for (int k = 0; k < 4; k++)
            factors[i][k] = (float)(p->options.tension * p->arrays.lcpo_factors[p->order[i]][k]);
    }
    if (status == LEY_OK)
        status = arena_upload(&part->arena, radius, p->padded * sizeof *radius, &s->radius.buffer, error);
    if (status == LEY_OK)
        status = arena_upload(&part->arena, factors, p->padded * sizeof *factors, &s->factors.buffer, error);
    free(radius);
    free(factors);
    return status;
}

/* ---- The module ------------------------------------------------------------------------------ */

static bool are_wanted(const energy_problem *p, bool is_periodic)
{
    (void)is_periodic;
    return energy_surface_is_devices(p);
}

static ley_status create(energy_part *part, command_sequence *w, void **own, ley_error *error)
{
    const lcpo_spec spec = spec_for(part->arena.device->info, false, part->is_periodic);
    surfaces *s = *own = calloc(1, sizeof *s);
    (void)w;
    if (s == NULL)
        return ley_fail_memory(error, sizeof *s, "surfaces");
    ley_status status = kernel_create(part->arena.device, &lcpo_kind, &spec, NULL, NULL, &s->kernel, error);
    if (status == LEY_OK)
        status = upload(s, part, error);
    return status == LEY_OK ? make_list(s, part, ROOM, error) : status;
}

static size_t frame_bytes(const energy_problem *p)
{
    return list_bytes(p, ROOM);
}

static void launch_kernel(const surfaces *s, const dev_kernel *kernel, energy_part *part, energy_batch *b)
{
    const energy_problem *p = part->problem;
    const lcpo_spec *spec = (const lcpo_spec *)kernel->spec;
    const size_t items = (size_t)(spec->wg * spec->width);
    const double pair_s = part->arena.device->info->device_class == DEV_CPU ? 2e-9 : 1e-11;
    sequence_launch(&b->sequence, kernel, (const size_t[3]){(p->padded + items - 1) / items, (size_t)b->frames, 1},
                    KERNEL_ARGUMENTS(lcpo, .gm_position = b->position,
                                     .gm_cell = part->is_periodic ? b->cell : b->position, .gm_radius = s->radius,
                                     .gm_factors = s->factors, .n = (int32_t)p->count, .padded = (int32_t)p->padded,
                                     .room = s->room, .offset = p->options.offset / (double)p->count,
                                     .gm_list = s->list, .gm_energy = b->energy),
                    pair_s * (double)p->count * (double)p->count * b->frames);
}

static void launch(energy_part *part, void *own, energy_batch *b)
{
    const surfaces *s = own;
    launch_kernel(s, &s->kernel, part, b);
}

static bool has_no_room(const energy_part *part, const energy_batch *b)
{
    const energy_problem *p = part->problem;
    bool has_none = false;
    for (size_t f = 0; f < (size_t)b->frames && !has_none; f++) {
        const float *energy =
            (const float *)b->energy_back->bytes + (f * LEY_ENERGY_TERMS + LEY_ENERGY_SURFACE) * p->padded;
        for (size_t i = 0; i < p->count; i++)
            has_none = has_none || isinf(energy[i]);
    }
    return has_none;
}

/* More room, where that was too little; other batches still use what there was. */
static ley_status settle(energy_part *part, void *own, energy_batch *b, bool *again, ley_error *error)
{
    surfaces *s = own;
    ley_status status = LEY_OK;
    *again = s->room < (int)part->problem->count && has_no_room(part, b);
    for (int i = 0; i < FRAME_BATCHES && *again && status == LEY_OK; i++)
        status = sequence_finish(&part->batch[i].sequence, error);
    return *again && status == LEY_OK ? make_list(s, part, 2 * s->room, error) : status;
}

static void destroy(energy_part *part, void *own)
{
    surfaces *s = own;
    (void)part;
    if (s != NULL)
        kernel_destroy(&s->kernel);
    free(s);
}

const energy_module energy_surfaces = {.name = "surface",
                                       .wanted = are_wanted,
                                       .create = create,
                                       .frame_bytes = frame_bytes,
                                       .launch = launch,
                                       .settle = settle,
                                       .destroy = destroy};

/* ---- The kind -------------------------------------------------------------------------------- */

static ley_status test(const dev_kernel *built, void *context, ley_error *error)
{
    static const ley_energy_term terms[] = {LEY_ENERGY_SURFACE};
    const lcpo_spec *spec = (const lcpo_spec *)built->spec;
    ley_energy_options o;
    energy_trial t;
    surfaces s = {.room = 0};
    (void)context;
    ley_energy_options_default(&o);
    o.surface = LEY_SURFACE_LCPO;
    o.tension = 1;
    o.offset = 100;
    ley_status status = energy_trial_begin(&t, built->device, &o, spec->periodic != 0, error);
    if (status == LEY_OK)
        status = upload(&s, &t.part, error);
    if (status == LEY_OK)
        status = make_list(&s, &t.part, (int)t.problem.padded, error);
    if (status == LEY_OK) {
        launch_kernel(&s, built, &t.part, energy_trial_batch(&t));
        status = energy_trial_judge(&t, terms, 1, error);
    }
    energy_trial_end(&t);
    return status;
}

static void group_of(const dev_info *info, const void *spec, size_t size[3])
{
    (void)info;
    size[0] = (size_t)((const lcpo_spec *)spec)->wg;
    size[1] = size[2] = 1;
}

static void all(const dev_info *info, kernel_depth depth, kernel_visit *visit, void *context)
{
    static const char *const names[] = {"lcpo-open", "lcpo-periodic", "lcpo-open-group", "lcpo-periodic-group"};
    for (int i = 0; i < (has_vectors(info) && depth > KERNEL_FEW ? 4 : 2); i++) {
        const lcpo_spec spec = spec_for(info, i >= 2, i % 2 == 1);
        visit(context, names[i], &spec);
    }
}

KERNEL_DESCRIBE_ARGUMENTS(lcpo, LEY_LCPO_ARGUMENTS)
const kernel_kind lcpo_kind = {KERNEL_DESCRIPTION(lcpo, LEY_LCPO_KEYS, lcpo), .group = group_of, .specs = all,
                               .test = test};
