"""leyden.mmgbsa(): binding energies by the frames of one trajectory of the complex."""
from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Optional

import numpy as np

from ._blocks import estimate
from ._c import lib
from ._energy import PARAMETERS, Energies, Energy, comment_of, model_of, options_of, picture_html, terms_html, write_table
from ._energy_frames import (Checkpoint, Gathered, Part, Way, gather, kept_of, names_of, open_trajectory, report_of, residues_of,
                             energy_source_of)
from ._energy_run import by_of, frames_of, pairs_of, remarks_of
from ._engine import EngineArgument, engine_of
from ._errors import UsageError, file_name, switch_of, text_of
from ._files import write_whole
from ._frames import selected
from ._guesses import Guessed
from ._parameters import with_parameters
from ._particles import Particles
from ._picture import draw_binding, save_picture
from ._progress import FramesProgressArgument, FrameWatcher

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import MmgbsaKeywords

PARTS = ("complex", "receptor", "ligand")
# Rows of MMPBSA.py's tables, by terms; those of differences have no pairs 1-4, which cancel.
_ROWS = {"VDWAALS": (0,), "EEL": (2,), "1-4 VDW": (1,), "1-4 EEL": (3,), "EGB": (4,), "ESURF": (5,)}
_SUMS = {"G gas": (0, 1, 2, 3), "G solv": (4, 5), "TOTAL": (0, 1, 2, 3, 4, 5)}
_LINE = 79 * "-"


class Binding(Guessed):
    """Energies of complex, receptor and ligand over frames, and differences: what `leyden.mmgbsa()` returns.

    Attributes:
        complex, receptor, ligand: `Energies` of each. delta: complex - receptor - ligand, `Energies`: `delta.total` (F,),
            `delta.statistics()`; `delta.by` (F, 6, R) of each residue (or atom) of the complex, `delta.labels` in words, and
            `delta.matrix` (6, R, R), where they were asked for. Sums of either over residues are the terms of delta.
        is_ligand: which of the residues, or atoms, are the ligand's, (R,); empty without `by` and `matrix`.
        report: how it was made.
    """

    _guesses = {"total": "binding.delta.total", "dG": "binding.delta.total", "mean": "binding.delta.statistics().mean",
                "error": "binding.delta.statistics().error", "statistics": "binding.delta.statistics()",
                "by": "binding.delta.by", "matrix": "binding.delta.matrix", "table": 'binding.save_table("FINAL_RESULTS.dat")',
                "decomposition": "binding.delta.by"}

    def __init__(self, parts: Dict[str, Energies], delta: Energies, is_ligand: np.ndarray, report: Dict[str, Any]) -> None:
        self.complex, self.receptor, self.ligand = (parts[name] for name in PARTS)
        self.delta, self.is_ligand, self.report = delta, is_ligand, report

    def save(self, path: Any) -> None:
        """Writes a row for each frame as CSV: complex_lj, ..., delta_total. Errors: FileError."""
        columns: Dict[str, np.ndarray] = {"frame": self.delta.frames}
        for name in (*PARTS, "delta"):
            columns.update({f"{name}_{key}": values for key, values in getattr(self, name).columns().items() if key != "frame"})
        write_table(os.fsdecode(file_name(path)), columns, self.report["comment"])

    write = to_csv = save

    def save_table(self, path: Any) -> None:
        """Writes a text laid out as MMPBSA.py's FINAL_RESULTS_MMPBSA.dat: average, deviation, standard error. FileError."""
        write_whole(os.fsdecode(file_name(path)), (self.text() + "\n").encode())

    def text(self) -> str:
        """The table that save_table() writes."""
        r = self.report
        lines = [f"| leyden {text_of(lib.ley_version())}: MM/GBSA, single trajectory"]
        lines += [f"| Complex topology file:         {os.path.basename(r['topology'])}"]
        lines += [f"| Trajectory:                    {os.path.basename(name)}" for name in r["files"]]
        for name in PARTS[1:]:
            lines.append(f"| {name.capitalize() + ':':<30} {r[f'{name}_words']}, {r[f'{name}_atoms']:,} atoms")
        lines += ["|", f"| Calculations performed using {r['frames']} complex frames."]
        lines += [f"| {line}" for line in r["comment"]] + ["|", f"| {correlation_line(self.delta)}"]
        lines += ["| All units are reported in kcal/mol. Terms of bonds, angles and torsions, which cancel, are left out."]
        lines += [_LINE, _LINE, "", "GENERALIZED BORN:" if r["gb"] else "GAS PHASE:", ""]
        for name in PARTS:
            lines += [f"{name.capitalize()}:", *_table_of(getattr(self, name), False), ""]
        lines += ["", "Differences (Complex - Receptor - Ligand):", *_table_of(self.delta, True), "", _LINE, _LINE]
        return "\n".join(lines)

    def save_decomposition(self, path: Any) -> None:
        """Writes a row for each residue, or atom, as CSV: its share of delta, with deviation and standard error by blocks.
        Errors: UsageError without `by`; FileError."""
        self.delta.save_shares(path, {"part": np.where(self.is_ligand, "ligand", "receptor").tolist()})

    def save_matrix(self, path: Any) -> None:
        """Writes `delta.matrix`, all terms together, as CSV with labels. Errors: UsageError without a matrix; FileError."""
        self.delta.save_matrix(path)

    def save_picture(self, path: Any) -> None:
        """Writes plot() as .png, .svg or .pdf. Errors: UsageError for other endings; ImportError without matplotlib; FileError."""
        save_picture(path, self.plot, (9, 4 if self.delta.by is None else 8))

    def plot(self, figure: Any = None) -> Any:
        """Draws by matplotlib: delta over frames with its mean, its terms, and of `by` the largest contributions; the figure."""
        s = self.delta.statistics()
        shares = None
        if self.delta.by is not None:
            total = self.delta.by.sum(axis=1)
            shares = (self.delta.labels, total.mean(axis=0), self.is_ligand)
        names = {"VDWAALS": 0, "EEL": 2, "EGB": 4, "ESURF": 5, "TOTAL": 6}
        rows = [(name, s.mean[k], s.error[k]) for name, k in names.items()]
        return draw_binding(figure, self.delta.frames, self.delta.total, rows, shares, self.report["title"])

    def __repr__(self) -> str:
        s = self.delta.statistics()
        return f"<leyden.Binding: {len(self.delta)} frames, {s.mean[6]:.4g} +- {s.error[6]:.2g} kcal/mol>"

    def _repr_html_(self) -> str:
        """For notebooks: means of complex, receptor, ligand and delta, and the picture of delta."""
        return terms_html({name: getattr(self, name) for name in (*PARTS, "delta")}, len(self.delta)) + picture_html(self.delta)


