/* leyden fit-score: how well a structure fits a map. Of trajectories it is python -m leyden
 * fit-score. */
#include "atom_density.h"
#include "console.h"
#include "file.h"
#include "interrupt.h"
#include "job_options.h"
#include "json.h"
#include "local_picture.h"
#include "molecule.h"
#include "registry.h"
#include "text_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct fit_score_values {
    const char *output, *mask, *value, *by, *picture, *device, *json;
    double threshold;
    ley_density_options density; /* its window */
    bool gradient, quiet;
} fit_score_values;

enum { OUTPUT, MASK, THRESHOLD, BY, PICTURE, WINDOW, GRADIENT };

static const char *const windows[] = {"none", "residue", "segment", NULL};

static const option_row rows[] = {
    [OUTPUT] = {.name = "output",
                .letter = 'o',
                .kind = OPTION_TEXT,
                .offset = offsetof(fit_score_values, output),
                .value = "FILE",
                .unset = "none",
                .help =
                    "table to write, .csv: frame, pearson and other scores; --by and --gradient write more beside it"},
    [MASK] = {.name = "mask",
              .kind = OPTION_TEXT,
              .offset = offsetof(fit_score_values, mask),
              .value = "MAP",
              .unset = "none",
              .help = "a map on the same grid: also the correlation where it is above 0"},
    [THRESHOLD] = {.name = "threshold",
                   .kind = OPTION_REAL,
                   .offset = offsetof(fit_score_values, threshold),
                   .value = "RHO",
                   .low = 0,
                   .high = 1e30,
                   .unset = "none",
                   .help = "also the correlation where the density of the atoms is no less than this"},
    [BY] = {.name = "by",
            .kind = OPTION_CHOICE,
            .is_text = true,
            .offset = offsetof(fit_score_values, by),
            .value = "WHAT",
            .choices = windows,
            .help =
                "also the correlation around each residue, in FILE_residues.csv, or each segment, which is a chain, in "
                "FILE_segments.csv"},
    [PICTURE] = {.name = "picture",
                 .kind = OPTION_TEXT,
                 .offset = offsetof(fit_score_values, picture),
                 .value = "FILE",
                 .unset = "none",
                 .help = "picture of what --by gives: .png, .svg or .pdf"},
    [WINDOW] = {OPTION_OF(ley_density_options, "window_radius", fit_score_values, density)},
    [GRADIENT] = {.name = "gradient",
                  .kind = OPTION_FLAG,
                  .offset = offsetof(fit_score_values, gradient),
                  .help = "also the gradient of pearson by the atoms' places, in FILE_gradient.csv"},
    OPTION_ROW_OF_MAP_VALUE(fit_score_values),
    OPTION_ROW_DEVICE(fit_score_values, DEVICE_MAY_BE_HOST),
    OPTION_ROW_JSON(fit_score_values),
    OPTION_ROW_QUIET(fit_score_values),
};

static void set_defaults(void *to)
{
    ley_density_options_default(&((fit_score_values *)to)->density);
}

/* What is computed of one structure. */
typedef struct fit_score_run {
    const parsed_arguments *arguments;
    const fit_score_values *values;
    atom_density d;
    ley_map *map, *mask;
    int32_t *window, *first; /* [atoms] which residue or segment; [windows] its first atom */
    int32_t windows;
    float *position_A, *gradient;
    double score[LEY_FIT_SCORES], *local;
    ley_fit_totals totals;
} fit_score_run;

static char *name_beside(const char *path, const char *suffix)
{
    const size_t size = strlen(path) + strlen(suffix) + 1;
    char *name = allocate(size, 1);
    snprintf(name, size, "%.*s%s.csv", (int)(strlen(path) - strlen(".csv")), path, suffix);
    return name;
}

static bool is_by_segment(const fit_score_values *values)
{
    return strcmp(values->by, "segment") == 0;
}

static char *name_of_windows(const fit_score_values *values)
{
    return name_beside(values->output, is_by_segment(values) ? "_segments" : "_residues");
}

