#include "schedule/notes.h"

#include <math.h>
#include <string.h>

/* Shorter phases are not judged: starting threads, or being interrupted once, is all that they
 * are. And the ratio beyond which a prediction is wrong. */
static const double least_judged_s = 0.01, most_off = 2;

static void add(notes *n, ley_note note)
{
    if (n->count < NOTES_MOST)
        n->list[n->count++] = note;
}

void notes_count(notes *n, const char *name, int64_t value)
{
    add(n, (ley_note){.name = name, .kind = LEY_NOTE_COUNT, .count = value});
}

void notes_number(notes *n, const char *name, double value)
{
    add(n, (ley_note){.name = name, .kind = LEY_NOTE_NUMBER, .number = {value}});
}

void notes_vector(notes *n, const char *name, const double value[3])
{
    add(n, (ley_note){.name = name, .kind = LEY_NOTE_VECTOR, .number = {value[0], value[1], value[2]}});
}

void notes_text(notes *n, const char *name, const char *value)
{
    add(n, (ley_note){.name = name, .kind = LEY_NOTE_TEXT, .text = value});
}

void notes_phase(notes *n, const char *name, double predicted_s, double taken_s)
{
    const double larger = fmax(predicted_s, taken_s), smaller = fmin(predicted_s, taken_s);
    const bool is_off = larger >= least_judged_s && larger > most_off * smaller;
    if (predicted_s > 0 && taken_s > 0)
        add(n, (ley_note){.name = name, .kind = LEY_NOTE_PHASE, .number = {predicted_s, taken_s, is_off ? 1 : 0}});
}

void notes_place(notes *n, const char *name, ley_place place)
{
    static const char *const names[] = {LEY_PLACE_TABLE(LEY_NAME)};
    notes_text(n, name, names[place]);
}

const ley_note *ley_report_note(const ley_report *report, const char *name)
{
    for (size_t i = 0; i < report->note_count; i++)
        if (strcmp(report->notes[i].name, name) == 0)
            return &report->notes[i];
    return NULL;
}