def correlation_line(delta: Energies) -> str:
    """How well the mean of the total is known."""
    s = delta.statistics()
    if len(delta) < 2:
        return "Std. Err. of Mean: of one frame there is none."
    text = f"Std. Err. of Mean by blocks: frames of the total are correlated over {s.correlation[6]:.3g}, and " \
           f"{len(delta):,} are worth {len(delta) / s.correlation[6]:.4g} independent ones."
    return text if s.is_settled[6] else f"{text} These are few: the error may be larger."


def _table_of(energies: Energies, is_delta: bool) -> List[str]:
    head = f"{'Energy Component':<20}{'Average':>15}{'Std. Dev.':>23}{'Std. Err. of Mean':>20}"
    values = {name: energies.terms[:, list(terms)].sum(axis=1) for name, terms in {**_ROWS, **_SUMS}.items()}
    if is_delta:
        values = {name if name in _ROWS else f"DELTA {name}": value for name, value in values.items() if "1-4" not in name}
    lines = [head, _LINE]
    for name, value in values.items():
        s = estimate(value)
        lines += [""] if name.endswith(("G gas", "TOTAL")) else []
        lines.append(f"{name:<20}{s.mean:>15.4f}{s.deviation:>23.4f}{s.error:>20.4f}")
    return lines


# ---- The function --------------------------------------------------------------------------------


