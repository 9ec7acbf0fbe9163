#!/usr/bin/env python3
"""Comments and prose end by column 100, code, with comments that begin behind it, by column 120.

    check_widths.py [ROOT]        checks the files of ROOT, by default of the tree it belongs to
    check_widths.py --self-test   plants one fault of each kind, and what must pass, and looks

Lines with an address and, in Markdown, tables and blocks of code may be longer. Prints FILE:LINE
of each line that is too long; exit code 1 when there is one.
"""
import os
import re
import sys

PROSE, CODE = 100, 120
FOLDERS = ("cl", "docs", "host", "kernels_cuda", "platform", "python", "tests", "tools")
LANGUAGES = (".c", ".h", ".cl", ".cu", ".cuh")
SCRIPTS = (".sh", ".py", "Makefile", "packages.txt", "run", ".supp")
SKIPPED = ("tests/data", "tests/corpus", "docs/runs", "docs/results.md", "tests/golden")


def too_long_in_c(lines):
    inside = begins_line = False
    for number, line in enumerate(lines, 1):
        text = line.strip() if inside else re.sub(r'"(\\.|[^"\\])*"', '""', line.strip())
        if not inside:
            begins_line = text.startswith(("/*", "//"))
        last_open, last_close = text.rfind("/*"), text.rfind("*/")
        if last_open >= 0 or last_close >= 0:
            inside = last_open > last_close
        if len(line) > (PROSE if begins_line else CODE):
            yield number


def too_long_in_script(lines):
    return (n for n, line in enumerate(lines, 1) if line.lstrip().startswith("#") and len(line) > PROSE)


def too_long_in_markdown(lines):
    is_code = False
    for number, line in enumerate(lines, 1):
        if line.lstrip().startswith("```"):
            is_code = not is_code
        elif not is_code and not line.startswith("|") and len(line) > PROSE:
            yield number


def too_long(path, lines):
    if path.endswith(".md"):
        found = too_long_in_markdown(lines)
    elif path.endswith(LANGUAGES):
        found = too_long_in_c(lines)
    else:
        found = too_long_in_script(lines)
    return [n for n in found if "://" not in lines[n - 1]]


def files(root):
    for name in sorted(os.listdir(root)):
        if name.endswith(".md") or name in ("Makefile", "packages.txt"):
            yield name
    yield ".ci/run"
    for top in FOLDERS:
        for folder, folders, names in os.walk(os.path.join(root, top)):
            relative = os.path.relpath(folder, root)
            folders[:] = sorted(f for f in folders if not f"{relative}/{f}".startswith(SKIPPED))
            for name in sorted(names):
                path = f"{relative}/{name}"
                if name.endswith(LANGUAGES + SCRIPTS + (".md",)) and not path.startswith(SKIPPED):
                    yield path


def check(root):
    wrong = 0
    for path in files(root):
        with open(os.path.join(root, path), encoding="utf-8") as file:
            lines = file.read().split("\n")
        for number in too_long(path, lines):
            print(f"{path}:{number}: {len(lines[number - 1])} columns: comments and prose have {PROSE}, code {CODE}")
            wrong = 1
    return wrong


def self_test():
    over, wide = "x" * (PROSE + 1), "x" * (CODE + 1)
    cases = [  # file, its lines, the lines that are too long
        ("a.c", ["/* " + over, " * " + over, " */", over, wide], [1, 2, 5]),
        ("a.cl", ["int a; /* " + "x" * 95 + " */", "/*", over, "*/", over], [3]),
        ("a.c", ["int a; /* b", " " * 50 + "x" * 60 + " */", 'f("/*");', over, "/* */", over], []),
        ("a.cu", ["    // " + over, "/* https://" + over + " */"], [1]),
        ("a.h", ["/*" + "\u2212" * (PROSE - 2), "/*" + "\u2212" * (PROSE - 1)], [2]),
        ("a.md", [over, "| " + over, "```", over, "```", over, "see https://" + over], [1, 6]),
        ("a.sh", ["# " + over, wide], [1]),
        ("Makefile", ["\t# " + over, over], [1]),
    ]
    wrong = 0
    for path, lines, expected in cases:
        if (found := too_long(path, lines)) != expected:
            print(f"planted in {path}: lines {expected} are too long, found {found}")
            wrong = 1
    return wrong


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        sys.exit(self_test())
    sys.exit(check(sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
