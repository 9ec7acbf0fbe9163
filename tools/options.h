/* Command lines by table. A sub-command is one `subcommand`; its options are rows of tables, from
 * which the parser, the help text and the machine-readable report all read, so that they cannot
 * drift apart. What the library has a parameter for is a row that names it, and its values go to
 * the library's own struct. A table with the struct that its values go to is a block: a sub-command
 * has one of its own, one of each of its methods that takes options, and those that it shares with
 * others. */
#ifndef LEYDEN_OPTIONS_H
#define LEYDEN_OPTIONS_H

#include "option_numbers.h"
#include "option_row.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { OPTION_MOST_EXAMPLES = 2 };

typedef struct option_block {
    const option_row *rows;
    size_t count;
    size_t values_size;
    void (*set_defaults)(void *values); /* the struct arrives zeroed; or NULL */
} option_block;

/* The block of a table, the type of its struct of values, and set_defaults. */
/* clang-format off */
#define OPTION_BLOCK(table, type, defaults) {(table), sizeof(table) / sizeof *(table), sizeof(type), (defaults)}
/* clang-format on */

/* What a method brings to a sub-command. */
typedef struct option_method {
    const char *name;                               /* as OPTION_METHOD takes it */
    const char *says;                               /* of itself in the help of that option, or NULL */
    const char *details;                            /* paragraphs for the help of the sub-command, or NULL */
    const option_block *options;                    /* that not every method takes, or NULL; methods may share them */
    const option_block *common[OPTION_MOST_COMMON]; /* more of them; or NULL */
} option_method;

typedef struct parsed_arguments parsed_arguments;

typedef struct subcommand {
    const char *name, *summary;
    const char
        *examples[OPTION_MOST_EXAMPLES]; /* command lines; those who left out what it needs are shown the first */
    const char *operand;                 /* name of the one operand, or NULL when there is none */
    const char *operand_help;
    const char *(*operand_names)(void); /* what stands for "%s" in that help, or NULL */
    bool is_operand_open;               /* it may be left out */
    bool is_operand_file;               /* a file that is read once: "-" is standard input, "/dev/stdin" */
    const char *words;                  /* name of further operands, as many as are given; or NULL */
    const char *words_help;
    size_t words_wanted; /* there must be so many of them, no more and no less; 0: any number */
    const char *rest;    /* name of the words behind "--", which are another program's; or NULL */
    const char *rest_help;
    const char *details;                      /* paragraphs for the help, behind those of methods; or NULL */
    option_block options;                     /* its own */
    const option_method *(*method)(size_t i); /* its methods, NULL behind the last; or NULL */
    const option_block *const *shared;        /* blocks that other commands have, too, NULL behind the last; or NULL */
    bool is_dealt;                            /* to all ranks, where there are several; else rank 0 does it alone */
    int (*run)(const parsed_arguments *arguments); /* returns the exit code */
} subcommand;

/* An option as the command line has it, or its default. */
typedef struct parsed_option {
    const option_row *row;
    option_row *made; /* of a parameter: the row; or NULL */
    const option_block *block;
    void *value;
    bool given;
} parsed_option;

struct parsed_arguments {
    const subcommand *command;
    const char *operand;
    const char **words; /* further operands */
    size_t word_count;
    char *const *rest; /* words behind "--" */
    int rest_count;
    const void *values; /* of the command's own block */
    size_t option_count;
    parsed_option *options; /* of all blocks: its own, in their order, those of methods, the shared ones */
    bool verbose;           /* --verbose was given, which all commands know */
};

typedef enum parse_result { PARSE_RUN, PARSE_HELP, PARSE_HELP_ALL, PARSE_WRONG } parse_result;

/* Parses what follows the command's name. Errors are printed. To be released in any case. */
parse_result options_parse(const subcommand *command, int argc, char **argv, parsed_arguments *arguments);
void options_release(parsed_arguments *arguments);

/* The options of a command as they are where none is given: for texts about them. To be
 * released. */
void options_begin(const subcommand *command, parsed_arguments *arguments);

/* What the help says of an option: its text, what it can be, its default; and what else there is to
 * know. */
typedef struct option_text {
    char s[4096];
} option_text;
option_text option_describe(const subcommand *command, const parsed_option *parsed, bool all);

/* "Usage: leyden map MOLECULE -o MAP [options]", what stands behind the colon. */
option_text options_usage(const parsed_arguments *arguments);

/* Of every command, with their letters. */
extern const char option_verbose_help[], option_help_help[], option_help_all_help[];

