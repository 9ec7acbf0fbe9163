"""Pictures of planes, as `leyden slice` draws them."""
from __future__ import annotations

import base64
import io
import inspect
import math
import os
import re
import struct
import textwrap
import zlib
from dataclasses import replace
from typing import Any, Callable, Mapping, Optional, Sequence, Tuple

import numpy as np

from ._arrays import doubles
from ._errors import UsageError, file_name, number_of, switch_of
from ._files import write_whole
from ._parameters import did_you_mean

# From red over white at zero to blue, in equal steps: those of host/surface/colours.c.
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


ENDINGS = (".png", ".svg", ".pdf", ".jpg", ".jpeg", ".tif", ".tiff")  # of pictures
OPTIONS = ("ax", "limit", "limits", "range", "title", "transparent")
# What the command has otherwise.
_ELSEWHERE = {
    **dict.fromkeys(("size", "dpi", "output"), 'plot().figure.savefig("a.png", dpi=150)'),
    "figsize": "plot(ax=plt.subplots(figsize=(8, 6))[1])", "index": 'at=map.grid.axis("z")[12]',
    "difference": "(map - other).plot()", "contours": "ax.contour(slice.values, extent=slice.extent)",
    **dict.fromkeys(("molecule", "within", "atoms"), "the command: leyden slice map.dx --molecule a.pqr -o a.png"),
    "colormap": "cmap", "units": "map.units", "levels": "ax.contour(slice.values, levels, extent=slice.extent)",
}


def _of_imshow() -> Tuple[str, ...]:
    from matplotlib.artist import ArtistInspector
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage
    own = [name for name in inspect.signature(Axes.imshow).parameters if name not in ("self", "X", "data", "kwargs")]
    return (*own, *(name for name in ArtistInspector(AxesImage).get_setters() if name not in own))


def check(options: Mapping[str, Any], more: Sequence[str] = ()) -> None:
    """UsageError for one that is not plot()'s, nor one of `more`."""
    theirs = _of_imshow()
    for word in options:
        if word not in OPTIONS and word not in theirs:
            meant = f" (did you mean {_ELSEWHERE[word]}?)" if word in _ELSEWHERE else \
                did_you_mean(word, [*more, *OPTIONS, *theirs])
            raise UsageError(f"plot() has no option {word!r}{meant}: it takes {', '.join([*more, *OPTIONS])} and imshow's, "
                             "cmap, norm, vmin, vmax, interpolation, alpha, ...")


def limits_of(options: Any, values: np.ndarray) -> Tuple[float, float]:
    """Values at the ends of the colours, of what limit, limits and range say; these are taken out of the options."""
    given = [(name, options.pop(name)) for name in ("limit", "limits", "range") if name in options]
    given = [(name, value) for name, value in given if value is not None]
    if len(given) > 1:
        raise UsageError(f"{given[0][0]} and {given[1][0]} exclude each other: both set the colours' range")
    for name, value in given:
        if name != "range" and np.ndim(value) == 0:
            limit = number_of(value, name)
            if not 0 < limit < math.inf:
                raise UsageError(f"{name}: {limit:g} is not above 0")
            return -limit, limit
        if np.shape(value) != (2,):
            raise UsageError(f"{name}: {'' if name == 'range' else 'a number, or '}the values at both ends, (-3, 7) say, "
                             f"are needed, not {value!r:.60}")
        low, high = doubles(value, name, (2,)).tolist()
        if not low < high:
            raise UsageError(f"{name}: {low:g} is not below {high:g}")
        return low, high
    limit = usual_limit(values)
    return -limit, limit


def _colours(low: float, high: float) -> Any:
    """From the one to the other of colours that are white at 0 and deepest at whichever is farther from it."""
    from matplotlib.colors import LinearSegmentedColormap, ListedColormap
    whole, limit = LinearSegmentedColormap.from_list("leyden", COLOURS, 1025), max(abs(low), abs(high))
    if low == -high:
        return whole
    return ListedColormap(whole((np.linspace(low, high, 1025) / limit + 1) / 2), "leyden")


