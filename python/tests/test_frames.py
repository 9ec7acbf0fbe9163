"""Frames of trajectories: as MDAnalysis has them, whoever reads them; what is wrong is told with the frame."""
import os
import shutil
import signal
import struct
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

import leyden
from conftest import BOX, Topology, of_memory, walk
from leyden._cell import vectors_of_boxes
from leyden._dcd import PlainFiles
from leyden._frames import Frames
from test_average_c import matrix_of, write_dcd

def read(frames, after=0):
    """All of it: numbers, positions, cells."""
    blocks = [(b.numbers.copy(), b.positions.copy(), b.cells.copy()) for b in frames.blocks(after)]
    return [np.concatenate(parts) for parts in zip(*blocks)]


# ---- Without MDAnalysis --------------------------------------------------------------------------


def test_boxes():
    boxes = np.array([[10, 11, 12, 90, 90, 90], [10, 11, 12, 60, 70, 80], [0, 11, 12, 90, 90, 90], [10, 10, 10, 90, 90, 0],
                      [10, 10, 10, 10, 10, 170], [10, np.nan, 10, 90, 90, 90]])
    vectors = vectors_of_boxes(boxes)
    assert np.array_equal(vectors[0], np.diag([10, 11, 12])) and not vectors[2:].any()
    a, b, c = vectors[1]
    for (u, v), angle in (((b, c), 60), ((a, c), 70), ((a, b), 80)):
        assert np.degrees(np.arccos(u @ v / np.linalg.norm(u) / np.linalg.norm(v))) == pytest.approx(angle)
    assert np.linalg.norm(vectors[1], axis=1) == pytest.approx([10, 11, 12]) and a[1] == a[2] == b[2] == 0


def universe_like(count=5, **kept):
    x = walk(count, 6)
    return Topology(np.resize([0.5, -0.5], 6), [(x[k], kept.get(k, BOX)) for k in range(count)]), x


def test_anything_with_frames():
    universe, x = universe_like()
    numbers, positions, cells = read(Frames(universe, start=1, step=2))
    assert numbers.tolist() == [1, 3] and np.array_equal(positions, x[1::2])
    assert np.array_equal(cells, np.broadcast_to(np.diag(BOX[:3]), (2, 3, 3)))
    assert positions.dtype == np.float32 and positions.flags.c_contiguous and cells.dtype == np.float64


def test_pieces_for_ranks():
    """Each frame once; a share of what is left, as far as it may end there."""
    frames = Frames(universe_like(100)[0], start=2)
    for end_of, step in ((None, 1), (lambda frame: frame - frame % 3 + 3, 3)):
        pieces = frames._pieces(4, end_of)
        assert [number for piece in pieces for number in piece] == list(range(2, 100))
        lengths = [len(piece) for piece in pieces]
        assert sorted(lengths, reverse=True) == lengths and lengths[0] == 6 and lengths[-4:-1] == [step] * 3


@pytest.mark.parametrize("box, says", [(None, "it has no cell with three vectors: cell="),
                                       (np.array([20, 20, 0, 90, 90, 90.0]), r"dimensions are \[20.0, 20.0, 0.0")])
def test_cells_that_are_missing(box, says):
    universe, x = universe_like(**{"2": None})
    universe.frames[2] = (x[2], box)
    with pytest.raises(leyden.InputError, match=f"frame 2 .counted from 0.: .*{says}.*skip_bad=True"):
        read(Frames(universe))
    frames = Frames(universe, skip_bad=True)
    assert read(frames)[0].tolist() == [0, 1, 3, 4] and frames.skipped == 1 and frames.bad[0].number == 2
    assert np.array_equal(read(Frames(universe, cell=(9, 9, 9)))[2][2], np.diag([9, 9, 9]))


def test_positions_that_are_no_numbers():
    universe, x = universe_like()
    x[3, 4, 1] = np.nan
    with pytest.raises(leyden.InputError, match="frame 3 .*the position of atom 4 .counted from 0. is not a number"):
        read(Frames(universe))
    assert read(Frames(universe, skip_bad=True))[0].tolist() == [0, 1, 2, 4]
    x[3, 4, 1] = -2e6
    with pytest.raises(leyden.InputError, match="frame 3 .*the position of atom 4 .counted from 0. is beyond 1e.06 A"):
        read(Frames(universe))
    x[3] = 999000
    assert len(read(Frames(universe))[0]) == 5
    x[...] = np.inf
    with pytest.raises(leyden.InputError, match="none of 5 frames can be used: frame 4 "):
        Frames(universe, skip_bad=True)


