#include "series/mesh_frames.h"

#include "error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void make_request(const ley_series_options *o, double tolerance, const double *cell_A, ley_request *request,
                         ley_run_options *options)
{
    ley_request_default(request);
    ley_run_options_default(options);
    options->by_host = o->engine == NULL;
    request->tolerance = tolerance;
    request->potential.units = o->units;
    request->potential.dielectric = o->dielectric;
    request->potential.temperature_K = o->temperature_K;
    request->potential.r_min_A = o->r_min_A;
    for (int i = 0; i < 3 && cell_A != NULL; i++) {
        request->potential.periodic[i] = true;
        memcpy(request->potential.cell_A[i], cell_A + 3 * i, 3 * sizeof *cell_A);
    }
}

/* Atoms and points of a frame. */
static ley_status make_problem(size_t n, const double *charge_e, size_t points, const ley_series_frames *frames,
                               size_t frame, ley_atoms **atoms, ley_points **made, ley_error *error)
{
    double *position_A = malloc(3 * n * sizeof *position_A);
    if (position_A == NULL)
        return ley_fail_memory(error, 3 * n * sizeof *position_A, "a frame");
    for (size_t i = 0; i < 3 * n; i++)
        position_A[i] = (double)frames->position_A[3 * n * frame + i];
    ley_status status = ley_atoms_create(n, position_A, charge_e, NULL, atoms, error);
    free(position_A);
    if (status == LEY_OK)
        status = ley_points_create((int64_t)points, frames->point_A + 3 * points * frame, made, error);
    return status == LEY_OK ? ley_points_add_field(*made, error) : status;
}

static void take_values(const mesh_frames *m, size_t frame, const ley_points *points, const ley_report *report)
{
    m->report->potential_error = fmax(m->report->potential_error, report->accuracy.relative_rms);
    memcpy(m->frames->potential + m->points * frame, ley_points_read_values(points), m->points * sizeof(double));
    if (m->frames->field == NULL)
        return;
    m->report->field_error = fmax(m->report->field_error, report->field_accuracy.relative_rms);
    memcpy(m->frames->field + 3 * m->points * frame, ley_points_read_field(points), 3 * m->points * sizeof(double));
}

/* *field_error: as it was measured. */
static ley_status run_job(const mesh_frames *m, size_t frame, const ley_atoms *atoms, ley_points *points,
                          double *field_error, ley_error *error)
{
    ley_request request;
    ley_run_options options;
    ley_job *job = NULL;
    make_request(m->options, *m->tolerance, m->frames->cell_A != NULL ? m->frames->cell_A + 9 * frame : NULL, &request,
                 &options);
    ley_status status = m->first != NULL ? ley_points_exclude(points, m->first, m->excluded, error) : LEY_OK;
    if (status == LEY_OK)
        status = ley_job_create_chosen(m->options->engine, atoms, (ley_target){.points = points}, &request, &options,
                                       &job, error);
    if (status == LEY_OK)
        status = ley_job_run(job, error);
    if (status == LEY_OK) {
        *field_error = m->frames->field != NULL ? ley_job_report(job)->field_accuracy.relative_rms : 0;
        if (*field_error <= m->options->tolerance)
            take_values(m, frame, points, ley_job_report(job));
    }
    ley_job_destroy(job);
    return status;
}

/* Jobs have the potential within their tolerance, and the field within some of them: it takes
 * another one where it is off by more than the series' own. */
static ley_status run_frame(const mesh_frames *m, size_t frame, const ley_atoms *atoms, ley_points *points,
                            ley_error *error)
{
    const double most = m->options->tolerance;
    double field_error = 0;
    ley_status status = run_job(m, frame, atoms, points, &field_error, error);
    while (status == LEY_OK && !(field_error <= most)) {
        if (*m->tolerance <= LEY_LEAST_TOLERANCE || !isfinite(field_error))
            return ley_fail(
                error, LEY_ERROR_WRONG_RESULT,
                "the field is off by %.2g of its root mean square, by more than the tolerance, %g: meshes do "
                "no better, the method \"ewald\" does",
                field_error, most);
        *m->tolerance = fmax(*m->tolerance * fmin(0.5 * most / field_error, 0.5), LEY_LEAST_TOLERANCE);
        status = run_job(m, frame, atoms, points, &field_error, error);
    }
    return status;
}

ley_status mesh_frames_run(const mesh_frames *m, ley_error *error)
{
    for (size_t frame = 0; frame < m->frames->count; frame++) {
        ley_atoms *atoms = NULL;
        ley_points *points = NULL;
        ley_error why = {0};
        ley_status status = LEY_CANCELLED;
        if (m->frames->cancel == NULL || !*m->frames->cancel)
            status = make_problem(m->n, m->charge_e, m->points, m->frames, frame, &atoms, &points, &why);
        if (status == LEY_OK)
            status = run_frame(m, frame, atoms, points, &why);
        ley_points_destroy(points);
        ley_atoms_destroy(atoms);
        if (status != LEY_OK)
            return ley_fail(error, status, "frame %lld: %s",
                            (long long)(m->frames->number != NULL ? m->frames->number[frame] : (int64_t)frame),
                            status == LEY_CANCELLED ? "cancelled" : why.message);
    }
    return LEY_OK;
}

/* Estimates are of kernels: a job is planned, and verified by the host, and the field takes as long
 * as the potential. */
static const double job_s = 0.1, with_field = 2;

double mesh_frame_seconds(const ley_series_options *o, size_t n, const double *charge_e, size_t points,
                          const ley_series_frames *frames)
{
    ley_atoms *atoms = NULL;
    ley_points *made = NULL;
    ley_request request;
    ley_run_options options;
    ley_estimate estimates[LEY_MOST_ESTIMATES];
    size_t count = 0;
    double seconds = INFINITY;
    make_request(o, o->tolerance, frames->cell_A, &request, &options);
    ley_status status = make_problem(n, charge_e, points, frames, 0, &atoms, &made, NULL);
    if (status == LEY_OK)
        status = ley_request_estimate(o->engine, atoms, (ley_target){.points = made}, &request, &options, estimates,
                                      &count, NULL);
    for (size_t i = 0; status == LEY_OK && i < count; i++)
        if (estimates[i].is_chosen)
            seconds = with_field * estimates[i].seconds + job_s;
    ley_points_destroy(made);
    ley_atoms_destroy(atoms);
    return seconds;
}
