"""python -m leyden average: the mean potential of a trajectory, as files."""
from __future__ import annotations

import argparse
import functools
import json
import os
import sys
import warnings
from typing import Any, Dict, List

import numpy as np

from ._average import CONVENTIONS, Average, average, method_line
from ._c import ffi, lib
from ._cell import lengths
from ._command import add_frames, by_ranks, frames_in, interrupt_code, is_other_rank, parse_numbers
from ._errors import MapWarning, UsageError, file_name
from ._files import check_outputs, write_whole
from ._parameters import TABLES
from ._picture import picture_name, save_picture


def add_to(commands: Any) -> None:
    """The sub-command."""
    of = commands.add_parser(
        "average", help="the mean potential of a trajectory, profiles",
        description="The electrostatic potential in periodic cells, averaged over the frames of a trajectory that MDAnalysis "
                    "reads: of Gaussian charges, by default as wide as PMEPot's, or of point charges (--smooth 0).")
    of.add_argument("topology", metavar="TOPOLOGY", help="with charges: .psf, .prmtop, .tpr, ...")
    of.add_argument("trajectories", metavar="TRAJECTORY", nargs="*", help=".dcd, .xtc, .trr, .nc, .h5md, ..., one after the other")
    files = of.add_argument_group("what is written")
    files.add_argument("-o", "--output", metavar="MAP", help="the mean: .dx, .mrc, .cube, .npy, ...")
    files.add_argument("--deviation", metavar="MAP", help="the standard deviation over frames")
    files.add_argument("--error", metavar="MAP", help="the standard error of the mean, by blocks of frames")
    files.add_argument("--profile", metavar="AXES", help="means over planes across these vectors of the cell: z, or x,z")
    files.add_argument("--profile-csv", metavar="FILE", help="the profile's table; of several axes FILE_x, FILE_z")
    files.add_argument("--profile-picture", metavar="FILE", help="its picture: .png, .svg or .pdf, by matplotlib")
    files.add_argument("--json", metavar="FILE", help="the report")
    what = of.add_argument_group("what is averaged")
    what.add_argument("--select", metavar="WORDS", help="whose charges count, in MDAnalysis's language (default: all)")
    what.add_argument("--smooth", type=float, default=2.83, metavar="A",
                      help="standard deviation of the charges; 0: points (default: 2.83, PMEPot's 0.25 / A)")
    what.add_argument("--center", metavar="WORDS", help="a selection that is moved to the middle of each cell")
    what.add_argument("--fit", metavar="WORDS", help="one that is moved to where it is in the first frame; nothing turns")
    what.add_argument("--exact-cells", action="store_true", help="each frame's own cell, by a transform for each")
    what.add_argument("--convention", choices=CONVENTIONS, default="exact", help="pmepot: VMD's PMEPot's numbers, to compare")
    sides = what.add_mutually_exclusive_group()
    sides.add_argument("--symmetric", dest="boundary", action="store_const", const="symmetric",
                       help="profiles: the mean of each and its mirror image")
    sides.add_argument("--one-side", dest="boundary", action="store_const", const="one-side",
                       help="profiles: field and potential are 0 at the first plane, as of `gmx potential`")
    how = of.add_argument_group("how")
    add_frames(what, how)
    how.add_argument("--tol", type=float, default=1e-4, metavar="TOL", help="relative RMS error of a frame (default: 1e-4)")
    how.add_argument("--spacing", type=float, metavar="A", help="about how far points are apart (default: 1)")
    how.add_argument("--dims", metavar="NX,NY,NZ", help="points along the cell's vectors")
    how.add_argument("--origin", metavar="FX,FY,FZ", help="the first point, in fractions of the vectors (default: 0,0,0)")
    how.add_argument("--units", choices=TABLES["ley_direct"]["units"].choices, help="of the potential (default: kT/e)")
    how.add_argument("--dielectric", type=float, metavar="E", help="relative permittivity (default: 1)")
    how.add_argument("--temperature", type=float, default=300.0, metavar="K", help="of kT/e (default: 300)")
    how.add_argument("--blocks", type=int, default=10, metavar="N", help="of frames, for standard errors; 0: none (default: 10)")
    how.add_argument("--verify-every", type=int, metavar="N", help="verify one frame of N (default: 256)")
    how.add_argument("--checkpoint", metavar="FILE", help="goes on from it where it is there; kept beside it: FILE.frames")
    how.add_argument("-v", "--verbose", action="store_true", help="more of how it was done")
    of.set_defaults(run=_run, is_shared=True, boundary="tin-foil")


