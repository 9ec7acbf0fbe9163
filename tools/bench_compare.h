/* Two benchmark reports beside each other. */
#ifndef LEYDEN_BENCH_COMPARE_H
#define LEYDEN_BENCH_COMPARE_H

#include "json.h"

/* Prints which rows of the new report's tables and screens are faster or slower than in the old one
 * by more than the noise, or have errors that are too large; which are wrong now; and which are in
 * one of them only; before these, whether versions differ and runs have failed. Nothing where they
 * are screens of other devices. The error of a screen's row is too large where it is over twice the
 * old one, and of its map and command over half of their tolerance, too. Prints errors; exit code:
 * with `fail` 5 where anything is slower, less accurate, wrong or has failed that was right, or is
 * missing although both runs were asked for the same. */
int bench_compare(const char *old_path, const json_t *old, const json_t *report, bool fail);

/* What was timed: the spread of so many launches, on processors of which others used this share;
 * not-a-numbers: unknown. */
typedef struct bench_sample {
    double spread, launches, others_share;
} bench_sample;

/* What a ratio of medians may be off by without anything having moved, the largest of: 3 %; half of
 * both spreads together, each of them times 8 over the number of its launches, 0.5 at least, those
 * of four, three and two launches times 2.4, 5 and 12, and of one launch as 50 %; and what others
 * can have lengthened it by, 1 / (1 - share) - 1. */
double bench_noise(const bench_sample *a, const bench_sample *b);

#endif
