/* Ions are placed where brute force in double precision places them, on the host and on every
 * device. */
#include "support.h"

#include "engine/engine.h"
#include "ions/bounds.h"
#include "ions/device_map.h"
#include "ions/search.h"

/* Judged by the formulas alone: sums of all pairs in double precision, for every node. */
typedef struct brute {
    ley_grid grid;
    double *phi;
    bool *is_out;
    double power; /* of r: -1, or -2 */
} brute;

static const double kcal = 332.06371;

static int64_t nodes_of(const ley_grid *g)
{
    return g->n[0] * g->n[1] * g->n[2];
}

static void node_at(const ley_grid *g, int64_t i, int64_t node[3])
{
    node[0] = i % g->n[0];
    node[1] = i / g->n[0] % g->n[1];
    node[2] = i / (g->n[0] * g->n[1]);
}

static brute brute_begin(const ley_atoms *atoms, const ley_grid *grid, const ley_ions_options *o)
{
    const double from_A = o->from_solute_A;
    brute b = {*grid, calloc((size_t)nodes_of(grid), sizeof(double)), calloc((size_t)nodes_of(grid), sizeof(bool)),
               o->distance_dielectric ? -2 : -1};
    for (int64_t i = 0; i < nodes_of(grid); i++) {
        int64_t node[3];
        node_at(grid, i, node);
        for (size_t j = 0; j < ley_atoms_count(atoms); j++) {
            double d2 = 0;
            for (int axis = 0; axis < 3; axis++)
                d2 += pow((double)node[axis] * grid->step_A[axis][axis] -
                              (ley_atoms_positions_A(atoms)[3 * j + (size_t)axis] - grid->origin_A[axis]),
                          2);
            b.is_out[i] = b.is_out[i] || d2 <= from_A * from_A;
            b.phi[i] += ley_atoms_charges_e(atoms)[j] * pow(d2 > 1e-12 ? d2 : 1e-12, b.power / 2);
        }
    }
    return b;
}

static void brute_end(brute *b)
{
    free(b->phi);
    free(b->is_out);
}

/* The first of the nodes with the least energy; -1: none is left. */
static int64_t brute_place(brute *b, double charge_e, double between_A, double *energy)
{
    const double h_A = b->grid.step_A[0][0], steps = fmax(1, rint(between_A / h_A));
    int64_t best = -1, ion[3];
    for (int64_t i = 0; i < nodes_of(&b->grid); i++) {
        const double e = charge_e * b->phi[i];
        if (!b->is_out[i] && (best < 0 || e < charge_e * b->phi[best] - 1e-12 * fabs(e)))
            best = i;
    }
    if (best < 0)
        return -1;
    *energy = kcal * charge_e * b->phi[best];
    node_at(&b->grid, best, ion);
    for (int64_t i = 0; i < nodes_of(&b->grid); i++) {
        int64_t node[3];
        node_at(&b->grid, i, node);
        double d2 = 0; /* in steps along x */
        for (int axis = 0; axis < 3; axis++)
            d2 += pow((double)(node[axis] - ion[axis]) * (b->grid.step_A[axis][axis] / h_A), 2);
        b->is_out[i] = b->is_out[i] || d2 < steps * steps;
        b->phi[i] += d2 > 0 ? charge_e * pow(h_A * sqrt(d2), b->power) : 0;
    }
    return best;
}

static ley_ions_options options_of(const ley_ion_species *species, size_t count)
{
    ley_ions_options o;
    ley_ions_options_default(&o);
    o.species = species;
    o.species_count = count;
    return o;
}

static ley_request request_of(double spacing_A, double padding_A)
{
    ley_request r = support_default_request();
    r.grid.given = LEY_GIVEN_SPACING | LEY_GIVEN_PADDING;
    r.grid.spacing_A[0] = r.grid.spacing_A[1] = r.grid.spacing_A[2] = spacing_A;
    r.grid.padding_A = padding_A;
    return r;
}

