/* Long-range jobs that nobody would think of, drawn at random, and judged by the formula alone, in
 * this file: atoms in a heap, a rod, a plane or far from the origin; charges of one sign,
 * cancelled, of all sizes, in step with the mesh; maps on top of them, at their edge, far from
 * them, of other spacings along each axis, of a plane, a row, a point. A map that there is must be
 * as right as it says, and what is refused must be refused for a reason that holds.
 *
 * TEST_SEED and TEST_COUNT draw others. */
#include "support.h"

static ley_engine *engine;

/* ---- Chance ---------------------------------------------------------------------------------- */

static uint64_t chance;

/* Within [0, 1). */
static double draw(void)
{
    chance ^= chance << 13;
    chance ^= chance >> 7;
    chance ^= chance << 17;
    return (double)(chance >> 11) * 0x1p-53;
}

static double draw_normal(void)
{
    return sqrt(-2 * log(1 - draw())) * cos(2 * M_PI * draw());
}

#define DRAW(type, ...) \
    ((const type[]){__VA_ARGS__})[(size_t)(draw() * (double)(sizeof(type[]){__VA_ARGS__} / sizeof(type)))]

/* ---- A job ----------------------------------------------------------------------------------- */

enum { MOST_ATOMS = 2000, MOST_POINTS = 150 };

typedef enum charges {
    NORMAL,
    ONE_SIGN,
    CANCELLED,
    DIPOLES,
    ALL_SIZES,
    ONE_ALONE,
    HUGE_ONES,
    TINY_ONES,
    IN_STEP
} charges;

typedef struct problem {
    char what[400];
    size_t n;
    double place_A[MOST_ATOMS][3], charge_e[MOST_ATOMS];
    ley_grid points;
    ley_long_range range;
    int64_t slab_planes;
} problem;

static void put_charges(problem *p, charges kind)
{
    double total_e = 0;
    for (size_t i = 0; i < p->n; i++) {
        double *q = &p->charge_e[i];
        *q = draw_normal();
        *q = kind == ONE_SIGN    ? fabs(*q) + 0.1
             : kind == ALL_SIZES ? *q * pow(10, 8 * draw() - 4)
             : kind == ONE_ALONE ? (i == 0 ? *q : 0)
             : kind == HUGE_ONES ? 1e5 * *q
             : kind == TINY_ONES ? 1e-12 * *q
             : kind == IN_STEP   ? (*q < 0 ? -1 : 1)
                                 : *q;
        if (kind == CANCELLED && i + 1 == p->n)
            *q = -total_e;
        if (kind == DIPOLES && i % 2 == 1) {
            *q = -p->charge_e[i - 1];
            for (int axis = 0; axis < 3; axis++)
                p->place_A[i][axis] = p->place_A[i - 1][axis] + 0.3 * draw_normal();
        }
        total_e += *q;
    }
}

static void put_atoms(problem *p)
{
    static const char *const names[] = {"normal",    "of one sign", "cancelled", "dipoles", "of all sizes",
                                        "one alone", "huge",        "tiny",      "in step"};
    const charges kind = (charges)(int)(draw() * 9);
    const double box_A = DRAW(double, 0.5, 4, 15, 40, 80), far_A = DRAW(double, 0, 0, 100, -7000, 2e5, 4e6);
    double shape[3], off_A[3];
    p->n = (size_t)DRAW(int, 1, 1, 2, 3, 8, 40, 300, MOST_ATOMS);
    for (int axis = 0; axis < 3; axis++) {
        shape[axis] = DRAW(double, 1, 1, 0.02, 0);
        off_A[axis] = draw() < 0.5 ? far_A : 0;
    }
    for (size_t i = 0; i < p->n; i++)
        for (int axis = 0; axis < 3; axis++) {
            const double at_A = box_A * shape[axis] * draw() + off_A[axis];
            p->place_A[i][axis] = kind == IN_STEP ? 2 * round(at_A / 2) : at_A;
        }
    put_charges(p, kind);
    snprintf(p->what, sizeof p->what, "%zu atoms, %s, in %g A, at %g %g %g", p->n, names[kind], box_A, off_A[0],
             off_A[1], off_A[2]);
}

