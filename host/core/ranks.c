#include "leyden.h"

#include "ranks.h"

ley_status ley_ranks_begin(ley_error *error)
{
    return ranks_begin(error);
}

void ley_ranks_end(void)
{
    ranks_end();
}

void ley_ranks_abort(int code)
{
    ranks_abort(code);
}

int ley_ranks_count(void)
{
    return ranks_count();
}

int ley_ranks_own(void)
{
    return ranks_own();
}

void ley_ranks_part(bool is_alone)
{
    ranks_part(is_alone);
}

int64_t ley_ranks_take(void)
{
    return ranks_count_on(1);
}

bool ley_ranks_agree(bool said)
{
    ranks_broadcast(&said, sizeof said);
    return said;
}
