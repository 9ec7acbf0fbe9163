"""Holds --tol to its word: random systems, an independent sum in double precision, and no miss.

    python3 tests/tolerance_campaign.py BINARY [COUNT [SEED [FIRST [DEVICE]]]]

Each system has a boundary (open, periodic along one, two or three axes), a cell with angles of 10
to 170 degrees, charges that are neutral, net, coincident or far from the map, screening or none,
and a tolerance of 1e-2 to 1e-6. The reference is Ewald's sum (three axes, with screening or not),
Parry's (two axes), images with the integral of the others (one axis), or the plain sum; none of it
is leyden's. A map passes where it is off, in root mean square over all of its values, by no more
than its tolerance allows (docs/long-range.md), and exit code and figure agree with that. Prints what
there is to say of each that does not pass, and how many there were of each kind. FIRST, from 0, is
the first system of the seed: a campaign may be run in pieces. Without DEVICE the host does most of
them, as they are small; with it every one is done by that device.
"""

import array
import json
import math
import os
import random
import subprocess
import sys
import tempfile

FLOOR, DIGITS, NEAR = 0.01, 1e-7, 12.0  # of the root of the squared terms, and how far images count
# e^2 / (4 pi eps_0 k 298.15 K), in A
CONSTANT = 1.602176634e-19 ** 2 / (4 * math.pi * 8.8541878128e-12 * 1.380649e-23 * 298.15) * 1e10
R_MIN = 0.05


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def length(a):
    return math.sqrt(dot(a, a))


def plus(a, b, by=1.0):
    return tuple(x + by * y for x, y in zip(a, b))


def duals(vectors):
    volume = dot(vectors[0], cross(vectors[1], vectors[2]))
    return [tuple(x / volume for x in cross(vectors[(i + 1) % 3], vectors[(i + 2) % 3])) for i in range(3)], abs(volume)


def shortest(vectors):
    """Of the grid of two or three vectors, others that are as short as additions make them."""
    vectors, is_changed = list(vectors), len(vectors) > 1
    while is_changed:
        is_changed = False
        for i in range(len(vectors)):
            others = [v for k, v in enumerate(vectors) if k != i]
            sums = others if len(others) < 2 else others + [plus(others[0], others[1], s) for s in (1, -1)]
            for other in sums:
                times = round(dot(vectors[i], other) / dot(other, other))
                less = plus(vectors[i], other, -times)
                if times and length(less) < (1 - 1e-9) * length(vectors[i]):
                    vectors[i], is_changed = less, True
    return vectors


