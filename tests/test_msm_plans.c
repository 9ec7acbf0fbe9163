/* Long-range sums and plans of Fourier transforms that a device does not have, that are wrong, or
 * that take long: what is asked for is refused with the reason, what is left to the library is done
 * otherwise, and nobody waits for a plan. */
#include "cli_support.h"

#include "clock.h"
#include "engine/engine.h"
#include "error.h"
#include "long_range/fourier/kept_spectrum.h"
#include "long_range/fourier/spectral.h"
#include "long_range/method.h"
#include "memory.h"
#include "numerics/influence.h"
#include "schedule/job.h"

#include <stdatomic.h>
#include <unistd.h>

enum { ATOMS = 300, POINTS = 17 };

static const double slow_s = 120; /* of a plan, while its test goes on */

/* ---- Back ends that are not what they were --------------------------------------------------- */

static dev_backend real;      /* what the device interface of all devices of its back end was */
static const dev *altered;    /* the only one that something is wrong with */
static volatile bool is_over; /* a slow plan may end */
static atomic_int waited;     /* slow plans that have ended by themselves */

static bool no_library(const dev_info *info, size_t i, dev_fft_library *library)
{
    return info != altered->info && real.fft_library(info, i, library);
}

static ley_status slow_plan(dev *device, size_t library, const dev_fft_shape *shape, const void *kept, size_t kept_size,
                            dev_fft_plan **plan, ley_error *error)
{
    const double start_s = ley_clock_s();
    while (device == altered && !is_over && ley_clock_s() - start_s < slow_s)
        usleep(10000);
    waited += device == altered && !is_over;
    return real.fft_plan(device, library, shape, kept, kept_size, plan, error);
}

/* The way back in place of the way there: nothing is as the known answer is. */
static ley_status wrong_run(dev *device, dev_fft_plan *plan, bool forward, dev_buffer *from, dev_buffer *to,
                            dev_buffer *scratch, dev_event **done, ley_error *error)
{
    return real.fft_run(device, plan, forward && device != altered, from, to, scratch, done, error);
}

/* Of the first plan that is made: the library that was predicted fastest. */
static dev_fft_plan *first_plan;

static ley_status note_first_plan(dev *device, size_t library, const dev_fft_shape *shape, const void *kept,
                                  size_t kept_size, dev_fft_plan **plan, ley_error *error)
{
    const ley_status status = real.fft_plan(device, library, shape, kept, kept_size, plan, error);
    if (first_plan == NULL && status == LEY_OK)
        first_plan = *plan;
    return status;
}

static ley_status first_wrong_run(dev *device, dev_fft_plan *plan, bool forward, dev_buffer *from, dev_buffer *to,
                                  dev_buffer *scratch, dev_event **done, ley_error *error)
{
    return real.fft_run(device, plan, forward && plan != first_plan, from, to, scratch, done, error);
}

static dev_backend *backend_of(const worker *w)
{
    return (dev_backend *)(uintptr_t)w->info->backend;
}

/* The device interface, to be changed; restore() makes it what it was. */
static dev_backend *alter(const worker *w)
{
    real = *backend_of(w);
    altered = w->device;
    is_over = false;
    waited = 0;
    return backend_of(w);
}

static void restore(const worker *w)
{
    *backend_of(w) = real;
}

/* ---- Jobs ------------------------------------------------------------------------------------ */

static const ley_grid grid = {
    .origin_A = {1, 2, 3}, .step_A = LEY_STEPS(1, 1.25, 1.125), .n = {POINTS, POINTS, POINTS}};

static ley_long_range options_of(ley_solver solver, ley_window by)
{
    ley_long_range r = support_default_long_range();
    r.solver = solver;
    r.window = by;
    r.cutoff_A = 6;
    r.spacing_A = 1.5;
    return r;
}

typedef struct trial_job {
    ley_atoms *atoms;
    ley_map *map;
    ley_job *job;
} trial_job;

static void end(trial_job *t);

