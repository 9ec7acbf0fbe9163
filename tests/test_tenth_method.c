/* The exercise of CONTRIBUTING.md: a method of two stages whose result is one number, in a folder
 * of its own, tests/tenth_method, with one kernel and one row in the registry; and a sub-command of
 * it, a file and a row. No file of host/, platform/ or tools/ knows of it. */
#include "support.h"

#include "engine/engine.h"
#include "law/reference.h"
#include "methods/registry.h"
#include "tenth_method/method.h"
#include "verify/reference_kernel.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Kernels are read from a folder that has the new one beside the others. */
static void take_kernels(const char *from, const char *to)
{
    static const char *const files[] = {"squares.cl", "squares.h", "laws/squares.h"};
    static int number;
    char folder[256], tree[300], path[400];
    snprintf(folder, sizeof folder, "%s/kernels%d", support_directory(), ++number);
    assert_int_equal(mkdir(folder, 0700), 0);
    snprintf(tree, sizeof tree, "%s/cl", folder);
    snprintf(path, sizeof path, "%s/kernels_cuda", folder);
    support_copy_kernels("kernels_cuda", path, "dialect.cuh", "#define", "#define"); /* as it is */
    support_copy_kernels("cl", tree, "sum_parts.cl", "sum_parts(", "sum_parts(");
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        snprintf(path, sizeof path, "tests/tenth_method/%s", files[i]);
        char *text = support_read_file(path, NULL), *at = from != NULL ? strstr(text, from) : NULL;
        snprintf(path, sizeof path, "%s/%s", tree, files[i]);
        FILE *file = fopen(path, "wb");
        assert_non_null(file);
        if (at != NULL)
            fprintf(file, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
        else
            fputs(text, file);
        assert_int_equal(fclose(file), 0);
        free(text);
    }
    setenv("LEYDEN_KERNEL_DIR", tree, 1);
    support_fresh_cache();
}

static ley_map *wavy(const int64_t n[3])
{
    const ley_grid grid = {.step_A = LEY_STEPS(1, 1, 1), .n = {n[0], n[1], n[2]}};
    ley_map *map = support_make_map(&grid);
    for (int64_t i = 0; i < ley_grid_points(&grid); i++)
        ley_map_values(map)[i] = (float)sin(0.37 * (double)i) * (float)(1 + i % 5);
    return map;
}

static double right_sum(const ley_map *map)
{
    double sum = 0;
    for (int64_t i = 0; i < ley_grid_points(ley_map_grid(map)); i++)
        sum += pow((double)ley_map_read_values(map)[i], 2);
    return sum;
}

static ley_status sum_of(ley_engine *engine, const ley_map *map, int64_t slab_planes, double *sum, ley_error *error)
{
    ley_job *job = NULL;
    ley_run_options options = support_default_run_options();
    options.slab_planes = slab_planes;
    *sum = NAN;
    ley_status status = job_create_squares(engine, map, sum, &options, &job, error);
    assert_int_equal(status, LEY_OK);
    status = ley_job_run(job, error);
    const ley_report *r = ley_job_report(job);
    if (status == LEY_OK) {
        assert_string_equal(r->method, "squares");
        assert_int_equal(ley_report_note(r, "planes")->count, ley_map_grid(map)->n[2]);
        assert_true(ley_report_note(r, "sum_of_squares")->number[0] == *sum);
        assert_int_equal(r->accuracy.points, 1);
        assert_true(r->accuracy.passed && r->accuracy.max_error < r->accuracy.tolerance);
    }
    ley_job_destroy(job);
    return status;
}

static void test_sums(void **state)
{
    static const int64_t sizes[][3] = {{1, 1, 1}, {64, 1, 1}, {7, 9, 31}, {130, 3, 12}};
    ley_error error = {0};
    take_kernels(NULL, NULL);
    ley_engine *engine = support_make_engine("all");
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        ley_map *map = wavy(sizes[i]);
        const double right = right_sum(map);
        double first = NAN;
        for (int64_t planes = 0; planes <= 5; planes += 5) {
            double sum;
            assert_ok(sum_of(engine, map, planes, &sum, &error));
            if (!(fabs(sum - right) <= 1e-6 * right))
                fail_msg("%lld planes per slab: %.9g, not %.9g", (long long)planes, sum, right);
            assert_true(isnan(first) || sum == first); /* whoever did which slab */
            first = sum;
        }
        ley_map_destroy(map);
    }
    ley_engine_destroy(engine);
}

