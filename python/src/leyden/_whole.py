"""Molecules that a periodic cell has broken, whole again, and next to each other."""
from __future__ import annotations

from typing import Tuple

import numpy as np

_ROWS = 256  # of distances at a time
_MOST_PAIRS = 4e6  # of distances between two molecules: of larger ones each second atom will do, or fewer


def _nearest(ways: np.ndarray, cell: np.ndarray) -> np.ndarray:
    """Images of ways (..., 3), the shortest ones where these are below half of the cell's least width."""
    return ways - np.round(ways @ np.linalg.inv(cell)) @ cell


def _tree(count: int, pairs: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
    """Of each atom the one before it on the way from the first atom of its molecule, itself of this one; and the
    molecule's number."""
    both = np.concatenate([pairs, pairs[:, ::-1]]) if len(pairs) else np.zeros((0, 2), np.int64)
    both = both[np.argsort(both[:, 0], kind="stable")]
    first = np.searchsorted(both[:, 0], np.arange(count + 1))
    mates = both[:, 1].tolist()
    before, molecule = np.full(count, -1), np.full(count, -1)
    molecules = 0
    for start in range(count):
        if molecule[start] >= 0:
            continue
        molecule[start], before[start] = molecules, start
        coming = [start]
        for atom in coming:  # which grows
            for mate in mates[first[atom]:first[atom + 1]]:
                if molecule[mate] < 0:
                    molecule[mate], before[mate] = molecules, atom
                    coming.append(mate)
        molecules += 1
    return before, molecule


class Whole:
    """Makes molecules whole by pairs of atoms that are close together, as those that are excluded are.

    Molecules, which no pair joins, are put at the images that are next to each other, by the pairs of atoms that are
    closest in the first frame: each molecule in turn beside those before it, the largest one first.
    """

    def __init__(self, count: int, pairs: np.ndarray, positions: np.ndarray, cell: np.ndarray) -> None:
        pairs = np.asarray(pairs, np.int64).reshape(-1, 2)
        self._before, molecule = _tree(count, pairs)
        x = positions.astype(np.float64)
        x = x + self._images(x[None], cell[None])[0] @ cell
        atoms_of = [np.flatnonzero(molecule == one) for one in range(molecule.max() + 1)]
        atoms_of.sort(key=lambda atoms: -len(atoms))
        new, left = atoms_of[0], atoms_of[1:]
        nearest = [(np.inf, 0, 0)] * len(left)
        while left:
            nearest = [min(best, _closest(x, atoms, new, cell)) for best, atoms in zip(nearest, left)]
            k = nearest.index(min(nearest))
            (_, atom, other), new = nearest.pop(k), left.pop(k)
            self._hang(new, atom, other, pairs)

    def _hang(self, atoms: np.ndarray, atom: int, other: int, pairs: np.ndarray) -> None:
        """The molecule of these atoms is reached from the other one, through `atom`."""
        index = np.full(len(self._before), -1)
        index[atoms] = np.arange(len(atoms))
        inside = pairs[index[pairs[:, 0]] >= 0]
        swap = np.arange(len(atoms))
        start = int(index[atom])
        swap[0], swap[start] = start, 0  # the tree begins at the first atom
        before, _ = _tree(len(atoms), swap[index[inside]])
        self._before[atoms] = atoms[swap[before[swap]]]
        self._before[atom] = other

    def _images(self, x: np.ndarray, cells: np.ndarray) -> np.ndarray:
        """Numbers of cells (F, N, 3) by which each atom moves: those along its way from the first one, added up."""
        ways = (x - x[:, self._before]) @ np.linalg.inv(cells)
        steps = -np.round(ways)
        before = self._before
        while np.any(steps) and np.any(before != before[before]):  # each step doubles how far a sum reaches
            steps = steps + steps[:, before]
            before = before[before]
        return steps

    def apply(self, positions: np.ndarray, cells: np.ndarray) -> int:
        """Moves atoms of frames (F, N, 3), in place. How many frames it changed."""
        images = self._images(positions.astype(np.float64), cells)
        changed = np.flatnonzero(images.any(axis=(1, 2)))
        for frame in changed:
            positions[frame] += (images[frame] @ cells[frame]).astype(np.float32)
        return len(changed)


def _closest(x: np.ndarray, atoms: np.ndarray, others: np.ndarray, cell: np.ndarray) -> Tuple[float, int, int]:
    """Distance squared, and which atom of the one and of the other."""
    step = int(np.ceil(np.sqrt(len(atoms) * len(others) / _MOST_PAIRS)))
    atoms, others = atoms[::step], others[::step]
    best = (np.inf, 0, 0)
    for k in range(0, len(atoms), _ROWS):
        part = atoms[k:k + _ROWS]
        r2 = (_nearest(x[part, None] - x[None, others], cell) ** 2).sum(axis=2)
        i, j = np.unravel_index(np.argmin(r2), r2.shape)
        best = min(best, (float(r2[i, j]), int(part[i]), int(others[j])))
    return best
