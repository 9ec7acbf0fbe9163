/* Energies by two devices: the same bytes as by one; and by one that dies on the way, lies or never
 * ends, beside one that is well, or alone (faulty_opencl/). Each time right energies, or an error;
 * never wrong ones. */
#include "some_energies.h"
#include "support.h"
#include "trials.h"

#include "dev_kernel.h"
#include "law/energy.h"

#include <unistd.h>

/* ---- In the child ---------------------------------------------------------------------------- */

enum { COUNT = 150, FRAMES = 60, GROUPS = 3 };

/* What is computed: all pairs with groups; lists of pairs and a mesh; generalised Born, areas. */
enum { PAIRS, MESH, BORN, KINDS };
static const char *const kinds[KINDS] = {"", "/mesh", "/born"};
static const int frames_of[KINDS] = {FRAMES, 12, 12};
static const double spacing_A = 2.6;

static ley_energy_options options_of(int kind, const int32_t *group)
{
    ley_energy_options o;
    ley_energy_options_default(&o);
    o.forces = true;
    o.verify_every = 1;
    o.groups = kind == PAIRS ? GROUPS : 0;
    o.group = group;
    if (kind == MESH) {
        o.coulomb = LEY_COULOMB_EWALD;
        o.cutoff_A = 6.5;
    } else if (kind == BORN) {
        o.born = LEY_BORN_OBC2;
        o.surface = LEY_SURFACE_LCPO;
    }
    return o;
}

/* A device whose values are wrong would lose what it has in the cache, which the next child would
 * compile again: the linker brings such calls here. */
void keep_kernels(dev *device) __asm__("__wrap_kernels_distrust");
void keep_kernels(dev *device)
{
    (void)device;
}

typedef struct values {
    double terms[FRAMES][LEY_ENERGY_TERMS], matrix[FRAMES][LEY_ENERGY_TERMS][GROUPS][GROUPS];
    float forces[FRAMES][COUNT][3];
} values;

/* The largest deviation from the law, as a share of what is allowed. */
static double judge(const ley_particles *particles, const ley_energy_options *o, int frames, const float *position_A,
                    const double *cell_A, const values *v)
{
    const double share = o->coulomb == LEY_COULOMB_EWALD ? 4 * o->ewald_tolerance : 1e-5,
                 force_share = fmax(share, 1e-4);
    const ley_particles_arrays a = ley_particles_get(particles);
    double worst = 0;
    uint64_t sum = 0xcbf29ce484222325u;
    for (size_t i = 0; i < sizeof *v; i++)
        sum = (sum ^ ((const unsigned char *)v)[i]) * 0x100000001b3u;
    printf("map %016llx\n", (unsigned long long)sum);
    for (int f = 0; f < frames; f++) {
        const energy_frame frame = {&a, o, position_A + 3 * COUNT * f, cell_A != NULL ? cell_A + 9 * f : NULL};
        double terms[LEY_ENERGY_TERMS], matrix[LEY_ENERGY_TERMS][GROUPS][GROUPS] = {{{0}}}, force[COUNT][3], square = 0;
        ley_energy_results r = {.size = sizeof r, .terms = terms, .matrix = o->groups > 0 ? matrix[0][0] : NULL};
        const double *found = v->matrix[f][0][0], *right = matrix[0][0];
        const float *own_force = v->forces[f][0];
        if (energy_law_frame(&frame, &r, force, NULL) != LEY_OK)
            return INFINITY;
        for (int t = 0; t < LEY_ENERGY_TERMS; t++)
            worst = fmax(worst, fabs(v->terms[f][t] - terms[t]) / (share * fabs(terms[t]) + 1e-3));
        for (int k = 0; k < LEY_ENERGY_TERMS * GROUPS * GROUPS; k++)
            worst = fmax(worst, fabs(found[k] - right[k]) / (1e-5 * fabs(right[k]) + 1e-3));
        for (int i = 0; i < COUNT; i++)
            square += (force[i][0] * force[i][0] + force[i][1] * force[i][1] + force[i][2] * force[i][2]) / COUNT;
        for (int k = 0; k < 3 * COUNT; k++)
            worst = fmax(worst, fabs((double)own_force[k] - force[k / 3][k % 3]) / (force_share * sqrt(square)));
    }
    return worst;
}

