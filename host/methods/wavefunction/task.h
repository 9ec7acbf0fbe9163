/* A wavefunction's task made ready: coefficients as kernels take them, and passes. */
#ifndef LEY_WAVEFUNCTION_TASK_H
#define LEY_WAVEFUNCTION_TASK_H

#include "methods/wavefunction/method.h"

/* Checks a request and copies it. */
extern const ley_parameter_table wavefunction_parameters;

ley_status wavefunction_task_create(const ley_wavefunction *wavefunction, const ley_wavefunction_request *request,
                                    const ley_wavefunction_options *options, wavefunction_task **made,
                                    ley_error *error);
void wavefunction_task_end(void *task);

/* Between these two all that kernels read is there. */
ley_status wavefunction_task_prepare(wavefunction_task *task, ley_error *error);
void wavefunction_task_release(wavefunction_task *task);

#endif
