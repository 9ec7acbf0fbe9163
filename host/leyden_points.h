/* leyden: the points of a list. leyden.h, which has the conventions, includes this. */
#ifndef LEYDEN_H
#include "leyden.h"
#elif !defined(LEYDEN_POINTS_H)
#define LEYDEN_POINTS_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ley_points ley_points;

/* A list of n points, which are copied, point_A[3 i + 0..2], and of values there, not-a-numbers.
 * Errors: LEY_ERROR_INPUT when n is 0 or above 2^31 - 1 or a coordinate is not finite or beyond 1e8
 * A; LEY_ERROR_MEMORY. */
LEY_API ley_status ley_points_create(int64_t n, const double *point_A, ley_points **points, ley_error *error);

LEY_API void ley_points_destroy(ley_points *points);

LEY_API int64_t ley_points_count(const ley_points *points);
LEY_API const double *ley_points_positions_A(const ley_points *points); /* [n][3] */

/* double[n], in the order of the points. Values of float sums are floats. */
LEY_API double *ley_points_values(ley_points *points);
LEY_API const double *ley_points_read_values(const ley_points *points);

/* The electric field, E = -grad phi, at each point: makes room for it, so that jobs of these points
 * compute it beside the potentials, from the derivatives of the same functions. It begins as
 * not-a-numbers. Atoms that are nearer than r_min add nothing, as the potential does not change
 * there; of a pair function that is an energy it is the force upon the probe. Errors:
 * LEY_ERROR_MEMORY. */
LEY_API ley_status ley_points_add_field(ley_points *points, ley_error *error);

/* double[n][3]: along x, y and z, in the values' unit per A. NULL: nobody has asked for it. */
LEY_API double *ley_points_field(ley_points *points);
LEY_API const double *ley_points_read_field(const ley_points *points);

/* ---- Charges that a point does not feel ----
 *
 * A point on an atom feels that atom's own charge as well, C q / r_min, which is thousands of kT/e
 * and hides what all others do there. Atoms that a point excludes do not count there:
 *
 *     phi_i = sum over all j and images R of T_j(|r_i - r_j - R|)
 *             - sum over excluded j of T_j(d_ij),    d_ij = min over R of |r_i - r_j - R|,
 *
 * T_j the term of atom j in the job's sum: C q_j / max(r, r_min), screened where the job is, or a
 * pair function within its cutoff. Of an excluded atom only the nearest image is left out, as of
 * excluded pairs in particle-mesh programs: in periodic space its other images count, and so do the
 * mean or the background that go with it. The field leaves out the same terms, E_i as below, less
 * their gradients. The sums over pairs are made on the host in double precision at such points, so
 * that values keep the digits that jobs promise of the terms that are left; verification judges
 * them by these. */

/* Atoms within this of a point are its own. */
#define LEY_OWN_A 0.01

/* Lists for each point: atom[first[i]] to before atom[first[i + 1]], numbers from 0, in any order;
 * first is [n + 1] and begins with 0. They are copied, and replace former ones. Jobs refuse atoms
 * that they do not have with LEY_ERROR_INPUT. Errors: LEY_ERROR_INPUT for a negative number or
 * lists that do not follow each other; LEY_ERROR_MEMORY. */
LEY_API ley_status ley_points_exclude(ley_points *points, const int64_t *first, const int64_t *atom, ley_error *error);

/* Reads such lists: a line for each point, numbers of `atoms` from 1 in their order, separated by
 * spaces or commas; a hyphen where there is none; '#' begins a comment, and empty lines do not
 * count. Errors: LEY_ERROR_FILE, LEY_ERROR_INPUT with "file:line: what", LEY_ERROR_MEMORY. */
LEY_API ley_status ley_points_read_exclusions(ley_points *points, const ley_atoms *atoms, const char *path,
                                              ley_error *error);

/* The same of what is at the points themselves: each excludes the atoms of which an image is within
 * LEY_OWN_A of it; and where `group` is not NULL, [atoms], all atoms with the same number in it, as
 * those of its residue. Vectors of `cell_A` along which `periodic` is true repeat the atoms; both
 * may be NULL: open space. Errors: LEY_ERROR_INPUT for a degenerate cell; LEY_ERROR_MEMORY. */
