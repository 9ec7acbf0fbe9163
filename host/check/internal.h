/* Checks of a device and its driver: a table of them, a row each, and what a row is given. A check
 * tries one case after the other; each has a result. All of it runs on the device's own thread and
 * goes through the one device interface. */
#ifndef LEY_CHECK_INTERNAL_H
#define LEY_CHECK_INTERNAL_H

#include "check_kernels.h"
#include "dev_kernel.h"
#include "engine/command_sequence.h"
#include "leyden.h"
#include "memory/arena.h"

/* What a check takes of a device. */
enum { CHECK_NEEDS_DOUBLE = 1, CHECK_NEEDS_BINARIES = 2 };

typedef struct check_session check_session;

/* A device on trial. */
typedef struct check_run {
    dev *device;
    bool quick;
    check_session *session;            /* takes results */
    bool is_recorded;                  /* what is done is written down: nothing is left over from before */
    dev_kernel functions[3];           /* of each type, made by the first check that needs it */
    double root_error[LEY_ROOT_COUNT]; /* of recipes, as kernels' limits need them; 0: not measured yet */
} check_run;

/* Standard error is where it belongs again, also where a driver does not return that was
 * silenced. */
void check_let_speak(void);

typedef struct check_row {
    ley_check_row row;
    unsigned needs; /* bits of CHECK_NEEDS_... */
    void (*run)(check_run *run, const struct check_row *row);
    const void *subject; /* a function, a row of sizes; kernels are named like their row */
} check_row;

extern const check_row check_table[];
extern const size_t check_table_count;

/* What a case found, for whoever asks: zeros at first. */
typedef struct check_finding {
    bool has_error;
    double error, tolerance, ulps;
    int64_t ulp_counts[LEY_CHECK_BINS];
    bool has_value; /* of a wrong value: what was read, and what is right */
    double found, right, allowed;
    char text[256]; /* of one that passed, or was skipped */
} check_finding;

/* A case at some size. LEY_OK; LEY_ERROR_WRONG_RESULT, or what else went wrong;
 * LEY_ERROR_NO_DEVICE: the device has not what it takes, which skips the case. */
typedef ley_status check_attempt(check_run *run, void *context, size_t size, check_finding *finding, ley_error *error);

typedef struct check_case {
    const char *variant; /* "" where there is one */
    size_t size, least;  /* that it is tried at first; where halving ends when it fails */
    const char *unit;    /* what the size counts: "numbers"; NULL: there is none */
    check_attempt *attempt;
    void *context;
} check_case;

/* Tries a case. One that is wrong is made smaller by halves as long as it is; and a program is
 * written that shows it, where somebody wants that. */
void check_try(check_run *run, const check_row *row, const check_case *c);

/* Whether nothing more is to be tried. */
bool check_is_over(const check_run *run);

/* Whether a variant is among those that are asked for. */
bool check_wants(const check_run *run, const check_row *row, const char *variant);

/* A result without a case. */
void check_skip(check_run *run, const check_row *row, const char *variant, const char *why);

/* LEY_ERROR_WRONG_RESULT, with a message; notes the value that was found in place of the right
 * one. */
ley_status check_wrong(check_finding *f, double found, double right, ley_error *error, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* ---- What checks share ----------------------------------------------------------------------- */

/* A device's memory and launches, for a case. */
typedef struct check_bench {
    arena arena;
    flight flight;
    command_sequence command_sequence;
} check_bench;

void check_bench_begin(check_bench *b, dev *device);
ley_status check_bench_finish(check_bench *b, ley_error *error);
void check_bench_end(check_bench *b);

/* Room for what comes back, from the device: bytes of not-a-numbers at first. */
ley_status check_bench_results(check_bench *b, size_t bytes, results *made, ley_error *error);

/* ---- The checks ------------------------------------------------------------------------------ */

void check_function(check_run *run, const check_row *row);
void check_denormals(check_run *run, const check_row *row);
void check_infinities(check_run *run, const check_row *row);
void check_no_numbers(check_run *run, const check_row *row);
void check_structs(check_run *run, const check_row *row);
void check_arguments(check_run *run, const check_row *row);
void check_integers(check_run *run, const check_row *row);
void check_local_memory(check_run *run, const check_row *row);
void check_constant_memory(check_run *run, const check_row *row);
void check_offsets(check_run *run, const check_row *row);
void check_wide(check_run *run, const check_row *row);
void check_allocations(check_run *run, const check_row *row);
void check_far_places(check_run *run, const check_row *row);
void check_groups(check_run *run, const check_row *row);
void check_order(check_run *run, const check_row *row);
void check_stamps(check_run *run, const check_row *row);
void check_two_queues(check_run *run, const check_row *row);
void check_options(check_run *run, const check_row *row);
void check_logs(check_run *run, const check_row *row);
void check_binaries(check_run *run, const check_row *row);
void check_transforms(check_run *run, const check_row *row);
void check_kernel(check_run *run, const check_row *row);
void check_measuring_kernel(check_run *run, const check_row *row);

/* How far a recipe for 1/sqrt is off on this device, for the limits of kernels that take it: as
 * measured, or where it cannot be or is wrong, as it should be. */
double check_root_error(check_run *run, int root, int width);

#endif
