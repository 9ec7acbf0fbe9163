#include "average/structure.h"

#include "average/place.h"
#include "parallel.h"

#include <math.h>
#include <stdlib.h>

/* One wave may be off by so many tolerances, which are of the root mean square over all. */
static const double most_tolerances = 10;

static const double wave[3] = {STRUCTURE_X, STRUCTURE_Y, STRUCTURE_Z};

enum { PIECE = 256 }; /* of a row */

typedef struct structure_sum {
    const int64_t *n;
    const double *charge_e; /* or: */
    const int64_t *quanta;
    double (*plane)[2]; /* of each plane along z */
} structure_sum;

static void turn(double m, double n, double i, double phase[2])
{
    phase[0] = cos(2 * M_PI * m * i / n);
    phase[1] = -sin(2 * M_PI * m * i / n);
}

static void sum_planes(void *context, size_t first, size_t last)
{
    const structure_sum *s = context;
    const int64_t *n = s->n;
    for (int64_t z = (int64_t)first; z < (int64_t)last; z++) {
        double plane[2] = {0}, along_z[2];
        for (int64_t x0 = 0; x0 < n[0]; x0 += PIECE) {
            double phase[PIECE][2];
            const int64_t count = n[0] - x0 < PIECE ? n[0] - x0 : PIECE;
            for (int64_t x = 0; x < count; x++)
                turn(STRUCTURE_X, (double)n[0], (double)(x0 + x), phase[x]);
            for (int64_t y = 0; y < n[1]; y++) {
                const int64_t at = (z * n[1] + y) * n[0] + x0;
                double row[2] = {0}, along_y[2];
                for (int64_t x = 0; x < count; x++) {
                    const double q = s->quanta != NULL ? (double)s->quanta[at + x] : s->charge_e[at + x];
                    row[0] += q * phase[x][0];
                    row[1] += q * phase[x][1];
                }
                turn(STRUCTURE_Y, (double)n[1], (double)y, along_y);
                plane[0] += row[0] * along_y[0] - row[1] * along_y[1];
                plane[1] += row[0] * along_y[1] + row[1] * along_y[0];
            }
        }
        turn(STRUCTURE_Z, (double)n[2], (double)z, along_z);
        s->plane[z][0] = plane[0] * along_z[0] - plane[1] * along_z[1];
        s->plane[z][1] = plane[0] * along_z[1] + plane[1] * along_z[0];
    }
}

static void sum_all(structure_sum *s, double factor, double structure[2])
{
    structure[0] = structure[1] = NAN;
    s->plane = calloc((size_t)s->n[2], sizeof *s->plane);
    if (s->plane == NULL)
        return; /* it counts as wrong */
    parallel_ranges((size_t)s->n[2], sum_planes, s);
    structure[0] = structure[1] = 0;
    for (int64_t z = 0; z < s->n[2]; z++)
        for (int part = 0; part < 2; part++)
            structure[part] += s->plane[z][part];
    structure[0] *= factor;
    structure[1] *= factor;
    free(s->plane);
}

/* 1 / the splines' transform. */
static double spline_factor(const average_mesh *mesh)
{
    double transform = 1;
    for (int axis = 0; axis < 3; axis++)
        transform *= window_transform(mesh->window, 2 * M_PI * wave[axis] / (double)mesh->n[axis]);
    return 1 / transform;
}

void structure_of_charges(const average_mesh *mesh, const double *charge_e, double structure[2])
{
    structure_sum s = {.n = mesh->n, .charge_e = charge_e};
    sum_all(&s, spline_factor(mesh), structure);
}

void structure_of_quanta(const average_mesh *mesh, const int64_t *quanta, int exponent, double structure[2])
{
    structure_sum s = {.n = mesh->n, .quanta = quanta};
    sum_all(&s, ldexp(spline_factor(mesh), -exponent), structure);
}

void structure_of_potentials(const average_problem *p, const int64_t *phi, double structure[2])
{
    structure_sum s = {.n = p->n, .quanta = phi};
    sum_all(&s, ldexp(1 / ((double)p->n[0] * (double)p->n[1] * (double)p->n[2]), -p->phi_exponent), structure);
}

double structure_response(const average_problem *p, const double cell_A[9])
{
    double reciprocal[3][3], k2 = 0;
    const double volume = place_reciprocal(cell_A, reciprocal), sigma_A = p->options.smooth_A;
    for (int d = 0; d < 3; d++)
        k2 += 4 * M_PI * M_PI *
              pow(wave[0] * reciprocal[0][d] + wave[1] * reciprocal[1][d] + wave[2] * reciprocal[2][d], 2);
    return 4 * M_PI / volume * exp(-sigma_A * sigma_A * k2 / 2) / k2;
}

/* What floats are off by, as a share of the root of the sum of squares of charges. */
static const double float_error = 4e-6;

/* What the mesh's aliases may add to the wave, as a share of the root of the sum of squares of
 * charges: much where a mesh has few nodes along an axis, for the Gaussian leaves nothing of it. */
static double aliases(const average_mesh *mesh)
{
    double sum = 0;
    for (int axis = 0; axis < 3; axis++)
        sum += 2 * pow(wave[axis] / ((double)mesh->n[axis] - wave[axis]), mesh->window->points);
    return sum;
}

bool structure_is_right(const average_problem *p, const double structure[2], const double right[2], double square,
                        double responses, double *error)
{
    const double charge = sqrt(p->square_charge_e),
                 least = 1e-4 * charge, /* where all cancels floats have nothing left */
        size = fmax(sqrt(square), least);
    *error = hypot(structure[0] - right[0], structure[1] - right[1]) / size;
    return *error <=
           most_tolerances * p->options.tolerance + responses * charge * (float_error + 2 * aliases(&p->mesh)) / size;
}
