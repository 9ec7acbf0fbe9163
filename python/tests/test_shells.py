"""leyden.shells(): on one sphere, against a test of all points and all atoms, and by what surfaces measure."""
import time

import numpy as np
import pytest

import leyden
from conftest import Topology

RADII = {"H": 1.20, "C": 1.50, "N": 1.50, "O": 1.40, "S": 1.75}  # of Merz and Kollman


def molecule(n, seed=1):
    """Atoms on a loose lattice, with elements."""
    random = np.random.default_rng(seed)
    side = int(np.ceil(n ** (1 / 3)))
    x = np.stack(np.meshgrid(*3 * [np.arange(side)]), axis=-1).reshape(-1, 3)[:n] * 2.2 + random.uniform(-0.4, 0.4, (n, 3))
    return x, random.choice(list(RADII), n)


def is_outside(points, x, radius):
    """Of each point, whether it is within no sphere, and on one: all distances."""
    distance = np.linalg.norm(points[:, None] - x[None], axis=2)
    return np.all(distance >= radius - 1e-6, axis=1) & np.any(np.abs(distance - radius) < 1e-6, axis=1)


@pytest.mark.parametrize("density", [0.5, 1, 6, 15])
def test_one_sphere(density):
    """As many as its area says, all on it, and as many on any part as its area says."""
    points = leyden.shells(np.array([[1.0, 2, 3]]), radii=1.7, scales=2, density=density)
    way = points - (1, 2, 3)
    assert np.abs(np.linalg.norm(way, axis=1) - 3.4).max() < 1e-12
    count = density * 4 * np.pi * 3.4 ** 2
    assert abs(len(points) - count) <= 0.5
    assert np.linalg.norm(way.mean(axis=0)) < 2.5 / np.sqrt(count)  # even, not only on average over bands
    for axis in range(3):
        for cut in (-0.5, 0, 0.4):
            share = (way[:, axis] / 3.4 > cut).mean()
            assert abs(share - (1 - cut) / 2) < 1.2 / np.sqrt(count)
    nearest = np.sort(np.linalg.norm(way[:, None] - way[None], axis=2), axis=1)[:, 1]
    assert nearest.min() > 0.4 / np.sqrt(density) and nearest.max() < 1.6 / np.sqrt(density)


def test_merz_kollman():
    """No point within a sphere, each on one; and all that are not within one are there."""
    x, elements = molecule(40)
    group = Topology(np.zeros(40), [(x, None)], elements=elements)
    radius = np.array([RADII[e] for e in elements])
    points = leyden.shells(group, density=3)
    start = 0
    for scale in (1.4, 1.6, 1.8, 2.0):
        one = leyden.shells(group, density=3, scales=scale)
        assert np.array_equal(points[start:start + len(one)], one)
        assert np.all(is_outside(one, x, scale * radius))
        every = [x[i] + leyden.shells(np.zeros((1, 3)), radii=radius[i], scales=scale, density=3) for i in range(40)]
        assert is_outside(np.concatenate(every), x, scale * radius).sum() == len(one)
        start += len(one)
    assert start == len(points) and np.array_equal(points, leyden.shells(group, density=3))
    assert np.array_equal(points, leyden.shells(x, radii=radius, density=3))


def test_two_spheres_have_the_area_that_is_known():
    """Of two spheres that overlap, 4 pi R^2 + 2 pi R d outside each other."""
    distance, radius, density = 2.0, 1.5, 200
    points = leyden.shells(np.array([[0, 0, 0], [0.6, 0.0, 0.8]]) * distance, radii=radius, scales=1, density=density)
    assert len(points) / density == pytest.approx(4 * np.pi * radius ** 2 * (1 + distance / (2 * radius)) / 1, rel=0.02)


def test_contact_surface():
    """A ball upon each point touches its atom and overlaps none; between two atoms it leaves more out than spheres do."""
    x, elements = molecule(30, 5)
    radius = np.array([RADII[e] for e in elements])
    points = leyden.shells(x, "connolly", radii=radius, density=4, probe=1.4)
    nearest = np.argmin(np.abs(np.linalg.norm(points[:, None] - x, axis=2) - radius), axis=1)
    balls = x[nearest] + (points - x[nearest]) * ((radius + 1.4) / radius)[nearest, None]
    assert np.all(np.linalg.norm(balls[:, None] - x, axis=2) >= radius + 1.4 - 1e-6)
    assert 0 < len(points) < len(leyden.shells(x, "connolly", radii=radius, density=4, probe=0))
    assert np.array_equal(leyden.shells(x, "connolly", radii=radius, density=4, probe=0),
                          leyden.shells(x, radii=radius, scales=1, density=4))
    group = Topology(np.zeros(30), [(x, None)], names=[e + "1" for e in elements])
    assert np.all(np.linalg.norm(leyden.shells(group, "connolly")[:, None] - x, axis=2).min(axis=1) > 1.19)


def test_potentials_there():
    x, _ = molecule(20)
    q = np.random.default_rng(2).uniform(-1, 1, 20)
    points = leyden.shells(x, radii=1.5)
    found = leyden.points(leyden.Atoms(x, q), points, engine="host").values
    right = (q / np.linalg.norm(points[:, None] - x, axis=2)).sum(axis=1)
    assert np.corrcoef(found, right)[0, 1] == pytest.approx(1, abs=1e-9)


def test_many_atoms():
    """Time is linear in them."""
    seconds = []
    for n in (1000, 4000):
        x, elements = molecule(n)
        start = time.process_time()
        points = leyden.shells(x, radii=np.array([RADII[e] for e in elements]))
        seconds.append(time.process_time() - start)
        assert len(points) > 0
    assert seconds[1] < 6 and seconds[1] < 8 * seconds[0] + 1


@pytest.mark.parametrize("arguments, error, words", [
    (dict(kind="chelpg"), leyden.UsageError, "kind"), (dict(density=0), leyden.UsageError, "density"),
    (dict(scales=-1), leyden.UsageError, "scales"), (dict(probe=-1), leyden.UsageError, "probe"),
    (dict(radii=None), leyden.InputError, "radii"), (dict(radii=0), leyden.InputError, "radius"),
    (dict(density=1e12), leyden.InputError, "density"), (dict(density=1e-9), leyden.InputError, "density"),
    (dict(kind="connolly", scales=2), leyden.UsageError, "scales"), (dict(radii=[1.0, 2]), leyden.InputError, "shape"),
])
def test_what_is_refused(arguments, error, words):
    with pytest.raises(error, match=words):
        leyden.shells(np.zeros((1, 3)), **{"radii": 1.5, **arguments})
    with pytest.raises(leyden.InputError):
        leyden.shells(np.full((1, 3), np.nan), radii=1)
    with pytest.raises(leyden.InputError):
        leyden.shells(np.zeros((0, 3)), radii=1)
