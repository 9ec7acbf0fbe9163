#include "long_range/model/problem.h"

#include "core/options.h"
#include "core/parameters.h"
#include "error.h"
#include "law/periodic.h"
#include "layout/grid_frame.h"
#include "long_range/fourier/spectral.h"
#include "long_range/mesh/spread.h"
#include "long_range/multilevel/lattice_tuning.h"
#include "long_range/multilevel/v_cycle.h"
#include "parallel.h"
#include "source/atoms.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is public of them is the mathematics' own, by name and number. */
#define IS_NUMBER(value, kind) _Static_assert((int)(value) == (int)(kind), "the same order")
IS_NUMBER(LEY_SPLITTING_TAYLOR2, SPLITTING_TAYLOR2);
IS_NUMBER(LEY_SPLITTING_TAYLOR8, SPLITTING_TAYLOR8);
IS_NUMBER(LEY_SPLITTING_PSWF, SPLITTING_PSWF);
IS_NUMBER(LEY_SPLITTING_EWALD, SPLITTING_EWALD);
IS_NUMBER(LEY_SPLITTING_OPTIMAL, SPLITTING_OPTIMAL);
IS_NUMBER(LEY_SPLITTING_COUNT, SPLITTING_COUNT);
IS_NUMBER(LEY_WINDOW_NODAL3, WINDOW_NODAL3);
IS_NUMBER(LEY_WINDOW_NODAL9, WINDOW_NODAL9);
IS_NUMBER(LEY_WINDOW_BSPLINE4, WINDOW_BSPLINE4);
IS_NUMBER(LEY_WINDOW_BSPLINE8, WINDOW_BSPLINE8);
IS_NUMBER(LEY_WINDOW_COUNT, WINDOW_COUNT);
IS_NUMBER(LEY_SOLVER_MULTILEVEL, HIERARCHY_MULTILEVEL);
IS_NUMBER(LEY_SOLVER_FOURIER, HIERARCHY_FOURIER);
IS_NUMBER(LEY_SOLVER_MIXED, HIERARCHY_MIXED);

const char *const msm_splitting_words[] = {LEY_SPLITTING_TABLE(LEY_NAME) NULL};
const char *const msm_window_words[] = {LEY_WINDOW_TABLE(LEY_NAME) NULL};
static const char *const solver_words[] = {LEY_SOLVER_TABLE(LEY_NAME) NULL};
static const ley_former_choice former_solvers[] = {{"direct", "multilevel"}, {"fft", "fourier"}, {NULL, NULL}};
static const char *const library_words[] = {"auto", "fftw", "vkfft", "clfft", "cufft", NULL};
static const char *const preset_words[] = {"papers", NULL};

