/* Every kernel, in every specification that matters for the device, by its self-test: against the
 * host's double precision. */
#include "average/frame_potential.h"
#include "average/spread_kernel.h"
#include "check/internal.h"

#include "calibrate.h"
#include "energy/born_kernel.h"
#include "engine/specifications.h"
#include "error.h"
#include "long_range/fourier/device_long_wavelengths.h"
#include "long_range/fourier/influence_kernel.h"
#include "long_range/mesh/device_spread.h"
#include "long_range/mesh/transfer.h"
#include "long_range/multilevel/lattice_kernel.h"
#include "methods/cutoff/device_binning.h"
#include "methods/cutoff/point_pairs.h"
#include "methods/dcs/kernel.h"
#include "methods/mdh/kernel.h"
#include "methods/registry.h"
#include "methods/wavefunction/density_matrix_build.h"
#include "methods/wavefunction/esp.h"
#include "methods/wavefunction/kernel.h"
#include "methods/wavefunction/list.h"
#include "verify/reference_kernel.h"
#include "verify/self_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct kernel_case {
    const kernel_kind *kind;
    int spec[KERNEL_MOST_KEYS];
    char name[KERNEL_NAME];
} kernel_case;

/* What self-tests take for measured. */
static calibration facts_of(check_run *run, int root, int width)
{
    calibration facts = specifications_facts(root, LEY_EXP_STANDARD, true);
    facts.root_error[root] = check_root_error(run, root, width);
    return facts;
}

/* ---- Kernels with others that they need ------------------------------------------------------ */

static const kernel_dialect float_spec = {.sum = LEY_SPEC_SUM_FLOAT, .width = 1, .root = LEY_ROOT_STANDARD},
                            double_spec = {.sum = LEY_SPEC_SUM_DOUBLE, .width = 1, .root = LEY_ROOT_STANDARD};

static ley_status try_dcs(check_run *run, const kernel_case *c, dev_kernel *built, ley_error *error)
{
    dcs_kernel k = {.device = run->device, .choice = {.variant = c->name}};
    memcpy(&k.choice.spec, c->spec, sizeof k.choice.spec);
    k.facts = facts_of(run, k.choice.spec.root, k.choice.spec.width);
    return kernel_create_anew(run->device, c->kind, c->spec, true, &k, built, error);
}

static ley_status try_mdh(check_run *run, const kernel_case *c, dev_kernel *built, ley_error *error)
{
    mdh_kernel k = {.device = run->device, .choice = {.variant = c->name}};
    kernel_dialect sums = float_spec;
    memcpy(&k.choice.spec, c->spec, sizeof k.choice.spec);
    k.facts = facts_of(run, k.choice.spec.root, k.choice.spec.width);
    sums.sum = k.choice.spec.sum;
    ley_status status = kernel_create_anew(run->device, &sum_parts_kind, &sums, false, NULL, &k.sums, error);
    if (status == LEY_OK)
        status = kernel_create_anew(run->device, c->kind, c->spec, true, &k, built, error);
    kernel_destroy(&k.sums);
    return status;
}

static ley_status try_sums(check_run *run, const kernel_case *c, dev_kernel *built, ley_error *error)
{
    mdh_kernel k = {.device = run->device, .choice = {.variant = c->name}};
    k.choice.spec.sum = c->spec[0];
    return kernel_create_anew(run->device, c->kind, c->spec, true, &k, built, error);
}

static ley_status try_cutoff(check_run *run, const kernel_case *c, dev_kernel *built, ley_error *error)
{
    cutoff_kernel k = {.device = run->device, .choice = {.variant = c->name}};
    memcpy(&k.choice.spec, c->spec, sizeof k.choice.spec);
    k.facts = facts_of(run, k.choice.spec.root, k.choice.spec.width);
    return kernel_create_anew(run->device, c->kind, c->spec, true, &k, built, error);
}

static ley_status try_point_pairs(check_run *run, const kernel_case *c, dev_kernel *built, ley_error *error)
{
    point_pairs_kernel k = {
        .device = run->device, .choice = {.variant = c->name}, .bins = {.device = run->device, .problem = NULL}};
    memcpy(&k.choice.spec, c->spec, sizeof k.choice.spec);
    k.facts = facts_of(run, k.choice.spec.root, k.choice.spec.width);
    return kernel_create_anew(run->device, c->kind, c->spec, true, &k, built, error);
}

static ley_status try_grid(check_run *run, const kernel_case *c, dev_kernel *built, ley_error *error)
{
    lattice_kernel k = {.device = run->device, .choice = {.variant = c->name}};
    memcpy(&k.choice.spec, c->spec, sizeof k.choice.spec);
    k.facts = specifications_facts(LEY_ROOT_STANDARD, LEY_EXP_STANDARD, true);
    return kernel_create_anew(run->device, c->kind, c->spec, true, &k, built, error);
}

