/* The judge's kernel: on each device it says what the host says, of every law, and a wrong one
 * does not pass its own test. */
#include "support.h"

#include "engine/engine.h"
#include "law/dcs.h"
#include "spec.h"
#include "verify/reference_kernel.h"

static const ley_grid grid = {.origin_A = {0, 0, 0}, .step_A = LEY_STEPS(0.5, 0.5, 0.5), .n = {20, 10, 24}};

/* Every law, open and in triclinic cells, with more atoms than a launch takes and with few. */
static reference_terms terms_of(const law *l, int pair, int periodic, size_t many, ley_short_range *range)
{
    static const double cell_A[3][3] = {{14, 0, 0}, {3, 13, 0}, {-2, 1, 15}};
    support_options o = support_default_options();
    *range = o.short_range;
    range->cutoff_A = 7;
    range->kappa_per_A = 0.3;
    range->steepness = 13;
    for (int i = 0; i < 3; i++) {
        range->periodic[i] = periodic >> i & 1;
        memcpy(range->cell_A[i], cell_A[i], sizeof cell_A[i]);
    }
    range->pair = (ley_pair)pair;
    reference_terms t = {.law = l,
                         .constant = -3,
                         .r_min_A = 0.4,
                         .kappa_per_A = 0.2,
                         .range = l->has_pairs ? range : NULL,
                         .largest_A = many > 1000 ? 700 : 0};
    t.atoms = support_crowd(many, &grid, 6, 11);
    return t;
}

static void compare_kernel(worker *w, const reference_terms *t)
{
    enum { POINTS = 40 };
    double point_A[POINTS][3];
    reference_value sums[POINTS];
    reference_kernel k;
    ley_error error = {0};
    for (int i = 0; i < POINTS; i++)
        for (int axis = 0; axis < 3; axis++)
            point_A[i][axis] = 0.31 * ((i * (axis + 3)) % 37) - 1;
    reference_trial *trial;
    dev_kernel built;
    assert_ok(reference_trial_create(t, &trial, &error));
    assert_ok(reference_kernel_build(w->device, trial, &built, &error));
    reference_trial_destroy(trial);
    assert_ok(reference_kernel_create(&built, t, &k, &error));
    assert_ok(reference_kernel_run(&k, POINTS, (const double(*)[3])point_A, NULL, sums, &error));
    for (int i = 0; i < POINTS; i++) {
        const reference_value right = reference_sum(t, point_A[i]);
        if (!reference_agrees(&sums[i], &right) || fabs(sums[i].lower - right.lower) > 1e-9 * right.absolute)
            fail_msg("%s %d at point %d: %.17g of %.17g, not %.17g of %.17g", t->law->name,
                     t->range != NULL ? (int)t->range->pair : 0, i, sums[i].value, sums[i].absolute, right.value,
                     right.absolute);
        assert_true(right.absolute > 0 && isfinite(sums[i].value));
    }
    reference_kernel_destroy(&k);
}

static void check_law(worker *w, const law *l, int pair, size_t many)
{
    for (int periodic = 0; periodic <= (l->has_pairs ? 7 : 0); periodic += support_is_quick() ? 7 : 3 + periodic % 2) {
        ley_short_range range;
        reference_terms t = terms_of(l, pair, periodic, many, &range);
        compare_kernel(w, &t);
        ley_atoms_destroy((ley_atoms *)t.atoms);
    }
}

static void check_laws(worker *w, void *context)
{
    for (const law *const *l = law_registry; *l != NULL; l++)
        for (int pair = 0; pair < ((*l)->has_pairs ? LEY_PAIR_EXPRESSION : 1); pair += support_is_quick() ? 3 : 1)
            check_law(w, *l, pair, pair % 3 == 0 ? 3000 : 150);
}

/* Each law has a number and a name of its own. */
static void test_registry(void **state)
{
    for (const law *const *l = law_registry; *l != NULL; l++)
        for (const law *const *other = law_registry; other != l; other++)
            assert_true((*l)->number != (*other)->number && strcmp((*l)->name, (*other)->name) != 0);
}

static int judge_on(const char *selector, const ley_device_info *info)
{
    ley_engine *engine = NULL;
    if (!info->has_double || !support_open(selector, "the judge's kernel", &engine))
        return 1;
    engine_run(engine, 0, &(engine_task){.run = check_laws}, NULL);
    ley_engine_destroy(engine);
    return 0;
}

static void test_the_judges_kernel(void **state)
{
    support_fresh_cache();
    if (support_on_each_device(judge_on) > 0)
        print_message("some devices have no double precision\n");
}

/* A judge whose formula is wrong does not pass its own test. */
static int wrong_judge_on(const char *selector, const ley_device_info *info)
{
    ley_engine *engine = NULL;
    if (!info->has_double || !support_open(selector, "a wrong judge", &engine))
        return 1;
    ley_error error = {0};
    ley_atoms *atoms = support_crowd(50, &grid, 6, 11);
    const reference_terms t = {.law = &law_dcs, .constant = 1, .atoms = atoms, .r_min_A = 0.4};
    reference_trial *trial;
    dev_kernel built;
    assert_ok(reference_trial_create(&t, &trial, &error));
    assert_int_equal(reference_kernel_build(engine->workers[0].device, trial, &built, &error), LEY_ERROR_WRONG_RESULT);
    reference_trial_destroy(trial);
    ley_atoms_destroy(atoms);
    ley_engine_destroy(engine);
    return 0;
}

static void test_a_wrong_judge(void **state)
{
    support_fresh_cache();
    support_plant_fault("reference", "sum_atoms(gm_atoms + first_atom,", "sum_atoms(gm_atoms + first_atom + 1,");
    support_on_each_device(wrong_judge_on);
    unsetenv("LEYDEN_KERNEL_DIR");
}

int main(void)
{
    return RUN_TESTS(test_registry, test_the_judges_kernel, test_a_wrong_judge);
}
