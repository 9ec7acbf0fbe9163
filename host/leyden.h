/* leyden: the electrostatic potential of point charges, on any vendor's device.
 *
 * The job of this library is one equation, the electrostatic potential of N point charges on a
 * regular grid,
 *
 *     phi(r_i) = C sum_j q_j S(|r_i - r_j|) / |r_i - r_j|,
 *
 * summed on OpenCL and CUDA devices. Use: in one call, ley_map_compute() of leyden_request.h makes
 * a map to a tolerance; docs/example.c, installed as share/doc/leyden/example.c, is a whole program
 * of it. Or step by step: an engine (the devices), atoms, a grid, a map, a job, its report;
 * docs/c-api.md has programs for that.
 *
 * Conventions. Lengths are in Angstrom (_A), charges in elementary charges (_e). Functions that can
 * fail return a ley_status, fill the ley_error they are given (which may be NULL) and leave their
 * results untouched. What a *_create, *_read or *_open function hands out belongs to the caller,
 * who ends it with the matching *_destroy; these accept NULL. Texts inside a struct live as long as
 * the object they came from. The library never prints and never exits; who wants to know what it
 * does asks with ley_log_set(), of leyden_status.h. Objects may be used from several threads, one
 * at a time each; ley_job_cancel() at any time from any thread or signal handler. */
#ifndef LEYDEN_H
#define LEYDEN_H

#include "leyden_status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this header, as text and in numbers. */
#define LEY_VERSION "0.1.0"
#define LEY_VERSION_MAJOR 0
#define LEY_VERSION_MINOR 1
#define LEY_VERSION_PATCH 0

/* Versions as numbers that can be compared: 1.2.3 is 10203. */
#define LEY_VERSION_AS_NUMBER(major, minor, patch) (10000 * (major) + 100 * (minor) + (patch))
#define LEY_VERSION_NUMBER LEY_VERSION_AS_NUMBER(LEY_VERSION_MAJOR, LEY_VERSION_MINOR, LEY_VERSION_PATCH)

/* The version of the library that the program runs with, which may be another than that of the
 * header it was compiled with: "0.1.0"; and as LEY_VERSION_NUMBER. */
LEY_API const char *ley_version(void);
LEY_API int ley_version_number(void);

/* ---- Files that appear whole ----------------------------------------------------------------- */

/* Every file that the library writes appears under its name only when it is whole: its bytes go to
 * a hidden file beside it, `.leyden-*`, that is renamed. A symbolic link is followed, also one that
 * leads to no file yet; a file marked as read-only is not replaced; what is no regular file, a pipe
 * or /dev/stdout, is written straight. What a killed process left is removed when the same file is
 * written again. These functions write a caller's own files in the same way. */
typedef struct ley_file ley_file;

/* Begins a file. `cancel`: stops the writing when it becomes true (LEY_CANCELLED), or NULL; it must
 * outlive the file. */
LEY_API ley_status ley_file_create(const char *path, const volatile bool *cancel, ley_file **file, ley_error *error);
/* Small parts wait for others, so that a write that fails may be told later; the first failure
 * stays, and ley_file_commit() fails, too. */
LEY_API ley_status ley_file_write(ley_file *file, const void *bytes, size_t size, ley_error *error);

/* Puts the whole file under its name, or leaves nothing; either way `file` is gone. */
LEY_API ley_status ley_file_commit(ley_file *file, ley_error *error);

/* Gives up a file that was not committed and leaves nothing. */
LEY_API void ley_file_destroy(ley_file *file);

/* Whether a file can be written there, before a long computation. Creates nothing. Errors:
 * LEY_ERROR_FILE. */
LEY_API ley_status ley_file_check(const char *path, ley_error *error);

/* Whether two paths name one file, whatever the links and folders they go through, also one that is
 * still to be written. */
LEY_API bool ley_file_is_same(const char *a, const char *b);

/* Removes the hidden files of all outputs under way, for a signal handler that then ends the
 * process; no output is begun or finished after it. Async-signal-safe. */
LEY_API void ley_files_abandon(void);

/* The whole text of a file, plain or gzip, from malloc, with a NUL behind its *size bytes: without
 * the byte order mark of UTF-8, and with an LF in place of each CR that ends a line alone. Errors:
 * LEY_ERROR_FILE; LEY_ERROR_INPUT when it has more than `most_bytes`, is UTF-16 or a damaged gzip
 * file; LEY_ERROR_MEMORY. */
LEY_API ley_status ley_file_read_text(const char *path, size_t most_bytes, char **text, size_t *size, ley_error *error);

/* ---- Atoms ----------------------------------------------------------------------------------- */

/* N point charges: positions (A), charges (e) and radii (A). Immutable once made. */
typedef struct ley_atoms ley_atoms;

/* Copies n atoms: position_A[3 i + 0..2], charge_e[i], radius_A[i] (NULL: all zero). Errors:
 * LEY_ERROR_INPUT when n is 0 or above 2^31 - 1, a number is not finite, a position is beyond 1e8
 * A, a charge beyond 1e6 e, or a radius negative or above 1e8 A. */
LEY_API ley_status ley_atoms_create(size_t n, const double *position_A, const double *charge_e, const double *radius_A,
                                    ley_atoms **atoms, ley_error *error);

/* Reads a PQR file (plain or gzip): ATOM and HETATM records, whitespace-separated or in PDB's fixed
 * columns, with or without chain identifiers and insertion codes; a word after the radius is
 * ignored. docs/formats.md says it all. A PDB file, whose occupancies and B factors would pass for
 * charges and radii, is refused. Errors: LEY_ERROR_FILE, or LEY_ERROR_INPUT with "file:line:
 * what". */
LEY_API ley_status ley_atoms_read_pqr(const char *path, ley_atoms **atoms, ley_error *error);

/* Reads a file in the binary form that ley_atoms_write_binary() makes, straight into place. It must
 * be a regular file. Errors: LEY_ERROR_FILE; LEY_ERROR_INPUT with "file: what" when it is of
 * another kind or version, cut short, too long or altered, and those of ley_atoms_create(). */
LEY_API ley_status ley_atoms_read_binary(const char *path, ley_atoms **atoms, ley_error *error);

/* Whether these are the first bytes of a regular file. */
LEY_API bool ley_atoms_is_binary(const char *path);

/* Reads either form, known by the file's first bytes, not by its name. Errors: those of the two
 * above. */
LEY_API ley_status ley_atoms_read(const char *path, ley_atoms **atoms, ley_error *error);

/* The same, and takes what looks like a PDB file for the PQR file that its caller knows it to
 * be. */
LEY_API ley_status ley_atoms_read_unchecked(const char *path, ley_atoms **atoms, ley_error *error);

/* Writes the form that the name asks for: PQR for .pqr and .pqr.gz, binary for .atoms. Errors:
 * LEY_ERROR_USAGE for another name, and those of the two below. */
LEY_API ley_status ley_atoms_write(const ley_atoms *atoms, const char *path, const volatile bool *cancel,
                                   ley_error *error);

/* Writes a PQR file, gzip when the path ends in ".gz": all atoms are named X, in residue UNK 1.
 * Numbers have four decimals, or as many digits as it takes to read the same numbers back. The file
 * appears under its name only when it is whole. `cancel`: stops the writing when it becomes true
 * (LEY_CANCELLED), or NULL. Errors: LEY_ERROR_FILE. */
