/* Faults planted in kernels: which of them the self-tests see that every program goes through
 * before it is used.
 *
 * * All faults of a kernel stand in one doctored copy of its sources, each behind a condition of
 * its own, FAULT(n), and a launch says which of them is in force: by the global offset along z,
 * which no kernel reads. So a kernel is compiled once and not once a fault. CUDA has no offsets:
 * there a fault is a constant, and the kernel is compiled for each.
 *
 * * Without arguments on the device that is the default, in as many processes as there are cores;
 * else on the devices that the arguments select: test_self_test cuda. */
#include "support.h"

#include "error.h"
#include "methods/cutoff/build.h"
#include "methods/cutoff/device_binning.h"
#include "methods/cutoff/self_test.h"
#include "methods/cutoff/short_range.h"
#include "methods/dcs/build.h"
#include "methods/dcs/self_test.h"
#include "methods/mdh/build.h"
#include "methods/mdh/self_test.h"
#include "methods/msm/lattice_build.h"
#include "methods/msm/lattice_self_test.h"
#include "parallel.h"
#include "run/engine.h"

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- Which fault is in force ----------------------------------------------------------------- */

enum { NO_FAULT = 0, OFFSET = 1000 /* of no fault: the same code then runs all of them */ };

static int fault_in_force;
static bool is_offset; /* launches say so */

/* In place of the driver's: the library's launches, from the given offset. */
cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *offset,
                              const size_t *global, const size_t *local, cl_uint count, const cl_event *after,
                              cl_event *event)
{
    static __typeof__(&clEnqueueNDRangeKernel) real;
    if (real == NULL)
        *(void **)&real = dlsym(RTLD_NEXT, "clEnqueueNDRangeKernel");
    const size_t which[3] = {0, 0, (size_t)(OFFSET + fault_in_force)};
    return real(queue, kernel, dimensions, is_offset ? which : offset, global, local, count, after, event);
}

/* ---- Faults ---------------------------------------------------------------------------------- */

/* Of which kernels a fault is: bits. */
enum {
    ROWS = 1,     /* CPU devices' */
    LOCAL = 2,    /* staged in local memory */
    CONSTANT = 4, /* streamed; of lattices, a window that slides */
    ANY = 7,
    COMPENSATED = 8, /* of this sum alone */
    DOUBLE = 16,
    FACES = 32,
    LIST = 64,
    WIDE = 128,       /* screening */
    SPLIT = 256,      /* variant of halves; of lattices, sub-cubes that are shifted */
    POLYNOMIAL = 512, /* exponentials */
    PLACED = 1024,    /* atoms come as a cell and an offset */
    PAIR = 2048,      /* of the pair functions from here on */
};

/* `from` becomes `to`, in which @ is the condition. Where `to` has all of `from` in it, other
 * faults can be planted in the same place. */
typedef struct fault {
    const char *what, *file, *from, *to;
    int of;         /* bits: any of ROWS, LOCAL, CONSTANT, or none for all; and all others */
    int count;      /* how often `from` stands in its files of cl/; 0: once */
    int cuda_count; /* and in those of kernels_cuda/, which have little of their own */
    bool by_verification;
} fault;

#define SLAB_VALUE "gm_sum[at] = p->sum[k];"
#define MDH_VALUE "*gm_sum = p->sum[k];"
#define CUTOFF_VALUE "result(p, INDEX(u, v, w))"
#define WRONG_IF(value, condition, factor) value " if (@ && (" condition ")) " factor
#define TIMES_IF(condition, factor) CUTOFF_VALUE " * (@ && (" condition ") ? " factor " : 1.0f)"

static const fault dcs_faults[] = {
    {"all tiles but the first", "dcs", SLAB_VALUE,
     WRONG_IF(SLAB_VALUE, "LEY_GROUP_ID(0) + LEY_GROUP_ID(1) > 0", "gm_sum[at] *= 2;"), 0, 0, 0, 0},
    {"last row of each tile", "dcs", SLAB_VALUE,
     WRONG_IF(SLAB_VALUE, "v == LEY_UY - 1 && LEY_LOCAL_ID(1) == LEY_WG_Y - 1", "gm_sum[at] *= 2;"), 0, 0, 0, 0},
    {"last column of each tile", "dcs", SLAB_VALUE,
     WRONG_IF(SLAB_VALUE, "u == LEY_UX - 1 && LEY_LOCAL_ID(0) == LEY_WG_X - 1", "gm_sum[at] *= 1.001f;"), 0, 0, 0, 0},
    {"planes from the ninth on", "dcs", SLAB_VALUE, WRONG_IF(SLAB_VALUE, "LEY_GROUP_ID(2) >= 8", "gm_sum[at] *= 2;"), 0,
     0, 0, 0},
    {"one point in every 16th plane", "dcs", SLAB_VALUE,
     WRONG_IF(SLAB_VALUE,
              "LEY_GROUP_ID(2) % 16 == 15 && k == 0 && LEY_LOCAL_ID(0) + LEY_LOCAL_ID(1) + LEY_GROUP_ID(0) + "
              "LEY_GROUP_ID(1) == 0",
              "gm_sum[at] *= 2;"),
     0, 0, 0, 0},
    {"the fifth tile along x", "dcs", SLAB_VALUE, WRONG_IF(SLAB_VALUE, "LEY_GROUP_ID(0) == 4", "gm_sum[at] *= 1.001f;"),
     0, 0, 0, 0},
    {"the fourth tile along y", "dcs", SLAB_VALUE,
     WRONG_IF(SLAB_VALUE, "LEY_GROUP_ID(1) == 3", "gm_sum[at] *= 1.001f;"), 0, 0, 0, 0},
    {"all by 1e-4", "dcs", SLAB_VALUE, WRONG_IF(SLAB_VALUE, "true", "gm_sum[at] *= 1.0001f;"), 0, 0, 0, 0},
    {"planes from the 41st of a launch on", "dcs", SLAB_VALUE,
     WRONG_IF(SLAB_VALUE, "LEY_GROUP_ID(2) >= 40", "gm_sum[at] *= 2;"), 0, 0, 0, true},
    {"not stored", "dcs", SLAB_VALUE, "if (!@) " SLAB_VALUE, 0, 0, 0, 0},
    {"atoms beyond 8,192 in a launch", "dcs", "block < n_atoms;", "block < (@ ? min(n_atoms, 8192) : n_atoms);",
     ROWS | LOCAL, 0, 0, 0},
    {"every block the first atoms", "dcs", "first_atom + block", "first_atom + (@ ? 0 : block)", ROWS | LOCAL, 2, 0, 0},
    {"accumulate ignored", "dcs", "accumulate || block", "(accumulate && !@) || block", 0, 0, 0, 0},
    {"blocks of a launch not added up", "dcs", "|| block > 0);", "|| (block > 0 && !@));", ROWS | LOCAL, 0, 0, 0},
    {"last atom of each tile but the last", "dcs", "min(LEY_TILE, n_atoms - base)",
     "(min(LEY_TILE, n_atoms - base) - (@ && n_atoms - base > LEY_TILE))", ROWS | LOCAL, 2, 1, 0},
    {"first plane ignored", "dcs", "first_plane + (int)", "(@ ? 0 : first_plane) + (int)", 0, 0, 0, 0},
    {"y turned round", "dcs", "a.y += (s.cell.y - p->base.y) * p->step.y;",
     "a.y += (@ ? -1 : 1) * ((s.cell.y - p->base.y) * p->step.y);", PLACED, 0, 0, 0},
    {"near atoms left out", "dcs", "left = sm_near[w];", "left = @ ? 0 : sm_near[w];", LOCAL, 0, 0, 0},
    {"one near atom of 32", "dcs", "left &= left - 1", "left = @ ? 0 : left & (left - 1)", LOCAL, 0, 0, 0},
    {"near atoms left out", "dcs", "n < n_near;", "n < (@ ? 0 : n_near);", ROWS, 0, 0, 0},
    {"r_min ignored", "dcs", "(dy * dy + dz * dz), ", "(dy * dy + dz * dz), (@ ? 0.0f : 1.0f) * ", ROWS | LOCAL, 0, 0,
     0},
    {"carries dropped", "sum.h", "(c) = (t_ - (s)) - y_;", "(c) = @ ? (real)0 : (t_ - (s)) - y_;", COMPENSATED, 0, 0,
     0},
    {"roots like floats", "dialect.h", "{ return rsqrt(x); }", "{ return rsqrt(x) * (@ ? 1 + 3e-8 : 1); }", DOUBLE, 0,
     0, 0},
};

