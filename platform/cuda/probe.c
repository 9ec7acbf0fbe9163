/* Discovery: every device of the CUDA driver. */
#include "internal.h"

#include <stdio.h>

static int attribute(const cuda_driver *api, CUdevice device, int which, int fallback)
{
    int value = 0;
    return api->device_attribute(&value, which, device) == CUDA_SUCCESS ? value : fallback;
}

static void describe(const cuda_driver *api, CUdevice device, int version, const char *no_nvrtc, dev_info *info)
{
    size_t memory = 0;
    int major = attribute(api, device, CUDA_COMPUTE_MAJOR, 0), minor = attribute(api, device, CUDA_COMPUTE_MINOR, 0);
    if (major == 0 && api->device_capability != NULL) /* before CUDA 5 it was no attribute */
        api->device_capability(&major, &minor, device);
    api->device_memory(&memory, device);
    api->device_name(info->name, (int)sizeof info->name, device);
    info->handle = (void *)(intptr_t)device;
    info->device_class = DEV_GPU;
    snprintf(info->platform, sizeof info->platform, "CUDA");
    snprintf(info->vendor, sizeof info->vendor, "%s", "CUDA");
    snprintf(info->driver, sizeof info->driver, "CUDA %d.%d", version / 1000, version % 1000 / 10);
    snprintf(info->version, sizeof info->version, "compute capability %d.%d", major, minor);
    info->capability = 10 * major + minor;
    info->compute_units = attribute(api, device, CUDA_MULTIPROCESSOR_COUNT, 1);
    info->clock_MHz = attribute(api, device, CUDA_CLOCK_RATE_KHZ, 0) / 1000;
    info->vector_width = 1;
    info->max_work_group = (size_t)attribute(api, device, CUDA_MAX_THREADS_PER_BLOCK, 512);
    for (int axis = 0; axis < 3; axis++) {
        info->max_work_items[axis] = (size_t)attribute(api, device, CUDA_MAX_BLOCK_DIM_X + axis, 64);
        info->max_groups[axis] = (size_t)attribute(api, device, CUDA_MAX_GRID_DIM_X + axis, axis < 2 ? 65535 : 1);
    }
    info->global_bytes = info->max_allocation_bytes = memory;
    info->local_bytes = (uint64_t)attribute(api, device, CUDA_MAX_SHARED_PER_BLOCK, 16 << 10);
    info->constant_bytes =
        CUDA_CONSTANT_SYMBOL_BYTES; /* every architecture has 64 KB; the symbol takes what the compiler leaves */
    info->has_double = info->capability >= 13;
    info->has_denormals = info->capability >= 20;
    snprintf(
        info->card, sizeof info->card, "pci %04x:%02x:%02x", (unsigned)attribute(api, device, CUDA_PCI_DOMAIN_ID, 0),
        (unsigned)attribute(api, device, CUDA_PCI_BUS_ID, 0), (unsigned)attribute(api, device, CUDA_PCI_DEVICE_ID, 0));
    if (no_nvrtc != NULL)
        snprintf(info->unusable, sizeof info->unusable, "%s", no_nvrtc);
}

ley_status cuda_probe(dev_list *list, ley_error *error)
{
    char reason[DEV_TEXT], nvrtc_reason[DEV_TEXT];
    const cuda_driver *api = cuda_driver_open(reason, sizeof reason);
    if (api == NULL) {
        dev_list_note(list, "CUDA: %s", reason);
        return LEY_OK;
    }
    const char *no_nvrtc = cuda_nvrtc_open(nvrtc_reason, sizeof nvrtc_reason) == NULL ? nvrtc_reason : NULL;
    int count = 0, version = 0;
    CUresult code = api->device_count(&count);
    if (code != CUDA_SUCCESS || count == 0) {
        if (code == CUDA_SUCCESS || code == CUDA_ERROR_NO_DEVICE)
            dev_list_note(list, "CUDA: no device");
        else
            dev_list_note(list, "CUDA: cuDeviceGetCount: error %d", code);
        return LEY_OK;
    }
    api->driver_version(&version);
    for (int ordinal = 0; ordinal < count; ordinal++) {
        CUdevice device;
        if (api->device_get(&device, ordinal) != CUDA_SUCCESS)
            continue;
        dev_info *info = dev_list_append(list);
        if (info == NULL)
            return ley_fail_memory(error, sizeof *info, "the device list");
        describe(api, device, version, no_nvrtc, info);
    }
    return LEY_OK;
}
