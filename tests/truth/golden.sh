#!/bin/bash
# golden.sh RECORDED - makes the fixtures in tests/fixtures/truth/golden out of what record.sh left:
# those of the parts that are there; the others stay as they are.
set -eu
recorded=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
golden=$here/../fixtures/truth/golden
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$golden"
cd "$work"
for part in outputs rows counters turns; do
    [ ! -e "$recorded/$part.tgz" ] || tar xzf "$recorded/$part.tgz"
done

groups=$(sed -n 's/^GROUP(\([a-z]*\), \([a-z0-9]*\),.*/\1_\2/p' "$here/launches.inc")
columns="l1tex__t_requests_pipe_lsu_mem_global_op_ld l1tex__t_sectors_pipe_lsu_mem_global_op_ld
l1tex__t_requests_pipe_lsu_mem_global_op_st l1tex__t_sectors_pipe_lsu_mem_global_op_st
l1tex__t_requests_pipe_lsu_mem_local_op_ld l1tex__t_sectors_pipe_lsu_mem_local_op_ld
l1tex__t_requests_pipe_lsu_mem_local_op_st l1tex__t_sectors_pipe_lsu_mem_local_op_st
l1tex__t_requests_pipe_lsu_mem_global_op_red l1tex__t_sectors_pipe_lsu_mem_global_op_red
l1tex__t_requests_pipe_lsu_mem_global_op_atom l1tex__t_sectors_pipe_lsu_mem_global_op_atom
smsp__inst_executed_op_shared_ld l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld
smsp__inst_executed_op_shared_st l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st
smsp__inst_executed_op_shared_atom smsp__inst_executed"

# One line a launch out of the profiler's one line a metric; launches come in their order.
flatten() { # FILE
    gzip -dc "$1.csv.gz" | awk -F'","' -v columns="$columns" '
        BEGIN { n = split(columns, wanted, /[ \n]+/) }
        function flush_row(  i) {
            if (kernel == "") return
            printf "%s", value[wanted[1] ".sum"] + 0
            for (i = 2; i <= n; ++i) printf "\t%s", value[wanted[i] ".sum"] + 0
            printf "\n"
        }
        /^"[0-9]/ {
            id = substr($1, 2)
            if (id != last) { flush_row(); split("", value); last = id; kernel = $5 }
            text = $15
            gsub(/[",]/, "", text)
            value[$13] = text
        }
        END { flush_row() }'
}
names() { # GROUP: its launches
    sed -n "s/^LAUNCH(${1%_*}, \([A-Za-z0-9_]*\), \([A-Za-z0-9_]*\),.*/$1\t\2/p" "$here/launches.inc"
}
[ ! -d counters ] || for group in $groups; do
    flatten "counters/$group" >counted
    [ "$(names "$group" | wc -l)" = "$(wc -l <counted)" ] || echo "$group: $(wc -l <counted) launches" >&2
    if [ "$group" = large_sm90 ]; then # counted again and again: the least, of the noisy counters
        for again in 1 2 3; do
            flatten "counters/${group}_$again" | paste counted - | awk -v n="$(awk 'NR == 1 { print NF }' counted)" '{
                for (i = 1; i <= n; ++i) printf "%s%s", ($i < $(i + n) ? $i : $(i + n)), i < n ? "\t" : "\n"
            }' >least
            mv least counted
        done
    fi
    names "$group" | paste - counted
done >"$golden/counters.tsv"
if [ -d counters ]; then
    flatten counters/probes >probes.counters
    paste "counters/probes.tsv" probes.counters >"$golden/probes.tsv"
fi
if [ -d turns ]; then
    { flatten turns/turns_global && flatten turns/turns_shared; } | paste turns/turns.tsv - >"$golden/turns.tsv"
fi

# Outputs: a hash each; the bytes themselves of approximations, one after another. What was printed.
[ ! -d outputs ] || : >"$golden/approximate.bin"
[ ! -d outputs ] || for group in $groups; do
    place=0
    while IFS=$'\t' read -r launch argument bytes hash; do
        offset=-1
        if grep -q "^LAUNCH(${group%_*}, [A-Za-z0-9_]*, $launch, .*, \(ULPS(\|NEAR(\|ANY_NAN\)" "$here/launches.inc"; then
            offset=$(stat -c %s "$golden/approximate.bin")
            tail -c +$((place + 1)) "outputs/$group.bin" | head -c "$bytes" >>"$golden/approximate.bin" || true
        fi
        printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$group" "$launch" "$argument" "$bytes" "$hash" "$offset"
        [ "$bytes" -gt 262144 ] || place=$((place + bytes)) # larger ones are not in the file
    done <"outputs/$group.tsv"
done >"$golden/outputs.tsv"
[ ! -d outputs ] || cat outputs/*.printed >"$golden/printed.txt"

# Where it matters whether ptxas joins a product and a sum, as it does by default.
[ ! -d outputs ] || for group in $groups; do
    diff <(cut -f 1,2,4 "outputs/$group.tsv") <(cut -f 1,2,4 "outputs/fused/$group.tsv") |
        sed -n 's/^< //p' | cut -f 1 | sort -u | sed "s/^/$group\t/"
done >"$golden/fused.tsv"

# The planted faults: those that were run anew, in the place of what is known of them.
if [ -e "$recorded/sanitizer.tsv" ]; then
    awk -F'\t' 'FNR == NR { anew[$1] = 1; next } !($1 in anew)' "$recorded/sanitizer.tsv" \
        "$golden/sanitizer.tsv" >kept
    cat kept "$recorded/sanitizer.tsv" >"$golden/sanitizer.tsv"
fi

# The instructions: a hash each; of approximations also the first 512 results of 8 bytes.
[ -d rows ] || exit 0
: >"$golden/rows_approximate.bin"
index=0
while IFS=$'\t' read -r key hash; do
    offset=-1
    if [[ $key == *" approximate" ]]; then
        offset=$(stat -c %s "$golden/rows_approximate.bin")
        tail -c +$((index * 16384 + 1)) rows/rows.bin | head -c 4096 >>"$golden/rows_approximate.bin" || true
    fi
    printf '%s\t%s\t%s\n' "$key" "$hash" "$offset"
    index=$((index + 1))
done <rows/rows_hash.tsv >"$golden/rows.tsv"
