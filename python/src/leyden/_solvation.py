"""Radii and constants of implicit solvents, by elements and bonds: generalised Born, and LCPO's surfaces."""
from __future__ import annotations

import re
import warnings
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from ._errors import RadiiWarning, UsageError
from ._radii import SYMBOLS, VAN_DER_WAALS_A

# ---- Generalised Born ----------------------------------------------------------------------------

# Which radii go with which model, as Amber's manual advises.
RADII_OF = {"hct": "mbondi", "obc1": "mbondi2", "obc2": "mbondi2", "gbn": "bondi", "gbn2": "mbondi3"}
RADII = ("bondi", "amber6", "mbondi", "mbondi2", "mbondi3")

# Of elements by their numbers, in A; sites without an element have none.
_BONDI = {0: 0.0, 1: 1.2, 6: 1.7, 7: 1.55, 8: 1.5, 9: 1.5, 14: 2.1, 15: 1.85, 16: 1.8, 17: 1.7}
_OTHER_BONDI = 1.5
# Hydrogens by what they are bonded to: V. Tsui and D. A. Case, Biopolymers 56, 275 (2001), and
# A. Onufriev et al., Proteins 55, 383 (2004).
_HYDROGENS: Dict[str, Dict[int, float]] = {
    "bondi": {}, "amber6": {6: 1.3, 8: 0.8, 16: 0.8}, "mbondi": {6: 1.3, 7: 1.3, 8: 0.8, 16: 0.8},
    "mbondi2": {7: 1.3}, "mbondi3": {7: 1.3}}
_CARBOXYLATE_O, _ARGININE_H = 1.4, 1.17  # of mbondi3

# Screens: of HCT and OBC those of Tinker; of GBn J. Mongan et al., J. Chem. Theory Comput. 3, 156
# (2007); of GBn2 H. Nguyen, D. R. Roe and C. Simmerling, J. Chem. Theory Comput. 9, 2020 (2013), of
# nucleic acids H. Nguyen et al., ibid. 11, 3714 (2015), with their alpha, beta and gamma.
_SCREENS = {1: 0.85, 6: 0.72, 7: 0.79, 8: 0.85, 9: 0.88, 15: 0.86, 16: 0.96}
_OTHER_SCREEN = 0.8
_GBN_SCREENS = {1: 1.09085413633, 6: 0.48435382330, 7: 0.700147318409, 8: 1.06557401132, 16: 0.602256336067}
_GBN2_SCREENS = {1: 1.425952, 6: 1.058554, 7: 0.733599, 8: 1.061039, 16: -0.703469}
_NUCLEIC_SCREENS = {1: 1.696538, 6: 1.268902, 7: 1.4259728, 8: 0.1840098, 15: 1.5450597, 16: 0.05}
_OTHER_GBN_SCREEN = 0.5
_GBN2_FACTORS = {1: (0.788440, 0.798699, 0.437334), 6: (0.733756, 0.506378, 0.205844), 7: (0.503364, 0.316828, 0.192915),
                 8: (0.867814, 0.876635, 0.387882), 16: (0.867814, 0.876635, 0.387882)}
_NUCLEIC_FACTORS = {1: (0.537050, 0.362861, 0.116704), 6: (0.331670, 0.196842, 0.093422), 7: (0.686311, 0.463189, 0.138722),
                    8: (0.606344, 0.463006, 0.142262), 15: (0.418365, 0.290054, 0.1064245), 16: (0.606344, 0.463006, 0.142262)}
_OTHER_FACTORS = (1.0, 0.8, 4.851)
_NUCLEIC = re.compile(r"(R?[ACGU]|D[ACGT])[35N]?$")  # names of residues


class Molecules(NamedTuple):
    """What radii depend on."""

    elements: np.ndarray  # atomic numbers; 0: a site
    neighbours: Sequence[Sequence[int]]  # those that each is bonded to, without sites
    names: Sequence[str]
    residue_names: Sequence[str]  # of each atom's residue

    def bonded(self, i: int) -> List[int]:
        """The elements around an atom."""
        return [int(self.elements[j]) for j in self.neighbours[i]]

    def is_carboxylate(self, i: int) -> bool:
        """An oxygen of COO-: bonded to one carbon that has another such one, and three neighbours."""
        if self.elements[i] != 8 or len(self.neighbours[i]) != 1:
            return False
        carbon = self.neighbours[i][0]
        return self.elements[carbon] == 6 and len(self.neighbours[carbon]) == 3 and \
            sum(self.elements[j] == 8 and len(self.neighbours[j]) == 1 for j in self.neighbours[carbon]) == 2