static int check(const parsed_arguments *arguments)
{
    const fit_score_values *values = arguments->values;
    const subcommand *command = arguments->command;
    if (values->output != NULL && !ends_with(values->output, ".csv"))
        return fail_usage(command, "--output: '%s' must end in .csv", values->output);
    if (values->output == NULL && (values->by != NULL || values->gradient))
        return fail_usage(command, "--%s writes a table: add -o FILE.csv", values->by != NULL ? "by" : "gradient");
    if (option_given(arguments, THRESHOLD) && !(values->threshold > 0))
        return fail_usage(command, "--threshold: %g must be above 0, else it is the same as without",
                          values->threshold);
    if (option_given(arguments, WINDOW) && values->by == NULL)
        return fail_usage(command, "--window-radius is for local correlations: --by residue asks for them");
    if (values->picture != NULL && values->by == NULL)
        return fail_usage(command, "--picture draws what --by gives: add --by residue");
    if (values->picture != NULL && !ends_with(values->picture, ".png") && !ends_with(values->picture, ".svg") &&
        !ends_with(values->picture, ".pdf"))
        return fail_usage(command, "--picture: '%s' must end in .png, .svg or .pdf", values->picture);
    char *beside[2] = {values->by != NULL ? name_of_windows(values) : NULL,
                       values->gradient ? name_beside(values->output, "_gradient") : NULL};
    const named_file files[] = {{arguments->operand, "map", NULL},
                                {arguments->words[0], "molecule", NULL},
                                {values->mask, "mask", NULL},
                                {values->output, "table", "--output"},
                                {beside[0], "table of windows", "--by"},
                                {values->picture, "picture", "--picture"},
                                {beside[1], "gradient", "--gradient"},
                                {values->json, "report", "--json"}};
    const int code = files_check(command, files, sizeof files / sizeof *files);
    free(beside[0]);
    free(beside[1]);
    return code;
}

/* Atoms of one residue follow each other; those of one chain need not. */
static ley_status find_windows(fit_score_run *r, ley_error *error)
{
    const int32_t *residue = ley_atoms_residues(r->d.atoms);
    const size_t n = ley_atoms_count(r->d.atoms);
    int32_t of_chain[256];
    memset(of_chain, -1, sizeof of_chain);
    if (residue == NULL)
        return fail_into(error, LEY_ERROR_INPUT, "%s does not say which atoms are of which residue",
                         base_name(r->arguments->words[0]));
    r->window = allocate(n, sizeof *r->window);
    r->first = allocate(n, sizeof *r->first);
    for (size_t i = 0; i < n; i++) {
        int32_t *chain = &of_chain[(unsigned char)ley_residue_chain(residue[i])];
        if (is_by_segment(r->values) ? *chain < 0 : i == 0 || residue[i] != residue[i - 1]) {
            r->first[r->windows] = (int32_t)i;
            *chain = r->windows++;
        }
        r->window[i] = is_by_segment(r->values) ? *chain : r->windows - 1;
    }
    r->local = allocate((size_t)r->windows, sizeof *r->local);
    return LEY_OK;
}

static ley_status score(fit_score_run *r, ley_error *error)
{
    const fit_score_values *values = r->values;
    const size_t n = ley_atoms_count(r->d.atoms);
    ley_fit *fit = NULL;
    r->d.options.window_A = values->density.window_A;
    r->position_A = allocate(3 * n, sizeof *r->position_A);
    for (size_t i = 0; i < 3 * n; i++)
        r->position_A[i] = (float)ley_atoms_positions_A(r->d.atoms)[i];
    if (values->gradient)
        r->gradient = allocate(3 * n, sizeof *r->gradient);
    const bool has_threshold = option_given(r->arguments, THRESHOLD);
    const ley_fit_target target = {.size = sizeof target,
                                   .map = r->map,
                                   .mask = r->mask,
                                   .has_threshold = has_threshold,
                                   .has_gradient = values->gradient,
                                   .by_host = r->d.by_host,
                                   .windows = r->windows,
                                   .window = r->window};
    const ley_fit_results results = {
        .size = sizeof results, .score = r->score, .window = r->local, .gradient = r->gradient};
    ley_status status = ley_fit_create(r->d.engine, &target, n, r->d.weight, r->d.radius_A, &r->d.options, &fit, error);
    if (status == LEY_OK)
        status = ley_fit_run(fit, 1, r->position_A, has_threshold ? &values->threshold : NULL, &results, error);
    if (status == LEY_OK)
        ley_fit_get_totals(fit, &r->totals);
    ley_fit_destroy(fit);
    return status;
}

