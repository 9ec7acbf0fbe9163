"""leyden.Energy, leyden.Energies: energies and forces of particles, frame after frame."""
from __future__ import annotations

import io
import math
import os
import re
import threading
import warnings
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from . import _task
from ._arrays import numbers, pointer_to
from ._blocks import Estimate, estimate
from ._c import ffi, lib
from ._cell import cells_of_frames
from ._engine import EngineArgument, engine_of
from ._errors import DeviceWarning, InputError, Status, UsageError, file_name, switch_of, text_of
from ._files import write_whole
from ._guesses import Guessed
from ._parameters import TABLES, take, with_parameters
from ._particles import Particles
from ._picture import html, png, save_picture

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import EnergyKeywords

# In the order of ley_energy_term.
TERMS = ("lj", "lj_14", "coulomb", "coulomb_14", "gb", "sa")
assert len(TERMS) == lib.LEY_ENERGY_TERMS
PARAMETERS = TABLES["ley_energy_options"]
_LARGEST_BYTES = 256 << 20  # of what one call gives


def options_of(given: Mapping[str, Any]) -> Any:
    """A ley_energy_options."""
    options = ffi.new("ley_energy_options *")
    lib.ley_energy_options_default(options)
    take(options, "ley_energy_options", given, [])
    return options


def model_of(options: Any) -> Optional[str]:
    """The model of generalised Born, or None."""
    return PARAMETERS["gb"].choices[options.born] if options.born else None


def _groups_of(groups: Any, particles: int) -> Tuple[np.ndarray, int]:
    """A number of its group for each particle, -1 of none; how many groups there are."""
    if isinstance(groups, np.ndarray) and groups.ndim == 1:
        if groups.shape != (particles,) or groups.dtype.kind not in "iu":
            raise UsageError(f"groups: whole numbers of {particles} particles are needed, not {groups.dtype} {groups.shape}")
        return np.ascontiguousarray(groups, np.int32), int(groups.max(initial=-1)) + 1
    if isinstance(groups, (str, bytes)) or not isinstance(groups, (Sequence, np.ndarray)) or len(groups) == 0:
        raise UsageError(f"groups: a list of groups, each numbers of particles, or the group of each particle is needed, not {groups!r:.60}")
    found = np.full(particles, -1, np.int32)
    for number, group in enumerate(groups):
        index = np.asarray(getattr(group, "indices", group))
        if index.size == 0:
            raise UsageError(f"groups: number {number + 1} is empty")
        if index.ndim != 1 or index.dtype.kind not in "iu" or index.min() < 0 or index.max() >= particles:
            raise UsageError(f"groups: number {number + 1}: numbers of particles from 0 to {particles - 1} are needed")
        twice = index[found[index] >= 0]
        if twice.size:
            raise UsageError(f"groups: particle {twice[0]} (counted from 0) is in groups {found[twice[0]] + 1} and {number + 1}")
        found[index] = number
    return found, len(groups)


