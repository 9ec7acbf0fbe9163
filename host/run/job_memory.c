/* What a job is going to take of the host's memory, from its input alone. */
#include "error.h"
#include "leyden.h"
#include "memory.h"
#include "methods/cutoff/kernel.h"
#include "run/method.h"

#include <math.h>

/* The map, room for slabs on their way back, and what atoms come to. */
enum { MOST_NEEDS = 6 };

static const char smaller_map[] = "a coarser spacing, or a smaller box",
                  fewer_images[] = "a shorter cutoff, a larger cell, or fewer periodic axes",
                  fewer_entries[] = "fewer atoms, or a smaller lattice";
static const double slab_bytes = 64 << 20, packed_atom_bytes = 32;

/* Slabs are of whole planes, and of so many at least. */
static double staging_bytes(const ley_lattice *lattice, int planes)
{
    const double least = (double)planes * (double)lattice->n[0] * (double)lattice->n[1] * sizeof(float);
    return METHOD_SLOTS * fmax(least, fmin(slab_bytes, (double)ley_lattice_points(lattice) * sizeof(float)));
}

static size_t short_range_needs(const ley_atoms *atoms, const ley_lattice *lattice, const ley_job_options *options,
                                memory_need *needs)
{
    cutoff_problem problem;
    const ley_short_range *range = &options->short_range;
    if (cutoff_problem_init(&problem, atoms, lattice, range, 1, options->dielectric, options->r_min_A, NULL) != LEY_OK)
        return 0;
    const binning_bytes b = binning_predict(&problem.plan, atoms);
    const bool has_images = range->periodic[0] || range->periodic[1] || range->periodic[2];
    const double more = problem.plan.options.keep_neutral
                            ? (double)problem.plan.bins * problem.plan.options.depth * sizeof *problem.more
                            : 0;
    cutoff_problem_clear(&problem);
    size_t n = 0;
    /* Sorting is over when the overflow gets bins of its own. */
    needs[n++] = (memory_need){has_images ? "atoms and their images" : "atoms", fmax(b.sorting, b.extra),
                               has_images ? fewer_images : fewer_entries};
    needs[n++] =
        (memory_need){"bins", b.bins + more, "a larger --bin-fill, a smaller --bin-depth, or a smaller lattice"};
    needs[n++] = (memory_need){"what overflows the bins", b.overflow, has_images ? fewer_images : fewer_entries};
    if (range->overflow == LEY_PLACE_HOST)
        needs[n++] = (memory_need){"a second map, of the overflow", (double)ley_lattice_points(lattice) * sizeof(float),
                                   "--overflow device"};
    return n;
}

ley_status ley_job_check_memory(const ley_atoms *atoms, const ley_lattice *lattice, const ley_job_options *options,
                                ley_error *error)
{
    memory_need needs[MOST_NEEDS];
    size_t n = 0;
    ley_status status = ley_lattice_check(lattice, error);
    if (status != LEY_OK)
        return status;
    const bool is_short = options->method == LEY_METHOD_CUTOFF;
    needs[n++] = (memory_need){"the map", (double)ley_lattice_points(lattice) * sizeof(float), smaller_map};
    needs[n++] =
        (memory_need){"slabs of it", staging_bytes(lattice, is_short ? CUTOFF_LAYER : 1), "fewer points along x and y"};
    if (is_short)
        n += short_range_needs(atoms, lattice, options, needs + n);
    else
        needs[n++] = (memory_need){"packed atoms", (double)ley_atoms_count(atoms) * packed_atom_bytes, "fewer atoms"};
    return memory_check(needs, n, error);
}
