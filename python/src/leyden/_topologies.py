"""Topologies of other programs as particles: files and Structures by ParmEd, Systems of OpenMM."""
from __future__ import annotations

import contextlib
import os
import re
import warnings
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Sequence, Set, Tuple

import numpy as np

from . import _openmm
from ._errors import InputError, UsageError
from ._frames import about as about_files
from ._mixing import table
from ._solvation import RADII_OF, Molecules, born_constants, born_radii, check_model, surface_constants
from ._wavefunction_files import needed

Arrays = Dict[str, Any]  # by their names in the archive, docs/formats.md
Pair = Tuple[int, int]
Energies = Tuple[float, float, float]  # of a pair: the product of charges, a and b

_SIXTH_ROOT, _KJ = 2 ** (1 / 6), 4.184
_LETTERS = {code: chr(code) for code in range(32, 127)}
_MOST_NAME = 63


class Wanted(NamedTuple):
    """Options, as Particles.load() takes them."""

    gb: str
    radii: str
    surface_radii: str


def about(file: str) -> Any:
    """What is wrong with a file, with its name, whoever says so."""
    return about_files([file])


def _text(name: Any) -> str:
    """A name as archives have them."""
    return "".join(_LETTERS.get(ord(letter), "?") for letter in str(name).strip())[:_MOST_NAME]


# ---- Pairs ---------------------------------------------------------------------------------------


class Graph:
    """Bonds between atoms. Sites, which are bonded to nothing but their parent, stand where it stands."""

    def __init__(self, count: int, bonds: Iterable[Pair], sites: Set[int]) -> None:
        self.neighbours: List[List[int]] = [[] for _ in range(count)]
        self.family: List[List[int]] = [[i] for i in range(count)]  # an atom and its sites
        bonds = [pair for pair in bonds if pair[0] != pair[1]]
        for i, j in bonds:
            if i in sites or j in sites:
                site, parent = (i, j) if i in sites else (j, i)
                if parent not in sites and site not in self.family[parent]:
                    self.family[parent].append(site)
            elif j not in self.neighbours[i]:
                self.neighbours[i].append(j)
                self.neighbours[j].append(i)

    def within(self, reach: int) -> List[Set[Pair]]:
        """Pairs i < j one, two, ... `reach` bonds apart, the shortest way."""
        found: List[Set[Pair]] = [set() for _ in range(reach)]
        for i, around in enumerate(self.neighbours):
            seen, edge = {i}, around
            for pairs in found:
                edge = [j for j in edge if j not in seen]
                seen.update(edge)
                pairs.update((i, j) for j in edge if j > i)
                edge = [k for j in set(edge) for k in self.neighbours[j]]
        return found

    def families(self, pairs: Iterable[Pair]) -> Set[Pair]:
        """These pairs, and all of the sites with their parents' partners."""
        return {ordered(k, m) for i, j in pairs for k in self.family[i] for m in self.family[j]}

    def own(self) -> Set[Pair]:
        """Pairs of an atom with its sites, and of these."""
        return {ordered(i, j) for family in self.family for i in family for j in family if i != j}


def ordered(i: int, j: int) -> Pair:
    """The lower one first."""
    return (i, j) if i < j else (j, i)


def pair_arrays(exclusions: Set[Pair], pairs: Dict[Pair, Energies]) -> Arrays:
    """Exclusions without the pairs; pairs without energies are exclusions, too."""
    some = {pair: energies for pair, energies in sorted(pairs.items()) if any(energies)}
    none = sorted((exclusions | set(pairs)) - set(some))
    energies = np.array(list(some.values()), float).reshape(-1, 3)
    return {"exclusion": np.array(none, np.int32).reshape(-1, 2), "pair_14": np.array(list(some), np.int32).reshape(-1, 2),
            "pair_14_charges": energies[:, 0], "pair_14_a": energies[:, 1], "pair_14_b": energies[:, 2]}


# ---- ParmEd: all kinds ---------------------------------------------------------------------------


