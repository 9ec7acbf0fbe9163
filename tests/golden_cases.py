"""The cases of golden.py: small problems that between them go through every method, variant, sum, pair function and kind of
boundary, with several tiles and a partial one along each axis and bins that overflow.

Nothing here may depend on how long anything takes: maths are the standard's, pieces of work are small enough for any device,
and the places of steps are given. The points verified are 16, all of which the host recomputes.
"""
import collections
import itertools

# quick: one of those that `check` runs unless asked for all. host: part of the values is summed by the host's own code, as its
# processor and compiler would have it.
Case = collections.namedtuple("Case", "name quick host output arguments")

DCS_VARIANTS = ("simple", "unroll4", "unroll8", "local", "local8", "tiled8", "tiled16", "vector4", "vector8", "vector16")
MDH_VARIANTS = ("simple", "tiled8", "tiled16", "vector4", "vector8", "vector16")
CUTOFF_VARIANTS = ("bins", "regions8", "regions16", "halves16", "vector4", "vector8", "vector16")
SUMS = ("float", "compensated", "double")

# ---- Inputs ------------------------------------------------------------------------------------------------------------


class Random:
    """splitmix64: the same numbers with every version of Python."""

    def __init__(self, seed):
        self.state = seed

    def below(self, most):
        mask = (1 << 64) - 1
        self.state = (self.state + 0x9E3779B97F4A7C15) & mask
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        return (z ^ (z >> 31)) % most

    def between(self, low, high):
        return low + (high - low) * self.below(1 << 30) / (1 << 30)

    def place(self, low, high):
        return tuple(self.between(low, high) for _ in range(3))


def write_atoms(path, atoms):
    with open(path, "w") as file:
        for i, (x, y, z, q, r) in enumerate(atoms):
            file.write(f"ATOM {i + 1:6d}  C   MOL A {i % 9999 + 1:4d}    {x:.3f} {y:.3f} {z:.3f} {q:.4f} {r:.3f}\n")


def ball(random, n, side_A):
    """A molecule: some atoms neutral, a clump that overflows any bin, two at one place, one alone far away."""
    atoms = []
    for i in range(n):
        place = random.place(0, side_A)
        if i % 9 == 0:
            place = tuple(0.4 * side_A + 0.05 * p for p in place)
        charge = 0 if i % 17 == 0 else random.between(-1, 1)
        atoms.append(place + (charge, random.between(1, 2.2)))
    atoms[1] = atoms[2][:3] + (0.5, 1.5)
    atoms[3] = (side_A + 9, -7.0, 0.5 * side_A, -0.75, 1.5)
    atoms[4] = (3.5, 3.5, 3.5, 0.9, 1.2)  # on a point of most grids
    return atoms


def write_inputs(folder):
    write_atoms(folder + "/ball.pqr", ball(Random(1), 331, 14))
    write_atoms(folder + "/many.pqr", ball(Random(2), 5003, 34))
    write_atoms(folder + "/few.pqr", ball(Random(3), 29, 5))
    molecule = ball(Random(1), 331, 14)
    random = Random(4)
    with open(folder + "/points.txt", "w") as file:
        for i in range(777):
            near = molecule[5 + i % 300]
            place = tuple(c + random.between(0.01, 0.02) for c in near[:3]) if i % 97 == 0 else random.place(-15, 30)
            file.write("%.4f %.4f %.4f\n" % place)
    with open(folder + "/depths.txt", "w") as file:
        file.writelines("%.3f\n" % random.between(0.01, 0.4) for _ in range(331))
    with open(folder + "/places.json", "w") as file:
        file.write('{"method": "msm", "binning": "host", "transposition": "device"}\n')


INPUTS = ("ball.pqr", "many.pqr", "few.pqr", "points.txt", "depths.txt", "places.json")

# ---- Direct summation --------------------------------------------------------------------------------------------------

# A tile of 128 points and part of a second one, or more of smaller ones; three slabs of planes, the last one partial.
DCS_BALL = "map ../ball.pqr --method dcs --dims 150,37,7 --origin -30,-3,3 --spacing 0.5 --slab 3"

