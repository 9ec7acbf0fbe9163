/* Boundaries as an OpenDX map of which only the faces matter, and as bare numbers. docs/formats.md
 * has the layouts. */
#include "error.h"
#include "io/dx.h"
#include "io/significant.h"
#include "io/text.h"
#include "target/boundary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BUFFER_BYTES = 256 * 1024,
    LINE_BYTES = 2 * LEY_DX_VALUES_A_LINE + 1 /* "0 0 0 \n" */
};

/* Text on its way to a file. */
typedef struct writer {
    ley_output output;
    size_t used;
    int column;        /* values on the current line of a map */
    const char *zeros; /* lines of zeros, as many as a row may need and one more */
    char text[BUFFER_BYTES];
} writer;

static ley_status flush(writer *w, ley_error *error)
{
    size_t n = w->used;
    w->used = 0;
    return ley_output_write(&w->output, w->text, n, error);
}

static ley_status reserve(writer *w, size_t bytes, ley_error *error)
{
    return w->used + bytes > BUFFER_BYTES ? flush(w, error) : LEY_OK;
}

static ley_status append(writer *w, const char *text, size_t length, ley_error *error)
{
    ley_status status = LEY_OK;
    for (size_t part; length > 0 && status == LEY_OK; text += part, length -= part) {
        part = length < BUFFER_BYTES ? length : BUFFER_BYTES;
        status = reserve(w, part, error);
        if (status == LEY_OK) {
            memcpy(w->text + w->used, text, part);
            w->used += part;
        }
    }
    return status;
}

/* Starts a file; end_writer() ends it, whatever happened. */
static ley_status start_writer(const ley_boundary *boundary, const char *path, const volatile bool *cancel, writer **w,
                               ley_error *error)
{
    ley_status status = boundary_check_values(boundary, path, error);
    if (status != LEY_OK)
        return status;
    writer *made = malloc(sizeof *made);
    if (made == NULL)
        return ley_fail_memory(error, sizeof *made, "writing a boundary");
    made->used = 0;
    made->column = 0;
    made->zeros = NULL;
    status = ley_output_open(&made->output, path, false, cancel, error);
    if (status == LEY_OK)
        *w = made;
    else
        free(made);
    return status;
}

static ley_status end_writer(writer *w, ley_status status, ley_error *error)
{
    if (status == LEY_OK)
        status = flush(w, error);
    if (status == LEY_OK)
        status = ley_output_commit(&w->output, error);
    else
        ley_output_abandon(&w->output);
    free(w);
    return status;
}

/* ---- OpenDX ---------------------------------------------------------------------------------- */

static ley_status write_value(writer *w, double value, ley_error *error)
{
    ley_status status = reserve(w, SIGNIFICANT_ROOM + 2, error);
    if (status != LEY_OK)
        return status;
    w->used = (size_t)(significant_write_value(value, w->text + w->used) - w->text);
    w->text[w->used++] = ' ';
    if (++w->column == LEY_DX_VALUES_A_LINE) {
        w->text[w->used++] = '\n';
        w->column = 0;
    }
    return LEY_OK;
}

static ley_status write_zeros(writer *w, int64_t n, ley_error *error)
{
    const int64_t line_ends = (w->column + n) / LEY_DX_VALUES_A_LINE;
    ley_status status = append(w, w->zeros + 2 * w->column, (size_t)(2 * n + line_ends), error);
    w->column = (int)((w->column + n) % LEY_DX_VALUES_A_LINE);
    return status;
}

/* Node (x, y, z), which lies on a face. */
static double face_value(const ley_boundary *boundary, int64_t x, int64_t y, int64_t z)
{
    const int64_t *n = boundary->grid.n, *face = boundary->face;
    int64_t at = z == 0          ? face[4] + y * n[0] + x
                 : z == n[2] - 1 ? face[5] + y * n[0] + x
                 : y == 0        ? face[2] + z * n[0] + x
                 : y == n[1] - 1 ? face[3] + z * n[0] + x
                 : x == 0        ? face[0] + z * n[1] + y
                                 : face[1] + z * n[1] + y;
    return boundary->value[at];
}

