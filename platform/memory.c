#include "memory.h"

#include "error.h"

#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

static const double small_bytes = 64 << 20, most_reserve_bytes = 256 << 20, reserve_share = 1.0 / 16;
static const double unlimited_bytes = 0x1p62; /* version 1 says a number like this where there is no limit */

enum { PATH_BYTES = 4096, FILE_BYTES = 64 * 1024 };

static _Atomic double pretended = -1;

void memory_pretend(double bytes)
{
    pretended = bytes;
}

/* ---- Files of the system --------------------------------------------------------------------- */

/* A small file's text; NULL when it cannot be read. From malloc. */
static char *read_file(const char *root, const char *path)
{
    char whole[PATH_BYTES];
    char *text = NULL;
    const int length = snprintf(whole, sizeof whole, "%s%s", root, path);
    FILE *file = length > 0 && (size_t)length < sizeof whole ? fopen(whole, "re") : NULL;
    if (file == NULL)
        return NULL;
    if ((text = malloc(FILE_BYTES)) != NULL)
        text[fread(text, 1, FILE_BYTES - 1, file)] = '\0';
    fclose(file);
    return text;
}

/* The number behind a word at the beginning of a line; NAN when there is none. */
static double number_of(const char *text, const char *word)
{
    const size_t length = strlen(word);
    for (const char *line = text; line != NULL && *line != '\0'; line = strchr(line, '\n'), line += line != NULL)
        if (strncmp(line, word, length) == 0 && strchr(" \t:", line[length]) != NULL)
            return (double)strtoull(line + length + strspn(line + length, " \t:"), NULL, 10);
    return NAN;
}

static double number_in(const char *root, const char *path, const char *word)
{
    char *text = read_file(root, path);
    const double number = text != NULL ? number_of(text, word) : NAN;
    free(text);
    return number;
}

/* ---- Limits ---------------------------------------------------------------------------------- */

static void lower(memory_room *room, double bytes, const char *limit)
{
    if (bytes < room->bytes) /* no number changes nothing */
        *room = (memory_room){fmax(bytes, 0), limit};
}

/* A group's files. What it has of the file cache is given back when memory is short. */
typedef struct group_kind {
    const char *limit, *usage, *inactive, *active;
} group_kind;

static const group_kind version_1 = {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file",
                                     "total_active_file"};
static const group_kind version_2 = {"memory.max", "memory.current", "inactive_file", "active_file"};

static double number_below(const char *root, const char *folder, const char *name, const char *word)
{
    char path[PATH_BYTES];
    const int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    if (length < 0 || (size_t)length >= sizeof path)
        return NAN;
    if (word != NULL)
        return number_in(root, path, word);
    char *text = read_file(root, path), *end = text;
    const double number = text != NULL ? (double)strtoull(text, &end, 10) : NAN;
    const double result = end != text ? number : NAN; /* "max" is no number */
    free(text);
    return result;
}

/* A group and those above it, up to where the hierarchy is mounted. `folder` is cut. */
static void ask_groups(const char *root, const group_kind *kind, const char *mount, char *folder, memory_room *room)
{
    for (;;) {
        const double limit = number_below(root, folder, kind->limit, NULL),
                     usage = number_below(root, folder, kind->usage, NULL);
        const double inactive = number_below(root, folder, "memory.stat", kind->inactive),
                     active = number_below(root, folder, "memory.stat", kind->active);
        if (limit < unlimited_bytes)
            lower(room, limit - (usage > 0 ? usage : 0) + (inactive > 0 ? inactive : 0) + (active > 0 ? active : 0),
                  "the limit of the control group, as containers and batch systems set it");
        char *slash = strrchr(folder, '/');
        if (slash == NULL || strlen(folder) <= strlen(mount))
            return;
        *slash = '\0';
    }
}

/* Whether a comma-separated list has this word. */
static bool has_word(const char *list, size_t length, const char *word)
{
    const size_t wanted = strlen(word);
    for (const char *at = list; at < list + length; at += strcspn(at, ",") + 1)
        if ((size_t)(list + length - at) >= wanted && strncmp(at, word, wanted) == 0 &&
            (at + wanted == list + length || at[wanted] == ','))
            return true;
    return false;
}

/* The process's path within a hierarchy, of "/proc/self/cgroup": lines
 * "number:controllers:path". */
static bool find_path(const char *groups, bool is_version_2, char path[PATH_BYTES])
{
    for (const char *line = groups; line != NULL && *line != '\0'; line = strchr(line, '\n'), line += line != NULL) {
        const char *first = strchr(line, ':'), *second = first != NULL ? strchr(first + 1, ':') : NULL;
        if (second == NULL)
            return false;
        const bool is_it =
            is_version_2 ? second == first + 1 : has_word(first + 1, (size_t)(second - first - 1), "memory");
        if (is_it) {
            snprintf(path, PATH_BYTES, "%.*s", (int)strcspn(second + 1, "\n"), second + 1);
            return true;
        }
    }
    return false;
}

/* A line of "/proc/self/mountinfo": "number number device ROOT MOUNT options ... - TYPE source
 * OPTIONS". A container sees a part of a hierarchy: what lies below ROOT, at MOUNT. */
