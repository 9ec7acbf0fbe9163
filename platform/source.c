#include "source.h"

#include "embedded.h"
#include "environment.h"
#include "error.h"
#include "flatten.h"

#include <stdio.h>
#include <string.h>

ley_status source_load(const char *kernel, char **text, ley_error *error)
{
    const char *directory = environment_kernel_dir();
    if (directory != NULL) {
        char file[256], missing[1024] = "";
        snprintf(file, sizeof file, "%s.cl", kernel);
        *text = flatten_file(directory, file, missing, sizeof missing);
        return *text != NULL ? LEY_OK
                             : ley_fail(error, LEY_ERROR_DEVICE, "kernel source %s cannot be read (LEYDEN_KERNEL_DIR)",
                                        missing);
    }
    for (const embedded_kernel *k = embedded_kernels; k->name != NULL; k++)
        if (strcmp(k->name, kernel) == 0) {
            *text = strdup(k->text);
            return *text != NULL ? LEY_OK : ley_fail_memory(error, strlen(k->text), "kernel source");
        }
    return ley_fail(error, LEY_ERROR_DEVICE, "there is no kernel named %s", kernel);
}
