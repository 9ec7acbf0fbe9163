/* Values at points as a table: as text with commas, or as an array of NumPy's. docs/formats.md
 * has the layouts. */
#include "core/number.h"
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
    NUMBER_BYTES = SIGNIFICANT_ROOM + 1, /* behind each number what separates it */
    BLOCK_NUMBERS = 1 << 14,
    FIELD_COLUMNS = 4 /* potential and field */
};

typedef struct table_block {
    size_t used;
    char *bytes;
} table_block;

/* The value of point i is value[i stride]. */
typedef struct table_column {
    const char *name;
    const double *value;
    int64_t stride;
} table_column;

typedef struct table {
    const ley_boundary *list; /* where the points are */
    size_t columns;           /* behind x, y and z */
    const table_column *column;
    char *(*put_row)(const struct table *table, int64_t i, char *at); /* returns its end */
    int64_t block_rows;
    table_block *block; /* of each worker */
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
    for (size_t k = 0; k < t->columns; k++) {
        at = significant_write_value(t->column[k].value[i * t->column[k].stride], at);
        *at++ = k + 1 < t->columns ? ',' : '\n';
    }
    return at;
}

static char *put_number(double number, char *at)
{
    if (binary_is_other(false))
        binary_swap(&number, 1, sizeof number);
    memcpy(at, &number, sizeof number);
    return at + sizeof number;
}

static char *put_numbers(const table *t, int64_t i, char *at)
{
    double point_A[3];
    ley_boundary_point_A(t->list, i, point_A);
    for (int axis = 0; axis < 3; axis++)
        at = put_number(point_A[axis], at);
    for (size_t k = 0; k < t->columns; k++)
        at = put_number(t->column[k].value[i * t->column[k].stride], at);
    return at;
}

