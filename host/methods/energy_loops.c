#include "methods/energy_loops.h"

#include "clock.h"
#include "error.h"

#include <math.h>
#include <stdlib.h>

/* ---- Pairs within a cutoff ------------------------------------------------------------------- */

typedef struct cells {
    const energy_system *s;
    ley_particles_arrays a;
    float cutoff_A, edge_A[3], *x; /* [count][3], within the cell */
    int side[3];
    int32_t *head, *next; /* -1: the end */
    float (*force)[3];
    energy_loop *made;
} cells;

/* Of a molecule of three, whose atoms are all excluded from each other. */
static void add_pair(cells *c, int32_t i, int32_t j)
{
    const float cutoff2 = c->cutoff_A * c->cutoff_A, k = 0.5F / (cutoff2 * c->cutoff_A), h = 1.5F / c->cutoff_A;
    float way[3], r2 = 0;
    for (int d = 0; d < 3; d++) {
        way[d] = c->x[3 * i + d] - c->x[3 * j + d];
        way[d] -= c->edge_A[d] * rintf(way[d] / c->edge_A[d]);
        r2 += way[d] * way[d];
    }
    if (r2 >= cutoff2 || i / 3 == j / 3)
        return;
    const int64_t at = c->a.type[i] * c->a.types + c->a.type[j];
    const float i2 = 1 / r2, i6 = i2 * i2 * i2, i1 = sqrtf(i2), repulsion = (float)c->a.lennard_jones_a[at] * i6 * i6,
                attraction = (float)c->a.lennard_jones_b[at] * i6,
                qq = (float)(LEY_COULOMB_CONSTANT_AMBER * c->a.charges[i] * c->a.charges[j]),
                slope = (12 * repulsion - 6 * attraction) * i2 + qq * (i1 * i2 - 2 * k);
    c->made->lennard_jones += (double)(repulsion - attraction);
    c->made->coulomb += (double)(qq * (i1 + k * r2 - h));
    c->made->pairs++;
    for (int d = 0; d < 3; d++) {
        c->force[i][d] += slope * way[d];
        c->force[j][d] -= slope * way[d];
    }
}

static size_t cell_of(const cells *c, int32_t i)
{
    size_t cell = 0;
    for (int d = 2; d >= 0; d--) {
        const int at = (int)(c->x[3 * i + d] / c->edge_A[d] * (float)c->side[d]);
        cell = cell * (size_t)c->side[d] + (size_t)(at < c->side[d] ? at : c->side[d] - 1);
    }
    return cell;
}

/* Pairs of particles of a cell with those of a neighbour, or with each other. */
static void add_cell(cells *c, size_t from, size_t to)
{
    for (int32_t i = c->head[from]; i >= 0; i = c->next[i])
        for (int32_t j = from == to ? c->next[i] : c->head[to]; j >= 0; j = c->next[j])
            add_pair(c, i, j);
}

/* There are three cells along each edge at least, so that neighbours differ. */
static void add_cells(cells *c)
{
    const int *n = c->side;
    for (int32_t i = 0; i < (int32_t)c->s->count; i++) {
        const size_t cell = cell_of(c, i);
        c->next[i] = c->head[cell];
        c->head[cell] = i;
    }
    for (int z = 0; z < n[2]; z++)
        for (int y = 0; y < n[1]; y++)
            for (int x = 0; x < n[0]; x++)
                for (int k = 13; k < 27; k++) { /* itself, and half of the neighbours */
                    const int u = (x + k % 3 - 1 + n[0]) % n[0], v = (y + k / 3 % 3 - 1 + n[1]) % n[1],
                              w = (z + k / 9 - 1 + n[2]) % n[2];
                    add_cell(c, (size_t)((z * n[1] + y) * n[0] + x), (size_t)((w * n[1] + v) * n[0] + u));
                }
}

