"""Particles of molecular mechanics: charges, Lennard-Jones types, exclusions, Born radii; from topologies."""
from __future__ import annotations

import hashlib
import os
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple

import numpy as np

from . import _task, _topologies as topologies
from ._arrays import numbers as numbers_in, view
from ._c import ffi, lib
from ._errors import FileError, InputError, Status, UsageError, file_name
from ._guesses import OF_PARTICLES, Guessed
from ._mixing import table
from ._solvation import model_of

# Members of ley_particles_arrays, which have the same names in archives: type, rows, columns;
# "types" of columns: as many. Those before "masses" are always there.
_ARRAYS: Dict[str, Tuple[Any, str, Any]] = {
    "charges": (np.float64, "particles", 0), "type": (np.int32, "particles", 0),
    "lennard_jones_a": (np.float64, "types", "types"), "lennard_jones_b": (np.float64, "types", "types"),
    "exclusion": (np.int32, "exclusions", 2), "pair_14": (np.int32, "pairs_14", 2),
    "pair_14_charges": (np.float64, "pairs_14", 0), "pair_14_a": (np.float64, "pairs_14", 0),
    "pair_14_b": (np.float64, "pairs_14", 0), "masses": (np.float64, "particles", 0),
    "elements": (np.int32, "particles", 0), "born_radii": (np.float64, "particles", 0),
    "born_screens": (np.float64, "particles", 0), "born_factors": (np.float64, "particles", 3),
    "surface_radii": (np.float64, "particles", 0), "lcpo_factors": (np.float64, "particles", 4),
    "residue": (np.int32, "particles", 0), "residue_numbers": (np.int32, "residues", 0),
    "residue_names": (str, "residues", 0), "chains": (str, "residues", 0), "names": (str, "particles", 0)}

# ---- Arrays --------------------------------------------------------------------------------------


def _array_of(values: Any, name: str) -> Any:
    dtype, _, columns = _ARRAYS[name]
    if dtype is str:
        return [str(text) for text in values]
    array = numbers_in(values, name, np.float64)
    if dtype is np.int32 and not (np.array_equal(array, np.rint(array)) and (np.abs(array) < 2 ** 31).all()):
        raise InputError(f"{name}: whole numbers are needed")
    if array.size == 0 and columns == 2:
        array = array.reshape(0, 2)
    return np.ascontiguousarray(array, dtype)


def _counts_of(arrays: Mapping[str, Any]) -> Dict[str, int]:
    counts = {count: 0 for _, count, _ in _ARRAYS.values()}
    for name, array in reversed(list(arrays.items())):
        counts[_ARRAYS[name][1]] = len(array)
    if "residue" in arrays and not counts["residues"]:
        counts["residues"] = int(arrays["residue"].max(initial=0)) + 1
    for name, array in arrays.items():
        dtype, rows, columns = _ARRAYS[name]
        wanted = (counts[rows],) if columns == 0 else (counts[rows], counts.get(columns, columns))
        shape = (len(array),) if dtype is str else array.shape
        if shape != wanted:
            raise InputError(f"{name} has the shape {shape}, not {wanted}: ({rows}{f', {columns}' if columns else ','})")
    return counts


def _struct_of(given: Mapping[str, Any]) -> Tuple[Any, List[Any]]:
    """A ley_particles_arrays, and what it points to."""
    arrays = {name: _array_of(given[name], name) for name in _ARRAYS if given.get(name) is not None}
    counts = _counts_of(arrays)
    struct = ffi.new("ley_particles_arrays *", {"size": ffi.sizeof("ley_particles_arrays"), **counts})
    keep: List[Any] = [arrays]
    for name, array in arrays.items():
        if _ARRAYS[name][0] is str:
            texts = [ffi.new("char[]", text.encode()) for text in array]
            pointers = ffi.new("char *[]", texts)
            keep += [texts, pointers]
            setattr(struct, name, ffi.cast("char **", pointers))
        else:
            setattr(struct, name, ffi.cast(ffi.typeof(getattr(struct, name)), array.ctypes.data))
    return struct, keep


