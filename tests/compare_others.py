#!/usr/bin/python3
"""How fast is leyden beside others, at equal measured error, on this machine? Prints Markdown tables.

    compare_others.py LEYDEN fmm3d  [--atoms N] [--targets N] [--device SELECTOR]
    compare_others.py LEYDEN lammps [--atoms N] [--lmp PROGRAM] [--device SELECTOR]
    compare_others.py LEYDEN growth [--sizes N,N...] [--tol T] [--device SELECTOR]
    compare_others.py --self-test

fmm3d   the potential of a box of water: FMM3D (PyPI: fmm3dpy, numpy) at points of leyden's map, and leyden's whole map at 0.5 A.
        Errors are relative root mean squares at 1,000 points, against direct sums in double precision here. FMM3D's time at leyden's
        error is between its own, by powers.
lammps  the same box, periodic: LAMMPS (Debian: lammps) sums pairs and long-range forces of all atoms (msm, pppm), leyden the potential
        at 0.5 A. Errors: of forces against pppm of 1e-8, of the map as leyden measures it. Seconds per atom.
growth  boxes of ever more atoms, maps at 0.5 A: how many times longer ten times the atoms take.

Each is measured --rounds times in turns; medians. Seconds of the clock, and of processors, which depend less on what else runs. leyden's are
those of the whole warm command, less reading the atoms and writing the map on the clock; nothing is left out of those of processors.
"""
import argparse
import json
import math
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

THREADS = str(os.cpu_count())
SAMPLE = 1000


def processor_s(who):
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def at_error(points, error):
    """Seconds at this error, of (error, seconds) in any order: by powers between neighbours, and beyond them."""
    points = sorted(points)
    if len(points) == 1:
        return points[0][1]
    k = 0
    while k < len(points) - 2 and points[k + 1][0] < error:
        k += 1
    (e0, s0), (e1, s1) = points[k], points[k + 1]
    return s0 * (s1 / s0) ** (math.log(error / e0) / math.log(e1 / e0))