# More atoms than a float sum goes without a flush, and than constant memory takes at a time. Few points: else the atoms of a launch
# would depend on how fast the device was when it was calibrated. For the same reason there are no double sums of so many, and slabs of
# double sums, which are taken for very slow, are as small as can be.
DCS_MANY = "map ../many.pqr --method dcs --dims 130,16,2 --origin -20,9,13 --spacing 0.5 --slab 1"
DOUBLE_SLABS = {"--slab 3": "--slab 1", "--slab 60": "--slab 15", "--slab 300": "--slab 100"}


def with_sum(problem, sum_type):
    for usual, small in DOUBLE_SLABS.items() if sum_type == "double" else ():
        problem = problem.replace(usual, small)
    return f"{problem} --sum {sum_type}"


# On the default variant.
DCS_OPTIONS = (
    "--units V", "--units kcal/mol/e --dielectric 78.54", "--temperature 310 --dielectric 0.5", "--r-min 2.5", "--r-min 1e-6",
    "--seed 99", "--verify 0")
DCS_GRIDS = (
    ("far", "--dims 150,37,4 --origin 9000.125,-8000.5,7000.25 --spacing 0.5"),
    ("fine", "--dims 150,37,4 --origin 3.4,3.4,3.4 --spacing 0.002"),
    ("coarse", "--dims 150,37,4 --origin -900,-200,-50 --spacing 12.5"),
    ("around", "--spacing 0.9 --padding 3"),
    ("middle", "--dims 33,17,65 --spacing 0.31"),
    ("point", "--dims 1,1,1 --origin 1,2,3"),
    ("column", "--dims 1,1,70 --spacing 0.25"),
    ("row", "--dims 300,1,1 --spacing 0.25"))


def dcs_cases():
    for variant, sum_type in itertools.product(DCS_VARIANTS, SUMS):
        quick = sum_type == "float" or variant in ("simple", "tiled8", "vector16")
        yield Case(f"dcs/{variant}/{sum_type}", quick, False, "out.dx", f"{with_sum(DCS_BALL, sum_type)} --variant {variant}")
        if sum_type != "double":
            quick = sum_type == "float"
            yield Case(f"dcs/{variant}/{sum_type}/many", quick, False, "out.dx", f"{with_sum(DCS_MANY, sum_type)} --variant {variant}")
    for options in DCS_OPTIONS:
        yield Case("dcs/" + options.replace("--", ""), True, False, "out.dx", f"{DCS_BALL} {options}")
    for name, grid in DCS_GRIDS:
        quick = name not in ("fine", "coarse")
        yield Case("dcs/" + name, quick, False, "out.dx", f"map ../ball.pqr --method dcs {grid} --slab 2")
        yield Case(f"dcs/{name}/tiled8", False, False, "out.dx", f"map ../ball.pqr --method dcs {grid} --slab 2 --variant tiled8")
    yield Case("dcs/auto-sum", True, False, "out.dx", with_sum(DCS_BALL, "double").replace("--sum double", "--sum auto"))
    yield Case("dcs/gzip", True, False, "out.dx.gz", DCS_BALL)
    yield Case("dcs/no-such-variant", True, False, "out.dx", DCS_BALL + " --variant tiled99")


# ---- Boundaries --------------------------------------------------------------------------------------------------------

# Wide: exponents that leave a float's range, along the far faces.
SCREENINGS = (("none", "", "--glen 60,52,66"), ("folded", "--ion 0.15,1,2 --ion 0.15,-1,2", "--glen 60,52,66"),
              ("wide", "--ion 3,1,2 --ion 3,-1,2", "--glen 700,52,66"))
FACES = "boundary ../ball.pqr --dims 47,33,39 --gcent 9,5,6 --slab 60 {glen} {ions}"
LIST = "boundary ../ball.pqr --points ../points.txt --slab 300 {ions}"
MANY_FACES = "boundary ../many.pqr --dims 25,19,17 --gcent mol --slab 60 {glen} {ions}"
SALT = "--ion 0.15,1,2 --ion 0.15,-1,2"

