/* Energies and forces of particles, in `leyden bench`. */
#include "bench_row.h"
#include "registry.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SIZES "as many atoms as DHFR (23,558), ApoA1 (92,224) and STMV (1,066,628) have, in water's molecules"
#define NOT_ITS \
    { \
        {"atoms", "its sizes are those of papers"}, {"dims", "its particles are in no grid"}, \
            {"math", "energies have no choice of it"}, \
        { \
            "sum", "energies have no choice of it" \
        } \
    }

static const ley_bench_row *right_row(const ley_bench_device *device, const char *variant)
{
    for (size_t i = 0; i < device->row_count; i++)
        if (device->rows[i].status == LEY_OK && !bench_is_wrong(&device->rows[i]) &&
            strcmp(device->rows[i].variant, variant) == 0)
            return &device->rows[i];
    return NULL;
}

static void print_ratio(const ley_bench_device *device, const char *variant, const char *what)
{
    const ley_bench_row *row = right_row(device, variant);
    if (row != NULL && device->host_loop_evaluations_per_s > 0)
        printf("%s%s to a plain loop in C on one core: %.3g\n", variant, what,
               row->evaluations_per_s / device->host_loop_evaluations_per_s);
}

/* What the papers compare: their first variant with their second, without and with its lists. */
static void print_variants(const ley_bench_device *device)
{
    static const char *const systems[] = {"dhfr-9A", "dhfr-12A", "apoa1-9A", "apoa1-12A", "stmv-9A", "stmv-12A"};
    static const char *const steps[3] = {"patches", "forces", "lists"};
    for (size_t i = 0; i < sizeof systems / sizeof *systems; i++) {
        double ms[3];
        for (size_t k = 0; k < 3; k++) {
            char variant[32];
            snprintf(variant, sizeof variant, "%s-%s", systems[i], steps[k]);
            const ley_bench_row *row = right_row(device, variant);
            ms[k] = row != NULL ? ley_bench_row_figure(row, "frame_ms") : NAN;
        }
        if (ms[0] / ms[1] > 0)
            printf("%s: patches (two passes) take %.3g times as long as tile lists (one pass)", systems[i],
                   ms[0] / ms[1]);
        if (ms[0] / (ms[1] + ms[2]) > 0)
            printf(", %.3g times with the making of lists", ms[0] / (ms[1] + ms[2]));
        if (ms[0] / ms[1] > 0)
            puts("");
    }
}

static void print_pairs(const ley_bench_device *device)
{
    print_ratio(device, "dhfr-9A-forces", ", without the making of lists,");
    print_variants(device);
    puts(
        "pairs are those within the cutoff, each of two particles; shares are of what these take, which are fewer than "
        "lists have");
    puts("papers: tile lists 1.4 to 1.6 times NAMD's kernel before, their building 1.7 to 2.2 times, on a K40m; no "
         "seconds are given");
}

static void print_gb(const ley_bench_device *device)
{
    print_ratio(device, "mmgbsa", "");
    puts("OBC2, all pairs, each of two particles; energies: radii and energies alone; forces: all three passes; "
         "mmgbsa: complex, receptor and ligand, from and to the host's memory");
    puts("papers: 6 times NAMD's kernel before with 13,340 atoms, on a K40m; no seconds are given");
}

static void print_pme(const ley_bench_device *device)
{
    (void)device;
    puts("forces to 1e-4, pairs within 12 A; a frame: lists, pairs, mesh; transforms: there and back, with what is "
         "between "
         "them");
}

const bench_row pairs_bench = {
    .option =
        {.name = "pairs",
         .says =
             "pairs: lists of pairs, energies and forces of pairs within 9 and 12 A, by these and by the papers' first "
             "kernels, and of all pairs: " SIZES},
    .not_its = NOT_ITS,
    .columns = BENCH_PAIRS | BENCH_ENERGIES,
    .print = print_pairs,
};

const bench_row gb_bench = {
    .option = {.name = "gb",
               .says = "gb: generalised Born's three passes over 4,656, 5,238 and 13,386 atoms, and MM/GBSA of a "
                       "complex of 5,000"},
    .not_its = NOT_ITS,
    .columns = BENCH_PAIRS | BENCH_ENERGIES,
    .print = print_gb,
};

const bench_row pme_bench = {
    .option = {.name = "pme", .says = "pme: each step of Ewald's sum on a mesh, and whole frames: " SIZES},
    .not_its = NOT_ITS,
    .columns = BENCH_STEPS | BENCH_ENERGIES,
    .print = print_pme,
};
