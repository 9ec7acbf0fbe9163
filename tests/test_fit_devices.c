/* Frames against a map by two devices: the same bytes as by one; and by one that dies on the way,
 * lies or never ends, beside one that is well, or alone (faulty_opencl/): what the host computes,
 * or an error. */
#include "support.h"
#include "trials.h"

#include "dev_kernel.h"

#include <math.h>
#include <unistd.h>

/* ---- In the child ---------------------------------------------------------------------------- */

enum { ATOMS = 60, FRAMES = 48, WINDOWS = 4 };

/* Kernels stay in the cache for the next child, also those of a device whose values are wrong: the
 * linker brings such calls here. */
void keep_kernels(dev *device) __asm__("__wrap_kernels_distrust");
void keep_kernels(dev *device)
{
    (void)device;
}

typedef struct values {
    double score[FRAMES][LEY_FIT_SCORES], window[FRAMES][WINDOWS];
    float gradient[FRAMES][ATOMS][3];
} values;

typedef struct problem {
    ley_map *map;
    double weight[ATOMS], threshold[FRAMES];
    int32_t window[ATOMS];
    float position_A[FRAMES][ATOMS][3];
} problem;

static problem *begin(void)
{
    static const ley_grid grid = {{-3, -3, -3}, LEY_STEPS(1.3, 1.2, 1.4), {16, 17, 15}};
    unsigned seed = 19;
    problem *p = calloc(1, sizeof *p);
    p->map = support_make_map(&grid);
    for (int64_t i = 0; i < ley_grid_points(&grid); i++)
        ley_map_values(p->map)[i] = (float)support_uniform(&seed);
    for (int i = 0; i < ATOMS; i++) {
        p->weight[i] = 1 + i % 8;
        p->window[i] = i / 15;
    }
    for (int k = 0; k < 3 * FRAMES * ATOMS; k++)
        p->position_A[k / (3 * ATOMS)][k / 3 % ATOMS][k % 3] = (float)(15 * support_uniform(&seed));
    for (int f = 0; f < FRAMES; f++)
        p->threshold[f] = 0.05;
    return p;
}

/* In two runs. */
static ley_status run(ley_engine *engine, const problem *p, values *v, ley_fit_totals *totals, ley_error *error)
{
    const ley_fit_target target = {.size = sizeof target,
                                   .map = p->map,
                                   .has_threshold = true,
                                   .has_gradient = true,
                                   .by_host = engine == NULL,
                                   .windows = WINDOWS,
                                   .window = p->window};
    ley_density_options o;
    ley_fit *fit = NULL;
    ley_density_options_default(&o);
    o.verify_every = 1;
    ley_status status = ley_fit_create(engine, &target, ATOMS, p->weight, NULL, &o, &fit, error);
    for (int f = 0; f < FRAMES && status == LEY_OK; f += FRAMES / 2) {
        const ley_fit_results r = {
            .size = sizeof r, .score = v->score[f], .window = v->window[f], .gradient = v->gradient[f][0]};
        status = ley_fit_run(fit, FRAMES / 2, p->position_A[f][0], p->threshold + f, &r, error);
    }
    if (status == LEY_OK)
        ley_fit_get_totals(fit, totals);
    ley_fit_destroy(fit);
    return status;
}

/* The largest deviation, as a share of what is allowed. */
static double judge(const values *found, const values *right)
{
    const double *score[2] = {found->score[0], right->score[0]}, *window[2] = {found->window[0], right->window[0]};
    const float *gradient[2] = {found->gradient[0][0], right->gradient[0][0]};
    double worst = 0, most = 0;
    uint64_t sum = 0xcbf29ce484222325u;
    for (size_t i = 0; i < sizeof *found; i++)
        sum = (sum ^ ((const unsigned char *)found)[i]) * 0x100000001b3u;
    printf("map %016llx\n", (unsigned long long)sum);
    for (int k = 0; k < FRAMES * LEY_FIT_SCORES; k++)
        if (k % LEY_FIT_SCORES != LEY_FIT_MASK)
            worst = fmax(worst, fabs(score[0][k] - score[1][k]) / 2e-5);
    for (int k = 0; k < FRAMES * WINDOWS; k++)
        worst = fmax(worst, fabs(window[0][k] - window[1][k]) / 1e-4);
    for (int k = 0; k < 3 * FRAMES * ATOMS; k++)
        most = fmax(most, fabs((double)gradient[1][k]));
    for (int k = 0; k < 3 * FRAMES * ATOMS; k++)
        worst = fmax(worst, fabs((double)gradient[0][k] - (double)gradient[1][k]) / (2e-3 * most));
    return worst;
}

