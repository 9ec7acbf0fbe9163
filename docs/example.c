/* A molecule's potential in water, to 1e-4, with libleyden: ./example molecule.pqr map.dx */
#include <leyden.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    ley_error error = {0};
    ley_atoms *atoms = NULL;
    ley_map *map = NULL;
    ley_request request;
    ley_request_default(&request); /* 0.5 A spacing, 10 A beyond the atoms, kT/e */
    request.tolerance = 1e-4;
    request.potential.dielectric = 78.54; /* water everywhere, inside the molecule as well */
    ley_status status = argc == 3 ? ley_atoms_read(argv[1], &atoms, &error) : LEY_ERROR_USAGE;
    if (status == LEY_OK)
        status = ley_map_compute(NULL, atoms, NULL, &request, &map, NULL, &error);
    if (status == LEY_OK)
        status = ley_map_write_dx(map, argv[2], "made by example.c", NULL, &error);
    if (status != LEY_OK)
        fprintf(stderr, "%s: %s\n", ley_status_text(status), argc == 3 ? error.message : "example MOLECULE.pqr MAP.dx");
    ley_map_destroy(map);
    ley_atoms_destroy(atoms);
    ley_error_clear(&error);
    return ley_status_exit_code(status);
}
