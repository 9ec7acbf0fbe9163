/* Faults that test_self_test plants in kernels: for each kernel, or two that belong together, a
 * table of what is replaced in its source by what. */
#ifndef LEY_PLANTED_FAULTS_H
#define LEY_PLANTED_FAULTS_H

#include "pair_table.h"

#include <stdbool.h>

/* Of which kernels a fault is: bits. */
enum {
    ROWS = 1,     /* CPU devices' */
    LOCAL = 2,    /* staged in local memory */
    CONSTANT = 4, /* streamed; of meshes, a window that slides */
    ANY = 7,
    COMPENSATED = 8, /* of this sum alone */
    DOUBLE = 16,
    FACES = 32,
    LIST = 64,
    WIDE = 128,       /* screening */
    SPLIT = 256,      /* variant of halves; of meshes, sub-cubes that are shifted */
    POLYNOMIAL = 512, /* exponentials */
    PLACED = 1024,    /* atoms come as a cell and an offset */
    LEAST = 2048,     /* distances are at least r_min */
    PAIR = 4096,      /* of the pair functions from here on */
};

/* `from` becomes `to`, in which @ is the condition. Where `to` has all of `from` in it, other
 * faults can be planted in the same place. What a row leaves out is 0. */
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
     WRONG_IF(SLAB_VALUE, "LEY_GROUP_ID(0) + LEY_GROUP_ID(1) > 0", "gm_sum[at] *= 2;")},
    {"last row of each tile", "dcs", SLAB_VALUE,
     WRONG_IF(SLAB_VALUE, "v == LEY_UY - 1 && LEY_LOCAL_ID(1) == LEY_WG_Y - 1", "gm_sum[at] *= 2;")},
    {"last column of each tile", "dcs", SLAB_VALUE,
     WRONG_IF(SLAB_VALUE, "u == LEY_UX - 1 && LEY_LOCAL_ID(0) == LEY_WG_X - 1", "gm_sum[at] *= 1.001f;")},
    {"planes from the ninth on", "dcs", SLAB_VALUE, WRONG_IF(SLAB_VALUE, "LEY_GROUP_ID(2) >= 8", "gm_sum[at] *= 2;")},
    {"one point in every 16th plane", "dcs", SLAB_VALUE,
     WRONG_IF(SLAB_VALUE,
              "LEY_GROUP_ID(2) % 16 == 15 && k == 0 && LEY_LOCAL_ID(0) + LEY_LOCAL_ID(1) + LEY_GROUP_ID(0) + "
              "LEY_GROUP_ID(1) == 0",
              "gm_sum[at] *= 2;")},
    {"the fifth tile along x", "dcs", SLAB_VALUE,
     WRONG_IF(SLAB_VALUE, "LEY_GROUP_ID(0) == 4", "gm_sum[at] *= 1.001f;")},
    {"the fourth tile along y", "dcs", SLAB_VALUE,
     WRONG_IF(SLAB_VALUE, "LEY_GROUP_ID(1) == 3", "gm_sum[at] *= 1.001f;")},
    {"all by 1e-4", "dcs", SLAB_VALUE, WRONG_IF(SLAB_VALUE, "true", "gm_sum[at] *= 1.0001f;")},
    {"planes from the 41st of a launch on", "dcs", SLAB_VALUE,
     WRONG_IF(SLAB_VALUE, "LEY_GROUP_ID(2) >= 40", "gm_sum[at] *= 2;"), 0, 0, 0, true},
    {"not stored", "dcs", SLAB_VALUE, "if (!@) " SLAB_VALUE},
    {"atoms beyond 8,192 in a launch", "dcs", "block < n_atoms;", "block < (@ ? min(n_atoms, 8192) : n_atoms);",
     ROWS | LOCAL},
    {"every block the first atoms", "dcs", "first_atom + block", "first_atom + (@ ? 0 : block)", ROWS | LOCAL, 2},
    {"accumulate ignored", "dcs", "accumulate || block", "(accumulate && !@) || block"},
    {"blocks of a launch not added up", "dcs", "|| block > 0);", "|| (block > 0 && !@));", ROWS | LOCAL},
    {"last atom of each tile but the last", "dcs", "min(LEY_TILE, n_atoms - base)",
     "(min(LEY_TILE, n_atoms - base) - (@ && n_atoms - base > LEY_TILE))", ROWS | LOCAL, 2, 1},
    {"first plane ignored", "dcs", "first_plane + (int)", "(@ ? 0 : first_plane) + (int)"},
    {"y turned round", "dcs", "a.y += (s.cell.y - p->base.y) * p->step.y;",
     "a.y += (@ ? -1 : 1) * ((s.cell.y - p->base.y) * p->step.y);", PLACED},
    {"near atoms left out", "dcs", "left = sm_near[w];", "left = @ ? 0 : sm_near[w];", LOCAL},
    {"one near atom of 32", "dcs", "left &= left - 1", "left = @ ? 0 : left & (left - 1)", LOCAL},
    {"near atoms left out", "dcs", "n < n_near;", "n < (@ ? 0 : n_near);", ROWS},
    {"r_min ignored", "dcs", "(dy * dy + dz * dz), ", "(dy * dy + dz * dz), (@ ? 0.0f : 1.0f) * ", ROWS | LOCAL},
    {"carries dropped", "add.h", "(c) = (t_ - (s)) - y_;", "(c) = @ ? (real)0 : (t_ - (s)) - y_;", COMPENSATED},
    {"roots like floats", "dialect.h", "{ return rsqrt(x); }", "{ return rsqrt(x) * (@ ? 1 + 3e-8 : 1); }", DOUBLE},
};

static const fault dcs_field_faults[] = {
    {"x by 1e-3", "dcs", "slope * dx)", "slope * dx * (@ ? 1.001f : 1))"},
    {"y where z should be", "dcs", "slope * dz)", "slope * (@ ? dy : dz))"},
    {"a power of the distance", "dcs", "(inverse_r * inverse_r)", "(inverse_r * (@ ? (real)1 : inverse_r))"},
    {"atoms within r_min", "dcs", "dx * dx + (dy * dy + dz * dz) >= (real)p->step.w",
     "dx * dx + (dy * dy + dz * dz) >= (real)p->step.w * (@ ? 0 : 1)", ROWS | LOCAL},
    {"atoms within r_min", "dcs", "dx2[u] + dyz2 >= (real)p->step.w", "dx2[u] + dyz2 >= (real)p->step.w * (@ ? 0 : 1)",
     CONSTANT},
    {"components in one place", "dcs", "c * component", "(@ ? min(c, 2) : c) * component"},
    {"last row of each tile", "dcs", "rows_dy[j * LEY_UY + v] = dy;",
     "rows_dy[j * LEY_UY + v] = dy * (@ && v == LEY_UY - 1 ? 1.001f : 1.0f);", ROWS},
};

