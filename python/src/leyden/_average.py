"""leyden.average(): the mean potential of a trajectory."""
from __future__ import annotations

import html
import json
import math
import os
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from . import _task
from ._arrays import doubles
from ._atoms import Atoms
from ._c import ffi, lib
from ._cell import Cell, lengths
from ._engine import Engine, EngineArgument, engine_of
from ._errors import Error, FileError, InputError, Status, UsageError, file_name, number_of, switch_of, text_of
from ._files import write_whole
from ._frames import Block, Frames
from ._grid import axis_number, counts_of
from ._guesses import OF_AVERAGE, Guessed
from ._maps import Map, Origin, own_map
from ._parameters import TABLES, did_you_mean, take, with_parameters
from ._picture import draw_profile
from ._progress import FrameWatcher, FramesProgressArgument
from ._ranks import Ranks

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import AverageKeywords

BOUNDARIES = {"tin-foil": lib.LEY_PROFILE_TIN_FOIL, "symmetric": lib.LEY_PROFILE_SYMMETRIC,
              "one-side": lib.LEY_PROFILE_ONE_SIDE}
CONVENTIONS = ("exact", "pmepot")
_QUANTITIES = {"mean": lib.LEY_AVERAGE_MEAN, "deviation": lib.LEY_AVERAGE_DEVIATION, "error": lib.LEY_AVERAGE_ERROR}
_SHORT_S = 0.05  # an addition that takes no longer may keep Ctrl-C waiting


# ---- What comes of it ----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Profile:
    """Means over planes across a vector of the cell: an entry of `Average.profiles`.

    Attributes:
        axis: "x", "y" or "z": across cell vector a, b or c.
        distance: along the planes' normal from the first one, (n,), A.
        charge: density of the smoothed charges, e/A^3; field: along the normal, in `units`/A; potential: in `units`.
        charge_error, field_error, potential_error: standard errors by blocks; nan where there are fewer than two.
        boundary: how the constants of integration were chosen.
    """

    axis: str
    distance: np.ndarray
    charge: np.ndarray
    field: np.ndarray
    potential: np.ndarray
    charge_error: np.ndarray
    field_error: np.ndarray
    potential_error: np.ndarray
    units: str
    boundary: str
    comment: str = ""

    def plot(self, ax: Any = None, quantity: Literal["potential", "field", "charge"] = "potential", **options: Any) -> Any:
        """Draws it over the distance, within a band of one standard error to both sides; matplotlib's line.

        `options`: those of matplotlib's `plot`. Errors: UsageError for another quantity.
        """
        names = {"potential": self.units, "field": f"{self.units}/Å", "charge": "e/Å³"}
        if quantity not in names:
            raise UsageError(f"quantity: {quantity!r} is none of {', '.join(names)}{did_you_mean(quantity, list(names))}")
        label = f"{'charge density' if quantity == 'charge' else quantity} ({names[quantity]})"
        return draw_profile(self.distance, getattr(self, quantity), getattr(self, f"{quantity}_error"), ax,
                            f"distance along {self.axis} (Å)", label, options)

    def save(self, path: Any) -> None:
        """Writes a row for each plane below a header, as CSV. Errors: FileError."""
        name = os.fsdecode(file_name(path))
        columns = ["distance", "charge", "field", "potential", "charge_error", "field_error", "potential_error"]
        rows = np.stack([getattr(self, column) for column in columns], axis=1)
        head = [f"# {line}" for line in self.comment.split("\n") if line]
        head.append("distance_A,charge_e_A3,field,potential,charge_error,field_error,potential_error")
        text = "\n".join(head + [",".join(f"{value:.9g}" for value in row) for row in rows]) + "\n"
        write_whole(name, text.encode())

    write = save

    def __repr__(self) -> str:
        return f"<leyden.Profile: {len(self.distance)} planes along {self.axis}, {self.units}, {self.boundary}>"