class Energies(Guessed):
    """Energies of frames, kcal/mol: what `Energy.run()` and `leyden.energy()` return.

    Attributes:
        frames: their numbers in the trajectory, (F,), from 0.
        lj, lj_14, coulomb, coulomb_14, gb, sa: terms, (F,); total: their sum. `terms`: the six, (F, 6).
        by: (F, 6, R) of each residue or atom, `labels` in words; None: not asked for. A pair counts half for each of its two,
            so that the sum over R is the term.
        matrix: (F, 6, G, G) between groups, of which again each has half: the interaction of two is twice their element;
            of `leyden.energy(matrix=True)` the mean over frames, (6, R, R), between residues; or None.
        forces: (F, N, 3) float32, kcal/mol/A; born_radii: (F, N), A; None: not asked for.
        report: how it was made, with what the verification found.
    """

    _guesses = {"energy": "energies.total", "values": "energies.total", "potential_energy": "energies.total",
                "vdw": "energies.lj", "vdwaals": "energies.lj", "eel": "energies.coulomb", "egb": "energies.gb",
                "esurf": "energies.sa", "surface": "energies.sa", "mean": "energies.statistics().mean",
                "by_residue": "energies.by, of by=\"residue\""}

    def __init__(self, frames: np.ndarray, terms: np.ndarray, report: Dict[str, Any], by: Optional[np.ndarray] = None,
                 labels: Sequence[str] = (), matrix: Optional[np.ndarray] = None, forces: Optional[np.ndarray] = None,
                 born_radii: Optional[np.ndarray] = None, groups: Sequence[str] = ()) -> None:
        self.frames, self.terms, self.report, self.labels = frames, terms, report, list(labels)
        self.by: Union[np.ndarray, Any] = by
        self.matrix: Union[np.ndarray, Any] = matrix
        self.forces: Union[np.ndarray, Any] = forces
        self.born_radii: Union[np.ndarray, Any] = born_radii
        self.groups = list(groups)

    @property
    def lj(self) -> np.ndarray:
        """Lennard-Jones, without pairs 1-4."""
        return self.terms[:, 0]

    @property
    def lj_14(self) -> np.ndarray:
        """Lennard-Jones of pairs 1-4."""
        return self.terms[:, 1]

    @property
    def coulomb(self) -> np.ndarray:
        """Coulomb, without pairs 1-4."""
        return self.terms[:, 2]

    @property
    def coulomb_14(self) -> np.ndarray:
        """Coulomb of pairs 1-4."""
        return self.terms[:, 3]

    @property
    def gb(self) -> np.ndarray:
        """Generalised Born."""
        return self.terms[:, 4]

    @property
    def sa(self) -> np.ndarray:
        """Surface."""
        return self.terms[:, 5]

    @property
    def total(self) -> np.ndarray:
        """The sum of all terms, (F,)."""
        return self.terms.sum(axis=1)

    def statistics(self) -> Estimate:
        """Mean, deviation, standard error by blocks and correlation of lj, lj_14, coulomb, coulomb_14, gb, sa, total: each
        (7,)."""
        return estimate(np.column_stack([self.terms, self.total]))

    def columns(self) -> Dict[str, np.ndarray]:
        """Of the table: frame, terms, total; between groups i and j lj_i_j, ..., which is their interaction."""
        columns = {"frame": self.frames, **dict(zip(TERMS, self.terms.T)), "total": self.total}
        if self.matrix is not None and self.matrix.ndim == 4:
            for i in range(len(self.groups)):
                for j in range(i, len(self.groups)):
                    pair = self.matrix[:, :, i, j] * (1 if i == j else 2)
                    for k, term in enumerate(TERMS):
                        columns[f"{term}_{i + 1}_{j + 1}"] = pair[:, k]
                    columns[f"total_{i + 1}_{j + 1}"] = pair.sum(axis=1)
        return columns

    def save(self, path: Any) -> None:
        """Writes .csv, a row for each frame below names of columns and a comment; or .npz, all arrays by their names here.
        Whole or not at all. Errors: UsageError for other endings, FileError."""
        name = os.fsdecode(file_name(path))
        if name.endswith(".csv"):
            words = [f"group {i + 1}: {group}" for i, group in enumerate(self.groups)]
            write_table(name, self.columns(), [*self.report.get("comment", ()), *words])
        elif name.endswith(".npz"):
            arrays = {key: getattr(self, key) for key in ("frames", "terms", "by", "matrix", "forces", "born_radii")}
            content = io.BytesIO()
            np.savez(content, term_names=np.array(TERMS), labels=np.array(self.labels), groups=np.array(self.groups),
                     **{key: array for key, array in arrays.items() if array is not None})
            write_whole(name, content.getvalue())
        else:
            raise UsageError(f"{name}: a name that ends in .csv or .npz is needed")

    write = to_csv = save

    def save_decomposition(self, path: Any) -> None:
        """Writes a row for each residue, or atom, as CSV: means of its terms, and of its total also deviation and standard error
        by blocks. Errors: UsageError without `by`; FileError."""
        self.save_shares(path, {})

    def save_shares(self, path: Any, more: Dict[str, Any]) -> None:
        """save_decomposition(), with more columns."""
        if self.by is None:
            raise UsageError("there are no shares of residues or atoms: by='residue' asks for them")
        s = estimate(self.by.sum(axis=1))
        of = "residue" if self.report.get("by") == "residue" else "atom"
        columns: Dict[str, Any] = {of: self.labels or np.arange(1, self.by.shape[2] + 1), **more, **dict(zip(TERMS, self.by.mean(axis=0)))}
        columns.update(total=s.mean, total_deviation=s.deviation, total_error=s.error)
        write_table(os.fsdecode(file_name(path)), columns, [
            *self.report.get("comment", ()),
            "means over frames; each of two particles has half of their pair's energy: columns add up to the terms"])

    def save_matrix(self, path: Any) -> None:
        """Writes the matrix between residues, all terms together, as CSV with labels. Errors: UsageError without a matrix;
        FileError."""
        if self.matrix is None or self.matrix.ndim != 3:
            raise UsageError("there is no matrix between residues: matrix=True asks for it")
        columns: Dict[str, Any] = {"residue": self.labels, **dict(zip(self.labels, self.matrix.sum(axis=0).T))}
        write_table(os.fsdecode(file_name(path)), columns, [
            *self.report.get("comment", ()),
            "means over frames; two residues' interaction is twice their element: rows add up to residues' shares"])

    def save_picture(self, path: Any) -> None:
        """Writes plot() as .png, .svg or .pdf. Errors: UsageError for other endings; ImportError without matplotlib; FileError."""
        save_picture(path, lambda figure: self.plot(figure.add_subplot()))

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draws the total over frames by matplotlib, beside its mean; the line. `options`: those of matplotlib's `plot`."""
        if ax is None:
            import matplotlib.pyplot as plt
            ax = plt.figure(layout="constrained").add_subplot()
        line, = ax.plot(self.frames, self.total, **options)
        ax.axhline(self.total.mean(), color=line.get_color(), linewidth=0.8, linestyle="--")
        ax.set_xlabel("frame")
        ax.set_ylabel("energy (kcal/mol)")
        return line

    def __len__(self) -> int:
        return len(self.frames)

    def __repr__(self) -> str:
        has = [f", {self.by.shape[2]} by {self.report.get('by', 'particle')}"] if self.by is not None else []
        mean = f", total {self.total.mean():.6g} kcal/mol on average" if len(self) else ""
        return f"<leyden.Energies: {len(self)} frame{'s' * (len(self) != 1)}{mean}{''.join(has)}>"

    def _repr_html_(self) -> str:
        """For notebooks: means of the terms, and the picture."""
        return terms_html({"": self}, len(self)) + picture_html(self)


