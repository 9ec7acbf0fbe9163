/* Every work-item of dcs.cl reads every atom where it lies, in constant or global memory, and
 * computes its points: the papers' kernels. */
#ifndef LEY_DCS_STREAMED_H
#define LEY_DCS_STREAMED_H

LEY_FN void sum_atoms(points *p, CONSTANT_SPACE const stored_atom *atoms, int first, int n_atoms)
{
    for (int j = first; j < first + n_atoms; j++) {
        const atom a = relative(p, atoms[j]);
        const scalar dz = p->z - a.z;
        add(p, a.x, a.y, ACROSS(dz), a.w);
    }
}

#endif
