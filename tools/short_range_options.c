#include "short_range_options.h"
#include "console.h"
#include "job_report.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *const place_names[] = {
    [LEY_PLACE_AUTO] = "auto", [LEY_PLACE_HOST] = "host", [LEY_PLACE_DEVICE] = "device", NULL};

const char *const periodic_names[] = {"x", "y", "z", "xy", "xz", "yz", "xyz", NULL};

/* ---- Pair functions -------------------------------------------------------------------------- */

/* Names of functions, NULL behind the last: all but an expression, which is whatever has none of
 * these names. */
static const char *pair_name_at(const void *context, size_t i)
{
    const ley_pair_info *info;
    (void)context;
    for (size_t pair = 0; (info = ley_pair_get((ley_pair)pair)) != NULL; pair++)
        if (!info->is_expression && i-- == 0)
            return info->name;
    return NULL;
}

/* A property of pair functions: some member of ley_pair_info. */
#define PROPERTY(member) offsetof(ley_pair_info, member)

static bool has(const ley_pair_info *info, size_t property)
{
    return *(const bool *)((const char *)info + property);
}

typedef struct name_list {
    char s[512];
} name_list;

/* "lennard-jones and buckingham": the functions that have a property; expressions last, if
 * `own` has a name for them. */
static const char *names_of(size_t property, const char *own, name_list *list)
{
    const ley_pair_info *info;
    const char *names[32];
    size_t count = 0, used = 0;
    bool expressions = false;
    for (size_t pair = 0; (info = ley_pair_get((ley_pair)pair)) != NULL; pair++) {
        if (has(info, property) && !info->is_expression && count < sizeof names / sizeof *names - 1)
            names[count++] = info->name;
        expressions = expressions || (has(info, property) && info->is_expression);
    }
    if (expressions && own != NULL)
        names[count++] = own;
    list->s[0] = '\0';
    for (size_t i = 0; i < count && used < sizeof list->s; i++)
        used += (size_t)snprintf(list->s + used, sizeof list->s - used, "%s%s",
                                 i == 0           ? ""
                                 : i + 1 == count ? " and "
                                                  : ", ",
                                 names[i]);
    return list->s;
}

const char *short_range_all_names(void)
{
    static name_list list;
    const char *name;
    size_t used = 0;
    for (size_t i = 0; (name = pair_name_at(NULL, i)) != NULL && used < sizeof list.s; i++)
        used += (size_t)snprintf(list.s + used, sizeof list.s - used, "%s%s", i > 0 ? ", " : "", name);
    return list.s;
}

const char *short_range_kappa_names(void)
{
    static name_list list;
    return names_of(PROPERTY(takes_kappa), NULL, &list);
}

const char *short_range_probe_names(void)
{
    static name_list list;
    return names_of(PROPERTY(takes_probe), NULL, &list);
}

const char *short_range_steepness_names(void)
{
    static name_list list;
    return names_of(PROPERTY(takes_steepness), NULL, &list);
}

static const ley_pair_info *info_of(const ley_short_range *range)
{
    return ley_pair_get(range->pair);
}

/* Which options pair functions take. Those of every pair function have no property; these but the
 * last are taken by --method cutoff alone. */
enum { OF_ALL, OF_SOME, OF_CHARGES };

static const struct {
    const char *option;
    int who;
    size_t property; /* of functions that take it: of OF_SOME */
} takers[] = {
    {"pair", OF_ALL, 0},
    {"cutoff", OF_ALL, 0},
    {"periodic", OF_ALL, 0},
    {"cell", OF_ALL, 0},
    {"bin-depth", OF_ALL, 0},
    {"bin-fill", OF_ALL, 0},
    {"binning", OF_ALL, 0},
    {"overflow", OF_ALL, 0},
    {"transposition", OF_ALL, 0},
    {"kappa", OF_SOME, PROPERTY(takes_kappa)},
    {"screening-length", OF_SOME, PROPERTY(takes_kappa)},
    {"constants", OF_SOME, PROPERTY(takes_numbers)},
    {"probe", OF_SOME, PROPERTY(takes_probe)},
    {"well-depth", OF_SOME, PROPERTY(takes_probe)},
    {"well-depths", OF_SOME, PROPERTY(takes_probe)},
    {"steepness", OF_SOME, PROPERTY(takes_steepness)},
    {"dielectric", OF_CHARGES, 0},
    {"temperature", OF_CHARGES, 0},
    {"units", OF_CHARGES, 0},
};

