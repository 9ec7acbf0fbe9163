/* A process that computes maps for days: its memory stays what it was after the first ones. At
 * level full 5,000 maps and 200 engines. */
#include "support.h"

#include <malloc.h>
#include <unistd.h>

enum { KINDS = 4, MIB = 1 << 20 };

/* Pages in memory, and what malloc() has given out: the former also counts what it keeps for
 * itself. */
typedef struct taken {
    double resident_MiB, allocated_MiB;
} taken;

static taken look(void)
{
    long all = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%ld %ld", &all, &resident), 2);
    fclose(file);
    const struct mallinfo2 given = mallinfo2();
    return (taken){(double)resident * (double)sysconf(_SC_PAGESIZE) / MIB,
                   (double)(given.uordblks + given.hblkhd) / MIB};
}

static void expect_no_more(taken before, double most_MiB, double most_allocated_MiB)
{
    const taken now = look();
    if (now.resident_MiB > before.resident_MiB + most_MiB ||
        now.allocated_MiB > before.allocated_MiB + most_allocated_MiB)
        fail_msg("%.1f MiB in memory, %.1f allocated; before %.1f, %.1f", now.resident_MiB, now.allocated_MiB,
                 before.resident_MiB, before.allocated_MiB);
}

static ley_status create(ley_engine *engine, int i, const ley_atoms *atoms, ley_map *map, ley_job **job,
                         ley_error *error)
{
    ley_run_options options = support_default_run_options();
    ley_direct direct = support_default_direct();
    ley_short_range pairs = support_default_short_range();
    ley_long_range range = support_default_long_range();
    pairs.cutoff_A = 6 + i % 3;
    range.cutoff_A = 8;
    range.solver = i % KINDS == 2 ? LEY_SOLVER_FOURIER : LEY_SOLVER_MULTILEVEL;
    for (int axis = 0; axis < 3; axis++) {
        range.periodic[axis] = i % (2 * KINDS) >= KINDS;
        range.cell_A[axis][axis] = 20 + i % 3;
    }
    return i % KINDS == 0
               ? ley_job_create_direct(engine, atoms, (ley_target){.map = map}, &direct, &options, job, error)
           : i % KINDS == 1
               ? ley_job_create_short_range(engine, atoms, (ley_target){.map = map}, &pairs, &options, job, error)
               : ley_job_create_long_range(engine, atoms, (ley_target){.map = map}, &range, &options, job, error);
}

/* The i-th map: all kinds of methods, of few sizes, so that their kernels are there after the first
 * ones. */
static void compute(ley_engine *engine, int i)
{
    ley_error error = {0};
    ley_grid grid;
    ley_job *job = NULL;
    ley_atoms *atoms = support_atoms((size_t)(50 + 20 * (i % 7)), 0, 20, (unsigned)i);
    assert_ok(ley_grid_around(atoms, 0.8 + 0.2 * (i % 3), 2, &grid, &error));
    ley_map *map = support_make_map(&grid);
    assert_ok(create(engine, i, atoms, map, &job, &error));
    assert_ok(ley_job_run(job, &error));
    ley_job_destroy(job);
    ley_map_destroy(map);
    ley_atoms_destroy(atoms);
}

static void test_maps(void **state)
{
    const int first = 60, maps = support_get_level() == SUPPORT_FULL ? 5000 : 100;
    ley_engine *engine = NULL;
    assert_true(support_open_default(&engine));
    for (int i = 0; i < first; i++)
        compute(engine, i);
    const taken before = look();
    for (int i = 0; i < maps; i++)
        compute(engine, i);
    expect_no_more(before, 20, 0.4 * maps / 200); /* each program that PoCL takes anew leaves 0.01 MiB */
    ley_engine_destroy(engine);
}

static void *use_engine(void *context)
{
    ley_engine *engine = NULL;
    assert_true(support_open_default(&engine));
    compute(engine, 0);
    ley_engine_destroy(engine);
    return NULL;
}

/* One after the other, and four in threads at a time. */
static void test_engines(void **state)
{
    enum { AT_ONCE = 4 };
    const int rounds = support_get_level() == SUPPORT_FULL ? 40 : 4;
    taken before = {0};
    for (int round = 0; round < rounds + 2; round++) {
        pthread_t threads[AT_ONCE];
        use_engine(NULL);
        for (int i = 0; i < AT_ONCE; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, use_engine, NULL), 0);
        for (int i = 0; i < AT_ONCE; i++)
            assert_int_equal(pthread_join(threads[i], NULL), 0);
        if (round == 1)
            before = look();
    }
    expect_no_more(before, 20, 2);
}

int main(void)
{
    return RUN_TESTS(test_maps, test_engines);
}
