"""DCD files: whether they end within a frame, and the cells of CHARMM, which MDAnalysis turns."""
from __future__ import annotations

import os
import struct
from typing import Any, NamedTuple, Optional, Tuple

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
            return Layout(order, numbers[19], has_cell, fixed != 0, at, 3 * (4 * atoms + 8) + cell,
                          3 * (4 * (atoms - fixed) + 8) + cell)
    except (OSError, struct.error):
        return None


def is_cut(name: str) -> bool:
    """Whether a file ends within a frame, which MDAnalysis then leaves out in silence."""
    layout = layout_of(name)
    return layout is not None and not layout.has_fixed_atoms and (os.path.getsize(name) - layout.start) % layout.frame_bytes != 0


def part_of(trajectory: Any, number: int) -> Tuple[str, int]:
    """Of frame `number`: its file, "" where it has none, and the number there."""
    if hasattr(trajectory, "filenames") and hasattr(trajectory, "_get_local_frame"):
        part, number = trajectory._get_local_frame(number)  # pylint: disable=protected-access
        return str(trajectory.filenames[part]), int(number)
    return str(getattr(trajectory, "filename", None) or ""), number


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
        name, local = part_of(trajectory, number)
        if name not in self._layouts:
            self._layouts[name] = layout_of(name)
        layout = self._layouts[name]
        if layout is None or layout.version < _FIRST_WITH_MATRICES or not layout.has_cell:
            return None
        with open(name, "rb") as file:
            file.seek(layout.offset(local) + 4)
            content = file.read(48)
        if len(content) < 48:
            return None
        xx, xy, yy, xz, yz, zz = struct.unpack(layout.order + "6d", content)
        others = {xy, xz, yz}
        matrix = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        if others in ({0.0}, {90.0}) or not np.all(np.isfinite(matrix)) or np.linalg.eigvalsh(matrix)[0] <= 0:
            return None  # upright, or angles
        lengths = np.asarray(dimensions, float)[:3]
        is_of_file = any(np.allclose(lengths, found, rtol=1e-5) for found in (np.linalg.norm(matrix, axis=1), np.diag(matrix)))
        return matrix if is_of_file else None
