/* An OpenCL driver that is PoCL but for one fault: what the loader gets is PoCL's platform, in
 * whose table of functions some are replaced. Faults of compilers are made by rewriting kernels'
 * sources, those of devices by changing what comes back. FAKE_ICD says which fault:
 *
 *     FAKE_ICD=fault=rewrite,kernel=dcs,device=0 FAKE_ICD_FROM='a * b' FAKE_ICD_TO='a + b'
 *
 *     kernel   of this kernel alone; unless set, of all
 *     device   of this device alone, in the order in which devices are found; unless set, of all
 *     at       from the so-manieth launch, allocation or wait on
 *     fault    rewrite         FAKE_ICD_FROM is FAKE_ICD_TO in the sources of kernels
 *              barriers        barriers of work-groups do nothing
 *              lanes           the first two lanes of vectors have changed places
 *              context         no context is to be had
 *              stale-binary    of every binary comes the first one's program
 *              stale-build     a source that has been built before is what it was then, whatever
 *                              the options
 *              no-log          compilers say nothing
 *              odd-offsets     offsets of writes lose their two lowest bits
 *              wide-copies     copies of more than 4 KiB are not made
 *              far-copies      copies from places beyond 64 KiB lose the higher bits of these
 *              wide-fills      of fills only the first 64 KiB are made
 *              large           there are no buffers of 1 GiB and more
 *              memory          allocation `at` and all later ones fail
 *              shifted-stamps  launches are stamped 10 s too late
 *              no-stamps       stamps are zero
 *              late-stamps     writes are complete, and have stamps, 5 ms after they return
 *              dropped-waits   what is read does not wait for launches
 *              arguments       the first two of sixteen floats have changed places
 *              native          functions of the host leave a value that is wrong
 *              garbage         from launch `at` on, what is read is not what was computed
 *              last-group      the last work-groups along x never run
 *              hang            wait `at` never ends
 *
 * tests/faulty_opencl has the faults of single calls, of any driver. */
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_icd.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { MOST_DEVICES = 64, MOST_NOTED = 4096 };

static cl_icd_dispatch real;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static cl_device_id devices[MOST_DEVICES];
static cl_uint device_count;
static int counted; /* launches, allocations or waits */

/* ---- Settings -------------------------------------------------------------------------------- */

static const char *setting(const char *key, char *value, size_t size)
{
    const size_t length = strlen(key);
    for (const char *at = getenv("FAKE_ICD"); at != NULL && *at != '\0';
         at = strchr(at, ',') != NULL ? strchr(at, ',') + 1 : NULL)
        if (strncmp(at, key, length) == 0 && at[length] == '=') {
            snprintf(value, size, "%.*s", (int)strcspn(at + length + 1, ","), at + length + 1);
            return value;
        }
    return NULL;
}

static int is_fault(const char *name)
{
    char value[64];
    return setting("fault", value, sizeof value) != NULL && strcmp(value, name) == 0;
}

static int is_on(cl_device_id device)
{
    char value[64];
    const int only = setting("device", value, sizeof value) != NULL ? atoi(value) : -1;
    return only < 0 || ((cl_uint)only < device_count && devices[only] == device);
}

static int is_of(const char *kernel)
{
    char value[64];
    return setting("kernel", value, sizeof value) == NULL || strcmp(value, kernel) == 0;
}

/* Counts one more; whether it is number `at`, or a later one. */
static int is_due(void)
{
    char value[64];
    pthread_mutex_lock(&mutex);
    const int count = ++counted;
    pthread_mutex_unlock(&mutex);
    return count >= (setting("at", value, sizeof value) != NULL ? atoi(value) : 1);
}

/* ---- Whose an object is ---------------------------------------------------------------------- */

static cl_device_id of_context(cl_context context)
{
    cl_device_id id = NULL;
    real.clGetContextInfo(context, CL_CONTEXT_DEVICES, sizeof id, &id, NULL);
    return id;
}

static cl_device_id of_queue(cl_command_queue queue)
{
    cl_device_id id = NULL;
    real.clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof id, &id, NULL);
    return id;
}

static cl_device_id of_event(cl_event event)
{
    cl_command_queue queue = NULL;
    real.clGetEventInfo(event, CL_EVENT_COMMAND_QUEUE, sizeof queue, &queue, NULL);
    return queue != NULL ? of_queue(queue) : NULL;
}

