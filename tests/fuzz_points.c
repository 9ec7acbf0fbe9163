/* libFuzzer: any bytes as a list of points; what is read makes a boundary, whose table is read
 * again. Build: clang -fsanitize=fuzzer,address,undefined. */
#include "fuzz.h"

#include "leyden.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The table has the same points, to the last bit, and zeros behind them. */
static void write_and_read(int64_t n, const double *point_A)
{
    char path[64], line[256];
    int fd = open_memory(path);
    ley_boundary *boundary = NULL;
    require(ley_boundary_create_points(n, point_A, &boundary, NULL) == LEY_OK);
    ley_boundary_compute_zero(boundary);
    require(ley_boundary_write_csv(boundary, path, NULL, NULL) == LEY_OK);
    FILE *file = fopen(path, "r");
    require(file != NULL && fgets(line, sizeof line, file) != NULL && strcmp(line, "x,y,z,phi\n") == 0);
    for (int64_t i = 0; i < n; i++) {
        char *at = line;
        require(fgets(line, sizeof line, file) != NULL);
        for (int axis = 0; axis < 3; axis++)
            require(strtod(at, &at) == point_A[3 * i + axis] && *at++ == ',');
        require(strcmp(at, "0\n") == 0);
    }
    require(fgets(line, sizeof line, file) == NULL);
    fclose(file);
    close(fd);
    ley_boundary_destroy(boundary);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    int fd = open_memory(path);
    require(write(fd, data, size) == (ssize_t)size);
    int64_t n = 0;
    double *point_A = NULL;
    ley_error error = {0};
    ley_status status = ley_points_read(path, &n, &point_A, &error);
    close(fd);
    if (status == LEY_OK) {
        require(n > 0);
        write_and_read(n, point_A);
        free(point_A);
    } else {
        require(point_A == NULL && n == 0 && error.status == status);
        require(status == LEY_ERROR_INPUT && strncmp(error.message, path, strlen(path)) == 0);
        ley_error_clear(&error);
    }
    return 0;
}
