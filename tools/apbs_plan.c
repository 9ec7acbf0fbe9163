#include "apbs_plan.h"
#include "job_report.h"
#include "method_list.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Guesses, on the careful side, before anything was measured: opening a device, and a job on it
 * whose kernel is in the cache, without its pairs; pairs per second. On a core of an AMD EPYC with
 * AVX-512 and PoCL 3.1 opening took 0.06 s, such a job 0.03 s, and there were 3.7e9 pairs of floats
 * and 4.6e8 of doubles a second; vectors of AVX2 have half as many. */
static const double opening_s = 0.15, job_s = 0.05;
static const double cpu_pairs_per_s[] = {
    [LEY_SUM_FLOAT] = 1.8e9, [LEY_SUM_COMPENSATED] = 1.4e9, [LEY_SUM_DOUBLE] = 2.3e8}; /* of a core */
static const double gpu_pairs_per_s[] = {[LEY_SUM_FLOAT] = 5e10, [LEY_SUM_COMPENSATED] = 3e10, [LEY_SUM_DOUBLE] = 2e9};
_Static_assert(sizeof cpu_pairs_per_s == LEY_SUM_AUTO * sizeof(double) &&
                   sizeof gpu_pairs_per_s == sizeof cpu_pairs_per_s,
               "a guess for each kind of sum that is one");

/* ---- Candidates ------------------------------------------------------------------------------ */

static bool is_same_problem(const elec_plan *a, const elec_plan *b)
{
    const ley_apbs_elec *x = a->elec, *y = b->elec;
    const ley_solvent *s = &x->solvent, *t = &y->solvent;
    return x->boundary == y->boundary && x->molecule == y->molecule &&
           memcmp(&x->grid, &y->grid, sizeof x->grid) == 0 && s->dielectric == t->dielectric &&
           s->temperature_K == t->temperature_K && ley_screening_per_A(s) == ley_screening_per_A(t) &&
           (x->boundary == LEY_BOUNDARY_MDH || s->solute_dielectric == t->solute_dielectric);
}

void plan_begin(apbs_plan *plan, const ley_apbs_input *input, const plan_settings *settings)
{
    *plan = (apbs_plan){.input = input, .settings = *settings};
    plan->n = ley_apbs_elec_count(input);
    for (size_t i = 0; i < plan->n; i++) {
        elec_plan *elec = &plan->elec[i];
        elec->elec = ley_apbs_elec_get(input, i);
        elec->first = i;
        elec->candidate = elec->elec->boundary == LEY_BOUNDARY_MDH || elec->elec->boundary == LEY_BOUNDARY_SDH;
        if (!elec->candidate)
            continue;
        elec->atoms = ley_apbs_molecule(input, elec->elec->molecule);
        elec->path = ley_apbs_molecule_path(input, elec->elec->molecule);
        elec->native_s = ley_apbs_boundary_s(input, i, settings->threads);
        const int64_t *n = elec->elec->grid.n;
        elec->points = 2 * (n[0] * n[1] + n[0] * n[2] + n[1] * n[2]);
        for (size_t j = 0; j < i && elec->first == i; j++)
            if (plan->elec[j].candidate && is_same_problem(&plan->elec[j], elec))
                elec->first = j;
    }
}

/* ---- Decisions ------------------------------------------------------------------------------- */

/* Seconds that APBS takes to read the map, once for each section that uses it. */
static double read_s(const apbs_plan *plan, const elec_plan *elec)
{
    int stride = plan->settings.stride == STRIDE_4 ? 4 : plan->settings.stride == STRIDE_2 ? 2 : 1;
    int64_t numbers = 1;
    for (int axis = 0; axis < 3; axis++)
        numbers *= (elec->elec->grid.n[axis] - 1) / stride + 1;
    return ley_apbs_read_s(numbers);
}

/* Whether it is known who would compute. */
static bool has_place(const apbs_plan *plan, const ley_engine *engine)
{
    return engine != NULL || plan->settings.is_for_host;
}

