#include "io/cube.h"

#include "core/units.h"
#include "error.h"
#include "io/json_text.h"
#include "io/map_comment.h"
#include "io/text_array.h"
#include "parallel.h"
#include "target/map.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    VALUES_A_LINE = 6,
    TITLE_BYTES = 80, /* of each of the two lines that are text */
    ATOM_NUMBERS = 5  /* number of the element, charge, x, y, z */
};

static const double usual_temperature_K = 298.15;
static const char atomic_unit[] = "hartree/e", conversion[] = "1 hartree/e = ";

/* ---- Writing --------------------------------------------------------------------------------- */

typedef struct cube_writer {
    ley_output output;
    const ley_map *map;
    text_layout layout;
    const int64_t *numbers; /* of several orbitals in one file, from 0; NULL: there is one value at
    a point */
    size_t number_count;
    ley_error *error;
    ley_status status;
} cube_writer;

static void print(cube_writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void print(cube_writer *w, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    const locale_t old = uselocale(ley_c_locale());
    const int length = vsnprintf(text, sizeof text, format, arguments);
    uselocale(old);
    va_end(arguments);
    if (w->status == LEY_OK)
        w->status = ley_output_write(&w->output, text, (size_t)length, w->error);
}

/* The first line of the text, in what every reader takes for one. */
static void print_title(cube_writer *w, const char *text)
{
    char title[2 * TITLE_BYTES];
    const size_t line = strcspn(text, "\n"), length = line < sizeof title ? line : sizeof title - 1;
    for (size_t i = 0; i < length; i++)
        title[i] = text[i] >= ' ' && text[i] < 127 ? text[i] : (unsigned char)text[i] > 127 ? '?' : ' ';
    title[length] = '\0';
    print(w, "%s\n", title);
}

/* The molecule and the dielectric, where the comment says them, and as much of its first line as
 * there is room for. */
static void print_origin(cube_writer *w, const char *comment)
{
    map_origin origin = {.dielectric = 0};
    char title[5 * TITLE_BYTES], line[2 * TITLE_BYTES], number[LEY_JSON_NUMBER] = "";
    for (const char *at = comment; *at != '\0'; at += strcspn(at, "\n"), at += *at == '\n') {
        snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
        map_comment_read(line, &origin);
    }
    const bool has_molecule = origin.molecule[0] != '\0', has_dielectric = origin.dielectric > 0;
    if (has_dielectric)
        ley_json_number(origin.dielectric, number);
    snprintf(title, sizeof title, "%s%s%s%s%s%s%.80s", has_molecule ? "molecule: " : "", origin.molecule,
             has_molecule && has_dielectric ? ", " : "", has_dielectric ? "dielectric " : "", number,
             (has_molecule || has_dielectric) && *comment != '\0' ? "; " : "", comment);
    print_title(w, title[0] != '\0' ? title : "OUTER LOOP: X, MIDDLE LOOP: Y, INNER LOOP: Z");
}

/* A count and a place or a step. */
static void print_three(cube_writer *w, int64_t count, const double values_A[3])
{
    char text[3][LEY_JSON_NUMBER];
    for (int axis = 0; axis < 3; axis++)
        ley_json_number(values_A[axis] / units_bohr_A, text[axis]);
    print(w, "%5lld %s %s %s\n", (long long)count, text[0], text[1], text[2]);
}

/* Elements that are not known are number 0, which readers take for a point. A file without any atom
 * is what some readers refuse. */
static void print_atoms(cube_writer *w)
{
    const ley_atoms *atoms = map_atoms(w->map);
    const int32_t *elements = map_elements(w->map);
    const size_t n = atoms != NULL ? ley_atoms_count(atoms) : 1;
    for (size_t i = 0; i < n; i++) {
        const double *at_A = atoms != NULL ? ley_atoms_positions_A(atoms) + 3 * i : ley_map_grid(w->map)->origin_A;
        print(w, "%5d %11.6f %11.6f %11.6f %11.6f\n", elements != NULL ? elements[i] : 0,
              atoms != NULL ? ley_atoms_charges_e(atoms)[i] : 0, at_A[0] / units_bohr_A, at_A[1] / units_bohr_A,
              at_A[2] / units_bohr_A);
    }
}

/* Of several orbitals in one file how many there are and which, from 1; ten in a line. */
static void print_numbers(cube_writer *w)
{
    for (size_t i = 0; w->numbers != NULL && i <= w->number_count; i++)
        print(w, "%5lld%s", (long long)(i == 0 ? (int64_t)w->number_count : w->numbers[i - 1] + 1),
              i == w->number_count || i % 10 == 9 ? "\n" : "");
}

static void print_header(cube_writer *w, const char *comment, double per_hartree, double temperature_K)
{
    const ley_grid *grid = ley_map_grid(w->map);
    const ley_atoms *atoms = map_atoms(w->map);
    const char *units = ley_map_units(w->map);
    const bool is_atomic = per_hartree > 0 && strcmp(units, atomic_unit) != 0;
    char title[2 * TITLE_BYTES], what[MAP_TITLE], at[64] = "", number[LEY_JSON_NUMBER], kelvin[LEY_JSON_NUMBER];
    map_title(w->map, is_atomic ? atomic_unit : units, what);
    if (strcmp(units, ley_units_name(LEY_UNITS_KT_E)) == 0)
        snprintf(at, sizeof at, " at %s K", ley_json_number(temperature_K, kelvin));
    if (is_atomic)
        snprintf(title, sizeof title, "leyden %s: %s, %s%s %s%s", ley_version(), what, conversion,
                 ley_json_number(per_hartree, number), units, at);
    else
        snprintf(title, sizeof title, "leyden %s: %s", ley_version(), what);
    print_title(w, title);
    print_origin(w, comment != NULL ? comment : "");
    const int64_t count = atoms != NULL ? (int64_t)ley_atoms_count(atoms) : 1;
    print_three(w, w->numbers != NULL ? -count : count, grid->origin_A);
    for (int m = 0; m < 3; m++)
        print_three(w, grid->n[m], grid->step_A[m]);
    print_atoms(w);
    print_numbers(w);
}

/* "temperature_K" of the facts; without it the value stays as it is. */
static ley_status find_temperature(const char *facts, double *temperature_K, ley_error *error)
{
    ley_json json = {.path = "facts", .at = facts, .end = facts + strlen(facts), .line = 1};
    char key[LEY_JSON_KEY];
    bool is_first = true, is_there = true;
    ley_status status = ley_json_enter(&json, '{', "facts", error);
    while (status == LEY_OK && is_there) {
        status = ley_json_member(&json, &is_first, key, &is_there, error);
        if (status != LEY_OK || !is_there)
            break;
        status = strcmp(key, "temperature_K") == 0 ? ley_json_double(&json, key, temperature_K, error)
                                                   : ley_json_skip(&json, error);
    }
    if (status == LEY_OK)
        status = ley_json_end(&json, error);
    if (status == LEY_OK && !(*temperature_K > 0))
        status = ley_json_fail(&json, error, "temperature_K: %g is not positive", *temperature_K);
    if (status != LEY_OK && error != NULL)
        error->status = LEY_ERROR_USAGE;
    return status == LEY_OK ? LEY_OK : LEY_ERROR_USAGE;
}

/* What values become by this factor must be floats, too. */
static ley_status check_values(const ley_map *map, const char *path, double factor, ley_error *error)
{
    ley_status status = map_check_values(map, path, error);
    const int64_t points = ley_grid_points(ley_map_grid(map));
    for (int64_t i = 0; i < points && factor > 1 && status == LEY_OK; i++)
        if (fabs((double)ley_map_read_values(map)[i]) * factor > (double)FLT_MAX)
            status = ley_fail(error, LEY_ERROR_INPUT, "%s: %g %s is too large for a float in %s", path,
                              (double)ley_map_read_values(map)[i], ley_map_units(map), atomic_unit);
    return status;
}

ley_status cube_write(const ley_map *map, const char *path, const char *comment, const char *facts,
                      const volatile bool *cancel, ley_error *error)
{
    double temperature_K = usual_temperature_K;
    ley_status status = facts != NULL ? find_temperature(facts, &temperature_K, error) : LEY_OK;
    const double per_hartree = units_per_hartree(ley_map_units(map), temperature_K);
    cube_writer w = {.map = map, .error = error};
    w.layout = (text_layout){
        .values_a_line = VALUES_A_LINE, .ends_rows = true, .factor = per_hartree > 0 ? 1 / per_hartree : 1};
    if (status == LEY_OK)
        status = check_values(map, path, w.layout.factor, error);
    if (status == LEY_OK)
        status = ley_output_open(&w.output, path, ley_output_is_packed(path), cancel, error);
    if (status != LEY_OK)
        return status;
    print_header(&w, comment, per_hartree, temperature_K);
    if (w.status == LEY_OK)
        w.status = text_array_write(&w.output, map, &w.layout, parallel_cores(), error);
    if (w.status == LEY_OK)
        return ley_output_commit(&w.output, error);
    ley_output_abandon(&w.output);
    return w.status;
}

/* ---- Several values at each point -------------------------------------------------------------
 * */

/* A map that has the values of all at a point behind each other along z, as the file has them. */
static ley_status join(ley_map *const *maps, size_t count, ley_map **joined, ley_error *error)
{
    ley_grid grid = *ley_map_grid(maps[0]);
    const int64_t n_z = grid.n[2];
    const size_t plane = (size_t)(grid.n[0] * grid.n[1]);
    grid.n[2] *= (int64_t)count;
    const ley_status status = ley_map_create(&grid, joined, error);
    for (int64_t z = 0; z < n_z && status == LEY_OK; z++)
        for (size_t i = 0; i < count; i++)
            memcpy(ley_map_values(*joined) + ((size_t)z * count + i) * plane,
                   ley_map_read_values(maps[i]) + (size_t)z * plane, plane * sizeof(float));
    return status;
}

ley_status ley_wavefunction_write_cube(ley_map *const *maps, size_t count, const int64_t *orbitals, const char *path,
                                       const char *comment, const volatile bool *cancel, ley_error *error)
{
    ley_map *joined = NULL;
    ley_status status = count > 0 ? LEY_OK : ley_fail(error, LEY_ERROR_USAGE, "no orbitals");
    cube_writer w = {.error = error, .numbers = orbitals, .number_count = count};
    w.layout = (text_layout){.values_a_line = VALUES_A_LINE, .ends_rows = true, .factor = 1};
    for (size_t i = 0; i < count && status == LEY_OK; i++)
        status = memcmp(ley_map_grid(maps[i]), ley_map_grid(maps[0]), sizeof(ley_grid)) == 0
                     ? map_check_values(maps[i], path, error)
                     : ley_fail(error, LEY_ERROR_USAGE, "%s: maps of several grids", path);
    if (status == LEY_OK)
        status = join(maps, count, &joined, error);
    if (status == LEY_OK)
        status = ley_output_open(&w.output, path, ley_output_is_packed(path), cancel, error);
    if (status != LEY_OK) {
        ley_map_destroy(joined);
        return status;
    }
    w.map = maps[0];
    print_header(&w, comment, 0, usual_temperature_K);
    if (w.status == LEY_OK)
        w.status = text_array_write(&w.output, joined, &w.layout, parallel_cores(), error);
    ley_map_destroy(joined);
    if (w.status == LEY_OK)
        return ley_output_commit(&w.output, error);
    ley_output_abandon(&w.output);
    return w.status;
}

/* ---- Reading --------------------------------------------------------------------------------- */

typedef struct cube_reader {
    const char *path;
    ley_text *text;
    ley_grid grid;
    int64_t atoms;         /* how many stand in the file */
    bool has_orbitals;     /* a line behind the atoms says which ones */
    const char *wanted;    /* which of several values: a number from 1, or an orbital's name; NULL: the only one */
    int64_t count, chosen; /* of values at each point, and the one that is read, from 0; -1: none yet */
    int64_t ahead;         /* of these, in front of the next one that is read */
    bool is_angstrom;
    map_origin origin;
    double per_hartree; /* of what the file's values become; 1: they stay as they are */
    const char *rest;   /* of a word of several numbers; and its length: */
    size_t rest_length;
    char number[LEY_TEXT_WORD_MAX + 1]; /* one that is not in the file in this form */
} cube_reader;

static ley_status next_line(cube_reader *r, const char *what, const char **line, size_t *length, ley_error *error)
{
    const ley_status status = ley_text_line(r->text, line, length, error);
    if (status == LEY_OK && *line == NULL)
        return ley_fail(error, LEY_ERROR_INPUT, "%s:%lld: the file ends where %s should be", r->path,
                        (long long)ley_text_line_number(r->text) + 1, what);
    return status;
}

static ley_status fail_number(const cube_reader *r, const char *what, const char *word, size_t length,
                              const char *complaint, ley_error *error)
{
    char quote[LEY_TEXT_QUOTE];
    return ley_text_fail(r->text, error, "%s: %s %s", what, ley_quote(word, length, quote), complaint);
}

/* The numbers of the next line: `least` of them at least, and the rest of `most` as 1, as which
 * Gaussian leaves out the number of values at a point. */
static ley_status read_numbers(cube_reader *r, const char *what, int least, int most, double *numbers, ley_error *error)
{
    const char *line;
    size_t length;
    int count = 0;
    ley_status status = next_line(r, what, &line, &length, error);
    if (status != LEY_OK)
        return status;
    for (const char *at = line, *end = line + length; at < end && count < most;) {
        const char *word = at;
        while (at < end && !ley_is_space(*at))
            at++;
        if (at > word) {
            const ley_number kind = ley_parse_double(word, (size_t)(at - word), &numbers[count++]);
            if (kind != LEY_NUMBER_FINE)
                return fail_number(r, what, word, (size_t)(at - word), ley_number_complaint(kind), error);
        }
        at += at < end;
    }
    if (count < least)
        return ley_text_fail(r->text, error, "%s: %d numbers, where %d should be", what, count, least);
    while (count < most)
        numbers[count++] = 1;
    return LEY_OK;
}

static ley_status take_count(const cube_reader *r, const char *what, double number, int64_t *count, ley_error *error)
{
    if (number != floor(number) || fabs(number) > INT32_MAX)
        return ley_text_fail(r->text, error, "%s: %g is not a whole number, or too large", what, number);
    *count = (int64_t)number;
    return LEY_OK;
}

/* "1 hartree/e = 627.5 kcal/mol/e", as our files say what unit their values had. */
static void find_conversion(cube_reader *r, const char *title)
{
    const char *at = strstr(title, conversion);
    double number;
    if (at == NULL || strcmp(r->origin.units, atomic_unit) != 0)
        return;
    at += sizeof conversion - 1;
    const size_t digits = strcspn(at, " "), unit = strcspn(at + digits + (at[digits] == ' '), " ");
    if (ley_parse_double(at, digits, &number) != LEY_NUMBER_FINE || !(number > 0) || unit == 0 ||
        unit >= sizeof r->origin.units)
        return;
    r->per_hartree = number;
    snprintf(r->origin.units, sizeof r->origin.units, "%.*s", (int)unit, at + digits + 1);
}

static ley_status read_titles(cube_reader *r, ley_error *error)
{
    for (int i = 0; i < 2; i++) {
        const char *line;
        size_t length;
        const ley_status status = next_line(r, "a title", &line, &length, error);
        if (status != LEY_OK)
            return status;
        map_comment_read(line, &r->origin);
        find_conversion(r, line);
    }
    return LEY_OK;
}

/* The shortest decimal number that is so many bohr: the writer had no other one in mind. */
static double length_A(const cube_reader *r, double number)
{
    double found = r->is_angstrom ? number : number * units_bohr_A;
    const locale_t old = uselocale(ley_c_locale());
    for (int digits = 6; digits <= 17 && !r->is_angstrom; digits++) {
        char text[32];
        snprintf(text, sizeof text, "%.*g", digits, number * units_bohr_A);
        const double shorter = strtod(text, NULL);
        if (shorter / units_bohr_A == number) {
            found = shorter;
            break;
        }
    }
    uselocale(old);
    return found + 0.0; /* never -0 */
}

/* `names`: what is known of the values, for the message. */
static ley_status choose_value(cube_reader *r, const char *names, ley_error *error)
{
    char quote[LEY_TEXT_QUOTE];
    int64_t number = 0;
    if (r->chosen < 0 && r->wanted == NULL && r->count == 1)
        r->chosen = 0;
    if (r->chosen < 0 && r->wanted != NULL &&
        ley_parse_int64(r->wanted, strlen(r->wanted), &number) == LEY_NUMBER_FINE && number >= 1 && number <= r->count)
        r->chosen = number - 1;
    r->ahead = r->chosen;
    if (r->chosen >= 0)
        return LEY_OK;
    if (r->wanted != NULL)
        return ley_text_fail(r->text, error, "there is no value %s, but %lld at each point%s",
                             ley_quote(r->wanted, strlen(r->wanted), quote), (long long)r->count, names);
    return ley_text_fail(r->text, error,
                         "%lld values at each point%s: which one is to be read, say by the option 'value' of leyden "
                         "slice, surface or convert, or of Map.read() in Python, as value 1",
                         (long long)r->count, names);
}

/* Of atoms in front of an orbital the number is negative. */
static ley_status read_first_point(cube_reader *r, double origin[3], ley_error *error)
{
    double numbers[ATOM_NUMBERS];
    int64_t values = 0;
    ley_status status = read_numbers(r, "atoms and origin", 4, ATOM_NUMBERS, numbers, error);
    if (status == LEY_OK)
        status = take_count(r, "atoms", numbers[0], &r->atoms, error);
    if (status == LEY_OK)
        status = take_count(r, "values at each point", numbers[4], &values, error);
    if (status != LEY_OK)
        return status;
    r->has_orbitals = r->atoms < 0;
    if (values < 1 || (values > 1 && r->has_orbitals))
        return ley_text_fail(r->text, error, "%lld values at each point%s", (long long)values,
                             r->has_orbitals ? " of orbitals: such files cannot be read" : "");
    r->count = values;
    r->atoms = llabs(r->atoms);
    memcpy(origin, numbers + 1, 3 * sizeof *origin);
    return r->has_orbitals ? LEY_OK : choose_value(r, "", error);
}

/* Counts are negative where lengths are in Angstrom. */
static ley_status read_axes(cube_reader *r, double steps[3][3], ley_error *error)
{
    static const char *const names[] = {"points and step along axis 1", "points and step along axis 2",
                                        "points and step along axis 3"};
    for (int m = 0; m < 3; m++) {
        double numbers[4];
        ley_status status = read_numbers(r, names[m], 4, 4, numbers, error);
        if (status == LEY_OK)
            status = take_count(r, names[m], numbers[0], &r->grid.n[m], error);
        if (status != LEY_OK)
            return status;
        if (r->grid.n[m] == 0)
            return ley_text_fail(r->text, error, "%s: no points", names[m]);
        const bool is_negative = r->grid.n[m] < 0;
        if (m > 0 && is_negative != r->is_angstrom)
            return ley_text_fail(r->text, error, "counts of both signs: are lengths in bohr or in Angstrom?");
        r->is_angstrom = is_negative;
        r->grid.n[m] = llabs(r->grid.n[m]);
        memcpy(steps[m], numbers + 1, 3 * sizeof **steps);
    }
    return LEY_OK;
}

static ley_status read_grid(cube_reader *r, ley_error *error)
{
    double origin[3], steps[3][3];
    ley_status status = read_first_point(r, origin, error);
    if (status == LEY_OK)
        status = read_axes(r, steps, error);
    if (status != LEY_OK)
        return status;
    for (int axis = 0; axis < 3; axis++) {
        r->grid.origin_A[axis] = length_A(r, origin[axis]);
        for (int m = 0; m < 3; m++)
            r->grid.step_A[m][axis] = length_A(r, steps[m][axis]);
    }
    if ((status = ley_grid_check(&r->grid, error)) != LEY_OK)
        ley_error_prefix(error, "%s:%lld", r->path, (long long)ley_text_line_number(r->text));
    return status;
}

/* How long the first number of a word is: C's %13.5E leaves no blank in front of a minus where the
 * exponent has three digits, and so numbers grow together, each with its exponent. */
static size_t first_number(const char *word, size_t length)
{
    size_t at = 0;
    while (at < length && word[at] != 'E' && word[at] != 'e')
        at++;
    for (at += 2; at < length; at++)
        if (word[at] == '-' || word[at] == '+')
            return at;
    return length;
}

/* Fortran's leaves out the E of such an exponent: "-1.23456-101". */
static bool lacks_letter(const char *word, size_t length)
{
    enum { EXPONENT = 4 };
    if (length < EXPONENT + 1 || memchr(word, 'E', length) != NULL || memchr(word, 'e', length) != NULL)
        return false;
    const char *sign = word + length - EXPONENT;
    return (*sign == '-' || *sign == '+') && (ley_is_digit(sign[-1]) || sign[-1] == '.') && ley_is_digit(sign[1]) &&
           ley_is_digit(sign[2]) && ley_is_digit(sign[3]);
}

static ley_status next_value(void *context, const char **word, size_t *length, ley_error *error)
{
    cube_reader *r = context;
    if (r->rest_length == 0) {
        const ley_status status = ley_text_word(r->text, &r->rest, &r->rest_length, error);
        if (status != LEY_OK || r->rest == NULL) {
            *word = NULL;
            return status;
        }
    }
    *word = r->rest;
    *length = first_number(r->rest, r->rest_length);
    r->rest += *length;
    r->rest_length -= *length;
    if (*length < LEY_TEXT_WORD_MAX && lacks_letter(*word, *length)) {
        const size_t digits = *length - 4;
        snprintf(r->number, sizeof r->number, "%.*sE%.4s", (int)digits, *word, *word + digits);
        *word = r->number;
        *length += 1;
    }
    return LEY_OK;
}

static ley_status read_whole_number(cube_reader *r, int64_t *number, ley_error *error)
{
    static const char what[] = "orbitals";
    const char *word;
    size_t length;
    const ley_status status = next_value(r, &word, &length, error);
    if (status != LEY_OK)
        return status;
    if (word == NULL)
        return ley_text_fail(r->text, error, "the file ends where %s should be", what);
    const ley_number kind = ley_parse_int64(word, length, number);
    return kind == LEY_NUMBER_FINE ? LEY_OK : fail_number(r, what, word, length, ley_number_complaint(kind), error);
}

/* How many orbitals, and which: of each there is a value at each point, "orbital_21". */
static ley_status read_orbitals(cube_reader *r, ley_error *error)
{
    enum { TOLD = 8 };
    char names[32 * (TOLD + 1)] = "", name[32];
    size_t used = 0;
    ley_status status = read_whole_number(r, &r->count, error);
    if (status == LEY_OK && r->count < 1)
        return ley_text_fail(r->text, error, "values of %lld orbitals", (long long)r->count);
    for (int64_t i = 0; i < r->count && status == LEY_OK; i++) {
        int64_t orbital;
        status = read_whole_number(r, &orbital, error);
        if (status != LEY_OK)
            return status;
        snprintf(name, sizeof name, "orbital_%lld", (long long)orbital);
        if (r->chosen < 0 && r->wanted != NULL && strcmp(r->wanted, name) == 0)
            r->chosen = i;
        if (i <= TOLD)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i == 0 ? ", " : " ",
                                     i < TOLD ? name : "...");
    }
    return status == LEY_OK ? choose_value(r, names, error) : status;
}

