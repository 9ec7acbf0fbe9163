/* Keeps the build cache's directory below its limit: what was not used for the longest time goes
 * first. */
#ifndef LEY_CACHE_LIMIT_H
#define LEY_CACHE_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

/* What every entry begins with, whatever its version. */
#define CACHE_FAMILY "leyden cache "

/* Locks a new file of the cache for as long as it is open: files under way that nobody has locked
 * are a dead writer's. False when it was taken for one. */
bool cache_hold(int file, const char *path);

/* Marks an open entry as used now. */
void cache_touch(int file);

/* Removes entries of ours, but for the one named `kept`, until all of them have at most
 * limit_bytes, and files that dead writers left. Anything else in the directory neither counts nor
 * is touched. Several processes may do so at once. */
void cache_limit_apply(const char *directory, const char *kept, uint64_t limit_bytes);

#endif
