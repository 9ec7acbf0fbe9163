/* Files of atoms and maps, in `leyden bench`. */
#include "bench_row.h"
#include "registry.h"

#include <stdio.h>

typedef struct folder_values {
    const char *folder;
} folder_values;

static const option_row rows[] = {
    {.name = "folder",
     .kind = OPTION_TEXT,
     .offset = offsetof(folder_values, folder),
     .value = "FOLDER",
     .unset = "the current one",
     .help = "io, all: a folder on the disk whose files are measured; nothing stays there"},
};

const option_block bench_folder = OPTION_BLOCK(rows, folder_values, NULL);

const char *bench_folder_of(const parsed_arguments *arguments)
{
    const folder_values *values = option_values(arguments, &bench_folder);
    return values->folder != NULL ? values->folder : ".";
}

static void print(const ley_bench_device *device)
{
    (void)device;
    puts("files are the host's: no device takes part. Plain files are moved by pieces of 1 MiB, as dd does; % of plain "
         "is of the rate of plain writes, or reads, both by way of the system's memory, as files of atoms and maps "
         "are");
}

static void put_json(json_t *object, const ley_bench_device *device)
{
    for (size_t i = 0; i < device->row_count; i++) {
        const ley_bench_row *row = &device->rows[i];
        json_t *to = json_array_get(json_object_get(object, "rows"), i);
        json_put(to, "file_bytes", row->bytes > 0 ? json_number(row->bytes) : json_null());
    }
}

const bench_row io_bench = {
    .option = {.name = "io",
               .says = "io: files of atoms and maps in every format, written and read, beside plain ones of the same "
                       "disk",
               .common = {&bench_folder}},
    .not_its = {{"math", "files take no roots"}, {"sum", "files have no sums"}},
    .columns = BENCH_FILES,
    .needs_folder = true,
    .print = print,
    .put_json = put_json,
};
