"""leyden.ions() against brute force in NumPy, float64, from the formula."""
import os

import numpy as np
import pytest

import leyden

KCAL = 332.06371


def molecule(n, seed):
    """Positions in a ball as dense as proteins are, three decimals; charges that add up to a whole number."""
    random = np.random.default_rng(seed)
    x = random.normal(size=(n, 3))
    x *= (random.random((n, 1)) ** (1 / 3) * (n / 0.1 * 3 / (4 * np.pi)) ** (1 / 3)) / np.linalg.norm(x, axis=1)[:, None]
    q = random.uniform(-0.8, 0.8, n)
    q += (random.integers(-6, 7) - q.sum()) / n
    return np.round(x, 3), q


def brute_force(x, q, h, border, from_solute, between, charges):
    """The nodes and energies of ions of these charges, one after the other, and the grid's origin."""
    low = x.min(0) - border
    n = np.ceil((x.max(0) + border - low) / h).astype(int) + 1
    axes = [h * np.arange(m) for m in n]
    phi, out = np.zeros(n), np.zeros(n, bool)
    for p, c in zip(x - low, q):
        d2 = ((axes[0] - p[0])[:, None, None] ** 2 + (axes[1] - p[1])[None, :, None] ** 2
              + (axes[2] - p[2])[None, None, :] ** 2)
        out |= d2 <= from_solute ** 2
        phi += c / np.sqrt(np.maximum(d2, 1e-12))
    grid, nodes, energies, steps = np.ogrid[0:n[0], 0:n[1], 0:n[2]], [], [], round(between / h)
    for charge in charges:
        energy = np.where(out, np.inf, charge * phi).transpose(2, 1, 0)
        least = energy.min()
        first = np.argmax(energy <= least + 1e-12 * abs(least))  # the first one: x is innermost
        node = np.unravel_index(first, energy.shape)[::-1]
        nodes.append(node)
        energies.append(least * KCAL)
        d2 = sum((g - m) ** 2 for g, m in zip(grid, node))
        out |= d2 < steps * steps
        phi += charge / np.where(d2 > 0, h * np.sqrt(np.maximum(d2, 1)), np.inf)
    return np.array(nodes), np.array(energies), low, n


@pytest.mark.parametrize("seed", range(20))
def test_the_same_nodes(seed):
    n = (50, 80, 130, 250, 600)[seed % 5]
    x, q = molecule(n, seed)
    h, between = (1.0, 0.75)[seed % 2], (10, 6, 7.5)[seed % 3]
    found = leyden.ions(leyden.Atoms(x, q), [("NA", 1, 2), ("CL", -1, 2), ("MG", 2, 1)], spacing=h, between=between,
                        neutralise=True)
    nodes, energies, low, size = brute_force(x, q, h, 10, 6, between, found.charges)
    assert found.report["n"] == list(size)
    np.testing.assert_allclose(found.report["origin_A"], low)
    np.testing.assert_array_equal(found.nodes, nodes)
    np.testing.assert_allclose(found.energies_kcal_mol, energies, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found.positions, low + h * nodes, atol=1e-9)
    assert abs(found.report["total_charge_e"]) <= 1 and abs(q.sum() + found.charges.sum() - found.report["total_charge_e"]) < 1e-6


def test_order_brings_the_charge_to_zero():
    x, _ = molecule(60, 3)
    q = np.full(60, 3 / 60)
    found = leyden.ions(leyden.Atoms(x, q), [("NA", 1, 3), ("CL", -1, 5)], spacing=1)
    assert found.names == ["CL", "CL", "CL", "NA", "CL", "NA", "CL", "NA"]


def test_concentration_counts_the_free_volume():
    x, q = molecule(100, 5)
    q -= q.mean()
    found = leyden.ions(leyden.Atoms(x, q), ["NA", "CL"], concentration=0.3, spacing=1, padding=14)
    pairs = round(0.3 * 6.02214076e-4 * found.report["free_nodes"])
    assert found.names.count("NA") == found.names.count("CL") == pairs > 2
    found = leyden.ions(leyden.Atoms(x, q), ["MG", "CL"], concentration=0.3, spacing=1, padding=14)
    assert found.names.count("CL") == 2 * found.names.count("MG") == 2 * pairs


