/* Devices that exist only in the tests, behind the same interface as real ones: they sum in plain C
 * and fail when told to. */
#ifndef LEY_FAKE_DEVICE_H
#define LEY_FAKE_DEVICE_H

#include "device.h"

/* How a fake device lies: what comes back is so many times what it was (0: zeros), not-a-numbers,
 * or what was there before; or a launch does nothing. */
typedef enum fake_lie { FAKE_HONEST, FAKE_SCALES, FAKE_NO_NUMBERS, FAKE_SKIPS_READ, FAKE_SKIPS_LAUNCH } fake_lie;

/* What a fake device does wrong. Counts: 0 never, n at the n-th call and ever after. */
typedef struct fake_plan {
    const char *name, *card;
    bool is_vendors;              /* by the path of the cards' vendor */
    int compute_units, clock_MHz; /* 0: one; unknown */
    dev_class device_class;
    uint64_t global_bytes, max_allocation_bytes, constant_bytes; /* 0: plenty */
    bool has_double, no_timestamps;
    double speed;      /* roots per second that its calibration will find, relative; 0: 1 */
    double wrong_by;   /* relative error planted in every potential */
    int wrong_column;  /* of a map of dcs whose values are twice what they should be; 0: none */
    double wrong_root; /* in every root that its calibration asks for */
    unsigned quirks;
    double root_speed[LEY_ROOT_COUNT]; /* of single recipes, relative; 0: 1 */
    double root_wrong[LEY_ROOT_COUNT]; /* relative errors of theirs */
    uint64_t fail_facts;               /* kernels of these facts do not build */
    int compile_us, measure_us;        /* a kernel of the calibration takes so long to build; and to launch */
    int wrong_judge;                   /* from this point of a launch on its judge's sums are twice as much; 0: never */
    int right_judge;                   /* and from this one on right again; 0: never */
    int silent;                        /* 1: launches succeed and write nothing */
    int fail_open, fail_build, fail_buffer, fail_staging, fail_write, fail_fill, fail_copy, fail_launch, fail_wait,
        fail_read, fail_binary; /* writes and sends count as one, and so do waits for reads alone */
    int hang_open, hang_build, hang_buffer, hang_write, hang_fill, hang_copy, hang_launch, hang_wait, hang_read,
        hang_measurement, hang_judge, hang_close; /* does not return; of the judge: from building it */
    int lose_write;                               /* the device is lost by it */
    struct fake_plan *after; /* a launch waits until that device has launched, or hangs, or has failed */
    int delay_us;            /* a launch takes so long */
    size_t fft_libraries; /* of Fourier transforms: 0, or up to two: "alpha", whose plans can be kept, and "beta", which
                             has tables */
    struct fake_fft {
        const char *unusable;       /* why it cannot be used */
        double wrong_by, tables_by; /* relative error of what it makes, but with tables; and with them */
        uint64_t most_values;       /* as dev_fft_library has it */
        int prepare_us, run_us;     /* what a plan takes, and what events say of a transform; 0: as it is */
        size_t scratch_bytes;
        int fail_plan, fail_run, hang_plan;
        bool fail_taking;       /* of what is kept */
        int spoil;              /* one value: 1 of a spectrum, 2 of the way back, 3 of the mesh that should stay */
        bool spoil_last;        /* the last one, not the first */
        int plans, taken, runs; /* counted; plans made of what was kept, too */
    } fft[2];
    bool measures_costs; /* of the way to it and of binning: else these are the usual ones */
    fake_lie lie; /* at the lie_at-th launch or read, and ever after; a launch of FAKE_SKIPS_LAUNCH at that one only */
    double lie_factor;
    int lie_at, lie_quarter; /* 1 to 4: only this quarter of what comes back is scaled, as a component of a field */
    int set;                 /* by fake_devices_begin() */
    /* Counted while running: */
    int opens, builds, buffers, stagings, writes, fills, copies, launches, waits, all_waits, reads, forgotten,
        measurements, binaries, closes, failed, hung;
    int judged;                    /* points, by its judge */
    int in_flight, most_in_flight; /* launches of sums that nobody has waited for */
    uint64_t measured;             /* facts whose kernels were launched */
    int measured_times[64];        /* by a fact's bit */
    int compiling, most_compiling; /* kernels of the calibration */
    size_t live_objects;           /* buffers, programs, staging and events not destroyed yet */
    size_t live_programs;          /* of these, programs */
} fake_plan;

/* Replaces all back ends by these devices, until fake_devices_end(), which waits for late ones that
 * do not hang. The plans must live as long; of those that hang for ever. */
void fake_devices_begin(fake_plan *plans, size_t count);
void fake_devices_end(void);

/* How often a device hangs, for threads that are not its own. */
int fake_devices_hung(const fake_plan *plan);

/* Devices that hang return now, and those that were begun before and are only on their way to where
 * they would hang never do. */
void fake_devices_release(void);

/* Returns when one of a plan's counts has got so far; what its device did until then has happened
 * before, for the caller's thread too. */
void fake_devices_wait(const int *counted, int count);

#endif
