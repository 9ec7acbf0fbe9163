#include "engine/command_sequence.h"

#include "cancel.h"
#include "error.h"
#include "memory/upload.h"

#include <math.h>
#include <string.h>

/* Writes of up to so many bytes, all of a sequence together, go through staging. */
enum { SMALL_BYTES = 64 << 10 };

/* Bytes of staging that are poisoned before anything is read into it: a read comes as a whole, or
 * not at all. */
enum { POISONED_STAGING = 64 };

static const dev_backend *backend(const command_sequence *w)
{
    return w->flight->device->backend;
}

static bool is_well(const command_sequence *w)
{
    return w->error.status == LEY_OK;
}

/* Where a failing call tells why: the first one to the sequence. */
static ley_error *teller(command_sequence *w)
{
    return is_well(w) ? &w->error : NULL;
}

static void look_for_cancel(command_sequence *w)
{
    if (is_well(w) && cancel_is_asked(w->cancelled))
        ley_fail(&w->error, LEY_CANCELLED, "cancelled");
}

/* ---- The flight ------------------------------------------------------------------------------ */

static void note_launch(command_sequence *w, int step, double predicted_s, const dev_times *when)
{
    if (w->ended++ == 0)
        w->times.kernel.start_s = when->start_s;
    w->times.kernel.end_s = when->end_s;
    w->times.kernel_s += when->end_s - when->start_s;
    w->times.step_s[step] += when->end_s - when->start_s;
    w->times.step_launches[step]++;
    w->times.step_predicted_s[step] += predicted_s;
    w->times.predicted_s += predicted_s;
    w->times.unpredicted += predicted_s == 0;
}

/* Predictions may be wrong, most of all where others use the device as well: launches that last
 * longer count for more from then on. A single one, which may have had something to compile, is
 * forgotten soon. */
static void learn(flight *f, const flight_launch *l, const dev_times *when)
{
    if (l->predicted_s > 0)
        f->slower = fmax((when->end_s - when->start_s) / l->predicted_s, f->slower / 2);
}

static void end_oldest(flight *f)
{
    const flight_launch l = f->launches[f->first];
    command_sequence *w = l.owner;
    dev_times when = {0, 0};
    f->first = (f->first + 1) % FLIGHT_MOST;
    f->count--;
    f->ended++;
    f->unknown -= l.predicted_s == 0;
    f->predicted_s = f->count > f->unknown ? f->predicted_s - l.predicted_s : 0;
    w->in_flight--;
    if (w->launched == l.done)
        w->launched = NULL;
    if (f->device->backend->wait(f->device, l.done, &when, teller(w)) != LEY_OK)
        return;
    note_launch(w, l.step, l.predicted_s, &when);
    learn(f, &l, &when);
}

static double seconds(const flight *f, double predicted_s, size_t unknown)
{
    return predicted_s * fmax(f->slower, 1) + (double)unknown * FLIGHT_UNKNOWN_S;
}

/* Whether one more has to wait. */
static bool is_full(const flight *f, double predicted_s)
{
    const size_t shown = f->ended < FLIGHT_MOST - FLIGHT_FIRST ? FLIGHT_FIRST + f->ended : FLIGHT_MOST,
                 most = f->ended == 0 && predicted_s > FLIGHT_SHORT_S ? FLIGHT_LEAST : shown;
    return f->count >= FLIGHT_LEAST && (f->count >= most || seconds(f, f->predicted_s + predicted_s,
                                                                    f->unknown + (predicted_s == 0)) > FLIGHT_MOST_S);
}

static void take_off(flight *f, flight_launch l)
{
    f->launches[(f->first + f->count++) % FLIGHT_MOST] = l;
    f->unknown += l.predicted_s == 0;
    f->predicted_s += l.predicted_s;
}

/* ---- A sequence ------------------------------------------------------------------------------ */

void sequence_begin(command_sequence *w, flight *f, const atomic_bool *cancelled)
{
    dev_staging *small = w->small;
    ley_error_clear(&w->error);
    *w = (command_sequence){.flight = f, .cancelled = cancelled, .small = small};
}

void sequence_step(command_sequence *w, int step)
{
    w->step = step;
}

static void wait_read(command_sequence *w)
{
    dev_event *read = w->read;
    dev_times when = {0, 0};
    w->read = NULL;
    if (read == NULL || backend(w)->wait(w->flight->device, read, &when, teller(w)) != LEY_OK)
        return;
    if (w->reads++ == 0)
        w->times.transfer.start_s = when.start_s;
    w->times.transfer.end_s = when.end_s;
}

/* Whether the next operation may start: what is read is there before anything changes it. */
static bool is_ready(command_sequence *w)
{
    look_for_cancel(w);
    if (is_well(w))
        wait_read(w);
    return is_well(w);
}

/* What is in the launch lane now, behind all before it; NULL: a launch. */
static void place(command_sequence *w, dev_event *done)
{
    if (w->placed != NULL)
        backend(w)->forget(w->flight->device, w->placed);
    w->placed = done;
}