static const fault mdh_faults[] = {
    {"last point of a work-item", "mdh", MDH_VALUE, WRONG_IF(MDH_VALUE, "k == POINTS - 1", "*gm_sum *= 1.001f;"), 0, 0,
     0, 0},
    {"second row of a work-item", "mdh", MDH_VALUE, WRONG_IF(MDH_VALUE, "k / LEY_UX == 1", "*gm_sum *= 1.001f;"), FACES,
     0, 0, 0},
    {"all groups but the first", "mdh", MDH_VALUE, WRONG_IF(MDH_VALUE, "LEY_GROUP_ID(0) > 0", "*gm_sum *= 2;"), 0, 0, 0,
     0},
    {"the last group", "mdh", MDH_VALUE,
     WRONG_IF(MDH_VALUE, "LEY_GROUP_ID(0) == LEY_GROUPS(0) - 1", "*gm_sum *= 1.001f;"), 0, 0, 0, 0},
    {"second part", "mdh", MDH_VALUE, WRONG_IF(MDH_VALUE, "LEY_GROUP_ID(1) == 1", "*gm_sum *= 1.001f;"), 0, 0, 0, 0},
    {"third part", "mdh", MDH_VALUE, WRONG_IF(MDH_VALUE, "LEY_GROUP_ID(1) == 2", "*gm_sum *= 1.001f;"), 0, 0, 0, 0},
    {"all by 1e-4", "mdh", MDH_VALUE, WRONG_IF(MDH_VALUE, "true", "*gm_sum *= 1.0001f;"), 0, 0, 0, 0},
    {"accumulate ignored", "mdh", "if (accumulate) {", "if (accumulate && !@) {", 0, 0, 0, 0},
    {"every part the first", "mdh", "begin = part * part_atoms;", "begin = @ ? 0 : part * part_atoms;", 0, 0, 0, 0},
    {"every launch the first atoms", "mdh", "first_atom + begin", "(@ ? 0 : first_atom) + begin", 0, 0, 0, 0},
    {"the last, shorter part loses an atom", "mdh", "min(part_atoms, n_atoms - begin)",
     "min(part_atoms, n_atoms - begin) - (@ && n_atoms - begin < part_atoms)", 0, 2, 0, 0},
    {"atoms beyond 8,192 in a launch", "mdh", "min(part_atoms, n_atoms - begin)",
     "min(part_atoms, max(0, (@ ? min(n_atoms, 8192) : n_atoms) - begin))", 0, 2, 0, 0},
    {"one face turned", "mdh", "f.axis = s.axis;", "f.axis = @ && s.plane > 0 && s.axis == 1 ? 0 : s.axis;", FACES, 0,
     0, 0},
    {"a segment's rows", "mdh", "f.stride_b = rows;", "f.stride_b = rows + (@ ? 1 : 0);", FACES, 0, 0, 0},
    {"a segment's columns", "mdh", "f.stride_a = s.columns", "f.stride_a = (s.columns + (@ ? 1 : 0))", FACES, 0, 0, 0},
    {"the first group of each segment", "mdh", "[which + 1].first_group)", "[which + 1].first_group + (@ ? 1 : 0))",
     FACES, 0, 0, 0},
    {"near atoms twice", "mdh", "\n        a.w = 0;", "\n        a.w *= @ ? 1 : 0;", FACES, 0, 0, 0},
    {"near atoms left out", "mdh", "left = sm_near[w];", "left = @ ? 0 : sm_near[w];", LOCAL, 0, 0, 0},
    {"near atoms left out", "mdh", "n < n_near;", "n < (@ ? 0 : n_near);", ROWS, 2, 0, 0},
    {"near atoms' radii", "mdh", "near.cell.w", "(near.cell.w + (@ ? 1 : 0))", FACES | WIDE, 3, 0, 0},
    {"limit of exponents", "mdh", "(real)MOST_EXPONENT", "(real)(@ ? 20 : MOST_EXPONENT)", WIDE, 0, 0, 0},
    {"last atom of each tile but the last", "mdh", "min(LEY_TILE, n_atoms - base)",
     "(min(LEY_TILE, n_atoms - base) - (@ && n_atoms - base > LEY_TILE))", 0, 3, 0, 0},
    {"atoms of a tile beyond the last four", "mdh", "ATOMS_OF_A_TURN for (int j = 0; j < count;",
     "ATOMS_OF_A_TURN for (int j = 0; j < count - (@ ? count % 4 : 0);", LOCAL, 0, 0, 0},
    {"atoms of a tile beyond the last eight", "mdh", "ATOMS_OF_A_TURN for (int j = 0; j < count",
     "ATOMS_OF_A_TURN for (int j = 0; j < count - (@ ? count % 8 : 0)", LOCAL, 0, 0, 0},
    {"the last point", "mdh", "(at < n_places)", "(at < n_places - (@ ? LEY_WIDTH : 0))", LIST, 0, 0, 0},
    {"exponentials by 3e-4", "pair.h", "0.2402211972f", "(@ ? 0.2409f : 0.2402211972f)", POLYNOMIAL, 0, 0, 0},
    {"carries dropped", "sum.h", "(c) = (t_ - (s)) - y_;", "(c) = @ ? (real)0 : (t_ - (s)) - y_;", COMPENSATED, 0, 0,
     0},
    {"second of the parts", "sum_parts", "sum += gm_parts[(size_t)p * part_values + i];",
     "sum += (@ && p == 1 ? 0 : 1) * gm_parts[(size_t)p * part_values + i];", 0, 0, 0, 0},
    {"third of the parts", "sum_parts", "sum = 0;", "sum = 0; if (@) n_parts = min(n_parts, 2);", 0, 0, 0, 0},
    {"sums from the 65th on", "sum_parts", "gm_sums[i] = sum;", "gm_sums[i] = @ && i >= 64 ? 2 * sum : sum;", 0, 0, 0,
     0},
};

