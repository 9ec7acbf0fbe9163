/* The transfers of multilevel summation on one device: anterpolation from atoms to nodes, between
 * meshes restriction and prolongation, interpolation from nodes to a map. Hardy, Stone, Schulten,
 * Parallel Computing 35, 164 (2009), equations 12, 13, 16, 17; the kernels in cl/ say each of them.
 *
 * Charges are in e. Potentials are of charges in e at distances in A, without Coulomb's constant:
 * in e/A. A buffer holds all levels of a hierarchy, each as its coordinate_table says. */
#ifndef LEY_LONG_RANGE_MESH_TRANSFER_H
#define LEY_LONG_RANGE_MESH_TRANSFER_H

#include "arguments.h"
#include "calibrate.h"
#include "dev_kernel.h"
#include "engine/command_sequence.h"
#include "leyden.h"
#include "long_range/mesh/coordinates.h"
#include "long_range/mesh/spread.h"
#include "methods/cutoff/kernel.h"
#include "numerics/hierarchy.h"

KERNEL_ARGUMENTS_STRUCT(anterpolate, LEY_ANTERPOLATE_ARGUMENTS);
KERNEL_ARGUMENTS_STRUCT(between, LEY_BETWEEN_ARGUMENTS);
KERNEL_ARGUMENTS_STRUCT(interpolation, LEY_INTERPOLATION_ARGUMENTS);
KERNEL_ARGUMENTS_STRUCT(interpolation_gather, LEY_INTERPOLATION_GATHER_ARGUMENTS);
KERNEL_ARGUMENTS_STRUCT(interpolation_list, LEY_INTERPOLATION_LIST_ARGUMENTS);
extern const kernel_kind anterpolate_kind, restriction_kind, prolongation_kind, interpolation_kind,
    interpolation_gather_kind, interpolation_list_kind;

/* Specifications: one field per key. */
typedef struct anterpolate_spec {
    LEY_ANTERPOLATE_KEYS(KERNEL_KEY_FIELD)
} anterpolate_spec;
typedef struct transfer_spec {
    LEY_RESTRICTION_KEYS(KERNEL_KEY_FIELD)
} transfer_spec;
typedef struct interpolation_spec {
    LEY_INTERPOLATION_KEYS(KERNEL_KEY_FIELD)
} interpolation_spec;

typedef struct gather_spec {
    LEY_INTERPOLATION_GATHER_KEYS(KERNEL_KEY_FIELD)
} gather_spec;

typedef struct interpolation_list_spec {
    LEY_INTERPOLATION_LIST_KEYS(KERNEL_KEY_FIELD)
} interpolation_list_spec;

/* ---- Kernels --------------------------------------------------------------------------------- */

/* Steps whose costs are learnt. */
enum { TRANSFER_ANTERPOLATION, TRANSFER_RESTRICTION, TRANSFER_PROLONGATION, TRANSFER_LEARNT };

/* Chosen, built and tested: transfer_build.h. */
typedef struct transfer_kernels {
    dev *device;
    calibration facts;
    double unit_s[TRANSFER_LEARNT]; /* a multiply-add of a step; 0: nobody knows */
    double launch_s;                /* what is predicted to last longer is done in several launches */
    const window *window;
    dev_kernel anterpolate, restriction, prolongation;
    dev_kernel interpolation; /* along axes, or at points anywhere, or of a list (gather_points.h) */
    bool by_plane;            /* how the finest mesh's nodes are numbered */
    bool field;               /* the field is interpolated, too */
    bool along_axes;          /* may be false where it was wished: local memory has no room for a block's nodes */
    int row_nodes;            /* of maps that are not along axes: LEY_ROW_NODES */
    interpolation_spec blocks;
    double nodes_per_point[3];
} transfer_kernels;

typedef struct transfer_wish {
    const window *window;
    bool along_axes;           /* the map's axes are the mesh's, and */
    double nodes_per_point[3]; /* its points so many of the finest mesh's spacings apart, or less */
    bool along_rows;           /* else: its rows are along the mesh's first axis */
    bool oblique;              /* the map's axes are not x, y and z: a field is to be turned */
    bool of_list;              /* or the points are a list's */
    bool field;                /* they have the field as well */
    bool has_levels;           /* restriction and prolongation are wanted */
    bool by_plane;             /* the finest mesh's nodes are numbered so (places.h): without levels alone */
    int width; /* of vectors, whose work-items are alone; 1: work-groups share the work; 0: as suits the device */
} transfer_wish;

void transfer_kernels_destroy(transfer_kernels *kernels);

/* Looks up what steps cost on the device. And learns from what one was predicted to take, and
 * took. */
void transfer_look_up_costs(transfer_kernels *kernels);
void transfer_take_usual_costs(transfer_kernels *kernels); /* in place of that: by multiply-adds alone */
bool transfer_was_used(const transfer_kernels *kernels);   /* whether a job has shown it, with this window */
void transfer_learn(const transfer_kernels *kernels, int step, double predicted_s, double took_s);

/* How long steps are predicted to take, of so many atoms, or of a mesh of so many nodes that is
 * written; 0: nobody knows. The second one is without kernels; `facts` NULL: as they once were. */
double transfer_anterpolation_s(const transfer_kernels *kernels, size_t atoms);
double transfer_foresee_anterpolation_s(const dev_info *info, const calibration *facts, const window *w, size_t atoms);
double transfer_foresee_levels_s(const dev_info *info, const calibration *facts, const hierarchy *h); /* up and down */
double transfer_restriction_s(const transfer_kernels *kernels, const int64_t n[3]);
double transfer_prolongation_s(const transfer_kernels *kernels, const int64_t n[3]);
double transfer_interpolation_s(const transfer_kernels *kernels, const int64_t n[3]);

