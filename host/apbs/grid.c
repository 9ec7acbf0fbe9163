/* The grid that APBS solves on first, and what its boundary and a map in its place cost. */
#include "apbs/grid.h"

#include "apbs/speed.h"
#include "error.h"

#include <math.h>
#include <string.h>

static const double small_A = 1e-9;         /* APBS's VSMALL */
static const double least_reduction = 0.25; /* of the spacing from one level of focusing to the next: VREDFRAC */

static double squared(double x)
{
    return x * x;
}

/* ---- dime ------------------------------------------------------------------------------------ */

/* Points along an axis are c 2^(levels + 1) + 1. APBS cuts dimensions above 65 that leave less than
 * four levels. */
static int levels_of(int64_t *n)
{
    int halvings = 0;
    for (int64_t left = *n - 1; left > 0 && left % 2 == 0; left /= 2)
        halvings++;
    if (*n <= 65 || halvings - 1 >= LEY_APBS_LEVELS_LEAST)
        return halvings - 1;
    const int64_t block = INT64_C(1) << (LEY_APBS_LEVELS_LEAST + 1);
    *n = *n / block * block + 1;
    return LEY_APBS_LEVELS_LEAST;
}

static ley_status correct_dime(ley_apbs_input *input, const ley_apbs_facts *facts, int64_t n[3], ley_error *error)
{
    const double *asked = facts->value[LEY_APBS_DIME];
    int line = facts->value_line[LEY_APBS_DIME];
    for (int axis = 0; axis < 3; axis++) {
        n[axis] = (int64_t)asked[axis];
        if (n[axis] < 2)
            return ley_apbs_fail(input, line, error, "dime: %lld points are no grid", (long long)n[axis]);
    }
    if (facts->type == LEY_APBS_DUMMY) {
        if (ley_apbs_has(facts, LEY_APBS_NLEV) && !(facts->value[LEY_APBS_NLEV][0] > 0))
            return ley_apbs_fail(input, facts->value_line[LEY_APBS_NLEV], error, "nlev: %g is not positive",
                                 facts->value[LEY_APBS_NLEV][0]);
        return LEY_OK;
    }
    for (int axis = 0; axis < 3; axis++)
        if (levels_of(&n[axis]) <= 0)
            return ley_apbs_fail(
                input, line, error,
                "dime: %lld points along %c, must be c 2^(l + 1) + 1 with l >= 1 (33, 65, 97, 129, 161, ...)",
                (long long)n[axis], 'x' + axis);
    if (n[0] != asked[0] || n[1] != asked[1] || n[2] != asked[2])
        ley_apbs_warn(input, NULL, line, "APBS makes dime %.0f %.0f %.0f into %lld %lld %lld", asked[0], asked[1],
                      asked[2], (long long)n[0], (long long)n[1], (long long)n[2]);
    return LEY_OK;
}

/* ---- Focusing -------------------------------------------------------------------------------- */

/* Side of the fine grid: that of one processor's part, with its overlap, in mg-para. */
static ley_status fine_length(const ley_apbs_input *input, const ley_apbs_facts *facts, const int64_t n[3],
                              double length_A[3], ley_error *error)
{
    memcpy(length_A, facts->value[LEY_APBS_FGLEN], 3 * sizeof(double));
    for (int axis = 0; axis < 3 && facts->type == LEY_APBS_PARA; axis++) {
        double parts = facts->value[LEY_APBS_PDIME][axis];
        double overlap = parts == 1 ? 0 : facts->value[LEY_APBS_OFRAC][0];
        double whole = parts * floor((double)n[axis] / (1 + 2 * overlap) + 0.5); /* points of all parts together */
        if (!(whole >= 2))
            return ley_apbs_fail(input, facts->value_line[LEY_APBS_OFRAC], error,
                                 "ofrac: an overlap of %g leaves no points along %c", overlap, 'x' + axis);
        length_A[axis] = length_A[axis] / (whole - 1) * (double)(n[axis] - 1);
    }
    return LEY_OK;
}

/* Number of grids, two at least; `reduction`: of the spacing from one to the next. */
static int focusing_levels(const double coarse_A[3], const double fine_A[3], const int64_t n[3], double reduction[3])
{
    int levels = 2;
    double ratio[3];
    for (int axis = 0; axis < 3; axis++) {
        double intervals = (double)(n[axis] - 1);
        ratio[axis] = fine_A[axis] / intervals / (coarse_A[axis] / intervals);
        if (!(ratio[axis] < least_reduction))
            continue;
        double steps = ceil(log(ratio[axis]) / log(least_reduction));
        int needed = steps < 1000 ? (int)steps + 1 : 1000; /* APBS has room for 20 */
        levels = needed > levels ? needed : levels;
    }
    for (int axis = 0; axis < 3; axis++)
        reduction[axis] = pow(ratio[axis], 1.0 / (levels - 1.0));
    return levels;
}

/* APBS moves each level towards the fine grid's centre, as far as the level before has room, and
 * stops when the last one sticks out. */
