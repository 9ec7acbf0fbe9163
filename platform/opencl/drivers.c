#include "drivers.h"

#include "../environment.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char suffix[] = ".icd", vendors_variable[] = "OCL_ICD_VENDORS", files_variable[] = "OCL_ICD_FILENAMES";

typedef struct found {
    cl_driver *drivers;
    size_t count;
} found;

static bool ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

static bool is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static void add(found *f, const char *library, size_t length, const char *named_by)
{
    if (length == 0 || length >= CL_DRIVER_PATH || strlen(named_by) >= CL_DRIVER_PATH)
        return;
    for (size_t i = 0; i < f->count; i++)
        if (strlen(f->drivers[i].library) == length && memcmp(f->drivers[i].library, library, length) == 0)
            return;
    cl_driver *drivers = realloc(f->drivers, (f->count + 1) * sizeof *drivers);
    if (drivers == NULL)
        return;
    f->drivers = drivers;
    cl_driver *d = &drivers[f->count++];
    memcpy(d->library, library, length);
    d->library[length] = '\0';
    memcpy(d->named_by, named_by, strlen(named_by) + 1);
}

/* The library that a file names in its first line; false: there is no such file. */
static bool add_file(found *f, const char *path)
{
    char line[CL_DRIVER_PATH] = "";
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return false;
    if (fgets(line, sizeof line, file) != NULL)
        add(f, line, strcspn(line, "\r\n"), path);
    fclose(file);
    return true;
}

static void add_folder(found *f, const char *folder)
{
    struct dirent **entries;
    const int count = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        char path[CL_DRIVER_PATH];
        const int length = snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        if (ends_with(entries[i]->d_name, suffix) && length > 0 && (size_t)length < sizeof path)
            add_file(f, path);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
}

/* A file's name without a folder is looked for in the usual folder first. */
static void add_named_file(found *f, const char *folder, const char *name)
{
    char path[CL_DRIVER_PATH];
    const int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    if (strchr(name, '/') == NULL && length > 0 && (size_t)length < sizeof path && add_file(f, path))
        return;
    add_file(f, name);
}

static void add_list(found *f, const char *list)
{
    while (list != NULL && *list != '\0') {
        const size_t length = strcspn(list, ":");
        add(f, list, length, files_variable);
        list += length + (list[length] == ':');
    }
}

cl_driver *cl_drivers_find(size_t *count)
{
    found f = {.count = 0};
    const char *own = environment_of(vendors_variable), *usual = environment_of("OPENCL_VENDOR_PATH");
    const char *folder = usual != NULL ? usual : "/etc/OpenCL/vendors";
    add_list(&f, environment_of(files_variable));
    if (own == NULL)
        add_folder(&f, folder);
    else if (is_folder(own))
        add_folder(&f, own);
    else if (ends_with(own, suffix))
        add_named_file(&f, folder, own);
    else
        add(&f, own, strlen(own), vendors_variable);
    *count = f.count;
    return f.drivers;
}

/* ---- What the loader sees -------------------------------------------------------------------- */

static void file_path(const cl_drivers_shown *shown, size_t i, char path[128])
{
    snprintf(path, 128, "%s/%03zu%s", shown->folder, i, suffix);
}

static void remove_folder(cl_drivers_shown *shown)
{
    char path[128];
    for (size_t i = 0; i < shown->count; i++) {
        file_path(shown, i, path);
        unlink(path);
    }
    rmdir(shown->folder);
}

static bool add_shown(cl_drivers_shown *shown, const char *library)
{
    char path[128];
    file_path(shown, shown->count, path);
    FILE *file = fopen(path, "wxe");
    if (file == NULL)
        return false;
    shown->count++;
    const bool is_written = fprintf(file, "%s\n", library) > 0;
    return fclose(file) == 0 && is_written;
}

bool cl_drivers_show(const char *const *libraries, size_t count, cl_drivers_shown *shown)
{
    *shown = (cl_drivers_shown){.folder = "/tmp/leyden-drivers-XXXXXX"};
    bool is_made = mkdtemp(shown->folder) != NULL;
    if (!is_made)
        return false;
    for (size_t i = 0; i < count && is_made; i++)
        is_made = add_shown(shown, libraries[i]);
    if (!is_made) {
        remove_folder(shown);
        return false;
    }
    shown->values[0] = environment_replace(vendors_variable, shown->folder);
    shown->values[1] = environment_replace(files_variable, NULL);
    return true;
}

void cl_drivers_show_all(cl_drivers_shown *shown)
{
    free(environment_replace(vendors_variable, shown->values[0]));
    free(environment_replace(files_variable, shown->values[1]));
    free(shown->values[0]);
    free(shown->values[1]);
    remove_folder(shown);
}