/* With the plan of a former job's report, or none (NULL). */
static trial_job begin_as(ley_engine *engine, const ley_long_range *r, const ley_report *former)
{
    ley_error error = {0};
    trial_job t = {.atoms = support_atoms(ATOMS, 0, 21, 7)};
    ley_run_options run = support_default_run_options();
    run.slab_planes = 8;
    run.decisions = former != NULL ? former->decisions : NULL;
    run.decision_count = former != NULL ? former->decision_count : 0;
    assert_ok(ley_map_create(&grid, &t.map, &error));
    assert_ok(ley_job_create_long_range(engine, t.atoms, (ley_target){.map = t.map}, r, &run, &t.job, &error));
    return t;
}

static trial_job begin(ley_engine *engine, const ley_long_range *r)
{
    return begin_as(engine, r, NULL);
}

/* NULL: it decides nothing of the kind. */
static const char *decision(const ley_report *report, const char *name)
{
    for (size_t i = 0; i < report->decision_count; i++)
        if (strcmp(report->decisions[i].name, name) == 0)
            return report->decisions[i].value;
    return NULL;
}

/* The same bytes, as decided before. */
static void expect_again(ley_engine *engine, const ley_long_range *r, const trial_job *former)
{
    ley_error error = {0};
    trial_job again = begin_as(engine, r, ley_job_report(former->job));
    assert_ok(ley_job_run(again.job, &error));
    assert_memory_equal(ley_map_read_values(again.map), ley_map_read_values(former->map),
                        (size_t)ley_grid_points(&grid) * sizeof(float));
    const char *const names[] = {"solver", "fft"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *was = decision(ley_job_report(former->job), names[i]),
                   *is = decision(ley_job_report(again.job), names[i]);
        assert_true(was != NULL ? is != NULL && strcmp(was, is) == 0 : is == NULL);
    }
    end(&again);
}

static void end(trial_job *t)
{
    ley_job_destroy(t->job);
    ley_map_destroy(t->map);
    ley_atoms_destroy(t->atoms);
}

static const char *text_of_note(const trial_job *t, const char *name)
{
    const ley_note *note = ley_report_note(ley_job_report(t->job), name);
    return note != NULL ? note->text : NULL;
}

static void expect_right(const trial_job *t)
{
    const ley_accuracy *a = &ley_job_report(t->job)->accuracy;
    assert_true(a->passed && a->points > 0);
    assert_true(a->relative_rms < 5e-3);
}

/* ---- No transforms --------------------------------------------------------------------------- */

/* What is asked for by name is refused; `what` says why. */
static void expect_otherwise(ley_engine *engine, const char *what)
{
    ley_error error = {0};
    ley_long_range r = options_of(LEY_SOLVER_FOURIER, LEY_WINDOW_BSPLINE6);
    trial_job t = begin(engine, &r);
    assert_int_equal(ley_job_run(t.job, &error), LEY_ERROR_NO_DEVICE);
    if (strstr(error.message, what) == NULL)
        fail_msg("'%s' does not say '%s'", error.message, what);
    end(&t);
    ley_error_clear(&error);
    r.solver = LEY_SOLVER_AUTO;
    for (int is_fitted = 0; is_fitted < 2; is_fitted++) { /* a band that suits the window it was chosen for */
        r.splitting = is_fitted ? LEY_SPLITTING_PSWF : LEY_SPLITTING_TAYLOR4;
        t = begin(engine, &r);
        assert_ok(ley_job_run(t.job, &error));
        expect_right(&t);
        assert_string_equal(text_of_note(&t, "window"), "nodal7");
        assert_string_equal(text_of_note(&t, "solver"), "multilevel");
        assert_non_null(strstr(text_of_note(&t, "otherwise"), what));
        assert_int_equal(ley_job_report(t.job)->devices[0].status, LEY_OK);
        assert_true(ley_job_report(t.job)->devices[0].points == POINTS * POINTS * POINTS);
        end(&t);
    }
}

static void test_a_device_without_transforms(void **state)
{
    ley_engine *engine = support_make_engine("0");
    alter(&engine->workers[0])->fft_library = no_library;
    expect_otherwise(engine, "there is no library");
    restore(&engine->workers[0]);
    ley_engine_destroy(engine);
}

