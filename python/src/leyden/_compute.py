"""leyden.map() and leyden.points()."""
from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from . import _task
from ._arrays import doubles, pointer_to
from ._atoms import Atoms
from ._c import ffi, lib
from ._engine import Engine, EngineArgument, engine_or_default
from ._cell import Cell, Periodic
from ._errors import CellWarning, Error, InputError, NoDeviceError, PointsWarning, Status, ToleranceWarning, UsageError
from ._grid import Grid, counts_of as _counts, grid_of
from ._maps import Map, Origin, Points, make_map, own_map
from ._options import (Medium, PlanArgument, RunOptions, former_names, former_solver, request_of, short_range_of,
                       units_of)
from ._progress import Progress, Watcher
from ._report import report_of

METHODS = ("auto", "dcs", "msm", "cutoff")

ProgressArgument = Union[None, bool, Callable[[Progress], None]]


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


@dataclass
class _Sum:
    """A sum that is to be made: of these atoms, in a map or at points."""

    atoms: Atoms
    method: str
    tolerance: float
    medium: Medium
    cell: Cell
    options: RunOptions
    keep: Any
    short_range: Any  # a ley_short_range, of "cutoff"; else None, and
    request: Any  # a ley_request
    map: Any = None  # is filled: this,
    points: Any = None  # or this

    def details(self, pair: str) -> List[str]:
        """Lines of a header."""
        kappa = f"kappa {(self.short_range or self.request.potential).kappa_per_A:.15g} / A"
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
        of = self.short_range if self.short_range is not None else self.request
        create = {
            (False, False): lib.ley_job_create_chosen,
            (False, True): lib.ley_job_create_chosen_points,
            (True, False): lib.ley_job_create_short_range,
            (True, True): lib.ley_job_create_short_range_points,
        }[self.short_range is not None, self.points is not None]
        filled = self.map if self.points is None else self.points
        return run_job(token, lambda box, error: create(pointer, self.atoms.pointer, filled, of, self.options.c, box,
                                                        error))

    def _run_by_host(self, token: _task.Token) -> Optional[Dict[str, Any]]:
        """The report of the sum by the host alone; None: a device is sooner, or has to say what is wrong."""
        try:
            return {**self._run_once(token, ffi.NULL), "missed_rms": []}
        except Error as error:
            if self.options.is_for_host or hasattr(error, "report"):  # it is nobody else's, or began
                raise
            return None

    def run(self, token: _task.Token, engine: Optional[Engine]) -> Optional[Dict[str, Any]]:
        """The report of the sum; one that misses the tolerance has been made again by stricter plans.

        Without an engine, and where the host is asked for, by the host, or None.
        """
        if engine is None or self.options.is_for_host:
            return self._run_by_host(token)
        token.acquire(engine.lock)
        try:
            token.check()
            return self._run_once(token, engine.pointer)
        finally:
            engine.lock.release()


def _space_of(atoms: Atoms, method: str, periodic: Any, cell: Any) -> Cell:
    """Images in the cell that is given, else in the one that the atoms carry; nothing is left aside in silence."""
    own = atoms.cell
    if method == "dcs" and own is not None and periodic is None and cell is None:
        warnings.warn("the atoms carry a cell, and method 'dcs' has no images: the sum is that of open space, as "
                      "periodic=False says without this warning; 'msm' sums all images", CellWarning, stacklevel=4)
        own = None
    space = Cell.of(periodic, cell, own)
    text = ffi.new("char[256]")
    if lib.ley_atoms_cell_remark(atoms.pointer, list(space.periodic), space.vectors.tolist(), text, 256):
        warnings.warn(ffi.string(text).decode(), CellWarning, stacklevel=4)
    return space


