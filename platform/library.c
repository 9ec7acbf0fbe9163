#include "library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

void *library_open(const char *own, const char *const *names, size_t count)
{
    void *handle = own != NULL ? dlopen(own, RTLD_NOW | RTLD_LOCAL) : NULL;
    for (size_t i = 0; own == NULL && handle == NULL && i < count; i++)
        handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    return handle;
}

void *library_open_or_say(library *l, const char *own, const char *const *names, size_t count)
{
    void *handle = library_open(own, names, count);
    if (handle == NULL)
        snprintf(l->reason, sizeof l->reason, "%.200s is not installed (%s names another file)",
                 own != NULL ? own : l->called, l->variable);
    return handle;
}

/* POSIX lets a data pointer from dlsym() be a function; C does not, hence the copy of its bytes. */
void library_find(library *l, void *handle, const char *symbol, bool needed, void *field, size_t size)
{
    void *address = dlsym(handle, symbol);
    if (address == NULL && needed && l->reason[0] == '\0')
        snprintf(l->reason, sizeof l->reason, "%sit has no %s", l->complaint, symbol);
    memcpy(field, &address, size);
}

const void *library_give(const library *l, const void *table, char *reason, size_t size)
{
    if (l->reason[0] != '\0')
        snprintf(reason, size, "%s", l->reason);
    return l->reason[0] == '\0' ? table : NULL;
}