static void test_transforms_that_are_wrong(void **state)
{
    support_fresh_cache();
    ley_engine *engine = support_make_engine("0");
    alter(&engine->workers[0])->fft_run = wrong_run;
    expect_otherwise(engine, "known answer");
    restore(&engine->workers[0]);
    ley_engine_destroy(engine);
}

/* Which library it was stands in the plan and the report, and so does whose place it took; a plan
 * that says another one gets that, or the reason. */
static void test_a_library_that_is_passed_over(void **state)
{
    ley_error error = {0};
    const ley_long_range r = options_of(LEY_SOLVER_AUTO, LEY_WINDOW_BSPLINE6);
    support_fresh_cache();
    ley_engine *engine = support_make_engine("0");
    alter(&engine->workers[0])->fft_plan = note_first_plan;
    backend_of(&engine->workers[0])->fft_run = first_wrong_run;
    first_plan = NULL;
    trial_job t = begin(engine, &r);
    assert_ok(ley_job_run(t.job, &error));
    restore(&engine->workers[0]);
    expect_right(&t);
    const ley_report *report = ley_job_report(t.job);
    assert_string_equal(decision(report, "solver"), "fourier");
    assert_non_null(decision(report, "fft"));
    const char *instead = text_of_note(&t, "fft_passed_over");
    if (instead == NULL || strchr(instead, ':') == NULL)
        fail_msg("'%s' does not say what was passed over", instead != NULL ? instead : "");
    assert_null(strstr(text_of_note(&t, "fft_library"), "; "));
    expect_again(engine, &r, &t);
    ley_decision *decisions = calloc(report->decision_count, sizeof *decisions);
    memcpy(decisions, report->decisions, report->decision_count * sizeof *decisions);
    for (size_t i = 0; i < report->decision_count; i++)
        if (strcmp(decisions[i].name, "fft") == 0)
            decisions[i].value = strcmp(engine->workers[0].info->backend->name, "cuda") == 0 ? "vkfft" : "cufft";
    const ley_report other = {.decisions = decisions, .decision_count = report->decision_count};
    trial_job refused = begin_as(engine, &r, &other);
    assert_error(ley_job_run(refused.job, &error), LEY_ERROR_NO_DEVICE, "there is no ");
    ley_error_clear(&error);
    end(&refused);
    free(decisions);
    end(&t);
    ley_engine_destroy(engine);
}

/* A job that was done otherwise, and its plan where there are transforms. */
static void test_the_plan_of_one_done_otherwise(void **state)
{
    ley_error error = {0};
    ley_long_range r = options_of(LEY_SOLVER_AUTO, LEY_WINDOW_BSPLINE6);
    ley_engine *engine = support_make_engine("0");
    alter(&engine->workers[0])->fft_library = no_library;
    trial_job t = begin(engine, &r);
    assert_ok(ley_job_run(t.job, &error));
    restore(&engine->workers[0]);
    assert_string_equal(decision(ley_job_report(t.job), "solver"), "multilevel");
    expect_again(engine, &r, &t);
    r.solver = LEY_SOLVER_FOURIER;
    trial_job refused = begin_as(engine, &r, ley_job_report(t.job));
    assert_error(ley_job_run(refused.job, &error), LEY_ERROR_USAGE,
                 "solver is to be multilevel, and fourier is asked for");
    ley_error_clear(&error);
    end(&refused);
    end(&t);
    ley_engine_destroy(engine);
}

/* Where there are transforms, B-splines take them; nodal windows never do. */
static void test_auto(void **state)
{
    static const struct {
        ley_window window;
        const char *name, *solver;
    } cases[] = {{LEY_WINDOW_NODAL5, "nodal5", "multilevel"}, {LEY_WINDOW_BSPLINE6, "bspline6", "fourier"}};
    ley_error error = {0};
    ley_engine *engine = support_make_engine("0");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const ley_long_range r = options_of(LEY_SOLVER_AUTO, cases[i].window);
        trial_job t = begin(engine, &r);
        assert_ok(ley_job_run(t.job, &error));
        expect_right(&t);
        assert_string_equal(text_of_note(&t, "window"), cases[i].name);
        assert_string_equal(text_of_note(&t, "solver"), cases[i].solver);
        assert_null(text_of_note(&t, "otherwise"));
        end(&t);
    }
    ley_engine_destroy(engine);
}

