/* Atoms in bins and maps in regions: properties that hold for any problem, against lists made
 * without bins. */
#include "support.h"

#include "clock.h"
#include "layout/binning.h"
#include "layout/transpose.h"
#include "parallel.h"

#include <sched.h>

/* ---- A list of all that shall be binned ------------------------------------------------------ */

typedef struct entry {
    int64_t bin;
    int32_t index;
    float slot[4];
} entry;

typedef struct entries {
    size_t n, capacity;
    entry *all;
} entries;

static void add(entries *e, int64_t bin, int32_t index, const float slot[4])
{
    if (e->n == e->capacity) {
        e->capacity = 2 * e->capacity + 64;
        e->all = realloc(e->all, e->capacity * sizeof *e->all);
    }
    entry *new = &e->all[e->n++];
    memset(new, 0, sizeof *new);
    new->bin = bin;
    new->index = index;
    memcpy(new->slot, slot, sizeof new->slot);
}

static int compare_entries(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->bin != y->bin)
        return x->bin < y->bin ? -1 : 1;
    if (x->index != y->index)
        return x->index < y->index ? -1 : 1;
    for (int i = 0; i < 4; i++)
        if (x->slot[i] != y->slot[i])
            return x->slot[i] < y->slot[i] ? -1 : 1;
    return 0;
}

static void sort_entries(entries *e)
{
    if (e->n > 0)
        qsort(e->all, e->n, sizeof *e->all, compare_entries);
}

/* Every image of every atom up to `most` cells away, if it is in reach; the bin is left 0. */
static entries expected_entries(const binning_plan *plan, const ley_atoms *atoms, int most, size_t *outside,
                                size_t *neutral)
{
    const binning_options *o = &plan->options;
    const ley_grid *l = &plan->grid;
    entries e = {0};
    int range[3];
    *outside = *neutral = 0;
    for (int v = 0; v < 3; v++)
        range[v] = o->periodic[v] ? most : 0;
    for (size_t i = 0; i < ley_atoms_count(atoms); i++) {
        const double *position_A = ley_atoms_positions_A(atoms) + 3 * i;
        const float charge = (float)(o->charge_scale * ley_atoms_charges_e(atoms)[i]);
        const size_t before = e.n;
        for (int n2 = -range[2]; n2 <= range[2]; n2++)
            for (int n1 = -range[1]; n1 <= range[1]; n1++)
                for (int n0 = -range[0]; n0 <= range[0]; n0++) {
                    bool inside = true;
                    float slot[4] = {0, 0, 0, charge};
                    for (int axis = 0; axis < 3; axis++) {
                        double d_A = position_A[axis] - l->origin_A[axis];
                        d_A = d_A + n2 * (range[2] ? o->cell_A[2][axis] : 0) + n1 * (range[1] ? o->cell_A[1][axis] : 0);
                        d_A += n0 * (range[0] ? o->cell_A[0][axis] : 0);
                        inside = inside && d_A >= -plan->reach_A &&
                                 d_A <= (double)(l->n[axis] - 1) * l->step_A[axis][axis] + plan->reach_A;
                        const int64_t bin = (int64_t)fmin(
                            d_A * (1 / plan->side_A[axis]) + (double)plan->origin_bin[axis], (double)plan->n[axis] - 1);
                        slot[axis] = (float)(d_A - (double)(bin - plan->origin_bin[axis]) * plan->side_A[axis]);
                    }
                    if (!inside)
                        continue;
                    add(&e, 0, (int32_t)i, slot);
                    for (int v = 0; v < 3; v++) /* else the list is not all there is */
                        assert_true(range[v] == 0 || abs((const int[]){n0, n1, n2}[v]) < most);
                }
        if (e.n > before && charge == 0 && !o->keep_neutral) {
            e.n = before;
            ++*neutral;
        } else if (e.n == before && (charge != 0 || o->keep_neutral || !(range[0] || range[1] || range[2])))
            ++*outside;
        else if (e.n == before)
            ++*neutral;
    }
    sort_entries(&e);
    return e;
}

/* All that was binned, with its bins, or with 0 in their stead. */
static entries binned_entries(const binned_atoms *b, bool with_bins)
{
    entries e = {0};
    for (int64_t bin = 0; bin < b->bins; bin++)
        for (int64_t s = bin * b->depth; s < bin * b->depth + b->used[bin]; s++)
            add(&e, with_bins ? bin : 0, b->index[s], b->slot[s]);
    for (int64_t i = 0; i < b->overflow; i++)
        add(&e, with_bins ? b->overflow_bin[i] : 0, b->overflow_index[i], b->overflow_slot[i]);
    sort_entries(&e);
    return e;
}

static bool is_far(const float slot[4])
{
    return slot[0] == BINNING_FAR_A && slot[1] == BINNING_FAR_A && slot[2] == BINNING_FAR_A && slot[3] == 0;
}

/* Whether the slot lies in its bin, to a float's rounding. */
static bool is_at_home(const binning_plan *plan, const float slot[4])
{
    for (int axis = 0; axis < 3; axis++) {
        const double x_A = (double)slot[axis], rounding_A = 1e-7 * plan->side_A[axis];
        if (x_A < -rounding_A || x_A > plan->side_A[axis] + rounding_A)
            return false;
    }
    return true;
}

