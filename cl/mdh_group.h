/* What a work-group of mdh.cl does with atoms, on GPUs: it brings a tile of them into local
 * memory, then each work-item sums it. Near atoms are marked in a bit set. */
#ifndef LEY_MDH_GROUP_H
#define LEY_MDH_GROUP_H

/* Before the loop over a tile's atoms: how many of them a turn of it takes, where the compiler's
 * own choice is not the best. That of compilers which take PTX is not, for lists: screened, four
 * make 1,578 in place of 1,484 billion pairs/s on an H200. */
#ifndef ATOMS_OF_A_TURN
#if LIST && LEY_SCREENING != LEY_SCREENING_NONE && LEY_ROOT == LEY_ROOT_PTX
#define ATOMS_OF_A_TURN _Pragma("unroll 4")
#else
#define ATOMS_OF_A_TURN
#endif
#endif

LEY_FN void sum_atoms(points *p, const frame *f, LEY_GLOBAL const placed *gm_atoms, int n_atoms,
                      LEY_LOCAL atom *sm_tile, LEY_LOCAL int *sm_radius, LEY_LOCAL unsigned *sm_near)
{
    for (int base = 0; base < n_atoms; base += LEY_TILE) {
        const int count = min(LEY_TILE, n_atoms - base);
        LEY_BARRIER();
        for (int w = LEY_LOCAL_ID(0); w < LEY_TILE / 32; w += LEY_WG)
            sm_near[w] = 0;
        LEY_BARRIER();
        for (int j = LEY_LOCAL_ID(0); j < count; j += LEY_WG) {
            bool is_near;
            sm_tile[j] = staged(f, gm_atoms[base + j], &is_near);
            if (is_near)
                LEY_ATOMIC_OR(&sm_near[j / 32], 1u << (j % 32));
            if (LEY_SCREENING == LEY_SCREENING_WIDE)
                sm_radius[j] = LIST && is_near ? 0 : gm_atoms[base + j].cell.w;
        }
        LEY_BARRIER();
        ATOMS_OF_A_TURN for (int j = 0; j < count; j++)
            add(p, sm_tile[j], LEY_SCREENING == LEY_SCREENING_WIDE ? sm_radius[j] : 0);
        for (int w = 0; w < LEY_TILE / 32; w++)
            for (unsigned left = sm_near[w]; left != 0; left &= left - 1)
                add_near(p, f, gm_atoms[base + 32 * w + LEY_LOWEST_BIT(left)]);
    }
}

#endif
