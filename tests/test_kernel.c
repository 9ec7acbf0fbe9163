/* Kernels as objects: builds and launches are checked by the kernel's kind, and arguments are given
 * by name. What is left out, of another kernel, or of a wrong size is refused with a message that
 * names it; what is swapped does not compile. */
#include "support.h"

#include "build_cache.h"
#include "calibrate.h"
#include "clock.h"
#include "dev_kernel.h"
#include "device_list.h"
#include "error.h"
#include "fake_device.h"
#include "methods/cutoff/device_binning.h"
#include "methods/cutoff/kernel.h"
#include "methods/dcs/kernel.h"
#include "methods/mdh/kernel.h"
#include "methods/registry.h"
#include "schedule/job.h"
#include "source.h"
#include "watch.h"

#include <stdatomic.h>
#include <unistd.h>

/* Something to point to. */
static dev_buffer *any_buffer(int i)
{
    static char somewhere[8];
    return (dev_buffer *)(void *)&somewhere[i];
}

/* ---- Builds ---------------------------------------------------------------------------------- */

/* "-DLEY_X=1 " for each key of the kind but one, which has another value or is left out. */
static void write_options(const kernel_kind *kind, const char *odd, const char *value, char *options, size_t size)
{
    size_t used = 0;
    options[0] = '\0';
    for (const char *const *key = kind->keys; *key != NULL; key++)
        if (*key != odd || value != NULL)
            used += (size_t)snprintf(options + used, size - used, "-D%s=%s ", *key, *key == odd ? value : "1");
    assert_true(used < size);
}

/* Wherever it stands, the last one too: CUDA's constant memory was not filled where it did. */
static void test_options(void **state)
{
    static const char options[] = "-DLEY_SUM=0 -DLEY_TABLE=31 -DLEY_ROOT=1 -DLEY_TABLE=3";
    assert_true(kernel_has_option(options, "-DLEY_SUM=0"));
    assert_true(kernel_has_option(options, "-DLEY_ROOT=1"));
    assert_true(kernel_has_option(options, "-DLEY_TABLE=3"));
    assert_false(kernel_has_option(options, "-DLEY_TABLE=31 -DLEY_ROOT"));
    assert_false(kernel_has_option("-DLEY_TABLE=31", "-DLEY_TABLE=3"));
    assert_false(kernel_has_option("-DMY-DLEY_TABLE=3", "-DLEY_TABLE=3"));
    assert_false(kernel_has_option("", "-DLEY_TABLE=3"));
}

static void test_builds_are_checked(void **state)
{
    char options[1024] = "", expected[256];
    int ones[KERNEL_MOST_KEYS];
    for (int i = 0; i < KERNEL_MOST_KEYS; i++)
        ones[i] = 1;
    for (const kernel_kind *const *kind = kernel_registry; *kind != NULL; kind++) {
        ley_error error = {0};
        const dev_source source = {.kind = *kind, .spec = ones, .text = "", .options = options};
        assert_true(kernel_key_count(*kind) > 0 && kernel_key_count(*kind) <= KERNEL_MOST_KEYS);
        kernel_options(*kind, ones, options, sizeof options);
        assert_ok(kernel_check_build(&source, &error));
        for (const char *const *key = (*kind)->keys; *key != NULL; key++) {
            snprintf(expected, sizeof expected, "kernel %s is built without -D%s=1", (*kind)->name, *key);
            for (int i = 0; i < 3; i++) {
                write_options(*kind, *key, ((const char *[]){NULL, "2", "11"})[i], options, sizeof options);
                assert_error_is(kernel_check_build(&source, &error), LEY_ERROR_DEVICE, expected);
            }
        }
        ley_error_clear(&error);
    }
}

/* ---- Launches -------------------------------------------------------------------------------- */

static dev_argument right_argument(const kernel_argument *a, bool is_double)
{
    static const char bytes[16 * sizeof(double)];
    const size_t size = (size_t)a->scalars * (is_double ? 8 : 4) + (size_t)a->ints * 4;
    return a->kind == KERNEL_BUFFER ? dev_argument_buffer(any_buffer(0)) : dev_argument_bytes(bytes, size);
}

