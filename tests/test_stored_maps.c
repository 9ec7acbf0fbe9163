/* Maps whose planes go to their file while they are computed: the same bytes as maps in memory, by
 * every method, in bounded memory; and nothing is left of what fails. */
#include "binary_maps.h"
#include "target/map.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME "a.raw"

static const ley_grid small = {.origin_A = {-1, -2, -3}, .step_A = LEY_STEPS(0.5, 0.5, 0.5), .n = {37, 30, 27}};

/* ---- Planes ---------------------------------------------------------------------------------- */

static void fill(ley_map *map, int64_t first, int64_t count, float value)
{
    ley_error error = {0};
    const ley_grid *l = ley_map_grid(map);
    float *planes = NULL;
    assert_ok(map_planes_take(map, first, count, &planes, &error));
    for (int64_t i = 0; i < count * l->n[0] * l->n[1]; i++)
        planes[i] = value + (float)(first * l->n[0] * l->n[1] + i);
    assert_ok(map_planes_give(map, first, count, planes, true, &error));
}

static void test_planes(void **state)
{
    ley_error error = {0};
    ley_map *map = NULL, *again = NULL;
    float *planes;
    double place_A[3];
    assert_ok(ley_map_create_raw(&small, NAME, &map, &error));
    assert_null(ley_map_values(map));
    assert_non_null(map_get_store(map));
    assert_int_equal(maps_count_files(), 0); /* before the first planes */
    assert_true(isnan(map_value(map, 7, place_A)));
    fill(map, 20, 7, 0);
    assert_int_equal(maps_count_files(), 1);
    fill(map, 0, 12, 0);
    assert_int_equal(ley_map_write_raw(map, NAME, NULL, NULL, NULL, &error), LEY_ERROR_INPUT);
    assert_string_equal(error.message, NAME ": the map's plane 12 was not computed");
    fill(map, 12, 8, 1000);
    assert_ok(map_planes_take(map, 13, 3, &planes, &error));
    assert_ok(map_planes_give(map, 13, 3, planes, false, &error)); /* nothing was done */
    assert_true(map_value(map, 13 * 37 * 30 + 5, place_A) == 1000 + 13 * 37 * 30 + 5);
    fill(map, 12, 8, 0); /* once more, by another device */
    assert_true(map_value(map, 15 * 37 * 30 + 3, place_A) == 15 * 37 * 30 + 3);
    assert_true(place_A[0] == 0.5 && place_A[1] == -2 && place_A[2] == 4.5);
    assert_int_equal(ley_map_write_dx(map, "b.dx", NULL, NULL, &error), LEY_ERROR_USAGE);
    assert_string_equal(error.message, "b.dx: the map's values are not in memory");
    ley_map_set_units(map, "kT/e");
    assert_ok(ley_map_write(map, NAME, "comment", NULL, NULL, &error));
    assert_int_equal(maps_count_files(), 2);
    assert_int_equal(ley_map_write_raw(map, NAME, NULL, NULL, NULL, &error), LEY_ERROR_USAGE);
    ley_map_destroy(map);
    assert_ok(ley_map_read(NAME, &again, &error));
    assert_string_equal(ley_map_units(again), "kT/e");
    for (int64_t i = 0; i < ley_grid_points(&small); i++)
        assert_true(ley_map_read_values(again)[i] == (float)i);
    ley_map_destroy(again);
}

static void test_nothing_is_left(void **state)
{
    ley_error error = {0};
    ley_map *map = NULL;
    const bool cancelled = true;
    assert_ok(ley_map_create_raw(&small, NAME, &map, &error));
    fill(map, 0, 27, 0);
    assert_int_equal(maps_count_files(), 1);
    ley_map_destroy(map);
    assert_int_equal(maps_count_files(), 0);
    assert_ok(ley_map_create_raw(&small, NAME, &map, &error));
    fill(map, 0, 27, 0);
    assert_int_equal(ley_map_write_raw(map, NAME, NULL, NULL, &cancelled, &error), LEY_CANCELLED);
    ley_map_destroy(map);
    assert_int_equal(maps_count_files(), 0);
    assert_int_equal(ley_map_create_raw(&small, "none/" NAME, &map, &error), LEY_ERROR_FILE);
    /* What is no regular file cannot be filled here and there. */
    assert_int_equal(symlink("/dev/null", NAME), 0);
    assert_ok(ley_map_create_raw(&small, NAME, &map, &error));
    assert_non_null(ley_map_values(map));
    ley_map_destroy(map);
}

