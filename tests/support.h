/* What the tests share: problems, a scratch directory, a device with faults. The C library's
 * headers that nearly all of them use come with it. */
#ifndef LEY_TEST_SUPPORT_H
#define LEY_TEST_SUPPORT_H

#include "device.h"
#include "leyden.h"

#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* As cmocka's, which all of its macros for groups call, but for tests that have another turn. */
#define _cmocka_run_group_tests support_run_tests
int support_run_tests(const char *title, const struct CMUnitTest *tests, size_t count, CMFixtureFunction begin,
                      CMFixtureFunction end);

/* What a program's main() returns: runs these functions as tests, which have their names; with a
 * group's own name, fixtures and device; or as "WHAT on DEVICE" with an engine of the device that
 * support_on_each_device() has. */
#define RUN_TESTS(...) RUN_GROUP(SUPPORT_GROUP(.name = "tests"), __VA_ARGS__)
#define RUN_GROUP(group, ...) \
    support_run_group((group), #__VA_ARGS__, (CMUnitTestFunction[]){__VA_ARGS__}, \
                      sizeof((CMUnitTestFunction[]){__VA_ARGS__}) / sizeof(CMUnitTestFunction))
#define RUN_ON_DEVICE(what, engine, ...) \
    RUN_GROUP(SUPPORT_GROUP(.name = what, .selector = selector, .device = info, .opened = engine), __VA_ARGS__)
#define SUPPORT_GROUP(...) ((support_group){__VA_ARGS__})
typedef struct support_group {
    const char *name;
    CMFixtureFunction begin, end, each; /* before and after all; before each test */
    ley_engine **opened;                /* meanwhile; NULL: none is */
    const char *selector;               /* of which devices; NULL: the default one alone */
    const ley_device_info *device;      /* which one it is, for the title */
} support_group;
int support_run_group(support_group group, const char *names, const CMUnitTestFunction *tests, size_t count);

/* Fails the test with the report's message unless status is LEY_OK. */
#define assert_ok(call) assert_ok_at((call), &error, #call, __FILE__, __LINE__)
void assert_ok_at(ley_status status, const ley_error *error, const char *call, const char *file, int line);

/* Fails the test unless the call ends with this status, and `error` has this part in its message;
 * or is this message. */
#define assert_error(call, status, part) assert_error_at((call), (status), &error, (part), false, __FILE__, __LINE__)
#define assert_error_is(call, status, message) \
    assert_error_at((call), (status), &error, (message), true, __FILE__, __LINE__)
void assert_error_at(ley_status status, ley_status expected, const ley_error *error, const char *says, bool is_all,
                     const char *file, int line);

/* What ley_X_create() makes of these; fails the test where it cannot be made. */
ley_atoms *support_make_atoms(size_t n, const double *position_A, const double *charge_e, const double *radius_A);
ley_map *support_make_map(const ley_grid *grid);
ley_points *support_make_points(int64_t n, const double *point_A);
ley_boundary *support_make_boundary(const ley_grid *grid);
ley_engine *support_make_engine(const char *selector);

/* Options as the library has them by default. */
#define SUPPORT_DEFAULT(kind) \
    static inline ley_##kind support_default_##kind(void) \
    { \
        ley_##kind options; \
        ley_##kind##_default(&options); \
        return options; \
    }
SUPPORT_DEFAULT(run_options)
SUPPORT_DEFAULT(direct)
SUPPORT_DEFAULT(short_range)
SUPPORT_DEFAULT(long_range)
SUPPORT_DEFAULT(request)
SUPPORT_DEFAULT(bench_options)

/* n random atoms in the box [low, high]^3, charges in [-1, 1] with zero sum, some of them on points
 * of a 0.5 A grid. */
ley_atoms *support_atoms(size_t n, double low_A, double high_A, unsigned seed);

/* Random atoms in the grid and up to `beyond` cells around it, far from nodes: where one is close,
 * it alone would be seen. One in 11 has no charge. */
ley_atoms *support_scattered(size_t n, const ley_grid *grid, double beyond, double largest_radius_A, unsigned seed);

/* n points, to be freed, each from least_A to most_A from one of the atoms, in any direction; the
 * last `upon` of them on atoms. */
double *support_points_near(const ley_atoms *atoms, size_t n, size_t upon, double least_A, double most_A,
                            unsigned seed);

/* A random number of [0, 1). */
double support_uniform(unsigned *seed);

