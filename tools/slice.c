/* leyden slice: a picture of one plane of a map. */
#include "canvas.h"
#include "console.h"
#include "field.h"
#include "file.h"
#include "json.h"
#include "molecule.h"
#include "picture.h"
#include "registry.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct slice_values {
    const char *value; /* of the map */
    const char *output, *title, *json, *atoms, *difference;
    int plane;
    int64_t index, size, dpi;
    double at_A, range[2], limit, within_A;
    option_reals limits;
    bool contours, transparent, quiet;
} slice_values;

static const char *const axis_names[] = {"x", "y", "z", NULL};

enum { OUTPUT, PLANE, AT, INDEX, RANGE, LIMIT, LIMITS, DIFFERENCE, ATOMS, WITHIN };

/* Of an atom whose file says 0. */
static const double usual_radius_A = 1.2;

static const option_row slice_options[] = {
    [OUTPUT] = {.name = "output",
                .letter = 'o',
                .kind = OPTION_TEXT,
                .required = true,
                .value = "FILE",
                .offset = offsetof(slice_values, output),
                .help = "picture to write, in the format of its ending: .png, .svg or .pdf"},
    [PLANE] = {.name = "plane",
               .kind = OPTION_CHOICE,
               .offset = offsetof(slice_values, plane),
               .value = "AXIS",
               .choices = axis_names,
               .help = "axis normal to the slice"},
    [AT] = {.name = "at",
            .kind = OPTION_REAL,
            .offset = offsetof(slice_values, at_A),
            .value = "A",
            .low = -1e9,
            .high = 1e9,
            .unset = "the middle",
            .help = "draw the plane nearest to this coordinate, in Angstrom"},
    [INDEX] = {.name = "index",
               .kind = OPTION_INTEGER,
               .offset = offsetof(slice_values, index),
               .value = "K",
               .low = 0,
               .high = INT32_MAX,
               .unset = "the middle",
               .help = "draw plane K; the first is 0"},
    [RANGE] = {.name = "range",
               .kind = OPTION_REAL,
               .offset = offsetof(slice_values, range),
               .count = 2,
               .value = "LO,HI",
               .low = -1e30,
               .high = 1e30,
               .unset = "--limit",
               .help = "values at the two ends of the colour bar; white is always 0"},
    [LIMIT] = {.name = "limit",
               .kind = OPTION_REAL,
               .offset = offsetof(slice_values, limit),
               .value = "V",
               .low = 0,
               .above_low = true,
               .high = 1e30,
               .unset = "such that 98 % of the points are within",
               .help = "make the colour bar run from -V to V"},
    [LIMITS] = {.name = "limits",
                .kind = OPTION_REALS,
                .offset = offsetof(slice_values, limits),
                .value = "V|LO,HI",
                .low = -1e30,
                .high = 1e30,
                .unset = "--limit",
                .help = "--limit or --range in one option: 5 means -5 to 5, and -3,7 means -3 to 7"},
    [DIFFERENCE] = {.name = "difference",
                    .kind = OPTION_TEXT,
                    .is_input = true,
                    .offset = offsetof(slice_values, difference),
                    .value = "MAP2",
                    .unset = "none",
                    .help = "draw MAP - MAP2, where both have the same grid"},
    [ATOMS] = {.name = "molecule",
               .former = "atoms",
               .kind = OPTION_TEXT,
               .is_input = true,
               .offset = offsetof(slice_values, atoms),
               .value = "MOLECULE",
               .unset = "none",
               .help = "draw the atoms of this file near the plane as circles of their radius, or of 1.2 A where it "
                       "is 0"},
    [WITHIN] = {.name = "within",
                .kind = OPTION_REAL,
                .offset = offsetof(slice_values, within_A),
                .value = "A",
                .low = 0,
                .high = 1e9,
                .help = "draw the atoms up to this distance from the plane, in Angstrom"},
    OPTION_ROW_OF_MAP_VALUE(slice_values),
    {.name = "contours",
     .kind = OPTION_FLAG,
     .offset = offsetof(slice_values, contours),
     .help = "draw lines of equal potential at the ticks of the colour bar, and their values on them"},
    {.name = "size",
     .kind = OPTION_INTEGER,
     .offset = offsetof(slice_values, size),
     .value = "WIDTH",
     .low = 200,
     .high = 10000,
     .help = "width of the picture in pixels; it is less where the plane is much higher than wide"},
    OPTION_ROW_DPI(slice_values),
    OPTION_ROW_TRANSPARENT(slice_values),
    {.name = "title",
     .kind = OPTION_TEXT,
     .offset = offsetof(slice_values, title),
     .value = "TEXT",
     .unset = "the molecule, or the map's file name",
     .help = "heading of the picture"},
    OPTION_ROW_JSON(slice_values),
    OPTION_ROW_QUIET(slice_values),
};

