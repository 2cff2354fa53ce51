#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes hosts out of network namespaces on one switch, all on this machine. Needs root.
#
#     up.sh NAME node HOSTS RATE              hosts NAMEn0, NAMEn1 ...: the ranks of a node share its one link
#     up.sh NAME rank HOSTS RATE PER_NODE     a host per rank: its link is shaped only towards ranks of other nodes
#
# RATE is one of tc, such as 500mbit. `down.sh NAME` takes everything away.
set -euo pipefail
name=$1 form=$2 hosts=$3 rate=$4 per_node=${5:-1}

address() { echo "10.77.0.$(($1 + 1))"; }

make_namespace() {
    local h
    ip netns add "$1"
    ip -n "$1" link set lo up
    mkdir -p "/etc/netns/$1"
    {
        echo "127.0.0.1 localhost"
        echo "10.77.0.254 ${name}sw"
        for ((h = 0; h < hosts; ++h)); do echo "$(address "$h") ${name}n$h"; done
    } >"/etc/netns/$1/hosts"
}

shape() {  # shape NAMESPACE DEVICE: all that leaves; a burst lasts a tick of the clock, or the rate is not met
    ip netns exec "$1" tc qdisc replace dev "$2" root tbf rate "$rate" burst 256kb latency 50ms
}

shape_towards() {  # shape_towards HOST: what leaves for ranks of other nodes, in one class
    local at=${name}n$1 other
    ip netns exec "$at" tc qdisc add dev eth0 root handle 1: htb default 10
    ip netns exec "$at" tc class add dev eth0 parent 1: classid 1:10 htb rate 20gbit quantum 60000
    ip netns exec "$at" tc class add dev eth0 parent 1: classid 1:20 htb rate "$rate" burst 256kb quantum 60000
    for ((other = 0; other < hosts; ++other)); do
        if ((other / per_node != $1 / per_node)); then
            ip netns exec "$at" tc filter add dev eth0 parent 1: protocol ip u32 match ip dst "$(address "$other")/32" flowid 1:20
        fi
    done
}

shape_from() {  # shape_from HOST: what reaches it from ranks of other nodes
    local port=sw$1 other
    ip netns exec "${name}sw" tc qdisc add dev "$port" root handle 1: htb default 10
    ip netns exec "${name}sw" tc class add dev "$port" parent 1: classid 1:10 htb rate 20gbit quantum 60000
    ip netns exec "${name}sw" tc class add dev "$port" parent 1: classid 1:20 htb rate "$rate" burst 256kb quantum 60000
    for ((other = 0; other < hosts; ++other)); do
        if ((other / per_node != $1 / per_node)); then
            ip netns exec "${name}sw" tc filter add dev "$port" parent 1: protocol ip u32 match ip src "$(address "$other")/32" flowid 1:20
        fi
    done
}

# The switch has a namespace of its own, from which mpirun starts: this machine's own network is not touched.
make_namespace "${name}sw"
ip -n "${name}sw" link add br0 type bridge
ip -n "${name}sw" addr add 10.77.0.254/24 dev br0
ip -n "${name}sw" link set br0 up
for ((h = 0; h < hosts; ++h)); do
    make_namespace "${name}n$h"
    ip link add eth0 netns "${name}n$h" type veth peer name "sw$h" netns "${name}sw"
    ip -n "${name}n$h" addr add "$(address "$h")/24" dev eth0
    ip -n "${name}n$h" link set eth0 up
    ip -n "${name}sw" link set "sw$h" master br0
    ip -n "${name}sw" link set "sw$h" up
    if [[ $form == node ]]; then
        shape "${name}n$h" eth0
        shape "${name}sw" "sw$h"
    fi
done
if [[ $form == rank ]]; then
    for ((h = 0; h < hosts; ++h)); do
        shape_towards "$h"
        shape_from "$h"
    done
fi
