#include "check/runner.h"

#include "clock.h"
#include "error.h"

#include <stdio.h>

static void skip_behind(check_session *s, const check_row *row, const char *why)
{
    for (const check_row *next = row + 1; next < check_table + check_table_count; next++)
        if (session_wants(s, next, NULL))
            session_add_outcome(s, next, "", LEY_CHECK_SKIPPED, why, 0);
}

void runner_give_up(check_session *s, const char *why)
{
    check_let_speak();
    pthread_mutex_lock(&s->mutex);
    const check_row *row = s->row != NULL ? s->row : check_table;
    pthread_mutex_unlock(&s->mutex);
    session_add_outcome(s, row, s->variant, LEY_CHECK_FAILED, why, 0);
    skip_behind(s, row, "the device was given up");
}

/* Why the device has no use for a check; NULL: it has. */
static const char *lacks(const dev_info *info, unsigned needs)
{
    if ((needs & CHECK_NEEDS_DOUBLE) != 0 && !info->has_double)
        return "no double precision";
    if ((needs & CHECK_NEEDS_BINARIES) != 0 && (info->quirks & DEV_QUIRK_NO_BINARY) != 0)
        return "its binaries are known not to work, and never used";
    return NULL;
}

static void run_row(check_run *run, const check_row *row)
{
    check_session *s = run->session;
    const size_t before = s->count;
    const char *missing = lacks(&s->info, row->needs);
    session_enter(s, row, "");
    if (missing == NULL)
        row->run(run, row);
    if (missing != NULL || (s->count == before && check_wants(run, row, "") && !check_is_over(run)))
        check_skip(run, row, "", missing != NULL ? missing : "there is nothing of it on this device");
}

/* The table's first row is that a device opens, which is done here. */
void runner_run(void *session)
{
    check_session *s = session;
    check_run run = {.session = s, .quick = s->quick};
    ley_error error = {.status = LEY_OK};
    const double start_s = ley_clock_s();
    session_enter(s, check_table, "");
    const ley_status status = s->info.backend->open(&s->info, &run.device, &error);
    if (status == LEY_OK)
        snprintf(error.message, sizeof error.message, "%s", "");
    if (status == LEY_CANCELLED) {
        ley_error_clear(&error);
        return;
    }
    if (status != LEY_OK || session_wants(s, check_table, NULL))
        session_add_outcome(s, check_table, "", status == LEY_OK ? LEY_CHECK_PASSED : LEY_CHECK_FAILED, error.message,
                            ley_clock_s() - start_s);
    ley_error_clear(&error);
    if (status != LEY_OK) {
        skip_behind(s, check_table, "the device does not open");
        return;
    }
    for (size_t i = 1; i < check_table_count && !check_is_over(&run); i++)
        if (check_wants(&run, &check_table[i], NULL))
            run_row(&run, &check_table[i]);
    for (size_t i = 0; i < sizeof run.functions / sizeof *run.functions; i++)
        if (run.functions[i].program != NULL)
            kernel_destroy(&run.functions[i]);
    s->info.backend->close(run.device);
}