/* clang-format off */
static const ley_parameter rows[] = {
    PARAMETERS_OF_MEDIUM(ley_long_range),
    PARAMETERS_OF_CUTOFF(ley_long_range),
    {.name = "mesh_spacing", .former = (const char *const[]){"lattice_spacing", NULL}, .type = LEY_PARAMETER_REAL,
     .level = LEY_EXPERT, .unit = "A", .default_value = {2}, .low = 0, .above_low = true, .high = 1e4,
     .methods = "msm", .given = LEY_FIX_SPACING,
     .sentence = "distance between neighbouring nodes of the finest mesh, in Angstrom",
     PARAMETER_FIELD(ley_long_range, spacing_A)},
    {.name = "splitting", .type = LEY_PARAMETER_CHOICE, .level = LEY_EXPERT, .value = "NAME",
     .choices = msm_splitting_words, .default_value = {LEY_SPLITTING_TAYLOR4}, .methods = "msm",
     .given = LEY_FIX_SPLITTING, .sentence = "splitting of 1/r into a short-range part, summed over pairs, and a "
                                             "smooth part, summed by meshes",
     PARAMETER_FIELD(ley_long_range, splitting)},
    {.name = "window", .type = LEY_PARAMETER_CHOICE, .level = LEY_EXPERT, .value = "NAME",
     .choices = msm_window_words, .default_value = {LEY_WINDOW_NODAL7}, .methods = "msm", .given = LEY_FIX_WINDOW,
     .sentence = "window function that spreads charges over mesh nodes and interpolates values from them",
     PARAMETER_FIELD(ley_long_range, window)},
    {.name = "solver", .type = LEY_PARAMETER_CHOICE, .level = LEY_EXPERT, .value = "NAME",
     .choices = solver_words, .former_choices = former_solvers, .default_value = {LEY_SOLVER_MULTILEVEL},
     .methods = "msm", .given = LEY_FIX_SOLVER, .sentence = "solver for the potentials at the mesh nodes",
     .details = "multilevel is multilevel summation; fourier is one mesh with its Fourier transform, which B-splines "
                "need; mixed sums the finer levels by lattice cutoff and the first level whose transform fits into "
                "device memory by that; auto is fourier with B-splines and multilevel with nodal windows, and where "
                "the transform of the whole mesh fits into no device, mixed, or without transforms multilevel, each "
                "with a nodal window",
     PARAMETER_FIELD(ley_long_range, solver)},
    {.name = "preset", .type = LEY_PARAMETER_OTHER, .level = LEY_EXPERT, .value = "NAME", .choices = preset_words,
     .unset = "none", .methods = "msm", .given = LEY_FIX_MESHES,
     .sentence = "cutoff, mesh spacing, splitting, window and solver at once; options given beside it override it",
     .details = "papers stands for nodal3, taylor2, 12 A, 2 A, multilevel"},
    {.name = "fft", .type = LEY_PARAMETER_TEXT, .level = LEY_EXPERT, .value = "LIBRARY", .choices = library_words,
     .methods = "msm", .given = LEY_FIX_MESHES,
     .sentence = "library of Fourier transforms for `solver` fourier and mixed",
     .details = "auto takes the one that is predicted to be fastest, preparation included",
     PARAMETER_FIELD(ley_long_range, fft)},
    {.name = "levels", .type = LEY_PARAMETER_INTEGER, .level = LEY_EXPERT, .value = "N", .low = 0, .high = 16,
     .methods = "msm", .given = LEY_FIX_MESHES,
     .sentence = "number of meshes, each of twice the spacing of the one below it",
     .details = "0 chooses it: the fastest number, or with `solver` mixed the least one that fits into memory",
     PARAMETER_FIELD(ley_long_range, levels)},
};
/* clang-format on */

const ley_parameter_table long_range_parameters = PARAMETER_TABLE(ley_long_range, rows);

void ley_long_range_papers(ley_long_range *r)
{
    r->cutoff_A = 12;
    r->spacing_A = 2;
    r->splitting = LEY_SPLITTING_TAYLOR2;
    r->window = LEY_WINDOW_NODAL3;
    r->solver = LEY_SOLVER_MULTILEVEL;
    r->levels = 0;
}

void ley_long_range_default(ley_long_range *r)
{
    parameters_default(&long_range_parameters, r);
}

/* ---- What makes sense ------------------------------------------------------------------------ */

/* As far as the kernel of the lattice cutoff reaches: 2 a/h - 1 nodes, rounded up. */
static const double most_ratio = (LATTICE_MOST_RADIUS + 1) / 2.0;

static ley_status check(const ley_long_range *r, ley_error *error)
{
    if (!(r->cutoff_A > r->r_min_A && r->cutoff_A <= 1e4))
        return ley_fail(error, LEY_ERROR_USAGE, "cutoff %g A, must be above r_min (%g A) and at most 1e4", r->cutoff_A,
                        r->r_min_A);
    if (!(r->spacing_A > 0 && r->spacing_A <= r->cutoff_A))
        return ley_fail(error, LEY_ERROR_USAGE,
                        "mesh spacing %g A, must be above 0 and at most the cutoff, %g A: what is left beyond the "
                        "cutoff is as smooth as that, and a wider mesh cannot carry it",
                        r->spacing_A, r->cutoff_A);
    const ley_status status = parameters_check(&long_range_parameters, r, error);
    if (status != LEY_OK)
        return status;
    if (!(r->long_waves_per_A >= 0 && r->long_waves_per_A <= 10))
        return ley_fail(error, LEY_ERROR_USAGE, "long waves up to %g / A, must be 0 to 10", r->long_waves_per_A);
    if (!(r->contact_error >= 0 && r->contact_error <= 1))
        return ley_fail(error, LEY_ERROR_USAGE, "an error of %g at contact, must be 0 to 1", r->contact_error);
    if (r->solver != LEY_SOLVER_FOURIER && r->cutoff_A > most_ratio * r->spacing_A)
        return ley_fail(
            error, LEY_ERROR_USAGE,
            "a cutoff of %g A is %.4g mesh spacings of %g A: weights of the lattice cutoff reach twice as "
            "far, and kernels hold those of at most %g spacings; a wider mesh, a shorter cutoff, or the fourier "
            "solver",
            r->cutoff_A, r->cutoff_A / r->spacing_A, r->spacing_A, most_ratio);
    return LEY_OK;
}

