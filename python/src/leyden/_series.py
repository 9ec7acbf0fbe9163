"""leyden.series(): potential and field at atoms, bonds and points, frame after frame of a trajectory."""
from __future__ import annotations

import io
import os
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Optional, Tuple

import numpy as np

from . import _task
from ._arrays import doubles, numbers, pointer_to
from ._c import ffi, lib
from ._cell import cell_of_box
from ._engine import Engine, EngineArgument, engine_of
from ._errors import InputError, NoDeviceError, PointsWarning, Status, UsageError, file_name, number_of, switch_of
from ._files import write_whole
from ._frames import Frames, selected
from ._guesses import Guessed
from ._parameters import TABLES, did_you_mean, take, with_parameters
from ._progress import FramesProgressArgument, FrameWatcher

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import SeriesKeywords

METHODS = {"auto": lib.LEY_SERIES_AUTO, "direct": lib.LEY_SERIES_DIRECT, "ewald": lib.LEY_SERIES_EWALD,
           "mesh": lib.LEY_SERIES_MESH}
_MANY_POINTS = 5000  # from here on a device may be sooner than the host
_EXCLUDE = ("self", "residue", "molecule")


# ---- Where values are wanted ---------------------------------------------------------------------


def _nearest(ways: np.ndarray, cells: Optional[np.ndarray]) -> np.ndarray:
    """The shortest images of ways, (F, P, 3), in the cells, (F, 3, 3), of their frames."""
    if cells is None:
        return ways
    ways = ways - np.einsum("fpi,fij->fpj", np.round(np.einsum("fpi,fij->fpj", ways, np.linalg.inv(cells))), cells)
    steps = np.array([(i, j, k) for i in (-1, 0, 1) for j in (-1, 0, 1) for k in (-1, 0, 1)], float)
    images = ways[:, :, None] + np.einsum("si,fij->fsj", steps, cells)[:, None]  # (F, P, 27, 3)
    least = np.argmin((images ** 2).sum(axis=3), axis=2)
    return np.take_along_axis(images, least[:, :, None, None], axis=2)[:, :, 0]


class Attached:
    """Points that move with three atoms, at offsets in the frame of these.

    The frame's origin is the first atom; x leads to the second one, z is normal to the plane of the three, along
    x times the way from the first to the third one, and y = z times x.

    >>> lone_pairs = leyden.Attached(universe.select_atoms("resid 5 and name O C N"), [(0.3, 0.5, 0), (0.3, -0.5, 0)])

    Args:
        atoms: an AtomGroup of three atoms, in this order, or their three numbers from 0.
        offsets: (P, 3), A, or (3,) of one point.

    Errors: UsageError for another number of atoms; InputError for offsets of another shape.
    """

    def __init__(self, atoms: Any, offsets: Any) -> None:
        self.indices = _whole(getattr(atoms, "indices", atoms), "atoms")
        if self.indices.shape != (3,) or len(set(self.indices.tolist())) < 3:
            raise UsageError(f"atoms: three different ones are needed, not {self.indices.shape[0]}")
        self.offsets = doubles(np.atleast_2d(numbers(offsets, "offsets", np.float64)), "offsets", (-1, 3))


def _whole(values: Any, what: str) -> np.ndarray:
    array = np.asarray(values)
    if array.ndim < 1 or array.dtype.kind not in "iu":
        raise UsageError(f"{what}: atoms, or their numbers from 0, are needed, not {values!r:.60}")
    return array.astype(np.int64)