LEY_API ley_status ley_atoms_write_pqr(const ley_atoms *atoms, const char *path, const volatile bool *cancel,
                                       ley_error *error);

/* Writes the binary form: every number as it is, in float64, with a checksum; docs/formats.md has
 * the layout. The rest is as for PQR. */
LEY_API ley_status ley_atoms_write_binary(const ley_atoms *atoms, const char *path, const volatile bool *cancel,
                                          ley_error *error);

/* A cubic box of water to measure with: molecules of three sites as in TIP3P (O -0.834 e, H +0.417
 * e, r(OH) 0.9572 A, angle 104.52 degrees, radii 1.7683 and 0.2245 A), 1,534,539 atoms in 1.5e7
 * A^3, in [0, side]^3, at random orientations. Each has a cell of a regular grid to itself, some
 * cells are vacant, and no atom comes closer than 0.5 A to its cell's faces, nor than 0.57 A to the
 * box's: atoms of different molecules are at least 1 A apart. Coordinates are multiples of 1e-4 A.
 * A molecule depends on its number, their number, the seed and the disorder only. It looks like
 * water to whoever sums charges; it is no equilibrated liquid.
 *
 * The regular lattice of the molecules biases the error of mesh methods. `disorder_A`, 0 to 10, is
 * the root mean square displacement of the molecules along each axis, within the box; then nothing
 * keeps them apart. At 0.25 little of the lattice is left that a mesh of 2 A sees. */

/* The edge of such a box, A: (atoms 1.5e7 A^3 / 1534539)^(1/3). Atoms that make no whole molecule
 * do not count, here and below. */
LEY_API double ley_waterbox_side_A(int64_t atoms);

/* The box as atoms, the caller's. Errors: LEY_ERROR_USAGE for less than 3 or more than 2^31 - 1
 * atoms or a disorder out of its range, LEY_ERROR_MEMORY. */
LEY_API ley_status ley_waterbox_create(int64_t count, uint64_t seed, double disorder_A, ley_atoms **atoms,
                                       ley_error *error);

/* Writes such a box in the form that the name asks for, as ley_atoms_write() does, in bounded
 * memory whatever its size. */
LEY_API ley_status ley_waterbox_write(int64_t atoms, uint64_t seed, double disorder_A, const char *path,
                                      const volatile bool *cancel, ley_error *error);

LEY_API void ley_atoms_destroy(ley_atoms *atoms);

LEY_API size_t ley_atoms_count(const ley_atoms *atoms);

/* Of a part of a molecule (ley_atoms_take_part()) the atoms of all of it; else the same. */
LEY_API size_t ley_atoms_whole_count(const ley_atoms *atoms);
LEY_API const double *ley_atoms_positions_A(const ley_atoms *atoms); /* [n][3] */
LEY_API const double *ley_atoms_charges_e(const ley_atoms *atoms);   /* [n] */
LEY_API const double *ley_atoms_radii_A(const ley_atoms *atoms);     /* [n] */
LEY_API double ley_atoms_total_charge_e(const ley_atoms *atoms);

/* [n]: for each atom a number that is the same for the same chain, residue number and insertion
 * code, in this file and in others. Of atoms from PQR files whose chains have one letter, or none,
 * and whose residue numbers are within 524,288; else NULL. */
LEY_API const int32_t *ley_atoms_residues(const ley_atoms *atoms);

/* The chain of such a number; '\0': it has none. */
LEY_API char ley_residue_chain(int32_t residue);

/* The smallest box around the centres. */
LEY_API void ley_atoms_bounds_A(const ley_atoms *atoms, double low_A[3], double high_A[3]);

/* Whether every charge is 0, as where charges were never assigned: the potential is 0 everywhere.
 * Then text[size] is a sentence that says so. False, and an empty text: one is not. */
LEY_API bool ley_atoms_charge_remark(const ley_atoms *atoms, char *text, size_t size);

/* Whether a cell looks too small for the atoms that it repeats along those vectors cell_A[m] where
 * periodic[m], as one whose lengths are in nm: they reach over more than twice an edge, further
 * than molecules that are wrapped into it, or stick out of it whole. Then text[size] is a sentence
 * that says so. False, and an empty text: it does not, or the vectors make no cell. */
LEY_API bool ley_atoms_cell_remark(const ley_atoms *atoms, const bool periodic[3], const double cell_A[3][3],
                                   char *text, size_t size);

/* ---- Grid and map ------------------------------------------------------------------------- */

/* A regular grid of n[0] x n[1] x n[2] points: point (i, j, k) lies at
 *
 *     origin_A + i step_A[0] + j step_A[1] + k step_A[2],
 *
 * where step_A[m] = {x, y, z} leads from a point to the next one along the grid's axis m. The
 * steps may be oblique, as those of a triclinic cell, in any order and of either handedness. */
typedef struct ley_grid {
    double origin_A[3];
    double step_A[3][3];
    int64_t n[3];
} ley_grid;

/* step_A of an orthogonal grid with these spacings, as an initializer. */
/* clang-format off */
#define LEY_STEPS(x_A, y_A, z_A) {{(x_A), 0, 0}, {0, (y_A), 0}, {0, 0, (z_A)}}
/* clang-format on */

/* The grid whose axes are along x, y and z, with spacing_A[m] from point to point along axis m.
 * Nothing is checked. */
LEY_API ley_grid ley_grid_orthogonal(const double origin_A[3], const double spacing_A[3], const int64_t n[3]);

/* Whether the axes are along +x, +y and +z, in this order: step_A[m][m] is positive, and everything
 * else in step_A is exactly 0. Maps are computed on any grid, boundaries on such grids only. */
LEY_API bool ley_grid_is_orthogonal(const ley_grid *grid);

/* Errors: LEY_ERROR_INPUT when the grid is not orthogonal in this sense, with the step that is
 * not along its axis; `whose` begins the message: a file's name, say. */
LEY_API ley_status ley_grid_check_orthogonal(const ley_grid *grid, const char *whose, ley_error *error);

/* Lengths of the steps. */
LEY_API void ley_grid_spacing_A(const ley_grid *grid, double spacing_A[3]);

/* Where point (index[0], index[1], index[2]) lies. Points outside the grid continue it. */
LEY_API void ley_grid_point_A(const ley_grid *grid, const int64_t index[3], double point_A[3]);

/* The orthogonal grid of equal spacing around all atoms with at least `padding_A`, and less than
 * a spacing more, on every side. Its origin is a multiple of the spacing along each axis, so that
 * meshes of one spacing share their points. Errors: LEY_ERROR_INPUT when the spacing is not
 * positive, the padding negative, or the grid overflows. */
LEY_API ley_status ley_grid_around(const ley_atoms *atoms, double spacing_A, double padding_A, ley_grid *grid,
                                   ley_error *error);

/* Most points along one axis. */
#define LEY_MAX_EXTENT (1 << 30)

/* Errors: LEY_ERROR_INPUT when an extent is below 1 or above LEY_MAX_EXTENT, the number of points
 * times 4 bytes overflows 63 bits, a step's length is not within 1e-6 and 1e8 A, the origin not
 * within 1e9 A, a side longer than 1e9 A, or a number not finite; or when the steps lie in a plane:
 * the volume that they span is less than 1e-6 of the product of their lengths. */
LEY_API ley_status ley_grid_check(const ley_grid *grid, ley_error *error);

