"""Surfaces of molecules and of maps."""
from __future__ import annotations

import html
import os
import shlex
from typing import TYPE_CHECKING, Any, List, Optional, Sequence, Tuple, Union

import numpy as np

from . import _picture, _task
from ._arrays import doubles, pointer_to, view
from ._atoms import Atoms, AtomsArgument, atoms_of
from ._c import ffi, lib
from ._compute import points
from ._engine import EngineArgument
from ._errors import Status, UsageError, file_name, text_of
from ._guesses import OF_SURFACE, Guessed
from ._maps import Map
from ._parameters import did_you_mean, take, with_parameters

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import SurfaceKeywords

_POTENTIAL_TOL = 1e-3
_DRAWN = (".png", ".tachyon")  # by the command
_WANTED = ("a PQR file's name, a Universe or AtomGroup of MDAnalysis, a Structure of ParmEd, leyden.Atoms, or, with level=, "
           "a leyden.Map or a map's file name")


class Surface(Guessed):
    """Triangles, with a normal and a value at each vertex: what `leyden.surface()` returns.

    Attributes:
        vertices: (n, 3) float64, A.
        normals: (n, 3) float32, outward, of length 1.
        triangles: (m, 3) int32, numbers of vertices, counterclockwise as seen from outside.
        values: (n,) float32, which may be written to.
        area, volume: of the smooth surface through the vertices, A^2 and A^3; the volume of one that is open, or that has
            several levels, is nan.
        levels: of a map: (level, area, volume) of each level by itself.
    """

    _guesses = OF_SURFACE

    def __init__(self, pointer: Any, operand: str = "molecule.pqr") -> None:
        self._pointer = pointer
        self._operand = operand  # what the command would be given
        count, faces = lib.ley_surface_vertex_count(pointer), lib.ley_surface_triangle_count(pointer)
        self.vertices = view(self, lib.ley_surface_vertices_A(pointer), (count, 3), np.float64, True)
        self.normals = view(self, lib.ley_surface_normals(pointer), (count, 3), np.float32, True)
        self.triangles = view(self, lib.ley_surface_triangles(pointer), (faces, 3), np.int32, True)
        self.values = view(self, lib.ley_surface_values(pointer), (count,), np.float32, False)
        self.area: float = lib.ley_surface_area_A2(pointer)
        self.volume: float = lib.ley_surface_volume_A3(pointer)
        each = [lib.ley_surface_level_at(pointer, i) for i in range(lib.ley_surface_level_count(pointer))]
        self.levels: List[Tuple[float, float, float]] = [(one.level, one.area_A2, one.volume_A3) for one in each]

    @property
    def units(self) -> str:
        """Of the values; "" when unknown."""
        return text_of(lib.ley_surface_units(self._pointer)) or ""

    @property
    def is_closed(self) -> bool:
        """False: it ends where a map ends."""
        return bool(lib.ley_surface_is_closed(self._pointer))

    def save(self, path: Any, limits: Union[None, float, Sequence[float]] = None, **others: Any) -> None:
        """Writes the form that the name's ending asks for: .ply, .obj, .stl, .glb, or a script with one of these
        beside it, .cxc, .cmd, .pml. `limits`: colours from -limits to limits, or from the first to the second;
        None: 5 kT/e, in the units of the values; of levels the largest one.

        Errors: UsageError for another ending, as of pictures, which `leyden surface` draws, and for other options;
        FileError.
        """
        name = file_name(path)
        root, ending = os.path.splitext(os.fsdecode(path))
        if ending.lower() in (*_picture.ENDINGS, *_DRAWN):
            target = os.fsdecode(path) if ending in _DRAWN else root + _DRAWN[0]
            raise UsageError(f"path: pictures are the command's: leyden surface {self._operand} -o {shlex.quote(target)}")
        for word in others:
            raise UsageError(f"save() has no option {word!r}{did_you_mean(word, ['limits'])}: it takes a path and limits")
        colours = self._colours(limits)
        comment = f"leyden surface: {self.units}".encode()

        def work(token: _task.Token) -> None:
            with Status() as status:
                status.check(lib.ley_surface_write(self._pointer, name, colours, comment, token.flag, status.pointer))

        _task.call(work)

    def _colours(self, limits: Union[None, float, Sequence[float]]) -> Any:
        """A ley_colours; None: as the command has it, 5 kT/e in the values' units, or the largest level."""
        if limits is None:
            limits = max((abs(level) for level, _, _ in self.levels), default=0.0) or \
                (1.0 if self.levels else lib.ley_colours_usual_limit(self.units.encode()))
        low, high = (-float(limits), float(limits)) if np.ndim(limits) == 0 else \
            doubles(limits, "limits", (2,))  # type: ignore[arg-type]
        if not low < high:
            raise UsageError(f"limits: {low:g} is not below {high:g}")
        colours = ffi.new("ley_colours *")
        lib.ley_colours_make(colours, low, high)
        return colours

    def __repr__(self) -> str:
        return f"<leyden.Surface: {len(self.triangles)} triangles, {self.area:.6g} A^2>"

    def _repr_png_(self) -> bytes:
        """For notebooks: a small picture along z, in the colours of `save()`."""
        colours, openness = self._colours(None), np.zeros(len(self.vertices), np.float32)
        with Status() as status:
            status.check(lib.ley_surface_openness(self._pointer, ffi.cast("float *", openness.ctypes.data), status.pointer))
        steps = np.frombuffer(ffi.buffer(colours.steps), np.uint32)
        limit = max(abs(colours.low), abs(colours.high))
        share = np.nan_to_num((np.clip(self.values, colours.low, colours.high) / limit + 1) / 2, nan=0.5)
        rgb = steps[np.round(share * (len(steps) - 1)).astype(int)]
        light = (0.4 + 0.6 * openness) * (0.5 + 0.5 * np.abs(self.normals[:, 2]))  # as the command shades them
        return _picture.surface_png(self.vertices, self.triangles, light[:, None] * np.stack(
            [rgb >> 16 & 255, rgb >> 8 & 255, rgb & 255], axis=1) / np.float32(255), self.is_closed)

    def _repr_html_(self) -> str:
        """For notebooks: a table and the picture."""
        colours, units = self._colours(None), f" {self.units}" if self.units else ""
        rows = {"triangles": f"{len(self.triangles):,}", "area": f"{self.area:.6g} Å²",
                **({} if np.isnan(self.volume) else {"volume": f"{self.volume:.6g} Å³"}),
                **({"levels": ", ".join(f"{level:g}" for level, _, _ in self.levels) + units} if self.levels else {}),
                "values": f"{self.values.min():.4g} to {self.values.max():.4g}{units}",
                "colours": f"red {colours.low:.4g} to blue {colours.high:.4g}{units}"}
        table = "".join(f"<tr><th>{name}</th><td>{html.escape(text)}</td></tr>" for name, text in rows.items())
        return f"<table>{table}</table>{_picture.html(self._repr_png_())}"


