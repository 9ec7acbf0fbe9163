"""Point charges."""
from __future__ import annotations

import os
import re
import warnings
from typing import Any, Optional, Protocol, Union

import numpy as np
from numpy.typing import ArrayLike

from . import _task
from ._arrays import doubles, numbers, pointer_to, view
from ._c import ffi, lib
from ._cell import cell_of_box, cell_vectors, lengths
from ._dcd import Cells
from ._errors import InputError, Status, UsageError, file_name
from ._guesses import OF_ATOMS, Guessed
from ._radii import Labels, radii_for

_WANTED = ("a PQR file's name, a Universe or AtomGroup of MDAnalysis, a Structure of ParmEd, leyden.Atoms, or positions, "
           "charges and radii")


class HasAtoms(Protocol):
    """A Universe or an AtomGroup of MDAnalysis, or a Structure of ParmEd."""

    @property
    def atoms(self) -> Any: ...


AtomsArgument = Union["Atoms", HasAtoms, str, "os.PathLike[str]"]


def cell_of_frame(source: Any) -> Optional[np.ndarray]:
    """Vectors of the cell of a Universe or an AtomGroup at its present frame, or None."""
    box = getattr(source, "dimensions", None)
    trajectory = getattr(getattr(source, "universe", None), "trajectory", None)
    frame = getattr(trajectory, "frame", None)
    matrix = None if frame is None else Cells().of(trajectory, frame, box)
    return cell_of_box(box) if matrix is None else matrix


