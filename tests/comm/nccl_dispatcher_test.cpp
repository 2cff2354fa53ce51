// SPDX-License-Identifier: Apache-2.0
// Outputs and gradients that lie on a device, beside a host that plans: over the test double, and on a GPU.
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/comm/dispatcher.hpp>
#include <evenkeel/comm/loopback.hpp>
#include <evenkeel/comm/nccl.hpp>
#include <evenkeel/comm/threads.hpp>

#include "tests/support/device_bytes.hpp"
#include "tests/support/dispatched.hpp"

namespace evenkeel::test::nccl_dispatcher_test {
namespace {

using testing::HasSubstr;

using host_and_device_body = std::function<void(comm::communicator& host, comm::communicator& device)>;

/// Ranks with a communicator of the host and one of devices: over NCCL, where that is the double, and in loopback.
void on_host_and_device(std::size_t ranks, host_and_device_body const& body) {
    auto const cluster = uniform_topology(world_size{ranks}, node_size{ranks});
    auto loopback = comm::make_loopback(cluster);
    comm::run_threads(cluster, [&](comm::communicator& host) {
        run_rank([&](comm::communicator&) { body(host, *loopback[to_index(host.rank())]); }, host);
    });
#ifdef EVENKEEL_TEST_NCCL
    auto const id = comm::make_nccl_id();
    comm::run_threads(cluster, [&](comm::communicator& host) {
        auto const device = comm::make_nccl(id, host.rank(), cluster, patience, {.beside = &host});
        run_rank([&](comm::communicator&) { body(host, *device); }, host);
    });
#endif
}

/// One transfer of two fields, one of them of two planes.
struct outputs {
    outputs(std::uint64_t seed, std::uint64_t rows_before, std::uint64_t rows_after)
        : hidden{payload(seed, rows_before * 8)},
          stacked{payload(seed + 1, rows_before * 6)},
          hidden_arrived{untouched_bytes(rows_after * 8)},
          stacked_arrived{untouched_bytes(rows_after * 6)} {}

    [[nodiscard]] std::array<comm::output_field, 2> fields() {
        return {comm::output_field{.name = "hidden", .source = hidden, .target = hidden_arrived, .columns = 8},
                comm::output_field{
                    .name = "stacked", .source = stacked, .target = stacked_arrived, .columns = 3, .planes = 2}};
    }

    std::vector<std::byte> hidden;
    std::vector<std::byte> stacked;
    std::vector<std::byte> hidden_arrived;
    std::vector<std::byte> stacked_arrived;
};

/// The same on the device.
struct outputs_there {
    explicit outputs_there(outputs const& here)
        : hidden{here.hidden},
          stacked{here.stacked},
          hidden_arrived{here.hidden_arrived.size()},
          stacked_arrived{here.stacked_arrived.size()} {}

    [[nodiscard]] std::array<comm::output_field, 2> fields() const {
        return {
            comm::output_field{.name = "hidden", .source = hidden.get(), .target = hidden_arrived.get(), .columns = 8},
            comm::output_field{.name = "stacked",
                               .source = stacked.get(),
                               .target = stacked_arrived.get(),
                               .columns = 3,
                               .planes = 2}};
    }

