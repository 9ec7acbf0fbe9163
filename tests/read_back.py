#!/usr/bin/python3
"""Do the programs of others read our maps, and do they find in them what Coulomb's law says?

Readers: GridDataFormats (Python), APBS's tools and APBS itself, which solves Poisson's equation in the map's box with the map as
boundary values: what it finds inside is Coulomb's law again, if units, order and geometry are understood. Each check is also
shown a map that is wrong and must refuse it. BUILD names the build directory. Exit code 77: a reader is not installed.
"""
import array
import math
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile

try:
    from gridData import Grid
except ImportError:
    print("skipped: python3-griddataformats is not installed")
    sys.exit(77)

LEYDEN = os.path.join(os.path.abspath(os.environ.get("BUILD", "build")), "leyden")
VALUE = "/usr/lib/apbs/tools/bin/multivalue"

# e / (4 pi eps0 1 A) over k T / e at 298.15 K, CODATA 2018
COULOMB = 1.602176634e-19 / (4e-10 * math.pi * 8.8541878128e-12) / (1.380649e-23 * 298.15 / 1.602176634e-19)
# The origin takes more digits than the seven that APBS writes.
DIMS, ORIGIN_A, SPACING_A = (33, 33, 33), (-7.0123456789, -6.5, -6.25), 0.75
PATIENCE_S = 30
SMALL_DIMS = (7, 9, 11)  # no two alike: a reader that mixes up the axes shows


def write_molecule(path):
    random.seed(7)
    atoms = []
    with open(path, "w") as file:
        for i in range(25):
            x, y, z = (round(random.uniform(1, 9), 3) for _ in range(3))
            q = round(random.uniform(-1, 1), 4)
            atoms.append((x, y, z, q))
            file.write(f"ATOM {i + 1:6d}  C   MOL A {i + 1:4d}    {x:8.3f} {y:8.3f} {z:8.3f} {q:8.4f}  1.7000\n")
    return atoms


def coulomb(atoms, point):
    return COULOMB * sum(q / max(math.dist((x, y, z), point), 0.05) for x, y, z, q in atoms)


def compute_map(name, dims):
    numbers = [",".join(map(str, values)) for values in (dims, ORIGIN_A)]
    subprocess.run([LEYDEN, "map", "molecule.pqr", "-o", name, "--dims", numbers[0], "--origin", numbers[1],
                    "--spacing", str(SPACING_A), "--verify", "100", "--quiet"], check=True)


def points_of(dims, count):
    """Grid points and their coordinates, always the same ones."""
    random.seed(11)
    for _ in range(count):
        index = tuple(random.randrange(n) for n in dims)
        yield index, tuple(o + i * SPACING_A for o, i in zip(ORIGIN_A, index))


def is_close(value, expected):
    return abs(value - expected) <= 1e-4 * abs(expected) + 1e-6


def read_grid(path):
    """GridDataFormats' reader, which never ends on some broken files."""
    def give_up(number, frame):
        raise TimeoutError("reads on and on")
    signal.signal(signal.SIGALRM, give_up)
    signal.alarm(PATIENCE_S)
    try:
        return Grid(path)
    finally:
        signal.alarm(0)


# Each check returns what is wrong, or None.

def check_grid_data(path, atoms, dims):
    try:
        grid = read_grid(path)
    except Exception as why:  # whatever it raises: it could not read the map
        return f"GridDataFormats: {why!r}"
    if grid.grid.shape != dims:
        return f"GridDataFormats: shape {grid.grid.shape}"
    if any(a != b for a, b in zip(grid.origin, ORIGIN_A)):
        return f"GridDataFormats: origin {grid.origin}"
    if any(abs(d - SPACING_A) > 1e-6 for d in grid.delta):
        return f"GridDataFormats: delta {grid.delta}"
    for index, point in points_of(dims, 200):
        if not is_close(grid.grid[index], coulomb(atoms, point)):
            return f"GridDataFormats: {grid.grid[index]} at {index}, expected {coulomb(atoms, point)}"
    return None


def check_apbs_tool(path, atoms, dims):
    points = [point for _, point in points_of(dims, 50)]
    with open("points.csv", "w") as file:
        file.writelines("%.15g,%.15g,%.15g\n" % point for point in points)
    if os.path.exists("values.csv"):
        os.remove("values.csv")
    run = subprocess.run([VALUE, "points.csv", path, "values.csv"], capture_output=True, text=True, timeout=PATIENCE_S)
    if run.returncode != 0 or not os.path.exists("values.csv"):
        return f"{VALUE}: exit code {run.returncode}\n{run.stderr}"
    with open("values.csv") as file:
        values = [float(line.split(",")[3]) for line in file if line.strip()]
    if len(values) != len(points):
        return f"{VALUE}: {len(values)} values of {len(points)}"
    for value, point in zip(values, points):
        if not is_close(value, coulomb(atoms, point)):
            return f"{VALUE}: {value} at {point}, expected {coulomb(atoms, point)}"
    return None


