/* Averages over frames: held against the formula of leyden_average.h, summed over waves in plain
 * double precision. */
#include "some_averages.h"
#include "support.h"

#include "average/density.h"
#include "average/frame_potential.h"
#include "average/problem.h"
#include "average/spread_kernel.h"
#include "average/state.h"
#include "average/sums.h"
#include "dev_kernel.h"
#include "engine/engine.h"
#include "fft.h"
#include "io/atoms_file.h"
#include "memory.h"
#include "parallel.h"

#include <complex.h>
#include <pthread.h>

static ley_engine *engine;
__extension__ typedef __int128 wide;

/* ---- Means ----------------------------------------------------------------------------------- */

static void check_mean(double sigma_A, double tolerance, const int64_t n[3], double wobble, bool by_cards)
{
    ley_error error = {0};
    walk *w = walk_make(120, 5, wobble, 7);
    ley_average_options o = options_of(sigma_A);
    o.tolerance = tolerance;
    memcpy(o.n, n, sizeof o.n);
    o.origin[0] = 0.25;
    o.origin[2] = -1.37;
    ley_average *a = average_of(engine, w, &o);
    ley_average_totals totals;
    sample s;
    double mean_cell_A[9] = {0};
    a->problem.by_cards = by_cards;
    assert_ok(ley_average_add(a, 2, frame_of(w, 0), w->cell_A[0], &error));
    assert_ok(ley_average_add(a, 3, frame_of(w, 2), w->cell_A[2], &error));
    ley_map *map = map_of(a, LEY_AVERAGE_MEAN);
    assert_ok(ley_average_finish(a, &totals, &error));
    assert_int_equal(totals.frames, 5);
    print_message("checked %d: %.2g; mean %.2g\n", (int)totals.checked_frames, totals.relative_rms, totals.mean_error);
    for (int f = 0; f < 5; f++)
        for (int k = 0; k < 9; k++)
            mean_cell_A[k] += w->cell_A[f][k] / 5;
    sample_make(map, o.origin, &s);
    for (int f = 0; f < 5; f++)
        add_potential(w, f, mean_cell_A, sigma_A, POINTS, (const double(*)[3])s.at, 0.2, s.right);
    const double off = sample_error(map, &s);
    print_message("sigma %g, tolerance %g: order %d, mesh %d x %d x %d, error %.2g, expected %.2g\n", sigma_A,
                  tolerance, totals.order, (int)totals.mesh[0], (int)totals.mesh[1], (int)totals.mesh[2], off,
                  totals.expected_error);
    assert_true(off <= tolerance);
    assert_true(isnan(totals.cell_difference) == (wobble == 0));
    for (int d = 0; d < 3; d++) {
        double first_A = 0;
        for (int axis = 0; axis < 3; axis++)
            first_A += o.origin[axis] * mean_cell_A[3 * axis + d];
        assert_true(fabs(ley_map_grid(map)->origin_A[d] - first_A) < 1e-9);
    }
    for (int k = 0; k < 9; k++)
        assert_true(fabs(totals.cell_A[k / 3][k % 3] - mean_cell_A[k]) < 1e-9);
    ley_map_destroy(map);
    ley_average_destroy(a);
    free(w);
}

static void means_are_those_of_the_formula(void **state)
{
    (void)state;
    for (int by_cards = 0; by_cards < 2; by_cards++) {
        check_mean(2.83, 1e-4, (const int64_t[3]){0, 0, 0}, 0, by_cards);
        check_mean(2.83, 1e-2, (const int64_t[3]){40, 7, 11}, 0, by_cards);
        check_mean(1.5, 1e-6, (const int64_t[3]){12, 64, 5}, 0, by_cards);
        check_mean(2, 1e-4, (const int64_t[3]){0, 0, 0}, 0.5, by_cards);
    }
}

/* Sums of 128 bits, of either sign: to a double's last digit, small ones as well. */
static void sums_keep_their_digits(void **state)
{
    static const double value[] = {-3,        3,      -1,      -700,         0x1p70, -0x1p70,
                                   -0x1.8p64, 0x1p64, -0x1p64, -123456789.0, 0,      -0x1p63};
    enum { VALUES = sizeof value / sizeof *value };
    (void)state;
    ley_error error = {0};
    density d;
    double found[VALUES];
    assert_ok(density_create(VALUES, &d, &error));
    density_add_values(&d, value, 0);
    density_values(&d, 1, found);
    for (int i = 0; i < VALUES; i++)
        assert_true(found[i] == value[i]);
    density_add_values(&d, value, 1);
    density_add_squares(&d, (const double[VALUES]){2}, 0);
    density_values(&d, 1, found);
    for (int i = 0; i < VALUES; i++)
        assert_true(found[i] == 3 * value[i] + (i == 0 ? 4 : 0));
    density_destroy(&d);
}

/* ---- Exact cells, deviations, blocks --------------------------------------------------------- */

