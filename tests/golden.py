#!/usr/bin/python3
"""Does the command still make the same bytes? Digests of maps, boundaries and reports, held against kept ones.

    golden.py check [--all]        every device found, against its file in tests/data/golden; exit code 77: none has one
    golden.py make                 writes these files anew, of all cases or of those of --cases; with --same-digests only if no
                                   file that leyden wrote has changed
    golden.py compare OLD NEW      two commands against each other, on any device
    golden.py --self-test          plants faults and sees whether they are found

    --leyden PATH    the command (default: BUILD/leyden)          --device SELECTOR  only this device (default: each one)
    --all            all cases, not only the quick ones           --cases PATTERN    only cases whose names match, as 'dcs/*'
    --jobs N         commands at a time (default: as cores)       --golden FOLDER    where the files are
    --every N        each Nth of the cases only
    --show           the report of what differs, in full          --keep FOLDER      leaves what the commands wrote there

tests/golden_cases.py has the cases. Floats depend on compilers, processors and drivers: a file is for one kind of device, driver
and, of CPUs, instruction set. A device without a file is skipped, and that is said.
"""
import argparse
import collections
import concurrent.futures
import fnmatch
import gzip
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # nothing of ours stays in the sources
import golden_cases

HERE = os.path.dirname(os.path.abspath(__file__))
SKIPPED_CODE = 77
NO_DEVICE_CODE = 3  # the device is not able to do this: nothing to see a second time, but with --all
PATIENCE_S = 400
MOST_AGAIN = 40  # cases that differ: more are no accident
TRIALS = 3  # of a fault that is planted

# What a report says of the time, the cache and the machine is there, but not compared. Everything else does not depend on timing: the
# cases fix the maths, the size of slabs, the places of steps and the points verified (16, all by the host).
BLANKED = {
    "version",       # of the program
    "device",        # what the user selected it by; a device's facts but for the next line
    "from_cache",
    "bytes_written", # a header has the device's name
    "json",          # where the report goes
    "schedule",      # who did what when
    "off_by_more_than_2", # whether a phase took what was predicted
}
UNSURE = ("phases.",)              # is there only where costs are known already
BLANKED_ENDS = ("_s",)             # seconds, and rates: evaluations_per_s
KEPT_OF_A_DEVICE = {"path", "class", "double"}
BLANK = "*"

# ---- Digests -----------------------------------------------------------------------------------------------------------


def digest(content):
    return hashlib.sha256(content).hexdigest()


def neutral_header(text, device):
    """A map's header without the names of this version and this machine; solvers as they were called when digests were made."""
    text = text.replace("solver multilevel", "solver direct").replace("solver fourier", "solver fft")
    text = re.sub(r"leyden \d+\.\d+\.\d+", "leyden VERSION", text)
    if device is not None:
        text = text.replace("device: %s, driver %s" % (device["name"], device["driver"]), "device: DEVICE")
    return text


def digests_of(path, device):
    """Of the values alone, so that one sees whether numbers or words have changed, and of the rest."""
    with open(path, "rb") as file:
        content = file.read()
    if path.endswith(".gz"):
        content = gzip.decompress(content)
    if not re.search(r"\.dx(\.gz)?$", path):
        return {"values": digest(content)}
    lines = content.decode().splitlines(keepends=True)
    is_value = [re.match(r"[-0-9]", line) is not None for line in lines]
    header = "".join(line for line, value in zip(lines, is_value) if not value)
    values = "".join(line for line, value in zip(lines, is_value) if value)
    return {"header": digest(neutral_header(header, device).encode()), "values": digest(values.encode())}


# ---- Reports -----------------------------------------------------------------------------------------------------------


def is_blanked(key):
    return key in BLANKED or key.endswith(BLANKED_ENDS)


