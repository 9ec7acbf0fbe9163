#!/usr/bin/python3
"""Are two commands equally fast? Measures both in turns and prints a Markdown table.

    compare_rates.py OLD NEW [--device SELECTOR]... [--rounds N] [--seconds S] [--only NAME]...
    compare_rates.py --self-test        made-up commands, one of them slower, one that varies

Measured: the default variant of each kernel (`leyden bench`: dcs; mdh on faces and on a list of points, with and without salt;
cutoff), in pairs per second; and whole commands with a warm cache, in seconds: a tiny map, one of medium size, a boundary.
A round is OLD then NEW of each measurement, in the next round NEW then OLD. A first round that does not count fills the caches and
settles the problems' sizes, which are the same for both. Then the script says how long that took, how many rounds fit into
--seconds per device, and goes on as long as the next one fits: --rounds at most, 2 at least.

A ratio is NEW over OLD of the same round, so that what slows both down cancels; above 1 NEW is faster. Its noise is what the
median may be off by 19 times of 20. NEW loses where the median is below 0.99 by more than the noise:
exit code 1. "unclear" is a median below 0.99 that the noise explains: measure longer.
"""
import argparse
import collections
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # nothing of ours stays in the sources
import golden_cases

ALLOWED = 0.99  # of the old rate
LEAST_ROUNDS = 2
STUDENT = {1: 12.71, 2: 4.30, 3: 3.18, 4: 2.78, 5: 2.57, 6: 2.45, 7: 2.36, 8: 2.31}  # 95 %, by degrees of freedom
LIST_POINTS = {"gpu": 134918, "cpu": 55298, "other": 55298}  # nodes of the faces that the benchmark takes there
PATIENCE_S = 600
SALT = "--ion 0.15,1,2 --ion 0.15,-1,2"

# What is measured: `measure` takes a Side and returns a rate and the variant that made it.
Measurement = collections.namedtuple("Measurement", "name unit measure")


class Side:
    """One of the two commands on one device, with a cache of its own."""

    def __init__(self, leyden, device, folder):
        self.leyden, self.device, self.folder = os.path.abspath(leyden), device, folder
        self.cache = folder + "/cache"
        os.makedirs(self.cache, exist_ok=True)

    def run(self, arguments):
        environment = dict(os.environ, LEYDEN_CACHE_DIR=self.cache, LC_ALL="C")
        command = [self.leyden] + arguments + ["--device", self.device, "--json", "report.json", "--quiet"]
        start_s = time.perf_counter()
        done = subprocess.run(command, cwd=self.folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", timeout=PATIENCE_S)
        taken_s = time.perf_counter() - start_s
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout}")
        with open(self.folder + "/report.json") as file:
            return json.load(file), taken_s


# ---- What is measured ----------------------------------------------------------------------------


def tiny_job(side, command, problem):
    """What a job says of the device and of the variant that it takes."""
    report, _ = side.run([command, "../few.pqr"] + problem.split())
    return report["devices"][0]


PROBES = {
    "dcs": ("map", "-o out.dx --dims 9,9,9"),
    "mdh": ("boundary", "-o out.raw --dims 9,9,9 --glen 60,60,60"),
    "cutoff": ("map", "-o out.dx --method cutoff --dims 9,9,9")}


class Bench:
    """`leyden bench` of one kernel's default variant, on the problem that OLD chose when it was asked first."""

    def __init__(self, kernel, options, of_list, repeats):
        self.kernel, self.options, self.of_list, self.repeats = kernel, options.split(), of_list, repeats
        self.size = None
        self.variants = {}

    def size_of(self, device):
        if self.kernel == "cutoff":
            return ["--atoms", str(device["atoms"])]
        return ["--dims", ",".join(map(str, device["dims"])), "--atoms", str(device["atoms"])]

    def __call__(self, side):
        if side.folder not in self.variants:
            job = tiny_job(side, *PROBES[self.kernel])
            self.variants[side.folder] = job["variant"]
            if self.of_list:
                self.size = ["--points", str(LIST_POINTS[job["device"]["class"]])]
        report, _ = side.run(["bench", "--kernel", self.kernel, "--repeats", str(self.repeats),
                              "--variant", self.variants[side.folder]] + self.options + (self.size or []))
        tables = report.get("tables") or [report]  # reports of builds before --kernel all are a table
        device = tables[0]["devices"][0]
        (row,) = device["rows"]
        if self.size is None:
            self.size = self.size_of(device)
        return row["evaluations_per_s"], row["variant"]


class Whole:
    """A whole command, from its start to its end."""

    def __init__(self, arguments):
        self.arguments = arguments.split()

    def __call__(self, side):
        report, taken_s = side.run(self.arguments)
        return 1 / taken_s, report["devices"][0]["variant"]


