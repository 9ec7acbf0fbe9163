#include "long_range/solver.h"

#include "long_range/mesh/mesh_rows.h"

#include <stdio.h>

static buffer_of_float solver_charges(const solver *s)
{
    return s->kind == HIERARCHY_FOURIER ? s->spectral.charges : s->v_cycle.charges;
}

ley_status solver_ready(solver *s, dev *device, const hierarchy *h, const transfer_wish *wish, int sum,
                        const fft_wish *fft, ley_error *error)
{
    *s = (solver){.kind = h->solver};
    return s->kind == HIERARCHY_FOURIER ? spectral_ready(&s->spectral, device, h, wish, fft, error)
                                        : v_cycle_ready(&s->v_cycle, device, h, wish, sum, fft, false, error);
}

ley_status solver_foresee(solver *s, dev *device, const hierarchy *h, const transfer_wish *wish, int sum,
                          const fft_wish *fft, ley_error *error)
{
    *s = (solver){.kind = h->solver};
    return s->kind == HIERARCHY_FOURIER ? spectral_foresee(&s->spectral, device, h, wish, fft, error)
                                        : v_cycle_ready(&s->v_cycle, device, h, wish, sum, fft, true, error);
}

ley_status solver_load(solver *s, const spread *atoms, ley_error *error)
{
    return s->kind == HIERARCHY_FOURIER ? spectral_load(&s->spectral, atoms, error)
                                        : v_cycle_load(&s->v_cycle, atoms, error);
}

void solver_run(const solver *s, command_sequence *w)
{
    if (s->kind == HIERARCHY_FOURIER)
        spectral_run(&s->spectral, w);
    else
        v_cycle_run(&s->v_cycle, w);
}

void solver_take_charges(solver *s, const float *rows)
{
    s->v_cycle.given_charges = s->spectral.given_charges = rows;
}

void solver_await_potentials(solver *s, bool awaits)
{
    s->spectral.awaits_potentials = awaits;
}

void solver_take_potentials(solver *s, const float *rows)
{
    s->spectral.given_potentials = rows;
}

void solver_take_top_potentials(solver *s, const float *rows)
{
    s->v_cycle.top_potentials = rows;
}

static void spread_layers_by(const void *context, command_sequence *w, spread_layers layers)
{
    const solver *s = context;
    if (s->kind == HIERARCHY_LOWER) {
        v_cycle_run_up(&s->v_cycle, w);
        return;
    }
    const transfer_atoms *atoms = s->kind == HIERARCHY_FOURIER ? &s->spectral.atoms : &s->v_cycle.atoms;
    transfer_anterpolate_layers(w, solver_meshes(s), atoms, layers, solver_charges(s));
}

ley_status solver_spread(const solver *s, flight *f, spread_layers layers, float *rows, ley_error *error)
{
    const int level = s->kind == HIERARCHY_LOWER ? s->v_cycle.hierarchy->levels - 1 : 0;
    return mesh_rows_read(f, solver_array(s) + level, layers, solver_charges(s), spread_layers_by, s, rows, error);
}

static void run_by(const void *context, command_sequence *w, spread_layers layers)
{
    (void)layers;
    solver_run(context, w);
}

ley_status solver_run_to_rows(const solver *s, flight *f, float *rows, ley_error *error)
{
    const hierarchy *h = s->kind == HIERARCHY_FOURIER ? s->spectral.hierarchy : s->v_cycle.hierarchy;
    const spread_layers all = {0, spread_layers_of(h)};
    return mesh_rows_read(f, solver_array(s), all, solver_potentials(s), run_by, s, rows, error);
}

double solver_seconds(const solver *s, size_t atoms)
{
    return s->kind == HIERARCHY_FOURIER ? spectral_seconds(&s->spectral, atoms) : v_cycle_seconds(&s->v_cycle, atoms);
}

double solver_bytes(const solver *s, double *largest)
{
    return s->kind == HIERARCHY_FOURIER ? spectral_bytes(&s->spectral, largest) : v_cycle_bytes(&s->v_cycle, largest);
}

const spectral *solver_spectral(const solver *s)
{
    return s->kind == HIERARCHY_FOURIER ? &s->spectral : s->kind == HIERARCHY_MIXED ? &s->v_cycle.spectral : NULL;
}