static void refuse(const kernel_kind *kind, bool is_double, const dev_launch *launch, const char *expected)
{
    ley_error error = {0};
    assert_error_is(kernel_check_launch(kind, is_double, launch, &error), LEY_ERROR_DEVICE, expected);
    ley_error_clear(&error);
}

/* In place of a right argument: none; a buffer where a value is; values of other sizes, in
 * particular of the other precision's. */
static void refuse_each_argument(const kernel_kind *kind, bool is_double, const dev_launch *launch,
                                 dev_argument *arguments)
{
    char expected[256];
    for (size_t i = 0; i < kind->argument_count; i++) {
        const kernel_argument *a = &kind->arguments[i];
        const dev_argument right = arguments[i], other = right_argument(a, !is_double);
        if (a->kind == KERNEL_BUFFER) {
            snprintf(expected, sizeof expected, "kernel %s: %s, a buffer of %s, is missing", kind->name, a->name,
                     a->type);
            arguments[i] = dev_argument_buffer(NULL);
            refuse(kind, is_double, launch, expected);
            arguments[i] = dev_argument_int(1);
            refuse(kind, is_double, launch, expected);
        } else {
            snprintf(expected, sizeof expected, "kernel %s: %s is one %s and was given a buffer", kind->name, a->name,
                     a->type);
            arguments[i] = dev_argument_buffer(any_buffer(0));
            refuse(kind, is_double, launch, expected);
            for (int wrong = a->scalars > 0 ? 0 : 1; wrong < 3; wrong++) {
                arguments[i] = right;
                arguments[i].size = wrong == 0 ? other.size : wrong == 1 ? 0 : right.size + 4;
                snprintf(expected, sizeof expected, "kernel %s: %s is one %s of %zu bytes and was given %zu",
                         kind->name, a->name, a->type, right.size, arguments[i].size);
                refuse(kind, is_double, launch, expected);
            }
        }
        arguments[i] = right;
    }
}

static void test_launches_are_checked(void **state)
{
    for (size_t k = 0; kernel_registry[k] != NULL; k++)
        for (int is_double = 0; is_double < 2; is_double++) {
            const kernel_kind *kind = kernel_registry[k];
            char expected[256];
            dev_argument arguments[KERNEL_MOST_ARGUMENTS + 1];
            ley_error error = {0};
            dev_launch launch = {.argument_count = kind->argument_count, .arguments = arguments};
            for (size_t i = 0; i <= kind->argument_count; i++)
                arguments[i] = right_argument(&kind->arguments[i < kind->argument_count ? i : 0], is_double);
            assert_ok(kernel_check_launch(kind, is_double, &launch, &error));
            refuse_each_argument(kind, is_double, &launch, arguments);
            for (int wrong = -1; wrong <= 1; wrong += 2) {
                launch.argument_count = kind->argument_count + (size_t)wrong;
                snprintf(expected, sizeof expected, "kernel %s takes %zu arguments and was given %zu", kind->name,
                         kind->argument_count, launch.argument_count);
                refuse(kind, is_double, &launch, expected);
            }
        }
}

/* ---- Specifications -------------------------------------------------------------------------- */

/* The one of a kind that has variants is among them. */
static void test_usual_variants(void **state)
{
    dev_info gpu = {.device_class = DEV_GPU}, cpu = {.device_class = DEV_CPU, .vector_width = 8};
    size_t kinds_with_variants = 0;
    for (const kernel_kind *const *kind = kernel_registry; *kind != NULL; kind++) {
        const char *name;
        assert_true(((*kind)->variant == NULL) == ((*kind)->usual == NULL));
        if ((*kind)->variant == NULL) {
            assert_null(kernel_variant(*kind, 0));
            continue;
        }
        kinds_with_variants++;
        for (int sum = LEY_SPEC_SUM_FLOAT; sum <= LEY_SPEC_SUM_DOUBLE; sum++) {
            int found = 0;
            for (size_t i = 0; (name = kernel_variant(*kind, i)) != NULL; i++)
                found +=
                    (strcmp(name, (*kind)->usual(&gpu, sum)) == 0) + (strcmp(name, (*kind)->usual(&cpu, sum)) == 0);
            assert_int_equal(found, 2);
        }
    }
    assert_true(kinds_with_variants >= 3);
}

