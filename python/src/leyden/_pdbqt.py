"""PDBQT files of AutoDock and Vina: atoms in PDB's columns, with charges in columns 67-76 and AutoDock's types."""
from __future__ import annotations

import gzip
from typing import Any, List, Tuple

import numpy as np

from ._atoms import Atoms
from ._errors import InputError, UsageError
from ._radii import Labels, radii_for

# AutoDock's types that are no element's symbol.
_ELEMENTS = {"A": "C", "HD": "H", "HS": "H", "NA": "N", "NS": "N", "OA": "O", "OS": "O", "SA": "S", "W": "O",
             "CG0": "C", "CG1": "C", "CG2": "C", "CG3": "C"}


def is_pdbqt(path: str) -> bool:
    """By its name, or by the records in its first lines that only PDBQT files have."""
    if path.endswith((".pdbqt", ".pdbqt.gz")):
        return True
    with open(path, "rb") as file:
        head = file.read(65536).splitlines()
    return any(line.strip() == b"ROOT" or line.startswith(b"TORSDOF") for line in head)


class Model:
    """One of a file's models, which begin with MODEL; a file without has one.

    Errors: InputError with ``file:line: what``; UsageError for the number of a model that is not there.
    """

    def __init__(self, path: str, number: int) -> None:
        self.path = path
        models: List[List[Tuple[int, str]]] = [[]]
        with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="latin-1") as file:  # type: ignore
            for n, line in enumerate(file, 1):
                if line.startswith("MODEL") and models[-1]:
                    models.append([])
                elif line.startswith(("ATOM", "HETATM")):
                    models[-1].append((n, line))
        if not models[0]:
            raise InputError(f"{path}: no ATOM or HETATM record")
        if not 0 <= number < len(models):
            raise UsageError(f"--frame {number}: {path} has the frames 0 to {len(models) - 1}")
        self.lines = models[number]

    @property
    def text(self) -> str:
        """Its records alone, for readers of others."""
        return "".join(line for _, line in self.lines)

    def _numbers(self, first: int, last: int, what: str) -> np.ndarray:
        """Of columns, counted from 1."""
        found = np.empty(len(self.lines))
        for i, (n, line) in enumerate(self.lines):
            try:
                found[i] = float(line[first - 1:last])
            except ValueError:
                raise InputError(f"{self.path}:{n}: {what} {line[first - 1:last].strip()!r}, in columns {first} to "
                                 f"{last}, is not a number") from None
        return found

    def atoms(self, radii: Any, picked: Any = None) -> Atoms:
        """All of them, or those whose numbers, from 0, are `picked`."""
        picked = np.arange(len(self.lines)) if picked is None else picked
        places = np.stack([self._numbers(31, 38, "x"), self._numbers(39, 46, "y"), self._numbers(47, 54, "z")], axis=1)
        charges = self._numbers(67, 76, "charge")
        lines = [self.lines[i][1] for i in picked]
        types = [line[76:].strip() for line in lines]
        labels = Labels([line[12:16].strip() for line in lines], types, [_ELEMENTS.get(t, t) for t in types],
                        [line[17:21].strip() for line in lines])
        _, residues = np.unique([line[17:27] for line in lines], return_inverse=True)
        return Atoms.from_arrays(places[picked], charges[picked], radii_for(len(lines), radii, None, labels),
                                 residues=residues)
