"""python -m leyden energy: energies of the frames of a trajectory, MM/GBSA, as tables."""
from __future__ import annotations

import argparse
import os
import re
import signal
import sys
import warnings
from typing import Any, Dict, List, Optional, Union

import numpy as np

from ._average import check_outputs
from ._average_command import _cell
from ._energy import CONSTANTS, COULOMB, GB, LENNARD_JONES, SURFACES, TERMS, Energies
from ._energy_run import BY, energy
from ._errors import Error, UsageError
from ._mmgbsa import Binding, correlation_line, mmgbsa, save_matrix, save_shares
from ._particles import Particles

_DESCRIPTION = """Energies of the frames of a trajectory, kcal/mol: Lennard-Jones and Coulomb with their pairs 1-4, generalised
Born and surface, as columns frame, lj, lj_14, coulomb, coulomb_14, gb, sa, total. With --mmgbsa those of a complex, of its
receptor and its ligand, and differences (docs/mmgbsa.md)."""


# What MMPBSA.py and gmx_MMPBSA call it.
MEANT = {"i": "options of their own, docs/mmgbsa.md lists them", "cp": "TOPOLOGY, the first word", "sp": "TOPOLOGY, with --strip",
         "rp": "RECEPTOR of --mmgbsa, a selection", "lp": "LIGAND of --mmgbsa, a selection", "y": "TRAJECTORY, the second word",
         "ct": "TRAJECTORY, the second word", "cg": "--mmgbsa RECEPTOR LIGAND, selections", "do": "--by residue",
         "igb": "--gb, 5 being obc2", "saltcon": "--salt, 0.5329 of saltcon", "surften": "--tension", "intdiel": "--dielectric",
         "extdiel": "--solvent-dielectric", "startframe": "--start, from 0", "endframe": "--stop", "interval": "--step",
         "strip_mask": "--leave-out", "idecomp": "--by residue and --matrix", "gbsa": "--surface"}
MEANT_CHOICES = {**{word: "energy TOPOLOGY TRAJECTORY --mmgbsa RECEPTOR LIGAND -o FILE.csv" for word in ("mmgbsa", "mmpbsa", "gbsa")},
                 "1": "hct, which is igb=1", "2": "obc1, which is igb=2", "5": "obc2, which is igb=5", "7": "gbn, which is igb=7",
                 "8": "gbn2, which is igb=8", "ewald": "pme", "sasa": "lcpo or numerical"}


def add_to(commands: Any) -> None:
    """The sub-command."""
    of = commands.add_parser("energy", help="energies of the frames of a trajectory, MM/GBSA", description=_DESCRIPTION,
                             usage="python -m leyden energy TOPOLOGY TRAJECTORY ... -o FILE [options]")
    of.add_argument("topology", metavar="TOPOLOGY", help="with a force field: .prmtop, .top, .npz, ... (.psf with --parameters)")
    of.add_argument("trajectories", metavar="TRAJECTORY", nargs="+", help=".nc, .dcd, .xtc, .trr, ..., one after the other")
    of.add_argument("-o", "--output", required=True, metavar="FILE",
                    help="the table, a row for each frame: .csv; other tables are beside it")
    of.add_argument("--parameters", nargs="+", metavar="FILE", help="CHARMM's parameters of a .psf: .prm, .rtf, .str")
    what = of.add_argument_group("what is computed")
    what.add_argument("--mmgbsa", nargs=2, metavar=("RECEPTOR", "LIGAND"),
                      help="MM/GBSA of these selections, in MDAnalysis's language; --gb obc2 --surface lcpo, unless others are given")
    what.add_argument("--groups", nargs="+", metavar="WORDS", help="energies between these selections as well, as more columns")
    what.add_argument("--by", choices=BY, help="shares of each residue or atom, in OUTPUT_residues.csv or OUTPUT_atoms.csv")
    what.add_argument("--matrix", action="store_true", help="energies between residues, in OUTPUT_matrix.csv")
    what.add_argument("--table", metavar="FILE", help="of --mmgbsa: a text laid out as MMPBSA.py's FINAL_RESULTS_MMPBSA.dat")
    what.add_argument("--picture", metavar="FILE", help=".png, .svg or .pdf, by matplotlib")
    out = what.add_mutually_exclusive_group()
    out.add_argument("--strip", action="store_true", help="leave out water and ions of one charge")
    out.add_argument("--leave-out", metavar="WORDS", help="leave out what the words select")
    out.add_argument("--no-strip", action="store_true", help="water and ions count as solute")
    for name, text in ("start", "first frame, from 0"), ("stop", "the frame before which it ends"), ("step", "frames"):
        what.add_argument(f"--{name}", type=int, metavar="N", help=text)
    what.add_argument("--skip-bad", action="store_true", help="frames that cannot be used are left out and counted")
    field = of.add_argument_group("energies")
    field.add_argument("--gb", choices=(*GB, "none"), help="generalised Born: Amber's igb 1, 2, 5, 7, 8 (default: none)")
    field.add_argument("--salt", type=float, metavar="M", help="monovalent ions, mol/l (default: 0)")
    field.add_argument("--surface", choices=(*SURFACES, "none"), help="of its area's energy (default: none)")
    field.add_argument("--tension", type=float, metavar="T", help="kcal/mol/A^2 (default: 0.0072)")
    field.add_argument("--cutoff", type=float, metavar="A", help="of pairs (default: none)")
    field.add_argument("--lj", choices=LENNARD_JONES, help="Lennard-Jones energies at the cutoff (default: plain)")
    field.add_argument("--switch", type=float, metavar="A", help="where --lj begins to switch")
    field.add_argument("--coulomb", choices=COULOMB, help="(default: plain)")
    field.add_argument("--constant", choices=list(CONSTANTS), help="Coulomb's constant, whose (default: amber)")
    field.add_argument("--dielectric", type=float, metavar="E", help="of the solute (default: 1)")
    field.add_argument("--solvent-dielectric", type=float, metavar="E", help="of generalised Born (default: 78.5)")
    field.add_argument("--cell", metavar="NUMBERS", help="of all frames, in place of their own: a,b,c, with angles, or vectors")
    field.add_argument("--open", action="store_true", help="open space, without images")
    how = of.add_argument_group("how")
    how.add_argument("--resume", action="store_true", help="go on where a run that was interrupted has left OUTPUT.checkpoint")
    how.add_argument("--verify-every", type=int, metavar="N", help="verify one frame of N; 0: none (default: 256)")
    how.add_argument("--readers", type=int, metavar="N", help="processes, or threads, that read (default: as many as are worth while)")
    how.add_argument("--device", metavar="D", help="as of `leyden map` (default: the fastest)")
    how.add_argument("-q", "--quiet", action="store_true", help="errors only")
    of.set_defaults(run=_run)


