/* What a kernel is, once. The list of its arguments gives the struct that callers fill in by name,
 * the rows that the sources of cl/ and kernels_cuda/ are held against, and the check of every
 * launch; the list of its keys gives the -D options. A kind stands in the folder of the method that
 * the kernel belongs to, and no file of platform/ knows which kinds there are.
 *
 * A list is a macro LIST(FIRST, NEXT): FIRST(kind, type, name) for the first argument, NEXT(kind,
 * type, name) for each of the others. Its kinds are CONSTANT, READ and WRITE, which are buffers of
 * `type`, INT, and VALUE, one `type`. */
#ifndef LEY_KERNEL_KIND_H
#define LEY_KERNEL_KIND_H

#include "device.h"
#include "spec.h"

enum { KERNEL_MOST_ARGUMENTS = 28, KERNEL_MOST_KEYS = 24, KERNEL_OPTIONS = 512, KERNEL_NAME = 96 };

/* ---- Arguments by name ----------------------------------------------------------------------- */

/* struct X_arguments of the list of kernel x. Its first field says whose arguments they are, so
 * that one kernel is never given another one's. */
#define KERNEL_ARGUMENTS_STRUCT(kernel, LIST) \
    typedef struct kernel##_arguments { \
        const struct kernel_kind *kind; \
        LIST(KERNEL_FIELD, KERNEL_FIELD) \
    } kernel##_arguments

/* The arguments of a launch of kernel x: KERNEL_ARGUMENTS(x, .gm_atoms = atoms, .n_atoms = n). */
#define KERNEL_ARGUMENTS(kernel, ...) (&(kernel##_arguments){&kernel##_kind, __VA_ARGS__})

#define KERNEL_FIELD(kind, type, name) KERNEL_FIELD_##kind(type, name);
#define KERNEL_FIELD_CONSTANT(type, name) buffer_of_##type name
#define KERNEL_FIELD_READ(type, name) buffer_of_##type name
#define KERNEL_FIELD_WRITE(type, name) buffer_of_##type name
#define KERNEL_FIELD_INT(type, name) int32_t name
#define KERNEL_FIELD_VALUE(type, name) value_of_##type name

/* A buffer that knows what its elements are: two of different elements cannot be mistaken for each
 * other, because that does not compile. Kernels with elements of their own have a line for each of
 * these in their method's folder. */
#define KERNEL_BUFFER_OF(type) \
    typedef struct buffer_of_##type { \
        dev_buffer *buffer; \
    } buffer_of_##type

KERNEL_BUFFER_OF(real);
KERNEL_BUFFER_OF(scalar);
KERNEL_BUFFER_OF(atom);
KERNEL_BUFFER_OF(int);
KERNEL_BUFFER_OF(int2);
KERNEL_BUFFER_OF(int4);
KERNEL_BUFFER_OF(float);
KERNEL_BUFFER_OF(float2);
KERNEL_BUFFER_OF(float4);
KERNEL_BUFFER_OF(double);

/* The host's types of values. What the specification makes float or double is double here. */
typedef double value_of_scalar;
typedef double value_of_atom[4];
typedef double value_of_sixteen[16];
typedef int32_t value_of_int4[4];

/* ---- Descriptions ---------------------------------------------------------------------------- */

typedef enum kernel_argument_kind { KERNEL_BUFFER, KERNEL_INT, KERNEL_VALUE } kernel_argument_kind;

typedef struct kernel_argument {
    const char *name;
    kernel_argument_kind kind;
    const char *type;  /* as the kernel has it, of a buffer's elements or of the value */
    int scalars, ints; /* what a value is made of: floats, or doubles where LEY_SUM says so; and ints */
} kernel_argument;

/* How many of a device's possible specifications are wanted: those that it runs by default; more of
 * them, as a quick look at all there is; or every one. */
typedef enum kernel_depth { KERNEL_FEW, KERNEL_MORE, KERNEL_ALL } kernel_depth;

/* Is told of a specification. `name` is that of a file, without suffix, and tells it apart from the
 * kernel's others. */
typedef void kernel_visit(void *context, const char *name, const void *spec);

struct dev_kernel;

/* A specification `spec` is a struct of ints, one for each key in their order. */
typedef struct kernel_kind {
    const char *name;        /* of the kernel and of its file in each tree */
    const char *const *keys; /* what every build is given, -DKEY=...; ends with NULL */
    size_t argument_count;
    const kernel_argument *arguments;
    void (*pack)(const void *arguments, bool is_double,
                 dev_argument *packed); /* a struct X_arguments, in their order */

    /* Names of its variants, NULL behind the last; and of the one that a device gets by default for
     * this kind of sum (LEY_SPEC_SUM_...). Both NULL: it has none. */
    const char *(*variant)(size_t i);
    const char *(*usual)(const dev_info *info, int sum);

    /* Work-items of a work-group along x, y, z. */
    void (*group)(const dev_info *info, const void *spec, size_t size[3]);

    /* Bytes of local memory that a work-group takes; NULL: none. */
    size_t (*local_bytes)(const dev_info *info, const void *spec);

    /* A known-answer test of a freshly built kernel: LEY_OK; LEY_ERROR_WRONG_RESULT, whose message
     * comes to stand behind "self-test of KERNEL failed on DEVICE: "; or what went wrong on the
     * way. `context` is kernel_create()'s. NULL: the kernel measures the device, and is neither
     * tested nor cached. */
    ley_status (*test)(const struct dev_kernel *kernel, void *context, ley_error *error);

    /* The specifications that matter for a device; the same one may come several times. NULL: of a
     * kernel that has no more keys than the dialect, floats by the standard's root; of any other,
     * none. */
    void (*specs)(const dev_info *info, kernel_depth depth, kernel_visit *visit, void *context);
} kernel_kind;