static ley_status try_separable(check_run *run, const kernel_case *c, dev_kernel *built, ley_error *error)
{
    separable_kernel k = {.device = run->device, .choice = {.variant = c->name}};
    memcpy(&k.choice.spec, c->spec, sizeof k.choice.spec);
    k.facts = specifications_facts(LEY_ROOT_STANDARD, LEY_EXP_STANDARD, true);
    return kernel_create_anew(run->device, c->kind, c->spec, true, &k, built, error);
}

static ley_status try_density_matrix(check_run *run, const kernel_case *c, dev_kernel *built, ley_error *error)
{
    density_matrix_spec spec;
    memcpy(&spec, c->spec, sizeof spec);
    separable_kernel k = {.device = run->device, .choice = density_matrix_choice(&spec)};
    return kernel_create_anew(run->device, c->kind, c->spec, true, &k, built, error);
}

static ley_status try_gaussians(check_run *run, const kernel_case *c, dev_kernel *built, ley_error *error)
{
    list_kernel k = {.device = run->device};
    memcpy(&k.spec, c->spec, sizeof k.spec);
    k.facts = specifications_facts(LEY_ROOT_STANDARD, k.spec.exp, true);
    return kernel_create_anew(run->device, c->kind, c->spec, true, &k, built, error);
}

static ley_status try_hermite(check_run *run, const kernel_case *c, dev_kernel *built, ley_error *error)
{
    esp_class k = {.boys = {.error = 0}};
    memcpy(&k.spec, c->spec, sizeof k.spec);
    return kernel_create_anew(run->device, c->kind, c->spec, true, &k, built, error);
}

static ley_status try_link(check_run *run, const kernel_case *c, dev_kernel *built, ley_error *error)
{
    dev_kernel fill = {.device = run->device};
    ley_status status = kernel_create_anew(run->device, &fill_bins_kind, &float_spec, false, NULL, &fill, error);
    if (status == LEY_OK)
        status = kernel_create_anew(run->device, c->kind, c->spec, true, &fill, built, error);
    kernel_destroy(&fill);
    return status;
}

static ley_status try_spread(check_run *run, const kernel_case *c, dev_kernel *built, ley_error *error)
{
    device_spread k = {.count = {.device = run->device}, .list = {.device = run->device}};
    ley_status status = kernel_create_anew(run->device, &spread_count_kind, &double_spec, false, NULL, &k.count, error);
    if (status == LEY_OK)
        status = kernel_create_anew(run->device, &spread_list_kind, &float_spec, false, NULL, &k.list, error);
    if (status == LEY_OK)
        status = kernel_create_anew(run->device, c->kind, c->spec, true, &k, built, error);
    kernel_destroy(&k.list);
    kernel_destroy(&k.count);
    return status;
}

/* Each with those before it, which its atoms go through. */
static ley_status try_long(check_run *run, const kernel_case *c, dev_kernel *built, ley_error *error)
{
    const struct {
        const kernel_kind *kind;
        const kernel_dialect *spec;
    } before[] = {{&spread_count_kind, &double_spec},
                  {&spread_list_kind, &float_spec},
                  {&long_place_kind, &double_spec},
                  {&long_spread_kind, &double_spec}};
    device_spread lists = {.works = true};
    device_long k = {.lists = &lists};
    dev_kernel *const kernels[] = {&lists.count, &lists.list, &k.place, &k.spread};
    ley_status status = LEY_OK;
    for (size_t i = 0; i < sizeof before / sizeof *before && status == LEY_OK && before[i].kind != c->kind; i++)
        status = kernel_create_anew(run->device, before[i].kind, before[i].spec, false, NULL, kernels[i], error);
    if (status == LEY_OK)
        status = kernel_create_anew(run->device, c->kind, c->spec, true, &k, built, error);
    for (size_t i = 0; i < sizeof before / sizeof *before; i++)
        if (kernels[i]->program != NULL)
            kernel_destroy(kernels[i]);
    return status;
}

/* ---- Transfers ------------------------------------------------------------------------------- */

static const window *window_of(int points)
{
    for (int kind = 0; kind < WINDOW_COUNT; kind++)
        if (window_get((window_kind)kind)->points == points)
            return window_get((window_kind)kind);
    return window_get(WINDOW_NODAL3);
}