@pytest.mark.parametrize("arguments, kind, says", [
    (dict(start=5), leyden.UsageError, "leave no frame of 5"), (dict(step=0), leyden.UsageError, "no step of 0"),
    (dict(start="a"), leyden.UsageError, "whole numbers are needed"), (dict(readers=0), leyden.UsageError, "readers: "),
    (dict(cell=(1, 2)), leyden.InputError, "cell has the shape"), (dict(skip_bad="no"), leyden.UsageError, "skip_bad: "),
])
def test_refusals(arguments, kind, says):
    with pytest.raises(kind, match=says):
        Frames(universe_like()[0], **arguments)


def test_sources_that_are_none(monkeypatch, tmp_path):
    with pytest.raises(leyden.UsageError, match="a Universe or an AtomGroup of MDAnalysis, or the names"):
        Frames(3)
    with pytest.raises(leyden.UsageError, match="a Universe has its own"):
        Frames(universe_like()[0], "a.dcd")
    with pytest.raises(leyden.FileError, match="none.psf: No such file"):
        Frames("none.psf", "none.dcd")
    (tmp_path / "a.psf").write_text("PSF\n")
    monkeypatch.setitem(sys.modules, "MDAnalysis", None)
    with pytest.raises(ImportError, match=r"pip install 'leyden\[trajectories\]'"):
        Frames(tmp_path / "a.psf")
    universe, _ = universe_like()
    universe.charges = None
    del universe.charges
    with pytest.raises(leyden.InputError, match="no charges: they come with one of a simulation program, as .psf, .prmtop"):
        Frames(universe)


# ---- With MDAnalysis -----------------------------------------------------------------------------


@pytest.mark.extra
@pytest.mark.parametrize("ending", ["dcd", "xtc", "trr", "nc"])
def test_formats(files, ending):
    """One process and two read what MDAnalysis reads, in order."""
    pytest.importorskip("netCDF4" if ending == "nc" else "MDAnalysis")
    import MDAnalysis
    topology, trajectory = files(ending, frames=300)
    universe = MDAnalysis.Universe(topology, trajectory)
    right = [(ts.frame, universe.atoms.positions.copy()) for ts in universe.trajectory[10:290:3]]
    universe.trajectory[7]
    for readers in 1, 2:
        frames = Frames(universe, start=10, stop=290, step=3, readers=readers)
        numbers, positions, cells = read(frames)
        assert frames.readers == readers
        assert numbers.tolist() == [number for number, _ in right]
        assert np.array_equal(positions, [x for _, x in right])
        assert np.abs(cells - np.diag(BOX[:3])).max() < 1e-5
        assert np.array_equal(read(frames, after=50)[1], positions[50:])
        assert universe.trajectory.frame == 7


@pytest.mark.extra
@pytest.mark.parametrize("angles", [(80, 95, 70), (80, 75, 70)], ids=["some-negative", "all-positive"])
def test_cells_of_charmm(files, tmp_path, angles):
    """The vectors among which its atoms are, and not others of the same lengths and angles."""
    MDAnalysis = pytest.importorskip("MDAnalysis")
    topology, usual = files("dcd", 4)
    boxes = np.array([[20 + k, 21, 22, *angles] for k in range(4)], float)
    matrices = np.array([matrix_of(box) for box in boxes])
    write_dcd(tmp_path / "charmm.dcd", walk(4, 40), boxes, "matrix")
    frames = Frames(topology, usual, tmp_path / "charmm.dcd", readers=1)
    _, _, cells = read(frames)
    assert np.allclose(cells[:4], np.diag(BOX[:3]), atol=1e-5) and np.allclose(cells[4:], matrices, atol=1e-9)
    universe = MDAnalysis.Universe(topology, tmp_path / "charmm.dcd")
    universe.trajectory[2]
    assert np.allclose(leyden.Atoms(universe, radii=0).cell, matrices[2], atol=1e-9)
    universe.dimensions = BOX  # of one's own
    assert np.allclose(leyden.Atoms(universe, radii=0).cell, np.diag(BOX[:3]))
    write_dcd(tmp_path / "namd.dcd", walk(4, 40), boxes, "cosines")
    assert np.allclose(read(Frames(topology, tmp_path / "namd.dcd"))[2], vectors_of_boxes(boxes), atol=1e-4)


@pytest.fixture(name="no_processes")
def _no_processes(monkeypatch):
    monkeypatch.setattr(Frames, "_start", None)


