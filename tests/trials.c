#include "trials.h"

#include "clock.h"
#include "support.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LONGEST_S = 180, AT_ONCE = 4, MOST_CASES = 512 };

static trial trials[MOST_CASES];
static int wrong, cases, unstruck;

static void path_of(const trial *t, const char *file, char path[300])
{
    snprintf(path, 300, "%s/%d%s%s", support_directory(), t->number, file[0] != '\0' ? "/" : "", file);
}

/* In the child, which becomes another program. */
static void become(const trial *t)
{
    char self[512], preload[1200], directory[300], says[300], said[300], factor[32];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length > 0 ? length : 0] = '\0';
    const char *before = getenv("LD_PRELOAD");
    char path[512];
    snprintf(path, sizeof path, "%.*s/faulty_opencl/faulty_opencl.so", (int)(strrchr(self, '/') - self), self);
    snprintf(preload, sizeof preload, "%s%s%s", before != NULL ? before : "", before != NULL ? ":" : "", path);
    path_of(t, "", directory);
    path_of(t, "struck", says);
    path_of(t, "output", said);
    setenv("LD_PRELOAD", preload, 1);
    setenv("FAULTY_OPENCL", t->faults, 1);
    setenv("FAULTY_OPENCL_SAYS", says, 1);
    if (t->begins_cold)
        setenv("LEYDEN_CACHE_DIR", directory, 1);
    support_pocl_alone("pthread pthread");
    if (freopen(said, "w", stdout) == NULL || dup2(fileno(stdout), fileno(stderr)) < 0)
        _exit(TRIAL_BROKEN);
    snprintf(factor, sizeof factor, "%g", t->patience_factor);
    execl(self, self, "child", t->selector, factor, (char *)NULL);
    _exit(TRIAL_BROKEN);
}

static void begin_trial(trial *t)
{
    static int count;
    char directory[300];
    t->number = count++;
    t->tries++;
    path_of(t, "", directory);
    assert_int_equal(mkdir(directory, 0700), 0);
    fflush(NULL);
    t->start_s = ley_clock_s();
    t->pid = fork();
    assert_true(t->pid >= 0);
    if (t->pid == 0)
        become(t);
}

static trial_outcome outcome_of(const trial *t, int status)
{
    trial_outcome o = {.code = -2};
    char path[300];
    if (WIFEXITED(status))
        o.code = WEXITSTATUS(status);
    else if (WIFSIGNALED(status))
        o.code = WTERMSIG(status) == SIGKILL ? -2 : -1;
    path_of(t, "struck", path);
    o.struck = access(path, F_OK) == 0;
    path_of(t, "output", path);
    char *text = support_read_file(path, NULL);
    snprintf(o.says, sizeof o.says, "%s", text);
    free(text);
    return o;
}

/* PoCL 3.1 enters a kernel twice into its table of loaded kernels when two of its devices launch it
 * for the first time in the same moment, and ends the process once both have let go of it: nothing
 * that leyden did, so the case is tried again. */
static bool is_the_drivers_own_end(const trial_outcome *o)
{
    return o->code == -1 && strstr(o->says, "Assertion `found->ref_count > 0' failed") != NULL;
}

/* A device was given up that may just have been slow: so many children, their compilers and what
 * else the machine does share its cores. What truly hangs is given up in the second trial too. */
static bool may_have_been_slow(const trial *t, const trial_outcome *o)
{
    return !t->is_right(t, o) && t->patience_factor == 1 && strstr(o->says, "no progress for") != NULL;
}

static void judge_trial(const trial *t, trial_outcome *o)
{
    unstruck += !o->struck;
    if (getenv("TEST_FAULTS_TABLE") != NULL)
        printf("%-60s %-6s %s %2d %5.1f s  %.*s\n", t->faults, t->selector, o->struck ? "struck" : "-", o->code,
               ley_clock_s() - t->start_s, (int)strcspn(o->says, "\n"), o->says);
    if (t->is_right(t, o))
        return;
    wrong++;
    print_error("%s, devices %s: %s: %d%s\n%s\n", t->faults, t->selector,
                o->code == -1   ? "a signal"
                : o->code == -2 ? "without end"
                                : "exit code",
                o->code, o->struck ? "" : ", and the fault did not strike", o->says);
}

/* One look at a child that runs: whether it has ended for good. */
static bool trial_has_ended(trial *t)
{
    int status = 0;
    if (waitpid(t->pid, &status, WNOHANG) == 0) {
        if (ley_clock_s() - t->start_s > LONGEST_S)
            kill(t->pid, SIGKILL);
        return false;
    }
    t->pid = 0;
    trial_outcome o = outcome_of(t, status);
    if (is_the_drivers_own_end(&o) && t->tries < 4) {
        begin_trial(t);
        return false;
    }
    if (may_have_been_slow(t, &o)) {
        t->patience_factor = 6;
        begin_trial(t);
        return false;
    }
    judge_trial(t, &o);
    return true;
}

int trials_run(void)
{
    int next = 0, running = 0;
    wrong = unstruck = 0;
    while (next < cases || running > 0) {
        for (; running < AT_ONCE && next < cases; running++)
            begin_trial(&trials[next++]);
        for (int i = 0; i < next; i++)
            running -= trials[i].pid > 0 && trial_has_ended(&trials[i]);
        usleep(5000);
    }
    print_message("%d cases, of which the fault did not come to pass in %d\n", cases, unstruck);
    cases = 0;
    assert_int_equal(wrong, 0);
    return unstruck;
}

trial *trials_add(const char *call, const char *fault, int at, const char *more)
{
    assert_true(cases < MOST_CASES);
    trial *t = &trials[cases++];
    *t = (trial){.call = call, .fault = fault, .patience_factor = 1};
    snprintf(t->faults, sizeof t->faults, "call=%s,at=%d,fault=%s,device=0%s", call, at, fault, more);
    return t;
}

int trials_count(void)
{
    return cases;
}

bool trial_is_right_job(const trial *t, const trial_outcome *o)
{
    const bool is_shared = strncmp(t->call, "clGetPlatform", 13) == 0 || strncmp(t->call, "clGetDeviceI", 12) == 0,
               is_alone = strcmp(t->selector, "0") == 0;
    return o->code == 0 || ((is_alone || is_shared) && o->code >= 3 && o->code <= 5);
}

watch_patience trial_patience(double factor)
{
    return (watch_patience){.open_s = 2 * factor,
                            .build_s = 10 * factor,
                            .close_s = 2 * factor,
                            .first_s = 4 * factor,
                            .work_s = 3 * factor,
                            .over_s = 0.5,
                            .turn_s = 1};
}
