"""What a sum is asked to be, from Python's words to the library's structs."""
from __future__ import annotations

import json
import os
import warnings
from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from ._arrays import doubles, pointer_to
from ._c import ffi, lib
from ._cell import Cell
from ._engine import Engine, EngineArgument
from ._errors import FileError, InputError, UsageError, text_of
from ._report import enum_value

# A report, or the path of one that the command wrote.
PlanArgument = Union[None, Mapping[str, Any], str, "os.PathLike[str]"]


def enum_of(name: Any, kind: str, prefix: str, what: str) -> int:
    """The value of a name; UsageError with the names there are."""
    try:
        return enum_value(name, kind, prefix)
    except KeyError:
        names = [w[len(prefix):].lower() for w in ffi.typeof(kind).elements.values() if not w.endswith("_COUNT")]
        raise UsageError(f"{what}: {name!r} is none of {', '.join(names)}") from None


def units_of(name: str) -> int:
    names = [text_of(lib.ley_units_name(i)) for i in range(lib.LEY_UNITS_COUNT)]
    if name not in names:
        raise UsageError(f"units: {name!r} is none of {', '.join(map(str, names))}")
    return names.index(name)


def pairs() -> Dict[str, Any]:
    """Pair functions by name, but for expressions: number and ley_pair_info."""
    found: Dict[str, Any] = {}
    i = 0
    while lib.ley_pair_get(i) != ffi.NULL:
        info = lib.ley_pair_get(i)
        if not info.is_expression:
            found[text_of(info.name) or ""] = (i, info)
        i += 1
    return found


# ---- Structs -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Medium:
    """What all methods take."""

    units: int
    dielectric: float
    temperature: float
    r_min: float

    def put(self, to: Any) -> Any:
        to.units, to.dielectric, to.temperature_K, to.r_min_A = self.units, self.dielectric, self.temperature, self.r_min
        return to


def _refuse(given: Mapping[str, Any], allowed: Mapping[str, bool], pair: str) -> None:
    for name, value in given.items():
        if value is not None and not allowed[name]:
            raise UsageError(f"{name} does not go with pair {pair!r}")


def short_range_of(medium: Medium, cell: Cell, pair: str, cutoff: Optional[float], kappa: Optional[float],
                   constants: Optional[Mapping[str, float]], probe: Optional[Sequence[float]], well_depth: Any,
                   steepness: Optional[float], atoms: Any) -> Tuple[Any, List[Any]]:
    """A ley_short_range, and what must live until its job is created."""
    keep: List[Any] = []
    of = ffi.new("ley_short_range *")
    lib.ley_short_range_default(of)
    medium.put(of)
    cell.put(of)
    number, info = pairs().get(pair, (lib.LEY_PAIR_EXPRESSION, lib.ley_pair_get(lib.LEY_PAIR_EXPRESSION)))
    of.pair = number
    _refuse({"kappa": kappa or None, "constants": constants, "probe": probe, "well_depth": well_depth,
             "steepness": steepness},
            {"kappa": info.takes_kappa, "constants": info.takes_numbers, "probe": info.takes_probe,
             "well_depth": info.takes_probe, "steepness": info.takes_steepness}, pair)
    if info.needs_kappa and not kappa:
        raise UsageError(f"pair {pair!r} needs kappa")
    if info.is_expression:
        keep.append(ffi.new("char[]", pair.encode()))
        of.expression = keep[-1]
    if cutoff is not None:
        of.cutoff_A = cutoff
    of.kappa_per_A = kappa or 0
    if constants:
        numbers = ffi.new("ley_named_number[]", len(constants))
        keep.append(numbers)
        for i, (name, value) in enumerate(constants.items()):
            keep.append(ffi.new("char[]", str(name).encode()))
            numbers[i].name, numbers[i].value = keep[-1], value
        of.numbers, of.number_count = numbers, len(constants)
    if probe is not None:
        of.probe_radius_A, of.probe_depth_kcal_mol = doubles(probe, "probe", (2,))
    if steepness is not None:
        of.steepness = steepness
    if well_depth is not None and np.ndim(well_depth) > 0:
        depths = doubles(well_depth, "well_depth", (len(atoms),))
        keep.append(depths)
        of.depth_kcal_mol = pointer_to(depths)
    elif well_depth is not None:
        of.depth_for_all_kcal_mol = well_depth
    return of, keep


