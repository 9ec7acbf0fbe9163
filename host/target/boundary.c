/* Dirichlet points and their values: the faces of a grid, or a list of points. */
#include "target/boundary.h"

#include "core/sizes.h"
#include "error.h"
#include "memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double farthest_A = 1e8, too_near_A = 1e-6;

/* ---- The object ------------------------------------------------------------------------------ */

/* `points` numbers of a point's size `item_numbers`, or NULL; *bytes is what was asked for. */
static double *allocate(int64_t points, int64_t item_numbers, size_t *bytes)
{
    int64_t numbers, size;
    if (!ley_multiply(points, item_numbers, &numbers) || !ley_multiply(numbers, (int64_t)sizeof(double), &size)) {
        *bytes = SIZE_MAX;
        return NULL;
    }
    *bytes = (size_t)size;
    return malloc(*bytes);
}

static ley_status create(int64_t n, const double *point_A, ley_boundary **boundary, ley_error *error)
{
    const double bytes_wanted = (double)n * sizeof(double) * (point_A != NULL ? 4 : 1);
    const ley_status status = memory_check_one(
        "the boundary", bytes_wanted, point_A != NULL ? "fewer points" : "a coarser spacing, or a smaller box", error);
    if (status != LEY_OK)
        return status;
    ley_boundary *b = calloc(1, sizeof *b);
    if (b == NULL)
        return ley_fail_memory(error, sizeof *b, "the boundary");
    size_t bytes;
    b->n = n;
    b->value = allocate(n, 1, &bytes);
    if (b->value != NULL && point_A != NULL) {
        b->point_A = allocate(n, 3, &bytes);
        if (b->point_A != NULL)
            memcpy(b->point_A, point_A, bytes);
    }
    if (b->value == NULL || (point_A != NULL && b->point_A == NULL)) {
        ley_boundary_destroy(b);
        return ley_fail_memory(error, bytes, "the boundary");
    }
    for (int64_t i = 0; i < n; i++)
        b->value[i] = NAN;
    *boundary = b;
    return LEY_OK;
}

ley_status ley_boundary_create(const ley_grid *grid, ley_boundary **boundary, ley_error *error)
{
    ley_status status = ley_grid_check(grid, error);
    if (status == LEY_OK)
        status = ley_grid_check_orthogonal(grid, "boundary", error);
    if (status != LEY_OK)
        return status;
    int64_t face[LEY_FACE_COUNT + 1] = {0};
    for (int axis = 0; axis < 3; axis++)
        if (grid->n[axis] < 2)
            return ley_fail(error, LEY_ERROR_INPUT, "boundary: one point along %c, must be at least 2", 'x' + axis);
    for (int f = 0; f < LEY_FACE_COUNT; f++) {
        int a, b;
        boundary_face_axes(f, &a, &b);
        face[f + 1] = face[f] + grid->n[a] * grid->n[b]; /* the check left room: no product is above 2^60 */
    }
    ley_boundary *made;
    status = create(face[LEY_FACE_COUNT], NULL, &made, error);
    if (status != LEY_OK)
        return status;
    made->has_grid = true;
    made->grid = *grid;
    memcpy(made->face, face, sizeof face);
    *boundary = made;
    return LEY_OK;
}

ley_status ley_boundary_create_points(int64_t n, const double *point_A, ley_boundary **boundary, ley_error *error)
{
    if (n < 1)
        return ley_fail(error, LEY_ERROR_INPUT, "no points");
    if (n > INT32_MAX)
        return ley_fail(error, LEY_ERROR_INPUT, "%lld points are more than %d", (long long)n, INT32_MAX);
    for (int64_t i = 0; i < 3 * n; i++)
        if (!(fabs(point_A[i]) <= farthest_A))
            return ley_fail(error, LEY_ERROR_INPUT, "point %lld: %c = %g A is not within 1e8 A", (long long)(i / 3 + 1),
                            'x' + (int)(i % 3), point_A[i]);
    return create(n, point_A, boundary, error);
}

