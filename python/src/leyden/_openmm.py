"""Systems of OpenMM: which of their forces act between pairs, by the values of their expressions."""
from __future__ import annotations

import ast
import math
from typing import Any, Callable, Dict, List, Optional, Set, Tuple

import numpy as np

from ._errors import InputError
from ._mixing import table
from ._wavefunction_files import needed

Arrays = Dict[str, Any]
Pair = Tuple[int, int]
Energies = Tuple[float, float, float]

_KCAL, _A12, _A6 = 1 / 4.184, 1e12, 1e6  # of kJ, and of powers of nm
_MOST_TYPES = 4096
# Forces that are none between particles which are not bonded.
_OTHERS = {"HarmonicBondForce", "HarmonicAngleForce", "PeriodicTorsionForce", "RBTorsionForce", "CMAPTorsionForce",
           "CustomAngleForce", "CustomTorsionForce", "CustomCompoundBondForce", "CustomExternalForce", "CMMotionRemover",
           "AndersenThermostat", "MonteCarloBarostat", "MonteCarloAnisotropicBarostat", "MonteCarloMembraneBarostat",
           "MonteCarloFlexibleBarostat", "GBSAOBCForce", "CustomGBForce", "LCPOForce"}

# ---- Expressions ---------------------------------------------------------------------------------


class _Unreadable(Exception):
    """What is not understood here."""


_FUNCTIONS: Dict[str, Callable[..., Any]] = {
    "sqrt": np.sqrt, "exp": np.exp, "log": np.log, "abs": np.abs, "sin": np.sin, "cos": np.cos, "tan": np.tan,
    "tanh": np.tanh, "erf": np.vectorize(math.erf), "erfc": np.vectorize(math.erfc), "min": np.minimum, "max": np.maximum,
    "step": lambda x: np.where(np.asarray(x) >= 0, 1.0, 0.0), "floor": np.floor, "ceil": np.ceil,
    "delta": lambda x: np.where(np.asarray(x) == 0, 1.0, 0.0), "square": np.square,
    "select": lambda x, y, z: np.where(np.asarray(x) != 0, y, z)}
_OPERATIONS: Dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: np.add, ast.Sub: np.subtract, ast.Mult: np.multiply, ast.Div: np.divide, ast.Pow: np.power}


class Expression:
    """An algebraic expression of OpenMM, "a*x; a = 2*y; ...", whose values are arrays."""

    def __init__(self, text: str, functions: Dict[str, Callable[..., Any]]) -> None:
        pieces = [piece.strip() for piece in text.replace("^", "**").split(";") if piece.strip()]
        try:
            self._main = ast.parse(pieces[0], mode="eval").body
            rows = [piece.split("=", 1) for piece in pieces[1:]]
            self._definitions = {name.strip(): ast.parse(right.strip(), mode="eval").body for name, right in rows}
        except (SyntaxError, ValueError, IndexError):
            raise _Unreadable(text) from None
        self._functions = {**_FUNCTIONS, **functions}

    def value(self, variables: Dict[str, Any]) -> np.ndarray:
        """Of arrays for variables. _Unreadable: it has others."""
        known = dict(variables)
        try:
            with np.errstate(all="ignore"):
                return np.asarray(self._of(self._main, known), float)
        except (RecursionError, TypeError, ValueError, IndexError) as error:
            raise _Unreadable(str(error)) from None

    def _of(self, node: Any, known: Dict[str, Any]) -> Any:
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            return float(node.value)
        if isinstance(node, ast.Name) and node.id not in known and node.id in self._definitions:
            known[node.id] = self._of(self._definitions[node.id], known)
        if isinstance(node, ast.Name) and node.id in known:
            return known[node.id]
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
            return np.multiply(-1.0 if isinstance(node.op, ast.USub) else 1.0, self._of(node.operand, known))
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
            return _OPERATIONS[type(node.op)](self._of(node.left, known), self._of(node.right, known))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in self._functions:
            return self._functions[node.func.id](*(self._of(one, known) for one in node.args))
        raise _Unreadable(ast.dump(node))


def _tabulated(force: Any) -> Dict[str, Callable[..., Any]]:
    """A force's tables of discrete values, as functions of indices."""
    made: Dict[str, Callable[..., Any]] = {}
    for k in range(force.getNumTabulatedFunctions() if hasattr(force, "getTabulatedFunction") else 0):
        kind, parameters = force.getTabulatedFunction(k), force.getTabulatedFunction(k).getFunctionParameters()
        if type(kind).__name__ == "Discrete1DFunction":
            values = np.array(parameters, float).reshape(-1)
            made[force.getTabulatedFunctionName(k)] = lambda x, v=values: v[np.rint(x).astype(int)]
        elif type(kind).__name__ == "Discrete2DFunction":
            rows, values = int(parameters[0]), np.array(parameters[-1], float)  # x goes fastest
            made[force.getTabulatedFunctionName(k)] = \
                lambda x, y, v=values, n=rows: v[np.rint(x).astype(int) + n * np.rint(y).astype(int)]
    return made