def _outputs(arguments: argparse.Namespace) -> Dict[str, str]:
    """Names of all that is written; they are checked before anything is computed."""
    stem, ending = os.path.splitext(arguments.output)
    if ending != ".csv":
        raise UsageError(f"'{arguments.output}': a name that ends in .csv is needed; of --mmgbsa --table FILE is a text as "
                         "MMPBSA.py's")
    names = {"energies": arguments.output, "checkpoint": f"{arguments.output}.checkpoint"}
    if arguments.by is not None:
        names["shares"] = f"{stem}_{arguments.by}s.csv"
    if arguments.matrix:
        names["matrix"] = f"{stem}_matrix.csv"
    if arguments.table is not None:
        if arguments.mmgbsa is None:
            raise UsageError("--table is of --mmgbsa RECEPTOR LIGAND")
        names["table"] = arguments.table
    if arguments.picture is not None:
        names["picture"] = arguments.picture
        try:
            import matplotlib
            matplotlib.use("Agg")
        except ImportError:
            raise ImportError("--picture: matplotlib is not installed: pip install matplotlib") from None
        if not arguments.picture.lower().endswith((".png", ".svg", ".pdf")):
            raise UsageError(f"--picture '{arguments.picture}': a name that ends in .png, .svg or .pdf is needed")
    check_outputs(list(names.values()), (arguments.topology, *arguments.trajectories, *(arguments.parameters or ())))
    if os.path.exists(names["checkpoint"]) and not arguments.resume:
        raise UsageError(f"{names['checkpoint']} is of a run that was interrupted: --resume goes on from it, and deleting it "
                         "begins anew")
    return names


def _options_in(arguments: argparse.Namespace) -> Dict[str, Any]:
    """Those that are given; "none" is None where Python has that."""
    names = ("gb", "salt", "surface", "tension", "cutoff", "lj", "switch", "coulomb", "constant", "dielectric",
             "solvent_dielectric", "verify_every")
    given = {name: getattr(arguments, name) for name in names if getattr(arguments, name) is not None}
    return {name: None if value == "none" and name in ("gb", "surface") else value for name, value in given.items()}


def _compute(arguments: argparse.Namespace, checkpoint: str) -> Union[Energies, Binding]:
    topology = arguments.topology if arguments.parameters is None else Particles.load(
        arguments.topology, *arguments.parameters, gb=arguments.gb if arguments.gb not in (None, "none") else "obc2")
    common: Dict[str, Any] = {
        "strip": False if arguments.no_strip else True if arguments.strip else arguments.leave_out, "by": arguments.by, "matrix": arguments.matrix,
        "cell": _cell(arguments.cell), "start": arguments.start, "stop": arguments.stop, "step": arguments.step,
        "skip_bad": arguments.skip_bad, "readers": arguments.readers, "checkpoint": checkpoint, "engine": arguments.device,
        "progress": sys.stderr.isatty() and not arguments.quiet, **_options_in(arguments)}
    if arguments.mmgbsa is not None:
        if arguments.groups is not None or arguments.open:
            raise UsageError("--mmgbsa has its two groups, and is of open space: --groups and --open do not go with it")
        receptor, ligand = arguments.mmgbsa
        return mmgbsa(topology, *arguments.trajectories, receptor=receptor, ligand=ligand, **common)
    return energy(topology, *arguments.trajectories, groups=arguments.groups, periodic=False if arguments.open else None, **common)


