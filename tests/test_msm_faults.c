/* Faults in what the host makes for long-range sums: tables, weights, meshes, the order of
 * steps. Calls between the library's files go through this program first (the linker's --wrap),
 * which does some of them wrongly. Kernels are right all the while, and come from the cache; what
 * their own faults do is in test_self_test. Each fault must be the end of the job: never a map.
 * Where it makes the promise of the error itself worse, the map that there is must be within that
 * promise. */
#include "support.h"

#include "engine/engine.h"
#include "law/long_range.h"
#include "long_range/fourier/kept_spectrum.h"
#include "long_range/mesh/transfer_self_test.h"
#include "long_range/model/problem.h"
#include "long_range/model/short_range_part.h"
#include "long_range/multilevel/lattice_self_test.h"
#include "long_range/solver.h"
#include "numerics/influence.h"
#include "target/map.h"
#include "verify/verification.h"

/* ---- The faults ------------------------------------------------------------------------------ */

/* What each is called, and of which solver it is. */
#define FAULTS(X) \
    X(AN_ATOM_LOST, ALL, "an atom is on no mesh") \
    X(AN_ATOM_TWICE, ALL, "an atom is there twice") \
    X(AN_ATOM_OF_OTHER_SIGN, BOTH, "an atom has the opposite charge") \
    X(AN_ATOM_A_NODE_FURTHER, BOTH, "an atom is a node further") \
    X(AN_ATOM_IN_THE_NEXT_BIN, BOTH, "the last atom of a bin is in the next one") \
    X(THE_LAST_ATOM_LOST, BOTH, "the last atom of all is left out") \
    X(NEUTRAL_ATOMS_CHARGED, BOTH, "atoms without a charge have one") \
    X(CHARGES_SLIGHT, ALL, "all charges by 1e-3") \
    X(FRACTIONS_SLIGHT, ALL, "all atoms by a hundredth of a node") \
    X(FRACTIONS_OF_OTHER_AXES, BOTH, "fractions along x and y exchanged") \
    X(A_SEAM, ALL, "a tile lacks its last bin") \
    X(A_SEAM_SHIFTED, ALL, "a tile has a bin a node further") \
    X(A_BIN_TWICE, BOTH, "a tile has a bin twice") \
    X(TILES_EXCHANGED, BOTH, "tiles along an axis take each other's bins") \
    X(PLACES_OF_A_LEVEL, DIRECT, "transfers find the second level a node further") \
    X(PLACES_LACK_A_PLANE, ALL, "points find no plane in the middle") \
    X(TILES_LACK_A_PLANE, ALL, "tiles find no plane in the middle") \
    X(PLACES_OF_SUMS, DIRECT, "sums find a level's sub-cubes exchanged") \
    X(PLACES_OF_SUMS_END, DIRECT, "sums find no last nodes") \
    X(TWO_SCALE_SLIGHT, LEVELS, "a share between levels by 1e-2") \
    X(TWO_SCALE_TURNED, DIRECT, "shares between levels turned round") \
    X(WEIGHTS_SLIGHT, LEVELS, "all weights of the levels by 1e-3") \
    X(WEIGHTS_OF_NEIGHBOURS, DIRECT, "weights of the nearest neighbours by 1e-2") \
    X(WEIGHT_OF_ONE, LEVELS, "one weight is 0") \
    X(WEIGHTS_END_EARLY, DIRECT, "weights end before twice the cutoff") \
    X(WEIGHTS_OF_THE_NEXT, DIRECT, "levels have the next one's weights") \
    X(TOP_SLIGHT, DIRECT | SCREENED, "weights of the top level by 1e-2") \
    X(TOP_OF_A_LEVEL, DIRECT, "the top level has weights that end") \
    X(TOP_LACKS_THE_FARTHEST, DIRECT, "the top level lacks its farthest pairs") \
    X(REACH_SHORT, DIRECT, "sums reach three nodes less") \
    X(TOP_REACH_SHORT, DIRECT, "sums of the top level reach half of it") \
    X(SCALE_OF_A_LEVEL, DIRECT, "the second level's scale is the first one's") \
    X(SCALE_SLIGHT, DIRECT, "the second level's scale by 1e-2") \
    X(A_LEVEL_SHIFTED, DIRECT, "the second level gets its charges a node further") \
    X(A_LEVEL_SHIFTED_BACK, DIRECT, "the third level is added a node further") \
    X(A_LEVEL_SHORTER, DIRECT, "the second level lacks its last plane") \
    X(ATOMS_A_NODE_OFF, ALL, "atoms are a node further along x") \
    X(MAP_A_NODE_OFF, BOTH, "the map is a node further along y") \
    X(MAP_END_A_NODE_OFF, BOTH, "the map's last points are a node further along z") \
    X(OTHER_SPLITTING, BOTH, "meshes have another splitting than pairs") \
    X(LONGER_CUTOFF, BOTH, "meshes have a longer cutoff than pairs") \
    X(OTHER_SPACING, BOTH, "nodes are 1e-3 further apart for weights") \
    X(NO_ANTERPOLATION, ALL, "no charges come to the mesh, which is 0") \
    X(NO_RESTRICTION, LEVELS, "no charges come to the second level, which is 0") \
    X(NO_LEVELS, LEVELS, "levels are not summed, and 0") \
    X(FIRST_LEVEL_ALONE, DIRECT, "a level is not summed, and 0") \
    X(NO_TOP, LEVELS, "the top level is not summed, and 0") \
    X(NO_PROLONGATION, LEVELS, "the second level is not added to the first") \
    X(NO_COARSE_PROLONGATION, DIRECT, "the third level is not added to the second") \
    X(PROLONGATION_TWICE, LEVELS, "the second level is added twice") \
    X(PROLONGATION_TOO_EARLY, DIRECT, "levels are added from the finest one on") \
    X(PROLONGATION_LACKS_ROWS, DIRECT, "the last rows are not prolongated") \
    X(PROLONGATION_LACKS_PLANES, DIRECT, "the last planes are not prolongated") \
    X(RESTRICTION_LACKS_PLANES, DIRECT, "the last planes are not restricted, and 0") \
    X(CHARGES_FOR_POTENTIALS, DIRECT, "points get charges in place of potentials") \
    X(NO_INTERPOLATION, ALL, "nothing is added to the pairs") \
    X(INTERPOLATION_TWICE, ALL, "the mesh is added twice") \
    X(INTERPOLATION_ALONE, ALL, "the pairs are lost") \
    X(INTERPOLATION_A_PLANE_OFF, ALL, "planes get those of the next one") \
    X(INTERPOLATION_LACKS_A_PLANE, BOTH, "a slab's last plane is left out") \
    X(FIRST_SLAB_FOR_ALL, BOTH, "all slabs get the first one's planes") \
    X(POINT_WEIGHTS_SLIGHT, BOTH, "weights of points by 1e-3") \
    X(POINT_WEIGHTS_TURNED, BOTH, "weights of points turned round") \
    X(POINT_WEIGHTS_LAST, BOTH, "the last node of points is left out") \
    X(FACTOR_SLIGHT, ALL, "Coulomb's constant by 1e-3 for meshes") \
    X(ROWS_OF_THE_MAP, BOTH, "the map's points further apart along z") \
    X(PAIRS_OF_OTHER_CUTOFF, ALL, "pairs have a shorter cutoff") \
    X(PAIRS_OF_OTHER_SPLITTING, BOTH, "pairs have another splitting") \
    X(PAIRS_OF_OTHER_DIELECTRIC, ALL, "pairs have another dielectric") \
    X(SPECTRUM_SLIGHT, FFT | CELLS, "all waves by 1e-3") \
    X(SPECTRUM_LACKS_WAVE_0, FFT, "wave 0 is 0") \
    X(SPECTRUM_ONE_WAVE, FFT | CELLS, "a long wave is doubled") \
    X(SPECTRUM_SHIFTED, FFT | CELLS, "waves are one off along x") \
    X(SPECTRUM_LACKS_LONG, FFT | CELLS, "waves of one plane are 0") \
    X(SPECTRUM_OF_OTHER_AXIS, FFT, "a row of waves is the next one's") \
    X(SPECTRUM_NOT_SHARPENED, FFT | CELLS, "the window's factor is left out") \
    X(NO_PRODUCT, FFT | CELLS, "no product") \
    X(PRODUCT_TWICE, FFT | CELLS, "the product twice") \
    X(NO_WAY_THERE, FFT | CELLS, "not transformed") \
    X(NO_WAY_BACK, FFT | CELLS, "not transformed back") \
    X(PADDING_NOT_CLEARED, FFT, "padding has charges") \
    X(MIRRORED_WAVES, FFT, "mirrored rows are one off") \
    X(IMAGES_OF_ATOMS, PERIODIC, "tiles lack the images of atoms") \
    X(IMAGES_OF_SUMS, LAYERS, "sums lack the images of nodes") \
    X(IMAGES_ON_ONE_SIDE, LAYERS, "sums lack the images on one side along z") \
    X(IMAGES_OF_TRANSFERS, LAYERS, "transfers between levels lack the images of nodes") \
    X(IMAGES_OF_POINTS, PERIODIC, "points lack the images of nodes") \
    X(IMAGES_OF_PAIRS, PERIODIC, "pairs lack images") \
    X(LONGER_CELL_OF_PAIRS, PERIODIC, "pairs have a longer cell") \
    X(SCREENING_OF_PAIRS, SCREENED, "pairs are screened more") \
    X(NO_SCREENING_OF_MESHES, SCREENED, "meshes are not screened") \
    X(WEIGHTS_OF_THE_FIRST, SCREENED, "all levels have the first one's weights") \
    X(SCALES_OF_LEVELS, SCREENED, "screened levels are scaled")