static ley_status check_focusing(const ley_apbs_input *input, const ley_apbs_facts *facts,
                                 const double coarse_center_A[3], const double fine_center_A[3],
                                 const double reduction[3], int levels, ley_error *error)
{
    for (int axis = 0; axis < 3; axis++) {
        double center_A = coarse_center_A[axis], length_A = facts->value[LEY_APBS_CGLEN][axis];
        for (int level = 1; level < levels; level++) {
            double next_A = fine_center_A[axis], next_length_A = reduction[axis] * length_A;
            double below_A = (center_A - 0.5 * length_A) - (next_A - 0.5 * next_length_A);
            if (below_A >= small_A)
                next_A += below_A;
            double above_A = (next_A + 0.5 * next_length_A) - (center_A + 0.5 * length_A);
            bool last = level == levels - 1;
            if ((below_A >= small_A && (last || above_A >= small_A)) || (above_A >= small_A && last))
                return ley_apbs_fail(input, facts->value_line[LEY_APBS_FGLEN], error,
                                     "the fine grid sticks out of the coarse one along %c by %g A: APBS stops",
                                     'x' + axis, below_A >= small_A ? below_A : above_A);
            if (above_A >= small_A)
                next_A -= above_A;
            center_A = next_A;
            length_A = next_length_A;
        }
    }
    return LEY_OK;
}

/* ---- Grid --------------------------------------------------------------------------------- */

/* False when the molecule it stands for has no known positions. */
static bool center_of(const ley_apbs_input *input, const ley_apbs_facts *facts, ley_apbs_keyword keyword,
                      double center_A[3])
{
    const double *value = facts->value[keyword];
    if (value[3] == -1) {
        memcpy(center_A, value, 3 * sizeof(double));
        return true;
    }
    double low_A[3], high_A[3];
    const ley_atoms *atoms = input->molecule[(size_t)value[3] - 1].atoms;
    if (atoms == NULL)
        return false;
    ley_atoms_bounds_A(atoms, low_A, high_A);
    for (int axis = 0; axis < 3; axis++)
        center_A[axis] = 0.5 * (high_A[axis] + low_A[axis]);
    return true;
}

/* Sets the mesh and the number of levels; leaves them 0 when the grid's centre is not known. */
static ley_status place_grid(ley_apbs_input *input, const ley_apbs_facts *facts, ley_apbs_elec *elec, ley_error *error)
{
    bool is_auto = facts->type == LEY_APBS_AUTO || facts->type == LEY_APBS_PARA;
    const double *length_A = facts->value[is_auto ? LEY_APBS_CGLEN : LEY_APBS_GLEN];
    double center_A[3], fine_center_A[3], fine_A[3], reduction[3];
    ley_grid grid = {.n = {0}};
    ley_status status = correct_dime(input, facts, grid.n, error);
    if (status != LEY_OK || !center_of(input, facts, is_auto ? LEY_APBS_CGCENT : LEY_APBS_GCENT, center_A))
        return status;
    int levels = 1;
    if (is_auto) {
        status = fine_length(input, facts, grid.n, fine_A, error);
        if (status != LEY_OK)
            return status;
        levels = focusing_levels(length_A, fine_A, grid.n, reduction);
        if (facts->type == LEY_APBS_AUTO && center_of(input, facts, LEY_APBS_FGCENT, fine_center_A))
            status = check_focusing(input, facts, center_A, fine_center_A, reduction, levels, error);
        if (status != LEY_OK)
            return status;
    }
    for (int axis = 0; axis < 3; axis++) {
        double intervals = (double)(grid.n[axis] - 1);
        grid.step_A[axis][axis] = !is_auto && ley_apbs_has(facts, LEY_APBS_GRID) ? facts->value[LEY_APBS_GRID][axis]
                                                                                 : length_A[axis] / intervals;
        grid.origin_A[axis] = center_A[axis] - 0.5 * (intervals * grid.step_A[axis][axis]);
    }
    status = ley_grid_check(&grid, error);
    if (status != LEY_OK) {
        ley_error_prefix(error, "%s:%d", input->path, facts->line);
        return status;
    }
    elec->grid = grid;
    elec->levels = levels;
    return LEY_OK;
}

/* ---- ELEC sections --------------------------------------------------------------------------- */

static ley_boundary_kind kind_of(const ley_apbs_facts *facts)
{
    if (facts->type == LEY_APBS_NO_GRID)
        return LEY_BOUNDARY_OTHER;
    switch ((int)facts->value[LEY_APBS_BCFL][0]) {
    case LEY_APBS_BCFL_ZERO:
        return LEY_BOUNDARY_ZERO;
    case LEY_APBS_BCFL_SDH:
        return LEY_BOUNDARY_SDH;
    case LEY_APBS_BCFL_MDH:
        return LEY_BOUNDARY_MDH;
    default:
        return LEY_BOUNDARY_OTHER;
    }
}

/* The boundary needs positions, charges and radii as APBS has them; where they are not to be had it
 * is left to APBS. */
