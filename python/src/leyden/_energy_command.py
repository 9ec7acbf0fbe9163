"""python -m leyden energy: energies of the frames of a trajectory, MM/GBSA, as tables."""
from __future__ import annotations

import argparse
import os
import re
import sys
import warnings
from typing import Any, Dict, List, Union

import numpy as np

from ._c import lib
from ._command import add_frames, as_options, by_ranks, check_checkpoint, frames_in, interrupt_code, is_other_rank
from ._energy import PARAMETERS, TERMS, Energies
from ._energy_run import BY, energy
from ._errors import DeviceWarning, Error, RadiiWarning, UsageError
from ._files import check_outputs
from ._mmgbsa import Binding, correlation_line, mmgbsa
from ._parameters import Parameter
from ._picture import picture_name

_DESCRIPTION = """Energies of the frames of a trajectory, kcal/mol: Lennard-Jones and Coulomb with their pairs 1-4, generalised
Born and surface, as columns frame, lj, lj_14, coulomb, coulomb_14, gb, sa, total. With --mmgbsa those of a complex, of its
receptor and its ligand, and differences (docs/mmgbsa.md)."""


# What MMPBSA.py and gmx_MMPBSA call it.
MEANT = {"i": "options of their own, docs/mmgbsa.md lists them", "cp": "TOPOLOGY, the first word", "sp": "TOPOLOGY, with --strip",
         "rp": "RECEPTOR of --mmgbsa, a selection", "lp": "LIGAND of --mmgbsa, a selection", "y": "TRAJECTORY, the second word",
         "ct": "TRAJECTORY, the second word", "cg": "--mmgbsa RECEPTOR LIGAND, selections", "do": "--by residue",
         "igb": "--gb, 5 being obc2", "saltcon": "--salt, 0.5329 of saltcon", "startframe": "--start, from 0", "endframe": "--stop", "interval": "--step",
         "strip_mask": "--leave-out", "idecomp": "--by residue and --matrix", "gbsa": "--surface"}
MEANT_CHOICES = {**{word: "energy TOPOLOGY TRAJECTORY --mmgbsa RECEPTOR LIGAND -o FILE.csv" for word in ("mmgbsa", "mmpbsa", "gbsa")},
                 "1": "hct, which is igb=1", "2": "obc1, which is igb=2", "5": "obc2, which is igb=5", "7": "gbn, which is igb=7",
                 **{word: f"leyden {word}, a command of its own" for word in ("map", "density-map", "compare", "surface", "check", "bench")},
                 "8": "gbn2, which is igb=8", "ewald": "pme", "sasa": "lcpo or numerical"}


def _add_parameter(to: Any, row: Parameter) -> None:
    """An option, of a row of the library's table."""
    names = [f"--{name.replace('_', '-')}" for name in (row.name, row.alias) if name]
    text = re.sub("`([a-z_]+)`", lambda found: f"--{found[1].replace('_', '-')}", row.text).replace("%", "%%")
    if row.type == lib.LEY_PARAMETER_FLAG:
        to.add_argument(*names, dest=row.name, action="store_const", const=True, help=text)
        return
    kind = int if row.type == lib.LEY_PARAMETER_INTEGER else str if row.choices or row.numbers else float
    named = [name for name, value in row.numbers.items() if value == row.default]
    text += f"; {', '.join(row.numbers)}" if row.numbers else ""
    text += "" if row.default is None else f" (default: {named[0] if named else row.default})"
    to.add_argument(*names, dest=row.name, type=kind, choices=row.choices or None, metavar=row.metavar, help=text)


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
    field = of.add_argument_group("energies")
    for row in PARAMETERS.values():
        _add_parameter(field, row)
    images = field.add_mutually_exclusive_group()
    images.add_argument("--open", action="store_true", help="open space, without images")
    images.add_argument("--periodic", action="store_true", help="in each frame's cell, also where no option needs one")
    field.add_argument("--no-whole", action="store_true", help="molecules that a cell has broken stay broken")
    how = of.add_argument_group("how")
    how.add_argument("--resume", action="store_true", help="go on where a run that was interrupted has left OUTPUT.checkpoint")
    add_frames(what, how)
    of.set_defaults(run=_run, is_shared=True)


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
        picture_name(arguments.picture)
    check_outputs(list(names.values()), (arguments.topology, *arguments.trajectories, *(arguments.parameters or ())))
    check_checkpoint(names["checkpoint"], arguments.resume)
    return names


