/* What tests of files of maps share. */
#ifndef LEY_TEST_BINARY_MAPS_H
#define LEY_TEST_BINARY_MAPS_H

#include "support.h"

/* Makes an empty working directory for the next test. */
int maps_begin(void **state);
int maps_count_files(void);
void maps_write_bytes(const char *name, const void *bytes, size_t size);

/* A map of values of many sizes and both signs, in kT/e. */
ley_map *maps_make(const ley_grid *grid);
ley_map *maps_read(const char *path);
void maps_assert_same_values(const ley_map *a, const ley_map *b);

/* The grids agree to so many times the longest step. */
void maps_assert_same_grids(const ley_map *a, const ley_map *b, double tolerance);

/* Reading it fails with this message, behind the path. */
void maps_expect_bad(const char *path, const char *message);

/* Writes the map in memory, and one whose planes go to the file in slabs, the last first: the same
 * bytes. Returns what the file holds, for free(). */
char *maps_write_both_ways(const ley_map *map, const char *path, const char *comment, size_t *size);

#endif