def flatten(value, path, flat):
    """A report as {"devices.0.variant": value}; lists of numbers and texts are values."""
    if isinstance(value, list) and any(isinstance(item, dict) for item in value):
        value = dict(enumerate(value))
    if not isinstance(value, dict):
        flat[path] = value
        return
    for key, item in value.items():
        key = str(key)
        below = path + "." + key if path else key
        if key == "slabs" and isinstance(item, list):
            flat[below] = [[slab["first"], slab["count"]] for slab in item]
        elif key == "specification" and item is not None:
            for option in item.split():
                flat[below + "." + option.split("=")[0]] = option.partition("=")[2]
        elif key == "device" and isinstance(item, dict):
            for fact in item:
                flat[below + "." + fact] = item[fact] if fact in KEPT_OF_A_DEVICE else BLANK
        elif key == "seconds" and isinstance(item, dict):
            flat.update({below + "." + phase: BLANK for phase in item})
        elif is_blanked(key):
            flat[below] = BLANK
        else:
            flatten(item, below, flat)


def flat_report(report):
    flat = {}
    flatten(report, "", flat)
    return flat


# ---- Running -----------------------------------------------------------------------------------------------------------


WITHOUT_LLVMPIPE = {"RUSTICL_ENABLE": ""}


def environment(cache, settings):
    """Two compute units, and so the same parts of sums, however many cores there are."""
    result = dict(os.environ, LC_ALL="C", POCL_MAX_PTHREAD_COUNT="2", POCL_CPU_MAX_CU_COUNT="2", LEYDEN_CACHE_DIR=cache)
    result.setdefault("RUSTICL_ENABLE", "llvmpipe")
    return dict(result, **settings)


def run_command(leyden, arguments, folder, cache, settings={}):
    return subprocess.run([leyden] + arguments, cwd=folder, env=environment(cache, settings), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE_S, text=True, errors="replace")


def read_report(path):
    try:
        with open(path) as file:
            return json.load(file)
    except OSError:
        return None


def result_of(case, code, folder):
    """What is kept of a command that has ended. Of one that refused, its exit code and status: the words may change."""
    report, written = read_report(folder + "/report.json"), folder + "/" + case.output
    result = {"exit": code, "files": {}, "report": {}}
    if code != 0:
        result["report"] = {"status": report["status"]} if report else {}
    else:
        devices = report.get("devices") or []
        result["files"] = digests_of(written, devices[0]["device"] if devices else None)
        result["report"] = flat_report(report)
    if code != 0 and os.path.exists(written):
        result["files"] = {"values": "written although the command failed"}
    return result


class Runner:
    """Runs cases of one command on one device, each in a folder of its own."""

    def __init__(self, leyden, device, folder, cache):
        self.leyden, self.device, self.folder, self.cache = os.path.abspath(leyden), device, folder, cache
        self.settings = {}
        os.makedirs(folder, exist_ok=True)
        golden_cases.write_inputs(folder)

    def run(self, case):
        folder = os.path.join(self.folder, case.name.replace("/", "+").replace(" ", "_"))
        os.makedirs(folder, exist_ok=True)
        arguments = case.arguments.split() + ["--math", "standard", "--quiet", "--device", self.device,
                                              "-o", case.output, "--json", "report.json"]
        if "--verify" not in arguments:
            arguments += ["--verify", "16"]
        done = run_command(self.leyden, arguments, folder, self.cache, self.settings)
        with open(folder + "/output.txt", "w") as file:
            file.write(done.stdout)
        return result_of(case, done.returncode, folder)

    def facts(self):
        """The one device that the selector means, as reports have it. llvmpipe is left out where the selector means the same
        device without it: each command would load it for nothing."""
        device = self.selected()
        if os.environ.get("RUSTICL_ENABLE") == "":
            return device
        self.settings = WITHOUT_LLVMPIPE
        try:
            if self.selected() == device:
                return device
        except SystemExit:
            pass
        self.settings = {}
        return device

    def selected(self):
        done = run_command(self.leyden, ["map", "few.pqr", "-o", "first.dx", "--dims", "9,9,9", "--device", self.device, "--quiet",
                                         "--json", "first.json"], self.folder, self.cache, self.settings)
        report = read_report(self.folder + "/first.json")
        if done.returncode != 0 or report is None:
            raise SystemExit(f"{self.device}: {done.stdout.strip()}")
        devices = [entry["device"] for entry in report["devices"]]
        if len(devices) != 1:
            raise SystemExit(f"{self.device}: {len(devices)} devices; golden results are of one at a time")
        return devices[0]


def run_all(runner, cases, jobs):
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        return dict(zip((case.name for case in cases), pool.map(runner.run, cases)))


# ---- Devices and the files of their kind ------------------------------------------------------------------------------------


