#include "job_report.h"
#include "file.h"
#include "plan_file.h"
#include "predictions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double lap_s(double *last_s)
{
    double now = now_s(), lap = now - *last_s;
    *last_s = now;
    return lap;
}

/* ---- Comments in the files ------------------------------------------------------------------- */

void put_name(FILE *to, const char *before, const char *name)
{
    fputs(before, to);
    for (; *name != '\0'; name++)
        fputc((unsigned char)*name < ' ' ? '?' : *name, to);
}

void put_molecule(FILE *to, const char *path, const ley_atoms *atoms)
{
    put_name(to, "molecule: ", base_name(path));
    const size_t n = ley_atoms_whole_count(atoms);
    fprintf(to, ", %zu atom%s, total charge %.6g e\n", n, n == 1 ? "" : "s", ley_atoms_total_charge_e(atoms));
}

/* Whether another rank's devices are like some before them: the same plan makes the same bytes on
 * however many ranks. */
static bool is_like_before(const ley_report *report, size_t i)
{
    const ley_device_report *own = &report->devices[i];
    for (size_t k = 0; own->rank > 0 && k < i; k++) {
        const ley_device_report *d = &report->devices[k];
        const char *pairs[][2] = {{d->device->name, own->device->name},
                                  {d->device->driver, own->device->driver},
                                  {d->variant, own->variant},
                                  {d->root, own->root},
                                  {d->exp, own->exp}};
        bool is_like = d->points > 0;
        for (size_t n = 0; n < sizeof pairs / sizeof *pairs; n++)
            is_like =
                is_like && strcmp(pairs[n][0] != NULL ? pairs[n][0] : "", pairs[n][1] != NULL ? pairs[n][1] : "") == 0;
        if (is_like)
            return true;
    }
    return false;
}

void put_devices(FILE *to, const ley_report *report)
{
    if (report->host != NULL)
        fprintf(to, "computed by: the host, %s in double precision\n", report->host);
    for (size_t i = 0; i < report->device_count; i++) {
        const ley_device_report *device = &report->devices[i];
        if (device->points == 0 || device->variant == NULL || is_like_before(report, i))
            continue;
        put_name(to, "device: ", device->device->name);
        put_name(to, ", driver ", device->device->driver);
        fprintf(to, ", variant %s", device->variant);
        if (device->root != NULL)
            fprintf(to, ", root %s", device->root);
        if (device->exp != NULL)
            fprintf(to, ", exp %s", device->exp);
        fputc('\n', to);
    }
}

/* An error of values that are to be 0 is no share of them. */
short_text relative_text(double relative_rms)
{
    return isinf(relative_rms) ? text_of("infinite (all exact values are nearly 0)") : text_of("%.2g", relative_rms);
}

/* Of the points that the seed decides: the same command makes the same bytes. */
void put_accuracy(FILE *to, const ley_report *report)
{
    const ley_accuracy *a = &report->seeded_accuracy;
    const short_text points = text_of("%zu point%s", a->points, a->points == 1 ? "" : "s");
    if (a->points > 0 && a->compared == 0)
        fprintf(to, "accuracy: nothing to compare at %s: their terms are too small\n", points.s);
    else if (a->points > 0)
        fprintf(to, "accuracy: error at most %.2g of %s at %s, relative RMS %s, absolute RMS %.2g\n", a->max_error,
                report->error_scale, points.s, relative_text(a->relative_rms).s, a->absolute_rms);
    if (report->host_check != NULL)
        fprintf(to, "verified against: %s\n", report->host_check);
    a = &report->field_accuracy;
    if (a->points > 0)
        fprintf(to, "accuracy of the field: relative RMS %s, absolute RMS %.2g at %zu point%s\n",
                relative_text(a->relative_rms).s, a->absolute_rms, a->points, a->points == 1 ? "" : "s");
}

void comment_begin(comment_text *comment)
{
    *comment = (comment_text){.text = NULL};
    comment->stream = open_memstream(&comment->text, &comment->size);
    if (comment->stream == NULL)
        exit(fail(LEY_ERROR_MEMORY, "out of memory for a header"));
}

