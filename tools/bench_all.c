#include "bench_all.h"
#include "bench_screen.h"
#include "console.h"
#include "registry.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Options --------------------------------------------------------------------------------- */

typedef struct all_values {
    bool full;
} all_values;

static const option_row rows[] = {
    {.name = "full",
     .kind = OPTION_FLAG,
     .offset = offsetof(all_values, full),
     .help = "all: after the screen, measure every variant of every kernel, beside the figures of the papers: twenty "
             "minutes on two cores"},
};

static const option_block options = OPTION_BLOCK(rows, all_values, NULL);

bool bench_is_full(const parsed_arguments *arguments)
{
    return ((const all_values *)option_values(arguments, &options))->full;
}

static int check(const parsed_arguments *arguments)
{
    return bench_is_full(arguments) && option_named_given(arguments, "atoms")
               ? fail_usage(arguments->command, "--full: it has problems of its own, without --atoms")
               : 0;
}

const bench_row all_bench = {
    .option = {.name = "all",
               .says = "all: a screen to quote, of five rows and one score",
               .options = &options,
               .common = {&bench_folder}},
    .needs_folder = true,
    .not_its = {{"dims", "it has problems of its own"},
                {"variant", "it measures those that a job takes"},
                {"math", "it measures what a job takes"},
                {"sum", "it measures sums of floats"},
                {"repeats", "it has launches of its own"}},
    .check = check,
};

void bench_all_announce(bool is_full, size_t devices)
{
    const char *each = devices > 1 ? text_of(" for each of %zu devices", devices).s : "";
    fprintf(stderr, "leyden: bench: %s%s on two quiet cores; a card takes less\n",
            is_full ? "twenty minutes at most" : "20 s", each);
}

/* ---- Parts ----------------------------------------------------------------------------------- */

/* How parts are timed; those behind the screen do not begin when so much of a device's time is
 * over. */
typedef struct timing {
    int repeats, rounds;
    double row_s;
} timing;
static const timing of_screen = {7, 2, 1.5}, of_full = {15, 5, 8};
static const double full_most_s = 1200, command_most_s = 6;
enum { COMMAND_REPEATS = 3 };

/* The box of which the screen's map is made, and what it is to. */
static const int64_t usual_atoms = 150000;

/* In the order of their importance; those of the screen have what a job takes, of variants, and the
 * atoms that belong to its usual box. */
typedef struct part {
    const char *name, *title, *kernel;
    bool is_of_screen;
    ley_math math;
    int64_t n[3], atoms;
    bool is_to_tolerance, linear;
} part;

static const part parts[] = {
    {.name = "direct",
     .title = "Direct sum",
     .kernel = "dcs",
     .is_of_screen = true,
     .math = LEY_MATH_AUTO,
     .n = {512, 512, 8},
     .atoms = 8192},
    {.name = "short-range",
     .title = "Sums within 12 A, of a box of water",
     .kernel = "cutoff",
     .is_of_screen = true,
     .math = LEY_MATH_AUTO,
     .atoms = 150000},
    {.name = "map",
     .title = "A map of the box to 1e-4, step by step",
     .kernel = "msm",
     .is_of_screen = true,
     .math = LEY_MATH_AUTO,
     .atoms = 150000,
     .is_to_tolerance = true},
    {.name = "boundary",
     .title = "Debye-Hueckel boundary",
     .kernel = "mdh",
     .is_of_screen = true,
     .math = LEY_MATH_AUTO,
     .n = {513, 513, 513},
     .atoms = 2048},
    {.name = "mdh-standard",
     .title = "Multiple Debye-Hueckel boundary, standard functions",
     .kernel = "mdh",
     .math = LEY_MATH_STANDARD},
    {.name = "mdh-native",
     .title = "Multiple Debye-Hueckel boundary, native functions",
     .kernel = "mdh",
     .math = LEY_MATH_NATIVE},
    {.name = "dcs", .title = "Direct Coulomb summation, by variant", .kernel = "dcs", .math = LEY_MATH_AUTO},
    {.name = "cutoff", .title = "Short-range sums of a box of water", .kernel = "cutoff", .math = LEY_MATH_AUTO},
    {.name = "lattice", .title = "Lattice cutoff of multilevel summation", .kernel = "lattice", .math = LEY_MATH_AUTO},
    {.name = "msm", .title = "Multilevel summation, step by step", .kernel = "msm", .math = LEY_MATH_AUTO},
    {.name = "fft", .title = "Fourier transforms", .kernel = "fft", .math = LEY_MATH_AUTO},
    {.name = "files", .title = "Files, beside plain ones of the same disk", .kernel = "io", .math = LEY_MATH_AUTO},
    {.name = "frontier", .title = "Error against time", .kernel = "frontier", .math = LEY_MATH_AUTO},
    {.name = "average", .title = "Averages over frames", .kernel = "average", .math = LEY_MATH_AUTO},
    {.name = "series", .title = "Frame after frame at a few points", .kernel = "series", .math = LEY_MATH_AUTO},
    {.name = "ions", .title = "Placing ions", .kernel = "ions", .math = LEY_MATH_AUTO},
    {.name = "orbital", .title = "Orbitals of C60, by variant", .kernel = "orbital", .math = LEY_MATH_AUTO},
    {.name = "curve",
     .title = "Multilevel summation, by the number of atoms",
     .kernel = "msm",
     .math = LEY_MATH_AUTO,
     .linear = true},
};
enum { PARTS = sizeof parts / sizeof *parts };
_Static_assert((int)PARTS <= (int)BENCH_MOST_PARTS, "room for all parts");

