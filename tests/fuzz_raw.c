/* libFuzzer: any bytes as the header of a raw map; one that is read is written and read again.
 * Build: clang -fsanitize=fuzzer,address,undefined. */
#include "fuzz.h"

#include "io/map_header.h"

static const int64_t most_points = 4096;
static const char path[] = "header";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Such characters are written as blanks. */
static bool has_control_characters(const char *text)
{
    while (*text != '\0' && (unsigned char)*text >= ' ' && *text != 127)
        text++;
    return *text != '\0';
}

/* With the bytes as comment, whatever they are, and a few facts. */
static void write_and_read(const map_header *header, const uint8_t *data, size_t size)
{
    ley_map *map = NULL;
    ley_error error = {0};
    map_header again;
    if (ley_grid_points(&header->grid) > most_points)
        return;
    require(ley_map_create(&header->grid, &map, &error) == LEY_OK);
    ley_map_set_units(map, header->origin.units);
    char *comment = calloc(size + 1, 1);
    require(comment != NULL);
    memcpy(comment, data, size);
    char *text = map_header_text(&map_header_raw, map, comment, "{\"fuzz\": true}");
    require(text != NULL);
    require(map_header_parse(&map_header_raw, path, text, strlen(text), &again, &error) == LEY_OK);
    require(memcmp(&again.grid, &header->grid, sizeof again.grid) == 0);
    require(strcmp(again.origin.units, header->origin.units) == 0 || has_control_characters(header->origin.units));
    free(text);
    free(comment);
    ley_map_destroy(map);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    map_header header;
    ley_error error = {0};
    const ley_status status = map_header_parse(&map_header_raw, path, (const char *)data, size, &header, &error);
    if (status == LEY_OK) {
        require(ley_grid_check(&header.grid, &error) == LEY_OK);
        write_and_read(&header, data, size);
        return 0;
    }
    require(status == LEY_ERROR_INPUT && strncmp(error.message, path, strlen(path)) == 0);
    ley_error_clear(&error);
    return 0;
}
