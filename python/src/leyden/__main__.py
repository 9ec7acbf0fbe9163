"""python -m leyden: atoms and wavefunctions of other programs for leyden, and what is computed of trajectories."""
from __future__ import annotations

import argparse
import contextlib
import gzip
import io
import os
import re
import shlex
import signal
import sys
import time
import warnings
from typing import Any, List, NoReturn, Optional, Tuple

import numpy as np

from . import Atoms, Error, InputError, Particles, RadiiWarning, UsageError, Wavefunction, __version__, devices
from . import _average_command, _energy_command, _fitting_command, _series_command
from ._atoms import charge_remark
from ._cell import Cell
from ._command import as_options, interrupt_code, is_ended, is_other_rank, take_signals
from ._files import write_whole
from ._frames import about, import_mdanalysis, selected
from ._parameters import did_you_mean
from ._pdbqt import Model, is_pdbqt
from ._ranks import launched
from ._topologies import is_topology
from ._wavefunction_files import is_wavefunction

_PATIENCE_S = 0.5

_Names = List[Tuple[str, str, int]]


def _radii_of(text: Optional[str]) -> Any:
    """What --radii says, as Atoms take it: None, "element", a number for all, a dict, or numbers of a file."""
    if text in (None, "auto"):
        return None
    if text == "element":
        return text
    with contextlib.suppress(ValueError):
        return float(text)
    if os.path.exists(text) or "=" not in text:
        return _radii_in(text)
    pieces = [piece.split("=") for piece in text.split(",")]
    with contextlib.suppress(ValueError):
        return {key.strip(): float(radius) for key, radius in pieces}
    raise UsageError(f"--radii: '{text}' is no list of NAME=R, separated by commas")


def _radii_in(path: str) -> Any:
    """Lines of a radius each, or of a name, a type or an element and its radius each; '#' begins a comment."""
    with open(path, encoding="utf-8-sig") as file:
        rows = [(n, line.split("#")[0].split()) for n, line in enumerate(file, 1)]
    rows = [(n, words) for n, words in rows if words]
    counts = {len(words) for _, words in rows}
    found = []
    for n, words in rows:
        try:
            found.append((words[0], float(words[-1])))
        except ValueError:
            raise InputError(f"{path}:{n}: '{words[-1]}' is not a number") from None
        if counts not in ({1}, {2}) and len(words) != len(rows[0][1]) or len(words) > 2:
            raise InputError(f"{path}:{n}: {len(words)} words: each line has a radius, or each a name and a radius")
    if not found:
        raise InputError(f"{path}: no radii")
    return [radius for _, radius in found] if counts == {1} else dict(found)


def _names_of(names: Any, residues: Any, numbers: Any) -> Optional[_Names]:
    """Of an atom, its residue and the number of this; None where there are neither names nor residues."""
    if names is None and residues is None:
        return None
    count = len(names if residues is None else residues)
    words = [["".join(str(name).split()) or none for name in ([""] * count if given is None else given)]
             for given, none in ((names, "X"), (residues, "UNK"))]
    return list(zip(*words, [1] * count if numbers is None else map(int, numbers)))


def _write_named(path: str, atoms: Atoms, names: _Names) -> None:
    """A PQR file, as `Atoms.write()` writes it, with names."""
    def text(value: float) -> str:
        short = f"{value:.4f}"
        return short if float(short) == value else f"{value:.17g}"

    rows = zip(names, np.column_stack([atoms.x, atoms.q, atoms.r]).tolist())
    content = "".join(
        f"ATOM {serial:6d} {name:4s} {residue:4s} {number:5d} {text(x):>9s} {text(y):>8s} {text(z):>8s} {text(q):>7s} {text(r)}\n"
        for serial, ((name, residue, number), (x, y, z, q, r)) in enumerate(rows, 1)).encode("ascii", "replace")
    write_whole(path, gzip.compress(content) if path.lower().endswith(".gz") else content)


