#include "source.h"

#include "embedded.h"
#include "environment.h"
#include "error.h"
#include "flatten.h"

#include <stdio.h>
#include <string.h>

/* While developing: the named directory, or its sibling that holds the other tree. */
static ley_status load_from(const char *directory, const char *file, char **text, ley_error *error)
{
    char fault[2048] = "", siblings[2][4096];
    snprintf(siblings[0], sizeof siblings[0], "%s/../kernels_cuda", directory);
    snprintf(siblings[1], sizeof siblings[1], "%s/../cl", directory);
    const char *const directories[] = {directory, siblings[0], siblings[1], NULL};
    *text = flatten_file(directories, file, fault, sizeof fault);
    return *text != NULL
               ? LEY_OK
               : ley_fail(error, LEY_ERROR_DEVICE, "kernel source %s/%s cannot be read (LEYDEN_KERNEL_DIR): %s",
                          directory, file, fault);
}

ley_status source_load(const char *kernel, const char *suffix, char **text, ley_error *error)
{
    char file[256];
    snprintf(file, sizeof file, "%s.%s", kernel, suffix);
    const char *directory = environment_kernel_dir();
    if (directory != NULL)
        return load_from(directory, file, text, error);
    for (const embedded_kernel *k = embedded_kernels; k->file != NULL; k++)
        if (strcmp(k->file, file) == 0) {
            *text = strdup(k->text);
            return *text != NULL ? LEY_OK : ley_fail_memory(error, strlen(k->text), "kernel source");
        }
    return ley_fail(error, LEY_ERROR_DEVICE, "there is no kernel %s", file);
}
