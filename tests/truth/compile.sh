#!/bin/bash
# compile.sh - records the PTX of the kernels (tests/fixtures/truth), for sm_75 and sm_90.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/kernels"
for file in basics control numbers; do
    for arch in 75 90; do
        ptx=../../fixtures/truth/${file}_sm$arch.ptx
        nvcc -std=c++17 -O3 -arch=sm_$arch -lineinfo -ptx $file.cu -o "$ptx"
        sed -i 's|\.file\t\([0-9]*\) "[^"]*/|.file\t\1 "|' "$ptx" # no paths of this machine
    done
done
nvcc -std=c++17 -O3 -arch=sm_80 -lineinfo -ptx faults.cu -o ../../fixtures/truth/faults.ptx
sed -i 's|\.file\t\([0-9]*\) "[^"]*/|.file\t\1 "|' ../../fixtures/truth/faults.ptx
