/* Writes what is installed beside the command and follows from its tables: a manual page of the
 * command and of each sub-command, and completions for bash and zsh. `make pages` runs it:
 *
 *     pages FOLDER     leyden.1, leyden-X.1 of each sub-command X, leyden.bash, _leyden,
 *                      options.schema.json: what the options are, for programs */
#include "../console.h"
#include "../json.h"
#include "../options.h"
#include "../overview.h"
#include "../registry.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static FILE *begin(const char *folder, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    if (file == NULL) {
        perror(path);
        exit(2);
    }
    return file;
}

static void end(FILE *file)
{
    if (ferror(file) || fclose(file) != 0) {
        perror("pages");
        exit(2);
    }
}

/* ---- Manual pages ---------------------------------------------------------------------------- */

/* The text as roff takes it: what it would make typographic signs of stays what it is. */
static void put_roff(FILE *file, const char *text)
{
    static const struct {
        char character;
        const char *as;
    } special[] = {{'\\', "\\e"},  {'-', "\\-"},   {'\'', "\\(aq"}, {'`', "\\(ga"},
                   {'^', "\\(ha"}, {'~', "\\(ti"}, {'"', "\\(dq"}};
    for (const char *c = text; *c != '\0'; c++) {
        const char *as = NULL;
        for (size_t i = 0; i < sizeof special / sizeof *special; i++)
            as = special[i].character == *c ? special[i].as : as;
        if (*c == '.' && (c == text || c[-1] == '\n'))
            as = "\\&.";
        if (*c == '\n')
            as = c[1] == '\n' ? "\n" : "\n.br\n"; /* an empty line is a paragraph's end already */
        if (as != NULL)
            fputs(as, file);
        else
            fputc(*c, file);
    }
}

static void put_paragraph(FILE *file, const char *text)
{
    fputs(".PP\n", file);
    put_roff(file, text);
    fputc('\n', file);
}

/* The head of an item: bold letter and name, the value in italics. */
static void put_item(FILE *file, char letter, const char *name, const char *value)
{
    fputs(".TP\n", file);
    if (letter != 0)
        fprintf(file, "\\fB\\-%c\\fR, ", letter);
    fputs("\\fB\\-\\-", file);
    put_roff(file, name);
    fputs("\\fR", file);
    if (value != NULL) {
        fputs(" \\fI", file);
        put_roff(file, value);
        fputs("\\fR", file);
    }
    fputc('\n', file);
}

static void put_option(FILE *file, char letter, const char *name, const char *value, const char *text)
{
    put_item(file, letter, name, value);
    put_roff(file, text);
    fputc('\n', file);
}

/* Options of a level. */
static void put_options(FILE *file, const parsed_arguments *arguments, bool is_expert)
{
    for (size_t i = 0; i < arguments->option_count; i++) {
        const option_row *option = arguments->options[i].row;
        if (option->is_expert == is_expert)
            put_option(file, option->letter, option->name, option->kind != OPTION_FLAG ? option->value : NULL,
                       option_describe(arguments->command, &arguments->options[i], true).s);
    }
}

static void put_operand(FILE *file, const char *name, const char *help, const char *(*names)(void))
{
    char text[OPTION_MOST_HELP];
    if (name == NULL)
        return;
    option_fill_help(text, sizeof text, help, names);
    fputs(".TP\n\\fI", file);
    put_roff(file, name);
    fputs("\\fR\n", file);
    put_roff(file, text);
    fputc('\n', file);
}

/* The head of a page, with the summary without its full stop. */
static void put_head(FILE *file, const char *command, const char *summary)
{
    const size_t length = strlen(summary);
    char name[64], line[512];
    snprintf(name, sizeof name, "leyden%s%s", command != NULL ? "-" : "", command != NULL ? command : "");
    snprintf(line, sizeof line, "%.*s", (int)(length - (summary[length - 1] == '.')), summary);
    fprintf(file, ".\\\" Made by `make pages` from the tables of the command's options.\n.TH \"");
    for (const char *c = name; *c != '\0'; c++)
        fputc(*c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c, file);
    fprintf(file, "\" 1 \"\" \"leyden %s\" \"User Commands\"\n.SH NAME\n", LEY_VERSION);
    put_roff(file, name);
    fputs(" \\- ", file);
    put_roff(file, line);
    fputs("\n.SH SYNOPSIS\n", file);
}