void short_range_set_defaults(short_range_values *values)
{
    ley_short_range range;
    ley_short_range_default(&range);
    *values = (short_range_values){.pair = info_of(&range)->name,
                                   .cutoff_A = range.cutoff_A,
                                   .kappa_per_A = range.kappa_per_A,
                                   .probe = {range.probe_radius_A, range.probe_depth_kcal_mol},
                                   .steepness = range.steepness,
                                   .well_depth_kcal_mol = range.depth_for_all_kcal_mol,
                                   .bin_fill = range.bin_fill,
                                   .bin_depth = range.bin_depth,
                                   .binning = (int)range.binning,
                                   .overflow = (int)range.overflow,
                                   .transposition = (int)range.transposition};
}

static bool given(const parsed_arguments *arguments, const char *name)
{
    return option_named_given(arguments, name);
}

/* ---- Checks ---------------------------------------------------------------------------------- */

static int check_method(const parsed_arguments *arguments)
{
    for (size_t i = 0; i < sizeof takers / sizeof *takers; i++)
        if (takers[i].who != OF_CHARGES && given(arguments, takers[i].option))
            return fail_usage(arguments->command, "--%s needs --method cutoff: other methods do not take it",
                              takers[i].option);
    return 0;
}

static int check_takers(const parsed_arguments *arguments, const ley_short_range *range)
{
    const ley_pair_info *info = info_of(range);
    for (size_t i = 0; i < sizeof takers / sizeof *takers; i++) {
        const char *option = takers[i].option, *text = short_range_pair_text(range);
        const bool some = takers[i].who == OF_SOME, of_charges = takers[i].who == OF_CHARGES;
        name_list names;
        if (some && !has(info, takers[i].property) && given(arguments, option))
            return fail_usage(arguments->command, "--%s is for %s; --pair %.200s does not take it", option,
                              names_of(takers[i].property, "expressions", &names), text);
        if (of_charges && info->is_energy && given(arguments, option))
            return fail_usage(arguments->command,
                              "--%s is for functions of charges; --pair %.200s gives energies in kcal/mol, whatever "
                              "the charges",
                              option, text);
    }
    return 0;
}

static int check_together(const parsed_arguments *arguments, const ley_short_range *range)
{
    const subcommand *command = arguments->command;
    if (given(arguments, "kappa") && given(arguments, "screening-length"))
        return fail_usage(command, "--kappa and --screening-length exclude each other: one is 1 over the other");
    if (given(arguments, "well-depth") && given(arguments, "well-depths"))
        return fail_usage(command,
                          "--well-depth and --well-depths exclude each other: both are the atoms' well depths");
    if (info_of(range)->needs_kappa && !given(arguments, "kappa") && !given(arguments, "screening-length"))
        return fail_usage(command, "--pair %s needs --kappa 1/A or --screening-length A", info_of(range)->name);
    if (given(arguments, "periodic") && !given(arguments, "cell"))
        return fail_usage(command, "--periodic needs --cell, in whose distances the images are");
    if (given(arguments, "cell") && !given(arguments, "periodic"))
        return fail_usage(command, "--cell needs --periodic: along which of its axes are there images?");
    return 0;
}

/* ---- Texts ----------------------------------------------------------------------------------- */

