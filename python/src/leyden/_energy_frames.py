"""Energies over the frames of a trajectory: topologies, what is left out, cells, checkpoints."""
from __future__ import annotations

import contextlib
import io
import json
import os
import re
import time
import warnings
from dataclasses import dataclass
from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Optional, Protocol, Sequence, Tuple

import numpy as np

from ._arrays import numbers
from ._c import ffi, lib
from ._cell import cell_of_box, cell_vectors
from ._energy import TERMS, Energy
from ._errors import Error, FileError, InputError, UsageError, file_name, number_of, text_of
from ._files import write_whole
from ._frames import TRAJECTORIES, Block, Frames, about, check_topology_name, import_mdanalysis, place_of, selected, unheard
from ._particles import Particles, digest_of
from ._progress import FrameWatcher
from ._radii import SYMBOLS
from ._ranks import Ranks
from ._whole import Whole

# Residues of one atom and one charge that solutions have; those that proteins bind are not here.
_IONS = {"NA", "NA+", "CL", "CL-", "K", "K+", "SOD", "CLA", "POT", "LI", "LI+", "LIT", "RB", "RB+", "RUB", "CS", "CS+", "CES",
         "BR", "BR-", "CIO", "IB", "IP", "IM"}
_MORE_WATERS = {"OPC", "OP3", "TP3", "TP4", "TP5", "T3P", "T4P", "T5P", "DOD"}
_WITHOUT_FIELD = (".tpr", ".gro", ".pdb", ".ent", ".cif", ".mmcif", ".pqr", ".mol2", ".sdf")  # of names
_STRUCTURES = (".gro", ".pdb", ".ent", ".cif", ".mmcif", ".inpcrd", ".rst7")
_PIECE_S = 1.0  # of a run that computes some frames at once


# ---- Topologies ----------------------------------------------------------------------------------


def _universe_of(particles: Particles) -> Any:
    """A Universe with what particles have: names, residues, chains, masses, charges; without coordinates."""
    mdanalysis, count = import_mdanalysis(), len(particles)
    residue, residues = np.zeros(count, np.int64), 1
    if particles.residue is not None:
        residue, residues = np.asarray(particles.residue, np.int64), int(np.max(particles.residue)) + 1
    chains = particles.chains
    segments = list(dict.fromkeys(chains)) if chains is not None else [""]
    segment = [segments.index(chain) for chain in chains] if chains is not None else [0] * residues
    universe = mdanalysis.Universe.empty(count, residues, max(len(segments), 1), atom_resindex=residue,
                                         residue_segindex=segment)
    add = universe.add_TopologyAttr
    add("charges", particles.charges)
    add("resids", np.arange(1, residues + 1) if particles.residue_numbers is None else particles.residue_numbers)
    add("resnums", universe.residues.resids)
    add("segids", segments)
    for name, values in (("names", particles.names), ("resnames", particles.residue_names), ("masses", particles.masses)):
        if values is not None:
            add(name, values)
    if chains is not None:
        add("chainIDs", [chains[k] for k in residue])
    if particles.elements is not None:
        add("elements", [SYMBOLS[k] if 0 <= k < len(SYMBOLS) else "" for k in particles.elements])
    return universe


def _count_in(path: str, mdanalysis: Any) -> Optional[int]:
    with unheard():
        try:
            return int(mdanalysis.coordinates.core.reader(path).n_atoms)
        except Exception:  # pylint: disable=broad-except
            return None


