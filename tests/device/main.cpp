// SPDX-License-Identifier: Apache-2.0
// The tests of comm with ranks that share one GPU. Status 77 and a reason where there is none.
#include <cstdio>

#include <cuda_runtime_api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

int main(int argc, char** argv) {
    testing::InitGoogleMock(&argc, argv);
    int devices = 0;
    if (auto const code = cudaGetDeviceCount(&devices); code != cudaSuccess || devices == 0) {
        std::printf("no CUDA device: %s\n", cudaGetErrorString(code));
        return 77;
    }
    return RUN_ALL_TESTS();
}