/* A copy on its way, so that the caller's bytes are free. */
static bool send_small(command_sequence *w, dev_buffer *buffer, size_t offset, const void *bytes, size_t size)
{
    if (size > SMALL_BYTES - w->small_bytes)
        return false;
    if (w->small == NULL &&
        backend(w)->staging_create(w->flight->device, SMALL_BYTES, &w->small, &w->error) != LEY_OK) {
        w->small = NULL;
        return true;
    }
    const size_t from = w->small_bytes;
    memcpy((char *)w->small->bytes + from, bytes, size);
    w->small_bytes += size;
    sequence_send(w, buffer, offset, w->small, from, size);
    return true;
}

void sequence_write(command_sequence *w, dev_buffer *buffer, size_t offset, const void *bytes, size_t size)
{
    if (is_ready(w) && !send_small(w, buffer, offset, bytes, size))
        upload_bytes(w->flight->device, buffer, offset, bytes, size, &w->error);
}

void sequence_send(command_sequence *w, dev_buffer *buffer, size_t offset, const dev_staging *staging, size_t from,
                   size_t size)
{
    dev_event *done = NULL;
    if (is_ready(w) &&
        backend(w)->send(w->flight->device, buffer, offset, staging, from, size, &done, &w->error) == LEY_OK)
        place(w, done);
}

void sequence_fill(command_sequence *w, dev_buffer *buffer, size_t offset, uint32_t pattern, size_t bytes)
{
    dev_event *done = NULL;
    if (is_ready(w) && backend(w)->fill(w->flight->device, buffer, offset, pattern, bytes, &done, &w->error) == LEY_OK)
        place(w, done);
}

void sequence_copy(command_sequence *w, dev_buffer *to, size_t to_offset, dev_buffer *from, size_t from_offset,
                   size_t bytes)
{
    dev_event *done = NULL;
    if (is_ready(w) &&
        backend(w)->copy(w->flight->device, to, to_offset, from, from_offset, bytes, &done, &w->error) == LEY_OK)
        place(w, done);
}

/* Whether a launch may start, once there is room for it. */
static bool may_take_off(command_sequence *w, double predicted_s)
{
    while (is_ready(w) && is_full(w->flight, predicted_s))
        end_oldest(w->flight);
    return is_well(w);
}

static void note_started(command_sequence *w, dev_event *done, double predicted_s)
{
    place(w, NULL);
    take_off(w->flight, (flight_launch){.done = done, .owner = w, .step = w->step, .predicted_s = predicted_s});
    w->in_flight++;
    w->launched = done;
}

void sequence_launch(command_sequence *w, const dev_kernel *kernel, const size_t groups[3], const void *arguments,
                     double predicted_s)
{
    const double known_s = predicted_s > 0 ? predicted_s : 0;
    dev_event *done = NULL;
    if (may_take_off(w, known_s) && kernel_launch(kernel, groups, arguments, &done, &w->error) == LEY_OK)
        note_started(w, done, known_s);
}

void sequence_fft(command_sequence *w, const dev_fft *fft, bool forward, dev_buffer *from, dev_buffer *to,
                  dev_buffer *scratch)
{
    const double known_s = forward ? fft->forward_s : fft->back_s;
    dev_event *done = NULL;
    if (may_take_off(w, known_s) && fft_start(fft, forward, from, to, scratch, &done, &w->error) == LEY_OK)
        note_started(w, done, known_s);
}

void sequence_read(command_sequence *w, dev_buffer *buffer, size_t offset, dev_staging *staging, size_t size)
{
    dev_event *after = w->placed != NULL ? w->placed : w->launched, *done = NULL;
    const bool may_read = is_ready(w);
    if (may_read)
        sequence_poison_staging(staging, size);
    if (may_read &&
        backend(w)->read(w->flight->device, buffer, offset, staging, size, after, &done, &w->error) == LEY_OK)
        w->read = done;
    w->times.read_bytes += w->read != NULL ? size : 0;
}

void sequence_poison_staging(const dev_staging *staging, size_t bytes)
{
    memset(staging->bytes, 0xff, bytes < POISONED_STAGING ? bytes : POISONED_STAGING);
}

void sequence_poison(command_sequence *w, const results *made, size_t bytes)
{
    sequence_fill(w, made->buffer, 0, DEV_NO_NUMBERS, bytes);
}

ley_status sequence_no_number(ley_error *error)
{
    return ley_fail(error, LEY_ERROR_WRONG_RESULT, "values came back that are not numbers");
}

void sequence_fail(command_sequence *w, const ley_error *why)
{
    if (is_well(w))
        ley_error_copy(&w->error, why);
}

ley_status sequence_status(const command_sequence *w, ley_error *error)
{
    if (!is_well(w))
        ley_error_copy(error, &w->error);
    return w->error.status;
}

ley_status sequence_finish(command_sequence *w, ley_error *error)
{
    while (w->in_flight > 0) {
        end_oldest(w->flight);
        look_for_cancel(w);
    }
    wait_read(w);
    if (w->placed != NULL)
        backend(w)->wait(w->flight->device, w->placed, NULL, teller(w));
    w->placed = NULL;
    w->small_bytes = 0;
    return sequence_status(w, error);
}

void sequence_end(command_sequence *w)
{
    sequence_finish(w, NULL);
    if (w->small != NULL)
        backend(w)->staging_destroy(w->flight->device, w->small);
    ley_error_clear(&w->error);
    *w = (command_sequence){.flight = NULL};
}
