/* A cell that is periodic along some of its vectors. */
#ifndef LEY_CELL_H
#define LEY_CELL_H

#include "leyden_status.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct cell {
    bool periodic[3];
    int dimensions;          /* along which it is periodic: 0 to 3 */
    double vector_A[3][3];   /* where it is not periodic: of length 1, normal to those where it is and to each other */
    double dual_per_A[3][3]; /* dual[i] . vector[j] is 1 where i = j, else 0 */
    double measure;          /* volume, area or length of what is repeated, in A^3, A^2 or A; 1 when nothing is */
    int steps;               /* of an oblique cell: short multiples of the periodic vectors, in A; */
    double step_A[13][3];    /* where none of them shortens a way, nothing does */
} cell;

/* Vectors along which it is not periodic are not looked at: x, y and z in this order where that
 * fits. Errors: LEY_ERROR_INPUT for vectors that are not finite, or lie in a plane or on a line. */
ley_status cell_make(const bool periodic[3], const double vector_A[3][3], cell *made, ley_error *error);

/* Takes vectors of the same images, none of which another one, or a sum or difference of two,
 * shortens much: the nearest image of any way is then one of the 27 around that whose components
 * are within 1/2. Whether that changed them; what is no cell is left as it is. */
bool cell_shorten(double vector_A[3][3]);

/* Of a cell without periodic vectors: these take the place of x, y and z, unit vectors that are
 * perpendicular to each other. */
void cell_turn(cell *c, const double axis[3][3]);

/* Components of x along the vectors. */
void cell_components(const cell *c, const double x_A[3], double component[3]);

/* From a way to the shortest one of an image. */
void cell_bring_near(const cell *c, double d_A[3]);

double cell_dot(const double a[3], const double b[3]);
double cell_length(const double v[3]);

/* Which multiples of the vectors, low[i] to high[i], may bring what is at x into reach of 0. */
void cell_reach(const cell *c, const double x_A[3], double reach_A, int64_t low[3], int64_t high[3]);

/* Calls each(context, x - R) for all multiples R of the periodic vectors with |x - R| < reach. */
typedef void cell_each(void *context, const double image_A[3]);
void cell_images(const cell *c, const double x_A[3], double reach_A, cell_each *each, void *context);

/* The shortest x - R of all multiples R of the periodic vectors; its length. */
double cell_nearest(const cell *c, const double x_A[3], double image_A[3]);

#endif
