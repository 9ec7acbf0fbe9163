#include "environment.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_CACHE_MB = 256 };

static const char *value_of(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

const char *environment_kernel_dir(void)
{
    return value_of("LEYDEN_KERNEL_DIR");
}

const char *environment_nvrtc(void)
{
    return value_of("LEYDEN_NVRTC");
}

const char *environment_nvml(void)
{
    return value_of("LEYDEN_NVML");
}

const char *environment_cufft(void)
{
    return value_of("LEYDEN_CUFFT");
}

const char *environment_clfft(void)
{
    return value_of("LEYDEN_CLFFT");
}

const char *environment_fftw(void)
{
    return value_of("LEYDEN_FFTW");
}

const char *environment_dump_dir(void)
{
    return value_of("LEYDEN_DUMP");
}

const char *environment_cache_dir(char *path, unsigned size)
{
    const char *own = value_of("LEYDEN_CACHE_DIR"), *xdg = value_of("XDG_CACHE_HOME"), *home = value_of("HOME");
    int length = -1;
    if (own != NULL)
        length = snprintf(path, size, "%s/leyden", own);
    else if (xdg != NULL && xdg[0] == '/') /* the XDG specification: a relative path is to be ignored */
        length = snprintf(path, size, "%s/leyden", xdg);
    else if (home != NULL)
        length = snprintf(path, size, "%s/.cache/leyden", home);
    return length >= 0 && (unsigned)length < size ? path : NULL;
}

uint64_t environment_cache_bytes(void)
{
    const char *wanted = value_of("LEYDEN_CACHE_MB");
    const bool is_number = wanted != NULL && strlen(wanted) <= 9 && strspn(wanted, "0123456789") == strlen(wanted);
    return (is_number ? strtoull(wanted, NULL, 10) : DEFAULT_CACHE_MB) << 20;
}

const char *environment_of(const char *name)
{
    return value_of(name);
}

/* Open MPI's mpirun, that of MPICH and its descendants, and srun with PMIx. */
int environment_launched_ranks(int *rank)
{
    static const char *const names[][2] = {
        {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"}, {"PMI_SIZE", "PMI_RANK"}, {"SLURM_NTASKS", "PMIX_RANK"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *count = value_of(names[i][0]), *own = value_of(names[i][1]);
        if (count != NULL && own != NULL && atoi(count) > 1) {
            *rank = atoi(own);
            return atoi(count);
        }
    }
    *rank = 0;
    return 1;
}

void environment_set_unless_there(const char *name, const char *value)
{
    setenv(name, value, 0);
}

char *environment_replace(const char *name, const char *value)
{
    const char *before = getenv(name);
    char *copy = before != NULL ? strdup(before) : NULL;
    if (value != NULL)
        setenv(name, value, 1);
    else
        unsetenv(name);
    return copy;
}
