#include "kept_programs.h"

#include <string.h>

static kept_program take(kept_programs *kept, size_t i)
{
    const kept_program taken = kept->list[i];
    kept->count--;
    memmove(&kept->list[i], &kept->list[i + 1], (kept->count - i) * sizeof *kept->list);
    return taken;
}

kept_program kept_programs_take(kept_programs *kept, const cache_key *key)
{
    for (size_t i = 0; i < kept->count; i++)
        if (strcmp(kept->list[i].key.hex, key->hex) == 0)
            return take(kept, i);
    return (kept_program){.program = NULL};
}

kept_program kept_programs_drop(kept_programs *kept)
{
    return kept->count > 0 ? take(kept, 0) : (kept_program){.program = NULL};
}

void kept_programs_put(kept_programs *kept, kept_program one)
{
    kept->list[kept->count++] = one;
}
