/* The electrostatic potential of a molecule, with libleyden:
 *
 *     cc example.c $(pkg-config --cflags --libs leyden) -o example
 *     ./example molecule.pqr molecule.dx
 *
 * Every function that can fail returns a ley_status and fills the ley_error. What is created is
 * destroyed, whatever happened in between; the *_destroy functions accept NULL. */
#include <leyden.h>

#include <stdio.h>
#include <stdlib.h>

/* Everything that a run makes. */
typedef struct example {
    ley_engine *engine;
    ley_atoms *atoms;
    ley_map *map;
    ley_job *job;
} example;

static ley_status run(example *e, const char *molecule, const char *output, ley_error *error)
{
    ley_grid grid;
    ley_direct direct;
    ley_run_options options;
    ley_direct_default(&direct); /* kT/e, in vacuum */
    ley_run_options_default(&options);
    direct.dielectric = 78.54; /* water everywhere, inside the molecule as well */

    ley_status status = ley_engine_create(NULL, &e->engine, error); /* the fastest device */
    if (status == LEY_OK)
        status = ley_atoms_read(molecule, &e->atoms, error);
    if (status == LEY_OK)
        status = ley_grid_around(e->atoms, 0.5, 10, &grid, error); /* spacing and padding, A */
    if (status == LEY_OK)
        status = ley_map_create(&grid, &e->map, error);
    if (status == LEY_OK)
        status = ley_job_create_direct(e->engine, e->atoms, e->map, &direct, &options, &e->job, error);
    if (status == LEY_OK)
        status = ley_job_run(e->job, error);
    if (status == LEY_OK)
        status = ley_map_write_dx(e->map, output, "made by example.c", NULL, error);
    return status;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "Usage: %s MOLECULE.pqr MAP.dx\n", argv[0]);
        return 1;
    }
    example e = {NULL, NULL, NULL, NULL};
    ley_error error = {0};
    ley_status status = run(&e, argv[1], argv[2], &error);
    if (status == LEY_OK) {
        const ley_report *report = ley_job_report(e.job);
        printf("%lld atoms, %lld points on %s: %.3g s\n", (long long)report->atoms, (long long)report->points,
               report->host != NULL ? report->host : report->devices[0].device->name, report->compute_s);
        printf("first value: %.6e %s\n", ley_map_read_values(e.map)[0], ley_map_units(e.map));
    } else {
        fprintf(stderr, "%s: %s\n", ley_status_text(status), error.message);
    }
    ley_job_destroy(e.job);
    ley_map_destroy(e.map);
    ley_atoms_destroy(e.atoms);
    ley_engine_destroy(e.engine);
    ley_error_clear(&error);
    const int code = ley_status_exit_code(status);
    if (ley_driver_is_stuck()) { /* a late device is still at something: handlers of exit() would be in its way */
        fflush(NULL);
        _Exit(code);
    }
    return code;
}