static void set_defaults(void *to)
{
    slice_values *values = to;
    values->plane = 2;
    values->size = 1000;
    values->dpi = 96;
    values->within_A = 1.5;
}

static int check_limits(const parsed_arguments *arguments)
{
    const slice_values *values = arguments->values;
    const subcommand *command = arguments->command;
    const option_reals *limits = &values->limits;
    if (!option_given(arguments, LIMITS))
        return 0;
    if (option_given(arguments, RANGE) || option_given(arguments, LIMIT))
        return fail_usage(command, "--limits and --%s exclude each other: both set the colours' range",
                          option_given(arguments, RANGE) ? "range" : "limit");
    if (limits->n > 2)
        return fail_usage(command, "--limits takes one number or two, not %zu", limits->n);
    if (limits->n == 1 && !(limits->value[0] > 0))
        return fail_usage(command, "--limits: %g is not above 0", limits->value[0]);
    if (limits->n == 2 && !(limits->value[0] < limits->value[1]))
        return fail_usage(command, "--limits: %g is not below %g", limits->value[0], limits->value[1]);
    return 0;
}

static int check_files(const parsed_arguments *arguments)
{
    const slice_values *values = arguments->values;
    char *header = map_header_path(arguments->operand),
         *header2 = values->difference != NULL ? map_header_path(values->difference) : NULL;
    const named_file files[] = {{arguments->operand, "map", NULL},
                                {header, "map's header", NULL},
                                {values->difference, "map to subtract", NULL},
                                {header2, "header of the map to subtract", NULL},
                                {values->atoms, "atoms", NULL},
                                {values->output, "picture", "--output"},
                                {values->json, "report", "--json"}};
    const int code = files_check(arguments->command, files, sizeof files / sizeof *files);
    free(header);
    free(header2);
    return code;
}

static int check_arguments(const parsed_arguments *arguments)
{
    const slice_values *values = arguments->values;
    const subcommand *command = arguments->command;
    if (option_given(arguments, AT) && option_given(arguments, INDEX))
        return fail_usage(command, "--at and --index exclude each other: both choose the plane");
    if (option_given(arguments, RANGE) && option_given(arguments, LIMIT))
        return fail_usage(command, "--range and --limit exclude each other: both set the colours' range");
    if (option_given(arguments, RANGE) && !(values->range[0] < values->range[1]))
        return fail_usage(command, "--range: %g is not below %g", values->range[0], values->range[1]);
    if (option_given(arguments, WITHIN) && !option_given(arguments, ATOMS))
        return fail_usage(command, "--within needs --molecule");
    if (!ends_with(values->output, ".png") && !ends_with(values->output, ".svg") && !ends_with(values->output, ".pdf"))
        return fail_usage(command, "--output: '%s' must end in .png, .svg or .pdf", values->output);
    int code = canvas_check_title(command, values->title);
    if (code == 0)
        code = check_limits(arguments);
    return code == 0 ? check_files(arguments) : code;
}

