"""Means of series in time, and how well they are known: standard errors by blocks."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Iterator

import numpy as np

_FEWEST_BLOCKS = 4  # of which a deviation is taken


@dataclass(frozen=True, eq=False)
class Estimate:
    """Of a series x_1 ... x_T, or of several at once, which are its columns.

    Attributes:
        mean: 1/T sum of x_t.
        deviation: standard deviation, with T - 1; nan where T is 1.
        error: standard error of the mean, deviation sqrt(g / T).
        correlation: g, how many values tell as much as one that is independent of the others: b var(means of blocks of b
            values) / var(x), not below 1, for the least b with b^3 > 2 T g^2.
        is_settled: whether there is such a b that leaves at least four blocks; otherwise the error is that of the largest
            b, which is too small.

    Source: H. Flyvbjerg and H. G. Petersen, J. Chem. Phys. 91, 461 (1989), for blocks; R. M. Lee, G. J. Conduit, N. Nemec,
    P. Lopez Rios and N. D. Drummond, Phys. Rev. E 83, 066706 (2011), for their length.
    """

    mean: np.ndarray
    deviation: np.ndarray
    error: np.ndarray
    correlation: np.ndarray
    is_settled: np.ndarray


def _lengths(count: int) -> Iterator[int]:
    """Of blocks, each about a fifth longer than the one before."""
    length = 1
    while length <= max(count // _FEWEST_BLOCKS, 1):
        yield length
        length = max(length + 1, int(1.2 * length))


def estimate(values: np.ndarray) -> Estimate:
    """Of (T,) or (T, ...). Frames that do not fill a block are left out at the beginning."""
    values = np.asarray(values, np.float64)
    count, shape = len(values), values.shape[1:]
    mean = values.mean(axis=0)
    if count < 2:
        nan = np.full(shape, np.nan)
        return Estimate(mean, nan, nan, nan, np.zeros(shape, bool))
    variance = values.var(axis=0, ddof=1)
    correlation, is_settled = np.ones(shape), variance == 0
    for length in _lengths(count):
        blocks = count // length
        means = values[count - blocks * length:].reshape(blocks, length, *shape).mean(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            found = np.maximum(length * means.var(axis=0, ddof=1) / variance, 1)
        correlation = np.where(is_settled, correlation, found)
        is_settled = is_settled | (length ** 3 > 2 * count * found ** 2)
        if np.all(is_settled):
            break
    deviation = np.sqrt(variance)
    return Estimate(mean, deviation, deviation * np.sqrt(correlation / count), correlation, is_settled)