class Atoms(Guessed):
    """N point charges: positions (A), charges (e) and radii (A). Immutable.

    >>> atoms = leyden.Atoms("protein.pqr")
    >>> atoms = leyden.Atoms(universe), leyden.Atoms(universe.select_atoms("protein"))
    >>> atoms = leyden.Atoms(positions, charges, radii, cell=(90, 90, 90))
    >>> positive, both = atoms[atoms.charges > 0], atoms[:10] + atoms[20:]

    Args:
        positions: (n, 3), A; or, without `charges`, what has all of them: the name of a PQR file, as `read`
            takes it; a Universe or an AtomGroup of MDAnalysis, as `from_mdanalysis`; a Structure of ParmEd,
            as `from_parmed`; or Atoms.
        charges: (n,), e.
        radii: (n,), A; None: all zero. Of Universes and Structures as `from_mdanalysis` takes them.
        cell, residues: of arrays, as `from_arrays` takes them.

    Parts, `atoms[...]`, are taken by a slice, a number, a mask, (n,), or a list of numbers, and keep the
    cell. Threads may share them. Those of a periodic system carry its cell, in which `map()` and
    `points()` sum all of their images.

    Errors: those of what reads or copies; UsageError for what has no atoms.
    """

    _guesses = OF_ATOMS

    _pointer: Any
    _cell: Optional[np.ndarray] = None
    _residues: Optional[np.ndarray] = None
    _name: str = ""  # of the file, without its folder

    def __init__(self, positions: Union[AtomsArgument, ArrayLike], charges: Any = None, radii: Any = None, *,
                 cell: Any = None, residues: Any = None) -> None:
        if isinstance(charges, (str, bytes, os.PathLike)) and isinstance(positions, (str, bytes, os.PathLike)):
            raise UsageError(f"charges: numbers are needed, (n,), e; of a topology and coordinates: "
                             f"leyden.Atoms(MDAnalysis.Universe({positions!r:.100}, {charges!r:.100}))")
        if charges is not None:
            made = self.from_arrays(positions, charges, radii, cell=cell, residues=residues)
        elif cell is not None or residues is not None:
            raise UsageError("cell and residues are for arrays: Atoms(positions, charges, radii, cell=cell)")
        elif isinstance(positions, (str, bytes, os.PathLike, Atoms)):
            if radii is not None:
                raise UsageError("radii are those of the file or atoms: Atoms(a.positions, a.charges, radii) has others")
            made = positions if isinstance(positions, Atoms) else self.read(positions)
        elif hasattr(type(positions), "from_iodata"):
            raise UsageError("atoms: a wavefunction has electrons, too: wavefunction.potential(), density() and orbital() compute "
                             "maps of it; wavefunction.atoms are its nuclei alone")
        elif hasattr(getattr(positions, "atoms", None), "positions"):
            made = self.from_mdanalysis(positions, radii)
        elif hasattr(positions, "atoms") and hasattr(positions, "coordinates"):
            made = self.from_parmed(positions, radii)
        else:
            raise UsageError(f"atoms: {_WANTED} are needed, not {type(positions).__name__}")
        self.__dict__.update(made.__dict__)

    @classmethod
    def _of(cls, pointer: Any) -> "Atoms":
        self = cls.__new__(cls)
        self._pointer = ffi.gc(pointer, lib.ley_atoms_destroy)
        return self

    @classmethod
    def from_arrays(cls, positions: Any, charges: Any, radii: Any = None, *, cell: Any = None, residues: Any = None) -> "Atoms":
        """Copies arrays.

        Args:
            positions: (n, 3), A.
            charges: (n,), e.
            radii: (n,), A; None: all zero. They matter to boundaries and to pair functions that
                are energies, not to the potential of charges.
            cell: in which they have images: three lengths (A), three lengths and three angles
                (degrees), or three vectors, (3, 3), of which one that is 0 repeats nothing.
            residues: whole numbers, (n,), the same for the atoms of a residue.

        Errors: InputError for shapes that do not fit together, no atoms, and numbers that are not
        finite or out of range, with the atom's number from 1; UsageError for no cell.
        """
        x = doubles(positions, "positions", (-1, 3))
        q = doubles(charges, "charges", (len(x),))
        r = None if radii is None else doubles(radii, "radii", (len(x),))
        box = ffi.new("ley_atoms **")
        with Status() as status:
            status.check(lib.ley_atoms_create(len(x), pointer_to(x), pointer_to(q), ffi.NULL if r is None else
                                              pointer_to(r), box, status.pointer))
        self = cls._of(box[0])
        self._cell = None if cell is None else _frozen(cell_vectors(cell))
        self._residues = None if residues is None else _residues_of(residues, len(q))
        return self

    @classmethod
    def read(cls, path: Any) -> "Atoms":
        """Reads a PQR file, plain or gzip, or atoms in leyden's binary form.

        Of a PQR file `residues` are known where chains have one letter or none. A file whose charges
        are all 0 is a warning. Errors: FileError; InputError with
        ``file:line: what``.
        """
        name = file_name(path)

        def work(token: _task.Token) -> "Atoms":
            box = ffi.new("ley_atoms **")
            with Status() as status:
                status.check(lib.ley_atoms_read(name, box, status.pointer))
            self = cls._of(box[0])
            self._name = re.sub(r"[\x00-\x1f]", "?", os.path.basename(name).decode("utf-8", "replace"))
            known = lib.ley_atoms_residues(box[0])
            if known != ffi.NULL:  # neighbouring atoms of one number
                number = np.frombuffer(ffi.buffer(known, 4 * len(self)), np.int32)
                self._residues = _residues_of(np.concatenate([[0], np.cumsum(number[1:] != number[:-1])]), len(self))
            return self

        atoms: "Atoms" = _task.call(work)
        remark = charge_remark(atoms)
        if remark:
            warnings.warn(f"{path}: {remark}", stacklevel=2)
        return atoms

    @classmethod
    def from_mdanalysis(cls, source: Any, radii: Any = None) -> "Atoms":
        """Atoms of an MDAnalysis Universe or AtomGroup at its present frame, with the cell of that.

        Args:
            source: what has charges in its topology; positions in A. Its `dimensions` become the cell.
            radii: (n,) numbers, A, or one for all; a dict to radii from names, types or elements, which
                are looked up in this order and have to leave neither a key nor an atom over;
                ``"element"``: van der Waals radii; None: the topology's, and where it has none 0, with
                a RadiiWarning.

        Errors: InputError where the topology has no charges, and for a key or an atom that is left
        over, which it names.
        """
        group = getattr(source, "atoms", None)
        if not hasattr(group, "positions"):
            raise UsageError(f"source: a Universe or AtomGroup of MDAnalysis is needed, not {type(source).__name__}")
        try:
            charges = group.charges
        except AttributeError as error:  # NoDataError is one
            raise InputError(f"the topology has no charges: {error}") from None
        found = getattr(group, "radii", None) if radii is None else None
        labels = Labels(*(getattr(group, word, None) for word in ("names", "types", "elements", "resnames", "masses")))
        return cls.from_arrays(group.positions, charges, radii_for(len(group), radii, found, labels),
                               cell=cell_of_frame(group), residues=getattr(group, "resindices", None))

    @classmethod
    def from_parmed(cls, structure: Any, radii: Any = None) -> "Atoms":
        """Atoms of a ParmEd Structure, with its coordinates and its box.

        Radii are those that `radii` says, as in `from_mdanalysis()`; None: the topology's solvent
        radii, as prmtop files have them, and where it has none 0, with a RadiiWarning.

        Errors: InputError where the structure has no coordinates; those of `from_mdanalysis()`.
        """
        if not hasattr(structure, "coordinates"):
            raise UsageError(f"structure: a Structure of ParmEd is needed, not {type(structure).__name__}")
        if structure.coordinates is None:
            raise InputError("the structure has no coordinates")
        atoms = structure.atoms
        found = None
        if radii is None and atoms and all(getattr(a, "solvent_radius", None) for a in atoms):
            found = [a.solvent_radius for a in atoms]
        labels = Labels([a.name for a in atoms], [a.type for a in atoms],
                        [a.element_name if getattr(a, "atomic_number", 0) > 0 else "" for a in atoms],
                        [a.residue.name for a in atoms], [a.mass for a in atoms])
        return cls.from_arrays(structure.coordinates, [a.charge for a in atoms],
                               radii_for(len(atoms), radii, found, labels), cell=cell_of_box(structure.box),
                               residues=[a.residue.idx for a in atoms])

    def write(self, path: Any) -> None:
        """Writes PQR for .pqr and .pqr.gz, leyden's binary form for .atoms; whole or not at all.

        Neither has the cell, nor the residues.

        Errors: UsageError for other names, FileError.
        """
        name = file_name(path)

        def work(token: _task.Token) -> None:
            with Status() as status:
                status.check(lib.ley_atoms_write(self.pointer, name, token.flag, status.pointer))

        _task.call(work)

    @property
    def pointer(self) -> Any:
        """The ley_atoms."""
        return self._pointer

    save = write

    @property
    def positions(self) -> np.ndarray:
        """Positions, (n, 3) float64, A: a read-only view."""
        return view(self, lib.ley_atoms_positions_A(self._pointer), (len(self), 3), np.float64, True)

    @property
    def charges(self) -> np.ndarray:
        """Charges, (n,) float64, e: a read-only view."""
        return view(self, lib.ley_atoms_charges_e(self._pointer), (len(self),), np.float64, True)

    @property
    def radii(self) -> np.ndarray:
        """Radii, (n,) float64, A: a read-only view."""
        return view(self, lib.ley_atoms_radii_A(self._pointer), (len(self),), np.float64, True)

    x, q, r = positions, charges, radii

    @property
    def cell(self) -> Optional[np.ndarray]:
        """The vectors of the cell that they carry, (3, 3) float64, A, read-only; None: they have none."""
        return self._cell

    @property
    def residues(self) -> Optional[np.ndarray]:
        """A number of the residue that each is of, (n,) int64, read-only; None: nobody has said."""
        return self._residues

    @property
    def total_charge(self) -> float:
        """Sum of the charges, e."""
        return lib.ley_atoms_total_charge_e(self._pointer)

    @property
    def bounds(self) -> np.ndarray:
        """The smallest box around the centres: its low and its high corner, (2, 3), A."""
        corners = np.empty((2, 3))
        lib.ley_atoms_bounds_A(self._pointer, pointer_to(corners[0]), pointer_to(corners[1]))
        return corners

    def __len__(self) -> int:
        return lib.ley_atoms_count(self._pointer)

    def __getitem__(self, key: Any) -> "Atoms":
        """These of them, with the cell and their residues."""
        try:
            index = np.atleast_1d(np.arange(len(self))[key])
        except IndexError as error:
            raise IndexError(f"atoms[...]: a slice, a number, a mask, ({len(self)},), or a list of numbers is needed: "
                             f"{error}") from None
        residues = None if self._residues is None else self._residues[index]
        return self.from_arrays(self.positions[index], self.charges[index], self.radii[index], cell=self._cell,
                                residues=residues)

    def __add__(self, other: "Atoms") -> "Atoms":
        """All of both, in the cell that one of them carries, or both; of residues of their own.

        Errors: UsageError where their cells differ.
        """
        if not isinstance(other, Atoms):
            return NotImplemented
        cells = [atoms._cell for atoms in (self, other) if atoms._cell is not None]
        if len(cells) > 1 and not np.array_equal(cells[0], cells[1]):
            raise UsageError("atoms of different cells are no atoms of one")
        residues = None
        if self._residues is not None and other._residues is not None:
            residues = np.append(self._residues, other._residues - other._residues.min() + self._residues.max() + 1)
        columns = ((getattr(self, name), getattr(other, name)) for name in ("positions", "charges", "radii"))
        return self.from_arrays(*map(np.concatenate, columns), cell=cells[0] if cells else None, residues=residues)

    def __reduce__(self) -> Any:
        return _restored, (np.array(self.x), np.array(self.q), np.array(self.r), self._cell, self._residues, self._name)

    def __repr__(self) -> str:
        cell = "" if self._cell is None else f", cell of {' x '.join(f'{a:.6g}' for a in lengths(self._cell))} A"
        return f"<leyden.Atoms: {len(self)} atoms, total charge {self.total_charge:+.6g} e{cell}>"


