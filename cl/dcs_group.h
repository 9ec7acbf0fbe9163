/* What a work-group of dcs.cl does with atoms, on GPUs: it brings a tile of them into local
 * memory, then each work-item sums it.
 *
 * sm_tile  a tile's atoms, with ACROSS(dz) in place of z
 * sm_near  a bit for each that is near a point of the group: near atoms are staged without their
 *          charge. Bits keep their order, and so the sum, the same from run to run */
#ifndef LEY_DCS_GROUP_H
#define LEY_DCS_GROUP_H

#define ITEMS (LEY_WG_X * LEY_WG_Y)

/* Before the loop over a tile's atoms: nothing, for compilers of OpenCL unroll it as they think
 * best. */
#ifndef UNROLL_TILE
#define UNROLL_TILE
#endif

/* Begins a tile: no atom is near. */
LEY_FN void clear_marks(int item, LEY_LOCAL volatile unsigned *sm_near)
{
    LEY_BARRIER();
    for (int w = item; w < LEY_TILE / 32; w += ITEMS)
        sm_near[w] = 0;
    LEY_BARRIER();
}

/* Puts a tile's j-th atom into its place. */
LEY_FN void stage(const points *p, stored_atom s, int j, LEY_LOCAL atom *sm_tile, LEY_LOCAL volatile unsigned *sm_near)
{
    atom a = relative(p, s);
    const scalar dz = p->z - a.z;
    const bool is_near = nearest_A2(p, s, a) < near_A2(p);
    a.z = ACROSS(dz);
    if (is_near) {
        LEY_ATOMIC_OR(&sm_near[j / 32], 1u << (j % 32));
        a.z = 1;
        a.w = 0;
    }
    sm_tile[j] = a;
}

/* Sums the tile that is staged, of `count` atoms from number `first` on. */
LEY_FN void sum_tile(points *p, LEY_GLOBAL const stored_atom *gm_atoms, int first, int count,
                     LEY_LOCAL const atom *sm_tile, LEY_LOCAL volatile const unsigned *sm_near)
{
    UNROLL_TILE for (int j = 0; j < count; j++) {
        const atom a = sm_tile[j];
        add(p, a.x, a.y, a.z, a.w);
    }
    for (int w = 0; w < LEY_TILE / 32; w++)
        for (unsigned left = sm_near[w]; left != 0; left &= left - 1)
            add_near(p, gm_atoms[first + 32 * w + LEY_LOWEST_BIT(left)]);
}

#ifdef OWN_sum_atoms
LEY_FN void sum_atoms(points *p, LEY_GLOBAL const stored_atom *gm_atoms, int first, int n_atoms,
                      LEY_LOCAL atom *sm_tile, LEY_LOCAL volatile unsigned *sm_near);
#else
LEY_FN void sum_atoms(points *p, LEY_GLOBAL const stored_atom *gm_atoms, int first, int n_atoms,
                      LEY_LOCAL atom *sm_tile, LEY_LOCAL volatile unsigned *sm_near)
{
    const int item = LEY_LOCAL_ID(1) * LEY_WG_X + LEY_LOCAL_ID(0);
    for (int base = 0; base < n_atoms; base += LEY_TILE) {
        const int count = min(LEY_TILE, n_atoms - base);
        clear_marks(item, sm_near);
        for (int j = item; j < count; j += ITEMS)
            stage(p, gm_atoms[first + base + j], j, sm_tile, sm_near);
        LEY_BARRIER();
        sum_tile(p, gm_atoms, first + base, count, sm_tile, sm_near);
    }
}
#endif

#endif
