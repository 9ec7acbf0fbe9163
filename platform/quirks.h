/* Known faults and features of devices and drivers. */
#ifndef LEY_QUIRKS_H
#define LEY_QUIRKS_H

#include "device.h"

/* Fills info->quirks, quirks_text and, for devices known not to work, unusable. */
void quirks_apply(dev_info *info);

#endif
