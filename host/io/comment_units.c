#include "io/comment_units.h"

#include "core/number.h"

#include <string.h>

/* "... potential ... (units) ...", in parentheses that may hold others. */
void comment_units_find(const char *comment, char units[COMMENT_UNITS])
{
    const char *at = comment;
    while (*at != '\0' && !(strlen(at) >= 9 && ley_word_is(at, 9, "POTENTIAL")))
        at++;
    const char *open = strchr(at, '(');
    if (open == NULL)
        return;
    size_t length = 0;
    for (int depth = 1; depth > 0; length++) {
        const char c = open[1 + length];
        if (c == '\0' || (unsigned char)c < ' ')
            return;
        depth += (c == '(') - (c == ')');
    }
    if (length - 1 >= COMMENT_UNITS)
        return;
    memcpy(units, open + 1, length - 1);
    units[length - 1] = '\0';
}
