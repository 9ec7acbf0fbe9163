"""What the sub-commands of python -m leyden have in common: options of frames, signals, messages."""
from __future__ import annotations

import argparse
import contextlib
import os
import re
import signal
import sys
from typing import Any, Dict, Iterator, List, Optional, Tuple

import numpy as np

from ._errors import Error, UsageError
from ._parameters import TABLES
from ._progress import FrameLine, FrameProgress


def parse_numbers(text: Optional[str], name: str, counts: Tuple[int, ...]) -> Optional[List[float]]:
    """Of NX,NY,NZ."""
    if text is None:
        return None
    try:
        found = [float(word) for word in text.split(",")]
    except ValueError:
        found = []
    if len(found) not in counts:
        raise UsageError(f"{name}: '{text}' is no list of {' or '.join(map(str, counts))} numbers, separated by commas")
    return found


def parse_cell(text: Optional[str]) -> Any:
    """Lengths, lengths and angles, or vectors."""
    found = parse_numbers(text, "--cell", (3, 6, 9))
    return found if found is None or len(found) < 9 else np.reshape(found, (3, 3))


def as_options(text: str) -> str:
    """What a message says of Python's arguments, as one types it in a shell."""
    text = text.replace("cell=(a, b, c)", "--cell a,b,c").replace("periodic=False", "--open")
    for given, typed in (("strip=False", "--no-strip"), ("surface=None", "--surface none"), ('receptor="', '--mmgbsa "'),
                         ('strip="', '--leave-out "'), ("engine=None", "the default"), ("engine: ", "--device: "),
                         ("groups and matrix", "--groups and --matrix")):
        text = text.replace(given, typed)
    text = re.sub(r"\b(skip_bad|exact_cells|strip|matrix)=True", lambda found: "--" + found[1].replace("_", "-"), text)
    text = re.sub(r"^strip(?=:| ')", "--leave-out", text)
    text = re.sub(r"leyden\.Particles\.load\(topology, gb='(\w+)'\)", r"python3 -m leyden convert TOPOLOGY -o NEW.npz --gb \1", text)
    text = re.sub(r"\b(coulomb|by|surface|gb)=('[\w-]+'|\"[^\"]*\")", lambda found: f"--{found[1]} {found[2].strip(chr(39))}", text)
    names = "|".join({name for rows in TABLES.values() for name in rows} | {"groups", "start", "parameters", "select", "matrix"})
    text = re.sub(rf"^({names})(?=:| is | and | needs | ')|\b((?=\w+_)(?:{names}))\b",
                  lambda found: "--" + found[0].replace("_", "-"), text)
    return re.sub(r"\b(stop|readers|smooth)=(\d+)", r"--\1 \2", text)


def add_frames(what: Any, how: Any, has_cell: bool = True) -> None:
    """Options of which frames, with their cell where it matters, and of who reads and computes."""
    for name, text in ("start", "first frame, from 0"), ("stop", "the frame before which it ends"), ("step", "frames"):
        what.add_argument(f"--{name}", type=int, metavar="N", help=text)
    if has_cell:
        what.add_argument("--cell", metavar="NUMBERS", help="of all frames, in place of their own: a,b,c, with angles, or vectors")
    what.add_argument("--skip-bad", action="store_true", help="frames that cannot be used are left out and counted")
    how.add_argument("--readers", type=int, metavar="N", help="processes, or threads, that read (default: as many as are worth while)")
    how.add_argument("--device", metavar="D", help="as of `leyden map` (default: the fastest)")
    how.add_argument("-q", "--quiet", action="store_true", help="errors only")


def frames_in(arguments: argparse.Namespace) -> Dict[str, Any]:
    """The keyword arguments that these are."""
    return {**({"cell": parse_cell(arguments.cell)} if "cell" in arguments else {}),
            **({"ranks": arguments.ranks} if arguments.ranks is not None else {}), "engine": arguments.device, "progress": Progress(arguments),
            **{name: getattr(arguments, name) for name in ("start", "stop", "step", "skip_bad", "readers")}}


def check_checkpoint(path: str, resume: bool) -> None:
    """Errors: UsageError where there is one, and nobody wants to go on from it."""
    if os.path.exists(path) and not resume:
        raise UsageError(f"{path} is of a run that was interrupted: --resume goes on from it, and deleting it begins anew")


@contextlib.contextmanager
def said_of_checkpoint(path: str) -> Iterator[None]:
    """Of a run that fails or is interrupted within it."""
    try:
        yield
    except (KeyboardInterrupt, Error):
        if os.path.exists(path):
            print(f"leyden: frames so far are in {path}: --resume goes on from it", file=sys.stderr)
        raise


def by_ranks(report: Mapping[str, Any]) -> str:
    """Who else has done it."""
    return f", by {report['ranks']} ranks" if report["ranks"] > 1 else ""


def is_other_rank(arguments: argparse.Namespace) -> bool:
    """Whether rank 0 writes, and this is another one."""
    return arguments.ranks is not None and arguments.ranks.Get_rank() > 0


_ended_by: List[int] = []


def take_signals() -> None:
    """Ctrl-C, and SIGTERM, which batch systems send when time is over, raise KeyboardInterrupt."""
    def ended(number: int, _: Any) -> None:
        _ended_by.append(number)
        raise KeyboardInterrupt

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, ended)


def is_ended() -> bool:
    """Whether such a signal has come."""
    return bool(_ended_by)


def interrupt_code() -> int:
    """The exit code of a run that a signal has ended."""
    return 128 + (_ended_by or [signal.SIGINT])[0]


class Progress(FrameLine):
    """`progress=` of a command: a line for a terminal. It also hears of signals whose exception was lost, as Python loses
    those that are raised while it imports or frees something."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self._is_shown = sys.stderr.isatty() and not arguments.quiet

    def __call__(self, progress: FrameProgress) -> None:
        if is_ended():
            raise KeyboardInterrupt
        if self._is_shown:
            super().__call__(progress)

    def close(self) -> None:
        if self._is_shown:
            super().close()
