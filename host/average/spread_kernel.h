/* The kernels that spread frames over the mesh of a device, cl/density_spread.cl and
 * density_merge.cl. */
#ifndef LEY_AVERAGE_SPREAD_KERNEL_H
#define LEY_AVERAGE_SPREAD_KERNEL_H

#include "arguments.h"
#include "average/mesh.h"
#include "average/place.h"
#include "engine/command_sequence.h"
#include "kernel_kind.h"

extern const kernel_kind density_spread_kind, density_merge_kind;
KERNEL_ARGUMENTS_STRUCT(density_spread, LEY_DENSITY_SPREAD_ARGUMENTS);
KERNEL_ARGUMENTS_STRUCT(density_merge, LEY_DENSITY_MERGE_ARGUMENTS);

/* The quantum of densities is 2^-exponent e: so fine that the 64 bits of a node just hold
 * SPREAD_MOST_FRAMES frames of such charges. */
enum { SPREAD_MOST_FRAMES = 4096 };
int spread_exponent(double absolute_charge_e, size_t atoms);

/* What spreads on a device. */
typedef struct spreader {
    dev_kernel spread, merge; /* the latter where work-items have meshes for themselves: */
    int parts;                /* so many; 0: they have none */
    average_mesh mesh;
    size_t atoms;
    buffer_of_float charges, window, meshes;
    double atom_s; /* that an atom is predicted to take */
} spreader;

/* Builds the kernels and makes the buffers; a zeroed one may be destroyed, too. The arena's owner
 * clears it. `charge`: [atoms], in quanta. */
ley_status spreader_create(spreader *made, arena *memory, const average_mesh *mesh, size_t atoms, const float *charge,
                           command_sequence *w, ley_error *error);
void spreader_destroy(spreader *s);

/* Adds frames [first, first + frames) to the density, [nodes] integers. `cells`: [.][2][3]. */
void spreader_launch(const spreader *s, command_sequence *w, buffer_of_float positions, buffer_of_float4 cells,
                     int first, int frames, buffer_of_int2 sums);

#endif
