/* Faults planted in kernels: which of them the self-tests see that every program goes through
 * before it is used.
 *
 * * All faults of a kernel stand in one doctored copy of its sources, each behind a condition of
 * its own, FAULT(n), and a launch says which of them is in force: by the global offset along z,
 * which no kernel sees otherwise. So a kernel is compiled once and not once per fault. CUDA has no
 * offsets: there a fault is a constant, and the kernel is compiled for each.
 *
 * * Without arguments on the device that is the default, in as many processes as there are cores;
 * else on the devices that the arguments select: test_self_test cuda. TEST_KERNEL=transfer: of that
 * kernel's subjects alone, whatever the level. */
#include "support.h"

#include "planted_faults.h"

#include "engine/engine.h"
#include "error.h"
#include "long_range/fourier/device_long_wavelengths.h"
#include "long_range/mesh/device_spread.h"
#include "long_range/mesh/gather_points_self_test.h"
#include "long_range/mesh/transfer_build.h"
#include "long_range/mesh/transfer_self_test.h"
#include "long_range/multilevel/lattice_build.h"
#include "long_range/multilevel/lattice_self_test.h"
#include "methods/cutoff/build.h"
#include "methods/cutoff/device_binning.h"
#include "methods/cutoff/point_pairs_build.h"
#include "methods/cutoff/point_pairs_self_test.h"
#include "methods/cutoff/self_test.h"
#include "methods/cutoff/short_range.h"
#include "methods/dcs/build.h"
#include "methods/dcs/self_test.h"
#include "methods/mdh/build.h"
#include "methods/mdh/self_test.h"
#include "parallel.h"

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dirent.h>
#include <dlfcn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- Which fault is in force ----------------------------------------------------------------- */

enum { NO_FAULT = 0, OFFSET = 1000 /* of no fault: the same code then runs all of them */ };

static int fault_in_force;
static bool is_offset; /* launches say so */

/* In place of the driver's: the library's launches, from the given offset. */
cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *offset,
                              const size_t *global, const size_t *local, cl_uint count, const cl_event *after,
                              cl_event *event)
{
    static __typeof__(&clEnqueueNDRangeKernel) real;
    if (real == NULL)
        *(void **)&real = dlsym(RTLD_NEXT, "clEnqueueNDRangeKernel");
    const size_t which[3] = {0, 0, (size_t)(OFFSET + fault_in_force)};
    return real(queue, kernel, dimensions, is_offset ? which : offset, global, local, count, after, event);
}

/* ---- Doctored sources ------------------------------------------------------------------------ */

/* A copy of `text`, freed, in which `from` is `to`; NULL unless it is there so many times. */
static char *replaced(char *text, const char *from, const char *to, int count)
{
    char *made = calloc(1, strlen(text) + (size_t)(count + 1) * (strlen(to) + 1) + 1), *at = made;
    const char *rest = text;
    int found = 0;
    assert_non_null(made);
    for (const char *next; (next = strstr(rest, from)) != NULL; rest = next + strlen(from))
        if (++found <= count) {
            memcpy(at, rest, (size_t)(next - rest));
            at += next - rest;
            at = stpcpy(at, to);
        }
    strcpy(at, rest);
    free(text);
    if (found == count)
        return made;
    free(made);
    return NULL;
}

