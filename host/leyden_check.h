/* leyden: is a driver right, and how right? leyden.h, which has the conventions, includes this. */
#ifndef LEYDEN_H
#include "leyden.h"
#elif !defined(LEYDEN_CHECK_H)
#define LEYDEN_CHECK_H

#ifdef __cplusplus
extern "C" {
#endif

/* A row of the table of checks: "kernels", "dcs", and what it proves. A check has one case or more,
 * such as a kernel's specifications, each with a result of its own. */
typedef struct ley_check_row {
    const char *group, *name, *what;
} ley_check_row;

LEY_API size_t ley_check_row_count(void);
LEY_API const ley_check_row *ley_check_row_get(size_t i);

typedef enum ley_check_outcome {
    LEY_CHECK_PASSED,
    LEY_CHECK_FAILED,
    LEY_CHECK_SKIPPED, /* the device has not what it takes, or was lost */
    LEY_CHECK_OUTCOME_COUNT
} ley_check_outcome;

/* Counts of errors: of at most 1/2 ulp, 1, 2, 4, ...; the last one is of all others. */
enum { LEY_CHECK_BINS = 16 };

typedef struct ley_check_result {
    const char *group, *name;
    const char *variant; /* of the check: "tiled8-float-standard"; empty where it has one case */
    ley_check_outcome outcome;
    const char *text;     /* why it failed or was skipped; of one that passed what there is to say, perhaps nothing */
    const char *smallest; /* of one that failed: the smallest case that was found to fail; NULL: none was looked for */
    const char *known;    /* of one that failed: what is known of this device; NULL: nothing */
    const char *reproducer; /* of one that failed: the folder of a program that shows it; NULL: there is none */
    bool has_error;
    double error,
        tolerance; /* relative to the sum of absolute terms, or to the value: the largest, and what is right */
    double ulps;   /* the same in units in the last place */
    int64_t ulp_counts[LEY_CHECK_BINS]; /* of functions, else all 0 */
    double elapsed_s;
} ley_check_result;

typedef struct ley_check_options {
    const char *devices;      /* as ley_engine_create() takes them; NULL: every device by every path, each by itself */
    bool quick;               /* one small case of each check */
    const char *const *names; /* "GROUP", "NAME", "GROUP/NAME" or "GROUP/NAME/VARIANT": only these */
    size_t name_count;        /* 0: all */
    const char *reproducers;  /* a folder, which is there: each failure of an OpenCL device whose fault shows in what
                                 is read back gets a folder in it, with a program in C and OpenCL C; NULL: none do */
    void (*done)(void *context, const ley_device_info *device,
                 const ley_check_result *result); /* each result, as it comes, on the caller's thread; or NULL */
    void *context;
    const volatile bool *cancel; /* stops it soon after it becomes true (LEY_CANCELLED); or NULL */
} ley_check_options;

typedef struct ley_check_device {
    ley_device_info info;
    size_t result_count;
    const ley_check_result *results;
    size_t outcomes[LEY_CHECK_OUTCOME_COUNT];
    double elapsed_s;
} ley_check_device;

/* What came of it; results and texts live as long. */
typedef struct ley_check ley_check;

/* Checks device after device. What fails is a result and no error. A driver that does not return is
 * given up: what it was at has failed, what is left is skipped. Errors: LEY_ERROR_USAGE for a
 * device that is none, for a name of no check, and, where nothing failed, for one of no case that a
 * device has; LEY_ERROR_NO_DEVICE; LEY_ERROR_MEMORY; LEY_CANCELLED. */
LEY_API ley_status ley_check_run(const ley_check_options *options, ley_check **check, ley_error *error);
LEY_API void ley_check_destroy(ley_check *check);

LEY_API size_t ley_check_device_count(const ley_check *check);
LEY_API const ley_check_device *ley_check_get(const ley_check *check, size_t i);

#ifdef __cplusplus
}
#endif
#endif
