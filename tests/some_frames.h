/* Frames of charges that wander in cells that may change; and their potentials by the formula of
 * leyden_average.h, summed over waves in plain double precision: what averages are held against. */
#ifndef LEY_TESTS_SOME_FRAMES_H
#define LEY_TESTS_SOME_FRAMES_H

#include "leyden.h"

enum { MOST_ATOMS = 400, MOST_FRAMES = 200 };

typedef struct walk {
    int atoms, frames;
    double charge_e[MOST_ATOMS];
    float position_A[MOST_FRAMES][MOST_ATOMS * 3]; /* [frames][atoms][3], packed */
    double cell_A[MOST_FRAMES][9];
} walk;

/* In [0, 1). */
double walk_fraction(unsigned *seed);

/* From calloc. `wobble`: cells change by so much. */
walk *walk_make(int atoms, int frames, double wobble, unsigned seed);
float *frame_of(walk *w, int f);

/* Reciprocal vectors, times 2 pi; the volume. */
double reciprocal_of(const double cell_A[9], double reciprocal[3][3]);

/* Adds a frame's potential at fractions of `cell_A`, times `share`, its charges being at the same
 * fractions of that cell as in their own; in e / A. */
void add_potential(walk *w, int frame, const double cell_A[9], double sigma_A, size_t points, const double (*at)[3],
                   double share, double *sum);

/* Some points of a map, and what is right there, in e / A. */
enum { POINTS = 40 };
typedef struct sample {
    int64_t number[POINTS];
    double at[POINTS][3], right[POINTS];
} sample;

/* `origin`: of the map, in fractions. */
void sample_make(const ley_map *map, const double origin[3], sample *s);

/* Relative root mean square error of a map in V. */
double sample_error(const ley_map *map, const sample *s);

#endif
