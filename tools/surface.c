/* leyden surface: the surface of a molecule, or where a map, an orbital or a density has a value, a
 * picture or a file for other programs. */
#include "canvas.h"
#include "console.h"
#include "file.h"
#include "interrupt.h"
#include "job_options.h"
#include "json.h"
#include "molecule.h"
#include "registry.h"
#include "surface_picture.h"
#include "table.h"
#include "typed.h"
#include "wavefunction_maps.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct surface_values {
    const char *value; /* of the map */
    const char *output, *map, *title, *device, *json, *orbital;
    option_reals levels, limits, angles;
    ley_surface_options surface;
    ley_direct medium; /* of the potential that is computed */
    int64_t size, dpi;
    bool density, spin, transparent, quiet;
} surface_values;

enum {
    OUTPUT,
    MAP,
    VALUE,
    ORBITAL,
    DENSITY,
    SPIN,
    LEVEL,
    SPACING,
    SHARPNESS,
    DIELECTRIC,
    LIMITS,
    ANGLES,
    SIZE,
    DPI,
    TRANSPARENT,
    TITLE,
    DEVICE
};

#define OPTION_OF_SURFACE(name) OPTION_OF(ley_surface_options, name, surface_values, surface)

static const double water_dielectric = 78.54, potential_tolerance = 1e-3, bohr_A = 0.529177210903,
                    usual_density = 0.002, usual_orbital = 0.03, usual_spin = 0.004;

/* Pictures, which the command draws itself, and scenes. */
static const char picture_ending[] = ".png", scene_ending[] = ".tachyon";

/* ".png, .tachyon, .ply, ... or .pml". */
static const char *surface_endings(void)
{
    static char text[128];
    size_t used = (size_t)snprintf(text, sizeof text, "%s, %s", picture_ending, scene_ending);
    for (size_t i = 0; ley_surface_ending(i) != NULL && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s",
                                 ley_surface_ending(i + 1) == NULL ? " or " : ", ", ley_surface_ending(i));
    return text;
}

static const option_row surface_rows[] = {
    [OUTPUT] = {.name = "output",
                .letter = 'o',
                .kind = OPTION_TEXT,
                .required = true,
                .offset = offsetof(surface_values, output),
                .value = "FILE",
                .names = surface_endings,
                .help = "the file to write, by its ending: %s",
                .more = "a picture; a scene of the ray tracer Tachyon; PLY, Wavefront, STL, glTF; or a script for "
                        "ChimeraX, Chimera or PyMOL, with the surface beside it as .glb, .stl or .ply"},
    [MAP] = {.name = "map",
             .kind = OPTION_TEXT,
             .is_input = true,
             .offset = offsetof(surface_values, map),
             .value = "MAP",
             .unset = "the potential",
             .help = "colour the molecule, or the density, by this map; without them, the map whose --level is drawn"},
    [VALUE] = OPTION_ROW_OF_MAP_VALUE(surface_values),
    [ORBITAL] = {.name = "orbital",
                 .kind = OPTION_TEXT,
                 .offset = offsetof(surface_values, orbital),
                 .value = "NAME",
                 .unset = "none",
                 .help = "draw this orbital of a wavefunction where it has the --level, and where it has minus that: "
                         "homo, lumo, homo-1, a number from 1"},
    [DENSITY] = {.name = "density",
                 .kind = OPTION_FLAG,
                 .offset = offsetof(surface_values, density),
                 .help = "draw the electron density of a wavefunction where it has the --level"},
    [SPIN] = {.name = "spin",
              .kind = OPTION_FLAG,
              .offset = offsetof(surface_values, spin),
              .help =
                  "draw the spin density of a wavefunction, alpha less beta, where it has the --level, and where it "
                  "has minus that",
              .more = "with --density: colour the density by it"},
    [LEVEL] = {.name = "level",
               .kind = OPTION_REALS,
               .offset = offsetof(surface_values, levels),
               .value = "VALUES",
               .low = -1e30,
               .high = 1e30,
               .unset = "none; of an orbital 0.03, of a density 0.002, of a spin density 0.004",
               .help = "draw the surfaces where the map has these values, separated by commas: --level -1,1"},
    [SPACING] = {OPTION_OF_SURFACE("spacing")},
    [SHARPNESS] = {OPTION_OF_SURFACE("sharpness")},
    [DIELECTRIC] =
        {OPTION_OF(ley_direct, "dielectric", surface_values, medium),
         .help =
             "relative permittivity for the potential that is computed, the same everywhere; 78.54 is that of water"},
    [LIMITS] = {.name = "limits",
                .kind = OPTION_REALS,
                .offset = offsetof(surface_values, limits),
                .value = "V[,V2]",
                .low = -1e30,
                .high = 1e30,
                .unset = "5 kT/e in the unit of the values; of levels the largest one; of a density "
                         "the largest value on its surface",
                .help = "colours from -V to V, or from V to V2"},
    [ANGLES] = {.name = "angles",
                .kind = OPTION_REALS,
                .offset = offsetof(surface_values, angles),
                .value = "DEGREES",
                .low = -360,
                .high = 360,
                .unset = "0",
                .help =
                    "draw views side by side, each rotated about the vertical axis by one of these angles: 0,90,180"},
    [SIZE] = {.name = "size",
              .kind = OPTION_INTEGER,
              .offset = offsetof(surface_values, size),
              .value = "WIDTH",
              .low = 200,
              .high = 10000,
              .help = "width of the picture in pixels; one view is four to three: 1600 is 1600 x 1200"},
    [DPI] = OPTION_ROW_DPI(surface_values),
    [TRANSPARENT] = OPTION_ROW_TRANSPARENT(surface_values),
    [TITLE] = {.name = "title",
               .kind = OPTION_TEXT,
               .offset = offsetof(surface_values, title),
               .value = "TEXT",
               .unset = "none",
               .help = "heading of the picture"},
    [DEVICE] = OPTION_ROW_DEVICE(surface_values, DEVICE_MAY_BE_HOST),
    OPTION_ROW_JSON(surface_values),
    OPTION_ROW_QUIET(surface_values),
};

