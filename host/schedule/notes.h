/* What a method has to say of a job: names and values, which reports print as they are. */
#ifndef LEY_SCHEDULE_NOTES_H
#define LEY_SCHEDULE_NOTES_H

#include "leyden.h"

enum { NOTES_MOST = 64 };

/* Names and texts are literals, or live as long as the job. What is behind the last of NOTES_MOST
 * is lost. */
typedef struct notes {
    size_t count;
    ley_note list[NOTES_MOST];
} notes;

void notes_count(notes *n, const char *name, int64_t value);
void notes_number(notes *n, const char *name, double value);
void notes_vector(notes *n, const char *name, const double value[3]);
void notes_text(notes *n, const char *name, const char *value);

/* "phase_X": what it was predicted to take, and took; no note where nobody predicted it. */
void notes_phase(notes *n, const char *name, double predicted_s, double taken_s);

/* "auto", "host", "device". */
void notes_place(notes *n, const char *name, ley_place place);

#endif