def water_box(tmp_path, edge=18.6, cells=6):
    """A solute of three charges in a lattice of waters, as a PQR file."""
    random = np.random.default_rng(1)
    solute = [[9.3, 9.3, 9.3], [10.8, 9.3, 9.3], [9.3, 10.9, 9.3]]
    lines = [f"ATOM      {i + 1}  C{i}  LIG A   1    {p[0]:.4f} {p[1]:.4f} {p[2]:.4f} {c} 1.5"
             for i, (p, c) in enumerate(zip(solute, (1.2, -0.5, 0.3)))]
    oxygens = (np.indices((cells,) * 3).reshape(3, -1).T + 0.5) * edge / cells
    oxygens += random.uniform(-0.4, 0.4, oxygens.shape)
    oxygens = np.round(oxygens[np.linalg.norm(oxygens - solute[0], axis=1) > 3], 4)
    serial = 4
    for number, o in enumerate(oxygens):
        for name, shift, c in (("OW", (0, 0, 0), -0.834), ("HW1", (0.76, 0.58, 0), 0.417), ("HW2", (-0.76, 0.58, 0), 0.417)):
            p = o + shift
            lines.append(f"ATOM   {serial} {name:4} SOL W {number + 2:4}    {p[0]:.4f} {p[1]:.4f} {p[2]:.4f} {c} 1.4")
            serial += 1
    path = tmp_path / "box.pqr"
    path.write_text("\n".join([*lines, "END", ""]))
    return path, np.array(solute), np.array([1.2, -0.5, 0.3]), oxygens, edge


def ewald(way, edge):
    """A unit charge with all images, of zero mean."""
    beta = 5 / edge
    k = np.indices((13,) * 3).reshape(3, -1).T - 6
    k = k[np.any(k != 0, axis=1)] * 2 * np.pi / edge
    k2 = (k * k).sum(1)
    shifts = (np.indices((3,) * 3).reshape(3, -1).T - 1) * edge
    way = np.atleast_2d(way)
    d = np.linalg.norm(way[:, None] + shifts, axis=2)
    from math import erfc
    near = (np.vectorize(erfc)(beta * d) / d).sum(1)
    far = (4 * np.pi / edge ** 3 / k2 * np.exp(-k2 / (4 * beta ** 2)) * np.cos(way @ k.T)).sum(1)
    return near + far - np.pi / (beta ** 2 * edge ** 3)


@pytest.mark.parametrize("is_periodic", [False, True])
def test_waters_are_replaced(tmp_path, is_periodic):
    path, solute, q, oxygens, edge = water_box(tmp_path)
    found = leyden.ions(path, [("NA", 1, 3), ("CL", -1, 4)], replace_waters=True, from_solute=4, between=5,
                        cell=(edge,) * 3 if is_periodic else None)

    def ways(from_):
        d = oxygens - from_
        return d - edge * np.round(d / edge) if is_periodic else d

    def term(from_):
        return ewald(oxygens - from_, edge) if is_periodic else 1 / np.linalg.norm(oxygens - from_, axis=1)

    phi = sum(c * term(p) for p, c in zip(solute, q))
    out = np.any([np.linalg.norm(ways(p), axis=1) <= 4 for p in solute], axis=0)
    for i, charge in enumerate(found.charges):
        best = np.argmin(np.where(out, np.inf, charge * phi))
        np.testing.assert_allclose(found.positions[i], oxygens[best], atol=1e-9)
        assert found.oxygens[i] == 3 + 3 * best
        assert found.energies_kcal_mol[i] == pytest.approx(charge * phi[best] * KCAL, rel=1e-5, abs=1e-6)
        out |= np.linalg.norm(ways(oxygens[best]), axis=1) < 5
        with np.errstate(divide="ignore", invalid="ignore"):
            phi = phi + charge * term(oxygens[best])
    assert sorted(found.removed) == sorted(k for o in found.oxygens for k in (o, o + 1, o + 2))
    found.save(tmp_path / "with.pqr")
    written = leyden.Atoms(tmp_path / "with.pqr")
    assert len(written) == 3 + 3 * len(oxygens) - 21 + 7
    np.testing.assert_allclose(written.charges[-7:], found.charges)
    np.testing.assert_allclose(written.positions[-7:], found.positions, atol=1e-4)


