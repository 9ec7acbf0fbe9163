#include "long_range/host_threads.h"

#include "clock.h"
#include "device.h"
#include "error.h"
#include "numerics/expected_error.h"
#include "parallel.h"

#include <stdlib.h>
#include <string.h>

static void *spread_atoms(void *context)
{
    beside *b = context;
    const double start_s = ley_clock_s();
    b->spread = calloc(1, sizeof *b->spread);
    b->spread_status = b->spread == NULL
                           ? ley_fail_memory(&b->spread_error, sizeof *b->spread, "the atoms")
                           : spread_make(b->lattices, ley_atoms_count(b->atoms), ley_atoms_positions_A(b->atoms),
                                         ley_atoms_charges_e(b->atoms), b->cancelled, b->spread, &b->spread_error);
    b->spread_s = ley_clock_s() - start_s;
    return NULL;
}

/* Of transforms of n nodes, to those that there are. */
static void add_long_waves(beside *b, const int64_t n[3])
{
    beside_waves *w = calloc(1, sizeof *w);
    if (b->long_charges.values_e == NULL && b->long_status == LEY_OK)
        b->long_status =
            long_charges_make(b->lattices, ley_atoms_count(b->atoms), ley_atoms_positions_A(b->atoms),
                              ley_atoms_charges_e(b->atoms), b->cancelled, &b->long_charges, &b->long_error);
    if (w == NULL && b->long_status == LEY_OK)
        b->long_status = ley_fail_memory(&b->long_error, sizeof *w, "long waves");
    if (b->long_status == LEY_OK)
        b->long_status = long_waves_make(b->lattices, n, &b->long_charges, b->cancelled, &w->made, &b->long_error);
    if (b->long_status != LEY_OK) {
        free(w);
        return;
    }
    memcpy(w->n, n, sizeof w->n);
    w->next = b->long_waves;
    b->long_waves = w;
}

static void *make_long_waves(void *context)
{
    beside *b = context;
    add_long_waves(b, b->extent);
    return NULL;
}

static void *expect_error(void *context)
{
    beside *b = context;
    b->expected = expected_error(b->lattices);
    return NULL;
}

static void *make_influence(void *context)
{
    beside *b = context;
    ley_error error = {0};
    hierarchy top;
    hierarchy_top(b->lattices, &top);
    if (kept_spectrum_get(&top, b->extent, &b->is_ended, &b->influence, &error) != LEY_OK)
        b->influence = NULL;
    ley_error_clear(&error);
    return NULL;
}

/* Does it now, where there can be no thread. */
static void begin(beside_thread *t, void *(*run)(void *), beside *b)
{
    t->is_running = parallel_start(&t->thread, run, b) == 0;
    if (!t->is_running)
        run(b);
}

static void await(beside_thread *t)
{
    if (t->is_running)
        pthread_join(t->thread, NULL);
    t->is_running = false;
}

void beside_begin(beside *b, const hierarchy *lattices, const ley_atoms *atoms, const atomic_bool *cancelled,
                  bool spreads, bool long_by_host, const int64_t extent[3])
{
    *b = (beside){.lattices = lattices, .atoms = atoms, .cancelled = cancelled};
    pthread_mutex_init(&b->mutex, NULL);
    if (extent != NULL) {
        memcpy(b->extent, extent, sizeof b->extent);
        begin(&b->transforming, make_influence, b);
    }
    if (spreads)
        begin(&b->spreading, spread_atoms, b);
    if (extent != NULL && long_by_host && long_waves_are_wanted(lattices))
        begin(&b->lengthening, make_long_waves, b);
    begin(&b->expecting, expect_error, b);
}

ley_status beside_take_atoms(beside *b, const spread **atoms, ley_error *error)
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

static const beside_waves *find_long_waves(const beside *b, const int64_t n[3])
{
    const beside_waves *at = b->long_waves;
    while (at != NULL && memcmp(at->n, n, sizeof at->n) != 0)
        at = at->next;
    return at;
}

static ley_status take_long_waves(void *context, const int64_t n[3], const long_waves **waves, ley_error *error)
{
    beside *b = context;
    pthread_mutex_lock(&b->mutex);
    await(&b->lengthening);
    if (b->long_status == LEY_OK && find_long_waves(b, n) == NULL)
        add_long_waves(b, n);
    const beside_waves *found = find_long_waves(b, n);
    *waves = found != NULL ? &found->made : NULL;
    const ley_status status = found != NULL ? LEY_OK : b->long_status;
    if (status != LEY_OK)
        ley_error_copy(error, &b->long_error);
    pthread_mutex_unlock(&b->mutex);
    return status;
}

long_waves_source beside_long_waves(beside *b)
{
    return (long_waves_source){.take = take_long_waves, .context = b};
}

double beside_expected_error(beside *b)
{
    pthread_mutex_lock(&b->mutex);
    await(&b->expecting);
    pthread_mutex_unlock(&b->mutex);
    return b->expected;
}

void beside_end(beside *b, bool is_kept)
{
    if (b->lattices == NULL) /* it never began */
        return;
    atomic_store(&b->is_ended, true);
    await(&b->spreading);
    await(&b->expecting);
    await(&b->transforming);
    await(&b->lengthening);
    while (b->long_waves != NULL) {
        beside_waves *next = b->long_waves->next;
        long_waves_clear(&b->long_waves->made);
        free(b->long_waves);
        b->long_waves = next;
    }
    long_charges_clear(&b->long_charges);
    kept_spectrum_give_back(b->influence);
    if (b->spread != NULL && is_kept) {
        dev_keep(b->spread);
    } else if (b->spread != NULL) {
        spread_clear(b->spread);
        free(b->spread);
    }
    ley_error_clear(&b->spread_error);
    ley_error_clear(&b->long_error);
    pthread_mutex_destroy(&b->mutex);
    *b = (beside){.lattices = NULL};
}
