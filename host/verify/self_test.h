/* What the known-answer self-tests of kernels share. */
#ifndef LEY_VERIFY_SELF_TEST_H
#define LEY_VERIFY_SELF_TEST_H

#include "device.h"
#include "law/accuracy.h"

#include <stdint.h>

/* In [0, 1): a linear congruential generator (Numerical Recipes). The numbers matter less than that
 * they are always the same. */
static inline double self_test_fraction(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) / 16777216.0;
}

/* What a kernel made of a problem, and what is right. */
typedef struct self_test {
    const char *variant, *problem; /* their names in a message */
    accuracy_reference *reference;
    const void *context; /* for it */
    double tolerance;    /* of the error at each point */
    double least_share;  /* of what the absolute terms are at the median point: added to them at each point, for
                          * where next to nothing is left digits are lost */
    size_t count;        /* points that are judged, */
    double (*point_A)[3], *value; /* where they are, and what is to be judged there */
} self_test;

/* Of float terms, beside what their recipes cost; of double terms. */
#define SELF_TEST_FLOAT 5e-6
#define SELF_TEST_DOUBLE 1e-10

/* Lets a value in double precision be rounded to a float. */
static inline void self_test_allow_float(reference_value *right)
{
    const double half_digit = 0x1.1p-24 * (right->value < 0 ? -right->value : right->value);
    right->lower -= half_digit;
    right->higher += half_digit;
}

/* The i-th charge of atoms in one place, so that their terms differ by their charges alone: between
 * a large one and its opposite, the last of a tile of a CPU's kernel, small ones of less than half
 * a digit of it, all of which a sum without compensation loses. */
enum { SELF_TEST_PERIOD = 256 };

static inline double self_test_carry_e(size_t i)
{
    return i % SELF_TEST_PERIOD == 0 ? 1 : i % SELF_TEST_PERIOD == SELF_TEST_PERIOD - 1 ? -1 : 2.9e-8;
}

/* What a sum with compensation keeps of them. */
#define SELF_TEST_CARRIES 1e-6

/* What self-tests of the calling thread found, for who asks: their largest error, in shares of what
 * is right, and the value there. */
typedef struct self_test_finding {
    double worst; /* error / tolerance; -1: nothing has been judged */
    double error, tolerance;
    double found, right, allowed; /* off by as much, it would be right */
} self_test_finding;

/* From now on, on this thread; NULL: nobody asks. */
void self_test_listen(self_test_finding *finding);

/* A value that was judged: its error, what it may be, both relative to `scale`. */
void self_test_note(double error, double tolerance, double scale, double found, double right);

/* Who looks for the smallest case that fails has self-tests of this thread make their problems
 * smaller by so many halves; 0: as they are. And a count of such a problem, which is 1 at least. */
void self_test_shrink(int halves);
int self_test_less(int count);

/* Room for so many points. */
ley_status self_test_create(self_test *t, size_t count, ley_error *error);

/* LEY_ERROR_WRONG_RESULT, with the place of the worst point, where one is off by more than the
 * tolerance, or is no number. */
ley_status self_test_judge(const self_test *t, ley_error *error);

void self_test_destroy(self_test *t);

#endif
