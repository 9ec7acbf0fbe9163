#include "build_cache.h"

#include "cache_limit.h"
#include "environment.h"
#include "log.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file is this header and the bytes. The digest of both makes a damaged file a miss; the key, one
 * that has got another entry's name. */
typedef struct cache_header {
    char magic[16];
    uint64_t size;
    char key[64];
    unsigned char digest[32]; /* of what stands before it, and the bytes */
} cache_header;

static const char magic[16] = CACHE_FAMILY "3\n";
enum { MAX_PATH = 4096, MAX_ENTRY = 1 << 28 };

/* A context for a digest, or NULL. A late device's thread may want one while the program exits:
 * libcrypto must not be gone by then, as its own handler of exit() would have it. */
static EVP_MD_CTX *new_context(void)
{
    OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
    return EVP_MD_CTX_new();
}

static bool digest_of(const cache_header *header, const void *bytes, unsigned char digest[32])
{
    unsigned length = 0;
    EVP_MD_CTX *context = new_context();
    const bool ok = context != NULL && EVP_DigestInit_ex(context, EVP_sha256(), NULL) == 1 &&
                    EVP_DigestUpdate(context, header, offsetof(cache_header, digest)) == 1 &&
                    EVP_DigestUpdate(context, bytes, (size_t)header->size) == 1 &&
                    EVP_DigestFinal_ex(context, digest, &length) == 1;
    EVP_MD_CTX_free(context);
    return ok && length == 32;
}

/* Each part with its final NUL: "a", "bc" is not "ab", "c". */
static cache_key key_of(const char *const *parts, size_t count)
{
    unsigned char digest[32] = {0};
    unsigned length = 0;
    cache_key key;
    EVP_MD_CTX *context = new_context();
    bool ok = context != NULL && EVP_DigestInit_ex(context, EVP_sha256(), NULL) == 1;
    for (size_t i = 0; ok && i < count; i++)
        ok = EVP_DigestUpdate(context, parts[i], strlen(parts[i]) + 1) == 1;
    ok = ok && EVP_DigestFinal_ex(context, digest, &length) == 1;
    EVP_MD_CTX_free(context);
    key.hex[0] = '\0'; /* an empty key never matches a file */
    for (int i = 0; ok && i < 32; i++)
        snprintf(key.hex + 2 * i, 3, "%02x", digest[i]);
    return key;
}

cache_key cache_key_make(const dev_info *info, const char *kind, const char *text, const char *options)
{
    const char *const parts[] = {magic,
                                 kind,
                                 info->backend->name,
                                 info->backend->common_options,
                                 info->platform,
                                 info->vendor,
                                 info->name,
                                 info->driver,
                                 info->version,
                                 options,
                                 text};
    return key_of(parts, sizeof parts / sizeof *parts);
}

cache_key cache_key_of_host(const char *processor, const char *kind, const char *text, const char *options)
{
    const char *const parts[] = {magic, kind, "host", processor, options, text};
    return key_of(parts, sizeof parts / sizeof *parts);
}

/* ---- Complaints ------------------------------------------------------------------------------ */

static log_first complaint = LOG_FIRST;

static void complain(const char *path, const char *why)
{
    log_complain(&complaint, "nothing can be kept in the cache", path, why);
}

const char *cache_complaint(void)
{
    return log_first_text(&complaint);
}

/* ---- Files ----------------------------------------------------------------------------------- */

bool directories_make(char *path, mode_t mode)
{
    for (char *c = path + 1; *path != '\0' && *c != '\0'; c++)
        if (*c == '/') {
            *c = '\0';
            mkdir(path, mode);
            *c = '/';
        }
    return mkdir(path, mode) == 0 || errno == EEXIST;
}

/* Makes the directory and its parents; false unless it is then ours and closed to others. One that
 * was there before stays as it is: its modes are its owner's business. */
static bool private_directory(char *path)
{
    struct stat status;
    if (!directories_make(path, 0700) || stat(path, &status) != 0)
        return false;
    errno = !S_ISDIR(status.st_mode) ? ENOTDIR : 0;
    return S_ISDIR(status.st_mode) && status.st_uid == geteuid() && (status.st_mode & 077) == 0;
}

