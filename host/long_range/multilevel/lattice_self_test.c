#include "long_range/multilevel/lattice_self_test.h"

#include "error.h"
#include "memory.h"
#include "verify/self_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LEVELS = 5 };

typedef enum charges_kind {
    FEW,    /* in the corners of each level, where each weight shows alone, and some between */
    MANY,   /* at every node */
    CARRIES /* along y: a large one and its opposite, small ones between, all of weight 1 */
} charges_kind;

/* A hierarchy, all that a kernel makes of it, and what is right. */
typedef struct trial {
    const lattice_kernel *kernel;
    const char *name;
    charges_kind charges;
    lattice_layout layout;
    lattice_weights weights;
    float *charge, *potential; /* of all levels, in sub-cubes */
    reference_value *right;
} trial;

/* ---- Problems -------------------------------------------------------------------------------- */

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Two regions along each axis and a part of a third, or what has every weight in it; then half as
 * many nodes, and so few that periods are shorter than neighbourhoods. */
static int make_few(const lattice_kernel *k, bool slow, lattice_level *levels)
{
    const int64_t radius[3] = {k->choice.spec.rx, k->choice.spec.ry, k->choice.spec.rz}, part[3] = {3, 1, 5};
    int64_t region[3];
    lattice_level made[MOST_LEVELS] = {{.scale = 1},
                                       {.periodic = {true, false, true}, .scale = 0.5},
                                       {.n = {5, 3, 6}, .periodic = {true, true, true}, .scale = 0.25},
                                       {.n = {2, 7, 4}, .periodic = {false, true, false}, .scale = 0.125},
                                       {.n = {1, 1, 1}, .scale = 3}};
    tuning_lattice_region(&k->choice.spec, region);
    for (int axis = 0; axis < 3; axis++) {
        made[0].n[axis] = most((slow ? 1 : 2) * region[axis] + part[axis], radius[axis] + 2);
        made[1].n[axis] = made[0].n[axis] / 2 + 1;
    }
    memcpy(levels, made, sizeof made);
    return MOST_LEVELS;
}

static int make_many(lattice_level *levels)
{
    levels[0] = (lattice_level){.n = {17, 9, 18}, .scale = 1};
    levels[1] = (lattice_level){.n = {9, 4, 5}, .periodic = {false, true, true}, .scale = 0.5};
    return 2;
}

static int make_carries(const lattice_kernel *k, lattice_level *levels)
{
    levels[0] = (lattice_level){.n = {1, 2 * k->choice.spec.ry + 1, 1}, .scale = 1};
    return 1;
}

/* The node whose sum has the carries: of a window that slides, terms come from low to high, else
 * from near to far. */
static int64_t carried_y(const lattice_spec *s)
{
    return s->slide != LEY_SLIDE_NOT ? s->ry : 0;
}

static bool has_carries(const lattice_spec *s)
{
    return s->total != LEY_SPEC_SUM_FLOAT && s->ry >= (s->slide != LEY_SLIDE_NOT ? 2 * LEY_CUBE : LEY_CUBE);
}

/* A charge at node (x, y, z) of a level of n nodes. */
static double charge_of(const trial *t, const int64_t n[3], int64_t x, int64_t y, int64_t z, uint32_t *state)
{
    const lattice_spec *s = &t->kernel->choice.spec;
    const bool corner = (x == 0 || x == n[0] - 1) && (y == 0 || y == n[1] - 1) && (z == 0 || z == n[2] - 1);
    const double u = self_test_fraction(state), size = (u < 0.25 ? -1 : 1) * (0.5 + 0.5 * self_test_fraction(state));
    const double small = 5.6e-8 / (s->slide != LEY_SLIDE_NOT ? LEY_CUBE : 1); /* all of a part are added up first */
    switch (t->charges) {
    case FEW:
        return corner || self_test_fraction(state) < 8.0 / (double)(n[0] * n[1] * n[2]) ? size : 0;
    case MANY:
        return size;
    case CARRIES:
        break;
    }
    if (s->slide == LEY_SLIDE_NOT)
        return y == 0 ? 1 : y < s->ry ? small : y == s->ry ? -1 : 0;
    return y == 0 ? 1 : y == 2 * s->ry ? -1 : llabs(y - s->ry) <= s->ry - LEY_CUBE ? small : 0;
}