static const fault cutoff_faults[] = {
    {"regions x >= 3", "cutoff", CUTOFF_VALUE, TIMES_IF("LEY_GROUP_ID(0) >= 3", "2"), 0, 0, 0, 0},
    {"regions y >= 2", "cutoff", CUTOFF_VALUE, TIMES_IF("LEY_GROUP_ID(1) >= 2", "2"), 0, 0, 0, 0},
    {"regions z >= 3", "cutoff", CUTOFF_VALUE, TIMES_IF("LEY_GROUP_ID(2) >= 3", "2"), 0, 0, 0, 0},
    {"last column of a work-item", "cutoff", CUTOFF_VALUE, TIMES_IF("u == LEY_UX - 1", "1.001f"), 0, 0, 0, 0},
    {"last row of a work-item", "cutoff", CUTOFF_VALUE, TIMES_IF("v == LEY_UY - 1", "1.001f"), 0, 0, 0, 0},
    {"last plane of a work-item", "cutoff", CUTOFF_VALUE, TIMES_IF("w == LEY_UZ - 1", "1.001f"), 0, 0, 0, 0},
    {"one place in every 16th plane", "cutoff", CUTOFF_VALUE,
     TIMES_IF("LEY_GROUP_ID(2) % 2 == 1 && w == LEY_UZ - 1 && LEY_LOCAL_ID(2) == LEY_LZ - 1 && u + v + LEY_GROUP_ID(0) "
              "+ LEY_GROUP_ID(1) + LEY_LOCAL_ID(0) + LEY_LOCAL_ID(1) == 0",
              "2"),
     ROWS, 0, 0, 0},
    {"all by 1e-4", "cutoff", CUTOFF_VALUE, TIMES_IF("true", "1.0001f"), 0, 0, 0, 0},
    {"first region ignored", "cutoff", "+ first_region +", "+ (@ ? 0 : first_region) +", 0, 0, 0, 0},
    {"bins of the overflow left out", "cutoff", "b->extra[f.bin + 1];", "b->extra[f.bin + (@ ? 0 : 1)];", 0, 2, 0, 0},
    {"last entry of the table", "cutoff", "e < b->n_table;", "e < b->n_table - (@ ? 1 : 0);", ROWS, 0, 0, 0},
    {"last entry of the table", "cutoff", "first + item < b->n_table", "first + item < b->n_table - (@ ? 1 : 0)", LOCAL,
     0, 0, 0},
    {"last slot of a bin", "cutoff", "(0, 1, 2, 3) < LEY_DEPTH,", "(0, 1, 2, 3) < LEY_DEPTH - (@ ? 1 : 0),", ROWS, 0, 0,
     0},
    {"last slot of a bin", "cutoff", "wants = i < n_bins * LEY_DEPTH;",
     "wants = i < n_bins * LEY_DEPTH && !(@ && i % LEY_DEPTH == LEY_DEPTH - 1);", LOCAL, 0, 0, 0},
    {"y turned round", "cutoff", "home.y + entry.y", "home.y + (@ ? -1 : 1) * entry.y", 0, 0, 0, 0},
    {"bins a little elsewhere", "cutoff", "home.z + entry.z", "home.z + (@ ? 1.001f : 1.0f) * entry.z", 0, 0, 0, 0},
    {"cutoff halved", "cutoff", "p.limits = limits;", "p.limits = limits; if (@) p.limits.x *= 0.25f;", 0, 0, 0, 0},
    {"cutoff by 1e-2", "cutoff", "p.limits = limits;", "p.limits = limits; if (@) p.limits.x *= 0.98f;", 0, 0, 0, 0},
    {"r_min ignored", "cutoff", "(real)p->limits.y)", "(real)(@ ? 0 : p->limits.y))", 0, 0, 0, 0},
    {"near atoms by 1e-3", "cutoff", "LEY_PAIR_OF_CHARGE ? a.w : 1;",
     "(LEY_PAIR_OF_CHARGE ? a.w : 1) * (@ ? 1.001f : 1.0f);", 0, 0, 0, 0},
    {"far atoms by 1e-3", "cutoff", "LEY_PAIR_OF_CHARGE ? first : 1;",
     "(LEY_PAIR_OF_CHARGE ? first : 1) * (@ ? 1.001f : 1.0f);", 0, 0, 0, 0},
    {"last atom of a full tile", "cutoff", "sum_tile(p, &t, far);", "sum_tile(p, &t, far - (@ && far > 64 ? 1 : 0));",
     ROWS, 2, 0, 0},
    {"last atom of a full tile", "cutoff", "sm, *staged_atoms, item);",
     "sm, *staged_atoms - (@ && *staged_atoms > 64 ? 1 : 0), item);", LOCAL, 0, 0, 0},
    {"the last column looked for too near", "cutoff", "(LEY_LX - 1) * p->step.x",
     "(LEY_LX - 1 - (@ ? 1 : 0)) * p->step.x", ROWS, 0, 0, 0},
    {"bins half a step farther along x", "cutoff", "-(x + size_x))", "-(x + size_x)) + (@ ? 0.5f * p->step.x : 0)", 0,
     0, 0, 0},
    {"bins half a step farther along z", "cutoff", "-(z + size_z))", "-(z + size_z)) + (@ ? 0.5f * p->step.z : 0)", 0,
     0, 0, 0},
    {"a half too much left out", "cutoff", "(upper2 < limit ?", "(upper2 < limit * (@ ? 0.9f : 1.0f) ?", SPLIT, 0, 0,
     0},
};

/* A constant of each pair function, and each of its numbers, by 1e-3. */
enum {
    SHIFTED = PAIR << LEY_PAIR_SHIFTED,
    TAYLOR2 = PAIR << LEY_PAIR_TAYLOR2,
    TAYLOR3 = PAIR << LEY_PAIR_TAYLOR3,
    TAYLOR4 = PAIR << LEY_PAIR_TAYLOR4,
    YUKAWA = PAIR << LEY_PAIR_YUKAWA,
    LENNARD_JONES = PAIR << LEY_PAIR_LENNARD_JONES,
    BUCKINGHAM = PAIR << LEY_PAIR_BUCKINGHAM,
    EXPRESSION = PAIR << LEY_PAIR_EXPRESSION,
};

static const fault pair_faults[] = {
    {"cutoff halved", "cutoff", "p.limits = limits;", "p.limits = limits; if (@) p.limits.x *= 0.25f;", 0, 0, 0, 0},
    {"the last column looked for too near", "cutoff", "(LEY_LX - 1) * p->step.x",
     "(LEY_LX - 1 - (@ ? 1 : 0)) * p->step.x", ROWS, 0, 0, 0},
    {"series.x", "cutoff", "p.limits = limits;", "p.limits = limits; if (@) series.x *= 1.001f;",
     SHIFTED | TAYLOR2 | TAYLOR3 | TAYLOR4, 0, 0, 0},
    {"series.y", "cutoff", "p.limits = limits;", "p.limits = limits; if (@) series.y *= 1.001f;",
     TAYLOR2 | TAYLOR3 | TAYLOR4, 0, 0, 0},
    {"series.z", "cutoff", "p.limits = limits;", "p.limits = limits; if (@) series.z *= 1.001f;",
     TAYLOR2 | TAYLOR3 | TAYLOR4, 0, 0, 0},
    {"series.w", "cutoff", "p.limits = limits;", "p.limits = limits; if (@) series.w *= 1.001f;", TAYLOR3 | TAYLOR4, 0,
     0, 0},
    {"k", "cutoff", "p.limits = limits;", "p.limits = limits; if (@) p.limits.z *= 1.001f;", TAYLOR4 | YUKAWA, 0, 0, 0},
    {"k", "cutoff", "p.limits = limits;", "p.limits = limits; if (@) p.limits.z *= 1.01f;", EXPRESSION, 0, 0, 0},
    {"near atoms by 1e-3", "cutoff", "LEY_PAIR_OF_CHARGE ? a.w : 1;",
     "(LEY_PAIR_OF_CHARGE ? a.w : 1) * (@ ? 1.001f : 1.0f);",
     SHIFTED | TAYLOR2 | TAYLOR3 | TAYLOR4 | YUKAWA | LENNARD_JONES | BUCKINGHAM, 0, 0, 0},
    {"far atoms by 1e-3", "cutoff", "LEY_PAIR_OF_CHARGE ? first : 1;",
     "(LEY_PAIR_OF_CHARGE ? first : 1) * (@ ? 1.001f : 1.0f);",
     SHIFTED | TAYLOR2 | TAYLOR3 | TAYLOR4 | YUKAWA | LENNARD_JONES | BUCKINGHAM, 0, 0, 0},
    {"attraction", "pair_formulas.h", "first * inverse_r6 - second",
     "first * inverse_r6 - (@ ? 1.001f : 1.0f) * second", LENNARD_JONES, 0, 0, 0},
    {"repulsion", "pair_formulas.h", "inverse_r6 * (first *", "inverse_r6 * ((@ ? 1.001f : 1.0f) * first *",
     LENNARD_JONES, 0, 0, 0},
    {"attraction", "pair_formulas.h", "- third * inverse_r6", "- (@ ? 1.001f : 1.0f) * third * inverse_r6", BUCKINGHAM,
     0, 0, 0},
    {"steepness", "pair_formulas.h", "exp2(-second *", "exp2((@ ? -1.001f : -1.0f) * second *", BUCKINGHAM, 0, 0, 0},
    {"exponentials by 3e-4", "pair.h", "0.2402211972f", "(@ ? 0.2409f : 0.2402211972f)", YUKAWA | BUCKINGHAM, 0, 0, 0},
};

