/* The `leyden` command: finds the sub-command, parses its options, runs it. */
#include "advice.h"
#include "console.h"
#include "file.h"
#include "interrupt.h"
#include "overview.h"
#include "program.h"
#include "progress.h"
#include "registry.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { name_column = 14 };

/* Launchers forward messages, and some forget them when they end the ranks. */
enum { FORWARDING_US = 200000 };

static const char *command_name_at(const void *context, size_t i)
{
    static const char *const others[] = {"help", "--help", "version", "--version", NULL};
    size_t commands = 0;
    (void)context;
    while (command_table[commands] != NULL)
        commands++;
    return i < commands ? command_table[i]->name : others[i - commands];
}

static const subcommand *find_command(const char *name)
{
    const subcommand *const *command = command_table;
    while (*command != NULL && strcmp((*command)->name, name) != 0)
        command++;
    return *command;
}

/* What other programs, and Python, call what a command does here. */
static const struct {
    const char *word, *meant;
} meanings[] = {{"points", "leyden map MOLECULE --points FILE -o VALUES.csv"},
                {"potential", "leyden map MOLECULE -o MAP.dx"},
                {"solve", "leyden map MOLECULE -o MAP.dx"},
                {"run", "leyden map MOLECULE -o MAP.dx"},
                {"field", "leyden map MOLECULE -o MAP.dx --field"},
                {"plot", "leyden slice MAP -o PICTURE.png"},
                {"draw", "leyden surface MOLECULE -o PICTURE.png"},
                {"isosurface", "leyden surface --map MAP --level=-1,1 -o PICTURE.png"},
                {"average", "python3 -m leyden average TOPOLOGY TRAJECTORY -o MEAN.dx"},
                {"pmepot", "python3 -m leyden average TOPOLOGY TRAJECTORY -o MEAN.dx"},
                {"series", "python3 -m leyden series TOPOLOGY TRAJECTORY --atoms 'name CA' -o VALUES.npz"},
                {"energy", "python3 -m leyden energy TOPOLOGY TRAJECTORY -o ENERGIES.csv"},
                {"mmgbsa", "python3 -m leyden energy TOPOLOGY TRAJECTORY --mmgbsa RECEPTOR LIGAND -o BINDING.csv"},
                {"cionize", "leyden ions MOLECULE -o NEW.pqr --ion NA --ion CL --neutralise"},
                {"genion", "leyden ions MOLECULE -o NEW.pqr --ion NA --ion CL --neutralise"},
                {"info", "leyden devices"},
                {"test", "leyden check --quick"},
                {"diff", "leyden compare A B"}};

/* What may be done with a file whose name stands in the command's place, or what the word means. */
static short_text meant(const char *word)
{
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
        if (strcmp(word, meanings[i].word) == 0)
            return text_of("; type: %s", meanings[i].meant);
    char *quoted = quoted_word(word);
    short_text text = {""};
    if (is_atoms_name(word))
        text = text_of("; type: leyden map %s -o NEW.dx", quoted);
    else if (is_map_name(word))
        text = text_of("; type: leyden slice %s -o NEW.png", quoted);
    else if (ends_with(word, ".in"))
        text = text_of("; type: leyden apbs %s", quoted);
    free(quoted);
    return text;
}

static int fail_unknown(const char *name)
{
    const char *kind = name[0] == '-' ? "option" : "command";
    const suggestion near = suggest(name, "", command_name_at, NULL);
    short_text instead = meant(name);
    if (instead.s[0] == '\0' && near.s[0] == '\0' && name[0] == '-')
        instead = text_of(": a command comes first, as in: %s", map_command.examples[0]);
    return fail(LEY_ERROR_USAGE, "unknown %s '%s'%s\nTry 'leyden --help'.", kind, name,
                instead.s[0] != '\0' ? instead.s : near.s);
}

/* What fits a screen; with the exit codes, which do not. */
static void print_overview(bool with_codes)
{
    printf("Usage: leyden COMMAND [options]\n%s\n\n", overview_purpose);
    for (const subcommand *const *command = command_table; *command != NULL; command++) {
        int column = printf("  %s", (*command)->name);
        print_wrapped((*command)->summary, column, name_column);
    }
    printf("\nExample: %s\n", map_command.examples[0]);
    puts("'leyden help COMMAND' and 'leyden COMMAND --help' explain a command, 'leyden COMMAND --help-all' all\n"
         "of its options; 'leyden --help' also lists the exit codes, 'leyden --version' prints the version.");
    if (!with_codes)
        return;
    putchar('\n');
    char codes[sizeof(exit_codes) + 16];
    snprintf(codes, sizeof codes, "Exit codes: %s", overview_exit_codes().s);
    print_wrapped(codes, 0, 0);
}

