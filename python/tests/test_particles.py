"""leyden.Particles of arrays: what is kept, what is refused, archives."""
import pickle

import numpy as np
import pytest

import leyden
from leyden.__main__ import main as program

CHAIN = {"charges": [0.1, -0.2, 0.3, -0.4], "type": [0, 1, 1, 0], "lennard_jones_a": [[9.0, 5], [5, 4]],
         "lennard_jones_b": [[3.0, 2], [2, 1]], "exclusion": [(0, 1), (1, 2), (2, 3), (0, 2), (1, 3)], "pair_14": [(3, 0)],
         "pair_14_charges": [-0.03], "pair_14_a": [4.5], "pair_14_b": [1.5], "masses": [12, 1, 16, 14], "elements": [6, 1, 8, 7],
         "born_radii": [1.7, 1.2, 1.5, 1.55], "born_screens": [0.72, 0.85, 0.85, 0.79], "born_factors": np.ones((4, 3)),
         "surface_radii": [1.7, 0, 1.6, 1.65], "lcpo_factors": np.full((4, 4), 0.1), "residue": [0, 0, 1, 1],
         "residue_numbers": [7, 8], "residue_names": ["ALA", "WAT"], "chains": ["A", ""], "names": ["CA", "H", "O", "N"]}


def same(p, q):
    assert set(p.arrays) == set(q.arrays)
    for name, array in p.arrays.items():
        np.testing.assert_array_equal(array, q.arrays[name])


def test_arrays(tmp_path):
    p = leyden.Particles.from_arrays(**CHAIN)
    assert set(p.arrays) == set(CHAIN) and len(p) == 4
    for name, values in CHAIN.items():
        np.testing.assert_array_equal(getattr(p, name), values)
        assert not getattr(p, name).flags.writeable
    assert repr(p) == "<leyden.Particles: 4 particles, 2 types, 5 exclusions, 1 pairs 1-4, total charge -0.2000 e>"
    same(p, pickle.loads(pickle.dumps(p)))
    p.save(tmp_path / "p.npz")
    same(p, leyden.Particles(tmp_path / "p.npz"))
    with np.load(tmp_path / "p.npz") as archive:
        assert archive["format"] == 1 and archive["names"].tolist() == CHAIN["names"]
    with pytest.raises(leyden.UsageError, match="a file of particles ends in .npz"):
        p.save(tmp_path / "p.pqr")


def test_archives_of_numpy(tmp_path):
    """Any of NumPy's types and orders."""
    arrays = {name: np.asarray(values) for name, values in CHAIN.items()}
    np.savez(tmp_path / "p.npz", format=np.int8(1), other=np.ones(3), **{
        **arrays, "names": arrays["names"].astype("S5"), "chains": arrays["chains"].astype(">U3"),
        "charges": arrays["charges"].astype(">f8"), "born_factors": np.asfortranarray(arrays["born_factors"], "f4"),
        "residue": arrays["residue"].astype("u1")})
    same(leyden.Particles(tmp_path / "p.npz"), leyden.Particles.from_arrays(**CHAIN))
    np.savez(tmp_path / "q.npz", format=1, **{**arrays, "names": np.array(["CA", "H", "Ö", "N"])})
    with pytest.raises(leyden.InputError, match="q.npz: names: text 3 has letters that are not of ASCII"):
        leyden.Particles(tmp_path / "q.npz")


@pytest.mark.parametrize("mixing, size, depth", [("lorentz-berthelot", 3.2, 0.2), ("geometric", np.sqrt(3 * 3.4), 0.2),
                                                 ("waldman-hagler", ((3 ** 6 + 3.4 ** 6) / 2) ** (1 / 6),
                                                  0.2 * 2 * (3 * 3.4) ** 3 / (3 ** 6 + 3.4 ** 6))])