/* Whether option number `option` of the command's own block was given. */
bool option_given(const parsed_arguments *arguments, size_t option);

/* The same by its name; false where the command has none of this name. */
bool option_named_given(const parsed_arguments *arguments, const char *name);

/* The values of a block that the command has. */
const void *option_values(const parsed_arguments *arguments, const option_block *block);

/* What an option of kind CHOICE or METHOD can be, i from 0; NULL behind the last. And what it
 * is. */
const char *option_choice(const subcommand *command, const option_row *option, size_t i);
const char *option_chosen(const subcommand *command, const parsed_option *parsed);

/* A whole number of an option of kind INTEGER. */
int64_t option_whole(const parsed_option *parsed, int i);

/* Copies what was given of a struct's parameters into such a struct. Returns which these are, as
 * the struct's parameters say it: LEY_GIVEN_..., LEY_FIX_... */
unsigned option_take_given(const parsed_arguments *arguments, const char *of, void *to);

/* Whether every option that was given is one that this method takes. Prints errors; exit code. */
int check_method_options(const parsed_arguments *arguments, const option_method *method);

/* Whether the option is one that the command's method, as it was given, takes. */
bool option_is_meant(const parsed_arguments *arguments, size_t option);

/* A help whose "%s" the list stands for, where there is one. */
enum { OPTION_MOST_HELP = 4096 };
void option_fill_help(char *to, size_t size, const char *help, const char *(*list)(void));

/* Prints the help of a command to stdout, defaults included: in short, what is needed every day; or
 * all of it. */
void options_print_help(const subcommand *command, bool all);

/* Prints `text` from column `indent` on, broken at blanks before column 100; the cursor stands at
 * `column`. */
void print_wrapped(const char *text, int column, int indent);

/* The one of the names that the word may be a misspelling of; NULL: it is none. */
const char *nearest(const char *word, const char *(*name)(const void *context, size_t i), const void *context);

/* " (did you mean 'spacing'?)" with the nearest of the names, or nothing when none is near. */
typedef struct suggestion {
    char s[96];
} suggestion;
suggestion suggest(const char *word, const char *before, const char *(*name)(const void *context, size_t i),
                   const void *context);

/* Says that the command was used wrongly, with a pointer to the help; returns exit code 1. */
int fail_usage(const subcommand *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Rows that several commands share; `type` is the command's struct of values. */
#define OPTION_ROW_DEVICE(type, more_) \
    { \
        .name = "device", .kind = OPTION_TEXT, .offset = offsetof(type, device), .value = "LIST", \
        .unset = "the fastest that works", .help = "devices to use, separated by commas; 'leyden devices' lists them", \
        .more = \
            "each is an index, any part of the name of a device, platform, vendor or driver, one of opencl, cuda, " \
            "cpu, gpu and all, or opencl:0, cuda:0 and so on, counted among the devices of that interface" more_ \
    }
#define OPTION_ROW_JSON(type) \
    { \
        .name = "json", .kind = OPTION_TEXT, .offset = offsetof(type, json), .value = "FILE", .unset = "none", \
        .help = "write a machine-readable report to FILE; - is standard output, instead of the text" \
    }
#define OPTION_ROW_DPI(type) \
    { \
        .name = "dpi", .kind = OPTION_INTEGER, .offset = offsetof(type, dpi), .value = "N", .low = 10, .high = 10000, \
        .help = "resolution in pixels per inch, as the file states it: at 300, 1000 pixels are 8.5 cm wide" \
    }
#define OPTION_ROW_TRANSPARENT(type) \
    { \
        .name = "transparent", .kind = OPTION_FLAG, .offset = offsetof(type, transparent), \
        .help = "make the background transparent" \
    }
#define OPTION_ROW_QUIET(type) \
    { \
        .name = "quiet", .letter = 'q', .kind = OPTION_FLAG, .offset = offsetof(type, quiet), \
        .help = "print only errors" \
    }

/* Ties a table of choices to its enumeration, which has so many values: a word for each of them,
 * and the NULL behind. */
#define CHOICES_ARE(table, values) \
    _Static_assert(sizeof(table) / sizeof *(table) == (size_t)(values) + 1, #table ": a word for each value")

/* Names of choices that several commands show. */
#define MATH_NAME(value) ley_parameter_choice("ley_run_options", "math", (int)(value))
#define SUM_NAME(value) ley_parameter_choice("ley_run_options", "sum", (int)(value))

/* Is there such a kernel variant of this method? NULL is one. Otherwise prints what there is; exit
 * code. */
int check_variant(const subcommand *command, const char *method, ley_target_kind target, const char *variant);

#endif