/* Its kernel has no variants; how large its slabs were is in its plan all the same, and a plan says
 * how large they shall be. */
static void test_plans(void **state)
{
    static const int64_t n[3] = {7, 9, 31};
    ley_error error = {0};
    ley_map *map = wavy(n);
    double sum;
    take_kernels(NULL, NULL);
    ley_engine *engine = support_make_engine(NULL);
    ley_run_options options = support_default_run_options();
    char *device = NULL;
    for (int i = 0; i < 2; i++) {
        ley_job *job = NULL;
        const ley_decision *found = NULL;
        const ley_decision given[] = {{NULL, "method", "squares"}, {device, "slab", "4"}};
        options.slab_planes = i == 0 ? 5 : 0;
        options.decision_count = i == 0 ? 0 : 2;
        options.decisions = given;
        assert_ok(job_create_squares(engine, map, &sum, &options, &job, &error));
        assert_ok(ley_job_run(job, &error));
        const ley_report *r = ley_job_report(job);
        for (size_t k = 0; k < r->decision_count; k++)
            if (strcmp(r->decisions[k].name, "slab") == 0)
                found = &r->decisions[k];
        assert_non_null(found);
        assert_string_equal(found->value, i == 0 ? "5" : "4");
        assert_non_null(found->device);
        if (device == NULL)
            device = strdup(found->device);
        ley_job_destroy(job);
    }
    free(device);
    ley_map_destroy(map);
    ley_engine_destroy(engine);
}

/* Its names are among those of the others. */
static void test_registry(void **state)
{
    bool is_there = false;
    for (size_t i = 0; ley_method_name(i) != NULL; i++)
        is_there = is_there || strcmp(ley_method_name(i), "squares") == 0;
    assert_true(is_there);
    assert_null(ley_variant_name("squares", LEY_TARGET_GRID, 0));
    assert_non_null(ley_variant_name("dcs", LEY_TARGET_GRID, 0));
    is_there = false;
    for (size_t i = 0; kernel_registry[i] != NULL; i++)
        is_there = is_there || strcmp(kernel_registry[i]->name, "squares") == 0;
    assert_true(is_there);
}

/* Its self-test stands between a wrong kernel and everybody else. */
static void test_wrong_kernels(void **state)
{
    static const char *const faults[][2] = {
        {"value * value", "value"}, {"i < n; i += 64", "i < n - 1; i += 64"}, {"i < 64; i++", "i < 63; i++"}};
    static const int64_t n[3] = {9, 9, 4};
    ley_map *map = wavy(n);
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        ley_error error = {0};
        double sum;
        take_kernels(faults[i][0], faults[i][1]);
        ley_engine *engine = support_make_engine("all");
        assert_error(sum_of(engine, map, 0, &sum, &error), LEY_ERROR_WRONG_RESULT, "self-test of squares failed on ");
        assert_non_null(strstr(error.message, ": a sum is "));
        ley_engine_destroy(engine);
        ley_error_clear(&error);
    }
    ley_map_destroy(map);
}

/* What its self-test does not see, as rows there are shorter, verification does. */
static void test_wrong_sums(void **state)
{
    static const int64_t n[3] = {130, 3, 12};
    ley_map *map = wavy(n);
    ley_error error = {0};
    double sum;
    take_kernels("i < n; i += 64", "i < (n > 200 ? n - 1 : n); i += 64");
    ley_engine *engine = support_make_engine("all");
    assert_int_equal(sum_of(engine, map, 0, &sum, &error), LEY_ERROR_WRONG_RESULT);
    ley_engine_destroy(engine);
    ley_error_clear(&error);
    ley_map_destroy(map);
}

/* Devices judge by the law's term what the host judges by its sum. */
static void judge(worker *w, void *context)
{
    const reference_terms *t = context;
    const double point_A[1][3] = {{0}};
    reference_trial *trial;
    dev_kernel built;
    reference_kernel kernel;
    reference_value sum;
    ley_error error = {0};
    assert_ok(reference_trial_create(t, &trial, &error));
    assert_ok(reference_kernel_build(w->device, trial, &built, &error));
    reference_trial_destroy(trial);
    assert_ok(reference_kernel_create(&built, t, &kernel, &error));
    assert_ok(reference_kernel_run(&kernel, 1, point_A, NULL, &sum, &error));
    const reference_value right = reference_sum(t, point_A[0]);
    assert_true(reference_agrees(&sum, &right) && right.value > 0);
    reference_kernel_destroy(&kernel);
}

