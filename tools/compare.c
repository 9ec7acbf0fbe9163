/* leyden compare: what two maps differ by. */
#include "console.h"
#include "file.h"
#include "job_report.h"
#include "json.h"
#include "molecule.h"
#include "registry.h"
#include "typed.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct compare_values {
    double tolerance, beyond_A;
    bool interpolate, any_units, quiet;
    const char *json, *molecule;
} compare_values;

enum { TOLERANCE, BEYOND, MOLECULE };

static const option_row compare_options[] = {
    [TOLERANCE] = {.name = "tol",
                   .kind = OPTION_REAL,
                   .offset = offsetof(compare_values, tolerance),
                   .value = "T",
                   .low = 0,
                   .high = 1e30,
                   .unset = "any difference is fine",
                   .help = "end with exit code 5 when the relative RMS difference is above T"},
    [BEYOND] = {.name = "beyond",
                .kind = OPTION_REAL,
                .offset = offsetof(compare_values, beyond_A),
                .value = "A",
                .low = 0,
                .high = 1e4,
                .help = "leave out points that are nearer than this to an atom of --molecule, in Angstrom"},
    [MOLECULE] = {.name = "molecule",
                  .kind = OPTION_TEXT,
                  .is_input = true,
                  .offset = offsetof(compare_values, molecule),
                  .value = "MOLECULE",
                  .unset = "no point is left out",
                  .help = "leave out the points near the atoms of this molecule (--beyond)"},
    {.name = "interpolate",
     .kind = OPTION_FLAG,
     .offset = offsetof(compare_values, interpolate),
     .help = "interpolate B linearly to the points of A, from the eight points of B around each; points of A outside "
             "B are left out and counted"},
    {.name = "any-units",
     .kind = OPTION_FLAG,
     .offset = offsetof(compare_values, any_units),
     .help = "compare the numbers even if the units differ"},
    OPTION_ROW_JSON(compare_values),
    OPTION_ROW_QUIET(compare_values),
};

static void set_defaults(void *to)
{
    ((compare_values *)to)->beyond_A = 2;
}

/* " kT/e"; empty where the units are unknown. */
static short_text unit_text(const ley_map *map)
{
    const char *units = ley_map_units(map);
    return text_of("%s%s", units[0] != '\0' ? " " : "", units);
}

static void print_map(const char *letter, const char *path, const ley_map *map)
{
    const ley_grid *grid = ley_map_grid(map);
    printf("%s: %s, %s = %s, spacing %s A, %s\n", letter, base_name(path), grid_text(grid->n).s,
           counted_text(ley_grid_points(grid), "point").s, spacing_text(grid).s,
           ley_map_units(map)[0] != '\0' ? ley_map_units(map) : "units unknown");
}

static void print_comparison(const parsed_arguments *arguments, const ley_map *const map[2], const ley_comparison *c)
{
    const compare_values *values = arguments->values;
    const short_text unit = unit_text(map[0]);
    print_map("A", arguments->operand, map[0]);
    print_map("B", arguments->words[0], map[1]);
    printf("compared: %s%s", counted_text(c->points, "point").s, values->interpolate ? ", B interpolated" : "");
    if (c->left_out > 0)
        printf("; %s of A outside B %s left out", counted_text(c->left_out, "point").s,
               c->left_out == 1 ? "is" : "are");
    if (values->molecule != NULL)
        printf("; %s of A within %g A of atoms %s left out", counted_text(c->near_atoms, "point").s, values->beyond_A,
               c->near_atoms == 1 ? "is" : "are");
    if (c->largest == 0)
        printf("\nequal: no point differs%s", c->rms_a == 0 ? "; both maps are 0 at all of them" : "");
    printf("\nRMS: A %.6g, B %.6g%s\n", c->rms_a, c->rms_b, unit.s);
    printf("difference A - B: RMS %.6g%s, relative RMS %.6g, mean %.6g\n", c->rms, unit.s, c->relative_rms, c->mean);
    printf("largest difference: %.6g%s at %s A, point (%lld, %lld, %lld): A %.9g, B %.9g\n", c->largest, unit.s,
           triple_text(c->point_A).s, (long long)c->index[0], (long long)c->index[1], (long long)c->index[2], c->a,
           c->b);
    if (isnan(c->correlation))
        printf("correlation: none, as one of the maps is the same everywhere\n");
    else
        printf("correlation: %.9g\n", c->correlation);
}

static json_t *json_of_map(const char *path, const ley_map *map)
{
    json_t *object = json_object();
    json_put(object, "path", json_text(path));
    json_put(object, "units", json_text(ley_map_units(map)));
    json_put(object, "grid", json_of_grid(ley_map_grid(map)));
    return object;
}

