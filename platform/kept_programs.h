/* Programs that a device keeps for the next job: to take one back from its bytes takes drivers
 * milliseconds, and PoCL keeps memory of each one that it takes. Nobody uses what is here: whoever
 * takes one gives it back. */
#ifndef LEY_KEPT_PROGRAMS_H
#define LEY_KEPT_PROGRAMS_H

#include <stddef.h>

struct dev_program;

/* Name of an entry of the build cache: digest over the device, its driver and platform versions,
 * the format of these files, and texts. */
typedef struct cache_key {
    char hex[65];
} cache_key;

enum { KEPT_PROGRAMS_MOST = 24 };

typedef struct kept_program {
    cache_key key;
    struct dev_program *program; /* NULL: there is none */
    double build_s;              /* it was built ahead, has not been tested, and took so long; 0: it was tested */
} kept_program;

/* Zeroed: empty. Whoever uses the device uses it. */
typedef struct kept_programs {
    kept_program list[KEPT_PROGRAMS_MOST]; /* the oldest first */
    size_t count;
} kept_programs;

/* The one of this name, for the caller; or none. */
kept_program kept_programs_take(kept_programs *kept, const cache_key *key);

/* The oldest, for the caller to destroy; or none. */
kept_program kept_programs_drop(kept_programs *kept);

/* Where there are not KEPT_PROGRAMS_MOST yet: it is the caller's no more. */
void kept_programs_put(kept_programs *kept, kept_program one);

#endif
