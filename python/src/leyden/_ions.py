"""Ions around a molecule."""
from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional, Sequence, Tuple, Union

import numpy as np

from . import _task
from ._atoms import Atoms, AtomsArgument, atoms_of
from ._c import ffi, lib
from ._cell import Cell, Periodic
from ._engine import EngineArgument, engine_of
from ._errors import Status, UsageError, file_name, switch_of, text_of
from ._parameters import did_you_mean, take, with_parameters

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import IonsKeywords

# "NA", or ("NA", charge), or ("NA", charge, count).
Species = Union[str, Tuple[str, float], Tuple[str, float, int]]


class Ions:
    """Ions that were placed: what `leyden.ions()` returns, in their order.

    Attributes:
        names: (n,) texts. charges: (n,) float64, e. radii: (n,), A.
        positions: (n, 3) float64, A.
        nodes: (n, 3) int64, of the grid; -1 where ions took the places of waters.
        oxygens: (n,) int64, numbers of the atoms, from 0, whose places ions took; -1.
        energies: (n,) float64, charge times the potential of solute and ions before, in `units` times e.
        energies_kcal_mol: (n,) the same in kcal/mol, for a permittivity of 1.
        removed: (m,) int64, the numbers of the atoms of waters that are gone.
        report: how it was done, a dict.
    """

    def __init__(self, pointer: Any, source: Optional[bytes], waters: Any, atoms: int, units: str) -> None:
        self._pointer, self._source, self.units = pointer, source, units
        placed = [lib.ley_ions_get(pointer, i) for i in range(lib.ley_ions_count(pointer))]
        self.names: List[str] = [text_of(ion.name) or "" for ion in placed]
        self.charges = np.array([ion.charge_e for ion in placed], float)
        self.radii = np.array([ion.radius_A for ion in placed], float)
        self.positions = np.array([list(ion.position_A) for ion in placed], float).reshape(-1, 3)
        self.nodes = np.array([list(ion.node) for ion in placed], np.int64).reshape(-1, 3)
        self.energies = np.array([ion.energy for ion in placed], float)
        self.energies_kcal_mol = np.array([ion.energy_kcal_mol for ion in placed], float)
        taken = [ion.water for ion in placed]
        self.oxygens = np.array([lib.ley_waters_oxygen(waters, i) if i >= 0 else -1 for i in taken], np.int64)
        self.removed = np.zeros(0, np.int64)
        if waters is not None:
            water = np.frombuffer(ffi.buffer(lib.ley_waters_numbers(waters), 4 * atoms), np.int32)
            self.removed = np.flatnonzero(np.isin(water, taken) & (water >= 0))
        self.report: Dict[str, Any] = _report_of(lib.ley_ions_how(pointer))

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[Tuple[str, np.ndarray]]:
        return zip(self.names, self.positions)

    @property
    def atoms(self) -> Atoms:
        """The ions as atoms, which can be added to others."""
        return Atoms(self.positions, self.charges, self.radii)

    def save(self, path: Any, ions_only: bool = False) -> None:
        """Writes the molecule with its ions, without waters that were replaced, or the ions alone: .pqr or .pdb.

        The molecule's records are those of the PQR file that `ions()` was given the name of. Errors: UsageError for
        other names, and where there is no such file; FileError, InputError.
        """
        name = file_name(path)
        if not ions_only and self._source is None:
            raise UsageError("save() copies the records of a PQR file, and these ions were placed around arrays: "
                             "save(path, ions_only=True), or ions(\"molecule.pqr\", ...)")
        source = ffi.NULL if ions_only else self._source

        def work(token: _task.Token) -> None:
            with Status() as status:
                status.check(lib.ley_ions_write(self._pointer, source, name, ffi.NULL, token.flag, status.pointer))

        _task.call(work)

    def __repr__(self) -> str:
        return f"<leyden.Ions: {', '.join(f'{self.names.count(n)} {n}' for n in dict.fromkeys(self.names)) or 'none'}>"


def _report_of(how: Any) -> Dict[str, Any]:
    names = ("nodes", "free_nodes", "volume_A3", "solute_charge_e", "total_charge_e", "waters_removed", "potential_rms",
             "energy_error", "recomputed", "undecided", "potential_s", "mask_s", "placing_s", "bricks", "searched")
    report: Dict[str, Any] = {name: getattr(how, name) for name in names}
    report.update(method=text_of(how.method), device=text_of(how.device), n=list(how.grid.n),
                  origin_A=list(how.grid.origin_A), step_A=[list(step) for step in how.grid.step_A])
    return report


def _species_of(wanted: Any, keep: List[Any]) -> Any:
    """An array of ley_ion_species."""
    if isinstance(wanted, str) or (isinstance(wanted, tuple) and wanted and isinstance(wanted[0], str)):
        wanted = [wanted]
    if not isinstance(wanted, (list, tuple)) or not wanted:
        raise UsageError("species: no ion is named: leyden.ions(atoms, [(\"NA\", +1), (\"CL\", -1)], neutralise=True)")
    known: List[str] = []
    while lib.ley_ion_species_name(len(known)) != ffi.NULL:
        known.append(text_of(lib.ley_ion_species_name(len(known))) or "")
    array = ffi.new("ley_ion_species[]", max(len(wanted), 1))
    for to, one in zip(array, wanted):
        words = (one,) if isinstance(one, str) else tuple(one)
        if not 1 <= len(words) <= 3 or not isinstance(words[0], str):
            raise UsageError(f"species: a name, (name, charge) or (name, charge, count) is needed, not {one!r}")
        charge, radius = ffi.new("double *"), ffi.new("double *")
        is_known = lib.ley_ion_species_find(words[0].encode(), charge, radius)
        if len(words) == 1 and not is_known:
            raise UsageError(f"species: no ion {words[0]!r} is known{did_you_mean(words[0], known)}: "
                             f"say its charge, ({words[0]!r}, +1)")
        try:
            to.charge_e = float(words[1]) if len(words) > 1 else charge[0]
            to.count = int(words[2]) if len(words) > 2 else 0
        except (TypeError, ValueError, OverflowError):
            raise UsageError(f"species: {one!r} is not (name, charge, count)") from None
        keep.append(ffi.new("char[]", words[0].encode()))
        to.name, to.radius_A = keep[-1], radius[0]
    return array