FORMER_SOLVERS = {"direct": "multilevel", "fft": "fourier"}


def former_names(function: str, now: Mapping[str, str], former: Dict[str, Any]) -> Dict[str, Any]:
    """What arguments of the release before are, by their names of `now`, each with a DeprecationWarning.

    Errors: TypeError where `former` has another word, as of any function.
    """
    for name in former:
        if name not in now:
            raise TypeError(f"{function}() got an unexpected keyword argument {name!r}")
        warnings.warn(f"{name} is called {now[name]} now", DeprecationWarning, stacklevel=3)
    return {now[name]: value for name, value in former.items()}


def former_solver(solver: Optional[str]) -> Optional[str]:
    """The solver, of a word of the release before with a DeprecationWarning."""
    if solver in FORMER_SOLVERS:
        warnings.warn(f"solver {solver!r} is called {FORMER_SOLVERS[solver]!r} now", DeprecationWarning, stacklevel=3)
        solver = FORMER_SOLVERS[solver]
    return solver


FFT_LIBRARIES = ("auto", "fftw", "vkfft", "clfft", "cufft")


def request_of(method: str, tolerance: float, medium: Medium, cell: Cell, kappa: Optional[float],
               cutoff: Optional[float], mesh_spacing: Optional[float], splitting: Optional[str], window: Optional[str],
               solver: Optional[str], preset: Optional[str], levels: Optional[int], fft: Optional[str],
               has_sum: bool) -> Tuple[Any, List[Any]]:
    """A ley_request, and what it points to."""
    request, keep = ffi.new("ley_request *"), [ffi.new("char[]", method.encode())]
    lib.ley_request_default(request)
    request.method, request.tolerance = keep[0], tolerance
    of, fixed = request.potential, lib.LEY_FIX_SUM if has_sum else 0
    if preset is not None:
        if preset != "papers":
            raise UsageError(f"preset: {preset!r} is not papers")
        lib.ley_long_range_papers(ffi.addressof(request, "potential"))
    medium.put(of)
    cell.put(of)
    of.kappa_per_A = kappa or 0
    if cutoff is not None:
        of.cutoff_A = cutoff
        fixed |= lib.LEY_FIX_CUTOFF
    if mesh_spacing is not None:
        of.spacing_A = mesh_spacing
        fixed |= lib.LEY_FIX_SPACING
    if splitting is not None:
        of.splitting = enum_of(splitting, "ley_splitting", "LEY_SPLITTING_", "splitting")
        fixed |= lib.LEY_FIX_SPLITTING
    if window is not None:
        of.window = enum_of(window, "ley_window", "LEY_WINDOW_", "window")
        fixed |= lib.LEY_FIX_WINDOW
    if solver is not None:
        of.solver = enum_of(solver, "ley_solver", "LEY_SOLVER_", "solver")
        fixed |= lib.LEY_FIX_SOLVER
    if preset is not None or levels is not None or fft is not None:
        fixed |= lib.LEY_FIX_MESHES
    if levels is not None:
        if not 0 <= levels < 2 ** 31:
            raise UsageError(f"levels: {levels} is out of range")
        of.levels = levels
    if fft not in (None, *FFT_LIBRARIES):
        raise UsageError(f"fft: {fft!r} is none of {', '.join(FFT_LIBRARIES)}")
    if fft not in (None, "auto"):
        keep.append(ffi.new("char[]", str(fft).encode()))
        of.fft = keep[-1]
    request.fixed = fixed
    return request, keep