def _read_amber(arguments: argparse.Namespace, files: List[str], radii: Any) -> Tuple[Optional[Atoms], Any]:
    """By ParmEd: atoms with their names, or where MDAnalysis has to find these, the topology's radii, if it has some."""
    try:
        import parmed
    except ImportError:
        print("ParmEd is not installed: MDAnalysis reads the topology, without its radii")
        return None, None
    with about(files[:1]):
        structure = parmed.load_file(arguments.topology)
    if arguments.select is None and arguments.frame is None:
        unread = (TypeError, ValueError, IndexError, parmed.exceptions.FormatNotFound)  # of trajectories
        with about(files), contextlib.suppress(*unread if arguments.coordinates else ()):
            structure = parmed.load_file(arguments.topology, xyz=arguments.coordinates)
            atoms = Atoms.from_parmed(structure, radii)
            return atoms, _names_of([a.name for a in structure.atoms], [a.residue.name for a in structure.atoms],
                                    [a.residue.idx + 1 for a in structure.atoms])
    found = [getattr(a, "solvent_radius", None) for a in structure.atoms]
    return None, np.array(found, float) if radii is None and all(found) else None


_CONVERT = "python3 -m leyden convert"
_COORDINATES = (".dcd", ".xtc", ".trr", ".nc", ".ncdf", ".inpcrd", ".rst7", ".crd", ".coor", ".gro", ".pdb")
_TOPOLOGIES = (".tpr", ".prmtop", ".parm7", ".psf")
_OF_GROMACS = (".tpr", ".gro", ".xtc", ".trr")


def _beside(path: str, endings: Tuple[str, ...], word: str) -> str:
    """A file of these endings in the same folder, of the same beginning or, of GROMACS, of any; else the word."""
    folder, name = os.path.split(path)
    names = sorted(os.listdir(folder or "."), key=lambda other: (len(other), other)) if os.path.isdir(folder or ".") else []
    stem = name.split(".")[0]
    found = [other for other in names if other.lower().endswith(endings) and other.split(".")[0] == stem] or \
        [other for other in names if other.lower().endswith(tuple(set(endings) & set(_OF_GROMACS)))
         and name.lower().endswith(_OF_GROMACS)]
    return shlex.quote(os.path.join(folder, found[0])) if found else word


def _charges_from(path: str) -> str:
    """What to type for a file of coordinates alone."""
    if path.lower().endswith((".pdb", ".ent", ".pdb.gz", ".ent.gz", ".cif", ".mmcif")):
        return f"pdb2pqr --ff AMBER '{path}' NEW.pqr makes a PQR file of it"
    topology = _beside(path, _TOPOLOGIES, "TOPOLOGY")
    kinds = ": .tpr, .prmtop, .psf" if topology == "TOPOLOGY" else ""
    return f"{_CONVERT} {topology} '{path}' -o NEW.pqr takes them from a topology{kinds}"


def _import_mdanalysis() -> Any:
    mdanalysis = import_mdanalysis()
    sys.unraisablehook = lambda _: None  # readers of broken files stumble once more when they are let go
    return mdanalysis