def all_measurements(repeats):
    def bench(name, kernel, options="", of_list=False):
        return Measurement(name, "billion pairs/s", Bench(kernel, options, of_list, repeats))

    def whole(name, arguments):
        return Measurement(name, "s", Whole(arguments))

    return [
        bench("dcs", "dcs"),
        bench("mdh faces, salt", "mdh", "--salt 0.15"),
        bench("mdh faces, no salt", "mdh", "--salt 0"),
        bench("mdh list, salt", "mdh", "--salt 0.15", True),
        bench("mdh list, no salt", "mdh", "--salt 0", True),
        bench("cutoff", "cutoff"),
        whole("tiny map", "map ../few.pqr -o out.dx --dims 9,9,9"),
        whole("medium map", "map ../many.pqr -o out.dx --dims 121,121,121"),
        whole("medium map, cutoff", "map ../many.pqr -o out.dx --method cutoff --dims 121,121,121"),
        whole("medium map, tolerance", "map ../many.pqr -o out.raw --tol 1e-4 --dims 121,121,121"),
        whole("large map, tolerance", "map ../many.pqr -o out.raw --tol 1e-4 --dims 301,301,301"),
        whole("boundary", f"boundary ../many.pqr -o out.raw --dims 97,97,97 --glen 110,110,110 {SALT}")]


# ---- Rounds --------------------------------------------------------------------------------------


def run_round(measurements, sides, number, rates):
    for i, measurement in enumerate(measurements):
        order = sides if (number + i) % 2 == 0 else sides[::-1]
        for side in order:
            rates[measurement.name, side.folder].append(measurement.measure(side))


def rounds_that_fit(options, used_s, round_s):
    return max(LEAST_ROUNDS, min(options.rounds, int((options.seconds - used_s) / round_s)))


def run_rounds(options, measurements, sides):
    """The rates of all rounds that count."""
    start_s = time.perf_counter()
    run_round(measurements, sides, 0, collections.defaultdict(list))
    used_s = first_s = time.perf_counter() - start_s
    print(f"{first_s:.0f} s for the first round, with builds; {rounds_that_fit(options, used_s, first_s)} to {options.rounds} more, "
          f"to end {options.seconds:g} s after the start, or after {LEAST_ROUNDS} rounds if that is later", flush=True)
    rates, number, round_s = collections.defaultdict(list), 0, 0
    while number < LEAST_ROUNDS or (number < options.rounds and used_s + round_s <= options.seconds):
        run_round(measurements, sides, number, rates)
        number += 1
        round_s = time.perf_counter() - start_s - used_s
        used_s += round_s
    print(f"{number} rounds, the last one of {round_s:.1f} s; {used_s:.0f} s in all", flush=True)
    return rates


# ---- Judging -------------------------------------------------------------------------------------


def spread(values):
    return (max(values) - min(values)) / statistics.median(values)


def noise_of(ratios):
    """How far their median may be from the truth, 19 times of 20: of few ratios very far."""
    n, middle = len(ratios), statistics.median(ratios)
    deviation = statistics.stdev(ratios) if n < 6 else 1.4826 * statistics.median(abs(ratio - middle) for ratio in ratios)
    return STUDENT.get(n - 1, 2.2) * 1.2533 * deviation / math.sqrt(n)


def verdict(ratio, noise):
    if ratio + noise < ALLOWED:
        return "LOSES"
    if ratio < ALLOWED:
        return "unclear"
    return "gains" if ratio - noise > 1 / ALLOWED else "as fast"


def shown(rate, unit):
    return f"{rate / 1e9:.4g}" if unit != "s" else f"{1 / rate:.4g}"


def row_of(device, measurement, old, new):
    """A line of the table, and the verdict."""
    old_rates, new_rates = [rate for rate, _ in old], [rate for rate, _ in new]
    ratios = [b / a for a, b in zip(old_rates, new_rates)]
    ratio, noise = statistics.median(ratios), noise_of(ratios)
    names = sorted({variant for _, variant in old}), sorted({variant for _, variant in new})
    variant = "/".join(names[0]) + ("" if names[0] == names[1] else " -> " + "/".join(names[1]))
    said = verdict(ratio, noise)
    cells = [device, measurement.name, variant, measurement.unit, shown(statistics.median(old_rates), measurement.unit),
             shown(statistics.median(new_rates), measurement.unit), f"{ratio:.4f} ± {noise:.4f}", f"{100 * spread(old_rates):.1f} %",
             f"{100 * spread(new_rates):.1f} %", said]
    return "| " + " | ".join(cells) + " |", said


HEADING = """
| device | measurement | variant | unit | old | new | new/old rate | spread old | spread new | verdict |
|---|---|---|---|---|---|---|---|---|---|"""


# ---- Its own test --------------------------------------------------------------------------------

