#include "io/molecule_kind.h"

#include "error.h"
#include "io/stream.h"
#include "io/text.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

enum { LINES = 200, COMMAND_BYTES = 700, START_BYTES = 64, NAME_BYTES = 260, GRO_NUMBERS = 20 };

/* What has been seen of a file's lines up to now. */
typedef struct seen {
    int64_t line; /* of this line, from 1 */
    const char *text;
    size_t length;
    int64_t atoms_line;     /* "N atoms", as LAMMPS writes it */
    bool begins_with_count; /* the first line is a whole number and nothing else */
    bool count_is_second;   /* the second one is */
} seen;

typedef bool kind_test(const seen *s);

/* ---- Words of a line ------------------------------------------------------------------------- */

static size_t word_at(const seen *s, size_t index, const char **word)
{
    const char *at = s->text, *const end = s->text + s->length;
    for (size_t i = 0;; i++) {
        while (at < end && ley_is_space(*at))
            at++;
        *word = at;
        while (at < end && !ley_is_space(*at))
            at++;
        if (i == index || at == end)
            return i == index ? (size_t)(at - *word) : 0;
    }
}

static bool has_word(const seen *s, size_t index, const char *keyword)
{
    const char *word;
    const size_t length = word_at(s, index, &word);
    return length > 0 && ley_word_is(word, length, keyword);
}

static bool has_number(const seen *s, size_t index, bool whole)
{
    const char *word;
    const size_t length = word_at(s, index, &word);
    int64_t count;
    double value;
    return length > 0 &&
           (whole ? ley_parse_int64(word, length, &count) : ley_parse_double(word, length, &value)) == LEY_NUMBER_FINE;
}

static bool has_words(const seen *s, size_t count)
{
    const char *word;
    return word_at(s, count - 1, &word) > 0 && word_at(s, count, &word) == 0;
}

static bool begins(const seen *s, const char *text)
{
    return s->length >= strlen(text) && memcmp(s->text, text, strlen(text)) == 0;
}

/* ---- Signs of each kind ---------------------------------------------------------------------- */

static bool is_psf(const seen *s)
{
    return (s->line == 1 && has_word(s, 0, "PSF")) || (has_number(s, 0, true) && has_word(s, 1, "!NATOM"));
}

static bool is_prmtop(const seen *s)
{
    return begins(s, "%VERSION ") || begins(s, "%FLAG ");
}

static bool is_mol2(const seen *s)
{
    return begins(s, "@<TRIPOS>");
}

static bool is_mmcif(const seen *s)
{
    return begins(s, "_atom_site.") || begins(s, "_entry.id");
}

static bool is_gromacs_topology(const seen *s)
{
    return has_word(s, 0, "[") && has_word(s, 2, "]") &&
           (has_word(s, 1, "ATOMS") || has_word(s, 1, "MOLECULETYPE") || has_word(s, 1, "DEFAULTS"));
}

static bool is_sdf(const seen *s)
{
    const char *word;
    const size_t length = s->line == 4 && s->length >= 39 ? word_at(s, 0, &word) : 0;
    return length > 0 && (memcmp(s->text + 34, "V2000", 5) == 0 || memcmp(s->text + 34, "V3000", 5) == 0);
}

static bool is_lammps(const seen *s)
{
    return s->atoms_line > 0 && ((has_word(s, 2, "XLO") && has_word(s, 3, "XHI")) || has_word(s, 0, "MASSES") ||
                                 (has_word(s, 1, "ATOM") && has_word(s, 2, "TYPES")));
}

/* A title, the number of atoms, and columns: residue's number and name, atom's name and number,
 * three numbers. */
static bool is_gro(const seen *s)
{
    double value;
    if (s->line != 3 || !s->count_is_second || s->length < GRO_NUMBERS + 24)
        return false;
    const seen numbers = {.text = s->text + GRO_NUMBERS, .length = s->length - GRO_NUMBERS};
    const char *word;
    const size_t length = word_at(&numbers, 0, &word);
    return ley_is_digit(s->text[4]) && ley_is_digit(s->text[GRO_NUMBERS - 1]) && length > 0 &&
           ley_parse_double(word, length, &value) == LEY_NUMBER_FINE && has_number(&numbers, 1, false) &&
           has_number(&numbers, 2, false);
}

/* The number of atoms, a title, and an element with three numbers. */
static bool is_xyz(const seen *s)
{
    return s->line == 3 && s->begins_with_count && has_number(s, 1, false) && has_number(s, 2, false) &&
           has_number(s, 3, false) && !has_word(s, 0, "ATOM") && !has_word(s, 0, "HETATM");
}

