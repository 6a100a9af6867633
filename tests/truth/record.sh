#!/bin/bash
# record.sh OUT [PART…] - on a machine with nvcc 13, an H200 (sm_90) and the profilers: runs every launch
# of launches.inc, every row of the instruction table, the probes and the planted faults, and leaves
# what the hardware did in OUT (about eight minutes). golden.sh turns that into the committed fixtures.
# PART: outputs, rows, counters, turns, sanitizer; all of them if none is named. FAULTS="name…": only these
# planted faults.
set -u
out=$1
shift
parts=${*:-outputs rows counters turns sanitizer}
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
build=$(mktemp -d)
arch=${ARCH:-sm_90}
cd "$build" || exit 1
step() { echo "== $* ($SECONDS s)"; }

step build
for source in "$here"/{rows_ptx,rows_video,truth,turns}.c "$root"/grader/emulator/{rows,ptx_types}.c "$root/grader/bytes.c"; do
    gcc -O1 -c -D_GNU_SOURCE -iquote "$root/grader" -iquote "$here" "$source" || exit 1
done
gcc -O1 -DROWS_PTX_MAIN -D_GNU_SOURCE -iquote "$root/grader" -iquote "$here" "$here/rows_ptx.c" \
    {rows_video,rows,ptx_types,bytes}.o -lpthread -o rowgen || exit 1
./rowgen >rows.ptx 2>rows.tsv || exit 1
nvcc -O1 -std=c++17 -I"$here" -o driver "$here/driver.cu" {truth,turns,rows_ptx,rows_video,rows,ptx_types,bytes}.o \
    -L"$(dirname "$(readlink -f "$(command -v nvcc)")")/../lib64/stubs" -L/usr/local/nvidia/lib64 -lcuda ||
    exit 1

# The cubins come from the recorded PTX, so that the GPU runs what the emulator reads. A product and
# a sum stay two operations, as PTX has them; in fused/ ptxas joins them, as it does by default.
assemble() { # PTX
    local options=
    case $1 in
    *_debug.ptx) options="-g --dont-merge-basicblocks --return-at-end" ;;
    esac
    ptxas -arch="$arch" --fmad=false $options "$1" -o "$(basename "${1%.ptx}").cubin" &&
        ptxas -arch="$arch" $options "$1" -o "fused/$(basename "${1%.ptx}").cubin"
}
mkdir fused
export -f assemble
export arch
case $parts in
*outputs* | *counters*)
    ls "$root"/tests/fixtures/truth/*.ptx | xargs -P 8 -I{} bash -c 'assemble {}' || exit 1
    ;;
esac
nvcc -O3 -arch="$arch" -cubin "$here/kernels/probes.cu" -o probes.cubin || exit 1
ptxas -arch="$arch" --fmad=false rows.ptx -o rows.cubin || exit 1

groups=$(sed -n 's/^GROUP(\([a-z]*\), \([a-z0-9]*\),.*/\1_\2/p' "$here/launches.inc")

record_outputs() {
    step outputs
    mkdir outputs outputs_fused
    for group in $groups; do
        ./driver launches . "$group" outputs || echo "failed: $group"
        ./driver launches fused "$group" outputs_fused || echo "failed: $group, fused"
    done
    mkdir outputs/fused
    cp outputs_fused/*.tsv outputs/fused
    tar czf "$out/outputs.tgz" outputs
}

record_rows() {
    step rows
    mkdir rows
    ./driver rows rows.cubin rows.tsv rows && cp rows.tsv rows
    tar czf "$out/rows.tgz" rows
}

wanted="l1tex__t_requests_pipe_lsu_mem_global_op_ld l1tex__t_sectors_pipe_lsu_mem_global_op_ld
l1tex__t_requests_pipe_lsu_mem_global_op_st l1tex__t_sectors_pipe_lsu_mem_global_op_st
l1tex__t_requests_pipe_lsu_mem_global_op_red l1tex__t_sectors_pipe_lsu_mem_global_op_red
l1tex__t_requests_pipe_lsu_mem_global_op_atom l1tex__t_sectors_pipe_lsu_mem_global_op_atom
l1tex__t_requests_pipe_lsu_mem_local_op_ld l1tex__t_sectors_pipe_lsu_mem_local_op_ld
l1tex__t_requests_pipe_lsu_mem_local_op_st l1tex__t_sectors_pipe_lsu_mem_local_op_st
l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st
l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom l1tex__data_pipe_lsu_wavefronts_mem_shared
l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st
smsp__inst_executed_op_shared_ld smsp__inst_executed_op_shared_st smsp__inst_executed_op_shared_atom
smsp__inst_executed_op_shared_atom_dot_alu smsp__inst_executed_op_shared_atom_dot_cas
smsp__inst_executed_op_ldgsts l1tex__t_requests_pipe_lsu_mem_global_op_ldgsts
l1tex__t_sectors_pipe_lsu_mem_global_op_ldgsts smsp__inst_executed smsp__inst_executed_op_local_ld
smsp__inst_executed_op_local_st smsp__inst_executed_op_generic_ld"
choose() { # METRIC…: those that this profiler has
    [ -e known ] || ncu --query-metrics --chip gh100 2>/dev/null | awk '{print $1}' | sort -u >known
    metrics=
    for metric in "$@"; do
        grep -qx "$metric" known && metrics+=${metrics:+,}$metric.sum || echo "no metric $metric"
    done
}
record_counters() {
    step counters
    mkdir counters scratch
    choose $wanted
    for group in $groups; do
        count "$group" ./driver launches . "$group" scratch
    done
    for again in 1 2 3; do # the counters of shared memory carry noise: the least counts
        count large_sm90_$again ./driver launches . large_sm90 scratch
    done
    count probes ./driver probes probes.cubin counters
    gzip -9 counters/*.csv
    tar czf "$out/counters.tgz" counters
}
record_turns() { # those of shared memory come last
    step turns
    mkdir -p counters turns
    choose $(printf '%s\n' $wanted | grep -E 'global_op_(red|atom)$')
    count turns_global -k 'regex:probe_(red|atom|cas|exchange|float|double)' ./driver turns probes.cubin turns
    choose $(printf '%s\n' $wanted | grep -E 'wavefronts_mem_shared_op_(ld|st)$|executed_op_shared_(ld|st)$')
    count turns_shared -k 'regex:probe_(some|put)' ./driver turns probes.cubin turns
    gzip -9 counters/turns_*.csv
    mv counters/turns_* turns
    tar czf "$out/turns.tgz" turns
}
count() { # NAME DRIVER-ARGUMENT…: one line a launch and metric, as CSV
    local name=$1
    shift
    ncu --metrics $metrics --csv --print-units base --clock-control none --log-file "counters/$name.csv" \
        "$@" >"counters/$name.out" 2>&1 || tail -3 "counters/$name.out" "counters/$name.csv"
}

record_sanitizer() {
    step sanitizer
    "$here/sanitizer.sh" "$out"
}

for part in $parts; do
    "record_$part"
done
nvidia-smi --query-gpu=name,driver_version,compute_cap --format=csv,noheader >"$out/machine.txt"
{
    nvcc --version | tail -2
    ncu --version | tail -1
    compute-sanitizer --version | tail -1
    date -u +%F
} >>"$out/machine.txt"
cat "$out/machine.txt"
ls -l "$out"
step done