/* Number of points, n[0] n[1] n[2]. The grid must have passed the check. */
LEY_API int64_t ley_grid_points(const ley_grid *grid);

/* A scalar field on a grid. */
typedef struct ley_map ley_map;

/* A map of not-a-numbers on this grid; or so many of them, or none, whose memory is looked at
 * together. Errors: those of ley_grid_check(), LEY_ERROR_MEMORY. */
LEY_API ley_status ley_map_create(const ley_grid *grid, ley_map **map, ley_error *error);
LEY_API ley_status ley_maps_create(const ley_grid *grid, size_t count, ley_map **maps, ley_error *error);
LEY_API void ley_map_destroy(ley_map *map);

/* A map without values, ley_map_values() is NULL: for forecasts of jobs, however large. Errors:
 * those of ley_grid_check(). */
LEY_API ley_status ley_map_outline(const ley_grid *grid, ley_map **map, ley_error *error);

LEY_API const ley_grid *ley_map_grid(const ley_map *map);

/* float[n[2]][n[1]][n[0]]: the grid's first axis is fastest. NULL where they are not in memory:
 * ley_map_create_raw(), ley_map_create_file(), ley_map_outline(). */
LEY_API float *ley_map_values(ley_map *map);
LEY_API const float *ley_map_read_values(const ley_map *map);

/* Units of the values, as "kT/e"; empty when unknown. Set: copied, at most 31 bytes of whole
 * UTF-8 characters. */
LEY_API const char *ley_map_units(const ley_map *map);
LEY_API void ley_map_set_units(ley_map *map, const char *units);

/* The electric field, E = -grad phi, along x, y and z: jobs that fill `map` from now on fill these
 * three maps of the same grid as well, from the derivatives of the same functions, in the values'
 * unit per A. Atoms that are nearer than r_min add nothing, as the potential does not change there;
 * of a pair function that is an energy it is the force upon the probe. Each of the four may be in
 * memory or in a file; those of the field stay the caller's, and must be there as long as `map` is.
 * Their files are titled as components of a field. Errors: LEY_ERROR_USAGE where a grid is another
 * one, or a map is there twice. */
LEY_API ley_status ley_map_set_field(ley_map *map, ley_map *const field[3], ley_error *error);
LEY_API ley_map *ley_map_field(const ley_map *map, int axis); /* 0 to 2; NULL: nobody has asked for it */

/* Reads an OpenDX scalar map (plain or gzip, of text or of APBS's binary values) as APBS, VMD and
 * PyMOL write it, its delta rows along x, y and z or oblique; the last axis is fastest in the file.
 * Errors: LEY_ERROR_FILE, or LEY_ERROR_INPUT with "file:line: what". */
LEY_API ley_status ley_map_read_dx(const char *path, ley_map **map, ley_error *error);

/* Writes an OpenDX map as APBS lays it out, with as many digits of origin and steps as it takes to
 * read the same doubles back; gzip when the path ends in ".gz". `comment`: lines for the header,
 * separated by newlines, or NULL. The file appears under its name only when it is whole. `cancel`:
 * stops the writing when it becomes true (LEY_CANCELLED), or NULL. Errors: LEY_ERROR_FILE;
 * LEY_ERROR_INPUT for a value that is not a number, which is never written. */
LEY_API ley_status ley_map_write_dx(const ley_map *map, const char *path, const char *comment,
                                    const volatile bool *cancel, ley_error *error);

/* Reads a map that ley_map_write_raw() has written: `path` and `path`.json. Both must be regular
 * files. Errors: LEY_ERROR_FILE, or LEY_ERROR_INPUT with "file:line: member: what" of the header,
 * "file: what" of the values. */
LEY_API ley_status ley_map_read_raw(const char *path, ley_map **map, ley_error *error);

/* Writes the values as they are, float32, little-endian, x fastest, and beside them the JSON file
 * `path`.json, their header: n, origin_A, step_A, units, the lines of `comment` (or NULL) and
 * `facts`: the text of a JSON object that is to stand there under this name, or NULL. Each file
 * appears only when both are whole, the header last. The rest is as for OpenDX. Errors: also
 * LEY_ERROR_USAGE for facts that are no JSON object. */
LEY_API ley_status ley_map_write_raw(const ley_map *map, const char *path, const char *comment, const char *facts,
                                     const volatile bool *cancel, ley_error *error);

/* A map whose planes go to the hidden file of `path` while a job fills it: it takes some slabs of
 * memory, however large it is. ley_map_values() is NULL. ley_map_write_raw() of the same path gives
 * the file its name; ley_map_destroy() before that leaves nothing. Where the path is no regular
 * file's, a pipe's say, it is a map in memory. Nothing is written before the first planes are; a
 * disk that is too small fails the job then (LEY_ERROR_FILE). Errors: those of ley_grid_check()
 * and ley_file_check(). */
LEY_API ley_status ley_map_create_raw(const ley_grid *grid, const char *path, ley_map **map, ley_error *error);

/* ---- Boundaries of Poisson-Boltzmann problems ------------------------------------------------ */

/* A species of mobile ions. */
typedef struct ley_ion {
    double charge_e, concentration_M, radius_A; /* M: mol/l; the radius does not matter to a boundary */
} ley_ion;

/* What surrounds the molecule. */
typedef struct ley_solvent {
    double dielectric;        /* eps_s, of the solvent: [1, 1e6] */
    double solute_dielectric; /* eps_p, of the molecule: [1, 1e6]; matters to SDH only */
    double temperature_K;     /* [1e-3, 1e6] */
    size_t ion_count;
    const ley_ion *ions; /* the caller's */
} ley_solvent;

/* Water at 298.15 K without ions, a molecule of permittivity 2. */
LEY_API void ley_solvent_default(ley_solvent *solvent);

/* I = 1/2 sum c_i z_i^2, in mol/l. */
LEY_API double ley_ionic_strength_M(const ley_solvent *solvent);

/* kappa = sqrt(8 pi N_A e^2 I 1e-16 / (1000 eps_s k_B T)), in 1/A, with APBS's CGS constants; 0
 * without ions. */
LEY_API double ley_screening_per_A(const ley_solvent *solvent);

/* What is odd about the ions, as a sentence in text[size]: they are not neutral together, or a
 * species has no charge and so no part in the screening. False, and an empty text: nothing is. */
LEY_API bool ley_solvent_remark(const ley_solvent *solvent, char *text, size_t size);

/* e^2 1e10 / (4 pi eps0 k_B T), in A, with APBS's constants: the potential, in kT/e, of one charge
 * at 1 A in vacuum. */
LEY_API double ley_solvent_coulomb_constant(const ley_solvent *solvent);

/* The values at the Dirichlet points of a problem: the nodes of a grid's six faces, or any list
 * of points. */
typedef struct ley_boundary ley_boundary;

enum { LEY_FACE_COUNT = 6 };

/* Of not-a-numbers, on the faces of this grid. Errors: those of ley_grid_check(),
 * LEY_ERROR_MEMORY; LEY_ERROR_INPUT when an extent is below 2 or the grid is not orthogonal. */
LEY_API ley_status ley_boundary_create(const ley_grid *grid, ley_boundary **boundary, ley_error *error);

/* On these n points, which are copied: point_A[3 i + 0..2]. Errors: LEY_ERROR_INPUT when n is 0 or
 * above 2^31 - 1 or a coordinate is not finite or beyond 1e8 A. */