def same_by_threads(*arguments, **options):
    """What two threads read is what MDAnalysis reads, to the byte."""
    one, two = Frames(*arguments, readers=1, **options), Frames(*arguments, readers=2, **options)
    first, second = read(one), read(two)
    assert two.readers == 2 and all(np.array_equal(a, b) for a, b in zip(first, second)) and one.bad == two.bad
    return second


@pytest.mark.extra
@pytest.mark.usefixtures("no_processes")
@pytest.mark.parametrize("kind", ["angles", "cosines", "matrix"])
@pytest.mark.parametrize("angles", [(90, 90, 90), (80, 95, 70)], ids=["upright", "oblique"])
def test_threads(files, tmp_path, kind, angles):
    """Cells that change, in all ways in which programs write them; parts of frames that are moved; several files."""
    MDAnalysis = pytest.importorskip("MDAnalysis")
    topology, usual = files("dcd", 30)
    boxes = np.array([[20 + 0.01 * k, 21, 22, *angles] for k in range(60)], float)
    write_dcd(tmp_path / "a.dcd", walk(60, 40), boxes, kind)
    same_by_threads(topology, tmp_path / "a.dcd")
    same_by_threads(topology, tmp_path / "a.dcd", select="index 3 5:9", center="index 20:39", start=50, stop=3, step=-2)
    numbers, positions, _ = same_by_threads(topology, usual, tmp_path / "a.dcd", usual)
    assert len(numbers) == 120 and np.array_equal(positions[:30], positions[90:])
    nm = MDAnalysis.Universe(topology, tmp_path / "a.dcd", format="LAMMPS", lengthunit="nm")
    assert np.allclose(same_by_threads(nm)[1], 10 * walk(60, 40))
    assert len(read(Frames(topology, tmp_path / "a.dcd", readers=500))[0]) == 60


def _number(content, at, value, order="="):
    return content[:at] + struct.pack(order + "i", value) + content[at + 4:]


