/* Molecules by parts: ranks read shares of a file, deal planes of a grid, and exchange atoms. */
#include "core/deal.h"
#include "error.h"
#include "io/atoms_file.h"
#include "ranks.h"
#include "source/atoms.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- What goes wrong on one rank goes wrong on all ------------------------------------------- */

/* Of errors that are met together the gravest is told, as one rank would have met it first. */
typedef enum gravity { GRAVITY_OF_ATOMS, GRAVITY_OF_SUM, GRAVITY_OF_FILE } gravity;

typedef struct outcome {
    ley_status status;
    gravity gravity;
    uint64_t atoms, checksum; /* of the file */
    char message[512];
} outcome;

/* A file is known by the checksum at its end, whatever it is called. */
static ley_status check_one_file(const outcome *all, ley_error *error)
{
    for (int r = 1; r < ranks_count(); r++)
        if (all[r].atoms != all[0].atoms || all[r].checksum != all[0].checksum)
            return ley_fail(error, LEY_ERROR_USAGE,
                            "ranks are to do the same job, and were given different files: rank 0 has %llu atoms "
                            "(checksum %016llx), and rank %d has %llu (checksum %016llx): give all of them one file, "
                            "in a folder that all nodes have, or a copy of it on each",
                            (unsigned long long)all[0].atoms, (unsigned long long)all[0].checksum, r,
                            (unsigned long long)all[r].atoms, (unsigned long long)all[r].checksum);
    return LEY_OK;
}

static ley_status agree(outcome *own, ley_error *why, ley_error *error)
{
    const int ranks = ranks_count();
    outcome *all = calloc((size_t)ranks, sizeof *all), *told = all;
    if (all == NULL) {
        ley_error_clear(why);
        return ley_fail_memory(error, (size_t)ranks * sizeof *all, "the ranks");
    }
    snprintf(own->message, sizeof own->message, "%.*s", (int)sizeof own->message - 1, why->message);
    ley_error_clear(why);
    ranks_share(own, sizeof *own, all);
    for (int r = 1; r < ranks; r++)
        if (all[r].status != LEY_OK && (told->status == LEY_OK || all[r].gravity > told->gravity))
            told = &all[r];
    const ley_status status =
        told->status != LEY_OK ? ley_fail(error, told->status, "%s", told->message) : check_one_file(all, error);
    free(all);
    return status;
}

/* ---- Shares of a file ------------------------------------------------------------------------ */

static size_t share_first(size_t whole, int rank)
{
    return (size_t)((uint64_t)whole * (uint64_t)rank / (uint64_t)ranks_count());
}

/* What has been added up by ranks before this one, in the order of the file, so that it is what one
 * rank finds. */
typedef struct chain {
    ley_checksum sum;
    double total_charge_e, charge_magnitude_e;
} chain;

/* The chain goes round once for positions, once for charges and once for radii, as the file has all
 * of each in a row; it ends on the last rank. */
static void add_to_chain(const ley_atoms *share, chain *c)
{
    const size_t n = ley_atoms_count(share);
    const double *charge_e = ley_atoms_charges_e(share);
    const double *const arrays[] = {ley_atoms_positions_A(share), charge_e, ley_atoms_radii_A(share)};
    const int ranks = ranks_count(), own = ranks_own(), rounds = sizeof arrays / sizeof *arrays;
    for (int k = 0; k < rounds; k++) {
        if (own > 0 || k > 0)
            ranks_receive((own + ranks - 1) % ranks, c, sizeof *c);
        ley_checksum_add_numbers(&c->sum, arrays[k], k == 0 ? 3 * n : n);
        for (size_t i = 0; i < n && arrays[k] == charge_e; i++) {
            c->total_charge_e += charge_e[i];
            c->charge_magnitude_e += fabs(charge_e[i]);
        }
        if (own + 1 < ranks || k + 1 < rounds)
            ranks_send_to((own + 1) % ranks, c, sizeof *c);
    }
}

static ley_status read_arrays(const ley_atoms_file *f, size_t first, ley_atoms *share, ley_error *error)
{
    const size_t n = ley_atoms_count(share);
    double *numbers = ley_atoms_numbers(share);
    ley_status status = ley_atoms_file_read(f, 3 * first, 3 * n, numbers, NULL, error);
    for (size_t k = 3; k < LEY_ATOM_NUMBERS && status == LEY_OK; k++)
        status = ley_atoms_file_read(f, k * f->atoms + first, n, numbers + k * n, NULL, error);
    return status;
}

