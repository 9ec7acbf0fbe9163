/* Types and structs that host and device share: how large they are, where fields lie, what arrives
 * of a launch's arguments, and what comes of integers among these. */
#include "check/internal.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* The host's own, of floats. */
typedef struct host_placed {
    float offset[4];
    int32_t cell[4];
} host_placed;

typedef struct host_placed_double {
    double offset[4];
    int32_t cell[4], unused[4];
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

enum { ARGUMENTS = 21, VALUES = 23, INTS = 4, NUMBER = 1000003 };
static const int32_t ints[INTS] = {-7, 1 << 30, 3, -2000000000};
static const float vector_row[4] = {1.5f, -2.25f, 3.125f, 1e-20f};

/* Of what the kernel writes, what a case looks at: sizes and places; what arrives of arguments; the
 * number that the build was given; what comes of integers. */
typedef enum struct_part { PART_SIZES, PART_ARGUMENTS, PART_ECHO, PART_INTEGERS } struct_part;

typedef struct struct_case {
    bool is_double;
    struct_part part;
    int echo;
} struct_case;

static double value_at(size_t i)
{
    return (i % 2 == 0 ? 1 : -1) * (0.125 + (double)i);
}

typedef struct expectation {
    expected all[STRUCTS_WORDS];
    size_t count, begin[PART_INTEGERS + 1], end[PART_INTEGERS + 1];
} expectation;

static void expect_one(expectation *e, const char *what, int64_t right)
{
    e->all[e->count++] = (expected){what, (int32_t)(uint32_t)right};
}

static void expect_sizes(const struct_case *c, expectation *e)
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
        {"placed", c->is_double ? (int)sizeof(host_placed_double) : (int)sizeof(host_placed)},
        {"placed.cell", c->is_double ? (int)offsetof(host_placed_double, cell) : (int)offsetof(host_placed, cell)},
        {"segment", (int)sizeof(host_segment)},
        {"level", (int)sizeof(host_level)},
        LEY_SEGMENT_FIELDS(SEGMENT_OFFSET) LEY_LEVEL_FIELDS(LEVEL_OFFSET)};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        expect_one(e, sizes[i].what, sizes[i].right);
}

static void expect_arguments(expectation *e)
{
    static const char *const names[] = {"ints.x", "ints.y", "ints.z", "ints.w"}, *const row_names[] = {
                                                                                     "gm_row[0].x", "gm_row[0].y",
                                                                                     "gm_row[0].z", "gm_row[0].w"};
    expect_one(e, "number", NUMBER);
    for (int i = 0; i < INTS; i++)
        expect_one(e, names[i], ints[i]);
    for (int i = 0; i < 4; i++) {
        int32_t bits;
        memcpy(&bits, &vector_row[i], sizeof bits);
        expect_one(e, row_names[i], bits);
    }
}

static void expect_integers(expectation *e)
{
    for (int i = 0; i < INTS; i++) {
        const uint32_t bits = (uint32_t)ints[i];
        const int shift = NUMBER % 8;
        expect_one(e, "the number of bits that are set", __builtin_popcount(bits));
        expect_one(e, "the lowest bit that is set", __builtin_ctz(bits));
        expect_one(e, "a product", (int64_t)(bits * (uint32_t)NUMBER));
        expect_one(e, "a product's upper half", (int64_t)((uint64_t)bits * NUMBER >> 32));
        expect_one(e, "a quotient", ints[i] / (NUMBER / 1000));
        expect_one(e, "a remainder", ints[i] % (NUMBER / 1000));
        expect_one(e, "a number shifted right", (int64_t)floor((double)ints[i] / (1 << shift)));
        expect_one(e, "bits shifted right", bits >> shift);
        expect_one(e, "the smaller number", ints[i] < NUMBER ? ints[i] : NUMBER);
        expect_one(e, "the larger number", ints[i] > NUMBER ? ints[i] : NUMBER);
    }
    for (size_t i = 0; i < 4; i++) {
        expect_one(e, "a number without its fraction", (int64_t)value_at(1 + i));
        expect_one(e, "a number rounded down", (int64_t)floor(value_at(1 + i)));
    }
}

/* In the order in which the kernel writes. */
static void expect(const struct_case *c, expectation *e)
{
    e->count = 0;
    e->begin[PART_ECHO] = 0;
    e->begin[PART_SIZES] = e->end[PART_ECHO] = 1;
    expect_sizes(c, e);
    e->begin[PART_ARGUMENTS] = e->end[PART_SIZES] = e->count;
    expect_arguments(e);
    e->begin[PART_INTEGERS] = e->end[PART_ARGUMENTS] = e->count;
    expect_integers(e);
    e->end[PART_INTEGERS] = e->count;
}

static const char *kind_of(const struct_case *c, const char *what)
{
    return c->part != PART_SIZES ? "" : strchr(what, '.') != NULL ? "the place of " : "the size of ";
}

