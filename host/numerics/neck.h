/* The space between two spheres that water does not reach, in integrals of generalised Born
 * models: J. Mongan et al., J. Chem. Theory Comput. 3, 156 (2007), whose tables are for radii of 1
 * to 2 A by 0.05 A; in between they are interpolated linearly. */
#ifndef LEY_NUMERICS_NECK_H
#define LEY_NUMERICS_NECK_H

#define NECK_LEAST_A 1.0
#define NECK_MOST_A 2.0
#define NECK_GAP_A 6.8 /* there is no neck where spheres are further apart than this */

/* The integral at a distance r of centres is height / (1 + d^2 + 0.3 d^6), d = r - position, in A.
 */
typedef struct neck {
    double position_A, height_per_A;
} neck;

/* Of the integral of a particle with this intrinsic radius, and another's; radii beyond the table's
 * have its ends. */
neck neck_of(double radius_A, double other_A);

#endif
