// SPDX-License-Identifier: Apache-2.0
#include "subjects.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>

#ifdef EVENKEEL_PERF_MPI
#include <mpi.h>
#endif

#include "devices.hpp"
#include "examples/support/payload.hpp"

namespace evenkeel::perf {
namespace {

constexpr std::chrono::seconds patience{120};

/// One rank's blocks, one behind the other in order of peer, and where they are.
class blocks {
  public:
    blocks(world_rank self, pair_traffic const& all) : ranks_{all.ranks.value} {
        std::size_t sent = 0;
        std::size_t received = 0;
        for (auto const& pair : all.pairs) {
            sent += pair.from == self ? pair.bytes : 0;
            received += pair.to == self ? pair.bytes : 0;
        }
        out.resize(sent);
        in.resize(received);
        std::size_t at_out = 0;
        std::size_t at_in = 0;
        for (auto const& pair : all.pairs) {
            if (pair.from == self) {
                sends.push_back({pair.to, std::span{out}.subspan(at_out, pair.bytes)});
                examples::fill_payload(std::span{out}.subspan(at_out, pair.bytes), number(self, pair.to), 0);
                at_out += pair.bytes;
            }
            if (pair.to == self) {
                receives.push_back({pair.from, std::span{in}.subspan(at_in, pair.bytes)});
                at_in += pair.bytes;
            }
        }
    }
    blocks(blocks const&) = delete;
    blocks& operator=(blocks const&) = delete;

    void forget() { std::ranges::fill(in, std::byte{0xa5}); }

    [[nodiscard]] std::uint64_t wrong(world_rank self) const {
        std::uint64_t sum = 0;
        for (auto const& message : receives) {
            sum += examples::wrong_bytes(message.bytes, number(message.peer, self), 0);
        }
        return sum;
    }

    std::vector<std::byte> out;
    std::vector<std::byte> in;
    std::vector<comm::outgoing> sends;
    std::vector<comm::incoming> receives;

  private:
    [[nodiscard]] std::uint64_t number(world_rank from, world_rank to) const {
        return to_index(from) * ranks_ + to_index(to);
    }

    std::size_t ranks_;
};

exchange_algorithm algorithm_called(std::string const& name) {
    for (auto const one : {exchange_algorithm::flat, exchange_algorithm::two_hop, exchange_algorithm::spread}) {
        if (name_of(one) == name) {
            return one;
        }
    }
    return exchange_algorithm::automatic;
}

#ifdef EVENKEEL_PERF_MPI
/// The same exchange as MPI does it itself, on the same buffers.
std::function<void()> alltoallv(world_size ranks, blocks& mine) {
    struct calls {
        std::vector<int> send_counts, send_offsets, receive_counts, receive_offsets;
    };
    auto const made = std::make_shared<calls>();
    auto const add = [&](auto const& messages, auto const* first, std::vector<int>& counts, std::vector<int>& offsets) {
        counts.assign(ranks.value, 0);
        offsets.assign(ranks.value, 0);
        for (auto const& message : messages) {
            auto const offset = static_cast<std::size_t>(message.bytes.data() - first);
            if (offset + message.bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
                throw std::runtime_error{"MPI_Alltoallv counts to 2^31 - 1 bytes per rank"};
            }
            counts[to_index(message.peer)] = static_cast<int>(message.bytes.size());
            offsets[to_index(message.peer)] = static_cast<int>(offset);
        }
    };
    add(mine.sends, mine.out.data(), made->send_counts, made->send_offsets);
    add(mine.receives, mine.in.data(), made->receive_counts, made->receive_offsets);
    return [made, &mine] {
        MPI_Alltoallv(mine.out.data(), made->send_counts.data(), made->send_offsets.data(), MPI_BYTE, mine.in.data(),
                      made->receive_counts.data(), made->receive_offsets.data(), MPI_BYTE, MPI_COMM_WORLD);
    };
}
#endif

/// The largest of all ranks' values, or their sum.
template <class Value, class Combine>
Value over_ranks(comm::communicator& world, Value mine, Combine combine) {
    std::vector<Value> every(world.size().value);
    world.all_gather(std::as_bytes(std::span{&mine, 1}), std::as_writable_bytes(std::span{every})).wait(patience);
    Value result = every.front();
    for (std::size_t rank = 1; rank < every.size(); ++rank) {
        result = combine(result, every[rank]);
    }
    return result;
}

}  // namespace

double timing::median() const {
    auto sorted = seconds;
    std::ranges::sort(sorted);
    return sorted[sorted.size() / 2];
}

double timing::over(timing const& rival) const {
    timing ratios;
    for (std::size_t round = 0; round < seconds.size(); ++round) {
        ratios.seconds.push_back(seconds[round] / rival.seconds[round]);
    }
    return ratios.median();
}

std::vector<timing> time_exchange(comm::communicator& world, comm::hierarchy& ways, pair_traffic const& all,
                                  options const& options) {
    blocks mine{world.rank(), all};
    device_mirror const there{options.backend, mine.out, mine.in};
    auto sends = mine.sends;
    auto receives = mine.receives;
    there.take_over(sends, receives);
    std::vector<timing> result;
    std::vector<std::function<void()>> calls;
    for (auto const& name : options.subjects) {
        timing one{.subject = name, .algorithm = name, .seconds = {}, .wrong = 0};
#ifdef EVENKEEL_PERF_MPI
        if (name == "alltoallv") {
            calls.push_back(alltoallv(world.size(), mine));
            result.push_back(one);
            continue;
        }
#endif
        auto const algorithm = algorithm_called(name);
        if (algorithm == exchange_algorithm::automatic) {
            one.algorithm = name_of(ways.choose(all));
        }
        calls.emplace_back(
            [&, algorithm] { ways.exchange(all, sends, receives, {.algorithm = algorithm}).wait(patience); });
        result.push_back(one);
    }
    for (std::size_t s = 0; s < calls.size(); ++s) {
        mine.forget();
        there.load();
        calls[s]();
        if (options.check) {
            there.fetch();
            result[s].wrong = over_ranks(world, mine.wrong(world.rank()), std::plus<>{});
        }
        for (std::size_t time = 1; time < options.warmup; ++time) {
            calls[s]();
        }
    }
    for (std::size_t round = 0; round < options.rounds; ++round) {
        for (std::size_t s = 0; s < calls.size(); ++s) {
            world.barrier().wait(patience);
            auto const begun = std::chrono::steady_clock::now();
            for (std::size_t iteration = 0; iteration < options.iterations; ++iteration) {
                calls[s]();
            }
            double const seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
            result[s].seconds.push_back(over_ranks(world, seconds, [](double a, double b) { return std::max(a, b); }) /
                                        static_cast<double>(options.iterations));
        }
    }
    return result;
}

}  // namespace evenkeel::perf