static int child(const char *selector, double patience_factor)
{
    const watch_patience patience = trial_patience(patience_factor);
    problem *p = begin();
    values *v = calloc(2, sizeof *v);
    ley_engine *engine = NULL;
    ley_fit_totals totals;
    ley_error error = {0};
    double off = INFINITY;
    watch_patience_replace(&patience);
    ley_status status = run(NULL, p, &v[1], &totals, &error);
    if (status == LEY_OK)
        status = ley_engine_create(selector, &engine, &error);
    if (status == LEY_OK)
        status = run(engine, p, &v[0], &totals, &error);
    if (status == LEY_OK) {
        off = judge(&v[0], &v[1]);
        printf("devices %d (%s), failed %d, off by %.2g\n", totals.devices, totals.device, totals.failed, off);
    } else
        printf("%s: %s\n", ley_status_name(status), error.message);
    const int code = status != LEY_OK ? ley_status_exit_code(status) : off < 1 ? TRIAL_RIGHT : TRIAL_BROKEN;
    ley_engine_destroy(engine);
    ley_map_destroy(p->map);
    free(p);
    free(v);
    fflush(stdout);
    if (ley_driver_is_stuck())
        _exit(code);
    return code;
}

/* ---- In the parent --------------------------------------------------------------------------- */

static char right_bytes[24];

/* Where nothing went wrong, the same bytes. */
static bool is_right(const trial *t, const trial_outcome *o)
{
    if (o->code != TRIAL_RIGHT)
        return o->code >= 3 && o->code <= 5 && strcmp(t->call, "clCreateBuffer") != 0;
    const char *at = strstr(o->says, "map ");
    if (right_bytes[0] == '\0' && at != NULL)
        snprintf(right_bytes, sizeof right_bytes, "%.20s", at);
    return at != NULL && (strcmp(t->fault, "none") != 0 || strncmp(at, right_bytes, strlen(right_bytes)) == 0);
}

static void try_case(const char *call, const char *fault, int at, const char *more, const char *selector)
{
    trial *t = trials_add(call, fault, at, more);
    t->selector = selector;
    t->is_right = is_right;
}

static void two_are_as_one(void **state)
{
    static const char *const selectors[] = {"0", "all", "1"};
    (void)state;
    for (size_t i = 0; i < sizeof selectors / sizeof *selectors; i++) {
        try_case("none", "none", 1, "", selectors[i]);
        assert_int_equal(trials_run(), 1);
    }
    assert_true(right_bytes[0] != '\0');
}

/* Each launch left out in turn: cells, sums, atoms by cells, densities, windows, gradients. */
static void one_fails(void **state)
{
    const int step = support_is_quick() ? 4 : 1;
    (void)state;
    for (int at = 1; at <= 12; at += step)
        try_case("clEnqueueNDRangeKernel", at % 3 == 0 ? "fail" : "skip", at, at % 2 == 0 ? "" : ",ever=1",
                 at % 2 == 0 ? "all" : "0");
    for (int at = 1; at <= 4; at += step)
        try_case("clEnqueueReadBuffer", "slight", at, ",ever=1", "all");
    try_case("clEnqueueNDRangeKernel", "hang", 4, "", "all");
    try_case("clCreateBuffer", "fail", 9, "", "all");
    const int tried = trials_count(), unstruck = trials_run();
    assert_true(unstruck <= tried / 2);
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "child") == 0)
        return child(argv[2], atof(argv[3]));
    return RUN_GROUP(SUPPORT_GROUP(.name = "frames on two devices"), two_are_as_one, one_fails);
}