/* Behind a level's last node there is no number, which nobody may read. */
static void set_charges(const trial *t)
{
    uint32_t state = 2009;
    for (int64_t i = 0; i < t->layout.first_node[t->layout.count]; i++)
        t->charge[i] = NAN;
    for (int level = 0; level < t->layout.count; level++) {
        const int64_t *n = t->layout.levels[level].n;
        for (int64_t z = 0; z < n[2]; z++)
            for (int64_t y = 0; y < n[1]; y++)
                for (int64_t x = 0; x < n[0]; x++)
                    t->charge[lattice_layout_node(&t->layout, level, x, y, z)] =
                        (float)charge_of(t, n, x, y, z, &state);
    }
}

/* Within an ellipsoid, no two of the same size. */
static ley_status set_weights(trial *t, ley_error *error)
{
    const lattice_spec *s = &t->kernel->choice.spec;
    t->weights = (lattice_weights){.radius = {s->rx, s->ry, s->rz}, .mirrored = s->mirrored};
    const size_t count = lattice_weights_count(&t->weights);
    const size_t n_x = (size_t)LEY_ALONG(s->rx, s->mirrored), n_y = (size_t)LEY_ALONG(s->ry, s->mirrored);
    double *values = malloc(count * sizeof *values);
    uint32_t state = 1999;
    if (values == NULL)
        return ley_fail_memory(error, count * sizeof *values, "the self-test");
    for (size_t i = 0; i < count; i++) {
        const size_t at[3] = {i % n_x, i / n_x % n_y, i / n_x / n_y};
        double r2 = 0;
        for (int axis = 0; axis < 3; axis++) {
            const double d = (double)at[axis] - (s->mirrored ? 0 : t->weights.radius[axis]);
            r2 += pow(d / (t->weights.radius[axis] + 0.5), 2);
        }
        const double u = self_test_fraction(&state);
        values[i] = t->charges == CARRIES ? 1 : r2 < 1 ? (1.1 - r2) * (0.5 + u) : 0;
    }
    t->weights.values = values;
    return LEY_OK;
}

/* ---- Computing ------------------------------------------------------------------------------- */

/* In two launches where there are several levels, the second of all but the first level; many
 * charges in one. */
static ley_status compute(const trial *t, ley_error *error)
{
    lattice_resident d;
    const size_t bytes = (size_t)lattice_layout_bytes(&t->layout);
    const int first = t->charges == FEW ? 1 : t->layout.count;
    ley_status status = lattice_resident_create(&d, t->kernel, &t->layout, &t->weights, error);
    if (status == LEY_OK) {
        const buffer_of_float potentials = {d.potentials.buffer};
        sequence_begin(&d.command_sequence, &d.flight, NULL);
        sequence_poison(&d.command_sequence, &d.potentials, bytes);
        sequence_write(&d.command_sequence, d.charges.buffer, 0, t->charge, bytes);
        lattice_launch(&d.command_sequence, &d.tables, 0, first, d.weights, d.charges, potentials);
        if (first < t->layout.count)
            lattice_launch(&d.command_sequence, &d.tables, first, t->layout.count - first, d.weights, d.charges,
                           potentials);
        sequence_read(&d.command_sequence, d.potentials.buffer, 0, d.potentials.staging, bytes);
        status = sequence_finish(&d.command_sequence, error);
    }
    if (status == LEY_OK)
        memcpy(t->potential, d.potentials.staging->bytes, bytes);
    lattice_resident_end(&d);
    return status;
}

/* ---- Judging --------------------------------------------------------------------------------- */

/* What a compensation may lose where the large charge is taken away again, of the absolute terms:
 * half a digit of it, 3e-8, and less than the small charges are together. */
