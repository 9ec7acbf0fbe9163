/* Frames of a box of water for benchmarks, and exact potentials in them. */
#ifndef LEY_METHODS_FRAMES_H
#define LEY_METHODS_FRAMES_H

#include "leyden.h"

/* Molecules as dense as the cell has room for; in each frame each coordinate of each atom is moved
 * by up to 0.1 A, and the cell is larger or smaller by up to 0.05 %. The first cell has the
 * edges. */
typedef struct water_frames {
    size_t atoms, count;
    double edge_A[3];
    double *charge_e;  /* [atoms] */
    float *position_A; /* [count][atoms][3] */
    double *cell_A;    /* [count][3][3] */
} water_frames;

/* `edge_A` NULL: water's usual density. */
ley_status water_frames_make(int64_t atoms, size_t count, const double *edge_A, water_frames *made, ley_error *error);
void water_frames_clear(water_frames *frames);

/* Atoms with the frames' charges, for what takes positions from frames: all are at the origin. */
ley_status water_frames_atoms(const water_frames *frames, ley_atoms **atoms, ley_error *error);

const float *water_frame_positions_A(const water_frames *frames, size_t frame);

/* Potential in e / A, and its field unless NULL, at points of one frame in a cell: with all images,
 * in double precision (law/periodic.h). Distances are clamped to r_min_A. */
ley_status water_frame_potential(const water_frames *frames, size_t frame, const double cell_A[9], double r_min_A,
                                 size_t points, const double *point_A, double *potential, double *field,
                                 ley_error *error);

/* How many frames, `least` to `most`, take about run_s where `frames` have taken so many
 * seconds. */
size_t frames_of_run(double run_s, double seconds, size_t frames, size_t least, size_t most);

/* Seconds of processors that all threads of this process have taken. */
double frames_processor_s(void);

#endif
