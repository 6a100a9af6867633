#!/bin/bash
# sanitizer_table.sh > sanitizer.md - the planted faults, as compute-sanitizer saw them (recorded in
# tests/fixtures/truth/golden/sanitizer.tsv) and as the emulator does (build/release/spillway).
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
tsv=$root/tests/fixtures/truth/golden/sanitizer.tsv
spillway=${SPILLWAY_BINARY:-$root/build/release/spillway}

cat <<'END'
# The planted faults, under compute-sanitizer and under the emulator

The kernels of `kernels/faults.cu`, 2 blocks of 64 threads on 64 ints. compute-sanitizer 2025.3.1 (CUDA 13.0) on an
H200, driver 580.159.04, 2026-11-30: all four tools, with `--leak-check full` and `--racecheck-report all`; the first
words of each tool that reported something. The emulator: all checks at once; warnings in brackets; the number is the
line in `faults.cu`.

| fault | compute-sanitizer | the emulator |
|---|---|---|
END
cut -f 1 "$tsv" | uniq | while read -r fault; do
    seen=$(awk -F'\t' -v fault="$fault" '$1 == fault && $3 == 124 { print "hangs"; exit }
        $1 == fault && $4 != "0" { sub(/ at __shared__.*/, "", $5); printf "%s%s: %s", n++ ? "; " : "", $2, $5 }' "$tsv")
    data="inout:s32:$(seq -s, 0 63)"
    case $fault in *uninitialised*) data=out:s32:64 ;; esac
    found=$("$spillway" emulate "$root/tests/fixtures/truth/faults.ptx" --entry "$fault" --grid 2 --block 64 \
        --arg "$data" --arg s32:64 --threads 1 --json 2>/dev/null |
        awk -F'"' '/"kind":/ { kind = $4 }
            /"line":/ { line = $3; gsub(/[^0-9]/, "", line) }
            /"warning":/ {
                text = kind " " line
                printf "%s%s", n++ ? "; " : "", ($3 ~ /true/ ? "(" text ")" : text)
            }')
    echo "| \`$fault\` | ${seen:-nothing} | ${found:-nothing} |"
done