def charge_remark(atoms: Atoms) -> str:
    """What is worth a warning about their charges, "" where nothing is."""
    remark = ffi.new("char[256]")
    return ffi.string(remark).decode() if lib.ley_atoms_charge_remark(atoms.pointer, remark, 256) else ""


def _restored(x: Any, q: Any, r: Any, cell: Any, residues: Any, name: str = "") -> Atoms:
    """What was pickled."""
    atoms = Atoms.from_arrays(x, q, r, cell=cell, residues=residues)
    atoms._name = name
    return atoms


def _frozen(array: np.ndarray) -> np.ndarray:
    """A copy that nobody can write to."""
    copy = np.array(array)
    copy.flags.writeable = False
    return copy


def _residues_of(residues: Any, count: int) -> np.ndarray:
    found = np.asarray(residues)
    if found.shape != (count,) or not np.issubdtype(found.dtype, np.integer):
        raise InputError(f"residues: {count} whole numbers are needed, not {found.dtype} of the shape {found.shape}")
    return _frozen(found.astype(np.int64))


def atoms_of(atoms: AtomsArgument, needs_radii: bool = True) -> Atoms:
    """The argument as Atoms; where nobody needs radii nobody is warned that a topology has none."""
    if isinstance(atoms, Atoms):
        return atoms
    return Atoms(atoms, radii=None if needs_radii or not hasattr(atoms, "atoms") else 0)