class Average(Guessed):
    """The potential of a trajectory's frames: what `leyden.average()` returns.

    Attributes:
        mean: its mean, a `Map` over the mean cell.
        deviation: its standard deviation over the frames, a `Map`; None: not asked for.
        error: the standard error of the mean by blocks, a `Map`; None: of fewer than two blocks.
        profiles: for each axis that was asked for a `Profile`: `average.profiles["z"]`.
        frames: how many count; skipped: how many were left out.
        cell: the vectors of the mean cell, (3, 3), A.
        report: how it was computed, with what the verification found.
    """

    _guesses = OF_AVERAGE

    def __init__(self, maps: Mapping[str, Map], profiles: Dict[str, Profile], report: Dict[str, Any]) -> None:
        self.mean: Map = maps["mean"]
        # With Any: type checkers need no test for None of what the caller knows to be there.
        self.deviation: Union[Map, Any] = maps.get("deviation")
        self.error: Union[Map, Any] = maps.get("error")
        self.profiles, self.report = profiles, report
        self.frames: int = report["frames"]
        self.skipped: int = report["skipped"]
        self.cell: np.ndarray = np.array(report["cell_A"])

    @property
    def units(self) -> str:
        """Of the potential."""
        return self.mean.units

    def save(self, path: Any) -> None:
        """Writes the mean, as `Map.save()`."""
        self.mean.save(path)

    write = save

    def __repr__(self) -> str:
        left = f", {self.skipped} left out" if self.skipped else ""
        nx, ny, nz = self.mean.grid.n
        kept = [name for name in ("deviation", "error") if getattr(self, name) is not None] + \
            [f"profile along {axis}" for axis in self.profiles]
        return f"<leyden.Average: {self.frames} frame{'s' * (self.frames != 1)}{left}, {nx} x {ny} x {nz} points, " \
               f"{self.units}{''.join(f', {name}' for name in kept)}>"

    def _repr_html_(self) -> str:
        """For notebooks: what it is of, and the mean's table and picture."""
        rows = {"frames": f"{self.frames}" + (f", {self.skipped} left out" if self.skipped else ""),
                "mean cell": f"{lengths(self.cell).round(4).tolist()} Å", "charges": method_line(self.report)}
        table = "".join(f"<tr><th>{name}</th><td>{html.escape(text)}</td></tr>" for name, text in rows.items())
        return f"<table>{table}</table>{self.mean._repr_html_()}"  # pylint: disable=protected-access


def method_line(report: Mapping[str, Any]) -> str:
    """Whose potential it is, and to what error."""
    what = f"Gaussian charges of sigma {report['smooth_A']:.6g} A" if report["smooth_A"] > 0 else "point charges"
    text = f"mean potential of {what}, dielectric {report['dielectric']:.6g}"
    if report["convention"] == "pmepot":
        text += ", PMEPot's convention"
    if report["checked_points"] > 0:
        text += f"; relative RMS error {report['relative_rms']:.2g} at {report['checked_points']} points of " \
                f"{report['checked_frames']} frame{'s' * (report['checked_frames'] != 1)}"
    return text


_FACTS = ("frames", "cell_A", "smooth_A", "dielectric", "temperature_K", "convention", "checked_frames", "relative_rms")


def _header(report: Mapping[str, Any], cell: Cell, what: str) -> str:
    """Lines of a map's header."""
    r = report
    medium = f"dielectric {r['dielectric']:.15g}, temperature {r['temperature_K']:.15g} K"
    source = f" of {', '.join(map(os.path.basename, r['files']))}" if r["files"] else ""
    left = f", {r['skipped']} left out" if r["skipped"] else ""
    lines = [f"method: average, {what}",
             f"charges: {'Gaussian, sigma ' + format(r['smooth_A'], '.15g') + ' A' if r['smooth_A'] > 0 else 'points'}, "
             f"tin-foil boundary, zero mean; convention {r['convention']}",
             f"frames: {r['frames']}{source}, from {r['first']} by {r['step']}{left}" +
             (f"; {r['blocks']} blocks of {r['block_frames']}" if r["block_frames"] else ""),
             f"atoms: {r['atoms']}, total charge {r['total_charge_e']:.6g} e",
             f"mean {cell.line}" + (", each frame's own taken exactly" if r["exact_cells"] else ""),
             f"units: {r['units']}, {medium}",
             f"tolerance: {r['tolerance']:g} of a frame's root mean square; expected error {r['expected_error']:.2g}; mesh "
             f"{' x '.join(map(str, r['mesh']))}, splines of order {r['order']}",
             f"device: {r['device']}"]
    if r["checked_points"] > 0:
        lines.append(f"accuracy: relative RMS {r['relative_rms']:.2g} at {r['checked_points']} points of "
                     f"{r['checked_frames']} frame{'s' * (r['checked_frames'] != 1)}, in double precision")
    if r["mean_error"] is not None:
        lines.append(f"accuracy of the mean: {r['mean_error']:.2g} of a structure factor, recomputed from every frame")
    if r["cell_difference"] is not None:
        lines.append(f"cells: densities averaged at fractions of the vectors; exact cells differ by {r['cell_difference']:.2g} "
                     "(relative RMS, of a sample)")
    return "\n".join(lines)