def _width(ax: Any) -> float:
    """What axes have that have no colour bar yet, points."""
    return 72 * ax.get_position(original=True).width * ax.figure.get_size_inches()[0]


def _title(ax: Any, text: str) -> Tuple[str, str]:
    """Lines that fit above axes which have no colour bar yet, and their size: "medium", or "small" where need be."""
    width, lines = _width(ax), text.split("\n")  # a letter is about half as wide as its size
    for size, letters in ("medium", width / 5.5), ("small", width / 4.6):
        if max(map(len, lines)) <= letters:
            return text, size
    kept = (re.sub(r" (?=[=Å])|(?<=[=]) |(?<=plane) ", "\xa0", line) for line in lines)  # "z = 3 Å", "plane 5"
    return "\n".join(row.replace("\xa0", " ") for line in kept for row in textwrap.wrap(line, max(int(width / 4.6), 12))), \
        "small"


def _bar_axes(ax: Any) -> Any:
    """Beside these axes, for a colour bar, and as high as they are drawn."""
    from matplotlib import colorbar
    from matplotlib.transforms import Bbox
    is_of_grid = ax.get_subplotspec() is not None and ax.figure.get_layout_engine() is None
    fraction = min(max(0.15, 70 / _width(ax)), 0.45) if is_of_grid else 0.15  # with its words, where nobody makes room
    bar, how = (colorbar.make_axes_gridspec if is_of_grid else colorbar.make_axes)(ax, fraction=fraction, pad=0.05)
    del how["orientation"], how["ticklocation"]

    def place(_: Any, renderer: Any) -> Any:
        locator = ax.get_axes_locator()
        ax.apply_aspect(locator(ax, renderer) if locator else None)
        beside, room = ax.get_position(), bar.get_position(original=True)
        left = beside.x1 + 0.05 * beside.width
        return Bbox([[left, beside.y0], [left + room.width, beside.y1]])

    bar.set_axes_locator(place)
    return bar


def heading(plane: Any) -> str:
    """The molecule where it is known, and what is drawn of it."""
    words = f"potential in {plane.units}" if plane.units else "potential"
    if plane.dielectric > 0:
        words += f", dielectric {plane.dielectric:.6g},"
    words += f" at {plane.plane} = {plane.at:.6g} Å (plane {plane.index})".replace("-", "−")
    return f"{plane.title}\n{words}" if plane.title else words


def draw(plane: Any, ax: Any, options: Any) -> Any:
    """What Slice.plot() does."""
    check(options)
    if ax is not None and not hasattr(ax, "imshow"):
        raise UsageError(f"ax: matplotlib's axes are needed, not {ax!r:.60}")
    low, high = limits_of(options, plane.values)
    title, is_clear = options.pop("title", None), switch_of(options.pop("transparent", False), "transparent")
    if title is not None:
        plane = replace(plane, title=str(title))
    if ax is None:
        import matplotlib.pyplot as plt
        ax = plt.figure().add_subplot()
    if is_clear:
        ax.figure.patch.set_alpha(0)
        ax.patch.set_alpha(0)
    # Pixels are centred upon their points, and the picture reaches from the first to the last ones.
    left, right, bottom, top = plane.extent
    rows, columns = plane.values.shape
    half_x, half_y = ((right - left) / max(columns - 1, 1) or 1) / 2, ((top - bottom) / max(rows - 1, 1) or 1) / 2
    ends = {} if "norm" in options else {"vmin": low, "vmax": high}
    options = {"cmap": _colours(low, high), **ends, "origin": "lower", "interpolation": "bilinear",
               "extent": (left - half_x, right + half_x, bottom - half_y, top + half_y), **options}
    image = ax.imshow(plane.values, **options)
    if columns > 1:
        ax.set_xlim(left, right)
    if rows > 1:
        ax.set_ylim(bottom, top)
    ax.set_xlabel(f"{plane.axes[0]} (Å)")
    ax.set_ylabel(f"{plane.axes[1]} (Å)")
    text, size = _title(ax, heading(plane))
    ax.set_title(text, fontsize=size)
    low, high = image.get_clim()
    beyond = "neither", "min", "max", "both"
    ax.figure.colorbar(image, cax=_bar_axes(ax), label=f"potential ({plane.units})" if plane.units else "potential",
                       extend=beyond[bool(np.any(plane.values < low)) + 2 * bool(np.any(plane.values > high))])
    return image