void ley_boundary_destroy(ley_boundary *boundary)
{
    if (boundary == NULL)
        return;
    free(boundary->value);
    free(boundary->point_A);
    free(boundary);
}

const ley_grid *ley_boundary_grid(const ley_boundary *boundary)
{
    return boundary->has_grid ? &boundary->grid : NULL;
}

int64_t ley_boundary_points(const ley_boundary *boundary)
{
    return boundary->n;
}

double *ley_boundary_values(ley_boundary *boundary)
{
    return boundary->value;
}

const double *ley_boundary_read_values(const ley_boundary *boundary)
{
    return boundary->value;
}

int64_t ley_boundary_face(const ley_boundary *boundary, int face)
{
    return boundary->has_grid && face >= 0 && face < LEY_FACE_COUNT ? boundary->face[face] : -1;
}

void ley_boundary_compute_zero(ley_boundary *boundary)
{
    for (int64_t i = 0; i < boundary->n; i++)
        boundary->value[i] = 0;
}

/* ---- Places ---------------------------------------------------------------------------------- */

bool boundary_node(const ley_boundary *boundary, int64_t i, int64_t node[3])
{
    if (!boundary->has_grid)
        return false;
    int face = 0, a, b;
    while (face < LEY_FACE_COUNT - 1 && i >= boundary->face[face + 1])
        face++;
    boundary_face_axes(face, &a, &b);
    const int64_t *n = boundary->grid.n, at = i - boundary->face[face];
    node[face / 2] = face % 2 == 0 ? 0 : n[face / 2] - 1;
    node[a] = at % n[a];
    node[b] = at / n[a];
    return true;
}

void ley_boundary_point_A(const ley_boundary *boundary, int64_t i, double point_A[3])
{
    int64_t node[3];
    if (boundary_node(boundary, i, node))
        ley_grid_point_A(&boundary->grid, node, point_A);
    else
        memcpy(point_A, boundary->point_A + 3 * i, 3 * sizeof(double));
}

const char *boundary_place(const ley_boundary *boundary, int64_t i, char text[BOUNDARY_PLACE])
{
    int64_t node[3];
    if (boundary_node(boundary, i, node))
        snprintf(text, BOUNDARY_PLACE, "node (%lld, %lld, %lld)", (long long)node[0], (long long)node[1],
                 (long long)node[2]);
    else
        snprintf(text, BOUNDARY_PLACE, "point %lld", (long long)i + 1);
    return text;
}

ley_status boundary_check_values(const ley_boundary *boundary, const char *path, ley_error *error)
{
    for (int64_t i = 0; i < boundary->n; i++)
        if (!isfinite(boundary->value[i])) {
            char place[BOUNDARY_PLACE];
            return ley_fail(error, LEY_ERROR_INPUT, "%s: the value is %s at %s", path,
                            isnan(boundary->value[i]) ? "not a number" : "infinite",
                            boundary_place(boundary, i, place));
        }
    return LEY_OK;
}

/* ---- Atoms near points ----------------------------------------------------------------------- */

/* A search for atoms near points. */
typedef struct search {
    const ley_boundary *boundary;
    double distance_A;
    bool (*visit)(void *context, size_t atom, int64_t i);
    void *context;
    double cell_A; /* of a list: the points by the cell they lie in */
    uint64_t mask;
    int32_t *first, *next; /* chains of points, from 0; -1 ends */
} search;

static bool is_near(const search *s, const double a_A[3], const double b_A[3])
{
    const double dx = a_A[0] - b_A[0], dy = a_A[1] - b_A[1], dz = a_A[2] - b_A[2];
    return dx * dx + dy * dy + dz * dz <= s->distance_A * s->distance_A;
}

