/* Molecules by parts: ranks read shares of a file, deal planes of a grid, and exchange atoms. */
#include "io/atoms_share.h"
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

/* Of an array of so many numbers of each atom of the share, those of every so-manieth atom of the
 * molecule, which come to all. LEY_ERROR_MEMORY. */
static ley_status share_every(const double *own, size_t width, size_t whole, size_t stride, double *made,
                              ley_error *error)
{
    const size_t ranks = (size_t)ranks_count(), before = share_first(whole, ranks_own());
    int64_t *first = calloc(ranks + 1, sizeof *first);
    if (first == NULL)
        return ley_fail_memory(error, ranks * sizeof *first, "the ranks");
    for (size_t r = 0; r <= ranks; r++)
        first[r] = (int64_t)((share_first(whole, (int)r) + stride - 1) / stride);
    for (int64_t k = first[ranks_own()]; k < first[ranks_own() + 1]; k++)
        memcpy(made + width * (size_t)k, own + width * ((size_t)k * stride - before), width * sizeof *made);
    ranks_exchange_end(ranks_exchange_begin(made, width * sizeof *made, first));
    free(first);
    return LEY_OK;
}

/* Of all ranks. */
static ley_status find_large_charges(const ley_atoms *share, size_t whole, large_charges *made, ley_error *error)
{
    double charge_e[LARGE_CHARGES_SAMPLE];
    const size_t ranks = (size_t)ranks_count(), stride = whole / LARGE_CHARGES_SAMPLE + 1;
    large_charges *all = calloc(ranks + 1, sizeof *all), *own = all != NULL ? all + ranks : NULL;
    if (all == NULL)
        return ley_fail_memory(error, ranks * sizeof *all, "the ranks");
    const ley_status status = share_every(ley_atoms_charges_e(share), 1, whole, stride, charge_e, error);
    if (status == LEY_OK) {
        large_charges_begin(made, (whole - 1) / stride + 1, charge_e);
        *own = *made;
        large_charges_add(own, ley_atoms_count(share), ley_atoms_positions_A(share), ley_atoms_charges_e(share));
        ranks_share(own, sizeof *own, all);
        for (size_t r = 0; r < ranks; r++)
            large_charges_join(made, &all[r]);
    }
    free(all);
    return status;
}

