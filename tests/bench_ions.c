/* How long ions take to be placed: bench_ions DEVICE ATOMS NODES IONS [ROUNDS [plain]]
 *
 * A box of water with made-up charges, 10 A of space around it, on a grid of about so many nodes;
 * half of the ions positive. DEVICE is what --device takes; or host, which places the ions in the
 * potential that the default device has made. Medians of the rounds; the first one, which may build
 * kernels, does not count. `plain`: every node is looked at for every ion, as whoever has no bounds
 * does; that takes 8 bytes of memory for each node and ion at least, which the last line has as
 * seconds, at the rate of a copy. */
#include "bandwidth.h"
#include "clock.h"
#include "engine/engine.h"
#include "ions/search.h"
#include "leyden.h"
#include "parallel.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROUNDS = 99 };

static void stop(const char *what, const ley_error *error)
{
    fprintf(stderr, "bench_ions: %s: %s\n", what, error->message);
    exit(1);
}

/* Water whose charges are random, so that there is a potential outside. */
static ley_atoms *make_atoms(int64_t n)
{
    ley_error error = {0};
    ley_atoms *box, *atoms;
    if (ley_waterbox_create(n - n % 3, 1, 0, &box, &error) != LEY_OK)
        stop("atoms", &error);
    double *charge_e = malloc(ley_atoms_count(box) * sizeof *charge_e);
    unsigned state = 1;
    for (size_t i = 0; charge_e != NULL && i < ley_atoms_count(box); i++) {
        state = state * 1664525u + 1013904223u;
        charge_e[i] = ley_atoms_charges_e(box)[i] + 0.2 * ((double)(state >> 8) / 16777216.0 - 0.5);
    }
    if (charge_e == NULL || ley_atoms_create(ley_atoms_count(box), ley_atoms_positions_A(box), charge_e,
                                             ley_atoms_radii_A(box), &atoms, &error) != LEY_OK)
        stop("atoms", &error);
    free(charge_e);
    ley_atoms_destroy(box);
    return atoms;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int n)
{
    qsort(values, (size_t)n, sizeof *values, compare);
    return values[n / 2];
}

/* Bytes per second of a copy by the host, there and back. */
typedef struct host_copy {
    char *from, *to;
} host_copy;

static void copy_part(void *context, size_t first, size_t last)
{
    const host_copy *c = context;
    memcpy(c->to + first, c->from + first, last - first);
}

static double host_rate(void)
{
    const size_t bytes = (size_t)256 << 20;
    host_copy c = {calloc(bytes, 1), calloc(bytes, 1)};
    double best_s = INFINITY;
    for (int i = 0; i < 5 && c.from != NULL && c.to != NULL; i++) {
        const double start_s = ley_clock_s();
        parallel_ranges(bytes, copy_part, &c);
        best_s = fmin(best_s, ley_clock_s() - start_s);
    }
    free(c.from);
    free(c.to);
    return 2 * (double)bytes / best_s;
}

int main(int argc, char **argv)
{
    if (argc < 5) {
        fprintf(stderr, "bench_ions DEVICE ATOMS NODES IONS [ROUNDS [plain]]\n");
        return 1;
    }
    ley_error error = {0};
    const bool is_host = strcmp(argv[1], "host") == 0, is_plain = argc > 6;
    const int rounds = argc > 5 ? atoi(argv[5]) < MOST_ROUNDS ? atoi(argv[5]) : MOST_ROUNDS : 3;
    const double nodes = atof(argv[3]), padding_A = 10;
    const int64_t wanted = atoll(argv[4]);
    ley_atoms *atoms = make_atoms(atoll(argv[2]));
    double low_A[3], high_A[3], volume_A3 = 1;
    ley_atoms_bounds_A(atoms, low_A, high_A);
    for (int axis = 0; axis < 3; axis++)
        volume_A3 *= high_A[axis] - low_A[axis] + 2 * padding_A;
    ley_request request;
    ley_ions_options options;
    ley_ions *ions;
    ley_engine *engine = NULL;
    const ley_ion_species species[] = {{"NA", 1, 0, wanted - wanted / 2}, {"CL", -1, 0, wanted / 2}};
    ley_request_default(&request);
    ley_ions_options_default(&options);
    request.grid.given = LEY_GIVEN_SPACING | LEY_GIVEN_PADDING;
    request.grid.padding_A = padding_A;
    for (int axis = 0; axis < 3; axis++)
        request.grid.spacing_A[axis] = cbrt(volume_A3 / nodes);
    options.species = species;
    options.species_count = 2;
    options.between_A = 5;
    options.placing = is_host ? LEY_PLACE_HOST : LEY_PLACE_DEVICE;
    if (ley_engine_create(is_host ? NULL : argv[1], &engine, &error) != LEY_OK)
        stop("device", &error);
    search_be_plain(is_plain);
    double potential_s[MOST_ROUNDS], mask_s[MOST_ROUNDS], placing_s[MOST_ROUNDS], all_s[MOST_ROUNDS];
    ley_ions_report how = {.nodes = 0};
    for (int round = -1; round < rounds; round++) {
        const double start_s = ley_clock_s();
        if (ley_ions_place(engine, atoms, &request, &options, &ions, &error) != LEY_OK)
            stop("ions", &error);
        how = *ley_ions_how(ions);
        if (round >= 0) {
            potential_s[round] = how.potential_s;
            mask_s[round] = how.mask_s;
            placing_s[round] = how.placing_s;
            all_s[round] = ley_clock_s() - start_s;
        }
        printf("round %d: potential %.4f s, mask %.4f s, placing %.4f s, all %.4f s; %lld recomputed, %lld of %lld "
               "bricks searched, on %s\n",
               round + 1, how.potential_s, how.mask_s, how.placing_s, ley_clock_s() - start_s,
               (long long)how.recomputed, (long long)how.searched, (long long)how.bricks, how.device);
        ley_ions_destroy(ions);
    }
    const double rate = is_host ? host_rate() : 1 / bandwidth_byte_s(engine->workers[0].info, NULL);
    printf("%zu atoms, %lld nodes of %.3g A, %lld free, %lld ions\n", ley_atoms_count(atoms), (long long)how.nodes,
           how.grid.step_A[0][0], (long long)how.free_nodes, (long long)wanted);
    printf("potential %.4f s\nmask %.4f s\nplacing %.4f s\nall %.4f s\n", median(potential_s, rounds),
           median(mask_s, rounds), median(placing_s, rounds), median(all_s, rounds));
    printf("bound of whole passes %.4f s at %.1f GB/s\n", 8 * (double)how.nodes * (double)wanted / rate, 1e-9 * rate);
    ley_engine_destroy(engine);
    ley_atoms_destroy(atoms);
    return 0;
}