/* Open meshes by either solver; levels that are periodic along y and z; transforms of an oblique
 * cell; screened levels. */
typedef enum solvers {
    DIRECT = 1,
    FFT = 2,
    BOTH = DIRECT | FFT,
    LAYERS = 4,
    CELLS = 8,
    PERIODIC = LAYERS | CELLS,
    SCREENED = 16,
    LEVELS = DIRECT | LAYERS | SCREENED,
    ALL = LEVELS | FFT | CELLS
} solvers;

#define FAULT_NAME(name, solver, what) name,
typedef enum fault { NONE, FAULTS(FAULT_NAME) FAULT_COUNT } fault;

#define FAULT_ROW(name, solver, what) {solver, what},
static const struct {
    solvers of;
    const char *what;
} faults[] = {{0, "nothing"}, FAULTS(FAULT_ROW)};

static fault in_force;
static bool is_map;       /* while the tables of a map are made */
static int64_t map_plane; /* first plane of the first slab, once one was interpolated; -1 */

/* Every call of F from one file of the library to another comes to `wrapped_F` in its place;
 * `right_F` is F itself. */
#define WRAPPED(type, name, ...) \
    type right_##name(__VA_ARGS__) __asm__("__real_" #name); \
    type wrapped_##name(__VA_ARGS__) __asm__("__wrap_" #name); \
    type wrapped_##name(__VA_ARGS__)

/* A device whose values are wrong loses what it has in the cache: here kernels are right. */
WRAPPED(void, kernels_distrust, dev *device)
{
    (void)right_kernels_distrust;
}

/* What steps should have made is asked of the judge, who makes no mistakes here. */
WRAPPED(ley_status, long_range_potential, const hierarchy *h, size_t n, const double *position_A,
        const double *charge_e, double r_min_A, size_t count, const double *point_A, double *far, double *near,
        ley_error *error)
{
    const fault kept_fault = in_force;
    in_force = NONE;
    const ley_status status =
        right_long_range_potential(h, n, position_A, charge_e, r_min_A, count, point_A, far, near, error);
    in_force = kept_fault;
    return status;
}

