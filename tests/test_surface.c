/* Surfaces: spheres and a torus against their formulas, also on oblique and mirrored grids; closed
 * surfaces of noise, whose cells have all cases; values of a map; what is refused; cancelling. */
#include "clock.h"
#include "support.h"

#include <float.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const double pi = 3.14159265358979323846;

#define assert_within(value, expected, share) \
    do { \
        const double v_ = (value), e_ = (expected); \
        if (!(fabs(v_ / e_ - 1) <= (share))) \
            fail_msg("%s is %.8g, expected %.8g: off by %.2g", #value, v_, e_, fabs(v_ / e_ - 1)); \
    } while (0)

/* ---- What triangles are like ----------------------------------------------------------------- */

typedef struct side {
    int32_t from, to;
} side;

static int compare_sides(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(side));
}

static int compare_places(const void *a, const void *b)
{
    return memcmp(a, b, 3 * sizeof(double));
}

static void assert_no_twins(const ley_surface *s)
{
    const size_t n = (size_t)ley_surface_vertex_count(s);
    double(*place)[3] = malloc(n * sizeof *place);
    memcpy(place, ley_surface_vertices_A(s), n * sizeof *place);
    qsort(place, n, sizeof *place, compare_places);
    for (size_t i = 1; i < n; i++)
        assert_memory_not_equal(place[i - 1], place[i], sizeof *place);
    free(place);
}

/* Each side is that of two triangles, in opposite directions. Returns V - E + F. */
static int64_t assert_closed(const ley_surface *s)
{
    const size_t n = 3 * (size_t)ley_surface_triangle_count(s);
    const int32_t *t = ley_surface_triangles(s);
    side *sides = malloc(n * sizeof *sides);
    for (size_t i = 0; i < n; i++)
        sides[i] = (side){t[i], t[i % 3 == 2 ? i - 2 : i + 1]};
    qsort(sides, n, sizeof *sides, compare_sides);
    for (size_t i = 0; i < n; i++) {
        const side back = {sides[i].to, sides[i].from};
        assert_true(i == 0 || compare_sides(&sides[i - 1], &sides[i]) != 0);
        assert_non_null(bsearch(&back, sides, n, sizeof *sides, compare_sides));
    }
    free(sides);
    assert_true(ley_surface_is_closed(s));
    assert_no_twins(s);
    return ley_surface_vertex_count(s) - (int64_t)n / 2 + (int64_t)n / 3;
}

/* The mean cosine between triangles, as their corners turn, and the normals there, by area:
 * slivers, whose corners are all but on a line, turn anywhere. */
static double mean_cosine(const ley_surface *s)
{
    const int32_t *t = ley_surface_triangles(s);
    const double *vertex_A = ley_surface_vertices_A(s);
    const float *normal = ley_surface_normals(s);
    double sum = 0, area = 0;
    for (int64_t i = 0; i < ley_surface_triangle_count(s); i++, t += 3) {
        double u[3], v[3], n[3], length = 0;
        for (int x = 0; x < 3; x++) {
            u[x] = vertex_A[3 * t[1] + x] - vertex_A[3 * t[0] + x];
            v[x] = vertex_A[3 * t[2] + x] - vertex_A[3 * t[0] + x];
        }
        for (int x = 0; x < 3; x++) {
            n[x] = u[(x + 1) % 3] * v[(x + 2) % 3] - u[(x + 2) % 3] * v[(x + 1) % 3];
            length += n[x] * n[x];
        }
        assert_true(length > 0);
        area += sqrt(length);
        for (int k = 0; k < 3; k++)
            for (int x = 0; x < 3; x++)
                sum += n[x] * (double)normal[3 * t[k] + x] / 3;
    }
    return sum / area;
}

/* ---- Molecules ------------------------------------------------------------------------------- */

static ley_surface *surface_of(size_t n, const double *position_A, const double *radius_A, double spacing_A)
{
    double *charge_e = calloc(n, sizeof *charge_e);
    ley_atoms *atoms = NULL;
    ley_surface *surface = NULL;
    ley_surface_options options;
    ley_error error = {0};
    ley_surface_options_default(&options);
    options.spacing_A = spacing_A;
    assert_ok(ley_atoms_create(n, position_A, charge_e, radius_A, &atoms, &error));
    assert_ok(ley_surface_create(atoms, &options, NULL, &surface, &error));
    ley_atoms_destroy(atoms);
    free(charge_e);
    return surface;
}