/* Mean and deviation of frames each in its own cell, and the error by blocks, by the formula. */
static void deviations_are_those_of_the_formula(void **state)
{
    (void)state;
    enum { FRAMES = 7, BLOCK = 3 };
    static const int64_t n[][3] = {{18, 16, 20}, {7, 50, 33}};
    ley_error error = {0};
    for (int which = 0; which < 2; which++) {
        walk *w = walk_make(100, FRAMES, 0.6, 5);
        ley_average_options o = options_of(2.2);
        o.deviation = true;
        o.block_frames = BLOCK;
        o.origin[1] = 0.3;
        memcpy(o.n, n[which], sizeof o.n);
        ley_average *a = average_of(engine, w, &o);
        ley_average_totals totals;
        sample own, mean, deviation, by_blocks;
        double value[FRAMES][POINTS] = {{0}};
        assert_ok(ley_average_add(a, FRAMES, frame_of(w, 0), w->cell_A[0], &error));
        ley_map *map = map_of(a, LEY_AVERAGE_MEAN), *deviations = map_of(a, LEY_AVERAGE_DEVIATION),
                *errors = map_of(a, LEY_AVERAGE_ERROR);
        assert_ok(ley_average_finish(a, &totals, &error));
        assert_int_equal(totals.blocks, FRAMES / BLOCK);
        assert_int_equal(totals.failed, 0);
        sample_make(map, o.origin, &own);
        mean = deviation = by_blocks = own;
        for (int f = 0; f < FRAMES; f++)
            add_potential(w, f, w->cell_A[f], 2.2, POINTS, (const double(*)[3])own.at, 1, value[f]);
        for (int p = 0; p < POINTS; p++) {
            double sum = 0, square = 0, block[2] = {0};
            for (int f = 0; f < FRAMES; f++) {
                sum += value[f][p] / FRAMES;
                if (f < 2 * BLOCK)
                    block[f / BLOCK] += value[f][p] / BLOCK;
            }
            for (int f = 0; f < FRAMES; f++)
                square += pow(value[f][p] - sum, 2) / (FRAMES - 1);
            mean.right[p] = sum;
            deviation.right[p] = sqrt(square);
            by_blocks.right[p] = fabs(block[0] - block[1]) / 2; /* deviation of two, over sqrt(2) */
        }
        print_message("errors %.2g, %.2g, %.2g; %.2g of checked\n", sample_error(map, &mean),
                      sample_error(deviations, &deviation), sample_error(errors, &by_blocks), totals.relative_rms);
        assert_true(sample_error(map, &mean) < 1e-4);
        assert_true(sample_error(deviations, &deviation) < 1e-4);
        assert_true(sample_error(errors, &by_blocks) < 1e-4);
        assert_true(totals.checked_frames == 1 && totals.relative_rms < 1e-4 && totals.mean_error < 1e-4);
        ley_map_destroy(map);
        ley_map_destroy(deviations);
        ley_map_destroy(errors);
        ley_average_destroy(a);
        free(w);
    }
}

/* What point charges have more than Gaussians: of all images near by, in e / A. */
static void add_near(walk *w, int frame, double sigma_A, size_t points, const double (*at)[3], double *sum)
{
    const double *c = w->cell_A[frame];
    for (size_t p = 0; p < points; p++)
        for (int i = 0; i < w->atoms; i++)
            for (int image = 0; image < 125 * 27; image++) {
                double r2 = 0;
                const int m[3] = {image % 15 - 7, image / 15 % 15 - 7, image / 225 - 7};
                for (int d = 0; d < 3; d++) {
                    double r = -(double)frame_of(w, frame)[3 * i + d];
                    for (int axis = 0; axis < 3; axis++)
                        r += (at[p][axis] + m[axis]) * c[3 * axis + d];
                    r2 += r * r;
                }
                if (r2 < pow(8 * sigma_A, 2))
                    sum[p] += w->charge_e[i] * erfc(sqrt(r2 / 2) / sigma_A) / sqrt(r2);
            }
}

static void bare_charges_have_whole_potentials(void **state)
{
    (void)state;
    enum { FRAMES = 3, ATOMS = 60 };
    ley_error error = {0};
    walk *w = walk_make(ATOMS, FRAMES, 0.4, 9);
    for (int i = 0; i < ATOMS; i++)
        w->charge_e[i] = i % 2 == 0 ? 0.7 : -0.7;
    ley_average_options o = options_of(0);
    o.deviation = true;
    o.origin[2] = 0.2;
    ley_average *a = average_of(engine, w, &o);
    ley_average_totals totals;
    ley_profile profile;
    sample own, mean, deviation;
    double value[FRAMES][POINTS] = {{0}};
    for (int f = 0; f < FRAMES; f++)
        assert_ok(ley_average_add(a, 1, frame_of(w, f), w->cell_A[f], &error));
    assert_ok(ley_average_finish(a, &totals, &error));
    ley_map *map = map_of(a, LEY_AVERAGE_MEAN), *deviations = map_of(a, LEY_AVERAGE_DEVIATION);
    sample_make(map, o.origin, &own);
    mean = deviation = own;
    for (int f = 0; f < FRAMES; f++) {
        add_potential(w, f, w->cell_A[f], 1.5, POINTS, (const double(*)[3])own.at, 1, value[f]);
        add_near(w, f, 1.5, POINTS, (const double(*)[3])own.at, value[f]);
    }
    for (int p = 0; p < POINTS; p++) {
        mean.right[p] = (value[0][p] + value[1][p] + value[2][p]) / 3;
        deviation.right[p] = sqrt((pow(value[0][p] - mean.right[p], 2) + pow(value[1][p] - mean.right[p], 2) +
                                   pow(value[2][p] - mean.right[p], 2)) /
                                  2);
    }
    print_message("errors %.2g, %.2g; checked %d: %.2g\n", sample_error(map, &mean),
                  sample_error(deviations, &deviation), (int)totals.checked_frames, totals.relative_rms);
    assert_true(sample_error(map, &mean) < 2e-4);
    assert_true(sample_error(deviations, &deviation) < 2e-4);
    assert_true(totals.checked_frames > 0 && totals.relative_rms < 1e-4);
    assert_error(ley_average_profile(a, 0, LEY_PROFILE_TIN_FOIL, &profile, &error), LEY_ERROR_USAGE, "smooth_A");
    ley_map_destroy(map);
    ley_map_destroy(deviations);
    ley_average_destroy(a);
    free(w);
}

/* Potentials and their squares as integers are what rounding of each by itself makes of them, small
 * and large ones, those between two integers and what is no number. */
static void floats_are_added_as_integers(void **state)
{
    (void)state;
    enum { NODES = 1003, TIMES = 40 }; /* sums beyond 64 bits */
    const density_scale scales[] = {{1 / 560.7, 16384, 46, false}, {1 / 560.7, 16384, 32, true}, {1, 8, 1, false}};
    const float odd[] = {NAN, INFINITY, -INFINITY, 0, -0.25F, 0.25F, 0.75F, -1e30F};
    ley_error error = {0};
    density sum;
    float value[NODES];
    for (size_t k = 0; k < sizeof scales / sizeof *scales; k++) {
        const density_scale *by = &scales[k];
        wide right[NODES] = {0};
        unsigned seed = 7;
        assert_ok(density_create(NODES, &sum, &error));
        for (int t = 0; t < TIMES; t++) {
            for (int i = 0; i < NODES; i++) {
                const float sign = rand_r(&seed) % 2 == 0 ? 1 : -1;
                value[i] = i < 8 ? odd[i] : sign * powf(10, (float)(rand_r(&seed) % 1400) / 100 - 6);
                const double bounded = fmin(fmax((double)value[i] * by->factor, -by->most), by->most);
                right[i] += llrint(ldexp(bounded * (by->is_squared ? bounded : 1), by->exponent));
            }
            density_add_floats(&sum, value, by);
        }
        for (int i = 0; i < NODES; i++)
            assert_true(sum.low[i] == (uint64_t)right[i] && sum.high[i] == (int64_t)(right[i] >> 64));
        density_destroy(&sum);
    }
}

