/* A law: what a method's values are sums of, in a row. It has the sum in plain double precision,
 * written from its formula and nothing else, by which the host judges; and what the kernel needs by
 * which devices judge, cl/reference.cl, whose terms are those of cl/laws/X.h. A new method of new
 * values has a law of its own in its folder. */
#ifndef LEY_LAW_LAW_H
#define LEY_LAW_LAW_H

#include "expression/expression.h"
#include "law/periodic.h"
#include "leyden.h"

/* A sum at a point: its value, and the sum of the absolute values of its terms, in the same unit,
 * which is what errors are judged against: where terms nearly cancel, a float sum has the digits
 * of its terms. Of a long-range sum that is the root of the sum of its squared terms, each with
 * what its limit is (ley_long_range_allowed() of cl/laws/long_range.h), and the value's magnitude:
 * the errors of meshes are random from charge to charge, and the sum of absolute terms, which
 * grows with the molecule while the potential does not, would hide a wrong mesh. Where rounding
 * decides whether a term counts, the value may be lower by as much as `lower` (<= 0) and higher by
 * as much as `higher` (>= 0). */
typedef struct reference_value {
    double value, absolute, lower, higher;
} reference_value;

struct law;

/* What a job sums, whatever its method. A law reads of it what it needs. */
typedef struct reference_terms {
    const struct law *law;
    double constant; /* in front of the sum */
    const ley_atoms *atoms;
    double r_min_A;
    double kappa_per_A;
    const ley_short_range *range; /* of pairs within a cutoff; else NULL */
    const expression *formula;    /* of LEY_PAIR_EXPRESSION */
    const expression *slope;      /* its derivative; NULL: nobody asks for the field */
    double largest_A;             /* of a pair function: places are rounded by this size, if beyond the cutoff's */
    const cell *cell;             /* of sums over all charges: along which these have images; NULL: none */
    ley_long_range_shares shares; /* of the same */
    double near_A;                /* with images: how far their squared terms count */
    double field_per_A;           /* and of the field: what a charge's may be off by, of q/r; */
    double field_share;           /* of q/r^2, and of the field itself */
    periodic_sum *images;         /* made by reference_begin() */
    const struct wavefunction_quantity *quantity; /* of wavefunctions: what of them (law/wavefunction.h) */
    const int64_t *excluded; /* atoms whose nearest image does not count at the place at hand, ascending, */
    size_t excluded_count;   /* so many */
} reference_terms;

typedef struct law {
    const char *name;
    int number; /* LEY_LAW_... of its file in cl/laws; 0: it has none, as the host alone judges */

    /* The sum at a point. */
    reference_value (*value)(const reference_terms *terms, const double point_A[3]);

    /* The same at several points, to the last bit, where that takes less; NULL: they are summed one
     * by one. */
    void (*values)(const reference_terms *terms, size_t n, const double (*point_A)[3], reference_value *values);

    /* Less its gradient, whose components are 0 before; NULL: no number. */
    void (*field)(const reference_terms *terms, const double point_A[3], reference_value field[3]);

    /* What stands beside sums of values, without the constant: squares of terms, not what is
     * absolute in them. */
    bool sums_squares;

    /* ---- On devices. ---- */

    /* Whether there is a kernel for each pair function of cl/pair_table.h. */
    bool has_pairs;

    /* `numbers` of cl/reference.cl; NULL: the terms take none. */
    void (*numbers)(const reference_terms *terms, double numbers[4]);

    /* {R, eps} of an atom; false: these terms need neither. NULL: none does. */
    bool (*more)(const reference_terms *terms, size_t atom, double more[2]);

    /* gm_cell of cl/reference.cl; false: the cell has no volume. NULL: terms need no cell. */
    bool (*axes)(const reference_terms *terms, double axes[6][4]);

    /* ---- Of what the host does in place of devices (method.by_host); else NULL and false. ---- */

    /* What an atom with a charge adds at a distance, without the constant: written a second time,
     * in extended precision (second.h). */
    long double (*second)(const reference_terms *terms, size_t atom, long double r_A);

    /* The whole sum without the constant in another way, where it is no sum over atoms; NULL: it is
     * one. */
    long double (*again)(const reference_terms *terms, const double point_A[3]);

    /* Whether that is q/max(r, r_min); and whether exp(-kappa max(r, r_min)) is a factor of it
     * (schedule/host_direct.h). */
    bool is_coulomb, is_screened;
} law;

/* All of them, NULL behind the last: methods/registry.h. */
extern const law *const law_registry[];

#endif