APBS_INPUT = """read
    mol pqr molecule.pqr
    {what} {kind} {map}
end
elec name vacuum
    mg-manual
    dime {dims}
    grid {h} {h} {h}
    gcent {centre}
    mol 1
    lpbe
    bcfl {bcfl}
    usemap {what} 1
    pdie 1.0
    sdie 1.0
    srfm mol
    chgm spl2
    srad 1.4
    swin 0.3
    sdens 10.0
    temp 298.15
    calcenergy no
    calcforce no
    write pot dx solution
    write pot dxbin binary
end
quit
"""


def check_apbs(path, atoms, dims):
    centre = [o + 0.5 * (n - 1) * SPACING_A for o, n in zip(ORIGIN_A, dims)]
    with open("apbs.in", "w") as file:
        file.write(APBS_INPUT.format(what="pot", bcfl="map", kind="dx", map=path, dims=" ".join(map(str, dims)), h=SPACING_A, centre=" ".join(map(str, centre))))
    solution = "solution-PE0.dx"  # as APBS 3 calls it
    for name in (solution, "solution.dx"):
        if os.path.exists(name):
            os.remove(name)
    run = subprocess.run(["apbs", "apbs.in"], capture_output=True, text=True, timeout=PATIENCE_S)
    text = run.stdout + run.stderr
    if run.returncode != 0 or not re.search(r"Reading potential map data from " + re.escape(path), text):
        return f"apbs: exit code {run.returncode}\n{text[-2000:]}"
    if "Boundary conditions from potential map" not in text:
        return "apbs: the map was not used\n" + text[-2000:]
    found = read_grid(solution if os.path.exists(solution) else "solution.dx")
    return compare_solution(found.grid, atoms, dims)


def compare_solution(found, atoms, dims):
    """On the faces the solver has our values; away from the atoms Coulomb's law, to within what finite differences can do."""
    inside, error, square = 0, 0, 0
    for index, point in points_of(dims, 3000):
        expected = coulomb(atoms, point)
        on_face = any(i in (0, n - 1) for i, n in zip(index, dims))
        if on_face and not is_close(found[index], expected):
            return f"apbs: {found[index]} on the boundary at {index}, expected {expected}"
        nearest = min(math.dist(point, atom[:3]) for atom in atoms)
        if not on_face and nearest > 4:
            inside += 1
            error += (found[index] - expected) ** 2
            square += expected ** 2
    if inside < 100:
        return "apbs: too few points to compare"
    relative = math.sqrt(error / square)
    return None if relative < 0.01 else f"apbs: the solution is {100 * relative:.2g} % off"


def solve_for_charges(path, dims):
    """APBS's solution with the map's values as charges, which is the one kind of map that it reads in binary; and its own binary
    copy of that, as we read it. Empty where it reads none."""
    centre = [o + 0.5 * (n - 1) * SPACING_A for o, n in zip(ORIGIN_A, dims)]
    with open("charges.in", "w") as file:
        file.write(APBS_INPUT.format(what="charge", bcfl="zero", kind=path.rsplit(".", 1)[1], map=path,
                                     dims=" ".join(map(str, dims)), h=SPACING_A, centre=" ".join(map(str, centre))))
    for stem in ("solution", "binary"):
        for name in (f"{stem}.dx", f"{stem}-PE0.dx", f"{stem}.dxbin", f"{stem}-PE0.dxbin"):
            if os.path.exists(name):
                os.remove(name)
    run = subprocess.run(["apbs", "charges.in"], capture_output=True, text=True, timeout=PATIENCE_S, errors="replace")
    end = "-PE0" if os.path.exists("solution-PE0.dx") else ""
    if run.returncode != 0 or not os.path.exists(f"solution{end}.dx"):
        return [], []
    subprocess.run([LEYDEN, "convert", f"binary{end}.dxbin", "-o", "ours.dx", "--quiet"], check=True)
    return read_grid(f"solution{end}.dx").grid, read_grid("ours.dx").grid


