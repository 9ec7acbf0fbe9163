"""DCD files: whether they end within a frame, the cells of CHARMM, which MDAnalysis turns, and frames by threads."""
from __future__ import annotations

import os
import struct
import sys
import threading
from typing import Any, List, NamedTuple, Optional, Tuple

import numpy as np

# NAMD, VMD, OpenMM and MDAnalysis write lengths and angles, or their cosines, and call themselves
# version 24 or 0.
_FIRST_WITH_MATRICES = 25


class Layout(NamedTuple):
    """Where frames are in a file."""

    order: str  # of bytes, as `struct` names it
    version: int  # of CHARMM
    has_cell: bool
    has_fixed_atoms: bool  # which only the first frame has
    has_fourth: bool  # coordinate
    atoms: int
    start: int
    first_bytes: int
    frame_bytes: int  # of each after the first one

    def offset(self, number: int) -> int:
        return self.start + (self.first_bytes + (number - 1) * self.frame_bytes if number > 0 else 0)


def layout_of(name: str) -> Optional[Layout]:
    """None of other files."""
    try:
        with open(name, "rb") as file:
            start = file.read(92)
            order = "<" if start[:4] == struct.pack("<i", 84) else ">"
            if len(start) < 92 or start[4:8] != b"CORD":
                return None
            numbers = struct.unpack(order + "20i", start[8:88])
            fixed, has_cell = numbers[8], numbers[10] != 0
            title, = struct.unpack(order + "i", file.read(4))
            file.seek(title + 4, os.SEEK_CUR)
            _, atoms, _ = struct.unpack(order + "iii", file.read(12))
            at = file.tell() + (4 * (atoms - fixed) + 8 if fixed else 0)
            cell = 56 if has_cell else 0
            return Layout(order, numbers[19], has_cell, fixed != 0, numbers[11] != 0, atoms, at, 3 * (4 * atoms + 8) + cell,
                          3 * (4 * (atoms - fixed) + 8) + cell)
    except (OSError, struct.error):
        return None


def is_cut(name: str) -> bool:
    """Whether a file ends within a frame, which MDAnalysis then leaves out in silence."""
    layout = layout_of(name)
    return layout is not None and not layout.has_fixed_atoms and (os.path.getsize(name) - layout.start) % layout.frame_bytes != 0


def parts_of(trajectory: Any) -> List[Any]:
    """MDAnalysis' readers of its files."""
    return list(getattr(trajectory, "readers", None) or [trajectory])


def part_of(trajectory: Any, number: int) -> Tuple[Any, int]:
    """Of frame `number`: its reader, and the number there."""
    if hasattr(trajectory, "readers") and hasattr(trajectory, "_get_local_frame"):
        part, number = trajectory._get_local_frame(number)  # pylint: disable=protected-access
        return trajectory.readers[part], int(number)
    return trajectory, number


def name_of(reader: Any) -> str:
    """Of its file; "" where it has none."""
    return str(getattr(reader, "filename", None) or "")


def _matrix_of(layout: Layout, numbers: Any, dimensions: Any) -> Optional[np.ndarray]:
    """CHARMM's vectors, of the six numbers in the file."""
    if layout.version < _FIRST_WITH_MATRICES or dimensions is None:
        return None
    xx, xy, yy, xz, yz, zz = numbers
    others = {xy, xz, yz}
    matrix = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    if others in ({0.0}, {90.0}) or not np.all(np.isfinite(matrix)) or np.linalg.eigvalsh(matrix)[0] <= 0:
        return None  # upright, or angles
    lengths = np.asarray(dimensions, float)[:3]
    is_of_file = any(np.allclose(lengths, found, rtol=1e-5) for found in (np.linalg.norm(matrix, axis=1), np.diag(matrix)))
    return matrix if is_of_file else None


class Cells:
    """The oblique cells of CHARMM's files as they are.

    CHARMM writes a symmetric matrix, whose rows are the vectors among which its atoms are. MDAnalysis
    keeps the lengths and angles of these; vectors of such a length and angle, with a along x, are
    turned against the atoms. Where no number of the matrix is negative, it even takes some for angles.
    """

    def __init__(self) -> None:
        self._layouts: dict[str, Optional[Layout]] = {}

    def of(self, trajectory: Any, number: int, dimensions: Any) -> Optional[np.ndarray]:
        """(3, 3), A; None where `dimensions`, those of MDAnalysis, are right, or others than the file's."""
        if dimensions is None:
            return None
        reader, local = part_of(trajectory, number)
        name = name_of(reader)
        if name not in self._layouts:
            self._layouts[name] = layout_of(name)
        layout = self._layouts[name]
        if layout is None or layout.version < _FIRST_WITH_MATRICES or not layout.has_cell:
            return None
        with open(name, "rb") as file:
            file.seek(layout.offset(local) + 4)
            content = file.read(48)
        return _matrix_of(layout, struct.unpack(layout.order + "6d", content), dimensions) if len(content) == 48 else None


# ---- Frames by threads ---------------------------------------------------------------------------


class _Raw(NamedTuple):
    """What MDAnalysis' reader makes a frame of."""

    xyz: np.ndarray
    unitcell: np.ndarray