/* ---- Atoms ----------------------------------------------------------------------------------- */

static void spoil_tiles(spread *s)
{
    size_t tile = s->tile_count / 2;
    while (tile + 1 < s->tile_count && s->tiles[tile][1] < 2)
        tile++;
    const int32_t first = s->tiles[tile][0], count = s->tiles[tile][1];
    switch (in_force) {
    case A_SEAM:
        s->tiles[tile][1] = count - 1;
        break;
    case A_SEAM_SHIFTED:
        s->sources[first + count - 1][1]++;
        break;
    case A_BIN_TWICE:
        s->sources[first][0] = s->sources[first + count - 1][0];
        s->sources[first][1] = s->sources[first + count - 1][1];
        break;
    case TILES_EXCHANGED:
        for (int i = 0; i < 2; i++) {
            const int32_t kept = s->tiles[1][i];
            s->tiles[1][i] = s->tiles[0][i];
            s->tiles[0][i] = kept;
        }
        break;
    default:
        break;
    }
}

/* A bin's own place from a tile is so many bins further; another one is an image's. */
static void drop_images(spread *s)
{
    int32_t(*tile)[2] = s->tiles;
    for (int axis = 0; axis < 3; axis++)
        for (int64_t t = 0; t < s->bins[axis]; t++, tile++) {
            int32_t kept = 0;
            for (int32_t i = 0; i < (*tile)[1]; i++) {
                int32_t *source = s->sources[(*tile)[0] + i];
                if (source[1] == (source[0] - t) * SPREAD_EDGE)
                    memcpy(s->sources[(*tile)[0] + kept++], source, sizeof *s->sources);
            }
            (*tile)[1] = kept;
        }
}

static void spoil_bins(spread *s)
{
    const int32_t bins = (int32_t)(s->bins[0] * s->bins[1] * s->bins[2]);
    int32_t bin = bins / 2;
    while (bin > 0 && s->first[bin + 1] == s->first[bin])
        bin--;
    if (in_force == AN_ATOM_IN_THE_NEXT_BIN)
        s->first[bin + 1]--;
    for (int32_t i = bins; in_force == THE_LAST_ATOM_LOST && i >= 0 && s->first[i] == (int32_t)s->atoms; i--)
        s->first[i]--;
}

static void spoil_atoms(spread *s)
{
    const size_t one = s->atoms / 2;
    float *charge = &s->at[one][3];
    *charge *= in_force == AN_ATOM_LOST            ? 0.0F
               : in_force == AN_ATOM_TWICE         ? 2.0F
               : in_force == AN_ATOM_OF_OTHER_SIGN ? -1.0F
                                                   : 1.0F;
    if (in_force == AN_ATOM_A_NODE_FURTHER)
        s->corner[one] += s->corner[one] % 32 + 1 < SPREAD_EDGE ? 1 : -1;
    for (size_t i = 0; i < s->atoms; i++) {
        float *at = s->at[i];
        const float x = at[0];
        at[3] *= in_force == CHARGES_SLIGHT ? 1.001F : 1.0F;
        at[2] += in_force == FRACTIONS_SLIGHT ? 0.01F : 0.0F;
        if (in_force == FRACTIONS_OF_OTHER_AXES) {
            at[0] = at[1];
            at[1] = x;
        }
    }
}

WRAPPED(ley_status, spread_make, const hierarchy *h, size_t n, const double *position_A, const double *charge_e,
        const atomic_bool *cancelled, spread *made, ley_error *error)
{
    double *place_A = malloc((3 * n + 1) * sizeof *place_A), *charges_e = malloc((n + 1) * sizeof *charges_e);
    assert_true(place_A != NULL && charges_e != NULL);
    for (size_t i = 0; i < n; i++) {
        const bool is_lost = in_force == NEUTRAL_ATOMS_CHARGED && charge_e[i] == 0;
        charges_e[i] = is_lost ? 0.5 : charge_e[i];
        for (size_t axis = 0; axis < 3; axis++)
            place_A[3 * i + axis] = position_A[3 * i + axis];
        /* Away from where the mesh ends. */
        place_A[3 * i] += in_force != ATOMS_A_NODE_OFF ? 0 : (place_A[3 * i] < 8 ? 1 : -1) * h->step_A[0][0];
    }
    const ley_status status = right_spread_make(h, n, place_A, charges_e, cancelled, made, error);
    free(place_A);
    free(charges_e);
    if (status == LEY_OK && made->atoms > 0) {
        if (in_force == IMAGES_OF_ATOMS)
            drop_images(made);
        spoil_tiles(made);
        spoil_bins(made);
        spoil_atoms(made);
    }
    return status;
}

/* ---- Meshes -------------------------------------------------------------------------------- */

WRAPPED(ley_status, hierarchy_make, const hierarchy_options *options, const double low[3], const double high[3],
        hierarchy *made, ley_error *error)
{
    const ley_status status = right_hierarchy_make(options, low, high, made, error);
    if (status != LEY_OK)
        return status;
    hierarchy_level *second = &made->level[1];
    if (in_force == A_LEVEL_SHORTER && made->levels > 1 && second->n[2] > 4)
        second->n[2] -= made->window->points / 2;
    if (in_force == OTHER_SPLITTING)
        assert_int_equal(splitting_make(SPLITTING_TAYLOR2, 0, 0, 0, &made->level[0].split, error), LEY_OK);
    for (int k = 0; k < made->levels && in_force == NO_SCREENING_OF_MESHES; k++)
        assert_int_equal(splitting_make(options->splitting, 0, 0, 0, &made->level[k].split, error), LEY_OK);
    if (in_force == LONGER_CUTOFF)
        made->level[0].cutoff_A *= 1.02;
    if (in_force == OTHER_SPACING)
        made->step_A[2][2] *= 1.001;
    return status;
}

