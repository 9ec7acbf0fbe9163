/* Ions at the nodes of a grid. */
#include "clock.h"
#include "error.h"
#include "ions/device_map.h"
#include "ions/host_map.h"
#include "ions/internal.h"
#include "ions/search.h"
#include "ions/search_check.h"
#include "log.h"
#include "memory.h"
#include "parallel.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What one device after the other is given, and the host last. Where a device is left behind in its
 * driver, it is kept for ever. */
typedef struct placing {
    ions_task *t;
    ions_grid grid;
    float *bricks, *table;
    ions_spheres spheres;
    ions_known *known;
    bool is_doubtful;   /* each ion is summed at once */
    ley_engine *engine; /* of the device that is given it; NULL: the host is */
    worker *wanted;
    bool is_left;
    ley_status status;
    ley_error error;
} placing;

/* ---- On one map ------------------------------------------------------------------------------ */

/* Ends at an ion for which there is no room: then that is of this species. */
static ley_status place_each(placing *p, search *s, size_t *species, bool *has_room, ley_error *error)
{
    ions_task *t = p->t;
    ley_status status = LEY_OK;
    *has_room = true;
    while (status == LEY_OK && ions_next(t, species)) {
        int64_t number, node[3];
        double place_A[3];
        status = search_place(s, t->o.species[*species].charge_e, &number, error);
        *has_room = number >= 0;
        if (status != LEY_OK || !*has_room)
            return status;
        ions_grid_node(&p->grid, number, node);
        ions_grid_place_A(&p->grid, node, place_A);
        for (int axis = 0; axis < 3; axis++)
            place_A[axis] += p->grid.grid.origin_A[axis];
        status = ions_add(t, *species, place_A, node, -1, 0, error);
        if (status == LEY_OK && ions_is_cancelled(t))
            status = ley_fail(error, LEY_CANCELLED, "cancelled");
    }
    return status;
}

/* With their energies. p->is_doubtful: they are to be placed again. */
static ley_status place_all(placing *p, const ions_map *map, search *s, ley_error *error)
{
    ions_task *t = p->t;
    size_t species;
    bool has_room, is_right = true;
    const double begin_s = ley_clock_s();
    ley_status status = place_each(p, s, &species, &has_room, error);
    const double placed_s = ley_clock_s();
    if (status == LEY_OK)
        status = search_settle(s, &is_right, error);
    const search_counts *c = search_has_done(s);
    log_say(
        LEY_LOG_DETAIL,
        "ions: placed in %.3g s, summed in %.3g s more; %lld updates of the map took %.3g s, kernels in them %.3g s, "
        "%lld lists of nodes %.3g s",
        placed_s - begin_s, ley_clock_s() - placed_s, (long long)c->updates, c->updates_s, map->kernels_s,
        (long long)c->lists, c->lists_s);
    p->is_doubtful = !is_right;
    if (status != LEY_OK || !is_right)
        return status;
    for (int64_t i = 0; i < t->ions->count; i++)
        ions_set_energy(t, i, search_energy(s, (size_t)i));
    return has_room ? LEY_OK : ions_no_room(t, species, error);
}

static double free_volume(const placing *p, int64_t free_nodes)
{
    double volume_A3 = p->t->cell.measure;
    if (p->t->cell.dimensions == 0) {
        const double(*s)[3] = p->grid.grid.step_A;
        volume_A3 = (double)free_nodes * fabs(s[0][0] * (s[1][1] * s[2][2] - s[1][2] * s[2][1]) -
                                              s[0][1] * (s[1][0] * s[2][2] - s[1][2] * s[2][0]) +
                                              s[0][2] * (s[1][0] * s[2][1] - s[1][1] * s[2][0]));
    }
    return volume_A3;
}

static void note_counts(placing *p, const ions_map *map, const search *s)
{
    ley_ions_report *how = &p->t->ions->how;
    const search_counts *c = search_has_done(s);
    how->free_nodes = c->free_nodes;
    how->recomputed = c->recomputed;
    how->undecided = c->undecided;
    how->searched = c->searched;
    how->bricks = p->grid.brick_count;
    how->energy_error = c->largest > 0 ? c->energy_error / c->largest : 0;
    snprintf(p->t->ions->device, sizeof p->t->ions->device, "%s", map->name);
}

/* From the first ion on, whatever another map had placed. p->is_doubtful: once more, with a new
 * map. */
