/* The container of wavefunctions, docs/formats.md: arrays in an .npz file. */
#include "core/number.h"
#include "error.h"
#include "io/npz.h"

#include <stdlib.h>
#include <string.h>

enum { FORMAT_VERSION = 1 };

typedef enum member {
    FORMAT,
    NUMBERS,
    CHARGES,
    POSITIONS,
    SHELL_ATOM,
    SHELL_L,
    SHELL_PURE,
    SHELL_FIRST,
    EXPONENTS,
    COEFFICIENTS,
    ORBITALS,
    ENERGIES,
    OCCUPATIONS,
    SPINS,
    MEMBERS
} member;

/* Names; and of what extents they are. */
static const struct {
    const char *name;
    bool is_whole, is_optional;
    int extents;
} rows[MEMBERS] = {
    [FORMAT] = {"format", true, false, 0},
    [NUMBERS] = {"numbers", true, true, 1},
    [CHARGES] = {"charges", false, false, 1},
    [POSITIONS] = {"positions_bohr", false, false, 2},
    [SHELL_ATOM] = {"shell_atom", true, false, 1},
    [SHELL_L] = {"shell_l", true, false, 1},
    [SHELL_PURE] = {"shell_pure", true, false, 1},
    [SHELL_FIRST] = {"shell_first_primitive", true, false, 1},
    [EXPONENTS] = {"exponents", false, false, 1},
    [COEFFICIENTS] = {"coefficients", false, false, 1},
    [ORBITALS] = {"orbitals", false, false, 2},
    [ENERGIES] = {"energies", false, true, 1},
    [OCCUPATIONS] = {"occupations", false, false, 1},
    [SPINS] = {"spins", true, true, 1},
};

typedef struct container {
    const char *path;
    npy_array array[MEMBERS];
    bool is_there[MEMBERS];
    double *doubles[MEMBERS];
    int64_t *whole[MEMBERS];
    int32_t *narrow[MEMBERS]; /* the same as whole[], in four bytes */
} container;

/* ---- Reading --------------------------------------------------------------------------------- */

static ley_status read_member(container *c, const npz *archive, member m, ley_error *error)
{
    ley_status status =
        npz_find(archive, rows[m].name, &c->array[m], rows[m].is_optional ? &c->is_there[m] : NULL, error);
    if (!rows[m].is_optional)
        c->is_there[m] = status == LEY_OK;
    if (status != LEY_OK || !c->is_there[m])
        return status;
    if (c->array[m].extents != rows[m].extents)
        return ley_fail(error, LEY_ERROR_INPUT, "%s: %s: an array of %d extents, must have %d", c->path, rows[m].name,
                        c->array[m].extents, rows[m].extents);
    if (!rows[m].is_whole)
        return npz_doubles(archive, rows[m].name, &c->array[m], &c->doubles[m], error);
    status = npz_whole(archive, rows[m].name, &c->array[m], &c->whole[m], error);
    if (status != LEY_OK)
        return status;
    const int64_t n = c->array[m].count;
    c->narrow[m] = malloc(((size_t)n + 1) * sizeof(int32_t));
    if (c->narrow[m] == NULL)
        return ley_fail_memory(error, (size_t)n * sizeof(int32_t), rows[m].name);
    for (int64_t i = 0; i < n; i++) {
        if (m != SHELL_FIRST && (c->whole[m][i] < INT32_MIN || c->whole[m][i] > INT32_MAX))
            return ley_fail(error, LEY_ERROR_INPUT, "%s: %s: number %lld is %lld", c->path, rows[m].name,
                            (long long)i + 1, (long long)c->whole[m][i]);
        c->narrow[m][i] = (int32_t)c->whole[m][i];
    }
    return LEY_OK;
}

static ley_status check_extent(const container *c, member m, int axis, int64_t count, const char *what,
                               ley_error *error)
{
    if (!c->is_there[m] || c->array[m].n[axis] == count)
        return LEY_OK;
    return ley_fail(error, LEY_ERROR_INPUT, "%s: %s: %lld where %s are %lld", c->path, rows[m].name,
                    (long long)c->array[m].n[axis], what, (long long)count);
}

static int64_t count_functions(const container *c)
{
    int64_t functions = 0;
    for (int64_t s = 0; s < c->array[SHELL_L].count && s < c->array[SHELL_PURE].count; s++) {
        const int64_t l = c->whole[SHELL_L][s];
        if (l >= 0 && l <= LEY_MOST_MOMENTUM) /* else ley_wavefunction_create() says which is not */
            functions += c->whole[SHELL_PURE][s] != 0 ? 2 * l + 1 : (l + 1) * (l + 2) / 2;
    }
    return functions;
}