static cl_device_id of_program(cl_program program)
{
    cl_context context = NULL;
    real.clGetProgramInfo(program, CL_PROGRAM_CONTEXT, sizeof context, &context, NULL);
    return of_context(context);
}

static int is_kernel(cl_kernel kernel)
{
    char name[128] = "";
    real.clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof name - 1, name, NULL);
    return is_of(name);
}

/* Events of launches that a fault is about. */
static cl_event noted[MOST_NOTED];
static size_t noted_count;

static void note(cl_event event)
{
    real.clRetainEvent(event); /* so that no other event has its place */
    pthread_mutex_lock(&mutex);
    noted[noted_count++ % MOST_NOTED] = event;
    pthread_mutex_unlock(&mutex);
}

static int is_noted(cl_event event)
{
    int found = 0;
    pthread_mutex_lock(&mutex);
    for (size_t i = 0; i < MOST_NOTED && i < noted_count; i++)
        found = found || noted[i] == event;
    pthread_mutex_unlock(&mutex);
    return found;
}

/* ---- Programs -------------------------------------------------------------------------------- */

/* A copy of `text` with all of `from` replaced. */
static char *replaced(const char *text, const char *from, const char *to)
{
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, from)) != NULL; at += strlen(from))
        count++;
    char *made = malloc(strlen(text) + count * strlen(to) + 1), *end = made;
    for (const char *at; (at = strstr(text, from)) != NULL; text = at + strlen(from)) {
        memcpy(end, text, (size_t)(at - text));
        end = stpcpy(end + (at - text), to);
    }
    strcpy(end, text);
    return made;
}

/* Whether the source has the kernel that the fault is of. */
static int has_kernel(const char *text)
{
    char kernel[64], definition[96];
    if (setting("kernel", kernel, sizeof kernel) == NULL)
        return 1;
    snprintf(definition, sizeof definition, "%s(LEY_PARAMETERS(", kernel);
    const char *at = strstr(text, definition);
    return at != NULL && at > text && (at[-1] == ' ' || at[-1] == '\n');
}

/* A copy of a source whose kernel begins with this. */
static char *begun_with(const char *text, const char *statement)
{
    const char *kernel = strstr(text, "(LEY_PARAMETERS("), *body = kernel != NULL ? strstr(kernel, "\n{") : NULL;
    for (const char *next; kernel != NULL && (next = strstr(kernel + 1, "(LEY_PARAMETERS(")) != NULL;)
        body = strstr(kernel = next, "\n{"); /* the last one: what comes before are macros and comments */
    char *made = malloc(strlen(text) + strlen(statement) + 1);
    const size_t length = body != NULL ? (size_t)(body - text) + 2 : 0;
    memcpy(made, text, length);
    strcpy(stpcpy(made + length, body != NULL ? statement : ""), text + length);
    return made;
}

static cl_program fake_clCreateProgramWithSource(cl_context context, cl_uint count, const char **texts,
                                                 const size_t *lengths, cl_int *code)
{
    const char *from = NULL, *to = NULL;
    if (is_fault("rewrite")) {
        from = getenv("FAKE_ICD_FROM");
        to = getenv("FAKE_ICD_TO");
    } else if (is_fault("barriers")) {
        from = "barrier(CLK_LOCAL_MEM_FENCE)";
        to = "mem_fence(CLK_LOCAL_MEM_FENCE)";
    } else if (is_fault("lanes")) {
        from = "((real)(0, 1";
        to = "((real)(1, 0";
    }
    const int loses_group = is_fault("last-group");
    if ((!loses_group && (from == NULL || to == NULL)) || count != 1 || lengths != NULL ||
        !is_on(of_context(context)) || !has_kernel(texts[0]))
        return real.clCreateProgramWithSource(context, count, texts, lengths, code);
    char *text = loses_group ? begun_with(texts[0], " if (get_num_groups(0) > 1 && get_group_id(0) + 1 == "
                                                    "get_num_groups(0)) return; ")
                             : replaced(texts[0], from, to);
    const char *only = text;
    cl_program program = real.clCreateProgramWithSource(context, 1, &only, NULL, code);
    free(text);
    return program;
}