static ley_status run_on(placing *p, ions_map *map, ley_error *error)
{
    ions_task *t = p->t;
    ley_ions_report *how = &t->ions->how;
    const double begin_s = ley_clock_s();
    search *s = NULL;
    bool is_alert = false;
    t->ions->count = 0;
    t->charge_e = how->solute_charge_e;
    engine_stay_alert(p->engine, true, &is_alert);
    ley_status status = map->mask(map, &p->spheres, error);
    const double masked_s = ley_clock_s();
    search_options options = {.map = map,
                              .exact = t->exact,
                              .known = p->known,
                              .atoms = t->solute != NULL ? ley_atoms_count(t->solute) : 0,
                              .has_charges = t->solute != NULL && ley_atoms_charge_magnitude_e(t->solute) > 0,
                              .constant = t->constant,
                              .from_A = t->o.from_solute_A,
                              .margin_A = 2 * (t->o.from_solute_A - p->spheres.radius * p->grid.h_A),
                              .near = p->spheres.bins,
                              .is_deferred = map->before != NULL && !p->is_doubtful,
                              .seed = t->o.seed,
                              .cancel = t->o.cancel};
    if (status == LEY_OK)
        status = search_begin(&options, &s, error);
    if (status == LEY_OK)
        status = search_check(s, error);
    if (status == LEY_OK) {
        how->volume_A3 = free_volume(p, search_has_done(s)->free_nodes);
        status = ions_count(t, how->volume_A3, error);
    }
    if (status == LEY_OK)
        status = place_all(p, map, s, error);
    if (status == LEY_OK && !p->is_doubtful) {
        note_counts(p, map, s);
        status = search_check(s, error);
    }
    engine_stay_alert(p->engine, false, &is_alert);
    search_end(s);
    how->mask_s += masked_s - begin_s; /* of all maps that are tried */
    how->placing_s += ley_clock_s() - masked_s;
    return status;
}

/* ---- On devices ------------------------------------------------------------------------------ */

static ley_status place_on_device(placing *p, dev *device)
{
    device_map *map = NULL;
    ley_status status = device_map_create(device, &p->grid, p->bricks, p->table, &map, &p->error);
    if (status == LEY_OK)
        status = run_on(p, device_map_get(map), &p->error);
    device_map_destroy(map);
    return status;
}

static void run_on_device(worker *w, void *context)
{
    placing *p = context;
    if (w != p->wanted)
        return;
    if (w->device == NULL) {
        p->status = ley_fail(&p->error, LEY_ERROR_DEVICE, "the device is gone");
        return;
    }
    p->is_doubtful = false;
    p->status = place_on_device(p, w->device);
    if (p->status == LEY_OK && p->is_doubtful)
        p->status = place_on_device(p, w->device);
    if (p->status == LEY_ERROR_WRONG_RESULT)
        kernels_distrust(w->device);
}

static void leave(worker *w, void *context)
{
    placing *p = context;
    p->is_left = true;
    ley_error_clear(&p->error);
    ley_error_copy(&p->error, &w->open_error);
    p->status = LEY_ERROR_DEVICE;
}

/* Whether another device, or the host, may do better. */
static bool may_be_tried_again(ley_status status)
{
    return status == LEY_ERROR_DEVICE || status == LEY_ERROR_NO_DEVICE || status == LEY_ERROR_WRONG_RESULT;
}

static bool is_wanted(const ions_task *t, const worker *w)
{
    return t->o.placing == LEY_PLACE_DEVICE || (t->o.placing == LEY_PLACE_AUTO && w->info->device_class == DEV_GPU);
}

/* True: it is done, or failed for good, as the status says. */
static bool try_devices(placing *p, ley_engine *engine, ley_status *status, ley_error *error)
{
    static const engine_task task = {.run = run_on_device, .left = leave};
    for (size_t i = 0; engine != NULL && i < engine->worker_count && !p->is_left; i++) {
        p->engine = engine;
        p->wanted = &engine->workers[i];
        if (!is_wanted(p->t, p->wanted) || worker_device(p->wanted) == NULL)
            continue;
        p->status = LEY_OK;
        ley_error_clear(&p->error);
        engine_run(engine, 0, &task, p);
        *status = p->status;
        if (!may_be_tried_again(p->status)) {
            if (p->status != LEY_OK && error != NULL)
                ley_error_copy(error, &p->error);
            return true;
        }
        log_say(LEY_LOG_WARNING, "ions are placed without %s: %s", p->wanted->info->name, p->error.message);
    }
    return false;
}

/* ---- The grid -------------------------------------------------------------------------------- */