def _sides(universe: Any, words: Dict[str, Any], index: np.ndarray, stripped: str) -> Dict[str, np.ndarray]:
    """Which of the kept atoms are whose: (N,) of each. Errors: UsageError."""
    kept = np.zeros(len(universe.atoms), bool)
    kept[index] = True
    masks = {}
    for name, given in words.items():
        masks[name] = np.zeros(len(kept), bool)
        masks[name][np.asarray(selected(universe, given, name).indices)] = True
        if not np.any(masks[name] & kept):
            raise UsageError(f"{name} {given!r:.60}: all of its atoms are left out ({stripped})")
    both = masks["receptor"] & masks["ligand"] & kept
    if np.any(both):
        apart = f": each atom is of one of them, as receptor=\"({words['receptor']}) and not ({words['ligand']})\"" \
            if isinstance(words["receptor"], str) and isinstance(words["ligand"], str) else ""
        raise UsageError(f"receptor and ligand overlap in {np.count_nonzero(both):,} atoms, {names_of(universe.atoms[both])}{apart}")
    neither = kept & ~masks["receptor"] & ~masks["ligand"]
    if np.any(neither):
        names = names_of(universe.atoms[neither])
        left = np.unique(universe.atoms[neither | ~kept].residues.resnames) if hasattr(universe.atoms, "resnames") else ["X"]
        raise UsageError(f"{np.count_nonzero(neither):,} atoms are in neither receptor nor ligand, {names}: name them in one of the "
                         f"selections, or leave them out, strip=\"resname {' '.join(left)}\"")
    return {name: mask[index] for name, mask in masks.items()}


def _check_bonds(particles: Particles, is_ligand: np.ndarray) -> None:
    pairs = pairs_of(particles)
    across = pairs[is_ligand[pairs[:, 0]] != is_ligand[pairs[:, 1]]]
    if len(across):
        first, second = across[0].tolist()
        raise UsageError(f"receptor and ligand are bonded (atoms {first + 1} and {second + 1} of the complex are at most three "
                         "bonds apart): whole molecules are needed; leyden.energy(groups=...) has energies between parts of one")


def _delta(parts: Dict[str, Energies], sides: Dict[str, np.ndarray], owners: Optional[np.ndarray], count: int,
           report: Dict[str, Any], labels: List[str]) -> Energies:
    """complex - receptor - ligand; `owners`: of each of the complex's particles its residue, or itself."""
    terms = parts["complex"].terms - parts["receptor"].terms - parts["ligand"].terms
    by = None if parts["complex"].by is None else parts["complex"].by.copy()
    matrix = None if parts["complex"].matrix is None else parts["complex"].matrix.copy()
    for name in PARTS[1:]:
        if owners is None:
            break
        own = np.unique(owners[sides[name]])
        assert len(own) <= count
        if by is not None:
            by[:, :, own] -= parts[name].by
        if matrix is not None:
            matrix[:, own[:, None], own[None]] -= parts[name].matrix
    return Energies(parts["complex"].frames, terms, report, by, labels, matrix)