def _read(arguments: argparse.Namespace) -> Tuple[Atoms, Optional[_Names]]:
    """Atoms, and their names where the topology has them. PDBQT files here, PQR files and atoms by the library, which MDAnalysis does without where they touch; Amber's
    topologies by ParmEd, as MDAnalysis does not read their radii; others by MDAnalysis."""
    radii, topology_radii = _radii_of(arguments.radii), None
    files = [arguments.topology] + ([arguments.coordinates] if arguments.coordinates else [])
    for name in files:
        with open(name, "rb"):  # says what is wrong in fewer words than the packages
            pass
    as_it_is = len(files) == 1 and arguments.select is None and not arguments.frame
    if as_it_is and radii is None and arguments.topology.endswith((".pqr", ".pqr.gz", ".atoms", ".cif", ".mmcif")):
        return Atoms.read(arguments.topology), None  # mmCIF files have no charges, and its error says where these come from
    if len(files) == 1 and is_pdbqt(arguments.topology):
        model = Model(arguments.topology, arguments.frame or 0)
        if arguments.select is None:
            return model.atoms(radii), None
        mdanalysis = _import_mdanalysis()
        with about(files):
            stream = mdanalysis.lib.util.NamedStream(io.StringIO(model.text), "model.pdbqt")
            return model.atoms(radii, selected(mdanalysis.Universe(stream), arguments.select, "--select").indices), None
    if arguments.topology.endswith((".prmtop", ".parm7")):
        atoms, found = _read_amber(arguments, files, radii)
        if atoms is not None:
            return atoms, found
        topology_radii = found
    mdanalysis = _import_mdanalysis()
    with about(files):
        universe = mdanalysis.Universe(*files)
        if not hasattr(universe, "trajectory"):
            raise InputError(f"there are no coordinates: {_CONVERT} '{files[0]}' {_beside(files[0], _COORDINATES, 'COORDINATES')} -o "
                             f"'{arguments.output}' takes them from another file")
        try:
            universe.trajectory[arguments.frame or 0]
        except IndexError:
            count = len(universe.trajectory)
            raise UsageError(f"--frame {arguments.frame}: {files[-1]} has the frames 0 to {count - 1}") from None
        group = universe if arguments.select is None else selected(universe, arguments.select, "--select")
        if not hasattr(group.atoms, "charges"):
            raise InputError(f"there are no charges: {_charges_from(files[-1])}")
        atoms = Atoms.from_mdanalysis(group, radii if topology_radii is None else topology_radii[group.atoms.indices])
        return atoms, _names_of(*(getattr(group.atoms, word, None) for word in ("names", "resnames", "resids")))


def _convert_wavefunction(arguments: argparse.Namespace) -> int:
    """Another program's wavefunction as an archive."""
    given = [f"--{name}" for name in ("select", "frame", "radii") if getattr(arguments, name) not in (None, "auto")]
    if given or arguments.coordinates:
        raise UsageError(f"{(given or ['COORDINATES'])[0]} is for atoms, and {arguments.output} is a wavefunction's file")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # made.dialect says it
        made = Wavefunction.load(arguments.topology, any_norm=arguments.any_norm)
    if made.dialect:
        print(f"dialect: {made.dialect}")
    made.save(arguments.output)
    counts = ((len(made.charges), "atom"), (made.functions, "function"), (len(made.occupations), "orbital"),
              (round(made.electrons, 6), "electron"))
    print(f"written: {arguments.output}, " + ", ".join(f"{n:,.10g} {word}{'s' * (n != 1)}" for n, word in counts))
    return 0


def _convert_particles(arguments: argparse.Namespace) -> int:
    """A topology as an archive of particles."""
    given = [f"--{name}" for name in ("select", "frame") if getattr(arguments, name) is not None]
    given += ["--any-norm"] * arguments.any_norm
    if given or arguments.coordinates:
        raise UsageError(f"{(given or ['COORDINATES'])[0]} is not for particles, and {arguments.output} is to be a file of them")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", RadiiWarning)
        made = Particles.load(arguments.topology, *arguments.parameters, gb=arguments.gb, radii=arguments.radii,
                              surface_radii=arguments.surface_radii)
    for warning in said:
        print(f"radii: {warning.message}")
    made.save(arguments.output)
    counts = ((len(made), "particle"), (len(made.lennard_jones_a), "Lennard-Jones type"), (len(made.exclusion), "exclusion"),
              (len(made.pair_14), "1-4 pair"))
    print(f"written: {arguments.output}, " + ", ".join(f"{n:,} {word}{'s' * (n != 1)}" for n, word in counts) +
          f", total charge {round(made.charges.sum(), 4) + 0.0:+.4f} e")
    return 0


