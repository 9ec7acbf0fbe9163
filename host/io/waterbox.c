#include "io/waterbox.h"

#include "error.h"
#include "io/atoms_file.h"
#include "io/pqr.h"

#include <math.h>
#include <string.h>

const double water_charge_e[WATER_SITES] = {-0.834, 0.417, 0.417};
const double water_radius_A[WATER_SITES] = {1.7683, 0.2245, 0.2245};

static const double bond_A = 0.9572, angle_degrees = 104.52;
static const double molecule_A3 = WATER_SITES * 1.5e7 / 1534539;

/* The oxygen's way from the middle of its cell, along each axis: 0.08 A at most. */
static const double displacement_A = 0.046;
/* Two atoms of different molecules have two cells' margins between them. */
static const double cell_margin_A = 0.5;
/* So much that the box of 1,534,539 atoms, 246.62 A wide, has its outermost atoms between 245.0 and
 * 245.5 A apart. */
static const double box_margin_A = 0.57;
static const double unit_per_A = 1e4;

enum { COORDINATES = 3 * WATER_SITES, BATCH = 1024 };

/* ---- Random numbers -------------------------------------------------------------------------- */

static const uint64_t golden = UINT64_C(0x9e3779b97f4a7c15);

/* The finalizer of splitmix64 (Steele, Lea, Flood 2014). */
static uint64_t scrambled(uint64_t z)
{
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Uniform in [-1, 1). */
static double next(uint64_t *state)
{
    return (double)(scrambled(*state += golden) >> 11) * 0x1p-52 - 1;
}

/* Nearly normal, of variance 1, at most 3.5: the sum of four uniform numbers, which every machine
 * rounds alike. */
static double next_normal(uint64_t *state)
{
    const double root_of_three_quarters = 0.8660254037844386;
    double sum = 0;
    for (int i = 0; i < 4; i++)
        sum += next(state);
    return root_of_three_quarters * sum;
}

/* Uniform in the unit disc; returns the squared distance from its centre, which is not 0. */
static double next_in_disc(uint64_t *state, double *x, double *y)
{
    double square;
    do {
        *x = next(state);
        *y = next(state);
        square = *x * *x + *y * *y;
    } while (!(square < 1 && square > 0));
    return square;
}

/* ---- One molecule ---------------------------------------------------------------------------- */

/* The grid that is nearest to a cube among those whose edges differ by one cell at most and that
 * have enough cells. */
static void choose_grid(int64_t molecules, int64_t grid[3])
{
    int64_t edge = 1;
    while (edge * edge * edge < molecules)
        edge++;
    for (int axis = 0; axis < 3; axis++)
        grid[axis] = edge;
    for (int axis = 0; axis < 2 && grid[0] * grid[1] * grid[2] / edge * (edge - 1) >= molecules; axis++)
        grid[axis] = edge - 1;
}

void waterbox_prepare(waterbox *box, int64_t molecules, uint64_t seed, double disorder_A)
{
    const double half = angle_degrees / 2 * (3.14159265358979323846 / 180);
    *box = (waterbox){.seed = scrambled(seed + golden), .molecules = molecules, .disorder_A = disorder_A};
    box->side_A = cbrt((double)molecules * molecule_A3);
    box->across_A = bond_A * sin(half);
    box->along_A = bond_A * cos(half);
    choose_grid(molecules, box->grid);
    for (int axis = 0; axis < 3; axis++)
        box->cell_A[axis] = box->side_A / (double)box->grid[axis];
}

/* The first and the third column of a rotation, uniform on the group. Marsaglia's unit quaternion
 * needs no more than a root, which every machine rounds alike. */
static void draw_rotation(uint64_t *state, double first[3], double third[3])
{
    double a, b, c, d;
    const double square = next_in_disc(state, &a, &b), other = next_in_disc(state, &c, &d);
    const double scale = sqrt((1 - square) / other);
    c *= scale;
    d *= scale;
    first[0] = 1 - 2 * (c * c + d * d);
    first[1] = 2 * (b * c + a * d);
    first[2] = 2 * (b * d - a * c);
    third[0] = 2 * (b * d + a * c);
    third[1] = 2 * (c * d - a * b);
    third[2] = 1 - 2 * (b * b + c * c);
}

static double rounded(double x_A)
{
    return (double)(int64_t)(x_A * unit_per_A + 0.5) / unit_per_A;
}

static bool draw(const waterbox *box, uint64_t *state, const double middle_A[3], const double low_A[3],
                 const double high_A[3], double position_A[COORDINATES])
{
    double first[3], third[3];
    bool inside = true;
    draw_rotation(state, first, third);
    for (int axis = 0; axis < 3; axis++) {
        double oxygen_A = middle_A[axis] + displacement_A * next(state);
        if (box->disorder_A > 0)
            oxygen_A += box->disorder_A * next_normal(state);
        const double along_A = box->along_A * third[axis], across_A = box->across_A * first[axis];
        position_A[axis] = rounded(oxygen_A);
        position_A[3 + axis] = rounded(oxygen_A + along_A + across_A);
        position_A[6 + axis] = rounded(oxygen_A + along_A - across_A);
        for (int site = 0; site < WATER_SITES; site++)
            inside =
                inside && position_A[3 * site + axis] >= low_A[axis] && position_A[3 * site + axis] <= high_A[axis];
    }
    return inside;
}

void waterbox_molecule(const waterbox *box, int64_t k, double position_A[COORDINATES])
{
    /* The quotient's whole part spreads the vacant cells. */
    int64_t cell = k * (box->grid[0] * box->grid[1] * box->grid[2]) / box->molecules;
    double low_A[3], middle_A[3], high_A[3];
    for (int axis = 0; axis < 3; axis++) {
        const int64_t i = cell % box->grid[axis], last = box->grid[axis] - 1;
        cell /= box->grid[axis];
        const bool is_anywhere = box->disorder_A > 0, is_first = is_anywhere || i == 0,
                   is_last = is_anywhere || i == last;
        low_A[axis] = is_first ? box_margin_A : (double)i * box->cell_A[axis] + cell_margin_A;
        middle_A[axis] = ((double)i + 0.5) * box->cell_A[axis];
        high_A[axis] = is_last ? (double)box->grid[axis] * box->cell_A[axis] - box_margin_A
                               : (double)(i + 1) * box->cell_A[axis] - cell_margin_A;
    }
    uint64_t state = scrambled(box->seed ^ scrambled((uint64_t)k + golden));
    while (!draw(box, &state, middle_A, low_A, high_A, position_A))
        ; /* mostly at the faces of the box, where a hydrogen may reach too far */
}

/* ---- Whole boxes ----------------------------------------------------------------------------- */

double ley_waterbox_side_A(int64_t atoms)
{
    return cbrt((double)(atoms / WATER_SITES) * molecule_A3);
}

ley_status waterbox_check(int64_t atoms, ley_error *error)
{
    return atoms >= WATER_SITES && atoms <= INT32_MAX
               ? LEY_OK
               : ley_fail(error, LEY_ERROR_USAGE, "a box of %lld atoms: must be %d to %d", (long long)atoms,
                          WATER_SITES, INT32_MAX);
}

static ley_status prepare(waterbox *box, int64_t atoms, uint64_t seed, double disorder_A, ley_error *error)
{
    const ley_status status = waterbox_check(atoms, error);
    if (status != LEY_OK)
        return status;
    if (!(disorder_A >= 0 && disorder_A <= 10))
        return ley_fail(error, LEY_ERROR_USAGE, "a disorder of %g A: must be 0 to 10", disorder_A);
    waterbox_prepare(box, atoms / WATER_SITES, seed, disorder_A);
    return LEY_OK;
}

ley_status ley_waterbox_create(int64_t count, uint64_t seed, double disorder_A, ley_atoms **atoms, ley_error *error)
{
    waterbox box;
    ley_atoms *a;
    ley_status status = prepare(&box, count, seed, disorder_A, error);
    if (status != LEY_OK)
        return status;
    const size_t n = WATER_SITES * (size_t)box.molecules;
    status = ley_atoms_allocate(n, &a, error);
    if (status != LEY_OK)
        return status;
    double *numbers = ley_atoms_numbers(a);
    for (int64_t k = 0; k < box.molecules; k++) {
        waterbox_molecule(&box, k, numbers + COORDINATES * k);
        memcpy(numbers + 3 * n + WATER_SITES * k, water_charge_e, sizeof water_charge_e);
        memcpy(numbers + 4 * n + WATER_SITES * k, water_radius_A, sizeof water_radius_A);
    }
    status = ley_atoms_complete(a, error);
    if (status == LEY_OK)
        *atoms = a;
    else
        ley_atoms_destroy(a);
    return status;
}

static ley_status write_pqr(const waterbox *box, const char *path, const volatile bool *cancel, ley_error *error)
{
    static const char *const names[] = {" O  ", " H1 ", " H2 "};
    _Static_assert(sizeof names / sizeof *names == WATER_SITES, "a name for each site");
    ley_pqr_writer writer;
    ley_status status = ley_pqr_open(&writer, path, cancel, error);
    if (status != LEY_OK)
        return status;
    for (int64_t k = 0; k < box->molecules && status == LEY_OK; k++) {
        double position_A[COORDINATES];
        waterbox_molecule(box, k, position_A);
        for (int site = 0; site < WATER_SITES && status == LEY_OK; site++) {
            const ley_pqr_atom atom = {.serial = WATER_SITES * k + site + 1,
                                       .residue_number = k + 1,
                                       .name = names[site],
                                       .residue = "HOH",
                                       .position_A = position_A + 3 * site,
                                       .charge_e = water_charge_e[site],
                                       .radius_A = water_radius_A[site]};
            status = ley_pqr_put(&writer, &atom, error);
        }
    }
    return ley_pqr_close(&writer, status, error);
}

/* The same three numbers for every molecule. */
static ley_status put_sites(ley_atoms_writer *writer, int64_t molecules, const double number[WATER_SITES],
                            ley_error *error)
{
    double batch[WATER_SITES * BATCH];
    ley_status status = LEY_OK;
    for (int i = 0; i < BATCH; i++)
        memcpy(batch + WATER_SITES * i, number, WATER_SITES * sizeof *number);
    for (int64_t done = 0; done < molecules && status == LEY_OK; done += BATCH) {
        const int64_t part = molecules - done < BATCH ? molecules - done : BATCH;
        status = ley_atoms_writer_put(writer, batch, WATER_SITES * (size_t)part, error);
    }
    return status;
}

static ley_status put_positions(ley_atoms_writer *writer, const waterbox *box, ley_error *error)
{
    double batch[COORDINATES * BATCH];
    ley_status status = LEY_OK;
    for (int64_t done = 0; done < box->molecules && status == LEY_OK; done += BATCH) {
        const int64_t part = box->molecules - done < BATCH ? box->molecules - done : BATCH;
        for (int64_t i = 0; i < part; i++)
            waterbox_molecule(box, done + i, batch + COORDINATES * i);
        status = ley_atoms_writer_put(writer, batch, COORDINATES * (size_t)part, error);
    }
    return status;
}

static ley_status write_binary(const waterbox *box, const char *path, const volatile bool *cancel, ley_error *error)
{
    ley_atoms_writer writer;
    ley_status status = ley_atoms_writer_open(&writer, path, WATER_SITES * (size_t)box->molecules, cancel, error);
    if (status != LEY_OK)
        return status;
    status = put_positions(&writer, box, error);
    if (status == LEY_OK)
        status = put_sites(&writer, box->molecules, water_charge_e, error);
    if (status == LEY_OK)
        status = put_sites(&writer, box->molecules, water_radius_A, error);
    return ley_atoms_writer_close(&writer, status, error);
}

ley_status ley_waterbox_write(int64_t atoms, uint64_t seed, double disorder_A, const char *path,
                              const volatile bool *cancel, ley_error *error)
{
    waterbox box;
    ley_status status = prepare(&box, atoms, seed, disorder_A, error);
    if (status != LEY_OK)
        return status;
    switch (ley_atoms_form_of(path)) {
    case LEY_ATOMS_FORM_PQR:
        return write_pqr(&box, path, cancel, error);
    case LEY_ATOMS_FORM_BINARY:
        return write_binary(&box, path, cancel, error);
    case LEY_ATOMS_FORM_NONE:
        break;
    }
    return ley_fail_atoms_form(path, error);
}
