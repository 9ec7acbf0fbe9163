/* Prints host/numerics/error_table.h: `make error-table` writes it. Nobody needs to run it who does
 * not change splittings, windows or what they are expected to be off by; tests/test_tolerance.c
 * finds the entries again, and holds them against maps. */
#include "numerics/error_table.h"
#include "numerics/expected_error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of meshes with spacing 1 A, one level, in open space: 0 where they do not combine. */
static double entry(splitting_kind split, window_kind of, double ratio)
{
    const double low[3] = {0, 0, 0}, high[3] = {10, 10, 10};
    const hierarchy_options o = {.splitting = split,
                                 .window = of,
                                 .solver = of >= WINDOW_BSPLINE4 ? HIERARCHY_FOURIER : HIERARCHY_MULTILEVEL,
                                 .levels = 1,
                                 .cutoff_A = ratio,
                                 .spacing_A = 1};
    hierarchy h = {.levels = 0};
    ley_error error = {0};
    if (cell_make(o.periodic, o.cell_A, &h.cell, &error) != LEY_OK ||
        hierarchy_make(&o, low, high, &h, &error) != LEY_OK) {
        fprintf(stderr, "%s\n", error.message);
        exit(1);
    }
    return expected_error(&h);
}

int main(void)
{
    printf("/* Made by `make error-table`. */\n/* clang-format off */\n");
    for (int s = 0; s < SPLITTING_COUNT; s++) {
        printf("/* %s */\n{", splitting_name((splitting_kind)s));
        for (int w = 0; w < WINDOW_COUNT; w++) {
            printf("%s{", w > 0 ? ",\n " : "");
            for (int i = 0; i < ERROR_TABLE_RATIOS; i++)
                printf("%s%.2e",
                       i == 0       ? ""
                       : i % 8 == 0 ? ",\n  "
                                    : ", ",
                       entry((splitting_kind)s, (window_kind)w, error_table_ratios[i]));
            printf("}");
        }
        printf("},\n");
    }
    return 0;
}
