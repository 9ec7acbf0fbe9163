#include "methods/energy_systems.h"

#include "bench/bench.h"
#include "error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void energy_system_clear(energy_system *s)
{
    ley_particles_destroy(s->particles);
    free(s->position_A);
    free(s->cell_A);
    *s = (energy_system){.count = 0};
}

static ley_status make_room(int64_t count, int frames, bool is_periodic, energy_system *made, ley_error *error)
{
    const size_t bytes = 3 * (size_t)count * (size_t)frames * sizeof(float);
    *made = (energy_system){.count = count, .frames = frames, .position_A = malloc(bytes)};
    made->cell_A = is_periodic ? calloc(9 * (size_t)frames, sizeof *made->cell_A) : NULL;
    return made->position_A != NULL && (!is_periodic || made->cell_A != NULL)
               ? LEY_OK
               : ley_fail_memory(error, bytes, "the benchmark");
}

/* What an atom of a liquid or a protein has, for ley_particles_create(). */
typedef struct columns {
    double *charge, *radius, *screen;
    int32_t *type, *residue, (*exclusion)[2];
} columns;

static ley_status make_columns(int64_t count, columns *c, ley_error *error)
{
    const size_t n = (size_t)count;
    *c = (columns){.charge = calloc(n, sizeof *c->charge),
                   .radius = calloc(n, sizeof *c->radius),
                   .screen = calloc(n, sizeof *c->screen),
                   .type = calloc(n, sizeof *c->type),
                   .residue = calloc(n, sizeof *c->residue),
                   .exclusion = calloc(n, sizeof *c->exclusion)};
    return c->charge != NULL && c->radius != NULL && c->screen != NULL && c->type != NULL && c->residue != NULL &&
                   c->exclusion != NULL
               ? LEY_OK
               : ley_fail_memory(error, 40 * n, "the benchmark");
}

static ley_status make_particles(const columns *c, const ley_particles_arrays *more, energy_system *made,
                                 ley_error *error)
{
    ley_particles_arrays a = *more;
    a.size = sizeof a;
    a.particles = made->count;
    a.charges = c->charge;
    a.type = c->type;
    a.exclusion = (const int32_t(*)[2])c->exclusion;
    a.residue = c->residue;
    return ley_particles_create(&a, &made->particles, error);
}

static void free_columns(columns *c)
{
    free(c->charge);
    free(c->radius);
    free(c->screen);
    free(c->type);
    free(c->residue);
    free(c->exclusion);
}

/* ---- A liquid -------------------------------------------------------------------------------- */

static void place_molecules(const energy_system *s, const double edge_A[3], const int64_t side[3])
{
    static const double disorder_A = 0.15, bond_A = 0.9572;
    const int64_t molecules = s->count / 3, nodes = side[0] * side[1] * side[2];
    uint64_t random = 1;
    for (int64_t i = 0; i < s->count * s->frames; i++) {
        const int64_t node = (int64_t)((double)(i % s->count / 3) * (double)nodes / (double)molecules),
                      at[3] = {node % side[0], node / side[0] % side[1], node / side[0] / side[1]};
        double way[3], length = 0;
        for (int d = 0; d < 3; d++) {
            way[d] = bench_random(&random) - 0.5;
            length += way[d] * way[d];
        }
        for (int d = 0; d < 3; d++)
            s->position_A[3 * i + d] =
                (float)(i % 3 == 0 ? edge_A[d] * (double)at[d] / (double)side[d] + 2 * disorder_A * way[d]
                                   : (double)s->position_A[3 * (i - i % 3) + d] + bond_A * way[d] / sqrt(length));
    }
    for (int f = 0; f < s->frames; f++)
        for (int d = 0; d < 3; d++)
            s->cell_A[9 * f + 4 * d] = edge_A[d];
}

