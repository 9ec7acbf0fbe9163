/* Series of potentials and fields at a few points: against Ewald's sums in plain double precision,
 * one image and one wave after the other, against the Madelung constants of crystals, and, of many
 * atoms, against sums that are made otherwise; with excluded atoms, in cells that change, in open
 * space; the same bytes however frames are grouped; and what is refused. */
#include "support.h"

#include "law/periodic.h"
#include "series/frame.h"
#include "series/smooth.h"

enum { FRAMES = 3, ATOMS = 30, POINTS = 5 };

/* ---- The judge ------------------------------------------------------------------------------- */

typedef struct value {
    double at, field[3];
} value;

static double length_of(const double v[3])
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

/* Images of one charge, all waves of one charge: nothing is shared. The nearest image of an
 * excluded one has no term of its own. */
static value judge(size_t n, const float *position_A, const double *charge_e, const double *cell_A,
                   const double *point_A, const int64_t *excluded, size_t excluded_count, double alpha)
{
    enum { REACH = 4, WAVES = 18 };
    value sum = {0};
    double dual[3][3], volume = 0, total_e = 0;
    for (int i = 0; i < 3; i++) {
        const double *u = cell_A + 3 * ((i + 1) % 3), *v = cell_A + 3 * ((i + 2) % 3);
        for (int k = 0; k < 3; k++)
            dual[i][k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
    }
    for (int k = 0; k < 3; k++)
        volume += dual[0][k] * cell_A[k];
    for (size_t j = 0; j < n; j++) {
        double d_A[3], nearest_A[3] = {INFINITY, 0, 0};
        bool is_excluded = false;
        total_e += charge_e[j];
        for (size_t i = 0; i < excluded_count; i++)
            is_excluded = is_excluded || excluded[i] == (int64_t)j;
        for (int k = 0; k < 3; k++)
            d_A[k] = point_A[k] - (double)position_A[3 * j + (size_t)k];
        for (int i = 0; i < 3; i++) {
            const double turns = round((dual[i][0] * d_A[0] + dual[i][1] * d_A[1] + dual[i][2] * d_A[2]) / volume);
            for (int k = 0; k < 3; k++)
                d_A[k] -= turns * cell_A[3 * i + k];
        }
        for (int code = 0; code < (2 * REACH + 1) * (2 * REACH + 1) * (2 * REACH + 1); code++) {
            const int at[3] = {code % 9 - REACH, code / 9 % 9 - REACH, code / 81 - REACH};
            double way_A[3];
            for (int k = 0; k < 3; k++)
                way_A[k] = d_A[k] - at[0] * cell_A[k] - at[1] * cell_A[3 + k] - at[2] * cell_A[6 + k];
            const double r = length_of(way_A);
            if (r < length_of(nearest_A))
                memcpy(nearest_A, way_A, sizeof way_A);
            if (r < 1e-9) /* the smooth part of what is at the point itself, taken off below */
                continue;
            const double slope =
                erfc(alpha * r) / (r * r * r) + 2 * alpha / sqrt(M_PI) * exp(-alpha * alpha * r * r) / (r * r);
            sum.at += charge_e[j] * erfc(alpha * r) / r;
            for (int k = 0; k < 3; k++)
                sum.field[k] += charge_e[j] * slope * way_A[k];
        }
        const double r = length_of(nearest_A);
        if (r < 1e-9)
            sum.at -= charge_e[j] * 2 * alpha / sqrt(M_PI);
        else if (is_excluded) {
            sum.at -= charge_e[j] / r;
            for (int k = 0; k < 3; k++)
                sum.field[k] -= charge_e[j] * nearest_A[k] / (r * r * r);
        }
        for (int a = -WAVES; a <= WAVES; a++)
            for (int b = -WAVES; b <= WAVES; b++)
                for (int c = -WAVES; c <= WAVES; c++) {
                    double wave[3], phase = 0;
                    for (int k = 0; k < 3; k++) {
                        wave[k] = 2 * M_PI * (a * dual[0][k] + b * dual[1][k] + c * dual[2][k]) / volume;
                        phase += wave[k] * d_A[k];
                    }
                    const double k2 = pow(length_of(wave), 2);
                    if (k2 == 0 || k2 > 4 * alpha * alpha * 36)
                        continue;
                    const double weight = 4 * M_PI / fabs(volume) * exp(-k2 / (4 * alpha * alpha)) / k2 * charge_e[j];
                    sum.at += weight * cos(phase);
                    for (int k = 0; k < 3; k++)
                        sum.field[k] += weight * wave[k] * sin(phase);
                }
    }
    sum.at -= M_PI * total_e / (alpha * alpha * fabs(volume));
    return sum;
}

/* ---- Problems -------------------------------------------------------------------------------- */

typedef struct problem {
    float position_A[FRAMES][ATOMS][3];
    double charge_e[ATOMS], cell_A[FRAMES][3][3], point_A[FRAMES][POINTS][3], potential[FRAMES][POINTS],
        field[FRAMES][POINTS][3];
    int64_t first[POINTS + 1], excluded[8];
} problem;

/* Charges with a net one in an oblique cell that changes; points upon an atom, beside one, which is
 * excluded, and far outside the cell. */
static void make_problem(problem *p)
{
    static const double edges_A[3][3] = {{14, 0, 0}, {5, 13, 0}, {-4, 3, 15}};
    static const int64_t first[POINTS + 1] = {0, 1, 3, 3, 3, 7}, excluded[8] = {4, 4, 9, 0, 1, 2, 29};
    unsigned seed = 5;
    for (int j = 0; j < ATOMS; j++)
        p->charge_e[j] = 2 * support_uniform(&seed) - 0.9;
    for (int f = 0; f < FRAMES; f++) {
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++)
                p->cell_A[f][i][k] = edges_A[i][k] * (1 + 0.03 * f) + 0.1 * f * (i > k);
        for (int j = 0; j < ATOMS; j++)
            for (int k = 0; k < 3; k++)
                p->position_A[f][j][k] = (float)(40 * support_uniform(&seed) - 20);
        for (int i = 0; i < POINTS; i++)
            for (int k = 0; k < 3; k++)
                p->point_A[f][i][k] = 200 * support_uniform(&seed) - 100;
        for (int k = 0; k < 3; k++) {
            p->point_A[f][0][k] = (double)p->position_A[f][4][k];
            p->point_A[f][1][k] = (double)p->position_A[f][9][k] + 0.4 + p->cell_A[f][1][k];
        }
    }
    memcpy(p->first, first, sizeof first);
    memcpy(p->excluded, excluded, sizeof excluded);
}

