// SPDX-License-Identifier: Apache-2.0
// A dispatcher, which lives as long as training: while one step computes, the next one is planned and its raw inputs
// are moved. With threads as ranks. How long each rank waited for it depends on the machine, and goes to the error
// stream.
//
// Prints:
//     step 0: rank 0 drew 900 image tokens, encodes 500; rank 1 drew 100, encodes 500
//     step 1: rank 0 drew 100 image tokens, encodes 300; rank 1 drew 500, encodes 300
//     step 2: rank 0 drew 0 image tokens, encodes 0; rank 1 drew 0, encodes 0
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <evenkeel/comm/dispatcher.hpp>
#include <evenkeel/comm/threads.hpp>
#include <evenkeel/core.hpp>

using namespace std::chrono_literals;

int main() {
    // Per step and rank, the tokens of each image; every image is a sample with a caption of 20 tokens.
    using images = std::vector<std::uint64_t>;
    auto const drawn = std::vector<std::array<images, 2>>{{{{400, 400, 100}, {100}}}, {{{100}, {200, 200, 100}}}, {}};
    auto encoded = std::vector<std::array<std::size_t, 2>>(drawn.size());

    auto const cluster = evenkeel::uniform_topology(evenkeel::world_size{2}, evenkeel::node_size{2});
    auto const group = evenkeel::flat_group(cluster.size());
    auto const phases = std::vector<evenkeel::phase>{{.name = "vision", .group = group, .bytes_in = 2, .bytes_out = 4},
                                                     {.name = "llm", .group = group}};
    evenkeel::comm::run_threads(cluster, [&](evenkeel::comm::communicator& world) {
        std::size_t const rank = evenkeel::to_index(world.rank());
        auto waited = std::vector<double>{};
        auto const log = [&](evenkeel::comm::step_statistics const& step) { waited.push_back(step.seconds_waiting); };
        auto dispatch = evenkeel::comm::dispatcher{world, phases, 30s, {.log = log}};
        auto pixels = std::array<std::vector<std::byte>, 2>{};  // of the step that is prepared and of the one before
        auto const prepare = [&](std::size_t step) {
            auto const& mine = drawn[step][rank];
            auto const text = std::vector<std::uint64_t>(mine.size(), 20);
            auto const one_each = std::vector<std::size_t>(mine.size(), 1);
            auto const vision = evenkeel::comm::drawn_units{.counts = one_each, .lengths = mine};
            std::size_t tokens = 0;
            for (auto const length : mine) {
                tokens += length;
            }
            pixels[step % 2].assign(2 * tokens, std::byte{1});
            auto const field = evenkeel::comm::step_field{.name = "pixels", .bytes = pixels[step % 2], .columns = 2};
            return dispatch.prepare({.text = text, .units = {&vision, 1}}, {&field, 1});
        };

        auto next = prepare(0);
        for (std::size_t number = 0; number < drawn.size(); ++number) {
            auto step = next.wait(30s);
            if (number + 1 < drawn.size()) {
                next = prepare(number + 1);
            }
            std::this_thread::sleep_for(5ms);  // encode
            encoded[number][rank] = step.arrived(0).size() / 2;

            auto const rows = step.rows_of(0);
            auto const outputs = std::vector<std::byte>(4 * rows.at_encoder);
            auto arrived = std::vector<std::byte>(4 * rows.at_llm);
            auto const field =
                evenkeel::comm::output_field{.name = "hidden", .source = outputs, .target = arrived, .columns = 4};
            step.forward(0, {&field, 1}).wait(30s);
        }
        auto line = "rank " + std::to_string(rank) + " waited";
        for (auto const seconds : waited) {
            line.append(" ").append(std::to_string(1e3 * seconds)).append(" ms");
        }
        std::clog << line + '\n';
    });

    auto const total = [&](std::size_t step, std::size_t rank) {
        std::uint64_t tokens = 0;
        for (auto const length : drawn[step][rank]) {
            tokens += length;
        }
        return tokens;
    };
    for (std::size_t step = 0; step < drawn.size(); ++step) {
        std::cout << "step " << step << ": rank 0 drew " << total(step, 0) << " image tokens, encodes "
                  << encoded[step][0] << "; rank 1 drew " << total(step, 1) << ", encodes " << encoded[step][1] << '\n';
    }
}
