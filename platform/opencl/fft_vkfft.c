/* Fourier transforms by VkFFT, a library that is one header: a translation unit of its own, for it
 * takes long to compile. */
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Programs -------------------------------------------------------------------------------- */

/* The programs of a plan in the order in which they are made, those of other plans that the library
 * makes on its way, too. It can keep binaries itself, but as strings, which end at the first zero:
 * so it is given its programs here. */
enum { MOST_PROGRAMS = 64 };
typedef struct shelf {
    const unsigned char *kept; /* that has not been taken yet; NULL: nothing is */
    size_t kept_size, count;
    cl_program programs[MOST_PROGRAMS];
    uint64_t texts[MOST_PROGRAMS]; /* what each was made of */
} shelf;

/* What stands before a program's binary among what is kept. */
typedef struct saved_program {
    uint64_t text, size;
} saved_program;

static _Thread_local shelf *at_hand; /* of the plan that is being made */

static uint64_t hash(const char *text)
{
    uint64_t h = 14695981039346656037u; /* Fowler, Noll and Vo's, of 64 bits */
    for (; *text != '\0'; text++)
        h = (h ^ (unsigned char)*text) * 1099511628211u;
    return h;
}

/* The next program that is kept, if it was made of this text. */
static const unsigned char *take_kept(shelf *s, uint64_t text, size_t *size)
{
    saved_program head;
    if (s->kept == NULL || s->kept_size < sizeof head)
        return NULL;
    memcpy(&head, s->kept, sizeof head);
    if (head.text != text || head.size > s->kept_size - sizeof head)
        return NULL;
    const unsigned char *binary = s->kept + sizeof head;
    *size = (size_t)head.size;
    s->kept = binary + head.size;
    s->kept_size -= sizeof head + (size_t)head.size;
    return binary;
}

static cl_program make_program(cl_context context, cl_uint count, const char **texts, const size_t *lengths,
                               cl_int *code)
{
    shelf *s = at_hand;
    cl_device_id device;
    size_t size = 0;
    const uint64_t text = hash(texts[0]);
    const unsigned char *binary = take_kept(s, text, &size);
    cl_program made = NULL;
    if (binary != NULL && (*code = clGetContextInfo(context, CL_CONTEXT_DEVICES, sizeof device, &device, NULL)) == 0)
        made = clCreateProgramWithBinary(context, 1, &device, &size, &binary, NULL, code);
    else if (binary == NULL)
        made = clCreateProgramWithSource(context, count, texts, lengths, code);
    if (made != NULL && s->count < MOST_PROGRAMS && clRetainProgram(made) == CL_SUCCESS) {
        s->programs[s->count] = made;
        s->texts[s->count++] = text;
    }
    return made;
}

static void end_shelf(shelf *s)
{
    for (size_t i = 0; i < s->count; i++)
        clReleaseProgram(s->programs[i]);
}

/* ---- The library ----------------------------------------------------------------------------- */

/* It prints what compilers say; here nothing is printed. */
static int say_nothing(const char *format, ...)
{
    (void)format;
    return 0;
}

#define VKFFT_BACKEND 3
#define printf say_nothing
#define clCreateProgramWithSource make_program
#include <vkFFT.h>
#undef clCreateProgramWithSource
#undef printf

/* What the library is told stays where it is as long as the plan lives: it keeps pointers. */
typedef struct vkfft_plan {
    dev_fft_plan base;
    cl_device_id device;
    cl_platform_id platform;
    cl_context context;
    uint64_t mesh_bytes, spectrum_bytes;
    cl_mem mesh, spectrum, scratch; /* of the run at hand: it looks here when it enqueues */
    bool in_place;
    shelf shelf;
    VkFFTApplication app;
} vkfft_plan;

static bool describe(const dev_info *info, char version[64], char unusable[DEV_TEXT])
{
    const int number = VkFFTGetVersion();
    (void)info, (void)unusable;
    snprintf(version, 64, "%d.%d.%d", number / 10000, number / 100 % 100, number % 100);
    return true;
}

