"""Made by python/make_keywords.py from the library's tables of parameters."""
from typing import Any, Literal, Optional, Sequence, TypedDict, Union

class MapKeywords(TypedDict, total=False):
    tol: Optional[float]
    spacing: Optional[Union[float, Sequence[float]]]
    dims: Optional[Sequence[int]]
    glen: Optional[Sequence[float]]
    gcent: Optional[Union[Sequence[float], Literal['mol']]]
    origin: Optional[Sequence[float]]
    padding: Optional[float]
    units: Optional[Literal['kT/e', 'V', 'kcal/mol/e', 'kJ/mol/e']]
    dielectric: Optional[float]
    temperature: Optional[float]
    r_min: Optional[float]
    cutoff: Optional[float]
    kappa: Optional[float]
    mesh_spacing: Optional[float]
    splitting: Optional[Literal['taylor2', 'taylor3', 'taylor4', 'taylor5', 'taylor6', 'taylor7', 'taylor8', 'pswf', 'ewald', 'optimal']]
    window: Optional[Literal['nodal3', 'nodal5', 'nodal7', 'nodal9', 'bspline4', 'bspline6', 'bspline8']]
    solver: Optional[Literal['multilevel', 'fourier', 'auto', 'mixed']]
    preset: Optional[Literal['papers']]
    fft: Optional[Literal['auto', 'fftw', 'vkfft', 'clfft', 'cufft']]
    levels: Optional[int]
    probe: Optional[Sequence[float]]
    steepness: Optional[float]
    bin_depth: Optional[int]
    bin_fill: Optional[float]
    binning: Optional[Literal['auto', 'host', 'device']]
    transposition: Optional[Literal['auto', 'host', 'device']]
    math: Optional[Literal['standard', 'native', 'auto']]
    sum: Optional[Literal['float', 'compensated', 'double', 'auto']]
    variant: Optional[str]
    slab: Optional[int]
    verify: Optional[int]
    seed: Optional[int]
    fglen: Optional[Sequence[float]]
    fgcent: Optional[Union[Sequence[float], Literal['mol']]]
    epsilon: Optional[float]
    box: Any
    device: Any

class PointsKeywords(TypedDict, total=False):
    tol: Optional[float]
    units: Optional[Literal['kT/e', 'V', 'kcal/mol/e', 'kJ/mol/e']]
    dielectric: Optional[float]
    temperature: Optional[float]
    r_min: Optional[float]
    cutoff: Optional[float]
    kappa: Optional[float]
    mesh_spacing: Optional[float]
    splitting: Optional[Literal['taylor2', 'taylor3', 'taylor4', 'taylor5', 'taylor6', 'taylor7', 'taylor8', 'pswf', 'ewald', 'optimal']]
    window: Optional[Literal['nodal3', 'nodal5', 'nodal7', 'nodal9', 'bspline4', 'bspline6', 'bspline8']]
    solver: Optional[Literal['multilevel', 'fourier', 'auto', 'mixed']]
    preset: Optional[Literal['papers']]
    fft: Optional[Literal['auto', 'fftw', 'vkfft', 'clfft', 'cufft']]
    levels: Optional[int]
    probe: Optional[Sequence[float]]
    steepness: Optional[float]
    bin_depth: Optional[int]
    bin_fill: Optional[float]
    math: Optional[Literal['standard', 'native', 'auto']]
    sum: Optional[Literal['float', 'compensated', 'double', 'auto']]
    variant: Optional[str]
    verify: Optional[int]
    seed: Optional[int]
    epsilon: Optional[float]
    box: Any
    device: Any

class BoundaryKeywords(TypedDict, total=False):
    dielectric: Optional[float]
    solute_dielectric: Optional[float]
    temperature: Optional[float]
    math: Optional[Literal['standard', 'native', 'auto']]
    sum: Optional[Literal['float', 'compensated', 'double', 'auto']]
    variant: Optional[str]
    slab: Optional[int]
    verify: Optional[int]
    seed: Optional[int]
    sdie: Optional[float]
    pdie: Optional[float]
    device: Any

