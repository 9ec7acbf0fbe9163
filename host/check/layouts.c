/* Types and structs that host and device share: how large they are, where fields lie, and what
 * arrives of a launch's arguments. */
#include "check/internal.h"

#include <stddef.h>
#include <string.h>

/* The host's own, of floats. */
typedef struct host_placed {
    float offset[4];
    int32_t cell[4];
} host_placed;

typedef struct host_placed_double {
    double offset[4];
    int32_t cell[4];
} host_placed_double;

#define FIELD_OF_STRUCT(field) int32_t field;
typedef struct host_segment {
    LEY_SEGMENT_FIELDS(FIELD_OF_STRUCT)
} host_segment;
typedef struct host_level {
    LEY_LEVEL_FIELDS(FIELD_OF_STRUCT)
} host_level;

/* clang-format off */
#define SEGMENT_OFFSET(field) {"segment." #field, (int)offsetof(host_segment, field)},
#define LEVEL_OFFSET(field) {"level." #field, (int)offsetof(host_level, field)},
/* clang-format on */

typedef struct expected {
    const char *what;
    int right;
} expected;

enum { SIZES = 64, VALUES = 21, INTS = 4, NUMBER = 1000003 };
static const int32_t ints[INTS] = {-7, 1 << 30, 3, -2000000000};
static const float vector_row[4] = {1.5f, -2.25f, 3.125f, 1e-20f};

typedef struct struct_case {
    bool is_double, has_values; /* looks at what arrives of arguments, or at sizes, */
    bool is_echo;               /* or at the number that the build was given */
    int echo;
} struct_case;

/* In the order in which the kernel writes; returns how many. */
static size_t expect(const struct_case *c, expected all[SIZES])
{
    const int scalar = c->is_double ? (int)sizeof(double) : (int)sizeof(float);
    const expected sizes[] = {
        {"LEY_ECHO", c->echo},
        {"scalar", scalar},
        {"real", scalar},
        {"atom", 4 * scalar},
        {"sixteen", 16 * scalar},
        {"int2", 8},
        {"int4", 16},
        {"float2", 8},
        {"float4", 16},
        {"placed", c->is_double ? (int)(sizeof(host_placed_double) + 31) / 32 * 32 : (int)sizeof(host_placed)},
        {"placed.cell", c->is_double ? (int)offsetof(host_placed_double, cell) : (int)offsetof(host_placed, cell)},
        {"segment", (int)sizeof(host_segment)},
        {"level", (int)sizeof(host_level)},
        LEY_SEGMENT_FIELDS(SEGMENT_OFFSET) LEY_LEVEL_FIELDS(LEVEL_OFFSET){"number", NUMBER},
        {"ints.x", ints[0]},
        {"ints.y", ints[1]},
        {"ints.z", ints[2]},
        {"ints.w", ints[3]},
    };
    const size_t count = sizeof sizes / sizeof *sizes;
    memcpy(all, sizes, sizeof sizes);
    for (size_t i = 0; i < 4; i++) {
        static const char *const names[] = {"gm_row[0].x", "gm_row[0].y", "gm_row[0].z", "gm_row[0].w"};
        int32_t bits;
        memcpy(&bits, &vector_row[i], sizeof bits);
        all[count + i] = (expected){names[i], bits};
    }
    return count + 4;
}

static double value_at(size_t i)
{
    return (i % 2 == 0 ? 1 : -1) * (0.125 + (double)i);
}

/* Arguments stand behind sizes and offsets. */
static ley_status judge_sizes(const struct_case *c, const int32_t *found, check_finding *f, ley_error *error)
{
    expected all[SIZES];
    const size_t count = expect(c, all), arguments = count - INTS - 5;
    for (size_t i = c->has_values ? arguments
                    : c->is_echo  ? 0
                                  : 1;
         i < (c->has_values ? count
              : c->is_echo  ? 1
                            : arguments);
         i++)
        if (found[i] != all[i].right)
            return check_wrong(f, found[i], all[i].right, error, "%s%s is %d, not %d on the host",
                               c->has_values || i == 0            ? ""
                               : strchr(all[i].what, '.') != NULL ? "the place of "
                                                                  : "the size of ",
                               all[i].what, (int)found[i], all[i].right);
    return LEY_OK;
}