static int write_report(const parsed_arguments *arguments, const ley_map *const map[2], const ley_comparison *c,
                        const ley_error *outcome)
{
    const compare_values *values = arguments->values;
    json_t *report = json_begin(arguments), *largest = json_object();
    json_put(report, "a", json_of_map(arguments->operand, map[0]));
    json_put(report, "b", json_of_map(arguments->words[0], map[1]));
    json_put(report, "points", json_count(c->points));
    json_put(report, "left_out", json_count(c->left_out));
    json_put(report, "near_atoms", json_count(c->near_atoms));
    json_put(report, "rms_a", json_number(c->rms_a));
    json_put(report, "rms_b", json_number(c->rms_b));
    json_put(report, "rms", json_number(c->rms));
    json_put(report, "relative_rms", json_number(c->relative_rms));
    json_put(report, "mean", json_number(c->mean));
    json_put(report, "correlation", json_number(c->correlation));
    json_put(largest, "difference", json_number(c->largest));
    json_put(largest, "index", json_counts(c->index, 3));
    json_put(largest, "point_A", json_numbers(c->point_A, 3));
    json_put(largest, "a", json_number(c->a));
    json_put(largest, "b", json_number(c->b));
    json_put(report, "largest", largest);
    json_put_outcome(report, outcome, ley_status_exit_code(outcome->status));
    return json_finish(report, values->json);
}

static int conclude(const parsed_arguments *arguments, const ley_map *const map[2], const ley_comparison *c)
{
    const compare_values *values = arguments->values;
    ley_error outcome = {0};
    if (option_given(arguments, TOLERANCE) && !(c->relative_rms <= values->tolerance))
        fail_into(&outcome, LEY_ERROR_WRONG_RESULT, "the relative RMS difference, %.6g, is above --tol %g",
                  c->relative_rms, values->tolerance);
    if (values->json != NULL) {
        const int code = write_report(arguments, map, c, &outcome);
        if (code != 0)
            return code;
    }
    if (!values->quiet && !json_takes_stdout(values->json))
        print_comparison(arguments, map, c);
    return outcome.status == LEY_OK ? 0 : fail_with(&outcome);
}

static int check_files(const parsed_arguments *arguments)
{
    const compare_values *values = arguments->values;
    char *header_a = map_header_path(arguments->operand), *header_b = map_header_path(arguments->words[0]);
    const named_file files[] = {{arguments->operand, "map A", NULL},  {header_a, "header of map A", NULL},
                                {arguments->words[0], "map B", NULL}, {header_b, "header of map B", NULL},
                                {values->molecule, "molecule", NULL}, {values->json, "report", "--json"}};
    const int code = files_check(arguments->command, files, sizeof files / sizeof *files);
    free(header_a);
    free(header_b);
    return code;
}

/* Which option takes these maps, where one does. */
static void explain(const ley_map *a, const ley_map *b, ley_compare_options options, ley_error *error)
{
    static const char *const names[] = {"--interpolate", "--any-units"};
    if (a == NULL || b == NULL || ley_map_check_alike(a, b, &options, NULL) == LEY_OK)
        return;
    for (int i = 0; i < 2; i++) {
        ley_compare_options other = options;
        *(i == 0 ? &other.interpolate : &other.any_units) = true;
        if (ley_map_check_alike(a, b, &other, NULL) == LEY_OK) {
            const size_t used = strlen(error->message);
            snprintf(error->message + used, sizeof error->message - used, "%s", typed_with(names[i], NULL).s);
            return;
        }
    }
}

static int compare_run(const parsed_arguments *arguments)
{
    const compare_values *values = arguments->values;
    if (option_given(arguments, BEYOND) && values->molecule == NULL)
        return fail_usage(arguments->command, "--beyond needs --molecule");
    int code = check_files(arguments);
    if (code != 0)
        return code;
    ley_map *a = NULL, *b = NULL;
    ley_atoms *atoms = NULL;
    ley_error error = {0};
    ley_comparison comparison;
    ley_compare_options options;
    ley_compare_options_default(&options);
    options.interpolate = values->interpolate;
    options.any_units = values->any_units;
    options.name_a = arguments->operand;
    options.name_b = arguments->words[0];
    ley_status status = map_read(options.name_a, NULL, values->quiet, &a, &error);
    if (status == LEY_OK)
        status = map_read(options.name_b, NULL, values->quiet, &b, &error);
    if (status == LEY_OK && values->molecule != NULL)
        status = molecule_read(values->molecule, arguments, &atoms, &error);
    options.atoms = atoms;
    options.beyond_A = values->beyond_A;
    if (status == LEY_OK)
        status = ley_map_compare(a, b, &options, &comparison, &error);
    if (status == LEY_ERROR_INPUT)
        explain(a, b, options, &error);
    code = status == LEY_OK ? conclude(arguments, (const ley_map *const[2]){a, b}, &comparison) : fail_with(&error);
    ley_map_destroy(a);
    ley_map_destroy(b);
    ley_atoms_destroy(atoms);
    return code;
}

static const option_block *const shared[] = {&molecule_options, NULL};

const subcommand compare_command = {
    .name = "compare",
    .summary = "Measure by how much two maps differ: RMS, largest difference, correlation.",
    .examples = {"leyden compare a.dx b.dx", "leyden compare a.dx b.dx --tol 1e-4"},
    .operand = "A",
    .is_operand_file = true,
    .operand_help = "map in any format that 'leyden slice' reads, to which relative figures refer; - is standard "
                    "input, for A or for B",
    .words = "B",
    .words_help = "map to compare with it",
    .words_wanted = 1,
    .details = "Differences are A - B, in double precision, over all points of A. Two grids are the same where their "
               "points are within a thousandth of a step of each other, since files hold few digits. Refused are "
               "different grids without --interpolate, different units without --any-units, a map that is 0 "
               "everywhere beside one that is not, and infinite values.",
    .options = OPTION_BLOCK(compare_options, compare_values, set_defaults),
    .shared = shared,
    .run = compare_run,
};
