#include "methods/wavefunction/esp_bench.h"

#include "core/units.h"
#include "error.h"
#include "law/esp.h"
#include "methods/wavefunction/esp_build.h"

#include <math.h>
#include <stdlib.h>

enum { JUDGED = 40 };
static const double most_left_out = 1e-7; /* hartree/e, of pairs that are left out */

typedef struct esp_bench_run {
    const ley_bench_options *o;
    const esp_bench *problem;
    hermite_charges charges;
    double *weights;
    esp_kernel kernel;
    esp_run run;
    int64_t points, slab, first; /* in all, at a time, of the slab at hand */
    esp_bench_found *found;
} esp_bench_run;

/* Scattered: the order is that of multiples of a number that no number of points shares a factor
 * with. */
static void place_of(const void *context, int64_t i, double place[3])
{
    const esp_bench_run *r = context;
    const ley_grid *grid = r->problem->grid;
    int64_t at = r->first + i;
    if (r->problem->is_scattered)
        at = at % r->points * 1000003 % r->points;
    const int64_t index[3] = {at % grid->n[0], at / grid->n[0] % grid->n[1], at / (grid->n[0] * grid->n[1])};
    ley_grid_point_A(grid, index, place);
    for (int axis = 0; axis < 3; axis++)
        place[axis] /= units_bohr_A;
}

/* ---- What the kernel has to do --------------------------------------------------------------- */

/* A multiply-add for each coefficient, for each one of Boys' polynomial, of its recurrence, and of
 * the distance. */
static double adds_of(int l)
{
    const double distance = 9, top = l == HERMITE_MULTIPOLES ? 0 : LEY_BOYS_DEGREE + 2;
    return hermite_size(l) + top + 2 * hermite_momentum(l) + distance;
}

static void count_operations(esp_bench_run *r)
{
    double counts[HERMITE_CLASSES];
    r->first = 0;
    esp_count(&r->kernel.problem, place_of, r, r->points, counts);
    for (int l = 0; l < HERMITE_CLASSES; l++) {
        const double all = (double)r->points * counts[l];
        r->found->multiply_adds += all * adds_of(l);
        r->found->exponentials += l > 0 && l != HERMITE_MULTIPOLES ? all : 0;
    }
}

/* ---- Runs ------------------------------------------------------------------------------------ */

/* With the nuclei, as the method adds them. */
static void judge(esp_bench_run *r, int64_t count)
{
    const int64_t slabs = (r->points + r->slab - 1) / r->slab, each = (JUDGED + slabs - 1) / slabs;
    const wavefunction_quantity q = {.wavefunction = r->problem->wavefunction, .weights = r->weights};
    uint64_t random = (uint64_t)r->first + 1;
    for (int64_t k = 0; k < each; k++) {
        const int64_t at = (int64_t)(bench_random(&random) * (double)count);
        double place[1][3], values[4] = {esp_run_value(&r->run, 0, at)};
        reference_value right;
        place_of(r, at, place[0]);
        esp_run_add_nuclei(&r->run, at, q.wavefunction->arrays.charges, place[0], values);
        esp_values(&q, 1, (const double(*)[3])place, &right);
        const double off = fabs(values[0] - right.value);
        r->found->worst = isfinite(off) ? fmax(r->found->worst, off / right.absolute) : INFINITY;
        r->found->error2 += off * off;
        r->found->right2 += right.value * right.value;
        r->found->judged++;
    }
}

static ley_status run_once(void *context, double *seconds, ley_error *error)
{
    esp_bench_run *r = context;
    const bool judges = r->found->judged == 0;
    ley_status status = LEY_OK;
    *seconds = 0;
    for (r->first = 0; r->first < r->points && status == LEY_OK; r->first += r->slab) {
        const int64_t left = r->points - r->first, count = left < r->slab ? left : r->slab;
        status = bench_cancelled(r->o) ? ley_fail(error, LEY_CANCELLED, "cancelled")
                                       : esp_run_begin(&r->run, place_of, r, count, NULL, error);
        if (status == LEY_OK)
            status = esp_run_finish(&r->run, error);
        *seconds += r->run.command_sequence.times.kernel_s;
        if (status == LEY_OK && judges)
            judge(r, count);
    }
    return status;
}

static ley_status make_charges(esp_bench_run *r, ley_error *error)
{
    const ley_wavefunction *w = r->problem->wavefunction;
    expansion e;
    ley_status status = LEY_OK;
    r->weights = calloc((size_t)w->arrays.orbitals, sizeof *r->weights);
    if (r->weights == NULL)
        return ley_fail_memory(error, (size_t)w->arrays.orbitals * sizeof *r->weights, "the benchmark");
    for (int64_t i = 0; i < w->arrays.orbitals && status == LEY_OK; i++)
        status = wavefunction_weight(w, i, false, &r->weights[i], error);
    if (status == LEY_OK)
        status = expansion_create(w, &e, error);
    if (status != LEY_OK)
        return status;
    const hermite_wish wish = {.weights = r->weights, .most_left_out = most_left_out};
    status = hermite_create(&e, &wish, &r->charges, error);
    expansion_destroy(&e);
    return status;
}

static ley_status ready(worker *w, esp_bench_run *r, ley_error *error)
{
    bool wanted[HERMITE_CLASSES];
    for (int l = 0; l < HERMITE_CLASSES; l++)
        wanted[l] = r->charges.classes[l].count > 0;
    ley_status status = esp_kernel_create(w->device, wanted, false, (int)r->o->math, &r->kernel, error);
    const esp_problem problem = {.charges = &r->charges, .reach = 1e6};
    if (status == LEY_OK)
        status = esp_kernel_load(&r->kernel, &problem, error);
    return status == LEY_OK ? esp_run_create(&r->run, &r->kernel, r->slab, error) : status;
}

ley_status esp_bench_measure(worker *w, const ley_bench_options *o, const esp_bench *p, bench_row *b,
                             esp_bench_found *found, ley_error *error)
{
    enum { MOST_SLAB = 1 << 20 };
    const int64_t points = ley_grid_points(p->grid);
    esp_bench_run r = {
        .o = o, .problem = p, .points = points, .slab = points < MOST_SLAB ? points : MOST_SLAB, .found = found};
    *found = (esp_bench_found){.judged = 0};
    ley_status status = make_charges(&r, error);
    if (status == LEY_OK)
        status = ready(w, &r, error);
    if (status == LEY_OK)
        status = bench_time(o, (double)points * (double)hermite_count(&r.charges), run_once, &r, b, error);
    if (status == LEY_OK) {
        const hermite_spec *spec = &r.kernel.classes[HERMITE_MULTIPOLES].spec;
        count_operations(&r);
        found->exp = calibrate_exp_name(spec->exp);
        found->root = calibrate_root_name(spec->root);
    }
    esp_run_destroy(&r.run);
    esp_kernel_destroy(&r.kernel);
    hermite_destroy(&r.charges);
    free(r.weights);
    return status;
}