static char *replaced_anywhere(char *text, const char *from, const char *to)
{
    int count = 0;
    for (const char *at = text; (at = strstr(at, from)) != NULL; at += strlen(from))
        count++;
    return replaced(text, from, to, count);
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static int count_of(const char *text, const char *from)
{
    int count = 0;
    for (const char *at = text; (at = strstr(at, from)) != NULL; at += strlen(from))
        count++;
    return count;
}

/* Whether a file is the fault's: this file itself, or of its kernel, as dcs.cl and dcs_group.h are
 * of dcs. */
static bool is_in(const fault *f, const char *file)
{
    const size_t length = strlen(f->file);
    if (strchr(f->file, '.') != NULL)
        return strcmp(file, f->file) == 0;
    return strncmp(file, f->file, length) == 0 && (file[length] == '.' || file[length] == '_');
}

/* Returns how often what the fault replaces stands in its files of a tree; where `number` is not 0,
 * replaces it there. */
static int put_fault(const char *top, const char *tree, const fault *f, int number)
{
    char path[900], condition[32];
    int count = 0;
    snprintf(condition, sizeof condition, "FAULT(%d)", number);
    snprintf(path, sizeof path, "%s/%s", top, tree);
    DIR *listing = opendir(path);
    assert_non_null(listing);
    for (struct dirent *entry; (entry = readdir(listing)) != NULL;) {
        if (!is_in(f, entry->d_name))
            continue;
        snprintf(path, sizeof path, "%s/%s/%s", top, tree, entry->d_name);
        char *text = support_read_file(path, NULL);
        const int here = count_of(text, f->from);
        count += here;
        if (here > 0 && number > 0) {
            char *to = replaced_anywhere(strdup(f->to), "@", condition);
            text = replaced(text, f->from, to, here);
            write_file(path, text);
            free(to);
        }
        free(text);
    }
    closedir(listing);
    return count;
}

/* Whether what the fault replaces stands in both trees as often as it should. */
static bool is_there(const char *top, const fault *f, int number)
{
    const int in_cl = put_fault(top, "cl", f, number), in_cuda = put_fault(top, "kernels_cuda", f, number);
    const bool is_right = in_cl == (f->count > 0 ? f->count : 1) && in_cuda == f->cuda_count;
    if (!is_right)
        print_error("%s has '%s' %d times in cl/ and %d times in kernels_cuda/\n", f->file, f->from, in_cl, in_cuda);
    return is_right;
}

static void copy_tree(const char *tree, const char *top)
{
    char path[700];
    snprintf(path, sizeof path, "%s/%s", top, tree);
    assert_int_equal(mkdir(path, 0700), 0);
    DIR *listing = opendir(tree);
    assert_non_null(listing);
    for (struct dirent *entry; (entry = readdir(listing)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", tree, entry->d_name);
        if (entry->d_type == DT_DIR) {
            copy_tree(path, top);
            continue;
        }
        char *text = support_read_file(path, NULL);
        snprintf(path, sizeof path, "%s/%s/%s", top, tree, entry->d_name);
        write_file(path, text);
        free(text);
    }
    closedir(listing);
}

/* The dialect of the language in use says what FAULT(n) is: of CUDA this number. */
static void define_fault(const char *top, bool cuda, int number)
{
    char path[700], line[256];
    snprintf(path, sizeof path, "%s/%s", top, cuda ? "kernels_cuda/dialect.cuh" : "cl/dialect.h");
    snprintf(line, sizeof line,
             cuda ? "#define FAULT(n) ((n) == %d)\n"
                  : "#define FAULT(n) (get_global_offset(2) == %d + (n))\n"
                    "#define get_global_id(d) (get_global_id(d) - get_global_offset(d))\n",
             cuda ? number : OFFSET);
    char *text = support_read_file(path, NULL), *whole = NULL;
    const char *old = strncmp(text, "#define FAULT", 13) == 0 ? strchr(text, '\n') + 1 : text;
    assert_true(asprintf(&whole, "%s%s", line, old) > 0);
    write_file(path, whole);
    free(whole);
    free(text);
}

/* ---- Kernels --------------------------------------------------------------------------------- */

typedef struct subject {
    const char *kernel, *variant; /* NULL: the device's own */
    int sum, screening, points, pair;
    const fault *faults;
    size_t fault_count;
    bool is_left;  /* out at level quick: takes long to build, or is like another one */
    bool field;    /* beside the potential */
    int nodes;     /* of a mesh that the kernel adds */
    bool by_plane; /* how the mesh's nodes are numbered */
    bool oblique;  /* of an oblique grid */
} subject;

#define OF(table) .faults = table, .fault_count = sizeof(table) / sizeof(table)[0]

#define PAIR_SUBJECT(of, number, ...) \
    {"cutoff", NULL, LEY_SPEC_SUM_FLOAT, .pair = (number), OF(pair_faults), .is_left = true},
#define PLAIN_SLOPE_SUBJECT(of, number, ...) \
    {"cutoff", NULL, LEY_SPEC_SUM_FLOAT, .pair = (number), OF(plain_slope_faults), .is_left = true, .field = true},
#define SLOPE_SUBJECT(of, number, ...) \
    {"point_pairs", NULL, LEY_SPEC_SUM_FLOAT, .pair = (number), OF(slope_faults), .is_left = true, .field = true},

/* Variants for GPUs run on CPU devices, too. */
static const subject subjects[] = {
    {"cutoff", "halves16", LEY_SPEC_SUM_FLOAT, .pair = LEY_PAIR_COULOMB, OF(cutoff_faults), .is_left = true},
    {"dcs", NULL, LEY_SPEC_SUM_FLOAT, OF(dcs_faults), .is_left = true},
    {"dcs", "tiled8", LEY_SPEC_SUM_FLOAT, OF(dcs_faults)},
    {"dcs", NULL, LEY_SPEC_SUM_COMPENSATED, OF(dcs_faults)},
    {"dcs", "tiled8", LEY_SPEC_SUM_DOUBLE, OF(dcs_faults)},
    {"dcs", "unroll8", LEY_SPEC_SUM_FLOAT, OF(dcs_faults), .is_left = true},
    {"dcs", NULL, LEY_SPEC_SUM_FLOAT, OF(dcs_field_faults), .field = true},
    {"dcs", "tiled8", LEY_SPEC_SUM_COMPENSATED, OF(dcs_field_faults), .is_left = true, .field = true},
    {"dcs", "unroll8", LEY_SPEC_SUM_FLOAT, OF(dcs_field_faults), .is_left = true, .field = true},
    {"dcs", NULL, LEY_SPEC_SUM_FLOAT, OF(oblique_dcs_faults), .oblique = true},
    {"dcs", "tiled8", LEY_SPEC_SUM_FLOAT, OF(oblique_dcs_faults), .is_left = true, .oblique = true},
    {"cutoff", NULL, LEY_SPEC_SUM_FLOAT, .pair = LEY_PAIR_COULOMB, OF(oblique_cutoff_faults), .oblique = true},
    {"cutoff", "halves16", LEY_SPEC_SUM_FLOAT, .pair = LEY_PAIR_COULOMB, OF(oblique_cutoff_faults), .is_left = true,
     .oblique = true},
    {"cutoff", NULL, LEY_SPEC_SUM_COMPENSATED, .pair = LEY_PAIR_COULOMB, OF(oblique_fine_faults), .is_left = true,
     .oblique = true},
    {"mdh", NULL, LEY_SPEC_SUM_FLOAT, LEY_SCREENING_FOLDED, LEY_POINTS_FACES, OF(mdh_faults)},
    {"mdh", "tiled8", LEY_SPEC_SUM_FLOAT, LEY_SCREENING_FOLDED, LEY_POINTS_FACES, OF(mdh_faults), .is_left = true},
    {"mdh", NULL, LEY_SPEC_SUM_COMPENSATED, LEY_SCREENING_WIDE, LEY_POINTS_FACES, OF(mdh_faults)},
    {"mdh", "tiled8", LEY_SPEC_SUM_DOUBLE, LEY_SCREENING_WIDE, LEY_POINTS_FACES, OF(mdh_faults)},
    {"mdh", NULL, LEY_SPEC_SUM_FLOAT, LEY_SCREENING_FOLDED, LEY_POINTS_LIST, OF(mdh_faults), .is_left = true},
    {"mdh", "tiled8", LEY_SPEC_SUM_FLOAT, LEY_SCREENING_NONE, LEY_POINTS_LIST, OF(mdh_faults), .is_left = true},
    {"mdh", NULL, LEY_SPEC_SUM_FLOAT, LEY_SCREENING_NONE, LEY_POINTS_LIST, OF(mdh_faults), .is_left = true},
    {"cutoff", NULL, LEY_SPEC_SUM_FLOAT, .pair = LEY_PAIR_COULOMB, OF(cutoff_faults)},
    {"cutoff", "bins", LEY_SPEC_SUM_FLOAT, .pair = LEY_PAIR_TAYLOR2, OF(epilogue_faults), .is_left = true, .nodes = 13},
    {"cutoff", "bins", LEY_SPEC_SUM_FLOAT, .pair = LEY_PAIR_TAYLOR2, OF(epilogue_faults), .is_left = true, .nodes = 13,
     .by_plane = true},
    {"cutoff", "bins", LEY_SPEC_SUM_FLOAT, .pair = LEY_PAIR_TAYLOR2, .faults = by_plane_faults,
     .fault_count = BY_PLANE_WITHOUT_ROWS, .is_left = true, .nodes = 13, .by_plane = true},
    {"cutoff", NULL, LEY_SPEC_SUM_COMPENSATED, .pair = LEY_PAIR_COULOMB, OF(fine_faults)},
    {"cutoff", "halves16", LEY_SPEC_SUM_COMPENSATED, .pair = LEY_PAIR_COULOMB, OF(fine_faults), .is_left = true},
    {"lattice", NULL, LEY_SPEC_SUM_FLOAT, OF(lattice_faults)},
    {"lattice", NULL, LEY_SPEC_SUM_COMPENSATED, OF(lattice_faults)},
    {"lattice", "columns8", LEY_SPEC_SUM_FLOAT, OF(lattice_faults), .is_left = true},
    {"lattice", "basic", LEY_SPEC_SUM_COMPENSATED, OF(lattice_faults)},
    {"lattice", "optimised", LEY_SPEC_SUM_FLOAT, OF(lattice_faults), .is_left = true},
    {"transfer", "along axes", OF(transfer_faults)},
    {"transfer", "in groups", OF(transfer_faults), .is_left = true},
    {"transfer", "between", OF(between_faults)},
    {"transfer", "at points", OF(gather_faults), .is_left = true},
    {"transfer", "in rows", OF(row_faults), .is_left = true},
    {"transfer", "of a list", OF(list_faults), .is_left = true, .field = true},
    {"transfer", "along axes", OF(transfer_field_faults), .field = true},
    {"transfer", "in groups", OF(transfer_field_faults), .is_left = true, .field = true},
    {"transfer", "along axes", OF(transfer_oblique_faults), .field = true, .oblique = true},
    {"transfer", "in groups", OF(transfer_oblique_faults), .is_left = true, .field = true, .oblique = true},
    {"transfer", "at points", OF(gather_field_faults), .field = true},
    {"transfer", "in rows", OF(row_field_faults), .field = true},
    {"transfer", "along axes", OF(by_plane_faults), .by_plane = true},
    {"transfer", "in groups", OF(by_plane_faults), .is_left = true, .by_plane = true},
    {"transfer", "of a list", .faults = by_plane_faults, .fault_count = BY_PLANE_WITHOUT_ROWS, .is_left = true,
     .by_plane = true},
    {"transfer", "along axes", OF(transfer_faults), .is_left = true, .by_plane = true},
    {"transfer", "in groups", OF(transfer_faults), .is_left = true, .by_plane = true},
    {"transfer", "at points", OF(gather_faults), .is_left = true, .by_plane = true},
    {"transfer", "of a list", OF(list_faults), .is_left = true, .field = true, .by_plane = true},
    {"point_pairs", NULL, LEY_SPEC_SUM_FLOAT, .pair = LEY_PAIR_COULOMB, OF(point_pairs_faults)},
    {"point_pairs", "group64", LEY_SPEC_SUM_FLOAT, .pair = LEY_PAIR_COULOMB, OF(point_pairs_faults), .is_left = true},
    {"point_pairs", NULL, LEY_SPEC_SUM_COMPENSATED, .pair = LEY_PAIR_COULOMB, OF(point_pairs_faults)},
    {"point_pairs", NULL, LEY_SPEC_SUM_FLOAT, .pair = LEY_PAIR_COULOMB, OF(point_field_faults), .field = true},
    {"point_pairs", "group64", LEY_SPEC_SUM_COMPENSATED, .pair = LEY_PAIR_COULOMB, OF(point_field_faults),
     .is_left = true, .field = true},
    {"mdh", NULL, LEY_SPEC_SUM_FLOAT, LEY_SCREENING_NONE, LEY_POINTS_LIST, OF(mdh_field_faults), .field = true},
    {"mdh", "tiled8", LEY_SPEC_SUM_COMPENSATED, LEY_SCREENING_NONE, LEY_POINTS_LIST, OF(mdh_field_faults),
     .is_left = true, .field = true},
    {"mdh", "tiled8", LEY_SPEC_SUM_FLOAT, LEY_SCREENING_NONE, LEY_POINTS_LIST, OF(mdh_faults), .is_left = true,
     .field = true},
    {"cutoff", NULL, LEY_SPEC_SUM_FLOAT, .pair = LEY_PAIR_COULOMB, OF(cutoff_field_faults), .field = true},
    {"cutoff", NULL, LEY_SPEC_SUM_COMPENSATED, .pair = LEY_PAIR_TAYLOR2, OF(cutoff_field_faults), .is_left = true,
     .field = true},
    {"cutoff", "regions8", LEY_SPEC_SUM_FLOAT, .pair = LEY_PAIR_COULOMB, OF(cutoff_field_faults), .is_left = true,
     .field = true},
    LEY_PAIR_ROWS(PLAIN_SLOPE_SUBJECT, 0) LEY_PAIR_ROWS(PAIR_SUBJECT, 0)
        LEY_PAIR_ROWS(SLOPE_SUBJECT, 0){"binning", NULL, LEY_SPEC_SUM_FLOAT, OF(binning_faults)},
    {"spread", NULL, LEY_SPEC_SUM_FLOAT, OF(spread_faults)},
    {"long", NULL, LEY_SPEC_SUM_FLOAT, OF(long_faults)},
};
enum { SUBJECTS = sizeof subjects / sizeof subjects[0] };

static ley_engine *engine; /* of the device under test */
static dev *device;        /* the same one, for calls below the public ones */

/* A kernel of a subject, whichever it is. */
typedef struct made {
    dcs_kernel dcs;
    mdh_kernel mdh;
    cutoff_kernel cutoff;
    point_pairs_kernel point_pairs;
    lattice_kernel grid;
    transfer_kernels transfer;
    const char *variant; /* for messages */
    int of;              /* of which faults */
} made;

/* Of short-range kernels: a problem, whose expression they may hold. */
static ley_atoms *few;
static cutoff_problem problem;
static support_options options;

static void make_problem(ley_pair pair)
{
    ley_error error = {0};
    const ley_grid grid = {.n = {20, 20, 20}, .step_A = LEY_STEPS(0.5, 0.5, 0.5)};
    options = support_short_range(pair, 6);
    few = support_atoms(100, 0, 10, 1);
    assert_ok(cutoff_problem_init(&problem, few, &grid, &options.short_range, 1, 1, 0.05, &error));
    assert_ok(cutoff_problem_add_field(&problem, &error));
}

static void clear_problem(void)
{
    cutoff_problem_clear(&problem);
    ley_atoms_destroy(few);
    few = NULL;
}

static const int atom_kinds[] = {
    [LEY_ATOMS_CONSTANT] = CONSTANT, [LEY_ATOMS_GLOBAL] = CONSTANT, [LEY_ATOMS_LOCAL] = LOCAL, [LEY_ATOMS_ROWS] = ROWS};
static const int sum_kinds[] = {
    [LEY_SPEC_SUM_FLOAT] = 0, [LEY_SPEC_SUM_COMPENSATED] = COMPENSATED, [LEY_SPEC_SUM_DOUBLE] = DOUBLE};

static ley_status choose_dcs(const subject *s, dcs_wish *wish, made *m, ley_error *error)
{
    *wish = (dcs_wish){.variant = s->variant,
                       .math = TUNING_AUTO,
                       .sum = s->sum,
                       .field = s->field,
                       .oblique = s->oblique,
                       .n_x = 64,
                       .n_y = 64};
    dcs_choice choice;
    const ley_status status = tuning_dcs(device->info, &device->facts, wish, &choice, error);
    if (status == LEY_OK) {
        m->variant = choice.variant;
        m->of = atom_kinds[choice.spec.atoms] | sum_kinds[s->sum] |
                (LEY_ATOMS_ARE_PLACED(choice.spec.atoms, s->sum) ? PLACED : 0);
    }
    return status;
}

static ley_status choose_mdh(const subject *s, mdh_wish *wish, made *m, ley_error *error)
{
    *wish = (mdh_wish){.variant = s->variant,
                       .math = TUNING_AUTO,
                       .sum = s->sum,
                       .screening = s->screening,
                       .points = s->points,
                       .field = s->field,
                       .n_a = 128,
                       .n_b = 64};
    mdh_choice choice;
    const ley_status status = tuning_mdh(device->info, &device->facts, wish, &choice, error);
    if (status == LEY_OK) {
        const bool polynomial = choice.spec.exp == LEY_EXP_POLYNOMIAL || choice.spec.polynomial_exps > 0;
        m->variant = choice.variant;
        m->of = atom_kinds[choice.spec.atoms] | sum_kinds[s->sum] | (s->points == LEY_POINTS_LIST ? LIST : FACES) |
                (s->points == LEY_POINTS_LIST && s->screening == LEY_SCREENING_NONE ? LEAST : 0) |
                (s->screening == LEY_SCREENING_WIDE ? WIDE : 0) |
                (polynomial && s->screening != LEY_SCREENING_NONE && s->sum != LEY_SPEC_SUM_DOUBLE ? POLYNOMIAL : 0);
    }
    return status;
}

static ley_status choose_cutoff(const subject *s, cutoff_wish *wish, made *m, ley_error *error)
{
    *wish = (cutoff_wish){.variant = s->variant,
                          .math = TUNING_AUTO,
                          .sum = s->sum,
                          .pair = s->pair,
                          .store = LEY_STORE_ROWS,
                          .depth = 8,
                          .field = s->field,
                          .nodes = s->nodes,
                          .by_plane = s->by_plane,
                          .oblique = s->oblique};
    cutoff_choice choice;
    const ley_status status = tuning_cutoff(device->info, &device->facts, wish, &choice, error);
    if (status == LEY_OK) {
        m->variant = choice.variant;
        m->of = (choice.spec.width > 1 ? ROWS : LOCAL) | (choice.spec.width == 1 && choice.spec.split ? SPLIT : 0) |
                PAIR << s->pair | (s->field ? sum_kinds[s->sum] : 0);
    }
    return status;
}

static ley_status choose_point_pairs(const subject *s, cutoff_wish *wish, made *m, ley_error *error)
{
    *wish = (cutoff_wish){
        .variant = s->variant, .math = TUNING_AUTO, .sum = s->sum, .pair = s->pair, .depth = 8, .field = s->field};
    point_pairs_choice choice;
    const ley_status status = point_pairs_choose(device->info, &device->facts, wish, &choice, error);
    if (status == LEY_OK) {
        m->variant = choice.variant;
        m->of = (choice.spec.width > 1 ? ROWS : LOCAL) | sum_kinds[s->sum];
    }
    return status;
}

static ley_status choose_mesh(const subject *s, lattice_wish *wish, made *m, ley_error *error)
{
    *wish = (lattice_wish){.variant = s->variant, .sum = s->sum, .radius = {5, 8, 4}, .mirrored = true};
    lattice_choice choice;
    const ley_status status = tuning_lattice(device->info, wish, &choice, error);
    if (status == LEY_OK) {
        m->variant = choice.variant;
        m->of = (choice.spec.width > 1                ? ROWS
                 : choice.spec.slide == LEY_SLIDE_NOT ? LOCAL
                                                      : CONSTANT) |
                (choice.spec.slide == LEY_SLIDE_SHIFTED ? SPLIT : 0) | sum_kinds[s->sum];
    }
    return status;
}

static ley_status choose_transfer(const subject *s, transfer_wish *wish, made *m)
{
    const bool in_groups = strcmp(s->variant, "in groups") == 0, of_list = strcmp(s->variant, "of a list") == 0,
               in_rows = strcmp(s->variant, "in rows") == 0,
               at_points = of_list || in_rows || strcmp(s->variant, "at points") == 0;
    *wish = (transfer_wish){.window = window_get(WINDOW_NODAL3),
                            .along_axes = !at_points,
                            .along_rows = in_rows,
                            .of_list = of_list,
                            .field = s->field,
                            .oblique = s->oblique,
                            .nodes_per_point = {0.9, 1, 1.9},
                            .has_levels = strcmp(s->variant, "between") == 0,
                            .by_plane = s->by_plane,
                            .width = in_groups ? 1 : 0};
    m->variant = s->variant;
    m->of = calibrate_width(device->info) > 1 && !in_groups ? ROWS : LOCAL;
    return LEY_OK;
}

static bool is_point_pairs(const subject *s)
{
    return strcmp(s->kernel, "point_pairs") == 0;
}

/* Which faults are of the kernel that this device would get; LEY_ERROR_NO_DEVICE when it cannot. */
/* Of several kernels, which are built together. */
static bool is_of_several(const subject *s)
{
    return strcmp(s->kernel, "binning") == 0 || strcmp(s->kernel, "spread") == 0 || strcmp(s->kernel, "long") == 0;
}

static ley_status choose(const subject *s, made *m, ley_error *error)
{
    dcs_wish dcs;
    mdh_wish mdh;
    cutoff_wish cutoff;
    lattice_wish grid;
    transfer_wish transfer;
    *m = (made){.variant = "both kernels"};
    calibration facts;
    const ley_status status = calibrate_get(device, CALIBRATE_ALL, &facts, error);
    if (status != LEY_OK)
        return status;
    if (is_of_several(s))
        return device->info->has_double ? LEY_OK : ley_fail(error, LEY_ERROR_NO_DEVICE, "no double precision");
    return strcmp(s->kernel, "dcs") == 0        ? choose_dcs(s, &dcs, m, error)
           : strcmp(s->kernel, "mdh") == 0      ? choose_mdh(s, &mdh, m, error)
           : is_point_pairs(s)                  ? choose_point_pairs(s, &cutoff, m, error)
           : strcmp(s->kernel, "lattice") == 0  ? choose_mesh(s, &grid, m, error)
           : strcmp(s->kernel, "transfer") == 0 ? choose_transfer(s, &transfer, m)
                                                : choose_cutoff(s, &cutoff, m, error);
}

static ley_status bin_on_device(ley_error *error)
{
    buffer_of_atom slots = {NULL};
    buffer_of_int extra = {NULL};
    device_bins counts;
    arena memory = {.device = device};
    device_binning kernels;
    device_binning_create(device, &kernels);
    const ley_status status = device_binning_run(&memory, &kernels, &problem, &slots, &extra, NULL, &counts, error);
    arena_clear(&memory);
    device_binning_destroy(&kernels);
    if (status == LEY_OK && counts.declined != NULL &&
        strcmp(counts.declined, "its kernels do not build or are wrong there") == 0)
        return ley_fail(error, LEY_ERROR_WRONG_RESULT, "self-test of binning failed");
    if (status == LEY_OK && counts.declined != NULL)
        return ley_fail(error, LEY_ERROR_DEVICE, "%s", counts.declined);
    return status;
}

static ley_status spread_on_device(ley_error *error)
{
    device_spread kernels;
    device_spread_create(device, &kernels);
    const bool works = kernels.works;
    device_spread_destroy(&kernels);
    return works ? LEY_OK : ley_fail(error, LEY_ERROR_WRONG_RESULT, "self-test of spreading failed");
}

static ley_status put_long_on_device(ley_error *error)
{
    device_spread lists;
    device_long kernels;
    device_spread_create(device, &lists);
    device_long_create(device, &lists, &kernels);
    const bool works = kernels.works;
    device_long_destroy(&kernels);
    device_spread_destroy(&lists);
    return works ? LEY_OK : ley_fail(error, LEY_ERROR_WRONG_RESULT, "self-test of charges for long waves failed");
}

static ley_status run_several(const subject *s, ley_error *error)
{
    return strcmp(s->kernel, "binning") == 0  ? bin_on_device(error)
           : strcmp(s->kernel, "spread") == 0 ? spread_on_device(error)
                                              : put_long_on_device(error);
}

/* Builds the kernel, which takes its self-test. */
static ley_status create(const subject *s, made *m, ley_error *error)
{
    dcs_wish dcs;
    mdh_wish mdh;
    cutoff_wish cutoff;
    if (is_of_several(s))
        return run_several(s, error);
    if (strcmp(s->kernel, "dcs") == 0) {
        choose_dcs(s, &dcs, m, error);
        return dcs_kernel_create(device, &dcs, &m->dcs, error);
    }
    if (strcmp(s->kernel, "mdh") == 0) {
        choose_mdh(s, &mdh, m, error);
        return mdh_kernel_create(device, &mdh, &m->mdh, error);
    }
    if (strcmp(s->kernel, "lattice") == 0) {
        lattice_wish grid;
        choose_mesh(s, &grid, m, error);
        return lattice_kernel_create(device, &grid, &m->grid, error);
    }
    if (strcmp(s->kernel, "transfer") == 0) {
        transfer_wish transfer;
        choose_transfer(s, &transfer, m);
        return transfer_kernels_create(device, &transfer, &m->transfer, error);
    }
    if (is_point_pairs(s)) {
        choose_point_pairs(s, &cutoff, m, error);
        return point_pairs_create(device, &cutoff, &problem, &m->point_pairs, error);
    }
    choose_cutoff(s, &cutoff, m, error);
    return cutoff_kernel_create(device, &cutoff, &problem, &m->cutoff, error);
}

static void destroy(made *m)
{
    if (m->dcs.device != NULL)
        dcs_kernel_destroy(&m->dcs);
    if (m->mdh.device != NULL)
        mdh_kernel_destroy(&m->mdh);
    if (m->cutoff.device != NULL)
        cutoff_kernel_destroy(&m->cutoff);
    if (m->point_pairs.device != NULL)
        point_pairs_destroy(&m->point_pairs);
    if (m->grid.device != NULL)
        lattice_kernel_destroy(&m->grid);
    if (m->transfer.device != NULL)
        transfer_kernels_destroy(&m->transfer);
}

/* Of the one that has the fault in force; of one in all of them, the one that looks beyond a
 * mesh's ends. */
static ley_status test_transfer(const subject *s, made *m, ley_error *error)
{
    const char *in = s->faults[fault_in_force - 1].file, *file = strcmp(in, "nodes.h") != 0 ? in
                                                                 : strcmp(s->variant, "of a list") == 0
                                                                     ? "interpolation_list"
                                                                     : "anterpolate";
    transfer_kernels *t = &m->transfer;
    return strcmp(file, "anterpolate") == 0          ? transfer_test_anterpolation(&t->anterpolate, t, error)
           : strcmp(file, "restriction") == 0        ? transfer_test_restriction(&t->restriction, t, error)
           : strcmp(file, "prolongation") == 0       ? transfer_test_prolongation(&t->prolongation, t, error)
           : strcmp(file, "interpolation_list") == 0 ? gather_points_self_test(&t->interpolation, t, error)
                                                     : transfer_test_interpolation(&t->interpolation, t, error);
}

/* The self-test of a kernel that is there. */
static ley_status test(const subject *s, made *m, ley_error *error)
{
    if (is_of_several(s))
        return run_several(s, error);
    return strcmp(s->kernel, "dcs") == 0        ? dcs_self_test(&m->dcs, error)
           : strcmp(s->kernel, "mdh") == 0      ? mdh_self_test(&m->mdh, error)
           : is_point_pairs(s)                  ? point_pairs_self_test(&m->point_pairs, error)
           : strcmp(s->kernel, "lattice") == 0  ? lattice_self_test(&m->grid, error)
           : strcmp(s->kernel, "transfer") == 0 ? test_transfer(s, m, error)
                                                : cutoff_self_test(&m->cutoff, error);
}

/* ---- The test -------------------------------------------------------------------------------- */

static bool is_of(const fault *f, int of)
{
    const int kinds = f->of & ANY, pairs = f->of & -PAIR, rest = f->of & ~ANY & (PAIR - 1);
    return (kinds == 0 || (kinds & of) != 0) && (pairs == 0 || (pairs & of) != 0) && (rest & ~of) == 0;
}

/* All faults of the kernel in one copy of the sources, of which this is the folder. */
static void plant(const subject *s, const made *m, bool cuda, const char *top)
{
    char copy[700];
    assert_int_equal(mkdir(top, 0700), 0);
    copy_tree("cl", top);
    copy_tree("kernels_cuda", top);
    define_fault(top, cuda, NO_FAULT);
    for (size_t i = 0; i < s->fault_count; i++) {
        const fault *f = &s->faults[i];
        if (is_of(f, m->of) && !is_there(top, f, (int)i + 1))
            fail_msg("%s: not planted", f->what);
    }
    snprintf(copy, sizeof copy, "%s/%s", top, cuda ? "kernels_cuda" : "cl");
    setenv("LEYDEN_KERNEL_DIR", copy, 1);
}

/* A launch with more of something than any self-test has: what it is right to find there is found
 * by the verification. Few atoms, so that a slab has many planes however slow the device is. */
static ley_status run_job(const subject *s, ley_error *result)
{
    ley_error error = {0};
    const ley_grid grid = {.n = {20, 20, 700}, .step_A = LEY_STEPS(0.5, 0.5, 0.5), .origin_A = {-5, -5, -175}};
    support_options o = support_default_options();
    o.variant = s->variant;
    o.sum = (ley_sum)s->sum;
    o.slab_planes = 700;
    if (o.verify_points == 0)
        o.verify_points = 1000;
    ley_atoms *atoms = support_atoms(4, -5, 5, 1);
    ley_job *job = NULL;
    ley_map *map = support_make_map(&grid);
    assert_ok(support_job_create(engine, atoms, map, &o, &job, &error));
    const ley_status status = ley_job_run(job, result);
    ley_job_destroy(job);
    ley_map_destroy(map);
    ley_atoms_destroy(atoms);
    return status;
}

static int find_fault(const subject *s, made *m, size_t number, bool cuda, const char *top)
{
    const fault *f = &s->faults[number];
    ley_error error = {0};
    made other = *m;
    fault_in_force = (int)number + 1;
    if (cuda) {
        other.dcs.device = other.mdh.device = other.cutoff.device = other.grid.device = other.transfer.device =
            other.point_pairs.device = NULL;
        define_fault(top, true, fault_in_force);
    }
    if (is_of_several(s)) { /* one of its kernels may be right, and would be tested no more */
        kernels_distrust(device);
        support_fresh_cache();
    }
    ley_status status = cuda ? create(s, &other, &error) : test(s, m, &error);
    const char *by = ""; /* or what brings results home finds that they are no numbers */
    if (f->by_verification && status == LEY_OK) {
        by = "verification failed";
        status = run_job(s, &error);
    }
    const bool is_caught = status == LEY_ERROR_WRONG_RESULT && strstr(error.message, by) != NULL;
    if (getenv("TEST_VERBOSE") != NULL)
        print_message("%s %s: %s: %s\n", s->kernel, m->variant, f->what,
                      !is_caught ? "not seen"
                      : *by == 0 ? "self-test"
                                 : "verification");
    if (!is_caught)
        print_error("%s, %s: %s: not seen: %s: %s\n", s->kernel, m->variant, f->what, ley_status_name(status),
                    error.message);
    if (cuda)
        destroy(&other);
    fault_in_force = NO_FAULT;
    ley_error_clear(&error);
    return is_caught ? 0 : 1;
}

static void test_subject(void **state)
{
    static int trees;
    const subject *s = *state;
    ley_error error = {0};
    made m;
    char top[512];
    if (choose(s, &m, &error) == LEY_ERROR_NO_DEVICE)
        skip();
    const bool cuda = strcmp(device->backend->source_suffix, "cu") == 0;
    if (strcmp(s->kernel, "cutoff") == 0 || strcmp(s->kernel, "binning") == 0 || is_point_pairs(s))
        make_problem((ley_pair)s->pair);
    snprintf(top, sizeof top, "%s/tree%d", support_directory(), trees++);
    plant(s, &m, cuda, top);
    support_fresh_cache();
    is_offset = !cuda;
    if (!is_of_several(s)) /* which would take what is right from the cache ever after */
        assert_ok(create(s, &m, &error));
    int missed = 0, count = 0;
    for (size_t i = 0; i < s->fault_count; i++)
        if (is_of(&s->faults[i], m.of)) {
            missed += find_fault(s, &m, i, cuda, top);
            count++;
        }
    if (cuda)
        define_fault(top, cuda, NO_FAULT);
    if (is_of_several(s))
        assert_ok(create(s, &m, &error));
    is_offset = false;
    unsetenv("LEYDEN_KERNEL_DIR");
    destroy(&m);
    if (few != NULL)
        clear_problem();
    print_message("%s, %s: of %d faults %d were seen\n", s->kernel, m.variant, count, count - missed);
    assert_true(count > 0 && missed == 0);
}

/* Texts that faults replace stand in the sources. */
static void test_texts(void **state)
{
    for (size_t i = 0; i < SUBJECTS; i++)
        for (size_t k = 0; k < subjects[i].fault_count; k++)
            assert_true(is_there(".", &subjects[i].faults[k], 0));
}

static bool is_wanted(const subject *s)
{
    const char *only = getenv("TEST_KERNEL");
    if (only != NULL)
        return strcmp(s->kernel, only) == 0;
    return !support_is_quick() || (!s->is_left && s->sum == LEY_SPEC_SUM_FLOAT);
}

/* Every so-manieth of the subjects, on one device. */
static int run_share(const char *selector, int share, int shares)
{
    struct CMUnitTest tests[SUBJECTS + 1];
    size_t count = 0;
    if (share == 0)
        tests[count++] = (struct CMUnitTest)cmocka_unit_test(test_texts);
    for (int i = 0, wanted = 0; i < SUBJECTS; i++)
        if (is_wanted(&subjects[i]) && wanted++ % shares == share)
            tests[count++] = (struct CMUnitTest){subjects[i].kernel, test_subject, NULL, NULL, (void *)&subjects[i]};
    if (!(selector != NULL ? support_open(selector, selector, &engine) : support_open_default(&engine)))
        return 1;
    device = engine->workers[0].device;
    char group[600];
    snprintf(group, sizeof group, "self-tests on %s", device->info->name);
    const int failures = _cmocka_run_group_tests(group, tests, count, NULL, NULL);
    ley_engine_destroy(engine);
    return failures;
}

/* One process for each share: where kernels come from is in the environment, which threads share.
 * No driver runs yet. */
static int run_shares(int shares)
{
    int failures = 0;
    fflush(NULL);
    for (int share = 1; share < shares; share++)
        if (fork() == 0)
            exit(run_share(NULL, share, shares) != 0);
    failures += run_share(NULL, 0, shares);
    for (int share = 1; share < shares; share++) {
        int status = 1;
        wait(&status);
        failures += status != 0;
    }
    return failures;
}

int main(int argc, char **argv)
{
    int failures = 0;
    if (argc == 1)
        support_leave_out_second_driver();
    for (int i = 1; i < argc; i++)
        failures += run_share(argv[i], 0, 1);
    const int cores = parallel_cores();
    return argc > 1 ? failures : run_shares(cores < 4 ? cores : 4);
}