def draw_profile(distance: np.ndarray, values: np.ndarray, errors: np.ndarray, ax: Any, across: str, label: str,
                 options: Mapping[str, Any]) -> Any:
    """What Profile.plot() does."""
    if ax is not None and not hasattr(ax, "fill_between"):
        raise UsageError(f"ax: matplotlib's axes are needed, not {ax!r:.60}")
    if ax is None:
        import matplotlib.pyplot as plt
        ax = plt.figure(layout="constrained").add_subplot()
    line, = ax.plot(distance, values, **options)
    if np.all(np.isfinite(errors)):
        ax.fill_between(distance, values - errors, values + errors, color=line.get_color(), alpha=0.3, linewidth=0)
    ax.set_xlim(distance[0], distance[-1])
    ax.set_xlabel(across)
    ax.set_ylabel(label)
    return line


_MOST_SHARES = 20  # of residues that are drawn


def draw_binding(figure: Any, frames: np.ndarray, total: np.ndarray, rows: Sequence[Tuple[str, float, float]],
                 shares: Optional[Tuple[Sequence[str], np.ndarray, np.ndarray]], title: str) -> Any:
    """What Binding.plot() does: `rows` are names, means and errors of terms; `shares` labels, values, which are the ligand's."""
    if figure is None:
        import matplotlib.pyplot as plt
        figure = plt.figure(figsize=(9, 4 if shares is None else 8), layout="constrained")
    grid = figure.add_gridspec(1 if shares is None else 2, 2, width_ratios=(3, 2))
    blue, red, grey = COLOURS[-1], COLOURS[0], "#777777"
    upper = figure.add_subplot(grid[0, 0])
    _, mean, error = rows[-1]
    upper.plot(frames, total, color=grey, linewidth=0.8, marker="." if len(frames) < 50 else "", label="frame")
    upper.plot(frames, np.cumsum(total) / np.arange(1, len(total) + 1), color=blue, label="mean so far")
    upper.axhspan(mean - error, mean + error, color=blue, alpha=0.2, linewidth=0)
    said = f"{mean:.2f} ± {error:.2f}" if np.isfinite(error) else f"{mean:.2f}"
    upper.set_title(f"{title}, ΔE = {said} kcal/mol".replace("-", "−"), fontsize="medium")
    upper.set_xlabel("frame")
    upper.xaxis.get_major_locator().set_params(integer=True)
    upper.set_ylabel("ΔE (kcal/mol)")
    upper.legend(fontsize="small")
    terms = figure.add_subplot(grid[0, 1])
    names, means, errors = zip(*rows)
    terms.bar(names, means, yerr=[value if np.isfinite(value) else 0 for value in errors], capsize=3,
              color=[blue if value < 0 else red for value in means])
    terms.axhline(0, color="black", linewidth=0.8)
    terms.tick_params(axis="x", labelrotation=45)
    terms.set_ylabel("mean (kcal/mol)")
    if shares is not None:
        labels, values, is_ligand = shares
        largest = np.sort(np.argsort(-np.abs(values), kind="stable")[:_MOST_SHARES])
        lower = figure.add_subplot(grid[1, :])
        bars = lower.bar([labels[k] for k in largest], values[largest], color=[blue if value < 0 else red for value in values[largest]])
        for bar, k in zip(bars, largest):
            bar.set_hatch("//" if is_ligand[k] else "")
        lower.axhline(0, color="black", linewidth=0.8)
        lower.tick_params(axis="x", labelrotation=60)
        lower.set_ylabel("share of ΔE (kcal/mol)")
        lower.set_title(f"the {len(largest)} largest shares; hatched: the ligand", fontsize="medium")
    return figure


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


