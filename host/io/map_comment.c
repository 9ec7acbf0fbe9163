#include "io/map_comment.h"

#include "core/number.h"

#include <stdio.h>
#include <string.h>

/* "... potential ... (units) ...", in parentheses that may hold others. */
static void find_units(const char *line, map_origin *origin)
{
    const char *at = line;
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
