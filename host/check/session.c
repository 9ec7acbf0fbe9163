#include "check/session.h"

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

bool session_wants(const check_session *s, const check_row *row, const char *variant)
{
    for (size_t i = 0; i < s->name_count; i++) {
        const char *wanted = variant_of(s->names[i], &row->row);
        if (wanted != NULL && (*wanted == '\0' || variant == NULL || strcmp(wanted, variant) == 0))
            return true;
    }
    return s->name_count == 0;
}

bool check_wants(const check_run *run, const check_row *row, const char *variant)
{
    return session_wants(run->session, row, variant);
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

void session_add_outcome(check_session *s, const check_row *row, const char *variant, ley_check_outcome outcome,
                         const char *text, double elapsed_s)
{
    session_add(s, &(ley_check_result){.group = row->row.group,
                                       .name = row->row.name,
                                       .variant = variant,
                                       .outcome = outcome,
                                       .text = text,
                                       .elapsed_s = elapsed_s});
}

void check_skip(check_run *run, const check_row *row, const char *variant, const char *why)
{
    session_add_outcome(run->session, row, variant, LEY_CHECK_SKIPPED, why, 0);
}

bool check_is_over(const check_run *run)
{
    return run->device->is_lost || watch_ends();
}
