#include "options.h"
#include "console.h"
#include "foreign_options.h"
#include "standard_stream.h"
#include "typed.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

int fail_usage(const subcommand *command, const char *format, ...)
{
    char message[1024];
    va_list values;
    va_start(values, format);
    vsnprintf(message, sizeof message, format, values);
    va_end(values);
    return fail(LEY_ERROR_USAGE, "%s: %s\nTry 'leyden %s --help'.", command->name, message, command->name);
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

static const option_method *method_at(const subcommand *command, size_t i)
{
    return command->method != NULL ? command->method(i) : NULL;
}

static void *values_of(const parsed_arguments *arguments, const option_block *block)
{
    for (size_t i = 0; i < arguments->option_count; i++)
        if (arguments->options[i].block == block)
            return (char *)arguments->options[i].value - arguments->options[i].row->offset;
    return NULL;
}

const void *option_values(const parsed_arguments *arguments, const option_block *block)
{
    return values_of(arguments, block);
}

static void add_option(parsed_arguments *arguments, const parsed_option *option)
{
    const size_t n = arguments->option_count;
    parsed_option *options = allocate(n + 1, sizeof *options);
    for (size_t i = 0; i < n; i++)
        options[i] = arguments->options[i];
    options[n] = *option;
    free(arguments->options);
    arguments->options = options;
    arguments->option_count = n + 1;
}

/* Adds the options of a block, unless they are there, as they are without a command line. */
static void add_block(parsed_arguments *arguments, const option_block *block)
{
    if (block->count == 0 || option_values(arguments, block) != NULL)
        return;
    char *values = allocate(1, block->values_size);
    if (block->set_defaults != NULL)
        block->set_defaults(values);
    for (size_t i = 0; i < block->count; i++) {
        const option_row *row = &block->rows[i];
        const ley_parameter *parameter;
        if (row->of == NULL)
            add_option(arguments, &(parsed_option){.row = row, .block = block, .value = values + row->offset});
        for (size_t k = 0; row->of != NULL && (parameter = option_row_parameter(row, k)) != NULL; k++) {
            option_row *made = option_row_make(row, parameter);
            add_option(arguments, &(parsed_option){made, made, block, values + made->offset, false});
        }
    }
}

void options_begin(const subcommand *command, parsed_arguments *arguments)
{
    const option_method *method;
    *arguments = (parsed_arguments){.command = command};
    add_block(arguments, &command->options);
    for (size_t i = 0; (method = method_at(command, i)) != NULL; i++) {
        for (int k = 0; k < OPTION_MOST_COMMON; k++)
            if (method->common[k] != NULL)
                add_block(arguments, method->common[k]);
        if (method->options != NULL)
            add_block(arguments, method->options);
    }
    for (size_t i = 0; command->shared != NULL && command->shared[i] != NULL; i++)
        add_block(arguments, command->shared[i]);
    arguments->values = option_values(arguments, &command->options);
}

void options_release(parsed_arguments *arguments)
{
    const option_block *last = NULL;
    for (size_t i = 0; i < arguments->option_count; i++) {
        if (arguments->options[i].block != last)
            free(values_of(arguments, arguments->options[i].block));
        last = arguments->options[i].block;
    }
    for (size_t i = 0; i < arguments->option_count; i++)
        free(arguments->options[i].made);
    free(arguments->options);
    free(arguments->words);
    *arguments = (parsed_arguments){.command = NULL};
}

const char *option_choice(const subcommand *command, const option_row *option, size_t i)
{
    if (option->kind == OPTION_CHOICE)
        return option->choices[i];
    const option_method *method = method_at(command, i);
    return method != NULL ? method->name : NULL;
}

const char *option_chosen(const subcommand *command, const parsed_option *parsed)
{
    if (parsed->row->is_text) {
        const char *text = *(const char *const *)parsed->value;
        return text != NULL ? text : parsed->row->choices[0];
    }
    return option_choice(command, parsed->row, (size_t) * (const int *)parsed->value);
}

int64_t option_whole(const parsed_option *parsed, int i)
{
    return parsed->row->bytes == sizeof(int32_t) ? ((const int32_t *)parsed->value)[i]
                                                 : ((const int64_t *)parsed->value)[i];
}

unsigned option_take_given(const parsed_arguments *arguments, const char *of, void *to)
{
    unsigned given = 0;
    for (size_t i = 0; i < arguments->option_count; i++) {
        const parsed_option *option = &arguments->options[i];
        if (!option->given || option->row->of == NULL || strcmp(option->row->of, of) != 0)
            continue;
        const ley_parameter *parameter = option->row->stands_for;
        if (parameter->field != NULL)
            memcpy((char *)to + parameter->offset, option->value,
                   parameter->bytes * (size_t)(parameter->count > 1 ? parameter->count : 1));
        given |= parameter->given;
    }
    return given;
}

/* Of a parameter that not all methods have, those that the library says. */
static bool takes(const option_method *method, const parsed_option *option)
{
    const ley_parameter *parameter = option->row->stands_for;
    bool is_common = false;
    if (parameter != NULL && parameter->methods != NULL && !option_row_is_of(parameter, method->name))
        return false;
    for (int k = 0; k < OPTION_MOST_COMMON; k++)
        is_common = is_common || method->common[k] == option->block;
    return method->options == option->block || is_common;
}

/* "auto, cutoff or msm": the methods that take an option; empty when it is no method's. */
static short_text takers_of(const subcommand *command, const parsed_option *option)
{
    const option_method *method;
    const char *last = NULL;
    short_text names = {""};
    for (size_t i = 0; (method = method_at(command, i)) != NULL; i++) {
        if (!takes(method, option))
            continue;
        if (last != NULL)
            names = text_of("%s%s%s", names.s, names.s[0] != '\0' ? ", " : "", last);
        last = method->name;
    }
    return last == NULL ? names : text_of("%s%s%s", names.s, names.s[0] != '\0' ? " or " : "", last);
}

static const char *method_option(const subcommand *command)
{
    for (size_t i = 0; i < command->options.count; i++)
        if (command->options.rows[i].kind == OPTION_METHOD)
            return command->options.rows[i].name;
    return "";
}

/* NULL: the command has no methods. */
static const option_method *chosen_method(const parsed_arguments *arguments)
{
    for (size_t i = 0; i < arguments->option_count; i++)
        if (arguments->options[i].row->kind == OPTION_METHOD)
            return method_at(arguments->command, (size_t) * (const int *)arguments->options[i].value);
    return NULL;
}

bool option_is_meant(const parsed_arguments *arguments, size_t option)
{
    const option_method *method = chosen_method(arguments);
    const parsed_option *parsed = &arguments->options[option];
    return method == NULL || takes(method, parsed) || takers_of(arguments->command, parsed).s[0] == '\0';
}

int check_method_options(const parsed_arguments *arguments, const option_method *method)
{
    const subcommand *command = arguments->command;
    for (size_t i = 0; i < arguments->option_count; i++) {
        const parsed_option *option = &arguments->options[i];
        const short_text takers = takers_of(command, option);
        if (option->given && !takes(method, option) && takers.s[0] != '\0')
            return fail_usage(command, "--%s needs --%s %s: other %ss do not take it", option->row->name,
                              method_option(command), takers.s, method_option(command));
    }
    return 0;
}

/* ---- Suggestions ----------------------------------------------------------------------------- */

enum { longest_word = 40 };

/* Insertions, deletions, replacements and swaps of neighbours that turn one word into the other. */
static int edit_distance(const char *a, const char *b)
{
    int rows[3][longest_word + 1];
    int n = (int)strlen(a), m = (int)strlen(b);
    if (n > longest_word || m > longest_word)
        return longest_word;
    int *before = rows[0], *last = rows[1], *now = rows[2];
    for (int j = 0; j <= m; j++)
        last[j] = j;
    for (int i = 1; i <= n; i++) {
        now[0] = i;
        for (int j = 1; j <= m; j++) {
            int best = last[j - 1] + (tolower((unsigned char)a[i - 1]) != tolower((unsigned char)b[j - 1]));
            best = last[j] + 1 < best ? last[j] + 1 : best;
            best = now[j - 1] + 1 < best ? now[j - 1] + 1 : best;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            now[j] = best;
        }
        int *oldest = before;
        before = last;
        last = now;
        now = oldest;
    }
    return last[m];
}

const char *nearest(const char *word, const char *(*name)(const void *context, size_t i), const void *context)
{
    const char *found = NULL, *candidate;
    size_t length = strlen(word);
    int distance = length < 3 ? 0 : length < 6 ? 1 : length < 9 ? 2 : 3; /* what is farther is another word */
    for (size_t i = 0; (candidate = name(context, i)) != NULL; i++) {
        bool begins = length >= 3 && strncasecmp(candidate, word, length) == 0;
        int d = begins ? 0 : edit_distance(word, candidate);
        if (d < distance || (d == distance && found == NULL)) {
            found = candidate;
            distance = d;
        }
    }
    return found;
}

suggestion suggest(const char *word, const char *before, const char *(*name)(const void *context, size_t i),
                   const void *context)
{
    suggestion result = {""};
    const char *found = nearest(word, name, context);
    if (found != NULL)
        snprintf(result.s, sizeof result.s, " (did you mean '%s%s'?)", before, found);
    return result;
}

static const char *option_name_at(const void *context, size_t i)
{
    const parsed_arguments *arguments = context;
    static const char *const others[] = {"help", "help-all", "verbose", NULL};
    return i < arguments->option_count ? arguments->options[i].row->name : others[i - arguments->option_count];
}

typedef struct choices {
    const subcommand *command;
    const option_row *option;
} choices;

static const char *choice_at(const void *context, size_t i)
{
    const choices *c = context;
    return option_choice(c->command, c->option, i);
}

typedef struct variants {
    const char *method;
    ley_target_kind target;
} variants;

static const char *variant_at(const void *context, size_t i)
{
    const variants *v = context;
    return ley_variant_name(v->method, v->target, i);
}

int check_variant(const subcommand *command, const char *method, ley_target_kind target, const char *variant)
{
    const variants all = {method, target};
    char known[512] = "";
    const char *name;
    for (size_t i = 0; (name = variant_at(&all, i)) != NULL; i++) {
        if (variant == NULL || strcmp(name, variant) == 0)
            return 0;
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", i > 0 ? ", " : "", name);
    }
    if (variant == NULL)
        return 0;
    return fail_usage(command, "--variant: '%s' is none of %s%s", variant, known,
                      suggest(variant, "", variant_at, &all).s);
}

/* ---- Values ---------------------------------------------------------------------------------- */

static bool parse_numbers(const subcommand *command, const option_row *option, const char *value, void *to)
{
    option_fault why;
    const bool is_right = option_parse_numbers(option, value, to, &why);
    if (!is_right)
        fail_usage(command, "%s", why.s);
    return is_right;
}

static bool parse_real(const subcommand *command, const option_row *option, const char *value, double *to)
{
    if (option->word == NULL || strcasecmp(option->word, value) != 0)
        return parse_numbers(command, option, value, to);
    for (int i = 0; i < option_numbers(option); i++)
        to[i] = NAN;
    return true;
}

static bool parse_triple(const subcommand *command, const option_row *option, const char *value, option_triples *to)
{
    if (to->n < OPTION_TRIPLES_MAX)
        return parse_numbers(command, option, value, to->value[to->n]) && ++to->n > 0;
    fail_usage(command, "--%s is given more than %d times", option->name, OPTION_TRIPLES_MAX);
    return false;
}

static bool parse_one_of_texts(const subcommand *command, const option_row *option, const char *value, option_texts *to)
{
    if (to->n < OPTION_TEXTS_MAX && value[0] != '\0') {
        to->value[to->n++] = value;
        return true;
    }
    if (value[0] == '\0')
        fail_usage(command, "--%s: its value (%s) is empty", option->name, option->value);
    else
        fail_usage(command, "--%s is given more than %d times", option->name, OPTION_TEXTS_MAX);
    return false;
}

static bool parse_choice(const subcommand *command, const option_row *option, const char *value, void *to)
{
    const choices all = {command, option};
    const char *choice;
    char known[256] = "";
    const ley_former_choice *former = option->stands_for != NULL ? option->stands_for->former_choices : NULL;
    for (const ley_former_choice *f = former; f != NULL && f->was != NULL; f++)
        if (strcasecmp(f->was, value) == 0) {
            warn("--%s %s is called %s now: the next release takes that word only", option->name, f->was, f->is);
            value = f->is;
            break;
        }
    for (size_t i = 0; (choice = choice_at(&all, i)) != NULL; i++) {
        if (strcasecmp(choice, value) == 0) {
            if (option->is_text)
                *(const char **)to = i > 0 ? choice : NULL;
            else
                *(int *)to = (int)i;
            return true;
        }
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", i > 0 ? ", " : "", choice);
    }
    const suggestion near = suggest(value, "", choice_at, &all);
    fail_usage(command, "--%s: unknown value '%s', it must be %s%s%s", option->name, value,
               choice_at(&all, 1) != NULL ? "one of " : "", known,
               near.s[0] != '\0' ? near.s : foreign_value(option->name, value).s);
    return false;
}

static bool parse_value(const subcommand *command, const option_row *option, const char *value, void *to)
{
    switch (option->kind) {
    case OPTION_FLAG:
        *(bool *)to = true;
        return true;
    case OPTION_TEXT:
        *(const char **)to = option->is_input && strcmp(value, "-") == 0 ? "/dev/stdin" : value;
        if (value[0] != '\0')
            return true;
        fail_usage(command, "--%s: its value (%s) is empty", option->name, option->value);
        return false;
    case OPTION_CHOICE:
    case OPTION_METHOD:
        return parse_choice(command, option, value, to);
    case OPTION_INTEGER:
    case OPTION_REALS:
        return parse_numbers(command, option, value, to);
    case OPTION_REAL:
        return parse_real(command, option, value, to);
    case OPTION_TRIPLES:
        return parse_triple(command, option, value, to);
    case OPTION_TEXTS:
        return parse_one_of_texts(command, option, value, to);
    }
    return false;
}

/* ---- The command line ------------------------------------------------------------------------ */

static bool is_word(const char *word, const char *name, size_t length)
{
    return word != NULL && strlen(word) == length && strncmp(word, name, length) == 0;
}

static size_t find_long(const parsed_arguments *arguments, const char *name, size_t length)
{
    size_t i = 0;
    while (i < arguments->option_count && !is_word(arguments->options[i].row->name, name, length) &&
           !is_word(arguments->options[i].row->alias, name, length) &&
           !option_row_was(arguments->options[i].row, name, length))
        i++;
    return i;
}

static size_t find_letter(const parsed_arguments *arguments, char letter)
{
    size_t i = 0;
    while (i < arguments->option_count && arguments->options[i].row->letter != letter)
        i++;
    return i;
}

/* An option where a value should stand: the value was forgotten. "-" and "-1.5" are values. */
static bool looks_like_option(const char *word)
{
    return word[0] == '-' && (word[1] == '-' || isalpha((unsigned char)word[1]));
}

/* A flag with something behind it, as --quiet=1 or -qv. */
static parse_result refuse_attached(const subcommand *command, const char *name, const char *word)
{
    if (word[1] == '-')
        fail_usage(command, "--%s takes no value", name);
    else
        fail_usage(command, "-%c takes no value, '%s': single-letter options are given separately, as in -q -v",
                   word[1], word + 2);
    return PARSE_WRONG;
}

/* `next`: what stands where its value should. */
static parse_result refuse_missing(const subcommand *command, const option_row *option, const char *next)
{
    const typed_text usual = option->kind != OPTION_TEXTS ? foreign_value(option->name, NULL) : (typed_text){""};
    fail_usage(command, "--%s lacks its value (%s)%s%s%s%s", option->name, option->value,
               next != NULL ? " before " : "", next != NULL ? next : "",
               usual.s[0] != '\0' ? usual.s : ", as in: ", usual.s[0] != '\0' ? "" : command->examples[0]);
    return PARSE_WRONG;
}

/* `--help=WORD`, or `--help` and the word behind it, NULL: there is none. */
static parse_result parse_help(const subcommand *command, const char *attached, const char *next)
{
    const char *word = attached != NULL ? attached : next != NULL && *next != '-' ? next : NULL;
    if (word == NULL)
        return PARSE_HELP;
    if (strcmp(word, "all") == 0)
        return PARSE_HELP_ALL;
    fail_usage(command, "--help: unknown value '%s' (did you mean '--help-all'?)", word);
    return PARSE_WRONG;
}

/* `length`: of its name with the dashes. */
static parse_result refuse_unknown(const parsed_arguments *arguments, const char *word, size_t length)
{
    const subcommand *command = arguments->command;
    const bool is_long = word[1] == '-';
    char name[longest_word * 2];
    snprintf(name, sizeof name, "%.*s", (int)length, word);
    const char *gone = is_long ? ley_parameter_gone(name + 2) : NULL;
    const typed_text passed = is_long && command->rest != NULL ? typed_passed_on(word) : (typed_text){""},
                     foreign = foreign_option(word, option_name_at, arguments);
    if (gone != NULL)
        fail_usage(command, "%s is gone: %s", name, gone);
    else if (foreign.s[0] != '\0' && command->rest == NULL)
        fail_usage(command, "unknown option '%s'%s", name, foreign.s);
    else if (is_long)
        fail_usage(command, "unknown option '%s'%s%s", name, suggest(name + 2, "--", option_name_at, arguments).s,
                   passed.s);
    else
        fail_usage(command, "unknown option '%s'; type: %s", name, command->examples[0]);
    return PARSE_WRONG;
}

/* Takes one option, at argv[*at], and its value. */
static parse_result parse_option(int argc, char **argv, int *at, parsed_arguments *arguments)
{
    const subcommand *command = arguments->command;
    char *word = argv[*at];
    bool is_long = word[1] == '-';
    size_t name_length = is_long ? strcspn(word + 2, "=") : 1;
    const char *attached = NULL;
    if (is_long && word[2 + name_length] == '=')
        attached = word + 2 + name_length + 1;
    else if (!is_long && word[2] != '\0')
        attached = word + 2;
    const typed_text dashes = !is_long ? foreign_dashes(word, option_name_at, arguments) : (typed_text){""};
    if (dashes.s[0] != '\0') {
        fail_usage(command, "'%s' has one dash, and options of several letters have two%s", word, dashes.s);
        return PARSE_WRONG;
    }
    if (is_long ? name_length == strlen("help") && strncmp(word, "--help", name_length + 2) == 0
                : strcmp(word, "-h") == 0)
        return parse_help(command, attached, *at + 1 < argc ? argv[*at + 1] : NULL);
    if (strcmp(word, "--help-all") == 0)
        return PARSE_HELP_ALL;
    if (is_long ? name_length == strlen("verbose") && strncmp(word, "--verbose", name_length + 2) == 0
                : word[1] == 'v') {
        if (attached != NULL)
            return refuse_attached(command, "verbose", word);
        arguments->verbose = true;
        return PARSE_RUN;
    }
    size_t i = is_long ? find_long(arguments, word + 2, name_length) : find_letter(arguments, word[1]);
    if (i == arguments->option_count)
        return refuse_unknown(arguments, word, name_length + (is_long ? 2 : 1));
    parsed_option *parsed = &arguments->options[i];
    const option_row *option = parsed->row;
    if (is_long && option_row_was(option, word + 2, name_length))
        warn("--%.*s is called --%s now: the next release takes that word only", (int)name_length, word + 2,
             option->name);
    if (parsed->given && option->kind != OPTION_TRIPLES && option->kind != OPTION_TEXTS) {
        fail_usage(command, "--%s is given twice%s", option->name,
                   strcmp(option->value != NULL ? option->value : "", "LIST") == 0
                       ? ": once is enough, with commas between devices"
                       : "");
        return PARSE_WRONG;
    }
    parsed->given = true;
    if (option->kind == OPTION_FLAG && attached != NULL)
        return refuse_attached(command, option->name, word);
    if (option->kind != OPTION_FLAG && attached == NULL) {
        const char *next = *at + 1 < argc ? argv[*at + 1] : NULL;
        if (next == NULL || looks_like_option(next))
            return refuse_missing(command, option, next);
        attached = next;
        ++*at;
    }
    return parse_value(command, option, attached, parsed->value) ? PARSE_RUN : PARSE_WRONG;
}

/* A flag that stands for a method makes it the chosen one. */
static parse_result take_method(const parsed_arguments *arguments, const option_row *flag)
{
    const option_method *method;
    size_t i = 0, number = 0;
    while (arguments->options[i].row->kind != OPTION_METHOD)
        i++;
    while ((method = method_at(arguments->command, number)) != NULL && strcmp(method->name, flag->method) != 0)
        number++;
    int *chosen = arguments->options[i].value;
    if (arguments->options[i].given && *chosen != (int)number) {
        fail_usage(arguments->command, "--%s stands for --%s %s, and --%s %s is given", flag->name,
                   arguments->options[i].row->name, flag->method, arguments->options[i].row->name,
                   method_at(arguments->command, (size_t)*chosen)->name);
        return PARSE_WRONG;
    }
    *chosen = (int)number;
    return PARSE_RUN;
}

void option_fill_help(char *to, size_t size, const char *help, const char *(*list)(void))
{
    const char *names = list != NULL ? strstr(help, "%s") : NULL;
    if (names == NULL)
        snprintf(to, size, "%s", help);
    else
        snprintf(to, size, "%.*s%s%s", (int)(names - help), help, list(), names + strlen("%s"));
}

/* `what` was given as "". */
static parse_result fail_empty(const subcommand *command, const char *what, const char *what_help,
                               const char *(*names)(void))
{
    char help[OPTION_MOST_HELP];
    option_fill_help(help, sizeof help, what_help, names);
    fail_usage(command, "%s is empty: %s", what, help);
    return PARSE_WRONG;
}

static parse_result fail_missing(const subcommand *command, const char *name, const char *value)
{
    fail_usage(command, "%s%s%s is missing, as in: %s", name, value != NULL ? " " : "", value != NULL ? value : "",
               command->examples[0]);
    return PARSE_WRONG;
}

/* One input alone can be standard input: notes it, unless another one was. */
static bool take_stdin(const parsed_arguments *arguments, const char *path, short_text name, short_text *first)
{
    if (path == NULL || !input_takes_stdin(path))
        return true;
    if (first->s[0] != '\0') {
        fail_usage(arguments->command,
                   "standard input can be read once: %s and %s are both taken from it; name a file for one of them",
                   first->s, name.s);
        return false;
    }
    *first = name;
    return true;
}

static parse_result check_stdin(const parsed_arguments *arguments)
{
    const subcommand *command = arguments->command;
    short_text first = {""};
    bool is_right = true;
    if (command->is_operand_file)
        is_right = take_stdin(arguments, arguments->operand, text_of("%s", command->operand), &first);
    for (size_t i = 0; command->is_operand_file && i < command->words_wanted && is_right; i++)
        is_right = take_stdin(arguments, arguments->words[i], text_of("%s", command->words), &first);
    for (size_t i = 0; i < arguments->option_count && is_right; i++) {
        const parsed_option *option = &arguments->options[i];
        if (option->row->is_input && option->given)
            is_right =
                take_stdin(arguments, *(const char *const *)option->value, text_of("--%s", option->row->name), &first);
    }
    return is_right ? PARSE_RUN : PARSE_WRONG;
}

static parse_result check_complete(const parsed_arguments *arguments)
{
    const subcommand *command = arguments->command;
    if (command->operand != NULL && !command->is_operand_open && arguments->operand == NULL)
        return fail_missing(command, command->operand, NULL);
    if (arguments->word_count < command->words_wanted)
        return fail_missing(command, command->words, NULL);
    for (size_t i = 0; i < arguments->option_count; i++) {
        const option_row *option = arguments->options[i].row;
        const char *last = arguments->word_count > 0 ? arguments->words[arguments->word_count - 1] : NULL;
        if (option->letter == 'o' && option->required && !arguments->options[i].given && last != NULL &&
            access(last, F_OK) != 0) {
            fail_usage(command, "--%s is missing%s", option->name, typed_with("-o", last).s);
            return PARSE_WRONG;
        }
        if (option->required && !arguments->options[i].given)
            return fail_missing(command, text_of("--%s", option->name).s, option->value);
        if (option->method != NULL && arguments->options[i].given && take_method(arguments, option) != PARSE_RUN)
            return PARSE_WRONG;
    }
    if (arguments->verbose && option_named_given(arguments, "quiet")) {
        fail_usage(command, "--quiet and --verbose exclude each other");
        return PARSE_WRONG;
    }
    return check_stdin(arguments);
}

/* Where operands are files, "-" is standard input. */
static const char *file_of(const subcommand *command, const char *word)
{
    return command->is_operand_file && strcmp(word, "-") == 0 ? "/dev/stdin" : word;
}

/* The option that a further file may be of: a second map, or the molecule beside a map. */
static typed_text option_of_file(const parsed_arguments *arguments, const char *word)
{
    static const char *const of_maps[] = {"difference", "map", NULL}, *const of_others[] = {"molecule", NULL};
    const char *const *name = ley_map_format_of(word, NULL) != NULL ? of_maps : of_others;
    for (; access(word, F_OK) == 0 && *name != NULL; name++) {
        const size_t i = find_long(arguments, *name, strlen(*name));
        if (i < arguments->option_count && !arguments->options[i].given)
            return typed_with(text_of("--%s", *name).s, word);
    }
    return (typed_text){""};
}

/* A further word may be a trajectory, a file of an option, or where --output is missing what it
 * was to be. */
static typed_text file_meant(int argc, char **argv, const parsed_arguments *arguments, const char *word)
{
    const size_t i = find_long(arguments, "output", strlen("output"));
    const char *ending = strrchr(word, '.');
    if (ending != NULL && strstr(" .dcd .xtc .trr .nc ", text_of(" %s ", ending).s) != NULL)
        return (typed_text){": frames of trajectories are for Python, python3 -m leyden --help"};
    const typed_text file = option_of_file(arguments, word);
    bool is_there = file.s[0] != '\0' || i == arguments->option_count || !arguments->options[i].row->required;
    for (int at = 0; at < argc; at++)
        is_there = is_there || strncmp(argv[at], "-o", 2) == 0 || strncmp(argv[at], "--output", 8) == 0;
    return is_there ? file : typed_with("-o", word);
}

parse_result options_parse(const subcommand *command, int argc, char **argv, parsed_arguments *arguments)
{
    options_begin(command, arguments);
    arguments->words = allocate((size_t)argc + 1, sizeof *arguments->words);
    bool operands_only = false;
    for (int at = 0; at < argc; at++) {
        char *word = argv[at];
        if (!operands_only && strcmp(word, "--") == 0) {
            operands_only = true;
            if (command->rest != NULL) {
                arguments->rest = argv + at + 1;
                arguments->rest_count = argc - at - 1;
                break;
            }
        } else if (!operands_only && word[0] == '-' && word[1] != '\0') {
            parse_result result = parse_option(argc, argv, &at, arguments);
            if (result != PARSE_RUN)
                return result;
        } else if (command->operand != NULL && arguments->operand == NULL) {
            if (word[0] == '\0')
                return fail_empty(command, command->operand, command->operand_help, command->operand_names);
            arguments->operand = file_of(command, word);
        } else if (command->words != NULL && command->words_wanted == 0) {
            arguments->words[arguments->word_count++] = word; /* the command knows which there are */
        } else if (command->words != NULL && arguments->word_count < command->words_wanted) {
            if (word[0] == '\0')
                return fail_empty(command, command->words, command->words_help, NULL);
            arguments->words[arguments->word_count++] = file_of(command, word);
        } else {
            double number;
            fail_usage(command, "'%s' is one argument too many%s", word,
                       read_real(word, &number) ? ": numbers of an option are separated by commas, as 1,2,3"
                                                : file_meant(argc, argv, arguments, word).s);
            return PARSE_WRONG;
        }
    }
    return check_complete(arguments);
}

bool option_given(const parsed_arguments *arguments, size_t option)
{
    return arguments->options[option].given;
}

bool option_named_given(const parsed_arguments *arguments, const char *name)
{
    const size_t i = find_long(arguments, name, strlen(name));
    return i < arguments->option_count && arguments->options[i].given;
}

/* ---- Help ------------------------------------------------------------------------------------ */

enum { help_column = 27, help_width = 100 };

void print_wrapped(const char *text, int column, int indent)
{
    while (*text != '\0') {
        size_t word = strcspn(text, " \n");
        if (column > indent && column + 1 + (int)word > help_width) {
            putchar('\n');
            column = 0;
        }
        if (column < indent || column == 0) {
            printf("%*s", indent - column, "");
            column = indent;
        } else if (column > indent) {
            putchar(' ');
            column++;
        }
        printf("%.*s", (int)word, text);
        column += (int)word;
        text += word;
        if (*text == '\n') {
            putchar('\n');
            column = 0;
        }
        text += *text != '\0';
    }
    putchar('\n');
}

static void append(char *to, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void append(char *to, size_t size, const char *format, ...)
{
    size_t used = strlen(to);
    va_list values;
    va_start(values, format);
    vsnprintf(to + used, size - used, format, values);
    va_end(values);
}

static void append_default(char *to, size_t size, const subcommand *command, const parsed_option *parsed)
{
    const option_row *option = parsed->row;
    const void *value = parsed->value;
    if (option->required || option->kind == OPTION_FLAG)
        return;
    append(to, size, " (default: ");
    if (option->unset != NULL)
        append(to, size, "%s", option->unset);
    else if (option->kind == OPTION_TEXT)
        append(to, size, "%s", *(const char *const *)value);
    else if (option->kind == OPTION_CHOICE || option->kind == OPTION_METHOD)
        append(to, size, "%s", option_chosen(command, parsed));
    else if (option->kind == OPTION_TRIPLES || option->kind == OPTION_REALS || option->kind == OPTION_TEXTS)
        append(to, size, "none");
    else
        for (int i = 0; i < (option->one_for_all ? 1 : option_numbers(option)); i++)
            append(to, size, "%s%.15g", i > 0 ? "," : "",
                   option->kind == OPTION_REAL ? ((const double *)value)[i] : (double)option_whole(parsed, i));
    append(to, size, ")");
}

/* What methods say of themselves: the default one first, the others in their order. */
static void append_methods(char *to, size_t size, const subcommand *command, const char *between, size_t usual)
{
    const option_method *method;
    append(to, size, "%s", method_at(command, usual)->says);
    for (size_t i = 0; (method = method_at(command, i)) != NULL; i++)
        if (i != usual && method->says != NULL)
            append(to, size, "%s%s", between, method->says);
}

static void append_help(char *to, size_t size, const subcommand *command, const parsed_option *parsed, const char *help)
{
    const option_row *option = parsed->row;
    const bool has_names = option->names != NULL || option->kind == OPTION_METHOD;
    const char *names = has_names ? strstr(help, "%s") : NULL;
    append(to, size, "%.*s", names != NULL ? (int)(names - help) : INT_MAX, help);
    if (names == NULL)
        return;
    if (option->kind == OPTION_METHOD)
        append_methods(to, size, command, option->between, (size_t) * (const int *)parsed->value);
    else
        append(to, size, "%s", option->names());
    append(to, size, "%s", names + strlen("%s"));
}

option_text option_describe(const subcommand *command, const parsed_option *parsed, bool all)
{
    const option_row *option = parsed->row;
    option_text line = {""};
    append_help(line.s, sizeof line.s, command, parsed, option->help);
    if (all && option->more != NULL) {
        append(line.s, sizeof line.s, "; ");
        append_help(line.s, sizeof line.s, command, parsed, option->more);
    }
    if (all && option->alias != NULL)
        append(line.s, sizeof line.s, "; also --%s", option->alias);
    const bool has_choice =
        (option->kind == OPTION_CHOICE || option->kind == OPTION_METHOD) && option_choice(command, option, 1) != NULL;
    for (size_t i = 0; has_choice && option_choice(command, option, i) != NULL; i++)
        append(line.s, sizeof line.s, "%s%s", i > 0 ? ", " : "; one of ", option_choice(command, option, i));
    append_default(line.s, sizeof line.s, command, parsed);
    option_row_names(line.s, sizeof line.s);
    return line;
}

static void print_option(const subcommand *command, const parsed_option *parsed, bool all)
{
    const option_row *option = parsed->row;
    int column =
        option->letter != 0 ? printf("  -%c, --%s", option->letter, option->name) : printf("      --%s", option->name);
    if (option->kind != OPTION_FLAG)
        column += printf(" %s", option->value);
    if (column >= help_column) {
        putchar('\n');
        column = 0;
    }
    print_wrapped(option_describe(command, parsed, all).s, column, help_column);
}

/* The paragraphs of its methods, then its own. */
static void print_details(const subcommand *command)
{
    const option_method *method;
    bool has_any = false;
    for (size_t i = 0; (method = method_at(command, i)) != NULL; i++) {
        if (method->details == NULL)
            continue;
        if (!has_any)
            putchar('\n');
        has_any = true;
        print_wrapped(method->details, 0, 0);
    }
    if (command->details == NULL)
        return;
    if (!has_any)
        putchar('\n');
    print_wrapped(command->details, 0, 0);
}

option_text options_usage(const parsed_arguments *arguments)
{
    const subcommand *command = arguments->command;
    option_text usage = {""};
    const size_t size = sizeof usage.s;
    append(usage.s, size, "leyden %s", command->name);
    if (command->operand != NULL)
        append(usage.s, size, " %s", command->operand);
    if (command->words != NULL && command->words_wanted > 0)
        append(usage.s, size, " %s", command->words);
    for (size_t i = 0; i < arguments->option_count; i++) {
        const option_row *option = arguments->options[i].row;
        if (option->required && option->letter != 0)
            append(usage.s, size, " -%c %s", option->letter, option->value);
        else if (option->required)
            append(usage.s, size, " --%s %s", option->name, option->value);
    }
    append(usage.s, size, " [options]");
    if (command->words != NULL && command->words_wanted == 0)
        append(usage.s, size, " [%s...]", command->words);
    if (command->rest != NULL)
        append(usage.s, size, " [-- %s]", command->rest);
    return usage;
}

const char option_verbose_help[] =
    "report every detail of the result, and on standard error what is found, chosen and done, with the seconds since "
    "the start";
const char option_help_help[] = "print examples and the everyday options, and end";
const char option_help_all_help[] = "print all options with all details, and end";

/* Options of a level. */
static void print_options(const parsed_arguments *arguments, bool is_expert, bool all)
{
    for (size_t i = 0; i < arguments->option_count; i++)
        if (arguments->options[i].row->is_expert == is_expert)
            print_option(arguments->command, &arguments->options[i], all);
}

/* Whether the short help leaves anything out. */
static bool has_more(const parsed_arguments *arguments)
{
    const option_method *method;
    bool has = arguments->command->details != NULL;
    for (size_t i = 0; (method = method_at(arguments->command, i)) != NULL; i++)
        has = has || method->details != NULL;
    for (size_t i = 0; i < arguments->option_count; i++)
        has = has || arguments->options[i].row->is_expert || arguments->options[i].row->more != NULL;
    return has;
}

static void print_rest(const parsed_arguments *arguments, bool all)
{
    size_t experts = 0;
    for (size_t i = 0; i < arguments->option_count; i++)
        experts += arguments->options[i].row->is_expert;
    if (all && experts > 0) {
        puts("\nFor experts:\n");
        print_options(arguments, true, true);
    } else if (!all && has_more(arguments)) {
        printf("\n'leyden %s --help-all' has all details", arguments->command->name);
        if (experts > 0)
            printf(" and %s for experts", counted_text((int64_t)experts, "more option").s);
        puts(".");
    }
}

void options_print_help(const subcommand *command, bool all)
{
    parsed_arguments arguments;
    options_begin(command, &arguments);
    for (size_t i = 0; i < OPTION_MOST_EXAMPLES && command->examples[i] != NULL; i++)
        printf("%s%s\n", i == 0 ? "Examples:\n  " : "  ", command->examples[i]);
    printf("%sUsage: %s\n\n", command->examples[0] != NULL ? "\n" : "", options_usage(&arguments).s);
    print_wrapped(command->summary, 0, 0);
    if (all)
        print_details(command);
    putchar('\n');
    if (command->operand != NULL) {
        char help[OPTION_MOST_HELP];
        option_fill_help(help, sizeof help, command->operand_help, command->operand_names);
        int column = printf("  %s", command->operand);
        print_wrapped(help, column, help_column);
    }
    if (command->words != NULL) {
        int column = printf("  %s", command->words);
        print_wrapped(command->words_help, column, help_column);
    }
    if (command->rest != NULL) {
        int column = printf("  %s", command->rest);
        print_wrapped(command->rest_help, column, help_column);
    }
    print_options(&arguments, false, all);
    int column = printf("  -v, --verbose");
    print_wrapped(option_verbose_help, column, help_column);
    column = printf("  -h, --help");
    print_wrapped(option_help_help, column, help_column);
    column = printf("      --help-all");
    print_wrapped(option_help_all_help, column, help_column);
    print_rest(&arguments, all);
    options_release(&arguments);
}
