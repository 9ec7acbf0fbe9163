#include "source/atoms.h"
#include "error.h"
#include "for_this_cpu.h"
#include "memory.h"
#include "parallel.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double farthest_A = 1e8; /* float keeps 8 A there: nonsense, but finite */

const atoms_facts atoms_no_facts = {.low_A = {INFINITY, INFINITY, INFINITY},
                                    .high_A = {-INFINITY, -INFINITY, -INFINITY},
                                    .charged_low_A = {INFINITY, INFINITY, INFINITY},
                                    .charged_high_A = {-INFINITY, -INFINITY, -INFINITY}};

struct ley_atoms {
    size_t n;
    double *position_A, *charge_e, *radius_A; /* one block, in this order */
    double *other;                            /* another such block, where they have moved; or NULL */
    atoms_facts facts;
    int32_t *residue; /* [n]; NULL: unknown */
    int32_t *element; /* [n]; NULL: unknown */
    bool is_kept;     /* a driver may still read the numbers */
    atoms_part *part; /* or NULL: these are all */
    ley_atoms *share; /* of a part whose planes are dealt; or NULL */
    ley_atoms *all;   /* ley_atoms_put_all() */
};

static ley_status check_atom(size_t i, const double *position_A, double charge_e, double radius_A, ley_error *error)
{
    for (int axis = 0; axis < 3; axis++)
        if (!(fabs(position_A[axis]) <= farthest_A))
            return ley_fail(error, LEY_ERROR_INPUT, "atom %zu: %c = %g A is not within 1e8 A", i + 1, 'x' + axis,
                            position_A[axis]);
    if (!(fabs(charge_e) <= 1e6))
        return ley_fail(error, LEY_ERROR_INPUT, "atom %zu: charge %g e is not within 1e6 e", i + 1, charge_e);
    if (!(radius_A >= 0 && radius_A <= farthest_A))
        return ley_fail(error, LEY_ERROR_INPUT, "atom %zu: radius %g A is not a length", i + 1, radius_A);
    return LEY_OK;
}

ley_status ley_atoms_allocate(size_t n, ley_atoms **atoms, ley_error *error)
{
    if (n == 0)
        return ley_fail(error, LEY_ERROR_INPUT, "no atoms");
    if (n > INT32_MAX)
        return ley_fail(error, LEY_ERROR_INPUT, "%zu atoms are more than %d", n, INT32_MAX);
    const ley_status status =
        memory_check_one("the atoms", (double)n * LEY_ATOM_NUMBERS * sizeof(double), "fewer atoms", error);
    if (status != LEY_OK)
        return status;
    ley_atoms *a = calloc(1, sizeof *a);
    double *numbers = calloc(LEY_ATOM_NUMBERS * n, sizeof(double));
    if (a == NULL || numbers == NULL) {
        free(a);
        free(numbers);
        return ley_fail_memory(error, LEY_ATOM_NUMBERS * n * sizeof(double), "atoms");
    }
    a->n = n;
    a->position_A = numbers;
    a->charge_e = numbers + 3 * n;
    a->radius_A = numbers + 4 * n;
    *atoms = a;
    return LEY_OK;
}

double *ley_atoms_numbers(ley_atoms *atoms)
{
    return atoms->position_A;
}

static void widen(const double place_A[3], double low_A[3], double high_A[3])
{
    for (int axis = 0; axis < 3; axis++) {
        low_A[axis] = place_A[axis] < low_A[axis] ? place_A[axis] : low_A[axis];
        high_A[axis] = place_A[axis] > high_A[axis] ? place_A[axis] : high_A[axis];
    }
}

ley_status ley_atoms_see(const ley_atoms *atoms, size_t before, atoms_facts *facts, ley_error *error)
{
    atoms_facts f = *facts; /* which nothing else can change: it stays in registers */
    for (size_t i = 0; i < atoms->n; i++) {
        const double *position_A = atoms->position_A + 3 * i;
        ley_status status = check_atom(before + i, position_A, atoms->charge_e[i], atoms->radius_A[i], error);
        if (status != LEY_OK)
            return status;
        widen(position_A, f.low_A, f.high_A);
        if (atoms->charge_e[i] != 0)
            widen(position_A, f.charged_low_A, f.charged_high_A);
        const double charge_e = fabs(atoms->charge_e[i]);
        f.total_charge_e += atoms->charge_e[i];
        f.charge_magnitude_e += charge_e;
        f.largest_charge_e = charge_e > f.largest_charge_e ? charge_e : f.largest_charge_e;
    }
    *facts = f;
    return LEY_OK;
}