static void set_pair(ley_short_range *range, const char *text)
{
    const ley_pair_info *info;
    range->pair = LEY_PAIR_EXPRESSION;
    for (size_t pair = 0; (info = ley_pair_get((ley_pair)pair)) != NULL; pair++)
        if (!info->is_expression && strcasecmp(info->name, text) == 0)
            range->pair = (ley_pair)pair;
    range->expression = range->pair == LEY_PAIR_EXPRESSION ? text : NULL;
}

/* The word without the blanks around it, which are cut off in place. */
static char *trimmed(char *word)
{
    word += strspn(word, " \t\r\n");
    for (size_t length = strlen(word); length > 0 && strchr(" \t\r\n", word[length - 1]) != NULL; length--)
        word[length - 1] = '\0';
    return word;
}

static char *copy_of(const char *text)
{
    return strcpy(allocate(strlen(text) + 1, 1), text);
}

/* Cuts the text behind the next comma; NULL behind the last piece. */
static char *next_piece(char **rest)
{
    char *piece = *rest;
    if (piece == NULL)
        return NULL;
    *rest = strchr(piece, ',');
    if (*rest != NULL)
        *(*rest)++ = '\0';
    return trimmed(piece);
}

/* 'a=1.5,b=2'. Whether names are names is the library's to say. */
static int parse_constants(const subcommand *command, const char *text, short_range_input *input)
{
    input->names = copy_of(text);
    input->numbers = allocate(strlen(text) / 2 + 1, sizeof *input->numbers);
    input->range.numbers = input->numbers;
    char *rest = input->names;
    for (char *piece; (piece = next_piece(&rest)) != NULL;) {
        char *equals = strchr(piece, '=');
        ley_named_number *number = &input->numbers[input->range.number_count];
        if (equals == NULL || equals == piece)
            return fail_usage(command, "--constants takes NAME=NUMBER, separated by commas; '%.200s' is none", piece);
        *equals = '\0';
        number->name = trimmed(piece);
        const char *value = trimmed(equals + 1);
        if (!read_real(value, &number->value) || !isfinite(number->value))
            return fail_usage(command, "--constants: '%.200s' of %.200s is not a number", value, number->name);
        input->range.number_count++;
    }
    return 0;
}

/* Exact where the cosine is a short number: a cell with right angles has axes along x, y and z. */
static double cos_degrees(double angle)
{
    return angle == 90 ? 0 : angle == 60 ? 0.5 : angle == 120 ? -0.5 : cos(angle * acos(-1) / 180);
}

/* a along x, b in the xy plane, as in PDB files. */
static int set_triclinic(const subcommand *command, const double number[6], double cell_A[3][3])
{
    const double *length_A = number;
    for (int i = 0; i < 3; i++)
        if (!(number[3 + i] > 0 && number[3 + i] < 180))
            return fail_usage(command, "--cell: an angle of %.15g degrees, it must be between 0 and 180",
                              number[3 + i]);
    const double cos_a = cos_degrees(number[3]), cos_b = cos_degrees(number[4]), cos_c = cos_degrees(number[5]);
    const double sin_c = sqrt(1 - cos_c * cos_c), along_b = (cos_a - cos_b * cos_c) / sin_c;
    const double height2 = 1 - cos_b * cos_b - along_b * along_b;
    if (!(height2 > 1e-12))
        return fail_usage(command, "--cell: no cell has the angles %.15g, %.15g and %.15g degrees", number[3],
                          number[4], number[5]);
    const double cell[3][3] = {{length_A[0], 0, 0},
                               {length_A[1] * cos_c, length_A[1] * sin_c, 0},
                               {length_A[2] * cos_b, length_A[2] * along_b, length_A[2] * sqrt(height2)}};
    memcpy(cell_A, cell, sizeof cell);
    return 0;
}

