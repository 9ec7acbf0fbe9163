/* Averages over frames: held against the formula of leyden_average.h, summed over waves in plain
 * double precision. */
#include "support.h"

#include <complex.h>

static ley_engine *engine;

enum { MOST_ATOMS = 400, MOST_FRAMES = 64 };

/* Frames of charges that wander in cells that may change. */
typedef struct walk {
    int atoms, frames;
    double charge_e[MOST_ATOMS];
    float position_A[MOST_FRAMES][MOST_ATOMS * 3]; /* [frames][atoms][3], packed */
    double cell_A[MOST_FRAMES][9];
} walk;

static double fraction(unsigned *seed)
{
    return rand_r(seed) / (RAND_MAX + 1.0);
}

static float *frame_of(walk *w, int f)
{
    return &w->position_A[0][0] + (size_t)f * 3 * (size_t)w->atoms;
}

/* `wobble`: cells change by so much. */
static walk *walk_make(int atoms, int frames, double wobble, unsigned seed)
{
    static const double cell_A[9] = {18, 0, 0, 3, 15, 0, -2, 4, 21};
    walk *w = calloc(1, sizeof *w);
    assert_non_null(w);
    w->atoms = atoms;
    w->frames = frames;
    for (int i = 0; i < atoms; i++)
        w->charge_e[i] = i % 2 == 0 ? 1 - 0.3 * fraction(&seed) : -0.8;
    for (int f = 0; f < frames; f++) {
        for (int k = 0; k < 9; k++)
            w->cell_A[f][k] = cell_A[k] + (cell_A[k] != 0 && f > 0 ? wobble * (fraction(&seed) - 0.5) : 0);
        for (int i = 0; i < 3 * atoms; i++)
            frame_of(w, f)[i] =
                f == 0 ? (float)(60 * fraction(&seed) - 20) : frame_of(w, f - 1)[i] + (float)(4 * fraction(&seed) - 2);
    }
    return w;
}

static ley_average_options options_of(double sigma_A)
{
    ley_average_options o;
    ley_average_options_default(&o);
    o.smooth_A = sigma_A;
    o.units = LEY_UNITS_VOLT;
    return o;
}

static ley_average *average_of(const walk *w, const ley_average_options *o)
{
    ley_error error = {0};
    ley_average *a = NULL;
    double zero[MOST_ATOMS][3] = {{0}};
    ley_atoms *atoms = support_make_atoms((size_t)w->atoms, &zero[0][0], w->charge_e, NULL);
    assert_ok(ley_average_create(engine, atoms, o, &a, &error));
    ley_atoms_destroy(atoms);
    return a;
}

static ley_map *map_of(ley_average *a, ley_average_quantity quantity)
{
    ley_error error = {0};
    ley_map *map = NULL;
    assert_ok(ley_average_map(a, quantity, &map, &error));
    return map;
}

/* ---- The judge ------------------------------------------------------------------------------- */

static double reciprocal_of(const double c[9], double reciprocal[3][3])
{
    double volume = 0;
    for (int i = 0; i < 3; i++) {
        const double *a = c + 3 * ((i + 1) % 3), *b = c + 3 * ((i + 2) % 3);
        reciprocal[i][0] = a[1] * b[2] - a[2] * b[1];
        reciprocal[i][1] = a[2] * b[0] - a[0] * b[2];
        reciprocal[i][2] = a[0] * b[1] - a[1] * b[0];
    }
    for (int d = 0; d < 3; d++)
        volume += c[d] * reciprocal[0][d];
    for (int i = 0; i < 9; i++)
        reciprocal[i / 3][i % 3] *= 2 * M_PI / volume;
    return fabs(volume);
}

/* Adds a frame's potential at fractions of `cell_A`, times `share`, its charges being at the same
 * fractions of that cell as in their own; in e / A. */
static void add_potential(walk *w, int frame, const double *cell_A, double sigma_A, size_t points,
                          const double (*at)[3], double share, double *sum)
{
    enum { MOST = 24 };
    double k[3][3], own[3][3];
    const double volume = reciprocal_of(cell_A, k), most = 6.5 / sigma_A;
    reciprocal_of(w->cell_A[frame], own);
    for (int x = 0; x <= MOST; x++)
        for (int y = -MOST; y <= MOST; y++)
            for (int z = -MOST; z <= MOST; z++) {
                double k2 = 0;
                double complex s = 0;
                for (int d = 0; d < 3; d++)
                    k2 += pow(x * k[0][d] + y * k[1][d] + z * k[2][d], 2);
                if (k2 == 0 || k2 > most * most)
                    continue;
                for (int i = 0; i < w->atoms; i++) {
                    const float *p = frame_of(w, frame) + 3 * i;
                    double phase = 0;
                    for (int d = 0; d < 3; d++)
                        phase += (x * own[0][d] + y * own[1][d] + z * own[2][d]) * (double)p[d];
                    s += w->charge_e[i] * cexp(-I * phase);
                }
                s *= (x == 0 ? 1 : 2) * 4 * M_PI / volume * exp(-sigma_A * sigma_A * k2 / 2) / k2;
                for (size_t p = 0; p < points; p++)
                    sum[p] += share * creal(s * cexp(2 * M_PI * I * (x * at[p][0] + y * at[p][1] + z * at[p][2])));
            }
}

enum { POINTS = 40 };

typedef struct sample {
    int64_t number[POINTS];
    double at[POINTS][3], right[POINTS];
} sample;

