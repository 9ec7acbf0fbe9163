/* leyden: input files of APBS. leyden.h, which has the conventions, includes this. */
#ifndef LEYDEN_H
#include "leyden.h"
#elif !defined(LEYDEN_APBS_H)
#define LEYDEN_APBS_H

#ifdef __cplusplus
extern "C" {
#endif

/* An APBS input file (version 3.4): its READ, ELEC and PRINT sections, and the molecules that it
 * reads. */
typedef struct ley_apbs_input ley_apbs_input;

typedef enum ley_boundary_kind {
    LEY_BOUNDARY_OTHER,
    LEY_BOUNDARY_ZERO,
    LEY_BOUNDARY_SDH,
    LEY_BOUNDARY_MDH
} ley_boundary_kind;

/* One ELEC section as APBS will calculate it. */
typedef struct ley_apbs_elec {
    int number, line; /* ELEC number, from 1; where it begins */
    const char *name; /* of `elec name`, or "" */
    const char *type; /* "mg-auto", "mg-manual", ... */
    ley_boundary_kind boundary;
    size_t molecule; /* index of the molecule whose atoms make the boundary */
    ley_grid grid;   /* of its only or coarsest level, with dime as APBS corrects it */
    ley_solvent solvent;
    int levels; /* grids that it solves on: 1, or those of focusing */
} ley_apbs_elec;

/* Reads an input file and its molecules, whose paths are relative to the working directory, as APBS
 * takes them. Everything that APBS's multigrid calculations know is understood; of other
 * calculations (fe-manual, bem, ...) only that they are there. Errors: LEY_ERROR_FILE, or
 * LEY_ERROR_INPUT with "file:line: what". */
LEY_API ley_status ley_apbs_input_read(const char *path, ley_apbs_input **input, ley_error *error);
LEY_API void ley_apbs_input_destroy(ley_apbs_input *input);

/* The ELEC sections in the order of the file. */
LEY_API size_t ley_apbs_elec_count(const ley_apbs_input *input);
LEY_API const ley_apbs_elec *ley_apbs_elec_get(const ley_apbs_input *input, size_t i);

LEY_API size_t ley_apbs_molecule_count(const ley_apbs_input *input);
LEY_API const ley_atoms *ley_apbs_molecule(const ley_apbs_input *input, size_t i);
LEY_API const char *ley_apbs_molecule_path(const ley_apbs_input *input, size_t i);

/* A file that the input names, as APBS opens it, relative to the working directory. */
typedef struct ley_apbs_file {
    const char *path;
    bool is_written; /* by APBS; else it is read: a molecule, a map, parameters */
} ley_apbs_file;

/* The files that its READ and multigrid ELEC sections name. */
LEY_API size_t ley_apbs_file_count(const ley_apbs_input *input);
LEY_API const ley_apbs_file *ley_apbs_file_get(const ley_apbs_input *input, size_t i);

/* Remarks, as "file:line: ...": what APBS will do that its user may not expect. */
LEY_API size_t ley_apbs_warning_count(const ley_apbs_input *input);
LEY_API const char *ley_apbs_warning(const ley_apbs_input *input, size_t i);

/* LEY_ERROR_INPUT, with "file:line: reason", when APBS cannot be given the boundary of the ELEC
 * sections chosen (use[i]) through maps: forces are asked for in some ELEC section, and any
 * potential map disables them. */
LEY_API ley_status ley_apbs_input_check_maps(const ley_apbs_input *input, const bool *use, ley_error *error);

/* Writes the input file again, with the boundary of ELEC section i read from maps[i] (NULL: as it
 * was). Everything else stays as it is, to the letter. The file appears under its name only when it
 * is whole. */
LEY_API ley_status ley_apbs_input_write(const ley_apbs_input *input, const char *const *maps, const char *path,
                                        ley_error *error);

/* Seconds that APBS itself takes for the Multiple Debye-Hueckel values of this ELEC section with
 * this many threads, and for reading a map of this many numbers, on this machine: what its
 * arithmetic takes here, measured once, times what APBS adds to it. */
LEY_API double ley_apbs_boundary_s(const ley_apbs_input *input, size_t elec, int threads);
LEY_API double ley_apbs_read_s(int64_t numbers);

#ifdef __cplusplus
}
#endif
#endif