def write_table(name: str, columns: Mapping[str, Any], comment: Sequence[str] = ()) -> None:
    """A CSV file: lines of a comment, names, rows. Errors: FileError."""
    def text(value: Any) -> str:
        if isinstance(value, str):
            return f'"{value}"' if "," in value else value
        return f"{value:d}" if isinstance(value, (int, np.integer)) else "" if math.isnan(value) else f"{value:.9g}"

    rows = zip(*columns.values())
    lines = [*(f"# {line}" for line in comment), ",".join(columns), *(",".join(map(text, row)) for row in rows)]
    write_whole(name, ("\n".join(lines) + "\n").encode())


def terms_html(parts: Mapping[str, Energies], frames: int) -> str:
    """A table: a row for each term that is there, a column for each of the parts."""
    found = {name: part.statistics() for name, part in parts.items()}
    rows = [f"<tr><th>kcal/mol, {frames:,} frames</th>{''.join(f'<th>{name}</th>' for name in found)}</tr>"]
    for k, term in enumerate((*TERMS, "total")):
        if any(s.mean[k] != 0 for s in found.values()) or term == "total":
            cells = (f"{s.mean[k]:.4f}" + (f" ± {s.error[k]:.3g}" if s.error[k] >= 0 else "") for s in found.values())
            rows.append(f"<tr><th>{term}</th>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>")
    return f"<table>{''.join(rows)}</table>"


