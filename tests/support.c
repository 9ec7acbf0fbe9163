#include "support.h"
#undef _cmocka_run_group_tests

#include "law/dcs.h"
#include "law/pairs.h"
#include "law/reference.h"
#include "methods/cutoff/short_range.h"
#include "parallel.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

void assert_ok_at(ley_status status, const ley_error *error, const char *call, const char *file, int line)
{
    if (status == LEY_OK)
        return;
    print_error("%s: %s: %s\n%s\n", call, ley_status_name(status), error->message,
                error->log != NULL ? error->log : "");
    _fail(file, line);
}

void assert_error_at(ley_status status, ley_status expected, const ley_error *error, const char *says, bool is_all,
                     const char *file, int line)
{
    if (status == expected && (is_all ? strcmp(error->message, says) == 0 : strstr(error->message, says) != NULL))
        return;
    print_error("%s: %s; expected %s: %s\n", ley_status_name(status), error->message, ley_status_name(expected), says);
    _fail(file, line);
}

/* In place of tests that have another turn: TEST_LEAVE_OUT has their names, one a line. */
static void has_another_turn(void **state)
{
    skip();
}

static bool is_left_out(const char *name)
{
    const char *names = getenv("TEST_LEAVE_OUT");
    const size_t length = strlen(name);
    for (const char *at = names; at != NULL && (at = strstr(at, name)) != NULL; at += length)
        if ((at == names || at[-1] == '\n') && (at[length] == '\n' || at[length] == '\0'))
            return true;
    return false;
}

int support_run_tests(const char *title, const struct CMUnitTest *tests, size_t count, CMFixtureFunction begin,
                      CMFixtureFunction end)
{
    struct CMUnitTest *list = calloc(count, sizeof *list);
    for (size_t i = 0; i < count; i++)
        list[i] = is_left_out(tests[i].name) ? (struct CMUnitTest){tests[i].name, has_another_turn, NULL, NULL, NULL}
                                             : tests[i];
    const int failures = _cmocka_run_group_tests(title, list, count, begin, end);
    free(list);
    return failures;
}

int support_run_group(support_group group, const char *names, const CMUnitTestFunction *tests, size_t count)
{
    char title[512], *rest = NULL, *words = strdup(names);
    struct CMUnitTest *list = calloc(count, sizeof *list);
    snprintf(title, sizeof title, "%s", group.name != NULL ? group.name : "tests");
    if (group.opened != NULL && group.device == NULL &&
        !(group.selector != NULL ? support_open(group.selector, "a device", group.opened)
                                 : support_open_default(group.opened)))
        return 1;
    if (group.device != NULL) {
        snprintf(title, sizeof title, "%s on %s (%s)", group.name, group.device->name, group.selector);
        if (!support_open(group.selector, group.device->name, group.opened))
            return 1;
    }
    for (size_t i = 0; i < count; i++)
        list[i] = (struct CMUnitTest){strtok_r(i == 0 ? words : NULL, ", ", &rest), tests[i], group.each, NULL, NULL};
    const int failures = support_run_tests(title, list, count, group.begin, group.end);
    if (group.opened != NULL)
        ley_engine_destroy(*group.opened);
    free(words);
    free(list);
    return failures;
}