static ley_status judge_sizes(const struct_case *c, const int32_t *found, check_finding *f, ley_error *error)
{
    expectation e;
    expect(c, &e);
    for (size_t i = e.begin[c->part]; i < e.end[c->part]; i++)
        if (found[i] != e.all[i].right)
            return check_wrong(f, found[i], e.all[i].right, error, "%s%s is %d, not %d on the host",
                               kind_of(c, e.all[i].what), e.all[i].what, (int)found[i], e.all[i].right);
    return LEY_OK;
}

static double value_of(const struct_case *c, const void *found, size_t i)
{
    return c->is_double ? ((const double *)found)[i] : (double)((const float *)found)[i];
}

/* A float of bits, and one that a number is rounded to. */
static ley_status judge_floats(const struct_case *c, const void *found, check_finding *f, ley_error *error)
{
    static const char *const names[] = {"a float whose lowest bit is turned over", "a number rounded to a float"};
    uint32_t bits;
    float right[2] = {0, (float)(value_at(0) + 0.75 * 0x1p-26)};
    memcpy(&bits, &vector_row[1], sizeof bits);
    bits ^= 1;
    memcpy(&right[0], &bits, sizeof bits);
    for (size_t i = ARGUMENTS; i < VALUES && c->part == PART_INTEGERS; i++) {
        const double value = value_of(c, found, i);
        if (value != (double)right[i - ARGUMENTS])
            return check_wrong(f, value, (double)right[i - ARGUMENTS], error, "%s is %.9g, not %.9g",
                               names[i - ARGUMENTS], value, (double)right[i - ARGUMENTS]);
    }
    return LEY_OK;
}

static ley_status judge_values(const struct_case *c, const void *found, check_finding *f, ley_error *error)
{
    for (size_t i = 0; i < ARGUMENTS && c->part == PART_ARGUMENTS; i++) {
        const double value = value_of(c, found, i);
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
    sequence_launch(&b->command_sequence, kernel, (const size_t[]){1, 1, 1}, &a, 0);
}

static ley_status attempt(check_run *run, void *context, size_t size, check_finding *f, ley_error *error)
{
    const struct_case *c = context;
    const structs_spec spec = {.sum = c->is_double ? LEY_SPEC_SUM_DOUBLE : LEY_SPEC_SUM_FLOAT,
                               .width = 1,
                               .root = LEY_ROOT_STANDARD,
                               .echo = c->echo};
    const size_t size_bytes = STRUCTS_WORDS * sizeof(int32_t), value_bytes = VALUES * sizeof(double);
    check_bench b;
    dev_kernel kernel = {.device = run->device};
    dev_buffer *in = NULL;
    results sizes = {NULL, NULL}, values = {NULL, NULL};
    (void)size;
    ley_status status = kernel_create_anew(run->device, &structs_kind, &spec, false, NULL, &kernel, error);
    check_bench_begin(&b, run->device);
    if (status == LEY_OK)
        status = arena_upload(&b.arena, vector_row, sizeof vector_row, &in, error);
    if (status == LEY_OK)
        status = check_bench_results(&b, size_bytes, &sizes, error);
    if (status == LEY_OK)
        status = check_bench_results(&b, value_bytes, &values, error);
    if (status == LEY_OK) {
        launch(&b, &kernel, in, &sizes, &values);
        sequence_read(&b.command_sequence, sizes.buffer, 0, sizes.staging, size_bytes);
        sequence_read(&b.command_sequence, values.buffer, 0, values.staging, value_bytes);
        status = check_bench_finish(&b, error);
    }
    if (status == LEY_OK)
        status = judge_sizes(c, sizes.staging->bytes, f, error);
    if (status == LEY_OK)
        status = judge_values(c, values.staging->bytes, f, error);
    if (status == LEY_OK)
        status = judge_floats(c, values.staging->bytes, f, error);
    check_bench_end(&b);
    kernel_destroy(&kernel);
    return status;
}

static void try_both(check_run *run, const check_row *row, struct_part part)
{
    struct_case c = {.part = part, .echo = 1};
    check_try(run, row, &(check_case){.variant = "float", .attempt = attempt, .context = &c});
    c.is_double = true;
    if (run->device->info->has_double && (!run->quick || part == PART_SIZES)) /* doubles are aligned otherwise */
        check_try(run, row, &(check_case){.variant = "double", .attempt = attempt, .context = &c});
}

void check_structs(check_run *run, const check_row *row)
{
    try_both(run, row, PART_SIZES);
}

void check_arguments(check_run *run, const check_row *row)
{
    try_both(run, row, PART_ARGUMENTS);
}

void check_integers(check_run *run, const check_row *row)
{
    try_both(run, row, PART_INTEGERS);
}

/* ---- Build options --------------------------------------------------------------------------- */

/* The same source with other options, one after the other: each gives its own number back. */
static ley_status attempt_options(check_run *run, void *context, size_t size, check_finding *f, ley_error *error)
{
    ley_status status = LEY_OK;
    (void)context, (void)size;
    for (int echo = 1; echo <= 3 && status == LEY_OK; echo++) {
        struct_case c = {.part = PART_ECHO, .echo = 1 << 9 * echo};
        status = attempt(run, &c, 0, f, error);
    }
    return status;
}

void check_options(check_run *run, const check_row *row)
{
    check_try(run, row, &(check_case){.variant = "", .attempt = attempt_options});
}