# Name, output, options; what is not mdh the host computes in double precision.
BOUNDARY_OPTIONS = (
    ("dx", "out.dx", FACES + " --boundary-stride 2"),
    ("auto-stride", "out.dx", FACES + " --boundary-stride auto --boundary-tol 0.3"),
    ("csv", "out.csv", LIST),
    ("solvent", "out.raw", FACES + " --sdie 40 --temperature 320 --ion 0.05,2,1"),
    ("solvent-list", "out.raw", LIST + " --sdie 40 --temperature 320 --ion 0.05,2,1"),
    ("grid", "out.raw", "boundary ../ball.pqr --dims 9,21,5 --grid 5,3,14 --slab 60 {ions}"),
    ("smallest", "out.raw", "boundary ../ball.pqr --dims 2,2,2 --glen 60,60,60 --slab 60 {ions}"),
    ("zero", "out.raw", FACES + " --bcfl zero"),
    ("zero-list", "out.raw", LIST + " --bcfl zero"),
    ("zero-dx", "out.dx", FACES + " --bcfl zero"),
    ("sdh", "out.raw", FACES + " --bcfl sdh --pdie 4"),
    ("sdh-list", "out.raw", LIST + " --bcfl sdh"),
    ("sdh-dx", "out.dx", FACES + " --bcfl sdh"))


def mdh_cases():
    by_variant = itertools.cycle(itertools.product(("faces", "list"), SCREENINGS))
    chosen = {}  # what `check` runs of the product: each variant and sum with one of the six combinations, in turn
    for variant, sum_type in itertools.product(MDH_VARIANTS, SUMS):
        if variant in ("simple", "tiled8", "vector16"):
            points, screening = next(by_variant)
            chosen[variant, sum_type] = points, screening[0]
    for variant, sum_type, points, (screening, ions, glen) in itertools.product(MDH_VARIANTS, SUMS, ("faces", "list"), SCREENINGS):
        problem = (FACES if points == "faces" else LIST).format(ions=ions, glen=glen)
        quick = chosen.get((variant, sum_type)) == (points, screening) or \
            (sum_type == "float" and (points, screening) == ("faces", "folded"))
        yield Case(f"mdh/{variant}/{sum_type}/{points}/{screening}", quick, False, "out.raw",
                   f"{with_sum(problem, sum_type)} --variant {variant}")
    for points, (screening, ions, glen) in itertools.product(("faces", "list"), SCREENINGS):
        problem = (FACES if points == "faces" else LIST).format(ions=ions, glen=glen)
        yield Case(f"mdh/{points}/{screening}", True, False, "out.raw", problem)
    for variant, (screening, ions, glen) in itertools.product(MDH_VARIANTS, SCREENINGS):
        quick = screening == "folded"
        yield Case(f"mdh/{variant}/many/{screening}", quick, False, "out.raw",
                   f"{MANY_FACES.format(ions=ions, glen=glen)} --variant {variant}")
    for name, output, problem in BOUNDARY_OPTIONS:
        for ions, screening in ((SALT, ""), ("", "/no-salt")):
            on_host = "--bcfl sdh" in problem
            yield Case(f"boundary/{name}{screening}", True, on_host, output, problem.format(glen="--glen 60,52,66", ions=ions))


# ---- Short-range sums --------------------------------------------------------------------------------------------------

# Regions of 8 x 8 x 8 points: several and a partial one along each axis. A slab is a layer of 8 planes.
CUTOFF = "map ../ball.pqr --method cutoff --slab 8"
CUTOFF_BALL = CUTOFF + " --dims 29,21,19 --origin -3.5,-2.1,0 --spacing 0.7"
HOST_PLACES = "--binning host --transposition device"

PAIRS = (
    ("coulomb", "--pair coulomb"), ("shifted", "--pair shifted"), ("taylor2", "--pair taylor2"), ("taylor3", "--pair taylor3"),
    ("taylor4", "--pair taylor4"), ("yukawa", "--pair yukawa --kappa 0.2"), ("distance-dielectric", "--pair distance-dielectric"),
    ("lennard-jones", "--pair lennard-jones --probe 1.4,0.2 --well-depth 0.15 --r-min 1"),
    ("buckingham", "--pair buckingham --steepness 13 --well-depths ../depths.txt --r-min 1"),
    ("expression", "--pair q*exp(-kappa*r)/r+max(0,1-r2/b^2) --kappa 0.1 --constants b=4.5"))