def test_files(tmp_path):
    path, *_ = water_box(tmp_path)
    found = leyden.ions(path, ("CL", -1, 2), spacing=1)
    found.save(tmp_path / "only.pqr", ions_only=True)
    only = leyden.Atoms(tmp_path / "only.pqr")
    np.testing.assert_allclose(only.positions, found.positions, atol=1e-4)
    np.testing.assert_allclose(found.atoms.charges, [-1, -1])
    found.save(tmp_path / "with.pdb")
    records = [line for line in (tmp_path / "with.pdb").read_text().splitlines() if line.startswith(("ATOM", "HETATM"))]
    assert len(records) == len(leyden.Atoms(path)) + 2
    assert records[-1][12:16] == records[-1][17:21] == "CL  " and float(records[-1][30:38]) == pytest.approx(found.positions[-1][0], abs=1e-3)
    with pytest.raises(leyden.UsageError, match="must end in .pqr or .pdb"):
        found.save(tmp_path / "with.xyz")
    with pytest.raises(leyden.UsageError, match="ions_only=True"):
        leyden.ions(leyden.Atoms([[0, 0, 0]], [1]), "CL", neutralise=True).save(tmp_path / "x.pqr")


def test_mistakes():
    atoms = leyden.Atoms([[0, 0, 0]], [1])
    for species, text in [("XX", "no ion 'XX' is known"), (("CL", 0, 2), "a charge that is not 0|not 0"), (["CL", ("CL", -1, 1)], "twice"),
                          (("CL", -1, -2), "count of -2"), ("CL", "no ion is to be placed"), (("CL", "a"), "is not"), ([], "no ion is named")]:
        with pytest.raises(leyden.UsageError, match=text):
            leyden.ions(atoms, species)
    with pytest.raises(leyden.UsageError, match="no anion is named"):
        leyden.ions(atoms, "NA", neutralise=True)
    with pytest.raises(leyden.UsageError, match="no cation is named"):
        leyden.ions(atoms, "CL", concentration=0.1)
    with pytest.raises(leyden.InputError, match="no room for ion 2 of 3, CL: .* 1 were placed|no room"):
        leyden.ions(atoms, ("CL", -1, 3), between=100, spacing=1)
    with pytest.raises(leyden.UsageError, match="all three vectors"):
        leyden.ions(atoms, ("CL", -1, 1), cell=(30, 30, 30), periodic="xy")
    with pytest.raises(leyden.UsageError, match="replace_waters needs"):
        leyden.ions(atoms, ("CL", -1, 1), replace_waters=True)


@pytest.mark.skipif("LEYDEN_IONS_PROTEIN" not in os.environ, reason="no file of the protein")
def test_protein():
    """The protein of cionize's evidence: x and q of an .npz file."""
    data = np.load(os.environ["LEYDEN_IONS_PROTEIN"])
    found = leyden.ions(leyden.Atoms(data["x"], data["q"]), ("CL", -1, 6))
    assert found.report["n"] == [86, 92, 94] and list(found.nodes[0]) == [44, 22, 60]
    assert found.energies_kcal_mol[0] == pytest.approx(-74.159, rel=1e-5)
    nodes, energies, *_ = brute_force(data["x"], data["q"], 0.5, 10, 6, 10, [-1] * 6)
    np.testing.assert_array_equal(found.nodes, nodes)
    np.testing.assert_allclose(found.energies_kcal_mol, energies, rtol=1e-5)


def test_an_ions_own_node_is_taken():
    """Even where `between` is less than half a spacing, and rounds to no nodes."""
    x, q = molecule(50, 8)
    found = leyden.ions(leyden.Atoms(x, q), [("NA", 1, 5), ("CL", -1, 5)], spacing=1.5, between=0.5)
    assert len({tuple(node) for node in found.nodes}) == 10
    distance = np.linalg.norm(found.positions[:, None] - found.positions, axis=2)
    np.fill_diagonal(distance, np.inf)
    phi = [KCAL * ((q / np.linalg.norm(x - at, axis=1)).sum() + (found.charges[:k] / distance[k, :k]).sum())
           for k, at in enumerate(found.positions)]
    np.testing.assert_allclose(found.energies_kcal_mol, found.charges * phi, rtol=1e-7)
