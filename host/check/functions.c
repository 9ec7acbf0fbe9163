/* Functions over their range, against the host's in more digits. */
#include "check/functions.h"

#include "calibrate.h"
#include "error.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- On a device ----------------------------------------------------------------------------- */

size_t function_types(const dev_info *info, function_type types[FUNCTION_TYPES])
{
    size_t count = 0;
    types[count++] = (function_type){0, "float", false, 1};
    if (calibrate_width(info) > 1)
        types[count++] = (function_type){1, "vectors", false, calibrate_width(info)};
    if (info->has_double)
        types[count++] = (function_type){2, "double", true, 1};
    return count;
}

/* As the device has them, so many of them; what is behind n is 1. */
static void *pack(const double *values, size_t n, size_t padded, bool is_double)
{
    const size_t bytes = is_double ? sizeof(double) : sizeof(float);
    char *packed = malloc(padded * bytes);
    for (size_t i = 0; packed != NULL && i < padded; i++) {
        const double value = values != NULL && i < n ? values[i] : 1;
        const float single = (float)value;
        memcpy(packed + i * bytes, is_double ? (const void *)&value : &single, bytes);
    }
    return packed;
}

static void unpack(const void *packed, size_t n, bool is_double, double *values)
{
    for (size_t i = 0; i < n; i++)
        values[i] = is_double ? ((const double *)packed)[i] : (double)((const float *)packed)[i];
}

static ley_status run_kernel(check_bench *b, const dev_kernel *kernel, int which, size_t groups, size_t bytes,
                             void *const packed[3], results *out, ley_error *error)
{
    dev_buffer *in[3] = {NULL};
    ley_status status = LEY_OK;
    for (int k = 0; k < 3 && status == LEY_OK; k++)
        status = arena_upload(&b->arena, packed[k], bytes, &in[k], error);
    if (status == LEY_OK)
        status = check_bench_results(b, bytes, out, error);
    if (status != LEY_OK)
        return status;
    sequence_launch(&b->command_sequence, kernel, (const size_t[]){groups, 1, 1},
                    KERNEL_ARGUMENTS(functions, .gm_x = {in[0]}, .gm_y = {in[1]}, .gm_z = {in[2]}, .which = which,
                                     .gm_out = {out->buffer}),
                    0);
    sequence_read(&b->command_sequence, out->buffer, 0, out->staging, bytes);
    return check_bench_finish(b, error);
}

ley_status function_create(check_run *run, const function_type *type, dev_kernel *kernel, ley_error *error)
{
    const kernel_dialect spec = {.sum = type->is_double ? LEY_SPEC_SUM_DOUBLE : LEY_SPEC_SUM_FLOAT,
                                 .width = type->width,
                                 .root = LEY_ROOT_STANDARD};
    dev_kernel *kept = &run->functions[type->number];
    ley_status status = LEY_OK;
    if (run->is_recorded)
        return kernel_create_anew(run->device, &functions_kind, &spec, false, NULL, kernel, error);
    if (kept->program == NULL)
        status = kernel_create_anew(run->device, &functions_kind, &spec, false, NULL, kept, error);
    *kernel = *kept;
    return status;
}

void function_release(const check_run *run, dev_kernel *kernel)
{
    if (run->is_recorded)
        kernel_destroy(kernel);
}

ley_status function_compute(const dev_kernel *kernel, const function_type *type, int which, size_t n,
                            const double *const in[3], double *out, ley_error *error)
{
    const size_t of_group = kernel->group_size[0] * (size_t)type->width, groups = (n + of_group - 1) / of_group,
                 bytes = groups * of_group * (type->is_double ? sizeof(double) : sizeof(float));
    void *packed[3];
    check_bench b;
    results made = {NULL, NULL};
    ley_status status = LEY_OK;
    check_bench_begin(&b, kernel->device);
    for (int k = 0; k < 3; k++)
        packed[k] = pack(in[k], n, groups * of_group, type->is_double);
    if (packed[0] == NULL || packed[1] == NULL || packed[2] == NULL)
        status = ley_fail_memory(error, 3 * bytes, "a check");
    if (status == LEY_OK)
        status = run_kernel(&b, kernel, which, groups, bytes, packed, &made, error);
    if (status == LEY_OK)
        unpack(made.staging->bytes, n, type->is_double, out);
    for (int k = 0; k < 3; k++)
        free(packed[k]);
    check_bench_end(&b);
    return status;
}

/* ---- Functions ------------------------------------------------------------------------------- */

/* What is right, from numbers as the device has them, in more digits than a double has, so that it
 * can be told what one is off by; rounded once, where that is what the standard asks for. */