/* Lists 200 specifications, each of them twice, in another order. */
static void list_twice(const dev_info *info, kernel_depth depth, kernel_visit *visit, void *context)
{
    for (int i = 0; i < 400; i++) {
        const kernel_dialect spec = {.sum = i % 2, .width = i * 3 % 200, .root = 7};
        char name[KERNEL_NAME];
        snprintf(name, sizeof name, "%d", i);
        visit(context, name, &spec);
    }
}

typedef struct counted {
    int calls, seen[2][200];
} counted;

static void count_spec(void *context, const char *name, const void *spec)
{
    counted *c = context;
    const kernel_dialect *s = spec;
    assert_int_equal(atoi(name), c->calls); /* its first name */
    assert_int_equal(s->root, 7);
    c->calls++;
    c->seen[s->sum][s->width]++;
}

static void test_specifications_come_once(void **state)
{
    counted c = {.calls = 0};
    kernel_kind kind = sum_parts_kind;
    dev_info info = {.device_class = DEV_GPU};
    kind.specs = list_twice;
    kernel_specs(&kind, &info, KERNEL_FEW, count_spec, &c);
    assert_int_equal(c.calls, 200);
    for (int i = 0; i < 200; i++)
        assert_int_equal(c.seen[0][i] + c.seen[1][i], 1);
}

static void note_spec(void *context, const char *name, const void *spec)
{
    const kernel_dialect *s = spec;
    assert_string_equal(name, "sum_parts");
    assert_true(s->sum == LEY_SPEC_SUM_FLOAT && s->width == 1 && s->root == LEY_ROOT_STANDARD);
    ++*(int *)context;
}

/* A kernel that has no more keys than the dialect needs no list of specifications. */
static void test_a_specification_for_all(void **state)
{
    int calls = 0;
    kernel_kind kind = sum_parts_kind, other = dcs_kind;
    const dev_info info = {.device_class = DEV_GPU};
    kind.specs = other.specs = NULL;
    kernel_specs(&kind, &info, KERNEL_FEW, note_spec, &calls);
    assert_int_equal(calls, 1);
    kernel_specs(&other, &info, KERNEL_FEW, note_spec, &calls);
    assert_int_equal(calls, 1);
}

/* ---- Arguments by name ----------------------------------------------------------------------- */

/* Each named argument comes to its own place, in the kernel's precision. */
static void test_arguments_are_packed(void **state)
{
    const double origin[4] = {0.1, 2, 3, 4};
    const link_atoms_arguments a = {.kind = &link_atoms_kind,
                                    .gm_records = {any_buffer(1)},
                                    .gm_position = {any_buffer(2)},
                                    .gm_head = {any_buffer(3)},
                                    .n = {5, 6, 7, -8},
                                    .n_atoms = 9,
                                    .origin = {0.1, 2, 3, 4},
                                    .zero = {10, 11, 12, 1e-3}};
    const size_t count = link_atoms_kind.argument_count;
    for (int is_double = 0; is_double < 2; is_double++) {
        dev_argument packed[KERNEL_MOST_ARGUMENTS];
        link_atoms_kind.pack(&a, is_double, packed);
        for (size_t i = 0; i < count; i++) {
            const kernel_argument *row = &link_atoms_kind.arguments[i];
            const dev_buffer *buffer = strcmp(row->name, "gm_records") == 0    ? any_buffer(1)
                                       : strcmp(row->name, "gm_position") == 0 ? any_buffer(2)
                                       : strcmp(row->name, "gm_head") == 0     ? any_buffer(3)
                                                                               : NULL;
            assert_ptr_equal(packed[i].buffer, buffer);
            if (row->kind != KERNEL_BUFFER)
                assert_int_equal(packed[i].size, row->ints * 4 + row->scalars * (is_double ? 8 : 4));
            for (int j = 0; strcmp(row->name, "origin") == 0 && j < 4; j++) {
                const float rounded = (float)origin[j];
                assert_memory_equal(packed[i].value + j * (is_double ? 8 : 4),
                                    is_double ? (const void *)&origin[j] : &rounded, is_double ? 8 : 4);
            }
            if (strcmp(row->name, "n") == 0)
                assert_memory_equal(packed[i].value, ((const int32_t[]){5, 6, 7, -8}), 16);
            if (strcmp(row->name, "n_atoms") == 0)
                assert_memory_equal(packed[i].value, &(const int32_t){9}, 4);
        }
    }
    const dev_argument narrow = kernel_pack_scalar(0.1, false), wide = kernel_pack_scalar(0.1, true);
    assert_true(narrow.size == 4 && memcmp(narrow.value, &(const float){0.1f}, 4) == 0);
    assert_true(wide.size == 8 && memcmp(wide.value, &(const double){0.1}, 8) == 0);
}

