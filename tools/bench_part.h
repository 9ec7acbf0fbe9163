/* What `leyden bench` has measured: a table for each of its parts, of which `--kernel all` has
 * several, and one kernel has one; and the whole command. */
#ifndef LEYDEN_BENCH_PART_H
#define LEYDEN_BENCH_PART_H

#include "bench_row.h"
#include "bench_whole.h"

typedef struct bench_part {
    const char *name, *title; /* "mdh-native"; "Multiple Debye-Hueckel boundary, native functions" */
    const bench_row *method;
    const char *math; /* what was asked for, as --math has it */
    ley_bench *bench;
} bench_part;

enum { BENCH_MOST_PARTS = 20 };

typedef struct bench_results {
    const char *level; /* "screen", "full"; NULL: of one kernel */
    bool is_full;      /* the level */
    size_t count;
    bench_part parts[BENCH_MOST_PARTS];
    bench_whole *commands; /* [command_count] the whole command, on each device; NULL: not measured */
    size_t command_count;
    bool is_usual_problem; /* of the screen: not that of --atoms */
    double took_s;
    char left_out[256]; /* parts that there was no time for, "frontier, curve"; or empty */
} bench_results;

void bench_results_end(bench_results *results);

/* 5 when anything of any part is wrong, else 4 when anything failed, else 3 when nothing could be
 * measured. */
ley_status bench_results_verdict(const bench_results *results);

#endif