/* The host is taken to use as many cores as APBS. */
static double pairs_per_s(const apbs_plan *plan, const ley_engine *engine, ley_sum sum)
{
    double rate = plan->settings.is_for_host ? cpu_pairs_per_s[LEY_SUM_DOUBLE] * plan->settings.threads : 0;
    for (size_t i = 0; engine != NULL && i < ley_engine_device_count(engine); i++) {
        const ley_device_info *device = ley_engine_device(engine, i);
        rate +=
            device->device_class == LEY_CLASS_GPU ? gpu_pairs_per_s[sum] : cpu_pairs_per_s[sum] * device->compute_units;
    }
    return rate;
}

/* Float terms move energies by up to 2e-8 for a molecule of a few atoms, by 1e-9 for one of 600 and
 * 1e-10 for one of 1,700. */
static ley_sum choose_sum(const apbs_plan *plan, const elec_plan *elec, const ley_engine *engine)
{
    if (plan->settings.is_for_host)
        return LEY_SUM_DOUBLE;
    if (plan->settings.sum != LEY_SUM_AUTO)
        return plan->settings.sum;
    for (size_t i = 0; i < ley_engine_device_count(engine); i++)
        if (!ley_engine_device(engine, i)->has_double)
            return LEY_SUM_FLOAT;
    return ley_atoms_count(elec->atoms) < PLAN_FLOAT_ATOMS_LEAST ? LEY_SUM_DOUBLE : LEY_SUM_FLOAT;
}

/* What all sections with the boundary of `first` cost either way. */
static void add_up(const apbs_plan *plan, size_t first, const ley_engine *engine, double *native_s, double *ours_s)
{
    const elec_plan *elec = &plan->elec[first];
    *native_s = 0;
    *ours_s = 0;
    if (has_place(plan, engine))
        *ours_s = (double)elec->points * (double)ley_atoms_count(elec->atoms) / pairs_per_s(plan, engine, elec->sum);
    for (size_t i = first; i < plan->n; i++)
        if (plan->elec[i].candidate && plan->elec[i].first == first) {
            *native_s += plan->elec[i].native_s;
            *ours_s += read_s(plan, elec);
        }
}

/* What is still to be spent on devices, beside pairs: one that is open is paid for, and the host
 * alone needs none. */
static double start_s(const apbs_plan *plan, const ley_engine *engine)
{
    return plan->settings.is_for_host ? 0 : engine != NULL ? job_s : opening_s + job_s;
}

/* Seconds gained by computing whatever is worth it, which is marked. Without an engine: as if
 * devices took no time. */
static double mark_gains(apbs_plan *plan, const ley_engine *engine)
{
    double gained_s = 0;
    for (size_t i = 0; i < plan->n; i++) {
        elec_plan *elec = &plan->elec[i];
        double native_s, ours_s;
        if (!elec->candidate || elec->elec->boundary != LEY_BOUNDARY_MDH || elec->first != i)
            continue;
        if (has_place(plan, engine))
            elec->sum = choose_sum(plan, elec, engine);
        add_up(plan, i, engine, &native_s, &ours_s);
        gained_s += fmax(native_s - ours_s, 0);
        elec->expected_s = start_s(plan, engine) + ours_s;
        for (size_t j = i; j < plan->n; j++)
            if (plan->elec[j].first == i)
                plan->elec[j].use = native_s > ours_s;
    }
    return gained_s;
}

bool plan_needs_engine(const apbs_plan *plan)
{
    apbs_plan copy = *plan;
    if (plan->settings.is_for_host)
        return false;
    for (size_t i = 0; i < plan->n && plan->settings.force; i++)
        if (plan->elec[i].elec->boundary == LEY_BOUNDARY_MDH)
            return true;
    return mark_gains(&copy, NULL) > start_s(&copy, NULL);
}

static void explain(apbs_plan *plan, size_t i)
{
    elec_plan *elec = &plan->elec[i];
    double native_s = 0;
    for (size_t j = 0; j < plan->n; j++)
        if (plan->elec[j].candidate && plan->elec[j].first == elec->first)
            native_s += plan->elec[j].native_s;
    if (!elec->candidate)
        return;
    if (elec->use && elec->first != i)
        snprintf(elec->reason, sizeof elec->reason, "the boundary of ELEC %d", plan->elec[elec->first].elec->number);
    else if (elec->use)
        return;
    else if (elec->elec->boundary == LEY_BOUNDARY_SDH)
        snprintf(elec->reason, sizeof elec->reason,
                 "left to APBS, which takes next to no time for it (--force overrides)");
    else
        snprintf(
            elec->reason, sizeof elec->reason,
            "left to APBS, which takes about %s; computing it and reading the map takes about %s (--force overrides)",
            seconds_text(native_s).s, seconds_text(plan->elec[elec->first].expected_s).s);
}