/* ---- Profiles -------------------------------------------------------------------------------- */

/* The plane means of a map, across an axis. */
static double *plane_means(const ley_map *map, int axis)
{
    const ley_grid *g = ley_map_grid(map);
    double *mean = calloc((size_t)g->n[axis], sizeof *mean);
    for (int64_t z = 0; z < g->n[2]; z++)
        for (int64_t y = 0; y < g->n[1]; y++)
            for (int64_t x = 0; x < g->n[0]; x++)
                mean[axis == 0   ? x
                     : axis == 1 ? y
                                 : z] += (double)ley_map_read_values(map)[(z * g->n[1] + y) * g->n[0] + x] *
                                         (double)g->n[axis] / (double)ley_grid_points(g);
    return mean;
}

static double rms_of(const double *value, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += value[i] * value[i] / (double)count;
    return sqrt(sum);
}

/* Field and potential follow from the charges by integration, whatever the boundary: by plain sums
 * over many planes. */
static void check_integrals(const ley_profile *p, double mean_e_A3)
{
    const double c = 4 * M_PI * ley_coulomb_constant(LEY_UNITS_VOLT, 1, 300), step_A = p->distance_A[1];
    double field = p->field[0], potential = p->potential[0], worst_field = 0, worst_potential = 0;
    for (size_t i = 1; i < p->planes; i++) {
        field += c * step_A * ((p->charge_e_A3[i] + p->charge_e_A3[i - 1]) / 2 - mean_e_A3);
        potential -= step_A * (p->field[i] + p->field[i - 1]) / 2;
        worst_field = fmax(worst_field, fabs(field - p->field[i]));
        worst_potential = fmax(worst_potential, fabs(potential - p->potential[i]));
    }
    assert_true(worst_field < 2e-3 * rms_of(p->field, p->planes));
    assert_true(worst_potential < 2e-3 * rms_of(p->potential, p->planes));
}

static void profiles_are_plane_means_and_integrals(void **state)
{
    (void)state;
    ley_error error = {0};
    walk *w = walk_make(121, 6, 0.3, 11);
    double charge = 0;
    for (int i = 0; i < w->atoms; i++)
        charge += w->charge_e[i];
    ley_average_options o = options_of(2);
    o.n[0] = o.n[1] = o.n[2] = 200;
    o.origin[1] = 0.4;
    o.block_frames = 2;
    ley_average *a = average_of(engine, w, &o);
    ley_average_totals totals;
    assert_ok(ley_average_add(a, 6, frame_of(w, 0), w->cell_A[0], &error));
    ley_map *map = map_of(a, LEY_AVERAGE_MEAN);
    assert_ok(ley_average_finish(a, &totals, &error));
    double cell_A[9];
    memcpy(cell_A, totals.cell_A, sizeof cell_A);
    const double mean_e_A3 = charge / reciprocal_of(cell_A, (double[3][3]){{0}});
    for (int axis = 0; axis < 3; axis++) {
        ley_profile p;
        assert_ok(ley_average_profile(a, axis, LEY_PROFILE_TIN_FOIL, &p, &error));
        assert_int_equal(p.planes, 200);
        double *mean = plane_means(map, axis), off[200], other[200];
        for (int i = 0; i < 200; i++)
            off[i] = p.potential[i] - mean[i];
        assert_true(rms_of(off, 200) < 1e-5 * rms_of(mean, 200));
        check_integrals(&p, mean_e_A3);
        for (int i = 0; i < 200; i++)
            other[i] = p.potential[i];
        assert_ok(ley_average_profile(a, axis, LEY_PROFILE_ONE_SIDE, &p, &error));
        assert_true(fabs(p.field[0]) < 1e-12 && fabs(p.potential[0]) < 1e-12);
        check_integrals(&p, 0);
        assert_ok(ley_average_profile(a, axis, LEY_PROFILE_SYMMETRIC, &p, &error));
        for (int i = 0; i < 200; i++) { /* s and 1 - s, by their places from the origin on */
            const int image = (int)lround(200 * (2 - 2 * o.origin[axis])) - i;
            off[i] = p.potential[i] - (other[i] + other[(image % 200 + 200) % 200]) / 2;
        }
        assert_true(rms_of(off, 200) < 1e-9 * rms_of(other, 200));
        check_integrals(&p, mean_e_A3);
        free(mean);
    }
    ley_map_destroy(map);
    ley_average_destroy(a);
    free(w);
}

/* ---- The same bytes -------------------------------------------------------------------------- */

enum { LONG = 53 }; /* frames: several chunks, one of them not full */

/* From now on all libraries of transforms but the usual one look fast. */
static void speed_up_others(void)
{
    static const double seconds[] = {[COST_FFT_PREPARE] = 1e-5, [COST_FFT_BYTE] = 1e-15};
    static const size_t n[3] = {24, 24, 24};
    const dev_info *info = engine->workers[0].info;
    const fft_wish wish = {.n = {n[0], n[1], n[2]}, .is_steady = true};
    fft_prediction usual;
    dev_fft_library library;
    assert_true(fft_predict(info, &wish, &usual));
    for (size_t i = 0; fft_library(info, i, &library); i++)
        if (strcmp(library.name, usual.library) != 0)
            for (int tables = 0; tables < 2; tables++)
                fft_plant_costs(info, library.name, tables != 0, n, seconds);
}

/* Threads that do what ranks do. */
enum { SHARING = 4 };
typedef struct team {
    pthread_barrier_t barrier;
    int64_t *word[SHARING];
    walk *w;
    ley_average *average[SHARING];
    ley_status status[SHARING];
    ley_error error[SHARING];
    bool is_late[SHARING]; /* a piece waited for devices when it was time to take the next one */
} team;

