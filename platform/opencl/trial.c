/* The driver is called through the table of functions that each of its objects begins with, as the
 * loader calls it, but without the loader, which would load all others beside it. */
#include "trial.h"

#include "../child.h"
#include "../clock.h"
#include "cl_check.h"

#include <CL/cl_icd.h>
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* What the child says, in memory that both have. */
typedef struct said {
    volatile bool is_done;
    char call[64];
    char file[TRIAL_PATH];
} said;

/* ---- The child ------------------------------------------------------------------------------- */

/* What is called next. */
static void say(said *s, const char *call)
{
    snprintf(s->call, sizeof s->call, "%s", call);
}

static const cl_icd_dispatch *calls_of(const void *object)
{
    return *(const cl_icd_dispatch *const *)object;
}

static void try_device(said *s, cl_device_id device)
{
    cl_int code;
    cl_bool is_available = CL_FALSE;
    const cl_icd_dispatch *c = calls_of(device);
    say(s, "clGetDeviceInfo");
    if (c->clGetDeviceInfo(device, CL_DEVICE_AVAILABLE, sizeof is_available, &is_available, NULL) != CL_SUCCESS ||
        !is_available)
        return;
    say(s, "clCreateContext");
    cl_context context = c->clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    if (context == NULL)
        return;
    say(s, "clCreateCommandQueue");
    cl_command_queue queue = c->clCreateCommandQueue(context, device, 0, &code);
    say(s, "clReleaseContext");
    if (queue != NULL)
        c->clReleaseCommandQueue(queue);
    c->clReleaseContext(context);
}

static void try_platform(said *s, cl_platform_id platform)
{
    enum { MOST = 64 };
    cl_device_id devices[MOST];
    cl_uint count = 0;
    char name[TRIAL_TEXT];
    const cl_icd_dispatch *c = calls_of(platform);
    say(s, "clGetPlatformInfo");
    c->clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof name, name, NULL);
    say(s, "clGetDeviceIDs");
    if (c->clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, MOST, devices, &count) != CL_SUCCESS)
        return;
    for (cl_uint i = 0; i < count && i < MOST; i++)
        try_device(s, devices[i]);
}

static void note_file(said *s, void *handle)
{
    char path[PATH_MAX];
    struct link_map *map;
    if (dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && realpath(map->l_name, path) != NULL &&
        strlen(path) < sizeof s->file)
        memcpy(s->file, path, strlen(path) + 1);
}

/* Where address space is limited, the driver has to live with less than there is: what loads it in
 * earnest has threads beside it. Drivers abort where they get none. */
static bool leave_room(void)
{
    const rlim_t room = (rlim_t)128 << 20;
    struct rlimit space;
    if (getrlimit(RLIMIT_AS, &space) != 0 || space.rlim_cur == RLIM_INFINITY)
        return false;
    space.rlim_cur -= space.rlim_cur > room ? room : space.rlim_cur;
    return setrlimit(RLIMIT_AS, &space) == 0;
}

static void try_library(said *s, const char *library)
{
    typedef void *address_of(const char *name);
    enum { MOST = 16 };
    cl_platform_id platforms[MOST];
    cl_uint count = 0;
    address_of *address;
    clIcdGetPlatformIDsKHR_fn list;
    say(s, "dlopen");
    const bool is_tight = leave_room();
    void *handle = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
    if (handle == NULL && is_tight) {
        fprintf(stderr, "%s\n", dlerror());
        _exit(1);
    }
    if (handle == NULL) /* the loader passes over it, too */
        return;
    note_file(s, handle);
    void *found = dlsym(handle, "clGetExtensionFunctionAddress");
    memcpy(&address, &found, sizeof address); /* POSIX lets data be a function, C does not */
    say(s, "clIcdGetPlatformIDsKHR");
    found = address != NULL ? address("clIcdGetPlatformIDsKHR") : NULL;
    memcpy(&list, &found, sizeof list);
    if (list == NULL || list(MOST, platforms, &count) != CL_SUCCESS)
        return;
    for (cl_uint i = 0; i < count && i < MOST; i++)
        try_platform(s, platforms[i]);
}