char *comment_end(comment_text *comment)
{
    if (fclose(comment->stream) != 0)
        exit(fail(LEY_ERROR_MEMORY, "out of memory for a header"));
    comment->text[comment->size - 1] = '\0'; /* the last line break is the writer's */
    return comment->text;
}

/* ---- Text on stdout -------------------------------------------------------------------------- */

void print_molecule(const char *path, const ley_atoms *atoms)
{
    const double charge_e = round(1e4 * ley_atoms_total_charge_e(atoms)) / 1e4 + 0.0; /* no -0.0000 */
    printf("molecule: %s, %s, total charge %+.4f e\n", base_name(path),
           counted_text((int64_t)ley_atoms_whole_count(atoms), "atom").s, charge_e);
}

short_text spacing_text(const ley_grid *grid)
{
    double h_A[3];
    ley_grid_spacing_A(grid, h_A);
    const double rounding_A = 1e-6 * h_A[0]; /* of what is printed, and of files in floats */
    const bool is_one = fabs(h_A[1] - h_A[0]) <= rounding_A && fabs(h_A[2] - h_A[0]) <= rounding_A;
    return is_one ? text_of("%.6g", h_A[0]) : triple_text(h_A);
}

short_text box_text(const ley_grid *grid)
{
    double length_A[3];
    ley_grid_spacing_A(grid, length_A);
    for (int axis = 0; axis < 3; axis++)
        length_A[axis] *= (double)(grid->n[axis] - 1);
    return text_of("%.6g x %.6g x %.6g A", length_A[0], length_A[1], length_A[2]);
}

/* Of a kernel that has such a thing. */
static void print_recipe(const char *what, const char *name)
{
    if (name != NULL)
        printf("%s %s, ", what, name);
}

/* What a device was at when it was let go, of its report's `late`. */
static const char *still_at(const char *late)
{
    return strcmp(late, "open") == 0    ? "being opened"
           : strcmp(late, "build") == 0 ? "compiling its kernels"
                                        : "preparing itself";
}

/* Why a device did nothing, without its name, which stands before it. */
static const char *why_nothing(const ley_device_report *device)
{
    const char *why = device->failure != NULL ? device->failure : ley_status_text(device->status);
    const size_t length = strlen(device->device->name);
    return strncmp(why, device->device->name, length) == 0 && strncmp(why + length, ": ", 2) == 0 ? why + length + 2
                                                                                                  : why;
}

/* Each rank numbers its own. */
static short_text device_text(const ley_device_report *device)
{
    return device->rank > 0 ? text_of("rank %d's device %d", device->rank, device->device->index)
                            : text_of("device %d", device->device->index);
}

static void print_device(const ley_device_report *device)
{
    printf("%s: %s, ", device_text(device).s, device->device->name);
    if (device->status == LEY_OK && device->points == 0) {
        if (device->late != NULL)
            printf("was not used: the job was done while it was still %s\n", still_at(device->late));
        else
            printf("idle\n");
    } else if (device->status == LEY_OK) {
        printf("%.1f %% of the points, ", 100 * device->share);
        print_recipe("variant", device->variant);
        print_recipe("root", device->root);
        print_recipe("exp", device->exp);
        printf("%s/s, ready in %s%s\n", billions_text(device->evaluations_per_s).s, seconds_text(device->build_s).s,
               device->from_cache ? " (its summing kernel from the cache)" : "");
    } else if (device->points == 0) {
        printf("was not used: %s\n", why_nothing(device));
    } else {
        printf("%.1f %% of the points, then %s\n", 100 * device->share, ley_status_text(device->status));
    }
}

/* Who did a stage, and from when to when. */
static void print_stage(const ley_report *report, const ley_stage_report *s)
{
    printf(" %s %.3g to %.3g s", device_text(&report->devices[s->device]).s, s->start_s, s->end_s);
    if (s->from != s->device)
        printf(" from %s", device_text(&report->devices[s->from]).s);
    if (!s->is_done)
        printf(" in vain");
}