class Reference:
    """Potentials of all images of charges, in e/A."""

    def __init__(self, vectors, periodic, kappa, atoms):
        self.kappa, self.atoms = kappa, atoms
        own = shortest([vectors[i] for i in range(3) if periodic[i]])
        self.dimensions = len(own)
        # Any completion that is normal to what is periodic: it is never repeated.
        if len(own) == 2:
            normal = cross(own[0], own[1])
            own.append(tuple(x / length(normal) for x in normal))
        elif len(own) == 1:
            other = (1, 0, 0) if abs(own[0][0]) < 0.8 * length(own[0]) else (0, 1, 0)
            second = cross(own[0], other)
            second = tuple(x / length(second) for x in second)
            third = cross(own[0], second)
            own += [second, tuple(x / length(third) for x in third)]
        self.vectors, self.shifts = own, [(0.0, 0.0, 0.0)]
        if self.dimensions:
            self.dual, self.volume = duals(own)
            self.prepare()
            self.shifts = self.multiples(NEAR)

    def prepare(self):
        kappa, d = self.kappa, self.dimensions
        # Balanced by the volume, area or length of what is repeated.
        self.beta = math.sqrt(math.pi) / self.volume ** (1 / max(d, 1)) if d > 1 else 0
        digits = 5.2  # erfc(5.2) is 2e-13
        if d == 1 or (kappa > 0 and d < 3):
            self.reach = 36 / kappa if kappa > 0 else 0
        else:
            self.reach = digits / self.beta
        self.images = self.multiples(self.reach)
        self.waves = []
        if d == 3 or (d == 2 and kappa == 0):
            most = 2 * self.beta * digits
            ranges = [math.ceil(most * length(self.vectors[i]) / (2 * math.pi)) if i < d else 0 for i in range(3)]
            for i in range(-ranges[0], ranges[0] + 1):
                for j in range(-ranges[1], ranges[1] + 1):
                    for k in range(-ranges[2], ranges[2] + 1):
                        wave = tuple(2 * math.pi * (i * a + j * b + k * c) for a, b, c in zip(*self.dual))
                        if length(wave) <= most and (i, j, k) > (0, 0, 0):  # each for itself and its opposite
                            self.waves.append((wave, length(wave)))
        if d == 3:
            self.prepare_cell()

    def prepare_cell(self):
        """What each wave comes to, of all atoms."""
        b, k = self.beta, self.kappa
        charge = sum(q for _, q in self.atoms)
        self.mean = charge * (math.exp(-k * k / (4 * b * b)) / (k * k) if k > 0 else -1 / (4 * b * b))
        self.structure = []
        for wave, size in self.waves:
            square = size * size + k * k
            by = 2 * math.exp(-square / (4 * b * b)) / square
            phases = [(dot(wave, place), q) for place, q in self.atoms]
            self.structure.append((wave, by * sum(q * math.cos(x) for x, q in phases),
                                   by * sum(q * math.sin(x) for x, q in phases)))

    def near(self, d):
        """The image of d that is nearest along the cell's vectors."""
        component = [dot(self.dual[i], d) for i in range(self.dimensions)]
        for i, times in enumerate(component):
            d = plus(d, self.vectors[i], -round(times))
        return d

    def one(self, d):
        """Of a unit charge, at d from it, beside the waves of a cell; of unscreened wires and layers up to what
        neutral ones do not have."""
        k, b = self.kappa, self.beta if self.dimensions else 0
        if self.dimensions == 0:
            r = max(length(d), R_MIN)
            return math.exp(-k * r) / r
        x, y, z = self.near(d)
        if self.dimensions == 1 and k == 0:
            return self.wire((x, y, z))
        value, most = 0.0, self.reach ** 2
        for u, v, w in self.images:
            square = (x + u) * (x + u) + (y + v) * (y + v) + (z + w) * (z + w)
            if square > most:
                continue
            r = max(math.sqrt(square), R_MIN)
            if not self.waves:
                value += math.exp(-k * r) / r
            elif k == 0:
                value += math.erfc(b * r) / r
            else:
                value += (math.erfc(b * r + k / (2 * b)) * math.exp(k * r) +
                          math.erfc(b * r - k / (2 * b)) * math.exp(-k * r)) / (2 * r)
        return value + (self.waves_of_layer((x, y, z)) if self.dimensions == 2 and k == 0 else 0)

    def waves_of_cell(self, point):
        x, y, z = point
        sum_ = self.mean
        for (u, v, w), cosine, sine in self.structure:
            phase = u * x + v * y + w * z
            sum_ += cosine * math.cos(phase) + sine * math.sin(phase)
        return 4 * math.pi / self.volume * sum_

    def waves_of_layer(self, d):
        b, z = self.beta, dot(self.vectors[2], d)
        sum_ = 0.0
        for wave, size in self.waves:
            for sign in (1, -1):
                far = math.erfc(size / (2 * b) + sign * b * z)
                sum_ += 2 * math.cos(dot(wave, d)) / size * (math.exp(sign * size * z) * far if far > 0 else 0)
        flat = 2 * math.sqrt(math.pi) * (math.exp(-(b * z) ** 2) / b + math.sqrt(math.pi) * z * math.erf(b * z))
        return (math.pi * sum_ - flat) / self.volume

    def wire(self, d):
        period = length(self.vectors[0])
        along = dot(self.vectors[0], d) / period
        off2 = max(dot(d, d) - along * along, 0.0)
        most = 60 + math.ceil(4 * math.sqrt(off2) / period)
        value = 0.0
        for n in range(-most, most + 1):
            value += 1 / max(math.sqrt(off2 + (along - n * period) ** 2), R_MIN)
        for sign in (1, -1):  # the others, as an integral, and how that differs from their sum
            end = (most + 0.5) * period - sign * along
            root = math.sqrt(off2 + end * end)
            value -= math.log(end + root) / period
            value -= end / root ** 3 * period / 24
        return value

    def at(self, point):
        value = sum(q * self.one(plus(point, place, -1)) for place, q in self.atoms)
        return value + (self.waves_of_cell(point) if self.dimensions == 3 else 0)

    def squares(self, point):
        """Of the terms at a point, with screening and without: of all images that are near, or of the nearest."""
        screened, unscreened = 0.0, 0.0
        for place, q in self.atoms:
            d = plus(point, place, -1)
            d = self.near(d) if self.dimensions else d
            all_of_them = [length(plus(d, shift)) for shift in self.shifts]
            for r in [r for r in all_of_them if r < NEAR] or [min(all_of_them)]:
                term = q / max(r, R_MIN)
                unscreened += term ** 2
                screened += (term * math.exp(-self.kappa * max(r, R_MIN))) ** 2
        return screened, unscreened

    def multiples(self, reach):
        """Whole numbers of the periodic vectors, as far as anything in the cell may be within reach of another."""
        d = self.dimensions
        half = sum(length(v) for v in self.vectors[:d]) / 2
        n = [math.ceil(reach * length(self.dual[i]) + 1) if i < d else 0 for i in range(3)]
        return [at for at in (tuple(i * a + j * b + k * c for a, b, c in zip(*self.vectors))
                              for i in range(-n[0], n[0] + 1) for j in range(-n[1], n[1] + 1)
                              for k in range(-n[2], n[2] + 1)) if length(at) <= reach + half]