/* Faults of bins and overflow in themselves: places, order, what unused slots hold. */
static size_t count_disorder(const binning_plan *plan, const binned_atoms *b)
{
    size_t faults = 0;
    for (int64_t bin = 0; bin < b->bins; bin++) {
        faults += b->used[bin] > b->depth;
        for (int64_t s = bin * b->depth; s < (bin + 1) * b->depth; s++)
            if (s < bin * b->depth + b->used[bin]) {
                faults += !is_at_home(plan, b->slot[s]);
                faults += s > bin * b->depth && b->index[s] < b->index[s - 1];
            } else
                faults += !is_far(b->slot[s]) || b->index[s] != -1;
    }
    for (int64_t i = 0; i < b->overflow; i++) {
        const int32_t bin = b->overflow_bin[i];
        faults += b->used[bin] != b->depth || !is_at_home(plan, b->overflow_slot[i]);
        faults += b->overflow_index[i] < b->index[(int64_t)(bin + 1) * b->depth - 1];
        faults += i > 0 && (bin < b->overflow_bin[i - 1] ||
                            (bin == b->overflow_bin[i - 1] && b->overflow_index[i] < b->overflow_index[i - 1]));
    }
    return faults;
}

static size_t count_differences(const entries *a, const entries *b)
{
    size_t faults = a->n > b->n ? a->n - b->n : b->n - a->n;
    for (size_t i = 0; i < a->n && i < b->n; i++)
        faults += compare_entries(&a->all[i], &b->all[i]) != 0;
    return faults;
}

/* The sparse layer holds the overflow, slot by slot, and nothing else. */
static size_t count_extra_faults(const binned_atoms *b)
{
    size_t faults = b->extra_first[0] != 0 || b->extra_first[b->bins] != b->extra_bins;
    int64_t at = 0;
    for (int64_t bin = 0; bin < b->bins; bin++) {
        faults += b->extra_first[bin + 1] < b->extra_first[bin];
        for (int64_t s = (int64_t)b->extra_first[bin] * b->depth; s < (int64_t)b->extra_first[bin + 1] * b->depth; s++)
            if (at < b->overflow && b->overflow_bin[at] == bin)
                faults += memcmp(b->extra_slot[s], b->overflow_slot[at++], sizeof b->extra_slot[s]) != 0;
            else
                faults += !is_far(b->extra_slot[s]);
    }
    return faults + (at != b->overflow);
}

/* The bin of the lowest point of a region, counted in regions. */
static void binning_home(const binning_plan *plan, const int64_t region[3], int64_t bin[3])
{
    for (int axis = 0; axis < 3; axis++)
        bin[axis] = plan->origin_bin[axis] + (int64_t)floor((double)(region[axis] * plan->options.region[axis]) *
                                                            plan->grid.step_A[axis][axis] / plan->side_A[axis]);
}

/* Atoms within the cutoff of a region's points that its neighbourhood misses; the neighbourhood
 * itself must exist. */
static size_t count_missed(const binning_plan *plan, const entries *with_bins)
{
    const ley_grid *l = &plan->grid;
    int64_t regions[3], r[3], home[3];
    size_t missed = 0;
    for (int axis = 0; axis < 3; axis++)
        regions[axis] = (l->n[axis] + plan->options.region[axis] - 1) / plan->options.region[axis];
    for (r[2] = 0; r[2] < regions[2]; r[2]++)
        for (r[1] = 0; r[1] < regions[1]; r[1]++)
            for (r[0] = 0; r[0] < regions[0]; r[0]++) {
                binning_home(plan, r, home);
                for (int axis = 0; axis < 3; axis++)
                    missed += home[axis] - plan->below[axis] < 0 || home[axis] + plan->above[axis] >= plan->n[axis];
                for (size_t i = 0; i < with_bins->n; i++) {
                    const entry *e = &with_bins->all[i];
                    const int64_t at[3] = {e->bin % plan->n[0], e->bin / plan->n[0] % plan->n[1],
                                           e->bin / plan->n[0] / plan->n[1]};
                    double r2_A2 = 0;
                    bool found = true;
                    for (int axis = 0; axis < 3; axis++) {
                        const double low_A = (double)(r[axis] * plan->options.region[axis]) * l->step_A[axis][axis];
                        const int64_t end = (r[axis] + 1) * plan->options.region[axis],
                                      last = (end < l->n[axis] ? end : l->n[axis]) - 1;
                        const double high_A = (double)last * l->step_A[axis][axis];
                        const double x_A =
                            (double)e->slot[axis] + (double)(at[axis] - plan->origin_bin[axis]) * plan->side_A[axis];
                        const double off_A = fmax(0, fmax(low_A - x_A, x_A - high_A));
                        r2_A2 += off_A * off_A;
                        found = found && at[axis] >= home[axis] - plan->below[axis] &&
                                at[axis] <= home[axis] + plan->above[axis];
                    }
                    missed += !found && r2_A2 < plan->options.cutoff_A * plan->options.cutoff_A;
                }
            }
    return missed;
}

static size_t count_faults(const binning_plan *plan, const binned_atoms *b, const ley_atoms *atoms, int most)
{
    size_t outside, neutral, faults = count_disorder(plan, b);
    entries expected = expected_entries(plan, atoms, most, &outside, &neutral), found = binned_entries(b, false);
    faults += count_differences(&expected, &found);
    faults += b->binned != (int64_t)expected.n || b->outside != (int64_t)outside || b->neutral != (int64_t)neutral;
    free(expected.all);
    free(found.all);
    return faults;
}

typedef struct problem {
    ley_atoms *atoms;
    binning_plan plan;
    binned_atoms *binned;
} problem;

static problem bin_atoms(ley_atoms *atoms, const ley_grid *grid, const binning_options *options)
{
    ley_error error = {0};
    problem p = {.atoms = atoms};
    assert_ok(binning_prepare(atoms, grid, options, &p.plan, &error));
    assert_ok(binning_fill(&p.plan, atoms, NULL, &p.binned, &error));
    return p;
}

