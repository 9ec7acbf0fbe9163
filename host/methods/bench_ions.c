/* Ions around a box of water whose charges are changed at random, so that there is a potential
 * outside: how long the potential, the mask and the placing take. Places are known to be right from
 * sums in double precision at the ions and at nodes that they might have had. */
#include "bandwidth.h"
#include "clock.h"
#include "error.h"
#include "methods/subjects.h"
#include "parallel.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODES_AN_ATOM = 64, ATOMS_AN_ION = 2000, LEAST_IONS = 4 };

/* Nodes that are held against each ion: any, and the neighbours of the first ions. */
enum { ANY_NODES = 256, JUDGED_IONS = 64, NEIGHBOURS = 6 };
enum { POTENTIAL, MASK, PLACING, ALL, STEPS };

static const char *const names[STEPS] = {"potential", "mask", "placing", "all"};
static const double padding_A = 10, between_A = 5, most_charge_e = 0.1;

/* How far an energy may be off, relative to the largest one. */
static const double most_error = 1e-5;

typedef struct ions_problem {
    ley_atoms *atoms;
    int64_t wanted;
    double spacing_A;
    ley_status status; /* of all rows, which are measured at once; and what became of it: */
    ley_error failure;
    bench_repeats repeats;
    double runs_s[STEPS][BENCH_MOST_REPEATS];
    ley_ions *ions; /* of the last run */
    ley_accuracy accuracy;
    char device[128];
} ions_problem;

/* ---- The problem ----------------------------------------------------------------------------- */

static const char *named(size_t i)
{
    return i < STEPS ? names[i] : NULL;
}

static void choose(const worker *w, const calibration *facts, const ley_bench_options *o, ley_bench_device *d)
{
    const bool slow = (w->info->quirks & DEV_QUIRK_INTERPRETER) != 0;
    const int64_t usual = slow                               ? 30
                          : w->info->device_class == DEV_GPU ? 1000000
                                                             : 100000,
                  atoms = o->atoms > 0 ? o->atoms : usual;
    (void)facts;
    d->atoms = atoms - atoms % 3;
    d->memory_bytes_per_s = bandwidth_measure(w->device);
}

static void end(void *problem)
{
    ions_problem *p = problem;
    if (p == NULL)
        return;
    ley_error_clear(&p->failure);
    ley_ions_destroy(p->ions);
    ley_atoms_destroy(p->atoms);
    free(p);
}

static ley_status make_atoms(int64_t count, ley_atoms **atoms, ley_error *error)
{
    ley_atoms *box = NULL;
    uint64_t random = 1;
    ley_status status = ley_waterbox_create(count, 1, 0, &box, error);
    if (status != LEY_OK)
        return status;
    const size_t n = ley_atoms_count(box);
    double *charge_e = malloc(n * sizeof *charge_e);
    for (size_t i = 0; charge_e != NULL && i < n; i++)
        charge_e[i] = ley_atoms_charges_e(box)[i] + most_charge_e * (2 * bench_random(&random) - 1);
    status = charge_e != NULL
                 ? ley_atoms_create(n, ley_atoms_positions_A(box), charge_e, ley_atoms_radii_A(box), atoms, error)
                 : ley_fail_memory(error, n * sizeof *charge_e, "the benchmark");
    free(charge_e);
    ley_atoms_destroy(box);
    return status;
}

static ley_status make(const ley_bench_options *o, const ley_bench_device *d, void **problem, ley_error *error)
{
    ions_problem *p = calloc(1, sizeof *p);
    double low_A[3], high_A[3], volume_A3 = 1;
    (void)o;
    if (p == NULL)
        return ley_fail_memory(error, sizeof *p, "the benchmark");
    const ley_status status = make_atoms(d->atoms, &p->atoms, error);
    if (status != LEY_OK) {
        end(p);
        return status;
    }
    ley_atoms_bounds_A(p->atoms, low_A, high_A);
    for (int axis = 0; axis < 3; axis++)
        volume_A3 *= high_A[axis] - low_A[axis] + 2 * padding_A;
    p->spacing_A = cbrt(volume_A3 / (NODES_AN_ATOM * (double)d->atoms));
    p->wanted = d->atoms / ATOMS_AN_ION > LEAST_IONS ? d->atoms / ATOMS_AN_ION : LEAST_IONS;
    *problem = p;
    return LEY_OK;
}