# Name, options. Where atoms have periodic images, and where steps are done.
CELLS = (
    ("open", ""),
    ("x", "--periodic x --cell 16,18,20"),
    ("xyz", "--periodic xyz --cell 15.4,16.1,14.7"),
    ("triclinic", "--periodic xyz --cell 16,17,15,80,98,111"),
    ("vectors-yz", "--periodic yz --cell 17,0,1,2,16,0,-3,1,18"))
PLACES = tuple(f"{binning}-{rows}" for binning, rows in itertools.product(("host", "device"), repeat=2))


def places_of(name):
    binning, rows = name.split("-")
    return f"--binning {binning} --transposition {rows}"


def cutoff_case(name, quick, problem, places):
    return Case("cutoff/" + name, quick, False, "out.dx", f"{problem} {places}")


def cutoff_cases():
    base = CUTOFF_BALL + " --cutoff 6"
    # Sums, cells and places in turn. CPUs take long to build what is made for GPUs: of these variants three functions each.
    turns = zip(itertools.cycle(SUMS), itertools.cycle(CELLS), itertools.cycle(("host-device", "host-host")))
    rest = itertools.cycle(PAIRS)
    for variant in CUTOFF_VARIANTS:
        pairs = PAIRS if variant.startswith("vector") else itertools.islice(rest, 3)
        for (pair, function), (sum_type, (cell, periodic), places) in zip(pairs, turns):
            yield cutoff_case(f"{variant}/{pair}/{sum_type}/{cell}/{places}", False,
                              f"{base} --variant {variant} --sum {sum_type} {function} {periodic}", places_of(places))
    for variant, sum_type in itertools.product(CUTOFF_VARIANTS, SUMS):
        if variant.startswith("vector") or sum_type == "float":
            quick = sum_type == "float" or variant == "vector16"
            yield cutoff_case(f"{variant}/{sum_type}", quick, f"{base} --variant {variant} --sum {sum_type}", HOST_PLACES)
    for pair, function in PAIRS:
        yield cutoff_case(pair, True, f"{base} {function}", HOST_PLACES)
    for (cell, periodic), places in itertools.product(CELLS, PLACES):
        quick = places == "host-device" or cell == "triclinic" or (cell == "open" and places == "device-device")
        yield cutoff_case(f"{cell}/{places}", quick, f"{base} {periodic}", places_of(places))
    yield from cutoff_options(base)


def cutoff_options(base):
    many = "map ../many.pqr --method cutoff --slab 8 --dims 41,37,27 --origin -3,-3,-3 --spacing 0.9 --cutoff 5"
    yield cutoff_case("many", True, many, HOST_PLACES)
    yield cutoff_case("many/device", True, many, places_of("device-device"))
    yield cutoff_case("many/tiled", False, many + " --variant regions8", places_of("device-device"))
    yield cutoff_case("deep", True, base + " --bin-depth 32 --bin-fill 0.5", HOST_PLACES)
    yield cutoff_case("shallow", True, base + " --bin-depth 1 --bin-fill 1", HOST_PLACES)
    yield cutoff_case("crowded", True, base + " --bin-depth 4 --bin-fill 3", HOST_PLACES)
    yield cutoff_case("crowded/device", True, base + " --bin-depth 4 --bin-fill 3", places_of("device-device"))
    yield cutoff_case("units", True, base + " --units V --dielectric 4", HOST_PLACES)
    yield cutoff_case("r-min", True, base + " --r-min 1.5", HOST_PLACES)
    yield cutoff_case("long", True, CUTOFF_BALL + " --cutoff 25", HOST_PLACES)
    yield cutoff_case("short", True, CUTOFF_BALL + " --cutoff 0.9", HOST_PLACES)
    yield cutoff_case("fine", True, CUTOFF + " --dims 29,21,19 --origin 3.3,3.3,3.3 --spacing 0.01 --cutoff 4", HOST_PLACES)
    yield cutoff_case("point", True, CUTOFF + " --dims 1,1,1 --origin 3.5,3.5,3.5 --cutoff 4", HOST_PLACES)
    yield cutoff_case("around", True, CUTOFF + " --spacing 1.1 --padding 2 --cutoff 6", HOST_PLACES)
    cell = "map ../few.pqr --method cutoff --slab 8 --spacing 0.6 --cutoff 11 --periodic xyz"
    yield cutoff_case("whole-cell", True, cell + " --cell 7.1,6.3,8.2 --origin 0.1,0.2,0.3", HOST_PLACES)
    yield cutoff_case("many-images", True, cell + " --cell 5,6,7,75,95,100 --dims 17,9,10", HOST_PLACES)
    yield cutoff_case("auto-sum", True, base + " --sum auto", HOST_PLACES)
    yield cutoff_case("verify-0", True, base + " --verify 0", HOST_PLACES)


