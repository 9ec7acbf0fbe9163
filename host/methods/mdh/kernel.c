#include "methods/mdh/kernel.h"

#include "error.h"
#include "memory.h"
#include "methods/mdh/pack.h"
#include "methods/mdh/self_test.h"
#include "program.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The self-test runs the kernels as a job does, on a program that is not this kernel's own yet. */
static ley_status test_program(dev *device, dev_program *program, void *context, ley_error *error)
{
    const mdh_kernel *kernel = context;
    mdh_kernel trial = {.device = device,
                        .facts = kernel->facts,
                        .choice = kernel->choice,
                        .program = program,
                        .sum_program = kernel->sum_program};
    ley_status status = mdh_self_test(&trial, error);
    trial.program = trial.sum_program = NULL; /* the caller's */
    mdh_kernel_destroy(&trial);
    return status;
}

/* Alone: it may come to be built while mdh is in the cache. */
static ley_status test_sums(dev *device, dev_program *program, void *context, ley_error *error)
{
    const mdh_kernel *kernel = context;
    const mdh_kernel trial = {.device = device, .choice = kernel->choice, .sum_program = program};
    return mdh_sums_self_test(&trial, error);
}

ley_status mdh_kernel_create(dev *device, const mdh_wish *wish, mdh_kernel *kernel, ley_error *error)
{
    char sum_options[128];
    *kernel = (mdh_kernel){.device = device};
    ley_status status = calibrate_get(device, &kernel->facts, error);
    if (status == LEY_OK)
        status = tuning_mdh(device->info, &kernel->facts, wish, &kernel->choice, error);
    if (status != LEY_OK)
        return status;
    tuning_mdh_options(&kernel->choice.spec, kernel->options, sizeof kernel->options);
    tuning_mdh_sum_options(&kernel->choice.spec, sum_options, sizeof sum_options);
    status = program_get(device, "sum_parts", sum_options, NULL, test_sums, kernel, &kernel->sum_program, NULL, error);
    if (status == LEY_OK)
        status = program_get(device, "mdh", kernel->options, NULL, test_program, kernel, &kernel->program,
                             &kernel->from_cache, error);
    return status;
}

double mdh_kernel_expected_rate(const mdh_kernel *kernel)
{
    const mdh_spec *spec = &kernel->choice.spec;
    /* Double precision is not calibrated; on some GPUs it is 64 times slower. Too low a guess only
     * makes more slabs. */
    const double slower = spec->sum == LEY_SPEC_SUM_DOUBLE ? 64 : 1;
    const double roots = kernel->facts.roots_per_s[spec->root], exps = kernel->facts.exps_per_s[spec->exp];
    const double a_pair_s = 1 / fmax(roots, 1) + (spec->screening == LEY_SCREENING_NONE ? 0 : 1 / fmax(exps, 1));
    return fmax(0.5 / a_pair_s / slower, 1e5);
}

ley_status mdh_kernel_load(mdh_kernel *k, const mdh_problem *problem, ley_error *error)
{
    const size_t n = ley_atoms_count(problem->atoms), bytes = mdh_placed_bytes(&k->choice.spec);
    const dev_info *info = k->device->info;
    k->problem = problem;
    if (info->max_allocation_bytes > 0 && (uint64_t)n * bytes > info->max_allocation_bytes)
        return ley_fail(error, LEY_ERROR_NO_DEVICE, "%s: %zu atoms need %s, more than its largest buffer", info->name,
                        n, ley_size((double)n * (double)bytes).s);
    const double copies = info->device_class == DEV_CPU ? 2 : 1;
    ley_status status = memory_check_one("packed atoms", copies * (double)n * (double)bytes, "fewer atoms", error);
    if (status != LEY_OK)
        return status;
    void *packed = calloc(n, bytes);
    if (packed == NULL)
        return ley_fail_memory(error, n * bytes, "packed atoms");
    k->n_atoms = mdh_pack_atoms(&k->choice.spec, problem, packed);
    if (problem->cancelled != NULL && atomic_load_explicit(problem->cancelled, memory_order_relaxed)) {
        free(packed);
        return ley_fail(error, LEY_CANCELLED, "cancelled");
    }
    const size_t size = (k->n_atoms > 0 ? (size_t)k->n_atoms : 1) * bytes;
    status = k->device->backend->buffer_create(k->device, size, DEV_READ_ONLY, &k->atoms, error);
    if (status == LEY_OK)
        status = k->device->backend->write(k->device, k->atoms, 0, packed, size, error);
    free(packed);
    return status;
}

void mdh_kernel_destroy(mdh_kernel *k)
{
    const dev_backend *b = k->device->backend;
    if (k->atoms != NULL)
        b->buffer_destroy(k->device, k->atoms);
    if (k->program != NULL)
        b->program_destroy(k->device, k->program);
    if (k->sum_program != NULL)
        b->program_destroy(k->device, k->sum_program);
    *k = (mdh_kernel){.device = k->device};
}
