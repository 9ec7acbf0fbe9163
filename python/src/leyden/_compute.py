"""leyden.map() and leyden.points()."""
from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, List, Literal, Mapping, Optional, Union

import numpy as np

from . import _task
from ._arrays import doubles, pointer_to
from ._atoms import Atoms, AtomsArgument, atoms_of, positions_of
from ._c import ffi, lib
from ._engine import Engine, EngineArgument, engine_of
from ._cell import Cell, Periodic
from ._errors import (CellWarning, Error, InputError, NoDeviceError, PointsWarning, Status, ToleranceWarning, UsageError,
                      switch_of)
from ._grid import Grid, grid_of
from ._maps import Map, Origin, Points, make_field, make_map
from ._options import PlanArgument, RunOptions, request_of, short_range_of
from ._parameters import TABLES, take, with_parameters
from ._progress import Progress, Watcher
from ._report import report_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import MapKeywords, PointsKeywords

Method = Literal["auto", "dcs", "msm", "cutoff"]
ProgressArgument = Union[None, bool, Callable[[Progress], None]]


def target_of(**pointer: Any) -> Any:
    """The library's ley_target: one of map, points, boundary."""
    return ffi.new("ley_target *", pointer)[0]


def run_job(token: _task.Token, create: Callable[[Any, Any], int]) -> Dict[str, Any]:
    """Creates a job, create(box, error), runs it and destroys it; its report. The engine is locked."""
    box = ffi.new("ley_job **")
    with Status() as status:
        status.check(create(box, status.pointer))
    job = box[0]
    try:
        token.attach(job)
        with Status() as status:
            code = lib.ley_job_run(job, status.pointer)
            try:
                status.check(code)
            except Error as error:
                error.report = report_of(lib.ley_job_report(job))  # type: ignore[attr-defined]
                raise
        return report_of(lib.ley_job_report(job))
    finally:
        token.attach(None)
        lib.ley_job_destroy(job)


def run_by_host(run: Callable[[], Dict[str, Any]], options: RunOptions) -> Optional[Dict[str, Any]]:
    """The report of a job by the host alone; None: a device is sooner, or has to say what is wrong."""
    try:
        return run()
    except Error as error:
        if options.is_for_host or hasattr(error, "report"):  # it is nobody else's, or began
            raise
        return None


@dataclass
class _Sum:
    """A sum that is to be made: of these atoms, in a map or at points."""

    atoms: Atoms
    method: str
    tolerance: float
    cell: Cell
    options: RunOptions
    keep: Any
    short_range: Any  # a ley_short_range, of "cutoff"; else None, and
    request: Any  # a ley_request
    map: Any = None  # is filled: this,
    field: Any = None  # three more for it, or None,
    points: Any = None  # or this

    @property
    def medium(self) -> Any:
        """A struct with the medium's fields."""
        return self.short_range if self.short_range is not None else self.request.potential

    def details(self, pair: str) -> List[str]:
        """Lines of a header."""
        kappa = f"kappa {self.medium.kappa_per_A:.15g} / A"
        lines = []
        if self.method == "cutoff":
            lines = [f"pair: {pair}, cutoff {self.short_range.cutoff_A:.15g} A" +
                     (f", {kappa}" if self.short_range.kappa_per_A > 0 else "")]
        elif self.request.potential.kappa_per_A > 0:
            lines = [kappa]
        return lines + ([self.cell.line] if self.cell.is_periodic else [])

    def check_memory(self, grid: Grid) -> None:
        """Before a map is made."""
        with Status() as status:
            if self.short_range is not None:
                status.check(lib.ley_short_range_check_memory(self.atoms.pointer, grid.pointer, self.short_range,
                                                              status.pointer))
            else:
                status.check(lib.ley_request_check_memory(self.request, self.atoms.pointer, grid.pointer,
                                                          status.pointer))

    def _run_once(self, token: _task.Token, pointer: Any) -> Dict[str, Any]:
        of, create = (self.request, lib.ley_job_create_chosen) if self.short_range is None else \
            (self.short_range, lib.ley_job_create_short_range)
        target = target_of(map=self.map) if self.points is None else target_of(points=self.points)
        return run_job(token, lambda box, error: create(pointer, self.atoms.pointer, target, of, self.options.c, box,
                                                        error))

    def run(self, token: _task.Token, engine: Optional[Engine]) -> Optional[Dict[str, Any]]:
        """The report of the sum; one that misses the tolerance has been made again by stricter plans.

        Without an engine, and where the host is asked for, by the host, or None.
        """
        if engine is None or self.options.is_for_host:
            return run_by_host(lambda: {**self._run_once(token, ffi.NULL), "missed_rms": []}, self.options)
        with token.holding(engine.lock):
            token.check()
            return self._run_once(token, engine.pointer)


