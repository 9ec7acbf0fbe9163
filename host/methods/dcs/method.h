/* Direct Coulomb summation as a method. */
#ifndef LEY_DCS_METHOD_H
#define LEY_DCS_METHOD_H

#include "run/bench.h"
#include "run/method.h"

extern const method method_dcs;
extern const bench_subject bench_dcs; /* bench.c */

#endif