static void test_the_command(void **state)
{
    static const char arguments[] = "map a.pqr -o a.dx --dims 17,16,15 --method msm --cutoff 6 --mesh-spacing 1.5 "
                                    "--window bspline4 --fft fftw-of-nobody";
    cli_write_text("a.pqr", "ATOM 1 N A 1 1.0 2.0 3.0 0.5 1.5\nATOM 2 O A 1 9.0 8.0 7.0 -0.25 1.5\n");
    cli_run(1, NULL, "it must be one of auto, fftw, vkfft, clfft, cufft", "%s --solver auto", arguments);
    cli("map a.pqr -o a.dx --dims 17,16,15 --device 0 --method msm --cutoff 6 --mesh-spacing 1.5 --window bspline4 "
        "--solver auto --fft %s --json -",
        strcmp(getenv("LEYDEN_TEST_PATH"), "cuda") == 0 ? "vkfft" : "cufft");
    cli_expect(0, "\"otherwise\"", NULL);
    cli_expect(0, "\"nodal5\"", NULL);
    char *map = cli_read("a.dx", NULL); /* its header says what was taken */
    assert_non_null(strstr(map, "nodal5, solver multilevel, cutoff 6 A"));
    free(map);
}

/* ---- Plans that take long -------------------------------------------------------------------- */

static void test_cancelling(void **state)
{
    ley_error error = {0};
    const ley_long_range r = options_of(LEY_SOLVER_FOURIER, LEY_WINDOW_BSPLINE6);
    ley_engine *engine = support_make_engine("0");
    alter(&engine->workers[0])->fft_plan = slow_plan;
    trial_job t = begin(engine, &r);
    const pthread_t thread = support_cancel_later(t.job, 300000);
    const double start_s = ley_clock_s();
    assert_int_equal(ley_job_run(t.job, &error), LEY_CANCELLED);
    const double took_s = ley_clock_s() - start_s;
    pthread_join(thread, NULL);
    is_over = true;
    if (waited > 0)
        fail_msg("cancelled after 0.3 s, and ended after %.1f s, with its plan", took_s);
    end(&t);
    ley_error_clear(&error);
    restore(&engine->workers[0]);
    ley_engine_destroy(engine);
}

/* The other device does all of it. */
static void test_a_second_device(void **state)
{
    ley_error error = {0};
    const ley_long_range r = options_of(LEY_SOLVER_FOURIER, LEY_WINDOW_BSPLINE6);
    ley_engine *engine = support_make_engine("all");
    const double opened_s = ley_clock_s();
    if (engine->worker_count < 2) {
        print_message("one device only\n");
        ley_engine_destroy(engine);
        return;
    }
    while (worker_device(&engine->workers[1]) == NULL && ley_clock_s() < opened_s + slow_s)
        usleep(10000);
    alter(&engine->workers[1])->fft_plan = slow_plan;
    trial_job t = begin(engine, &r);
    const double start_s = ley_clock_s();
    assert_ok(ley_job_run(t.job, &error));
    const double took_s = ley_clock_s() - start_s;
    is_over = true;
    expect_right(&t);
    assert_non_null(ley_job_report(t.job)->devices[1].late);
    assert_true(ley_job_report(t.job)->devices[0].points == POINTS * POINTS * POINTS);
    if (waited > 0)
        fail_msg("the job took %.1f s, as one device was still at its plan", took_s);
    end(&t);
    restore(&engine->workers[1]);
    ley_engine_destroy(engine);
}

/* ---- Little memory
 * ---------------------------------------------------------------------------- */

/* The device's memory is no longer what it was; returns what that is. */
static uint64_t set_memory(const worker *w, uint64_t bytes)
{
    dev_info *info = (dev_info *)(uintptr_t)w->info;
    const uint64_t former = info->global_bytes;
    info->global_bytes = bytes;
    return former;
}