static int parse_cell(const subcommand *command, const char *text, double cell_A[3][3])
{
    double number[9];
    int n = 0;
    char *copy = copy_of(text), *rest = copy;
    bool good = true;
    for (char *piece; good && (piece = next_piece(&rest)) != NULL; n++)
        good = n < 9 && read_real(piece, &number[n]) && fabs(number[n]) <= 1e8;
    free(copy);
    if (!good || (n != 3 && n != 6 && n != 9))
        return fail_usage(command,
                          "--cell takes 3 numbers separated by commas (a,b,c), 6 (a,b,c,alpha,beta,gamma) or 9 (three "
                          "vectors), up to 1e8, "
                          "not '%.200s'",
                          text);
    for (int i = 0; i < 3 && n < 9; i++)
        if (!(number[i] > 0))
            return fail_usage(command, "--cell: a length of %.15g A, it must be above 0", number[i]);
    memset(cell_A, 0, 9 * sizeof **cell_A);
    if (n == 6)
        return set_triclinic(command, number, cell_A);
    for (int i = 0; i < n; i++) {
        if (n == 9)
            cell_A[i / 3][i % 3] = number[i];
        else
            cell_A[i][i] = number[i];
    }
    return 0;
}

int short_range_begin(const parsed_arguments *arguments, const short_range_values *values, bool is_short_range,
                      short_range_input *input)
{
    *input = (short_range_input){.names = NULL};
    ley_short_range *range = &input->range;
    ley_short_range_default(range);
    if (!is_short_range)
        return check_method(arguments);
    set_pair(range, values->pair);
    int code = check_takers(arguments, range);
    if (code == 0)
        code = check_together(arguments, range);
    if (code == 0 && values->constants != NULL)
        code = parse_constants(arguments->command, values->constants, input);
    if (code == 0 && values->cell != NULL)
        code = parse_cell(arguments->command, values->cell, range->cell_A);
    for (int i = 0; i < 3 && values->cell != NULL; i++)
        range->periodic[i] = strchr(periodic_names[values->periodic], "xyz"[i]) != NULL;
    range->cutoff_A = values->cutoff_A;
    range->kappa_per_A = given(arguments, "screening-length") ? 1 / values->screening_length_A : values->kappa_per_A;
    range->probe_radius_A = values->probe[0];
    range->probe_depth_kcal_mol = values->probe[1];
    range->steepness = values->steepness;
    range->depth_for_all_kcal_mol = values->well_depth_kcal_mol;
    range->bin_depth = (int)values->bin_depth;
    range->bin_fill = values->bin_fill;
    range->binning = (ley_place)values->binning;
    range->overflow = (ley_place)values->overflow;
    range->transposition = (ley_place)values->transposition;
    return code;
}

void short_range_release(short_range_input *input)
{
    free(input->numbers);
    free(input->names);
    free(input->depth_kcal_mol);
    *input = (short_range_input){.names = NULL};
}

/* Letters, digits, '_' and '-': no one writes a formula without any other sign. */
static bool is_one_word(const char *text)
{
    for (; *text != '\0'; text++)
        if (!isalnum((unsigned char)*text) && *text != '_' && *text != '-')
            return false;
    return true;
}

void short_range_explain(const ley_short_range *range, ley_error *error)
{
    char library[sizeof error->message];
    if (error->cause != LEY_CAUSE_UNKNOWN_NAME || range->pair != LEY_PAIR_EXPRESSION || !is_one_word(range->expression))
        return;
    memcpy(library, error->message, sizeof library);
    snprintf(error->message, sizeof error->message, "--pair: '%.100s' is none of %s%s, and as an expression: %.400s",
             range->expression, short_range_all_names(), suggest(range->expression, "", pair_name_at, NULL).s, library);
}

/* ---- The file of well depths ----------------------------------------------------------------- */