def _pairs_of(value: Any) -> Optional[np.ndarray]:
    """(B, 2) numbers of atoms: of a BondGroup, of pairs of atoms or numbers, or of two groups of one length; or None."""
    if hasattr(value, "positions") or isinstance(value, (str, bytes, Attached)):
        return None
    if not hasattr(value, "indices") and isinstance(value, (tuple, list)) and len(value) == 2 and \
            all(hasattr(one, "indices") and hasattr(one, "positions") for one in value):
        first, second = (np.asarray(one.indices) for one in value)
        if len(first) != len(second):
            raise UsageError(f"bonds: groups of {len(first)} and {len(second)} atoms: each atom of the first one needs its "
                             "partner in the second one")
        return np.stack([first, second], axis=1).astype(np.int64)
    if not hasattr(value, "indices") and isinstance(value, (tuple, list)) and \
            all(np.shape(getattr(pair, "indices", ())) == (2,) for pair in value):
        value = [pair.indices for pair in value]  # Bond objects
    elif not hasattr(value, "indices") and isinstance(value, (tuple, list)) and value and \
            all(isinstance(pair, (tuple, list)) and len(pair) == 2 and all(hasattr(a, "index") and not isinstance(a, (
                tuple, list, str)) for a in pair) for pair in value):
        value = [[atom.index for atom in pair] for pair in value]
    try:
        found = np.asarray(getattr(value, "indices", value))
    except ValueError:
        return None
    return found.astype(np.int64) if found.ndim == 2 and found.shape[1] == 2 and found.dtype.kind in "iu" else None


def _labels_of(atoms: Any, kind: str, numbers_of: np.ndarray) -> List[str]:
    """"bond 298-299, LEU 20 C-O": numbers from 0; residues (the first atom's) and names where the topology has them."""
    names, residues, resids = (getattr(atoms, word, None) for word in ("names", "resnames", "resids"))
    labels = []
    for row in numbers_of:
        words = [] if residues is None else [str(residues[row[0]])]
        words += [] if resids is None or residues is None else [str(resids[row[0]])]
        words += [] if names is None else ["-".join(str(names[i]) for i in row)]
        labels.append(f"{kind} {'-'.join(map(str, row))}" + (f", {' '.join(words)}" if words else ""))
    return labels


@dataclass
class Places:
    """Where values are wanted in each frame, and along which way they are projected.

    `atoms` are numbers of the universe's atoms, (P, k), that a point is made of: one of an atom, two of a bond, three of
    Attached; none of points fixed in space.
    """

    kind: str  # "atoms", "bonds", "attached", "fixed"
    atoms: np.ndarray
    offsets: np.ndarray  # (P, 3): of "attached" and "fixed"
    labels: List[str]

    @classmethod
    def of(cls, universe: Any, value: Any) -> "Places":
        if isinstance(value, Places):
            return value
        if isinstance(value, str):
            value = selected(universe, value, "points")
        count = len(universe.atoms)
        if isinstance(value, Attached):
            atoms = np.broadcast_to(value.indices, (len(value.offsets), 3))
            made = cls("attached", atoms, value.offsets, [f"point {i + 1}" for i in range(len(atoms))])
        elif (pairs := _pairs_of(value)) is not None:
            made = cls("bonds", pairs, np.empty((0, 3)), [])
        elif hasattr(getattr(value, "atoms", None), "indices"):
            atoms = np.asarray(value.atoms.indices, np.int64)[:, None]
            made = cls("atoms", atoms, np.empty((0, 3)), [])
        else:
            fixed = numbers(value, "points", np.float64)
            fixed = fixed[None] if fixed.shape == (3,) else fixed
            if fixed.ndim != 2 or fixed.shape[1] != 3:
                raise InputError(f"points has the shape {fixed.shape}: an AtomGroup, pairs of atoms, leyden.Attached() or "
                                 "positions, (P, 3), A, are needed")
            if not np.all(np.isfinite(fixed)):
                raise InputError("points: there are values that are not finite")
            made = cls("fixed", np.empty((len(fixed), 0), np.int64), np.ascontiguousarray(fixed),
                       [f"point {i + 1}" for i in range(len(fixed))])
        if len(made.atoms) == 0:
            raise UsageError("points: there are none: the selection is empty")
        if made.atoms.size and not (0 <= made.atoms.min() and made.atoms.max() < count):
            raise UsageError(f"points: atom {made.atoms.max()} (counted from 0) is not there: there are {count} atoms")
        made.labels = made.labels or _labels_of(universe.atoms, made.kind[:-1], made.atoms)
        return made

    def __len__(self) -> int:
        return len(self.atoms)

    def at(self, positions: np.ndarray, cells: Optional[np.ndarray], place: np.ndarray) -> np.ndarray:
        """(F, P, 3) of frames' positions; `place` is where atoms of the universe are among these."""
        if self.kind == "fixed":
            return np.broadcast_to(self.offsets, (len(positions), *self.offsets.shape))
        x = [positions[:, place[self.atoms[:, k]]].astype(np.float64) for k in range(self.atoms.shape[1])]
        if self.kind == "atoms":
            return x[0]
        ways = [_nearest(x[k] - x[0], cells) for k in range(1, len(x))]
        if self.kind == "bonds":
            return x[0] + ways[0] / 2
        first = _unit(ways[0])
        third = _unit(np.cross(first, ways[1]))
        axes = np.stack([first, np.cross(third, first), third], axis=2)  # (F, P, 3 axes, 3)
        return x[0] + np.einsum("pk,fpkj->fpj", self.offsets, axes)


