#include "some_averages.h"

#include "support.h"

ley_average_options options_of(double sigma_A)
{
    ley_average_options o;
    ley_average_options_default(&o);
    o.smooth_A = sigma_A;
    o.units = LEY_UNITS_VOLT;
    return o;
}

ley_average *average_of(ley_engine *engine, const walk *w, const ley_average_options *o)
{
    ley_error error = {0};
    ley_average *a = NULL;
    double zero[MOST_ATOMS][3] = {{0}};
    ley_atoms *atoms = support_make_atoms((size_t)w->atoms, &zero[0][0], w->charge_e, NULL);
    assert_ok(ley_average_create(engine, atoms, o, &a, &error));
    ley_atoms_destroy(atoms);
    return a;
}

ley_map *map_of(ley_average *a, ley_average_quantity quantity)
{
    ley_error error = {0};
    ley_map *map = NULL;
    assert_ok(ley_average_map(a, quantity, &map, &error));
    return map;
}

char *path_of(const char *name)
{
    char *path = malloc(strlen(support_directory()) + strlen(name) + 2);
    sprintf(path, "%s/%s", support_directory(), name);
    return path;
}

void add_frames(ley_average *a, walk *w, int first, int end, int at_once)
{
    ley_error error = {0};
    for (int f = first; f < end; f += at_once)
        assert_ok(
            ley_average_add(a, (size_t)(end - f < at_once ? end - f : at_once), frame_of(w, f), w->cell_A[f], &error));
}

maps maps_of(ley_average *a, bool deviation)
{
    maps m = {{NULL}};
    for (int q = 0; q < LEY_AVERAGE_COUNT; q++)
        if (q != LEY_AVERAGE_DEVIATION || deviation)
            m.map[q] = map_of(a, (ley_average_quantity)q);
    ley_average_destroy(a);
    return m;
}

void destroy_maps(const maps *m)
{
    for (int q = 0; q < LEY_AVERAGE_COUNT; q++)
        ley_map_destroy(m->map[q]);
}

bool are_same_maps(const maps *a, const maps *b)
{
    bool are = true;
    for (int q = 0; q < LEY_AVERAGE_COUNT; q++)
        if (a->map[q] != NULL) {
            const ley_grid *grid = ley_map_grid(a->map[q]);
            are = are && memcmp(grid, ley_map_grid(b->map[q]), sizeof *grid) == 0 &&
                  memcmp(ley_map_read_values(a->map[q]), ley_map_read_values(b->map[q]),
                         sizeof(float) * (size_t)ley_grid_points(grid)) == 0;
        }
    return are;
}

void assert_same_maps(const maps *a, maps b)
{
    assert_true(are_same_maps(a, &b));
    destroy_maps(&b);
}
