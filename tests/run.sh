#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds and tests everything, from nothing. First the programs, as their users build them; then all that they are made
# of, with sanitizers.
#
#     tests/run.sh [--traces=FOLDER]
#
# --traces   a folder of CSV files of lengths; the tests that read it are skipped without it
set -euo pipefail

source=$(CDPATH= cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)

for argument in "$@"; do
    case $argument in
    --traces=*)
        folder=${argument#--traces=}
        if ! EVENKEEL_TRACES=$(cd "$folder" 2>/dev/null && pwd); then
            echo "tests/run.sh: --traces: no folder $folder" >&2
            exit 2
        fi
        export EVENKEEL_TRACES
        ;;
    *)
        echo "usage: tests/run.sh [--traces=FOLDER]" >&2
        exit 2
        ;;
    esac
done

"$source/cmake/bootstrap.sh" --tests

cd "$source"
cmake --preset release
cmake --build --preset release --target examples/all
ctest --preset release --label-regex programs

cmake --preset dev
cmake --build --preset dev
ctest --preset dev --parallel "$(nproc)"