/* Cubic crystals whose Madelung constants are known: NaCl, CsCl, ZnS (zinc blende). */
enum { SUPPORT_CRYSTALS = 3, SUPPORT_QUARTERS = 4 };
typedef struct support_crystal {
    const char *name;
    int ions;                /* of the cell */
    double edge, nearest;    /* the cell's, in any unit, and the nearest ions' distance in it */
    double constant;         /* of the nearest distance */
    const int (*quarter)[3]; /* where the ions are, in quarters of the edge: the first half of them positive */
} support_crystal;
extern const support_crystal support_crystals[SUPPORT_CRYSTALS];

/* How much of what tests vary is tried, from TEST_LEVEL (run.sh): what everybody waits for, also
 * when it is unset; every pair of values; everything. */
typedef enum support_level { SUPPORT_QUICK, SUPPORT_PAIRWISE, SUPPORT_FULL } support_level;
support_level support_get_level(void);
bool support_is_quick(void);

/* Whether a sanitizer is compiled in. Programs are several times slower under it, and run fewer
 * cases of what is judged without it. */
extern const bool support_is_sanitized;

/* Whether that is the thread sanitizer, to which what has no threads proves nothing. */
extern const bool support_watches_threads;

/* How many variants a method has, for pairwise.h. */
int support_variants(const char *method, ley_target_kind target);

/* The kinds of maths for pairwise.h: first the one that is chosen when nobody asks, as level quick
 * has most of that one, and other tests have the same kernels. */
ley_math support_math(int i);

/* Whether the engine's device is a CPU with variants of its own, for vectors, which compiles those
 * of GPUs slowly. */
bool support_has_vectors(const ley_engine *engine);

/* Whether a variant (NULL: the default) is tried on the engine's device: at level quick those for
 * vectors where there are vectors, and the others where there are none. */
bool support_tries_variant(const ley_engine *engine, const char *variant);

/* Relative RMS difference, |a - b| / |b|; infinite when a value of a is not finite. */
double support_difference(const ley_map *a, const ley_map *b);

/* A map of this grid computed by the reference alone, in kT/e at 298.15 K. */
ley_map *support_reference_map(const ley_atoms *atoms, const ley_grid *grid, double r_min_A);

/* Everything that a job may be asked, of whatever problem. */
typedef enum support_method { SUPPORT_DCS, SUPPORT_MDH, SUPPORT_CUTOFF } support_method;

typedef struct support_options {
    support_method method;
    ley_units units;
    double dielectric, temperature_K, r_min_A; /* of DCS, and in place of those of short_range */
    ley_short_range short_range;
    ley_math math;
    ley_sum sum;
    const char *variant;
    int64_t slab_planes;
    size_t verify_points;
    uint64_t verify_seed;
    size_t verify_least;
    void (*progress)(void *context, const ley_progress *progress);
    void *progress_context;
} support_options;

/* The library's defaults, of DCS. */
support_options support_default_options(void);

/* What of these the library's functions take. */
ley_run_options support_run_options(const support_options *options);
ley_direct support_direct(const support_options *options);
ley_short_range support_range(const support_options *options);

/* The library's creators, and its question about memory, by the method of the options. */
ley_status support_job_create(ley_engine *engine, const ley_atoms *atoms, ley_map *map, const support_options *options,
                              ley_job **job, ley_error *error);
ley_status support_job_create_boundary(ley_engine *engine, const ley_atoms *atoms, ley_boundary *boundary,
                                       const ley_solvent *solvent, const support_options *options, ley_job **job,
                                       ley_error *error);
ley_status support_check_memory(const ley_atoms *atoms, const ley_grid *grid, const support_options *options,
                                ley_error *error);

/* The notes of a short-range job by name; all zero where there are none. */
typedef struct support_notes {
    int64_t bins, bin_depth, binned, overflow, outside, neutral;
    double bin_side_A[3];
    ley_place binning, transposition;
    double binning_s, transposition_s;
} support_notes;

support_notes support_notes_of(const ley_report *report);

/* Runs a job on an engine; the map is the caller's. Fails the test when the job fails. */
ley_map *support_run(ley_engine *engine, const ley_atoms *atoms, const ley_grid *grid, const support_options *options);

/* A job, and all that it works on. */
typedef struct support_job {
    ley_status status;
    ley_error error;
    ley_atoms *atoms;
    ley_map *map;
    ley_engine *engine;
    support_options options;
    ley_job *job;
} support_job;

/* Computes a new map of this grid from the atoms, which become the job's; `status` says how that
 * ended. */
