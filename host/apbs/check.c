/* What APBS insists on in a multigrid calculation. */
#include "apbs/check.h"

#include <math.h>
#include <string.h>

static const double small = 1e-9; /* APBS's VSMALL */

static ley_status require(const ley_apbs_input *input, const ley_apbs_facts *facts, ley_apbs_keyword keyword,
                          const char *name, ley_error *error)
{
    if (ley_apbs_has(facts, keyword))
        return LEY_OK;
    return ley_apbs_fail(input, facts->line, error, "this ELEC section has no `%s`", name);
}

static ley_status require_all(const ley_apbs_input *input, const ley_apbs_facts *facts, ley_error *error)
{
    bool is_auto = facts->type == LEY_APBS_AUTO || facts->type == LEY_APBS_PARA;
    const struct {
        ley_apbs_keyword keyword;
        const char *name;
        bool needed;
    } rows[] = {
        {LEY_APBS_DIME, "dime", true},
        {LEY_APBS_CHGM, "chgm", true},
        {LEY_APBS_GCENT, "gcent", !is_auto},
        {LEY_APBS_CGLEN, "cglen", is_auto},
        {LEY_APBS_FGLEN, "fglen", is_auto},
        {LEY_APBS_CGCENT, "cgcent", is_auto},
        {LEY_APBS_FGCENT, "fgcent", is_auto},
        {LEY_APBS_PDIME, "pdime", facts->type == LEY_APBS_PARA},
        {LEY_APBS_OFRAC, "ofrac", facts->type == LEY_APBS_PARA},
        {LEY_APBS_MOL, "mol", true},
        {LEY_APBS_BCFL, "bcfl", true},
        {LEY_APBS_PDIE, "pdie", true},
        {LEY_APBS_SDIE, "sdie", true},
        {LEY_APBS_SRFM, "srfm", true},
        {LEY_APBS_TEMP, "temp", true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].needed) {
            ley_status status = require(input, facts, rows[i].keyword, rows[i].name, error);
            if (status != LEY_OK)
                return status;
        }
    return LEY_OK;
}

/* Keywords of which the others decide whether they are needed. */
static ley_status require_more(const ley_apbs_input *input, const ley_apbs_facts *facts, ley_error *error)
{
    static const ley_apbs_keyword membrane[] = {LEY_APBS_ZMEM, LEY_APBS_LMEM, LEY_APBS_MDIE, LEY_APBS_MEMV};
    static const char *const membrane_names[] = {"zmem", "Lmem", "mdie", "memv"};
    const uint64_t equations = UINT64_C(1) << LEY_APBS_LPBE | UINT64_C(1) << LEY_APBS_NPBE |
                               UINT64_C(1) << LEY_APBS_LRPBE | UINT64_C(1) << LEY_APBS_NRPBE |
                               UINT64_C(1) << LEY_APBS_SMPBE;
    if ((facts->set & equations) == 0)
        return ley_apbs_fail(input, facts->line, error,
                             "this ELEC section has no equation (`lpbe`, `npbe`, `lrpbe`, `nrpbe`, `smpbe`)");
    bool is_auto = facts->type == LEY_APBS_AUTO || facts->type == LEY_APBS_PARA;
    bool grid = ley_apbs_has(facts, LEY_APBS_GRID), glen = ley_apbs_has(facts, LEY_APBS_GLEN);
    if (!is_auto && grid == glen)
        return ley_apbs_fail(input, facts->line, error, "this ELEC section has %s",
                             grid ? "both `grid` and `glen`" : "neither `grid` nor `glen`");
    ley_status status = LEY_OK;
    bool spline = facts->value[LEY_APBS_SRFM][0] >= 2;
    double srad_A = ley_apbs_has(facts, LEY_APBS_SRAD) ? facts->value[LEY_APBS_SRAD][0] : 1.4;
    if (spline)
        status = require(input, facts, LEY_APBS_SWIN, "swin", error);
    if (!spline && srad_A > small)
        status = require(input, facts, LEY_APBS_SDENS, "sdens", error);
    if (!spline && status == LEY_OK)
        status = require(input, facts, LEY_APBS_SRAD, "srad", error);
    for (int i = 0; i < 4 && facts->value[LEY_APBS_BCFL][0] == 3 && status == LEY_OK; i++)
        status = require(input, facts, membrane[i], membrane_names[i], error);
    return status;
}

static ley_status check_ions(const ley_apbs_input *input, const ley_apbs_facts *facts, ley_error *error)
{
    double charge_M = 0;
    for (size_t i = 0; i < facts->ion_count; i++) {
        if (!(facts->ion[i].concentration_M >= 0))
            return ley_apbs_fail(input, facts->value_line[LEY_APBS_ION], error, "ion: a concentration of %g mol/l",
                                 facts->ion[i].concentration_M);
        charge_M += facts->ion[i].concentration_M * facts->ion[i].charge_e;
    }
    if (fabs(charge_M) <= small)
        return LEY_OK;
    return ley_apbs_fail(input, facts->value_line[LEY_APBS_ION], error,
                         "the ions' charges do not cancel (%g mol/l): APBS stops", charge_M);
}

static ley_status require_positive(const ley_apbs_input *input, const ley_apbs_facts *facts, ley_apbs_keyword keyword,
                                   const char *name, int count, ley_error *error)
{
    for (int i = 0; i < count && ley_apbs_has(facts, keyword); i++)
        if (!(facts->value[keyword][i] > 0))
            return ley_apbs_fail(input, facts->value_line[keyword], error, "%s: %g is not positive", name,
                                 facts->value[keyword][i]);
    return LEY_OK;
}

static ley_status check_ranges(const ley_apbs_input *input, const ley_apbs_facts *facts, ley_error *error)
{
    static const struct {
        ley_apbs_keyword keyword;
        const char *name;
        int count;
    } rows[] = {
        {LEY_APBS_DIME, "dime", 3},   {LEY_APBS_GRID, "grid", 3},   {LEY_APBS_GLEN, "glen", 3},
        {LEY_APBS_CGLEN, "cglen", 3}, {LEY_APBS_FGLEN, "fglen", 3}, {LEY_APBS_PDIME, "pdime", 3},
        {LEY_APBS_PDIE, "pdie", 1},   {LEY_APBS_SDIE, "sdie", 1},   {LEY_APBS_TEMP, "temp", 1},
        {LEY_APBS_ETOL, "etol", 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ley_status status = require_positive(input, facts, rows[i].keyword, rows[i].name, rows[i].count, error);
        if (status != LEY_OK)
            return status;
    }
    if (facts->type == LEY_APBS_PARA && !(facts->value[LEY_APBS_OFRAC][0] >= 0))
        return ley_apbs_fail(input, facts->value_line[LEY_APBS_OFRAC], error, "ofrac: %g is negative",
                             facts->value[LEY_APBS_OFRAC][0]);
    return LEY_OK;
}

ley_status ley_apbs_check_elec(const ley_apbs_input *input, const ley_apbs_facts *facts, ley_error *error)
{
    ley_status status = require_all(input, facts, error);
    if (status == LEY_OK)
        status = require_more(input, facts, error);
    if (status == LEY_OK)
        status = check_ranges(input, facts, error);
    return status == LEY_OK ? check_ions(input, facts, error) : status;
}