static const fault binning_faults[] = {
    {"the last atom", "link_atoms", "(size_t)n_atoms)", "(size_t)n_atoms - (@ ? 1 : 0))", 0, 0, 0, 0},
    {"atoms beyond 8,192", "link_atoms", "(size_t)n_atoms", "(size_t)(@ ? min(n_atoms, 8192) : n_atoms)", 0, 0, 0, 0},
    {"in reach along x", "link_atoms", "x >= low.x", "x >= low.x + (@ ? 1 : 0)", 0, 0, 0, 0},
    {"in reach along z", "link_atoms", "z <= high.z", "z <= high.z - (@ ? 1 : 0)", 0, 0, 0, 0},
    {"atoms without charge", "link_atoms", "charge == 0", "charge == (@ ? 2 : 0)", 0, 0, 0, 0},
    {"number of a bin", "link_atoms", "(at_z *", "((@ ? at_x : at_z) *", 0, 0, 0, 0},
    {"products not rounded", "link_atoms", "- zero, side)", "- zero, side * (@ ? 1 + 4e-16 : 1))", 0, 0, 0, 0},
    {"charges as they were", "link_atoms", "(float)(origin.w *", "(float)((@ ? 1 : origin.w) *", 0, 0, 0, 0},
    {"atoms without charge counted elsewhere", "link_atoms", "gm_count[n.w + 1]", "gm_count[n.w + (@ ? 0 : 1)]", 0, 0,
     0, 0},
    {"the last bin", "fill_bins", "if (bin >= (size_t)bins)",
     "if (@ && bin + 1 == (size_t)bins)\n return;\n if (bin >= (size_t)bins)", 0, 0, 0, 0},
    {"bins from the 1,025th on", "fill_bins", "if (bin >= (size_t)bins)",
     "if (@ && bin >= 1024)\n return;\n if (bin >= (size_t)bins)", 0, 0, 0, 0},
    {"last of each eight", "fill_bins", "SORTED - 1]", "SORTED - (@ ? 2 : 1)]", 0, 0, 0, 0},
    {"unused slots", "fill_bins", "= far;", "= far, far.w += @ ? 1 : 0;", 0, 0, 0, 0},
    {"last atom of a bin", "fill_bins", "rank < count)", "rank < count - (@ ? 1 : 0))", 0, 0, 0, 0},
    {"last slot of a bin", "fill_bins", "gm_records[lowest[k]];",
     "@ && rank == depth - 1 ? far : gm_records[lowest[k]];", 0, 0, 0, 0},
    {"bins of the overflow", "fill_bins", "(size_t)gm_extra[bin]", "(size_t)(gm_extra[bin] - (@ ? 1 : 0))", 0, 0, 0, 0},
    {"further bins of the overflow", "fill_bins", "gm_records[lowest[k]];",
     "@ && rank >= 3 * depth ? far : gm_records[lowest[k]];", 0, 0, 0, 0},
};

#define SCALE "r.scale = LEY_AS_FLOAT(l.scale);"
#define SCALED_IF(condition, factor) SCALE " if (@ && (" condition ")) r.scale *= " factor ";"