static void put_tail(FILE *file, const subcommand *without)
{
    fputs(".SH EXIT STATUS\n", file);
    put_roff(file, overview_exit_codes().s);
    fputs("\n.SH SEE ALSO\n", file);
    if (without != NULL)
        fputs(".BR leyden (1),\n", file);
    for (size_t i = 0; command_table[i] != NULL; i++)
        if (command_table[i] != without) {
            const subcommand *next =
                command_table[i + 1] != without || without == NULL ? command_table[i + 1] : command_table[i + 2];
            fputs(".BR leyden\\-", file);
            put_roff(file, command_table[i]->name);
            fprintf(file, " (1)%s\n", next != NULL ? "," : "");
        }
    fputs(".PP\nThe documents in /usr/share/doc/leyden, or below the prefix of the installation.\n", file);
}

static void write_command_page(const char *folder, const subcommand *command)
{
    char name[64];
    const option_method *method;
    parsed_arguments arguments;
    snprintf(name, sizeof name, "leyden-%s.1", command->name);
    FILE *file = begin(folder, name);
    options_begin(command, &arguments);
    put_head(file, command->name, command->summary);
    put_roff(file, options_usage(&arguments).s);
    fputs("\n.SH DESCRIPTION\n", file);
    put_roff(file, command->summary);
    fputc('\n', file);
    for (size_t i = 0; command->method != NULL && (method = command->method(i)) != NULL; i++)
        if (method->details != NULL)
            put_paragraph(file, method->details);
    if (command->details != NULL)
        put_paragraph(file, command->details);
    if (command->examples[0] != NULL)
        fputs(".SH EXAMPLES\n.nf\n", file);
    for (size_t i = 0; i < OPTION_MOST_EXAMPLES && command->examples[i] != NULL; i++) {
        put_roff(file, command->examples[i]);
        fputs(i + 1 == OPTION_MOST_EXAMPLES ? "\n.fi\n" : "\n", file);
    }
    fputs(".SH OPTIONS\n", file);
    put_operand(file, command->operand, command->operand_help, command->operand_names);
    put_operand(file, command->words, command->words_help, NULL);
    put_operand(file, command->rest, command->rest_help, NULL);
    put_options(file, &arguments, false);
    put_option(file, 'v', "verbose", NULL, option_verbose_help);
    put_option(file, 'h', "help", NULL, option_help_help);
    put_option(file, 0, "help-all", NULL, option_help_all_help);
    fputs(".SH OPTIONS FOR EXPERTS\n", file);
    put_options(file, &arguments, true);
    put_tail(file, command);
    options_release(&arguments);
    end(file);
}

static void write_overview_page(const char *folder)
{
    FILE *file = begin(folder, "leyden.1");
    put_head(file, NULL, overview_purpose);
    put_roff(file, "leyden COMMAND [options]");
    fputs("\n.SH DESCRIPTION\n", file);
    put_roff(file, overview_purpose);
    fputs("\n.SH COMMANDS\n", file);
    for (size_t i = 0; command_table[i] != NULL; i++) {
        fputs(".TP\n\\fB", file);
        put_roff(file, command_table[i]->name);
        fputs("\\fR\n", file);
        put_roff(file, command_table[i]->summary);
        fputc('\n', file);
    }
    fputs(".SH OPTIONS\n", file);
    put_option(file, 'h', "help", NULL, "print what commands there are; 'leyden help COMMAND' is about one of them");
    put_option(file, 'V', "version", NULL, "print the version");
    put_tail(file, NULL);
    end(file);
}

/* ---- Completions ----------------------------------------------------------------------------- */

