/* Atoms that are at the points of a list themselves, whatever is periodic: which points these are,
 * and what they exclude for it. */
#include "error.h"
#include "numerics/cell.h"
#include "source/atoms.h"
#include "target/points.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Points in their cell, and atoms and images of atoms in it or within reach of its faces. */
typedef struct places {
    cell cell;
    ley_boundary *points;
    size_t count, capacity;
    double *image_A; /* [count][3] */
    int32_t *atom;   /* [count]: whose image it is */
    ley_atoms *images;
} places;

/* A pair within LEY_OWN_A. */
typedef struct pair {
    int32_t point, atom;
} pair;

typedef struct pairs {
    const places *places;
    size_t count, capacity;
    pair *list;
} pairs;

static void end_places(places *p)
{
    ley_boundary_destroy(p->points);
    ley_atoms_destroy(p->images);
    free(p->image_A);
    free(p->atom);
}

static bool add_image(places *p, int32_t atom, const double place_A[3])
{
    if (p->count == p->capacity) {
        const size_t capacity = 2 * p->capacity + 256;
        double *image_A = realloc(p->image_A, 3 * capacity * sizeof *image_A);
        if (image_A == NULL)
            return false;
        p->image_A = image_A;
        int32_t *numbers = realloc(p->atom, capacity * sizeof *numbers);
        if (numbers == NULL)
            return false;
        p->atom = numbers;
        p->capacity = capacity;
    }
    memcpy(p->image_A + 3 * p->count, place_A, 3 * sizeof *place_A);
    p->atom[p->count++] = atom;
    return true;
}

static void move(const cell *c, const double multiple[3], const double from_A[3], double to_A[3])
{
    for (int axis = 0; axis < 3; axis++) {
        to_A[axis] = from_A[axis];
        for (int i = 0; i < 3; i++)
            to_A[axis] -= c->periodic[i] ? multiple[i] * c->vector_A[i][axis] : 0;
    }
}

/* The image in the cell. */
static void wrap(const cell *c, const double x_A[3], double place_A[3], double at[3])
{
    double below[3];
    cell_components(c, x_A, at);
    for (int i = 0; i < 3; i++)
        below[i] = floor(at[i]);
    move(c, below, x_A, place_A);
    cell_components(c, place_A, at);
}

/* The atom in the cell, and its images beyond faces that it is next to. */
static bool add_atom(places *p, int32_t atom, const double x_A[3])
{
    double place_A[3], at[3], low[3] = {0, 0, 0}, high[3] = {0, 0, 0};
    wrap(&p->cell, x_A, place_A, at);
    for (int i = 0; i < 3; i++) {
        const double hair = 1.01 * LEY_OWN_A * cell_length(p->cell.dual_per_A[i]) + 1e-9;
        low[i] = p->cell.periodic[i] ? ceil(at[i] - 1 - hair) : 0;
        high[i] = p->cell.periodic[i] ? floor(at[i] + hair) : 0;
    }
    bool done = true;
    double multiple[3];
    for (multiple[0] = low[0]; multiple[0] <= high[0]; multiple[0]++)
        for (multiple[1] = low[1]; multiple[1] <= high[1]; multiple[1]++)
            for (multiple[2] = low[2]; done && multiple[2] <= high[2]; multiple[2]++) {
                double image_A[3];
                move(&p->cell, multiple, place_A, image_A);
                done = add_image(p, atom, image_A);
            }
    return done;
}

static ley_status wrap_points(const ley_points *points, places *p, ley_error *error)
{
    const int64_t n = ley_points_count(points);
    double *place_A = malloc(3 * (size_t)n * sizeof *place_A), at[3];
    if (place_A == NULL)
        return ley_fail_memory(error, 3 * (size_t)n * sizeof *place_A, "the points' places");
    for (int64_t i = 0; i < n; i++)
        wrap(&p->cell, ley_points_positions_A(points) + 3 * i, place_A + 3 * i, at);
    const ley_status status = ley_boundary_create_points(n, place_A, &p->points, error);
    free(place_A);
    return status;
}

