"""leyden: electrostatic potentials of point charges, on OpenCL and CUDA devices.

>>> import leyden
>>> potential = leyden.map("protein.pqr", dielectric=78.54)
>>> potential.save("protein.dx")
>>> potential.values.mean()

Lengths are in Angstrom, charges in elementary charges. docs/python.md of the sources walks through
it; the library's equation and conventions are those of leyden.h.
"""
import os as _os
import signal as _signal
import sys as _sys

if _sys.argv[:1] == ["-m"] and "leyden" in getattr(_sys, "orig_argv", ["leyden"]):
    # python -m leyden: Ctrl-C while it imports, before main() takes signals, shows no traceback.
    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, lambda *_: _os._exit(130))

# pylint: disable=wrong-import-position
import warnings as _warnings
from typing import TYPE_CHECKING as _TYPE_CHECKING, Any as _Any

from ._atoms import Atoms
from ._average import Average, Profile, average
from ._boundary import Boundary, boundary
from ._c import ffi as _ffi, lib as _lib
from ._compute import map, points  # pylint: disable=redefined-builtin
from ._energy import Energies, Energy
from ._energy_run import energy
from ._engine import Device, Engine, devices
from ._errors import (Cancelled, CellWarning, DeviceError, DeviceWarning, Error, FileError, InputError, MapWarning, NoDeviceError,
                      OutOfMemoryError, PointsWarning, RadiiWarning, ToleranceWarning, UsageError, WavefunctionWarning,
                      WrongResult)
from ._fitting import FitScores, density_map, fit_score
from ._grid import Grid
from ._guesses import OF_MODULE as _OF_MODULE, refuse as _refuse
from ._ions import Ions, ions
from ._maps import Map, Points, Slice
from ._mmgbsa import Binding, mmgbsa
from ._particles import Particles
from ._plan import Plan
from ._progress import FrameProgress, Progress
from ._series import Attached, Series, series
from ._shells import shells
from ._statistics import Statistics
from ._surface import Surface, surface
from ._wavefunction import Density, PotentialField, Wavefunction

__version__: str = _ffi.string(_lib.ley_version()).decode()

__all__ = ["Atoms", "Attached", "Average", "Binding", "Boundary", "Cancelled", "CellWarning", "Density", "Device",
           "DeviceError", "DeviceWarning", "Energies", "Energy", "Engine", "Error", "FileError", "FitScores", "FrameProgress",
           "Grid",
           "InputError", "Ions", "Map", "MapWarning", "NoDeviceError", "OutOfMemoryError", "Particles", "Plan",
           "Points", "PointsWarning", "PotentialField", "Profile", "Progress", "RadiiWarning", "Series", "Slice",
           "Statistics", "Surface", "ToleranceWarning", "UsageError", "Wavefunction", "WavefunctionWarning",
           "WrongResult", "__version__", "average", "boundary", "density_map", "devices", "energy", "fit_score", "ions", "map", "mmgbsa",
           "points", "series", "shells", "surface"]

_FORMER_NAMES = {"Lattice": "Grid"}


if not _TYPE_CHECKING:  # type checkers know the names that there are

    def __getattr__(name: str) -> _Any:
        """What was called `name` in the release before; of other names what may be meant."""
        if name not in _FORMER_NAMES:
            _refuse(_sys.modules[__name__], "module 'leyden'", name, "leyden", _OF_MODULE)
        _warnings.warn(f"leyden.{name} is called leyden.{_FORMER_NAMES[name]} now", DeprecationWarning, stacklevel=2)
        return globals()[_FORMER_NAMES[name]]