def _write(made: Union[Energies, Binding], names: Dict[str, str]) -> List[str]:
    """All but the checkpoint, which goes last."""
    comment = made.report["comment"]
    made.save(names["energies"])
    if "shares" in names:
        if isinstance(made, Binding):
            made.save_decomposition(names["shares"])
        else:
            save_shares(made, names["shares"], comment, {})
    if "matrix" in names:
        if isinstance(made, Binding):
            made.save_matrix(names["matrix"])
        else:
            save_matrix(made, names["matrix"], comment)
    if "table" in names and isinstance(made, Binding):
        made.save_table(names["table"])
    if "picture" in names:
        from matplotlib.figure import Figure
        shares = isinstance(made, Binding) and "shares" in names
        figure = Figure(figsize=(9, 8 if shares else 4), layout="constrained")
        if isinstance(made, Binding):
            made.plot(figure)
        else:
            made.plot(figure.add_subplot())
        figure.savefig(names["picture"], dpi=150)
    if os.path.exists(names["checkpoint"]):
        os.unlink(names["checkpoint"])
    return [path for name, path in names.items() if name != "checkpoint"]


def _say(made: Union[Energies, Binding], written: List[str]) -> None:
    r = made.report
    left = f", {r['skipped']:,} left out" if r["skipped"] else ""
    files = ", ".join(map(os.path.basename, r["files"]))
    print(f"trajectory: {files}, {r['frames']:,} frame{'s' * (r['frames'] != 1)}{left}, {r['atoms']:,} atoms")
    for line in r["remarks"]:
        print(f"note: {line}")
    s = (made.delta if isinstance(made, Binding) else made).statistics()
    if isinstance(made, Binding):
        print(f"complex - receptor - ligand, kcal/mol, of {r['receptor_atoms']:,} and {r['ligand_atoms']:,} atoms:")
    for k, name in enumerate((*TERMS, "total")):
        if name == "total" or (abs(s.mean[k]) > 0 and not (isinstance(made, Binding) and "14" in name)):
            error = f" +- {s.error[k]:.3g}" if s.error[k] >= 0 else ""
            print(f"  {name:<10} {s.mean[k]:>14.4f}{error}")
    if isinstance(made, Energies) and made.groups:
        for name, values in made.columns().items():
            if re.fullmatch(r"\w+_\d+_\d+", name) and np.any(values):
                print(f"  {name:<10} {np.mean(values):>14.4f}")
    print(f"errors: {correlation_line(made.delta if isinstance(made, Binding) else made)}")
    if r["checked_frames"]:
        print(f"verified: {r['checked_frames']:,} frame{'s' * (r['checked_frames'] != 1)}, energies of particles off by at most "
              f"{r['energy_error']:.2g} of their terms")
    resumed = f", {r['resumed_frames']:,} frames were there" if r["resumed_frames"] else ""
    print(f"time: {r['elapsed_s']:.2f} s, {r['frames_per_s']:,.4g} frames/s, on {r['device']}{resumed}")
    print(f"written: {'; '.join(written)}")


_ended_by: List[int] = []


def _ended(number: int, _: Optional[Any]) -> None:
    """As batch systems do when time is over."""
    _ended_by.append(number)
    raise KeyboardInterrupt


def _run(arguments: argparse.Namespace) -> int:
    names = _outputs(arguments)
    sys.unraisablehook = lambda _: None  # readers of broken files stumble once more when they are let go
    signal.signal(signal.SIGTERM, _ended)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what other packages warn of is for those who program with them
            made = _compute(arguments, names["checkpoint"])
        written = _write(made, names)
    except KeyboardInterrupt:
        said = f"frames so far are in {names['checkpoint']}: --resume goes on from it" if os.path.exists(names["checkpoint"]) else \
            "there is no frame yet"
        print(f"leyden: interrupted: {said}", file=sys.stderr)
        return 128 + (_ended_by or [signal.SIGINT])[0]
    except Error:
        if os.path.exists(names["checkpoint"]):
            print(f"leyden: frames so far are in {names['checkpoint']}: --resume goes on from it", file=sys.stderr)
        raise
    if not arguments.quiet:
        _say(made, written)
    return 0
