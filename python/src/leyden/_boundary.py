"""leyden.boundary(): Debye-Hueckel values, as APBS takes them for its boundaries."""
from __future__ import annotations

import os
import threading
import warnings
from typing import TYPE_CHECKING, Any, Dict, Iterable, Literal, Optional, Sequence, Union

import numpy as np

from . import _task
from ._arrays import pointer_to, view
from ._atoms import AtomsArgument, atoms_of, positions_of
from ._c import ffi, lib
from ._compute import ProgressArgument, call_by, run_job, target_of
from ._engine import Engine, EngineArgument
from ._errors import NoDeviceError, Status, UsageError, file_name, number_of
from ._grid import Grid
from ._guesses import Guessed
from ._options import PlanArgument, RunOptions
from ._parameters import take, with_parameters
from ._progress import Watcher

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import BoundaryKeywords

FACES = ("x-", "x+", "y-", "y+", "z-", "z+")


class Boundary(Guessed):
    """Values on the six faces of a grid, or at points, in kT/e: what `leyden.boundary()` returns.

    Attributes:
        grid: whose faces, or None.
        kappa: inverse screening length, 1/A.
        report: of "mdh", how it was computed; else None.
    """

    def __init__(self, pointer: Any, grid: Optional[Grid], kappa: float, report: Optional[Dict[str, Any]]) -> None:
        self._pointer = pointer
        self._lock = threading.Lock()
        self.grid = grid
        self.kappa = kappa
        self.report = report

    def __len__(self) -> int:
        return lib.ley_boundary_points(self._pointer)

    @property
    def values(self) -> np.ndarray:
        """All values, (n,) float64: of points in their order, of a grid face after face. A view."""
        return view(self, lib.ley_boundary_values(self._pointer), (len(self),), np.float64, False)

    @property
    def xyz(self) -> np.ndarray:
        """Where the values are, (n, 3), A."""
        found = np.empty((len(self), 3))
        for i in range(len(self)):
            lib.ley_boundary_point_A(self._pointer, i, pointer_to(found[i]))
        return found

    def face(self, face: str) -> np.ndarray:
        """Values of a face, "x-", "x+", "y-", ..., (nb, na) float64, b the later one of its two axes. A view."""
        if self.grid is None:
            raise UsageError("these are values at points, which have no faces")
        if face not in FACES:
            raise UsageError(f"face: {face!r} is none of {', '.join(FACES)}")
        number = FACES.index(face)
        a, b = [n for m, n in enumerate(self.grid.n) if m != number // 2]
        first = lib.ley_boundary_face(self._pointer, number)
        return self.values[first:first + a * b].reshape(b, a)

    def save(self, path: Any, stride: int = 1) -> None:
        """Writes .dx, a map with the values on its faces and 0 inside, of every `stride`-th node; .csv,
        lines x,y,z,phi; or .raw, float64, little-endian, nothing else.

        Errors: UsageError for another ending, FileError.
        """
        name = os.fsdecode(path)
        file = file_name(path)
        if not name.endswith((".dx", ".csv", ".raw")) or (name.endswith(".dx") and self.grid is None):
            raise UsageError(f"path: {name!r} must end in {'' if self.grid is None else '.dx, '}.csv or .raw")

        def work(token: _task.Token) -> None:
            with token.holding(self._lock), Status() as status:
                if name.endswith(".dx"):
                    code = lib.ley_boundary_write_dx(self._pointer, stride, file, ffi.NULL, token.flag, status.pointer)
                elif name.endswith(".csv"):
                    code = lib.ley_boundary_write_csv(self._pointer, file, token.flag, status.pointer)
                else:
                    code = lib.ley_boundary_write_raw(self._pointer, file, status.pointer)
                status.check(code)

        _task.call(work)

    def __repr__(self) -> str:
        return f"<leyden.Boundary: {len(self)} values{'' if self.grid is None else ' on six faces'}, kT/e>"


@with_parameters("ley_solvent", "ley_run_options", without=("ion",))
def boundary(atoms: AtomsArgument, where: Union[Grid, Any], *, method: Literal["mdh", "sdh", "zero"] = "mdh", ions: Sequence[Sequence[float]] = (),
             plan: PlanArgument = None, engine: EngineArgument = None, progress: ProgressArgument = None,
             **given: Unpack[BoundaryKeywords]) -> Boundary:
    """Debye-Hueckel potentials on the faces of a grid or at points, in kT/e, as APBS defines them.

    phi(r) = C / eps_s sum_j q_j / d_j exp(-kappa (d_j - R_j)) / (1 + kappa R_j), d_j = |r - r_j|.

    Args:
        atoms: charges and radii.
        where: a Grid, for its faces, or points, (n, 3), A.
        method: "mdh", every atom (`bcfl mdh`); "sdh", one multipole expansion (`bcfl sdh`); "zero".
        ions: concentration (mol/l), charge (e) and, if you like, radius (A) of each species, in the
            order of the command's --ion.
        {parameters}

    The rest is as in `map()`. Errors: also InputError where a charge lies on a point.
    """
    atoms = atoms_of(atoms)
    if method not in ("mdh", "sdh", "zero"):
        raise UsageError(f"method: {method!r} is none of mdh, sdh, zero")
    watcher = Watcher(progress)
    if not isinstance(ions, Iterable):
        raise UsageError(f"ions: a list of species is needed, not {ions!r:.60}")
    ions = list(ions)
    species = ffi.new("ley_ion[]", max(len(ions), 1))
    for i, ion in enumerate(ions):
        if np.shape(ion) not in ((2,), (3,)):
            raise UsageError("ions: each has a concentration, a charge and, if you like, a radius")
        numbers = [number_of(value, "ions") for value in ion]
        species[i].concentration_M, species[i].charge_e, species[i].radius_A = (numbers + [0.0])[:3]
    solvent = ffi.new("ley_solvent *")
    lib.ley_solvent_default(solvent)
    take(solvent, "ley_solvent", given, [])
    solvent.ion_count, solvent.ions = len(ions), species
    remark = ffi.new("char[256]")
    if lib.ley_solvent_remark(solvent, remark, 256):
        warnings.warn(ffi.string(remark).decode(), stacklevel=3)
    grid = where if isinstance(where, Grid) else None
    box = ffi.new("ley_boundary **")
    with Status() as status:
        if grid is not None:
            status.check(lib.ley_boundary_create(grid.pointer, box, status.pointer))
        else:
            xyz = positions_of(where, "where")
            status.check(lib.ley_boundary_create_points(len(xyz), pointer_to(xyz), box, status.pointer))
    pointer = ffi.gc(box[0], lib.ley_boundary_destroy)
    options = RunOptions.of(given, plan, watcher.state)

    def without_job(_: _task.Token, __: Optional[Engine]) -> Dict[str, Any]:
        with Status() as status:
            if method == "sdh":
                status.check(lib.ley_boundary_compute_sdh(pointer, atoms.pointer, solvent, status.pointer))
            else:
                lib.ley_boundary_compute_zero(pointer)
        return {}

    def run(token: _task.Token, engine_pointer: Any) -> Dict[str, Any]:
        return run_job(token, lambda job, error: lib.ley_job_create_boundary(
            engine_pointer, atoms.pointer, target_of(boundary=pointer), solvent, options.c, job, error))

    def mdh(token: _task.Token, opened: Optional[Engine]) -> Optional[Dict[str, Any]]:
        if opened is None:
            try:
                return run(token, ffi.NULL)
            except NoDeviceError:
                return None
        with token.holding(opened.lock):
            return run(token, opened.pointer)

    report = call_by(mdh, options.take_engine(engine), watcher) if method == "mdh" else \
        call_by(without_job, None, watcher) or None
    assert species is not None  # the solvent points to it
    return Boundary(pointer, grid, lib.ley_screening_per_A(solvent), report)
