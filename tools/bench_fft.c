/* Fourier transforms, in `leyden bench`. */
#include "bench_row.h"
#include "registry.h"

typedef struct fft_bench_values {
    int library;
} fft_bench_values;

static const char *const libraries[] = {"auto", "fftw", "vkfft", "clfft", "cufft", NULL};

static const option_row rows[] = {
    {.name = "fft",
     .kind = OPTION_CHOICE,
     .offset = offsetof(fft_bench_values, library),
     .value = "LIBRARY",
     .choices = libraries,
     .help =
         "fft, msm, frontier: use one library only; auto measures all of them with fft and marks the one that a job "
         "would take, and uses that one with the others"},
};

const option_block bench_library = OPTION_BLOCK(rows, fft_bench_values, NULL);

const char *bench_fft_library(const parsed_arguments *arguments)
{
    const fft_bench_values *values = option_values(arguments, &bench_library);
    return values->library > 0 ? libraries[values->library] : NULL;
}

static void set(const parsed_arguments *arguments, ley_bench_options *to)
{
    to->fft = bench_fft_library(arguments);
}

static void put_json(json_t *object, const ley_bench_device *device)
{
    json_put(object, "memory_bytes_per_s", json_number(device->memory_bytes_per_s));
}

const bench_row fft_bench = {
    .option = {.name = "fft",
               .says = "fft: real Fourier transforms in place, by each library",
               .common = {&bench_library}},
    .not_its = {{"atoms", "a transform has none, and its size is --dims"},
                {"math", "it takes no roots"},
                {"sum", "libraries compute in floats"}},
    .first_variant = "clfft",
    .columns = BENCH_TRANSFORMS,
    .set = set,
    .put_json = put_json,
};
