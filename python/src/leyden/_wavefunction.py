"""Wavefunctions: molecular orbitals, electron densities and potentials, on grids and at points."""
from __future__ import annotations

import contextlib
import os
import warnings
from typing import (TYPE_CHECKING, Any, Callable, Dict, Iterator, List, Literal, Mapping, NamedTuple, Optional, Sequence,
                    Tuple, Union, overload)

import numpy as np

from . import _task, _wavefunction_files as files
from ._arrays import numbers as numbers_in, pointer_to, view
from ._atoms import Atoms, positions_of
from ._c import ffi, lib
from ._compute import ProgressArgument, call_by, run_by_host, run_job
from ._engine import Engine, EngineArgument
from ._errors import (FileError, InputError, Status, UsageError, WavefunctionWarning, encoded, file_name, number_of,
                      switch_of)
from ._grid import Grid, grid_of
from ._guesses import OF_WAVEFUNCTION, Guessed
from ._maps import Map, make_maps
from ._options import PlanArgument, RunOptions
from ._parameters import TABLES, take, with_parameters
from ._progress import Watcher
from ._report import accuracy_lines, device_lines

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from typing_extensions import Unpack

    from ._keywords import OrbitalKeywords

Names = Union[str, int, Sequence[Union[str, int]]]
GridArgument = Union[Grid, Map, None]

_BOHR_A = 0.529177210903
_SPACING_BOHR, _PADDING_BOHR = 0.2, 6.0  # of the default grid, as the command has it
_MOST_NORM_ERROR = 1e-4
_ANY_NORM = "any_norm=True goes on all the same"
# Members of ley_wavefunction_arrays by their names in the archive: type and extents.
_ARRAYS: Dict[str, Tuple[Any, Tuple[Any, ...]]] = {
    "numbers": (np.int32, ("nuclei",)), "charges": (np.float64, ("nuclei",)), "positions_bohr": (np.float64, ("nuclei", 3)),
    "shell_atom": (np.int32, ("shells",)), "shell_l": (np.int32, ("shells",)), "shell_pure": (np.int32, ("shells",)),
    "shell_first_primitive": (np.int64, ("shells + 1",)), "exponents": (np.float64, ("primitives",)),
    "coefficients": (np.float64, ("primitives",)), "orbitals": (np.float64, ("orbitals", "functions")),
    "energies": (np.float64, ("orbitals",)), "occupations": (np.float64, ("orbitals",)), "spins": (np.int32, ("orbitals",))}
_C_TYPES = {np.int32: "int32_t *", np.int64: "int64_t *", np.float64: "double *"}


class Density(NamedTuple):
    """A density and its derivatives, which `Wavefunction.density()` is asked for: Maps, three of the gradient; or arrays of
    values at points, (n,), the gradient's (n, 3). None: not asked for."""

    density: Any
    gradient: Any
    laplacian: Any


class PotentialField(NamedTuple):
    """A potential and its field, which `Wavefunction.potential()` is asked for: Maps, three of the field; or arrays of values
    at points, (n,), the field's (n, 3)."""

    potential: Any
    field: Any


# ---- Arrays --------------------------------------------------------------------------------------


def _member(name: str) -> str:
    return "orbital_coefficients" if name == "orbitals" else name


def _array_of(values: Any, name: str) -> np.ndarray:
    dtype, array = _ARRAYS[name][0], numbers_in(values, name, np.float64)
    if dtype is not np.float64 and not np.array_equal(array, np.rint(array)):
        raise InputError(f"{name}: whole numbers are needed")
    return np.ascontiguousarray(array, dtype)


