/* Potentials of the solute in double precision, by nodes: they stay if another map takes over. */
#ifndef LEY_IONS_KNOWN_H
#define LEY_IONS_KNOWN_H

#include "ions/exact.h"

typedef struct known_place {
    int64_t number; /* -1: none */
    exact_value value;
} known_place;

typedef struct ions_known ions_known;
ley_status ions_known_create(ions_known **known, ley_error *error);
void ions_known_destroy(ions_known *known);

/* What is known of a node; NULL: nothing is. */
const exact_value *ions_known_at(const ions_known *known, int64_t number);

/* Notes what was not known. Errors: LEY_ERROR_MEMORY. */
ley_status ions_known_add(ions_known *known, int64_t number, const exact_value *value, ley_error *error);

#endif
