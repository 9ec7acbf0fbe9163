/* A picture of error against time. */
#ifndef LEYDEN_FRONTIER_PICTURE_H
#define LEYDEN_FRONTIER_PICTURE_H

#include "leyden.h"

/* Of each device a line through its tolerances, and direct summation, on logarithmic axes: seconds
 * from atoms to map across, relative root mean square errors upwards. PNG, or SVG for a name that
 * ends so. Prints errors; exit code. */
int frontier_picture_write(const ley_bench *bench, const char *path);

#endif
