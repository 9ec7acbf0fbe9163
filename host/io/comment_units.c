#include "io/comment_units.h"

#include "core/number.h"
#include "target/map.h"

#include <stdio.h>
#include <string.h>

/* Of a map that was read, its units alone say that it is of a field. */
static bool is_field(const char *units)
{
    const size_t length = strlen(units);
    for (int i = 0; i < LEY_UNITS_COUNT && length > 2 && strcmp(units + length - 2, "/A") == 0; i++)
        if (strlen(ley_units_name((ley_units)i)) == length - 2 &&
            strncmp(units, ley_units_name((ley_units)i), length - 2) == 0)
            return true;
    return strcmp(units, "kcal/mol/A") == 0;
}

void map_title(const ley_map *map, const char *units, char title[MAP_TITLE])
{
    static const char *const of_component[] = {"", " ALONG X", " ALONG Y", " ALONG Z"};
    const int component = map_component_number(map);
    snprintf(title, MAP_TITLE, "%s%s%s%s%s", component > 0 || is_field(units) ? "FIELD" : "POTENTIAL",
             of_component[component], *units != '\0' ? " (" : "", units, *units != '\0' ? ")" : "");
}

static bool is_quantity(const char *at)
{
    return (strlen(at) >= 9 && ley_word_is(at, 9, "POTENTIAL")) || (strlen(at) >= 5 && ley_word_is(at, 5, "FIELD"));
}

/* "... potential ... (units) ...", in parentheses that may hold others. */
void comment_units_find(const char *comment, char units[COMMENT_UNITS])
{
    const char *at = comment;
    while (*at != '\0' && !is_quantity(at))
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
