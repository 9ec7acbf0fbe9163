/* The lattice cutoff on one device: a kernel, what it needs to know of a hierarchy of meshes, its
 * weights, and launches in a sequence of operations. */
#ifndef LEY_LONG_RANGE_MULTILEVEL_LATTICE_KERNEL_H
#define LEY_LONG_RANGE_MULTILEVEL_LATTICE_KERNEL_H

#include "arguments.h"
#include "engine/command_sequence.h"
#include "long_range/multilevel/lattice_tuning.h"

KERNEL_ARGUMENTS_STRUCT(lattice, LEY_LATTICE_ARGUMENTS);
extern const kernel_kind lattice_kind;

/* Chosen, built and tested: lattice_build.h. */
typedef struct lattice_kernel {
    dev *device;
    calibration facts;
    lattice_choice choice;
    double unit_s; /* a multiply-add or addition, as jobs have shown; 0: none has */
    dev_kernel kernel;
} lattice_kernel;

void lattice_kernel_destroy(lattice_kernel *kernel);

/* A hierarchy as a kernel has it on its device. */
typedef struct lattice_tables {
    const lattice_kernel *kernel;
    lattice_layout layout;
    int64_t first_group[LATTICE_MOST_LEVELS + 1]; /* of a level; last, how many there are */
    buffer_of_int4 levels;
    buffer_of_int places;
} lattice_tables;

/* Makes the tables in an arena, with which they end. */
ley_status lattice_tables_create(lattice_tables *tables, const lattice_kernel *kernel, const lattice_layout *layout,
                                 arena *memory, ley_error *error);

/* Puts weights on the device, as the kernel has them. LEY_ERROR_USAGE where they are not of the
 * radius that it is made for, or not mirrored where it takes them to be. */
ley_status lattice_weights_create(const lattice_kernel *kernel, const lattice_weights *weights, arena *memory,
                                  buffer_of_float *made, ley_error *error);

/* The potentials of levels [first, first + count), in one launch; where that is predicted to last
 * for more than a tenth of a second, in several, between which the sequence can be cancelled.
 * The bytes are the same. `charges` and `potentials`: of all levels, in sub-cubes. */
void lattice_launch(command_sequence *w, const lattice_tables *tables, int first, int count, buffer_of_float weights,
                    buffer_of_float charges, buffer_of_float potentials);

/* What the kernel does for all levels, those of padding too, where its weights are those of an
 * ellipsoid. */
typedef struct lattice_operations {
    double multiply_adds, additions;
    double local_bytes; /* read from local memory */
} lattice_operations;

lattice_operations lattice_count(const lattice_tables *tables);

/* How long levels [first, first + count) are predicted to take; 0: nobody knows. */
double lattice_seconds(const lattice_tables *tables, int first, int count);
double lattice_predict(const lattice_kernel *kernel, const lattice_layout *layout, int first, int count);

/* Looks up what the kernel costs on its device in the step of this name; and learns from what the
 * step was predicted to take, and took. */
void lattice_look_up_cost(lattice_kernel *kernel, const char *step);
void lattice_learn(const lattice_kernel *kernel, const char *step, double predicted_s, double took_s);

/* ---- A hierarchy that is alone on a device: self-test, benchmark ----------------------------- */

typedef struct lattice_resident {
    arena memory;
    flight flight;
    command_sequence command_sequence;
    lattice_tables tables;
    buffer_of_float weights, charges;
    results potentials;
} lattice_resident;

/* Makes all of it; charges are to be written. lattice_resident_end() also on failure. */
ley_status lattice_resident_create(lattice_resident *resident, const lattice_kernel *kernel,
                                   const lattice_layout *layout, const lattice_weights *weights, ley_error *error);
void lattice_resident_end(lattice_resident *resident);

#endif
