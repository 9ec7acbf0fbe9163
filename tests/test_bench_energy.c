/* The benchmarks of energies: what they measure and say, that results which are wrong have no rate,
 * and that the plain loops that they are compared with agree with the law. */
#include "cli_support.h"

#include "energy/device_part.h"
#include "engine/engine.h"
#include "law/energy.h"
#include "methods/energy_loops.h"

#include <math.h>

static ley_engine *engine;

/* ---- Faults ---------------------------------------------------------------------------------- */

typedef enum fault { NO_FAULT, ENERGIES_OFF, FORCES_OFF, RADII_OFF, TERM_OFF, MATRIX_OFF } fault;

static fault planted;

ley_status __real_energy_part_finish(energy_part *part, energy_batch *batch, ley_error *error);
ley_status __wrap_energy_part_finish(energy_part *part, energy_batch *batch, ley_error *error);
ley_status __real_ley_energy_run(ley_energy *energy, int64_t frames, const float *position_A, const double *cell_A,
                                 ley_energy_results *to, ley_error *error);
ley_status __wrap_ley_energy_run(ley_energy *energy, int64_t frames, const float *position_A, const double *cell_A,
                                 ley_energy_results *to, ley_error *error);

static void change(const dev_staging *staging, size_t floats)
{
    for (size_t i = 0; i < floats; i++)
        ((float *)staging->bytes)[i] *= 1.001F;
}

/* By 0.1 %. */
ley_status __wrap_energy_part_finish(energy_part *part, energy_batch *batch, ley_error *error)
{
    const ley_status status = __real_energy_part_finish(part, batch, error);
    const size_t places = part->problem->padded;
    if (status == LEY_OK && planted == ENERGIES_OFF)
        change(batch->energy_back, LEY_ENERGY_TERMS * places);
    if (status == LEY_OK && planted == FORCES_OFF)
        change(batch->force_back, 4 * places);
    if (status == LEY_OK && planted == RADII_OFF)
        change(batch->radius_back, places);
    return status;
}

ley_status __wrap_ley_energy_run(ley_energy *energy, int64_t frames, const float *position_A, const double *cell_A,
                                 ley_energy_results *to, ley_error *error)
{
    const ley_status status = __real_ley_energy_run(energy, frames, position_A, cell_A, to, error);
    if (planted == TERM_OFF)
        to->terms[LEY_ENERGY_BORN] *= 1.001;
    if (planted == MATRIX_OFF)
        to->matrix[0] += 0.1 * fabs(to->terms[LEY_ENERGY_BORN]);
    return status;
}

/* ---- What is measured ------------------------------------------------------------------------ */

static ley_status try_run(const char *what, const char *variant, int64_t atoms, ley_bench **bench, ley_error *error)
{
    ley_bench_options o = support_default_bench_options();
    o.method = what;
    o.variant = variant;
    o.atoms = atoms;
    o.repeats = o.limit_rounds = 1;
    return ley_bench_run(engine, &o, bench, error);
}

static ley_bench *run(const char *what, const char *variant, fault wrong)
{
    ley_error error = {0};
    ley_bench *bench = NULL;
    planted = wrong;
    assert_ok(try_run(what, variant, 0, &bench, &error));
    planted = NO_FAULT;
    const ley_bench_device *d = ley_bench_get(bench, 0);
    if (d->status != LEY_OK)
        fail_msg("%s", d->failure);
    assert_int_equal(d->row_count, 1);
    return bench;
}

static const struct {
    const char *kernel, *variant;
    fault wrong;
} cases[] = {{"pairs", "dhfr-9A-lists", ENERGIES_OFF},
             {"pairs", "dhfr-9A-energies", ENERGIES_OFF},
             {"pairs", "dhfr-9A-forces", FORCES_OFF},
             {"pairs", "dhfr-9A-patches", FORCES_OFF},
             {"pairs", "dhfr-all-energies", ENERGIES_OFF},
             {"gb", "4656-integrals", RADII_OFF},
             {"gb", "4656-slopes", FORCES_OFF},
             {"gb", "4656-energies", ENERGIES_OFF},
             {"gb", "4656-forces", FORCES_OFF},
             {"gb", "mmgbsa", TERM_OFF},
             {"gb", "mmgbsa-residues", MATRIX_OFF},
             {"pme", "dhfr-gather", FORCES_OFF}};

static void rows_are_measured(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ley_bench *bench = run(cases[i].kernel, cases[i].variant, NO_FAULT);
        const ley_bench_row *row = &ley_bench_get(bench, 0)->rows[0];
        if (row->status != LEY_OK)
            fail_msg("%s: %s", row->variant, row->failure);
        assert_true(row->accuracy.passed && row->accuracy.points > 0 && row->accuracy.relative_rms > 0);
        assert_true(row->run_count == 1 && row->median_s > 0 && row->evaluations_per_s > 0);
        assert_true(ley_bench_row_figure(row, "frames_per_s") > 0 && ley_bench_row_figure(row, "frame_ms") > 0);
        if (strstr(row->variant, "lists") == NULL)
            assert_true(row->fma_share > 0 && ley_bench_row_figure(row, "multiply_adds") > 0);
        ley_bench_destroy(bench);
    }
}