/* All ions are where brute force has them, in the order of their species. */
static void compare(const ley_ions *ions, const ley_atoms *atoms, const ley_ions_options *o)
{
    const ley_ions_report *how = ley_ions_how(ions);
    brute b = brute_begin(atoms, &how->grid, o);
    for (int64_t i = 0; i < ley_ions_count(ions); i++) {
        const ley_placed_ion *ion = ley_ions_get(ions, i);
        double energy = 0;
        const int64_t at = brute_place(&b, ion->charge_e, o->between_A, &energy);
        const int64_t found = (ion->node[2] * how->grid.n[1] + ion->node[1]) * how->grid.n[0] + ion->node[0];
        assert_int_equal(found, at);
        assert_true(fabs(ion->energy_kcal_mol - energy) <= 1e-5 * fabs(energy) + 1e-9);
        for (int axis = 0; axis < 3; axis++)
            assert_true(fabs(ion->position_A[axis] - how->grid.origin_A[axis] -
                             (double)ion->node[axis] * how->grid.step_A[axis][axis]) < 1e-9);
    }
    brute_end(&b);
}

static const ley_ion_species salt[] = {{"NA", 1, 1.4, 5}, {"CL", -1, 2.2, 5}};

static ley_atoms *molecule(size_t n, unsigned seed)
{
    return support_atoms(n, 0, 3 * cbrt((double)n), seed);
}

/* ---- On the host and on devices -------------------------------------------------------------- */

static ley_engine *engine;
static ley_place where = LEY_PLACE_HOST;

static void test_same_nodes_as_brute_force(void **state)
{
    static const size_t sizes[] = {1, 2, 50, 130, 300};
    const size_t count = support_is_quick() && where == LEY_PLACE_DEVICE ? 3 : sizeof sizes / sizeof *sizes;
    ley_error error = {0};
    for (size_t i = 0; i < count; i++) {
        ley_atoms *atoms = molecule(sizes[i], (unsigned)i + 3);
        ley_request request = request_of(i % 2 == 0 ? 1 : 0.75, 10);
        ley_ions_options o = options_of(salt, 2);
        ley_ions *ions;
        o.placing = where;
        o.between_A = i == 3 ? 4 : 7;
        assert_ok(ley_ions_place(engine, atoms, &request, &o, &ions, &error));
        assert_int_equal(ley_ions_count(ions), 10);
        assert_true((strcmp(ley_ions_how(ions)->device, "host") == 0) == (where == LEY_PLACE_HOST));
        assert_true(ley_ions_how(ions)->energy_error < 1e-3);
        compare(ions, atoms, &o);
        ley_ions_destroy(ions);
        ley_atoms_destroy(atoms);
    }
}

/* Potentials of q / r^2, whatever the steps are; a permittivity divides energies. */
static void test_distance_dielectric(void **state)
{
    ley_error error = {0};
    ley_atoms *atoms = molecule(130, 7);
    for (int i = 0; i < 2; i++) {
        ley_request request = request_of(i == 0 ? 1 : 0.75, 10);
        ley_ions_options o = options_of(salt, 2);
        ley_ions *ions;
        o.placing = where;
        o.between_A = 5;
        o.distance_dielectric = true;
        request.potential.units = LEY_UNITS_KCAL_MOL_E;
        request.potential.dielectric = 4;
        assert_ok(ley_ions_place(engine, atoms, &request, &o, &ions, &error));
        compare(ions, atoms, &o);
        assert_true(fabs(ley_ions_get(ions, 3)->energy / ley_ions_get(ions, 3)->energy_kcal_mol - 0.25) < 1e-12);
        ley_ions_destroy(ions);
        for (int axis = 0; axis < 3; axis++) {
            request.potential.periodic[axis] = true;
            request.potential.cell_A[axis][axis] = 60;
        }
        assert_int_equal(ley_ions_place(engine, atoms, &request, &o, &ions, &error), LEY_ERROR_USAGE);
        assert_non_null(strstr(error.message, "open space"));
        ley_error_clear(&error);
    }
    ley_atoms_destroy(atoms);
}

