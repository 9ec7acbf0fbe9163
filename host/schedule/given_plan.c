#include "schedule/given_plan.h"

#include "calibrate.h"

#include <stdio.h>
#include <string.h>

enum { MOST_TEXT = 512, MOST_DECISIONS = 4096 };

static const char *const sums[] = {"float", "compensated", "double", NULL};
static const char *const by_whom[] = {"host", NULL};

/* Of plans of all methods. A method's own name and the words of variants and recipes are looked up
 * where they are. */
static const plan_row common_rows[] = {
    {.name = "method", .words = plan_maths},
    {.name = "target", .words = plan_maths},
    {.name = "math", .words = plan_maths},
    {.name = "sum", .words = sums},
    {.name = "computed_by", .words = by_whom},
    {.name = "variant", .of_device = true, .words = plan_maths},
    {.name = "root", .of_device = true, .words = plan_maths},
    {.name = "exp", .of_device = true, .words = plan_maths},
    {.name = "slab", .of_device = true, .low = 1, .high = INT32_MAX},
    {.name = NULL},
};

static const plan_row *find_row(const plan_row *rows, const char *name)
{
    for (; rows != NULL && rows->name != NULL; rows++)
        if (strcmp(rows->name, name) == 0)
            return rows;
    return NULL;
}

/* The words that a decision may be, i from 0; NULL behind the last. */
static const char *word_at(const method *m, const plan_row *row, int i)
{
    if (strcmp(row->name, "method") == 0)
        return i == 0 ? m->name : NULL;
    if (strcmp(row->name, "target") == 0)
        return i == 0 ? ley_target_name(m->target) : NULL;
    if (strcmp(row->name, "variant") == 0)
        return m->kernel != NULL ? kernel_variant(m->kernel, (size_t)i) : NULL;
    if (strcmp(row->name, "root") == 0)
        return i < LEY_ROOT_COUNT ? calibrate_root_word(i) : NULL;
    if (strcmp(row->name, "exp") == 0)
        return i < LEY_EXP_COUNT ? calibrate_exp_word(i) : NULL;
    return row->words[i];
}

/* Where a decision stands, for messages: "slab of opencl: NAME". */
static const char *place_of(const ley_decision *d, char place[MOST_TEXT])
{
    if (d->device == NULL)
        snprintf(place, MOST_TEXT, "%.100s", d->name);
    else
        snprintf(place, MOST_TEXT, "%.100s of %.200s", d->name, d->device);
    return place;
}

static ley_status check_word(const method *m, const plan_row *row, const ley_decision *d, ley_error *error)
{
    char place[MOST_TEXT], all[MOST_TEXT] = "";
    const char *word;
    for (int i = 0; (word = word_at(m, row, i)) != NULL; i++) {
        if (strcmp(word, d->value) == 0)
            return LEY_OK;
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%.40s", i > 0 ? ", " : "", word);
    }
    return plan_fail(error, "%s: '%.80s', must be %s%s", place_of(d, place), d->value,
                     strstr(all, ", ") != NULL ? "one of " : "", all);
}

static ley_status check_number(const plan_row *row, const ley_decision *d, ley_error *error)
{
    char place[MOST_TEXT];
    int64_t number;
    if (!plan_read_number(d->value, &number))
        return plan_fail(error, "%s: '%.80s' is no whole number", place_of(d, place), d->value);
    if (number < row->low || number > row->high)
        return plan_fail(error, "%s: %lld, must be %lld to %lld", place_of(d, place), (long long)number,
                         (long long)row->low, (long long)row->high);
    return LEY_OK;
}

static ley_status check_real(const plan_row *row, const ley_decision *d, ley_error *error)
{
    char place[MOST_TEXT];
    double number;
    if (!plan_read_real(d->value, &number))
        return plan_fail(error, "%s: '%.80s' is no number", place_of(d, place), d->value);
    if (!(number >= (double)row->low && number <= (double)row->high))
        return plan_fail(error, "%s: %g, must be %lld to %lld", place_of(d, place), number, (long long)row->low,
                         (long long)row->high);
    return LEY_OK;
}