/* Its atoms; and what all ranks know of the molecule. Errors are those of all. */
static ley_status read_share(const ley_atoms_file *f, chain *c, ley_atoms *share, atoms_facts *facts, ley_error *error)
{
    const size_t first = share_first(f->atoms, ranks_own());
    ley_error why = {0};
    outcome own = {.gravity = GRAVITY_OF_FILE, .atoms = f->atoms, .checksum = f->checksum};
    *facts = atoms_no_facts;
    own.status = read_arrays(f, first, share, &why);
    if (own.status == LEY_OK) {
        own.gravity = GRAVITY_OF_ATOMS;
        own.status = ley_atoms_see(share, first, facts, &why);
        if (own.status != LEY_OK)
            ley_error_prefix(&why, "%s", f->path);
    }
    add_to_chain(share, c);
    if (own.gravity < GRAVITY_OF_SUM && ranks_own() + 1 == ranks_count() &&
        ley_atoms_file_check(f, &c->sum, NULL) != LEY_OK) {
        own.gravity = GRAVITY_OF_SUM;
        ley_error_clear(&why);
        own.status = ley_atoms_file_check(f, &c->sum, &why);
    }
    return agree(&own, &why, error);
}

/* Of all ranks. */
static ley_status join_facts(atoms_facts *facts, const chain *c, ley_error *error)
{
    const size_t ranks = (size_t)ranks_count();
    struct one {
        atoms_facts facts;
        chain chain;
    } own = {*facts, *c}, *all = calloc(ranks, sizeof *all);
    if (all == NULL)
        return ley_fail_memory(error, ranks * sizeof *all, "the ranks");
    ranks_share(&own, sizeof own, all);
    for (size_t r = 0; r < ranks; r++) {
        for (int axis = 0; axis < 3; axis++) {
            facts->low_A[axis] = fmin(facts->low_A[axis], all[r].facts.low_A[axis]);
            facts->high_A[axis] = fmax(facts->high_A[axis], all[r].facts.high_A[axis]);
            facts->charged_low_A[axis] = fmin(facts->charged_low_A[axis], all[r].facts.charged_low_A[axis]);
            facts->charged_high_A[axis] = fmax(facts->charged_high_A[axis], all[r].facts.charged_high_A[axis]);
        }
        facts->largest_charge_e = fmax(facts->largest_charge_e, all[r].facts.largest_charge_e);
    }
    facts->total_charge_e = all[ranks - 1].chain.total_charge_e;
    facts->charge_magnitude_e = all[ranks - 1].chain.charge_magnitude_e;
    free(all);
    return LEY_OK;
}

/* Every so-manieth atom of the molecule comes to all. */
static ley_status make_part(const ley_atoms *share, size_t whole, atoms_part **made, ley_error *error)
{
    const size_t ranks = (size_t)ranks_count(), stride = whole / ATOMS_SAMPLE + 1, sampled = (whole - 1) / stride + 1,
                 bytes = (ranks + 1) * sizeof(int64_t) + 3 * sampled * sizeof(double);
    atoms_part *part = calloc(1, sizeof *part + bytes);
    int64_t *first = calloc(ranks + 1, sizeof *first);
    if (part == NULL || first == NULL) {
        free(part);
        free(first);
        return ley_fail_memory(error, bytes, "a part of the atoms");
    }
    int64_t *planes = (int64_t *)(void *)(part + 1);
    double *sample_A = (double *)(void *)(planes + ranks + 1);
    for (size_t r = 0; r <= ranks; r++)
        first[r] = (int64_t)((share_first(whole, (int)r) + stride - 1) / stride);
    const size_t before = share_first(whole, ranks_own());
    for (int64_t k = first[ranks_own()]; k < first[ranks_own() + 1]; k++)
        memcpy(sample_A + 3 * k, ley_atoms_positions_A(share) + 3 * ((size_t)k * stride - before),
               3 * sizeof *sample_A);
    ranks_exchange_end(ranks_exchange_begin(sample_A, 3 * sizeof *sample_A, first));
    free(first);
    part->whole = whole;
    part->stride = stride;
    part->sampled = sampled;
    part->sample_A = sample_A;
    *made = part;
    return LEY_OK;
}

