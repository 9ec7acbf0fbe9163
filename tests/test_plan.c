/* Plans: what was decided by measured rates stands in the report; a job that is given it computes
 * the same bytes whatever is measured by then; and what is no plan is refused. */
#include "support.h"

#include "schedule/job.h"

static ley_engine *engine;
static dev *device;

/* What a job made, and the plan by which it did, as its own. */
typedef struct outcome {
    void *bytes;
    size_t size;
    job_plan *plan;
    ley_sum sum;
} outcome;

typedef struct problem {
    support_method method;
    ley_sum sum;
    ley_pair pair;
    int64_t atoms;
    bool is_standard; /* the math that is asked for; else auto */
    int64_t slab_planes;
} problem;

static void release(outcome *o)
{
    free(o->bytes);
    plan_destroy(o->plan);
}

static job_plan *plan_of(const ley_report *r)
{
    const job_plan reported = {.count = r->decision_count, .list = (ley_decision *)(uintptr_t)r->decisions};
    job_plan *copy = NULL;
    assert_int_equal(plan_copy(&reported, &copy, NULL), LEY_OK);
    return copy;
}

static void keep_bytes(outcome *o, const void *bytes, size_t size)
{
    o->size = size;
    o->bytes = malloc(size);
    memcpy(o->bytes, bytes, size);
}

static const ley_grid small = {.n = {24, 24, 24}, .step_A = LEY_STEPS(0.5, 0.5, 0.5)},
                      faces = {.n = {97, 81, 65}, .step_A = LEY_STEPS(0.5, 0.5, 0.5)};

static ley_status create(const problem *p, const ley_atoms *atoms, ley_map *map, ley_boundary *boundary,
                         const job_plan *given, ley_job **job, ley_error *error)
{
    static const ley_ion ions[] = {{1, 0.15, 2}, {-1, 0.15, 2}};
    const ley_solvent solvent = {78.54, 2, 298.15, 2, ions};
    ley_run_options options = support_default_run_options();
    options.sum = p->sum;
    options.math = p->is_standard ? LEY_MATH_STANDARD : LEY_MATH_AUTO;
    options.slab_planes = p->slab_planes;
    options.verify_points = 50;
    options.decision_count = given != NULL ? given->count : 0;
    options.decisions = given != NULL ? given->list : NULL;
    ley_direct direct = support_default_direct();
    ley_short_range range = support_default_short_range();
    range.cutoff_A = 5;
    range.pair = p->pair;
    if (p->method == SUPPORT_MDH)
        return ley_job_create_boundary(engine, atoms, (ley_target){.boundary = boundary}, &solvent, &options, job,
                                       error);
    return p->method == SUPPORT_DCS
               ? ley_job_create_direct(engine, atoms, (ley_target){.map = map}, &direct, &options, job, error)
               : ley_job_create_short_range(engine, atoms, (ley_target){.map = map}, &range, &options, job, error);
}

static outcome run(const problem *p, const job_plan *given)
{
    ley_error error = {0};
    outcome o = {.bytes = NULL};
    ley_atoms *atoms = p->method == SUPPORT_CUTOFF ? support_crowd((size_t)p->atoms, &small, 2, 3)
                                                   : support_atoms((size_t)p->atoms, 2, 10, 3);
    ley_job *job = NULL;
    ley_map *map = support_make_map(&small);
    ley_boundary *boundary = support_make_boundary(&faces);
    assert_ok(create(p, atoms, map, boundary, given, &job, &error));
    assert_ok(ley_job_run(job, &error));
    if (p->method == SUPPORT_MDH)
        keep_bytes(&o, ley_boundary_read_values(boundary), sizeof(double) * (size_t)ley_boundary_points(boundary));
    else
        keep_bytes(&o, ley_map_read_values(map), sizeof(float) * (size_t)ley_grid_points(&small));
    o.plan = plan_of(ley_job_report(job));
    o.sum = ley_job_report(job)->sum;
    ley_job_destroy(job);
    ley_boundary_destroy(boundary);
    ley_map_destroy(map);
    ley_atoms_destroy(atoms);
    return o;
}

static bool same_bytes(const outcome *a, const outcome *b)
{
    return a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0;
}