def digest_of(particles: "Particles") -> str:
    """A short text, another one of other particles."""
    made = hashlib.sha256()
    for name in _ARRAYS:
        values = getattr(particles, name)
        made.update(f"{name} {np.shape(values)} ".encode() + (b"" if values is None else np.asarray(values).tobytes()))
    return made.hexdigest()[:16]


class Particles(Guessed):
    """What a force field says of particles, whatever their positions: immutable.

    >>> particles = leyden.Particles("complex.prmtop")
    >>> ligand = particles.subset(particles.residue == 120)
    >>> particles.save("complex.npz")

    Args:
        source: the name of a file, as `load` takes it; or a Structure of ParmEd, as `from_parmed` takes it.
        gb, radii, surface_radii: as of `load`.

    Particles i and j of types s and t at a distance r have the energy

        E = a_st / r^12 - b_st / r^6 + C q_i q_j / r

    but pairs of `exclusion`, which have none, and those of `pair_14`, which have a, b and q q of their own, scaled already.
    Lengths are in A, charges in e, energies in kcal/mol, masses in g/mol; numbers of particles, types and residues count
    from 0. Arrays are read-only views of the library's; those that are unknown are None.
    """

    _guesses = OF_PARTICLES
    _pointer: Any

    def __init__(self, source: Any, *, gb: str = "obc2", radii: str = "auto", surface_radii: str = "lcpo") -> None:
        if isinstance(source, (str, bytes, os.PathLike)):
            made = self.load(source, gb=gb, radii=radii, surface_radii=surface_radii)
        elif hasattr(source, "bonds") and hasattr(source, "atoms"):
            made = self.from_parmed(source, gb=gb, radii=radii, surface_radii=surface_radii)
        else:
            raise UsageError("Particles(): a file's name or a Structure of ParmEd is needed, not "
                             f"{type(source).__name__}; Particles.from_openmm() takes a System, from_arrays() arrays")
        self.__dict__.update(made.__dict__)

    @classmethod
    def _of(cls, make: Callable[[Any, Any], int]) -> "Particles":
        """Of what make(box, error) makes."""
        self = cls.__new__(cls)

        def work(token: _task.Token) -> Any:
            box = ffi.new("ley_particles **")
            with Status() as status:
                status.check(make(box, status.pointer))
            return ffi.gc(box[0], lib.ley_particles_destroy)

        self._pointer = _task.call(work)
        return self

    @classmethod
    def _made(cls, arrays: Mapping[str, Any]) -> "Particles":
        struct, keep = _struct_of(arrays)
        made = cls._of(lambda box, error: lib.ley_particles_create(struct, box, error))
        del keep  # copied
        return made

    @classmethod
    def from_arrays(cls, *, charges: Any, type: Any = None, lennard_jones_a: Any = None, lennard_jones_b: Any = None,
                    sigma: Any = None, epsilon: Any = None, mixing: str = "lorentz-berthelot", exclusion: Any = None,
                    pair_14: Any = None, pair_14_charges: Any = None, pair_14_a: Any = None, pair_14_b: Any = None,
                    masses: Any = None, elements: Any = None, born_radii: Any = None, born_screens: Any = None,
                    born_factors: Any = None, surface_radii: Any = None, lcpo_factors: Any = None, residue: Any = None,
                    residue_numbers: Any = None, residue_names: Any = None, chains: Any = None,
                    names: Any = None) -> "Particles":
        """Copies arrays, which have the names, shapes and units of the archive (docs/formats.md).

        Args:
            charges: (particles,), e.
            type: (particles,), Lennard-Jones types from 0; None: one for each particle.
            lennard_jones_a, lennard_jones_b: (types, types), kcal/mol A^12 and A^6; or in place of these
            sigma, epsilon: (types,), A and kcal/mol, of which `mixing` makes them: "lorentz-berthelot", "geometric" or
                "waldman-hagler".
            exclusion: (exclusions, 2), pairs without energies.
            pair_14, pair_14_charges, pair_14_a, pair_14_b: (pairs_14, 2) and (pairs_14,): pairs, and their products of
                charges, a and b, scaled already.
            born_radii, born_screens, born_factors: (particles,), (particles,), (particles, 3): intrinsic radii, A; screens;
                alpha, beta and gamma of GBn2.
            surface_radii, lcpo_factors: (particles,), A, and (particles, 4), P1 to P4.
            masses, elements, names: (particles,); residue: (particles,), of each its residue, from 0; residue_numbers,
                residue_names, chains: (residues,).

        Errors: InputError for shapes and numbers that do not fit, which are named; UsageError.
        """
        given = {name: value for name, value in locals().items() if name in _ARRAYS}
        if (sigma is None) != (epsilon is None) or (lennard_jones_a is None) != (lennard_jones_b is None) or \
                (sigma is None) == (lennard_jones_a is None):
            raise UsageError("particles have sigma and epsilon, or lennard_jones_a and lennard_jones_b")
        if sigma is not None:
            given["lennard_jones_a"], given["lennard_jones_b"] = table(sigma, epsilon, mixing)
        if type is None:
            given["type"] = np.arange(len(numbers_in(charges, "charges", np.float64)))
        return cls._made(given)

    @classmethod
    def load(cls, path: Any, *more: Any, gb: str = "obc2", radii: str = "auto", surface_radii: str = "lcpo") -> "Particles":
        """Reads a file: an archive, .npz, by the library itself; Amber's prmtop, GROMACS' top, CHARMM's and NAMD's PSF by
        ParmEd; a System of OpenMM in XML by OpenMM.

        Args:
            path: of the file.
            more: of PSF files those of parameters (.rtf, .prm, .str); of XML files, if wanted, one with its atoms' names
                (.pdb, .cif).
            gb: for which model of generalised Born radii and screens are: "hct", "obc1", "obc2", "gbn" or "gbn2".
            radii: "auto": those of a prmtop, which has some; else by `gb` as Amber advises: mbondi of hct, mbondi2 of obc1 and
                obc2, bondi of gbn, mbondi3 of gbn2. Or one of "bondi", "amber6", "mbondi", "mbondi2", "mbondi3".
            surface_radii: "lcpo": LCPO's own, which are 0 of hydrogen; "bondi": of all atoms, for surfaces by points, A. A.
                Bondi, J. Phys. Chem. 68, 441 (1964): LCPO's constants are unknown then.

        Archives have what they have: gb, radii and surface_radii are not for them.

        Errors: FileError; InputError with what is wrong or cannot be had as pairs of a/r^12 - b/r^6, which is named;
        ImportError where a package is missing.
        """
        target, file, others = file_name(path), os.fsdecode(path), [os.fsdecode(file_name(one)) for one in more]
        for name in (*others, file):
            try:
                with open(name, "rb") as opened:
                    is_archive = opened.read(4) == b"PK\3\4" or name.lower().endswith(".npz")
            except OSError as error:
                raise FileError(f"{name}: {error.strerror}") from None
        if is_archive and more:
            raise UsageError(f"{more[0]}: only PSF files need files of parameters")
        if is_archive:
            return cls._of(lambda box, error: lib.ley_particles_read(target, box, error))
        wanted = topologies.Wanted(gb, radii, surface_radii)
        with topologies.about(file):
            return cls._made(topologies.read(file, others, wanted))  # in this thread: Ctrl-C ends it

    @classmethod
    def from_parmed(cls, structure: Any, *, gb: str = "obc2", radii: str = "auto", surface_radii: str = "lcpo") -> "Particles":
        """Of a Structure of ParmEd with parameters: AmberParm, ChamberParm, GromacsTopologyFile, CharmmPsfFile, ...

        Args:
            gb, radii, surface_radii: as of `load`.

        Errors: InputError for atoms without parameters, 10-12 and 12-6-4 terms, polarisable force fields, exclusions of
        another reach than a file of GROMACS says; UsageError.
        """
        return cls._made(topologies.of_parmed(structure, topologies.Wanted(gb, radii, surface_radii)))

    @classmethod
    def from_openmm(cls, system: Any, topology: Any = None, *, gb: str = "obc2", radii: str = "auto",
                    surface_radii: str = "lcpo") -> "Particles":
        """Of a System of OpenMM: its NonbondedForce with its exceptions, and CustomNonbondedForces and CustomBondForces whose
        energies are a/r^12 - b/r^6, which are told by their values, whatever their expressions.

        Args:
            system: a System.
            topology: a Topology of openmm.app, which has names, elements, residues, and bonds for Born radii; None: these are
                unknown. A GBSAOBCForce has its radii and screens all the same.
            gb, radii, surface_radii: as of `load`.

        Errors: InputError for a force that acts between particles and is of another kind, by its name; UsageError.
        """
        return cls._made(topologies.of_openmm(system, topology, topologies.Wanted(gb, radii, surface_radii)))

    def save(self, path: Any) -> None:
        """Writes the archive, .npz (docs/formats.md). Errors: FileError; UsageError for another ending."""
        target = file_name(path)

        def work(token: _task.Token) -> None:
            with Status() as status:
                status.check(lib.ley_particles_write(self._pointer, target, token.flag, status.pointer))

        _task.call(work)

    def subset(self, index: Any) -> "Particles":
        """Some of the particles by themselves, with the pairs among them: a mask, (n,), or numbers from 0, in their order.

        Errors: UsageError for none, numbers that are not there, and one that is there twice.
        """
        chosen = np.asarray(index)
        if chosen.dtype == bool:
            if chosen.shape != (len(self),):
                raise UsageError(f"a mask of the shape {chosen.shape}, and there are {len(self)} particles")
            chosen = np.flatnonzero(chosen)
        if chosen.ndim != 1 or (chosen.size and chosen.dtype.kind not in "iu"):
            raise UsageError("subset(): a mask or numbers of particles are needed")
        chosen = np.ascontiguousarray(chosen, np.int64)
        pointer = ffi.cast("int64_t *", chosen.ctypes.data)
        return self._of(lambda box, error: lib.ley_particles_subset(self._pointer, pointer, chosen.size, box, error))

    # ---- What it is ------------------------------------------------------------------------------

    @property
    def pointer(self) -> Any:
        """The library's, for cffi."""
        return self._pointer

    def _array(self, name: str) -> Any:
        arrays = lib.ley_particles_get(self._pointer)
        dtype, rows, columns = _ARRAYS[name]
        pointer, n = getattr(arrays, name), getattr(arrays, rows)
        if pointer == ffi.NULL and (n > 0 or list(_ARRAYS).index(name) >= list(_ARRAYS).index("masses")):
            return None
        if dtype is str:
            made = np.array([ffi.string(pointer[i]).decode() for i in range(n)], dtype=str)
            made.flags.writeable = False
            return made
        shape = (n,) if columns == 0 else (n, n if columns == "types" else columns)
        return view(self, pointer, shape, dtype, True) if n > 0 else np.empty(shape, dtype)

    @property
    def arrays(self) -> Dict[str, Any]:
        """All that are known, by their names in the archive, as `from_arrays` takes them."""
        found = {name: self._array(name) for name in _ARRAYS}
        return {name: array for name, array in found.items() if array is not None}

    def __len__(self) -> int:
        return int(lib.ley_particles_get(self._pointer).particles)

    @property
    def charges(self) -> np.ndarray:
        """(particles,), e."""
        return self._array("charges")

    @property
    def type(self) -> np.ndarray:
        """(particles,), Lennard-Jones types, from 0."""
        return self._array("type")

    @property
    def lennard_jones_a(self) -> np.ndarray:
        """a, (types, types), kcal/mol A^12."""
        return self._array("lennard_jones_a")

    @property
    def lennard_jones_b(self) -> np.ndarray:
        """b, (types, types), kcal/mol A^6."""
        return self._array("lennard_jones_b")

    @property
    def exclusion(self) -> np.ndarray:
        """(exclusions, 2), pairs without energies, from 0."""
        return self._array("exclusion")

    @property
    def pair_14(self) -> np.ndarray:
        """(pairs_14, 2), pairs with energies of their own, from 0."""
        return self._array("pair_14")

    @property
    def pair_14_charges(self) -> np.ndarray:
        """(pairs_14,), scaled products of their charges, e^2."""
        return self._array("pair_14_charges")

    @property
    def pair_14_a(self) -> np.ndarray:
        """(pairs_14,), their a, kcal/mol A^12."""
        return self._array("pair_14_a")

    @property
    def pair_14_b(self) -> np.ndarray:
        """(pairs_14,), their b, kcal/mol A^6."""
        return self._array("pair_14_b")

    @property
    def masses(self) -> Optional[np.ndarray]:
        """(particles,), g/mol."""
        return self._array("masses")

    @property
    def elements(self) -> Optional[np.ndarray]:
        """(particles,), atomic numbers; 0: none."""
        return self._array("elements")

    @property
    def born_radii(self) -> Optional[np.ndarray]:
        """(particles,), intrinsic radii of generalised Born, A."""
        return self._array("born_radii")

    @property
    def born_screens(self) -> Optional[np.ndarray]:
        """(particles,), of pairwise descreening."""
        return self._array("born_screens")

    @property
    def born_factors(self) -> Optional[np.ndarray]:
        """(particles, 3), alpha, beta and gamma of GBn2."""
        return self._array("born_factors")

    @property
    def born_model(self) -> Optional[str]:
        """For which model of generalised Born the screens are, by the elements: "obc2", also of "hct" and "obc1", "gbn" or
        "gbn2"; None: of others, or unknown."""
        screens, elements = self.born_screens, self.elements
        return None if screens is None or elements is None else model_of(elements, screens)

    @property
    def surface_radii(self) -> Optional[np.ndarray]:
        """(particles,), of van der Waals, A; 0: takes no part in surfaces."""
        return self._array("surface_radii")

    @property
    def lcpo_factors(self) -> Optional[np.ndarray]:
        """(particles, 4), P1 to P4 of LCPO, P4 per A^2."""
        return self._array("lcpo_factors")

    @property
    def residue(self) -> Optional[np.ndarray]:
        """(particles,), of each its residue, from 0."""
        return self._array("residue")

    @property
    def residue_numbers(self) -> Optional[np.ndarray]:
        """(residues,), as the topology numbers them."""
        return self._array("residue_numbers")

    @property
    def residue_names(self) -> Optional[np.ndarray]:
        """(residues,)."""
        return self._array("residue_names")

    @property
    def chains(self) -> Optional[np.ndarray]:
        """(residues,), of each its chain's name."""
        return self._array("chains")

    @property
    def names(self) -> Optional[np.ndarray]:
        """(particles,), of atoms."""
        return self._array("names")

    def __reduce__(self) -> Any:
        return _again, (self.arrays,)

    def __repr__(self) -> str:
        arrays = lib.ley_particles_get(self._pointer)
        return (f"<leyden.Particles: {arrays.particles} particles, {arrays.types} types, {arrays.exclusions} exclusions, "
                f"{arrays.pairs_14} pairs 1-4, total charge {self.charges.sum():+.4f} e>")


def _again(arrays: Mapping[str, Any]) -> Particles:
    """One that was pickled."""
    return Particles._made(arrays)  # pylint: disable=protected-access