static void release(problem *p)
{
    binning_destroy(p->binned);
    ley_atoms_destroy(p->atoms);
}

/* Bins these atoms and takes them; `most` cells to either side are enough. */
static void check(ley_atoms *atoms, const ley_grid *grid, const binning_options *options, int most)
{
    ley_error error = {0};
    problem p = bin_atoms(atoms, grid, options);
    assert_true(p.plan.reach_A >= options->cutoff_A && p.plan.reach_A < 1.001 * options->cutoff_A);
    assert_int_equal(count_faults(&p.plan, p.binned, atoms, most), 0);
    assert_ok(binning_add_extra(p.binned, NULL, &error));
    assert_int_equal(count_extra_faults(p.binned), 0);
    entries e = binned_entries(p.binned, true);
    if (p.plan.grid.n[0] * p.plan.grid.n[1] * p.plan.grid.n[2] <= 64 * 64 * 64)
        assert_int_equal(count_missed(&p.plan, &e), 0);
    free(e.all);
    release(&p);
}

static binning_options options_of(double cutoff_A)
{
    binning_options o;
    binning_options_default(&o);
    o.cutoff_A = cutoff_A;
    o.with_index = true;
    return o;
}

static ley_grid cube(double low_A, double h_A, int64_t n)
{
    return (ley_grid){{low_A, low_A, low_A}, LEY_STEPS(h_A, h_A, h_A), {n, n, n}};
}

/* ---- Open boundaries ------------------------------------------------------------------------- */

static void test_any_atoms(void **state)
{
    ley_grid l = cube(-3, 0.5, 41);
    const ley_grid uneven = {{-1, 2, 1000}, LEY_STEPS(0.3, 0.5, 1.1), {50, 31, 17}},
                   small = {{5, 5, 5}, LEY_STEPS(0.5, 0.5, 0.5), {3, 1, 2}};
    binning_options o = options_of(5);
    check(support_atoms(3000, -15, 35, 1), &l, &o, 0);
    check(support_atoms(3000, 3, 8, 2), &l, &o, 0);
    check(support_atoms(1, 3, 8, 3), &l, &o, 0);
    check(support_atoms(50, 0, 20, 4), &small, &o, 0);
    check(support_atoms(1500, 0, 16, 5), &uneven, &o, 0); /* none in reach */
    for (int depth = 1; depth <= BINNING_MOST_DEPTH; depth = 3 * depth + 1) {
        o.depth = depth;
        for (o.fill = 0.1; o.fill <= 4; o.fill *= 40) /* much overflow at 4 */
            check(support_atoms(2000, -10, 30, 6), &l, &o, 0);
    }
    o = options_of(2.5);
    o.charge_scale = -560.46;
    o.region[1] = 2;
    o.spare_bins = 2;
    l = uneven;
    l.origin_A[2] = 3;
    check(support_atoms(3000, -4, 20, 7), &l, &o, 0);
    memcpy(o.side_A, (double[]){8 * 0.3, 2 * 0.5, 3.3},
           sizeof o.side_A); /* whole spacings: atoms on the walls between bins */
    check(support_atoms(3000, -4, 20, 8), &l, &o, 0);
    memcpy(o.side_A, (double[]){1000, 0.7, 1e9}, sizeof o.side_A);
    check(support_atoms(3000, -4, 20, 8), &l, &o, 0);
    o = options_of(100); /* a ball larger than all there is */
    check(support_atoms(500, 0, 20, 9), &l, &o, 0);
    o = options_of(0.01);
    check(support_atoms(500, 0, 20, 10), &l, &o, 0);
}

static void test_clusters(void **state)
{
    enum { N = 2000 };
    ley_error error = {0};
    const ley_grid l = cube(0, 0.5, 41);
    const binning_options o = options_of(6);
    double position_A[3 * N], charge_e[N];
    for (int i = 0; i < N; i++) {
        for (int axis = 0; axis < 3; axis++) /* half of them in a speck, as many as 1e8 A allow beyond */
            position_A[3 * i + axis] = i % 2   ? 7.7 + 1e-4 * (i % 7 + axis)
                                       : i % 3 ? 0.01 * (i * (axis + 1) % N)
                                       : i % 4 ? 1e8
                                               : -1e8;
        charge_e[i] = i % 5 - 2;
    }
    binning_options all = o;
    ley_atoms *atoms = support_make_atoms(N, position_A, charge_e, NULL);
    check(atoms, &l, &o, 0); /* every fifth has no charge */
    all.keep_neutral = true;
    assert_ok(ley_atoms_create(N, position_A, charge_e, NULL, &atoms, &error));
    check(atoms, &l, &all, 0);
    for (int i = 0; i < 3 * N; i++)
        position_A[i] = 3.25;
    assert_ok(ley_atoms_create(N, position_A, charge_e, NULL, &atoms, &error));
    problem p = bin_atoms(atoms, &l, &all); /* all in one bin */
    assert_int_equal(count_faults(&p.plan, p.binned, atoms, 0), 0);
    assert_true(p.binned->overflow == N - 8);
    assert_ok(binning_add_extra(p.binned, NULL, &error));
    assert_true(p.binned->extra_bins == N / 8 - 1 && count_extra_faults(p.binned) == 0);
    release(&p);
}

/* The side is that of the wished fill; few atoms do not make many bins; tables of neighbours stay
 * small. */
