"""Tables of Lennard-Jones types, by mixing rules."""
from __future__ import annotations

from typing import Any, Tuple

import numpy as np

from ._arrays import numbers as numbers_in, pointer_to
from ._c import lib
from ._errors import InputError, Status, UsageError

_RULES = {"lorentz-berthelot": "LEY_MIXING_LORENTZ_BERTHELOT", "geometric": "LEY_MIXING_GEOMETRIC",
          "waldman-hagler": "LEY_MIXING_WALDMAN_HAGLER"}


def table(sigma: Any, epsilon: Any, mixing: str = "lorentz-berthelot") -> Tuple[np.ndarray, np.ndarray]:
    """a and b, (types, types), kcal/mol A^12 and A^6, of types with these sigma (A) and epsilon (kcal/mol)."""
    if mixing not in _RULES:
        raise UsageError(f"mixing: {mixing!r:.60} is none of {', '.join(_RULES)}")
    sigmas, epsilons = (np.ascontiguousarray(numbers_in(values, name, np.float64))
                        for values, name in ((sigma, "sigma"), (epsilon, "epsilon")))
    if sigmas.ndim != 1 or sigmas.shape != epsilons.shape or not sigmas.size:
        raise InputError(f"sigma has the shape {sigmas.shape} and epsilon {epsilons.shape}, which must both be (types,)")
    a, b = np.empty((2, sigmas.size, sigmas.size))
    with Status() as status:
        status.check(lib.ley_lennard_jones_table(sigmas.size, pointer_to(sigmas), pointer_to(epsilons),
                                                 getattr(lib, _RULES[mixing]), pointer_to(a), pointer_to(b), status.pointer))
    return a, b
