#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# mpirun (Open MPI) as the tests need it: with more processes than processors, which make way for each other when they
# wait; on this machine alone; and as root, where root runs the tests.
#
#     tests/mpirun.sh [OPTIONS OF MPIRUN] -n PROCESSES PROGRAM [ARGUMENTS]
set -euo pipefail

if [[ $(id -u) -eq 0 ]]; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi
exec mpirun --oversubscribe --bind-to none --mca mpi_yield_when_idle 1 --mca pml ob1 --mca btl self,vader "$@"