def places_of(source: Any) -> Atoms:
    """Atoms whose charges nobody needs: topologies may have none."""
    of = getattr(source, "atoms", None)
    return Atoms(of.positions, np.zeros(len(of))) if hasattr(of, "positions") else atoms_of(source, needs_radii=False)


def positions_in(points: Any) -> Any:
    """The positions of Atoms, of a Universe or of an AtomGroup; what else there is, an array, say, is left as it is."""
    return getattr(getattr(points, "atoms", points), "positions", points)


def positions_of(points: Any, what: str) -> np.ndarray:
    """(n, 3), A: such an array, (3,) of one point, or positions_in() what has them."""
    found = positions_in(points)
    wanted = f"{what}: numbers are needed: positions, (n, 3), A, or Atoms, a Universe or an AtomGroup"
    if isinstance(found, (str, bytes, os.PathLike)):
        name = os.fsdecode(found)
        reads = f"leyden.Atoms({name!r}).positions" if name.endswith((".pqr", ".pqr.gz", ".atoms")) else f"np.loadtxt({name!r})"
        raise InputError(f"{wanted}, not {name!r}; of a file they are {reads}")
    array = numbers(found, what, np.float64)
    if array.shape == (3,):
        array = array[None]
    if array.ndim != 2 or array.shape[1] != 3:
        raise InputError(f"{what} has the shape {array.shape}, not (n, 3): positions, A, or Atoms, a Universe or an "
                         "AtomGroup, are needed")
    return np.ascontiguousarray(array)
