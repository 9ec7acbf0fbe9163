/* Discovery: every device of every platform that the ICD loader knows. */
#include "internal.h"
#include "known_drivers.h"
#include "quirks.h"
#include "spec.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A text query; a query that fails leaves an empty text. Blanks around it, which some drivers pad
 * names with, go. */
static void device_text(cl_device_id id, cl_device_info what, char text[DEV_TEXT])
{
    char raw[4 * DEV_TEXT] = "";
    size_t size = 0;
    if (clGetDeviceInfo(id, what, sizeof raw - 1, raw, &size) != CL_SUCCESS)
        raw[0] = '\0';
    const char *start = raw + strspn(raw, " ");
    size_t length = strlen(start);
    while (length > 0 && start[length - 1] == ' ')
        length--;
    snprintf(text, DEV_TEXT, "%.*s", (int)length, start);
}

/* A number query of 4 or 8 bytes; one that fails gives `fallback`. */
static uint64_t device_number(cl_device_id id, cl_device_info what, size_t size, uint64_t fallback)
{
    uint32_t small = 0;
    uint64_t large = 0;
    if (clGetDeviceInfo(id, what, size, size == sizeof small ? (void *)&small : &large, NULL) != CL_SUCCESS)
        return fallback;
    return size == sizeof small ? small : large;
}

/* The card's place on the PCI bus, by the standard extension or by the older one of the vendor that
 * needs it: with it, a card that another path leads to as well is seen to be the same. */
static void find_card(cl_device_id id, char card[DEV_TEXT])
{
    struct {
        cl_uint domain, bus, device, function;
    } pci;
    enum { PCI_INFO_KHR = 0x410F, PCI_BUS_NV = 0x4008, PCI_SLOT_NV = 0x4009, PCI_DOMAIN_NV = 0x400A };
    cl_uint bus, slot;
    if (clGetDeviceInfo(id, PCI_INFO_KHR, sizeof pci, &pci, NULL) == CL_SUCCESS)
        snprintf(card, DEV_TEXT, "pci %04x:%02x:%02x", pci.domain, pci.bus, pci.device);
    else if (clGetDeviceInfo(id, PCI_BUS_NV, sizeof bus, &bus, NULL) == CL_SUCCESS &&
             clGetDeviceInfo(id, PCI_SLOT_NV, sizeof slot, &slot, NULL) == CL_SUCCESS)
        snprintf(card, DEV_TEXT, "pci %04x:%02x:%02x", (unsigned)device_number(id, PCI_DOMAIN_NV, sizeof(cl_uint), 0),
                 bus, slot >> 3); /* device and function in one byte */
}

/* Whether a kernel can require a sub-group of 32 work-items. */
static bool can_require_32(cl_device_id id)
{
    enum { SUB_GROUP_SIZES = 0x4108, MOST = 32 };
    size_t sizes[MOST], bytes = 0;
    if (clGetDeviceInfo(id, SUB_GROUP_SIZES, sizeof sizes, sizes, &bytes) != CL_SUCCESS)
        return false;
    for (size_t i = 0; i < bytes / sizeof *sizes && i < MOST; i++)
        if (sizes[i] == 32)
            return true;
    return false;
}

static int sub_groups_of(cl_device_id id, const char *version)
{
    size_t size = 0;
    int found = LEY_SUB_GROUPS_NONE;
    char *extensions =
        clGetDeviceInfo(id, CL_DEVICE_EXTENSIONS, 0, NULL, &size) == CL_SUCCESS ? calloc(size + 1, 1) : NULL;
    if (extensions != NULL && clGetDeviceInfo(id, CL_DEVICE_EXTENSIONS, size, extensions, NULL) == CL_SUCCESS &&
        can_require_32(id))
        found = quirks_sub_groups(extensions, version);
    free(extensions);
    return found;
}

static dev_class class_of(cl_device_type type)
{
    if (type & CL_DEVICE_TYPE_GPU)
        return DEV_GPU;
    return type & CL_DEVICE_TYPE_CPU ? DEV_CPU : DEV_OTHER;
}

