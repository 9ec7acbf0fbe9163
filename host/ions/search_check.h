/* Whether a device has brought up to date what it should. */
#ifndef LEY_IONS_SEARCH_CHECK_H
#define LEY_IONS_SEARCH_CHECK_H

#include "ions/search_parts.h"

/* Whether some bricks are as they should be: LEY_ERROR_WRONG_RESULT. */
ley_status search_check(search *s, ley_error *error);

#endif
