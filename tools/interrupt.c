#include "interrupt.h"

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

static volatile bool stop;
static atomic_bool deferred;
static atomic_int caught, handlers_busy;
static _Atomic(ley_job *) job_at_work;

static void on_signal(int number)
{
    if (!deferred)
        _exit(128 + number);
    handlers_busy++;
    caught = number;
    stop = true;
    ley_job *job = job_at_work;
    if (job != NULL)
        ley_job_cancel(job);
    handlers_busy--;
}

void interrupt_install(void)
{
    static const int numbers[] = {SIGINT, SIGTERM};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction action, former;
        action.sa_handler = on_signal;
        sigemptyset(&action.sa_mask);
        action.sa_flags = (int)(SA_RESETHAND | SA_RESTART);
        /* A shell starts background jobs with SIGINT ignored; that choice is not ours to undo. */
        if (sigaction(numbers[i], NULL, &former) == 0 && former.sa_handler != SIG_IGN)
            sigaction(numbers[i], &action, NULL);
    }
}

void interrupt_defer(void)
{
    deferred = true;
}

void interrupt_cancels(ley_job *job)
{
    job_at_work = job;
    /* The signal may be under way on a driver's thread with the former job in its hands. */
    while (job == NULL && handlers_busy > 0)
        sched_yield();
    if (job != NULL && stop)
        ley_job_cancel(job);
}

const volatile bool *interrupt_flag(void)
{
    return &stop;
}

int interrupt_exit_code(void)
{
    return caught != 0 ? 128 + caught : 130;
}