static long double right_of(int which, double x, double y, double z)
{
    switch (which) {
    case LEY_FUNCTION_RSQRT:
    case LEY_FUNCTION_NATIVE_RSQRT:
        return 1 / sqrtl((long double)x);
    case LEY_FUNCTION_SQRT:
    case LEY_FUNCTION_NATIVE_SQRT:
        return (long double)sqrt(x);
    case LEY_FUNCTION_EXP:
    case LEY_FUNCTION_NATIVE_EXP:
        return expl((long double)x);
    case LEY_FUNCTION_EXP2:
    case LEY_FUNCTION_NATIVE_EXP2:
        return exp2l((long double)x);
    case LEY_FUNCTION_LOG:
        return logl((long double)x);
    case LEY_FUNCTION_DIVIDE:
    case LEY_FUNCTION_NATIVE_DIVIDE:
        return (long double)(x / y);
    case LEY_FUNCTION_ERF:
        return erfl((long double)x);
    case LEY_FUNCTION_ERFC:
        return erfcl((long double)x);
    case LEY_FUNCTION_SIN:
        return sinl((long double)x);
    case LEY_FUNCTION_COS:
        return cosl((long double)x);
    case LEY_FUNCTION_TANH:
        return tanhl((long double)x);
    case LEY_FUNCTION_POW:
        return powl((long double)x, (long double)y);
    case LEY_FUNCTION_NATIVE_RECIP:
        return 1 / (long double)x;
    default:
        return (long double)fma(x, y, z);
    }
}

/* A function's range, and what it may be off by: in units in the last place, as the standard says,
 * or of natives, of which that says nothing, relative to the value. Below that any method of ours
 * would choose another recipe; beyond, it is no such function. */
static const double native_error = 1e-3;

typedef struct function {
    int which;
    bool is_even; /* numbers are spread over exponents, else over the range */
    double low, high;
    double ulps, double_ulps; /* 0: not in double */
    bool is_native;
} function;

static const function functions[LEY_FUNCTION_COUNT] = {
    [LEY_FUNCTION_RSQRT] = {LEY_FUNCTION_RSQRT, true, 1.2e-38, 3e38, 2, 2, false},
    [LEY_FUNCTION_SQRT] = {LEY_FUNCTION_SQRT, true, 1.2e-38, 3e38, 3, 0.5001, false},
    [LEY_FUNCTION_EXP] = {LEY_FUNCTION_EXP, false, -86, 88, 3, 3, false},
    [LEY_FUNCTION_EXP2] = {LEY_FUNCTION_EXP2, false, -125, 127, 3, 3, false},
    [LEY_FUNCTION_LOG] = {LEY_FUNCTION_LOG, true, 1.2e-38, 3e38, 3, 3, false},
    [LEY_FUNCTION_DIVIDE] = {LEY_FUNCTION_DIVIDE, true, 1e-15, 1e15, 2.5, 0.5001, false},
    [LEY_FUNCTION_FMA] = {LEY_FUNCTION_FMA, true, 1e-5, 1e5, 0.5001, 0.5001, false},
    [LEY_FUNCTION_ERF] = {LEY_FUNCTION_ERF, false, -4, 4, 16, 16, false},
    [LEY_FUNCTION_ERFC] = {LEY_FUNCTION_ERFC, false, -4, 9, 16, 16, false},
    [LEY_FUNCTION_SIN] = {LEY_FUNCTION_SIN, true, 1e-8, 1e12, 4, 4, false},
    [LEY_FUNCTION_COS] = {LEY_FUNCTION_COS, true, 1e-8, 1e12, 4, 4, false},
    [LEY_FUNCTION_TANH] = {LEY_FUNCTION_TANH, false, -9, 9, 5, 5, false},
    [LEY_FUNCTION_POW] = {LEY_FUNCTION_POW, true, 1e-5, 1e5, 16, 16, false},
    [LEY_FUNCTION_NATIVE_RSQRT] = {LEY_FUNCTION_NATIVE_RSQRT, true, 1e-30, 1e30, 0, 0, true},
    [LEY_FUNCTION_NATIVE_SQRT] = {LEY_FUNCTION_NATIVE_SQRT, true, 1e-30, 1e30, 0, 0, true},
    [LEY_FUNCTION_NATIVE_EXP] = {LEY_FUNCTION_NATIVE_EXP, false, -20, 20, 0, 0, true},
    [LEY_FUNCTION_NATIVE_EXP2] = {LEY_FUNCTION_NATIVE_EXP2, false, -20, 20, 0, 0, true},
    [LEY_FUNCTION_NATIVE_DIVIDE] = {LEY_FUNCTION_NATIVE_DIVIDE, true, 1e-10, 1e10, 0, 0, true},
    [LEY_FUNCTION_NATIVE_RECIP] = {LEY_FUNCTION_NATIVE_RECIP, true, 1e-10, 1e10, 0, 0, true},
};