/* Steps that differ from axis to axis. */
static void test_other_grids(void **state)
{
    ley_error error = {0};
    ley_atoms *atoms = molecule(70, 31);
    ley_request request = support_default_request();
    ley_ions_options o = options_of(salt, 2);
    ley_ions *ions;
    request.grid.given = LEY_GIVEN_N | LEY_GIVEN_LENGTH;
    for (int axis = 0; axis < 3; axis++) {
        request.grid.n[axis] = 33 + 7 * axis;
        request.grid.length_A[axis] = 38 + axis;
    }
    o.placing = where;
    o.between_A = 6.9;
    assert_ok(ley_ions_place(engine, atoms, &request, &o, &ions, &error));
    assert_int_equal(ley_ions_how(ions)->grid.n[2], 47);
    compare(ions, atoms, &o);
    ley_ions_destroy(ions);
    ley_atoms_destroy(atoms);
}

/* The bytes are the same each time, whatever the tolerance and the method of the potential. */
static void test_nodes_do_not_depend_on_the_potential(void **state)
{
    ley_error error = {0};
    ley_atoms *atoms = molecule(200, 11);
    ley_ions *first = NULL;
    static const double tolerances[] = {1e-4, 1e-4, 1e-2};
    for (size_t i = 0; i < sizeof tolerances / sizeof *tolerances; i++) {
        ley_request request = request_of(1, 12);
        ley_ions_options o = options_of(salt, 2);
        ley_ions *ions;
        o.placing = where;
        search_assume(-1, i / 2); /* with the method whose error is largest, one brick at first */
        request.tolerance = tolerances[i];
        request.method = i < 2 || where == LEY_PLACE_HOST ? "dcs" : "msm";
        assert_ok(ley_ions_place(engine, atoms, &request, &o, &ions, &error));
        for (int64_t k = 0; k < ley_ions_count(ions) && first != NULL; k++) {
            assert_memory_equal(ley_ions_get(ions, k)->node, ley_ions_get(first, k)->node, sizeof(int64_t[3]));
            assert_true(ley_ions_get(ions, k)->energy == ley_ions_get(first, k)->energy);
        }
        if (first == NULL)
            first = ions;
        else
            ley_ions_destroy(ions);
    }
    search_assume(-1, 0);
    ley_ions_destroy(first);
    ley_atoms_destroy(atoms);
}

/* A map that is off by more than was thought shows when nodes are summed. On a device that is after
 * all ions, which are then placed again: also where there is no room for all. */
static void test_wrong_delta(void **state)
{
    ley_error error = {0}, full[2] = {{0}, {0}};
    ley_atoms *atoms = molecule(200, 11);
    ley_request request = request_of(1, 12);
    ley_ions_options o = options_of(salt, 2);
    static const ley_ion_species many[] = {{"CL", -1, 0, 500}};
    ley_ions *ions[2];
    o.placing = where;
    request.tolerance = 1e-2;
    request.method = where == LEY_PLACE_HOST ? "dcs" : "msm";
    for (int i = 0; i < 2; i++) {
        search_assume(i == 0 ? -1 : 0, 0);
        assert_ok(ley_ions_place(engine, atoms, &request, &o, &ions[i], &error));
        assert_int_equal(search_begun(), where == LEY_PLACE_HOST ? 1 : i + 1);
    }
    for (int64_t k = 0; k < ley_ions_count(ions[0]); k++) {
        const ley_placed_ion *ion = ley_ions_get(ions[0], k), *again = ley_ions_get(ions[1], k);
        assert_memory_equal(ion->node, again->node, sizeof ion->node);
        assert_true(ion->energy == again->energy && ion->energy_kcal_mol == again->energy_kcal_mol);
    }
    compare(ions[1], atoms, &o);
    o.species = many;
    o.species_count = 1;
    for (int i = 0; i < 2; i++) {
        search_assume(i == 0 ? -1 : 0, 0);
        assert_int_equal(ley_ions_place(engine, atoms, &request, &o, NULL, &full[i]), LEY_ERROR_INPUT);
        assert_int_equal(search_begun(), where == LEY_PLACE_HOST ? 1 : i + 1);
        ley_ions_destroy(ions[i]);
    }
    assert_string_equal(full[0].message, full[1].message);
    search_assume(-1, 0);
    for (int i = 0; i < 2; i++)
        ley_error_clear(&full[i]);
    ley_atoms_destroy(atoms);
}