class Leyden:
    def __init__(self, program, device, folder):
        self.program, self.device, self.folder = os.path.abspath(program), device, folder

    def run(self, *arguments):
        environment = dict(os.environ, LC_ALL="C", LEYDEN_CACHE_DIR=self.folder + "/cache")
        before_s = processor_s(resource.RUSAGE_CHILDREN)
        done = subprocess.run([self.program, *arguments], cwd=self.folder, env=environment, stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode != 0:
            raise SystemExit(f"leyden {' '.join(arguments)}: exit code {done.returncode}\n{done.stdout}")
        return processor_s(resource.RUSAGE_CHILDREN) - before_s

    def box(self, atoms):
        self.run("generate", "waterbox", "--atoms", str(atoms), "--disorder", "0.25", "-o", "box.atoms")
        self.run("convert", "box.atoms", "-o", "box.pqr")

    def map(self, tolerance, *options):
        """Seconds of the clock and of processors, and what the report says."""
        used_s = self.run("map", "box.atoms", "-o", "map.raw", "--device", self.device, "--tol", str(tolerance), "--json", "map.json",
                          "-q", *options)
        with open(self.folder + "/map.json") as file:
            report = json.load(file)
        seconds = report["seconds"]
        return seconds["preparing"] + seconds["computing"], used_s, report


def read_box(folder):
    import numpy
    rows = [line.split() for line in open(folder + "/box.pqr") if line.startswith("ATOM")]
    numbers = numpy.array([row[-5:-1] for row in rows], dtype=float)
    return numbers[:, :3].copy(), numbers[:, 3].copy()


def exact(position, charge, points, least):
    import numpy
    values = []
    for point in points:
        r = numpy.sqrt(((position - point) ** 2).sum(axis=1))
        values.append((charge / numpy.maximum(r, least)).sum())
    return numpy.array(values)


def off_by(values, right):
    return float((((values - right) ** 2).sum() / (right ** 2).sum()) ** 0.5)


# ---- FMM3D ---------------------------------------------------------------------------------------


def compare_fmm3d(leyden, options):
    os.environ.setdefault("OMP_NUM_THREADS", THREADS)
    import fmm3dpy
    import numpy
    leyden.box(options.atoms)
    position, charge = read_box(leyden.folder)
    leyden.map(1e-2, "--spacing", "0.5", "--padding", "0.25")
    with open(leyden.folder + "/map.raw.json") as file:
        header = json.load(file)
    n, step, origin = header["n"], header["step_A"][0][0], numpy.array(header["origin_A"])
    draw = numpy.random.default_rng(1)
    places = draw.integers(0, n, size=(options.targets, 3))
    targets = origin + step * places
    sample = targets[:SAMPLE]
    right = exact(position, charge, sample, 0.05)
    near = numpy.array([numpy.sqrt(((position - p) ** 2).sum(axis=1)).min() < 0.06 for p in sample])
    constant = 332.06371  # kcal/mol/e of e/A, but for digits that cancel: the map is scaled to the exact sums below

    def one_fmm(eps):
        start_s, before_s = time.perf_counter(), processor_s(resource.RUSAGE_SELF)
        out = fmm3dpy.lfmm3d(eps=eps, sources=position.T, charges=charge, targets=targets.T, pgt=1)
        taken = time.perf_counter() - start_s, processor_s(resource.RUSAGE_SELF) - before_s
        own = out.pottarg[:SAMPLE][~near]
        scale = (own * right[~near]).sum() / (right[~near] ** 2).sum()
        assert min(abs(scale - 1), abs(4 * math.pi * scale - 1)) < 0.1, scale  # later versions divide by 4 pi
        return off_by(own / scale, right[~near]), *taken

    def one_map(tolerance):
        clock_s, used_s, report = leyden.map(tolerance, "--spacing", "0.5", "--padding", "0.25", "--units", "kcal/mol/e")
        values = numpy.fromfile(leyden.folder + "/map.raw", dtype="<f4").reshape(n[2], n[1], n[0])
        at = places[:SAMPLE][~near]
        own = values[at[:, 2], at[:, 1], at[:, 0]].astype(float)
        scale = (own * right[~near]).sum() / (right[~near] ** 2).sum()
        assert abs(scale / constant - 1) < 1e-2, scale
        return off_by(own / scale, right[~near]), clock_s, used_s, report["plan"]["method"]

    points = float(n[0]) * n[1] * n[2]
    eps_list, tolerances = (1e-1, 1e-3, 1e-5), (1e-2, 1e-3, 1e-4, 1e-5)
    fmm, maps = {e: [] for e in eps_list}, {t: [] for t in tolerances}
    for tolerance in options.warm * tolerances:
        one_map(tolerance)  # kernels are built, and costs learnt: plans change until these are known
    for _ in range(options.rounds):
        for eps in eps_list:
            fmm[eps].append(one_fmm(eps))
        for tolerance in tolerances:
            maps[tolerance].append(one_map(tolerance))
    middle = {e: [statistics.median(x) for x in zip(*fmm[e])] for e in fmm}
    print(f"{len(charge)} atoms; FMM3D: {options.targets} points; leyden: {n[0]} x {n[1]} x {n[2]} points, {leyden.device}\n")
    print("| FMM3D asked for | measured error | clock, s | processors, s | microseconds per point |\n|---|---|---|---|---|")
    for eps, (error, clock_s, used_s) in middle.items():
        print(f"| {eps:g} | {error:.1e} | {clock_s:.2f} | {used_s:.2f} | {1e6 * clock_s / options.targets:.2f} |")
    print("\n| leyden asked for | measured error | clock, s | processors, s | microseconds per point | FMM3D at this error per point: clock | processors |"
          "\n|---|---|---|---|---|---|---|")
    for tolerance, runs in maps.items():
        error, clock_s, used_s = (statistics.median(x) for x in list(zip(*runs))[:3])
        ratios = [at_error([(m[0], m[k] / options.targets) for m in middle.values()], error) / (s / points)
                  for k, s in ((1, clock_s), (2, used_s))]
        print(f"| {tolerance:g} ({runs[0][3]}) | {error:.1e} | {clock_s:.2f} | {used_s:.2f} | {1e6 * clock_s / points:.3f} | {ratios[0]:.0f} times | "
              f"{ratios[1]:.0f} times |")


# ---- LAMMPS --------------------------------------------------------------------------------------

LAMMPS = """units real
atom_style charge
read_data box.data
pair_style {pair}
pair_coeff * *
kspace_style {kspace}
{more}
run_style verlet
timestep 0.0
thermo 1000
run 0
run {steps}
write_dump all custom forces.txt id fx fy fz modify sort id format float %.10g
"""


def compare_lammps(leyden, options):
    import numpy
    leyden.box(options.atoms)
    position, charge = read_box(leyden.folder)
    edge = (len(charge) / 1534539 * 1.5e7) ** (1 / 3)
    with open(leyden.folder + "/box.data", "w") as data:
        data.write(f"water\n\n{len(charge)} atoms\n1 atom types\n")
        for axis in "xyz":
            data.write(f"0 {edge:.10f} {axis}lo {axis}hi\n")
        data.write("\nMasses\n\n1 10.0\n\nAtoms\n\n")
        for i, (r, q) in enumerate(zip(position, charge)):
            data.write(f"{i + 1} 1 {q:.6f} {r[0] % edge:.6f} {r[1] % edge:.6f} {r[2] % edge:.6f}\n")

    def one(pair, kspace, more="", steps=5):
        with open(leyden.folder + "/in.lmp", "w") as script:
            script.write(LAMMPS.format(pair=pair, kspace=kspace, more=more, steps=steps))
        environment = dict(os.environ, OMP_NUM_THREADS="1", OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        command = ["mpirun", "-np", THREADS, "--oversubscribe", options.lmp, "-in", "in.lmp", "-log", "log.lmp", "-screen", "none"]
        done = subprocess.run(command, cwd=leyden.folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        log = open(leyden.folder + "/log.lmp").read()
        if done.returncode != 0 or "Loop time" not in log:
            raise SystemExit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout}{log[-2000:]}")
        loops = [float(line.split()[3]) for line in log.splitlines() if line.startswith("Loop time")]
        used = [float(line.split("%")[0]) / 100 for line in log.splitlines() if "% CPU use with" in line]
        forces = numpy.loadtxt(leyden.folder + "/forces.txt", skiprows=9)[:, 1:]
        return forces, loops[-1] / steps, loops[-1] / steps * int(THREADS) * used[-1]

    right, _, _ = one("coul/long 12.0", "pppm 1.0e-8", "kspace_modify order 7", steps=1)
    kinds = [("pppm", "coul/long 10.0", a) for a in ("1e-3", "1e-4", "1e-5")] + [("msm", "coul/msm 10.0", a) for a in ("1e-3", "1e-4")]
    results = {(name, asked): [] for name, _, asked in kinds}
    tolerances = (1e-2, 1e-3, 1e-4, 1e-5)
    maps = {t: [] for t in tolerances}
    cell = ("--method", "msm", "--periodic", "xyz", "--cell", f"{edge},{edge},{edge}", "--spacing", "0.5")
    for tolerance in options.warm * tolerances:
        leyden.map(tolerance, *cell)
    for _ in range(options.rounds):
        for name, pair, asked in kinds:
            forces, clock_s, used_s = one(pair, f"{name} {asked}")
            results[name, asked].append((off_by(forces, right), clock_s, used_s))
        for tolerance in tolerances:
            clock_s, used_s, report = leyden.map(tolerance, *cell)
            maps[tolerance].append((report["accuracy"]["relative_rms"], clock_s, used_s, report["grid"]["points"]))
    n = len(charge)
    print(f"{n} atoms, a cubic cell of {edge:.2f} A; LAMMPS: {THREADS} processes; leyden: {leyden.device}\n")
    print("| | asked for | measured error | clock, microseconds per atom | processors | nanoseconds per point |\n|---|---|---|---|---|---|")
    for (name, asked), runs in results.items():
        error, clock_s, used_s = (statistics.median(x) for x in zip(*runs))
        print(f"| LAMMPS {name}, forces | {asked} | {error:.1e} | {1e6 * clock_s / n:.2f} | {1e6 * used_s / n:.2f} | |")
    for tolerance, runs in maps.items():
        error, clock_s, used_s, points = (statistics.median(x) for x in zip(*runs))
        print(f"| leyden, map of {points / n:.0f} points per atom | {tolerance:g} | {error:.1e} | {1e6 * clock_s / n:.2f} | {1e6 * used_s / n:.2f} | "
              f"{1e9 * clock_s / points:.0f} |")


# ---- Growth --------------------------------------------------------------------------------------


def compare_growth(leyden, options):
    sizes = [int(size) for size in options.sizes.split(",")]
    kernel = {n: [] for n in sizes}
    clock = {n: [] for n in sizes}
    used = {n: [] for n in sizes}
    for i in range(-options.warm, options.rounds):
        for n in sizes:
            leyden.box(n)
            clock_s, used_s, report = leyden.map(options.tol, "--method", "msm", "--spacing", "0.5", "--padding", "0.25", *options.more.split())
            if i < 0:
                continue  # kernels are built, costs learnt
            kernel[n].append(report["devices"][0]["kernel_s"])
            clock[n].append(clock_s)
            used[n].append(used_s)
    print(f"| atoms | kernels, s | clock, s | processors, s |\n|---|---|---|---|")
    for n in sizes:
        print(f"| {n:,} | {statistics.median(kernel[n]):.3f} | {statistics.median(clock[n]):.3f} | {statistics.median(used[n]):.3f} |")
    for name, of in (("kernels", kernel), ("clock", clock), ("processors", used)):
        first, last = statistics.median(of[sizes[0]]), statistics.median(of[sizes[-1]])
        print(f"{name}: ten times the atoms take {10 ** (math.log(last / first) / math.log(sizes[-1] / sizes[0])):.2f} times as long")


# ---- The command ---------------------------------------------------------------------------------


def self_test():
    assert abs(at_error([(1e-2, 1), (1e-4, 100)], 1e-3) - 10) < 1e-9
    assert abs(at_error([(1e-4, 100), (1e-2, 1), (1e-6, 500)], 1e-5) - 100 * 5 ** 0.5) < 1e-9
    assert abs(at_error([(1e-2, 1), (1e-4, 100)], 1) - 0.01) < 1e-9
    assert at_error([(1e-2, 3)], 1e-5) == 3
    print("compare_others.py: all as it should be")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("leyden")
    parser.add_argument("what", choices=["fmm3d", "lammps", "growth"])
    parser.add_argument("--atoms", type=int)
    parser.add_argument("--targets", type=int, default=1000000)
    parser.add_argument("--device", default="pocl")
    parser.add_argument("--lmp", default="lmp")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--warm", type=int, default=3, help="rounds that do not count: kernels are built, costs learnt")
    parser.add_argument("--sizes", default="100000,316227,1000000")
    parser.add_argument("--tol", type=float, default=1e-4)
    parser.add_argument("--more", default="", help="options of leyden map, for growth")
    options = parser.parse_args()
    options.atoms = options.atoms or {"fmm3d": 150000, "lammps": 30000, "growth": 0}[options.what]
    with tempfile.TemporaryDirectory() as folder:
        leyden = Leyden(options.leyden, options.device, folder)
        {"fmm3d": compare_fmm3d, "lammps": compare_lammps, "growth": compare_growth}[options.what](leyden, options)


if __name__ == "__main__":
    main()