/* Whether entries can be stored at all; if not, says why. */
static bool check_directory(void)
{
    char directory[MAX_PATH - 128];
    if (environment_cache_dir(directory, sizeof directory) == NULL) {
        complain("its folder", "none of LEYDEN_CACHE_DIR, XDG_CACHE_HOME and HOME names it");
        return false;
    }
    if (private_directory(directory))
        return true;
    const int why = errno;
    complain(directory, why != 0 ? strerror(why) : "it is not this user's alone (mode 0700)");
    return false;
}

static bool entry_path(const cache_key *key, const char *suffix, char path[MAX_PATH])
{
    char directory[MAX_PATH - 128];
    if (key->hex[0] == '\0' || environment_cache_dir(directory, sizeof directory) == NULL ||
        !private_directory(directory))
        return false;
    int length = snprintf(path, MAX_PATH, "%s/%s%s", directory, key->hex, suffix);
    return length > 0 && length < MAX_PATH;
}

static bool read_whole(int file, void *bytes, size_t size)
{
    for (char *at = bytes; size > 0;) {
        ssize_t got = read(file, at, size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        at += got;
        size -= (size_t)got;
    }
    return true;
}

static bool write_whole(int file, const void *bytes, size_t size)
{
    for (const char *at = bytes; size > 0;) {
        ssize_t put = write(file, at, size);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return false;
        at += put;
        size -= (size_t)put;
    }
    return true;
}

/* The entry's bytes, or NULL when anything at all is wrong with the file. */
static void *read_entry(int file, const cache_key *key, size_t *size)
{
    cache_header header;
    struct stat status;
    unsigned char digest[32];
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != geteuid() ||
        !read_whole(file, &header, sizeof header) || memcmp(header.magic, magic, sizeof magic) != 0 ||
        memcmp(header.key, key->hex, sizeof header.key) != 0 || header.size > MAX_ENTRY ||
        (uint64_t)status.st_size != sizeof header + header.size)
        return NULL;
    void *bytes = malloc((size_t)header.size + 1);
    if (bytes == NULL || !read_whole(file, bytes, (size_t)header.size) || !digest_of(&header, bytes, digest) ||
        memcmp(digest, header.digest, sizeof digest) != 0) {
        free(bytes);
        return NULL;
    }
    *size = (size_t)header.size;
    return bytes;
}

void *cache_get(const cache_key *key, size_t *size)
{
    char path[MAX_PATH];
    if (environment_cache_bytes() == 0 || !entry_path(key, "", path))
        return NULL;
    /* Whatever may stand there, a pipe for one, does not hold us up. */
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0)
        return NULL;
    void *bytes = read_entry(file, key, size);
    if (bytes != NULL)
        cache_touch(file);
    close(file);
    if (bytes == NULL) {
        log_say(LEY_LOG_NOTE, "cache: %s is damaged, or no entry: removed", path);
        unlink(path);
    }
    return bytes;
}

/* Writes the entry to a new file and renames it; `limit_bytes` for all entries holds from then
 * on. */
static void put_file(const cache_key *key, const cache_header *header, const void *bytes, char path[MAX_PATH],
                     char temporary[MAX_PATH], uint64_t limit_bytes)
{
    const int file = mkostemp(temporary, O_CLOEXEC);
    if (file < 0) {
        complain(path, strerror(errno));
        return;
    }
    if (!cache_hold(file, temporary)) { /* gone already */
        close(file);
        return;
    }
    if (!write_whole(file, header, sizeof *header) || !write_whole(file, bytes, (size_t)header->size) ||
        rename(temporary, path) != 0) {
        complain(path, strerror(errno));
        unlink(temporary);
        close(file);
        return;
    }
    close(file);
    *strrchr(path, '/') = '\0';
    cache_limit_apply(path, key->hex, limit_bytes);
}

void cache_put(const cache_key *key, const void *bytes, size_t size)
{
    char path[MAX_PATH], temporary[MAX_PATH];
    cache_header header = {.size = size};
    const uint64_t limit_bytes = environment_cache_bytes();
    memcpy(header.magic, magic, sizeof magic);
    memcpy(header.key, key->hex, sizeof header.key);
    if (size > MAX_ENTRY || size + sizeof header > limit_bytes || !digest_of(&header, bytes, header.digest) ||
        !check_directory() || !entry_path(key, "", path) || !entry_path(key, ".XXXXXX", temporary))
        return;
    put_file(key, &header, bytes, path, temporary, limit_bytes);
}

void cache_remove(const cache_key *key)
{
    char path[MAX_PATH];
    if (entry_path(key, "", path))
        unlink(path);
}