/* Where the next node is far behind each ion's, a map that is off by more than was thought does not
 * matter: nothing is placed again. */
static void test_wide_gaps(void **state)
{
    static const double at_A[6] = {0.17, 0.23, -0.31, 19.4, 0.11, 0.27}, charge_e[2] = {1, -2};
    static const ley_ion_species two[] = {{"NA", 1, 0, 1}, {"CL", -1, 0, 1}};
    ley_error error = {0};
    ley_atoms *atoms = support_make_atoms(2, at_A, charge_e, NULL);
    ley_request request = request_of(1, 10);
    ley_ions_options o = options_of(two, 2);
    ley_ions *ions;
    o.placing = where;
    request.method = "dcs";
    search_assume(0, 0);
    assert_ok(ley_ions_place(engine, atoms, &request, &o, &ions, &error));
    assert_int_equal(search_begun(), 1);
    assert_true(ley_ions_how(ions)->energy_error > 0);
    search_assume(-1, 0);
    compare(ions, atoms, &o);
    ley_ions_destroy(ions);
    ley_atoms_destroy(atoms);
}

/* Of places of the same energy the first one is taken, or what the seed says, each time. */
static void test_ties(void **state)
{
    static const double at_A[3] = {0, 0, 0}, charge_e = 1;
    static const ley_ion_species one[] = {{"CL", -1, 0, 1}};
    ley_error error = {0};
    ley_atoms *atom = support_make_atoms(1, at_A, &charge_e, NULL);
    ley_request request = request_of(1, 10);
    ley_ions_options o = options_of(one, 1);
    bool differs = false;
    o.from_solute_A = 5.5; /* the next nodes are at the root of 32 */
    o.placing = where;
    for (int64_t seed = 0; seed < 6; seed++) {
        int64_t node[2][3];
        for (int i = 0; i < 2; i++) {
            ley_ions *ions;
            o.seed = seed;
            assert_ok(ley_ions_place(engine, atom, &request, &o, &ions, &error));
            memcpy(node[i], ley_ions_get(ions, 0)->node, sizeof node[i]);
            if (seed == 0)
                compare(ions, atom, &o);
            ley_ions_destroy(ions);
        }
        assert_memory_equal(node[0], node[1], sizeof node[0]);
        const int64_t d[3] = {node[0][0] - 10, node[0][1] - 10, node[0][2] - 10};
        assert_true(d[0] * d[0] + d[1] * d[1] + d[2] * d[2] == 32); /* (0, 4, 4) in any order and sign */
        differs = differs || (seed > 0 && (d[2] != -4 || d[1] != -4 || d[0] != 0));
    }
    assert_true(differs);
    assert_true(search_choice(3, 0, 1000) != search_choice(3, 1, 1000));
    ley_atoms_destroy(atom);
}

/* What floats cannot tell apart is told apart, also where the other brick is not among the first
 * that are looked at. */
static void test_nearly_equal(void **state)
{
    static const double at_A[6] = {0, 0, 0, 40, 0, 0};
    static const ley_ion_species one[] = {{"CL", -1, 0, 1}};
    ley_error error = {0};
    for (int i = 0; i < 4; i++) {
        const int larger = i % 2;
        const double charge_e[2] = {1 + (larger == 0 ? 1e-8 : 0), 1 + (larger == 1 ? 1e-8 : 0)};
        search_assume(-1, i / 2);
        ley_atoms *atoms = support_make_atoms(2, at_A, charge_e, NULL);
        ley_request request = request_of(1, 10);
        ley_ions_options o = options_of(one, 1);
        ley_ions *ions;
        o.from_solute_A = 5.5;
        o.placing = where;
        assert_ok(ley_ions_place(engine, atoms, &request, &o, &ions, &error));
        const int64_t expected[3] = {larger == 0 ? 14 : 46, 10, 6};
        assert_memory_equal(ley_ions_get(ions, 0)->node, expected, sizeof expected);
        ley_ions_destroy(ions);
        ley_atoms_destroy(atoms);
    }
    search_assume(-1, 0);
}