def _space_of(atoms: Atoms, method: str, periodic: Any, cell: Any) -> Cell:
    """Images in the cell that is given, else in the one that the atoms carry; nothing is left aside in silence."""
    own = atoms.cell
    if method == "dcs" and own is not None and periodic is None and cell is None:
        warnings.warn("the atoms carry a cell, and method 'dcs' has no images: the sum is that of open space, as "
                      "periodic=False says without this warning; 'msm' sums all images", CellWarning, stacklevel=5)
        own = None
    space = Cell.of(periodic, cell, own)
    text = ffi.new("char[256]")
    if lib.ley_atoms_cell_remark(atoms.pointer, list(space.periodic), space.vectors.tolist(), text, 256):
        warnings.warn(ffi.string(text).decode(), CellWarning, stacklevel=5)
    return space


def _check_methods(method: str, given: Mapping[str, Any]) -> None:
    """Whether each of what is given is for the method."""
    for name, value in given.items():
        methods = next((rows[name].methods for rows in TABLES.values() if name in rows and rows[name].methods), ())
        if value is not None and methods and method not in methods:
            names = [repr(word) for word in methods]
            raise UsageError(f"{name} is for method{'s'[:len(names) - 1]} "
                             f"{', '.join(names[:-1])}{' and ' if names[1:] else ''}{names[-1]}")


def _sum_of(atoms: AtomsArgument, watcher: Watcher, method: str, pair: str, periodic: Any, cell: Any, plan: Any,
            given: Dict[str, Any]) -> _Sum:
    """What the arguments ask for, checked as far as no device is needed."""
    TABLES["ley_request"]["method"].checked(method)
    atoms = atoms_of(atoms, needs_radii=method == "cutoff")
    if not given.get("kappa"):
        given.pop("kappa", None)
    space = _space_of(atoms, method, periodic, cell)
    if method == "dcs" and (given.get("kappa") or space.is_periodic):
        raise UsageError("method 'dcs' has neither images nor screening: 'msm' and 'cutoff' do")
    _check_methods(method, given)
    excluded = [name for name in ("preset", "levels") if given.get(name) is not None]
    if given.get("tol") is not None and excluded:
        raise UsageError(f"{excluded[0]} needs tol=None: a tolerance chooses the meshes")
    options = RunOptions.of(given, plan, watcher.state)
    if method == "cutoff":
        short, keep = short_range_of(space, {**given, "pair": pair}, atoms)
        return _Sum(atoms, method, 0, space, options, keep, short, None)
    request, keep = request_of(method, space, given)
    return _Sum(atoms, method, request.tolerance, space, options, keep, None, request)


def _grid_for(atoms: Atoms, space: Cell, given: Mapping[str, Any]) -> Grid:
    """The cell itself where all space is periodic and nobody asks for another one, else around the atoms."""
    options = ffi.new("ley_grid_options *")
    lib.ley_grid_options_default(options)
    options.given = take(options, "ley_grid_options", given, [])
    if options.given == lib.LEY_GIVEN_N and not all(space.periodic):
        options.given |= lib.LEY_GIVEN_PADDING
    return Grid.chosen(options, atoms, space)