support_level support_get_level(void)
{
    const char *level = getenv("TEST_LEVEL");
    if (level == NULL || strcmp(level, "quick") == 0)
        return SUPPORT_QUICK;
    if (strcmp(level, "pairwise") != 0 && strcmp(level, "full") != 0) {
        fprintf(stderr, "TEST_LEVEL=%s: it is quick, pairwise or full\n", level);
        exit(2);
    }
    return strcmp(level, "full") == 0 ? SUPPORT_FULL : SUPPORT_PAIRWISE;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
const bool support_is_sanitized = true;
#else
const bool support_is_sanitized = false;
#endif

#ifdef __SANITIZE_THREAD__
const bool support_watches_threads = true;
#else
const bool support_watches_threads = false;
#endif

bool support_is_quick(void)
{
    return support_get_level() == SUPPORT_QUICK;
}

int support_variants(const char *method, ley_target_kind target)
{
    int count = 0;
    while (ley_variant_name(method, target, (size_t)count) != NULL)
        count++;
    return count;
}

ley_math support_math(int i)
{
    static const ley_math maths[] = {LEY_MATH_AUTO, LEY_MATH_STANDARD, LEY_MATH_NATIVE};
    return maths[i];
}

bool support_has_vectors(const ley_engine *engine)
{
    const ley_device_info *info = ley_engine_device(engine, 0);
    return info->device_class == LEY_CLASS_CPU && strcmp(info->platform, "rusticl") != 0;
}

bool support_tries_variant(const ley_engine *engine, const char *variant)
{
    return !support_is_quick() || variant == NULL ||
           (strncmp(variant, "vector", 6) == 0) == support_has_vectors(engine);
}

double support_uniform(unsigned *state)
{
    return rand_r(state) / (RAND_MAX + 1.0);
}

double *support_points_near(const ley_atoms *atoms, size_t n, size_t upon, double least_A, double most_A, unsigned seed)
{
    double *point_A = calloc(3 * n, sizeof(double));
    assert_non_null(point_A);
    for (size_t i = 0; i < n; i++) {
        const double *atom_A = ley_atoms_positions_A(atoms) + 3 * ((size_t)rand_r(&seed) % ley_atoms_count(atoms));
        const double z = 2 * support_uniform(&seed) - 1, angle = 6.283185307179586 * support_uniform(&seed),
                     across = sqrt(1 - z * z);
        const double towards[3] = {across * cos(angle), across * sin(angle), z};
        const double distance_A = i < n - upon ? least_A * pow(most_A / least_A, support_uniform(&seed)) : 0;
        for (size_t axis = 0; axis < 3; axis++)
            point_A[3 * i + axis] = atom_A[axis] + distance_A * towards[axis];
    }
    return point_A;
}

static const int salt[8][3] = {{0, 0, 0}, {2, 2, 0}, {2, 0, 2}, {0, 2, 2}, {2, 0, 0}, {0, 2, 0}, {0, 0, 2}, {2, 2, 2}};
static const int blende[8][3] = {{0, 0, 0}, {2, 2, 0}, {2, 0, 2}, {0, 2, 2},
                                 {1, 1, 1}, {3, 3, 1}, {3, 1, 3}, {1, 3, 3}};
static const int caesium[2][3] = {{0, 0, 0}, {2, 2, 2}};
#define HALF_ROOT_3 0.8660254037844386
const support_crystal support_crystals[SUPPORT_CRYSTALS] = {{"NaCl", 8, 2, 1, 1.747564594633, salt},
                                                            {"CsCl", 2, 1, HALF_ROOT_3, 1.762674773071, caesium},
                                                            {"ZnS", 8, 2, HALF_ROOT_3, 1.638055053389, blende}};

ley_atoms *support_make_atoms(size_t n, const double *position_A, const double *charge_e, const double *radius_A)
{
    ley_error error = {0};
    ley_atoms *made = NULL;
    assert_ok(ley_atoms_create(n, position_A, charge_e, radius_A, &made, &error));
    return made;
}

#define MAKES(kind, parameters, ...) \
    ley_##kind *support_make_##kind(parameters) \
    { \
        ley_error error = {0}; \
        ley_##kind *made = NULL; \
        assert_ok(ley_##kind##_create(__VA_ARGS__, &made, &error)); \
        return made; \
    }

MAKES(map, const ley_grid *grid, grid)
MAKES(boundary, const ley_grid *grid, grid)
MAKES(engine, const char *selector, selector)

ley_points *support_make_points(int64_t n, const double *point_A)
{
    ley_error error = {0};
    ley_points *made = NULL;
    assert_ok(ley_points_create(n, point_A, &made, &error));
    return made;
}

ley_atoms *support_atoms(size_t n, double low_A, double high_A, unsigned seed)
{
    ley_error error = {0};
    ley_atoms *atoms = NULL;
    double *position_A = calloc(3 * n, sizeof(double)), *charge_e = calloc(n, sizeof(double)), total = 0;
    for (size_t i = 0; i < n; i++) {
        for (int axis = 0; axis < 3; axis++) {
            position_A[3 * i + axis] = low_A + (high_A - low_A) * support_uniform(&seed);
            if (i % 13 == 0)
                position_A[3 * i + axis] = 0.5 * floor(2 * position_A[3 * i + axis]);
        }
        charge_e[i] = 2 * support_uniform(&seed) - 1;
        total += charge_e[i];
    }
    for (size_t i = 0; i < n; i++)
        charge_e[i] -= total / (double)n;
    assert_ok(ley_atoms_create(n, position_A, charge_e, NULL, &atoms, &error));
    free(position_A);
    free(charge_e);
    return atoms;
}

ley_atoms *support_scattered(size_t n, const ley_grid *l, double beyond, double largest_radius_A, unsigned seed)
{
    ley_error error = {0};
    ley_atoms *atoms = NULL;
    double *position_A = calloc(5 * n, sizeof(double)), *charge_e = position_A + 3 * n, *radius_A = position_A + 4 * n;
    assert_non_null(position_A);
    for (size_t i = 0; i < n; i++) {
        for (int axis = 0; axis < 3; axis++) {
            const double place = floor(support_uniform(&seed) * ((double)l->n[axis] - 1 + 2 * beyond) - beyond);
            position_A[3 * i + (size_t)axis] =
                l->origin_A[axis] + (place + 0.25 + 0.5 * support_uniform(&seed)) * l->step_A[axis][axis];
        }
        charge_e[i] = i % 11 == 7 ? 0 : 2 * support_uniform(&seed) - 1;
        radius_A[i] = largest_radius_A * support_uniform(&seed);
    }
    radius_A[0] = largest_radius_A;
    assert_ok(ley_atoms_create(n, position_A, charge_e, radius_A, &atoms, &error));
    free(position_A);
    return atoms;
}

double support_difference(const ley_map *a, const ley_map *b)
{
    const int64_t n = ley_grid_points(ley_map_grid(a));
    const float *x = ley_map_read_values(a), *y = ley_map_read_values(b);
    double error = 0, square = 0;
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(x[i]))
            return INFINITY;
        error += ((double)x[i] - (double)y[i]) * ((double)x[i] - (double)y[i]);
        square += (double)y[i] * (double)y[i];
    }
    return sqrt(error / square);
}