def _globals(force: Any) -> Dict[str, float]:
    return {force.getGlobalParameterName(k): force.getGlobalParameterDefaultValue(k)
            for k in range(force.getNumGlobalParameters())}


# Distances, nm: a and b are those that the first two tell; what the others tell must be the same.
_DISTANCES = np.array([0.05, 1.0, 0.2, 0.5])


def _fit(energy: np.ndarray) -> Optional[Tuple[np.ndarray, np.ndarray]]:
    """a and b of energies a/r^12 - b/r^6 at these distances, (4, ...), in kcal/mol and A; None: they are something else."""
    x = (_DISTANCES ** -6).reshape(-1, *[1] * (energy.ndim - 1))
    y = energy / x
    a = (y[0] - y[1]) / (x[0] - x[1])
    b = a * x[1] - y[1]
    scale = np.abs(a) * x + np.abs(b) + 1e-30
    if not np.isfinite(energy).all() or (np.abs(a * x - b - y) > 1e-8 * scale).any():
        return None
    is_no_a, is_no_b = np.abs(a) * x[0] < 1e-12 * np.abs(b), np.abs(b) < 1e-12 * np.abs(a) * x[1]  # but rounding
    return np.where(is_no_a, 0.0, a) * _KCAL * _A12, np.where(is_no_b, 0.0, b) * _KCAL * _A6


# ---- Forces --------------------------------------------------------------------------------------


def _refused(force: Any, why: str) -> InputError:
    name = force.getName() if hasattr(force, "getName") else ""
    kind = type(force).__name__
    text = f", {force.getEnergyFunction()!r:.100}" if hasattr(force, "getEnergyFunction") else ""
    return InputError(f"{kind}{f' {name!r}' if name not in ('', kind) else ''}{text}: {why}")


def _plain(value: Any, unit: Any) -> float:
    return value.value_in_unit(unit)


def _charges_and_sizes(force: Any, unit: Any) -> np.ndarray:
    """(n, 3): e, A, kcal/mol."""
    if force.getNumParticleParameterOffsets() or force.getNumExceptionParameterOffsets():
        raise _refused(force, "parameters that depend on others (offsets) cannot be had")
    rows = [force.getParticleParameters(i) for i in range(force.getNumParticles())]
    return np.array([[_plain(q, unit.elementary_charge), _plain(sigma, unit.angstrom),
                      _plain(epsilon, unit.kilocalorie_per_mole)] for q, sigma, epsilon in rows])


def _exceptions(force: Any, unit: Any) -> Tuple[Set[Pair], Dict[Pair, Energies]]:
    exclusions: Set[Pair] = set()
    pairs: Dict[Pair, Energies] = {}
    for k in range(force.getNumExceptions()):
        i, j, qq, sigma, epsilon = force.getExceptionParameters(k)
        size, depth = _plain(sigma, unit.angstrom), _plain(epsilon, unit.kilocalorie_per_mole)
        charge = _plain(qq, unit.elementary_charge ** 2)
        exclusions.add((min(i, j), max(i, j)))
        if charge or depth:
            pairs[min(i, j), max(i, j)] = (charge, 4 * depth * size ** 12, 4 * depth * size ** 6)
    return exclusions, pairs