def picture_html(energies: Energies) -> str:
    """Its plot, where matplotlib is installed."""
    picture = png(energies)
    return "" if picture is None else html(picture)


class Energy:
    """Energies of frames of the same particles: what a force field says of pairs, generalised Born and surface.

    E = sum of a_ij / r^12 - b_ij / r^6 + C q_i q_j / (dielectric r) over pairs that are not excluded, with the scaled pairs
    1-4; with `gb` also -C/2 sum_ij (1/dielectric - exp(-kappa f)/solvent_dielectric) q_i q_j / f, f^2 = r^2 + B_i B_j
    exp(-r^2 / (4 B_i B_j)); with `surface` tension times area. docs/energies.md has all formulas.

    >>> energy = leyden.Energy(leyden.Particles.load("complex.prmtop"), gb="obc2")
    >>> energies = energy.run(positions)
    >>> energies.total, energies.gb

    """

    @with_parameters("ley_energy_options")
    def __init__(self, particles: Particles, engine: EngineArgument = None, *, by_particle: bool = False, forces: bool = False,
                 groups: Any = None, **given: Unpack[EnergyKeywords]) -> None:
        """Prepares kernels and buffers.

        Args:
            particles: `Particles`.
            engine: devices, as of `map()`.
            by_particle: energies of each particle, `Energies.by`. forces: `Energies.forces`.
            groups: numbers of the group of each particle, -1 of none, or a list of groups, each an AtomGroup or
            numbers of
                particles: `Energies.matrix`.
        {parameters}

        Errors: UsageError for options that are out of range or do not go together; InputError where particles lack
            what
        options need, as Born radii; those of `map()`.
        """
        if not isinstance(particles, Particles):
            raise UsageError("particles: a leyden.Particles is needed, as leyden.Particles.load(\"complex.prmtop\") is, not "
                             f"{type(particles).__name__}")
        if isinstance(engine, str) and engine == "host":
            raise UsageError("engine: energies are computed by devices, of which 'host' is none: engine=None takes the fastest "
                             "one, which may be the processor by PoCL")
        self.particles, self._engine = particles, engine_of(engine)
        self._options, self._said = options_of(given), 0
        if self._options.born and particles.born_radii is None:
            raise InputError("gb: the particles have no Born radii: leyden.Particles.load() gives topologies some")
        model, own = model_of(self._options), particles.born_model
        if model is not None and own not in (None, "obc2" if model in ("hct", "obc1") else model):
            raise InputError(f"gb={model!r}: the particles' screens are those of {own}: leyden.Particles.load(topology, gb={model!r}) "
                             "gives them those of that")
        if self._options.surface == lib.LEY_SURFACE_LCPO and particles.lcpo_factors is None:
            raise InputError("surface='lcpo': the particles have no factors of LCPO: surface='numerical' needs none, and "
                             "surface=None has no surface")
        self._options.by_particle = switch_of(by_particle, "by_particle")
        self._options.forces = switch_of(forces, "forces")
        if groups is not None:
            kept, self._options.groups = _groups_of(groups, len(particles))
            self._options.group = ffi.from_buffer("int32_t[]", kept)
        self._lock = threading.Lock()  # of what an interrupted call is still at
        self._pointer, box = ffi.NULL, ffi.new("ley_energy **")

        def create(token: _task.Token) -> None:
            with token.holding(self._engine.lock), Status() as status:
                status.check(lib.ley_energy_create(self._engine.pointer, particles.pointer, self._options, box,
                                                   status.pointer))

        _task.call(create)
        self._pointer = box[0]
        self._engine.plans.add(self)

    def close(self) -> None:
        """Frees what it has on devices."""
        pointer, self._pointer = self._pointer, ffi.NULL

        def destroy() -> None:
            with self._lock:
                lib.ley_energy_destroy(pointer)

        if pointer != ffi.NULL and (self._lock.locked() or self._engine.lock.locked()):  # by what an interrupted call is still at
            _task.let_go(destroy)
        elif pointer != ffi.NULL:
            destroy()

    def __enter__(self) -> "Energy":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_pointer", ffi.NULL) != ffi.NULL:
            self.close()

    def _open_pointer(self) -> Any:
        if self._pointer == ffi.NULL:
            raise UsageError("this energy is closed, as its engine may be")
        return self._pointer

    def _results(self, frames: int, born_radii: bool) -> Tuple[Any, Dict[str, np.ndarray]]:
        count, groups = len(self.particles), int(self._options.groups)
        arrays = {"terms": np.full((frames, len(TERMS)), np.nan)}
        if self._options.by_particle:
            arrays["by_particle"] = np.full((frames, len(TERMS), count), np.nan)
        if groups:
            arrays["matrix"] = np.full((frames, len(TERMS), groups, groups), np.nan)
        if self._options.forces:
            arrays["forces"] = np.full((frames, count, 3), np.nan, np.float32)
        if born_radii:
            arrays["born_radii"] = np.full((frames, count), np.nan)
        results = ffi.new("ley_energy_results *", {"size": ffi.sizeof("ley_energy_results")})
        for name, array in arrays.items():
            setattr(results, name, ffi.cast("float *", array.ctypes.data) if name == "forces" else pointer_to(array))
        return results, arrays

    def frames_at_once(self) -> int:
        """Of which results fit into 256 MiB."""
        count, groups = len(self.particles), int(self._options.groups)
        values = len(TERMS) * (1 + count * bool(self._options.by_particle) + groups ** 2) + 2 * count
        return max(1, _LARGEST_BYTES // (8 * values))

    def arrays(self, positions: np.ndarray, cells: Optional[np.ndarray] = None, born_radii: bool = False) -> Dict[str, np.ndarray]:
        """What run() returns, by names of ley_energy_results, of (F, N, 3) float32 and (F, 3, 3) float64."""
        pointer, positions = self._open_pointer(), np.ascontiguousarray(positions, np.float32)
        results, arrays = self._results(len(positions), born_radii)
        cell = ffi.NULL if cells is None else pointer_to(cells)

        def work(token: _task.Token) -> None:
            with token.holding(self._engine.lock), self._lock, Status() as status:
                status.check(lib.ley_energy_run(pointer, len(positions), ffi.from_buffer("float[]", positions), cell,
                                                results, status.pointer))

        before = self.report["frames"]
        try:
            _task.call(work)
        except KeyboardInterrupt:
            lib.ley_energy_cancel(pointer)
            raise
        except InputError as error:  # the library counts frames of all runs, from 1
            raise InputError(re.sub(r"^frame (\d+)", lambda number: f"positions[{int(number[1]) - before - 1}]", error.message)) from None
        return arrays

    def warn(self, stacklevel: int) -> None:
        """DeviceWarning of devices that have failed since it was said."""
        report = self.report
        if report["failed"] > self._said:
            self._said = report["failed"]
            warnings.warn(failure_line(report), DeviceWarning, stacklevel=stacklevel + 1)

    def run(self, positions: Any, cells: Any = None, born_radii: bool = False) -> Energies:
        """Energies of frames.

        Args:
            positions: (F, N, 3), or (N, 3) of one frame, A; computed with as float32.
            cells: of all frames, as of `map()`, three lengths (A), with three angles (degrees), as `ts.dimensions` has them, or
                vectors (3, 3); or of each frame, (F, 6) or (F, 3, 3); None: nothing is periodic.
            born_radii: effective radii as well, `Energies.born_radii`.

        Errors: InputError for a position that is no number and for a cell narrower than twice the cutoff; WrongResult
        where a frame fails its verification; UsageError. Ctrl-C raises KeyboardInterrupt.
        """
        if hasattr(positions, "positions"):
            raise UsageError("positions: an array is needed, as the .positions of atoms are; their cell is "
                             "cells=universe.trajectory.ts.dimensions")
        positions = numbers(positions, "positions", np.float32)
        positions = positions[None] if positions.ndim == 2 else positions
        if positions.ndim != 3 or positions.shape[1:] != (len(self.particles), 3):
            raise InputError(f"positions has the shape {positions.shape}, and there are {len(self.particles)} particles: "
                             f"(F, {len(self.particles)}, 3) is needed")
        if len(positions) == 0:
            raise InputError("positions: there is no frame")
        if cells is not None:
            cells = cells_of_frames(cells, len(positions))
        found = self.arrays(positions, cells, switch_of(born_radii, "born_radii"))
        self.warn(2)
        groups = [f"group {i + 1}" for i in range(self._options.groups)]
        return Energies(np.arange(len(positions)), found["terms"], self.report, found.get("by_particle"), [],
                        found.get("matrix"), found.get("forces"), found.get("born_radii"), groups)

    @property
    def report(self) -> Dict[str, Any]:
        """Of all runs: frames, checked_frames, energy_error (largest deviation of a checked particle's energy, as a share
        of its absolute terms), force_error, mesh, device, ..."""
        totals = ffi.new("ley_energy_totals *")
        lib.ley_energy_get_totals(self._open_pointer(), totals)
        found: Dict[str, Any] = {}
        for name, of in ffi.typeof("ley_energy_totals").fields:
            value = getattr(totals, name)
            found[name] = text_of(value) if of.type.cname.startswith("char") else \
                list(value) if of.type.kind == "array" else value
        return found

    def __repr__(self) -> str:
        names = {"gb": model_of(self._options)} if self._options.born else {}
        names["coulomb"] = PARAMETERS["coulomb"].choices[self._options.coulomb]
        return f"<leyden.Energy: {len(self.particles)} particles, {', '.join(f'{key} {word}' for key, word in names.items())}>"


def failure_line(report: Mapping[str, Any]) -> str:
    """Which device failed, why, and who computed the rest."""
    more = f" ({report['failed']} devices failed)" if report["failed"] > 1 else ""
    rest = f"the host computed {report['host_frames']:,} of {report['frames']:,} frames" if report["host_frames"] else \
        "others computed its frames"
    return f"{report['failure']}{more}: {rest}"


def comment_of(options: Any, report: Mapping[str, Any]) -> List[str]:
    """What a table says of what is computed."""
    o = options
    line = f"leyden: kcal/mol; Coulomb constant {o.coulomb_constant:.10g} kcal/mol A/e^2, dielectric {o.dielectric:.6g}, " \
           f"Lennard-Jones {PARAMETERS['lj'].choices[o.lennard_jones]}, Coulomb {PARAMETERS['coulomb'].choices[o.coulomb]}"
    line += f", cutoff {o.cutoff_A:.6g} A" if o.cutoff_A > 0 else ", no cutoff"
    line += f", switch at {o.switch_A:.6g} A" if o.switch_A > 0 else ""
    lines = [line]
    if o.born:
        lines.append(f"gb {model_of(o)}, solvent dielectric {o.solvent_dielectric:.6g}, salt {o.salt_M:.6g} M at "
                     f"{o.temperature_K:.6g} K" + (f", cutoff {o.born_cutoff_A:.6g} A" if o.born_cutoff_A > 0 else ""))
    if o.surface:
        lines.append(f"sa {PARAMETERS['surface'].choices[o.surface]}, {o.tension:.6g} kcal/mol/A^2, offset {o.offset:.6g} kcal/mol")
    return [*lines, *report["remarks"], *(failure_line(part) for part in report["parts"] if part["failed"])]