static ley_status write_rows(writer *w, const ley_boundary *boundary, int stride, ley_error *error)
{
    const int64_t *n = boundary->grid.n, last_z = n[2] - 1;
    ley_status status = LEY_OK;
    for (int64_t x = 0; x < n[0]; x += stride)
        for (int64_t y = 0; y < n[1]; y += stride) {
            const bool inside = x > 0 && x < n[0] - 1 && y > 0 && y < n[1] - 1;
            if (inside) {
                status = write_value(w, face_value(boundary, x, y, 0), error);
                if (status == LEY_OK)
                    status = write_zeros(w, last_z / stride - 1, error);
                if (status == LEY_OK)
                    status = write_value(w, face_value(boundary, x, y, last_z), error);
            }
            for (int64_t z = 0; z <= last_z && !inside && status == LEY_OK; z += stride)
                status = write_value(w, face_value(boundary, x, y, z), error);
            if (status != LEY_OK)
                return status;
        }
    return w->column != 0 ? append(w, "\n", 1, error) : LEY_OK;
}

static ley_status write_map(writer *w, const ley_boundary *boundary, int stride, const char *comment, ley_error *error)
{
    ley_grid coarse = boundary->grid;
    for (int axis = 0; axis < 3; axis++) {
        coarse.n[axis] = (coarse.n[axis] - 1) / stride + 1;
        coarse.step_A[axis][axis] *= stride;
    }
    const size_t lines = (size_t)coarse.n[2] / LEY_DX_VALUES_A_LINE + 2;
    char *zeros = malloc(lines * LINE_BYTES);
    if (zeros == NULL)
        return ley_fail_memory(error, lines * LINE_BYTES, "writing a boundary");
    for (size_t i = 0; i < lines; i++)
        memcpy(zeros + i * LINE_BYTES, "0 0 0 \n", LINE_BYTES);
    w->zeros = zeros;
    locale_t old = uselocale(ley_c_locale());
    ley_status status = ley_dx_write_header(&w->output, &coarse, "POTENTIAL (kT/e)", comment, false, error);
    if (status == LEY_OK)
        status = write_rows(w, boundary, stride, error);
    if (status == LEY_OK)
        status = flush(w, error);
    if (status == LEY_OK)
        status = ley_dx_write_footer(&w->output, error);
    uselocale(old);
    free(zeros);
    return status;
}

ley_status ley_boundary_write_dx(const ley_boundary *boundary, int stride, const char *path, const char *comment,
                                 const volatile bool *cancel, ley_error *error)
{
    if (!boundary->has_grid)
        return ley_fail(error, LEY_ERROR_USAGE, "%s: a list of points is no map", path);
    if (stride < 1)
        return ley_fail(error, LEY_ERROR_USAGE, "%s: stride %d, must be at least 1", path, stride);
    for (int axis = 0; axis < 3; axis++)
        if ((boundary->grid.n[axis] - 1) % stride != 0)
            return ley_fail(error, LEY_ERROR_USAGE, "%s: stride %d does not divide the %lld intervals along %c", path,
                            stride, (long long)boundary->grid.n[axis] - 1, 'x' + axis);
    writer *w;
    ley_status status = start_writer(boundary, path, cancel, &w, error);
    if (status != LEY_OK)
        return status;
    return end_writer(w, write_map(w, boundary, stride, comment, error), error);
}

/* ---- Others ---------------------------------------------------------------------------------- */

ley_status ley_boundary_write_raw(const ley_boundary *boundary, const char *path, ley_error *error)
{
    writer *w;
    ley_status status = start_writer(boundary, path, NULL, &w, error);
    if (status != LEY_OK)
        return status;
    for (int64_t i = 0; i < boundary->n && status == LEY_OK; i++) {
        uint64_t bits;
        unsigned char bytes[sizeof bits];
        memcpy(&bits, &boundary->value[i], sizeof bits);
        for (size_t k = 0; k < sizeof bytes; k++)
            bytes[k] = (unsigned char)(bits >> 8 * k);
        status = append(w, (const char *)bytes, sizeof bytes, error);
    }
    return end_writer(w, status, error);
}