static void *fill_some(void *context)
{
    for (int64_t z = 0; z < 27; z += 2)
        fill(context, z, 1, 0);
    return NULL;
}

static void test_threads(void **state)
{
    ley_error error = {0};
    ley_map *map = NULL, *again = NULL;
    pthread_t thread;
    assert_ok(ley_map_create_raw(&small, NAME, &map, &error));
    assert_int_equal(pthread_create(&thread, NULL, fill_some, map), 0);
    for (int64_t z = 1; z < 27; z += 2)
        fill(map, z, 1, 0);
    pthread_join(thread, NULL);
    assert_ok(ley_map_write_raw(map, NAME, NULL, NULL, NULL, &error));
    ley_map_destroy(map);
    assert_ok(ley_map_read_raw(NAME, &again, &error));
    for (int64_t i = 0; i < ley_grid_points(&small); i++)
        assert_true(ley_map_read_values(again)[i] == (float)i);
    ley_map_destroy(again);
}

/* ---- Jobs ------------------------------------------------------------------------------------ */

static ley_map *compute(ley_engine *engine, const ley_atoms *atoms, const support_options *options, bool is_stored)
{
    ley_error error = {0};
    ley_map *map = NULL;
    ley_job *job = NULL;
    assert_ok(is_stored ? ley_map_create_raw(&small, NAME, &map, &error) : ley_map_create(&small, &map, &error));
    assert_ok(support_job_create(engine, atoms, map, options, &job, &error));
    assert_ok(ley_job_run(job, &error));
    assert_true(ley_job_report(job)->accuracy.points >= 50 && ley_job_report(job)->accuracy.passed);
    ley_job_destroy(job);
    if (!is_stored)
        return map;
    assert_ok(ley_map_write_raw(map, NAME, NULL, NULL, NULL, &error));
    ley_map_destroy(map);
    assert_ok(ley_map_read_raw(NAME, &map, &error));
    return map;
}

static void test_same_bytes(void **state)
{
    ley_engine *engine = NULL;
    ley_error error = {0};
    ley_atoms *atoms = support_crowd(600, &small, 4, 3);
    assert_ok(ley_engine_create("0", &engine, &error));
    for (int i = 0; i < 3; i++) {
        support_options options = support_default_options();
        if (i > 1)
            options = support_short_range(LEY_PAIR_SHIFTED, 6);
        options.slab_planes = i == 0 ? 0 : 8;
        options.verify_points = 200;
        ley_map *in_memory = compute(engine, atoms, &options, false), *in_file = compute(engine, atoms, &options, true);
        assert_memory_equal(ley_map_read_values(in_memory), ley_map_read_values(in_file),
                            (size_t)ley_grid_points(&small) * sizeof(float));
        assert_string_equal(ley_map_units(in_memory), ley_map_units(in_file));
        ley_map_destroy(in_memory);
        ley_map_destroy(in_file);
    }
    ley_engine_destroy(engine);
    ley_atoms_destroy(atoms);
}

/* ---- Planes that outlive their process ------------------------------------------------------- */

#define KEPT NAME ".checkpoint"

static void cancel_in_time(void *context, const ley_progress *progress)
{
    if (3 * progress->points_done > progress->points_total)
        ley_job_cancel(*(ley_job **)context);
}

/* A run that goes on from what is there, and is cancelled, or ends; points that were there. */
static int64_t go_on(ley_engine *engine, const ley_atoms *atoms, bool ends, ley_sum sum)
{
    ley_error error = {0};
    ley_map *map = NULL;
    ley_job *job = NULL;
    support_options options = support_default_options();
    options.slab_planes = 3;
    options.sum = sum;
    options.progress = ends ? NULL : cancel_in_time;
    options.progress_context = &job;
    assert_ok(ley_map_create_raw(&small, NAME, &map, &error));
    assert_ok(ley_map_keep(map, KEPT, "of\nthis molecule\n", &error));
    assert_ok(support_job_create(engine, atoms, map, &options, &job, &error));
    assert_int_equal(ley_job_run(job, &error), ends ? LEY_OK : LEY_CANCELLED);
    const int64_t kept = ley_job_report(job)->kept_points;
    ley_job_destroy(job);
    if (ends)
        assert_ok(ley_map_write_raw(map, NAME, NULL, NULL, NULL, &error));
    ley_map_destroy(map);
    ley_error_clear(&error);
    return kept;
}

