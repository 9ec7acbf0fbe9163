/* Settings of a driver with faults, from the environment variable FAULT_VARIABLE, which whoever
 * includes this names: "key=value,key=value". */
#ifndef LEY_FAULT_SETTINGS_H
#define LEY_FAULT_SETTINGS_H

#include <stdlib.h>
#include <string.h>

/* What stands behind the key, up to the end of the variable; NULL: the key is not there. */
static inline const char *setting(const char *key)
{
    const char *all = getenv(FAULT_VARIABLE);
    const size_t length = strlen(key);
    for (const char *at = all; at != NULL && *at != '\0'; at = strchr(at, ',') != NULL ? strchr(at, ',') + 1 : NULL)
        if (strncmp(at, key, length) == 0 && at[length] == '=')
            return at + length + 1;
    return NULL;
}

static inline int number(const char *key, int fallback)
{
    const char *text = setting(key);
    return text != NULL ? atoi(text) : fallback;
}

#endif