/* Images are atoms of charge 1: those without a charge are looked for, too. */
static ley_status make_images(const ley_atoms *atoms, bool charged, places *p, ley_error *error)
{
    const size_t n = ley_atoms_count(atoms);
    for (size_t j = 0; j < n; j++)
        if ((!charged || ley_atoms_charges_e(atoms)[j] != 0) &&
            !add_atom(p, (int32_t)j, ley_atoms_positions_A(atoms) + 3 * j))
            return ley_fail_memory(error, p->count * sizeof(double[3]), "the atoms' images");
    double *charge_e = malloc((p->count + 1) * sizeof *charge_e);
    if (charge_e == NULL)
        return ley_fail_memory(error, p->count * sizeof *charge_e, "the atoms' images");
    for (size_t k = 0; k < p->count; k++)
        charge_e[k] = 1;
    const ley_status status =
        p->count > 0 ? ley_atoms_create(p->count, p->image_A, charge_e, NULL, &p->images, error) : LEY_OK;
    free(charge_e);
    return status;
}

static bool add_pair(void *context, size_t image, int64_t point)
{
    pairs *found = context;
    if (found->count == found->capacity) {
        const size_t capacity = 2 * found->capacity + 256;
        pair *list = realloc(found->list, capacity * sizeof *list);
        if (list == NULL)
            return false;
        found->list = list;
        found->capacity = capacity;
    }
    found->list[found->count++] = (pair){(int32_t)point, found->places->atom[image]};
    return true;
}

static int by_point(const void *a, const void *b)
{
    const pair *p = a, *q = b;
    return p->point != q->point ? (p->point > q->point) - (p->point < q->point)
                                : (p->atom > q->atom) - (p->atom < q->atom);
}

/* Points and atoms that are at them, by point; `charged`: those with a charge only. The caller
 * frees the list. */
static ley_status find_pairs(const ley_points *points, const ley_atoms *atoms, bool charged, const bool periodic[3],
                             const double cell_A[3][3], pairs *found, ley_error *error)
{
    static const bool open[3] = {false, false, false};
    static const double nothing_A[3][3] = {{0}};
    places p = {.count = 0};
    *found = (pairs){.places = &p};
    ley_status status =
        cell_make(periodic != NULL ? periodic : open, cell_A != NULL ? cell_A : nothing_A, &p.cell, error);
    if (status == LEY_OK)
        status = wrap_points(points, &p, error);
    if (status == LEY_OK)
        status = make_images(atoms, charged, &p, error);
    if (status == LEY_OK && p.images != NULL)
        status = boundary_find_near(p.points, p.images, LEY_OWN_A, add_pair, found, error);
    if (found->count > 0)
        qsort(found->list, found->count, sizeof *found->list, by_point);
    end_places(&p);
    return status;
}

/* ---- What points exclude --------------------------------------------------------------------- */

static int by_group(const void *a, const void *b)
{
    const int64_t *p = a, *q = b; /* {group, atom} */
    return p[0] != q[0] ? (p[0] > q[0]) - (p[0] < q[0]) : (p[1] > q[1]) - (p[1] < q[1]);
}

/* [atoms][2], {group, atom}, by group. */
static int64_t (*sort_groups(const int64_t *group, size_t n))[2]
{
    int64_t(*members)[2] = malloc(n * sizeof *members);
    for (size_t j = 0; members != NULL && j < n; j++) {
        members[j][0] = group[j];
        members[j][1] = (int64_t)j;
    }
    if (members != NULL)
        qsort(members, n, sizeof *members, by_group);
    return members;
}

static size_t first_of(int64_t (*members)[2], size_t n, int64_t group)
{
    size_t low = 0, high = n;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (members[middle][0] < group)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Adds a pair's atoms to those that its point excludes, or counts them where `to` is NULL. */
static int64_t put(const pair *p, const int64_t *group, int64_t (*members)[2], size_t n, int64_t *to)
{
    int64_t count = 0;
    if (group == NULL) {
        if (to != NULL)
            to[0] = p->atom;
        return 1;
    }
    for (size_t k = first_of(members, n, group[p->atom]); k < n && members[k][0] == group[p->atom]; k++, count++)
        if (to != NULL)
            to[count] = members[k][1];
    return count;
}

static ley_status exclude(ley_points *points, const ley_atoms *atoms, const int64_t *group, const pairs *found,
                          ley_error *error)
{
    const size_t n = (size_t)ley_points_count(points), atom_count = ley_atoms_count(atoms);
    int64_t(*members)[2] = group != NULL ? sort_groups(group, atom_count) : NULL, total = 0, at = 0;
    const bool has_groups = group == NULL || members != NULL;
    for (size_t k = 0; has_groups && k < found->count; k++)
        total += put(&found->list[k], group, members, atom_count, NULL);
    int64_t *first = malloc((n + 1) * sizeof *first), *atom = malloc(((size_t)total + 1) * sizeof *atom);
    if (!has_groups || first == NULL || atom == NULL) {
        free(members);
        free(first);
        free(atom);
        return ley_fail_memory(error, ((size_t)total + n) * sizeof *atom, "the lists of atoms to exclude");
    }
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        first[i] = at;
        for (; k < found->count && (size_t)found->list[k].point == i; k++)
            at += put(&found->list[k], group, members, atom_count, atom + at);
    }
    first[n] = at;
    free(members);
    return points_take_excluded(points, first, atom, error);
}

