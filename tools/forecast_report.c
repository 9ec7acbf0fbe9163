#include "forecast_report.h"
#include "console.h"
#include "job_report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Text ------------------------------------------------------------------------------------ */

static short_text size_text(double bytes)
{
    return isfinite(bytes) ? bytes_text((uint64_t)fmax(bytes, 0)) : text_of("no known limit");
}

/* More digits than a run's own times have: steps are short. */
static short_text brief_text(double seconds)
{
    return text_of("%.2g s", seconds);
}

static void print_needs(const ley_need *needs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        printf("%s%s %s", i == 0 ? ": " : ", ", needs[i].what, size_text(needs[i].bytes).s);
    putchar('\n');
}

static void print_device(const ley_device_forecast *d)
{
    if (d->need_count == 0) /* it could not be readied */
        printf("memory of device %d, %s: unknown, of %s\n", d->device->index, d->device->name,
               size_text(d->room_bytes).s);
    else
        printf("memory of device %d, %s: %s of %s", d->device->index, d->device->name, size_text(d->bytes).s,
               size_text(d->room_bytes).s);
    if (d->need_count > 0)
        print_needs(d->needs, d->need_count);
    if (d->slab > 0)
        printf("device %d: %s slab%s of at most %s %s%s%s%s%s\n", d->device->index, count_text(d->slabs).s,
               d->slabs == 1 ? "" : "s", count_text(d->slab).s, d->pieces, d->variant != NULL ? ", variant " : "",
               d->variant != NULL ? d->variant : "", d->details[0] != '\0' ? ", " : "", d->details);
    if (d->failure != NULL)
        printf("device %d: would not be used: %s\n", d->device->index, d->failure);
}

static void print_steps(const char *who, const ley_step *steps, size_t count, const char **before)
{
    for (size_t i = 0; i < count; i++, *before = ", ")
        printf("%s%s%s %s", *before, i == 0 ? who : "", steps[i].what, brief_text(steps[i].seconds).s);
}

static void print_seconds(const ley_forecast *f)
{
    const char *before = "predicted: ";
    print_steps("host: ", f->host_steps, f->host_step_count, &before);
    for (size_t i = 0; i < f->device_count; i++) {
        const ley_device_forecast *d = &f->devices[i];
        if (d->status != LEY_OK)
            continue;
        before = before[0] == ',' ? "; " : before;
        print_steps(text_of("device %d: ", d->device->index).s, d->steps, d->step_count, &before);
    }
    if (f->devices_s > 0) /* else no device can do it */
        printf("%sin all %s\n", before[0] == ',' ? "; " : before, brief_text(f->total_s).s);
    else if (before[0] == ',')
        putchar('\n');
}

static void print_note(const ley_note *note)
{
    switch (note->kind) {
    case LEY_NOTE_COUNT:
        printf("%s %s", note->name, count_text(note->count).s);
        break;
    case LEY_NOTE_VECTOR:
        printf("%s %s", note->name, triple_text(note->number).s);
        break;
    case LEY_NOTE_TEXT:
        printf("%s %s", note->name, note->text);
        break;
    case LEY_NOTE_NUMBER:
    case LEY_NOTE_PHASE:
        printf("%s %.4g", note->name, note->number[0]);
        break;
    }
}

static bool is_noted(const ley_forecast *f, const char *name)
{
    for (size_t i = 0; i < f->note_count; i++)
        if (strcmp(f->notes[i].name, name) == 0)
            return true;
    return false;
}

/* What notes have said is not said again. */
static void print_plan(const ley_forecast *f)
{
    const char *before = "plan: ";
    for (size_t i = 0; i < f->note_count; i++, before = "; ") {
        fputs(before, stdout);
        print_note(&f->notes[i]);
    }
    for (size_t i = 0; i < f->decision_count; i++)
        if (f->decisions[i].device == NULL && !is_noted(f, f->decisions[i].name)) {
            printf("%s%s %s", before, f->decisions[i].name, f->decisions[i].value);
            before = "; ";
        }
    putchar('\n');
}

void print_forecast(const ley_forecast *f)
{
    printf("dry run: nothing is computed, and no file is written\n");
    printf("memory of the host: %s of %s (%s)", size_text(f->host_bytes).s, size_text(f->available_bytes).s, f->limit);
    print_needs(f->host_needs, f->host_need_count);
    for (size_t i = 0; i < f->device_count; i++)
        print_device(&f->devices[i]);
    print_plan(f);
    print_seconds(f);
}

/* ---- Ranks ----------------------------------------------------------------------------------- */