ley_status ley_atoms_complete(ley_atoms *atoms, ley_error *error)
{
    atoms_facts facts = atoms_no_facts;
    const ley_status status = ley_atoms_see(atoms, 0, &facts, error);
    if (status == LEY_OK)
        atoms->facts = facts;
    return status;
}

ley_status ley_atoms_create(size_t n, const double *position_A, const double *charge_e, const double *radius_A,
                            ley_atoms **atoms, ley_error *error)
{
    ley_atoms *a = NULL;
    ley_status status = ley_atoms_allocate(n, &a, error);
    if (status != LEY_OK)
        return status;
    memcpy(a->position_A, position_A, 3 * n * sizeof(double));
    memcpy(a->charge_e, charge_e, n * sizeof(double));
    if (radius_A != NULL)
        memcpy(a->radius_A, radius_A, n * sizeof(double));
    status = ley_atoms_complete(a, error);
    if (status != LEY_OK) {
        ley_atoms_destroy(a);
        return status;
    }
    *atoms = a;
    return LEY_OK;
}

/* Positions on their way into the numbers that are to be the atoms'. */
typedef struct moving {
    const ley_atoms *atoms;
    const double *position_A; /* or floats, as seen from a place: */
    const float *float_A;
    double from_A[3];
    double *to_A;
    pthread_mutex_t mutex; /* for what follows */
    double bounds_A[4][3]; /* low and high, and those of atoms with a charge */
    size_t wrong;          /* the first atom whose position is none; n: there is none */
} moving;

enum { TOGETHER = 1 << 12 }; /* atoms that a thread has at a time */

static void set_no_bounds(double bounds_A[4][3])
{
    for (int k = 0; k < 4; k++)
        for (int axis = 0; axis < 3; axis++)
            bounds_A[k][axis] = k % 2 == 0 ? INFINITY : -INFINITY;
}

static void find_place(const moving *m, size_t i, double at_A[3])
{
    for (size_t d = 0; d < 3; d++)
        at_A[d] = m->float_A != NULL ? (double)m->float_A[3 * i + d] - m->from_A[d] : m->position_A[3 * i + d];
}

enum { ROW = 24, ROW_ATOMS = ROW / 3 }; /* coordinates that are compared side by side, as vectors can */

FOR_THIS_CPU static void see_rows(double *restrict to_A, const float *restrict position_A, const double *from_A,
                                  size_t rows)
{
    double row_A[ROW];
    for (int k = 0; k < ROW; k++)
        row_A[k] = from_A[k % 3];
    for (size_t i = 0; i < rows; i++)
        for (int k = 0; k < ROW; k++)
            to_A[i * ROW + (size_t)k] = (double)position_A[i * ROW + (size_t)k] - row_A[k];
}

/* Rows of positions in the least and most of each place in a row. Whether all of them are
 * positions. */
FOR_THIS_CPU static bool widen_rows(const double *restrict at_A, size_t rows, double *restrict low_A,
                                    double *restrict high_A)
{
    double low[ROW], high[ROW];
    int64_t wrong[ROW] = {0};
    for (int k = 0; k < ROW; k++) {
        low[k] = INFINITY;
        high[k] = -INFINITY;
    }
    for (size_t i = 0; i < rows; i++)
        for (int k = 0; k < ROW; k++) {
            const double x = at_A[i * ROW + (size_t)k];
            low[k] = x < low[k] ? x : low[k];
            high[k] = x > high[k] ? x : high[k];
            wrong[k] |= !(fabs(x) <= farthest_A);
        }
    int64_t any = 0;
    for (int k = 0; k < ROW; k++) {
        low_A[k % 3] = low[k] < low_A[k % 3] ? low[k] : low_A[k % 3];
        high_A[k % 3] = high[k] > high_A[k % 3] ? high[k] : high_A[k % 3];
        any |= wrong[k];
    }
    return any == 0;
}

/* All that is not whole rows, and all where an atom has no charge, one by one. The first atom whose
 * position is none; the number of atoms: there is none. */