ley_status ley_points_exclude_own(ley_points *points, const ley_atoms *atoms, const int64_t *group,
                                  const bool periodic[3], const double cell_A[3][3], ley_error *error)
{
    pairs found;
    ley_status status = find_pairs(points, atoms, false, periodic, cell_A, &found, error);
    if (status == LEY_OK)
        status = exclude(points, atoms, group, &found, error);
    free(found.list);
    return status;
}

/* ---- Residues -------------------------------------------------------------------------------- */

/* Neighbouring atoms of one residue: [first, end). */
typedef struct stretch {
    int32_t residue, first, end;
} stretch;

static int by_residue(const void *a, const void *b)
{
    const stretch *p = a, *q = b;
    return p->residue != q->residue ? (p->residue > q->residue) - (p->residue < q->residue)
                                    : (p->first > q->first) - (p->first < q->first);
}

/* Sorted by residue; NULL: no memory. */
static stretch *find_stretches(const ley_atoms *atoms, size_t *count)
{
    const size_t n = ley_atoms_count(atoms);
    const int32_t *residue = ley_atoms_residues(atoms);
    stretch *list = malloc(n * sizeof *list);
    *count = 0;
    for (size_t j = 0; list != NULL && j < n; j++) {
        if (j == 0 || residue[j] != residue[j - 1])
            list[(*count)++] = (stretch){residue[j], (int32_t)j, (int32_t)j};
        list[*count - 1].end = (int32_t)j + 1;
    }
    if (list != NULL)
        qsort(list, *count, sizeof *list, by_residue);
    return list;
}

/* Of a residue: so many, from here on. */
static const stretch *stretches_of(const stretch *list, size_t count, int32_t residue, size_t *found)
{
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (list[middle].residue < residue)
            low = middle + 1;
        else
            high = middle;
    }
    for (*found = 0; low + *found < count && list[low + *found].residue == residue;)
        ++*found;
    return list + low;
}

/* The one of several that has an atom at the point; NULL: none, or more than one. */
static const stretch *stretch_at(const stretch *some, size_t count, int64_t point, const pairs *found)
{
    const stretch *at = NULL;
    size_t first = 0, end = found->count; /* in their order */
    while (first < end) {
        const size_t middle = (first + end) / 2;
        if (found->list[middle].point < point)
            first = middle + 1;
        else
            end = middle;
    }
    for (size_t k = first; k < found->count && found->list[k].point == point; k++)
        for (size_t s = 0; s < count; s++)
            if (found->list[k].atom >= some[s].first && found->list[k].atom < some[s].end) {
                if (at != NULL && at != &some[s])
                    return NULL;
                at = &some[s];
            }
    return at;
}

/* Which stretch each point excludes: [points], NULL for none. */
static ley_status choose_stretches(const ley_points *points, const int32_t *residue, const stretch *list, size_t count,
                                   const pairs *at, const stretch **chosen, ley_error *error)
{
    bool is_any = false;
    for (int64_t i = 0; i < ley_points_count(points); i++) {
        size_t found;
        char text[RESIDUE_TEXT];
        const stretch *some = stretches_of(list, count, residue[i], &found);
        chosen[i] = found == 0 ? NULL : found == 1 ? some : stretch_at(some, found, i, at);
        is_any = is_any || found > 0;
        if (found > 1 && chosen[i] == NULL)
            return ley_fail(error, LEY_ERROR_INPUT,
                            "point %lld, counted from 0: there are %zu residues %s among the atoms, and no atom at the "
                            "point tells which one is meant: chains in the file would",
                            (long long)i, found, residue_text(residue[i], text));
    }
    return is_any ? LEY_OK
                  : ley_fail(error, LEY_ERROR_INPUT,
                             "no residue of the points is among those of the atoms: chain, "
                             "number and insertion code must be the same");
}