/* Molden's and FCHK; others are known by their names. */
static bool is_wavefunction(const seen *s)
{
    return (has_word(s, 0, "[MOLDEN") && has_word(s, 1, "FORMAT]")) ||
           (begins(s, "Number of atoms  ") && has_word(s, 3, "I") && has_number(s, 4, true));
}

static bool is_web_page(const seen *s)
{
    return has_word(s, 0, "<!DOCTYPE") || has_word(s, 0, "<HTML") || has_word(s, 0, "<HTML>");
}

/* As a PQR file has them, and a PDB file. */
static bool is_record_of_atom(const seen *s)
{
    return begins(s, "ATOM ") || begins(s, "HETATM");
}

/* ---- Kinds ----------------------------------------------------------------------------------- */

/* `remedy`: what follows "FILE: this is <name>, not ...: ", the file's name in place of %s, and
 * that of a file beside it in place of COORDINATES and TOPOLOGY, where there is one. `endings`: of
 * the names of such files, which count where the contents say nothing; or NULL. */
typedef struct kind_row {
    const char *name, *remedy;
    kind_test *test; /* or NULL */
    bool is_no_molecule;
    const char *endings;
} kind_row;

#define CONVERT "python3 -m leyden convert "
#define MAKES " makes a PQR file of "

static const kind_row kinds[] = {
    {"a PSF, a topology without coordinates", CONVERT "'%s' COORDINATES -o NEW.pqr" MAKES "both", is_psf, false,
     ".psf"},
    {"a topology of Amber (prmtop), without coordinates", CONVERT "'%s' COORDINATES -o NEW.pqr" MAKES "both", is_prmtop,
     false, ".prmtop .parm7"},
    {"a mol2 file", CONVERT "'%s' -o NEW.pqr" MAKES "it", is_mol2, false, ".mol2"},
    {"an mmCIF file, which has no charges", "pdb2pqr --ff AMBER '%s' NEW.pqr" MAKES "it", is_mmcif, false,
     ".cif .mmcif"},
    {"a topology of GROMACS, without coordinates", CONVERT "'%s' COORDINATES -o NEW.pqr" MAKES "both",
     is_gromacs_topology, false, ".itp"},
    {"an SDF or MOL file, which has no partial charges",
     "antechamber -i '%s' -fi sdf -o NEW.mol2 -fo mol2 -c bcc computes them, and " CONVERT "NEW.mol2 -o NEW.pqr" MAKES
     "that",
     is_sdf, false, ".sdf .mol"},
    {"a data file of LAMMPS", CONVERT "'%s' -o NEW.pqr" MAKES "it", is_lammps, false, NULL},
    {"a gro file, coordinates without charges", CONVERT "TOPOLOGY '%s' -o NEW.pqr" MAKES "both", is_gro, false, ".gro"},
    {"an XYZ file, coordinates without charges", CONVERT "TOPOLOGY '%s' -o NEW.pqr" MAKES "both", is_xyz, false,
     ".xyz"},
    {"a wavefunction",
     CONVERT "'%s' -o NEW.npz makes an archive of it, and 'leyden esp NEW.npz -o NEW.cube' the potential",
     is_wavefunction, true, ".molden .molden.input .fchk .fch .wfn .wfx .mkl .mwfn"},
    {"a web page", "it was saved in place of the file that was meant", is_web_page, true, NULL},
    {"a PDB file, which has no charges", "pdb2pqr --ff AMBER '%s' NEW.pqr" MAKES "it", NULL, false, ".pdb .ent"},
};

/* Where a map is wanted. */
static const kind_row molecule = {"a molecule", "leyden map '%s' -o NEW.dx computes one of it", is_record_of_atom, true,
                                  NULL};

/* Packed by zip, as others are. */
static const kind_row archive = {"an archive of arrays",
                                 "if it is a wavefunction, leyden esp '%s' -o NEW.cube computes its potential", NULL,
                                 true, NULL};

#define TRAJECTORY CONVERT "TOPOLOGY '%s' -o NEW.pqr" MAKES "its first frame"

