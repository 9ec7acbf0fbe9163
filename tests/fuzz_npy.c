/* libFuzzer: any bytes as the header of an array of NumPy's. Build: clang
 * -fsanitize=fuzzer,address,undefined. */
#include "fuzz.h"

#include "io/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    npy_array array = {.extents = -1};
    ley_error error = {0};
    char *exact = malloc(size + (size == 0)); /* so that a byte behind the text is found to be read */
    require(exact != NULL);
    memcpy(exact, data, size);
    const ley_status status = npy_parse("array", exact, size, &array, &error);
    free(exact);
    if (status == LEY_OK) {
        require(array.bytes >= 1 && array.bytes <= 9 && array.count >= 0);
        require(array.extents >= 0 && array.extents <= NPY_MOST_EXTENTS);
        for (int i = 0; i < array.extents; i++)
            require(array.n[i] >= 0);
        return 0;
    }
    require(status == LEY_ERROR_INPUT && strncmp(error.message, "array: ", 7) == 0);
    ley_error_clear(&error);
    return 0;
}
