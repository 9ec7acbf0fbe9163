/* Files with faults on demand, to be loaded before the C library (LD_PRELOAD): at the n-th call of
 * a function for a file whose path has a text in it, the call fails as FAULTY_FILES says:
 *
 *     call=write,path=.json,at=3,reason=28,ever=1
 *
 *     call    read (pread counts, too), write (and pwrite), close, flock, fcntl, rename, or open
 *     path    the text that the file's path has in it
 *     at      which of these calls fails, from 1; with ever=1 all later ones do, too
 *     reason  the error number; 0: a read gets half of what it asks for, a write writes half
 *
 * A close that fails has closed the file, as on Linux. When the fault has struck, the file that
 * FAULTY_FILES_SAYS names is there. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#pragma GCC visibility push(default)

static atomic_int calls;

/* The function that stands behind ours; ISO C has no conversion of an address to a function. */
static void find(const char *name, void *function)
{
    void *address = dlsym(RTLD_NEXT, name);
    memcpy(function, &address, sizeof address);
}

/* `real`: the function of this name behind ours. */
#define FIND(name) \
    __typeof__(&name) real; \
    find(#name, &real)

/* The value of a key, which is empty where there is none. */
static void setting(const char *key, char value[256])
{
    const size_t length = strlen(key);
    value[0] = '\0';
    for (const char *at = getenv("FAULTY_FILES"); at != NULL; at = strchr(at, ',') != NULL ? strchr(at, ',') + 1 : NULL)
        if (strncmp(at, key, length) == 0 && at[length] == '=')
            snprintf(value, 256, "%.*s", (int)strcspn(at + length + 1, ","), at + length + 1);
}

static int number(const char *key)
{
    char value[256];
    setting(key, value);
    return atoi(value);
}

static void say(void)
{
    const char *path = getenv("FAULTY_FILES_SAYS");
    FILE *file = path != NULL ? fopen(path, "we") : NULL; /* which calls none of the functions below */
    if (file != NULL)
        fclose(file);
}

/* Whether this call is one that fails; errno is set where it is. */
static bool strikes(const char *call, const char *path)
{
    char wanted[256];
    setting("call", wanted);
    if (strcmp(wanted, call) != 0)
        return false;
    setting("path", wanted);
    if (strstr(path, wanted) == NULL)
        return false;
    const int n = ++calls;
    if (n != number("at") && (n < number("at") || !number("ever")))
        return false;
    say();
    errno = number("reason");
    return true;
}

static bool strikes_file(const char *call, int file)
{
    char link[64], path[4096] = "";
    const int before = errno;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    if (readlink(link, path, sizeof path - 1) < 0)
        path[0] = '\0';
    errno = before;
    return strikes(call, path);
}

ssize_t read(int file, void *data, size_t size)
{
    FIND(read);
    if (strikes_file("read", file)) {
        if (errno != 0)
            return -1;
        size = (size + 1) / 2;
    }
    return real(file, data, size);
}

ssize_t pread(int file, void *data, size_t size, off_t offset)
{
    FIND(pread);
    if (strikes_file("read", file)) {
        if (errno != 0)
            return -1;
        size = (size + 1) / 2;
    }
    return real(file, data, size, offset);
}

ssize_t write(int file, const void *data, size_t size)
{
    FIND(write);
    if (strikes_file("write", file)) {
        if (errno != 0)
            return -1;
        size = (size + 1) / 2;
    }
    return real(file, data, size);
}

ssize_t pwrite(int file, const void *data, size_t size, off_t offset)
{
    FIND(pwrite);
    if (strikes_file("write", file)) {
        if (errno != 0)
            return -1;
        size = (size + 1) / 2;
    }
    return real(file, data, size, offset);
}

int close(int file)
{
    FIND(close);
    const bool fails = strikes_file("close", file);
    const int reason = errno, code = real(file);
    if (!fails)
        return code;
    errno = reason;
    return -1;
}

int flock(int file, int operation)
{
    FIND(flock);
    return strikes_file("flock", file) ? -1 : real(file, operation);
}

int fcntl(int file, int command, ...)
{
    FIND(fcntl);
    va_list values;
    va_start(values, command);
    void *value = va_arg(values, void *);
    va_end(values);
    return strikes_file("fcntl", file) ? -1 : real(file, command, value);
}

int rename(const char *from, const char *to)
{
    FIND(rename);
    return strikes("rename", to) ? -1 : real(from, to);
}

int open(const char *path, int flags, ...)
{
    FIND(open);
    va_list values;
    va_start(values, flags);
    const unsigned mode = va_arg(values, unsigned);
    va_end(values);
    return strikes("open", path) ? -1 : real(path, flags, mode);
}