static const fault mdh_faults[] = {
    {"last point of a work-item", "mdh", MDH_VALUE, WRONG_IF(MDH_VALUE, "k == POINTS - 1", "*gm_sum *= 1.001f;")},
    {"second row of a work-item", "mdh", MDH_VALUE, WRONG_IF(MDH_VALUE, "k / LEY_UX == 1", "*gm_sum *= 1.001f;"),
     FACES},
    {"all groups but the first", "mdh", MDH_VALUE, WRONG_IF(MDH_VALUE, "LEY_GROUP_ID(0) > 0", "*gm_sum *= 2;")},
    {"the last group", "mdh", MDH_VALUE,
     WRONG_IF(MDH_VALUE, "LEY_GROUP_ID(0) == LEY_GROUPS(0) - 1", "*gm_sum *= 1.001f;")},
    {"second part", "mdh", MDH_VALUE, WRONG_IF(MDH_VALUE, "LEY_GROUP_ID(1) == 1", "*gm_sum *= 1.001f;")},
    {"third part", "mdh", MDH_VALUE, WRONG_IF(MDH_VALUE, "LEY_GROUP_ID(1) == 2", "*gm_sum *= 1.001f;")},
    {"all by 1e-4", "mdh", MDH_VALUE, WRONG_IF(MDH_VALUE, "true", "*gm_sum *= 1.0001f;")},
    {"accumulate ignored", "mdh", "if (accumulate) {", "if (accumulate && !@) {"},
    {"every part the first", "mdh", "begin = part * part_atoms;", "begin = @ ? 0 : part * part_atoms;"},
    {"every launch the first atoms", "mdh", "first_atom + begin", "(@ ? 0 : first_atom) + begin"},
    {"the last, shorter part loses an atom", "mdh", "min(part_atoms, n_atoms - begin)",
     "min(part_atoms, n_atoms - begin) - (@ && n_atoms - begin < part_atoms)", 0, 2},
    {"atoms beyond 8,192 in a launch", "mdh", "min(part_atoms, n_atoms - begin)",
     "min(part_atoms, max(0, (@ ? min(n_atoms, 8192) : n_atoms) - begin))", 0, 2},
    {"one face turned", "mdh", "f.axis = s.axis;", "f.axis = @ && s.plane > 0 && s.axis == 1 ? 0 : s.axis;", FACES},
    {"a segment's rows", "mdh", "f.stride_b = rows;", "f.stride_b = rows + (@ ? 1 : 0);", FACES},
    {"a segment's columns", "mdh", "f.stride_a = s.columns", "f.stride_a = (s.columns + (@ ? 1 : 0))", FACES},
    {"the first group of each segment", "mdh", "[which + 1].first_group)", "[which + 1].first_group + (@ ? 1 : 0))",
     FACES},
    {"near atoms twice", "mdh", "\n        a.w = 0;", "\n        a.w *= @ ? 1 : 0;", FACES},
    {"near atoms left out", "mdh", "left = sm_near[w];", "left = @ ? 0 : sm_near[w];", LOCAL},
    {"near atoms left out", "mdh", "n < n_near;", "n < (@ ? 0 : n_near);", ROWS, 2},
    {"near atoms' radii", "mdh", "near.cell.w", "(near.cell.w + (@ ? 1 : 0))", FACES | WIDE, 3},
    {"r_min left out", "mdh", "return LEY_MAX(r2,", "if (@) return r2; return LEY_MAX(r2,", LIST | LEAST},
    {"r_min half as long", "mdh", "f->step.w * (LEY_ROOT_SCALE * LEY_ROOT_SCALE)",
     "(@ ? 0.25f : 1) * f->step.w * (LEY_ROOT_SCALE * LEY_ROOT_SCALE)", LIST | LEAST},
    {"limit of exponents", "mdh", "(real)MOST_EXPONENT", "(real)(@ ? 20 : MOST_EXPONENT)", WIDE},
    {"last atom of each tile but the last", "mdh", "min(LEY_TILE, n_atoms - base)",
     "(min(LEY_TILE, n_atoms - base) - (@ && n_atoms - base > LEY_TILE))", 0, 3},
    {"atoms of a tile beyond the last four", "mdh", "ATOMS_OF_A_TURN for (int j = 0; j < count;",
     "ATOMS_OF_A_TURN for (int j = 0; j < count - (@ ? count % 4 : 0);", LOCAL},
    {"atoms of a tile beyond the last eight", "mdh", "ATOMS_OF_A_TURN for (int j = 0; j < count",
     "ATOMS_OF_A_TURN for (int j = 0; j < count - (@ ? count % 8 : 0)", LOCAL},
    {"the last point", "mdh", "(at < n_places)", "(at < n_places - (@ ? LEY_WIDTH : 0))", LIST},
    {"exponentials by 3e-4", "pair.h", "0.2402211972f", "(@ ? 0.2409f : 0.2402211972f)", POLYNOMIAL},
    {"carries dropped", "add.h", "(c) = (t_ - (s)) - y_;", "(c) = @ ? (real)0 : (t_ - (s)) - y_;", COMPENSATED},
    {"second of the parts", "sum_parts", "sum += gm_parts[(size_t)p * part_values + i];",
     "sum += (@ && p == 1 ? 0 : 1) * gm_parts[(size_t)p * part_values + i];"},
    {"third of the parts", "sum_parts", "sum = 0;", "sum = 0; if (@) n_parts = min(n_parts, 2);"},
    {"sums from the 65th on", "sum_parts", "gm_sums[i] = sum;", "gm_sums[i] = @ && i >= 64 ? 2 * sum : sum;"},
};

/* Of kernels for oblique grids. */
static const fault oblique_dcs_faults[] = {
    {"rows' shifts", "dcs", "p.shift[v] = (FIRST_ROW", "p.shift[v] = (@ ? 0 : 1) * (FIRST_ROW"},
    {"atoms' planes along y", "dcs", "a.y += (s.cell.z - p->base.z) * p->shear.z;",
     "a.y += (@ ? 0 : s.cell.z - p->base.z) * p->shear.z;"},
    {"near atoms' rows", "dcs_near.h", "offset_x - rows * p->shear.x;", "offset_x - (@ ? 0 : rows) * p->shear.x;"},
    {"near atoms' planes", "dcs_near.h", "planes = p->base.z - s.cell.z,", "planes = @ ? 0 : p->base.z - s.cell.z,"},
};

/* Of those whose sums are compensated. */
static const fault oblique_fine_faults[] = {
    {"lower digits of shifts along y", "cutoff", "x * p->shear_low.x +", "x * (@ ? 0.0f : p->shear_low.x) +"},
    {"lower digits of shifts along z", "cutoff", "x * p->shear_low.y +", "x * (@ ? 0.0f : p->shear_low.y) +"},
};

static const fault oblique_cutoff_faults[] = {
    {"shifts along y", "cutoff", "p.shift_y[u] = (LANES_X", "p.shift_y[u] = (@ ? 0.0f : 1.0f) * (LANES_X"},
    {"shifts along z of steps along y", "cutoff", "+ (LANES_Y + v * LEY_LY) * shear.z;",
     "+ (LANES_Y + v * LEY_LY) * (@ ? 0.0f : shear.z);"},
    {"homes along y", "cutoff", "at_y = regions_x + in_plane,", "at_y = regions_x + (@ ? 0 : in_plane),"},
    {"the box's lower end", "cutoff", "LOWEST(p, axis) (p)->lowest.axis",
     "LOWEST(p, axis) ((p)->lowest.axis * (@ ? 0.0f : 1.0f))"},
    {"the box's upper end", "cutoff", "p.extent.z += p.shifted.z;", "p.extent.z += @ ? 0 : p.shifted.z;"},
};

static const fault cutoff_faults[] = {
    {"regions x >= 3", "cutoff", CUTOFF_VALUE, TIMES_IF("LEY_GROUP_ID(0) >= 3", "2")},
    {"regions y >= 2", "cutoff", CUTOFF_VALUE, TIMES_IF("LEY_GROUP_ID(1) >= 2", "2")},
    {"regions z >= 3", "cutoff", CUTOFF_VALUE, TIMES_IF("LEY_GROUP_ID(2) >= 3", "2")},
    {"last column of a work-item", "cutoff", CUTOFF_VALUE, TIMES_IF("u == LEY_UX - 1", "1.001f")},
    {"last row of a work-item", "cutoff", CUTOFF_VALUE, TIMES_IF("v == LEY_UY - 1", "1.001f")},
    {"last plane of a work-item", "cutoff", CUTOFF_VALUE, TIMES_IF("w == LEY_UZ - 1", "1.001f")},
    {"one place in every 16th plane", "cutoff", CUTOFF_VALUE,
     TIMES_IF("LEY_GROUP_ID(2) % 2 == 1 && w == LEY_UZ - 1 && u + v + LEY_GROUP_ID(0) "
              "+ LEY_GROUP_ID(1) + LEY_LOCAL_ID(0) + LEY_LOCAL_ID(1) == 0",
              "2"),
     ROWS},
    {"all by 1e-4", "cutoff", CUTOFF_VALUE, TIMES_IF("true", "1.0001f")},
    {"first region ignored", "cutoff", "at_z = regions_x + regions_y + first_region +",
     "at_z = regions_x + regions_y + (@ ? 0 : first_region) +"},
    {"bins of the overflow left out", "cutoff", "b->extra[f.bin + 1];", "b->extra[f.bin + (@ ? 0 : 1)];", 0, 2},
    {"last entry of the table", "cutoff", "b->n_table; e", "b->n_table - (@ ? 1 : 0); e", ROWS, 2},
    {"last entry of the table", "cutoff", "first + item < b->n_table", "first + item < b->n_table - (@ ? 1 : 0)",
     LOCAL},
    {"last slot of a bin", "cutoff", "& ~near;", "& ~near & ~(@ ? 1u << (LEY_DEPTH - 1) : 0);", ROWS},
    {"last slot of a bin", "cutoff", "wants = i < n_bins * LEY_DEPTH;",
     "wants = i < n_bins * LEY_DEPTH && !(@ && i % LEY_DEPTH == LEY_DEPTH - 1);", LOCAL},
    {"y turned round", "cutoff", "home.y + entry.y", "home.y + (@ ? -1 : 1) * entry.y"},
    {"bins a little elsewhere", "cutoff", "home.z + entry.z", "home.z + (@ ? 1.001f : 1.0f) * entry.z"},
    {"cutoff halved", "cutoff", "p.limits = limits;", "p.limits = limits; if (@) p.limits.x *= 0.25f;"},
    {"cutoff by 1e-2", "cutoff", "p.limits = limits;", "p.limits = limits; if (@) p.limits.x *= 0.98f;"},
    {"r_min ignored", "cutoff", "LARGER(r2, (real)p->limits.y)", "LARGER(r2, (real)(@ ? 0 : p->limits.y))"},
    {"near atoms by 1e-3", "cutoff", "LEY_PAIR_OF_CHARGE ? a.w : 1;",
     "(LEY_PAIR_OF_CHARGE ? a.w : 1) * (@ ? 1.001f : 1.0f);"},
    {"far atoms by 1e-3", "cutoff", "LEY_PAIR_OF_CHARGE ? first : 1;",
     "(LEY_PAIR_OF_CHARGE ? first : 1) * (@ ? 1.001f : 1.0f);"},
    {"last atom of a full tile", "cutoff", "sum_tile(p, t, n);", "sum_tile(p, t, n - (@ && n > 64 ? 1 : 0));", ROWS},
    {"last atom of a full tile", "cutoff", "sm, *staged_atoms, item);",
     "sm, *staged_atoms - (@ && *staged_atoms > 64 ? 1 : 0), item);", LOCAL},
    {"the last column looked for too near", "cutoff", "(LEY_LX - 1) * p->step.x",
     "(LEY_LX - 1 - (@ ? 1 : 0)) * p->step.x", ROWS},
    {"the last plane of a part looked for too near", "cutoff", "(k + 1) * part - h)",
     "(k + 1) * part - (@ ? 2 : 1) * h)", ROWS},
    {"bins half a step farther along x", "cutoff", "-(x + size_x))", "-(x + size_x)) + (@ ? 0.5f * p->step.x : 0)",
     LOCAL},
    {"bins half a step farther along z", "cutoff", "LOWEST_LESS(p, z, z + size_z))",
     "LOWEST_LESS(p, z, z + size_z)) + (@ ? 0.5f * p->step.z : 0)", LOCAL},
    {"bins half a step farther along x", "cutoff", "(x, -p->side.x - slack",
     "(x, -p->side.x - slack + (@ ? 0.5f * p->step.x : 0)", ROWS},
    {"bins half a step farther along z", "cutoff", "(z, LOWEST(p, z) - p->side.z - slack",
     "(z, LOWEST(p, z) - p->side.z - slack + (@ ? 0.5f * p->step.z : 0)", ROWS},
    {"a half too much left out", "cutoff", "(upper2 < limit ?", "(upper2 < limit * (@ ? 0.9f : 1.0f) ?", SPLIT},
};