/* On top of the atoms, from their corner on, somewhat beside them, or far away. */
static void put_points(problem *p)
{
    const int where = DRAW(int, 0, 0, 0, 1, 1, 2, 2, 3), flat = (int)(9 * draw());
    const double same_A = DRAW(double, 0, 0.5, 2);
    for (int axis = 0; axis < 3; axis++) {
        ley_grid *l = &p->points;
        l->n[axis] = flat == axis || flat == 3 || (flat == 4 && axis != 1) ? 1 : 1 + (int64_t)(30 * draw());
        l->step_A[axis][axis] = same_A > 0 ? same_A : DRAW(double, 0.07, 0.5, 0.9, 1, 2, 3.7);
        const double length_A = (double)l->n[axis] * l->step_A[axis][axis];
        l->origin_A[axis] =
            p->place_A[p->n / 2][axis] + (where == 0   ? -0.5 * length_A
                                          : where == 1 ? -length_A * draw()
                                          : where == 2 ? 60 * draw_normal()
                                                       : (support_is_quick() ? 200 : 900) * draw_normal());
        if (draw() < 0.2)
            l->origin_A[axis] = 2 * round(l->origin_A[axis] / 2);
    }
    const size_t used = strlen(p->what);
    snprintf(p->what + used, sizeof p->what - used, "; %lld x %lld x %lld points %g, %g, %g A apart, from %g %g %g on",
             (long long)p->points.n[0], (long long)p->points.n[1], (long long)p->points.n[2], p->points.step_A[0][0],
             p->points.step_A[1][1], p->points.step_A[2][2], p->points.origin_A[0], p->points.origin_A[1],
             p->points.origin_A[2]);
}

/* At level quick of choices whose kernels other tests compile as well. */
static void put_options(problem *p)
{
    ley_long_range *r = &p->range;
    const bool few = support_is_quick(), by_transforms = !few && draw() < 0.2;
    ley_long_range_default(r);
    r->units = DRAW(ley_units, LEY_UNITS_KT_E, LEY_UNITS_VOLT, LEY_UNITS_KCAL_MOL_E);
    r->dielectric = DRAW(double, 1, 1, 4, 78.54);
    r->r_min_A = DRAW(double, 0.05, 0.05, 1e-4, 0.4);
    r->cutoff_A = few ? DRAW(double, 9, 12) : DRAW(double, 1.5, 5, 8, 9, 12, 17.3);
    r->spacing_A = r->cutoff_A / (few ? DRAW(double, 3, 4.5, 6) : DRAW(double, 1, 1.5, 3, 4, 5, 6, 8, 11, 15.5));
    r->solver = by_transforms ? LEY_SOLVER_FOURIER : LEY_SOLVER_MULTILEVEL;
    r->window = few ? DRAW(ley_window, LEY_WINDOW_NODAL3, LEY_WINDOW_NODAL5, LEY_WINDOW_NODAL7)
                    : (ley_window)(draw() * (by_transforms ? LEY_WINDOW_COUNT : LEY_WINDOW_BSPLINE4));
    r->splitting = few ? DRAW(ley_splitting, LEY_SPLITTING_TAYLOR2, LEY_SPLITTING_TAYLOR3, LEY_SPLITTING_TAYLOR4)
                       : (ley_splitting)(draw() * LEY_SPLITTING_COUNT);
    r->kappa_per_A = few || r->splitting > LEY_SPLITTING_TAYLOR8 ? 0 : DRAW(double, 0, 0, 0.01, 0.1, 0.5, 2);
    r->levels = by_transforms || draw() < 0.7 ? 0 : 1 + (int)(5 * draw());
    p->slab_planes = DRAW(int64_t, 0, 0, 8);
    const size_t used = strlen(p->what);
    snprintf(p->what + used, sizeof p->what - used,
             "; cutoff %g A, nodes %g A apart, splitting %d, window %d, solver %d, %d levels, r_min %g A, kappa %g / A",
             r->cutoff_A, r->spacing_A, (int)r->splitting, (int)r->window, (int)r->solver, r->levels, r->r_min_A,
             r->kappa_per_A);
}