WRAPPED(double, hierarchy_weight, const hierarchy *h, int level, double r_A)
{
    const bool is_top = level == h->levels - 1, is_nearest = fabs(r_A - h->step_A[0][0]) < 1e-9;
    const double right = right_hierarchy_weight(h, level, r_A), cutoff_A = h->level[level].cutoff_A;
    switch (in_force) {
    case WEIGHTS_SLIGHT:
        return is_top ? right : 1.001 * right;
    case WEIGHTS_OF_NEIGHBOURS:
        return !is_top && is_nearest ? 1.01 * right : right;
    case WEIGHTS_END_EARLY:
        return !is_top && r_A > 1.4 * cutoff_A ? 0 : right;
    case WEIGHTS_OF_THE_NEXT:
        return is_top ? right : right_hierarchy_weight(h, level + 1, r_A);
    case WEIGHTS_OF_THE_FIRST:
        return is_top ? right : right_hierarchy_weight(h, 0, ldexp(r_A, -level)) * ldexp(1, -level);
    case TOP_SLIGHT:
        return is_top ? 1.01 * right : right;
    case TOP_OF_A_LEVEL:
        return is_top && r_A > cutoff_A ? 0 : right;
    case TOP_LACKS_THE_FARTHEST:
        return is_top && r_A > 30 ? 0 : right;
    default:
        return right;
    }
}

WRAPPED(void, hierarchy_reach, const hierarchy *h, int64_t reach[3])
{
    right_hierarchy_reach(h, reach);
    for (int axis = 0; axis < 3; axis++)
        reach[axis] -= in_force == REACH_SHORT ? 3 : 0;
}

WRAPPED(void, hierarchy_whole_reach, const hierarchy *h, int level, int64_t reach[3])
{
    right_hierarchy_whole_reach(h, level, reach);
    for (int axis = 0; axis < 3; axis++)
        reach[axis] = in_force == TOP_REACH_SHORT ? (reach[axis] + 1) / 2 : reach[axis];
}

WRAPPED(double, window_two_scale, const window *w, int j)
{
    const double right = right_window_two_scale(w, j);
    return in_force == TWO_SCALE_SLIGHT && j == 1                 ? 1.01 * right
           : in_force == TWO_SCALE_TURNED && j != 0 && j % 2 != 0 ? right_window_two_scale(w, w->points - abs(j))
                                                                  : right;
}

WRAPPED(ley_status, lattice_layout_make, const lattice_level *levels, int count, lattice_layout *layout,
        ley_error *error)
{
    lattice_level own[LATTICE_MOST_LEVELS];
    memcpy(own, levels, (size_t)count * sizeof *own);
    for (int k = 0; k + 1 < count && in_force == SCALES_OF_LEVELS; k++)
        own[k].scale = ldexp(1, -k);
    if (count > 2)
        own[1].scale = in_force == SCALE_OF_A_LEVEL ? own[0].scale
                       : in_force == SCALE_SLIGHT   ? 1.01 * own[1].scale
                                                    : own[1].scale;
    return right_lattice_layout_make(own, count, layout, error);
}

WRAPPED(ley_status, lattice_weights_create, const lattice_kernel *kernel, const lattice_weights *weights, arena *memory,
        buffer_of_float *made, ley_error *error)
{
    lattice_weights own = *weights;
    const size_t count = lattice_weights_count(weights);
    double *values = malloc(count * sizeof *values);
    assert_non_null(values);
    memcpy(values, weights->values, count * sizeof *values);
    if (in_force == WEIGHT_OF_ONE)
        values[weights->mirrored ? 1 : count / 2 + 1] = 0;
    own.values = values;
    const ley_status status = right_lattice_weights_create(kernel, &own, memory, made, error);
    free(values);
    return status;
}

/* ---- Places ---------------------------------------------------------------------------------- */

WRAPPED(int32_t, coordinates_along_axis, const coordinate_table *array, int axis, int64_t i)
{
    const int64_t n = array->n[axis];
    if (in_force == PLACES_OF_SUMS && axis == 1 && n > 2 * LEY_CUBE && i >= 0 && i < 2 * LEY_CUBE)
        return right_coordinates_along_axis(array, axis, (i + LEY_CUBE) % (2 * LEY_CUBE));
    if (in_force == PLACES_OF_SUMS_END && axis == 2 && n > 4 && i >= n - 4 && i < n)
        return LEY_NOWHERE;
    if (in_force == IMAGES_OF_SUMS && (i < 0 || i >= n))
        return LEY_NOWHERE;
    if (in_force == IMAGES_ON_ONE_SIDE && axis == 2 && i < 0)
        return LEY_NOWHERE;
    return right_coordinates_along_axis(array, axis, i);
}

WRAPPED(ley_status, coordinates_add, coordinates *p, const coordinate_table *array, int64_t before, int64_t after,
        coordinates_of *made, ley_error *error)
{
    const ley_status status = right_coordinates_add(p, array, before, after, made, error);
    if (status == LEY_OK && in_force == PLACES_OF_A_LEVEL && array->first > 0 && before > 0)
        memmove(p->values + made->at[0], p->values + made->at[0] + 1, (size_t)(array->n[0] - 1) * sizeof *p->values);
    if (status == LEY_OK && in_force == PLACES_LACK_A_PLANE && before > 0 && is_map)
        p->values[made->at[2] + array->n[2] / 2] = LEY_NOWHERE;
    for (int axis = 0; status == LEY_OK && in_force == (is_map ? IMAGES_OF_POINTS : IMAGES_OF_TRANSFERS) && axis < 3;
         axis++)
        for (int64_t i = -before; i < array->n[axis] + after; i++)
            if (i < 0 || i >= array->n[axis])
                p->values[made->at[axis] + i] = LEY_NOWHERE;
    if (status == LEY_OK && in_force == TILES_LACK_A_PLANE && before == 0 && after > 0)
        p->values[made->at[2] + array->n[2] / 2] = LEY_NOWHERE;
    return status;
}