static cl_program fake_clCreateProgramWithBinary(cl_context context, cl_uint count, const cl_device_id *ids,
                                                 const size_t *lengths, const unsigned char **binaries, cl_int *codes,
                                                 cl_int *code)
{
    static unsigned char *first;
    static size_t length;
    if (!is_fault("stale-binary") || !is_on(of_context(context)))
        return real.clCreateProgramWithBinary(context, count, ids, lengths, binaries, codes, code);
    pthread_mutex_lock(&mutex);
    if (first == NULL) {
        length = lengths[0];
        first = malloc(length);
        memcpy(first, binaries[0], length);
    }
    pthread_mutex_unlock(&mutex);
    const unsigned char *stale = first;
    return real.clCreateProgramWithBinary(context, 1, ids, &length, &stale, codes, code);
}

/* The options that a source was built with first. */
static const char *first_options(cl_program program, const char *options)
{
    static char *texts[256], *all[256];
    static size_t count;
    size_t size = 0, i = 0;
    real.clGetProgramInfo(program, CL_PROGRAM_SOURCE, 0, NULL, &size);
    char *text = calloc(size + 1, 1);
    real.clGetProgramInfo(program, CL_PROGRAM_SOURCE, size, text, NULL);
    pthread_mutex_lock(&mutex);
    while (i < count && strcmp(texts[i], text) != 0)
        i++;
    if (i == count && count < 256) {
        texts[count] = text;
        all[count++] = strdup(options);
    } else {
        free(text);
    }
    pthread_mutex_unlock(&mutex);
    return i < 256 ? all[i] : options;
}

static cl_int fake_clBuildProgram(cl_program program, cl_uint count, const cl_device_id *ids, const char *options,
                                  void(CL_CALLBACK *done)(cl_program, void *), void *context)
{
    if (is_fault("stale-build") && options != NULL && is_on(of_program(program)))
        options = first_options(program, options);
    return real.clBuildProgram(program, count, ids, options, done, context);
}

static cl_int fake_clGetProgramBuildInfo(cl_program program, cl_device_id id, cl_program_build_info what, size_t size,
                                         void *value, size_t *needed)
{
    if (what != CL_PROGRAM_BUILD_LOG || !is_fault("no-log") || !is_on(id))
        return real.clGetProgramBuildInfo(program, id, what, size, value, needed);
    if (value != NULL && size > 0)
        *(char *)value = '\0';
    if (needed != NULL)
        *needed = 1;
    return CL_SUCCESS;
}

static cl_int fake_clSetKernelArg(cl_kernel kernel, cl_uint i, size_t size, const void *value)
{
    float sixteen[16];
    if (size != sizeof sixteen || !is_fault("arguments") || !is_kernel(kernel))
        return real.clSetKernelArg(kernel, i, size, value);
    memcpy(sixteen, value, size);
    const float first = sixteen[0];
    sixteen[0] = sixteen[1];
    sixteen[1] = first;
    return real.clSetKernelArg(kernel, i, size, sixteen);
}

/* ---- Contexts and memory --------------------------------------------------------------------- */

static cl_int fake_clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint most, cl_device_id *ids,
                                  cl_uint *count)
{
    const cl_int code = real.clGetDeviceIDs(platform, type, most, ids, count);
    pthread_mutex_lock(&mutex);
    if (code == CL_SUCCESS && ids != NULL && count != NULL)
        for (device_count = 0; device_count < *count && device_count < most && device_count < MOST_DEVICES;
             device_count++)
            devices[device_count] = ids[device_count];
    pthread_mutex_unlock(&mutex);
    return code;
}

static cl_context fake_clCreateContext(const cl_context_properties *properties, cl_uint count, const cl_device_id *ids,
                                       void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *),
                                       void *context, cl_int *code)
{
    if (!is_fault("context") || !is_on(ids[0]))
        return real.clCreateContext(properties, count, ids, notify, context, code);
    if (code != NULL)
        *code = CL_OUT_OF_RESOURCES;
    return NULL;
}

static cl_mem fake_clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void *host, cl_int *code)
{
    if ((is_fault("memory") && is_on(of_context(context)) && is_due()) ||
        (is_fault("large") && size >= 1 << 30 && is_on(of_context(context)))) {
        if (code != NULL)
            *code = CL_MEM_OBJECT_ALLOCATION_FAILURE;
        return NULL;
    }
    return real.clCreateBuffer(context, flags, size, host, code);
}

/* ---- Commands -------------------------------------------------------------------------------- */

static int is_garbage; /* from now on */

