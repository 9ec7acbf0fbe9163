#!/bin/bash
# Builds the wheel of the Python package, without PyPI: build_python.sh PYTHON FOLDER. `make python`
# and test_python.sh call it.
set -eu
python=$1 folder=$2
unset MAKEFLAGS MFLAGS MAKELEVEL
"$python" -m pip wheel --quiet --no-build-isolation --no-deps --wheel-dir "$folder" .
ls "$folder"/leyden-*.whl
