"""leyden.Plan: one map, computed again and again."""
from __future__ import annotations

import inspect
import time
from typing import Any, Dict, Optional

import numpy as np

from . import _task
from ._arrays import doubles, pointer_to
from ._atoms import Atoms
from ._c import ffi, lib
from ._cell import cell_of_box, cell_vectors
from ._compute import _grid_for, _sum_of, map as _map
from ._engine import Engine, engine_or_default
from ._errors import Status, UsageError
from ._grid import Grid, grid_of
from ._maps import Map, Origin, make_map
from ._progress import Watcher
from ._report import report_of

_SHORT_S = 0.05  # a run that takes no longer may keep Ctrl-C waiting
_GRID_ARGUMENTS = ("spacing", "padding", "n")
_OTHERS = ("slab_planes", "engine", "progress", "field", "former")
_DEFAULTS = {name: parameter.default for name, parameter in inspect.signature(_map).parameters.items()
             if parameter.kind is parameter.KEYWORD_ONLY and name not in _OTHERS}


class Plan:
    """A map that is computed for one set of positions after the other, as of a trajectory.

    Kernels, meshes, influence functions and buffers stay on the device between runs, so that a run
    takes what its kernels do: some hundred of a hundred thousand atoms a second on a GPU.

    >>> plan = leyden.Plan(atoms, n=(108, 108, 108), tol=1e-4)
    >>> for frame in universe.trajectory:
    ...     total += plan.run(universe.atoms.positions).values

    Args:
        atoms: the charges; positions of the first run, unless it is given others.
        grid: where the points lie, as `leyden.map()` takes it, or `spacing`, `padding` and `n`.
        engine: an Engine, or what names its devices; None: the fastest device.
        arguments: methods "auto", "msm" and "dcs", and the other arguments of `leyden.map()`, but
            `progress`, `slab_planes` and `field`. `verify`: of the runs that find everything
            prepared 256 points of every 100 runs together are recomputed on the host, beside the
            runs that follow; 0: none.

    It is closed at the end of a `with` block, or by `close()`.
    """

    def __init__(self, atoms: Atoms, grid: Any = None, *, engine: Any = None, **arguments: Any) -> None:
        unknown = sorted(set(arguments) - set(_DEFAULTS))
        if unknown:
            raise UsageError(f"leyden.Plan has no argument {unknown[0]!r}")
        given = {**_DEFAULTS, **arguments}
        where_arguments = {name: given.pop(name) for name in _GRID_ARGUMENTS}
        if given["method"] == "cutoff":
            raise UsageError("method: plans are of 'auto', 'msm' and 'dcs'")
        self._pointer = ffi.NULL
        wanted = _sum_of(atoms, Watcher(None), **given)
        if grid is not None and any(value is not None for value in where_arguments.values()):
            raise UsageError("grid says where the points are: spacing, padding and n are for plans without it")
        where = _grid_for(atoms, wanted.cell, **where_arguments) if grid is None else \
            grid.grid if isinstance(grid, Map) else grid_of(grid)
        self._wanted, self._n = wanted, len(atoms)
        self._engine: Engine = engine_or_default(wanted.options.take_engine(engine))
        wanted.check_memory(where)
        self._map = make_map(where)
        self._last_s = np.inf
        box = ffi.new("ley_plan **")
        with self._engine.lock, Status() as status:
            status.check(lib.ley_plan_create(self._engine.pointer, atoms.pointer, self._map, ffi.NULL, wanted.request,
                                             wanted.options.c, box, status.pointer))
        self._pointer = box[0]
        self._engine.plans.add(self)
        self.map = Map(self._map, None, Origin(atoms, wanted.medium.dielectric, wanted.medium.temperature,
                                               wanted.medium.r_min, wanted.tolerance, given["math"],
                                               tuple(wanted.details(given["pair"]))))

    def run(self, positions: Any = None, charges: Any = None, cell: Any = None) -> Map:
        """The map of these positions, (n, 3), A, and charges, (n,), e; None: as they are.

        `cell`: where this changes, as `leyden.map()` takes it, or the dimensions of a frame of
        MDAnalysis; a map of the whole cell then stays at
        the same fractions of it. The map is the plan's, `Plan.map`: the next run fills it anew.

        Errors: as `leyden.map()`; WrongResult also where an earlier run, which is named, was found
        to be wrong: the plan may go on.
        """
        self._check_open()
        xyz = ffi.NULL if positions is None else doubles(positions, "positions", (self._n, 3))
        e = ffi.NULL if charges is None else doubles(charges, "charges", (self._n,))
        box = cell_of_box(cell) if np.shape(cell) == (6,) else None if cell is None else cell_vectors(cell)
        vectors = ffi.NULL if box is None else ffi.new("double[3][3]", box.tolist())
        start_s = time.monotonic()

        def work(token: Optional[_task.Token]) -> None:
            with self._engine.lock, Status() as status:
                status.check(lib.ley_plan_update(self._pointer, xyz if positions is None else pointer_to(xyz),
                                                 e if charges is None else pointer_to(e), vectors, status.pointer))
                status.check(lib.ley_plan_run(self._pointer, status.pointer))

        if self._last_s < _SHORT_S:
            work(None)
        else:
            try:
                _task.call(work)
            except KeyboardInterrupt:
                lib.ley_plan_cancel(self._pointer)
                raise
        self._last_s = time.monotonic() - start_s
        return self.map

    @property
    def report(self) -> Optional[Dict[str, Any]]:
        """How the last run was made; its accuracy is that of the last one that was prepared anew."""
        self._check_open()
        report = lib.ley_plan_report(self._pointer)
        return None if report == ffi.NULL else report_of(report)

    def totals(self) -> Dict[str, Any]:
        """What all runs so far have been, once verifications that are under way have ended: how many
        there were, how many of them were prepared anew, how many verified and by how many points,
        the largest error and the relative root mean square of these, and which have missed it.

        Errors: WrongResult, as `run()`.
        """
        self._check_open()
        totals = ffi.new("ley_plan_totals *")
        with Status() as status:
            status.check(lib.ley_plan_finish(self._pointer, totals, status.pointer))
        return {name: getattr(totals, name) for name, _ in ffi.typeof("ley_plan_totals").fields}

    def close(self) -> None:
        """Frees what the plan has on devices. Its map stays."""
        if self._pointer != ffi.NULL:
            with self._engine.lock:
                lib.ley_plan_destroy(self._pointer)
        self._pointer = ffi.NULL

    def __enter__(self) -> "Plan":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_pointer", ffi.NULL) != ffi.NULL:
            self.close()

    def _check_open(self) -> None:
        if self._pointer == ffi.NULL:
            raise UsageError("the plan is closed")
