"""Radii of atoms whose topology has none, or others than are wanted."""
from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from typing import Any, Mapping, Optional, Sequence

import numpy as np

from ._arrays import numbers
from ._c import lib
from ._errors import InputError, RadiiWarning

SYMBOLS = ("", *("H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se Br Kr Rb Sr Y Zr Nb Mo Tc "
                 "Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm Sm Eu Gd Tb Dy Ho Er Tm Yb Lu Hf Ta W Re Os Ir Pt Au Hg Tl Pb "
                 "Bi Po At Rn Fr Ra Ac Th Pa U").split())

VAN_DER_WAALS_A: Mapping[str, float] = {symbol: lib.ley_element_radius_A(k) for k, symbol in enumerate(SYMBOLS)
                                        if lib.ley_element_radius_A(k) > 0}

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


@dataclass(frozen=True)
class Labels:
    """What a topology says of its atoms, (count,) each, or None where it says nothing.

    `residues` are the names of the residues that the atoms are of, `masses` in u.
    """

    names: Optional[Sequence[Any]] = None
    types: Optional[Sequence[Any]] = None
    elements: Optional[Sequence[Any]] = None
    residues: Optional[Sequence[Any]] = None
    masses: Optional[Sequence[float]] = None

    def element(self, i: int) -> str:
        """As the topology has it, else as the atom's name says, "" where neither does."""
        return _word(self.elements, i).capitalize() or element_of(_word(self.names, i), _word(self.residues, i))

    def is_site(self, i: int) -> bool:
        """Whether it carries charge and is no atom: without mass, and named as water models do."""
        return (self.names is not None and self.masses is not None and self.masses[i] == 0 and
                _SITE.match(str(self.names[i])) is not None)

    def describe(self, i: int) -> str:
        """For messages: "atom 2 with the name SC1 and the type SP5", say."""
        found = (("name", _word(self.names, i)), ("type", _word(self.types, i)), ("element", self.element(i)))
        said = [f"the {what} {word}" for what, word in found if word]
        return f"atom {i + 1}{' with ' if said else ''}{' and '.join(said)}"


def _word(column: Optional[Sequence[Any]], i: int) -> str:
    return "" if column is None else str(column[i]).strip()


def _by_keys(count: int, wanted: Mapping[Any, Any], labels: Labels) -> np.ndarray:
    """Of each atom what stands under its name, else under its type, else under its element."""
    table = {str(key): float(numbers(radius, f"radii: {key}", np.float64)) for key, radius in wanted.items()}
    radii, unused = np.full(count, np.nan), set(table)
    elements = [labels.element(i) for i in range(count)]
    for column in (labels.names, labels.types, elements):
        words = np.array([] if column is None else [str(word).strip() for word in column], dtype=object)
        for key in table if len(words) else ():
            is_it = words == key
            radii[is_it & np.isnan(radii)] = table[key]
            if np.any(is_it):
                unused.discard(key)
    for key in sorted(unused):  # an element's symbol in other letters, if anything
        is_it = np.array(elements, dtype=object) == key.capitalize()
        if not np.any(is_it):
            raise InputError(f"radii: no atom has the name, the type or the element {key!r}")
        radii[is_it & np.isnan(radii)] = table[key]
    for i in np.flatnonzero(np.isnan(radii)):
        if not labels.is_site(i):
            raise InputError(f"radii: {labels.describe(i)}: none of these has a radius: give one of them, too")
        radii[i] = 0
    return radii


def _by_element(count: int, labels: Labels) -> np.ndarray:
    radii = np.zeros(count)
    for i in range(count):
        element = labels.element(i)
        if element in VAN_DER_WAALS_A:
            radii[i] = VAN_DER_WAALS_A[element]
        elif not labels.is_site(i):
            raise InputError(f"radii: {labels.describe(i)}: no van der Waals radius is known for it: give radii, numbers "
                             "or a dict from names, types or elements to numbers")
    return radii


def radii_for(count: int, wanted: Any, found: Any, labels: Labels) -> np.ndarray:
    """Radii, (count,), A: those wanted, else those found, else 0, with a RadiiWarning.

    Args:
        wanted: None; (count,) numbers, or one for all; a dict from names, types or elements, in this
            order, to radii; or "element", the table of this module. Of a dict and of the table sites
            that carry charge and are no atoms, without mass and named as water models do, have 0.
        found: what the topology has, or None.

    Errors: InputError for a key that no atom has, and for an atom that is left over, with their names.
    """
    if isinstance(wanted, Mapping):
        return _by_keys(count, wanted, labels)
    if isinstance(wanted, str):
        if wanted != "element":
            raise InputError(f"radii: numbers, a dict or 'element' are needed, not {wanted!r}")
        return _by_element(count, labels)
    if wanted is not None:
        given = numbers(wanted, "radii", np.float64)
        if given.shape not in ((), (count,)):
            raise InputError(f"radii has the shape {given.shape}, not ({count},)")
        return np.broadcast_to(given, (count,))
    if found is not None and np.all(np.isfinite(found)) and np.any(np.asarray(found) > 0):
        return np.asarray(found, float)
    warnings.warn("there are no radii: all are 0, which changes no potential of charges; surfaces, "
                  "boundaries and the pair functions lennard-jones and buckingham need them", RadiiWarning, stacklevel=3)
    return np.zeros(count)
