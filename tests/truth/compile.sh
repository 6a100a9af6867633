#!/bin/bash
# compile.sh - records the PTX of the kernels in tests/fixtures/truth, one file for each way to
# compile: FILE_sm75, FILE_sm90 (-O3), FILE_plain (-O3, but the front end does not optimise) and
# FILE_debug (-G).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=$here/../fixtures/truth
cd "$here/kernels"

compile() { # SOURCE OUT OPTION…
    local source=$1 ptx=$2
    shift 2
    nvcc -std=c++17 -ptx "$@" "$source" -o "$ptx"
    sed -i 's|\.file\t\([0-9]*\) "[^"]*/|.file\t\1 "|' "$ptx" # no paths of this machine
}

for file in basics control numbers; do
    for arch in 75 90; do
        compile $file.cu "$out/${file}_sm$arch.ptx" -O3 -arch=sm_$arch -lineinfo
    done
done
for file in algorithms atoms modern libm; do
    compile $file.cu "$out/${file}_sm90.ptx" -O3 -arch=sm_90 -lineinfo
done
compile fast.cu "$out/fast_sm90.ptx" -O3 -arch=sm_90 -lineinfo -use_fast_math
for file in control algorithms; do
    compile $file.cu "$out/${file}_plain.ptx" -O3 -Xcicc -O0 -arch=sm_90
done
for file in basics control; do
    compile $file.cu "$out/${file}_debug.ptx" -G -arch=sm_90
done
for arch in 75 90; do
    compile "$here/../../reference/day17-registers/registers.cu" "$out/decay_sm$arch.ptx" -O3 \
        -arch=sm_$arch -lineinfo
done
compile probes.cu "$out/probes.ptx" -O3 -arch=sm_90
cp hand.ptx "$out/hand_sm90.ptx"
compile faults.cu "$out/faults.ptx" -O3 -arch=sm_80 -lineinfo
