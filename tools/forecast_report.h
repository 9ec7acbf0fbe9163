/* What a job is going to take, as text and as JSON. */
#ifndef LEYDEN_FORECAST_REPORT_H
#define LEYDEN_FORECAST_REPORT_H

#include "json.h"
#include "leyden.h"

void print_forecast(const ley_forecast *forecast);
json_t *json_of_forecast(const ley_forecast *forecast); /* NULL: null */

/* Of several ranks, and what would limit more of them. `are_written`: by all ranks into the file. */
void print_ranks_forecast(const ley_job *job, const ley_forecast *forecast, const ley_link *link, bool are_written);
json_t *json_of_ranks_forecast(const ley_job *job, const ley_link *link, bool are_written);

#endif
