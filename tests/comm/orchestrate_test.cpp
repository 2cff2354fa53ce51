// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/comm/all_to_all.hpp>
#include <evenkeel/core/fingerprint.hpp>
#include <evenkeel/core/members.hpp>
#include <evenkeel/orchestrate.hpp>
#include <evenkeel/rearrange/delivery_exchange.hpp>
#include <evenkeel/rearrange/field.hpp>
#include <evenkeel/rearrange/order.hpp>

#include "tests/support/backends.hpp"
#include "tests/support/parcels.hpp"
#include "tests/support/payloads.hpp"
#include "tests/support/steps.hpp"

namespace evenkeel::test::orchestrate_test {
namespace {

using bytes = std::vector<std::byte>;
using sizes = std::vector<std::uint64_t>;

template <class Backend>
class orchestrate_on : public on_ranks<Backend> {};
TYPED_TEST_SUITE(orchestrate_on, backends, backend_name);

/// One rank of a training step: what it holds of everything, and what it must hold.
class trainer {
  public:
    trainer(comm::communicator& world, drawn_step const& drawn)
        : world_{world}, drawn_{drawn}, step_{orchestrate(drawn.samples, drawn.phases, drawn.cluster, drawn.options)} {}

    /// Raw inputs to the encoders, outputs to the LLM, sequences, gradients back to the encoders.
    void run() {
        std::vector<bytes> arrived;
        for (std::size_t encoder = 0; encoder < step_.encoders(); ++encoder) {
            field const raw{.name = "raw", .bytes = raw_sizes(encoder)};
            EXPECT_EQ(moved(step_.raw(encoder), raw, [&](item_id unit) { return input(encoder, unit); }),
                      held(step_.raw(encoder).to(), [&](item_id unit) { return input(encoder, unit); }));
            arrived.push_back(moved(step_.outputs(encoder), output_field(encoder),
                                    [&](item_id unit) { return output(encoder, unit); }));
            EXPECT_EQ(arrived.back(),
                      held(step_.outputs(encoder).to(), [&](item_id unit) { return output(encoder, unit); }));
        }
        check_sequences(arrived);
        for (std::size_t encoder = 0; encoder < step_.encoders(); ++encoder) {
            auto const gradient = [&](item_id unit) {
                auto result = output(encoder, unit);
                std::ranges::reverse(result);
                return result;
            };
            EXPECT_EQ(moved(invert(step_.outputs(encoder)), output_field(encoder), gradient),
                      held(step_.phases[encoder].layout, gradient))
                << "every unit's gradient is back where the unit was encoded";
        }
    }

    /// What samples have beside their inputs, to the members and stages that need it, in any way of delivery.
    void deliver_labels(field_delivery const& how) {
        auto const& llm = drawn_.phases.back();
        field labels{.name = "labels", .bytes = drawn_.samples.text};
        for (auto& size : labels.bytes) {
            size *= 2 * llm.members.context;
        }
        auto const field = deliver(step_.home, step_.llm().layout, llm.group, llm.members, how);
        auto const pieces = pieces_of(labels, field.pieces).bytes;
        auto const owners = samples_of_units(field.pieces);
        auto const content = [&](item_id piece) {
            std::size_t const number = to_index(piece) - field.pieces.first(owners[to_index(piece)]);
            auto const whole =
                payload(7000 + to_index(owners[to_index(piece)]), labels.bytes[to_index(owners[to_index(piece)])]);
            auto const first = whole.begin() + static_cast<std::ptrdiff_t>(number * pieces[to_index(piece)]);
            return bytes(first, first + static_cast<std::ptrdiff_t>(pieces[to_index(piece)]));
        };
        std::map<item_id, bytes> here;
        for (auto& parcel : carry(world_, exchange_of(field, world_.rank(), pieces), pieces, content)) {
            EXPECT_EQ(parcel.bytes, content(parcel.item));
            EXPECT_TRUE(here.emplace(parcel.item, std::move(parcel.bytes)).second) << "every piece comes once";
        }
        for (auto const& copy : field.copies) {
            for (item_id const piece : items_on(copy.to(), world_.rank())) {
                EXPECT_EQ(here.contains(piece), pieces[to_index(piece)] > 0);
            }
        }
    }

