/* --plan: the decisions of a former job, from a file; and what reports say of them. */
#ifndef LEYDEN_PLAN_FILE_H
#define LEYDEN_PLAN_FILE_H

#include "json.h"

/* A plan that was read: decisions, and the texts that they point to. It begins as zeros. */
typedef struct plan_file {
    size_t count;
    ley_decision *decisions;
    char **texts;
    size_t text_count;
} plan_file;

/* Reads a report that --json wrote, or a plan alone. NULL: there is none, which is fine. Errors:
 * LEY_ERROR_FILE; LEY_ERROR_INPUT with the file, the line or the member, and what is wrong. */
ley_status plan_file_read(const char *path, plan_file *plan, ley_error *error);
void plan_file_release(plan_file *plan);

/* What it says of the whole job; NULL: nothing. */
const char *plan_file_word(const plan_file *plan, const char *name);

/* Puts the file's name before what the library says of its plan. */
void plan_file_explain(const char *path, ley_error *error);

/* {"method": ..., "math": ..., ..., "devices": [{"device": ..., "slab": 12, ...}, ...]}; null where
 * nothing was computed by a plan. */
json_t *json_of_plan(const ley_report *report);

#endif
