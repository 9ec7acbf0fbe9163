#include "energy/born_kernel.h"

#include "energy/born_self_test.h"
#include "engine/specifications.h"
#include "engine/tuning.h"

#include <stdio.h>

enum { GROUP = 64, GROUP_VECTORS = 2, TILE = 128, ALONE_TILE = 64, PARTICLES_GROUP = 64 };
/* Of pairs that are computed once; most blocks, whose parts of sums are as many; and local memory
 * that is enough for all of these kernels. */
enum { HALF_GROUP = 128, HALF_VECTORS = 4, HALF_TILE = 256, MOST_BLOCKS = 256, HALF_LOCAL_BYTES = 32 << 10 };

/* A root of this error is as good as the standard's for sums of so many pairs. */
static const double root_need = 2.5e-7;

static int group_size(const dev_info *info, int wished)
{
    while (info->max_work_group > 0 && (size_t)wished > info->max_work_group)
        wished /= 2;
    return wished;
}

size_t born_half_parts(size_t padded)
{
    return padded / HALF_TILE <= MOST_BLOCKS ? padded / HALF_TILE : 0;
}

/* Its work-items have many numbers in registers, and pass some of them on, as NVIDIA's do. */
bool born_is_half(const dev_info *info, size_t padded, bool with_columns)
{
    const bool has_shuffles =
        info->device_class != DEV_CPU && ((info->quirks & DEV_QUIRK_PTX) != 0 || info->capability >= 30);
    return has_shuffles && info->local_bytes >= HALF_LOCAL_BYTES && !with_columns && born_half_parts(padded) > 0;
}

static born_pairs_spec spec_of(const dev_info *info, const calibration *c, const born_wish *wish, int pass)
{
    const int width = info->device_class == DEV_CPU ? calibrate_width(info) : 1;
    const bool half = born_is_half(info, wish->padded, wish->columns && pass == LEY_BORN_ENERGIES);
    return (born_pairs_spec){.sum = LEY_SPEC_SUM_FLOAT,
                             .width = width,
                             .root = tuning_root(info, c, width, tuning_need(TUNING_AUTO, root_need)),
                             .exp = calibrate_fastest_exp(info, c, width, tuning_need(TUNING_AUTO, CALIBRATE_FINEST)),
                             .wg = width > 1 ? 1
                                   : half    ? HALF_GROUP
                                             : group_size(info, GROUP),
                             .ux = width > 1 ? 1
                                   : half    ? HALF_VECTORS
                                             : GROUP_VECTORS,
                             .tile = width > 1 ? ALONE_TILE
                                     : half    ? HALF_TILE
                                               : TILE,
                             .half = half,
                             .sub_groups =
                                 half && (info->quirks & DEV_QUIRK_PTX) != 0 ? LEY_SUB_GROUPS_PTX : LEY_SUB_GROUPS_NONE,
                             .pass = pass,
                             .cutoff = wish->cutoff,
                             .neck = wish->neck && pass != LEY_BORN_ENERGIES,
                             .salt = wish->salt && pass == LEY_BORN_ENERGIES,
                             .periodic = wish->periodic,
                             .forces = wish->forces && pass == LEY_BORN_ENERGIES};
}

static born_particles_spec particles_spec(const dev_info *info, const born_wish *wish, int pass)
{
    return (born_particles_spec){.sum = LEY_SPEC_SUM_FLOAT,
                                 .width = 1,
                                 .root = LEY_ROOT_STANDARD,
                                 .wg = group_size(info, PARTICLES_GROUP),
                                 .pass = pass,
                                 .forces = wish->forces && pass == LEY_BORN_ENERGIES};
}

/* ---- The kinds ------------------------------------------------------------------------------- */

static void pairs_group(const dev_info *info, const void *spec, size_t size[3])
{
    (void)info;
    size[0] = (size_t)((const born_pairs_spec *)spec)->wg;
    size[1] = size[2] = 1;
}

static void particles_group(const dev_info *info, const void *spec, size_t size[3])
{
    (void)info;
    size[0] = (size_t)((const born_particles_spec *)spec)->wg;
    size[1] = size[2] = 1;
}

static size_t pairs_local_bytes(const dev_info *info, const void *spec)
{
    const born_pairs_spec *s = spec;
    (void)info;
    const size_t tile = (size_t)s->tile, wg = (size_t)s->wg, ux = (size_t)s->ux,
                 marks = LEY_BORN_MARKS(s->pass, s->half, tile, ux, wg),
                 sums = s->half ? tile / (32 * ux) * tile * LEY_BORN_SUMS(s->pass, s->forces) + 2 * wg : 0;
    return s->width > 1 ? 0 : (tile * 8 + marks + sums) * sizeof(float);
}

