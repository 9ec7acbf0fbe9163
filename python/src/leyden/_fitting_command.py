"""python -m leyden fit-score: how well the frames of a trajectory fit a map, as a table; density-map: of a structure as a map."""
from __future__ import annotations

import argparse
import io
import os
import sys
import warnings
from typing import Any, List

import numpy as np

from ._command import add_frames, by_ranks, check_checkpoint, frames_in, interrupt_code, is_other_rank, said_of_checkpoint
from ._errors import UsageError
from ._files import check_outputs, write_whole
from ._fitting import FORMS, FitScores, density_map, fit_score
from ._parameters import TABLES
from ._picture import picture_name, save_picture

_OPTIONS = TABLES["ley_density_options"]


def _add_density(what: Any) -> None:
    what.add_argument("--resolution", type=float, metavar="A", help="of the density of the atoms (default: 5)")
    what.add_argument("--convention", choices=_OPTIONS["convention"].choices, help="of its Gaussians (default: molmap)")
    what.add_argument("--weights", choices=_OPTIONS["weights"].choices, default="number",
                      help="what each atom counts (default: its atomic number)")


def _add_density_map(commands: Any) -> None:
    of = commands.add_parser("density-map", help="the density of a structure at a resolution, as a map",
                             description="What an electron microscope would see of a structure that MDAnalysis reads.")
    of.add_argument("structure", metavar="STRUCTURE", help=".pdb, .cif, .gro, .pqr, ...")
    of.add_argument("-o", "--output", required=True, metavar="MAP", help="the map, .mrc, .dx, .cube, ...")
    _add_density(of)
    of.add_argument("--form", choices=sorted(FORMS), help="form factors, by gemmi, in place of Gaussians")
    of.add_argument("--like", metavar="MAP", help="on the grid of this map")
    of.add_argument("--spacing", type=float, metavar="A", help="of the nodes (default: a third of the resolution)")
    of.add_argument("--device", metavar="D", help="as of `leyden map` (default: the host, or the fastest)")
    of.set_defaults(run=_run_density_map)


def _run_density_map(arguments: argparse.Namespace) -> int:
    check_outputs([arguments.output], (arguments.structure, arguments.like))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = density_map(arguments.structure, resolution=arguments.resolution, convention=arguments.convention,
                           weights=arguments.weights, form=arguments.form, like=arguments.like, spacing=arguments.spacing,
                           engine=arguments.device)
    made.save(arguments.output)
    return 0


def add_to(commands: Any) -> None:
    """The sub-commands."""
    _add_density_map(commands)
    of = commands.add_parser(
        "fit-score", help="how well the frames of a trajectory fit a map",
        description="Correlations of the density of the atoms with a map, in each frame of a trajectory that MDAnalysis reads. "
                    "Columns are the frame, pearson (about the mean), overlap (without it) and what else is asked for.")
    of.add_argument("map", metavar="MAP", help=".mrc, .map, .ccp4, .dx, ...; its not-a-numbers do not count")
    of.add_argument("topology", metavar="TOPOLOGY", help=".psf, .prmtop, .pdb, .tpr, ...")
    of.add_argument("trajectories", metavar="TRAJECTORY", nargs="*", help=".dcd, .xtc, .trr, .nc, ..., one after the other")
    of.add_argument("-o", "--output", required=True, metavar="FILE", help="the table, .csv; or all arrays, .npz")
    of.add_argument("--picture", metavar="FILE", help="scores over frames: .png, .svg or .pdf, by matplotlib")
    what = of.add_argument_group("what is computed")
    _add_density(what)
    what.add_argument("--mask", metavar="MAP", help="also the correlation where this map is above 0")
    what.add_argument("--threshold", metavar="RHO",
                      help="also where the density of the atoms is no less than a number, or than its mean+deviation")
    what.add_argument("--by", choices=("residue", "segment"),
                      help="also local correlations, in OUTPUT_residues.csv or OUTPUT_segments.csv")
    what.add_argument("--window-radius", type=float, metavar="A", help="how far around atoms these go (default: half of the resolution)")
    what.add_argument("--gradient", metavar="FILE", help="also the gradient of pearson by the atoms' places, .npy")
    what.add_argument("--select", metavar="WORDS", help="atoms that count, in MDAnalysis's language (default: all)")
    how = of.add_argument_group("how")
    how.add_argument("--verify-every", type=int, metavar="N", help="verify one frame of N; 0: none (default: 256)")
    how.add_argument("--resume", action="store_true", help="go on where a run that was interrupted has left OUTPUT.checkpoint")
    add_frames(what, how, has_cell=False)
    of.set_defaults(run=_run, is_shared=True)


def _local_name(arguments: argparse.Namespace) -> str:
    return f"{os.path.splitext(arguments.output)[0]}_{arguments.by}s.csv"