static ley_status read_atoms(cube_reader *r, ley_error *error)
{
    double numbers[ATOM_NUMBERS];
    ley_status status = LEY_OK;
    for (int64_t i = 0; i < r->atoms && status == LEY_OK; i++)
        status = read_numbers(r, "an atom", ATOM_NUMBERS, ATOM_NUMBERS, numbers, error);
    return status == LEY_OK && r->has_orbitals ? read_orbitals(r, error) : status;
}

/* Of several values that of each point which is read. */
static ley_status next_chosen(void *context, const char **word, size_t *length, ley_error *error)
{
    cube_reader *r = context;
    ley_status status = LEY_OK;
    *word = "";
    for (; r->ahead > 0 && *word != NULL && status == LEY_OK; r->ahead--)
        status = next_value(r, word, length, error);
    if (*word != NULL && status == LEY_OK)
        status = next_value(r, word, length, error);
    r->ahead = r->count - 1;
    return status;
}

static ley_status read_end(cube_reader *r, ley_error *error)
{
    const char *word = "";
    size_t length;
    ley_status status = LEY_OK;
    for (r->ahead = r->count - 1 - r->chosen; r->ahead > 0 && word != NULL && status == LEY_OK; r->ahead--)
        status = next_value(r, &word, &length, error);
    if (status == LEY_OK && word == NULL)
        return ley_text_fail(r->text, error, "the file ends within the values of the last point");
    if (status == LEY_OK)
        status = next_value(r, &word, &length, error);
    return status == LEY_OK && word != NULL
               ? fail_number(r, "behind the last value", word, length, "does not belong there", error)
               : status;
}