    /// Outputs to all members of their LLM instance, each of which computes a part of the gradient.
    void sum_gradients(std::size_t encoder) {
        auto const& llm = drawn_.phases.back();
        auto const outputs = step_.outputs(encoder);
        auto const field = deliver(outputs.from(), outputs.to(), llm.group, llm.members, {.to = delivery::replicate});
        auto const each = output_field(encoder).bytes;
        for (auto const& parcel : carry(world_, exchange_of(field, world_.rank(), each), each,
                                        [&](item_id unit) { return output(encoder, unit); })) {
            EXPECT_EQ(parcel.bytes, output(encoder, parcel.item));
        }
        // The part of a gradient that world rank r has computed is the output, each byte times r + 1.
        auto const part = [&](item_id unit, world_rank rank) {
            auto result = output(encoder, unit);
            for (auto& byte : result) {
                byte = static_cast<std::byte>(std::to_integer<unsigned>(byte) * (to_index(rank) + 1));
            }
            return result;
        };
        auto const add = [](bytes& sum, bytes const& other) {
            sum.resize(other.size());
            for (std::size_t at = 0; at < other.size(); ++at) {
                sum[at] =
                    static_cast<std::byte>(std::to_integer<unsigned>(sum[at]) + std::to_integer<unsigned>(other[at]));
            }
        };
        std::map<item_id, bytes> summed;
        auto const back = invert(field, gradients::summed);
        for (auto const& parcel : carry(world_, exchange_of(back, world_.rank(), each), each,
                                        [&](item_id unit) { return part(unit, world_.rank()); })) {
            EXPECT_EQ(parcel.bytes, part(parcel.item, parcel.from));
            add(summed[parcel.item], parcel.bytes);
        }
        std::map<item_id, bytes> expected;
        for (auto const& copy : field.copies) {
            for (item_id const unit : items_on(copy.from(), world_.rank())) {
                if (each[to_index(unit)] > 0) {
                    add(expected[unit], part(unit, copy.to()[unit].rank));
                }
            }
        }
        EXPECT_EQ(summed, expected);
    }

    [[nodiscard]] planned_step const& step() const noexcept { return step_; }

  private:
    [[nodiscard]] sizes raw_sizes(std::size_t encoder) const {
        auto result = drawn_.samples.inputs[encoder].lengths;
        for (auto& size : result) {
            size *= drawn_.phases[encoder].bytes_in;
        }
        return result;
    }

    [[nodiscard]] std::uint64_t tokens(std::size_t encoder, item_id unit) const {
        std::uint64_t const down = drawn_.phases[encoder].tokens_per_output;
        return (drawn_.samples.inputs[encoder].lengths[to_index(unit)] + down - 1) / down;
    }

    [[nodiscard]] field output_field(std::size_t encoder) const {
        field result{.name = "outputs", .bytes = {}};
        for (std::size_t unit = 0; unit < step_.units[encoder].units(); ++unit) {
            result.bytes.push_back(tokens(encoder, to_id<item_id>(unit)) * drawn_.phases[encoder].bytes_out);
        }
        return result;
    }

    [[nodiscard]] bytes input(std::size_t encoder, item_id unit) const {
        return payload(1000 * (encoder + 1) + to_index(unit), raw_sizes(encoder)[to_index(unit)]);
    }

    [[nodiscard]] bytes output(std::size_t encoder, item_id unit) const {
        return payload(100'000 * (encoder + 1) + to_index(unit),
                       tokens(encoder, unit) * drawn_.phases[encoder].bytes_out);
    }

    template <class Content>
    [[nodiscard]] bytes held(layout const& layout, Content const& content) const {
        bytes result;
        for (item_id const item : items_on(layout, world_.rank())) {
            auto const one = content(item);
            result.insert(result.end(), one.begin(), one.end());
        }
        return result;
    }

    template <class Content>
    [[nodiscard]] bytes moved(rearrangement const& move, field const& field, Content const& content) {
        auto const source = held(move.from(), content);
        auto target = untouched_bytes(bytes_on(move.to(), world_.rank(), field));
        all_to_all(world_, move, std::array{comm::moving_field{field, source, target}}).wait(patience);
        return target;
    }

    /// Outputs as they have arrived, put where `assembly_of` says, are the sequences of the samples.
    void check_sequences(std::vector<bytes> const& arrived) const {
        auto const& group = drawn_.phases.back().group;
        for (std::size_t rank = 0; rank < group.ranks().value; ++rank) {
            if (group.leader(to_id<rank_id>(rank)) != world_.rank()) {
                continue;
            }
            std::vector<std::size_t> next(step_.encoders());
            for (std::size_t slot = 0; slot < drawn_.options.micro_batches.value; ++slot) {
                auto const mine = assembly_of(drawn_.samples, drawn_.phases, step_, to_id<rank_id>(rank),
                                              to_id<micro_batch_id>(slot));
                for (std::size_t encoder = 0; encoder < step_.encoders(); ++encoder) {
                    check_outputs(mine, encoder, arrived[encoder], next[encoder]);
                }
            }
            for (std::size_t encoder = 0; encoder < step_.encoders(); ++encoder) {
                EXPECT_EQ(next[encoder], arrived[encoder].size());
            }
        }
    }

