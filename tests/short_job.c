#include "short_job.h"

#include "pair_table.h"

const ley_grid short_job_grid = {.origin_A = {-3.25, 1, -7}, .step_A = LEY_STEPS(0.5, 0.625, 0.75), .n = {19, 13, 11}};
const double short_job_cutoff_A = 5;

support_options short_job_options(ley_pair pair, const char *variant)
{
    support_options options = support_short_range(pair, short_job_cutoff_A);
    options.variant = variant;
    return options;
}

void short_job_make_periodic(support_options *options)
{
    static const double cell_A[3][3] = {{13, 0, 0}, {2, 12, 0}, {-1, 3, 14}};
    memcpy(options->short_range.cell_A, cell_A, sizeof cell_A);
    for (int axis = 0; axis < 3; axis++)
        options->short_range.periodic[axis] = true;
}

short_job short_job_try(ley_engine *on, const ley_atoms *atoms, const ley_grid *grid, const support_options *options)
{
    short_job o = {.map = NULL};
    ley_error error = {0};
    assert_ok(ley_map_create(grid, &o.map, &error));
    assert_ok(support_job_create(on, atoms, o.map, options, &o.job, &error));
    o.status = ley_job_run(o.job, &o.error);
    return o;
}

short_job short_job_run(ley_engine *on, const ley_atoms *atoms, const ley_grid *grid, const support_options *options)
{
    short_job o = short_job_try(on, atoms, grid, options);
    assert_ok_at(o.status, &o.error, "ley_job_run", __FILE__, __LINE__);
    return o;
}

void short_job_end(short_job *o)
{
    ley_job_destroy(o->job);
    ley_map_destroy(o->map);
    ley_error_clear(&o->error);
}

support_notes short_job_notes(const short_job *o)
{
    return support_notes_of(ley_job_report(o->job));
}

void short_job_assert_within(double limit, const short_job *o, const ley_atoms *atoms, const support_options *options,
                             const char *what)
{
    static const char *const maths[] = {"standard", "native", "auto"}, *const sums[] = {"float", "compensated",
                                                                                        "double"};
    const support_error e = support_short_range_error(o->map, atoms, options);
    if (!(e.rms <= limit && e.worst <= 3 * limit))
        fail_msg("%s: %s, variant %s, %s maths, %s sum: off by %g, at a point by %g", what,
                 ley_pair_get(options->short_range.pair)->name, options->variant != NULL ? options->variant : "default",
                 maths[options->math], sums[options->sum], e.rms, e.worst);
}

void short_job_assert_right(const short_job *o, const ley_atoms *atoms, const support_options *options,
                            const char *what)
{
    short_job_assert_within(options->math == LEY_MATH_NATIVE ? 1e-3 : 1e-5, o, atoms, options, what);
}
