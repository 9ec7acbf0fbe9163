"""What people type who know other packages: each such name with what to type here."""
from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any, Mapping, NoReturn, Sequence

import numpy as np

_READ = 'leyden.Atoms("molecule.pqr") or leyden.Map("map.dx")'
_ATOMS = 'leyden.Atoms("molecule.pqr"), leyden.Atoms(universe) or leyden.Atoms(positions, charges, radii)'
_MAP = "leyden.map(atoms)"
_POINTS = "leyden.points(atoms, positions)"

OF_MODULE = {
    **dict.fromkeys(("read", "load", "open", "loads", "parse"), _READ),
    **dict.fromkeys(("read_pqr", "load_pqr", "PQR", "Universe", "AtomGroup", "Molecule", "Structure", "read_atoms",
                     "load_atoms", "Charges", "System"), _ATOMS),
    **dict.fromkeys(("read_dx", "load_dx", "read_map", "load_map", "DX", "open_map"), 'leyden.Map("map.dx")'),
    **dict.fromkeys(("potential", "Potential", "potential_map", "potential_grid", "solve", "compute", "calculate",
                     "run", "electrostatics", "coulomb", "esp", "PotentialMap"), _MAP),
    **dict.fromkeys(("potential_at", "potentials", "potential_at_points", "evaluate", "interpolate"), _POINTS),
    **dict.fromkeys(("field", "electric_field"), "leyden.map(atoms, field=True).field"),
    **dict.fromkeys(("Device", "device", "list_devices", "get_devices", "platforms", "Platform"),
                    "leyden.devices()"),
    **dict.fromkeys(("write", "save", "savedx", "write_dx", "save_map"), 'leyden.map(atoms).save("map.dx")'),
    **dict.fromkeys(("mean", "pmepot", "PMEPot", "average_map", "time_average", "averages"),
                    'leyden.average("membrane.psf", "membrane.dcd")'),
    **dict.fromkeys(("timeseries", "time_series", "trajectory", "bond_field", "stark", "stark_shift"),
                    'leyden.series(universe, "name CA")'),
    **dict.fromkeys(("msk", "merz_kollman", "connolly", "esp_points"), 'leyden.shells(universe.select_atoms("resname LIG"))'),
    **dict.fromkeys(("plot", "show", "imshow", "slice"), 'leyden.Map("map.dx").plot("z", at=12.5)'),
    **dict.fromkeys(("isosurface", "contour", "mesh"), 'leyden.surface("map.dx", level=1)'),
    **dict.fromkeys(("compare", "diff", "difference"), 'abs(leyden.Map("a.dx") - leyden.Map("b.dx")).values.max()'),
    **dict.fromkeys(("Merge", "merge", "concatenate"), "leyden.Atoms(first) + leyden.Atoms(second)"),
    **dict.fromkeys(("convert", "to_pqr", "write_pqr", "Writer"), 'leyden.Atoms(universe).write("molecule.pqr")'),
    **dict.fromkeys(("debye_huckel", "dirichlet", "bcfl"), "leyden.boundary(atoms, ...)"),
    "apbs": "the command, leyden apbs protein.in", "bench": "the command, leyden bench",
    **dict.fromkeys(("orbital", "orbitals", "mo", "density", "electron_density", "read_molden", "load_molden", "from_molden"),
                    'leyden.Wavefunction("c60.molden").orbital("homo"), or .density()'),
    **dict.fromkeys(("mmpbsa", "MMPBSA", "MMGBSA", "binding", "binding_energy", "interaction_energy"),
                    'leyden.mmgbsa("complex.prmtop", "run.nc", receptor="protein", ligand="resname LIG")'),
    **dict.fromkeys(("energies", "potential_energy", "gb", "generalized_born", "single_point"),
                    'leyden.energy("complex.prmtop", "run.nc", gb="obc2")'),
    "Simulation": "leyden.Plan(atoms)", "version": "leyden.__version__",
}
OF_ATOMS = {
    **dict.fromkeys(("coords", "coordinates", "coord", "xyz", "pos", "get_positions", "getCoords", "position"),
                    "atoms.positions"),
    **dict.fromkeys(("get_charges", "partial_charges", "charge", "get_initial_charges"), "atoms.charges"),
    **dict.fromkeys(("get_radii", "radius"), "atoms.radii"),
    **dict.fromkeys(("dimensions", "box", "get_cell", "unitcell", "lattice", "pbc"), "atoms.cell"),
    **dict.fromkeys(("n_atoms", "natoms", "count", "size", "get_number_of_atoms", "numAtoms"), "len(atoms)"),
    **dict.fromkeys(("resids", "resindices", "resnums"), "atoms.residues"),
    **dict.fromkeys(("select_atoms", "select", "filter"), "atoms[atoms.charges > 0], of any mask or numbers"),
    **dict.fromkeys(("translate", "rotate", "shift", "wrap", "center"),
                    "leyden.Atoms(atoms.positions + (1, 0, 0), atoms.charges, atoms.radii)"),
    **dict.fromkeys(("center_of_geometry", "centroid", "center_of_mass"), "atoms.positions.mean(axis=0)"),
    **dict.fromkeys(("dipole", "dipole_moment", "dipole_vector"), "atoms.charges @ atoms.positions, e A"),
    **dict.fromkeys(("names", "types", "elements", "masses", "resnames", "universe"),
                    "universe.atoms of MDAnalysis: leyden.Atoms has positions, charges and radii"),
    **dict.fromkeys(("append", "extend", "concatenate"), "atoms + others"),
    **dict.fromkeys(("load", "open", "from_file", "from_pqr"), 'leyden.Atoms("molecule.pqr")'),
    **dict.fromkeys(("from_universe", "from_atomgroup"), "leyden.Atoms(universe)"),
    **dict.fromkeys(("to_pqr", "export"), 'atoms.write("molecule.pqr")'), "copy": "atoms itself: it never changes",
    **dict.fromkeys(("potential", "map"), _MAP),
}
OF_MAP = {
    **dict.fromkeys(("data", "array", "to_numpy", "numpy", "potential", "phi", "value"), "map.values"),
    **dict.fromkeys(("origin", "axes", "coords", "edges", "midpoints"), "map.grid.origin or map.grid.axis('x')"),
    **dict.fromkeys(("delta", "spacing", "step", "resolution"), "map.grid.spacing"),
    **dict.fromkeys(("dims", "n", "ndim", "size", "dimensions"), "map.shape, (nz, ny, nx)"),
    **dict.fromkeys(("interpolated", "interp", "sample", "at", "value_at"), "map.interpolate(positions)"),
    **dict.fromkeys(("sel", "isel", "plane", "cut"), 'map.slice("z", at=12.5)'),
    **dict.fromkeys(("export", "to_dx", "to_mrc", "to_file", "to_netcdf", "dump"), 'map.save("map.dx")'),
    **dict.fromkeys(("savefig", "to_png", "save_picture"), 'map.plot().figure.savefig("map.png")'),
    **dict.fromkeys(("centers", "centres", "points"), "map.grid.points(), (n, 3), A"),
    **dict.fromkeys(("resample", "resample_factor", "regrid"), "map.interpolate(grid.points()).reshape(grid.shape)"),
    **dict.fromkeys(("isosurface", "contour", "surface"), "leyden.surface(map, level=1)"),
    **dict.fromkeys(("metadata", "info", "attrs"), "map.report"),
    **dict.fromkeys(("load", "open", "from_file"), 'leyden.Map("map.dx")'),
    **dict.fromkeys(("gradient", "electric_field", "E"), "leyden.map(atoms, field=True).field"),
    **dict.fromkeys(("show", "imshow", "draw", "view"), "map.plot()"), "unit": "map.units",
}
OF_GRID = {
    **dict.fromkeys(("delta", "h", "resolution"), "grid.spacing"), "dims": "grid.n",
    **dict.fromkeys(("centers", "centres", "coords", "coordinates"), "grid.points(), (n, 3), A"),
    **dict.fromkeys(("edges", "midpoints", "x", "y", "z"), 'grid.axis("x")'),
}
OF_SURFACE = {
    **dict.fromkeys(("plot", "show", "view", "draw", "render", "savefig", "to_png"),
                    'surface.save("surface.glb"), or the command, leyden surface molecule.pqr -o surface.png'),
    **dict.fromkeys(("faces", "cells", "simplices", "indices"), "surface.triangles"),
    **dict.fromkeys(("points", "verts", "positions", "coords", "xyz"), "surface.vertices"),
    **dict.fromkeys(("colors", "colours", "potential", "scalars", "data"), "surface.values"),
    **dict.fromkeys(("write", "export", "dump", "to_file", "to_ply", "to_obj"), 'surface.save("surface.ply")'),
    **dict.fromkeys(("sasa", "get_area", "surface_area"), "surface.area"),
}
OF_AVERAGE = {
    **dict.fromkeys(("values", "data", "array", "map", "potential", "phi", "grid", "interpolate", "slice", "plot"),
                    "average.mean.values, .grid, .plot(), ...: the mean is a leyden.Map"),
    **dict.fromkeys(("profile", "z", "planes"), 'average.profiles["z"], with profile="z" of leyden.average()'),
    **dict.fromkeys(("std", "stddev", "variance", "standard_deviation"), "average.deviation"),
    **dict.fromkeys(("sem", "stderr", "standard_error"), "average.error"),
    **dict.fromkeys(("n_frames", "nframes", "count"), "average.frames"),
    **dict.fromkeys(("dimensions", "box"), "average.cell"),
}
OF_PARTICLES = {
    **dict.fromkeys(("n_atoms", "natoms", "count", "size", "getNumParticles"), "len(particles)"),
    **dict.fromkeys(("q", "partial_charges", "charge"), "particles.charges"),
    **dict.fromkeys(("sigma", "epsilon", "rmin", "lj", "acoef", "bcoef", "LJ"),
                    "particles.lennard_jones_a and .lennard_jones_b, tables of particles.type"),
    **dict.fromkeys(("radii", "gb_radii", "intrinsic_radii"), "particles.born_radii"),
    **dict.fromkeys(("screens", "screen", "scale"), "particles.born_screens"),
    **dict.fromkeys(("exclusions", "excluded", "exceptions"), "particles.exclusion and .pair_14"),
    **dict.fromkeys(("pairs_14", "pairs", "adjusts", "one_four"), "particles.pair_14"),
    **dict.fromkeys(("residues", "resids", "resnums"), "particles.residue, and particles.residue_numbers of residues"),
    **dict.fromkeys(("resnames", "residue_name"), "particles.residue_names[particles.residue]"),
    **dict.fromkeys(("positions", "coordinates", "xyz", "box", "cell"), "a trajectory: particles have none"),
    **dict.fromkeys(("select", "select_atoms", "atoms"), "particles.subset(mask or numbers)"),
    **dict.fromkeys(("read", "open", "from_file", "from_amber", "from_prmtop"), 'leyden.Particles("complex.prmtop")'),
    **dict.fromkeys(("write", "to_npz", "export"), 'particles.save("complex.npz")'),
}
OF_WAVEFUNCTION = {
    **dict.fromkeys(("mo", "molecular_orbital", "psi", "evaluate", "eval", "value", "isosurface"),
                    'wavefunction.orbital("homo")'),
    **dict.fromkeys(("rho", "electron_density", "edens", "spin_density", "density_map"), "wavefunction.density()"),
    **dict.fromkeys(("esp", "mep", "electrostatic_potential", "electrostatic"), "wavefunction.potential()"),
    **dict.fromkeys(("HOMO", "somo", "SOMO"), "wavefunction.homo"), "LUMO": "wavefunction.lumo",
    **dict.fromkeys(("mo_coeff", "coeffs", "C", "mo_coeffs"), "wavefunction.coefficients, (orbitals, functions)"),
    **dict.fromkeys(("mo_energy", "energy", "mo_energies", "eigenvalues", "moenergies"), "wavefunction.energies"),
    **dict.fromkeys(("mo_occ", "occs", "occ", "occupancies"), "wavefunction.occupations"),
    **dict.fromkeys(("basis", "shells", "obasis", "exponents", "positions_bohr"), "wavefunction.arrays, a dict"),
    **dict.fromkeys(("positions", "coordinates", "atcoords", "atom_coords"), "wavefunction.atoms.positions"),
    **dict.fromkeys(("atnums", "elements", "atomic_numbers", "Z"), "wavefunction.numbers"),
    **dict.fromkeys(("nelec", "nelectron", "n_electrons"), "wavefunction.electrons"),
    **dict.fromkeys(("overlap", "S", "ovlp", "get_ovlp"), "wavefunction.overlaps()"),
    **dict.fromkeys(("read", "open", "from_file", "from_molden", "from_fchk"), 'leyden.Wavefunction("c60.molden")'),
    **dict.fromkeys(("to_npz", "export", "dump", "convert"), 'wavefunction.save("c60.npz")'),
}
OF_POINTS = {
    **dict.fromkeys(("data", "array", "potential", "potentials", "phi"), "points.values"),
    **dict.fromkeys(("positions", "coords"), "points.xyz"),
}
OF_ENGINE = {**dict.fromkeys(("device", "name", "names"), "engine.devices")}
# "spacing=0.5" is for functions with such a keyword; " | " stands in front of what others have.
OF_KEYWORDS = {
    **dict.fromkeys(("ewald", "ewaldfactor", "ewald_factor"), "smooth=2.83, A, the width of charges; 1 / (ewaldfactor sqrt 2)"),
    **dict.fromkeys(("sigma", "width"), "smooth=2.83"), **dict.fromkeys(
        ("sel", "selection", "select"), 'select="protein" | strip="not protein" | universe.select_atoms("protein") in place of the universe'),
    **dict.fromkeys(("start", "stop", "trajectory"), "leyden.average(universe, start=0, stop=100), of frames"),
    **dict.fromkeys(("begin", "first", "b", "startframe"), "start=0"),
    **dict.fromkeys(("end", "last", "e", "endframe"), "stop=100"),
    **dict.fromkeys(("skip", "stride", "dt", "every", "interval"), "step=10"), **dict.fromkeys(("std", "stddev"), "deviation=True"),
    **dict.fromkeys(("n_jobs", "workers", "nprocs", "processes"), "readers=4"),
    **dict.fromkeys(("threads", "n_threads", "nthreads", "n_workers"), "device='host', which takes all cores"),
    **dict.fromkeys(("output", "filename", "outfile", "save"), 'that of what is returned, .save("map.dx")'),
    **dict.fromkeys(("isovalue", "isolevel", "iso", "levels", "contour", "value", "threshold"), "level=1"),
    **dict.fromkeys(("probe_radius", "probe", "srad", "srfm", "swin", "sdens"),
                    "sharpness=2 of leyden.surface(), whose surface is that of Gaussians and has no probe"),
    **dict.fromkeys(("bcfl", "chgm", "lpbe", "npbe", "mg_auto"), "leyden.boundary(atoms, ...), or the command, leyden apbs protein.in"), **dict.fromkeys(("centre",), "center"),
    **dict.fromkeys(("frames",), "start=0, stop=100, step=1"),
    **dict.fromkeys(("igb", "model", "implicitSolvent"), "gb='obc2', which is igb=5"), "saltcon": "salt=0.08, 0.5329 of saltcon",
    **dict.fromkeys(("nonbonded", "nonbondedMethod", "electrostatics"), "coulomb='pme'"), "rgbmax": "gb_cutoff=25",
    **dict.fromkeys(("idecomp", "decomp", "per_residue"), "by='residue'"), "resume": "checkpoint='energies.checkpoint'",
    **dict.fromkeys(("params", "prm", "toppar", "par"), "parameters=['par_all36_prot.prm']"),
    **dict.fromkeys(("pbc", "periodicity"), "periodic=True or periodic='xy', with cell=(a, b, c)"),
    **dict.fromkeys(("shape", "npoints", "grid_shape", "size", "ngrid"), "dims=(nx, ny, nz)"),
    **dict.fromkeys(("cglen", "lengths", "extent"), "glen=(64, 64, 64), with dims=(65, 65, 65)"),
    **dict.fromkeys(("cgcent", "gridcenter", "grid_center"), "gcent=(0, 0, 0), with dims=(65, 65, 65)"),
    **dict.fromkeys(("h", "delta", "resolution", "dx"), "spacing=0.5"),
    **dict.fromkeys(("margin", "buffer", "pad", "border"), "padding=10"),
    **dict.fromkeys(("eps", "sdie", "pdie", "solvent_dielectric", "epsilon_r", "permittivity", "relative_permittivity"),
                    "dielectric=78.54"),
    **dict.fromkeys(("rtol", "atol", "accuracy", "error", "precision"), "tol=1e-4"),
    **dict.fromkeys(("ionic_strength", "ions", "salt", "concentration", "debye_length"),
                    "kappa=0.127, the inverse screening length of 0.15 mol/l in water, 1/A | ions=[(0.15, 1, 2), (0.15, -1, 2)]"),
    **dict.fromkeys(("dimensions", "lattice", "unitcell", "box_vectors"), "cell=(a, b, c)"),
    **dict.fromkeys(("platform", "backend", "gpu", "use_gpu"), "device='gpu'"),
    **dict.fromkeys(("unit",), "units='V'"), **dict.fromkeys(("T", "temp"), "temperature=298.15"),
    **dict.fromkeys(("verbose", "quiet"), "progress=True"), **dict.fromkeys(("efield", "electric_field"), "field=True"),
}

