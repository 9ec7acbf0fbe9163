/* Overlaps of contracted Gaussians, by Obara and Saika's recurrence along each axis: J. Chem. Phys.
 * 84, 3963 (1986). */
#include "error.h"
#include "memory.h"
#include "parallel.h"
#include "source/wavefunction.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POWERS = LEY_MOST_MOMENTUM + 1, ROWS = 256 /* functions whose overlaps are kept at a time */ };

/* Pairs whose Gaussian product is no larger do not count: exp(-exponent). */
static const double largest_decay = 46;

/* Integrals of x_a^i x_b^j exp(-p (x - x_p)^2) over x, without the factor of the centres'
 * distance. */
static void along_axis(double p, double to_a, double to_b, int l_a, int l_b, double s[POWERS][POWERS])
{
    const double half = 0.5 / p;
    s[0][0] = sqrt(M_PI / p);
    for (int i = 0; i < l_a; i++)
        s[i + 1][0] = to_a * s[i][0] + (i > 0 ? i * half * s[i - 1][0] : 0);
    for (int j = 0; j < l_b; j++)
        for (int i = 0; i <= l_a; i++)
            s[i][j + 1] = to_b * s[i][j] + half * ((i > 0 ? i * s[i - 1][j] : 0) + (j > 0 ? j * s[i][j - 1] : 0));
}

/* Adds the overlaps of monomials of a pair of primitives. */
static void add_primitives(const double way[3], double a, double b, int l_a, int l_b, double factor,
                           double sums[BASIS_MOST_MONOMIALS][BASIS_MOST_MONOMIALS])
{
    double s[3][POWERS][POWERS];
    for (int axis = 0; axis < 3; axis++) /* from a to b: the product's centre is b / (a + b) of the way */
        along_axis(a + b, way[axis] * b / (a + b), -way[axis] * a / (a + b), l_a, l_b, s[axis]);
    for (int i = l_a; i >= 0; i--)
        for (int j = l_a - i; j >= 0; j--)
            for (int m = l_b; m >= 0; m--)
                for (int n = l_b - m; n >= 0; n--)
                    sums[basis_monomial(l_a, i, j)][basis_monomial(l_b, m, n)] +=
                        factor * s[0][i][m] * s[1][j][n] * s[2][l_a - i - j][l_b - m - n];
}

/* The functions of shells as polynomials, by angular momentum and kind. */
typedef double polynomials[LEY_MOST_MOMENTUM + 1][2][BASIS_MOST_FUNCTIONS][BASIS_MOST_MONOMIALS];

static void make_polynomials(polynomials made)
{
    for (int l = 0; l <= LEY_MOST_MOMENTUM; l++)
        for (int is_pure = 0; is_pure <= 1; is_pure++)
            for (int f = 0; f < basis_shell_functions(l, is_pure); f++)
                basis_polynomial(l, is_pure, f, made[l][is_pure][f]);
}

/* Overlaps of monomials of two shells; false: all are 0. */
static bool of_monomials(const ley_wavefunction *w, const basis_shell *a, const basis_shell *b,
                         double sums[BASIS_MOST_MONOMIALS][BASIS_MOST_MONOMIALS])
{
    const ley_wavefunction_arrays *from = &w->arrays;
    double way[3], r2 = 0;
    bool is_any = false;
    for (int axis = 0; axis < 3; axis++) {
        way[axis] = from->positions_bohr[3 * b->atom + axis] - from->positions_bohr[3 * a->atom + axis];
        r2 += way[axis] * way[axis];
    }
    for (int64_t p = a->first_primitive; p < a->first_primitive + a->primitives; p++)
        for (int64_t q = b->first_primitive; q < b->first_primitive + b->primitives; q++) {
            const double alpha = from->exponents[p], beta = from->exponents[q],
                         decay = alpha * beta / (alpha + beta) * r2;
            if (decay > largest_decay)
                continue;
            if (!is_any)
                memset(sums, 0, (size_t)basis_shell_functions(a->l, false) * sizeof *sums);
            is_any = true;
            add_primitives(way, alpha, beta, a->l, b->l,
                           exp(-decay) * from->coefficients[p] * from->coefficients[q] *
                               basis_radial_norm(alpha, a->l) * basis_radial_norm(beta, b->l),
                           sums);
        }
    return is_any;
}

/* Overlaps of the functions of two shells, made[f_a n_b + f_b]; false: all are 0. */
static bool of_shells(const ley_wavefunction *w, polynomials all, const basis_shell *a, const basis_shell *b,
                      double made[BASIS_MOST_FUNCTIONS * BASIS_MOST_FUNCTIONS])
{
    const int n_a = basis_shell_functions(a->l, a->is_pure), n_b = basis_shell_functions(b->l, b->is_pure),
              m_a = basis_shell_functions(a->l, false), m_b = basis_shell_functions(b->l, false);
    double sums[BASIS_MOST_MONOMIALS][BASIS_MOST_MONOMIALS], half[BASIS_MOST_MONOMIALS];
    if (!of_monomials(w, a, b, sums))
        return false;
    for (int i = 0; i < n_a; i++) {
        for (int m = 0; m < m_b; m++) {
            half[m] = 0;
            for (int k = 0; k < m_a; k++)
                half[m] += all[a->l][a->is_pure][i][k] * sums[k][m];
        }
        for (int j = 0; j < n_b; j++) {
            made[i * n_b + j] = 0;
            for (int m = 0; m < m_b; m++)
                made[i * n_b + j] += all[b->l][b->is_pure][j][m] * half[m];
        }
    }
    return true;
}