LEY_API ley_status ley_boundary_create_points(int64_t n, const double *point_A, ley_boundary **boundary,
                                              ley_error *error);
LEY_API void ley_boundary_destroy(ley_boundary *boundary);

/* NULL for a list of points. */
LEY_API const ley_grid *ley_boundary_grid(const ley_boundary *boundary);

/* Number of values. Nodes on an edge belong to two faces, corners to three, and are counted
 * there. */
LEY_API int64_t ley_boundary_points(const ley_boundary *boundary);

/* All values, kT/e: of a list in its order; of a grid face after face, in the order of
 * ley_boundary_face(). */
LEY_API double *ley_boundary_values(ley_boundary *boundary);
LEY_API const double *ley_boundary_read_values(const ley_boundary *boundary);

/* Where face `face` lies among the values: 0 x low, 1 x high, 2 y low, 3 y high, 4 z low, 5 z high.
 * Its nodes are value[b n_a + a], a and b the indices along the grid's two other axes, the
 * lower-numbered axis as a. */
LEY_API int64_t ley_boundary_face(const ley_boundary *boundary, int face);

/* Coordinates of value i, A. */
LEY_API void ley_boundary_point_A(const ley_boundary *boundary, int64_t i, double point_A[3]);

/* Single Debye-Hueckel values: one multipole expansion (charge, dipole, quadrupole) about the
 * centre of the atoms' bounding box, of a sphere of radius max |x - c| + R, on all host threads in
 * double precision. Errors: LEY_ERROR_USAGE for a solvent out of range; LEY_ERROR_INPUT when a
 * point lies at the centre. Source: APBS's definition of `bcfl sdh`. */
LEY_API ley_status ley_boundary_compute_sdh(ley_boundary *boundary, const ley_atoms *atoms, const ley_solvent *solvent,
                                            ley_error *error);

/* All zero. */
LEY_API void ley_boundary_compute_zero(ley_boundary *boundary);

/* LEY_ERROR_INPUT when an atom with a charge lies within 1e-6 A of a node of the faces (of a point
 * of the list), where its potential is infinite: the message names the atom, from 1, and the
 * point. */
LEY_API ley_status ley_boundary_check_atoms(const ley_boundary *boundary, const ley_atoms *atoms, ley_error *error);

/* Largest error, relative to the largest value, that handing over only every stride-th node of the
 * faces makes when the rest is interpolated bilinearly; INFINITY when stride does not divide all n
 * - 1. */
LEY_API double ley_boundary_stride_error(const ley_boundary *boundary, int stride);

/* Writes an OpenDX map of every stride-th node: values on its faces, 0 inside. Plain text: APBS
 * reads no gzip here. Otherwise as ley_map_write_dx(). */
LEY_API ley_status ley_boundary_write_dx(const ley_boundary *boundary, int stride, const char *path,
                                         const char *comment, const volatile bool *cancel, ley_error *error);

/* Writes the values as ley_boundary_read_values() has them: float64, little-endian, nothing
 * else. */
LEY_API ley_status ley_boundary_write_raw(const ley_boundary *boundary, const char *path, ley_error *error);

/* Writes lines "x,y,z,phi" below a header line. */
LEY_API ley_status ley_boundary_write_csv(const ley_boundary *boundary, const char *path, const volatile bool *cancel,
                                          ley_error *error);

#include "leyden_points.h"
#include "leyden_target.h"

/* ---- Devices and engine ---------------------------------------------------------------------- */

typedef enum ley_device_class { LEY_CLASS_GPU, LEY_CLASS_CPU, LEY_CLASS_OTHER, LEY_CLASS_COUNT } ley_device_class;

/* What is known of a device. */
typedef struct ley_device_info {
    int index;        /* number of the card, as --device takes it: two paths to one card share it */
    const char *path; /* back end: "opencl", "cuda" */
    const char *platform, *vendor, *name, *driver, *version;
    ley_device_class device_class;
    int compute_units, clock_MHz;
    size_t max_work_group;
    uint64_t global_bytes, max_allocation_bytes, local_bytes, constant_bytes;
    bool has_double;
    bool has_timestamps;  /* false: times are taken from the host's clock */
    const char *quirks;   /* what the quirks table says of it, "; "-separated; empty when nothing */
    const char *unusable; /* why it cannot be used, or NULL */
} ley_device_info;

/* Every platform and device of this machine, used or not, but for OpenCL drivers that end it. */
typedef struct ley_device_list ley_device_list;

LEY_API ley_status ley_device_list_create(ley_device_list **list, ley_error *error);
LEY_API void ley_device_list_destroy(ley_device_list *list);
LEY_API size_t ley_device_list_count(const ley_device_list *list);
LEY_API const ley_device_info *ley_device_list_get(const ley_device_list *list, size_t i);

/* Platforms without a device, and why ("Clover: no device"): n texts. */
LEY_API size_t ley_device_list_note_count(const ley_device_list *list);
LEY_API const char *ley_device_list_note(const ley_device_list *list, size_t i);

/* Opened devices, each with a persistent worker thread. */
typedef struct ley_engine ley_engine;

/* Opens devices. `selector`: a comma-separated list of an index, any part of a device's,
 * platform's, vendor's or driver's name (case ignored), "opencl", "cuda", "cpu", "gpu" or "all";
 * "cuda:0" is the first device by that path, as "opencl:0" is by the other; a card is used by one
 * path. NULL: the fastest device, by measurement, that can be opened; ranks behind the first one
 * may have none. Errors: LEY_ERROR_USAGE when a word matches nothing, LEY_ERROR_NO_DEVICE when
 * there is no device to open, LEY_ERROR_DEVICE when none of them opens. */
LEY_API ley_status ley_engine_create(const char *selector, ley_engine **engine, ley_error *error);
LEY_API void ley_engine_destroy(ley_engine *engine);

/* Whether a thread of the library is stuck in a driver call that was abandoned: because the driver
 * does not return, so that its device was given up; or because a device was still being opened,
 * measured or built for when its engine was destroyed. In the latter case this becomes false once
 * the driver returns. A program in which it is true should end by _exit(), since drivers' own
 * handlers of exit() may wait for that thread. */
LEY_API bool ley_driver_is_stuck(void);

LEY_API size_t ley_engine_device_count(const ley_engine *engine);
LEY_API const ley_device_info *ley_engine_device(const ley_engine *engine, size_t i);

/* How fast its devices are together, in roots per second, as was measured in an earlier job; 0: of
 * one of them nobody knows. */
LEY_API double ley_engine_speed(const ley_engine *engine);

/* Why compiled kernels and measurements could not be kept for the next run, "PATH: why": the first
 * reason in this process, or NULL. Jobs are right without, and begin later. */
LEY_API const char *ley_cache_complaint(void);
/* The same of files that LEYDEN_DUMP asks for; why an OpenCL driver is left out, "FILE: why". */
LEY_API const char *ley_dump_complaint(void);
LEY_API const char *ley_driver_complaint(void);

/* ---- Jobs ------------------------------------------------------------------------------------ */

/* Enumerations whose values have names are tables, ROW(value, name), from which the values, the
 * names that the command takes and those in reports are made. */

/* Which 1/sqrt a kernel uses: the standard's rsqrt (2 ulp), the device's fastest, or the fastest
 * whose error, measured on the device, is below what the method needs. */