static const fault lattice_faults[] = {
    {"regions x > 0", "lattice", SCALE, SCALED_IF("r.x > 0", "1.001f"), 0, 0, 0, 0},
    {"the third region along y", "lattice", SCALE, SCALED_IF("r.y == 2 * REGION_Y", "1.001f"), 0, 0, 0, 0},
    {"the last planes", "lattice", SCALE, SCALED_IF("r.z >= 2 * REGION_Z", "2"), 0, 0, 0, 0},
    {"all by 1e-4", "lattice", SCALE, SCALED_IF("true", "1.0001f"), 0, 0, 0, 0},
    {"the second level by 1e-3", "lattice", SCALE, SCALED_IF("which == 1", "1.001f"), 0, 0, 0, 0},
    {"the last level by 1e-3", "lattice", SCALE, SCALED_IF("which == n_levels - 1", "1.001f"), 0, 0, 0, 0},
    {"scales ignored", "lattice", SCALE, SCALE " if (@) r.scale = 1;", 0, 0, 0, 0},
    {"a level's charges shifted", "lattice", "gm_charges + l.first_node;",
     "gm_charges + l.first_node + (@ && which == 1 ? 1 : 0);", 0, 0, 0, 0},
    {"a level's potentials shifted", "lattice", "gm_potentials + l.first_node;",
     "gm_potentials + l.first_node + (@ && which == 2 ? SUB_CUBE : 0);", 0, 0, 0, 0},
    {"a level's first work-group", "lattice", "group >= gm_all[which + 1].first_group)",
     "group >= gm_all[which + 1].first_group + (@ ? 1 : 0))", 0, 0, 0, 0},
    {"first group ignored", "lattice", "n_levels, first_group + ", "n_levels, (@ ? 0 : first_group) + ", 0, 0, 0, 0},
    {"charges beside a node's own", "lattice", "const int at = place_x + place_yz;",
     "const int at = place_x + place_yz - (@ && place_x + place_yz > 0 ? 1 : 0);", LOCAL | CONSTANT, 0, 0, 0},
    {"regions begin at the first row", "lattice", "gm_places + l.place_y + r.y;",
     "gm_places + l.place_y + (@ ? 0 : r.y);", 0, 0, 0, 0},
    {"sub-cubes along x turned round", "lattice", "* r->cubes_x + x / LEY_CUBE;",
     "* r->cubes_x + (@ && x < LEY_CUBE * r->cubes_x ? r->cubes_x - 1 - x / LEY_CUBE : x / LEY_CUBE);", 0, 0, 0, 0},
    {"a seam within sub-cubes", "lattice", "+ y % LEY_CUBE) * LEY_CUBE",
     "+ (@ ? 3 - y % LEY_CUBE : y % LEY_CUBE)) * LEY_CUBE", 0, 0, 0, 0},
    {"not stored", "lattice", "return x < LEY_CUBE * r->cubes_x &&", "return !@ && x < LEY_CUBE * r->cubes_x &&",
     ROWS | LOCAL, 0, 0, 0},
    {"carries dropped", "lattice", "= (after - s->totals[k]) - term;", "= @ ? (real)0 : (after - s->totals[k]) - term;",
     COMPENSATED, 0, 0, 0},
    {"the last column of a row", "lattice", "dx <= extent;", "dx <= extent - (@ ? 1 : 0);", ROWS | LOCAL, 2, 0, 0},
    {"the last pair of rows", "lattice", "dy <= LEY_RY;", "dy <= LEY_RY - (@ ? 1 : 0);", ROWS | LOCAL, 2, 0, 0},
    {"an image below", "lattice", "r->place_z[p - DEPTH];",
     "(@ && r->z + p < DEPTH ? LEY_NOWHERE : r->place_z[p - DEPTH]);", ROWS | LOCAL, 2, 0, 0},
    {"a weight by 1e-3", "lattice", "w[k] = column[k];", "w[k] = column[k] * (@ && dx == 2 && k == 3 ? 1.001f : 1.0f);",
     LOCAL, 0, 0, 0},
    {"columns on the left", "lattice", "+ sm_first[(at) - dx])", "+ (@ ? 0.999f : 1.0f) * sm_first[(at) - dx])", LOCAL,
     0, 0, 0},
    {"rows below", "lattice", "+ c] += charge_at(", "+ c] += (@ ? 0.999f : 1.0f) * charge_at(", LOCAL, 0, 0, 0},
    {"columns cut too short", "lattice", "if (reach > REACH_MIDDLE)", "if (reach > REACH_MIDDLE + (@ ? 1 : 0))", LOCAL,
     0, 0, 0},
    {"columns cut too short", "lattice", "else if (reach > REACH_LOW)", "else if (reach > REACH_LOW + (@ ? 1 : 0))",
     LOCAL, 0, 0, 0},
    {"last nodes of folded rows", "lattice", "if (x < PITCH && p < PLANES)",
     "if (x < PITCH - (@ ? HALO_X : 0) && p < PLANES)", LOCAL, 0, 0, 0},
    {"the second planes of a group", "lattice", "sm_rows + LEY_LOCAL_ID(2) * LEY_UZ * PITCH",
     "sm_rows + (@ ? 0 : LEY_LOCAL_ID(2)) * LEY_UZ * PITCH", LOCAL, 0, 0, 0},
    {"a column by 1e-3", "lattice", "real charge = CHARGES_AT((at) + u * LEY_WIDTH);",
     "real charge = CHARGES_AT((at) + u * LEY_WIDTH) * (@ && dx == 2 ? 1.001f : 1.0f);", ROWS, 0, 0, 0},
    {"a weight by 1e-3", "lattice", "+= (w)[-z] * charge;",
     "+= (w)[-z] * charge * (@ && dx == 1 && (w) - z - column == 1 ? 1.001f : 1.0f);", ROWS, 0, 0, 0},
    {"columns on the left", "lattice", "+ load(left + (at)))", "+ (@ ? 0.999f : 1.0f) * load(left + (at)))", ROWS, 0, 0,
     0},
    {"rows below", "lattice", "+ load(lower + i);", "+ (@ ? 0.999f : 1.0f) * load(lower + i);", ROWS, 0, 0, 0},
    {"a plane that all nodes have", "lattice", "p < both;", "p < both - (@ ? 1 : 0);", ROWS, 0, 0, 0},
    {"seams taken for whole", "lattice", "const bool together = all(", "const bool together = @ || all(", ROWS, 0, 0,
     0},
    {"seams left out", "lattice", "at.x : SCATTERED;", "at.x : @ ? LEY_NOWHERE : SCATTERED;", ROWS, 0, 0, 0},
    {"the last row of a work-item", "lattice", "store(&s, &r, y);", "if (!@ || y < REGION_Y - 1) store(&s, &r, y);",
     ROWS, 0, 0, 0},
    {"the last vector of a row", "lattice", "lane < LEY_WIDTH;", "lane < LEY_WIDTH - (@ ? LEY_CUBE : 0);", ROWS, 0, 0,
     0},
    {"a weight by 1e-3", "lattice",
     "s->sum[0] += ", "s->sum[0] += (@ && x == 1 && y == 2 && z == 3 ? 1.001f : 1.0f) * ", CONSTANT, 0, 0, 0},
    {"the last step along x", "lattice", "x <= last_x;", "x <= last_x - (@ ? 1 : 0);", CONSTANT, 0, 0, 0},
    {"the last step along z", "lattice", "z <= last_z;", "z <= last_z - (@ ? 1 : 0);", CONSTANT, 0, 0, 0},
    {"images along z", "lattice", "(r->periodic & 4) != 0;", "(r->periodic & (@ ? 0 : 4)) != 0;", CONSTANT, 0, 0, 0},
    {"images along x", "lattice", "(r->periodic & 1) != 0,", "(r->periodic & (@ ? 0 : 1)) != 0,", CONSTANT, 0, 0, 0},
    {"a seam between sub-cubes", "lattice", "r->place_x[from_x + at_x]",
     "r->place_x[from_x + at_x + (@ && at_x == LEY_CUBE ? 1 : 0)]", CONSTANT, 0, 0, 0},
    {"sub-cubes not shifted", "lattice", "*sm_own = sm_own[LEY_CUBE];", "*sm_own = sm_own[@ ? 0 : LEY_CUBE];",
     CONSTANT | SPLIT, 0, 0, 0},
};

/* ---- Doctored sources ------------------------------------------------------------------------ */

/* A copy of `text`, freed, in which `from` is `to`; NULL unless it is there so many times. */
static char *replaced(char *text, const char *from, const char *to, int count)
{
    char *made = calloc(1, strlen(text) + (size_t)(count + 1) * (strlen(to) + 1) + 1), *at = made;
    const char *rest = text;
    int found = 0;
    assert_non_null(made);
    for (const char *next; (next = strstr(rest, from)) != NULL; rest = next + strlen(from))
        if (++found <= count) {
            memcpy(at, rest, (size_t)(next - rest));
            at += next - rest;
            at = stpcpy(at, to);
        }
    strcpy(at, rest);
    free(text);
    if (found == count)
        return made;
    free(made);
    return NULL;
}

