"""Orbitals and densities by the formulas of docs/orbitals.md, in NumPy; and wavefunctions for tests."""
import math

import numpy as np

BOHR = 0.529177210903  # A
BOTH = [(0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (3, 0), (3, 1), (4, 0), (4, 1), (5, 0), (5, 1)]  # l, pure


def solid(l, m, x, y, z):
    """The real solid harmonic, cos for m >= 0, sin below, z^l on the axis for m = 0: Racah's."""
    k, n, r2 = np.arange((l - abs(m)) // 2 + 1), abs(m), x * x + y * y + z * z
    along = sum((-1) ** i * 2.0 ** -l * math.comb(l, i) * math.comb(2 * l - 2 * i, l) * math.factorial(l - 2 * i)
                / math.factorial(l - 2 * i - n) * r2 ** i * z ** (l - 2 * i - n) for i in map(int, k))
    around = (x + 1j * y) ** n
    scale = math.sqrt((2 if m else 1) * math.factorial(l - n) / math.factorial(l + n))
    return scale * along * (around.imag if m < 0 else around.real)


def odd(n):
    """n!!, 1 below 1."""
    return 1 if n < 1 else n * odd(n - 2)


def powers(l):
    return [(i, j, l - i - j) for i in range(l, -1, -1) for j in range(l - i, -1, -1)]


def count(l, pure):
    return 2 * l + 1 if pure else (l + 1) * (l + 2) // 2


def functions(arrays, points):
    """(functions, points): all basis functions at points, bohr."""
    found = []
    first = arrays["shell_first_primitive"]
    for s, (atom, l, pure) in enumerate(zip(arrays["shell_atom"], arrays["shell_l"], arrays["shell_pure"])):
        x, y, z = (points - arrays["positions_bohr"][atom]).T
        a = np.asarray(arrays["exponents"][first[s]:first[s + 1]])[:, None]
        d = np.asarray(arrays["coefficients"][first[s]:first[s + 1]])[:, None]
        gaussians = d * (2 * a / np.pi) ** 0.75 * np.exp(-a * (x * x + y * y + z * z))
        if pure:
            radial = (gaussians * np.sqrt((4 * a) ** l / odd(2 * l - 1))).sum(axis=0)
            found += [radial * solid(l, m, x, y, z) for m in [0] + [sign * k for k in range(1, l + 1) for sign in (1, -1)]]
        else:
            radial = (gaussians * np.sqrt((4 * a) ** l)).sum(axis=0)
            found += [radial * x ** i * y ** j * z ** k / math.sqrt(odd(2 * i - 1) * odd(2 * j - 1) * odd(2 * k - 1))
                      for i, j, k in powers(l)]
    return np.array(found)


def orbitals(arrays, points):
    return np.asarray(arrays["orbitals"]) @ functions(arrays, points)


def density(arrays, points, weights=None):
    return (arrays["occupations"] if weights is None else weights) @ orbitals(arrays, points) ** 2


def some(kinds=BOTH, orbitals=6, seed=3):
    """Arrays of a wavefunction: shells of these kinds in turn around three nuclei, random orbitals, not of norm 1."""
    random = np.random.default_rng(seed)
    l, pure = np.array(kinds).T
    primitives = 1 + np.arange(len(kinds)) % 3
    first = np.concatenate([[0], np.cumsum(primitives)])
    occupied = orbitals // 2
    return {"charges": [6.0, 1.0, 8.0], "numbers": [6, 1, 8],
            "positions_bohr": np.array([[0.1, -0.2, 0.3], [1.7, 0.4, -0.5], [-0.6, 1.9, 0.8]]),
            "shell_atom": np.arange(len(kinds)) % 3, "shell_l": l, "shell_pure": pure, "shell_first_primitive": first,
            "exponents": random.uniform(0.3, 1.5, first[-1]), "coefficients": random.uniform(0.3, 1, first[-1]),
            "orbitals": random.uniform(-1, 1, (orbitals, sum(map(count, l, pure)))),
            "energies": np.arange(orbitals) - occupied - 0.25,
            "occupations": np.where(np.arange(orbitals) < occupied, 2.0, 0.0) + (np.arange(orbitals) == occupied),
            "spins": np.zeros(orbitals, int)}


def of_norm_1(arrays):
    """With orbitals that are orthonormal, as far as the package's overlaps are right, which the judge of values sees."""
    import leyden
    overlaps = leyden.Wavefunction.from_arrays(**arrays, any_norm=True).overlaps()
    c = np.asarray(arrays["orbitals"])
    root = np.linalg.cholesky(c @ overlaps @ c.T)
    return {**arrays, "orbitals": np.linalg.solve(root, c)}