/* Relative RMS difference of two maps. */
static double apart(const ley_map *a, const ley_map *b)
{
    const float *x = ley_map_read_values(a), *y = ley_map_read_values(b);
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < ley_grid_points(&grid); i++) {
        sum += pow((double)x[i] - (double)y[i], 2);
        squares += pow((double)y[i], 2);
    }
    return sqrt(sum / squares);
}

static trial_job run_with(ley_engine *engine, const ley_long_range *r, const char *solver, const char *levels)
{
    ley_error error = {0};
    trial_job t = begin(engine, r);
    const ley_status status = ley_job_run(t.job, &error);
    if (status != LEY_OK)
        fail_msg("%s", error.message);
    expect_right(&t);
    assert_string_equal(text_of_note(&t, "solver"), solver);
    assert_true(strcmp(decision(ley_job_report(t.job), "solver"), solver) == 0);
    const char *decided = decision(ley_job_report(t.job), "levels");
    assert_true(levels != NULL ? decided != NULL && strcmp(decided, levels) == 0 : decided == NULL);
    return t;
}

/* The whole mesh's transform takes 120 x 120 x 120 nodes, 15 MB with a work area. Of 20 MB there
 * is room for the second level's, of 9 MB for the third one's. The map is what it is with all
 * memory, within what meshes are off by; by its plan it is the same where there is more room; and
 * what is asked for by name is refused. */
static void test_a_device_with_little_memory(void **state)
{
    ley_error error = {0};
    ley_long_range r = options_of(LEY_SOLVER_AUTO, LEY_WINDOW_BSPLINE6);
    static const struct {
        uint64_t bytes;
        const char *levels;
    } cases[] = {{20 << 20, "2"}, {9 << 20, "3"}};
    r.spacing_A = 0.5;
    ley_engine *engine = support_make_engine("0");
    const worker *w = &engine->workers[0];
    trial_job whole = run_with(engine, &r, "fourier", NULL);
    for (size_t i = support_is_quick() ? 1 : 0; i < sizeof cases / sizeof *cases; i++) {
        const uint64_t all = set_memory(w, cases[i].bytes);
        trial_job little = run_with(engine, &r, "mixed", cases[i].levels);
        assert_string_equal(text_of_note(&little, "window"), "nodal7");
        assert_non_null(strstr(text_of_note(&little, "otherwise"), "no device has room for a transform of "));
        assert_non_null(text_of_note(&little, "fft_library"));
        set_memory(w, all);
        expect_again(engine, &r, &little);
        const double off = ley_job_report(little.job)->accuracy.relative_rms;
        print_message("%s levels: off by %.2g, %.2g apart\n", cases[i].levels, off, apart(little.map, whole.map));
        assert_true(apart(little.map, whole.map) < 3 * off + 1e-6);
        end(&little);
    }
    end(&whole);
    const uint64_t all = set_memory(w, 6 << 20);
    r.solver = LEY_SOLVER_FOURIER;
    trial_job refused = begin(engine, &r);
    assert_error(ley_job_run(refused.job, &error), LEY_ERROR_NO_DEVICE, "there is room for");
    end(&refused);
    set_memory(w, all);
    ley_error_clear(&error);
    ley_engine_destroy(engine);
}

/* Where no device has transforms, all levels are done by lattice cutoff. */
static void test_levels_without_transforms(void **state)
{
    const ley_long_range r = options_of(LEY_SOLVER_MIXED, LEY_WINDOW_NODAL7);
    ley_engine *engine = support_make_engine("0");
    end(&(trial_job[]){run_with(engine, &r, "mixed", "2")}[0]);
    alter(&engine->workers[0])->fft_library = no_library;
    trial_job t = run_with(engine, &r, "multilevel", NULL);
    assert_non_null(strstr(text_of_note(&t, "otherwise"), "there is no library"));
    end(&t);
    restore(&engine->workers[0]);
    ley_engine_destroy(engine);
}

/* ---- Influence functions --------------------------------------------------------------------- */