def _checkpoint_name(arguments: argparse.Namespace) -> str:
    return f"{arguments.output}.checkpoint"


def _check(arguments: argparse.Namespace) -> List[str]:
    """Names of all that is written."""
    if not arguments.output.endswith((".csv", ".npz")):
        raise UsageError(f"'{arguments.output}': a name that ends in .csv or .npz is needed")
    if arguments.gradient is not None and not arguments.gradient.endswith(".npy"):
        raise UsageError(f"--gradient '{arguments.gradient}': a name that ends in .npy is needed")
    if arguments.picture is not None:
        picture_name(arguments.picture)
    names = [arguments.output, *([_local_name(arguments)] if arguments.by and arguments.output.endswith(".csv") else []),
             *(name for name in (arguments.gradient, arguments.picture) if name is not None)]
    check_outputs([*names, _checkpoint_name(arguments)], (arguments.map, arguments.topology, *arguments.trajectories, arguments.mask))
    check_checkpoint(_checkpoint_name(arguments), arguments.resume)
    return names


def _threshold_of(text: Any) -> Any:
    if text in (None, "mean+deviation"):
        return text
    try:
        return float(text)
    except ValueError:
        raise UsageError(f"--threshold: '{text}' is neither a number nor mean+deviation") from None


def _say(made: FitScores, arguments: argparse.Namespace, names: List[str]) -> None:
    r = made.report
    left = f", {r['skipped']} left out" if r["skipped"] else ""
    print(f"trajectory: {r['frames']:,} frame{'s' * (r['frames'] != 1)}{left}, {r['atoms']:,} atoms")
    if len(made) == 1:
        print("\n".join(f"{name}: {values[0]:.6f}" for name, values in made.columns().items() if name not in ("frame", "mean", "deviation")))
    elif np.any(np.isfinite(made.pearson)):
        print(f"pearson: {np.nanmean(made.pearson):.6f} on average, from {np.nanmin(made.pearson):.6f} to "
              f"{np.nanmax(made.pearson):.6f}, which is frame {made.best}")
    if r["undefined"]:
        print(f"undefined: {r['undefined']:,} of the frames have no correlation, as no atom is near the map")
    for name, values in (("masked", made.masked), ("thresholded", made.thresholded)):
        few = 0 if values is None else int(np.sum(np.isnan(values) & np.isfinite(made.pearson)))
        if few:
            print(f"undefined: {name} in {few:,} of the frames: none of the map's nodes count for it, or all have the same value")
    if r["checked_frames"]:
        print(f"verified: {r['checked_frames']:,} frame{'s' * (r['checked_frames'] != 1)}, off by at most {r['error']:.2g}")
    resumed = f", {r['resumed_frames']:,} frames were there" if r["resumed_frames"] else ""
    print(f"time: {r['elapsed_s']:.2f} s, {r['frames_per_s']:,.4g} frames/s, on {r['device']}{by_ranks(r)}{resumed}")
    print(f"written: {'; '.join(names)}")


def _compute(arguments: argparse.Namespace) -> FitScores:
    return fit_score(
        arguments.map, arguments.topology, *arguments.trajectories, weights=arguments.weights, mask=arguments.mask,
        threshold=_threshold_of(arguments.threshold), by=arguments.by, gradient=arguments.gradient is not None,
        select=arguments.select, resolution=arguments.resolution, convention=arguments.convention,
        window_radius=arguments.window_radius, verify_every=arguments.verify_every,
        checkpoint=_checkpoint_name(arguments) if arguments.ranks is None else None, **frames_in(arguments))


def _run(arguments: argparse.Namespace) -> int:
    names = _check(arguments)
    sys.unraisablehook = lambda _: None  # readers of broken files stumble once more when they are let go
    try:
        with warnings.catch_warnings(), said_of_checkpoint(_checkpoint_name(arguments)):
            warnings.simplefilter("ignore")  # what other packages warn of is for those who program with them
            made = _compute(arguments)
    except KeyboardInterrupt:
        if os.path.exists(_checkpoint_name(arguments)):
            return interrupt_code()
        raise
    if is_other_rank(arguments):
        return 0
    made.save(arguments.output)
    if arguments.by and arguments.output.endswith(".csv"):
        made.save_local(_local_name(arguments))
    if arguments.gradient is not None:
        content = io.BytesIO()
        np.save(content, made.gradient)
        write_whole(arguments.gradient, content.getvalue())
    if arguments.picture is not None:
        save_picture(arguments.picture, lambda figure: made.plot(figure.add_subplot()), (7, 4))
    if os.path.exists(_checkpoint_name(arguments)):
        os.unlink(_checkpoint_name(arguments))
    if not arguments.quiet:
        _say(made, arguments, names)
    return 0