class _Custom:
    """A CustomNonbondedForce, whose expression is one of types' parameters."""

    def __init__(self, force: Any) -> None:
        self.force = force
        if force.getNumInteractionGroups():
            raise _refused(force, "groups that interact cannot be had")
        self.names = [force.getPerParticleParameterName(k) for k in range(force.getNumPerParticleParameters())]
        rows = [force.getParticleParameters(i) for i in range(force.getNumParticles())]
        self.parameters = np.array(rows, float).reshape(len(rows), len(self.names))

    def table(self, rows: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
        """a and b of types with these parameters, (types, parameters)."""
        force = self.force
        variables: Dict[str, Any] = {**_globals(force), "r": _DISTANCES.reshape(-1, 1, 1)}
        for name, column in zip(self.names, rows.T):
            variables[f"{name}1"], variables[f"{name}2"] = column.reshape(1, -1, 1), column.reshape(1, 1, -1)
        for k in range(force.getNumComputedValues()):
            raise _refused(force, f"computed values ({force.getComputedValueParameters(k)[0]}) cannot be had")
        try:
            energy = Expression(force.getEnergyFunction(), _tabulated(force)).value(variables)
        except _Unreadable as error:
            raise _refused(force, f"its energy is not understood: {error}") from None
        found = _fit(np.broadcast_to(energy, (len(_DISTANCES), len(rows), len(rows))))
        if found is None:
            raise _refused(force, "its energies are not a/r^12 - b/r^6, and only such ones can be computed")
        return (found[0] + found[0].T) / 2, (found[1] + found[1].T) / 2


def _bonded_pairs(force: Any) -> Dict[Pair, Energies]:
    """Pairs of a CustomBondForce whose energies are a/r^12 - b/r^6; none, where they are of bonds."""
    names = [force.getPerBondParameterName(k) for k in range(force.getNumPerBondParameters())]
    rows = [force.getBondParameters(k) for k in range(force.getNumBonds())]
    if not rows:
        return {}
    columns = np.array([row[2] for row in rows], float).reshape(len(rows), len(names)).T
    variables: Dict[str, Any] = {**_globals(force), **dict(zip(names, columns[:, None, :]))}
    far = np.concatenate([_DISTANCES, [1e4]]).reshape(-1, 1)
    try:
        energy = Expression(force.getEnergyFunction(), _tabulated(force)).value({**variables, "r": far})
    except _Unreadable as error:
        raise _refused(force, f"its energy is not understood: {error}") from None
    energy = np.broadcast_to(energy, (len(far), len(rows)))
    found = _fit(energy[:-1])
    if found is None:
        if (np.abs(energy[-1]) < 1e-3 * np.abs(energy[:-1]).max(axis=0)).any():
            raise _refused(force, "it acts between particles, and its energies are not a/r^12 - b/r^6")
        return {}
    pairs: Dict[Pair, Energies] = {}
    for (i, j, _), a, b in zip(rows, found[0].tolist(), found[1].tolist()):
        former = pairs.get((min(i, j), max(i, j)), (0.0, 0.0, 0.0))
        pairs[min(i, j), max(i, j)] = (0.0, former[1] + a, former[2] + b)
    return pairs


# ---- Systems -------------------------------------------------------------------------------------


def _types(plain: np.ndarray, customs: List[_Custom]) -> Arrays:
    """Types by all that Lennard-Jones energies depend on; their table."""
    columns = np.hstack([np.where(plain[:, 1:2] == 0, 0, plain[:, :1]), plain[:, 1:2], *(one.parameters for one in customs)])
    rows, kind = np.unique(columns, axis=0, return_inverse=True)
    if len(rows) > _MOST_TYPES:
        raise InputError(f"{len(rows)} Lennard-Jones types, by all parameters of their forces; {_MOST_TYPES} at most can be had")
    a, b = table(rows[:, 0], rows[:, 1])
    at = 2
    for one in customs:
        more = one.table(rows[:, at:at + len(one.names)])
        a, b, at = a + more[0], b + more[1], at + len(one.names)
    return {"type": kind.reshape(-1).astype(np.int32), "lennard_jones_a": a, "lennard_jones_b": b}


def of_system(system: Any) -> Tuple[Arrays, Set[Pair], Dict[Pair, Energies]]:
    """Members of particles, but for pairs; exclusions; 1-4 pairs."""
    unit = needed("openmm.unit", "openmm", "its Systems")
    n, forces = system.getNumParticles(), list(system.getForces())
    by_kind: Dict[str, List[Any]] = {}
    for force in forces:
        by_kind.setdefault(type(force).__name__, []).append(force)
    for kind in set(by_kind) - _OTHERS - {"NonbondedForce", "CustomNonbondedForce", "CustomBondForce"}:
        raise _refused(by_kind[kind][0], "a force between particles that cannot be computed here")
    plain = by_kind.get("NonbondedForce", [])
    if len(plain) != 1:
        raise InputError(f"the system has {len(plain)} forces NonbondedForce, must have one")
    sizes = _charges_and_sizes(plain[0], unit)
    exclusions, pairs = _exceptions(plain[0], unit)
    customs = [_Custom(force) for force in by_kind.get("CustomNonbondedForce", [])]
    for force in by_kind.get("CustomBondForce", []):
        for pair, (_, a, b) in _bonded_pairs(force).items():
            if pair not in exclusions:
                raise _refused(force, f"particles {pair[0] + 1} and {pair[1] + 1} have non-bonded energies beside its own")
            former = pairs.get(pair, (0.0, 0.0, 0.0))
            pairs[pair] = (former[0], former[1] + a, former[2] + b)
    arrays = {"charges": sizes[:, 0], "masses": [_plain(system.getParticleMass(i), unit.dalton) for i in range(n)],
              **_types(sizes[:, 1:], customs)}
    for force in by_kind.get("GBSAOBCForce", []):
        rows = [force.getParticleParameters(i) for i in range(n)]
        arrays["born_radii"] = np.array([_plain(row[1], unit.angstrom) for row in rows])
        arrays["born_screens"] = np.array([row[2] for row in rows], float)
    return arrays, exclusions, pairs