def _warn(report: Dict[str, Any], tolerance: float) -> None:
    accuracy = report["accuracy"]
    if tolerance > 0 and accuracy is not None and report["tolerance_share"] > 1:
        warnings.warn(f"the values are off by {accuracy['relative_rms']:.2g} of their root mean square, and tol is "
                      f"{tolerance:g}", ToleranceWarning, stacklevel=4)


def _points_pointer(create: Callable[[Any, Any], int], field: bool) -> Any:
    box = ffi.new("ley_points **")
    with Status() as status:
        status.check(create(box, status.pointer))
        pointer = ffi.gc(box[0], lib.ley_points_destroy)
        if field:
            status.check(lib.ley_points_add_field(pointer, status.pointer))
    return pointer


def _whole(values: Any, what: str) -> np.ndarray:
    array = np.asarray(values)
    if array.size == 0:
        array = array.astype(np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise UsageError(f"{what}: whole numbers are needed, in one row, not {values!r:.60}")
    return np.ascontiguousarray(array, np.int64)


def _excluded_of(entry: Any, what: str) -> np.ndarray:
    """A point's: a number or a sequence of them; none for None or a number below 0."""
    if entry is None:
        return np.zeros(0, np.int64)
    row = _whole(np.atleast_1d(entry), what)
    return row[row >= 0] if np.ndim(entry) == 0 else row


def _exclude_lists(points: Any, exclude: Any) -> None:
    """For each point what `_excluded_of()` takes."""
    count = lib.ley_points_count(points)
    if not isinstance(exclude, Iterable):
        raise UsageError(f"exclude: 'self', 'residue' or a list for each point is needed, not {exclude!r:.60}")
    lists = list(exclude)
    if len(lists) != count:
        raise UsageError(f"exclude: {len(lists)} lists of atoms for {count} points")
    rows = [_excluded_of(entry, f"exclude[{i}]") for i, entry in enumerate(lists)]
    first = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    atoms = np.concatenate(rows + [np.zeros(1, np.int64)])
    with Status() as status:
        status.check(lib.ley_points_exclude(points, ffi.from_buffer("int64_t[]", first),
                                            ffi.from_buffer("int64_t[]", atoms), status.pointer))


def _exclude(wanted: _Sum, exclude: Any) -> None:
    """Tells the points which atoms do not count there, and the caller of charges that do."""
    periodic, vectors = ffi.new("bool[3]", list(wanted.cell.periodic)), \
        ffi.new("double[3][3]", wanted.cell.vectors.tolist())
    if isinstance(exclude, str):
        if exclude not in ("self", "residue"):
            raise UsageError(f"exclude: {exclude!r} is neither 'self' nor 'residue', nor a list for each point")
        if exclude == "residue" and wanted.atoms.residues is None:
            raise UsageError("exclude: 'residue' needs atoms with residues, as Atoms.read() of PQR files, "
                             "Atoms.from_mdanalysis() and from_arrays(..., residues=) make them")
        residues = None if exclude == "self" else np.array(wanted.atoms.residues)
        with Status() as status:
            status.check(lib.ley_points_exclude_own(
                wanted.points, wanted.atoms.pointer, ffi.NULL if residues is None else
                ffi.from_buffer("int64_t[]", residues), periodic, vectors, status.pointer))
    elif exclude is not None:
        _exclude_lists(wanted.points, exclude)
    count, point, atom = (ffi.new("int64_t *") for _ in range(3))
    with Status() as status:
        status.check(lib.ley_points_on_charges(wanted.points, wanted.atoms.pointer, periodic, vectors, count, point,
                                               atom, status.pointer))
    if count[0] > 0:
        warnings.warn(f"{count[0]} of the points are within {lib.LEY_OWN_A:g} A of charges, whose own potential "
                      f"dominates there; the first one is points[{point[0]}], beside atom {atom[0]} (counted from 0): "
                      "exclude='self' leaves such charges out", PointsWarning, stacklevel=4)


def call_by(work: Callable[[_task.Token, Optional[Engine]], Any], engine: Optional[Engine], watcher: Watcher) -> Any:
    """What work(token, engine) returns. Where nobody named an engine the host is asked first, with None, and devices
    are opened where it returns None."""
    try:
        result = _task.call(lambda token: work(token, None), watcher.tick) if engine is None else None
        if result is None:
            try:
                opened = engine_of(engine)
            except NoDeviceError:  # where there is none, the host takes what it would have left
                result = _task.call(lambda token: work(token, None), watcher.tick) if engine is None else None
                if result is None:
                    raise
        if result is None:
            result = _task.call(lambda token: work(token, opened), watcher.tick)
        if watcher.told is not None:
            watcher.tell()
        return result
    finally:
        watcher.close()


@with_parameters("ley_request", "ley_grid_options", "ley_direct", "ley_long_range", "ley_short_range",
                 "ley_run_options", former={"lattice": "grid", "n": "dims"}, elsewhere=dict.fromkeys(
                     ("points", "xyz", "positions", "exclude"), "at points it is leyden.points(atoms, points)"))
def map(atoms: AtomsArgument, grid: Union[Grid, Map, None] = None, *, method: Method = "auto", pair: str = "taylor2",
        constants: Optional[Mapping[str, float]] = None, well_depth: Any = None, periodic: Periodic = None,
        cell: Any = None, plan: PlanArgument = None, engine: EngineArgument = None, progress: ProgressArgument = None,
        field: bool = False, **given: Unpack[MapKeywords]) -> Map:
    """The electrostatic potential of charges on a grid.

    phi(r) = C sum_j q_j / max(|r - r_j|, r_min), C = e / (4 pi eps0 dielectric), in `units`.

    Args:
        atoms: the charges: Atoms, or what `Atoms()` takes, as "protein.pqr", a Universe or an AtomGroup.
        grid: where the points lie; or a Map, whose grid is taken. None: as `spacing`, `dims` and
            `padding` say, around the atoms; of a box that is periodic along all axes the box itself.
        method: "dcs", direct summation, every atom at every point; "msm", the same by meshes, in
            time linear in the atoms; "auto", whichever of these reaches `tol` sooner; "cutoff", a sum
            of any pair function within a cutoff. Where no plan reaches `tol` the nearest map comes
            with a ToleranceWarning; docs/long-range.md has what the tolerance is a share of.
        pair: of "cutoff": "coulomb", "shifted", "taylor2", "yukawa", "lennard-jones", ..., or an
            expression of r, r2 and q, such as "q*exp(-r/8)/r", with `constants`, named numbers.
        well_depth: of pair functions that are energies, kcal/mol: one number or (n,).
        cell, periodic: images of the atoms: in which cell, also `box`, three lengths (A), three lengths and three
            angles (degrees), or three vectors, (3, 3); None: the one that the atoms carry, if any. And
            along which of its vectors: some of the letters "xyz", or three switches; True, and None
            where there is a cell: along all that have a length; False: open space. A cell that looks
            too small for the atoms, as one in nm, is a CellWarning, and so is one that the atoms
            carry where "dcs" is asked for, which has no images.
        plan: decide as a former job did, by its `report`, or by the file that the command's --json
            wrote: the same bytes.
        engine: where to compute, also `device`: an Engine, or what names devices, "cuda:0" or "gpu" say, which are
            opened once per process. None: the fastest device; or the host alone, in double
            precision, where a small sum is done sooner so: `report["host"]` says how, no driver is loaded for it,
            and "msm" is then the sum of all pairs and images itself, unless arguments say what meshes are. "host":
            the host alone in any case; UsageError for what only devices do.
        progress: True for a bar (tqdm's, if it is installed), or a callable that is given a Progress
            now and then in the caller's thread. What it raises cancels the job.
        field: the electric field, too, E = -grad phi: `Map.field`. `tol` is that of the potential; the
            report has the field's measured error, "field_accuracy".
        {parameters}

    What is None is not given. Maps that are cut into slabs in another way may differ in last
    digits: with `slab` 1 they are always cut in the same way.

    Ctrl-C cancels the job and raises KeyboardInterrupt. Other threads run meanwhile.

    Errors: UsageError, InputError, NoDeviceError, DeviceError (`log`: a kernel's build log),
    OutOfMemoryError, WrongResult where the verification fails.
    """
    watcher, field = Watcher(progress), switch_of(field, "field")
    given.update(constants=constants, well_depth=well_depth)
    wanted = _sum_of(atoms, watcher, method, pair, periodic, cell, plan, given)
    of_grid = [name for name in TABLES["ley_grid_options"] if given.get(name) is not None]
    if grid is not None and of_grid:
        raise UsageError(f"grid says where the points are: {of_grid[0]} is for jobs without it")
    where = _grid_for(wanted.atoms, wanted.cell, given) if grid is None else \
        grid.grid if isinstance(grid, Map) else grid_of(grid)
    medium = wanted.medium
    origin = Origin(wanted.atoms, medium.dielectric, medium.temperature_K, medium.r_min_A, wanted.tolerance,
                    given.get("math") or "auto", wanted.cell, tuple(wanted.details(pair)))

    def work(token: _task.Token, opened: Optional[Engine]) -> Optional[Map]:
        if wanted.map is None:
            wanted.check_memory(where)
            wanted.map = make_map(where)
            wanted.field = make_field(wanted.map, where) if field else None
        report = wanted.run(token, opened)
        if report is None:
            return None
        pointers = [wanted.map, *(wanted.field or ())]
        made, *components = [Map._of(pointer, report, origin) for pointer in pointers]
        made.field = tuple(components) or None
        made.keep_field(pointers[1:])
        return made

    made = call_by(work, wanted.options.take_engine(engine), watcher)
    _warn(made.report, wanted.tolerance)
    return made


@with_parameters("ley_request", "ley_direct", "ley_long_range", "ley_short_range", "ley_run_options",
                 without=("slab", "binning", "transposition"))
def points(atoms: AtomsArgument, xyz: Any, *, method: Method = "auto", pair: str = "taylor2",
           constants: Optional[Mapping[str, float]] = None, well_depth: Any = None, periodic: Periodic = None,
           cell: Any = None, plan: PlanArgument = None, engine: EngineArgument = None, progress: ProgressArgument = None,
           field: bool = False, exclude: Any = None, **given: Unpack[PointsKeywords]) -> Points:
    """Potentials at points anywhere, xyz, (n, 3), A, or (3,) for one, or the positions of an AtomGroup or of Atoms; with `field` the electric field there, too.

    phi_i = C sum over all j and images of q_j / max(r, r_min), minus the terms of the atoms that
    point i excludes, each at the distance of its nearest image. Other images of these count.

    Args:
        exclude: "self": the atoms within 0.01 A of a point; "residue": these and all of their
            residues, `atoms.residues`; or for each point the numbers, from 0, of the atoms it excludes: (n,) whole
            numbers, of which None or a negative one is none, or n sequences of them. None: every atom
            counts, and points within 0.01 A of charges are a PointsWarning, as the charge's own
            potential, C q / r_min, hides all others there.

    Methods, the other arguments and errors are those of `map()`; `tol` is relative to the
    potentials' root mean square at these points.
    """
    watcher, field = Watcher(progress), switch_of(field, "field")
    given.update(constants=constants, well_depth=well_depth)
    wanted = _sum_of(atoms, watcher, method, pair, periodic, cell, plan, given)
    xyz = positions_of(xyz, "xyz")
    wanted.points = _points_pointer(
        lambda box, error: lib.ley_points_create(len(xyz), pointer_to(xyz), box, error), field)
    _exclude(wanted, exclude)
    report = call_by(wanted.run, wanted.options.take_engine(engine), watcher)
    _warn(report, wanted.tolerance)
    return Points(wanted.points, report)
