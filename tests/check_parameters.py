#!/usr/bin/python3
"""Do the documents, the schema and the command have the same options?

    check_parameters.py BUILD              docs/options.schema.json is what `make pages` makes, reports have the options that it has,
                                           and the documents name no other ones
    check_parameters.py --self-test BUILD  plants one mistake of each kind as well; each must be found
"""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

KEPT = "docs/options.schema.json"
OTHERS = {"--help", "--help-all", "--version", "--verbose"}
# Of APBS, of launchers, and of programs of tests/.
OF_OTHERS = {("docs/apbs.md", "--output-file"),
             ("docs/clusters.md", "--bind-to"), ("docs/clusters.md", "--gpus-per-task"),
             ("docs/troubleshooting.md", "--radii"),
             *(("docs/testing.md", word) for word in ("--seconds", "--rounds", "--only"))}
# Pages of `python3 -m leyden`, which has options of its own: --start is made with its fellows.
OF_PYTHON = {"docs/clusters.md", "docs/fitting.md", "docs/mmgbsa.md", "docs/python.md", "docs/series.md"}


def fits(schema, value):
    """As far as these schemas go."""
    if "anyOf" in schema:
        return any(fits(one, value) for one in schema["anyOf"])
    if "enum" in schema:
        return value in schema["enum"]
    kind = schema["type"]
    if kind == "array":
        return isinstance(value, list) and schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)) and \
            all(fits(schema["items"], one) for one in value)
    if kind in ("null", "boolean", "string"):
        return {"null": value is None, "boolean": isinstance(value, bool), "string": isinstance(value, str)}[kind]
    is_number = isinstance(value, int if kind == "integer" else (int, float)) and not isinstance(value, bool)
    return is_number and schema.get("minimum", value) <= value <= schema.get("maximum", value) and \
        ("exclusiveMinimum" not in schema or value > schema["exclusiveMinimum"])


def wrong_in_report(schema, report):
    """What of a report's options is not as the schema says."""
    known, options = schema["definitions"][report["command"]]["properties"], report["options"]
    return [f"{report['command']}: {name} is in one of report and schema only" for name in known.keys() ^ options.keys()] + \
        [f"{report['command']}: {name} may not be {options[name]!r}" for name in known.keys() & options.keys()
         if not fits(known[name], options[name])]


def reports(leyden):
    """Reports of a map, a boundary and a picture, by the host alone."""
    runs = [["map", "a.pqr", "-o", "a.raw", "--dims", "3,4,5", "--spacing", "1,2,3", "--gcent", "mol", "--tol", "1e-3"],
            ["map", "a.pqr", "-o", "b.raw", "--method", "cutoff", "--pair", "yukawa", "--kappa", "0.1", "--spacing", "4",
             "--periodic", "xyz", "--cell", "20,20,20"],
            ["boundary", "a.pqr", "-o", "a.csv", "--dims", "3,3,3", "--glen", "40,40,40", "--ion", "0.1,1,2", "--ion", "0.1,-1,2"],
            ["compare", "a.raw", "a.raw"]]
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "a.pqr"), "w", encoding="utf-8") as file:
            file.write("ATOM 1 N ION 1 1.0 2.0 3.0 1.0 1.5\nATOM 2 N ION 1 4.0 2.0 3.0 -1.0 1.5\n")
        for run in runs:
            device = [] if run[0] == "compare" else ["--device", "host"]
            done = subprocess.run([leyden, *run, *device, "--json", "r.json", "-q"], cwd=folder, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                sys.exit(f"{' '.join(run)}: exit code {done.returncode}: {done.stderr}")
            with open(os.path.join(folder, "r.json"), encoding="utf-8") as file:
                yield json.load(file)


def known_words(schema):
    words = set(OTHERS)
    for command in schema["definitions"].values():
        for name, option in command["properties"].items():
            words |= {f"--{name}", *re.findall(r"; also (--[a-z-]+)", option["description"])}
    return words


def words_of_python():
    with open("host/law/energy_options.c", encoding="utf-8") as file:  # whose table makes options of `energy`
        rows = re.findall(r'\.name = "(\w+)"(?:, \.alias = "(\w+)")?', file.read())
    found = {"--start"} | {f"--{name.replace('_', '-')}" for row in rows for name in row if name}
    for path in ["python/src/leyden/__main__.py", *glob.glob("python/src/leyden/_*command.py")]:
        with open(path, encoding="utf-8") as file:
            found |= set(re.findall(r'"(--[a-z-]+)"', file.read()))
    return found


def wrong_in_document(words, path, text):
    """Options that it names of the command, in code, and that there are not."""
    found, words = set(), words | (words_of_python() if path in OF_PYTHON else set())
    for match in re.finditer(r"`(leyden [^`]*|--[^`]*)`|^(leyden [^\n]*)", text, re.MULTILINE):
        span = (match.group(1) or match.group(2)).split("#")[0].split(" -- ")[0]
        found |= set(re.findall(r"(?:^|[\s(])(--[a-z][a-z0-9-]*)", span)) - words
    return sorted(f"{path}: there is no option {word}" for word in found if (path, word) not in OF_OTHERS)


def main():
    build = sys.argv[-1]
    if not os.path.exists(os.path.join(build, "pages", "options.schema.json")):
        sys.exit("make pages first")
    with open(KEPT, encoding="utf-8") as file:
        kept = file.read()
    with open(os.path.join(build, "pages", "options.schema.json"), encoding="utf-8") as file:
        made = file.read()
    schema = json.loads(made)
    found = [] if kept == made else [f"{KEPT} is not what `make pages` makes: copy {build}/pages/options.schema.json"]
    said = list(reports(os.path.abspath(os.path.join(build, "leyden"))))
    for report in said:
        found += wrong_in_report(schema, report)
    words = known_words(schema)
    for path in ["README.md", *sorted(glob.glob("docs/*.md"))]:
        with open(path, encoding="utf-8") as file:
            found += wrong_in_document(words, path, file.read())
    print("\n".join(found) or "documents, schema and command agree")
    if sys.argv[1] == "--self-test":
        plants = [{"gcent": "mole"}, {"dims": [0, 1, 1]}, {"dims": [1, 1]}, {"nothing": 1}, {"units": "mV"}, {"quiet": 1}]
        missed = [plant for plant in plants if not wrong_in_report(schema, {**said[0], "options": {**said[0]["options"], **plant}})]
        missed += [text for text in ("`--slab-planes 3`", "leyden map a.pqr --dime 3,3,3") if not wrong_in_document(words, "a", text)]
        print(f"planted, and not found: {missed}" if missed else "all planted mistakes are found")
        found += missed
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
