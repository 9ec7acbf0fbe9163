"""leyden.energy(): energies of the frames of a trajectory."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Literal, Optional, Sequence

import numpy as np

from ._energy import Energies, Energy, comment_of, model_of, options_of
from ._energy_frames import Checkpoint, Part, Way, energy_source_of, gather, kept_of, open_trajectory, report_of, residues_of
from ._engine import EngineArgument
from ._errors import UsageError, switch_of
from ._frames import Frames, selected
from ._parameters import did_you_mean, with_parameters
from ._particles import Particles
from ._progress import FramesProgressArgument, FrameWatcher

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import EnergyKeywords

BY = ("residue", "atom")


def by_of(by: Any, matrix: Any) -> Any:
    """None, "residue" or "atom"."""
    if by is not None and by not in BY:
        raise UsageError(f"by: {by!r} is none of {', '.join(BY)}{did_you_mean(by, BY)}")
    if by == "atom" and matrix:
        raise UsageError("matrix is of pairs of residues: by='residue' goes with it, and by='atom' does not")
    return by


def pairs_of(particles: Particles) -> np.ndarray:
    """Particles that are at most three bonds apart, (P, 2)."""
    found = [np.asarray(pairs).reshape(-1, 2) for pairs in (particles.exclusion, particles.pair_14)]
    return np.concatenate(found).astype(np.int64)


def frames_of(universe: Any, index: np.ndarray, way: Way, start: Optional[int], stop: Optional[int], step: Optional[int],
              skip_bad: bool, readers: Optional[int]) -> Frames:
    """Of these atoms; without cells where nothing needs them."""
    cell = np.eye(3) if not way.has_cells or (way.is_open and not way.whole) else way.cell
    group = universe.atoms if len(index) == len(universe.atoms) else universe.atoms[index]
    return Frames(universe, select=group, start=start, stop=stop, step=step, cell=cell,
                  skip_bad=switch_of(skip_bad, "skip_bad"), readers=readers)


def _groups_in(universe: Any, groups: Any, index: np.ndarray) -> Any:
    """Numbers of kept atoms, and a word, for each of the groups."""
    if isinstance(groups, (str, bytes)) or not isinstance(groups, Sequence) or len(groups) == 0:
        raise UsageError("groups: a list of selections is needed, as [\"protein\", \"resname LIG\"]")
    place = np.full(len(universe.atoms), -1)
    place[index] = np.arange(len(index))
    owner = np.full(len(universe.atoms), -1)
    found, words = [], []  # type: List[np.ndarray], List[str]
    for k, group in enumerate(groups):
        atoms = np.asarray(selected(universe, group, "groups").indices)
        word = group if isinstance(group, str) else f"{len(atoms)} atoms, group {k + 1}"
        if np.any(place[atoms] < 0):
            raise UsageError(f"groups: {word!r:.60} has atoms that are left out")
        twice = atoms[owner[atoms] >= 0]
        if len(twice):
            other = words[owner[twice[0]]]
            raise UsageError(f"groups: {other!r:.60} and {word!r:.60} overlap in {len(twice):,} atoms, and each belongs to one group: "
                             f"'({word}) and not ({other})', say, is what is left of the second one")
        owner[atoms] = k
        found.append(place[atoms])
        words.append(word)
    return found, words


@with_parameters("ley_energy_options", elsewhere={"forces": "they are leyden.Energy(particles, forces=True).run(positions).forces"})
def energy(topology: Any, *trajectories: Any, parameters: Any = (), strip: Any = None, groups: Any = None,
           by: Optional[Literal["residue", "atom"]] = None, matrix: bool = False, periodic: Optional[bool] = None,
           cell: Any = None, whole: bool = True, start: Optional[int] = None, stop: Optional[int] = None,
           step: Optional[int] = None, skip_bad: bool = False, readers: Optional[int] = None, checkpoint: Any = None,
           checkpoint_s: float = 5.0, engine: EngineArgument = None, progress: FramesProgressArgument = None,
           ranks: Any = None, **given: Unpack[EnergyKeywords]) -> Energies:
    """Energies of the frames of a trajectory, kcal/mol: Lennard-Jones, Coulomb, generalised Born and surface.

    `Energy` has the equation. Terms of bonds, angles and torsions are not computed.

    >>> energies = leyden.energy("complex.prmtop", "run.nc", gb="obc2", by="residue")
    >>> energies.total.mean(), energies.by.mean(axis=0)

    Args:
        topology: `Particles`, or the name of what `Particles.load()` reads, with Born radii and screens of `gb`.
        trajectories: names of one or several, as MDAnalysis reads them; or a Universe; or positions, (F, N, 3), A.
        parameters: files that a PSF needs: .prm, .rtf, .str.
        strip: what is left out: words of MDAnalysis's language or an AtomGroup; True: water and ions of one charge;
            None: nothing, and solvent in open space is refused; False: nothing, and solvent counts as solute.
        groups: selections, `Energies.matrix` (F, 6, G, G) of energies between them.
        by: "residue" or "atom": `Energies.by` (F, 6, R).
        matrix: `Energies.matrix` (6, R, R) between residues, the mean over frames.
        periodic: True: in each frame's cell; False: open space; None: in cells where there are some, and "pme" or a
            cutoff.
        cell: of all frames, in place of their own, as of `map()`.
        whole: molecules that a cell has broken are made whole in open space, by exclusions and pairs 1-4, and put
            next to each other as in the first frame.
        start, stop, step, skip_bad, readers, progress: as of `average()`.
        checkpoint: a file of all rows, written every `checkpoint_s` seconds, where a run is interrupted and at its
            end, from which it goes on where that is there: the result has the same bytes.
        engine: devices, as of `map()`.
        ranks: a communicator of mpi4py, as of `average()`; without a checkpoint.
        {parameters}

    Ctrl-C raises KeyboardInterrupt.

    Errors: UsageError; InputError for a topology and a trajectory of different numbers of atoms, frames that cannot
    be used, with number and file, and what particles lack; FileError; ImportError where MDAnalysis is missing;
    WrongResult; DeviceError, OutOfMemoryError.
    """
    asked = options_of(given)
    by = by_of(by, matrix)
    if groups is not None and switch_of(matrix, "matrix"):
        raise UsageError("groups and matrix exclude each other: both make a matrix, of groups or of residues")
    particles, universe, name = open_trajectory(topology, parameters, trajectories, model_of(asked))
    way = Way.of(universe, periodic, asked, cell, switch_of(whole, "whole"))
    kept = kept_of(universe, strip, way.is_open, "generalised Born energies stand for it" if asked.born else
                   "sums in open space take none of its images; coulomb='pme' or a cutoff sum in cells")
    if len(kept.index) < len(particles):
        particles = particles.subset(kept.index)
    found, words = (None, []) if groups is None else _groups_in(universe, groups, kept.index)
    number = found if not matrix else residues_of(particles)[0]
    frames = frames_of(universe, kept.index, way, start, stop, step, skip_bad, readers)
    facts = {"strip": kept.stripped, "by": by, "matrix": matrix, "groups": words, "periodic": not way.is_open,
             "whole": way.whole, "cell": str(cell)}
    saved = None if checkpoint is None else Checkpoint(checkpoint, energy_source_of(frames, name, particles, asked, facts), checkpoint_s)
    watcher = FrameWatcher(progress)
    with Energy(particles, engine, by_particle=by is not None, groups=number, **given) as made:
        part = Part("all", made, None, by, matrix)
        gathered = gather(frames, [part], way, pairs_of(particles), saved, watcher, ranks)
        made.warn(3)
        report: Dict[str, Any] = {**report_of(frames, gathered, watcher, [part]), **facts, "topology": name}
    report["remarks"] = remarks_of(report, asked)
    report["comment"] = comment_of(asked, report)
    labels = residues_of(particles)[1] if matrix else part.labels
    return Energies(gathered.frames, gathered.get("all", "terms"), report, gathered.get("all", "by"),
                    labels, gathered.get("all", "matrix"), groups=words)


def remarks_of(report: Dict[str, Any], asked: Any) -> List[str]:
    """Lines on what was done to frames, and on numbers that are in other units, as it seems."""
    lines = [f"a cutoff of {cutoff:g} A is less than most atoms are apart that are not bonded: 1 nm is 10 A"
             for cutoff in {asked.cutoff_A, asked.born_cutoff_A} if 0 < cutoff < 3]
    if not 300 < asked.coulomb_constant < 360:
        lines.append(f"Coulomb's constant is {asked.coulomb_constant:g} here, and 332 in kcal/mol A/e^2")
    lines += [f"left out: {report['strip']}"] if report["strip"] else []
    if report["made_whole"]:
        lines.append(f"molecules were broken by the cell in {report['made_whole']:,} of {report['frames']:,} frames, and were made "
                     "whole")
    if report["skipped"]:
        lines.append(f"frames that could not be used: {report['skipped']:,}")
    return lines
