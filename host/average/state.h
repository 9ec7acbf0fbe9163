/* What an average is, as its files share it. */
#ifndef LEY_AVERAGE_STATE_H
#define LEY_AVERAGE_STATE_H

#include "average/chunks.h"
#include "average/density.h"
#include "average/mesh.h"
#include "engine/engine.h"
#include "leyden.h"

#include <pthread.h>
#include <stdatomic.h>

/* The charges and what follows from the options and the first frame's cell: fixed from then on. */
typedef struct average_problem {
    ley_average_options options;
    size_t atoms;
    double *charge_e, *quanta; /* [atoms]; the latter in units of the quantum of densities, 2^-exponent */
    float *quanta_float;
    double absolute_charge_e, square_charge_e; /* sums of |q| and q^2 */
    double coulomb_constant;
    bool is_fixed; /* the first frame is there: */
    double first_cell_A[9];
    average_mesh mesh;
    int64_t n[3];
    double origin[3];
    int exponent, chunk_frames;
} average_problem;

/* Densities of one block, whose frames come in any order. */
typedef struct block_sum {
    struct block_sum *next;
    int64_t number, frames;
    density density;
} block_sum;

/* Sums of frames that count for good. */
typedef struct average_sums {
    int64_t frames;     /* that are in */
    density density;    /* of blocks that are full */
    int64_t in_density; /* frames in it */
    block_sum *open;
} average_sums;

struct device_part;

struct ley_average {
    average_problem problem;
    ley_engine *engine;
    bool owns_engine;

    /* The caller's thread alone. */
    int64_t added;
    double cell_sum_A[9], start_s;
    double structure[2], structure_square; /* sums over frames of the factor of one wave, and of its square */
    bool cells_change;
    chunk *filling; /* not full; NULL: there is none */
    bool has_manager;
    pthread_t manager;

    atomic_bool is_cancelled;

    pthread_mutex_t mutex; /* for what follows */
    pthread_cond_t changed;
    chunk_list waiting, spare;
    int chunks;                         /* that exist */
    int64_t pending;                    /* frames of chunks that wait or are with a device */
    bool is_starving, wants_all, quits; /* somebody waits for a spare chunk; for all sums; the end is near */
    int at_work, idle;                  /* devices in the loop; those of them that have nothing to do */
    struct device_part **parts;         /* [engine->candidate_count] */
    ley_error failure;                  /* no sum is right from here on */

    pthread_mutex_t sum_mutex; /* for what follows */
    average_sums sums;
    density extra;                     /* of the frames of a chunk that is not full; */
    int64_t extra_first, extra_frames; /* which: none */
    double *response;                  /* for verification: see verify.c */
    int64_t checked_frames, checked_points;
    double checked_share; /* sum over frames of their squares of relative errors */
    int64_t lately_checked[16];
};

#endif
