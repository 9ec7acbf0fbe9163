/* The basis and the orbitals behind ley_wavefunction. */
#ifndef LEY_SOURCE_WAVEFUNCTION_H
#define LEY_SOURCE_WAVEFUNCTION_H

#include "leyden.h"
#include "source/basis.h"

typedef struct basis_shell {
    int32_t atom, l;
    bool is_pure;
    int64_t first_primitive, primitives;
    int64_t first_function;
} basis_shell;

struct ley_wavefunction {
    ley_wavefunction_arrays arrays; /* of its own */
    ley_atoms *atoms;
    int64_t functions;
    basis_shell *shells;
};

/* How an orbital counts in the density of both spins, or in alpha's less beta's. Errors:
 * LEY_ERROR_USAGE where an orbital of both spins is neither empty, single nor double, and nobody
 * knows its spin. */
ley_status wavefunction_weight(const ley_wavefunction *wavefunction, int64_t orbital, bool is_spin, double *weight,
                               ley_error *error);

#endif
