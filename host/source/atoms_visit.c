#include "source/atoms_visit.h"

#include "error.h"
#include "ranks.h"
#include "source/atoms.h"

#include <stdlib.h>
#include <string.h>

enum { TOGETHER = 1 << 15 }; /* atoms that are looked at */

typedef struct visitor {
    const atoms_part *part;
    double reach_A[2];
    double *seen; /* [LEY_ATOM_NUMBERS][TOGETHER] */
    double (*kept)[LEY_ATOM_NUMBERS];
    size_t count, capacity;
} visitor;

static bool keep(visitor *v, size_t n)
{
    const double *position_A = v->seen, *more = v->seen + 3 * (size_t)TOGETHER;
    double at_A;
    for (size_t i = 0; i < n; i++) {
        if (atoms_part_images(v->part, position_A[3 * i + 2], v->reach_A, &at_A) == 0)
            continue;
        if (v->count == v->capacity) {
            const size_t capacity = 2 * v->capacity + TOGETHER;
            double(*grown)[LEY_ATOM_NUMBERS] = realloc(v->kept, capacity * sizeof *grown);
            if (grown == NULL)
                return false;
            v->kept = grown;
            v->capacity = capacity;
        }
        double *to = v->kept[v->count++];
        memcpy(to, position_A + 3 * i, 3 * sizeof *to);
        to[3] = more[i];
        to[4] = more[TOGETHER + i];
    }
    return true;
}

/* In the order in which the other rank has them, which is the file's. */
static ley_status look(visitor *v, int of, size_t atoms, ley_error *error)
{
    v->seen = malloc(LEY_ATOM_NUMBERS * TOGETHER * sizeof *v->seen);
    bool has_memory = v->seen != NULL;
    for (size_t at = 0, n; at < atoms && has_memory; at += n) {
        n = atoms - at < TOGETHER ? atoms - at : TOGETHER;
        ranks_look(of, 3 * at * sizeof *v->seen, v->seen, 3 * n * sizeof *v->seen);
        for (size_t k = 3; k < LEY_ATOM_NUMBERS; k++)
            ranks_look(of, (k * atoms + at) * sizeof *v->seen, v->seen + k * TOGETHER, n * sizeof *v->seen);
        has_memory = keep(v, n);
    }
    free(v->seen);
    return has_memory ? LEY_OK
                      : ley_fail_memory(error, (v->capacity + TOGETHER) * sizeof *v->kept, "another rank's atoms");
}

static ley_status take_kept(const visitor *v, ley_atoms **made, ley_error *error)
{
    const size_t n = v->count > 0 ? v->count : 1;
    const ley_status status = ley_atoms_allocate(n, made, error);
    if (status != LEY_OK)
        return status;
    double *numbers = ley_atoms_numbers(*made);
    for (size_t i = 0; i < v->count; i++) {
        memcpy(numbers + 3 * i, v->kept[i], 3 * sizeof *numbers);
        numbers[3 * n + i] = v->kept[i][3];
        numbers[4 * n + i] = v->kept[i][4];
    }
    if (v->count == 0) /* there must be an atom */
        memcpy(numbers, v->part->sample_A, 3 * sizeof *numbers);
    return LEY_OK;
}

ley_status atoms_part_visit(ley_atoms *atoms, int of, const int64_t *count, int64_t first, int64_t end,
                            atoms_visit *made, ley_error *error)
{
    atoms_part *part = (atoms_part *)(uintptr_t)ley_atoms_part(atoms);
    visitor v = {.part = part};
    atoms_part_reach(part, first, end, v.reach_A);
    *made = (atoms_visit){.first = part->first, .end = part->end};
    ley_status status = look(&v, of, (size_t)count[of], error);
    if (status == LEY_OK)
        status = take_kept(&v, &made->own, error);
    if (status == LEY_OK) {
        ley_atoms_swap_numbers(atoms, made->own);
        part->first = first;
        part->end = end;
    }
    free(v.kept);
    return status;
}

void atoms_part_return(ley_atoms *atoms, atoms_visit *visit)
{
    atoms_part *part = (atoms_part *)(uintptr_t)ley_atoms_part(atoms);
    if (visit->own == NULL)
        return;
    ley_atoms_swap_numbers(atoms, visit->own);
    part->first = visit->first;
    part->end = visit->end;
    ley_atoms_destroy(visit->own);
    visit->own = NULL;
}
