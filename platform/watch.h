/* Watches who is inside a driver. dev_list_create() puts a watched interface before each back end's
 * own: it notes which call its thread is in. Whoever waits for that thread may find that the call
 * lasts too long, and give the thread up. Such a call never comes back: its thread stays in the
 * device interface for ever, even when the driver returns at last, and so does a thread whose
 * device is lost (see device.h). What the thread holds is therefore neither freed nor changed nor
 * used again by anybody but the driver. */
#ifndef LEY_WATCH_H
#define LEY_WATCH_H

#include "device.h"

#include <pthread.h>

typedef enum watch_kind { WATCH_OPEN, WATCH_BUILD, WATCH_WORK, WATCH_CLOSE } watch_kind;

/* How long a single call may last. */
typedef struct watch_patience {
    double open_s, build_s, close_s; /* discovery and opening; compiling; closing */
    double trial_s, apart_s;         /* in a process of its own: trying a new driver, building a kernel; 0: the usual */
    double first_s;                  /* all others while a device has finished nothing: drivers compile late */
    double work_s, factor;           /* then: so long, or so many times what is predicted, whichever is more */
    double over_s;                   /* when nobody needs the call any more */
    double turn_s;                   /* how long devices wait for each other's calibration */
    double choose_s; /* how long others are waited for when the rate of one device is known; longer only if that took
                        longer */
} watch_patience;

/* For tests: other limits. NULL restores them. */
void watch_patience_replace(const watch_patience *replacement);

double watch_trial_s(void);
double watch_apart_s(void);
double watch_turn_s(void);
double watch_choose_s(void);

/* A thread, watched. */
typedef struct watch {
    pthread_mutex_t mutex; /* for everything here, and whatever else its owner likes */
    pthread_cond_t changed;
    const char *call; /* of the device interface, which the thread is in; NULL: none */
    watch_kind kind;
    unsigned long calls; /* counted */
    bool is_endless;     /* the device interprets its kernels: nothing can be said of it */
    bool is_warm;        /* the device has finished something */
    double expected_s;   /* how long an operation of it lasts, as predicted */
    bool is_lost, is_left,
        is_back;      /* the device is lost; the thread is given up; after that, the driver has returned */
    bool ends;        /* what the thread is at is to end soon: see watch_ends() */
    ley_error reason; /* the last call that failed, and that nobody has told of yet */
    unsigned long seen_calls;
    double seen_s, silent_s;
} watch;

void watch_init(watch *w);
void watch_destroy(watch *w);

/* What the calling thread does from now on is noted there; NULL: nowhere. */
void watch_this_thread(watch *w);

/* Whether nobody wants what the calling thread is at: then each call of the device interface that
 * would begin something (open, allocate, copy, compile, launch) fails with LEY_CANCELLED, so that
 * the thread comes to an end between two operations. What ends something works as ever. */
bool watch_ends(void);

/* The calling thread's last failure stands in a report: it is not to be told once more. */
void watch_forget_reason(void);

/* A device's work begins anew: an operation of it is predicted to last so long. Noted for the
 * calling thread's device, if it is watched. */
void watch_expect(double operation_s);

/* The calling thread's device has finished something. */
void watch_warm(void);

/* The calling thread enters the driver; and comes back, or never. `device` may be NULL. */
void watch_enter(const dev_info *info, watch_kind kind, const char *call);
void watch_come_back(const dev *device, const ley_error *error);

/* Gives the thread up when its device is lost, or when its call has lasted too long; with
 * `is_over`, when nobody needs the call any more, sooner. To be asked again and again: time between
 * two questions counts for a second at most, so that a process that was stopped loses no device. */
bool watch_give_up(watch *w, bool is_over, ley_error *why);

/* Whether the driver has come back from a call after the thread was given up. */
bool watch_is_back(watch *w);

/* Threads given up of which the driver has not come back. */
int watch_stuck(void);

/* The watched interface before a back end's own. */
const dev_backend *watched_interface(const dev_backend *own);

#endif