def _unit(ways: np.ndarray) -> np.ndarray:
    length = np.linalg.norm(ways, axis=-1, keepdims=True)
    if not np.all(length > 0):
        raise InputError("atoms that say a direction lie upon each other, or on one line")
    return ways / length


@dataclass
class _Directions:
    """Unit vectors that fields are projected on: fixed ones, or from atom to atom."""

    pairs: Optional[np.ndarray]
    fixed: Optional[np.ndarray]

    @classmethod
    def of(cls, project: Any, places: Places) -> Optional["_Directions"]:
        count = len(places)
        if project is None and places.kind != "bonds":
            return None
        if project is None or project is True:
            if places.kind != "bonds":
                raise UsageError("project=True is for bonds, which have a direction: pairs of atoms or vectors, (3,) or "
                                 f"({count}, 3), say one of others")
            return cls(places.atoms, None)
        pairs = _pairs_of(project)
        if pairs is not None:
            if len(pairs) not in (1, count):
                raise UsageError(f"project: {len(pairs)} pairs of atoms for {count} points")
            return cls(np.broadcast_to(pairs, (count, 2)), None)
        fixed = numbers(project, "project", np.float64)
        if fixed.shape not in ((3,), (count, 3)):
            raise InputError(f"project has the shape {fixed.shape}: pairs of atoms, or vectors, (3,) or ({count}, 3), are "
                             "needed")
        return cls(None, np.broadcast_to(_unit(fixed), (count, 3)))

    def at(self, positions: np.ndarray, cells: Optional[np.ndarray], place: np.ndarray) -> np.ndarray:
        if self.pairs is None:
            return np.broadcast_to(self.fixed, (len(positions), *self.fixed.shape))  # type: ignore[union-attr, arg-type]
        first, second = (positions[:, place[self.pairs[:, k]]].astype(np.float64) for k in (0, 1))
        return _unit(_nearest(second - first, cells))


# ---- Exclusions ----------------------------------------------------------------------------------


def _molecules_of(universe: Any) -> np.ndarray:
    """A number of the molecule that each atom is of."""
    for name in ("fragindices", "molnums"):
        try:
            return np.asarray(getattr(universe.atoms, name))
        except AttributeError:  # NoDataError is one
            continue
    raise UsageError("exclude: 'molecule' needs bonds or numbers of molecules in the topology: "
                     "universe.add_TopologyAttr('bonds', universe.atoms.guess_bonds()) finds some, or 'residue' will do")