# ---- A run ---------------------------------------------------------------------------------------


class _Run:
    """A ley_average, which has its engine to itself."""

    def __init__(self, engine: Engine, atoms: Atoms, options: Any) -> None:
        self._engine, self._last_s = engine, np.inf
        self._lock = threading.Lock()  # of what an interrupted call is still at

        def create(token: _task.Token) -> Any:
            box = ffi.new("ley_average **")
            self._locked(lambda error: lib.ley_average_create(engine.pointer, atoms.pointer, options, box, error))
            if token.is_cancelled:  # whoever asked for it has gone
                lib.ley_average_destroy(box[0])
                token.check()
            return box[0]

        engine.lock.acquire()
        try:
            self._pointer = _task.call(create)
        except BaseException:
            engine.lock.release()
            raise

    def _locked(self, function: Any) -> None:
        with self._lock, Status() as status:
            status.check(function(status.pointer))

    def _call(self, function: Any) -> None:
        """function(error), in a thread of its own: Ctrl-C cancels it."""
        try:
            _task.call(lambda token: self._locked(function))
        except KeyboardInterrupt:
            lib.ley_average_cancel(self._pointer)
            raise

    def add(self, block: Block) -> None:
        start_s = time.monotonic()
        frames, cells = ffi.cast("float *", block.positions.ctypes.data), ffi.cast("double *", block.cells.ctypes.data)

        def work(error: Any) -> int:
            return int(lib.ley_average_add(self._pointer, len(block.numbers), frames, cells, error))

        if self._last_s < _SHORT_S:
            self._locked(work)
        else:
            self._call(work)
        self._last_s = time.monotonic() - start_s

    def map(self, quantity: str) -> Any:
        box = ffi.new("ley_map **")
        self._call(lambda error: lib.ley_average_map(self._pointer, _QUANTITIES[quantity], box, error))
        return own_map(box[0])

    def profile(self, axis: int, boundary: str) -> Dict[str, np.ndarray]:
        found = ffi.new("ley_profile *")
        self._call(lambda error: lib.ley_average_profile(self._pointer, axis, BOUNDARIES[boundary], found, error))
        names = {"distance": found.distance_A, "charge": found.charge_e_A3, "field": found.field,
                 "potential": found.potential, "charge_error": found.charge_error, "field_error": found.field_error,
                 "potential_error": found.potential_error}
        return {name: np.frombuffer(ffi.buffer(pointer, 8 * found.planes), np.float64).copy()
                for name, pointer in names.items()}

    def begin(self, ranks: Ranks, positions: np.ndarray, cell: np.ndarray) -> None:
        """By the first frame of all ranks."""
        self._handle = ffi.new_handle(ranks)
        given = ffi.new("ley_average_ranks *", {"count": ranks.count, "own": ranks.own, "add_up": lib.pyley_add_up,
                                                "context": self._handle})
        first = ffi.cast("float *", positions.ctypes.data), ffi.cast("double *", cell.ctypes.data)
        self._call(lambda error: lib.ley_average_begin(self._pointer, given, *first, error))

    def piece_end(self, frame: int) -> int:
        return int(lib.ley_average_piece_end(self._pointer, frame))

    def go_to(self, frame: int) -> None:
        self._call(lambda error: lib.ley_average_go_to(self._pointer, frame, error))

    def share(self, frames: int) -> None:
        """The sums of all ranks, of so many frames."""
        self.go_to(frames)
        self._call(lambda error: lib.ley_average_share(self._pointer, error))

    def finish(self) -> Dict[str, Any]:
        """The totals."""
        totals = ffi.new("ley_average_totals *")
        self._call(lambda error: lib.ley_average_finish(self._pointer, totals, error))
        found: Dict[str, Any] = {}
        for name, of in ffi.typeof("ley_average_totals").fields:
            value = getattr(totals, name)
            if of.type.cname.startswith("char"):
                value = text_of(value)
            elif of.type.kind == "array":
                value = [list(row) if isinstance(row, ffi.CData) else row for row in value]
            found[name] = None if isinstance(value, float) and math.isnan(value) else value
        return found

    def frames(self) -> int:
        return int(self.finish()["frames"])

    def save(self, name: bytes) -> None:
        self._call(lambda error: lib.ley_average_save(self._pointer, name, error))

    def load(self, name: bytes) -> None:
        self._call(lambda error: lib.ley_average_load(self._pointer, name, error))

    def close(self) -> None:
        def destroy() -> None:
            with self._lock:
                lib.ley_average_destroy(self._pointer)
            self._engine.lock.release()

        if self._lock.locked():  # by what an interrupted call is still at
            _task.let_go(destroy)
        else:
            destroy()


