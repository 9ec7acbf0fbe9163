"""Periodic cells."""
from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Optional, Sequence, Tuple, Union

import numpy as np

from ._arrays import doubles, numbers as numbers_of
from ._errors import InputError, UsageError

# Along which of a cell's vectors atoms have images.
Periodic = Union[None, bool, str, Sequence[bool]]


def _triclinic(a: float, b: float, c: float, *angles: float) -> np.ndarray:
    """Vectors of lengths and angles, degrees: a along x, b in the xy plane, as in PDB files."""
    if not all(0 < angle < 180 for angle in angles):
        raise UsageError(f"cell: angles are between 0 and 180 degrees, not {angles}")
    exact = {90.0: 0.0, 60.0: 0.5, 120.0: -0.5}
    cos_a, cos_b, cos_c = (exact.get(float(t), math.cos(t * math.acos(-1) / 180)) for t in angles)
    sin_c = math.sqrt(1 - cos_c * cos_c)
    along_b = (cos_a - cos_b * cos_c) / sin_c
    height2 = 1 - cos_b * cos_b - along_b * along_b
    if not height2 > 1e-12:
        raise UsageError(f"cell: no cell has the angles {angles}")
    return np.array([[a, 0, 0], [b * cos_c, b * sin_c, 0],
                     [c * cos_b, c * along_b, c * math.sqrt(height2)]], float)


def cell_vectors(cell: Any) -> np.ndarray:
    """(3, 3), A, of three lengths, of three lengths and three angles, or of three vectors."""
    numbers = numbers_of(cell, "cell", np.float64)
    if numbers.shape not in ((3,), (6,), (3, 3)):
        like = f": a cube's is cell=({', '.join([f'{numbers.ravel()[0]:g}'] * 3)})" if numbers.size == 1 else ""
        raise InputError(f"cell has the shape {numbers.shape}: three lengths (A), three lengths and three angles (degrees), or "
                         f"three vectors, (3, 3), are needed{like}")
    if numbers.ndim == 1 and not np.all(numbers[:3] > 0):
        raise UsageError("cell: lengths are above 0")
    if numbers.shape == (3,):
        return np.diag(numbers)
    if numbers.shape == (6,):
        return _triclinic(*numbers.tolist())
    return doubles(numbers, "cell", (3, 3))


def cells_of_frames(cells: Any, count: int) -> np.ndarray:
    """(count, 3, 3), A, of what cell_vectors() takes, for all frames, or of a row of lengths and angles or of vectors for each."""
    numbers = numbers_of(cells, "cells", np.float64)
    if numbers.shape == (count, 6):
        return np.array([cell_vectors(row) for row in numbers]).reshape(count, 3, 3)
    if numbers.ndim < 3:
        return np.repeat(cell_vectors(numbers)[None], count, axis=0)
    return doubles(numbers, "cells", (count, 3, 3))


def lengths(vectors: np.ndarray) -> np.ndarray:
    """(3,), A."""
    return np.sqrt((vectors * vectors).sum(axis=1))


def cell_of_box(box: Any) -> Optional[np.ndarray]:
    """Vectors of the box of another package, three lengths (A) and angles (degrees), or None.

    Vectors whose lengths are 0 repeat nothing, as MDAnalysis has it of slabs.
    """
    if box is None or not np.any(np.asarray(box, float)[:3]):
        return None
    numbers = doubles(box, "the box", (6,))
    is_there = numbers[:3] > 0
    return cell_vectors([*np.where(is_there, numbers[:3], 1), *numbers[3:]]) * is_there[:, None]


def vectors_of_boxes(boxes: Optional[np.ndarray], count: int = 1) -> np.ndarray:
    """(n, 3, 3) of (n, 6), lengths (A) and angles (degrees), as MDAnalysis has them; 0 where these span no cell."""
    vectors = np.zeros((count if boxes is None else len(boxes), 3, 3))
    kept: dict[bytes, np.ndarray] = {}
    for k, box in enumerate(() if boxes is None else boxes):
        key = box.tobytes()
        if key not in kept:
            is_cell = np.all(np.isfinite(box)) and np.all(box[:3] > 0)
            try:
                kept[key] = _triclinic(*box.tolist()) if is_cell else np.zeros((3, 3))
            except UsageError:
                kept[key] = np.zeros((3, 3))
        vectors[k] = kept[key]
    return vectors


def _axes_of(periodic: Any, vectors: np.ndarray) -> Tuple[bool, bool, bool]:
    if periodic is None or isinstance(periodic, (bool, np.bool_)):
        is_on = periodic is None or bool(periodic)
        return tuple(is_on and bool(np.any(vector)) for vector in vectors)  # type: ignore[return-value]
    if isinstance(periodic, str):
        if not periodic or set(periodic) - set("xyz"):
            raise UsageError(f"periodic: some of the letters x, y and z are needed, not {periodic!r}")
        return tuple(letter in periodic for letter in "xyz")  # type: ignore[return-value]
    axes = tuple(bool(axis) for axis in periodic)
    if len(axes) != 3:
        raise UsageError("periodic: three switches are needed")
    return axes  # type: ignore[return-value]


@dataclass(frozen=True)
class Cell:
    """Images of atoms: along which vectors of which cell."""

    periodic: Tuple[bool, bool, bool]
    vectors: np.ndarray

    @classmethod
    def of(cls, periodic: Periodic, cell: Any, own: Optional[np.ndarray]) -> "Cell":
        """What `periodic` and `cell` ask for, where the atoms' own cell is `own`.

        True, and None where there is a cell: along all vectors that have a length.
        """
        vectors = own if cell is None else cell_vectors(cell)
        if vectors is not None:
            return cls(_axes_of(periodic, vectors), vectors)
        if periodic is not None and any(_axes_of(periodic, np.eye(3))):
            raise UsageError("periodic needs a cell: cell=(a, b, c), A, or atoms that carry one")
        return cls((False, False, False), np.zeros((3, 3)))

    @property
    def is_periodic(self) -> bool:
        return any(self.periodic)

    @property
    def box(self) -> Optional[np.ndarray]:
        """Edges, A, where all space is that of one box with faces along x, y and z; else None."""
        edges = np.diag(self.vectors)
        is_box = all(self.periodic) and np.all(edges > 0) and not np.any(self.vectors - np.diag(edges))
        return edges if is_box else None

    @property
    def options(self) -> str:
        """What the command calls it."""
        axes = "".join(letter for letter, is_on in zip("xyz", self.periodic) if is_on)
        numbers = self.vectors.ravel() if self.box is None else self.box
        return f"--periodic {axes} --cell={','.join(f'{number:.9g}' for number in numbers)}"

    @property
    def line(self) -> str:
        """Of a header."""
        vectors = ", ".join(f"{letter} ({', '.join(f'{number:.15g}' for number in vector)})"
                            for letter, vector in zip("abc", self.vectors.tolist()))
        return f"cell: {vectors} A, periodic along {' '.join(l for l, is_on in zip('abc', self.periodic) if is_on)}"

    def put(self, to: Any) -> None:
        to.periodic = list(self.periodic)
        to.cell_A = self.vectors.tolist()