static ley_status passes(const dev_kernel *built, void *context, ley_error *error)
{
    return LEY_OK;
}

static void expect_refused(const dev_kernel *kernel, const void *arguments, const char *expected)
{
    const size_t groups[3] = {1, 1, 1};
    ley_error error = {0};
    dev_event *done = NULL;
    assert_error_is(kernel_launch(kernel, groups, arguments, &done, &error), LEY_ERROR_DEVICE, expected);
    assert_null(done);
    ley_error_clear(&error);
}

/* Through the device interface: with all of its arguments a kernel runs; without one, or with
 * another kernel's, it does not. */
static void test_launches_by_name(void **state)
{
    static const dcs_spec spec = {.wg_x = 1, .wg_y = 1, .width = 1, .ux = 1, .uy = 1, .atoms = LEY_ATOMS_CONSTANT};
    fake_plan plan = {.name = "By name"};
    dev_list list;
    dev *device = NULL;
    dev_kernel kernel;
    dev_event *done = NULL;
    ley_error error = {0};
    buffer_of_stored_atom atoms = {NULL};
    buffer_of_real phi = {NULL};
    const size_t groups[3] = {1, 1, 1};
    const float atom[4] = {3, 4, 0, 10};
    setenv("LEYDEN_CACHE_DIR", support_directory(), 1);
    fake_devices_begin(&plan, 1);
    assert_ok(dev_list_create(&list, &error));
    const dev_backend *b = list.infos[0].backend;
    assert_ok(b->open(&list.infos[0], &device, &error));
    kernel_kind kind = dcs_kind;
    kind.test = passes;
    assert_ok(kernel_create(device, &kind, &spec, NULL, NULL, &kernel, &error));
    kernel_destroy(&kernel);
    kernel_create(device, &dcs_kind, &spec, NULL, NULL, &kernel, NULL); /* from the cache: the same text and options */
    assert_true(kernel.from_cache && kernel.kind == &dcs_kind);
    assert_ok(b->buffer_create(device, sizeof atom, DEV_READ_ONLY, &atoms.buffer, &error));
    assert_ok(b->buffer_create(device, sizeof(float), DEV_READ_WRITE, &phi.buffer, &error));
    assert_ok(b->write(device, atoms.buffer, 0, atom, sizeof atom, &error));
    assert_ok(kernel_launch(&kernel, groups,
                            KERNEL_ARGUMENTS(dcs, .gm_phi = phi, .n_atoms = 1, .step = {1, 1, 1, 1}, .gm_atoms = atoms),
                            &done, &error));
    assert_ok(b->wait(device, done, NULL, &error));
    expect_refused(&kernel, KERNEL_ARGUMENTS(dcs, .gm_atoms = atoms, .n_atoms = 1),
                   "kernel dcs: gm_phi, a buffer of real, is missing");
    expect_refused(&kernel, KERNEL_ARGUMENTS(dcs, .gm_phi = phi, .n_atoms = 1),
                   "kernel dcs: gm_atoms, a buffer of stored_atom, is missing");
    expect_refused(&kernel, KERNEL_ARGUMENTS(mdh, .n_atoms = 1), "kernel dcs was given the arguments of mdh");
    expect_refused(&kernel, &(dcs_arguments){.gm_atoms = atoms, .gm_phi = phi},
                   "kernel dcs was given the arguments of none");
    b->buffer_destroy(device, atoms.buffer);
    b->buffer_destroy(device, phi.buffer);
    kernel_destroy(&kernel);
    b->close(device);
    assert_int_equal(plan.live_objects, 0);
    dev_list_clear(&list);
    fake_devices_end();
}