def check_model(gb: str, radii: str) -> None:
    """UsageError for what is not there."""
    if gb not in RADII_OF:
        raise UsageError(f"gb: {gb!r:.60} is none of {', '.join(RADII_OF)}")
    if radii != "auto" and radii not in RADII:
        raise UsageError(f"radii: {radii!r:.60} is none of auto, {', '.join(RADII)}")


def born_radii(of: Molecules, kind: str) -> np.ndarray:
    """Intrinsic radii, (n,), A: "bondi", "amber6", "mbondi", "mbondi2" or "mbondi3"."""
    made = np.array([_BONDI.get(int(element), _OTHER_BONDI) for element in of.elements])
    for i in np.flatnonzero(of.elements == 1):
        bonded = of.bonded(i)
        made[i] = _HYDROGENS[kind].get(bonded[0], made[i]) if bonded else made[i]
    if kind == "mbondi3":
        for i, name in enumerate(of.names):
            if of.is_carboxylate(i):
                made[i] = _CARBOXYLATE_O
            elif of.residue_names[i] == "ARG" and name.startswith(("HH", "HE")):
                made[i] = _ARGININE_H
    return made


def _screens_of(gb: str) -> Tuple[Sequence[Dict[int, float]], float]:
    """Tables of proteins and of nucleic acids, and what other elements have."""
    tables = {"gbn": (_GBN_SCREENS,) * 2, "gbn2": (_GBN2_SCREENS, _NUCLEIC_SCREENS)}.get(gb, (_SCREENS,) * 2)
    return tables, _OTHER_GBN_SCREEN if gb in ("gbn", "gbn2") else _OTHER_SCREEN


def born_constants(of: Molecules, gb: str) -> Dict[str, np.ndarray]:
    """Screens, and of GBn2 alpha, beta and gamma, as members of particles."""
    is_nucleic = [_NUCLEIC.match(name) is not None for name in of.residue_names]
    screens, other = _screens_of(gb)
    pairs = [(int(element), nucleic) for element, nucleic in zip(of.elements, is_nucleic)]
    made = {"born_screens": np.array([screens[nucleic].get(element, other) if element else 0.0 for element, nucleic in pairs])}
    if gb == "gbn2":
        factors = (_GBN2_FACTORS, _NUCLEIC_FACTORS)
        made["born_factors"] = np.array([factors[nucleic].get(element, _OTHER_FACTORS) for element, nucleic in pairs])
    return made


def model_of(elements: np.ndarray, screens: np.ndarray) -> Optional[str]:
    """For which model screens are, by their elements: "obc2", also of hct and obc1, "gbn" or "gbn2"; None: another's."""
    for gb in ("obc2", "gbn", "gbn2"):
        tables, other = _screens_of(gb)
        rights = [np.array([table.get(int(element), other) for element in elements]) for table in tables]
        if all(np.any([np.isclose(right, screens, rtol=0, atol=1e-5) for right in rights], axis=0) | (elements == 0)):
            return gb
    return None


# ---- LCPO ----------------------------------------------------------------------------------------

# Radius, and P1 to P4: J. Weiser, P. S. Shenkin and W. C. Still, J. Comput. Chem. 20, 217 (1999),
# table 1, by hybridisation and bonds to others than hydrogen; F and Mg as Amber has them.
_SP3_C = {1: (1.7, 0.77887, -0.28063, -0.0012968, 0.00039328), 2: (1.7, 0.56482, -0.19608, -0.0010219, 0.0002658),
          3: (1.7, 0.23348, -0.072627, -0.00020079, 0.00007967), 4: (1.7, 0.0, 0.0, 0.0, 0.0)}
