#!/bin/bash
# sanitizer.sh OUT - on a machine with nvcc, a GPU and compute-sanitizer: what its four tools say of
# each planted fault. OUT/sanitizer.tsv: fault, tool, exit status of the tool (124: it hung), the
# number of errors it counted, its first words. OUT/sanitizer.txt.gz: its words in full.
set -u
out=$1
here=$(cd "$(dirname "$0")" && pwd)
arch=${ARCH:-sm_90}
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
nvcc -std=c++17 -o "$build/faults_driver" "$here/faults_driver.cu" \
    -L"$(dirname "$(readlink -f "$(command -v nvcc)")")/../lib64/stubs" -L/usr/local/nvidia/lib64 -lcuda || exit 1
nvcc -std=c++17 -O3 -arch="$arch" -lineinfo -cubin "$here/kernels/faults.cu" \
    -o "$build/faults.cubin" || exit 1

watch_one() { # fault tool
    local extra= log=$build/$1.$2
    [ "$2" = memcheck ] && extra="--leak-check full"
    [ "$2" = racecheck ] && extra="--racecheck-report all"
    timeout -k 5 "${LIMIT:-40}" compute-sanitizer --tool "$2" $extra --print-limit 20 \
        "$build/faults_driver" "$build/faults.cubin" "$1" >"$log" 2>&1
    echo $? >"$log.status"
}
export -f watch_one
export build
faults=${FAULTS:-$(grep -o '^FAULT [a-z_]*' "$here/kernels/faults.cu" | cut -d' ' -f2)}
for fault in $faults; do
    for tool in memcheck racecheck initcheck synccheck; do
        echo "$fault $tool"
    done
done | xargs -P "${JOBS:-8}" -L 1 bash -c 'watch_one "$0" "$1"'

for fault in $faults; do
    for tool in memcheck racecheck initcheck synccheck; do
        log=$build/$fault.$tool
        summary=$(grep -o 'SUMMARY: .*' "$log" | tail -1 | grep -o '[0-9]*' | head -1)
        words=$(grep '^=========' "$log" | grep -v 'COMPUTE-SANITIZER\|SUMMARY\|^========= *$' |
            head -1 | sed 's/^========= *//' | tr '\t' ' ')
        printf '%s\t%s\t%s\t%s\t%s\n' "$fault" "$tool" "$(cat "$log.status")" "${summary:--}" \
            "${words:--}"
    done
done >"$out/sanitizer.tsv"
for fault in $faults; do
    for tool in memcheck racecheck initcheck synccheck; do
        echo "== $fault $tool"
        grep -v 'Host Frame\|Saved host\|host backtrace' "$build/$fault.$tool" | head -30
    done
done | gzip -9 >"$out/sanitizer.txt.gz"
