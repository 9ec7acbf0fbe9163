/* The field that a job has beside its values is measured as these are: at some of the points,
 * against the derivative of the method's formula in double precision, by the host. */
#ifndef LEY_VERIFY_FIELD_VERIFICATION_H
#define LEY_VERIFY_FIELD_VERIFICATION_H

#include "law/accuracy.h"
#include "schedule/job.h"

typedef struct field_point {
    int64_t number; /* among the job's values */
    size_t device;  /* that computed it */
    bool is_fixed;  /* one of those that reports speak of */
    double place_A[3];
    double weight; /* for how many points it stands, where the field is measured by a stratified sample */
} field_point;

/* Whether the job has a field. */
bool field_is_there(const ley_job *job, int64_t number);

/* Judges n of its points, [n]; `limits` those of values. `squares`: of the field of all points that
 * the fixed ones stand for; 0: they stand for themselves. Devices whose field is off are told in
 * `is_wrong`, by index, and their records say why; the report has the accuracy. Errors:
 * LEY_ERROR_MEMORY, LEY_CANCELLED. */
ley_status field_verification(ley_job *job, const reference_terms *terms, accuracy_limits limits, size_t n,
                              const field_point *points, double squares, bool *is_wrong, ley_error *error);

/* The limits of the field, by those of the values. */
accuracy_limits field_limits(const method *m, accuracy_limits limits);

#endif