static void live(const void *library, void *shared, int output)
{
    said *s = shared;
    (void)output;
    try_library(s, library);
    s->is_done = true;
}

/* ---- The parent ------------------------------------------------------------------------------ */

static void begin(child *c, const char *library, double deadline_s)
{
    child_begin(
        c, &(child_task){
               .run = live, .context = library, .shared_size = sizeof(said), .prints = true, .deadline_s = deadline_s});
}

/* The last line with something in it, without what cannot be shown. */
static void last_words(int output, char words[TRIAL_TEXT])
{
    char end[1024] = "";
    const off_t size = output >= 0 ? lseek(output, 0, SEEK_END) : 0;
    const off_t from = size > (off_t)sizeof end - 1 ? size - ((off_t)sizeof end - 1) : 0;
    const ssize_t got = size > 0 ? pread(output, end, sizeof end - 1, from) : 0;
    size_t length = got > 0 ? (size_t)got : 0;
    while (length > 0 && (unsigned char)end[length - 1] <= ' ')
        length--;
    size_t start = length;
    while (start > 0 && end[start - 1] != '\n')
        start--;
    for (size_t i = start; i < length; i++)
        if ((unsigned char)end[i] < ' ' || (unsigned char)end[i] > '~')
            end[i] = ' ';
    snprintf(words, TRIAL_TEXT, "%.*s", (int)(length - start), end + start);
}

/* How a child came to its end: its last call, and what it printed. */
static void note_end(const child *c, trial_result *r)
{
    const said *s = c->shared;
    const bool is_killed = c->signal != 0;
    r->end = c->state == CHILD_HUNG ? TRIAL_HUNG : s->is_done ? TRIAL_LIVES : is_killed ? TRIAL_KILLED : TRIAL_EXITED;
    r->number = is_killed ? c->signal : c->code;
    memcpy(r->call, s->call, sizeof r->call);
    memcpy(r->file, s->file, sizeof r->file);
    last_words(c->file, r->words);
}

/* A child of a process with threads may wait forever for a lock that one of them held when it
 * began: allocators and sanitizers need not mend theirs. Hence a late child gets a second one
 * beside it, and the first of the two that ends says what the driver does. */
enum { CHILDREN = 2 };
static const double late = 1. / 6; /* of the limit */

/* One look at a library's children; whether it is still open what the driver does. */
static bool is_open(child children[CHILDREN], trial_result *r)
{
    bool is_running = false;
    for (int k = 0; k < CHILDREN && r->end == TRIAL_UNKNOWN; k++) {
        const child_state state = child_look(&children[k]);
        is_running = is_running || state == CHILD_RUNS;
        if (state == CHILD_ENDED || state == CHILD_HUNG)
            note_end(&children[k], r);
    }
    return is_running && r->end == TRIAL_UNKNOWN;
}

void trial_run(const char *const *libraries, size_t count, double limit_s, trial_result *results)
{
    child(*children)[CHILDREN] = calloc(count + 1, sizeof *children);
    for (size_t i = 0; i < count; i++)
        results[i] = (trial_result){.end = TRIAL_UNKNOWN};
    if (children == NULL)
        return;
    const double start_s = ley_clock_s();
    for (size_t i = 0; i < count; i++)
        begin(&children[i][0], libraries[i], start_s + limit_s);
    for (size_t open = count; open > 0; child_wait_a_moment()) {
        const bool is_late = ley_clock_s() > start_s + late * limit_s;
        open = 0;
        for (size_t i = 0; i < count; i++) {
            const bool is_still_open = is_open(children[i], &results[i]);
            if (is_still_open && is_late && children[i][1].state == CHILD_NONE)
                begin(&children[i][1], libraries[i], start_s + limit_s);
            open += is_still_open;
        }
    }
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < CHILDREN; k++)
            child_end(&children[i][k]);
    free(children);
}