static const double carried = 4.5e-8;

/* Of the absolute terms: roundings of as many floats as a neighbourhood has nodes, which are added
 * one after the other, are as large as the root of their number. */
static double rounding(const lattice_spec *s)
{
    const double nodes = (2.0 * s->rx + 1) * (2.0 * s->ry + 1) * (2.0 * s->rz + 1);
    return fmax(SELF_TEST_FLOAT, 2.4e-8 * sqrt(nodes));
}

static ley_status judge_node(const trial *t, int level, int64_t x, int64_t y, int64_t z, ley_error *error)
{
    const bool is_carried = t->charges == CARRIES && y == carried_y(&t->kernel->choice.spec);
    const int64_t at = lattice_layout_node(&t->layout, level, x, y, z);
    const double value = (double)t->potential[at], right = t->right[at].value;
    const double terms = t->right[at].absolute, tolerance = is_carried ? carried : rounding(&t->kernel->choice.spec);
    if (terms > 0)
        self_test_note(fabs(value - right) / terms, tolerance, terms, value, right);
    if (fabs(value - right) <= tolerance * terms) /* no number is not */
        return LEY_OK;
    return ley_fail(error, LEY_ERROR_WRONG_RESULT,
                    "variant %s: %s: node (%lld, %lld, %lld) of level %d is %.9g, not %.9g: an error of %.3g of the "
                    "absolute terms, at most %.3g is right",
                    t->kernel->choice.variant, t->name, (long long)x, (long long)y, (long long)z, level, value, right,
                    fabs(value - right) / terms, tolerance);
}

static ley_status judge(const trial *t, ley_error *error)
{
    for (int level = 0; level < t->layout.count; level++) {
        const int64_t *n = t->layout.levels[level].n;
        for (int64_t z = 0; z < n[2]; z++)
            for (int64_t y = 0; y < n[1]; y++)
                for (int64_t x = 0; x < n[0]; x++) {
                    const ley_status status = judge_node(t, level, x, y, z, error);
                    if (status != LEY_OK)
                        return status;
                }
    }
    return LEY_OK;
}

static void end(trial *t)
{
    memory_free(t->weights.values);
    free(t->charge);
    free(t->potential);
    free(t->right);
}

static ley_status run(trial *t, const lattice_level *levels, int count, ley_error *error)
{
    ley_status status = lattice_layout_make(levels, count, &t->layout, error);
    if (status == LEY_OK)
        status = set_weights(t, error);
    if (status != LEY_OK)
        return status;
    const size_t nodes = (size_t)t->layout.first_node[count];
    t->charge = calloc(nodes, sizeof *t->charge);
    t->potential = calloc(nodes, sizeof *t->potential);
    t->right = calloc(nodes, sizeof *t->right);
    if (t->charge == NULL || t->potential == NULL || t->right == NULL)
        status = ley_fail_memory(error, nodes * (2 * sizeof(float) + sizeof *t->right), "the self-test");
    if (status == LEY_OK) {
        set_charges(t);
        lattice_reference(&t->layout, &t->weights, t->charge, t->right);
        status = compute(t, error);
    }
    if (status == LEY_OK)
        status = judge(t, error);
    end(t);
    return status;
}

ley_status lattice_self_test(const lattice_kernel *k, ley_error *error)
{
    const bool slow = (k->device->info->quirks & DEV_QUIRK_INTERPRETER) != 0;
    lattice_level levels[MOST_LEVELS];
    trial few = {.kernel = k, .name = "a few charges", .charges = FEW};
    trial many = {.kernel = k, .name = "many charges", .charges = MANY};
    trial carries = {.kernel = k, .name = "large and small charges", .charges = CARRIES};
    ley_status status = run(&few, levels, make_few(k, slow, levels), error);
    if (status == LEY_OK && !slow)
        status = run(&many, levels, make_many(levels), error);
    if (status == LEY_OK && has_carries(&k->choice.spec))
        status = run(&carries, levels, make_carries(k, levels), error);
    return status;
}
