/* A basis as code for gaussians.cl: the exponents and angular momenta of each kind of centre, once,
 * and how many centres of which kind there are. */
#ifndef LEY_WAVEFUNCTION_CODE_H
#define LEY_WAVEFUNCTION_CODE_H

#include "methods/wavefunction/expansion.h"

typedef struct basis_code {
    int32_t kinds;
    int32_t *kind_of; /* [centres of the expansion] */
    int32_t *counts;  /* [kinds]: centres */
    char *text;       /* the line that defines LEY_BASIS_CODE, for the kernel */
    int64_t gaussians;
} basis_code;

/* Two bases of the same kinds have the same text, whatever the molecules. Errors:
 * LEY_ERROR_MEMORY. */
ley_status basis_code_create(const expansion *e, basis_code *made, ley_error *error);
void basis_code_destroy(basis_code *code);

/* Whether it is short enough for compilers. */
bool basis_code_is_short(const basis_code *code);

/* A few centres of each kind, at places of its own, with `orbitals` made-up orbitals: what a kernel
 * is tested with that was compiled from the code. Errors: LEY_ERROR_MEMORY. */
ley_status basis_code_sample(const expansion *e, const basis_code *code, int orbitals, ley_wavefunction **sample,
                             ley_error *error);

#endif
