/* The container of particles, docs/formats.md: arrays in an .npz file. */
#include "core/number.h"
#include "error.h"
#include "io/npz.h"
#include "source/particles.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { FORMAT_VERSION = 1, COUNTS = 5 };

static const npz_content content = {"particles have", "prmtop, top, PSF and other files", "leyden.Particles.save()"};

/* What there are counts of, and of which members they are the rows: the first one that is there. */
static const struct {
    size_t count;
    const char *what;
} counts[COUNTS] = {{offsetof(ley_particles_arrays, particles), "charges"},
                    {offsetof(ley_particles_arrays, types), "types (lennard_jones_a)"},
                    {offsetof(ley_particles_arrays, exclusions), "exclusions"},
                    {offsetof(ley_particles_arrays, pairs_14), "1-4 pairs (pair_14)"},
                    {offsetof(ley_particles_arrays, residues), "residues"}};

typedef struct container {
    const char *path;
    npy_array array[PARTICLES_MEMBERS];
    bool is_there[PARTICLES_MEMBERS];
    void *values[PARTICLES_MEMBERS];
    ley_particles_arrays arrays;
} container;

/* ---- Reading --------------------------------------------------------------------------------- */

static ley_status check_format(const char *path, const npz *archive, ley_error *error)
{
    npy_array array;
    int64_t *version = NULL;
    ley_status status = npz_find(archive, "format", &array, NULL, error);
    if (status == LEY_OK && array.count != 1)
        return ley_fail(error, LEY_ERROR_INPUT, "%s: format: %lld numbers, must be one", path, (long long)array.count);
    if (status == LEY_OK)
        status = npz_whole(archive, "format", &array, &version, error);
    if (status == LEY_OK && *version != FORMAT_VERSION)
        status = ley_fail(error, LEY_ERROR_INPUT, "%s: format: version %lld; only %d can be read", path,
                          (long long)*version, FORMAT_VERSION);
    free(version);
    return status;
}

static ley_status narrow(const container *c, const char *name, const int64_t *whole, int64_t n, int32_t **made,
                         ley_error *error)
{
    int32_t *to = *made = malloc(((size_t)n + 1) * sizeof *to);
    if (to == NULL)
        return ley_fail_memory(error, (size_t)n * sizeof *to, name);
    for (int64_t i = 0; i < n; i++) {
        if (whole[i] < INT32_MIN || whole[i] > INT32_MAX)
            return ley_fail(error, LEY_ERROR_INPUT, "%s: %s: number %lld is %lld", c->path, name, (long long)i + 1,
                            (long long)whole[i]);
        to[i] = (int32_t)whole[i];
    }
    return LEY_OK;
}

static ley_status read_values(container *c, const npz *archive, int k, ley_error *error)
{
    const particles_member *m = &particles_members[k];
    const npy_array *array = &c->array[k];
    double *numbers = NULL;
    char **texts = NULL;
    int64_t *whole = NULL;
    int32_t *narrowed = NULL;
    ley_status status = m->type == PARTICLES_NUMBERS ? npz_doubles(archive, m->name, array, &numbers, error)
                        : m->type == PARTICLES_WHOLE ? npz_whole(archive, m->name, array, &whole, error)
                                                     : npz_texts(archive, m->name, array, &texts, error);
    if (status == LEY_OK && m->type == PARTICLES_WHOLE)
        status = narrow(c, m->name, whole, array->count, &narrowed, error);
    free(whole);
    c->values[k] = m->type == PARTICLES_NUMBERS ? (void *)numbers
                   : m->type == PARTICLES_WHOLE ? (void *)narrowed
                                                : (void *)texts;
    return status;
}

/* All are optional here: what lacks is known when there are counts. */
static ley_status read_member(container *c, const npz *archive, int k, ley_error *error)
{
    const particles_member *m = &particles_members[k];
    const int extents = m->columns == 0 ? 1 : 2;
    ley_status status = npz_find(archive, m->name, &c->array[k], &c->is_there[k], error);
    if (status != LEY_OK || !c->is_there[k])
        return status;
    if (c->array[k].extents != extents)
        return ley_fail(error, LEY_ERROR_INPUT, "%s: %s: an array of %d extents, must have %d", c->path, m->name,
                        c->array[k].extents, extents);
    status = read_values(c, archive, k, error);
    particles_set_array(&c->arrays, m, c->values[k]);
    return status;
}

static int64_t count_of(const container *c, size_t of)
{
    for (int k = 0; k < PARTICLES_MEMBERS; k++)
        if (particles_members[k].of == of && c->is_there[k])
            return c->array[k].n[0];
    int64_t residues = 0; /* that nothing but their particles tells of */
    for (int64_t i = 0;
         of == offsetof(ley_particles_arrays, residues) && c->arrays.residue != NULL && i < c->arrays.particles; i++)
        residues = c->arrays.residue[i] < residues ? residues : (int64_t)c->arrays.residue[i] + 1;
    return residues;
}