static void wrong_rows_have_no_rate(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ley_bench *bench = run(cases[i].kernel, cases[i].variant, cases[i].wrong);
        const ley_bench_row *row = &ley_bench_get(bench, 0)->rows[0];
        if (row->status != LEY_ERROR_WRONG_RESULT || strstr(row->failure, "off by") == NULL)
            fail_msg("%s: %s", row->variant, row->status != LEY_OK ? row->failure : "taken as right");
        ley_bench_destroy(bench);
    }
}

static void sizes_are_fixed(void **state)
{
    ley_error error = {0};
    ley_bench *bench = NULL;
    (void)state;
    assert_int_equal(try_run("pairs", NULL, 300, &bench, &error), LEY_ERROR_USAGE);
    ley_error_clear(&error);
}

/* ---- Plain loops ----------------------------------------------------------------------------- */

static void law_of(const energy_system *s, const ley_energy_options *options, double terms[LEY_ENERGY_TERMS])
{
    ley_error error = {0};
    const ley_particles_arrays arrays = ley_particles_get(s->particles);
    const energy_frame frame = {
        .particles = &arrays, .options = options, .position_A = s->position_A, .cell_A = s->cell_A};
    ley_energy_results to = {.size = sizeof to, .terms = terms};
    assert_ok(energy_law_frame(&frame, &to, NULL, &error));
}

static void loops_agree_with_the_law(void **state)
{
    static const double edge_A[3] = {28, 31, 34};
    ley_error error = {0};
    double terms[LEY_ENERGY_TERMS];
    energy_system s;
    energy_loop loop;
    ley_energy_options o;
    (void)state;
    ley_energy_options_default(&o);
    o.cutoff_A = 9;
    o.coulomb = LEY_COULOMB_REACTION_FIELD;
    assert_ok(energy_system_liquid(2700, edge_A, 1, &s, &error));
    assert_ok(energy_loop_liquid(&s, o.cutoff_A, &loop, &error));
    law_of(&s, &o, terms);
    assert_true(fabs(loop.lennard_jones / terms[LEY_ENERGY_LENNARD_JONES] - 1) < 1e-4);
    assert_true(fabs(loop.coulomb / terms[LEY_ENERGY_COULOMB] - 1) < 1e-4);
    assert_true(loop.pairs > 2700 * 100 && loop.seconds > 0);
    energy_system_clear(&s);
    ley_energy_options_default(&o);
    o.born = LEY_BORN_OBC2;
    assert_ok(energy_system_protein(700, 1, &s, &error));
    assert_ok(energy_loop_protein(&s, &loop, &error));
    law_of(&s, &o, terms);
    assert_true(fabs(loop.lennard_jones / terms[LEY_ENERGY_LENNARD_JONES] - 1) < 1e-9);
    assert_true(fabs(loop.coulomb / terms[LEY_ENERGY_COULOMB] - 1) < 1e-9);
    assert_true(fabs(loop.born / terms[LEY_ENERGY_BORN] - 1) < 1e-9);
    energy_system_clear(&s);
}

/* ---- The command ----------------------------------------------------------------------------- */

static void the_command_prints_them(void **state)
{
    const char *cache = getenv("LEYDEN_CACHE_DIR");
    (void)state;
    cli("LEYDEN_CACHE_DIR=%s bench --kernel pairs --repeats 1 --device 0 --json p.json --csv p.csv --markdown p.md",
        cache);
    cli_expect(0, "\ndhfr-9A: patches (two passes) take ", NULL);
    cli_expect(0, " times as long as tile lists (one pass), ", NULL);
    cli_expect(0, " patches, two passes: 23556 atoms, ", NULL);
    cli_expect(0, "\ndhfr-9A-forces to a plain loop in C on one core: ", NULL);
    cli_expect(0, "launches  timed  spread %  % of root limit  % of FMA limit  relative RMS  what was taken", NULL);
    cli("LEYDEN_CACHE_DIR=%s bench p.json", cache); /* the report agrees with its schema */
    cli_expect(0, "| dhfr-9A-forces |", NULL);
    cli_expect(0, "| dhfr-12A-patches |", NULL);
    cli("LEYDEN_CACHE_DIR=%s bench --kernel pme --variant dhfr-spread --repeats 1 --device 0", cache);
    cli_expect(0, "% of arithmetic  % of memory  relative RMS  what was taken", NULL);
    static const cli_failing failing[] = {
        {"bench --kernel gb --atoms 30", 1, "--atoms is not for --kernel gb"},
        {"bench --kernel pme --dims 3,3,3", 1, "--dims is not for --kernel pme"},
        {"bench --kernel pairs --variant fast", 1, "fast"},
    };
    CLI_CHECK_FAILURES(failing);
}

int main(void)
{
    return RUN_GROUP(SUPPORT_GROUP(.name = "benchmarks of energies", .selector = "0", .opened = &engine),
                     rows_are_measured, wrong_rows_have_no_rate, sizes_are_fixed, loops_agree_with_the_law,
                     the_command_prints_them);
}
