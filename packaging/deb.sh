#!/bin/bash
# Makes a Debian package of what is built: BUILD=build packaging/deb.sh [FOLDER] (default: BUILD).
# The command, its manual pages, completions and documents; dependencies are what dpkg-shlibdeps
# finds. The library for programs comes by `make install`. No root is needed.
#
#   MAINTAINER         who made it: "Name <address>"
#   SOURCE_DATE_EPOCH  its date; when unset, that of the last commit, else now
set -eu
cd "$(dirname "$0")/.."
BUILD=${BUILD:-build}
to=${1:-$BUILD}
maintainer=${MAINTAINER:-The leyden authors <leyden@leyden.invalid>}
unset MAKEFLAGS MFLAGS MAKELEVEL # of a make that runs this script
for tool in dpkg-deb dpkg-shlibdeps strip; do
    command -v $tool >/dev/null || { echo "$tool is missing: apt-get install dpkg-dev binutils" >&2; exit 2; }
done
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
version=$(sed -n 's/^#define LEY_VERSION "\(.*\)"/\1/p' host/leyden.h)
architecture=$(dpkg --print-architecture)
top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT
root=$top/debian/leyden
umask 022

make -s --no-print-directory BUILD="$BUILD" DESTDIR="$top/all" PREFIX=/usr zsh_dir=/usr/share/zsh/vendor-completions install
mkdir -p "$root/usr/bin" "$root/DEBIAN"
cp -r "$top/all/usr/share" "$root/usr/"
strip --strip-unneeded -R .comment -R .note -o "$root/usr/bin/leyden" "$top/all/usr/bin/leyden"
chmod 755 "$root/usr/bin/leyden"
find "$root/usr/share/man" -name '*.1' -exec gzip -9n {} +

# Documents: the license is in the copyright file, and the example needs the library.
doc=$root/usr/share/doc/leyden
rm "$doc/LICENSE" "$doc/example.c"
{
    echo "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/"
    printf 'Upstream-Name: leyden\n\nFiles: *\nCopyright: %s\nLicense: Expat\n\n' "$(sed -n 's/^Copyright (c) //p' LICENSE)"
    printf 'Files: VkFFT, which is compiled into the command\nCopyright: 2020-present Dmitrii Tolmachev\nLicense: Expat\n\n'
    echo "License: Expat"
    sed '1,/^Copyright/d; /./,$!d' LICENSE | sed 's/^$/./; s/^/ /'
} > "$doc/copyright"
printf 'leyden (%s) unstable; urgency=medium\n\n  * CHANGELOG.md of the sources says what is in it.\n\n -- %s  %s\n' \
    "$version" "$maintainer" "$(LC_ALL=C date -u -R -d "@$SOURCE_DATE_EPOCH")" | gzip -9n > "$doc/changelog.gz"

# Dependencies. dpkg-shlibdeps wants a source package's control file, and nothing of it.
mkdir -p "$top/debian"
printf 'Source: leyden\n\nPackage: leyden\nArchitecture: any\n' > "$top/debian/control"
depends=$(cd "$top" && dpkg-shlibdeps -O debian/leyden/usr/bin/leyden 2>/dev/null | sed -n 's/^shlibs:Depends=//p')
[ -n "$depends" ] || { echo "dpkg-shlibdeps finds no dependencies" >&2; exit 2; }
cat > "$root/DEBIAN/control" <<END
Package: leyden
Version: $version
Architecture: $architecture
Maintainer: $maintainer
Installed-Size: $(du -sk --apparent-size "$root/usr" | cut -f1)
Depends: $depends
Recommends: pocl-opencl-icd | opencl-icd
Suggests: apbs, libclfft2, libfftw3-single3, pdb2pqr
Section: science
Priority: optional
Description: electrostatic potentials of molecules on GPUs and CPUs
 leyden computes what point charges do in space: the electrostatic potential
 of a molecule on a regular lattice or at any points, right to a tolerance that
 is measured in every run, on whatever OpenCL device the machine has, and on
 NVIDIA's cards through CUDA. It makes the boundary values of APBS, draws
 slices of maps and compares them.
END
(cd "$root" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum) > "$root/DEBIAN/md5sums"
find "$root" -newermt "@$SOURCE_DATE_EPOCH" -print0 | xargs -0 -r touch -h -d "@$SOURCE_DATE_EPOCH"
mkdir -p "$to"
dpkg-deb --root-owner-group --build "$root" "$to/leyden_${version}_$architecture.deb"
