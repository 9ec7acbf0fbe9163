/* What a particle has of its pairs, or a vector of particles. A dialect header comes first. */
#ifndef LEY_PAIR_SUMS_H
#define LEY_PAIR_SUMS_H

typedef struct {
    real lennard_jones, coulomb, x, y, z;
} pair_sums;

LEY_FN void clear_sums(pair_sums *s) { s->lennard_jones = s->coulomb = s->x = s->y = s->z = (real)0; }

LEY_FN void add_sums(pair_sums *s, const pair_sums *more)
{
    s->lennard_jones += more->lennard_jones;
    s->coulomb += more->coulomb;
    s->x += more->x;
    s->y += more->y;
    s->z += more->z;
}

#if LEY_WIDTH == 1
/* To [LEY_LIST_SUMS][slots]: of energies half, the other particle has the rest. */
LEY_FN void store_sums_at(const pair_sums *s, size_t slots, LEY_GLOBAL float *gm_own)
{
    gm_own[0] = 0.5f * s->lennard_jones;
    gm_own[slots] = 0.5f * s->coulomb;
    gm_own[2 * slots] = s->x;
    gm_own[3 * slots] = s->y;
    gm_own[4 * slots] = s->z;
}
#endif

#endif
