"""Frames of a trajectory, block after block: read by MDAnalysis, in processes of their own, or by threads, where that is
sooner."""
from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import mmap
import os
import pickle
import re
import socket
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any, Callable, Deque, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from ._cell import cell_vectors, vectors_of_boxes
from ._dcd import Cells, PlainFiles, is_cut, name_of, part_of, parts_of
from ._errors import FileError, InputError, UsageError, switch_of
from ._ranks import Ranks

# Formats of MDAnalysis in which any frame can be read without those before it.
_RANDOM = {"DCD", "LAMMPS", "XTC", "TRR", "NCDF", "NC", "H5MD", "TNG"}
_BLOCK_BYTES, _MOST_FRAMES = 8 << 20, 256  # of positions, and frames, of a block
_SLOTS = 2  # blocks that a reader may be ahead
_START_S = 1.5  # what it takes a process to begin
_SHORT_S = 0.1  # a run that is no longer needs no threads
_MOST_READERS = 32
_KEPT = 10  # numbers of frames that were left out
# Transformations of MDAnalysis that turn atoms, and no cell.
_TURNING = {"fit_rot_trans", "rotateby"}
_SPREAD = 0.1  # of a selection along a vector: |mean of exp(2 pi i s)|; uniform ones have 0


_FARTHEST_A = 1e6  # the library takes no positions beyond it


def _are_near(coordinates: np.ndarray) -> bool:
    """Whether all are numbers, and within that; mostly by one product."""
    return bool(np.dot(coordinates, coordinates) < _FARTHEST_A ** 2 or np.abs(coordinates).max() <= _FARTHEST_A)


class Bad(NamedTuple):
    """A frame that cannot be used, and why."""

    number: int
    reason: str


class Block(NamedTuple):
    """Frames that follow each other: `numbers` are those of MDAnalysis, from 0; the arrays are valid until the next block."""

    numbers: np.ndarray  # (F,) int64
    positions: np.ndarray  # (F, N, 3) float32, C-contiguous, A
    cells: np.ndarray  # (F, 3, 3) float64, vectors a, b, c, A
    done: int  # frames of the run so far, with those that were left out

    @property
    def first(self) -> int:
        return int(self.numbers[0])


# ---- Reading -------------------------------------------------------------------------------------