static bool is_first_of_name(const ley_report *report, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (strcmp(report->stages[i].name, report->stages[at].name) == 0)
            return false;
    return true;
}

/* Of several devices, stage by stage. */
static void print_schedule(const ley_report *report)
{
    const char *before = "schedule: ";
    for (size_t i = 0; report->device_count > 1 && i < report->stage_count; i++) {
        if (!is_first_of_name(report, i))
            continue;
        printf("%s%s:", before, report->stages[i].name);
        for (size_t k = i; k < report->stage_count; k++)
            if (strcmp(report->stages[k].name, report->stages[i].name) == 0) {
                fputs(k > i ? "," : "", stdout);
                print_stage(report, &report->stages[k]);
            }
        before = "; ";
    }
    if (before[0] == ';')
        putchar('\n');
}

void print_work(const ley_report *report, const char *what, bool asks_host)
{
    for (size_t i = 0; report != NULL && i < report->device_count; i++)
        print_device(&report->devices[i]);
    if (report != NULL && report->host != NULL)
        printf("computed by: the host, %s in double precision%s\n", report->host,
               report->missed_count > 0 ? ", which reaches the tolerance"
               : asks_host              ? ""
                                        : ": faster than opening a device");
    if (report != NULL)
        print_schedule(report);
    if (report != NULL)
        printf("rate: %s %s, %.4g in all\n", billions_text(report->evaluations_per_s).s,
               what != NULL ? what : "evaluations/s", report->evaluations);
}

/* Of the time of computing, which devices needed to be ready: the longest. */
static double building_s(const phase_times *phases, const ley_report *report)
{
    double most_s = 0;
    for (size_t i = 0; report != NULL && i < report->device_count; i++)
        most_s = fmax(most_s, report->devices[i].build_s);
    return fmin(most_s, phases->computing_s);
}

void print_times(const phase_times *phases, const ley_report *report)
{
    const double ready_s = building_s(phases, report);
    if (ley_ranks_count() > 1)
        printf("times: waiting for the other ranks %s, ", seconds_text(phases->waiting_s).s);
    else
        fputs("times: ", stdout);
    printf("reading %s, preparing %s, building kernels %s, computing %s, verifying %s, writing %s, total %s\n",
           seconds_text(phases->reading_s).s, seconds_text(phases->preparing_s).s, seconds_text(ready_s).s,
           seconds_text(phases->computing_s - ready_s).s, seconds_text(phases->verifying_s).s,
           seconds_text(phases->writing_s).s, seconds_text(now_s() - phases->start_s).s);
}

void print_total(const phase_times *phases, const ley_report *report)
{
    const char *before = " on ";
    printf("time: %s", seconds_text(now_s() - phases->start_s).s);
    for (size_t i = 0; report != NULL && i < report->device_count; i++) {
        const ley_device_report *device = &report->devices[i];
        if (device->points == 0)
            continue;
        printf("%s%s (%s, %s)", before, device_text(device).s, device->device->name, device->device->path);
        before = ", ";
    }
    fputs(before[0] == ',' ? "" : " on the host", stdout);
    if (report != NULL && report->ranks > 1)
        printf(", by %d ranks: %s gathered in %s over a link of %.3g us and %s/s", report->ranks,
               bytes_text((uint64_t)report->gathered_bytes).s, seconds_text(report->gather_s).s,
               1e6 * report->link_latency_s, bytes_text((uint64_t)report->link_bytes_per_s).s);
    if (report != NULL && report->kept_points > 0)
        printf("; %s values were there already", count_text(report->kept_points).s);
    putchar('\n');
}

void print_error(const ley_report *report)
{
    if (report == NULL)
        return;
    const ley_accuracy *a = &report->accuracy, *field = &report->field_accuracy;
    if (a->points == 0)
        printf("; error not measured (--verify 0)");
    else if (a->compared == 0)
        printf("; error not measured: the terms are too small at all of %s",
               counted_text((int64_t)a->points, "point").s);
    else if (report->tolerance_floor > 0 || isinf(a->relative_rms))
        printf("; absolute RMS error %.2g at %s, where terms cancel or are screened to nearly 0", a->absolute_rms,
               counted_text((int64_t)a->points, "point").s);
    else
        printf("; relative RMS error %.2g at %s", a->relative_rms, counted_text((int64_t)a->points, "point").s);
    if (field->points > 0)
        printf(", of the field %s", relative_text(field->relative_rms).s);
}