LEY_API ley_status ley_points_exclude_own(ley_points *points, const ley_atoms *atoms, const int64_t *group,
                                          const bool periodic[3], const double cell_A[3][3], ley_error *error);

/* The same of residues, as ley_atoms_residues() knows those of `atoms`: a stretch of neighbouring
 * atoms with one number is one. `residue`: [points], the numbers of a molecule whose atoms the
 * points are: each point excludes all atoms of the residue of that number, if there is one; where
 * several stretches have it, as without chains, the one of which an atom is at the point. NULL:
 * each point excludes the residue of the atom that is within LEY_OWN_A of it. Errors: those of
 * ley_points_exclude_own(); LEY_ERROR_INPUT where residues are unknown, where it cannot be told
 * which one is meant, and where `residue` is given and none of these is there. */
LEY_API ley_status ley_points_exclude_residues(ley_points *points, const ley_atoms *atoms, const int32_t *residue,
                                               const bool periodic[3], const double cell_A[3][3], ley_error *error);

/* How many points are within LEY_OWN_A of a charge, or its image, that they do not exclude; and the
 * first of them and a charge that is there (-1 where there is none), which may be NULL. Errors: the
 * same. */
LEY_API ley_status ley_points_on_charges(const ley_points *points, const ley_atoms *atoms, const bool periodic[3],
                                         const double cell_A[3][3], int64_t *count, int64_t *point, int64_t *atom,
                                         ley_error *error);

/* Units of the values, as "kT/e"; empty when unknown. Set: copied, cut at 31 characters. */
LEY_API const char *ley_points_units(const ley_points *points);
LEY_API void ley_points_set_units(ley_points *points, const char *units);

/* Reads points for ley_points_create() and ley_boundary_create_points(): a line each, three
 * numbers, separated by spaces or commas; '#' begins a comment; a first line of words is a header.
 * Where the header names columns x, y and z, these are read and all others are ignored, so that
 * tables of ley_points_write_csv() are lists of points. An array of NumPy's, by its content, has a
 * row for each point, of which the first three columns are read. `*point_A` is from malloc. Errors:
 * LEY_ERROR_FILE, or LEY_ERROR_INPUT with "file:line: what". */
LEY_API ley_status ley_points_read(const char *path, int64_t *n, double **point_A, ley_error *error);

/* Writes lines "x,y,z,phi", or "x,y,z,phi,ex,ey,ez" where the points have a field, below a header
 * line, and the comment above that, each of its lines
 * behind "# "; it may be NULL. The file appears under its name only when it is whole. `cancel`:
 * stops the writing when it becomes true (LEY_CANCELLED), or NULL. Errors: LEY_ERROR_FILE;
 * LEY_ERROR_INPUT for a value that is not finite, which is never written. */
LEY_API ley_status ley_points_write_csv(const ley_points *points, const char *path, const char *comment,
                                        const volatile bool *cancel, ley_error *error);

/* The same columns as an array of NumPy's, float64, shape (n, 4), or (n, 7) with a field; there is
 * no place for a comment. Errors: those of ley_points_write_csv(). */
LEY_API ley_status ley_points_write_npy(const ley_points *points, const char *path, const volatile bool *cancel,
                                        ley_error *error);

/* The same of `count` values at each point in the place of the points' own, values[count][n], as
 * those of a ley_wavefunction_request: as text, with these names in the header line (NULL: phi, ex,
 * ey, ez), or where `path` ends in .npy an array of shape (n, 3 + count). Errors: those of
 * ley_points_write_csv(); LEY_ERROR_USAGE. */
LEY_API ley_status ley_points_write_columns(const ley_points *points, size_t count, const char *const *names,
                                            const double *values, const char *path, const char *comment,
                                            const volatile bool *cancel, ley_error *error);

#ifdef __cplusplus
}
#endif
#endif
