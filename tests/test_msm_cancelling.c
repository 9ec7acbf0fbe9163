/* Long-range jobs that are cancelled at any time of theirs, in whichever stage: binning, building,
 * plans of transforms, influence functions, meshes, slabs, verification. They end soon, and what
 * the engine has goes on. */
#include "support.h"

enum { ATOMS = 150000 };

static const double soon_s = 0.5;

/* Two cores may be at it for that long. */
static const double soon_cpu_s = 1;

static const ley_grid grid = {.origin_A = {3, 2, 1}, .step_A = LEY_STEPS(0.75, 0.75, 0.75), .n = {96, 96, 96}};

static ley_long_range options_of(ley_solver solver, ley_splitting by, double long_waves_per_A)
{
    ley_long_range r = support_default_long_range();
    r.solver = solver;
    r.splitting = by;
    r.cutoff_A = 10;
    r.spacing_A = 1.25;
    r.window = solver == LEY_SOLVER_FOURIER ? LEY_WINDOW_BSPLINE6 : LEY_WINDOW_NODAL7;
    r.long_waves_per_A = long_waves_per_A;
    return r;
}

/* Returns whether it was cancelled, and not done before. */
static bool run(ley_engine *engine, const ley_atoms *atoms, const ley_long_range *r, unsigned after_us)
{
    ley_error error = {0};
    ley_job *job = NULL;
    ley_run_options o = support_default_run_options();
    ley_map *map = support_make_map(&grid);
    assert_ok(ley_job_create_long_range(engine, atoms, (ley_target){.map = map}, r, &o, &job, &error));
    const pthread_t other = support_cancel_later(job, after_us);
    const ley_status status = ley_job_run(job, &error);
    pthread_join(other, NULL);
    const double late_s = support_cpu_since_cancelled_s();
    const bool was_cancelled = status == LEY_CANCELLED;
    const ley_report *report = ley_job_report(job);
    if (was_cancelled)
        print_message("solver %d, %s: cancelled after %.2f s, %s: %.3f s of processor time later\n", (int)r->solver,
                      r->splitting == LEY_SPLITTING_TAYLOR4 ? "a function with a name" : "an expression",
                      1e-6 * after_us, report->stage_count > 0 ? report->stages[report->stage_count - 1].name : "-",
                      late_s);
    else
        assert_int_equal(status, LEY_OK);
    if (was_cancelled && late_s > soon_cpu_s)
        fail_msg("%.2f s of processor time are more than %.1f s of %d cores", late_s, soon_s, 2);
    ley_error_clear(&error);
    ley_job_destroy(job);
    ley_map_destroy(map);
    return was_cancelled;
}

/* Later and later, until it is done before. Returns how often it was cancelled. */
static int cancel_everywhere(ley_engine *engine, const ley_atoms *atoms, const ley_long_range *r)
{
    const double factor = support_is_quick() ? 2 : 1.2;
    int cancelled = 0;
    for (double after_us = 5000; run(engine, atoms, r, (unsigned)after_us); after_us *= factor)
        cancelled++;
    assert_true(cancelled > 0);
    return cancelled;
}

static void test_any_stage(void **state)
{
    static const struct {
        ley_solver solver;
        ley_splitting by;
        double long_waves_per_A;
    } cases[] = {{LEY_SOLVER_MULTILEVEL, LEY_SPLITTING_TAYLOR4, 0},
                 {LEY_SOLVER_FOURIER, LEY_SPLITTING_PSWF, 0},
                 {LEY_SOLVER_FOURIER, LEY_SPLITTING_PSWF, 1.5},
                 {LEY_SOLVER_MIXED, LEY_SPLITTING_TAYLOR4, 0}};
    ley_error error = {0};
    ley_atoms *atoms = NULL;
    support_fresh_cache();
    ley_engine *engine = support_make_engine("0");
    assert_ok(ley_waterbox_create(ATOMS, 1, 0.3, &atoms, &error));
    int cancelled = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const ley_long_range r = options_of(cases[i].solver, cases[i].by, cases[i].long_waves_per_A);
        cancelled += cancel_everywhere(engine, atoms, &r);
    }
    assert_true(cancelled > 10); /* cards are soon done, but for kernels that they have to build */
    ley_atoms_destroy(atoms);
    ley_engine_destroy(engine);
}

int main(void)
{
    return RUN_GROUP(SUPPORT_GROUP(.name = "cancelling"), test_any_stage);
}
