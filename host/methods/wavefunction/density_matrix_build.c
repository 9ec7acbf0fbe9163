#include "methods/wavefunction/density_matrix_build.h"

#include "engine/specifications.h"
#include "engine/tuning.h"
#include "error.h"
#include "methods/wavefunction/self_test.h"

#include <stdio.h>

enum {
    POINTS = LEY_DENSITY_MATRIX_X * LEY_DENSITY_MATRIX_Y * LEY_DENSITY_MATRIX_Z,
    LEAST_ROOM = DENSITY_MATRIX_TESTED,
    MOST_ROOM = 4096,
    FUNCTIONS_OF_AN_ORBITAL = 16
};

/* Half of the rows of a block of points, the list of functions, and a number of each work-item. */
static size_t local_bytes(int room)
{
    return sizeof(float) * (LEY_DENSITY_MATRIX_ROWS / 2 * POINTS + (size_t)room + LEY_DENSITY_MATRIX_ROWS + POINTS);
}

static int room_for(int64_t functions)
{
    int room = LEAST_ROOM;
    while (room < functions && room < MOST_ROOM)
        room *= 2;
    return room;
}

static bool fits(const dev_info *info, int64_t functions)
{
    return functions <= room_for(functions) && local_bytes(room_for(functions)) <= info->local_bytes &&
           info->max_work_group >= POINTS;
}

/* On an H100, of C60 and all its orbitals: see docs/orbitals.md. */
bool density_matrix_suits(const dev_info *info, const separable_wish *wish)
{
    return info->device_class == DEV_GPU && wish->functions > 0 && wish->derivatives > 0 &&
           wish->functions <= (int64_t)FUNCTIONS_OF_AN_ORBITAL * wish->orbitals && fits(info, wish->functions);
}

separable_choice density_matrix_choice(const density_matrix_spec *spec)
{
    return (separable_choice){.variant = DENSITY_BY_MATRIX,
                              .spec = {.sum = LEY_SPEC_SUM_FLOAT,
                                       .width = 1,
                                       .root = LEY_ROOT_STANDARD,
                                       .lx = LEY_DENSITY_MATRIX_X,
                                       .ly = LEY_DENSITY_MATRIX_Y,
                                       .ux = 1,
                                       .uy = 1,
                                       .tile = 1,
                                       .powers = spec->powers},
                              .is_by_matrix = true,
                              .matrix = *spec};
}

ley_status density_matrix_choose(const dev_info *info, const calibration *facts, const separable_wish *wish,
                                 separable_choice *choice, ley_error *error)
{
    if (wish->functions == 0)
        return ley_fail(error, LEY_ERROR_NO_DEVICE,
                        "variant " DENSITY_BY_MATRIX " is for densities and gradients that leave terms out");
    const ley_status status = tuning_check(info, DENSITY_BY_MATRIX, ANYWHERE, LEY_SPEC_SUM_FLOAT, error);
    if (status != LEY_OK)
        return status;
    if (!fits(info, wish->functions))
        return ley_fail(error, LEY_ERROR_NO_DEVICE,
                        "variant " DENSITY_BY_MATRIX ": %lld functions take more local memory than the device has",
                        (long long)wish->functions);
    *choice = density_matrix_choice(&(density_matrix_spec){
        .sum = LEY_SPEC_SUM_FLOAT,
        .width = 1,
        .root = LEY_ROOT_STANDARD,
        .exp = wish->math == TUNING_STANDARD
                   ? LEY_EXP_STANDARD
                   : calibrate_fastest_exp(info, facts, 1, tuning_need(wish->math, CALIBRATE_FINEST)),
        .powers = wish->powers,
        .room = room_for(wish->functions)});
    return LEY_OK;
}

/* ---- The kind -------------------------------------------------------------------------------- */

static void group_of(const dev_info *info, const void *spec, size_t size[3])
{
    (void)info, (void)spec;
    size[0] = POINTS;
    size[1] = size[2] = 1;
}

static size_t local_bytes_of(const dev_info *info, const void *spec)
{
    (void)info;
    return local_bytes(((const density_matrix_spec *)spec)->room);
}

static ley_status test_built(const dev_kernel *built, void *context, ley_error *error)
{
    const separable_kernel *kernel = context;
    separable_kernel trial = {
        .device = built->device, .facts = kernel->facts, .choice = kernel->choice, .kernel = *built};
    const ley_status status = separable_self_test(&trial, error);
    trial.kernel.program = NULL; /* the caller's */
    separable_kernel_destroy(&trial);
    return status;
}

/* Of usual bases, and of some others. */
static void list_specs(const dev_info *info, kernel_depth depth, kernel_visit *visit, void *context)
{
    enum { USUAL_POWERS = 3 };
    const calibration c = specifications_facts(calibrate_likely_root(info), calibrate_likely_exp(info), true);
    for (int powers = 1; powers <= LEY_MOST_MOMENTUM + 1; powers++)
        for (int room = LEAST_ROOM; room <= MOST_ROOM; room *= 2) {
            const separable_wish wish = {.powers = powers, .math = TUNING_AUTO, .functions = room};
            separable_choice choice;
            char name[KERNEL_NAME];
            if ((powers != USUAL_POWERS && (depth != KERNEL_ALL || room != LEAST_ROOM)) ||
                (depth == KERNEL_FEW && room != LEAST_ROOM) || info->device_class != DEV_GPU ||
                density_matrix_choose(info, &c, &wish, &choice, NULL) != LEY_OK)
                continue;
            snprintf(name, sizeof name, "%d-%d-%s", powers, room, calibrate_exp_word(choice.matrix.exp));
            visit(context, name, &choice.matrix);
        }
}

KERNEL_DESCRIBE_ARGUMENTS(density_matrix, LEY_DENSITY_MATRIX_ARGUMENTS)
const kernel_kind density_matrix_kind = {
    KERNEL_DESCRIPTION(density_matrix, LEY_DENSITY_MATRIX_KEYS, density_matrix),
    .group = group_of,
    .local_bytes = local_bytes_of,
    .test = test_built,
    .specs = list_specs,
};
