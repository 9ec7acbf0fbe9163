/* What follows from a sample for devices and report. */
#ifndef LEY_VERIFY_SAMPLE_JUDGE_H
#define LEY_VERIFY_SAMPLE_JUDGE_H

#include "verify/sample.h"

/* Judges each device by its points, and fills in the report's accuracy, unless the limits have
 * become wider. A device whose values are off leaves the job: *wrong counts these. */
ley_status sample_judge(sample *s, size_t *wrong, ley_error *error);

/* A device leaves the job; why stands in its record. */
void sample_dismiss(ley_job *job, size_t device);

/* Whether the method, asked once more, allows more than it said. */
bool sample_look_closer(sample *s);

#endif
