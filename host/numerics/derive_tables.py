#!/usr/bin/env python3
"""Derives host/numerics/tables.h in exact fractions and writes it.

    derive_tables.py            writes tables.h beside this file
    derive_tables.py --check    exit code 1 when tables.h is not what this would write

Nobody needs to run it who does not change the mathematics; tests/test_numerics.c derives all of it
again, otherwise."""
import math
import sys
import textwrap
from fractions import Fraction
from pathlib import Path

HALF = Fraction(1, 2)
TAYLOR_DEGREE = 8
NODAL_DEGREES = (3, 5, 7, 9)
BSPLINE_POINTS = (4, 6, 8)
MOST_POINTS = 10
GAUSS_POINTS = 32
GAUSS_BITS = 200
LINE = 100


# ---- Polynomials: lists of coefficients, that of x^0 first ---------------------------------------

def add(p, q):
    longer = max(len(p), len(q))
    p, q = p + [Fraction(0)] * (longer - len(p)), q + [Fraction(0)] * (longer - len(q))
    return [a + b for a, b in zip(p, q)]


def multiply(p, q):
    product = [Fraction(0)] * (len(p) + len(q) - 1)
    for i, a in enumerate(p):
        for j, b in enumerate(q):
            product[i + j] += a * b
    return product


def value(p, x):
    result = Fraction(0)
    for a in reversed(p):
        result = result * x + a
    return result


def shifted(p, by):
    """p(x + by)"""
    result = [Fraction(0)]
    for a in reversed(p):
        result = add(multiply(result, [by, Fraction(1)]), [a])
    return result


# ---- What is derived -----------------------------------------------------------------------------

def binomials():
    """c_k of s^(-1/2) = sum c_k (s - 1)^k."""
    c = [Fraction(1)]
    for k in range(1, TAYLOR_DEGREE + 1):
        c.append(c[-1] * (-HALF - (k - 1)) / k)
    return c


def lagrange(nodes, k):
    product = [Fraction(1)]
    for m, node in enumerate(nodes):
        if m != k:
            distance = Fraction(nodes[k] - node)
            product = multiply(product, [-node / distance, 1 / distance])
    return product