def kind_of(device):
    """Path, name or instruction set, and driver: what compiled kernels depend on. PoCL's names end in the processor's brand."""
    target = re.search(r"HSTR:\s*\S+-linux-gnu\w*-(\S+)", device["version"])
    words = [device["path"], "pocl " + target.group(1) if target else device["name"], device["driver"]]
    return re.sub(r"[^a-z0-9.]+", "-", " ".join(words).lower()).strip("-")


def host_kind(leyden):
    """What the host's own sums depend on: the processor's level, as compilers call it, and the compiler of the command."""
    with open("/proc/cpuinfo") as file:
        found = re.search(r"^flags\s*:(.*)$", file.read(), re.MULTILINE)
    flags = set(found.group(1).split()) if found else set()
    level = "v4" if {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"} <= flags else \
        "v3" if {"avx2", "bmi2", "fma"} <= flags else "other"
    with open(leyden, "rb") as file:
        compiler = re.search(rb"(GCC|clang version)[^\d\0]*(?:\([^)\0]*\) )?(\d+)\.\d+\.\d+", file.read())
    return "%s, %s %s" % ((level,) + (tuple(part.decode() for part in compiler.groups()) if compiler else ("unknown", "compiler")))


def devices_found(leyden, cache):
    done = run_command(leyden, ["devices", "--json"], ".", cache)
    return [f"{device['path']}:{device['index']}" for device in json.loads(done.stdout)["devices"] if device["unusable"] is None]


# ---- Files of golden results ----------------------------------------------------------------------------------------------


def group_of(name):
    return name.split("/")[0]


def common_reports(results):
    """Of each group of cases the most frequent value of each key, so that a case's line has only what is its own."""
    counts = collections.defaultdict(collections.Counter)
    for name, result in results.items():
        for key, value in result["report"].items():
            counts[group_of(name), key][json.dumps(value)] += 1
    common = collections.defaultdict(dict)
    for (group, key), values in sorted(counts.items()):
        most = max(values.values())
        common[group][key] = json.loads(min(value for value, count in values.items() if count == most))
    return common


def packed(result, common):
    report = {key: value for key, value in result["report"].items() if key not in common or common[key] != value}
    return dict(result, report=report, absent=sorted(set(common) - set(result["report"])) if result["exit"] == 0 else [])


def unpacked(entry, common):
    report = dict(common) if entry["exit"] == 0 else {}
    for key in entry["absent"]:
        report.pop(key, None)
    report.update(entry["report"])
    return {"exit": entry["exit"], "files": entry["files"], "report": report}


def write_golden(path, head, results):
    common = common_reports(results)
    lines = ['{"about": %s,' % json.dumps(head, sort_keys=True), '"common": {']
    for number, (group, report) in enumerate(sorted(common.items())):
        values = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in sorted(report.items())]
        lines.append('%s: {\n%s\n}%s' % (json.dumps(group), ",\n".join(values), "," if number + 1 < len(common) else ""))
    lines.append('},\n"cases": {')
    lines.append(",\n".join(f"{json.dumps(name)}: {json.dumps(packed(result, common[group_of(name)]), sort_keys=True)}"
                            for name, result in sorted(results.items())))
    lines.append("}}\n")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write("\n".join(lines))


def read_golden(path):
    with open(path) as file:
        golden = json.load(file)
    results = {name: unpacked(entry, golden["common"].get(group_of(name), {})) for name, entry in golden["cases"].items()}
    return golden["about"], results


# ---- Comparing ------------------------------------------------------------------------------------------------------------


def differences(old, new, leave=()):
    """What of a golden result is not so any more. What is new in a report is welcome. `leave`: beginnings of keys."""
    found = [] if old["exit"] == new["exit"] else ["exit code %s, was %s" % (new["exit"], old["exit"])]
    if found:
        return found
    for part in sorted(set(old["files"]) | set(new["files"])):
        if old["files"].get(part) != new["files"].get(part):
            found.append(f"its {part} changed")
    for key, value in sorted(old["report"].items()):
        if key.startswith(tuple(leave)):
            continue
        if key.startswith(UNSURE) and key not in new["report"]:
            continue
        if key not in new["report"]:
            found.append(f"the report has no {key} any more")
        elif value != BLANK and new["report"][key] != value:
            found.append(f"{key} is {json.dumps(new['report'][key])}, was {json.dumps(value)}")
    return found