    void check_outputs(assembly const& mine, std::size_t encoder, bytes const& arrived, std::size_t& next) const {
        std::size_t const width = drawn_.phases[encoder].bytes_out;
        bytes memory(static_cast<std::size_t>(mine.sequences.padded_offsets.back()) * width);
        for (auto const& slice : mine.outputs[encoder]) {
            std::size_t const size = static_cast<std::size_t>(slice.tokens) * width;
            std::copy_n(arrived.begin() + static_cast<std::ptrdiff_t>(next), size,
                        memory.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(slice.start) * width));
            next += size;
        }
        // What each sample's sequence holds of this encoder, from the samples alone.
        auto const& inputs = drawn_.samples.inputs[encoder];
        for (std::size_t number = 0; number < mine.sequences.items.size(); ++number) {
            item_id const sample = mine.sequences.items[number];
            std::uint64_t first = 0;
            for (std::size_t before = 0; before < encoder && inputs.starts.empty(); ++before) {
                auto const& units = step_.units[before];
                for (std::size_t unit = units.first(sample); unit < units.first(sample) + units.count(sample); ++unit) {
                    first += tokens(before, to_id<item_id>(unit));
                }
            }
            for (std::size_t unit = inputs.units.first(sample);
                 unit < inputs.units.first(sample) + inputs.units.count(sample); ++unit) {
                auto const expected = output(encoder, to_id<item_id>(unit));
                std::uint64_t const at = inputs.starts.empty() ? first : inputs.starts[unit];
                std::size_t const start =
                    (static_cast<std::size_t>(mine.sequences.padded_offsets[number]) + at) * width;
                ASSERT_LE(start + expected.size(), memory.size());
                EXPECT_TRUE(std::ranges::equal(expected, std::span{memory}.subspan(start, expected.size())));
                first += tokens(encoder, to_id<item_id>(unit));
            }
        }
    }

    comm::communicator& world_;
    drawn_step const& drawn_;
    planned_step step_;
};

TYPED_TEST(orchestrate_on, moves_every_byte_of_a_step_to_its_place_and_every_gradient_back) {
    for (std::size_t ranks = 1; ranks <= std::min<std::size_t>(8, TypeParam::most_ranks()); ++ranks) {
        this->run(ranks, [](comm::communicator& world) {
            for (std::uint64_t seed = 0; seed < 12; ++seed) {
                if (!TypeParam::takes(seed)) {
                    continue;
                }
                SCOPED_TRACE("seed " + std::to_string(seed));
                auto const drawn = random_step(100 * world.size().value + seed, world.size());
                trainer{world, drawn}.run();
            }
        });
    }
}

TYPED_TEST(orchestrate_on, delivers_to_the_members_and_stages_that_need_a_field) {
    for (std::size_t const ranks : {1u, 4u, 8u}) {
        this->run(ranks, [](comm::communicator& world) {
            for (std::uint64_t seed = 0; seed < 6; ++seed) {
                if (!TypeParam::takes(seed)) {
                    continue;
                }
                SCOPED_TRACE("seed " + std::to_string(seed));
                auto const drawn = random_step(100 * world.size().value + seed, world.size());
                trainer rank{world, drawn};
                for (auto const to : {delivery::leader, delivery::replicate, delivery::shard}) {
                    for (auto const stages : {field_stages::first, field_stages::last, field_stages::all}) {
                        rank.deliver_labels({.to = to, .stages = stages});
                    }
                }
                for (std::size_t encoder = 0; encoder < rank.step().encoders(); ++encoder) {
                    rank.sum_gradients(encoder);
                }
            }
        });
    }
}

/// Every rank plans for itself; what it has planned is the same as everybody else's, to the bit.
TYPED_TEST(orchestrate_on, needs_no_message_to_agree) {
    this->run(4, [](comm::communicator& world) {
        for (std::uint64_t seed = 0; seed < 10; ++seed) {
            auto const drawn = random_step(seed, world.size());
            auto const step = orchestrate(drawn.samples, drawn.phases, drawn.cluster, drawn.options);
            fingerprint mine;
            for (auto const& phase : step.phases) {
                mine.add(phase.plan).add(phase.layout);
            }
            std::array const value{mine.value()};
            std::vector<std::uint64_t> all(world.size().value);
            world.all_gather(std::as_bytes(std::span{value}), std::as_writable_bytes(std::span{all})).wait(patience);
            EXPECT_EQ(all, sizes(all.size(), value[0])) << "seed " << seed;
        }
    });
}

}  // namespace
}  // namespace evenkeel::test::orchestrate_test