def nodal(degree):
    """Polynomials in t of the nodes' weights: the interpolants of degree - 1 through the nodes on
    the left and on the right, blended linearly."""
    nodes = [Fraction(i) for i in range(-(degree - 1) // 2, (degree + 1) // 2 + 1)]
    weights = [[Fraction(0)] for _ in nodes]
    for side, blend in ((0, [Fraction(1), Fraction(-1)]), (1, [Fraction(0), Fraction(1)])):
        for k in range(degree):
            weights[side + k] = add(weights[side + k], multiply(blend, lagrange(nodes[side:side + degree], k)))
    return weights


def bspline(points):
    """The same of the B-spline of this many points: de Boor's recursion on the nodes of one cell."""
    weights = [[Fraction(1)]]
    for order in range(2, points + 1):
        wider = [[Fraction(0)] for _ in range(order)]
        for i, weight in enumerate(weights):
            # The spline that begins so many cells to the left of this one, x = t + order - 2 - i
            # into it.
            into = [Fraction(order - 2 - i), Fraction(1)]
            left = add([Fraction(order - 1)], [-a for a in into])
            wider[i] = add(wider[i], multiply([a / (order - 1) for a in left], weight))
            wider[i + 1] = add(wider[i + 1], multiply([a / (order - 1) for a in into], weight))
        weights = wider
    return weights


def centred(weights):
    """The same about t = 1/2."""
    rows = [shifted(weight, HALF) for weight in weights]
    assert not any(a for row in rows for a in row[len(weights):])
    return [row[:len(weights)] for row in rows]


def two_scale(weights):
    """phi(j/2) for j = 0 ... P - 1."""
    points = len(weights)
    row = [Fraction(0)] * MOST_POINTS
    row[0] = Fraction(1)
    for j in range(1, points, 2):
        # j/2 = 1/2 + (j - 1)/2: the node that lies (j - 1)/2 to the left.
        row[j] = value(weights[points // 2 - 1 - (j - 1) // 2], HALF)
    return row


def at_integers(points):
    """The B-spline of 2 P points at 0 ... P - 1: the window's overlap with itself."""
    weights = bspline(2 * points)
    return [value(weights[points - 1 - j], Fraction(0)) for j in range(points)] + [Fraction(0)] * (8 - points)


def gauss():
    """Nodes and weights of Gauss's rule on [-1, 1], those of positive nodes, by Newton's method in
    fractions of GAUSS_BITS bits."""
    scale = 1 << GAUSS_BITS

    def rounded(x):
        return Fraction(round(x * scale), scale)

    def legendre(x):
        before, p = Fraction(1), x
        for k in range(2, GAUSS_POINTS + 1):
            before, p = p, rounded(((2 * k - 1) * x * p - (k - 1) * before) / k)
        return p, GAUSS_POINTS * (x * p - before) / (x * x - 1)

    nodes, weights = [], []
    for i in range(GAUSS_POINTS // 2):
        x = Fraction(math.cos(math.pi * (i + 0.75) / (GAUSS_POINTS + 0.5)))
        for _ in range(8):
            p, slope = legendre(x)
            x = rounded(x - p / slope)
        slope = legendre(x)[1]
        nodes.append(x)
        weights.append(2 / ((1 - x * x) * slope * slope))
    return nodes, weights


# ---- The file ------------------------------------------------------------------------------------

def numbers(row, indent=4):
    """An initialiser in lines of LINE columns; what is 0 at its end is left out."""
    row = list(row)
    while len(row) > 1 and not row[-1]:
        row.pop()
    text = "{" + ", ".join(repr(float(a)) if a else "0" for a in row) + "}"
    return ("\n" + " " * (indent + 1)).join(textwrap.wrap(text, LINE - indent - 2))


def table(name, comment, rows, kind):
    lines = [f"/* {comment} */", f"static const double {name}{kind} = {{"]
    return lines + ["    " + numbers(row) + "," for row in rows] + ["};", ""]


def text():
    windows = [nodal(p) for p in NODAL_DEGREES] + [bspline(p) for p in BSPLINE_POINTS]
    nodes, weights = gauss()
    lines = ["/* Made by derive_tables.py, which says how: change that. */", "#ifndef LEY_NUMERICS_TABLES_H",
             "#define LEY_NUMERICS_TABLES_H", "", "/* clang-format off */",
             f"enum {{ TABLES_TAYLOR = {TAYLOR_DEGREE}, TABLES_POINTS = {MOST_POINTS}, "
             f"TABLES_GAUSS = {GAUSS_POINTS // 2} }};", "",
             "/* s^(-1/2) = sum c_k (s - 1)^k. */",
             "static const double tables_taylor[TABLES_TAYLOR + 1] =", "    " + numbers(binomials()) + ";", "",
             "/* Weights of the windows' nodes, w_i(t) = sum_k c[i][k] (t - 1/2)^k: nodal bases of degree",
             " * " + ", ".join(map(str, NODAL_DEGREES)) + ", B-splines of " + ", ".join(map(str, BSPLINE_POINTS))
             + " points. */",
             f"static const double tables_windows[{len(windows)}][TABLES_POINTS][TABLES_POINTS] = {{"]
    for weights_of in windows:
        rows = centred(weights_of)
        lines += ["    {"] + ["        " + numbers(row, 8) + "," for row in rows] + ["    },"]
    lines += ["};", ""]
    lines += table("tables_two_scale", "phi(j/2) of the nodal bases, j = 0 ... P - 1.",
                   [two_scale(nodal(p)) for p in NODAL_DEGREES], f"[{len(NODAL_DEGREES)}][TABLES_POINTS]")
    lines += table("tables_overlap", "The B-splines of twice as many points at 0 ... P - 1.",
                   [at_integers(p) for p in BSPLINE_POINTS], f"[{len(BSPLINE_POINTS)}][8]")
    lines += table("tables_gauss", f"Nodes and weights of the Gauss rule of {GAUSS_POINTS} points on [-1, 1], the "
                   "positive nodes.", list(zip(nodes, weights)), "[TABLES_GAUSS][2]")
    return "\n".join(lines + ["/* clang-format on */", "", "#endif", ""])


def main():
    path = Path(__file__).with_name("tables.h")
    made = text()
    if "--check" in sys.argv[1:]:
        sys.exit(0 if path.read_text() == made else f"{path} is not what {Path(__file__).name} writes")
    path.write_text(made)


main()
