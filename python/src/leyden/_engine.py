"""Devices and engines."""
from __future__ import annotations

import atexit
import os
import threading
import weakref
from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

from . import _task
from ._c import ffi, lib
from ._errors import NoDeviceError, Status, UsageError, text_of
from ._guesses import OF_ENGINE, Guessed

_classes = ("gpu", "cpu", "other")


@dataclass(frozen=True)
class Device:
    """What is known of a device; `unusable` says why it cannot be used, or is None."""

    index: int
    path: str
    platform: str
    vendor: str
    name: str
    driver: str
    version: str
    device_class: str
    compute_units: int
    clock_MHz: int
    max_work_group: int
    global_bytes: int
    max_allocation_bytes: int
    local_bytes: int
    constant_bytes: int
    has_double: bool
    has_timestamps: bool
    quirks: str
    unusable: Optional[str]


def device_of(info: Any) -> Device:
    """A ley_device_info as a Device."""
    texts: Dict[str, Any] = {name: text_of(getattr(info, name)) or "" for name in
             ("path", "platform", "vendor", "name", "driver", "version", "quirks")}
    numbers: Dict[str, Any] = {name: getattr(info, name) for name in
               ("index", "compute_units", "clock_MHz", "max_work_group", "global_bytes", "max_allocation_bytes",
                "local_bytes", "constant_bytes", "has_double", "has_timestamps")}
    return Device(device_class=_classes[min(info.device_class, 2)], unusable=text_of(info.unusable), **texts, **numbers)


def devices() -> List[Device]:
    """Every device of this machine, used or not, as `leyden devices` lists them.

    Errors: DeviceError where drivers cannot be asked.
    """

    def work(token: _task.Token) -> List[Device]:
        box = ffi.new("ley_device_list **")
        with Status() as status:
            status.check(lib.ley_device_list_create(box, status.pointer))
        try:
            return [device_of(lib.ley_device_list_get(box[0], i)) for i in range(lib.ley_device_list_count(box[0]))]
        finally:
            lib.ley_device_list_destroy(box[0])

    return _task.call(work)


class Engine(Guessed):
    """Opened devices, on which jobs run.

    Args:
        devices: which ones: an index, or a text as `--device` takes it, such as ``"all"``, ``"gpu"``,
            ``"cuda:0"`` (the first device by CUDA) or part of a device's name; several of them
            separated by commas, or in a list.
            None: the fastest device, by measurement.

    It opens its devices at once and closes them at the end of a `with` block, or by `close()`.
    Engines may be shared by threads: one job runs at a time on each, the others wait. Several
    engines work beside each other. A process that was forked cannot use its parent's.

    Errors: UsageError where a word matches no device, NoDeviceError, DeviceError.
    """

    _guesses = OF_ENGINE

    def __init__(self, devices: Any = None) -> None:
        if isinstance(devices, (list, tuple)):
            devices = ",".join(str(d) for d in devices)
        selector = ffi.NULL if devices is None else ffi.new("char[]", str(devices).encode())
        self.lock = threading.Lock()
        self.plans: "weakref.WeakSet[Any]" = weakref.WeakSet()  # that have something on its devices
        self._pid = os.getpid()
        self._pointer = _task.call(lambda token: self._open(selector, token))
        self._devices = tuple(device_of(lib.ley_engine_device(self._pointer, i))
                              for i in range(lib.ley_engine_device_count(self._pointer)))

    @staticmethod
    def _open(selector: Any, token: _task.Token) -> Any:
        box = ffi.new("ley_engine **")
        with Status() as status:
            status.check(lib.ley_engine_create(selector, box, status.pointer))
        if token.is_cancelled:  # whoever asked for it has gone
            lib.ley_engine_destroy(box[0])
            token.check()
        return ffi.gc(box[0], lib.ley_engine_destroy)

    @property
    def devices(self) -> Tuple[Device, ...]:
        """Those that it opened."""
        return self._devices

    @property
    def pointer(self) -> Any:
        """The ley_engine. UsageError where it is closed or another process's."""
        if self._pointer is None:
            raise UsageError("this engine is closed")
        if self._pid != os.getpid():
            raise UsageError("this engine is of the process that this one was forked from: open one after the fork, "
                             "or start processes by 'spawn'")
        return self._pointer

    def close(self) -> None:
        """Closes the devices and plans on them, once a job that is under way has ended. Closing twice does nothing."""
        for plan in list(self.plans):
            plan.close()
        if self._pid != os.getpid():
            self._pointer = None if self._pointer is None else ffi.gc(self._pointer, None)
            return

        def work(token: _task.Token) -> None:
            with token.holding(self.lock):
                pointer, self._pointer = self._pointer, None
                if pointer is not None:
                    ffi.release(pointer)

        _task.call(work)

    def __enter__(self) -> "Engine":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        names = ", ".join(d.name for d in self._devices)
        return f"<leyden.Engine: {names}{', closed' if self._pointer is None else ''}>"


_opened: Dict[str, Engine] = {}  # those of calls without one, by what names their devices
_opened_lock = threading.Lock()

# An Engine, or what names devices, as Engine() takes it; "host": the host alone; None: the fastest
# device.
EngineArgument = Union[Engine, str, int, Sequence[Union[str, int]], None]


def engine_of(engine: EngineArgument) -> Engine:
    """The engine given, or the one that the process keeps for calls that name these devices, or none."""
    if isinstance(engine, Engine):
        return engine
    if isinstance(engine, (list, tuple)) and engine:
        engine = ",".join(map(str, engine))
    if engine is not None and (not isinstance(engine, (str, int)) or isinstance(engine, bool)):
        raise UsageError("engine: a leyden.Engine, or devices' names, as 'cuda:0', 'gpu', '0,1' or 'host', are needed, not "
                         f"{type(engine).__name__}")
    name = "" if engine is None else str(engine)
    with _opened_lock:
        kept = _opened.get(name)
        if kept is None or kept._pointer is None or kept._pid != os.getpid():
            if kept is not None and kept._pid != os.getpid():
                raise UsageError("the process that this one was forked from has opened a device: open an engine "
                                 "of your own before that, or start processes by 'spawn'")
            kept = _opened[name] = Engine(engine)
        return kept


def _close_default() -> None:
    while _opened:
        _, engine = _opened.popitem()
        if engine._pid == os.getpid():
            engine.close()


atexit.register(_close_default)
__all__ = ["Device", "Engine", "NoDeviceError", "devices"]