typedef struct member {
    team *team;
    int own;
} member;

static int add_up(void *context, int64_t *words, size_t count, int to)
{
    const member *m = context;
    team *t = m->team;
    int64_t *sum = calloc(count, sizeof *sum);
    t->word[m->own] = words;
    pthread_barrier_wait(&t->barrier);
    for (int rank = 0; rank < SHARING; rank++)
        for (size_t i = 0; i < count; i++)
            sum[i] = (int64_t)((uint64_t)sum[i] + (uint64_t)t->word[rank][i]);
    pthread_barrier_wait(&t->barrier);
    if (to < 0 || to == m->own)
        memcpy(words, sum, count * sizeof *sum);
    else
        memset(words, 0x55, count * sizeof *words);
    free(sum);
    return 0;
}

/* Pieces go to one of three in turn, the fourth has none. */
static void *take_part(void *context)
{
    member *m = context;
    team *t = m->team;
    ley_average *a = t->average[m->own];
    ley_error *error = &t->error[m->own];
    const ley_average_ranks ranks = {.count = SHARING, .own = m->own, .add_up = add_up, .context = m};
    ley_status status = ley_average_begin(a, &ranks, frame_of(t->w, 0), t->w->cell_A[0], error);
    for (int64_t f = 0, end, k = 0; f < LONG && status == LEY_OK; f = end, k++) {
        end = ley_average_piece_end(a, f);
        end = end < LONG ? end : LONG;
        if (k % (SHARING - 1) != m->own)
            continue;
        status = ley_average_go_to(a, f, error);
        if (status == LEY_OK)
            status = ley_average_add(a, (size_t)(end - f), frame_of(t->w, (int)f), t->w->cell_A[f], error);
        if (status == LEY_OK)
            status = ley_average_go_to(a, end, error);
        pthread_mutex_lock(&a->mutex);
        t->is_late[m->own] = t->is_late[m->own] || a->waiting.count > 0 || a->filling != NULL;
        pthread_mutex_unlock(&a->mutex);
    }
    if (status == LEY_OK)
        status = ley_average_go_to(a, LONG, error);
    t->status[m->own] = status == LEY_OK ? ley_average_share(a, error) : status;
    return NULL;
}

/* Frames of several; all but one are destroyed. */
static ley_average *shared_of(walk *w, const ley_average_options *o)
{
    ley_error error = {0};
    team t = {.w = w};
    member m[SHARING];
    pthread_t thread[SHARING];
    ley_average_totals totals, first = {.frames = 0};
    assert_int_equal(pthread_barrier_init(&t.barrier, NULL, SHARING), 0);
    for (int i = 0; i < SHARING; i++) {
        t.average[i] = average_of(engine, w, o);
        m[i] = (member){&t, i};
    }
    for (int i = 0; i < SHARING; i++)
        assert_int_equal(parallel_start(&thread[i], take_part, &m[i]), 0);
    for (int i = 0; i < SHARING; i++)
        pthread_join(thread[i], NULL);
    for (int i = 0; i < SHARING; i++) {
        assert_ok(t.status[i]);
        assert_false(t.is_late[i]);
        assert_ok(ley_average_finish(t.average[i], &totals, &error));
        first = i == 0 ? totals : first;
        assert_int_equal(totals.frames, LONG);
        assert_int_equal(totals.blocks, LONG / 20);
        assert_true(o->deviation || totals.cell_difference > 0);
        assert_true(o->deviation || totals.cell_difference == first.cell_difference);
        assert_true(totals.checked_frames > 0 && totals.checked_frames == first.checked_frames);
        if (i > 0)
            ley_average_destroy(t.average[i]);
    }
    assert_error(ley_average_go_to(t.average[0], 0, &error), LEY_ERROR_USAGE, "frame 1 comes before");
    pthread_barrier_destroy(&t.barrier);
    return t.average[0];
}

/* All at once; one by one; shared by several; with maps in between; and resumed from checkpoints,
 * twice; whatever is measured meanwhile. */
static void runs_make_the_same_bytes(void **state)
{
    (void)state;
    ley_error error = {0};
    char *path = path_of("average.checkpoint");
    for (int deviation = 0; deviation < 2; deviation++) {
        walk *w = walk_make(90, LONG, 0.3, 21);
        ley_average_options o = options_of(2.5);
        o.deviation = deviation != 0;
        o.block_frames = 20;
        ley_average *a = average_of(engine, w, &o);
        add_frames(a, w, 0, LONG, LONG);
        const maps right = maps_of(a, o.deviation);
        speed_up_others();
        a = average_of(engine, w, &o);
        add_frames(a, w, 0, LONG, 1);
        assert_same_maps(&right, maps_of(a, o.deviation));
        assert_same_maps(&right, maps_of(shared_of(w, &o), o.deviation));
        a = average_of(engine, w, &o);
        for (int f = 0; f < LONG; f += 9) {
            add_frames(a, w, f, f + 9 < LONG ? f + 9 : LONG, 4);
            ley_map_destroy(map_of(a, LEY_AVERAGE_MEAN));
        }
        assert_same_maps(&right, maps_of(a, o.deviation));
        for (int f = 0; f < LONG; f += 23) {
            a = average_of(engine, w, &o);
            if (f > 0)
                assert_ok(ley_average_load(a, path, &error));
            add_frames(a, w, f, f + 23 < LONG ? f + 23 : LONG, 7);
            assert_ok(ley_average_save(a, path, &error));
            if (f + 23 < LONG)
                ley_average_destroy(a);
        }
        assert_same_maps(&right, maps_of(a, o.deviation));
        destroy_maps(&right);
        free(w);
    }
    free(path);
}