def _of_map(source: Map, level: Any) -> Any:
    levels = doubles(np.atleast_1d(level), "level", (-1,))

    def work(token: _task.Token) -> Any:
        box = ffi.new("ley_surface **")
        with Status() as status:
            status.check(lib.ley_surface_create_levels(source._pointer, len(levels), pointer_to(levels), token.flag, box,
                                                       status.pointer))
        return ffi.gc(box[0], lib.ley_surface_destroy)

    return _task.call(work)


def _is_file(source: Any) -> bool:
    return isinstance(source, (str, bytes, os.PathLike))


def _is_map_file(source: Any) -> bool:
    """A file whose name ends as a map's."""
    return _is_file(source) and lib.ley_map_format_of(file_name(source), ffi.NULL) != ffi.NULL


def _map_of(source: Union[AtomsArgument, Map], level: Any) -> Optional[Map]:
    """The map that is meant, read of its file; None: these are atoms."""
    is_map = isinstance(source, Map) or _is_map_file(source)
    if is_map and level is None:
        name = "map" if isinstance(source, Map) else repr(os.fsdecode(source))  # type: ignore[arg-type]
        raise UsageError(f"a surface of a map needs a level: leyden.surface({name}, level=1)")
    if not is_map and not (_is_file(source) or hasattr(source, "atoms") or isinstance(source, Atoms)):
        raise UsageError(f"source: {_WANTED} is needed, not {type(source).__name__}")
    if level is None:
        return None
    if isinstance(source, Map):
        return source
    if not _is_file(source) or os.fsdecode(source).endswith((".pqr", ".pqr.gz", ".atoms")):  # type: ignore[arg-type]
        raise UsageError("level is for maps, leyden.surface(\"map.dx\", level=1), and these are atoms")
    return Map.read(source)