static void set_defaults(void *to)
{
    surface_values *values = to;
    ley_surface_options_default(&values->surface);
    ley_direct_default(&values->medium);
    values->medium.dielectric = water_dielectric;
    values->size = 1600;
    values->dpi = 96;
}

/* ---- What is asked for ----------------------------------------------------------------------- */

static bool is_picture(const char *path)
{
    return ends_with(path, picture_ending) || ends_with(path, scene_ending);
}

static bool is_surface_name(const char *path)
{
    for (size_t i = 0; ley_surface_ending(i) != NULL; i++)
        if (ends_with(path, ley_surface_ending(i)))
            return true;
    return is_picture(path);
}

/* A wavefunction's orbital or one of its densities is drawn. */
static bool is_of_wavefunction(const surface_values *values)
{
    return values->orbital != NULL || values->density || values->spin;
}

static int check_wavefunction(const parsed_arguments *arguments)
{
    const surface_values *values = arguments->values;
    const subcommand *command = arguments->command;
    if (arguments->operand == NULL || !ends_with(arguments->operand, ".npz"))
        return fail_usage(
            command,
            "--%s is of a wavefunction, a file that ends in .npz; of Molden, FCHK and other files python3 "
            "-m leyden convert FILE -o FILE.npz makes one",
            values->density ? "density"
            : values->spin  ? "spin"
                            : "orbital");
    if (values->density && values->orbital != NULL)
        return fail_usage(command,
                          "--density and --orbital exclude each other; 'leyden density --orbital' makes the map "
                          "of an orbital's density");
    if (values->spin && values->orbital != NULL)
        return fail_usage(command, "--spin and --orbital exclude each other");
    if (values->spin && values->density && values->map != NULL)
        return fail_usage(command, "--spin and --map exclude each other: both colour the density");
    for (int option = SHARPNESS; option <= DIELECTRIC; option++)
        if (option_given(arguments, (size_t)option))
            return fail_usage(command, "--%s is of molecules", arguments->options[option].row->name);
    return 0;
}

