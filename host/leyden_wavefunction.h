/* leyden: wavefunctions: molecular orbitals, electron densities and potentials. leyden.h, which has
 * the conventions, includes this; docs/orbitals.md has the formulas. */
#ifndef LEYDEN_H
#include "leyden.h"
#elif !defined(LEYDEN_WAVEFUNCTION_H)
#define LEYDEN_WAVEFUNCTION_H

#ifdef __cplusplus
extern "C" {
#endif

/* A basis of contracted Gaussian functions around nuclei, and orbitals in it. Immutable once
 * made. */
typedef struct ley_wavefunction ley_wavefunction;

/* The highest angular momentum of a shell: i functions. */
#define LEY_MOST_MOMENTUM 6

/* What a wavefunction is made of, in atomic units: lengths in bohr. With R the vector from the
 * shell's nucleus, a function of a shell is
 *
 *     phi(r) = sum over p of d_p N_p S(R) exp(-a_p R^2)
 *
 * where S is x^i y^j z^k with i + j + k = l (Cartesian), or the real solid harmonic S_lm (pure),
 * and N_p the factor that makes S exp(-a_p R^2) of norm 1, for each function by itself. Functions
 * of a shell are in this order: Cartesian ones with i descending, then j (xx xy xz yy yz zz), pure
 * ones with m = 0, +1, -1, +2, -2, ...; those of +m are as cos(m phi), those of -m as sin(m phi),
 * without the phase (-1)^m of Condon and Shortley: pure p functions are z, x, y.
 *
 * Orbital i is the sum of coefficients[i][k] phi_k over all functions in the order of the
 * shells. */
typedef struct ley_wavefunction_arrays {
    size_t size; /* sizeof(ley_wavefunction_arrays) */
    int64_t nuclei, shells, primitives, orbitals;
    const int32_t *numbers;               /* [nuclei]: of the elements; NULL: the rounded charges */
    const double *charges;                /* [nuclei], e: less what effective potentials stand for */
    const double *positions_bohr;         /* [nuclei][3] */
    const int32_t *shell_atom;            /* [shells], from 0 */
    const int32_t *shell_l;               /* [shells]: l, 0 to LEY_MOST_MOMENTUM */
    const int32_t *shell_pure;            /* [shells]: 1 pure, 0 Cartesian */
    const int64_t *shell_first_primitive; /* [shells + 1]; the last one is `primitives` */
    const double *exponents;              /* [primitives]: a_p, per bohr^2 */
    const double *coefficients;           /* [primitives]: d_p */
    const double *orbital_coefficients;   /* [orbitals][functions] */
    const double *energies;               /* [orbitals], hartree; NULL: unknown */
    const double *occupations;            /* [orbitals]: 0 to 2 */
    const int32_t *spins;                 /* [orbitals]: 0 both, 1 alpha, -1 beta; NULL: both */
} ley_wavefunction_arrays;

/* Copies the arrays. Errors: LEY_ERROR_INPUT when a number is not finite, an exponent not above 0
 * or beyond 1e12, a shell has no primitives, an atom that is not there or an l out of range, or
 * counts do not fit; LEY_ERROR_MEMORY; LEY_ERROR_USAGE. */
LEY_API ley_status ley_wavefunction_create(const ley_wavefunction_arrays *arrays, ley_wavefunction **wavefunction,
                                           ley_error *error);
LEY_API void ley_wavefunction_destroy(ley_wavefunction *wavefunction);

/* A wavefunction whose density is that of one less that of another, for Fukui functions: the
 * occupied orbitals of both, those of the second with occupations of the other sign. Nuclei at the
 * same place in both are there once. Errors: LEY_ERROR_MEMORY; LEY_ERROR_INPUT. */
LEY_API ley_status ley_wavefunction_difference(const ley_wavefunction *of, const ley_wavefunction *less,
                                               ley_wavefunction **difference, ley_error *error);

/* Reads and writes the container of docs/formats.md: arrays of these names in an .npz file, as
 * numpy.savez() writes it. Errors: LEY_ERROR_FILE; LEY_ERROR_INPUT with "file: member: what", and
 * those of ley_wavefunction_create(). A file appears under its name only when it is whole. */
LEY_API ley_status ley_wavefunction_read(const char *path, ley_wavefunction **wavefunction, ley_error *error);
LEY_API ley_status ley_wavefunction_write(const ley_wavefunction *wavefunction, const char *path,
                                          const volatile bool *cancel, ley_error *error);

/* Its arrays, which are the wavefunction's; none is NULL. */
LEY_API ley_wavefunction_arrays ley_wavefunction_get(const ley_wavefunction *wavefunction);
LEY_API int64_t ley_wavefunction_functions(const ley_wavefunction *wavefunction);

/* The nuclei as atoms, in A, with their charges; they are the wavefunction's. */
LEY_API const ley_atoms *ley_wavefunction_atoms(const ley_wavefunction *wavefunction);

/* Electrons of one spin, 1 or -1, or of both, 0: the sum of occupations. */
LEY_API double ley_wavefunction_electrons(const ley_wavefunction *wavefunction, int spin);

/* The norm of each orbital, sum over k, m of c_k S_km c_m, with the basis' own overlaps S; 1 where
 * the file's conventions are ours. Errors: LEY_ERROR_MEMORY. */
LEY_API ley_status ley_wavefunction_norms(const ley_wavefunction *wavefunction, double *norms, ley_error *error);

/* LEY_ERROR_INPUT, with the worst one, when a norm differs from 1 by more than `most`: 1e-4, say.
 * */
LEY_API ley_status ley_wavefunction_check_norms(const ley_wavefunction *wavefunction, double most, ley_error *error);

/* Overlaps of functions, [functions][functions]. */
LEY_API ley_status ley_wavefunction_overlaps(const ley_wavefunction *wavefunction, double *overlaps, ley_error *error);

/* The orbitals that a text names, from malloc, counted from 0: "homo", "lumo", "homo-1", "lumo+2"
 * in letters of any case, numbers from 1, ranges of either, "5-8" and "homo-2..lumo", separated
 * by commas; with "alpha:" or "beta:" in front of a name it is counted among the orbitals of this
 * spin. Without it HOMO and LUMO are those of all orbitals, by energy (by number where energies
 * are unknown). Errors: LEY_ERROR_USAGE. */
LEY_API ley_status ley_wavefunction_find(const ley_wavefunction *wavefunction, const char *names, int64_t **orbitals,
                                         size_t *count, ley_error *error);

/* The default grid: around all nuclei with `padding_bohr` on every side, `spacing_bohr` apart. 0:
 * 6 bohr and 0.2 bohr. Errors: those of ley_grid_around(). */
LEY_API ley_status ley_wavefunction_grid(const ley_wavefunction *wavefunction, double padding_bohr, double spacing_bohr,
                                         ley_grid *grid, ley_error *error);

/* ---- Values ---------------------------------------------------------------------------------- */

typedef enum ley_wavefunction_kind {
    LEY_ORBITALS,     /* psi_i, each by itself: bohr^-3/2 */
    LEY_DENSITY,      /* rho = sum over i of n_i psi_i^2: bohr^-3 */
    LEY_SPIN_DENSITY, /* the same of alpha less beta */
    LEY_POTENTIAL,    /* of the nuclei and the electrons: sum_A Z_A/|r - R_A| - int rho(r')/|r - r'| dr' */
    LEY_WAVEFUNCTION_KINDS
} ley_wavefunction_kind;

typedef struct ley_wavefunction_options {
    size_t size;   /* sizeof(ley_wavefunction_options): ley_wavefunction_options_default() sets it
                    */
    bool is_exact; /* every term counts; else terms are left out where all of them together are less than 1e-6 of the
                      largest value */
} ley_wavefunction_options;

LEY_API void ley_wavefunction_options_default(ley_wavefunction_options *options);

/* What is wanted, and where it goes. Values have a number: of LEY_ORBITALS that of the orbital in
 * the list; of densities 0 is the density, then, where they are asked for, come its derivatives
 * along x, y and z (bohr^-4), its Laplacian (bohr^-5), and last its reduced gradient
 *
 *     s = |grad rho| / (2 (3 pi^2)^(1/3) |rho|^(4/3)),
 *
 * which is LEY_MOST_REDUCED_GRADIENT where it would be more, far from all nuclei (E. R. Johnson et
 * al., J. Am. Chem. Soc. 132, 6498 (2010)). Of LEY_POTENTIAL 0 is the potential, then come the
 * components of the field E = -grad V along x, y and z, where it is asked for: in hartree/e and
 * hartree/(e bohr), or in other units and these per A. Nearer to a nucleus than 0.001 bohr the
 * distance counts as that, and the nucleus has no field. */
#define LEY_MOST_REDUCED_GRADIENT 100
typedef struct ley_wavefunction_request {
    ley_wavefunction_kind kind;
    const int64_t *orbitals; /* from 0: of LEY_ORBITALS; of densities those that count, NULL: all */
    size_t orbital_count;
    const double *occupations; /* [orbital_count], of LEY_DENSITY: in place of the orbitals' own, of any sign; or
                                  NULL */
    bool gradient, laplacian;  /* of densities */
    bool reduced_gradient;     /* of densities; no term is left out then */
    bool field;                /* of LEY_POTENTIAL, and: */
    const char *units;         /* "hartree/e", "kT/e", "V", "kcal/mol/e", "kJ/mol/e"; NULL: hartree/e */
    double temperature_K;      /* of kT/e; 0: 298.15 */
    ley_map *const *maps;      /* one for each value, of one grid; or NULL, and: */
    int64_t points;            /* so many points */
    const double *point_A;     /* [points][3] */
    double *values;            /* [values][points] */
} ley_wavefunction_request;

/* How many values that is at each point. */
LEY_API size_t ley_wavefunction_values(const ley_wavefunction_request *request);

/* A job that computes them on the engine's devices; without an engine, the host alone, as of other
 * jobs. Lists are copied; the wavefunction, maps, points and values must outlive it, and the
 * wavefunction the writing of its maps. Errors: LEY_ERROR_USAGE, LEY_ERROR_MEMORY;
 * LEY_ERROR_NO_DEVICE where a device would be faster. */
LEY_API ley_status ley_job_create_wavefunction(ley_engine *engine, const ley_wavefunction *wavefunction,
                                               const ley_wavefunction_request *request,
                                               const ley_wavefunction_options *options,
                                               const ley_run_options *run_options, ley_job **job, ley_error *error);

/* The same again and again, for one set of coefficients after the other, as of an animation:
 * between two runs kernels, tables and buffers stay where they are. The wavefunction is copied;
 * the engine, maps, points and values must outlive the plan. The first run is verified as a job
 * is; of each of the others four values are recomputed in double precision (none with
 * verify_points 0), and where one is wrong all is made anew. A run takes at least what comes back
 * from the device: 4 bytes a point and value. Errors: those of ley_job_create_wavefunction() and
 * ley_wavefunction_create(). */
typedef struct ley_wavefunction_plan ley_wavefunction_plan;
LEY_API ley_status ley_wavefunction_plan_create(ley_engine *engine, const ley_wavefunction *wavefunction,
                                                const ley_wavefunction_request *request,
                                                const ley_wavefunction_options *options,
                                                const ley_run_options *run_options, ley_wavefunction_plan **plan,
                                                ley_error *error);

/* For the next run: other coefficients, [orbitals][functions]; other occupations, [orbitals]. NULL:
 * as they are. Errors: LEY_ERROR_INPUT, and all is as it was. */
LEY_API ley_status ley_wavefunction_plan_update(ley_wavefunction_plan *plan, const double *orbital_coefficients,
                                                const double *occupations, ley_error *error);

/* Computes the values. Errors: those of ley_job_run(). */
LEY_API ley_status ley_wavefunction_plan_run(ley_wavefunction_plan *plan, ley_error *error);

/* What was done in the last run; NULL: there was none. Until the next run or the plan's end. */
LEY_API const ley_report *ley_wavefunction_plan_report(const ley_wavefunction_plan *plan);
LEY_API void ley_wavefunction_plan_destroy(ley_wavefunction_plan *plan);

/* Writes maps of several orbitals, which a job has filled, as one cube file: the number of atoms is
 * negative, behind the atoms come the orbitals' numbers from 1, and at each point stand the values
 * of all. The wavefunction must still be there: the file has its nuclei. A file of one map is what
 * ley_map_write() writes. The rest is as there. */
LEY_API ley_status ley_wavefunction_write_cube(ley_map *const *maps, size_t count, const int64_t *orbitals,
                                               const char *path, const char *comment, const volatile bool *cancel,
                                               ley_error *error);

#ifdef __cplusplus
}
#endif
#endif