def _convert(arguments: argparse.Namespace) -> int:
    if arguments.output.lower().endswith(".npz"):
        return (_convert_particles if is_topology(arguments.topology) else _convert_wavefunction)(arguments)
    if arguments.parameters:
        raise UsageError(f"--parameters is for particles, .npz, and {arguments.output} is a file of atoms")
    if arguments.any_norm:
        raise UsageError(f"--any-norm is for wavefunctions, .npz, and {arguments.output} is a file of atoms")
    if is_wavefunction(arguments.topology):
        raise UsageError(f"{arguments.topology} is a wavefunction, which becomes .npz: {_CONVERT} {shlex.quote(arguments.topology)} "
                         "-o NEW.npz, and 'leyden orbital', 'leyden density' and 'leyden esp' make maps of that")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", RadiiWarning)
        atoms, names = _read(arguments)
    for warning in said:
        if issubclass(warning.category, RadiiWarning):
            print(f"radii: {warning.message}; --radii element gives those of the elements")
    if charge_remark(atoms):
        print(f"charges: {charge_remark(atoms)}")
    if atoms.cell is not None:
        print(f"cell: the file that is written has none: leyden map takes it by {Cell.of(None, None, atoms.cell).options}")
    if names is not None and arguments.output.lower().endswith((".pqr", ".pqr.gz")):
        _write_named(arguments.output, atoms, names)
    else:
        atoms.write(arguments.output)
    charge = round(atoms.total_charge, 4) + 0.0  # no -0.0000
    print(f"written: {arguments.output}, {len(atoms):,} atoms, total charge {charge:+.4f} e")
    return 0


_CLOSED = 128 + signal.SIGPIPE  # the exit code where `head`, say, has read what it wanted of the output


