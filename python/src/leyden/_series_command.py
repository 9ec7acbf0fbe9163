"""python -m leyden series: potentials and fields at atoms, bonds and points of a trajectory, as a table."""
from __future__ import annotations

import argparse
import sys
import warnings
from typing import Any, List

import numpy as np

from ._cell import cell_of_box
from ._command import add_frames, frames_in, parse_numbers
from ._errors import InputError, PointsWarning, UsageError
from ._files import check_outputs
from ._frames import selected, universe_of
from ._parameters import TABLES
from ._picture import picture_name, save_picture
from ._series import METHODS, Series, series


def add_to(commands: Any) -> None:
    """The sub-command."""
    of = commands.add_parser(
        "series", help="potentials and fields at atoms, bonds and points in time",
        description="The electrostatic potential and field at atoms, at the middles of bonds or at points, in each frame of a "
                    "trajectory that MDAnalysis reads. Columns are the frame, the time (ps) and for each point the "
                    "potential, the field (per A) and, of bonds, the field along them (MV/cm).")
    of.add_argument("topology", metavar="TOPOLOGY", help="with charges: .psf, .prmtop, .tpr, ...")
    of.add_argument("trajectories", metavar="TRAJECTORY", nargs="*", help=".dcd, .xtc, .trr, .nc, .h5md, ..., one after the other")
    of.add_argument("-o", "--output", required=True, metavar="FILE", help="the table: .csv, .npy or .npz")
    of.add_argument("--picture", metavar="FILE", help="values over time: .png, .svg or .pdf, by matplotlib")
    where = of.add_argument_group("where").add_mutually_exclusive_group(required=True)
    where.add_argument("--atoms", metavar="WORDS", help="at these atoms, in MDAnalysis's language")
    where.add_argument("--bonds", nargs=2, metavar=("FIRST", "SECOND"),
                       help="at the middles of bonds, from the atoms that the one selects to those that the other one does")
    where.add_argument("--points", metavar="FILE", help="at fixed points: lines of x, y, z in A, or .npy")
    what = of.add_argument_group("what is summed")
    what.add_argument("--source", metavar="WORDS", help="whose charges make the field (default: all)")
    what.add_argument("--exclude", metavar="WHAT", default="self",
                      help="self: not the atoms that a point is made of; residue or molecule: none of these; none; or a "
                           "selection (default: self)")
    direction = what.add_mutually_exclusive_group()
    direction.add_argument("--project", nargs=2, metavar=("FIRST", "SECOND"),
                           help="the field along the way from these atoms to those (of bonds: along them)")
    direction.add_argument("--direction", metavar="X,Y,Z", help="the field along this vector")
    what.add_argument("--open", action="store_true", help="open space, without images")
    how = of.add_argument_group("how")
    add_frames(what, how)
    how.add_argument("--tol", type=float, default=1e-5, metavar="TOL", help="relative RMS error (default: 1e-5)")
    how.add_argument("--method", choices=list(METHODS), default="auto", help="of the sum (default: the fastest)")
    how.add_argument("--units", choices=TABLES["ley_direct"]["units"].choices, help="of the potential (default: kT/e)")
    how.add_argument("--dielectric", type=float, metavar="E", help="relative permittivity (default: 1)")
    how.add_argument("--temperature", type=float, metavar="K", help="of kT/e (default: 298.15)")
    how.add_argument("--no-field", action="store_true", help="potentials only, and what is projected")
    of.set_defaults(run=_run)


def _points_in(path: str) -> np.ndarray:
    try:
        found = np.load(path) if path.endswith(".npy") else np.array([
            [float(word) for word in line.replace(",", " ").split()[:3]]
            for line in (line.split("#")[0] for line in open(path, encoding="utf-8-sig")) if line.strip()])
    except (ValueError, EOFError) as error:
        raise InputError(f"{path}: lines of three numbers are needed: {error}") from None
    if found.ndim != 2 or found.shape[1] < 3:
        raise InputError(f"{path}: lines of three numbers are needed")
    return found[:, :3]


def _groups(universe: Any, words: List[str], option: str) -> Any:
    first, second = (selected(universe, one, option) for one in words)
    if len(first) != len(second):
        raise UsageError(f"{option}: '{words[0]}' selects {len(first)} atoms, and '{words[1]}' {len(second)}: each atom of "
                         "the first needs its partner in the second one, in the same order")
    return first, second


def _check_outputs(arguments: argparse.Namespace) -> None:
    if not arguments.output.endswith((".csv", ".npy", ".npz")):
        raise UsageError(f"'{arguments.output}': a name that ends in .csv, .npy or .npz is needed")
    if arguments.picture is not None:
        picture_name(arguments.picture)
    check_outputs((arguments.output, arguments.picture), (arguments.topology, *arguments.trajectories, arguments.points))


def _say(made: Series, arguments: argparse.Namespace) -> None:
    r = made.report
    left = f", {r['skipped']} left out" if r["skipped"] else ""
    values = made.potential.mean(axis=0) if made.projected is None else made.projected_MV_cm.mean(axis=0)
    spread = made.potential.std(axis=0) if made.projected is None else made.projected_MV_cm.std(axis=0)
    word, unit = ("potential", made.units) if made.projected is None else ("field along it", "MV/cm")
    print(f"trajectory: {r['frames']:,} frame{'s' * (r['frames'] != 1)}{left}, {made.potential.shape[1]} points")
    for label, value, width in list(zip(made.labels, values, spread))[:10]:
        print(f"{label}: {word} {value:.5g} +- {width:.3g} {unit}")
    print(f"method: {r['method']}, relative error {max(r['potential_error'], r['field_error']):.2g}; "
          f"{r['frames_per_s']:,.4g} frames/s")
    written = [path for path in (arguments.output, arguments.picture) if path is not None]
    print(f"written: {'; '.join(written)}")


def _run(arguments: argparse.Namespace) -> int:
    _check_outputs(arguments)
    sys.unraisablehook = lambda _: None  # readers of broken files stumble once more when they are let go
    universe = universe_of(arguments.topology, arguments.trajectories)
    if not arguments.open and arguments.cell is None and cell_of_box(getattr(universe, "dimensions", None)) is None:
        raise InputError("the frames have no cell: --cell a,b,c gives one for all of them, and --open sums in open space")
    project: Any = None
    if arguments.project is not None:
        first, second = _groups(universe, arguments.project, "--project")
        project = np.stack([first.indices, second.indices], axis=1)
    elif arguments.direction is not None:
        project = parse_numbers(arguments.direction, "--direction", (3,))
    if arguments.points is not None:
        points: Any = _points_in(arguments.points)
    else:
        points = arguments.atoms if arguments.bonds is None else _groups(universe, arguments.bonds, "--bonds")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", PointsWarning)
        made = series(
            universe, points, source=arguments.source, exclude=None if arguments.exclude == "none" else arguments.exclude,
            field=not arguments.no_field, project=project, tol=arguments.tol, method=arguments.method,
            periodic=False if arguments.open else None, units=arguments.units, dielectric=arguments.dielectric, temperature=arguments.temperature, **frames_in(arguments))
    made.save(arguments.output)
    if arguments.picture is not None:
        save_picture(arguments.picture, lambda figure: made.plot(figure.add_subplot()), (7, 4))
    for warning in said:
        print(f"leyden: {warning.message}", file=sys.stderr)
    if not arguments.quiet:
        _say(made, arguments)
    return 0
