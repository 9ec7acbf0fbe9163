/* Ions in files: waters that are found in one, and molecules with ions. */
#include "error.h"
#include "io/output.h"
#include "ions/internal.h"
#include "ions/molecule.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Waters ---------------------------------------------------------------------------------- */

typedef struct finding {
    int32_t *water;
    int64_t *oxygen; /* of each molecule so far; -1: not found yet */
    size_t count;
    char residue[16], chain, number[16]; /* of the atom before, if it was of water */
    bool is_within;
} finding;

static bool is_water(const pqr_field *residue)
{
    const char *name;
    for (size_t i = 0; (name = ley_waters_residue(i)) != NULL; i++)
        if (residue->length == strlen(name) && strncmp(residue->at, name, residue->length) == 0)
            return true;
    return false;
}

/* Letters behind digits, as in 1OW or OH2. */
static bool is_oxygen(const pqr_field *name)
{
    size_t i = 0;
    while (i < name->length && ley_is_digit(name->at[i]))
        i++;
    return i < name->length && name->at[i] == 'O';
}

static void keep(char *to, size_t size, const pqr_field *from)
{
    snprintf(to, size, "%.*s", (int)(from->length < size ? from->length : size - 1), from->at);
}

static ley_status find_water(void *context, const molecule_line *line, ley_error *error)
{
    finding *f = context;
    char residue[sizeof f->residue], number[sizeof f->number];
    (void)error;
    if (line->atom < 0)
        return LEY_OK;
    const char chain = line->chain.length > 0 ? line->chain.at[0] : '\0';
    keep(residue, sizeof residue, &line->residue);
    keep(number, sizeof number, &line->number);
    const bool was_within =
        f->is_within && chain == f->chain && strcmp(residue, f->residue) == 0 && strcmp(number, f->number) == 0;
    f->is_within = is_water(&line->residue);
    f->water[line->atom] = -1;
    if (!f->is_within)
        return LEY_OK;
    const bool begins = !was_within || (is_oxygen(&line->name) && f->oxygen[f->count - 1] >= 0);
    if (begins)
        f->oxygen[f->count++] = -1;
    if (is_oxygen(&line->name))
        f->oxygen[f->count - 1] = line->atom;
    f->water[line->atom] = (int32_t)f->count - 1;
    memcpy(f->residue, residue, sizeof residue);
    memcpy(f->number, number, sizeof number);
    f->chain = chain;
    return LEY_OK;
}

/* Residues without an oxygen are no waters after all. */
static size_t drop_others(finding *f, size_t n)
{
    size_t kept = 0;
    int32_t *now = malloc((f->count + 1) * sizeof *now);
    if (now == NULL)
        return 0;
    for (size_t i = 0; i < f->count; i++) {
        now[i] = f->oxygen[i] >= 0 ? (int32_t)kept : -1;
        if (f->oxygen[i] >= 0)
            f->oxygen[kept++] = f->oxygen[i];
    }
    for (size_t i = 0; i < n; i++)
        f->water[i] = f->water[i] >= 0 ? now[f->water[i]] : -1;
    free(now);
    return kept;
}

ley_status ley_waters_read(const char *path, const ley_atoms *atoms, ley_waters **waters, ley_error *error)
{
    const size_t n = ley_atoms_count(atoms);
    finding f = {.water = malloc(n * sizeof *f.water), .oxygen = malloc((n + 1) * sizeof *f.oxygen)};
    ley_status status = f.water != NULL && f.oxygen != NULL ? LEY_OK : ley_fail_memory(error, 12 * n, "the waters");
    if (status == LEY_OK)
        status = molecule_walk(path, n, find_water, &f, error);
    const size_t count = status == LEY_OK ? drop_others(&f, n) : 0;
    if (status == LEY_OK && count == 0)
        status = ley_fail(error, LEY_ERROR_INPUT,
                          "%s: no residue is a water, by its name: HOH, WAT, SOL, TIP3 and others are, with an atom "
                          "that begins with O",
                          path);
    if (status == LEY_OK)
        status = ley_waters_create(n, f.water, count, f.oxygen, waters, error);
    free(f.water);
    free(f.oxygen);
    return status;
}

/* ---- Molecules with ions --------------------------------------------------------------------- */

typedef struct writing {
    const ley_ions *ions;
    ley_output output;
    bool is_pdb, has_ions;         /* has_ions: they are written */
    int64_t serial, residue, left; /* atoms so far; the largest residue number; atoms to come */
} writing;

static ley_status put(writing *w, ley_error *error, const char *format, ...) __attribute__((format(printf, 3, 4)));
static ley_status put(writing *w, ley_error *error, const char *format, ...)
{
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    return ley_output_write(&w->output, line, (size_t)(length < (int)sizeof line ? length : (int)sizeof line - 1),
                            error);
}

/* With a point, whatever the locale. */
typedef struct fixed_text {
    char s[32];
} fixed_text;

static fixed_text fixed(double value, int decimals)
{
    fixed_text text;
    const double scale = pow(10, decimals), whole = floor(fabs(value) * scale + 0.5);
    const long long all = (long long)whole, one = (long long)scale;
    snprintf(text.s, sizeof text.s, "%s%lld.%0*lld", value < 0 && all > 0 ? "-" : "", all / one, decimals, all % one);
    return text;
}

static ley_status fail_wide(ley_error *error, const char *what)
{
    return ley_fail(error, LEY_ERROR_INPUT, "a PDB file has no room for %s: write a .pqr file", what);
}

