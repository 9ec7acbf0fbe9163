"""Calls that take long: in a thread of their own, so that Ctrl-C and progress reach the caller.

Python's signal handlers run in the main thread between two steps of its own, never inside a C
function. So the C function runs in a worker thread, without Python's lock, and the caller waits for
it. What interrupts the wait cancels the work; work that cannot be cancelled, such as opening a
driver, is left behind and ends by itself: it owns all that it uses.
"""
from __future__ import annotations

import atexit
import contextlib
import threading
import time
from typing import Any, Callable, Iterator, List, Optional, Tuple

from ._c import ffi, lib
from ._errors import Cancelled

# How long an interrupted call waits for its worker to let go, s.
PATIENCE_S = 0.3
# How often the caller looks for news while it has a progress callback, s.
TICK_S = 0.1

_left_behind: List[threading.Thread] = []


class Token:
    """By which a running piece of work is cancelled, from any thread."""

    def __init__(self) -> None:
        self.flag = ffi.new("bool *", False)  # writers of files look at it
        self._lock = threading.Lock()
        self._job: Any = None

    @property
    def is_cancelled(self) -> bool:
        return bool(self.flag[0])

    def cancel(self) -> None:
        self.flag[0] = True
        with self._lock:
            if self._job is not None:
                lib.ley_job_cancel(self._job)

    def attach(self, job: Any) -> None:
        """From now on cancelling cancels this job, too; None: no job."""
        with self._lock:
            self._job = job
            if job is not None and self.is_cancelled:
                lib.ley_job_cancel(job)

    def check(self) -> None:
        """Raises Cancelled between two steps."""
        if self.is_cancelled:
            raise Cancelled("cancelled")

    @contextlib.contextmanager
    def holding(self, lock: Optional[threading.Lock]) -> Iterator[None]:
        """With a lock, for which it waits; cancelling raises Cancelled in its place. None: without one."""
        while lock is not None and not lock.acquire(timeout=0.05):
            self.check()
        try:
            yield
        finally:
            if lock is not None:
                lock.release()


def call(work: Callable[[Token], Any], watch: Optional[Callable[[], None]] = None) -> Any:
    """`work(token)` in a worker thread; `watch()` in this one, again and again meanwhile.

    What `watch` raises, and KeyboardInterrupt, cancels the work and is raised when it has ended, or
    after PATIENCE_S.
    """
    token, done = Token(), threading.Event()
    box: List[Tuple[Any, Optional[BaseException]]] = []

    def target() -> None:
        try:
            box.append((work(token), None))
        except BaseException as error:  # pylint: disable=broad-except
            box.append((None, error))
        finally:
            done.set()

    thread = threading.Thread(target=target, name="leyden", daemon=True)
    try:
        thread.start()
        while not done.wait(TICK_S if watch is not None else None):
            watch()  # type: ignore[misc]
    except BaseException:
        token.cancel()
        if thread.ident is not None and not done.is_set():
            _left_behind.append(thread)
            done.wait(PATIENCE_S)
        _left_behind[:] = [t for t in _left_behind if t.is_alive()]
        raise
    result, error = box.pop()
    if error is not None:
        try:
            raise error
        finally:
            del error  # it holds this frame, which holds it
    return result


def let_go(work: Callable[[], Any]) -> None:
    """`work()` in a thread that nobody waits for long: it frees what an interrupted call is still at."""
    thread = threading.Thread(target=work, name="leyden", daemon=True)
    thread.start()
    thread.join(PATIENCE_S / 6)
    if thread.is_alive():
        _left_behind.append(thread)


def wait_for_workers(seconds: float = 30.0) -> None:
    """Waits for work that was left behind: drivers crash where a process ends under them."""
    end = time.monotonic() + seconds
    for thread in list(_left_behind):
        thread.join(max(0.0, end - time.monotonic()))
    while lib.ley_driver_is_stuck() and time.monotonic() < end:
        time.sleep(0.02)


atexit.register(wait_for_workers)
