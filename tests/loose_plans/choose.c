/* A command whose first plans are far too loose: what misses the tolerance is then computed again
 * by plans that are chosen as ever. It wraps what the command calls of the library. */
#include <leyden_long_range.h>

/* The share of the tolerance that a first plan aims at. */
static const double loose = 50;

ley_status __real_ley_long_range_choose(ley_engine *engine, const ley_atoms *atoms, const ley_grid *grid,
                                        double tolerance, unsigned fixed, const ley_run_options *options,
                                        ley_long_range *range, ley_choice *choice, ley_error *error);
ley_status __wrap_ley_long_range_choose(ley_engine *engine, const ley_atoms *atoms, const ley_grid *grid,
                                        double tolerance, unsigned fixed, const ley_run_options *options,
                                        ley_long_range *range, ley_choice *choice, ley_error *error);
ley_status __real_ley_long_range_choose_points(ley_engine *engine, const ley_atoms *atoms, const ley_points *points,
                                               double tolerance, unsigned fixed, const ley_run_options *options,
                                               ley_long_range *range, ley_choice *choice, ley_error *error);
ley_status __wrap_ley_long_range_choose_points(ley_engine *engine, const ley_atoms *atoms, const ley_points *points,
                                               double tolerance, unsigned fixed, const ley_run_options *options,
                                               ley_long_range *range, ley_choice *choice, ley_error *error);

static ley_run_options loosened(const ley_run_options *options)
{
    ley_run_options o = *options;
    if (o.aim == 0)
        o.aim = loose;
    return o;
}

ley_status __wrap_ley_long_range_choose(ley_engine *engine, const ley_atoms *atoms, const ley_grid *grid,
                                        double tolerance, unsigned fixed, const ley_run_options *options,
                                        ley_long_range *range, ley_choice *choice, ley_error *error)
{
    const ley_run_options o = loosened(options);
    return __real_ley_long_range_choose(engine, atoms, grid, tolerance, fixed, &o, range, choice, error);
}

ley_status __wrap_ley_long_range_choose_points(ley_engine *engine, const ley_atoms *atoms, const ley_points *points,
                                               double tolerance, unsigned fixed, const ley_run_options *options,
                                               ley_long_range *range, ley_choice *choice, ley_error *error)
{
    const ley_run_options o = loosened(options);
    return __real_ley_long_range_choose_points(engine, atoms, points, tolerance, fixed, &o, range, choice, error);
}
