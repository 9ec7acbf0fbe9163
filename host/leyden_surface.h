/* leyden: surfaces of molecules and of maps, as triangles. leyden.h, which has the conventions,
 * includes this. */
#ifndef LEYDEN_H
#include "leyden.h"
#elif !defined(LEYDEN_SURFACE_H)
#define LEYDEN_SURFACE_H

#ifdef __cplusplus
extern "C" {
#endif

/* Triangles, with a normal and a value at each vertex. */
typedef struct ley_surface ley_surface;

typedef struct ley_surface_options {
    size_t size;      /* sizeof(ley_surface_options): ley_surface_options_default() sets it */
    double spacing_A; /* of the grid on which the density is computed: [0.01, 100] */
    double sharpness; /* a, how fast an atom's density falls: [0.5, 50] */
} ley_surface_options;

/* 0.5 A, sharpness 2. */
LEY_API void ley_surface_options_default(ley_surface_options *options);

/* The surface of a molecule: where
 *
 *     rho(r) = sum_j exp(a (1 - |r - r_j|^2 / R_j^2))
 *
 * is 1, R_j the atoms' radii, so that a lone atom's surface is at its radius. Atoms of radius 0
 * have no part in it. The host computes rho on a grid that reaches as far as any atom does: the
 * surface is closed. `cancel`: stops the work soon after it becomes true (LEY_CANCELLED), or NULL.
 * Errors: LEY_ERROR_INPUT when no atom has a radius; LEY_ERROR_MEMORY when grid or surface would
 * take more memory than there is; LEY_ERROR_USAGE. */
LEY_API ley_status ley_surface_create(const ley_atoms *atoms, const ley_surface_options *options,
                                      const volatile bool *cancel, ley_surface **surface, ley_error *error);

/* Where a map has one of these values: inside is what is above a level that is 0 or more, and below
 * one that is negative. A level that is given twice is drawn once. Surfaces end open where the map
 * ends. Vertices have their level as value. `cancel` as above. Errors: LEY_ERROR_INPUT when a value
 * is not a number, or a level is not reached, with the map's range; LEY_ERROR_MEMORY;
 * LEY_ERROR_USAGE when the map is not in memory, or a level is not finite. */
LEY_API ley_status ley_surface_create_levels(const ley_map *map, size_t n, const double *level,
                                             const volatile bool *cancel, ley_surface **surface, ley_error *error);
LEY_API void ley_surface_destroy(ley_surface *surface);

/* Takes the map's value at each vertex, interpolated between the eight points around it, and its
 * unit. `cancel` as above. Errors: LEY_ERROR_INPUT when the map does not reach over all vertices,
 * with the share that is outside, or one of its values there is not a number; LEY_ERROR_USAGE when
 * it is not in memory. */
LEY_API ley_status ley_surface_take_map(ley_surface *surface, const ley_map *map, const volatile bool *cancel,
                                        ley_error *error);

LEY_API int64_t ley_surface_vertex_count(const ley_surface *surface);
LEY_API int64_t ley_surface_triangle_count(const ley_surface *surface);
LEY_API const double *ley_surface_vertices_A(const ley_surface *surface); /* [vertices][3] */
LEY_API const float *ley_surface_normals(const ley_surface *surface);     /* [vertices][3], outward, of length 1 */
LEY_API const int32_t *ley_surface_triangles(const ley_surface *surface); /* [triangles][3], from 0, counterclockwise
                                                                             as seen from outside */
LEY_API float *ley_surface_values(ley_surface *surface);                  /* [vertices]; not-a-numbers at first */
LEY_API const float *ley_surface_read_values(const ley_surface *surface);

/* Units of the values, as "kT/e"; empty when unknown. Set: copied, cut at 31 characters. */
LEY_API const char *ley_surface_units(const ley_surface *surface);
LEY_API void ley_surface_set_units(ley_surface *surface, const char *units);

/* The part of a map's surface that has one level: its vertices and triangles follow those of the
 * levels before it. */
typedef struct ley_surface_level {
    double level;
    int64_t vertices, triangles;
    double area_A2, volume_A3; /* as below */
    bool is_closed;
} ley_surface_level;

/* How many levels it has; of a molecule none. Level i, from 0, in the order given. */
LEY_API size_t ley_surface_level_count(const ley_surface *surface);
LEY_API const ley_surface_level *ley_surface_level_at(const ley_surface *surface, size_t i);

/* Area and enclosed volume of the smooth surface through the vertices, whose curvature within a
 * triangle follows from the normals. Those of the plane triangles are less by the second order of
 * their size. The volume of a surface that is not closed, or that has several levels, of which one
 * may enclose another, is not a number. */
LEY_API double ley_surface_area_A2(const ley_surface *surface);
LEY_API double ley_surface_volume_A3(const ley_surface *surface);
LEY_API bool ley_surface_is_closed(const ley_surface *surface);

/* Of a molecule: how far vertices are from where rho is 1, in A, at most, of 32 to 256 that are
 * recomputed from all atoms in double precision; ley_surface_create() fails with
 * LEY_ERROR_WRONG_RESULT where that is more than the spacing. Of a map not a number. */
LEY_API double ley_surface_error_A(const ley_surface *surface);

/* Of a molecule: how many atoms with a radius are missing, since they lie between the points of the
 * grid and outside of all other atoms; and the least of their radii. A spacing below 1.15 of that
 * finds all of them. */
LEY_API size_t ley_surface_missing_atoms(const ley_surface *surface, double *least_radius_A);

/* The share of the sky that each vertex sees, [vertices], 0 to 1, weighted by the cosine to its
 * normal: what pictures are shaded by. Errors: LEY_ERROR_MEMORY. */
LEY_API ley_status ley_surface_openness(const ley_surface *surface, float *share, ley_error *error);

/* ---- Colours ---- */

/* Diverging colours of the values from low to high: red for negative, white at zero, blue for
 * positive, at full strength at the larger of |low| and |high|. */
typedef struct ley_colours {
    uint32_t steps[1025]; /* 0x00RRGGBB, from -limit to limit */
    double low, high;
} ley_colours;

/* What `limit` is usually for potentials in water: 5 kT/e at 298.15 K in these units; 5 where they
 * are of no potential, or unknown. */
LEY_API double ley_colours_usual_limit(const char *units);

LEY_API void ley_colours_make(ley_colours *colours, double low, double high);

/* Values beyond low and high get their colours, not-a-numbers a grey of their own. */
LEY_API uint32_t ley_colours_at(const ley_colours *colours, double value);

/* ---- Files ---- */

/* Writes the form that the name asks for: .ply, .obj, .stl, .glb (glTF), or a script that loads a
 * file which is written beside it: .cxc (ChimeraX, a .glb), .cmd (Chimera, a .stl), .pml (PyMOL, a
 * .ply). Vertices have the colours of their values, white where `colours` is NULL. `comment`: lines
 * for the header, separated by newlines, or NULL. Files appear under their names only when they are
 * whole. `cancel`: stops the writing when it becomes true (LEY_CANCELLED), or NULL. Errors:
 * LEY_ERROR_USAGE for another name; LEY_ERROR_FILE. */
LEY_API ley_status ley_surface_write(const ley_surface *surface, const char *path, const ley_colours *colours,
                                     const char *comment, const volatile bool *cancel, ley_error *error);

/* Endings that it knows, i from 0; NULL behind the last. And the path of the file beside a script,
 * from malloc; NULL: there is none. */
LEY_API const char *ley_surface_ending(size_t i);
LEY_API char *ley_surface_beside(const char *path);

#ifdef __cplusplus
}
#endif
#endif