# ---- All pairs, by meshes --------------------------------------------------------------------------------------------

# Three levels with --solver multilevel. A library is named that has one way to do it: which one is fastest is a matter of time.
MSM_PLACES = "--plan ../places.json"  # as HOST_PLACES
MSM_BALL = CUTOFF_BALL.replace("cutoff", "msm") + f" --cutoff 5 --mesh-spacing 1.25 {MSM_PLACES}"
MSM_SOLVERS = (("direct", ""), ("fft", "--solver fourier --fft clfft"))

# Splittings that the short-range kernel has, and those that become expressions; windows of both kinds.
MSM_CHOICES = (
    ("default", ""), ("nodal3", "--window nodal3 --splitting taylor2"), ("nodal5", "--window nodal5 --splitting taylor3"),
    ("nodal9", "--window nodal9 --splitting taylor6"), ("pswf", "--window nodal7 --splitting pswf"),
    ("ewald", "--window nodal7 --splitting ewald"), ("bspline4", "--window bspline4 --splitting taylor4"),
    ("bspline6", "--window bspline6 --splitting pswf"), ("bspline8", "--window bspline8 --splitting ewald"),
    ("optimal", "--window bspline8 --splitting optimal"))

# Name, quick, options.
MSM_OPTIONS = (
    ("double", True, "--sum double"), ("compensated", False, "--sum compensated"), ("auto-sum", False, "--sum auto"),
    ("units", True, "--units V --dielectric 4"), ("r-min", False, "--r-min 0.5"), ("ratio", False, "--mesh-spacing 0.9"),
    ("wide", False, "--spacing 3.1"), ("corner", True, "--origin 9,9,9"), ("point", True, "--dims 1,1,1"),
    ("outside", True, "--origin 40,-30,20"))


# What --solver fourier does differently. Its library takes long to build.
FFT_CASES = ("default", "bspline6", "bspline8", "optimal", "corner", "double")


def msm_cases():
    choices = [(name, name in ("default", "nodal3", "bspline4", "bspline6", "pswf"), choice) for name, choice in MSM_CHOICES]
    for (solver, how), (name, quick, options) in itertools.product(MSM_SOLVERS, choices + list(MSM_OPTIONS)):
        if solver == "direct" or name in FFT_CASES:
            yield Case(f"msm/{solver}/{name}", quick and (solver == "direct" or name in ("bspline6", "corner")), False, "out.dx",
                       f"{with_options(MSM_BALL, options)} {how}")
    for levels in (1, 2, 3):
        yield Case(f"msm/levels-{levels}", levels == 2, False, "out.dx", f"{MSM_BALL} --levels {levels}")
    papers = "map ../many.pqr --method msm --preset papers --slab 8 --dims 41,37,27 --origin -3,-3,-3 --spacing 0.9"
    yield Case("msm/papers", True, False, "out.dx", f"{papers} {MSM_PLACES}")


def with_options(problem, options):
    """Options of the problem's own give way to those named."""
    words, named = problem.split(), options.split()
    for option in named[::2]:
        if option in words:
            del words[words.index(option):words.index(option) + 2]
    return " ".join(words + named)


def all_cases():
    cases = list(itertools.chain(dcs_cases(), mdh_cases(), cutoff_cases(), msm_cases()))
    names = [case.name for case in cases]
    assert len(set(names)) == len(names), [name for name in names if names.count(name) > 1]
    return cases


if __name__ == "__main__":
    cases = all_cases()
    print(len(cases), "cases,", sum(case.quick for case in cases), "of them quick")