static void test_sides(void **state)
{
    const ley_grid l = cube(-10, 0.5, 161);
    binning_options o = options_of(12);
    problem p = bin_atoms(support_atoms(21600, 0, 60, 11), &l, &o); /* 0.1 an A^3 */
    assert_true(fabs(p.plan.density_per_A3 / 0.1 - 1) < 0.1);
    assert_true(fabs(p.plan.side_A[0] / cbrt(60) - 1) < 0.05);
    assert_true(p.binned->overflow > 0 && p.binned->overflow < 21600 / 10);
    release(&p);
    o.density_per_A3 = 0.2;
    p = bin_atoms(support_atoms(21600, 0, 60, 11), &l, &o);
    assert_true(fabs(p.plan.side_A[0] - cbrt(30)) < 1e-12);
    release(&p);
    o.density_per_A3 = 1e6;
    const ley_grid small = cube(0, 0.5, 9);
    p = bin_atoms(support_atoms(20000, -10, 14, 11), &small, &o);
    assert_in_range(p.plan.below[0] + p.plan.above[0] + 1, 10, 18);
    release(&p);
    p = bin_atoms(support_atoms(1, 0, 60, 11), &l, &o);
    assert_true(p.plan.bins <= 4 + 4096);
    memcpy(o.side_A, (double[]){0.1, 0.1, 0.1}, sizeof o.side_A); /* a plan of more bytes than there are */
    ley_error error = {0};
    assert_ok(binning_prepare(p.atoms, &l, &o, &p.plan, &error));
    assert_true(p.plan.bins > 1e9 && p.plan.slot_bytes == p.plan.bins * 128);
    release(&p);
}

/* Bins for some planes are those of all planes there, byte by byte, though no other atoms be there
 * than those in reach of these planes. */
static void test_planes(void **state)
{
    const ley_grid l = cube(-3, 0.5, 43);
    binning_options o = options_of(5);
    problem all = bin_atoms(support_atoms(6000, -15, 35, 4), &l, &o);
    memcpy(o.side_A, all.plan.side_A, sizeof o.side_A);
    for (o.planes[0] = 0; o.planes[0] < l.n[2]; o.planes[0] += 16) {
        o.planes[1] = o.planes[0] + 16 < l.n[2] ? o.planes[0] + 16 : l.n[2];
        const double *position_A = ley_atoms_positions_A(all.atoms), halo_A = binning_reach_of_planes(&all.plan),
                     low_A = -3 + 0.5 * (double)o.planes[0] - halo_A,
                     high_A = -3 + 0.5 * (double)(o.planes[1] - 1) + halo_A;
        double near_A[3 * 6000], charge_e[6000];
        int32_t number[6000];
        size_t n = 0;
        for (int32_t i = 0; i < 6000; i++)
            if (position_A[3 * i + 2] >= low_A && position_A[3 * i + 2] <= high_A) {
                memcpy(near_A + 3 * n, position_A + 3 * i, 3 * sizeof *near_A);
                charge_e[n] = ley_atoms_charges_e(all.atoms)[i];
                number[n++] = i;
            }
        problem part = bin_atoms(support_make_atoms(n, near_A, charge_e, NULL), &l, &o);
        const int64_t layer = all.plan.n[0] * all.plan.n[1], first = part.plan.first_layer * layer;
        assert_true(n < 5000 && part.plan.n[2] < all.plan.n[2] && part.plan.bins == part.plan.n[2] * layer);
        assert_memory_equal(part.binned->slot, all.binned->slot[first * o.depth],
                            (size_t)(part.plan.bins * o.depth) * sizeof *part.binned->slot);
        for (int64_t s = 0; s < part.plan.bins * o.depth; s++) {
            const int32_t found = part.binned->index[s];
            assert_int_equal(found >= 0 ? number[found] : -1, all.binned->index[first * o.depth + s]);
        }
        release(&part);
    }
    release(&all);
}

static void test_neutral_bins(void **state)
{
    const double position_A[] = {1, 1, 1, 1.1, 1, 1, 1.2, 1, 1}, charge_e[] = {1, 0, 1e-60};
    const ley_grid l = cube(0, 1, 4);
    binning_options o = options_of(3);
    ley_atoms *atoms = support_make_atoms(3, position_A, charge_e, NULL);
    problem p = bin_atoms(atoms, &l, &o); /* a charge that is zero as a float would end the bin, too */
    assert_true(p.binned->neutral == 2 && p.binned->binned == 1 && p.binned->overflow == 0);
    release(&p);
}

/* ---- Periodic boundaries --------------------------------------------------------------------- */

static void set_cell(binning_options *o, const char *axes, const double cell_A[3][3])
{
    for (int v = 0; v < 3; v++)
        o->periodic[v] = strchr(axes, 'x' + v) != NULL;
    memcpy(o->cell_A, cell_A, sizeof o->cell_A);
}

static void test_images(void **state)
{
    const double box_A[3][3] = {{20, 0, 0}, {0, 17, 0}, {0, 0, 25}}, small_A[3][3] = {{7, 0, 0}, {0, 6, 0}, {0, 0, 8}};
    const double skewed_A[3][3] = {{20, 0, 0}, {-9, 18, 0}, {7, 8, 19}},
                 turned_A[3][3] = {{3, 14, 9}, {-12, 4, 11}, {8, -10, 13}};
    const double slanted_A[3][3] = {{6, 0, 0}, {5.5, 5, 0}, {-5, 4, 6}},
                 left_handed_A[3][3] = {{2, 15, 1}, {16, -3, 2}, {1, 2, 17}};
    const char *const axes[] = {"xyz", "xy", "yz", "xz", "x", "y", "z"};
    const ley_grid l = {{-2, 1, 3}, LEY_STEPS(0.5, 0.6, 0.7), {33, 25, 19}};
    for (size_t i = 0; i < sizeof axes / sizeof axes[0]; i++) {
        binning_options o = options_of(6);
        set_cell(&o, axes[i], box_A);
        check(support_atoms(400, -30, 50, 20), &l, &o, 8); /* molecules that were never wrapped */
        set_cell(&o, axes[i], skewed_A);
        check(support_atoms(300, -5, 30, 21), &l, &o, 10);
        set_cell(&o, axes[i], turned_A);
        check(support_atoms(300, -5, 30, 22), &l, &o, 10);
        set_cell(&o, axes[i], left_handed_A);
        check(support_atoms(200, -5, 30, 26), &l, &o, 10);
        o = options_of(12); /* beyond the cell */
        set_cell(&o, axes[i], small_A);
        check(support_atoms(20, 0, 7, 23), &l, &o, 9);
        set_cell(&o, axes[i], slanted_A);
        check(support_atoms(5, 0, 7, 24), &l, &o, 40);
    }
}