/* Which plane the options ask for; an exit code when the map has no such plane. */
static int choose_plane(const parsed_arguments *arguments, const ley_grid *grid, int64_t *index)
{
    const slice_values *values = arguments->values;
    int axis = values->plane;
    double first_A = grid->origin_A[axis], spacing_A = grid->step_A[axis][axis];
    int64_t last = grid->n[axis] - 1;
    *index = option_given(arguments, INDEX) ? values->index : grid->n[axis] / 2;
    if (option_given(arguments, AT)) {
        double planes = round((values->at_A - first_A) / spacing_A);
        if (!(planes >= 0 && planes <= (double)last))
            return fail_usage(arguments->command,
                              "--at: %.10g is out of range: the map reaches from %s = %.10g to %.10g A", values->at_A,
                              axis_names[axis], first_A, first_A + (double)last * spacing_A);
        *index = (int64_t)planes;
    }
    if (*index > last)
        return fail_usage(arguments->command, "--index: %lld is out of range: the map has planes 0 to %lld along %s",
                          (long long)*index, (long long)last, axis_names[axis]);
    return 0;
}

/* Copies plane `index`. Infinite values become huge ones, which pictures can average and clamp. */
static plane_field extract(const ley_map *map, int normal, int across, int up, int64_t index)
{
    const ley_grid *grid = ley_map_grid(map);
    const int64_t stride[3] = {1, grid->n[0], grid->n[0] * grid->n[1]};
    const float *from = ley_map_read_values(map) + index * stride[normal];
    plane_field plane = {grid->n[across], grid->n[up], NULL};
    plane.values = allocate((size_t)(plane.columns * plane.rows), sizeof(float));
    float *to = plane.values;
    for (int64_t row = 0; row < plane.rows; row++)
        for (int64_t column = 0; column < plane.columns; column++) {
            float value = from[column * stride[across] + row * stride[up]];
            *to++ = isinf(value) ? copysignf(1e30f, value) : value;
        }
    return plane;
}

static void subtract(plane_field *from, const plane_field *other)
{
    for (int64_t i = 0; i < from->columns * from->rows; i++)
        from->values[i] -= other->values[i];
}

/* The circles of the atoms that are near the plane; their number. The caller frees them. */
static size_t choose_circles(const ley_atoms *atoms, double within_A, int normal, int across, int up, double at_A,
                             plane_circle **circles)
{
    const size_t n = ley_atoms_count(atoms);
    const double *position_A = ley_atoms_positions_A(atoms), *radius_A = ley_atoms_radii_A(atoms);
    size_t count = 0;
    *circles = allocate(n, sizeof **circles);
    for (size_t i = 0; i < n; i++)
        if (fabs(position_A[3 * i + (size_t)normal] - at_A) <= within_A)
            (*circles)[count++] = (plane_circle){{position_A[3 * i + (size_t)across], position_A[3 * i + (size_t)up]},
                                                 radius_A[i] > 0 ? radius_A[i] : usual_radius_A};
    return count;
}

/* Rounds up to two digits: the colour bar then ends at a value that can be read. */
static double round_up(double value)
{
    if (!(value > 0))
        return 1; /* nothing but zeros: any range shows them */
    double unit = pow(10, floor(log10(value)) - 1);
    return ceil(value / unit * (1 - 1e-9)) * unit;
}

static void choose_range(const parsed_arguments *arguments, plane_picture *picture)
{
    const slice_values *values = arguments->values;
    if (option_given(arguments, RANGE)) {
        picture->low = values->range[0];
        picture->high = values->range[1];
        return;
    }
    const option_reals *limits = &values->limits;
    if (limits->n > 0) {
        picture->low = limits->n == 2 ? limits->value[0] : -limits->value[0];
        picture->high = limits->value[limits->n - 1];
        return;
    }
    double limit = option_given(arguments, LIMIT) ? values->limit : round_up(field_percentile(&picture->plane, 0.98));
    picture->low = -limit;
    picture->high = limit;
}