def open_trajectory(topology: Any, parameters: Any, trajectories: Sequence[Any],
                    gb: Optional[str]) -> Tuple[Particles, Any, str]:
    """Particles, with Born radii of a model, a Universe with their frames, the topology's name.

    Errors: FileError, InputError where there are other numbers of atoms, UsageError, ImportError.
    """
    is_made = isinstance(topology, Particles)
    if not is_made and not isinstance(topology, (str, bytes, os.PathLike)):
        raise UsageError("topology: the name of a file with the force field is needed, or leyden.Particles, as Particles.from_parmed() "
                         f"and .from_openmm() make them, not {type(topology).__name__}; a Universe is a trajectory")
    name = "the particles" if is_made else os.fsdecode(file_name(topology))
    if name.lower().endswith(_WITHOUT_FIELD):
        raise InputError(f"{name}: energies need a topology with its force field: GROMACS' topol.top, an Amber .prmtop, or a .psf "
                         "with files of parameters")
    if not is_made:
        check_topology_name(name)
    more = [parameters] if isinstance(parameters, (str, bytes, os.PathLike)) else parameters
    if not isinstance(more, (list, tuple)):
        raise UsageError(f"parameters: a list of files' names is needed, not {parameters!r:.60}")
    if is_made and more:
        raise UsageError("parameters: they are for the name of a PSF, and these particles have theirs")
    particles = topology if is_made else Particles.load(topology, *more, **({} if gb is None else {"gb": gb}))
    universe = _universe_of(particles)
    if len(trajectories) == 0:
        raise UsageError("a trajectory is needed: the name of a file, a Universe of MDAnalysis or positions (F, N, 3)")
    if len(trajectories) == 1 and hasattr(trajectories[0], "trajectory"):
        given = trajectories[0].universe
        _check_count(name, len(particles), "the universe", len(given.atoms))
        universe.trajectory = given.trajectory
        return particles, universe, name
    if len(trajectories) == 1 and not isinstance(trajectories[0], (str, bytes, os.PathLike)):
        positions = numbers(trajectories[0], "positions", np.float32)
        positions = positions[None] if positions.ndim == 2 else positions
        if positions.ndim != 3 or positions.shape[2] != 3 or len(positions) == 0:
            raise InputError(f"positions has the shape {positions.shape}: (F, {len(particles)}, 3), of one frame or more, is needed")
        _check_count(name, len(particles), "positions", positions.shape[1])
        universe.load_new(positions, order="fac")
        return particles, universe, name
    files = [os.fsdecode(file_name(path)) for path in trajectories]
    mdanalysis = import_mdanalysis()
    if files[0].lower().endswith(_STRUCTURES) and any(path.lower().endswith(TRAJECTORIES) for path in files):
        raise UsageError(f"{files[0]} is one structure, which would count as a frame beside those of {files[-1]}: leave it out, as "
                         "the topology says what the atoms are")
    for path in files:
        try:
            with open(path, "rb"):
                pass
        except OSError as error:
            raise FileError(f"{path}: {error.strerror}") from None
        count = _count_in(path, mdanalysis)
        if count is not None:
            _check_count(name, len(particles), path, count)
    with about([name, *files]), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        universe.load_new(files if len(files) > 1 else files[0])
    return particles, universe, name


def _check_count(topology: str, particles: int, trajectory: str, atoms: int) -> None:
    if particles != atoms:
        has = "have" if topology == "the particles" else "has"
        raise InputError(f"{topology} {has} {particles:,} atoms, and {trajectory} has {atoms:,}: frames need the topology of all of "
                         "their atoms (of a trajectory that was stripped, one that was stripped in the same way)")


# ---- What counts ---------------------------------------------------------------------------------


def _solvent(universe: Any) -> np.ndarray:
    """Which atoms are of water or of ions."""
    names: List[str] = []
    while lib.ley_waters_residue(len(names)) != ffi.NULL:
        names.append(text_of(lib.ley_waters_residue(len(names))) or "")
    atoms = universe.atoms
    if not hasattr(atoms, "resnames"):
        return np.zeros(len(atoms), bool)
    residues = universe.residues
    words = np.array([str(name).strip().upper() for name in residues.resnames])
    sizes = np.bincount(atoms.resindices, minlength=len(residues))
    is_solvent = np.isin(words, [*names, *_MORE_WATERS]) & (sizes <= 5) | np.isin(words, list(_IONS)) & (sizes == 1)
    return is_solvent[atoms.resindices]


