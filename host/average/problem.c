#include "average/problem.h"

#include "average/bare.h"
#include "average/spread_kernel.h"
#include "core/options.h"
#include "error.h"
#include "numerics/cell.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void ley_average_options_default(ley_average_options *options)
{
    *options = (ley_average_options){.size = sizeof *options,
                                     .units = LEY_UNITS_KT_E,
                                     .dielectric = 1,
                                     .temperature_K = 300,
                                     .smooth_A = 2.83,
                                     .tolerance = 1e-4,
                                     .spacing_A = 1,
                                     .verify_every = 256};
}

static ley_status check_range(const char *name, double value, double low, double high, ley_error *error)
{
    return value >= low && value <= high
               ? LEY_OK
               : ley_fail(error, LEY_ERROR_USAGE, "%s %g, must be %g to %g", name, value, low, high);
}

static ley_status check_options(const ley_average_options *o, ley_error *error)
{
    ley_status status = check_range("temperature_K", o->temperature_K, 1e-3, 1e6, error);
    if ((unsigned)o->units >= LEY_UNITS_COUNT)
        return ley_fail(error, LEY_ERROR_USAGE, "there are no units of number %d", (int)o->units);
    if (status == LEY_OK)
        status = check_range("dielectric", o->dielectric, 1e-3, 1e6, error);
    if (status == LEY_OK && o->smooth_A != 0)
        status = check_range("smooth_A, where it is not 0,", o->smooth_A, 0.1, 1e3, error);
    if (status == LEY_OK)
        status = options_check_tolerance(o->tolerance, error);
    for (int axis = 0; axis < 3 && status == LEY_OK; axis++) {
        status = check_range("n", (double)o->n[axis], 0, 32768, error);
        if (status == LEY_OK)
            status = check_range("origin", o->origin[axis], -1e3, 1e3, error);
        if (status == LEY_OK && o->n[axis] == 0)
            status = check_range("spacing_A", o->spacing_A, 1e-3, 1e3, error);
    }
    if (status == LEY_OK && (o->block_frames < 0 || o->verify_every < 0))
        status = ley_fail(error, LEY_ERROR_USAGE, "%s is %lld, must be no less than 0",
                          o->block_frames < 0 ? "block_frames" : "verify_every",
                          (long long)(o->block_frames < 0 ? o->block_frames : o->verify_every));
    if (status == LEY_OK && o->pmepot && (o->exact_cells || o->deviation || o->smooth_A == 0))
        status = ley_fail(error, LEY_ERROR_USAGE,
                          "pmepot has the first frame's cell for all frames and a Gaussian: "
                          "no exact cells, no deviation, and not 0 for smooth_A");
    return status;
}

ley_status problem_make(average_problem *p, const ley_atoms *atoms, const ley_average_options *options,
                        ley_error *error)
{
    *p = (average_problem){.atoms = ley_atoms_count(atoms)};
    ley_status status = OPTIONS_TAKE(ley_average_options, verify_every, &p->options, options, error);
    if (status == LEY_OK)
        status = check_options(&p->options, error);
    if (status != LEY_OK)
        return status;
    const size_t bytes = p->atoms * sizeof(double);
    p->charge_e = malloc(bytes);
    p->quanta = malloc(bytes);
    p->quanta_float = malloc(p->atoms * sizeof(float));
    if (p->charge_e == NULL || p->quanta == NULL || p->quanta_float == NULL)
        return ley_fail_memory(error, 2 * bytes, "the charges");
    for (size_t i = 0; i < p->atoms; i++) {
        const double q = ley_atoms_charges_e(atoms)[i];
        p->charge_e[i] = q;
        p->absolute_charge_e += fabs(q);
        p->square_charge_e += q * q;
    }
    if (p->absolute_charge_e == 0)
        return ley_fail(error, LEY_ERROR_INPUT, "all charges are 0: so is the potential of every frame");
    p->exponent = spread_exponent(p->absolute_charge_e, p->atoms);
    for (size_t i = 0; i < p->atoms; i++) {
        p->quanta_float[i] = (float)ldexp(p->charge_e[i], p->exponent);
        p->quanta[i] = (double)p->quanta_float[i];
    }
    p->chunk_frames = chunk_frames(p->atoms);
    p->by_frame = p->options.deviation || p->options.exact_cells || p->options.smooth_A == 0;
    p->coulomb_constant = ley_coulomb_constant(p->options.units, p->options.dielectric, p->options.temperature_K);
    memcpy(p->origin, p->options.origin, sizeof p->origin);
    return LEY_OK;
}

void problem_destroy(average_problem *p)
{
    free(p->charge_e);
    free(p->quanta);
    free(p->quanta_float);
}

/* As many points along a vector as come next to the spacing. */
static int64_t points_along(const double vector_A[3], double spacing_A)
{
    const double n = fmax(round(cell_length(vector_A) / spacing_A), 1);
    return n < 32768 ? (int64_t)n : 32768;
}

static const window *spline_of(int order)
{
    return window_get(order == 4 ? WINDOW_BSPLINE4 : order == 6 ? WINDOW_BSPLINE6 : WINDOW_BSPLINE8);
}

