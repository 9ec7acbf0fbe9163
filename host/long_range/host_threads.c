#include "long_range/host_threads.h"

#include "clock.h"
#include "device.h"
#include "error.h"
#include "numerics/expected_error.h"
#include "parallel.h"

#include <stdlib.h>
#include <string.h>

static ley_status spread_some(const host_threads *b, host_threads_spread some, spread **made, ley_error *error)
{
    const size_t n = ley_atoms_count(b->atoms);
    const double *position_A = ley_atoms_positions_A(b->atoms), *charge_e = ley_atoms_charges_e(b->atoms);
    *made = calloc(1, sizeof **made);
    if (*made == NULL)
        return ley_fail_memory(error, sizeof **made, "the atoms");
    const ley_status status =
        some.layers.end > 0
            ? spread_make_layers(some.meshes, some.layers, n, position_A, charge_e, b->cancelled, *made, error)
            : spread_make(some.meshes, n, position_A, charge_e, b->cancelled, *made, error);
    (*made)->total_e = ley_atoms_total_charge_e(b->atoms); /* the molecule's, of which these may be a part */
    return status;
}

static void *spread_atoms(void *context)
{
    host_threads *b = context;
    const double start_s = ley_clock_s();
    b->spread_status = spread_some(b, b->some, &b->spread, &b->spread_error);
    b->spread_s = ley_clock_s() - start_s;
    return NULL;
}

/* Of transforms of n nodes, to those that there are. */
static void add_long_waves(host_threads *b, const int64_t n[3])
{
    host_threads_waves *w = calloc(1, sizeof *w);
    if (b->long_charges.values_e == NULL && b->long_status == LEY_OK)
        b->long_status =
            long_charges_make(b->meshes, ley_atoms_count(b->atoms), ley_atoms_positions_A(b->atoms),
                              ley_atoms_charges_e(b->atoms), b->cancelled, &b->long_charges, &b->long_error);
    if (w == NULL && b->long_status == LEY_OK)
        b->long_status = ley_fail_memory(&b->long_error, sizeof *w, "long waves");
    if (b->long_status == LEY_OK)
        b->long_status = long_wavelengths_make(b->meshes, n, &b->long_charges, b->cancelled, &w->made, &b->long_error);
    if (b->long_status != LEY_OK) {
        free(w);
        return;
    }
    memcpy(w->n, n, sizeof w->n);
    w->next = b->long_wavelengths;
    b->long_wavelengths = w;
}

static void *make_long_waves(void *context)
{
    host_threads *b = context;
    add_long_waves(b, b->extent);
    return NULL;
}

static void *expect_error(void *context)
{
    host_threads *b = context;
    b->expected = expected_error(b->meshes);
    return NULL;
}

static void *make_influence(void *context)
{
    host_threads *b = context;
    ley_error error = {0};
    hierarchy top;
    hierarchy_top(b->meshes, &top);
    if (kept_spectrum_get(&top, b->extent, &b->is_ended, &b->influence, &error) != LEY_OK)
        b->influence = NULL;
    ley_error_clear(&error);
    return NULL;
}

/* Does it now, where there can be no thread. */
static void begin(host_threads_thread *t, void *(*run)(void *), host_threads *b)
{
    t->is_running = parallel_start(&t->thread, run, b) == 0;
    if (!t->is_running)
        run(b);
}

static void await(host_threads_thread *t)
{
    if (t->is_running)
        pthread_join(t->thread, NULL);
    t->is_running = false;
}

void host_threads_begin(host_threads *b, const hierarchy *meshes, const ley_atoms *atoms, const atomic_bool *cancelled,
                        bool spreads, const host_threads_spread *some, bool long_by_host, const int64_t extent[3])
{
    *b = (host_threads){.meshes = meshes, .atoms = atoms, .cancelled = cancelled, .some = {.meshes = meshes}};
    if (some != NULL)
        b->some = *some;
    pthread_mutex_init(&b->mutex, NULL);
    if (extent != NULL) {
        memcpy(b->extent, extent, sizeof b->extent);
        begin(&b->transforming, make_influence, b);
    }
    if (spreads)
        begin(&b->spreading, spread_atoms, b);
    if (extent != NULL && long_by_host && long_wavelengths_are_wanted(meshes))
        begin(&b->lengthening, make_long_waves, b);
    begin(&b->expecting, expect_error, b);
}

