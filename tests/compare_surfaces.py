#!/usr/bin/python3
"""Are surfaces those of scikit-image's marching cubes? Exit code 77: it is not installed.

    python3 -m venv V && V/bin/pip install numpy scikit-image trimesh && V/bin/python tests/compare_surfaces.py LEYDEN

A torus, noise that is smoothed, and a molecule, each with at most a few cells that both may fill in other ways. Vertices must be as
many and on the same lines between points; areas and volumes of the plane triangles alike; trimesh, which reads leyden's files, must find
them closed, turned outwards, and with the normals that it computes itself. Prints what both are off by where a formula says it.
"""
import json
import math
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import trimesh
    from skimage import measure
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

LEYDEN = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.environ.get("BUILD", "build"), "leyden"))


def leyden_surface(values, level):
    np.save("map.npy", np.ascontiguousarray(values.astype(np.float32).transpose(2, 1, 0)))
    header = {"format": "leyden npy map", "version": 1, "n": values.shape, "origin_A": [0, 0, 0], "step_A": np.eye(3).tolist(), "units": ""}
    with open("map.npy.json", "w", encoding="utf-8") as file:
        json.dump(header, file)
    subprocess.run([LEYDEN, "surface", "--map", "map.npy", f"--level={level}", "-o", "s.ply", "--json", "s.json", "-q"], check=True)
    with open("s.json", encoding="utf-8") as file:
        report = json.load(file)
    return trimesh.load("s.ply", process=False), report


def compare(name, values, level, step, formula=None):
    mesh, report = leyden_surface(values, level)
    vertices, faces, _, _ = measure.marching_cubes(values.astype(np.float32), level, method="lorensen", allow_degenerate=False)
    theirs = trimesh.Trimesh(vertices, faces, process=False)
    assert mesh.is_watertight and mesh.is_winding_consistent and mesh.volume > 0, name
    # On the same lines: two coordinates are whole numbers, the third one has the same whole part.
    lines = [{tuple(np.round(2 * (np.floor(v + 1e-4) + (np.abs(v - np.round(v)) > 2e-4) / 2)).astype(int)) for v in m.vertices}
             for m in (mesh, theirs)]
    shared = len(lines[0] & lines[1]) / max(len(lines[0]), 1)
    assert shared > 0.99 and abs(len(mesh.vertices) / len(theirs.vertices) - 1) < 0.01, (name, shared, len(mesh.vertices), len(theirs.vertices))
    area, volume = mesh.area / theirs.area - 1, mesh.volume / abs(theirs.volume) - 1
    assert abs(area) < 0.02 and abs(volume) < 0.02, (name, area, volume)
    turned = np.einsum("ij,ij->i", mesh.face_normals, mesh.vertex_normals[mesh.faces[:, 0]])
    assert np.average(turned, weights=mesh.area_faces) > 0.9, name
    text = f"{name}: {len(mesh.vertices)} vertices, {100 * shared:.2f} % on scikit-image's lines; area {area:+.1e}, volume {volume:+.1e} of its own"
    if formula:
        right = [x / step**k for x, k in zip(formula, (2, 3))]
        said = [report["area_A2"] / right[0] - 1, report["volume_A3"] / right[1] - 1]
        plain = [theirs.area / right[0] - 1, abs(theirs.volume) / right[1] - 1]
        assert max(map(abs, said)) < 1e-3, (name, said)
        text += "; off the formula by {:+.1e} and {:+.1e}, scikit-image's triangles by {:+.1e} and {:+.1e}".format(*said, *plain)
    print(text)


def main():
    step = 0.25
    x, y, z = np.meshgrid(*(np.arange(low, high, step) for low, high in ((-8.1, 8.2), (-8.2, 8.1), (-3.3, 3.5))), indexing="ij")
    ring = np.sqrt(x**2 + y**2) - 5
    r = math.sqrt(3.99)
    compare("torus", 4 - ring**2 - z**2, 0.01, step, (4 * math.pi**2 * 5 * r, 2 * math.pi**2 * 5 * r**2))
    for radius in (1.2, 1.7, 5):
        across = np.arange(-radius - 1 + 0.012, radius + 1, step)
        x, y, z = np.meshgrid(across, across, across, indexing="ij")
        compare(f"sphere of {radius} A", radius**2 - x**2 - y**2 - z**2, 0, step, (4 * math.pi * radius**2, 4 / 3 * math.pi * radius**3))
    random = np.random.default_rng(7).standard_normal((40, 40, 40))
    waves = np.fft.fftfreq(40)
    low = np.exp(-100 * (waves[:, None, None] ** 2 + waves[None, :, None] ** 2 + waves[None, None, :] ** 2))
    smooth = np.fft.ifftn(np.fft.fftn(random) * low).real
    smooth = smooth / smooth.std()
    for axis in range(3):
        edge = [slice(None)] * 3
        for side in (slice(0, 2), slice(-2, None)):
            edge[axis] = side
            smooth[tuple(edge)] = -1
    compare("noise", smooth, 0.5, 1)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    main()