def random_cell(dice):
    """Edges and angles, degrees, of a cell that has a volume."""
    while True:
        edges = [dice.uniform(6, 24) for _ in range(3)]
        angles = [dice.choice((90.0, round(dice.uniform(10, 170), 1))) for _ in range(3)]
        a, b, c = (math.cos(math.radians(x)) for x in angles)
        square = 1 - a * a - b * b - c * c + 2 * a * b * c
        if square < 2e-4:
            continue
        sine = math.sin(math.radians(angles[2]))
        x, y = b, (a - b * c) / sine
        vectors = [(edges[0], 0.0, 0.0), (edges[1] * c, edges[1] * sine, 0.0),
                   (edges[2] * x, edges[2] * y, edges[2] * math.sqrt(square) / sine)]
        if math.sqrt(square) * edges[0] * edges[1] * edges[2] > 30:
            return edges, angles, vectors


def random_system(dice):
    periodic = dice.choice(("", "x", "xy", "xyz", "xyz"))
    edges, angles, vectors = random_cell(dice)
    if len(periodic) < 3 or dice.random() < 0.2:
        angles = [90.0, 90.0, 90.0]
        vectors = [(edges[0], 0.0, 0.0), (0.0, edges[1], 0.0), (0.0, 0.0, edges[2])]
    kappa = dice.choice((0, 0, round(dice.uniform(0.05, 0.5), 3)))
    if periodic in ("x", "xy") and kappa > 0:
        kappa = max(kappa, round(3 / min(edges), 3))
    count = dice.choice((1, 2, 2, 4, 8))
    atoms = []
    for i in range(count):
        share = [dice.random() for _ in range(3)]
        place = (0.0, 0.0, 0.0)
        for s, vector in zip(share, vectors):
            place = plus(place, vector, s)
        atoms.append((tuple(round(x, 3) for x in place), round(dice.uniform(-1, 1), 3)))
    must = periodic in ("x", "xy") and kappa == 0
    if must and count == 1:
        atoms.append((tuple(round(x + 1.5, 3) for x in atoms[0][0]), 0.0))
    if must or dice.random() < 0.6:
        total = sum(q for _, q in atoms[:-1])
        atoms[-1] = (atoms[-1][0], round(-total, 3))
    if dice.random() < 0.05:  # nothing is left of them
        atoms = [atoms[0], (atoms[0][0], -atoms[0][1])]
    n, spacing = dice.choice((3, 4, 5)), round(dice.uniform(0.5, 2), 3)
    origin = tuple(round(dice.uniform(-3, 10), 3) for _ in range(3))
    if periodic == "xy" and dice.random() < 0.2:
        origin = (origin[0], origin[1], 60.0)
    return {"periodic": periodic, "edges": [round(x, 3) for x in edges], "angles": angles, "kappa": kappa,
            "atoms": atoms, "n": n, "spacing": spacing, "origin": origin,
            "tolerance": dice.choice((1e-2, 1e-3, 1e-4, 1e-5, 1e-6)),
            "method": dice.choice(("auto", "msm"))}


def vectors_of(system):
    e, (alpha, beta, gamma) = system["edges"], (math.radians(x) for x in system["angles"])
    a, b, c = math.cos(alpha), math.cos(beta), math.cos(gamma)
    sine = math.sin(gamma)
    y = (a - b * c) / sine
    return [(e[0], 0.0, 0.0), (e[1] * c, e[1] * sine, 0.0), (e[2] * b, e[2] * y, e[2] * math.sqrt(1 - b * b - y * y))]


