"""What a sum is asked to be, from Python's words to the library's structs."""
from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any, List, Mapping, Optional, Tuple, Union

import numpy as np

from ._arrays import doubles, pointer_to
from ._c import ffi, lib
from ._cell import Cell
from ._engine import Engine, EngineArgument, engine_of
from ._errors import FileError, InputError, UsageError, encoded, number_of, text_of
from ._parameters import TABLES, take

# A report, or the path of one that the command wrote.
PlanArgument = Union[None, Mapping[str, Any], str, "os.PathLike[str]"]


def pair_of(name: str) -> Tuple[int, Any]:
    """Number and ley_pair_info of a pair function; what has no function's name is an expression."""
    number = 0
    while lib.ley_pair_get(number) != ffi.NULL:
        info = lib.ley_pair_get(number)
        if not info.is_expression and text_of(info.name) == name:
            return number, info
        number += 1
    return lib.LEY_PAIR_EXPRESSION, lib.ley_pair_get(lib.LEY_PAIR_EXPRESSION)


# ---- Structs -------------------------------------------------------------------------------------


def _refuse_of_pair(given: Mapping[str, Any], allowed: Mapping[str, bool], pair: str) -> None:
    for name, is_allowed in allowed.items():
        if given.get(name) is not None and not is_allowed:
            raise UsageError(f"{name} does not go with pair {pair!r}")


def short_range_of(cell: Cell, given: Mapping[str, Any], atoms: Any) -> Tuple[Any, List[Any]]:
    """A ley_short_range, and what must live until its job is created."""
    keep: List[Any] = []
    of = ffi.new("ley_short_range *")
    lib.ley_short_range_default(of)
    pair, constants, well_depth = given["pair"], given.get("constants"), given.get("well_depth")
    of.pair, info = pair_of(pair)
    _refuse_of_pair(given, {"kappa": info.takes_kappa, "constants": info.takes_numbers, "probe": info.takes_probe,
                            "well_depth": info.takes_probe, "steepness": info.takes_steepness}, pair)
    if info.needs_kappa and not given.get("kappa"):
        raise UsageError(f"pair {pair!r} needs kappa")
    take(of, "ley_short_range", {**given, "well_depth": None}, keep)
    cell.put(of)
    if info.is_expression:
        keep.append(ffi.new("char[]", encoded(pair, "pair")))
        of.expression = keep[-1]
    if constants is not None and not isinstance(constants, Mapping):
        raise UsageError(f"constants: a dict from names to numbers is needed, not {type(constants).__name__}")
    if constants:
        numbers = ffi.new("ley_named_number[]", len(constants))
        keep.append(numbers)
        for i, (name, value) in enumerate(constants.items()):
            keep.append(ffi.new("char[]", str(name).encode()))
            numbers[i].name, numbers[i].value = keep[-1], number_of(value, f"constants: {name}")
        of.numbers, of.number_count = numbers, len(constants)
    if well_depth is not None and np.ndim(well_depth) > 0:
        depths = doubles(well_depth, "well_depth", (len(atoms),))
        keep.append(depths)
        of.depth_kcal_mol = pointer_to(depths)
    elif well_depth is not None:
        of.depth_for_all_kcal_mol = TABLES["ley_short_range"]["well_depth"].checked(well_depth)
    return of, keep


def request_of(method: str, cell: Cell, given: Mapping[str, Any]) -> Tuple[Any, List[Any]]:
    """A ley_request, and what it points to."""
    request, keep = ffi.new("ley_request *"), [ffi.new("char[]", method.encode())]
    lib.ley_request_default(request)
    request.method = keep[0]
    if method != "auto":
        request.tolerance = 0
    take(request, "ley_request", given, keep)
    of = request.potential
    if given.get("preset") is not None:
        lib.ley_long_range_papers(ffi.addressof(request, "potential"))
    request.fixed = take(of, "ley_long_range", given, keep) | (lib.LEY_FIX_SUM if given.get("sum") is not None else 0)
    cell.put(of)
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
    def of(cls, given: Mapping[str, Any], plan: PlanArgument, state: Any) -> "RunOptions":
        c, keep = ffi.new("ley_run_options *"), []
        lib.ley_run_options_default(c)
        take(c, "ley_run_options", given, keep)
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
        return None if engine is None else engine_of(engine)