def _exclusions_of(universe: Any, places: Places, exclude: Any) -> Tuple[np.ndarray, np.ndarray]:
    """Lists of the universe's atoms, as ley_series_exclude() takes them: first, (P + 1,), and atoms."""
    lists: List[np.ndarray]
    if exclude is None:
        lists = [np.zeros(0, np.int64)] * len(places)
    elif isinstance(exclude, str) and exclude in _EXCLUDE:
        if places.kind == "fixed" and exclude != "self":
            raise UsageError(f"exclude: {exclude!r} is of points that are at atoms or move with them; of fixed points it is "
                             "a selection or None")
        lists = [np.unique(row) for row in places.atoms]
        if exclude != "self" and places.kind != "fixed":
            group = np.asarray(universe.atoms.resindices if exclude == "residue" else _molecules_of(universe))
            order = np.argsort(group, kind="stable")
            ordered = group[order]

            def mates(row: np.ndarray) -> np.ndarray:
                own = np.unique(group[row])
                return np.unique(np.concatenate([order[np.searchsorted(ordered, g):np.searchsorted(ordered, g, "right")]
                                                 for g in own]))
            lists = [mates(row) for row in lists]
    else:
        group = selected(universe, exclude, "exclude") if isinstance(exclude, str) else exclude
        if not hasattr(group, "indices"):
            raise UsageError(f"exclude: None, 'self', 'residue', 'molecule', a selection or an AtomGroup is needed, not "
                             f"{exclude!r:.60}{did_you_mean(exclude, _EXCLUDE) if isinstance(exclude, str) else ''}")
        common = np.asarray(group.indices, np.int64)
        lists = [np.unique(np.concatenate([common, row])) for row in places.atoms]
    first = np.concatenate([[0], np.cumsum([len(row) for row in lists])]).astype(np.int64)
    return first, np.concatenate([*lists, np.zeros(0, np.int64)]).astype(np.int64)


# ---- The result ----------------------------------------------------------------------------------


