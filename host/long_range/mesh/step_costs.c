#include "long_range/mesh/step_costs.h"

#include <stdio.h>

static const double least_shown_s = 5e-4;

typedef struct one_cost {
    char name[80];
    costs_kind kind;
} one_cost;

static void make_cost(one_cost *c, const char *step, const char *kind)
{
    snprintf(c->name, sizeof c->name, "msm %s %s", step, kind);
    c->kind = (costs_kind){.name = c->name, .count = 1, .bounds = {{1e-18, 1e-9, 1e-3}}};
}

double step_cost(const dev_info *info, const char *step, const char *kind, double usual_s)
{
    double seconds[COSTS_MOST];
    one_cost c;
    make_cost(&c, step, kind);
    return costs_known(&c.kind, info, seconds) ? seconds[0] : usual_s;
}

bool step_was_done(const dev_info *info, const char *step, const char *kind)
{
    return step_cost(info, step, kind, 0) > 0;
}

void step_note_done(const dev_info *info, const char *step, const char *kind)
{
    one_cost c;
    make_cost(&c, step, kind);
    if (!step_was_done(info, step, kind))
        costs_keep(&c.kind, info, (const double[]){1});
}

void step_cost_learn(const dev_info *info, const char *step, const char *kind, double unit_s, double predicted_s,
                     double took_s)
{
    one_cost c;
    make_cost(&c, step, kind);
    if (unit_s > 0 && predicted_s > 0 && took_s >= least_shown_s && (info->quirks & DEV_QUIRK_INTERPRETER) == 0)
        costs_learn(&c.kind, info, (const double[]){unit_s * took_s / predicted_s});
}