static ley_status put_pdb_atom(writing *w, const char *record, const char *name, const char *residue, char chain,
                               int64_t number, const double position_A[3], ley_error *error)
{
    char column[8];
    const bool is_wide = strlen(name) > 4, is_element = strlen(name) >= 4 || strcmp(name, residue) == 0;
    for (int axis = 0; axis < 3; axis++)
        if (position_A[axis] >= 9999.9995 || position_A[axis] <= -999.9995)
            return fail_wide(error, "coordinates beyond -999 and 9999 A");
    if (is_wide || strlen(residue) > 4)
        return fail_wide(error, "names of more than four letters");
    snprintf(column, sizeof column, is_element && strlen(name) > 1 ? "%-4s" : " %-3s", name);
    return put(w, error, "%-6s%5lld %-4s %-4s%c%4lld    %8s%8s%8s  1.00  0.00\n", record,
               (long long)(w->serial % 100000), column, residue, chain, (long long)(number % 10000),
               fixed(position_A[0], 3).s, fixed(position_A[1], 3).s, fixed(position_A[2], 3).s);
}

static ley_status put_ion(writing *w, const ley_placed_ion *ion, ley_error *error)
{
    w->serial++;
    w->residue++;
    if (w->is_pdb)
        return put_pdb_atom(w, "HETATM", ion->name, ion->name, ' ', w->residue, ion->position_A, error);
    return put(w, error, "HETATM%5lld %-4s %-4s %4lld    %s %s %s %s %s\n", (long long)w->serial, ion->name, ion->name,
               (long long)w->residue, fixed(ion->position_A[0], 4).s, fixed(ion->position_A[1], 4).s,
               fixed(ion->position_A[2], 4).s, fixed(ion->charge_e, 4).s, fixed(ion->radius_A, 4).s);
}

static ley_status put_ions(writing *w, ley_error *error)
{
    ley_status status = LEY_OK;
    w->has_ions = true;
    for (int64_t i = 0; i < w->ions->count && status == LEY_OK; i++)
        status = put_ion(w, &w->ions->placed[i], error);
    return status;
}

static ley_status copy_line(writing *w, const molecule_line *line, ley_error *error)
{
    const ley_status status = ley_output_write(&w->output, line->line, line->length, error);
    return status == LEY_OK ? ley_output_write(&w->output, "\n", 1, error) : status;
}

static ley_status put_molecule_line(void *context, const molecule_line *line, ley_error *error)
{
    writing *w = context;
    char name[16], residue[16];
    int64_t number = 0;
    if (line->atom < 0) {
        const bool is_end_of_chain = line->length >= 3 && strncmp(line->line, "TER", 3) == 0;
        ley_status status = LEY_OK;
        if (w->left == 0 && !w->has_ions && !is_end_of_chain)
            status = put_ions(w, error);
        return status == LEY_OK ? copy_line(w, line, error) : status;
    }
    w->left--;
    if (w->ions->is_removed[line->atom])
        return LEY_OK;
    w->serial++;
    size_t digits = line->number.length;
    while (digits > 0 && !ley_is_digit(line->number.at[digits - 1])) /* an insertion code */
        digits--;
    if (ley_parse_int64(line->number.at, digits, &number) != LEY_NUMBER_FINE)
        number = 0;
    w->residue = number > w->residue ? number : w->residue;
    if (!w->is_pdb)
        return copy_line(w, line, error);
    keep(name, sizeof name, &line->name);
    keep(residue, sizeof residue, &line->residue);
    return put_pdb_atom(w, "ATOM", name, residue, line->chain.length == 1 ? line->chain.at[0] : ' ', number,
                        line->position_A, error);
}

static ley_status put_comment(writing *w, const char *comment, ley_error *error)
{
    ley_status status = LEY_OK;
    for (const char *at = comment; at != NULL && *at != '\0' && status == LEY_OK;) {
        const size_t length = strcspn(at, "\n");
        status = put(w, error, "REMARK   6 %.*s\n", (int)(length < 400 ? length : 400), at);
        at += length + (at[length] == '\n');
    }
    return status;
}

static bool ends_with(const char *path, const char *ending)
{
    const size_t n = strlen(path), length = strlen(ending);
    return n >= length && strcmp(path + n - length, ending) == 0;
}

ley_status ley_ions_write(const ley_ions *ions, const char *molecule, const char *path, const char *comment,
                          const volatile bool *cancel, ley_error *error)
{
    writing w = {.ions = ions, .left = molecule != NULL ? (int64_t)ions->atoms : 0};
    const bool is_packed = ley_output_is_packed(path);
    w.is_pdb = ends_with(path, ".pdb") || ends_with(path, ".pdb.gz");
    if (!w.is_pdb && !ends_with(path, ".pqr") && !ends_with(path, ".pqr.gz"))
        return ley_fail(error, LEY_ERROR_USAGE, "%s: the name must end in .pqr or .pdb, or one of these and .gz", path);
    ley_status status = ley_output_open(&w.output, path, is_packed, cancel, error);
    if (status != LEY_OK)
        return status;
    status = put_comment(&w, comment, error);
    if (status == LEY_OK && molecule != NULL)
        status = molecule_walk(molecule, ions->atoms, put_molecule_line, &w, error);
    if (status == LEY_OK && !w.has_ions)
        status = put_ions(&w, error);
    if (status == LEY_OK)
        return ley_output_commit(&w.output, error);
    ley_output_abandon(&w.output);
    return status;
}