class Series(Guessed):
    """Values at points in time: what `leyden.series()` returns.

    Attributes:
        time: (T,), ps; frames: their numbers in the trajectory, (T,).
        potential: (T, P), in `units`.
        field: (T, P, 3), `units`/A; None: not asked for.
        projected: (T, P), `units`/A: along the bond from its first to its second atom, or along `project`; or None.
        field_MV_cm, projected_MV_cm: the same in MV/cm; `MV_per_cm` is the factor: 100 of V/A, 2.569 of kT/e/A at 298.15 K.
        labels: a word for each point. report: how it was made.
    """

    _guesses = {"phi": "series.potential", "values": "series.potential", "times": "series.time",
                "projection": "series.projected", "write": 'series.save("a.csv")'}

    def __init__(self, time: np.ndarray, frames: np.ndarray, potential: np.ndarray, field: Optional[np.ndarray],
                 projected: Optional[np.ndarray], report: Dict[str, Any]) -> None:
        self.time, self.frames, self.potential, self.field, self.projected = time, frames, potential, field, projected
        self.report = report

    @property
    def units(self) -> str:
        """Of the potential."""
        return str(self.report["units"])

    @property
    def labels(self) -> List[str]:
        """A word for each point."""
        return list(self.report["labels"])

    @property
    def MV_per_cm(self) -> float:
        """What one unit of the field is, MV/cm."""
        return float(self.report["MV_per_cm"])

    @property
    def field_MV_cm(self) -> Any:
        """The field, (T, P, 3), MV/cm; None: not asked for."""
        return None if self.field is None else self.field * self.MV_per_cm

    @property
    def projected_MV_cm(self) -> Any:
        """The field along the bonds or `project`, (T, P), MV/cm; None: there is no direction."""
        return None if self.projected is None else self.projected * self.MV_per_cm

    def stark_shift(self, rate: float) -> np.ndarray:
        """Shifts of a vibration's wavenumber, (T, P), cm^-1: -rate F, of the projected field F in MV/cm.

        `rate`: the difference dipole along the bond over hc, cm^-1/(MV/cm); 1 D is 16.79 of them. It is positive
        where the dipole of the excited state is the larger one towards the second atom. Errors: UsageError without
        a projected field.
        """
        if self.projected is None:
            raise UsageError("there is no projected field: bonds have one, or project=... says a direction")
        return -float(rate) * self.projected_MV_cm

    def _columns(self) -> Dict[str, np.ndarray]:
        columns = {"frame": self.frames.astype(float), "time_ps": self.time}
        for i in range(self.potential.shape[1]):
            columns[f"phi_{i + 1}"] = self.potential[:, i]
            for k, axis in enumerate("xyz" if self.field is not None else ""):
                columns[f"e{axis}_{i + 1}"] = self.field[:, i, k]  # type: ignore[index]
            if self.projected is not None:
                columns[f"projected_{i + 1}_MV_cm"] = self.projected_MV_cm[:, i]
        return columns

    def save(self, path: Any) -> None:
        """Writes .csv, a row for each frame below names of columns and a comment; .npy, the same columns as an array, (T,
        columns); or .npz, all arrays by their names here. Whole or not at all.

        Potentials are in `units`, components of the field in `units`/A, and what is projected is in MV/cm in .csv and .npy.

        Errors: UsageError for other endings, FileError.
        """
        name = os.fsdecode(file_name(path))
        content = io.BytesIO()
        if name.endswith(".npz"):
            arrays = {key: getattr(self, key) for key in ("time", "frames", "potential", "field", "projected")}
            np.savez(content, units=self.units, labels=np.array(self.labels), MV_per_cm=self.MV_per_cm,
                     **{key: array for key, array in arrays.items() if array is not None})
        elif name.endswith((".npy", ".csv")):
            columns = self._columns()
            table = np.stack(list(columns.values()), axis=1)
            if name.endswith(".npy"):
                np.save(content, table)
            else:
                head = [f"# {line}" for line in self._comment()] + [",".join(columns)]
                rows = (f"{row[0]:.0f}," + ",".join(f"{value:.9g}" for value in row[1:]) for row in table)
                content.write(("\n".join([*head, *rows]) + "\n").encode())
        else:
            raise UsageError(f"{name}: a name that ends in .csv, .npy or .npz is needed")
        write_whole(name, content.getvalue())

    def _comment(self) -> List[str]:
        r = self.report
        return [f"leyden: potential in {self.units}, field in {self.units}/A (1 is {self.MV_per_cm:.6g} MV/cm), "
                f"dielectric {r['dielectric']:.6g}, temperature {r['temperature_K']:.6g} K",
                f"method {r['method']}, relative error {max(r['potential_error'], r['field_error']):.2g} for {r['tolerance']:.2g}",
                *(f"{i + 1}: {label}" for i, label in enumerate(self.labels))]

    def plot(self, ax: Any = None, quantity: Optional[Literal["potential", "projected"]] = None, **options: Any) -> Any:
        """Draws each point's values over time by matplotlib; its lines.

        `quantity`: "potential", or "projected", in MV/cm, which is what is drawn where there is one. `options`: those of
        matplotlib's `plot`. Errors: UsageError for another quantity, and for one that there is not.
        """
        quantity = quantity or ("potential" if self.projected is None else "projected")
        if quantity not in ("potential", "projected"):
            raise UsageError(f"quantity: {quantity!r} is none of 'potential', 'projected'")
        if quantity == "projected" and self.projected is None:
            raise UsageError("there is no projected field: bonds have one, or project=... says a direction")
        if ax is None:
            import matplotlib.pyplot as plt
            ax = plt.figure(layout="constrained").add_subplot()
        lines = ax.plot(self.time, self.potential if quantity == "potential" else self.projected_MV_cm, **options)
        ax.set_xlabel("time (ps)")
        ax.set_ylabel(f"potential ({self.units})" if quantity == "potential" else "field (MV/cm)")
        if 1 < len(lines) <= 10:
            ax.legend(lines, self.labels)
        return lines

    def __len__(self) -> int:
        return len(self.time)

    def __repr__(self) -> str:
        frames, points = self.potential.shape
        has = ", field" * (self.field is not None) + ", projected" * (self.projected is not None)
        return f"<leyden.Series: {frames} frames, {points} points, potential in {self.units}{has}, {self.report['method']}>"


# ---- The function --------------------------------------------------------------------------------


