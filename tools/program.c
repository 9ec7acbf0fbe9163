#include "program.h"

#include "environment.h"
#include "interrupt.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- The environment ----------------------------------------------------------------------------------------------- */

int program_threads(void)
{
    const char *wanted = shell_openmp_threads();
    long threads = wanted != NULL ? strtol(wanted, NULL, 10) : 0;
    cpu_set_t processors;
    if (threads < 1 && sched_getaffinity(0, sizeof processors, &processors) == 0)
        threads = CPU_COUNT(&processors);
    return threads < 1 ? 1 : threads > 4096 ? 4096 : (int)threads;
}

char *program_find(const char *name)
{
    const char *folders = shell_path();
    for (const char *rest = folders; rest != NULL && *rest != '\0';) {
        size_t length = strcspn(rest, ":"), size = length + strlen(name) + 3;
        char *path = allocate(size, 1);
        struct stat known;
        snprintf(path, size, "%.*s/%s", length > 0 ? (int)length : 1, length > 0 ? rest : ".", name);
        if (stat(path, &known) == 0 && S_ISREG(known.st_mode) && access(path, X_OK) == 0)
            return path;
        free(path);
        rest += length + (rest[length] == ':');
    }
    return NULL;
}

/* ---- Running ------------------------------------------------------------------------------------------------------- */

static ley_status fail_start(ley_error *error, const char *path, int why)
{
    error->status = LEY_ERROR_FILE;
    snprintf(error->message, sizeof error->message, "%s: %s", path, strerror(why));
    return LEY_ERROR_FILE;
}

/* Waits for the end; a signal that came to us alone is passed on, once. */
static int wait_for(pid_t child)
{
    bool told = false;
    int status = 0;
    for (useconds_t pause_us = 500; waitpid(child, &status, WNOHANG) == 0; usleep(pause_us)) {
        if (pause_us < 10000)
            pause_us *= 2;
        if (*interrupt_flag() && !told) {
            kill(child, interrupt_exit_code() - 128);
            told = true;
        }
    }
    return status;
}

ley_status program_run(const char *path, char *const *arguments, program_result *result, ley_error *error)
{
    int pipe_ends[2], why = 0;
    double start_s = now_s();
    if (pipe2(pipe_ends, O_CLOEXEC) != 0)
        return fail_start(error, path, errno);
    fflush(stdout);
    fflush(stderr);
    pid_t child = fork();
    if (child == 0) {
        execv(path, arguments);
        why = errno;
        _exit(write(pipe_ends[1], &why, sizeof why) == sizeof why ? 127 : 126);
    }
    if (child < 0)
        why = errno;
    close(pipe_ends[1]);
    /* Nothing to read: the program began. */
    if (child > 0 && read(pipe_ends[0], &why, sizeof why) != sizeof why)
        why = 0;
    close(pipe_ends[0]);
    int status = child > 0 ? wait_for(child) : 0;
    if (why != 0)
        return fail_start(error, path, why);
    result->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    result->code = result->signal != 0 ? 128 + result->signal : WEXITSTATUS(status);
    result->elapsed_s = now_s() - start_s;
    return LEY_OK;
}

ley_status private_folder(char **path, ley_error *error)
{
    const char *parent = shell_temporary_folder();
    size_t size = strlen(parent != NULL ? parent : "/tmp") + sizeof "/leyden-XXXXXX";
    char *folder = allocate(size, 1);
    snprintf(folder, size, "%s/leyden-XXXXXX", parent != NULL ? parent : "/tmp");
    if (mkdtemp(folder) == NULL) {
        ley_status status = fail_start(error, folder, errno);
        free(folder);
        return status;
    }
    *path = folder;
    return LEY_OK;
}

void print_word(const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%";
    if (word[0] != '\0' && word[strspn(word, plain)] == '\0') {
        fputs(word, stdout);
        return;
    }
    putchar('\'');
    for (; *word != '\0'; word++)
        fputs(*word == '\'' ? "'\\''" : (char[]){*word, '\0'}, stdout);
    putchar('\'');
}