static void check_molecules(ley_apbs_input *input, const ley_apbs_facts *facts, ley_apbs_elec *elec)
{
    if (elec->boundary != LEY_BOUNDARY_MDH && elec->boundary != LEY_BOUNDARY_SDH)
        return;
    const ley_apbs_molecule_entry *molecule = &input->molecule[elec->molecule];
    if (molecule->atoms == NULL)
        ley_apbs_warn(
            input, NULL, facts->value_line[LEY_APBS_MOL],
            "mol %zu is a %s file (%s): the boundary is left to APBS, as leyden computes those of PQR files only",
            elec->molecule + 1, molecule->format, molecule->path);
    else if (input->parm_line != 0)
        ley_apbs_warn(
            input, NULL, input->parm_line,
            "with `parm` APBS replaces the charges and radii of its molecules: the boundary of the ELEC section of "
            "line %d is left to APBS",
            facts->line);
    else if (elec->grid.n[0] == 0)
        ley_apbs_warn(input, NULL, facts->line,
                      "the grid is centred on a molecule that is no PQR file: the boundary is left to APBS");
    else
        return;
    elec->boundary = LEY_BOUNDARY_OTHER;
}

static void warn_parallel(ley_apbs_input *input, const ley_apbs_facts *facts)
{
    const double *parts = facts->value[LEY_APBS_PDIME];
    double processors = parts[0] * parts[1] * parts[2], rank = facts->value[LEY_APBS_ASYNC][0];
    if (!ley_apbs_has(facts, LEY_APBS_ASYNC) && processors > 1)
        ley_apbs_warn(input, NULL, facts->line,
                      "APBS leaves this section out unless it runs as %.0f MPI processes or with `async`", processors);
    if (ley_apbs_has(facts, LEY_APBS_ASYNC) && !(rank < processors))
        ley_apbs_warn(input, NULL, facts->value_line[LEY_APBS_ASYNC],
                      "APBS leaves this section out: process %.0f is not within 0 and %.0f", rank, processors - 1);
}

ley_status ley_apbs_place(ley_apbs_input *input, ley_error *error)
{
    int calculations = 0;
    for (size_t i = 0; i < input->elec_count; i++) {
        const ley_apbs_facts *facts = &input->facts[i];
        ley_apbs_elec *elec = &input->elec[i];
        *elec = (ley_apbs_elec){.number = (int)i + 1,
                                .line = facts->line,
                                .name = input->name[i],
                                .type = input->type[i],
                                .boundary = kind_of(facts)};
        if (facts->type != LEY_APBS_NO_GRID) {
            elec->molecule = (size_t)facts->value[LEY_APBS_MOL][0] - 1;
            elec->solvent = (ley_solvent){.dielectric = facts->value[LEY_APBS_SDIE][0],
                                          .solute_dielectric = facts->value[LEY_APBS_PDIE][0],
                                          .temperature_K = facts->value[LEY_APBS_TEMP][0],
                                          .ion_count = facts->ion_count,
                                          .ions = facts->ion};
            char remark[256];
            if (ley_solvent_remark(&elec->solvent, remark, sizeof remark))
                ley_apbs_warn(input, NULL, facts->value_line[LEY_APBS_ION], "%s", remark);
            ley_status status = place_grid(input, facts, elec, error);
            if (status != LEY_OK)
                return status;
            check_molecules(input, facts, elec);
            if (facts->type == LEY_APBS_PARA)
                warn_parallel(input, facts);
        }
        calculations += elec->levels > 0 ? elec->levels : 1;
        if (calculations > LEY_APBS_ELECS_MAX && calculations - elec->levels <= LEY_APBS_ELECS_MAX)
            ley_apbs_warn(input, NULL, facts->line, "APBS has room for %d calculations: it leaves this section out",
                          LEY_APBS_ELECS_MAX);
    }
    return LEY_OK;
}

/* ---- Costs ----------------------------------------------------------------------------------- */

/* Of APBS on one core, of what apbs_costs names. */
static double apbs_s(int what)
{
    double seconds[COSTS_MOST];
    costs_get(&apbs_costs, NULL, NULL, seconds);
    return seconds[what] * apbs_times[what];
}

double ley_apbs_boundary_s(const ley_apbs_input *input, size_t elec, int threads)
{
    const ley_apbs_elec *e = &input->elec[elec];
    if (e->boundary != LEY_BOUNDARY_MDH)
        return 0;
    double n[3], strength = 0;
    for (int axis = 0; axis < 3; axis++)
        n[axis] = (double)e->grid.n[axis];
    for (size_t i = 0; i < e->solvent.ion_count; i++)
        strength += e->solvent.ions[i].concentration_M * squared(e->solvent.ions[i].charge_e);
    double nodes = 2 * (n[0] * n[1] + n[0] * n[2] + n[1] * n[2]);
    double pairs = nodes * (double)ley_atoms_count(input->molecule[e->molecule].atoms);
    return pairs * apbs_s(strength > 0 ? COST_PAIR_SALT : COST_PAIR_NO_SALT) / (threads > 1 ? threads : 1);
}

double ley_apbs_read_s(int64_t numbers)
{
    return numbers > 0 ? (double)numbers * apbs_s(COST_SCANNED_NUMBER) : 0;
}
