#!/usr/bin/env python3
"""What test_bench_outputs.c asks of the files that `leyden bench` writes, in the current folder.

bench_outputs.py schema SCHEMA   is a.json what the schema says, and does the schema refuse what is wrong?
bench_outputs.py clpeak          is the limit of a.json no lower than what clpeak makes of the same device?
bench_outputs.py files SCHEMA    are f.json, f.csv and f.html a report of files, each with its bytes and its part of the plain rate?
bench_outputs.py csv             is a.csv a table of that run, and a.html a page without a chart of one bar?
bench_outputs.py curve SCHEMA    are c.json and c.csv a report of ever larger boxes, with every run of each?
bench_outputs.py gains SCHEMA    are g.json and g.html a report of what two devices gain together, with every job?
bench_outputs.py screen SCHEMA   is r.json the screen of a small box, right in all rows and without a score, and r.html its page?
bench_outputs.py usual SCHEMA    is u.json that of the usual problem, with the score that its rows have?
bench_outputs.py wrong SCHEMA    are w.json and w.html of a device whose direct sums are wrong, without a score?
bench_outputs.py results SCHEMA  are the reports beside it in results/ what the schema says, of the usual problem, with their scores?
bench_outputs.py make            writes b.json, a report of two devices with every chart, whose names mean something to HTML; and
                                 s1.json to s3.json, screens of a device, a faster one, and one that is wrong; s4.json, the first
                                 one again, later that day
bench_outputs.py score           have s1.html and sides.html the scores and times that are recomputed of s1.json to s3.json, and do
                                 s1.md and sides.md show them?
bench_outputs.py page            is b.html a whole page of it, with nothing from outside? Drawn by a browser, where there is one,
                                 has it every chart, and the tables and sentences of b.md?
bench_outputs.py browser         draws b.html, dark and light: is it as wide as a phone or a screen, and no wider? Are the
                                 texts of charts whole, and none upon another? It stays in shot-WIDTH-SCHEME.png
Exit code 77: something is not installed.
"""

import csv
import html
import html.parser
import json
import math
import os
import re
import shutil
import struct
import subprocess
import sys
import xml.dom.minidom


def read_schema(path):
    try:
        import jsonschema
    except ImportError:
        sys.exit(77)
    with open(path, encoding="utf-8") as file:
        return jsonschema.Draft7Validator(json.load(file))


def read_report(name, check):
    with open(name, encoding="utf-8") as file:
        report = json.load(file)
    for error in check.iter_errors(report):
        sys.exit(f"{list(error.path)}: {error.message}")
    return report


def schema(path):
    check = read_schema(path)
    check.check_schema(check.schema)
    report = read_report("a.json", check)
    row = report["tables"][0]["devices"][0]["rows"][0]
    assert len(row["runs_s"]) == row["timed"] == 3 and sorted(row["runs_s"])[1] == row["median_s"], row
    spread, row["spread"] = row["spread"], "none"
    assert list(check.iter_errors(report)), "a text in place of a number passes"
    row["spread"] = spread
    assert not list(check.iter_errors(report))
    del row["timed"]
    assert list(check.iter_errors(report)), "a row without its count passes"


def clpeak():
    """clpeak's kernels are slower on some devices, and never much faster. A multiply-add is two operations."""
    if shutil.which("clpeak") is None:
        sys.exit(77)
    with open("a.json", encoding="utf-8") as file:
        device = json.load(file)["tables"][0]["devices"][0]
    said = subprocess.run(["clpeak", "--compute-sp"], capture_output=True, text=True, timeout=300, check=False).stdout
    _, found, of_device = said.partition(f"Device: {device['device']['name']}\n")
    if not found:
        sys.exit(77)
    rates = re.findall(r"float[0-9]* *: ([0-9.]+)", of_device.partition("Device: ")[0])
    best_per_s = 1e9 * max(map(float, rates)) / 2
    assert device["fma_per_s"] > 0.5 * best_per_s, (device["fma_per_s"], best_per_s)


def table_of_lines():
    with open("a.csv", encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file)
    assert row["variant"] == "tiled8" and row["timed"] == "3" and row["table"] == "dcs", row
    assert float(row["median_s"]) > 0 and float(row["spread"]) >= 0 and row["whole_s"] == "", row
    drawn = check_page("a")
    assert drawn is None or not any(attributes.get("role") == "img" for _, attributes in drawn.elements), "one bar"


