"""Pictures of planes, as `leyden slice` draws them."""
from __future__ import annotations

import io
import math
from typing import Any, Optional

import numpy as np

# From red over white at zero to blue, in equal steps: those of tools/colours.c.
COLOURS = [f"#{colour}" for colour in (
    "b40426 c1292d cc4036 d7533f e16549 e97654 f18660 f7956c fba47a ffb188 ffbe96 ffc9a5 ffd4b4 ffddc4 fbe5d3 f7ece2 "
    "f1f1f1 e4eff9 d7ebff c9e6ff bbe0ff add9ff 9fd0ff 91c6ff 84bbff 77afff 6ba2ff 6095fa 5687f1 4d79e7 466adb 405bce "
    "3b4cc0").split()]


def usual_limit(values: np.ndarray) -> float:
    """What 98 % of the values are within, rounded up to two digits."""
    sizes = np.sort(np.abs(values[np.isfinite(values)]), axis=None)
    limit = float(sizes[math.ceil(0.98 * sizes.size) - 1]) if sizes.size else 0.0
    if not limit > 0:
        return 1.0
    unit = 10.0 ** (math.floor(math.log10(limit)) - 1)
    return math.ceil(limit / unit * (1 - 1e-9)) * unit


def heading(plane: Any) -> str:
    """The molecule where it is known, and what is drawn of it."""
    words = f"potential in {plane.units}" if plane.units else "potential"
    if plane.dielectric > 0:
        words += f", dielectric {plane.dielectric:.6g},"
    words += f" at {plane.plane} = {plane.at:.6g} Å (plane {plane.index})".replace("-", "−")
    return f"{plane.title}\n{words}" if plane.title else words


def draw(plane: Any, ax: Any, limit: Optional[float], options: Any) -> Any:
    """What Slice.plot() does."""
    from matplotlib.colors import LinearSegmentedColormap
    if ax is None:
        import matplotlib.pyplot as plt
        ax = plt.figure().add_subplot()
    limit = limit or usual_limit(plane.values)
    # Pixels are centred upon their points, and the picture reaches from the first to the last ones.
    left, right, bottom, top = plane.extent
    rows, columns = plane.values.shape
    half_x, half_y = ((right - left) / max(columns - 1, 1) or 1) / 2, ((top - bottom) / max(rows - 1, 1) or 1) / 2
    options = {"cmap": LinearSegmentedColormap.from_list("leyden", COLOURS, 1025), "vmin": -limit, "vmax": limit,
               "origin": "lower", "interpolation": "bilinear",
               "extent": (left - half_x, right + half_x, bottom - half_y, top + half_y), **options}
    image = ax.imshow(plane.values, **options)
    if columns > 1:
        ax.set_xlim(left, right)
    if rows > 1:
        ax.set_ylim(bottom, top)
    ax.set_xlabel(f"{plane.axes[0]} (Å)")
    ax.set_ylabel(f"{plane.axes[1]} (Å)")
    ax.set_title(heading(plane), fontsize="medium")
    low, high = image.get_clim()
    beyond = "neither", "min", "max", "both"
    ax.figure.colorbar(image, ax=ax, label=f"potential ({plane.units})" if plane.units else "potential",
                       extend=beyond[bool(np.any(plane.values < low)) + 2 * bool(np.any(plane.values > high))])
    return image


def png(plane: Any) -> Optional[bytes]:
    """A small picture of a plane; None: matplotlib is not installed."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return None
    figure, file = Figure(figsize=(4.5, 3.5), layout="constrained"), io.BytesIO()
    plane.plot(figure.add_subplot())
    figure.savefig(file, format="png", dpi=72)
    return file.getvalue()