class _PlainFile:
    """One whose frames are all alike, with a cell or none, in this machine's order of bytes.

    Threads read it at the same time: neither reading nor sorting coordinates holds Python's lock. MDAnalysis' reader says
    what cell it is that a frame has.
    """

    def __init__(self, reader: Any, layout: Layout) -> None:
        self._reader, self._layout = reader, layout
        self._file = os.open(name_of(reader), os.O_RDONLY)
        self._own = threading.local()
        self._latest: Tuple[bytes, Any] = (b"", None)  # a cell in the file, and what it is

    @classmethod
    def of(cls, reader: Any) -> Optional["_PlainFile"]:
        """None of others, and where MDAnalysis works otherwise than the version that this is made for."""
        from MDAnalysis.coordinates.DCD import DCDReader
        layout = layout_of(name_of(reader)) if isinstance(reader, DCDReader) else None
        if layout is None or layout.order != {"little": "<", "big": ">"}[sys.byteorder] or layout.version == 0 or \
                layout.has_fixed_atoms or layout.has_fourth or layout.atoms != reader.n_atoms or not hasattr(os, "preadv") or \
                getattr(reader, "transformations", ()):
            return None
        return cls(reader, layout)

    def close(self) -> None:
        os.close(self._file)

    def read(self, number: int, positions: np.ndarray) -> Any:
        """Fills (N, 3). Its box and, of CHARMM's, its vectors. Errors: ValueError where the frame is not as others are."""
        if not hasattr(self._own, "buffer"):
            self._own.buffer = np.empty(self._layout.frame_bytes, np.uint8)
        buffer, cell_bytes = self._own.buffer, 56 if self._layout.has_cell else 0
        found = os.preadv(self._file, [buffer], self._layout.offset(number))
        lengths = buffer[cell_bytes:].view(np.int32).reshape(3, -1)[:, [0, -1]]
        if found < len(buffer) or np.any(lengths != 4 * self._layout.atoms) or \
                (cell_bytes and buffer[:4].view(np.int32)[0] != 48):
            raise ValueError("the frame is cut or has other records")
        columns = buffer[cell_bytes:].view(np.float32).reshape(3, -1)[:, 1:-1]
        for axis in range(3):
            positions[:, axis] = columns[axis]
        if self._reader.convert_units:
            self._reader.convert_pos_from_native(positions)
        return self._cell_of(buffer[4:52].tobytes() if cell_bytes else b"")

    def _cell_of(self, content: bytes) -> Any:
        known, cell = self._latest
        if cell is None or known != content:
            numbers = np.frombuffer(content) if content else np.array([0, 90, 0, 90, 90, 0.0])
            step = self._reader._Timestep(1)  # pylint: disable=protected-access
            self._reader._frame_to_ts(_Raw(np.zeros((1, 3), np.float32), numbers.copy()), step)  # pylint: disable=protected-access
            box = step.dimensions
            cell = box, _matrix_of(self._layout, numbers.tolist(), box) if content else None
            self._latest = content, cell
        return cell


class PlainFiles:
    """The DCD files of a trajectory, where each is a `_PlainFile`: `of(trajectory)`."""

    def __init__(self, trajectory: Any) -> None:
        self._trajectory, self._lock, self._own = trajectory, threading.Lock(), threading.local()
        self._files: dict[int, _PlainFile] = {}

    @classmethod
    def of(cls, trajectory: Any, numbers: range) -> Optional["PlainFiles"]:
        """None where they are not, or where the first or the last frame differs from MDAnalysis'."""
        made = cls(trajectory)
        try:
            for reader in parts_of(trajectory):
                file = _PlainFile.of(reader)
                if file is None:
                    break
                made._files[id(reader)] = file
            else:
                if all(made._agrees(number) for number in (numbers[0], numbers[-1])):
                    return made
        except Exception:  # pylint: disable=broad-except
            pass  # MDAnalysis has what is wrong, or reads it
        made.close()
        return None

    def _agrees(self, number: int) -> bool:
        reader, local = part_of(self._trajectory, number)
        frame = self._trajectory[number]
        positions = np.empty_like(frame.positions)
        box, _ = self._files[id(reader)].read(local, positions)
        return np.array_equal(positions, frame.positions, equal_nan=True) and np.array_equal(box, frame.dimensions)

    def frame(self, number: int, wanted: Optional[np.ndarray]) -> Tuple[np.ndarray, Any, Optional[np.ndarray]]:
        """As of `_frames.Source`; MDAnalysis has what is wrong with frames that are unlike others."""
        if wanted is None and not hasattr(self._own, "positions"):
            self._own.positions = np.empty((self._trajectory.n_atoms, 3), np.float32)
        positions = self._own.positions if wanted is None else wanted
        reader, local = part_of(self._trajectory, number)
        try:
            return (positions, *self._files[id(reader)].read(local, positions))
        except ValueError:
            with self._lock:
                frame = self._trajectory[number]
                positions[...] = frame.positions
                return positions, frame.dimensions, Cells().of(self._trajectory, number, frame.dimensions)

    def close(self) -> None:
        for file in self._files.values():
            file.close()