/* From so far below the lowest coordinates to as far beyond the highest. */
static void lay_around(const ley_atoms *atoms, double spacing_A, double padding_A, ley_grid *grid)
{
    double low_A[3], high_A[3];
    ley_atoms_bounds_A(atoms, low_A, high_A);
    *grid = (ley_grid){.step_A = LEY_STEPS(spacing_A, spacing_A, spacing_A)};
    for (int axis = 0; axis < 3; axis++) {
        grid->origin_A[axis] = low_A[axis] - padding_A;
        grid->n[axis] = (int64_t)fmin(ceil((high_A[axis] + padding_A - grid->origin_A[axis]) / spacing_A), 1e9) + 1;
    }
}

static ley_status choose_grid(const ions_task *t, ley_grid *grid, ley_error *error)
{
    const ley_grid_options *o = &t->request.grid;
    const bool *periodic = t->request.potential.periodic;
    const double(*cell_A)[3] = (const double(*)[3])t->request.potential.cell_A;
    const bool is_cell = ley_grid_is_cell(o, periodic, cell_A);
    const bool is_one_spacing = o->spacing_A[0] == o->spacing_A[1] && o->spacing_A[0] == o->spacing_A[2];
    ley_status status = ley_grid_options_check(o, periodic, cell_A, error);
    if (status != LEY_OK)
        return status;
    if (t->cell.dimensions > 0 && !is_cell)
        return ley_fail(error, LEY_ERROR_USAGE,
                        "in a periodic cell the grid is the cell's own: leave out padding, length and centre");
    if (!is_cell && (o->given & ~(unsigned)(LEY_GIVEN_SPACING | LEY_GIVEN_PADDING)) == 0 && is_one_spacing)
        lay_around(t->atoms, o->spacing_A[0], o->padding_A, grid);
    else
        status = ley_grid_choose(o, t->atoms, periodic, cell_A, grid, error);
    return status == LEY_OK ? ley_grid_check(grid, error) : status;
}

static ley_status check_memory(const placing *p, ley_error *error)
{
    const double nodes = (double)ley_grid_points(&p->grid.grid) * sizeof(float);
    const memory_need needs[] = {
        {"the potential on the grid", nodes, "a larger spacing or less padding"},
        {"its bricks", (double)p->grid.brick_count * BRICK_NODES * sizeof(float), "a larger spacing or less padding"},
        {"what an ion adds in a periodic cell", p->grid.is_periodic ? nodes : 0, "a larger spacing"}};
    return memory_check(needs, sizeof needs / sizeof *needs, error);
}

/* ---- What there is to search ----------------------------------------------------------------- */

static ley_status make_exact(placing *p, ley_error *error)
{
    ions_task *t = p->t;
    double low_A[3], high_A[3];
    const double *near_A[3];
    const int64_t *n = p->grid.n;
    ions_grid_box(&p->grid, (const int64_t[3]){0, 0, 0}, (const int64_t[3]){n[0] - 1, n[1] - 1, n[2] - 1}, low_A,
                  high_A);
    const exact_options options = {.atoms = t->solute,
                                   .origin_A = p->grid.grid.origin_A,
                                   .low_A = low_A,
                                   .high_A = high_A,
                                   .from_A = t->o.from_solute_A,
                                   .cell = &t->cell,
                                   .is_square = t->o.distance_dielectric,
                                   .points = 1000};
    ley_status status = exact_create(&options, &t->exact, error);
    if (status != LEY_OK)
        return status;
    const size_t near = exact_near(t->exact, &near_A[0], &near_A[1], &near_A[2]);
    return ions_spheres_make(&p->grid, near, near_A, t->o.from_solute_A, &p->spheres, error);
}

static ley_status make_map(ions_task *t, const ley_grid *grid, const ley_atoms *atoms, ley_map **map, ley_error *error)
{
    ley_status status = ley_map_create(grid, map, error);
    if (status != LEY_OK)
        return status;
    if (atoms != NULL && ley_atoms_charge_magnitude_e(atoms) > 0)
        return ions_potential(t, atoms, (ley_target){.map = *map}, error);
    memset(ley_map_values(*map), 0, (size_t)ley_grid_points(grid) * sizeof(float));
    return LEY_OK;
}

static ley_status make_bricks(placing *p, ley_error *error)
{
    ley_map *map = NULL;
    const size_t bytes = (size_t)p->grid.brick_count * BRICK_NODES * sizeof *p->bricks;
    ley_status status = make_map(p->t, &p->grid.grid, p->t->solute, &map, error);
    if (status == LEY_OK) {
        p->bricks = memory_in_large_pages((int64_t)bytes);
        if (p->bricks == NULL)
            status = ley_fail_memory(error, bytes, "the potential in bricks");
        else
            ions_bricks_fill(&p->grid, ley_map_read_values(map), p->bricks);
    }
    ley_map_destroy(map);
    return status;
}