def _atoms_of(structure: Any) -> Tuple[Arrays, Graph, Molecules]:
    """Masses, names and residues; bonds."""
    atoms, residues = structure.atoms, structure.residues
    elements = np.array([max(atom.atomic_number, 0) for atom in atoms], np.int32)
    sites = {atom.idx for atom in atoms if type(atom).__name__ == "ExtraPoint" or atom.atomic_number == 0}
    graph = Graph(len(atoms), ((bond.atom1.idx, bond.atom2.idx) for bond in structure.bonds), sites)
    # Amber counts residues from 1; ParmEd, which finds no numbers in a prmtop, has them from 0.
    is_counted = "RESIDUE_NUMBER" not in getattr(structure, "parm_data", {"RESIDUE_NUMBER": None})
    arrays = {"charges": np.array([atom.charge for atom in atoms], float),
              "masses": np.array([max(atom.mass, 0) for atom in atoms], float), "elements": elements,
              "names": [_text(atom.name) for atom in atoms], "residue": [atom.residue.idx for atom in atoms],
              "residue_numbers": [residue.idx + 1 if is_counted else residue.number for residue in residues],
              "residue_names": [_text(residue.name) for residue in residues],
              "chains": [_text(residue.chain) for residue in residues]}
    names = [arrays["residue_names"][number] for number in arrays["residue"]]
    return arrays, graph, Molecules(elements, graph.neighbours, arrays["names"], names)


def solvation(of: Molecules, wanted: Wanted, radii: Optional[np.ndarray] = None, screens: Optional[np.ndarray] = None) -> Arrays:
    """Born radii and LCPO's constants; `radii` and `screens`: the topology's, which "auto" takes."""
    check_model(wanted.gb, wanted.radii)
    kind = RADII_OF[wanted.gb] if wanted.radii == "auto" else wanted.radii
    is_given = radii is not None and wanted.radii == "auto"
    made = {"born_radii": radii if is_given else born_radii(of, kind), **born_constants(of, wanted.gb),
            **surface_constants(of, wanted.surface_radii)}
    if is_given and screens is not None and wanted.gb in ("hct", "obc1", "obc2"):
        made["born_screens"] = screens
    return made


def _check_sites(structure: Any, arrays: Arrays) -> None:
    """InputError for a site of a molecule without any exclusion: what it belongs to is unknown."""
    known = set(arrays["exclusion"].ravel().tolist()) | set(arrays["pair_14"].ravel().tolist())
    for atom in structure.atoms:
        if arrays["elements"][atom.idx] == 0 and atom.idx not in known and len(atom.residue.atoms) > 1:
            raise InputError(f"site {atom.idx + 1}, {atom.name} of {atom.residue.name}, is bonded to nothing and excluded from nothing: "
                             "of a System of OpenMM Particles.from_openmm() knows its exclusions")


def of_parmed(structure: Any, wanted: Wanted, is_file: bool = False, contents: Optional[List[str]] = None) -> Arrays:
    """Members of particles. `is_file`: nobody has changed what a file has; `contents`: molecules of a file of GROMACS in their
    order, where that is known."""
    kind = type(structure).__name__
    if not hasattr(structure, "atoms") or not hasattr(structure, "bonds"):
        raise UsageError(f"structure: a Structure of ParmEd is needed, not {kind}")
    if len(structure.atoms) == 0:
        raise InputError("the structure has no atoms")
    if kind == "AmoebaParm" or any(type(atom).__name__ == "DrudeAtom" for atom in structure.atoms):
        raise InputError("a polarisable force field, whose energies are not those of pairs")
    if kind == "Structure" and getattr(structure, "unknown_functional", False):
        raise InputError("ParmEd has not understood all forces of this Structure: Particles.from_openmm() takes Systems")
    arrays, graph, molecules = _atoms_of(structure)
    arrays.update(_of_amber(structure, graph, arrays["charges"], is_file) if hasattr(structure, "parm_data")
                  else _of_structure(structure, graph, contents))
    _check_sites(structure, arrays)
    radii = screens = None
    if hasattr(structure, "parm_data"):
        radii = np.array([atom.solvent_radius or 0 for atom in structure.atoms], float)
        screens = np.array([atom.screen or 0 for atom in structure.atoms], float)
    return {**arrays, **solvation(molecules, wanted, radii if radii is not None and radii.any() else None,
                                  screens if screens is not None and screens.any() else None)}