static ley_status work(fit_score_run *r, ley_error *error)
{
    const fit_score_values *values = r->values;
    ley_status status = map_read_with_gaps(r->arguments->operand, values->value, values->quiet, &r->map, error);
    if (status == LEY_OK && values->mask != NULL)
        status = map_read_with_gaps(values->mask, NULL, values->quiet, &r->mask, error);
    if (status == LEY_OK)
        status = atom_density_begin(&r->d, r->arguments->words[0], r->arguments->operand,
                                    values->output != NULL ? values->output : "score.csv", values->device,
                                    values->quiet, r->arguments, error);
    if (status == LEY_OK && values->by != NULL)
        status = find_windows(r, error);
    return status == LEY_OK ? score(r, error) : status;
}

/* ---- Tables ---------------------------------------------------------------------------------- */

static const char *const score_names[LEY_FIT_SCORES] = {"pearson",     "overlap", "masked",
                                                        "thresholded", "mean",    "deviation"};

static bool has_score(const fit_score_run *r, int k)
{
    return (k != LEY_FIT_MASK || r->mask != NULL) &&
           (k != LEY_FIT_THRESHOLDED || option_given(r->arguments, THRESHOLD));
}

static int write_scores(const fit_score_run *r)
{
    text_file to;
    text_file_begin(&to, r->values->output, false);
    text_file_print(&to, "frame");
    for (int k = 0; k < LEY_FIT_SCORES; k++)
        if (has_score(r, k))
            text_file_print(&to, ",%s", score_names[k]);
    text_file_print(&to, "\n0");
    for (int k = 0; k < LEY_FIT_SCORES; k++)
        if (has_score(r, k))
            text_file_print(&to, ",%.9g", r->score[k]);
    text_file_print(&to, "\n");
    return text_file_end(&to);
}

/* Residues by number, segments by their chain's letter. */
static int write_windows(const fit_score_run *r)
{
    char *path = name_of_windows(r->values);
    text_file to;
    text_file_begin(&to, path, false);
    text_file_print(&to, "%s,first_atom,pearson\n", r->values->by);
    for (int32_t w = 0; w < r->windows; w++) {
        const char chain = ley_residue_chain(ley_atoms_residues(r->d.atoms)[r->first[w]]);
        const short_text name =
            is_by_segment(r->values) ? text_of("%.*s", chain != '\0', &chain) : text_of("%d", w + 1);
        text_file_print(&to, "%s,%d,%.9g\n", name.s, r->first[w] + 1, r->local[w]);
    }
    free(path);
    return text_file_end(&to);
}

static int write_gradient(const fit_score_run *r)
{
    char *path = name_beside(r->values->output, "_gradient");
    text_file to;
    text_file_begin(&to, path, false);
    text_file_print(&to, "atom,x,y,z\n");
    for (size_t i = 0; i < ley_atoms_count(r->d.atoms); i++)
        text_file_print(&to, "%zu,%.9g,%.9g,%.9g\n", i + 1, (double)r->gradient[3 * i], (double)r->gradient[3 * i + 1],
                        (double)r->gradient[3 * i + 2]);
    free(path);
    return text_file_end(&to);
}

