#include "option_row.h"
#include "console.h"
#include "pieces.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_NAME = 40 };

/* A row with the texts that it points to. */
typedef struct made_row {
    option_row row;
    char name[LONGEST_NAME], alias[LONGEST_NAME];
} made_row;

static const ley_parameter_table *table_of(const char *of)
{
    const ley_parameter_table *table;
    for (size_t i = 0; (table = ley_parameter_table_get(i)) != NULL; i++)
        if (strcmp(table->of, of) == 0)
            return table;
    return NULL;
}

const ley_parameter *option_row_parameter(const option_row *row, size_t k)
{
    const ley_parameter_table *table = table_of(row->of);
    if (row->parameter != NULL)
        return k == 0 ? ley_parameter_find(row->of, row->parameter) : NULL;
    return table != NULL && k < table->count ? &table->rows[k] : NULL;
}

static void copy_name(char to[LONGEST_NAME], const char *name)
{
    snprintf(to, LONGEST_NAME, "%.*s", LONGEST_NAME - 1, name);
    for (char *c = to; *c != '\0'; c++)
        *c = *c == '_' ? '-' : *c;
}

static option_kind kind_of(const ley_parameter *parameter)
{
    switch (parameter->type) {
    case LEY_PARAMETER_FLAG:
        return OPTION_FLAG;
    case LEY_PARAMETER_INTEGER:
        return OPTION_INTEGER;
    case LEY_PARAMETER_REAL:
        return OPTION_REAL;
    case LEY_PARAMETER_CHOICE:
        return OPTION_CHOICE;
    case LEY_PARAMETER_TEXT:
    case LEY_PARAMETER_OTHER:
        break;
    }
    return parameter->choices != NULL ? OPTION_CHOICE : OPTION_TEXT;
}

#define UNLESS_SAID(member, value) made->row.member = made->row.member != 0 ? made->row.member : (value)

option_row *option_row_make(const option_row *row, const ley_parameter *p)
{
    made_row *made = allocate(1, sizeof *made);
    made->row = *row;
    copy_name(made->name, p->name);
    copy_name(made->alias, p->alias != NULL ? p->alias : "");
    made->row.name = made->name;
    made->row.alias = p->alias != NULL ? made->alias : NULL;
    if (p->field != NULL) {
        made->row.kind = kind_of(p);
        made->row.is_text = p->type == LEY_PARAMETER_TEXT && p->choices != NULL;
        made->row.bytes = p->bytes;
        made->row.offset += p->offset;
    }
    made->row.is_expert = !made->row.is_everyday && (made->row.is_expert || p->level == LEY_EXPERT);
    made->row.one_for_all = p->one_for_all;
    made->row.above_low = p->above_low && made->row.low == 0;
    UNLESS_SAID(value, p->value != NULL ? p->value : p->unit);
    UNLESS_SAID(more, made->row.help == NULL ? p->details : NULL);
    UNLESS_SAID(help, p->sentence);
    UNLESS_SAID(unset, p->unset);
    UNLESS_SAID(choices, p->choices);
    UNLESS_SAID(count, p->count);
    UNLESS_SAID(low, p->low);
    UNLESS_SAID(high, p->high);
    UNLESS_SAID(word, p->word);
    made->row.stands_for = p;
    return &made->row;
}

bool option_row_was(const option_row *row, const char *name, size_t length)
{
    char former[LONGEST_NAME];
    if (row->former != NULL && strlen(row->former) == length && strncmp(row->former, name, length) == 0)
        return true;
    for (size_t i = 0; row->stands_for != NULL && row->stands_for->former != NULL; i++) {
        if (row->stands_for->former[i] == NULL)
            return false;
        copy_name(former, row->stands_for->former[i]);
        if (strlen(former) == length && strncmp(former, name, length) == 0)
            return true;
    }
    return false;
}

bool option_row_is_of(const ley_parameter *parameter, const char *method)
{
    const size_t length = strlen(method);
    for (const char *name = parameter->methods; *name != '\0'; name += strspn(name, ", ")) {
        const size_t n = strcspn(name, ",");
        if (n == length && strncmp(name, method, n) == 0)
            return true;
        name += n;
    }
    return false;
}

void option_row_names(char *text, size_t size)
{
    char *copy = copy_of(text);
    size_t used = 0;
    for (const char *from = copy; *from != '\0' && used + 1 < size;) {
        const size_t length = *from == '`' ? strspn(from + 1, "abcdefghijklmnopqrstuvwxyz_") : 0;
        if (length > 0 && from[1 + length] == '`') {
            char name[LONGEST_NAME];
            copy_name(name, text_of("%.*s", (int)length, from + 1).s);
            used += (size_t)snprintf(text + used, size - used, "--%s", name);
            from += length + 2;
        } else {
            text[used++] = *from++;
        }
    }
    text[used < size ? used : size - 1] = '\0';
    free(copy);
}
