"""Builds the Python package `leyden`: `pip install .` at the root of the sources.

The extension contains libleyden.a, which `make` builds first. LEYDEN_BUILD names another build
folder than `build`, relative to the root: that of a sanitizer, say.
"""
import os
import re
import subprocess
from pathlib import Path

from setuptools import setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parent
BUILD = ROOT / os.environ.get("LEYDEN_BUILD", "build")

VERSION = re.search(r'#define LEY_VERSION "(.*)"', (ROOT / "host" / "leyden.h").read_text()).group(1)

# What is made on the way stays in the build folder, too.
OBJECTS = BUILD / "python" / "objects"
OBJECTS.mkdir(parents=True, exist_ok=True)


class BuildExtension(build_ext):
    """Builds libleyden.a, or what has changed of it, before what contains it: packing sources needs neither."""

    def run(self):
        if not os.environ.get("LEYDEN_SANITIZE"):  # whoever chose these flags has built it
            environment = {name: value for name, value in os.environ.items()
                           if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
            folder = os.path.relpath(BUILD, ROOT)
            subprocess.run(["make", "-C", str(ROOT), f"-j{os.cpu_count() or 1}", f"BUILD={folder}", "PURPOSES=build",
                            f"{folder}/libleyden.a"], check=True, env=environment)
        super().run()


setup(version=VERSION, cffi_modules=["python/build_extension.py:ffi"], cmdclass={"build_ext": BuildExtension},
      options={"build": {"build_base": str(OBJECTS)}, "egg_info": {"egg_base": str(OBJECTS)}})
