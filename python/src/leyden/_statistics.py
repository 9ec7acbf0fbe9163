"""leyden.Statistics: what the values of a map have been over the runs of a plan."""
from __future__ import annotations

from typing import Any, Iterable, List, Literal, NamedTuple, Tuple

import numpy as np

from ._c import ffi, lib
from ._errors import Status, UsageError

KINDS = {"mean": lib.LEY_KEEP_MEAN, "variance": lib.LEY_KEEP_VARIANCE, "minimum": lib.LEY_KEEP_MINIMUM,
         "planes": lib.LEY_KEEP_PLANES}


Kept = Literal["mean", "variance", "minimum", "planes"]


class Minimum(NamedTuple):
    """The smallest value so far."""

    value: float
    index: Tuple[int, int, int]  # of Map.values: z, y, x
    run: int  # from 1


class Statistics:
    """What the values of a plan's map have been over its runs: `Plan.statistics`.

    With v_i(t) the value at point i in run t of T, each in double precision: the mean
    m_i = 1/T sum_t v_i(t); the variance 1/(T - 1) sum_t (v_i(t) - m_i)^2; the smallest v_i(t); and
    the means of the planes of points across an axis. `component`: 0 is the potential; 1, 2 and 3
    are the field along x, y and z, where the plan has one. What is not kept is a UsageError.
    """

    def __init__(self, target: Any, kinds: Iterable[str], shape: Tuple[int, ...]) -> None:
        if not isinstance(kinds, Iterable):
            raise UsageError(f"keep: some of {', '.join(map(repr, KINDS))} are needed, not {kinds!r:.60}")
        self._kinds: List[str] = [kinds] if isinstance(kinds, str) else list(kinds)
        unknown = [kind for kind in self._kinds if kind not in KINDS]
        if unknown:
            raise UsageError(f"keep: {unknown[0]!r} is none of {', '.join(map(repr, KINDS))}")
        box = ffi.new("ley_statistics **")
        with Status() as status:
            status.check(lib.ley_statistics_create(target, sum({KINDS[kind] for kind in self._kinds}), box,
                                                   status.pointer))
        self.pointer = ffi.gc(box[0], lib.ley_statistics_destroy)
        self._shape = shape

    @property
    def runs(self) -> int:
        """T: how many runs there were."""
        return int(lib.ley_statistics_runs(self.pointer))

    def reset(self) -> None:
        """Begins anew, as if there had been no run."""
        lib.ley_statistics_reset(self.pointer)

    def mean(self, component: int = 0) -> np.ndarray:
        """Of each point, float64, (nz, ny, nx)."""
        return self._copy(lib.ley_statistics_mean(self.pointer, self._component(component)), "mean", self._shape)

    def variance(self, component: int = 0) -> np.ndarray:
        """Of each point, float64, (nz, ny, nx); not-a-numbers before the second run."""
        return self._copy(lib.ley_statistics_variance(self.pointer, self._component(component)), "variance", self._shape)

    def planes(self, axis: str = "z", component: int = 0) -> np.ndarray:
        """The mean of each plane across the grid's axis "x", "y" or "z", float64: a profile along it."""
        if axis not in ("x", "y", "z"):
            raise UsageError(f"axis: {axis!r} is none of 'x', 'y', 'z'")
        number = "xyz".index(axis)
        return self._copy(lib.ley_statistics_planes(self.pointer, self._component(component), number), "planes",
                          (self._shape[2 - number],))

    @property
    def minimum(self) -> Minimum:
        """The smallest potential, where and in which run it was."""
        value, point, run = ffi.new("double *"), ffi.new("int64_t *"), ffi.new("int64_t *")
        if not lib.ley_statistics_minimum(self.pointer, value, point, run):
            raise UsageError(f"minimum: {'there was no run' if 'minimum' in self._kinds else 'it is not kept'}")
        index = np.unravel_index(point[0], self._shape)
        return Minimum(value[0], (int(index[0]), int(index[1]), int(index[2])), run[0])

    @staticmethod
    def _component(component: Any) -> int:
        if isinstance(component, bool) or not isinstance(component, (int, np.integer)):
            raise UsageError(f"component: {component!r} is none of 0 (the potential), 1, 2, 3 (the field along x, y, z)")
        return int(component)

    def _copy(self, pointer: Any, kind: str, shape: Tuple[int, ...]) -> np.ndarray:
        if pointer == ffi.NULL:
            raise UsageError(f"{kind}: it is not kept, or there is no such component")
        values = ffi.buffer(pointer, 8 * int(np.prod(shape)))
        return np.frombuffer(values, dtype=np.float64).reshape(shape).copy()
