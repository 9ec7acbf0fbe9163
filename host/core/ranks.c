#include "leyden.h"

#include "ranks.h"

#include <stdlib.h>
#include <string.h>

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
    return ranks_count_on(0, 1);
}

bool ley_ranks_agree(bool said)
{
    ranks_broadcast(&said, sizeof said);
    return said;
}

static int64_t together(int64_t own, int64_t (*join)(int64_t a, int64_t b))
{
    const int count = ranks_count();
    int64_t *all = malloc((size_t)count * sizeof *all), made = own;
    if (all == NULL)
        return own;
    ranks_share(&own, sizeof own, all);
    for (int i = 0; i < count; i++)
        made = i > 0 ? join(made, all[i]) : all[i];
    free(all);
    return made;
}

static int64_t sum(int64_t a, int64_t b)
{
    return a + b;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

int64_t ley_ranks_sum(int64_t own)
{
    return together(own, sum);
}

int64_t ley_ranks_most(int64_t own)
{
    return together(own, larger);
}

char *ley_ranks_text(int from, const char *own)
{
    size_t size = own != NULL ? strlen(own) + 1 : 0;
    if (from == 0)
        return ranks_own() == 0 && own != NULL ? strdup(own) : NULL;
    if (ranks_own() == from) {
        ranks_send(&size, sizeof size);
        ranks_send(own, size);
    }
    if (ranks_own() != 0)
        return NULL;
    ranks_receive(from, &size, sizeof size);
    char *text = size > 0 ? malloc(size) : NULL;
    if (text != NULL)
        ranks_receive(from, text, size);
    return text;
}