/* ---- The formula ----------------------------------------------------------------------------- */

/* C in units times A/e, from e, 4 pi eps0, k_B and Avogadro's number. */
static double constant_of(const ley_long_range *r)
{
    const double e_C = 1.602176634e-19, eps0 = 8.8541878128e-12, k_B = 1.380649e-23, N_A = 6.02214076e23;
    const double volts = e_C / (4 * M_PI * eps0 * 1e-10) / r->dielectric;
    return r->units == LEY_UNITS_VOLT   ? volts
           : r->units == LEY_UNITS_KT_E ? volts * e_C / (k_B * r->temperature_K)
                                        : volts * e_C * N_A / 4184;
}

/* What a point is off by, and what that is judged by: the root of the squared terms, without
 * screening, and the potential's magnitude. `is_contact`: an atom is within r_min. */
typedef struct judged {
    double off, scale;
    bool is_contact;
} judged;

static judged judge(const problem *p, const double point_A[3], double value)
{
    double sum = 0, squares = 0;
    judged j = {.off = 0};
    for (size_t i = 0; i < p->n; i++) {
        const double x = point_A[0] - p->place_A[i][0], y = point_A[1] - p->place_A[i][1],
                     z = point_A[2] - p->place_A[i][2], r = sqrt(x * x + y * y + z * z);
        const double d = fmax(r, p->range.r_min_A), term = p->charge_e[i] / d;
        j.is_contact = j.is_contact || (r <= 1.001 * p->range.r_min_A && p->charge_e[i] != 0);
        sum += term * exp(-p->range.kappa_per_A * d);
        squares += term * term;
    }
    const double C = constant_of(&p->range);
    j.off = fabs(value - C * sum);
    j.scale = C * (sqrt(squares) + fabs(sum));
    return j;
}

/* Charges between the same nodes are off alike: by so much more than independent ones. */
static double coherence_of(const problem *p)
{
    double single = 0, together = 0;
    for (size_t i = 0; i < p->n; i++) {
        single += p->charge_e[i] * p->charge_e[i];
        for (size_t j = 0; j < p->n; j++) {
            bool is_same = true;
            for (int axis = 0; axis < 3; axis++)
                is_same = is_same && floor(p->place_A[i][axis] / p->range.spacing_A) ==
                                         floor(p->place_A[j][axis] / p->range.spacing_A);
            together += is_same ? p->charge_e[i] * p->charge_e[j] : 0;
        }
    }
    return together > single ? sqrt(together / single) : 1;
}

/* ---- One job --------------------------------------------------------------------------------- */

typedef enum end { DONE, REFUSED, BAD } end;

/* Many more levels, more nodes than numbers or memory: what holds of the job is said. */
static bool is_rightly_refused(const problem *p, ley_status status, const char *why)
{
    if (strstr(why, " too few for these atoms") != NULL)
        return status == LEY_ERROR_USAGE && p->range.levels > 0;
    return ((status == LEY_ERROR_INPUT && strstr(why, "nodes along axis") != NULL) ||
            (status == LEY_ERROR_NO_DEVICE && strstr(why, "than a kernel can number") != NULL) ||
            strstr(why, "largest buffer") != NULL || status == LEY_ERROR_MEMORY) &&
           fabs(p->points.origin_A[0] - p->place_A[0][0]) + fabs(p->points.origin_A[1] - p->place_A[0][1]) +
                   fabs(p->points.origin_A[2] - p->place_A[0][2]) >
               150 * p->range.spacing_A;
}

static double worst_of_expected, most_rms;

