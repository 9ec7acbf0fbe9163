/* libFuzzer: any bytes as the archives of a wavefunction and of particles, whose checksums are made
 * right, so that what stands behind them is read, too. Build: clang
 * -fsanitize=fuzzer,address,undefined. */
#include "fuzz.h"

#include "leyden.h"

#include <zlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t number_at(const uint8_t *at, int bytes)
{
    size_t number = 0;
    for (int i = bytes - 1; i >= 0; i--)
        number = number << 8 | at[i];
    return number;
}

/* Of each entry of a directory, as far as its member is where it says. */
static void mend(uint8_t *bytes, size_t size)
{
    enum { CENTRAL = 46, LOCAL = 30 };
    for (size_t i = 0; i + CENTRAL <= size; i++) {
        uint8_t *entry = bytes + i;
        if (memcmp(entry, "PK\1\2", 4) != 0)
            continue;
        const size_t length = number_at(entry + 24, 4), local = number_at(entry + 42, 4);
        if (local > size || size - local < LOCAL)
            continue;
        const size_t front = LOCAL + number_at(bytes + local + 26, 2) + number_at(bytes + local + 28, 2);
        if (front > size - local || length > size - local - front)
            continue;
        const uLong check = crc32(crc32(0, NULL, 0), bytes + local + front, (uInt)length);
        for (int k = 0; k < 4; k++)
            entry[16 + k] = (uint8_t)(check >> 8 * k);
    }
}

static void require_read(ley_status status, const ley_error *error)
{
    require(status == LEY_OK || status == LEY_ERROR_INPUT || status == LEY_ERROR_MEMORY);
    require((status == LEY_OK) == (error->message[0] == '\0'));
}

static void read_wavefunction(const char *path)
{
    ley_wavefunction *w = NULL;
    ley_error error = {0};
    const ley_status status = ley_wavefunction_read(path, &w, &error);
    require_read(status, &error);
    if (status == LEY_OK) {
        const ley_wavefunction_arrays a = ley_wavefunction_get(w);
        require(a.nuclei > 0 && a.shells > 0 && a.orbitals > 0 && ley_wavefunction_functions(w) > 0);
        for (int64_t p = 0; p < a.primitives; p++)
            require(a.exponents[p] > 0 && isfinite(a.coefficients[p]));
        ley_wavefunction_destroy(w);
    }
    ley_error_clear(&error);
}

/* A subset: the last half, backwards. */
static void take_last(const ley_particles *p, int64_t particles)
{
    const int64_t count = (particles + 1) / 2;
    ley_particles *some = NULL;
    ley_error error = {0};
    int64_t *index = malloc((size_t)count * sizeof *index);
    require(index != NULL);
    for (int64_t k = 0; k < count; k++)
        index[k] = particles - 1 - k;
    require(ley_particles_subset(p, index, count, &some, &error) == LEY_OK);
    require(ley_particles_get(some).particles == count);
    ley_particles_destroy(some);
    free(index);
}

static void read_particles(const char *path)
{
    ley_particles *p = NULL;
    ley_error error = {0};
    const ley_status status = ley_particles_read(path, &p, &error);
    require_read(status, &error);
    if (status == LEY_OK) {
        const ley_particles_arrays a = ley_particles_get(p);
        require(a.particles > 0 && a.types > 0);
        for (int64_t i = 0; i < a.particles; i++) {
            require(isfinite(a.charges[i]) && a.type[i] >= 0 && a.type[i] < a.types);
            require(a.residue == NULL || (a.residue[i] >= 0 && a.residue[i] < a.residues));
            require(a.names == NULL || strlen(a.names[i]) < 64);
        }
        for (int64_t i = 0; i < a.exclusions; i++)
            require(a.exclusion[i][0] != a.exclusion[i][1]);
        take_last(p, a.particles);
        ley_particles_destroy(p);
    }
    ley_error_clear(&error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    uint8_t *mended = malloc(size + 1);
    const int fd = open_memory(path);
    require(mended != NULL);
    memcpy(mended, data, size);
    mend(mended, size);
    require(write(fd, mended, size) == (ssize_t)size);
    free(mended);
    read_wavefunction(path);
    read_particles(path);
    close(fd);
    return 0;
}