static ley_series_frames frames_of(problem *p, int first, int count, bool is_open)
{
    return (ley_series_frames){.count = (size_t)count,
                               .position_A = &p->position_A[first][0][0],
                               .cell_A = is_open ? NULL : &p->cell_A[first][0][0],
                               .point_A = &p->point_A[first][0][0],
                               .potential = p->potential[first],
                               .field = &p->field[first][0][0]};
}

static ley_series_options options_for(double tolerance)
{
    ley_series_options options;
    ley_series_options_default(&options);
    options.tolerance = tolerance;
    options.units = LEY_UNITS_VOLT;
    return options;
}

static ley_series *make_series(const problem *p, double tolerance)
{
    ley_error error = {0};
    ley_series *series = NULL;
    const ley_series_options options = options_for(tolerance);
    assert_ok(ley_series_create(ATOMS, p->charge_e, POINTS, &options, &series, &error));
    assert_ok(ley_series_exclude(series, p->first, p->excluded, &error));
    return series;
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void test_smooth_part(void **state)
{
    (void)state;
    for (double s = 2.5; s <= 5; s += 0.5) {
        const smooth_part part = smooth_make(s, 20);
        for (int i = 0; i <= 200; i++) {
            const double r = i * 0.1, v = part.beta_per_A * r, t = 2 * r * r / 400 - 1,
                         right = r > 0 ? erf(v) / r : 2 * part.beta_per_A / sqrt(M_PI), step = 1e-4,
                         slope = (smooth_value(r * r + step, part.beta_per_A) - smooth_value(r * r, part.beta_per_A)) /
                                 step;
            double by_t = 0, by_r2 = 0;
            for (int k = SMOOTH_TERMS - 1; k >= 0; k--) {
                by_t = by_t * t + part.value[k];
                by_r2 = by_r2 * t + part.slope[k];
            }
            const double least = 1e-10 * part.beta_per_A;
            assert_true(fabs(by_t - right) <= least && fabs(smooth_value(r * r, part.beta_per_A) - right) <= least);
            assert_true(fabs(by_r2 - smooth_slope(r * r, part.beta_per_A)) <= least * pow(part.beta_per_A, 2));
            assert_true(fabs(by_r2 - slope) <= 1e-3 * pow(part.beta_per_A, 3));
        }
    }
}

static void test_cells(void **state)
{
    ley_error error = {0};
    problem p = {0};
    const double constant = ley_coulomb_constant(LEY_UNITS_VOLT, 1, 298.15);
    (void)state;
    make_problem(&p);
    const value a = judge(ATOMS, &p.position_A[0][0][0], p.charge_e, &p.cell_A[0][0][0], p.point_A[0][1],
                          p.excluded + 1, 2, 0.45),
                b = judge(ATOMS, &p.position_A[0][0][0], p.charge_e, &p.cell_A[0][0][0], p.point_A[0][1],
                          p.excluded + 1, 2, 0.55);
    assert_true(fabs(a.at - b.at) < 1e-9 && fabs(a.field[1] - b.field[1]) < 1e-9);
    const double tolerances[2] = {1e-3, 1e-6};
    for (int t = 0; t < 2; t++) {
        double off[2] = {0}, all[2] = {0};
        ley_series *series = make_series(&p, tolerances[t]);
        const ley_series_frames frames = frames_of(&p, 0, FRAMES, false);
        assert_ok(ley_series_run(series, &frames, &error));
        for (int f = 0; f < FRAMES; f++)
            for (int i = 0; i < POINTS; i++) {
                const value right =
                    judge(ATOMS, &p.position_A[f][0][0], p.charge_e, &p.cell_A[f][0][0], p.point_A[f][i],
                          p.excluded + p.first[i], (size_t)(p.first[i + 1] - p.first[i]), 0.45);
                off[0] += pow(p.potential[f][i] / constant - right.at, 2);
                all[0] += pow(right.at, 2);
                for (int k = 0; k < 3; k++) {
                    off[1] += pow(p.field[f][i][k] / constant - right.field[k], 2);
                    all[1] += pow(right.field[k], 2);
                }
            }
        assert_true(sqrt(off[0] / all[0]) < tolerances[t] && sqrt(off[1] / all[1]) < tolerances[t]);
        const ley_series_report report = ley_series_report_of(series);
        assert_string_equal(report.method, "ewald");
        assert_true(report.frames == FRAMES && report.waves > 0 && report.close_frame < 0);
        assert_true(report.potential_error <= tolerances[t] && report.field_error <= tolerances[t]);
        ley_series_destroy(series);
    }
}

/* At each ion, which is excluded, M / d; there is no field. */
static void test_crystals(void **state)
{
    ley_error error = {0};
    (void)state;
    for (size_t c = 0; c < SUPPORT_CRYSTALS; c++) {
        const support_crystal *crystal = &support_crystals[c];
        float position_A[3 * 16];
        double charge_e[16], point_A[3 * 16], potential[16], field[3 * 16];
        const double edge_A = 5, cell_A[9] = {edge_A, 0, 0, 0, edge_A, 0, 0, 0, edge_A};
        int64_t first[17] = {0}, own[16];
        assert_true(crystal->ions <= 16);
        for (int i = 0; i < crystal->ions; i++) {
            charge_e[i] = i < crystal->ions / 2 ? 1 : -1;
            own[i] = i;
            first[i + 1] = i + 1;
            for (int k = 0; k < 3; k++) {
                position_A[3 * i + k] = (float)(crystal->quarter[i][k] * edge_A / 4);
                point_A[3 * i + k] = (double)position_A[3 * i + k];
            }
        }
        ley_series *series = NULL;
        const size_t ions = (size_t)crystal->ions;
        const ley_series_options options = options_for(1e-6);
        assert_ok(ley_series_create(ions, charge_e, ions, &options, &series, &error));
        assert_ok(ley_series_exclude(series, first, own, &error));
        const ley_series_frames frames = {1, position_A, cell_A, point_A, potential, field, NULL, NULL};
        assert_ok(ley_series_run(series, &frames, &error));
        for (size_t i = 0; i < ions; i++) {
            const double constant = ley_coulomb_constant(LEY_UNITS_VOLT, 1, 298.15),
                         right =
                             -charge_e[i] * constant * crystal->constant / (crystal->nearest * edge_A / crystal->edge);
            assert_true(fabs(potential[i] - right) < 2e-6 * fabs(right));
            for (size_t k = 0; k < 3; k++)
                assert_true(fabs(field[3 * i + k]) < 1e-6 * constant / (edge_A * edge_A));
        }
        ley_series_destroy(series);
    }
}

/* Thousands of atoms, in several parts and many bins, far more points than are summed at a time. */
static void test_many(void **state)
{
    enum { N = 9000, P = 70 };
    ley_error error = {0};
    ley_atoms *water = NULL;
    unsigned seed = 3;
    double point_A[3 * P], potential[P], field[3 * P], sums[4] = {0};
    float *position_A = calloc(3 * N, sizeof *position_A);
    double *place_A = calloc(3 * N, sizeof *place_A);
    (void)state;
    assert_true(position_A != NULL && place_A != NULL);
    assert_ok(ley_waterbox_create(N, 1, 0.25, &water, &error));
    const double edge_A = ley_waterbox_side_A(N), cell_A[9] = {edge_A, 0, 0, 0, edge_A, 0, 0, 0, edge_A};
    for (size_t i = 0; i < 3 * N; i++)
        place_A[i] = (double)(position_A[i] = (float)ley_atoms_positions_A(water)[i]);
    for (int i = 0; i < 3 * P; i++)
        point_A[i] = edge_A * support_uniform(&seed);
    ley_series *series = NULL;
    const ley_series_options options = options_for(1e-5);
    assert_ok(ley_series_create(N, ley_atoms_charges_e(water), P, &options, &series, &error));
    const ley_series_frames frames = {1, position_A, cell_A, point_A, potential, field, NULL, NULL};
    assert_ok(ley_series_run(series, &frames, &error));
    const bool periodic[3] = {true, true, true};
    periodic_options o = {.r_min_A = 0.05,
                          .near_A = 1,
                          .n = N,
                          .position_A = place_A,
                          .charge_e = ley_atoms_charges_e(water),
                          .points = P};
    periodic_sum *sum = NULL;
    assert_ok(cell_make(periodic, (const double(*)[3])cell_A, &o.cell, &error));
    assert_ok(periodic_sum_create(&o, &sum, &error));
    const double constant = ley_coulomb_constant(LEY_UNITS_VOLT, 1, 298.15);
    for (int i = 0; i < P; i++) {
        const double right = periodic_sum_at(sum, point_A + 3 * i).value;
        const periodic_gradient gradient = periodic_sum_field(sum, point_A + 3 * i);
        sums[0] += pow(potential[i] / constant - right, 2);
        sums[1] += right * right;
        for (int k = 0; k < 3; k++) {
            sums[2] += pow(field[3 * i + k] / constant - gradient.field[k], 2);
            sums[3] += pow(gradient.field[k], 2);
        }
    }
    assert_true(sqrt(sums[0] / sums[1]) < 1e-5 && sqrt(sums[2] / sums[3]) < 1e-5);
    periodic_sum_destroy(sum);
    ley_series_destroy(series);
    ley_atoms_destroy(water);
    free(position_A);
    free(place_A);
}

static void test_open_space(void **state)
{
    ley_error error = {0};
    problem p = {0};
    (void)state;
    make_problem(&p);
    ley_series *series = make_series(&p, 1e-5);
    const ley_series_frames frames = frames_of(&p, 0, FRAMES, true), cells = frames_of(&p, 0, FRAMES, false);
    assert_ok(ley_series_run(series, &frames, &error));
    assert_string_equal(ley_series_report_of(series).method, "direct");
    for (int f = 0; f < FRAMES; f++)
        for (int i = 0; i < POINTS; i++) {
            value right = {0};
            for (int j = 0; j < ATOMS; j++) {
                double way_A[3];
                bool counts = true;
                for (int64_t e = p.first[i]; e < p.first[i + 1]; e++)
                    counts = counts && p.excluded[e] != j;
                for (int k = 0; k < 3; k++)
                    way_A[k] = p.point_A[f][i][k] - (double)p.position_A[f][j][k];
                const double r = length_of(way_A);
                right.at += counts ? 14.399645478425668 * p.charge_e[j] / r : 0;
                for (int k = 0; k < 3; k++)
                    right.field[k] += counts ? 14.399645478425668 * p.charge_e[j] * way_A[k] / pow(r, 3) : 0;
            }
            assert_true(fabs(p.potential[f][i] - right.at) < 1e-8);
            for (int k = 0; k < 3; k++)
                assert_true(fabs(p.field[f][i][k] - right.field[k]) < 1e-8);
        }
    assert_error(ley_series_run(series, &cells, &error), LEY_ERROR_USAGE, "one kind of frames");
    ley_series_destroy(series);
    ley_error_clear(&error);
}

/* Each frame by itself, and without the field: the same bytes. */
static void test_frames_one_by_one(void **state)
{
    ley_error error = {0};
    problem together = {0}, apart = {0};
    (void)state;
    make_problem(&together);
    make_problem(&apart);
    for (int is_open = 0; is_open < 2; is_open++) {
        ley_series *series = make_series(&together, 1e-5), *other = make_series(&apart, 1e-5);
        ley_series_frames frames = frames_of(&together, 0, FRAMES, is_open);
        assert_ok(ley_series_run(series, &frames, &error));
        frames = frames_of(&apart, 0, FRAMES, is_open); /* as much is tried for s */
        assert_ok(ley_series_run(other, &frames, &error));
        memset(apart.potential, 0, sizeof apart.potential);
        for (int f = 0; f < FRAMES; f++) {
            frames = frames_of(&apart, f, 1, is_open);
            frames.field = f == 1 ? NULL : frames.field;
            assert_ok(ley_series_run(other, &frames, &error));
        }
        assert_memory_equal(together.potential, apart.potential, sizeof apart.potential);
        assert_memory_equal(together.field, apart.field, sizeof apart.field);
        assert_int_equal(ley_series_report_of(other).frames, 2 * FRAMES);
        ley_series_destroy(series);
        ley_series_destroy(other);
    }
}

static void test_meshes(void **state)
{
    ley_error error = {0};
    problem p = {0}, mesh = {0};
    double off = 0, all = 0, field_off = 0, field_all = 0;
    (void)state;
    make_problem(&p);
    make_problem(&mesh);
    ley_series *series = make_series(&p, 1e-5), *other = NULL;
    ley_series_options options = options_for(1e-5);
    options.method = LEY_SERIES_MESH;
    assert_ok(ley_series_create(ATOMS, p.charge_e, POINTS, &options, &other, &error));
    assert_ok(ley_series_exclude(other, p.first, p.excluded, &error));
    ley_series_frames frames = frames_of(&p, 0, FRAMES, false);
    assert_ok(ley_series_run(series, &frames, &error));
    frames = frames_of(&mesh, 0, FRAMES, false);
    assert_ok(ley_series_run(other, &frames, &error));
    const ley_series_report report = ley_series_report_of(other);
    assert_string_equal(report.method, "mesh");
    assert_true(report.potential_error > 0 && report.potential_error <= 1e-5);
    for (int f = 0; f < FRAMES; f++)
        for (int i = 0; i < POINTS; i++) {
            off += pow(p.potential[f][i] - mesh.potential[f][i], 2);
            all += pow(p.potential[f][i], 2);
            for (int axis = 0; axis < 3; axis++) {
                field_off += pow(p.field[f][i][axis] - mesh.field[f][i][axis], 2);
                field_all += pow(p.field[f][i][axis], 2);
            }
        }
    print_message("meshes: potential %.2g, field %.2g\n", sqrt(off / all), sqrt(field_off / field_all));
    assert_true(sqrt(off / all) < 1e-5);
    assert_true(sqrt(field_off / field_all) < 1.1e-5);
    ley_series_destroy(series);
    ley_series_destroy(other);
}

/* A point upon a charge that it does not exclude has C q / r_min, and is told. */
static void test_points_on_charges(void **state)
{
    ley_error error = {0};
    problem p = {0};
    (void)state;
    make_problem(&p);
    p.charge_e[4] = 1;
    for (int is_open = 0; is_open < 2; is_open++) {
        ley_series *series = make_series(&p, 1e-5);
        const int64_t nothing[POINTS + 1] = {0};
        const ley_series_frames frames = frames_of(&p, 0, 1, is_open);
        assert_ok(ley_series_run(series, &frames, &error));
        const double left = p.potential[0][0];
        assert_true(ley_series_report_of(series).close_frame == -1);
        assert_ok(ley_series_exclude(series, nothing, NULL, &error));
        assert_ok(ley_series_run(series, &frames, &error));
        assert_true(fabs(p.potential[0][0] - left - 14.399645478425668 / 0.05) < 1e-4);
        ley_series_report report = ley_series_report_of(series);
        assert_true(report.close_frame == 1 && report.close_point == 0);
        assert_ok(ley_series_run(series, &frames, &error));
        report = ley_series_report_of(series);
        assert_true(report.close_frame == 1 && report.frames == 3); /* the first one stays */
        ley_series_destroy(series);
    }
}

/* Meshes clamp distances where it is asked for; nobody looks at atoms that have no charge. */
static void test_what_does_not_count(void **state)
{
    ley_error error = {0};
    problem p = {0};
    double found[2];
    (void)state;
    make_problem(&p);
    const ley_series_frames frames = frames_of(&p, 0, 1, false);
    for (int i = 0; i < 2; i++) {
        ley_series_options options = options_for(1e-4);
        ley_series *series = NULL;
        options.method = i == 0 ? LEY_SERIES_EWALD : LEY_SERIES_MESH;
        options.r_min_A = 0.8;
        assert_ok(ley_series_create(ATOMS, p.charge_e, POINTS, &options, &series, &error));
        assert_ok(ley_series_run(series, &frames, &error));
        found[i] = p.potential[0][0];
        ley_series_destroy(series);
    }
    assert_true(fabs(found[0] - found[1]) < 1e-3 * fabs(found[0]));
    p.charge_e[9] = 0;
    p.position_A[0][9][1] = NAN;
    for (int is_open = 0; is_open < 2; is_open++) {
        ley_series *series = make_series(&p, 1e-5);
        const ley_series_frames own = frames_of(&p, 0, 1, is_open);
        assert_ok(ley_series_run(series, &own, &error));
        assert_true(isfinite(p.potential[0][1]) && isfinite(p.field[0][1][2]));
        ley_series_destroy(series);
    }
}

static void test_refusals(void **state)
{
    ley_error error = {0};
    problem p = {0};
    ley_series *series = NULL;
    ley_series_options options = options_for(1e-5);
    const double none[ATOMS] = {0};
    (void)state;
    make_problem(&p);
    assert_error(ley_series_create(0, p.charge_e, 1, &options, &series, &error), LEY_ERROR_INPUT, "0 atoms");
    assert_error(ley_series_create(ATOMS, none, 1, &options, &series, &error), LEY_ERROR_INPUT, "every charge is 0");
    assert_error(ley_series_create(ATOMS, p.charge_e, 0, &options, &series, &error), LEY_ERROR_INPUT, "0 points");
    options.tolerance = 1e-9;
    assert_error(ley_series_create(ATOMS, p.charge_e, 1, &options, &series, &error), LEY_ERROR_USAGE, "tolerance");
    options = options_for(1e-5);
    options.dielectric = 0;
    assert_error(ley_series_create(ATOMS, p.charge_e, 1, &options, &series, &error), LEY_ERROR_USAGE, "dielectric");
    options = options_for(1e-5);
    options.method = (ley_series_method)9;
    assert_error(ley_series_create(ATOMS, p.charge_e, 1, &options, &series, &error), LEY_ERROR_USAGE, "method");
    assert_null(series);
    series = make_series(&p, 1e-5);
    const int64_t wrong_first[POINTS + 1] = {0, 2, 1, 1, 1, 1}, first[POINTS + 1] = {0, 1, 1, 1, 1, 1},
                                       beyond[1] = {ATOMS};
    assert_error(ley_series_exclude(series, wrong_first, p.excluded, &error), LEY_ERROR_INPUT, "follow");
    assert_error(ley_series_exclude(series, first, beyond, &error), LEY_ERROR_INPUT, "30 atoms");
    ley_series_frames frames = frames_of(&p, 0, FRAMES, false);
    const int64_t number[FRAMES] = {10, 20, 30};
    frames.number = number;
    const float kept = p.position_A[1][7][2];
    p.position_A[1][7][2] = NAN;
    assert_error(ley_series_run(series, &frames, &error), LEY_ERROR_INPUT, "frame 20: atom 8");
    p.position_A[1][7][2] = kept;
    p.position_A[0][5][0] = p.position_A[2][6][1] = NAN; /* the first frame is named, whoever comes upon it first */
    assert_error(ley_series_run(series, &frames, &error), LEY_ERROR_INPUT, "frame 10: atom 6");
    p.position_A[0][5][0] = p.position_A[2][6][1] = 3;
    for (int i = 0; i < 2; i++) {
        p.point_A[2][3][0] = i == 0 ? INFINITY : NAN;
        assert_error(ley_series_run(series, &frames, &error), LEY_ERROR_INPUT, "frame 30: point 3");
    }
    p.point_A[2][3][0] = 1;
    memset(p.cell_A[2][1], 0, sizeof p.cell_A[2][1]);
    assert_error(ley_series_run(series, &frames, &error), LEY_ERROR_INPUT, "frame 30: cell: vector b");
    const bool cancel = true;
    frames.count = 2;
    frames.cancel = &cancel;
    assert_error(ley_series_run(series, &frames, &error), LEY_CANCELLED, "cancelled");
    frames.cancel = NULL;
    assert_ok(ley_series_run(series, &frames, &error));
    ley_series_destroy(series);
    ley_series_destroy(NULL);
    ley_error_clear(&error);
}

int main(void)
{
    return RUN_TESTS(test_smooth_part, test_cells, test_crystals, test_many, test_open_space, test_frames_one_by_one,
                     test_meshes, test_points_on_charges, test_what_does_not_count, test_refusals);
}