/* On every face only the node nearest to the atom. False: the visitor has seen enough. */
static bool search_nodes(const search *s, size_t atom, const double atom_A[3])
{
    const ley_grid *l = &s->boundary->grid;
    int64_t nearest[3];
    for (int axis = 0; axis < 3; axis++) {
        double index = (atom_A[axis] - l->origin_A[axis]) / l->step_A[axis][axis];
        nearest[axis] = index <= 0 ? 0 : index >= (double)(l->n[axis] - 1) ? l->n[axis] - 1 : llround(index);
    }
    for (int face = 0; face < LEY_FACE_COUNT; face++) {
        int a, b, axis = face / 2;
        int64_t node[3] = {nearest[0], nearest[1], nearest[2]};
        double point_A[3];
        boundary_face_axes(face, &a, &b);
        node[axis] = face % 2 == 0 ? 0 : l->n[axis] - 1;
        ley_grid_point_A(l, node, point_A);
        if (is_near(s, atom_A, point_A) &&
            !s->visit(s->context, atom, s->boundary->face[face] + node[b] * l->n[a] + node[a]))
            return false;
    }
    return true;
}

static int64_t cell_of(const search *s, double x_A)
{
    return (int64_t)floor(x_A / s->cell_A);
}

static uint64_t bucket(const search *s, int64_t x, int64_t y, int64_t z)
{
    uint64_t hash = (uint64_t)x * UINT64_C(0x9e3779b97f4a7c15);
    hash = (hash ^ hash >> 32 ^ (uint64_t)y) * UINT64_C(0xbf58476d1ce4e5b9);
    hash = (hash ^ hash >> 29 ^ (uint64_t)z) * UINT64_C(0x94d049bb133111eb);
    return (hash ^ hash >> 32) & s->mask;
}

/* Cells are small, for few points in each, yet so large that an atom rarely has to look into two of
 * them. */
static ley_status sort_points(search *s, ley_error *error)
{
    const ley_boundary *boundary = s->boundary;
    const double least_cell_A = 0.0027;
    size_t buckets = 1024;
    while (buckets < (size_t)boundary->n)
        buckets *= 2;
    const size_t bytes = (buckets + (size_t)boundary->n) * sizeof(int32_t);
    ley_status status = memory_check_one("sorting the points", (double)bytes, "fewer points", error);
    if (status != LEY_OK)
        return status;
    s->cell_A = fmax(least_cell_A, 8 * s->distance_A);
    s->mask = buckets - 1;
    s->first = malloc(bytes);
    if (s->first == NULL)
        return ley_fail_memory(error, bytes, "sorting the points");
    s->next = s->first + buckets;
    for (size_t i = 0; i < buckets; i++)
        s->first[i] = -1;
    for (int64_t i = boundary->n - 1; i >= 0; i--) {
        const double *p = boundary->point_A + 3 * i;
        int32_t *first = &s->first[bucket(s, cell_of(s, p[0]), cell_of(s, p[1]), cell_of(s, p[2]))];
        s->next[i] = *first;
        *first = (int32_t)i;
    }
    return LEY_OK;
}

/* All points of one cell; a bucket may hold those of others, too. */
static bool search_cell(const search *s, int64_t x, int64_t y, int64_t z, size_t atom, const double atom_A[3])
{
    for (int32_t i = s->first[bucket(s, x, y, z)]; i >= 0; i = s->next[i]) {
        const double *p = s->boundary->point_A + 3 * (int64_t)i;
        const bool here = cell_of(s, p[0]) == x && cell_of(s, p[1]) == y && cell_of(s, p[2]) == z;
        if (here && is_near(s, atom_A, p) && !s->visit(s->context, atom, i))
            return false;
    }
    return true;
}

static bool search_points(const search *s, size_t atom, const double atom_A[3])
{
    int64_t low[3], high[3];
    for (int axis = 0; axis < 3; axis++) { /* a bit more than the distance, as far coordinates are coarse */
        low[axis] = cell_of(s, atom_A[axis] - 1.1 * s->distance_A);
        high[axis] = cell_of(s, atom_A[axis] + 1.1 * s->distance_A);
    }
    for (int64_t z = low[2]; z <= high[2]; z++)
        for (int64_t y = low[1]; y <= high[1]; y++)
            for (int64_t x = low[0]; x <= high[0]; x++)
                if (!search_cell(s, x, y, z, atom, atom_A))
                    return false;
    return true;
}