ley_map *support_reference_map(const ley_atoms *atoms, const ley_grid *grid, double r_min_A)
{
    ley_error error = {0};
    ley_map *map = NULL;
    assert_ok(ley_map_create(grid, &map, &error));
    float *values = ley_map_values(map);
    const double constant = ley_coulomb_constant(LEY_UNITS_KT_E, 1, 298.15);
    for (int64_t z = 0; z < grid->n[2]; z++)
        for (int64_t y = 0; y < grid->n[1]; y++)
            for (int64_t x = 0; x < grid->n[0]; x++) {
                const double point_A[3] = {grid->origin_A[0] + (double)x * grid->step_A[0][0],
                                           grid->origin_A[1] + (double)y * grid->step_A[1][1],
                                           grid->origin_A[2] + (double)z * grid->step_A[2][2]};
                *values++ = (float)reference_dcs(atoms, point_A, constant, r_min_A).value;
            }
    return map;
}

support_options support_default_options(void)
{
    ley_direct direct;
    ley_run_options run;
    ley_direct_default(&direct);
    ley_run_options_default(&run);
    support_options options = {.method = SUPPORT_DCS,
                               .units = direct.units,
                               .dielectric = direct.dielectric,
                               .temperature_K = direct.temperature_K,
                               .r_min_A = direct.r_min_A,
                               .math = run.math,
                               .sum = run.sum,
                               .verify_points = run.verify_points,
                               .verify_seed = run.verify_seed};
    ley_short_range_default(&options.short_range);
    return options;
}

ley_run_options support_run_options(const support_options *o)
{
    ley_run_options run;
    ley_run_options_default(&run);
    run.math = o->math;
    run.sum = o->sum;
    run.variant = o->variant;
    run.slab_planes = o->slab_planes;
    run.verify_points = o->verify_points;
    run.verify_seed = o->verify_seed;
    run.verify_least = o->verify_least;
    run.progress = o->progress;
    run.progress_context = o->progress_context;
    return run;
}