/* Where the terms nearly cancel, and doubles would say more. */
static const double few_digits = 1e-5;

void print_accuracy(const ley_report *report)
{
    if (report == NULL || report->accuracy.points == 0)
        return;
    const ley_accuracy *a = &report->accuracy;
    const short_text points = counted_text((int64_t)a->points, "point"), on_host = count_text((int64_t)a->host_points);
    if (a->compared == 0) {
        printf("accuracy: nothing to compare: the terms are too small at all of %s\n", points.s);
        return;
    }
    printf("accuracy: error at most %.2g of %s at %s, %s of them on the host (limit %.2g); relative RMS %s, "
           "absolute RMS %.2g\n",
           a->max_error, report->error_scale, points.s, a->host_points == a->points ? "all" : on_host.s, a->tolerance,
           relative_text(a->relative_rms).s, a->absolute_rms);
    a = &report->field_accuracy;
    if (a->points > 0)
        printf("accuracy of the field: error at most %.2g of %s at %s, all of them on the host (limit %.2g); relative "
               "RMS %s, absolute RMS %.2g\n",
               a->max_error, report->field_error_scale, counted_text((int64_t)a->points, "point").s, a->tolerance,
               relative_text(a->relative_rms).s, a->absolute_rms);
    if (report->host_check != NULL)
        printf("verified against: %s\n", report->host_check);
    if (report->float_relative_rms > 0)
        printf("sum: double, since terms nearly cancel: the relative RMS of floats was %.2g\n",
               report->float_relative_rms);
    else if (a->relative_rms > few_digits && report->sum != LEY_SUM_DOUBLE && report->double_has_more_digits)
        printf("note: terms nearly cancel at many points; a double sum (--sum auto) is more accurate there\n");
}

void print_written(const char *path, double seconds)
{
    const uint64_t bytes = file_size(path);
    printf("written: %s, %s", path, bytes_text(bytes).s);
    if (bytes > 0 && seconds > 0)
        printf(", %s/s", bytes_text((uint64_t)((double)bytes / seconds)).s);
    printf("\n");
}

static void print_failure(const ley_device_report *device, const ley_error *error, bool alone)
{
    const char *why = device->failure != NULL ? device->failure : ley_status_text(device->status);
    if (error->status == LEY_OK && device->device->name[0] == '\0')
        warn("rank %d has computed nothing: %s", device->rank, why);
    else if (error->status == LEY_OK)
        warn("%s, %s, left the job: %s", device_text(device).s, device->device->name, why);
    else if (!alone) /* a single device's reason is the error's message */
        fail(device->status, "%s, %s: %s", device_text(device).s, device->device->name, why);
    if (device->failure_log != NULL && (error->log == NULL || strcmp(error->log, device->failure_log) != 0))
        fprintf(stderr, "%s\n", device->failure_log);
}

void print_failures(const ley_report *report, const ley_error *error)
{
    for (size_t i = 0; i < report->device_count; i++) {
        const ley_device_report *device = &report->devices[i];
        const bool is_told = device->status == LEY_ERROR_FILE && error->status == LEY_ERROR_FILE; /* by the error */
        if (device->status != LEY_OK && device->status != LEY_CANCELLED && !is_told)
            print_failure(device, error, report->device_count == 1);
    }
}

/* ---- JSON ------------------------------------------------------------------------------------ */

json_t *json_of_molecule(const char *path, const ley_atoms *atoms)
{
    json_t *molecule = json_object();
    double low_A[3], high_A[3];
    ley_atoms_bounds_A(atoms, low_A, high_A);
    json_put(molecule, "file", json_text(path));
    json_put(molecule, "atoms", json_count((int64_t)ley_atoms_whole_count(atoms)));
    json_put(molecule, "total_charge_e", json_number(ley_atoms_total_charge_e(atoms)));
    json_put(molecule, "low_A", json_numbers(low_A, 3));
    json_put(molecule, "high_A", json_numbers(high_A, 3));
    return molecule;
}

