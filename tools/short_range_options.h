/* Options of short-range maps, of `--method cutoff`: rows for a command's table, and what the
 * library is given for them. */
#ifndef LEYDEN_SHORT_RANGE_OPTIONS_H
#define LEYDEN_SHORT_RANGE_OPTIONS_H

#include "json.h"
#include "options.h"

#include <stdio.h>

typedef struct short_range_values {
    const char *pair, *constants, *well_depths, *cell;
    double cutoff_A, kappa_per_A, screening_length_A, probe[2], steepness, well_depth_kcal_mol,
        bin_fill; /* probe: A, kcal/mol */
    int periodic; /* index into the choices of --periodic */
    int64_t bin_depth;
    int binning, overflow, transposition; /* ley_place */
} short_range_values;

/* Rows of a command's table; `member` is the short_range_values in its struct of values. */
#define SHORT_RANGE_OPTION_ROWS(type, member) \
    {.name = "pair", \
     .kind = OPTION_TEXT, \
     .offset = offsetof(type, member.pair), \
     .value = "FUNCTION", \
     .names = short_range_all_names, \
     .help = "what a pair adds: %s, or an expression of r, r2 and q, such as 'q*exp(-r/8)/r'"}, \
        {.name = "cutoff", \
         .kind = OPTION_REAL, \
         .offset = offsetof(type, member.cutoff_A), \
         .value = "A", \
         .low = 0, \
         .above_low = true, \
         .high = 1e4, \
         .help = "pairs at this distance, in Angstrom, and beyond add nothing"}, \
        {.name = "kappa", \
         .kind = OPTION_REAL, \
         .offset = offsetof(type, member.kappa_per_A), \
         .value = "1/A", \
         .low = 0, \
         .high = 100, \
         .names = short_range_kappa_names, \
         .help = "inverse screening length of %s, 'kappa' in expressions"}, \
        {.name = "screening-length", \
         .kind = OPTION_REAL, \
         .offset = offsetof(type, member.screening_length_A), \
         .value = "A", \
         .low = 0.01, \
         .high = INFINITY, \
         .unset = "by --kappa", \
         .help = "1/kappa, in place of --kappa"}, \
        {.name = "constants", \
         .kind = OPTION_TEXT, \
         .offset = offsetof(type, member.constants), \
         .value = "LIST", \
         .unset = "none", \
         .help = "named numbers of an expression, as 'a=1.5,b=2'"}, \
        {.name = "probe", \
         .kind = OPTION_REAL, \
         .offset = offsetof(type, member.probe), \
         .count = 2, \
         .value = "RADIUS,DEPTH", \
         .low = 0, \
         .high = 1e6, \
         .names = short_range_probe_names, \
         .help = "of %s: the probe's radius in Angstrom and its well depth in kcal/mol"}, \
        {.name = "steepness", \
         .kind = OPTION_REAL, \
         .offset = offsetof(type, member.steepness), \
         .value = "Z", \
         .low = 6.5, \
         .high = 40, \
         .names = short_range_steepness_names, \
         .help = "of %s's exponential"}, \
        {.name = "well-depth", \
         .kind = OPTION_REAL, \
         .offset = offsetof(type, member.well_depth_kcal_mol), \
         .value = "E", \
         .low = 0, \
         .high = INFINITY, \
         .names = short_range_probe_names, \
         .help = "of %s: well depth of all atoms, in kcal/mol"}, \
        {.name = "well-depths", \
         .kind = OPTION_TEXT, \
         .offset = offsetof(type, member.well_depths), \
         .value = "FILE", \
         .unset = "--well-depth for all", \
         .help = "well depths of the atoms, a number in a line each, in their order"}, \
        {.name = "periodic", \
         .kind = OPTION_CHOICE, \
         .offset = offsetof(type, member.periodic), \
         .value = "AXES", \
         .choices = periodic_names, \
         .unset = "none", \
         .help = "atoms have images along these axes of the cell, x meaning a, y b and z c; with --cell"}, \
        {.name = "cell", \
         .kind = OPTION_TEXT, \
         .offset = offsetof(type, member.cell), \
         .value = "NUMBERS", \
         .unset = "none", \
         .help = "the periodic cell: lengths a,b,c in Angstrom of a rectangular one; a,b,c,alpha,beta,gamma with the " \
                 "angles in degrees, a along x and b in the xy plane; or the nine coordinates of its vectors"}, \
        {.name = "bin-depth", \
         .kind = OPTION_INTEGER, \
         .offset = offsetof(type, member.bin_depth), \
         .value = "N", \
         .low = 1, \
         .high = 128, \
         .help = "for experts: atoms that a bin has room for"}, \
        {.name = "bin-fill", \
         .kind = OPTION_REAL, \
         .offset = offsetof(type, member.bin_fill), \
         .value = "F", \
         .low = 1e-3, \
         .high = 1e3, \
         .help = "for experts: wished share of that room"}, \
        SHORT_RANGE_PLACE_ROW(type, member, binning, "for experts: where atoms are put into bins"), \
        SHORT_RANGE_PLACE_ROW(type, member, overflow, \
                              "for experts: where atoms are summed that found their bin full"), \
        SHORT_RANGE_PLACE_ROW(type, member, transposition, "for experts: where values are put into the map's rows")
#define SHORT_RANGE_PLACE_ROW(type, member, what, text) \
    { \
        .name = #what, .kind = OPTION_CHOICE, .offset = offsetof(type, member.what), .value = "PLACE", \
        .choices = place_names, .help = text \
    }

/* Names of pair functions, for the help: all; those that take kappa, a probe, a steepness. */
const char *short_range_all_names(void);
const char *short_range_kappa_names(void);
const char *short_range_probe_names(void);
const char *short_range_steepness_names(void);

extern const char *const periodic_names[];
extern const char *const place_names[]; /* in the order of ley_place */

/* What the library is given. */
typedef struct short_range_input {
    ley_short_range range;     /* its texts, numbers and depths are those below, or the command line's */
    ley_named_number *numbers; /* names in `names` */
    char *names;
    double *depth_kcal_mol;
} short_range_input;

void short_range_set_defaults(short_range_values *values);

/* Checks that the options given make sense with this method and with each other, and converts them.
 * What an expression says is left to the library. Prints errors; exit code. The input is to be
 * released in any case. */
int short_range_begin(const parsed_arguments *arguments, const short_range_values *values, bool is_short_range,
                      short_range_input *input);

/* Reads --well-depths, if it is given and the pair function takes it. Errors: LEY_ERROR_FILE;
 * LEY_ERROR_INPUT with "file:line: what", or when there are not as many as atoms, which are those
 * of the file `atoms_path`. */
ley_status short_range_read_depths(const short_range_values *values, const ley_atoms *atoms, const char *atoms_path,
                                   short_range_input *input, ley_error *error);
void short_range_release(short_range_input *input);

/* Where the library found an unknown name in what was meant as a function's name: adds the names
 * that there are to its message. */
void short_range_explain(const ley_short_range *range, ley_error *error);

/* "taylor2"; of an expression its text. */
const char *short_range_pair_text(const ley_short_range *range);
bool short_range_is_periodic(const ley_short_range *range);

/* Is the map of all space that of one box with faces along x, y and z? Its edges. */
bool short_range_is_box(const ley_short_range *range, double length_A[3]);

/* Lines "pair: ...", "cell: ..." for a map's header. */
void put_short_range(FILE *to, const ley_short_range *range);

/* Every option in force; what the pair function does not take is null. */
json_t *json_of_short_range(const short_range_values *values, const ley_short_range *range);

#endif