/* ---- Running --------------------------------------------------------------------------------- */

static ley_status place(const ions_problem *p, const ley_bench_options *o, ley_engine *engine, double seconds[STEPS],
                        ley_ions **ions, ley_error *error)
{
    const ley_ion_species species[] = {{"NA", 1, 0, p->wanted - p->wanted / 2}, {"CL", -1, 0, p->wanted / 2}};
    ley_request request;
    ley_ions_options options;
    ley_request_default(&request);
    ley_ions_options_default(&options);
    request.grid.given = LEY_GIVEN_SPACING | LEY_GIVEN_PADDING;
    request.grid.padding_A = padding_A;
    for (int axis = 0; axis < 3; axis++)
        request.grid.spacing_A[axis] = p->spacing_A;
    options.species = species;
    options.species_count = 2;
    options.between_A = between_A;
    options.cancel = o->cancel;
    const double start_s = ley_clock_s();
    const ley_status status = ley_ions_place(engine, p->atoms, &request, &options, ions, error);
    if (status != LEY_OK)
        return status;
    const ley_ions_report *how = ley_ions_how(*ions);
    seconds[ALL] = ley_clock_s() - start_s;
    seconds[POTENTIAL] = how->potential_s;
    seconds[MASK] = how->mask_s;
    seconds[PLACING] = how->placing_s;
    return LEY_OK;
}

/* Once to warm up, which builds kernels, then as often as bench_repeats says. */
static ley_status time_all(ions_problem *p, const ley_bench_options *o, ley_engine *engine, ley_error *error)
{
    double seconds[STEPS];
    p->repeats = bench_repeats_begin(o->repeats, o->most_s);
    ley_status status = place(p, o, engine, seconds, &p->ions, error);
    p->repeats.spent_s = status == LEY_OK ? seconds[ALL] : 0;
    while (status == LEY_OK && bench_repeats_go_on(&p->repeats)) {
        ley_ions_destroy(p->ions);
        p->ions = NULL;
        status = place(p, o, engine, seconds, &p->ions, error);
        for (int i = 0; i < STEPS && status == LEY_OK; i++)
            p->runs_s[i][p->repeats.done] = seconds[i];
        p->repeats.done += status == LEY_OK;
        p->repeats.spent_s += status == LEY_OK ? seconds[ALL] : 0;
    }
    return status;
}

/* ---- What is right --------------------------------------------------------------------------- */

/* A place: an ion's, or a node that one might have had. */
typedef struct place_sum {
    double at_A[3], potential, nearest_A; /* of the solute, e / A; and its nearest atom */
} place_sum;

typedef struct place_sums {
    const ley_atoms *atoms;
    place_sum *places;
} place_sums;

static double distance_A(const double a[3], const double b[3])
{
    return sqrt(pow(a[0] - b[0], 2) + pow(a[1] - b[1], 2) + pow(a[2] - b[2], 2));
}

static void sum_places(void *context, size_t first, size_t last)
{
    const place_sums *s = context;
    const size_t n = ley_atoms_count(s->atoms);
    const double *at_A = ley_atoms_positions_A(s->atoms), *charge_e = ley_atoms_charges_e(s->atoms);
    for (size_t i = first; i < last; i++) {
        place_sum *p = &s->places[i];
        p->nearest_A = INFINITY;
        for (size_t k = 0; k < n; k++) {
            const double r_A = distance_A(p->at_A, at_A + 3 * k);
            p->potential += charge_e[k] / r_A;
            p->nearest_A = fmin(p->nearest_A, r_A);
        }
    }
}

/* Energy of a charge at a place beside the first ions, in e^2 / A; not a number where it may not
 * be. */
static double energy_of(const ley_ions *ions, int64_t before, double charge_e, const place_sum *p, double from_A,
                        double apart_A)
{
    double potential = p->potential;
    if (p->nearest_A < from_A)
        return NAN;
    for (int64_t i = 0; i < before; i++) {
        const ley_placed_ion *ion = ley_ions_get(ions, i);
        const double r_A = distance_A(p->at_A, ion->position_A);
        if (r_A < apart_A)
            return NAN;
        potential += ion->charge_e / r_A;
    }
    return charge_e * potential;
}

/* Of ion i, whose place is the i-th; the nodes are behind those of all ions. `constant`: C in
 * kcal A/mol/e^2. */