def curve(path):
    check = read_schema(path)
    report = read_report("c.json", check)
    table = report["tables"][0]
    assert table["name"] == "curve" and [f["atoms"] for f in table["papers"]] == [26247, 167877, 1534539], table["papers"]
    sizes = table["devices"][0]["sizes"]
    assert [size["atoms"] for size in sizes] == [999, 1500], sizes
    for size in sizes:
        runs_s = size["runs_s"]
        assert size["timed"] == len(runs_s) == 3 and sorted(runs_s)[1] == size["median_s"] == size["whole_s"], size
        assert abs(size["spread"] - (max(runs_s) - min(runs_s)) / size["median_s"]) < 1e-12, size
    with open("c.csv", encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert [(line["variant"], line["atoms"], line["timed"]) for line in lines] == [("999 atoms", "999", "3"), ("1,500 atoms", "1500", "3")]
    assert all(float(line["median_s"]) > 0 and float(line["core_s"]) > 0 for line in lines), lines
    del sizes[0]["runs_s"]
    assert list(check.iter_errors(report)), "a box without its runs passes"


def files(path):
    check = read_schema(path)
    report = read_report("f.json", check)
    (table,) = report["tables"]
    (device,) = table["devices"]
    rows = {row["variant"]: row for row in device["rows"]}
    endings = (".pqr", ".atoms", ".dx", ".dx.gz", ".raw", ".mrc", ".ccp4", ".npy", ".dxbin", ".cube")
    names = {f"{what}{ending}" for what in ("write", "read") for ending in endings}
    plain = {"plain-write", "plain-read", "plain-write-synced", "plain-read-uncached"}
    assert set(rows) == names | plain, set(rows) ^ (names | plain)
    assert device["dims"] == [20, 30, 40] and device["atoms"] == 300, device
    for name, row in rows.items():
        if name == "plain-read-uncached" and row["status"] == "LEY_ERROR_NO_DEVICE":
            continue  # the file system is in memory
        runs_s = row["runs_s"]
        assert row["status"] == "LEY_OK" and row["timed"] == len(runs_s) == 3, row
        assert sorted(runs_s)[1] == row["median_s"] and row["spread"] > 0, row
        assert abs(row["evaluations_per_s"] * row["median_s"] / row["file_bytes"] - 1) < 1e-9, row
        same = rows["plain-read" if "read" in name else "plain-write"]
        assert abs(row["plain_share"] * same["evaluations_per_s"] / row["evaluations_per_s"] - 1) < 1e-9, row
        if name in names:
            assert row["accuracy"]["passed"] and row["accuracy"]["points"] >= 1500, row
    assert rows["write.mrc"]["file_bytes"] == 4 * 24000 + 1024 and rows["read.atoms"]["file_bytes"] == 32 + 40 * 300, rows
    assert rows["write.raw"]["file_bytes"] > 4 * 24000, rows
    with open("f.csv", encoding="utf-8", newline="") as file:
        lines = {line["variant"]: line for line in csv.DictReader(file)}
    assert float(lines["write.mrc"]["file_bytes"]) == 4 * 24000 + 1024 and float(lines["read.dx"]["plain_share"]) > 0, lines
    drawn = check_page("f")
    assert drawn is None or {"Billion bytes per second", "write.cube"} <= set(drawn.texts), drawn.texts
    rows["read.dx"]["file_bytes"] = -1
    assert list(check.iter_errors(report)), "a file of less than nothing passes"


# ---- A page --------------------------------------------------------------------------------------


def gains(path):
    report = read_report("g.json", read_schema(path))
    table = report["tables"][0]
    (gain,) = table["gains"]
    assert gain["name"] == "papers: data-parallel" and gain["devices"] == len(table["devices"]) == 2, gain
    assert gain["fastest"] in [d["device"]["name"] for d in table["devices"]] and gain["fastest_timed"] == 3, gain
    assert gain["devices_used"] in (1, 2) and gain["accuracy"]["passed"] and gain["accuracy"]["points"] > 0, gain
    assert gain["timed"] == len(gain["runs_s"]) == 3 and sorted(gain["runs_s"])[1] == gain["median_s"] > 0, gain
    assert abs(gain["gain"] * gain["median_s"] / gain["fastest_s"] - 1) < 1e-12, gain
    whole = [row["median_s"] for d in table["devices"] for row in d["rows"] if row["variant"] == "papers: atoms to map"]
    assert min(whole) / 20 < gain["fastest_s"] < 20 * min(whole), (gain, whole)
    papers = {f["row"]: f["value"] for f in table["papers"] if f["unit"] == "times"}
    assert papers == {"task-parallel": 1.27, "task- and data-parallel": 2.33}, papers
    drawn = check_page("g")
    assert drawn is None or "papers: data-parallel" in drawn.texts, drawn.texts


# ---- The screen ----------------------------------------------------------------------------------

ROWS = (("direct sum", "pairs/s"), ("within 12 A", "pairs/s"), ("map to 1e-4", "atoms/s"), ("Debye-Hueckel boundary", "pairs/s"),
        ("whole command", "s"))


def times_of(row, reference):
    return reference / row["value"] if row["unit"] == "s" else row["value"] / reference


def check_scores(report):
    """Times and scores of its screens are what the references and rows make; without a score where anything is not right."""
    reference = report["references"][0]
    assert reference["score"] == 1 or abs(reference["score"] - 1) < 1e-12, reference
    for one in report["references"]:
        rows = [{"unit": unit, "value": value} for (_, unit), value in zip(ROWS, one["values"])]
        score = math.prod(times_of(row, value) for row, value in zip(rows, reference["values"])) ** (1 / 5)
        assert abs(one["score"] / score - 1) < 1e-9, one
    for screen in report["screens"]:
        assert [(row["name"], row["unit"]) for row in screen["rows"]] == list(ROWS), screen["rows"]
        times = [times_of(row, value) if row["value"] and screen["problem"]["usual"] else None
                 for row, value in zip(screen["rows"], reference["values"])]
        for row, expected in zip(screen["rows"], times):
            assert (row["times"] is None) == (expected is None), row
            assert expected is None or abs(row["times"] / expected - 1) < 1e-9, (row, expected)
            assert (row["verdict"] == "right") == (row["value"] is not None), row
        if None in times:
            assert screen["score"] is None, screen
        else:
            assert abs(screen["score"] / math.prod(times) ** (1 / 5) - 1) < 1e-9, screen
    return report["screens"]


def screen(path):
    report = read_report("r.json", read_schema(path))
    (of,) = check_scores(report)
    assert report["level"] == "screen" and of["score"] is None and not of["problem"]["usual"], of
    for row in of["rows"]:
        assert row["verdict"] == "right" and row["value"] > 0 and row["timed"] >= 1 and 0 < row["relative_rms"] < 1e-4, row
        assert (row["share"] is None) == (row["unit"] == "s") == (row["share_of"] is None), row
    assert of["problem"]["map_atoms"] == 600 and of["rows"][2]["whole_s"] > 0, of
    assert [table["name"] for table in report["tables"]] == ["direct", "short-range", "map", "boundary"], report["tables"]
    assert not any(table["papers"] for table in report["tables"])
    check_page("r")


def usual(path):
    (of,) = check_scores(read_report("u.json", read_schema(path)))
    assert of["score"] > 0 and of["problem"]["usual"] and of["problem"]["map_atoms"] == 150000, of


def results(path):
    """Scores of a report are times of the references of its day."""
    folder, check = os.path.join(os.path.dirname(path), "results"), read_schema(path)
    for name in sorted(os.listdir(folder)):
        screens = check_scores(read_report(os.path.join(folder, name), check))
        assert screens and all(of["score"] > 0 for of in screens), name


def wrong(path):
    (of,) = check_scores(read_report("w.json", read_schema(path)))
    assert [row["verdict"] for row in of["rows"]][0] == "WRONG" and of["score"] is None, of
    drawn = check_page("w")
    assert drawn is None or {"WRONG", "No score: direct sum is WRONG."} <= set(drawn.texts), drawn.texts


def screen_of(index, values, **more):
    device = device_of(index, [])["device"]
    device.update({"platform": "P", "vendor": "V", "version": "1", "compute_units": 2, "clock_MHz": 1000})
    rows = [{"name": name, "unit": unit, "value": value, "times": 99, "timed": 5, "spread": 0.02, "share": 0.5, "share_of": "roots",
             "whole_s": None, "joules": {"direct sum": 200, "map to 1e-4": 12}.get(name), "relative_rms": 1e-6, "verdict": "right", "failure": None}
            for (name, unit), value in zip(ROWS, values)]
    of = {"device": device, "clock_MHz": 1980, "memory_clock_MHz": 2619, "power_limit_W": 700, "energy_counter": "NVML",
          "roots_per_s": 4e12, "fma_per_s": 3e13, "memory_bytes_per_s": 3e12, "doubt": None, "others": 0, "processors": 2,
          "problem": {"usual": True, "direct_points": 2097152, "direct_atoms": 8192, "map_points": 11852352, "map_atoms": 150000,
                      "boundary_points": 1572866, "boundary_atoms": 2048}, "rows": rows, "score": 99}
    of.update(more)
    return of


def report_of(screens, tables):
    return {"program": "leyden", "version": "1", "command": "bench", "date": "2026-11-24T00:00:00Z", "command_line": "leyden <bench>",
            "host": {"processor": "P & Q", "processors": 2, "system": "S"}, "took_s": 1, "left_out": "fft",
            "screens": screens, "tables": tables}


def write_report(name, report):
    with open(name, "w", encoding="utf-8") as file:
        json.dump(report, file)


def make_screens():
    """The second is twice as fast in all rows, and its map has a large spread; the third one's boundary is wrong."""
    values = (50e9, 8e9, 0.6e6, 10e9, 0.8)
    twice = screen_of(1, [2 * value for value in values[:4]] + [values[4] / 2])
    twice["rows"][2]["spread"] = 0.31
    off = screen_of(2, values)
    off["rows"][3].update({"value": None, "verdict": "WRONG", "share": None, "spread": None, "relative_rms": 0.5})
    for i, of in enumerate((screen_of(0, values), twice, off)):
        write_report(f"s{i + 1}.json", report_of([of], []))
    write_report("s4.json", {**report_of([screen_of(0, values)], []), "date": "2026-11-24T10:20:30Z"})


def reports_in(name):
    with open(name + ".html", encoding="utf-8") as file:
        return json.loads(re.search('<script type="application/json" id="reports">(.*?)</script>', file.read(), re.DOTALL)[1])


def three_digits(value):
    return f"{value:,.0f}" if value >= 99.95 else f"{value:#.3g}"


def score():
    one, three = reports_in("s1"), reports_in("sides")
    assert len(one) == 1 and len(three) == 3, (len(one), len(three))
    screens = [check_scores(report)[0] for report in three]
    assert check_scores(one[0])[0]["score"] == next(of["score"] for of in screens if of["device"]["index"] == 0)
    by_index = sorted(screens, key=lambda of: of["device"]["index"])
    assert abs(by_index[1]["score"] / by_index[0]["score"] - 2) < 1e-9 and by_index[2]["score"] is None, by_index
    sides = read_markdown("sides.md")[0][0]
    shown = {row[0]: row[1] for row in sides[1:]}
    assert len(sides) == 1 + 3 + len(three[0]["references"]), sides
    for of, report in zip(screens, three):
        cores = f", {report['host']['processors']} cores" if of["device"]["class"] == "cpu" else ""
        name = of["device"]["name"] + cores + ", opencl, 2026-11-24"
        assert shown[name] == (three_digits(of["score"]) if of["score"] else "-"), (shown, of["score"])
    assert any("WRONG" in row for row in sides) and any("1.20 !" in row for row in sides), sides
    with open("s1.md", encoding="utf-8") as file:
        text = file.read()
    said = three_digits(by_index[0]["score"])
    assert f"Score {said}: the geometric mean of the five rows' times" in text and f"leyden 1 score {said} (times " in text, text
    for row in by_index[0]["rows"]:
        assert f"| {three_digits(row['times'])} |" in text, (row, text)
    if find_browser() is None:
        return
    drawn = draw("sides")
    (picture,) = [attributes["aria-label"] for _, attributes in drawn.elements if attributes.get("role") == "img"]
    order = [by_index[1], by_index[0]]
    places = [picture.index(f"{of['device']['name']}, opencl, 1 {significant(of['score'])}") for of in order]
    assert picture.startswith("Scores: ") and places == sorted(places), picture
    assert drawn.tables == read_markdown("sides.md")[0], drawn.tables
    assert any(text.startswith("! The slowest launch took over 20 % longer") for text in drawn.texts), drawn.texts
    assert {"No score: Debye-Hueckel boundary is WRONG.", three_digits(by_index[1]["score"])} <= set(drawn.texts), drawn.texts
    assert [tag for tag, attributes in drawn.elements if tag == "details"] == ["details"] * 3
    assert not any(tag == "details" and "open" in attributes for tag, attributes in drawn.elements), "details are not folded"
    assert "Clock: 1980 MHz, of its memory 2619 MHz, power limit 700 W, 582 W in direct sums; energy: 12.0 J a map (NVML)." in drawn.texts, drawn.texts


def significant(value):
    return f"{value:,.0f}" if value >= 999.5 else f"{value:.3g}"


def row_of(name, **more):
    row = {"variant": name, "evaluations_per_s": 2e9, "timed": 5, "wanted": 5, "median_s": 0.5, "spread": 0.02, "runs_s": [0.5] * 5,
           "root_share": 0.5, "fma_share": 0.2, "accuracy": {"points": 500, "relative_rms": 1e-6, "passed": True},
           "default": True, "status": "LEY_OK", "failure": None}
    row.update(more)
    return row


def device_of(index, rows, **more):
    device = {"device": {"index": index, "path": "opencl", "name": f'</script><b>&"{index}\u2028"', "driver": "1", "class": "cpu"},
              "interpreter": False, "roots_per_s": 1e10, "fma_per_s": 5e10,
              "limits": {"memory_bytes_per_s": 2e10, "doubt": "limit not plausible: <i>"},
              "load": {"before": 1, "after": 1, "others": 0.5, "processors": 2}, "dims": [9, 9, 9], "points": 729, "atoms": 100,
              "rows": rows, "papers_scale": 2.0, "status": "LEY_OK", "failure": None}
    device.update(more)
    return device


def table_of(name, kernel, rows, **more):
    figures = [{"row": None, "hardware": "Cell & <co>", "value": 1.07, "unit": "s", "paper": "A paper", "atoms": None}]
    if name == "curve":
        figures = [{"row": None, "hardware": "Card", "value": value, "unit": unit, "paper": "A paper", "atoms": atoms}
                   for value, unit, atoms in ((50, "%", 8000), (77, "%", 64000), (26.4, "times", 64000), (9, "%", 1000000))]
    return {"name": name, "title": name + " <title>", "kernel": kernel, "math": "auto", "papers": figures,
            "devices": [device_of(i, rows, **more) for i in range(2)]}


def make():
    names = ["atoms into bins", "tables to the device", "lattice cutoff", "short range"]  # the last two lie side by side
    steps = [row_of(f"papers: {name}", step_s=0.01 * i + 0.01, multiply_adds=adds, bytes=1e6, papers_s=1)
             for i, (name, adds) in enumerate(zip(names, (1e6, 1e7, 9e8, 1.2e9)))]
    points = [row_of(f"{tolerance:g}", tolerance=tolerance, whole_s=whole_s,
                     accuracy={"points": 500, "relative_rms": tolerance or 1e-6, "passed": True})
              for tolerance, whole_s in ((1e-2, 0.1), (1e-4, 0.3), (0, 3))]
    sizes = [{"dims": [n, n, n], "atoms": n ** 3, "kernel_s": 1e-6 * n ** 3, "whole_s": 0.02 + 1e-6 * n ** 3, "core_s": 1e-5 * n ** 3,
              "core_scaled": n == 40, "timed": 4, "spread": 0.125, "status": "LEY_OK", "accuracy": {"relative_rms": 1e-3, "passed": n < 99}}
             for n in (9, 20, 40, 50, 100)]
    variants = [row_of("simple", default=False), row_of("vector16", papers_s=1), row_of("off", accuracy={"points": 5, "passed": False})]
    slow = screen_of(1, (5e9, 8e8, 0.6e5, 1e9, 8))
    slow["rows"][0]["spread"] = 0.31
    write_report("b.json", report_of([screen_of(0, (50e9, 8e9, 0.6e6, 10e9, 0.8)), slow],
                                     [table_of("dcs", "dcs", variants), table_of("msm", "msm", steps),
                                      table_of("frontier", "frontier", points), table_of("curve", "msm", [], sizes=sizes)]))
    make_screens()


def run_browser(browser, dark, *words):
    home = os.path.abspath("home")
    os.makedirs(home, exist_ok=True)
    scheme = "--blink-settings=preferredColorScheme=" + ("0" if dark else "1")
    return subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", scheme, *words],
                          capture_output=True, text=True, timeout=120, env=dict(os.environ, HOME=home), check=False).stdout