/* A whole number and three others. */
static bool is_count_and_vector(const char *line, size_t length)
{
    int count = 0;
    for (const char *at = line, *end = line + length; at < end && count < 4; count++) {
        double number;
        while (at < end && ley_is_space(*at))
            at++;
        const char *word = at;
        while (at < end && !ley_is_space(*at))
            at++;
        if (ley_parse_double(word, (size_t)(at - word), &number) != LEY_NUMBER_FINE ||
            (count == 0 && number != floor(number)))
            return false;
    }
    return count == 4;
}

/* Behind two lines of text are four of counts and vectors. */
bool cube_is(const unsigned char *bytes, size_t size)
{
    const char *at = (const char *)bytes, *end = at + size;
    if (memchr(bytes, '\0', size) != NULL)
        return false;
    for (int line = 0; line < 6; line++) {
        const char *stop = at + strcspn(at, "\r\n");
        if (stop == end || (line >= 2 && !is_count_and_vector(at, (size_t)(stop - at))))
            return false;
        at = stop + (stop[0] == '\r' && stop[1] == '\n' ? 2 : 1);
    }
    return true;
}

ley_status cube_read(ley_stream *stream, ley_map **map, ley_error *error)
{
    return cube_read_value(stream, NULL, map, error);
}

ley_status cube_read_value(ley_stream *stream, const char *value, ley_map **map, ley_error *error)
{
    const char *path = ley_stream_path(stream);
    cube_reader r = {.path = path, .per_hartree = 1, .wanted = value, .chosen = -1};
    float *values = NULL;
    ley_status status = ley_text_open_stream(stream, &r.text, error);
    if (status != LEY_OK)
        return status;
    status = read_titles(&r, error);
    if (status == LEY_OK)
        status = read_grid(&r, error);
    if (status == LEY_OK)
        status = read_atoms(&r, error);
    const text_values from = {
        .text = r.text, .path = path, .context = &r, .next = next_chosen, .factor = r.per_hartree};
    if (status == LEY_OK)
        status = text_array_read(&from, &r.grid, &values, error);
    if (status == LEY_OK)
        status = read_end(&r, error);
    if (status == LEY_OK)
        status = text_array_make_map(values, &r.grid, &r.origin, map, error);
    free(values);
    ley_text_close(r.text);
    return status;
}
