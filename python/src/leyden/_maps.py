"""Maps, potentials at points, and planes of maps."""
from __future__ import annotations

import html
import json
import os
import threading
import warnings
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Literal, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np
from numpy.typing import ArrayLike

from . import _picture, _task
from ._arrays import numbers, view
from ._atoms import positions_in, positions_of
from ._c import ffi, lib
from ._cell import Cell
from ._errors import InputError, MapWarning, Status, UsageError, encoded, file_name, number_of, text_of
from ._guesses import OF_MAP, OF_POINTS, Guessed
from ._grid import Grid, axis_number, grid_of
from ._report import accuracy_lines, device_lines, tolerance_line


def make_map(grid: Grid) -> Any:
    """A ley_map of this grid, owned by what is returned."""
    return make_maps(grid, 1)[0]


def make_maps(grid: Grid, count: int) -> List[Any]:
    """So many of them: all, or none."""
    box = ffi.new("ley_map *[]", count)
    with Status() as status:
        status.check(lib.ley_maps_create(grid.pointer, count, box, status.pointer))
    return [own_map(pointer) for pointer in box]


def own_map(pointer: Any) -> Any:
    return ffi.gc(pointer, lib.ley_map_destroy, 4 * lib.ley_grid_points(lib.ley_map_grid(pointer)))


def make_field(pointer: Any, grid: Grid) -> List[Any]:
    """Three more maps of its grid, which jobs fill with the field beside this one."""
    made = [make_map(grid) for _ in range(3)]
    with Status() as status:
        status.check(lib.ley_map_set_field(pointer, made, status.pointer))
    return made


def _field_names(path: bytes) -> List[bytes]:
    """Of a field's maps beside this one, as the command names them."""
    name, ending = ffi.new("char[]", path), ffi.new("const char **")
    if lib.ley_map_format_of(name, ending) == ffi.NULL:
        return [path] * 3  # which is refused
    tail = ffi.string(ending[0])
    return [path[:-len(tail)] + b"_E" + axis + tail for axis in (b"x", b"y", b"z")]


def _remove(path: bytes) -> None:
    """A file that was written, and the one beside it; a pipe or a device stays."""
    beside = lib.ley_map_format_of(path, ffi.NULL).beside
    for name in [path] + ([] if beside == ffi.NULL else [path + ffi.string(beside)]):
        target = os.path.realpath(name)
        if os.path.isfile(target):
            os.unlink(target)


class Origin(NamedTuple):
    """What a map was computed of: files of some formats hold it."""

    atoms: Any
    dielectric: float
    temperature: float
    r_min: float
    tolerance: float  # 0: none
    math: str
    cell: Cell  # images
    details: Tuple[str, ...]  # pair function, screening and cell, as lines


Plane = Literal["x", "y", "z", 0, 1, 2]


