/* Votes of a vector's lanes, for born_pairs.cl: whether something is so of one of them, or one is
 * below a limit. */
#ifndef LEY_BORN_VOTES_VECTORS_H
#define LEY_BORN_VOTES_VECTORS_H

#define SOME(is) any(is)

LEY_FN bool is_some_below(real x, float limit)
{
#if LEY_ROOT == LEY_ROOT_AVX512
    return ley_lanes_below(x, limit) != 0;
#else
    return any(x < limit);
#endif
}

#endif