static ley_status read_open_file(const ley_atoms_file *f, chain *c, ley_atoms **atoms, ley_error *error)
{
    const size_t n = share_first(f->atoms, ranks_own() + 1) - share_first(f->atoms, ranks_own());
    atoms_facts facts;
    atoms_part *part = NULL;
    ley_atoms *share = NULL;
    ley_status status = ley_atoms_allocate(n, &share, error);
    if (status == LEY_OK)
        status = read_share(f, c, share, &facts, error);
    if (status == LEY_OK)
        status = join_facts(&facts, c, error);
    if (status == LEY_OK)
        status = make_part(share, f->atoms, &part, error);
    if (status == LEY_OK) {
        ley_atoms_set_part(share, part, &facts);
        *atoms = share;
    } else {
        ley_atoms_destroy(share);
    }
    return status;
}

ley_status ley_atoms_read_share(const char *path, ley_atoms **atoms, ley_error *error)
{
    chain c = {.total_charge_e = 0};
    ley_atoms_file f = {.path = path};
    ley_error why = {0};
    outcome own = {.gravity = GRAVITY_OF_FILE};
    if (ranks_count() == 1)
        return ley_atoms_read(path, atoms, error);
    const bool is_open = (own.status = ley_atoms_file_open(path, &f, &c.sum, &why)) == LEY_OK;
    own.atoms = f.atoms;
    own.checksum = f.checksum;
    ley_status status = agree(&own, &why, error);
    if (status == LEY_OK)
        status = f.atoms < (size_t)ranks_count() ? ley_atoms_read_binary(path, atoms, error)
                                                 : read_open_file(&f, &c, atoms, error);
    if (is_open)
        ley_atoms_file_close(&f);
    return status;
}

/* ---- Planes ---------------------------------------------------------------------------------- */

static double plane_A(const ley_grid *grid, int64_t plane)
{
    return grid->origin_A[2] + (double)plane * grid->step_A[2][2];
}

/* Where an atom and its images are along z between two places: *first, and then every period, 0: it
 * has none. How many. */
static int64_t find_images(double z_A, double low_A, double high_A, double period_A, double *first)
{
    *first = period_A > 0 ? z_A + ceil((low_A - z_A) / period_A) * period_A : z_A;
    *first += *first < low_A ? period_A : 0; /* by rounding */
    if (!(*first >= low_A && *first <= high_A))
        return 0;
    return period_A > 0 ? (int64_t)floor((high_A - *first) / period_A) + 1 : 1;
}

static int64_t clamped(double x, int64_t most)
{
    return x < 0 ? 0 : x > (double)most ? most : (int64_t)x;
}

/* Of layers of planes: what each takes, by the atoms in its reach; a little, where there are
 * none. */
static double *make_weights(const atoms_part *part, const ley_grid *grid, int64_t layers, double halo_A,
                            double period_A, ley_error *error)
{
    const double low_A = plane_A(grid, 0) - halo_A, high_A = plane_A(grid, grid->n[2] - 1) + halo_A,
                 plane_each_A = grid->step_A[2][2], layer_A = ATOMS_PART_PLANES * plane_each_A,
                 empty = 0.01 * (double)part->sampled / (double)layers;
    double *weight = calloc((size_t)layers + 1, sizeof *weight), sum = 0, z_A;
    if (weight == NULL) {
        ley_fail_memory(error, (size_t)layers * sizeof *weight, "the grid's layers");
        return NULL;
    }
    for (size_t k = 0; k < part->sampled; k++) /* changes from layer to layer */
        for (int64_t n = find_images(part->sample_A[3 * k + 2], low_A, high_A, period_A, &z_A); n > 0; n--) {
            const double from_A = z_A - plane_A(grid, 0);
            weight[clamped(ceil((from_A - halo_A + plane_each_A) / layer_A) - 1, layers - 1)]++;
            weight[clamped(floor((from_A + halo_A) / layer_A), layers - 1) + 1]--;
            z_A += period_A;
        }
    for (int64_t l = 0; l < layers; l++) {
        sum += weight[l];
        weight[l] = sum + empty;
    }
    return weight;
}