/* ---- Swapped --------------------------------------------------------------------------------- */

/* Whether a compiler takes these initializers of cutoff's arguments. */
static bool compiles(const char *initializers)
{
    char path[512], command[2048];
    const char *compiler = getenv("CC");
    snprintf(path, sizeof path, "%s/swapped.c", support_directory());
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file,
            "#include \"methods/cutoff/kernel.h\"\n"
            "cutoff_arguments f(const cutoff_kernel *k);\n"
            "cutoff_arguments f(const cutoff_kernel *k)\n"
            "{\n"
            "    return (cutoff_arguments){.kind = &cutoff_kind, %s};\n"
            "}\n",
            initializers);
    assert_int_equal(fclose(file), 0);
    snprintf(command, sizeof command,
             "%s -std=c11 -Werror=missing-braces -Iplatform -Ihost -Icl -fsyntax-only '%s' 2>'%s.log'",
             compiler != NULL && compiler[0] != '\0' ? compiler : "cc", path, path);
    return system(command) == 0;
}

/* Buffers of other elements in each other's place, and one that does not say what it is of. */
static void test_swaps_do_not_compile(void **state)
{
    assert_true(compiles(".gm_table = k->table, .gm_homes = k->homes, .gm_slots = k->slots, .gm_more = k->more"));
    assert_false(compiles(".gm_table = k->homes, .gm_homes = k->table"));
    assert_false(compiles(".gm_slots = k->more, .gm_more = k->slots"));
    assert_false(compiles(".gm_extra = k->table"));
    assert_false(compiles(".gm_table = k->table.buffer"));
    assert_false(compiles(".n_table = k->table"));
    assert_false(compiles(".no_such_argument = 1"));
}

/* ---- Recipes --------------------------------------------------------------------------------- */

static int check_refined_root(const char *selector, const ley_device_info *described)
{
    ley_engine *engine = NULL;
    ley_error error = {0};
    calibration c;
    if (!support_open(selector, described->name, &engine))
        return 0;
    dev *device = engine->workers[0].device; /* its worker thread sleeps meanwhile */
    const dev_info *own = device->info;
    dev_info info = *own;
    info.quirks |= DEV_QUIRK_ROUGH_ROOT;
    const bool is_asked = strcmp(info.backend->source_suffix, "cl") == 0 && (info.quirks & DEV_QUIRK_INTERPRETER) == 0;
    device->info = &info;
    if (is_asked) {
        assert_ok(calibrate_measure(device, CALIBRATE_ROOT(LEY_ROOT_REFINED), &c, &error));
        print_message("%s: refined roots are off by %.2g\n", info.name, c.root_error[LEY_ROOT_REFINED]);
        assert_true(c.root_error[LEY_ROOT_REFINED] <= CALIBRATE_FINEST);
    }
    device->info = own;
    ley_engine_destroy(engine);
    return is_asked ? 1 : 0;
}

/* One step of Newton's makes native roots right to the last digits, whatever device has them: also
 * where nobody would take the recipe because they are right, or no faster, themselves. */
static void test_refined_roots(void **state)
{
    const int asked = support_on_each_device(check_refined_root);
    if (asked == 0)
        skip();
}

/* ---- Kept ------------------------------------------------------------------------------------ */

static int tests_run, failing_tests;

static ley_status count_test(const dev_kernel *built, void *context, ley_error *error)
{
    assert_non_null(built->program);
    tests_run++;
    return context != NULL || (failing_tests > 0 && failing_tests-- > 0)
               ? ley_fail(error, LEY_ERROR_WRONG_RESULT, "wrong")
               : LEY_OK;
}

/* A kernel is tested once, when it is built; one that fails is neither used nor kept; a foreign
 * binary is rebuilt; one that is distrusted is tested again; and what has no test is not kept. */
