/* How a case is tried, made smaller, and shown to others. */
#include "check/session.h"

#include "check/reproducer.h"
#include "clock.h"
#include "error.h"
#include "quirks.h"
#include "recorder.h"
#include "verify/self_test.h"
#include "watch.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

ley_status check_wrong(check_finding *f, double found, double right, ley_error *error, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    f->has_value = true;
    f->found = found;
    f->right = right;
    return ley_fail(error, LEY_ERROR_WRONG_RESULT, "%s", text);
}

/* ---- Memory and launches --------------------------------------------------------------------- */

void check_bench_begin(check_bench *b, dev *device)
{
    *b = (check_bench){.arena = {.device = device}, .flight = {.device = device}};
    sequence_begin(&b->command_sequence, &b->flight, NULL);
}

ley_status check_bench_finish(check_bench *b, ley_error *error)
{
    return sequence_finish(&b->command_sequence, error);
}

void check_bench_end(check_bench *b)
{
    sequence_end(&b->command_sequence);
    arena_clear(&b->arena);
}

ley_status check_bench_results(check_bench *b, size_t bytes, results *made, ley_error *error)
{
    const ley_status status = arena_results(&b->arena, (int64_t)bytes, made, error);
    if (status == LEY_OK)
        sequence_fill(&b->command_sequence, made->buffer, 0, DEV_NO_NUMBERS, bytes);
    return status;
}

/* ---- A case ---------------------------------------------------------------------------------- */

/* What judges of kernels note while they are at it belongs to the finding. */
static ley_status attempt(check_run *run, const check_case *c, size_t size, check_finding *f, ley_error *error)
{
    self_test_finding noted = {.worst = -1};
    *f = (check_finding){.has_error = false};
    self_test_listen(&noted);
    const ley_status status = c->attempt(run, c->context, size, f, error);
    self_test_listen(NULL);
    if (noted.worst >= 0 && !f->has_error) {
        f->has_error = true;
        f->error = noted.error;
        f->tolerance = noted.tolerance;
        f->ulps = noted.error / 0x1p-23;
    }
    if (noted.worst >= 0 && !f->has_value) {
        f->has_value = status == LEY_ERROR_WRONG_RESULT;
        f->found = noted.found;
        f->right = noted.right;
        f->allowed = noted.allowed;
    }
    return status;
}

/* The smallest size that is wrong, by halves from one that is; `f` and `error` are of that one. */
static size_t shrink(check_run *run, const check_case *c, check_finding *f, ley_error *error)
{
    size_t size = c->size;
    while (size > c->least && !check_is_over(run)) {
        check_finding of_half;
        ley_error why = {.status = LEY_OK};
        const size_t half = size / 2 > c->least ? size / 2 : c->least;
        if (attempt(run, c, half, &of_half, &why) != LEY_ERROR_WRONG_RESULT) {
            ley_error_clear(&why);
            break;
        }
        size = half;
        *f = of_half;
        ley_error_copy(error, &why);
        ley_error_clear(&why);
    }
    return size;
}

/* Once more, written down. */
static char *reproduce(check_run *run, const check_row *row, const check_case *c, size_t size)
{
    check_finding f;
    ley_error error = {.status = LEY_OK};
    char *folder = NULL;
    const char *folders = run->session->reproducers;
    if (folders == NULL || run->device->backend->replay == NULL)
        return NULL;
    recorder *r = recorder_begin(run->device);
    run->is_recorded = true;
    const ley_status status = attempt(run, c, size, &f, &error);
    run->is_recorded = false;
    recorder_end(r);
    if (r != NULL && status == LEY_ERROR_WRONG_RESULT && f.has_value) {
        const reproducer_fault fault = {.group = row->row.group,
                                        .name = row->row.name,
                                        .variant = c->variant,
                                        .message = error.message,
                                        .info = run->device->info,
                                        .found = f.found,
                                        .right = f.right,
                                        .allowed = f.allowed};
        folder = reproducer_write(folders, r, &fault);
    }
    recorder_destroy(r);
    ley_error_clear(&error);
    return folder;
}

static void fail_case(check_run *run, const check_row *row, const check_case *c, ley_status status,
                      ley_check_result *result, check_finding *f, ley_error *error)
{
    char smallest[160] = "";
    char *folder = NULL;
    if (status == LEY_ERROR_WRONG_RESULT) {
        const size_t size = c->unit != NULL ? shrink(run, c, f, error) : c->size;
        if (c->unit != NULL)
            snprintf(smallest, sizeof smallest, "%zu%s%s", size, c->unit[0] == '/' ? "" : " ", c->unit);
        folder = check_is_over(run) ? NULL : reproduce(run, row, c, size);
    }
    result->outcome = LEY_CHECK_FAILED;
    result->text = error->message;
    result->smallest = smallest[0] != '\0' ? smallest : NULL;
    result->reproducer = folder;
    result->known = quirks_of_check(run->device->info, row->row.group, row->row.name, c->variant);
    session_add(run->session, result);
    free(folder);
}

static void copy_figures(ley_check_result *result, const check_finding *f)
{
    result->has_error = f->has_error;
    result->error = f->error;
    result->tolerance = f->tolerance;
    result->ulps = f->ulps;
    memcpy(result->ulp_counts, f->ulp_counts, sizeof f->ulp_counts);
}

void check_try(check_run *run, const check_row *row, const check_case *c)
{
    check_finding f;
    ley_error error = {.status = LEY_OK};
    if (check_is_over(run) || !check_wants(run, row, c->variant))
        return;
    const double start_s = ley_clock_s();
    session_enter(run->session, row, c->variant);
    const ley_status status = attempt(run, c, c->size, &f, &error);
    ley_check_result result = {.group = row->row.group, .name = row->row.name, .variant = c->variant};
    copy_figures(&result, &f);
    if (status == LEY_CANCELLED && watch_ends()) {
        ley_error_clear(&error);
        return;
    }
    result.elapsed_s = ley_clock_s() - start_s;
    if (status == LEY_OK || status == LEY_ERROR_NO_DEVICE) {
        result.outcome = status == LEY_OK ? LEY_CHECK_PASSED : LEY_CHECK_SKIPPED;
        result.text = status == LEY_OK ? f.text : error.message;
        session_add(run->session, &result);
    } else {
        fail_case(run, row, c, status, &result, &f, &error);
    }
    ley_error_clear(&error);
}