/* Between which places the atoms are a rank's own: up to the next rank's planes, and all that is
 * below or above the grid. */
static void find_own(const atoms_part *part, const ley_grid *grid, int rank, double own_A[2])
{
    const int64_t first = part->planes[rank], end = part->planes[rank + 1];
    own_A[0] = first == end ? INFINITY : first > 0 ? plane_A(grid, first) : -INFINITY;
    own_A[1] = end == grid->n[2] ? INFINITY : plane_A(grid, end);
}

static ley_status deal_planes(atoms_part *part, const ley_grid *grid, double halo_A, double period_A,
                              const double *speed, ley_error *error)
{
    const int ranks = ranks_count(), own = ranks_own();
    const int64_t layers = (grid->n[2] + ATOMS_PART_PLANES - 1) / ATOMS_PART_PLANES;
    double *weight = make_weights(part, grid, layers, halo_A, period_A, error);
    if (weight == NULL)
        return LEY_ERROR_MEMORY;
    int64_t *planes = (int64_t *)(void *)(part + 1);
    deal_in_rows(weight, layers, speed, (size_t)ranks, planes);
    free(weight);
    for (int r = 0; r <= ranks; r++)
        planes[r] = planes[r] < layers ? planes[r] * ATOMS_PART_PLANES : grid->n[2];
    part->planes = planes;
    part->first = planes[own];
    part->end = planes[own + 1];
    part->halo_A = halo_A;
    find_own(part, grid, own, part->own_A);
    return LEY_OK;
}

/* ---- Atoms ----------------------------------------------------------------------------------- */

/* To which ranks an atom goes: those whose planes are in reach of it or of an image, and those at
 * the grid's ends, whose own is what is beyond; of ranks that have planes, in their order. */
typedef struct reaches {
    double (*halo_A)[2];            /* [count]; no narrower than its part of the grid */
    double low_A, high_A, period_A; /* of the grid */
    int count, found;               /* found: of the atom that was asked for last: */
    int *rank, *list;               /* [count]: who they are; which of them get it */
    bool *is_found;                 /* [count] */
} reaches;

static void free_reaches(reaches *of)
{
    free(of->halo_A);
    free(of->rank);
    free(of->is_found);
}

static ley_status make_reaches(const atoms_part *part, const ley_grid *grid, double period_A, reaches *made,
                               ley_error *error)
{
    const size_t ranks = (size_t)ranks_count();
    *made = (reaches){.halo_A = calloc(ranks, sizeof *made->halo_A),
                      .rank = calloc(2 * ranks, sizeof *made->rank),
                      .is_found = calloc(ranks, sizeof *made->is_found),
                      .low_A = plane_A(grid, 0),
                      .high_A = plane_A(grid, grid->n[2] - 1),
                      .period_A = period_A};
    if (made->halo_A == NULL || made->rank == NULL || made->is_found == NULL)
        return ley_fail_memory(error, ranks * sizeof *made->halo_A, "the ranks");
    made->list = made->rank + ranks;
    for (int r = 0; r < (int)ranks; r++) {
        const int64_t first = part->planes[r], end = part->planes[r + 1];
        if (first == end)
            continue;
        made->halo_A[made->count][0] = plane_A(grid, first) - part->halo_A;
        made->halo_A[made->count][1] = fmax(plane_A(grid, end - 1) + part->halo_A, plane_A(grid, end));
        made->rank[made->count++] = r;
    }
    return LEY_OK;
}

