#include "io/map_comment.h"

#include "core/number.h"

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
    const char *what = map_what(map) != NULL ? map_what(map) : component > 0 || is_field(units) ? "FIELD" : "POTENTIAL";
    snprintf(title, MAP_TITLE, "%s%s%s%s%s", what, of_component[component], *units != '\0' ? " (" : "", units,
             *units != '\0' ? ")" : "");
}

static bool is_quantity(const char *at)
{
    return (strlen(at) >= 9 && ley_word_is(at, 9, "POTENTIAL")) || (strlen(at) >= 5 && ley_word_is(at, 5, "FIELD"));
}

/* "... potential ... (units) ...", in parentheses that may hold others. */
static void find_units(const char *line, map_origin *origin)
{
    const char *at = line;
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
    if (length - 1 >= sizeof origin->units)
        return;
    snprintf(origin->units, sizeof origin->units, "%.*s", (int)(length - 1), open + 1);
}

static size_t digits_at(const char *text)
{
    return strspn(text, "0123456789");
}

/* "molecule: NAME, 12 atoms ...", "molecule: NAME, dielectric ...", or a name to the line's end. */
static void find_molecule(const char *line, map_origin *origin)
{
    static const char before[] = "molecule: ";
    const char *name = strstr(line, before);
    if (name == NULL)
        return;
    name += strlen(before);
    if (digits_at(name) > 0 && strncmp(name + digits_at(name), " atom", 5) == 0)
        return; /* atoms that came from no file */
    const char *end = name + strcspn(name, "\r\n"), *next = strstr(name, "; ");
    end = next != NULL && next < end ? next : end;
    for (const char *at = strstr(name, ", "); at != NULL && at < end; at = strstr(at + 1, ", ")) {
        const size_t digits = digits_at(at + 2);
        if ((digits > 0 && strncmp(at + 2 + digits, " atom", 5) == 0) || strncmp(at + 2, "dielectric ", 11) == 0)
            end = at;
    }
    while (end > name && end[-1] == ' ')
        end--;
    snprintf(origin->molecule, sizeof origin->molecule, "%.*s", (int)(end - name), name);
}

static void find_dielectric(const char *line, map_origin *origin)
{
    static const char before[] = "dielectric ";
    const char *number = strstr(line, before);
    if (number == NULL)
        return;
    number += strlen(before);
    size_t length = strcspn(number, " ,;\r\n");
    double dielectric;
    if (ley_parse_double(number, length, &dielectric) == LEY_NUMBER_FINE && dielectric > 0)
        origin->dielectric = dielectric;
}

void map_comment_read(const char *line, map_origin *origin)
{
    if (origin->units[0] == '\0')
        find_units(line, origin);
    if (origin->molecule[0] == '\0')
        find_molecule(line, origin);
    if (!(origin->dielectric > 0))
        find_dielectric(line, origin);
}
