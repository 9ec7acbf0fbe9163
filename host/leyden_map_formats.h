/* leyden: files of maps by their names: what formats there are, and maps that are files from the
 * beginning. leyden.h, which has the conventions, includes this. docs/formats.md has the
 * layouts. */
#ifndef LEYDEN_H
#include "leyden.h"
#elif !defined(LEYDEN_MAP_FORMATS_H)
#define LEYDEN_MAP_FORMATS_H

#ifdef __cplusplus
extern "C" {
#endif

/* A format of map files. */
typedef struct ley_map_format {
    const char *name;           /* "OpenDX" */
    const char *const *endings; /* of names, in any case: ".mrc"; NULL behind the last. With ".gz" behind
                                 * it the file is packed by gzip */
    const char *beside;         /* what a second file beside it has behind its name: ".json"; NULL: there is none */
    bool keeps_atoms;           /* it lists the molecule's atoms, where these are known */
    bool keeps_facts;           /* it has a place for facts that ley_map_write() is given, or makes use of some */
    bool is_streamed;           /* planes go to its file while they are computed: ley_map_create_file() */
    int64_t front_bytes;        /* of such a file, in front of its values, which are float32 */
    const char *misread_by; /* programs that place oblique grids of it wrongly without a word; NULL: none is known */
} ley_map_format;

/* The formats, i from 0; NULL behind the last. */
LEY_API const ley_map_format *ley_map_format_at(size_t i);

/* All their endings, in words: ".dx, .raw or .mrc, with or without .gz". */
#define LEY_MAP_ENDINGS 128
LEY_API void ley_map_format_endings(char text[LEY_MAP_ENDINGS]);

/* The one that a name's ending asks for, packed or not, and where in `path` the ending begins;
 * NULL: none. `ending` may be NULL. */
LEY_API const ley_map_format *ley_map_format_of(const char *path, const char **ending);

/* The one of a file that is there, as ley_map_read() finds it; of a pipe, or of what cannot be
 * read, by its name. NULL: it is no map. */
LEY_API const ley_map_format *ley_map_format_found(const char *path);

/* The one that has this ending, said without its point: "mrc"; NULL: none. */
LEY_API const ley_map_format *ley_map_format_named(const char *word);

/* Whether there are programs that read files of this format wrongly where they have this grid, and
 * which, as a sentence in `text`. */
LEY_API bool ley_map_format_remark(const ley_map_format *format, const ley_grid *grid, char *text, size_t size);

/* The molecule that a map is of, for formats that hold one, as cube files do; NULL: none. It is not
 * copied, and must be there until the map has been written. */
LEY_API void ley_map_set_atoms(ley_map *map, const ley_atoms *atoms);

/* Reads a map, plain or packed by gzip, of a file, a pipe or standard input. Its content says which
 * format it has; where that says nothing, as of raw maps, the ending of the name does, and a text
 * of an unknown ending is taken for OpenDX. Errors: LEY_ERROR_FILE, or LEY_ERROR_INPUT with "file:
 * what" or "file:line: what". */
LEY_API ley_status ley_map_read(const char *path, ley_map **map, ley_error *error);

/* The same of files with several values at each point, as cube files of several orbitals have,
 * which ley_map_read() refuses: the value of this number, "1" the first one, or of this orbital,
 * "orbital_21". NULL: the only one. Errors: LEY_ERROR_USAGE where files of this format have no
 * value but "1". */
LEY_API ley_status ley_map_read_value(const char *path, const char *value, ley_map **map, ley_error *error);

/* The same of maps that have not-a-numbers where they say nothing, as MRC, raw and NumPy's files
 * may. */
LEY_API ley_status ley_map_read_with_gaps(const char *path, const char *value, ley_map **map, ley_error *error);

/* What the file that a map was read from says of it, as leyden writes that: the name of the
 * molecule's file, empty when unknown, and the dielectric, 0 when unknown. */
LEY_API const char *ley_map_molecule(const ley_map *map);
LEY_API double ley_map_dielectric(const ley_map *map);

/* What may be meant otherwise in the file that a map was read from, and how it was taken, as "file:
 * what"; NULL: nothing. */
LEY_API const char *ley_map_remark(const ley_map *map);

/* Writes a map in the format that the name's ending asks for. `comment`: lines, or NULL; `facts`:
 * the text of a JSON object, or NULL. Formats keep as much of the comment as they have room for,
 * and facts where they have a place for them. The file appears under its name only when it is
 * whole. Errors: LEY_ERROR_USAGE for another ending; LEY_ERROR_INPUT for a value that is not a
 * number, or a grid that the format cannot tell; LEY_ERROR_FILE; LEY_CANCELLED. */
LEY_API ley_status ley_map_write(const ley_map *map, const char *path, const char *comment, const char *facts,
                                 const volatile bool *cancel, ley_error *error);

/* The same in this format, whatever the name's ending: of a pipe or of /dev/stdout, say, into which
 * go all formats that have no second file beside theirs. A map of ley_map_create_file() goes to the
 * name and in the format that it was made for. */
LEY_API ley_status ley_map_write_as(const ley_map *map, const ley_map_format *format, const char *path,
                                    const char *comment, const char *facts, const volatile bool *cancel,
                                    ley_error *error);

/* A map to be filled by a job and then written under this name by ley_map_write(). Where the format
 * is streamed its planes go to the hidden file of the name, as those of ley_map_create_raw() do;
 * else it is in memory. Errors: those of ley_map_create() and ley_map_create_raw(); LEY_ERROR_USAGE
 * for a name with another ending, LEY_ERROR_INPUT for a grid that the format cannot tell. */
LEY_API ley_status ley_map_create_file(const ley_grid *grid, const char *path, ley_map **map, ley_error *error);

/* Of such a map whose format is streamed, before its job: its planes go to the file `kept` in place
 * of the hidden one, and stay there where the process ends early; what such a file has of a run
 * before, of the same grid, is not computed again. `text`: lines that say what the map is of. Of
 * several ranks all call it. Errors: LEY_ERROR_INPUT, where the file is of something else, with the
 * first line that differs; LEY_ERROR_FILE, also where another process is at work on it;
 * LEY_ERROR_USAGE for a map that is in memory. */
LEY_API ley_status ley_map_keep(ley_map *map, const char *kept, const char *text, ley_error *error);

#ifdef __cplusplus
}
#endif
#endif