/* An atom and its image are the same thing; vectors that are not periodic are not read. */
static void test_same_crystal(void **state)
{
    enum { N = 200 };
    ley_error error = {0};
    const double cell_A[3][3] = {{20, 0, 0}, {-9, 18, 0}, {NAN, NAN, NAN}};
    const ley_grid l = cube(-4, 0.5, 33);
    binning_options o = options_of(9);
    set_cell(&o, "xy", cell_A);
    ley_atoms *atoms = support_atoms(N, -3, 12, 25), *moved = NULL;
    double position_A[3 * N];
    for (size_t i = 0; i < N; i++)
        for (int axis = 0; axis < 3; axis++)
            position_A[3 * i + (size_t)axis] =
                ley_atoms_positions_A(atoms)[3 * i + (size_t)axis] +
                (axis < 2 ? (double)i * cell_A[0][axis] - 3.0 * (double)(i % 2) * cell_A[1][axis] : 0);
    assert_ok(ley_atoms_create(N, position_A, ley_atoms_charges_e(atoms), NULL, &moved, &error));
    o.density_per_A3 = 0.1;
    problem a = bin_atoms(atoms, &l, &o), b = bin_atoms(moved, &l, &o);
    entries x = binned_entries(a.binned, false), y = binned_entries(b.binned, false);
    assert_true(x.n == y.n && x.n > N);
    double sum[2][4] = {{0}};
    for (size_t i = 0; i < x.n; i++)
        for (int k = 0; k < 4; k++) {
            sum[0][k] += (double)x.all[i].slot[k] * (1 + x.all[i].index);
            sum[1][k] += (double)y.all[i].slot[k] * (1 + y.all[i].index);
        }
    for (int k = 0; k < 4; k++)
        assert_true(fabs(sum[0][k] - sum[1][k]) < 1e-5 * (double)x.n * N);
    free(x.all);
    free(y.all);
    release(&a);
    release(&b);
}

/* ---- Refusals, faults, threads --------------------------------------------------------------- */

static void assert_refused(const ley_grid *l, const binning_options *o, ley_status expected)
{
    ley_error error = {0};
    binning_plan plan;
    ley_atoms *atoms = support_atoms(10, 0, 10, 30);
    assert_int_equal(binning_prepare(atoms, l, o, &plan, &error), expected);
    assert_true(error.message[0] != '\0');
    ley_error_clear(&error);
    ley_atoms_destroy(atoms);
}