ley_direct support_direct(const support_options *o)
{
    return (ley_direct){.size = sizeof(ley_direct),
                        .units = o->units,
                        .dielectric = o->dielectric,
                        .temperature_K = o->temperature_K,
                        .r_min_A = o->r_min_A};
}

ley_short_range support_range(const support_options *o)
{
    ley_short_range range = o->short_range;
    range.units = o->units;
    range.dielectric = o->dielectric;
    range.temperature_K = o->temperature_K;
    range.r_min_A = o->r_min_A;
    return range;
}

ley_status support_job_create(ley_engine *engine, const ley_atoms *atoms, ley_map *map, const support_options *o,
                              ley_job **job, ley_error *error)
{
    const ley_run_options run = support_run_options(o);
    const ley_direct direct = support_direct(o);
    const ley_short_range range = support_range(o);
    return o->method == SUPPORT_CUTOFF
               ? ley_job_create_short_range(engine, atoms, (ley_target){.map = map}, &range, &run, job, error)
               : ley_job_create_direct(engine, atoms, (ley_target){.map = map}, &direct, &run, job, error);
}

ley_status support_job_create_boundary(ley_engine *engine, const ley_atoms *atoms, ley_boundary *boundary,
                                       const ley_solvent *solvent, const support_options *o, ley_job **job,
                                       ley_error *error)
{
    const ley_run_options run = support_run_options(o);
    return ley_job_create_boundary(engine, atoms, (ley_target){.boundary = boundary}, solvent, &run, job, error);
}

ley_status support_check_memory(const ley_atoms *atoms, const ley_grid *grid, const support_options *o,
                                ley_error *error)
{
    const ley_direct direct = support_direct(o);
    const ley_short_range range = support_range(o);
    return o->method == SUPPORT_CUTOFF ? ley_short_range_check_memory(atoms, grid, &range, error)
                                       : ley_direct_check_memory(atoms, grid, &direct, error);
}

static ley_note note_of(const ley_report *report, const char *name)
{
    const ley_note *note = ley_report_note(report, name);
    return note != NULL ? *note : (ley_note){.name = name, .text = ""};
}

static ley_place place_of(const ley_report *report, const char *name)
{
    const char *text = note_of(report, name).text;
    return strcmp(text, "host") == 0 ? LEY_PLACE_HOST : strcmp(text, "device") == 0 ? LEY_PLACE_DEVICE : LEY_PLACE_AUTO;
}

support_notes support_notes_of(const ley_report *r)
{
    support_notes n = {.bins = note_of(r, "bins").count,
                       .bin_depth = note_of(r, "bin_depth").count,
                       .binned = note_of(r, "binned").count,
                       .overflow = note_of(r, "overflow").count,
                       .outside = note_of(r, "outside").count,
                       .neutral = note_of(r, "neutral").count,
                       .binning = place_of(r, "binning"),
                       .transposition = place_of(r, "transposition"),
                       .binning_s = note_of(r, "binning_s").number[0],
                       .transposition_s = note_of(r, "transposition_s").number[0]};
    memcpy(n.bin_side_A, note_of(r, "bin_side_A").number, sizeof n.bin_side_A);
    return n;
}

ley_map *support_run(ley_engine *engine, const ley_atoms *atoms, const ley_grid *grid, const support_options *options)
{
    ley_error error = {0};
    ley_map *map = NULL;
    ley_job *job = NULL;
    assert_ok(ley_map_create(grid, &map, &error));
    assert_ok(support_job_create(engine, atoms, map, options, &job, &error));
    assert_ok(ley_job_run(job, &error));
    ley_job_destroy(job);
    return map;
}

support_job support_job_run(ley_atoms *atoms, const ley_grid *grid, const char *selector,
                            const support_options *options)
{
    support_job o = {.status = LEY_OK, .atoms = atoms, .options = *options};
    ley_error error = {0};
    assert_ok(ley_map_create(grid, &o.map, &error));
    o.status = ley_engine_create(selector, &o.engine, &o.error);
    if (o.status != LEY_OK)
        return o;
    assert_ok(support_job_create(o.engine, o.atoms, o.map, options, &o.job, &error));
    o.status = ley_job_run(o.job, &o.error);
    return o;
}