def command_of(binary, system, folder, device):
    command = [binary, "map", os.path.join(folder, "a.pqr"), "-o", os.path.join(folder, "a.raw"), "-q",
               "--json", os.path.join(folder, "a.json"), "--method", system["method"],
               "--tol", repr(system["tolerance"]), "--dims", ",".join([str(system["n"])] * 3),
               "--spacing", repr(system["spacing"]), "--origin=" + ",".join(repr(x) for x in system["origin"])]
    if device:
        command += ["--device", device]
    if system["kappa"] > 0:
        command += ["--kappa", repr(system["kappa"])]
    if system["periodic"]:
        command += ["--periodic", system["periodic"], "--cell",
                    ",".join(repr(x) for x in system["edges"] + system["angles"])]
    return command


def share_of(system, values):
    """By how much a map uses up its tolerance; and its error, of the root mean square of exact values."""
    reference = Reference(vectors_of(system), [a in system["periodic"] for a in "xyz"], system["kappa"],
                          system["atoms"])
    n, error2, value2, terms2, unscreened2 = system["n"], 0.0, 0.0, 0.0, 0.0
    for k, value in enumerate(values):
        at = (k % n, k // n % n, k // n // n)
        point = tuple(o + system["spacing"] * i for o, i in zip(system["origin"], at))
        right = CONSTANT * reference.at(point)
        error2 += (value - right) ** 2
        value2 += right * right
        squares = reference.squares(point)
        terms2 += CONSTANT ** 2 * squares[0]
        unscreened2 += CONSTANT ** 2 * squares[1]
    allowed2 = max(system["tolerance"] ** 2 * max(value2, FLOOR ** 2 * terms2), DIGITS ** 2 * unscreened2)
    return (math.sqrt(error2 / allowed2) if allowed2 > 0 else 0 if error2 == 0 else math.inf,
            math.sqrt(error2 / value2) if value2 > 0 else math.inf)


ACCEPTED, MISSED, REFUSED, FAILED = "accepted", "above tolerance", "exit code 5", "other exit codes"


def judge(binary, system, folder, device):
    """What becomes of it: one of the four, and what there is to say of it, or None."""
    with open(os.path.join(folder, "a.pqr"), "w", encoding="ascii") as file:
        for i, (place, q) in enumerate(system["atoms"]):
            file.write("ATOM %d X UNK %d %.3f %.3f %.3f %.3f 1.5\n" % (i + 1, i + 1, *place, q))
    made = subprocess.run(command_of(binary, system, folder, device), capture_output=True, text=True, check=False)
    if made.returncode not in (0, 5):
        return FAILED, "exit code %d: %s" % (made.returncode, made.stderr.strip())
    values = array.array("f")
    try:
        with open(os.path.join(folder, "a.raw"), "rb") as file:
            values.frombytes(file.read())
    except FileNotFoundError:
        return FAILED, "exit code %d without a map: %s" % (made.returncode, made.stderr.strip())
    with open(os.path.join(folder, "a.json"), encoding="utf-8") as file:
        told = json.load(file)["accuracy"]["relative_rms"]
    os.remove(os.path.join(folder, "a.raw"))
    if len(values) != system["n"] ** 3:
        return FAILED, "%d values" % len(values)
    share, relative = share_of(system, values)
    says = "off by %.3g of its tolerance; %.3g of the values, leyden says %s" % (share, relative, told)
    if made.returncode == 5:
        return REFUSED, says + ": " + made.stderr.strip()
    return (MISSED, says) if share > 1.0001 else (ACCEPTED, None)


def main():
    binary, count, seed, first, device = (sys.argv[1:] + ["2000", "1", "0", ""][len(sys.argv) - 2:])[:5]
    found = dict.fromkeys((ACCEPTED, MISSED, REFUSED, FAILED), 0)
    with tempfile.TemporaryDirectory() as folder:
        for i in range(int(first), int(first) + int(count)):
            system = random_system(random.Random(int(seed) * 1000003 + i))
            kind, why = judge(binary, system, folder, device)
            found[kind] += 1
            if why is not None:
                print("system %d: %s: %s\n    %s" % (i, kind, why, json.dumps(system)), flush=True)
            if i % 50 == 49:
                print("%d systems: %s" % (i + 1 - int(first), found), flush=True)
    print(", ".join("%d %s" % (n, kind) for kind, n in found.items()))
    return 1 if sum(found.values()) > found[ACCEPTED] else 0


if __name__ == "__main__":
    sys.exit(main())
