/* Sequences of operations on one device. Operations of one sequence happen in their order. It keeps
 * its first error and ignores what follows, so that a driver of fifty calls says each once and asks
 * at the end. What is under way is bounded by the seconds that it is predicted to take, so that
 * what computes for long can be cancelled soon, while many small launches need no host between
 * them. */
#ifndef LEY_ENGINE_COMMAND_SEQUENCE_H
#define LEY_ENGINE_COMMAND_SEQUENCE_H

#include "dev_kernel.h"
#include "fft.h"
#include "memory/arena.h"

#include <stdatomic.h>

/* Launches under way on a device: at least two, so that it never waits for the host; more, as long
 * as they are predicted to last a quarter of a second together: loaded machines take several times
 * as long, and are to be free again within half a second. One that nobody predicts counts as half
 * of that. How many more grows with those that have ended and shown how right predictions are: as
 * long as none has, only short ones are more than two. */
enum { FLIGHT_LEAST = 2, FLIGHT_FIRST = 16, FLIGHT_MOST = 256 };
#define FLIGHT_SHORT_S 0.005
#define FLIGHT_MOST_S 0.25
#define FLIGHT_UNKNOWN_S 0.125

typedef struct command_sequence command_sequence;

typedef struct flight_launch {
    dev_event *done;
    command_sequence *owner;
    int step;           /* of the owner's */
    double predicted_s; /* 0: nobody knows */
} flight_launch;

/* The launches under way on a device, of all its sequences, the oldest first. It begins as {.device
 * = ...}. */
typedef struct flight {
    dev *device;
    flight_launch launches[FLIGHT_MOST]; /* a ring */
    size_t first, count, unknown;
    double predicted_s; /* of all that are not unknown */
    double slower;      /* so many times as long as predicted launches have lasted lately */
    size_t ended;       /* ever */
} flight;

/* A sequence's launches may be told apart by the step that they are of. */
enum { WORK_STEPS = 8 };

typedef struct sequence_times {
    dev_times kernel, transfer; /* from the first launch's start to the last one's end; of what came back */
    double kernel_s;            /* in its own launches: less than from start to end where sequences take turns */
    double step_s[WORK_STEPS];  /* of this, in launches of each step */
    double step_predicted_s[WORK_STEPS];
    size_t step_launches[WORK_STEPS];
    double predicted_s; /* of these launches */
    size_t unpredicted; /* launches that nobody predicted */
    size_t read_bytes;  /* that came back */
} sequence_times;

/* A sequence begins as zeros, and stays where it is while something is under way. */
struct command_sequence {
    flight *flight;
    const atomic_bool *cancelled;
    int step;                /* of launches from here on */
    size_t in_flight, ended; /* launches */
    dev_event *launched;     /* the latest launch, while it is in flight */
    dev_event *placed;       /* what came behind it in the launch lane */
    dev_event *read;         /* what is coming back */
    size_t reads;            /* that have come back */
    dev_staging *small;      /* small writes on their way */
    size_t small_bytes;
    sequence_times times;
    ley_error error;
};

/* A new sequence, on the flight's device: no error, no times. LEY_CANCELLED becomes its error soon
 * after *cancelled (may be NULL) turns true. Nothing of the one before is under way. */
void sequence_begin(command_sequence *w, flight *f, const atomic_bool *cancelled);

/* What is launched from here on is of this step, below WORK_STEPS; at first it is step 0. */
void sequence_step(command_sequence *w, int step);

/* Bytes may be reused when it returns, which is at once when they are few. */
void sequence_write(command_sequence *w, dev_buffer *buffer, size_t offset, const void *bytes, size_t size);

/* From staging, which must stay as it is until the sequence has ended. */
void sequence_send(command_sequence *w, dev_buffer *buffer, size_t offset, const dev_staging *staging, size_t from,
                   size_t size);

/* Offset and bytes are multiples of 4. */
void sequence_fill(command_sequence *w, dev_buffer *buffer, size_t offset, uint32_t pattern, size_t bytes);

/* The ranges do not overlap. */
void sequence_copy(command_sequence *w, dev_buffer *to, size_t to_offset, dev_buffer *from, size_t from_offset,
                   size_t bytes);

/* As kernel_launch(), predicted to last so long; 0: nobody knows. Waits while there is too much
 * under way. */
void sequence_launch(command_sequence *w, const dev_kernel *kernel, const size_t groups[3], const void *arguments,
                     double predicted_s);

/* As fft_start(), predicted to last as long as it was measured to: a launch like any other. */
void sequence_fft(command_sequence *w, const dev_fft *fft, bool forward, dev_buffer *from, dev_buffer *to,
                  dev_buffer *scratch);

/* What is read is there when the sequence has ended. It travels beside other sequences' launches;
 * the next operation of its own waits for it. Staging is poisoned first. */
void sequence_read(command_sequence *w, dev_buffer *buffer, size_t offset, dev_staging *staging, size_t size);

/* Before anything is read into staging, of which devices keep some for other jobs: what came back
 * last time must not pass for this time's. Its first bytes become not-a-numbers, which as integers
 * are -1. */
void sequence_poison_staging(const dev_staging *staging, size_t bytes);

/* The same of a buffer, before the first launch that makes some results: where a launch is left
 * out, not-a-numbers come back. */
void sequence_poison(command_sequence *w, const results *made, size_t bytes);

/* What came back is no number: LEY_ERROR_WRONG_RESULT, for the device left something out or
 * computed it wrongly. */
ley_status sequence_no_number(ley_error *error);

/* The sequence fails as the host has, on whom it had to wait; unless it has failed before. */
void sequence_fail(command_sequence *w, const ley_error *why);

/* The first error so far; LEY_OK: none. */
ley_status sequence_status(const command_sequence *w, ley_error *error);

/* Waits for all that is under way, and starts nothing more; then the times are there. Returns the
 * first error. Also for a sequence that never began. */
ley_status sequence_finish(command_sequence *w, ley_error *error);

/* Finishes it and frees what it has. */
void sequence_end(command_sequence *w);

#endif
