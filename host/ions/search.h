/* Finds, ion by ion, the node of least energy in a map, whatever it is that searches it.
 *
 * Bricks know their least and largest value as of some ion; how much ions since then can have
 * changed these follows from their distances. Only bricks that may have the best node are brought
 * up to date. What the map's error leaves open is decided among all nodes that may be best, by
 * sums in double precision. Where one node alone may be best there is nothing to decide: if the
 * search can be done again, such nodes are summed together at its end, which shows whether the
 * error was as was thought. */
#ifndef LEY_IONS_SEARCH_H
#define LEY_IONS_SEARCH_H

#include "ions/search_parts.h"

/* Leaves out what is near the solute, and looks at all bricks. */
ley_status search_begin(const search_options *options, search **made, ley_error *error);

/* The best node for a charge, by its number, where an ion is from then on; -1: there is none. */
ley_status search_place(search *s, double charge_e, int64_t *node, ley_error *error);

/* Sums all ions that have not been. False: the map was off by so much more than was thought that
 * other nodes may be better, or one of them is to be left out: all is to be done again, each ion
 * summed at once. */
ley_status search_settle(search *s, bool *is_right, ley_error *error);

/* Of an ion, by its order, after that; kcal/mol. */
double search_energy(const search *s, size_t ion);

const search_counts *search_has_done(const search *s);
void search_end(search *s);

/* Of equals, in their order, the one that the seed means for this ion; 0: the first. */
size_t search_choice(int64_t seed, size_t ion, size_t count);

/* For tests: searches take this for what the map is off by at first, kcal/mol/e, and look at so
 * many bricks at first; negative, and 0: as usual. How many searches have begun since. */
void search_assume(double delta, size_t bricks);
int search_begun(void);

#endif
