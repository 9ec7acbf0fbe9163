/* Which boundaries of an APBS input are computed, and which are left to APBS: by the seconds that
 * either way takes. */
#ifndef LEYDEN_APBS_PLAN_H
#define LEYDEN_APBS_PLAN_H

#include "boundary_job.h"

enum {
    PLAN_ELECS_MAX = 20, /* as APBS has */
    PLAN_FLOAT_ATOMS_LEAST = 2000
};

typedef struct plan_settings {
    int stride;  /* a choice of --boundary-stride */
    ley_sum sum; /* LEY_SUM_AUTO: double for molecules with fewer than PLAN_FLOAT_ATOMS_LEAST atoms where all
                   devices can, else float */
    int threads; /* OpenMP threads of APBS */
    bool force;
    bool is_for_host; /* which computes alone, in double */
} plan_settings;

typedef struct elec_plan {
    const ley_apbs_elec *elec;
    const ley_atoms *atoms; /* that make the boundary, and the file they are from; NULL when APBS alone knows them */
    const char *path;
    size_t first; /* index of the first ELEC section with the same boundary, or its own */
    bool candidate, use;
    ley_sum sum;
    char reason[512]; /* why it is left alone, or what else there is to say; empty: nothing */
    int64_t points;
    double native_s,
        expected_s; /* of APBS alone; of computing and handing over, `first` for all that share the boundary */
    /* Of a `first` that was computed. */
    ley_boundary *boundary;
    ley_job *job;
    const ley_report *report; /* NULL for SDH */
    int stride;               /* 0: not computed */
    double stride_error, computing_s;
    char *map; /* its file, or NULL */
} elec_plan;

typedef struct apbs_plan {
    const ley_apbs_input *input;
    plan_settings settings;
    size_t n;
    elec_plan elec[PLAN_ELECS_MAX];
} apbs_plan;

/* Finds the candidates and the sections that share a boundary. */
void plan_begin(apbs_plan *plan, const ley_apbs_input *input, const plan_settings *settings);

/* Whether any device can be of use, however fast. */
bool plan_needs_engine(const apbs_plan *plan);

/* Decides; `engine` is NULL where none is needed. Errors: LEY_ERROR_USAGE for a stride that does
 * not fit; those of ley_apbs_input_check_maps(). */
ley_status plan_decide(apbs_plan *plan, const ley_engine *engine, ley_error *error);

/* "run.in:12: ELEC 2 (mdh)". */
short_text plan_name(const apbs_plan *plan, size_t i, const char *input);

json_t *plan_json(const apbs_plan *plan, size_t i);

void plan_end(apbs_plan *plan);

#endif
