// SPDX-License-Identifier: Apache-2.0
// Bytes that lie on a device: over the test double, where that is memory out of the host's reach, and on a GPU.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/comm/all_to_all.hpp>
#include <evenkeel/comm/hierarchy.hpp>
#include <evenkeel/comm/lengths.hpp>
#include <evenkeel/core/layout.hpp>
#include <evenkeel/rearrange/pair_traffic.hpp>
#include <evenkeel/rearrange/rearrangement.hpp>

#include "tests/support/backends.hpp"
#include "tests/support/cargo.hpp"
#include "tests/support/device_bytes.hpp"
#include "tests/support/layouts.hpp"

namespace evenkeel::test::nccl_memory_test {
namespace {

using comm::all_to_all;
using comm::moving_field;
using testing::HasSubstr;
using enum exchange_algorithm;

template <class Backend>
class device_memory_on : public on_ranks<Backend> {};
TYPED_TEST_SUITE(device_memory_on, backends, backend_name);

topology two_by_two() { return uniform_topology(world_size{4}, node_size{2}); }

class own_stream {
  public:
    own_stream() { cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking); }
    own_stream(own_stream const&) = delete;
    own_stream& operator=(own_stream const&) = delete;
    ~own_stream() { cudaStreamDestroy(stream_); }

    [[nodiscard]] comm::stream get() const { return {stream_}; }
    void finish() const { cudaStreamSynchronize(stream_); }

  private:
    cudaStream_t stream_ = nullptr;
};

/// The fields of a rank on the device.
class device_cargo {
  public:
    device_cargo(rearrangement const& move, world_rank self, std::vector<field> fields)
        : goods_{move, self, std::move(fields)} {
        for (std::size_t f = 0; f < goods_.fields().size(); ++f) {
            sources_.push_back(std::make_unique<device_bytes>(goods_.sources()[f]));
            targets_.push_back(std::make_unique<device_bytes>(goods_.targets()[f]));
        }
    }

    [[nodiscard]] std::vector<moving_field> moving() {
        std::vector<moving_field> result;
        for (std::size_t f = 0; f < goods_.fields().size(); ++f) {
            result.push_back({goods_.fields()[f], sources_[f]->get(), targets_[f]->get()});
        }
        return result;
    }

    void expect_arrived() {
        fetch();
        goods_.expect_arrived();
    }
    void expect_untouched() {
        fetch();
        goods_.expect_untouched();
    }

    [[nodiscard]] cargo& on_host() { return goods_; }

  private:
    void fetch() {
        for (std::size_t f = 0; f < targets_.size(); ++f) {
            goods_.targets()[f] = targets_[f]->content();
        }
    }