def picture_name(path: Any) -> str:
    """The name of a picture that can be drawn. Errors: UsageError, ImportError."""
    name = os.fsdecode(file_name(path))
    if not name.lower().endswith((".png", ".svg", ".pdf")):
        raise UsageError(f"{name}: a name that ends in .png, .svg or .pdf is needed")
    try:
        import matplotlib  # pylint: disable=unused-import
    except ImportError:
        raise ImportError(f"{name}: matplotlib is not installed, which draws pictures: pip install matplotlib") from None
    return name


def save_picture(path: Any, draw: Callable[[Any], Any], size: Tuple[float, float] = (9, 4)) -> None:
    """Writes what draw(figure) draws, whole or not at all. Errors: those of picture_name(); FileError."""
    name, content = picture_name(path), io.BytesIO()
    from matplotlib.figure import Figure
    figure = Figure(figsize=size, layout="constrained")
    draw(figure)
    figure.savefig(content, format=name[-3:].lower(), dpi=150)
    write_whole(name, content.getvalue())


def html(picture: bytes) -> str:
    """A PNG within a page."""
    return f'<img src="data:image/png;base64,{base64.b64encode(picture).decode()}">'


# ---- Surfaces ------------------------------------------------------------------------------------

_SIZE, _FINER, _MARGIN = (400, 300), 2, 0.94  # pixels of a picture; how much finer it is drawn; what the surface fills of it
_SAMPLES = 1 << 20  # that are drawn at a time


def _png_of(rows: np.ndarray) -> bytes:
    """A PNG of (height, width, 3) bytes, rows from above."""
    height, width, _ = rows.shape
    lines = np.full((height, 1 + 3 * width), 2, np.uint8)  # each line behind a 2: less that above it
    lines[:, 1:] = np.diff(rows.reshape(height, -1), axis=0, prepend=np.uint8(0))

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) + \
        chunk(b"IDAT", zlib.compress(lines.tobytes(), 9)) + chunk(b"IEND", b"")


def surface_png(places: np.ndarray, triangles: np.ndarray, colours: np.ndarray, is_closed: bool) -> bytes:
    """A picture of triangles as seen along -z, y upwards, in colours of their vertices, (n, 3) from 0 to 1.

    Triangles are filled with points less than a pixel apart, the farthest triangles first.
    """
    width, height = (_FINER * side for side in _SIZE)
    low, high = places.min(axis=0), places.max(axis=0)
    scale = _MARGIN * min(width / max(high[0] - low[0], 1e-9), height / max(high[1] - low[1], 1e-9))
    at = ((places[:, :2] - (low + high)[:2] / 2) * (scale, -scale) + (width / 2, height / 2)).astype(np.float32)
    triangles = triangles[np.argsort(places[triangles, 2].mean(axis=1))]
    if is_closed:  # what faces away is behind what does not
        (ax, ay), (bx, by) = ((at[triangles[:, k]] - at[triangles[:, 0]]).T for k in (1, 2))
        triangles = triangles[ax * by < ay * bx]
    corners = at[triangles]
    pieces = int(np.ceil(1.2 * np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max())) + 1
    i, j = (index.ravel() for index in np.indices((pieces + 1, pieces + 1)))
    i, j = i[i + j <= pieces], j[i + j <= pieces]
    weights = (np.stack([i, j, pieces - i - j], axis=1) / pieces).astype(np.float32)
    samples = len(weights)
    shown = np.full(width * height, -1)  # of each pixel the point: of several the last one stays
    step = max(_SAMPLES // samples, 1)
    for first in range(0, len(triangles), step):
        x, y = np.moveaxis(weights @ corners[first:first + step], 2, 0).astype(np.int32)
        shown[y * width + x] = np.arange(first * samples, first * samples + x.size).reshape(x.shape)
    image = np.ones((width * height, 3), np.float32)
    triangle, point = np.divmod(shown[shown >= 0], samples)
    image[shown >= 0] = np.einsum("kc,kcx->kx", weights[point], colours[triangles[triangle]])
    fine = image.reshape(_SIZE[1], _FINER, _SIZE[0], _FINER, 3).mean(axis=(1, 3))
    return _png_of(np.round(255 * np.clip(fine, 0, 1)).astype(np.uint8))