/* What a charge of 1 adds, with all images: as effects have it, times h / C. */
static ley_status make_table(placing *p, ley_error *error)
{
    static const double unit_e = 1;
    const size_t n = (size_t)ley_grid_points(&p->grid.grid);
    ley_atoms *unit = NULL;
    ley_map *map = NULL;
    const double rms = p->t->potential_rms;
    const char *method = p->t->method;
    ley_status status = ley_atoms_create(1, p->grid.grid.origin_A, &unit_e, NULL, &unit, error);
    if (status == LEY_OK)
        status = make_map(p->t, &p->grid.grid, unit, &map, error);
    if (status == LEY_OK) {
        p->table = malloc(n * sizeof *p->table);
        if (p->table == NULL)
            status = ley_fail_memory(error, n * sizeof *p->table, "what an ion adds in a periodic cell");
    }
    for (size_t i = 0; i < n && status == LEY_OK; i++)
        p->table[i] = (float)((double)ley_map_read_values(map)[i] * p->grid.h_A / p->t->constant);
    p->t->potential_rms = rms;
    p->t->method = method != NULL ? method : p->t->method;
    ley_map_destroy(map);
    ley_atoms_destroy(unit);
    return status;
}

/* ---- All of it ------------------------------------------------------------------------------- */

static ley_status place_on_host(placing *p, ley_error *error)
{
    host_map map;
    const size_t bytes = (size_t)p->grid.brick_count * BRICK_NODES * sizeof *p->bricks;
    float *own = p->bricks;
    if (p->is_left) { /* a driver may be reading these */
        own = malloc(bytes);
        if (own == NULL)
            return ley_fail_memory(error, bytes, "the potential in bricks");
        memcpy(own, p->bricks, bytes);
    }
    host_map_make(&p->grid, own, p->table, &map);
    p->engine = NULL;
    parallel_stay_alert(true);
    const ley_status status = run_on(p, &map.map, error);
    parallel_stay_alert(false);
    if (own != p->bricks)
        free(own);
    return status;
}

static void end(placing *p)
{
    ions_known_destroy(p->known);
    ley_error_clear(&p->error);
    if (p->is_left) {
        dev_keep(p->bricks);
        dev_keep(p->table);
        dev_keep(p->spheres.in_nodes);
        dev_keep(p->spheres.bins);
        dev_keep(p);
        return;
    }
    free(p->bricks);
    free(p->table);
    ions_spheres_free(&p->spheres);
    free(p);
}

static ley_status prepare(placing *p, ley_error *error)
{
    ions_task *t = p->t;
    ley_grid grid;
    const double begin_s = ley_clock_s();
    ley_status status = choose_grid(t, &grid, error);
    if (status == LEY_OK)
        status = ions_grid_make(&grid, t->o.between_A, t->cell.dimensions > 0, &p->grid, error);
    p->grid.is_square = t->o.distance_dielectric;
    if (status == LEY_OK)
        status = check_memory(p, error);
    if (status == LEY_OK)
        status = make_bricks(p, error);
    if (status == LEY_OK && p->grid.is_periodic)
        status = make_table(p, error);
    t->ions->how.potential_s = ley_clock_s() - begin_s;
    if (status == LEY_OK)
        status = make_exact(p, error);
    if (status == LEY_OK)
        status = ions_known_create(&p->known, error);
    t->ions->how.grid = p->grid.grid;
    t->ions->how.nodes = status == LEY_OK ? ley_grid_points(&p->grid.grid) : 0;
    return status;
}

ley_status ions_place_nodes(ions_task *t, ley_error *error)
{
    placing *p = calloc(1, sizeof *p);
    if (p == NULL)
        return ley_fail_memory(error, sizeof *p, "the ions");
    p->t = t;
    ley_status status = prepare(p, error);
    if (status == LEY_OK && t->o.placing == LEY_PLACE_DEVICE && t->engine == NULL && t->opened == NULL)
        status = ley_engine_create(NULL, &t->opened, error);
    ley_engine *engine = t->engine != NULL ? t->engine : t->opened;
    if (status == LEY_OK && !try_devices(p, engine, &status, error))
        status = place_on_host(p, error);
    end(p);
    return status;
}
