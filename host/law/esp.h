/* The electrostatic potential of a molecule at a point, of its nuclei and its electrons, and its
 * field, in plain double precision: the judge of the kernel. It knows neither Boys' function nor
 * Hermite Gaussians, by which the kernel computes. */
#ifndef LEY_LAW_ESP_H
#define LEY_LAW_ESP_H

#include "law/wavefunction.h"

/* Its row for verification. What is absolute is the value's magnitude and the root of the sum of
 * squares of what nuclei and pairs of primitives add, of pairs of a degree L > 6 2^(L - 6) times
 * that: that is how floats are off. A nucleus counts as one with those pairs around it that are
 * multipoles at the point: far from a molecule so do atoms, whose electrons make up for their
 * nuclei. Of the field the same, of the lengths of what they add. */
extern const law law_esp;

/* The values at n points, bohr, in hartree/e: of a quantity's derivative 0 the potential, of 1 to 3
 * the field along x, y, z, less the potential's derivative, in hartree/(e bohr). The weights are
 * there. */
void esp_values(const wavefunction_quantity *q, size_t n, const double (*point_bohr)[3], reference_value *values);

#endif
