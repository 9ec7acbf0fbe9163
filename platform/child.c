#include "child.h"

#include "clock.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A process that stood still for so long between two looks was stopped, and its children with it,
 * perhaps: that does not count. */
static const double still_s = 1;

/* A file in memory; never in the place of a standard stream that the caller has closed. */
static int make_file(void)
{
    const int made = memfd_create("child", MFD_CLOEXEC);
    if (made < 0 || made > STDERR_FILENO)
        return made;
    const int moved = fcntl(made, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    close(made);
    return moved;
}

/* What a terminal tells the parent's group, as Ctrl-C, is not for the child, whose end the parent
 * brings about. */
static void leave_parent(int output)
{
    sigset_t none;
    setpgid(0, 0);
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    const int nothing = open("/dev/null", O_RDWR);
    dup2(nothing, STDIN_FILENO);
    dup2(output >= 0 ? output : nothing, STDOUT_FILENO);
    dup2(output >= 0 ? output : nothing, STDERR_FILENO);
}

void child_begin(child *c, const child_task *task)
{
    *c = (child){.state = CHILD_FAILED,
                 .file = make_file(),
                 .shared_size = task->shared_size,
                 .start_s = ley_clock_s(),
                 .seen_s = ley_clock_s(),
                 .deadline_s = task->deadline_s};
    void *shared = mmap(NULL, c->shared_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return;
    c->shared = shared;
    c->process = fork();
    if (c->process == 0) {
        leave_parent(task->prints ? c->file : -1);
        task->run(task->context, c->shared, c->file);
        _exit(0);
    }
    if (c->process > 0)
        c->state = CHILD_RUNS;
}

static void kill_and_reap(const child *c)
{
    kill(c->process, SIGKILL);
    waitpid(c->process, NULL, 0);
}

/* A process whose parent ignores the ends of its children leaves no status. */
child_state child_look(child *c)
{
    int status = 0;
    const double now_s = ley_clock_s();
    if (now_s - c->seen_s > still_s)
        c->deadline_s += now_s - c->seen_s;
    c->seen_s = now_s;
    const pid_t ended = c->state == CHILD_RUNS ? waitpid(c->process, &status, WNOHANG) : 0;
    if (ended != 0) {
        c->state = CHILD_ENDED;
        c->signal = ended > 0 && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
        c->code = ended > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        c->took_s = now_s - c->start_s;
    } else if (c->state == CHILD_RUNS && now_s >= c->deadline_s) {
        kill_and_reap(c);
        c->state = CHILD_HUNG;
        c->took_s = now_s - c->start_s;
    }
    return c->state;
}

void child_wait_a_moment(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

void child_end(child *c)
{
    if (c->state == CHILD_NONE)
        return;
    if (c->state == CHILD_RUNS)
        kill_and_reap(c);
    if (c->shared != NULL)
        munmap(c->shared, c->shared_size);
    if (c->file >= 0)
        close(c->file);
    *c = (child){.state = CHILD_NONE};
}