def names_of(atoms: Any, most: int = 4) -> str:
    """"7,796 WAT, 12 Na+": residues of atoms, or how many these are."""
    if not hasattr(atoms, "resnames"):
        return f"{len(atoms):,} atoms"
    names, counts = np.unique(atoms.residues.resnames, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    words = [f"{counts[k]:,} {names[k]}" for k in order[:most]]
    return ", ".join(words) + (", ..." if len(order) > most else "")


@dataclass
class Kept:
    """Atoms of the universe that are computed, and what was left out, in words."""

    index: np.ndarray
    stripped: str = ""


def kept_of(universe: Any, strip: Any, is_open: bool, what: str) -> Kept:
    """`strip`: None refuses solvent in open space; True leaves it out; False counts it; words or atoms are left out."""
    atoms = universe.atoms
    if strip is None or strip is True or strip is False:
        out = _solvent(universe)
        if not np.any(out) or strip is False or (strip is None and not is_open):
            return Kept(np.arange(len(atoms)))
        if strip is None:
            raise InputError(f"the topology has solvent, {names_of(atoms[out])}, and {what}: strip=True leaves it out, "
                             "strip=False counts it as solute")
    else:
        out = np.zeros(len(atoms), bool)
        out[selected(universe, strip, "strip").indices] = True
    if np.all(out):
        raise UsageError("strip: no atom is left")
    return Kept(np.flatnonzero(~out), names_of(atoms[out]))


def residues_of(particles: Particles) -> Tuple[np.ndarray, List[str]]:
    """A number of its residue for each particle, counted anew in their order, and labels "A LYS 12"."""
    if particles.residue is None:
        raise InputError("by: the topology does not say which atoms are which residue's: by='atom' is of atoms")
    found, number = np.unique(np.asarray(particles.residue), return_inverse=True)
    names, numbers, chains = particles.residue_names, particles.residue_numbers, particles.chains
    labels = []
    for k in found:
        words = [] if chains is None or not chains[k] else [str(chains[k])]
        words += [] if names is None else [str(names[k])]
        labels.append(" ".join([*words, str(k + 1 if numbers is None else numbers[k])]))
    return number.astype(np.int32), labels


def labels_of(particles: Particles) -> List[str]:
    """"LYS 12 CA" of each atom."""
    names = [str(i + 1) for i in range(len(particles))] if particles.names is None else list(particles.names)
    if particles.residue is None:
        return names
    number, labels = residues_of(particles)
    return [f"{labels[k]} {name}" for k, name in zip(number, names)]


# ---- Runs ----------------------------------------------------------------------------------------


class Computed(Protocol):
    """What is computed of frames: rows for each, and sums over all."""

    name: str
    first_at_once: int  # so many frames at first,

    def frames_at_once(self) -> int:
        """And this many at most."""

    def run(self, positions: np.ndarray, cells: Optional[np.ndarray]) -> Tuple[Dict[str, np.ndarray], Any]:
        """Rows of frames, by name, and what is summed over all of them, (F, ...), or None."""


class Part:
    """Energies of some of the atoms that are kept."""

    first_at_once = 1  # some take long

    def __init__(self, name: str, energy: Energy, index: Optional[np.ndarray], by: Optional[str] = None,
                 sums_matrix: bool = False) -> None:
        self.name, self.energy, self._index, self._by, self._sums_matrix = name, energy, index, by, sums_matrix
        self.labels: List[str] = []
        if by == "atom":
            self.labels = labels_of(energy.particles)
        elif by == "residue":
            residue, self.labels = residues_of(energy.particles)
            order = np.argsort(residue, kind="stable")
            self._first = np.searchsorted(residue[order], np.arange(len(self.labels)))
            self._order = None if np.array_equal(order, np.arange(len(order))) else order  # mostly they follow each other

    def frames_at_once(self) -> int:
        """Of which results fit into memory."""
        return self.energy.frames_at_once()

    def run(self, positions: np.ndarray, cells: Optional[np.ndarray]) -> Tuple[Dict[str, np.ndarray], Any]:
        """Rows of frames, by name, and the frames' matrices (F, 6, R, R) that are summed, or None."""
        found = self.energy.arrays(positions if self._index is None else positions[:, self._index], cells)
        rows = {"terms": found["terms"]}
        if self._by == "atom":
            rows["by"] = found["by_particle"]
        elif self._by == "residue":
            by_particle = found["by_particle"] if self._order is None else found["by_particle"][:, :, self._order]
            rows["by"] = np.add.reduceat(by_particle, self._first, axis=2)
        if not self._sums_matrix and "matrix" in found:
            rows["matrix"] = found["matrix"]
        return rows, found["matrix"] if self._sums_matrix else None


class Piece(NamedTuple):
    """Frames that were computed at once: their numbers and rows, and where the run is after them."""

    frames: np.ndarray
    rows: Dict[str, np.ndarray]  # by part and name, "complex.terms"
    sums: Dict[str, np.ndarray]  # over all frames so far
    done: int  # frames of the run so far, with those that were left out
    made_whole: int  # of all frames so far


_REST = ".rest"  # of a sum: what rounding has left of it


def _add_exactly(sums: Dict[str, np.ndarray], name: str, values: np.ndarray) -> None:
    """Both together have twice a double's digits, in whatever order values are added."""
    total, rest = (sums.setdefault(key, np.zeros(values.shape)) for key in (name, name + _REST))
    made = total + values
    added = made - total
    rest += (total - (made - added)) + (values - added)
    total[...] = made


class Gathered:
    """Rows of all frames so far, and sums over them. A piece is there whole or not at all, whenever a signal comes."""

    def __init__(self) -> None:
        self.pieces: List[Piece] = []
        self.resumed = 0

    @property
    def count(self) -> int:
        return sum(len(piece.frames) for piece in self.pieces)

    @property
    def done(self) -> int:
        return self.pieces[-1].done if self.pieces else 0

    @property
    def made_whole(self) -> int:
        return self.pieces[-1].made_whole if self.pieces else 0

    @property
    def frames(self) -> np.ndarray:
        return np.concatenate([piece.frames for piece in self.pieces])

    def take(self, found: Mapping[str, Tuple[Dict[str, np.ndarray], Any]], frames: np.ndarray, done: int, changed: int) -> None:
        """Adds what parts have made of frames, by the parts' names: rows, and matrices that are summed, or None."""
        sums = {name: values.copy() for name, values in self.pieces[-1].sums.items()} if self.pieces else {}
        for part, (_, matrices) in found.items():
            for matrix in () if matrices is None else matrices:
                _add_exactly(sums, f"{part}.matrix", matrix)
        rows = {f"{part}.{name}": values for part, (named, _) in found.items() for name, values in named.items()}
        self.pieces.append(Piece(np.array(frames), rows, sums, done, self.made_whole + changed))
        if len(self.pieces) > 1:
            self.pieces[-2].sums.clear()

    def join(self, ranks: Ranks, numbers: range) -> None:
        """Takes those of all ranks, in the order of frames."""
        found = list(ranks.each(self.pieces))
        sums: Dict[str, np.ndarray] = {}
        for last in (pieces[-1] for pieces in found if pieces):
            for name, values in last.sums.items():
                _add_exactly(sums, name.replace(_REST, ""), values)
        made_whole = sum(pieces[-1].made_whole for pieces in found if pieces)
        self.pieces = sorted((piece for pieces in found for piece in pieces), key=lambda piece: numbers.index(int(piece.frames[0])))
        if self.pieces:
            self.pieces[-1] = self.pieces[-1]._replace(sums=sums, done=len(numbers), made_whole=made_whole)

    def rows(self, name: str) -> np.ndarray:
        """(F, ...)."""
        return np.concatenate([piece.rows[name] for piece in self.pieces])

    def get(self, part: str, name: str) -> Any:
        """Rows (F, ...), or of a sum the mean over frames; None: there is none."""
        last, key = self.pieces[-1], f"{part}.{name}"
        return (last.sums[key] + last.sums[key + _REST]) / self.count if key in last.sums else self.rows(key) if key in last.rows else None


class Checkpoint:
    """Rows and sums in a file, which is written whole now and then, and from which a run goes on."""

    def __init__(self, path: Any, source: Mapping[str, Any], every_s: float) -> None:
        self.path, self.every_s = os.fsdecode(file_name(path)), number_of(every_s, "checkpoint_s")
        self._source = json.loads(json.dumps(source, default=str))
        self._last_s, self._took_s = time.monotonic(), 0.0

    def resume(self, gathered: Gathered) -> None:
        if not os.path.exists(self.path):
            return
        try:
            with np.load(self.path, allow_pickle=False) as kept:
                source = json.loads(str(kept["source"]))
                arrays = {name: kept[name] for name in kept.files}
        except OSError as error:
            raise FileError(f"{self.path}: {error.strerror or error}") from None
        except Exception:  # pylint: disable=broad-except
            raise InputError(f"{self.path} is no checkpoint, or damaged: delete it to begin anew") from None
        differs = [name for name in self._source if source.get(name) != self._source[name]]
        if differs:
            name = differs[0]
            raise InputError(f"{self.path} is of another run, whose {name} is {source.get(name)}, and not {self._source[name]}: "
                             "delete it to begin anew")
        rows, sums = ({name[4:]: array for name, array in arrays.items() if name.startswith(kind)} for kind in ("row.", "sum."))
        gathered.pieces = [Piece(arrays["frames"], rows, sums, int(arrays["done"]), int(arrays["made_whole"]))]
        gathered.resumed = gathered.count

    def save(self, gathered: Gathered) -> None:
        if gathered.count == gathered.resumed:
            return
        start_s, content = time.monotonic(), io.BytesIO()
        last = gathered.pieces[-1]
        arrays: Dict[str, Any] = {"source": np.array(json.dumps(self._source)), "done": last.done, "made_whole": last.made_whole,
                                  "frames": gathered.frames, **{f"row.{name}": gathered.rows(name) for name in last.rows},
                                  **{f"sum.{name}": total for name, total in last.sums.items()}}
        np.savez(content, **arrays)
        write_whole(self.path, content.getvalue())
        self._last_s = time.monotonic()
        self._took_s = self._last_s - start_s

    def is_due(self) -> bool:
        """No more than a twentieth of the time is spent on it."""
        return time.monotonic() - self._last_s >= max(self.every_s, 20 * self._took_s)


@dataclass
class Way:
    """How frames become positions: in their cells, or in open space with molecules made whole."""

    is_open: bool
    cell: Any  # of all frames; None: their own
    has_cells: bool
    whole: bool

    @classmethod
    def of(cls, universe: Any, periodic: Optional[bool], options: Any, cell: Any, whole: bool) -> "Way":
        if periodic not in (None, True, False):
            raise UsageError(f"periodic: None, True or False is needed, not {periodic!r:.60}")
        needs = options.coulomb == lib.LEY_COULOMB_EWALD or options.tail_correction
        why = "coulomb='pme' sums" if options.coulomb == lib.LEY_COULOMB_EWALD else "tail_correction is" if needs else \
            "periodic=True sums"
        has_cells = cell is not None or cell_of_box(getattr(universe.trajectory.ts, "dimensions", None)) is not None
        if options.born and (periodic or needs):
            raise UsageError(f"{why} in periodic cells, and generalised Born energies are of open space: one of both is "
                             "computed")
        if needs and periodic is False:
            raise UsageError(f"{why} in periodic cells, and periodic=False is open space")
        is_open = not (needs or periodic or (periodic is None and has_cells and options.cutoff_A > 0 and not options.born))
        if not is_open and not has_cells:
            raise InputError(f"{why} in periodic cells, and the frames have none: cell=(a, b, c) gives one for all of them")
        return cls(is_open, None if cell is None else cell_vectors(cell), has_cells, whole)


class _Pace:
    """How many frames are computed at once: what takes about a second, so that signals and checkpoints come between."""

    def __init__(self, first: int, most: int) -> None:
        self.most, self.frames, self._start_s = most, first, time.monotonic()

    def begin(self) -> int:
        self._start_s = time.monotonic()
        return min(self.frames, self.most)

    def end(self) -> None:
        took_s = time.monotonic() - self._start_s
        self.frames = min(2 * self.frames, self.most) if took_s < _PIECE_S / 2 else max(self.frames // 2, 1) \
            if took_s > _PIECE_S else self.frames


def _pieces(gathered: Gathered, frames: Frames, parts: Sequence[Computed], way: Way, pairs: np.ndarray,
            ranks: Optional[Ranks]) -> Iterator[Tuple[Block, int]]:
    """Frames that are computed at once, and in how many of them molecules were broken."""
    pace = _Pace(min(part.first_at_once for part in parts), min(part.frames_at_once() for part in parts))
    maker = Whole(frames.atoms, pairs, *frames.first()) if way.is_open and way.has_cells and way.whole else None
    for block in frames.blocks(gathered.done, ranks):
        first = 0
        while first < len(block.numbers):
            part = slice(first, first + pace.begin())
            positions, cells, found = block.positions[part], block.cells[part], block.numbers[part]
            first, changed = first + len(found), 0
            if maker is not None:
                positions = positions.copy()
                changed = maker.apply(positions, cells)
            is_last = first == len(block.numbers)
            yield Block(found, positions, cells, block.done if is_last else frames.numbers.index(int(found[-1])) + 1), changed
            pace.end()


def _keep_failed(error: BaseException, gathered: Gathered, checkpoint: Optional[Checkpoint], watcher: FrameWatcher, wanted: int) -> None:
    """Saves the checkpoint of a run that has failed, and tells an interrupt how far it has come."""
    watcher.end()
    if checkpoint is not None and (isinstance(error, KeyboardInterrupt) or watcher.elapsed_s > checkpoint.every_s):
        try:
            checkpoint.save(gathered)
        except Error:  # the first one says what is wrong
            pass
    if isinstance(error, KeyboardInterrupt):
        error.frames = gathered.count, wanted  # type: ignore[attr-defined]


def gather(frames: Frames, parts: Sequence[Computed], way: Way, pairs: np.ndarray, checkpoint: Optional[Checkpoint],
           watcher: FrameWatcher, communicator: Any = None) -> Gathered:
    """All frames; the watcher is closed. `pairs`: of atoms that are close together, by which molecules are made whole."""
    gathered, ranks = Gathered(), Ranks.of(communicator)
    if ranks is not None and checkpoint is not None:
        raise UsageError("ranks: a run with a checkpoint is not shared")
    if checkpoint is not None:
        checkpoint.resume(gathered)
        frames.skipped = gathered.done - gathered.count
    watcher.begin(gathered.done, len(frames))
    try:
        if ranks is not None and not way.is_open:  # settings follow from the first frame of all ranks
            for part in parts:
                part.run(*(array[None] for array in frames.first()))
        for block, changed in _pieces(gathered, frames, parts, way, pairs, ranks):
            try:
                found = {part.name: part.run(block.positions, None if way.is_open else block.cells) for part in parts}
            except InputError as error:
                where = re.match(r"positions\[(\d+)\]: ", error.message)
                number = block.first if where is None else int(block.numbers[int(where[1])])
                raise InputError(f"{place_of(frames.trajectory, number)}: {error.message[0 if where is None else where.end():]}") from None
            gathered.take(found, block.numbers, block.done, changed)
            if checkpoint is not None and checkpoint.is_due():
                checkpoint.save(gathered)
            watcher.tell(gathered.done)
    except (Exception, KeyboardInterrupt) as error:
        _keep_failed(error, gathered, checkpoint, watcher, len(frames))
        raise
    finally:
        watcher.close()
    if ranks is not None:
        gathered.join(ranks, frames.numbers)
        frames.join(ranks)
        ranks.close()
    if gathered.count == 0:
        raise InputError("no frame counts")
    if checkpoint is not None:
        checkpoint.save(gathered)
    watcher.end(1 if ranks is None else ranks.count)
    return gathered


def source_of(frames: Frames, options: Any, facts: Mapping[str, Any]) -> Dict[str, Any]:
    """What a checkpoint is of."""
    index = np.asarray(frames.group.indices, np.int64)
    values = {name: getattr(options, name) for name, field in ffi.typeof(options).item.fields
               if field.type.kind in ("primitive", "enum") and name not in ("size", "verify_every")}
    return {"trajectory": [[os.path.basename(name), os.path.getsize(name)] for name in frames.files],
            "digest of positions": "" if getattr(frames.trajectory, "transformations", ()) else frames.digest(),
            "number of frames": len(frames.trajectory), "first frame": frames.numbers.start, "step": frames.numbers.step,
            "frames": len(frames), "atoms": [len(index), int(index.sum()), int((index ** 2).sum())], "options": values, **facts}


def energy_source_of(frames: Frames, topology: str, particles: Particles, options: Any, facts: Mapping[str, Any]) -> Dict[str, Any]:
    """What a checkpoint of energies is of."""
    return source_of(frames, options, {"topology": os.path.basename(topology), "digest of particles": digest_of(particles), **facts})


def report_of(frames: Frames, gathered: Gathered, watcher: FrameWatcher, parts: Sequence[Part]) -> Dict[str, Any]:
    """What a run was like, of all of its parts."""
    each = [part.energy.report for part in parts]
    return {"files": frames.files, "frames": gathered.count, "frames_wanted": len(frames), "skipped": frames.skipped,
            "first_skipped": [bad._asdict() for bad in frames.bad], "atoms": frames.atoms, "readers": frames.readers,
            "made_whole": gathered.made_whole, "resumed_frames": gathered.resumed, "elapsed_s": watcher.elapsed_s,
            "frames_per_s": watcher.rate, "ranks": watcher.ranks, "checked_frames": each[0]["checked_frames"],
            "energy_error": max(one["energy_error"] for one in each), "device": each[0]["device"],
            "device_seconds": sum(one["device_seconds"] for one in each), "parts": each, "term_names": list(TERMS)}
