#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# All that needs a GPU, in one go, under five minutes: builds with the NCCL backend for the card, then runs
#   - the tests of comm with 8 ranks and fewer that share the card (loopback), and on device memory,
#   - real NCCL with one rank,
#   - evenkeel_perf with 8 ranks that share the card, on device memory,
#   - packing beside one copy of as many bytes,
#   - several NCCL processes on the one card, which NCCL does not promise to support, behind a hard timeout.
#
#     tests/device/run.sh [FOLDER]      writes FOLDER/device.json and prints a table; FOLDER is build/device if not given
set -uo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
folder=${1:-$root/build/device}
mkdir -p "$folder"
# Where it finds no GPU or no driver, nvidia-smi says so on its standard output.
if ! cards=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null) || [[ -z $cards ]]; then
    echo "no GPU: nothing was run"
    exit 77
fi
card=${cards%%$'\n'*}
architecture=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -1 | tr -d .)
build=$folder/cuda
cmake -S "$root" --preset cuda -B "$build" -D EVENKEEL_CUDA_ARCHITECTURES="$architecture" -D EVENKEEL_EXAMPLES=OFF \
    -D EVENKEEL_MPI=OFF >"$folder/configure.log" && cmake --build "$build" -j "$(nproc)" \
    --target evenkeel_nccl_probe evenkeel_device_tests evenkeel_device_pack evenkeel_perf \
    >"$folder/build.log" ||
    { tail "$folder/configure.log" "$folder/build.log"; exit 1; }
probe=$build/tests/evenkeel_nccl_probe

# In the foreground, where an interrupt from the terminal reaches it as well. Those in the background have to be told.
within() { timeout --foreground -k 5 "$@"; }
processes=()
trap 'kill "${processes[@]}" 2>/dev/null; wait; exit 130' INT TERM

result() {
    case $1 in
        0) echo right ;;
        124 | 137) echo "timed out" ;;
        *) echo "failed ($1)" ;;
    esac
}

within 80 "$build/tests/evenkeel_device_tests" --gtest_brief=1 >"$folder/loopback.log" 2>&1
loopback=$?
within 30 "$probe" >"$folder/one.log" 2>&1
one=$?
within 40 "$build/tests/evenkeel_device_pack" "$folder/pack.json" | tee "$folder/pack.log"
pack=${PIPESTATUS[0]}
within 40 "$build/bench/evenkeel_perf/evenkeel_perf" --backend loopback --ranks 8 --ranks-per-node 4 \
    -b 64K -e 64M -f 32 --measure 0 --json "$folder/perf.json" | tee "$folder/perf.log"
perf=${PIPESTATUS[0]}
# Every process counts as a host of its own, so they meet over sockets.
several=0
rm -f "$folder/id"
for rank in 0 1; do
    NCCL_HOSTID=evenkeel$rank NCCL_NET=Socket NCCL_SOCKET_IFNAME=lo NCCL_MAX_CTAS=2 \
        timeout -k 5 40 "$probe" 2 $rank "$folder/id" >"$folder/several.$rank.log" 2>&1 &
    processes+=($!)
done
for process in "${processes[@]}"; do
    wait "$process" || several=$?
done
rows=(card "$card"
    loopback "$(result $loopback)"
    one_rank "$(result $one)"
    perf_over_loopback "$(result "$perf")"
    packing "$(result "$pack")"
    two_processes_on_one_card "$(result $several)")
printf '%-28s %s\n' "${rows[@]}"
json=$(printf ', "%s": "%s"' "${rows[@]}")
echo "{${json:2}}" >"$folder/device.json"
# Whether two processes may share a card is NCCL's business, not a fault of this library.
exit $((loopback || one || perf || pack))