# ---- ParmEd: Amber's tables ----------------------------------------------------------------------


def _amber_table(data: Any, types: int, kind: str = "LENNARD_JONES") -> Tuple[np.ndarray, np.ndarray]:
    """a and b, (types, types), of "LENNARD_JONES" or "LENNARD_JONES_14". Below 0 an index is one of 10-12 terms."""
    index = np.array(data["NONBONDED_PARM_INDEX"], int).reshape(types, types)
    made = []
    for letter in "AB":
        values = np.array(data[f"{kind}_{letter}COEF"], float)
        made.append(np.where(index > 0, values[np.maximum(index, 1) - 1], 0.0))
    if (index < 0).any():
        for s, t in np.argwhere(index < 0):
            place = -index[s, t] - 1
            terms = [float(data[f"HBOND_{letter}COEF"][place]) for letter in "AB"
                     if place < len(data.get(f"HBOND_{letter}COEF", ()))]
            if any(terms):
                raise InputError(f"Amber types {s + 1} and {t + 1} have a 10-12 hydrogen bond term, a/r^12 - b/r^10, and only "
                                 "a/r^12 - b/r^6 can be computed: force fields since 1994 have none")
    return made[0], made[1]


def _of_amber(parm: Any, graph: Graph, charges: np.ndarray, is_file: bool) -> Arrays:
    """Explicit tables, exclusions, and 1-4 pairs with each dihedral's own scales."""
    if not is_file:
        parm.remake_parm()
    data, types = parm.parm_data, int(parm.ptr("ntypes"))
    if "LENNARD_JONES_CCOEF" in data:
        raise InputError("12-6-4 terms, c/r^4 (LENNARD_JONES_CCOEF), and only a/r^12 - b/r^6 can be computed")
    kind = np.array(data["ATOM_TYPE_INDEX"], int)[:len(charges)] - 1
    a, b = _amber_table(data, types)
    a14, b14 = _amber_table(data, types, "LENNARD_JONES_14") if "LENNARD_JONES_14_ACOEF" in data else (a, b)
    is_chamber = "LENNARD_JONES_14_ACOEF" in data
    counts = np.array(data["NUMBER_EXCLUDED_ATOMS"], int)
    partner = np.array(data["EXCLUDED_ATOMS_LIST"], int)[:counts.sum()] - 1
    owner = np.repeat(np.arange(len(charges)), counts)
    exclusions = {ordered(i, j) for i, j in zip(owner.tolist(), partner.tolist()) if j >= 0}
    rows = np.concatenate([np.array(data[name], int).reshape(-1, 5)
                           for name in ("DIHEDRALS_INC_HYDROGEN", "DIHEDRALS_WITHOUT_HYDROGEN")])
    near = set().union(*graph.within(2))
    pairs: Dict[Pair, Energies] = {}
    for row in rows[(rows[:, 2] > 0) & (rows[:, 3] > 0)].tolist():
        i, j, term = row[0] // 3, row[3] // 3, row[4] - 1
        pair = ordered(i, j)
        if pair in pairs or pair in near:
            continue
        scee, scnb = (float(data[name][term]) if name in data else usual for name, usual in
                      (("SCEE_SCALE_FACTOR", 1.0 if is_chamber else 1.2), ("SCNB_SCALE_FACTOR", 1.0 if is_chamber else 2.0)))
        by_charge, by_size = (1 / scale if scale else 0.0 for scale in (scee, scnb))
        pairs[pair] = (charges[i] * charges[j] * by_charge, a14[kind[i], kind[j]] * by_size, b14[kind[i], kind[j]] * by_size)
    return {"type": kind, "lennard_jones_a": a, "lennard_jones_b": b, **pair_arrays(exclusions, pairs)}


