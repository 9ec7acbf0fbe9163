"""leyden.shells(): points around a molecule, for charges that are fitted to its potential."""
from __future__ import annotations

import functools
import math
from typing import Any, Iterable, Literal, Mapping, Tuple, Union

import numpy as np

from ._arrays import numbers
from ._errors import InputError, UsageError, number_of
from ._parameters import did_you_mean
from ._radii import VAN_DER_WAALS_A, Labels, radii_for

# Radii of Merz and Kollman, A: those that quantum chemistry programs take for their charges. Other
# elements have van der Waals radii.
MERZ_KOLLMAN_A: Mapping[str, float] = {
    "H": 1.20, "He": 1.20, "Li": 1.37, "Be": 1.45, "B": 1.45, "C": 1.50, "N": 1.50, "O": 1.40, "F": 1.35, "Ne": 1.30,
    "Na": 1.57, "Mg": 1.36, "Al": 1.24, "Si": 1.17, "P": 1.80, "S": 1.75, "Cl": 1.70,
}
SCALES = (1.4, 1.6, 1.8, 2.0)
_MOST_POINTS = 2e8


@functools.lru_cache(maxsize=256)
def _sphere(n: int) -> np.ndarray:
    """(n, 3): unit vectors in rings of latitude. Each ring has as many as its band of the sphere has of the area, so that
    there are n of them, and they are as far apart along it as bands are."""
    rings = max(round(math.sqrt(math.pi * n) / 2), 1)
    bounds = np.cos(np.pi * np.arange(rings + 1) / rings)
    ends = np.round(n * (1 - bounds) / 2).astype(int)
    found = []
    for ring, count in enumerate(np.diff(ends)):
        z = (bounds[ring] + bounds[ring + 1]) / 2  # halves the band's area
        angle = 2 * np.pi * (np.arange(count) + ring % 2 / 2) / max(count, 1)
        across = math.sqrt(1 - z * z)
        found.append(np.stack([across * np.cos(angle), across * np.sin(angle), np.full(count, z)], axis=1))
    made = np.concatenate(found)
    made.flags.writeable = False
    return made


def _pairs_within(x: np.ndarray, reach: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
    """Numbers of atoms whose distance is less than the sum of their reaches, each pair in both orders: in time linear in
    the atoms, by bins as wide as the largest sum."""
    edge = max(2 * float(reach.max()), 1e-3)
    at = np.floor((x - x.min(axis=0)) / edge).astype(np.int64)
    size = at.max(axis=0) + 3  # bins without atoms around all of them
    key = ((at[:, 0] + 1) * size[1] + at[:, 1] + 1) * size[2] + at[:, 2] + 1
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    firsts, seconds = [], []
    for dx in (-1, 0, 1):
        for dy in (-1, 0, 1):  # three bins along z follow each other
            other = key + (dx * size[1] + dy) * size[2]
            low, high = np.searchsorted(ordered, other - 1), np.searchsorted(ordered, other + 1, "right")
            counts = high - low
            first = np.repeat(np.arange(len(x)), counts)
            second = order[np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts) + np.repeat(low, counts)]
            near = ((x[first] - x[second]) ** 2).sum(axis=1) < (reach[first] + reach[second]) ** 2
            near &= first != second
            firsts.append(first[near])
            seconds.append(second[near])
    first, second = np.concatenate(firsts), np.concatenate(seconds)
    order = np.argsort(first, kind="stable")
    return first[order], second[order]


def _shell(x: np.ndarray, radius: np.ndarray, probe: float, density: float) -> np.ndarray:
    """Points of spheres, so many per A^2, where a ball of the radius `probe` upon them overlaps no other sphere."""
    sizes = np.round(density * 4 * np.pi * radius ** 2).astype(int)
    reach = radius + probe
    first, second = _pairs_within(x, reach)
    starts = np.searchsorted(first, np.arange(len(x) + 1))
    found = [np.empty((0, 3))]
    for i in np.flatnonzero(sizes > 0):
        unit = _sphere(int(sizes[i]))
        near = second[starts[i]:starts[i + 1]]
        way = x[near] - x[i]
        # The ball's centre is within the reach of another atom: |reach_i u - way|^2 < reach_j^2.
        limit = (reach[i] ** 2 + (way ** 2).sum(axis=1) - reach[near] ** 2) / (2 * reach[i])
        is_inside = unit @ way.T > limit + 1e-9
        found.append(x[i] + radius[i] * unit[~is_inside.any(axis=1)])
    return np.concatenate(found)


def _labelled(atoms: Any) -> Tuple[np.ndarray, Labels]:
    """Positions, (n, 3), A, and what a topology says of the atoms."""
    of = getattr(atoms, "atoms", atoms)
    if hasattr(of, "positions"):
        words = ("names", "types", "elements", "resnames", "masses")
        return np.asarray(of.positions, float), Labels(*(getattr(of, word, None) for word in words))
    if getattr(atoms, "coordinates", None) is not None:  # ParmEd
        elements = [a.element_name if getattr(a, "atomic_number", 0) > 0 else "" for a in of]
        return np.asarray(atoms.coordinates, float), Labels([a.name for a in of], [a.type for a in of], elements,
                                                            [a.residue.name for a in of], [a.mass for a in of])
    found = numbers(atoms, "atoms", np.float64)
    if found.ndim != 2 or found.shape[1] != 3:
        raise InputError(f"atoms has the shape {found.shape}: a Universe, an AtomGroup, a Structure, Atoms or positions, "
                         "(n, 3), A, are needed")
    return found, Labels()


