"""NumPy arrays on memory of the library, without copies, and the other way round."""
from __future__ import annotations

from typing import Any, Tuple

import numpy as np

from ._c import ffi
from ._errors import InputError


class _Owner:
    """What NumPy keeps as `base` of a view: it holds the object whose memory this is."""

    def __init__(self, owner: Any, address: int, shape: Tuple[int, ...], dtype: np.dtype, readonly: bool) -> None:
        self.owner = owner
        self.__array_interface__ = {"version": 3, "data": (address, readonly), "shape": shape, "typestr": dtype.str}


def view(owner: Any, pointer: Any, shape: Tuple[int, ...], dtype: Any, readonly: bool) -> np.ndarray:
    """An array on the memory at `pointer`, which lives as long as `owner`, and `owner` as long as the array."""
    address = int(ffi.cast("uintptr_t", pointer))
    return np.asarray(_Owner(owner, address, tuple(int(n) for n in shape), np.dtype(dtype), readonly))


def numbers(values: Any, what: str, dtype: Any) -> np.ndarray:
    """`values` as an array of this type; copied if need be. What NumPy would drop in silence is refused."""
    try:
        is_whole = not np.iscomplexobj(values) and not np.ma.is_masked(values)
        array = np.asarray(values, dtype=dtype) if is_whole else None
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{what}: numbers are needed: {error}") from None
    if array is None:
        raise InputError(f"{what}: real numbers are needed, and none that is masked")
    return array


def doubles(values: Any, what: str, shape: Tuple[int, ...]) -> np.ndarray:
    """`values` as a C array of float64 of this shape, in which -1 stands for any length; copied if need be."""
    array = np.ascontiguousarray(numbers(values, what, np.float64))
    if array.ndim != len(shape) or any(want not in (-1, have) for want, have in zip(shape, array.shape)):
        wanted = ", ".join("n" if n < 0 else str(n) for n in shape)
        raise InputError(f"{what} has the shape {array.shape}, not ({wanted}{',' if len(shape) == 1 else ''})")
    return array


def pointer_to(array: np.ndarray) -> Any:
    """The array's numbers for C. The caller keeps the array."""
    return ffi.cast("double *", array.ctypes.data)