/* Averages, and jobs beside them, take turns on an engine's devices. */
static void averages_share_an_engine(void **state)
{
    (void)state;
    enum { BOTH = 2, ROUNDS = 8 };
    const ley_grid grid = {.step_A = LEY_STEPS(1, 1, 1), .n = {20, 20, 20}};
    const support_options plain = support_default_options();
    ley_atoms *atoms = support_make_atoms(2, (double[]){0.2, 0, 0, 3, 1, 2}, (double[]){1, -1}, NULL);
    walk *w = walk_make(90, LONG, 0.3, 22);
    ley_average_options o = options_of(2.5);
    o.deviation = true;
    o.block_frames = 20;
    ley_average *alone = average_of(engine, w, &o);
    add_frames(alone, w, 0, LONG, LONG);
    const maps right = maps_of(alone, true);
    for (int round = 0; round < ROUNDS; round++) {
        ley_average *a[BOTH] = {average_of(engine, w, &o), average_of(engine, w, &o)};
        const int first = round % 2 == 0 ? LONG : 1 + round;
        for (int i = 0; i < BOTH; i++)
            add_frames(a[i], w, 0, first, 7);
        ley_map_destroy(support_run(engine, atoms, &grid, &plain));
        for (int i = 0; i < BOTH; i++)
            add_frames(a[i], w, first, LONG, 5);
        for (int i = 0; i < BOTH; i++)
            assert_same_maps(&right, maps_of(a[i], true));
    }
    destroy_maps(&right);
    ley_atoms_destroy(atoms);
    free(w);
}

/* A checkpoint of something else, damaged, cut, or none. */
static void checkpoints_of_others_are_refused(void **state)
{
    (void)state;
    ley_error error = {0};
    char *path = path_of("average.checkpoint"), *other = path_of("other.checkpoint");
    walk *w = walk_make(51, 18, 0, 23); /* an odd number */
    ley_average_options o = options_of(2);
    ley_average *a = average_of(engine, w, &o), *b = NULL;
    assert_error(ley_average_save(a, path, &error), LEY_ERROR_USAGE, "no frame");
    add_frames(a, w, 0, 18, 18);
    assert_ok(ley_average_save(a, path, &error));
    assert_error(ley_average_load(a, path, &error), LEY_ERROR_USAGE, "added already");
    ley_average_destroy(a);
    o.smooth_A = 2.5;
    a = average_of(engine, w, &o);
    assert_error(ley_average_load(a, path, &error), LEY_ERROR_INPUT, "`smooth_A`: 2, not 2.5");
    ley_average_destroy(a);
    o.smooth_A = 2;
    o.deviation = true;
    a = average_of(engine, w, &o);
    assert_error(ley_average_load(a, path, &error), LEY_ERROR_INPUT, "another `deviation`: 0, not 1");
    ley_average_destroy(a);
    o.deviation = false;
    w->charge_e[7] += 0.01;
    a = average_of(engine, w, &o);
    assert_error(ley_average_load(a, path, &error), LEY_ERROR_INPUT, "other charges");
    assert_error(ley_average_load(a, "/nonexistent", &error), LEY_ERROR_FILE, "/nonexistent");
    w->charge_e[7] -= 0.01;
    b = average_of(engine, w, &o);
    size_t size = 0;
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    unsigned char *bytes = malloc(64 << 20);
    size = fread(bytes, 1, 64 << 20, f);
    fclose(f);
    for (int fault = 0; fault < 3; fault++) {
        const size_t at = fault == 0 ? 70 : size / 2, end = fault == 2 ? size - 8 : size;
        bytes[at] ^= fault < 2 ? 1 : 0;
        f = fopen(other, "wb");
        fwrite(bytes, 1, end, f);
        fclose(f);
        bytes[at] ^= fault < 2 ? 1 : 0;
        assert_error(ley_average_load(b, other, &error), LEY_ERROR_INPUT, "checksum");
    }
    const size_t samples = 6, at = size - 8 - samples * (51 * 12 + 4 + 72) - 8; /* how many there are */
    int64_t count;
    ley_checksum sum;
    memcpy(&count, bytes + at, 8);
    assert_int_equal(count, samples);
    count = 17;
    memcpy(bytes + at, &count, 8);
    ley_checksum_start(&sum);
    ley_checksum_add(&sum, bytes, size / 8 - 1);
    const uint64_t last = ley_checksum_end(&sum);
    memcpy(bytes + size - 8, &last, 8);
    f = fopen(other, "wb");
    fwrite(bytes, 1, size, f);
    fclose(f);
    assert_error(ley_average_load(b, other, &error), LEY_ERROR_INPUT, "damaged: a count of 17");
    ley_average_destroy(b);
    b = average_of(engine, w, &o);
    assert_ok(ley_average_load(b, path, &error));
    ley_average_destroy(a);
    ley_average_destroy(b);
    free(bytes);
    free(path);
    free(other);
    free(w);
}

/* ---- Mistakes -------------------------------------------------------------------------------- */

static void bad_frames_are_named_and_left_out(void **state)
{
    (void)state;
    ley_error error = {0};
    walk *w = walk_make(80, 6, 0, 31);
    ley_average_options o = options_of(2);
    ley_average *a = average_of(engine, w, &o), *b = average_of(engine, w, &o);
    ley_average_totals totals;
    ley_map *map = NULL;
    assert_error(ley_average_map(a, LEY_AVERAGE_MEAN, &map, &error), LEY_ERROR_USAGE, "no frame");
    const float kept = frame_of(w, 3)[3 * 41 + 1];
    add_frames(a, w, 0, 2, 1);
    frame_of(w, 3)[3 * 41 + 1] = NAN;
    assert_error(ley_average_add(a, 4, frame_of(w, 2), w->cell_A[2], &error), LEY_ERROR_INPUT,
                 "frame 4: the position of atom 42 is nan along y");
    frame_of(w, 3)[3 * 41 + 1] = INFINITY;
    assert_error(ley_average_add(a, 4, frame_of(w, 2), w->cell_A[2], &error), LEY_ERROR_INPUT, "frame 4");
    frame_of(w, 3)[3 * 41 + 1] = kept;
    double flat[9] = {10, 0, 0, 0, 10, 0, 10, 10, 0}, none[9] = {0};
    assert_error(ley_average_add(a, 1, frame_of(w, 2), flat, &error), LEY_ERROR_INPUT, "frame 3: the cell's vectors");
    assert_error(ley_average_add(a, 1, frame_of(w, 2), none, &error), LEY_ERROR_INPUT, "no volume");
    assert_error(ley_average_add(b, 1, frame_of(w, 2), none, &error), LEY_ERROR_INPUT, "frame 1");
    add_frames(a, w, 2, 6, 4);
    add_frames(b, w, 0, 6, 6);
    assert_error(ley_average_map(a, LEY_AVERAGE_DEVIATION, &map, &error), LEY_ERROR_USAGE, "`deviation`");
    assert_error(ley_average_map(a, LEY_AVERAGE_ERROR, &map, &error), LEY_ERROR_USAGE, "`block_frames`");
    assert_ok(ley_average_finish(a, &totals, &error));
    assert_int_equal(totals.frames, 6);
    ley_map *x = map_of(a, LEY_AVERAGE_MEAN), *y = map_of(b, LEY_AVERAGE_MEAN);
    assert_memory_equal(ley_map_read_values(x), ley_map_read_values(y),
                        sizeof(float) * (size_t)ley_grid_points(ley_map_grid(x)));
    ley_map_destroy(x);
    ley_map_destroy(y);
    ley_average_destroy(a);
    ley_average_destroy(b);
    free(w);
}