static hierarchy make_meshes(window_kind window_of, double cutoff_A, double high_A, double kappa_per_A)
{
    const hierarchy_options o = {.splitting = SPLITTING_TAYLOR4,
                                 .window = window_of,
                                 .solver = HIERARCHY_FOURIER,
                                 .cutoff_A = cutoff_A,
                                 .spacing_A = 1.5,
                                 .kappa_per_A = kappa_per_A};
    ley_error error = {0};
    hierarchy h;
    assert_ok(hierarchy_make(&o, (const double[3]){0, 0, 0}, (const double[3]){high_A, 12, 11}, &h, &error));
    return h;
}

static kept_spectrum *get_spectrum(const hierarchy *h)
{
    ley_error error = {0};
    int64_t n[3];
    kept_spectrum *kept = NULL;
    influence_extent(h, n);
    assert_ok(kept_spectrum_get(h, n, NULL, &kept, &error));
    return kept;
}

static hierarchy make_periodic(double period_A)
{
    const hierarchy_options o = {.splitting = SPLITTING_TAYLOR4,
                                 .window = WINDOW_BSPLINE6,
                                 .solver = HIERARCHY_FOURIER,
                                 .cutoff_A = 6,
                                 .spacing_A = 1.5,
                                 .periodic = {true, true, true},
                                 .cell_A = {{period_A, 0, 0}, {0, 18, 0}, {0, 0, 18}}};
    ley_error error = {0};
    hierarchy h;
    assert_ok(hierarchy_make(&o, (const double[3]){0, 0, 0}, (const double[3]){18, 18, 18}, &h, &error));
    return h;
}

static uint64_t find_name(const hierarchy *h)
{
    int64_t n[3];
    influence_extent(h, n);
    return kept_spectrum_find_name(h, n);
}

/* The same one for the same mesh wherever it is; another one as soon as anything else differs,
 * and then what it would be without any kept. */
static void test_kept_influence_functions(void **state)
{
    const hierarchy h = make_meshes(WINDOW_BSPLINE6, 6, 17, 0);
    hierarchy moved = h;
    moved.origin_A[1] += 30;
    moved.level[0].first[2] -= 5;
    hierarchy others[] = {make_meshes(WINDOW_BSPLINE8, 6, 17, 0),
                          make_meshes(WINDOW_BSPLINE6, 6.5, 17, 0),
                          make_meshes(WINDOW_BSPLINE6, 6, 24, 0),
                          make_meshes(WINDOW_BSPLINE6, 6, 17, 0.1),
                          h,
                          make_periodic(18),
                          make_periodic(18.001)};
    ley_error error = {0};
    assert_ok(splitting_make(SPLITTING_TAYLOR5, 0, 0, 0, &others[4].level[0].split, &error));
    uint64_t names[1 + sizeof others / sizeof *others];
    size_t named = 0;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        kept_spectrum *first = get_spectrum(&h), *again = get_spectrum(&h), *there = get_spectrum(&moved);
        assert_ptr_equal(first, again);
        assert_ptr_equal(first, there);
        assert_int_equal(find_name(&moved), kept_spectrum_name(first));
        assert_int_equal(find_name(&others[i]), 0);
        kept_spectrum *other = get_spectrum(&others[i]);
        assert_ptr_not_equal(other, first);
        names[named++] = kept_spectrum_name(other);
        assert_true(kept_spectrum_name(first) != kept_spectrum_name(other));
        for (size_t k = 0; k + 1 < named; k++)
            assert_true(names[k] != names[named - 1] && names[k] != 0);
        spectrum made;
        assert_ok(spectrum_make(&others[i], kept_spectrum_of(other)->n, NULL, &made, &error));
        assert_memory_equal(made.values, kept_spectrum_of(other)->values,
                            (size_t)spectrum_waves(&made) * sizeof *made.values);
        spectrum_clear(&made);
        kept_spectrum_give_back(there);
        kept_spectrum_give_back(other);
        kept_spectrum_give_back(again);
        assert_true(kept_spectrum_of(first)->values[0] == kept_spectrum_of(first)->values[0]); /* still there */
        kept_spectrum_forget(); /* one that a wrong map had a part in has another name when it is made again */
        assert_int_equal(find_name(&h), 0);
        kept_spectrum *anew = get_spectrum(&h);
        assert_true(kept_spectrum_name(anew) != kept_spectrum_name(first));
        kept_spectrum_give_back(anew);
        kept_spectrum_give_back(first);
    }
}