/* All frames in three runs. */
static ley_status run_all(ley_energy *e, int kind, const float *position_A, const double *cell_A, values *v,
                          ley_error *error)
{
    const int at_once = frames_of[kind] / 3;
    ley_status status = LEY_OK;
    for (int f = 0; f < frames_of[kind] && status == LEY_OK; f += at_once) {
        ley_energy_results r = {.size = sizeof r,
                                .terms = v->terms[f],
                                .matrix = kind == PAIRS ? v->matrix[f][0][0] : NULL,
                                .forces = v->forces[f][0]};
        status =
            ley_energy_run(e, at_once, position_A + 3 * COUNT * f, cell_A != NULL ? cell_A + 9 * f : NULL, &r, error);
    }
    return status;
}

/* The selector names what is computed, too. */
static int child(const char *words, double patience_factor)
{
    char selector[16];
    int kind = PAIRS;
    snprintf(selector, sizeof selector, "%.*s", (int)strcspn(words, "/"), words);
    for (int k = PAIRS; k < KINDS; k++)
        if (strcmp(words + strlen(selector), kinds[k]) == 0)
            kind = k;
    const watch_patience patience = trial_patience(patience_factor);
    ley_particles *particles = some_particles(COUNT, 5, 3);
    float *position_A = some_positions(COUNT, FRAMES, spacing_A, 5);
    double cell_A[FRAMES][9] = {{0}};
    values *v = calloc(1, sizeof *v);
    ley_engine *engine = NULL;
    ley_energy *e = NULL;
    ley_energy_totals totals;
    ley_error error = {0};
    int32_t group[COUNT];
    for (int i = 0; i < COUNT; i++)
        group[i] = i % GROUPS;
    for (int i = 0; i < 3 * FRAMES; i++)
        cell_A[i / 3][4 * (i % 3)] = some_width_A(COUNT, spacing_A) + 1;
    const ley_energy_options o = options_of(kind, group);
    const double *cells = kind == MESH ? cell_A[0] : NULL;
    watch_patience_replace(&patience);
    ley_status status = ley_engine_create(selector, &engine, &error);
    if (status == LEY_OK)
        status = ley_energy_create(engine, particles, &o, &e, &error);
    if (status == LEY_OK)
        status = run_all(e, kind, position_A, cells, v, &error);
    double off = INFINITY;
    if (status == LEY_OK) {
        ley_energy_get_totals(e, &totals);
        off = judge(particles, &o, frames_of[kind], position_A, cells, v);
        printf("devices %d (%s), failed %d, checked %d, off by %.2g\n", totals.devices, totals.device, totals.failed,
               (int)totals.checked_frames, off);
    }
    int code = status != LEY_OK ? ley_status_exit_code(status) : off < 1 ? TRIAL_RIGHT : TRIAL_BROKEN;
    if (status != LEY_OK)
        printf("%s: %s\n", ley_status_name(status), error.message);
    if (status != LEY_OK && (code < 3 || code > 5 || error.message[0] == '\0'))
        code = TRIAL_BROKEN;
    ley_energy_destroy(e);
    ley_engine_destroy(engine);
    ley_particles_destroy(particles);
    free(position_A);
    free(v);
    fflush(stdout);
    if (ley_driver_is_stuck())
        _exit(code);
    return code;
}

/* ---- In the parent --------------------------------------------------------------------------- */

static char right_bytes[KINDS][24];

static const char *bytes_of(const trial_outcome *o)
{
    const char *at = strstr(o->says, "map ");
    return at != NULL ? at + 4 : "";
}

/* Where nothing went wrong, the same bytes. */
static bool is_right(const trial *t, const trial_outcome *o)
{
    if (o->code != TRIAL_RIGHT) /* refused memory ends nothing */
        return o->code >= 3 && o->code <= 5 && strcmp(t->call, "clCreateBuffer") != 0;
    const char *word = strchr(t->selector, '/');
    char *right = right_bytes[word == NULL ? PAIRS : strcmp(word, kinds[MESH]) == 0 ? MESH : BORN];
    if (right[0] == '\0')
        snprintf(right, sizeof right_bytes[0], "%.16s", bytes_of(o));
    return strcmp(t->fault, "none") != 0 || strncmp(bytes_of(o), right, 16) == 0;
}