static ley_status fail_reading(ley_error *error, ley_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static ley_status fail_reading(ley_error *error, ley_status status, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    vsnprintf(error->message, sizeof error->message, format, values);
    va_end(values);
    return error->status = status;
}

/* What is quoted may be anything. */
static short_text quoted(const char *word)
{
    short_text text = text_of("'%.40s%s'", word, strlen(word) > 40 ? "..." : "");
    for (char *c = text.s; *c != '\0'; c++)
        *c = *c >= ' ' && *c <= '~' ? *c : '?';
    return text;
}

/* The number on this line: true, or false when it has none and *wrong says whether it should. */
static bool depth_on(char *line, double *depth_kcal_mol, short_text *wrong)
{
    line[strcspn(line, "#")] = '\0';
    const char *word = trimmed(line);
    wrong->s[0] = '\0';
    if (*word == '\0')
        return false;
    if (word[strcspn(word, " \t")] != '\0')
        *wrong = text_of("%s is more than one number", quoted(word).s);
    else if (!read_real(word, depth_kcal_mol) || !isfinite(*depth_kcal_mol))
        *wrong = text_of("%s is not a number", quoted(word).s);
    else if (*depth_kcal_mol < 0)
        *wrong = text_of("a well depth of %s kcal/mol is below 0", word);
    return wrong->s[0] == '\0';
}

/* Number of depths in the file, of which the first `most` are kept. */
static ley_status read_lines(FILE *file, const char *path, double *depths, size_t most, size_t *n, ley_error *error)
{
    char *line = NULL;
    size_t size = 0;
    ssize_t length;
    ley_status status = LEY_OK;
    for (long number = 1; status == LEY_OK && (length = getline(&line, &size, file)) >= 0; number++) {
        short_text wrong;
        double depth_kcal_mol = 0;
        if (memchr(line, '\0', (size_t)length) != NULL) {
            status = fail_reading(error, LEY_ERROR_INPUT, "%s:%ld: a NUL byte", path, number);
        } else if (depth_on(line, &depth_kcal_mol, &wrong)) {
            if (*n < most)
                depths[*n] = depth_kcal_mol;
            ++*n;
        } else if (wrong.s[0] != '\0') {
            status = fail_reading(error, LEY_ERROR_INPUT, "%s:%ld: %s", path, number, wrong.s);
        }
    }
    if (status == LEY_OK && ferror(file))
        status = fail_reading(error, LEY_ERROR_FILE, "%s: %s", path, strerror(errno));
    free(line);
    return status;
}

ley_status short_range_read_depths(const short_range_values *values, const ley_atoms *atoms, const char *atoms_path,
                                   short_range_input *input, ley_error *error)
{
    const char *path = values->well_depths;
    const size_t wanted = ley_atoms_count(atoms);
    size_t found = 0;
    if (path == NULL || !info_of(&input->range)->takes_probe)
        return LEY_OK;
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return fail_reading(error, LEY_ERROR_FILE, "%s: %s", path, strerror(errno));
    input->depth_kcal_mol = allocate(wanted, sizeof *input->depth_kcal_mol);
    input->range.depth_kcal_mol = input->depth_kcal_mol;
    ley_status status = read_lines(file, path, input->depth_kcal_mol, wanted, &found, error);
    fclose(file);
    if (status == LEY_OK && found != wanted)
        status = fail_reading(error, LEY_ERROR_INPUT, "%s: %zu well depths, and %s has %zu atoms", path, found,
                              base_name(atoms_path), wanted);
    return status;
}

/* ---- What is said of them -------------------------------------------------------------------- */

const char *short_range_pair_text(const ley_short_range *range)
{
    return info_of(range)->is_expression ? range->expression : info_of(range)->name;
}

bool short_range_is_periodic(const ley_short_range *range)
{
    return range->periodic[0] || range->periodic[1] || range->periodic[2];
}

bool short_range_is_box(const ley_short_range *range, double length_A[3])
{
    for (int i = 0; i < 3; i++) {
        length_A[i] = range->cell_A[i][i];
        for (int k = 0; k < 3; k++)
            if (!range->periodic[i] || (i != k && range->cell_A[i][k] != 0) || !(length_A[i] > 0))
                return false;
    }
    return true;
}

void put_short_range(FILE *to, const ley_short_range *range)
{
    put_name(to, "pair: ", short_range_pair_text(range));
    fprintf(to, ", cutoff %.15g A", range->cutoff_A);
    if (info_of(range)->takes_kappa)
        fprintf(to, ", kappa %.15g / A", range->kappa_per_A);
    for (size_t i = 0; i < range->number_count; i++)
        fprintf(to, ", %s = %.15g", range->numbers[i].name, range->numbers[i].value);
    if (info_of(range)->takes_probe) {
        fprintf(to, ", probe %.15g A and %.15g kcal/mol, well depths ", range->probe_radius_A,
                range->probe_depth_kcal_mol);
        if (range->depth_kcal_mol != NULL)
            fputs("of each atom", to);
        else
            fprintf(to, "%.15g kcal/mol", range->depth_for_all_kcal_mol);
    }
    if (info_of(range)->takes_steepness)
        fprintf(to, ", steepness %.15g", range->steepness);
    fputc('\n', to);
    if (!short_range_is_periodic(range))
        return;
    fputs("cell:", to);
    for (int i = 0; i < 3; i++)
        fprintf(to, "%s %c (%.15g, %.15g, %.15g)", i > 0 ? "," : "", 'a' + i, range->cell_A[i][0], range->cell_A[i][1],
                range->cell_A[i][2]);
    fputs(" A, periodic along", to);
    for (int i = 0; i < 3; i++)
        if (range->periodic[i])
            fprintf(to, " %c", 'a' + i);
    fputc('\n', to);
}

static json_t *json_of_numbers(const ley_short_range *range)
{
    json_t *numbers = json_object();
    for (size_t i = 0; i < range->number_count; i++)
        json_put(numbers, range->numbers[i].name, json_number(range->numbers[i].value));
    return numbers;
}

static json_t *json_of_cell(const ley_short_range *range)
{
    json_t *cell = json_array();
    for (int i = 0; i < 3; i++)
        json_add(cell, json_numbers(range->cell_A[i], 3));
    return cell;
}

json_t *json_of_short_range(const short_range_values *values, const ley_short_range *range)
{
    json_t *object = json_object();
    const ley_pair_info *info = info_of(range);
    const bool radii = info->takes_probe, periodic = short_range_is_periodic(range), kappa = info->takes_kappa;
    json_put(object, "pair", json_text(info->name));
    json_put(object, "expression", json_text(range->expression));
    json_put(object, "constants", info->takes_numbers ? json_of_numbers(range) : json_null());
    json_put(object, "cutoff_A", json_number(range->cutoff_A));
    json_put(object, "kappa_per_A", kappa ? json_number(range->kappa_per_A) : json_null());
    json_put(object, "probe_radius_A", radii ? json_number(range->probe_radius_A) : json_null());
    json_put(object, "probe_depth_kcal_mol", radii ? json_number(range->probe_depth_kcal_mol) : json_null());
    json_put(object, "well_depth_kcal_mol",
             radii && range->depth_kcal_mol == NULL ? json_number(range->depth_for_all_kcal_mol) : json_null());
    json_put(object, "well_depths", json_text(range->depth_kcal_mol != NULL ? values->well_depths : NULL));
    json_put(object, "steepness", info->takes_steepness ? json_number(range->steepness) : json_null());
    json_put(object, "periodic", periodic ? json_text(periodic_names[values->periodic]) : json_null());
    json_put(object, "cell_A", periodic ? json_of_cell(range) : json_null());
    json_put(object, "bin_depth", json_count(range->bin_depth));
    json_put(object, "bin_fill", json_number(range->bin_fill));
    json_put(object, "binning", json_text(place_names[range->binning]));
    json_put(object, "overflow", json_text(place_names[range->overflow]));
    json_put(object, "transposition", json_text(place_names[range->transposition]));
    return object;
}
