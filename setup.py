"""Builds the Python package `leyden`: `pip install .` at the root of the sources.

The extension contains libleyden.a, which `make` builds first. LEYDEN_BUILD names another build
folder than `build`, relative to the root: that of a sanitizer, say.
"""
import os
import re
from pathlib import Path

from setuptools import setup

ROOT = Path(__file__).resolve().parent

VERSION = re.search(r'#define LEY_VERSION "(.*)"', (ROOT / "host" / "leyden.h").read_text()).group(1)

# What is made on the way stays in the build folder, too.
OBJECTS = ROOT / os.environ.get("LEYDEN_BUILD", "build") / "python" / "objects"
OBJECTS.mkdir(parents=True, exist_ok=True)

setup(version=VERSION, cffi_modules=["python/build_extension.py:ffi"],
      options={"build": {"build_base": str(OBJECTS)}, "egg_info": {"egg_base": str(OBJECTS)}})