class Map(Guessed):
    """A scalar field on a grid: what `leyden.map()` returns.

    >>> potential = leyden.Map("protein.dx")
    >>> change = potential - leyden.Map("mutant.dx")
    >>> change[12], abs(change).values.max(), change.interpolate(atoms)

    Args:
        source: the name of a file, as `read` takes it; or values, (nz, ny, nx), which are copied, of
        grid: the Grid where they lie, and
        units: of the values, "kT/e" say.

    Indices, `map[k, j, i]`, are those of the values: planes along z first. NumPy takes a map for its
    values. Sums, differences, products and ratios of maps with maps of the same grid, with numbers
    and with arrays are maps; without the field. Maps of other grids, or sums of other units, are an
    InputError.

    Attributes:
        report: how it was computed, with what the verification found; None of maps that were read, or made of others:
            it is not in their files (`leyden map --json FILE` writes one, `json.dump(map.report, ...)` too).
        field: the electric field, three Maps along x, y and z in the values' unit per A, or None.
    """

    _guesses = OF_MAP
    _pointer: Any
    _lock: threading.Lock
    _axis: str
    header: str
    facts: Tuple[str, ...]
    _kept: Any
    _origin: Optional[Origin]
    # With Any, so that type checkers need no test for None of what the caller knows to be there.
    report: Union[Dict[str, Any], Any]
    field: Union[Tuple["Map", "Map", "Map"], Any]
    __array_priority__ = 1.0  # array * map asks the map

    def __init__(self, source: Union[str, "os.PathLike[str]", ArrayLike], grid: Optional[Grid] = None,
                 units: str = "") -> None:
        if grid is not None:
            made = self.from_array(source, grid, units)
        elif isinstance(source, (str, bytes, os.PathLike)):
            made = self.read(source)
        else:
            raise UsageError("Map(): a file's name is needed, or values and their grid: Map(values, grid); "
                             "leyden.map(atoms) computes one")
        self.__dict__.update(made.__dict__)

    @classmethod
    def _of(cls, pointer: Any, report: Optional[Dict[str, Any]] = None, origin: Optional[Origin] = None) -> "Map":
        """Of a ley_map."""
        self = cls.__new__(cls)
        self._pointer = pointer
        self._lock = threading.Lock()
        self._axis = ""  # of a component of a field
        self.header = ""  # of its files, where it is not what the report says of a sum
        self.facts = ()  # of the report, which its files have then
        self._kept = None  # what must be there as long as the map
        self._origin = origin  # keeps the atoms
        if origin is not None:
            lib.ley_map_set_atoms(pointer, origin.atoms.pointer)
        self.report = report
        self.field = None
        return self

    def keep_field(self, pointers: List[Any]) -> None:
        """The C library's map knows those of its field as long as it is there itself."""
        self._field_pointers = pointers
        for axis, component in zip("xyz", self.field or ()):
            component._axis = axis

    @classmethod
    def from_array(cls, values: Any, grid: Grid, units: str = "") -> "Map":
        """Copies values, (nz, ny, nx), to a map of this grid.

        Errors: InputError for another shape.
        """
        array = numbers(values, "values", np.float32)
        if array.shape != grid_of(grid).shape:
            raise InputError(f"values has the shape {array.shape}, and the grid's is (nz, ny, nx) = {grid.shape}")
        made = cls._of(make_map(grid))
        made.values[...] = array
        made.units = units
        return made

    @classmethod
    def read(cls, path: Any, value: Union[None, int, str] = None, gaps: bool = False) -> "Map":
        """Reads a map, plain or packed by gzip, in whatever format its content is: OpenDX, MRC, cube, ...

        `value`: of a cube file with several values at each point the one of this number, from 1, or
        of this orbital, "orbital_21". What may be meant otherwise in the file is a MapWarning. Errors: FileError; InputError with
        ``file:line: what``.
        """
        name = file_name(path)
        chosen = ffi.NULL if value is None else encoded(str(value), "value")

        def work(token: _task.Token) -> "Map":
            box = ffi.new("ley_map **")
            with Status() as status:
                read_it = lib.ley_map_read_with_gaps if gaps else lib.ley_map_read_value
                status.check(read_it(name, chosen, box, status.pointer))
            return cls._of(own_map(box[0]))

        read = _task.call(work)
        remark = text_of(lib.ley_map_remark(read._pointer))
        if remark is not None:
            warnings.warn(remark, MapWarning, stacklevel=2)
        return read

    def save(self, path: Any, comment: Optional[str] = None) -> None:
        """Writes the map in the form that the name's ending asks for (.dx, .mrc, .ccp4, ...),
        packed by gzip where .gz stands behind it; and its field, where it has one, beside it in
        three more files of that form, MAP_Ex.dx, MAP_Ey.dx and MAP_Ez.dx beside MAP.dx.

        Files appear whole or not at all. `comment`: lines for their headers in place of the usual
        ones. A form from which other programs would place the points of an oblique grid wrongly is
        a MapWarning. Errors: UsageError for an ending that is unknown, FileError, InputError for
        values that are not numbers.
        """
        name = file_name(path)
        if os.fsdecode(path).lower().endswith(_picture.ENDINGS):
            raise UsageError(f"path: maps are saved as .dx, .mrc, ...; a picture of a plane is "
                             f"map.plot(\"z\").figure.savefig({os.fsdecode(path)!r})")
        text = self._comment() if comment is None else encoded(comment, "comment").decode()
        facts = json.dumps(self._facts()).encode()
        parts = [*zip(self.field, _field_names(name)), (self, name)] if self.field else [(self, name)]

        def work(token: _task.Token) -> None:
            written = []
            try:
                for part, file in parts:
                    part._write(file, text, facts, token)
                    written.append(file)
            except BaseException:
                for file in written:
                    _remove(file)
                raise

        remark = ffi.new("char[256]")
        form = lib.ley_map_format_of(name, ffi.NULL)
        if form != ffi.NULL and lib.ley_map_format_remark(form, self.grid.pointer, remark, 256):
            warnings.warn(f"{os.path.basename(os.fsdecode(name))}: {text_of(remark)}", MapWarning, stacklevel=2)
        _task.call(work)

    write = save

    def _write(self, name: bytes, text: str, facts: bytes, token: _task.Token) -> None:
        if self._axis:
            text = f"field along {self._axis}, less the gradient of the potential, in {self.units}\n{text}"
        with token.holding(self._lock), Status() as status:
            status.check(lib.ley_map_write(self._pointer, name, text.encode(), facts, token.flag, status.pointer))

    def _comment(self) -> str:
        """As the command writes it; atoms that are of no file are no molecule that has a name."""
        report, of = self.report, self._origin
        if self.header:
            return self.header
        if report is None or of is None:
            return f"leyden {text_of(lib.ley_version())}" + (f"\nunits: {self.units}" if self.units else "")
        atoms = len(of.atoms)
        medium = "" if self.units == "kcal/mol" else \
            f"dielectric {of.dielectric:.15g}, temperature {of.temperature:.15g} K, "
        lines = [f"method: {report['method']}",
                 (f"molecule: {of.atoms._name}, {atoms} atom{'s' if atoms != 1 else ''}" if of.atoms._name else
                  f"atoms: {atoms}") + f", total charge {of.atoms.total_charge:.6g} e",
                 *of.details,
                 f"units: {self.units}, {medium}r_min {of.r_min:.15g} A"]
        if self.field:
            lines.append(f"field: maps _Ex, _Ey, _Ez beside the potential's, less the gradient of phi, in {self.units}/A")
        if of.tolerance > 0:
            lines.append(tolerance_line(report, of.tolerance))
        lines.append(f"math: {of.math}, sum: {report['sum']}")
        return "\n".join(lines + device_lines(report) + accuracy_lines(report))

    def _facts(self) -> Dict[str, Any]:
        if self.header:
            return {name: self.report[name] for name in ("method", *self.facts)}
        if self.report is None:
            return {}
        accuracy, of = self.report["seeded_accuracy"], self._origin
        medium = {} if of is None else {"dielectric": of.dielectric, "temperature_K": of.temperature,
                                        "r_min_A": of.r_min}
        return {"method": self.report["method"], **medium, "sum": self.report["sum"],
                "accuracy": None if accuracy is None else
                {name: accuracy[name] for name in ("points", "compared", "max_error", "absolute_rms")}}

    @property
    def values(self) -> np.ndarray:
        """(nz, ny, nx) float32: a view of the map's own memory, which may be written to."""
        return view(self, lib.ley_map_values(self._pointer), self.grid.shape, np.float32, False)

    @property
    def grid(self) -> Grid:
        """Where the points lie."""
        return Grid._of(lib.ley_map_grid(self._pointer))

    @property
    def shape(self) -> Tuple[int, int, int]:
        """Of the values: (nz, ny, nx)."""
        return self.grid.shape

    @property
    def lattice(self) -> Grid:
        """What `grid` was called in the release before."""
        warnings.warn("Map.lattice is called Map.grid now", DeprecationWarning, stacklevel=2)
        return self.grid

    @property
    def units(self) -> str:
        """Of the values, "kT/e" say; empty when unknown."""
        return text_of(lib.ley_map_units(self._pointer)) or ""

    @units.setter
    def units(self, units: str) -> None:
        lib.ley_map_set_units(self._pointer, encoded(units, "units"))

    def slice(self, plane: Plane = "z", at: Optional[float] = None, **axis: float) -> "Slice":
        """The plane of grid points upon axis `plane` that is nearest to coordinate `at`, A.

        None: the middle one. `z=12.5` is plane "z" at 12.5. Errors: UsageError where the map does not reach there, InputError of
        an oblique grid.
        """
        if axis:
            if len(axis) > 1 or set(axis) - set("xyz") or at is not None:
                drawn = [name for name in axis if name in _picture.OPTIONS]
                raise TypeError(f"slice() takes a plane and where it is, slice('z', at=12.5), and no {', '.join(axis)}"
                                + (f": map.plot('z', at=12.5, {drawn[0]}=...) draws it" if drawn else ""))
            (plane, at), = axis.items()  # type: ignore[assignment]
        normal = axis_number(plane)
        across, up = [m for m in range(3) if m != normal]
        coordinates = [self.grid.axis(m) for m in range(3)]
        along = coordinates[normal]
        spacing = self.grid.spacing
        nearest = len(along) // 2 if at is None else \
            np.floor((number_of(at, "at") - along[0]) / spacing[normal] + 0.5)
        if not 0 <= nearest < len(along):
            raise UsageError(f"at: {at:.10g} is out of range: the map reaches from {'xyz'[normal]} = "
                             f"{along[0]:.10g} to {along[-1]:.10g} A")
        index = int(nearest)
        picked: Any = [np.s_[:]] * 3
        picked[2 - normal] = index
        return Slice(self.values[tuple(picked)], "xyz"[normal], float(along[index]), ("xyz"[across], "xyz"[up]),
                     (coordinates[across][0], coordinates[across][-1], coordinates[up][0], coordinates[up][-1]),
                     self.units, os.path.splitext(self._molecule())[0],
                     self._dielectric(), index)

    def _molecule(self) -> str:
        """Its file's name; "" where it is unknown."""
        return (text_of(lib.ley_map_molecule(self._pointer)) or "") if self._origin is None else self._origin.atoms._name

    def _dielectric(self) -> float:
        """0 where it is unknown, and of energies, which have none."""
        if self._origin is None:
            return lib.ley_map_dielectric(self._pointer)
        return self._origin.dielectric if self.units != "kcal/mol" else 0.0

    def plot(self, plane: Plane = "z", at: Optional[float] = None, **options: Any) -> Any:
        """Draws a plane as `leyden slice` does; matplotlib's image.

        Args:
            plane, at: which, as of `slice()`; also axis="z", or z=12.5.
            options: those of `Slice.plot()`: ax, limit, limits, range, title, transparent, and imshow's.

        Errors: those of `slice()`; UsageError for an unknown option.
        """
        if hasattr(plane, "imshow"):
            raise UsageError(f"plane: x, y or z is needed; axes to draw in are ax: plot(ax=ax), not {type(plane).__name__}")
        if "axis" in options:
            if plane != "z":
                raise UsageError("axis and plane are the same: give one of them")
            plane = options.pop("axis")
        axis = {name: options.pop(name) for name in "xyz" if name in options}
        _picture.check(options, ("plane", "axis", "at", "x", "y", "z"))
        return self.slice(plane, at, **axis).plot(**options)

    def interpolate(self, points: Any) -> np.ndarray:
        """Values at points anywhere in the grid, trilinear between the eight around each, float64, (n,).

        v(s) = sum over the corners c of prod_m (1 - |s_m - c_m|) v_c, s in steps from the grid's origin. A
        map that was computed of a whole periodic cell goes on beyond its faces; elsewhere points outside
        are an InputError. Beside point charges values are `leyden.points()`, not these.

        Args:
            points: (n, 3), or (3,) for one value, A; or Atoms, a Universe or an AtomGroup, for their positions.
        """
        xyz = positions_of(points, "points")
        is_one = positions_in(points) is points and np.ndim(points) == 1
        grid, shape = self.grid, self.shape[::-1]
        steps = (xyz - grid.origin) @ np.linalg.inv(grid.step)
        is_round = self._periodic_axes()
        last = np.array(shape) - 1
        is_inside = np.all(np.where(is_round, np.isfinite(steps), (steps > -1e-6) & (steps < last + 1e-6)), axis=1)
        if not np.all(is_inside):
            i = int(np.argmin(is_inside))
            raise InputError(f"points[{i}], {xyz[i].tolist()} A, is outside of the map, from {grid.point(0, 0, 0).tolist()} "
                             f"to {grid.point(*last).tolist()} A")
        first = np.where(is_round, np.floor(steps), np.clip(np.floor(steps), 0, np.maximum(last - 1, 0)))
        found = np.zeros(len(xyz))
        for corner in np.ndindex(2, 2, 2):
            i, j, k = np.where(is_round, np.mod(first + corner, shape), np.minimum(first + corner, last)).astype(int).T
            found += np.prod(1 - np.abs(steps - first - corner), axis=1) * self.values[k, j, i]
        return found[0] if is_one else found

    def _periodic_axes(self) -> np.ndarray:
        """Along which of its axes the map is one period of the cell: (3,)."""
        cell = None if self._origin is None else self._origin.cell
        if cell is None:
            return np.zeros(3, bool)
        edges = self.grid.step * np.array(self.grid.n)[:, None]
        return np.array(cell.periodic) & np.all(np.isclose(edges, cell.vectors, rtol=1e-9, atol=1e-6), axis=1)

    def _combined(self, other: Any, do: Callable[[Any, Any], Any], units: Optional[str] = None) -> "Map":
        """do(values, other's), in these units; None: the map's own, or the other's."""
        if isinstance(other, Map):
            options = ffi.new("ley_compare_options *")
            lib.ley_compare_options_default(options)
            options.any_units = units is not None
            with Status() as status:
                status.check(lib.ley_map_check_alike(self._pointer, other._pointer, options, status.pointer))
            units = self.units or other.units if units is None else units
        elif not isinstance(other, (int, float, np.number, np.ndarray)):
            return NotImplemented
        return Map.from_array(do(self.values, np.asarray(other)), self.grid, self.units if units is None else units)

    def __add__(self, other: Any) -> "Map":
        return self._combined(other, np.add)

    def __sub__(self, other: Any) -> "Map":
        return self._combined(other, np.subtract)

    def __rsub__(self, other: Any) -> "Map":
        return self._combined(other, lambda a, b: b - a)

    def __mul__(self, other: Any) -> "Map":
        return self._combined(other, np.multiply, "" if isinstance(other, Map) else None)

    def __truediv__(self, other: Any) -> "Map":
        return self._combined(other, np.true_divide, "" if isinstance(other, Map) else None)

    def __rtruediv__(self, other: Any) -> "Map":
        return self._combined(other, lambda a, b: b / a, "")

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> "Map":
        return self._combined(-1, np.multiply)

    def __abs__(self) -> "Map":
        return self._combined(0, lambda a, _: np.abs(a))

    def __getitem__(self, key: Any) -> Any:
        """Of the values: map[k, j, i], map[12], map[:, :, 7]."""
        return self.values[key]

    def __setitem__(self, key: Any, values: Any) -> None:
        self.values[key] = values

    def to_gridData(self) -> Any:  # pylint: disable=invalid-name
        """The map as a gridData.Grid (GridDataFormats), whose axes are x, y, z. Copies.

        Errors: ImportError where GridDataFormats is not installed, InputError of an oblique grid.
        """
        import gridData
        if not self.grid.is_orthogonal:
            raise InputError("GridDataFormats has no oblique grids")
        return gridData.Grid(np.array(self.values.transpose(2, 1, 0)), origin=self.grid.origin, delta=self.grid.spacing)

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> np.ndarray:
        return np.array(self.values, dtype) if copy else np.asarray(self.values, dtype)

    def __repr__(self) -> str:
        nx, ny, nz = self.grid.n
        return f"<leyden.Map: {nx} x {ny} x {nz} points, {self.units or 'unknown units'}>"

    def _repr_html_(self) -> str:
        """For notebooks: a table, and the middle plane where matplotlib is installed."""
        values, grid = self.values, self.grid
        rows = {"points": " x ".join(map(str, grid.n)), "spacing": f"{grid.spacing.round(6).tolist()} Å",
                "origin": f"{grid.origin.round(6).tolist()} Å",
                "values": f"{values.min():.6g} to {values.max():.6g}, mean {values.mean(dtype=float):.6g} {self.units}"}
        if self.report is not None:
            rows["method"] = self.report["method"]
            if self.report["accuracy"] is not None:
                rows["off by"] = f"{self.report['accuracy']['relative_rms']:.2g} of the values' root mean square"
        table = "".join(f"<tr><th>{name}</th><td>{html.escape(text)}</td></tr>" for name, text in rows.items())
        png = _picture.png(self.slice()) if grid.is_orthogonal else None
        image = "" if png is None else _picture.html(png)
        return f"<table>{table}</table>{image}"