static char *replaced_anywhere(char *text, const char *from, const char *to)
{
    int count = 0;
    for (const char *at = text; (at = strstr(at, from)) != NULL; at += strlen(from))
        count++;
    return replaced(text, from, to, count);
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static int count_of(const char *text, const char *from)
{
    int count = 0;
    for (const char *at = text; (at = strstr(at, from)) != NULL; at += strlen(from))
        count++;
    return count;
}

/* Whether a file is the fault's: this file itself, or of its kernel, as dcs.cl and dcs_group.h are
 * of dcs. */
static bool is_in(const fault *f, const char *file)
{
    const size_t length = strlen(f->file);
    if (strchr(f->file, '.') != NULL)
        return strcmp(file, f->file) == 0;
    return strncmp(file, f->file, length) == 0 && (file[length] == '.' || file[length] == '_');
}

/* Returns how often what the fault replaces stands in its files of a tree; where `number` is not 0,
 * replaces it there. */
static int put_fault(const char *top, const char *tree, const fault *f, int number)
{
    char path[900], condition[32];
    int count = 0;
    snprintf(condition, sizeof condition, "FAULT(%d)", number);
    snprintf(path, sizeof path, "%s/%s", top, tree);
    DIR *listing = opendir(path);
    assert_non_null(listing);
    for (struct dirent *entry; (entry = readdir(listing)) != NULL;) {
        if (!is_in(f, entry->d_name))
            continue;
        snprintf(path, sizeof path, "%s/%s/%s", top, tree, entry->d_name);
        char *text = support_read_file(path, NULL);
        const int here = count_of(text, f->from);
        count += here;
        if (here > 0 && number > 0) {
            char *to = replaced_anywhere(strdup(f->to), "@", condition);
            text = replaced(text, f->from, to, here);
            write_file(path, text);
            free(to);
        }
        free(text);
    }
    closedir(listing);
    return count;
}

/* Whether what the fault replaces stands in both trees as often as it should. */
static bool is_there(const char *top, const fault *f, int number)
{
    const int in_cl = put_fault(top, "cl", f, number), in_cuda = put_fault(top, "kernels_cuda", f, number);
    const bool is_right = in_cl == (f->count > 0 ? f->count : 1) && in_cuda == f->cuda_count;
    if (!is_right)
        print_error("%s has '%s' %d times in cl/ and %d times in kernels_cuda/\n", f->file, f->from, in_cl, in_cuda);
    return is_right;
}

static void copy_tree(const char *tree, const char *top)
{
    char path[700];
    snprintf(path, sizeof path, "%s/%s", top, tree);
    assert_int_equal(mkdir(path, 0700), 0);
    DIR *listing = opendir(tree);
    assert_non_null(listing);
    for (struct dirent *entry; (entry = readdir(listing)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", tree, entry->d_name);
        char *text = support_read_file(path, NULL);
        snprintf(path, sizeof path, "%s/%s/%s", top, tree, entry->d_name);
        write_file(path, text);
        free(text);
    }
    closedir(listing);
}

/* The dialect of the language in use says what FAULT(n) is: of CUDA this number. */
static void define_fault(const char *top, bool cuda, int number)
{
    char path[700], line[128];
    snprintf(path, sizeof path, "%s/%s", top, cuda ? "kernels_cuda/dialect.cuh" : "cl/dialect.h");
    snprintf(line, sizeof line,
             cuda ? "#define FAULT(n) ((n) == %d)\n" : "#define FAULT(n) (get_global_offset(2) == %d + (n))\n",
             cuda ? number : OFFSET);
    char *text = support_read_file(path, NULL), *whole = NULL;
    const char *old = strncmp(text, "#define FAULT", 13) == 0 ? strchr(text, '\n') + 1 : text;
    assert_true(asprintf(&whole, "%s%s", line, old) > 0);
    write_file(path, whole);
    free(whole);
    free(text);
}

/* ---- Kernels --------------------------------------------------------------------------------- */

typedef struct subject {
    const char *kernel, *variant; /* NULL: the device's own */
    int sum, screening, points, pair;
    const fault *faults;
    size_t fault_count;
    bool long_to_build;
} subject;

#define OF(table) .faults = table, .fault_count = sizeof(table) / sizeof(table)[0]

#define PAIR_SUBJECT(of, number, ...) {"cutoff", NULL, LEY_SPEC_SUM_FLOAT, .pair = (number), OF(pair_faults)},

/* Variants for GPUs run on CPU devices, too. */
static const subject subjects[] = {
    {"cutoff", "halves16", LEY_SPEC_SUM_FLOAT, .pair = LEY_PAIR_COULOMB, OF(cutoff_faults), .long_to_build = true},
    {"dcs", NULL, LEY_SPEC_SUM_FLOAT, OF(dcs_faults)},
    {"dcs", "tiled8", LEY_SPEC_SUM_FLOAT, OF(dcs_faults)},
    {"dcs", NULL, LEY_SPEC_SUM_COMPENSATED, OF(dcs_faults)},
    {"dcs", "tiled8", LEY_SPEC_SUM_DOUBLE, OF(dcs_faults)},
    {"dcs", "unroll8", LEY_SPEC_SUM_FLOAT, OF(dcs_faults)},
    {"mdh", NULL, LEY_SPEC_SUM_FLOAT, LEY_SCREENING_FOLDED, LEY_POINTS_FACES, OF(mdh_faults)},
    {"mdh", "tiled8", LEY_SPEC_SUM_FLOAT, LEY_SCREENING_FOLDED, LEY_POINTS_FACES, OF(mdh_faults)},
    {"mdh", NULL, LEY_SPEC_SUM_COMPENSATED, LEY_SCREENING_WIDE, LEY_POINTS_FACES, OF(mdh_faults)},
    {"mdh", "tiled8", LEY_SPEC_SUM_DOUBLE, LEY_SCREENING_WIDE, LEY_POINTS_FACES, OF(mdh_faults)},
    {"mdh", NULL, LEY_SPEC_SUM_FLOAT, LEY_SCREENING_FOLDED, LEY_POINTS_LIST, OF(mdh_faults)},
    {"mdh", "tiled8", LEY_SPEC_SUM_FLOAT, LEY_SCREENING_NONE, LEY_POINTS_LIST, OF(mdh_faults)},
    {"cutoff", NULL, LEY_SPEC_SUM_FLOAT, .pair = LEY_PAIR_COULOMB, OF(cutoff_faults)},
    {"lattice", NULL, LEY_SPEC_SUM_FLOAT, OF(lattice_faults)},
    {"lattice", NULL, LEY_SPEC_SUM_COMPENSATED, OF(lattice_faults)},
    {"lattice", "columns8", LEY_SPEC_SUM_FLOAT, OF(lattice_faults), .long_to_build = true},
    {"lattice", "basic", LEY_SPEC_SUM_COMPENSATED, OF(lattice_faults)},
    {"lattice", "optimised", LEY_SPEC_SUM_FLOAT, OF(lattice_faults), .long_to_build = true},
    LEY_PAIR_ROWS(PAIR_SUBJECT, 0){"binning", NULL, LEY_SPEC_SUM_FLOAT, OF(binning_faults)},
};
enum { SUBJECTS = sizeof subjects / sizeof subjects[0] };

static ley_engine *engine; /* of the device under test */
static dev *device;        /* the same one, for calls below the public ones */

/* A kernel of a subject, whichever it is. */
typedef struct made {
    dcs_kernel dcs;
    mdh_kernel mdh;
    cutoff_kernel cutoff;
    lattice_kernel lattice;
    const char *variant; /* for messages */
    int of;              /* of which faults */
} made;

/* Of short-range kernels: a problem, whose expression they may hold. */
static ley_atoms *few;
static cutoff_problem problem;
static support_options options;

static void make_problem(ley_pair pair)
{
    ley_error error = {0};
    const ley_lattice lattice = {.n = {20, 20, 20}, .step_A = LEY_STEPS(0.5, 0.5, 0.5)};
    options = support_short_range(pair, 6);
    few = support_atoms(100, 0, 10, 1);
    assert_ok(cutoff_problem_init(&problem, few, &lattice, &options.short_range, 1, 1, 0.05, &error));
}

static void clear_problem(void)
{
    cutoff_problem_clear(&problem);
    ley_atoms_destroy(few);
    few = NULL;
}

static const int atom_kinds[] = {
    [LEY_ATOMS_CONSTANT] = CONSTANT, [LEY_ATOMS_GLOBAL] = CONSTANT, [LEY_ATOMS_LOCAL] = LOCAL, [LEY_ATOMS_ROWS] = ROWS};
static const int sum_kinds[] = {
    [LEY_SPEC_SUM_FLOAT] = 0, [LEY_SPEC_SUM_COMPENSATED] = COMPENSATED, [LEY_SPEC_SUM_DOUBLE] = DOUBLE};

static ley_status choose_dcs(const subject *s, dcs_wish *wish, made *m, ley_error *error)
{
    *wish = (dcs_wish){.variant = s->variant, .math = TUNING_AUTO, .sum = s->sum, .n_x = 64, .n_y = 64};
    dcs_choice choice;
    const ley_status status = tuning_dcs(device->info, &device->facts, wish, &choice, error);
    if (status == LEY_OK) {
        m->variant = choice.variant;
        m->of = atom_kinds[choice.spec.atoms] | sum_kinds[s->sum] |
                (LEY_ATOMS_ARE_PLACED(choice.spec.atoms, s->sum) ? PLACED : 0);
    }
    return status;
}

static ley_status choose_mdh(const subject *s, mdh_wish *wish, made *m, ley_error *error)
{
    *wish = (mdh_wish){.variant = s->variant,
                       .math = TUNING_AUTO,
                       .sum = s->sum,
                       .screening = s->screening,
                       .points = s->points,
                       .n_a = 128,
                       .n_b = 64};
    mdh_choice choice;
    const ley_status status = tuning_mdh(device->info, &device->facts, wish, &choice, error);
    if (status == LEY_OK) {
        const bool polynomial = choice.spec.exp == LEY_EXP_POLYNOMIAL || choice.spec.polynomial_exps > 0;
        m->variant = choice.variant;
        m->of = atom_kinds[choice.spec.atoms] | sum_kinds[s->sum] | (s->points == LEY_POINTS_LIST ? LIST : FACES) |
                (s->screening == LEY_SCREENING_WIDE ? WIDE : 0) |
                (polynomial && s->screening != LEY_SCREENING_NONE && s->sum != LEY_SPEC_SUM_DOUBLE ? POLYNOMIAL : 0);
    }
    return status;
}

static ley_status choose_cutoff(const subject *s, cutoff_wish *wish, made *m, ley_error *error)
{
    *wish = (cutoff_wish){.variant = s->variant,
                          .math = TUNING_AUTO,
                          .sum = s->sum,
                          .pair = s->pair,
                          .store = LEY_STORE_ROWS,
                          .depth = 8};
    cutoff_choice choice;
    const ley_status status = tuning_cutoff(device->info, &device->facts, wish, &choice, error);
    if (status == LEY_OK) {
        m->variant = choice.variant;
        m->of = (choice.spec.width > 1 ? ROWS : LOCAL) | (choice.spec.split ? SPLIT : 0) | PAIR << s->pair;
    }
    return status;
}

static ley_status choose_lattice(const subject *s, lattice_wish *wish, made *m, ley_error *error)
{
    *wish = (lattice_wish){.variant = s->variant, .sum = s->sum, .radius = {5, 8, 4}, .mirrored = true};
    lattice_choice choice;
    const ley_status status = tuning_lattice(device->info, wish, &choice, error);
    if (status == LEY_OK) {
        m->variant = choice.variant;
        m->of = (choice.spec.width > 1                ? ROWS
                 : choice.spec.slide == LEY_SLIDE_NOT ? LOCAL
                                                      : CONSTANT) |
                (choice.spec.slide == LEY_SLIDE_SHIFTED ? SPLIT : 0) | sum_kinds[s->sum];
    }
    return status;
}

/* Which faults are of the kernel that this device would get; LEY_ERROR_NO_DEVICE when it cannot. */
static ley_status choose(const subject *s, made *m, ley_error *error)
{
    dcs_wish dcs;
    mdh_wish mdh;
    cutoff_wish cutoff;
    lattice_wish lattice;
    *m = (made){.variant = "both kernels"};
    calibration facts;
    const ley_status status = calibrate_get(device, CALIBRATE_ALL, &facts, error);
    if (status != LEY_OK)
        return status;
    if (strcmp(s->kernel, "binning") == 0)
        return device->info->has_double ? LEY_OK : ley_fail(error, LEY_ERROR_NO_DEVICE, "no double precision");
    return strcmp(s->kernel, "dcs") == 0       ? choose_dcs(s, &dcs, m, error)
           : strcmp(s->kernel, "mdh") == 0     ? choose_mdh(s, &mdh, m, error)
           : strcmp(s->kernel, "lattice") == 0 ? choose_lattice(s, &lattice, m, error)
                                               : choose_cutoff(s, &cutoff, m, error);
}

static ley_status bin_on_device(ley_error *error)
{
    buffer_of_atom slots = {NULL};
    buffer_of_int extra = {NULL};
    device_bins counts;
    room memory = {.device = device};
    device_binning kernels;
    device_binning_create(device, &kernels);
    const ley_status status = device_binning_run(&memory, &kernels, &problem, &slots, &extra, &counts, error);
    room_clear(&memory);
    device_binning_destroy(&kernels);
    if (status == LEY_OK && counts.declined != NULL &&
        strcmp(counts.declined, "its kernels do not build or are wrong there") == 0)
        return ley_fail(error, LEY_ERROR_WRONG_RESULT, "self-test of binning failed");
    if (status == LEY_OK && counts.declined != NULL)
        return ley_fail(error, LEY_ERROR_DEVICE, "%s", counts.declined);
    return status;
}

/* Builds the kernel, which takes its self-test. */
static ley_status create(const subject *s, made *m, ley_error *error)
{
    dcs_wish dcs;
    mdh_wish mdh;
    cutoff_wish cutoff;
    if (strcmp(s->kernel, "binning") == 0)
        return bin_on_device(error);
    if (strcmp(s->kernel, "dcs") == 0) {
        choose_dcs(s, &dcs, m, error);
        return dcs_kernel_create(device, &dcs, &m->dcs, error);
    }
    if (strcmp(s->kernel, "mdh") == 0) {
        choose_mdh(s, &mdh, m, error);
        return mdh_kernel_create(device, &mdh, &m->mdh, error);
    }
    if (strcmp(s->kernel, "lattice") == 0) {
        lattice_wish lattice;
        choose_lattice(s, &lattice, m, error);
        return lattice_kernel_create(device, &lattice, &m->lattice, error);
    }
    choose_cutoff(s, &cutoff, m, error);
    return cutoff_kernel_create(device, &cutoff, &problem, &m->cutoff, error);
}

static void destroy(made *m)
{
    if (m->dcs.device != NULL)
        dcs_kernel_destroy(&m->dcs);
    if (m->mdh.device != NULL)
        mdh_kernel_destroy(&m->mdh);
    if (m->cutoff.device != NULL)
        cutoff_kernel_destroy(&m->cutoff);
    if (m->lattice.device != NULL)
        lattice_kernel_destroy(&m->lattice);
}

/* The self-test of a kernel that is there. */
static ley_status test(const subject *s, made *m, ley_error *error)
{
    if (strcmp(s->kernel, "binning") == 0)
        return bin_on_device(error);
    return strcmp(s->kernel, "dcs") == 0       ? dcs_self_test(&m->dcs, error)
           : strcmp(s->kernel, "mdh") == 0     ? mdh_self_test(&m->mdh, error)
           : strcmp(s->kernel, "lattice") == 0 ? lattice_self_test(&m->lattice, error)
                                               : cutoff_self_test(&m->cutoff, error);
}

/* ---- The test -------------------------------------------------------------------------------- */

static bool is_of(const fault *f, int of)
{
    const int kinds = f->of & ANY, pairs = f->of & -PAIR, rest = f->of & ~ANY & (PAIR - 1);
    return (kinds == 0 || (kinds & of) != 0) && (pairs == 0 || (pairs & of) != 0) && (rest & ~of) == 0;
}

/* All faults of the kernel in one copy of the sources, of which this is the folder. */
static void plant(const subject *s, const made *m, bool cuda, const char *top)
{
    char copy[700];
    assert_int_equal(mkdir(top, 0700), 0);
    copy_tree("cl", top);
    copy_tree("kernels_cuda", top);
    define_fault(top, cuda, NO_FAULT);
    for (size_t i = 0; i < s->fault_count; i++) {
        const fault *f = &s->faults[i];
        if (is_of(f, m->of) && !is_there(top, f, (int)i + 1))
            fail_msg("%s: not planted", f->what);
    }
    snprintf(copy, sizeof copy, "%s/%s", top, cuda ? "kernels_cuda" : "cl");
    setenv("LEYDEN_KERNEL_DIR", copy, 1);
}

/* A launch with more of something than any self-test has: what it is right to find there is found
 * by the verification. */
static ley_status run_job(const subject *s, ley_error *result)
{
    ley_error error = {0};
    const ley_lattice lattice = {.n = {20, 20, 700}, .step_A = LEY_STEPS(0.5, 0.5, 0.5), .origin_A = {-5, -5, -175}};
    support_options o;
    support_options_default(&o);
    o.variant = s->variant;
    o.sum = (ley_sum)s->sum;
    o.slab_planes = 700;
    if (o.verify_points == 0)
        o.verify_points = 1000;
    ley_atoms *atoms = support_atoms(50, -5, 5, 1);
    ley_map *map = NULL;
    ley_job *job = NULL;
    assert_ok(ley_map_create(&lattice, &map, &error));
    assert_ok(support_job_create(engine, atoms, map, &o, &job, &error));
    const ley_status status = ley_job_run(job, result);
    ley_job_destroy(job);
    ley_map_destroy(map);
    ley_atoms_destroy(atoms);
    return status;
}

static int find_fault(const subject *s, made *m, size_t number, bool cuda, const char *top)
{
    const fault *f = &s->faults[number];
    ley_error error = {0};
    made other = *m;
    fault_in_force = (int)number + 1;
    if (cuda) {
        other.dcs.device = other.mdh.device = other.cutoff.device = other.lattice.device = NULL;
        define_fault(top, true, fault_in_force);
    }
    if (strcmp(s->kernel, "binning") == 0) /* of its two kernels one may be right, and would be tested no more */
        support_fresh_cache();
    ley_status status = cuda ? create(s, &other, &error) : test(s, m, &error);
    const char *by = ""; /* or what brings results home finds that they are no numbers */
    if (f->by_verification && status == LEY_OK) {
        by = "verification failed";
        status = run_job(s, &error);
    }
    const bool is_caught = status == LEY_ERROR_WRONG_RESULT && strstr(error.message, by) != NULL;
    if (getenv("TEST_VERBOSE") != NULL)
        print_message("%s %s: %s: %s\n", s->kernel, m->variant, f->what,
                      !is_caught ? "not seen"
                      : *by == 0 ? "self-test"
                                 : "verification");
    if (!is_caught)
        print_error("%s, %s: %s: not seen: %s: %s\n", s->kernel, m->variant, f->what, ley_status_name(status),
                    error.message);
    if (cuda)
        destroy(&other);
    fault_in_force = NO_FAULT;
    ley_error_clear(&error);
    return is_caught ? 0 : 1;
}

static void test_subject(void **state)
{
    static int trees;
    const subject *s = *state;
    ley_error error = {0};
    made m;
    char top[512];
    if (choose(s, &m, &error) == LEY_ERROR_NO_DEVICE)
        skip();
    const bool cuda = strcmp(device->backend->source_suffix, "cu") == 0;
    if (strcmp(s->kernel, "cutoff") == 0 || strcmp(s->kernel, "binning") == 0)
        make_problem((ley_pair)s->pair);
    snprintf(top, sizeof top, "%s/tree%d", support_directory(), trees++);
    plant(s, &m, cuda, top);
    support_fresh_cache();
    is_offset = !cuda;
    const bool is_binning =
        strcmp(s->kernel, "binning") == 0; /* which would take what is right from the cache ever after */
    if (!is_binning)
        assert_ok(create(s, &m, &error));
    int missed = 0, count = 0;
    for (size_t i = 0; i < s->fault_count; i++)
        if (is_of(&s->faults[i], m.of)) {
            missed += find_fault(s, &m, i, cuda, top);
            count++;
        }
    if (cuda)
        define_fault(top, cuda, NO_FAULT);
    if (is_binning)
        assert_ok(create(s, &m, &error));
    is_offset = false;
    unsetenv("LEYDEN_KERNEL_DIR");
    destroy(&m);
    if (few != NULL)
        clear_problem();
    print_message("%s, %s: of %d faults %d were seen\n", s->kernel, m.variant, count, count - missed);
    assert_true(count > 0 && missed == 0);
}

/* Texts that faults replace stand in the sources. */
static void test_texts(void **state)
{
    (void)state;
    for (size_t i = 0; i < SUBJECTS; i++)
        for (size_t k = 0; k < subjects[i].fault_count; k++)
            assert_true(is_there(".", &subjects[i].faults[k], 0));
}

static bool is_wanted(const subject *s)
{
    const bool is_usual =
        s->pair == LEY_PAIR_COULOMB || s->pair == LEY_PAIR_TAYLOR2 || s->pair == LEY_PAIR_LENNARD_JONES;
    return !support_is_quick() || (!s->long_to_build && is_usual && s->sum == LEY_SPEC_SUM_FLOAT);
}

/* Every so-manieth of the subjects, on one device. */
static int run_share(const char *selector, int share, int shares)
{
    struct CMUnitTest tests[SUBJECTS + 1];
    size_t count = 0;
    if (share == 0)
        tests[count++] = (struct CMUnitTest)cmocka_unit_test(test_texts);
    for (int i = 0, wanted = 0; i < SUBJECTS; i++)
        if (is_wanted(&subjects[i]) && wanted++ % shares == share)
            tests[count++] = (struct CMUnitTest){subjects[i].kernel, test_subject, NULL, NULL, (void *)&subjects[i]};
    if (!support_open(selector, selector != NULL ? selector : "the default device", &engine))
        return 1;
    device = engine->workers[0].device;
    char group[600];
    snprintf(group, sizeof group, "self-tests on %s", device->info->name);
    const int failures = _cmocka_run_group_tests(group, tests, count, NULL, NULL);
    ley_engine_destroy(engine);
    return failures;
}

/* One process for each share: where kernels come from is in the environment, which threads share.
 * No driver runs yet. */
static int run_shares(int shares)
{
    int failures = 0;
    fflush(NULL);
    for (int share = 1; share < shares; share++)
        if (fork() == 0)
            exit(run_share(NULL, share, shares) != 0);
    failures += run_share(NULL, 0, shares);
    for (int share = 1; share < shares; share++) {
        int status = 1;
        wait(&status);
        failures += status != 0;
    }
    return failures;
}

int main(int argc, char **argv)
{
    int failures = 0;
    for (int i = 1; i < argc; i++)
        failures += run_share(argv[i], 0, 1);
    const int cores = parallel_cores();
    return argc > 1 ? failures : run_shares(cores < 4 ? cores : 4);
}