class _Run:
    """A ley_series."""

    def __init__(self, charges: np.ndarray, first: np.ndarray, excluded: np.ndarray, options: Any,
                 engine: Optional[Engine]) -> None:
        self._engine = engine
        options.engine = ffi.NULL if engine is None else engine.pointer
        box = ffi.new("ley_series **")
        with Status() as status:
            status.check(lib.ley_series_create(len(charges), pointer_to(charges), len(first) - 1, options, box,
                                               status.pointer))
        self._pointer = ffi.gc(box[0], lib.ley_series_destroy)
        with Status() as status:
            status.check(lib.ley_series_exclude(self._pointer, ffi.from_buffer("int64_t[]", first),
                                                ffi.from_buffer("int64_t[]", np.append(excluded, 0)), status.pointer))

    def run(self, numbers_of: np.ndarray, positions: np.ndarray, cells: Optional[np.ndarray], points: np.ndarray,
            potential: np.ndarray, field: Optional[np.ndarray]) -> None:
        """Fills (F, P) and (F, P, 3)."""
        points = np.ascontiguousarray(points, np.float64)
        cells = None if cells is None else np.ascontiguousarray(cells, np.float64)
        frames = ffi.new("ley_series_frames *", {
            "count": len(positions), "position_A": ffi.from_buffer("float[]", positions),
            "cell_A": ffi.NULL if cells is None else pointer_to(cells), "point_A": pointer_to(points),
            "potential": pointer_to(potential), "field": ffi.NULL if field is None else pointer_to(field),
            "number": ffi.from_buffer("int64_t[]", numbers_of)})

        def work(token: _task.Token) -> None:
            frames.cancel = token.flag
            with token.holding(None if self._engine is None else self._engine.lock), Status() as status:
                status.check(lib.ley_series_run(self._pointer, frames, status.pointer))

        _task.call(work)

    @property
    def report(self) -> Any:
        return lib.ley_series_report_of(self._pointer)


def _options_of(given: Mapping[str, Any], keep: List[Any]) -> Any:
    options = ffi.new("ley_series_options *")
    lib.ley_series_options_default(options)
    take(options, "ley_direct", given, keep)
    if given["method"] not in METHODS:
        raise UsageError(f"method: {given['method']!r} is none of {', '.join(map(repr, METHODS))}"
                         f"{did_you_mean(given['method'], list(METHODS))}")
    options.method = METHODS[given["method"]]
    options.tolerance = number_of(given["tol"], "tol")
    return options


def _engine_for(wanted: Any, method: str, points: int) -> Optional[Engine]:
    """Of the host alone, which is soonest for few points, None."""
    if isinstance(wanted, str) and wanted == "host":
        return None
    if wanted is not None:
        return engine_of(wanted)
    if method == "mesh" or (method == "auto" and points >= _MANY_POINTS):
        try:
            return engine_of(None)
        except NoDeviceError:
            return None
    return None


def _source_of(universe: Any, source: Any) -> np.ndarray:
    """Charges of all atoms of the universe; 0 of those that are no source."""
    whole = universe.universe.atoms
    try:
        charges = np.asarray(whole.charges, np.float64)
    except AttributeError:  # NoDataError is one
        raise InputError("the topology has no charges: they come with one of a simulation program, as .psf, .prmtop, "
                         ".tpr, .data and .mol2 files, or by universe.add_TopologyAttr('charges', charges)") from None
    group = universe.atoms if source is None else selected(universe, source, "source")
    kept = np.zeros(len(charges))
    kept[group.indices] = charges[group.indices]
    if not np.any(kept):
        raise InputError("every charge of the source is 0, so that there is no potential"
                         + ("" if source is None else f": source={source!r:.60}"))
    return kept


def _warn_of_close(report: Any, places: Places) -> None:
    if report.close_frame >= 0:
        warnings.warn(f"{places.labels[report.close_point]} (points[{report.close_point}]) is on a charge that it does not "
                      f"exclude, first in the frame after {report.close_frame} others: the charge's own potential hides all "
                      "others there; exclude='self', 'residue' or a selection leaves such charges out", PointsWarning,
                      stacklevel=4)


