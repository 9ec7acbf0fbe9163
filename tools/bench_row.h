/* A method's part in `leyden bench`: a row. */
#ifndef LEYDEN_BENCH_ROW_H
#define LEYDEN_BENCH_ROW_H

#include "bench_verdict.h"
#include "json.h"
#include "method_row.h"
#include "options.h"

/* Columns of the table that not every method has figures for: of the seconds of a kernel, of the
 * cutoff, of sums of pairs that take roots, of transforms, of sums of pairs that take none, of
 * steps of a whole job in place of variants, of whole jobs for tolerances in place of variants, of
 * files in place of variants, of frames of a trajectory, of steps that are timed by the clock, of
 * energies of particles. */
enum {
    BENCH_SECONDS = 1 << 0,
    BENCH_HITS = 1 << 1,
    BENCH_LOCAL = 1 << 2,
    BENCH_PAIRS = 1 << 3,
    BENCH_TRANSFORMS = 1 << 4,
    BENCH_FMA = 1 << 5,
    BENCH_STEPS = 1 << 6,
    BENCH_TOLERANCES = 1 << 7,
    BENCH_JOULES = 1 << 8, /* of devices with a counter */
    BENCH_FILES = 1 << 9,
    BENCH_FRAMES = 1 << 10,
    BENCH_PHASES = 1 << 11,
    BENCH_ENERGIES = 1 << 12
};

/* An option of all kernels that means nothing to one of them, and why. */
typedef struct bench_refusal {
    const char *option, *why;
} bench_refusal;

enum { BENCH_MOST_REFUSALS = 8 };

struct bench_row {
    option_method option;                       /* its name, as the library has it, too, and what the help says of it */
    bench_refusal not_its[BENCH_MOST_REFUSALS]; /* NULL behind the last */
    const char *first_variant; /* that the others are compared with: the papers' first kernel; NULL: none */
    unsigned columns;          /* of those above */
    bool needs_folder;         /* it makes files, in a folder that goes with the command */
    const char *sizes;         /* the name of its table of ever larger problems; NULL: it has none */
    int (*check)(const parsed_arguments *arguments); /* its own options: prints errors; exit code; or NULL */
    void (*set)(const parsed_arguments *arguments, ley_bench_options *options); /* the same; or NULL */
    const char *(*picture)(const parsed_arguments *arguments);        /* the file to be drawn, NULL: none; or NULL */
    int (*draw)(const ley_bench *bench, const char *path);            /* draws it; prints errors; exit code */
    void (*print)(const ley_bench_device *device);                    /* what stands below the table; or NULL */
    void (*print_sizes)(const ley_bench_device *device);              /* of ever larger problems; NULL: as of cutoff */
    void (*put_json)(json_t *object, const ley_bench_device *device); /* what else is reported; or NULL */
};

/* What --fft asks for; NULL: whichever is fastest. What --cutoff does; 0: nothing. And their
 * options. */
const char *bench_fft_library(const parsed_arguments *arguments);
double bench_cutoff_A(const parsed_arguments *arguments);
extern const option_block bench_library, bench_distance;

/* Of --folder: where files are made. */
extern const option_block bench_folder;
const char *bench_folder_of(const parsed_arguments *arguments);

/* Of --tol: the tolerances that are given, which live as long as the arguments; n 0: none are. */
extern const option_block bench_tolerances;
const option_reals *bench_tolerances_of(const parsed_arguments *arguments);

#endif
