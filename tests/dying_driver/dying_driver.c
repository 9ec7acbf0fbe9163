/* An OpenCL driver without devices that ends the process, or does not return, when it is asked for
 * them. Its file's name says how: "abort.so", "segfault.so", "exit.so", "hang.so", "once.so", which
 * does not return the first time, or "constructor.so", which aborts as soon as it is loaded; any
 * other lives. Each time that it is
 * loaded, it adds a line to the file that DYING_DRIVER_SAYS names. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <CL/cl_icd.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SEEN __attribute__((visibility("default")))

struct _cl_platform_id {
    const cl_icd_dispatch *calls;
};

SEEN void *clGetExtensionFunctionAddress(const char *name);

static int has_fate(const char *fate)
{
    static const char mine;
    Dl_info info;
    const char *slash = dladdr(&mine, &info) != 0 ? strrchr(info.dli_fname, '/') : NULL;
    return slash != NULL && strncmp(slash + 1, fate, strlen(fate)) == 0;
}

static const char arrival[] = "loaded\n";

static void die(void)
{
    fprintf(stderr, "\nTopology became empty\n");
    if (has_fate("abort"))
        abort();
    if (has_fate("segfault"))
        raise(SIGSEGV);
    if (has_fate("exit"))
        _exit(3);
    const char *path = getenv("DYING_DRIVER_SAYS");
    struct stat says;
    const int is_first = path != NULL && stat(path, &says) == 0 && says.st_size == sizeof arrival - 1;
    while (has_fate("hang") || (has_fate("once") && is_first))
        pause();
}

static cl_int CL_API_CALL platform_info(cl_platform_id platform, cl_platform_info what, size_t size, void *value,
                                        size_t *needed)
{
    const char *text = what == CL_PLATFORM_EXTENSIONS       ? "cl_khr_icd"
                       : what == CL_PLATFORM_ICD_SUFFIX_KHR ? "DYING"
                       : what == CL_PLATFORM_VERSION        ? "OpenCL 1.2 dying"
                                                            : "Dying driver";
    (void)platform;
    if (needed != NULL)
        *needed = strlen(text) + 1;
    if (value != NULL && size < strlen(text) + 1)
        return CL_INVALID_VALUE;
    if (value != NULL)
        memcpy(value, text, strlen(text) + 1);
    return CL_SUCCESS;
}

static cl_int CL_API_CALL device_ids(cl_platform_id platform, cl_device_type type, cl_uint most, cl_device_id *devices,
                                     cl_uint *count)
{
    (void)platform, (void)type, (void)most, (void)devices;
    die();
    if (count != NULL)
        *count = 0;
    return CL_DEVICE_NOT_FOUND;
}

static cl_icd_dispatch calls = {.clGetPlatformInfo = platform_info, .clGetDeviceIDs = device_ids};
static struct _cl_platform_id the_platform = {&calls};

static cl_int CL_API_CALL platform_ids(cl_uint most, cl_platform_id *platforms, cl_uint *count)
{
    if (platforms != NULL && most > 0)
        platforms[0] = &the_platform;
    if (count != NULL)
        *count = 1;
    return CL_SUCCESS;
}

void *clGetExtensionFunctionAddress(const char *name)
{
    void *address = NULL;
    cl_int(CL_API_CALL * list)(cl_uint, cl_platform_id *, cl_uint *) = platform_ids;
    if (strcmp(name, "clIcdGetPlatformIDsKHR") == 0)
        memcpy(&address, &list, sizeof address);
    cl_int(CL_API_CALL * info)(cl_platform_id, cl_platform_info, size_t, void *, size_t *) = platform_info;
    if (strcmp(name, "clGetPlatformInfo") == 0)
        memcpy(&address, &info, sizeof address);
    return address;
}

__attribute__((constructor)) static void arrive(void)
{
    const char *path = getenv("DYING_DRIVER_SAYS");
    const int file = path != NULL ? open(path, O_WRONLY | O_CREAT | O_APPEND, 0600) : -1;
    if (file >= 0 && write(file, arrival, sizeof arrival - 1) > 0)
        close(file);
    if (has_fate("constructor"))
        abort();
}
