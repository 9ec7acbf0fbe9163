"""Surfaces of molecules and of maps."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional, Sequence, Union

import numpy as np

from . import _task
from ._arrays import doubles, pointer_to, view
from ._atoms import Atoms
from ._c import ffi, lib
from ._compute import points
from ._engine import EngineArgument
from ._errors import Status, UsageError, file_name, text_of
from ._maps import Map
from ._parameters import take, with_parameters

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import SurfaceKeywords

_POTENTIAL_TOL = 1e-3


class Surface:
    """Triangles, with a normal and a value at each vertex: what `leyden.surface()` returns.

    Attributes:
        vertices: (n, 3) float64, A.
        normals: (n, 3) float32, outward, of length 1.
        triangles: (m, 3) int32, numbers of vertices, counterclockwise as seen from outside.
        values: (n,) float32, which may be written to.
        area, volume: of the smooth surface through the vertices, A^2 and A^3; the volume of one that is open is nan.
    """

    def __init__(self, pointer: Any) -> None:
        self._pointer = pointer
        count, faces = lib.ley_surface_vertex_count(pointer), lib.ley_surface_triangle_count(pointer)
        self.vertices = view(self, lib.ley_surface_vertices_A(pointer), (count, 3), np.float64, True)
        self.normals = view(self, lib.ley_surface_normals(pointer), (count, 3), np.float32, True)
        self.triangles = view(self, lib.ley_surface_triangles(pointer), (faces, 3), np.int32, True)
        self.values = view(self, lib.ley_surface_values(pointer), (count,), np.float32, False)
        self.area: float = lib.ley_surface_area_A2(pointer)
        self.volume: float = lib.ley_surface_volume_A3(pointer)

    @property
    def units(self) -> str:
        """Of the values; "" when unknown."""
        return text_of(lib.ley_surface_units(self._pointer)) or ""

    @property
    def is_closed(self) -> bool:
        """False: it ends where a map ends."""
        return bool(lib.ley_surface_is_closed(self._pointer))

    def save(self, path: Any, limits: Union[float, Sequence[float]] = 5) -> None:
        """Writes the form that the name's ending asks for: .ply, .obj, .stl, .glb, or a script with one of these
        beside it, .cxc, .cmd, .pml. `limits`: colours from -limits to limits, or from the first to the second.

        Errors: UsageError for another ending, FileError.
        """
        low, high = (-float(limits), float(limits)) if np.ndim(limits) == 0 else \
            doubles(limits, "limits", (2,))  # type: ignore[arg-type]
        if not low < high:
            raise UsageError(f"limits: {low:g} is not below {high:g}")
        colours = ffi.new("ley_colours *")
        lib.ley_colours_make(colours, low, high)
        name, comment = file_name(path), f"leyden surface: {self.units}".encode()

        def work(token: _task.Token) -> None:
            with Status() as status:
                status.check(lib.ley_surface_write(self._pointer, name, colours, comment, token.flag, status.pointer))

        _task.call(work)

    def __repr__(self) -> str:
        return f"<leyden.Surface: {len(self.triangles)} triangles, {self.area:.6g} A^2>"


def _of_map(source: Map, level: Any) -> Any:
    levels = doubles(np.atleast_1d(level), "level", (-1,))
    box = ffi.new("ley_surface **")
    with Status() as status:
        status.check(lib.ley_surface_create_levels(source._pointer, len(levels), pointer_to(levels), box, status.pointer))
    return box[0]


def _of_atoms(atoms: Atoms, given: Any) -> Any:
    box, options = ffi.new("ley_surface **"), ffi.new("ley_surface_options *")
    lib.ley_surface_options_default(options)
    take(options, "ley_surface_options", given, [])
    with Status() as status:
        status.check(lib.ley_surface_create(atoms.pointer, options, box, status.pointer))
    return box[0]


@with_parameters("ley_surface_options")
def surface(source: Union[Atoms, Map], *, level: Any = None, map: Optional[Map] = None,  # pylint: disable=redefined-builtin
            dielectric: float = 78.54, engine: EngineArgument = None, **given: Unpack[SurfaceKeywords]) -> Surface:
    """The surface of a molecule, with its potential; or of a map, where it has one of some values.

    Args:
        source: atoms: where sum_j exp(sharpness (1 - |r - r_j|^2 / R_j^2)) is 1, R_j their radii. Or a Map.
        level: of a map: a value, or several. Inside is what is above one that is 0 or more, or below a negative one.
        map: takes its values, interpolated, in place of the potential.
        dielectric: of the potential, which is computed at the vertices to 1e-3, in kT/e.
        engine: where that is computed, as of `map()`.
        {parameters}

    Errors: UsageError, InputError where no atom has a radius, where the map does not reach over the surface, or where a
    level is not reached; OutOfMemoryError; and those of `points()`.
    """
    if isinstance(source, Map):
        if level is None:
            raise UsageError("a surface of a map needs a level")
        return Surface(ffi.gc(_of_map(source, level), lib.ley_surface_destroy))
    if level is not None:
        raise UsageError("level is of maps")
    made = Surface(ffi.gc(_of_atoms(source, given), lib.ley_surface_destroy))
    if map is not None:
        with Status() as status:
            status.check(lib.ley_surface_take_map(made._pointer, map._pointer, status.pointer))  # pylint: disable=protected-access
    else:
        potential = points(source, made.vertices, dielectric=dielectric, tol=_POTENTIAL_TOL, engine=engine)
        made.values[:] = potential.values
        lib.ley_surface_set_units(made._pointer, potential.units.encode())  # pylint: disable=protected-access
    return made