static int conclude(const parsed_arguments *arguments, const plane_picture *picture, int64_t index, double at_A,
                    const int pixels[2])
{
    const slice_values *values = arguments->values;
    double bounds[2], range[2] = {picture->low, picture->high};
    field_bounds(&picture->plane, &bounds[0], &bounds[1]);
    if (values->json != NULL) {
        json_t *report = json_begin(arguments);
        json_put(report, "index", json_count(index));
        json_put(report, "at_A", json_number(at_A));
        json_put(report, "units", json_text(picture->units));
        json_put(report, "bounds", json_numbers(bounds, 2));
        json_put(report, "range", json_numbers(range, 2));
        json_put(report, "atoms_drawn", json_count((int64_t)picture->circle_count));
        json_put(report, "bytes_written", json_count((int64_t)file_size(values->output)));
        int code = json_finish(report, values->json);
        if (code != 0)
            return code;
    }
    if (values->quiet || json_takes_stdout(values->json))
        return 0;
    printf("plane: %s = %.6g A (index %lld), %lld x %lld points\n", axis_names[values->plane], at_A, (long long)index,
           (long long)picture->plane.columns, (long long)picture->plane.rows);
    printf("values: %.4g to %.4g%s%s, colours from %.4g to %.4g\n", bounds[0], bounds[1],
           picture->units[0] != '\0' ? " " : "", picture->units, picture->low, picture->high);
    if (values->atoms != NULL)
        printf("atoms: %s within %g A of the plane\n", count_text((int64_t)picture->circle_count).s, values->within_A);
    const bool is_png = ends_with(values->output, ".png");
    const short_text size = is_png ? text_of(", %d x %d pixels", pixels[0], pixels[1]) : (short_text){""};
    printf("written: %s%s, %s\n", values->output, size.s, bytes_text(file_size(values->output)).s);
    return 0;
}

/* What is drawn: a map, and where they are asked for another one and atoms. */
typedef struct subject {
    ley_map *map, *other;
    ley_atoms *atoms;
} subject;

/* "a.dx - b.dx", or the molecule that the map's file names, or the map; but for --title. */
static void choose_title(const parsed_arguments *arguments, const subject *drawn, char title[256])
{
    const slice_values *values = arguments->values;
    const char *molecule = ley_map_molecule(drawn->map), *name = base_name(arguments->operand);
    const char *end = strrchr(molecule, '.');
    if (values->title != NULL)
        snprintf(title, 256, "%s", values->title);
    else if (values->difference != NULL)
        snprintf(title, 256, "%s − %s", name, base_name(values->difference));
    else if (end != NULL && end > molecule)
        snprintf(title, 256, "%.*s", (int)(end - molecule), molecule);
    else
        snprintf(title, 256, "%s", molecule[0] != '\0' ? molecule : name);
}

/* "dielectric 78.54", of two maps "dielectric 78.54 and 1" where theirs differ; empty when
 * unknown. */
static short_text medium_of(const subject *drawn)
{
    const double first = ley_map_dielectric(drawn->map);
    const double second = drawn->other != NULL ? ley_map_dielectric(drawn->other) : first;
    if (!(first > 0 && second > 0))
        return text_of("%s", "");
    return first != second ? text_of("dielectric %.6g and %.6g", first, second) : text_of("dielectric %.6g", first);
}

