"""Processes that share the frames of a trajectory: a communicator of mpi4py."""
from __future__ import annotations

import os
import threading
import time
from typing import Any, Iterator, Optional, Sequence

import numpy as np

from ._c import ffi
from ._errors import UsageError

_LOOK_S = 1e-3
_AT_ONCE = 1 << 26  # words that are added up
# What launchers set: how many processes there are.
_COUNTS = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS")


@ffi.def_extern(name="pyley_add_up", error=1)
def _add_up(context: Any, words: Any, count: int, to: int) -> int:
    ffi.from_handle(context).add_up(np.frombuffer(ffi.buffer(words, 8 * count), np.int64), to)
    return 0


class Ranks:
    """Pieces of work are taken on a counter of rank 0, to which others add one-sidedly; what is made comes to all ranks.
    All ranks do the same in the same order."""

    def __init__(self, communicator: Any) -> None:
        from mpi4py import MPI
        self._mpi, self._all = MPI, communicator.Dup()
        self.count, self.own = self._all.Get_size(), self._all.Get_rank()
        self._counter = MPI.Win.Allocate(8 if self.own == 0 else 0, 8, comm=self._all)
        self._is_over = threading.Event()
        if self.own == 0:
            threading.Thread(target=self._attend, daemon=True).start()

    @classmethod
    def of(cls, communicator: Any) -> Optional["Ranks"]:
        """None: one process alone. Errors: UsageError for what is no communicator."""
        if communicator is not None and not hasattr(communicator, "Get_size"):
            raise UsageError(f"ranks: a communicator of mpi4py is needed, as MPI.COMM_WORLD, not {communicator!r:.60}")
        return None if communicator is None or communicator.Get_size() < 2 else cls(communicator)

    def _attend(self) -> None:
        """Lets requests of others be served, whatever this rank is at."""
        while not self._is_over.wait(_LOOK_S):
            self._all.Iprobe()

    def _count(self, more: int, operation: Any) -> int:
        """What was there before."""
        added, before = np.array([more], np.int64), np.zeros(1, np.int64)
        self._counter.Lock(0, self._mpi.LOCK_SHARED)
        self._counter.Fetch_and_op(added, before, 0, 0, operation)
        self._counter.Unlock(0)
        return int(before[0])

    def taken(self, pieces: Sequence[Any]) -> Iterator[Any]:
        """Those of them that this rank takes, each when it asks for it."""
        self._all.Barrier()
        if self.own == 0:
            self._count(0, self._mpi.REPLACE)
        self._all.Barrier()
        while (number := self._count(1, self._mpi.SUM)) < len(pieces):
            yield pieces[number]

    def each(self, own: Any) -> Iterator[Any]:
        """What every rank has, in their order, one after the other."""
        for rank in range(self.count):
            yield self._all.bcast(own if rank == self.own else None, rank)

    def add_up(self, words: np.ndarray, to: int) -> None:
        """The sums of all ranks, of each int64, in place: for rank `to`, or for all where that is -1."""
        for first in range(0, len(words), _AT_ONCE):
            part = words[first:first + _AT_ONCE]
            if to < 0:
                self._all.Allreduce(self._mpi.IN_PLACE, part)
            else:  # MPICH 4.0 cannot do that in place
                made = np.empty_like(part) if to == self.own else None
                self._all.Reduce(part, made, root=to)
                if made is not None:
                    part[:] = made

    def close(self) -> None:
        self._all.Barrier()
        self._is_over.set()
        self._counter.Free()
        self._all.Free()


def launched() -> Any:
    """The communicator of all processes that mpirun or srun has started; None: there is this one alone."""
    if all(int(os.environ.get(name) or 1) < 2 for name in _COUNTS):
        return None
    try:
        from mpi4py import MPI
    except ImportError:
        raise ImportError("several processes were started, and mpi4py is not installed, by which they share the frames: pip "
                          "install mpi4py, of the same MPI as mpirun") from None
    return MPI.COMM_WORLD