    device_bytes hidden;
    device_bytes stacked;
    device_bytes hidden_arrived;
    device_bytes stacked_arrived;
};

TEST(dispatcher_on_device, moves_outputs_and_gradients_as_it_does_on_the_host) {
    on_host_and_device(3, [](comm::communicator& host, comm::communicator& device) {
        cudaStream_t stream = nullptr;
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
        comm::dispatcher dispatch{host, omni_phases({3}), patience, {.outputs = &device}};
        for (std::uint64_t number = 0; number < 4; ++number) {
            // In one of them a rank has no sample.
            dispatched drawn{omni_samples(number, {6, number == 2 ? 0U : 5U, 7}), omni_phases({3}), host.rank()};
            auto step = dispatch.prepare(drawn.samples(), drawn.fields()).wait(patience);
            drawn.expect_arrived(step);
            for (std::size_t encoder = 0; encoder < 2; ++encoder) {
                SCOPED_TRACE("step " + std::to_string(number) + ", encoder " + std::to_string(encoder));
                comm::output_options const on{.on = {number % 2 == 0 ? stream : nullptr}};
                auto const rows = step.rows_of(encoder);
                outputs here{100 * number + to_index(host.rank()), rows.at_encoder, rows.at_llm};
                outputs_there const there{here};
                step.forward(encoder, here.fields()).wait(patience);
                step.forward(encoder, there.fields(), on).wait(patience);
                cudaStreamSynchronize(stream);
                EXPECT_TRUE(there.hidden_arrived.content() == here.hidden_arrived);
                EXPECT_TRUE(there.stacked_arrived.content() == here.stacked_arrived);

                outputs back{0, rows.at_llm, rows.at_encoder};
                back.hidden = here.hidden_arrived;
                back.stacked = here.stacked_arrived;
                outputs_there const back_there{back};
                step.backward(encoder, back_there.fields(), on).wait(patience);
                cudaStreamSynchronize(stream);
                EXPECT_TRUE(back_there.hidden_arrived.content() == here.hidden);
                EXPECT_TRUE(back_there.stacked_arrived.content() == here.stacked);
            }
        }
        cudaStreamDestroy(stream);
    });
}

TEST(dispatcher_on_device, refuses_buffers_on_host_and_device_and_goes_on) {
    on_host_and_device(2, [](comm::communicator& host, comm::communicator& device) {
        comm::dispatcher dispatch{host, omni_phases({2}), patience, {.outputs = &device}};
        dispatched drawn{omni_samples(3, {9, 9}), omni_phases({2}), host.rank()};
        auto step = dispatch.prepare(drawn.samples(), drawn.fields()).wait(patience);
        auto const rows = step.rows_of(0);
        ASSERT_GT(rows.at_encoder, 0U);
        outputs here{1, rows.at_encoder, rows.at_llm};
        outputs_there const there{here};
        auto mixed = there.fields();
        if (host.rank() == world_rank{1}) {
            mixed[1].source = here.stacked;
            EXPECT_THAT(refusal_of([&] { step.forward(0, mixed).wait(patience); }),
                        HasSubstr("forward: fields[1].source = host memory, expected device memory"));
        } else {
            EXPECT_EQ(error_of([&] { step.forward(0, mixed).wait(patience); }).peer(), world_rank{1});
        }
        step.forward(0, there.fields()).wait(patience);
        step.forward(0, here.fields()).wait(patience);
        EXPECT_TRUE(there.hidden_arrived.content() == here.hidden_arrived);
    });
}

TEST(dispatcher_on_device, ends_outputs_of_all_ranks_when_the_next_step_fails) {
    on_host_and_device(2, [](comm::communicator& host, comm::communicator& device) {
        comm::dispatcher dispatch{host, omni_phases({2}), patience, {.outputs = &device}};
        dispatched drawn{omni_samples(3, {9, 9}), omni_phases({2}), host.rank()};
        auto step = dispatch.prepare(drawn.samples(), drawn.fields()).wait(patience);
        host.barrier().wait(patience);
        if (host.rank() == world_rank{0}) {
            // It is dropped while the other rank waits for outputs.
            static_cast<void>(dispatch.prepare(drawn.samples(), drawn.fields()));
            EXPECT_THROW(step.forward(0, {}).wait(patience), std::exception);
        } else {
            EXPECT_FALSE(error_of([&] { step.forward(0, {}).wait(patience); }).can_go_on());
        }
    });
}

TEST(dispatcher_on_device, refuses_outputs_of_other_ranks) {
    on_host_and_device(2, [](comm::communicator& host, comm::communicator& device) {
        auto const part = device.split(static_cast<std::uint32_t>(to_index(device.rank())), 0, patience);
        EXPECT_THAT(refusal_of([&] {
                        static_cast<void>(comm::dispatcher{host, omni_phases({2}), patience, {.outputs = part.get()}});
                    }),
                    HasSubstr("dispatcher: options.outputs = rank 0 of 1, expected rank"));
    });
}

}  // namespace
}  // namespace evenkeel::test::nccl_dispatcher_test