static cl_int fake_clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint axes, const size_t *offset,
                                          const size_t *global, const size_t *local, cl_uint count,
                                          const cl_event *after, cl_event *event)
{
    const int is_mine = is_kernel(kernel) && is_on(of_queue(queue));
    if (is_mine && is_fault("garbage") && is_due())
        is_garbage = 1;
    const cl_int code = real.clEnqueueNDRangeKernel(queue, kernel, axes, offset, global, local, count, after, event);
    if (is_mine && code == CL_SUCCESS && event != NULL && is_fault("dropped-waits"))
        note(*event);
    return code;
}

static int64_t clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static _Atomic int64_t last_write_ns;

static int is_unfinished(void)
{
    return is_fault("late-stamps") && clock_ns() < last_write_ns + 5000000;
}

static cl_int fake_clEnqueueWriteBuffer(cl_command_queue queue, cl_mem memory, cl_bool blocking, size_t offset,
                                        size_t size, const void *bytes, cl_uint count, const cl_event *after,
                                        cl_event *event)
{
    if (is_fault("odd-offsets") && is_on(of_queue(queue)))
        offset = offset / 4 * 4;
    const cl_int code = real.clEnqueueWriteBuffer(queue, memory, blocking, offset, size, bytes, count, after, event);
    if (is_fault("late-stamps"))
        last_write_ns = clock_ns();
    return code;
}

static cl_int fake_clGetEventInfo(cl_event event, cl_event_info what, size_t size, void *value, size_t *needed)
{
    const cl_int code = real.clGetEventInfo(event, what, size, value, needed);
    cl_command_type type = 0;
    real.clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL);
    if (code == CL_SUCCESS && value != NULL && what == CL_EVENT_COMMAND_EXECUTION_STATUS &&
        type == CL_COMMAND_WRITE_BUFFER && is_unfinished())
        *(cl_int *)value = CL_RUNNING;
    return code;
}

static cl_int fake_clEnqueueCopyBuffer(cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset,
                                       size_t to_offset, size_t size, cl_uint count, const cl_event *after,
                                       cl_event *event)
{
    if (is_fault("wide-copies") && size > 4096 && is_on(of_queue(queue)))
        return real.clEnqueueMarkerWithWaitList(queue, count, after, event);
    if (is_fault("far-copies") && is_on(of_queue(queue)))
        from_offset %= 65536;
    return real.clEnqueueCopyBuffer(queue, from, to, from_offset, to_offset, size, count, after, event);
}

static cl_int fake_clEnqueueFillBuffer(cl_command_queue queue, cl_mem memory, const void *pattern, size_t pattern_size,
                                       size_t offset, size_t size, cl_uint count, const cl_event *after,
                                       cl_event *event)
{
    if (is_fault("wide-fills") && size > 65536 && is_on(of_queue(queue)))
        size = 65536;
    return real.clEnqueueFillBuffer(queue, memory, pattern, pattern_size, offset, size, count, after, event);
}

/* Floats that are a little off, and no others: what nobody sees who does not compare. */
static void spoil(void *bytes, size_t size)
{
    float *values = bytes;
    for (size_t i = 0; i < size / sizeof *values; i++)
        values[i] *= 1.0625f;
}

static cl_int fake_clEnqueueReadBuffer(cl_command_queue queue, cl_mem memory, cl_bool blocking, size_t offset,
                                       size_t size, void *bytes, cl_uint count, const cl_event *after, cl_event *event)
{
    if (is_fault("dropped-waits") && count == 1 && is_noted(after[0]))
        return real.clEnqueueReadBuffer(queue, memory, blocking, offset, size, bytes, 0, NULL, event);
    if (!is_garbage || !is_on(of_queue(queue)))
        return real.clEnqueueReadBuffer(queue, memory, blocking, offset, size, bytes, count, after, event);
    const cl_int code = real.clEnqueueReadBuffer(queue, memory, CL_TRUE, offset, size, bytes, count, after, event);
    spoil(bytes, size);
    return code;
}

static cl_int fake_clEnqueueNativeKernel(cl_command_queue queue, void(CL_CALLBACK *function)(void *), void *arguments,
                                         size_t size, cl_uint memories, const cl_mem *memory, const void **places,
                                         cl_uint count, const cl_event *after, cl_event *event)
{
    const cl_int code =
        real.clEnqueueNativeKernel(queue, function, arguments, size, memories, memory, places, count, after, event);
    float value = 0;
    if (code == CL_SUCCESS && memories > 0 && is_fault("native") && is_on(of_queue(queue))) {
        real.clEnqueueReadBuffer(queue, memory[0], CL_TRUE, 8, sizeof value, &value, 0, NULL, NULL);
        value = value * 1.5f + 1;
        real.clEnqueueWriteBuffer(queue, memory[0], CL_TRUE, 8, sizeof value, &value, 0, NULL, NULL);
    }
    return code;
}

