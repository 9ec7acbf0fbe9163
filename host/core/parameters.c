#include "core/parameters.h"

#include "error.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const parameter_units[] = {LEY_UNITS_TABLE(LEY_NAME) NULL};

static const ley_parameter of_direct[] = {PARAMETERS_OF_MEDIUM(ley_direct)};
const ley_parameter_table direct_parameters = PARAMETER_TABLE(ley_direct, of_direct);

#define BEGINS(type) \
    _Static_assert(offsetof(type, r_min_A) == offsetof(ley_direct, r_min_A), #type " begins as ley_direct does")
BEGINS(ley_short_range);
BEGINS(ley_long_range);

static int count_of(const ley_parameter *row)
{
    return row->count > 1 ? row->count : 1;
}

const ley_parameter *parameter_of(const ley_parameter_table *table, const char *name)
{
    for (size_t i = 0; i < table->count; i++)
        if (strcmp(table->rows[i].name, name) == 0)
            return &table->rows[i];
    return NULL;
}

const char *ley_parameter_gone(const char *name)
{
    static const char *const gone[][2] = {{"overflow", "devices always sum the atoms that find their bin full"}};
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++)
        if (strcmp(gone[i][0], name) == 0)
            return gone[i][1];
    return NULL;
}

/* ---- Defaults -------------------------------------------------------------------------------- */

static void set_whole(void *to, size_t bytes, double value)
{
    const int64_t long_value = (int64_t)value;
    const int32_t short_value = (int32_t)long_value;
    memcpy(to, bytes == sizeof short_value ? (const void *)&short_value : &long_value, bytes);
}

void parameters_default(const ley_parameter_table *table, void *to)
{
    memset(to, 0, table->size);
    if (table->has_size)
        memcpy(to, &table->size, sizeof table->size);
    for (size_t i = 0; i < table->count; i++) {
        const ley_parameter *row = &table->rows[i];
        for (int k = 0; k < count_of(row); k++) {
            char *at = (char *)to + row->offset + (size_t)k * row->bytes;
            if (row->type == LEY_PARAMETER_REAL)
                memcpy(at, &row->default_value[k], sizeof row->default_value[k]);
            else if (row->type == LEY_PARAMETER_INTEGER || row->type == LEY_PARAMETER_CHOICE)
                set_whole(at, row->bytes, row->default_value[k]);
            else if (row->type == LEY_PARAMETER_FLAG)
                *(bool *)at = row->default_value[0] != 0;
        }
    }
}

/* ---- Checks ---------------------------------------------------------------------------------- */

typedef struct number_text {
    char s[32];
} number_text;

/* "1e6", not "1e+06". */
static number_text number_of(double value)
{
    number_text text;
    snprintf(text.s, sizeof text.s, "%.6g", value);
    char *exponent = strchr(text.s, 'e');
    if (exponent != NULL) {
        char *to = exponent + 1, *from = to + strspn(to, "+");
        if (*from == '-')
            *to++ = *from++;
        from += strspn(from, "0");
        memmove(to, from, strlen(from) + 1);
    }
    return text;
}

static double value_at(const ley_parameter *row, const void *from, int k)
{
    const char *at = (const char *)from + row->offset + (size_t)k * row->bytes;
    double real;
    int64_t long_value;
    int32_t short_value;
    if (row->type == LEY_PARAMETER_REAL) {
        memcpy(&real, at, sizeof real);
        return real;
    }
    if (row->bytes == sizeof short_value) {
        memcpy(&short_value, at, sizeof short_value);
        return short_value;
    }
    memcpy(&long_value, at, sizeof long_value);
    return (double)long_value;
}

static ley_status fail_range(const ley_parameter *row, double value, ley_error *error)
{
    const char *unit = row->unit != NULL ? row->unit : "", *before = *unit == '\0' ? "" : *unit == '1' ? " / " : " ";
    unit += *unit == '1' ? strlen("1/") : 0;
    if (!isfinite(row->high))
        return ley_fail(error, LEY_ERROR_USAGE, "%s %g%s%s, must be finite and %s %s", row->name, value, before, unit,
                        row->above_low ? "above" : "at least", number_of(row->low).s);
    return ley_fail(error, LEY_ERROR_USAGE,
                    row->above_low ? "%s %g%s%s, must be above %s and at most %s" : "%s %g%s%s, must be %s to %s",
                    row->name, value, before, unit, number_of(row->low).s, number_of(row->high).s);
}

static ley_status check_choice(const ley_parameter *row, const void *from, ley_error *error)
{
    const double value = value_at(row, from, 0);
    for (int i = 0; row->choices[i] != NULL; i++)
        if (value == i)
            return LEY_OK;
    return ley_fail(error, LEY_ERROR_USAGE, "unknown %s %.0f", row->name, value);
}

ley_status parameter_check(const ley_parameter *row, const void *from, ley_error *error)
{
    if (row->type == LEY_PARAMETER_CHOICE)
        return check_choice(row, from, error);
    if (row->type != LEY_PARAMETER_REAL && row->type != LEY_PARAMETER_INTEGER)
        return LEY_OK;
    for (int k = 0; k < count_of(row); k++) {
        const double value = value_at(row, from, k);
        const bool is_in = value >= row->low && value <= row->high && isfinite(value);
        if (!is_in || (row->above_low && value == row->low))
            return fail_range(row, value, error);
    }
    return LEY_OK;
}

ley_status parameters_check(const ley_parameter_table *table, const void *from, ley_error *error)
{
    ley_status status = LEY_OK;
    for (size_t i = 0; i < table->count && status == LEY_OK; i++)
        status = parameter_check(&table->rows[i], from, error);
    return status;
}