static ley_status judge_values(const struct_case *c, const void *found, check_finding *f, ley_error *error)
{
    for (size_t i = 0; i < VALUES && c->has_values; i++) {
        const double value = c->is_double ? ((const double *)found)[i] : (double)((const float *)found)[i];
        if (value != value_at(i))
            return check_wrong(f, value, value_at(i), error, "number %zu of %s arrives as %g, not %g",
                               i < 1   ? i
                               : i < 5 ? i - 1
                                       : i - 5,
                               i < 1   ? "one value"
                               : i < 5 ? "a vector of 4"
                                       : "a vector of 16",
                               value, value_at(i));
    }
    return LEY_OK;
}

static void launch(check_bench *b, const dev_kernel *kernel, dev_buffer *in, const results *sizes,
                   const results *values)
{
    structs_arguments a = {.kind = &structs_kind,
                           .gm_row = {in},
                           .one = value_at(0),
                           .number = NUMBER,
                           .gm_sizes = {sizes->buffer},
                           .gm_values = {values->buffer}};
    memcpy(a.ints, ints, sizeof ints);
    for (size_t i = 0; i < 4; i++)
        a.four[i] = value_at(1 + i);
    for (size_t i = 0; i < 16; i++)
        a.many[i] = value_at(5 + i);
    work_launch(&b->work, kernel, (const size_t[]){1, 1, 1}, &a, 0);
}

static ley_status attempt(check_run *run, void *context, size_t size, check_finding *f, ley_error *error)
{
    const struct_case *c = context;
    const structs_spec spec = {.sum = c->is_double ? LEY_SPEC_SUM_DOUBLE : LEY_SPEC_SUM_FLOAT,
                               .width = 1,
                               .root = LEY_ROOT_STANDARD,
                               .echo = c->echo};
    const size_t size_bytes = SIZES * sizeof(int32_t), value_bytes = VALUES * sizeof(double);
    check_bench b;
    dev_kernel kernel = {.device = run->device};
    dev_buffer *in = NULL;
    results sizes = {NULL, NULL}, values = {NULL, NULL};
    (void)size;
    ley_status status = kernel_create_anew(run->device, &structs_kind, &spec, false, NULL, &kernel, error);
    check_bench_begin(&b, run->device);
    if (status == LEY_OK)
        status = room_upload(&b.room, vector_row, sizeof vector_row, &in, error);
    if (status == LEY_OK)
        status = check_bench_results(&b, size_bytes, &sizes, error);
    if (status == LEY_OK)
        status = check_bench_results(&b, value_bytes, &values, error);
    if (status == LEY_OK) {
        launch(&b, &kernel, in, &sizes, &values);
        work_read(&b.work, sizes.buffer, 0, sizes.staging, size_bytes);
        work_read(&b.work, values.buffer, 0, values.staging, value_bytes);
        status = check_bench_finish(&b, error);
    }
    if (status == LEY_OK)
        status = judge_sizes(c, sizes.staging->bytes, f, error);
    if (status == LEY_OK)
        status = judge_values(c, values.staging->bytes, f, error);
    check_bench_end(&b);
    kernel_destroy(&kernel);
    return status;
}

static void try_both(check_run *run, const check_row *row, bool has_values)
{
    struct_case c = {.has_values = has_values, .echo = 1};
    check_try(run, row, &(check_case){.variant = "float", .attempt = attempt, .context = &c});
    c.is_double = true;
    if (!run->quick && run->device->info->has_double)
        check_try(run, row, &(check_case){.variant = "double", .attempt = attempt, .context = &c});
}

void check_structs(check_run *run, const check_row *row)
{
    try_both(run, row, false);
}

void check_arguments(check_run *run, const check_row *row)
{
    try_both(run, row, true);
}

/* ---- Build options --------------------------------------------------------------------------- */

/* The same source with other options, one after the other: each gives its own number back. */
static ley_status attempt_options(check_run *run, void *context, size_t size, check_finding *f, ley_error *error)
{
    ley_status status = LEY_OK;
    (void)context, (void)size;
    for (int echo = 1; echo <= 3 && status == LEY_OK; echo++) {
        struct_case c = {.is_echo = true, .echo = 1 << 9 * echo};
        status = attempt(run, &c, 0, f, error);
    }
    return status;
}

void check_options(check_run *run, const check_row *row)
{
    check_try(run, row, &(check_case){.variant = "", .attempt = attempt_options});
}
