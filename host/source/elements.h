/* Elements: by the names of atoms, and their standard atomic weights. */
#ifndef LEY_SOURCE_ELEMENTS_H
#define LEY_SOURCE_ELEMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The atomic number that the name of an atom stands for, as force fields and PDB files name atoms:
 * CA is carbon, as 1HB is hydrogen; but where its residue has the same name, as those of ions have,
 * CA is calcium. 0: it says nothing. */
int32_t element_of_name(const char *name, size_t length, bool is_residue);

#endif