def _operand_of(source: Any, level: Any) -> str:
    """What the command is given for it."""
    name = shlex.quote(os.fsdecode(source)) if _is_file(source) else ""
    if level is None:
        return name or shlex.quote(getattr(source, "_name", "") or "molecule.pqr")
    return f"--map {name or 'map.dx'} --level={','.join(f'{value:.9g}' for value in np.atleast_1d(level))}"


def _of_atoms(atoms: Atoms, given: Any) -> Any:
    options = ffi.new("ley_surface_options *")
    lib.ley_surface_options_default(options)
    take(options, "ley_surface_options", given, [])

    def work(token: _task.Token) -> Any:
        box = ffi.new("ley_surface **")
        with Status() as status:
            status.check(lib.ley_surface_create(atoms.pointer, options, token.flag, box, status.pointer))
        return ffi.gc(box[0], lib.ley_surface_destroy)

    return _task.call(work)


def _take_map(pointer: Any, source: Map) -> None:

    def work(token: _task.Token) -> None:
        with Status() as status:
            status.check(lib.ley_surface_take_map(pointer, source._pointer, token.flag, status.pointer))

    _task.call(work)


@with_parameters("ley_surface_options")
def surface(source: Union[AtomsArgument, Map], *, level: Any = None, map: Any = None,  # pylint: disable=redefined-builtin
            dielectric: float = 78.54, engine: EngineArgument = None, **given: Unpack[SurfaceKeywords]) -> Surface:
    """The surface of a molecule, with its potential; or of a map, where it has one of some values.

    Args:
        source: atoms, or what `Atoms()` takes, as "protein.pqr", a Universe or an AtomGroup: where
            sum_j exp(sharpness (1 - |r - r_j|^2 / R_j^2)) is 1, R_j their radii. Or a Map, or a map's file name.
        level: of a map: a value, or several. Inside is what is above one that is 0 or more, or below a negative one.
            Equal ones are drawn once.
        map: takes its values, of a Map or of a map's file, interpolated, in place of the potential.
        dielectric: of the potential, which is computed at the vertices to 1e-3, in kT/e.
        engine: where that is computed, as of `map()`.
        {parameters}

    Errors: UsageError, InputError where no atom has a radius, where the map does not reach over the surface, or where a
    level is not reached; OutOfMemoryError; and those of `points()`.
    """
    of_map = _map_of(source, level)
    if map is not None and not (isinstance(map, Map) or _is_file(map)):
        raise UsageError(f"map: a leyden.Map or a map's file name is needed, not {type(map).__name__}")
    if of_map is not None:
        return Surface(_of_map(of_map, level), _operand_of(source, level))
    atoms = atoms_of(source)  # type: ignore[arg-type]
    made = Surface(_of_atoms(atoms, given), _operand_of(source, level))
    if map is not None:
        _take_map(made._pointer, map if isinstance(map, Map) else Map.read(map))  # pylint: disable=protected-access
    else:
        potential = points(atoms, made.vertices, dielectric=dielectric, tol=_POTENTIAL_TOL, engine=engine)
        made.values[:] = potential.values
        lib.ley_surface_set_units(made._pointer, potential.units.encode())  # pylint: disable=protected-access
    return made