/* Large ones are kept where the host has memory for them, so that the next job has them at once. */
static void test_large_influence_functions(void **state)
{
    const hierarchy h = make_meshes(WINDOW_BSPLINE6, 6, 17, 0);
    const int64_t n[3] = {540, 540, 540}; /* 79 MB of an eighth of the waves */
    for (int has_room = 0; has_room < 2; has_room++) {
        ley_error error = {0};
        kept_spectrum *kept;
        memory_pretend(has_room ? 40e9 : 1.5e9);
        kept_spectrum_forget();
        assert_ok(kept_spectrum_get(&h, n, NULL, &kept, &error));
        kept_spectrum_give_back(kept);
        if (support_is_sanitized)
            break; /* which sees that one that is not kept is freed; each takes seconds there */
        const double start_s = support_cpu_s();
        assert_ok(kept_spectrum_get(&h, n, NULL, &kept, &error));
        if ((support_cpu_s() - start_s < 0.05) != has_room) /* else it is made again, which takes a second */
            fail_msg("with room %d it took %g s", has_room, support_cpu_s() - start_s);
        kept_spectrum_give_back(kept);
    }
    memory_pretend(-1);
    kept_spectrum_forget();
}

/* ---- Influence functions for several at a time ----------------------------------------------- */

typedef struct asker {
    const hierarchy *h;
    int64_t n[3];
    atomic_bool cancelled;
    kept_spectrum *kept;
    ley_status status;
    double took_s;
} asker;

static void *ask(void *context)
{
    asker *a = context;
    ley_error error = {0};
    const double start_s = ley_clock_s();
    a->status = kept_spectrum_get(a->h, a->n, &a->cancelled, &a->kept, &error);
    a->took_s = ley_clock_s() - start_s;
    ley_error_clear(&error);
    return NULL;
}

/* One that takes long enough to be asked for meanwhile, and is not there yet. */
static void make_large(asker *askers, size_t count, hierarchy *h)
{
    kept_spectrum_forget();
    *h = make_meshes(WINDOW_BSPLINE6, 6, support_is_sanitized ? 200 : 330, 0);
    h->level[0].n[1] = h->level[0].n[2] = h->level[0].n[0];
    for (size_t i = 0; i < count; i++) {
        askers[i] = (asker){.h = h};
        influence_extent(h, askers[i].n);
    }
}

static void start(pthread_t *thread, asker *a)
{
    assert_int_equal(pthread_create(thread, NULL, ask, a), 0);
}

/* Who asks while it is made has the same one; who is cancelled meanwhile has none, at once; and
 * where whoever makes it is cancelled, another one does. */
static void test_one_influence_function_for_all(void **state)
{
    enum { ASKERS = 4 };
    asker askers[ASKERS];
    pthread_t threads[ASKERS];
    hierarchy h;
    make_large(askers, ASKERS, &h);
    for (size_t i = 0; i < ASKERS; i++)
        start(&threads[i], &askers[i]);
    for (size_t i = 0; i < ASKERS; i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 0; i < ASKERS; i++) {
        assert_int_equal(askers[i].status, LEY_OK);
        assert_ptr_equal(askers[i].kept, askers[0].kept);
    }
    print_message("an influence function of %lld nodes along each axis: %.3f s\n", (long long)askers[0].n[0],
                  askers[0].took_s);
    for (size_t i = 0; i < ASKERS; i++)
        kept_spectrum_give_back(askers[i].kept);

    make_large(askers, ASKERS, &h);
    start(&threads[0], &askers[0]);
    usleep(5000); /* the first one makes it, the others wait */
    for (size_t i = 1; i < 3; i++)
        start(&threads[i], &askers[i]);
    usleep(5000);
    atomic_store(&askers[1].cancelled, true);
    pthread_join(threads[1], NULL);
    atomic_store(&askers[0].cancelled, true);
    pthread_join(threads[0], NULL);
    pthread_join(threads[2], NULL);
    assert_int_equal(askers[1].status, LEY_CANCELLED);
    assert_int_equal(askers[0].status, LEY_CANCELLED);
    assert_int_equal(askers[2].status, LEY_OK);
    assert_null(askers[0].kept);
    assert_null(askers[1].kept);
    kept_spectrum_give_back(askers[2].kept);
}