#define LEY_MATH_TABLE(ROW) \
    ROW(LEY_MATH_STANDARD, "standard") \
    ROW(LEY_MATH_NATIVE, "native") \
    ROW(LEY_MATH_AUTO, "auto")

/* Type of the terms and of the sum: float; float terms and Kahan's compensated float sum; double
 * throughout. Short-range terms are always float, and the totals over some hundred of them at a
 * time what is said here. LEY_SUM_AUTO is float, and all over again in double where verification
 * finds a relative RMS error above 1e-5, or above three quarters of the tolerance where there is
 * one, as where charges nearly cancel, and a device is able to: of jobs only, with verification. */
#define LEY_SUM_TABLE(ROW) \
    ROW(LEY_SUM_FLOAT, "float") \
    ROW(LEY_SUM_COMPENSATED, "compensated") \
    ROW(LEY_SUM_DOUBLE, "double") \
    ROW(LEY_SUM_AUTO, "auto")

#define LEY_UNITS_TABLE(ROW) \
    ROW(LEY_UNITS_KT_E, "kT/e") \
    ROW(LEY_UNITS_VOLT, "V") \
    ROW(LEY_UNITS_KCAL_MOL_E, "kcal/mol/e") \
    ROW(LEY_UNITS_KJ_MOL_E, "kJ/mol/e")

/* Where a step of a short-range job is done. */
#define LEY_PLACE_TABLE(ROW) \
    ROW(LEY_PLACE_AUTO, "auto") \
    ROW(LEY_PLACE_HOST, "host") \
    ROW(LEY_PLACE_DEVICE, "device")

/* clang-format off */
#define LEY_VALUE(value, name) value,
typedef enum ley_math { LEY_MATH_TABLE(LEY_VALUE) LEY_MATH_COUNT } ley_math;
typedef enum ley_sum { LEY_SUM_TABLE(LEY_VALUE) LEY_SUM_COUNT } ley_sum;
typedef enum ley_units { LEY_UNITS_TABLE(LEY_VALUE) LEY_UNITS_COUNT } ley_units;
typedef enum ley_place { LEY_PLACE_TABLE(LEY_VALUE) LEY_PLACE_COUNT } ley_place;

/* An array of names, by value, since tables are in the order of values:
 * {LEY_UNITS_TABLE(LEY_NAME)}. */
#define LEY_NAME(value, name) (name),
/* clang-format on */

/* C / e: the potential of one elementary charge at 1 A, in these units: e / (4 pi eps0 eps 1 A) [/
 * (k_B T / e)]. CODATA 2018. */
LEY_API double ley_coulomb_constant(ley_units units, double dielectric, double temperature_K);

/* "kT/e", "V", "kcal/mol/e", "kJ/mol/e". */
LEY_API const char *ley_units_name(ley_units units);

/* Pair functions f(r) of a short-range sum; a is the cutoff, s = r^2/a^2. */
typedef enum ley_pair {
    LEY_PAIR_COULOMB, /* 1/r */
    LEY_PAIR_SHIFTED, /* (1 - s)^2 / r */
    LEY_PAIR_TAYLOR2, /* 1/r - g(s)/a, g the Taylor polynomial of degree 2 of s^(-1/2) about 1: 15/8 - 5/4 s + 3/8 s^2;
                         f and two derivatives vanish at a: the short-range part of multilevel summation */
    LEY_PAIR_TAYLOR3, /* of degree 3: 35/16 - 35/16 s + 21/16 s^2 - 5/16 s^3 */
    LEY_PAIR_TAYLOR4, /* of degree 4: 315/128 - 105/32 s + 189/64 s^2 - 45/32 s^3 + 35/128 s^4 */
    LEY_PAIR_YUKAWA,  /* exp(-kappa r)/r */
    LEY_PAIR_DISTANCE_DIELECTRIC, /* 1/r^2: the relative permittivity is `dielectric` times r in A */
    LEY_PAIR_LENNARD_JONES, /* eps ((R/r)^12 - 2 (R/r)^6) for a probe, in kcal/mol, R = R_j + R_probe, eps = sqrt(eps_j
                               eps_probe) */
    LEY_PAIR_BUCKINGHAM, /* eps (6/(z-6) exp(z (1 - r/R)) - z/(z-6) (R/r)^6), z the steepness: "exp-6", in kcal/mol */
    LEY_PAIR_EXPRESSION  /* the caller's own f(r, r2, q), without a further factor of q */
} ley_pair;

/* What there is to know of a pair function. */
typedef struct ley_pair_info {
    const char *name;              /* as the command's --pair takes it; of LEY_PAIR_EXPRESSION "expression" */
    const char *formula;           /* for people: "exp(-kappa r) / r" */
    bool is_energy;                /* of radii and depths, in kcal/mol; else a potential, of charges */
    bool is_uniform;               /* a potential in a medium of one permittivity, `dielectric` */
    bool is_expression, vanishes;  /* at the cutoff */
    bool takes_kappa, needs_kappa; /* needs: with 0 it would be another function */
    bool takes_probe, takes_steepness, takes_numbers; /* probe: and depths; numbers: those of an expression */
} ley_pair_info;

/* Pair functions from 0; NULL behind the last. */
LEY_API const ley_pair_info *ley_pair_get(ley_pair pair);

/* A named number of an expression. */
typedef struct ley_named_number {
    const char *name;
    double value;
} ley_named_number;

/* A short-range sum: phi_i = C sum over r_ij < a of q_j f(max(r_ij, r_min)). Texts and arrays are
 * the caller's; ley_job_create_short_range() copies them. Lennard-Jones and Buckingham take atoms'
 * radii as R_j, and neither charges nor C. Whether a pair that lies within rounding, 1e-6 a, of the
 * cutoff counts is not specified; it matters only to functions that do not vanish there. */
typedef struct ley_short_range {
    size_t size; /* sizeof(ley_short_range): ley_short_range_default() sets it */
    ley_units units;
    double dielectric;    /* relative permittivity: [1e-3, 1e6] */
    double temperature_K; /* [1e-3, 1e6]; matters for kT/e only */
    double r_min_A;       /* shorter distances are clamped to this: [1e-6, 1e3] */
    ley_pair pair;
    double cutoff_A;        /* a: above r_min, at most 1e4 */
    double kappa_per_A;     /* of Yukawa, and a constant of expressions: [0, 100] */
    const char *expression; /* of LEY_PAIR_EXPRESSION: in r, r2, q, pi, cutoff, kappa, dielectric and the numbers below;
                               docs/short-range.md has its grammar */
    size_t number_count;
    const ley_named_number *numbers;
    double probe_radius_A;        /* [0, 100] */
    double probe_depth_kcal_mol;  /* eps_probe: [0, 1e6] */
    double steepness;             /* z of Buckingham: [6.5, 40] */
    const double *depth_kcal_mol; /* [atoms] eps_j, or NULL: each is depth_for_all_kcal_mol */
    double depth_for_all_kcal_mol;
    bool periodic[3]; /* along these vectors of the cell atoms have images; any number of them lie within the cutoff */
    double cell_A[3][3];              /* vectors a, b, c */
    int bin_depth;                    /* atoms a bin has room for: 1 to 128 */
    double bin_fill;                  /* wished share of that room: [1e-3, 1e3] */
    ley_place binning, transposition; /* AUTO: where it is predicted to be done sooner. What devices cannot bin the host
                                         does */
} ley_short_range;