/* ---- Meshes -------------------------------------------------------------------------------- */

/* Around the charges of some atoms: those without a charge need no nodes. */
typedef struct boxed {
    const cell *cell;
    const ley_atoms *atoms;
    double (*low)[3], (*high)[3]; /* of each stretch of atoms */
} boxed;

enum { STRETCH = 1 << 14 };

static void empty_box(double low[3], double high[3])
{
    for (int axis = 0; axis < 3; axis++) {
        low[axis] = INFINITY;
        high[axis] = -INFINITY;
    }
}

static void box_stretches(void *context, size_t first, size_t last)
{
    const boxed *b = context;
    const double *position_A = ley_atoms_positions_A(b->atoms), *charge_e = ley_atoms_charges_e(b->atoms);
    const size_t n = ley_atoms_count(b->atoms);
    for (size_t k = first; k < last; k++) {
        double low[3], high[3];
        empty_box(low, high);
        for (size_t i = k * STRETCH; i < (k + 1) * STRETCH && i < n; i++)
            if (charge_e[i] != 0)
                hierarchy_box(b->cell, 1, position_A + 3 * i, low, high);
        memcpy(b->low[k], low, sizeof low);
        memcpy(b->high[k], high, sizeof high);
    }
}

/* Along x, y and z. */
static bool is_upright(const cell *c)
{
    bool is = true;
    for (int i = 0; i < 9; i++)
        is = is && (i % 4 == 0 ? c->dual_per_A[i / 3][i % 3] > 0 : c->dual_per_A[i / 3][i % 3] == 0);
    return is;
}

/* On all cores, where the bounds of the charges do not say it. */
static ley_status box_charges(const cell *c, const ley_atoms *atoms, double low[3], double high[3], ley_error *error)
{
    if (is_upright(c)) {
        double bounds_A[2][3];
        ley_atoms_charged_bounds_A(atoms, bounds_A[0], bounds_A[1]);
        if (bounds_A[0][0] <= bounds_A[1][0])
            hierarchy_box(c, 2, bounds_A[0], low, high);
        return LEY_OK;
    }
    const size_t stretches = (ley_atoms_count(atoms) + STRETCH - 1) / STRETCH;
    double(*boxes)[3] = malloc((2 * stretches + 1) * sizeof *boxes);
    if (boxes == NULL)
        return ley_fail_memory(error, (2 * stretches + 1) * sizeof *boxes, "the box of the atoms");
    boxed b = {.cell = c, .atoms = atoms, .low = boxes, .high = boxes + stretches};
    parallel_ranges(stretches, box_stretches, &b);
    for (size_t k = 0; k < stretches; k++)
        for (int axis = 0; axis < 3; axis++) {
            low[axis] = fmin(low[axis], b.low[k][axis]);
            high[axis] = fmax(high[axis], b.high[k][axis]);
        }
    free(boxes);
    return LEY_OK;
}

/* Around the charges and the map. */
static ley_status find_box(const cell *c, const ley_atoms *atoms, const ley_grid *points, double low[3], double high[3],
                           ley_error *error)
{
    empty_box(low, high);
    for (int corner = 0; corner < 8; corner++) {
        double corner_A[3];
        int64_t at[3];
        for (int axis = 0; axis < 3; axis++)
            at[axis] = corner >> axis & 1 ? points->n[axis] - 1 : 0;
        ley_grid_point_A(points, at, corner_A);
        hierarchy_box(c, 1, corner_A, low, high);
    }
    return box_charges(c, atoms, low, high, error);
}

static bool is_in_reach(const int64_t reach[3])
{
    return reach[0] <= LATTICE_MOST_RADIUS && reach[1] <= LATTICE_MOST_RADIUS && reach[2] <= LATTICE_MOST_RADIUS;
}

/* Whether kernels reach from end to end of a top level whose nodes all interact, and as far as
 * the cutoffs of the others do: periods may make meshes denser, and oblique cells neighbourhoods
 * longer. */