    cargo goods_;
    std::vector<std::unique_ptr<device_bytes>> sources_;
    std::vector<std::unique_ptr<device_bytes>> targets_;
};

std::vector<field> two_fields(seeded& random, std::size_t items) {
    return {{"pixels", random_bytes(random, items)}, {"label", random_bytes(random, items)}};
}

TYPED_TEST(device_memory_on, moves_all_fields_of_all_items) {
    for (std::size_t const ranks : {1u, 2u, 5u, 8u}) {
        this->run(ranks, [](comm::communicator& world) {
            own_stream const stream;
            for (std::uint64_t seed = 0; seed < 12; ++seed) {
                SCOPED_TRACE("seed " + std::to_string(seed));
                seeded random{1'000 * world.size().value + seed};
                std::size_t const items = random.up_to(30);
                rearrangement const move{random_layout(random, items, world.size()),
                                         random_layout(random, items, world.size())};
                device_cargo goods{move, world.rank(), two_fields(random, items)};
                bool const streamed = seed % 2 == 0;
                all_to_all(world, move, goods.moving(), streamed ? stream.get() : comm::stream{}).wait(patience);
                if (streamed) {
                    stream.finish();
                }
                goods.expect_arrived();
            }
        });
    }
}

TYPED_TEST(device_memory_on, may_have_several_moves_under_way) {
    this->run(3, [](comm::communicator& world) {
        own_stream const stream;
        std::vector<std::unique_ptr<device_cargo>> goods;
        std::vector<comm::pending> under_way;
        for (std::uint64_t seed = 0; seed < 4; ++seed) {
            seeded random{seed};
            rearrangement const move{random_layout(random, 20, world.size()), random_layout(random, 20, world.size())};
            goods.push_back(std::make_unique<device_cargo>(move, world.rank(), two_fields(random, 20)));
            under_way.push_back(all_to_all(world, move, goods.back()->moving(), stream.get()));
        }
        for (auto one = under_way.rbegin(); one != under_way.rend(); ++one) {
            one->wait(patience);
        }
        stream.finish();
        for (auto const& one : goods) {
            one->expect_arrived();
        }
    });
}

TYPED_TEST(device_memory_on, is_relayed_by_any_algorithm) {
    for (auto const algorithm : {flat, two_hop, spread, automatic}) {
        this->run(two_by_two(), [algorithm](comm::communicator& world) {
            comm::hierarchy ways{world, patience};
            own_stream const stream;
            for (std::uint64_t seed = 0; seed < 8; ++seed) {
                SCOPED_TRACE(std::string{name_of(algorithm)} + " seed " + std::to_string(seed));
                seeded random{seed};
                std::size_t const items = random.up_to(40);
                rearrangement const move{random_layout(random, items, world.size()),
                                         random_layout(random, items, world.size())};
                device_cargo goods{move, world.rank(), two_fields(random, items)};
                bool const streamed = seed % 2 == 0;
                all_to_all(ways, move, goods.moving(), {.algorithm = algorithm},
                           streamed ? stream.get() : comm::stream{})
                    .wait(patience);
                if (streamed) {
                    stream.finish();
                }
                goods.expect_arrived();
            }
        });
    }
}

/// Five items, two of which stay.
rearrangement five_items() {
    return {home_layout(std::vector<std::size_t>{3, 2}), layout_of(plan_of({{0, 3, 1}, {2, 4}}))};
}

TYPED_TEST(device_memory_on, is_left_alone_when_the_ranks_hold_other_values) {
    this->run(2, [](comm::communicator& world) {
        bool const odd = world.rank() == world_rank{1};
        device_cargo goods{five_items(), world.rank(), {{odd ? "pixel" : "pixels", {9, 1, 30, 4, 2}}}};
        EXPECT_TRUE(error_of([&] { all_to_all(world, five_items(), goods.moving()).wait(patience); }).can_go_on());
        goods.expect_untouched();
    });
}

TYPED_TEST(device_memory_on, is_refused_beside_host_memory_and_every_rank_is_told) {
    this->run(2, [](comm::communicator& world) {
        device_cargo goods{five_items(), world.rank(), {{"pixels", {9, 1, 30, 4, 2}}, {"label", {1, 1, 1, 1, 1}}}};
        auto const on_device = goods.moving();
        auto const on_host = goods.on_host().moving();
        std::vector<moving_field> const fields{on_device[0], (world.rank() == world_rank{0} ? on_host : on_device)[1]};
        if (world.rank() == world_rank{0}) {
            EXPECT_EQ(refusal_of([&] { all_to_all(world, five_items(), fields).wait(patience); }),
                      "all_to_all: fields[1].source = host memory, expected device memory, as others of these fields "
                      "have");
        } else {
            EXPECT_EQ(error_of([&] { all_to_all(world, five_items(), fields).wait(patience); }).peer(), world_rank{0});
        }
        goods.expect_untouched();
        all_to_all(world, five_items(), goods.moving()).wait(patience);
        goods.expect_arrived();
    });
}

TYPED_TEST(device_memory_on, may_be_on_one_rank_what_is_host_memory_on_another) {
    this->run(2, [](comm::communicator& world) {
        device_cargo goods{five_items(), world.rank(), {{"pixels", {9, 1, 30, 4, 2}}, {"label", {1, 1, 1, 1, 1}}}};
        if (world.rank() == world_rank{0}) {
            all_to_all(world, five_items(), goods.moving()).wait(patience);
            goods.expect_arrived();
        } else {
            all_to_all(world, five_items(), goods.on_host().moving()).wait(patience);
            goods.on_host().expect_arrived();
        }
    });
}

TYPED_TEST(device_memory_on, may_hold_the_lengths_that_ranks_tell_each_other) {
    this->run(3, [](comm::communicator& world) {
        std::vector<std::uint64_t> const drawn[] = {{1, 10, 2, 20}, {}, {3, 30}};
        auto const& mine = drawn[to_index(world.rank())];
        device_bytes const there{std::as_bytes(std::span{mine})};
        auto const* const first = reinterpret_cast<std::uint64_t const*>(there.get().data());
        auto const all = comm::all_gather_lengths(world, {first, mine.size()}, 2, patience);
        EXPECT_THAT(all.counts, testing::ElementsAre(2, 0, 1));
        EXPECT_THAT(all[0], testing::ElementsAre(1, 2, 3));
        EXPECT_THAT(all[1], testing::ElementsAre(10, 20, 30));
    });
}

TYPED_TEST(device_memory_on, is_gathered_from_and_into) {
    this->run(3, [](comm::communicator& world) {
        std::vector<std::uint64_t> const counts{5, 0, 7};
        auto const self = to_index(world.rank());
        device_bytes const mine{payload(self, counts[self])};
        device_bytes const all{std::size_t{12}};
        world.all_gather(mine.get(), counts, all.get()).wait(patience);
        auto expected = payload(0, 5);
        auto const last = payload(2, 7);
        expected.insert(expected.end(), last.begin(), last.end());
        EXPECT_EQ(all.content(), expected);
    });
}

}  // namespace
}  // namespace evenkeel::test::nccl_memory_test