static bool same_plan(const job_plan *a, const job_plan *b)
{
    bool same = a->count == b->count;
    for (size_t i = 0; same && i < a->count; i++)
        same = strcmp(a->list[i].name, b->list[i].name) == 0 && strcmp(a->list[i].value, b->list[i].value) == 0 &&
               (a->list[i].device == NULL) == (b->list[i].device == NULL);
    return same;
}

/* A device whose rates were found to be these, whatever it is really worth: fast, and any recipe
 * but the standard ones the fastest; or slow, and the standard ones the fastest. */
static calibration found(const calibration *measured, double standard_per_s, double other_per_s)
{
    calibration c = *measured;
    for (int i = 0; i < LEY_ROOT_COUNT; i++)
        c.roots_per_s[i] = measured->roots_per_s[i] == 0 ? 0 : i == LEY_ROOT_STANDARD ? standard_per_s : other_per_s;
    for (int i = 0; i < LEY_EXP_COUNT; i++)
        c.exps_per_s[i] = measured->exps_per_s[i] == 0 ? 0 : i == LEY_EXP_STANDARD ? standard_per_s : other_per_s;
    return c;
}

static calibration fast(const calibration *measured)
{
    return found(measured, 1e13, 1e14);
}

static calibration slow(const calibration *measured)
{
    return found(measured, 2e6, 2e5);
}

/* ---- The same bytes -------------------------------------------------------------------------- */

static void check_problem(const problem *p)
{
    outcome any = run(p, NULL);
    const calibration measured = device->facts;
    assert_true(device->asked != 0);
    device->facts = fast(&measured);
    outcome first = run(p, NULL);
    device->facts = slow(&measured);
    outcome otherwise = run(p, NULL), again = run(p, first.plan);
    device->facts = measured;
    assert_false(same_plan(first.plan, otherwise.plan)); /* what was measured does decide */
    assert_true(same_bytes(&first, &again));
    assert_true(same_plan(first.plan, again.plan));
    outcome as_slow = run(p, otherwise.plan);
    assert_true(same_bytes(&otherwise, &as_slow));
    if (p->method != SUPPORT_CUTOFF && first.size > 0 && p->sum != LEY_SUM_DOUBLE && p->sum != LEY_SUM_AUTO)
        assert_false(same_bytes(&first, &otherwise));
    release(&first);
    release(&otherwise);
    release(&again);
    release(&as_slow);
    release(&any);
}

static bool has_double(void)
{
    return device->info->has_double;
}

static void test_direct_sums(void **state)
{
    check_problem(&(problem){.method = SUPPORT_DCS, .sum = LEY_SUM_FLOAT, .atoms = 3000});
    if (!support_is_quick())
        check_problem(&(problem){.method = SUPPORT_DCS, .sum = LEY_SUM_COMPENSATED, .atoms = 3000});
    if (has_double())
        check_problem(&(problem){.method = SUPPORT_DCS, .sum = LEY_SUM_DOUBLE, .atoms = 3000});
}

/* Of doubles the parts that are added up depend on how large slabs are. */
static void test_boundaries(void **state)
{
    check_problem(&(problem){.method = SUPPORT_MDH, .sum = LEY_SUM_FLOAT, .atoms = 3000});
    if (!has_double())
        return;
    const problem doubles = {.method = SUPPORT_MDH, .sum = LEY_SUM_DOUBLE, .atoms = 3000};
    check_problem(&doubles);
    const calibration measured = device->facts;
    device->facts = fast(&measured);
    outcome all = run(&doubles, NULL);
    device->facts = measured;
    job_plan *given = NULL;
    assert_int_equal(plan_copy(all.plan, &given, NULL), LEY_OK);
    for (size_t i = 0; i < given->count; i++)
        if (strcmp(given->list[i].name, "slab") == 0) {
            free((char *)(uintptr_t)given->list[i].value);
            given->list[i].value = strdup("3");
        }
    outcome thin = run(&doubles, given);
    assert_string_equal(plan_word(thin.plan, device->info, "slab"), "3");
    assert_false(same_bytes(&all, &thin));
    plan_destroy(given);
    release(&all);
    release(&thin);
}

