#!/bin/sh
# Installs the packages named in $1, or says how to. Nothing to do: says nothing.
packages=$(echo $1)
[ -n "$packages" ] || exit 0
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    echo "leyden needs packages that are not installed. As root, run:" >&2
    echo "    apt-get update && apt-get install --no-install-recommends $packages" >&2
    exit 1
fi
set -e
export DEBIAN_FRONTEND=noninteractive
echo "installing: $packages"
apt-get update -qq
apt-get install -y -qq --no-install-recommends $packages >/dev/null
