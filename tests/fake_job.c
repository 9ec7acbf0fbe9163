#include "fake_job.h"

const watch_patience fake_job_patient = {.open_s = 120,
                                         .build_s = 600,
                                         .close_s = 10,
                                         .first_s = 300,
                                         .work_s = 30,
                                         .factor = 50,
                                         .over_s = 2,
                                         .turn_s = 30,
                                         .choose_s = 60};

const ley_grid fake_job_grid = {.origin_A = {0, 0, 0}, .step_A = LEY_STEPS(0.5, 0.5, 0.5), .n = {20, 10, 24}};

void fake_job_end(support_job *o)
{
    support_job_end(o);
    fake_devices_end();
}

void fake_job_old_cache(support_options *options)
{
}

support_job fake_job_run(fake_plan *plans, size_t count, const char *selector, void (*change)(support_options *))
{
    if (change != fake_job_old_cache)
        support_fresh_cache();
    fake_devices_begin(plans, count);
    support_options options = support_default_options();
    options.slab_planes = 2;
    options.verify_points = 50;
    if (change != NULL)
        change(&options);
    return support_job_run(support_atoms(40, 0, 8, 7), &fake_job_grid, selector, &options);
}

void fake_job_assert_right(const support_job *o)
{
    ley_map *reference = support_reference_map(o->atoms, &fake_job_grid, 0.05);
    assert_true(support_difference(o->map, reference) < 1e-5);
    ley_map_destroy(reference);
}