static void test_short_range_sums(void **state)
{
    check_problem(&(problem){.method = SUPPORT_CUTOFF, .pair = LEY_PAIR_TAYLOR2, .atoms = 2000});
    if (!support_is_quick())
        check_problem(&(problem){.method = SUPPORT_CUTOFF, .pair = LEY_PAIR_YUKAWA, .atoms = 2000});
}

/* Which sum "auto" came to is part of the plan: it is not asked again. */
static void test_auto_sums(void **state)
{
    const problem p = {.method = SUPPORT_DCS, .sum = LEY_SUM_AUTO, .atoms = 500};
    static ley_decision doubles[] = {{NULL, "method", "dcs"}, {NULL, "sum", "double"}},
                        floats[] = {{NULL, "method", "dcs"}, {NULL, "sum", "float"}};
    outcome a = run(&p, NULL), b = run(&p, a.plan);
    assert_true(same_bytes(&a, &b));
    assert_int_equal(a.sum, b.sum);
    outcome f = run(&p, &(job_plan){.count = 2, .list = floats});
    assert_int_equal(f.sum, LEY_SUM_FLOAT);
    if (has_double()) {
        outcome d = run(&p, &(job_plan){.count = 2, .list = doubles});
        assert_int_equal(d.sum, LEY_SUM_DOUBLE);
        release(&d);
    }
    release(&a);
    release(&b);
    release(&f);
}

/* What is left to the plan is the plan's: "auto" takes its math, and the report says so. */
static void test_math_of_the_plan(void **state)
{
    const problem standard = {.method = SUPPORT_DCS, .atoms = 500, .is_standard = true},
                  left = {.method = SUPPORT_DCS, .atoms = 500};
    outcome a = run(&standard, NULL), b = run(&left, a.plan);
    assert_string_equal(plan_word(a.plan, NULL, "math"), "standard");
    assert_string_equal(plan_word(b.plan, NULL, "math"), "standard");
    assert_true(same_plan(a.plan, b.plan) && same_bytes(&a, &b));
    static ley_decision native[] = {{NULL, "method", "dcs"}, {NULL, "math", "native"}};
    outcome c = run(&left, &(job_plan){.count = 2, .list = native});
    assert_string_equal(plan_word(c.plan, NULL, "math"), "native");
    release(&a);
    release(&b);
    release(&c);
}

/* Nobody's plan has that many decisions, which are each compared with all. */
static void test_very_many_decisions(void **state)
{
    enum { MANY = 100000 };
    ley_decision *list = calloc(MANY, sizeof *list);
    ley_error error = {0};
    ley_job *job = NULL;
    ley_atoms *atoms = support_atoms(20, 2, 10, 3);
    const problem p = {.method = SUPPORT_DCS};
    for (size_t i = 0; i < MANY; i++)
        list[i] = (ley_decision){NULL, "method", "dcs"};
    ley_map *map = support_make_map(&small);
    assert_int_equal(create(&p, atoms, map, NULL, &(job_plan){.count = MANY, .list = list}, &job, &error),
                     LEY_ERROR_USAGE);
    assert_non_null(strstr(error.message, "plan: it has 100000 decisions, at most 4096 are possible"));
    ley_map_destroy(map);
    ley_atoms_destroy(atoms);
    ley_error_clear(&error);
    free(list);
}

/* A plan that says where steps are done, and nothing else. */
static void test_places(void **state)
{
    const problem p = {.method = SUPPORT_CUTOFF, .pair = LEY_PAIR_TAYLOR2, .atoms = 2000};
    const char *const places[] = {"host", "device"};
    for (int i = 0; i < 2; i++) {
        ley_decision list[] = {{NULL, "transposition", places[i]}, {NULL, "method", "cutoff"}};
        outcome o = run(&p, &(job_plan){.count = 2, .list = list});
        assert_string_equal(plan_word(o.plan, NULL, "transposition"), places[i]);
        release(&o);
    }
}

/* ---- What is no plan ------------------------------------------------------------------------- */

static const char here[] = "*"; /* stands for the device's own name in plans */