def _gather(run: _Run, frames: Frames, places: Places, directions: Optional[_Directions], place: np.ndarray, is_open: bool,
            watcher: FrameWatcher, wants_field: bool) -> Dict[str, Any]:
    count, points = len(frames), len(places)
    potential, field = np.empty((count, points)), np.empty((count, points, 3)) if wants_field else None
    projected = None if directions is None else np.empty((count, points))
    found, done = np.empty(count, np.int64), 0
    watcher.begin(0, count)
    for block in frames.blocks():
        part = slice(done, done + len(block.numbers))
        cells = None if is_open else block.cells
        at = places.at(block.positions, cells, place)
        block_field = field[part] if field is not None else np.empty((len(at), points, 3)) if directions else None
        run.run(block.numbers, block.positions, cells, at, potential[part], block_field)
        if directions is not None and projected is not None:
            projected[part] = (block_field * directions.at(block.positions, cells, place)).sum(axis=2)
        found[part] = block.numbers
        done = part.stop
        watcher.tell(block.done)
    if done == 0:
        raise InputError("no frame counts")
    return {"frames": found[:done], "potential": potential[:done], "field": None if field is None else field[:done],
            "projected": None if projected is None else projected[:done]}


def _times_of(trajectory: Any, frames: np.ndarray) -> np.ndarray:
    """By the time of the first of these frames and the step between frames, ps."""
    now = trajectory.ts.frame
    start = float(trajectory[int(frames[0])].time)
    trajectory[now]  # pylint: disable=pointless-statement
    return start + (frames - frames[0]) * float(trajectory.dt)


@with_parameters("ley_direct", elsewhere={"select": "source says whose charges count", **dict.fromkeys(
    ("dims", "spacing", "grid", "padding"), "series are of points; leyden.average() and leyden.Plan make maps of frames")})