static cl_int fake_clWaitForEvents(cl_uint count, const cl_event *events)
{
    while (is_fault("hang") && count > 0 && is_on(of_event(events[0])) && is_due())
        pause();
    return real.clWaitForEvents(count, events);
}

static cl_int fake_clGetEventProfilingInfo(cl_event event, cl_profiling_info what, size_t size, void *value,
                                           size_t *needed)
{
    const cl_int code = real.clGetEventProfilingInfo(event, what, size, value, needed);
    cl_command_type type = 0;
    if (code != CL_SUCCESS || value == NULL || !is_on(of_event(event)))
        return code;
    real.clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL);
    if (type == CL_COMMAND_WRITE_BUFFER && is_unfinished())
        return CL_PROFILING_INFO_NOT_AVAILABLE;
    if (is_fault("no-stamps"))
        *(cl_ulong *)value = 0;
    if (is_fault("shifted-stamps") && type == CL_COMMAND_NDRANGE_KERNEL)
        *(cl_ulong *)value += 10000000000u;
    return code;
}

/* ---- For the loader -------------------------------------------------------------------------- */

static cl_int (*real_platforms)(cl_uint, cl_platform_id *, cl_uint *);

/* Nothing may be left to fault: PoCL's own objects all point to this table. */
static void replace(cl_icd_dispatch *table)
{
    const long page = sysconf(_SC_PAGESIZE);
    char *first = (char *)table - (uintptr_t)table % (uintptr_t)page;
    if (mprotect(first, (size_t)((char *)(table + 1) - first), PROT_READ | PROT_WRITE) != 0)
        perror("fake_icd");
    real = *table;
#define REPLACE(name) table->name = fake_##name
    REPLACE(clCreateProgramWithSource);
    REPLACE(clCreateProgramWithBinary);
    REPLACE(clBuildProgram);
    REPLACE(clGetProgramBuildInfo);
    REPLACE(clSetKernelArg);
    REPLACE(clGetDeviceIDs);
    REPLACE(clCreateContext);
    REPLACE(clCreateBuffer);
    REPLACE(clEnqueueNDRangeKernel);
    REPLACE(clEnqueueWriteBuffer);
    REPLACE(clGetEventInfo);
    REPLACE(clEnqueueCopyBuffer);
    REPLACE(clEnqueueFillBuffer);
    REPLACE(clEnqueueReadBuffer);
    REPLACE(clEnqueueNativeKernel);
    REPLACE(clWaitForEvents);
    REPLACE(clGetEventProfilingInfo);
}

static cl_int platforms(cl_uint most, cl_platform_id *ids, cl_uint *count)
{
    static int is_replaced;
    cl_platform_id id = NULL;
    if (real_platforms == NULL || real_platforms(1, &id, NULL) != CL_SUCCESS || id == NULL)
        return CL_PLATFORM_NOT_FOUND_KHR;
    pthread_mutex_lock(&mutex);
    if (!is_replaced)
        replace(*(cl_icd_dispatch **)id); /* what every object begins with */
    is_replaced = 1;
    pthread_mutex_unlock(&mutex);
    return real_platforms(most, ids, count);
}

#pragma GCC visibility push(default)

void *clGetExtensionFunctionAddress(const char *name)
{
    static void *(*address)(const char *);
    if (address == NULL) {
        void *pocl = dlopen("libpocl.so.2", RTLD_NOW | RTLD_LOCAL),
             *found = pocl != NULL ? dlsym(pocl, "clGetExtensionFunctionAddress") : NULL;
        if (found == NULL) {
            fprintf(stderr, "fake_icd: %s\n", dlerror());
            return NULL;
        }
        memcpy(&address, &found, sizeof address);
        found = address("clIcdGetPlatformIDsKHR");
        memcpy(&real_platforms, &found, sizeof real_platforms);
    }
    if (strcmp(name, "clIcdGetPlatformIDsKHR") != 0)
        return address(name);
    cl_int (*own)(cl_uint, cl_platform_id *, cl_uint *) = platforms;
    void *result;
    memcpy(&result, &own, sizeof result);
    return result;
}