static void test_kernels_are_tested_before_they_are_kept(void **state)
{
    support_fresh_cache();
    static const dcs_spec spec = {.wg_x = 1, .wg_y = 1, .ux = 1};
    fake_plan plan = {.name = "P"};
    kernel_kind kind = dcs_kind;
    dev_list list;
    dev *device = NULL;
    dev_kernel kernel, second;
    char *text = NULL, options[KERNEL_OPTIONS];
    kind.test = count_test;
    fake_devices_begin(&plan, 1);
    assert_int_equal(dev_list_create(&list, NULL), LEY_OK);
    assert_int_equal(list.infos[0].backend->open(&list.infos[0], &device, NULL), LEY_OK);
    tests_run = 0;
    ley_error error = {0};
    assert_error_is(kernel_create(device, &kind, &spec, NULL, &plan, &kernel, &error), LEY_ERROR_WRONG_RESULT,
                    "self-test of dcs failed on P: wrong");
    assert_null(kernel.program);
    assert_int_equal(plan.live_objects, 0);
    assert_int_equal(plan.binaries, 0);
    assert_ok((ley_error_clear(&error), kernel_create(device, &kind, &spec, NULL, NULL, &kernel, &error)));
    assert_false(kernel.from_cache);
    assert_int_equal(tests_run, 2);
    kernel_destroy(&kernel);
    kernel_destroy(&kernel); /* nothing is left of it */
    assert_ok(kernel_create(device, &kind, &spec, NULL, NULL, &kernel, &error));
    assert_true(kernel.from_cache);
    assert_int_equal(tests_run, 2);
    assert_int_equal(plan.live_programs, 1); /* the device had kept it */
    assert_int_equal(kernel_create(device, &kind, &spec, NULL, NULL, &second, &error), LEY_OK);
    assert_true(second.from_cache && second.program != kernel.program);
    assert_int_equal(plan.live_programs, 2);
    kernels_distrust(device); /* neither of them is used again; what is on disk is tested before */
    kernel_destroy(&kernel);
    kernel_destroy(&second);
    assert_int_equal(plan.live_objects, 0);
    tests_run = 0;
    assert_ok(kernel_create(device, &kind, &spec, NULL, NULL, &kernel, &error));
    assert_true(kernel.from_cache);
    assert_int_equal(tests_run, 1);
    assert_ok(kernel_create(device, &kind, &spec, NULL, NULL, &second, &error)); /* it is suspect no more */
    assert_true(second.from_cache);
    assert_int_equal(tests_run, 1);
    kernels_distrust(device);
    kernel_destroy(&kernel);
    kernel_destroy(&second);
    failing_tests = 1; /* now it fails its test: a new one is built, which passes */
    assert_ok(kernel_create(device, &kind, &spec, NULL, NULL, &kernel, &error));
    assert_false(kernel.from_cache);
    assert_int_equal(tests_run, 3);
    assert_ok(kernel_create(device, &kind, &spec, NULL, NULL, &second, &error)); /* and takes its place */
    assert_true(second.from_cache);
    assert_int_equal(tests_run, 3);
    kernels_distrust(device);
    kernel_destroy(&kernel);
    kernel_destroy(&second);
    failing_tests = 2; /* a device that has gone wrong fails the new one's test, too */
    assert_int_equal(kernel_create(device, &kind, &spec, NULL, NULL, &kernel, &error), LEY_ERROR_WRONG_RESULT);
    assert_ok((ley_error_clear(&error), kernel_create(device, &kind, &spec, NULL, NULL, &kernel, &error)));
    assert_false(kernel.from_cache);
    kernels_distrust(device);
    kernel_destroy(&kernel);
    assert_ok(source_load("dcs", "cl", &text, &error)); /* a whole entry, but no binary of this driver */
    kernel_options(&kind, &spec, options, sizeof options);
    const cache_key key = cache_key_make(device->info, "kernel", text, options);
    cache_put(&key, "alien", 5);
    assert_ok(kernel_create(device, &kind, &spec, NULL, NULL, &kernel, &error));
    assert_false(kernel.from_cache);
    kernel_destroy(&kernel);
    const int kept = plan.binaries;
    kind.test = NULL;
    for (int i = 0; i < 2; i++) {
        assert_ok(kernel_create(device, &kind, &spec, "/* other */", NULL, &kernel, &error));
        assert_false(kernel.from_cache);
        kernel_destroy(&kernel);
    }
    assert_int_equal(plan.binaries, kept);
    kernels_distrust(device);
    assert_int_equal(plan.live_objects, 0);
    free(text);
    device->backend->close(device);
    dev_list_clear(&list);
    fake_devices_end();
}

