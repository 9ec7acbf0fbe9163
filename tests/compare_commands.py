#!/usr/bin/python3
"""Does the command say and write the same as another build of it? For changes of tools/ that mean to change nothing.

    compare_commands.py OLD NEW [--only WORD] [--show]    runs every line of the list with both; exit code 1 where they differ
    compare_commands.py --self-test COMMAND               plants differences into what COMMAND says; each must be found

Standard output, standard error, exit codes, reports and all files written are compared to the letter, but for times, rates and what
hangs on them. Numbers do not depend on timing: the lines fix the maths and the points that are verified.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

RUN = " --math standard --verify 16 "
MAP = "map ion.pqr -o out.dx --dims 9,8,7 --spacing 0.7" + RUN
CUTOFF = MAP + "--method cutoff --cutoff 4 "
FACES = "boundary ion.pqr -o out.dx --dims 9,9,5 --glen 30,30,28" + RUN
LIST = "boundary ion.pqr --points points.txt" + RUN

HELP = ["", "--help", "help", "help map", "map --help", "boundary -h", "help apbs", "help bench", "bench --help", "help devices",
        "help slice", "help compare", "help generate", "help convert", "--version", "help nothing", "mapp", "--verson"]

MAPS = [MAP, MAP + "-q", MAP + "--json out.json", MAP + "--json -", MAP + "--json out.json -q", MAP + "--units V",
        MAP + "--units kcal/mol/e --dielectric 78.54", MAP + "--temperature 310 --r-min 0.5", MAP + "--sum double --json -",
        MAP + "--sum compensated", MAP + "--sum auto --json -", MAP + "--slab 2", MAP + "--variant simple", MAP + "--seed 7",
        MAP + "--origin 1,2,3", MAP + "--device 0", "map ion.pqr -o out.dx.gz --padding 2 --verify 0 --math standard --json -",
        "map ion.pqr -o out.dx --spacing 2 --math standard --verify 16", "map pdb.pdb --pqr-anyway -o out.dx --dims 3,3,3" + RUN,
        MAP + "--math native --json -", MAP + "--math auto"]

CUTOFFS = [CUTOFF, CUTOFF + "--json -", CUTOFF + "--json out.json -q", CUTOFF + "--sum double --json -",
           CUTOFF + "--pair yukawa --kappa 0.2 --json -", CUTOFF + "--pair yukawa --screening-length 8",
           CUTOFF + "--pair lennard-jones --json -", CUTOFF + "--pair buckingham --steepness 13 --probe 1.5,0.2 --json -",
           CUTOFF + "--pair buckingham --well-depth 0.3", CUTOFF + "--pair lennard-jones --well-depths depths.txt --json -",
           CUTOFF + "--pair q*exp(-r/8)/r --json -", CUTOFF + "--pair a*q/r^b --constants a=2,b=1.5 --json -",
           CUTOFF + "--pair distance-dielectric", CUTOFF + "--pair COULOMB --units V --dielectric 4",
           CUTOFF + "--periodic xy --cell 20,21,22 --json -", CUTOFF + "--periodic z --cell 20,20,20,90,90,60",
           CUTOFF + "--periodic xyz --cell 20,0,0,0,20,0,1,0,20 --json -",
           "map ion.pqr -o out.dx --method cutoff --cutoff 4 --periodic xyz --cell 9,9,9 --origin 1,1,1 --json -" + RUN,
           "map ion.pqr -o out.dx --method cutoff --cutoff 4 --periodic xyz --cell 9,9,9 --spacing 0.9 --padding 2" + RUN,
           CUTOFF + "--bin-depth 2 --bin-fill 0.9 --binning host --transposition host --json -",
           CUTOFF + "--bin-depth 2 --binning device --json -", CUTOFF + "--variant bins"]

BOUNDARIES = [FACES, FACES + "-q", FACES + "--json -", FACES + "--json out.json -q", FACES + "--bcfl sdh --json -",
              FACES + "--bcfl zero --json -", FACES + "--bcfl sdh", FACES + "--bcfl zero -q",
              FACES + "--ion 0.15,1,2 --ion 0.15,-1,2 --json -", FACES + "--ion 0.15,1,2", FACES + "--ion 0.15,1,2 -q",
              FACES + "--boundary-stride 2 --json -", FACES + "--boundary-stride auto --boundary-tol 0.1",
              FACES + "--sdie 80 --pdie 4 --temperature 310 --bcfl sdh", FACES + "--gcent mol", FACES + "--gcent 1,2,3 --sum double --json -",
              FACES + "--slab 3", "boundary ion.pqr -o out.txt --format csv --dims 5,5,5 --glen 30,30,28" + RUN, "boundary ion.pqr -o out.csv --dims 5,5,5 --grid 6,6,6" + RUN,
              "boundary ion.pqr -o out.bin --dims 5,5,5 --grid 6,6,6 --json -" + RUN,
              "boundary ion.pqr -o out.dx --dims 5,5,5 --glen 3,3,3" + RUN, "boundary ion.pqr -o out.dx --dims 5,5,5 --glen 3,3,3 -q" + RUN,
              LIST + "-o out.csv", LIST + "-o out.raw --json -", LIST + "-o out.csv --bcfl sdh --json -", FACES + "--sum auto"]

OTHERS = ["apbs ion.in --keep kept --no-run --force" + RUN + "--sum float", "apbs ion.in --keep kept --no-run --force --json -" + RUN,
          "apbs ion.in --keep kept --no-run --force -q" + RUN, "apbs ion.in --no-run", "apbs nothing.in --no-run --keep kept",
          "apbs ion.in --keep kept --no-run --force --boundary-stride 1" + RUN, "apbs ion.in --no-run --keep kept --sum wrong",
          "devices", "devices --json -", "convert ion.pqr -o out.atoms", "generate waterbox -o out.pqr --atoms 30"]

BAD = [MAP + "--method dsc", MAP + "--method", MAP + "--pair yukawa", MAP + "--cutoff 3", MAP + "--kappa 1", MAP + "--bin-depth 3",
       MAP + "--cell 9,9,9", MAP + "--well-depths depths.txt", MAP + "--padding 3", "map ion.pqr", "map -o out.dx", "map ion.pqr -o out.ccp4",
       "map ion.pqr -o out.dx --origin 1,2,3", "map ion.pqr -o ion.pqr.dx/x.dx", "map ion.pqr -o out.dx --json out.dx",
       MAP + "--variant none", CUTOFF + "--variant simple", MAP + "--device nothing", "map nothing.pqr -o out.dx", "map pdb.pdb -o out.dx",
       MAP + "--dims 0,1,1", MAP + "--dims 1,1", MAP + "--spacing 1 --spacing 2", MAP + "--spacing", MAP + "--spacng 1", MAP + "-x",
       MAP + "--dielectric 0", MAP + "--quiet --verbose", MAP + "--quiet=1", MAP + "more", "map ion.pqr -o out.dx --dims 2000000000,2,2",
       "map ion.pqr -o out.dx --dims 900000,900000,9", CUTOFF + "--pair taylor5", CUTOFF + "--pair lenard-jones", CUTOFF + "--pair q/(r",
       CUTOFF + "--pair yukawa", CUTOFF + "--pair yukawa --kappa 1 --screening-length 2", CUTOFF + "--steepness 9",
       CUTOFF + "--kappa 1", CUTOFF + "--pair buckingham --dielectric 2", CUTOFF + "--pair lennard-jones --units V",
       CUTOFF + "--periodic x", CUTOFF + "--cell 9,9,9", CUTOFF + "--periodic x --cell 9,9", CUTOFF + "--periodic x --cell 9,9,9,90,90,200",
       CUTOFF + "--pair lennard-jones --well-depths points.txt", CUTOFF + "--pair lennard-jones --well-depths nothing.txt",
       CUTOFF + "--pair lennard-jones --well-depth 1 --well-depths depths.txt", CUTOFF + "--pair a*q/r --constants a",
       CUTOFF + "--cutoff 0", "map ion.pqr -o out.dx --method cutoff --cutoff 0.01 --dims 3,3,3", CUTOFF + "--binning gpu",
       CUTOFF + "--overflow host", CUTOFF + "--well-depths depths.txt --pair lennard-jones --json depths.txt",
       "boundary ion.pqr -o out.dx", "boundary ion.pqr -o out.xyz --dims 5,5,5 --glen 9,9,9", FACES + "--grid 1,1,1", FACES + "--points points.txt",
       "boundary ion.pqr -o out.dx --dims 5,5,5", LIST + "-o out.dx", LIST + "-o out.csv --boundary-stride 2", FACES + "--boundary-stride 3",
       "boundary ion.pqr -o out.dx --dims 6,6,6 --glen 9,9,9 --boundary-stride 2", FACES + "--ion 0.1,1", FACES + "--ion=-1,1,1",
       FACES + "--ion 1,1,-1", FACES + "--variant none", FACES + "--bcfl mem", FACES + "--gcent atom", "boundary on_node.pqr -o out.dx --dims 3,3,3 --glen 4,4,4 --gcent 0,0,0",
       "boundary ion.pqr --points nothing.txt -o out.csv", "boundary ion.pqr --points depths.txt -o out.csv", FACES + "--device nothing",
       "boundary nothing.pqr -o out.dx --dims 5,5,5 --glen 9,9,9", FACES + "--bcfl sdh --device nothing", FACES + "--json out.dx",
       "bench --kernel none", "bench --kernel dcs --variant none", "bench --kernel cutoff --variant simple", "bench --kernel dcs --variant bins",
       "bench --device nothing", "bench --kernel dcs --repeats 0", "bench --kernel dcs --json nowhere/out.json", "bench more"]

BENCHES = ["bench --kernel %s --atoms %d --repeats 1 --math standard --device 0 %s" % row for row in (
    ("dcs", 200, "--dims 32,16,8"), ("dcs", 200, "--dims 32,16,8 --variant simple --json -"), ("mdh", 200, "--dims 32,16,8"),
    ("mdh", 200, "--points 500 --salt 0.15"), ("mdh", 200, "--dims 32,16,8 --json -"), ("cutoff", 600, "--cutoff 6"),
    ("cutoff", 600, "--cutoff 6 --variant bins --json -"), ("cutoff", 600, "--cutoff 6 --linear"), ("dcs", 200, "--dims 8,8,8 --variant local -q"))]

LINES = HELP + MAPS + CUTOFFS + BOUNDARIES + OTHERS + BAD + BENCHES


def write_inputs(folder):
    def put(name, text):
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)
    atoms = [(1.3 * (i % 3), 1.7 * (i // 3 % 3), 2.1 * (i // 9), (-1) ** i * (0.3 + 0.1 * (i % 4)), 1 + 0.1 * (i % 5)) for i in range(24)]
    row = "ATOM %5d  C   ION %5d    %8.3f %8.3f %8.3f %7.4f %6.4f\n"
    put("ion.pqr", "".join(row % ((i + 1, i // 4 + 1) + atom) for i, atom in enumerate(atoms)))
    put("on_node.pqr", row % (1, 1, 2, 2, 2, 1, 1))
    put("pdb.pdb", "HEADER    A TEST\nATOM      1  N   ALA A   1      11.104   6.134  -6.504  1.00  0.00           N\n")
    put("depths.txt", "# depths\n" + "".join("%g\n" % (0.05 + 0.01 * i) for i in range(24)))
    put("points.txt", "".join("%g %g %g\n" % (20 + i, 3 * i, -20 - i) for i in range(11)))
    put("ion.in", "read\n  mol pqr ion.pqr\nend\nelec name solv\n  mg-manual\n  dime 33 33 33\n  glen 40 40 40\n  gcent mol 1\n  mol 1\n"
        "  lpbe\n  bcfl mdh\n  ion charge 1 conc 0.1 radius 2\n  ion charge -1 conc 0.1 radius 2\n  pdie 2\n  sdie 78.54\n  srfm smol\n"
        "  chgm spl2\n  sdens 10\n  srad 1.4\n  swin 0.3\n  temp 298.15\n  calcenergy total\n  calcforce no\nend\n"
        "elec name vac\n  mg-manual\n  dime 33 33 33\n  glen 40 40 40\n  gcent mol 1\n  mol 1\n  lpbe\n  bcfl sdh\n  pdie 2\n  sdie 2\n"
        "  srfm smol\n  chgm spl2\n  sdens 10\n  srad 1.4\n  swin 0.3\n  temp 298.15\n  calcenergy total\n  calcforce no\nend\n"
        "print elecEnergy solv - vac end\nquit\n")
    put("ion.pqr.dx", "a file, no folder\n")


TIMES = [(r"\d[\d.,]*(e[-+]\d+)? (billion|pairs)", "N billion"), (r"\d[\d.]*(e[-+]?\d+)? s\b", "N s"), (r" \(kernel from the cache\)", ""),
         (r"; (host|devices) waited N s", ""), (r"\nphases: .*", "\nphases: N"), (r"about N s", "N s"), (r"[\d,]+ atoms/s", "N atoms/s"), (r", [\d.,]+(e[-+]?\d+)? ([KMGT]i)?B/s", ", N B/s"), (r"atoms\^\d[\d.]*", "atoms^N")]
BLANK_KEYS = re.compile(r"(_s|_share)$|^(seconds|from_cache|slabs|timestamps|spread|phases|plan|float_relative_rms|evaluations_per_s|exponent|pairs_exponent)$")


def blanked(value, key=""):
    if BLANK_KEYS.search(key):
        return {k: "N" for k in value} if isinstance(value, dict) else "N" if value is not None else None
    if isinstance(value, dict):
        return {k: blanked(v, k) for k, v in value.items()}
    if isinstance(value, list):
        return [blanked(v) for v in value]
    return value


def neutral(text, is_bench):
    """Without what hangs on time: of benchmarks that is every figure."""
    if text.startswith("{"):
        return json.dumps(blanked(json.loads(text)), indent=1)
    for pattern, instead in TIMES:
        text = re.sub(pattern, instead, text)
    if text.startswith("#  name"):  # whether a device's own clock can be used is measured
        text = re.sub(r"\b(yes|no)\b *", "N ", text)
    if is_bench:
        text = re.sub(r" +", " ", re.sub(r"[-\d][\d.,e+-]*(?= |$)", "N", text, flags=re.M))
    return text


def result_of(command, line, change=None):
    with tempfile.TemporaryDirectory(prefix="leyden-compare-") as folder:
        write_inputs(folder)
        given = set(os.listdir(folder))
        run = subprocess.run([command] + line.split(), cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=300)
        result = {"code": str(run.returncode), "stdout": run.stdout.decode(errors="replace"), "stderr": run.stderr.decode(errors="replace")}
        for root, _, files in os.walk(folder):
            for name in files:
                path = os.path.relpath(os.path.join(root, name), folder)
                if path not in given:
                    with open(os.path.join(root, name), "rb") as file:
                        result["file " + path] = file.read().decode("latin-1")
    if change is not None:
        change(result)
    return {key: neutral(text.replace(folder, "FOLDER"), key == "stdout" and "--repeats 1" in line) for key, text in result.items()}


def differing(old, new):
    return sorted(key for key in old.keys() | new.keys() if old.get(key) != new.get(key))


def compare(options):
    import difflib
    differ = 0
    lines = [line for line in LINES if options.only in line]
    for line in lines:
        old, new = result_of(options.commands[0], line), result_of(options.commands[1], line)
        for key in differing(old, new):
            differ += 1
            print("leyden %s\n    differ: %s" % (line, key), flush=True)
            if options.show:
                print("".join(difflib.unified_diff(old.get(key, "").splitlines(True), new.get(key, "").splitlines(True), "old", "new")))
    print("%d command lines, %d differences" % (len(lines), differ))
    return 1 if differ else 0


def self_test(command):
    def edit(key, before, after):
        def change(result):
            if before not in result[key]:
                sys.exit("nothing to plant into: %r in %s" % (before, key))
            result[key] = result[key].replace(before, after, 1)
        return change
    plants = [(MAP, edit("stdout", "points", "point")), (MAP, edit("file out.dx", "method:", "methods:")), (FACES + "--bcfl zero --json out.json", edit("file out.json", '"points"', '"point"')),
              (BAD[0], edit("stderr", "did you mean", "do you mean")), (BAD[0], edit("code", "1", "2")), ("help map", edit("stdout", "--method", "--methods"))]
    found = [bool(differing(result_of(command, line), result_of(command, line, change))) for line, change in plants]
    same = [not differing(result_of(command, line), result_of(command, line)) for line, _ in plants]
    print("%d of %d planted differences found, %d of %d lines agree with themselves" % (sum(found), len(found), sum(same), len(same)))
    return 0 if all(found) and all(same) else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("commands", nargs="+", help="OLD NEW, or with --self-test one command")
    parser.add_argument("--only", default="", help="only lines with this word in them")
    parser.add_argument("--show", action="store_true", help="what differs, as a diff")
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    options.commands = [os.path.abspath(command) for command in options.commands]
    if len(options.commands) != (1 if options.self_test else 2):
        parser.error("two commands, or one with --self-test")
    return self_test(options.commands[0]) if options.self_test else compare(options)


if __name__ == "__main__":
    sys.exit(main())
