/* Multiple Debye-Hueckel boundary values as a method. */
#ifndef LEY_MDH_METHOD_H
#define LEY_MDH_METHOD_H

#include "bench/bench.h"
#include "schedule/method.h"

extern const method method_mdh;
extern const bench_subject bench_mdh; /* bench.c */

#endif