static ley_status check_reach(const hierarchy *h, bool are_asked_for, ley_error *error)
{
    const ley_status status = are_asked_for ? LEY_ERROR_USAGE : LEY_ERROR_INPUT;
    int64_t reach[3];
    hierarchy_whole_reach(h, h->levels - 1, reach);
    if (h->solver == HIERARCHY_MULTILEVEL && !is_in_reach(reach))
        return ley_fail(error, status,
                        "%d level%s too few for these atoms and this map: all pairs of the coarsest mesh's nodes "
                        "interact, and kernels reach %d nodes far%s",
                        h->levels, h->levels == 1 ? " is" : "s are", LATTICE_MOST_RADIUS,
                        are_asked_for             ? "; take more levels, or 0: as many as pay"
                        : h->cell.dimensions == 0 ? "; take a wider mesh spacing, or the fourier solver"
                                                  : "; no more can be had, since the shortest period has too few nodes "
                                                    "to be halved: take a wider mesh spacing, or the fourier solver");
    hierarchy_reach(h, reach);
    if (h->levels > 1 && !is_in_reach(reach))
        return ley_fail(error, LEY_ERROR_USAGE,
                        "the weights of %d levels reach %lld, %lld and %lld nodes along the cell's axes, whose periods "
                        "are whole numbers of nodes, and kernels hold those of at most %d: take a wider mesh "
                        "spacing, a shorter cutoff, or the fourier solver",
                        h->levels, (long long)reach[0], (long long)reach[1], (long long)reach[2], LATTICE_MOST_RADIUS);
    return LEY_OK;
}

bool msm_can_number(const hierarchy *h)
{
    return h->solver == HIERARCHY_FOURIER ? spectral_can_number(h) : v_cycle_can_number(h);
}

static ley_status check_numbers(const hierarchy *h, ley_error *error)
{
    const int64_t *n = h->level[0].n;
    if (msm_can_number(h))
        return LEY_OK;
    return ley_fail(error, LEY_ERROR_INPUT,
                    "a mesh of %lld x %lld x %lld nodes%s is more than a kernel can number: take a wider "
                    "mesh spacing",
                    (long long)n[0], (long long)n[1], (long long)n[2],
                    h->solver == HIERARCHY_FOURIER && h->cell.dimensions < 3
                        ? ", which the fourier solver pads along open axes,"
                        : "");
}

/* The least kappa times period, along one axis: then images are as many as can be summed. */
static const double least_kappa_period = 4e-5;

static ley_status check_images(const cell *c, const ley_long_range *r, ley_error *error)
{
    const double near_A = 2 * r->cutoff_A;
    if (c->dimensions == 0 || periodic_can_be_summed(c, r->kappa_per_A, near_A))
        return LEY_OK;
    if (!periodic_can_be_summed(c, 0, near_A))
        return ley_fail(error, LEY_ERROR_INPUT,
                        "a cell so small, or so long, that too many images are to be looked at within twice the "
                        "cutoff, %g A: take several cells for one, or a shorter cutoff",
                        near_A);
    return ley_fail(error, LEY_ERROR_INPUT,
                    "kappa %g / A is too little along one periodic axis, where images count one by one as far as it "
                    "lets them: take at least %.2g / A, or 0 for charges whose sum is 0",
                    r->kappa_per_A, least_kappa_period / c->measure);
}

/* Whether anything is left beyond the cutoff. */
static ley_status find_far(const ley_long_range *r, bool *has_far, ley_error *error)
{
    splitting s;
    *has_far = true;
    if (r->kappa_per_A == 0)
        return LEY_OK;
    const ley_status status = splitting_make((splitting_kind)r->splitting, 0, 0,
                                             fmin(r->kappa_per_A * r->cutoff_A, SPLITTING_MOST_KAPPA_A), &s, error);
    *has_far = status == LEY_OK && splitting_has_far(&s);
    return status;
}

double ley_long_range_background_e(const ley_atoms *atoms, const ley_long_range *r)
{
    const double total_e = ley_atoms_total_charge_e(atoms);
    const bool is_charged = r->periodic[0] && r->periodic[1] && r->periodic[2] && r->kappa_per_A == 0 &&
                            fabs(total_e) > 1e-6 * ley_atoms_charge_magnitude_e(atoms);
    return is_charged ? -total_e : 0;
}

