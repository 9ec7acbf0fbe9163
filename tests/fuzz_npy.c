/* libFuzzer: any bytes as the header of an array of NumPy's. Build: clang
 * -fsanitize=fuzzer,address,undefined. */
#include "fuzz.h"

#include "io/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    binary_array array = {BINARY_TYPES, false, {-1, -1, -1}};
    int64_t n[3] = {-1, -1, -1};
    ley_error error = {0};
    char *exact = malloc(size + (size == 0)); /* so that a byte behind the text is found to be read */
    require(exact != NULL);
    memcpy(exact, data, size);
    const ley_status status = npy_parse("array", exact, size, 3, &array, n, &error);
    free(exact);
    if (status == LEY_OK) {
        require(array.type == BINARY_FLOAT32 || array.type == BINARY_FLOAT64);
        require(array.axis[1] == 1 && array.axis[0] + array.axis[2] == 2);
        require(n[0] >= 0 && n[1] >= 0 && n[2] >= 0);
        return 0;
    }
    require(status == LEY_ERROR_INPUT && strncmp(error.message, "array: ", 7) == 0);
    ley_error_clear(&error);
    return 0;
}