def print_differences(differing, show):
    for name, found in sorted(differing.items()):
        lines = found if show else found[:4] + ["and %d more" % (len(found) - 4)] * (len(found) > 4)
        print(f"  {name}: " + "; ".join(lines))


def compare_results(old, new, leave):
    """{case: what differs}."""
    differing = {name: differences(old[name], new[name], leave) for name in new}
    return {name: found for name, found in differing.items() if found}


# ---- The commands --------------------------------------------------------------------------------------------------------------


def chosen_cases(options, everything):
    cases = [case for case in golden_cases.all_cases() if everything or options.all or case.quick]
    cases = cases[:: options.every]
    if options.cases:
        cases = [case for case in golden_cases.all_cases() if fnmatch.fnmatch(case.name, options.cases)]
    if not cases:
        raise SystemExit("no case is chosen")
    return cases


def selectors(options, folder):
    return [options.device] if options.device else devices_found(options.leyden, folder.cache)


def again(options, runner, cases, golden, leave):
    """Slabs are as large as what was measured of the device suggests: on a machine that others load that may be too little. So cases
    that differ are run once more, after a measurement of their own."""
    print(f"note: {len(cases)} cases differ and are run again, with an empty cache")
    anew = Runner(options.leyden, runner.device, runner.folder + "-again", runner.folder + "-again-cache")
    anew.settings = runner.settings
    return compare_results(golden, run_all(anew, cases, options.jobs), leave)


def check_device(options, selector, folder):
    """True: as it was; False: not; None: skipped."""
    runner = Runner(options.leyden, selector, f"{folder.path}/{selector}", folder.cache)
    device = runner.facts()
    kind, host = kind_of(device), host_kind(options.leyden)
    path = f"{options.golden}/{kind}.json"
    if not os.path.exists(path):
        print(f"note: skipped: {device['name']}: no golden results are kept for {kind}")
        return None
    about, golden = read_golden(path)
    if about["compute_units"] != device["compute_units"]:
        print(f"note: skipped: {device['name']}: {device['compute_units']} compute units, the golden results are of {about['compute_units']}")
        return None
    cases, leave = chosen_cases(options, False), ()
    if about["host"] != host:
        left = sum(case.host for case in cases)
        cases, leave = [case for case in cases if not case.host], ("accuracy.",)
        print(f"note: skipped: {device['name']}: {left} cases that the host sums in, and accuracies: this host is {host}, not {about['host']}")
    if not options.all and not options.cases:
        cases = [case for case in cases if golden.get(case.name, {"exit": 0})["exit"] != NO_DEVICE_CODE]
    unknown = sum(case.name not in golden for case in cases)
    if unknown:
        print(f"note: skipped: {device['name']}: {unknown} cases that no golden results are kept of")
        cases = [case for case in cases if case.name in golden]
    if not cases:
        return None
    results = run_all(runner, cases, options.jobs)
    differing = compare_results(golden, results, leave)
    if 0 < len(differing) <= MOST_AGAIN:
        differing = again(options, runner, [case for case in cases if case.name in differing], golden, leave)
    known = {case.name for case in golden_cases.all_cases()}
    differing.update({name: ["it is no case any more"] for name in golden if name not in known and not options.cases})
    print(f"{device['name']}: {len(cases)} cases, {len(differing)} of them differ from {kind}.json")
    print_differences(differing, options.show)
    return not differing


def check(options, folder):
    outcomes = [check_device(options, selector, folder) for selector in selectors(options, folder)]
    if False in outcomes:
        return 1
    if True in outcomes:
        return 0
    print("skipped: no golden results are kept for any device here")
    return SKIPPED_CODE