static void options_out_of_range_are_refused(void **state)
{
    (void)state;
    ley_error error = {0};
    ley_average *a = NULL;
    ley_average_options o = options_of(2);
    const double zero[2][3] = {{0}}, charge_e[2] = {1, -1};
    ley_atoms *atoms = support_make_atoms(2, &zero[0][0], charge_e, NULL),
              *neutral = support_make_atoms(2, &zero[0][0], zero[0], NULL);
    assert_error(ley_average_create(engine, neutral, &o, &a, &error), LEY_ERROR_INPUT, "all charges are 0");
    o.smooth_A = -1;
    assert_error(ley_average_create(engine, atoms, &o, &a, &error), LEY_ERROR_USAGE, "smooth_A");
    o = options_of(2);
    o.tolerance = 1;
    assert_error(ley_average_create(engine, atoms, &o, &a, &error), LEY_ERROR_USAGE, "tolerance");
    o = options_of(2);
    o.block_frames = -1;
    assert_error(ley_average_create(engine, atoms, &o, &a, &error), LEY_ERROR_USAGE, "block_frames");
    o = options_of(2);
    o.pmepot = o.deviation = true;
    assert_error(ley_average_create(engine, atoms, &o, &a, &error), LEY_ERROR_USAGE, "pmepot");
    o = options_of(2);
    o.n[1] = -3;
    assert_error(ley_average_create(engine, atoms, &o, &a, &error), LEY_ERROR_USAGE, "n");
    ley_atoms_destroy(atoms);
    ley_atoms_destroy(neutral);
}