static size_t move_some(const moving *m, size_t first, size_t last, double bounds_A[4][3])
{
    const size_t rows = (last - first) / ROW_ATOMS, whole = rows * ROW_ATOMS;
    double own_A[2][3] = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}},
           *to_A = m->to_A + 3 * first;
    bool have_charges = true;
    if (m->float_A != NULL)
        see_rows(to_A, m->float_A + 3 * first, m->from_A, rows);
    else
        memmove(to_A, m->position_A + 3 * first, 3 * whole * sizeof *to_A);
    for (size_t i = 0; i < whole; i++)
        have_charges = have_charges && m->atoms->charge_e[first + i] != 0;
    const bool is_right = widen_rows(to_A, rows, own_A[0], own_A[1]);
    for (int k = 0; k < 4 && (k < 2 || have_charges) && whole > 0; k++)
        widen(own_A[k % 2], bounds_A[k / 2 * 2], bounds_A[k / 2 * 2 + 1]);
    for (size_t i = is_right && have_charges ? first + whole : first; i < last; i++) {
        double at_A[3];
        find_place(m, i, at_A);
        if (!(fabs(at_A[0]) <= farthest_A && fabs(at_A[1]) <= farthest_A && fabs(at_A[2]) <= farthest_A))
            return i;
        widen(at_A, bounds_A[0], bounds_A[1]);
        if (m->atoms->charge_e[i] != 0)
            widen(at_A, bounds_A[2], bounds_A[3]);
        memcpy(m->to_A + 3 * i, at_A, sizeof at_A);
    }
    return m->atoms->n;
}

static void move_parts(void *context, size_t first, size_t last)
{
    moving *m = context;
    double bounds_A[4][3];
    size_t wrong = m->atoms->n;
    set_no_bounds(bounds_A);
    for (size_t part = first; part < last; part++) {
        const size_t begin = part * TOGETHER, end = begin + TOGETHER < m->atoms->n ? begin + TOGETHER : m->atoms->n,
                     found = move_some(m, begin, end, bounds_A);
        wrong = found < wrong ? found : wrong;
    }
    pthread_mutex_lock(&m->mutex);
    m->wrong = wrong < m->wrong ? wrong : m->wrong;
    for (int k = 0; k < 4; k++)
        for (int axis = 0; axis < 3; axis++)
            m->bounds_A[k][axis] = (k % 2 == 0 ? fmin : fmax)(m->bounds_A[k][axis], bounds_A[k][axis]);
    pthread_mutex_unlock(&m->mutex);
}

/* Numbers that a driver still reads stay as they are. */
static ley_status take_other_numbers(ley_atoms *atoms, double **other, ley_error *error)
{
    const size_t bytes = LEY_ATOM_NUMBERS * atoms->n * sizeof(double);
    *other = atoms->other;
    if (*other == NULL && (*other = malloc(bytes)) == NULL)
        return ley_fail_memory(error, bytes, "atoms");
    if (atoms->other == NULL)
        memcpy(*other + 3 * atoms->n, atoms->charge_e, 2 * atoms->n * sizeof(double));
    atoms->other = *other;
    return LEY_OK;
}

static void swap_numbers(ley_atoms *atoms)
{
    double *former = atoms->position_A;
    atoms->position_A = atoms->other;
    atoms->charge_e = atoms->other + 3 * atoms->n;
    atoms->radius_A = atoms->other + 4 * atoms->n;
    atoms->other = atoms->is_kept ? NULL : former;
    atoms->is_kept = false;
}

/* Positions alone. */
static ley_status move(moving *m, ley_atoms *atoms, ley_error *error)
{
    double wrong_A[3];
    m->atoms = atoms;
    m->wrong = atoms->n;
    const ley_status status = take_other_numbers(atoms, &m->to_A, error);
    if (status != LEY_OK)
        return status;
    set_no_bounds(m->bounds_A);
    pthread_mutex_init(&m->mutex, NULL);
    parallel_ranges((atoms->n + TOGETHER - 1) / TOGETHER, move_parts, m);
    pthread_mutex_destroy(&m->mutex);
    if (m->wrong < atoms->n) {
        find_place(m, m->wrong, wrong_A);
        return check_atom(m->wrong, wrong_A, 0, 0, error);
    }
    swap_numbers(atoms);
    memcpy(atoms->facts.low_A, m->bounds_A[0], sizeof atoms->facts.low_A);
    memcpy(atoms->facts.high_A, m->bounds_A[1], sizeof atoms->facts.high_A);
    memcpy(atoms->facts.charged_low_A, m->bounds_A[2], sizeof atoms->facts.charged_low_A);
    memcpy(atoms->facts.charged_high_A, m->bounds_A[3], sizeof atoms->facts.charged_high_A);
    return LEY_OK;
}

ley_status ley_atoms_move_floats(ley_atoms *atoms, const float *position_A, const double from_A[3], ley_error *error)
{
    moving m = {.float_A = position_A};
    memcpy(m.from_A, from_A, sizeof m.from_A);
    return move(&m, atoms, error);
}

