#include "bench_all.h"
#include "console.h"
#include "registry.h"

#include <stdio.h>
#include <string.h>

/* ---- Options --------------------------------------------------------------------------------- */

typedef struct level_values {
    bool quick, full;
} level_values;

static const option_row rows[] = {
    {.name = "quick",
     .kind = OPTION_FLAG,
     .offset = offsetof(level_values, quick),
     .help = "all: what a job takes only, of variants: a minute on two cores"},
    {.name = "full",
     .kind = OPTION_FLAG,
     .offset = offsetof(level_values, full),
     .help = "all: every variant, larger boxes, more launches: twenty minutes on two cores, in place of five"},
};

static const option_block options = OPTION_BLOCK(rows, level_values, NULL);

static int check(const parsed_arguments *arguments)
{
    const level_values *values = option_values(arguments, &options);
    return values->quick && values->full ? fail_usage(arguments->command, "--quick and --full: one of them") : 0;
}

bench_level bench_level_of(const parsed_arguments *arguments)
{
    const level_values *values = option_values(arguments, &options);
    return values->quick ? BENCH_QUICK : values->full ? BENCH_FULL : BENCH_DEFAULT;
}

const bench_row all_bench = {
    .option = {.name = "all",
               .says = "all of them, as the papers have measured these, with their figures beside",
               .options = &options,
               .common = {&bench_folder}},
    .needs_folder = true,
    .not_its = {{"dims", "it has problems of its own"},
                {"atoms", "it has problems of its own"},
                {"variant", "--quick measures those that a job takes"},
                {"math", "it measures standard and native functions"},
                {"sum", "it measures sums of floats"},
                {"repeats", "--quick and --full say how often"}},
    .check = check,
};

/* ---- Levels ---------------------------------------------------------------------------------- */

/* Per device; parts do not begin when all of it is over. */
static const struct {
    const char *name, *says;
    double most_s; /* of all parts */
    int repeats, rounds;
    double row_s;
} levels[BENCH_LEVELS] = {[BENCH_QUICK] = {"quick", "a minute", 60, 5, 2, 1.5},
                          [BENCH_DEFAULT] = {"default", "five minutes", 300, 7, 3, 2},
                          [BENCH_FULL] = {"full", "twenty minutes", 1200, 15, 5, 8}};

const char *bench_level_name(bench_level level)
{
    return levels[level].name;
}

void bench_all_announce(bench_level level, size_t devices)
{
    if (devices == 1)
        fprintf(stderr, "leyden: bench: %s at most, as long as a CPU of two cores takes; a card takes less\n",
                levels[level].says);
    else
        fprintf(stderr, "leyden: bench: %s for each of %zu devices at most, as long as a CPU of two cores takes\n",
                levels[level].says, devices);
}

/* ---- Parts ----------------------------------------------------------------------------------- */

/* In the order of their importance. Each is of this level and of those above it, and from
 * `all_from` on it has all variants. */
typedef struct part {
    const char *name, *title, *kernel;
    bench_level from, all_from;
    ley_math math;
    const char *preset; /* up to level DEFAULT */
    bool linear;
} part;

static const part parts[] = {
    {.name = "mdh-standard",
     .title = "Multiple Debye-Hueckel boundary, standard functions",
     .kernel = "mdh",
     .all_from = BENCH_FULL,
     .math = LEY_MATH_STANDARD},
    {.name = "mdh-native",
     .title = "Multiple Debye-Hueckel boundary, native functions",
     .kernel = "mdh",
     .all_from = BENCH_FULL,
     .math = LEY_MATH_NATIVE},
    {.name = "dcs",
     .title = "Direct Coulomb summation, by variant",
     .kernel = "dcs",
     .all_from = BENCH_DEFAULT,
     .math = LEY_MATH_AUTO},
    {.name = "cutoff",
     .title = "Short-range sums of a box of water",
     .kernel = "cutoff",
     .all_from = BENCH_FULL,
     .math = LEY_MATH_AUTO},
    {.name = "lattice",
     .title = "Lattice cutoff of multilevel summation",
     .kernel = "lattice",
     .all_from = BENCH_FULL,
     .math = LEY_MATH_AUTO},
    {.name = "msm",
     .title = "Multilevel summation, step by step",
     .kernel = "msm",
     .all_from = BENCH_QUICK,
     .math = LEY_MATH_AUTO,
     .preset = "papers"},
    {.name = "fft", .title = "Fourier transforms", .kernel = "fft", .all_from = BENCH_DEFAULT, .math = LEY_MATH_AUTO},
    {.name = "files",
     .title = "Files, beside plain ones of the same disk",
     .kernel = "io",
     .from = BENCH_DEFAULT,
     .all_from = BENCH_DEFAULT,
     .math = LEY_MATH_AUTO},
    {.name = "frontier",
     .title = "Error against time",
     .kernel = "frontier",
     .from = BENCH_DEFAULT,
     .all_from = BENCH_DEFAULT,
     .math = LEY_MATH_AUTO},
    {.name = "curve",
     .title = "Multilevel summation, by the number of atoms",
     .kernel = "msm",
     .from = BENCH_DEFAULT,
     .all_from = BENCH_DEFAULT,
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

static ley_bench_options options_of(const part *p, const ley_bench_options *same, bench_level level,
                                    const ley_bench *limits_of)
{
    ley_bench_options o = *same;
    o.method = p->kernel;
    o.papers_size = true;
    o.math = p->math;
    o.linear = p->linear;
    o.preset = level < BENCH_FULL ? p->preset : NULL;
    o.usual_only = level < p->all_from;
    o.repeats = levels[level].repeats;
    o.limit_rounds = levels[level].rounds;
    o.most_s = levels[level].row_s;
    o.limits_of = limits_of;
    return o;
}

static void leave_out(bench_results *results, const part *p)
{
    const size_t used = strlen(results->left_out);
    snprintf(results->left_out + used, sizeof results->left_out - used, "%s%s", used > 0 ? ", " : "", p->name);
}

ley_status bench_all_run(ley_engine *engine, const ley_bench_options *same, bench_level level, size_t devices,
                         void (*begun)(void *context, const char *part), bench_results *results, ley_error *error)
{
    const double start_s = now_s(), most_s = levels[level].most_s * (double)devices;
    ley_status status = LEY_OK;
    results->level = levels[level].name;
    for (size_t i = 0; i < PARTS && status == LEY_OK; i++) {
        const part *p = &parts[i];
        bench_part *to = &results->parts[results->count];
        if (level < p->from || (same->folder == NULL && method_named(p->kernel)->needs_folder))
            continue;
        if (now_s() - start_s > most_s) {
            leave_out(results, p);
            continue;
        }
        if (same->cancel != NULL && *same->cancel)
            break;
        *to = (bench_part){.name = p->name, .title = p->title, .method = method_named(p->kernel)};
        to->math = MATH_NAME(p->math);
        begun(same->context, p->title);
        const ley_bench_options o = options_of(p, same, level, results->count > 0 ? results->parts[0].bench : NULL);
        status = ley_bench_run(engine, &o, &to->bench, error);
        results->count += status == LEY_OK;
    }
    results->took_s = now_s() - start_s;
    return status;
}
