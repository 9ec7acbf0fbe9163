/* What `leyden check` found, for programs to read. */
#ifndef LEYDEN_CHECK_REPORT_H
#define LEYDEN_CHECK_REPORT_H

#include "json.h"

/* "passed", "failed", "skipped". */
const char *check_outcome_name(ley_check_outcome outcome);

/* A device and its results. */
json_t *json_of_check_device(const ley_check_device *device);

/* JUnit's XML: a suite for each device, a case for each result. Prints errors; exit code. */
int check_write_junit(const ley_check *check, const char *path);

#endif