static void test_sphere(void **state)
{
    static const double centre_A[3] = {100.12, -3.34, 0.05}, radii_A[] = {1.2, 1.7, 5};
    for (size_t i = 0; i < 3; i++) {
        const double r = radii_A[i];
        ley_surface *s = surface_of(1, centre_A, &r, 0.25);
        assert_int_equal(assert_closed(s), 2);
        assert_within(ley_surface_area_A2(s), 4 * pi * r * r, 2e-4);
        assert_within(ley_surface_volume_A3(s), 4 * pi * r * r * r / 3, 4e-4);
        assert_true(ley_surface_error_A(s) < 2.6e-4);
        for (int64_t v = 0; v < ley_surface_vertex_count(s); v++) {
            const double *at = ley_surface_vertices_A(s) + 3 * v;
            const float *normal = ley_surface_normals(s) + 3 * v;
            double distance2 = 0, along = 0;
            for (int x = 0; x < 3; x++) {
                distance2 += (at[x] - centre_A[x]) * (at[x] - centre_A[x]);
                along += (at[x] - centre_A[x]) * (double)normal[x];
            }
            assert_within(sqrt(distance2), r, 2e-3); /* a vertex keeps off the grid's points */
            assert_within(along / sqrt(distance2), 1, 1e-5);
            assert_true(isnan(ley_surface_values(s)[v]));
        }
        ley_surface_destroy(s);
    }
}

/* Atoms without a radius have no part, and two spheres far from each other are two surfaces. */
static void test_atoms(void **state)
{
    static const double position_A[] = {0, 0, 0, 9, 0, 0, 4.5, 0, 0}, radius_A[] = {2, 1.5, 0};
    ley_surface *s = surface_of(3, position_A, radius_A, 0.25);
    assert_int_equal(assert_closed(s), 4);
    assert_within(ley_surface_volume_A3(s), 4 * pi * (8 + 3.375) / 3, 1e-3);
    ley_surface_destroy(s);
}

/* A crowd, whose surface has all kinds of cells; sharper, and the same whatever the threads do. */
static void test_crowd(void **state)
{
    const ley_grid grid = {.step_A = LEY_STEPS(1, 1, 1), .n = {12, 12, 12}};
    ley_atoms *atoms = support_crowd(300, &grid, 0, 7);
    ley_surface_options options;
    ley_error error = {0};
    ley_surface *s[3];
    ley_surface_options_default(&options);
    for (int i = 0; i < 3; i++) {
        options.sharpness = i == 2 ? 8 : 2;
        assert_ok(ley_surface_create(atoms, &options, NULL, &s[i], &error));
        assert_closed(s[i]);
        assert_true(ley_surface_volume_A3(s[i]) > 0);
        assert_true(ley_surface_error_A(s[i]) < 0.25);
    }
    assert_int_equal(ley_surface_vertex_count(s[0]), ley_surface_vertex_count(s[1]));
    assert_memory_equal(ley_surface_vertices_A(s[0]), ley_surface_vertices_A(s[1]),
                        (size_t)ley_surface_vertex_count(s[0]) * 3 * sizeof(double));
    assert_true(ley_surface_volume_A3(s[2]) < ley_surface_volume_A3(s[0]));
    for (int i = 0; i < 3; i++)
        ley_surface_destroy(s[i]);
    ley_atoms_destroy(atoms);
}

/* ---- Maps ------------------------------------------------------------------------------------ */

static double torus(const double at[3])
{
    const double ring = sqrt(at[0] * at[0] + at[1] * at[1]) - 5;
    return 4 - ring * ring - at[2] * at[2];
}

static double noise(const double at[3])
{
    const double s = sin(12.9898 * at[0] + 78.233 * at[1] + 37.719 * at[2]) * 43758.5453;
    return at[0] * at[0] + at[1] * at[1] + at[2] * at[2] < 16 ? s - floor(s) - 0.5 : -0.5;
}

static double slope(const double at[3])
{
    return at[2];
}

static ley_map *map_of(const ley_grid *grid, double (*f)(const double at[3]), double factor)
{
    ley_map *map = NULL;
    ley_error error = {0};
    assert_ok(ley_map_create(grid, &map, &error));
    float *value = ley_map_values(map);
    for (int64_t k = 0; k < grid->n[2]; k++)
        for (int64_t j = 0; j < grid->n[1]; j++)
            for (int64_t i = 0; i < grid->n[0]; i++) {
                double at[3];
                ley_grid_point_A(grid, (const int64_t[3]){i, j, k}, at);
                *value++ = (float)(factor * f(at));
            }
    ley_map_set_units(map, "kT/e");
    return map;
}