static void check_refusal(const problem *p, const ley_decision *list, size_t count, const char *says)
{
    char own[512];
    ley_decision given[8];
    ley_error error = {0};
    ley_atoms *atoms = support_atoms(20, 2, 10, 3);
    ley_job *job = NULL;
    snprintf(own, sizeof own, "%s: %s", device->info->backend->name, device->info->name);
    for (size_t i = 0; i < count; i++) {
        given[i] = list[i];
        if (given[i].device == here)
            given[i].device = own;
    }
    ley_map *map = support_make_map(&small);
    ley_boundary *boundary = support_make_boundary(&faces);
    ley_status status = create(p, atoms, map, boundary, &(job_plan){.count = count, .list = given}, &job, &error);
    const bool is_created = status == LEY_OK;
    if (is_created)
        status = ley_job_run(job, &error);
    if (strstr(error.message, says) == NULL)
        print_message("\"%s\" does not say \"%s\"\n", error.message, says);
    assert_non_null(strstr(error.message, says));
    assert_int_not_equal(status, LEY_OK);
    if (!is_created) {
        assert_int_equal(status, LEY_ERROR_USAGE);
        assert_int_equal(error.cause, LEY_CAUSE_PLAN);
    }
    ley_job_destroy(job);
    ley_boundary_destroy(boundary);
    ley_map_destroy(map);
    ley_atoms_destroy(atoms);
    ley_error_clear(&error);
}