def _radii_of(count: int, wanted: Any, labels: Labels, table: Mapping[str, float]) -> np.ndarray:
    if wanted is not None:
        return np.asarray(radii_for(count, wanted, None, labels), float)
    radii = np.zeros(count)
    for i in range(count):
        element = labels.element(i)
        radius = table.get(element, VAN_DER_WAALS_A.get(element))
        if radius is not None:
            radii[i] = radius
        elif not labels.is_site(i):
            raise InputError(f"radii: {labels.describe(i)}: no radius is known for it: give radii, numbers or a dict from "
                             "names, types or elements to numbers")
    return radii


def shells(atoms: Any, kind: Literal["msk", "connolly"] = "msk", *, density: float = 1.0, radii: Any = None,
           scales: Union[None, float, Iterable[float]] = None, probe: float = 1.4) -> np.ndarray:
    """Points around a molecule at which potentials are fitted by charges, (P, 3), A.

    "msk", of Merz and Kollman: of each of the `scales` the points of spheres of that many radii around the atoms that
    are within no such sphere of another atom. "connolly": points of the atoms' spheres that a ball of the radius
    `probe` touches which overlaps no sphere, the contact surface.

    Each sphere has density 4 pi R^2 points, to the nearest whole number, in rings of latitude around z, whose numbers of
    points are those of their share of the area; the same atoms have the same points.

    >>> points = leyden.shells(universe.select_atoms("resname LIG"), density=2)
    >>> potential = leyden.points(universe, points).values

    Args:
        atoms: a Universe or an AtomGroup of MDAnalysis, or a Structure of ParmEd, whose elements, or names, say the radii;
            or, with `radii`, Atoms or positions, (n, 3), A.
        kind: "msk" or "connolly".
        density: points per A^2 of a sphere.
        radii: A: (n,) numbers, or one for all; or a dict from names, types or elements. None: of "msk" those of Merz and
            Kollman, of "connolly" van der Waals radii. An atom whose radius is 0 has no points.
        scales: of "msk"; None: 1.4, 1.6, 1.8 and 2.0. Shells follow each other in this order, and within a shell atoms do.
        probe: of "connolly", A; 0: the spheres themselves.

    Sources: U. C. Singh, P. A. Kollman, J. Comput. Chem. 5, 129 (1984); B. H. Besler, K. M. Merz, P. A. Kollman, J.
    Comput. Chem. 11, 431 (1990); M. L. Connolly, Science 221, 709 (1983).

    Errors: UsageError for another kind and for numbers that are not above 0; InputError for an element that has no radius,
    for positions that are not finite, and where no point is left.
    """
    if kind not in ("msk", "connolly"):
        raise UsageError(f"kind: {kind!r} is none of 'msk', 'connolly'{did_you_mean(kind, ['msk', 'connolly'])}")
    if kind == "connolly" and scales is not None:
        raise UsageError("scales are of kind='msk'; radii says other spheres of 'connolly'")
    multiples = [number_of(s, "scales") for s in np.atleast_1d(np.asarray(SCALES if scales is None else scales))]
    density, probe = number_of(density, "density"), number_of(probe, "probe")
    if not (0 < density < math.inf and 0 <= probe < math.inf and multiples and all(0 < s < math.inf for s in multiples)):
        raise UsageError("density and scales are above 0, and probe is 0 or more")
    x, labels = _labelled(atoms)
    if len(x) == 0 or not np.all(np.isfinite(x)):
        raise InputError("atoms: there are none" if len(x) == 0 else "atoms: there are positions that are not finite")
    radius = _radii_of(len(x), radii, labels, MERZ_KOLLMAN_A if kind == "msk" else VAN_DER_WAALS_A)
    if not (np.all(radius >= 0) and np.all(radius < 1e4)):
        raise InputError("radii: each is 0 to 1e4 A")
    is_there = radius > 0
    x, radius = x[is_there], radius[is_there]
    most = density * 4 * np.pi * sum(float(((s * radius) ** 2).sum()) for s in (multiples if kind == "msk" else [1.0]))
    if not 0 < most < _MOST_POINTS:
        raise InputError(f"there would be {most:.3g} points on all spheres: " +
                         ("a smaller density has fewer" if most > 0 else "no atom has a radius above 0"))
    if kind == "msk":
        found = np.concatenate([_shell(x, s * radius, 0.0, density) for s in multiples])
    else:
        found = _shell(x, radius, probe, density)
    if len(found) == 0:
        raise InputError(f"no point is left of {most:.3g}: a larger density has more")
    return found
