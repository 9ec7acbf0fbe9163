#include "pairwise.h"

#include "support.h"

static int parameters(const pairwise *p)
{
    int n = 0;
    while (n < PAIRWISE_PARAMETERS && p->sizes[n] > 0)
        n++;
    return n;
}

static size_t combinations(const pairwise *p)
{
    size_t count = 1;
    for (int i = 0; i < parameters(p); i++)
        count *= (size_t)p->sizes[i];
    assert_in_range(count, 1, PAIRWISE_COMBINATIONS);
    return count;
}

static void take_apart(const pairwise *p, size_t number, int *at)
{
    for (int i = parameters(p) - 1; i >= 0; i--) {
        at[i] = (int)(number % (size_t)p->sizes[i]);
        number /= (size_t)p->sizes[i];
    }
}

static bool is_possible(const pairwise *p, size_t number)
{
    int at[PAIRWISE_PARAMETERS] = {0};
    take_apart(p, number, at);
    return p->can_be == NULL || p->can_be(at);
}

/* What is yet to occur: values of two parameters, or of one alone, which is a pair with itself. */
typedef struct missing {
    size_t first[PAIRWISE_PARAMETERS], values; /* where a parameter's values begin, and how many there are in all */
    bool with_others;
    bool *seen; /* [values][values] */
} missing;

static missing missing_of(const pairwise *p, bool with_others)
{
    missing m = {.with_others = with_others};
    for (int i = 0; i < parameters(p); i++) {
        m.first[i] = m.values;
        m.values += (size_t)p->sizes[i];
    }
    m.seen = calloc(m.values * m.values + 1, sizeof *m.seen);
    assert_non_null(m.seen);
    return m;
}

/* How much of what is missing a combination has; `note` it as seen. */
static int gain(const pairwise *p, missing *m, size_t number, bool note)
{
    int at[PAIRWISE_PARAMETERS] = {0}, gained = 0;
    take_apart(p, number, at);
    for (int i = 0; i < parameters(p); i++)
        for (int k = m->with_others ? i + 1 : i; k < (m->with_others ? parameters(p) : i + 1); k++) {
            bool *seen = &m->seen[(m->first[i] + (size_t)at[i]) * m->values + m->first[k] + (size_t)at[k]];
            gained += !*seen;
            *seen = *seen || note;
        }
    return gained;
}

/* The combination with most of what is missing, of several the first one after the last that was
 * taken, until nothing is missing. */
static void choose(const pairwise *p, bool with_others)
{
    const size_t count = combinations(p);
    missing m = missing_of(p, with_others);
    for (size_t last = count - 1;;) {
        size_t best = count;
        int most = 0;
        for (size_t step = 1; step <= count; step++) {
            const size_t number = (last + step) % count;
            const int gained = is_possible(p, number) ? gain(p, &m, number, false) : 0;
            if (gained > most) {
                most = gained;
                best = number;
            }
        }
        if (most == 0)
            break;
        gain(p, &m, best, true);
        p->chosen[best] = true;
        last = best;
    }
    free(m.seen);
}

static void begin(pairwise *p)
{
    const support_level level = support_get_level();
    p->chosen = calloc(combinations(p), sizeof *p->chosen);
    assert_non_null(p->chosen);
    p->next = 0;
    if (level != SUPPORT_FULL)
        choose(p, level == SUPPORT_PAIRWISE && parameters(p) > 1);
    else
        for (size_t i = 0; i < combinations(p); i++)
            p->chosen[i] = is_possible(p, i);
}

bool pairwise_next(pairwise *p)
{
    if (p->chosen == NULL)
        begin(p);
    while (p->next < combinations(p) && !p->chosen[p->next])
        p->next++;
    if (p->next == combinations(p)) {
        pairwise_end(p);
        return false;
    }
    take_apart(p, p->next++, p->at);
    return true;
}

void pairwise_end(pairwise *p)
{
    free(p->chosen);
    p->chosen = NULL;
    p->next = 0;
}

size_t pairwise_count(pairwise p)
{
    size_t count = 0;
    p.chosen = NULL;
    while (pairwise_next(&p))
        count++;
    return count;
}