class _Checkpoint:
    """The sums of a run in a file, and beside it, in FILE.frames, of which frames they are.

    The file beside it is written first, with what the sums were of before as well: whenever a run is killed one of these
    holds.
    """

    def __init__(self, path: Any, source: Dict[str, Any], every_s: float) -> None:
        self.name, self.beside = file_name(path), os.fsdecode(file_name(path)) + ".frames"
        self._source, self._every_s = source, every_s
        self._marks: List[List[int]] = []  # frames that count, and frames of the run up to there
        self._last_s = time.monotonic()

    def resume(self, run: _Run) -> Tuple[int, int]:
        """Takes what is there, if anything: frames that count, and frames of the run that are done."""
        if not os.path.exists(self.name):
            return 0, 0
        path = os.fsdecode(self.name)
        again = f"{path} is of another run, whose %s: delete it to begin anew, or name another checkpoint"
        try:
            with open(self.beside, encoding="utf-8") as file:
                kept = json.load(file)
            source, marks = kept["source"], kept["marks"]
        except OSError as error:
            raise FileError(f"{self.beside}: {error.strerror}: it says of which frames {path} is; delete that to begin "
                            "anew") from None
        except (ValueError, KeyError, TypeError):
            raise InputError(f"{self.beside} is damaged: delete {path} to begin anew") from None
        differs = [name for name in self._source if source.get(name) != self._source[name]]
        if differs:
            raise InputError(again % f"{differs[0]} is {source.get(differs[0])}, and not {self._source[differs[0]]}")
        run.load(self.name)
        count = run.frames()
        done = [mark[1] for mark in marks if mark[0] == count]
        if not done:
            raise InputError(again % f"{count} frames {self.beside} does not know")
        self._marks = [[count, done[-1]]]
        return count, done[-1]

    def save(self, run: _Run, count: int, done: int) -> None:
        self._marks = [*self._marks[-1:], [count, done]]
        write_whole(self.beside, json.dumps({"source": self._source, "marks": self._marks}).encode())
        run.save(self.name)
        self._last_s = time.monotonic()

    def is_due(self) -> bool:
        return time.monotonic() - self._last_s >= self._every_s


class _Averaging:
    """Frames, the sums of them, and how far they are."""

    def __init__(self, frames: Frames, run: _Run, checkpoint: Optional[_Checkpoint], watcher: FrameWatcher,
                 ranks: Optional[Ranks]) -> None:
        self.frames, self.run, self.checkpoint, self.watcher, self.ranks = frames, run, checkpoint, watcher, ranks
        self.count = self.done = self.resumed = 0  # frames that count, frames of the run up to there, those of a checkpoint

    def go(self) -> None:
        if self.checkpoint is not None:
            self.count, self.done = self.checkpoint.resume(self.run)
            self.resumed = self.count
            self.frames.skipped = self.done - self.count
        self.watcher.begin(self.done, len(self.frames))
        try:
            if self.ranks is not None:
                self.run.begin(self.ranks, *self.frames.first())
            for block in self.frames.blocks(self.done, self.ranks, self.run.piece_end):
                if self.ranks is not None:
                    self.run.go_to(self.frames.numbers.index(block.first))
                self._add(block)
                if self.ranks is not None:  # devices begin with it; the next piece is taken when they need it
                    self.run.go_to(self.frames.numbers.index(int(block.numbers[-1])) + 1)
                if self.checkpoint is not None and self.checkpoint.is_due():
                    self.checkpoint.save(self.run, self.count, self.done)
                self.watcher.tell(self.done)
        except (Exception, KeyboardInterrupt):
            if self.count > 0 and self.checkpoint is not None:
                try:
                    self.checkpoint.save(self.run, self.count, self.done)
                except Error:  # the first one says what is wrong
                    pass
            raise
        if self.checkpoint is not None:
            self.checkpoint.save(self.run, self.count, self.done)
        if self.ranks is not None:
            self.run.share(len(self.frames))
            self.frames.join(self.ranks)
            self.ranks.close()

    def _add(self, block: Block) -> None:
        try:
            self.run.add(block)
        except KeyboardInterrupt:  # some of its frames may count
            more = self.run.frames() - self.count
            if 0 < more <= len(block.numbers):
                self.count += more
                numbers = self.frames.numbers
                self.done = numbers.index(int(block.numbers[more - 1])) + 1
            self.frames.skipped = self.done - self.count
            raise
        self.count, self.done = self.count + len(block.numbers), block.done