/* Whether its value can be anything: then files are proposed. */
static bool is_text(const option_row *option)
{
    return option->kind == OPTION_TEXT;
}

static bool has_choices(const option_row *option)
{
    return option->kind == OPTION_CHOICE || option->kind == OPTION_METHOD;
}

static void put_choices(FILE *file, const subcommand *command, const option_row *option)
{
    const char *choice;
    for (size_t i = 0; (choice = option_choice(command, option, i)) != NULL; i++)
        fprintf(file, "%s%s", i > 0 ? " " : "", choice);
}

static void put_names(FILE *file, const parsed_arguments *arguments)
{
    for (size_t i = 0; i < arguments->option_count; i++) {
        const option_row *option = arguments->options[i].row;
        if (option->letter != 0)
            fprintf(file, "-%c ", option->letter);
        fprintf(file, "--%s ", option->name);
        if (option->alias != NULL)
            fprintf(file, "--%s ", option->alias);
    }
    fputs("-v --verbose -h --help --help-all", file);
}

/* "-o|--output" */
static void put_pattern(FILE *file, const option_row *option)
{
    if (option->letter != 0)
        fprintf(file, "-%c|", option->letter);
    fprintf(file, "--%s", option->name);
    if (option->alias != NULL)
        fprintf(file, "|--%s", option->alias);
}

static void put_bash_command(FILE *file, const subcommand *command)
{
    parsed_arguments arguments;
    options_begin(command, &arguments);
    fprintf(file, "    %s)\n        options='", command->name);
    put_names(file, &arguments);
    fputs("'\n        case $before in\n", file);
    for (size_t i = 0; i < arguments.option_count; i++) {
        const option_row *option = arguments.options[i].row;
        if (option->kind == OPTION_FLAG)
            continue;
        fputs("        ", file);
        put_pattern(file, option);
        if (has_choices(option)) {
            fputs(") value='", file);
            put_choices(file, command, option);
            fputs("' ;;\n", file);
        } else {
            fputs(is_text(option) ? ") return ;;\n" : ") _leyden_nothing; return ;;\n", file);
        }
    }
    fputs("        esac ;;\n", file);
    options_release(&arguments);
}

static void write_bash(const char *folder)
{
    FILE *file = begin(folder, "leyden.bash");
    fputs("# Completion of leyden for bash. Made by `make pages` from the tables of the command's options.\n"
          "# Where nothing is proposed, bash proposes files.\n\n"
          "# A number is to come: no files either.\n"
          "_leyden_nothing() { compopt +o default +o bashdefault 2>/dev/null; }\n\n"
          "_leyden() {\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} options='' value='' commands='",
          file);
    for (size_t i = 0; command_table[i] != NULL; i++)
        fprintf(file, "%s%s", i > 0 ? " " : "", command_table[i]->name);
    fputs("'\n"
          "    COMPREPLY=()\n"
          "    # \"=\" is a word of its own: --method=msm are three.\n"
          "    if [[ $word == = ]]; then word=''; elif [[ $before == = && $COMP_CWORD -gt 2 ]]; then "
          "before=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
          "    if [[ $COMP_CWORD -eq 1 ]]; then\n"
          "        mapfile -t COMPREPLY < <(compgen -W \"$commands help version --help --version\" -- \"$word\")\n"
          "        return\n"
          "    fi\n"
          "    case ${COMP_WORDS[1]} in\n"
          "    help) value=$commands ;;\n",
          file);
    for (size_t i = 0; command_table[i] != NULL; i++)
        put_bash_command(file, command_table[i]);
    fputs("    *) return ;;\n"
          "    esac\n"
          "    if [[ -n $value ]]; then\n"
          "        mapfile -t COMPREPLY < <(compgen -W \"$value\" -- \"$word\")\n"
          "    elif [[ $word == -* ]]; then\n"
          "        mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$word\")\n"
          "    fi\n"
          "}\n"
          "complete -o bashdefault -o default -F _leyden leyden\n",
          file);
    end(file);
}

