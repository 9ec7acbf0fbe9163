"""leyden.density_map, leyden.fit_score: densities of atoms as maps, and how well the frames of a trajectory fit a map."""
from __future__ import annotations

import io
import math
import os
import zlib
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Optional, Sequence, Tuple, Union

import numpy as np

from . import _task
from ._arrays import doubles, pointer_to
from ._atoms import Atoms, AtomsArgument, atoms_of, places_of
from ._c import ffi, lib
from ._energy import write_table
from ._energy_frames import Checkpoint, Way, gather, source_of
from ._engine import Engine, EngineArgument, engine_of
from ._errors import InputError, Status, UsageError, file_name, switch_of, text_of
from ._files import write_whole
from ._frames import Frames, selected, universe_of
from ._grid import Grid, grid_of
from ._guesses import Guessed
from ._maps import Map, own_map
from ._parameters import TABLES, did_you_mean, take, with_parameters
from ._progress import FramesProgressArgument, FrameWatcher
from ._radii import SYMBOLS, Labels

if TYPE_CHECKING:
    from typing_extensions import Unpack
    from ._keywords import Density_mapKeywords, Fit_scoreKeywords

SCORES = ("pearson", "overlap", "masked", "thresholded", "mean", "deviation")  # in the order of ley_fit_score
assert len(SCORES) == lib.LEY_FIT_SCORES
FORMS = {"xray": "DensityCalculatorX", "electron": "DensityCalculatorE"}
_RESULT_BYTES = 64 << 20  # of what one call gives


# ---- Atoms ---------------------------------------------------------------------------------------


def _source_of(atoms: Any) -> Any:
    """A Universe or an AtomGroup, also of a Structure or of a file that MDAnalysis reads; else Atoms."""
    is_file = isinstance(atoms, (str, os.PathLike)) and not os.fspath(atoms).endswith((".pqr", ".pqr.gz", ".atoms"))
    return universe_of(atoms, ()) if is_file or hasattr(atoms, "atoms") else atoms_of(atoms)


def _labels_of(atoms: Any) -> Labels:
    """Of MDAnalysis's atoms."""
    def of(name: str) -> Any:
        return getattr(atoms, name, None)

    return Labels(of("names"), of("types"), of("elements"), of("resnames"), of("masses"))


def _elements_of(source: Any) -> np.ndarray:
    """Atomic numbers. Errors: InputError where an atom has none."""
    if hasattr(source, "atoms"):
        labels, count = _labels_of(source.atoms), len(source.atoms)
        words = [labels.element(i) for i in range(count)]
        numbers = np.array([SYMBOLS.index(word) if word in SYMBOLS else 0 for word in words])
        if np.any(numbers == 0):
            raise InputError(f"{labels.describe(int(np.argmin(numbers)))}: what element it is must be known, or give weights")
        return numbers
    pointer = lib.ley_atoms_elements(source.pointer)
    found = np.zeros(0, int) if pointer == ffi.NULL else np.frombuffer(ffi.buffer(pointer, 4 * len(source)), np.int32).astype(int)
    if len(found) == 0 or np.any(found == 0):
        which = f"atom {int(np.argmin(found)) + 1} has" if len(found) else "the atoms have"
        raise InputError(f"{which} no name that tells an element: weights='charge', 'occupancy', or numbers, need none")
    return found


def _weights_of(source: Any, weights: Any, count: int) -> np.ndarray:
    if not isinstance(weights, str):
        return doubles(weights, "weights", (count,))
    kinds = TABLES["ley_density_options"]["weights"].choices
    if weights not in kinds:
        raise UsageError(f"weights: {weights!r:.60} is none of {', '.join(kinds)}, nor numbers{did_you_mean(weights, kinds)}")
    universe = getattr(source, "atoms", None)
    if weights == "charge":
        found = getattr(universe, "charges", None) if universe is not None else source.charges
        if found is None:
            raise InputError("weights='charge': the topology has no charges")
        return np.asarray(found, np.float64)
    if weights == "occupancy":
        return np.asarray(getattr(universe, "occupancies", np.ones(count)), np.float64)
    masses = getattr(universe, "masses", None)
    if weights == "mass" and masses is not None and np.all(np.asarray(masses) > 0):
        return np.asarray(masses, np.float64)
    elements = _elements_of(source)
    return np.array([lib.ley_element_mass(k) for k in elements]) if weights == "mass" else elements.astype(np.float64)