static int check_subject(const parsed_arguments *arguments)
{
    const surface_values *values = arguments->values;
    const subcommand *command = arguments->command;
    if (is_of_wavefunction(values))
        return check_wavefunction(arguments);
    if (arguments->operand != NULL && ends_with(arguments->operand, ".npz"))
        return fail_usage(command, "'%s' is a wavefunction: --orbital homo, --density or --spin", arguments->operand);
    const bool is_level = option_given(arguments, LEVEL);
    if (arguments->operand == NULL && values->map == NULL)
        return fail_usage(command, "a MOLECULE is missing, or --map with --level, as in: %s", command->examples[0]);
    if (arguments->operand != NULL && values->map == NULL && is_map_name(arguments->operand))
        return fail_usage(command, "'%s' is a map, and no molecule%s%s", arguments->operand,
                          typed_with("--map", arguments->operand).s, is_level ? "" : " --level=-1,1");
    if (arguments->operand == NULL && !is_level)
        return fail_usage(command, "--map without a molecule needs --level: --level -1,1");
    if (arguments->operand != NULL && is_level)
        return fail_usage(command,
                          "--level needs a map in place of the molecule; type: leyden map %s -o NEW.dx, then: "
                          "leyden surface --map NEW.dx --level=-1,1 -o %s",
                          arguments->operand, values->output);
    static const int of_molecules[] = {SPACING, SHARPNESS, DIELECTRIC, DEVICE};
    for (size_t i = 0; i < sizeof of_molecules / sizeof *of_molecules; i++)
        if (arguments->operand == NULL && option_given(arguments, (size_t)of_molecules[i]))
            return fail_usage(command, "--%s applies to molecules only", arguments->options[of_molecules[i]].row->name);
    for (int option = DIELECTRIC; values->map != NULL && option <= DEVICE; option += DEVICE - DIELECTRIC)
        if (option_given(arguments, (size_t)option))
            return fail_usage(command, "--%s applies to the potential that is computed, and with --map none is",
                              arguments->options[option].row->name);
    return 0;
}

static int check_picture(const parsed_arguments *arguments)
{
    const surface_values *values = arguments->values;
    const subcommand *command = arguments->command;
    const option_reals *limits = &values->limits;
    if (!is_surface_name(values->output))
        return fail_usage(command, "--output: '%s' must end in %s", values->output, surface_endings());
    for (int option = ANGLES; option <= TITLE; option++)
        if (option_given(arguments, (size_t)option) && !is_picture(values->output))
            return fail_usage(command, "--%s applies to pictures only, %s", arguments->options[option].row->name,
                              picture_ending);
    if (limits->n > 2)
        return fail_usage(command, "--limits takes one number or two, not %zu", limits->n);
    if (limits->n == 1 && !(limits->value[0] > 0))
        return fail_usage(command, "--limits: %g is not above 0", limits->value[0]);
    if (limits->n == 2 && !(limits->value[0] < limits->value[1]))
        return fail_usage(command, "--limits: %g is not below %g", limits->value[0], limits->value[1]);
    return canvas_check_title(command, values->title);
}

static int check_files(const parsed_arguments *arguments)
{
    const surface_values *values = arguments->values;
    char *header = values->map != NULL ? map_header_path(values->map) : NULL,
         *beside = ley_surface_beside(values->output);
    const named_file files[] = {{arguments->operand, "molecule", NULL}, {values->map, "map", NULL},
                                {header, "map's header", NULL},         {values->output, "surface", "--output"},
                                {beside, "surface", "--output"},        {values->json, "report", "--json"}};
    const int code = files_check(arguments->command, files, sizeof files / sizeof *files);
    free(header);
    free(beside);
    return code;
}

/* ---- Jobs ------------------------------------------------------------------------------------ */

/* The values of a wavefunction, or the potential of atoms at points. */
typedef struct surface_job {
    const surface_values *values;
    const ley_wavefunction *wavefunction;
    const ley_wavefunction_request *request;
    const ley_atoms *atoms;
    ley_points *points;
} surface_job;

static ley_status create_job(const surface_job *s, ley_engine *engine, ley_job **job, ley_error *error)
{
    ley_request request;
    ley_run_options options;
    ley_run_options_default(&options);
    options.by_host = device_is_host(s->values->device);
    if (s->wavefunction != NULL)
        return ley_job_create_wavefunction(engine, s->wavefunction, s->request, NULL, &options, job, error);
    ley_request_default(&request);
    request.tolerance = potential_tolerance;
    request.potential.dielectric = s->values->medium.dielectric;
    return ley_job_create_chosen(engine, s->atoms, (ley_target){.points = s->points}, &request, &options, job, error);
}

