#include "methods/mdh/kernel.h"

#include "cancel.h"
#include "error.h"
#include "memory.h"
#include "methods/mdh/pack.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double mdh_kernel_expected_rate(const mdh_kernel *kernel)
{
    const mdh_spec *spec = &kernel->choice.spec;
    /* Double precision is not calibrated; on some GPUs it is 64 times slower. Too low a guess only
     * makes more slabs. */
    const double slower = spec->sum == LEY_SPEC_SUM_DOUBLE ? 64 : 1;
    const double roots = kernel->facts.roots_per_s[spec->root], exps = kernel->facts.exps_per_s[spec->exp];
    const double a_pair_s = 1 / fmax(roots, 1) + (spec->screening == LEY_SCREENING_NONE ? 0 : 1 / fmax(exps, 1));
    const double less = spec->field ? 0.25 : 0.5;
    return fmax(
        less / a_pair_s / slower * tuning_share_of_lanes(kernel->device->info, spec->width, spec->ux * spec->uy), 1e5);
}

ley_status mdh_kernel_load(mdh_kernel *k, const mdh_problem *problem, ley_error *error)
{
    const size_t n = ley_atoms_count(problem->atoms), bytes = mdh_placed_bytes(&k->choice.spec);
    const dev_info *info = k->device->info;
    k->arena.device = k->flight.device = k->device;
    k->problem = problem;
    if (info->max_allocation_bytes > 0 && (uint64_t)n * bytes > info->max_allocation_bytes)
        return ley_fail(error, LEY_ERROR_NO_DEVICE, "%zu atoms need %s, more than its largest buffer", n,
                        ley_size((double)n * (double)bytes).s);
    const double copies = info->device_class == DEV_CPU ? 2 : 1;
    ley_status status = memory_check_one("packed atoms", copies * (double)n * (double)bytes, "fewer atoms", error);
    if (status != LEY_OK)
        return status;
    void *packed = calloc(n, bytes);
    if (packed == NULL)
        return ley_fail_memory(error, n * bytes, "packed atoms");
    k->n_atoms = mdh_pack_atoms(&k->choice.spec, problem, packed);
    if (cancel_is_asked(problem->cancelled)) {
        free(packed);
        return ley_fail(error, LEY_CANCELLED, "cancelled");
    }
    const size_t size = (k->n_atoms > 0 ? (size_t)k->n_atoms : 1) * bytes;
    status = arena_upload(&k->arena, packed, size, &k->atoms.buffer, error);
    free(packed);
    return status;
}

void mdh_kernel_destroy(mdh_kernel *k)
{
    arena_clear(&k->arena);
    kernel_destroy(&k->kernel);
    kernel_destroy(&k->sums);
    *k = (mdh_kernel){.device = k->device};
}
