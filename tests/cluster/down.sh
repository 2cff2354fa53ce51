#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Takes away what `up.sh NAME` has made, as much of it as there is.
set -uo pipefail
name=$1
for namespace in $(ip netns list | awk '{print $1}' | grep -E "^${name}(n[0-9]+|sw)$"); do
    # A namespace lives as long as a process in it.
    for process in $(ip netns pids "$namespace"); do kill -9 "$process" 2>/dev/null; done
    ip netns del "$namespace"
    # Open MPI leaves its folder where its processes were killed.
    rm -rf "/etc/netns/$namespace" "${TMPDIR:-/tmp}/ompi.$namespace."*
done
