#!/usr/bin/python3
"""Do the programs of others find in our maps the points and the values that were put there?

Readers: mrcfile and gemmi (MRC), numpy, ASE (cube files), GridDataFormats and MDAnalysis, which reads maps by it
(MRC; read_back.py has OpenDX), PyMOL (OpenDX, MRC, cube files), each with a grid along x, y and z and, where it knows them, an oblique one.
Each check is also shown files that are wrong and must refuse them; and files that these programs write are read
back by ours. BUILD names the build directory. Exit code 77: a reader is not installed.
"""
import importlib
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import warnings

LEYDEN = os.path.join(os.path.abspath(os.environ.get("BUILD", "build")), "leyden")


def module(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


READERS = ("numpy", "mrcfile", "gemmi", "ase.io.cube", "gridData", "pymol2")
numpy, mrcfile, gemmi, ase, griddata, pymol = map(module, READERS)
density = module("MDAnalysis.analysis.density")  # heavy: where it is installed

# No two extents alike: a reader that mixes up the axes shows.
COUNTS = (7, 5, 9)
STRAIGHT = ((-2.64, -0.99, 0.33), ((0.33, 0, 0), (0, 0.5, 0), (0, 0, 0.75)))
WHOLE = ((-0.66, 1.5, 2.25), STRAIGHT[1])  # begins a whole number of steps from (0, 0, 0)
OBLIQUE = ((-1.25, 2.25, 0.625), ((0.5, 0, 0), (-0.25, 0.75, 0), (0.125, 0.1, 0.625)))
APART_A = 2e-5
KT_HARTREE = 1.380649e-23 * 298.15 / 4.3597447222071e-18


def value(i, j, k):
    return i + 0.0625 * j - 100 * k


def points():
    return ((i, j, k) for i in range(COUNTS[0]) for j in range(COUNTS[1]) for k in range(COUNTS[2]))


def place(grid, index):
    origin, steps = grid
    return [origin[axis] + sum(index[m] * steps[m][axis] for m in range(3)) for axis in range(3)]


def write_dx(path, grid):
    counts = "%d %d %d" % COUNTS
    with open(path, "w") as file:
        file.write("# POTENTIAL (kT/e)\nobject 1 class gridpositions counts " + counts + "\n")
        file.write("origin %r %r %r\n" % grid[0])
        file.writelines("delta %r %r %r\n" % step for step in grid[1])
        file.write("object 3 class array type double rank 0 items %d data follows\n" % (COUNTS[0] * COUNTS[1] * COUNTS[2]))
        file.writelines("%r\n" % value(*index) for index in points())


def convert(source, target):
    subprocess.run([LEYDEN, "convert", source, "-o", target, "--quiet"], check=True)


def is_near(found, expected):
    return all(abs(a - b) < APART_A for a, b in zip(found, expected))


# Each check returns what is wrong, or None.

def check_mrcfile(path, grid):
    """It tells ORIGIN and NSTART apart: together they are the place, and one of them is 0."""
    try:
        with mrcfile.open(path) as file:
            data, header = file.data, file.header
    except Exception as why:
        return f"mrcfile: {why!r}"
    if not mrcfile.validate(path, print_file=open(os.devnull, "w")):
        return f"mrcfile: {path} is not valid"
    if data.shape != COUNTS[::-1]:
        return f"mrcfile: shape {data.shape}"
    by_start = [int(start) * grid[1][m][m] for m, start in enumerate((header.nxstart, header.nystart, header.nzstart))]
    by_origin = [float(header.origin[axis]) for axis in "xyz"]
    if any(by_start) and any(by_origin) or any(by_start) != (path.startswith("whole.") and ".mrc" not in path):
        return f"mrcfile: origin {by_origin}, start {by_start}"
    if not is_near(by_start if any(by_start) else by_origin, grid[0]):
        return f"mrcfile: origin {header.origin}"
    if any(data[k, j, i] != numpy.float32(value(i, j, k)) for i, j, k in points()):
        return "mrcfile: other values"
    return None


def check_gemmi(path, grid):
    """Its cell tells where fractional coordinates are; the map begins at ORIGIN."""
    try:
        ccp4 = gemmi.read_ccp4_map(path)
    except Exception as why:
        return f"gemmi: {why!r}"
    read = ccp4.grid
    if (read.nu, read.nv, read.nw) != COUNTS:
        return f"gemmi: {read.nu} x {read.nv} x {read.nw} points"
    origin = [ccp4.header_float(word) for word in (50, 51, 52)]
    for index in points():
        fractional = gemmi.Fractional(*(index[m] / COUNTS[m] for m in range(3)))
        at = read.unit_cell.orthogonalize(fractional).tolist()
        if not is_near([a + o for a, o in zip(at, origin)], place(grid, index)):
            return f"gemmi: {index} is at {at} from {origin}, expected {place(grid, index)}"
        if read.get_value(*index) != value(*index):
            return f"gemmi: {read.get_value(*index)} at {index}"
    return None


def check_start(path, grid):
    """By crystallography's rule: values lie in the cell by NSTART, whatever ORIGIN says."""
    ccp4 = gemmi.read_ccp4_map(path)
    ccp4.setup(float("nan"))
    cell = ccp4.grid.unit_cell
    for index in points():
        at = cell.fractionalize(gemmi.Position(*place(grid, index)))
        found = ccp4.grid.get_value(*(round(f * n) for f, n in zip((at.x, at.y, at.z), COUNTS)))
        if found != value(*index):
            return f"gemmi: {path}: {found} at {place(grid, index)}, expected {value(*index)}"
    return None


def changed(path, name, word, kind, number):
    """A copy in which this word, from 1, is another one."""
    with open(path, "rb") as file:
        content = bytearray(file.read())
    struct.pack_into("<" + kind, content, 4 * (word - 1), number)
    with open(name, "wb") as file:
        file.write(content)
    return name


def check_wrong_mrc(check, grid):
    """What it takes for right, of files that are wrong."""
    wrong = [changed("map.mrc", "wrong.mrc", 1, "i", COUNTS[0] - 1), changed("map.mrc", "wrong2.mrc", 300, "f", 1e9),
             changed("map.mrc", "wrong3.mrc", 50, "f", 7.0)]
    if check is check_gemmi:
        wrong.append(changed("map.mrc", "wrong4.mrc", 16, "f", 89.0))
    return [f"{check.__name__} takes {name} for right" for name in wrong if check(name, grid) is None]


def check_ours(path, grid=None):
    """What they wrote, as we read it: the values, and where it is known the first point, by way of OpenDX."""
    convert(path, "back.dx")
    with open("back.dx") as file:
        text = file.read()
    origin = [float(word) for word in text.split("origin ")[1].split()[:3]]
    if grid is not None and not is_near(origin, grid[0]):
        return f"{path}: begins at {origin}, expected {grid[0]}"
    words = text.split("follows")[1].split("attribute")[0].split()
    expected = [value(*index) for index in points()]
    if len(words) != len(expected) or any(abs(float(a) - b) > 1e-5 * abs(b) for a, b in zip(words, expected)):
        return f"{path}: read as other values"
    return None


def write_with_gemmi(path):
    """In a cell of its own axes' order, and with another order of columns, rows and sections."""
    ccp4 = gemmi.Ccp4Map()
    ccp4.grid = gemmi.FloatGrid(*COUNTS)
    ccp4.grid.set_unit_cell(gemmi.UnitCell(20, 21, 22, 80, 95, 110))
    ccp4.grid.spacegroup = gemmi.SpaceGroup("P1")
    for index in points():
        ccp4.grid.set_value(*index, value(*index))
    ccp4.update_ccp4_header()
    ccp4.write_ccp4_map(path)


def check_mrc():
    faults = []
    for grid, name in ((STRAIGHT, "map.mrc"), (OBLIQUE, "oblique.ccp4")):
        write_dx("map.dx", grid)
        convert("map.dx", name)
        if mrcfile is not None and numpy is not None:
            faults.append(check_mrcfile(name, grid))
        if gemmi is not None:
            faults.append(check_gemmi(name, grid))
    if mrcfile is not None and numpy is not None:
        faults += check_wrong_mrc(check_mrcfile, STRAIGHT)
        with mrcfile.new("theirs.mrc") as file:
            file.set_data(numpy.array([[[value(i, j, k) for i in range(COUNTS[0])] for j in range(COUNTS[1])]
                                       for k in range(COUNTS[2])], dtype=numpy.float32))
            file.voxel_size = 0.5
        faults.append(check_ours("theirs.mrc"))
    if gemmi is not None:
        faults += check_wrong_mrc(check_gemmi, STRAIGHT)
        write_dx("map.dx", WHOLE)
        for name in ("whole.ccp4", "whole.map", "whole.map.gz"):
            convert("map.dx", name)
            faults.append(check_start(name, WHOLE))
        if check_start("whole.map", STRAIGHT) is None:
            faults.append("check_start takes another grid for right")
        write_with_gemmi("theirs.ccp4")
        faults.append(check_ours("theirs.ccp4"))
    return faults


def check_numpy(path, grid):
    try:
        data = numpy.load(path)
    except Exception as why:
        return f"numpy: {why!r}"
    with open(path + ".json") as file:
        header = json.load(file)
    if data.dtype != numpy.dtype("<f4") or data.shape != COUNTS[::-1] or header["n"] != list(COUNTS):
        return f"numpy: {data.dtype}, {data.shape}"
    if header["origin_A"] != list(grid[0]) or header["step_A"] != [list(step) for step in grid[1]]:
        return f"{path}.json: {header}"
    if any(data[k, j, i] != numpy.float32(value(i, j, k)) for i, j, k in points()):
        return "numpy: other values"
    return None


def check_npy():
    if numpy is None:
        return []
    faults = []
    for grid in (STRAIGHT, OBLIQUE):
        write_dx("map.dx", grid)
        convert("map.dx", "map.npy")
        faults.append(check_numpy("map.npy", grid))
    if check_numpy("map.npy", STRAIGHT) is None:
        faults.append("check_numpy takes another grid for right")
    shutil.copy("map.npy.json", "wrong.npy.json")
    if check_numpy(changed("map.npy", "wrong.npy", 50, "f", 1e9), OBLIQUE) is None:
        faults.append("check_numpy takes wrong.npy for right")
    data = numpy.load("map.npy")
    for kind in ("<f4", ">f4", "<f8", ">f8"):
        for order in (numpy.ascontiguousarray, numpy.asfortranarray):
            numpy.save("theirs.npy", order(data.astype(kind)))
            shutil.copy("map.npy.json", "theirs.npy.json")
            faults.append(check_ours("theirs.npy"))
    return faults


def check_griddata(path, grid):
    """Grids along x, y and z; places are float32."""
    try:
        read = griddata.Grid(path, file_format="MRC")  # it does not know .map
    except Exception as why:
        return f"GridDataFormats: {why!r}"
    if read.grid.shape != COUNTS:
        return f"GridDataFormats: shape {read.grid.shape}"
    if not is_near(read.origin, grid[0]) or not is_near(read.delta, [grid[1][m][m] for m in range(3)]):
        return f"GridDataFormats: {read.origin}, {read.delta}"
    if any(read.grid[index] != numpy.float32(value(*index)) for index in points()):
        return "GridDataFormats: other values"
    return None


def check_with_griddata():
    if numpy is None or mrcfile is None or griddata is None:
        return []
    faults = []
    for grid, stem in ((WHOLE, "whole"), (STRAIGHT, "map")):
        write_dx("map.dx", grid)
        for ending in (".mrc", ".ccp4", ".map", ".mrc.gz", ".map.gz"):
            convert("map.dx", stem + ending)
            faults.append(check_griddata(stem + ending, grid))
            if mrcfile is not None:
                faults.append(check_mrcfile(stem + ending, grid))
    for name, grid in (("whole.mrc", WHOLE), ("whole.ccp4", WHOLE), ("map.mrc", STRAIGHT)) if density else ():
        if not is_near(density.Density(name).origin, grid[0]):
            faults.append(f"MDAnalysis: {name} begins at {density.Density(name).origin}")
    # As our files once were, with both fields: what adds them up must be seen here.
    both = "whole.mrc"
    for axis in range(3):
        both = changed(both, f"both{axis}.mrc", 5 + axis, "i", round(WHOLE[0][axis] / WHOLE[1][axis][axis]))
    if check_griddata(both, WHOLE) is None:
        faults.append("check_griddata takes a map with ORIGIN and NSTART for right")
    faults.append(check_ours(both, WHOLE))
    return faults + check_wrong_mrc(check_griddata, STRAIGHT)


def check_ase(path, grid):
    """It reads the values as they are, hartree/e, and lengths in A; kT/e is at 298.15 K unless the map says more."""
    try:
        with open(path) as file:
            read = ase.read_cube(file)
    except Exception as why:
        return f"ASE: {why!r}"
    data, cell = read["data"], read["atoms"].cell
    if data.shape != COUNTS:
        return f"ASE: shape {data.shape}"
    if not is_near(read["origin"], grid[0]):
        return f"ASE: origin {read['origin']}"
    if not all(is_near([length / COUNTS[m] for length in cell[m]], grid[1][m]) for m in range(3)):
        return f"ASE: cell {cell}"
    for index in points():
        expected = value(*index) * KT_HARTREE
        if abs(data[index] - expected) > 1e-6 * abs(expected):
            return f"ASE: {data[index]} at {index}, expected {expected}"
    return None


def check_cube():
    if numpy is None or ase is None:
        return []
    faults = []
    for grid, name in ((STRAIGHT, "map.cube"), (OBLIQUE, "oblique.cub")):
        write_dx("map.dx", grid)
        convert("map.dx", name)
        faults.append(check_ase(name, grid))
    if check_ase("map.cube", OBLIQUE) is None:
        faults.append("check_ase takes another grid for right")
    with open("map.cube") as file, open("wrong.cube", "w") as wrong:
        wrong.write("".join(file.readlines()[:-1]) + "1.0 2.0 3.0\n")
    if check_ase("wrong.cube", STRAIGHT) is None:
        faults.append("check_ase takes wrong.cube for right")
    atoms = importlib.import_module("ase").Atoms("OH2", [[0, 0, 0.1], [0, 0.7, -0.5], [0, -0.7, -0.5]], cell=[8, 9, 10])
    with open("theirs.cube", "w") as file:
        ase.write_cube(file, atoms, data=numpy.array([value(*index) for index in points()]).reshape(COUNTS))
    faults.append(check_ours("theirs.cube"))
    return faults


def check_pymol(session, path, grid, scale=1, relative=0, apart_A=APART_A):
    """PyMOL tells the places of the first point and of the last one. Of cube files it takes values for those of
    boxes, and places them half a step off."""
    session.cmd.delete("all")
    try:
        session.cmd.load(path, "map")
        data = session.cmd.get_volume_field("map", 1, copy=1)
    except Exception as why:
        return f"PyMOL: {path}: {why!r}"
    if data.shape != COUNTS:
        return f"PyMOL: {path}: shape {data.shape}"
    for found, index in zip(session.cmd.get_extent("map"), ((0, 0, 0), [n - 1 for n in COUNTS])):
        if any(abs(a - b) > apart_A for a, b in zip(found, place(grid, index))):
            return f"PyMOL: {path}: {index} is at {found}, expected {place(grid, index)}"
    for index in points():
        if abs(data[index] - scale * value(*index)) > relative * abs(scale * value(*index)):
            return f"PyMOL: {path}: {data[index]} at {index}, expected {scale * value(*index)}"
    return None


def check_with_pymol():
    """Without a window. A file named .ccp4 begins at NSTART there, one named .mrc at ORIGIN, and one named .map at
    either."""
    if numpy is None or pymol is None:
        return []
    faults = []
    with pymol.PyMOL() as session:
        session.cmd.feedback("disable", "all", "everything")
        session.cmd.set("normalize_ccp4_maps", 0)
        for grid, names in ((STRAIGHT, ("map.dx", "map.mrc", "map.map")), (OBLIQUE, ("map.mrc", "map.map")),
                               (WHOLE, ("map.dx", "map.mrc", "map.ccp4", "map.map", "map.mrc.gz", "map.map.gz", "map.ccp4.gz"))):
            write_dx("given.dx", grid)
            for name in names:
                convert("given.dx", name)
                exact = 1e-6 if name.endswith(".dx") else 0
                faults.append(check_pymol(session, name, grid, relative=exact))
                if check_pymol(session, name, STRAIGHT if grid is not STRAIGHT else WHOLE, relative=exact) is None:
                    faults.append(f"check_pymol takes another grid for that of {name}")
        if check_pymol(session, changed("map.ccp4", "wrong.ccp4", 300, "f", 1e9), WHOLE) is None:
            faults.append("check_pymol takes wrong.ccp4 for right")
        convert("given.dx", "map.cube")
        faults.append(check_pymol(session, "map.cube", WHOLE, KT_HARTREE, 1e-6, 0.5))
    return faults


def main():
    warnings.simplefilter("ignore")  # of files that are wrong on purpose
    checks = (check_mrc, check_npy, check_cube, check_with_griddata, check_with_pymol)
    faults = [fault for check in checks for fault in check() if fault is not None]
    missing = [name.split(".")[0] for name in READERS if module(name) is None]
    print("\n".join(faults) or "others read the maps")
    if faults:
        return 1
    if missing:
        print("skipped: of Python's modules, not installed: " + ", ".join(missing))
        return 77
    return 0


if __name__ == "__main__":
    directory = tempfile.mkdtemp(prefix="leyden_read_formats_")
    here = os.getcwd()
    try:
        os.chdir(directory)
        code = main()
    finally:
        os.chdir(here)
        shutil.rmtree(directory)
    sys.exit(code)