/* Steps along x, y and z, oblique ones, and left-handed ones. */
static const ley_grid grids[] = {
    {.origin_A = {-8.1, -8.2, -3.3}, .step_A = LEY_STEPS(0.25, 0.25, 0.25), .n = {66, 66, 28}},
    {.origin_A = {-8, -13, -4}, .step_A = {{0, 0.25, 0}, {0.25, 0.08, 0}, {0, 0.05, 0.25}}, .n = {96, 66, 34}},
    {.origin_A = {-11, -10, -4}, .step_A = {{0.25, 0, 0}, {0.06, 0.25, 0}, {0.05, -0.04, 0.25}}, .n = {80, 90, 34}}};
enum { GRIDS = sizeof grids / sizeof *grids };

static ley_surface *level_of(const ley_map *map, double level)
{
    ley_surface *s = NULL;
    ley_error error = {0};
    assert_ok(ley_surface_create_levels(map, 1, &level, NULL, &s, &error));
    return s;
}

static void test_torus(void **state)
{
    for (int i = 0; i < 2 * GRIDS; i++) {
        const double sign = i < GRIDS ? 1 : -1; /* above 0.01, or below -0.01 */
        ley_map *map = map_of(&grids[i % GRIDS], torus, sign);
        ley_surface *s = level_of(map, sign * 0.01);
        const double r = sqrt(3.99);
        assert_int_equal(assert_closed(s), 0);
        assert_within(ley_surface_area_A2(s), 4 * pi * pi * 5 * r, 1e-3);
        assert_within(ley_surface_volume_A3(s), 2 * pi * pi * 5 * r * r, 1e-3);
        assert_true(mean_cosine(s) > 0.99);
        assert_string_equal(ley_surface_units(s), "kT/e");
        assert_true(isnan(ley_surface_error_A(s)));
        assert_float_equal(ley_surface_values(s)[0], sign * 0.01, 1e-7);
        ley_surface_destroy(s);
        ley_map_destroy(map);
    }
}

/* What the test above looks at finds a surface that is inside out. */
static void test_inside_out(void **state)
{
    ley_map *map = map_of(&grids[0], torus, 1);
    ley_surface *s = level_of(map, 0.01);
    int32_t *t = (int32_t *)(uintptr_t)ley_surface_triangles(s);
    for (int64_t i = 0; i < ley_surface_triangle_count(s); i++, t += 3) {
        const int32_t first = t[0];
        t[0] = t[1];
        t[1] = first;
    }
    assert_true(mean_cosine(s) < -0.99);
    ley_surface_destroy(s);
    ley_map_destroy(map);
}

/* Of noise all cases of cells come up, and values that are the level itself. */
static void test_noise(void **state)
{
    for (int i = 0; i < GRIDS; i++) {
        ley_map *map = map_of(&grids[i], noise, 1);
        float *value = ley_map_values(map);
        for (int64_t p = 0; p < ley_grid_points(&grids[i]); p++)
            if (value[p] > 0.1f && value[p] < 0.2f)
                value[p] = 0.1f;
        if (i > 0) { /* what is beyond the ball of noise is low; grid 0 is no wider than that along z */
            ley_surface *s = level_of(map, (double)0.1f);
            assert_closed(s);
            ley_surface_destroy(s);
        }
        ley_map_destroy(map);
    }
}

/* Two levels at once; a surface that ends with its map has an area, and no volume. */
static void test_open(void **state)
{
    ley_map *map = map_of(&grids[0], slope, 1);
    ley_surface *s = NULL;
    ley_error error = {0};
    assert_ok(ley_surface_create_levels(map, 2, (const double[]){-1.03, 1.03}, NULL, &s, &error));
    assert_false(ley_surface_is_closed(s));
    assert_true(isnan(ley_surface_volume_A3(s)));
    assert_within(ley_surface_area_A2(s), 2 * (65 * 0.25) * (65 * 0.25), 1e-5);
    const float *normal = ley_surface_normals(s);
    const int64_t last = ley_surface_vertex_count(s) - 1;
    assert_float_equal(normal[2], 1, 1e-6); /* below -1 is inside, and so is above 1 */
    assert_float_equal(normal[3 * last + 2], -1, 1e-6);
    ley_surface_destroy(s);
    ley_map_destroy(map);
}

