#!/bin/bash
# record.sh OUT - on a machine with nvcc 13, an H200 (sm_90) and the profilers: runs every launch of
# launches.inc, every row of the instruction table, the probes and the planted faults, and leaves what
# the hardware did in OUT. golden.py turns that into the committed fixtures.
set -u
out=$1
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
build=$(mktemp -d)
arch=${ARCH:-sm_90}
cd "$build" || exit 1

gcc -O1 -DROWS_PTX_MAIN -D_GNU_SOURCE -iquote "$root/grader" -iquote "$here" "$here/rows_ptx.c" \
    "$root"/grader/emulator/{rows,ptx_types}.c "$root/grader/bytes.c" -lpthread -o rowgen || exit 1
./rowgen >rows.ptx 2>rows.tsv || exit 1
gcc -O1 -c -D_GNU_SOURCE -iquote "$root/grader" -iquote "$here" "$here/rows_ptx.c" -o rows_inputs.o
gcc -O1 -c -D_GNU_SOURCE -iquote "$root/grader" "$root/grader/emulator/rows.c" -o rows.o
gcc -O1 -c -D_GNU_SOURCE -iquote "$root/grader" "$root/grader/emulator/ptx_types.c" -o ptx_types.o
gcc -O1 -c -D_GNU_SOURCE -iquote "$root/grader" "$root/grader/bytes.c" -o bytes.o
gcc -O1 -c -iquote "$here" "$here/truth.c" -o truth.o
nvcc -O1 -std=c++17 -I"$here" -o driver "$here/driver.cu" truth.o rows_inputs.o rows.o ptx_types.o \
    bytes.o -lcuda || exit 1

# The cubins come from the recorded PTX, so that the GPU runs what the emulator reads.
for ptx in "$root"/tests/fixtures/truth/*.ptx; do
    ptxas -arch="$arch" "$ptx" -o "$(basename "${ptx%.ptx}").cubin" || exit 1
done
ptxas -arch="$arch" --fmad=false rows.ptx -o rows.cubin || exit 1
nvcc -O3 -arch="$arch" -cubin "$here/kernels/probes.cu" -o probes.cubin

for variant in sm75 sm90; do
    ./driver launches . $variant "$out" || exit 1
done
./driver rows rows.cubin rows.tsv "$out" && gzip -9 "$out/rows.bin" && cp rows.tsv "$out"

metrics=l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum
metrics+=,l1tex__t_requests_pipe_lsu_mem_global_op_st.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum
metrics+=,l1tex__t_requests_pipe_lsu_mem_global_op_red.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum
metrics+=,l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum
metrics+=,l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum,l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum
metrics+=,l1tex__t_requests_pipe_lsu_mem_local_op_st.sum,l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum
metrics+=,l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum,l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum
metrics+=,smsp__inst_executed_op_shared_ld.sum,smsp__inst_executed_op_shared_st.sum
mkdir -p scratch
for variant in sm75 sm90; do
    ncu --metrics $metrics --csv --page raw --clock-control none \
        ./driver launches . $variant scratch 2>ncu.err | grep '^"' >"counters_$variant.csv"
done
ncu --metrics $metrics --csv --page raw --clock-control none ./driver probes probes.cubin scratch \
    2>>ncu.err | grep '^"' >counters_probes.csv
tail -3 ncu.err
{
    for variant in sm75 sm90 probes; do
        echo "== counters_$variant"
        cat "counters_$variant.csv"
    done
    echo "== probes"
    cat scratch/probes.tsv
} | gzip -9 >"$out/counters.txt.gz"

"$here/sanitizer.sh" "$out"
ls -l "$out"