# Values of keywords that have choices, as other programs call them.
OF_CHOICES = {"1": "hct", "2": "obc1", "5": "obc2", "7": "gbn", "8": "gbn2", "ewald": "pme", "sasa": "lcpo"}


def keyword(word: str, names: Sequence[str]) -> str:
    """What may be meant by such a keyword argument of a function that has these; "" where nobody knows."""
    for text in OF_KEYWORDS.get(word, "").split(" | "):
        name = text.split("=")[0]
        if name in names or not name.isidentifier():  # what begins with no keyword is for all
            return text
    return ""


def near(word: str, names: Sequence[str]) -> str:
    """The name that is most like it, or "" where none is."""
    found = difflib.get_close_matches(word, list(names), 1) or \
        [name for name in names if len(name) > 2 and word.startswith(name)]  # tolerance: tol
    return found[0] if found else ""


def refuse(owner: Any, of: str, word: str, called: str, guesses: Mapping[str, str]) -> NoReturn:
    """AttributeError: `of`, "leyden.Map" say, has no such attribute, and what may be meant, of `called`."""
    meant = guesses.get(word, "")
    if not meant and not word.startswith("_"):
        names = [name for name in dir(owner) if not name.startswith("_")]
        is_of_array = "values" in names and hasattr(np.ndarray, word)
        found = f"values.{word}" if is_of_array else near(word, names)
        meant = found and f"{called}.{found}"
    raise AttributeError(f"{of} has no attribute {word!r}" + (f": did you mean {meant}?" if meant else ""))


class _Class(type):
    _guesses: Mapping[str, str]

    if not TYPE_CHECKING:  # type checkers know the names that there are

        def __getattr__(cls, word: str) -> Any:
            refuse(cls, f"leyden.{cls.__name__}", word, f"leyden.{cls.__name__}", cls._guesses)


class Guessed(metaclass=_Class):
    """A class that says of missing attributes, its objects' and its own, what may be meant."""

    _guesses: Mapping[str, str] = {}

    if not TYPE_CHECKING:

        def __getattr__(self, word: str) -> Any:
            of = type(self)
            refuse(of, f"leyden.{of.__name__}", word, of.__name__.lower(), of._guesses)