static double distance(const double at[3])
{
    return sqrt(at[0] * at[0] + at[1] * at[1] + at[2] * at[2]);
}

/* Spheres within each other, one given twice; and one that the map cuts. */
static void test_nested_levels(void **state)
{
    ley_map *map = map_of(&grids[0], distance, 1);
    ley_surface *s = NULL;
    ley_error error = {0};
    static const double level[] = {2, 3, 2, 1.5};
    assert_ok(ley_surface_create_levels(map, 4, level, NULL, &s, &error));
    assert_int_equal(ley_surface_level_count(s), 3);
    assert_null(ley_surface_level_at(s, 3));
    double area_A2 = 0;
    int64_t vertices = 0, triangles = 0;
    for (size_t i = 0; i < 3; i++) {
        const ley_surface_level *l = ley_surface_level_at(s, i);
        const double radius_A = level[i < 2 ? i : 3];
        assert_true(l->level == radius_A && l->is_closed);
        assert_within(l->area_A2, 4 * pi * radius_A * radius_A, 1e-3);
        assert_within(-l->volume_A3, 4 * pi * pow(radius_A, 3) / 3, 1e-3); /* what is lower is outside */
        for (int64_t v = vertices; v < vertices + l->vertices; v++)
            assert_true(ley_surface_read_values(s)[v] == (float)radius_A);
        for (int64_t t = 3 * triangles; t < 3 * (triangles + l->triangles); t++)
            assert_in_range(ley_surface_triangles(s)[t], vertices, vertices + l->vertices - 1);
        area_A2 += l->area_A2;
        vertices += l->vertices;
        triangles += l->triangles;
    }
    assert_within(ley_surface_area_A2(s), area_A2, 1e-14);
    assert_true(isnan(ley_surface_volume_A3(s)) && ley_surface_is_closed(s));
    assert_int_equal(vertices, ley_surface_vertex_count(s));
    assert_int_equal(triangles, ley_surface_triangle_count(s));
    ley_surface_destroy(s);
    assert_ok(ley_surface_create_levels(map, 2, (const double[]){9, 2}, NULL, &s, &error));
    assert_false(ley_surface_level_at(s, 0)->is_closed);
    assert_true(isnan(ley_surface_level_at(s, 0)->volume_A3));
    assert_true(ley_surface_level_at(s, 1)->is_closed && !ley_surface_is_closed(s));
    assert_within(-ley_surface_level_at(s, 1)->volume_A3, 4 * pi * 8 / 3, 1e-3);
    ley_surface_destroy(s);
    ley_map_destroy(map);
}

static void test_values(void **state)
{
    static const double position_A[] = {0, 0, 0}, radius_A[] = {2};
    ley_surface *s = surface_of(1, position_A, radius_A, 0.5);
    ley_error error = {0};
    ley_map *maps[GRIDS];
    for (int i = 0; i < GRIDS; i++) {
        maps[i] = map_of(&grids[i], slope, 3);
        assert_ok(ley_surface_take_map(s, maps[i], NULL, &error));
        for (int64_t v = 0; v < ley_surface_vertex_count(s); v++)
            assert_float_equal(ley_surface_values(s)[v], 3 * ley_surface_vertices_A(s)[3 * v + 2], 1e-5);
        assert_string_equal(ley_surface_units(s), "kT/e");
    }
    const ley_grid half = {.origin_A = {-3, -3, 0}, .step_A = LEY_STEPS(0.5, 0.5, 0.5), .n = {13, 13, 7}};
    ley_map *map = map_of(&half, slope, 1);
    assert_error(ley_surface_take_map(s, map, NULL, &error), LEY_ERROR_INPUT,
                 "of the surface's vertices are outside the map");
    ley_map_destroy(map);
    for (int i = 0; i < GRIDS; i++)
        ley_map_destroy(maps[i]);
    float *open = malloc((size_t)ley_surface_vertex_count(s) * sizeof *open);
    assert_ok(ley_surface_openness(s, open, &error));
    for (int64_t v = 0; v < ley_surface_vertex_count(s); v++)
        assert_true(open[v] > 0.98f && open[v] <= 1);
    free(open);
    ley_surface_destroy(s);
}

/* ---- Refusals -------------------------------------------------------------------------------- */

/* The bytes of a file of this ending, from malloc; of a script those of the file beside it. */
static char *written(const ley_surface *s, const char *ending, const ley_colours *colours, size_t *size)
{
    char path[256];
    ley_error error = {0};
    snprintf(path, sizeof path, "%.200s/s%s", support_directory(), ending);
    assert_ok(ley_surface_write(s, path, colours, "made", NULL, &error));
    char *beside = ley_surface_beside(path), *bytes = support_read_file(beside != NULL ? beside : path, size);
    free(beside);
    return bytes;
}

