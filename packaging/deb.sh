#!/bin/bash
# Makes Debian packages of what is built: BUILD=build packaging/deb.sh [FOLDER] (default: BUILD).
# leyden has the command, its manual pages, completions and documents; libleyden0.1 the shared
# library, under the name of its interface; libleyden-dev what programs are built with; and, where
# mpicc is there, leyden-mpi the command for several processes. Dependencies are what dpkg-shlibdeps
# finds. No root is needed.
#
#   MAINTAINER         who made them: "Name <address>"
#   SOURCE_DATE_EPOCH  their date; when unset, that of the last commit, else now
set -eu
cd "$(dirname "$0")/.."
BUILD=${BUILD:-build}
to=${1:-$BUILD}
maintainer=${MAINTAINER:-The leyden authors <leyden@leyden.invalid>}
unset MAKEFLAGS MFLAGS MAKELEVEL # of a make that runs this script
for tool in dpkg-deb dpkg-shlibdeps strip objdump; do
    command -v $tool >/dev/null || { echo "$tool is missing: apt-get install dpkg-dev binutils" >&2; exit 2; }
done
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
version=$(sed -n 's/^#define LEY_VERSION "\(.*\)"/\1/p' host/leyden.h)
architecture=$(dpkg --print-architecture)
top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT
multiarch=usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)
umask 022

mpi=$(command -v mpicc >/dev/null && echo 1 || true)
make -s --no-print-directory BUILD="$BUILD" MPI="$mpi" DESTDIR="$top/all" PREFIX=/usr LIBDIR="/$multiarch" \
    zsh_dir=/usr/share/zsh/vendor-completions install
