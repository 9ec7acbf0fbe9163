/* Many bytes to a device. */
#ifndef LEY_MEMORY_UPLOAD_H
#define LEY_MEMORY_UPLOAD_H

#include "device.h"

/* From so many bytes on, cards get them through staging: in pieces, of which threads of the host's
 * fill some while those before travel. Drivers alone take five times as long for memory that is not
 * page-locked. */
#define UPLOAD_LEAST_BYTES ((size_t)4 << 20)
enum { UPLOAD_PIECE = 1 << 20 };

/* As the device interface's write(): the bytes may be reused when it returns. */
ley_status upload_bytes(dev *device, dev_buffer *buffer, size_t offset, const void *bytes, size_t size,
                        ley_error *error);

#endif
