#include "some_particles.h"

enum { TYPES = 4, FACTORS = 3 };

/* Everything that random particles have. */
typedef struct room {
    double *charges, *radii, *screens, (*factors)[3], *surface, (*lcpo)[4], *pair_charges, *pair_a, *pair_b;
    double a[TYPES][TYPES], b[TYPES][TYPES];
    int32_t *type, (*exclusion)[2], (*pair_14)[2];
    float *position_A;
} room;

static void *zeros(int64_t n, size_t size)
{
    void *made = calloc((size_t)n, size);
    assert_non_null(made);
    return made;
}

/* At least this far from all before it. */
static void place(room *r, int64_t i, double edge_A, unsigned *state)
{
    const double least_A = 2;
    bool is_free = false;
    while (!is_free) {
        is_free = true;
        for (int axis = 0; axis < 3; axis++)
            r->position_A[3 * i + axis] = (float)(floor(4096 * edge_A * support_uniform(state)) / 4096);
        for (int64_t j = 0; j < i && is_free; j++) {
            double r2 = 0;
            for (int axis = 0; axis < 3; axis++)
                r2 += pow((double)r->position_A[3 * i + axis] - (double)r->position_A[3 * j + axis], 2);
            is_free = r2 >= least_A * least_A;
        }
    }
}

/* The last type has no Lennard-Jones energy. */
static void make_types(room *r)
{
    static const double sigma_A[TYPES] = {2.1, 3.2, 2.7, 0}, epsilon[TYPES] = {0.02, 0.11, 0.17, 0};
    for (int s = 0; s < TYPES; s++)
        for (int t = 0; t < TYPES; t++) {
            const double sixth = pow((sigma_A[s] + sigma_A[t]) / 2, 6), four = 4 * sqrt(epsilon[s] * epsilon[t]);
            r->a[s][t] = four * sixth * sixth;
            r->b[s][t] = four * sixth;
        }
}

static void make_particle(room *r, int64_t i, double edge_A, unsigned *state)
{
    static const double lcpo[FACTORS][4] = {{0.77887, -0.28063, -0.0012968, 0.00039328},
                                            {0.68563, -0.1868, -0.00135573, 0.00023743},
                                            {0.22599, -0.036648, -0.0012297, 0.000080038}},
                        tanh[FACTORS][3] = {{0.788440, 0.798699, 0.437334},
                                            {0.733756, 0.506378, 0.205844},
                                            {0.503364, 0.316828, 0.192915}};
    const bool is_empty = i % 9 == 4;
    place(r, i, edge_A, state);
    r->charges[i] = is_empty ? 0 : support_uniform(state) - 0.5;
    r->type[i] = (int32_t)(i % TYPES);
    r->radii[i] = is_empty ? 0 : 1.2 + 0.07 * (double)(i % 8);
    r->screens[i] = i % 7 == 5 ? -0.7 : 0.7 + 0.05 * (double)(i % 6);
    r->surface[i] = i % 5 == 2 ? 0 : 1.5 + 0.05 * (double)(i % 6);
    memcpy(r->factors[i], tanh[i % FACTORS], sizeof r->factors[i]);
    memcpy(r->lcpo[i], lcpo[i % FACTORS], sizeof r->lcpo[i]);
}

/* Of a chain: its neighbours and next ones but one; the next ones but two. */
static void make_pairs(room *r, ley_particles_arrays *a)
{
    for (int64_t i = 0; i < a->particles; i++) {
        for (int64_t j = i + 1; j <= i + 2 && j < a->particles; j++) {
            r->exclusion[a->exclusions][0] = (int32_t)(j % 2 == 0 ? i : j);
            r->exclusion[a->exclusions++][1] = (int32_t)(j % 2 == 0 ? j : i);
        }
        if (i + 3 >= a->particles)
            continue;
        const int64_t j = i + 3;
        r->pair_14[i][0] = (int32_t)i;
        r->pair_14[i][1] = (int32_t)j;
        r->pair_charges[i] = r->charges[i] * r->charges[j] / 1.2;
        r->pair_a[i] = r->a[r->type[i]][r->type[j]] / 2;
        r->pair_b[i] = r->b[r->type[i]][r->type[j]] / 2;
        a->pairs_14++;
    }
}

void some_particles_make(some_particles *p, int64_t n, double edge_A, unsigned seed)
{
    room *r = p->memory = zeros(1, sizeof *r);
    *r = (room){.charges = zeros(n, sizeof *r->charges),
                .radii = zeros(n, sizeof *r->radii),
                .screens = zeros(n, sizeof *r->screens),
                .factors = zeros(n, sizeof *r->factors),
                .surface = zeros(n, sizeof *r->surface),
                .lcpo = zeros(n, sizeof *r->lcpo),
                .pair_charges = zeros(n, sizeof *r->pair_charges),
                .pair_a = zeros(n, sizeof *r->pair_a),
                .pair_b = zeros(n, sizeof *r->pair_b),
                .type = zeros(n, sizeof *r->type),
                .exclusion = zeros(2 * n, sizeof *r->exclusion),
                .pair_14 = zeros(n, sizeof *r->pair_14),
                .position_A = zeros(3 * n, sizeof *r->position_A)};
    make_types(r);
    for (int64_t i = 0; i < n; i++)
        make_particle(r, i, edge_A, &seed);
    p->position_A = r->position_A;
    p->arrays = (ley_particles_arrays){.size = sizeof p->arrays,
                                       .particles = n,
                                       .types = TYPES,
                                       .charges = r->charges,
                                       .type = r->type,
                                       .lennard_jones_a = &r->a[0][0],
                                       .lennard_jones_b = &r->b[0][0],
                                       .exclusion = (const int32_t(*)[2])r->exclusion,
                                       .pair_14 = (const int32_t(*)[2])r->pair_14,
                                       .pair_14_charges = r->pair_charges,
                                       .pair_14_a = r->pair_a,
                                       .pair_14_b = r->pair_b,
                                       .born_radii = r->radii,
                                       .born_screens = r->screens,
                                       .born_factors = (const double(*)[3])r->factors,
                                       .surface_radii = r->surface,
                                       .lcpo_factors = (const double(*)[4])r->lcpo};
    make_pairs(r, &p->arrays);
}

void some_particles_clear(some_particles *p)
{
    room *r = p->memory;
    void *all[] = {r->charges,      r->radii,  r->screens, r->factors, r->surface,   r->lcpo,
                   r->pair_charges, r->pair_a, r->pair_b,  r->type,    r->exclusion, r->pair_14};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    free(r->position_A);
    free(r);
}

ley_particles *some_particles_read(float **position_A)
{
    ley_particles *protein = NULL;
    double *point_A = NULL;
    int64_t n = 0;
    ley_error error = {0};
    assert_ok(ley_particles_read("tests/data/protein.npz", &protein, &error));
    assert_ok(ley_points_read("tests/data/protein.npy", &n, &point_A, &error));
    assert_int_equal(n, ley_particles_get(protein).particles);
    *position_A = zeros(3 * n, sizeof **position_A);
    for (int64_t i = 0; i < 3 * n; i++)
        (*position_A)[i] = (float)point_A[i];
    free(point_A);
    return protein;
}