def _waters_of(source: Any, atoms: Atoms) -> Any:
    """The ley_waters of a PQR file, or of a Universe's residues."""
    box = ffi.new("ley_waters **")
    if isinstance(source, (str, bytes, os.PathLike)):
        with Status() as status:
            status.check(lib.ley_waters_read(file_name(source), atoms.pointer, box, status.pointer))
        return ffi.gc(box[0], lib.ley_waters_destroy)
    group = getattr(source, "atoms", None)
    if not hasattr(group, "resnames") or not hasattr(group, "names"):
        raise UsageError("replace_waters needs the names of atoms and residues: a PQR file's name, or a Universe")
    names: List[str] = []
    while lib.ley_waters_residue(len(names)) != ffi.NULL:
        names.append(text_of(lib.ley_waters_residue(len(names))) or "")
    residues = np.asarray(group.resindices)
    is_oxygen = np.array([name.lstrip("0123456789").startswith("O") for name in group.names])
    found = np.flatnonzero(np.isin(group.resnames, names) & is_oxygen)
    kept, first = np.unique(residues[found], return_index=True)
    oxygen = found[first].astype(np.int64)
    number = {residue: i for i, residue in enumerate(kept)}
    water = np.array([number.get(residue, -1) for residue in residues], np.int32)
    with Status() as status:
        status.check(lib.ley_waters_create(len(water), ffi.from_buffer("int32_t[]", water), len(oxygen),
                                           ffi.from_buffer("int64_t[]", oxygen), box, status.pointer))
    return ffi.gc(box[0], lib.ley_waters_destroy)


@with_parameters("ley_ions_options", "ley_grid_options", without=("origin", "gcent", "glen"))
def ions(source: AtomsArgument, species: Union[Species, Sequence[Species]], *, replace_waters: bool = False, tol: float = 1e-4,
         periodic: Periodic = None, cell: Any = None, dielectric: float = 1, temperature: float = 298.15, units: str = "kT/e",
         engine: EngineArgument = None, **given: Unpack[IonsKeywords]) -> Ions:
    """Places ions around a molecule where its potential is best for them.

    Each ion takes the node of a grid at which its charge times the potential of the molecule and of all ions before it
    is least; nodes that are near to atoms or ions are left out. In turn comes the ion that brings the total charge
    nearest to 0. Which node is best is decided in double precision: it depends on neither method nor device.

    Args:
        source: atoms, or what `Atoms()` takes, as "protein.pqr", a Universe or an AtomGroup.
        species: ions, each a name, ("NA", +1) or ("CL", -1, 6), six of them beside those that follow from
            `neutralise` and `concentration`; charges of usual names may be left out.
        replace_waters: ions take the places of water molecules in place of nodes; the waters are no solute.
        tol: relative root mean square error that the potential on the grid may have.
        periodic, cell: as of `map()`: along all three vectors, or none.
        dielectric, temperature, units: of the energies.
        engine: as of `map()`; "host": none.
        {parameters}

    Errors: UsageError for what contradicts itself or lacks a species; InputError where there is no room for an ion;
    and those of `map()`.
    """
    keep: List[Any] = []
    atoms = atoms_of(source)
    replace_waters = switch_of(replace_waters, "replace_waters")
    space = Cell.of(periodic, cell, getattr(atoms, "_cell", None))
    options, request = ffi.new("ley_ions_options *"), ffi.new("ley_request *")
    lib.ley_ions_options_default(options)
    lib.ley_request_default(request)
    take(options, "ley_ions_options", given, keep)
    request.grid.given = take(request.grid, "ley_grid_options", given, keep)
    request.tolerance = tol
    space.put(request.potential)
    names = [text_of(lib.ley_units_name(i)) for i in range(lib.LEY_UNITS_COUNT)]
    if units not in names:
        raise UsageError(f"units: {units!r} is none of {', '.join(str(n) for n in names)}")
    request.potential.units = names.index(units)
    request.potential.dielectric, request.potential.temperature_K = dielectric, temperature
    array = _species_of(species, keep)
    options.species, options.species_count = array, len(array)
    waters = _waters_of(source, atoms) if replace_waters else None
    options.waters = ffi.NULL if waters is None else waters
    is_host = isinstance(engine, str) and engine == "host"
    if is_host:
        options.placing = lib.LEY_PLACE_HOST
    opened = None if engine is None or is_host else engine_of(engine)
    box = ffi.new("ley_ions **")

    def work(token: _task.Token) -> None:
        options.cancel = token.flag
        with token.holding(None if opened is None else opened.lock), Status() as status:
            status.check(lib.ley_ions_place(ffi.NULL if opened is None else opened.pointer, atoms.pointer, request,
                                            options, box, status.pointer))

    _task.call(work)
    del keep
    is_file = isinstance(source, (str, bytes, os.PathLike))
    return Ions(ffi.gc(box[0], lib.ley_ions_destroy), file_name(source) if is_file else None, waters, len(atoms), units)
