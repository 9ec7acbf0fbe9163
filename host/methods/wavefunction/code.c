#include "methods/wavefunction/code.h"

#include "error.h"
#include "verify/self_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What compilers take a second or two for. */
enum { MOST_GAUSSIANS = 400, COPIES = 2 };

/* ---- Texts ----------------------------------------------------------------------------------- */

/* Of a centre: LEY_CENTRES(reaches, coefficients, LEY_GAUSSIAN(l, rate, reaches and coefficients in
 * front of it) ...), the widest first. From malloc; NULL: there is no memory. */
static char *text_of(const expansion *e, int32_t centre)
{
    const int32_t first = e->first_of[centre], count = e->first_of[centre + 1] - first;
    char *text = NULL;
    size_t size = 0;
    int coefficients = 0;
    FILE *to = open_memstream(&text, &size);
    if (to == NULL)
        return NULL;
    for (int32_t i = 0; i < count; i++)
        coefficients += expansion_polynomial(e->gaussians[first + i].l);
    fprintf(to, "LEY_CENTRES(%d, %d,", count, coefficients);
    coefficients = 0;
    for (int32_t i = 0; i < count; i++) {
        const expansion_gaussian *g = &e->gaussians[first + count - 1 - i];
        fprintf(to, " LEY_GAUSSIAN(%d, %.17e, %d, %d)", g->l, -g->exponent * M_LOG2E, i, coefficients);
        coefficients += expansion_polynomial(g->l);
    }
    fputs(") ", to);
    return fclose(to) == 0 ? text : NULL;
}

/* The first centre of each kind, and its text. */
typedef struct kind {
    char *text;
    int32_t number, centre;
} kind;

static int by_text(const void *a, const void *b)
{
    return strcmp(((const kind *)a)->text, ((const kind *)b)->text);
}

/* Each centre's kind by the number under which it was found; false: no memory. */
static bool find_kinds(const expansion *e, basis_code *made, kind *kinds)
{
    for (int32_t centre = 0; centre < e->centres; centre++) {
        char *text = text_of(e, centre);
        int32_t k = 0;
        if (text == NULL)
            return false;
        while (k < made->kinds && strcmp(kinds[k].text, text) != 0)
            k++;
        made->kind_of[centre] = k;
        if (k == made->kinds) {
            kinds[made->kinds++] = (kind){text, k, centre};
            made->gaussians += e->first_of[centre + 1] - e->first_of[centre];
        } else {
            free(text);
        }
    }
    return true;
}

/* In an order that does not depend on the molecule. */
static bool put_in_order(const expansion *e, basis_code *made, kind *kinds)
{
    int32_t *place = calloc((size_t)made->kinds + 1, sizeof *place);
    size_t size = 0;
    FILE *to = place != NULL ? open_memstream(&made->text, &size) : NULL;
    if (to == NULL) {
        free(place);
        return false;
    }
    qsort(kinds, (size_t)made->kinds, sizeof *kinds, by_text);
    fputs("#define LEY_BASIS_CODE ", to);
    for (int32_t k = 0; k < made->kinds; k++) {
        place[kinds[k].number] = k;
        fputs(kinds[k].text, to);
    }
    for (int32_t centre = 0; centre < e->centres; centre++) {
        made->kind_of[centre] = place[made->kind_of[centre]];
        made->counts[made->kind_of[centre]]++;
    }
    free(place);
    return fclose(to) == 0;
}

ley_status basis_code_create(const expansion *e, basis_code *made, ley_error *error)
{
    const size_t n = (size_t)e->centres + 1;
    *made = (basis_code){.kind_of = calloc(n, sizeof *made->kind_of), .counts = calloc(n, sizeof *made->counts)};
    kind *kinds = calloc(n, sizeof *kinds);
    const bool is_made = made->kind_of != NULL && made->counts != NULL && kinds != NULL && find_kinds(e, made, kinds) &&
                         put_in_order(e, made, kinds);
    for (int32_t k = 0; kinds != NULL && k < made->kinds; k++)
        free(kinds[k].text);
    free(kinds);
    if (is_made)
        return LEY_OK;
    basis_code_destroy(made);
    return ley_fail_memory(error, n * sizeof *kinds, "the basis' code");
}

void basis_code_destroy(basis_code *code)
{
    free(code->kind_of);
    free(code->counts);
    free(code->text);
    *code = (basis_code){.kinds = 0};
}

bool basis_code_is_short(const basis_code *code)
{
    return code->gaussians <= MOST_GAUSSIANS;
}

/* ---- The sample ------------------------------------------------------------------------------ */

