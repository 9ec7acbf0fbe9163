#include "source/large_charges.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* So many times as large as half of the others a charge stands out: of a few hundred, the squared
 * errors beside it are then about as much as those beside all others. */
static const double outstanding = 8;

static int compare_numbers(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void large_charges_begin(large_charges *l, size_t n, double *charge_e)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        if (charge_e[i] != 0)
            charge_e[count++] = fabs(charge_e[i]);
    qsort(charge_e, count, sizeof *charge_e, compare_numbers);
    *l = (large_charges){.least_e = count > 0 ? outstanding * charge_e[count / 2] : INFINITY};
}

static void add(large_charges *l, const double place_A[3], double charge_e)
{
    const double size_e = fabs(charge_e);
    if (size_e < l->least_e || (l->count == LARGE_CHARGES && size_e <= fabs(l->list[l->smallest].charge_e)))
        return;
    large_charge *to = &l->list[l->count < LARGE_CHARGES ? l->count++ : l->smallest];
    memcpy(to->place_A, place_A, sizeof to->place_A);
    to->charge_e = charge_e;
    l->smallest = 0;
    for (size_t i = 1; i < l->count; i++)
        if (fabs(l->list[i].charge_e) < fabs(l->list[l->smallest].charge_e))
            l->smallest = i;
}

void large_charges_add(large_charges *l, size_t n, const double *position_A, const double *charge_e)
{
    for (size_t i = 0; i < n; i++)
        add(l, position_A + 3 * i, charge_e[i]);
}

void large_charges_join(large_charges *l, const large_charges *other)
{
    for (size_t i = 0; i < other->count; i++)
        add(l, other->list[i].place_A, other->list[i].charge_e);
}
