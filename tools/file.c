#include "file.h"
#include "console.h"
#include "interrupt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

ley_status file_begin(const char *path, ley_file **file, ley_error *error)
{
    interrupt_defer();
    return ley_file_create(path, interrupt_flag(), file, error);
}

int file_end(ley_file *file, ley_status status, ley_error *error)
{
    if (status == LEY_OK)
        status = ley_file_commit(file, error);
    else
        ley_file_destroy(file);
    if (status == LEY_OK)
        return 0;
    error->status = status;
    const int code = fail_with(error);
    return status == LEY_CANCELLED ? interrupt_exit_code() : code;
}

/* ---- Before the work ------------------------------------------------------------------------- */

/* What a report's "-" names, which may be a file, too. */
static bool is_stdout(const named_file *file)
{
    return file->option != NULL && strcmp(file->option, "--json") == 0 && strcmp(file->path, "-") == 0;
}

static const char *path_of(const named_file *file)
{
    return is_stdout(file) ? "/dev/stdout" : file->path;
}

static int check_output(const subcommand *command, const named_file *files, size_t n, size_t output)
{
    const named_file *file = &files[output];
    if (strcmp(file->path, "-") == 0 && !is_stdout(file))
        return fail_usage(command, "%s: it cannot be standard output; name a file (./- for one of that name)",
                          file->option);
    for (size_t i = 0; i < n; i++) {
        if (i == output || files[i].path == NULL || (files[i].option != NULL && i > output))
            continue;
        if (ley_file_is_same(path_of(&files[i]), path_of(file)))
            return fail_usage(command, "%s: '%s' is the file of the %s", file->option, file->path, files[i].what);
    }
    ley_error error = {0};
    if (is_stdout(file) || ley_file_check(file->path, &error) == LEY_OK)
        return 0;
    return fail_with(&error);
}

int files_check(const subcommand *command, const named_file *files, size_t n)
{
    int code = 0;
    for (size_t i = 0; i < n && code == 0; i++)
        if (files[i].option != NULL && files[i].path != NULL)
            code = check_output(command, files, n, i);
    return code;
}

/* Files with different marks are different ones. */
typedef struct file_mark {
    uint64_t mark[2];
    const named_file *file;
} file_mark;

uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* Of one that is there its number on its device; else that of its folder and its name. */
static file_mark mark_of(const named_file *file)
{
    struct stat known;
    file_mark mark = {.file = file};
    if (stat(file->path, &known) != 0) {
        const char *name = base_name(file->path);
        char *folder = allocate((size_t)(name - file->path) + sizeof "./", 1);
        memcpy(folder, file->path, (size_t)(name - file->path));
        known = (struct stat){.st_dev = 0};
        if (stat(name == file->path ? "." : folder, &known) == 0)
            mark.mark[1] = hash_bytes(HASH_OF_NOTHING, name, strlen(name));
        free(folder);
    }
    mark.mark[0] = (uint64_t)known.st_dev;
    mark.mark[1] ^= (uint64_t)known.st_ino;
    return mark;
}

static int compare_marks(const void *a, const void *b)
{
    const file_mark *x = a, *y = b;
    for (int i = 0; i < 2; i++)
        if (x->mark[i] != y->mark[i])
            return x->mark[i] < y->mark[i] ? -1 : 1;
    return x->file < y->file ? -1 : x->file > y->file;
}

static int check_pair(const subcommand *command, const named_file *a, const named_file *b)
{
    const named_file *output = b->option != NULL ? b : a, *other = output == b ? a : b;
    if (output->option == NULL || !ley_file_is_same(a->path, b->path))
        return 0;
    return other->option == NULL
               ? fail_usage(command, "%s: '%s' is the file of the %s '%s'", output->option, output->path, other->what,
                            other->path)
               : fail_usage(command, "%s: '%s' (%s) and '%s' (%s) are one file, and two results would go there",
                            output->option, other->path, other->what, output->path, output->what);
}

int files_check_apart(const subcommand *command, const named_file *files, size_t n)
{
    file_mark *marks = allocate(n, sizeof *marks);
    int code = 0;
    for (size_t i = 0; i < n; i++)
        marks[i] = mark_of(&files[i]);
    qsort(marks, n, sizeof *marks, compare_marks);
    for (size_t i = 1; i < n && code == 0; i++)
        if (memcmp(marks[i].mark, marks[i - 1].mark, sizeof marks->mark) == 0)
            code = check_pair(command, marks[i - 1].file, marks[i].file);
    free(marks);
    return code;
}