def make(options, folder):
    cases = chosen_cases(options, True)
    for selector in selectors(options, folder):
        runner = Runner(options.leyden, selector, f"{folder.path}/{selector}", folder.cache)
        device = runner.facts()
        path = f"{options.golden}/{kind_of(device)}.json"
        results = run_all(runner, cases, options.jobs)
        kept = read_golden(path)[1] if os.path.exists(path) else {}
        changed = [name for name in results if name in kept and any(kept[name][part] != results[name][part] for part in ("exit", "files"))]
        if changed and options.same_digests:
            print(f"{path} is left as it was: files have changed of " + ", ".join(changed))
            return 1
        if options.cases:  # the others stay
            results = dict(kept, **results)
        head = {"compute_units": device["compute_units"], "device": kind_of(device), "host": host_kind(options.leyden)}
        write_golden(path, head, results)
        failed = collections.Counter(result["exit"] for result in results.values() if result["exit"] != 0)
        print(f"{path}: {len(results)} cases, " + (", ".join(f"{n} of them with exit code {code}" for code, n in failed.items()) or "all done"))
    return 0


def compare(options, folder):
    same = True
    cases = chosen_cases(options, False)
    options.leyden = options.old
    for selector in selectors(options, folder):
        old = Runner(options.old, selector, f"{folder.path}/{selector}/old", folder.cache + "/old")
        new = Runner(options.new, selector, f"{folder.path}/{selector}/new", folder.cache + "/new")
        device, other = old.facts(), new.facts()
        if kind_of(device) != kind_of(other):
            raise SystemExit(f"{selector} is {kind_of(device)} to one command and {kind_of(other)} to the other")
        differing = compare_results(run_all(old, cases, options.jobs), run_all(new, cases, options.jobs), ())
        print(f"{device['name']} ({device['path']}): {len(cases)} cases, {len(differing)} of them differ")
        print_differences(differing, options.show)
        same = same and not differing
    return 0 if same else 1


# ---- Its own test -------------------------------------------------------------------------------------------------------------

# A command that runs the real one and then changes something. FAULT is Python that works on `folder`, where the output is.
WRAPPER = """#!{python}
import json, re, subprocess, sys
code = subprocess.run([{leyden!r}] + sys.argv[1:]).returncode
def edit(path, change):
    with open(path) as file: text = file.read()
    with open(path, "w") as file: file.write(change(text))
def edit_report(change):
    with open("report.json") as file: report = json.load(file)
    change(report)
    with open("report.json", "w") as file: json.dump(report, file)
if "-o" in sys.argv and "first.dx" not in sys.argv:
    {fault}
    pass
sys.exit(code)
"""

# What is planted, the case, and what must be said; None: nothing, it is allowed.
FAULTS = (
    ('edit("out.dx", lambda t: re.sub(r"(?m)^(-?\\d\\.\\d{5})(\\d)", lambda m: m[1] + str((int(m[2]) + 1) % 10), t, count=1))',
     "dcs/row", "its values changed"),
    ('edit("out.dx", lambda t: t.replace("r_min 0.05", "r_min 0.06"))', "dcs/row", "its header changed"),
    ('open("out.raw", "r+b").write(b"\\1")', "boundary/smallest", "its values changed"),
    ('edit_report(lambda r: r["accuracy"].update(max_error=r["accuracy"]["max_error"] + 1e-20))', "dcs/row", "accuracy.max_error is"),
    ('edit_report(lambda r: r["devices"][0].update(variant="other"))', "dcs/row", "devices.0.variant is"),
    ('edit_report(lambda r: r["devices"][0].pop("kernel_s"))', "dcs/row", "the report has no devices.0.kernel_s any more"),
    ('edit_report(lambda r: r["slabs"][0].update(count=1))', "dcs/column", "slabs is"),
    ('code = 5', "dcs/no-such-variant", "exit code 5, was 1"),
    ('code = 5', "dcs/row", "exit code 5, was 0"),
    ('edit_report(lambda r: r.update(news=[1, 2]))', "dcs/row", None),
    ('edit_report(lambda r: r["devices"][0].update(kernel_s=1e9))', "dcs/row", None),
    ('edit_report(lambda r: r["phases"].pop("kernels"))', "dcs/row", None),
    ('edit_report(lambda r: r["phases"]["kernels"].update(off_by_more_than_2=not r["phases"]["kernels"]["off_by_more_than_2"]))', "dcs/row", None),
    ('edit("out.dx", lambda t: t.replace("leyden 0", "leyden 7"))', "dcs/row", None),
    ('pass', "boundary/smallest", None))


def own_run(options, arguments, cache):
    command = [sys.executable, os.path.abspath(__file__)] + arguments + ["--device", options.device, "--jobs", "1"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=dict(os.environ, LEYDEN_CACHE_DIR=cache))
    return done.returncode, done.stdout


