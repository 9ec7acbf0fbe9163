/* Triangles that part the inside of a surface from its outside in a cell of a grid, for each of the
 * 256 ways in which its corners may be inside. */
#ifndef LEY_SURFACE_CUBE_CASES_H
#define LEY_SURFACE_CUBE_CASES_H

#include <stdbool.h>
#include <stdint.h>

/* Corner c of a cell is at (c & 1, c >> 1 & 1, c >> 2). Edge e is along axis e / 4, and begins at
 * corner cube_edge_begin(e). */
enum { CUBE_EDGES = 12, CUBE_CASES = 256, CUBE_MOST_TRIANGLES = 10 };

static inline int cube_edge_begin(int edge)
{
    const int axis = edge / 4;
    return (edge & 1) << (axis + 1) % 3 | (edge >> 1 & 1) << (axis + 2) % 3;
}

typedef struct cube_case {
    uint8_t count;                         /* of triangles */
    uint8_t edge[3 * CUBE_MOST_TRIANGLES]; /* on which their corners lie, counterclockwise as seen from outside */
} cube_case;

/* Cases by the bits of the corners that are inside. False: the derivation itself is wrong. */
bool cube_cases_make(cube_case cases[CUBE_CASES]);

#endif