# A command that reports rates which were made up: SPEED times a usual one, more or less by up to
# VARIES.
MADE_UP = """#!{python}
import json, random, sys
rate = 1e9 * {speed} * (1 + random.uniform(-{varies}, {varies}))
device = {{"name": "made up", "path": "none", "driver": "1", "class": "cpu", "index": 0}}
row = {{"variant": "v", "evaluations_per_s": rate}}
entry = {{"device": device, "variant": "v", "rows": [row], "dims": [9, 9, 9], "atoms": 5}}
with open("report.json", "w") as file: json.dump({{"devices": [entry]}}, file)
"""

# Speeds of NEW, how much both vary, what must be said of each kernel, and the exit code.
TRIALS = ((1, 0.001, "as fast", 0), (0.97, 0.001, "LOSES", 1), (1.05, 0.001, "gains", 0), (0.995, 0.0005, "as fast", 0))


def try_made_up(folder, speed, varies, said, expected):
    for name, own_speed in (("old", 1), ("new", speed)):
        with open(f"{folder}/{name}", "w") as file:
            file.write(MADE_UP.format(python=sys.executable, speed=own_speed, varies=varies))
        os.chmod(f"{folder}/{name}", 0o755)
    kernels = ["--only", "dcs", "--only", "mdh", "--only", "cutoff", "--rounds", "4", "--seconds", "600", "--device", "0"]
    done = subprocess.run([sys.executable, os.path.abspath(__file__), f"{folder}/old", f"{folder}/new"] + kernels,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    rows = [line for line in done.stdout.splitlines() if "billion pairs/s" in line]
    right = len(rows) == 6 and all(line.endswith(f"| {said} |") for line in rows) and done.returncode == expected
    if not right:
        print(f"NEW {speed} times as fast: expected '{said}', exit code {expected}; exit code {done.returncode}:\n{done.stdout}")
    return right


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        right = [try_made_up(folder, *trial) for trial in TRIALS]
    print(f"{sum(right)} of {len(right)} made-up commands are judged rightly")
    return 0 if all(right) else 1


# ---- Command line --------------------------------------------------------------------------------


def name_of(side):
    report, _ = side.run(["map", "../few.pqr", "-o", "out.dx", "--dims", "5,5,5"])
    devices = [entry["device"] for entry in report["devices"]]
    if len(devices) != 1:
        raise SystemExit(f"{side.device}: {len(devices)} devices; rates are of one at a time")
    return f"{devices[0]['name']}, {devices[0]['path']}, driver {devices[0]['driver']}"


def compare_on(options, selector, folder):
    sides = [Side(path, selector, f"{folder}/{name}") for name, path in (("old", options.old), ("new", options.new))]
    name = name_of(sides[0])
    measurements = [m for m in all_measurements(options.repeats) if not options.only or any(m.name.startswith(only) for only in options.only)]
    if not measurements:
        raise SystemExit("--only leaves nothing to measure")
    print(f"{name}: {len(measurements)} measurements of two commands", flush=True)
    rates = run_rounds(options, measurements, sides)
    return [row_of(name, m, rates[m.name, sides[0].folder], rates[m.name, sides[1].folder]) for m in measurements]


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", nargs="?")
    parser.add_argument("new", nargs="?")
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("--device", action="append", help="once for each device (default: the fastest)")
    parser.add_argument("--rounds", type=int, default=9, help="at most (default: 9)")
    parser.add_argument("--seconds", type=float, default=110, help="per device, builds and all (default: 110)")
    parser.add_argument("--repeats", type=int, default=7, help="timed launches in a bench (default: 7)")
    parser.add_argument("--only", action="append", help="measurements whose names begin like this")
    options = parser.parse_args()
    if options.self_test != (options.new is None):
        parser.error("OLD NEW, or --self-test")
    return options


def fastest(leyden):
    """The number of the device that a job takes by itself."""
    with tempfile.TemporaryDirectory() as folder:
        golden_cases.write_inputs(folder)
        done = subprocess.run([os.path.abspath(leyden), "map", "few.pqr", "-o", "out.dx", "--dims", "5,5,5", "--json", "-"], cwd=folder,
                              stdout=subprocess.PIPE, text=True, check=True)
    device = json.loads(done.stdout)["devices"][0]["device"]
    return f"{device['path']}:{device['index']}"


def main():
    options = parse()
    if options.self_test:
        return self_test()
    rows = []
    for selector in options.device or [fastest(options.old)]:
        with tempfile.TemporaryDirectory(prefix="rates-") as folder:
            golden_cases.write_inputs(folder)
            rows += compare_on(options, selector, folder)
    print(HEADING)
    print("\n".join(line for line, _ in rows))
    losing = sum(said == "LOSES" for _, said in rows)
    print(f"\n{losing} of {len(rows)} lose more than 1 % beyond the noise" if losing else f"\nnone of {len(rows)} loses more than 1 % beyond the noise")
    return 1 if losing else 0


if __name__ == "__main__":
    sys.exit(main())
