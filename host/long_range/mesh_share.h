/* Charges of a mesh that ranks make together: each makes its own layers of tiles, from the atoms
 * that reach these, and those of the others come to it; or their potentials, which ranks transform
 * together (rank_transform.h). The mesh is the finest one; or, where each rank has but a part of
 * the atoms (source/atoms_part.h), the first one that each has whole, finer ones being local
 * (multilevel/local_levels.h). Nodes are sums in the same order whoever makes them, so that the
 * mesh has the bytes of one rank's. */
#ifndef LEY_LONG_RANGE_MESH_SHARE_H
#define LEY_LONG_RANGE_MESH_SHARE_H

#include "long_range/fourier/rank_transform.h"
#include "long_range/mesh/spread.h"
#include "long_range/multilevel/local_levels.h"
#include "ranks.h"
#include "schedule/notes.h"
#include "schedule/stage.h"

#include <pthread.h>

typedef enum mesh_share_state {
    SHARE_OPEN,      /* nobody here has made this rank's layers */
    SHARE_MAKING,    /* a device is at it */
    SHARE_EXCHANGED, /* they are on their way to others */
    SHARE_THERE,     /* all are here */
    SHARE_REFUSED    /* not all ranks have made theirs, or not in time: this one makes all by itself */
} mesh_share_state;

/* What each rank says to the others, when it has made its charges, or has failed to. */
typedef struct mesh_share_word {
    bool has_made;
    char why[240]; /* not; may be empty */
} mesh_share_word;

/* From mesh_share_plan() to mesh_share_end(); zeroed, it may be ended, too. */
typedef struct mesh_share {
    bool is_wanted;          /* else nothing of what follows is set */
    bool is_part;            /* of the atoms: nobody can make all by itself, and there are: */
    local_levels levels;     /* else all of them are common */
    const hierarchy *meshes; /* of which the finest one is made together */
    spread_layers own;
    int64_t *first; /* [ranks + 1] the first layer of each rank */
    float *rows;    /* of all layers (mesh_rows.h) */
    size_t layer_numbers;
    bool transforms; /* rows become potentials: */
    rank_transform transform;
    double alone_s, predicted_s;    /* for one rank to make all, and for ranks to share it, as predicted */
    double exchange_s;              /* of the latter what is on the way; and what it took: */
    double made_s, began_s, took_s; /* `made_s`: for this rank's own charges */
    double transform_s, turns_s;    /* for its part of transforms, and while that was on the way */
    double waited_s;                /* until all ranks had made theirs */
    double common_s;                /* the slowest device's for levels above local ones, alone */
    double moved_bytes;
    bool has_thread; /* which takes part for a rank without planes: */
    pthread_t thread;
    const atomic_bool *cancelled;
    mesh_share_word *said; /* [ranks] what comes of: */
    ranks_exchange *call;
    pthread_mutex_t mutex; /* for what follows */
    mesh_share_state state;
    ranks_exchange *exchange;
} mesh_share;

/* What is to be computed; `library`: of transforms, as asked for, or empty. */
typedef struct mesh_share_problem {
    const hierarchy *meshes;
    const ley_atoms *atoms;
    const ley_grid *points;
    const char *library;
} mesh_share_problem;

/* How far beyond a rank's planes the atoms are that it needs, where ranks have parts of them.
 * Infinite: they cannot make such meshes for such a map. Its planes must be across the meshes' last
 * axis, and where that is periodic fill the cell. */
double mesh_share_halo_A(const hierarchy *h, const ley_grid *points);

/* Whether it pays, as rank 0 predicts it. Of a part of the atoms it has to, and how many levels are
 * local is what is predicted, or as the plan says; LEY_ERROR_INPUT: for none of them the ranks have
 * room, or atoms. Collective where ranks share the job. */
ley_status mesh_share_plan(mesh_share *s, const mesh_share_problem *p, const job_view *job, ley_error *error);

/* The layers that this rank makes, as its own solver numbers them. */
spread_layers mesh_share_own(const mesh_share *s);

/* All charges, or potentials, as rows, once they are there; NULL: this rank is to make all by
 * itself, or, with a part of the atoms, LEY_ERROR_NO_DEVICE. `make` makes this rank's own layers
 * where nobody has, as rows. Errors: those of `make`, after which each rank makes all by itself;
 * LEY_CANCELLED soon after *unwanted turns true. */
typedef ley_status (*mesh_share_maker)(void *context, spread_layers own, float *rows, ley_error *error);
ley_status mesh_share_take(mesh_share *s, mesh_share_maker make, void *context, const atomic_bool *unwanted,
                           const float **rows, ley_error *error);

/* Some of a share's nodes against the sums of double precision over atoms in bins; of the finest
 * mesh alone. */
ley_status mesh_share_check(const mesh_share *s, const spread *atoms, const float *rows, ley_error *error);

void mesh_share_note(const mesh_share *s, notes *n);

/* What forecasts are made of, and what they say of ranks on a link (plan/forecast.h). */
struct rank_outlook;
typedef struct mesh_outlook {
    hierarchy meshes;
    device_view device;
    size_t atoms;
    char library[16]; /* of transforms, as asked for, or empty */
    bool can_part;    /* mesh_share_halo_A() is finite */
    double near_A;    /* the halo of the short-range sum */
} mesh_outlook;
void mesh_share_foresee(const void *outlook, const ley_link *link, struct rank_outlook *made);

/* Waits for the other ranks; what was not made until now is not made any more. */
void mesh_share_end(mesh_share *s);

/* The same of a rank that cannot go on: others that wait for what it has not made are told why. */
void mesh_share_refuse(mesh_share *s, const char *why);

#endif
