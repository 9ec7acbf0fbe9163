/* Orbitals and densities as a method, and their benchmark; and potentials as another method, of the
 * same task. */
#ifndef LEY_WAVEFUNCTION_METHOD_H
#define LEY_WAVEFUNCTION_METHOD_H

#include "bench/bench.h"
#include "methods/wavefunction/task.h"
#include "schedule/method.h"

extern const method method_wavefunction, method_esp;
extern const bench_subject bench_orbital;

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
