#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# mpirun over the emulated hosts NAMEn0, NAMEn1 ...:  mpirun.sh NAME HOSTS RANKS_PER_HOST PROGRAM [ARGUMENTS]
set -euo pipefail
name=$1 hosts=$2 ranks=$3
shift 3
list=""
for ((h = 0; h < hosts; ++h)); do list+="${list:+,}${name}n$h:$ranks"; done
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# In the foreground: an interrupt from the terminal is for mpirun, too.
exec ip netns exec "${name}sw" unshare --uts sh -c "hostname ${name}sw"' && exec "$@"' sh \
    timeout --foreground --kill-after=5 120 mpirun \
    --mca plm_rsh_agent "$(cd "$(dirname "$0")" && pwd)/agent.sh" --host "$list" \
    --oversubscribe --bind-to none --map-by slot --mca pml ob1 --mca btl self,vader,tcp \
    --mca btl_tcp_if_include eth0 --mca mpi_yield_when_idle 1 "$@"