/* What an ion changes in a brick, by the formula, at each node that it does not leave out. */
static void compare_bound(const brick_bounds *b, int64_t brick, double strength, const int64_t ion[3], double sign)
{
    const ions_grid *g = b->g;
    double least = INFINITY;
    for (int local = 0; local < BRICK_NODES; local++) {
        int64_t node[3];
        double d2 = 0;
        ions_grid_node(g, ions_grid_number(g, brick, local), node);
        for (int axis = 0; axis < 3; axis++)
            d2 += pow(g->h_A * (double)(node[axis] - ion[axis]), 2);
        least = fmin(least, sign * strength * pow(d2, g->is_square ? -1 : -0.5));
    }
    const double slack = 3e-3 * fabs(least);
    assert_true((double)b->bound[brick] <= least && (double)b->bound[brick] >= least - slack);
}

/* Bounds hold, and are near to what is there in bricks from which the ion leaves out no nodes. */
static void test_bounds(void **state)
{
    static const int64_t ions_at[][3] = {{0, 0, 0}, {50, 3, 17}, {31, 63, 40}};
    const ley_grid grid = {.step_A = LEY_STEPS(0.5, 0.5, 0.5), .n = {64, 64, 48}};
    ley_error error = {0};
    for (int i = 0; i < 12; i++) {
        const int64_t *at = ions_at[i / 4];
        const double strength = i % 2 == 0 ? 332 : -664,
                     place_A[3] = {0.5 * (double)at[0], 0.5 * (double)at[1], 0.5 * (double)at[2]};
        ions_grid g;
        brick_bounds b;
        assert_ok(ions_grid_make(&grid, 4, false, &g, &error));
        g.is_square = i % 4 >= 2;
        int32_t all[48];
        assert_int_equal(g.brick_count, 48);
        for (int32_t k = 0; k < 48; k++)
            all[k] = k;
        assert_true(bounds_create(&g, 48, all, &b));
        for (int32_t k = 0; k < 48; k++)
            bounds_set(&b, k, 0, 0);
        bounds_widen(&b, strength, place_A);
        for (int sign = 1; sign >= -1; sign -= 2) {
            bounds_find(&b, sign);
            for (int64_t k = 0; k < g.brick_count; k++) {
                const int64_t first[3] = {k % 4 * BRICK, k / 4 % 4 * BRICK, k / 16 * BRICK};
                bool is_near = true;
                for (int axis = 0; axis < 3; axis++)
                    is_near = is_near && at[axis] >= first[axis] - 8 && at[axis] < first[axis] + BRICK + 8;
                if (!is_near)
                    compare_bound(&b, k, strength, at, sign);
            }
        }
        bounds_free(&b);
    }
}

/* Of hundreds of bricks few are looked at for an ion: the right ones. */
static void test_many_bricks(void **state)
{
    static const ley_ion_species many[] = {{"NA", 1, 0, 25}, {"MG", 2, 0, 5}, {"CL", -1, 0, 30}};
    ley_error error = {0};
    ley_atoms *atoms = molecule(25, 77);
    ley_request request = request_of(0.5, support_is_sanitized ? 12 : 22);
    ley_ions_options o = options_of(many, 3);
    ley_ions *ions;
    o.placing = where;
    o.between_A = 5;
    search_assume(-1, 1);
    assert_ok(ley_ions_place(engine, atoms, &request, &o, &ions, &error));
    search_assume(-1, 0);
    const ley_ions_report *how = ley_ions_how(ions);
    assert_true(support_is_sanitized || (how->bricks > 200 && how->searched < 20 * how->bricks));
    compare(ions, atoms, &o);
    ley_ions_destroy(ions);
    ley_atoms_destroy(atoms);
}