/* ---- Ahead of their use ---------------------------------------------------------------------- */

/* While a thread notes kernels down, none is made; what is built ahead is tested when it is asked
 * for, and only then kept. */
static void test_built_ahead(void **state)
{
    support_fresh_cache();
    static const dcs_spec spec[2] = {{.wg_x = 1, .wg_y = 1, .ux = 1}, {.wg_x = 1, .wg_y = 1, .ux = 2}};
    fake_plan plan = {.name = "Ahead"};
    kernel_kind kind = dcs_kind;
    kernel_wishes wishes = {.count = 0};
    dev_list list;
    dev *device = NULL;
    dev_kernel kernel;
    ley_error error = {0};
    kind.test = count_test;
    fake_devices_begin(&plan, 1);
    assert_ok(dev_list_create(&list, NULL));
    assert_ok(list.infos[0].backend->open(&list.infos[0], &device, NULL));
    tests_run = 0;
    kernels_note(&wishes);
    for (int i = 0; i < 2; i++) {
        assert_ok(kernel_create(device, &kind, &spec[i], NULL, NULL, &kernel, &error));
        assert_null(kernel.program);
        kernel_destroy(&kernel);
    }
    kernels_note(NULL);
    assert_int_equal(wishes.count, 2);
    assert_int_equal(plan.live_programs, 0);
    kernels_build_ahead(device, &wishes);
    assert_int_equal(plan.live_programs, 2);
    assert_int_equal(tests_run, 0);
    kernels_build_ahead(device, &wishes); /* they are there */
    assert_int_equal(plan.live_programs, 2);
    assert_int_equal(plan.binaries, 0);
    for (int again = 0; again < 2; again++)
        for (int i = 0; i < 2; i++) {
            assert_ok(kernel_create(device, &kind, &spec[i], NULL, NULL, &kernel, &error));
            assert_int_equal(kernel.from_cache, again == 1);
            kernel_destroy(&kernel);
        }
    assert_int_equal(plan.live_programs, 2);
    assert_int_equal(plan.binaries, 2);
    assert_int_equal(tests_run, 2);
    kernels_distrust(device); /* the device keeps none; the cache does */
    kernels_build_ahead(device, &wishes);
    assert_int_equal(plan.live_objects, 0);
    device->backend->close(device);
    dev_list_clear(&list);
    fake_devices_end();
}

/* A driver that compiles one kernel at a time is given a process for each; what comes back is the
 * kernel, which passes its own test. What fails there fails again when it is asked for, and says
 * why. */
