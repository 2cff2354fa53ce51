// SPDX-License-Identifier: Apache-2.0
// A whole training step: two encoders and an LLM on 8 ranks, planned to fit each other, with every move there is.
//
//              node 0                               node 1
//     rank     0           1        2        3      4        5        6        7
//     image    6 of 60     -        -        -      -        -        -        -
//     audio    -           -        80       -      80 80    -        -        -
//     text     6 of 20     90 50    10 60    100 40 10 10    110 30   70 50    120
//
// One image per rank is the best there is, so two have to leave node 0. The LLM runs their samples where the images
// went, and levels that with text: what crosses between the nodes is nearly nothing but the two images.
//
// Prints:
//     image: busiest rank 60 tokens
//         input 0: rank 0 -> 4, 282240 bytes
//         input 1: rank 0 -> 1, 282240 bytes
//         input 2: rank 0 -> 2, 282240 bytes
//         input 3: rank 0 -> 3, 282240 bytes
//         input 5: rank 0 -> 5, 282240 bytes
//         output 1: rank 1 -> 3, 430080 bytes
//     audio: busiest rank 80 tokens
//         input 1: rank 4 -> 5, 81920 bytes
//     llm: busiest rank 200 tokens
//         text 0: rank 0 -> 4, 160 bytes
//         text 1: rank 0 -> 3, 160 bytes
//         text 2: rank 0 -> 2, 160 bytes
//         text 3: rank 0 -> 3, 160 bytes
//         text 5: rank 0 -> 5, 160 bytes
//         text 9: rank 2 -> 1, 480 bytes
//         text 10: rank 3 -> 0, 800 bytes
//         text 12: rank 4 -> 5, 80 bytes
//         text 14: rank 5 -> 6, 880 bytes
//         text 15: rank 5 -> 6, 240 bytes
//         text 16: rank 6 -> 7, 560 bytes
//     between nodes: 564800 bytes, at least 564480
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <vector>

#include <evenkeel/core.hpp>
#include <evenkeel/cost.hpp>
#include <evenkeel/orchestrate.hpp>
#include <evenkeel/rearrange.hpp>

/// The items that leave their rank, one line each.
void print_moves(char const* what, evenkeel::rearrangement const& move, std::vector<std::uint64_t> const& bytes) {
    for (std::uint32_t item = 0; item < move.size(); ++item) {
        auto const from = evenkeel::to_index(move.from()[evenkeel::item_id{item}].rank);
        auto const to = evenkeel::to_index(move.to()[evenkeel::item_id{item}].rank);
        if (from != to && bytes[item] > 0) {
            std::cout << "    " << what << ' ' << item << ": rank " << from << " -> " << to << ", " << bytes[item]
                      << " bytes\n";
        }
    }
}

int main() {
    auto const images = std::vector<std::size_t>{1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    auto const clips = std::vector<std::size_t>{0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0};
    evenkeel::step_samples const samples{
        .counts = {6, 2, 2, 2, 2, 2, 2, 1},
        .text = {20, 20, 20, 20, 20, 20, 90, 50, 10, 60, 100, 40, 10, 10, 110, 30, 70, 50, 120},
        .inputs = {{.units = evenkeel::units_of(images), .lengths = {60, 60, 60, 60, 60, 60}},
                   {.units = evenkeel::units_of(clips), .lengths = {80, 80, 80}}}};

    auto const cluster = evenkeel::uniform_topology(evenkeel::world_size{8}, evenkeel::node_size{4});
    auto const ranks = evenkeel::flat_group({8});
    std::vector<evenkeel::phase> const phases{{.name = "image", .group = ranks, .bytes_in = 4704, .bytes_out = 7168},
                                              {.name = "audio", .group = ranks, .bytes_in = 1024, .bytes_out = 7168},
                                              {.name = "llm", .group = ranks, .bytes_in = 8, .tolerance = 0.1}};
    auto const step = evenkeel::orchestrate(samples, phases, cluster);

    for (std::size_t encoder = 0; encoder < step.encoders(); ++encoder) {
        auto const& phase = phases[encoder];
        auto const& lengths = samples.inputs[encoder].lengths;
        std::cout << phase.name << ": busiest rank " << step.phases[encoder].quality[0].max_load << " tokens\n";
        print_moves("input", step.raw(encoder), evenkeel::field_per_token("in", lengths, phase.bytes_in).bytes);
        print_moves("output", step.outputs(encoder), evenkeel::field_per_token("out", lengths, phase.bytes_out).bytes);
    }
    std::cout << "llm: busiest rank " << step.llm().quality[0].max_load << " tokens\n";
    print_moves("text", step.text(), evenkeel::field_per_token("text", samples.text, phases.back().bytes_in).bytes);
    std::cout << "between nodes: " << step.traffic.between_nodes << " bytes, at least "
              << evenkeel::bound_of(samples, phases, cluster, step).between_nodes << '\n';
}