ley_status plan_decide(apbs_plan *plan, const ley_engine *engine, ley_error *error)
{
    bool use[PLAN_ELECS_MAX], worth_it = mark_gains(plan, engine) > start_s(plan, engine) && has_place(plan, engine);
    short_text why;
    for (size_t i = 0; i < plan->n; i++) {
        elec_plan *elec = &plan->elec[i];
        elec->use = elec->candidate && (plan->settings.force || (worth_it && elec->use));
        use[i] = elec->use;
        if (elec->use && !boundary_stride_fits(elec->elec->grid.n, plan->settings.stride, &why))
            return fail_into(error, LEY_ERROR_USAGE, "ELEC %d: %s", elec->elec->number, why.s);
    }
    for (size_t i = 0; i < plan->n; i++)
        explain(plan, i);
    return ley_apbs_input_check_maps(plan->input, use, error);
}

/* ---- Report ---------------------------------------------------------------------------------- */

static const char *boundary_name(const ley_apbs_elec *elec)
{
    const method_row *method = method_row_of_bcfl(elec->boundary);
    return method != NULL ? method->option.name : "other";
}

short_text plan_name(const apbs_plan *plan, size_t i, const char *input)
{
    const ley_apbs_elec *elec = plan->elec[i].elec;
    return text_of("%.60s:%d: ELEC %d (%s)", base_name(input), elec->line, elec->number, boundary_name(elec));
}

static const char *decision_name(const elec_plan *elec)
{
    return elec->use ? "computed" : elec->candidate ? "left to APBS" : "not concerned";
}

json_t *plan_json(const apbs_plan *plan, size_t i)
{
    const elec_plan *elec = &plan->elec[i], *first = &plan->elec[elec->first];
    const ley_apbs_elec *section = elec->elec;
    json_t *object = json_object();
    json_put(object, "number", json_count(section->number));
    json_put(object, "line", json_count(section->line));
    json_put(object, "name", json_text(section->name));
    json_put(object, "type", json_text(section->type));
    json_put(object, "boundary", json_text(boundary_name(section)));
    json_put(object, "decision", json_text(decision_name(elec)));
    json_put(object, "reason", json_text(elec->reason));
    if (!elec->candidate)
        return object;
    json_put(object, "molecule", json_text(elec->path));
    json_put(object, "atoms", json_count((int64_t)ley_atoms_count(elec->atoms)));
    json_put(object, "grid", json_of_grid(&section->grid));
    json_put(object, "levels", json_count(section->levels));
    json_put(object, "solvent", json_of_solvent(&section->solvent));
    json_put(object, "points", json_count(elec->points));
    json_put(object, "shared_with", elec->first != i ? json_count(first->elec->number) : json_null());
    json_put(object, "expected_apbs_s", json_number(elec->native_s));
    json_put(object, "expected_s", elec->first == i ? json_number(elec->expected_s) : json_null());
    json_put(object, "sum", json_text(elec->report != NULL ? SUM_NAME(elec->sum) : NULL));
    json_put(object, "map", json_text(elec->use ? first->map : NULL));
    json_put(object, "stride", first->stride > 0 ? json_count(first->stride) : json_null());
    json_put(object, "stride_error", first->stride > 0 ? json_number(first->stride_error) : json_null());
    json_put(object, "seconds", elec->boundary != NULL ? json_number(elec->computing_s) : json_null());
    json_put_work(object, elec->report);
    return object;
}

void plan_end(apbs_plan *plan)
{
    for (size_t i = 0; i < plan->n; i++) {
        ley_job_destroy(plan->elec[i].job);
        ley_boundary_destroy(plan->elec[i].boundary);
        free(plan->elec[i].map);
    }
}
