/* Multiple Debye-Hueckel potentials, in CUDA C: cl/mdh.cl. NVRTC takes one atom of a tile after the
 * other unless it is told. On an H200, in billion pairs/s: faces, screened, two per turn, 2,195 in
 * place of 1,962; without screening, four: faces 3,789 in place of 3,352, lists 2,318 in place of
 * 2,041. */
#include "dialect.cuh"
#if LEY_POINTS == LEY_POINTS_LIST || LEY_SCREENING == LEY_SCREENING_NONE
#define ATOMS_OF_A_TURN _Pragma("unroll 4")
#else
#define ATOMS_OF_A_TURN _Pragma("unroll 2")
#endif
#include "mdh.cl"
