/* The kernels that measure devices: what they compute while they do. */
#include "check/internal.h"

#include "bandwidth.h"
#include "calibrate.h"
#include "error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

KERNEL_ARGUMENTS_STRUCT(roots, LEY_ROOTS_ARGUMENTS);
KERNEL_ARGUMENTS_STRUCT(exps, LEY_EXPS_ARGUMENTS);
KERNEL_ARGUMENTS_STRUCT(multiply_adds, LEY_MULTIPLY_ADDS_ARGUMENTS);
KERNEL_ARGUMENTS_STRUCT(local_reads, LEY_LOCAL_READS_ARGUMENTS);
KERNEL_ARGUMENTS_STRUCT(copies, LEY_COPIES_ARGUMENTS);

/* Values of a work-item, at most; of local_reads, that are read. */
enum { CHAINS = 16, SLOTS = 64, LOCAL_CHAINS = 8, GROUPS = 4 };

/* What is right of value i, of `count`. */
typedef double right_value(const float *in, size_t i);

typedef struct measured {
    const kernel_kind *kind;
    int chains, times;
    double tolerance;
    double low, high; /* of numbers, evenly over exponents where `low` is above 0 */
    right_value *right;
} measured;

static double right_root(const float *in, size_t i)
{
    return 1 / sqrt((double)in[i]);
}

static double right_exp(const float *in, size_t i)
{
    return exp2(-(double)in[i]);
}

static double right_copy(const float *in, size_t i)
{
    return (double)in[i];
}

static double right_multiply_add(const float *in, size_t i)
{
    const float x = in[0] * in[i] + in[0];
    return (double)(in[0] * x + in[0]);
}

/* The sum of 16 bytes: those of slot k in chain k, each once. */
static double right_local(const float *in, size_t i)
{
    (void)i;
    return (double)in[0];
}

static const measured of_roots = {&roots_kind, 8, 1, 0, 1e-5, 1e9, right_root},
                      of_exps = {&exps_kind, 8, 1, 0, 0, 120, right_exp},
                      of_multiply_adds = {&multiply_adds_kind, 16, 2, 1e-6, 0.5, 0.5, right_multiply_add},
                      of_local_reads = {&local_reads_kind, LOCAL_CHAINS, 1, 1e-6, 0, 0, right_local},
                      of_copies = {&copies_kind, 4, 4, 0, 1, 1e6, right_copy};

/* What recipes may be off by: of the standard's functions 2 and 3 ulp and what a product more
 * takes; natives as in functions.c; our own as their formulas are. */
static const double root_tolerance[LEY_ROOT_COUNT] = {
    [LEY_ROOT_STANDARD] = 4e-7, [LEY_ROOT_RECIPROCAL] = 7e-7, [LEY_ROOT_NATIVE] = 1e-3, [LEY_ROOT_NEWTON] = 6e-6,
    [LEY_ROOT_PTX] = 1e-3,      [LEY_ROOT_AVX512] = 1e-6,     [LEY_ROOT_REFINED] = 1e-6};
static const double exp_tolerance[LEY_EXP_COUNT] = {
    [LEY_EXP_STANDARD] = 5e-7, [LEY_EXP_NATIVE] = 1e-3, [LEY_EXP_POLYNOMIAL] = 4e-6, [LEY_EXP_PTX] = 1e-3};

typedef struct measured_case {
    const measured *of;
    int spec[KERNEL_MOST_KEYS];
    double tolerance;
} measured_case;

static void launch(check_bench *b, const dev_kernel *kernel, const measured_case *c, dev_buffer *in, dev_buffer *out)
{
    const size_t groups[3] = {GROUPS, 1, 1};
    roots_arguments a = {.kind = c->of->kind, .gm_in = {in}, .times = c->of->times, .gm_out = {out}};
    sequence_launch(&b->command_sequence, kernel, groups, &a, 0); /* all of them take the same arguments */
}

static void make_numbers(const measured_case *c, float *in, size_t count)
{
    const measured *of = c->of;
    for (size_t i = 0; i < count; i++) {
        const double t = fmod((double)(i + 1) * 0.6180339887498949, 1);
        in[i] = (float)(of->low > 0 && of->high > of->low ? of->low * pow(of->high / of->low, t)
                                                          : of->low + (of->high - of->low) * t);
        if (of->kind == &local_reads_kind)
            in[i] = 0.25f;
    }
}