static int report(const fit_score_run *r)
{
    const fit_score_values *values = r->values;
    json_t *to = json_begin(r->arguments);
    json_put(to, "density", json_text(atom_density_text(&r->d)));
    for (int k = 0; k < LEY_FIT_SCORES; k++)
        if (has_score(r, k))
            json_put(to, score_names[k], json_number(r->score[k]));
    json_put(to, "by", r->local != NULL ? json_text(values->by) : json_null());
    json_put(to, "local", r->local != NULL ? json_numbers(r->local, (size_t)r->windows) : json_null());
    json_put(to, "checked_nodes", json_count(r->totals.checked_nodes));
    json_put(to, "error", json_number(r->totals.error));
    json_put(to, "device", json_text(r->totals.device));
    json_put(to, "elapsed_s", json_number(r->totals.seconds));
    return json_finish(to, values->json);
}

static void warn_of_few_nodes(const fit_score_run *r)
{
    for (int k = LEY_FIT_MASK; k <= LEY_FIT_THRESHOLDED; k++)
        if (has_score(r, k) && isnan(r->score[k]) && !r->values->quiet)
            warn("%s is undefined: none of the map's nodes count for it, or all have the same value", score_names[k]);
}

static int conclude(const fit_score_run *r)
{
    const fit_score_values *values = r->values;
    int code = 0;
    if (isnan(r->score[LEY_FIT_PEARSON]) && !values->quiet)
        warn("the correlation is undefined: the density of the atoms is the same at every node, as no atom is near "
             "the map");
    else
        warn_of_few_nodes(r);
    if (values->output != NULL)
        code = write_scores(r);
    if (code == 0 && values->by != NULL)
        code = write_windows(r);
    if (code == 0 && values->picture != NULL)
        code = local_picture_write(
            r->local, r->windows, values->by,
            text_of("%s, pearson %.4f", base_name(r->arguments->words[0]), r->score[LEY_FIT_PEARSON]).s,
            values->picture);
    if (code == 0 && values->gradient)
        code = write_gradient(r);
    if (code == 0 && values->json != NULL)
        code = report(r);
    if (code != 0 || values->quiet || json_takes_stdout(values->json))
        return code;
    printf("density: %s, of %s, on %s nodes\n", atom_density_text(&r->d),
           counted_text((int64_t)ley_atoms_count(r->d.atoms), "atom").s, grid_text(ley_map_grid(r->map)->n).s);
    for (int k = 0; k < LEY_FIT_MEAN; k++)
        if (has_score(r, k))
            printf("%s: %.6f\n", score_names[k], r->score[k]);
    atom_density_print(&r->totals);
    if (values->output != NULL)
        printf("written: %s\n", values->output);
    return 0;
}

static int fit_score_main(const parsed_arguments *arguments)
{
    fit_score_run r = {.arguments = arguments, .values = arguments->values};
    ley_error error = {0};
    int code = check(arguments);
    if (code == 0) {
        const ley_status status = work(&r, &error);
        code = status == LEY_OK ? conclude(&r) : fail_with(&error);
    }
    ley_map_destroy(r.map);
    ley_map_destroy(r.mask);
    free(r.window);
    free(r.first);
    free(r.local);
    free(r.position_A);
    free(r.gradient);
    atom_density_end(&r.d);
    return code;
}

static const option_block *const shared[] = {&atom_density_options, &molecule_options, NULL};

const subcommand fit_score_command = {
    .name = "fit-score",
    .summary = "Compute how well a structure fits a map.",
    .examples = {"leyden fit-score emd_1234.map protein.pqr --resolution 5 -o score.csv",
                 "leyden fit-score map.mrc protein.pqr --resolution 6.5 --by residue -o score.csv --picture score.png"},
    .operand = "MAP",
    .operand_help = "the map; not-a-numbers in it do not count",
    .words = "MOLECULE",
    .words_help = "the molecule, a PQR file, or what 'leyden generate' writes",
    .words_wanted = 1,
    .details =
        "Scores are correlations of the density of the atoms ('leyden density-map') with the map, over all of its "
        "nodes that count: about the mean (pearson), and without it (overlap). Of the frames of a trajectory "
        "it is 'python3 -m leyden fit-score'.",
    .options = OPTION_BLOCK(rows, fit_score_values, set_defaults),
    .shared = shared,
    .run = fit_score_main,
};
