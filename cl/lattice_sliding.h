/* The lattice cutoff as Hardy et al. (2009) build it, for lattice.cl: a work-group of LEY_CUBE^3
 * work-items computes a sub-cube. At each step it stages 2 x 2 x 2 sub-cubes of charges, over which
 * a window of one sub-cube slides, LEY_CUBE places along each axis: at each place all work-items
 * multiply by the same weight. LEY_SLIDE_SHIFTED is their optimised kernel: of the eight sub-cubes
 * the step before had four already, which are shifted, and loops are unrolled. */
#ifndef LEY_LATTICE_SLIDING_H
#define LEY_LATTICE_SLIDING_H

#define ITEMS SUB_CUBE
#define EDGE (2 * LEY_CUBE)
#define STAGED (EDGE * EDGE * EDGE)
#define STAGED_PLACES 1 /* which is not used */
#define WEIGHTS_X (2 * LEY_CUBE * LEY_CUBES_BESIDE(LEY_RX))
#define WEIGHTS_Y (2 * LEY_CUBE * LEY_CUBES_BESIDE(LEY_RY))

#if LEY_SLIDE == LEY_SLIDE_SHIFTED
#define UNROLL_SLIDE UNROLL
#else
#define UNROLL_SLIDE
#endif

/* The first and the last step along an axis, in sub-cubes from the region's own: those of a domain
 * with open ends that have a node of it in reach. */
LEY_FN int first_step(int beside, int cube, bool periodic)
{
    return periodic ? -beside : max(-beside, -cube - 1);
}

LEY_FN int last_step(int beside, int cube, int cubes, bool periodic)
{
    return periodic ? beside - 1 : min(beside - 1, cubes - 1 - cube);
}

/* One of the eight sub-cubes, (x, y, z) of 2 x 2 x 2; the first one begins at node (from_x, from_y,
 * from_z) from the region's. */
LEY_FN void stage_cube(const region *r, int from_x, int from_y, int from_z, int x, int y, int z,
                       LEY_LOCAL float *sm_charges)
{
    const int at_x = (int)LEY_LOCAL_ID(0) + LEY_CUBE * x, at_y = (int)LEY_LOCAL_ID(1) + LEY_CUBE * y,
              at_z = (int)LEY_LOCAL_ID(2) + LEY_CUBE * z;
    sm_charges[(at_z * EDGE + at_y) * EDGE + at_x] =
        charge_at(r->charges, r->place_x[from_x + at_x], r->place_y[from_y + at_y] + r->place_z[from_z + at_z]);
}

LEY_FN void stage_cubes(const region *r, int from_x, int from_y, int from_z, bool is_first, LEY_LOCAL float *sm_charges)
{
    UNROLL_SLIDE for (int z = 0; z < 2; z++) {
        UNROLL_SLIDE for (int y = 0; y < 2; y++) {
#if LEY_SLIDE == LEY_SLIDE_SHIFTED
            const int at_y = (int)LEY_LOCAL_ID(1) + LEY_CUBE * y, at_z = (int)LEY_LOCAL_ID(2) + LEY_CUBE * z;
            LEY_LOCAL float *sm_own = sm_charges + (at_z * EDGE + at_y) * EDGE + LEY_LOCAL_ID(0);
            if (is_first)
                stage_cube(r, from_x, from_y, from_z, 0, y, z, sm_charges);
            else
                *sm_own = sm_own[LEY_CUBE];
            stage_cube(r, from_x, from_y, from_z, 1, y, z, sm_charges);
#else
            for (int x = 0; x < 2; x++)
                stage_cube(r, from_x, from_y, from_z, x, y, z, sm_charges);
#endif
        }
    }
}

/* `weights`: that of the window's first place. */
LEY_FN void slide(sums *s, CONSTANT_SPACE const float *weights, LEY_LOCAL const float *sm_charges)
{
    LEY_LOCAL const float *sm_own =
        sm_charges + ((int)LEY_LOCAL_ID(2) * EDGE + (int)LEY_LOCAL_ID(1)) * EDGE + LEY_LOCAL_ID(0);
    for (int z = 0; z < LEY_CUBE; z++)
        UNROLL_SLIDE for (int y = 0; y < LEY_CUBE; y++) {
            UNROLL_SLIDE for (int x = 0; x < LEY_CUBE; x++)
                s->sum[0] += weights[(z * WEIGHTS_Y + y) * WEIGHTS_X + x] * sm_own[(z * EDGE + y) * EDGE + x];
        }
}

LEY_FN void sum_region(sums *s, const region *r, CONSTANT_SPACE const float *weights, LEY_LOCAL float *sm_charges,
                       LEY_LOCAL int *sm_places)
{
    const int beside_x = LEY_CUBES_BESIDE(LEY_RX), beside_y = LEY_CUBES_BESIDE(LEY_RY),
              beside_z = LEY_CUBES_BESIDE(LEY_RZ);
    const bool periodic_x = (r->periodic & 1) != 0, periodic_y = (r->periodic & 2) != 0,
               periodic_z = (r->periodic & 4) != 0;
    const int first_x = first_step(beside_x, r->x / LEY_CUBE, periodic_x),
              last_x = last_step(beside_x, r->x / LEY_CUBE, r->cubes_x, periodic_x);
    const int last_y = last_step(beside_y, r->y / LEY_CUBE, r->cubes_y, periodic_y),
              last_z = last_step(beside_z, r->z / LEY_CUBE, r->cubes_z, periodic_z);
    for (int z = first_step(beside_z, r->z / LEY_CUBE, periodic_z); z <= last_z; z++)
        for (int y = first_step(beside_y, r->y / LEY_CUBE, periodic_y); y <= last_y; y++)
            for (int x = first_x; x <= last_x; x++) {
                const int at_z = LEY_CUBE * (z + beside_z), at_y = LEY_CUBE * (y + beside_y),
                          at_x = LEY_CUBE * (x + beside_x);
                LEY_BARRIER_OF(ITEMS);
                stage_cubes(r, LEY_CUBE * x, LEY_CUBE * y, LEY_CUBE * z, x == first_x, sm_charges);
                LEY_BARRIER_OF(ITEMS);
                slide(s, weights + (at_z * WEIGHTS_Y + at_y) * WEIGHTS_X + at_x, sm_charges);
                end_part(s);
            }
}

LEY_FN void store(const sums *s, const region *r)
{
    *place_of(r, r->x + (int)LEY_LOCAL_ID(0), r->y + (int)LEY_LOCAL_ID(1), r->z + (int)LEY_LOCAL_ID(2)) =
        result(s, 0) * r->scale;
}

#endif