def find_browser():
    return shutil.which("chromium") or shutil.which("google-chrome")


class Drawn(html.parser.HTMLParser):
    """What a browser has made of a page: the cells of its tables, its texts, its elements with their attributes."""

    def __init__(self, text):
        super().__init__()
        self.tables, self.texts, self.elements, self.inside = [], [], [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self.inside = tag
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("th", "td"):
            self.tables[-1][-1].append("")

    def handle_endtag(self, tag):
        self.inside = ""

    def handle_data(self, data):
        if self.inside not in ("script", "style"):
            self.texts.append(data)
        if self.inside in ("th", "td"):
            self.tables[-1][-1][-1] += data.replace("\u00a0", " ")


def read_markdown(name):
    """The cells of its tables, and the sentences about devices."""
    def plain(text):
        return re.sub(r"\\([|*~])", r"\1", text.strip()).replace("&lt;", "<")

    tables, facts, before = [], [], ""
    with open(name, encoding="utf-8") as file:
        for line in file.read().split("\n"):
            if line.startswith("| "):
                if not before.startswith("|"):
                    tables.append([])
                tables[-1].append([plain(cell) for cell in re.split(r"(?<!\\)\|", line)[1:-1]])
            elif line.endswith(".") and not line.startswith(("Figures are medians", "Papers: ")):
                facts.append(plain(line))
            before = line
    return tables, facts


def draw(name):
    return Drawn(run_browser(find_browser(), False, "--dump-dom", "file://" + os.path.abspath(name + ".html")))


def check_page(name):
    """The page of a report holds the report, and shows the tables that --markdown writes. None: there is no browser."""
    with open(name + ".html", encoding="utf-8") as file:
        text = file.read()
    with open(name + ".json", encoding="utf-8") as file:
        report = file.read()
    xml.dom.minidom.parseString(text.replace("<!DOCTYPE html>", ""))
    data = re.search('<script type="application/json" id="reports">(.*?)</script>', text, re.DOTALL)[1]
    (one,), other = (json.loads(words, parse_float=lambda digits: f"{float(digits):.15g}") for words in (data, report))
    if name == "b":  # whose scores and references are made when it is read
        check_scores(json.loads(data)[0])
        one, other = one["tables"], other["tables"]
    assert one == other and not re.search("[<>&]", data)
    assert not re.search(r"\b(src|href)=|url\(|@import", text), "something from outside"
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg')", text.replace(data, "")), "something from outside"
    for said in ("default-src 'none'", "<noscript>", "prefers-color-scheme: dark", "@media print", "width=device-width"):
        assert said in text, said
    if find_browser() is None:
        return None
    drawn = draw(name)
    tables, facts = read_markdown(name + ".md")
    assert tables and drawn.tables == tables, (drawn.tables, tables)
    assert set(facts) <= set(drawn.texts), set(facts) - set(drawn.texts)
    return drawn


def page():
    drawn = check_page("b")
    if drawn is None:
        return
    pictures = [attributes["aria-label"] for _, attributes in drawn.elements if attributes.get("role") == "img"]
    begins = ["Scores: ", "Billion pairs per second", "Seconds of each step", "Roofline", "Each tolerance a point", "Seconds by the number of atoms"]
    assert len(pictures) == len(begins) and all(map(str.startswith, pictures, begins)), pictures
    assert [attributes for tag, attributes in drawn.elements if tag == "th" and "scope" not in attributes] == []
    # Of the peak, 8.62; a larger box is wrong.
    for said in ("WRONG", "Cell & <co>", "limit not plausible: <i>", "~1 s", "A paper", "Left out, as the time was over: fft.",
                 "33.1 %", "~88.4 %", "~7.62 times", "12.5", "100",
                 "</script><b>&\"0\u2028\"", "50.0 billion pairs/s", "50 % of roots", "31.0 !", "score "):
        assert said in drawn.texts, said
    for said in ("one core as fast: ", "direct as fast: "):
        assert any(text.startswith(said) for text in drawn.texts), said
    for unsaid in ("NaN", "Infinity", "undefined", "null"):
        assert not any(unsaid in text for text in drawn.texts), unsaid


# How wide the page is and its window, its background, and texts of charts that are cut off or lie
# upon another one.
PROBE = """<script>
function inside(t) {
  const a = t.getBoundingClientRect(), b = t.closest('svg, figure').getBoundingClientRect();
  return a.left >= b.left - 1 && a.right <= b.right + 1 && a.top >= b.top - 1 && a.bottom <= b.bottom + 1;
}
function apart(s, t) {
  const a = s.getBoundingClientRect(), b = t.getBoundingClientRect();
  return a.right <= b.left + 1 || b.right <= a.left + 1 || a.bottom <= b.top + 3 || b.bottom <= a.top + 3;
}
let wrong = [];
for (const chart of document.querySelectorAll('svg, .bars')) {
  const texts = [...chart.querySelectorAll('text, b, u')];
  texts.forEach((t, i) => {
    if (!inside(t)) wrong.push('cut off: ' + t.textContent);
    for (const s of texts.slice(0, i)) if (!apart(s, t)) wrong.push(s.textContent + ' upon ' + t.textContent);
  });
}
parent.document.title = [document.documentElement.scrollWidth, window.innerWidth,
                         getComputedStyle(document.body).backgroundColor, wrong.join('; ')].join('|');
</script></body>"""


def frame(page, width):
    """A window as narrow as a phone's, which browsers do not have on screens."""
    text = html.escape(page, quote=True)
    return (f'<!DOCTYPE html><html><head><meta name="color-scheme" content="light dark"/></head><body style="margin:0">'
            f'<iframe style="border:0;width:{width}px;height:100vh" srcdoc="{text}"></iframe></body></html>')


def browser():
    program = find_browser()
    if program is None:
        sys.exit(77)
    with open("b.html", encoding="utf-8") as file:
        page_text = file.read().replace("</body>", PROBE)
    address = "file://" + os.path.abspath("c.html")
    for width in (390, 1200):
        with open("c.html", "w", encoding="utf-8") as file:
            file.write(frame(page_text, width))
        for scheme, paper in (("light", "rgb(255, 255, 255)"), ("dark", "rgb(22, 23, 26)")):
            size = f"--window-size={max(width, 500)},900"
            said = re.search("<title>([0-9]+)[|]([0-9]+)[|]([^|]*)[|]([^<]*)</title>",
                             run_browser(program, scheme == "dark", size, "--dump-dom", address))
            assert said, (width, scheme)
            assert int(said[1]) <= int(said[2]) == width and said[3] == paper and said[4] == "", (width, scheme, said[0])
            shot = os.path.abspath(f"shot-{width}-{scheme}.png")
            run_browser(program, scheme == "dark", size, "--screenshot=" + shot, address)
            with open(shot, "rb") as file:
                data = file.read()
            assert data[1:4] == b"PNG" and struct.unpack(">I", data[16:20])[0] == max(width, 500) and len(data) > 10000, len(data)
    run_browser(program, False, "--no-pdf-header-footer", "--print-to-pdf=" + os.path.abspath("b.pdf"), "file://" + os.path.abspath("b.html"))
    with open("b.pdf", "rb") as file:
        assert file.read(5) == b"%PDF-"


if __name__ == "__main__":
    {"screen": screen, "usual": usual, "wrong": wrong, "results": results, "score": score, "schema": schema, "clpeak": clpeak,
     "csv": table_of_lines, "curve": curve, "gains": gains, "files": files, "make": make, "page": page,
     "browser": browser}[sys.argv[1]](*sys.argv[2:])
    print("right")
