#include "predictions.h"

#include <stdio.h>
#include <string.h>

static const char *name_of(const ley_note *phase)
{
    static const char prefix[] = "phase_";
    const size_t length = sizeof prefix - 1;
    return strncmp(phase->name, prefix, length) == 0 ? phase->name + length : phase->name;
}

/* The next phase from note *i on; NULL: there is none. */
static const ley_note *next_phase(const ley_report *report, size_t *i)
{
    while (report != NULL && *i < report->note_count) {
        const ley_note *note = &report->notes[(*i)++];
        if (note->kind == LEY_NOTE_PHASE)
            return note;
    }
    return NULL;
}

void print_predictions(const ley_report *report)
{
    const char *before = "phases: ";
    const ley_note *phase;
    for (size_t i = 0; (phase = next_phase(report, &i)) != NULL; before = "; ")
        printf("%s%s predicted %.2g s, took %.2g s%s", before, name_of(phase), phase->number[0], phase->number[1],
               phase->number[2] != 0 ? ": off by more than a factor of 2" : "");
    if (*before == ';')
        putchar('\n');
}

json_t *json_of_predictions(const ley_report *report)
{
    json_t *phases = json_object();
    const ley_note *phase;
    for (size_t i = 0; (phase = next_phase(report, &i)) != NULL;) {
        json_t *one = json_object();
        json_put(one, "predicted_s", json_number(phase->number[0]));
        json_put(one, "took_s", json_number(phase->number[1]));
        json_put(one, "off_by_more_than_2", json_boolean(phase->number[2] != 0));
        json_put(phases, name_of(phase), one);
    }
    return phases;
}