static void make_block(parallel_order *order, void *context, size_t number, size_t worker)
{
    (void)order;
    const table *t = context;
    const int64_t first = (int64_t)number * t->block_rows, rest = t->list->n - first,
                  last = rest < t->block_rows ? t->list->n : first + t->block_rows;
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

static ley_status check_columns(const table *t, const char *path, ley_error *error)
{
    char place[BOUNDARY_PLACE];
    for (size_t k = 0; k < t->columns; k++)
        for (int64_t i = 0; i < t->list->n; i++) {
            const double value = t->column[k].value[i * t->column[k].stride];
            if (!isfinite(value))
                return ley_fail(error, LEY_ERROR_INPUT, "%s: %s is %s at %s", path, t->column[k].name,
                                isnan(value) ? "not a number" : "infinite", boundary_place(t->list, i, place));
        }
    return LEY_OK;
}

/* `front`: what is in front of the rows. */
static ley_status write_rows(table *t, const char *path, const char *front, size_t front_bytes,
                             const volatile bool *cancel, ley_error *error)
{
    const size_t numbers = 3 + t->columns, rows = numbers < BLOCK_NUMBERS ? BLOCK_NUMBERS / numbers : 1,
                 blocks = ((size_t)t->list->n - 1) / rows + 1, cores = (size_t)parallel_cores(),
                 workers = cores < blocks ? cores : blocks, block_bytes = rows * numbers * NUMBER_BYTES;
    table_block *block = calloc(workers, sizeof *block);
    char *bytes = malloc(workers * block_bytes);
    t->error = error;
    t->block = block;
    t->block_rows = (int64_t)rows;
    t->status = block != NULL && bytes != NULL ? ley_output_open(&t->output, path, false, cancel, error)
                                               : ley_fail_memory(error, workers * block_bytes, "writing a table");
    if (t->status == LEY_OK) {
        for (size_t i = 0; i < workers; i++)
            block[i].bytes = bytes + i * block_bytes;
        t->status = ley_output_write(&t->output, front, front_bytes, error);
        if (t->status == LEY_OK)
            parallel_in_order(blocks, workers, make_block, put_block, t);
        if (t->status == LEY_OK)
            t->status = ley_output_commit(&t->output, error);
        else
            ley_output_abandon(&t->output);
    }
    free(block);
    free(bytes);
    return t->status;
}

/* The lines of the comment, each behind "# ", and the names of the columns, from malloc. Control
 * characters become blanks. NULL: no memory. */
static char *make_front(const table *t, const char *comment)
{
    size_t room = sizeof "# \nx,y,z\n";
    for (const char *c = comment; c != NULL && *c != '\0'; c++)
        room += *c == '\n' ? 3 : 1;
    for (size_t k = 0; k < t->columns; k++)
        room += 1 + strlen(t->column[k].name);
    char *front = malloc(room), *at = front;
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
    at = stpcpy(at, begins ? "x,y,z" : "\nx,y,z");
    for (size_t k = 0; k < t->columns; k++)
        at = stpcpy(stpcpy(at, ","), t->column[k].name);
    strcpy(at, "\n");
    return front;
}

static ley_status write_csv(table *t, const char *path, const char *comment, const volatile bool *cancel,
                            ley_error *error)
{
    ley_status status = check_columns(t, path, error);
    if (status != LEY_OK)
        return status;
    char *front = make_front(t, comment);
    if (front == NULL)
        return ley_fail_memory(error, comment != NULL ? strlen(comment) : 0, "writing a table");
    t->put_row = put_text;
    status = write_rows(t, path, front, strlen(front), cancel, error);
    free(front);
    return status;
}

static ley_status write_npy(table *t, const char *path, const volatile bool *cancel, ley_error *error)
{
    char header[NPY_HEADER_BYTES], shape[NPY_HEADER_BYTES / 2];
    const ley_status status = check_columns(t, path, error);
    if (status != LEY_OK)
        return status;
    snprintf(shape, sizeof shape, "%lld, %zu", (long long)t->list->n, 3 + t->columns);
    npy_header("<f8", shape, header);
    t->put_row = put_numbers;
    return write_rows(t, path, header, sizeof header, cancel, error);
}

/* Potentials, and the field where there is one. */
static const char *const names_of_potentials[FIELD_COLUMNS] = {"phi", "ex", "ey", "ez"};

static table table_of(const ley_boundary *list, const double *field, table_column column[FIELD_COLUMNS])
{
    const table t = {.list = list, .columns = field != NULL ? FIELD_COLUMNS : 1, .column = column};
    column[0] = (table_column){names_of_potentials[0], list->value, 1};
    for (size_t k = 1; k < t.columns; k++)
        column[k] = (table_column){names_of_potentials[k], &field[k - 1], 3};
    return t;
}

ley_status ley_boundary_write_csv(const ley_boundary *boundary, const char *path, const volatile bool *cancel,
                                  ley_error *error)
{
    table_column column[FIELD_COLUMNS];
    table t = table_of(boundary, NULL, column);
    return write_csv(&t, path, NULL, cancel, error);
}

ley_status ley_points_write_csv(const ley_points *points, const char *path, const char *comment,
                                const volatile bool *cancel, ley_error *error)
{
    table_column column[FIELD_COLUMNS];
    table t = table_of(points->list, points->field, column);
    return write_csv(&t, path, comment, cancel, error);
}

ley_status ley_points_write_npy(const ley_points *points, const char *path, const volatile bool *cancel,
                                ley_error *error)
{
    table_column column[FIELD_COLUMNS];
    table t = table_of(points->list, points->field, column);
    return write_npy(&t, path, cancel, error);
}

ley_status ley_points_write_columns(const ley_points *points, size_t count, const char *const *names,
                                    const double *values, const char *path, const char *comment,
                                    const volatile bool *cancel, ley_error *error)
{
    if (names == NULL && count > FIELD_COLUMNS)
        return ley_fail(error, LEY_ERROR_USAGE, "%zu columns of potentials and fields", count);
    table_column *column = calloc(count, sizeof *column);
    if (column == NULL)
        return ley_fail_memory(error, count * sizeof *column, "writing a table");
    table t = {.list = points->list, .columns = count, .column = column};
    for (size_t k = 0; k < count; k++)
        column[k] =
            (table_column){(names != NULL ? names : names_of_potentials)[k], values + (int64_t)k * points->list->n, 1};
    const ley_status status =
        ley_ends_with(path, ".npy") ? write_npy(&t, path, cancel, error) : write_csv(&t, path, comment, cancel, error);
    free(column);
    return status;
}