class PlanKeywords(TypedDict, total=False):
    tol: Optional[float]
    spacing: Optional[Union[float, Sequence[float]]]
    dims: Optional[Sequence[int]]
    glen: Optional[Sequence[float]]
    gcent: Optional[Union[Sequence[float], Literal['mol']]]
    origin: Optional[Sequence[float]]
    padding: Optional[float]
    units: Optional[Literal['kT/e', 'V', 'kcal/mol/e', 'kJ/mol/e']]
    dielectric: Optional[float]
    temperature: Optional[float]
    r_min: Optional[float]
    cutoff: Optional[float]
    kappa: Optional[float]
    mesh_spacing: Optional[float]
    splitting: Optional[Literal['taylor2', 'taylor3', 'taylor4', 'taylor5', 'taylor6', 'taylor7', 'taylor8', 'pswf', 'ewald', 'optimal']]
    window: Optional[Literal['nodal3', 'nodal5', 'nodal7', 'nodal9', 'bspline4', 'bspline6', 'bspline8']]
    solver: Optional[Literal['multilevel', 'fourier', 'auto', 'mixed']]
    preset: Optional[Literal['papers']]
    fft: Optional[Literal['auto', 'fftw', 'vkfft', 'clfft', 'cufft']]
    levels: Optional[int]
    math: Optional[Literal['standard', 'native', 'auto']]
    sum: Optional[Literal['float', 'compensated', 'double', 'auto']]
    variant: Optional[str]
    verify: Optional[int]
    seed: Optional[int]
    fglen: Optional[Sequence[float]]
    fgcent: Optional[Union[Sequence[float], Literal['mol']]]
    epsilon: Optional[float]
    box: Any
    device: Any

class SurfaceKeywords(TypedDict, total=False):
    spacing: Optional[float]
    sharpness: Optional[float]
    device: Any

class AverageKeywords(TypedDict, total=False):
    units: Optional[Literal['kT/e', 'V', 'kcal/mol/e', 'kJ/mol/e']]
    dielectric: Optional[float]
    epsilon: Optional[float]
    device: Any

class SeriesKeywords(TypedDict, total=False):
    units: Optional[Literal['kT/e', 'V', 'kcal/mol/e', 'kJ/mol/e']]
    dielectric: Optional[float]
    temperature: Optional[float]
    r_min: Optional[float]
    epsilon: Optional[float]
    device: Any

class IonsKeywords(TypedDict, total=False):
    from_solute: Optional[float]
    between: Optional[float]
    neutralise: Optional[bool]
    concentration: Optional[float]
    distance_dielectric: Optional[bool]
    seed: Optional[int]
    placing: Optional[Literal['auto', 'host', 'device']]
    spacing: Optional[Union[float, Sequence[float]]]
    dims: Optional[Sequence[int]]
    padding: Optional[float]
    neutralize: Optional[bool]
    grid: Optional[Union[float, Sequence[float]]]
    device: Any

class OrbitalKeywords(TypedDict, total=False):
    no_screening: Optional[bool]
    dims: Optional[Sequence[int]]
    glen: Optional[Sequence[float]]
    gcent: Optional[Union[Sequence[float], Literal['mol']]]
    origin: Optional[Sequence[float]]
    math: Optional[Literal['standard', 'native', 'auto']]
    sum: Optional[Literal['float', 'compensated', 'double', 'auto']]
    variant: Optional[str]
    slab: Optional[int]
    verify: Optional[int]
    seed: Optional[int]
    fglen: Optional[Sequence[float]]
    fgcent: Optional[Union[Sequence[float], Literal['mol']]]
    device: Any

class Density_mapKeywords(TypedDict, total=False):
    resolution: Optional[float]
    convention: Optional[Literal['molmap', 'voltool']]
    verify_every: Optional[int]
    device: Any

class Fit_scoreKeywords(TypedDict, total=False):
    resolution: Optional[float]
    convention: Optional[Literal['molmap', 'voltool']]
    window_radius: Optional[float]
    verify_every: Optional[int]
    device: Any
