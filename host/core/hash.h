/* A short hash of bytes, for names and for what is to be the same again: FNV-1a of 64 bits. It is
 * no protection from intent. */
#ifndef LEY_CORE_HASH_H
#define LEY_CORE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Of no bytes; and more bytes behind those of a hash. */
#define HASH_BEGIN UINT64_C(0xcbf29ce484222325)
uint64_t hash_add(uint64_t hash, const void *bytes, size_t size);

#endif
