/* Names of orbitals: homo, lumo, homo-1, in letters of any case, numbers from 1, ranges. */
#include "core/number.h"
#include "error.h"
#include "source/wavefunction.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct orbital_names {
    const ley_wavefunction *w;
    const char *names, *at;
    int64_t *order; /* orbitals of the spin at hand, by energy */
    int64_t count;
} orbital_names;

static ley_status fail_name(const orbital_names *n, const char *what, ley_error *error)
{
    char quote[LEY_TEXT_QUOTE];
    return ley_fail(error, LEY_ERROR_USAGE,
                    "orbitals %s: %s; names are homo, lumo, homo-1, numbers from 1 to %lld, and ranges, 12-20 or "
                    "homo-2..lumo, with commas between them",
                    ley_quote(n->names, strlen(n->names), quote), what, (long long)n->w->arrays.orbitals);
}

static bool take_word(const char **at, const char *word)
{
    const bool is_there = strncasecmp(*at, word, strlen(word)) == 0;
    *at += is_there ? strlen(word) : 0;
    return is_there;
}

static bool take_number(const char **at, int64_t *number)
{
    const char *from = *at;
    while (ley_is_digit(**at))
        ++*at;
    return ley_parse_int64(from, (size_t)(*at - from), number) == LEY_NUMBER_FINE;
}

/* Orbitals of one spin, or of all, by energy, those of one energy by number. */
static void sort(orbital_names *n, int spin)
{
    const ley_wavefunction_arrays *a = &n->w->arrays;
    n->count = 0;
    for (int64_t i = 0; i < a->orbitals; i++) {
        if (spin != 0 && a->spins[i] != spin && a->spins[i] != 0)
            continue;
        int64_t k = n->count++;
        for (; k > 0 && a->energies[n->order[k - 1]] > a->energies[i]; k--)
            n->order[k] = n->order[k - 1];
        n->order[k] = i;
    }
}

/* "homo+1": the place behind the last one that has half an electron or more. */
static ley_status take_frontier(orbital_names *n, bool is_lumo, int64_t *orbital, ley_error *error)
{
    int64_t steps = 0, homo = n->count - 1;
    const bool is_up = *n->at == '+';
    if ((is_up || *n->at == '-') && ley_is_digit(n->at[1])) {
        n->at++;
        if (!take_number(&n->at, &steps) || steps > n->w->arrays.orbitals)
            return fail_name(n, "a number that is too large", error);
    }
    while (homo >= 0 && n->w->arrays.occupations[n->order[homo]] < 0.5)
        homo--;
    const int64_t place = homo + is_lumo + (is_up ? steps : -steps);
    if (place < 0 || place >= n->count)
        return fail_name(n, is_lumo ? "there is no such unoccupied orbital" : "there is no such orbital", error);
    *orbital = n->order[place];
    return LEY_OK;
}

static ley_status take_name(orbital_names *n, int64_t *orbital, ley_error *error)
{
    const int spin = take_word(&n->at, "alpha:") ? 1 : take_word(&n->at, "beta:") ? -1 : 0;
    sort(n, spin);
    if (take_word(&n->at, "homo"))
        return take_frontier(n, false, orbital, error);
    if (take_word(&n->at, "lumo"))
        return take_frontier(n, true, orbital, error);
    if (!take_number(&n->at, orbital))
        return fail_name(n, "that is no name of an orbital", error);
    if (*orbital < 1 || *orbital > n->count)
        return fail_name(n, "there is no orbital of this number", error);
    if (spin == 0) {
        --*orbital;
        return LEY_OK;
    }
    int64_t left = *orbital; /* by number among those of the spin */
    for (int64_t i = 0; i < n->w->arrays.orbitals; i++)
        if ((n->w->arrays.spins[i] == spin || n->w->arrays.spins[i] == 0) && --left == 0)
            *orbital = i;
    return LEY_OK;
}

static ley_status add_range(orbital_names *n, int64_t first, int64_t last, int64_t **list, size_t *count,
                            ley_error *error)
{
    if (last < first)
        return fail_name(n, "a range whose end is before its beginning", error);
    const size_t more = (size_t)(last - first + 1);
    if (*count + more > (size_t)INT32_MAX)
        return fail_name(n, "too many of them", error);
    int64_t *grown = realloc(*list, (*count + more) * sizeof *grown);
    if (grown == NULL)
        return ley_fail_memory(error, (*count + more) * sizeof *grown, "the list of orbitals");
    *list = grown;
    for (int64_t i = first; i <= last; i++)
        grown[(*count)++] = i;
    return LEY_OK;
}

static ley_status take_all(orbital_names *n, int64_t **list, size_t *count, ley_error *error)
{
    ley_status status = LEY_OK;
    do {
        int64_t first = 0, last;
        status = take_name(n, &first, error);
        last = first;
        if (status == LEY_OK && (take_word(&n->at, "..") || take_word(&n->at, "-")))
            status = take_name(n, &last, error);
        if (status == LEY_OK)
            status = add_range(n, first, last, list, count, error);
    } while (status == LEY_OK && take_word(&n->at, ","));
    return status == LEY_OK && *n->at != '\0' ? fail_name(n, "something behind a name", error) : status;
}

ley_status ley_wavefunction_find(const ley_wavefunction *w, const char *names, int64_t **orbitals, size_t *count,
                                 ley_error *error)
{
    orbital_names n = {
        .w = w, .names = names, .at = names, .order = calloc((size_t)w->arrays.orbitals, sizeof *n.order)};
    int64_t *list = NULL;
    size_t found = 0;
    if (n.order == NULL)
        return ley_fail_memory(error, (size_t)w->arrays.orbitals * sizeof *n.order, "the list of orbitals");
    const ley_status status = take_all(&n, &list, &found, error);
    free(n.order);
    if (status != LEY_OK) {
        free(list);
        return status;
    }
    *orbitals = list;
    *count = found;
    return LEY_OK;
}
