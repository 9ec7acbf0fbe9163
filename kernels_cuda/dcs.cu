/* Direct Coulomb summation, in CUDA C: cl/dcs.cl. From Ampere on a tile travels to shared memory
 * while the one before it is summed, and NVRTC is told to unroll the loop over its atoms, which it
 * does not by itself: on an H200, billion pairs/s of tiled16, 4,175 with neither, 4,263 with the
 * former, 4,345 with the latter, 4,418 with both; of local8 3,843, 3,712, 3,959, 3,947. */
#include "dialect.cuh"
#if LEY_SUM == LEY_SPEC_SUM_FLOAT
#define UNROLL_TILE _Pragma("unroll 4")
#endif
#if LEY_ATOMS == LEY_ATOMS_LOCAL && __CUDA_ARCH__ >= 800
#define OWN_sum_atoms
#endif
#include "dcs.cl"

#ifdef OWN_sum_atoms
/* Starts the copy of a tile as it is, past the registers. */
LEY_FN void fetch(stored_atom *sm_ahead, const stored_atom *gm_tile, int count, int item)
{
    for (int j = item; j < count; j += ITEMS)
        UNROLL for (int part = 0; part < (int)sizeof(stored_atom); part += 16)
            asm volatile("{.reg .u64 to; cvta.to.shared.u64 to, %0; cp.async.cg.shared.global [to], [%1], 16;}" ::
                         "l"((char *)&sm_ahead[j] + part), "l"((const char *)&gm_tile[j] + part) : "memory");
}

/* What this thread fetched has arrived. */
LEY_FN void await_fetched(void)
{
    asm volatile("cp.async.wait_all;" ::: "memory");
}

LEY_FN void sum_atoms(points *p, const stored_atom *gm_atoms, int first, int n_atoms, atom *sm_tile,
                      volatile unsigned *sm_near)
{
    __shared__ stored_atom sm_ahead[LEY_TILE];
    const int item = LEY_LOCAL_ID(1) * LEY_WG_X + LEY_LOCAL_ID(0);
    fetch(sm_ahead, gm_atoms + first, min(LEY_TILE, n_atoms), item);
    for (int base = 0; base < n_atoms; base += LEY_TILE) {
        const int count = min(LEY_TILE, n_atoms - base), next = base + LEY_TILE;
        await_fetched(); /* by the thread that reads it: no barrier in between */
        clear_marks(item, sm_near);
        for (int j = item; j < count; j += ITEMS)
            stage(p, sm_ahead[j], j, sm_tile, sm_near);
        fetch(sm_ahead, gm_atoms + first + next, min(LEY_TILE, n_atoms - next), item);
        __syncthreads();
        sum_tile(p, gm_atoms, first + base, count, sm_tile, sm_near);
    }
}
#endif