def _plan_of(plan: PlanArgument) -> Mapping[str, Any]:
    """A report, or the file of one."""
    if isinstance(plan, Mapping):
        return plan
    if not isinstance(plan, (str, os.PathLike)):
        raise UsageError(f"plan: a report, or the path of one, is needed, not {type(plan).__name__}")
    try:
        with open(plan, encoding="utf-8") as file:
            report = json.load(file)
    except OSError as error:
        raise FileError(f"{os.fspath(plan)}: {error.strerror}") from None
    except ValueError as error:
        raise InputError(f"{os.fspath(plan)}: no JSON: {error}") from None
    if not isinstance(report, dict):
        raise InputError(f"{os.fspath(plan)}: no report: it is to be a JSON object")
    return report


def _decisions_of(plan: Mapping[str, Any]) -> List[Tuple[Optional[str], str, str]]:
    plan = plan.get("plan", plan)
    if plan is None:
        raise InputError("plan: nothing was computed by one: there is none")
    if not isinstance(plan, Mapping):
        raise InputError("plan: it is to be a report, or a report's 'plan'")
    found = [(None, name, str(value)) for name, value in plan.items() if name != "devices"]
    for device in plan.get("devices", ()):
        found += [(device["device"], name, str(value)) for name, value in device.items() if name != "device"]
    return found  # type: ignore[return-value]


@dataclass
class RunOptions:
    """A ley_run_options with what it points to."""

    c: Any
    keep: List[Any]

    @classmethod
    def of(cls, verify: Optional[int], seed: Optional[int], sum: Optional[str], math: str, variant: Optional[str],
           plan: PlanArgument, state: Any) -> "RunOptions":
        c, keep = ffi.new("ley_run_options *"), []
        lib.ley_run_options_default(c)
        c.math = enum_of(math, "ley_math", "LEY_MATH_", "math")
        if sum is not None:
            c.sum = enum_of(sum, "ley_sum", "LEY_SUM_", "sum")
        if verify is not None:
            if not 0 <= verify < 2 ** 63 or int(verify) != verify:
                raise UsageError(f"verify: a number of points is needed, not {verify!r}")
            c.verify_points = int(verify)
        if seed is not None and not 0 <= seed < 2 ** 64:
            raise UsageError(f"seed: a number of 64 bits is needed, not {seed!r}")
        c.verify_seed = seed or 0  # the command's, which is not the library's
        if variant is not None:
            keep.append(ffi.new("char[]", variant.encode()))
            c.variant = keep[-1]
        if plan is not None:
            rows = _decisions_of(_plan_of(plan))
            decisions = ffi.new("ley_decision[]", len(rows))
            keep.append(decisions)
            for decision, row in zip(decisions, rows):
                texts = [ffi.NULL if text is None else ffi.new("char[]", text.encode()) for text in row]
                keep.append(texts)
                decision.device, decision.name, decision.value = texts
            c.decisions, c.decision_count = decisions, len(rows)
        if state != ffi.NULL:
            c.progress = ffi.addressof(lib, "pyley_progress_take")
            c.progress_context = state
        return cls(c, keep)

    @property
    def is_planned_for_host(self) -> bool:
        """Whether the plan says that the host does the job alone."""
        decisions = (self.c.decisions[i] for i in range(self.c.decision_count))
        return any(d.device == ffi.NULL and ffi.string(d.name) == b"computed_by" for d in decisions)

    @property
    def is_for_host(self) -> bool:
        """Whether it is to do the job alone, as the caller or the plan says."""
        return bool(self.c.by_host) or self.is_planned_for_host

    def take_engine(self, engine: EngineArgument) -> Optional[Engine]:
        """The engine, and None for the host."""
        if engine == "host":
            self.c.by_host = True
            return None
        if engine is not None and self.is_planned_for_host:
            raise UsageError("plan: the host did that job alone, and engine names devices")
        return engine  # type: ignore[return-value]