/* What all ranks do together. */
static bool is_shared(const ley_step *step, const ley_ranks_forecast *r)
{
    return (r->is_spread_together && strcmp(step->what, "spreading") == 0) ||
           (r->is_transformed_together && strcmp(step->what, "meshes") == 0);
}

/* The longest of the steps that each rank does for itself, or NULL. */
static const ley_step *longest_own(const ley_forecast *f, const ley_ranks_forecast *r)
{
    const ley_step *found = NULL;
    for (size_t i = 0; i < f->host_step_count; i++)
        if (!f->host_steps[i].is_dealt && (found == NULL || f->host_steps[i].seconds > found->seconds))
            found = &f->host_steps[i];
    for (size_t i = 0; i < f->devices[0].step_count; i++) {
        const ley_step *step = &f->devices[0].steps[i];
        if (!step->is_dealt && !is_shared(step, r) && (found == NULL || step->seconds > found->seconds))
            found = step;
    }
    return found;
}

static void print_limit(const ley_forecast *f, const ley_link *link, const ley_ranks_forecast *r)
{
    const ley_step *own = longest_own(f, r);
    const char *pieces = f->devices[0].pieces;
    const double rest_s = fmax(r->dealt_s, r->gather_s);
    if (r->exchange_s > fmax(rest_s, r->own_s))
        printf("limit: the link, %s for what is shared\n", brief_text(r->exchange_s).s);
    else if (link->by_parts && r->own_s > rest_s)
        printf("limit: what each rank does before slabs, %s, of its planes and what reaches them\n",
               brief_text(r->own_s).s);
    else if (own != NULL && r->own_s > rest_s && !link->by_parts)
        printf("limit: %s, %s, which each rank does for itself\n", own->what, brief_text(own->seconds).s);
    else if (r->gather_s > r->dealt_s)
        printf("limit: values on their way to rank 0, which a .raw, .npy or .mrc file does without\n");
    else if (r->pieces <= (double)f->device_count)
        printf("limit: %.0f %s, which no more ranks can share\n", r->all_pieces, pieces);
    else
        printf("limit: slabs, which more ranks would share\n");
}

static void print_shared(const ley_link *link, const ley_ranks_forecast *r)
{
    if (link->by_parts)
        printf("by parts of a .atoms file, %.3g %% of the atoms on each rank, %s", 100 * r->atoms_share,
               counted_text(r->local_levels, "local level").s);
    else
        fputs(r->is_transformed_together ? "charges spread and transformed together"
              : r->is_spread_together    ? "charges spread together"
                                         : "each rank for itself",
              stdout);
}

static void print_on_ranks(const ley_forecast *f, const ley_link *link, bool are_written, const ley_ranks_forecast *r)
{
    printf("%s, ", counted_text(link->ranks, "rank").s);
    print_shared(link, r);
    printf(": before slabs %s; exchange %s; at most %.0f of %.0f %s, %s", brief_text(r->own_s).s,
           brief_text(r->exchange_s).s, r->pieces, r->all_pieces, f->devices[0].pieces, brief_text(r->dealt_s).s);
    if (!link->by_parts)
        printf("; taking them %s", brief_text(r->counter_s).s);
    if (!are_written)
        printf("; values to rank 0 %s", brief_text(r->gather_s).s);
    printf("; in all %s, %.3g times as fast as one\n", brief_text(r->total_s).s, f->total_s / r->total_s);
    printf("  bytes: %s to each rank of what is shared", size_text(r->exchanged_bytes).s);
    if (!link->by_parts)
        printf(", %s to rank 0's counter", size_text(r->counter_bytes).s);
    if (are_written)
        printf(", %s of values from each rank into the file\n", size_text(r->written_bytes).s);
    else
        printf(", %s of values to rank 0\n", size_text(r->gathered_bytes).s);
    printf("  memory of each rank: %s of the host, %s of device %d\n", size_text(r->host_bytes).s,
           size_text(r->device_bytes).s, f->devices[0].device->index);
    fputs("  ", stdout);
    print_limit(f, link, r);
}

