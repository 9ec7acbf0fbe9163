/* Known faults and features of devices and drivers. */
#ifndef LEY_QUIRKS_H
#define LEY_QUIRKS_H

#include "device.h"

/* Fills info->quirks, quirks_text and, for devices known not to work, unusable. */
void quirks_apply(dev_info *info);

/* What is known against transforms of this size by this library on this device; NULL: nothing. */
const char *quirks_of_fft(const dev_info *info, const dev_fft_library *library, const size_t n[3]);

#endif
