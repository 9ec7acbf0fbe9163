"""Writes src/leyden/_keywords.pyi, what type checkers are told of keyword arguments, from the tables of the library that
the installed package has."""
from pathlib import Path

import leyden
from leyden._parameters import stub

Path(__file__).with_name("src").joinpath("leyden", "_keywords.pyi").write_text(
    stub([leyden.map, leyden.points, leyden.boundary, leyden.Plan.__init__, leyden.surface,
          leyden.average, leyden.series, leyden.energy, leyden.mmgbsa, leyden.ions, leyden.Wavefunction.orbital,
          leyden.density_map, leyden.fit_score]), encoding="utf-8")
