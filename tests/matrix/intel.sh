#!/bin/bash
# Intel's OpenCL runtime for processors, from PyPI (700 MB unpacked; it works on processors of
# others, too): intel.sh FOLDER puts it there once, and prints words for `env` by which the loader
# finds it alone. INTEL_OPENCL names a folder that has its libraries already. Exit code 77, with
# the reason on standard error: it cannot be had.
set -u
folder=${1:?a folder} libraries=${INTEL_OPENCL:-$1/lib}

fail() { echo "$*" >&2 && exit 77; }

if [ ! -e "$libraries/libintelocl.so" ]; then
    python3 -m pip --version >/dev/null 2>&1 || fail "python3-pip is not installed"
    mkdir -p "$folder" && folder=$(realpath "$folder")
    python3 -m pip download --quiet --only-binary :all: -d "$folder/wheels" intel-opencl-rt intel-cmplr-lib-rt >&2 || fail "its wheels cannot be had from PyPI"
    mkdir -p "$folder/lib"
    for wheel in "$folder"/wheels/*.whl; do
        python3 -m zipfile -e "$wheel" "$folder/unpacked" || fail "cannot unpack $wheel"
    done
    # All but its own loader of OpenCL, which would be found in place of the system's.
    find "$folder/unpacked" -path '*/lib/*' -not -name 'libOpenCL.so*' -type f -exec mv -t "$folder/lib" {} +
    rm -rf "$folder/wheels" "$folder/unpacked"
    [ -e "$libraries/libintelocl.so" ] || fail "there is no libintelocl.so in its wheels"
fi
mkdir -p "$folder/vendors"
echo "$libraries/libintelocl.so" >"$folder/vendors/intel.icd"
echo "OCL_ICD_VENDORS=$folder/vendors LD_LIBRARY_PATH=$libraries"
