#include "some_energies.h"

#include <math.h>
#include <stdlib.h>

static double fraction(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) / 16777216.0;
}

static int64_t side_of(int64_t count)
{
    int64_t side = 1;
    while (side * side * side < count)
        side++;
    return side;
}

double some_width_A(int64_t count, double spacing_A)
{
    return (double)side_of(count) * spacing_A;
}

float *some_positions(int64_t count, int64_t frames, double spacing_A, unsigned seed)
{
    const int64_t side = side_of(count);
    unsigned state = seed;
    float *made = malloc((size_t)(3 * count * frames) * sizeof *made);
    for (int64_t k = 0; k < 3 * count * frames && made != NULL; k++) {
        const int64_t i = k / 3 % count, at = k % 3 == 0 ? i % side : k % 3 == 1 ? i / side % side : i / (side * side);
        made[k] = (float)(spacing_A * ((double)at + 0.3 * fraction(&state)) + 11.5 * (double)(k % 3) - 7);
    }
    return made;
}

typedef struct lists {
    int32_t (*exclusion)[2], (*pair_14)[2];
    int64_t exclusions, pairs_14;
} lists;

static void list_pairs(int64_t count, lists *l)
{
    for (int32_t i = 0; i < count; i++) {
        const int32_t to[4] = {i + 1, i + 2, i + 3, i + 131};
        for (int k = 0; k < 4; k++) {
            if (to[k] >= count || (k == 3 && i % 6 > 0))
                continue;
            int32_t *pair = k == 2 ? l->pair_14[l->pairs_14++] : l->exclusion[l->exclusions++];
            pair[0] = k % 2 == 0 ? i : to[k];
            pair[1] = k % 2 == 0 ? to[k] : i;
        }
    }
}

/* Numbers of all arrays, in one block. */
ley_particles *some_particles(int64_t count, int64_t types, unsigned seed)
{
    const size_t n = (size_t)count, square = (size_t)(types * types);
    unsigned state = seed;
    double *number = calloc(14 * n + 2 * square, sizeof *number), *charge = number, *radius = number + n,
           *screen = number + 2 * n, *factor = number + 3 * n, *qq = number + 6 * n, *a14 = number + 7 * n,
           *b14 = number + 8 * n, *outer = number + 9 * n, *lcpo = number + 10 * n, *a = number + 14 * n,
           *b = a + square;
    int32_t *type = calloc(2 * n, sizeof *type), *residue = type + n;
    lists l = {calloc(3 * n, sizeof *l.exclusion), calloc(n, sizeof *l.pair_14), 0, 0};
    ley_particles *made = NULL;
    if (number != NULL && type != NULL && l.exclusion != NULL && l.pair_14 != NULL) {
        list_pairs(count, &l);
        for (size_t i = 0; i < n; i++) {
            charge[i] = fraction(&state) - 0.5;
            radius[i] = 1.2 + 0.6 * fraction(&state);
            screen[i] = 0.7 + 0.2 * fraction(&state);
            outer[i] = i % 4 == 0 ? 0 : 1.5 + 0.4 * fraction(&state);
            lcpo[4 * i] = i % 4 == 0 ? 0 : 0.7;
            lcpo[4 * i + 1] = i % 4 == 0 ? 0 : -0.3 + 0.1 * fraction(&state);
            lcpo[4 * i + 2] = i % 4 == 0 ? 0 : -0.0002;
            lcpo[4 * i + 3] = i % 4 == 0 ? 0 : 0.0001;
            factor[3 * i] = 1;
            factor[3 * i + 1] = 0.8;
            factor[3 * i + 2] = 4.85;
            qq[i] = 0.3 * (fraction(&state) - 0.5);
            a14[i] = 1e4 * (1 + fraction(&state));
            b14[i] = 50 * (1 + fraction(&state));
            type[i] = (int32_t)((double)types * fraction(&state));
            residue[i] = (int32_t)i / 15;
        }
        for (int64_t s = 0; s < types; s++)
            for (int64_t t = 0; t < types; t++) { /* the first has none */
                const double sigma6 = pow(2 + 0.5 * (double)(s + t) / (double)types, 6),
                             epsilon = s * t == 0 ? 0 : 0.05 + 0.01 * (double)((s + t) % 7);
                a[s * types + t] = 4 * epsilon * sigma6 * sigma6;
                b[s * types + t] = 4 * epsilon * sigma6;
            }
        const ley_particles_arrays arrays = {.size = sizeof arrays,
                                             .particles = count,
                                             .types = types,
                                             .exclusions = l.exclusions,
                                             .pairs_14 = l.pairs_14,
                                             .residues = (count + 14) / 15,
                                             .charges = charge,
                                             .type = type,
                                             .lennard_jones_a = a,
                                             .lennard_jones_b = b,
                                             .exclusion = (const int32_t(*)[2])l.exclusion,
                                             .pair_14 = (const int32_t(*)[2])l.pair_14,
                                             .pair_14_charges = qq,
                                             .pair_14_a = a14,
                                             .pair_14_b = b14,
                                             .born_radii = radius,
                                             .born_screens = screen,
                                             .born_factors = (const double(*)[3])factor,
                                             .surface_radii = outer,
                                             .lcpo_factors = (const double(*)[4])lcpo,
                                             .residue = residue};
        if (ley_particles_create(&arrays, &made, NULL) != LEY_OK)
            made = NULL;
    }
    free(number);
    free(type);
    free(l.exclusion);
    free(l.pair_14);
    return made;
}
