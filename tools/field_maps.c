#include "field_maps.h"
#include "console.h"
#include "file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

field_files field_files_for(const char *map)
{
    field_files files = {{NULL}};
    const size_t stem = map_stem(map), size = strlen(map) + sizeof "_Ex";
    for (int axis = 0; axis < 3; axis++) {
        files.path[axis] = allocate(size, 1);
        snprintf(files.path[axis], size, "%.*s_E%c%s", (int)stem, map, 'x' + axis, map + stem);
        files.path[3 + axis] = map_header_path(files.path[axis]);
    }
    return files;
}

void field_files_free(field_files *files)
{
    for (int i = 0; i < FIELD_FILES; i++)
        free(files->path[i]);
    *files = (field_files){{NULL}};
}

/* Removes a file that was written, where a link leads to it as well; a pipe or a device stays. */
static void remove_written(const char *path)
{
    struct stat known;
    char *target = path != NULL ? realpath(path, NULL) : NULL;
    if (target != NULL && lstat(target, &known) == 0 && S_ISREG(known.st_mode))
        unlink(target);
    free(target);
}

static ley_status write_component(const ley_map *component, int axis, const char *path, const char *comment,
                                  const char *facts, const volatile bool *cancel, ley_error *error)
{
    const size_t size = strlen(comment) + 100;
    char *own = allocate(size, 1);
    snprintf(own, size, "field along %c, minus the gradient of the potential, in %s\n%s", 'x' + axis,
             ley_map_units(component), comment);
    const ley_status status = ley_map_write(component, path, own, facts, cancel, error);
    free(own);
    return status;
}

ley_status field_maps_write(const ley_map *map, ley_map *const field[3], const char *path, const field_files *files,
                            const char *comment, const char *facts, const volatile bool *cancel, ley_error *error)
{
    ley_status status = LEY_OK;
    int written = 0;
    for (; written < 3 && status == LEY_OK; written += status == LEY_OK)
        status = write_component(field[written], written, files->path[written], comment, facts, cancel, error);
    if (status == LEY_OK)
        status = ley_map_write(map, path, comment, facts, cancel, error);
    for (int axis = 0; axis < written && status != LEY_OK; axis++) {
        remove_written(files->path[axis]);
        remove_written(files->path[3 + axis]);
    }
    return status;
}