static bool is_plea(const char *word)
{
    return strcmp(word, "help") == 0 || strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

static bool is_version(const char *word)
{
    return strcmp(word, "version") == 0 || strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0;
}

static int help(int argc, char **argv)
{
    const bool all = argc == 2 && (strcmp(argv[1], "all") == 0 || strcmp(argv[1], "--help-all") == 0);
    if (argc > 1 && !all)
        return fail(LEY_ERROR_USAGE, "help: '%s' is one argument too many (did you mean 'leyden help %s all'?)",
                    argv[1], argv[0]);
    const subcommand *command = argc > 0 ? find_command(argv[0]) : NULL;
    if (command != NULL)
        options_print_help(command, all);
    else if (argc == 0 || is_plea(argv[0]) || is_version(argv[0]))
        print_overview(true);
    else
        return fail_unknown(argv[0]);
    return 0;
}

static int run(const subcommand *command, int argc, char **argv)
{
    parsed_arguments arguments;
    int code = ley_status_exit_code(LEY_ERROR_USAGE);
    const parse_result result = options_parse(command, argc, argv, &arguments);
    switch (result) {
    case PARSE_RUN:
        if (arguments.verbose)
            progress_log_begin();
        code = command->run(&arguments);
        if (ley_cache_complaint() != NULL && !option_named_given(&arguments, "quiet"))
            warn("the build cache cannot be written, so compiled kernels and measurements are not kept: %s",
                 ley_cache_complaint());
        if (ley_driver_complaint() != NULL && !option_named_given(&arguments, "quiet"))
            warn("an OpenCL driver is left out: %s", ley_driver_complaint());
        if (ley_dump_complaint() != NULL && !option_named_given(&arguments, "quiet"))
            warn("LEYDEN_DUMP: %s", ley_dump_complaint());
        break;
    case PARSE_HELP:
    case PARSE_HELP_ALL:
        options_print_help(command, result == PARSE_HELP_ALL);
        code = 0;
        break;
    case PARSE_WRONG:
        break;
    }
    options_release(&arguments);
    return code;
}

static int say_of_itself(int argc, char **argv)
{
    if (argc < 2)
        print_overview(false);
    else if (is_version(argv[1]))
        printf("leyden %s\n", ley_version());
    else
        return argv[1][0] == '-' ? help(0, NULL) : help(argc - 2, argv + 2);
    return 0;
}

/* What is not dealt to ranks rank 0 does alone, while the others wait for its end; of what is, rank
 * 0 tells. */
static int run_on_ranks(const subcommand *command, int argc, char **argv)
{
    if (!command->is_dealt && ley_ranks_own() > 0)
        return 0;
    ley_ranks_part(!command->is_dealt);
    const int code = run(command, argc, argv);
    ley_ranks_part(false);
    return code;
}

static int do_words(int argc, char **argv)
{
    if (argc < 2 || is_version(argv[1]) || is_plea(argv[1]))
        return ley_ranks_own() == 0 ? say_of_itself(argc, argv) : 0;
    const subcommand *command = find_command(argv[1]);
    return command != NULL ? run_on_ranks(command, argc - 2, argv + 2) : fail_unknown(argv[1]);
}

/* All ranks end, each in its turn or at once. */
static int end_ranks(int code)
{
    if (code != 0 && ley_ranks_count() > 1) {
        fflush(NULL);
        usleep(FORWARDING_US);
        ley_ranks_abort(code);
    }
    ley_ranks_end();
    return code;
}

int main(int argc, char **argv)
{
    ley_error error = {0};
    /* A driver that calls setlocale() shall not change the decimal point of our numbers. */
    uselocale(newlocale(LC_ALL_MASK, "C", NULL));
    interrupt_install();
    advice_begin(argc, argv);
    if (ley_ranks_begin(&error) != LEY_OK) { /* without MPI an exit code would have the launcher end rank 0, too */
        const int code = fail_with(&error);
        ley_ranks_abort(code);
        return 0;
    }
    if (ley_ranks_count() > 1)
        interrupt_defers_nothing();
    const int code = end_ranks(flush_results(do_words(argc, argv)));
    if (ley_driver_is_stuck()) { /* what drivers do at the end of a process may wait for it */
        fflush(NULL);
        _exit(code);
    }
    return code;
}
