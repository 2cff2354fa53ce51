#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, builds the main job and runs it. Options go to the job (--help lists them), its exit status
# comes back; relative paths start where you are.
set -euo pipefail

source=$(CDPATH= cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)

"$source/cmake/bootstrap.sh"

# What the job prints is its own: the build speaks only when it fails.
log=$(mktemp)
trap 'rm -f "$log"' EXIT
build() {
    cmake -S "$source" --preset release && cmake --build "$source/build/release" --target balance_a_trace
}
[[ -x $source/build/release/examples/balance_a_trace ]] || echo "evenkeel: building the main job" >&2
if ! build >"$log" 2>&1; then
    cat "$log" >&2
    echo "evenkeel: the main job did not build" >&2
    exit 1
fi
rm -f "$log"

exec "$source/build/release/examples/balance_a_trace" "$@"