static void test_refusals(void **state)
{
    const problem dcs = {.method = SUPPORT_DCS}, cutoff = {.method = SUPPORT_CUTOFF, .pair = LEY_PAIR_TAYLOR2},
                  mdh = {.method = SUPPORT_MDH}, standard = {.method = SUPPORT_DCS, .is_standard = true},
                  thin = {.method = SUPPORT_DCS, .slab_planes = 9},
                  thin_cutoff = {.method = SUPPORT_CUTOFF, .pair = LEY_PAIR_TAYLOR2, .slab_planes = 9};
    const ley_decision m = {NULL, "method", "dcs"};
    const struct {
        const problem *p;
        size_t count;
        ley_decision list[4];
        const char *says;
    } cases[] = {
        {&dcs, 1, {{NULL, "math", "auto"}}, "does not say of which method"},
        {&cutoff, 1, {m}, "of method dcs, not of cutoff"},
        {&mdh, 2, {{NULL, "binning", "host"}, m}, "of method dcs, not of mdh"},
        {&dcs, 1, {{NULL, "method", "nosuch"}}, "of method nosuch, not of dcs"},
        {&dcs, 2, {m, {NULL, "binning", "host"}}, "'binning' is nothing that method dcs decides"},
        {&dcs, 2, {m, {NULL, "slabs", "1"}}, "'slabs' is nothing"},
        {&dcs, 2, {m, {NULL, NULL, "1"}}, "decision 2 has no name"},
        {&dcs, 2, {m, {NULL, "math", NULL}}, "decision 2 has no name or no value"},
        {&dcs, 2, {m, {NULL, "slab", "1"}}, "slab: it is decided for each device"},
        {&dcs, 2, {m, {here, "math", "auto"}}, "it is decided for the whole job"},
        {&dcs, 2, {m, m}, "method: it is there twice"},
        {&dcs, 3, {m, {here, "slab", "1"}, {here, "slab", "1"}}, "it is there twice"},
        {&dcs, 2, {m, {here, "slab", "0"}}, "0, must be 1 to 2147483647"},
        {&dcs, 2, {m, {here, "slab", "-1"}}, "'-1' is no whole number"},
        {&dcs, 2, {m, {here, "slab", "1.5"}}, "'1.5' is no whole number"},
        {&dcs, 2, {m, {here, "slab", ""}}, "'' is no whole number"},
        {&dcs, 2, {m, {here, "slab", "99999999999999999999"}}, "no whole number"},
        {&dcs, 2, {m, {here, "newton_roots", "65"}}, "65, must be 0 to 64"},
        {&dcs, 2, {m, {here, "launch_atoms", "0"}}, "0, must be 1"},
        {&dcs, 2, {m, {here, "root", "square"}}, "'square', must be one of standard, reciprocal"},
        {&dcs, 2, {m, {here, "variant", "tiled99"}}, "'tiled99', must be one of simple"},
        {&standard, 2, {m, {NULL, "math", "native"}}, "it is for math native, and standard is asked for"},
        {&standard, 2, {m, {NULL, "math", "auto"}}, "it is for math auto, and standard is asked for"},
        {&dcs, 2, {m, {here, "exp", "standard"}}, "'exp' is nothing that method dcs decides"},
        {&cutoff, 2, {{NULL, "method", "cutoff"}, {here, "exp", "native"}}, "'exp' is nothing that method cutoff"},
        {&thin, 2, {m, {here, "slab", "10"}}, ": 10, and at most 9 are asked for (slab 9)"},
        {&thin_cutoff, 2, {{NULL, "method", "cutoff"}, {here, "slab", "3"}}, ": 3, and at most 2 are asked for"},
        {&dcs, 2, {m, {NULL, "sum", "double"}}, "it is for sum double, and float is asked for"},
        {&dcs, 2, {m, {NULL, "sum", "auto"}}, "'auto', must be one of float, compensated, double"},
        {&dcs, 2, {m, {"opencl: another card", "slab", "1"}}, "it has no part in the plan"},
        {&dcs, 2, {m, {here, "newton_roots", "64"}}, "special functions are for the multipliers, at most"},
        {&dcs, 2, {m, {here, "root", "ptx"}}, "root ptx is not to be had here"},
        {&cutoff, 2, {{NULL, "method", "cutoff"}, {NULL, "binning", "moon"}}, "binning: 'moon', must be one of host"},
        {&cutoff, 2, {{NULL, "method", "cutoff"}, {here, "launch_atoms", "9"}}, "'launch_atoms' is nothing"},
        {&mdh, 2, {{NULL, "method", "mdh"}, {here, "polynomial_exps", "65"}}, "65, must be 0 to 64"},
        {&mdh, 2, {{NULL, "method", "mdh"}, {here, "exp", "ptx"}}, "exp ptx is not to be had here"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_refusal(cases[i].p, cases[i].list, cases[i].count, cases[i].says);
}

/* What the options settle, no plan changes. */
static void test_options_and_plan(void **state)
{
    ley_error error = {0};
    const ley_decision list[] = {{NULL, "method", "cutoff"}, {NULL, "transposition", "host"}};
    ley_run_options options = support_default_run_options();
    options.decision_count = 2;
    options.decisions = list;
    ley_short_range range = support_default_short_range();
    range.cutoff_A = 5;
    range.transposition = LEY_PLACE_DEVICE;
    ley_atoms *atoms = support_atoms(20, 2, 10, 3);
    ley_job *job = NULL;
    ley_map *map = support_make_map(&small);
    assert_ok(ley_job_create_short_range(engine, atoms, (ley_target){.map = map}, &range, &options, &job, &error));
    assert_int_equal(ley_job_run(job, &error), LEY_ERROR_USAGE);
    assert_int_equal(error.cause, LEY_CAUSE_PLAN);
    assert_non_null(strstr(error.message, "transposition is to be the host's, and the options say otherwise"));
    ley_job_destroy(job);
    ley_map_destroy(map);
    ley_atoms_destroy(atoms);
    ley_error_clear(&error);
}

/* At level quick devices but the first have one kind of sums: plans are the host's. */
static int run_on(const char *selector, const ley_device_info *info)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_short_range_sums), cmocka_unit_test(test_direct_sums),
        cmocka_unit_test(test_boundaries),       cmocka_unit_test(test_auto_sums),
        cmocka_unit_test(test_math_of_the_plan), cmocka_unit_test(test_very_many_decisions),
        cmocka_unit_test(test_places),           cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_options_and_plan),
    };
    const size_t all = sizeof tests / sizeof *tests;
    char group[512];
    snprintf(group, sizeof group, "plans on %s (%s)", info->name, selector);
    if (!support_open(selector, info->name, &engine))
        return 1;
    device = engine->workers[0].device;
    const int failures =
        _cmocka_run_group_tests(group, tests, support_is_quick() && info->index > 0 ? 1 : all, NULL, NULL);
    ley_engine_destroy(engine);
    return failures;
}

int main(void)
{
    return support_on_each_device(run_on);
}