/* Files of other bytes than text: what they hold at a place. */
static const struct {
    size_t at;
    const char *bytes;
    size_t length;
    kind_row kind;
    bool is_atoms; /* the library's own, which are a molecule */
} binary_kinds[] = {
    {0,
     "\x89LEY\r\n\x1a\n",
     8,
     {"a molecule (.atoms)", "leyden map '%s' -o NEW.dx computes one of it", NULL, true, NULL},
     true},
    {8,
     "VERSION ",
     8,
     {"a run input file of GROMACS (tpr)", CONVERT "'%s' COORDINATES -o NEW.pqr" MAKES "both", NULL, false, ".tpr"},
     false},
    {4, "CORD", 4, {"a trajectory (DCD)", TRAJECTORY, NULL, false, ".dcd"}, false},
    {0, "\0\0\x07\xcb", 4, {"a trajectory (XTC)", TRAJECTORY, NULL, false, ".xtc"}, false},
    {0, "\0\0\x07\xc9", 4, {"a trajectory (TRR)", TRAJECTORY, NULL, false, ".trr"}, false},
    {0, "CDF", 3, {"a trajectory (NetCDF)", TRAJECTORY, NULL, false, ".nc .ncdf"}, false},
    {0, "\x89HDF\r\n", 6, {"a file of HDF5", "leyden reads none", NULL, true, NULL}, false},
    {0, "\x89PNG\r\n", 6, {"a picture", "it shows what another file holds", NULL, true, NULL}, false},
    {0, "BZh", 3, {"packed by bzip2", "bunzip2 -k '%s' unpacks it", NULL, true, NULL}, false},
    {0,
     "\xfd"
     "7zXZ",
     5,
     {"packed by xz", "unxz -k '%s' unpacks it", NULL, true, NULL},
     false},
    {0, "\x28\xb5\x2f\xfd", 4, {"packed by zstd", "unzstd '%s' unpacks it", NULL, true, NULL}, false},
    {0, "PK\x03\x04", 4, {"packed by zip", "unzip '%s' unpacks it", NULL, true, NULL}, false},
};

/* ---- Files beside it ------------------------------------------------------------------------- */

/* What stands for a file that lies beside it: endings of one whose name begins as this one's does,
 * and of any other one where this one is of GROMACS, whose files have names of their own. */
static const struct {
    const char *word, *endings, *of_gromacs;
} others[] = {{"COORDINATES", ".dcd .xtc .trr .nc .ncdf .inpcrd .rst7 .crd .coor .gro .pdb", ".gro .xtc .trr"},
              {"TOPOLOGY", ".tpr .prmtop .parm7 .psf", ".tpr"}};

static bool ends_with_one_of(const char *name, const char *endings)
{
    const size_t length = strlen(name);
    for (size_t n; *endings != '\0'; endings += n, endings += *endings == ' ') {
        n = strcspn(endings, " ");
        if (length > n && strncasecmp(name + length - n, endings, n) == 0)
            return true;
    }
    return false;
}

/* A file in the same folder that has one of the endings, and whose name begins with this one's, or
 * in any way: the shortest name of these, the first one by the alphabet. False: there is none. */
static bool find_named(const char *path, const char *endings, bool any, char *found, size_t size)
{
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    const size_t stem = strcspn(name, ".");
    char folder[COMMAND_BYTES], best[NAME_BYTES - 3] = "";
    snprintf(folder, sizeof folder, "%.*s", (int)(name - path), path);
    DIR *directory = stem > 0 ? opendir(folder[0] != '\0' ? folder : ".") : NULL;
    for (const struct dirent *entry; directory != NULL && (entry = readdir(directory)) != NULL;) {
        const size_t length = strlen(entry->d_name), shortest = best[0] != '\0' ? strlen(best) : sizeof best - 1;
        if ((any || (strncmp(entry->d_name, name, stem) == 0 && !isalnum((unsigned char)entry->d_name[stem]))) &&
            ends_with_one_of(entry->d_name, endings) && ley_name_to_type(path) == path &&
            ley_name_to_type(entry->d_name) == entry->d_name &&
            (length < shortest || (length == shortest && strcmp(entry->d_name, best) < 0)))
            snprintf(best, sizeof best, "%s", entry->d_name);
    }
    if (directory != NULL)
        closedir(directory);
    if (best[0] != '\0')
        snprintf(found, size, "'%s%s'", folder, best);
    return best[0] != '\0';
}

/* Of the other file i. */
static bool find_beside(const char *path, size_t i, char *found, size_t size)
{
    return find_named(path, others[i].endings, false, found, size) ||
           (ends_with_one_of(path, ".tpr .gro .xtc .trr") && find_named(path, others[i].of_gromacs, true, found, size));
}

