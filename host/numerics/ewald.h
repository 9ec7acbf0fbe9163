/* How Ewald's sums divide exp(-kappa r)/r, kappa 0 or more, between images and waves: by Gaussians
 * exp(-beta^2 r^2). Of a unit charge, in 1/A. (Screened: Salin, Caillol 2000.) */
#ifndef LEY_EWALD_H
#define LEY_EWALD_H

/* What waves do not bring of a charge at distance r > 0; with beta 0 all of it. */
double ewald_image(double r_A, double kappa_per_A, double beta_per_A);

/* And what they do, also at 0; beta above 0. */
double ewald_smooth(double r_A, double kappa_per_A, double beta_per_A);

/* Less its derivative. */
double ewald_image_slope(double r_A, double kappa_per_A, double beta_per_A);

/* Of a wave along three dimensions, k^2 + kappa^2 above 0, over the volume. */
double ewald_wave(double k2_per_A2, double kappa_per_A, double beta_per_A);

/* Of the wave without a direction: the mean, or that of the background without screening. */
double ewald_mean(double kappa_per_A, double beta_per_A);

/* Of a wave along a plane at a distance from it, q^2 = k^2 + kappa^2 above 0, over the area. */
double ewald_plane(double q_per_A, double beta_per_A, double z_A);

/* The last two without what they are without waves: 4 pi / kappa^2, and 2 pi / q at a plane, which
 * are far larger where kappa and q are small. */
double ewald_mean_rest(double kappa_per_A, double beta_per_A);
double ewald_plane_rest(double q_per_A, double beta_per_A, double z_A);

#endif