/* Without any charge all nodes are equal, more than can be recomputed. */
static void test_no_charges(void **state)
{
    static const double at_A[3] = {0, 0, 0}, charge_e = 0;
    static const ley_ion_species ions_of[] = {{"CL", -1, 0, 2}, {"NA", 1, 0, 1}};
    ley_error error = {0};
    ley_atoms *atom = support_make_atoms(1, at_A, &charge_e, NULL);
    ley_request request = request_of(0.5, 12);
    ley_ions_options o = options_of(ions_of, 2);
    ley_ions *ions;
    o.placing = where;
    assert_ok(ley_ions_place(engine, atom, &request, &o, &ions, &error));
    static const int64_t corner[3] = {0, 0, 0};
    assert_memory_equal(ley_ions_get(ions, 0)->node, corner, sizeof corner);
    compare(ions, atom, &o);
    ley_ions_destroy(ions);
    ley_atoms_destroy(atom);
}

/* A node that is exactly as far from an atom as ions have to be is left out. */
static void test_edge_of_the_solute(void **state)
{
    static const double at_A[3] = {0, 0, 0}, charge_e = 1;
    static const ley_ion_species two[] = {{"CL", -1, 0, 2}};
    ley_error error = {0};
    ley_atoms *atom = support_make_atoms(1, at_A, &charge_e, NULL);
    ley_request request = request_of(1, 10);
    ley_ions_options o = options_of(two, 1);
    ley_ions *ions;
    o.from_solute_A = 5; /* as (0, 3, 4) is */
    o.placing = where;
    assert_ok(ley_ions_place(engine, atom, &request, &o, &ions, &error));
    compare(ions, atom, &o);
    ley_ions_destroy(ions);
    ley_atoms_destroy(atom);
}

/* If a map may be off by so much that more nodes may be best than are summed, the best ones by the
 * map are. */
static void test_coarse_map(void **state)
{
    ley_error error = {0};
    ley_atoms *atoms = molecule(50, 13);
    ley_request request = request_of(1, 12);
    ley_ions_options o = options_of(salt, 2);
    ley_ions *ions;
    o.placing = where;
    request.method = "dcs";
    search_assume(100, 0);
    assert_ok(ley_ions_place(engine, atoms, &request, &o, &ions, &error));
    search_assume(-1, 0);
    assert_true(ley_ions_how(ions)->undecided > 0);
    compare(ions, atoms, &o);
    ley_ions_destroy(ions);
    ley_atoms_destroy(atoms);
}

static void test_no_room(void **state)
{
    static const ley_ion_species many[] = {{"CL", -1, 0, 500}};
    ley_error error = {0};
    ley_atoms *atoms = molecule(20, 5);
    ley_request request = request_of(1, 8);
    ley_ions_options o = options_of(many, 1);
    ley_ions *ions;
    o.placing = where;
    assert_error(ley_ions_place(engine, atoms, &request, &o, &ions, &error), LEY_ERROR_INPUT,
                 "there is no room for ion");
    assert_non_null(strstr(error.message, "were placed; take less for between or from_solute, or more padding"));
    request.grid.padding_A = 1;
    assert_error(ley_ions_place(engine, atoms, &request, &o, &ions, &error), LEY_ERROR_INPUT, "ion 1 of 500, CL");
    ley_atoms_destroy(atoms);
}

static void stop_at_two(void *context, int64_t placed, int64_t wanted)
{
    assert_int_equal(wanted, 10);
    *(volatile bool *)context = placed >= 2;
}

