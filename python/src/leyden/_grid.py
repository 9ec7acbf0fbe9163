"""Grids: where the points of a map lie."""
from __future__ import annotations

import os
from typing import Any, List, Sequence, Tuple, Union

import numpy as np

from ._arrays import doubles, pointer_to
from ._atoms import places_of
from ._c import ffi, lib
from ._errors import InputError, Status, UsageError, number_of
from ._guesses import OF_GRID, Guessed


class Grid(Guessed):
    """n[0] x n[1] x n[2] points; point (i, j, k) lies at origin + i step[0] + j step[1] + k step[2].

    Args:
        origin: the first point, three numbers, A.
        step: rows that lead to the next point along each axis, (3, 3), A; or
        spacing: one number or three, A, for axes along x, y and z.
        n: points along each axis, three whole numbers.

    Immutable. Steps may be oblique, in any order and of either handedness. Errors: UsageError,
    InputError where the library takes no such grid, as one whose steps lie in a plane.
    """

    _guesses = OF_GRID

    def __init__(self, origin: Sequence[float], step: Any = None, n: Sequence[int] = (), *, spacing: Any = None) -> None:
        if isinstance(origin, (str, bytes, os.PathLike)):
            raise UsageError(f"a map's file is leyden.Map({origin!r:.100}), and its grid leyden.Map({origin!r:.100}).grid")
        if (step is None) == (spacing is None):
            raise UsageError("a grid needs either step or spacing: Grid((0, 0, 0), spacing=1, n=(4, 4, 4)), say")
        self._c = ffi.new("ley_grid *")
        if step is None:
            steps = np.diag(doubles([spacing] * 3 if np.ndim(spacing) == 0 else spacing, "spacing", (3,)))
        else:
            if np.ndim(step) == 0 or np.shape(step) == (3,):
                raise InputError(f"step: three rows, (3, 3), are needed, not {step!r:.60}; of axes along x, y and z it is "
                                 f"spacing={step!r:.60}: Grid(origin, spacing=..., n=...)")
            steps = doubles(step, "step", (3, 3))
        self._c.origin_A = list(doubles(origin, "origin", (3,)))
        self._c.step_A = [list(row) for row in steps]
        self._c.n = counts_of(n)
        with Status() as status:
            status.check(lib.ley_grid_check(self._c, status.pointer))

    @classmethod
    def _of(cls, grid: Any) -> "Grid":
        """A copy of a ley_grid."""
        self = cls.__new__(cls)
        self._c = ffi.new("ley_grid *", grid[0])
        return self

    @classmethod
    def around(cls, atoms: Any, spacing: float = 0.5, padding: float = 10.0) -> "Grid":
        """Of equal spacing around all atoms, `padding` A or somewhat more beyond their centres.

        Its origin is a multiple of the spacing, so that meshes of one spacing share their points.
        """
        pointer, apart, beyond = places_of(atoms).pointer, number_of(spacing, "spacing"), number_of(padding, "padding")
        return cls._made(lambda made, error: lib.ley_grid_around(pointer, apart, beyond, made, error))

    @classmethod
    def chosen(cls, options: Any, atoms: Any, space: Any) -> "Grid":
        """What a ley_grid_options says, of atoms and of the Cell in which they have images."""
        return cls._made(lambda made, error: lib.ley_grid_choose(options, atoms.pointer, list(space.periodic),
                                                                    space.vectors.tolist(), made, error))

    @classmethod
    def _made(cls, make: Any) -> "Grid":
        self = cls.__new__(cls)
        self._c = ffi.new("ley_grid *")
        with Status() as status:
            status.check(make(self._c, status.pointer))
        return self

    @property
    def pointer(self) -> Any:
        """The ley_grid."""
        return self._c

    @property
    def origin(self) -> np.ndarray:
        """The first point, (3,), A."""
        return np.array([self._c.origin_A[i] for i in range(3)])

    @property
    def step(self) -> np.ndarray:
        """Rows that lead to the next point along each axis, (3, 3), A."""
        return np.array([[self._c.step_A[i][k] for k in range(3)] for i in range(3)])

    @property
    def spacing(self) -> np.ndarray:
        """Lengths of the steps, (3,), A."""
        lengths = np.empty(3)
        lib.ley_grid_spacing_A(self._c, pointer_to(lengths))
        return lengths

    @property
    def n(self) -> Tuple[int, int, int]:
        """Points along each axis: nx, ny, nz."""
        return self._c.n[0], self._c.n[1], self._c.n[2]

    @property
    def shape(self) -> Tuple[int, int, int]:
        """Of a map's values: (nz, ny, nx)."""
        return self.n[::-1]

    @property
    def size(self) -> int:
        """Number of points."""
        return lib.ley_grid_points(self._c)

    @property
    def is_orthogonal(self) -> bool:
        """Whether its axes are along +x, +y and +z, in this order."""
        return lib.ley_grid_is_orthogonal(self._c)

    def point(self, i: int, j: int, k: int) -> np.ndarray:
        """Where point (i, j, k) lies, (3,), A."""
        return self.origin + np.array([i, j, k], float) @ self.step

    def points(self) -> np.ndarray:
        """All points in the order of a map's values, (n, 3), A."""
        k, j, i = (a.ravel() for a in np.indices(self.shape, dtype=float))
        return self.origin + np.stack([i, j, k], axis=1) @ self.step

    def axis(self, axis: Union[int, str]) -> np.ndarray:
        """Coordinates of the planes along x, y or z of an orthogonal grid, A."""
        m = axis_number(axis)
        if not self.is_orthogonal:
            raise InputError("this grid is oblique: its planes have no coordinates along x, y and z")
        return self._c.origin_A[m] + np.arange(self._c.n[m]) * self._c.step_A[m][m]

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, Grid) and ffi.buffer(self._c)[:] == ffi.buffer(other._c)[:]

    def __hash__(self) -> int:
        return hash(ffi.buffer(self._c)[:])

    def __reduce__(self) -> Any:
        return type(self), (self.origin, self.step, self.n)

    def __repr__(self) -> str:
        steps = f"spacing={self.spacing.tolist()}" if self.is_orthogonal else f"step={self.step.tolist()}"
        return f"leyden.Grid(origin={self.origin.tolist()}, {steps}, n={self.n})"


def grid_of(grid: Any) -> Grid:
    """The argument, if it is one."""
    if not isinstance(grid, Grid):
        raise UsageError(f"grid: a leyden.Grid is needed, not {type(grid).__name__}")
    return grid


def counts_of(n: Any) -> List[int]:
    """Three whole numbers of 64 bits, of any type."""
    try:
        counts = [int(m) for m in n]
        if len(counts) == 3 and all(count == m and abs(count) < 2 ** 63 for count, m in zip(counts, n)):
            return counts
    except (TypeError, ValueError, OverflowError):
        pass
    raise InputError(f"n: three whole numbers are needed, not {n!r}")


def axis_number(axis: Union[int, str]) -> int:
    """0 to 2, of such a number or of x, y or z."""
    if axis in (0, 1, 2):
        return int(axis)
    if isinstance(axis, str) and axis in ("x", "y", "z"):
        return "xyz".index(axis)
    raise UsageError(f"an axis is x, y or z, not {axis!r}")