def _radii_of(source: Any, count: int, convention: str) -> Optional[np.ndarray]:
    """What voltool makes widths of: the atoms' own radii, else those of their elements."""
    if convention != "voltool":
        return None
    own = getattr(source.atoms, "radii", None) if hasattr(source, "atoms") else source.radii
    radii = np.zeros(count) if own is None else np.array(own, np.float64)
    if not np.all(radii > 0):
        numbers = _elements_of(source)
        radii = np.where(radii > 0, radii, [lib.ley_element_radius_A(k) for k in numbers])
        if not np.all(radii > 0):
            raise InputError(f"convention='voltool': no radius is known for {SYMBOLS[numbers[int(np.argmin(radii))]]}")
    return radii


def _options_of(given: Any) -> Any:
    options = ffi.new("ley_density_options *")
    lib.ley_density_options_default(options)
    take(options, "ley_density_options", given, [])
    return options


def _map_of(source: Any, name: str) -> Map:
    if isinstance(source, Map):
        return source
    if isinstance(source, (str, bytes, os.PathLike)):
        return Map.read(source, gaps=True)
    raise UsageError(f"{name}: a leyden.Map or a map's file name is needed, not {type(source).__name__}")


def _engine_or_host(engine: EngineArgument) -> Tuple[Optional[Engine], bool]:
    """None: the library's choice, or the host where that is asked for."""
    by_host = isinstance(engine, str) and engine == "host"
    return None if engine is None or by_host else engine_of(engine), by_host


def _call(engine: Optional[Engine], make: Any) -> None:
    """What gives a ley_status, while nobody else has the engine."""
    def work(token: _task.Token) -> None:
        with token.holding(None if engine is None else engine.lock), Status() as status:
            status.check(make(status.pointer))

    _task.call(work)


def _report_of(totals: Any) -> Dict[str, Any]:
    return {name: text_of(getattr(totals, name)) if of.type.kind == "array" else getattr(totals, name)
            for name, of in ffi.typeof("ley_fit_totals").fields}