# ---- ParmEd: atoms' own parameters ---------------------------------------------------------------


def _name_of_type(atom: Any) -> str:
    """By which NBFIX names it."""
    return str(atom.atom_type) if hasattr(atom.atom_type, "nbfix") else str(atom.type)


def _is_by_powers(structure: Any) -> bool:
    """Whether a file of GROMACS has C6 and C12 (combination rule 1), which ParmEd takes as sigma and epsilon."""
    return getattr(getattr(structure, "defaults", None), "comb_rule", 2) == 1


def _coefficients(structure: Any, size: Any, depth: Any) -> Tuple[Any, Any]:
    """a and b of sigma (A) and epsilon (kcal/mol), or of what ParmEd has taken as these, in nm and kJ/mol."""
    depth = np.abs(depth)
    if _is_by_powers(structure):
        return depth * 1e12, size / 10 * 1e6 / _KJ
    return 4 * depth * size ** 12, 4 * depth * size ** 6


def _types_of(structure: Any, rule: str) -> Arrays:
    """Types by sigma and epsilon, and by names where NBFIX has those; their table."""
    by_name: Dict[str, Dict[str, Any]] = {}
    for atom in structure.atoms:
        if getattr(atom.atom_type, "nbfix", None):
            by_name[_name_of_type(atom)] = atom.atom_type.nbfix
    fixed = set(by_name) | {str(other) for rows in by_name.values() for other in rows}
    keys: Dict[Tuple[float, float, str], int] = {}
    kind = []
    for atom in structure.atoms:
        name = _name_of_type(atom)
        kind.append(keys.setdefault((float(atom.sigma), abs(float(atom.epsilon)), name if name in fixed else ""), len(keys)))
    if not any(depth for _, depth, _ in keys) and not fixed:
        raise InputError("no atom has Lennard-Jones parameters: files of parameters are missing")
    sizes, depths = (np.array([key[k] for key in keys]) for k in (0, 1))
    if _is_by_powers(structure):
        a, b = (np.sqrt(np.outer(one, one)) for one in _coefficients(structure, sizes, depths))
    else:
        a, b = table(sizes, depths, rule)
    for first, s in keys.items():
        for second, t in keys.items():
            row = by_name.get(first[2], {}).get(second[2]) if first[2] else None
            if row is not None:
                a[s, t], b[s, t] = a[t, s], b[t, s] = _coefficients(structure, row[0] / _SIXTH_ROOT, row[1])
    return {"type": np.array(kind, np.int32), "lennard_jones_a": a, "lennard_jones_b": b}


def _pair_of_dihedral(first: Any, last: Any, scale: Tuple[float, float], rule: str) -> Energies:
    """Energies of a 1-4 pair, of the two atoms' 1-4 parameters and a dihedral's scales."""
    row = getattr(first.atom_type, "nbfix", {}).get(_name_of_type(last))
    if row is not None:
        size, depth = row[2] / _SIXTH_ROOT, abs(row[3])
    else:
        sizes = first.sigma_14, last.sigma_14
        size = (sizes[0] * sizes[1]) ** 0.5 if rule == "geometric" else 0.5 * (sizes[0] + sizes[1])
        depth = abs(first.epsilon_14 * last.epsilon_14) ** 0.5
    depth /= scale[1]
    return first.charge * last.charge / scale[0], 4 * depth * size ** 12, 4 * depth * size ** 6


def _scale_of(dihedral: Any) -> Tuple[float, float]:
    """By what Coulomb and Lennard-Jones energies of its ends are divided: of several terms by the first that says so."""
    terms = dihedral.type if isinstance(dihedral.type, list) else [dihedral.type]
    for term in terms:
        scee, scnb = getattr(term, "scee", 1.0), getattr(term, "scnb", 1.0)
        if scee and scnb:
            return scee, scnb
    raise InputError(f"atoms {dihedral.atom1.idx + 1} and {dihedral.atom4.idx + 1}, the ends of a dihedral, have no 1-4 scales")


