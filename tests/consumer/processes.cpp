// SPDX-License-Identifier: Apache-2.0
// The same with processes as ranks.
#include <iostream>

#include <evenkeel/comm/mpi.hpp>

#include "step.hpp"

int main(int count, char** arguments) {
    int provided = 0;
    MPI_Init_thread(&count, &arguments, MPI_THREAD_SERIALIZED, &provided);
    {
        auto const world = evenkeel::comm::make_mpi(MPI_COMM_WORLD);
        std::cout << step(*world) << std::flush;
    }
    MPI_Finalize();
}
