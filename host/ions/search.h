/* Finds, ion by ion, the node of least energy in a map, whatever it is that searches it.
 *
 * Bricks know their least and largest value as of some ion; how much ions since then can have
 * changed these follows from their distances. Only bricks that may have the best node are brought
 * up to date. What the map's error leaves open is decided among all nodes that may be best, by
 * sums in double precision. */
#ifndef LEY_IONS_SEARCH_H
#define LEY_IONS_SEARCH_H

#include "ions/bricks.h"
#include "ions/exact.h"

/* What stays where another map takes over: potentials of the solute that were summed already. */
typedef struct ions_known ions_known;
ley_status ions_known_create(ions_known **known, ley_error *error);
void ions_known_destroy(ions_known *known);

typedef struct search_options {
    ions_map *map;
    const ions_exact *exact;
    ions_known *known;
    size_t atoms; /* of the solute, whose charges may be all 0: */
    bool has_charges;
    double constant;         /* C, kcal A/mol/e^2 */
    double from_A, margin_A; /* from the solute; nodes so near to its edge may be left out or not */
    int64_t seed;
    const volatile bool *cancel;
} search_options;

typedef struct search search;

typedef struct search_result {
    int64_t node;  /* its number */
    double energy; /* kcal/mol */
} search_result;

/* What it has done. */
typedef struct search_counts {
    int64_t free_nodes, recomputed, undecided, searched;
    double energy_error; /* of the map's energies, kcal/mol */
    double largest;      /* absolute energy */
} search_counts;

/* Leaves out what is near the solute, and looks at all bricks. */
ley_status search_begin(const search_options *options, search **made, ley_error *error);

/* The best node for a charge, where an ion is from then on. LEY_ERROR_INPUT: there is none. */
ley_status search_place(search *s, double charge_e, search_result *result, ley_error *error);

/* Whether some bricks are as they should be: LEY_ERROR_WRONG_RESULT. */
ley_status search_check(search *s, ley_error *error);

const search_counts *search_has_done(const search *s);
void search_end(search *s);

/* Of equals, in their order, the one that the seed means for this ion; 0: the first. */
size_t search_choice(int64_t seed, size_t ion, size_t count);

#endif