def _devices(_: argparse.Namespace) -> int:
    for device in devices():
        print(f"{device.index}: {device.path}, {device.name}" + (f": {device.unusable}" if device.unusable else ""))
    return 0


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Exit code 1, as of the command."""
        self.print_usage(sys.stderr)
        self.exit(1, f"leyden: {message}{_instead(message)}\n")


def _instead(message: str) -> str:
    """What may be meant by the words of which argparse complains, or nothing."""
    choice = re.search(r"invalid choice: '(.*)' \(choose from (.*)\)$", message)
    if choice is not None:
        word = choice[1].lower()
        meant = _energy_command.MEANT_CHOICES.get(word)
        return f": type {meant}" if meant else did_you_mean(word, re.findall(r"[\w-]+", choice[2]))
    if message.endswith("required: TRAJECTORY") and "--parameters" in sys.argv:
        return ": --parameters takes all words up to the next option: they stand behind TRAJECTORY"
    if not message.startswith("unrecognized arguments: "):
        return ""
    words = [word.lstrip("-").split("=")[0].strip(",") for word in message.split()[2:]]
    meant = [f"{word} is {_energy_command.MEANT[word]}" for word in words if word in _energy_command.MEANT]
    return f" (of MMPBSA.py; here {'; '.join(meant)})" if meant else ""


def main(words: Optional[List[str]] = None) -> int:
    parser = _Parser(prog="python -m leyden", description=__doc__)
    parser.add_argument("--version", action="version", version=f"leyden {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    convert = commands.add_parser("convert", help="a topology and coordinates as a file of atoms; a topology or a wavefunction as .npz",
                                  description="Charges and coordinates by MDAnalysis, by ParmEd of .prmtop and .parm7, "
                                              "and of .pdbqt without these; radii of the topology, else 0, which is "
                                              "then said. Wavefunctions, to .npz, by qc-iodata (Molden, FCHK, WFN, WFX, "
                                              "...), cclib (outputs of programs) and pyscf (its checkpoints). Particles, with "
                                              "Lennard-Jones parameters, exclusions and Born radii, to .npz: of .prmtop, "
                                              ".parm7, .top and .psf by ParmEd, of Systems in .xml by OpenMM.")
    convert.add_argument("topology", metavar="TOPOLOGY", help="what MDAnalysis or ParmEd read, or .pdbqt; or a wavefunction")
    convert.add_argument("coordinates", metavar="COORDINATES", nargs="?", help="coordinates or a trajectory")
    convert.add_argument("-o", "--output", required=True, metavar="FILE", help="to write: .pqr, .pqr.gz or .atoms; .npz of "
                                                                                       "particles or of a wavefunction")
    convert.add_argument("--select", metavar="WORDS", help="a selection in MDAnalysis's language")
    convert.add_argument("--frame", type=int, metavar="N", help="of a trajectory; the first one is 0")
    convert.add_argument("--radii", metavar="RADII", default="auto",
                         help="auto: the topology's, if it has some, else 0; element: van der Waals radii; NAME=R,... by "
                              "names, types or elements, looked up in this order; a FILE of lines NAME R, or of a number "
                              "for each atom; a number, 0 say, for all (default: auto)")
    convert.add_argument("--parameters", metavar="FILE", nargs="+", default=[],
                         help="of particles of a .psf: its .rtf, .prm and .str; of an .xml: a .pdb or .cif with names and bonds")
    convert.add_argument("--gb", metavar="MODEL", default="obc2", help="of particles: the model of generalised Born for which "
                         "radii and screens are, hct, obc1, obc2, gbn or gbn2 (default: obc2); --radii is auto, bondi, amber6, "
                         "mbondi, mbondi2 or mbondi3 then")
    convert.add_argument("--surface-radii", metavar="KIND", default="lcpo", help="of particles: lcpo, with LCPO's constants, or "
                                                                                 "bondi (default: lcpo)")
    convert.add_argument("--any-norm", action="store_true", help="take a wavefunction whose orbitals are not of norm 1, too")
    convert.set_defaults(run=_convert)
    _average_command.add_to(commands)
    _series_command.add_to(commands)
    _energy_command.add_to(commands)
    _fitting_command.add_to(commands)
    commands.add_parser("devices", help="what is there").set_defaults(run=_devices)
    arguments = parser.parse_args(words)
    take_signals()
    arguments.ranks = None
    try:
        arguments.ranks = launched()
        if not getattr(arguments, "is_shared", False):  # rank 0 does it alone
            if is_other_rank(arguments):
                return 0
            arguments.ranks = None
        return arguments.run(arguments)
    except (KeyboardInterrupt, Error, OSError, ValueError, ImportError) as error:
        if isinstance(error, KeyboardInterrupt) or is_ended():  # which makes some packages say that they are not installed
            print("leyden: interrupted: nothing is written", file=sys.stderr)
            return interrupt_code()
        if isinstance(error, BrokenPipeError):
            return _CLOSED
        said = str(error)
        if isinstance(error, OSError) and error.filename and error.strerror:
            said = f"{error.filename}: {error.strerror}"
        said = said.replace("any_norm=True", "--any-norm")
        code = {"UsageError": 1, "ImportError": 1, "NoDeviceError": 3, "DeviceError": 4, "OutOfMemoryError": 4,
                "WrongResult": 5}.get(type(error).__name__, 2)
        rank = ""
        if is_other_rank(arguments):
            try:
                time.sleep(_PATIENCE_S)  # what is wrong on all ranks rank 0 says
            except KeyboardInterrupt:  # it has said so
                return code
            rank = f"rank {arguments.ranks.Get_rank()}: "
        print(f"leyden: {rank}{said if arguments.run is _convert else as_options(said)}", file=sys.stderr, flush=True)
        if arguments.ranks is not None:
            arguments.ranks.Abort(code)
        return code


def _end(code: int) -> NoReturn:
    """Ends the process; after a signal without waiting for drivers, or for what is still at work."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError as error:
        code = _CLOSED if isinstance(error, BrokenPipeError) else code
    if code > 128:
        os._exit(code)  # pylint: disable=protected-access
    sys.exit(code)


if __name__ == "__main__":
    _end(main())
