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
    bool by_cards;                  /* the mesh is one for cards: not fixed yet, all devices are cards */
    bool is_fixed;                  /* the first frame is there: */
    double first_cell_A[9], signal; /* the latter: see signal.h */
    average_mesh mesh;
    int64_t n[3];
    double origin[3];
    int exponent, chunk_frames;
    bool by_frame; /* potentials are made frame by frame: */
    int phi_exponent, square_exponent;
    double most_phi; /* that there is room for, in e / A */
} average_problem;

/* Sums over frames: of charges at the mesh's nodes, in quanta; and, where potentials are made frame
 * by frame, of these at the map's points, in units of 2^-phi_exponent e / A, and of their
 * squares. */
typedef struct frame_sums {
    int64_t frames;
    density charge, phi, square;
} frame_sums;

/* Those of one block, whose frames come in any order. */
typedef struct block_sums {
    struct block_sums *next;
    int64_t number;
    frame_sums sums;
} block_sums;

/* Over blocks that are full: of their mean potentials, in units of 2^-BLOCK_EXPONENT e / A, and of
 * their squares in units of 2^(-2 BLOCK_EXPONENT); and the charges of each one's planes across each
 * axis, in e: n[0] + n[1] + n[2] of the mesh. */
enum { BLOCK_EXPONENT = 40 };
typedef struct all_blocks {
    int64_t count, capacity;
    density phi, square;
    int64_t *number; /* [count] */
    double *planes;  /* [count][n[0] + n[1] + n[2]] */
} all_blocks;

/* What a device or the host has for some frames of one block. */
typedef struct part_sums {
    int64_t first, frames; /* its first frame */
    bool is_partial;       /* they do not count for good */
    const int64_t *charge, *phi, *square;
    const float *value; /* in place of the latter two: the potentials of one frame, in the options' units; or NULL */
} part_sums;

/* Frames that are done both ways where cells change: the first one, and those whose number from 0
 * is a power of 2. */
enum { SAMPLE_MOST = 16 };
typedef struct cell_sample {
    int count, all;         /* here, and on all ranks */
    int place[SAMPLE_MOST]; /* among all: 0, and 1 + log2 of numbers */
    float *position_A[SAMPLE_MOST];
    double cell_A[SAMPLE_MOST][9];
    int judged; /* so many of them: */
    double difference;
} cell_sample;

struct device_part;
typedef struct bare_frames bare_frames; /* see bare.c */

/* What the latest profile's arrays are in. */
enum { PROFILE_ARRAYS = 7 };
typedef struct profile_values {
    double *value; /* [PROFILE_ARRAYS][planes] */
} profile_values;

struct ley_average {
    average_problem problem;
    ley_engine *engine;
    bool owns_engine;
    ley_average_ranks ranks;
    bool is_alert; /* threads of the host look out for the next frame */
    double left_s; /* when the last addition ended; 0: there was none */

    /* The caller's thread alone. */
    int64_t added, left_out;                                         /* frames; and of others, before the next one */
    double cell_sum_A[9], cell_rest_A[9], widest_cell_A[9], start_s; /* the sum over frames and what rounding left */
    double structure[2], structure_square; /* sums over frames of the factor of one wave, and of its square */
    bool cells_change;
    cell_sample sample;
    bare_frames *bare; /* where there is no Gaussian */
    profile_values profile;
    chunk *filling; /* not full; NULL: there is none */
    int structured; /* so many of its frames have their structure factors */
    bool has_manager;
    pthread_t manager, assistant; /* see average.c and assistant.c */

    atomic_bool is_cancelled;

    pthread_mutex_t mutex; /* for what follows */
    pthread_cond_t changed;
    chunk_list waiting, spare;
    int chunks; /* that exist, and the frames that these have had room for */
    int64_t kept_frames;
    int64_t pending;                    /* frames of chunks that wait or are with a device */
    bool is_starving, wants_all, quits; /* somebody waits for a spare chunk; for all sums; the end is near */
    int at_work, idle;                  /* devices in the loop; those of them that have nothing to do */
    bool assistant_ends;
    struct device_part **parts; /* [engine->candidate_count] */
    ley_error failure;          /* no sum is right from here on */

    pthread_mutex_t sum_mutex; /* for what follows */
    frame_sums sums;           /* that count for good */
    frame_sums extra;          /* of a chunk that is not full; */
    int64_t extra_first;       /* its first frame */
    block_sums *open;
    all_blocks blocks;
    double *response; /* for verification: see verify.c */
    int64_t checked_frames, checked_points;
    double checking_s, judging_s; /* that verification took; of the first frame, before any device had it */
    double checked_share;         /* sum over frames of their squares of relative errors */
    int64_t lately_checked[16];
};

#endif
