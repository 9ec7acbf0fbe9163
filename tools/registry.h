/* All there is of sub-commands and of methods, a row each. */
#ifndef LEYDEN_REGISTRY_H
#define LEYDEN_REGISTRY_H

#include "bench_row.h"
#include "method_row.h"

/* X: X_command, of tools/X.c, in the order of the help. */
#define COMMANDS(COMMAND) \
    COMMAND(devices) \
    COMMAND(map) \
    COMMAND(boundary) \
    COMMAND(apbs) \
    COMMAND(slice) \
    COMMAND(surface) \
    COMMAND(ions) \
    COMMAND(orbital) \
    COMMAND(density) \
    COMMAND(esp) \
    COMMAND(density_map) \
    COMMAND(fit_score) \
    COMMAND(compare) \
    COMMAND(generate) \
    COMMAND(convert) \
    COMMAND(bench) \
    COMMAND(check)

/* X: X_row, of tools/method_X.c. A sub-command lists its methods in this order. */
#define METHODS(METHOD) \
    METHOD(auto) \
    METHOD(dcs) \
    METHOD(zero) \
    METHOD(sdh) \
    METHOD(mdh) \
    METHOD(cutoff) \
    METHOD(msm) \
    METHOD(psi) \
    METHOD(rho) \
    METHOD(phi)

/* X: X_bench, of tools/bench_X.c, or, of pairs, gb and pme, of bench_energy.c: what `leyden bench`
 * measures beside methods. */
#define BENCHES(BENCH) \
    BENCH(lattice) \
    BENCH(fft) \
    BENCH(frontier) \
    BENCH(io) \
    BENCH(average) \
    BENCH(series) \
    BENCH(ions) \
    BENCH(orbital) \
    BENCH(pairs) \
    BENCH(gb) \
    BENCH(pme) \
    BENCH(fit) \
    BENCH(gain) \
    BENCH(all)

#define DECLARE_BENCH(name) extern const bench_row name##_bench;
#define DECLARE_COMMAND(name) extern const subcommand name##_command;
#define DECLARE_METHOD(name) extern const method_row name##_row;
COMMANDS(DECLARE_COMMAND)
METHODS(DECLARE_METHOD)
BENCHES(DECLARE_BENCH)

/* NULL behind the last. */
extern const subcommand *const command_table[];
extern const method_row *const method_table[];
extern const bench_row *const other_benches[];

/* Rows of these tables. */
/* clang-format off */
#define LIST_COMMAND(name) &name##_command,
#define LIST_METHOD(name) &name##_row,
#define LIST_BENCH(name) &name##_bench,
/* clang-format on */

#endif