static end judge_map(const problem *p, const ley_map *map, const ley_report *report)
{
    const ley_note *noted = ley_report_note(report, "expected_error"); /* none where there are no meshes */
    const double floats = 4e-6, expected = noted != NULL ? noted->number[0] : 0;
    const float *values = ley_map_read_values(map);
    const int64_t all = ley_grid_points(&p->points), step = all / MOST_POINTS + 1;
    double worst = 0, squares = 0, count = 0;
    for (int64_t i = 0; i < all; i += step) {
        const int64_t at[3] = {i % p->points.n[0], i / p->points.n[0] % p->points.n[1],
                               i / p->points.n[0] / p->points.n[1]};
        double point_A[3];
        for (int axis = 0; axis < 3; axis++)
            point_A[axis] = p->points.origin_A[axis] + (double)at[axis] * p->points.step_A[axis][axis];
        const judged j = judge(p, point_A, (double)values[i]);
        if (!isfinite(values[i]) || j.off > report->accuracy.tolerance * j.scale + 1e-30) {
            print_error("%s: point %lld is off by %g of %g, at most %g is right\n", p->what, (long long)i, j.off,
                        j.scale, report->accuracy.tolerance);
            return BAD;
        }
        if (j.is_contact || j.scale == 0)
            continue;
        worst = fmax(worst, j.off / j.scale);
        squares += pow(j.off / j.scale, 2);
        count++;
    }
    const double rms = sqrt(squares / fmax(count, 1));
    if (getenv("TEST_VERBOSE") != NULL)
        print_message("%.2g %.2g of %.2g: %s\n", worst / expected, rms / expected, expected, p->what);
    if (expected == 0)
        return DONE;
    worst_of_expected = fmax(worst_of_expected, (worst - floats) / expected);
    most_rms = fmax(most_rms, count < 20 ? 0 : (rms - floats) / expected);
    if (worst < 8 * expected * coherence_of(p) + floats)
        return DONE;
    print_error("%s: off by %g, expected are %g\n", p->what, worst, expected);
    return BAD;
}

static end run(const problem *p)
{
    ley_error error = {0};
    ley_job *job = NULL;
    ley_run_options options = support_default_run_options();
    options.slab_planes = p->slab_planes;
    ley_atoms *atoms = support_make_atoms(p->n, p->place_A[0], p->charge_e, NULL);
    ley_map *map = support_make_map(&p->points);
    ley_status status =
        ley_job_create_long_range(engine, atoms, (ley_target){.map = map}, &p->range, &options, &job, &error);
    if (status == LEY_OK)
        status = ley_job_run(job, &error);
    end ended = REFUSED;
    if (status == LEY_OK)
        ended = judge_map(p, map, ley_job_report(job));
    else if (!is_rightly_refused(p, status, error.message)) {
        print_error("%s: %s: %s\n", p->what, ley_status_name(status), error.message);
        ended = BAD;
    } else if (getenv("TEST_VERBOSE") != NULL)
        print_message("refused: %s: %s\n", p->what, error.message);
    ley_error_clear(&error);
    ley_job_destroy(job);
    ley_map_destroy(map);
    ley_atoms_destroy(atoms);
    return ended;
}

static int from_environment(const char *name, int otherwise)
{
    const char *text = getenv(name);
    return text != NULL ? atoi(text) : otherwise;
}

static void test_jobs(void **state)
{
    static problem p;
    int ends[BAD + 1] = {0};
    const int seed = from_environment("TEST_SEED", 1),
              count = from_environment("TEST_COUNT", support_get_level() == SUPPORT_QUICK      ? 40
                                                     : support_get_level() == SUPPORT_PAIRWISE ? 120
                                                                                               : 1000);
    for (int i = 0; i < count; i++) {
        chance = 0x9e3779b97f4a7c15u * (uint64_t)(1000 * seed + i + 1);
        for (int k = 0; k < 9; k++)
            draw();
        memset(&p, 0, sizeof p);
        put_atoms(&p);
        put_points(&p);
        put_options(&p);
        const double start_s = support_cpu_s();
        ends[run(&p)]++;
        if (getenv("TEST_VERBOSE") != NULL)
            print_message("%.2f s\n", support_cpu_s() - start_s);
    }
    print_message("%d maps, off by up to %.2g and in the mean of squares up to %.2g of what is expected; %d refused\n",
                  ends[DONE], worst_of_expected, most_rms, ends[REFUSED]);
    assert_int_equal(ends[BAD], 0);
    assert_true(ends[DONE] > count / 2);
}

int main(void)
{
    support_leave_out_second_driver();
    return RUN_GROUP(SUPPORT_GROUP(.name = "attack", .opened = &engine), test_jobs);
}