/* ---- Names and sizes ------------------------------------------------------------------------- */

uint64_t file_size(const char *path)
{
    struct stat known;
    return stat(path, &known) == 0 ? (uint64_t)known.st_size : 0;
}

bool ends_with(const char *path, const char *suffix)
{
    size_t length = strlen(base_name(path)), tail = strlen(suffix);
    return length > tail && strcasecmp(base_name(path) + length - tail, suffix) == 0;
}

bool is_map_name(const char *path)
{
    return ley_map_format_of(path, NULL) != NULL;
}

bool is_atoms_name(const char *path)
{
    return ends_with(path, ".pqr") || ends_with(path, ".pqr.gz") || ends_with(path, ".atoms");
}

static ley_status with_remark(ley_status status, bool is_quiet, const ley_map *map)
{
    if (status == LEY_OK && !is_quiet && ley_map_remark(map) != NULL)
        warn("%s", ley_map_remark(map));
    return status;
}

ley_status map_read(const char *path, const char *value, bool is_quiet, ley_map **map, ley_error *error)
{
    const ley_status status = ley_map_read_value(path, value, map, error);
    return with_remark(status, is_quiet, *map);
}

ley_status map_read_with_gaps(const char *path, const char *value, bool is_quiet, ley_map **map, ley_error *error)
{
    const ley_status status = ley_map_read_with_gaps(path, value, map, error);
    return with_remark(status, is_quiet, *map);
}

void map_advise_of_grids(const ley_map *a, const ley_map *b, const char *advice, ley_error *error)
{
    ley_compare_options options;
    ley_compare_options_default(&options);
    options.any_units = true;
    if (error->status != LEY_ERROR_INPUT || ley_map_check_alike(a, b, &options, NULL) == LEY_OK)
        return;
    const size_t used = strlen(error->message);
    snprintf(error->message + used, sizeof error->message - used, "; %s", advice);
}

const char *const map_format_words[] = {"dx", "raw", "mrc", "ccp4", "npy", "dxbin", "cube", NULL};

int check_one_file(const subcommand *command, const ley_map_format *format, const char *word)
{
    if (format->beside == NULL)
        return 0;
    return fail_usage(command, "--format %s: its header is a second file, and standard output is only one", word);
}

char *map_header_path(const char *path)
{
    return map_header_path_of(ley_map_format_of(path, NULL), path);
}

char *map_header_path_of(const ley_map_format *format, const char *path)
{
    if (format == NULL || format->beside == NULL)
        return NULL;
    char *header = allocate(strlen(path) + strlen(format->beside) + 1, 1);
    strcat(strcpy(header, path), format->beside);
    return header;
}

void map_warn(const ley_map *map, const ley_map_format *format, const char *path)
{
    char text[256];
    if (ley_map_format_remark(format, ley_map_grid(map), text, sizeof text))
        warn("%s: %s", base_name(path), text);
}

size_t map_stem(const char *path)
{
    const char *ending = "";
    ley_map_format_of(path, &ending);
    return strlen(path) - strlen(ending);
}

const char *map_endings(void)
{
    static char text[LEY_MAP_ENDINGS];
    ley_map_format_endings(text);
    return text;
}

const char *map_formats(void)
{
    static char text[512];
    const ley_map_format *format;
    size_t length = 0;
    for (size_t i = 0; (format = ley_map_format_at(i)) != NULL && length < sizeof text; i++) {
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%s (", length > 0 ? ", " : "", format->name);
        for (const char *const *at = format->endings; *at != NULL && length < sizeof text; at++)
            length +=
                (size_t)snprintf(text + length, sizeof text - length, "%s%s", at != format->endings ? ", " : "", *at);
        if (length < sizeof text && format->beside != NULL)
            length += (size_t)snprintf(text + length, sizeof text - length, ", with a header in NAME%s%s",
                                       *format->endings, format->beside);
        if (length < sizeof text)
            length += (size_t)snprintf(text + length, sizeof text - length, ")");
    }
    if (length < sizeof text)
        snprintf(text + length, sizeof text - length, ", each also compressed, with .gz after its name");
    return text;
}
