/* What a job is going to take, as text and as JSON. */
#ifndef LEYDEN_FORECAST_REPORT_H
#define LEYDEN_FORECAST_REPORT_H

#include "json.h"
#include "leyden.h"

void print_forecast(const ley_forecast *forecast);
json_t *json_of_forecast(const ley_forecast *forecast); /* NULL: null */

#endif
