#!/usr/bin/env python3
"""Energies of APBS's own examples, with boundaries by leyden against those by APBS: apbs_examples.py LEYDEN [EXAMPLES].

Every input with an mdh or sdh boundary that APBS finishes within a minute. Prints a table; exit code 1 when an energy differs by more
than 1e-9, 77 when there is nothing to compare with.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

MOST_S, MOST_DIFFERENCE = 60, 1e-9
ENERGY = re.compile(r"(?:Total electrostatic|Global net (?:ELEC )?)\s*energy = ([-+0-9.Ee]+)")
BOUNDARY = re.compile(r"^\s*bcfl\s+(mdh|sdh|1|2)\b", re.I | re.M)


def run(command, most_s):
    """Output and seconds; None when it failed or took too long."""
    start = time.monotonic()
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=most_s)
    except subprocess.TimeoutExpired:
        return None, most_s, "more than %d s" % most_s
    words = (done.stderr.strip().splitlines() or ["?"])[-1]
    return (done.stdout if done.returncode == 0 else None), time.monotonic() - start, words


def difference(ours, theirs):
    return max((abs(a - b) / max(abs(b), 1e-300) for a, b in zip(ours, theirs)), default=0.0)


def compare(leyden, name):
    """One row of the table, and whether it is right."""
    native, native_s, why = run(["apbs", name], MOST_S)
    if native is None or not ENERGY.search(native):
        return "left out: APBS itself: %s" % (why if native is None else "no energies"), True
    ours, ours_s, why = run([leyden, "apbs", name, "--force"], 5 * MOST_S)
    if ours is None:
        return "leyden: %s" % why, False
    a, b = ([float(e) for e in ENERGY.findall(text)] for text in (ours, native))
    worst = difference(a, b)
    right = len(a) == len(b) and worst <= MOST_DIFFERENCE
    return "%6.1f s %6.1f s  %3d energies  %.1e%s" % (native_s, ours_s, len(b), worst, "" if right else "  WRONG"), right


def main():
    leyden = os.path.abspath(sys.argv[1])
    examples = sys.argv[2] if len(sys.argv) > 2 else "/usr/share/apbs/examples"
    if shutil.which("apbs") is None or not os.path.isdir(examples):
        print("skipped: apbs or its examples are not installed")
        return 77
    wrong = count = 0
    print("%-44s %8s %8s" % ("input", "apbs", "leyden"))
    for folder in sorted(os.listdir(examples)):
        with tempfile.TemporaryDirectory() as scratch:
            there, here = os.path.join(examples, folder), os.path.join(scratch, "example")
            if not os.path.isdir(there):
                continue
            shutil.copytree(there, here)
            os.chdir(here)
            for name in sorted(n for n in os.listdir(here) if n.endswith(".in")):
                with open(name, errors="replace") as text:
                    if not BOUNDARY.search(text.read()):
                        continue
                row, right = compare(leyden, name)
                print("%-44s %s" % (folder + "/" + name, row), flush=True)
                count += 1
                wrong += not right
            os.chdir("/")
    print("%d inputs, %d wrong" % (count, wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
