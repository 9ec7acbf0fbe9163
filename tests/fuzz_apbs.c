/* libFuzzer: any bytes as an APBS input file, read and rewritten; its molecules are three atoms,
 * whatever their paths. */
#include "fuzz.h"

#include "apbs/grid.h"
#include "apbs/input.h"
#include "apbs/rewrite.h"
#include "apbs/sections.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* NULL when it is refused, with its line. */
static ley_apbs_input *read_bytes(const void *data, size_t size)
{
    static const double position_A[9] = {0, 0, 0, 1, 2, 3, -4, -5, -6}, charge_e[3] = {1, -1, 0.5};
    ley_apbs_input *input = NULL;
    ley_error error = {0};
    char *text = malloc(size + 1);
    require(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    ley_status status = ley_apbs_parse("f.in", text, size, &input, &error);
    if (status == LEY_OK) {
        for (size_t i = 0; i < input->molecule_count; i++)
            if (strcmp(input->molecule[i].format, "pqr") == 0)
                require(ley_atoms_create(3, position_A, charge_e, NULL, &input->molecule[i].atoms, NULL) == LEY_OK);
        status = ley_apbs_place(input, &error);
        if (status != LEY_OK) {
            ley_apbs_input_destroy(input);
            input = NULL;
        }
    }
    if (status != LEY_OK)
        require(input == NULL && error.status == status && status == LEY_ERROR_INPUT &&
                strncmp(error.message, "f.in:", 5) == 0 && error.message[5] >= '1' && error.message[5] <= '9');
    ley_error_clear(&error);
    return input;
}

static void check(const ley_apbs_input *input)
{
    for (size_t i = 0; i < ley_apbs_elec_count(input); i++) {
        const ley_apbs_elec *elec = ley_apbs_elec_get(input, i);
        require(elec->number == (int)i + 1 && elec->line > 0 && elec->name != NULL && elec->type != NULL);
        require(elec->grid.n[0] == 0 || ley_grid_check(&elec->grid, NULL) == LEY_OK);
        require(elec->boundary == LEY_BOUNDARY_OTHER || elec->molecule < ley_apbs_molecule_count(input));
        require(isfinite(ley_apbs_boundary_s(input, i, 2)));
        for (size_t k = 0; k < elec->solvent.ion_count; k++)
            require(isfinite(elec->solvent.ions[k].charge_e) && elec->solvent.ions[k].concentration_M >= 0);
    }
    for (size_t i = 0; i < ley_apbs_warning_count(input); i++)
        require(strncmp(ley_apbs_warning(input, i), "f.in:", 5) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ley_apbs_input *input = read_bytes(data, size);
    if (input == NULL)
        return 0;
    check(input);
    const char *maps[LEY_APBS_ELECS_MAX] = {NULL};
    size_t n = ley_apbs_elec_count(input), used = 0;
    bool named[2] = {false, false}; /* sections that have the same map share it */
    for (size_t i = 0; i < n; i++)
        if (input->elec[i].boundary != LEY_BOUNDARY_OTHER && input->facts[i].map_line[LEY_APBS_MAP_POT] == 0) {
            maps[i] = i % 2 == 0 ? "a map.dx" : "b.dx";
            used += !named[i % 2];
            named[i % 2] = true;
        }
    char *text;
    size_t length;
    if (ley_apbs_compose(input, maps, &text, &length, NULL) == LEY_OK) {
        require(used > 0 || (length == size && memcmp(text, data, size) == 0));
        ley_apbs_input *again = read_bytes(text, length);
        /* APBS's buffer may not hold the longer text. */
        if (again != NULL) {
            require(ley_apbs_elec_count(again) == n);
            require(again->map_count[LEY_APBS_MAP_POT] == input->map_count[LEY_APBS_MAP_POT] + (int)used);
            for (size_t i = 0; i < n; i++)
                if (maps[i] != NULL)
                    require(again->facts[i].value[LEY_APBS_BCFL][0] == LEY_APBS_BCFL_MAP);
            ley_apbs_input_destroy(again);
        }
        free(text);
    }
    ley_apbs_input_destroy(input);
    return 0;
}
