/* Faults that are planted in the kernels for ions: each is found, by the self-test or by what is
 * checked in every run, and the host places the ions where they belong. And several devices. */
#include "support.h"

#include "engine/engine.h"

static const ley_ion_species salt[] = {{"NA", 1, 1.4, 6}, {"CL", -1, 2.2, 6}};

static ley_atoms *atoms;
static ley_ions *right; /* by the host */

static ley_ions *place(ley_engine *engine, ley_place where)
{
    ley_error error = {0};
    ley_request request = support_default_request();
    ley_ions_options o;
    ley_ions *ions;
    ley_ions_options_default(&o);
    o.species = salt;
    o.species_count = 2;
    o.placing = where;
    o.between_A = 6;
    request.method = "dcs";
    request.grid.given = LEY_GIVEN_SPACING;
    request.grid.spacing_A[0] = request.grid.spacing_A[1] = request.grid.spacing_A[2] = 1;
    assert_ok(ley_ions_place(engine, atoms, &request, &o, &ions, &error));
    return ions;
}

static int begin(void **state)
{
    atoms = support_atoms(80, 0, 20, 17);
    right = place(NULL, LEY_PLACE_HOST);
    return 0;
}

static int end(void **state)
{
    ley_ions_destroy(right);
    ley_atoms_destroy(atoms);
    return 0;
}

static void assert_right(const ley_ions *ions)
{
    assert_int_equal(ley_ions_count(ions), ley_ions_count(right));
    for (int64_t i = 0; i < ley_ions_count(ions); i++) {
        assert_memory_equal(ley_ions_get(ions, i)->node, ley_ions_get(right, i)->node, sizeof(int64_t[3]));
        assert_true(ley_ions_get(ions, i)->energy == ley_ions_get(right, i)->energy);
    }
}

typedef struct fault {
    const char *kernel, *from, *to;
} fault;

/* What self-tests find, and then what they cannot, as it is beyond the size of their problems. */
static const fault faults[] = {
    {"ions_mask", "(int)ceil(middle - half_row)", "(int)ceil(middle - half_row) + 1"},
    {"ions_mask", "metric.s1 * dz * dz", "dz * dz"},
    {"ions_nodes", "number > numbers.y", "number >= numbers.y + 9"},
    {"ions_nodes", "LEY_INT4(brick, at,", "LEY_INT4(brick, at ^ 1,"},
    {"ions_mask", "first_brick + (int)LEY_GROUP_ID(0)", "(int)LEY_GROUP_ID(0)"},
    {"ions_mask", "j <= high_y", "j < high_y"},
    {"ions_mask", "(2 << last)", "(1 << last)"},
    {"ions_bricks", "(float)tag", "0.0f"},
    {"ions_nodes", "brick / bricks.x % bricks.y", "brick / bricks.x % bricks.x"},
    {"ions_nodes", "number > numbers.y", "number >= numbers.y"},
    {"ions_nodes", "place < numbers.z", "place < numbers.z - 1"},
    {"ions_nodes", "place < numbers.z", "place <= numbers.z"},
    {"ions_bricks", "first_work + (int)LEY_GROUP_ID(0)", "first_work + (int)LEY_GROUP_ID(0) / 2"},
    {"ions_mask", "i < last &&", "i < last && i < 40 &&"},
    {"ions_nodes", "if (!(factor * value <= limit))", "if (!(factor * value <= limit) || at % 2 == brick % 2)"},
};

static const fault of_groups[] = {
    {"ions_bricks", "e->next_least = e->least;", "e->next_least = e->next_least;"},
    {"ions_bricks", "-smaller(-e->next_most,", "-smaller(e->next_most,"},
    {"ions_bricks", "(value == e->least && at < e->at_least)", "(value == e->least && at > e->at_least)"},
    {"ions_bricks", "? NOTHING : values[k] + change", "? values[k] : values[k] + change"},
    {"ions_bricks", "i < count; i++)", "i < count && begin + i < 140; i++)"},
    {"ions_bricks", "gm_effects[2 * begin + item]", "gm_effects[2 * work.y + item]"},
    {"ions_bricks", "d2 > 0.25f ? d2 : 0.25f", "d2"},
};

static const fault of_vectors[] = {
    {"ions_bricks", "fmax(e.least, lanes[k])", "(float)INFINITE"},
    {"ions_bricks", "next_most = select(next_most, lower,", "next_most = select(next_most, next_most,"},
    {"ions_bricks", "at + 1 < NODES && gm_values[at] != value", "at + 1 < NODES && !(gm_values[at] >= value)"},
    {"ions_bricks", "select(value + change, (real)NOTHING", "select(value + change, value"},
    {"ions_bricks", "i < work.z; i++)", "i < work.z && i < 5; i++)"},
    {"ions_bricks", "next_least = select(next_least, upper,", "next_least = select(next_least, next_least,"},
    {"ions_bricks", "fmax(d2, (real)0.25f)", "d2"},
};

static void try_fault(const fault *f)
{
    ley_error error = {0};
    ley_engine *engine;
    support_fresh_cache();
    support_plant_fault(f->kernel, f->from, f->to);
    assert_ok(ley_engine_create("opencl:0", &engine, &error));
    ley_ions *ions = place(engine, LEY_PLACE_DEVICE);
    assert_string_equal(ley_ions_how(ions)->device, "host");
    assert_right(ions);
    ley_ions_destroy(ions);
    ley_engine_destroy(engine);
    unsetenv("LEYDEN_KERNEL_DIR");
}

static void test_planted_faults(void **state)
{
    ley_error error = {0};
    ley_engine *engine;
    if (ley_engine_create("opencl:0", &engine, &error) != LEY_OK)
        skip();
    const bool has_vectors = support_has_vectors(engine);
    ley_ions *ions = place(engine, LEY_PLACE_DEVICE); /* without a fault the device does it */
    assert_string_not_equal(ley_ions_how(ions)->device, "host");
    ley_ions_destroy(ions);
    ley_engine_destroy(engine);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        try_fault(&faults[i]);
    for (size_t i = 0; i < sizeof of_groups / sizeof *of_groups; i++)
        try_fault(has_vectors ? &of_vectors[i] : &of_groups[i]);
}

/* Two devices: one places, both compute the potential. */
static void test_two_devices(void **state)
{
    ley_error error = {0};
    ley_engine *engine;
    support_fresh_cache();
    if (ley_engine_create("all", &engine, &error) != LEY_OK)
        skip();
    assert_int_equal(ley_engine_device_count(engine), 2);
    ley_ions *ions = place(engine, LEY_PLACE_DEVICE);
    assert_string_not_equal(ley_ions_how(ions)->device, "host");
    assert_right(ions);
    ley_ions_destroy(ions);

    /* Without the first one the second does it. */
    dev *lost = engine->workers[0].device;
    engine->workers[0].device = NULL;
    ions = place(engine, LEY_PLACE_DEVICE);
    assert_string_not_equal(ley_ions_how(ions)->device, "host");
    assert_right(ions);
    ley_ions_destroy(ions);
    engine->workers[0].device = lost;
    ley_engine_destroy(engine);
}

int main(void)
{
    support_pocl_alone("pthread pthread");
    return RUN_GROUP(SUPPORT_GROUP(.name = "faults", .begin = begin, .end = end), test_planted_faults,
                     test_two_devices);
}