/* ---- Steps of the cycle ---------------------------------------------------------------------- */

static bool leaves_zeros(void)
{
    return in_force == NO_ANTERPOLATION || in_force == NO_RESTRICTION || in_force == NO_LEVELS ||
           in_force == FIRST_LEVEL_ALONE || in_force == NO_TOP || in_force == RESTRICTION_LACKS_PLANES;
}

WRAPPED(void, sequence_fill, command_sequence *w, dev_buffer *buffer, size_t offset, uint32_t pattern, size_t bytes)
{
    const float some = 0.01F;
    uint32_t own = leaves_zeros() && pattern == DEV_NO_NUMBERS ? 0 : pattern;
    if (in_force == PADDING_NOT_CLEARED && pattern == 0)
        memcpy(&own, &some, sizeof own);
    right_sequence_fill(w, buffer, offset, own, bytes);
}

WRAPPED(void, transfer_anterpolate, command_sequence *w, const transfer_meshes *l, const transfer_atoms *atoms,
        buffer_of_float charges)
{
    if (in_force != NO_ANTERPOLATION)
        right_transfer_anterpolate(w, l, atoms, charges);
}

/* The same with a level that ends earlier along an axis, or begins later along x. */
static transfer_meshes changed(const transfer_meshes *l, hierarchy *h, int level, int axis, bool is_shifted)
{
    transfer_meshes made = *l;
    *h = *l->hierarchy;
    h->level[level].n[axis] -= is_shifted ? 0 : h->window->points;
    h->level[level].first[0] += is_shifted ? 1 : 0;
    made.hierarchy = h;
    return made;
}

WRAPPED(void, transfer_restrict, command_sequence *w, const transfer_meshes *l, int fine, buffer_of_float from,
        buffer_of_float to)
{
    hierarchy h;
    const transfer_meshes other = changed(l, &h, fine + 1, 2, in_force == A_LEVEL_SHIFTED);
    const bool is_other = fine == 0 && (in_force == RESTRICTION_LACKS_PLANES || in_force == A_LEVEL_SHIFTED);
    if (in_force != NO_RESTRICTION)
        right_transfer_restrict(w, is_other ? &other : l, fine, from, to);
}

WRAPPED(void, transfer_prolongate, command_sequence *w, const transfer_meshes *l, int fine, buffer_of_float from,
        buffer_of_float to)
{
    hierarchy h;
    const bool is_shifted = fine == 1 && in_force == A_LEVEL_SHIFTED_BACK,
               lacks = fine == 0 && (in_force == PROLONGATION_LACKS_ROWS || in_force == PROLONGATION_LACKS_PLANES);
    const int axis = in_force == PROLONGATION_LACKS_ROWS ? 1 : 2;
    const transfer_meshes other = changed(l, &h, is_shifted ? fine + 1 : fine, axis, is_shifted);
    if (in_force == (fine == 0 ? NO_PROLONGATION : NO_COARSE_PROLONGATION))
        return;
    if (in_force == PROLONGATION_TOO_EARLY)
        fine = l->hierarchy->levels - 2 - fine;
    right_transfer_prolongate(w, lacks || is_shifted ? &other : l, fine, from, to);
    if (in_force == PROLONGATION_TWICE && fine == 0)
        right_transfer_prolongate(w, l, fine, from, to);
}

WRAPPED(void, lattice_launch, command_sequence *w, const lattice_tables *tables, int first, int count,
        buffer_of_float weights, buffer_of_float charges, buffer_of_float potentials)
{
    const bool is_top = first + count == tables->layout.count;
    if (in_force == (is_top ? NO_TOP : NO_LEVELS))
        return;
    right_lattice_launch(w, tables, first, in_force == FIRST_LEVEL_ALONE && count > 1 ? 1 : count, weights, charges,
                         potentials);
}

WRAPPED(buffer_of_float, solver_potentials, const solver *s)
{
    return in_force == CHARGES_FOR_POTENTIALS ? s->v_cycle.charges : right_solver_potentials(s);
}

/* ---- The map --------------------------------------------------------------------------------- */

WRAPPED(void, hierarchy_index, const hierarchy *h, const double point_A[3], double index[3])
{
    right_hierarchy_index(h, point_A, index);
    if (!is_map)
        return;
    const double middle = (double)h->level[0].first[1] + 0.5 * (double)h->level[0].n[1];
    index[1] += in_force == MAP_A_NODE_OFF ? (index[1] < middle ? 1 : -1) : 0;
    index[2] -= in_force == MAP_END_A_NODE_OFF && point_A[2] > 22 ? 1 : 0;
}

WRAPPED(void, window_weights, const window *w, double t, double weight[])
{
    double right[WINDOW_MOST_POINTS];
    right_window_weights(w, t, right);
    for (int i = 0; i < w->points; i++)
        weight[i] = right[is_map && in_force == POINT_WEIGHTS_TURNED ? w->points - 1 - i : i] *
                    (is_map && in_force == POINT_WEIGHTS_SLIGHT ? 1.001 : 1);
    if (is_map && in_force == POINT_WEIGHTS_LAST)
        weight[w->points - 1] = 0;
}

WRAPPED(ley_status, transfer_map_create, transfer_map *map, const transfer_meshes *meshes,
        const coordinate_table *array, const ley_grid *points, const coordinate_table *planes, double factor,
        arena *memory, ley_error *error)
{
    ley_grid own = *points;
    own.step_A[2][2] *= in_force == ROWS_OF_THE_MAP ? 0.99 : 1;
    is_map = true;
    const ley_status status = right_transfer_map_create(
        map, meshes, array, &own, planes, in_force == FACTOR_SLIGHT ? 1.001 * factor : factor, memory, error);
    is_map = false;
    return status;
}