def _sum_of(atoms: Atoms, watcher: Watcher, *, method: str, tol: Optional[float], cutoff: Optional[float], pair: str,
            constants: Any, probe: Any, well_depth: Any, steepness: Optional[float], units: str, dielectric: float,
            temperature: float, r_min: float, periodic: Any, cell: Any, kappa: Optional[float], sum: Optional[str],
            math: str, variant: Optional[str], verify: Optional[int], seed: Optional[int], plan: Any,
            mesh_spacing: Optional[float], splitting: Optional[str], window: Optional[str],
            solver: Optional[str], preset: Optional[str], levels: Optional[int], fft: Optional[str]) -> _Sum:
    """What the arguments ask for, checked as far as no device is needed."""
    if not isinstance(atoms, Atoms):
        raise UsageError(f"atoms: leyden.Atoms are needed, not {type(atoms).__name__}")
    if method not in METHODS:
        raise UsageError(f"method: {method!r} is none of {', '.join(METHODS)}")
    meshes = {"mesh_spacing": mesh_spacing, "splitting": splitting, "window": window, "solver": solver,
                "preset": preset, "levels": levels, "fft": fft}
    for name, value in meshes.items():
        if value is not None and method != "msm":
            raise UsageError(f"{name} is for method 'msm'")
    of_pairs = {"constants": constants, "probe": probe, "well_depth": well_depth, "steepness": steepness}
    for name, value in of_pairs.items():
        if value is not None and method != "cutoff":
            raise UsageError(f"{name} is for method 'cutoff'")
    if cutoff is not None and method not in ("cutoff", "msm"):
        raise UsageError("cutoff needs method 'cutoff' or 'msm': the one sums no further, the other leaves the rest to "
                         "meshes")
    space = _space_of(atoms, method, periodic, cell)
    if method == "dcs" and (kappa or space.is_periodic):
        raise UsageError("method 'dcs' has neither images nor screening: 'msm' and 'cutoff' do")
    if tol is not None and method not in ("auto", "msm"):
        raise UsageError("tol is for methods 'auto' and 'msm'")
    if tol is not None and not lib.LEY_LEAST_TOLERANCE <= tol <= lib.LEY_MOST_TOLERANCE:
        raise UsageError(f"tol: {tol!r} is not within {lib.LEY_LEAST_TOLERANCE:g} and {lib.LEY_MOST_TOLERANCE:g}")
    if tol is not None and (preset is not None or levels is not None):
        raise UsageError(f"{'levels' if preset is None else 'preset'} needs tol=None: a tolerance chooses the meshes")
    tolerance = float(tol) if tol is not None else lib.LEY_USUAL_TOLERANCE if method == "auto" else 0.0
    medium = Medium(units_of(units), dielectric, temperature, r_min)
    options = RunOptions.of(verify, seed, sum, math, variant, plan, watcher.state)
    short, keep, request = None, None, None
    if method == "cutoff":
        short, keep = short_range_of(medium, space, pair, cutoff, kappa, constants, probe, well_depth, steepness, atoms)
    else:
        request, keep = request_of(method, tolerance, medium, space, kappa, cutoff, mesh_spacing, splitting, window,
                                   solver, preset, levels, fft, sum is not None)
    return _Sum(atoms, method, tolerance, medium, space, options, keep, short, request)


def _grid_for(atoms: Atoms, space: Cell, spacing: Optional[float], padding: Optional[float],
                 n: Optional[Sequence[int]]) -> Grid:
    """The cell itself where all space is periodic and nobody asks for another one, else around the atoms."""
    options = ffi.new("ley_grid_options *")
    lib.ley_grid_options_default(options)
    if spacing is not None:
        options.spacing_A = [spacing] * 3
        options.given |= lib.LEY_GIVEN_SPACING
    if n is not None:
        options.n = _counts(n)
        options.given |= lib.LEY_GIVEN_N
    if padding is not None:
        options.padding_A = padding
    if padding is not None or (n is not None and not all(space.periodic)):
        options.given |= lib.LEY_GIVEN_PADDING
    return Grid.chosen(options, atoms, space)