static ley_status judge_ion(const ions_problem *p, const place_sum *places, size_t nodes, int64_t i, double constant,
                            double largest, double *off, ley_error *error)
{
    static const double from_A = 6, slack_A = 1e-3; /* what is nearer to an edge may be on either side of it */
    const double h_A = ley_ions_how(p->ions)->grid.step_A[0][0], apart_A = round(between_A / h_A) * h_A;
    const ley_placed_ion *ion = ley_ions_get(p->ions, i);
    const double energy =
        constant * energy_of(p->ions, i, ion->charge_e, &places[i], from_A - slack_A, apart_A - slack_A);
    if (!isfinite(energy))
        return ley_fail(error, LEY_ERROR_WRONG_RESULT, "ion %lld is where no ion may be", (long long)i + 1);
    *off = energy - ion->energy_kcal_mol;
    const place_sum *node = places + ley_ions_count(p->ions);
    for (size_t k = 0; k < nodes; k++) {
        const double other =
            constant * energy_of(p->ions, i, ion->charge_e, &node[k], from_A + slack_A, apart_A + slack_A);
        if (other < energy - most_error * largest)
            return ley_fail(error, LEY_ERROR_WRONG_RESULT,
                            "ion %lld has an energy of %g kcal/mol, and a node had been free with %g", (long long)i + 1,
                            energy, other);
    }
    return LEY_OK;
}

/* Any nodes, and next to each of some ions those along the axes; how many. */
static size_t put_nodes(const ley_ions *ions, place_sum *nodes)
{
    const ley_grid *grid = &ley_ions_how(ions)->grid;
    const int64_t judged = ley_ions_count(ions) < JUDGED_IONS ? ley_ions_count(ions) : JUDGED_IONS;
    uint64_t random = 5;
    size_t count = 0;
    for (; count < ANY_NODES; count++) {
        int64_t node[3];
        for (int axis = 0; axis < 3; axis++)
            node[axis] = (int64_t)(bench_random(&random) * (double)grid->n[axis]);
        ley_grid_point_A(grid, node, nodes[count].at_A);
    }
    for (int64_t i = 0; i < judged; i++)
        for (int k = 0; k < NEIGHBOURS; k++) {
            int64_t node[3];
            memcpy(node, ley_ions_get(ions, i)->node, sizeof node);
            node[k / 2] += k % 2 == 0 ? 1 : -1;
            if (node[k / 2] >= 0 && node[k / 2] < grid->n[k / 2])
                ley_grid_point_A(grid, node, nodes[count++].at_A);
        }
    return count;
}