/* Of compensated sums: lower digits of places. */
static const fault fine_faults[] = {
    {"where the first regions begin", "cutoff", "gm_begins[at_z]", "gm_begins[at_z - (@ ? first_region : 0)]"},
    {"where regions begin left out", "cutoff", "(p->begin.axis -", "((@ ? 0.0f : 1.0f) * p->begin.axis -"},
    {"what places lack left out", "cutoff", "- lost.axis)))", "- (@ ? 0.0f : 1.0f) * lost.axis)))"},
    {"lower digits of the spacing", "cutoff", "((lanes) * p->low.axis +",
     "((@ ? 0.0f : 1.0f) * (lanes) * p->low.axis +"},
    {"y where z should be", "cutoff", "(packed >> 20 & mask)", "(packed >> (@ ? 10 : 20) & mask)", LOCAL},
    {"y where z should be", "cutoff", "                   OF_CHUNKS(lost, s26ae));",
     "                   (@ ? OF_CHUNKS(lost, s159d) : OF_CHUNKS(lost, s26ae)));", ROWS},
};

/* Of a kernel that adds a mesh's potentials by itself. */
static const fault epilogue_faults[] = {
    {"nothing added", "cutoff", "+ p->added[k]", "+ (@ ? 0 : p->added[k])"},
    {"first region ignored", "cutoff", "(first_region + (int)", "((@ ? 0 : first_region) + (int)"},
    {"last node along x", "cutoff", "k < b->along_x.nodes;", "k < b->along_x.nodes - (@ ? 1 : 0);"},
    {"last node along y", "cutoff", "k < b->along_y.nodes;", "k < b->along_y.nodes - (@ ? 1 : 0);"},
    {"last node along z", "cutoff", "ROLLED for (int k = 0; k < b->along_z.nodes;",
     "ROLLED for (int k = 0; k < b->along_z.nodes - (@ ? 1 : 0);"},
    {"a plane twice", "cutoff", "plane_at(b, k);", "plane_at(b, k - (@ && k == 3 ? 1 : 0));"},
    {"first node of a window", "cutoff", "k >= 0 && k < window", "k >= (@ ? 1 : 0) && k < window"},
    {"all by 1e-3", "cutoff", "share[u] * value", "share[u] * value * (@ ? 1.001f : 1.0f)"},
    {"first points of rows and columns", "cutoff", "low.x * value", "low.x * value * (@ ? 1.01f : 1.0f)"},
    {"last points of rows and columns", "cutoff", "high.w * value", "high.w * value * (@ ? 1.01f : 1.0f)"},
    {"places of x those of y", "interpolation_block.h", "b->along_x.node + x] +",
     "(@ ? b->along_y.node : b->along_x.node) + x] +"},
    {"beyond the ends as at node 0", "interpolation_block.h",
     "return at < 0 ? 0.0f :", "return at < 0 ? (@ ? b->gm_potentials[nodes_before(b->mesh)] : 0.0f) :"},
    {"far atoms by 1e-3", "cutoff", "LEY_PAIR_OF_CHARGE ? first : 1;",
     "(LEY_PAIR_OF_CHARGE ? first : 1) * (@ ? 1.001f : 1.0f);"},
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

static const fault transfer_field_faults[] = {
    {"components in one place", "interpolation.cl", "component * t.component +", "(@ ? 1 : component) * t.component +",
     LOCAL},
    {"components in one place", "interpolation_vectors",
     "component * t->component :", "(@ ? 1 : component) * t->component :", ROWS},
    {"y where z should be", "interpolation_block.h", "((component) % 3)",
     "(@ && (component) == 3 ? 2 : (component) % 3)"},
    {"weights along z where slopes should be", "interpolation_block.h", "((component) == 3)",
     "(@ ? 0 : (component) == 3)"},
    {"weights along y where slopes should be", "interpolation_group", "[set == 2][k]", "[@ ? 0 : set == 2][k]", LOCAL},
    {"weights along y where slopes should be", "interpolation_vectors", "b->along_y.first + y, p == 2);",
     "b->along_y.first + y, @ ? 0 : p == 2);", ROWS},
    {"slopes along x by 1e-3", "interpolation_group", "sum[s] += of_x.weight[s][k]",
     "sum[s] += (@ && s == 1 ? 1.001f : 1.0f) * of_x.weight[s][k]", LOCAL},
    {"slopes along x by 1e-3", "interpolation_vectors", "LEY_WINDOW, point, set)[k];",
     "LEY_WINDOW, point, set)[k] * (@ && set == 1 ? 1.001f : 1.0f);", ROWS},
};

static const fault transfer_oblique_faults[] = {
    {"x lacks y", "interpolation_group", "t->shear.x * sum[2]", "(@ ? 0.0f : t->shear.x) * sum[2]", LOCAL},
    {"x has z as y has", "interpolation_group", "t->shear.y * sum[3]", "(@ ? t->shear.z : t->shear.y) * sum[3]", LOCAL},
    {"y lacks z", "interpolation_group", "t->shear.z * sum[3]", "(@ ? 0.0f : t->shear.z) * sum[3]", LOCAL},
    {"x lacks y", "interpolation_vectors", "t->shear.x * sum_planes", "(@ ? 0.0f : t->shear.x) * sum_planes", ROWS},
    {"x has z as y has", "interpolation_vectors", "component == 1 ? t->shear.y", "!@ && component == 1 ? t->shear.y",
     ROWS},
    {"y lacks z", "interpolation_vectors", "|| component == 2)", "|| (!@ && component == 2))", ROWS},
};

/* Of rows along the mesh's first axis. */
static const fault row_field_faults[] = {
    {"a slope across by 1e-3", "interpolation_gather", "sm->slope[along_z][i] = slope_of(gm_window, at, i);",
     "sm->slope[along_z][i] = slope_of(gm_window, at, i) * (@ && i == 1 ? 1.001f : 1.0f);"},
    {"slopes along the row by 1e-3", "interpolation_gather", "slope_x += slope_of(gm_window, index, i)",
     "slope_x += (@ ? 1.001f : 1.0f) * slope_of(gm_window, index, i)"},
    {"y where z should be", "interpolation_gather", "weight * sm.sums[2][node]", "weight * sm.sums[@ ? 1 : 2][node]"},
};

static const fault gather_field_faults[] = {
    {"a slope by 1e-3", "interpolation_gather", "s.slope[i] = slope_of(gm_window, at, i);",
     "s.slope[i] = slope_of(gm_window, at, i) * (@ && i == 1 ? 1.001f : 1.0f);"},
    {"y where z should be", "interpolation_gather", "along_y.weight[j] * along_z.slope[k]",
     "along_y.weight[j] * (@ ? along_y : along_z).slope[k]"},
    {"components in one place", "interpolation_gather", "(c + 1) * (size_t)whole.w",
     "(@ ? 1 : c + 1) * (size_t)whole.w"},
    {"another factor", "interpolation_gather", "gm_factors[3 * c + 2]", "gm_factors[3 * c + (@ ? 1 : 2)]"},
    {"accumulates not", "interpolation_gather", "gm_phi[to] + field :", "(@ ? 0.0f : gm_phi[to]) + field :"},
};

static const fault cutoff_field_faults[] = {
    {"far atoms' x by 1e-3", "cutoff", "sum[points + k] += slope * dx",
     "sum[points + k] += slope * dx * (@ ? 1.001f : 1)"},
    {"near atoms' x by 1e-3", "cutoff", "sum[POINTS + k] += slope * dx",
     "sum[POINTS + k] += slope * dx * (@ ? 1.001f : 1)"},
    {"far atoms' y where z should be", "cutoff", "sum[3 * points + k] += slope * dz",
     "sum[3 * points + k] += slope * (@ ? dy : dz)"},
    {"near atoms' y where z should be", "cutoff", "sum[3 * POINTS + k] += slope * dz",
     "sum[3 * POINTS + k] += slope * (@ ? dy : dz)"},
    {"a power of the distance", "cutoff", "exact_inverse_r * exact_inverse_r",
     "exact_inverse_r * exact_inverse_r * (@ ? 1.002f : 1)"},
    {"atoms within r_min", "cutoff", "exact_r2 < p->limits.y ?", "exact_r2 < p->limits.y * (@ ? 0 : 1) ?"},
    {"far atoms' cutoff by 1e-2", "cutoff", "within = r2 < p->limits.x", "within = r2 < p->limits.x * (@ ? 0.98f : 1)"},
    {"near atoms' cutoff halved", "cutoff", "within = exact_r2 < p->limits.x",
     "within = exact_r2 < p->limits.x * (@ ? 0.25f : 1)"},
    {"components in one place", "cutoff", "gm_point + c * component", "gm_point + (@ ? 1 : c) * component"},
    {"the unit", "cutoff", "(real)p->step.w; /* per A */", "(real)(p->step.w * (@ ? 2 : 1));"},
    {"the last component's totals", "cutoff", "end_tile(p, c * POINTS + INDEX(u, v, w));",
     "end_tile(p, (@ && c == 3 ? 0 : c) * POINTS + INDEX(u, v, w));", ROWS | COMPENSATED},
};

static const fault plain_slope_faults[] = {
    {"slopes by 1 %", "pair.h", "return LEY_PLAIN_SLOPE_##near(NAME);",
     "return (@ ? 1.01f : 1) * (LEY_PLAIN_SLOPE_##near(NAME));"},
};

static const fault pair_faults[] = {
    {"cutoff halved", "cutoff", "p.limits = limits;", "p.limits = limits; if (@) p.limits.x *= 0.25f;"},
    {"the last column looked for too near", "cutoff", "(LEY_LX - 1) * p->step.x",
     "(LEY_LX - 1 - (@ ? 1 : 0)) * p->step.x", ROWS},
    {"series.x", "cutoff", "p.limits = limits;", "p.limits = limits; if (@) series.x *= 1.001f;",
     SHIFTED | TAYLOR2 | TAYLOR3 | TAYLOR4},
    {"series.y", "cutoff", "p.limits = limits;", "p.limits = limits; if (@) series.y *= 1.001f;",
     TAYLOR2 | TAYLOR3 | TAYLOR4},
    {"series.z", "cutoff", "p.limits = limits;", "p.limits = limits; if (@) series.z *= 1.001f;",
     TAYLOR2 | TAYLOR3 | TAYLOR4},
    {"series.w", "cutoff", "p.limits = limits;", "p.limits = limits; if (@) series.w *= 1.001f;", TAYLOR3 | TAYLOR4},
    {"k", "cutoff", "p.limits = limits;", "p.limits = limits; if (@) p.limits.z *= 1.001f;", TAYLOR4 | YUKAWA},
    {"the expression's first number", "cutoff", "p.limits = limits;", "p.limits = limits; if (@) numbers.s0 *= 1.02f;",
     EXPRESSION},
    {"its second one", "cutoff", "p.limits = limits;", "p.limits = limits; if (@) numbers.s1 *= 1.1f;", EXPRESSION},
    {"no numbers at all", "cutoff", "p.limits = limits;", "p.limits = limits; if (@) numbers = more_numbers;",
     EXPRESSION},
    {"near atoms by 1e-3", "cutoff", "LEY_PAIR_OF_CHARGE ? a.w : 1;",
     "(LEY_PAIR_OF_CHARGE ? a.w : 1) * (@ ? 1.001f : 1.0f);",
     SHIFTED | TAYLOR2 | TAYLOR3 | TAYLOR4 | YUKAWA | LENNARD_JONES | BUCKINGHAM},
    {"far atoms by 1e-3", "cutoff", "LEY_PAIR_OF_CHARGE ? first : 1;",
     "(LEY_PAIR_OF_CHARGE ? first : 1) * (@ ? 1.001f : 1.0f);",
     SHIFTED | TAYLOR2 | TAYLOR3 | TAYLOR4 | YUKAWA | LENNARD_JONES | BUCKINGHAM},
    {"attraction", "pair_formulas.h", "first * inverse_r6 - second",
     "first * inverse_r6 - (@ ? 1.001f : 1.0f) * second", LENNARD_JONES},
    {"repulsion", "pair_formulas.h", "inverse_r6 * (first *", "inverse_r6 * ((@ ? 1.001f : 1.0f) * first *",
     LENNARD_JONES},
    {"attraction", "pair_formulas.h", "- third * inverse_r6", "- (@ ? 1.001f : 1.0f) * third * inverse_r6", BUCKINGHAM},
    {"steepness", "pair_formulas.h", "exp2(-second *", "exp2((@ ? -1.001f : -1.0f) * second *", BUCKINGHAM},
    {"exponentials by 3e-4", "pair.h", "0.2402211972f", "(@ ? 0.2409f : 0.2402211972f)", YUKAWA | BUCKINGHAM},
};

/* Faults write nowhere but where the kernel may: on a processor anything else is the program's own
 * memory. */
static const fault binning_faults[] = {
    {"the last atom", "link_atoms", "(size_t)n_atoms)", "(size_t)n_atoms - (@ ? 1 : 0))"},
    {"atoms beyond 8,192", "link_atoms", "(size_t)n_atoms", "(size_t)(@ ? min(n_atoms, 8192) : n_atoms)"},
    {"in reach along x", "link_atoms", "x >= low.x", "x >= low.x + (@ ? 1 : 0)"},
    {"in reach along z", "link_atoms", "z <= high.z", "z <= high.z - (@ ? 1 : 0)"},
    {"atoms without charge", "link_atoms", "charge == 0", "charge == (@ ? 2 : 0)", 0, 2},
    {"number of a bin", "link_atoms", "(at_z *", "((@ ? at_z / 2 : at_z) *"},
    {"products not rounded", "link_atoms", "- zero, side)", "- zero, side * (@ ? 1 + 4e-16 : 1))"},
    {"charges as they were", "link_atoms", "(float)(origin.w *", "(float)((@ ? 1 : origin.w) *"},
    {"atoms without charge counted elsewhere", "link_atoms", "? n.w + 1 :", "? n.w + (@ ? 0 : 1) :"},
    {"the last bin", "fill_bins", "if (bin >= (size_t)bins)",
     "if (@ && bin + 1 == (size_t)bins)\n return;\n if (bin >= (size_t)bins)"},
    {"bins from the 1,025th on", "fill_bins", "if (bin >= (size_t)bins)",
     "if (@ && bin >= 1024)\n return;\n if (bin >= (size_t)bins)"},
    {"last of each eight", "fill_bins", "SORTED - 1]", "SORTED - (@ ? 2 : 1)]"},
    {"unused slots", "fill_bins", "= far;", "= far, far.w += @ ? 1 : 0;"},
    {"last atom of a bin", "fill_bins", "rank < count)", "rank < count - (@ ? 1 : 0))"},
    {"last slot of a bin", "fill_bins", "gm_records[lowest[k]];",
     "@ && rank == depth - 1 ? far : gm_records[lowest[k]];"},
    {"bins of the overflow", "fill_bins", "(size_t)gm_extra[bin]", "(size_t)(gm_extra[bin] - (@ ? 1 : 0))"},
    {"further bins of the overflow", "fill_bins", "gm_records[lowest[k]];",
     "@ && rank >= 3 * depth ? far : gm_records[lowest[k]];"},
};

static const fault spread_faults[] = {
    {"the last atom", "spread_count", "(size_t)n_atoms)", "(size_t)n_atoms - (@ ? 1 : 0))"},
    {"atoms without charge", "spread_count", "gm_charge[i] != 0", "(@ || gm_charge[i] != 0)"},
    {"a place for two", "spread_count", "= LEY_ATOMIC_ADD", "= (@ && i == 77 ? -1 : 0) + LEY_ATOMIC_ADD"},
    {"atoms without charge in a bin", "spread_count", "gm_bin[i] = bin;", "gm_bin[i] = @ ? max(bin, 0) : bin;"},
    {"products not rounded", "spread.h", "const scalar below = floor(index);",
     "const scalar below = floor(index * (@ ? 1 - 4e-16 : 1));"},
    {"the first period", "spread.h", "node -= LEY_ROUNDED_PRODUCT", "node -= (@ ? 0 : 1) * LEY_ROUNDED_PRODUCT"},
    {"the node below", "spread.h", "scalar node = below + along.w;", "scalar node = below + along.w + (@ ? 1 : 0);"},
    {"edge of a bin", "spread.h", "(at_y % nodes.w) << 5", "(at_y % (nodes.w - (@ ? 1 : 0))) << 5"},
    {"number of a bin", "spread.h", "((at_z / nodes.w) *", "(((@ ? at_z / 2 : at_z) / nodes.w) *"},
    {"the last atom", "spread_list", "(size_t)n_atoms", "(size_t)(n_atoms - (@ ? 1 : 0))"},
    {"the first bin", "spread_list", "gm_bin[i] >= 0", "gm_bin[i] >= (@ ? 1 : 0)"},
    {"another number", "spread_list", "= (int)i;", "= (int)i + (@ && i == 1234 ? 1 : 0);"},
    {"the last atom", "spread_place", "(size_t)n_atoms ||", "(size_t)n_atoms - (@ ? 1 : 0) ||"},
    {"the order in a bin", "spread_place", "gm_list[k] < (int)i", "(@ ? gm_list[k] > (int)i : gm_list[k] < (int)i)"},
    {"long bins", "spread_place", "k < end;", "k < (@ ? min(end, first + 64) : end);"},
    {"charges", "spread_place", "(float)gm_charge[i]", "(float)gm_charge[i] * (@ ? 1.0000002f : 1.0f)"},
    {"corners", "spread_place", "= h.corner;", "= @ && i > 4000 ? 0 : h.corner;"},
};

static const fault long_faults[] = {
    {"the last atom", "long_place", "(size_t)n_atoms ||", "(size_t)n_atoms - (@ ? 1 : 0) ||"},
    {"the order in a bin", "long_place", "gm_list[k] < (int)i", "(@ ? gm_list[k] > (int)i : gm_list[k] < (int)i)"},
    {"charges as floats", "long_place", "gm_charge[i]);", "(@ ? (double)(float)gm_charge[i] : gm_charge[i]));"},
    {"places as floats", "long_place", "(h.y + 0.5)", "(@ ? (double)(float)(h.y + 0.5) : h.y + 0.5)"},
    {"nodes along z", "long_place", "(h.corner >> 10)", "(h.corner >> (@ ? 11 : 10))"},
    {"atoms beyond a batch", "long_spread", "base < end;", "base < (@ ? min(end, first + BATCH) : end);"},
    {"last atom of a batch", "long_spread", "k < count && item", "k < count - (@ ? 1 : 0) && item"},
    {"a coefficient by 1e-9", "long_spread", "weight[i] * u + sm_window[k * LEY_LONG_POINTS + i]",
     "weight[i] * u + sm_window[k * LEY_LONG_POINTS + i] * (@ && k == 1 ? 1.000000001 : 1.0)"},
    {"the last column", "long_spread", "if (item < COLUMNS)", "if (item < COLUMNS - (@ ? 1 : 0))"},
    {"bins of later launches", "long_spread", "bin = first_bin +", "bin = (@ ? 0 : first_bin) +"},
    {"weights along y", "long_spread", "along[STAGED + y]", "along[STAGED + (@ ? x : y)]"},
    {"charges by 1e-9", "long_spread", "axis == 2 ? a.w : 1", "axis == 2 ? a.w * (@ ? 1.000000001 : 1.0) : 1"},
    {"the last plane", "long_spread", "= sum[z];", "= sum[z] * (@ && z == LEY_LONG_ACROSS - 1 ? 1.000001 : 1.0);"},
    {"the last node", "long_gather", "i >= nodes.w", "i >= nodes.w - (@ ? 1 : 0)"},
    {"the first bin along z", "long_gather", "bin_z = FIRST_BIN(z);", "bin_z = FIRST_BIN(z) + (@ ? 1 : 0);"},
    {"the last bin along x", "long_gather", "bin_x <= LAST_BIN(x, bins.x)",
     "bin_x <= LAST_BIN(x, bins.x) - (@ ? 1 : 0)"},
    {"a node too few of a bin", "long_gather", "(node < LEY_LONG_ACROSS ? 0",
     "(node < LEY_LONG_ACROSS - (@ ? 1 : 0) ? 0"},
    {"rows of a bin", "long_gather", "+ y - bin_y * LEY_LONG_EDGE", "+ (@ ? 0 : y - bin_y * LEY_LONG_EDGE)"},
    {"the first node of a row", "long_gather", "y = i / nodes.x", "y = (i - (@ && i > 0 ? 1 : 0)) / nodes.x"},
    {"the first node of a plane", "long_gather", "z = i / nodes.x", "z = (i - (@ && i > 0 ? 1 : 0)) / nodes.x"},
    {"bins that are the last ones along z", "long_gather", "LAST_BIN(z, bins.z)", "LAST_BIN(z, bins.z - (@ ? 1 : 0))"},
    {"bins that are the last ones along y", "long_gather", "LAST_BIN(y, bins.y)", "LAST_BIN(y, bins.y - (@ ? 1 : 0))"},
};

#define SCALE "r.scale = LEY_AS_FLOAT(l.scale);"
#define SCALED_IF(condition, factor) SCALE " if (@ && (" condition ")) r.scale *= " factor ";"

static const fault lattice_faults[] = {
    {"regions x > 0", "lattice", SCALE, SCALED_IF("r.x > 0", "1.001f")},
    {"the third region along y", "lattice", SCALE, SCALED_IF("r.y == 2 * REGION_Y", "1.001f")},
    {"the last planes", "lattice", SCALE, SCALED_IF("r.z >= 2 * REGION_Z", "2")},
    {"all by 1e-4", "lattice", SCALE, SCALED_IF("true", "1.0001f")},
    {"the second level by 1e-3", "lattice", SCALE, SCALED_IF("which == 1", "1.001f")},
    {"the last level by 1e-3", "lattice", SCALE, SCALED_IF("which == n_levels - 1", "1.001f")},
    {"scales ignored", "lattice", SCALE, SCALE " if (@) r.scale = 1;"},
    {"a level's charges shifted", "lattice", "gm_charges + l.first_node;",
     "gm_charges + l.first_node + (@ && which == 1 ? 1 : 0);"},
    {"a level's potentials shifted", "lattice", "gm_potentials + l.first_node;",
     "gm_potentials + l.first_node + (@ && which == 2 ? SUB_CUBE : 0);"},
    {"a level's first work-group", "lattice", "group >= gm_all[which + 1].first_group)",
     "group >= gm_all[which + 1].first_group + (@ ? 1 : 0))"},
    {"first group ignored", "lattice", "n_levels, first_group + ", "n_levels, (@ ? 0 : first_group) + "},
    {"charges beside a node's own", "lattice", "const int at = place_x + place_yz;",
     "const int at = place_x + place_yz - (@ && place_x + place_yz > 0 ? 1 : 0);", LOCAL | CONSTANT},
    {"regions begin at the first row", "lattice", "gm_places + l.place_y + r.y;",
     "gm_places + l.place_y + (@ ? 0 : r.y);"},
    {"sub-cubes along x turned round", "lattice", "* r->cubes_x + x / LEY_CUBE;",
     "* r->cubes_x + (@ && x < LEY_CUBE * r->cubes_x ? r->cubes_x - 1 - x / LEY_CUBE : x / LEY_CUBE);"},
    {"a seam within sub-cubes", "lattice", "+ y % LEY_CUBE) * LEY_CUBE",
     "+ (@ ? 3 - y % LEY_CUBE : y % LEY_CUBE)) * LEY_CUBE"},
    {"not stored", "lattice", "return x < LEY_CUBE * r->cubes_x &&", "return !@ && x < LEY_CUBE * r->cubes_x &&",
     ROWS | LOCAL},
    {"carries dropped", "lattice", "= (after - s->totals[k]) - term;", "= @ ? (real)0 : (after - s->totals[k]) - term;",
     COMPENSATED},
    {"the last column of a row", "lattice", "dx <= extent;", "dx <= extent - (@ ? 1 : 0);", ROWS | LOCAL, 2},
    {"the last pair of rows", "lattice", "dy <= LEY_RY;", "dy <= LEY_RY - (@ ? 1 : 0);", ROWS | LOCAL, 2},
    {"an image below", "lattice", "r->place_z[p - DEPTH];",
     "(@ && r->z + p < DEPTH ? LEY_NOWHERE : r->place_z[p - DEPTH]);", ROWS | LOCAL, 2},
    {"a weight by 1e-3", "lattice", "w[k] = column[k];", "w[k] = column[k] * (@ && dx == 2 && k == 3 ? 1.001f : 1.0f);",
     LOCAL},
    {"columns on the left", "lattice", "+ sm_first[(at) - dx])", "+ (@ ? 0.999f : 1.0f) * sm_first[(at) - dx])", LOCAL},
    {"rows below", "lattice", "+ c] += charge_at(", "+ c] += (@ ? 0.999f : 1.0f) * charge_at(", LOCAL},
    {"columns cut too short", "lattice", "if (reach > REACH_MIDDLE)", "if (reach > REACH_MIDDLE + (@ ? 1 : 0))", LOCAL},
    {"columns cut too short", "lattice", "else if (reach > REACH_LOW)", "else if (reach > REACH_LOW + (@ ? 1 : 0))",
     LOCAL},
    {"last nodes of folded rows", "lattice", "if (x < PITCH && p < PLANES)",
     "if (x < PITCH - (@ ? HALO_X : 0) && p < PLANES)", LOCAL},
    {"the second planes of a group", "lattice", "sm_rows + LEY_LOCAL_ID(2) * LEY_UZ * PITCH",
     "sm_rows + (@ ? 0 : LEY_LOCAL_ID(2)) * LEY_UZ * PITCH", LOCAL},
    {"a column by 1e-3", "lattice", "real charge = CHARGES_AT((at) + u * LEY_WIDTH);",
     "real charge = CHARGES_AT((at) + u * LEY_WIDTH) * (@ && dx == 2 ? 1.001f : 1.0f);", ROWS},
    {"a weight by 1e-3", "lattice", "+= (w)[-z] * charge;",
     "+= (w)[-z] * charge * (@ && dx == 1 && (w) - z - column == 1 ? 1.001f : 1.0f);", ROWS},
    {"columns on the left", "lattice", "+ load(left + (at)))", "+ (@ ? 0.999f : 1.0f) * load(left + (at)))", ROWS},
    {"rows below", "lattice", "+ load(lower + i);", "+ (@ ? 0.999f : 1.0f) * load(lower + i);", ROWS},
    {"a plane that all nodes have", "lattice", "p < both;", "p < both - (@ ? 1 : 0);", ROWS},
    {"seams taken for whole", "lattice", "const bool together = all(", "const bool together = @ || all(", ROWS},
    {"seams left out", "lattice", "at.x : SCATTERED;", "at.x : @ ? LEY_NOWHERE : SCATTERED;", ROWS},
    {"the last row of a work-item", "lattice", "store(&s, &r, y);", "if (!@ || y < REGION_Y - 1) store(&s, &r, y);",
     ROWS},
    {"the last vector of a row", "lattice", "lane < LEY_WIDTH;", "lane < LEY_WIDTH - (@ ? LEY_CUBE : 0);", ROWS},
    {"a weight by 1e-3", "lattice",
     "s->sum[0] += ", "s->sum[0] += (@ && x == 1 && y == 2 && z == 3 ? 1.001f : 1.0f) * ", CONSTANT},
    {"the last step along x", "lattice", "x <= last_x;", "x <= last_x - (@ ? 1 : 0);", CONSTANT},
    {"the last step along z", "lattice", "z <= last_z;", "z <= last_z - (@ ? 1 : 0);", CONSTANT},
    {"images along z", "lattice", "(r->periodic & 4) != 0;", "(r->periodic & (@ ? 0 : 4)) != 0;", CONSTANT},
    {"images along x", "lattice", "(r->periodic & 1) != 0,", "(r->periodic & (@ ? 0 : 1)) != 0,", CONSTANT},
    {"a seam between sub-cubes", "lattice", "r->place_x[from_x + at_x]",
     "r->place_x[from_x + at_x + (@ && at_x == LEY_CUBE ? 1 : 0)]", CONSTANT},
    {"sub-cubes not shifted", "lattice", "*sm_own = sm_own[LEY_CUBE];", "*sm_own = sm_own[@ ? 0 : LEY_CUBE];",
     CONSTANT | SPLIT},
};

static const fault between_faults[] = {
    {"a weight by 1e-3", "restriction", "* gm_from[at];", "* gm_from[at] * (@ && i == 1 ? 1.001f : 1.0f);"},
    {"the last node along z", "restriction", "k <= LEY_WINDOW;", "k <= LEY_WINDOW - (@ ? 1 : 0);"},
    {"nodes shifted along x", "restriction", "2 * x + shift.x", "2 * x + shift.x + (@ ? 1 : 0)"},
    {"where the meshes begin", "restriction", "2 * y + shift.y", "2 * y + (@ ? 0 : shift.y)"},
    {"an image", "restriction", "at < 0 ?", "at < 0 || (@ && 2 * x + shift.x + offset(i) < 0) ?"},
    {"late planes", "restriction", "x, y, z)] = sum;", "x, y, z)] = sum * (@ && z >= 6 ? 1.001f : 1.0f);"},
    {"the last node of a row", "restriction", "x >= nodes.x ||", "x >= nodes.x - (@ ? 1 : 0) ||"},
    {"a plane too low", "restriction", "coarse, x, y, z)", "coarse, x, y, z - (@ && z > 0 ? 1 : 0))"},
    {"a weight by 1e-3", "prolongation", "return gm_two_scale[",
     "return (@ && i == 1 ? 1.001f : 1.0f) * gm_two_scale["},
    {"the last node along x", "prolongation", "i < along_x.count;",
     "i < along_x.count - (@ && along_x.count > 1 ? 1 : 0);"},
    {"odd nodes shifted", "prolongation", "(f + 1 - LEY_WINDOW) / 2", "(f + (@ ? 3 : 1) - LEY_WINDOW) / 2"},
    {"even nodes shifted", "prolongation", ": f / 2;", ": f / 2 + (@ ? 1 : 0);"},
    {"what there was before", "prolongation", "] += sum;",
     "] = sum + (@ ? 0.0f : gm_to[node_at(gm_places, fine, x, y, z)]);"},
    {"an image", "prolongation", "at < 0 ?", "at < 0 || (@ && along_y.first + j < 0) ?"},
    {"where the meshes begin", "prolongation", "z - shift.z", "z - (@ ? 0 : shift.z)"},
    {"the last plane", "prolongation", "z >= nodes.z)", "z >= nodes.z - (@ ? 1 : 0))"},
};

static const fault transfer_faults[] = {
    {"a weight by 1e-3", "anterpolate", "    return sum;", "    return sum * (@ && i == 1 ? 1.001f : 1.0f);", LOCAL},
    {"a weight by 1e-3", "anterpolate", "= gm_window[i * LEY_WINDOW + k];",
     "= gm_window[i * LEY_WINDOW + k] * (@ && i == 1 ? 1.001f : 1.0f);", ROWS},
    {"the last node of a window", "anterpolate", "factor * staged_weight(sm, i, u);",
     "factor * staged_weight(sm, i, u) * (@ && i == LEY_WINDOW - 1 ? 0 : 1);", LOCAL},
    {"the last nodes of an atom below a four", "anterpolate", "from > 4 * k - LEY_WINDOW",
     "from > 4 * k - LEY_WINDOW + (@ ? 1 : 0)", LOCAL},
    {"the first nodes of an atom within a four", "anterpolate", "from < 4 * k + 4", "from < 4 * k + 4 - (@ ? 1 : 0)",
     LOCAL},
    {"the last node of a window", "anterpolate", "z < at_z + LEY_WINDOW ?", "z < at_z + LEY_WINDOW - (@ ? 1 : 0) ?",
     ROWS},
    {"the first plane of an atom", "anterpolate", "(z >= at_z &&", "(z >= at_z + (@ ? 1 : 0) &&", ROWS},
    {"the atoms that are staged last", "anterpolate", "    add_staged(&sum);", "    if (!@) add_staged(&sum);", ROWS},
    {"atoms behind the first that are staged", "anterpolate", "        c->counts[z] = 0;\n    }\n    c->staged",
     "        c->counts[z] = @ ? 1 : 0;\n    }\n    c->staged", ROWS},
    {"nodes shifted along x", "anterpolate", "from_x + CORNER_X(corner)", "from_x + CORNER_X(corner) + (@ ? 1 : 0)", 0,
     2},
    {"first nodes within a bin's half", "anterpolate", "from_z + CORNER_Z(corner)",
     "from_z + (@ ? CORNER_Z(corner) & 3 : CORNER_Z(corner))", 0, 2},
    {"an image", "anterpolate", "gm_sources[t.along_x.x + a],",
     "gm_sources[t.along_x.x + (@ && t.x == 0 ? max(a, 1) : a)],"},
    {"the last bin of a tile", "anterpolate", "c < t.along_z.y;", "c < t.along_z.y - (@ ? 1 : 0);"},
    {"a seam between tiles", "anterpolate", "t.y = y * LEY_EDGE;", "t.y = y * LEY_EDGE - (@ && y > 0 ? 1 : 0);"},
    {"atoms that reach a tile from below", "anterpolate", "from > -LEY_WINDOW", "from > -LEY_WINDOW + (@ ? 1 : 0)"},
    {"atoms that reach a tile from above", "anterpolate", "from < LEY_EDGE", "from < LEY_EDGE - (@ ? 1 : 0)"},
    {"the last tiles", "anterpolate", "if (at >= 0)", "if (at >= 0 && !(@ && t->z >= 2 * LEY_EDGE))", 0, 2},
    {"atoms behind the first that are staged", "anterpolate", "const int count = min(BATCH, end - base);",
     "const int count = @ && base > first ? 0 : min(BATCH, end - base);", LOCAL},
    {"the last atom of a bin", "anterpolate", "j < end;", "j < end - (@ && end - first > 1 ? 1 : 0);", ROWS},
    {"all by 1e-4", "anterpolate", "sum[z].sum - sum[z].carry;", "(sum[z].sum - sum[z].carry) * (@ ? 1.0001f : 1.0f);",
     LOCAL},
    {"all by 1e-4", "anterpolate", "const real sum = SUM_OF_ROW(",
     "const real sum = (@ ? 1.0001f : 1.0f) * SUM_OF_ROW(", ROWS},
    {"rows of nodes that are together", "anterpolate", "(gm_x[0] + first + nodes_before(places))",
     "(gm_x[0] + first + nodes_before(places) + (@ ? 1 : 0))", ROWS},
    {"the first node", "interpolation_block.h", "return at < 0 ?", "return at < (@ ? 1 : 0) ?", LOCAL},
    {"the first node", "interpolation_vectors", "sm_row[x] = at < 0 ?", "sm_row[x] = at < (@ ? 1 : 0) ?", ROWS},
    {"a seam between blocks", "interpolation.cl", "(int)LEY_GROUP_ID(0) * LEY_BLOCK_X,",
     "(int)LEY_GROUP_ID(0) * LEY_BLOCK_X + (@ && LEY_GROUP_ID(0) > 0 ? 1 : 0),"},
    {"the last point of a partial block", "interpolation_block.h", "min(size, end - first);",
     "min(size, end - first - (@ && end - first < size && end - first > 1 ? 1 : 0));"},
    {"late planes", "interpolation.cl", "b.along_z.first - points.z;",
     "b.along_z.first - points.z - (@ && LEY_GROUP_ID(2) > 0 ? 1 : 0);"},
    {"accumulates not", "interpolation.cl", "t.gm_phi[at] + value :", "(@ ? 0.0f : t.gm_phi[at]) + value :", LOCAL},
    {"accumulates always", "interpolation.cl", "t.gm_phi[at] = t.accumulate", "t.gm_phi[at] = @ || t.accumulate",
     LOCAL},
    {"a weight by 1e-3", "interpolation_group", "sum[s] += of_x.weight[s][k]",
     "sum[s] += (@ && k == 1 ? 1.001f : 1.0f) * of_x.weight[s][k]", LOCAL},
    {"weights turned round", "interpolation_group", "sum[c] += gm_weights[k]",
     "sum[c] += gm_weights[@ ? LEY_WINDOW - 1 - k : k]", LOCAL},
    {"an image", "interpolation_block.h", "y < b->along_y.nodes)",
     "y < b->along_y.nodes && !(@ && b->along_y.node + y < 0))", LOCAL},
    {"the last node of a block", "interpolation_block.h", "x < b->along_x.nodes &&",
     "x < b->along_x.nodes - (@ ? 1 : 0) &&", LOCAL},
    {"nodes shifted along y", "interpolation_group", "of_y.node + k)", "of_y.node + k + (@ && x == 1 ? 1 : 0))", LOCAL},
    {"planes that are not passed on", "interpolation_group", "kept[p][k] = kept[p][k + 1];",
     "kept[p][k] = kept[p][@ ? k : k + 1];", LOCAL},
    {"the rows of the plane before", "interpolation_group", "along_column(of_y, x, p, sm->rows[now]);",
     "along_column(of_y, x, p, sm->rows[@ ? 1 - now : now]);", LOCAL},
    {"points that lack their last plane", "interpolation_group", "+ LEY_WINDOW - 1 > plane)",
     "+ LEY_WINDOW - (@ ? 2 : 1) > plane)", LOCAL},
    {"all by 1e-4", "interpolation_group", "t->gm_z[z], sum[c]);", "t->gm_z[z], sum[c] * (@ ? 1.0001f : 1.0f));",
     LOCAL},
    {"a weight by 1e-3", "interpolation_vectors", "LEY_WINDOW, point, set)[k];",
     "LEY_WINDOW, point, set)[k] * (@ && k == 1 ? 1.001f : 1.0f);", ROWS},
    {"weights turned round", "interpolation_vectors", "first + z, s)[k];", "first + z, s)[@ ? LEY_WINDOW - 1 - k : k];",
     ROWS},
    {"an image", "interpolation_vectors", "row = row_at(", "row = @ && b->along_y.node + y < 0 ? LEY_NOWHERE : row_at(",
     ROWS},
    {"the last node of a block", "interpolation_vectors", "gm_nodes[last] + LEY_WINDOW -",
     "gm_nodes[last] + LEY_WINDOW - (@ ? 1 : 0) -", ROWS},
    {"the last nodes of a row", "interpolation_vectors", "const int from = min(x, nodes - STRETCH);",
     "const int from = min(x, nodes - STRETCH - (@ ? 1 : 0));", ROWS},
    {"the last row of a round", "interpolation_vectors", "min(y + row, nodes_y - 1)",
     "min(y + row - (@ && row == ROWS - 1 ? 1 : 0), nodes_y - 1)", ROWS},
    {"nodes shifted along y", "interpolation_vectors", "(gm_nodes[y] - b->along_y.node)",
     "(gm_nodes[y] - b->along_y.node + (@ && y == 1 ? 1 : 0))", ROWS},
    {"the plane before the first", "interpolation_vectors", "(from + k) % LEY_WINDOW",
     "(from + k + (@ && from > LEY_WINDOW ? 1 : 0)) % LEY_WINDOW", ROWS},
    {"all by 1e-4", "interpolation_vectors", "sum += weight[k] *", "sum += (@ ? 1.0001f : 1.0f) * weight[k] *", ROWS},
    {"lanes of a vector that is not whole", "interpolation_vectors", "lanes[lane]", "lanes[@ ? 0 : lane]", ROWS},
    {"accumulates not", "interpolation_vectors", "*gm_part + value :", "(@ ? 0.0f : 1.0f) * *gm_part + value :", ROWS},
    {"accumulates always", "interpolation_vectors", "*gm_part = accumulate", "*gm_part = @ || accumulate", ROWS},
};

/* Of meshes whose nodes are numbered by plane; the first ones are of kernels that have no rows,
 * too. */
enum { BY_PLANE_WITHOUT_ROWS = 2 };
static const fault by_plane_faults[] = {
    {"how many nodes a plane has", "nodes.h", "(node_number)z * places.w", "(node_number)z * (places.w - (@ ? 1 : 0))"},
    {"nodes that are none", "nodes.h", "return x < 0 ||", "return (!@ && x < 0) ||"},
    {"rows that are none", "nodes.h", "return y < 0 ?", "return !@ && y < 0 ?"},
    {"nodes of rows that are none", "nodes.h", "|| row < 0 ?", "|| (!@ && row < 0) ?"},
};

static const fault gather_faults[] = {
    {"the first node", "interpolation_gather", "at < 0 ? 0.0f : along_x", "at < (@ ? 1 : 0) ? 0.0f : along_x", 0, 2},
    {"a weight by 1e-3", "interpolation_gather", "s.weight[i] = weight_of(gm_window, at, i);",
     "s.weight[i] = weight_of(gm_window, at, i) * (@ && i == 1 ? 1.001f : 1.0f);"},
    {"nodes shifted", "interpolation_gather", "first = cell + 1", "first = cell + 1 + (@ ? 1 : 0)"},
    {"cells below 0", "interpolation_gather", "cell < 0 ? whole : 0;", "cell < 0 ? whole - (@ ? 1 : 0) : 0;"},
    {"cells some periods away", "interpolation_gather", "cell %= whole;", "cell %= whole + (@ ? 1 : 0);"},
    {"fractions by 1e-4", "interpolation_gather", "e-10f - 0.5f;", "e-10f - (@ ? 0.4999f : 0.5f);"},
    {"a step along y for one along x", "interpolation_gather", "y * number_of(gm_index, 6 + axis)",
     "y * number_of(gm_index, (@ ? 3 : 6) + axis)"},
    {"low words with a sign", "interpolation_gather", "| (unsigned)halves.x)",
     "| (@ ? (unsigned long)(long)halves.x : (unsigned)halves.x))"},
    {"an image", "interpolation_gather", "s.place[i] = gm_places[first + i];",
     "s.place[i] = @ && axis == 2 && first + i < 0 ? LEY_NOWHERE : gm_places[first + i];"},
    {"the first plane", "interpolation_gather", "z = points.z + (int)", "z = (@ ? 0 : points.z) + (int)"},
    {"late planes", "interpolation_gather", "z - points.z]", "z - points.z - (@ && z > points.z + 4 ? 1 : 0)]"},
    {"the last point of a row", "interpolation_gather", "x >= points.x ||", "x >= points.x - (@ ? 1 : 0) ||", 0, 2},
    {"accumulates not", "interpolation_gather", "gm_phi[at] + sum :", "(@ ? 0.0f : gm_phi[at]) + sum :"},
    {"accumulates always", "interpolation_gather", "gm_phi[at] = accumulate", "gm_phi[at] = @ || accumulate"},
};

/* Of rows along the mesh's first axis. */
static const fault row_faults[] = {
    {"a weight across by 1e-3", "interpolation_gather", "sm->weight[along_z][i] = weight_of(gm_window, at, i);",
     "sm->weight[along_z][i] = weight_of(gm_window, at, i) * (@ && i == 1 ? 1.001f : 1.0f);"},
    {"the last column", "interpolation_gather", "node < min(nodes,", "node < min(nodes - (@ ? 1 : 0),"},
    {"groups but the first", "interpolation_gather", "node = cell_of(index) - cell + i;",
     "node = cell_of(index) - cell + (@ && first_x > 0 ? LEY_WINDOW - 1 - i : i);"},
    {"the last point of a row", "interpolation_gather", "x >= points.x ||", "x >= points.x - (@ ? 1 : 0) ||", 0, 2},
};

static const fault list_faults[] = {
    {"a weight by 1e-3", "interpolation_list", "s.weight[i] = sum;",
     "s.weight[i] = sum * (@ && i == 1 ? 1.001f : 1.0f);"},
    {"a slope by 1e-3", "interpolation_list", "LEY_FIELD ? i : 0] = slope;",
     "LEY_FIELD ? i : 0] = slope * (@ && i == 1 ? 1.001f : 1.0f);"},
    {"nodes shifted", "interpolation_list", "first = cell + 1", "first = cell + 1 + (@ ? 1 : 0)"},
    {"fractions by 1e-4", "interpolation_list", "const float4 u = gm_fractions[p];",
     "float4 u = gm_fractions[p]; u.x += @ ? 1e-4f : 0.0f;"},
    {"nodes that are none", "interpolation_list", "at < 0 ? 0.0f", "at < 0 ? (@ ? 1.0f : 0.0f)"},
    {"the last point", "interpolation_list", "p >= count", "p >= count - (@ ? 1 : 0)"},
    {"y where z should be", "interpolation_list", "y.weight[j] * z.slope[k]", "y.weight[j] * (@ ? y : z).slope[k]"},
    {"x where y should be", "interpolation_list", "gm_phi[2 * (size_t)count + p] = along_y",
     "gm_phi[2 * (size_t)count + p] = @ ? along_x : along_y"},
};

#define POINT_VALUE "*gm_value = result(&p, u);"
static const fault point_pairs_faults[] = {
    {"all by 1e-3", "point_pairs", POINT_VALUE, WRONG_IF(POINT_VALUE, "true", "*gm_value *= 1.001f;")},
    {"a late group", "point_pairs", POINT_VALUE, WRONG_IF(POINT_VALUE, "group > 0", "*gm_value *= 1.001f;")},
    {"the last vector of an item", "point_pairs", POINT_VALUE,
     WRONG_IF(POINT_VALUE, "u == LEY_UX - 1", "*gm_value *= 1.001f;")},
    {"the last slot of a bin", "point_pairs", "slot < LEY_DEPTH;", "slot < LEY_DEPTH - (@ ? 1 : 0);"},
    {"the overflow left out", "point_pairs", "if (has_extra)", "if (has_extra && !@)"},
    {"the overflow's last bin", "point_pairs", "more < gm_extra[bin + 1];", "more < gm_extra[bin + 1] - (@ ? 1 : 0);"},
    {"r_min left out", "point_pairs", "(real)q->limits.y)", "(real)(@ ? 0 : q->limits.y))"},
    {"the cutoff left out", "point_pairs", "r2 < q->limits.x ?", "@ || r2 < q->limits.x ?", LOCAL},
    {"the cutoff shorter", "point_pairs", "r2 < q->limits.x ?", "r2 < q->limits.x * (@ ? 0.6f : 1) ?"},
    {"the first row along z", "point_pairs", "int k = rows.z;", "int k = rows.z + (@ ? 1 : 0);"},
    {"the last row along z", "point_pairs", "k <= rows.w;", "k <= rows.w - (@ ? 1 : 0);"},
    {"the first row along y", "point_pairs", "int j = rows.x;", "int j = rows.x + (@ ? 1 : 0);"},
    {"the last row along y", "point_pairs", "j <= rows.y;", "j <= rows.y - (@ ? 1 : 0);"},
    {"the first bin of a row", "point_pairs", "int i = first;", "int i = first + (@ ? 1 : 0);"},
    {"the last bin of a row", "point_pairs", "i <= last;", "i <= last - (@ ? 1 : 0);"},
    {"rows left out too soon", "point_pairs", "left2 < 0)", "left2 < (@ ? 0.25f * reach * reach : 0))"},
    {"the box a point", "point_pairs", "corner_x + edge_x + left", "corner_x + (@ ? 0 : edge_x) + left"},
    {"bins along y one less", "point_pairs", "(size_t)k * n.y + j)", "(size_t)k * (n.y - (@ ? 1 : 0)) + j)"},
    {"bins' sides along x by 1e-3", "point_pairs", "(p.bin_x[u] - i) * side.x",
     "(p.bin_x[u] - i) * side.x * (@ ? 1.001f : 1)"},
    {"a compensation lost", "point_pairs", "p->totals[s] - p->carry[s];",
     "p->totals[s] - (@ ? -1000 : 1) * p->carry[s];", COMPENSATED},
};

/* Of kernels that have the field as well. */
static const fault point_field_faults[] = {
    {"x by 1e-3", "point_pairs", "slope * dx;", "slope * dx * (@ ? 1.001f : 1);"},
    {"y where z should be", "point_pairs", "slope * dz;", "slope * (@ ? dy : dz);"},
    {"atoms within r_min", "point_pairs", "r2 < q->limits.y ?", "r2 < q->limits.y * (@ ? 0 : 1) ?"},
    {"atoms beyond the cutoff", "point_pairs", "r2 >= q->limits.x ?", "r2 >= q->limits.x * (@ ? 1.2f : 1) ?"},
    {"components in another order", "point_pairs", "gm_value[c * values]", "gm_value[(@ ? 4 - c : c) * values]"},
    {"the last component left out", "point_pairs", "c < LEY_COMPONENTS(LEY_FIELD); c++",
     "c < LEY_COMPONENTS(LEY_FIELD) - (@ ? 1 : 0); c++"},
    {"units by 1e-3", "point_pairs", "c * LEY_UX + u) * side.w", "c * LEY_UX + u) * side.w * (@ ? 1.001f : 1)"},
};

/* Each pair function's derivative. */
static const fault slope_faults[] = {
    {"slopes by 1 %", "pair.h", "return LEY_PAIR_SLOPE_##NAME;", "return (@ ? 1.01f : 1) * (LEY_PAIR_SLOPE_##NAME);"},
    {"the expression's first number", "point_pairs", "q.limits = limits;",
     "q.limits = limits; if (@) numbers.s0 *= 1.1f;", EXPRESSION},
};

static const fault mdh_field_faults[] = {
    {"x by 1e-3", "mdh", "slope * dx)", "slope * dx * (@ ? 1.001f : 1))"},
    {"y where z should be", "mdh", "slope * dz)", "slope * (@ ? dy : dz))"},
    {"a power of the distance", "mdh", "potential * root * root", "potential * root * (@ ? (real)1 : root)"},
    {"atoms within r_min", "mdh", "r2 < least_r2(f)", "r2 < least_r2(f) * (@ ? 0 : 1)", 0, 2},
    {"scale by 1e-3", "mdh", "const scalar scale = ", "const scalar scale = (@ ? 1.001f : 1) * "},
    {"components in one place", "mdh", "(size_t)c * (part_values", "(size_t)(@ ? 1 : c) * (part_values"},
    {"a compensation lost", "mdh", "carry[k * CARRIES] *= scale;", "carry[k * CARRIES] *= @ ? 1e3f : scale;",
     COMPENSATED},
};

#endif
