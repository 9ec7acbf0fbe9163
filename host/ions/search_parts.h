/* What a search is made of, and what it and its checks have in common. */
#ifndef LEY_IONS_SEARCH_PARTS_H
#define LEY_IONS_SEARCH_PARTS_H

#include "ions/bounds.h"
#include "ions/exact.h"
#include "ions/known.h"

/* Bricks that are checked at the solute's edge, and of all; nodes that they have at most; one row
 * of so many. */
enum { CHECKED = 2, CHECKED_NODES = 2 * CHECKED * BRICK_NODES, CHECKED_ROWS = 8 };

typedef struct search_options {
    ions_map *map;
    const ions_exact *exact;
    ions_known *known;
    size_t atoms; /* of the solute, whose charges may be all 0: */
    bool has_charges;
    double constant;         /* C, kcal A/mol/e^2 */
    double from_A, margin_A; /* from the solute; nodes so near to its edge may be left out or not */
    const bins *near;        /* what exact_near() has */
    bool is_deferred;        /* ions may be summed at the end, and the search done again */
    int64_t seed;
    const volatile bool *cancel;
} search_options;

typedef struct search search;

/* What it has done. */
typedef struct search_counts {
    int64_t free_nodes, recomputed, undecided, searched;
    double energy_error;    /* of the map's energies, kcal/mol */
    double largest;         /* absolute energy */
    int64_t updates, lists; /* of the map, and how long they took */
    double updates_s, lists_s;
} search_counts;

typedef struct candidate {
    int64_t number, node[3];
    double place_A[3];
    double found;           /* the map's potential */
    double exact, absolute; /* the potential */
    size_t ions;            /* so many are there */
    bool is_left_out;
} candidate;

typedef struct placed_ion {
    double charge_e;
    candidate at;
    double energy, delta, gap; /* any other node is better only if the map is off by more than the gap */
    bool is_open;              /* the energy is not known yet; by delta the potential may be off */
} placed_ion;

struct search {
    search_options o;
    const ions_grid *g;
    search_counts done;
    double delta;  /* how far the map's potential may be off, kcal/mol/e */
    double box[3]; /* extent of the grid, A: of the images that matter */

    brick_bounds bounds;
    /* Of bricks, as they were at a version. */
    ions_record *records;
    int32_t *versions;
    int32_t *fresh; /* those that are up to date, at this version */
    size_t fresh_count;

    ions_effect *effects;
    size_t effect_count, effect_room;
    int32_t *ends; /* [version]: effects up to it */
    int32_t version, version_room;
    placed_ion *ions;
    size_t ion_count, ion_room, looked_at; /* looked_at: those that sum_some() has done with */

    /* For one update or list. */
    ions_work *work;
    ions_record *news;
    int32_t *chosen;
    ions_found *found;
    size_t most_found;
};

/* Brings the chosen bricks up to date. */
ley_status search_update(search *s, size_t count, ley_error *error);

/* A node of a brick, with the map's value. */
candidate search_candidate(const search *s, int64_t brick, int local, float found);

/* A map's value is its first one and what was added, but for rounding; else it was wrongly
 * computed. */
ley_status search_check_found(const search *s, const candidate *c, ley_error *error);

#endif