def check_apbs_binary():
    """The same solution for the same map as text and in binary, and another one for one that is 1 % larger."""
    faults = []
    text, text_back = solve_for_charges("map.dx", DIMS)
    binary, binary_back = solve_for_charges("map.dxbin", DIMS)
    with open("map.dxbin", "rb") as file:
        content = file.read()
    first = content.index(b"follows") + len(b"follows\n")
    values = array.array("d", content[first:first + 8 * math.prod(DIMS)])
    with open("larger.dxbin", "wb") as file:
        file.write(content[:first] + array.array("d", [1.01 * value for value in values]).tobytes() +
                   content[first + 8 * len(values):])
    larger, _ = solve_for_charges("larger.dxbin", DIMS)
    if len(text) == 0 or len(binary) == 0:
        return ["apbs: no solution for a binary map of charges" if len(text) > 0 else "apbs: no solution for a map of charges"]
    size = abs(text).max()
    if (abs(text - binary) > 1e-5 * size).any():
        faults.append(f"apbs: a binary map is read as other values, up to {abs(text - binary).max() / size:.2g} of the largest")
    if len(larger) > 0 and not (abs(text - larger) > 5e-3 * size).any():
        faults.append("apbs: takes larger.dxbin for right")
    for theirs, ours in ((text, text_back), (binary, binary_back)):
        if theirs.shape != ours.shape or (abs(theirs - ours) > 2e-6 * abs(theirs)).any():
            faults.append("APBS's binary map is read as other values")
    return faults


def check_default(path, dims):
    """The grid that is laid around atoms, a whole number of steps from (0, 0, 0): as in OpenDX, so in MRC maps."""
    origin = read_grid(path).origin
    faults = []
    for name in ("default.mrc", "default.ccp4"):
        subprocess.run([LEYDEN, "convert", path, "-o", name, "--quiet"], check=True)
        try:
            grid = read_grid(name)
        except ImportError:
            print("skipped: python3-mrcfile is not installed")
            return faults
        if grid.grid.shape != dims or any(abs(a - b) > 1e-6 for a, b in zip(grid.origin, origin)):
            faults.append(f"GridDataFormats: {name} begins at {grid.origin}, and {path} at {origin}")
    return faults


def write_wrong_maps(path):
    """Maps that a check must refuse: cut short, a keyword misspelt, every value 1 % too large."""
    with open(path) as file:
        lines = file.readlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("object 3")) + 1
    last = next(i for i, line in enumerate(lines) if line.startswith("attribute"))
    larger = [" ".join("%e" % (1.01 * float(word)) for word in line.split()) + "\n" for line in lines[first:last]]
    for name, content in (("cut.dx", lines[:(first + last) // 2]),
                          ("misspelt.dx", [line.replace("gridpositions", "gridpos") for line in lines]),
                          ("larger.dx", lines[:first] + larger + lines[last:])):
        with open(name, "w") as file:
            file.writelines(content)
    return ["cut.dx", "misspelt.dx", "larger.dx"]


def main():
    has_apbs = shutil.which("apbs") is not None and os.access(VALUE, os.X_OK)
    atoms = write_molecule("molecule.pqr")
    compute_map("map.dx", DIMS)
    compute_map("small.dx", SMALL_DIMS)
    compute_map("packed.dx.gz", SMALL_DIMS)
    faults = [check_grid_data("map.dx", atoms, DIMS), check_grid_data("small.dx", atoms, SMALL_DIMS),
              check_grid_data("packed.dx.gz", atoms, SMALL_DIMS)]
    with open("bead.pqr", "w") as file:
        file.write("ATOM 1 CG ALA A 1 0.0 0.0 0.0 0.0 4.5\nATOM 2 CG LYS A 2 3.8 0.0 0.0 1.0 5.5\n"
                   "ATOM 3 CG ASP A 3 7.6 0.0 0.0 -1.0 5.0\n")
    subprocess.run([LEYDEN, "map", "bead.pqr", "-o", "default.dx", "--spacing", "1", "--padding", "6", "--quiet"],
                   check=True)
    if tuple(read_grid("default.dx").origin) != (-6, -6, -6):
        faults.append(f"default.dx begins at {read_grid('default.dx').origin}")
    faults += check_default("default.dx", read_grid("default.dx").grid.shape)
    checks = [check_grid_data]
    if has_apbs:
        faults += [check_apbs_tool("map.dx", atoms, DIMS), check_apbs_tool("small.dx", atoms, SMALL_DIMS),
                   check_apbs("map.dx", atoms, DIMS)]
        compute_map("map.dxbin", DIMS)
        faults += check_apbs_binary()
        checks += [check_apbs_tool, check_apbs]
    for name in write_wrong_maps("map.dx"):
        for check in checks:
            if check is check_grid_data and name == "cut.dx":
                continue  # GridDataFormats waits forever for the rest
            if check(name, atoms, DIMS) is None:
                faults.append(f"{check.__name__} takes {name} for right")
    faults = [fault for fault in faults if fault is not None]
    print("\n".join(faults) or "GridDataFormats" + (" and APBS read" if has_apbs else " reads") + " the maps")
    if faults:
        return 1
    if not has_apbs:
        print("skipped: apbs is not installed")
        return 77
    return 0


if __name__ == "__main__":
    directory = tempfile.mkdtemp(prefix="leyden_read_back_")
    here = os.getcwd()
    try:
        os.chdir(directory)
        code = main()
    finally:
        os.chdir(here)
        shutil.rmtree(directory)
    sys.exit(code)