/* Arrays of a wavefunction in the making, with room for all that could be in it. */
typedef struct making {
    ley_wavefunction_arrays a;
    double *positions, *charges, *exponents, *coefficients, *orbitals, *occupations;
    int32_t *atom, *l, *pure;
    int64_t *first, functions;
} making;

/* All shells of a centre once more, around another one. */
static void copy_shells(const expansion *e, int32_t centre, making *m)
{
    const ley_wavefunction *w = e->wavefunction;
    for (int64_t s = 0; s < w->arrays.shells; s++) {
        const basis_shell *shell = &w->shells[s];
        const int32_t g = e->gaussian_of[shell->first_primitive];
        if (g < e->first_of[centre] || g >= e->first_of[centre + 1])
            continue;
        m->atom[m->a.shells] = (int32_t)m->a.nuclei;
        m->l[m->a.shells] = shell->l;
        m->pure[m->a.shells] = shell->is_pure;
        for (int64_t p = 0; p < shell->primitives; p++, m->a.primitives++) {
            m->exponents[m->a.primitives] = w->arrays.exponents[shell->first_primitive + p];
            m->coefficients[m->a.primitives] = w->arrays.coefficients[shell->first_primitive + p];
        }
        m->first[++m->a.shells] = m->a.primitives;
        m->functions += basis_shell_functions(shell->l, shell->is_pure);
    }
    m->a.nuclei++;
}

static bool make_room(making *m, size_t nuclei, size_t shells, size_t primitives, size_t functions, size_t orbitals)
{
    m->positions = calloc(3 * nuclei, sizeof *m->positions);
    m->charges = calloc(nuclei, sizeof *m->charges);
    m->exponents = calloc(primitives, sizeof *m->exponents);
    m->coefficients = calloc(primitives, sizeof *m->coefficients);
    m->orbitals = calloc(orbitals * functions, sizeof *m->orbitals);
    m->occupations = calloc(orbitals, sizeof *m->occupations);
    m->atom = calloc(shells, sizeof *m->atom);
    m->l = calloc(shells, sizeof *m->l);
    m->pure = calloc(shells, sizeof *m->pure);
    m->first = calloc(shells + 1, sizeof *m->first);
    return m->positions != NULL && m->charges != NULL && m->exponents != NULL && m->coefficients != NULL &&
           m->orbitals != NULL && m->occupations != NULL && m->atom != NULL && m->l != NULL && m->pure != NULL &&
           m->first != NULL;
}

static void end_making(making *m)
{
    free(m->positions);
    free(m->charges);
    free(m->exponents);
    free(m->coefficients);
    free(m->orbitals);
    free(m->occupations);
    free(m->atom);
    free(m->l);
    free(m->pure);
    free(m->first);
}

static ley_status fill_sample(const expansion *e, const basis_code *code, int orbitals, making *m,
                              ley_wavefunction **sample, ley_error *error)
{
    uint32_t state = 60;
    for (int32_t k = 0; k < code->kinds; k++) {
        int32_t centre = 0;
        while (code->kind_of[centre] != k)
            centre++;
        for (int copy = 0; copy < COPIES; copy++)
            copy_shells(e, centre, m);
    }
    for (int64_t i = 0; i < 3 * m->a.nuclei; i++)
        m->positions[i] = (i % 3 == 2 ? 4 : 10) * self_test_fraction(&state);
    for (int64_t i = 0; i < orbitals * m->functions; i++)
        m->orbitals[i] = 2 * self_test_fraction(&state) - 1;
    m->a.size = sizeof m->a;
    m->a.orbitals = orbitals;
    m->a.charges = m->charges;
    m->a.positions_bohr = m->positions;
    m->a.shell_atom = m->atom;
    m->a.shell_l = m->l;
    m->a.shell_pure = m->pure;
    m->a.shell_first_primitive = m->first;
    m->a.exponents = m->exponents;
    m->a.coefficients = m->coefficients;
    m->a.orbital_coefficients = m->orbitals;
    m->a.occupations = m->occupations;
    return ley_wavefunction_create(&m->a, sample, error);
}

ley_status basis_code_sample(const expansion *e, const basis_code *code, int orbitals, ley_wavefunction **sample,
                             ley_error *error)
{
    const ley_wavefunction *w = e->wavefunction;
    making m = {.functions = 0};
    const size_t copies = COPIES;
    const ley_status status =
        make_room(&m, copies * (size_t)code->kinds, copies * (size_t)w->arrays.shells,
                  copies * (size_t)w->arrays.primitives, copies * (size_t)w->functions, (size_t)orbitals)
            ? fill_sample(e, code, orbitals, &m, sample, error)
            : ley_fail_memory(error, copies * (size_t)w->functions * sizeof(double), "the self-test");
    end_making(&m);
    return status;
}
