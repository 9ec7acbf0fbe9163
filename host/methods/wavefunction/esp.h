/* The kernel of electrons' potentials on one device: a program for each degree of charges
 * (hermite.h), all chosen, built and tested. */
#ifndef LEY_WAVEFUNCTION_ESP_H
#define LEY_WAVEFUNCTION_ESP_H

#include "arguments.h"
#include "calibrate.h"
#include "dev_kernel.h"
#include "engine/command_sequence.h"
#include "methods/wavefunction/boys.h"
#include "methods/wavefunction/hermite.h"
#include "methods/wavefunction/list.h"

/* The specification of hermite.cl, one field a key of LEY_HERMITE_KEYS. */
typedef struct hermite_spec {
#define HERMITE_FIELD(key, field) int field;
    LEY_HERMITE_KEYS(HERMITE_FIELD)
#undef HERMITE_FIELD
} hermite_spec;

KERNEL_ARGUMENTS_STRUCT(hermite, LEY_HERMITE_ARGUMENTS);
extern const kernel_kind hermite_kind;

/* What is to be computed: pairs of clusters that are near, and multipoles, but for charges and
 * dipoles, of others: hermite_is_near() says no. The charges must outlive the kernel's use. Points
 * farther than `reach` from `centre` are left out: what comes back of them is 0, or right. */
typedef struct esp_problem {
    const hermite_charges *charges;
    bool has_field;
    double centre[3], reach; /* bohr */
} esp_problem;

/* A program for charges of one degree, with these in place. */
typedef struct esp_class {
    hermite_spec spec;
    dev_kernel kernel; /* without a program: there are no such charges */
    boys_fit boys;
    dev_buffer *places, *coefficients, *firsts, *pieces;
} esp_class;

typedef struct esp_kernel {
    dev *device;
    calibration facts;
    esp_class classes[HERMITE_CLASSES];
    esp_problem problem;
    dev_buffer *clusters;
    arena arena;
    flight flight;
} esp_kernel;

void esp_kernel_destroy(esp_kernel *kernel);

/* How many charges of each class are summed at a point, on the average of some of so many. */
void esp_count(const esp_problem *problem, list_place *place, const void *context, int64_t points,
               double counts[HERMITE_CLASSES]);

/* Seconds that a point with so many is predicted to take, and bytes of it on the device; and of all
 * else. */
double esp_point_s(const esp_kernel *kernel, const double counts[HERMITE_CLASSES], bool has_field);
int64_t esp_point_bytes(bool has_field);
double esp_bytes(const hermite_charges *charges);

/* Puts the charges there. The kernel's arena is set. */
ley_status esp_kernel_load(esp_kernel *kernel, const esp_problem *problem, ley_error *error);

/* Some points' way through the kernel. */
typedef struct esp_run {
    esp_kernel *kernel;
    int64_t count, pitch;
    int32_t most; /* charges of a launch; 0: as many as are predicted not to last for long */
    double counts[HERMITE_CLASSES];
    float *places; /* [6][pitch] */
    dev_buffer *points;
    results values;
    command_sequence command_sequence;
} esp_run;

ley_status esp_run_create(esp_run *run, esp_kernel *kernel, int64_t most, ley_error *error);
void esp_run_destroy(esp_run *run);
ley_status esp_run_begin(esp_run *run, list_place *place, const void *context, int64_t count,
                         const atomic_bool *cancelled, ley_error *error);

/* Waits; then esp_run_value() has component d of point i
 * LEY_ERROR_WRONG_RESULT: one of them is no number. */
ley_status esp_run_finish(esp_run *run, ley_error *error);

/* Adds to the potential and the field at one of these points, atomic units, what kernels leave out:
 * nuclei whose cluster's pairs are summed one by one; elsewhere charges and dipoles of clusters.
 * `charges` are the nuclei's, `place` the point's. */
void esp_run_add_nuclei(const esp_run *run, int64_t point, const double *charges, const double place[3],
                        double values[4]);

static inline double esp_run_value(const esp_run *run, int d, int64_t i)
{
    const float *values = run->values.staging->bytes;
    const int components = run->kernel->problem.has_field ? 4 : 1;
    return (double)values[d * run->pitch + i] - (double)values[(components + d) * run->pitch + i];
}

#endif