static void test_cancel(void **state)
{
    ley_error error = {0};
    volatile bool cancel = false;
    ley_atoms *atoms = molecule(60, 8);
    ley_request request = request_of(1, 10);
    ley_ions_options o = options_of(salt, 2);
    ley_ions *ions = NULL;
    o.placing = where;
    o.cancel = &cancel;
    o.progress = stop_at_two;
    o.progress_context = (void *)&cancel;
    assert_int_equal(ley_ions_place(engine, atoms, &request, &o, &ions, &error), LEY_CANCELLED);
    assert_null(ions);
    ley_error_clear(&error);
    ley_atoms_destroy(atoms);
}

/* ---- Grids ----------------------------------------------------------------------------------- */

/* The sums of periodic cells again, by Ewald's sum. */
typedef const double (*vectors)[3];

static double ewald(const double way[3], vectors v)
{
    const double beta = 5.0 / 24, pi = acos(-1);
    double sum = 0, volume = 0, dual[3][3];
    for (int i = 0; i < 3; i++)
        for (int d = 0; d < 3; d++)
            dual[i][d] = v[(i + 1) % 3][(d + 1) % 3] * v[(i + 2) % 3][(d + 2) % 3] -
                         v[(i + 1) % 3][(d + 2) % 3] * v[(i + 2) % 3][(d + 1) % 3];
    for (int d = 0; d < 3; d++)
        volume += v[0][d] * dual[0][d];
    for (int n = 0; n < 21 * 21 * 21; n++) {
        const int m[3] = {n % 21 - 10, n / 21 % 21 - 10, n / 441 - 10};
        double k2 = 0, phase = 0, d2 = 0;
        for (int d = 0; d < 3; d++) {
            double k = 0, r = way[d];
            for (int i = 0; i < 3; i++) {
                k += 2 * pi / volume * m[i] * dual[i][d];
                r += m[i] * v[i][d];
            }
            k2 += k * k;
            phase += k * way[d];
            d2 += r * r;
        }
        if (k2 == 0)
            sum -= pi / (beta * beta * volume);
        else if (k2 < 132 * beta * beta)
            sum += 4 * pi / (volume * k2) * exp(-k2 / (4 * beta * beta)) * cos(phase);
        if (d2 > 0 && abs(m[0]) <= 2 && abs(m[1]) <= 2 && abs(m[2]) <= 2)
            sum += erfc(beta * sqrt(d2)) / sqrt(d2);
    }
    return sum;
}

static double nearest2(const double way[3], vectors v)
{
    double least = INFINITY;
    for (int n = 0; n < 125; n++) {
        double d2 = 0;
        for (int d = 0; d < 3; d++)
            d2 += pow(way[d] + (n % 5 - 2) * v[0][d] + (n / 5 % 5 - 2) * v[1][d] + (n / 25 - 2) * v[2][d], 2);
        least = fmin(least, d2);
    }
    return least;
}

enum { N = 12 };

static void way_to(int i, vectors v, const double from_A[3], double way[3])
{
    for (int d = 0; d < 3; d++)
        way[d] = (i % N * v[0][d] + i / N % N * v[1][d] + i / (N * N) * v[2][d]) / N - from_A[d];
}

static void compare_in_cell(const ley_ions *ions, const ley_atoms *atoms, vectors v)
{
    static double phi[N * N * N];
    static bool is_out[N * N * N];
    double way[3];
    for (int i = 0; i < N * N * N; i++) {
        phi[i] = is_out[i] = 0;
        for (size_t j = 0; j < ley_atoms_count(atoms); j++) {
            way_to(i, v, ley_atoms_positions_A(atoms) + 3 * j, way);
            is_out[i] = is_out[i] || nearest2(way, v) <= 16;
        }
        for (size_t j = 0; j < ley_atoms_count(atoms) && !is_out[i]; j++) {
            way_to(i, v, ley_atoms_positions_A(atoms) + 3 * j, way);
            phi[i] += ley_atoms_charges_e(atoms)[j] * ewald(way, v);
        }
    }
    for (int64_t k = 0; k < ley_ions_count(ions); k++) {
        const ley_placed_ion *ion = ley_ions_get(ions, k);
        int best = -1;
        for (int i = 0; i < N * N * N; i++)
            if (!is_out[i] && (best < 0 || ion->charge_e * phi[i] < ion->charge_e * phi[best] - 1e-11))
                best = i;
        assert_int_equal(best, (ion->node[2] * N + ion->node[1]) * N + ion->node[0]);
        assert_true(fabs(ion->energy_kcal_mol - kcal * ion->charge_e * phi[best]) <
                    1e-5 * fabs(ion->energy_kcal_mol) + 1e-7);
        for (int i = 0; i < N * N * N; i++) {
            way_to(i, v, ion->position_A, way);
            is_out[i] = is_out[i] || nearest2(way, v) < 100 - 1e-9;
            phi[i] += is_out[i] ? 0 : ion->charge_e * ewald(way, v);
        }
    }
}

