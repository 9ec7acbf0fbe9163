/* What a job's phases were predicted to take, beside what they took. */
#ifndef LEYDEN_PREDICTIONS_H
#define LEYDEN_PREDICTIONS_H

#include "json.h"

/* A line of the report: "phases: binning predicted 0.9 s, took 2.1 s: off by more than a factor of
 * 2; ..."; none where nothing was predicted. NULL: nothing. */
void print_predictions(const ley_report *report);

/* {"binning": {"predicted_s", "took_s", "off_by_more_than_2"}, ...}. */
json_t *json_of_predictions(const ley_report *report);

#endif