/* The first of them that reaches up to z. */
static int first_in_reach(const reaches *of, double z_A)
{
    int low = 0;
    for (int high = of->count; low < high;) {
        const int middle = (low + high) / 2;
        if (of->halo_A[middle][1] < z_A)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void take(reaches *of, int k)
{
    if (!of->is_found[k])
        of->list[of->found++] = k;
    of->is_found[k] = true;
}

/* Who gets an atom. Not all ranks are asked: with many of them it goes to few. */
static void find_takers(reaches *of, double z_A)
{
    while (of->found > 0)
        of->is_found[of->list[--of->found]] = false;
    double first_A;
    const int last = of->count - 1;
    const int64_t images = find_images(z_A, of->halo_A[0][0], of->halo_A[last][1], of->period_A, &first_A);
    for (int64_t i = 0; i < images && of->found < of->count; i++) {
        const double at_A = first_A + (double)i * of->period_A;
        for (int k = first_in_reach(of, at_A); k < of->count && of->halo_A[k][0] <= at_A; k++)
            take(of, k);
    }
    if (z_A < of->low_A)
        take(of, 0);
    if (z_A > of->high_A)
        take(of, last);
}

/* The numbers of the atoms that go to rank r, from to[r] on: [to[ranks]], in *list. */
static ley_status list_atoms(const ley_atoms *share, reaches *of, int64_t *to, int32_t **list, ley_error *error)
{
    const size_t n = ley_atoms_count(share);
    const double *position_A = ley_atoms_positions_A(share);
    const int ranks = ranks_count();
    int64_t *next = calloc((size_t)ranks, sizeof *next);
    for (size_t i = 0; i < n && next != NULL; i++) {
        find_takers(of, position_A[3 * i + 2]);
        for (int k = 0; k < of->found; k++)
            next[of->rank[of->list[k]]]++;
    }
    to[0] = 0;
    for (int r = 0; r < ranks && next != NULL; r++) {
        to[r + 1] = to[r] + next[r];
        next[r] = to[r];
    }
    int32_t *all = next != NULL ? malloc(((size_t)to[ranks] + 1) * sizeof *all) : NULL;
    for (size_t i = 0; i < n && all != NULL; i++) {
        find_takers(of, position_A[3 * i + 2]);
        for (int k = 0; k < of->found; k++)
            all[next[of->rank[of->list[k]]]++] = (int32_t)i;
    }
    free(next);
    *list = all;
    return all != NULL ? LEY_OK
                       : ley_fail_memory(error, (size_t)to[ranks] * sizeof *all, "atoms on their way between ranks");
}

/* How many come from each rank, of what each has for each: from[]. */
static ley_status ask_counts(const int64_t *to, int64_t *from, ley_error *error)
{
    const size_t ranks = (size_t)ranks_count();
    int64_t *all = calloc((ranks + 1) * ranks, sizeof *all);
    if (all == NULL)
        return ley_fail_memory(error, ranks * ranks * sizeof *all, "the ranks");
    ranks_share(to, (ranks + 1) * sizeof *to, all);
    from[0] = 0;
    for (size_t r = 0; r < ranks; r++) {
        const int64_t *of = all + r * (ranks + 1) + ranks_own();
        from[r + 1] = from[r] + of[1] - of[0];
    }
    free(all);
    return LEY_OK;
}

/* An array of atoms, where each of them has so many numbers. */
typedef struct array {
    const double *here;
    double *made;
    size_t width;
} array;

enum { ARRAYS = 3 };
static void find_arrays(const ley_atoms *share, ley_atoms *made, array list[ARRAYS])
{
    double *numbers = ley_atoms_numbers(made);
    const size_t n = ley_atoms_count(made);
    list[0] = (array){ley_atoms_positions_A(share), numbers, 3};
    list[1] = (array){ley_atoms_charges_e(share), numbers + 3 * n, 1};
    list[2] = (array){ley_atoms_radii_A(share), numbers + 4 * n, 1};
}

static ley_status deal_array(const array *a, const int32_t *list, const int64_t *to, const int64_t *from,
                             ley_error *error)
{
    const size_t n = (size_t)to[ranks_count()], unit = a->width * sizeof(double);
    double *mine = malloc((n + 1) * unit);
    if (mine == NULL)
        return ley_fail_memory(error, n * unit, "atoms on their way between ranks");
    for (size_t k = 0; k < n; k++)
        memcpy(mine + a->width * k, a->here + a->width * (size_t)list[k], unit);
    ranks_deal(mine, to, a->made, from, unit);
    free(mine);
    return LEY_OK;
}

/* In place of the share. */
static ley_status deal_atoms(ley_atoms *share, atoms_part *part, const int32_t *list, const int64_t *to,
                             const int64_t *from, ley_error *error)
{
    array arrays[ARRAYS];
    ley_atoms *made = NULL;
    const size_t n = (size_t)from[ranks_count()];
    part->is_empty = n == 0;
    ley_status status = ley_atoms_allocate(n > 0 ? n : 1, &made, error);
    if (status == LEY_OK)
        find_arrays(share, made, arrays);
    for (int k = 0; k < ARRAYS && status == LEY_OK; k++)
        status = deal_array(&arrays[k], list, to, from, error);
    if (status == LEY_OK && part->is_empty) /* there must be an atom */
        memcpy(ley_atoms_numbers(made), part->sample_A, 3 * sizeof *part->sample_A);
    if (status == LEY_OK)
        ley_atoms_take_numbers(share, made);
    else
        ley_atoms_destroy(made);
    return status;
}

static ley_status exchange(ley_atoms *atoms, atoms_part *part, const ley_grid *grid, double period_A, ley_error *error)
{
    const size_t ranks = (size_t)ranks_count();
    reaches of = {.halo_A = NULL};
    int32_t *list = NULL;
    int64_t *to = calloc(2 * (ranks + 1), sizeof *to);
    if (to == NULL)
        return ley_fail_memory(error, 2 * ranks * sizeof *to, "the ranks");
    ley_status status = make_reaches(part, grid, period_A, &of, error);
    if (status == LEY_OK)
        status = list_atoms(atoms, &of, to, &list, error);
    if (status == LEY_OK)
        status = ask_counts(to, to + ranks + 1, error);
    if (status == LEY_OK)
        status = deal_atoms(atoms, part, list, to, to + ranks + 1, error);
    free_reaches(&of);
    free(list);
    free(to);
    return status;
}

/* All atoms come to each rank. */
static ley_status take_all(ley_atoms *atoms, ley_error *error)
{
    const atoms_part *part = ley_atoms_part(atoms);
    const size_t ranks = (size_t)ranks_count(), whole = part->whole, n = ley_atoms_count(atoms);
    array arrays[ARRAYS];
    ley_atoms *made = NULL;
    int64_t *first = calloc(ranks + 1, sizeof *first);
    ley_status status = first != NULL ? ley_atoms_allocate(whole, &made, error)
                                      : ley_fail_memory(error, ranks * sizeof *first, "the ranks");
    for (size_t r = 0; r <= ranks && status == LEY_OK; r++)
        first[r] = (int64_t)share_first(whole, (int)r);
    if (status == LEY_OK)
        find_arrays(atoms, made, arrays);
    for (int k = 0; k < ARRAYS && status == LEY_OK; k++) {
        const array *a = &arrays[k];
        memcpy(a->made + a->width * (size_t)first[ranks_own()], a->here, a->width * n * sizeof(double));
        ranks_exchange_end(ranks_exchange_begin(a->made, a->width * sizeof(double), first));
    }
    free(first);
    if (status != LEY_OK)
        return status;
    ley_atoms_take_numbers(atoms, made);
    ley_atoms_set_part(atoms, NULL, NULL);
    return ley_atoms_complete(atoms, error);
}

/* Along z, where atoms have images; infinite where these lie across planes. */
static double period_of(const bool periodic[3], const double cell_A[3][3])
{
    double period_A = 0;
    for (int m = 0; m < 3; m++)
        if (periodic[m] && cell_A[m][2] != 0)
            period_A = period_A > 0 ? INFINITY : fabs(cell_A[m][2]);
    return period_A;
}

ley_status ley_atoms_take_part(ley_atoms *atoms, const ley_grid *grid, const bool periodic[3],
                               const double cell_A[3][3], double halo_A, double speed, ley_error *error)
{
    const size_t ranks = (size_t)ranks_count();
    atoms_part *part = (atoms_part *)(uintptr_t)ley_atoms_part(atoms);
    const double period_A = period_of(periodic, cell_A);
    double *all = calloc(ranks, sizeof *all);
    if (all == NULL)
        return ley_fail_memory(error, ranks * sizeof *all, "the ranks");
    ranks_share(&speed, sizeof speed, all);
    ley_status status = LEY_OK;
    if (part != NULL && isfinite(halo_A) && isfinite(period_A) && deal_compare_speeds(all, ranks)) {
        status = deal_planes(part, grid, halo_A, period_A, all, error);
        if (status == LEY_OK)
            status = exchange(atoms, part, grid, period_A, error);
    } else if (part != NULL) {
        status = take_all(atoms, error);
    }
    free(all);
    return status;
}