/* By the host where it is sooner, or asked for, or where there is no device; else by devices. */
static ley_status run_job(const surface_job *s, ley_error *error)
{
    const bool is_for_host = device_is_host(s->values->device), may_be_by_host = s->values->device == NULL;
    ley_engine *engine = NULL;
    ley_job *job = NULL;
    ley_status status = may_be_by_host || is_for_host ? create_job(s, NULL, &job, error) : LEY_ERROR_NO_DEVICE;
    if (status == LEY_ERROR_NO_DEVICE && !is_for_host) {
        ley_error_clear(error);
        status = ley_engine_create(s->values->device, &engine, error);
        if (status == LEY_OK)
            status = create_job(s, engine, &job, error);
        else if (may_be_by_host && create_job(s, NULL, &job, NULL) == LEY_OK) {
            ley_error_clear(error);
            status = LEY_OK;
        }
    }
    if (status == LEY_OK)
        status = ley_job_run(job, error);
    ley_job_destroy(job);
    ley_engine_destroy(engine);
    return status;
}

/* ---- The potential --------------------------------------------------------------------------- */

/* The potential is computed at the vertices themselves: exact there, and sooner than a map. */
static ley_status take_potential(const parsed_arguments *arguments, const ley_atoms *atoms, ley_surface *surface,
                                 ley_error *error)
{
    ley_points *points = NULL;
    const int64_t n = ley_surface_vertex_count(surface);
    ley_status status = ley_points_create(n, ley_surface_vertices_A(surface), &points, error);
    if (status == LEY_OK)
        status = run_job(&(surface_job){.values = arguments->values, .atoms = atoms, .points = points}, error);
    for (int64_t i = 0; i < n && status == LEY_OK; i++)
        ley_surface_values(surface)[i] = (float)ley_points_read_values(points)[i];
    if (status == LEY_OK)
        ley_surface_set_units(surface, ley_points_units(points));
    ley_points_destroy(points);
    return status;
}

/* ---- The surface ----------------------------------------------------------------------------- */

/* Atoms without a radius are no part of it, which is said; where all are, what to do. */
static ley_status check_radii(const parsed_arguments *arguments, const ley_atoms *atoms, ley_error *error)
{
    const surface_values *values = arguments->values;
    const double *radius_A = ley_atoms_radii_A(atoms);
    const size_t n = ley_atoms_count(atoms);
    size_t without = 0;
    for (size_t i = 0; i < n; i++)
        without += radius_A[i] == 0;
    if (without == n)
        return fail_into(error, LEY_ERROR_INPUT,
                         "%s: no atom has a radius, so that there is no surface: pdb2pqr writes radii, and so does "
                         "'python3 -m leyden convert' with --radii element",
                         base_name(arguments->operand));
    if (without > 0 && !values->quiet)
        warn("%s: %s of radius 0 %s no part in the surface", base_name(arguments->operand),
             counted_text((int64_t)without, "atom").s, without == 1 ? "has" : "have");
    return LEY_OK;
}

/* Small atoms within larger ones, as hydrogens are, have no part in the surface at any spacing. */
static void warn_of_missing(const parsed_arguments *arguments, const ley_surface *surface)
{
    const surface_values *values = arguments->values;
    const double grid_reach = 0.5 * sqrt(3); /* of a spacing: how far a place is from a point of the grid at most */
    double least_A;
    const size_t missing = ley_surface_missing_atoms(surface, &least_A);
    if (missing > 0 && !values->quiet)
        warn("%s: %s too small for the grid %s missing from the surface, the smallest of radius %g A; --spacing %.2f "
             "finds "
             "them all",
             base_name(arguments->operand), counted_text((int64_t)missing, "atom").s, missing == 1 ? "is" : "are",
             least_A, fmax(0.01, floor(99 * least_A / grid_reach) / 100));
}

