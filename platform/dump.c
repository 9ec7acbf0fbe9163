#include "dump.h"

#include "build_cache.h"
#include "environment.h"
#include "kernel_kind.h"
#include "log.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_PATH = 4096, DEVICE_NAME = 64, HASH_DIGITS = 8 };

static log_first complaint = LOG_FIRST;

static void complain(const char *path, const char *why)
{
    log_complain(&complaint, "LEYDEN_DUMP", path, why);
}

const char *dump_complaint(void)
{
    return log_first_text(&complaint);
}

bool dump_is_wanted(void)
{
    return environment_dump_dir() != NULL;
}

/* The files' common beginning: the kernel, the device by its back end, number and name, and a hash
 * of what is compiled. False when the path is too long. */
static bool base_path(const dev_info *info, const dev_source *source, char path[MAX_PATH])
{
    char device[DEVICE_NAME];
    const cache_key key = cache_key_make(info, "dump", source->text, source->options);
    snprintf(device, sizeof device, "%.16s%d-%.40s", info->backend->name, info->index, info->name);
    for (char *c = device; *c != '\0'; c++)
        if (!isalnum((unsigned char)*c) && *c != '-' && *c != '.')
            *c = '_';
    const int length = snprintf(path, MAX_PATH, "%s/%s-%s-%.*s", environment_dump_dir(), source->kind->name, device,
                                HASH_DIGITS, key.hex);
    return length > 0 && length < MAX_PATH - 16;
}

/* Writes the texts one after the other; false when that fails. */
static bool write_file(const char *path, const char *suffix, size_t n, const char *const *texts)
{
    char whole[MAX_PATH + 16];
    snprintf(whole, sizeof whole, "%s.%s", path, suffix);
    FILE *file = fopen(whole, "we");
    bool is_written = file != NULL;
    for (size_t i = 0; i < n && is_written; i++)
        is_written = texts[i] == NULL || fputs(texts[i], file) >= 0;
    int why = errno;
    if (file != NULL && fclose(file) != 0) {
        is_written = false;
        why = errno;
    }
    if (!is_written)
        complain(whole, strerror(why));
    return is_written;
}

static bool write_options(const char *path, const dev_info *info, const dev_source *source)
{
    const char *common = info->backend->common_options;
    const char *const texts[] = {common,
                                 common[0] != '\0' ? " " : "",
                                 source->options,
                                 "\n# kernel: ",
                                 source->kind->name,
                                 "\n# device: ",
                                 info->name,
                                 "\n# platform: ",
                                 info->platform,
                                 "\n# driver: ",
                                 info->driver,
                                 "\n# version: ",
                                 info->version,
                                 "\n"};
    return write_file(path, "options", sizeof texts / sizeof texts[0], texts);
}

/* A build that came from the cache has nothing to say: the log of the one that was compiled
 * stays. */
static void write_log(const char *path, bool from_cache, const char *log, const ley_error *failure)
{
    char before[MAX_PATH + 16];
    snprintf(before, sizeof before, "%s.log", path);
    const bool is_silent = log == NULL || log[0] == '\0';
    if (from_cache && is_silent && access(before, F_OK) == 0)
        return;
    const char *const texts[] = {failure != NULL ? failure->message : NULL, failure != NULL ? "\n" : NULL,
                                 failure != NULL ? failure->log : log,
                                 failure == NULL && from_cache && is_silent ? "from the build cache\n" : NULL};
    write_file(path, "log", sizeof texts / sizeof texts[0], texts);
}

/* What comes of a folder that cannot be made is said of the first file. */
static void make_folder(void)
{
    char folder[MAX_PATH];
    const int length = snprintf(folder, sizeof folder, "%s", environment_dump_dir());
    if (length > 0 && length < MAX_PATH)
        directories_make(folder, 0777);
}

void dump_build(const dev_info *info, const dev_source *source, bool from_cache, const char *log,
                const ley_error *failure)
{
    char path[MAX_PATH];
    if (!dump_is_wanted())
        return;
    if (!base_path(info, source, path)) {
        complain("its folder", "the path is too long");
        return;
    }
    make_folder();
    const char *const text[] = {source->text};
    if (write_file(path, info->backend->source_suffix, 1, text) && write_options(path, info, source))
        write_log(path, from_cache, log, failure);
}
