#include "program.h"

#include "console.h"
#include "environment.h"
#include "interrupt.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE_S = 3 }; /* from the first signal until what does not end is killed */

/* ---- The environment ------------------------------------------------------------------------- */

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

/* ---- Running --------------------------------------------------------------------------------- */

static ley_status fail_start(ley_error *error, const char *path, int why)
{
    error->status = LEY_ERROR_FILE;
    return fail_into(error, LEY_ERROR_FILE, "%s: %s", path, strerror(why));
}

/* Passes on what came to us: signals to all that the program started, and Ctrl-Z. What does not end
 * in time is killed. */
static void pass_on(pid_t group, int *told, double *first_s)
{
    const int count = interrupt_count();
    if (count > *told) {
        *first_s = *told == 0 ? now_s() : *first_s;
        *told = count;
        kill(-group, interrupt_exit_code() - 128);
    }
    if (*told > 2 || (*told > 0 && now_s() - *first_s > PATIENCE_S))
        kill(-group, SIGKILL);
    if (interrupt_suspends()) {
        kill(-group, SIGSTOP);
        raise(SIGSTOP);
        kill(-group, SIGCONT);
    }
}

/* Whether it has ended; its number stays taken. */
static bool has_ended(pid_t child)
{
    siginfo_t end = {.si_pid = 0};
    const int outcome = waitid(P_PID, (id_t)child, &end, WEXITED | WNOHANG | WNOWAIT);
    return outcome == 0 ? end.si_pid != 0 : errno != EINTR;
}

/* Waits for the end, whose code is `status`; false when that cannot be known. */
static bool wait_for(pid_t child, int *status)
{
    int told = 0;
    double first_s = 0;
    for (useconds_t pause_us = 500; !has_ended(child); usleep(pause_us)) {
        if (pause_us < 10000)
            pause_us *= 2;
        pass_on(child, &told, &first_s);
    }
    if (told > 0)
        kill(-child, SIGKILL); /* what the program started and did not end */
    pid_t ended;
    do
        ended = waitpid(child, status, 0);
    while (ended < 0 && errno == EINTR);
    return ended == child;
}

/* In the child: a process group of its own, which ends with us even when we are killed. */
static void become(const char *path, char *const *arguments, pid_t parent, int report)
{
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int why = ESRCH;
    if (getppid() == parent) {
        interrupt_restore();
        execv(path, arguments);
        why = errno;
    }
    _exit(write(report, &why, sizeof why) == sizeof why ? 127 : 126);
}

ley_status program_run(const char *path, char *const *arguments, program_result *result, ley_error *error)
{
    int pipe_ends[2], why = 0, status = 0;
    double start_s = now_s();
    if (pipe2(pipe_ends, O_CLOEXEC) != 0)
        return fail_start(error, path, errno);
    fflush(stdout);
    fflush(stderr);
    signal(SIGCHLD, SIG_DFL); /* where it is ignored, no exit code comes back */
    interrupt_hold(true);
    interrupt_block();
    const pid_t parent = getpid(), child = fork();
    if (child == 0)
        become(path, arguments, parent, pipe_ends[1]);
    if (child < 0)
        why = errno;
    else
        setpgid(child, child); /* whoever of us comes first */
    interrupt_release();
    close(pipe_ends[1]);
    /* Nothing to read: the program began. */
    if (child > 0 && read(pipe_ends[0], &why, sizeof why) != sizeof why)
        why = 0;
    close(pipe_ends[0]);
    if (child > 0 && !wait_for(child, &status) && why == 0)
        why = ECHILD;
    interrupt_hold(false);
    if (why != 0)
        return fail_start(error, path, why);
    result->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    result->code = result->signal != 0 ? 128 + result->signal : WEXITSTATUS(status);
    result->elapsed_s = now_s() - start_s;
    return LEY_OK;
}

char *quoted_word(const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%";
    char *quoted = allocate(4 * strlen(word) + 3, 1);
    if (word[0] != '\0' && word[strspn(word, plain)] == '\0')
        return strcpy(quoted, word);
    strcat(quoted, "'");
    for (; *word != '\0'; word++)
        strcat(quoted, *word == '\'' ? "'\\''" : (char[]){*word, '\0'});
    return strcat(quoted, "'");
}

void print_word(const char *word)
{
    char *quoted = quoted_word(word);
    fputs(quoted, stdout);
    free(quoted);
}
