#!/bin/sh
# Installs what is missing of the packages that a list names for some purposes; or, without the
# rights, says how to.
#
# Use: install_packages.sh LIST PURPOSE...
list=$1
shift
command -v dpkg-query >/dev/null || exit 0 # not Debian: the build will say what it lacks

missing=
while read -r package purpose _; do
    case $package in '' | '#'*) continue ;; esac
    case " $* " in *" $purpose "*) ;; *) continue ;; esac
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
done <"$list"
[ -n "$missing" ] || exit 0

if [ "$(id -u)" != 0 ]; then
    echo "leyden needs packages that are not installed. As root, run:" >&2
    echo "    apt-get update && apt-get install --no-install-recommends$missing" >&2
    exit 1
fi
echo "installing:$missing"
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086 # one word per package
apt-get update -qq && apt-get install -y -qq --no-install-recommends $missing >/dev/null