static void put_origin_of_pmepot(average_problem *p)
{
    for (int axis = 0; axis < 3; axis++)
        if (p->origin[axis] != 0)
            return;
    for (int axis = 0; axis < 3; axis++)
        p->origin[axis] = -(double)(p->n[axis] - 1) / (2 * (double)p->n[axis]);
}

/* Sums over the waves of a cell of |G| and G^2, G being what a unit of S(k) makes, in 1 / A. */
static void sum_response(const average_problem *p, double *absolute, double *square)
{
    double reciprocal[3][3];
    const double volume = place_reciprocal(p->first_cell_A, reciprocal), sigma_A = p->options.smooth_A;
    const double most_k = place_most_wave(place_least_wave(p->first_cell_A), 6 / sigma_A);
    int most[3];
    *absolute = *square = 0;
    for (int i = 0; i < 3; i++)
        most[i] = (int)(most_k * cell_length(p->first_cell_A + 3 * i) / (2 * M_PI));
    for (int x = -most[0]; x <= most[0]; x++)
        for (int y = -most[1]; y <= most[1]; y++)
            for (int z = -most[2]; z <= most[2]; z++) {
                double k2 = 0;
                for (int d = 0; d < 3; d++)
                    k2 += 4 * M_PI * M_PI * pow(x * reciprocal[0][d] + y * reciprocal[1][d] + z * reciprocal[2][d], 2);
                const double g = k2 > 0 ? 4 * M_PI / volume * exp(-sigma_A * sigma_A * k2 / 2) / k2 : 0;
                *absolute += g;
                *square += g * g;
            }
}

/* There is room for 64 times the root mean square of charges that are anywhere, each for itself;
 * or, where that is less, for all of them in one place, of cells that have shrunk. */
static void fix_potentials(average_problem *p)
{
    double absolute, square;
    sum_response(p, &absolute, &square);
    /* Numbers of quanta of less are beyond those of floats. */
    p->most_phi = fmax(fmin(4 * p->absolute_charge_e * absolute, 64 * sqrt(p->square_charge_e * square)), 1e-10);
    const int bits = (int)ceil(log2(p->most_phi)), room = 61 - (int)ceil(log2(PROBLEM_FRAMES_OF_SUMS));
    p->phi_exponent = room - bits;
    p->square_exponent = room - 2 * bits;
}

double problem_mesh_error(const average_problem *p, const double cell_A[9])
{
    const mesh_wish wish = {.sigma_A = p->options.smooth_A, .least_k = place_least_wave(cell_A), .signal = p->signal};
    double widest_A = 0;
    for (int axis = 0; axis < 3; axis++)
        widest_A = fmax(widest_A, cell_length(cell_A + 3 * axis) / (double)p->mesh.n[axis]);
    return average_mesh_error(&wish, p->mesh.window->points, widest_A);
}

ley_status problem_fix(average_problem *p, const double cell_A[9], double signal, ley_error *error)
{
    double vector_A[3][3];
    const ley_average_options *o = &p->options;
    memcpy(vector_A, cell_A, sizeof vector_A);
    memcpy(p->first_cell_A, cell_A, sizeof p->first_cell_A);
    p->signal = signal < 0.5 ? signal : 1; /* the model is right within a factor of 2 */
    for (int axis = 0; axis < 3; axis++)
        p->n[axis] = o->n[axis] > 0 ? o->n[axis] : points_along(vector_A[axis], o->spacing_A);
    if (o->pmepot) {
        for (int axis = 0; axis < 3; axis++) {
            if (p->n[axis] < 8)
                return ley_fail(error, LEY_ERROR_USAGE, "pmepot needs 8 points along each vector, not %lld",
                                (long long)p->n[axis]);
            p->mesh.n[axis] = p->n[axis];
        }
        p->mesh.window = spline_of(4);
        p->mesh.expected_error = problem_mesh_error(p, cell_A);
        put_origin_of_pmepot(p);
        p->is_fixed = true;
        return LEY_OK;
    }
    if (o->smooth_A == 0) { /* no mesh: plans have their own */
        p->mesh = (average_mesh){.n = {1, 1, 1}, .window = spline_of(4), .expected_error = o->tolerance};
        p->most_phi = BARE_MOST_PHI;
        p->phi_exponent = 46; /* a frame at a time is added: 62 bits, less those of the potential and of its square */
        p->square_exponent = 32;
        p->is_fixed = true;
        return LEY_OK;
    }
    const mesh_wish wish = {.cell_A = (const double(*)[3])vector_A,
                            .sigma_A = o->smooth_A,
                            .error = o->tolerance / 2,
                            .least_k = place_least_wave(cell_A),
                            .signal = p->signal,
                            .atoms = (double)p->atoms,
                            .transforms = o->deviation || o->exact_cells,
                            .by_cards = p->by_cards};
    const ley_status status = average_mesh_choose(&wish, &p->mesh, error);
    p->is_fixed = status == LEY_OK;
    if (status == LEY_OK && p->by_frame)
        fix_potentials(p);
    return status;
}