@pytest.mark.extra
@pytest.mark.usefixtures("no_processes")
def test_threads_and_frames_that_are_wrong(files, tmp_path):
    """Files of other layouts are left to MDAnalysis, and so are frames that are unlike the others."""
    MDAnalysis = pytest.importorskip("MDAnalysis")
    topology, usual = files("dcd", 30)
    with open(usual, "rb") as file:
        content = file.read()
    size = 3 * (4 * 40 + 8) + 56
    for name, changed, is_plain in (
            ("usual", content, True), ("four", _number(content, 8 + 4 * 11, 1), False),
            ("fixed", _number(content, 8 + 4 * 8, 3), False), ("old", _number(content, 8 + 4 * 19, 0), False),
            ("other", _number(content, len(content) - size, 40), False)):
        (tmp_path / f"{name}.dcd").write_bytes(changed)
        try:
            trajectory = MDAnalysis.Universe(topology, tmp_path / f"{name}.dcd").trajectory
        except (OSError, ValueError, EOFError):
            assert not is_plain
            continue
        found = PlainFiles.of(trajectory, range(30))
        assert (found is not None) == is_plain, name
        if found is not None:
            found.close()
    at = len(content) - 20 * size + 56
    (tmp_path / "marks.dcd").write_bytes(_number(content, at, 99))
    positions = np.frombuffer(content, np.float32).copy()
    positions[(at + 4) // 4 + 7] = np.nan
    (tmp_path / "nan.dcd").write_bytes(positions.tobytes())
    for name in "marks", "nan":
        with pytest.raises(leyden.InputError, match=f"{name}.dcd: frame 10 "):
            read(Frames(topology, tmp_path / f"{name}.dcd", readers=2))
        numbers, _, _ = same_by_threads(topology, tmp_path / f"{name}.dcd", skip_bad=True)
        assert numbers.tolist() == [k for k in range(30) if k != 10]


@pytest.mark.extra
@pytest.mark.parametrize("readers", [1, 2])
def test_several_files_and_a_selection(files, readers):
    topology, first = files("dcd", 30, name="first")
    _, second = files("xtc", 20, name="second", seed=1)
    frames = Frames(topology, first, second, select="index 3 5:9", readers=readers)
    numbers, positions, _ = read(frames)
    assert len(numbers) == 50 and frames.readers == readers and frames.files == [first, second]
    assert np.array_equal(positions[:30], walk(30)[:, [3, 5, 6, 7, 8, 9]])
    assert np.abs(positions[30:] - walk(20, seed=1)[:, [3, 5, 6, 7, 8, 9]]).max() < 0.006  # XTC's precision
    assert frames.charges.tolist() == [-1, -1, 1, -1, 1, -1]
    with pytest.raises(leyden.UsageError, match="select 'index 99': there is no such atom"):
        Frames(topology, first, select="index 99")
    with pytest.raises(leyden.UsageError, match="select 'foo bar': "):
        Frames(topology, first, select="foo bar")


@pytest.mark.extra
@pytest.mark.parametrize("order", ["fac", "afc"])
def test_memory(order):
    pytest.importorskip("MDAnalysis")
    x = walk(600, 40)
    universe = of_memory(x)
    from MDAnalysis.coordinates.memory import MemoryReader
    axes = ["fac".index(letter) for letter in order]
    boxes = np.array([BOX + [k, 0, 0, 0, 0, 0] for k in range(600)])
    universe.load_new(np.ascontiguousarray(np.transpose(x, axes)), format=MemoryReader, order=order, dimensions=boxes)
    frames = Frames(universe, start=500, stop=10, step=-3, select="index 2:9")
    numbers, positions, cells = read(frames)
    assert numbers.tolist() == list(range(500, 10, -3)) and np.array_equal(positions, x[500:10:-3, 2:10])
    assert np.array_equal(cells[:, 0, 0], 20.0 + numbers) and positions.flags.c_contiguous
    universe.trajectory.get_array()[...] = np.where(np.arange(600).reshape([-1 if a == "f" else 1 for a in order]) == 300,
                                                    np.nan, universe.trajectory.get_array())
    with pytest.raises(leyden.InputError, match="^frame 300 .*atom 0 "):
        read(Frames(universe))
    frames = Frames(universe, skip_bad=True)
    assert read(frames)[0].tolist() == [k for k in range(600) if k != 300] and frames.skipped == 1


@pytest.mark.extra
def test_transformations(files):
    """Of the universe, which go to the processes; and one of a script, which cannot."""
    import MDAnalysis
    from MDAnalysis.transformations import fit_rot_trans, translate
    universe = MDAnalysis.Universe(*files("dcd", 40))
    universe.trajectory.add_transformations(translate([1, 2, 3]))
    for readers in 1, 2:
        frames = Frames(universe, readers=readers)
        assert np.array_equal(read(frames)[1], walk(40) + np.float32([1, 2, 3])) and frames.readers == readers
    universe = MDAnalysis.Universe(*files("dcd", 40))
    universe.trajectory.add_transformations(lambda ts: ts)
    frames = Frames(universe, readers=2)
    assert np.array_equal(read(frames)[1], walk(40)) and frames.readers == 1
    universe = MDAnalysis.Universe(*files("dcd", 40))
    universe.trajectory.add_transformations(fit_rot_trans(universe.atoms, universe.atoms))
    with pytest.raises(leyden.UsageError, match="fit_rot_trans turns the atoms and not their cell"):
        Frames(universe)


@pytest.mark.extra
def test_placing():
    """A lump that drifts through the faces is whole and in the middle; along what it fills nothing moves."""
    random = np.random.default_rng(3)
    lump, x = random.normal(0, 1.5, (12, 3)), np.empty((9, 40, 3))
    for k in range(9):
        x[k, :12] = lump + [3.0 * k, 1, 2.0 * k]
        x[k, 12:] = x[k, 0] + [3, 3, 3]
    cell = BOX[:3]
    wrapped = x % cell
    middle = lump.mean(axis=0)
    _, placed, _ = read(Frames(of_memory(wrapped), center="index 0:11"))
    nearest = (placed[:, :12] - (lump - middle + cell / 2) + cell / 2) % cell - cell / 2
    assert np.abs(nearest).max() < 1e-4
    _, fitted, _ = read(Frames(of_memory(wrapped), fit="index 0:11"))
    assert np.abs((fitted - fitted[0] + cell / 2) % cell - cell / 2).max() < 1e-4
    assert np.abs((fitted[0] - wrapped[0])).max() < 1e-4
    wide = wrapped.copy()
    wide[:, :12, :2] = np.linspace(0, 1, 12, endpoint=False)[:, None] * cell[:2]
    _, placed, _ = read(Frames(of_memory(wide), center="index 0:11"))
    assert np.abs(placed[:, :, :2] - wide[:, :, :2]).max() < 1e-5 and np.abs(placed[:, :, 2] - wide[:, :, 2]).max() > 1
    with pytest.raises(leyden.UsageError, match="center and fit exclude each other"):
        Frames(of_memory(wide), center="all", fit="all")
    with pytest.raises(leyden.UsageError, match="center 'name QQ'"):
        Frames(of_memory(wide), center="name QQ")


@pytest.mark.extra
@pytest.mark.parametrize("readers", [1, 2])
@pytest.mark.parametrize("ending", ["dcd", "xtc", "trr"])
def test_a_truncated_trajectory(files, tmp_path, ending, readers):
    topology, trajectory = files(ending, 30)
    cut = tmp_path / f"cut.{ending}"
    size = os.path.getsize(trajectory)
    with open(trajectory, "rb") as file:
        cut.write_bytes(file.read(int(size * 0.685)))
    frames = Frames(topology, cut, skip_bad=True, readers=readers)
    numbers, positions, _ = read(frames)
    assert 15 < len(numbers) < 25 and frames.skipped == 1 and frames.bad[0].number == len(numbers)
    with pytest.raises(leyden.InputError, match=f"cut.{ending}: frame {len(numbers)} .counted from 0.: .*skip_bad=True"):
        read(Frames(topology, cut, readers=readers))
    assert len(read(Frames(topology, cut, stop=len(numbers), readers=readers))[0]) == len(numbers)


@pytest.mark.extra
def test_other_files_that_are_wrong(files, tmp_path):
    topology, _ = files("dcd", 30)
    _, longer = files("dcd", 10, atoms=41, name="longer")
    with pytest.raises(leyden.InputError, match="longer-10-41.dcd"):
        Frames(topology, longer)
    (tmp_path / "empty.dcd").write_bytes(b"")
    with pytest.raises(leyden.InputError, match="empty.dcd"):
        Frames(topology, tmp_path / "empty.dcd")
    with pytest.raises(leyden.InputError, match="it has no coordinates|no coordinates"):
        Frames(topology)
    _, open_space = files("dcd", 10, name="open", boxes=None)
    with pytest.raises(leyden.InputError, match="open-10-40.dcd: frame 0 .*it has no cell"):
        Frames(topology, open_space)
    with pytest.raises(leyden.InputError, match="no charges"):
        Frames(of_memory(walk(), charges=False))


@pytest.mark.extra
def test_a_reader_that_dies(files):
    frames = Frames(*files("xtc", 4000), readers=2)
    blocks = frames.blocks()
    next(blocks)
    for process in _children():
        os.kill(process, signal.SIGKILL)
    with pytest.raises(leyden.FileError, match="a process that reads frames has ended .exit code -9.: readers=1"):
        for _ in blocks:
            pass
    assert not _children()


def _children(of=None):
    done = subprocess.run(["ps", "-o", "pid=,stat=", "--ppid", str(of or os.getpid())], capture_output=True, text=True, check=False)
    return [int(line.split()[0]) for line in done.stdout.split("\n") if line.strip() and "Z" not in line
            and _is_reader(int(line.split()[0]))]


def _is_reader(process):
    try:
        with open(f"/proc/{process}/cmdline", "rb") as file:
            return b"leyden._frames" in file.read()
    except OSError:
        return False


PROGRAM = """
import sys, time
from leyden._frames import Frames
for number, block in enumerate(Frames(*sys.argv[1:3], readers=2).blocks()):
    if number == 1:
        print("reads", flush=True)
    if number > 0 and sys.argv[3] == "slow":
        time.sleep(20)
    if number > 0 and sys.argv[3] == "error":
        raise ValueError("planted")
"""


@pytest.mark.extra
@pytest.mark.skipif(not shutil.which("ps") or not os.path.isdir("/proc/self"), reason="ps or /proc is missing")
@pytest.mark.parametrize("way", ["end", "error", signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_behind(files, way):
    """No process, and no memory with a name."""
    before = set(os.listdir("/dev/shm")) if os.path.isdir("/dev/shm") else set()
    word = way if isinstance(way, str) else "slow"
    with subprocess.Popen([sys.executable, "-c", textwrap.dedent(PROGRAM), *files("xtc", 4000), word],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as running:
        assert running.stdout.readline() == b"reads\n"
        readers = _children(running.pid)
        if word == "slow":
            assert len(readers) == 2
            running.send_signal(way)
        code = running.wait(timeout=60)
    assert (code == 0) == (way == "end")
    end = time.monotonic() + 20
    while any(_is_reader(process) for process in readers) and time.monotonic() < end:
        time.sleep(0.05)
    assert not any(_is_reader(process) for process in readers)
    if os.path.isdir("/dev/shm"):
        assert set(os.listdir("/dev/shm")) <= before