@dataclass
class Placing:
    """Moves frames so that the middle of some atoms is at the same fractions of each cell."""

    indices: np.ndarray
    target: Optional[np.ndarray] = None  # fractions of the vectors; None: those of the first frame
    # Vectors along which it moves them: those that the atoms do not fill.
    along: np.ndarray = field(default_factory=lambda: np.ones(3, bool))

    def middle(self, positions: np.ndarray, vectors: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
        """Fractions of the mean position, of images that lie together, and how close together they are, 0 to 1."""
        s = positions[self.indices].astype(np.float64) @ np.linalg.inv(vectors)
        wave = np.exp(2j * np.pi * s).mean(axis=0)
        near = np.angle(wave) / (2 * np.pi)
        return (s - np.round(s - near)).mean(axis=0), np.abs(wave)

    def begin(self, positions: np.ndarray, vectors: np.ndarray) -> None:
        """Takes the first frame."""
        middle, spread = self.middle(positions, vectors)
        self.along = spread > _SPREAD
        self.target = middle if self.target is None else self.target

    def shift(self, positions: np.ndarray, vectors: np.ndarray) -> np.ndarray:
        """(3,), A."""
        middle, _ = self.middle(positions, vectors)
        return np.where(self.along, self.target - middle, 0.0) @ vectors


class Source:
    """Frames as a trajectory of MDAnalysis has them; `is_own`: nobody else looks at it."""

    def __init__(self, trajectory: Any, is_own: bool = False) -> None:
        self._trajectory, self._is_own, self._charmm = trajectory, is_own, Cells()

    def frame(self, number: int, wanted: Optional[np.ndarray]) -> Tuple[np.ndarray, Any, Optional[np.ndarray]]:
        """Positions, in `wanted` where that is possible; the box, or None; the vectors of CHARMM's, or None."""
        if self._is_own and wanted is not None:
            with contextlib.suppress(AttributeError, TypeError):  # most readers decode it where the last one was
                part_of(self._trajectory, number)[0].ts._pos = wanted  # pylint: disable=protected-access
        frame = self._trajectory[number]
        box = getattr(frame, "dimensions", None)
        return frame.positions, box, self._charmm.of(self._trajectory, number, box)


@dataclass
class Reading:
    """How a frame is made of what a source has, a `Source` or `PlainFiles`."""

    indices: Optional[np.ndarray]  # of the atoms that count; None: all
    cell: Optional[np.ndarray]  # of all frames, in place of their own
    placings: List[Placing] = field(default_factory=list)

    def take(self, source: Any, number: int, positions: np.ndarray, cell: np.ndarray) -> None:
        """Fills (N, 3) and (3, 3). Errors: whatever the reader raises; ValueError with what is wrong."""
        found, box, matrix = source.frame(number, positions if self.indices is None else None)
        if self.cell is not None:
            cell[...] = self.cell
        else:
            cell[...] = vectors_of_boxes(None if box is None else np.asarray(box, np.float64)[None])[0] if matrix is None \
                else matrix
        if not np.any(cell):
            raise ValueError("it has no cell with three vectors: cell=(a, b, c) gives one for all frames"
                             + ("" if box is None else f", and its dimensions are {np.asarray(box).tolist()}"))
        shift = sum((placing.shift(found, cell) for placing in self.placings), np.zeros(3))
        if self.indices is None and found is not positions:
            positions[...] = found
        elif self.indices is not None:
            np.take(found, self.indices, axis=0, out=positions, mode="clip")
        if self.placings:
            positions += shift.astype(np.float32)
        if not _are_near(positions.ravel()):
            wrong = int(np.argmin((np.abs(positions) <= _FARTHEST_A).all(axis=1)))
            atom = wrong if self.indices is None else self.indices[wrong]
            what = f"beyond {_FARTHEST_A:g} A" if np.all(np.isfinite(positions[wrong])) else "not a number"
            raise ValueError(f"the position of atom {atom} (counted from 0) is {what}")

    def fill(self, source: Any, numbers: Sequence[int], positions: np.ndarray, cells: np.ndarray,
             stop_at_bad: bool) -> Tuple[List[int], List[Bad]]:
        """Fills the arrays by the frames that can be read; their numbers, and the others."""
        good: List[int] = []
        bad: List[Bad] = []
        for number in numbers:
            try:
                self.take(source, number, positions[len(good)], cells[len(good)])
                good.append(number)
            except Exception as error:  # pylint: disable=broad-except
                bad.append(Bad(number, " ".join(str(error).split()) or type(error).__name__))
                if stop_at_bad:
                    break
        return good, bad


def serve(socket_number: int, memory: int) -> None:
    """What a process does that reads: it ends when the socket does, as where the one that reads from it has gone."""
    link = Connection(socket_number)
    with contextlib.suppress(EOFError, OSError):
        try:
            task = link.recv()
            source = Source(getattr(task["source"], "trajectory", task["source"]), is_own=True)
            slots = _slots_in(memory, task["shape"])
        except Exception as error:  # pylint: disable=broad-except
            link.send(repr(error))
            return
        link.send(None)
        for slot, numbers in enumerate(task["blocks"]):
            if slot >= _SLOTS:
                link.recv()  # the oldest slot is free again
            link.send(task["reading"].fill(source, numbers, *slots[slot % _SLOTS], task["stop_at_bad"]))


def _slot_bytes(shape: Tuple[int, int]) -> Tuple[int, int]:
    """Of positions, up to a whole cache line, and of cells."""
    frames, atoms = shape
    return -(-frames * atoms * 12 // 64) * 64, frames * 72


def _slots_in(memory: int, shape: Tuple[int, int]) -> List[Tuple[np.ndarray, np.ndarray]]:
    """Arrays of positions and cells on the memory of a file."""
    (frames, atoms), (first, second) = shape, _slot_bytes(shape)
    mapped = mmap.mmap(memory, _SLOTS * (first + second))
    return [(np.frombuffer(mapped, np.float32, frames * atoms * 3, at).reshape(frames, atoms, 3),
             np.frombuffer(mapped, np.float64, frames * 9, at + first).reshape(frames, 3, 3))
            for at in range(0, _SLOTS * (first + second), first + second)]


class _Reader:
    """A process that reads some of the blocks. Memory that it shares has no name: it goes with the last process."""

    def __init__(self, shape: Tuple[int, int]) -> None:
        ours, theirs = socket.socketpair()
        memory = _memory_file(_SLOTS * sum(_slot_bytes(shape)))
        try:
            self.slots = _slots_in(memory, shape)
            code = "import sys, json; sys.path[:] = json.loads(sys.argv[1]); from leyden._frames import serve; " \
                   "serve(int(sys.argv[2]), int(sys.argv[3]))"
            words = [sys.executable, "-W", "ignore", "-c", code, json.dumps(sys.path), str(theirs.fileno()), str(memory)]
            self.process = subprocess.Popen(
                words, pass_fds=(theirs.fileno(), memory), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL, start_new_session=True, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"})
        finally:
            os.close(memory)
            theirs.close()
        self.link = Connection(ours.detach())
        self.taken = 0

    def answer(self) -> Any:
        """What it sends next. Errors: FileError where it ended."""
        try:
            return self.link.recv()
        except (EOFError, OSError):
            code = self.process.wait()
            raise FileError(f"a process that reads frames has ended (exit code {code}): readers=1 reads them in this "
                            "one") from None

    def block(self) -> Tuple[List[int], List[Bad], np.ndarray, np.ndarray]:
        """The next of its blocks, which is ours until release()."""
        good, bad = self.answer()
        return (good, bad, *self.slots[self.taken % _SLOTS])

    def release(self) -> None:
        self.taken += 1
        with contextlib.suppress(OSError):  # it may have read all and ended
            self.link.send(None)

    def close(self) -> None:
        self.link.close()
        self.process.kill()
        self.process.wait()


def _memory_file(size: int) -> int:
    """A descriptor of memory without a name."""
    if hasattr(os, "memfd_create"):
        file = os.memfd_create("leyden")
    else:
        with tempfile.TemporaryFile() as kept:
            file = os.dup(kept.fileno())
    os.ftruncate(file, size)
    return file


# ---- Sources -------------------------------------------------------------------------------------


def import_mdanalysis() -> Any:
    """MDAnalysis. ImportError, with what to type, where it is not installed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what it imports itself
            import MDAnalysis
    except ImportError:
        raise ImportError("MDAnalysis is not installed, which reads topologies and trajectories: pip install "
                          "'leyden[trajectories]', or pip install MDAnalysis") from None
    return MDAnalysis


@contextlib.contextmanager
def unheard() -> Iterator[None]:
    """Readers of broken files stumble once more when they are let go, which Python would print."""
    hook, sys.unraisablehook = sys.unraisablehook, lambda _: None
    try:
        yield
    finally:
        sys.unraisablehook = hook


@contextlib.contextmanager
def about(files: Sequence[str]) -> Iterator[None]:
    """What other packages raise of files that they cannot read, in one line with the files' names."""
    try:
        yield
    except (UsageError, MemoryError, ImportError):
        raise
    except Exception as error:  # pylint: disable=broad-except
        text = " ".join(str(error).split()) or type(error).__name__
        for words in (" You can use 'Universe(", " The FORMATs dict_keys("):
            text = text.split(words)[0]  # what follows is for programs that call MDAnalysis
        with unheard():
            traceback.clear_frames(error.__traceback__)
        named = any(name in text for name in files)
        raise InputError(text if named else f"{' with '.join(files)}: {text}") from None


def _selection_meant(words: Any) -> str:
    """The selection of MDAnalysis that an Amber mask, a chain or the name of a residue seem to mean, or nothing."""
    mask = re.fullmatch(r":([\d,-]+|\w+)|(?:chain|segment) +(\w+)|([A-Z][A-Z0-9]{1,3})", str(words).strip())
    if mask is None:
        return ""
    kind = "segid" if mask[2] else "resid" if mask[1] and not re.search("[A-Za-z]", mask[1]) else "resname"
    return f" (did you mean '{kind} {(mask[1] or mask[2] or mask[3]).replace(',', ' ')}'?)"


def _ranges(numbers: np.ndarray) -> str:
    """"1-163, 170"."""
    numbers = np.unique(numbers)
    parts = np.split(numbers, np.flatnonzero(np.diff(numbers) != 1) + 1)
    return few([str(part[0]) if len(part) == 1 else f"{part[0]}-{part[-1]}" for part in parts])


def few(words: Sequence[str], most: int = 8) -> str:
    """The first of them, separated by commas."""
    return ", ".join([*words[:most], *["..."] * (len(words) > most)])


def _there_is(atoms: Any) -> str:
    """What a selection may name: "resid 1-163, resname ALA, ARG, ..., segid A"."""
    found = []
    for word, name, text in (("resid", "resids", _ranges), ("resname", "resnames", lambda names: few(np.unique(names).tolist())),
                             ("segid", "segids", lambda names: few(np.unique(names).tolist()))):
        values = getattr(atoms, name, None)
        if values is not None and len(values) and np.any(np.asarray(values) != ""):
            found.append(f"{word} {text(values)}")
    return f"; there are {'; '.join(found)}" if found else ""


def selected(of: Any, words: Any, name: str = "select") -> Any:
    """The AtomGroup that words of MDAnalysis's language select; one itself."""
    if hasattr(words, "indices"):
        if len(words) == 0:
            raise UsageError(f"{name}: the AtomGroup is empty")
        count = len(getattr(of, "universe", of).atoms)
        if np.max(words.indices) >= count:
            raise UsageError(f"{name}: the AtomGroup has atom {np.max(words.indices)} (counted from 0), and there are {count:,}")
        return words
    if not isinstance(words, str):
        raise UsageError(f"{name}: words of MDAnalysis's selection language or an AtomGroup are needed, not {words!r:.60}")
    try:
        group = of.select_atoms(words)
    except Exception as error:  # SelectionError, and whatever its parser stumbles over
        raise UsageError(f"{name} {words!r}: {error}{_selection_meant(words)}") from None
    if len(group) == 0:
        raise UsageError(f"{name} {words!r}: there is no such atom{_selection_meant(words)}{_there_is(of.atoms)}")
    return group


TRAJECTORIES = (".xtc", ".trr", ".dcd", ".nc", ".ncdf", ".mdcrd")


def check_topology_name(name: str) -> None:
    """Errors: UsageError where it is a trajectory's."""
    if name.lower().endswith(TRAJECTORIES):
        raise UsageError(f"{name} is a trajectory: the topology comes first, and then its trajectories")


def universe_of(source: Any, trajectories: Sequence[Any]) -> Any:
    """A Universe or an AtomGroup, of itself, of files or of a Structure of ParmEd. Errors: FileError, InputError, UsageError,
    ImportError."""
    if hasattr(source, "coordinates") and hasattr(source, "atoms"):
        source = import_mdanalysis().Universe(source)
    if hasattr(source, "atoms"):
        if trajectories:
            raise UsageError("trajectories are for the name of a topology: a Universe has its own")
        return source
    if not isinstance(source, (str, os.PathLike)) or not all(isinstance(t, (str, os.PathLike)) for t in trajectories):
        raise UsageError("a Universe or an AtomGroup of MDAnalysis, or the names of a topology and of trajectories, are "
                         f"needed, not {type(source).__name__}")
    files = [os.fspath(path) for path in (source, *trajectories)]
    for name in files:
        try:
            with open(name, "rb"):  # says what is wrong in fewer words than the packages
                pass
        except OSError as error:
            raise FileError(f"{name}: {error.strerror}") from None
    check_topology_name(files[0])
    mdanalysis = import_mdanalysis()
    with about(files), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        universe = mdanalysis.Universe(files[0], *([files[1:]] if len(files) > 2 else files[1:]))
    if not hasattr(universe, "trajectory"):
        raise InputError(f"{files[0]}: it has no coordinates: a trajectory is needed as well")
    return universe


def place_of(trajectory: Any, number: int) -> str:
    """"run.dcd: frame 12 (counted from 0)"."""
    reader, local = part_of(trajectory, number)
    name = name_of(reader)
    of_all = f", {number} of all files" if local != number else ""
    return f"{name}: frame {local} (counted from 0{of_all})" if name else f"frame {number} (counted from 0)"


class Frames:
    """The frames of a run: `for block in frames.blocks(): use(block.positions, block.cells)`.

    Args:
        source: a Universe or an AtomGroup of MDAnalysis, or the name of a topology, with
        trajectories: the names of one or several.
        select: a selection in MDAnalysis's language, or an AtomGroup: whose charges count. None: all.
        start, stop, step: frames, as of a slice.
        center: a selection whose centre of geometry is moved to the middle of each cell.
        fit: one that is moved to where it is in the first frame. Neither turns, as cells do not.
        cell: of all frames, as `Atoms` take it; None: their own.
        skip_bad: frames that cannot be read or have no cell, or positions that are no numbers, are left out.
        readers: threads that read DCD files, or processes that read others; None: as many as are worth while. 1: this one.
        needs_charges: False: the topology may have none, and all are 0.

    Attributes:
        group: the atoms that count; `charges`, (N,) float64, e.
        readers: threads or processes that read, once blocks are taken.
        skipped: frames that were left out, and `bad`, the first of them.
        cell: the vectors of the first frame, (3, 3), A.
    """

    def __init__(self, source: Any, *trajectories: Any, select: Any = None, start: Optional[int] = None,
                 stop: Optional[int] = None, step: Optional[int] = None, center: Any = None, fit: Any = None,
                 cell: Any = None, skip_bad: bool = False, readers: Optional[int] = None,
                 needs_charges: bool = True) -> None:
        universe = universe_of(source, trajectories)
        self.group = universe.atoms if select is None else selected(universe, select)
        self.universe = getattr(universe, "universe", universe)
        self.trajectory: Any = self.universe.trajectory
        self._source = Source(self.trajectory)
        if readers is not None and (not isinstance(readers, (int, np.integer)) or readers < 1):
            raise UsageError(f"readers: a whole number, at least 1, is needed, not {readers!r}")
        self._wanted_readers, self._skips = readers, switch_of(skip_bad, "skip_bad")
        self.skipped, self.bad, self.readers = 0, [], 1  # type: int, List[Bad], int
        self.charges = self._charges_of(self.group) if needs_charges else np.zeros(len(self.group))
        self.numbers = self._range(start, stop, step)
        indices = np.asarray(self.group.indices)
        whole = np.array_equal(indices, np.arange(len(self.universe.atoms)))
        self._reading = Reading(None if whole else indices, None if cell is None else cell_vectors(cell))
        for name, words, target in (("center", center, np.full(3, 0.5)), ("fit", fit, None)):
            if words is not None:
                atoms = np.asarray(selected(self.universe, words, name).indices)
                self._reading.placings.append(Placing(atoms, target))
        if len(self._reading.placings) > 1:
            raise UsageError("center and fit exclude each other: both say where the atoms are")
        self._check_transformations()
        self._cut = self._find_cut(stop)
        if self._cut is not None and not self._skips:
            self._refuse(self._cut)
        self.cell = self._begin()

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def atoms(self) -> int:
        return len(self.charges)

    @property
    def files(self) -> List[str]:
        """Of the trajectory; none where it is in memory."""
        names = getattr(self.trajectory, "filenames", None)
        names = [getattr(self.trajectory, "filename", None)] if names is None else list(names)
        return [str(name) for name in names if isinstance(name, (str, os.PathLike))]

    @property
    def seconds_a_frame(self) -> float:
        """What reading took of a frame at the beginning, in this process."""
        return self._frame_s

    @staticmethod
    def _charges_of(group: Any) -> np.ndarray:
        try:
            return np.ascontiguousarray(group.charges, np.float64)
        except AttributeError:  # NoDataError is one
            raise InputError("the topology has no charges: they come with one of a simulation program, as .psf, .prmtop, "
                             ".tpr, .data and .mol2 files, or by universe.add_TopologyAttr('charges', charges)") from None

    def _range(self, start: Optional[int], stop: Optional[int], step: Optional[int]) -> range:
        try:
            numbers = range(len(self.trajectory))[slice(start, stop, step)]
        except (TypeError, ValueError) as error:
            raise UsageError(f"start, stop and step: whole numbers are needed, and no step of 0: {error}") from None
        if len(numbers) == 0:
            raise UsageError(f"start, stop and step leave no frame of {len(self.trajectory)}")
        return numbers

    def _check_transformations(self) -> None:
        for done in getattr(self.trajectory, "transformations", ()):
            if type(done).__name__ in _TURNING:
                raise UsageError(
                    f"the universe's transformation {type(done).__name__} turns the atoms and not their cell, whose images "
                    "then do not fit: fit=SELECTION moves frames without turning them, and leyden.Plan(universe, "
                    "periodic=False) takes frames of any orientation in open space")

    def _find_cut(self, stop: Optional[int]) -> Optional[Bad]:
        """The frame within which the last file ends, where the run reaches so far."""
        count = len(self.trajectory)
        if stop is not None or self.numbers.step < 0 or not self.files or not is_cut(self.files[-1]):
            return None
        return Bad(count, "the file ends within it") if (count - self.numbers.start) % self.numbers.step == 0 else None

    def _begin(self) -> np.ndarray:
        """The first frame's cell; from here on frames are placed, and it is known how long reading takes."""
        placings, self._reading.placings = self._reading.placings, []
        positions, cell = np.empty((self.atoms, 3), np.float32), np.empty((3, 3))
        with self._as_it_was():
            for number in self.numbers:
                start_s = time.perf_counter()
                _, bad = self._reading.fill(self._source, [number], positions[None], cell[None], True)
                self._frame_s = time.perf_counter() - start_s
                if not bad:
                    for placing in placings:
                        placing.begin(self.trajectory[number].positions, cell)
                    break
                if not self._skips:
                    self._refuse(bad[0])
            else:
                raise InputError(f"none of {len(self)} frames can be used: {place_of(self.trajectory, bad[0].number)}: "
                                 f"{bad[0].reason}")
        self._reading.placings = placings
        return cell

    @contextlib.contextmanager
    def _as_it_was(self) -> Iterator[None]:
        """The universe is at the frame afterwards at which it was."""
        frame = getattr(getattr(self.trajectory, "ts", None), "frame", None)
        try:
            yield
        finally:
            if frame is not None:
                with contextlib.suppress(Exception):
                    self.trajectory[frame]  # pylint: disable=pointless-statement

    def _refuse(self, bad: Bad) -> None:
        if bad is self._cut:
            raise InputError(f"{self.files[-1]}: frame {bad.number} (counted from 0): {bad.reason}: stop={bad.number} or "
                             "skip_bad=True leaves it out")
        raise InputError(f"{place_of(self.trajectory, bad.number)}: {bad.reason}; skip_bad=True leaves such frames out")

    def _leave_out(self, bad: Sequence[Bad]) -> None:
        if bad and not self._skips:
            self._refuse(bad[0])
        self.skipped += len(bad)
        self.bad += bad[:_KEPT - len(self.bad)]

    def digest(self) -> str:
        """A short text of the positions in the run's first and last frame, which in other trajectories are others."""
        made = hashlib.sha256()
        with self._as_it_was(), unheard():
            for number in (self.numbers[0], self.numbers[-1]):
                with contextlib.suppress(Exception):  # what is wrong with a frame is said when it is computed
                    made.update(np.asarray(self.trajectory[number].positions, np.float32).tobytes())
        return made.hexdigest()[:16]

    # ---- Blocks ----------------------------------------------------------------------------------

    def first(self) -> Tuple[np.ndarray, np.ndarray]:
        """Positions (N, 3) and cell of the first frame that can be used."""
        positions, cell = np.empty((1, self.atoms, 3), np.float32), np.empty((1, 3, 3))
        with self._as_it_was():
            for number in self.numbers:
                if self._reading.fill(self._source, [number], positions, cell, True)[0]:
                    break
        return positions[0], cell[0]

    def join(self, ranks: Ranks) -> None:
        """What all ranks have left out."""
        found = list(ranks.each((self.skipped, self.bad)))
        self.skipped = sum(skipped for skipped, _ in found)
        self.bad = sorted(one for _, bad in found for one in bad)[:_KEPT]

    def _pieces(self, shares: int, piece_end: Optional[Callable[[int], int]]) -> List[range]:
        """Ever shorter ones, so that all ranks end together; each ends where `piece_end` says that one may end."""
        most = max(1, min(_BLOCK_BYTES // max(12 * self.atoms, 1), _MOST_FRAMES))
        ends = [0]
        while (left := len(self) - ends[-1]) > 0:
            end = wanted = ends[-1] + max(1, min(most, left // (4 * shares)))
            if piece_end is not None:
                end = ends[-1]
                while end < wanted:
                    end = piece_end(end)
            ends.append(min(end, len(self)))
        return [self.numbers[first:end] for first, end in zip(ends, ends[1:])]

    def blocks(self, after: int = 0, ranks: Optional[Ranks] = None,
               piece_end: Optional[Callable[[int], int]] = None) -> Iterator[Block]:
        """The blocks, in order; `after`: frames of the run that are left aside, as a `Block.done` of another time has it;
        `ranks`: those that this rank takes, one by one, where they end behind the frame that `piece_end` has for their first.

        Errors: InputError of a frame that cannot be used, with its number and its file; FileError.
        """
        numbers = self.numbers[after:]
        readers, files = self._count_readers(numbers)
        if ranks is not None:
            self.readers = readers if files is not None else 1
            pieces = self._pieces(sum(ranks.each(self.readers)), piece_end)
            most, taken = max(map(len, pieces)), ranks.taken(pieces)
            made = self._of_reader(taken, most) if files is None else self._of_threads(files, taken, most, readers + 1)
        elif self._is_plain_memory:
            made = self._of_memory(numbers)
        else:
            most = max(1, min(_BLOCK_BYTES // max(12 * self.atoms, 1), _MOST_FRAMES, -(-len(numbers) // (2 * readers))))
            parts = [numbers[k:k + most] for k in range(0, len(numbers), most)]
            processes = self._start(parts, most, readers) if readers > 1 and files is None else []
            self.readers = max(len(processes), 1) if files is None else min(readers, len(parts))
            made = self._of_threads(files, parts, most, _SLOTS * self.readers) if files is not None else \
                self._of_processes(processes, parts) if processes else self._of_reader(parts, most)
        done = after
        with contextlib.closing(made), self._as_it_was():  # type: ignore[type-var]
            for length, good, bad, positions, cells in made:
                done += length
                self._leave_out(bad)
                if good:
                    yield Block(np.array(good, np.int64), positions[:len(good)], cells[:len(good)], done)
        if self._cut is not None and (ranks is None or ranks.own == 0):
            self._leave_out([self._cut])

    @property
    def _is_plain_memory(self) -> bool:
        return getattr(self.trajectory, "format", None) == "MEMORY" and not self._reading.placings and \
            not getattr(self.trajectory, "transformations", ()) and self._reading.cell is None

    def _of_memory(self, numbers: range) -> Iterator[Any]:
        """Of a MemoryReader without copies, where its array is as it is needed."""
        frames = self.trajectory.get_array()
        order = self.trajectory.stored_order
        frames = np.moveaxis(frames, [order.index("f"), order.index("a"), order.index("c")], [0, 1, 2])
        boxes, most = self.trajectory.dimensions_array, max(1, min(_BLOCK_BYTES // max(12 * self.atoms, 1), _MOST_FRAMES))
        checker, cell = self._reading, np.empty((3, 3))
        positions = np.empty((self.atoms, 3), np.float32)
        for k in range(0, len(numbers), most):
            part = numbers[k:k + most]
            index = np.asarray(part)
            of = frames[part.start:part.stop if part.stop >= 0 else None:part.step]
            of = np.ascontiguousarray(of if checker.indices is None else of[:, checker.indices], np.float32)
            cells = vectors_of_boxes(None if boxes is None else np.asarray(boxes, np.float64)[index], len(part))
            usable = np.array([_are_near(flat) for flat in of.reshape(len(part), -1)]) & cells.any(axis=(1, 2))
            bad: List[Bad] = []
            for number in index[~usable]:
                bad += checker.fill(self._source, [int(number)], positions[None], cell[None], True)[1]
            wrong = {one.number for one in bad}
            keep = np.array([number not in wrong for number in part])
            yield len(part), index[keep].tolist(), bad, of if keep.all() else of[keep], cells[keep]

    def _of_reader(self, parts: Iterable[range], most: int) -> Iterator[Any]:
        positions, cells = np.empty((most, self.atoms, 3), np.float32), np.empty((most, 3, 3))
        for part in parts:
            good, bad = self._reading.fill(self._source, part, positions, cells, not self._skips)
            yield len(part), good, bad, positions, cells

    def _of_threads(self, files: PlainFiles, parts: Iterable[range], most: int, ahead: int) -> Iterator[Any]:
        pool = ThreadPoolExecutor(self.readers, "leyden-frames")
        coming: Deque[Any] = deque()
        waiting = iter(parts)

        def begin(*slot: np.ndarray) -> None:
            for part in itertools.islice(waiting, 1):
                coming.append((part, slot, pool.submit(self._reading.fill, files, part, *slot, not self._skips)))

        try:
            for _ in range(ahead):
                begin(np.empty((most, self.atoms, 3), np.float32), np.empty((most, 3, 3)))
            while coming:
                part, slot, block = coming.popleft()
                yield (len(part), *block.result(), *slot)
                begin(*slot)
        finally:
            for _, _, block in coming:
                block.cancel()
            pool.shutdown()
            files.close()

    def _of_processes(self, processes: List[_Reader], parts: List[range]) -> Iterator[Any]:
        try:
            for number, part in enumerate(parts):
                process = processes[number % len(processes)]
                yield (len(part), *process.block())
                process.release()
        finally:
            for process in processes:
                process.close()

    # ---- Processes -------------------------------------------------------------------------------

    def _count_readers(self, numbers: range) -> Tuple[int, Optional[PlainFiles]]:
        """Readers that are worth while; and of which files, where threads do."""
        formats = [{one.format} if isinstance(one.format, str) else set(one.format)
                   for one in parts_of(self.trajectory) if hasattr(one, "format")]
        if len(formats) < len(parts_of(self.trajectory)) or not all(one & _RANDOM for one in formats):
            return 1, None
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        expected_s, wanted = len(numbers) * self._frame_s, self._wanted_readers
        most = max(1, min(min(cores, _MOST_READERS) if wanted is None else int(wanted), len(numbers)))
        if most > 1 and (wanted is not None or expected_s > _SHORT_S) and not getattr(self.trajectory, "transformations", ()):
            with self._as_it_was():
                files = PlainFiles.of(self.trajectory, numbers)
            if files is not None:
                return most, files
        if not sys.executable or (wanted is None and expected_s < 2 * _START_S):
            return 1, None
        return most if wanted is not None else min(most, int(expected_s / _START_S)), None

    def _start(self, parts: List[range], most: int, readers: int) -> List[_Reader]:
        """None where what is to be read cannot be sent to another process."""
        has_more = bool(getattr(self.trajectory, "transformations", ()))
        shape = most, self.atoms
        readers = min(readers, len(parts))
        started: List[_Reader] = []
        try:
            source = pickle.dumps(self.universe if has_more else self.trajectory)
            for _ in range(readers):
                started.append(_Reader(shape))
            for k, reader in enumerate(started):
                reader.link.send({"source": _Pickled(source), "reading": self._reading, "shape": shape,
                                  "blocks": parts[k::readers], "stop_at_bad": not self._skips})
            remarks = [reader.answer() for reader in started]
        except (pickle.PicklingError, TypeError, AttributeError, OSError, MemoryError) as error:
            remarks = [repr(error)]
        except BaseException:
            for reader in started:
                reader.close()
            raise
        if any(remark is not None for remark in remarks):  # of a script's own functions, say
            for reader in started:
                reader.close()
            return []
        return started


class _Pickled:
    """What is pickled already, and is unpickled with the rest."""

    def __init__(self, of: bytes) -> None:
        self.of = of

    def __reduce__(self) -> Any:
        return pickle.loads, (self.of,)