/* Nodes along an axis that have a part in a block of so many points, so many nodes apart, for a
 * window of so many points: at most. */
int transfer_block_nodes(int block, double nodes_per_point, int points);

/* Seconds of a block of points, that are so many nodes apart along x, y, z. */
double transfer_block_s(const dev_info *info, const calibration *facts, const interpolation_spec *block,
                        const double nodes_per_point[3]);

/* How many nodes along an axis of the finest mesh a step leads, and whether kernels that find their
 * nodes themselves take that for none. */
double transfer_step_nodes(const hierarchy *h, int axis, const double step_A[3]);
static inline bool transfer_is_no_step(double nodes)
{
    const double halves = nodes * 8589934592.0; /* of nodes / 2^32 */
    return halves > -1 && halves < 1;
}

/* ---- What they read -------------------------------------------------------------------------- */

/* All of these are made in an arena, with which they end. Errors: those of arena_buffer() and of
 * writing to the device; LEY_ERROR_MEMORY; LEY_ERROR_NO_DEVICE for more nodes or points than
 * kernels can number. */

/* The places of a hierarchy's meshes. */
typedef struct transfer_meshes {
    const transfer_kernels *kernels;
    const hierarchy *hierarchy;
    coordinates_of level[HIERARCHY_MOST_LEVELS];
    coordinates_of tiles; /* of the finest level, without images: where tiles end behind it is nothing */
    buffer_of_int places;
    buffer_of_float window, two_scale;
} transfer_meshes;

/* arrays[level] says how a level is stored in the buffers. */
ley_status transfer_meshes_create(transfer_meshes *meshes, const transfer_kernels *kernels, const hierarchy *hierarchy,
                                  const coordinate_table *arrays, arena *memory, ley_error *error);

/* Atoms on a device: spread.h has what each of these holds. */
typedef struct transfer_atoms {
    size_t count; /* those with a charge */
    int64_t tiles[3];
    buffer_of_int2 tile_list, sources;
    buffer_of_int first, corners;
    buffer_of_float4 atoms;
} transfer_atoms;

/* Begins as zeros. */
ley_status transfer_atoms_create(transfer_atoms *atoms, const spread *s, arena *memory, ley_error *error);

/* All of this but the atoms themselves, which are there, or to come. */
ley_status transfer_atoms_tiles(transfer_atoms *atoms, const spread *s, arena *memory, ley_error *error);

/* What follows from where atoms are; tiles stay for others. */
void transfer_atoms_free(transfer_atoms *atoms, arena *memory);

/* A map's points on the finest mesh, and where they are stored. */
typedef struct transfer_map {
    int64_t n[3];
    buffer_of_int places; /* of the finest mesh, and of the map */
    coordinates_of mesh, planes;
    buffer_of_int nodes;     /* along axes: the first one of each coordinate, */
    buffer_of_float weights; /* and the weights of all of its nodes, with their slopes where the field is wanted; */
    double shear[3];         /* and of oblique ones what interpolation.cl makes the field with */
    buffer_of_float window;  /* anywhere: weights whose product is `factor` times a node's share */
    buffer_of_int2 index;
    int64_t whole[3];
} transfer_map;

/* `array`: how the finest mesh is stored; `planes`: how the map is, of which n[2] planes at most
 * are computed at once. Values are `factor` times the mesh's. */
ley_status transfer_map_create(transfer_map *map, const transfer_meshes *meshes, const coordinate_table *array,
                               const ley_grid *points, const coordinate_table *planes, double factor, arena *memory,
                               ley_error *error);

/* The same for a kernel that interpolates by itself what it adds: of a map along axes. */
cutoff_mesh transfer_map_mesh(const transfer_meshes *meshes, const transfer_map *map, buffer_of_float potentials);

/* ---- Steps ----------------------------------------------------------------------------------- */

/* Each is one launch, or several, where it is predicted to last for more than launch_s; between
 * them the sequence can be cancelled. The bytes are the same. */

/* Equation 12: sets the finest level's charges; or those of some layers of tiles. */
void transfer_anterpolate(command_sequence *w, const transfer_meshes *l, const transfer_atoms *atoms,
                          buffer_of_float charges);
void transfer_anterpolate_layers(command_sequence *w, const transfer_meshes *l, const transfer_atoms *atoms,
                                 spread_layers layers, buffer_of_float charges);

/* Equation 13: sets the charges of level `fine` + 1, from those of level `fine`, which may be in
 * the same buffer. */
void transfer_restrict(command_sequence *w, const transfer_meshes *l, int fine, buffer_of_float from,
                       buffer_of_float to);

/* Equation 16: adds what level `fine` + 1 brings, `from`, to the potentials of level `fine`, which
 * may be in the same buffer. */
void transfer_prolongate(command_sequence *w, const transfer_meshes *l, int fine, buffer_of_float from,
                         buffer_of_float to);

/* Equation 17: planes [first, first + count) of the map, stored from the first on, get the finest
 * level's potentials added, or set; and with the field, whose components are so many values apart,
 * its derivatives. */
void transfer_interpolate(command_sequence *w, const transfer_meshes *l, const transfer_map *map, int64_t first,
                          int64_t count, bool accumulate, int64_t component, buffer_of_float potentials,
                          buffer_of_float phi);

#endif