/* One plane goes to a map with this checkpoint, whose text this is. */
static ley_status keep_plane(const ley_grid *grid, const char *name, const char *kept, const char *text,
                             ley_error *error)
{
    ley_map *map = NULL;
    ley_status status = ley_map_create_raw(grid, name, &map, error);
    if (status == LEY_OK)
        status = ley_map_keep(map, kept, text, error);
    if (status == LEY_OK)
        fill(map, 0, 1, 1);
    ley_map_destroy(map);
    return status;
}

/* What cannot be gone on from says what it is; a link's checkpoint is where its file will be. */
static void test_kept_of_others(void **state)
{
    ley_error error = {0};
    ley_grid other = small;
    other.n[0] += 3, other.n[2] -= 4;
    assert_ok(keep_plane(&small, NAME, KEPT, "a\nb", &error));
    assert_int_equal(keep_plane(&other, NAME, KEPT, "a\nc", &error), LEY_ERROR_INPUT);
    assert_string_equal(error.message, KEPT ": this run is of 'c', and the one that left it was of 'b': repeat its "
                                            "command to go on, or delete it to begin anew");
    assert_int_equal(keep_plane(&small, NAME, KEPT, "a", &error), LEY_ERROR_INPUT);
    assert_string_equal(error.message, KEPT ": the run that left it was of 'b', and this one is not: repeat "
                                            "its command to go on, or delete it to begin anew");
    assert_int_equal(keep_plane(&small, NAME, KEPT, "a\nb\nc", &error), LEY_ERROR_INPUT);
    assert_string_equal(error.message, KEPT ": this run is of 'c', and the one that left it was not: repeat "
                                            "its command to go on, or delete it to begin anew");
    assert_ok(keep_plane(&small, NAME, KEPT, "a\nb", &error));
    /* Nor is somebody's file of the map's own size taken for one. */
    static const int extra[] = {99, 0};
    for (size_t i = 0; i < sizeof extra / sizeof *extra; i++) {
        assert_int_equal(truncate(KEPT, ley_grid_points(&small) * 4 + extra[i]), 0);
        assert_int_equal(keep_plane(&small, NAME, KEPT, "a\nb", &error), LEY_ERROR_INPUT);
        assert_string_equal(error.message, KEPT ": it is no checkpoint of a map, or is damaged: move it away, or "
                                                "delete it, to begin anew");
    }
    assert_int_equal(unlink(KEPT), 0);
    assert_int_equal(mkfifo(KEPT, 0600), 0);
    assert_int_equal(keep_plane(&small, NAME, KEPT, "a", &error), LEY_ERROR_FILE);
    assert_string_equal(error.message, KEPT ": it is no regular file: delete it to begin anew");
    assert_int_equal(unlink(KEPT), 0);
    assert_int_equal(mkdir("elsewhere", 0700), 0);
    assert_int_equal(symlink("elsewhere/b.raw", "link.raw"), 0);
    assert_ok(keep_plane(&small, "link.raw", "link.raw.checkpoint", "a", &error));
    assert_int_equal(unlink("elsewhere/b.raw.checkpoint"), 0);
    assert_int_equal(unlink("link.raw"), 0);
    assert_int_equal(rmdir("elsewhere"), 0);
    ley_error_clear(&error);
}