def _dihedral_pairs(structure: Any, graph: Graph, near: Set[Pair], rule: str) -> Dict[Pair, Energies]:
    atoms, pairs = structure.atoms, {}
    for dihedral in list(structure.dihedrals) + list(structure.rb_torsions):
        ends = ordered(dihedral.atom1.idx, dihedral.atom4.idx)
        if getattr(dihedral, "improper", False) or ends in near or ends in pairs or ends[0] == ends[1]:
            continue
        scale = _scale_of(dihedral)
        for i, j in graph.families([ends]):
            pairs[i, j] = _pair_of_dihedral(atoms[i], atoms[j], scale, rule)
    return pairs


def _listed_pair(structure: Any, adjust: Any, rule: str) -> Tuple[float, float]:
    """a and b of a pair that is listed. GROMACS generates them (gen-pairs) of what the types have as a pair, which ParmEd does
    without [ nonbond_params ], and with C6 and C12 taken as sigma and epsilon."""
    first, last, kind = adjust.atom1, adjust.atom2, adjust.type
    row = (getattr(first.atom_type, "nbfix", None) or {}).get(_name_of_type(last))
    defaults = getattr(structure, "defaults", None)
    if (row is not None or _is_by_powers(structure)) and getattr(defaults, "gen_pairs", "no") == "yes":
        depth = defaults.fudgeLJ * (first.epsilon * last.epsilon) ** 0.5
        size = (first.sigma * last.sigma) ** 0.5 if rule == "geometric" else 0.5 * (first.sigma + last.sigma)
        if np.allclose([depth, size], [kind.epsilon, kind.sigma], rtol=1e-9, atol=0):
            a, b = _coefficients(structure, size, depth / defaults.fudgeLJ) if row is None else \
                _coefficients(structure, row[0] / _SIXTH_ROOT, row[1])
            return a * defaults.fudgeLJ, b * defaults.fudgeLJ
    return _coefficients(structure, kind.sigma, kind.epsilon)


def _adjusted_pairs(structure: Any, exclusions: Set[Pair], rule: str) -> Dict[Pair, Energies]:
    """Pairs that a topology lists: of GROMACS [ pairs ], which add up."""
    is_gromacs = type(structure).__name__ == "GromacsTopologyFile"
    pairs: Dict[Pair, Energies] = {}
    for adjust in structure.adjusts:
        first, last, kind = adjust.atom1, adjust.atom2, adjust.type
        pair = ordered(first.idx, last.idx)
        if kind is None:
            raise InputError(f"pair of atoms {pair[0] + 1} and {pair[1] + 1} has no parameters: files of parameters are missing")
        if is_gromacs and pair not in exclusions:
            raise InputError(f"[ pairs ] has atoms {pair[0] + 1} and {pair[1] + 1}, which are no neighbours of three bonds or less: "
                             "GROMACS computes their non-bonded energy beside it, which cannot be had")
        energies = (first.charge * last.charge * kind.chgscale, *_listed_pair(structure, adjust, rule))
        former = pairs.get(pair, (0.0, 0.0, 0.0)) if is_gromacs else (0.0, 0.0, 0.0)
        pairs[pair] = (former[0] + energies[0], former[1] + energies[1], former[2] + energies[2])
    return pairs


def _molecule_exclusions(structure: Any, contents: Optional[List[str]]) -> Set[Pair]:
    """[ exclusions ] of molecules of GROMACS, which ParmEd drops when it puts them together. InputError for another reach of
    exclusions than three bonds, where there are such neighbours."""
    found: Dict[str, Set[Pair]] = {}
    for name, (molecule, reach) in getattr(structure, "molecules", {}).items():
        graph = Graph(len(molecule.atoms), ((bond.atom1.idx, bond.atom2.idx) for bond in molecule.bonds), set())
        if any(graph.within(max(reach, 3) + 1)[min(reach, 3):max(reach, 3)]):
            raise InputError(f"molecule {name}: exclusions of {reach} bonds (nrexcl), and only three can be had")
        found[name] = {ordered(atom.idx, other.idx) for atom in molecule.atoms for other in atom.exclusion_partners}
        if contents is None and found[name] - set().union(*graph.within(3)):
            raise InputError(f"molecule {name} has [ exclusions ], which the Structure has lost: Particles.load() takes the file")
    exclusions, first = set(), 0
    for name in contents or []:
        exclusions |= {(first + i, first + j) for i, j in found[name]}
        first += len(structure.molecules[name][0].atoms)
    return exclusions