static void test_refusals(void **state)
{
    const ley_grid l = cube(0, 0.5, 500), none = cube(0, 0, 1);
    const binning_options good = options_of(10);
#define REFUSED(status, ...) \
    do { \
        binning_options o = good; \
        __VA_ARGS__; \
        assert_refused(&l, &o, status); \
    } while (0)
    REFUSED(LEY_ERROR_USAGE, o.cutoff_A = 0);
    REFUSED(LEY_ERROR_USAGE, o.cutoff_A = NAN);
    REFUSED(LEY_ERROR_USAGE, o.cutoff_A = INFINITY);
    REFUSED(LEY_ERROR_USAGE, o.depth = 0);
    REFUSED(LEY_ERROR_USAGE, o.depth = BINNING_MOST_DEPTH + 1);
    REFUSED(LEY_ERROR_USAGE, o.fill = 0);
    REFUSED(LEY_ERROR_USAGE, o.density_per_A3 = -1);
    REFUSED(LEY_ERROR_USAGE, o.charge_scale = NAN);
    REFUSED(LEY_ERROR_USAGE, o.region[2] = 0);
    REFUSED(LEY_ERROR_USAGE, o.spare_bins = -1);
    REFUSED(LEY_ERROR_USAGE, o.side_A[1] = 3);
    REFUSED(LEY_ERROR_USAGE, o.side_A[0] = o.side_A[1] = 3; o.side_A[2] = NAN);
    REFUSED(LEY_ERROR_INPUT, o.side_A[0] = o.side_A[1] = o.side_A[2] = 0.1);
    REFUSED(LEY_ERROR_INPUT, o.side_A[0] = o.side_A[1] = o.side_A[2] = 1e-6);
    REFUSED(LEY_ERROR_INPUT, o.spare_bins = 1 << 20);
    const double flat_A[3][3] = {{1, 0, 0}, {0, 1, 0}, {2, 3, 0}}, line_A[3][3] = {{1, 2, 3}, {2, 4, 6}, {0, 0, 0}};
    const double no_number_A[3][3] = {{NAN, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                 no_end_A[3][3] = {{INFINITY, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const double thin_A[3][3] = {{0.2, 0, 0}, {0, 0.2, 0}, {0, 0, 0.2}};
    REFUSED(LEY_ERROR_INPUT, set_cell(&o, "xyz", flat_A));
    REFUSED(LEY_ERROR_INPUT, set_cell(&o, "xy", line_A));
    REFUSED(LEY_ERROR_INPUT, set_cell(&o, "z", line_A));
    REFUSED(LEY_ERROR_INPUT, set_cell(&o, "xyz", no_number_A));
    REFUSED(LEY_ERROR_INPUT, set_cell(&o, "x", no_end_A));
    REFUSED(LEY_ERROR_INPUT, set_cell(&o, "xyz", thin_A)); /* 2e9 images per atom */
#undef REFUSED
    assert_refused(&none, &good, LEY_ERROR_INPUT);
    ley_grid flat = l;
    memcpy(flat.step_A[1], flat.step_A[0], sizeof flat.step_A[1]);
    assert_refused(&flat, &good, LEY_ERROR_INPUT);
}

/* The checks above see what they are for. */
static void test_planted_faults(void **state)
{
    const ley_grid l = cube(0, 0.5, 41);
    binning_options o = options_of(5);
    o.fill = 2;
    problem p = bin_atoms(support_atoms(3000, 0, 20, 31), &l, &o);
    binned_atoms *b = p.binned;
    int64_t bin = b->overflow_bin[0];
    float *slot = b->slot[bin * b->depth];
    assert_int_equal(count_faults(&p.plan, b, p.atoms, 0), 0);
#define CAUGHT(number, value) \
    do { \
        const __typeof__(number) right = (number); \
        (number) = (value); \
        assert_true(count_faults(&p.plan, b, p.atoms, 0) > 0); \
        (number) = right; \
    } while (0)
    CAUGHT(slot[0], nextafterf(slot[0], 100));
    CAUGHT(slot[1], slot[1] + (float)p.plan.side_A[1]);
    CAUGHT(slot[3], 0);
    CAUGHT(b->used[bin], 7); /* one lost */
    CAUGHT(b->overflow, b->overflow - 1);
    CAUGHT(b->overflow_index[0], b->index[bin * b->depth]);
    CAUGHT(b->overflow_bin[0], b->overflow_bin[b->overflow - 1]);
    CAUGHT(b->outside, 1);
    bin = 0;
    assert_int_equal(b->used[0], 0);
    CAUGHT(b->slot[0][2], 0);
    assert_int_equal(count_faults(&p.plan, b, p.atoms, 0), 0);
#undef CAUGHT
    release(&p);
}

static void assert_same_bins(const binned_atoms *a, const binned_atoms *b)
{
    const size_t bins = (size_t)a->bins, slots = bins * (size_t)a->depth, overflow = (size_t)a->overflow;
    assert_true(a->bins == b->bins && a->overflow == b->overflow && a->binned == b->binned && overflow > 0);
    assert_memory_equal(a->slot, b->slot, slots * sizeof *a->slot);
    assert_memory_equal(a->used, b->used, bins);
    assert_memory_equal(a->index, b->index, slots * sizeof *a->index);
    assert_memory_equal(a->overflow_slot, b->overflow_slot, overflow * sizeof *a->overflow_slot);
    assert_memory_equal(a->overflow_bin, b->overflow_bin, overflow * sizeof *a->overflow_bin);
    assert_memory_equal(a->overflow_index, b->overflow_index, overflow * sizeof *a->overflow_index);
}

/* One core or all of them: the same bytes, in memory that the caller gave, too. */
static void test_threads(void **state)
{
    const ley_grid l = cube(0, 0.5, 121);
    const double cell_A[3][3] = {{60, 0, 0}, {10, 60, 0}, {0, 0, 60}};
    binning_options o = options_of(8);
    ley_error error = {0};
    cpu_set_t all, one;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    CPU_ZERO(&one);
    for (int cpu = 0; CPU_COUNT(&one) == 0; cpu++)
        if (CPU_ISSET(cpu, &all))
            CPU_SET(cpu, &one);
    for (int periodic = 0; periodic < 2; periodic++) {
        set_cell(&o, periodic ? "xyz" : "", cell_A);
        problem p = bin_atoms(support_atoms(60000, 0, 60, 32), &l, &o);
        void *slots = malloc((size_t)p.plan.slot_bytes);
        binned_atoms *alone = NULL;
        assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
        assert_int_equal(parallel_cores(), 1);
        assert_ok(binning_fill(&p.plan, p.atoms, slots, &alone, &error));
        assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
        assert_true((void *)alone->slot == slots);
        assert_same_bins(p.binned, alone);
        binning_destroy(alone);
        free(slots);
        release(&p);
    }
}

/* Another order of the atoms: other slots, but the same atoms belong to each bin. */
static void test_any_order(void **state)
{
    enum { N = 20000 };
    ley_error error = {0};
    const ley_grid l = cube(0, 0.5, 81);
    binning_options o = options_of(8);
    ley_atoms *atoms = support_atoms(N, 0, 40, 33), *turned = NULL;
    double *position_A = malloc(3 * N * sizeof *position_A), *charge_e = malloc(N * sizeof *charge_e);
    for (size_t i = 0; i < N; i++) {
        memcpy(position_A + 3 * i, ley_atoms_positions_A(atoms) + 3 * (N - 1 - i), 3 * sizeof *position_A);
        charge_e[i] = ley_atoms_charges_e(atoms)[N - 1 - i];
    }
    assert_ok(ley_atoms_create(N, position_A, charge_e, NULL, &turned, &error));
    o.density_per_A3 = 0.2;
    problem a = bin_atoms(atoms, &l, &o), b = bin_atoms(turned, &l, &o);
    entries x = binned_entries(a.binned, true), y = binned_entries(b.binned, true);
    for (size_t i = 0; i < y.n; i++)
        y.all[i].index = N - 1 - y.all[i].index;
    sort_entries(&y);
    assert_int_equal(count_differences(&x, &y), 0);
    assert_true(memcmp(a.binned->slot, b.binned->slot, (size_t)a.plan.slot_bytes) != 0);
    free(x.all);
    free(y.all);
    free(position_A);
    free(charge_e);
    release(&a);
    release(&b);
}

/* ---- Maps in regions ------------------------------------------------------------------------- */

static const int64_t shapes[][2][3] = {{{17, 9, 23}, {8, 8, 8}}, {{16, 8, 8}, {8, 8, 8}},  {{1, 1, 1}, {8, 8, 8}},
                                       {{7, 31, 3}, {8, 8, 8}},  {{13, 11, 7}, {5, 3, 7}}, {{40, 5, 9}, {16, 2, 4}},
                                       {{9, 10, 11}, {1, 1, 1}}, {{25, 3, 2}, {8, 4, 1}}};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static tiled_slab slab_of(size_t shape, padded_store store)
{
    tiled_slab slab = {.store = store};
    memcpy(slab.n, shapes[shape][0], sizeof slab.n);
    memcpy(slab.region, shapes[shape][1], sizeof slab.region);
    return slab;
}

/* Where a point stands, from the definition. */
static int64_t place_of(const tiled_slab *slab, int64_t x, int64_t y, int64_t z)
{
    const int64_t *r = slab->region, rx = (slab->n[0] + r[0] - 1) / r[0], ry = (slab->n[1] + r[1] - 1) / r[1];
    return (((z / r[2] * ry + y / r[1]) * rx + x / r[0]) * r[2] + z % r[2]) * r[1] * r[0] + y % r[1] * r[0] + x % r[0];
}

/* Each point where it belongs, in each way of storing; what stands in the padding does not come
 * along, nor is it written to. */
static void test_transposition(void **state)
{
    for (size_t shape = 0; shape < SHAPES; shape++)
        for (int store = PADDED_FLOAT; store <= PADDED_DOUBLE; store++) {
            const tiled_slab slab = slab_of(shape, (padded_store)store);
            int64_t points, bytes;
            assert_true(tiled_points(&slab, &points) && tiled_bytes(&slab, &bytes));
            assert_true(bytes == points * (store == PADDED_FLOAT ? 4 : 8));
            const size_t n = (size_t)(slab.n[0] * slab.n[1] * slab.n[2]);
            float *single = malloc((size_t)bytes), *map = malloc((n + 1) * sizeof *map),
                  *again = malloc(n * sizeof *again), *ruined = malloc(n * sizeof *ruined);
            double *twice = (double *)(void *)single;
            transpose_to_regions(&slab, memset(again, 0, n * sizeof *again), NAN, single); /* poison */
            size_t i = 0;
            for (int64_t z = 0; z < slab.n[2]; z++)
                for (int64_t y = 0; y < slab.n[1]; y++)
                    for (int64_t x = 0; x < slab.n[0]; x++, i++) {
                        const int64_t at = place_of(&slab, x, y, z);
                        if (store == PADDED_DOUBLE)
                            twice[at] = (double)i * (1 + 1e-12);
                        else
                            single[at] = (float)i;
                        if (store == PADDED_COMPENSATED)
                            single[points + at] = 0.25f;
                    }
            map[n] = 7;
            transpose_to_rows(&slab, single, map);
            for (i = 0; i < n; i++)
                assert_true(map[i] == (float)i - (store == PADDED_COMPENSATED ? 0.25f : 0));
            assert_true(map[n] == 7);
            transpose_to_regions(&slab, map, NAN, single);
            transpose_to_rows(&slab, single, again);
            assert_memory_equal(map, again, n * sizeof *map);
            const int64_t last =
                place_of(&slab, slab.n[0] - 1, slab.n[1] - 1, slab.n[2] - 1); /* a planted fault shows */
            if (store == PADDED_DOUBLE)
                twice[last] += 1;
            else
                single[last] += 1;
            assert_true(transpose_to_rows(&slab, single, again));
            if (store == PADDED_DOUBLE)
                twice[last] = 1e300; /* no float */
            else
                single[last] = NAN;
            assert_false(transpose_to_rows(&slab, single, ruined));
            assert_true(again[n - 1] == map[n - 1] + 1 && memcmp(map, again, (n - 1) * sizeof *map) == 0);
            free(single);
            free(map);
            free(again);
            free(ruined);
        }
}

/* A map in slabs of whole regions is the map in one piece. */
static void test_seams(void **state)
{
    for (size_t shape = 0; shape < SHAPES; shape++) {
        const tiled_slab whole = slab_of(shape, PADDED_FLOAT);
        int64_t bytes, layer;
        tiled_slab slab = whole;
        slab.n[2] = whole.region[2];
        assert_true(tiled_bytes(&whole, &bytes) && tiled_points(&slab, &layer));
        const int64_t plane = whole.n[0] * whole.n[1], points = plane * whole.n[2];
        float *tiled = malloc((size_t)bytes), *map = malloc((size_t)points * sizeof *map),
              *pieces = malloc((size_t)points * sizeof *map);
        for (int64_t i = 0; i < bytes / 4; i++)
            tiled[i] = (float)i;
        transpose_to_rows(&whole, tiled, map);
        for (int64_t z = 0; z < whole.n[2]; z += slab.region[2]) {
            slab.n[2] = whole.n[2] - z < slab.region[2] ? whole.n[2] - z : slab.region[2];
            transpose_to_rows(&slab, tiled + z / slab.region[2] * layer, pieces + z * plane);
        }
        assert_memory_equal(map, pieces, (size_t)points * sizeof *map);
        free(tiled);
        free(map);
        free(pieces);
    }
    int64_t bytes;
    tiled_slab huge = {{1 << 20, 1 << 20, 1 << 20}, {8, 8, 8}, PADDED_DOUBLE};
    assert_false(tiled_bytes(&huge, &bytes));
    huge.n[2] = 1;
    assert_true(tiled_bytes(&huge, &bytes) && bytes == (int64_t)1 << 46);
    huge.n[0] = 0;
    assert_false(tiled_bytes(&huge, &bytes));
    huge.n[0] = INT64_MAX;
    assert_false(tiled_bytes(&huge, &bytes));
}

/* ---- Times ----------------------------------------------------------------------------------- */

static size_t timed_atoms(void)
{
    return support_is_sanitized ? 100000 : 1534539;
}

static void time_binning(const char *what, ley_atoms *atoms, bool extra)
{
    ley_error error = {0};
    const double edge_A = cbrt((double)timed_atoms() / 0.1), padding_A = 0.25;
    const ley_grid l = cube(padding_A, 0.5, (int64_t)(edge_A / 0.5) - 1);
    binning_options o = options_of(12);
    double best_s = 1e9, prepare_s = 1e9, extra_s = 1e9;
    o.with_index = false;
    void *slots = NULL;
    for (int repeat = 0; repeat < 7; repeat++) {
        binning_plan plan;
        binned_atoms *b = NULL;
        const double start_s = ley_clock_s();
        assert_ok(binning_prepare(atoms, &l, &o, &plan, &error));
        const double middle_s = ley_clock_s();
        if (slots == NULL && extra) { /* staging memory is there before */
            slots = malloc((size_t)plan.slot_bytes);
            memset(slots, 0, (size_t)plan.slot_bytes);
        }
        const double filling_s = ley_clock_s();
        assert_ok(binning_fill(&plan, atoms, slots, &b, &error));
        const double end_s = ley_clock_s();
        assert_ok(binning_add_extra(b, NULL, &error));
        extra_s = fmin(extra_s, ley_clock_s() - end_s);
        prepare_s = fmin(prepare_s, middle_s - start_s);
        best_s = fmin(best_s, end_s - filling_s);
        if (repeat == 6)
            print_message("%zu atoms, %s: plan %.1f ms, bins %.1f ms, sparse layer %.1f ms (%lld bins of %.2f A, %lld "
                          "overflow, %lld outside)\n",
                          timed_atoms(), what, 1e3 * prepare_s, 1e3 * best_s, 1e3 * extra_s, (long long)plan.bins,
                          plan.side_A[0], (long long)b->overflow, (long long)b->outside);
        binning_destroy(b);
    }
    free(slots);
}

static int by_slab(const void *a, const void *b)
{
    const double *x = a, *y = b;
    for (int axis = 2; axis >= 0; axis--) {
        const double u = floor(x[axis] / 3), v = floor(y[axis] / 3);
        if (u != v)
            return u < v ? -1 : 1;
    }
    return 0;
}

static void test_binning_time(void **state)
{
    ley_error error = {0};
    const size_t n = timed_atoms();
    ley_atoms *atoms = support_atoms(n, 0, cbrt((double)n / 0.1), 40), *sorted = NULL;
    double *position_A = malloc(3 * n * sizeof *position_A);
    memcpy(position_A, ley_atoms_positions_A(atoms), 3 * n * sizeof *position_A);
    qsort(position_A, n, 3 * sizeof *position_A, by_slab);
    assert_ok(ley_atoms_create(n, position_A, ley_atoms_charges_e(atoms), NULL, &sorted, &error));
    time_binning("at random, new memory", atoms, false);
    time_binning("at random, memory used before", atoms, true);
    time_binning("in order, memory used before", sorted, true);
    ley_atoms_destroy(atoms);
    ley_atoms_destroy(sorted);
    free(position_A);
}

static void test_transposition_time(void **state)
{
    const int64_t extent = support_is_sanitized ? 101 : 494;
    const tiled_slab slab = {{extent, extent, extent}, {8, 8, 8}, PADDED_FLOAT};
    int64_t bytes, points = slab.n[0] * slab.n[1] * slab.n[2];
    assert_true(tiled_bytes(&slab, &bytes));
    float *tiled = malloc((size_t)bytes), *map = malloc((size_t)points * sizeof *map);
    double best_s = 1e9;
    for (int64_t i = 0; i < bytes / 4; i++)
        tiled[i] = (float)i;
    memset(map, 0xff, (size_t)points * sizeof *map);
    for (int repeat = 0; repeat < 5; repeat++) {
        const double start_s = ley_clock_s();
        transpose_to_rows(&slab, tiled, map);
        best_s = fmin(best_s, ley_clock_s() - start_s);
    }
    assert_true(map[points - 1] == (float)place_of(&slab, slab.n[0] - 1, slab.n[1] - 1, slab.n[2] - 1));
    print_message("%lld^3 points to rows: %.3f s, %.1f GB/s read and written\n", (long long)extent, best_s,
                  8e-9 * (double)points / best_s);
    free(tiled);
    free(map);
}

int main(void)
{
    return RUN_GROUP(SUPPORT_GROUP(.name = "binning"), test_any_atoms, test_clusters, test_sides, test_planes,
                     test_neutral_bins, test_images, test_same_crystal, test_refusals, test_planted_faults,
                     test_threads, test_any_order, test_transposition, test_seams, test_binning_time,
                     test_transposition_time);
}
