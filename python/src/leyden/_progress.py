"""How far a job is, for people."""
from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from typing import Any, Callable, Optional, Union

from ._c import ffi, lib
from ._errors import UsageError

TICK_S = 0.1


@dataclass(frozen=True)
class Progress:
    """Points done and to be done, seconds since the start and seconds left (an estimate)."""

    points_done: int
    points_total: int
    elapsed_s: float
    left_s: float


@dataclass(frozen=True)
class FrameProgress:
    """Frames of a trajectory done and to be done, seconds since the start and seconds left (an estimate), and frames a
    second."""

    frames_done: int
    frames_total: int
    elapsed_s: float
    left_s: float
    frames_per_s: float


FramesProgressArgument = Union[None, bool, Callable[[FrameProgress], None]]


class _Line:
    """A line on standard error, where tqdm is not installed."""

    def __call__(self, progress: Progress) -> None:
        percent = 100 * progress.points_done / max(progress.points_total, 1)
        sys.stderr.write(f"\r{percent:3.0f} %, {progress.left_s:.0f} s left ")
        sys.stderr.flush()

    def close(self) -> None:
        sys.stderr.write("\n")


class _Bar:
    """tqdm's bar."""

    def __init__(self, tqdm: Any) -> None:
        self.bar = tqdm(unit="point", unit_scale=True)

    def __call__(self, progress: Progress) -> None:
        self.bar.total = progress.points_total
        self.bar.n = progress.points_done
        self.bar.refresh()

    def close(self) -> None:
        self.bar.close()


class Watcher:
    """What a job tells of itself, and who is told: a callable, a bar (True), or nobody (None)."""

    def __init__(self, wanted: Union[None, bool, Callable[[Progress], None]]) -> None:
        self.told: Optional[Any] = None
        self._seen = 0
        self._latest = ffi.new("ley_progress *")
        self.state: Any = ffi.NULL
        if wanted is None or wanted is False:
            return
        if wanted is True:
            try:
                from tqdm.auto import tqdm
                self.told = _Bar(tqdm)
            except ImportError:
                self.told = _Line()
        elif callable(wanted):
            self.told = wanted
        else:
            raise UsageError("progress is None, True or a callable")
        self.state = ffi.gc(lib.pyley_progress_create(), lib.pyley_progress_destroy)

    @property
    def tick(self) -> Optional[Callable[[], None]]:
        """To be called now and then in the caller's thread; None: nobody is told."""
        return None if self.told is None else self.tell

    def tell(self) -> None:
        """Tells what is new."""
        calls = lib.pyley_progress_read(self.state, self._latest)
        if self.told is not None and calls != self._seen:
            self._seen = calls
            latest = self._latest
            self.told(Progress(latest.points_done, latest.points_total, latest.elapsed_s, latest.left_s))

    def close(self) -> None:
        if isinstance(self.told, (_Bar, _Line)):
            self.told.close()


class FrameLine:
    """A line on standard error, of frames."""

    def __call__(self, progress: FrameProgress) -> None:
        sys.stderr.write(f"\r{progress.frames_done} of {progress.frames_total} frames, {progress.frames_per_s:.3g} frames/s, "
                         f"{progress.left_s:.0f} s left ")
        sys.stderr.flush()

    def close(self) -> None:
        sys.stderr.write("\r\033[K" if sys.stderr.isatty() else "\n")  # notebooks and files take no control characters


class FrameWatcher:
    """How far a run over frames is, and who is told: a callable, a line (True), or nobody (None)."""

    def __init__(self, wanted: FramesProgressArgument) -> None:
        if wanted is not None and not isinstance(wanted, bool) and not callable(wanted):
            raise UsageError("progress is None, True or a callable")
        self._told: Any = FrameLine() if wanted is True else wanted or None
        self._first = self._done = self._total = 0
        self.ranks = 1
        self._start_s = self._last_s = time.monotonic()
        self._told_s = 0.0

    def begin(self, done: int, total: int) -> None:
        self._first = self._done = done
        self._total = total
        self._start_s = self._last_s = time.monotonic()

    @property
    def elapsed_s(self) -> float:
        return self._last_s - self._start_s

    @property
    def rate(self) -> float:
        """Frames a second, of this run alone."""
        return (self._done - self._first) / max(self.elapsed_s, 1e-9)

    def tell(self, done: int) -> None:
        now_s = time.monotonic()
        is_due = now_s - self._told_s >= TICK_S or done == self._total
        self._done, self._last_s = done, now_s
        if self._told is not None and is_due:
            self._told_s = now_s
            self._told(FrameProgress(done, self._total, self.elapsed_s, (self._total - done) / max(self.rate, 1e-9), self.rate))

    def end(self, ranks: int = 1) -> None:
        """What was under way has ended; `ranks` have done all of it."""
        self._last_s = time.monotonic()
        if ranks > 1:
            self._done, self.ranks = self._total, ranks

    def close(self) -> None:
        if isinstance(self._told, FrameLine):
            self._told.close()