/* One whose term is wrong does not pass the test of its kernel. */
static void judge_wrongly(worker *w, void *context)
{
    reference_trial *trial;
    dev_kernel built;
    ley_error error = {0};
    assert_ok(reference_trial_create(context, &trial, &error));
    assert_int_equal(reference_kernel_build(w->device, trial, &built, &error), LEY_ERROR_WRONG_RESULT);
    reference_trial_destroy(trial);
    ley_error_clear(&error);
}

static void judge_on_devices(void (*run)(worker *w, void *context))
{
    static const ley_grid grid = {.step_A = LEY_STEPS(1, 1, 1), .n = {9, 9, 9}};
    ley_atoms *atoms = support_crowd(500, &grid, 1, 3);
    reference_terms t = {.law = &law_squares, .constant = 1, .atoms = atoms};
    ley_engine *engine = support_make_engine(NULL);
    if (engine->workers[0].info->has_double)
        engine_run(engine, 0, &(engine_task){.run = run}, &t);
    ley_engine_destroy(engine);
    ley_atoms_destroy(atoms);
}

static void test_judges(void **state)
{
    take_kernels(NULL, NULL);
    judge_on_devices(judge);
    take_kernels("(q_e * q_e)", "(q_e)");
    judge_on_devices(judge_wrongly);
}

/* ---- In the command -------------------------------------------------------------------------- */

/* What `leyden WORDS` says, of the command that stands beside this program's own files. */
static char *command_says(const char *words, int code)
{
    static char text[16384];
    char own[400], line[1024];
    const ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    assert_true(length > 0);
    own[length] = '\0';
    *strrchr(own, '/') = '\0';
    snprintf(line, sizeof line, "%s/tenth_method/leyden %s 2>&1", own, words);
    FILE *pipe = popen(line, "r");
    assert_non_null(pipe);
    const size_t size = fread(text, 1, sizeof text - 1, pipe);
    text[size] = '\0';
    const int status = pclose(pipe);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != code)
        fail_msg("%s: status %d, %s", words, status, text);
    return text;
}

static void assert_says(const char *words, int code, const char *what)
{
    const char *text = command_says(words, code);
    if (strstr(text, what) == NULL)
        fail_msg("leyden %s does not say \"%s\": %s", words, what, text);
}

/* A file and a row in two tables give the command a sub-command with all that the frame has; and
 * take nothing away from the others. */
static void test_command(void **state)
{
    static const int64_t n[3] = {7, 9, 31};
    char words[512], path[300];
    ley_error error = {0};
    ley_map *map = wavy(n), *read;
    snprintf(path, sizeof path, "%s/wavy.dx", support_directory());
    assert_ok(ley_map_write_dx(map, path, NULL, NULL, &error));
    assert_ok(ley_map_read_dx(path, &read, &error)); /* with the digits of the file */
    take_kernels(NULL, NULL);
    snprintf(words, sizeof words, "squares %s --mean", path);
    assert_says(words, 0, " over 31 planes\n");
    assert_says(words, 0, "root of their mean: ");
    const char *said = strstr(command_says(words, 0), "squares: ");
    assert_true(fabs(atof(said + strlen("squares: ")) - right_sum(read)) <= 1e-6 * right_sum(read));
    snprintf(words, sizeof words, "squares %s --json -", path);
    assert_says(words, 0, "\"root_of_mean\": null");
    assert_says(words, 0, "\"planes\": 31");
    assert_says("squares --help", 0, "say the root of their mean, too");
    assert_says("squares nothing.dx", 2, "nothing.dx: No such file");
    assert_says("bench --kernel squares --device cpu --dims 64,16,9 --json -", 0, "\"variant\": \"rows\"");
    assert_says("bench --kernel squares --device cpu --dims 64,16,9 --json -", 0, "\"planes_per_s\": ");
    assert_says("bench --kernel squares --device cpu --dims 64,16,9", 0, "problem: 64 x 16 x 9 points");
    assert_says("help", 0, "Sums the squares of a map's values.");
    assert_says("map --mean", 1, "unknown option '--mean'");
    assert_says("map x.pqr -o x.dx --method squares", 1, "it must be one of auto, dcs, cutoff, msm; type: ");
    ley_map_destroy(map);
    ley_map_destroy(read);
}

int main(void)
{
    return RUN_TESTS(test_registry, test_sums, test_plans, test_wrong_kernels, test_wrong_sums, test_judges,
                     test_command);
}
