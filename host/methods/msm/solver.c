#include "methods/msm/solver.h"

ley_status solver_ready(solver *s, dev *device, const hierarchy *h, const transfer_wish *wish, int sum,
                        const fft_wish *fft, ley_error *error)
{
    *s = (solver){.kind = h->solver};
    return s->kind == HIERARCHY_FFT ? spectral_ready(&s->spectral, device, h, wish, fft, error)
                                    : cycle_ready(&s->cycle, device, h, wish, sum, error);
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

void solver_learn(const solver *s, const work_times *times)
{
    if (s->kind == HIERARCHY_FFT)
        spectral_learn(&s->spectral, times);
    else
        cycle_learn(&s->cycle, times);
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
