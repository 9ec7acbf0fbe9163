#include "standard_stream.h"

#include <stddef.h>
#include <string.h>
#include <unistd.h>

const char *output_path(const char *output)
{
    return strcmp(output, "-") == 0 ? "/dev/stdout" : output;
}

static bool names_stream(const char *path, int stream)
{
    static const char *const names[][4] = {
        [STDIN_FILENO] = {"-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"},
        [STDOUT_FILENO] = {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"},
    };
    for (size_t i = 0; i < sizeof names[stream] / sizeof *names[stream]; i++)
        if (strcmp(path, names[stream][i]) == 0)
            return true;
    return false;
}

bool output_takes_stdout(const char *path)
{
    return names_stream(path, STDOUT_FILENO);
}

bool input_takes_stdin(const char *path)
{
    return names_stream(path, STDIN_FILENO);
}