json_t *json_of_phases(const phase_times *phases)
{
    json_t *seconds = json_object();
    if (ley_ranks_count() > 1)
        json_put(seconds, "waiting", json_number(phases->waiting_s));
    json_put(seconds, "reading", json_number(phases->reading_s));
    json_put(seconds, "preparing", json_number(phases->preparing_s));
    json_put(seconds, "computing", json_number(phases->computing_s));
    json_put(seconds, "verifying", json_number(phases->verifying_s));
    json_put(seconds, "writing", json_number(phases->writing_s));
    json_put(seconds, "total", json_number(now_s() - phases->start_s));
    return seconds;
}

void json_put_work(json_t *object, const ley_report *report)
{
    json_put(object, "devices", report != NULL ? json_of_device_reports(report) : json_array());
    json_put(object, "host", json_text(report != NULL ? report->host : NULL));
    json_put(object, "host_check", json_text(report != NULL ? report->host_check : NULL));
    json_put(object, "evaluations", report != NULL ? json_number(report->evaluations) : json_null());
    json_put(object, "evaluations_per_s", report != NULL ? json_number(report->evaluations_per_s) : json_null());
    json_put(object, "sum", json_text(report != NULL ? SUM_NAME(report->sum) : NULL));
    json_put(object, "float_relative_rms",
             report != NULL && report->float_relative_rms > 0 ? json_number(report->float_relative_rms) : json_null());
    json_put(object, "accuracy", report != NULL ? json_of_accuracy(&report->accuracy) : json_null());
    json_put(object, "error_scale", json_text(report != NULL ? report->error_scale : NULL));
    json_put(object, "seeded_accuracy", report != NULL ? json_of_accuracy(&report->seeded_accuracy) : json_null());
    json_put(object, "field_accuracy", report != NULL ? json_of_accuracy(&report->field_accuracy) : json_null());
    json_put(object, "field_error_scale",
             json_text(report != NULL && report->field_accuracy.points > 0 ? report->field_error_scale : NULL));
    json_put(object, "slabs", report != NULL ? json_of_slabs(report) : json_array());
    if (report != NULL && report->kept_points > 0)
        json_put(object, "kept_points", json_count(report->kept_points));
    if (report != NULL && report->ranks > 1) {
        json_t *ranks = json_object();
        json_put(ranks, "count", json_count(report->ranks));
        json_put(ranks, "gathered_bytes", json_count(report->gathered_bytes));
        json_put(ranks, "gather_s", json_number(report->gather_s));
        json_put(ranks, "link_latency_s", json_number(report->link_latency_s));
        json_put(ranks, "link_bytes_per_s", json_number(report->link_bytes_per_s));
        json_put(object, "ranks", ranks);
    }
    json_put(object, "schedule", report != NULL ? json_of_schedule(report) : json_array());
    json_put(object, "phases", json_of_predictions(report));
    json_put(object, "plan", json_of_plan(report));
}

static json_t *json_of_note(const ley_note *note)
{
    switch (note->kind) {
    case LEY_NOTE_COUNT:
        return json_count(note->count);
    case LEY_NOTE_NUMBER:
        return json_number(note->number[0]);
    case LEY_NOTE_VECTOR:
        return json_numbers(note->number, 3);
    case LEY_NOTE_PHASE: /* json_of_predictions() has them */
    case LEY_NOTE_TEXT:
        break;
    }
    return json_text(note->text);
}

json_t *json_of_notes(const ley_report *report)
{
    if (report->note_count == 0)
        return json_null();
    json_t *object = json_object();
    for (size_t i = 0; i < report->note_count; i++)
        if (report->notes[i].kind != LEY_NOTE_PHASE)
            json_put(object, report->notes[i].name, json_of_note(&report->notes[i]));
    return object;
}