static void sample_make(const ley_map *map, const double origin[3], sample *s)
{
    const ley_grid *g = ley_map_grid(map);
    unsigned seed = 3;
    memset(s, 0, sizeof *s);
    for (int p = 0; p < POINTS; p++)
        for (int axis = 2; axis >= 0; axis--) {
            const int64_t i = (int64_t)((double)g->n[axis] * fraction(&seed));
            s->number[p] = s->number[p] * g->n[axis] + i;
            s->at[p][axis] = origin[axis] + (double)i / (double)g->n[axis];
        }
}

/* Relative root mean square error of a map at the sample. */
static double error_of(const ley_map *map, const sample *s)
{
    double off = 0, all = 0;
    for (int p = 0; p < POINTS; p++) {
        const double right = s->right[p] * ley_coulomb_constant(LEY_UNITS_VOLT, 1, 300);
        off += pow((double)ley_map_read_values(map)[s->number[p]] - right, 2);
        all += right * right;
    }
    return sqrt(off / all);
}

/* ---- Means ----------------------------------------------------------------------------------- */

static void check_mean(double sigma_A, double tolerance, const int64_t n[3], double wobble)
{
    ley_error error = {0};
    walk *w = walk_make(120, 5, wobble, 7);
    ley_average_options o = options_of(sigma_A);
    o.tolerance = tolerance;
    memcpy(o.n, n, sizeof o.n);
    o.origin[0] = 0.25;
    o.origin[2] = -1.37;
    ley_average *a = average_of(w, &o);
    ley_average_totals totals;
    sample s;
    double mean_cell_A[9] = {0};
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
    const double off = error_of(map, &s);
    print_message("sigma %g, tolerance %g: order %d, mesh %d x %d x %d, error %.2g, expected %.2g\n", sigma_A,
                  tolerance, totals.order, (int)totals.mesh[0], (int)totals.mesh[1], (int)totals.mesh[2], off,
                  totals.expected_error);
    assert_true(off <= tolerance);
    assert_true(isnan(totals.cell_difference) == (wobble == 0));
    for (int k = 0; k < 9; k++)
        assert_true(fabs(totals.cell_A[k / 3][k % 3] - mean_cell_A[k]) < 1e-9);
    ley_map_destroy(map);
    ley_average_destroy(a);
    free(w);
}

static void means_are_those_of_the_formula(void **state)
{
    (void)state;
    check_mean(2.83, 1e-4, (const int64_t[3]){0, 0, 0}, 0);
    check_mean(2.83, 1e-2, (const int64_t[3]){40, 7, 11}, 0);
    check_mean(1.5, 1e-6, (const int64_t[3]){12, 64, 5}, 0);
    check_mean(2, 1e-4, (const int64_t[3]){0, 0, 0}, 0.5);
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
        ley_average *a = average_of(w, &o);
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
        print_message("errors %.2g, %.2g, %.2g; %.2g of checked\n", error_of(map, &mean),
                      error_of(deviations, &deviation), error_of(errors, &by_blocks), totals.relative_rms);
        assert_true(error_of(map, &mean) < 1e-4);
        assert_true(error_of(deviations, &deviation) < 1e-4);
        assert_true(error_of(errors, &by_blocks) < 1e-4);
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
    ley_average *a = average_of(w, &o);
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
    print_message("errors %.2g, %.2g; checked %d: %.2g\n", error_of(map, &mean), error_of(deviations, &deviation),
                  (int)totals.checked_frames, totals.relative_rms);
    assert_true(error_of(map, &mean) < 2e-4);
    assert_true(error_of(deviations, &deviation) < 2e-4);
    assert_true(totals.checked_frames > 0 && totals.relative_rms < 1e-4);
    assert_error(ley_average_profile(a, 0, LEY_PROFILE_TIN_FOIL, &profile, &error), LEY_ERROR_USAGE, "smooth_A");
    ley_map_destroy(map);
    ley_map_destroy(deviations);
    ley_average_destroy(a);
    free(w);
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
    ley_average *a = average_of(w, &o);
    ley_average_totals totals;
    assert_ok(ley_average_add(a, 6, frame_of(w, 0), w->cell_A[0], &error));
    ley_map *map = map_of(a, LEY_AVERAGE_MEAN);
    assert_ok(ley_average_finish(a, &totals, &error));
    double cell_A[9];
    memcpy(cell_A, totals.cell_A, sizeof cell_A);
    const double density = charge / reciprocal_of(cell_A, (double[3][3]){{0}});
    for (int axis = 0; axis < 3; axis++) {
        ley_profile p;
        assert_ok(ley_average_profile(a, axis, LEY_PROFILE_TIN_FOIL, &p, &error));
        assert_int_equal(p.planes, 200);
        double *mean = plane_means(map, axis), off[200], other[200];
        for (int i = 0; i < 200; i++)
            off[i] = p.potential[i] - mean[i];
        assert_true(rms_of(off, 200) < 1e-5 * rms_of(mean, 200));
        check_integrals(&p, density);
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
        check_integrals(&p, density);
        free(mean);
    }
    ley_map_destroy(map);
    ley_average_destroy(a);
    free(w);
}

int main(void)
{
    return RUN_GROUP(SUPPORT_GROUP(.name = "averages", .opened = &engine), means_are_those_of_the_formula,
                     deviations_are_those_of_the_formula, bare_charges_have_whole_potentials,
                     profiles_are_plane_means_and_integrals);
}