/* The remedy with the names of files. */
static void fill_in(const char *remedy, const char *path, char *to, size_t size)
{
    size_t used = 0;
    to[0] = '\0';
    for (const char *at = remedy; *at != '\0' && used + 1 < size; used = strlen(to)) {
        char found[COMMAND_BYTES + NAME_BYTES];
        size_t i = 0;
        while (i < 2 && strncmp(at, others[i].word, strlen(others[i].word)) != 0)
            i++;
        if (strncmp(at, "%s", 2) == 0) {
            snprintf(to + used, size - used, "%s", ley_name_to_type(path));
            at += 2;
        } else if (i < 2 && find_beside(path, i, found, sizeof found)) {
            snprintf(to + used, size - used, "%.*s", (int)(size - used - 1), found);
            at += strlen(others[i].word);
        } else {
            snprintf(to + used, size - used, "%c", *at++);
        }
    }
}

static bool explain(const kind_row *kind, const char *path, int64_t line, molecule_wanted wanted, ley_error *error)
{
    char command[COMMAND_BYTES], place[32] = "";
    fill_in(kind->remedy, path, command, sizeof command);
    if (line > 0)
        snprintf(place, sizeof place, ":%lld", (long long)line);
    ley_error_clear(error);
    ley_fail(error, LEY_ERROR_INPUT, "%s%s: this is %s, not %s: %s%s%s", path, place, kind->name,
             wanted == MOLECULE_WANTED ? "a PQR file" : "a map", command,
             strstr(kind->remedy, CONVERT) != NULL ? " (by leyden's Python package)" : "",
             wanted == MAP_WANTED && !kind->is_no_molecule ? ", of which leyden map computes a map" : "");
    return true;
}

/* By its first bytes, once they are unpacked; NULL: they say nothing. */
static const kind_row *kind_of_bytes(const char *path, molecule_wanted wanted)
{
    char start[START_BYTES] = {0};
    size_t size = 0;
    ley_stream *stream;
    if (ley_stream_open(path, &stream, NULL) != LEY_OK)
        return NULL;
    if (ley_stream_peek(stream, start, sizeof start, &size, NULL) != LEY_OK)
        size = 0;
    ley_stream_close(stream);
    if (size >= 4 && memcmp(start, "PK\x03\x04", 4) == 0 && ends_with_one_of(path, ".npz"))
        return &archive;
    for (size_t i = 0; i < sizeof binary_kinds / sizeof *binary_kinds; i++)
        if (binary_kinds[i].at + binary_kinds[i].length <= size &&
            memcmp(start + binary_kinds[i].at, binary_kinds[i].bytes, binary_kinds[i].length) == 0)
            return binary_kinds[i].is_atoms && wanted == MOLECULE_WANTED ? NULL : &binary_kinds[i].kind;
    return NULL;
}

static void look(seen *s)
{
    const bool is_count = has_words(s, 1) && has_number(s, 0, true);
    s->begins_with_count = s->begins_with_count || (s->line == 1 && is_count);
    s->count_is_second = s->count_is_second || (s->line == 2 && is_count);
    if (s->atoms_line == 0 && has_words(s, 2) && has_number(s, 0, true) && has_word(s, 1, "ATOMS"))
        s->atoms_line = s->line;
}

static const kind_row *kind_of_lines(ley_text *text, molecule_wanted wanted, int64_t *line)
{
    seen s = {.line = 0};
    while (s.line < LINES && ley_text_line(text, &s.text, &s.length, NULL) == LEY_OK && s.text != NULL) {
        s.line++;
        look(&s);
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
            if (kinds[i].test != NULL && kinds[i].test(&s)) {
                *line = s.line;
                return &kinds[i];
            }
        if (wanted == MAP_WANTED && molecule.test(&s)) {
            *line = s.line;
            return &molecule;
        }
    }
    return NULL;
}

static const kind_row *kind_of_name(const char *path)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].endings != NULL && ends_with_one_of(path, kinds[i].endings))
            return &kinds[i];
    for (size_t i = 0; i < sizeof binary_kinds / sizeof *binary_kinds; i++)
        if (binary_kinds[i].kind.endings != NULL && ends_with_one_of(path, binary_kinds[i].kind.endings))
            return &binary_kinds[i].kind;
    return NULL;
}

bool molecule_kind_explain(const char *path, molecule_wanted wanted, ley_error *error)
{
    struct stat known;
    ley_text *text;
    int64_t line = 0;
    if (stat(path, &known) != 0 || !S_ISREG(known.st_mode))
        return false;
    const kind_row *kind = kind_of_bytes(path, wanted);
    if (kind == NULL && ley_text_open(path, &text, NULL) == LEY_OK) {
        kind = kind_of_lines(text, wanted, &line);
        ley_text_close(text);
    }
    if (kind == NULL)
        kind = kind_of_name(path);
    return kind != NULL && explain(kind, path, line, wanted, error);
}