support_job support_job_run(ley_atoms *atoms, const ley_grid *grid, const char *selector,
                            const support_options *options);
void support_job_end(support_job *j);

/* A job at points, by the method of the options, with all that it works on but the atoms. */
typedef struct support_points_job {
    ley_status status;
    ley_error error;
    ley_points *points;
    ley_job *job;
} support_points_job;

support_points_job support_points_run(ley_engine *engine, const ley_atoms *atoms, size_t n, const double *point_A,
                                      const support_options *options, bool field);
void support_points_end(support_points_job *j);

/* Processor time of this process, all threads together: what a limit of a test should count, as it
 * does not grow with what else the machine does. */
double support_cpu_s(void);

/* Cancels the job in so many microseconds; to be joined. */
pthread_t support_cancel_later(ley_job *job, unsigned after_us);

/* Processor time of this process since the last of these threads cancelled. */
double support_cpu_since_cancelled_s(void);

/* An empty build cache from now on: a cached kernel is not tested again. */
void support_fresh_cache(void);

/* From now on, until LEYDEN_KERNEL_DIR is unset, `kernel` is built with each `from` in its
 * files, of which one must have it, replaced by `to`. */
void support_plant_fault(const char *kernel, const char *from, const char *to);

/* Copies a tree of kernels to the folder `target`, which it makes; in the file `changed`, or in the
 * files of the kernel `changed`, all of `from`, which must be there, becomes `to`. Tests run at the
 * root of the sources. */
void support_copy_kernels(const char *tree, const char *target, const char *changed, const char *from, const char *to);

/* ---- Short-range jobs ------------------------------------------------------------------------ */

/* n atoms of charges in [-1, 1] and radii of 1 to 2 A in the grid and up to `beyond_A` around
 * it: some on points, some within 0.02 A of one, a crowd in one place, and one in 17 without
 * charge. */
ley_atoms *support_crowd(size_t n, const ley_grid *grid, double beyond_A, unsigned seed);

/* Options with all that the pair function takes; energies with an r_min of 1 A. */
support_options support_short_range(ley_pair pair, double cutoff_A);

/* How far all points of a map are from double precision; at level quick a third of them, where
 * there are many. */
typedef struct support_error {
    double rms;   /* relative */
    double worst; /* of one point, relative to the sum of its terms' magnitudes; infinite when a value is not finite */
} support_error;

support_error support_short_range_error(const ley_map *map, const ley_atoms *atoms, const support_options *options);

/* A fresh directory for this program's files and for the build cache, removed at exit. */
const char *support_directory(void);

/* A whole file, with a NUL behind it; the caller frees it. `size` may be NULL. */
char *support_read_file(const char *path, size_t *size);

/* ---- Devices --------------------------------------------------------------------------------- */

/* Calls `run` for each device that can be used, with the words that select it alone, and adds up
 * what it returns; 1 when there is none. */
int support_on_each_device(int (*run)(const char *selector, const ley_device_info *info));

/* An engine of this device; false, and a line about `name`, when there is none. */
bool support_open(const char *selector, const char *name, ley_engine **engine);

/* The same of one of the devices that the selector means, without the others. */
bool support_open_alone(const char *selector, const char *name, ley_engine **engine);

/* An engine of the default device alone: without others, to which a job turns where that one fails,
 * and which may have their kernels in another language. */
bool support_open_default(ley_engine **engine);

/* For programs that take the default device, first of all: there is no second driver, since which
 * of two CPU devices is the default would depend on what else runs. */
void support_leave_out_second_driver(void);

/* There are none but these of PoCL's, "pthread pthread": neither other platforms' nor cards. */
void support_pocl_alone(const char *devices);

/* Follows a job's progress: counts the calls and those that say nonsense, and cancels the job at a
 * call (from 1; -1: before it runs), or when everything is computed. Set before the job is
 * created: these wishes; `job` once it is. */
typedef struct support_watch {
    ley_job *job;
    int calls, faults, cancel_at_call;
    bool cancel_at_end;
    int64_t done, total;
    double elapsed_s;
} support_watch;

/* support_options.progress; its context is a support_watch. */
void support_note_progress(void *watch, const ley_progress *progress);

/* Runs the watch's job, cancelled before where it wants that. No device may be blamed, nothing said
 * be nonsense. Destroys the job. `points` (may be NULL): those of its report. */
ley_status support_run_watched(support_watch *watch, int64_t *points);

#endif