static void cancelled_additions_keep_what_was_added(void **state)
{
    (void)state;
    ley_error error = {0};
    walk *w = walk_make(60, 8, 0, 41);
    ley_average_options o = options_of(2);
    ley_average *a = average_of(engine, w, &o);
    ley_average_totals totals;
    add_frames(a, w, 0, 3, 1);
    ley_average_cancel(a);
    assert_error(ley_average_add(a, 5, frame_of(w, 3), w->cell_A[3], &error), LEY_CANCELLED, "cancelled");
    assert_ok(ley_average_finish(a, &totals, &error));
    assert_int_equal(totals.frames, 3);
    add_frames(a, w, 3, 8, 5);
    assert_ok(ley_average_finish(a, &totals, &error));
    assert_int_equal(totals.frames, 8);
    ley_average_destroy(a);
    free(w);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Of a mesh that is finer than needed, so that its memory is asked for. */
static ley_average *large_average(const walk *w, int64_t block_frames)
{
    enum { EDGE = 168 };
    ley_error error = {0};
    ley_average_options o = options_of(2);
    o.n[0] = o.n[1] = o.n[2] = EDGE;
    o.block_frames = block_frames;
    o.verify_every = 0;
    ley_average *a = average_of(engine, w, &o);
    assert_ok(problem_fix(&a->problem, w->cell_A[0], 1, &error));
    a->problem.mesh.n[0] = a->problem.mesh.n[1] = a->problem.mesh.n[2] = EDGE;
    return a;
}

static void no_memory_is_told(void **state)
{
    (void)state;
    ley_error error = {0};
    walk *w = walk_make(60, 3, 0, 61);
    ley_average *a = large_average(w, 1);
    memory_pretend(0);
    ley_status status = LEY_OK;
    for (int f = 0; f < 3 && status == LEY_OK; f++)
        status = ley_average_add(a, 1, frame_of(w, f), w->cell_A[f], &error);
    if (status == LEY_OK)
        status = ley_average_finish(a, &(ley_average_totals){0}, &error);
    assert_int_equal(status, LEY_ERROR_MEMORY);
    assert_non_null(strstr(error.message, "memory"));
    memory_pretend(-1);
    ley_average_destroy(a);
    free(w);
}

/* Frames whose sums fail on the way, and are added once more, count once. */
static void sums_that_fail_are_what_they_were(void **state)
{
    (void)state;
    ley_error error = {0};
    walk *w = walk_make(60, 1, 0, 62);
    ley_average *a = large_average(w, 2);
    const size_t nodes = sums_nodes(&a->problem);
    int64_t *charge = malloc(nodes * sizeof *charge), frames = 0;
    double *value = malloc(nodes * sizeof *value);
    for (size_t i = 0; i < nodes; i++)
        charge[i] = (int64_t)(i % 7) * 1000003 - 3000000;
    part_sums part = {.frames = 1, .charge = charge};
    assert_ok(sums_add(a, &part, &error));
    part.first = 1;
    memory_pretend(0);
    assert_error(sums_add(a, &part, &error), LEY_ERROR_MEMORY, "memory");
    memory_pretend(-1);
    assert_ok(sums_add(a, &part, &error));
    assert_ok(sums_values(a, SUMS_CHARGE, value, &frames, &error));
    assert_int_equal(frames, 2);
    assert_int_equal(a->blocks.count, 1);
    assert_null(a->open);
    for (size_t i = 0; i < nodes; i++)
        assert_true(value[i] == ldexp(2 * (double)charge[i], -a->problem.exponent));
    ley_average_destroy(a);
    free(charge);
    free(value);
    free(w);
}

/* Whichever block is done first. */
static void blocks_are_in_order(void **state)
{
    (void)state;
    static const int64_t order[] = {2, 0, 1};
    ley_error error = {0};
    walk *w = walk_make(60, 1, 0, 63);
    ley_average_options o = options_of(2);
    o.block_frames = 1;
    ley_average *a = average_of(engine, w, &o);
    assert_ok(problem_fix(&a->problem, w->cell_A[0], 1, &error));
    const size_t nodes = sums_nodes(&a->problem), planes = sums_plane_count(&a->problem.mesh);
    int64_t *charge = calloc(nodes, sizeof *charge);
    for (int i = 0; i < 3; i++) {
        charge[0] = (order[i] + 1) << 30;
        assert_ok(sums_add(a, &(part_sums){.first = order[i], .frames = 1, .charge = charge}, &error));
    }
    for (int64_t b = 0; b < 3; b++) {
        assert_int_equal(a->blocks.number[b], b);
        assert_true(a->blocks.planes[(size_t)b * planes] == ldexp((double)(b + 1), 30 - a->problem.exponent));
    }
    ley_average_destroy(a);
    free(charge);
    free(w);
}

/* ---- PMEPot ---------------------------------------------------------------------------------- */

/* Its algorithm, step by step, by plain sums: order 4, squared factors, the first frame's cell. */
static void pmepot_is_reproduced(void **state)
{
    (void)state;
    enum { K = 12, FRAMES = 3 };
    ley_error error = {0};
    walk *w = walk_make(70, FRAMES, 0, 51);
    ley_average_options o = options_of(2 * M_SQRT2);
    o.pmepot = true;
    o.n[0] = o.n[1] = o.n[2] = K;
    for (int f = 0; f < FRAMES; f++) { /* its first cell is that of all frames */
        memset(w->cell_A[f], 0, sizeof w->cell_A[f]);
        for (int axis = 0; axis < 3; axis++)
            w->cell_A[f][4 * axis] = 14 + f;
    }
    ley_average *a = average_of(engine, w, &o);
    add_frames(a, w, 0, FRAMES, 2);
    ley_map *map = map_of(a, LEY_AVERAGE_MEAN);
    const ley_grid *g = ley_map_grid(map);
    static double mesh[K][K][K];
    memset(mesh, 0, sizeof mesh);
    for (int f = 0; f < FRAMES; f++)
        for (int i = 0; i < w->atoms; i++) {
            double weight[3][4];
            int node[3];
            for (int d = 0; d < 3; d++) {
                const double s = ((double)frame_of(w, f)[3 * i + d] - g->origin_A[d]) / 14 * K, t = s - floor(s),
                             u = 1 - t;
                node[d] = ((int)floor(s) % K + K) % K;
                weight[d][0] = u * u * u / 6;
                weight[d][1] = (3 * t * t * t - 6 * t * t + 4) / 6;
                weight[d][2] = (3 * u * u * u - 6 * u * u + 4) / 6;
                weight[d][3] = t * t * t / 6;
            }
            for (int n = 0; n < 64; n++)
                mesh[(node[2] + n / 16 - 1 + K) % K][(node[1] + n / 4 % 4 - 1 + K) % K]
                    [(node[0] + n % 4 - 1 + K) % K] +=
                    w->charge_e[i] * weight[2][n / 16] * weight[1][n / 4 % 4] * weight[0][n % 4] / FRAMES;
        }
    double complex spectrum[K][K][K];
    double off = 0, all = 0;
    for (int k = 0; k < K * K * K; k++) {
        const int m[3] = {k % K, k / K % K, k / K / K};
        double complex s = 0;
        double m2 = 0, factor = 1 / (M_PI * 14);
        for (int r = 0; r < K * K * K; r++)
            s += mesh[r / K / K][r / K % K][r % K] *
                 cexp(-2 * M_PI * I * (m[0] * (r % K) + m[1] * (r / K % K) + m[2] * (r / K / K)) / K);
        for (int d = 0; d < 3; d++) {
            m2 += pow(m[d] <= K / 2 ? m[d] : m[d] - K, 2);
            factor /= pow((4 + 2 * cos(2 * M_PI * m[d] / K)) / 6, 2);
        }
        factor *= m2 > 0 ? exp(-M_PI * M_PI * m2 / (14. * 14 * 0.0625)) / m2 : 0;
        spectrum[m[2]][m[1]][m[0]] = factor * s;
    }
    for (int r = 0; r < K * K * K; r += 31) {
        double complex phi = 0;
        for (int k = 0; k < K * K * K; k++)
            phi += spectrum[k / K / K][k / K % K][k % K] *
                   cexp(2 * M_PI * I * ((k % K) * (r % K) + (k / K % K) * (r / K % K) + (k / K / K) * (r / K / K)) / K);
        const double right = creal(phi) * ley_coulomb_constant(LEY_UNITS_VOLT, 1, 300);
        off += pow((double)ley_map_read_values(map)[r] - right, 2);
        all += right * right;
    }
    assert_true(sqrt(off / all) < 1e-6);
    for (int d = 0; d < 3; d++) /* the cell's centre, less half of all steps */
        assert_true(fabs(g->origin_A[d] + 14. * (K - 1) / (2 * K)) < 1e-9);
    assert_ok(ley_average_finish(a, &(ley_average_totals){0}, &error));
    ley_map_destroy(map);
    ley_average_destroy(a);
    free(w);
}

/* ---- Faults in kernels ----------------------------------------------------------------------- */

typedef struct planted {
    const kernel_kind *kind;
    const char *from, *to;
    const char *of;   /* "group": specifications for GPUs, which any device runs; "vectors": for CPUs alone; NULL: those
                         for this device */
    const char *file; /* the file that has it; NULL: the kernel's own */
} planted;

typedef struct look {
    const kernel_kind *kind;
    const char *of;
    int right, seen;
} look;

static void build(void *context, const char *name, const void *spec)
{
    look *k = context;
    ley_error error = {0};
    dev_kernel kernel;
    if (k->of != NULL && strcmp(k->of, "group") == 0 && engine->workers[0].info->device_class == DEV_CPU &&
        strstr(name, k->of) == NULL)
        return;
    const ley_status status = kernel_create_anew(engine->workers[0].device, k->kind, spec, true, NULL, &kernel, &error);
    if (status == LEY_OK)
        kernel_destroy(&kernel);
    else if (status != LEY_ERROR_WRONG_RESULT)
        fail_msg("%s: %s", name, error.message);
    k->right += status == LEY_OK;
    k->seen += status == LEY_ERROR_WRONG_RESULT;
    ley_error_clear(&error);
}

/* Self-tests find what is planted, in each specification that has it. */
static void self_tests_find_faults(void **state)
{
    (void)state;
    static const planted faults[] = {
        {&density_spread_kind, "node < 0 ? node + n : node", "node < 0 ? 0 : node", .file = "mesh_node.h"},
        {&density_spread_kind, "+ (int)lost.w", "", .file = "mesh_node.h"},
        {&density_spread_kind, "LEY_FMA(z, lost.z, row.w)", "row.w", .file = "mesh_node.h"},
        {&density_spread_kind, "first_frame + frame", "frame", "vectors"},
        {&density_spread_kind, "weight_x * weight_z[k]", "weight_x * weight_z[0]", "vectors"},
        {&density_spread_kind, "* gm_charges[number]", "", "vectors"},
        {&density_merge_kind, "x < 0 ? x + mesh.x : x", "x < 0 ? 0 : x"},
        {&density_merge_kind, "gm_row[mesh.x + i] = 0;", ""},
        {&density_merge_kind, "own / 2 : own", "0 : own"},
        {&density_floats_kind, "LEY_LONG_AT(gm_frame + i) = 0;", ""},
        {&density_floats_kind, "i >= (size_t)nodes", "i > (size_t)nodes"},
        {&density_floats_kind, ") * scale", ")"},
        {&density_fold_kind, "sign * g", "g"},
        {&density_fold_kind, "if (2 * m_y == mesh.y", "if (3 * m_y == mesh.y"},
        {&density_fold_kind, "6 * frame + 1", "1"},
        {&density_fold_kind, "m_z += points.z", "m_z += 2 * points.z"},
        {&potential_sums_kind, "gm_beyond[0] = 1;", ""},
        {&potential_sums_kind, "LEY_FMA(phi, phi, 0.0f)", "phi"},
        {&potential_sums_kind, "LEY_FMA(phi, phi, -square)", "0"},
        {&potential_sums_kind, "i >= (size_t)points", "i > (size_t)points"},
        {&potential_sums_kind, "fabs(phi) <= most", "phi <= most"},
        {&potential_sums_kind, "fabs(phi) <= most", "fabs(phi) <= 1000 * most"},
        {&potential_sums_kind, "gm_sum + i) +=", "gm_sum + i) ="},
        {&potential_sums_kind, "gm_square + i) +=", "gm_square + i) ="},
        {&density_fold_kind, "m_x <= mesh.x / 2", "m_x < mesh.x / 2"},
        {&density_fold_kind, "m_y += points.y", "m_y += 2 * points.y"},
        {&density_fold_kind, "fabs(span)", "span"},
        {&density_fold_kind, "|| -2 * m_x == mesh.x", ""},
        {&density_spread_kind, "int number = (int)(all * part / parts % n_atoms)", "int number = 0", "vectors"},
        {&density_spread_kind, "frame++;", "", "vectors"},
        {&density_spread_kind, "(size_t)first_frame + LEY_GROUP_ID(1)", "LEY_GROUP_ID(1)", "group"},
        {&density_spread_kind, "(first + own >= n_atoms)", "(first + own + 1 >= n_atoms)", "group"},
        {&density_spread_kind, "z + 1 == mesh.z ? 0", "z + 1 == mesh.z ? 1", "group"},
        {&density_spread_kind, "gm_charges[number] : 1", "gm_charges[first] : 1", "group"},
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i += support_is_quick() ? 3 : 1) {
        const bool is_of_vectors = faults[i].of != NULL && strcmp(faults[i].of, "vectors") == 0;
        look k = {.kind = faults[i].kind, .of = is_of_vectors ? NULL : faults[i].of};
        if (is_of_vectors && engine->workers[0].info->device_class != DEV_CPU)
            continue;
        support_plant_fault(faults[i].file != NULL ? faults[i].file : faults[i].kind->name, faults[i].from,
                            faults[i].to);
        kernel_specs(faults[i].kind, engine->workers[0].info, k.of == NULL ? KERNEL_FEW : KERNEL_ALL, build, &k);
        if (k.seen == 0 || k.right > 0)
            fail_msg("%s: '%s' is planted: %d seen, %d not", faults[i].kind->name, faults[i].from, k.seen, k.right);
    }
    unsetenv("LEYDEN_KERNEL_DIR");
}

/* Memory that a device keeps is larger than what the next average asks for: no more is read. */
static void an_engine_is_used_again(void **state)
{
    ley_error error = {0};
    walk *w = walk_make(60, 3, 0.3, 11);
    (void)state;
    for (int points = 64; points > 58; points--) {
        ley_average_options o = options_of(2.2);
        ley_average_totals totals;
        o.deviation = points % 2 == 0;
        for (int axis = 0; axis < 3; axis++)
            o.n[axis] = points;
        ley_average *a = average_of(engine, w, &o);
        assert_ok(ley_average_add(a, 3, frame_of(w, 0), w->cell_A[0], &error));
        assert_ok(ley_average_finish(a, &totals, &error));
        assert_int_equal(totals.failed, 0);
        ley_average_destroy(a);
    }
    free(w);
}

int main(void)
{
    return RUN_GROUP(
        SUPPORT_GROUP(.name = "averages", .opened = &engine), means_are_those_of_the_formula, sums_keep_their_digits,
        an_engine_is_used_again, floats_are_added_as_integers, deviations_are_those_of_the_formula,
        bare_charges_have_whole_potentials, profiles_are_plane_means_and_integrals, runs_make_the_same_bytes,
        averages_share_an_engine, checkpoints_of_others_are_refused, bad_frames_are_named_and_left_out,
        options_out_of_range_are_refused, cancelled_additions_keep_what_was_added, no_memory_is_told,
        sums_that_fail_are_what_they_were, blocks_are_in_order, pmepot_is_reproduced, self_tests_find_faults);
}
