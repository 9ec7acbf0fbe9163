#include "short_range_options.h"
#include "console.h"
#include "pieces.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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

static const char *all_names(void)
{
    static name_list list;
    const char *name;
    size_t used = 0;
    for (size_t i = 0; (name = pair_name_at(NULL, i)) != NULL && used < sizeof list.s; i++)
        used += (size_t)snprintf(list.s + used, sizeof list.s - used, "%s%s", i > 0 ? ", " : "", name);
    return list.s;
}

static const char *probe_names(void)
{
    static name_list list;
    return names_of(PROPERTY(takes_probe), NULL, &list);
}

static const char *steepness_names(void)
{
    static name_list list;
    return names_of(PROPERTY(takes_steepness), NULL, &list);
}

static const ley_pair_info *info_of(const ley_short_range *range)
{
    return ley_pair_get(range->pair);
}

/* Options that not every pair function takes. */
static const struct {
    const char *option;
    bool of_charges; /* that those take whose values are potentials of charges */
    size_t property; /* else of functions that take it */
} takers[] = {
    {"kappa", false, PROPERTY(takes_kappa)},
    {"screening-length", false, PROPERTY(takes_kappa)},
    {"constants", false, PROPERTY(takes_numbers)},
    {"probe", false, PROPERTY(takes_probe)},
    {"well-depth", false, PROPERTY(takes_probe)},
    {"well-depths", false, PROPERTY(takes_probe)},
    {"steepness", false, PROPERTY(takes_steepness)},
    {"dielectric", true, 0},
    {"temperature", true, 0},
    {"units", true, 0},
};

static void set_defaults(void *to)
{
    short_range_values *values = to;
    ley_short_range_default(&values->range);
    values->pair = info_of(&values->range)->name;
}

/* Rows whose values are in the library's struct, and beside it. */
#define OPTION_IN(name) OPTION_OF(ley_short_range, name, short_range_values, range)
#define OPTION_BESIDE(name_, member) \
    .of = "ley_short_range", .parameter = (name_), .kind = OPTION_TEXT, .offset = offsetof(short_range_values, member)

static const option_row rows[] = {
    {OPTION_BESIDE("pair", pair), .names = all_names,
     .help = "pair function to sum: %s, or an expression of r, r2 and q such as 'q*exp(-r/8)/r'"},
    {OPTION_BESIDE("constants", constants), .more = "such as 'a=1.5,b=2'"},
    {OPTION_IN("probe"), .names = probe_names,
     .help = "radius in Angstrom and well depth in kcal/mol of the probe, for %s"},
    {OPTION_IN("steepness"), .names = steepness_names, .help = "steepness of the exponential of %s"},
    {OPTION_IN("well_depth"), .names = probe_names, .help = "well depth of all atoms in kcal/mol, for %s"},
    {.name = "well-depths",
     .kind = OPTION_TEXT,
     .is_input = true,
     .is_expert = true,
     .offset = offsetof(short_range_values, well_depths),
     .value = "FILE",
     .unset = "--well-depth for all atoms",
     .help = "file of well depths, one number on each line, in the order of the atoms"},
    {OPTION_IN("bin_depth")},
    {OPTION_IN("bin_fill")},
    {OPTION_IN("binning")},
    {OPTION_IN("transposition")},
};

const option_block short_range_options = OPTION_BLOCK(rows, short_range_values, set_defaults);

/* ---- Checks ---------------------------------------------------------------------------------- */

static bool given(const parsed_arguments *arguments, const char *name)
{
    return option_named_given(arguments, name);
}

