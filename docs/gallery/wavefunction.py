#!/usr/bin/python3
"""Keeps some orbitals of a wavefunction, so that its file is small. c60.npz and caffeine.npz are parts of what
`python3 -m leyden convert` makes of Molden files by pyscf, in 6-31G*.

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