/* What the specification has for a key; 0, where its kind has none. */
static int value_of_key(const kernel_case *c, const char *key)
{
    for (size_t i = 0; c->kind->keys[i] != NULL; i++)
        if (strcmp(c->kind->keys[i], key) == 0)
            return c->spec[i];
    return 0;
}

/* As far apart as a block's nodes have room. */
static double nodes_per_point(int nodes, int block, int points)
{
    const double most = (double)(nodes - points - 1) / (block - 1);
    return most < 0.25 ? most : most < 1 ? 0.25 : 1;
}

static ley_status try_transfer(check_run *run, const kernel_case *c, dev_kernel *built, ley_error *error)
{
    transfer_kernels k = {.device = run->device,
                          .facts = specifications_facts(LEY_ROOT_STANDARD, LEY_EXP_STANDARD, true),
                          .launch_s = 0.1,
                          .window = window_of(value_of_key(c, "LEY_WINDOW")),
                          .by_plane = value_of_key(c, "LEY_BY_PLANE") != 0,
                          .field = value_of_key(c, "LEY_FIELD") != 0,
                          .row_nodes = value_of_key(c, "LEY_ROW_NODES"),
                          .nodes_per_point = {0.9, 1, 1.9}};
    if (k.row_nodes > 0)
        k.nodes_per_point[0] = nodes_per_point(k.row_nodes, LEY_ROW_POINTS, k.window->points);
    if (c->kind == &interpolation_kind) {
        memcpy(&k.blocks, c->spec, sizeof k.blocks);
        k.along_axes = true;
        k.nodes_per_point[0] = nodes_per_point(k.blocks.nodes_x, k.blocks.block_x, k.blocks.window);
        k.nodes_per_point[1] = nodes_per_point(k.blocks.nodes_y, k.blocks.block_y, k.blocks.window);
        k.nodes_per_point[2] = 0.9;
    }
    return kernel_create_anew(run->device, c->kind, c->spec, true, &k, built, error);
}

/* ---- The judge ------------------------------------------------------------------------------- */

enum { JUDGED_ATOMS = 40 };

static ley_status make_atoms(ley_atoms **atoms, ley_error *error)
{
    double position_A[3 * JUDGED_ATOMS], charge_e[JUDGED_ATOMS], radius_A[JUDGED_ATOMS];
    uint32_t state = 1955;
    for (int i = 0; i < JUDGED_ATOMS; i++) {
        for (int axis = 0; axis < 3; axis++)
            position_A[3 * i + axis] = 12 * self_test_fraction(&state);
        charge_e[i] = self_test_fraction(&state) - 0.4;
        radius_A[i] = 1 + self_test_fraction(&state);
    }
    return ley_atoms_create(JUDGED_ATOMS, position_A, charge_e, radius_A, atoms, error);
}

static ley_status try_reference(check_run *run, const kernel_case *c, dev_kernel *built, ley_error *error)
{
    ley_short_range range;
    ley_atoms *atoms = NULL;
    reference_trial *trial = NULL;
    const law *const *l = law_registry;
    while ((*l)->number != value_of_key(c, "LEY_LAW"))
        l++;
    ley_short_range_default(&range);
    range.pair = (ley_pair)value_of_key(c, "LEY_LAW_PAIR");
    reference_terms terms = {.law = *l,
                             .constant = 332,
                             .r_min_A = 1,
                             .kappa_per_A = 0.1,
                             .range = (*l)->has_pairs ? &range : NULL,
                             .shares = {.mesh = 1e-3}};
    ley_status status = make_atoms(&atoms, error);
    terms.atoms = atoms;
    if (status == LEY_OK)
        status = reference_trial_create(&terms, &trial, error);
    if (status == LEY_OK)
        status = kernel_create_anew(run->device, c->kind, c->spec, true, trial, built, error);
    reference_trial_destroy(trial);
    ley_atoms_destroy(atoms);
    return status;
}

/* What needs nothing but itself. */
static ley_status try_alone(check_run *run, const kernel_case *c, dev_kernel *built, ley_error *error)
{
    return kernel_create_anew(run->device, c->kind, c->spec, true, NULL, built, error);
}

/* ---- The check ------------------------------------------------------------------------------- */

/* Of self-tests whose problems can be made smaller: in these parts. */
enum { WHOLE = 64 };
static const char parts[] = "/64 of its self-test's atoms, tiles and planes";

typedef ley_status try_kernel(check_run *run, const kernel_case *c, dev_kernel *built, ley_error *error);