double solver_prepare_s(const solver *s)
{
    const spectral *by = solver_spectral(s);
    return by != NULL ? by->fft.prepared_s : 0;
}

void solver_describe(const solver *s, char *text, size_t size)
{
    const spectral *by = solver_spectral(s);
    const int levels = by == NULL                   ? s->v_cycle.hierarchy->levels
                       : s->kind == HIERARCHY_MIXED ? s->v_cycle.hierarchy->levels - 1
                                                    : 0;
    size_t used = 0;
    if (levels > 0)
        used = (size_t)snprintf(text, size, "%d level%s by lattice cutoff%s", levels, levels == 1 ? "" : "s",
                                by != NULL ? ", then " : "");
    if (by != NULL && used < size)
        snprintf(text + used, size - used, "transforms of %lld x %lld x %lld by %s%s", (long long)by->n[0],
                 (long long)by->n[1], (long long)by->n[2], by->fft.library, by->fft.tables ? " with tables" : "");
}

const transfer_kernels *solver_kernels(const solver *s)
{
    return s->kind == HIERARCHY_FOURIER ? &s->spectral.transfer : &s->v_cycle.transfer;
}

void solver_learn(const solver *s, const sequence_times *times)
{
    if (s->kind == HIERARCHY_FOURIER)
        spectral_learn(&s->spectral, times);
    else
        v_cycle_learn(&s->v_cycle, times);
}

void solver_cancel_by(solver *s, const atomic_bool *cancelled)
{
    s->v_cycle.cancelled = s->v_cycle.spectral.cancelled = s->spectral.cancelled = cancelled;
}

void solver_take_long_waves(solver *s, long_wavelengths_source from)
{
    s->spectral.long_wavelengths = from;
}

void solver_unload(solver *s)
{
    if (s->kind == HIERARCHY_FOURIER)
        arena_clear(&s->spectral.arena);
    else
        v_cycle_unload(&s->v_cycle);
    *solver_atoms(s) = (transfer_atoms){.count = 0};
}

/* In layers and wires transforms have a wave whose potential is made from the atoms. */
bool solver_looks_at_charges(const solver *s)
{
    const spectral *by = solver_spectral(s);
    return by != NULL && zero_mode_is_needed(by->hierarchy);
}

void solver_unload_atoms(solver *s)
{
    if (solver_looks_at_charges(s))
        solver_unload(s);
    else
        transfer_atoms_free(solver_atoms(s), solver_room(s));
}

ley_status solver_load_atoms(solver *s, const spread *atoms, ley_error *error)
{
    if (solver_looks_at_charges(s))
        return solver_load(s, atoms, error);
    return atoms->at != NULL ? transfer_atoms_create(solver_atoms(s), atoms, solver_room(s), error) : LEY_OK;
}

size_t solver_lent_bytes(const solver *s)
{
    return s->kind == HIERARCHY_FOURIER ? spectral_lent_bytes(&s->spectral) : v_cycle_lent_bytes(&s->v_cycle);
}

ley_status solver_borrow(solver *s, ley_error *error)
{
    return s->kind == HIERARCHY_FOURIER ? spectral_borrow(&s->spectral, error) : v_cycle_borrow(&s->v_cycle, error);
}

void solver_end(solver *s)
{
    if (s->kind == HIERARCHY_FOURIER)
        spectral_end(&s->spectral);
    else
        v_cycle_end(&s->v_cycle);
}

const transfer_meshes *solver_meshes(const solver *s)
{
    return s->kind == HIERARCHY_FOURIER ? &s->spectral.meshes : &s->v_cycle.meshes;
}

const coordinate_table *solver_array(const solver *s)
{
    return s->kind == HIERARCHY_FOURIER ? &s->spectral.arrays[0] : &s->v_cycle.arrays[0];
}

buffer_of_float solver_potentials(const solver *s)
{
    return s->kind == HIERARCHY_FOURIER ? s->spectral.potentials : s->v_cycle.potentials;
}

arena *solver_room(solver *s)
{
    return s->kind == HIERARCHY_FOURIER ? &s->spectral.arena : &s->v_cycle.arena;
}

transfer_atoms *solver_atoms(solver *s)
{
    return s->kind == HIERARCHY_FOURIER ? &s->spectral.atoms : &s->v_cycle.atoms;
}
