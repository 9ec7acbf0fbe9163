/* Which combinations of several parameters' values a test tries. One line in place of nested loops:
 *
 *     for (pairwise p = PAIRWISE(VARIANTS, SUMS, MATHS); pairwise_next(&p);)
 *         check(variants[p.at[0]], p.at[1], p.at[2]);
 *
 * tries at TEST_LEVEL=full the whole product; at pairwise a few combinations in which every value
 * of each parameter meets every value of each other one; at quick fewer still, in which every value
 * occurs. The order is that of the nested loops, and always the same. */
#ifndef LEY_TEST_PAIRWISE_H
#define LEY_TEST_PAIRWISE_H

#include <stdbool.h>
#include <stddef.h>

enum { PAIRWISE_PARAMETERS = 8, PAIRWISE_COMBINATIONS = 1 << 14 };

typedef struct pairwise {
    int at[PAIRWISE_PARAMETERS];    /* the values of this combination, from 0 */
    int sizes[PAIRWISE_PARAMETERS]; /* how many values each parameter has; 0 ends them */
    bool (*can_be)(const int *at);  /* may be NULL; combinations that it refuses do not count */
    bool *chosen;                   /* [combinations]; the first parameter varies slowest */
    size_t next;
} pairwise;

#define PAIRWISE(...) \
    { \
        .sizes = { __VA_ARGS__ } \
    }

/* Goes on to the next combination; false, and everything is freed, when there is none. Whoever
 * leaves the loop early calls pairwise_end(). */
bool pairwise_next(pairwise *p);
void pairwise_end(pairwise *p);

/* How many combinations there are at this level. */
size_t pairwise_count(pairwise p);

#endif