static ley_status fail(ley_error *error, VkFFTResult result, const char *call)
{
    return ley_fail(error, LEY_ERROR_DEVICE, "%s: VkFFT's error %d", call, (int)result);
}

/* Version 1.2.26 makes wrong values where a part of a row along x is left out, and puts rows
 * together in pairs along y, of which one that is left out spoils the other. */
static void leave_rows_out(const dev_fft_shape *shape, VkFFTConfiguration *c)
{
    const size_t filled[3] = {shape->n[0], shape->filled[1] + shape->filled[1] % 2, shape->filled[2]};
    for (int axis = 0; axis < 3; axis++)
        if (filled[axis] < shape->n[axis]) {
            c->performZeropadding[axis] = 1;
            c->fft_zeropad_left[axis] = filled[axis];
            c->fft_zeropad_right[axis] = shape->n[axis];
        }
}

static VkFFTConfiguration configuration(vkfft_plan *p, const dev_fft_shape *shape)
{
    VkFFTConfiguration c;
    memset(&c, 0, sizeof c);
    c.FFTdim = 3;
    for (int axis = 0; axis < 3; axis++)
        c.size[axis] = shape->n[axis];
    leave_rows_out(shape, &c);
    c.performR2C = 1;
    c.device = &p->device;
    c.platform = &p->platform;
    c.context = &p->context;
    c.bufferSize = &p->spectrum_bytes;
    c.useLUT = shape->tables ? 1 : 0;
    if (!shape->in_place) {
        c.isInputFormatted = 1;
        c.inverseReturnToInputBuffer = 1;
        c.inputBufferSize = &p->mesh_bytes;
        c.inputBufferStride[0] = shape->n[0];
        c.inputBufferStride[1] = shape->n[0] * shape->n[1];
        c.inputBufferStride[2] = shape->n[0] * shape->n[1] * shape->n[2];
    }
    c.userTempBuffer = 1; /* what it needs is lent to each run */
    c.tempBufferSize = &p->spectrum_bytes;
    return c;
}

/* Only axes that are done in several steps go through memory of their own. */
static size_t scratch_bytes(const vkfft_plan *p)
{
    const VkFFTPlan *const plans[] = {p->app.localFFTPlan, p->app.localFFTPlan_inverse};
    bool is_needed = false;
    for (size_t way = 0; way < 2; way++)
        for (int axis = 0; axis < 3 && plans[way] != NULL; axis++)
            is_needed = is_needed || plans[way]->numAxisUploads[axis] > 1;
    return is_needed ? (size_t)p->spectrum_bytes : 0;
}

static void end(dev_fft_plan *plan)
{
    vkfft_plan *p = (vkfft_plan *)plan;
    deleteVkFFT(&p->app);
    end_shelf(&p->shelf);
    free(p);
}

static ley_status make(cl_dev *d, const dev_fft_shape *shape, const void *kept, size_t kept_size, dev_fft_plan **plan,
                       ley_error *error)
{
    const size_t row = shape->n[1] * shape->n[2] * sizeof(float);
    cl_platform_id platform;
    CL_TRY(error, clGetDeviceInfo(d->id, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL));
    vkfft_plan *p = calloc(1, sizeof *p);
    if (p == NULL)
        return ley_fail_memory(error, sizeof *p, "a transform");
    p->device = d->id;
    p->platform = platform;
    p->context = d->context;
    p->in_place = shape->in_place;
    p->mesh_bytes = shape->n[0] * row;
    p->spectrum_bytes = 2 * (shape->n[0] / 2 + 1) * row;
    p->shelf.kept = kept;
    p->shelf.kept_size = kept != NULL ? kept_size : 0;
    at_hand = &p->shelf;
    const VkFFTResult result = initializeVkFFT(&p->app, configuration(p, shape));
    at_hand = NULL;
    if (result != VKFFT_SUCCESS) { /* it has freed what it had */
        end_shelf(&p->shelf);
        free(p);
        return fail(error, result, "initializeVkFFT(&p->app, ...)");
    }
    if (p->shelf.kept_size > 0) {
        end(&p->base);
        return ley_fail(error, LEY_ERROR_DEVICE, "what was kept of a transform are not its programs");
    }
    p->base.scratch_bytes = scratch_bytes(p);
    p->base.zero_planes = shape->filled[2];
    *plan = &p->base;
    return LEY_OK;
}