void support_job_end(support_job *j)
{
    ley_job_destroy(j->job);
    ley_map_destroy(j->map);
    ley_engine_destroy(j->engine);
    ley_atoms_destroy(j->atoms);
    ley_error_clear(&j->error);
}

support_points_job support_points_run(ley_engine *engine, const ley_atoms *atoms, size_t n, const double *point_A,
                                      const support_options *options, bool field)
{
    support_points_job o = {.status = LEY_OK, .points = support_make_points((int64_t)n, point_A)};
    ley_error error = {0};
    const ley_short_range range = support_range(options);
    const ley_direct direct = support_direct(options);
    const ley_run_options run = support_run_options(options);
    if (field)
        assert_ok(ley_points_add_field(o.points, &error));
    if (options->method == SUPPORT_DCS)
        assert_ok(
            ley_job_create_direct(engine, atoms, (ley_target){.points = o.points}, &direct, &run, &o.job, &error));
    else
        assert_ok(
            ley_job_create_short_range(engine, atoms, (ley_target){.points = o.points}, &range, &run, &o.job, &error));
    o.status = ley_job_run(o.job, &o.error);
    return o;
}

void support_points_end(support_points_job *j)
{
    ley_job_destroy(j->job);
    ley_points_destroy(j->points);
    ley_error_clear(&j->error);
}

double support_cpu_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* For a thread of its own. */
static double cancelled_at_s;

typedef struct cancellation {
    ley_job *job;
    unsigned after_us;
} cancellation;

static void *cancel(void *context)
{
    const cancellation *c = context;
    usleep(c->after_us);
    cancelled_at_s = support_cpu_s(); /* read once the thread is joined */
    ley_job_cancel(c->job);
    free(context);
    return NULL;
}

pthread_t support_cancel_later(ley_job *job, unsigned after_us)
{
    pthread_t thread;
    cancellation *c = malloc(sizeof *c);
    assert_non_null(c);
    *c = (cancellation){job, after_us};
    assert_int_equal(pthread_create(&thread, NULL, cancel, c), 0);
    return thread;
}

double support_cpu_since_cancelled_s(void)
{
    return support_cpu_s() - cancelled_at_s;
}

/* ---- Short-range jobs ------------------------------------------------------------------------ */

ley_atoms *support_crowd(size_t n, const ley_grid *l, double beyond_A, unsigned seed)
{
    ley_error error = {0};
    ley_atoms *atoms = NULL;
    double *position_A = calloc(5 * n, sizeof(double)), *charge_e = position_A + 3 * n, *radius_A = position_A + 4 * n;
    assert_non_null(position_A);
    for (size_t i = 0; i < n; i++) {
        for (int axis = 0; axis < 3; axis++) {
            const double h_A = l->step_A[axis][axis], length_A = (double)(l->n[axis] - 1) * h_A;
            double at_A = support_uniform(&seed) * (length_A + 2 * beyond_A) - beyond_A;
            if (i % 13 == 2)
                at_A = floor(at_A / h_A) * h_A;
            if (i % 13 == 6)
                at_A = (floor(at_A / h_A) + 0.02 * support_uniform(&seed)) * h_A;
            if (i % 7 == 5)
                at_A = length_A / 3 + 0.4 * support_uniform(&seed);
            position_A[3 * i + (size_t)axis] = l->origin_A[axis] + at_A;
        }
        charge_e[i] = i % 17 == 9 ? 0 : 2 * support_uniform(&seed) - 1;
        radius_A[i] = 1 + support_uniform(&seed);
    }
    assert_ok(ley_atoms_create(n, position_A, charge_e, radius_A, &atoms, &error));
    free(position_A);
    return atoms;
}

support_options support_short_range(ley_pair pair, double cutoff_A)
{
    support_options options = support_default_options();
    options.method = SUPPORT_CUTOFF;
    options.short_range.pair = pair;
    options.short_range.cutoff_A = cutoff_A;
    options.short_range.kappa_per_A = 0.3;
    if (pair == LEY_PAIR_EXPRESSION)
        options.short_range.expression = "q*exp(-kappa*r2)/r + 0.1*q*(1 - r/cutoff)^3";
    if (ley_pair_get(pair)->is_energy)
        options.r_min_A = 1;
    return options;
}

