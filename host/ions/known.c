#include "ions/known.h"

#include "error.h"

#include <stdlib.h>

struct ions_known {
    size_t room, count;
    known_place *places; /* open addressing; room is a power of 2 */
};

static known_place *known_slot(const ions_known *k, int64_t number)
{
    size_t i = (size_t)((uint64_t)number * UINT64_C(0x9E3779B97F4A7C15) >> 20) & (k->room - 1);
    while (k->places[i].number != -1 && k->places[i].number != number)
        i = (i + 1) & (k->room - 1);
    return &k->places[i];
}

static ley_status known_resize(ions_known *k, size_t room, ley_error *error)
{
    ions_known next = {.room = room, .count = k->count, .places = malloc(room * sizeof *k->places)};
    if (next.places == NULL)
        return ley_fail_memory(error, room * sizeof *k->places, "places that were recomputed");
    for (size_t i = 0; i < room; i++)
        next.places[i].number = -1;
    for (size_t i = 0; i < k->room; i++)
        if (k->places[i].number != -1)
            *known_slot(&next, k->places[i].number) = k->places[i];
    free(k->places);
    *k = next;
    return LEY_OK;
}

ley_status ions_known_create(ions_known **known, ley_error *error)
{
    ions_known *k = calloc(1, sizeof *k);
    if (k == NULL)
        return ley_fail_memory(error, sizeof *k, "places that were recomputed");
    const ley_status status = known_resize(k, 1 << 12, error);
    if (status == LEY_OK)
        *known = k;
    else
        free(k);
    return status;
}

void ions_known_destroy(ions_known *k)
{
    if (k == NULL)
        return;
    free(k->places);
    free(k);
}

const exact_value *ions_known_at(const ions_known *k, int64_t number)
{
    const known_place *place = known_slot(k, number);
    return place->number == number ? &place->value : NULL;
}

ley_status ions_known_add(ions_known *k, int64_t number, const exact_value *value, ley_error *error)
{
    const ley_status status = 2 * ++k->count > k->room ? known_resize(k, 2 * k->room, error) : LEY_OK;
    if (status == LEY_OK)
        *known_slot(k, number) = (known_place){number, *value};
    return status;
}
