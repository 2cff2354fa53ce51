// SPDX-License-Identifier: Apache-2.0
// The main program of tests that can run under mpirun. All processes run the same tests in the same order.
//
//     --mpi          starts MPI for any number of threads
//     --mpi=LEVEL    as a program does that asks for less: MPI_THREAD_SINGLE is 0, MPI_THREAD_SERIALIZED 2
//     --strangers    the processes reach each other by MPI alone, as if each had a host of its own
#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <mpi.h>

#include "tests/support/mpi_backend.hpp"

namespace {

void start_mpi(int level) {
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, level, &provided);
    int self = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &self);
    if (self != 0) {
        // One process says what passes; each says what fails.
        testing::GTEST_FLAG(brief) = true;
    }
}

/// A test may have ended it.
void end_mpi() {
    int running = 0;
    int ended = 0;
    MPI_Initialized(&running);
    MPI_Finalized(&ended);
    if (running != 0 && ended == 0) {
        MPI_Finalize();
    }
}

}  // namespace

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    for (int a = 1; a < argc; ++a) {
        std::string_view const argument = argv[a];
        if (argument == "--mpi") {
            start_mpi(MPI_THREAD_MULTIPLE);
        } else if (argument == "--strangers") {
            evenkeel::test::mpi_neighbours_meet = false;
        } else if (argument.starts_with("--mpi=")) {
            start_mpi(std::stoi(std::string{argument.substr(6)}));
        }
    }
    int const result = RUN_ALL_TESTS();
    end_mpi();
    return result;
}