/* The map's values, or why there are none. */
static ley_status take_map(const parsed_arguments *arguments, const ley_map *map, ley_surface *surface,
                           ley_error *error)
{
    const surface_values *values = arguments->values;
    const ley_status status = ley_surface_take_map(surface, map, NULL, error);
    if (status == LEY_ERROR_INPUT) {
        const size_t used = strlen(error->message);
        snprintf(error->message + used, sizeof error->message - used,
                 " (%s; leyden map makes one that does, and without --map the potential is computed here)",
                 base_name(values->map));
    }
    return status;
}

static ley_status of_molecule(const parsed_arguments *arguments, ley_surface **surface, ley_error *error)
{
    const surface_values *values = arguments->values;
    ley_atoms *atoms = NULL;
    ley_map *map = NULL;
    ley_status status = molecule_read(arguments->operand, arguments, &atoms, error);
    if (status == LEY_OK && values->map != NULL)
        status = map_read(values->map, values->value, values->quiet, &map, error);
    if (status == LEY_OK)
        status = check_radii(arguments, atoms, error);
    if (status == LEY_OK && map == NULL && !values->quiet)
        molecule_warn(arguments->operand, atoms);
    if (status == LEY_OK)
        status = ley_surface_create(atoms, &values->surface, NULL, surface, error);
    if (status == LEY_OK)
        warn_of_missing(arguments, *surface);
    if (status == LEY_OK)
        status =
            map != NULL ? take_map(arguments, map, *surface, error) : take_potential(arguments, atoms, *surface, error);
    ley_map_destroy(map);
    ley_atoms_destroy(atoms);
    return status;
}

static ley_status of_map(const parsed_arguments *arguments, ley_surface **surface, ley_error *error)
{
    const surface_values *values = arguments->values;
    ley_map *map = NULL;
    ley_status status = map_read(values->map, values->value, values->quiet, &map, error);
    if (status == LEY_OK)
        status = ley_surface_create_levels(map, values->levels.n, values->levels.value, NULL, surface, error);
    ley_map_destroy(map);
    return status;
}

/* ---- Of a wavefunction ----------------------------------------------------------------------- */

/* The wavefunction's potential, or its spin density, is computed at the vertices. */
static ley_status take_exact(const surface_values *values, const ley_wavefunction *w, ley_surface *surface,
                             ley_error *error)
{
    const int64_t n = ley_surface_vertex_count(surface);
    double *found = allocate((size_t)n, sizeof *found);
    const ley_wavefunction_request request = {.kind = values->spin ? LEY_SPIN_DENSITY : LEY_POTENTIAL,
                                              .points = n,
                                              .point_A = ley_surface_vertices_A(surface),
                                              .values = found};
    const ley_status status = run_job(&(surface_job){.values = values, .wavefunction = w, .request = &request}, error);
    for (int64_t i = 0; i < n && status == LEY_OK; i++)
        ley_surface_values(surface)[i] = (float)found[i];
    if (status == LEY_OK)
        ley_surface_set_units(surface, values->spin ? "bohr^-3" : "hartree/e");
    free(found);
    return status;
}

/* The map of the orbital or the density on the usual grid. */
static ley_status compute_map(const parsed_arguments *arguments, const ley_wavefunction *w, ley_map **map,
                              ley_error *error)
{
    const surface_values *values = arguments->values;
    const double spacing_A = option_given(arguments, SPACING) ? values->surface.spacing_A : 0; /* the usual one */
    ley_wavefunction_request request = {.kind = values->density ? LEY_DENSITY
                                                : values->spin  ? LEY_SPIN_DENSITY
                                                                : LEY_ORBITALS,
                                        .maps = map};
    int64_t *orbitals = NULL;
    ley_grid grid;
    ley_status status = ley_wavefunction_grid(w, 0, spacing_A / bohr_A, &grid, error);
    if (status == LEY_OK && values->orbital != NULL)
        status = ley_wavefunction_find(w, values->orbital, &orbitals, &request.orbital_count, error);
    if (status == LEY_OK && request.orbital_count > 1)
        status = fail_into(error, LEY_ERROR_USAGE, "--orbital: '%s' are %zu orbitals, and one is drawn at a time",
                           values->orbital, request.orbital_count);
    request.orbitals = orbitals;
    if (status == LEY_OK)
        status = ley_map_create(&grid, map, error);
    if (status == LEY_OK)
        status = run_job(&(surface_job){.values = values, .wavefunction = w, .request = &request}, error);
    free(orbitals);
    return status;
}

