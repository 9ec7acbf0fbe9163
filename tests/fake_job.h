/* Whole jobs on fake devices, for what tests of the scheduler and of devices that hang share. */
#ifndef LEY_FAKE_JOB_H
#define LEY_FAKE_JOB_H

#include "fake_device.h"
#include "support.h"
#include "watch.h"

extern const ley_grid fake_job_grid;

/* What is usual, but that all devices are compared, however much the machine has to do. */
extern const watch_patience fake_job_patient;

/* A whole job of a new cache; `change` (may be NULL) may edit the options. */
support_job fake_job_run(fake_plan *plans, size_t count, const char *selector, void (*change)(support_options *));

/* In place of a change: the cache stays as the job before left it. */
void fake_job_old_cache(support_options *options);

void fake_job_assert_right(const support_job *o);

/* Ends the job, its engine and the devices. */
void fake_job_end(support_job *o);

#endif