typedef struct judged {
    const ley_map *map;
    const ley_atoms *atoms, *magnitudes; /* with |q|, or each 1 */
    const support_options *options;
    expression *e;
    double constant;
    int64_t step;                      /* each so-manieth point counts, along each axis */
    double *error, *right, *magnitude; /* [points] */
} judged;

/* Functions that vanish at the cutoff are differences of 1/r and something as large: that counts.
 * Terms of radii have either sign, whatever the charges: there the value counts, and for each atom
 * what is more than its terms where they cancel. */
static double magnitude_at(const judged *j, const double point_A[3], double right)
{
    ley_short_range s = j->options->short_range;
    if (ley_pair_get(s.pair)->is_energy) {
        s.pair = LEY_PAIR_DISTANCE_DIELECTRIC;
        return fabs(right) + 10 * reference_short_range(j->magnitudes, &s, NULL, point_A, 1, j->options->r_min_A).value;
    }
    if (ley_pair_get(s.pair)->vanishes)
        s.pair = LEY_PAIR_COULOMB;
    s.cutoff_A *= 1.02; /* where rounding may still have the better of a difference */
    return fabs(reference_short_range(j->magnitudes, &s, j->e, point_A, j->constant, j->options->r_min_A).value);
}

static void judge(void *context, size_t first, size_t last)
{
    const judged *j = context;
    const ley_grid *l = ley_map_grid(j->map);
    for (size_t i = first; i < last; i++) {
        const int64_t at[3] = {(int64_t)i % l->n[0], (int64_t)i / l->n[0] % l->n[1], (int64_t)i / l->n[0] / l->n[1]};
        double point_A[3];
        for (int axis = 0; axis < 3; axis++)
            point_A[axis] = l->origin_A[axis] + (double)at[axis] * l->step_A[axis][axis];
        const double value = (double)ley_map_read_values(j->map)[i];
        if ((at[0] + at[1] + at[2]) % j->step != 0 && isfinite(value))
            continue;
        const reference_value right =
            reference_short_range(j->atoms, &j->options->short_range, j->e, point_A, j->constant, j->options->r_min_A);
        j->right[i] = right.value;
        j->magnitude[i] = magnitude_at(j, point_A, j->right[i]);
        const double off = value - j->right[i];
        j->error[i] = off < right.lower    ? off - right.lower
                      : off > right.higher ? off - right.higher
                      : isnan(off)         ? off
                                           : 0;
        if (right.lower == 0 && right.higher == 0)
            j->error[i] = off;
    }
}

static ley_atoms *with_magnitudes(const ley_atoms *atoms, ley_pair pair)
{
    const bool of_radii = ley_pair_get(pair)->is_energy;
    ley_error error = {0};
    ley_atoms *made = NULL;
    const size_t n = ley_atoms_count(atoms);
    double *charge_e = calloc(n, sizeof *charge_e);
    assert_non_null(charge_e);
    for (size_t i = 0; i < n; i++)
        charge_e[i] = of_radii ? 1 : fabs(ley_atoms_charges_e(atoms)[i]);
    assert_ok(ley_atoms_create(n, ley_atoms_positions_A(atoms), charge_e, ley_atoms_radii_A(atoms), &made, &error));
    free(charge_e);
    return made;
}

