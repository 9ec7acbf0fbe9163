"""Reports of jobs as dictionaries."""
from __future__ import annotations

import math
from typing import Any, Dict, List

from ._c import ffi, lib
from ._engine import device_of
from ._errors import text_of


def enum_name(value: int, kind: str, prefix: str) -> str:
    """ "auto" of LEY_SUM_AUTO, say: names are those of the enumeration."""
    return ffi.typeof(kind).elements[value][len(prefix):].lower()


def _plain(struct: Any) -> Dict[str, Any]:
    """The numbers, texts and switches of a struct; NULL is None, pointers to others are left out."""
    result: Dict[str, Any] = {}
    for name, field in ffi.typeof(struct).item.fields if ffi.typeof(struct).kind == "pointer" else \
            ffi.typeof(struct).fields:
        value = getattr(struct, name)
        if field.type.kind == "primitive":
            result[name] = value
        elif field.type.cname in ("char *", "const char *", "char const *"):
            result[name] = text_of(value)
    return result


def _notes(report: Any) -> Dict[str, Any]:
    notes: Dict[str, Any] = {}
    for i in range(report.note_count):
        note = report.notes[i]
        if note.kind == lib.LEY_NOTE_COUNT:
            value: Any = note.count
        elif note.kind == lib.LEY_NOTE_NUMBER:
            value = note.number[0]
        elif note.kind == lib.LEY_NOTE_VECTOR:
            value = list(note.number)
        elif note.kind == lib.LEY_NOTE_PHASE:
            value = {"predicted_s": note.number[0], "taken_s": note.number[1]}
        else:
            value = text_of(note.text)
        notes[text_of(note.name) or ""] = value
    return notes


def plan_of(report: Any) -> Dict[str, Any]:
    """Decisions in the form of the command's reports: the job's, and under "devices" each device's."""
    plan: Dict[str, Any] = {}
    devices: Dict[str, Dict[str, Any]] = {}
    for i in range(report.decision_count):
        decision = report.decisions[i]
        device, name, value = (text_of(t) for t in (decision.device, decision.name, decision.value))
        of = plan if device is None else devices.setdefault(device, {"device": device})
        of[name or ""] = int(value) if value and value.lstrip("-").isdigit() else value
    plan["devices"] = list(devices.values())
    return plan


def _accuracy(accuracy: Any) -> Any:
    return _plain(accuracy) if accuracy.points > 0 else None


def tolerance_line(report: Dict[str, Any], tolerance: float) -> str:
    """What a header says of a tolerance; so do the next ones of devices and of errors."""
    floor = report["tolerance_floor"]
    share = f"{floor:.3g}, as values are nothing beside the terms that cancel" if floor > 0 else "the root mean square"
    return f"tolerance: {tolerance:g} of {share}{'' if report['seeded_accuracy'] else ', not measured'}"


def device_lines(report: Dict[str, Any]) -> List[str]:
    lines = [f"computed by: the host, {report['host']} in double precision"] if report["host"] else []
    for device in report["devices"]:
        if device["points"] > 0 and device["variant"] is not None:
            exp = "" if device["exp"] is None else f", exp {device['exp']}"
            root = "" if device["root"] is None else f", root {device['root']}"
            lines.append(f"device: {device['device']['name']}, driver {device['device']['driver']}, variant "
                         f"{device['variant']}{root}{exp}")
    return lines


def _relative(rms: float) -> str:
    return "infinite (all exact values are nearly 0)" if math.isinf(rms) else f"{rms:.2g}"


def accuracy_lines(report: Dict[str, Any]) -> List[str]:
    lines, a = [], report["seeded_accuracy"]
    points = "" if a is None else f"{a['points']} point{'s' if a['points'] != 1 else ''}"
    if a is not None and a["compared"] == 0:
        lines.append(f"accuracy: nothing to compare at {points}: their terms are too small")
    elif a is not None:
        lines.append(f"accuracy: error at most {a['max_error']:.2g} of {report['error_scale']} at {points}, relative RMS "
                     f"{_relative(a['relative_rms'])}, absolute RMS {a['absolute_rms']:.2g}")
    if report["host_check"]:
        lines.append(f"verified against: {report['host_check']}")
    a = report["field_accuracy"]
    if a is not None:
        lines.append(f"accuracy of the field: relative RMS {_relative(a['relative_rms'])}, absolute RMS "
                     f"{a['absolute_rms']:.2g} at {a['points']} point{'s' if a['points'] != 1 else ''}")
    return lines


def report_of(report: Any) -> Dict[str, Any]:
    """A ley_report as dictionaries and lists, with the names that it has in C."""
    result = _plain(report)
    for count in ("device_count", "slab_count", "note_count", "decision_count", "stage_count", "missed_count"):
        result.pop(count)
    result["sum"] = enum_name(report.sum, "ley_sum", "LEY_SUM_")
    devices: List[Dict[str, Any]] = []
    for i in range(report.device_count):
        device = report.devices[i]
        devices.append({**_plain(device), "device": device_of(device.device).__dict__,
                        "status": text_of(lib.ley_status_name(device.status))})
    result["devices"] = devices
    result["slabs"] = [_plain(report.slabs[i]) for i in range(report.slab_count)]
    result["stages"] = [_plain(report.stages[i]) for i in range(report.stage_count)]
    for name in ("accuracy", "seeded_accuracy", "field_accuracy"):
        result[name] = _accuracy(getattr(report, name))
    result["missed_rms"] = list(report.missed_rms)[:report.missed_count]
    result["notes"] = _notes(report)
    result["plan"] = plan_of(report)
    return result