static ley_status binary_size(cl_program program, size_t *size, ley_error *error)
{
    CL_TRY(error, clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof *size, size, NULL));
    return *size > 0 ? LEY_OK : ley_fail(error, LEY_ERROR_DEVICE, "the driver hands out no program binary");
}

/* Programs as they are by now: some drivers compile when a kernel is first launched. */
static ley_status keep(dev_fft_plan *plan, void **bytes, size_t *size, ley_error *error)
{
    const shelf *s = &((const vkfft_plan *)plan)->shelf;
    saved_program heads[MOST_PROGRAMS];
    size_t all = 0;
    for (size_t i = 0; i < s->count; i++) {
        size_t own = 0;
        const ley_status status = binary_size(s->programs[i], &own, error);
        if (status != LEY_OK)
            return status;
        heads[i] = (saved_program){s->texts[i], own};
        all += sizeof heads[i] + own;
    }
    unsigned char *to = all > 0 && s->count < MOST_PROGRAMS ? malloc(all) : NULL;
    if (to == NULL)
        return ley_fail_memory(error, all, "a transform's programs");
    *bytes = to;
    *size = all;
    for (size_t i = 0; i < s->count; i++) {
        memcpy(to, &heads[i], sizeof heads[i]);
        to += sizeof heads[i];
        const cl_int code = clGetProgramInfo(s->programs[i], CL_PROGRAM_BINARIES, sizeof to, &to, NULL);
        if (code != CL_SUCCESS) {
            free(*bytes);
            *bytes = NULL;
            return cl_fail(error, code, "clGetProgramInfo(CL_PROGRAM_BINARIES)", __FILE__, __LINE__);
        }
        to += heads[i].size;
    }
    return LEY_OK;
}

static ley_status run(cl_dev *d, dev_fft_plan *plan, bool forward, cl_mem from, cl_mem to, cl_mem scratch,
                      ley_error *error)
{
    vkfft_plan *p = (vkfft_plan *)plan;
    VkFFTLaunchParams how;
    memset(&how, 0, sizeof how);
    p->mesh = forward ? from : to;
    p->spectrum = forward ? to : from;
    p->scratch = scratch != NULL ? scratch : p->spectrum; /* one that is not used must be there all the same */
    how.commandQueue = &d->queues[LANE_LAUNCH];
    how.buffer = &p->spectrum;
    how.inputBuffer = p->in_place ? NULL : &p->mesh;
    how.tempBuffer = &p->scratch;
    const VkFFTResult result = VkFFTAppend(&p->app, forward ? -1 : 1, &how);
    return result == VKFFT_SUCCESS ? LEY_OK : fail(error, result, "VkFFTAppend(&p->app, ...)");
}

/* Of 1,500 values along each axis version 1.2.26 reads or writes beyond its buffers on an H200,
 * also with numbers of 64 bits; of less than 2^30 in all many were right. */
enum { MOST_VALUES = 1 << 30 };

const cl_fft_library cl_fft_vkfft = {.name = "vkfft",
                                     .most_values = MOST_VALUES,
                                     .has_tables = true,
                                     .leaves_out = true,
                                     .needs_no_area = true,
                                     .describe = describe,
                                     .plan = make,
                                     .keep = keep,
                                     .run = run,
                                     .end = end};