def _of_structure(structure: Any, graph: Graph, contents: Optional[List[str]]) -> Arrays:
    """Structures whose atoms have sigma and epsilon: of GROMACS, of CHARMM, and others."""
    if getattr(getattr(structure, "defaults", None), "nbfunc", 1) != 1:
        raise InputError("Buckingham's energies (nbfunc 2), and only a/r^12 - b/r^6 can be computed")
    rule = {"lorentz": "lorentz-berthelot", "geometric": "geometric"}.get(structure.combining_rule)
    if rule is None:
        raise InputError(f"combining rule {structure.combining_rule!r:.60}, and only lorentz and geometric are known")
    reaches = graph.within(3)
    near = graph.families(reaches[0] | reaches[1])
    listed = {ordered(atom.idx, other.idx) for atom in structure.atoms for other in atom.exclusion_partners}
    exclusions = near | graph.families(reaches[2]) | graph.own() | listed | _molecule_exclusions(structure, contents)
    pairs = _adjusted_pairs(structure, exclusions, rule) if structure.adjusts else _dihedral_pairs(structure, graph, near, rule)
    return {**_types_of(structure, rule), **pair_arrays(exclusions, pairs)}


# ---- OpenMM --------------------------------------------------------------------------------------


def of_openmm(system: Any, topology: Any, wanted: Wanted) -> Arrays:
    """Members of particles."""
    if not hasattr(system, "getForces"):
        raise UsageError(f"system: a System of OpenMM is needed, not {type(system).__name__}")
    check_model(wanted.gb, wanted.radii)
    arrays, exclusions, pairs = _openmm.of_system(system)
    arrays.update(pair_arrays(exclusions, pairs))
    if topology is None:
        return arrays
    atoms, residues = list(topology.atoms()), list(topology.residues())
    if len(atoms) != system.getNumParticles():
        raise InputError(f"the topology has {len(atoms)} atoms, and the system {system.getNumParticles()} particles")
    elements = np.array([0 if atom.element is None else atom.element.atomic_number for atom in atoms], np.int32)
    graph = Graph(len(atoms), ((bond[0].index, bond[1].index) for bond in topology.bonds()), set(np.flatnonzero(elements == 0)))
    names = {"names": [_text(atom.name) for atom in atoms], "residue": [atom.residue.index for atom in atoms],
             "residue_numbers": [_number(residue.id, residue.index + 1) for residue in residues],
             "residue_names": [_text(residue.name) for residue in residues],
             "chains": [_text(residue.chain.id) for residue in residues]}
    molecules = Molecules(elements, graph.neighbours, names["names"], [_text(atom.residue.name) for atom in atoms])
    given = [arrays.pop(name, None) for name in ("born_radii", "born_screens")]
    return {**arrays, "elements": elements, **names, **solvation(molecules, wanted, *given)}


def _number(text: Any, usual: int) -> int:
    """A residue's number, which a Topology has as a text."""
    try:
        return int(text)
    except (TypeError, ValueError):
        return usual


# ---- Files ---------------------------------------------------------------------------------------


def _read_openmm(path: str, more: Sequence[str], wanted: Wanted) -> Arrays:
    openmm = needed("openmm", "openmm", "its Systems")
    app = needed("openmm.app", "openmm", "its Systems")
    with open(path, encoding="utf-8") as file:
        system = openmm.XmlSerializer.deserialize(file.read())
    if not isinstance(system, openmm.System):
        raise InputError(f"{type(system).__name__} of OpenMM, and a System is needed")
    if len(more) > 1:
        raise UsageError(f"{more[1]}: of a System one file with its atoms' names is needed")
    reader = app.PDBxFile if more and more[0].lower().endswith((".cif", ".mmcif", ".pdbx")) else app.PDBFile
    return of_openmm(system, reader(more[0]).topology if more else None, wanted)


