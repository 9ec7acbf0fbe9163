"""leyden.Plan: one map, computed again and again."""
from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any, Dict, Iterable, Literal, Optional, Union

import numpy as np

from . import _task
from ._arrays import doubles, pointer_to
from ._atoms import AtomsArgument, cell_of_frame, positions_in
from ._c import ffi, lib
from ._cell import Cell, Periodic, cell_of_box, cell_vectors
from ._compute import _grid_for, _sum_of, target_of
from ._engine import Engine, EngineArgument, engine_of
from ._errors import Status, UsageError, switch_of
from ._grid import Grid, grid_of
from ._guesses import Guessed
from ._maps import Map, Origin, make_field, make_map
from ._options import PlanArgument
from ._parameters import TABLES, with_parameters
from ._progress import Watcher
from ._report import report_of
from ._statistics import Kept, Statistics

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import PlanKeywords

_SHORT_S = 0.05  # a run that takes no longer may keep Ctrl-C waiting


class Plan(Guessed):
    """A map that is computed for one set of positions after the other, as of a trajectory.

    Kernels, meshes, influence functions and buffers stay on the device between runs, so that a run
    takes what its kernels do: some hundred of a hundred thousand atoms a second on a GPU.

    >>> plan = leyden.Plan(atoms, dims=(108, 108, 108), tol=1e-4)
    >>> for frame in universe.trajectory:
    ...     potential = plan.run(universe).values

    It is closed at the end of a `with` block, or by `close()`.
    """

    @with_parameters("ley_request", "ley_grid_options", "ley_direct", "ley_long_range", "ley_run_options",
                     without=("slab",), former={"n": "dims"}, elsewhere=dict.fromkeys(
                         ("points", "xyz", "positions", "exclude"), "plans are of maps; at points it is "
                         "leyden.points(universe, points) in the loop over frames"))
    def __init__(self, atoms: AtomsArgument, grid: Union[Grid, Map, None] = None, *, method: Literal["auto", "msm", "dcs"] = "auto", periodic: Periodic = None,
                 cell: Any = None, field: bool = False, keep: Iterable[Kept] = (), plan: PlanArgument = None,
                 engine: EngineArgument = None, **given: Unpack[PlanKeywords]) -> None:
        """Prepares nothing yet: the first run does.

        `Plan.map` is the map that runs fill, and `Plan.statistics` what is kept of all of them, or None.

        Args:
            atoms: the charges, as `leyden.map()` takes them; positions of the first run, unless it is given others.
            grid: where the points lie, as `leyden.map()` takes it, or `spacing`, `padding` and `dims`.
            method: "auto", "msm" or "dcs".
            cell, periodic, field, plan: as of `leyden.map()`.
            keep: which of "mean", "variance", "minimum" and "planes" of all runs are kept in
                `statistics`.
            engine: an Engine, or what names its devices; None: the fastest device. "host": the host alone, in
                double precision, which opens none.
        {parameters}

        `verify`: of the runs that find everything prepared 256 points of every 100 runs together
        are recomputed on the host, beside the runs that follow; 0: none.
        """
        if method == "cutoff":
            raise UsageError("method: plans are of 'auto', 'msm' and 'dcs'")
        self._pointer, field = ffi.NULL, switch_of(field, "field")
        wanted = _sum_of(atoms, Watcher(None), method, "taylor2", periodic, cell, plan, given)
        of_grid = [name for name in TABLES["ley_grid_options"] if given.get(name) is not None]
        if grid is not None and of_grid:
            raise UsageError(f"grid says where the points are: {of_grid[0]} is for plans without it")
        where = _grid_for(wanted.atoms, wanted.cell, given) if grid is None else \
            grid.grid if isinstance(grid, Map) else grid_of(grid)
        self._is_of_frames = cell is None and wanted.cell.is_periodic
        self._wanted, self._n = wanted, len(wanted.atoms)
        chosen, is_for_host = wanted.options.take_engine(engine), wanted.options.is_for_host
        self._engine: Optional[Engine] = None if is_for_host else engine_of(chosen)
        self._lock = threading.Lock() if self._engine is None else self._engine.lock
        wanted.options.c.by_host = is_for_host
        wanted.check_memory(where)
        self._map = make_map(where)
        self._field = make_field(self._map, where) if field else []
        target = target_of(map=self._map)
        self.statistics: Union[Statistics, Any] = None
        if keep:
            self.statistics = Statistics(ffi.addressof(target), keep, where.shape)
            target.statistics = self.statistics.pointer
        self._last_s = np.inf
        box = ffi.new("ley_plan **")
        with self._lock, Status() as status:
            status.check(lib.ley_plan_create(ffi.NULL if self._engine is None else self._engine.pointer, wanted.atoms.pointer,
                                             target, wanted.request, wanted.options.c, box, status.pointer))
        self._pointer = box[0]
        if self._engine is not None:
            self._engine.plans.add(self)
        medium = wanted.medium
        origin = Origin(wanted.atoms, medium.dielectric, medium.temperature_K, medium.r_min_A, wanted.tolerance,
                        given.get("math") or "auto", wanted.cell, tuple(wanted.details("taylor2")))
        self.map, *components = [Map._of(pointer, None, origin) for pointer in [self._map, *self._field]]
        self.map.field = tuple(components) or None
        self.map.keep_field(self._field)

    def run(self, positions: Any = None, charges: Any = None, cell: Any = None) -> Map:
        """The map of these positions, (n, 3), A, and charges, (n,), e; None: as they are.

        `positions`: also a Universe, an AtomGroup or Atoms; of the first two the cell of their frame is taken as
        well, where the plan's is that of its atoms.
        `cell`: where this changes, as `leyden.map()` takes it, or the dimensions of a frame of
        MDAnalysis; a map of the whole cell then stays at
        the same fractions of it. The map is the plan's, `Plan.map`: the next run fills it anew.

        Errors: as `leyden.map()`; WrongResult also where an earlier run, which is named, was found
        to be wrong: the plan may go on.
        """
        self._check_open()
        if cell is None and self._is_of_frames:
            cell = cell_of_frame(getattr(positions, "atoms", None))
        xyz = ffi.NULL if positions is None else doubles(positions_in(positions), "positions", (self._n, 3))
        e = ffi.NULL if charges is None else doubles(charges, "charges", (self._n,))
        box = cell_of_box(cell) if np.shape(cell) == (6,) else None if cell is None else cell_vectors(cell)
        vectors = ffi.NULL if box is None else ffi.new("double[3][3]", box.tolist())
        start_s = time.monotonic()

        def work(token: Optional[_task.Token]) -> None:
            with self._lock, Status() as status:
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
        if box is not None:
            for made in (self.map, *(self.map.field or ())):
                made._origin = made._origin._replace(cell=Cell(self._wanted.cell.periodic, box))
        return self.map

    @property
    def report(self) -> Union[Dict[str, Any], Any]:
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
            with self._lock:
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