/* Levels that a map reaches; of an orbital, whose own sign means nothing, and of a spin density
 * both signs of each. */
static size_t choose_levels(const surface_values *values, const ley_map *map, double list[2 * OPTION_REALS_MAX])
{
    const option_reals usual = {1,
                                {values->density ? usual_density
                                 : values->spin  ? usual_spin
                                                 : usual_orbital}},
                       *given = values->levels.n > 0 ? &values->levels : &usual;
    const float *value = ley_map_read_values(map);
    double low = 0, high = 0;
    size_t n = 0;
    for (int64_t i = 0; i < ley_grid_points(ley_map_grid(map)); i++) {
        low = fmin(low, (double)value[i]);
        high = fmax(high, (double)value[i]);
    }
    for (size_t i = 0; i < given->n; i++)
        for (int sign = 1; sign >= (values->density ? 1 : -1); sign -= 2) {
            const double level = sign * given->value[i];
            if (level > low && level < high)
                list[n++] = level;
        }
    for (size_t i = 0; n == 0 && i < given->n; i++) /* which the library refuses, with the map's range */
        list[n++] = given->value[i];
    return n;
}

static ley_status of_wavefunction(const parsed_arguments *arguments, ley_surface **surface, ley_error *error)
{
    const surface_values *values = arguments->values;
    double levels[2 * OPTION_REALS_MAX];
    ley_wavefunction *w = NULL;
    ley_map *map = NULL, *colours = NULL;
    ley_status status = wavefunction_read(arguments->operand, "", &w, error);
    if (status == LEY_OK && values->map != NULL)
        status = map_read(values->map, values->value, values->quiet, &colours, error);
    if (status == LEY_OK)
        status = compute_map(arguments, w, &map, error);
    if (status == LEY_OK)
        status = ley_surface_create_levels(map, choose_levels(values, map, levels), levels, NULL, surface, error);
    if (status == LEY_OK && colours != NULL)
        status = take_map(arguments, colours, *surface, error);
    if (status == LEY_OK && colours == NULL && values->density)
        status = take_exact(values, w, *surface, error);
    ley_map_destroy(colours);
    ley_map_destroy(map);
    ley_wavefunction_destroy(w);
    return status;
}

/* ---- What is written and said ---------------------------------------------------------------- */

static void find_range(const ley_surface *surface, double range[2])
{
    const float *value = ley_surface_read_values(surface);
    range[0] = range[1] = (double)value[0];
    for (int64_t i = 0; i < ley_surface_vertex_count(surface); i++) {
        range[0] = fmin(range[0], (double)value[i]);
        range[1] = fmax(range[1], (double)value[i]);
    }
}

/* Up to where colours go unless it is said: levels are drawn in full colours, and so is the largest
 * value on a surface of a wavefunction. */
static double usual_limit(const surface_values *values, const ley_surface *surface)
{
    const size_t levels = ley_surface_level_count(surface);
    double high = 0, range[2];
    if (levels == 0)
        return ley_colours_usual_limit(ley_surface_units(surface));
    for (size_t i = 0; i < levels; i++)
        high = fmax(high, fabs(ley_surface_level_at(surface, i)->level));
    if (is_of_wavefunction(values)) {
        find_range(surface, range);
        high = fmax(fabs(range[0]), fabs(range[1]));
    }
    return high > 0 ? high : 1;
}

static ley_colours choose_colours(const surface_values *values, const ley_surface *surface)
{
    const option_reals *limits = &values->limits;
    const double high = limits->n > 0 ? limits->value[limits->n - 1] : usual_limit(values, surface);
    ley_colours colours;
    ley_colours_make(&colours, limits->n == 2 ? limits->value[0] : -high, high);
    return colours;
}

/* "potential in kT/e, dielectric 78.54". */
static short_text label_of(const parsed_arguments *arguments, const ley_surface *surface)
{
    const surface_values *values = arguments->values;
    const char *units = ley_surface_units(surface);
    if (values->map == NULL && is_of_wavefunction(values))
        return text_of("%s in %s",
                       values->spin      ? "spin density"
                       : values->density ? "potential"
                                         : values->orbital,
                       units);
    if (values->map == NULL)
        return text_of("potential in %s (dielectric %g)", units, values->medium.dielectric);
    short_text label = text_of("%s%s%s", base_name(values->map), units[0] != '\0' ? " in " : "", units);
    canvas_make_readable(label.s);
    return label;
}