/* The beginning of a text, up to what goes into details, for zsh's lists within single quotes. */
static void put_zsh_text(FILE *file, const char *text)
{
    size_t length = strcspn(text, ":;(");
    while (length > 0 && text[length - 1] == ' ')
        length--;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '[' || text[i] == ']')
            fputc('\\', file);
        fputs(text[i] == '\'' ? "'\\''" : (const char[]){text[i], '\0'}, file);
    }
}

static void put_zsh_option(FILE *file, const subcommand *command, const parsed_option *parsed)
{
    const option_row *option = parsed->row;
    fputs(" \\\n            ", file);
    if (option->letter != 0)
        fprintf(file, "'(-%c --%s)'{-%c+,--%s=}'[", option->letter, option->name, option->letter, option->name);
    else if (option->alias != NULL)
        fprintf(file, "'(--%s --%s)'{--%s=,--%s=}'[", option->name, option->alias, option->name, option->alias);
    else
        fprintf(file, "'--%s%s[", option->name, option->kind != OPTION_FLAG ? "=" : "");
    put_zsh_text(file, option_describe(command, parsed, false).s);
    fputc(']', file);
    if (option->kind != OPTION_FLAG) {
        fputc(':', file);
        put_zsh_text(file, option->value);
        fputc(':', file);
        if (has_choices(option)) {
            fputc('(', file);
            put_choices(file, command, option);
            fputc(')', file);
        } else if (is_text(option)) {
            fputs("_files", file);
        }
    }
    fputc('\'', file);
}

static void put_zsh_command(FILE *file, const subcommand *command)
{
    parsed_arguments arguments;
    options_begin(command, &arguments);
    fprintf(file, "    %s)\n        _arguments", command->name);
    for (size_t i = 0; i < arguments.option_count; i++)
        put_zsh_option(file, command, &arguments.options[i]);
    fputs(" \\\n            '(-v --verbose)'{-v,--verbose}'[say what is found, chosen and done]'"
          " \\\n            '(-h --help)'{-h,--help}'[print the everyday help]'"
          " \\\n            '--help-all[print the whole help]'",
          file);
    if (command->operand != NULL)
        fputs(" \\\n            '*:file:_files'", file);
    fputs(" ;;\n", file);
    options_release(&arguments);
}

static void write_zsh(const char *folder)
{
    FILE *file = begin(folder, "_leyden");
    fputs("#compdef leyden\n"
          "# Completion of leyden for zsh. Made by `make pages` from the tables of the command's options.\n\n"
          "_leyden() {\n"
          "    local -a commands=(\n",
          file);
    for (size_t i = 0; command_table[i] != NULL; i++) {
        fprintf(file, "        '%s:", command_table[i]->name);
        put_zsh_text(file, command_table[i]->summary);
        fputs("'\n", file);
    }
    fputs("        'help:Prints the help of a command'\n"
          "        'version:Prints the version'\n"
          "    )\n"
          "    if (( CURRENT == 2 )); then\n"
          "        _describe command commands\n"
          "        return\n"
          "    fi\n"
          "    shift words\n"
          "    (( CURRENT-- ))\n"
          "    case $words[1] in\n"
          "    help) _describe command commands ;;\n",
          file);
    for (size_t i = 0; command_table[i] != NULL; i++)
        put_zsh_command(file, command_table[i]);
    fputs("    esac\n"
          "}\n\n"
          "_leyden \"$@\"\n",
          file);
    end(file);
}

/* ---- The schema of what options are -----------------------------------------------------------
 *
 * Of the member `options` of a command's report: an option that is not meant is null there. */

static json_t *schema_of_number(const option_row *option)
{
    json_t *number = json_object();
    json_put(number, "type", json_text(option->kind == OPTION_INTEGER ? "integer" : "number"));
    if (isfinite(option->low))
        json_put(number, option->above_low ? "exclusiveMinimum" : "minimum", json_number(option->low));
    if (isfinite(option->high))
        json_put(number, "maximum", json_number(option->high));
    return number;
}

