#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Exchanges between emulated hosts are right under every algorithm, and the links carry what was predicted.
#
#     check.sh EVENKEEL_PERF      status 77 and a reason where this machine permits no such hosts
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
perf=$1
name=ek$$
skip() { echo "SKIPPED: $1"; exit 77; }

[[ $(id -u) -eq 0 ]] || skip "making network namespaces takes root"
for tool in ip tc unshare mpirun; do
    command -v $tool >/dev/null || skip "there is no $tool"
done
scratch=$(mktemp -d)
# What is being made when a signal comes is made first: otherwise it would be there after all was taken away.
trap 'wait; "$here/down.sh" $name; rm -rf "$scratch"' EXIT
"$here/up.sh" $name node 2 500mbit 2>"$scratch/why" &
wait $! || skip "no emulated hosts: $(head -1 "$scratch/why")"

"$here/mpirun.sh" $name 2 2 "$perf" --backend mpi --ranks 4 --ranks-per-node 2 -b 0 -e 64K -f 256 -n 2 -w 1 \
    --rounds 2 >"$scratch/out" 2>&1 || { cat "$scratch/out"; exit 1; }
grep -q '^# wrong bytes: 0$' "$scratch/out" || { cat "$scratch/out"; exit 1; }

sent() { ip netns exec ${name}n0 cat /sys/class/net/eth0/statistics/tx_bytes; }
for algorithm in flat two_hop spread; do
    before=$(sent)
    "$here/mpirun.sh" $name 2 2 "$perf" --backend mpi --ranks 4 --ranks-per-node 2 -b 4M -e 4M -n 1 -w 1 --rounds 2 \
        --algorithm $algorithm --measure 0 --json "$scratch/json" >"$scratch/out" 2>&1 || { cat "$scratch/out"; exit 1; }
    counted=$(($(sent) - before))
    number() { grep -m1 "\"$1\"" "$scratch/json" | tr -dc '0-9'; }
    predicted=$(($(number exchanges) * $(number busiest_node)))
    if ((counted < predicted || counted * 100 > predicted * 106)); then
        echo "$algorithm: the link of a host has carried $counted bytes, predicted were $predicted and at most 6 % more"
        exit 1
    fi
done
echo "4 ranks on 2 hosts: bytes right, links as predicted"