/* `height`: of a picture, pixels. */
static int write_surface(const parsed_arguments *arguments, const ley_surface *surface, const ley_colours *colours,
                         int *height)
{
    static const double front = 0;
    const surface_values *values = arguments->values;
    const short_text label = label_of(arguments, surface);
    const bool is_turned = values->angles.n > 0;
    const surface_picture picture = {.surface = surface,
                                     .colours = colours,
                                     .angle = is_turned ? values->angles.value : &front,
                                     .angle_count = is_turned ? values->angles.n : 1,
                                     .title = values->title,
                                     .label = label.s,
                                     .width = (int)values->size,
                                     .dpi = (double)values->dpi,
                                     .is_clear = values->transparent};
    if (ends_with(values->output, picture_ending))
        return surface_picture_write(&picture, values->output, height);
    if (ends_with(values->output, scene_ending))
        return surface_scene_write(&picture, values->output);
    ley_error error = {0};
    interrupt_defer();
    const ley_status status = ley_surface_write(surface, values->output, colours,
                                                text_of("leyden surface: %s", label.s).s, interrupt_flag(), &error);
    if (status == LEY_OK)
        return 0;
    const int code = fail_with(&error);
    return status == LEY_CANCELLED ? interrupt_exit_code() : code;
}

static json_t *json_of_levels(const ley_surface *surface)
{
    json_t *levels = json_array();
    for (size_t i = 0; i < ley_surface_level_count(surface); i++) {
        const ley_surface_level *level = ley_surface_level_at(surface, i);
        json_t *object = json_object();
        json_put(object, "level", json_number(level->level));
        json_put(object, "vertices", json_count(level->vertices));
        json_put(object, "triangles", json_count(level->triangles));
        json_put(object, "area_A2", json_number(level->area_A2));
        json_put(object, "volume_A3", json_number(level->volume_A3));
        json_add(levels, object);
    }
    return levels;
}

static int report(const parsed_arguments *arguments, const ley_surface *surface, const ley_colours *colours)
{
    const surface_values *values = arguments->values;
    double range[2];
    find_range(surface, range);
    json_t *to = json_begin(arguments);
    json_put(to, "vertices", json_count(ley_surface_vertex_count(surface)));
    json_put(to, "triangles", json_count(ley_surface_triangle_count(surface)));
    json_put(to, "area_A2", json_number(ley_surface_area_A2(surface)));
    json_put(to, "volume_A3", json_number(ley_surface_volume_A3(surface)));
    json_put(to, "levels", json_of_levels(surface));
    json_put(to, "error_A", json_number(ley_surface_error_A(surface)));
    json_put(to, "units", json_text(ley_surface_units(surface)));
    json_put(to, "bounds", json_numbers(range, 2));
    json_put(to, "range", json_numbers((const double[2]){colours->low, colours->high}, 2));
    json_put(to, "bytes_written", json_count((int64_t)file_size(values->output)));
    return json_finish(to, values->json);
}

/* Of several levels: one may be within another, so that their volumes are not added. */
static void print_levels(const ley_surface *surface)
{
    static const char *const headings[] = {"level", "area, A^2", "volume, A^3", "triangles"};
    text_table table = table_begin("rrrr");
    table_row(&table);
    for (size_t column = 0; column < sizeof headings / sizeof *headings; column++)
        table_set(&table, column, "%s", headings[column]);
    for (size_t i = 0; i < ley_surface_level_count(surface); i++) {
        const ley_surface_level *level = ley_surface_level_at(surface, i);
        table_row(&table);
        table_set(&table, 0, "%.6g", level->level);
        table_set(&table, 1, "%.6g", level->area_A2);
        table_set(&table, 2, "%s", level->is_closed ? text_of("%.6g", level->volume_A3).s : "open");
        table_set(&table, 3, "%s", count_text(level->triangles).s);
    }
    table_print(&table);
}

