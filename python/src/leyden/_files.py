"""Files that are written whole or not at all."""
from __future__ import annotations

import contextlib
import fcntl
import glob
import os
from typing import Any, Sequence

from ._errors import FileError, UsageError


def check_outputs(outputs: Sequence[Any], inputs: Sequence[Any]) -> None:
    """Before anything is computed: each output has a folder and a name of its own, which no input has.

    Errors: FileError, UsageError.
    """
    taken = {os.path.realpath(path): f"{path} is read as well" for path in inputs if path is not None}
    for path in outputs:
        if path is None:
            continue
        real = os.path.realpath(path)
        if not os.path.isdir(os.path.dirname(path) or "."):
            raise FileError(f"{path}: there is no such folder")
        if os.path.isdir(path):
            raise FileError(f"{path}: Is a directory")
        if real in taken and not (os.path.exists(path) and not os.path.isfile(path)):  # devices and pipes take several
            raise UsageError(f"'{path}': {taken[real]}: another name is needed")
        taken[real] = f"{path} is written twice"


def _remove_left(name: str) -> None:
    """What a process left that was killed while it wrote this file: who writes holds a lock."""
    for part in glob.glob(glob.escape(name) + ".part-*"):
        with contextlib.suppress(OSError), open(part, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.unlink(part)


def write_whole(name: str, content: bytes) -> None:
    """A file that appears whole or not at all. Errors: FileError."""
    part = f"{name}.part-{os.getpid()}"
    try:
        if os.path.exists(name) and not os.path.isfile(name):  # a pipe, or a device
            with open(name, "wb") as file:
                file.write(content)
            return
        _remove_left(name)
        try:
            with open(part, "wb") as file:
                with contextlib.suppress(OSError):  # there are file systems without locks
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                file.write(content)
                file.flush()
                os.replace(part, name)
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(part)
    except OSError as error:
        raise FileError(f"{name}: {error.strerror}") from None