@dataclass(frozen=True, eq=False)
class Slice:
    """A plane of a map.

    Attributes:
        values: (rows, columns), a view of the map's: rows along axes[1], columns along axes[0].
        plane: the axis upon it; `at`: where it lies along that, A.
        axes: the axes across and upwards, ("x", "y") say.
        extent: lowest and highest coordinate along both of these, as matplotlib takes it, A.
        units: of the values.
        title: the molecule's name, dielectric: of the medium; empty and 0 where the map says neither.
        index: which plane of the map it is.
    """

    values: np.ndarray
    plane: str
    at: float
    axes: Tuple[str, str]
    extent: Tuple[float, float, float, float]
    units: str
    title: str = ""
    dielectric: float = 0.0
    index: int = 0

    def plot(self, ax: Any = None, limit: Union[None, float, Sequence[float]] = None, **options: Any) -> Any:
        """Draws it by matplotlib's imshow, as `leyden slice` does: red below zero and blue above; the image.

        Args:
            ax: where; None: a new figure.
            limit: colours from -limit to limit; None: what 98 % of the values are within, rounded up.
            limits: the same, or the values at both ends, (-3, 7); white is always 0.
            range: both ends.
            title: the heading's first line; None: the molecule, where it is known.
            transparent: True: the figure has no background, and neither have pictures that `savefig()` makes of it.
            options: imshow's: cmap, norm, vmin, vmax, interpolation, alpha, ...

        Errors: UsageError for an unknown option, or for limits that make no range.
        """
        return _picture.draw(self, ax, {"limit": limit, **options})

    def __repr__(self) -> str:
        rows, columns = self.values.shape
        return (f"<leyden.Slice: {self.plane} = {self.at:g} A, {columns} x {rows} points along {' and '.join(self.axes)}, "
                f"{self.units or 'unknown units'}>")

    def _repr_html_(self) -> Optional[str]:
        """For notebooks: its picture, where matplotlib is installed."""
        picture = _picture.png(self)
        return None if picture is None else _picture.html(picture)


