#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# All that needs a GPU, in one go, under five minutes: builds with the NCCL backend, runs the tests labelled `gpu`, then
# several NCCL processes on the one card, which NCCL does not promise to support, behind a hard timeout.
#
#     tests/device/run.sh [FOLDER]      writes FOLDER/device.json and prints a table; FOLDER is build/device if not given
set -uo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
folder=${1:-$root/build/device}
mkdir -p "$folder"
card=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -1)
if [[ -z $card ]]; then
    echo "no GPU: nothing was run"
    exit 77
fi
cmake -S "$root" --preset cuda >"$folder/configure.log" && cmake --build "$root/build/cuda" -j \
    --target evenkeel_nccl_probe >"$folder/build.log" || { tail "$folder/configure.log" "$folder/build.log"; exit 1; }
probe=$root/build/cuda/tests/evenkeel_nccl_probe

result() { if [[ $1 -eq 0 ]]; then echo right; elif [[ $1 -eq 124 || $1 -eq 137 ]]; then echo "timed out"; else echo "failed ($1)"; fi; }

timeout -k 5 60 "$probe" >"$folder/one.log" 2>&1
one=$?
# Every process counts as a host of its own, so they meet over sockets.
several=0
rm -f "$folder/id"
processes=()
for rank in 0 1; do
    NCCL_HOSTID=evenkeel$rank NCCL_NET=Socket NCCL_SOCKET_IFNAME=lo NCCL_MAX_CTAS=2 \
        timeout -k 5 90 "$probe" 2 $rank "$folder/id" >"$folder/several.$rank.log" 2>&1 &
    processes+=($!)
done
for process in "${processes[@]}"; do
    wait "$process" || several=$?
done
printf '%-44s %s\n' "card" "$card" "one rank over NCCL" "$(result $one)" \
    "two NCCL processes on one card, over sockets" "$(result $several)"
printf '{"card": "%s", "one_rank": "%s", "two_processes_on_one_card": "%s"}\n' "$card" "$(result $one)" \
    "$(result $several)" >"$folder/device.json"
# Whether two processes may share a card is NCCL's business, not a fault of this library.
exit $one
