/* Potentials at points as a table: as text with commas, or as an array of NumPy's. docs/formats.md
 * has the layouts. */
#include "error.h"
#include "io/binary.h"
#include "io/npy.h"
#include "io/output.h"
#include "io/significant.h"
#include "parallel.h"
#include "target/points.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rows are made by all cores, block by block, and written in order. */
enum {
    BLOCK_ROWS = 2048,
    MOST_COLUMNS = 7,
    BLOCK_BYTES = BLOCK_ROWS * MOST_COLUMNS * (SIGNIFICANT_ROOM + 1) /* behind each number what separates it */
};

typedef struct table_block {
    size_t used;
    char bytes[BLOCK_BYTES];
} table_block;

typedef struct table {
    const ley_boundary *list;
    const double *field;                                              /* [n][3], or NULL */
    char *(*put_row)(const struct table *table, int64_t i, char *at); /* returns its end */
    table_block *block;                                               /* of each worker */
    ley_output output;
    ley_status status;
    ley_error *error;
} table;

static char *put_text(const table *t, int64_t i, char *at)
{
    double point_A[3];
    ley_boundary_point_A(t->list, i, point_A);
    for (int axis = 0; axis < 3; axis++) {
        at = significant_write_exact(point_A[axis], at);
        *at++ = ',';
    }
    at = significant_write_value(t->list->value[i], at);
    for (int axis = 0; axis < 3 && t->field != NULL; axis++) {
        *at++ = ',';
        at = significant_write_value(t->field[3 * i + axis], at);
    }
    *at++ = '\n';
    return at;
}

static char *put_numbers(const table *t, int64_t i, char *at)
{
    double row[MOST_COLUMNS];
    const size_t columns = t->field != NULL ? MOST_COLUMNS : MOST_COLUMNS - 3;
    ley_boundary_point_A(t->list, i, row);
    row[3] = t->list->value[i];
    if (t->field != NULL)
        memcpy(row + 4, t->field + 3 * i, 3 * sizeof *row);
    if (binary_is_other(false))
        binary_swap(row, columns, sizeof *row);
    memcpy(at, row, columns * sizeof *row);
    return at + columns * sizeof *row;
}

static void make_block(parallel_order *order, void *context, size_t number, size_t worker)
{
    (void)order;
    const table *t = context;
    const int64_t first = (int64_t)number * BLOCK_ROWS, rest = t->list->n - first,
                  last = rest < BLOCK_ROWS ? t->list->n : first + BLOCK_ROWS;
    table_block *block = &t->block[worker];
    char *at = block->bytes;
    for (int64_t i = first; i < last; i++)
        at = t->put_row(t, i, at);
    block->used = (size_t)(at - block->bytes);
}

static bool put_block(void *context, size_t number, size_t worker)
{
    (void)number;
    table *t = context;
    const table_block *block = &t->block[worker];
    t->status = ley_output_write(&t->output, block->bytes, block->used, t->error);
    return t->status == LEY_OK;
}

/* `front`: what is in front of the rows. */
static ley_status write_table(table *t, const char *path, const char *front, size_t front_bytes,
                              const volatile bool *cancel, ley_error *error)
{
    const size_t blocks = (size_t)(t->list->n - 1) / BLOCK_ROWS + 1, cores = (size_t)parallel_cores();
    const size_t workers = cores < blocks ? cores : blocks;
    t->error = error;
    t->block = malloc(workers * sizeof *t->block);
    if (t->block == NULL)
        return ley_fail_memory(error, workers * sizeof *t->block, "writing a table");
    t->status = ley_output_open(&t->output, path, false, cancel, error);
    if (t->status == LEY_OK) {
        t->status = ley_output_write(&t->output, front, front_bytes, error);
        if (t->status == LEY_OK)
            parallel_in_order(blocks, workers, make_block, put_block, t);
        if (t->status == LEY_OK)
            t->status = ley_output_commit(&t->output, error);
        else
            ley_output_abandon(&t->output);
    }
    free(t->block);
    return t->status;
}

/* The lines of the comment, each behind "# ", and the names of the columns, from malloc. Control
 * characters become blanks. NULL: no memory. */
static char *make_front(const char *comment, const char *columns)
{
    size_t room = strlen(columns) + 2;
    for (const char *c = comment; c != NULL && *c != '\0'; c++)
        room += *c == '\n' ? 3 : 1;
    char *front = malloc(room + 2), *at = front;
    bool begins = true;
    for (const char *c = comment; front != NULL && c != NULL && *c != '\0'; c++) {
        if (begins) {
            memcpy(at, "# ", 2);
            at += 2;
        }
        *at++ = *c == '\n' || (unsigned char)*c >= ' ' ? *c : ' ';
        begins = *c == '\n';
    }
    if (front == NULL)
        return NULL;
    if (!begins)
        *at++ = '\n';
    strcpy(at, columns);
    return front;
}

static ley_status write_csv(const ley_boundary *list, const double *field, const char *path, const char *comment,
                            const volatile bool *cancel, ley_error *error)
{
    table t = {.list = list, .field = field, .put_row = put_text};
    ley_status status = boundary_check_values(list, path, error);
    if (status != LEY_OK)
        return status;
    char *front = make_front(comment, field != NULL ? "x,y,z,phi,ex,ey,ez\n" : "x,y,z,phi\n");
    if (front == NULL)
        return ley_fail_memory(error, comment != NULL ? strlen(comment) : 0, "writing a table");
    status = write_table(&t, path, front, strlen(front), cancel, error);
    free(front);
    return status;
}

ley_status ley_boundary_write_csv(const ley_boundary *boundary, const char *path, const volatile bool *cancel,
                                  ley_error *error)
{
    return write_csv(boundary, NULL, path, NULL, cancel, error);
}

static ley_status check_field(const ley_points *points, const char *path, ley_error *error)
{
    for (int64_t i = 0; points->field != NULL && i < 3 * points->list->n; i++)
        if (!isfinite(points->field[i]))
            return ley_fail(error, LEY_ERROR_INPUT, "%s: the field along %c at point %lld is not finite", path,
                            (int)('x' + i % 3), (long long)(i / 3 + 1));
    return LEY_OK;
}

ley_status ley_points_write_csv(const ley_points *points, const char *path, const char *comment,
                                const volatile bool *cancel, ley_error *error)
{
    const ley_status status = check_field(points, path, error);
    return status == LEY_OK ? write_csv(points->list, points->field, path, comment, cancel, error) : status;
}

ley_status ley_points_write_npy(const ley_points *points, const char *path, const volatile bool *cancel,
                                ley_error *error)
{
    table t = {.list = points->list, .field = points->field, .put_row = put_numbers};
    char header[NPY_HEADER_BYTES], shape[NPY_HEADER_BYTES / 2];
    ley_status status = check_field(points, path, error);
    if (status == LEY_OK)
        status = boundary_check_values(points->list, path, error);
    if (status != LEY_OK)
        return status;
    snprintf(shape, sizeof shape, "%lld, %d", (long long)points->list->n,
             points->field != NULL ? MOST_COLUMNS : MOST_COLUMNS - 3);
    npy_header("<f8", shape, header);
    return write_table(&t, path, header, sizeof header, cancel, error);
}
