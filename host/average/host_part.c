#include "average/host_part.h"

#include "average/host_spread.h"
#include "average/potential.h"
#include "average/sums.h"
#include "average/verify.h"
#include "error.h"
#include "parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct host_part {
    ley_average *average;
    int64_t *charge, *own, *phi, *square; /* the second: of one frame */
    double *charge_e, *value;
    float *phi_float;
} host_part;

static void add_frame(const host_part *h)
{
    const average_problem *p = &h->average->problem;
    for (size_t i = 0; i < sums_nodes(p); i++)
        h->charge[i] += h->own[i];
}

/* Rounded to integers as kernels do it. */
static ley_status add_potential(const host_part *h, int64_t frame, ley_error *error)
{
    const average_problem *p = &h->average->problem;
    for (size_t i = 0; i < sums_points(p); i++) {
        if (!(fabs(h->value[i]) <= p->most_phi))
            return ley_fail(error, LEY_ERROR_INPUT,
                            "frame %lld: a potential of %g e / A is beyond %g, which there is room for: nearly all "
                            "charges of one sign are in one place",
                            (long long)frame + 1, h->value[i], p->most_phi);
        h->phi[i] += llrint(ldexp(h->value[i], p->phi_exponent));
        if (p->options.deviation)
            h->square[i] += llrint(ldexp(h->value[i] * h->value[i], p->square_exponent));
    }
    return LEY_OK;
}

static ley_status do_frame(const host_part *h, const chunk *c, int f, ley_error *error)
{
    const average_problem *p = &h->average->problem;
    const float *position_A = c->position_A + 3 * (size_t)f * p->atoms;
    average_problem own = *p;
    ley_status status = LEY_OK;
    memset(h->own, 0, sums_nodes(p) * sizeof *h->own);
    host_spread_frame(&p->mesh, &c->place[f], p->atoms, position_A, p->quanta, h->own);
    add_frame(h);
    const bool is_verified = verify_wants(h->average, c->first + f, c->cell_A[f]);
    if (is_verified && !p->by_frame)
        status = verify_density(h->average, c->first + f, &c->place[f], position_A, h->own, error);
    if (status != LEY_OK || !p->by_frame)
        return status;
    own.coulomb_constant = 1;
    for (size_t i = 0; i < sums_nodes(p); i++)
        h->charge_e[i] = ldexp((double)h->own[i], -p->exponent);
    status = potential_of(&own, c->cell_A[f], h->charge_e, h->value, error);
    for (size_t i = 0; i < sums_points(p) && status == LEY_OK; i++)
        h->phi_float[i] = (float)h->value[i];
    if (status == LEY_OK && is_verified)
        status =
            verify_potential(h->average, c->first + f, &c->place[f], c->cell_A[f], position_A, h->phi_float, error);
    return status == LEY_OK ? add_potential(h, c->first + f, error) : status;
}

static void end(host_part *h)
{
    free(h->charge);
    free(h->own);
    free(h->phi);
    free(h->square);
    free(h->charge_e);
    free(h->value);
    free(h->phi_float);
}

static ley_status begin(host_part *h, ley_error *error)
{
    const average_problem *p = &h->average->problem;
    const size_t nodes = sums_nodes(p), points = sums_points(p);
    h->charge = parallel_zeros(nodes * sizeof *h->charge);
    h->own = malloc(nodes * sizeof *h->own);
    if (p->by_frame) {
        h->phi = parallel_zeros(points * sizeof *h->phi);
        h->square = parallel_zeros(points * sizeof *h->square);
        h->charge_e = malloc(nodes * sizeof *h->charge_e);
        h->value = malloc(points * sizeof *h->value);
        h->phi_float = malloc(points * sizeof *h->phi_float);
    }
    const bool are_there = h->charge != NULL && h->own != NULL &&
                           (!p->by_frame || (h->phi != NULL && h->square != NULL && h->charge_e != NULL &&
                                             h->value != NULL && h->phi_float != NULL));
    return are_there ? LEY_OK : ley_fail_memory(error, 24 * (nodes + points), "a frame's sums");
}

ley_status host_part_do(ley_average *a, const chunk *c, ley_error *error)
{
    host_part h = {.average = a};
    ley_status status = begin(&h, error);
    for (int f = 0; f < c->frames && status == LEY_OK; f++)
        status = do_frame(&h, c, f, error);
    const part_sums part = {.first = c->first,
                            .frames = c->frames,
                            .is_partial = c->is_partial,
                            .charge = h.charge,
                            .phi = h.phi,
                            .square = h.square};
    if (status == LEY_OK)
        status = sums_add(a, &part, error);
    end(&h);
    return status;
}