static void describe(cl_device_id id, const char *platform, dev_info *info)
{
    info->handle = id;
    snprintf(info->platform, sizeof info->platform, "%s", platform);
    device_text(id, CL_DEVICE_VENDOR, info->vendor);
    device_text(id, CL_DEVICE_NAME, info->name);
    device_text(id, CL_DRIVER_VERSION, info->driver);
    device_text(id, CL_DEVICE_VERSION, info->version);
    info->device_class = class_of(device_number(id, CL_DEVICE_TYPE, sizeof(cl_device_type), CL_DEVICE_TYPE_CUSTOM));
    info->compute_units = (int)device_number(id, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof(cl_uint), 1);
    info->clock_MHz = (int)device_number(id, CL_DEVICE_MAX_CLOCK_FREQUENCY, sizeof(cl_uint), 0);
    info->vector_width = (int)device_number(id, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, sizeof(cl_uint), 1);
    info->max_work_group = device_number(id, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof(size_t), 1);
    if (clGetDeviceInfo(id, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof info->max_work_items, info->max_work_items, NULL) !=
        CL_SUCCESS)
        for (int axis = 0; axis < 3; axis++)
            info->max_work_items[axis] = info->max_work_group;
    for (int axis = 0; axis < 3; axis++)
        info->max_groups[axis] = SIZE_MAX;
    find_card(id, info->card);
    info->sub_groups = sub_groups_of(id, info->version);
    info->global_bytes = device_number(id, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof(cl_ulong), 0);
    info->max_allocation_bytes = device_number(id, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof(cl_ulong), 0);
    info->local_bytes = device_number(id, CL_DEVICE_LOCAL_MEM_SIZE, sizeof(cl_ulong), 0);
    info->constant_bytes = device_number(id, CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE, sizeof(cl_ulong), 0);
    info->has_double = device_number(id, CL_DEVICE_DOUBLE_FP_CONFIG, sizeof(cl_device_fp_config), 0) != 0;
    info->has_denormals =
        (device_number(id, CL_DEVICE_SINGLE_FP_CONFIG, sizeof(cl_device_fp_config), 0) & CL_FP_DENORM) != 0;
    if (!device_number(id, CL_DEVICE_AVAILABLE, sizeof(cl_bool), CL_TRUE))
        snprintf(info->unusable, sizeof info->unusable, "the driver says that it is not available");
    else if (!device_number(id, CL_DEVICE_COMPILER_AVAILABLE, sizeof(cl_bool), CL_TRUE))
        snprintf(info->unusable, sizeof info->unusable, "the driver has no compiler");
}

static ley_status probe_platform(cl_platform_id platform, dev_list *list, ley_error *error)
{
    enum { MAX_DEVICES = 64 };
    char name[DEV_TEXT] = "(nameless platform)";
    clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof name, name, NULL);
    cl_device_id ids[MAX_DEVICES];
    cl_uint count = 0;
    cl_int code = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, MAX_DEVICES, ids, &count);
    if (code == CL_DEVICE_NOT_FOUND || (code == CL_SUCCESS && count == 0)) {
        const char *known = quirks_of_empty(name);
        dev_list_note(list, "%s: no device%s%s", name, known != NULL ? ": " : "", known != NULL ? known : "");
        return LEY_OK;
    }
    if (code != CL_SUCCESS) {
        dev_list_note(list, "%s: clGetDeviceIDs: %s (%d)", name, cl_error_name(code), (int)code);
        return LEY_OK;
    }
    for (cl_uint i = 0; i < count && i < MAX_DEVICES; i++) {
        dev_info *info = dev_list_append(list);
        if (info == NULL)
            return ley_fail_memory(error, sizeof *info, "the device list");
        describe(ids[i], name, info);
    }
    return LEY_OK;
}

ley_status cl_probe(dev_list *list, ley_error *error)
{
    enum { MAX_PLATFORMS = 64 };
    cl_platform_id platforms[MAX_PLATFORMS];
    cl_uint count = 0;
    if (!cl_drivers_load(list->afresh, list))
        return LEY_OK;
    cl_int code = clGetPlatformIDs(MAX_PLATFORMS, platforms, &count);
    if (code == CL_PLATFORM_NOT_FOUND_KHR || (code == CL_SUCCESS && count == 0)) {
        dev_list_note(list,
                      "OpenCL: no platform is installed that can be loaded (Debian: apt-get install pocl-opencl-icd)");
        return LEY_OK;
    }
    if (code != CL_SUCCESS) {
        dev_list_note(list, "OpenCL: clGetPlatformIDs: %s (%d)", cl_error_name(code), (int)code);
        return LEY_OK;
    }
    for (cl_uint p = 0; p < count && p < MAX_PLATFORMS; p++) {
        ley_status status = probe_platform(platforms[p], list, error);
        if (status != LEY_OK)
            return status;
    }
    if (list->count == 0)
        dev_list_note(list, "OpenCL: some drivers show no device where they cannot write a cache of their own: HOME or "
                            "XDG_CACHE_HOME must name a folder that can be written");
    return LEY_OK;
}