ley_status energy_system_liquid(int64_t atoms, const double edge_A[3], int frames, energy_system *made,
                                ley_error *error)
{
    static const double a[4] = {582000, 0, 0, 0}, b[4] = {595, 0, 0, 0};
    const int64_t molecules = atoms / 3;
    const double spacing_A = cbrt(edge_A[0] * edge_A[1] * edge_A[2] / (double)molecules);
    int64_t side[3];
    for (int d = 0; d < 3; d++)
        side[d] = (int64_t)ceil(edge_A[d] / spacing_A);
    columns c;
    ley_status status = make_room(3 * molecules, frames, true, made, error);
    if (status == LEY_OK)
        status = make_columns(made->count, &c, error);
    else
        return status;
    for (int32_t i = 0; i < (int32_t)made->count && status == LEY_OK; i++) {
        c.charge[i] = i % 3 == 0 ? -0.834 : 0.417;
        c.type[i] = i % 3 == 0 ? 0 : 1;
        c.residue[i] = i / 3;
        c.exclusion[i][0] = i - i % 3 + (i % 3 == 2);
        c.exclusion[i][1] = i - i % 3 + (i % 3 == 0 ? 1 : 2);
    }
    const ley_particles_arrays more = {
        .types = 2, .exclusions = made->count, .residues = molecules, .lennard_jones_a = a, .lennard_jones_b = b};
    if (status == LEY_OK)
        status = make_particles(&c, &more, made, error);
    if (status == LEY_OK)
        place_molecules(made, edge_A, side);
    free_columns(&c);
    return status;
}

/* ---- A protein ------------------------------------------------------------------------------- */

/* By blocks of 2 x 2 x 2, so that what is near in the chain is near in space. */
static void place_ball(const energy_system *s)
{
    static const double apart_A = 2.15;
    const double radius = cbrt(3 * (double)s->count / (4 * acos(-1))) + 2;
    const int64_t side = 2 * (int64_t)ceil(radius / 2);
    uint64_t random = 3;
    for (int64_t i = 0, block = 0; i < s->count; block++) {
        const int64_t low[3] = {2 * (block % side) - side, 2 * (block / side % side) - side,
                                2 * (block / side / side) - side};
        const double x = (double)low[0] + 0.5, y = (double)low[1] + 0.5, z = (double)low[2] + 0.5;
        if (x * x + y * y + z * z > radius * radius)
            continue;
        for (int64_t k = 0; k < 8 && i < s->count; k++, i++)
            for (int f = 0; f < s->frames; f++)
                for (int d = 0; d < 3; d++)
                    s->position_A[3 * (f * s->count + i) + d] =
                        (float)(apart_A * ((double)(low[d] + (k >> d & 1)) + 0.25 * bench_random(&random)));
    }
}

ley_status energy_system_protein(int64_t atoms, int frames, energy_system *made, ley_error *error)
{
    static const double radii[] = {1.2, 1.3, 1.5, 1.55, 1.7, 1.8}, a[1] = {1600}, b[1] = {25};
    uint64_t random = 5;
    columns c;
    ley_status status = make_room(atoms, frames, false, made, error);
    if (status == LEY_OK)
        status = make_columns(atoms, &c, error);
    else
        return status;
    for (int32_t i = 0; i < (int32_t)atoms && status == LEY_OK; i++) {
        c.radius[i] = radii[(int)(6 * bench_random(&random))];
        c.screen[i] = 0.8;
        c.charge[i] = bench_random(&random) - 0.5;
        c.residue[i] = i / 16;
        c.exclusion[i][0] = i;
        c.exclusion[i][1] = i + 1;
    }
    const ley_particles_arrays more = {.types = 1,
                                       .exclusions = atoms - 1,
                                       .residues = (atoms + 15) / 16,
                                       .lennard_jones_a = a,
                                       .lennard_jones_b = b,
                                       .born_radii = c.radius,
                                       .born_screens = c.screen};
    if (status == LEY_OK)
        status = make_particles(&c, &more, made, error);
    if (status == LEY_OK)
        place_ball(made);
    free_columns(&c);
    return status;
}

ley_status energy_system_part(const energy_system *of, int64_t first, int64_t count, energy_system *made,
                              ley_error *error)
{
    ley_status status = make_room(count, of->frames, false, made, error);
    int64_t *index = malloc((size_t)count * sizeof *index);
    if (status == LEY_OK && index == NULL)
        status = ley_fail_memory(error, (size_t)count * sizeof *index, "the benchmark");
    for (int64_t i = 0; i < count && status == LEY_OK; i++)
        index[i] = first + i;
    if (status == LEY_OK)
        status = ley_particles_subset(of->particles, index, count, &made->particles, error);
    for (int f = 0; f < of->frames && status == LEY_OK; f++)
        memcpy(made->position_A + 3 * f * count, of->position_A + 3 * (f * of->count + first),
               3 * (size_t)count * sizeof *made->position_A);
    free(index);
    return status;
}
