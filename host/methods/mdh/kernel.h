/* The Multiple Debye-Hueckel kernel on one device: chosen, built and tested, with its atoms in
 * place. */
#ifndef LEY_MDH_KERNEL_H
#define LEY_MDH_KERNEL_H

#include "arguments.h"
#include "dev_kernel.h"
#include "engine/command_sequence.h"
#include "methods/mdh/problem.h"
#include "methods/mdh/tuning.h"

KERNEL_BUFFER_OF(placed); /* as mdh_pack_atoms() packs them */
KERNEL_ARGUMENTS_STRUCT(mdh, LEY_MDH_ARGUMENTS);
KERNEL_ARGUMENTS_STRUCT(sum_parts, LEY_SUM_PARTS_ARGUMENTS);
extern const kernel_kind mdh_kind, sum_parts_kind;

typedef struct mdh_kernel {
    dev *device;
    calibration facts;
    mdh_choice choice;
    dev_kernel kernel, sums;
    const mdh_problem *problem;
    buffer_of_placed atoms;
    int n_atoms;
    int most_part_atoms; /* 0: as short float sums ask for; tests set it */
    arena arena;
    flight flight;
} mdh_kernel;

/* Puts the problem's atoms on the device. */
ley_status mdh_kernel_load(mdh_kernel *kernel, const mdh_problem *problem, ley_error *error);

/* Pairs per second that this kernel will reach, roughly. */
double mdh_kernel_expected_rate(const mdh_kernel *kernel);

void mdh_kernel_destroy(mdh_kernel *kernel);

/* Work-items of a work-group of sum_parts. */
enum { MDH_SUM_GROUP = 64 };

#endif
