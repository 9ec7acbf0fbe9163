#include "long_range/solver.h"

#include <stdio.h>

ley_status solver_ready(solver *s, dev *device, const hierarchy *h, const transfer_wish *wish, int sum,
                        const fft_wish *fft, ley_error *error)
{
    *s = (solver){.kind = h->solver};
    return s->kind == HIERARCHY_FFT ? spectral_ready(&s->spectral, device, h, wish, fft, error)
                                    : cycle_ready(&s->cycle, device, h, wish, sum, fft, false, error);
}

ley_status solver_foresee(solver *s, dev *device, const hierarchy *h, const transfer_wish *wish, int sum,
                          const fft_wish *fft, ley_error *error)
{
    *s = (solver){.kind = h->solver};
    return s->kind == HIERARCHY_FFT ? spectral_foresee(&s->spectral, device, h, wish, fft, error)
                                    : cycle_ready(&s->cycle, device, h, wish, sum, fft, true, error);
}

ley_status solver_load(solver *s, const spread *atoms, ley_error *error)
{
    return s->kind == HIERARCHY_FFT ? spectral_load(&s->spectral, atoms, error) : cycle_load(&s->cycle, atoms, error);
}

void solver_run(const solver *s, work *w)
{
    if (s->kind == HIERARCHY_FFT)
        spectral_run(&s->spectral, w);
    else
        cycle_run(&s->cycle, w);
}

double solver_seconds(const solver *s, size_t atoms)
{
    return s->kind == HIERARCHY_FFT ? spectral_seconds(&s->spectral, atoms) : cycle_seconds(&s->cycle, atoms);
}

double solver_bytes(const solver *s, double *largest)
{
    return s->kind == HIERARCHY_FFT ? spectral_bytes(&s->spectral, largest) : cycle_bytes(&s->cycle, largest);
}

const spectral *solver_spectral(const solver *s)
{
    return s->kind == HIERARCHY_FFT ? &s->spectral : s->kind == HIERARCHY_MIXED ? &s->cycle.spectral : NULL;
}

double solver_prepare_s(const solver *s)
{
    const spectral *by = solver_spectral(s);
    return by != NULL ? by->fft.prepared_s : 0;
}

void solver_describe(const solver *s, char *text, size_t size)
{
    const spectral *by = solver_spectral(s);
    const int levels = by == NULL                   ? s->cycle.hierarchy->levels
                       : s->kind == HIERARCHY_MIXED ? s->cycle.hierarchy->levels - 1
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
    return s->kind == HIERARCHY_FFT ? &s->spectral.transfer : &s->cycle.transfer;
}

void solver_learn(const solver *s, const work_times *times)
{
    if (s->kind == HIERARCHY_FFT)
        spectral_learn(&s->spectral, times);
    else
        cycle_learn(&s->cycle, times);
}

void solver_cancel_by(solver *s, const atomic_bool *cancelled)
{
    s->cycle.cancelled = s->cycle.spectral.cancelled = s->spectral.cancelled = cancelled;
}

void solver_take_long_waves(solver *s, long_waves_source from)
{
    s->spectral.long_waves = from;
}

void solver_unload(solver *s)
{
    if (s->kind == HIERARCHY_FFT)
        room_clear(&s->spectral.room);
    else
        cycle_unload(&s->cycle);
}

size_t solver_lent_bytes(const solver *s)
{
    return s->kind == HIERARCHY_FFT ? spectral_lent_bytes(&s->spectral) : cycle_lent_bytes(&s->cycle);
}

ley_status solver_borrow(solver *s, ley_error *error)
{
    return s->kind == HIERARCHY_FFT ? spectral_borrow(&s->spectral, error) : cycle_borrow(&s->cycle, error);
}

void solver_end(solver *s)
{
    if (s->kind == HIERARCHY_FFT)
        spectral_end(&s->spectral);
    else
        cycle_end(&s->cycle);
}

const transfer_lattices *solver_lattices(const solver *s)
{
    return s->kind == HIERARCHY_FFT ? &s->spectral.lattices : &s->cycle.lattices;
}

const places_array *solver_array(const solver *s)
{
    return s->kind == HIERARCHY_FFT ? &s->spectral.arrays[0] : &s->cycle.arrays[0];
}

buffer_of_float solver_potentials(const solver *s)
{
    return s->kind == HIERARCHY_FFT ? s->spectral.potentials : s->cycle.potentials;
}

room *solver_room(solver *s)
{
    return s->kind == HIERARCHY_FFT ? &s->spectral.room : &s->cycle.room;
}

transfer_atoms *solver_atoms(solver *s)
{
    return s->kind == HIERARCHY_FFT ? &s->spectral.atoms : &s->cycle.atoms;
}
