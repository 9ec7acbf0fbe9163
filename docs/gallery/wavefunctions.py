#!/usr/bin/env python3
"""Makes the wavefunctions of the gallery: caffeine with its occupied orbitals, by Hartree-Fock, and the frontier orbitals of C60 in the
potential of its atoms, both in 6-31G*.

    wavefunctions.py FOLDER       caffeine.npz and c60.npz; needs pyscf and numpy
"""
import os
import sys

import numpy
from pyscf import gto, scf

CAFFEINE = """
C  3.0460  0.7060  0.0003; N  1.9700 -0.2600  0.0000; C  2.1010 -1.6180  0.0000; N  0.9190 -2.2550  0.0000
C  0.0010 -1.2800  0.0000; C  0.6110 -0.0260  0.0000; C -0.1080  1.1960  0.0000; O  0.4020  2.3120  0.0000
"""


def c60(radius_A=3.55):
    """Carbon atoms at the corners of a truncated icosahedron."""
    golden = (1 + 5**0.5) / 2
    corners = {tuple(numpy.roll(numpy.multiply(corner, signs), turn).round(9) + 0.0)
               for corner in ((0, 1, 3 * golden), (1, 2 + golden, 2 * golden), (golden, 2, 2 * golden + 1))
               for signs in numpy.indices((2, 2, 2)).reshape(3, -1).T * -2 + 1 for turn in range(3)}
    places = numpy.array(sorted(corners))
    return [("C", place) for place in places * radius_A / numpy.linalg.norm(places[0])]
