/* Thinned combinations: what must occur occurs, and there are few of them. */
#include "pairwise.h"
#include "support.h"

enum { A = 7, B = 4, C = 3, D = 2 };

static void set_level(const char *level)
{
    setenv("TEST_LEVEL", level, 1);
}

/* Values 0 of the first and the second parameter exclude each other; a third value 2 is with even
 * ones only. */
static bool some_exclude_others(const int *at)
{
    return !(at[0] == 0 && at[1] == 0) && !(at[2] == 2 && at[0] % 2 == 1);
}

static const int sizes[] = {A, B, C, D};

/* Which values of which two parameters occur in combinations that this level tries. */
typedef struct met {
    bool pairs[4][A][4][A];
    size_t count;
} met;

static void note(met *m, const int *at)
{
    m->count++;
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 4; k++)
            m->pairs[i][at[i]][k][at[k]] = true;
}

static void try_all(met *m, bool (*can_be)(const int *))
{
    memset(m, 0, sizeof *m);
    int last = -1;
    pairwise p = PAIRWISE(A, B, C, D);
    for (p.can_be = can_be; pairwise_next(&p);) {
        for (int i = 0; i < 4; i++)
            assert_in_range(p.at[i], 0, sizes[i] - 1);
        const int number = ((p.at[0] * B + p.at[1]) * C + p.at[2]) * D + p.at[3];
        assert_true(number > last); /* the nested loops' order, and none twice */
        assert_true(can_be == NULL || can_be(p.at));
        last = number;
        note(m, p.at);
    }
    assert_null(p.chosen);
}

static void test_full_is_the_product(void **state)
{
    static met m;
    set_level("full");
    try_all(&m, NULL);
    assert_int_equal(m.count, A * B * C * D);
    try_all(&m, some_exclude_others);
    assert_int_equal(m.count, A * B * C * D - C * D - 3 * B * D);
}

/* What the whole product has, the few have, too. */
static void check_pairs(bool (*can_be)(const int *), size_t most)
{
    static met all, few;
    set_level("full");
    try_all(&all, can_be);
    set_level("pairwise");
    try_all(&few, can_be);
    assert_memory_equal(all.pairs, few.pairs, sizeof all.pairs);
    assert_in_range(few.count, A * B - 1, most);
}

static void test_every_pair_occurs(void **state)
{
    check_pairs(NULL, A * B + 4); /* fewer than the two largest ones' product is impossible */
    check_pairs(some_exclude_others, A * B + 8);
}

static void test_quick_has_every_value(void **state)
{
    static met m;
    set_level("quick");
    try_all(&m, NULL);
    assert_int_equal(m.count, A);
    for (int i = 0; i < 4; i++)
        for (int value = 0; value < sizes[i]; value++)
            assert_true(m.pairs[i][value][i][value]);
    try_all(&m, some_exclude_others);
    assert_in_range(m.count, A, A + 2);
    for (int i = 0; i < 4; i++)
        for (int value = 0; value < sizes[i]; value++)
            assert_true(m.pairs[i][value][i][value]);
}

static void test_one_parameter_and_loops_left_early(void **state)
{
    set_level("pairwise");
    assert_int_equal(pairwise_count((pairwise)PAIRWISE(5)), 5);
    assert_int_equal(pairwise_count((pairwise)PAIRWISE(5, 1)), 5);
    assert_int_equal(pairwise_count((pairwise)PAIRWISE(2, 2, 2)), 4);
    pairwise p = PAIRWISE(3, 3);
    assert_true(pairwise_next(&p));
    pairwise_end(&p);
    assert_true(pairwise_next(&p));
    assert_int_equal(p.at[0] + p.at[1], 0);
    pairwise_end(&p);
    set_level("quick");
    assert_int_equal(pairwise_count((pairwise)PAIRWISE(5)), 5);
    assert_true(support_is_quick());
    unsetenv("TEST_LEVEL");
    assert_true(support_is_quick());
}

int main(void)
{
    return RUN_TESTS(test_full_is_the_product, test_every_pair_occurs, test_quick_has_every_value,
                     test_one_parameter_and_loops_left_early);
}