class Points(Guessed):
    """Potentials at a list of points: what `leyden.points()` returns.

    Attributes:
        report: how they were computed, with what the verification found.
    """

    _guesses = OF_POINTS

    def __init__(self, pointer: Any, report: Dict[str, Any]) -> None:
        self._pointer = pointer
        self._lock = threading.Lock()
        self.report = report

    def __len__(self) -> int:
        return lib.ley_points_count(self._pointer)

    @property
    def xyz(self) -> np.ndarray:
        """The points, (n, 3) float64, A: a read-only view."""
        return view(self, lib.ley_points_positions_A(self._pointer), (len(self), 3), np.float64, True)

    @property
    def values(self) -> np.ndarray:
        """Potentials, (n,) float64, in the order of the points: a view."""
        return view(self, lib.ley_points_values(self._pointer), (len(self),), np.float64, False)

    @property
    def field(self) -> Union[np.ndarray, Any]:
        """The electric field, (n, 3) float64, in the values' unit per A: a view; None: not asked for."""
        pointer = lib.ley_points_field(self._pointer)
        return None if pointer == ffi.NULL else view(self, pointer, (len(self), 3), np.float64, False)

    @property
    def units(self) -> str:
        """Of the values, "kT/e" say; empty when unknown."""
        return text_of(lib.ley_points_units(self._pointer)) or ""

    def save(self, path: Any, comment: Optional[str] = None) -> None:
        """Writes lines x,y,z,phi, and ex,ey,ez of a field, below a header; the same columns as an array,
        without the comment, where the path ends in .npy. Errors: FileError, InputError."""
        name = file_name(path)
        text = ffi.NULL if comment is None else ffi.new("char[]", encoded(comment, "comment"))

        def work(token: _task.Token) -> None:
            with token.holding(self._lock), Status() as status:
                if os.fsdecode(path).endswith(".npy"):
                    code = lib.ley_points_write_npy(self._pointer, name, token.flag, status.pointer)
                else:
                    code = lib.ley_points_write_csv(self._pointer, name, text, token.flag, status.pointer)
                status.check(code)

        _task.call(work)

    write = save

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> np.ndarray:
        return np.array(self.values, dtype) if copy else np.asarray(self.values, dtype)

    def __float__(self) -> float:
        """Of one point, its potential. Errors: TypeError of several."""
        if len(self) != 1:
            raise TypeError(f"these are {len(self)} potentials: points.values has them all")
        return float(self.values[0])

    def __repr__(self) -> str:
        plural = "" if len(self) == 1 else "s"
        return f"<leyden.Points: {len(self)} potential{plural}, {self.units}{', with the field' if self.field is not None else ''}>"
