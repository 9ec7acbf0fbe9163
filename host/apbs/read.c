/* The way of an APBS input file from the disk to its grids. */
#include "apbs/grid.h"
#include "apbs/molecules.h"
#include "apbs/sections.h"

ley_status ley_apbs_input_read(const char *path, ley_apbs_input **input, ley_error *error)
{
    char *text = NULL;
    size_t size = 0;
    ley_apbs_input *result = NULL;
    ley_status status = ley_file_read_text(path, LEY_APBS_BYTES_MAX, &text, &size, error);
    if (status == LEY_OK)
        status = ley_apbs_parse(path, text, size, &result, error);
    if (status != LEY_OK)
        return status;
    status = ley_apbs_read_molecules(result, error);
    if (status == LEY_OK)
        status = ley_apbs_place(result, error);
    if (status == LEY_OK)
        *input = result;
    else
        ley_apbs_input_destroy(result);
    return status;
}