/* Once a job is prepared, its influence function is made, whatever devices do. */
static void test_influence_functions_begin_with_jobs(void **state)
{
    ley_error error = {0};
    ley_engine *engine = NULL;
    if (!support_open("0", "the first device", &engine))
        skip();
    const ley_grid box = {.n = {40, 40, 40}, .step_A = LEY_STEPS(0.5, 0.5, 0.5)};
    const dev_info *info = engine->workers[0].info;
    if (!fft_is_there(info, NULL, 0)) {
        ley_engine_destroy(engine);
        skip();
    }
    ley_atoms *atoms = support_atoms(ATOMS, 0, 20, 3);
    void *task = NULL;
    ley_long_range range = support_default_long_range();
    range.solver = LEY_SOLVER_FOURIER;
    range.window = LEY_WINDOW_BSPLINE6;
    range.cutoff_A = 6;
    range.spacing_A = 1.4;
    ley_run_options options = support_default_run_options();
    options.sum = LEY_SUM_FLOAT;
    ley_map *map = support_make_map(&box);
    assert_ok(msm_task_create(atoms, map, &range, &task, &error));
    kept_spectrum_forget();
    const device_view device = {.info = info};
    atomic_bool none = false, at_once = true;
    const job_view view = {.options = &options, .device_count = 1, .devices = &device, .cancelled = &none};
    assert_ok(method_msm.prepare(task, &view, &error));
    int64_t n[3];
    kept_spectrum *kept = NULL;
    spectral_extent(info, msm_task_meshes(task), n);
    const double start_s = ley_clock_s();
    ley_status status;
    do { /* who is cancelled makes none */
        ley_error_clear(&error);
        status = kept_spectrum_get(msm_task_meshes(task), n, &at_once, &kept, &error);
    } while (status != LEY_OK && ley_clock_s() - start_s < 20);
    ley_error_clear(&error);
    assert_int_equal(status, LEY_OK);
    kept_spectrum_give_back(kept);
    method_msm.release(task, false);
    method_msm.end(task);
    ley_map_destroy(map);
    ley_atoms_destroy(atoms);
    ley_engine_destroy(engine);
}

static int prepare(void **state)
{
    ley_engine *engine = NULL;
    support_directory();
    if (!support_open("0", "the first device", &engine))
        return 1;
    setenv("LEYDEN_TEST_PATH", engine->workers[0].info->backend->name, 1);
    ley_engine_destroy(engine);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_large_influence_functions),
        cmocka_unit_test(test_kept_influence_functions),
        cmocka_unit_test(test_one_influence_function_for_all),
        cmocka_unit_test(test_influence_functions_begin_with_jobs),
        cmocka_unit_test(test_a_device_with_little_memory),
        cmocka_unit_test(test_levels_without_transforms),
        cmocka_unit_test(test_a_library_that_is_passed_over),
        cmocka_unit_test(test_the_plan_of_one_done_otherwise),
        cmocka_unit_test(test_auto),
        cmocka_unit_test(test_a_device_without_transforms),
        cmocka_unit_test(test_the_command),
        cmocka_unit_test(test_cancelling),
        cmocka_unit_test(test_a_second_device),
        cmocka_unit_test(test_transforms_that_are_wrong),
    };
    /* At level quick but the last one, whose kernels are all compiled anew. */
    const size_t all = sizeof tests / sizeof *tests;
    return _cmocka_run_group_tests("plans of transforms", tests, support_is_quick() ? all - 1 : all, prepare, NULL);
}
