/* What fuzzers share. */
#ifndef LEY_FUZZ_H
#define LEY_FUZZ_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static inline void require(bool condition)
{
    if (!condition)
        abort();
}

/* An empty file in memory, and a path to it. */
static inline int open_memory(char path[64])
{
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    require(fd >= 0);
    snprintf(path, 64, "/proc/self/fd/%d", fd);
    return fd;
}

#endif
