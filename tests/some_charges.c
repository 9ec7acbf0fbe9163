#include "some_charges.h"

#include "numerics/influence.h"
#include "support.h"

some_charges *some_charges_make(double edge_A, bool is_periodic)
{
    some_charges *c = calloc(1, sizeof *c);
    unsigned seed = 11;
    assert_non_null(c);
    for (int i = 0; i < LONG_ATOMS; i++) {
        for (int axis = 0; axis < 3; axis++)
            c->position_A[i][axis] =
                edge_A * (rand_r(&seed) / (RAND_MAX + 1.0)) + (is_periodic ? 7 * edge_A * (i % 3 - 1) : 0);
        c->charge_e[i] = i % 2 == 0 ? rand_r(&seed) / (RAND_MAX + 1.0) : -c->charge_e[i - 1];
        c->square_e2 += c->charge_e[i] * c->charge_e[i];
    }
    return c;
}

hierarchy some_grid(window_kind of, const char *periodic, const double cell_A[3][3], double long_per_A)
{
    hierarchy_options o = {.splitting = SPLITTING_PSWF,
                           .window = of,
                           .solver = HIERARCHY_FOURIER,
                           .cutoff_A = 8,
                           .spacing_A = 1.3,
                           .long_waves_per_A = long_per_A};
    const double low[3] = {-1, -2, 0}, high[3] = {44, 43, 42};
    ley_error error = {0};
    hierarchy h = {.levels = 0};
    for (int axis = 0; axis < 3; axis++) {
        o.periodic[axis] = strchr(periodic, 'x' + axis) != NULL;
        for (int i = 0; i < 3; i++)
            o.cell_A[axis][i] = cell_A[axis][i];
    }
    assert_ok(cell_make(o.periodic, (const double(*)[3])o.cell_A, &h.cell, &error));
    assert_ok(hierarchy_make(&o, low, high, &h, &error));
    assert_true(long_wavelengths_are_wanted(&h));
    return h;
}

void some_wave(const hierarchy *h, const some_charges *c, const int64_t n[3], const int64_t wave[3], double sum[2])
{
    double factor = 1;
    sum[0] = sum[1] = 0;
    for (int axis = 0; axis < 3; axis++)
        factor *= window_transform(h->window, 2 * M_PI * (double)wave[axis] / (double)n[axis]);
    for (int i = 0; i < LONG_ATOMS; i++) {
        double index[3], angle = 0;
        hierarchy_index(h, c->position_A[i], index);
        for (int axis = 0; axis < 3; axis++)
            angle += 2 * M_PI * (double)wave[axis] / (double)n[axis] * (index[axis] - (double)h->level[0].first[axis]);
        sum[0] += factor * c->charge_e[i] * cos(angle);
        sum[1] -= factor * c->charge_e[i] * sin(angle);
    }
}

/* Some of all waves, and those of each corner. */
static void check_waves(const hierarchy *h, const some_charges *c, const long_charges *coarse, const char *what)
{
    int64_t n[3];
    long_wavelengths made;
    ley_error error = {0};
    influence_extent(h, n);
    assert_ok(long_wavelengths_make(h, n, coarse, NULL, &made, &error));
    assert_true(long_wavelengths_bytes(h, n) == (double)long_wavelengths_count(&made) * sizeof *made.values);
    const int64_t count_x = made.most[0] + 1, count_y = 2 * made.most[1] + 1, count = long_wavelengths_count(&made);
    double worst = 0, longest = 0;
    for (int64_t i = 0; i < count; i += i < 4 || i + 5 > count ? 1 : count / 90 + 1) {
        int64_t wave[3] = {i % count_x, i / count_x % count_y, i / count_x / count_y};
        double right[2], reach = 0;
        for (int axis = 1; axis < 3; axis++)
            wave[axis] -= wave[axis] > made.most[axis] ? 2 * made.most[axis] + 1 : 0;
        for (int axis = 0; axis < 3; axis++)
            reach = fmax(reach, fabs((double)wave[axis]) / fmax((double)made.most[axis], 1));
        some_wave(h, c, n, wave, right);
        const double off = hypot((double)made.values[i][0] - right[0], (double)made.values[i][1] - right[1]) /
                           (sqrt(c->square_e2) + 0.1 * hypot(right[0], right[1]));
        worst = fmax(worst, off);
        longest = fmax(longest, reach <= 0.5 ? off : 0);
    }
    if (getenv("TEST_VERBOSE") != NULL)
        print_message("%s: %lld waves, off by %.2g, the longer half %.2g\n", what, (long long)count, worst, longest);
    if (!(worst < 5e-7 && longest < 1e-7))
        fail_msg("%s: off by %g, the longer half by %g", what, worst, longest);
    long_wavelengths_clear(&made);
}

void some_charges_check(void (*put)(const hierarchy *h, const some_charges *c, long_charges *made))
{
    static const double box_A[3][3] = {{42, 0, 0}, {0, 42, 0}, {0, 0, 42}},
                        oblique_A[3][3] = {{40, 0, 0}, {9, 41, 0}, {-7, 5, 39}};
    static const struct {
        const char *what, *periodic;
        const double (*cell_A)[3];
        window_kind window;
        double long_per_A;
    } cases[] = {{"open", "", box_A, WINDOW_BSPLINE8, 0.3},
                 {"open, few waves", "", box_A, WINDOW_BSPLINE4, 0.05},
                 {"open, many waves", "", box_A, WINDOW_BSPLINE6, 0.7},
                 {"a cell", "xyz", box_A, WINDOW_BSPLINE8, 0.3},
                 {"a layer", "xy", box_A, WINDOW_BSPLINE8, 0.4},
                 {"a wire", "z", box_A, WINDOW_BSPLINE6, 0.4},
                 {"oblique", "xyz", oblique_A, WINDOW_BSPLINE8, 0.4}};
    some_charges *inside = some_charges_make(41, false), *outside = some_charges_make(41, true);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const hierarchy h = some_grid(cases[i].window, cases[i].periodic, cases[i].cell_A, cases[i].long_per_A);
        const some_charges *c = h.cell.dimensions == 3 ? outside : inside;
        long_charges coarse;
        put(&h, c, &coarse);
        check_waves(&h, c, &coarse, cases[i].what);
        long_charges_clear(&coarse);
    }
    free(inside);
    free(outside);
}
