/* What the host does for a job of long-range potentials in threads beside the devices: atoms into
 * the mesh's bins, where devices do not do so themselves; the influence function, so that it is
 * there when the first device wants it; long waves; and what the meshes are expected to be off
 * by. */
#ifndef LEY_LONG_RANGE_HOST_THREADS_H
#define LEY_LONG_RANGE_HOST_THREADS_H

#include "leyden.h"
#include "long_range/fourier/kept_spectrum.h"
#include "long_range/fourier/long_wavelengths.h"
#include "long_range/mesh/spread.h"

#include <pthread.h>

typedef struct host_threads_thread {
    pthread_t thread;
    bool is_running; /* else it has been waited for, or never was */
} host_threads_thread;

/* Long waves of transforms of so many nodes. */
typedef struct host_threads_waves {
    struct host_threads_waves *next;
    int64_t n[3];
    long_wavelengths made;
} host_threads_waves;

/* Layers of the finest mesh; none: all. */
typedef struct host_threads_spread {
    const hierarchy *meshes;
    spread_layers layers;
} host_threads_spread;

/* From host_threads_begin() to host_threads_end(); zeroed, it may be ended, too. */
typedef struct host_threads {
    const hierarchy *meshes;
    const ley_atoms *atoms;
    const atomic_bool *cancelled;
    pthread_mutex_t mutex; /* for what follows */
    host_threads_thread spreading, expecting, transforming, lengthening;
    host_threads_spread some;             /* what `spread` is of */
    spread *spread, *whole;               /* `whole`: of all atoms, where that was asked for later */
    double spread_s;                      /* how long that took */
    double expected;                      /* expected_error() */
    long_charges long_charges;            /* where the meshes ask for them; once they are made: */
    host_threads_waves *long_wavelengths; /* one for all devices whose transforms have as many nodes */
    ley_status spread_status, long_status;
    ley_error spread_error, long_error;
    int64_t extent[3];        /* of transforms */
    kept_spectrum *influence; /* this job's, until it ends; its thread's as long as that is running */
    atomic_bool is_ended;     /* nobody wants the influence function any more */
} host_threads;

/* Meshes, atoms and *cancelled must outlive it. `spreads`: the atoms will be wanted in bins.
 * Of these layers alone, of these meshes, which must outlive it, too; NULL: of all.
 * `extent`: the nodes of the transforms whose influence function devices will ask for by
 * kept_spectrum_get(); NULL: they have none. What it fails with they find themselves.
 * `long_by_host`: long waves will be asked for, where the meshes have any; else they are made if
 * somebody does. */
void host_threads_begin(host_threads *b, const hierarchy *meshes, const ley_atoms *atoms, const atomic_bool *cancelled,
                        bool spreads, const host_threads_spread *some, bool long_by_host, const int64_t extent[3]);

/* Waits for the atoms in bins; or puts them there now. Any thread may call it. Errors: those of
 * spread_make(). */
ley_status host_threads_take_atoms(host_threads *b, const spread **atoms, ley_error *error);

/* The same of all atoms, whatever layers were asked for. */
ley_status host_threads_take_all_atoms(host_threads *b, const spread **atoms, ley_error *error);

/* Who has the long waves of the job, until it ends: of meshes that ask for them. */
long_wavelengths_source host_threads_long_wavelengths(host_threads *b);

/* Waits for what meshes are expected to be off by, of independent charges: expected_error(). */
double host_threads_expected_error(host_threads *b);

/* The atoms have moved: what follows from where they are is made anew. Nobody uses it now. */
void host_threads_renew(host_threads *b, bool spreads, bool long_by_host);

/* Waits for all of it; where it is kept, atoms may still be on their way to a device. */
void host_threads_end(host_threads *b, bool is_kept);

#endif