def _compute(arguments: argparse.Namespace, checkpoint: str) -> Union[Energies, Binding]:
    common: Dict[str, Any] = {
        "parameters": arguments.parameters or (), "by": arguments.by, "matrix": arguments.matrix, "whole": not arguments.no_whole,
        "strip": False if arguments.no_strip else True if arguments.strip else arguments.leave_out,
        "checkpoint": checkpoint if arguments.ranks is None else None, **frames_in(arguments),
        **{name: getattr(arguments, name) for name in PARAMETERS if getattr(arguments, name) is not None}}
    files = (arguments.topology, *arguments.trajectories)
    if arguments.mmgbsa is not None:
        if arguments.groups is not None or arguments.open or arguments.periodic:
            raise UsageError("--mmgbsa has its two groups, and is of open space: --groups, --open and --periodic do not go with it")
        return mmgbsa(*files, receptor=arguments.mmgbsa[0], ligand=arguments.mmgbsa[1], **common)
    return energy(*files, groups=arguments.groups, periodic=False if arguments.open else True if arguments.periodic else None, **common)


def _write(made: Union[Energies, Binding], names: Dict[str, str]) -> List[str]:
    """All but the checkpoint, which goes last."""
    made.save(names["energies"])
    for name, save in (("shares", "save_decomposition"), ("matrix", "save_matrix"), ("table", "save_table"),
                       ("picture", "save_picture")):
        if name in names:
            getattr(made, save)(names[name])
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
                print(f"  {name:<14} {np.mean(values):>10.4f}")
    print(f"errors: {correlation_line(made.delta if isinstance(made, Binding) else made)}")
    if r["checked_frames"]:
        print(f"verified: {r['checked_frames']:,} frame{'s' * (r['checked_frames'] != 1)}, energies of particles off by at most "
              f"{r['energy_error']:.2g} of their terms")
    resumed = f", {r['resumed_frames']:,} frames were there" if r["resumed_frames"] else ""
    print(f"time: {r['elapsed_s']:.2f} s, {r['frames_per_s']:,.4g} frames/s, on {r['device']}{by_ranks(r)}{resumed}")
    print(f"written: {'; '.join(written)}")


def _run(arguments: argparse.Namespace) -> int:
    names = _outputs(arguments)
    sys.unraisablehook = lambda _: None  # readers of broken files stumble once more when they are let go
    own = DeviceWarning, RadiiWarning
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("ignore")  # what other packages warn of is for those who program with them
            for kind in own:
                warnings.simplefilter("always", kind)
            made = _compute(arguments, names["checkpoint"])
        if is_other_rank(arguments):
            return 0
        # Some packages undo the filter when they are imported.
        for text in dict.fromkeys(str(warning.message) for warning in said if issubclass(warning.category, own)):
            print(f"leyden: warning: {as_options(text)}", file=sys.stderr)
        written = _write(made, names)
    except KeyboardInterrupt:
        said_of = f"frames so far are in {names['checkpoint']}: --resume goes on from it" if os.path.exists(names["checkpoint"]) \
            else "no frame was done: nothing is written"
        print(f"leyden: interrupted: {said_of}", file=sys.stderr)
        return interrupt_code()
    except Error:
        if os.path.exists(names["checkpoint"]):
            print(f"leyden: frames so far are in {names['checkpoint']}: --resume goes on from it", file=sys.stderr)
        raise
    if not arguments.quiet:
        _say(made, written)
    return 0