static ley_status judge(const measured_case *c, const float *in, const float *out, size_t count, check_finding *f,
                        ley_error *error)
{
    size_t worst = 0;
    f->has_error = true;
    f->tolerance = c->tolerance;
    f->error = -1;
    for (size_t i = 0; i < count; i++) {
        const double right = c->of->kind == &local_reads_kind ? 1 : c->of->right(in, i),
                     off = fabs((double)out[i] - right) / fabs(right), error_here = off >= 0 ? off : INFINITY;
        if (error_here > f->error) {
            f->error = error_here;
            worst = i;
        }
    }
    const double right = c->of->kind == &local_reads_kind ? 1 : c->of->right(in, worst);
    f->ulps = f->error / 0x1p-23;
    f->allowed = c->tolerance * fabs(right);
    if (f->error <= c->tolerance)
        return LEY_OK;
    return check_wrong(f, (double)out[worst], right, error,
                       "of %.9g it is %.9g, not %.9g: an error of %.3g, at most %.3g is right", (double)in[worst],
                       (double)out[worst], right, f->error, c->tolerance);
}

static ley_status attempt(check_run *run, void *context, size_t size, check_finding *f, ley_error *error)
{
    const measured_case *c = context;
    dev_kernel kernel = {.device = run->device};
    dev_buffer *in = NULL;
    results out = {NULL, NULL};
    check_bench b;
    (void)size;
    ley_status status = kernel_create_anew(run->device, c->of->kind, c->spec, false, NULL, &kernel, error);
    if (status != LEY_OK)
        return status;
    const size_t count = (size_t)c->of->chains * GROUPS * kernel.group_size[0] * (size_t)c->spec[1],
                 padded = count > 4 * SLOTS ? count : 4 * SLOTS, bytes = padded * sizeof(float);
    float *numbers = malloc(bytes);
    check_bench_begin(&b, run->device);
    if (numbers == NULL)
        status = ley_fail_memory(error, bytes, "a check");
    else
        make_numbers(c, numbers, padded);
    if (status == LEY_OK)
        status = arena_upload(&b.arena, numbers, bytes, &in, error);
    if (status == LEY_OK)
        status = check_bench_results(&b, bytes, &out, error);
    if (status == LEY_OK) {
        launch(&b, &kernel, c, in, out.buffer);
        sequence_read(&b.command_sequence, out.buffer, 0, out.staging, bytes);
        status = check_bench_finish(&b, error);
    }
    if (status == LEY_OK)
        status = judge(c, numbers, out.staging->bytes, count, f, error);
    check_bench_end(&b);
    kernel_destroy(&kernel);
    free(numbers);
    return status;
}

double check_root_error(check_run *run, int root, int width)
{
    const kernel_dialect spec = {.sum = LEY_SPEC_SUM_FLOAT, .width = width, .root = root};
    measured_case c = {.of = &of_roots, .tolerance = root_tolerance[root]};
    check_finding f = {.has_error = false};
    const double usual = 3e-7;
    if (root == LEY_ROOT_STANDARD || root == LEY_ROOT_RECIPROCAL)
        return usual;
    if (run->root_error[root] > 0)
        return run->root_error[root];
    memcpy(c.spec, &spec, sizeof spec);
    const ley_status status = attempt(run, &c, 0, &f, NULL);
    return run->root_error[root] = status == LEY_OK && f.error > 0 ? f.error : usual;
}

/* ---- The check ------------------------------------------------------------------------------- */

typedef struct visitor {
    check_run *run;
    const check_row *row;
    const measured *of;
    size_t count;
} visitor;

static void visit(void *context, const char *name, const void *spec)
{
    visitor *v = context;
    measured_case c = {.of = v->of, .tolerance = v->of->tolerance};
    const size_t length = strlen(v->of->kind->name);
    memcpy(c.spec, spec, kernel_key_count(v->of->kind) * sizeof(int));
    if (v->of == &of_roots)
        c.tolerance = root_tolerance[c.spec[2]];
    if (v->of == &of_exps)
        c.tolerance = exp_tolerance[c.spec[3]];
    if (v->count++ > 0 && v->run->quick)
        return;
    check_try(
        v->run, v->row,
        &(check_case){.variant = name[length] == '-' ? name + length + 1 : "", .attempt = attempt, .context = &c});
}

void check_measuring_kernel(check_run *run, const check_row *row)
{
    static const measured *const all[] = {&of_roots, &of_exps, &of_multiply_adds, &of_local_reads, &of_copies};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i]->kind->name, row->row.name) == 0) {
            visitor v = {run, row, all[i], 0};
            kernel_specs(all[i]->kind, run->device->info, KERNEL_ALL, visit, &v);
        }
}
