#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds everything and runs all tests, from nothing: the release build first, whose programs the users run, then the dev build with
# sanitizers, where every test runs.
#
#     tests/run.sh [--traces=FOLDER]
#
# --traces   a folder of CSV files of lengths; the tests that read it are skipped without it
set -euo pipefail

source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

for argument in "$@"; do
    case $argument in
    --traces=*)
        folder=${argument#--traces=}
        EVENKEEL_TRACES=$(cd "$folder" 2>/dev/null && pwd) || { echo "tests/run.sh: --traces: no folder $folder" >&2; exit 2; }
        export EVENKEEL_TRACES
        ;;
    *)
        echo "usage: tests/run.sh [--traces=FOLDER]" >&2
        exit 2
        ;;
    esac
done

"$source/cmake/bootstrap.sh"

cd "$source"
for preset in release dev; do
    cmake --preset "$preset"
    cmake --build --preset "$preset"
    ctest --preset "$preset" --parallel "$(nproc)"
done
