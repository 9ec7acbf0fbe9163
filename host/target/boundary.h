/* The object behind ley_boundary. */
#ifndef LEY_TARGET_BOUNDARY_H
#define LEY_TARGET_BOUNDARY_H

#include "leyden.h"

struct ley_boundary {
    bool has_grid;
    ley_grid grid;
    int64_t face[LEY_FACE_COUNT + 1]; /* where each face begins; of a grid only */
    int64_t n;
    double *value;
    double *point_A; /* of a list only */
};

/* The two axes of a face, the lower-numbered one as a. */
static inline void boundary_face_axes(int face, int *a, int *b)
{
    *a = face / 2 == 0 ? 1 : 0;
    *b = face / 2 == 2 ? 1 : 2;
}

/* Grid indices of value i; false for a list. */
bool boundary_node(const ley_boundary *boundary, int64_t i, int64_t node[3]);

/* Where value i lies, for messages: "point 7", "node (0, 3, 4)". Returns `text`. */
enum { BOUNDARY_PLACE = 96 };
const char *boundary_place(const ley_boundary *boundary, int64_t i, char text[BOUNDARY_PLACE]);

/* LEY_ERROR_INPUT, "path: ...", where a value is not finite. */
ley_status boundary_check_values(const ley_boundary *boundary, const char *path, ley_error *error);

/* Calls visit(context, atom, i) for every charged atom and every value i whose point lies within
 * distance_A of it (of a grid's nodes: for the nearest one on each face), until it returns
 * false: LEY_ERROR_MEMORY. */
ley_status boundary_find_near(const ley_boundary *boundary, const ley_atoms *atoms, double distance_A,
                              bool (*visit)(void *context, size_t atom, int64_t i), void *context, ley_error *error);

#endif