def _arrays_of(given: Mapping[str, Any]) -> Tuple[Any, List[np.ndarray]]:
    """A ley_wavefunction_arrays, and what it points to."""
    arrays = {name: _array_of(given[name], name) for name in _ARRAYS if given.get(name) is not None}
    l, is_pure = arrays["shell_l"], arrays["shell_pure"]
    if l.ndim != 1 or l.shape != is_pure.shape:
        raise InputError(f"shell_l has the shape {l.shape} and shell_pure {is_pure.shape}, which must both be (shells,)")
    counts = {"nuclei": arrays["charges"].size, "shells": l.size, "primitives": arrays["exponents"].size,
              "orbitals": arrays["occupations"].size}
    extents = {**counts, "shells + 1": l.size + 1,
               "functions": int(np.where(is_pure != 0, 2 * l + 1, (l + 1) * (l + 2) // 2).sum())}
    for name, array in arrays.items():
        shape = tuple(extents.get(extent, extent) for extent in _ARRAYS[name][1])
        if array.shape != shape:
            raise InputError(f"{name} has the shape {array.shape}, not {shape}: ({', '.join(map(str, _ARRAYS[name][1]))})")
    pointers = {_member(name): ffi.cast(_C_TYPES[_ARRAYS[name][0]], array.ctypes.data) for name, array in arrays.items()}
    return ffi.new("ley_wavefunction_arrays *", {"size": ffi.sizeof("ley_wavefunction_arrays"), **counts, **pointers}), \
        list(arrays.values())


@contextlib.contextmanager
def _about(file: str) -> Iterator[None]:
    """Errors name the file."""
    try:
        yield
    except InputError as error:
        raise error if file in str(error) else InputError(f"{file}: {error}") from None


# ---- What is wanted ------------------------------------------------------------------------------


def _place_of(wavefunction: Any, grid: GridArgument, points: Any, given: Dict[str, Any]) -> Union[Grid, np.ndarray]:
    """A grid, or points."""
    for name in ("spacing", "padding"):
        if given[name] is not None:
            given[name] = TABLES["ley_grid_options"][name].checked(given[name])
    of_grid = [name for name in TABLES["ley_grid_options"] if given.get(name) is not None]
    if grid is not None and points is not None:
        raise UsageError("grid and points exclude each other")
    if of_grid and (grid is not None or points is not None):
        raise UsageError(f"{of_grid[0]} is for the grid around the nuclei, without grid and points")
    if points is not None:
        return positions_of(points, "points")
    if grid is not None:
        return grid.grid if isinstance(grid, Map) else grid_of(grid)
    options = ffi.new("ley_grid_options *")
    lib.ley_grid_options_default(options)
    options.spacing_A, options.padding_A = [_SPACING_BOHR * _BOHR_A] * 3, _PADDING_BOHR * _BOHR_A
    options.given = take(options, "ley_grid_options", given, [])
    nuclei = lib.ley_wavefunction_atoms(wavefunction)
    return Grid._made(lambda made, error: lib.ley_grid_choose(options, nuclei, ffi.NULL, ffi.NULL, made, error))


class _Values:
    """Values of a wavefunction that are to be computed: a request, its maps or points, options, and who computes."""

    def __init__(self, wavefunction: "Wavefunction", request: Any, place: Union[Grid, np.ndarray], given: Mapping[str, Any],
                 keep: Sequence[Any] = ()) -> None:
        self._of, self._request, self._place = wavefunction, request, place
        self._keep: List[Any] = list(keep)
        self._sum = ffi.new("ley_wavefunction_options *")
        lib.ley_wavefunction_options_default(self._sum)
        take(self._sum, "ley_wavefunction_options", given, self._keep)
        self._count = lib.ley_wavefunction_values(request)
        self._maps: List[Any] = []
        self._values = np.empty(0)

    def _make_room(self) -> None:
        if isinstance(self._place, Grid):
            self._maps = make_maps(self._place, self._count)
            self._keep.append(ffi.new("ley_map *[]", self._maps))
            self._request.maps = self._keep[-1]
        else:
            self._values = np.empty((self._count, len(self._place)))
            self._request.points, self._request.point_A = len(self._place), pointer_to(self._place)
            self._request.values = pointer_to(self._values)

    def compute(self, plan: PlanArgument, engine: EngineArgument, progress: ProgressArgument,
                given: Mapping[str, Any]) -> Union[List[Map], np.ndarray]:
        """Maps; or values at points, (values, n)."""
        watcher = Watcher(progress)
        options = RunOptions.of(given, plan, watcher.state)

        def run(token: _task.Token, pointer: Any) -> Dict[str, Any]:
            return run_job(token, lambda box, error: lib.ley_job_create_wavefunction(
                pointer, self._of.pointer, self._request, self._sum, options.c, box, error))

        def work(token: _task.Token, opened: Optional[Engine]) -> Optional[Dict[str, Any]]:
            if opened is None or options.is_for_host:
                return run_by_host(lambda: run(token, ffi.NULL), options)
            with token.holding(opened.lock):
                token.check()
                return run(token, opened.pointer)

        own_engine = options.take_engine(engine)
        self._make_room()
        report = call_by(work, own_engine, watcher)
        return [self._map(pointer, report) for pointer in self._maps] if self._maps else self._values

    def _map(self, pointer: Any, report: Dict[str, Any]) -> Map:
        made = Map._of(pointer, report)  # pylint: disable=protected-access
        made._kept = self._of  # its file has the nuclei
        of = f"wavefunction: {self._of.name}" if self._of.name else f"atoms: {len(self._of.charges)}"
        made.header = "\n".join(["method: sums of contracted Gaussians", of, f"units: {made.units}", *device_lines(report),
                                 *accuracy_lines(report)])
        return made


class Wavefunction(Guessed):
    """A basis of contracted Gaussian functions around nuclei, and orbitals in it. Immutable.

    >>> wavefunction = leyden.Wavefunction("c60.molden")
    >>> homo = wavefunction.orbital("homo")
    >>> homo.save("homo.cube")
    >>> rho = wavefunction.density(points=xyz)

    Args:
        source: the name of a file, as `load` takes it; or an object of pyscf, as `from_pyscf` takes it.
        any_norm: takes orbitals that are not of norm 1, too.

    Orbitals have names, "homo", "lumo+1", "alpha:homo", and numbers from 1, as the command's --orbital has them
    (docs/orbitals.md). Values are in atomic units: bohr^-3/2 of orbitals, bohr^-3 of densities. Lengths are in A, but for
    `arrays["positions_bohr"]` and exponents.

    Each orbital's overlap with itself must be 1 within 1e-4, or making one is an InputError: functions of another order or
    normalisation would make all values wrong.
    """

    _guesses = OF_WAVEFUNCTION
    _pointer: Any
    name: str  # of the file, without its folder; "" of none
    dialect: str  # of what the file was mended; "" where nothing was

    def __init__(self, source: Any, *, any_norm: bool = False) -> None:
        if isinstance(source, (str, bytes, os.PathLike)):
            made = self._load(source, any_norm)
        elif hasattr(source, "mo_coeff"):
            made = self.from_pyscf(source, any_norm=any_norm)
        else:
            other = "Wavefunction.from_iodata() takes it" if type(source).__name__ == "IOData" else \
                "Wavefunction.from_arrays() takes arrays"
            raise UsageError("Wavefunction(): a file's name or an object of pyscf is needed, not "
                             f"{type(source).__name__}; {other}")
        self.__dict__.update(made.__dict__)

    @classmethod
    def _of(cls, make: Callable[[Any, Any], int], any_norm: bool, name: str = "", dialect: str = "",
            hint: str = _ANY_NORM) -> "Wavefunction":
        """Of what make(box, error) makes; norms are checked."""
        self = cls.__new__(cls)
        self.name, self.dialect = name, dialect
        any_norm = switch_of(any_norm, "any_norm")

        def work(token: _task.Token) -> Any:
            box = ffi.new("ley_wavefunction **")
            with Status() as status:
                status.check(make(box, status.pointer))
            made = ffi.gc(box[0], lib.ley_wavefunction_destroy)
            with Status() as status:
                code = lib.LEY_OK if any_norm else lib.ley_wavefunction_check_norms(made, _MOST_NORM_ERROR, status.pointer)
                try:
                    status.check(code)
                except InputError as error:
                    raise InputError(f"{error}; {hint}") from None
            return made

        self._pointer = _task.call(work)
        return self

    @classmethod
    def load(cls, path: Any, *, any_norm: bool = False) -> "Wavefunction":
        """Reads a file.

        Archives, .npz (docs/formats.md), are read by the library itself; Molden, FCHK, WFN, WFX, MKL, Mwfn and CP2K's files
        of atoms by qc-iodata; outputs of programs by cclib, where they have the basis and all orbitals; checkpoints of pyscf
        by pyscf. Files other than archives may be packed by gzip. Molden files of ORCA, PSI4, Turbomole and CFOUR differ
        from the format: the norms of their orbitals tell which dialect it is, and a WavefunctionWarning says which one was
        mended.

        Errors: FileError; InputError with what is wrong, as orbitals that are not of norm 1; ImportError where a package is
        missing.
        """
        return cls._load(path, any_norm)

    @classmethod
    def _load(cls, path: Any, any_norm: bool) -> "Wavefunction":
        target, file = file_name(path), os.fsdecode(path)
        name = os.path.basename(file)
        try:
            with open(file, "rb") as opened:
                is_archive = opened.read(4) == b"PK\3\4" or name.lower().endswith(".npz")
        except OSError as error:
            raise FileError(f"{file}: {error.strerror}") from None
        if is_archive:
            with _about(file):
                return cls._of(lambda box, error: lib.ley_wavefunction_read(target, box, error), any_norm, name)
        arrays, dialect = _task.call(lambda token: files.read(file, _overlaps_of))
        if dialect:
            warnings.warn(f"{name}: {dialect}", WavefunctionWarning, stacklevel=3)
        with _about(file):
            return cls._made(arrays, any_norm, name, dialect, "no known dialect makes it 1: an FCHK or WFX file of the same "
                             f"program may be right; {_ANY_NORM}")

    @classmethod
    def _made(cls, arrays: Mapping[str, Any], any_norm: bool, name: str = "", dialect: str = "",
              hint: str = _ANY_NORM) -> "Wavefunction":
        struct, keep = _arrays_of(arrays)
        made = cls._of(lambda box, error: lib.ley_wavefunction_create(struct, box, error), any_norm, name, dialect, hint)
        del keep  # copied
        return made

    @classmethod
    def from_pyscf(cls, source: Any, mo_coeff: Any = None, mo_occ: Any = None, mo_energy: Any = None, *,
                   any_norm: bool = False) -> "Wavefunction":
        """Of an object of pyscf that has run: RHF, ROHF, UHF, RKS, UKS, CASSCF with natural orbitals, ...

        Args:
            source: mf after mf.kernel(); or its Mole, with the next ones. Objects of MP2 and coupled clusters have the
                orbitals and occupations of their mean field: natural ones are given with the Mole.
            mo_coeff, mo_occ, mo_energy: in place of the object's own, as pyscf has them: (functions, orbitals), (orbitals,),
                (orbitals,), or of alpha and beta orbitals one after the other.

        Errors: UsageError where there are none, of spinors, of periodic cells and of complex orbitals.
        """
        return cls._made(files.of_pyscf(source, mo_coeff, mo_occ, mo_energy), any_norm)

    @classmethod
    def from_iodata(cls, data: Any, *, density: Optional[str] = None, any_norm: bool = False) -> "Wavefunction":
        """Of an IOData of qc-iodata.

        Args:
            density: the natural orbitals of one of its density matrices, data.one_rdms, in place of its own orbitals: of FCHK
                files "post_scf_ao" is that of MP2, CI or CC.

        Errors: InputError where it has no orbitals, basis or occupations; UsageError for a matrix that it does not have.
        """
        made = cls._made(files.of_iodata(data), any_norm)
        return made if density is None else made.natural_orbitals(files.matrix_of_iodata(data, density))

    @classmethod
    def from_arrays(cls, *, charges: Any, positions_bohr: Any, shell_atom: Any, shell_l: Any, shell_pure: Any,
                    shell_first_primitive: Any, exponents: Any, coefficients: Any, orbitals: Any, occupations: Any,
                    energies: Any = None, spins: Any = None, numbers: Any = None, any_norm: bool = False) -> "Wavefunction":
        """Copies arrays, which have the names, shapes and units of the archive (docs/formats.md).

        Functions are in the order and of the norms of docs/orbitals.md: Cartesian ones xx, xy, xz, yy, yz, zz, pure ones
        m = 0, +1, -1, +2, -2, each of norm 1 in each primitive. `{**wavefunction.arrays, "occupations": other}` has another
        wavefunction's arrays but for some.

        Errors: InputError for shapes that do not fit together, numbers that are not finite or out of range, shells without
        primitives, and orbitals that are not of norm 1.
        """
        return cls._made({"charges": charges, "positions_bohr": positions_bohr, "shell_atom": shell_atom, "shell_l": shell_l,
                          "shell_pure": shell_pure, "shell_first_primitive": shell_first_primitive, "exponents": exponents,
                          "coefficients": coefficients, "orbitals": orbitals, "occupations": occupations,
                          "energies": energies, "spins": spins, "numbers": numbers}, any_norm)

    def save(self, path: Any) -> None:
        """Writes an archive, .npz, which `leyden orbital` and `leyden density` read. Errors: UsageError for another ending,
        FileError."""
        name = file_name(path)

        def work(token: _task.Token) -> None:
            with Status() as status:
                status.check(lib.ley_wavefunction_write(self._pointer, name, token.flag, status.pointer))

        _task.call(work)

    write = save

    # ---- What it is ------------------------------------------------------------------------------

    @property
    def pointer(self) -> Any:
        """The ley_wavefunction."""
        return self._pointer

    @property
    def arrays(self) -> Dict[str, Any]:
        """All arrays, as `from_arrays` takes them: read-only views."""
        c = lib.ley_wavefunction_get(self._pointer)
        extents = {name: getattr(c, name) for name in ("nuclei", "shells", "primitives", "orbitals")}
        extents.update({"shells + 1": c.shells + 1, "functions": self.functions})
        return {name: view(self, getattr(c, _member(name)), tuple(extents.get(extent, extent) for extent in row[1]), row[0], True)
                for name, row in _ARRAYS.items()}

    @property
    def atoms(self) -> Atoms:
        """The nuclei, with their charges: less what effective core potentials stand for."""
        return Atoms(self.arrays["positions_bohr"] * _BOHR_A, self.charges)

    @property
    def charges(self) -> np.ndarray:
        """Of the nuclei, (atoms,), e."""
        return self.arrays["charges"]

    @property
    def numbers(self) -> np.ndarray:
        """Of the elements, (atoms,)."""
        return self.arrays["numbers"]

    @property
    def coefficients(self) -> np.ndarray:
        """Of the orbitals, (orbitals, functions)."""
        return self.arrays["orbitals"]

    @property
    def energies(self) -> np.ndarray:
        """(orbitals,), hartree; that of orbital 12 is energies[11]. All 0 where they are unknown."""
        return self.arrays["energies"]

    @property
    def occupations(self) -> np.ndarray:
        """Electrons of each orbital, (orbitals,)."""
        return self.arrays["occupations"]

    @property
    def spins(self) -> np.ndarray:
        """(orbitals,): 1 alpha, -1 beta, 0 both."""
        return self.arrays["spins"]

    @property
    def functions(self) -> int:
        """The number of basis functions."""
        return int(lib.ley_wavefunction_functions(self._pointer))

    @property
    def electrons(self) -> float:
        """The sum of the occupations."""
        return float(lib.ley_wavefunction_electrons(self._pointer, 0))

    @property
    def alpha_electrons(self) -> float:
        """Of orbitals of both spins, at most one each."""
        return float(lib.ley_wavefunction_electrons(self._pointer, 1))

    @property
    def beta_electrons(self) -> float:
        """All others."""
        return float(lib.ley_wavefunction_electrons(self._pointer, -1))

    @property
    def homo(self) -> Union[int, Any]:
        """The number, from 1, of the highest occupied orbital; None: there is none."""
        return self._frontier("homo")

    @property
    def lumo(self) -> Union[int, Any]:
        """The number, from 1, of the lowest unoccupied orbital; None: there is none."""
        return self._frontier("lumo")

    def _frontier(self, name: str) -> Optional[int]:
        try:
            return self.find(name)[0]
        except UsageError:
            return None

    def find(self, names: Names) -> List[int]:
        """The numbers, from 1, of orbitals by names, numbers and ranges: find("homo-1..lumo"), find(["homo", 12]).

        Errors: UsageError.
        """
        listed = list(names) if isinstance(names, (list, tuple, range, np.ndarray)) else [names]
        if not listed or any(isinstance(one, bool) or not isinstance(one, (str, int, np.integer)) for one in listed):
            raise UsageError(f"orbitals: names, \"homo\", or numbers from 1 are needed, not {names!r:.60}")
        box, count = ffi.new("int64_t **"), ffi.new("size_t *")
        with Status() as status:
            status.check(lib.ley_wavefunction_find(self._pointer, ",".join(map(str, listed)).encode(), box, count,
                                                   status.pointer))
        found = [box[0][i] + 1 for i in range(count[0])]
        lib.free(box[0])
        return found

    def norms(self) -> np.ndarray:
        """Each orbital's overlap with itself, (orbitals,): sum over k, m of c_k S_km c_m."""
        made = np.empty(len(self.occupations))
        self._fill(lib.ley_wavefunction_norms, made)
        return made

    def overlaps(self) -> np.ndarray:
        """Overlaps S_km of the basis functions, (functions, functions)."""
        made = np.empty((self.functions, self.functions))
        self._fill(lib.ley_wavefunction_overlaps, made)
        return made

    def natural_orbitals(self, density: Any = None) -> "Wavefunction":
        """The orbitals that make a density matrix diagonal, its natural orbitals, and their occupations:

            D = sum over k of n_k c_k c_k^T,  n_1 >= n_2 >= ...

        Args:
            density: D, (functions, functions), symmetric, of functions in the order and of the norms of `arrays`. None: that
                of this wavefunction's orbitals and occupations, of both spins together.

        Returns: a Wavefunction in the same basis, of orbitals without energies.

        Errors: InputError for another shape, a matrix that is not symmetric, and occupations beyond -2 and 2.
        """
        c, n = self.coefficients, self.functions
        matrix = (c.T * self.occupations) @ c if density is None else numbers_in(density, "density", np.float64)
        if matrix.shape != (n, n):
            raise InputError(f"density has the shape {matrix.shape}, not {(n, n)}: (functions, functions)")
        if not np.allclose(matrix, matrix.T, rtol=0, atol=1e-6 * np.abs(matrix).max(initial=0)):
            raise InputError("density is not symmetric")
        sizes, axes = np.linalg.eigh(self.overlaps())
        is_new = sizes > 1e-10 * sizes[-1]  # functions that others make up add nothing
        sizes, axes = np.sqrt(sizes[is_new]), axes[:, is_new]
        occupations, turn = np.linalg.eigh((axes * sizes).T @ matrix @ (axes * sizes))
        orbitals, most = (turn.T @ (axes / sizes).T)[::-1], 2 + 1e-3  # which relaxed densities have
        occupations = np.where(np.abs(occupations) < most, occupations.clip(-2, 2), occupations)
        return self._made({**self.arrays, "orbitals": orbitals, "occupations": occupations[::-1], "energies": None,
                           "spins": None}, False, self.name)

    def _fill(self, function: Any, array: np.ndarray) -> None:
        def work(token: _task.Token) -> None:
            with Status() as status:
                status.check(function(self._pointer, pointer_to(array), status.pointer))

        _task.call(work)

    # ---- Values ----------------------------------------------------------------------------------

    @overload
    def orbital(self, name: Union[str, int], grid: GridArgument = None, *, points: None = None,
                spacing: Optional[float] = None, padding: Optional[float] = None, plan: PlanArgument = None,
                engine: EngineArgument = None, progress: ProgressArgument = None, **given: Unpack[OrbitalKeywords]) -> Map: ...

    @overload
    def orbital(self, name: Union[str, int], *, points: ArrayLike, plan: PlanArgument = None, engine: EngineArgument = None,
                progress: ProgressArgument = None, **given: Unpack[OrbitalKeywords]) -> np.ndarray: ...

    @with_parameters("ley_wavefunction_options", "ley_grid_options", "ley_run_options")
    def orbital(self, name: Union[str, int], grid: GridArgument = None, *, points: Any = None,
                spacing: Optional[float] = None, padding: Optional[float] = None, plan: PlanArgument = None,
                engine: EngineArgument = None, progress: ProgressArgument = None, **given: Unpack[OrbitalKeywords]) -> Any:
        """An orbital, psi(r), on a grid or at points, in bohr^-3/2.

        Args:
            name: "homo", "lumo", "homo-1", "alpha:homo", or a number from 1.
            grid: where the points lie; or a Map, whose grid is taken. None: around the nuclei.
            points: (n, 3), A, in place of a grid; or Atoms, for their positions.
            spacing, padding: of the grid around the nuclei, A; None: 0.2 bohr and 6 bohr. `dims` and others as of
                `leyden.map()`.
            plan, engine, progress: as of `leyden.map()`.
            {parameters}

        Returns: a Map, or an array (n,) of values at points.

        Errors: UsageError, InputError, NoDeviceError, DeviceError, OutOfMemoryError, WrongResult.
        """
        found = self.find(name)
        if len(found) != 1:
            raise UsageError(f"{name!r} are {len(found)} orbitals, and orbital() computes one: orbitals({name!r})")
        return self._orbitals(found, grid, points, {**given, "spacing": spacing, "padding": padding}, plan, engine, progress)[0]

    @overload
    def orbitals(self, names: Names, grid: GridArgument = None, *, points: None = None, spacing: Optional[float] = None,
                 padding: Optional[float] = None, plan: PlanArgument = None, engine: EngineArgument = None,
                 progress: ProgressArgument = None, **given: Unpack[OrbitalKeywords]) -> List[Map]: ...

    @overload
    def orbitals(self, names: Names, *, points: ArrayLike, plan: PlanArgument = None, engine: EngineArgument = None,
                 progress: ProgressArgument = None, **given: Unpack[OrbitalKeywords]) -> np.ndarray: ...

    @with_parameters("ley_wavefunction_options", "ley_grid_options", "ley_run_options")
    def orbitals(self, names: Names, grid: GridArgument = None, *, points: Any = None, spacing: Optional[float] = None,
                 padding: Optional[float] = None, plan: PlanArgument = None, engine: EngineArgument = None,
                 progress: ProgressArgument = None, **given: Unpack[OrbitalKeywords]) -> Any:
        """Several orbitals at once: "homo,lumo", "12-20", "homo-2..lumo", or a list of names and numbers.

        Arguments and errors are those of `orbital()`. Returns: a list of Maps, or an array (orbitals, n).
        """
        return self._orbitals(self.find(names), grid, points, {**given, "spacing": spacing, "padding": padding}, plan, engine,
                              progress)

    def _orbitals(self, found: List[int], grid: GridArgument, points: Any, given: Dict[str, Any], plan: PlanArgument,
                  engine: EngineArgument, progress: ProgressArgument) -> Union[List[Map], np.ndarray]:
        wanted = ffi.new("int64_t[]", [number - 1 for number in found])
        request = ffi.new("ley_wavefunction_request *",
                          {"kind": lib.LEY_ORBITALS, "orbitals": wanted, "orbital_count": len(found)})
        place = _place_of(self._pointer, grid, points, given)
        return _Values(self, request, place, given, [wanted]).compute(plan, engine, progress, given)

    @overload
    def density(self, grid: GridArgument = None, *, points: None = None, orbitals: Optional[Names] = None,
                occupations: Optional[ArrayLike] = None, spin: bool = False, gradient: Literal[False] = False,
                laplacian: Literal[False] = False, spacing: Optional[float] = None, padding: Optional[float] = None,
                plan: PlanArgument = None, engine: EngineArgument = None, progress: ProgressArgument = None,
                **given: Unpack[OrbitalKeywords]) -> Map: ...

    @overload
    def density(self, *, points: ArrayLike, orbitals: Optional[Names] = None,
                occupations: Optional[ArrayLike] = None, spin: bool = False, gradient: Literal[False] = False,
                laplacian: Literal[False] = False, plan: PlanArgument = None, engine: EngineArgument = None,
                progress: ProgressArgument = None, **given: Unpack[OrbitalKeywords]) -> np.ndarray: ...

    @overload
    def density(self, grid: GridArgument = None, *, points: Any = None, orbitals: Optional[Names] = None,
                occupations: Any = None, spin: bool = False, gradient: bool = False, laplacian: bool = False,
                spacing: Optional[float] = None, padding: Optional[float] = None, plan: PlanArgument = None,
                engine: EngineArgument = None, progress: ProgressArgument = None,
                **given: Unpack[OrbitalKeywords]) -> Any: ...

    @with_parameters("ley_wavefunction_options", "ley_grid_options", "ley_run_options")
    def density(self, grid: GridArgument = None, *, points: Any = None, orbitals: Optional[Names] = None,
                occupations: Any = None, spin: bool = False, gradient: bool = False, laplacian: bool = False,
                spacing: Optional[float] = None, padding: Optional[float] = None, plan: PlanArgument = None,
                engine: EngineArgument = None, progress: ProgressArgument = None,
                **given: Unpack[OrbitalKeywords]) -> Any:
        """The electron density, sum over i of n_i psi_i^2, on a grid or at points, in bohr^-3.

        Args:
            orbitals: only these, named as of `orbitals()`; None: all.
            occupations: theirs in place of their own, one for each or one for all: with 1 the density of an orbital is
                its square.
            spin: that of alpha electrons less that of beta electrons.
            gradient, laplacian: its derivatives, too, in bohr^-4 and bohr^-5.
            grid, points, spacing, padding, plan, engine, progress: as of `orbital()`.
            {parameters}

        Returns: a Map, or an array (n,) of values at points; with derivatives a Density, of Maps or arrays.

        Errors: those of `orbital()`; InputError where no orbital has electrons, or as many of both spins and the density of
        spins is wanted; UsageError where that is wanted and an orbital of both spins has neither 0, 1 nor 2 electrons.
        """
        has_gradient, has_laplacian = switch_of(gradient, "gradient"), switch_of(laplacian, "laplacian")
        more: Dict[str, Any] = {**given, "spacing": spacing, "padding": padding}
        request = ffi.new("ley_wavefunction_request *", {
            "kind": lib.LEY_SPIN_DENSITY if switch_of(spin, "spin") else lib.LEY_DENSITY, "gradient": has_gradient,
            "laplacian": has_laplacian})
        chosen = self._choose(request, orbitals, occupations)
        place = _place_of(self._pointer, grid, points, more)
        values = _Values(self, request, place, more, chosen).compute(plan, engine, progress, more)
        if not has_gradient and not has_laplacian:
            return values[0]
        along = None if not has_gradient else tuple(values[1:4]) if isinstance(values, list) else values[1:4].T.copy()
        return Density(values[0], along, values[-1] if has_laplacian else None)

    def _choose(self, request: Any, names: Optional[Names], occupations: Any) -> List[Any]:
        """What a density is of; and what the request points to."""
        if names is None:
            if occupations is not None:
                raise UsageError("occupations are those of orbitals, which are missing: orbitals=\"homo\"")
            return []
        found = self.find(names)
        kept = [ffi.new("int64_t[]", [number - 1 for number in found])]
        request.orbitals, request.orbital_count = kept[0], len(found)
        if occupations is not None:
            given = numbers_in(occupations, "occupations", np.float64)
            if given.shape not in ((), (1,), (len(found),)):
                raise UsageError(f"occupations have the shape {given.shape}, and there are {len(found)} orbitals")
            kept.append(ffi.new("double[]", np.broadcast_to(given, len(found)).tolist()))
            request.occupations = kept[1]
        return kept

    @overload
    def potential(self, grid: GridArgument = None, *, points: None = None, field: Literal[False] = False, units: str = "hartree/e",
                  temperature: float = 298.15, spacing: Optional[float] = None, padding: Optional[float] = None,
                  plan: PlanArgument = None, engine: EngineArgument = None, progress: ProgressArgument = None,
                  **given: Unpack[OrbitalKeywords]) -> Map: ...

    @overload
    def potential(self, *, points: ArrayLike, field: Literal[False] = False, units: str = "hartree/e",
                  temperature: float = 298.15, plan: PlanArgument = None, engine: EngineArgument = None,
                  progress: ProgressArgument = None, **given: Unpack[OrbitalKeywords]) -> np.ndarray: ...

    @overload
    def potential(self, grid: GridArgument = None, *, points: Any = None, field: bool = False, units: str = "hartree/e",
                  temperature: float = 298.15, spacing: Optional[float] = None, padding: Optional[float] = None,
                  plan: PlanArgument = None, engine: EngineArgument = None, progress: ProgressArgument = None,
                  **given: Unpack[OrbitalKeywords]) -> Any: ...

    @with_parameters("ley_wavefunction_options", "ley_grid_options", "ley_run_options")
    def potential(self, grid: GridArgument = None, *, points: Any = None, field: bool = False, units: str = "hartree/e",
                  temperature: float = 298.15, spacing: Optional[float] = None, padding: Optional[float] = None,
                  plan: PlanArgument = None, engine: EngineArgument = None, progress: ProgressArgument = None,
                  **given: Unpack[OrbitalKeywords]) -> Any:
        """The electrostatic potential of nuclei and electrons, on a grid or at points, by exact integrals:

            V(r) = sum over nuclei of Z_A / |r - R_A| - int rho(r') / |r - r'| dr'

        Args:
            field: the electric field -grad V, too: in hartree/(e bohr), or in other units per A.
            units: "hartree/e", "kT/e", "V", "kcal/mol/e" or "kJ/mol/e".
            temperature: of kT/e, in K.
            grid, points, spacing, padding, plan, engine, progress: as of `orbital()`.
            {parameters}

        Returns: a Map, or an array (n,) of values at points; with the field a PotentialField, of Maps or arrays.

        Errors: those of `orbital()`.
        """
        has_field = switch_of(field, "field")
        more: Dict[str, Any] = {**given, "spacing": spacing, "padding": padding}
        word = ffi.new("char[]", encoded(units, "units"))
        request = ffi.new("ley_wavefunction_request *", {
            "kind": lib.LEY_POTENTIAL, "field": has_field, "units": word, "temperature_K": number_of(temperature, "temperature")})
        place = _place_of(self._pointer, grid, points, more)
        values = _Values(self, request, place, more, [word]).compute(plan, engine, progress, more)
        if not has_field:
            return values[0]
        return PotentialField(values[0], tuple(values[1:4]) if isinstance(values, list) else values[1:4].T.copy())

    def __reduce__(self) -> Any:
        return _again, (self.arrays, self.name, self.dialect)

    def __repr__(self) -> str:
        homo = "" if self.homo is None else f", HOMO {self.homo}"
        return (f"<leyden.Wavefunction: {len(self.charges)} atoms, {self.functions} functions, {len(self.occupations)} orbitals, "
                f"{self.electrons:g} electrons{homo}>")


def _overlaps_of(arrays: Mapping[str, Any]) -> np.ndarray:
    """Of a basis, whatever the orbitals."""
    return Wavefunction._made(arrays, True).overlaps()  # pylint: disable=protected-access


def _again(arrays: Mapping[str, Any], name: str, dialect: str) -> Wavefunction:
    """One that was pickled."""
    return Wavefunction._made(arrays, True, name, dialect)  # pylint: disable=protected-access
