#include "leyden.h"

const char *ley_version(void)
{
    return LEY_VERSION;
}

int ley_version_number(void)
{
    return LEY_VERSION_NUMBER;
}