ley_status boundary_find_near(const ley_boundary *boundary, const ley_atoms *atoms, double distance_A,
                              bool (*visit)(void *context, size_t atom, int64_t i), void *context, ley_error *error)
{
    const double *position_A = ley_atoms_positions_A(atoms), *charge_e = ley_atoms_charges_e(atoms);
    search s = {.boundary = boundary, .distance_A = distance_A, .visit = visit, .context = context};
    ley_status status = boundary->has_grid ? LEY_OK : sort_points(&s, error);
    for (size_t i = 0; i < ley_atoms_count(atoms) && status == LEY_OK; i++) {
        const double *atom_A = position_A + 3 * i;
        if (charge_e[i] != 0 && !(boundary->has_grid ? search_nodes(&s, i, atom_A) : search_points(&s, i, atom_A)))
            status = LEY_ERROR_MEMORY;
    }
    free(s.first);
    return status == LEY_ERROR_MEMORY ? ley_fail_memory(error, 0, "atoms near points") : status;
}

typedef struct found {
    bool any;
    size_t atom;
    int64_t i;
} found;

static bool note_first(void *context, size_t atom, int64_t i)
{
    found *f = context;
    if (!f->any)
        *f = (found){true, atom, i};
    return true;
}

ley_status ley_boundary_check_atoms(const ley_boundary *boundary, const ley_atoms *atoms, ley_error *error)
{
    found f = {.any = false};
    ley_status status = boundary_find_near(boundary, atoms, too_near_A, note_first, &f, error);
    if (status != LEY_OK || !f.any)
        return status;
    const double *atom_A = ley_atoms_positions_A(atoms) + 3 * f.atom;
    char place[BOUNDARY_PLACE];
    return ley_fail(error, LEY_ERROR_INPUT,
                    "atom %zu, at (%.9g, %.9g, %.9g) A, lies on %s of the boundary, where its potential is infinite",
                    f.atom + 1, atom_A[0], atom_A[1], atom_A[2], boundary_place(boundary, f.i, place));
}

/* ---- Coarser maps ---------------------------------------------------------------------------- */

/* The largest |interpolated - value| of a cell of the coarse face, its first node at `v`. */
static double cell_error(const double *v, int64_t n_a, int stride)
{
    const double *w = v + stride * n_a;
    double worst = 0;
    for (int j = 0; j <= stride; j++) {
        const double t = (double)j / stride;
        const double left = v[0] + t * (w[0] - v[0]), right = v[stride] + t * (w[stride] - v[stride]);
        for (int i = 0; i <= stride; i++) {
            const double difference = fabs(left + (double)i / stride * (right - left) - v[j * n_a + i]);
            worst = difference > worst ? difference : worst;
        }
    }
    return worst;
}

double ley_boundary_stride_error(const ley_boundary *boundary, int stride)
{
    const int64_t *n = boundary->grid.n;
    if (stride < 1 || (!boundary->has_grid && stride != 1))
        return INFINITY;
    for (int axis = 0; axis < 3 && boundary->has_grid; axis++)
        if ((n[axis] - 1) % stride != 0)
            return INFINITY;
    double largest = 0, worst = 0;
    for (int64_t i = 0; i < boundary->n; i++) {
        if (!isfinite(boundary->value[i]))
            return INFINITY;
        largest = fmax(largest, fabs(boundary->value[i]));
    }
    if (stride == 1 || largest == 0)
        return 0;
    for (int face = 0; face < LEY_FACE_COUNT; face++) {
        int a, b;
        boundary_face_axes(face, &a, &b);
        for (int64_t y = 0; y + stride < n[b]; y += stride)
            for (int64_t x = 0; x + stride < n[a]; x += stride)
                worst = fmax(worst, cell_error(boundary->value + boundary->face[face] + y * n[a] + x, n[a], stride));
    }
    return worst / largest;
}