static int check_takers(const parsed_arguments *arguments, const ley_short_range *range)
{
    const ley_pair_info *info = info_of(range);
    for (size_t i = 0; i < sizeof takers / sizeof *takers; i++) {
        const char *option = takers[i].option, *text = short_range_pair_text(range);
        const bool of_charges = takers[i].of_charges;
        name_list names;
        if (!of_charges && !has(info, takers[i].property) && given(arguments, option))
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
    if (given(arguments, "well-depth") && given(arguments, "well-depths"))
        return fail_usage(command,
                          "--well-depth and --well-depths exclude each other: both are the atoms' well depths");
    if (info_of(range)->needs_kappa && !given(arguments, "kappa") && !given(arguments, "screening-length"))
        return fail_usage(command, "--pair %s needs --kappa 1/A or --screening-length A", info_of(range)->name);
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

int short_range_begin(const parsed_arguments *arguments, void *to)
{
    const short_range_values *values = option_values(arguments, &short_range_options);
    short_range_input *input = to;
    ley_short_range *range = &input->range;
    input->values = values;
    *range = values->range;
    set_pair(range, values->pair);
    int code = check_takers(arguments, range);
    if (code == 0)
        code = cutoff_begin(arguments, &input->common);
    if (code == 0)
        code = check_together(arguments, range);
    if (code == 0 && values->constants != NULL)
        code = parse_constants(arguments->command, values->constants, input);
    memcpy(range->periodic, input->common.cell.periodic, sizeof range->periodic);
    memcpy(range->cell_A, input->common.cell.vector_A, sizeof range->cell_A);
    range->cutoff_A = input->common.cutoff_A;
    range->kappa_per_A = input->common.kappa_per_A;
    return code;
}

void short_range_release(void *own)
{
    short_range_input *input = own;
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
             range->expression, all_names(), suggest(range->expression, "", pair_name_at, NULL).s, library);
}

/* ---- The file of well depths ----------------------------------------------------------------- */

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

/* Number of depths in the text, of which the first `most` are kept. */
static ley_status read_lines(char *text, size_t size, const char *path, double *depths, size_t most, size_t *n,
                             ley_error *error)
{
    char *line = text, *const end = text + size;
    for (long number = 1; line < end; number++) {
        short_text wrong;
        double depth_kcal_mol = 0;
        char *stop = memchr(line, '\n', (size_t)(end - line));
        stop = stop != NULL ? stop : end;
        *stop = '\0';
        if (strlen(line) < (size_t)(stop - line))
            return fail_into(error, LEY_ERROR_INPUT, "%s:%ld: a NUL byte", path, number);
        if (depth_on(line, &depth_kcal_mol, &wrong)) {
            if (*n < most)
                depths[*n] = depth_kcal_mol;
            ++*n;
        } else if (wrong.s[0] != '\0') {
            return fail_into(error, LEY_ERROR_INPUT, "%s:%ld: %s", path, number, wrong.s);
        }
        line = stop + 1;
    }
    return LEY_OK;
}

ley_status short_range_read_depths(void *own, const ley_atoms *atoms, const char *atoms_path, ley_error *error)
{
    enum { MOST_BYTES = 1 << 30 };
    short_range_input *input = own;
    const char *path = input->values->well_depths;
    const size_t wanted = ley_atoms_count(atoms);
    size_t found = 0, size = 0;
    char *text = NULL;
    if (path == NULL || !info_of(&input->range)->takes_probe)
        return LEY_OK;
    ley_status status = ley_file_read_text(path, MOST_BYTES, &text, &size, error);
    if (status != LEY_OK)
        return status;
    input->depth_kcal_mol = allocate(wanted, sizeof *input->depth_kcal_mol);
    input->range.depth_kcal_mol = input->depth_kcal_mol;
    status = read_lines(text, size, path, input->depth_kcal_mol, wanted, &found, error);
    free(text);
    if (status == LEY_OK && found != wanted)
        status = fail_into(error, LEY_ERROR_INPUT, "%s: %zu well depths, and %s has %zu atoms", path, found,
                           base_name(atoms_path), wanted);
    return status;
}

/* ---- What is said of them -------------------------------------------------------------------- */

const char *short_range_pair_text(const ley_short_range *range)
{
    return info_of(range)->is_expression ? range->expression : info_of(range)->name;
}
