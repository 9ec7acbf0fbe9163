/* The cases are derived, not copied. On each face of the cell, lines part the corners inside from
 * those outside; where inside corners are opposite each other, each is cut off alone. The cell on
 * the face's other side sees the same corners, and draws the same lines: surfaces have no holes.
 * Lines join to loops over the faces, and loops are filled with triangles. No side that two of
 * these share lies in a face, where a triangle of the other cell could have it as well: each side
 * is that of two triangles. */
#include "surface/cube_cases.h"

#include <string.h>

/* The edge between two corners that are next to each other. */
static int edge_between(int a, int b)
{
    const int along = a ^ b, begin = a & b;
    const int axis = along == 1 ? 0 : along == 2 ? 1 : 2;
    return 4 * axis + (begin >> (axis + 1) % 3 & 1) + 2 * (begin >> (axis + 2) % 3 & 1);
}

/* The corners of a face, counterclockwise as seen from outside the cell. */
static void corners_of(int face, int corner[4])
{
    static const int around[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
    const int axis = face / 2, is_high = face & 1;
    for (int i = 0; i < 4; i++) {
        const int *at = around[is_high ? i : 3 - i];
        corner[i] = is_high << axis | at[0] << (axis + 1) % 3 | at[1] << (axis + 2) % 3;
    }
}

/* The lines of a face: next[e] is the edge at which the line from edge e ends. */
static void draw_lines(int inside, int face, int next[CUBE_EDGES])
{
    int corner[4];
    corners_of(face, corner);
    for (int i = 0; i < 4; i++) {
        const int before = corner[(i + 3) % 4];
        if (!(inside >> corner[i] & 1) || (inside >> before & 1))
            continue;
        int last = i; /* of the corners inside that follow each other from i on */
        while (inside >> corner[(last + 1) % 4] & 1)
            last++;
        next[edge_between(before, corner[i])] = edge_between(corner[last % 4], corner[(last + 1) % 4]);
    }
}

static bool share_a_face(int e, int f)
{
    for (int face = 0; face < 6; face++) {
        int corner[4];
        bool has_e = false, has_f = false;
        corners_of(face, corner);
        for (int i = 0; i < 4; i++) {
            const int edge = edge_between(corner[i], corner[(i + 1) % 4]);
            has_e |= edge == e;
            has_f |= edge == f;
        }
        if (has_e && has_f)
            return true;
    }
    return false;
}

typedef struct loop {
    int count, edge[CUBE_EDGES];
} loop;

static bool may_join(const loop *l, int i, int j)
{
    return j == i + 1 || (i == 0 && j == l->count - 1) || !share_a_face(l->edge[i], l->edge[j]);
}

/* Fills the part of a loop between its points i and j, which is beyond the side from i to j. */
static bool fill(const loop *l, int i, int j, cube_case *to)
{
    if (j == i + 1)
        return true;
    const int count = to->count;
    for (int k = i + 1; k < j; k++) {
        to->count = (uint8_t)count;
        if (!may_join(l, i, k) || !may_join(l, k, j) || count == CUBE_MOST_TRIANGLES)
            continue;
        const uint8_t triangle[3] = {(uint8_t)l->edge[i], (uint8_t)l->edge[k], (uint8_t)l->edge[j]};
        memcpy(to->edge + 3 * to->count++, triangle, sizeof triangle);
        if (fill(l, i, k, to) && fill(l, k, j, to))
            return true;
    }
    return false;
}

static bool make_case(int inside, cube_case *to)
{
    int next[CUBE_EDGES];
    memset(next, -1, sizeof next);
    for (int face = 0; face < 6; face++)
        draw_lines(inside, face, next);
    *to = (cube_case){0};
    for (int e = 0; e < CUBE_EDGES; e++) {
        loop l = {0};
        for (int at = e; next[at] >= 0;) {
            const int then = next[at];
            l.edge[l.count++] = at;
            next[at] = -1;
            at = then;
        }
        if (l.count > 0 && !fill(&l, 0, l.count - 1, to))
            return false;
    }
    return true;
}

bool cube_cases_make(cube_case cases[CUBE_CASES])
{
    bool is_right = true;
    for (int inside = 0; inside < CUBE_CASES; inside++)
        is_right &= make_case(inside, &cases[inside]);
    return is_right;
}