def _result_of(averaging: _Averaging, atoms: Atoms, options: Any, facts: Mapping[str, Any], axes: Mapping[str, int],
               boundary: str) -> Average:
    run, totals = averaging.run, averaging.run.finish()
    averaging.watcher.end(1 if averaging.ranks is None else averaging.ranks.count)
    if totals["frames"] == 0:
        raise InputError("no frame counts")
    elapsed_s = averaging.watcher.elapsed_s
    report = {"method": "average", **facts, **totals, "skipped": averaging.frames.skipped,
              "first_skipped": [bad._asdict() for bad in averaging.frames.bad], "readers": averaging.frames.readers,
              "elapsed_s": elapsed_s, "frames_per_s": averaging.watcher.rate,
              "ranks": averaging.watcher.ranks, "resumed_frames": averaging.resumed,
              # what a map's table looks at
              "accuracy": {"relative_rms": totals["relative_rms"]} if totals["checked_points"] > 0 else None}
    cell = Cell((True, True, True), np.array(totals["cell_A"]))
    origin = Origin(atoms, options.dielectric, options.temperature_K, 0.0, options.tolerance, "", cell, ())
    wanted = {"mean": "mean over frames", "deviation": "standard deviation over frames",
              "error": f"standard error of the mean, by {totals['blocks']} blocks"}
    if not options.deviation or totals["frames"] < 2:
        del wanted["deviation"]
    if totals["blocks"] < 2:
        del wanted["error"]
    maps = {}
    for name, what in wanted.items():
        maps[name] = Map._of(run.map(name), report, origin)  # pylint: disable=protected-access
        maps[name].header, maps[name].facts = _header(report, cell, what), _FACTS
    profiles = {}
    for word, axis in axes.items():
        comment = _header(report, cell, f"profile along {word}, boundary {boundary}")
        profiles[word] = Profile(word, **run.profile(axis, boundary), units=facts["units"], boundary=boundary,
                                 comment=comment)
    return Average(maps, profiles, report)


# ---- The function --------------------------------------------------------------------------------


def _choice(value: Any, name: str, choices: Sequence[str]) -> str:
    if value not in choices:
        raise UsageError(f"{name}: {value!r} is none of {', '.join(choices)}{did_you_mean(value, choices)}")
    return str(value)


def _axes_of(profile: Any) -> Dict[str, int]:
    words = [] if profile is None else [profile] if isinstance(profile, (str, int)) else list(profile)
    return {"xyz"[axis_number(word)]: axis_number(word) for word in words}