static const bench_row *method_named(const char *name)
{
    for (const method_row *const *row = method_table; *row != NULL; row++)
        if ((*row)->bench != NULL && strcmp((*row)->bench->option.name, name) == 0)
            return (*row)->bench;
    const bench_row *const *other = other_benches;
    while (*other != NULL && strcmp((*other)->option.name, name) != 0)
        other++;
    return *other;
}

/* A problem of so many times as many atoms, whose grid is smaller where these are fewer. */
static void scale(ley_bench_options *o, double times)
{
    o->atoms = (int64_t)ceil((double)o->atoms * times);
    for (int axis = 0; axis < 3; axis++)
        o->n[axis] = (int64_t)ceil((double)o->n[axis] * cbrt(fmin(times, 1)));
}

static ley_bench_options options_of(const part *p, const ley_bench_options *same, const ley_bench *limits_of)
{
    const timing *how = p->is_of_screen ? &of_screen : &of_full;
    ley_bench_options o = *same;
    o.method = p->kernel;
    o.math = p->math;
    o.linear = p->linear;
    o.papers_size = !p->is_of_screen;
    o.usual_only = p->is_of_screen;
    memcpy(o.n, p->n, sizeof o.n);
    o.atoms = p->atoms;
    if (p->is_of_screen && same->atoms > 0)
        scale(&o, (double)same->atoms / (double)usual_atoms);
    if (p->is_to_tolerance) {
        o.preset = "chosen";
        o.tolerances = &bench_screen_tolerance;
        o.tolerance_count = 1;
    }
    o.repeats = how->repeats;
    o.limit_rounds = how->rounds;
    o.most_s = how->row_s;
    o.limits_of = limits_of;
    return o;
}

static void leave_out(bench_results *results, const part *p)
{
    const size_t used = strlen(results->left_out);
    snprintf(results->left_out + used, sizeof results->left_out - used, "%s%s", used > 0 ? ", " : "", p->name);
}

static ley_status measure(ley_engine *engine, const part *p, const ley_bench_options *same,
                          void (*begun)(void *context, const char *part), bench_results *results, ley_error *error)
{
    bench_part *to = &results->parts[results->count];
    *to = (bench_part){.name = p->name, .title = p->title, .method = method_named(p->kernel)};
    to->math = MATH_NAME(p->math);
    begun(same->context, p->title);
    const ley_bench_options o = options_of(p, same, results->count > 0 ? results->parts[0].bench : NULL);
    const ley_status status = ley_bench_run(engine, &o, &to->bench, error);
    results->count += status == LEY_OK;
    return status;
}

static bool is_cancelled(const ley_bench_options *o)
{
    return o->cancel != NULL && *o->cancel;
}

/* On one device after the other, each of which has its files in turn. */
static void measure_commands(const ley_engine *engine, const ley_bench_options *same,
                             void (*begun)(void *context, const char *part), bench_results *results)
{
    const size_t devices = ley_engine_device_count(engine);
    results->commands = allocate(devices, sizeof *results->commands);
    begun(same->context, "Whole command");
    for (size_t d = 0; d < devices && !is_cancelled(same); d++) {
        bench_whole_measure(ley_engine_device(engine, d), same->folder, same->atoms > 0 ? same->atoms : usual_atoms,
                            bench_screen_tolerance, COMMAND_REPEATS, command_most_s, &results->commands[d]);
        results->command_count = d + 1;
    }
}

ley_status bench_all_run(ley_engine *engine, const ley_bench_options *same, bool is_full,
                         void (*begun)(void *context, const char *part), bench_results *results, ley_error *error)
{
    const double start_s = now_s(), most_s = full_most_s * (double)ley_engine_device_count(engine);
    ley_status status = LEY_OK;
    results->level = is_full ? "full" : "screen";
    results->is_full = is_full;
    results->is_usual_problem = same->atoms == 0;
    for (size_t i = 0; i < PARTS && status == LEY_OK && !is_cancelled(same); i++) {
        const part *p = &parts[i];
        if (!p->is_of_screen && results->commands == NULL)
            measure_commands(engine, same, begun, results);
        if (!p->is_of_screen && (!is_full || (same->folder == NULL && method_named(p->kernel)->needs_folder)))
            continue;
        if (!p->is_of_screen && now_s() - start_s > most_s)
            leave_out(results, p);
        else
            status = measure(engine, p, same, begun, results, error);
    }
    results->took_s = now_s() - start_s;
    return status;
}
