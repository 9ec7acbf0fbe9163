/* What is kept between runs: compiled kernels and measurements of devices, each in a file named by
 * the SHA-256 of all that it depends on. The directory is private (0700); files appear whole, by
 * renaming; whatever is wrong with one, it is a miss, and goes. What was used last stays within
 * environment_cache_bytes(). */
#ifndef LEY_BUILD_CACHE_H
#define LEY_BUILD_CACHE_H

#include "device.h"

#include <sys/types.h>

/* Key of what `kind` ("kernel", "calibration") of device `info` makes of source text and
 * options. */
cache_key cache_key_make(const dev_info *info, const char *kind, const char *text, const char *options);

/* The same of the host itself: what is measured of its processor. */
cache_key cache_key_of_host(const char *processor, const char *kind, const char *text, const char *options);

/* The bytes stored under `key`, from malloc, or NULL: a miss. */
void *cache_get(const cache_key *key, size_t *size);

/* Stores bytes; that it cannot is no error. */
void cache_put(const cache_key *key, const void *bytes, size_t size);

/* Why something could not be stored, "PATH: why": the first reason in this process, which never
 * changes; NULL: none so far. */
const char *cache_complaint(void);

/* Makes a directory and its parents; true also where it stands already. The path is as it was, in
 * the end. */
bool directories_make(char *path, mode_t mode);

/* Forgets an entry that proved useless. */
void cache_remove(const cache_key *key);

#endif
