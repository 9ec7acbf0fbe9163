/* leyden: the parameters of what is computed, as tables. Defaults, ranges and checks of the structs
 * of options come from them, and so do the command's options with their help, manual pages and
 * completions, and Python's keywords. leyden.h, which has the conventions, includes this. */
#ifndef LEYDEN_H
#include "leyden.h"
#elif !defined(LEYDEN_PARAMETERS_H)
#define LEYDEN_PARAMETERS_H

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ley_parameter_type {
    LEY_PARAMETER_FLAG,    /* bool */
    LEY_PARAMETER_INTEGER, /* a whole number of `bytes` bytes: an int, int64_t, size_t or uint64_t */
    LEY_PARAMETER_REAL,    /* double */
    LEY_PARAMETER_CHOICE,  /* an enumeration's value: the place among the choices */
    LEY_PARAMETER_TEXT,    /* const char *; where there are choices one of these, and NULL for the first */
    LEY_PARAMETER_OTHER    /* no single field holds it: whoever takes it from a user reads it in a way of its own */
} ley_parameter_type;

typedef enum ley_parameter_level { LEY_EVERYDAY, LEY_EXPERT } ley_parameter_level;

/* A choice that was called otherwise in the release before. */
typedef struct ley_former_choice {
    const char *was, *is;
} ley_former_choice;

/* Sentences name other parameters in backquotes, `mesh_spacing`, which are shown as their reader
 * writes them: --mesh-spacing in the command. */
typedef struct ley_parameter {
    const char *name;          /* "mesh_spacing": so in Python; the command has dashes, --mesh-spacing */
    const char *alias;         /* another name, as other programs have it; or NULL */
    const char *const *former; /* names of the release before, which are taken with a remark: NULL ends them; or NULL */
    ley_parameter_type type;
    ley_parameter_level level;
    const char *unit;  /* "A"; NULL: a plain number, or none */
    const char *value; /* what texts call the value, "NX,NY,NZ"; NULL: as the unit */
    int count;         /* numbers; 0 counts as 1 */
    bool one_for_all;  /* one number stands for so many */
    const char *word;  /* also allowed in place of numbers, which become not-a-numbers; or NULL */
    double default_value[3];
    double low, high;           /* what numbers are allowed, both included ... */
    bool above_low;             /* ... or `low` itself is not */
    const char *unset;          /* what holds where nobody says: the value is then no default of its own; or NULL */
    const char *const *choices; /* NULL ends them; or NULL */
    const ley_named_number *numbers; /* names that Python takes in place of numbers: {NULL} ends them; or NULL */
    const ley_former_choice *former_choices; /* {NULL} ends them; or NULL */
    const char *sentence;                    /* what it is */
    const char *details;                     /* what else there is to know; or NULL */
    const char *methods;                     /* "cutoff, msm": those of a potential that take it; NULL: all */
    const char *field;                       /* of the struct, and where it is there; NULL of LEY_PARAMETER_OTHER */
    size_t offset, bytes;                    /* bytes: of one number */
    unsigned given; /* LEY_GIVEN_... or LEY_FIX_...: what says in the struct, or beside it, that it is given; 0 */
} ley_parameter;

/* The parameters of a struct of options. Structs that have a parameter in common have a row of it
 * each, which is the same but for the offset. */
typedef struct ley_parameter_table {
    const char *of; /* "ley_long_range" */
    size_t size;    /* of the struct */
    bool has_size;  /* its first field is its size */
    size_t count;
    const ley_parameter *rows;
} ley_parameter_table;

/* Tables, i from 0; NULL behind the last. */
LEY_API const ley_parameter_table *ley_parameter_table_get(size_t i);

/* The row of a name; NULL: there is none. And the name of a choice; NULL: there is none. */
LEY_API const ley_parameter *ley_parameter_find(const char *of, const char *name);
LEY_API const char *ley_parameter_choice(const char *of, const char *name, int value);

/* Of a name that was a parameter's in the release before and is gone: what holds in its place, as
 * "devices always sum ..."; NULL: it was none. */
LEY_API const char *ley_parameter_gone(const char *name);

#ifdef __cplusplus
}
#endif
#endif