@with_parameters("ley_energy_options")
def mmgbsa(topology: Any, *trajectories: Any, receptor: Any, ligand: Any, parameters: Any = (), strip: Any = None,
           by: Optional[Literal["residue", "atom"]] = None, matrix: bool = False, cell: Any = None, whole: bool = True,
           start: Optional[int] = None, stop: Optional[int] = None, step: Optional[int] = None, skip_bad: bool = False,
           readers: Optional[int] = None, checkpoint: Any = None, checkpoint_s: float = 5.0, engine: EngineArgument = None,
           progress: FramesProgressArgument = None, ranks: Any = None, gb: Optional[Literal["none", "hct", "obc1", "obc2", "gbn", "gbn2"]] = "obc2",
           surface: Optional[Literal["none", "lcpo", "numerical"]] = "lcpo", **given: Unpack[MmgbsaKeywords]) -> Binding:
    """MM/GBSA: the energy of binding, by a trajectory of the complex.

    delta E = E(complex) - E(receptor) - E(ligand) in each frame, of the same positions, with E of `Energy`; its mean
    over frames, without entropy. By default generalised Born energies are OBC2's (igb 5), surfaces LCPO's at 0.0072
    kcal/mol/A^2, as of MMPBSA.py; docs/mmgbsa.md compares the two.

    >>> binding = leyden.mmgbsa("complex.prmtop", "run.nc", receptor="protein", ligand="resname LIG", strip=True)
    >>> binding.delta.total.mean()
    >>> binding.save_table("FINAL_RESULTS.dat")

    Args:
        topology, trajectories: as of `energy()`, of the complex.
        receptor, ligand: selections in MDAnalysis's language, or AtomGroups: together all atoms that are not left
            out.
        strip: what is left out: True: water and ions of one charge; words or an AtomGroup; False: solvent counts as
            solute; None: solvent is refused.
        by: "residue" or "atom": shares of each in delta. matrix: of pairs of residues, the mean over frames.
        parameters, cell, whole, start, stop, step, skip_bad, readers, checkpoint, checkpoint_s, engine, progress,
            ranks: as of `energy()`.
        gb, surface: as of `energy()`, but for their defaults; None: none.
        {parameters}

    Errors: UsageError for selections that are empty, overlap or leave atoms out, and where receptor and ligand are
    bonded; those of `energy()`.
    """
    given.update({name: PARAMETERS[name].checked("none" if word is None else word)  # type: ignore[typeddict-item]
                  for name, word in (("gb", gb), ("surface", surface))})
    asked, by, matrix = options_of(given), by_of(by, matrix), switch_of(matrix, "matrix")
    particles, universe, topology_name = open_trajectory(topology, parameters, trajectories, model_of(asked))
    way = Way.of(universe, False, asked, cell, switch_of(whole, "whole"))
    kept = kept_of(universe, strip, True, "generalised Born energies stand for it")
    sides = _sides(universe, {"receptor": receptor, "ligand": ligand}, kept.index, kept.stripped)
    whole_particles = particles if len(kept.index) == len(particles) else particles.subset(kept.index)
    _check_bonds(whole_particles, sides["ligand"])
    frames = frames_of(universe, kept.index, way, start, stop, step, skip_bad, readers)
    facts = {"strip": kept.stripped, "by": by, "matrix": matrix, "whole": way.whole, "cell": str(cell),
             **{f"{name}_atoms": int(np.count_nonzero(mask)) for name, mask in sides.items()},
             **{f"{name}_words": words if isinstance(words, str) else "an AtomGroup"
                for name, words in (("receptor", receptor), ("ligand", ligand))},
             "ligand_sum": int(np.flatnonzero(sides["ligand"]).sum())}
    saved = None if checkpoint is None else Checkpoint(
        checkpoint, energy_source_of(frames, topology_name, whole_particles, asked, facts), checkpoint_s)
    watcher, opened, made = FrameWatcher(progress), engine_of(engine), []
    with contextlib.ExitStack() as stack:
        for name in PARTS:
            index = None if name == "complex" else np.flatnonzero(sides[name])
            of = whole_particles if index is None else whole_particles.subset(index)
            groups = residues_of(of)[0] if matrix else None
            energy = stack.enter_context(Energy(of, opened, by_particle=by is not None, groups=groups, **given))
            made.append(Part(name, energy, index, by, matrix))
        gathered = gather(frames, made, way, pairs_of(whole_particles), saved, watcher, ranks)
        for part in made:
            part.energy.warn(3)
        report: Dict[str, Any] = {**report_of(frames, gathered, watcher, made), **facts, "topology": topology_name,
                                  "gb": model_of(asked)}
    report["remarks"] = remarks_of(report, asked)
    report["comment"] = comment_of(asked, report)
    report["title"] = f"{os.path.basename(topology_name)}: {report['frames']} frames"
    return _binding(gathered, made, whole_particles, sides, report)


def _binding(gathered: Gathered, made: List[Part], particles: Particles, sides: Dict[str, np.ndarray],
             report: Dict[str, Any]) -> Binding:
    frames = gathered.frames
    by, labels, owners = report["by"], made[0].labels, None
    if by == "residue" or (by is None and report["matrix"]):
        owners, labels = residues_of(particles)
    elif by == "atom":
        owners = np.arange(len(particles), dtype=np.int32)
    is_ligand = np.zeros(0, bool)
    if owners is not None:
        is_ligand = np.zeros(len(labels), bool)
        is_ligand[owners[sides["ligand"]]] = True
    parts = {}
    for part in made:
        parts[part.name] = Energies(frames, gathered.get(part.name, "terms"), report, gathered.get(part.name, "by"), part.labels,
                                    gathered.get(part.name, "matrix"))
    delta = _delta(parts, sides, owners, len(labels), report, labels)
    return Binding(parts, delta, is_ligand, report)
