#include "environment.h"

#include <stdlib.h>

static const char *value_of(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

const char *shell_path(void)
{
    return value_of("PATH");
}

const char *shell_temporary_folder(void)
{
    return value_of("TMPDIR");
}

const char *shell_openmp_threads(void)
{
    return value_of("OMP_NUM_THREADS");
}