static void try_case(const char *call, const char *fault, int at, const char *more, const char *selector)
{
    trial *t = trials_add(call, fault, at, more);
    t->selector = selector;
    t->is_right = is_right;
}

static void two_are_as_one(void **state)
{
    static const char *const selectors[] = {"0", "all", "1", "0/mesh", "all/mesh", "0/born", "all/born"};
    (void)state;
    for (size_t i = 0; i < sizeof selectors / sizeof *selectors; i++) {
        try_case("none", "none", 1, "", selectors[i]);
        assert_int_equal(trials_run(), 1);
    }
    for (int k = PAIRS; k < KINDS; k++)
        assert_true(right_bytes[k][0] != '\0');
}

static void expect_none_wrong(void)
{
    const int tried = trials_count(), unstruck = trials_run();
    assert_true(unstruck <= tried / 2);
}

static void one_dies(void **state)
{
    (void)state;
    for (int at = 1; at <= 15; at += support_is_quick() ? 5 : 1)
        try_case("clEnqueueNDRangeKernel", "fail", at, ",ever=1", at % 2 == 0 ? "all" : "0");
    for (int at = 1; at <= 12; at += support_is_quick() ? 5 : 2) {
        try_case("clWaitForEvents", "fail", at, ",ever=1", at % 4 == 1 ? "all" : "0");
        try_case("clCreateBuffer", "fail", at, "", "all");
    }
    try_case("clEnqueueNDRangeKernel", "hang", 5, "", "all");
    try_case("clEnqueueNDRangeKernel", "hang", 4, "", "0");
    try_case("clEnqueueReadBuffer", "never", 2, "", "0");
    try_case("clEnqueueReadBuffer", "never", 3, "", "all");
    expect_none_wrong();
}

/* Launches, fills and writes that are left out, and reads of something else. */
static void one_lies(void **state)
{
    static const char *const faults[] = {"zero", "scale", "slight", "nan", "garbage", "skip"};
    (void)state;
    for (int at = 1; at <= 14; at += support_is_quick() ? 3 : 1)
        try_case("clEnqueueNDRangeKernel", "skip", at, "", at % 2 == 0 ? "0" : "all");
    for (int f = 0; f < 6; f++)
        for (int at = 1; at <= 4; at++)
            if (!support_is_quick() || (f + at) % 3 == 0) {
                try_case("clEnqueueReadBuffer", faults[f], at, "", "all");
                try_case("clEnqueueReadBuffer", faults[f], at, ",ever=1", "0");
            }
    expect_none_wrong();
}

/* Each step of lists, meshes and Born's sums left out, failing, or lied about; where every count of
 * pairs without room is random, a device is not asked for ever. */
static void steps_of_lists_meshes_and_born(void **state)
{
    static const char *const faults[] = {"zero", "slight", "nan", "garbage"};
    (void)state;
    for (int at = 1; at <= 30; at += support_is_quick() ? 3 : 1) {
        const char *const selectors[] = {at % 2 == 0 ? "0/mesh" : "all/mesh", at % 2 == 0 ? "all/born" : "0/born"};
        for (int k = 0; k < (at <= 12 ? 2 : 1); k++)
            try_case("clEnqueueNDRangeKernel", at % 5 == 0 ? "fail" : "skip", at, "", selectors[k]);
    }
    for (int at = 1; at <= 4; at++)
        for (int f = 0; f < 4; f++)
            if (!support_is_quick() || (f + at) % 4 == 0) {
                try_case("clEnqueueReadBuffer", faults[f], at, ",ever=1", f % 2 == 0 ? "0/born" : "0/mesh");
                try_case("clEnqueueReadBuffer", faults[f], at, "", f % 2 == 0 ? "all/mesh" : "all/born");
            }
    try_case("clEnqueueReadBuffer", "garbage", 1, ",ever=1", "0/mesh");
    try_case("clCreateBuffer", "fail", 20, "", "all/mesh");
    try_case("clCreateBuffer", "fail", 60, "", "0/mesh");
    try_case("clEnqueueNDRangeKernel", "hang", 9, "", "0/mesh");
    expect_none_wrong();
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "child") == 0)
        return child(argv[2], atof(argv[3]));
    return RUN_GROUP(SUPPORT_GROUP(.name = "two devices"), two_are_as_one, one_dies, one_lies,
                     steps_of_lists_meshes_and_born);
}
