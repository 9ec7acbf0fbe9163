#!/bin/bash
# The summary page of the matrix: page.sh FOLDER PAGE, from FOLDER/*.tsv (tests/matrix/rows.sh).
# Rows that have no results there stay as they are in the page.
set -u
folder=${1:?a folder of results} page=${2:?a page}
titles='pocl:PoCL
llvmpipe:rusticl/llvmpipe
oclgrind:Oclgrind
intel:Intel CPU runtime
cards:cards, by CUDA
pocl5:PoCL 5, beside cards
power:POWER (ppc64le)
arm:Arm (aarch64)
s390x:s390x (big-endian)'
new=$(mktemp)
{
    cat <<'HEADER'
# The matrix: what ran where

Written by `make matrix` ([testing.md](../testing.md#the-matrix) says how each row is got). A map is
of water, with its verification in double precision, and the error is the one that the report's line
"accuracy" has. Seconds are of the clock, beside whatever else ran; under QEMU they say nothing of
the architecture. "known": what failed are faults of the driver that `leyden check` names as known.
Rows that `make matrix` did not run stay as they were.

| Row | Driver | What ran | Result | Seconds | Remark | Date |
|---|---|---|---|---|---|---|
HEADER
    while IFS=: read -r row title; do
        # A row that cannot be had here stays as it was.
        if [ -e "$page" ] && grep -qs $'\tall of it\tskipped' "$folder/$row.tsv" && grep -qF "| $title |" "$page"; then
            grep -F "| $title |" "$page"
        elif [ -s "$folder/$row.tsv" ]; then
            awk -F '\t' -v title="$title" '{gsub(/\|/, "/"); printf "| %s | %s | %s | %s | %s | %s | %s |\n", title, $2, $3, $4 == "failed" ? "**failed**" : $4, $5, $6, $7}' "$folder/$row.tsv"
        elif [ -e "$page" ]; then
            grep -F "| $title |" "$page"
        fi
    done <<<"$titles"
} >"$new"
mkdir -p "$(dirname "$page")"
mv "$new" "$page" && chmod 644 "$page"
echo "written: $page"