static void test_built_apart(void **state)
{
    support_fresh_cache();
    ley_error error = {0};
    dev_list list;
    dev *device = NULL;
    size_t at = 0;
    assert_ok(dev_list_create(&list, &error));
    while (at < list.count && !(list.infos[at].quirks & DEV_QUIRK_ONE_COMPILER))
        at++;
    if (at == list.count) {
        dev_list_clear(&list);
        skip();
    }
    assert_ok(list.infos[at].backend->open(&list.infos[at], &device, &error));
    kernel_wishes wishes = {.count = 0};
    device_binning binning;
    kernels_note(&wishes);
    device_binning_create(device, &binning);
    kernels_note(NULL);
    assert_int_equal(wishes.count, 2);
    kernels_build_ahead(device, &wishes);
    assert_int_equal(device->programs.count, support_is_sanitized ? 0 : 2);
    for (size_t i = 0; i < device->programs.count; i++)
        assert_true(device->programs.list[i].build_s > 0);
    device_binning_create(device, &binning);
    assert_true(binning.works);
    assert_false(binning.fill.from_cache || binning.link.from_cache);
    device_binning_destroy(&binning);
    device_binning_create(device, &binning); /* each is tested once */
    assert_true(binning.works && binning.fill.from_cache && binning.link.from_cache);
    device_binning_destroy(&binning);
    for (size_t i = 0; i < 2; i++)
        wishes.list[i].prelude = "#error on purpose";
    kernels_build_ahead(device, &wishes);
    assert_int_equal(device->programs.count, 2);
    dev_kernel kernel;
    assert_int_equal(
        kernel_create(device, wishes.list[0].kind, wishes.list[0].spec, wishes.list[0].prelude, NULL, &kernel, &error),
        LEY_ERROR_DEVICE);
    assert_non_null(error.log);
    assert_non_null(strstr(error.log, "on purpose"));
    ley_error_clear(&error);
    device->backend->close(device);
    dev_list_clear(&list);
}

/* ---- Children that hang ---------------------------------------------------------------------- */

/* As one does that was begun while a thread held a lock which it needs. */
static bool children_hang;
static atomic_int children;

static void hang(void)
{
    if (children_hang)
        sleep(60);
}

static void count_child(void)
{
    children++;
}

static void keep_warning(void *context, ley_log_level level, const char *message)
{
    snprintf(context, 512, "%s", message);
}

/* Its values are verified. */
static void run_long_range(ley_engine *engine)
{
    const ley_grid grid = {.step_A = LEY_STEPS(2, 2, 2), .n = {8, 8, 8}};
    ley_error error = {0};
    ley_atoms *atoms = support_atoms(200, 0, 16, 7);
    ley_job *job = NULL;
    ley_long_range range = support_default_long_range();
    ley_run_options options = support_default_run_options();
    ley_map *map = support_make_map(&grid);
    assert_ok(ley_job_create_long_range(engine, atoms, (ley_target){.map = map}, &range, &options, &job, &error));
    assert_ok(ley_job_run(job, &error));
    assert_true(ley_job_report(job)->accuracy.passed);
    ley_job_destroy(job);
    ley_map_destroy(map);
    ley_atoms_destroy(atoms);
}

/* They are ended, it is said, and no others begin; the job builds its kernels itself. */
static void test_children_that_hang(void **state)
{
    const watch_patience impatient = {.open_s = 120,
                                      .build_s = 600,
                                      .apart_s = 0.5,
                                      .close_s = 10,
                                      .first_s = 300,
                                      .work_s = 30,
                                      .factor = 50,
                                      .over_s = 2,
                                      .turn_s = 2,
                                      .choose_s = 60};
    if (support_is_sanitized) /* there are no such children */
        skip();
    assert_int_equal(pthread_atfork(NULL, count_child, hang), 0);
    for (int again = 0; again < 2; again++) {
        ley_engine *engine = NULL;
        char said[512] = "";
        support_fresh_cache();
        if (!support_open("pthread", "PoCL", &engine))
            skip();
        children = 0;
        children_hang = true;
        watch_patience_replace(&impatient);
        ley_log_set(keep_warning, said, LEY_LOG_WARNING);
        const double start_s = ley_clock_s();
        run_long_range(engine);
        const double took_s = ley_clock_s() - start_s;
        ley_log_set(NULL, NULL, LEY_LOG_WARNING);
        children_hang = false;
        watch_patience_replace(NULL);
        assert_true(took_s < 30);
        assert_int_equal(children > 0, !again);
        assert_int_equal(strstr(said, "a child process did not end that was to build a kernel") != NULL, !again);
        ley_engine_destroy(engine);
    }
}

int main(void)
{
    return RUN_TESTS(test_options, test_builds_are_checked, test_launches_are_checked, test_arguments_are_packed,
                     test_launches_by_name, test_swaps_do_not_compile, test_usual_variants,
                     test_specifications_come_once, test_a_specification_for_all, test_refined_roots,
                     test_kernels_are_tested_before_they_are_kept, test_built_ahead, test_built_apart,
                     test_children_that_hang);
}