static const struct {
    const kernel_kind *kind;
    try_kernel *try_it;
} trials[] = {
    {&dcs_kind, try_dcs},
    {&mdh_kind, try_mdh},
    {&sum_parts_kind, try_sums},
    {&cutoff_kind, try_cutoff},
    {&point_pairs_kind, try_point_pairs},
    {&link_atoms_kind, try_link},
    {&fill_bins_kind, try_alone},
    {&lattice_kind, try_grid},
    {&spread_count_kind, try_alone},
    {&spread_list_kind, try_spread},
    {&spread_place_kind, try_spread},
    {&long_place_kind, try_long},
    {&long_spread_kind, try_long},
    {&long_gather_kind, try_long},
    {&anterpolate_kind, try_transfer},
    {&restriction_kind, try_transfer},
    {&prolongation_kind, try_transfer},
    {&interpolation_kind, try_transfer},
    {&interpolation_gather_kind, try_transfer},
    {&interpolation_list_kind, try_transfer},
    {&influence_kind, try_alone},
    {&density_spread_kind, try_alone},
    {&density_merge_kind, try_alone},
    {&density_floats_kind, try_alone},
    {&density_fold_kind, try_alone},
    {&potential_sums_kind, try_alone},
    {&pair_energies_kind, try_alone},
    {&pairs_14_kind, try_alone},
    {&lcpo_kind, try_alone},
    {&group_sums_kind, try_alone},
    {&list_bins_kind, try_alone},
    {&list_first_kind, try_alone},
    {&list_place_kind, try_alone},
    {&list_boxes_kind, try_alone},
    {&list_blocks_kind, try_alone},
    {&list_move_kind, try_alone},
    {&list_tiles_kind, try_alone},
    {&listed_pairs_kind, try_alone},
    {&listed_gather_kind, try_alone},
    {&patch_pairs_kind, try_alone},
    {&mesh_points_kind, try_alone},
    {&mesh_gather_kind, try_alone},
    {&ions_mask_kind, try_alone},
    {&ions_bricks_kind, try_alone},
    {&ions_nodes_kind, try_alone},
    {&separable_kind, try_separable},
    {&density_matrix_kind, try_density_matrix},
    {&gaussians_kind, try_gaussians},
    {&hermite_kind, try_hermite},
    {&born_pairs_kind, try_alone},
    {&born_particles_kind, try_alone},
    {&atom_density_kind, try_alone},
    {&fit_cells_kind, try_alone},
    {&fit_place_kind, try_alone},
    {&fit_windows_kind, try_alone},
    {&fit_gradient_kind, try_alone},
    {&reference_kind, try_reference},
};

static ley_status attempt(check_run *run, void *context, size_t size, check_finding *f, ley_error *error)
{
    const kernel_case *c = context;
    dev_kernel built = {.device = run->device};
    ley_status status = ley_fail(error, LEY_ERROR_NO_DEVICE, "nobody tests this kernel");
    int halves = 0;
    (void)f;
    while (size << halves < WHOLE && halves < 30)
        halves++;
    self_test_shrink(halves);
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++)
        if (trials[i].kind == c->kind)
            status = trials[i].try_it(run, c, &built, error);
    self_test_shrink(0);
    kernel_destroy(&built);
    return status;
}

typedef struct visitor {
    check_run *run;
    const check_row *row;
    const kernel_kind *kind;
    size_t count;
} visitor;

/* In quick runs the first one alone. The kernel's name stands before that of a specification. */
static void visit(void *context, const char *name, const void *spec)
{
    visitor *v = context;
    kernel_case c = {.kind = v->kind};
    const size_t length = strlen(v->kind->name);
    const char *rest = strncmp(name, v->kind->name, length) != 0 ? name : name[length] == '-' ? name + length + 1 : "";
    if (v->count++ > 0 && v->run->quick)
        return;
    memcpy(c.spec, spec, kernel_key_count(v->kind) * sizeof(int));
    snprintf(c.name, sizeof c.name, "%s", rest);
    const bool shrinks = v->kind == &dcs_kind || v->kind == &mdh_kind || v->kind == &cutoff_kind;
    check_try(v->run, v->row,
              &(check_case){.variant = c.name,
                            .size = WHOLE,
                            .least = 1,
                            .unit = shrinks ? parts : NULL,
                            .attempt = attempt,
                            .context = &c});
}

/* The kernel that a row is named like. */
static const kernel_kind *kind_of(const check_row *row)
{
    const kernel_kind *const *kind = kernel_registry;
    while (*kind != NULL && strcmp((*kind)->name, row->row.name) != 0)
        kind++;
    return *kind;
}

void check_kernel(check_run *run, const check_row *row)
{
    visitor v = {run, row, kind_of(row), 0};
    kernel_specs(v.kind, run->device->info, run->quick ? KERNEL_FEW : KERNEL_ALL, visit, &v);
}