static ley_status judge(ions_problem *p, ley_error *error)
{
    const int64_t count = ley_ions_count(p->ions);
    const size_t places = (size_t)count + ANY_NODES + JUDGED_IONS * NEIGHBOURS;
    place_sums sums = {p->atoms, calloc(places, sizeof *sums.places)};
    const double constant = ley_coulomb_constant(LEY_UNITS_KCAL_MOL_E, 1, 300);
    double largest = 0, off = 0, squares = 0, worst = 0;
    if (sums.places == NULL)
        return ley_fail_memory(error, places * sizeof *sums.places, "the benchmark");
    for (int64_t i = 0; i < count; i++) {
        memcpy(sums.places[i].at_A, ley_ions_get(p->ions, i)->position_A, sizeof sums.places[i].at_A);
        largest = fmax(largest, fabs(ley_ions_get(p->ions, i)->energy_kcal_mol));
    }
    const size_t nodes = put_nodes(p->ions, sums.places + count);
    parallel_ranges((size_t)count + nodes, sum_places, &sums);
    ley_status status = count == p->wanted ? LEY_OK
                                           : ley_fail(error, LEY_ERROR_WRONG_RESULT, "%lld ions in place of %lld",
                                                      (long long)count, (long long)p->wanted);
    for (int64_t i = 0; i < count && status == LEY_OK; i++) {
        status = judge_ion(p, sums.places, nodes, i, constant, largest, &off, error);
        squares += off * off;
        worst = fmax(worst, fabs(off));
    }
    free(sums.places);
    p->accuracy = (ley_accuracy){.points = (size_t)count,
                                 .compared = (size_t)count,
                                 .absolute_rms = sqrt(squares / (double)count),
                                 .relative_rms = sqrt(squares / (double)count) / largest,
                                 .max_error = worst / largest,
                                 .tolerance = most_error,
                                 .passed = status == LEY_OK && worst <= most_error * largest};
    return status != LEY_OK || p->accuracy.passed
               ? status
               : ley_fail(error, LEY_ERROR_WRONG_RESULT,
                          "energies are off by %.2g of the largest, at most %.2g is right", p->accuracy.max_error,
                          most_error);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* All rows at once, whose grid follows from the atoms. */
static ley_status count(worker *w, const ley_bench_options *o, const void *problem, ley_bench_device *d,
                        ley_error *error)
{
    ions_problem *p = (ions_problem *)(uintptr_t)problem;
    ley_engine *engine = NULL;
    (void)error;
    p->status = bench_open(w, &engine, &p->failure);
    if (p->status == LEY_OK)
        p->status = time_all(p, o, engine, &p->failure);
    ley_engine_destroy(engine);
    if (p->status == LEY_OK)
        p->status = judge(p, &p->failure);
    if (p->ions == NULL)
        return LEY_OK;
    const ley_ions_report *how = ley_ions_how(p->ions);
    memcpy(d->n, how->grid.n, sizeof d->n);
    d->points = how->nodes;
    snprintf(p->device, sizeof p->device, "%s", how->device);
    return LEY_OK;
}

static void put_figures(const ions_problem *p, const ley_bench_device *limits, bool is_placing, bench_row *b)
{
    const ley_ions_report *how = ley_ions_how(p->ions);
    const double passes = (double)how->nodes * (double)p->wanted;
    bench_put_figure(&b->row, "ions", (double)p->wanted);
    bench_put_figure(&b->row, "recomputed", (double)how->recomputed);
    bench_put_figure(&b->row, "searched", (double)how->searched);
    bench_put_figure(&b->row, "bricks", (double)how->bricks);
    if (!is_placing)
        return;
    b->row.bytes = 2 * sizeof(float) * passes;
    b->row.evaluations_per_s = passes / b->row.median_s;
    if (limits->memory_bytes_per_s > 0)
        bench_put_figure(&b->row, "whole_passes_s", b->row.bytes / limits->memory_bytes_per_s);
}

static ley_status measure(worker *w, const ley_bench_options *o, const char *name, const void *problem,
                          const ley_bench_device *limits, bench_row *b)
{
    const ions_problem *p = problem;
    int step = 0;
    (void)w, (void)o;
    while (strcmp(names[step], name) != 0)
        step++;
    b->row.accuracy = p->accuracy;
    if (p->status != LEY_OK) {
        ley_error_copy(&b->failure, &p->failure);
        return p->status;
    }
    bench_put_times(b, &p->repeats, p->runs_s[step]);
    put_figures(p, limits, step == PLACING, b);
    const ley_ions_report *how = ley_ions_how(p->ions);
    if (step == POTENTIAL)
        snprintf(b->specification, sizeof b->specification, "%s, off by %.2g", how->method, how->potential_rms);
    else if (step == PLACING)
        snprintf(b->specification, sizeof b->specification,
                 "%lld ions on %s, %lld nodes summed in double precision, %lld of %lld bricks looked at again",
                 (long long)p->wanted, p->device, (long long)how->recomputed, (long long)how->searched,
                 (long long)how->bricks);
    return LEY_OK;
}

static ley_status check(const ley_engine *engine, const ley_bench_options *o, ley_error *error)
{
    return bench_check_box(engine, o, error);
}

/* clang-format off */
static const ley_bench_figure figures[] = {
    {.name = "ions", .sentence = "that are placed, half of them of each sign", .is_count = true},
    {.name = "recomputed", .sentence = "nodes that are summed in double precision", .is_count = true},
    {.name = "searched", .sentence = "bricks of the grid that are looked at after the first look", .is_count = true},
    {.name = "bricks", .sentence = "of the grid", .is_count = true},
    {.name = "whole_passes_s", .unit = "s", .hangs_on_time = true, .may_be_unknown = true,
     .sentence = "placing: a pass over the whole grid for each ion, 8 bytes a node, at the memory's measured rate"},
    {.name = NULL}};
/* clang-format on */

const bench_subject bench_ions = {
    .figures = figures,
    .name = "ions",
    .makes_grid = true,
    .named = named,
    .needs_no_facts = true,
    .check = check,
    .choose = choose,
    .make = make,
    .end = end,
    .count = count,
    .measure = measure,
};