ley_status ley_atoms_move(ley_atoms *atoms, const double *position_A, const double *charge_e, ley_error *error)
{
    double *to;
    ley_status status = LEY_OK;
    if (charge_e == NULL)
        return move(&(moving){.position_A = position_A}, atoms, error);
    for (size_t i = 0; i < atoms->n && status == LEY_OK; i++)
        status = check_atom(i, position_A + 3 * i, charge_e[i], 0, error);
    if (status == LEY_OK)
        status = take_other_numbers(atoms, &to, error);
    if (status != LEY_OK)
        return status;
    memcpy(to, position_A, 3 * atoms->n * sizeof *to);
    memcpy(to + 3 * atoms->n, charge_e, atoms->n * sizeof *to);
    swap_numbers(atoms);
    if (atoms->other != NULL)
        memcpy(atoms->other + 3 * atoms->n, charge_e, atoms->n * sizeof *to);
    return ley_atoms_complete(atoms, error);
}

void ley_atoms_destroy(ley_atoms *atoms)
{
    if (atoms == NULL)
        return;
    if (!atoms->is_kept)
        free(atoms->position_A);
    free(atoms->other);
    free(atoms->residue);
    free(atoms->element);
    free(atoms->part);
    ley_atoms_destroy(atoms->share);
    ley_atoms_destroy(atoms->all);
    free(atoms);
}

const int32_t *ley_atoms_residues(const ley_atoms *atoms)
{
    return atoms->residue;
}

void ley_atoms_take_residues(ley_atoms *atoms, int32_t *residue)
{
    free(atoms->residue);
    atoms->residue = residue;
}

const int32_t *ley_atoms_elements(const ley_atoms *atoms)
{
    return atoms->element;
}

void ley_atoms_take_elements(ley_atoms *atoms, int32_t *element)
{
    free(atoms->element);
    atoms->element = element;
}

/* In 4 bytes: 20 bits of the number, 7 of the chain, 5 of the insertion code. */
enum { NUMBER_BITS = 20, CHAIN_BITS = 7, CODE_BITS = 5 };

bool residue_pack(char chain, int64_t number, char code, int32_t *residue)
{
    const int64_t half = INT64_C(1) << (NUMBER_BITS - 1), first = 1 + (code >= 'a' ? code - 'a' : code - 'A');
    const unsigned letter = code == '\0' ? 0 : (unsigned)first;
    if (number < -half || number >= half || (chain & 0x80) != 0 || letter >= 1u << CODE_BITS)
        return false;
    *residue = (int32_t)((uint32_t)(number + half) << (CHAIN_BITS + CODE_BITS) | (uint32_t)chain << CODE_BITS | letter);
    return true;
}

char ley_residue_chain(int32_t residue)
{
    return (char)((uint32_t)residue >> CODE_BITS & ((1u << CHAIN_BITS) - 1));
}

const char *residue_text(int32_t residue, char text[RESIDUE_TEXT])
{
    const uint32_t bits = (uint32_t)residue, code = bits & ((1u << CODE_BITS) - 1);
    const char chain = ley_residue_chain(residue);
    const int64_t number = (int64_t)(bits >> (CHAIN_BITS + CODE_BITS)) - (INT64_C(1) << (NUMBER_BITS - 1));
    snprintf(text, RESIDUE_TEXT, "%.*s%s%lld%.*s", chain != 0, (const char[]){chain, '\0'}, chain != 0 ? " " : "",
             (long long)number, code != 0, (const char[]){(char)('A' + (int)code - 1), '\0'});
    return text;
}

void *ley_atoms_keep(ley_atoms *atoms)
{
    atoms->is_kept = true;
    return atoms->position_A;
}

size_t ley_atoms_count(const ley_atoms *atoms)
{
    return atoms->n;
}

const double *ley_atoms_positions_A(const ley_atoms *atoms)
{
    return atoms->position_A;
}

const double *ley_atoms_charges_e(const ley_atoms *atoms)
{
    return atoms->charge_e;
}

const double *ley_atoms_radii_A(const ley_atoms *atoms)
{
    return atoms->radius_A;
}

size_t ley_atoms_whole_count(const ley_atoms *atoms)
{
    return atoms->part != NULL ? atoms->part->whole : atoms->n;
}

const atoms_part *ley_atoms_part(const ley_atoms *atoms)
{
    return atoms->part;
}

