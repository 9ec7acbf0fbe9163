"""Errors of the library as exceptions, and warnings of this package."""
from __future__ import annotations

import os
from typing import Any, Dict, Optional, Type

import numpy as np

from ._c import ffi, lib

__all__ = ["Error", "UsageError", "InputError", "FileError", "NoDeviceError", "DeviceError", "OutOfMemoryError",
           "WrongResult", "Cancelled", "CellWarning", "DeviceWarning", "RadiiWarning", "ToleranceWarning", "WavefunctionWarning"]


class Error(Exception):
    """What a function of the library failed with; the base of all errors here.

    Attributes:
        status: name of the status in C, such as ``"LEY_ERROR_INPUT"``.
        message: one line that says what was wrong.
        log: the compiler's whole log where a kernel could not be built, or None.
    """

    status: str = ""

    def __init__(self, message: str, log: Optional[str] = None, status: Optional[str] = None) -> None:
        super().__init__(message)
        self.message = message
        self.log = log
        if status is not None:
            self.status = status

    def __str__(self) -> str:
        return self.message

    def __reduce__(self):
        return type(self), (self.message, self.log, self.status)


class UsageError(Error, ValueError):
    """An option that is out of its range or unknown, or options that exclude each other."""

    status = "LEY_ERROR_USAGE"


class InputError(Error, ValueError):
    """Atoms, grids or files that hold something else than they should."""

    status = "LEY_ERROR_INPUT"


class FileError(Error, OSError):
    """A file that cannot be read or written."""

    status = "LEY_ERROR_FILE"


class NoDeviceError(Error):
    """No device can be used for this."""

    status = "LEY_ERROR_NO_DEVICE"


class DeviceError(Error):
    """A device or a build of a kernel failed; `log` has what the compiler said."""

    status = "LEY_ERROR_DEVICE"


class OutOfMemoryError(Error, MemoryError):
    """The host's or the device's memory does not suffice."""

    status = "LEY_ERROR_MEMORY"


class WrongResult(Error):
    """Devices computed wrong values, as the verification found."""

    status = "LEY_ERROR_WRONG_RESULT"


class Cancelled(Error):
    """The job was cancelled. Ctrl-C raises KeyboardInterrupt, not this."""

    status = "LEY_CANCELLED"


class CellWarning(UserWarning):
    """A cell looks too small for its atoms, or was left aside by a sum that has no images."""


class RadiiWarning(UserWarning):
    """Radii were not in the topology, nor given: they are 0."""


class DeviceWarning(UserWarning):
    """A device failed, computed wrongly or hung; others, or the host, computed what it had, so that results are right."""


class PointsWarning(UserWarning):
    """Points are on charges, which they do not exclude: each has the charge's own potential, C q / r_min."""


class MapWarning(UserWarning):
    """Something in a map's file may be meant otherwise, and the message says how it was taken; or programs will read a
    file that was written otherwise than it is meant."""


class ToleranceWarning(UserWarning):
    """The values are off by more than the tolerance asked for; `report["accuracy"]` says by how much."""


class WavefunctionWarning(UserWarning):
    """A file of a wavefunction does not follow its format, and was mended; the message says how."""


_classes: Dict[str, Type[Error]] = {c.status: c for c in Error.__subclasses__()}


def text_of(chars) -> Optional[str]:
    """A C string, or None."""
    return None if chars == ffi.NULL else ffi.string(chars).decode("utf-8", "replace")


def file_name(path: Any) -> bytes:
    """A path as C takes it, which would end at a NUL: UsageError."""
    if not isinstance(path, (str, bytes, os.PathLike)):
        raise UsageError(f"path: a file's name is needed, not {type(path).__name__}")
    name = os.fsencode(path)
    if b"\0" in name:
        raise UsageError(f"path: {path!r} has a NUL in it")
    return name


def encoded(text: Any, what: str) -> bytes:
    """A text as C takes it: UsageError."""
    if not isinstance(text, str):
        raise UsageError(f"{what}: a text is needed, not {type(text).__name__}")
    return text.encode()


def switch_of(value: Any, what: str) -> bool:
    """True or False: UsageError."""
    if not isinstance(value, (int, np.bool_)):
        raise UsageError(f"{what}: True or False is needed, not {value!r:.60}")
    return bool(value)


def number_of(value: Any, what: str) -> float:
    """A number: UsageError."""
    try:
        return float(value)
    except (TypeError, ValueError):
        raise UsageError(f"{what}: a number is needed, not {value!r:.60}") from None


class Status:
    """Takes the error of one call, ``call(lib.ley_x, ..., status.pointer)``, and raises it.

    >>> with Status() as status:
    ...     status.check(lib.ley_file_check(b"map.dx", status.pointer))
    """

    def __init__(self) -> None:
        self.pointer = ffi.new("ley_error *")

    def __enter__(self) -> "Status":
        return self

    def __exit__(self, *_) -> None:
        lib.ley_error_clear(self.pointer)

    def check(self, status: int) -> None:
        if status == lib.LEY_OK:
            return
        name = text_of(lib.ley_status_name(status)) or ""
        message = text_of(self.pointer.message) or text_of(lib.ley_status_text(status)) or name
        raise _classes.get(name, Error)(message, text_of(self.pointer.log), name)