static void print_size(const ley_surface *surface)
{
    const bool is_one = ley_surface_level_count(surface) <= 1;
    printf("surface: %s, %s vertices", counted_text(ley_surface_triangle_count(surface), "triangle").s,
           count_text(ley_surface_vertex_count(surface)).s);
    if (is_one)
        printf(", area %.6g A^2", ley_surface_area_A2(surface));
    if (is_one && ley_surface_is_closed(surface))
        printf(", volume %.6g A^3", ley_surface_volume_A3(surface));
    puts(ley_surface_is_closed(surface) ? "" : ", open where the map ends");
    if (!is_one)
        print_levels(surface);
}

static void print(const parsed_arguments *arguments, const ley_surface *surface, const ley_colours *colours, int height)
{
    const surface_values *values = arguments->values;
    const char *units = ley_surface_units(surface);
    double range[2];
    find_range(surface, range);
    print_size(surface);
    if (arguments->operand != NULL && !is_of_wavefunction(values))
        printf("accuracy: vertices within %.2g A of the surface, of a sample that was recomputed\n",
               ley_surface_error_A(surface));
    if (values->map == NULL && !is_of_wavefunction(values))
        printf("potential: computed at the vertices, dielectric %g everywhere\n", values->medium.dielectric);
    printf("values: %.4g to %.4g%s%s, colours from %.4g to %.4g\n", range[0], range[1], units[0] != '\0' ? " " : "",
           units, colours->low, colours->high);
    char *beside = ley_surface_beside(values->output);
    if (beside != NULL)
        printf("written: %s, %s\n", beside, bytes_text(file_size(beside)).s);
    free(beside);
    const short_text pixels = height > 0 ? text_of(", %d x %d pixels", (int)values->size, height) : (short_text){""};
    printf("written: %s%s, %s\n", values->output, pixels.s, bytes_text(file_size(values->output)).s);
}

static int conclude(const parsed_arguments *arguments, const ley_surface *surface)
{
    const surface_values *values = arguments->values;
    const ley_colours colours = choose_colours(values, surface);
    int height = 0;
    int code = write_surface(arguments, surface, &colours, &height);
    if (code == 0 && values->json != NULL)
        code = report(arguments, surface, &colours);
    if (code == 0 && !values->quiet && !json_takes_stdout(values->json))
        print(arguments, surface, &colours, height);
    return code;
}

static int surface_run(const parsed_arguments *arguments)
{
    int code = check_subject(arguments);
    if (code == 0)
        code = check_picture(arguments);
    if (code == 0)
        code = check_files(arguments);
    if (code != 0)
        return code;
    ley_surface *surface = NULL;
    ley_error error = {0};
    const ley_status status = is_of_wavefunction(arguments->values) ? of_wavefunction(arguments, &surface, &error)
                              : arguments->operand != NULL          ? of_molecule(arguments, &surface, &error)
                                                                    : of_map(arguments, &surface, &error);
    code = status == LEY_OK ? conclude(arguments, surface) : fail_with(&error);
    ley_surface_destroy(surface);
    return code;
}

static const option_block *const shared[] = {&molecule_options, NULL};

const subcommand surface_command = {
    .name = "surface",
    .summary = "Draw the surface of a molecule, coloured by its potential, or of an orbital or a map.",
    .examples = {"leyden surface protein.pqr -o protein.png",
                 "leyden surface c60.npz --orbital homo --level 0.03 -o homo.png"},
    .operand = "MOLECULE",
    .operand_help = "the molecule, a PQR file or what 'leyden generate' writes; - is standard input; or a "
                    "wavefunction, .npz; leave it out for surfaces of a map",
    .is_operand_open = true,
    .is_operand_file = true,
    .details =
        "The surface is where the sum of exp(A (1 - r^2/R^2)) over all atoms is 1; R is the radius of the atom, A "
        "is --sharpness. The surface of an isolated atom is the sphere of its radius, and atoms of radius 0 are "
        "ignored. A surface of a map encloses the values above its level, or those below a negative level. Orbitals "
        "and densities are computed on a grid whose points are 0.2 bohr apart, unless there is --spacing.",
    .options = OPTION_BLOCK(surface_rows, surface_values, set_defaults),
    .shared = shared,
    .run = surface_run,
};
