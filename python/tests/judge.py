"""Smoothed potentials in periodic cells by explicit sums over wave vectors, from the formulas alone."""
import numpy as np

VOLT = 1.602176634e-19 / (4e-10 * np.pi * 8.8541878128e-12)  # of e at 1 A


def constant(temperature=300.0):
    """C, kT/e A."""
    return VOLT / (1.380649e-23 * temperature / 1.602176634e-19)


def vectors(boxes):
    """(n, 3, 3) of (n, 6), lengths and angles in degrees: a along x, b in the xy plane."""
    a, b, c, alpha, beta, gamma = np.atleast_2d(boxes).T
    cos_a, cos_b, cos_c = (np.cos(np.radians(angle)) for angle in (alpha, beta, gamma))
    sin_c = np.sqrt(1 - cos_c ** 2)
    along = (cos_a - cos_b * cos_c) / sin_c
    found = np.zeros((len(a), 3, 3))
    found[:, 0, 0], found[:, 1, 0], found[:, 1, 1] = a, b * cos_c, b * sin_c
    found[:, 2] = np.stack([c * cos_b, c * along, c * np.sqrt(1 - cos_b ** 2 - along ** 2)], axis=1)
    return found


def waves(cell, sigma):
    """Half of the wave vectors that count, (n, 3), and the whole numbers of each."""
    dual = 2 * np.pi * np.linalg.inv(cell).T
    few = np.array(list(np.ndindex(5, 5, 5))) - 2
    least = min(np.linalg.norm(few[few.any(axis=1)] @ dual, axis=1))
    reach = np.hypot(7.0 / sigma, least)  # exp(-24), of what the longest wave has
    most = [int(np.ceil(reach * length / (2 * np.pi))) for length in np.linalg.norm(cell, axis=1)]
    whole = np.array(np.meshgrid(*(np.arange(-n, n + 1) for n in most), indexing="ij")).reshape(3, -1).T
    whole = whole[(whole[:, 0] > 0) | ((whole[:, 0] == 0) & ((whole[:, 1] > 0) | ((whole[:, 1] == 0) & (whole[:, 2] > 0))))]
    k = whole @ dual
    near = np.linalg.norm(k, axis=1) < reach
    return k[near], whole[near]


def _parts(x, q, atoms=500):
    """So many at a time, as memory allows."""
    x, q = np.asarray(x, float), np.asarray(q)
    return [(x[k:k + atoms], q[k:k + atoms]) for k in range(0, len(x), atoms)]


def smoothed(x, q, cell, fractions, sigma):
    """The potential at fractions of the cell, (m, 3): (m,), kT/e at 300 K in vacuum."""
    cell = np.asarray(cell, float)
    k, whole = waves(cell, sigma)
    structure = sum(np.exp(-1j * (x_part @ k.T)).T @ q_part for x_part, q_part in _parts(x, q))
    k2 = (k ** 2).sum(axis=1)
    weight = 8 * np.pi / abs(np.linalg.det(cell)) * np.exp(-sigma ** 2 * k2 / 2) / k2
    return constant() * (np.exp(2j * np.pi * (np.asarray(fractions) @ whole.T)) @ (weight * structure)).real


def on_grid(x, q, cell, dims, sigma, origin=(0, 0, 0)):
    """The same at all points of a grid, (nc, nb, na), wave by wave along each vector."""
    cell = np.asarray(cell, float)
    _, whole = waves(cell, sigma)
    most = np.abs(whole).max(axis=0)
    numbers = [np.arange(-n, n + 1) for n in most]
    structure = 0
    for x_part, q_part in _parts(x, q):
        a, b, c = (np.exp(-2j * np.pi * np.outer(s, m)) for s, m in zip((x_part @ np.linalg.inv(cell)).T, numbers))
        both = ((a * q_part[:, None]).T[:, None] * b.T[None]).reshape(-1, len(x_part))
        structure = structure + (both @ c).reshape(a.shape[1], b.shape[1], c.shape[1])
    k = np.stack(np.meshgrid(*numbers, indexing="ij"), axis=-1) @ (2 * np.pi * np.linalg.inv(cell).T)
    k2 = (k ** 2).sum(axis=-1)
    k2[tuple(most)] = np.inf
    weight = 4 * np.pi / abs(np.linalg.det(cell)) * np.exp(-sigma ** 2 * np.minimum(k2, 1e9) / 2) / k2
    points = [np.exp(2j * np.pi * np.outer(np.arange(n) / n + o, m)) for n, o, m in zip(dims, origin, numbers)]
    return constant() * np.einsum("abc,ia,jb,kc->kji", weight * structure, *points, optimize=True).real


def profile(x, q, cell, axis, distance, sigma):
    """Charge density (e/A^3), field and potential along the normal of the planes across a vector, tin-foil: (3, n)."""
    cell = np.asarray(cell, float)
    normal = np.cross(cell[(axis + 1) % 3], cell[(axis + 2) % 3])
    area = np.linalg.norm(normal)
    normal /= area * np.sign(normal @ cell[axis])
    length = abs(np.linalg.det(cell)) / area
    k = 2 * np.pi / length * np.arange(1, int(np.ceil(7.0 / sigma * length / (2 * np.pi))) + 1)
    structure = np.exp(-1j * np.outer(k, np.asarray(x, float) @ normal)) @ q * np.exp(-sigma ** 2 * k ** 2 / 2)
    wave = np.exp(1j * np.outer(distance, k)) * structure * 2 / (area * length)
    rho = wave.real.sum(axis=1) + q.sum() / (area * length)
    potential = constant() * 4 * np.pi * (wave / k ** 2).real.sum(axis=1)
    field = constant() * 4 * np.pi * (-1j * wave / k).real.sum(axis=1)
    return np.array([rho, field, potential])


def _spline(f):
    """The four values of the cubic B-spline at the nodes around a fraction of a step."""
    return np.array([(1 - f) ** 3 / 6, (3 * f ** 3 - 6 * f ** 2 + 4) / 6, (-3 * f ** 3 + 3 * f ** 2 + 3 * f + 1) / 6, f ** 3 / 6])


def pmepot(x, q, cell, n, sigma, power=2):
    """What VMD's PMEPot writes at fractions i/n, (na, nb, nc), kT/e; `power` of the splines' factors: 2; 1 is right."""
    cell, n = np.asarray(cell, float), np.asarray(n)
    s = np.asarray(x, float) @ np.linalg.inv(cell) * n
    first = np.floor(s).astype(int)
    weights = [_spline(s[:, d] - first[:, d]) for d in range(3)]
    mesh = np.zeros(n)
    for a, b, c in np.ndindex(4, 4, 4):
        index = tuple((first[:, d] + shift - 1) % n[d] for d, shift in enumerate((a, b, c)))
        np.add.at(mesh, index, q * weights[0][a] * weights[1][b] * weights[2][c])
    whole = np.meshgrid(*(np.fft.fftfreq(m, 1 / m) for m in n), indexing="ij")
    factor = np.ones(n)
    for d in range(3):
        factor /= ((4 + 2 * np.cos(2 * np.pi * whole[d] / n[d])) / 6) ** power
    k = np.stack(whole, axis=-1) @ (2 * np.pi * np.linalg.inv(cell).T)
    k2 = (k ** 2).sum(axis=-1)
    k2[0, 0, 0] = 1
    influence = 4 * np.pi / abs(np.linalg.det(cell)) * np.exp(-sigma ** 2 * k2 / 2) / k2 * factor
    influence[0, 0, 0] = 0
    return constant() * np.fft.ifftn(np.fft.fftn(mesh) * influence).real * mesh.size
