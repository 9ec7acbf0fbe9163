"""Radii of atoms whose topology has none."""
from __future__ import annotations

import re
import warnings
from typing import Any, Mapping, Optional, Sequence

import numpy as np

from ._arrays import numbers
from ._errors import InputError, RadiiWarning

# Van der Waals radii, A. A. Bondi, J. Phys. Chem. 68, 441 (1964); those of B, Al and of the alkali
# and alkaline earth metals that it lacks: M. Mantina et al., J. Phys. Chem. A 113, 5806 (2009); of
# Mn, Fe and Co: S. Alvarez, Dalton Trans. 42, 8617 (2013).
VAN_DER_WAALS_A: Mapping[str, float] = {
    "H": 1.20, "He": 1.40, "Li": 1.82, "B": 1.92, "C": 1.70, "N": 1.55, "O": 1.52, "F": 1.47, "Ne": 1.54,
    "Na": 2.27, "Mg": 1.73, "Al": 1.84, "Si": 2.10, "P": 1.80, "S": 1.80, "Cl": 1.75, "Ar": 1.88, "K": 2.75,
    "Ca": 2.31, "Mn": 2.45, "Fe": 2.44, "Co": 2.40, "Ni": 1.63, "Cu": 1.40, "Zn": 1.39, "As": 1.85, "Se": 1.90,
    "Br": 1.85, "Kr": 2.02, "Rb": 3.03, "Ag": 1.72, "Cd": 1.58, "I": 1.98, "Xe": 2.16, "Cs": 3.43, "Pt": 1.75,
    "Au": 1.66, "Hg": 1.55,
}

# Ions by the names that force fields give to their residues.
_IONS = {"SOD": "Na", "NA": "Na", "NA+": "Na", "CLA": "Cl", "CL": "Cl", "CL-": "Cl", "POT": "K", "K": "K", "K+": "K",
         "CAL": "Ca", "CA": "Ca", "CA2+": "Ca", "CES": "Cs", "CS": "Cs", "MG": "Mg", "MG2+": "Mg", "ZN": "Zn",
         "ZN2+": "Zn", "LIT": "Li", "LI": "Li", "RUB": "Rb", "RB": "Rb", "CAD": "Cd", "CD": "Cd", "FE": "Fe"}

# Sites of water models and lone pairs, without mass: M of TIP4P, L or LP of TIP5P, EP of Amber.
_SITE = re.compile(r"(M|MW|L|LP|EP|EPW|VS)\d*$")


def element_of(name: str, residue: str = "") -> str:
    """The element that an atom's name stands for, "" where it says nothing.

    CA is carbon, unless its residue is calcium's; names of one element's letters beyond the common
    ones (ZN, FE, CL, BR, SE, MG) are that element.
    """
    letters = "".join(c for c in str(name) if c.isalpha())
    ion = _IONS.get(str(residue).strip().upper())
    if ion is not None and (letters[:1].upper() == ion[0] or _IONS.get(str(name).strip().upper()) == ion):
        return ion
    if letters[:2].upper() in ("CL", "BR", "ZN", "FE", "MG", "SE", "SI", "LI", "AL") and str(name)[:1].isalpha():
        return letters[:2].capitalize()
    return letters[:1].upper()


def _is_site(i: int, names: Optional[Sequence[str]], masses: Optional[Sequence[float]]) -> bool:
    return names is not None and masses is not None and masses[i] == 0 and _SITE.match(str(names[i])) is not None


def radii_for(count: int, wanted: Any, found: Any, elements: Optional[Sequence[str]], names: Optional[Sequence[str]],
              residues: Optional[Sequence[str]], masses: Optional[Sequence[float]] = None) -> np.ndarray:
    """Radii, (count,), A: those wanted, else those found, else the elements', with a warning.

    Sites that carry charge and are no atoms, without mass and named as water models do, have none.
    """
    if wanted is None and found is not None and np.all(np.isfinite(found)) and np.any(np.asarray(found) > 0):
        return np.asarray(found, float)
    table = dict(VAN_DER_WAALS_A)
    if isinstance(wanted, Mapping):
        table.update({str(element).capitalize(): float(numbers(radius, f"radii: {element}", np.float64))
                      for element, radius in wanted.items()})
    elif wanted is not None and not isinstance(wanted, str):
        given = numbers(wanted, "radii", np.float64)
        if given.shape not in ((), (count,)):
            raise InputError(f"radii has the shape {given.shape}, not ({count},)")
        return np.broadcast_to(given, (count,))
    elif isinstance(wanted, str) and wanted != "element":
        raise InputError(f"radii: numbers, a dict or 'element' are needed, not {wanted!r}")
    guessed, sites = 0, 0
    radii = np.empty(count)
    for i in range(count):
        element = str(elements[i]).strip().capitalize() if elements is not None else ""
        named = False
        if not element and names is not None:
            named = True
            element = element_of(names[i], residues[i] if residues is not None else "")
            guessed += 1
        if element not in table and _is_site(i, names, masses):
            radii[i] = 0
            sites += 1
            guessed -= named
            continue
        if element not in table:
            who = f"atom {i + 1}" + (f", {names[i]}" if names is not None else "")
            raise InputError(f"radii: {who}: no radius is known for element {element!r}: give radii, or a dict with it")
        radii[i] = table[element]
    if wanted is None:
        how = "by element" if guessed == 0 else f"by element, which {guessed} of {count} atoms have by their names"
        how += f", and of {sites} sites without mass 0" if sites else ""
        warnings.warn(f"the topology has no radii: van der Waals radii are taken {how}", RadiiWarning, stacklevel=4)
    return radii