static int draw_slice(const parsed_arguments *arguments, const subject *drawn)
{
    const slice_values *values = arguments->values;
    const ley_grid *grid = ley_map_grid(drawn->map);
    int normal = values->plane, across = normal == 0 ? 1 : 0, up = normal == 2 ? 1 : 2;
    int64_t index;
    ley_error error = {0};
    if (ley_grid_check_orthogonal(grid, arguments->operand, &error) != LEY_OK) {
        const size_t used = strlen(error.message);
        snprintf(error.message + used, sizeof error.message - used, "; leyden map --padding 10 makes one along these");
        return fail_with(&error);
    }
    int code = choose_plane(arguments, grid, &index);
    if (code != 0)
        return code;
    const double at_A = grid->origin_A[normal] + (double)index * grid->step_A[normal][normal];
    const short_text medium = medium_of(drawn);
    char title[256];
    choose_title(arguments, drawn, title);
    plane_picture picture = {.plane = extract(drawn->map, normal, across, up, index),
                             .origin_A = {grid->origin_A[across], grid->origin_A[up]},
                             .spacing_A = {grid->step_A[across][across], grid->step_A[up][up]},
                             .axis = {axis_names[across], axis_names[up]},
                             .normal = axis_names[normal],
                             .at_A = at_A,
                             .index = index,
                             .title = title,
                             .medium = medium.s,
                             .quantity = drawn->other != NULL ? "difference" : "potential",
                             .units = ley_map_units(drawn->map),
                             .contours = values->contours,
                             .width = (int)values->size,
                             .dpi = (double)values->dpi,
                             .is_clear = values->transparent};
    if (drawn->other != NULL) {
        plane_field other = extract(drawn->other, normal, across, up, index);
        subtract(&picture.plane, &other);
        free(other.values);
    }
    plane_circle *circles = NULL;
    if (drawn->atoms != NULL)
        picture.circle_count = choose_circles(drawn->atoms, values->within_A, normal, across, up, at_A, &circles);
    picture.circles = circles;
    choose_range(arguments, &picture);
    int pixels[2];
    code = picture_write(&picture, values->output, pixels);
    if (code == 0)
        code = conclude(arguments, &picture, index, at_A, pixels);
    free(picture.plane.values);
    free(circles);
    return code;
}

static ley_status read_subject(const parsed_arguments *arguments, subject *drawn, ley_error *error)
{
    const slice_values *values = arguments->values;
    ley_status status = map_read(arguments->operand, values->value, false, &drawn->map, error);
    if (status == LEY_OK && values->difference != NULL) {
        ley_compare_options options;
        ley_compare_options_default(&options);
        options.name_a = arguments->operand;
        options.name_b = values->difference;
        status = map_read(values->difference, NULL, false, &drawn->other, error);
        if (status == LEY_OK)
            status = ley_map_check_alike(drawn->map, drawn->other, &options, error);
        if (drawn->other != NULL)
            map_advise_of_grids(drawn->map, drawn->other, "leyden map --like MAP computes a map on the grid of another",
                                error);
    }
    if (status == LEY_OK && values->atoms != NULL)
        status = molecule_read(values->atoms, arguments, &drawn->atoms, error);
    return status;
}

static int slice_run(const parsed_arguments *arguments)
{
    int code = check_arguments(arguments);
    if (code != 0)
        return code;
    subject drawn = {NULL, NULL, NULL};
    ley_error error = {0};
    code = read_subject(arguments, &drawn, &error) == LEY_OK ? draw_slice(arguments, &drawn) : fail_with(&error);
    ley_map_destroy(drawn.map);
    ley_map_destroy(drawn.other);
    ley_atoms_destroy(drawn.atoms);
    return code;
}

static const option_block *const shared[] = {&molecule_options, NULL};

const subcommand slice_command = {
    .name = "slice",
    .summary = "Draw a plane of a map, or of the difference of two maps.",
    .examples = {"leyden slice protein.dx -o protein.png",
                 "leyden slice protein.dx -o protein.pdf --plane z --at 12.5 --molecule protein.pqr"},
    .operand = "MAP",
    .operand_help = "the map: %s; - is standard input",
    .operand_names = map_formats,
    .is_operand_file = true,
    .options = OPTION_BLOCK(slice_options, slice_values, set_defaults),
    .shared = shared,
    .run = slice_run,
};
