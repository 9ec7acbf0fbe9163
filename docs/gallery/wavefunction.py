#!/usr/bin/python3
"""Keeps some orbitals of a wavefunction, so that its file is small. caffeine.npz, by Hartree-Fock, and c60.npz, by
extended Hueckel theory with atomic Hartree-Fock orbitals, are parts of wavefunctions by pyscf in 6-31G*: orbitals 1 to
52 and 176 to 183.

    wavefunction.py WHOLE.npz PART.npz FIRST LAST       numbers from 1, both included
"""
import sys

import numpy

whole, part, first, last = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
arrays = dict(numpy.load(whole))
for name in ("orbitals", "energies", "occupations", "spins"):
    if name in arrays:
        arrays[name] = arrays[name][first - 1:last]
numpy.savez(part, **arrays)