void ley_atoms_set_part(ley_atoms *atoms, atoms_part *part, const atoms_facts *facts)
{
    free(atoms->part);
    atoms->part = part;
    if (facts != NULL)
        atoms->facts = *facts;
    if (part == NULL) {
        ley_atoms_destroy(atoms->share);
        atoms->share = NULL;
    }
}

void ley_atoms_swap_numbers(ley_atoms *a, ley_atoms *b)
{
    const ley_atoms was = *a;
    a->n = b->n;
    a->position_A = b->position_A;
    a->charge_e = b->charge_e;
    a->radius_A = b->radius_A;
    a->is_kept = b->is_kept;
    b->n = was.n;
    b->position_A = was.position_A;
    b->charge_e = was.charge_e;
    b->radius_A = was.radius_A;
    b->is_kept = was.is_kept;
}

ley_status ley_atoms_take_numbers(ley_atoms *atoms, ley_atoms *from, ley_error *error)
{
    ley_status status = LEY_OK;
    if (atoms->part != NULL && atoms->share == NULL) {
        atoms->share = calloc(1, sizeof *atoms->share);
        if (atoms->share == NULL)
            return ley_fail_memory(error, sizeof *atoms->share, "atoms");
        ley_atoms_swap_numbers(atoms->share, atoms);
        status = ley_atoms_complete(atoms->share, error);
    }
    ley_atoms_swap_numbers(atoms, from);
    ley_atoms_destroy(from);
    return status;
}

const ley_atoms *ley_atoms_share(const ley_atoms *atoms)
{
    return atoms->share != NULL ? atoms->share : atoms;
}

const ley_atoms *ley_atoms_all(const ley_atoms *atoms)
{
    return atoms->part == NULL ? atoms : atoms->all;
}

void ley_atoms_put_all(ley_atoms *atoms, ley_atoms *all)
{
    ley_atoms_destroy(atoms->all);
    atoms->all = all;
}

void ley_atoms_large_charges(const ley_atoms *atoms, large_charges *made)
{
    double charge_e[LARGE_CHARGES_SAMPLE];
    const size_t stride = atoms->n / LARGE_CHARGES_SAMPLE + 1;
    size_t count = 0;
    if (atoms->part != NULL) {
        *made = atoms->part->large;
        return;
    }
    for (size_t i = 0; i < atoms->n; i += stride)
        charge_e[count++] = atoms->charge_e[i];
    large_charges_begin(made, count, charge_e);
    large_charges_add(made, atoms->n, atoms->position_A, atoms->charge_e);
}

atoms_sample ley_atoms_sample(const ley_atoms *atoms)
{
    const size_t step = atoms->n / ATOMS_SAMPLE + 1;
    const atoms_part *p = atoms->part;
    return p != NULL ? (atoms_sample){p->sample_A, p->sampled, 1, p->stride}
                     : (atoms_sample){atoms->position_A, (atoms->n + step - 1) / step, step, step};
}

double ley_atoms_total_charge_e(const ley_atoms *atoms)
{
    return atoms->facts.total_charge_e;
}

double ley_atoms_net_charge_e(const ley_atoms *atoms)
{
    const double rounding = 1e-14;
    const atoms_facts *f = &atoms->facts;
    return fabs(f->total_charge_e) > rounding * f->charge_magnitude_e ? f->total_charge_e : 0;
}

double ley_atoms_charge_magnitude_e(const ley_atoms *atoms)
{
    return atoms->facts.charge_magnitude_e;
}

double ley_atoms_largest_charge_e(const ley_atoms *atoms)
{
    return atoms->facts.largest_charge_e;
}

void ley_atoms_charged_bounds_A(const ley_atoms *atoms, double low_A[3], double high_A[3])
{
    memcpy(low_A, atoms->facts.charged_low_A, sizeof atoms->facts.charged_low_A);
    memcpy(high_A, atoms->facts.charged_high_A, sizeof atoms->facts.charged_high_A);
}

void ley_atoms_bounds_A(const ley_atoms *atoms, double low_A[3], double high_A[3])
{
    memcpy(low_A, atoms->facts.low_A, sizeof atoms->facts.low_A);
    memcpy(high_A, atoms->facts.high_A, sizeof atoms->facts.high_A);
}

bool ley_atoms_charge_remark(const ley_atoms *atoms, char *text, size_t size)
{
    snprintf(text, size, "%s", "");
    if (atoms->facts.charge_magnitude_e > 0)
        return false;
    snprintf(text, size,
             "every charge of its %zu atom%s is 0, and so is the potential that they make: were charges assigned?",
             ley_atoms_whole_count(atoms), ley_atoms_whole_count(atoms) == 1 ? "" : "s");
    return true;
}