def _outputs(arguments: argparse.Namespace) -> Dict[str, str]:
    """Names of the maps; all names are checked before anything is computed."""
    maps = {name: path for name, path in (("mean", arguments.output), ("deviation", arguments.deviation),
                                          ("error", arguments.error)) if path is not None}
    others = [path for path in (arguments.profile_csv, arguments.profile_picture) if path is not None]
    if bool(others) != (arguments.profile is not None):
        raise UsageError("--profile goes with a file, --profile-csv or --profile-picture, and these with it")
    if arguments.error is not None and arguments.blocks < 2:
        raise UsageError("--error needs at least two blocks of frames: --blocks 10, say")
    if not maps and not others:
        raise UsageError("nothing is to be written: -o mean.dx names a file")
    for path in maps.values():
        if lib.ley_map_format_of(file_name(path), ffi.NULL) == ffi.NULL:
            raise UsageError(f"'{path}': no map is written in a form with this ending: .dx, .mrc, .cube, .npy, ... are known")
    if arguments.profile_picture is not None:
        picture_name(arguments.profile_picture)
    beside = None if arguments.checkpoint is None else f"{arguments.checkpoint}.frames"
    check_outputs((*maps.values(), *others, arguments.json, arguments.checkpoint, beside),
                  (arguments.topology, *arguments.trajectories))
    return maps


def _beside(path: str, axis: str, axes: Any) -> str:
    root, ending = os.path.splitext(path)
    return path if len(axes) == 1 else f"{root}_{axis}{ending}"


def _size(path: str) -> str:
    size, units = float(os.path.getsize(path)), ["bytes", "KiB", "MiB", "GiB", "TiB"]
    while size >= 1023.5 and len(units) > 1:
        size, units = size / 1024, units[1:]
    return f"{size:.{int(units[0] != 'bytes' and size < 99.95)}f} {units[0]}"


def _draw(made: Average, arguments: argparse.Namespace, axis: str, figure: Any) -> None:
    upper, lower = figure.subplots(2, sharex=True)
    made.profiles[axis].plot(upper)
    made.profiles[axis].plot(lower, "charge")
    upper.set_xlabel("")
    upper.set_title(f"{os.path.basename(arguments.topology)}: {made.frames} frames, {arguments.boundary}", fontsize="medium")

def _write(made: Average, arguments: argparse.Namespace, maps: Dict[str, str]) -> List[str]:
    """The names of the files that are there now."""
    written = []
    for name, path in maps.items():
        if getattr(made, name) is None:
            print(f"leyden: {path} is not written: the {name} needs at least two {'frames' if name == 'deviation' else 'blocks'}, "
                  f"and there were {made.frames} frames and {made.report['blocks']} blocks", file=sys.stderr)
            continue
        getattr(made, name).save(path)
        written.append(path)
    for axis in made.profiles:
        if arguments.profile_csv is not None:
            written.append(_beside(arguments.profile_csv, axis, made.profiles))
            made.profiles[axis].save(written[-1])
        if arguments.profile_picture is not None:
            written.append(_beside(arguments.profile_picture, axis, made.profiles))
            save_picture(written[-1], functools.partial(_draw, made, arguments, axis), (6, 6))
    if arguments.json is not None:
        content = {"command": "average", "arguments": {name: value for name, value in vars(arguments).items() if name not in ("run", "ranks", "is_shared")},
                   **made.report}
        write_whole(arguments.json, (json.dumps(content, indent=2) + "\n").encode())
        written.append(arguments.json)
    return written


