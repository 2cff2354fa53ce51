#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Stands in for ssh: `agent.sh HOST COMMAND...` runs a command on an emulated host, with a host name, shared memory and
# IPC of its own.
while [[ ${1#-} != "$1" ]]; do shift; done
export EVENKEEL_CLUSTER_HOST=$1
shift
export EVENKEEL_CLUSTER_COMMAND=$*
exec ip netns exec "$EVENKEEL_CLUSTER_HOST" unshare --uts --mount --ipc sh -c '
    hostname "$EVENKEEL_CLUSTER_HOST"
    mount -t tmpfs tmpfs /dev/shm
    exec sh -c "$EVENKEEL_CLUSTER_COMMAND"'
