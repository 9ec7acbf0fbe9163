/* Kahan's sum. A dialect header comes first. */
#ifndef LEY_KEPT_SUM_H
#define LEY_KEPT_SUM_H

/* A running sum, and what its last additions lost. */
typedef struct {
    real sum, lost;
} kept_sum;

LEY_FN void keep(kept_sum *s, real term)
{
    const real y = term - s->lost, t = s->sum + y;
    s->lost = (t - s->sum) - y;
    s->sum = t;
}

#endif