ley_status energy_loop_liquid(const energy_system *s, double cutoff_A, energy_loop *made, ley_error *error)
{
    const size_t n = (size_t)s->count;
    size_t count = 1;
    cells c = {.s = s, .a = ley_particles_get(s->particles), .cutoff_A = (float)cutoff_A, .made = made};
    *made = (energy_loop){0};
    for (int d = 0; d < 3; d++) {
        c.edge_A[d] = (float)s->cell_A[4 * d];
        c.side[d] = (int)(s->cell_A[4 * d] / cutoff_A);
        count *= (size_t)c.side[d];
    }
    c.x = malloc(3 * n * sizeof *c.x);
    c.head = malloc(count * sizeof *c.head);
    c.next = malloc(n * sizeof *c.next);
    c.force = calloc(n, sizeof *c.force);
    const bool is_whole = c.x != NULL && c.head != NULL && c.next != NULL && c.force != NULL;
    if (is_whole) {
        const double start_s = ley_clock_s();
        for (size_t i = 0; i < 3 * n; i++)
            c.x[i] = s->position_A[i] - c.edge_A[i % 3] * floorf(s->position_A[i] / c.edge_A[i % 3]);
        for (size_t i = 0; i < count; i++)
            c.head[i] = -1;
        add_cells(&c);
        made->seconds = ley_clock_s() - start_s;
    }
    free(c.x);
    free(c.head);
    free(c.next);
    free(c.force);
    return is_whole ? LEY_OK : ley_fail_memory(error, 28 * n, "the benchmark");
}

/* ---- Generalised Born ------------------------------------------------------------------------ */

static double distance2(const float *a, const float *b)
{
    const double x = (double)a[0] - (double)b[0], y = (double)a[1] - (double)b[1], z = (double)a[2] - (double)b[2];
    return x * x + y * y + z * z;
}

static double integral(double r, double rho, double s)
{
    if (rho >= r + s)
        return 0;
    const double low = fmax(rho, fabs(r - s)), l = 1 / low, u = 1 / (r + s);
    const double t = l - u + 0.25 * (r - s * s / r) * (u * u - l * l) + 0.5 * log(u / l) / r;
    return 0.5 * t + (rho < s - r ? 1 / rho - l : 0);
}

/* OBC2. */
static void find_radii(const energy_system *s, const ley_particles_arrays *a, double *radius)
{
    for (int64_t i = 0; i < s->count; i++) {
        const double rho = a->born_radii[i] - 0.09;
        double sum = 0;
        for (int64_t j = 0; j < s->count; j++)
            if (j != i)
                sum += integral(sqrt(distance2(s->position_A + 3 * i, s->position_A + 3 * j)), rho,
                                a->born_screens[j] * (a->born_radii[j] - 0.09));
        const double psi = rho * sum;
        radius[i] = 1 / (1 / rho - tanh(psi * (1 + psi * (-0.8 + 4.85 * psi))) / a->born_radii[i]);
    }
}

ley_status energy_loop_protein(const energy_system *s, energy_loop *made, ley_error *error)
{
    const ley_particles_arrays a = ley_particles_get(s->particles);
    const double start_s = ley_clock_s(), share = 1 - 1 / 78.5;
    double *radius = malloc((size_t)s->count * sizeof *radius);
    *made = (energy_loop){0};
    if (radius == NULL)
        return ley_fail_memory(error, (size_t)s->count * sizeof *radius, "the benchmark");
    find_radii(s, &a, radius);
    for (int64_t i = 0; i < s->count; i++) {
        made->born -= 0.5 * share * LEY_COULOMB_CONSTANT_AMBER * a.charges[i] * a.charges[i] / radius[i];
        for (int64_t j = 0; j < i; j++) {
            const double r2 = distance2(s->position_A + 3 * i, s->position_A + 3 * j), i2 = 1 / r2, i6 = i2 * i2 * i2,
                         qq = LEY_COULOMB_CONSTANT_AMBER * a.charges[i] * a.charges[j], bb = radius[i] * radius[j];
            made->born -= share * qq / sqrt(r2 + bb * exp(-r2 / (4 * bb)));
            if (j + 1 == i) /* excluded */
                continue;
            const int64_t at = a.type[i] * a.types + a.type[j];
            made->lennard_jones += a.lennard_jones_a[at] * i6 * i6 - a.lennard_jones_b[at] * i6;
            made->coulomb += qq * sqrt(i2);
        }
    }
    free(radius);
    made->pairs = (double)s->count * (double)(s->count - 1) / 2;
    made->seconds = ley_clock_s() - start_s;
    return LEY_OK;
}