def _angles(cell: np.ndarray) -> str:
    """Of an oblique cell."""
    units = cell / lengths(cell)[:, None]
    found = np.degrees(np.arccos(np.clip([units[1] @ units[2], units[0] @ units[2], units[0] @ units[1]], -1, 1)))
    return "" if np.allclose(found, 90, atol=1e-3) else f", angles {', '.join(f'{angle:.5g}' for angle in found)} degrees"


def _say(made: Average, arguments: argparse.Namespace, written: List[str]) -> None:
    r, grid = made.report, made.mean.grid
    left = f", {r['skipped']} left out" if r["skipped"] else ""
    names = ", ".join(map(os.path.basename, r["files"])) or os.path.basename(arguments.topology)
    charge = round(r["total_charge_e"], 4) + 0.0  # no -0.0000
    print(f"trajectory: {names}, {r['frames']:,} frame{'s' * (r['frames'] != 1)}{left}, {r['atoms']:,} atoms, total charge "
          f"{charge:+.4f} e")
    spacing = " x ".join(f"{step:.4g}" for step in grid.spacing)
    cell = " x ".join(f"{length:.5g}" for length in lengths(made.cell))
    print(f"grid: {' x '.join(map(str, grid.n))} = {grid.size:,} points, spacing {spacing} A, mean cell {cell} A{_angles(made.cell)}")
    print(f"method: {method_line(r)}")
    reading = f"; {r['readers']} readers" if r["readers"] > 1 else ""
    resumed = f", {r['resumed_frames']:,} frames from {arguments.checkpoint}" if r["resumed_frames"] else ""
    rate = f", {r['frames_per_s']:,.4g} frames/s, on {r['device']}{by_ranks(r)}{reading}" if r["device"] else ""
    print(f"time: {r['elapsed_s']:.2f} s{rate}{resumed}")
    print(f"written: {'; '.join(f'{path}, {_size(path)}' for path in written)}")
    if arguments.verbose:
        print(made.mean.header)
        for bad in r["first_skipped"]:
            print(f"left out: frame {bad['number']}: {bad['reason']}")


def _run(arguments: argparse.Namespace) -> int:
    """What other packages warn of is for those who program with them."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", MapWarning)
        code = _average(arguments)
    for warning in said:
        if issubclass(warning.category, MapWarning):
            said_of = str(warning.message).split(", or ask for an upright grid")[0]  # which averages do not have
            print(f"leyden: warning: {said_of}", file=sys.stderr)
    return code


def _average(arguments: argparse.Namespace) -> int:
    maps = _outputs(arguments)
    sys.unraisablehook = lambda _: None  # readers of broken files stumble once more when they are let go
    axes = None if arguments.profile is None else [axis for axis in arguments.profile.split(",") if axis]
    code = 0
    try:
        made = average(
            arguments.topology, *arguments.trajectories, select=arguments.select, smooth=arguments.smooth, tol=arguments.tol,
            dims=parse_numbers(arguments.dims, "--dims", (3,)), spacing=arguments.spacing,
            origin=parse_numbers(arguments.origin, "--origin", (3,)), deviation=arguments.deviation is not None,
            blocks=arguments.blocks, exact_cells=arguments.exact_cells, profile=axes, boundary=arguments.boundary,
            convention=arguments.convention,
            center=arguments.center, fit=arguments.fit, temperature=arguments.temperature,
            verify_every=arguments.verify_every, checkpoint=arguments.checkpoint, units=arguments.units,
            dielectric=arguments.dielectric, **frames_in(arguments))
    except KeyboardInterrupt as interrupt:
        code, found = interrupt_code(), getattr(interrupt, "average", None)
        if found is None:
            print("leyden: interrupted before the first frame: nothing is written", file=sys.stderr)
            return code
        made = found
        print(f"leyden: interrupted after {made.frames} of {made.report['frames_wanted']} frames: the files hold the mean of these",
              file=sys.stderr)
    if is_other_rank(arguments):
        return code
    written = _write(made, arguments, maps)
    if not arguments.quiet:
        _say(made, arguments, written)
    return code
