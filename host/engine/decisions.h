/* Plans: a job's decisions that follow from what was measured, as texts that a later job can be
 * given. A decision is the whole job's, or one device's. */
#ifndef LEY_ENGINE_DECISIONS_H
#define LEY_ENGINE_DECISIONS_H

#include "device.h"
#include "leyden.h"

/* What may stand in a plan. Rows of a method end with one that has no name. */
typedef struct plan_row {
    const char *name;
    bool of_device;
    const char *const *words; /* that its value may be, NULL behind the last; NULL: whole numbers, or any */
    int64_t low, high;
    bool is_real; /* any number */
} plan_row;

extern const char *const plan_places[]; /* "host", "device": words of a step's place */
extern const char *const plan_maths[];  /* of ley_math */

/* LEY_MATH_AUTO for what is no such word. */
ley_math plan_math(const char *word);

typedef struct job_plan {
    size_t count, capacity;
    ley_decision *list; /* all of its own */
} job_plan;

/* LEY_ERROR_USAGE where decision i has no name, or no value. */
ley_status plan_check_whole(const ley_decision *list, size_t i, ley_error *error);

/* A plan of its own with these decisions. LEY_ERROR_MEMORY; LEY_ERROR_USAGE as above. */
ley_status plan_of_list(const ley_decision *list, size_t count, job_plan **made, ley_error *error);

/* NULL is the copy of NULL. */
ley_status plan_copy(const job_plan *given, job_plan **copy, ley_error *error);
void plan_destroy(job_plan *given);

/* Writing: `device` NULL is the whole job. What memory does not suffice for is left out. */
void plan_add(job_plan *made, const dev_info *device, const char *name, const char *value);
void plan_add_number(job_plan *made, const dev_info *device, const char *name, int64_t value);
void plan_add_real(job_plan *made, const dev_info *device, const char *name, double value);

/* What a list of decisions, as callers give it, says of a device, or NULL: of the whole job. Some
 * may lack a name or a value, which plan_take() refuses. NULL: it does not say. */
const char *plan_find(const ley_decision *list, size_t count, const char *device, const char *name);

/* Reading; `given` may be NULL. NULL and -1: it does not say. */
const char *plan_word(const job_plan *given, const dev_info *device, const char *name);
int64_t plan_number(const job_plan *given, const dev_info *device, const char *name);
int64_t plan_slab(const job_plan *given, const dev_info *device); /* pieces; 0: it does not say */
ley_place plan_place(const job_plan *given, const char *name);    /* LEY_PLACE_AUTO: it does not say */

double plan_real(const job_plan *given, const char *name); /* of the whole job; not a number: it does not say */

/* Whether a text is a whole number, or any one, and nothing else; whether a decision is of this
 * device, NULL being the whole job. */
bool plan_read_number(const char *text, int64_t *number);
bool plan_read_real(const char *text, double *number);
bool plan_is_of(const ley_decision *decision, const char *device);

/* Whether it has decisions of this device; and whether the device has a part in it: unless it names
 * devices, and not this one. */
bool plan_names(const job_plan *given, const dev_info *device);
bool plan_has(const job_plan *given, const dev_info *device);

/* LEY_ERROR_USAGE, with LEY_CAUSE_PLAN, and "plan: " before the message. */
ley_status plan_fail(ley_error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