support_error support_short_range_error(const ley_map *map, const ley_atoms *atoms, const support_options *options)
{
    ley_error error = {0};
    const size_t n = (size_t)ley_grid_points(ley_map_grid(map));
    const double c = ley_coulomb_constant(options->units, options->dielectric, options->temperature_K);
    ley_atoms *magnitudes = with_magnitudes(atoms, options->short_range.pair);
    judged j = {.map = map,
                .atoms = atoms,
                .magnitudes = magnitudes,
                .options = options,
                .constant = short_range_constant(&options->short_range, c),
                .step = n > 1000 && support_is_quick() ? 3 : 1,
                .error = calloc(3 * n, sizeof(double))};
    assert_non_null(j.error);
    j.right = j.error + n;
    j.magnitude = j.right + n;
    if (options->short_range.pair == LEY_PAIR_EXPRESSION)
        assert_ok(short_range_expression(&options->short_range, options->dielectric, &j.e, &error));
    parallel_ranges(n, judge, &j);
    double error2 = 0, right2 = 0;
    support_error e = {0, 0};
    for (size_t i = 0; i < n; i++) {
        error2 += j.error[i] * j.error[i];
        right2 += j.right[i] * j.right[i];
        const double part = j.error[i] == 0 ? 0 : fabs(j.error[i]) / j.magnitude[i];
        e.worst = isfinite(part) ? fmax(e.worst, part) : INFINITY;
    }
    e.rms = error2 == 0 ? 0 : isfinite(error2) ? sqrt(error2 / right2) : INFINITY;
    expression_destroy(j.e);
    ley_atoms_destroy(magnitudes);
    free(j.error);
    return e;
}

/* ---- Faults in kernels ----------------------------------------------------------------------- */

static void write_changed(const char *path, const char *text, const char *from, const char *to, int *changes)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    for (const char *at; from != NULL && (at = strstr(text, from)) != NULL; text = at + strlen(from)) {
        fprintf(file, "%.*s%s", (int)(at - text), text, to);
        ++*changes;
    }
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

/* Whether `changed` names this file, or, without a dot, the kernel that it is of: dcs.cl and
 * dcs_group.h are of dcs. */
static bool is_of(const char *file, const char *changed)
{
    const size_t length = strlen(changed);
    if (strchr(changed, '.') != NULL)
        return strcmp(file, changed) == 0;
    return strncmp(file, changed, length) == 0 && (file[length] == '.' || file[length] == '_');
}

/* Returns how often `from` was there. */
static int copy_kernels(const char *tree, const char *target, const char *changed, const char *from, const char *to)
{
    char source[600], path[900];
    int changes = 0;
    DIR *listing = opendir(tree);
    assert_non_null(listing);
    assert_int_equal(mkdir(target, 0700), 0);
    for (struct dirent *entry; (entry = readdir(listing)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(source, sizeof source, "%s/%s", tree, entry->d_name);
        snprintf(path, sizeof path, "%s/%s", target, entry->d_name);
        if (entry->d_type == DT_DIR) {
            changes += copy_kernels(source, path, changed, from, to);
            continue;
        }
        char *text = support_read_file(source, NULL);
        write_changed(path, text, is_of(entry->d_name, changed) ? from : NULL, to, &changes);
        free(text);
    }
    closedir(listing);
    return changes;
}

void support_copy_kernels(const char *tree, const char *target, const char *changed, const char *from, const char *to)
{
    if (copy_kernels(tree, target, changed, from, to) == 0)
        fail_msg("%s has no '%s' in %s", tree, from, changed);
}

void support_plant_fault(const char *kernel, const char *from, const char *to)
{
    static int number;
    char path[256], tree[300];
    snprintf(path, sizeof path, "%s/fault%d", support_directory(), ++number);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(tree, sizeof tree, "%s/kernels_cuda", path);
    int changes = copy_kernels("kernels_cuda", tree, kernel, from, to);
    snprintf(tree, sizeof tree, "%s/cl", path);
    changes += copy_kernels("cl", tree, kernel, from, to);
    if (changes == 0)
        fail_msg("kernel %s has no '%s'", kernel, from);
    setenv("LEYDEN_KERNEL_DIR", tree, 1);
}

/* ---- Files ----------------------------------------------------------------------------------- */

static char directory[] = "/tmp/leyden_test_XXXXXX";

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *walk)
{
    (void)status, (void)type, (void)walk;
    return remove(path);
}