static ley_status exclude_stretches(ley_points *points, const stretch *const *chosen, ley_error *error)
{
    const int64_t n = ley_points_count(points);
    int64_t total = 0, *first = malloc(((size_t)n + 1) * sizeof *first);
    for (int64_t i = 0; i < n; i++)
        total += chosen[i] != NULL ? chosen[i]->end - chosen[i]->first : 0;
    int64_t *atom = malloc(((size_t)total + 1) * sizeof *atom), at = 0;
    if (first == NULL || atom == NULL) {
        free(first);
        free(atom);
        return ley_fail_memory(error, (size_t)(total + n) * sizeof *atom, "the lists of atoms to exclude");
    }
    for (int64_t i = 0; i < n; i++) {
        first[i] = at;
        for (int32_t j = chosen[i] != NULL ? chosen[i]->first : 0; chosen[i] != NULL && j < chosen[i]->end; j++)
            atom[at++] = j;
    }
    first[n] = at;
    return points_take_excluded(points, first, atom, error);
}

static ley_status exclude_named(ley_points *points, const ley_atoms *atoms, const int32_t *residue, const pairs *found,
                                ley_error *error)
{
    size_t count;
    stretch *list = find_stretches(atoms, &count);
    const stretch **chosen = malloc((size_t)ley_points_count(points) * sizeof *chosen);
    ley_status status = list == NULL || chosen == NULL
                            ? ley_fail_memory(error, ley_atoms_count(atoms) * sizeof *list, "the residues")
                            : choose_stretches(points, residue, list, count, found, chosen, error);
    if (status == LEY_OK)
        status = exclude_stretches(points, chosen, error);
    free(list);
    free(chosen);
    return status;
}

/* Those of the atoms at the points. */
static ley_status exclude_at(ley_points *points, const ley_atoms *atoms, const pairs *found, ley_error *error)
{
    const int32_t *residue = ley_atoms_residues(atoms);
    const size_t n = ley_atoms_count(atoms);
    int64_t *group = malloc(n * sizeof *group);
    if (group == NULL)
        return ley_fail_memory(error, n * sizeof *group, "the residues");
    group[0] = 0;
    for (size_t j = 1; j < n; j++)
        group[j] = group[j - 1] + (residue[j] != residue[j - 1]);
    const ley_status status = exclude(points, atoms, group, found, error);
    free(group);
    return status;
}

ley_status ley_points_exclude_residues(ley_points *points, const ley_atoms *atoms, const int32_t *residue,
                                       const bool periodic[3], const double cell_A[3][3], ley_error *error)
{
    pairs found;
    if (ley_atoms_residues(atoms) == NULL)
        return ley_fail(error, LEY_ERROR_INPUT,
                        "the atoms' residues are unknown: PQR files have them, with chains of one letter or none and "
                        "numbers within 524,288");
    ley_status status = find_pairs(points, atoms, false, periodic, cell_A, &found, error);
    if (status == LEY_OK)
        status = residue != NULL ? exclude_named(points, atoms, residue, &found, error)
                                 : exclude_at(points, atoms, &found, error);
    free(found.list);
    return status;
}

static bool excludes(const ley_points *points, const pair *p)
{
    size_t count;
    const int64_t *atom = points_excluded(points, p->point, &count);
    for (size_t k = 0; k < count; k++)
        if (atom[k] == p->atom)
            return true;
    return false;
}

ley_status ley_points_on_charges(const ley_points *points, const ley_atoms *atoms, const bool periodic[3],
                                 const double cell_A[3][3], int64_t *count, int64_t *point, int64_t *atom,
                                 ley_error *error)
{
    pairs found;
    const ley_status status = find_pairs(points, atoms, true, periodic, cell_A, &found, error);
    int64_t n = 0, last = -1;
    pair first = {-1, -1};
    for (size_t k = 0; status == LEY_OK && k < found.count; k++) {
        if (found.list[k].point == last || excludes(points, &found.list[k]))
            continue;
        first = n++ == 0 ? found.list[k] : first;
        last = found.list[k].point;
    }
    free(found.list);
    *count = n;
    if (point != NULL)
        *point = first.point;
    if (atom != NULL)
        *atom = first.atom;
    return status;
}