/* Taylor's C2 function, cutoff 12 A, open, in kT/e at 298.15 K in vacuum, r_min 0.05 A, bins of
 * depth 8 filled to 3/4, a probe of 1.7 A and 0.1 kcal/mol, as deep as all atoms are, steepness
 * 12. */
LEY_API void ley_short_range_default(ley_short_range *range);

/* Direct Coulomb summation: phi_i = C sum_j q_j / max(r_ij, r_min). */
typedef struct ley_direct {
    size_t size; /* sizeof(ley_direct): ley_direct_default() sets it */
    ley_units units;
    double dielectric;    /* relative permittivity: [1e-3, 1e6] */
    double temperature_K; /* [1e-3, 1e6]; matters for kT/e only */
    double r_min_A;       /* shorter distances are clamped to this: [1e-6, 1e3] */
} ley_direct;

/* kT/e at 298.15 K in vacuum, r_min 0.05 A. */
LEY_API void ley_direct_default(ley_direct *direct);

typedef struct ley_progress {
    int64_t points_done, points_total;
    double elapsed_s;
    double evaluations_per_s; /* atom-point pairs */
    double left_s;            /* estimate */
} ley_progress;

/* A decision of a plan: where a step is done, by which recipe, in pieces of which size. leyden
 * decides by what it has measured, so that another machine may decide otherwise, and so may this
 * one once its build cache is emptied; a job that is given the decisions of a former one computes
 * the same bytes on the same device. (Which of several devices computes a slab is in no plan.)
 *
 * Of the whole job: "method"; "math", "sum"; of one that the host did alone, in place of these,
 * "computed_by": "host"; of a short-range one "binning", "transposition": "host", "device". Of a
 * device: "variant", "root" and "exp" by name; "slab", pieces per slab at most; "launch_atoms" and
 * "newton_roots" of DCS, "polynomial_exps" of MDH, "interpolation" of a long-range map: "epilogue",
 * "pass". */
typedef struct ley_decision {
    const char *device; /* "opencl: NAME": whose it is; NULL: the whole job's */
    const char *name;   /* "slab" */
    const char *value;  /* "12" */
} ley_decision;

/* How a job is run, whatever it computes. */
typedef struct ley_run_options {
    size_t size; /* sizeof(ley_run_options): ley_run_options_default() sets it */
    ley_math math;
    ley_sum sum;
    const char *variant;  /* a kernel variant by name (ley_variant_name()), NULL: by device class */
    int64_t slab_planes;  /* planes of a map, or rows of a boundary, per slab at most, 0: as memory and balance suggest;
                             of CUTOFF and MSM  rounded up to whole layers of 8 planes */
    size_t verify_points; /* points recomputed in double precision, at most; 0: none. As many as 2 % of the job's time
                             allow, or 0.05 s if that is more, and verify_least: 16 of each device by the host, others
                             also by a kernel of its own. Devices whose values are off leave the job */
    uint64_t verify_seed;
    void (*progress)(void *context,
                     const ley_progress *progress); /* called from one worker thread at a time; or NULL */
    void *progress_context;
    size_t decision_count; /* what is decided already, as ley_report has it: copied; 0: nothing. "method" must be
                              there; other decisions may be left out. Where devices have some, others have no part in
                              the job. Creators refuse a plan of another method, values out of range, and what
                              contradicts these options: LEY_ERROR_USAGE with LEY_CAUSE_PLAN */
    const ley_decision *decisions;
    size_t verify_least; /* points recomputed however long it takes; 0: 50 */
    bool by_host;        /* the host is to do it alone, whatever engine there is and however long it takes. Creators
                            refuse what only devices can do: LEY_ERROR_USAGE */
    double tolerance;    /* the relative RMS error that is wished, or 0: LEY_SUM_AUTO goes by it, and it is measured by
                            strata: a quarter of the verify_least points, at most, are those with the largest values */
    double aim;          /* the share of the tolerance that ley_long_range_choose() aims at; 0: half of it */
} ley_run_options;

/* Math auto, sum float, verification of up to 1,000 points. */
LEY_API void ley_run_options_default(ley_run_options *options);

/* The method that a name stands for: "dcs" is direct Coulomb summation, "mdh" Multiple
 * Debye-Hueckel, "cutoff" a short-range sum, "msm" a sum of all charges by meshes. Names, i from 0;
 * NULL behind the last. */
LEY_API const char *ley_method_name(size_t i);

/* Names of the kernel variants of a method, which may be others at points than elsewhere, or of
 * what is measured by that name, i from 0; NULL behind the last, and where there is none. */
LEY_API const char *ley_variant_name(const char *method, ley_target_kind target, size_t i);

/* How far a sample of the results is from double precision. The error at a point is |v - ref| / sum
 * |terms|, the terms those of the sum at that point: where they nearly cancel, the error relative
 * to the value is larger by as much, which relative_rms shows. */
typedef struct ley_accuracy {
    size_t points;       /* in the sample; 0: nothing was verified */
    size_t host_points;  /* of these, recomputed on the host; the others by a device in double precision */
    size_t compared;     /* of these, where terms are large enough to compare (above 1e-30; of double values 1e-280) */
    double max_error;    /* the largest error at a point */
    double relative_rms; /* sqrt(sum (v - ref)^2 / sum ref^2) over all values. Of a map the second sum is that of all
                            of its values, and the first follows from the points, each for as many as it stands for;
                            of lists, and of fewer than 32 points, both are those of the points. Infinite where only
                            ref are 0 */
    double absolute_rms; /* sqrt(sum (v - ref)^2 / points), in the results' unit; the same */
    double tolerance;    /* of max_error */
    bool passed;         /* max_error is within it, and every value is a number */
} ley_accuracy;

/* What one device did in a job. */
typedef struct ley_device_report {
    const ley_device_info *device;
    const char *variant, *root; /* kernel variant and 1/sqrt recipe in force; NULL when it never got so far */
    const char *exp;            /* 2^x recipe; NULL where none is needed */
    const char *specification;  /* the kernel's -D values */
    int64_t slabs, points;
    double share;   /* of the map's points */
    double build_s; /* build, self-test and calibration */
    double kernel_s;
    double transfer_s;
    double evaluations_per_s; /* in the kernels */
    int rank;                 /* whose devices these are, of several ranks: of others all together */
    bool from_cache;          /* the kernel of this variant came from the build cache, whatever others did */
    ley_status status;
    const char *failure;     /* why it left the job, or NULL */
    const char *failure_log; /* build log, or NULL */
    const char *late; /* what it was still at when the work was done, so that it took no part: "open", "build", or a
        step that it let go of or had not begun, as others were faster: "field"; or NULL */
} ley_device_report;

/* One slab's way through a device; times from the start of the job, in s. */
typedef struct ley_slab_report {
    size_t device; /* index into devices */
    int64_t first,
        count; /* z-planes of a map, of a short-range one 8 at a time; rows of a boundary, or points of a list */
    double kernel_start_s, kernel_end_s, transfer_start_s, transfer_end_s;
} ley_slab_report;

