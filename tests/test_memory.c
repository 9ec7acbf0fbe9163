/* Memory is asked for before it is taken: what a machine has, what jobs are predicted to take and
 * really take, refusals that touch nothing; and preparations that end soon when nobody wants them
 * any more. */
#include "support.h"

#include "engine/engine.h"
#include "layout/binning.h"
#include "memory.h"
#include "methods/cutoff/build.h"
#include "methods/cutoff/kernel.h"
#include "methods/dcs/build.h"
#include "methods/dcs/kernel.h"
#include "methods/mdh/kernel.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

static const double mib = 1 << 20, gib = 1 << 30;

static int reset(void **state)
{
    memory_pretend(-1);
    return 0;
}

/* ---- What a machine has ---------------------------------------------------------------------- */

static char machine[512];

/* A new machine without a file. */
static void new_machine(void)
{
    static int number;
    snprintf(machine, sizeof machine, "%s/machine%d", support_directory(), number++);
}

/* A file of it, with the folders that it needs. */
static void put(const char *path, const char *text)
{
    char whole[1024];
    snprintf(whole, sizeof whole, "%s%s", machine, path);
    for (char *slash = strchr(whole + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(whole, 0700);
        *slash = '/';
    }
    FILE *file = fopen(whole, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void expect_room(double bytes, const char *limit)
{
    const memory_room left = memory_available_below(machine);
    const double reserve = fmin(bytes / 16, 256 * mib);
    if (fabs(left.bytes - (bytes - reserve)) > 1)
        fail_msg("%.0f bytes of %s, expected %.0f", left.bytes, left.limit, bytes - reserve);
    assert_non_null(strstr(left.limit, limit));
}

static void test_free_memory(void **state)
{
    new_machine();
    assert_true(isinf(memory_available_below(machine).bytes));
    put("/proc/meminfo",
        "MemTotal:       24684084 kB\nMemFree:        100 kB\nMemAvailable:   20971520 kB\nSwapFree: 99999999 kB\n");
    expect_room(20 * gib, "this machine");
    put("/proc/meminfo", "MemTotal:       24684084 kB\nMemAvailable:   1024 kB");
    expect_room(mib, "this machine");
}

/* Version 2: a group's own limit, those above it, what of its use is file cache. */
static void test_groups_of_version_2(void **state)
{
    new_machine();
    put("/proc/meminfo", "MemAvailable:   20971520 kB\n");
    put("/proc/self/cgroup", "0::/user/job\n");
    put("/proc/self/mountinfo", "22 1 0:20 / /proc rw - proc proc rw\n29 22 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - "
                                "cgroup2 cgroup2 rw,nsdelegate\n");
    expect_room(20 * gib, "this machine");
    put("/sys/fs/cgroup/user/job/memory.max", "max\n");
    put("/sys/fs/cgroup/user/job/memory.current", "1048576\n");
    expect_room(20 * gib, "this machine");
    put("/sys/fs/cgroup/user/memory.max", "2147483648\n");
    put("/sys/fs/cgroup/user/memory.current", "1073741824\n");
    expect_room(gib, "control group");
    put("/sys/fs/cgroup/user/memory.stat", "anon 5\nfile 900\ninactive_file 104857600\nactive_file 1048576\n");
    expect_room(gib + 101 * mib, "control group");
    put("/sys/fs/cgroup/user/job/memory.max", "105906176\n");
    expect_room(100 * mib, "control group");
    put("/sys/fs/cgroup/user/job/memory.current", "205906176\n");
    expect_room(0, "control group");
}

/* Version 1, beside other hierarchies; and in a container that sees its own part only, under the
 * name that it has outside. */
static void test_groups_of_version_1(void **state)
{
    new_machine();
    put("/proc/meminfo", "MemAvailable:   20971520 kB\n");
    put("/proc/self/cgroup", "5:cpu,cpuacct:/elsewhere\n4:memory:/slurm/job\n0::/\n");
    put("/proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n35 31 0:32 / "
                                "/sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
                                "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
    put("/sys/fs/cgroup/memory/slurm/job/memory.limit_in_bytes", "9223372036854771712\n");
    put("/sys/fs/cgroup/memory/slurm/job/memory.usage_in_bytes", "1000\n");
    expect_room(20 * gib, "this machine");
    put("/sys/fs/cgroup/memory/slurm/memory.limit_in_bytes", "1073741824\n");
    put("/sys/fs/cgroup/memory/slurm/memory.usage_in_bytes", "524288000\n");
    put("/sys/fs/cgroup/memory/slurm/memory.stat", "cache 4\ninactive_file 77\ntotal_inactive_file 52428800\n");
    expect_room(574 * mib, "control group");
    new_machine();
    put("/proc/meminfo", "MemAvailable:   20971520 kB\n");
    put("/proc/self/cgroup", "4:memory:/docker/abc/inner\n");
    put("/proc/self/mountinfo", "35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n");
    put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "2147483648\n");
    expect_room(2 * gib, "control group");
    put("/sys/fs/cgroup/memory/inner/memory.limit_in_bytes", "1073741824\n");
    expect_room(gib, "control group");
    put("/proc/self/cgroup", "4:memory:/other\n"); /* not below what is mounted: the mount is all there is */
    expect_room(2 * gib, "control group");
}

/* Runs in a process of its own; returns its exit code. */
static int apart(int (*run)(void *context), void *context)
{
    const pid_t child = fork();
    if (child == 0)
        _exit(run(context));
    int how;
    assert_int_equal(waitpid(child, &how, 0), child);
    return WIFEXITED(how) ? WEXITSTATUS(how) : 128;
}

/* 1: it is not what was set that limits. */
static int limited(void *context)
{
    const int which = *(const int *)context;
    struct rlimit limit;
    if (getrlimit((__rlimit_resource_t)which, &limit) != 0)
        return 2;
    limit.rlim_cur = (rlim_t)1 << 40; /* more than anything takes; sanitizers take more address space */
    setrlimit((__rlimit_resource_t)which, &limit);
    if (strstr(memory_available().limit, "ulimit") != NULL)
        return 77;
    limit.rlim_cur = (rlim_t)1 << 29;
    setrlimit((__rlimit_resource_t)which, &limit);
    const memory_room left = memory_available();
    return strstr(left.limit, which == RLIMIT_AS ? "ulimit -v" : "ulimit -d") != NULL && left.bytes < 512 * mib ? 0 : 1;
}

static void test_ulimit(void **state)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip(); /* they take more address space than any limit leaves */
#endif
    for (size_t i = 0; i < 2; i++) {
        int which = i == 0 ? RLIMIT_AS : RLIMIT_DATA;
        const int code = apart(limited, &which);
        assert_true(code == 0 || code == 77);
    }
    assert_true(memory_available().bytes > 0);
}

/* ---- Refusals -------------------------------------------------------------------------------- */

static ley_atoms *three_atoms(void)
{
    static const double position_A[] = {0, 0, 0, 0.5, 0.2, 0, 0.3, 0.6, 0.1}, charge_e[] = {1, -0.5, -0.5};
    return support_make_atoms(3, position_A, charge_e, NULL);
}

static support_options periodic(double cutoff_A, double edge_A)
{
    support_options o = support_short_range(LEY_PAIR_SHIFTED, cutoff_A);
    for (int axis = 0; axis < 3; axis++) {
        o.short_range.periodic[axis] = true;
        o.short_range.cell_A[axis][axis] = edge_A;
    }
    return o;
}

static double resident_bytes(void)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return 1024.0 * (double)use.ru_maxrss;
}

/* From now on the peak is that of what follows. Where the system cannot do so it stays. */
static void forget_peak(void)
{
    const int file = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
    if (file >= 0 && write(file, "5", 1) != 1)
        print_message("the peak of memory stays what it was\n");
    close(file);
}

static void expect_refused(ley_status status, ley_error *error, const char *what, const char *advice)
{
    if (status != LEY_ERROR_MEMORY || strstr(error->message, what) == NULL || strstr(error->message, advice) == NULL ||
        strstr(error->message, " GiB") == NULL)
        fail_msg("%d: %s; expected '%s' and '%s'", (int)status, error->message, what, advice);
    ley_error_clear(error);
}

/* Each of them is small; together they are not. */
static void test_many_maps(void **state)
{
    enum { MAPS = 4000 };
    static ley_map *maps[MAPS];
    ley_error error = {0};
    const ley_grid grid = {.step_A = LEY_STEPS(0.5, 0.5, 0.5), .n = {100, 100, 50}};
    memory_pretend(1 * gib);
    expect_refused(ley_maps_create(&grid, MAPS, maps, &error), &error,
                   "4000 maps of 100 x 100 x 50 points would take 7.", "a coarser spacing");
    assert_null(maps[0]);
    assert_ok(ley_maps_create(&grid, 40, maps, &error));
    for (int i = 0; i < 40; i++) {
        assert_true(isnan(ley_map_read_values(maps[i])[ley_grid_points(&grid) - 1]));
        ley_map_destroy(maps[i]);
    }
    memory_pretend(-1);
}

static void test_jobs_are_refused(void **state)
{
    ley_error error = {0};
    ley_atoms *atoms = three_atoms();
    ley_grid grid = {.step_A = LEY_STEPS(0.5, 0.5, 0.5), .n = {2, 2, 2}};
    support_options options = periodic(300, 1);
    const double before = resident_bytes(), start_s = support_cpu_s();
    memory_pretend(20 * gib);
    expect_refused(support_check_memory(atoms, &grid, &options, &error), &error, "the job would take 29.",
                   "a shorter cutoff");
    options.short_range.pair = LEY_PAIR_LENNARD_JONES;
    expect_refused(support_check_memory(atoms, &grid, &options, &error), &error, "20.0 GiB are available",
                   "a larger cell");
    options = periodic(30, 1);
    assert_ok(support_check_memory(atoms, &grid, &options, &error));
    options = periodic(30, 2000);
    const ley_grid large = {.step_A = LEY_STEPS(0.5, 0.5, 0.5), .n = {2000, 2000, 1500}};
    expect_refused(support_check_memory(atoms, &large, &options, &error), &error, "the map 22.4 GiB",
                   "a coarser spacing");
    options.method = SUPPORT_DCS;
    expect_refused(support_check_memory(atoms, &large, &options, &error), &error, "the map 22.4 GiB",
                   "a coarser spacing");
    memory_pretend(40 * gib);
    assert_ok(support_check_memory(atoms, &large, &options, &error));
    memory_pretend(-1); /* no machine has this */
    const ley_grid largest = {.step_A = LEY_STEPS(0.5, 0.5, 0.5), .n = {1 << 30, 1 << 10, 1 << 20}};
    expect_refused(support_check_memory(atoms, &largest, &options, &error), &error, "GiB", "a coarser spacing");
    assert_true(support_cpu_s() - start_s < 1 && resident_bytes() - before < 32 * mib);
    ley_atoms_destroy(atoms);
}

/* Every interface on its own, without that plan. */
static void test_allocations_are_refused(void **state)
{
    ley_error error = {0};
    ley_map *map = NULL;
    ley_atoms *water = NULL, *atoms = three_atoms();
    ley_boundary *boundary = NULL;
    binned_atoms *binned = NULL;
    binning_plan plan;
    const ley_grid grid = {.step_A = LEY_STEPS(0.5, 0.5, 0.5), .n = {1000, 1000, 1000}},
                   small = {.step_A = LEY_STEPS(0.5, 0.5, 0.5), .n = {2, 2, 2}},
                   flat = {.step_A = LEY_STEPS(0.5, 0.5, 0.5), .n = {1 << 28, 1 << 28, 2}};
    const double before = resident_bytes(), start_s = support_cpu_s();
    memory_pretend(3 * gib);
    expect_refused(ley_map_create(&grid, &map, &error), &error, "a map of 1000 x 1000 x 1000 points would take 3.7 GiB",
                   "a coarser spacing");
    expect_refused(ley_waterbox_create(INT32_MAX, 1, 0, &water, &error), &error, "the atoms would take 80.0 GiB",
                   "fewer atoms");
    expect_refused(ley_boundary_create(&flat, &boundary, &error), &error, "the boundary", "a coarser spacing");
    binning_options options;
    binning_options_default(&options);
    options.cutoff_A = 300;
    for (int axis = 0; axis < 3; axis++) {
        options.periodic[axis] = true;
        options.cell_A[axis][axis] = 1;
    }
    assert_ok(binning_prepare(atoms, &small, &options, &plan, &error));
    expect_refused(binning_fill(&plan, atoms, NULL, &binned, &error), &error, "atoms and their images 14.",
                   "a shorter cutoff");
    assert_true(map == NULL && water == NULL && boundary == NULL && binned == NULL);
    assert_true(support_cpu_s() - start_s < 1 && resident_bytes() - before < 32 * mib);
    ley_atoms_destroy(atoms);
}

/* A header that announces a map: of a file that cannot hold it the end is reported, of one that can
 * the memory. */
static void test_headers_of_maps(void **state)
{
    static const char header[] =
        "object 1 class gridpositions counts 4000 4000 4000\norigin 0 0 0\ndelta 1 0 0\ndelta 0 1 0\ndelta 0 0 1\n"
        "object 2 class gridconnections counts 4000 4000 4000\n"
        "object 3 class array type double rank 0 items 64000000000 data follows\n1 2 3\n";
    char path[600];
    ley_error error = {0};
    ley_map *map = NULL;
    snprintf(path, sizeof path, "%s/announced.dx", support_directory());
    FILE *file = fopen(path, "w");
    fputs(header, file);
    fclose(file);
    memory_pretend(20 * gib);
    assert_error(ley_map_read_dx(path, &map, &error), LEY_ERROR_INPUT, "the file ends after 3 of 64000000000 values");
    assert_int_equal(truncate(path, (off_t)1 << 37), 0);
    const double start_s = support_cpu_s();
    expect_refused(ley_map_read_dx(path, &map, &error), &error,
                   "announced.dx: not enough memory: reading the map would take 477 GiB", "fewer points");
    assert_true(support_cpu_s() - start_s < 1);
    unlink(path);
}

/* Lists grow: what they would grow to is looked at. */
static void test_long_files(void **state)
{
    if (support_watches_threads)
        skip();
    char path[600];
    ley_error error = {0};
    ley_atoms *atoms = NULL;
    double *point_A = NULL;
    int64_t n = 0;
    snprintf(path, sizeof path, "%s/long.pqr", support_directory());
    FILE *file = fopen(path, "w");
    for (int i = 0; i < 1800000; i++)
        fputs("ATOM 1 O W 1 0 0 0 1 1\n", file);
    fclose(file);
    memory_pretend(16 * mib);
    expect_refused(ley_atoms_read_pqr(path, &atoms, &error), &error, "reading the atoms would take", "fewer atoms");
    memory_pretend(-1);
    assert_ok(ley_atoms_read_pqr(path, &atoms, &error));
    assert_int_equal(ley_atoms_count(atoms), 1800000);
    ley_atoms_destroy(atoms);
    file = fopen(path, "w");
    for (int i = 0; i < 4000000; i++)
        fputs("0 0 0\n", file);
    fclose(file);
    memory_pretend(8 * mib);
    expect_refused(ley_points_read(path, &n, &point_A, &error), &error, "reading the points would take",
                   "fewer points");
    memory_pretend(-1);
    assert_ok(ley_points_read(path, &n, &point_A, &error));
    assert_true(n == 4000000);
    free(point_A);
    unlink(path);
}

/* Small compressed files that hold more than there is memory for: a clear word, and no memory
 * taken. */
static void test_decompression_bombs(void **state)
{
    if (support_watches_threads)
        skip();
    static const struct {
        const char *name, *head, *line, *what;
    } bombs[] = {
        {"bomb.pqr.gz", "", "ATOM 1 O W 1 0 0 0 1 1\n", "MiB so far: not enough memory: reading the atoms would take"},
        {"bomb.csv.gz", "", "0 0 0\n", "MiB so far: not enough memory: reading the points would take"},
        {"bomb.dx.gz",
         "object 1 class gridpositions counts 1000 1000 1000\norigin 0 0 0\ndelta 1 0 0\ndelta 0 1 0\ndelta 0 0 1\n"
         "object 3 class array type double rank 0 items 1000000000 data follows\n",
         "0 0 0 0 0 0 0 0\n", "not enough memory: reading the map would take"},
    };
    ley_error error = {0};
    ley_atoms *atoms = NULL;
    ley_map *map = NULL;
    double *point_A = NULL;
    int64_t n = 0;
    char path[600];
    for (size_t i = 0; i < sizeof bombs / sizeof *bombs; i++) {
        struct stat known;
        snprintf(path, sizeof path, "%s/%s", support_directory(), bombs[i].name);
        gzFile file = gzopen(path, "wb1");
        gzputs(file, bombs[i].head);
        for (int k = 0; k < 5000000; k++)
            gzputs(file, bombs[i].line);
        assert_int_equal(gzclose(file), Z_OK);
        assert_int_equal(stat(path, &known), 0);
        assert_true(known.st_size < 2 * mib);
        memory_pretend(8 * mib);
        forget_peak();
        const double before = resident_bytes();
        ley_status status = i == 0   ? ley_atoms_read_pqr(path, &atoms, &error)
                            : i == 1 ? ley_points_read(path, &n, &point_A, &error)
                                     : ley_map_read_dx(path, &map, &error);
        const double taken = resident_bytes() - before;
        memory_pretend(-1);
        assert_non_null(strstr(error.message, path));
        expect_refused(status, &error, bombs[i].what, "fewer");
        assert_true(support_is_sanitized || taken < 128 * mib); /* a sanitizer's own memory is counted, too */
        unlink(path);
    }
}

/* ---- Predicted and real ---------------------------------------------------------------------- */

typedef struct measured {
    const char *name;
    double cutoff_A, edge_A; /* edge 0: open */
    size_t atoms;
    double fill;
    bool is_radii;
} measured;

/* Peak memory of what binning takes is near what was predicted: 1 if not. */
static int measure(void *context)
{
    const measured *m = context;
    ley_error error = {0};
    ley_atoms *atoms = NULL;
    const ley_grid grid = {.step_A = LEY_STEPS(1, 1, 1),
                           .n = {m->edge_A > 0 ? 2 : 160, m->edge_A > 0 ? 2 : 160, m->edge_A > 0 ? 2 : 160}};
    if (m->edge_A > 0)
        atoms = three_atoms();
    else if (ley_waterbox_create((int64_t)m->atoms, 1, 0, &atoms, &error) != LEY_OK)
        return 2;
    support_options o =
        m->edge_A > 0 ? periodic(m->cutoff_A, m->edge_A) : support_short_range(LEY_PAIR_SHIFTED, m->cutoff_A);
    o.short_range.pair = m->is_radii ? LEY_PAIR_LENNARD_JONES : LEY_PAIR_SHIFTED;
    o.short_range.bin_fill = m->fill;
    cutoff_problem p;
    if (cutoff_problem_init(&p, atoms, &grid, &o.short_range, 1, 1, 0.05, &error) != LEY_OK)
        return 3;
    const binning_bytes b = binning_predict(&p.plan, atoms);
    const double more = m->is_radii ? (double)p.plan.bins * p.plan.options.depth * 8 : 0;
    const double predicted = b.bins + more + b.overflow + fmax(b.sorting, b.extra), before = resident_bytes();
    if (cutoff_problem_bin(&p, &error) != LEY_OK)
        return 4;
    const double real = resident_bytes() - before;
    print_message("%-28s %11.0f entries, predicted %7.1f MiB, real %7.1f MiB\n", m->name, b.entries, predicted / mib,
                  real / mib);
    return real > 1.15 * predicted + 24 * mib || real < 0.7 * predicted - 24 * mib;
}

static void test_predictions(void **state)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip(); /* their own memory is counted, too */
#endif
    static const measured cases[] = {
        {"3 atoms, cell of 1 A", 60, 1, 3, 0.75, false},  {"3 atoms, cell of 1 A, radii", 40, 1, 3, 0.75, true},
        {"3 atoms, cell of 2 A", 100, 2, 3, 0.75, false}, {"water", 12, 0, 400000, 0.75, false},
        {"water, full bins", 12, 0, 400000, 6, false},    {"water, radii", 12, 0, 400000, 0.75, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(apart(measure, (void *)&cases[i]), 0);
}

/* ---- Cancelled preparations ------------------------------------------------------------------ */

/* The job's own preparation, from its start to the cancelled end, beside a device that has nothing
 * to do yet. */
static void expect_soon(ley_engine *engine, const support_options *options, unsigned after_us)
{
    ley_error error = {0};
    ley_atoms *atoms = three_atoms();
    const ley_grid grid = {.step_A = LEY_STEPS(0.5, 0.5, 0.5), .n = {2, 2, 2}};
    ley_job *job;
    ley_map *map = support_make_map(&grid);
    assert_ok(support_job_create(engine, atoms, map, options, &job, &error));
    const pthread_t other = support_cancel_later(job, after_us);
    const ley_status status = ley_job_run(job, &error);
    pthread_join(other, NULL);
    const double late_s = support_cpu_since_cancelled_s();
    print_message("cancelled after %.2f s: ended %.3f s of processor time later, after %.2f s of preparation\n",
                  1e-6 * after_us, late_s, ley_job_report(job)->prepare_s);
    assert_int_equal(status, LEY_CANCELLED);
    assert_true(late_s < 0.5);
    ley_error_clear(&error);
    ley_job_destroy(job);
    ley_map_destroy(map);
    ley_atoms_destroy(atoms);
}

static void test_cancelled_preparations(void **state)
{
    ley_error error = {0};
    ley_engine *engine = NULL;
    if (ley_engine_create("cpu", &engine, &error) != LEY_OK)
        skip();
    support_options options = periodic(110, 1);
    const unsigned longer = support_is_quick() ? 3 : 1;
    for (unsigned after_us = 50000; after_us <= 1100000; after_us += longer * 350000)
        expect_soon(engine, &options, after_us);
    options.short_range.pair = LEY_PAIR_LENNARD_JONES; /* whose numbers are made slot by slot */
    options.r_min_A = 1;
    for (unsigned after_us = 500000; after_us <= 1500000; after_us += longer * 500000)
        expect_soon(engine, &options, after_us);
    ley_engine_destroy(engine);
}

/* Atoms are packed and bins brought to a device in parts, between which a flag is looked at. */
static void test_cancelled_loads(void **state)
{
    ley_error error = {0};
    ley_engine *engine = NULL;
    if (ley_engine_create("cpu", &engine, &error) != LEY_OK)
        skip();
    const atomic_bool cancelled = true;
    dev *device = engine->workers[0].device;
    ley_atoms *atoms = three_atoms();
    const ley_grid grid = {.step_A = LEY_STEPS(0.5, 0.5, 0.5), .n = {40, 30, 20}};
    dcs_kernel dcs = {.device = device};
    const dcs_problem dcs_sum = {atoms, grid, 1, 0.05, &cancelled};
    assert_ok(dcs_kernel_create(device, &(dcs_wish){.n_x = 40, .n_y = 30}, &dcs, &error));
    assert_int_equal(dcs_kernel_load(&dcs, &dcs_sum, 1, 1, &error), LEY_CANCELLED);
    dcs_kernel_destroy(&dcs);

    ley_boundary *boundary = support_make_boundary(&grid);
    mdh_problem mdh_sum;
    assert_ok(mdh_problem_init(&mdh_sum, atoms, boundary, 1, 0.1, &error));
    mdh_sum.cancelled = &cancelled;
    mdh_kernel mdh = {.device = device};
    assert_int_equal(mdh_kernel_load(&mdh, &mdh_sum, &error), LEY_CANCELLED);
    mdh_problem_end(&mdh_sum);
    ley_boundary_destroy(boundary);

    const support_options o = support_short_range(LEY_PAIR_SHIFTED, 4);
    cutoff_problem sum;
    assert_ok(cutoff_problem_init(&sum, atoms, &grid, &o.short_range, 1, 1, 0.05, &error));
    assert_ok(cutoff_problem_bin(&sum, &error));
    cutoff_kernel cutoff = {.device = device};
    const cutoff_wish wish = {.pair = LEY_PAIR_SHIFTED, .depth = 8};
    assert_ok(cutoff_kernel_create(device, &wish, &sum, &cutoff, &error));
    sum.plan.options.cancelled = &cancelled;
    assert_int_equal(cutoff_kernel_load(&cutoff, &sum, &error), LEY_CANCELLED);
    cutoff_kernel_destroy(&cutoff);
    cutoff_problem_clear(&sum);
    ley_error_clear(&error);
    ley_atoms_destroy(atoms);
    ley_engine_destroy(engine);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, reset)
    const struct CMUnitTest tests[] = {
        TEST(test_free_memory),
        TEST(test_groups_of_version_2),
        TEST(test_groups_of_version_1),
        TEST(test_ulimit),
        TEST(test_many_maps),
        TEST(test_jobs_are_refused),
        TEST(test_allocations_are_refused),
        TEST(test_headers_of_maps),
        TEST(test_long_files),
        TEST(test_decompression_bombs),
        TEST(test_predictions),
        TEST(test_cancelled_preparations),
        TEST(test_cancelled_loads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