ley_status host_threads_take_atoms(host_threads *b, const spread **atoms, ley_error *error)
{
    pthread_mutex_lock(&b->mutex);
    await(&b->spreading);
    if (b->spread == NULL && b->spread_status == LEY_OK)
        spread_atoms(b);
    *atoms = b->spread;
    const ley_status status = b->spread_status;
    if (status != LEY_OK)
        ley_error_copy(error, &b->spread_error);
    pthread_mutex_unlock(&b->mutex);
    return status;
}

ley_status host_threads_take_all_atoms(host_threads *b, const spread **atoms, ley_error *error)
{
    ley_status status = LEY_OK;
    if (b->some.layers.end == 0)
        return host_threads_take_atoms(b, atoms, error);
    pthread_mutex_lock(&b->mutex);
    if (b->whole == NULL)
        status = spread_some(b, (host_threads_spread){.meshes = b->meshes}, &b->whole, error);
    if (status != LEY_OK) {
        free(b->whole);
        b->whole = NULL;
    }
    *atoms = b->whole;
    pthread_mutex_unlock(&b->mutex);
    return status;
}

static const host_threads_waves *find_long_waves(const host_threads *b, const int64_t n[3])
{
    const host_threads_waves *at = b->long_wavelengths;
    while (at != NULL && memcmp(at->n, n, sizeof at->n) != 0)
        at = at->next;
    return at;
}

static ley_status take_long_waves(void *context, const int64_t n[3], const long_wavelengths **waves, ley_error *error)
{
    host_threads *b = context;
    pthread_mutex_lock(&b->mutex);
    await(&b->lengthening);
    if (b->long_status == LEY_OK && find_long_waves(b, n) == NULL)
        add_long_waves(b, n);
    const host_threads_waves *found = find_long_waves(b, n);
    *waves = found != NULL ? &found->made : NULL;
    const ley_status status = found != NULL ? LEY_OK : b->long_status;
    if (status != LEY_OK)
        ley_error_copy(error, &b->long_error);
    pthread_mutex_unlock(&b->mutex);
    return status;
}

long_wavelengths_source host_threads_long_wavelengths(host_threads *b)
{
    return (long_wavelengths_source){.take = take_long_waves, .context = b};
}

double host_threads_expected_error(host_threads *b)
{
    pthread_mutex_lock(&b->mutex);
    await(&b->expecting);
    pthread_mutex_unlock(&b->mutex);
    return b->expected;
}

static void wait_for_all(host_threads *b)
{
    await(&b->spreading);
    await(&b->expecting);
    await(&b->transforming);
    await(&b->lengthening);
}

/* What follows from where atoms are. */
static void clear_atoms(host_threads *b, bool is_kept)
{
    while (b->long_wavelengths != NULL) {
        host_threads_waves *next = b->long_wavelengths->next;
        long_wavelengths_clear(&b->long_wavelengths->made);
        free(b->long_wavelengths);
        b->long_wavelengths = next;
    }
    long_charges_clear(&b->long_charges);
    spread **const all[] = {&b->spread, &b->whole};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (*all[i] != NULL && is_kept) {
            dev_keep(*all[i]);
        } else if (*all[i] != NULL) {
            spread_clear(*all[i]);
            free(*all[i]);
        }
        *all[i] = NULL;
    }
    ley_error_clear(&b->spread_error);
    ley_error_clear(&b->long_error);
    b->spread_status = b->long_status = LEY_OK;
}

void host_threads_renew(host_threads *b, bool spreads, bool long_by_host)
{
    wait_for_all(b);
    clear_atoms(b, false);
    if (spreads)
        begin(&b->spreading, spread_atoms, b);
    if (b->extent[0] > 0 && long_by_host && long_wavelengths_are_wanted(b->meshes))
        begin(&b->lengthening, make_long_waves, b);
}

void host_threads_end(host_threads *b, bool is_kept)
{
    if (b->meshes == NULL) /* it never began */
        return;
    atomic_store(&b->is_ended, true);
    wait_for_all(b);
    clear_atoms(b, is_kept);
    kept_spectrum_give_back(b->influence);
    pthread_mutex_destroy(&b->mutex);
    *b = (host_threads){.meshes = NULL};
}