static const char *const pass_names[BORN_PASSES] = {"integrals", "energies", "chain"};

/* Each pass with all that it may have, and with nothing of it; and all there is. Where pairs are
 * computed once, also the other way. */
static void list_pairs(const dev_info *info, kernel_depth depth, kernel_visit *visit, void *context)
{
    static const born_wish few[] = {{.cutoff = LEY_BORN_CUT_NOT, .forces = true},
                                    {.cutoff = LEY_BORN_TAPERED, .neck = true, .salt = true}};
    const calibration c = specifications_facts(calibrate_likely_root(info), calibrate_likely_exp(info), true);
    const int wishes = depth == KERNEL_ALL ? 3 * 16 : 2;
    for (int pass = 0; pass < BORN_PASSES; pass++)
        for (int k = 0; k < 2 * wishes; k++) {
            const int n = k % wishes;
            born_wish wish =
                depth != KERNEL_ALL
                    ? few[n]
                    : (born_wish){n / 16, (n & 1) != 0, (n & 2) != 0, (n & 4) != 0, (n & 8) != 0, false, 0};
            wish.padded = k < wishes ? 0 : HALF_TILE;
            const born_pairs_spec spec = spec_of(info, &c, &wish, pass);
            char name[KERNEL_NAME];
            snprintf(name, sizeof name, "%s-%d%d%d%d%d%s", pass_names[pass], spec.cutoff, spec.neck, spec.salt,
                     spec.periodic, spec.forces, spec.half ? "-half" : "");
            if (k < wishes || spec.half)
                visit(context, name, &spec);
        }
}

static void list_particles(const dev_info *info, kernel_depth depth, kernel_visit *visit, void *context)
{
    (void)depth;
    for (int k = 0; k < 2 * BORN_PASSES; k++) {
        const born_wish wish = {.forces = k % 2 != 0};
        const born_particles_spec spec = particles_spec(info, &wish, k / 2);
        char name[KERNEL_NAME];
        snprintf(name, sizeof name, "%s-%d", pass_names[k / 2], spec.forces);
        visit(context, name, &spec);
    }
}

KERNEL_DESCRIBE_ARGUMENTS(born_pairs, LEY_BORN_PAIRS_ARGUMENTS)
const kernel_kind born_pairs_kind = {
    KERNEL_DESCRIPTION(born_pairs, LEY_BORN_PAIRS_KEYS, born_pairs),
    .group = pairs_group,
    .local_bytes = pairs_local_bytes,
    .test = born_test_pairs,
    .specs = list_pairs,
};

KERNEL_DESCRIBE_ARGUMENTS(born_particles, LEY_BORN_PARTICLES_ARGUMENTS)
const kernel_kind born_particles_kind = {
    KERNEL_DESCRIPTION(born_particles, LEY_BORN_PARTICLES_KEYS, born_particles),
    .group = particles_group,
    .test = born_test_particles,
    .specs = list_particles,
};

/* ---- Of a device ----------------------------------------------------------------------------- */

ley_status born_kernels_create(dev *device, const born_wish *wish, born_kernels *made, ley_error *error)
{
    calibration facts;
    *made = (born_kernels){.pairs = {{.program = NULL}}};
    ley_status status =
        calibrate_get(device, CALIBRATE_ROOTS | CALIBRATE_EXPS | CALIBRATE_MULTIPLY_ADDS, &facts, error);
    for (int pass = 0; pass < (wish->forces ? BORN_PASSES : LEY_BORN_CHAIN) && status == LEY_OK; pass++) {
        const born_pairs_spec spec = spec_of(device->info, &facts, wish, pass);
        const born_particles_spec particles = particles_spec(device->info, wish, pass);
        status = kernel_create(device, &born_pairs_kind, &spec, NULL, NULL, &made->pairs[pass], error);
        if (status == LEY_OK)
            status = kernel_create(device, &born_particles_kind, &particles, NULL, NULL, &made->particles[pass], error);
    }
    return status;
}

void born_kernels_destroy(born_kernels *k)
{
    for (int pass = 0; pass < BORN_PASSES; pass++) {
        kernel_destroy(&k->pairs[pass]);
        kernel_destroy(&k->particles[pass]);
    }
}

double born_predict(const dev_kernel *pairs, double count)
{
    static const double core_s = 2e-9, card_s = 4e-12;
    const dev_info *info = pairs->device->info;
    return count *
           (info->device_class != DEV_CPU ? card_s : core_s / (info->compute_units < 1 ? 1 : info->compute_units));
}
