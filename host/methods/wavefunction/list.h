/* The kernel of Gaussians at points anywhere, on one device: those of a list, or of an oblique
 * grid. */
#ifndef LEY_WAVEFUNCTION_LIST_H
#define LEY_WAVEFUNCTION_LIST_H

#include "arguments.h"
#include "calibrate.h"
#include "dev_kernel.h"
#include "engine/command_sequence.h"
#include "methods/wavefunction/stream.h"

/* The specification of gaussians.cl, one field a key of LEY_GAUSSIANS_KEYS. */
typedef struct gaussians_spec {
#define GAUSSIANS_FIELD(key, field) int field;
    LEY_GAUSSIANS_KEYS(GAUSSIANS_FIELD)
#undef GAUSSIANS_FIELD
} gaussians_spec;

KERNEL_ARGUMENTS_STRUCT(gaussians, LEY_GAUSSIANS_ARGUMENTS);
extern const kernel_kind gaussians_kind;

enum { LIST_TESTED_ORBITALS = 5 };

/* What is to be computed: orbitals by themselves, or their density, with derivatives or not. All of
 * it must outlive the kernel's use. */
typedef struct list_problem {
    const expansion *e;
    const float *coefficients; /* [orbitals][e->coefficients] */
    const double *exact;       /* the same, for sums of doubles; or NULL */
    const double *weights;     /* [orbitals]: in the density; NULL: orbitals by themselves */
    const double *thresholds;  /* [orbitals]: Gaussians below that are left out */
    int32_t orbitals;
    bool gradient, laplacian;
    int values; /* of a point */
} list_problem;

typedef struct list_kernel {
    dev *device;
    calibration facts;
    const char *variant;
    gaussians_spec spec;
    dev_kernel kernel;
    const ley_wavefunction *sample; /* what compiled code is tested with; or NULL */
    list_problem problem;
    basis_code code; /* of the problem's basis, where the kernel is compiled for it */
    stream_shape shape;
    stream stream;
    arena arena;
    flight flight;
    dev_buffer *tiles, *weights, **basis; /* of each block by itself where it is in constant memory; else one */
    size_t parts;                         /* of basis */
} list_kernel;

void list_kernel_destroy(list_kernel *kernel);

/* Seconds that a point is predicted to take, and bytes of it on the device; and of all else. */
double list_point_s(const list_kernel *kernel, const list_problem *problem);
int64_t list_point_bytes(const list_kernel *kernel, const list_problem *problem);
double list_bytes(const list_kernel *kernel, const list_problem *problem);

/* Puts the wavefunction there. The kernel's arena is set. */
ley_status list_kernel_load(list_kernel *kernel, const list_problem *problem, ley_error *error);

/* The problem's coefficients, weights and thresholds are other ones now. */
ley_status list_kernel_renew(list_kernel *kernel, ley_error *error);

/* Where point i is, in bohr. Called from several threads. */
typedef void list_place(const void *context, int64_t i, double place[3]);

/* What a loaded kernel computes at every `step`-th of so many points: Gaussians that reach these,
 * and a multiply-add for each of their coefficients. Errors: LEY_ERROR_MEMORY. */
typedef struct list_counts {
    double exponentials, multiply_adds;
} list_counts;
ley_status list_count(const list_kernel *kernel, list_place *place, const void *context, int64_t points, int64_t step,
                      list_counts *counts, ley_error *error);

/* Some points' way through the kernel. */
typedef struct list_run {
    list_kernel *kernel;
    int64_t count, pitch;
    float *places; /* [6][pitch] */
    dev_buffer *points;
    results values;
    command_sequence command_sequence;
} list_run;

ley_status list_run_create(list_run *run, list_kernel *kernel, int64_t most, ley_error *error);
void list_run_destroy(list_run *run);

/* Places of points as sums of two floats, [6][pitch]; behind the last one it is repeated. */
void list_put_places(float *places, int64_t pitch, int64_t count, list_place *place, const void *context);

ley_status list_run_begin(list_run *run, list_place *place, const void *context, int64_t count,
                          const atomic_bool *cancelled, ley_error *error);

/* Waits; then value v of point i is there. LEY_ERROR_WRONG_RESULT: one of them is no number. */
ley_status list_run_finish(list_run *run, ley_error *error);
double list_run_value(const list_run *run, int64_t v, int64_t i);

#endif
