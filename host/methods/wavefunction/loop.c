#include "methods/wavefunction/loop.h"

#include "clock.h"
#include "core/units.h"
#include "law/wavefunction.h"
#include "parallel.h"
#include "source/wavefunction.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_PLANES = 8, JUDGED = 50 };

/* The basis as the papers have it: of each shell its centre, exponents and normalised coefficients,
 * and a factor for each monomial of the orbital. */
typedef struct loop {
    const ley_wavefunction *w;
    float *exponents, *coefficients; /* [primitives] */
    float *factors;                  /* [shells][BASIS_MOST_MONOMIALS] */
    const ley_grid *grid;
    int64_t first, planes;
    float *values;
} loop;

static void fill(loop *l, int64_t orbital)
{
    double polynomial[BASIS_MOST_MONOMIALS];
    const ley_wavefunction *w = l->w;
    for (int64_t s = 0; s < w->arrays.shells; s++) {
        const basis_shell *shell = &w->shells[s];
        float *factors = l->factors + s * BASIS_MOST_MONOMIALS;
        for (int f = 0; f < basis_shell_functions(shell->l, shell->is_pure); f++) {
            const double c = w->arrays.orbital_coefficients[orbital * w->functions + shell->first_function + f];
            basis_polynomial(shell->l, shell->is_pure, f, polynomial);
            for (int m = 0; m < basis_shell_functions(shell->l, false); m++)
                factors[m] += (float)(c * polynomial[m]);
        }
        for (int64_t p = shell->first_primitive; p < shell->first_primitive + shell->primitives; p++) {
            l->exponents[p] = (float)w->arrays.exponents[p];
            l->coefficients[p] =
                (float)(w->arrays.coefficients[p] * basis_radial_norm(w->arrays.exponents[p], shell->l));
        }
    }
}

static float value_at(const loop *l, const float place[3])
{
    float sum = 0;
    for (int64_t s = 0; s < l->w->arrays.shells; s++) {
        const basis_shell *shell = &l->w->shells[s];
        const double *centre = l->w->arrays.positions_bohr + 3 * shell->atom;
        const float *factors = l->factors + s * BASIS_MOST_MONOMIALS;
        const float x = place[0] - (float)centre[0], y = place[1] - (float)centre[1], z = place[2] - (float)centre[2],
                    r2 = x * x + y * y + z * z;
        float radial = 0, angular = 0, power_x = 1;
        for (int64_t p = shell->first_primitive; p < shell->first_primitive + shell->primitives; p++)
            radial += l->coefficients[p] * expf(-l->exponents[p] * r2);
        for (int i = 0; i <= shell->l; i++, power_x *= x) {
            float power_y = power_x;
            for (int j = 0; j <= shell->l - i; j++, power_y *= y) {
                float power = power_y;
                for (int k = 0; k < shell->l - i - j; k++)
                    power *= z;
                angular += factors[basis_monomial(shell->l, i, j)] * power;
            }
        }
        sum += radial * angular;
    }
    return sum;
}

static void place_of(const loop *l, int64_t row, int64_t x, double place[3])
{
    const int64_t index[3] = {x, row % l->grid->n[1], l->first + row / l->grid->n[1]};
    ley_grid_point_A(l->grid, index, place);
    for (int axis = 0; axis < 3; axis++)
        place[axis] /= units_bohr_A;
}

static void run_rows(void *context, size_t first, size_t last)
{
    const loop *l = context;
    for (size_t row = first; row < last; row++)
        for (int64_t x = 0; x < l->grid->n[0]; x++) {
            double place[3];
            place_of(l, (int64_t)row, x, place);
            l->values[(int64_t)row * l->grid->n[0] + x] =
                value_at(l, (const float[3]){(float)place[0], (float)place[1], (float)place[2]});
        }
}

static double worst_of(const loop *l, int64_t orbital)
{
    const wavefunction_quantity q = {.wavefunction = l->w, .orbital = orbital};
    const int64_t rows = l->grid->n[1] * l->planes;
    double worst = 0, largest = 0;
    for (int64_t i = 0; i < JUDGED; i++) {
        const int64_t at = i * (rows * l->grid->n[0] - 1) / (JUDGED - 1);
        double place[3];
        place_of(l, at / l->grid->n[0], at % l->grid->n[0], place);
        const double right = wavefunction_value(&q, place).value;
        worst = fmax(worst, fabs((double)l->values[at] - right));
        largest = fmax(largest, fabs(right));
    }
    return worst / largest;
}

orbital_loop orbital_loop_measure(const ley_wavefunction *w, int64_t orbital, const ley_grid *grid,
                                  bench_repeats repeats)
{
    orbital_loop made = {.threads = parallel_cores()};
    double seconds[BENCH_MOST_REPEATS];
    loop l = {.w = w,
              .exponents = calloc((size_t)w->arrays.primitives, sizeof(float)),
              .coefficients = calloc((size_t)w->arrays.primitives, sizeof(float)),
              .factors = calloc((size_t)w->arrays.shells * BASIS_MOST_MONOMIALS, sizeof(float)),
              .grid = grid,
              .planes = grid->n[2] < MOST_PLANES ? grid->n[2] : MOST_PLANES};
    l.first = (grid->n[2] - l.planes) / 2;
    made.points = (double)(grid->n[0] * grid->n[1] * l.planes);
    l.values = calloc((size_t)made.points, sizeof(float));
    if (l.exponents != NULL && l.coefficients != NULL && l.factors != NULL && l.values != NULL) {
        fill(&l, orbital);
        while (bench_repeats_go_on(&repeats)) {
            const double start_s = ley_clock_s();
            parallel_ranges((size_t)(grid->n[1] * l.planes), run_rows, &l);
            seconds[repeats.done] = ley_clock_s() - start_s;
            repeats.spent_s += seconds[repeats.done++];
        }
        made.times = bench_statistics_of(seconds, (size_t)repeats.done);
        made.worst = worst_of(&l, orbital);
    }
    free(l.exponents);
    free(l.coefficients);
    free(l.factors);
    free(l.values);
    return made;
}