/* What a method says of how it did a job: a name that ends in its unit where it has one, and a
 * value.
 *
 * Of a short-range job: "bins", "bin_depth", "bin_side_A"; "binned", atoms and images in bins or
 * beyond them; "overflow", those that found their bin full; "outside", atoms that reach no point;
 * "neutral", atoms without a charge; "binning", "transposition": where each step was done ("host",
 * "device"); "binning_s", in which no device could begin; "transposition_s", in host threads beside
 * the devices.
 *
 * Of a long-range job beside all of these: "splitting", "window", "mesh_spacing_A", "levels" and
 * "meshes", their nodes; "expected_error", to which accuracy.max_error may be held; seconds of
 * "spread_s", charges into bins on the host, "anterpolation_s", "restriction_s",
 * "lattice_cutoff_s", "top_level_s", "prolongation_s", of the slowest device, "interpolation_s" and
 * "short_range_s", of all slabs; where ranks make the mesh together "exchange_bytes", what comes
 * from others, "exchange_s", how long that takes, and before it "exchange_waited_s", until all have
 * begun, and where they have parts of the atoms "local_levels" and, for what is above these,
 * "common_levels_s"; "background_e", ley_long_range_background_e() where it is not 0. Where
 * screening leaves nothing to meshes "levels" is 0, and of meshes nothing else is said.
 *
 * Phases, as far as they took place and somebody can predict them: "phase_kernels" and
 * "phase_transfer", of the way back, over all devices; of a short-range job also "phase_binning",
 * "phase_upload", of the host's bins to the devices, and "phase_rows", into the map; of a
 * long-range one "phase_meshes", of the slowest device, and "phase_exchange", as the link was
 * measured. */
typedef enum ley_note_kind {
    LEY_NOTE_COUNT,
    LEY_NOTE_NUMBER,
    LEY_NOTE_VECTOR,
    LEY_NOTE_TEXT,
    LEY_NOTE_PHASE /* seconds that a phase was predicted to take, and took; the prediction is of measured costs */
} ley_note_kind;

typedef struct ley_note {
    const char *name;
    ley_note_kind kind;
    int64_t count;    /* of LEY_NOTE_COUNT */
    double number[3]; /* of LEY_NOTE_NUMBER the first one, of LEY_NOTE_VECTOR all; of LEY_NOTE_PHASE predicted, taken,
                         and 1 where they are off by more than a factor of 2, which phases of a few ms are not said to
                         be */
    const char *text; /* of LEY_NOTE_TEXT */
} ley_note;

/* How often a job that misses its tolerance is done again at most, by ever stricter plans. */
enum { LEY_MOST_TRIES = 4 };

typedef struct ley_report {
    int64_t atoms, points;
    double evaluations; /* atoms x points; of a short-range job an estimate of the pairs within the cutoff */
    double prepare_s, compute_s, verify_s; /* of LEY_SUM_AUTO: both times where there were two */
    double evaluations_per_s;              /* over compute_s */
    ley_sum sum;                           /* in force */
    bool double_has_more_digits; /* than a float sum, where charges nearly cancel: not where terms are floats all the
                                    same */
    double float_relative_rms;   /* of LEY_SUM_AUTO: the error that asked for doubles; 0: floats did */
    int64_t kept_points;         /* of `points`, those that an earlier process had left (ley_map_keep()): the first
                                    device, which reports them, has not computed them */
    size_t device_count;
    int ranks; /* that did it together; 1: this process alone. What came from others to rank 0: */
    int64_t gathered_bytes;
    double gather_s;                         /* with waiting for them */
    double link_latency_s, link_bytes_per_s; /* to the farthest rank, as measured at the beginning */
    const ley_device_report *devices;
    size_t slab_count;
    const ley_slab_report *slabs;
    ley_accuracy accuracy;        /* points = 0 when nothing was verified */
    ley_accuracy seeded_accuracy; /* of those points that the seed alone decides, not how long anything took */
    const char *method;           /* that computed it: ley_method_name() */
    size_t note_count;
    const ley_note *notes; /* the method's own, in the order in which they should be read */
    size_t decision_count;
    const ley_decision *decisions; /* the plan by which it was done, of all devices that took part */
    const char *error_scale;       /* what accuracy.max_error is relative to at each point: "the absolute terms"; of a
                                      long-range job "the root of the squared terms", sqrt(sum term^2) + |sum term| */
    ley_accuracy field_accuracy;   /* of the field's components, by field_error_scale; absolute_rms in the results' unit
                                      per A; points = 0: there is no field, or nothing was verified */
    size_t stage_count;
    const struct ley_stage_report *stages; /* who did what when: leyden_forecast.h */
    double tolerance_share;                /* how much of the options' tolerance is used up: above 1 it is missed; 0:
                                              there is none, or nobody measured */
    double tolerance_floor;                /* what it is a share of, in the results' unit, by LEY_TOLERANCE_FLOOR; 0:
                                              the values' root mean square */
    size_t missed_count;                   /* runs before this one that missed the tolerance, or were further off, */
    double missed_rms[2 + LEY_MOST_TRIES]; /* and what they were off by: accuracy.relative_rms */
    const char *host;                      /* how the host did it alone, in double precision on its threads: "direct
                                              summation", "Ewald's summation"; there are no devices then. NULL: devices
                                              did it */
    const char *host_check;                /* what its values were held against; NULL: nothing was verified, or devices
                                              did it */
    const char *field_error_scale;         /* what field_accuracy.max_error is relative to, of each component:
                                              "the absolute terms", the sum of the lengths of what atoms add; of
                                              long-range sums "what its terms allow", which meshes are expected to be
                                              off by with a margin (docs/long-range.md), or of the host
                                              "the root of the squared terms" and the component */
} ley_report;

/* A potential that is nothing but what is left of terms that cancel has no more digits than these
 * have. S is the root mean square, over the points, of sqrt(sum (C q exp(-kappa d) / d)^2), d =
 * max(r_min, distance), summed over all images within LEY_TOLERANCE_NEAR_A, and of charges that
 * have none there over the nearest; S0 is the same without screening. A tolerance T is a share of
 * the root mean square of the values, or, if that is more, of S times LEY_TOLERANCE_FLOOR. No map
 * need be nearer than LEY_TOLERANCE_DIGITS of S0, which is what floats leave: plans aim at half of
 * that of S, and what no settings are more accurate to is within its tolerance there. */
#define LEY_TOLERANCE_DIGITS 1e-7
#define LEY_TOLERANCE_FLOOR 0.01
#define LEY_TOLERANCE_NEAR_A 12.0

/* The note of this name, or NULL. */
LEY_API const ley_note *ley_report_note(const ley_report *report, const char *name);

typedef struct ley_job ley_job;

/* LEY_ERROR_MEMORY when a map of this grid and a job that fills it would take more of the host's
 * memory than there is: free memory of the machine, or what control groups and ulimit leave. To be
 * asked before the map is made: what is refused here has taken nothing yet. Each part is looked at
 * again where it is allocated. Errors: those of ley_grid_check(), too; what else is wrong with
 * the options is left to the creators. */
LEY_API ley_status ley_direct_check_memory(const ley_atoms *atoms, const ley_grid *grid, const ley_direct *direct,
                                           ley_error *error);
LEY_API ley_status ley_short_range_check_memory(const ley_atoms *atoms, const ley_grid *grid,
                                                const ley_short_range *range, ley_error *error);

/* ---- Molecules by parts ---------------------------------------------------------------------- */