static void test_periodic_cell(void **state)
{
    static const double cells_A[][3][3] = {{{24, 0, 0}, {0, 24, 0}, {0, 0, 24}},
                                           {{24, 0, 0}, {7, 23, 0}, {-5, 6, 22.5}}};
    static const ley_ion_species few[] = {{"NA", 1, 0, 2}, {"CL", -1, 0, 2}};
    ley_error error = {0};
    ley_atoms *atoms = support_atoms(12, 1, 9, 21);
    ley_ions_options o = options_of(few, 2);
    o.placing = where;
    o.from_solute_A = 4;
    for (int c = 0; c < 2; c++) {
        ley_request request = support_default_request();
        ley_ions *ions;
        request.grid.given = LEY_GIVEN_N;
        for (int axis = 0; axis < 3; axis++) {
            request.potential.periodic[axis] = true;
            memcpy(request.potential.cell_A[axis], cells_A[c][axis], sizeof cells_A[c][axis]);
            request.grid.n[axis] = N;
        }
        assert_ok(ley_ions_place(engine, atoms, &request, &o, &ions, &error));
        assert_int_equal(ley_ions_count(ions), 4);
        assert_true((strcmp(ley_ions_how(ions)->device, "host") == 0) == (where == LEY_PLACE_HOST));
        assert_true(fabs(ley_ions_how(ions)->volume_A3 - cells_A[c][0][0] * cells_A[c][1][1] * cells_A[c][2][2]) <
                    1e-6);
        compare_in_cell(ions, atoms, cells_A[c]);
        ley_ions_destroy(ions);
    }
    ley_atoms_destroy(atoms);
}

/* Every way of the kernels passes its self-test, also those for devices of another class. */
static void visit_spec(void *context, const char *name, const void *spec)
{
    ley_error error = {0};
    dev_kernel kernel;
    dev *device = context;
    assert_ok(kernel_create_anew(device, &ions_bricks_kind, spec, true, NULL, &kernel, &error));
    kernel_destroy(&kernel);
}

static void test_all_kernels(void **state)
{
    dev *device = engine->workers[0].device;
    kernel_specs(&ions_bricks_kind, device->info, KERNEL_ALL, visit_spec, device);
}

static int run_on_device(const char *selector, const ley_device_info *info)
{
    where = LEY_PLACE_DEVICE;
    return RUN_ON_DEVICE("ions", &engine, test_all_kernels, test_wrong_delta, test_wide_gaps,
                         test_same_nodes_as_brute_force, test_distance_dielectric, test_other_grids,
                         test_nodes_do_not_depend_on_the_potential, test_ties, test_nearly_equal, test_many_bricks,
                         test_no_charges, test_edge_of_the_solute, test_coarse_map, test_no_room, test_cancel,
                         test_periodic_cell);
}

int main(void)
{
    const int failed = RUN_TESTS(
        test_bounds, test_wrong_delta, test_wide_gaps, test_same_nodes_as_brute_force, test_distance_dielectric,
        test_other_grids, test_nodes_do_not_depend_on_the_potential, test_ties, test_nearly_equal, test_many_bricks,
        test_no_charges, test_edge_of_the_solute, test_coarse_map, test_no_room, test_cancel, test_periodic_cell);
    return failed + support_on_each_device(run_on_device);
}
