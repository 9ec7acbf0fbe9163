#include "check/session.h"

#include "clock.h"
#include "error.h"
#include "watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Names ----------------------------------------------------------------------------------- */

/* Whether `name` begins with a word, and has nothing or a "/" behind it, where it goes on. */
static const char *behind(const char *name, const char *word)
{
    const size_t length = strlen(word);
    if (strncmp(name, word, length) != 0 || (name[length] != '\0' && name[length] != '/'))
        return NULL;
    return name[length] == '/' ? name + length + 1 : name + length;
}

/* The variant that a name asks for: "" any, NULL none of this check. */
static const char *variant_of(const char *name, const ley_check_row *row)
{
    const char *rest = behind(name, row->group);
    if (rest != NULL && *rest == '\0')
        return rest;
    return behind(rest != NULL ? rest : name, row->name);
}

bool session_is_named(const char *name, const ley_check_row *row)
{
    return variant_of(name, row) != NULL;
}

bool check_wants(const check_run *run, const check_row *row, const char *variant)
{
    const check_session *s = run->session;
    for (size_t i = 0; i < s->name_count; i++) {
        const char *wanted = variant_of(s->names[i], &row->row);
        if (wanted != NULL && (*wanted == '\0' || variant == NULL || strcmp(wanted, variant) == 0))
            return true;
    }
    return s->name_count == 0;
}

bool session_has(const check_session *s, const char *name)
{
    for (size_t i = 0; i < s->count; i++) {
        const ley_check_result *r = &s->results[i];
        const ley_check_row row = {.group = r->group, .name = r->name};
        const char *wanted = variant_of(name, &row);
        if (wanted != NULL && (*wanted == '\0' || r->variant[0] == '\0' || strcmp(wanted, r->variant) == 0))
            return true;
    }
    return false;
}

/* ---- The object ------------------------------------------------------------------------------ */

void session_destroy(check_session *s)
{
    if (s == NULL)
        return;
    for (size_t i = 0; i < s->count; i++) {
        const ley_check_result *r = &s->results[i];
        const char *const texts[] = {r->variant, r->text, r->smallest, r->known, r->reproducer};
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
            free((void *)(uintptr_t)texts[k]);
    }
    for (size_t i = 0; i < s->name_count; i++)
        free(s->names[i]);
    free(s->names);
    free(s->reproducers);
    free(s->results);
    pthread_mutex_destroy(&s->mutex);
    free(s);
}

check_session *session_create(const dev_info *info, const ley_check_options *options)
{
    check_session *s = calloc(1, sizeof *s);
    if (s == NULL)
        return NULL;
    pthread_mutex_init(&s->mutex, NULL);
    s->info = *info;
    s->quick = options->quick;
    s->names = calloc(options->name_count + 1, sizeof *s->names);
    s->reproducers = options->reproducers != NULL ? strdup(options->reproducers) : NULL;
    for (; s->names != NULL && s->name_count < options->name_count; s->name_count++)
        if ((s->names[s->name_count] = strdup(options->names[s->name_count])) == NULL)
            break;
    if (s->names == NULL || s->name_count < options->name_count ||
        (options->reproducers != NULL && s->reproducers == NULL)) {
        session_destroy(s);
        return NULL;
    }
    return s;
}

/* ---- Results --------------------------------------------------------------------------------- */

void session_enter(check_session *s, const check_row *row, const char *variant)
{
    pthread_mutex_lock(&s->mutex);
    s->row = row;
    snprintf(s->variant, sizeof s->variant, "%s", variant);
    pthread_mutex_unlock(&s->mutex);
}

static const char *copy_of(const char *text)
{
    return text != NULL ? strdup(text) : NULL;
}

static void add_locked(check_session *s, const ley_check_result *result)
{
    if (s->count == s->capacity) {
        const size_t larger = 2 * s->capacity + 64;
        ley_check_result *grown = realloc(s->results, larger * sizeof *grown);
        if (grown == NULL)
            return;
        s->results = grown;
        s->capacity = larger;
    }
    ley_check_result *r = &s->results[s->count];
    *r = *result;
    r->variant = copy_of(result->variant);
    r->text = copy_of(result->text);
    r->smallest = copy_of(result->smallest);
    r->known = copy_of(result->known);
    r->reproducer = copy_of(result->reproducer);
    s->count += r->variant != NULL && r->text != NULL;
    s->row = NULL;
}

void session_add(check_session *s, const ley_check_result *result)
{
    pthread_mutex_lock(&s->mutex);
    add_locked(s, result);
    pthread_mutex_unlock(&s->mutex);
}

static bool is_asked_for(const check_session *s, const check_row *row)
{
    for (size_t i = 0; i < s->name_count; i++)
        if (session_is_named(s->names[i], &row->row))
            return true;
    return s->name_count == 0;
}

static ley_check_result result_of(const check_row *row, const char *variant, ley_check_outcome outcome,
                                  const char *text)
{
    return (ley_check_result){
        .group = row->row.group, .name = row->row.name, .variant = variant, .outcome = outcome, .text = text};
}

static void skip_behind(check_session *s, const check_row *row, const char *why)
{
    for (const check_row *next = row + 1; next < check_table + check_table_count; next++) {
        const ley_check_result result = result_of(next, "", LEY_CHECK_SKIPPED, why);
        if (is_asked_for(s, next))
            add_locked(s, &result);
    }
}

void session_give_up(check_session *s, const char *why)
{
    check_let_speak();
    pthread_mutex_lock(&s->mutex);
    const check_row *row = s->row != NULL ? s->row : check_table;
    const ley_check_result result = result_of(row, s->variant, LEY_CHECK_FAILED, why);
    add_locked(s, &result);
    skip_behind(s, row, "the device was given up");
    pthread_mutex_unlock(&s->mutex);
}

void check_skip(check_run *run, const check_row *row, const char *variant, const char *why)
{
    const ley_check_result result = result_of(row, variant, LEY_CHECK_SKIPPED, why);
    session_add(run->session, &result);
}

bool check_is_over(const check_run *run)
{
    return run->device->is_lost || watch_ends();
}

/* ---- The thread ------------------------------------------------------------------------------ */

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

static void add_opening(check_session *s, const ley_error *error, double elapsed_s)
{
    ley_check_result result =
        result_of(check_table, "", error->status == LEY_OK ? LEY_CHECK_PASSED : LEY_CHECK_FAILED, error->message);
    result.elapsed_s = elapsed_s;
    session_add(s, &result);
}

/* The table's first row is that a device opens, which is done here. */
void session_run(void *session)
{
    check_session *s = session;
    check_run run = {.session = s, .quick = s->quick};
    ley_error error = {.status = LEY_OK};
    const double start_s = ley_clock_s();
    session_enter(s, check_table, "");
    const ley_status status = s->info.backend->open(&s->info, &run.device, &error);
    error.status = status;
    if (status == LEY_OK)
        snprintf(error.message, sizeof error.message, "%s", "");
    if (status == LEY_CANCELLED) {
        ley_error_clear(&error);
        return;
    }
    if (status != LEY_OK || is_asked_for(s, check_table))
        add_opening(s, &error, ley_clock_s() - start_s);
    ley_error_clear(&error);
    if (status != LEY_OK) {
        pthread_mutex_lock(&s->mutex);
        skip_behind(s, check_table, "the device does not open");
        pthread_mutex_unlock(&s->mutex);
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
