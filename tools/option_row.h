/* Options as rows of a command's tables; and how those that stand for parameters of the library are
 * made from the library's own tables. */
#ifndef LEYDEN_OPTION_ROW_H
#define LEYDEN_OPTION_ROW_H

#include "leyden.h"

typedef enum option_kind {
    OPTION_FLAG,    /* bool */
    OPTION_TEXT,    /* const char * */
    OPTION_CHOICE,  /* int: index into choices */
    OPTION_METHOD,  /* int: index among the command's methods */
    OPTION_INTEGER, /* int64_t[count] */
    OPTION_REAL,    /* double[count] */
    OPTION_REALS,   /* option_reals: as many as are given */
    OPTION_TRIPLES, /* option_triples: three numbers, each time it is given */
    OPTION_TEXTS    /* option_texts: a text, each time it is given */
} option_kind;

enum { OPTION_TRIPLES_MAX = 32, OPTION_TEXTS_MAX = 32, OPTION_REALS_MAX = 16, OPTION_MOST_COMMON = 4 };

typedef struct option_triples {
    size_t n;
    double value[OPTION_TRIPLES_MAX][3];
} option_triples;

typedef struct option_texts {
    size_t n;
    const char *value[OPTION_TEXTS_MAX];
} option_texts;

typedef struct option_reals {
    size_t n; /* 0: it was not given */
    double value[OPTION_REALS_MAX];
} option_reals;

typedef struct option_row {
    const char *name;   /* long name, without the dashes */
    const char *alias;  /* another word for it, as other programs have it; or NULL */
    const char *former; /* what it was called in the release before, with a remark; or NULL */
    char letter;        /* short name, or 0 */
    option_kind kind;
    bool required;
    bool is_expert;             /* the short help leaves it out */
    bool is_everyday;           /* the short help has it, whatever the parameter's level */
    size_t offset;              /* of the value in the block's struct of values */
    const char *value;          /* what the help calls the value: "A" */
    const char *help;           /* what it is, in a line or two */
    const char *more;           /* what else there is to know, which the short help leaves out; or NULL */
    const char *(*names)(void); /* what stands for "%s" in the help, or NULL */
    const char *between;        /* of OPTION_METHOD: "%s" is what the methods say, with this between them */
    const char *unset;          /* what holds when the option is not given; NULL: the value set as the default */
    const char *const *choices; /* ends with NULL */
    bool is_text;               /* of OPTION_CHOICE: a const char *, the choice itself, NULL for the first one */
    int count;                  /* numbers separated by commas; 0 counts as 1 */
    bool one_for_all;           /* one number stands for so many */
    double low, high;           /* what numbers are allowed, both included ... */
    bool above_low;             /* ... or `low` itself is not */
    bool is_input;              /* of OPTION_TEXT: a file that is read once: "-" is standard input, "/dev/stdin" */
    const char *method;         /* of OPTION_FLAG: it stands for the OPTION_METHOD of this name; or NULL */
    const char *word;           /* of OPTION_REAL: also allowed, in place of the numbers, which become not-a-numbers */

    /* The parameter that it stands for, of a struct of the library's: what is not said above is as
     * that row of the library has it, and `offset` is the struct's. No name: a row for each of the
     * struct's parameters. In a command's tables these two are all that is set of what follows. */
    const char *of, *parameter;
    const ley_parameter *stands_for;
    size_t bytes; /* of a whole number; 0: 8 */
} option_row;

/* Members of a row that stands for a parameter: `member`, of the struct of values, is the library's
 * struct. */
#define OPTION_OF(struct_type, name_, type, member) \
    .of = #struct_type, .parameter = (name_), .offset = offsetof(type, member)

/* The parameters that a row stands for, k from 0; NULL behind the last. */
const ley_parameter *option_row_parameter(const option_row *row, size_t k);

/* The row itself, whole. To be freed. */
option_row *option_row_make(const option_row *row, const ley_parameter *parameter);

/* Whether the option had this name in the release before. */
bool option_row_was(const option_row *row, const char *name, size_t length);

/* Whether a method of this name takes it, of a parameter that not all take. */
bool option_row_is_of(const ley_parameter *parameter, const char *method);

/* Replaces the parameters that a text names, `mesh_spacing`, by the options' names,
 * --mesh-spacing. */
void option_row_names(char *text, size_t size);

#endif