static ley_status check_extents(const container *c, ley_error *error)
{
    const struct {
        member m;
        int axis;
        int64_t count;
        const char *what;
    } wanted[] = {{NUMBERS, 0, c->array[CHARGES].count, "charges"},
                  {POSITIONS, 0, c->array[CHARGES].count, "charges"},
                  {POSITIONS, 1, 3, "coordinates"},
                  {SHELL_L, 0, c->array[SHELL_ATOM].count, "shells (shell_atom)"},
                  {SHELL_PURE, 0, c->array[SHELL_ATOM].count, "shells (shell_atom)"},
                  {SHELL_FIRST, 0, c->array[SHELL_ATOM].count + 1, "shells and the end"},
                  {COEFFICIENTS, 0, c->array[EXPONENTS].count, "exponents"},
                  {OCCUPATIONS, 0, c->array[ORBITALS].n[0], "orbitals"},
                  {ENERGIES, 0, c->array[ORBITALS].n[0], "orbitals"},
                  {SPINS, 0, c->array[ORBITALS].n[0], "orbitals"},
                  {ORBITALS, 1, count_functions(c), "the shells' functions"}};
    if (c->whole[FORMAT][0] != FORMAT_VERSION)
        return ley_fail(error, LEY_ERROR_INPUT, "%s: format: version %lld; only %d can be read", c->path,
                        (long long)c->whole[FORMAT][0], FORMAT_VERSION);
    ley_status status = LEY_OK;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted && status == LEY_OK; i++)
        status = check_extent(c, wanted[i].m, wanted[i].axis, wanted[i].count, wanted[i].what, error);
    return status;
}

static ley_status make(const container *c, ley_wavefunction **wavefunction, ley_error *error)
{
    const ley_wavefunction_arrays arrays = {.size = sizeof arrays,
                                            .nuclei = c->array[CHARGES].count,
                                            .shells = c->array[SHELL_ATOM].count,
                                            .primitives = c->array[EXPONENTS].count,
                                            .orbitals = c->array[ORBITALS].n[0],
                                            .numbers = c->narrow[NUMBERS],
                                            .charges = c->doubles[CHARGES],
                                            .positions_bohr = c->doubles[POSITIONS],
                                            .shell_atom = c->narrow[SHELL_ATOM],
                                            .shell_l = c->narrow[SHELL_L],
                                            .shell_pure = c->narrow[SHELL_PURE],
                                            .shell_first_primitive = c->whole[SHELL_FIRST],
                                            .exponents = c->doubles[EXPONENTS],
                                            .coefficients = c->doubles[COEFFICIENTS],
                                            .orbital_coefficients = c->doubles[ORBITALS],
                                            .energies = c->doubles[ENERGIES],
                                            .occupations = c->doubles[OCCUPATIONS],
                                            .spins = c->narrow[SPINS]};
    const ley_status status = ley_wavefunction_create(&arrays, wavefunction, error);
    if (status != LEY_OK)
        ley_error_prefix(error, "%s", c->path);
    return status;
}

static const npz_content content = {"a wavefunction has", "Molden, FCHK and other files", "leyden.Wavefunction.save()"};

ley_status ley_wavefunction_read(const char *path, ley_wavefunction **wavefunction, ley_error *error)
{
    container c = {.path = path};
    npz *archive = NULL;
    ley_status status = npz_open(path, &content, &archive, error);
    for (member m = 0; m < MEMBERS && status == LEY_OK; m++)
        status = read_member(&c, archive, m, error);
    if (status == LEY_OK)
        status = check_extents(&c, error);
    npz_close(archive);
    if (status == LEY_OK)
        status = make(&c, wavefunction, error);
    for (member m = 0; m < MEMBERS; m++) {
        free(c.doubles[m]);
        free(c.whole[m]);
        free(c.narrow[m]);
    }
    return status;
}

/* ---- Writing --------------------------------------------------------------------------------- */

ley_status ley_wavefunction_write(const ley_wavefunction *w, const char *path, const volatile bool *cancel,
                                  ley_error *error)
{
    static const int32_t version = FORMAT_VERSION;
    const ley_wavefunction_arrays a = ley_wavefunction_get(w);
    const npz_member members[] = {
        {rows[FORMAT].name, "<i4", 0, {0}, &version},
        {rows[NUMBERS].name, "<i4", 1, {a.nuclei}, a.numbers},
        {rows[CHARGES].name, "<f8", 1, {a.nuclei}, a.charges},
        {rows[POSITIONS].name, "<f8", 2, {a.nuclei, 3}, a.positions_bohr},
        {rows[SHELL_ATOM].name, "<i4", 1, {a.shells}, a.shell_atom},
        {rows[SHELL_L].name, "<i4", 1, {a.shells}, a.shell_l},
        {rows[SHELL_PURE].name, "<i4", 1, {a.shells}, a.shell_pure},
        {rows[SHELL_FIRST].name, "<i8", 1, {a.shells + 1}, a.shell_first_primitive},
        {rows[EXPONENTS].name, "<f8", 1, {a.primitives}, a.exponents},
        {rows[COEFFICIENTS].name, "<f8", 1, {a.primitives}, a.coefficients},
        {rows[ORBITALS].name, "<f8", 2, {a.orbitals, ley_wavefunction_functions(w)}, a.orbital_coefficients},
        {rows[ENERGIES].name, "<f8", 1, {a.orbitals}, a.energies},
        {rows[OCCUPATIONS].name, "<f8", 1, {a.orbitals}, a.occupations},
        {rows[SPINS].name, "<i4", 1, {a.orbitals}, a.spins},
    };
    if (!ley_ends_with(path, ".npz"))
        return ley_fail(error, LEY_ERROR_USAGE, "%s: a wavefunction's file ends in .npz", path);
    return npz_write(path, members, sizeof members / sizeof *members, cancel, error);
}