static ley_status make_part(const ley_atoms *share, size_t whole, atoms_part **made, ley_error *error)
{
    const size_t ranks = (size_t)ranks_count(), stride = whole / ATOMS_SAMPLE + 1, sampled = (whole - 1) / stride + 1,
                 bytes = (ranks + 1) * sizeof(int64_t) + 3 * sampled * sizeof(double);
    atoms_part *part = calloc(1, sizeof *part + bytes);
    if (part == NULL)
        return ley_fail_memory(error, bytes, "a part of the atoms");
    double *sample_A = (double *)(void *)((int64_t *)(void *)(part + 1) + ranks + 1);
    part->whole = whole;
    part->stride = stride;
    part->sampled = sampled;
    part->sample_A = sample_A;
    ley_status status = share_every(ley_atoms_positions_A(share), 3, whole, stride, sample_A, error);
    if (status == LEY_OK)
        status = find_large_charges(share, whole, &part->large, error);
    if (status == LEY_OK)
        *made = part;
    else
        free(part);
    return status;
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

static int64_t clamped(double x, int64_t most)
{
    return x < 0 ? 0 : x > (double)most ? most : (int64_t)x;
}

/* Of layers of planes: what each takes, by the atoms in its reach; a little, where there are
 * none. */
static double *make_weights(const atoms_part *part, int64_t planes, int64_t layers, ley_error *error)
{
    const double first_A = atoms_part_plane_A(part, 0), layer_A = ATOMS_PART_PLANES * part->step_A,
                 empty = 0.01 * (double)part->sampled / (double)layers;
    double reach_A[2];
    atoms_part_reach(part, 0, planes, reach_A);
    double *weight = calloc((size_t)layers + 1, sizeof *weight), sum = 0, z_A;
    if (weight == NULL) {
        ley_fail_memory(error, (size_t)layers * sizeof *weight, "the grid's layers");
        return NULL;
    }
    for (size_t k = 0; k < part->sampled; k++) /* changes from layer to layer */
        for (int64_t n = atoms_part_images(part, part->sample_A[3 * k + 2], reach_A, &z_A); n > 0; n--) {
            const double from_A = z_A - first_A;
            weight[clamped(ceil((from_A - part->halo_A + part->step_A) / layer_A) - 1, layers - 1)]++;
            weight[clamped(floor((from_A + part->halo_A) / layer_A), layers - 1) + 1]--;
            z_A += part->period_A;
        }
    for (int64_t l = 0; l < layers; l++) {
        sum += weight[l];
        weight[l] = sum + empty;
    }
    return weight;
}

static ley_status deal_planes(atoms_part *part, const ley_grid *grid, const double *speed, ley_error *error)
{
    const int ranks = ranks_count(), own = ranks_own();
    const int64_t layers = (grid->n[2] + ATOMS_PART_PLANES - 1) / ATOMS_PART_PLANES;
    double *weight = make_weights(part, grid->n[2], layers, error);
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
    return LEY_OK;
}

/* ---- Atoms ----------------------------------------------------------------------------------- */

/* To which ranks an atom goes: those whose planes are in reach of it or of an image; of ranks that
 * have planes, in the order of these. */
typedef struct reaches {
    const atoms_part *part;
    double (*halo_A)[2]; /* [count] */
    int count, found;    /* found: of the atom that was asked for last: */
    int *rank, *list;    /* [count]: who they are; which of them get it */
    bool *is_found;      /* [count] */
} reaches;

static void free_reaches(reaches *of)
{
    free(of->halo_A);
    free(of->rank);
    free(of->is_found);
}

static ley_status make_reaches(const atoms_part *part, reaches *made, ley_error *error)
{
    const size_t ranks = (size_t)ranks_count();
    *made = (reaches){.part = part,
                      .halo_A = calloc(ranks, sizeof *made->halo_A),
                      .rank = calloc(2 * ranks, sizeof *made->rank),
                      .is_found = calloc(ranks, sizeof *made->is_found)};
    if (made->halo_A == NULL || made->rank == NULL || made->is_found == NULL)
        return ley_fail_memory(error, ranks * sizeof *made->halo_A, "the ranks");
    made->list = made->rank + ranks;
    for (int r = 0; r < (int)ranks; r++) {
        const int64_t first = part->planes[r], end = part->planes[r + 1];
        if (first == end)
            continue;
        atoms_part_reach(part, first, end, made->halo_A[made->count]);
        made->rank[made->count++] = r;
    }
    if (part->period_A == 0 && made->count > 0) { /* meshes have all atoms, wherever the map ends */
        made->halo_A[0][0] = -INFINITY;
        made->halo_A[made->count - 1][1] = INFINITY;
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

/* Who gets an atom. Not all ranks are asked: with many of them it goes to few. What has no images
 * and is beyond all planes goes to those at the end, who spread it over meshes. */
static void find_takers(reaches *of, double z_A)
{
    while (of->found > 0)
        of->is_found[of->list[--of->found]] = false;
    double first_A;
    const int last = of->count - 1;
    const double all_A[2] = {of->halo_A[0][0], of->halo_A[last][1]};
    if (of->part->period_A == 0 && !(z_A >= all_A[0] && z_A <= all_A[1])) {
        take(of, z_A < all_A[0] ? 0 : last);
        return;
    }
    const int64_t images = atoms_part_images(of->part, z_A, all_A, &first_A);
    for (int64_t i = 0; i < images && of->found < of->count; i++) {
        const double at_A = first_A + (double)i * of->part->period_A;
        for (int k = first_in_reach(of, at_A); k < of->count && of->halo_A[k][0] <= at_A; k++)
            take(of, k);
    }
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

/* Where there are none, one that has no charge, and is beyond the halo. */
static ley_status deal_atoms(ley_atoms *atoms, const atoms_part *part, const int32_t *list, const int64_t *to,
                             const int64_t *from, ley_error *error)
{
    array arrays[ARRAYS];
    ley_atoms *made = NULL;
    const size_t n = (size_t)from[ranks_count()];
    ley_status status = ley_atoms_allocate(n > 0 ? n : 1, &made, error);
    if (status == LEY_OK)
        find_arrays(ley_atoms_share(atoms), made, arrays);
    for (int k = 0; k < ARRAYS && status == LEY_OK; k++)
        status = deal_array(&arrays[k], list, to, from, error);
    if (status == LEY_OK && n == 0)
        memcpy(ley_atoms_numbers(made), part->sample_A, 3 * sizeof *part->sample_A);
    if (status == LEY_OK)
        return ley_atoms_take_numbers(atoms, made, error);
    ley_atoms_destroy(made);
    return status;
}

static ley_status exchange(ley_atoms *atoms, const atoms_part *part, ley_error *error)
{
    const size_t ranks = (size_t)ranks_count();
    reaches of = {.halo_A = NULL};
    int32_t *list = NULL;
    int64_t *to = calloc(2 * (ranks + 1), sizeof *to);
    if (to == NULL)
        return ley_fail_memory(error, 2 * ranks * sizeof *to, "the ranks");
    ley_status status = make_reaches(part, &of, error);
    if (status == LEY_OK)
        status = list_atoms(ley_atoms_share(atoms), &of, to, &list, error);
    if (status == LEY_OK)
        status = ask_counts(to, to + ranks + 1, error);
    if (status == LEY_OK)
        status = deal_atoms(atoms, part, list, to, to + ranks + 1, error);
    free_reaches(&of);
    free(list);
    free(to);
    return status;
}

/* All atoms, of the shares of all ranks. */
static ley_status join_shares(const ley_atoms *atoms, ley_atoms **joined, ley_error *error)
{
    const ley_atoms *share = ley_atoms_share(atoms);
    const size_t ranks = (size_t)ranks_count(), whole = ley_atoms_whole_count(atoms);
    array arrays[ARRAYS];
    int64_t *first = calloc(ranks + 1, sizeof *first);
    ley_status status = first != NULL ? ley_atoms_allocate(whole, joined, error)
                                      : ley_fail_memory(error, ranks * sizeof *first, "the ranks");
    for (size_t r = 0; r <= ranks && status == LEY_OK; r++)
        first[r] = (int64_t)share_first(whole, (int)r);
    if (status == LEY_OK)
        find_arrays(share, *joined, arrays);
    for (int k = 0; k < ARRAYS && status == LEY_OK; k++) {
        const array *a = &arrays[k];
        memcpy(a->made + a->width * (size_t)first[ranks_own()], a->here,
               a->width * ley_atoms_count(share) * sizeof(double));
        ranks_exchange_end(ranks_exchange_begin(a->made, a->width * sizeof(double), first));
    }
    free(first);
    return status;
}

ley_status ley_atoms_take_all(ley_atoms *atoms, ley_error *error)
{
    ley_atoms *all = NULL;
    if (ley_atoms_part(atoms) == NULL)
        return LEY_OK;
    ley_status status = join_shares(atoms, &all, error);
    if (status == LEY_OK)
        status = ley_atoms_take_numbers(atoms, all, error);
    if (status != LEY_OK)
        return status;
    ley_atoms_put_all(atoms, NULL);
    ley_atoms_set_part(atoms, NULL, NULL);
    return ley_atoms_complete(atoms, error);
}

/* What rank r has of an array comes to rank 0, in its place there. */
static void bring_array(const array *a, size_t whole)
{
    const size_t unit = a->width * sizeof(double);
    if (ranks_own() > 0) {
        ranks_send(a->here, unit * (share_first(whole, ranks_own() + 1) - share_first(whole, ranks_own())));
        return;
    }
    memcpy(a->made, a->here, unit * share_first(whole, 1));
    for (int r = 1; r < ranks_count(); r++)
        ranks_receive(r, a->made + a->width * share_first(whole, r),
                      unit * (share_first(whole, r + 1) - share_first(whole, r)));
}

ley_status atoms_share_bring(ley_atoms *atoms, ley_error *error)
{
    const ley_atoms *share = ley_atoms_share(atoms);
    const size_t whole = ley_atoms_whole_count(atoms);
    array arrays[ARRAYS] = {{ley_atoms_positions_A(share), NULL, 3},
                            {ley_atoms_charges_e(share), NULL, 1},
                            {ley_atoms_radii_A(share), NULL, 1}};
    ley_atoms *all = NULL;
    bool has_room = ranks_own() > 0 || ley_atoms_allocate(whole, &all, error) == LEY_OK;
    ranks_broadcast(&has_room, sizeof has_room);
    if (!has_room)
        return LEY_ERROR_MEMORY;
    if (ranks_own() == 0)
        find_arrays(share, all, arrays);
    for (int k = 0; k < ARRAYS; k++)
        bring_array(&arrays[k], whole);
    if (ranks_own() > 0)
        return LEY_OK;
    ley_atoms_put_all(atoms, all);
    return ley_atoms_complete(all, error);
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

/* Whether planes are dealt, now or before: not where no rank has any speed. */
static ley_status begin_part(atoms_part *part, const ley_grid *grid, double speed, bool *are_dealt, ley_error *error)
{
    const size_t ranks = (size_t)ranks_count();
    *are_dealt = part->planes != NULL;
    if (*are_dealt)
        return LEY_OK;
    part->origin_A = grid->origin_A[2];
    part->step_A = grid->step_A[2][2];
    double *all = calloc(ranks, sizeof *all);
    if (all == NULL)
        return ley_fail_memory(error, ranks * sizeof *all, "the ranks");
    ranks_share(&speed, sizeof speed, all);
    *are_dealt = deal_compare_speeds(all, ranks);
    const ley_status status = *are_dealt ? deal_planes(part, grid, all, error) : LEY_OK;
    free(all);
    return status;
}

ley_status ley_atoms_take_part(ley_atoms *atoms, const ley_grid *grid, const bool periodic[3],
                               const double cell_A[3][3], double halo_A, double speed, ley_error *error)
{
    atoms_part *part = (atoms_part *)(uintptr_t)ley_atoms_part(atoms);
    const double period_A = period_of(periodic, cell_A);
    bool are_dealt;
    if (part == NULL)
        return LEY_OK;
    if (!isfinite(halo_A) || !isfinite(period_A))
        return ley_atoms_take_all(atoms, error);
    const bool is_anew = part->planes != NULL;
    if (is_anew && halo_A <= part->halo_A)
        return LEY_OK;
    part->halo_A = halo_A;
    part->period_A = period_A;
    const ley_status status = begin_part(part, grid, speed, &are_dealt, error);
    if (status != LEY_OK)
        return status;
    if (!are_dealt)
        return ley_atoms_take_all(atoms, error);
    return exchange(atoms, part, error);
}
