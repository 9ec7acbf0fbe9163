/* Values that the host has made itself are held against a second sum (law/second.h), which is not
 * the function that made them. */
#ifndef LEY_VERIFY_SECOND_CHECK_H
#define LEY_VERIFY_SECOND_CHECK_H

#include "law/accuracy.h"
#include "law/second.h"

#include <stdatomic.h>

typedef struct second_point {
    double place_A[3], value, field[3];
    bool has_field;                        /* it is wanted; afterwards: and the second sum has it, too */
    reference_terms terms;                 /* the second sum's at this point, which have begun */
    reference_value right, right_field[3]; /* made by the check */
} second_point;

/* At n points, on all cores; of fields at those that have one from both ways. `nothing`: of
 * accuracy_limits. The second sum's terms have begun (reference_begin()). Errors:
 * LEY_ERROR_WRONG_RESULT, LEY_ERROR_MEMORY, LEY_CANCELLED. */
ley_status second_check(const second_sum *second, size_t n, second_point *points, double nothing,
                        const atomic_bool *cancelled, ley_accuracy *accuracy, ley_accuracy *field_accuracy,
                        ley_error *error);

#endif
