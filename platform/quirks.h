/* Known faults and features of devices and drivers. */
#ifndef LEY_QUIRKS_H
#define LEY_QUIRKS_H

#include "device.h"

/* Fills info->quirks, quirks_text and, for devices known not to work, unusable. */
void quirks_apply(dev_info *info);

/* The same on a host whose vectors have so many floats; 1: nothing is known of them. */
void quirks_apply_on_host(dev_info *info, int host_width);

/* How OpenCL C passes numbers on in sub-groups whose size a kernel requires, LEY_SUB_GROUPS_..., by
 * a device's extensions and its version of OpenCL. */
int quirks_sub_groups(const char *extensions, const char *version);

/* The library that counts the energy of such cards; NULL: there is none. */
const char *quirks_energy_library(const dev_info *info);

/* What is known against transforms of this size by this library on this device; NULL: nothing. */
const char *quirks_of_fft(const dev_info *info, const dev_fft_library *library, const size_t n[3]);

/* What is known of this device that makes a case of a check (leyden_check.h) fail; NULL:
 * nothing. */
const char *quirks_of_check(const dev_info *info, const char *group, const char *name, const char *variant);

/* The same on a host of this architecture, as uname says it. */
const char *quirks_of_check_on_host(const dev_info *info, const char *architecture, const char *group, const char *name,
                                    const char *variant);

/* What is known of a platform of this name that shows no device; NULL: nothing. */
const char *quirks_of_empty(const char *platform);

/* Variables by which drivers choose their devices; the last one is NULL. */
extern const char *const quirks_driver_variables[];

/* Variables that drivers are to find in the environment where the user has not set them; the last
 * name is NULL. */
typedef struct quirk_variable {
    const char *name, *value;
} quirk_variable;
extern const quirk_variable quirks_driver_settings[];

#endif
