/* A wavefunction's task made ready: coefficients as kernels take them, and passes. */
#ifndef LEY_WAVEFUNCTION_TASK_H
#define LEY_WAVEFUNCTION_TASK_H

#include "law/wavefunction.h"
#include "methods/wavefunction/hermite.h"
#include "methods/wavefunction/kernel.h"
#include "methods/wavefunction/list.h"
#include "schedule/stage.h"

/* A job's data: what is wanted, and the passes that make it. */
typedef struct wavefunction_task {
    const ley_wavefunction *wavefunction;
    ley_wavefunction_request request; /* with lists of its own */
    int64_t *orbitals;
    ley_map **maps;
    bool is_exact;
    size_t values;                     /* that are stored; and of densities what kernels sum for these: */
    size_t sums;                       /* the density, its gradient unless nobody needs it, its Laplacian */
    bool has_gradient;                 /* among the sums */
    ley_grid grid;                     /* of maps; of a list one of so many planes of a point each
                                        */
    double *weights;                   /* [orbitals of the wavefunction]: in the density; or NULL */
    double *left_out_of;               /* [the same]: the most that is left out of each */
    wavefunction_quantity *quantities; /* [values] */

    /* From prepare() to release(). */
    const job_view *job;
    bool is_listed; /* points of a list or of an oblique grid, or by such a variant or sum: gaussians.cl; else
                       separable.cl */
    bool is_many;   /* of these many orbitals at once, from contracted functions */
    int sum;        /* LEY_SPEC_SUM_... */
    expansion e;
    float *coefficients; /* [used][e.coefficients] */
    double *exact;       /* the same, for sums of doubles; else NULL */
    double *largest;     /* [used]: magnitudes of orbitals */
    int64_t *used;       /* orbitals of the wavefunction that have a part in it */
    int32_t used_count;
    double left_out; /* values that are no larger may be 0, as their terms are left out */
    separable_pass *passes;
    separable_problem problem;
    double *thresholds, *used_weights; /* [used] */
    list_problem list;

    /* Of LEY_POTENTIAL (esp_method.c). */
    double unit, field_unit; /* of values, in atomic units */
    hermite_charges charges;
} wavefunction_task;

extern const ley_parameter_table wavefunction_parameters;

ley_status wavefunction_task_create(const ley_wavefunction *wavefunction, const ley_wavefunction_request *request,
                                    const ley_wavefunction_options *options, wavefunction_task **made,
                                    ley_error *error);
void wavefunction_task_end(void *task);

/* Between these two all that kernels read is there. sum: LEY_SPEC_SUM_...; variant: NULL, by the
 * class of device. Errors: LEY_ERROR_USAGE where that variant is not for such points. */
ley_status wavefunction_task_prepare(wavefunction_task *task, int sum, const char *variant, ley_error *error);
void wavefunction_task_release(wavefunction_task *task);

/* Where a value is among the sums; the reduced gradient, which is none of them, is behind the
 * last. */
size_t wavefunction_sum_place(const wavefunction_task *task, size_t value);
/* Whether gaussians.cl is to do it. */
bool wavefunction_task_is_listed(const wavefunction_task *task, int sum, const char *variant);

/* What its kernel on grids along the axes is wanted for. */
separable_wish wavefunction_task_wish(const wavefunction_task *task, const char *variant, int math);

/* What is promised of the error at each point, relative to the sum of the magnitudes of all
 * functions there, to which a share of the largest value is added where terms are left out. */
double wavefunction_task_promise(const wavefunction_task *task);

/* The wavefunction's coefficients, or occupations, are other ones now: what follows from them is
 * made anew. LEY_ERROR_USAGE: not of the same orbitals, as others have electrons now. */
ley_status wavefunction_task_renew(wavefunction_task *task, ley_error *error);

#endif