/* ---- Rows of the matrix ---------------------------------------------------------------------- */

typedef struct overlap_rows {
    const ley_wavefunction *w;
    int64_t first_shell, first_row;
    double *rows; /* [rows][functions] */
    double *sums; /* [orbitals][functions] */
    double *norms;
    int64_t row_count;
} overlap_rows;

static void make_rows(void *context, size_t first, size_t last)
{
    const overlap_rows *o = context;
    double made[BASIS_MOST_FUNCTIONS * BASIS_MOST_FUNCTIONS];
    polynomials all;
    make_polynomials(all);
    for (size_t s = first; s < last; s++) {
        const basis_shell *a = &o->w->shells[o->first_shell + (int64_t)s];
        const int n_a = basis_shell_functions(a->l, a->is_pure);
        double *row = o->rows + (a->first_function - o->first_row) * o->w->functions;
        for (int64_t t = 0; t < o->w->arrays.shells; t++) {
            const basis_shell *b = &o->w->shells[t];
            const int n_b = basis_shell_functions(b->l, b->is_pure);
            const bool is_any = of_shells(o->w, all, a, b, made);
            for (int i = 0; i < n_a; i++)
                for (int j = 0; j < n_b; j++)
                    row[i * o->w->functions + b->first_function + j] = is_any ? made[i * n_b + j] : 0;
        }
    }
}

/* c S first, then times c: rows are added, which compilers turn into vectors, from the diagonal on,
 * since S is symmetric. */
static void add_norms(void *context, size_t first, size_t last)
{
    const overlap_rows *o = context;
    const int64_t n = o->w->functions;
    for (size_t i = first; i < last; i++) {
        const double *c = o->w->arrays.orbital_coefficients + (int64_t)i * n;
        double *sums = o->sums + (int64_t)i * n;
        memset(sums, 0, (size_t)n * sizeof *sums);
        for (int64_t k = 0; k < o->row_count; k++) {
            const int64_t at = o->first_row + k;
            const double *row = o->rows + k * n, own = c[at];
            sums[at] += own / 2 * row[at];
            for (int64_t m = at + 1; m < n; m++)
                sums[m] += own * row[m];
        }
        for (int64_t m = o->first_row; m < n; m++)
            o->norms[i] += 2 * sums[m] * c[m];
    }
}

/* Shells from one on whose functions are so many rows at most, or one shell. */
static int64_t next_shell(const ley_wavefunction *w, int64_t first, int64_t most)
{
    int64_t next = first, rows = 0;
    while (next < w->arrays.shells) {
        rows += basis_shell_functions(w->shells[next].l, w->shells[next].is_pure);
        if (rows > most && next > first)
            break;
        next++;
    }
    return next;
}

ley_status ley_wavefunction_overlaps(const ley_wavefunction *w, double *overlaps, ley_error *error)
{
    overlap_rows o = {.w = w, .rows = overlaps};
    (void)error;
    parallel_ranges((size_t)w->arrays.shells, make_rows, &o);
    return LEY_OK;
}

ley_status ley_wavefunction_norms(const ley_wavefunction *w, double *norms, ley_error *error)
{
    const size_t rows = (size_t)(ROWS + BASIS_MOST_FUNCTIONS) * (size_t)w->functions,
                 bytes = (rows + (size_t)(w->arrays.orbitals * w->functions)) * sizeof(double);
    ley_status status = memory_check_one("overlaps", (double)bytes, "fewer functions", error);
    if (status != LEY_OK)
        return status;
    overlap_rows o = {.w = w, .norms = norms, .rows = malloc(bytes)};
    if (o.rows == NULL)
        return ley_fail_memory(error, bytes, "overlaps");
    o.sums = o.rows + rows;
    for (int64_t i = 0; i < w->arrays.orbitals; i++)
        norms[i] = 0;
    for (int64_t next; o.first_shell < w->arrays.shells; o.first_shell = next) {
        next = next_shell(w, o.first_shell, ROWS);
        o.first_row = w->shells[o.first_shell].first_function;
        o.row_count = (next < w->arrays.shells ? w->shells[next].first_function : w->functions) - o.first_row;
        parallel_ranges((size_t)(next - o.first_shell), make_rows, &o);
        parallel_ranges((size_t)w->arrays.orbitals, add_norms, &o);
    }
    free(o.rows);
    return LEY_OK;
}

ley_status ley_wavefunction_check_norms(const ley_wavefunction *w, double most, ley_error *error)
{
    const int64_t n = w->arrays.orbitals;
    double *norms = calloc((size_t)n, sizeof *norms);
    if (norms == NULL)
        return ley_fail_memory(error, (size_t)n * sizeof *norms, "norms");
    ley_status status = ley_wavefunction_norms(w, norms, error);
    int64_t worst = 0;
    for (int64_t i = 1; i < n; i++)
        if (!(fabs(norms[i] - 1) <= fabs(norms[worst] - 1)))
            worst = i;
    if (status == LEY_OK && !(fabs(norms[worst] - 1) <= most))
        status = ley_fail(error, LEY_ERROR_INPUT,
                          "orbital %lld has a norm of %.6g, not 1: coefficients of another order, or of functions that "
                          "are normalised otherwise",
                          (long long)worst + 1, norms[worst]);
    free(norms);
    return status;
}
