"""Point charges."""
from __future__ import annotations

import warnings
from typing import Any, Optional

import numpy as np

from . import _task
from ._arrays import doubles, pointer_to, view
from ._c import ffi, lib
from ._cell import cell_of_box, cell_vectors, lengths
from ._errors import InputError, Status, UsageError, file_name
from ._radii import Labels, radii_for


class Atoms:
    """N point charges: positions (A), charges (e) and radii (A). Immutable.

    Made by `from_arrays`, `read`, `from_mdanalysis` and `from_parmed`. Threads may share them. Those
    of a periodic system carry its cell, in which `map()` and `points()` sum all of their images.
    """

    _pointer: Any
    _cell: Optional[np.ndarray] = None
    _residues: Optional[np.ndarray] = None

    def __init__(self) -> None:
        raise TypeError("atoms are made by Atoms.from_arrays(), .read(), .from_mdanalysis() or .from_parmed()")

    @classmethod
    def _of(cls, pointer: Any) -> "Atoms":
        self = cls.__new__(cls)
        self._pointer = ffi.gc(pointer, lib.ley_atoms_destroy)
        return self

    @classmethod
    def from_arrays(cls, x: Any, q: Any, r: Any = None, *, cell: Any = None, residues: Any = None) -> "Atoms":
        """Copies arrays.

        Args:
            x: positions, (n, 3), A.
            q: charges, (n,), e.
            r: radii, (n,), A; None: all zero. They matter to boundaries and to pair functions that
                are energies, not to the potential of charges.
            cell: in which they have images: three lengths (A), three lengths and three angles
                (degrees), or three vectors, (3, 3), of which one that is 0 repeats nothing.
            residues: whole numbers, (n,), the same for the atoms of a residue.

        Errors: InputError for shapes that do not fit together, no atoms, and numbers that are not
        finite or out of range, with the atom's number from 1; UsageError for no cell.
        """
        x = doubles(x, "x", (-1, 3))
        q = doubles(q, "q", (len(x),))
        r = None if r is None else doubles(r, "r", (len(x),))
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
                               cell=cell_of_box(getattr(group, "dimensions", None)),
                               residues=getattr(group, "resindices", None))

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

    @property
    def x(self) -> np.ndarray:
        """Positions, (n, 3) float64, A: a read-only view."""
        return view(self, lib.ley_atoms_positions_A(self._pointer), (len(self), 3), np.float64, True)

    @property
    def q(self) -> np.ndarray:
        """Charges, (n,) float64, e: a read-only view."""
        return view(self, lib.ley_atoms_charges_e(self._pointer), (len(self),), np.float64, True)

    @property
    def r(self) -> np.ndarray:
        """Radii, (n,) float64, A: a read-only view."""
        return view(self, lib.ley_atoms_radii_A(self._pointer), (len(self),), np.float64, True)

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

    def __reduce__(self) -> Any:
        return _restored, (np.array(self.x), np.array(self.q), np.array(self.r), self._cell, self._residues)

    def __repr__(self) -> str:
        cell = "" if self._cell is None else f", cell of {' x '.join(f'{a:.6g}' for a in lengths(self._cell))} A"
        return f"<leyden.Atoms: {len(self)} atoms, total charge {self.total_charge:+.6g} e{cell}>"


def charge_remark(atoms: Atoms) -> str:
    """What is worth a warning about their charges, "" where nothing is."""
    remark = ffi.new("char[256]")
    return ffi.string(remark).decode() if lib.ley_atoms_charge_remark(atoms.pointer, remark, 256) else ""


def _restored(x: Any, q: Any, r: Any, cell: Any, residues: Any) -> Atoms:
    """What was pickled."""
    return Atoms.from_arrays(x, q, r, cell=cell, residues=residues)


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


def atoms_of(atoms: Any) -> Atoms:
    """The argument, if it is some."""
    if not isinstance(atoms, Atoms):
        raise UsageError(f"atoms: leyden.Atoms are needed, not {type(atoms).__name__}")
    return atoms