def is_found(options, folder, fault, case, said):
    wrapper = f"{folder.path}/wrapper"
    with open(wrapper, "w") as file:
        file.write(WRAPPER.format(python=sys.executable, leyden=os.path.abspath(options.leyden), fault=fault))
    os.chmod(wrapper, 0o755)
    for trial in range(TRIALS):  # again as in again(): two commands may have measured the machine while it was not equally busy
        cache = folder.cache if trial == 0 else f"{folder.path}/cache-again{trial}"
        code, output = own_run(options, ["compare", options.leyden, wrapper, "--cases", case, "--show"], cache)
        right = (code, said is None) == (0, True) or (code == 1 and said is not None and f"{case}: {said}" in output)
        if right:
            break
    if not right:
        print(f"planted: {fault}\nexpected: {said}, found, with exit code {code}:\n{output}")
    return right


def check_files(options, folder):
    """A kept file is found again, one with a changed digest is told, and none at all is no success."""
    place = f"{folder.path}/golden"
    arguments = ["--leyden", options.leyden, "--golden", place, "--cases", "dcs/row"]
    steps = [("check", SKIPPED_CODE, "skipped: no golden results"), ("make", 0, "1 cases"), ("check", 0, "1 cases, 0 of them differ")]
    for command, expected, said in steps:
        code, output = own_run(options, [command] + arguments, folder.cache)
        if code != expected or said not in output:
            print(f"{command}: exit code {code}, not {expected} with '{said}':\n{output}")
            return False
    (name,) = os.listdir(place)
    with open(f"{place}/{name}") as file:
        text = file.read()
    with open(f"{place}/{name}", "w") as file:
        file.write(re.sub(r'("values": ")(.)', lambda found: found[1] + ("1" if found[2] == "0" else "0"), text))
    code, output = own_run(options, ["check"] + arguments, folder.cache)
    kept = own_run(options, ["make", "--same-digests"] + arguments, folder.cache)[0]
    if code != 1 or "dcs/row: its values changed" not in output or kept != 1:
        print(f"a changed file is not noticed: exit codes {code}, {kept}\n{output}")
        return False
    return True


def self_test(options, folder):
    os.environ.update(WITHOUT_LLVMPIPE)
    found = devices_found(options.leyden, folder.cache)
    if not found:
        del os.environ["RUSTICL_ENABLE"]
        found = devices_found(options.leyden, folder.cache)
    if not found:
        print("skipped: no device")
        return SKIPPED_CODE
    options.device = options.device or found[0]
    right = [is_found(options, folder, *fault) for fault in FAULTS] + [check_files(options, folder)]
    print(f"{sum(right)} of {len(right)} planted changes are judged rightly")
    return 0 if all(right) else 1


# ---- Command line ---------------------------------------------------------------------------------------------------------------

Folder = collections.namedtuple("Folder", "path cache")


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, usage=argparse.SUPPRESS)
    parser.add_argument("command", nargs="?", choices=("check", "make", "compare"))
    parser.add_argument("commands", nargs="*", metavar="OLD NEW")
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("--leyden", default=os.path.join(os.environ.get("BUILD", "build"), "leyden"))
    parser.add_argument("--golden", default=HERE + "/data/golden")
    parser.add_argument("--device")
    parser.add_argument("--cases")
    parser.add_argument("--keep")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    for flag in ("--all", "--show", "--same-digests"):
        parser.add_argument(flag, action="store_true")
    options = parser.parse_args()
    if (options.command is None) != options.self_test or len(options.commands) != (2 if options.command == "compare" else 0):
        parser.error("check, make, compare OLD NEW, or --self-test")
    if options.command == "compare":
        options.old, options.new = options.commands
    return options


def main():
    options = parse()
    path = tempfile.mkdtemp(prefix="golden-")
    cache = os.path.abspath(os.environ.get("LEYDEN_CACHE_DIR") or path + "/cache")
    folder = Folder(options.keep or path, cache)
    try:
        if options.self_test:
            return self_test(options, folder)
        return {"check": check, "make": make, "compare": compare}[options.command](options, folder)
    finally:
        shutil.rmtree(path)


if __name__ == "__main__":
    sys.exit(main())
