/* Averages of some frames, and the maps that come of them. */
#ifndef LEY_TESTS_SOME_AVERAGES_H
#define LEY_TESTS_SOME_AVERAGES_H

#include "some_frames.h"

/* In V, with this sigma; the rest as usual. */
ley_average_options options_of(double sigma_A);

ley_average *average_of(ley_engine *engine, const walk *w, const ley_average_options *o);
ley_map *map_of(ley_average *a, ley_average_quantity quantity);

/* Adds frames [first, end), so many at a time. */
void add_frames(ley_average *a, walk *w, int first, int end, int at_once);

/* All maps, that of the deviation where it is kept; ends the average. */
typedef struct maps {
    ley_map *map[LEY_AVERAGE_COUNT];
} maps;
maps maps_of(ley_average *a, bool deviation);
void destroy_maps(const maps *m);

bool are_same_maps(const maps *a, const maps *b);

/* Ends the latter. */
void assert_same_maps(const maps *a, maps b);

/* In the test's own folder; from malloc. */
char *path_of(const char *name);

#endif