void print_ranks_forecast(const ley_job *job, const ley_forecast *f, const ley_link *link, bool are_written)
{
    ley_ranks_forecast r;
    ley_link parts = *link;
    printf("on links of %.3g bytes/s and %.3g s from each rank to others:\n", link->bytes_per_s, link->latency_s);
    ley_job_forecast_ranks(job, link, are_written, &r);
    print_on_ranks(f, link, are_written, &r);
    parts.by_parts = true;
    if (ley_job_forecast_ranks(job, &parts, are_written, &r))
        print_on_ranks(f, &parts, are_written, &r);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *json_of_needs(const ley_need *needs, size_t count)
{
    json_t *object = json_object();
    for (size_t i = 0; i < count; i++)
        json_put(object, needs[i].what, json_number(needs[i].bytes));
    return object;
}

static json_t *json_of_steps(const ley_step *steps, size_t count)
{
    json_t *object = json_object();
    for (size_t i = 0; i < count; i++)
        json_put(object, steps[i].what, json_number(steps[i].seconds));
    return object;
}

static json_t *json_of_device_forecast(const ley_device_forecast *d)
{
    json_t *object = json_object();
    json_put(object, "device", json_of_device(d->device));
    json_put(object, "variant", json_text(d->variant));
    json_put(object, "details", json_text(d->details));
    json_put(object, "slab", json_count(d->slab));
    json_put(object, "slab_counts", json_text(d->pieces));
    json_put(object, "slabs", json_count(d->slabs));
    json_put(object, "bytes", json_number(d->bytes));
    json_put(object, "available_bytes", json_number(d->room_bytes));
    json_put(object, "needs_bytes", json_of_needs(d->needs, d->need_count));
    json_put(object, "steps_s", json_of_steps(d->steps, d->step_count));
    json_put(object, "alone_s", json_number(d->alone_s));
    json_put(object, "status", json_text(ley_status_name(d->status)));
    json_put(object, "failure", json_text(d->failure));
    return object;
}

json_t *json_of_forecast(const ley_forecast *f)
{
    if (f == NULL)
        return json_null();
    json_t *object = json_object(), *host = json_object(), *devices = json_array();
    json_put(host, "bytes", json_number(f->host_bytes));
    json_put(host, "available_bytes", json_number(f->available_bytes));
    json_put(host, "limit", json_text(f->limit));
    json_put(host, "needs_bytes", json_of_needs(f->host_needs, f->host_need_count));
    json_put(host, "steps_s", json_of_steps(f->host_steps, f->host_step_count));
    json_put(object, "host", host);
    for (size_t i = 0; i < f->device_count; i++)
        json_add(devices, json_of_device_forecast(&f->devices[i]));
    json_put(object, "devices", devices);
    const ley_report noted = {.note_count = f->note_count, .notes = f->notes};
    json_put(object, "method", json_of_notes(&noted));
    json_put(object, "devices_s", json_number(f->devices_s));
    json_put(object, "total_s", json_number(f->total_s));
    return object;
}

static json_t *json_on_ranks(const ley_link *link, const ley_ranks_forecast *r)
{
    json_t *object = json_object();
    json_put(object, "own_s", json_number(r->own_s));
    json_put(object, "atoms_share", json_number(r->atoms_share));
    json_put(object, "spread_together", json_boolean(r->is_spread_together));
    json_put(object, "transformed_together", json_boolean(r->is_transformed_together));
    json_put(object, "local_levels", link->by_parts ? json_count(r->local_levels) : json_null());
    json_put(object, "exchange_s", json_number(r->exchange_s));
    json_put(object, "exchanged_bytes", json_number(r->exchanged_bytes));
    json_put(object, "dealt_s", json_number(r->dealt_s));
    json_put(object, "counter_s", json_number(r->counter_s));
    json_put(object, "gather_s", json_number(r->gather_s));
    json_put(object, "total_s", json_number(r->total_s));
    json_put(object, "counter_bytes", json_number(r->counter_bytes));
    json_put(object, "gathered_bytes", json_number(r->gathered_bytes));
    json_put(object, "written_bytes", json_number(r->written_bytes));
    json_put(object, "pieces", json_number(r->pieces));
    json_put(object, "all_pieces", json_number(r->all_pieces));
    json_put(object, "host_bytes", json_number(r->host_bytes));
    json_put(object, "device_bytes", json_number(r->device_bytes));
    return object;
}

json_t *json_of_ranks_forecast(const ley_job *job, const ley_link *link, bool are_written)
{
    ley_ranks_forecast r;
    ley_link parts = *link;
    ley_job_forecast_ranks(job, link, are_written, &r);
    json_t *object = json_on_ranks(link, &r);
    json_put(object, "count", json_count(link->ranks));
    json_put(object, "link_bytes_per_s", json_number(link->bytes_per_s));
    json_put(object, "link_latency_s", json_number(link->latency_s));
    parts.by_parts = true;
    json_put(object, "by_parts",
             ley_job_forecast_ranks(job, &parts, are_written, &r) ? json_on_ranks(&parts, &r) : json_null());
    return object;
}