/* The i-th number of a row that fills the range evenly however many there are of them. */
static double number_at(const function *f, size_t i, int of)
{
    static const double ratios[3] = {0.6180339887498949, 0.7548776662466927, 0.5698402909980532};
    const double t = fmod((double)(i + 1) * ratios[of], 1),
                 x = f->is_even ? f->low * pow(f->high / f->low, t) : f->low + (f->high - f->low) * t;
    if (f->which == LEY_FUNCTION_POW && of > 0)
        return 12 * t - 6;
    const bool has_signs = f->which == LEY_FUNCTION_FMA || f->which == LEY_FUNCTION_SIN || f->which == LEY_FUNCTION_COS;
    return has_signs && (i + (size_t)of) % 3 == 0 ? -x : x;
}

/* How far two neighbours of this type are apart there. */
static double ulp_at(double value, bool is_double)
{
    int exponent;
    frexp(value, &exponent);
    const int digits = is_double ? DBL_MANT_DIG : FLT_MANT_DIG, least = is_double ? DBL_MIN_EXP : FLT_MIN_EXP;
    return ldexp(1, (exponent > least ? exponent : least) - digits);
}

static size_t bin_of(double ulps)
{
    size_t bin = 0;
    for (double limit = 0.5; bin + 1 < LEY_CHECK_BINS && !(ulps <= limit * 1.0001); limit *= 2)
        bin++;
    return bin;
}

typedef struct function_case {
    const function *of;
    function_type type;
} function_case;

static ley_status judge(const function_case *c, size_t n, double *const in[3], const double *out, check_finding *f,
                        ley_error *error)
{
    const bool is_double = c->type.is_double;
    size_t worst = 0;
    double most = -1;
    for (size_t i = 0; i < n; i++) {
        const long double precise = right_of(c->of->which, in[0][i], in[1][i], in[2][i]);
        const double right = (double)precise, off = (double)fabsl((long double)out[i] - precise),
                     ulps = off >= 0 ? off / ulp_at(right, is_double) : INFINITY,
                     relative = off >= 0 ? off / fabs(right) : INFINITY, limited = c->of->is_native ? relative : ulps;
        f->ulp_counts[bin_of(ulps)]++;
        f->ulps = fmax(f->ulps, ulps);
        f->error = fmax(f->error, relative);
        if (limited > most) {
            most = limited;
            worst = i;
        }
    }
    const double limit = c->of->is_native ? native_error
                         : is_double      ? c->of->double_ulps
                                          : c->of->ulps,
                 right = (double)right_of(c->of->which, in[0][worst], in[1][worst], in[2][worst]);
    f->has_error = true;
    f->tolerance = c->of->is_native ? limit : limit * (is_double ? DBL_EPSILON : (double)FLT_EPSILON);
    f->allowed = c->of->is_native ? limit * fabs(right) : limit * ulp_at(right, is_double);
    if (most <= limit)
        return LEY_OK;
    return check_wrong(f, out[worst], right, error,
                       "of x = %.9g, y = %.9g, z = %.9g it is %.9g, not %.9g: off by %.3g %s, at most %.3g is right",
                       in[0][worst], in[1][worst], in[2][worst], out[worst], right, most,
                       c->of->is_native ? "of the value" : "ulp", limit);
}

static ley_status attempt(check_run *run, void *context, size_t size, check_finding *f, ley_error *error)
{
    const function_case *c = context;
    double *all = malloc(4 * size * sizeof *all);
    if (all == NULL)
        return ley_fail_memory(error, 4 * size * sizeof *all, "a check");
    double *in[3] = {all, all + size, all + 2 * size};
    for (size_t i = 0; i < size; i++)
        for (int k = 0; k < 3; k++) {
            const double x = number_at(c->of, i, k);
            in[k][i] = c->type.is_double ? x : (double)(float)x;
        }
    dev_kernel kernel = {.device = run->device};
    ley_status status = function_create(run, &c->type, &kernel, error);
    if (status == LEY_OK)
        status =
            function_compute(&kernel, &c->type, c->of->which, size, (const double *const *)in, all + 3 * size, error);
    if (status == LEY_OK)
        status = judge(c, size, in, all + 3 * size, f, error);
    function_release(run, &kernel);
    free(all);
    return status;
}

/* Quick runs try floats alone, not vectors or doubles, sin and cos included: each type is a program
 * of its own, which takes a second or more of a core to build where nothing is kept (of vectors 1.2
 * s of PoCL 3.1 on an AMD EPYC), and 0.1 s where it is. */
void check_function(check_run *run, const check_row *row)
{
    const int *which = row->subject;
    const function *of = &functions[*which];
    function_type types[FUNCTION_TYPES];
    const size_t count = function_types(run->device->info, types);
    for (size_t i = 0; i < count; i++) {
        function_case context = {of, types[i]};
        if ((run->quick && i > 0) || (types[i].is_double && of->double_ulps == 0))
            continue;
        check_try(run, row,
                  &(check_case){.variant = types[i].variant,
                                .size = run->quick ? 4096 : 65536,
                                .least = 1,
                                .unit = "numbers",
                                .attempt = attempt,
                                .context = &context});
    }
}
