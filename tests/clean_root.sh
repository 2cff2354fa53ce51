#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the README's two commands on a clean clone, each in a bare Debian 12 root of its own (debootstrap, chroot). Needs
# root and some minutes. Finds what bootstrap.sh forgets, which a machine that builds the project daily has already.
#
#     tests/clean_root.sh              both commands
#     tests/clean_root.sh COMMAND...   one command, from the clone's folder
set -euo pipefail

source=$(CDPATH= cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)
suite=bookworm

die() { echo "clean_root: $*" >&2; exit 1; }
[[ $(id -u) -eq 0 ]] || die "needs root, for chroot"
for need in debootstrap git unshare; do
    command -v "$need" >/dev/null || die "needs $need; apt-get install debootstrap git util-linux"
done

# Roots hold device nodes and root-owned files, so they live where only we can reach them, and go when we go. The mounts
# are made in a namespace of their own and end with it, whatever happens.
work=$(mktemp -d -t evenkeel-clean-root.XXXXXX)
trap 'rm -rf --one-file-system "$work"' EXIT

# apt itself says which mirror this machine uses and how it fetches, in whatever file and format that is written.
read -r mirror < <(apt-get indextargets --format '$(REPO_URI)' \
    'Created-By: Packages' "Release: $suite" 'Component: main') || true
[[ -n ${mirror:-} ]] || die "this machine's apt knows no source for Debian $suite"

echo "clean_root: a bare $suite from $mirror"
debootstrap --variant=minbase "$suite" "$work/bare" "$mirror" >"$work/debootstrap.log" ||
    { cat "$work/debootstrap.log" >&2; die "debootstrap failed"; }
apt-config dump Acquire >"$work/bare/etc/apt/apt.conf.d/99host"
for file in /etc/resolv.conf /etc/hosts /etc/ssl/certs/ca-certificates.crt; do
    [[ ! -e $file ]] || install -D -m 644 "$file" "$work/bare$file"
done
git clone --quiet --no-hardlinks "$source" "$work/bare/evenkeel"

# A login's worth of environment, so that nothing of this machine's comes along but its way to the network.
environment=(PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8)
for name in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY; do
    [[ -z ${!name:-} ]] || environment+=("$name=${!name}")
done

in_a_bare_root() {
    echo "clean_root: $*"
    cp -a "$work/bare" "$work/root"
    unshare --mount --pid --fork --kill-child bash -euc '
        mount -t proc proc "$1/proc"
        exec chroot "$1" env -i "${@:2}"
    ' bash "$work/root" "${environment[@]}" bash -c 'cd /evenkeel && exec "$@"' bash "$@"
    rm -rf --one-file-system "$work/root"
}

if [[ $# -gt 0 ]]; then
    in_a_bare_root "$@"
else
    in_a_bare_root ./examples/run.sh
    in_a_bare_root ./tests/run.sh
fi
echo "clean_root: passed"