static ley_status check_member(const container *c, const npz *archive, int k, ley_error *error)
{
    const particles_member *m = &particles_members[k];
    const char *what = NULL;
    const int64_t rows = particles_rows(&c->arrays, m), *n = c->array[k].n;
    const bool is_needed = m->of == counts[0].count || m->of == counts[1].count || rows > 0;
    if (!c->is_there[k])
        return m->is_optional || !is_needed ? LEY_OK
                                            : npz_find(archive, m->name, &(npy_array){.extents = 0}, NULL, error);
    for (int i = 0; i < COUNTS; i++)
        what = m->of == counts[i].count ? counts[i].what : what;
    if (n[0] != rows)
        return ley_fail(error, LEY_ERROR_INPUT, "%s: %s: %lld where %s are %lld", c->path, m->name, (long long)n[0],
                        what, (long long)rows);
    const int64_t columns = m->columns == PARTICLES_SQUARE ? rows : m->columns;
    return columns == 0 || n[1] == columns ? LEY_OK
                                           : ley_fail(error, LEY_ERROR_INPUT, "%s: %s: %lld columns, must be %lld",
                                                      c->path, m->name, (long long)n[1], (long long)columns);
}

static ley_status read_all(container *c, const npz *archive, ley_error *error)
{
    ley_status status = check_format(c->path, archive, error);
    for (int k = 0; k < PARTICLES_MEMBERS && status == LEY_OK; k++)
        status = read_member(c, archive, k, error);
    if (status != LEY_OK)
        return status;
    c->arrays.particles = count_of(c, counts[0].count);
    c->arrays.types = count_of(c, counts[1].count);
    c->arrays.exclusions = count_of(c, counts[2].count);
    c->arrays.pairs_14 = count_of(c, counts[3].count);
    for (int k = 0; k < PARTICLES_MEMBERS && status == LEY_OK; k++)
        if (particles_members[k].of != counts[4].count)
            status = check_member(c, archive, k, error);
    c->arrays.residues = status == LEY_OK ? count_of(c, counts[4].count) : 0;
    for (int k = 0; k < PARTICLES_MEMBERS && status == LEY_OK; k++)
        status = check_member(c, archive, k, error);
    return status;
}

ley_status ley_particles_read(const char *path, ley_particles **particles, ley_error *error)
{
    container c = {.path = path, .arrays = {.size = sizeof c.arrays}};
    npz *archive = NULL;
    ley_status status = npz_open(path, &content, &archive, error);
    if (status == LEY_OK)
        status = read_all(&c, archive, error);
    npz_close(archive);
    if (status == LEY_OK && (status = ley_particles_create(&c.arrays, particles, error)) != LEY_OK)
        ley_error_prefix(error, "%s", path);
    for (int k = 0; k < PARTICLES_MEMBERS; k++)
        free(c.values[k]);
    return status;
}

/* ---- Writing --------------------------------------------------------------------------------- */

static ley_status describe(const ley_particles_arrays *a, const particles_member *m, npz_member *member,
                           ley_error *error)
{
    const int64_t rows = particles_rows(a, m), columns = m->columns == PARTICLES_SQUARE ? rows : m->columns;
    if (m->type == PARTICLES_TEXTS)
        return npz_pack(m->name, particles_array(a, m), rows, member, error);
    *member = (npz_member){
        .name = m->name, .extents = columns == 0 ? 1 : 2, .n = {rows, columns}, .numbers = particles_array(a, m)};
    strcpy(member->type, m->type == PARTICLES_NUMBERS ? "<f8" : "<i4");
    return LEY_OK;
}

ley_status ley_particles_write(const ley_particles *p, const char *path, const volatile bool *cancel, ley_error *error)
{
    static const int32_t version = FORMAT_VERSION;
    const ley_particles_arrays a = ley_particles_get(p);
    npz_member members[PARTICLES_MEMBERS + 1] = {{"format", "<i4", 0, {0}, &version}};
    void *packed[PARTICLES_MEMBERS + 1] = {NULL};
    size_t count = 1;
    if (!ley_ends_with(path, ".npz"))
        return ley_fail(error, LEY_ERROR_USAGE, "%s: a file of particles ends in .npz", path);
    ley_status status = LEY_OK;
    for (int k = 0; k < PARTICLES_MEMBERS && status == LEY_OK; k++) {
        const particles_member *m = &particles_members[k];
        if (particles_array(&a, m) == NULL)
            continue;
        status = describe(&a, m, &members[count], error);
        packed[count] = m->type == PARTICLES_TEXTS ? (void *)(uintptr_t)members[count].numbers : NULL;
        count++;
    }
    if (status == LEY_OK)
        status = npz_write(path, members, count, cancel, error);
    for (size_t k = 0; k < count; k++)
        free(packed[k]);
    return status;
}
