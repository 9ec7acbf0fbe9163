/* Files: those that a command writes, checked before the work; their sizes; endings of names. */
#ifndef LEYDEN_FILE_H
#define LEYDEN_FILE_H

#include "leyden.h"
#include "options.h"

#include <stdbool.h>
#include <stdint.h>

/* Begins a file that appears only when it is whole. Signals are deferred from here on, and cancel
 * it. */
ley_status file_begin(const char *path, ley_file **file, ley_error *error);

/* Ends one that file_begin() began, by what became of it: puts it in its place, or leaves nothing.
 * Prints errors; exit code. */
int file_end(ley_file *file, ley_status status, ley_error *error);

/* FNV-1a of 64 bits, of no bytes; and of more behind those of a hash. */
#define HASH_OF_NOTHING UINT64_C(0xcbf29ce484222325)
uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size);

/* A file of a command. */
typedef struct named_file {
    const char *path;   /* NULL: there is none */
    const char *what;   /* "map", or "map of a.pqr": what it holds */
    const char *option; /* "--output": a file that is to be written; NULL: one that is read */
} named_file;

/* Can the outputs be written, and is none of them another output or an input? Asked before a long
 * computation. Prints errors; exit code. */
int files_check(const subcommand *command, const named_file *files, size_t n);

/* Of very many files, each of which has been checked with those beside it: whether no output is
 * another output or an input. Prints errors; exit code. */
int files_check_apart(const subcommand *command, const named_file *files, size_t n);

uint64_t file_size(const char *path);                 /* 0 when there is none */
bool ends_with(const char *path, const char *suffix); /* case ignored; something must stand before the suffix */

/* Of maps: whether they can be written under this name; and the path of the header beside them,
 * from malloc, NULL where they have it in themselves. */
bool is_map_name(const char *path);
bool is_atoms_name(const char *path); /* the same of atoms */
char *map_header_path(const char *path);
char *map_header_path_of(const ley_map_format *format, const char *path); /* the same of a format, or NULL */

/* ley_map_read_value(), which says on stderr, unless it shall be quiet, what may be meant
 * otherwise; and the row of a command for the value, a text that may be NULL. */
ley_status map_read(const char *path, const char *value, bool is_quiet, ley_map **map, ley_error *error);
ley_status map_read_with_gaps(const char *path, const char *value, bool is_quiet, ley_map **map, ley_error *error);
#define OPTION_ROW_OF_MAP_VALUE(type) \
    { \
        .name = "value", .kind = OPTION_TEXT, .is_expert = true, .offset = offsetof(type, value), .value = "VALUE", \
        .unset = "the only one", \
        .help = \
            "of a cube file with several values at each point the one of this number, from 1, or of this orbital, " \
            "as orbital_21" \
    }

/* Where an error is that these maps are on different grids, with what to do behind it. */
void map_advise_of_grids(const ley_map *a, const ley_map *b, const char *advice, ley_error *error);

/* Formats of maps, in the words of --format; and an error where one is to go to standard output and
 * has a second file beside it. */
extern const char *const map_format_words[];
int check_one_file(const subcommand *command, const ley_map_format *format, const char *word);

/* Warns where other programs will read the map's file wrongly without a word. */
void map_warn(const ley_map *map, const ley_map_format *format, const char *path);

/* Where a map's name ends and its ending begins. */
size_t map_stem(const char *path);

/* For texts: ".dx, .raw or .mrc, with or without .gz"; "OpenDX (.dx), CCP4 (.ccp4, .map), ...". */
const char *map_endings(void);
const char *map_formats(void);

#endif