def _warn(report: Dict[str, Any], tolerance: float) -> None:
    accuracy = report["accuracy"]
    if tolerance > 0 and accuracy is not None and report["tolerance_share"] > 1:
        warnings.warn(f"the values are off by {accuracy['relative_rms']:.2g} of their root mean square, and tol is "
                      f"{tolerance:g}", ToleranceWarning, stacklevel=3)


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
        warnings.warn(f"{count[0]} of the points are within {lib.LEY_OWN_A:g} A of charges, whose own potential hides "
                      f"that of all others there, the first of them points[{point[0]}], by atom {atom[0]}, counted from 0: "
                      "exclude='self' leaves it out", PointsWarning, stacklevel=3)


def call_by(work: Callable[[_task.Token, Optional[Engine]], Any], engine: Optional[Engine], watcher: Watcher) -> Any:
    """What work(token, engine) returns. Where nobody named an engine the host is asked first, with None, and devices
    are opened where it returns None."""
    try:
        result = _task.call(lambda token: work(token, None), watcher.tick) if engine is None else None
        if result is None:
            try:
                opened = engine_or_default(engine)
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


def map(atoms: Atoms, grid: Optional[Grid] = None, *, method: str = "auto", tol: Optional[float] = None,
        spacing: Optional[float] = None, padding: Optional[float] = None, cutoff: Optional[float] = None, pair: str = "taylor2",
        constants: Optional[Mapping[str, float]] = None, probe: Optional[Sequence[float]] = None,
        well_depth: Any = None, steepness: Optional[float] = None, units: str = "kT/e", dielectric: float = 1.0,
        temperature: float = 298.15, r_min: float = 0.05, periodic: Periodic = None,
        cell: Any = None, kappa: Optional[float] = None, mesh_spacing: Optional[float] = None,
        splitting: Optional[str] = None, window: Optional[str] = None, solver: Optional[str] = None,
        preset: Optional[str] = None, levels: Optional[int] = None, fft: Optional[str] = None,
        sum: Optional[str] = None, math: str = "auto", variant: Optional[str] = None, verify: Optional[int] = None,
        seed: Optional[int] = None, plan: PlanArgument = None, slab_planes: int = 0,
        engine: EngineArgument = None, progress: ProgressArgument = None, field: bool = False,
        n: Optional[Sequence[int]] = None, **former: Any) -> Map:
    """The electrostatic potential of charges on a grid.

    phi(r) = C sum_j q_j / max(|r - r_j|, r_min), C = e / (4 pi eps0 dielectric), in `units`.

    Args:
        atoms: the charges.
        grid: where the points lie; or a Map, whose grid is taken. None: as `spacing`, `n` and
            `padding` say, around the atoms; of a box that is periodic along all axes the box itself.
        method: "dcs", direct summation, every atom at every point; "msm", the same by meshes, in
            time linear in the atoms; "auto", whichever of these reaches `tol` sooner; "cutoff", a sum
            of any pair function within a cutoff.
        tol: of "auto" and "msm": the relative root mean square error that the map may have, 1e-6 to
            0.1. What reaches half of it soonest is taken, and a map that turns out to be off by more
            is computed again by stricter plans, "auto" at last by direct summation where it can
            (`missed_rms` of the report); the nearest of all is what is returned. Where none reaches
            it the map comes with a ToleranceWarning. docs/long-range.md has what the tolerance is a
            share of, and its floor. None: 1e-4 of "auto"; of "msm" none, meshes are what the arguments
            and their defaults say.
        spacing: of neighbouring points, A; None: 0.5. `padding`: least distance of the atoms from
            the grid's faces, A; None: 10. Where there is no `grid`.
        n: in place of `spacing`: so many points along x, y and z over the atoms and the padding, or
            where there is no padding along the vectors of the cell, whose far faces are left out.
        cutoff: A; of "cutoff" 12 where it is None, of "msm" chosen by `tol`.
        pair: of "cutoff": "coulomb", "shifted", "taylor2", "yukawa", "lennard-jones", ..., or an
            expression of r, r2 and q, such as "q*exp(-r/8)/r", with `constants`, named numbers.
        probe, well_depth, steepness: of pair functions that are energies, in kcal/mol: the probe's
            radius (A) and depth; the atoms' depths, one number or (n,); of Buckingham's exponential.
        units: "kT/e", "V", "kcal/mol/e" or "kJ/mol/e".
        dielectric: relative permittivity, the same everywhere. `temperature`: K, matters for kT/e.
        r_min: distances below count as this, A.
        cell, periodic: images of the atoms: in which cell, three lengths (A), three lengths and three
            angles (degrees), or three vectors, (3, 3); None: the one that the atoms carry, if any. And
            along which of its vectors: some of the letters "xyz", or three switches; True, and None
            where there is a cell: along all that have a length; False: open space. A cell that looks
            too small for the atoms, as one in nm, is a CellWarning, and so is one that the atoms
            carry where "dcs" is asked for, which has no images.
        kappa: screening, 1/A: charges' potentials are times exp(-kappa r).
        mesh_spacing, splitting, window, solver: of "msm", what is not to be chosen.
        preset: of "msm", "papers": cutoff and these as the papers have them, but for what is given.
        levels: of "msm", meshes, each of twice the spacing of the one before; 0: as many as pay.
        fft: of "msm", whose transforms: "fftw", "vkfft", "clfft", "cufft", or "auto".
        sum: "float", "compensated", "double" or "auto". `math`: "standard", "native" or "auto".
        variant: a kernel variant by name.
        verify: points that are recomputed in double precision, at most; 0: none. None: 1,000. `seed`
            chooses them.
        plan: decide as a former job did, by its `report`, or by the file that the command's --json
            wrote: the same bytes.
        slab_planes: planes of the grid in one piece of work, at most; 0: as memory and balance
            suggest. What is cut into pieces in another way may differ in last digits: with 1 it is
            always cut in the same way.
        engine: where to compute. None: the fastest device, opened once per process; or the host alone, in double
            precision, where a small sum is done sooner so: `report["host"]` says how, no driver is loaded for it,
            and "msm" is then the sum of all pairs and images itself, unless arguments say what meshes are. "host":
            the host alone in any case; UsageError for what only devices do.
        progress: True for a bar (tqdm's, if it is installed), or a callable that is given a Progress
            now and then in the caller's thread. What it raises cancels the job.
        field: the electric field, too, E = -grad phi: `Map.field`. `tol` is that of the potential; the
            report has the field's measured error, "field_accuracy".

    Ctrl-C cancels the job and raises KeyboardInterrupt. Other threads run meanwhile.

    Errors: UsageError, InputError, NoDeviceError, DeviceError (`log`: a kernel's build log),
    OutOfMemoryError, WrongResult where the verification fails.
    """
    now = former_names("map", {"lattice": "grid", "lattice_spacing": "mesh_spacing"}, former)
    grid, mesh_spacing, solver = now.get("grid", grid), now.get("mesh_spacing", mesh_spacing), former_solver(solver)
    watcher = Watcher(progress)
    wanted = _sum_of(atoms, watcher, method=method, tol=tol, cutoff=cutoff, pair=pair, constants=constants, probe=probe,
                     well_depth=well_depth, steepness=steepness, units=units, dielectric=dielectric,
                     temperature=temperature, r_min=r_min, periodic=periodic, cell=cell, kappa=kappa, sum=sum,
                     math=math, variant=variant, verify=verify, seed=seed, plan=plan, mesh_spacing=mesh_spacing,
                     splitting=splitting, window=window, solver=solver, preset=preset, levels=levels,
                     fft=fft)
    if not 0 <= slab_planes < 2 ** 31 or (slab_planes and field):
        raise UsageError(f"slab_planes: {slab_planes} is out of range, or field is asked for, whose points have no planes")
    wanted.options.c.slab_planes = slab_planes
    if grid is not None and (spacing is not None or padding is not None or n is not None):
        raise UsageError("grid says where the points are: spacing and padding are for jobs without it, and so is n")
    if spacing is not None and n is not None:
        raise UsageError("spacing and n say the same twice: leave one of them out")
    where = _grid_for(atoms, wanted.cell, spacing, padding, n) if grid is None else \
        grid.grid if isinstance(grid, Map) else grid_of(grid)
    origin = Origin(atoms, float(dielectric), float(temperature), float(r_min), wanted.tolerance, math,
                    tuple(wanted.details(pair)))

    def work(token: _task.Token, opened: Optional[Engine]) -> Optional[Map]:
        if wanted.map is None and wanted.points is None:
            wanted.check_memory(where)
            wanted.map = None if field else make_map(where)
            wanted.points = None if not field else _points_pointer(
                lambda box, error: lib.ley_points_create_grid(where.pointer, box, error), True)
        report = wanted.run(token, opened)
        if report is None:
            return None
        if not field:
            return Map(wanted.map, report, origin)
        maps = []
        for axis in (-1, 0, 1, 2):
            box = ffi.new("ley_map **")
            with Status() as status:
                status.check(lib.ley_points_to_map(wanted.points, where.pointer, axis, box, status.pointer))
            maps.append(Map(own_map(box[0]), report, origin))
        maps[0].field = (maps[1], maps[2], maps[3])
        return maps[0]

    made = call_by(work, wanted.options.take_engine(engine), watcher)
    _warn(made.report, wanted.tolerance)
    return made