/* Files that several cores make, of many blocks of vertices and triangles, and values that they
 * take from a map, are those of one core, byte for byte. */
static void test_cores(void **state)
{
    static const ley_grid grid = {.origin_A = {-8, -8, -8}, .step_A = LEY_STEPS(0.2, 0.2, 0.2), .n = {81, 81, 81}};
    ley_map *map = map_of(&grid, noise, 1), *heights = map_of(&grid, slope, 1);
    ley_surface *s = NULL;
    ley_error error = {0};
    ley_colours colours;
    cpu_set_t all, one;
    ley_colours_make(&colours, -4, 4);
    assert_ok(ley_surface_create_levels(map, 1, (const double[]){0}, NULL, &s, &error));
    assert_true(ley_surface_vertex_count(s) > 20000);
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    CPU_ZERO(&one);
    for (int i = 0; CPU_COUNT(&one) == 0; i++)
        if (CPU_ISSET(i, &all))
            CPU_SET(i, &one);
    for (size_t i = 0; ley_surface_ending(i) != NULL; i++) {
        size_t size[2];
        char *bytes[2];
        for (int k = 0; k < 2; k++) {
            assert_int_equal(sched_setaffinity(0, sizeof all, k == 0 ? &all : &one), 0);
            assert_ok(ley_surface_take_map(s, heights, NULL, &error));
            bytes[k] = written(s, ley_surface_ending(i), &colours, &size[k]);
        }
        assert_int_equal(size[0], size[1]);
        assert_memory_equal(bytes[0], bytes[1], size[0]);
        free(bytes[0]);
        free(bytes[1]);
    }
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
    for (int64_t i = 0; i < ley_surface_vertex_count(s); i++)
        assert_true(fabs((double)ley_surface_read_values(s)[i] - ley_surface_vertices_A(s)[3 * i + 2]) < 1e-4);
    ley_surface_destroy(s);
    ley_map_destroy(map);
    ley_map_destroy(heights);
}

