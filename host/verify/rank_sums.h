/* Sums over all atoms, of which each rank has a part: rank 0 asks for them at some places, each
 * rank sums over its own atoms there, and the sums are added. */
#ifndef LEY_VERIFY_RANK_SUMS_H
#define LEY_VERIFY_RANK_SUMS_H

#include "law/reference.h"
#include "law/tolerance_floor.h"
#include "schedule/job.h"

/* The end of a verification, on all ranks: of a job by parts those other than 0 answer until rank
 * 0 comes here, too. Errors: LEY_ERROR_MEMORY, and those of reference_begin(). */
ley_status rank_sums_end(ley_job *job, ley_status status, ley_error *error);

/* What the job sums; of a job by parts with this rank's share of the atoms. */
reference_terms rank_sums_terms(const ley_job *job);

typedef struct rank_sums_point {
    int64_t number; /* among the job's values */
    double place_A[3];
} rank_sums_point;

/* On rank 0, of terms that have begun: sums at n places, [n]; or fields, [n][3]. Errors:
 * LEY_ERROR_MEMORY, which ends all ranks. */
ley_status rank_sums_ask(const ley_job *job, const reference_terms *terms, size_t n, const rank_sums_point *points,
                         bool are_fields, reference_value *sums, ley_error *error);

/* As tolerance_terms_at(), of places where no atoms are excluded. Errors: the same. */
ley_status rank_sums_squares(const reference_terms *terms, size_t n, const tolerance_place *places,
                             tolerance_terms *made, ley_error *error);

/* On rank 0 all atoms are there from now on until the end (ley_atoms_all()): for what is rarely
 * asked. LEY_ERROR_MEMORY: it has no room for them, and goes on without. */
ley_status rank_sums_all_atoms(const ley_job *job, ley_error *error);

#endif