static ley_status make_meshes(const ley_long_range *r, const ley_atoms *atoms, const ley_grid *points, hierarchy *made,
                              ley_error *error)
{
    double low[3], high[3];
    hierarchy_options o = {.splitting = (splitting_kind)r->splitting,
                           .window = (window_kind)r->window,
                           .solver = (hierarchy_solver)r->solver,
                           .levels = r->levels,
                           .cutoff_A = r->cutoff_A,
                           .spacing_A = r->spacing_A,
                           .kappa_per_A = r->kappa_per_A,
                           .long_waves_per_A = r->long_waves_per_A};
    memcpy(o.periodic, r->periodic, sizeof o.periodic);
    memcpy(o.cell_A, r->cell_A, sizeof o.cell_A);
    o.open_axes = (const double(*)[3])made->cell.vector_A;
    ley_status status = find_box(&made->cell, atoms, points, low, high, error);
    if (status == LEY_OK)
        status = hierarchy_make(&o, low, high, made, error);
    if (status == LEY_OK && r->solver != LEY_SOLVER_FOURIER)
        status = check_reach(made, r->levels > 0, error);
    if (status == LEY_OK &&
        ley_atoms_part(atoms) == NULL) /* else of ranks' levels it is checked which can be numbered */
        status = check_numbers(made, error);
    return status;
}

ley_long_range msm_resolved(const ley_long_range *r)
{
    ley_long_range resolved = *r;
    if (r->solver == LEY_SOLVER_AUTO)
        resolved.solver = r->window < LEY_WINDOW_BSPLINE4 ? LEY_SOLVER_MULTILEVEL : LEY_SOLVER_FOURIER;
    return resolved;
}

ley_window msm_nodal_window(ley_window w)
{
    static const ley_window nodal[] = {LEY_WINDOW_NODAL5, LEY_WINDOW_NODAL7, LEY_WINDOW_NODAL9};
    return w < LEY_WINDOW_BSPLINE4 ? w : nodal[w - LEY_WINDOW_BSPLINE4];
}

bool msm_otherwise(const ley_long_range *r, ley_long_range *other)
{
    if (r->solver != LEY_SOLVER_MIXED && (r->solver != LEY_SOLVER_AUTO || msm_resolved(r).solver != LEY_SOLVER_FOURIER))
        return false;
    *other = *r;
    other->solver = LEY_SOLVER_MULTILEVEL;
    other->window = msm_nodal_window(r->window);
    other->levels = 0;
    return true;
}

/* In open space meshes may lie as they like: such that a map's rows are along their first axis, and
 * its planes perpendicular to the third. */
static void turn_to_map(const ley_grid *points, cell *c)
{
    grid_frame frame;
    if (c->dimensions > 0 || ley_grid_check(points, NULL) != LEY_OK)
        return;
    grid_frame_make(points, GRID_FRAME_ROWS_ALONG_X, &frame);
    if (frame.is_turned)
        cell_turn(c, (const double(*)[3])frame.axis);
}

ley_status msm_meshes(const ley_long_range *asked, const ley_atoms *atoms, const ley_grid *points, hierarchy *made,
                      ley_error *error)
{
    const ley_long_range resolved = msm_resolved(asked), *r = &resolved;
    bool has_far = true;
    hierarchy h = {.kappa_per_A = r->kappa_per_A};
    ley_status status = check(r, error);
    if (status == LEY_OK)
        status = cell_make(r->periodic, r->cell_A, &h.cell, error);
    if (status == LEY_OK)
        turn_to_map(points, &h.cell);
    if (status == LEY_OK)
        status =
            hierarchy_check_charge(&h, ley_atoms_total_charge_e(atoms), ley_atoms_charge_magnitude_e(atoms), error);
    if (status == LEY_OK)
        status = check_images(&h.cell, r, error);
    if (status == LEY_OK)
        status = find_far(r, &has_far, error);
    if (status == LEY_OK && has_far)
        status = make_meshes(r, atoms, points, &h, error);
    if (status == LEY_OK)
        *made = h;
    return status;
}

ley_grid msm_points(const cell *c, const ley_grid *points)
{
    ley_grid moved = *points;
    double component[3];
    cell_components(c, points->origin_A, component);
    for (int i = 0; i < 3; i++)
        for (int axis = 0; axis < 3 && c->periodic[i]; axis++)
            moved.origin_A[axis] -= floor(component[i]) * c->vector_A[i][axis];
    return moved;
}

double msm_bytes(const hierarchy *h, size_t atoms, double share)
{
    const double each = sizeof(float[4]) + sizeof(int32_t),
                 bins = share * (double)hierarchy_nodes(&h->level[0]) / (SPREAD_EDGE * SPREAD_EDGE * SPREAD_EDGE);
    return (double)atoms * each + bins * sizeof(int32_t) * (1 + parallel_cores());
}