static void ask_mount(const char *root, const char *line, const char *groups, memory_room *room)
{
    char top[PATH_BYTES], mount[PATH_BYTES], type[32], options[512], path[PATH_BYTES], folder[2 * PATH_BYTES];
    const char *end = strstr(line, " - ");
    if (sscanf(line, "%*s %*s %*s %4095s %4095s", top, mount) != 2 || end == NULL || end > line + strcspn(line, "\n") ||
        sscanf(end, " - %31s %*s %511s", type, options) != 2)
        return;
    const bool is_version_2 = strcmp(type, "cgroup2") == 0;
    if (!is_version_2 && (strcmp(type, "cgroup") != 0 || !has_word(options, strlen(options), "memory")))
        return;
    if (!find_path(groups, is_version_2, path))
        return;
    const size_t above = strcmp(top, "/") == 0 ? 0 : strlen(top);
    const bool is_below = strncmp(path, top, above) == 0 && (path[above] == '/' || path[above] == '\0');
    const char *rest = is_below && strcmp(path + above, "/") != 0 ? path + above : "";
    const int length = snprintf(folder, sizeof folder, "%s%s", mount, strstr(rest, "..") == NULL ? rest : "");
    if (length > 0 && (size_t)length < sizeof folder)
        ask_groups(root, is_version_2 ? &version_2 : &version_1, mount, folder, room);
}

memory_room memory_available_below(const char *root)
{
    memory_room room = {INFINITY, "no limit is known"};
    lower(&room, 1024 * number_in(root, "/proc/meminfo", "MemAvailable"), "free memory of this machine");
    char *groups = read_file(root, "/proc/self/cgroup"), *mounts = read_file(root, "/proc/self/mountinfo");
    for (const char *line = groups != NULL ? mounts : NULL; line != NULL && *line != '\0';
         line = strchr(line, '\n'), line += line != NULL)
        ask_mount(root, line, groups, &room);
    free(groups);
    free(mounts);
    room.bytes -= isfinite(room.bytes) ? fmin(room.bytes * reserve_share, most_reserve_bytes) : 0;
    return room;
}

static void ask_ulimit(int which, const char *used, const char *limit, memory_room *room)
{
    struct rlimit is;
    if (getrlimit((__rlimit_resource_t)which, &is) != 0 || is.rlim_cur == RLIM_INFINITY)
        return;
    const double used_bytes = 1024 * number_in("", "/proc/self/status", used),
                 left = (double)is.rlim_cur - (used_bytes > 0 ? used_bytes : 0);
    lower(room, left - fmin(left * reserve_share, most_reserve_bytes), limit);
}

memory_room memory_available(void)
{
    const double pretends = pretended;
    if (pretends >= 0)
        return (memory_room){pretends, "free memory of this machine"};
    memory_room room = memory_available_below("");
    ask_ulimit(RLIMIT_AS, "VmSize", "the limit of `ulimit -v`", &room);
    ask_ulimit(RLIMIT_DATA, "VmData", "the limit of `ulimit -d`", &room);
    return room;
}

/* ---- Refusals -------------------------------------------------------------------------------- */

typedef struct gib_text {
    char s[32];
} gib_text;

static gib_text gib(double bytes)
{
    gib_text text;
    const double amount = bytes / 0x1p30;
    snprintf(text.s, sizeof text.s, amount >= 99.95 ? "%.0f GiB" : amount >= 0.0995 ? "%.1f GiB" : "%.2g GiB", amount);
    return text;
}

static ley_status refuse(const memory_need *needs, size_t count, double sum, memory_room room, size_t largest,
                         ley_error *error)
{
    char parts[512] = "";
    for (size_t i = 0, used = 0; i < count && count > 1 && used < sizeof parts; i++)
        if (needs[i].bytes >= 0.01 * sum)
            used += (size_t)snprintf(parts + used, sizeof parts - used, "%s%s %s", used > 0 ? ", " : " (",
                                     needs[i].what, gib(needs[i].bytes).s);
    return ley_fail(error, LEY_ERROR_MEMORY,
                    "not enough memory: %s would take %s%s%s, and %s are available (%s); what helps: %s",
                    count > 1 ? "the job" : needs[0].what, gib(sum).s, parts, parts[0] != '\0' ? ")" : "",
                    gib(room.bytes).s, room.limit, needs[largest].advice);
}

ley_status memory_check(const memory_need *needs, size_t count, ley_error *error)
{
    double sum = 0;
    size_t largest = 0;
    for (size_t i = 0; i < count; i++) {
        sum += needs[i].bytes;
        largest = needs[i].bytes > needs[largest].bytes ? i : largest;
    }
    if (sum < small_bytes)
        return LEY_OK;
    const memory_room room = memory_available();
    return sum <= room.bytes ? LEY_OK : refuse(needs, count, sum, room, largest, error);
}

ley_status memory_check_growth(const char *what, double from_bytes, double to_bytes, const char *advice,
                               ley_error *error)
{
    if (to_bytes < small_bytes)
        return LEY_OK;
    const memory_room room = memory_available();
    const memory_need need = {what, to_bytes, advice};
    return to_bytes - from_bytes <= room.bytes
               ? LEY_OK
               : refuse(&need, 1, to_bytes, (memory_room){room.bytes + from_bytes, room.limit}, 0, error);
}

/* ---- Large pages ----------------------------------------------------------------------------- */

void *memory_in_large_pages(int64_t bytes)
{
    const int64_t page = 1 << 21;
    if (bytes < 4 * page)
        return malloc(bytes > 0 ? (size_t)bytes : 1);
    if (bytes > INT64_MAX - page)
        return NULL;
    const size_t whole = (size_t)((bytes + page - 1) / page * page);
    void *memory = aligned_alloc((size_t)page, whole);
    if (memory != NULL)
        madvise(memory, whole, MADV_HUGEPAGE);
    return memory;
}