WRAPPED(void, transfer_interpolate, command_sequence *w, const transfer_meshes *l, const transfer_map *map,
        int64_t first, int64_t count, bool accumulate, int64_t component, buffer_of_float potentials,
        buffer_of_float phi)
{
    int64_t from = first;
    if (in_force == NO_INTERPOLATION)
        return;
    if (in_force == INTERPOLATION_A_PLANE_OFF)
        from = first + count < map->n[2] ? first + 1 : first - 1;
    if (in_force == FIRST_SLAB_FOR_ALL && map_plane < 0)
        map_plane = first;
    if (in_force == FIRST_SLAB_FOR_ALL)
        from = map_plane;
    if (in_force == INTERPOLATION_TWICE)
        right_transfer_interpolate(w, l, map, first, count, accumulate, component, potentials, phi);
    right_transfer_interpolate(w, l, map, from, in_force == INTERPOLATION_LACKS_A_PLANE ? count - 1 : count,
                               in_force != INTERPOLATION_ALONE && accumulate, component, potentials, phi);
}

/* ---- Pairs ----------------------------------------------------------------------------------- */

WRAPPED(ley_short_range, pairs_of, const ley_long_range *r, const splitting *meshes, pairs_formula *formula)
{
    ley_short_range near = right_pairs_of(r, meshes, formula);
    if (in_force == PAIRS_OF_OTHER_CUTOFF)
        near.cutoff_A *= 0.97;
    if (in_force == PAIRS_OF_OTHER_SPLITTING && near.pair != LEY_PAIR_EXPRESSION)
        near.pair = LEY_PAIR_TAYLOR3;
    if (in_force == PAIRS_OF_OTHER_SPLITTING && near.pair == LEY_PAIR_EXPRESSION)
        formula->numbers[2].value *= 1.01;
    for (int i = 0; i < 9 && in_force == LONGER_CELL_OF_PAIRS; i++)
        near.cell_A[i / 3][i % 3] *= 1.01;
    if (in_force == IMAGES_OF_PAIRS)
        memset(near.periodic, 0, sizeof near.periodic);
    near.kappa_per_A *= in_force == SCREENING_OF_PAIRS ? 1.05 : 1;
    if (in_force == PAIRS_OF_OTHER_DIELECTRIC)
        near.dielectric *= 1.001;
    return near;
}

/* ---- Transforms ------------------------------------------------------------------------------ */

static void spoil_waves(spectrum *s)
{
    const int64_t all = s->stored[0] * s->stored[1] * s->stored[2], row = s->stored[0], plane = row * s->stored[1];
    float *v = s->values;
    switch (in_force) {
    case SPECTRUM_SLIGHT:
        for (int64_t i = 0; i < all; i++)
            v[i] *= 1.001F;
        break;
    case SPECTRUM_LACKS_WAVE_0:
        v[0] = 0;
        break;
    case SPECTRUM_ONE_WAVE:
        v[plane + row + 1] *= 2;
        break;
    case SPECTRUM_SHIFTED:
        memmove(v + 1, v, (size_t)(all - 1) * sizeof *v);
        break;
    case SPECTRUM_LACKS_LONG:
        memset(v + plane, 0, (size_t)plane * sizeof *v);
        break;
    case SPECTRUM_OF_OTHER_AXIS:
        memcpy(v + row, v + 2 * row, (size_t)row * sizeof *v);
        break;
    default:
        break;
    }
}

WRAPPED(ley_status, spectrum_make, const hierarchy *h, const int64_t n[3], const atomic_bool *cancelled, spectrum *made,
        ley_error *error)
{
    const ley_status status = right_spectrum_make(h, n, cancelled, made, error);
    if (status == LEY_OK)
        spoil_waves(made);
    return status;
}

WRAPPED(double, influence_factor, const window *w, int64_t m, int64_t n)
{
    return in_force == SPECTRUM_NOT_SHARPENED ? 1 : right_influence_factor(w, m, n);
}

WRAPPED(void, influence_launch, command_sequence *w, const dev_kernel *kernel, const influence_waves *waves,
        buffer_of_float2 transform)
{
    influence_waves own = *waves;
    if (in_force == NO_PRODUCT)
        return;
    if (in_force == MIRRORED_WAVES)
        own.stored[1]--;
    right_influence_launch(w, kernel, &own, transform);
    if (in_force == PRODUCT_TWICE)
        right_influence_launch(w, kernel, &own, transform);
}

WRAPPED(void, sequence_fft, command_sequence *w, const dev_fft *fft, bool forward, dev_buffer *from, dev_buffer *to,
        dev_buffer *scratch)
{
    if (in_force != (forward ? NO_WAY_THERE : NO_WAY_BACK))
        right_sequence_fft(w, fft, forward, from, to, scratch);
}

/* ---- Who sees them --------------------------------------------------------------------------- */

static ley_engine *engine;
static dev *device; /* its own; its worker thread sleeps meanwhile */
static char device_name[300];

/* What cards do by themselves elsewhere, the host's tables and the steps between files do here. */
static const ley_decision plan[] = {{.name = "method", .value = "msm"},
                                    {.name = "binning", .value = "host"},
                                    {.name = "interpolation", .device = device_name, .value = "pass"}};

static ley_run_options run_options(void)
{
    ley_run_options o = support_default_run_options();
    o.decisions = plan;
    o.decision_count = sizeof plan / sizeof *plan;
    return o;
}

/* A map that ends where the atoms' box does, in several slabs; the meshes have three levels. */
enum { ATOMS = 700 };
static const ley_grid points = {.origin_A = {1.1, -3, 0.4}, .step_A = LEY_STEPS(1.3, 1.45, 0.8), .n = {20, 20, 32}};

static bool is_fft(solvers how)
{
    return (how & (FFT | CELLS)) != 0;
}

static const char *name_of(solvers how)
{
    return how == DIRECT   ? "direct"
           : how == FFT    ? "fft"
           : how == LAYERS ? "layers"
           : how == CELLS  ? "cells"
                           : "screened";
}

