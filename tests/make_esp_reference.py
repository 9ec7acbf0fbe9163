"""Writes tests/data/esp_*.npz and .txt: wavefunctions of every kind of shell from s to i, and the
potential and field of the molecule at points, by pyscf's integrals (libcint). Orbitals are random:
integrals do not ask where a density comes from.

    python tests/make_esp_reference.py
"""

import numpy as np
from pyscf import gto

POINTS = 40
BASIS = {
    "O": [[0, [45.0, 0.12], [6.1, 0.5], [1.3, 0.6]], [1, [5.2, 0.3], [0.9, 0.8]], [2, [1.1, 1.0]], [3, [0.8, 1.0]],
          [5, [0.9, 1.0]]],
    "N": [[0, [0.7, 1.0]], [1, [0.35, 1.0]], [4, [1.2, 1.0]], [6, [1.4, 1.0]]],
    "H": [[0, [3.4, 0.15], [0.6, 0.9]], [1, [0.8, 1.0]]],
}
ATOMS = "O 0.1 -0.2 0.3; N 1.9 0.7 -0.6; H -0.8 1.2 1.1"


def order_of(l, cart):
    """Our functions of a shell among pyscf's."""
    if cart:
        return range((l + 1) * (l + 2) // 2)
    if l == 1:
        return [2, 0, 1]  # pyscf has x, y, z; ours are m = 0, +1, -1
    return [l] + [l + (m if sign > 0 else -m) for m in range(1, l + 1) for sign in (1, -1)]


def make(name, cart, seed):
    rng = np.random.default_rng(seed)
    mol = gto.M(atom=ATOMS, basis=BASIS, unit="Bohr", cart=cart, charge=0, spin=None, verbose=0)
    norms = np.sqrt(np.diag(mol.intor("int1e_ovlp")))
    ours, shells, exponents, coefficients, first = [], [], [], [], [0]
    for s in range(mol.nbas):
        l, at = mol.bas_angular(s), mol.ao_loc[s]
        assert mol.bas_nctr(s) == 1
        ours += [at + k for k in order_of(l, cart)]
        shells.append((mol.bas_atom(s), l, 0 if cart else 1))
        exponents += list(mol.bas_exp(s))
        # of normalised primitives, by the norm of r^l exp(-a r^2)
        coefficients += list(mol._libcint_ctr_coeff(s)[:, 0] / [gto.gto_norm(l, a) for a in mol.bas_exp(s)])
        first.append(len(exponents))
    occupations = np.array([2, 2, 1.5, 1, 0.25, 0])
    orbitals = rng.normal(size=(len(occupations), mol.nao)) / np.sqrt(mol.nao)  # of our functions
    theirs = np.zeros_like(orbitals)
    theirs[:, ours] = orbitals
    theirs /= norms  # ours are of norm 1; theirs are not where they are Cartesian
    density = np.einsum("i,ia,ib->ab", occupations, theirs, theirs)
    points = np.concatenate([rng.uniform(-3, 4, (POINTS - 8, 3)), rng.uniform(-30, 30, (7, 3)), [[0.1, -0.2, 0.31]]])
    with open(f"tests/data/esp_{name}.txt", "w") as file:
        for r in points:
            way = r - mol.atom_coords()
            distance = np.linalg.norm(way, axis=1)
            with mol.with_rinv_origin(r):
                v = mol.intor("int1e_rinv")
                slope = mol.intor("int1e_iprinv")
            potential = (mol.atom_charges() / distance).sum() - np.einsum("ab,ab", density, v)
            field = (mol.atom_charges() / distance**3) @ way + 2 * np.einsum("ab,dab->d", density, slope)
            print(*(f"{value:.15g}" for value in (*r, potential, *field)), file=file)
    shell_atom, shell_l, shell_pure = np.array(shells, dtype=np.int32).T
    np.savez(f"tests/data/esp_{name}.npz", format=1, charges=mol.atom_charges().astype(float),
             positions_bohr=mol.atom_coords(), shell_atom=shell_atom, shell_l=shell_l, shell_pure=shell_pure,
             shell_first_primitive=np.array(first), exponents=np.array(exponents),
             coefficients=np.array(coefficients), orbitals=orbitals, occupations=occupations)


make("pure", False, 5)
make("cartesian", True, 6)
