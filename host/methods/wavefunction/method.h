/* Orbitals and densities as a method, and their benchmark; and potentials as another method, of the
 * same task. */
#ifndef LEY_WAVEFUNCTION_METHOD_H
#define LEY_WAVEFUNCTION_METHOD_H

#include "bench/bench.h"
#include "methods/wavefunction/task.h"
#include "schedule/job_memory.h"
#include "schedule/method.h"

extern const method method_wavefunction, method_esp;
extern const bench_subject bench_orbital;

/* What both methods do alike: of `method` and its first stage by the same names. */
void wavefunction_release(void *task, bool is_kept);
void wavefunction_host_needs(const void *task, job_needs *needs);
int64_t wavefunction_count_planes(const void *task);
int64_t wavefunction_count_points(const void *task, slab s);
int64_t wavefunction_point_number(const void *task, slab s, int64_t i);
ley_map *const *wavefunction_maps(const void *task, size_t *count);
double *wavefunction_list(const void *task);
double wavefunction_value_at(const void *task, int64_t number, double place_A[3]);
int64_t wavefunction_plane_points(const wavefunction_task *task);

/* What the host does of a task by the formulas alone, each value in so many seconds. False: maps
 * are files, or no orbital has electrons. */
struct host_sum;
bool wavefunction_by_host(const wavefunction_task *task, double value_s, struct host_sum *sum);

/* The job of a task; LEY_ERROR_USAGE where it is to fill maps that have no values. */
ley_status wavefunction_take_job(wavefunction_task *task, const job_view *job, ley_error *error);

/* The place of a point of a job's maps or list in bohr, counted from the first of a slab. */
typedef struct slab_points {
    const wavefunction_task *task;
    int64_t first;
} slab_points;
void wavefunction_place(const void *slab_points, int64_t i, double place[3]);

/* The planes of all values for somebody who fills them; those that were taken are given back. */
ley_status wavefunction_take_planes(const wavefunction_task *task, slab piece, float **planes, size_t *taken,
                                    ley_error *error);
ley_status wavefunction_give_planes(const wavefunction_task *task, slab piece, float **planes, size_t taken,
                                    bool is_done, ley_error *error);

#endif
