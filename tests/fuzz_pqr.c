/* libFuzzer: any bytes as a PQR file. Build: clang -fsanitize=fuzzer,address,undefined. */
#include "fuzz.h"

#include "leyden.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int fd = memfd_create("pqr", MFD_CLOEXEC);
    char path[64];
    require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    ley_atoms *atoms = NULL;
    ley_error error = {0};
    ley_status status = ley_atoms_read_pqr(path, &atoms, &error);
    close(fd);
    if (status != LEY_OK) {
        require(atoms == NULL && error.status == status);
        require(status == LEY_ERROR_INPUT && strncmp(error.message, path, strlen(path)) == 0);
        ley_error_clear(&error);
        return 0;
    }
    size_t n = ley_atoms_count(atoms);
    require(n > 0 && isfinite(ley_atoms_total_charge_e(atoms)));
    for (size_t i = 0; i < n; i++) {
        for (int axis = 0; axis < 3; axis++)
            require(isfinite(ley_atoms_positions_A(atoms)[3 * i + (size_t)axis]));
        require(isfinite(ley_atoms_charges_e(atoms)[i]) && ley_atoms_radii_A(atoms)[i] >= 0);
    }
    ley_atoms_destroy(atoms);
    return 0;
}
