#include "boundary_job.h"
#include "console.h"
#include "job_report.h"

const char *const stride_names[] = {[STRIDE_AUTO] = "auto", [STRIDE_1] = "1", [STRIDE_2] = "2", [STRIDE_4] = "4", NULL};
static const int stride_of[] = {[STRIDE_1] = 1, [STRIDE_2] = 2, [STRIDE_4] = 4};
CHOICES_ARE(stride_names, STRIDE_COUNT);
_Static_assert(sizeof stride_of / sizeof *stride_of == STRIDE_COUNT, "a stride for each choice");

bool boundary_stride_fits(const int64_t n[3], int choice, short_text *why)
{
    for (int axis = 0; axis < 3 && choice != STRIDE_AUTO; axis++)
        if ((n[axis] - 1) % stride_of[choice] != 0) {
            *why = text_of("--boundary-stride: %d does not divide the %lld intervals along %c", stride_of[choice],
                           (long long)n[axis] - 1, 'x' + axis);
            return false;
        }
    return true;
}

int boundary_choose_stride(const ley_boundary *boundary, int choice, double tolerance, double *stride_error)
{
    int stride = choice == STRIDE_AUTO ? 4 : stride_of[choice];
    *stride_error = ley_boundary_stride_error(boundary, stride);
    while (choice == STRIDE_AUTO && stride > 1 && !(*stride_error <= tolerance)) {
        stride /= 2;
        *stride_error = ley_boundary_stride_error(boundary, stride);
    }
    return stride;
}

ley_grid boundary_grid(const int64_t n[3], const double spacing_A[3], const double centre_A[3])
{
    double origin_A[3];
    for (int axis = 0; axis < 3; axis++)
        origin_A[axis] = centre_A[axis] - 0.5 * ((double)(n[axis] - 1) * spacing_A[axis]);
    return ley_grid_orthogonal(origin_A, spacing_A, n);
}

bool boundary_cuts_molecule(const ley_grid *grid, const ley_atoms *atoms, short_text *what)
{
    const double *position_A = ley_atoms_positions_A(atoms), *radius_A = ley_atoms_radii_A(atoms);
    size_t reaching = 0, at_face[LEY_FACE_COUNT] = {0};
    for (size_t i = 0; i < ley_atoms_count(atoms); i++) {
        bool reaches = false;
        for (int axis = 0; axis < 3; axis++) {
            const double low_A = grid->origin_A[axis];
            const double high_A = low_A + (double)(grid->n[axis] - 1) * grid->step_A[axis][axis];
            const bool below = position_A[3 * i + (size_t)axis] - radius_A[i] < low_A;
            const bool above = position_A[3 * i + (size_t)axis] + radius_A[i] > high_A;
            at_face[2 * axis] += below;
            at_face[2 * axis + 1] += above;
            reaches = reaches || below || above;
        }
        reaching += reaches;
    }
    short_text faces = {""};
    for (int face = 0; face < LEY_FACE_COUNT; face++)
        if (at_face[face] > 0)
            faces = text_of("%s%s%s %c", faces.s, faces.s[0] != '\0' ? ", " : "", face % 2 == 0 ? "low" : "high",
                            'x' + face / 2);
    if (reaching > 0)
        *what = text_of("%s of %s atoms reach a face or lie beyond it (%s)", count_text((int64_t)reaching).s,
                        count_text((int64_t)ley_atoms_count(atoms)).s, faces.s);
    return reaching > 0;
}

/* ---- Description ----------------------------------------------------------------------------- */

char *boundary_comment(const boundary_facts *facts)
{
    comment_text comment;
    comment_begin(&comment);
    fprintf(comment.stream, "boundary: %s, %s; 0 inside\n", facts->method->option.name, facts->method->title);
    put_molecule(comment.stream, facts->path, facts->atoms);
    put_solvent(comment.stream, facts->solvent);
    if (facts->stride > 1)
        fprintf(comment.stream, "stride: %d, relative error %.3g\n", facts->stride, facts->stride_error);
    put_work(comment.stream, facts->values, facts->report);
    return comment_end(&comment);
}

void put_solvent(FILE *to, const ley_solvent *solvent)
{
    double kappa_per_A = ley_screening_per_A(solvent);
    fprintf(to, "solvent: dielectric %.15g (solute %.15g), temperature %.15g K, ", solvent->dielectric,
            solvent->solute_dielectric, solvent->temperature_K);
    if (kappa_per_A > 0)
        fprintf(to, "ionic strength %.6g M, kappa %.6g/A, Debye length %.6g A\n", ley_ionic_strength_M(solvent),
                kappa_per_A, 1 / kappa_per_A);
    else
        fprintf(to, "no ions, kappa 0\n");
}

void boundary_put_medium(const void *problem, FILE *to)
{
    const ley_solvent *solvent = ((const boundary_problem *)problem)->solvent;
    const double kappa_per_A = ley_screening_per_A(solvent);
    fprintf(to, "dielectric %.6g", solvent->dielectric);
    fputs(kappa_per_A > 0 ? text_of(", kappa %.6g/A", kappa_per_A).s : ", no ions", to);
}

void boundary_print_solvent(const void *problem, const ley_report *report)
{
    (void)report;
    put_solvent(stdout, ((const boundary_problem *)problem)->solvent);
}

json_t *json_of_solvent(const ley_solvent *solvent)
{
    double kappa_per_A = ley_screening_per_A(solvent);
    json_t *object = json_object();
    json_put(object, "dielectric", json_number(solvent->dielectric));
    json_put(object, "solute_dielectric", json_number(solvent->solute_dielectric));
    json_put(object, "temperature_K", json_number(solvent->temperature_K));
    json_put(object, "ionic_strength_M", json_number(ley_ionic_strength_M(solvent)));
    json_put(object, "kappa_per_A", json_number(kappa_per_A));
    json_put(object, "debye_length_A", kappa_per_A > 0 ? json_number(1 / kappa_per_A) : json_null());
    return object;
}