def _options_of(given: Mapping[str, Any], keep: List[Any], frames: int) -> Any:
    """A ley_average_options."""
    options = ffi.new("ley_average_options *")
    lib.ley_average_options_default(options)
    take(options, "ley_direct", given, keep)
    if given["dims"] is not None and given["spacing"] is not None:
        raise UsageError("dims and spacing exclude each other: both say how many points there are")
    if given["dims"] is not None:
        options.n = counts_of(given["dims"])
    for name, field in (("smooth", "smooth_A"), ("tol", "tolerance"), ("spacing", "spacing_A")):
        if given[name] is not None:
            setattr(options, field, number_of(given[name], name))
    if given["origin"] is not None:
        options.origin = doubles(given["origin"], "origin", (3,)).tolist()
    options.deviation, options.exact_cells = switch_of(given["deviation"], "deviation"), \
        switch_of(given["exact_cells"], "exact_cells")
    options.pmepot = _choice(given["convention"], "convention", CONVENTIONS) == "pmepot"
    if options.pmepot and given["origin"] is not None:
        raise UsageError("origin is for convention 'exact': PMEPot's nodes are around the cell's middle, which is at 0")
    for name in ("blocks", "verify_every"):
        if given[name] is not None and (not isinstance(given[name], (int, np.integer)) or given[name] < 0):
            raise UsageError(f"{name}: a whole number, 0 or more, or None, is needed, not {given[name]!r:.60}")
    options.block_frames = max(frames // int(given["blocks"]), 1) if given["blocks"] and frames > 1 else 0
    if given["verify_every"] is not None:
        options.verify_every = int(given["verify_every"])
    return options


def _facts_of(frames: Frames, options: Any, atoms: Atoms, convention: str) -> Dict[str, Any]:
    """What is known before the first frame."""
    return {"files": frames.files, "frames_wanted": len(frames), "first": frames.numbers.start, "step": frames.numbers.step,
            "atoms": len(atoms), "total_charge_e": atoms.total_charge, "smooth_A": options.smooth_A,
            "tolerance": options.tolerance, "units": TABLES["ley_direct"]["units"].choices[options.units],
            "dielectric": options.dielectric, "temperature_K": options.temperature_K, "convention": convention,
            "exact_cells": bool(options.exact_cells or options.deviation), "block_frames": options.block_frames}


def _source_of(frames: Frames, given: Mapping[str, Any]) -> Dict[str, Any]:
    """What a checkpoint is of, but for charges and options, which the library compares."""
    indices = np.asarray(frames.group.indices)
    return {"trajectory": [[os.path.basename(name), os.path.getsize(name)] for name in frames.files],
            "number of frames": len(frames.trajectory), "first frame": frames.numbers.start, "step": frames.numbers.step,
            "frames": len(frames), "selection": [len(indices), int(indices.sum()), int((indices.astype(np.int64) ** 2).sum())],
            **{name: str(given[name]) for name in ("center", "fit", "cell")}}


@with_parameters("ley_direct", without=("r_min",), elsewhere={
    **dict.fromkeys(("padding", "grid"), "maps of averages are over the cell: dims or spacing say how fine they are"),
    **dict.fromkeys(("method", "field"), "averages are of the potential of all frames; leyden.Plan has methods and fields")})
def average(universe: Any, *trajectories: Any, select: Any = None, smooth: float = 2.83, tol: float = 1e-4, dims: Any = None,
            spacing: Optional[float] = None, origin: Any = None, deviation: bool = False, blocks: Optional[int] = 10,
            exact_cells: bool = False, profile: Any = None,
            boundary: Literal["tin-foil", "symmetric", "one-side"] = "tin-foil",
            convention: Literal["exact", "pmepot"] = "exact", start: Optional[int] = None, stop: Optional[int] = None,
            step: Optional[int] = None, center: Any = None, fit: Any = None, cell: Any = None, skip_bad: bool = False,
            readers: Optional[int] = None, temperature: float = 300.0, verify_every: Optional[int] = None,
            checkpoint: Any = None, checkpoint_s: float = 60.0, engine: EngineArgument = None,
            progress: FramesProgressArgument = None, ranks: Any = None, **given: Unpack[AverageKeywords]) -> Average:
    """The electrostatic potential in periodic cells, averaged over the frames of a trajectory.

    phi_t = C 4 pi / V_t sum over k != 0 of exp(-smooth^2 k^2 / 2) / k^2 S_t(k) exp(i k r), S_t(k) = sum_j q_j exp(-i k r_j),
    at the same fractions of each frame's cell: Gaussian charges, tin-foil boundary, zero mean.

    >>> average = leyden.average("membrane.psf", "membrane.dcd", profile="z")
    >>> average.mean.save("mean.dx")
    >>> average.profiles["z"].plot()

    Args:
        universe: a Universe or an AtomGroup of MDAnalysis; or the name of a topology with charges, and
        trajectories: the names of one or several trajectories, as MDAnalysis reads them.
        select: whose charges count, in MDAnalysis's language; None: all.
        smooth: standard deviation of the Gaussian charges, A; 2.83 is PMEPot's Ewald factor of 0.25 / A; 0: point charges.
        tol: relative root mean square error that a frame's potential may have.
        dims: points along the cell's vectors; or
        spacing: about how far they are apart, A; None: 1.
        origin: of the first point, fractions of the vectors; None: 0.
        deviation: the standard deviation over frames as well, which takes a transform for each frame.
        blocks: about how many equal blocks of frames the standard errors are made by; None: there are none.
        exact_cells: each frame's own cell is taken exactly, by a transform for each; False: densities are averaged at
            fractions of the vectors, and the report has how far that is off of a sample ("cell_difference").
        profile: "z", or several of "x", "y" and "z": means over planes across these vectors of the cell.
        boundary: of profiles: "tin-foil", periodic with zero mean; "symmetric", the mean of that and its mirror image;
            "one-side", field and potential are 0 at the first plane, as of `gmx potential`.
        convention: "pmepot": VMD's PMEPot's numbers at its own nodes, to compare: with its squared factors, and the first
            frame's cell for all.
        start, stop, step: which frames, as a slice.
        center: a selection whose centre of geometry is moved to the middle of each cell, along the vectors that it does not
            fill; fit: one that is moved to where it is in the first frame. Neither turns, as the cell does not.
        cell: of all frames, as of `map()`; None: their own.
        skip_bad: frames that cannot be read or have no cell, or positions that are no numbers, are left out and counted.
        readers: threads that read DCD files, processes that read others; None: as many as are worth while; 1: this one.
        temperature: K, of kT/e.
        verify_every: one of so many frames is verified in double precision; 0: none; None: 256.
        checkpoint: a file to which all sums go every `checkpoint_s` seconds, and from which a run goes on where it is there;
            FILE.frames beside it says of which frames it is. Both stay.
        engine: devices, as of `map()`; all of them share the frames. Other jobs of the engine wait.
        progress: True for a bar; or a callable that is given a FrameProgress now and then.
        ranks: a communicator of mpi4py, whose processes share the frames: all of them call with the same arguments, and
            have the result, which is that of one process. None: this process alone.
        {parameters}

    Ctrl-C raises KeyboardInterrupt, whose `average` is the Average of the frames so far.

    Errors: UsageError; InputError for frames that cannot be used, with the number and the file; FileError; ImportError where
    MDAnalysis is missing; NoDeviceError, DeviceError, OutOfMemoryError; WrongResult where the verification fails.
    """
    axes, keep = _axes_of(profile), []  # type: Dict[str, int], List[Any]
    _choice(boundary, "boundary", list(BOUNDARIES))
    if engine == "host":
        raise UsageError("engine: averages are computed by devices, of which 'host' is none: engine=None takes the "
                         "fastest one, which may be the processor by PoCL")
    given.update(smooth=smooth, tol=tol, dims=dims, spacing=spacing, origin=origin, deviation=deviation, blocks=blocks,  # type: ignore[call-arg]
                 exact_cells=exact_cells, convention=convention, verify_every=verify_every,
                 temperature=TABLES["ley_direct"]["temperature"].checked(temperature), center=center, fit=fit, cell=cell)
    options = _options_of(given, keep, 2)  # what is wrong is said before files are read
    if axes and options.smooth_A == 0:
        raise UsageError("profile: it is of smoothed charges, and smooth is 0: smooth=1, say")
    frames = Frames(universe, *trajectories, select=select, start=start, stop=stop, step=step, center=center, fit=fit,
                    cell=cell, skip_bad=skip_bad, readers=readers)
    options = _options_of(given, keep, len(frames))
    atoms = Atoms.from_arrays(np.zeros((frames.atoms, 3)), frames.charges)
    facts = _facts_of(frames, options, atoms, convention)
    watcher = FrameWatcher(progress)
    run = _Run(engine_of(engine), atoms, options)
    try:
        if ranks is not None and (checkpoint is not None or options.smooth_A == 0):
            raise UsageError("ranks: neither a run with a checkpoint nor one of point charges is shared")
        shared = Ranks.of(ranks)
        kept = None if checkpoint is None else _Checkpoint(checkpoint, _source_of(frames, given), checkpoint_s)
        averaging = _Averaging(frames, run, kept, watcher, shared)
        try:
            averaging.go()
        except KeyboardInterrupt as interrupt:
            if averaging.count > 0 and shared is None:
                interrupt.average = _result_of(averaging, atoms, options, facts, axes, boundary)  # type: ignore[attr-defined]
            raise
        return _result_of(averaging, atoms, options, facts, axes, boundary)
    finally:
        watcher.close()
        run.close()
