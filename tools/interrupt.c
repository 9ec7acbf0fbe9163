#include "interrupt.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

static volatile bool stop;
static bool is_hasty;
static atomic_bool deferred, held, suspended;
static atomic_int caught, count, handlers_busy;
static _Atomic(ley_job *) jobs_at_work[INTERRUPT_JOBS];
static _Thread_local _Atomic(ley_job *) *own_place; /* of this thread's job among them; NULL: it has none */
static bool changed[NUMBERS], ignored_file_size;    /* by interrupt_install() */
static sigset_t first_mask, former_mask;

/* Read while a signal ends the process: no pointers that somebody may free. */
static struct {
    bool is_folder;
    char path[PATH_MAX];
} removed[INTERRUPT_REMOVES];
static atomic_int removed_count;

static atomic_bool ending; /* no folder is made any more */
static atomic_int making;  /* threads between noting a folder and having it */
enum { PATIENCE_MS = 500, AFTER_FIRST_MS = 100 };

static void end_now(void)
{
    ending = true;
    for (int ms = 0; ms < PATIENCE_MS && making > 0; ms++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    ley_files_abandon();
    for (int i = removed_count - 1; i >= 0; i--)
        if (removed[i].is_folder)
            rmdir(removed[i].path);
        else
            unlink(removed[i].path);
    if (ley_ranks_own() > 0) /* a launcher kills the others of one that ends, and rank 0 has a file to remove */
        nanosleep(&(struct timespec){.tv_nsec = AFTER_FIRST_MS * 1000000L}, NULL);
    _exit(128 + caught);
}

static void on_signal(int number)
{
    const int reason = errno;
    int none = 0;
    handlers_busy++;
    atomic_compare_exchange_strong(&caught, &none, number);
    if (++count > 1 || !deferred)
        if (!held)
            end_now();
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED); /* others read it, as `cancel` arguments are read */
    for (size_t i = 0; i < INTERRUPT_JOBS; i++) {
        ley_job *job = jobs_at_work[i];
        if (job != NULL)
            ley_job_cancel(job);
    }
    handlers_busy--;
    errno = reason;
}

static void *wait_for_signals(void *context)
{
    const sigset_t *waited = context;
    for (int number;;)
        if (sigwait(waited, &number) == 0)
            on_signal(number);
    return NULL;
}

/* Compilers within drivers put handlers of their own in place, some of which let a second signal
 * kill the process. So all threads block what is waited for here. Not SIGPIPE, which the thread
 * gets that writes. */
static void start_waiting(void)
{
    static sigset_t waited;
    pthread_t thread;
    sigemptyset(&waited);
    for (size_t i = 0; i < NUMBERS; i++)
        if (changed[i] && numbers[i] != SIGPIPE)
            sigaddset(&waited, numbers[i]);
    pthread_sigmask(SIG_BLOCK, &waited, &first_mask);
    if (pthread_create(&thread, NULL, wait_for_signals, &waited) == 0)
        pthread_detach(thread);
    else
        pthread_sigmask(SIG_SETMASK, &first_mask, NULL);
}

void interrupt_install(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, former;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < NUMBERS; i++)
        sigaddset(&action.sa_mask, numbers[i]);
    for (size_t i = 0; i < NUMBERS; i++)
        /* A shell starts background jobs with SIGINT ignored, nohup ignores SIGHUP; that choice is
         * not ours to undo. */
        if (sigaction(numbers[i], NULL, &former) == 0 && former.sa_handler != SIG_IGN)
            changed[i] = sigaction(numbers[i], &action, NULL) == 0;
    /* A file that grows beyond the shell's limit is an error like a full disk, not an end without a
     * word. */
    ignored_file_size = signal(SIGXFSZ, SIG_IGN) == SIG_DFL;
    start_waiting();
}

void interrupt_defers_nothing(void)
{
    is_hasty = true;
}

void interrupt_defer(void)
{
    deferred = !is_hasty;
}

void interrupt_cancels(ley_job *job)
{
    for (size_t i = 0; i < INTERRUPT_JOBS && own_place == NULL; i++) {
        ley_job *none = NULL;
        if (job != NULL && atomic_compare_exchange_strong(&jobs_at_work[i], &none, job))
            own_place = &jobs_at_work[i];
    }
    if (job == NULL && own_place != NULL) {
        *own_place = NULL;
        own_place = NULL;
    }
    /* The signal may be under way on a driver's thread with the former job in its hands. */
    while (job == NULL && handlers_busy > 0)
        sched_yield();
    if (job != NULL && interrupt_came())
        ley_job_cancel(job);
}

bool interrupt_came(void)
{
    return __atomic_load_n(&stop, __ATOMIC_RELAXED);
}

const volatile bool *interrupt_flag(void)
{
    return &stop;
}

int interrupt_exit_code(void)
{
    return caught != 0 ? 128 + caught : 130;
}

/* ---- What goes when the command ends at once ------------------------------------------------- */

static void remove_later(const char *path, bool is_folder)
{
    const int i = removed_count;
    if (i >= INTERRUPT_REMOVES || strlen(path) >= PATH_MAX)
        return;
    removed[i].is_folder = is_folder;
    strcpy(removed[i].path, path);
    removed_count = i + 1;
}

void interrupt_removes(const char *path)
{
    remove_later(path, false);
}

int interrupt_make_folder(const char *path)
{
    making++;
    if (ending) {
        making--;
        for (;;)
            pause();
    }
    remove_later(path, true);
    const int reason = mkdir(path, 0700) == 0 ? 0 : errno;
    making--;
    return reason;
}

void interrupt_keeps_all(void)
{
    removed_count = 0;
}

/* ---- Around another program ------------------------------------------------------------------ */

static void on_suspension(int number)
{
    (void)number;
    suspended = true;
}

void interrupt_hold(bool hold)
{
    struct sigaction action = {.sa_handler = hold ? on_suspension : SIG_DFL, .sa_flags = SA_RESTART}, former;
    held = hold;
    if (sigaction(SIGTSTP, NULL, &former) == 0 && former.sa_handler != SIG_IGN)
        sigaction(SIGTSTP, &action, NULL);
}

int interrupt_count(void)
{
    return count;
}

bool interrupt_suspends(void)
{
    return atomic_exchange(&suspended, false);
}

void interrupt_block(void)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &former_mask);
}

void interrupt_release(void)
{
    sigprocmask(SIG_SETMASK, &former_mask, NULL);
}

void interrupt_restore(void)
{
    for (size_t i = 0; i < NUMBERS; i++)
        if (changed[i])
            signal(numbers[i], SIG_DFL);
    if (ignored_file_size)
        signal(SIGXFSZ, SIG_DFL);
    signal(SIGCHLD, SIG_DFL);
    signal(SIGTTIN, SIG_IGN);
    signal(SIGTTOU, SIG_IGN);
    sigprocmask(SIG_SETMASK, &first_mask, NULL);
}
