/* leyden: what a job is going to take, of memory and of time, without computing it. leyden.h, which
 * has the conventions, includes this. */
#ifndef LEYDEN_H
#include "leyden.h"
#elif !defined(LEYDEN_FORECAST_H)
#define LEYDEN_FORECAST_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ley_need {
    const char *what; /* "the map" */
    double bytes;
} ley_need;

typedef struct ley_step {
    const char *what; /* "kernels" */
    double seconds;
    bool is_dealt; /* in slabs, to devices and ranks: else each of them does it for itself */
} ley_step;

typedef struct ley_device_forecast {
    const ley_device_info *device;
    const char *variant; /* of the kernel; NULL: it has none, or could not be readied */
    const char *details; /* what else was decided, as sizes of transforms; or "" */
    int64_t slab, slabs; /* pieces of a slab at most; and slabs, if it were the only device */
    const char *pieces;  /* what these are: "planes", "layers of 8 planes", "points" */
    size_t need_count;
    const ley_need *needs;    /* of its memory */
    double bytes, room_bytes; /* all of them; and what a job may take of its memory */
    size_t step_count;
    const ley_step *steps; /* as if it were the only device; some of them take place at the same time */
    double alone_s;        /* all of it, if it were the only device */
    ley_status status;     /* why it would have no part */
    const char *failure;
} ley_device_forecast;

typedef struct ley_forecast {
    size_t host_need_count;
    const ley_need *host_needs; /* of the host's memory, at most, a list's points and values, which are there, among
                                   them; what the job may take, these included, and what sets that: */
    double host_bytes, available_bytes;
    const char *limit;
    size_t host_step_count;
    const ley_step *host_steps; /* in which no device can begin */
    size_t device_count;
    const ley_device_forecast *devices;
    double devices_s, total_s; /* all devices together; and with the host's steps before. Verification is not in it */
    size_t note_count;
    const ley_note *notes; /* the method's own: bins, grids */
    size_t decision_count;
    const ley_decision *decisions; /* the plan; what a device decides with its first slab is left out */
    const char *host;              /* how the host is going to do it alone, as ley_report has it; NULL: devices do it */
} ley_forecast;

/* One device's part in a stage of a job, as "bins", "field" or "sum": from when to when, in s from
 * the job's start. Of what each device makes for itself `from` may be another device, which has
 * made it for this one. */
typedef struct ley_stage_report {
    const char *name;
    size_t device, from; /* indices into ley_report.devices */
    double start_s, end_s;
    bool is_done; /* else the device failed, or the job was cancelled */
} ley_stage_report;

/* A job's memory, predicted seconds and plan, in place of its run. Devices are readied as for a
 * run: they are measured, and kernels are built, as far as the build cache does not have them; but
 * Fourier transforms are predicted, not made. No value is computed, and the map may be one without
 * values; of a list the points are put in order. The forecast lives as long as the job, and is
 * there also where it says why the job cannot be done: LEY_ERROR_MEMORY where the host has no room
 * for it, else why no device can do it, as ley_job_run() would say. Where *forecast is left alone
 * there is none: LEY_ERROR_USAGE for boundaries. Of a job that the host does alone no device is
 * opened: the forecast has its one step, and no devices. */
LEY_API ley_status ley_job_forecast(ley_job *job, const ley_forecast **forecast, ley_error *error);

/* The same of several ranks, each with these devices, on a link of so many seconds for the shortest
 * message and so many bytes per second for each rank. */
typedef struct ley_link {
    int64_t ranks;
    double latency_s, bytes_per_s;
    bool by_parts; /* each rank has the atoms of its own planes, and those within so far of these: */
    double halo_A; /* of a short-range sum (ley_short_range_halo_A()); jobs with meshes know theirs */
} ley_link;

typedef struct ley_ranks_forecast {
    double own_s;       /* what each rank does before slabs: the host's steps, and those of devices */
    double atoms_share; /* of the atoms that it has */
    bool is_spread_together, is_transformed_together; /* charges and meshes, by all ranks; else by each of them, or: */
    int local_levels;                                 /* of multilevel sums by parts, those that are a rank's own */
    double exchange_s, exchanged_bytes;               /* of what is shared; bytes that each receives */
    double dealt_s;                                   /* slabs: of the rank that has the most of them */
    double counter_s; /* to take these, of the same rank; the bytes of all of them on the link of rank 0: */
    double counter_bytes;
    double gather_s, gathered_bytes; /* values on their way to rank 0, where they come to it */
    double written_bytes;            /* else: by each rank into the file */
    double pieces;                   /* of the job that the rank with the most of them has, of all: */
    double all_pieces;
    double host_bytes, device_bytes; /* memory of each rank, and of its first device */
    double total_s;
} ley_ranks_forecast;

/* Of a job that has a forecast, in which devices take part. `are_written`: all ranks write values
 * into a file (ley_map_create_raw() and others), and they do not come to rank 0. False: it cannot
 * be done by parts. */
LEY_API bool ley_job_forecast_ranks(const ley_job *job, const ley_link *link, bool are_written,
                                    ley_ranks_forecast *made);

/* LEY_ERROR_MEMORY when a job whose map is not in memory, of ley_map_create_raw() or
 * ley_map_outline(), would take more of the host's memory than there is, as
 * ley_direct_check_memory() and others say it before a map in memory is made. */
LEY_API ley_status ley_job_check_memory(const ley_job *job, ley_error *error);

#ifdef __cplusplus
}
#endif
#endif
