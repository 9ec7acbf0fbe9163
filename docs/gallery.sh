#!/bin/bash
# Makes the pictures of docs/gallery.md from the molecules of Debian's apbs-data and the
# wavefunctions in docs/gallery: there, or in the folder that is named. Some minutes, most of them
# for frontier.png.
#
#     docs/gallery.sh [FOLDER]      LEYDEN=build/leyden unless set
set -eu
home=$(cd "$(dirname "$0")/.." && pwd)
leyden=$(realpath "${LEYDEN:-$home/build/leyden}")
examples=/usr/share/apbs/examples
to=$(realpath -m "${1:-$home/docs/gallery}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$to"
say() { echo "$ $*"; "$@" -q; }

# A toxin of green mambas, in water: the potential in its middle, with the atoms there.
cp "$examples/misc/fas2.pqr" "$work"
cd "$work"
say "$leyden" map fas2.pqr -o fas2.dx --spacing 0.5 --padding 8 --dielectric 78.54
say "$leyden" slice fas2.dx -o "$to/potential.png" --molecule fas2.pqr --within 1 --limits 5 --contours --size 440

# The same by meshes that are coarse on purpose, and what they are off by.
say "$leyden" map fas2.pqr -o exact.raw --spacing 0.5 --padding 8 --dielectric 78.54 --method dcs
say "$leyden" map fas2.pqr -o meshes.raw --spacing 0.5 --padding 8 --dielectric 78.54 --method msm --cutoff 8 --mesh-spacing 2
say "$leyden" slice meshes.raw -o "$to/difference.png" --difference exact.raw --size 360
"$leyden" compare exact.raw meshes.raw

# A protein's surface in the colours of its potential.
say "$leyden" surface "$examples/pbsam-barn_bars/barnase.pqr" -o "$to/surface.png" --size 960

# An orbital, and a density in the colours of its potential and of a Fukui function; the
# wavefunctions are beside this script.
say "$leyden" surface "$home/docs/gallery/c60.npz" --orbital homo --level 0.03 -o "$to/c60.png" --size 480
say "$leyden" density "$home/docs/gallery/caffeine.npz" --orbital homo --occupations 1 -o fukui.cube
say "$leyden" surface "$home/docs/gallery/caffeine.npz" --density --map fukui.cube -o "$to/caffeine.png" --limits 0,0.0006 --size 480
say "$leyden" surface "$home/docs/gallery/caffeine.npz" --density -o "$to/caffeine-potential.png" --size 480

# The profile of a membrane that is made up, where the Python package is installed.
if python3 -c 'import leyden, MDAnalysis, matplotlib' 2>/dev/null; then
    echo "$ python3 $home/python/examples/membrane.py"
    python3 "$home/python/examples/membrane.py" "$work"
    mv "$work/profile.png" "$to/membrane.png"
fi

# Error against time on this machine's fastest device.
echo "$ $leyden bench --frontier"
"$leyden" bench --frontier --atoms "${GALLERY_ATOMS:-30000}" -o "$to/frontier.png"
ls -l "$to"