/* In the source of a method: the rows of a list of arguments, and how its struct X_arguments is
 * packed. */
#define KERNEL_DESCRIBE_ARGUMENTS(kernel, LIST) \
    static const kernel_argument kernel##_argument_list[] = {LIST(KERNEL_ROW, KERNEL_ROW)}; \
    _Static_assert(sizeof kernel##_argument_list <= KERNEL_MOST_ARGUMENTS * sizeof(kernel_argument), \
                   "too many arguments"); \
    static void kernel##_pack_arguments(const void *arguments, bool is_double, dev_argument *packed) \
    { \
        const kernel##_arguments *own = arguments; \
        (void)is_double; \
        LIST(KERNEL_PACK, KERNEL_PACK) \
    }

/* The fields of a kernel_kind that follow from its lists: kernel x with keys KEYS and the described
 * arguments. */
#define KERNEL_DESCRIPTION(kernel, KEYS, list) \
    .name = #kernel, .keys = (const char *const[]){KEYS(KERNEL_KEY_NAME) NULL}, \
    .argument_count = sizeof list##_argument_list / sizeof list##_argument_list[0], .arguments = list##_argument_list, \
    .pack = list##_pack_arguments

#define KERNEL_KEY_NAME(key, field) #key,

/* clang-format off */
#define KERNEL_ROW(kind, type, name) {#name, KERNEL_ROW_##kind(type)},
/* clang-format on */
#define KERNEL_ROW_CONSTANT(type) KERNEL_BUFFER, #type, 0, 0
#define KERNEL_ROW_READ(type) KERNEL_BUFFER, #type, 0, 0
#define KERNEL_ROW_WRITE(type) KERNEL_BUFFER, #type, 0, 0
#define KERNEL_ROW_INT(type) KERNEL_INT, #type, 0, 1
#define KERNEL_ROW_VALUE(type) KERNEL_VALUE, #type, KERNEL_PARTS_##type
#define KERNEL_PARTS_scalar 1, 0
#define KERNEL_PARTS_atom 4, 0
#define KERNEL_PARTS_sixteen 16, 0
#define KERNEL_PARTS_int4 0, 4

#define KERNEL_PACK(kind, type, name) *packed++ = KERNEL_PACK_##kind(type, name);
#define KERNEL_PACK_CONSTANT(type, name) dev_argument_buffer(own->name.buffer)
#define KERNEL_PACK_READ(type, name) dev_argument_buffer(own->name.buffer)
#define KERNEL_PACK_WRITE(type, name) dev_argument_buffer(own->name.buffer)
#define KERNEL_PACK_INT(type, name) dev_argument_int(own->name)
#define KERNEL_PACK_VALUE(type, name) kernel_pack_##type(own->name, is_double)

dev_argument kernel_pack_scalar(double value, bool is_double);
dev_argument kernel_pack_atom(const double value[4], bool is_double);
dev_argument kernel_pack_sixteen(const double value[16], bool is_double);
dev_argument kernel_pack_int4(const int32_t value[4], bool is_double);

/* The specification of kernels that have no more keys than what the dialect reads,
 * LEY_DIALECT_KEYS. */
#define KERNEL_KEY_FIELD(key, field) int field;
typedef struct kernel_dialect {
    LEY_DIALECT_KEYS(KERNEL_KEY_FIELD)
} kernel_dialect;

/* ---- Options and checks ---------------------------------------------------------------------- */

/* The name of a variant; NULL behind the last, and of a kernel that has none. */
const char *kernel_variant(const kernel_kind *kind, size_t i);

/* How many keys there are. */
size_t kernel_key_count(const kernel_kind *kind);

/* Whether the kernel's scalars are doubles. */
bool kernel_is_double(const kernel_kind *kind, const void *spec);

/* The options "-DKEY=value -DKEY=value ...". What does not fit is cut off. */
void kernel_options(const kernel_kind *kind, const void *spec, char *options, size_t size);

/* Whether the options have this word, as a whole. */
bool kernel_has_option(const char *options, const char *word);

/* The kind's specifications, each of them once. */
void kernel_specs(const kernel_kind *kind, const dev_info *info, kernel_depth depth, kernel_visit *visit,
                  void *context);

/* For a back end that builds: the options are those of the source's kind and specification. */
ley_status kernel_check_build(const dev_source *source, ley_error *error);

/* For a back end that launches a program of this kind: as many arguments as it has, buffers where
 * it has buffers, and values of the right size where it has values. CUDA would take a wrong list of
 * arguments without a word. */
ley_status kernel_check_launch(const kernel_kind *kind, bool is_double, const dev_launch *launch, ley_error *error);

#endif