static void test_refusals(void **state)
{
    static const double position_A[] = {0, 0, 0}, charge_e[] = {1}, none[] = {0}, small[] = {0.1}, large[] = {1e5};
    const struct {
        const double *radius_A;
        double spacing_A, sharpness;
        ley_status status;
        const char *message;
    } cases[] = {{none, 0.5, 2, LEY_ERROR_INPUT, "no atom has a radius"},
                 {small, 10, 2, LEY_ERROR_INPUT, "no atom is as large as a cell of the grid, 10 A"},
                 {large, 0.5, 2, LEY_ERROR_MEMORY, "a coarser spacing"},
                 {none, 0, 2, LEY_ERROR_USAGE, "spacing"},
                 {none, 0.5, 100, LEY_ERROR_USAGE, "sharpness"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ley_atoms *atoms = NULL;
        ley_surface *s = NULL;
        ley_error error = {0};
        ley_surface_options options;
        ley_surface_options_default(&options);
        options.spacing_A = cases[i].spacing_A;
        options.sharpness = cases[i].sharpness;
        /* Beside a grid's points, where no atom is found that is less than a cell. */
        const double at_A[] = {position_A[0] + 3, position_A[1] + 4, position_A[2] + 5};
        assert_ok(ley_atoms_create(1, at_A, charge_e, cases[i].radius_A, &atoms, &error));
        assert_error(ley_surface_create(atoms, &options, NULL, &s, &error), cases[i].status, cases[i].message);
        assert_null(s);
        ley_atoms_destroy(atoms);
    }
    ley_map *map = map_of(&grids[0], torus, 1);
    ley_surface *s = NULL;
    ley_error error = {0};
    assert_error(ley_surface_create_levels(map, 1, (const double[]){5}, NULL, &s, &error), LEY_ERROR_INPUT,
                 "no surface at level 5: the map's values are from ");
    assert_error(ley_surface_create_levels(map, 1, (const double[]){NAN}, NULL, &s, &error), LEY_ERROR_USAGE, "level");
    assert_error(ley_surface_create_levels(map, 0, NULL, NULL, &s, &error), LEY_ERROR_USAGE, "level");
    ley_map_values(map)[17] = NAN;
    assert_error(ley_surface_create_levels(map, 1, (const double[]){1}, NULL, &s, &error), LEY_ERROR_INPUT, "the map");
    ley_map_destroy(map);
    s = surface_of(1, position_A, (const double[]){1}, 0.5);
    assert_error(ley_surface_write(s, "a.vtk", NULL, NULL, NULL, &error), LEY_ERROR_USAGE, ".ply, .obj, .stl or .glb");
    ley_surface_destroy(s);
}

/* ---- Cancelling ------------------------------------------------------------------------------ */

static volatile bool is_cancelled;
static double cancelled_s;

/* Sets the flag after a while. */
static void *cancel_later(void *context)
{
    nanosleep(&(struct timespec){.tv_nsec = *(const long *)context}, NULL);
    cancelled_s = ley_clock_s();
    __atomic_store_n(&is_cancelled, true, __ATOMIC_RELAXED);
    return NULL;
}

/* In whichever part of the work it is after so long. */
static void test_cancelling(void **state)
{
    const ley_grid grid = {.step_A = LEY_STEPS(1, 1, 1), .n = {60, 60, 60}};
    ley_atoms *atoms = support_crowd(20000, &grid, 0, 3);
    ley_surface_options options;
    ley_error error = {0};
    ley_surface_options_default(&options);
    options.spacing_A = 0.25;
    int cancelled = 0;
    ley_status status = LEY_CANCELLED;
    for (long after_ns = 50000000; after_ns < 1000000000 && status != LEY_OK; after_ns *= 2) {
        pthread_t thread;
        ley_surface *s = NULL;
        is_cancelled = false;
        assert_int_equal(pthread_create(&thread, NULL, cancel_later, &after_ns), 0);
        status = ley_surface_create(atoms, &options, &is_cancelled, &s, &error);
        const double ended_s = ley_clock_s();
        pthread_join(thread, NULL);
        if (status != LEY_OK)
            assert_error(status, LEY_CANCELLED, "cancelled");
        if (status != LEY_OK && ended_s - cancelled_s > 1)
            fail_msg("%g s after %g s", ended_s - cancelled_s, 1e-9 * (double)after_ns);
        assert_true(status == LEY_OK || s == NULL);
        cancelled += status != LEY_OK;
        ley_surface_destroy(s);
    }
    assert_true(cancelled >= 2);
    ley_atoms_destroy(atoms);
}

/* Before they begin. */
static void test_cancelled_at_once(void **state)
{
    ley_map *map = map_of(&grids[0], torus, 1);
    ley_surface *s = NULL;
    ley_error error = {0};
    is_cancelled = true;
    assert_error(ley_surface_create_levels(map, 1, (const double[]){0}, &is_cancelled, &s, &error), LEY_CANCELLED,
                 "cancelled");
    assert_null(s);
    s = level_of(map, 0);
    assert_error(ley_surface_take_map(s, map, &is_cancelled, &error), LEY_CANCELLED, "cancelled");
    ley_surface_destroy(s);
    ley_map_destroy(map);
}

/* Of the list of atoms near a vertex, which is made when the surface is checked: there is no memory
 * for that. */
static bool has_no_room;
void *right_realloc(void *array, size_t bytes) __asm__("__real_realloc");
void *wrapped_realloc(void *array, size_t bytes) __asm__("__wrap_realloc");
void *wrapped_realloc(void *array, size_t bytes)
{
    return has_no_room && array == NULL && bytes == 64 * 4 * sizeof(double) ? NULL : right_realloc(array, bytes);
}

static void test_no_memory_is_no_wrong_result(void **state)
{
    ley_atoms *atoms = NULL;
    ley_surface *s = NULL;
    ley_error error = {0};
    ley_surface_options options;
    ley_surface_options_default(&options);
    assert_ok(ley_atoms_create(1, (const double[]){0, 0, 0}, (const double[]){1}, (const double[]){2}, &atoms, &error));
    has_no_room = true;
    const ley_status status = ley_surface_create(atoms, &options, NULL, &s, &error);
    has_no_room = false;
    assert_error(status, LEY_ERROR_MEMORY, "the check of the surface");
    assert_null(s);
    ley_atoms_destroy(atoms);
}

int main(void)
{
    return RUN_TESTS(test_sphere, test_atoms, test_crowd, test_torus, test_inside_out, test_noise, test_open,
                     test_nested_levels, test_values, test_cores, test_refusals, test_no_memory_is_no_wrong_result,
                     test_cancelling, test_cancelled_at_once);
}