/* Whether the i-th decision is one that there is. */
static ley_status check_decision(const method *m, const ley_decision *list, size_t i, ley_error *error)
{
    char place[MOST_TEXT];
    const ley_decision *d = &list[i];
    if (plan_check_whole(list, i, error) != LEY_OK)
        return LEY_ERROR_USAGE;
    const plan_row *row = find_row(common_rows, d->name);
    if (row == NULL)
        row = find_row(m->plan_rows, d->name);
    const char *instead = ley_parameter_gone(d->name);
    if (instead != NULL)
        return plan_fail(error, "'%s' is gone: %s", d->name, instead);
    if (row == NULL || (strcmp(d->name, "exp") == 0 && !m->has_exp))
        return plan_fail(error, "'%.80s' is nothing that method %s decides", d->name, m->name);
    if (row->of_device != (d->device != NULL))
        return plan_fail(error, "%s: it is decided %s", place_of(d, place),
                         row->of_device ? "for each device" : "for the whole job");
    for (size_t k = 0; k < i; k++)
        if (plan_is_of(&list[k], d->device) && strcmp(list[k].name, d->name) == 0)
            return plan_fail(error, "%s: it is there twice", place_of(d, place));
    if (row->words != NULL)
        return check_word(m, row, d, error);
    return row->is_real ? check_real(row, d, error) : check_number(row, d, error);
}

/* What the options settle, no plan changes. */
static ley_status check_options(const ley_run_options *o, const job_plan *p, ley_error *error)
{
    const char *math = plan_word(p, NULL, "math"), *sum = plan_word(p, NULL, "sum");
    if (math != NULL && o->math != LEY_MATH_AUTO && strcmp(math, plan_maths[o->math]) != 0)
        return plan_fail(error, "it is for math %s, and %s is asked for", math, plan_maths[o->math]);
    if (sum != NULL && o->sum != LEY_SUM_AUTO && strcmp(sum, sums[o->sum]) != 0)
        return plan_fail(error, "it is for sum %s, and %s is asked for", sum, sums[o->sum]);
    if (sum != NULL && o->sum == LEY_SUM_AUTO && strcmp(sum, sums[LEY_SUM_COMPENSATED]) == 0)
        return plan_fail(error, "it is for sum %s, which auto never takes", sum);
    for (size_t i = 0; o->variant != NULL && i < p->count; i++)
        if (strcmp(p->list[i].name, "variant") == 0 && strcmp(p->list[i].value, o->variant) != 0)
            return plan_fail(error, "it is for variant %s, and %s is asked for", p->list[i].value, o->variant);
    return LEY_OK;
}

/* Slabs that are larger than the caller wants any to be. */
static ley_status check_slabs(const ley_run_options *o, const method *m, const job_plan *p, ley_error *error)
{
    char place[MOST_TEXT];
    int64_t pieces;
    const int64_t planes = m->piece_planes > 0 ? m->piece_planes : 1;
    const int64_t most = o->slab_planes / planes + (o->slab_planes % planes > 0);
    for (size_t i = 0; most > 0 && i < p->count; i++)
        if (strcmp(p->list[i].name, "slab") == 0 && plan_read_number(p->list[i].value, &pieces) && pieces > most)
            return plan_fail(error, "%s: %lld, and at most %lld are asked for (slab %lld)",
                             place_of(&p->list[i], place), (long long)pieces, (long long)most,
                             (long long)o->slab_planes);
    return LEY_OK;
}

ley_status plan_take(const ley_run_options *o, const method *m, job_plan **made, ley_error *error)
{
    *made = NULL;
    if (o->decision_count == 0)
        return LEY_OK;
    ley_status status = LEY_OK;
    if (o->decision_count > MOST_DECISIONS)
        return plan_fail(error, "it has %zu decisions, at most %d are possible", o->decision_count, MOST_DECISIONS);
    for (size_t i = 0; status == LEY_OK && i < o->decision_count; i++)
        if (o->decisions[i].name != NULL && o->decisions[i].device == NULL && o->decisions[i].value != NULL &&
            strcmp(o->decisions[i].name, "method") == 0 && strcmp(o->decisions[i].value, m->name) != 0)
            status = plan_fail(error, "it is one of method %.80s, not of %s", o->decisions[i].value, m->name);
    const char *target = plan_find(o->decisions, o->decision_count, NULL, "target");
    if (status == LEY_OK && target != NULL && strcmp(target, ley_target_name(m->target)) != 0)
        status = plan_fail(error, "it is one for target %.80s, not for %s", target, ley_target_name(m->target));
    for (size_t i = 0; status == LEY_OK && i < o->decision_count; i++)
        status = check_decision(m, o->decisions, i, error);
    if (status == LEY_OK)
        status = plan_of_list(o->decisions, o->decision_count, made, error);
    if (status == LEY_OK && plan_word(*made, NULL, "method") == NULL)
        status = plan_fail(error, "it does not say of which method it is");
    if (status == LEY_OK)
        status = check_options(o, *made, error);
    if (status == LEY_OK)
        status = check_slabs(o, m, *made, error);
    if (status != LEY_OK) {
        plan_destroy(*made);
        *made = NULL;
    }
    return status;
}
