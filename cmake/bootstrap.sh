#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs with apt what building evenkeel needs and this machine lacks. Says what it does; does nothing when all is
# there.
#
#     cmake/bootstrap.sh [--tests] [--torch]
#
# --tests   also what only a test needs and is skipped without
# --torch   also libtorch, which only the example train_two_towers needs: some 160 packages, 550 MB
set -euo pipefail

say() { echo "evenkeel: $*" >&2; }

# What the build needs, and the Debian package that brings it.
commands=(
    "${CXX:-c++}=g++"
    cmake=cmake
    ninja=ninja-build
    make=make
    mpicxx=libopenmpi-dev
    mpirun=openmpi-bin
)
headers=(
    range/v3/version.hpp=librange-v3-dev
    CLI/CLI.hpp=libcli11-dev
    fmt/core.h=libfmt-dev
    nlohmann/json_fwd.hpp=nlohmann-json3-dev
    gtest/gtest.h=libgtest-dev
    gmock/gmock.h=libgmock-dev
    benchmark/benchmark.h=libbenchmark-dev
)
optional=()
for argument in "$@"; do
    case $argument in
    --tests) optional=(clang++-16=clang-16) ;;
    --torch) headers+=(ATen/ATen.h=libtorch-dev) ;;
    *)
        echo "usage: cmake/bootstrap.sh [--tests] [--torch]" >&2
        exit 2
        ;;
    esac
done

missing=()
for need in "${commands[@]}"; do
    command -v "${need%%=*}" >/dev/null || missing+=("${need#*=}")
done

# One run of the preprocessor answers for all headers, wherever they are kept; without a compiler all count as
# missing.
probe=
for need in "${headers[@]}"; do
    probe+=$(printf '#if !__has_include(<%s>)\n%s\n#endif\n_' "${need%%=*}" "${need#*=}")
    probe=${probe%_}
done
if ! absent=$("${CXX:-c++}" -x c++ -std=c++20 -E -P - 2>/dev/null <<<"$probe"); then
    absent=${headers[*]#*=}
fi
read -r -d '' -a absent <<<"$absent" || true
missing+=("${absent[@]}")

wanted=()
for need in "${optional[@]}"; do
    command -v "${need%%=*}" >/dev/null || wanted+=("${need#*=}")
done
all=("${missing[@]}" "${wanted[@]}")

if [[ ${#all[@]} -eq 0 ]]; then
    exit 0
fi

# Without what is optional, all the rest works.
give_up() {
    say "$1: ${all[*]}"
    exit $((${#missing[@]} > 0))
}

if ! command -v apt-get >/dev/null; then
    give_up "this machine has no apt. Install what these Debian packages bring, then run this again"
fi
as_root=()
if [[ $(id -u) -ne 0 ]]; then
    if ! command -v sudo >/dev/null; then
        give_up "neither root nor sudo. Have these packages installed, then run this again"
    fi
    as_root=(sudo)
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT

# Right after its first boot a machine may be upgrading itself and hold apt's lock: wait for it.
apt() {
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get -q -o DPkg::Lock::Timeout=300 "$@" >>"$log" 2>&1 </dev/null
}

say "installing with apt: ${all[*]}"
# A list that cannot be fetched need not be one that we need, so the installation decides.
apt update || true
if [[ ${#missing[@]} -gt 0 ]] && ! apt install --yes --no-install-recommends "${missing[@]}"; then
    cat "$log" >&2
    say "apt could not install: ${missing[*]}"
    exit 1
fi
if [[ ${#wanted[@]} -gt 0 ]] && ! apt install --yes --no-install-recommends "${wanted[@]}"; then
    say "apt could not install ${wanted[*]}, so what needs it is skipped"
    exit 0
fi
say "installed"
