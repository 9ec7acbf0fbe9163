/* The `leyden` command: finds the sub-command, parses its options, runs it. */
#include "console.h"
#include "interrupt.h"
#include "progress.h"
#include "registry.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { name_column = 12 };

static const char *command_name_at(const void *context, size_t i)
{
    static const char *const others[] = {"help", "--help", "--version", NULL};
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

static int fail_unknown(const char *name)
{
    const char *kind = name[0] == '-' ? "option" : "command";
    return fail(LEY_ERROR_USAGE, "unknown %s '%s'%s\nTry 'leyden --help'.", kind, name,
                suggest(name, "", command_name_at, NULL).s);
}

/* From the library's own table. */
static void print_exit_codes(void)
{
    char text[640] = "Exit codes: ";
    for (int status = 0, last = -1; status < LEY_STATUS_COUNT; status++) {
        const int code = ley_status_exit_code((ley_status)status);
        const size_t used = strlen(text);
        if (status == LEY_CANCELLED)
            continue;
        if (code == last)
            snprintf(text + used, sizeof text - used, " or %s", ley_status_text((ley_status)status));
        else
            snprintf(text + used, sizeof text - used, "%s%d %s", last < 0 ? "" : ", ", code,
                     ley_status_text((ley_status)status));
        last = code;
    }
    strncat(text,
            ", a check that failed, a map that is off by more than --tol, or a benchmark that is slower than --compare "
            "--fail allows, 128 + N ended by signal N: 130 interrupted, 143 terminated.",
            sizeof text - strlen(text) - 1);
    print_wrapped(text, 0, 0);
}

static void print_overview(void)
{
    puts("Usage: leyden COMMAND [options]\n\nElectrostatic potential maps and boundaries of point charges, on any "
         "device with OpenCL or CUDA.\n");
    for (const subcommand *const *command = command_table; *command != NULL; command++) {
        int column = printf("  %s", (*command)->name);
        print_wrapped((*command)->summary, column, name_column);
    }
    puts("\n  -h, --help      print this; 'leyden help COMMAND' or 'leyden COMMAND --help' for one command\n"
         "      --version   print the version\n");
    print_exit_codes();
}

static bool is_plea(const char *word)
{
    return strcmp(word, "help") == 0 || strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

static int help(int argc, char **argv)
{
    if (argc > 1)
        return fail(LEY_ERROR_USAGE, "help: '%s' is one argument too many", argv[1]);
    const subcommand *command = argc == 1 ? find_command(argv[0]) : NULL;
    if (command != NULL)
        options_print_help(command);
    else if (argc == 0 || is_plea(argv[0]))
        print_overview();
    else
        return fail_unknown(argv[0]);
    return 0;
}

static int run(const subcommand *command, int argc, char **argv)
{
    parsed_arguments arguments;
    int code = ley_status_exit_code(LEY_ERROR_USAGE);
    switch (options_parse(command, argc, argv, &arguments)) {
    case PARSE_RUN:
        if (arguments.verbose)
            progress_log_begin();
        code = command->run(&arguments);
        if (ley_cache_complaint() != NULL && !option_named_given(&arguments, "quiet"))
            warn("the build cache cannot be written, so that every run compiles and measures anew: %s",
                 ley_cache_complaint());
        if (ley_driver_complaint() != NULL && !option_named_given(&arguments, "quiet"))
            warn("an OpenCL driver is left out: %s", ley_driver_complaint());
        if (ley_dump_complaint() != NULL && !option_named_given(&arguments, "quiet"))
            warn("LEYDEN_DUMP: %s", ley_dump_complaint());
        break;
    case PARSE_HELP:
        options_print_help(command);
        code = 0;
        break;
    case PARSE_WRONG:
        break;
    }
    options_release(&arguments);
    return code;
}

int main(int argc, char **argv)
{
    /* A driver that calls setlocale() shall not change the decimal point of our numbers. */
    uselocale(newlocale(LC_ALL_MASK, "C", NULL));
    interrupt_install();
    if (argc < 2)
        return fail(LEY_ERROR_USAGE, "which command?\nTry 'leyden --help'.");
    const char *word = argv[1];
    if (strcmp(word, "--version") == 0) {
        printf("leyden %s\n", ley_version());
        return flush_results(0);
    }
    if (is_plea(word))
        return flush_results(word[0] == '-' ? help(0, NULL) : help(argc - 2, argv + 2));
    const subcommand *command = find_command(word);
    const int code = flush_results(command != NULL ? run(command, argc - 2, argv + 2) : fail_unknown(word));
    if (ley_driver_is_stuck()) { /* what drivers do at the end of a process may wait for it */
        fflush(NULL);
        _exit(code);
    }
    return code;
}