def points(atoms: Atoms, xyz: Any, *, method: str = "auto", tol: Optional[float] = None,
           cutoff: Optional[float] = None, pair: str = "taylor2", constants: Optional[Mapping[str, float]] = None,
           probe: Optional[Sequence[float]] = None, well_depth: Any = None, steepness: Optional[float] = None,
           units: str = "kT/e", dielectric: float = 1.0, temperature: float = 298.15, r_min: float = 0.05,
           periodic: Periodic = None, cell: Any = None, kappa: Optional[float] = None,
           mesh_spacing: Optional[float] = None, splitting: Optional[str] = None, window: Optional[str] = None,
           solver: Optional[str] = None, preset: Optional[str] = None, levels: Optional[int] = None,
           fft: Optional[str] = None, sum: Optional[str] = None, math: str = "auto", variant: Optional[str] = None,
           verify: Optional[int] = None, seed: Optional[int] = None, plan: PlanArgument = None,
           engine: EngineArgument = None, progress: ProgressArgument = None, field: bool = False,
           exclude: Any = None, **former: Any) -> Points:
    """Potentials at points anywhere, xyz, (n, 3), A; with `field` the electric field there, too.

    phi_i = C sum over all j and images of q_j / max(r, r_min), less the terms of the atoms that
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
    now = former_names("points", {"lattice_spacing": "mesh_spacing"}, former)
    mesh_spacing, solver = now.get("mesh_spacing", mesh_spacing), former_solver(solver)
    watcher = Watcher(progress)
    wanted = _sum_of(atoms, watcher, method=method, tol=tol, cutoff=cutoff, pair=pair, constants=constants, probe=probe,
                     well_depth=well_depth, steepness=steepness, units=units, dielectric=dielectric,
                     temperature=temperature, r_min=r_min, periodic=periodic, cell=cell, kappa=kappa, sum=sum,
                     math=math, variant=variant, verify=verify, seed=seed, plan=plan, mesh_spacing=mesh_spacing,
                     splitting=splitting, window=window, solver=solver, preset=preset, levels=levels,
                     fft=fft)
    xyz = doubles(xyz, "xyz", (-1, 3))
    wanted.points = _points_pointer(
        lambda box, error: lib.ley_points_create(len(xyz), pointer_to(xyz), box, error), field)
    _exclude(wanted, exclude)
    report = call_by(wanted.run, wanted.options.take_engine(engine), watcher)
    _warn(report, wanted.tolerance)
    return Points(wanted.points, report)