/* A molecule of which no rank (leyden_ranks.h) has all atoms; all ranks call both of these, in this
 * order. Each reads a share of a binary file, which it keeps. Then planes of the grid are dealt,
 * and each rank gets the atoms that lie within `halo_A` above or below its planes, or have an image
 * there, in the order of the file: jobs with these atoms compute the planes of this rank alone.
 * What has no images and is below all planes, or above them, is the first one's that has planes, or
 * the last one's. The second one may be called anew, for a larger halo, and leaves planes where
 * they are. Of a share ley_job_create_chosen() calls it, on all ranks, once meshes are chosen for a
 * tolerance, and so does a job that is done again with others. Bounds and sums of charges are the
 * molecule's throughout. `periodic` and `cell_A`: where atoms have images. `speed` is how fast this
 * rank is, in any unit: ranks that are about as fast as each other, or of which one does not know
 * (not a number), are dealt alike, one of speed 0 gets no planes. Where the halo is infinite,
 * images lie across the planes, or no rank has any speed, each rank gets all atoms. Errors of any
 * rank, those of ley_atoms_read_binary(), are those of all. */
LEY_API ley_status ley_atoms_read_share(const char *path, ley_atoms **atoms, ley_error *error);
LEY_API ley_status ley_atoms_take_part(ley_atoms *atoms, const ley_grid *grid, const bool periodic[3],
                                       const double cell_A[3][3], double halo_A, double speed, ley_error *error);

/* From shares, or parts, all atoms come to each rank. */
LEY_API ley_status ley_atoms_take_all(ley_atoms *atoms, ley_error *error);

/* The halo of short-range sums: atoms beyond it have no part in the bins of a rank's planes.
 * Infinite: these sums are not done by parts, as on oblique grids, and of energies. */
LEY_API double ley_short_range_halo_A(const ley_atoms *atoms, const ley_grid *grid, const ley_short_range *range);

/* Each kind of problem has its creator. Engine, atoms and the target must outlive the job; options
 * are copied. Errors: LEY_ERROR_USAGE for an option out of range, an unknown variant, a target at
 * which there is no such sum, or a struct of options whose size no version of this library has
 * given it.
 *
 * The engine may be NULL. Then the host does the job alone, in double precision on its threads,
 * where that is predicted to be sooner than finding and opening a device and building what the
 * build cache lacks of the method's kernels; no driver is loaded. Else the creator returns
 * LEY_ERROR_NO_DEVICE, and the caller creates an engine and the job with it:
 *
 *     ley_target target = {.map = map};
 *     status = ley_job_create_direct(NULL, atoms, target, &direct, &options, &job, &error);
 *     if (status == LEY_ERROR_NO_DEVICE) {
 *         ley_error_clear(&error);
 *         status = ley_engine_create(NULL, &engine, &error);
 *         if (status == LEY_OK)
 *             status = ley_job_create_direct(engine, atoms, target, &direct, &options, &job,
 *                                           &error);
 *     }
 *
 * What asks for a device's own ways goes to devices: a variant, a plan of devices, recipes of
 * roots, slabs of so many planes, compensated sums, places of bins, user's functions of pairs. With
 * the option `by_host`, or by the plan of a job that the host did, the host does it in any case. A
 * long-range sum is made without meshes then, as direct summation or Ewald's. The report says so
 * (`host`), and what the values were verified by (`host_check`), which is another way than the one
 * that made them. */

/* Prepares a job that makes a map, or values at points, by direct Coulomb summation, phi_i = C
 * sum_j q_j / max(|r_i - r_j|, r_min), and the field E_i = C sum_j q_j (r_i - r_j) / |r_i - r_j|^3
 * of all atoms that are no nearer than r_min where it is asked for; method "dcs". At points kernels
 * are those of Multiple Debye-Hueckel without screening, and so are the variants, and
 * ley_run_options.slab_planes counts points; float sums are off by at most 5e-6 of the sum of the
 * absolute terms there, double sums by 1e-12, and fields by three times that, of the sum of the
 * lengths of what atoms add. */
LEY_API ley_status ley_job_create_direct(ley_engine *engine, const ley_atoms *atoms, ley_target target,
                                         const ley_direct *direct, const ley_run_options *options, ley_job **job,
                                         ley_error *error);

/* The same of a short-range sum, phi_i = C sum over |r_i - r_j| < a of q_j f(max(|r_i - r_j|,
 * r_min)), and the field E_i = C sum over r_min <= |r_i - r_j| < a of -q_j f'(r)/r (r_i - r_j),
 * with any pair function and periodic cell; method "cutoff". Values are floats, at points, too;
 * there the host puts atoms into bins. Errors: also LEY_ERROR_USAGE where, at points, a step shall
 * be done otherwise (binning, transposition), or where, for a field, the derivative of an
 * expression has too many operations. */
LEY_API ley_status ley_job_create_short_range(ley_engine *engine, const ley_atoms *atoms, ley_target target,
                                              const ley_short_range *range, const ley_run_options *options,
                                              ley_job **job, ley_error *error);

/* Prepares a job that fills a boundary with Multiple Debye-Hueckel values, method "mdh", in kT/e:
 *     phi(r) = C / eps_s sum_j q_j / d_j exp(-kappa (d_j - R_j)) / (1 + kappa R_j),
 *     d_j = |r - r_j|,
 * without the screening factor when kappa < 1e-9 / A. Source: APBS's definition of `bcfl mdh`;
 * Stone et al., GPU Gems (2010). Errors: also LEY_ERROR_USAGE for a solvent out of range, and those
 * of ley_boundary_check_atoms(). */
LEY_API ley_status ley_job_create_boundary(ley_engine *engine, const ley_atoms *atoms, ley_target target,
                                           const ley_solvent *solvent, const ley_run_options *options, ley_job **job,
                                           ley_error *error);

/* Runs it, once, on all the engine's devices. A device that fails gives its slab back and the
 * others go on. A long-range job whose options were chosen for a tolerance (ley_long_range.chosen)
 * and that misses it is computed again by stricter plans; what is left is the nearest of these.
 * Errors: LEY_CANCELLED; LEY_ERROR_DEVICE when no device is left (LEY_ERROR_WRONG_RESULT when all
 * that are able are wrong, LEY_ERROR_NO_DEVICE when none is able to do what the options ask);
 * LEY_ERROR_WRONG_RESULT when the verification fails. */
LEY_API ley_status ley_job_run(ley_job *job, ley_error *error);

/* Asks a running job to stop soon. Async-signal-safe. */
LEY_API void ley_job_cancel(ley_job *job);

/* What was done; complete after ley_job_run(), whatever it returned. Lives as long as the job. */
LEY_API const ley_report *ley_job_report(const ley_job *job);

LEY_API void ley_job_destroy(ley_job *job);

/* Headers of their own, one for each subject. */
#include "leyden_apbs.h"
#include "leyden_average.h"
#include "leyden_bench.h"
#include "leyden_check.h"
#include "leyden_compare.h"
#include "leyden_density_map.h"
#include "leyden_energy.h"
#include "leyden_forecast.h"
#include "leyden_ions.h"
#include "leyden_long_range.h"
#include "leyden_map_formats.h"
#include "leyden_parameters.h"
#include "leyden_particles.h"
#include "leyden_plan.h"
#include "leyden_ranks.h"
#include "leyden_request.h"
#include "leyden_series.h"
#include "leyden_surface.h"
#include "leyden_wavefunction.h"

#ifdef __cplusplus
}
#endif
#endif