static void test_kept(void **state)
{
    const int64_t plane = small.n[0] * small.n[1];
    ley_engine *engine = NULL;
    ley_error error = {0};
    ley_map *map = NULL;
    support_options options = support_default_options();
    ley_atoms *atoms = support_crowd(600, &small, 4, 3);
    assert_ok(ley_engine_create("0", &engine, &error));
    ley_map *right = compute(engine, atoms, &options, false);
    assert_int_equal(go_on(engine, atoms, false, LEY_SUM_FLOAT), 0);
    assert_int_equal(access(NAME, F_OK), -1);
    /* What is of something else, or in the hands of another process, is refused. */
    assert_ok(ley_map_create_raw(&small, NAME, &map, &error));
    assert_int_equal(ley_map_keep(map, KEPT, "of\nthat molecule\n", &error), LEY_ERROR_INPUT);
    assert_string_equal(error.message, KEPT ": this run is of 'that molecule', and the one that left it was of 'this "
                                            "molecule': repeat its command to go on, or delete it to begin anew");
    ley_map_destroy(map);
    assert_ok(ley_map_create_raw(&small, NAME, &map, &error));
    assert_ok(ley_map_keep(map, KEPT, "of\nthis molecule\n", &error));
    ley_map *other = NULL;
    assert_ok(ley_map_create_raw(&small, NAME, &other, &error));
    assert_int_equal(ley_map_keep(other, KEPT, "of\nthis molecule\n", &error), LEY_ERROR_FILE);
    ley_map_destroy(other);
    ley_map_destroy(map);
    /* A plane that is not what was written is computed again, and so are all made otherwise. */
    FILE *file = fopen(KEPT, "r+b");
    assert_true(file != NULL && fseek(file, 4 * plane + 8, SEEK_SET) == 0 && fputc(1, file) == 1);
    fclose(file);
    const int64_t kept = go_on(engine, atoms, false, LEY_SUM_FLOAT);
    assert_true(kept > 0 && kept % plane == 0 && kept < 27 * plane);
    assert_true(go_on(engine, atoms, true, LEY_SUM_FLOAT) > kept);
    assert_int_equal(access(KEPT, F_OK), -1);
    assert_ok(ley_map_read_raw(NAME, &map, &error));
    assert_memory_equal(ley_map_read_values(map), ley_map_read_values(right),
                        (size_t)ley_grid_points(&small) * sizeof(float));
    ley_map_destroy(map);
    assert_int_equal(go_on(engine, atoms, false, LEY_SUM_FLOAT), 0);
    assert_int_equal(go_on(engine, atoms, true, LEY_SUM_DOUBLE), 0);
    ley_map_destroy(right);
    ley_engine_destroy(engine);
    ley_atoms_destroy(atoms);
    ley_error_clear(&error);
}

static ley_status run_large(const ley_grid *grid, ley_error *error)
{
    ley_engine *engine = NULL;
    ley_map *map = NULL;
    ley_job *job = NULL;
    support_options options = support_default_options();
    options.verify_points = 16; /* by the host: a compiler takes more memory than the map */
    ley_atoms *atoms = support_atoms(2, 0, 12, 1);
    ley_status status = ley_map_create_raw(grid, NAME, &map, error);
    if (status == LEY_OK)
        status = ley_engine_create("0", &engine, error);
    if (status == LEY_OK)
        status = support_job_create(engine, atoms, map, &options, &job, error);
    if (status == LEY_OK)
        status = ley_job_check_memory(job, error);
    if (status == LEY_OK)
        status = ley_job_run(job, error);
    if (status == LEY_OK)
        status = ley_map_write_raw(map, NAME, NULL, NULL, NULL, error);
    ley_job_destroy(job);
    ley_map_destroy(map);
    ley_engine_destroy(engine);
    ley_atoms_destroy(atoms);
    return status;
}

/* A map of 800 MB takes some slabs of memory. */
static void test_bounded_memory(void **state)
{
    static const ley_grid grid = {.step_A = LEY_STEPS(0.1, 0.1, 0.1), .n = {500, 500, 800}};
    const long map_KiB = 800000000 / 1024;
    ley_error error = {0};
    struct rusage before, after;
    struct stat known;
    getrusage(RUSAGE_SELF, &before);
    assert_ok(run_large(&grid, &error));
    getrusage(RUSAGE_SELF, &after);
    if (after.ru_maxrss - before.ru_maxrss > map_KiB / 2)
        fail_msg("%ld MiB for a map of %ld MiB", (after.ru_maxrss - before.ru_maxrss) / 1024, map_KiB / 1024);
    assert_int_equal(stat(NAME, &known), 0);
    assert_int_equal(known.st_size, 800000000);
    unlink(NAME);
}

/* A disk that is too small, as far as a process is told so. */
static void test_full_disk(void **state)
{
    static const ley_grid grid = {.step_A = LEY_STEPS(0.1, 0.1, 0.1), .n = {200, 200, 200}};
    ley_error error = {0};
    const struct rlimit little = {20 << 20, RLIM_INFINITY}, much = {RLIM_INFINITY, RLIM_INFINITY};
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
    const ley_status status = run_large(&grid, &error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &much), 0);
    assert_int_equal(status, LEY_ERROR_FILE);
    assert_string_equal(error.message, NAME ": File too large"); /* the file's name, and no device's */
    assert_int_equal(maps_count_files(), 0);
    ley_error_clear(&error);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup(test, maps_begin)
    const struct CMUnitTest tests[] = {TEST(test_planes),     TEST(test_nothing_is_left), TEST(test_threads),
                                       TEST(test_same_bytes), TEST(test_bounded_memory),  TEST(test_full_disk),
                                       TEST(test_kept),       TEST(test_kept_of_others)};
    support_leave_out_second_driver();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