all=$top/all
soname=$(objdump -p "$all/$multiarch/libleyden.so.$version" | sed -n 's/^ *SONAME *//p')
shared=libleyden${soname#libleyden.so.}
mkdir -p "$top/debian" "$to"

# The license, and what has changed.
document() {
    local doc=$1
    mkdir -p "$doc"
    {
        echo "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/"
        printf 'Upstream-Name: leyden\n\nFiles: *\nCopyright: %s\nLicense: Expat\n\n' "$(sed -n 's/^Copyright (c) //p' LICENSE)"
        printf 'Files: VkFFT, which is compiled into the library and the command\nCopyright: 2020-present Dmitrii Tolmachev\nLicense: Expat\n\n'
        echo "License: Expat"
        sed '1,/^Copyright/d; /./,$!d' LICENSE | sed 's/^$/./; s/^/ /'
    } > "$doc/copyright"
    printf 'leyden (%s) unstable; urgency=medium\n\n  * CHANGELOG.md of the sources says what is in it.\n\n -- %s  %s\n' \
        "$version" "$maintainer" "$(LC_ALL=C date -u -R -d "@$SOURCE_DATE_EPOCH")" | gzip -9n > "$doc/changelog.gz"
}

# strip_into FROM TO MODE
strip_into() {
    mkdir -p "$(dirname "$2")"
    strip --strip-unneeded -R .comment -R .note -o "$2" "$1"
    chmod "$3" "$2"
}

# What a program or library depends on. dpkg-shlibdeps wants a source package's control file, and
# nothing of it.
depends_of() {
    printf 'Source: leyden\n\nPackage: leyden\nArchitecture: any\n' > "$top/debian/control"
    (cd "$top" && dpkg-shlibdeps -O "$1" 2>/dev/null | sed -n 's/^shlibs:Depends=//p')
}

# package NAME FIELDS: of what stands in $top/debian/NAME; the fields are those of the control file
# that differ, the last one the description.
package() {
    local root=$top/debian/$1
    document "$root/usr/share/doc/$1"
    mkdir -p "$root/DEBIAN"
    cat > "$root/DEBIAN/control" <<END
Package: $1
Source: leyden
Version: $version
Architecture: $architecture
Maintainer: $maintainer
Installed-Size: $(du -sk --apparent-size "$root/usr" | cut -f1)
Priority: optional
$2
END
    (cd "$root" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum) > "$root/DEBIAN/md5sums"
    find "$root" -newermt "@$SOURCE_DATE_EPOCH" -print0 | xargs -0 -r touch -h -d "@$SOURCE_DATE_EPOCH"
    dpkg-deb --root-owner-group --build "$root" "$to/$1_${version}_$architecture.deb"
}

# The command.
root=$top/debian/leyden
strip_into "$all/usr/bin/leyden" "$root/usr/bin/leyden" 755
cp -r "$all/usr/share" "$root/usr/"
rm "$root/usr/share/doc/leyden/LICENSE" "$root/usr/share/doc/leyden/example.c"
find "$root/usr/share/man" -name '*.1' -exec gzip -9n {} +
depends=$(depends_of debian/leyden/usr/bin/leyden)
[ -n "$depends" ] || { echo "dpkg-shlibdeps finds no dependencies" >&2; exit 2; }
package leyden "Depends: $depends
Recommends: pocl-opencl-icd | opencl-icd
Suggests: apbs, libclfft2, libfftw3-single3, pdb2pqr
Section: science
Description: electrostatic potentials of molecules on GPUs and CPUs
 leyden computes the electrostatic potential of a molecule's point charges on a
 grid or at any points, right to a tolerance that is measured in every run, on
 whatever OpenCL device the machine has, and on NVIDIA's cards through CUDA. It
 makes the boundary values of APBS, draws slices of maps and molecules' surfaces, and
 compares maps."

# The command for several processes.
if [ -n "$mpi" ]; then
    root=$top/debian/leyden-mpi
    strip_into "$all/usr/bin/leyden-mpi" "$root/usr/bin/leyden-mpi" 755
    mkdir -p "$root/usr/share/man/man1"
    ln -s leyden.1.gz "$root/usr/share/man/man1/leyden-mpi.1.gz"
    package leyden-mpi "Depends: leyden (= $version), $(depends_of debian/leyden-mpi/usr/bin/leyden-mpi)
Section: science
Description: electrostatic potentials of molecules on GPUs and CPUs: clusters
 leyden computes the electrostatic potential of a molecule's point charges on
 OpenCL and CUDA devices. This package has the command leyden-mpi, whose
 processes work together on one job, as mpirun starts them."
fi

# The library.
root=$top/debian/$shared
strip_into "$all/$multiarch/libleyden.so.$version" "$root/$multiarch/libleyden.so.$version" 644
ln -s "libleyden.so.$version" "$root/$multiarch/$soname"
mkdir -p "$root/DEBIAN"
echo "libleyden ${soname#libleyden.so.} $shared" > "$root/DEBIAN/shlibs"
echo "activate-noawait ldconfig" > "$root/DEBIAN/triggers"
package "$shared" "Depends: $(depends_of "debian/$shared/$multiarch/libleyden.so.$version")
Recommends: pocl-opencl-icd | opencl-icd
Multi-Arch: same
Section: libs
Description: electrostatic potentials of molecules on GPUs and CPUs: library
 leyden computes the electrostatic potential of a molecule's point charges on
 OpenCL and CUDA devices. This package has the shared library."

# What programs are built with.
root=$top/debian/libleyden-dev
mkdir -p "$root/usr" "$root/$multiarch"
cp -r "$all/usr/include" "$root/usr/"
cp -r "$all/$multiarch/pkgconfig" "$all/$multiarch/cmake" "$root/$multiarch/"
strip -g -o "$root/$multiarch/libleyden.a" "$all/$multiarch/libleyden.a"
chmod 644 "$root/$multiarch/libleyden.a"
ln -s "$soname" "$root/$multiarch/libleyden.so"
install -D -m 644 docs/example.c "$root/usr/share/doc/libleyden-dev/examples/example.c"
package libleyden-dev "Depends: $shared (= $version), ocl-icd-opencl-dev, libssl-dev, zlib1g-dev
Multi-Arch: same
Section: libdevel
Description: electrostatic potentials of molecules on GPUs and CPUs: development
 leyden computes the electrostatic potential of a molecule's point charges on
 OpenCL and CUDA devices. This package has headers, the static library, and
 what pkg-config and CMake read."