def _contents_of(parmed: Any, path: str, structure: Any) -> List[str]:
    """Names of molecules in their order: [ molecules ], and where there is none, each once. InputError for what changes pairs,
    and ParmEd does not read."""
    found, section = [], ""
    with contextlib.closing(parmed.gromacs._gromacsfile.GromacsFile(  # pylint: disable=protected-access
            path, includes=[parmed.gromacs.GROMACS_TOPDIR], defines={"FLEXIBLE": 1})) as file:
        for line in file:
            words = line.split()
            if line.strip().startswith("["):
                section = line.strip()[1:-1].strip()
                if section == "pairs_nb" or section.endswith("polarization"):
                    raise InputError(f"[ {section} ] cannot be had")
            elif section == "constraints" and words[2:3] == ["1"]:
                raise InputError("[ constraints ] of function 1, which exclude neighbours as bonds do, cannot be had")
            elif section == "molecules" and words:
                found += [words[0]] * int(words[1])
    return found or list(structure.molecules)


_OF_CHARMM = (".rtf", ".top", ".par", ".prm", ".str", ".inp")


def _with_parameters(parmed: Any, path: str, more: Sequence[str]) -> Any:
    """A PSF with the parameters of files."""
    for one in more:
        if not one.lower().endswith(_OF_CHARMM):
            raise UsageError(f"{one}: parameters of a PSF are in files that end in {', '.join(_OF_CHARMM)}")
    structure = parmed.charmm.CharmmPsfFile(path)
    read_from = ", ".join(os.path.basename(one) for one in more)
    try:
        structure.load_parameters(parmed.charmm.CharmmParameterSet(*more))
    except parmed.exceptions.ParameterError as error:
        number = re.search(r"atom type for \d+$", str(error))
        what = "the PSF has numbers for types, and the .rtf or .str that has these in its MASS lines is needed" if number else \
            "the file that has them is needed, too"
        raise InputError(f"{error}, and there is none in {read_from}: {what}") from None
    except parmed.exceptions.ParsingError as error:
        raise InputError(f"{read_from}: {error}") from None
    return structure


def is_topology(path: str) -> bool:
    """Whether a file is one that `read` takes, by its name."""
    return path.lower().endswith((".prmtop", ".parm7", ".top", ".psf", ".xml"))


def read(path: str, more: Sequence[str], wanted: Wanted) -> Arrays:
    """Members of particles, of a topology's file; `more`: others that it needs."""
    check_model(wanted.gb, wanted.radii)
    if path.lower().endswith(".xml"):
        return _read_openmm(path, more, wanted)
    parmed = needed("parmed", "parmed", "prmtop, top and PSF files")
    is_psf = path.lower().endswith(".psf")
    if is_psf and not more:
        raise InputError("a PSF has no Lennard-Jones parameters: files of these are needed, too (.prm, .rtf, .str): parameters=[...], "
                         "or behind the PSF in Particles.load(), and --parameters FILE ... in the command")
    if is_psf:
        with open(path, encoding="utf-8", errors="replace") as file:
            if any(re.match(r"\s*[1-9]\d*\s+!NNB\b", line) for line in file):
                raise InputError("exclusions beside those of bonds (!NNB), which ParmEd does not read")
    if more and not is_psf:
        raise UsageError(f"{os.path.basename(more[0])}: only PSF files need files of parameters")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        structure = _with_parameters(parmed, path, more) if is_psf else parmed.load_file(path)
    if any("funct != 1" in str(warning.message) for warning in said):
        raise InputError("[ pairs ] of another function than 1, whose charges are not the atoms'")
    if not hasattr(structure, "bonds"):
        raise InputError("no topology that ParmEd knows: prmtop, top and PSF files are read")
    is_gromacs = type(structure).__name__ == "GromacsTopologyFile"
    return of_parmed(structure, wanted, True, _contents_of(parmed, path, structure) if is_gromacs else None)