/* So many of them; 0: any number. */
static json_t *schema_of_array(json_t *items, int count)
{
    json_t *array = json_object();
    json_put(array, "type", json_text("array"));
    json_put(array, "items", items);
    if (count > 0) {
        json_put(array, "minItems", json_count(count));
        json_put(array, "maxItems", json_count(count));
    }
    return array;
}

static json_t *schema_of_type(const char *type)
{
    json_t *schema = json_object();
    json_put(schema, "type", json_text(type));
    return schema;
}

/* All that its value can be. */
static json_t *values_of(const subcommand *command, const option_row *option)
{
    const char *choice;
    json_t *any = json_array(), *words = json_array();
    switch (option->kind) {
    case OPTION_FLAG:
        json_add(any, schema_of_type("boolean"));
        break;
    case OPTION_TEXT:
        json_add(any, schema_of_type("string"));
        break;
    case OPTION_CHOICE:
    case OPTION_METHOD:
        for (size_t i = 0; (choice = option_choice(command, option, i)) != NULL; i++)
            json_add(words, json_text(choice));
        break;
    case OPTION_TRIPLES:
        json_add(any, schema_of_array(schema_of_array(schema_of_number(option), 3), 0));
        break;
    case OPTION_TEXTS:
        json_add(any, schema_of_array(schema_of_type("string"), 0));
        break;
    case OPTION_REALS:
        json_add(any, schema_of_array(schema_of_number(option), 0));
        break;
    case OPTION_INTEGER:
    case OPTION_REAL:
        if (option->count > 1)
            json_add(any, schema_of_array(schema_of_number(option), option->count));
        if (option->count <= 1 || option->one_for_all)
            json_add(any, schema_of_number(option));
        if (option->word != NULL)
            json_add(words, json_text(option->word));
    }
    if (json_array_size(words) > 0) {
        json_t *one = json_object();
        json_put(one, "enum", words);
        json_add(any, one);
    } else {
        json_decref(words);
    }
    json_add(any, schema_of_type("null"));
    return any;
}

static json_t *schema_of_command(const subcommand *command)
{
    parsed_arguments arguments;
    json_t *schema = schema_of_type("object"), *properties = json_object();
    options_begin(command, &arguments);
    for (size_t i = 0; i < arguments.option_count; i++) {
        const option_row *option = arguments.options[i].row;
        const ley_parameter *parameter = option->stands_for;
        json_t *property = json_object();
        json_put(property, "description", json_text(option_describe(command, &arguments.options[i], true).s));
        json_put(property, "level", json_text(option->is_expert ? "expert" : "everyday"));
        if (parameter != NULL && parameter->unit != NULL)
            json_put(property, "unit", json_text(parameter->unit));
        json_put(property, "anyOf", values_of(command, option));
        json_put(properties, option->name, property);
    }
    options_release(&arguments);
    json_put(schema, "properties", properties);
    json_put(schema, "additionalProperties", json_false());
    return schema;
}

static void write_schema(const char *folder)
{
    FILE *file = begin(folder, "options.schema.json");
    json_t *schema = json_object(), *commands = json_object();
    json_put(schema, "$schema", json_text("http://json-schema.org/draft-07/schema#"));
    json_put(schema, "title", json_text("Options of leyden's commands, as their reports have them"));
    for (size_t i = 0; command_table[i] != NULL; i++)
        json_put(commands, command_table[i]->name, schema_of_command(command_table[i]));
    json_put(schema, "definitions", commands);
    json_dumpf(schema, file, JSON_INDENT(1));
    fputc('\n', file);
    json_decref(schema);
    end(file);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fputs("which folder?\n", stderr);
        return 1;
    }
    write_overview_page(argv[1]);
    for (size_t i = 0; command_table[i] != NULL; i++)
        write_command_page(argv[1], command_table[i]);
    write_bash(argv[1]);
    write_zsh(argv[1]);
    write_schema(argv[1]);
    return 0;
}