static void remove_directory(void)
{
    nftw(directory, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

const char *support_directory(void)
{
    static bool made;
    if (!made) {
        assert_non_null(mkdtemp(directory));
        atexit(remove_directory);
        made = true;
    }
    return directory;
}

void support_fresh_cache(void)
{
    static int count;
    char path[256];
    snprintf(path, sizeof path, "%s/cache%d", support_directory(), count++);
    setenv("LEYDEN_CACHE_DIR", path, 1);
}

char *support_read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        fail_msg("%s: %s", path, strerror(errno));
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    const size_t length = (size_t)ftell(file);
    rewind(file);
    char *bytes = calloc(length + 1, 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, length, file), length);
    fclose(file);
    if (size != NULL)
        *size = length;
    return bytes;
}

/* ---- Devices --------------------------------------------------------------------------------- */

int support_on_each_device(int (*run)(const char *selector, const ley_device_info *info))
{
    ley_device_list *list = NULL;
    int failures = 0;
    if (ley_device_list_create(&list, NULL) != LEY_OK || ley_device_list_count(list) == 0) {
        print_error("no device to test on\n");
        return 1;
    }
    for (size_t i = 0; i < ley_device_list_count(list); i++) {
        char selector[32];
        const ley_device_info *info = ley_device_list_get(list, i);
        if (info->unusable != NULL)
            continue;
        snprintf(selector, sizeof selector, "%s:%d", info->path, info->index);
        failures += run(selector, info);
    }
    ley_device_list_destroy(list);
    return failures;
}

/* Drivers' own handlers of exit() do not survive a thread that is still in them, as one that builds
 * what no job waited for. They were there before this one, which is called first. */
static void leave_drivers(int code, void *nothing)
{
    (void)nothing;
    if (!ley_driver_is_stuck())
        return;
    fflush(NULL);
    _exit(code);
}

bool support_open(const char *selector, const char *name, ley_engine **engine)
{
    static bool is_watched;
    ley_error error = {0};
    const ley_status status = ley_engine_create(selector, engine, &error);
    if (!is_watched)
        on_exit(leave_drivers, NULL);
    is_watched = true;
    if (status != LEY_OK)
        print_error("%s: %s\n", name, error.message);
    ley_error_clear(&error);
    return status == LEY_OK;
}

bool support_open_alone(const char *selector, const char *name, ley_engine **engine)
{
    char itself[64];
    if (!support_open(selector, name, engine))
        return false;
    const ley_device_info *info = ley_engine_device(*engine, 0);
    snprintf(itself, sizeof itself, "%s:%d", info->path, info->index);
    ley_engine_destroy(*engine);
    return support_open(itself, name, engine);
}

bool support_open_default(ley_engine **engine)
{
    return support_open_alone(NULL, "the default device", engine);
}

void support_leave_out_second_driver(void)
{
    unsetenv("RUSTICL_ENABLE");
}

void support_pocl_alone(const char *devices)
{
    setenv("OCL_ICD_VENDORS", "pocl.icd", 1);
    setenv("POCL_DEVICES", devices, 1);
    setenv("CUDA_VISIBLE_DEVICES", "-1", 1);
}

/* ---- Progress -------------------------------------------------------------------------------- */

void support_note_progress(void *watch, const ley_progress *p)
{
    support_watch *w = watch;
    const bool grows = p->points_done > w->done && p->points_done <= p->points_total && p->elapsed_s >= w->elapsed_s;
    w->faults +=
        !grows || !(p->left_s >= 0) || !(p->evaluations_per_s > 0) || (w->calls > 0 && p->points_total != w->total);
    w->done = p->points_done;
    w->total = p->points_total;
    w->elapsed_s = p->elapsed_s;
    if (++w->calls == w->cancel_at_call || (w->cancel_at_end && w->done == w->total))
        ley_job_cancel(w->job);
}

ley_status support_run_watched(support_watch *w, int64_t *points)
{
    ley_error error = {0};
    if (w->cancel_at_call < 0)
        ley_job_cancel(w->job);
    const ley_status status = ley_job_run(w->job, &error);
    const ley_report *r = ley_job_report(w->job);
    for (size_t i = 0; i < r->device_count; i++)
        assert_int_equal(r->devices[i].status, LEY_OK); /* cancelling is no fault of a device */
    assert_int_equal(w->faults, 0);
    if (points != NULL)
        *points = r->points;
    ley_job_destroy(w->job);
    ley_error_clear(&error);
    return status;
}