static ley_long_range options_of(solvers how)
{
    static const double box_A[3][3] = {{26, 0, 0}, {0, 26, 0}, {0, 0, 26}},
                        oblique_A[3][3] = {{26, 0, 0}, {5, 25, 0}, {-4, 3, 25}};
    ley_long_range r = support_default_long_range();
    r.solver = is_fft(how) ? LEY_SOLVER_FOURIER : LEY_SOLVER_MULTILEVEL;
    r.fft = in_force == PADDING_NOT_CLEARED ? "vkfft" : NULL; /* FFTW does not read it */
    r.splitting = is_fft(how) ? LEY_SPLITTING_PSWF : LEY_SPLITTING_TAYLOR4;
    r.window = is_fft(how) ? LEY_WINDOW_BSPLINE6 : LEY_WINDOW_NODAL7;
    r.cutoff_A = 8;
    r.spacing_A = is_fft(how) ? 1.4 : 1.25;
    r.levels = is_fft(how) ? 0 : 3;
    for (int axis = 0; axis < 3; axis++)
        r.periodic[axis] = how == CELLS || (how == LAYERS && axis > 0);
    memcpy(r.cell_A, how == CELLS ? oblique_A : box_A, sizeof r.cell_A);
    r.kappa_per_A = how == SCREENED ? 0.05 : 0;
    return r;
}

/* The kernels of a solver, made before any fault. */
typedef struct subject {
    solvers how;
    ley_atoms *atoms;
    solver solver;
    hierarchy meshes;
} subject;

static ley_status run_self_tests(subject *s, ley_error *error)
{
    transfer_kernels *t = is_fft(s->how) ? &s->solver.spectral.transfer : &s->solver.v_cycle.transfer;
    ley_status status = transfer_test_anterpolation(&t->anterpolate, t, error);
    if (status == LEY_OK)
        status = transfer_test_interpolation(&t->interpolation, t, error);
    if (is_fft(s->how))
        return status == LEY_OK ? influence_kind.test(&s->solver.spectral.multiply, NULL, error) : status;
    if (status == LEY_OK)
        status = transfer_test_restriction(&t->restriction, t, error);
    if (status == LEY_OK)
        status = transfer_test_prolongation(&t->prolongation, t, error);
    if (status == LEY_OK)
        status = lattice_self_test(&s->solver.v_cycle.cutoff, error);
    return status == LEY_OK ? lattice_self_test(&s->solver.v_cycle.top, error) : status;
}

/* A job, what its error is expected to be, and what it was. */
typedef struct run {
    ley_status status;
    ley_error error;
    double expected;
    ley_accuracy accuracy;
} run;

/* The library keeps the latest influence function: another one takes the place of what the job
 * before had. */
static void forget_spectrum(const subject *s)
{
    const fault kept_fault = in_force;
    hierarchy other = s->meshes;
    kept_spectrum *kept;
    ley_error error = {0};
    int64_t n[3];
    in_force = NONE;
    other.level[0].cutoff_A *= 1.5;
    influence_extent(&other, n);
    assert_ok(kept_spectrum_get(&other, n, NULL, &kept, &error));
    kept_spectrum_give_back(kept);
    in_force = kept_fault;
}

static run run_job(const subject *s)
{
    const ley_long_range range = options_of(s->how);
    ley_run_options options = run_options();
    run r = {.status = LEY_OK};
    ley_job *job = NULL;
    ley_map *map = NULL;
    map_plane = -1;
    options.slab_planes = 16;
    r.status = ley_map_create(&points, &map, &r.error);
    if (r.status == LEY_OK)
        r.status =
            ley_job_create_long_range(engine, s->atoms, (ley_target){.map = map}, &range, &options, &job, &r.error);
    if (r.status == LEY_OK)
        r.status = ley_job_run(job, &r.error);
    if (job != NULL) {
        r.accuracy = ley_job_report(job)->accuracy;
        r.expected = ley_report_note(ley_job_report(job), "expected_error")->number[0];
    }
    ley_job_destroy(job);
    ley_map_destroy(map);
    return r;
}

/* Whether a fault is the end of the job, with the reason; or is in what the error is expected to
 * be. `right` is the job without one. At level quick nobody asks self-tests. */
static bool is_seen(subject *s, fault f, const run *right, int *tested)
{
    ley_error error = {0};
    in_force = f;
    const bool by_test = !support_is_quick() && run_self_tests(s, &error) != LEY_OK;
    if (is_fft(s->how))
        forget_spectrum(s);
    run r = run_job(s);
    in_force = NONE;
    const bool by_job = r.status == LEY_ERROR_WRONG_RESULT && r.error.message[0] != '\0',
               by_promise = r.status == LEY_OK && r.expected > 3 * right->expected &&
                            r.accuracy.max_error <= r.accuracy.tolerance;
    const char *how = name_of(s->how);
    if (getenv("TEST_VERBOSE") != NULL)
        print_message("%-8s %-50s %-9s %s\n", how, faults[f].what, by_test ? "self-test" : "",
                      by_job       ? r.error.message
                      : by_promise ? "promise"
                                   : "");
    if (!by_job && !by_promise)
        print_error("%s: %s: status %d, off by %.2g, at most %.2g is right; self-test: %s\n", how, faults[f].what,
                    (int)r.status, r.accuracy.max_error, r.accuracy.tolerance, error.message);
    *tested += by_test;
    ley_error_clear(&error);
    ley_error_clear(&r.error);
    return by_job || by_promise;
}

/* One in 17 has no charge; in layers all together have none. */
static ley_atoms *some_atoms(solvers how)
{
    ley_error error = {0};
    ley_atoms *all = support_atoms(ATOMS, 0, 26, 5), *made;
    double charge_e[ATOMS];
    for (int i = 0; i < ATOMS; i++)
        charge_e[i] = i % 17 == 3 ? 0 : ley_atoms_charges_e(all)[i];
    for (int i = 1; i < ATOMS && how == LAYERS; i++)
        charge_e[0] -= i == 1 ? charge_e[0] + charge_e[1] : charge_e[i];
    assert_ok(ley_atoms_create(ATOMS, ley_atoms_positions_A(all), charge_e, NULL, &made, &error));
    ley_atoms_destroy(all);
    return made;
}

