/* Processes that this one begins for what a library may not do here: each is begun, watched, and
 * ended when it takes too long. */
#ifndef LEY_CHILD_H
#define LEY_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* What a child does. It has the memory of its parent as it was, `shared` and `file` in common with
 * it, and no thread but its own. */
typedef struct child_task {
    void (*run)(const void *context, void *shared, int file);
    const void *context;
    size_t shared_size; /* zeros in the beginning */
    bool prints;        /* into the file what it prints; else that is lost */
    double deadline_s;  /* by ley_clock_s(): then it is ended */
} child_task;

typedef enum child_state {
    CHILD_NONE,   /* it has not begun */
    CHILD_FAILED, /* it could not begin */
    CHILD_RUNS,
    CHILD_ENDED,
    CHILD_HUNG /* it was still at it at its deadline, and is ended */
} child_state;

/* All zero: CHILD_NONE. */
typedef struct child {
    child_state state;
    int signal, code; /* when it has ended: the signal that did so, or 0; its exit code, or -1 */
    double took_s;    /* once it runs no more */
    void *shared;
    int file; /* in memory; -1: none */

    pid_t process;
    size_t shared_size;
    double start_s, seen_s, deadline_s;
} child;

/* Nothing of the caller's is left to it but memory, not its handlers of signals, its output, its
 * group of processes, nor the right to live longer than the thread that began it. */
void child_begin(child *c, const child_task *task);

/* One look, to be taken again and again, with a moment in between. What it shares stays until
 * child_end(). */
child_state child_look(child *c);
void child_wait_a_moment(void);

/* Also of one that runs, or that never began. */
void child_end(child *c);

#endif
