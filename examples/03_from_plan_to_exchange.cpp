// SPDX-License-Identifier: Apache-2.0
// From two plans to the one exchange between them: an encoder's outputs go straight to the LLM's ranks, not past home.
//
// Prints:
//     encoder to home: 1300 of 4800 bytes move, 500 between nodes
//     home to llm: 4000 of 4800 bytes move, 1400 between nodes
//     encoder to llm: 3700 of 4800 bytes move, 1900 between nodes
//     rank 0 keeps 0 outputs, receives 0 bytes, sends that of sample 0 to rank 1
//     rank 1 keeps 0 outputs, receives 2300 bytes, sends that of sample 3 to rank 2
//     rank 2 keeps 1 outputs, receives 1400 bytes
//     rank 3 keeps 1 outputs, receives 0 bytes, sends that of sample 2 to rank 1
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <vector>

#include <evenkeel/core.hpp>
#include <evenkeel/cost.hpp>
#include <evenkeel/rearrange.hpp>
#include <evenkeel/solve.hpp>

void print(char const* name, evenkeel::traffic const& traffic) {
    std::cout << name << ": " << traffic.moved << " of " << traffic.total << " bytes move, " << traffic.between_nodes
              << " between nodes\n";
}

int main() {
    // Two nodes of two ranks; each rank drew two samples. Tokens per sample: image, and all together.
    auto const cluster = evenkeel::uniform_topology(evenkeel::world_size{4}, evenkeel::node_size{2});
    auto const home = evenkeel::home_layout(std::vector<std::size_t>{2, 2, 2, 2});
    auto const image = std::vector<std::uint64_t>{900, 0, 250, 700, 0, 0, 400, 150};
    auto const total = std::vector<std::uint64_t>{960, 500, 300, 710, 90, 1200, 420, 620};

    auto const encoder = evenkeel::balance(image, evenkeel::rank_count{4}, evenkeel::linear_cost{}).plan;
    auto const llm = evenkeel::balance(total, evenkeel::rank_count{4}, evenkeel::linear_cost{}).plan;
    auto const to_encoder = evenkeel::rearrangement{home, evenkeel::layout_of(encoder)};
    auto const to_llm = evenkeel::rearrangement{home, evenkeel::layout_of(llm)};
    auto const outputs = evenkeel::compose(to_llm, evenkeel::invert(to_encoder));

    // One output of 2 bytes per image token.
    auto const bytes = evenkeel::field_per_token("outputs", image, 2).bytes;
    print("encoder to home", evenkeel::traffic_of(evenkeel::invert(to_encoder), cluster, bytes));
    print("home to llm", evenkeel::traffic_of(to_llm, cluster, bytes));
    print("encoder to llm", evenkeel::traffic_of(outputs, cluster, bytes));

    for (std::uint32_t rank = 0; rank < 4; ++rank) {
        auto const mine = evenkeel::exchange_of(outputs, evenkeel::world_rank{rank}, bytes);
        std::cout << "rank " << rank << " keeps " << mine.kept.size() << " outputs, receives " << mine.receives.bytes()
                  << " bytes";
        for (std::size_t message = 0; message < mine.sends.size(); ++message) {
            std::cout << ", sends that of sample";
            for (auto const item : mine.sends.items_of(message)) {
                std::cout << ' ' << evenkeel::to_index(item);
            }
            std::cout << " to rank " << evenkeel::to_index(mine.sends.peers[message]);
        }
        std::cout << '\n';
    }
}