static void make_subject(subject *s, solvers how)
{
    ley_error error = {0};
    const ley_long_range r = options_of(how);
    transfer_wish wish = {.along_axes = how != CELLS};
    *s = (subject){.how = how, .atoms = some_atoms(how)};
    assert_ok(msm_meshes(&r, s->atoms, &points, &s->meshes, &error));
    wish.window = s->meshes.window;
    for (int axis = 0; axis < 3; axis++)
        wish.nodes_per_point[axis] = points.step_A[axis][axis] / s->meshes.step_A[axis][axis];
    assert_ok(solver_ready(&s->solver, device, &s->meshes, &wish, LEY_SPEC_SUM_FLOAT, NULL, &error));
}

/* At level quick, what open meshes have shown is shown once more now and then. */
static bool is_wanted(fault f, solvers how)
{
    const char *only = getenv("TEST_FAULT");
    const bool is_repeated = (faults[f].of & BOTH) != 0 && (how & BOTH) == 0;
    return (faults[f].of & how) != 0 && (only == NULL || strstr(faults[f].what, only) != NULL) &&
           !(support_is_quick() && is_repeated && f % 8 != 0);
}

static void find_all(solvers how)
{
    subject s;
    ley_error error = {0};
    int count = 0, seen = 0, tested = 0;
    make_subject(&s, how);
    assert_ok(run_self_tests(&s, &error));
    run right = run_job(&s);
    assert_ok_at(right.status, &right.error, "a job without a fault", __FILE__, __LINE__);
    for (int f = NONE + 1; f < FAULT_COUNT; f++) {
        if (!is_wanted((fault)f, how))
            continue;
        seen += is_seen(&s, (fault)f, &right, &tested);
        count++;
    }
    print_message("of %d faults %d were seen", count, seen);
    print_message("; self-tests see %d\n", tested);
    assert_int_equal(seen, count);
    solver_end(&s.solver);
    ley_atoms_destroy(s.atoms);
}

static void test_direct(void **state)
{
    find_all(DIRECT);
}

static void test_fft(void **state)
{
    find_all(FFT);
}

static void test_layers(void **state)
{
    find_all(LAYERS);
}

static void test_cells(void **state)
{
    find_all(CELLS);
}

static void test_screened(void **state)
{
    find_all(SCREENED);
}

/* Around one charge, from 4.5 to 6 A away from it, strongly screened: values are 1e-6 of what they
 * would be without screening, and must be right all the same. */
static ley_status run_strongly_screened(ley_accuracy *accuracy, ley_error *error)
{
    static const ley_grid beside = {.origin_A = {14.5, 9, 9}, .step_A = LEY_STEPS(0.5, 0.5, 0.5), .n = {4, 5, 5}};
    static const double place_A[3] = {10, 10, 10}, charge_e = 1;
    ley_long_range range = options_of(SCREENED);
    const ley_run_options options = run_options();
    ley_atoms *atoms = NULL;
    ley_map *map = NULL;
    ley_job *job = NULL;
    range.kappa_per_A = 2.3;
    range.levels = 0;
    ley_status status = ley_atoms_create(1, place_A, &charge_e, NULL, &atoms, error);
    if (status == LEY_OK)
        status = ley_map_create(&beside, &map, error);
    if (status == LEY_OK)
        status = ley_job_create_long_range(engine, atoms, (ley_target){.map = map}, &range, &options, &job, error);
    if (status == LEY_OK)
        status = ley_job_run(job, error);
    if (job != NULL)
        *accuracy = ley_job_report(job)->accuracy;
    ley_job_destroy(job);
    ley_map_destroy(map);
    ley_atoms_destroy(atoms);
    return status;
}

static void test_strong_screening(void **state)
{
    static const fault planted[] = {SCREENING_OF_PAIRS, PAIRS_OF_OTHER_DIELECTRIC, INTERPOLATION_ALONE};
    ley_error error = {0};
    ley_accuracy accuracy;
    assert_ok(run_strongly_screened(&accuracy, &error));
    for (size_t i = 0; i < sizeof planted / sizeof *planted; i++) {
        in_force = planted[i];
        const ley_status status = run_strongly_screened(&accuracy, &error);
        in_force = NONE;
        if (status == LEY_OK)
            print_error("%s: off by %.3g, at most %.3g is right\n", faults[planted[i]].what, accuracy.max_error,
                        accuracy.tolerance);
        assert_int_equal(status, LEY_ERROR_WRONG_RESULT);
        ley_error_clear(&error);
    }
}

/* What is kept for the next job is not kept after a wrong map. */
static void test_after_a_fault(void **state)
{
    subject s;
    make_subject(&s, FFT);
    forget_spectrum(&s);
    in_force = SPECTRUM_SLIGHT;
    run r = run_job(&s);
    in_force = NONE;
    assert_int_equal(r.status, LEY_ERROR_WRONG_RESULT);
    ley_error_clear(&r.error);
    r = run_job(&s);
    assert_ok_at(r.status, &r.error, "the same job without the fault", __FILE__, __LINE__);
    solver_end(&s.solver);
    ley_atoms_destroy(s.atoms);
}

static int open_device(void **state)
{
    verification_time_replace(10);
    support_leave_out_second_driver();
    if (!support_open_default(&engine))
        return 1;
    device = engine->workers[0].device;
    snprintf(device_name, sizeof device_name, "%s: %s", device->info->backend->name, device->info->name);
    return 0;
}

static int close_device(void **state)
{
    ley_engine_destroy(engine);
    return 0;
}

int main(void)
{
    return RUN_GROUP(SUPPORT_GROUP(.begin = open_device, .end = close_device), test_direct, test_fft, test_layers,
                     test_cells, test_screened, test_after_a_fault, test_strong_screening);
}