def test_mixing(mixing, size, depth):
    p = leyden.Particles.from_arrays(charges=[0, 0, 1], type=[0, 1, 1], sigma=[3, 3.4], epsilon=[0.1, 0.4], mixing=mixing)
    assert p.lennard_jones_a[0, 1] == p.lennard_jones_a[1, 0] == pytest.approx(4 * depth * size ** 12)
    assert p.lennard_jones_b[1, 0] == pytest.approx(4 * depth * size ** 6)
    assert p.lennard_jones_b[1, 1] == pytest.approx(4 * 0.4 * 3.4 ** 6)
    assert p.exclusion.shape == (0, 2) and p.pair_14_a.shape == (0,) and p.born_radii is None and p.names is None


def test_subsets():
    p = leyden.Particles.from_arrays(**CHAIN)
    q = p.subset([3, 0])
    assert q.names.tolist() == ["N", "CA"] and q.exclusion.size == 0 and q.pair_14.tolist() == [[0, 1]]
    assert q.residue.tolist() == [1, 0]
    same(p.subset(np.array([True, False, True, False])), p.subset(np.array([0, 2], np.uint8)))
    assert p.subset(p.residue == 1).residue_names.tolist() == ["WAT"]
    for index, what in (([], "a subset of 0 particles"), ([0, 0], "particle 1 is in the subset twice"), ([4], "is 4 of 4"),
                        ([True, False], "a mask of the shape"), ([0.5], "a mask or numbers"), ([[0]], "a mask or numbers")):
        with pytest.raises(leyden.UsageError, match=what):
            p.subset(index)


def test_refusals():
    for change, what in (({"charges": [0.1, np.nan, 0, 0]}, "charges: particle 2: nan"), ({"masses": [1, 2]}, r"masses has the shape \(2,\)"),
                         ({"type": [0, 1, 2, 0]}, "type: particle 3: 2, must be 0 to 1"), ({"type": [0, 0.5, 0, 0]}, "whole numbers"),
                         ({"exclusion": [(0, 1), (1, 0)]}, "exclusion 2 is of particles 1 and 2, as is exclusion 1"),
                         ({"exclusion": [(0, 3)]}, "1-4 pair 1 is of particles 1 and 4, as is exclusion 1"),
                         ({"lennard_jones_a": [[1, 2], [3, 4]]}, "types 2 and 1 have 3, but 2 the other way round"),
                         ({"residue": None}, "2 residues, but not which particle"), ({"names": ["a"] * 3}, r"names has the shape \(3,\)"),
                         ({"names": ["é"] * 4}, "others than ASCII"), ({"elements": [2 ** 40] * 4}, "whole numbers")):
        with pytest.raises(leyden.InputError, match=what):
            leyden.Particles.from_arrays(**{**CHAIN, **change})
    for change, what in (({"sigma": [1, 2], "epsilon": [1, 2]}, "sigma and epsilon, or"), ({"pair_14_a": None}, "without their pair_14_a"),
                         ({"lennard_jones_a": None, "lennard_jones_b": None, "sigma": [1, 2], "epsilon": [1, 2], "mixing": "x"}, "mixing: 'x'")):
        with pytest.raises(leyden.UsageError, match=what):
            leyden.Particles.from_arrays(**{**CHAIN, **change})


def test_guesses():
    p = leyden.Particles.from_arrays(**CHAIN)
    for word, what in (("exclusions", "particles.exclusion"), ("sigma", "particles.lennard_jones_a"), ("natoms", "len.particles")):
        with pytest.raises(AttributeError, match=what):
            getattr(p, word)


def test_files(tmp_path, capsys):
    (tmp_path / "a.npz").write_bytes(b"hello")
    with pytest.raises(leyden.InputError, match="a.npz: not an archive of arrays.*of prmtop, top, PSF and other files python3 -m"):
        leyden.Particles(tmp_path / "a.npz")
    with pytest.raises(leyden.FileError, match="No such file"):
        leyden.Particles(tmp_path / "b.npz")
    assert program(["convert", str(tmp_path / "c.psf"), "-o", str(tmp_path / "c.npz")]) == 2
    assert "c.psf: No such file" in capsys.readouterr().err