_SP2_C = {2: (1.7, 0.51245, -0.15966, -0.00019781, 0.00016392), 3: (1.7, 0.070344, -0.019015, -0.000022009, 0.000016875)}
_SP3_O = {1: (1.6, 0.77914, -0.25262, -0.0016056, 0.00035071), 2: (1.6, 0.49392, -0.16038, -0.00015512, 0.00016453)}
_SP2_O = (1.6, 0.68563, -0.1868, -0.00135573, 0.00023743)
_ACID_O = (1.6, 0.88857, -0.33421, -0.0018683, 0.00049372)
_SP3_N = {1: (1.65, 0.078602, -0.29198, -0.0006537, 0.00036247), 2: (1.65, 0.22599, -0.036648, -0.0012297, 0.000080038),
          3: (1.65, 0.051481, -0.012603, -0.00032006, 0.000024774)}
_SP2_N = {1: (1.65, 0.73511, -0.22116, -0.00089148, 0.0002523), 2: (1.65, 0.41102, -0.12254, -0.000075448, 0.00011804),
          3: (1.65, 0.062577, -0.017874, -0.00008312, 0.000019849)}
_S = {1: (1.9, 0.7722, -0.26393, 0.0010629, 0.0002179), 2: (1.9, 0.54581, -0.19477, -0.0012873, 0.00029247)}
_P = {3: (1.9, 0.3865, -0.18249, -0.0036598, 0.0004264), 4: (1.9, 0.03873, -0.0089339, 0.0000083582, 0.0000030381)}
_OTHERS = {9: (1.47, 0.68563, -0.1868, -0.00135573, 0.00023743), 12: (1.18, 0.49392, -0.16038, -0.00015512, 0.00016453),
           17: (1.8, 0.98318, -0.40437, 0.00011249, 0.00049901)}


def _nearest(table: Dict[int, Any], bonds: int) -> Any:
    """Of a number of bonds, or of the nearest one that the table has."""
    return table[min(table, key=lambda n: abs(n - bonds))]


def _lcpo_of(of: Molecules, i: int) -> Any:
    """A row of the table; None: LCPO does not know the element."""
    element, bonded = int(of.elements[i]), of.bonded(i)
    heavy = sum(other > 1 for other in bonded)
    if element == 6:
        return _nearest(_SP3_C if len(bonded) == 4 else _SP2_C, heavy)
    if element == 7:
        is_planar = len(bonded) == 3 and any(of.elements[j] == 6 and len(of.neighbours[j]) == 3 for j in of.neighbours[i])
        return _nearest(_SP2_N if is_planar or len(bonded) < 3 else _SP3_N, heavy)
    if element == 8:
        is_terminal = len(bonded) == 1 and heavy == 1
        siblings = of.neighbours[of.neighbours[i][0]] if is_terminal else []
        is_acid = sum(of.elements[j] == 8 and len(of.neighbours[j]) == 1 for j in siblings) > 1
        return _ACID_O if is_acid else _SP2_O if is_terminal else _nearest(_SP3_O, heavy)
    if element in (15, 16):
        return _nearest(_P if element == 15 else _S, heavy)
    return _OTHERS.get(element)


def surface_constants(of: Molecules, kind: str) -> Dict[str, np.ndarray]:
    """LCPO's radii and factors, as members of particles: "lcpo"; or Bondi's radii: "bondi".

    LCPO leaves out hydrogen, whose radii are 0 there, and elements that it does not know: of bonded atoms of these a
    RadiiWarning tells.
    """
    if kind not in ("lcpo", "bondi"):
        raise UsageError(f"surface_radii: {kind!r:.60} is neither lcpo nor bondi")
    symbols = [SYMBOLS[element] if 0 < element < len(SYMBOLS) else "" for element in of.elements]
    radii = np.array([VAN_DER_WAALS_A.get(symbol, 0.0 if element == 0 else 2.0) for symbol, element in zip(symbols, of.elements)])
    if kind == "bondi":
        return {"surface_radii": radii}
    radii, factors, unknown = np.zeros(len(radii)), np.zeros((len(radii), 4)), []
    for i in np.flatnonzero(of.elements > 1):
        row = _lcpo_of(of, i)
        if row is not None:
            radii[i], factors[i] = row[0], row[1:]
        elif of.neighbours[i]:
            unknown.append(i)
    if unknown:
        warnings.warn(f"LCPO has no constants of {', '.join(sorted({symbols[i] for i in unknown}))}: {len(unknown)} atoms, "
                      f"{of.names[unknown[0]]} of {of.residue_names[unknown[0]]} first, have no surface there", RadiiWarning,
                      stacklevel=2)
    return {"surface_radii": radii, "lcpo_factors": factors}
