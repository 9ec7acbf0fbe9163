/* A job that several ranks do together (ranks.h). Each has all of the input and the same plan;
 * slabs of the result are dealt on a counter of all ranks, so that whoever is faster takes more and
 * the last ones are small; what a rank cannot do is dealt anew. Values and reports come to rank 0,
 * to which each of the others is one more device. */
#ifndef LEY_SCHEDULE_RANK_SHARE_H
#define LEY_SCHEDULE_RANK_SHARE_H

#include "schedule/job.h"

/* What rank 0 knows of another one. */
typedef struct rank_record {
    ley_device_info info; /* of its first device that has done something; its texts: */
    char path[16], platform[96], vendor[96], name[128], driver[128], version[96];
    char variant[32], root[64], exp[64]; /* empty: none */
    ley_device_report report;            /* of all of its devices together */
    char failure[512];
    int64_t slabs; /* that it has done */
} rank_record;

/* Begins a run: whether ranks share the job, and whether these have the same one. They share no job
 * that runs again and again, and none whose values are in no map and no list. LEY_ERROR_USAGE: they
 * have different ones. */
ley_status rank_share_begin(ley_job *job, ley_error *error);

/* What rank 0 says, of a job that is shared; else what is said here. */
bool rank_share_agree(const ley_job *job, bool said);

/* Of a job by parts what all ranks have together; else what is said here. */
double rank_share_sum(const ley_job *job, double own);

/* The meshes that rank 0 has chosen, for all; the name of transforms is in `fft` then. */
enum { RANK_FFT = 32 };
void rank_share_range(ley_long_range *range, char fft[RANK_FFT]);

/* Whether this rank judges values and writes reports. */
bool rank_share_is_first(const ley_job *job);

/* Runs what is open of the job, here by `run`, until no rank has anything left to do. Errors: those
 * of `run`, where no rank can go on; others than of devices end all ranks. */
ley_status rank_share_run(ley_job *job, ley_status (*run)(ley_job *job, ley_error *error), ley_error *error);

/* Values of all ranks come to rank 0, with what each has done. */
ley_status rank_share_gather(ley_job *job, ley_error *error);

/* The same of pieces that the host's threads do, of planes of the map, or of values: the queue, of
 * which nobody has taken anything, is shared; what was taken of it, in *taken, comes to rank 0. `set`: of values that
 * only the method can put in their place; or NULL. */
typedef struct rank_values {
    ley_map *map;
    double *value, *field;
    double (*get)(const void *context, int64_t number); /* in place of map and value; or NULL. And: */
    void (*set)(const void *context, int64_t number, double value);
    const void *context;
} rank_values;
void rank_share_pieces(const ley_job *job, slab_queue *queue);
ley_status rank_share_gather_pieces(ley_job *job, const rank_values *values, const slab *taken, size_t count,
                                    ley_error *error);

/* The records of others go into the report, behind those of this rank's devices. */
void rank_share_complete_report(ley_job *job);

#endif