def series(universe: Any, points: Any, *, source: Any = None, exclude: Any = "self", field: bool = True, project: Any = None,
           tol: float = 1e-5, method: Literal["auto", "direct", "ewald", "mesh"] = "auto",
           periodic: Optional[bool] = None, cell: Any = None, start: Optional[int] = None, stop: Optional[int] = None,
           step: Optional[int] = None, skip_bad: bool = False, readers: Optional[int] = None,
           engine: EngineArgument = None, progress: FramesProgressArgument = None, **given: Unpack[SeriesKeywords]) -> Series:
    """Potential and electric field at atoms, at bonds or at points, in each frame of a trajectory.

    phi_p = C sum over all j and images of q_j / r, minus the terms of the atoms that point p excludes, each at its
    nearest image; E = -grad phi. In cells the sum is that of Ewald with conducting surroundings and zero mean.

    >>> series = leyden.series(universe, universe.select_atoms("name OG"), exclude="residue")
    >>> bonds = leyden.series(universe, [(120, 121)], source="resname SOL")
    >>> bonds.projected_MV_cm.mean(axis=0)

    Args:
        universe: a Universe of MDAnalysis, or an AtomGroup, whose charges alone count then.
        points: where: an AtomGroup, or words that select one; bonds, at whose middles values are, as a BondGroup, pairs of
            atoms or of their numbers from 0, or two groups of one length; positions fixed in space, (P, 3), A; or
            Attached(), points that move with three atoms.
        source: whose charges make the field: words that select them, or an AtomGroup; None: all.
        exclude: which of these a point does not feel: "self", the atoms that it is made of: the atom, both of a
            bond, the three of Attached(); "residue" or "molecule", all of those that these are of; a
            selection or an AtomGroup, beside the point's own; None: each atom counts. Of an atom its nearest image is left out.
        field: whether fields are kept, `Series.field`.
        project: a direction for `Series.projected`: pairs of atoms, from the first to the second one, or vectors, (3,) or
            (P, 3), of any length; None: of bonds from their first to their second atom.
        tol: relative root mean square error of potentials and of fields.
        method: "ewald": no mesh, which is soonest for few points; "direct": pair by pair, in open space; "mesh":
            a sum by meshes for each frame, for very many points; "auto": the fastest.
        periodic: False: open space, without images; None: each frame's cell, which it has to have.
        cell: of all frames, in place of their own.
        start, stop, step, skip_bad, readers, progress: as of `leyden.average()`.
        engine: of "mesh": what names a device; None: the host alone, but for very many points.
        {parameters}

    Times are by that of the first frame that counts and the trajectory's time step.

    Errors: UsageError; InputError for a topology without charges, frames without a cell, which periodic=False takes as
    open space, and frames that cannot be read; WrongResult where the tolerance is not reached.
    """
    if not hasattr(getattr(universe, "universe", None), "trajectory"):
        raise UsageError(f"universe: a Universe or an AtomGroup of MDAnalysis is needed, not {type(universe).__name__}")
    if periodic not in (None, True, False):
        raise UsageError(f"periodic: None, True or False is needed, not {periodic!r:.60}")
    keep: List[Any] = []
    options = _options_of({**given, "method": method, "tol": tol}, keep)
    whole = universe.universe
    places = Places.of(whole, points)
    directions = _Directions.of(project, places)
    charges = _source_of(universe, source)
    first, excluded = _exclusions_of(whole, places, exclude)
    # Atoms that are read: those with charges, and those that points are made of.
    wanted = np.zeros(len(charges), bool)
    wanted[charges != 0] = True
    wanted[places.atoms.ravel()] = True
    if directions is not None and directions.pairs is not None:
        wanted[directions.pairs.ravel()] = True
    if wanted.mean() > 0.8:  # nearly all are no fewer
        wanted[:] = True
    is_needed = charges[excluded] != 0 if len(excluded) else np.zeros(0, bool)
    owner = np.repeat(np.arange(len(places)), np.diff(first))[is_needed]
    first = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=len(places)))]).astype(np.int64)
    place = np.cumsum(wanted) - 1
    is_open = periodic is not None and not periodic
    if not is_open and cell is None and cell_of_box(getattr(whole.trajectory.ts, "dimensions", None)) is None:
        raise InputError("the frames have no cell: cell=(a, b, c) gives one for all of them, and periodic=False sums in open "
                         "space, without images")
    watcher = FrameWatcher(progress)
    frames = Frames(whole, select=whole.atoms[np.flatnonzero(wanted)], start=start, stop=stop, step=step,
                    cell=np.eye(3) if is_open else cell, skip_bad=switch_of(skip_bad, "skip_bad"), readers=readers)
    engine = _engine_for(engine, method, len(places))
    run = _Run(np.ascontiguousarray(charges[wanted]), first, np.ascontiguousarray(place[excluded[is_needed]]), options, engine)
    try:
        arrays = _gather(run, frames, places, directions, place, is_open, watcher, switch_of(field, "field"))
    finally:
        watcher.close()
    done = run.report
    _warn_of_close(done, places)
    units = TABLES["ley_direct"]["units"].choices[options.units]
    volts = lib.ley_coulomb_constant(lib.LEY_UNITS_VOLT, 1, options.temperature_K) / \
        lib.ley_coulomb_constant(options.units, 1, options.temperature_K)
    report = {"method": ffi.string(done.method).decode(), "cutoff_A": done.cutoff_A, "beta_per_A": done.beta_per_A,
              "waves": done.waves, "potential_error": done.potential_error, "field_error": done.field_error,
              "tolerance": options.tolerance, "units": units, "MV_per_cm": 100 * volts, "dielectric": options.dielectric,
              "temperature_K": options.temperature_K, "frames": len(arrays["frames"]), "skipped": frames.skipped,
              "first_skipped": [bad._asdict() for bad in frames.bad], "readers": frames.readers,
              "elapsed_s": watcher.elapsed_s, "frames_per_s": watcher.rate, "files": frames.files,
              "points": places.kind, "labels": places.labels}
    return Series(_times_of(frames.trajectory, arrays["frames"]), **arrays, report=report)
