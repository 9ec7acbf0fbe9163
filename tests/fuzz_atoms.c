/* libFuzzer: any bytes as a binary file of atoms, also under a checksum that fits; what is read is
 * written again, byte by byte the same. Build: clang -fsanitize=fuzzer,address,undefined. */
#include "fuzz.h"

#include "io/atoms_file.h"

enum { WORD = 8 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_atoms(const ley_atoms *atoms)
{
    const size_t n = ley_atoms_count(atoms);
    double bounds_A[6];
    ley_atoms_bounds_A(atoms, bounds_A, bounds_A + 3);
    require(n > 0 && isfinite(ley_atoms_total_charge_e(atoms)));
    for (size_t i = 0; i < n; i++) {
        for (size_t axis = 0; axis < 3; axis++) {
            const double x_A = ley_atoms_positions_A(atoms)[3 * i + axis];
            require(x_A >= bounds_A[axis] && x_A <= bounds_A[3 + axis]);
        }
        require(isfinite(ley_atoms_charges_e(atoms)[i]) && ley_atoms_radii_A(atoms)[i] >= 0);
    }
}

/* The same bytes in the binary form, the same numbers in PQR. */
static void write_and_read(const ley_atoms *atoms, const uint8_t *data, size_t size)
{
    char path[64];
    const size_t n = ley_atoms_count(atoms);
    int fd = open_memory(path);
    require(ley_atoms_write_binary(atoms, path, NULL, NULL) == LEY_OK);
    uint8_t *written = malloc(size);
    require(written != NULL && pread(fd, written, size, 0) == (ssize_t)size && lseek(fd, 0, SEEK_END) == (off_t)size);
    require(memcmp(written, data, size) == 0);
    free(written);
    close(fd);
    ley_atoms *again = NULL;
    fd = open_memory(path);
    require(ley_atoms_write_pqr(atoms, path, NULL, NULL) == LEY_OK && ley_atoms_read(path, &again, NULL) == LEY_OK);
    require(ley_atoms_count(again) == n);
    require(memcmp(ley_atoms_positions_A(again), ley_atoms_positions_A(atoms), 3 * n * sizeof(double)) == 0);
    require(memcmp(ley_atoms_charges_e(again), ley_atoms_charges_e(atoms), n * sizeof(double)) == 0);
    require(memcmp(ley_atoms_radii_A(again), ley_atoms_radii_A(atoms), n * sizeof(double)) == 0);
    ley_atoms_destroy(again);
    close(fd);
}

static void read_once(const uint8_t *data, size_t size)
{
    char path[64];
    int fd = open_memory(path);
    require(write(fd, data, size) == (ssize_t)size);
    ley_atoms *atoms = NULL;
    ley_error error = {0};
    const ley_status status = ley_atoms_read_binary(path, &atoms, &error);
    close(fd);
    if (status == LEY_OK) {
        check_atoms(atoms);
        write_and_read(atoms, data, size);
        ley_atoms_destroy(atoms);
    } else {
        require(atoms == NULL && error.status == status && status == LEY_ERROR_INPUT);
        require(strncmp(error.message, path, strlen(path)) == 0);
        ley_error_clear(&error);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_once(data, size);
    if (size <= WORD || size % WORD != 0)
        return 0;
    uint8_t *sealed = malloc(size);
    require(sealed != NULL);
    memcpy(sealed, data, size);
    ley_checksum sum;
    ley_checksum_start(&sum);
    ley_checksum_add(&sum, data, size / WORD - 1);
    const uint64_t hash = ley_checksum_end(&sum);
    for (size_t i = 0; i < WORD; i++)
        sealed[size - WORD + i] = (uint8_t)(hash >> 8 * i);
    read_once(sealed, size);
    free(sealed);
    return 0;
}