class _Fit:
    """A ley_fit. `threshold`: a number, or "mean+deviation" of each frame."""

    name = "fit"

    def __init__(self, engine: EngineArgument, options: Any, weights: np.ndarray, radii: Optional[np.ndarray],
                 of_map: Map, mask: Optional[Map] = None, threshold: Union[None, float, str] = None,
                 gradient: bool = False, windows: Optional[np.ndarray] = None, window_count: int = 0) -> None:
        self._engine, by_host = _engine_or_host(engine)
        self.count = len(weights)
        self.windows, self.gradient, self.threshold = window_count, gradient, threshold
        self.first_at_once = self.frames_at_once()
        window = None if windows is None else np.ascontiguousarray(windows, np.int32)
        weights = np.ascontiguousarray(weights, np.float64)
        radii = None if radii is None else np.ascontiguousarray(radii, np.float64)
        target = ffi.new("ley_fit_target *", {
            "size": ffi.sizeof("ley_fit_target"), "map": of_map._pointer, "mask": ffi.NULL if mask is None else mask._pointer,
            "has_threshold": threshold is not None, "has_gradient": gradient, "by_host": by_host,
            "windows": window_count, "window": ffi.NULL if window is None else ffi.from_buffer("int32_t[]", window)})
        box = ffi.new("ley_fit **")
        with Status() as status:
            status.check(lib.ley_fit_create(ffi.NULL if self._engine is None else self._engine.pointer, target, self.count,
                                            pointer_to(weights), ffi.NULL if radii is None else pointer_to(radii), options,
                                            box, status.pointer))
        self._pointer = ffi.gc(box[0], lib.ley_fit_destroy)

    def frames_at_once(self) -> int:
        """Of which results fit into memory."""
        return max(1, _RESULT_BYTES // (8 * (len(SCORES) + self.windows) + 12 * self.count * self.gradient))

    def run(self, positions: np.ndarray, _cells: Optional[np.ndarray] = None) -> Tuple[Dict[str, np.ndarray], Any]:
        """Of (F, N, 3): score, (F, 6), window, (F, W), gradient, (F, N, 3), threshold, (F,)."""
        if self.threshold is None:
            return self._compute(positions), None
        if isinstance(self.threshold, str):
            score = self._compute(positions, scores_only=True)["score"]
            own = score[:, 4] + score[:, 5]
            own[~(own > 0)] = np.inf  # of frames without a density
        else:
            own = np.full(len(positions), float(self.threshold))
        return {**self._compute(positions, own), "threshold": own}, None

    def _compute(self, positions: np.ndarray, thresholds: Optional[np.ndarray] = None, scores_only: bool = False) -> Dict[str, np.ndarray]:
        positions = np.ascontiguousarray(positions, np.float32)
        frames = len(positions)
        arrays: Dict[str, np.ndarray] = {"score": np.empty((frames, len(SCORES)))}
        if self.windows and not scores_only:
            arrays["window"] = np.empty((frames, self.windows))
        if self.gradient and not scores_only:
            arrays["gradient"] = np.empty((frames, self.count, 3), np.float32)
        results = ffi.new("ley_fit_results *", {"size": ffi.sizeof("ley_fit_results")})
        for name, array in arrays.items():
            setattr(results, name, ffi.cast("float *", array.ctypes.data) if array.dtype == np.float32 else pointer_to(array))
        threshold = ffi.NULL if thresholds is None else pointer_to(thresholds)

        try:
            _call(self._engine, lambda error: lib.ley_fit_run(self._pointer, frames, ffi.from_buffer("float[]", positions),
                                                              threshold, results, error))
        except KeyboardInterrupt:
            lib.ley_fit_cancel(self._pointer)
            raise
        return arrays

    @property
    def report(self) -> Dict[str, Any]:
        totals = ffi.new("ley_fit_totals *")
        lib.ley_fit_get_totals(self._pointer, totals)
        return _report_of(totals)


# ---- Maps ----------------------------------------------------------------------------------------


def _grid_for(atoms: Atoms, options: Any, grid: Optional[Grid], like: Any, spacing: Optional[float]) -> Grid:
    if sum(given is not None for given in (grid, like, spacing)) > 1:
        raise UsageError("grid, like and spacing exclude each other: each says where the map's nodes are")
    if like is not None:
        return _map_of(like, "like").grid
    if grid is not None:
        return grid_of(grid)
    if spacing is not None:
        return Grid.around(atoms, spacing, 3 * options.resolution_A)
    made = ffi.new("ley_grid *")
    with Status() as status:
        status.check(lib.ley_density_grid(atoms.pointer, options, made, status.pointer))
    return Grid._of(made)


def _by_form_factors(atoms: Atoms, elements: np.ndarray, occupancies: np.ndarray, form: str, grid: Grid,
                     resolution: float) -> np.ndarray:
    """Densities by gemmi's tables, blurred to the resolution: values (nz, ny, nx)."""
    try:
        import gemmi
    except ImportError:
        raise ImportError("form: gemmi is not installed, which has the form factors: pip install gemmi") from None
    if not grid.is_orthogonal:
        raise InputError("form: a grid whose axes are along x, y and z is needed")
    sigma = resolution / (math.pi * math.sqrt(2))
    spacing, n = grid.spacing, np.array(grid.n)
    margin = np.ceil(8 * sigma / spacing).astype(int)  # gemmi's grids are periodic: images are as far away as that
    whole, origin = n + 2 * margin, grid.origin - margin * spacing
    x = atoms.positions - origin
    near = np.all((x > 0) & (x < whole * spacing), axis=1)
    calculator = getattr(gemmi, FORMS[form])()
    calculator.d_min, calculator.rate = 2 * float(spacing.max()), 1.0
    a, b, c = (float(edge) for edge in whole * spacing)
    calculator.grid.unit_cell = gemmi.UnitCell(a, b, c, 90, 90, 90)
    calculator.grid.spacegroup = gemmi.SpaceGroup("P 1")
    calculator.grid.set_size(*map(int, whole))
    model, chain, residue = gemmi.Model("1"), gemmi.Chain("A"), gemmi.Residue()
    residue.name, residue.seqid = "UNK", gemmi.SeqId("1")
    for place, number, occupancy in zip(x[near], elements[near], occupancies[near]):
        atom = gemmi.Atom()
        atom.name, atom.element, atom.pos = "X", gemmi.Element(int(number)), gemmi.Position(*place)
        atom.b_iso, atom.occ = 8 * math.pi ** 2 * sigma ** 2, float(occupancy)
        residue.add_atom(atom)
    chain.add_residue(residue)
    model.add_chain(chain)
    calculator.add_model_density_to_grid(model)
    values = np.array(calculator.grid)[tuple(slice(m, m + k) for m, k in zip(margin, n))]
    return np.ascontiguousarray(values.transpose(2, 1, 0), np.float32)


def _by_gaussians(atoms: Atoms, weights: Optional[np.ndarray], options: Any, grid: Grid, engine: EngineArgument) -> Map:
    """A map of zeros without weights."""
    own, by_host = _engine_or_host(engine)
    box, totals = ffi.new("ley_map **"), ffi.new("ley_fit_totals *")
    numbers = None if weights is None else np.ascontiguousarray(weights, np.float64)
    _call(own, lambda error: lib.ley_density_map_create(ffi.NULL if own is None else own.pointer, atoms.pointer,
                                                        ffi.NULL if numbers is None else pointer_to(numbers),
                                                        options, grid.pointer, by_host, box, totals, error))
    return Map._of(own_map(box[0]), _report_of(totals))


@with_parameters("ley_density_options", without=("window_radius", "weights"))
def density_map(atoms: AtomsArgument, *, weights: Any = "number", grid: Optional[Grid] = None, like: Any = None,
                spacing: Optional[float] = None, form: Optional[Literal["xray", "electron"]] = None,
                engine: EngineArgument = None, **given: "Unpack[Density_mapKeywords]") -> Map:
    """The density of atoms at a resolution, as a map: what an electron microscope sees.

    rho(r) = sum_i w_i A exp(-|r - r_i|^2 / (2 s^2)), with s = resolution / (pi sqrt 2) and A = (2 pi s^2)^(-3/2) (molmap), or
    s = 0.2 resolution times the atom's radius and A = 1 (voltool). The electron density of a wavefunction is
    `Wavefunction.density()`.

    >>> density = leyden.density_map("protein.pqr", resolution=5)
    >>> density = leyden.density_map(universe.select_atoms("protein"), resolution=6.5, like="emd_1234.map")

    Args:
        atoms: what `Atoms()` takes, as "protein.pqr", a Universe or an AtomGroup, or the name of a file that MDAnalysis
            reads, as "protein.pdb"; charges are needed for weights="charge" alone.
        weights: w_i: "number", the atomic number, by the topology's elements or else by the names of atoms; "mass",
            "charge", "occupancy"; or numbers, (n,).
        grid, like, spacing: where the nodes are: on a Grid; on that of a Map, or of a map's file; or this far apart, 3
            resolutions beyond the atoms. None: a third of the resolution apart.
        form: "xray" or "electron": by form factors of these, from gemmi's tables, at B = 8 pi^2 s^2, in place of w_i;
            occupancies count.
        engine: as of `map()`; "host"; None: the host, or the fastest device where that is sooner.
        {parameters}

    Errors: UsageError; InputError where elements are needed that are not known, or the resolution is less than the
    spacing; those of `map()`.
    """
    source = _source_of(atoms)
    of = places_of(source)
    options = _options_of(given)
    where = _grid_for(of, options, grid, like, spacing)
    if form not in (None, *FORMS):
        raise UsageError(f"form: {form!r} is none of 'xray', 'electron'")
    if form is None:
        convention = str(given.get("convention") or "molmap")
        radii = _radii_of(source, len(of), convention)
        if radii is not None:
            of = Atoms(of.positions, np.zeros(len(of)), radii)
        made = _by_gaussians(of, _weights_of(source, weights, len(of)), options, where, engine)
        said = f"{convention} at {options.resolution_A:.6g} A, weights: {weights if isinstance(weights, str) else 'numbers'}"
    else:
        made = _by_gaussians(of, None, options, where, "host")
        made.values[:] = _by_form_factors(of, _elements_of(source), _weights_of(source, "occupancy", len(of)), form, where,
                                          options.resolution_A)
        said = f"{form} form factors at {options.resolution_A:.6g} A"
    made.header = f"density of {len(of):,} atoms, {said}"
    made.report = {**made.report, "method": made.header, "accuracy": None}
    return made


# ---- Scores --------------------------------------------------------------------------------------


class FitScores(Guessed):
    """How well frames fit a map: what `leyden.fit_score()` returns.

    Attributes:
        frames: their numbers in the trajectory, (F,), from 0.
        pearson: correlation about the mean, (F,); overlap: without it; masked, thresholded: pearson's where the mask is
            above 0, and where the density is no less than `thresholds`, (F,); None: not asked for. Not-a-numbers are
            undefined, as where no atom is near the map.
        local: pearson's around each residue, segment or group, (F, W), `labels` in words; None: not asked for.
        gradient: of pearson by the atoms' places, (F, N, 3) float32, 1/A; None: not asked for.
        mean, deviation: of the density at the nodes that count, (F,).
        report: how it was made, with what the verification found.
    """

    _guesses = {"cc": "scores.pearson", "ccc": "scores.pearson", "correlation": "scores.pearson", "score": "scores.pearson",
                "values": "scores.pearson", "forces": "scores.gradient", "write": 'scores.save("scores.csv")',
                "smoc": "scores.local", "residues": "scores.local, of by=\"residue\""}

    def __init__(self, frames: np.ndarray, score: np.ndarray, report: Dict[str, Any], local: Optional[np.ndarray] = None,
                 labels: Sequence[str] = (), gradient: Optional[np.ndarray] = None, has_mask: bool = False,
                 thresholds: Optional[np.ndarray] = None) -> None:
        self.frames, self._score, self.report, self.labels = frames, score, report, list(labels)
        self.local: Union[np.ndarray, Any] = local
        self.gradient: Union[np.ndarray, Any] = gradient
        self.thresholds: Union[np.ndarray, Any] = thresholds
        self.pearson, self.overlap = score[:, 0], score[:, 1]
        self.masked: Union[np.ndarray, Any] = score[:, 2] if has_mask else None
        self.thresholded: Union[np.ndarray, Any] = score[:, 3] if thresholds is not None else None
        self.mean, self.deviation = score[:, 4], score[:, 5]

    @property
    def best(self) -> int:
        """The number of the frame that fits best, by pearson. Errors: InputError where none is defined."""
        if np.all(np.isnan(self.pearson)):
            raise InputError("no frame has a correlation: no atom is near the map")
        return int(self.frames[np.nanargmax(self.pearson)])

    def columns(self) -> Dict[str, np.ndarray]:
        """Of the table: frame, pearson, overlap, masked, thresholded, mean, deviation."""
        named = {name: getattr(self, name) for name in SCORES}
        return {"frame": self.frames, **{name: values for name, values in named.items() if values is not None}}

    def save(self, path: Any) -> None:
        """Writes .csv, a row for each frame below names of columns and a comment; or .npz, all arrays by their names here.
        Whole or not at all. Errors: UsageError for other endings, FileError."""
        name = os.fsdecode(file_name(path))
        if name.endswith(".csv"):
            write_table(name, self.columns(), self.report.get("comment", ()))
        elif name.endswith(".npz"):
            arrays: Dict[str, Any] = {**self.columns(), "local": self.local, "gradient": self.gradient, "thresholds": self.thresholds}
            content = io.BytesIO()
            kept: Dict[str, Any] = {key: array for key, array in arrays.items() if array is not None}
            np.savez(content, labels=np.array(self.labels), **kept)
            write_whole(name, content.getvalue())
        else:
            raise UsageError(f"{name}: a name that ends in .csv or .npz is needed")

    def save_local(self, path: Any) -> None:
        """Writes .csv: a column for each residue, segment or group. Errors: UsageError without them, FileError."""
        if self.local is None:
            raise UsageError("there are no local correlations: by=\"residue\" or \"segment\" makes them")
        write_table(os.fsdecode(file_name(path)), {"frame": self.frames, **dict(zip(self.labels, self.local.T))},
                    self.report.get("comment", ()))

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draws scores over frames, or, of one frame with local correlations, these along the sequence, by matplotlib; its
        lines. `options`: those of matplotlib's `plot`."""
        if ax is None:
            import matplotlib.pyplot as plt
            ax = plt.figure(layout="constrained").add_subplot()
        if len(self) == 1 and self.local is not None:
            lines = ax.plot(np.arange(1, self.local.shape[1] + 1), self.local[0], **options)
            ax.set_xlabel(f"{self.report.get('by') or 'window'}, counted from 1")
        else:
            shown = [name for name in ("pearson", "overlap", "masked", "thresholded") if getattr(self, name) is not None]
            lines = [ax.plot(self.frames, getattr(self, name), label=name, **options)[0] for name in shown]
            ax.legend()
            ax.set_xlabel("frame")
        ax.set_ylabel("correlation with the map")
        return lines

    def __len__(self) -> int:
        return len(self.frames)

    def __repr__(self) -> str:
        return f"<leyden.FitScores: {len(self)} frames, pearson {np.nanmin(self.pearson):.4f} to {np.nanmax(self.pearson):.4f}>" \
            if np.any(np.isfinite(self.pearson)) else f"<leyden.FitScores: {len(self)} frames, all undefined>"


def _windows_of(group: Any, by: Any) -> Tuple[Optional[np.ndarray], List[str]]:
    """A window's number for each atom, and their labels."""
    if by is None:
        return None, []
    if by == "residue":
        found, windows = np.unique(group.resindices, return_inverse=True)
        residues = group.universe.residues[found]
        names = getattr(residues, "resnames", [""] * len(found))
        return windows, [f"{name} {number}".strip() for name, number in zip(names, residues.resids)]
    if by == "segment":
        found, windows = np.unique(group.segindices, return_inverse=True)
        return windows, [str(name) or str(k + 1) for k, name in enumerate(group.universe.segments[found].segids)]
    if isinstance(by, str):
        raise UsageError(f"by: {by!r} is none of 'residue', 'segment'; groups are a list of selections")
    windows, place = np.full(len(group), -1), {int(k): i for i, k in enumerate(group.indices)}
    for number, words in enumerate(by):
        for index in selected(group, words, "by").indices:
            if int(index) not in place:
                raise UsageError(f"by: {words!r:.60} has atoms that do not count, as select says")
            windows[place[int(index)]] = number
    return windows, [str(words) for words in by]


def _crc(values: Any) -> Optional[int]:
    return None if values is None else zlib.crc32(np.ascontiguousarray(values).tobytes())


@with_parameters("ley_density_options", without=("weights",))
def fit_score(map: Any, universe: Any, *trajectories: Any, weights: Any = "number",  # pylint: disable=redefined-builtin
              mask: Any = None, threshold: Union[None, float, Literal["mean+deviation"]] = None, by: Any = None,
              gradient: bool = False, select: Any = None, start: Optional[int] = None, stop: Optional[int] = None,
              step: Optional[int] = None, skip_bad: bool = False, readers: Optional[int] = None, checkpoint: Any = None,
              checkpoint_s: float = 5.0, engine: EngineArgument = None, progress: FramesProgressArgument = None,
              ranks: Any = None, **given: "Unpack[Fit_scoreKeywords]") -> FitScores:
    """How well each frame of a trajectory fits a map: correlations of the atoms' density (`density_map()`) with it.

    >>> scores = leyden.fit_score("emd_1234.map", "protein.psf", "run.dcd", resolution=5)
    >>> scores.pearson, scores.best
    >>> scores = leyden.fit_score(map, universe, resolution=5, select="protein", by="residue", gradient=True)

    Args:
        map: a Map, or a map's file name; its not-a-numbers do not count. Any grid.
        universe: a Universe or an AtomGroup of MDAnalysis, or the name of a topology, with
        trajectories: the names of one or several.
        weights: as of `density_map()`.
        mask: a Map on the same grid, or its file: `FitScores.masked`, where it is above 0.
        threshold: `FitScores.thresholded`, where the density of the atoms is no less than this number; or
            "mean+deviation", than its own mean and deviation over the map in each frame.
        by: local correlations, `FitScores.local`: "residue", "segment", or a list of selections.
        gradient: of pearson by the atoms' places: the force of flexible fitting.
        select: atoms that count: words of MDAnalysis's language, or an AtomGroup. None: all.
        start, stop, step, skip_bad, readers, progress: as of `leyden.average()`.
        checkpoint, checkpoint_s: as of `leyden.energy()`: a file from which a run goes on.
        ranks: a communicator of mpi4py, as of `leyden.average()`; name the engine, so that all take the same.
        engine: as of `map()`, "all" for all devices; "host"; None: the host, or the fastest device where that is sooner.
        {parameters}

    Errors: UsageError; InputError where the map is the same everywhere, the resolution is less than its spacing, or frames
    cannot be read; WrongResult where a frame fails its verification.
    """
    of_map = _map_of(map, "map")
    of_mask = None if mask is None else _map_of(mask, "mask")
    if isinstance(threshold, str) and threshold != "mean+deviation":
        raise UsageError(f"threshold: a number or 'mean+deviation' is needed, not {threshold!r}")
    if threshold is not None and not isinstance(threshold, str) and not float(threshold) > 0:
        raise UsageError(f"threshold: {threshold} must be above 0, else it is the same as without")
    if by is None and given.get("window_radius") is not None:
        raise UsageError("window_radius is for local correlations: by='residue' asks for them")
    frames = Frames(universe_of(universe, trajectories), select=select, start=start, stop=stop, step=step, cell=np.eye(3),
                    skip_bad=switch_of(skip_bad, "skip_bad"), readers=readers, needs_charges=False)
    group, options = frames.group, _options_of(given)
    windows, labels = _windows_of(group, by)
    convention = str(given.get("convention") or "molmap")
    weight = _weights_of(group, weights, len(group))
    fit = _Fit(engine, options, weight, _radii_of(group, len(group), convention), of_map=of_map, mask=of_mask,
               threshold=threshold, gradient=switch_of(gradient, "gradient"), windows=windows, window_count=len(labels))
    kept = None if checkpoint is None else Checkpoint(checkpoint, source_of(frames, options, {
        "map": _crc(of_map.values), "mask": _crc(None if of_mask is None else of_mask.values), "weights": _crc(weight),
        "threshold": threshold, "windows": _crc(windows), "gradient": gradient}), checkpoint_s)
    watcher = FrameWatcher(progress)
    gathered = gather(frames, [fit], Way(is_open=True, cell=None, has_cells=False, whole=False), np.empty((0, 2), int), kept, watcher,
                      ranks)
    totals = fit.report
    report = {**totals, "files": frames.files, "frames": gathered.count, "skipped": frames.skipped,
              "resumed_frames": gathered.resumed, "first_skipped": [bad._asdict() for bad in frames.bad], "atoms": len(group),
              "by": by if isinstance(by, str) else None, "elapsed_s": watcher.elapsed_s, "frames_per_s": watcher.rate,
              "ranks": watcher.ranks,
              "resolution_A": options.resolution_A,
              "comment": [f"leyden: density of {len(group)} atoms, {convention} at {options.resolution_A:.6g} A, against the map"]}
    return FitScores(gathered.frames, gathered.rows("fit.score"), report, gathered.get("fit", "window"), labels,
                     gathered.get("fit", "gradient"), of_mask is not None, gathered.get("fit", "threshold"))
