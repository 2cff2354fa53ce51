#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures exchanges on one host and over emulated hosts and judges them: beside MPI_Alltoallv, what the links have
# counted against what was predicted, time against the rate, algorithm against algorithm, all in turns and by the
# median; and packing beside memcpy. Needs root, Open MPI, tc and a machine that does nothing else.
#
#     measure.sh EVENKEEL_PERF [LENGTHS.csv]      about three minutes; a line per bound, status 1 if one is missed
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
perf=$(realpath "$1")
lengths=${2:+$(realpath "$2")}
name=ekm
scratch=$(mktemp -d)
# What is being made when a signal comes is made first: otherwise it would be there after all was taken away.
trap 'wait; "$here/down.sh" $name; rm -rf "$scratch"' EXIT
up() {
    "$here/up.sh" $name "$@" &
    wait $!
}
"$here/down.sh" $name
missed=0

judge() {  # judge WHAT FIGURE BOUND
    local verdict=ok
    awk "BEGIN { exit !($2 <= $3) }" || { verdict=MISSED; missed=1; }
    printf '%-78s %8.3f  at most %5.2f  %s\n' "$1" "$2" "$3" "$verdict"
}
ratio() { awk "BEGIN { printf \"%.4f\", $1 / $2 }"; }
over_alltoallv() { awk '$2 == "flat" && $4 == "alltoallv:" { print $5 + 0 }' "$scratch/table"; }
time_of() { awk -v name="$1" '{ split($3, parts, "="); if (parts[1] == name) print $4 }' "$scratch/table"; }
predicted() { grep -m1 "\"$1\"" "$scratch/json" | tr -dc '0-9'; }

perf_on() {  # perf_on HOSTS RANKS_PER_HOST ARGUMENTS...
    local hosts=$1 per_host=$2
    shift 2
    "$here/mpirun.sh" $name "$hosts" "$per_host" "$perf" --backend mpi --ranks $((hosts * per_host)) "$@" \
        --json "$scratch/json" >"$scratch/table" 2>"$scratch/errors" || { cat "$scratch/errors"; exit 1; }
    grep -q '^# wrong bytes: 0$' "$scratch/table" || { cat "$scratch/table"; exit 1; }
}
sent_by() { ip netns exec "${name}n$1" cat /sys/class/net/eth0/statistics/tx_bytes; }

automatic_beside_the_best() {  # automatic_beside_the_best WHERE
    local best worst all
    all="$(time_of flat) $(time_of two_hop) $(time_of spread)"
    best=$(tr ' ' '\n' <<<"$all" | sort -g | head -1)
    worst=$(tr ' ' '\n' <<<"$all" | sort -g | tail -1)
    judge "$1: automatic / the best of the three" "$(ratio "$(time_of automatic)" "$best")" 1.15
    if awk "BEGIN { exit !($worst > 1.2 * $best) }"; then
        judge "$1: automatic / the worst of the three" "$(ratio "$(time_of automatic)" "$worst")" 1.0
    fi
}

for kib in 1 4 16 64 256 1024; do
    "$here/../mpirun.sh" -n 8 "$perf" --backend mpi --ranks 8 -b $((8 * kib))K -e $((8 * kib))K -n 20 -w 5 --rounds 11 \
        --algorithm flat,alltoallv --measure 0 >"$scratch/table"
    judge "8 ranks on this host, blocks of $kib KiB: flat / MPI_Alltoallv" "$(over_alltoallv)" 1.05
done
for bytes in 4096 65536 1048576; do
    fraction=$("$perf" --pack $bytes --rounds 11 | awk '{ for (i = 1; i < NF; ++i) if ($i == "at") print $(i + 1) }')
    judge "0.8 x memcpy of 256 MiB / packing it as samples of $bytes bytes" "$(ratio 0.8 "$fraction")" 1.0
done

up node 2 500mbit
before=$(sent_by 0)
perf_on 2 2 --ranks-per-node 2 -b 16M -e 16M -n 1 -w 1 --rounds 5 --algorithm flat --measure 0
after=$(sent_by 0)
exchanges=$(predicted exchanges)
judge "2 hosts x 2, 500 Mbit/s, 4 MiB: bytes counted / predicted" \
    "$(ratio $((after - before)) $((exchanges * $(predicted busiest_node))))" 1.06
for size in 4M 16M; do
    perf_on 2 2 --ranks-per-node 2 -b $size -e $size -n 3 -w 1 --rounds 11 --algorithm flat,alltoallv --measure 0
    judge "2 hosts x 2, 500 Mbit/s, $size per rank: time / (busiest link's bytes / rate)" \
        "$(awk "BEGIN { print $(time_of flat) / ($(predicted busiest_node) * 8 / 500) }")" 1.25
    judge "2 hosts x 2, 500 Mbit/s, $size per rank: flat / MPI_Alltoallv" \
        "$(over_alltoallv)" 1.0
done
if [[ -n $lengths ]]; then
    perf_on 2 2 --ranks-per-node 2 --lengths "$lengths" --plan scratch -n 1 -w 1 --rounds 5 --algorithm flat --measure 0
    scratch_time=$(time_of flat) scratch_bytes=$(predicted busiest_node)
    perf_on 2 2 --ranks-per-node 2 --lengths "$lengths" --plan stay -n 1 -w 1 --rounds 5 --algorithm flat --measure 0
    bytes=$(ratio "$scratch_bytes" "$(predicted busiest_node)") times=$(ratio "$scratch_time" "$(time_of flat)")
    printf '%-78s %8.1f\n' "busiest link's bytes, from scratch / staying at home" "$bytes"
    printf '%-78s %8.1f\n' "time, from scratch / staying at home" "$times"
    judge "half of the ratio of bytes / ratio of times" "$(awk "BEGIN { print $bytes / 2 / $times }")" 1.0
fi
"$here/down.sh" $name

up node 2 1gbit
for size in 512 8K; do
    perf_on 2 4 --ranks-per-node 4 -b $size -e $size -n 50 -w 5 --rounds 9 --algorithm flat,two_hop,spread,automatic
    judge "2 hosts x 4, 1 Gbit/s, blocks of $size / 8: two_hop / flat" "$(ratio "$(time_of two_hop)" "$(time_of flat)")" 0.75
    automatic_beside_the_best "2 hosts x 4, 1 Gbit/s, blocks of $size / 8"
done
for size in 128K 2M; do
    perf_on 2 4 --ranks-per-node 4 -b $size -e $size -n 5 -w 2 --rounds 9 --algorithm flat,two_hop,spread,automatic
    automatic_beside_the_best "2 hosts x 4, 1 Gbit/s, blocks of $size / 8"
done
"$here/down.sh" $name

# Rank 0 sends four times as much as the others.
for ((from = 0; from < 8; ++from)); do
    for ((to = 0; to < 8; ++to)); do
        echo -n "$((from == to ? 0 : from == 0 && to > 3 ? 1048576 : 262144)) "
    done
    echo
done >"$scratch/skewed"
up rank 8 200mbit 4
perf_on 8 1 --ranks-per-node 4 --matrix "$scratch/skewed" -n 2 -w 1 --rounds 5 --algorithm flat,two_hop,spread,automatic
judge "2 nodes x 4, a link of 200 Mbit/s per rank, skewed 256 KiB: spread / flat" \
    "$(ratio "$(time_of spread)" "$(time_of flat)")" 0.75
automatic_beside_the_best "2 nodes x 4, a link of 200 Mbit/s per rank, skewed 256 KiB"
exit $missed
