// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <deque>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <evenkeel/comm/agreement.hpp>
#include <evenkeel/comm/error.hpp>
#include <evenkeel/comm/hierarchy.hpp>
#include <evenkeel/core/errors.hpp>
#include <evenkeel/core/fingerprint.hpp>
#include <evenkeel/rearrange/node_members.hpp>

#include "circle.hpp"
#include "copier.hpp"
#include "fault.hpp"
#include "hops.hpp"
#include "link_measurement.hpp"
#include "renumber.hpp"

namespace evenkeel::comm {

namespace {

/// What happens in which circle, one after the other. Peers are ranks of the circle.
using itinerary = std::vector<std::pair<circle const*, hop>>;

/// Relay memory, used again: memory fresh from the system takes longer to get than to fill.
class memory_shelf {
  public:
    struct block {
        std::unique_ptr<std::byte[]> bytes;
        std::size_t size = 0;
    };

    [[nodiscard]] block take(std::size_t size) {
        if (!shelved_.empty()) {
            auto taken = std::move(shelved_.back());
            shelved_.pop_back();
            if (taken.size >= size) {
                return taken;
            }
        }
        return {size == 0 ? nullptr : std::make_unique_for_overwrite<std::byte[]>(size), size};
    }

    void put_back(block used) {
        if (used.size > 0) {
            shelved_.push_back(std::move(used));
        }
    }

  private:
    std::vector<block> shelved_;
};

void carry_out(std::span<local_copy const> copies) {
    std::uint64_t bytes = 0;
    for (auto const& one : copies) {
        bytes += one.bytes;
    }
    copy_all(copies.size(), bytes, [&](std::size_t number) { return copies[number]; });
}

/// @throws std::invalid_argument  unless `messages` are those of `all` for which `is_mine` holds.
template <class Message, class IsMine, class Peer>
void require_part_of(pair_traffic const& all, std::string_view argument, std::span<Message const> messages,
                     IsMine is_mine, Peer peer_of) {
    std::size_t m = 0;
    for (auto const& pair : all.pairs) {
        if (!is_mine(pair)) {
            continue;
        }
        bool const there = m < messages.size() && messages[m].peer == peer_of(pair);
        if (!there || messages[m].bytes.size() != pair.bytes) {
            throw_invalid("hierarchy::exchange", element(argument, m),
                          there ? std::to_string(messages[m].bytes.size()) + " bytes" : "something else",
                          std::to_string(pair.bytes) + " bytes, rank " + std::to_string(to_index(pair.from)) +
                              " to rank " + std::to_string(to_index(pair.to)) + " as in `all`");
        }
        ++m;
    }
    if (m != messages.size()) {
        throw_invalid("hierarchy::exchange", std::string{argument} + ".size()", messages.size(),
                      "the " + std::to_string(m) + " messages of this rank in `all`");
    }
}

/// What one call does, hop by hop.
struct journey {
    std::string operation;
    std::uint64_t value = 0;
    std::exception_ptr refusal;  ///< this rank cannot take part
    bool refused = false;
    stream on;
    std::shared_ptr<itinerary const> hops;
    memory_shelf::block memory;
    std::shared_ptr<copier> device;    ///< where the messages are in its memory; then
    std::shared_ptr<std::byte> there;  ///< so is what is relayed
    bool on_own_stream = false;        ///< the device's, for the caller has none
    std::size_t next = 0;              ///< hop
    pending current;                   // after the memory it refers to, so that it is given up before that is freed
    bool begun = false;
    bool doubtful = false;  ///< a hop has found that the ranks disagree: from then on no bytes move
    bool over = false;
    std::exception_ptr error;
};

/// Where the bytes of an exchange are, as opposed to what they are.
template <class Message>
bool same_places(std::span<Message const> one, std::span<Message const> other) {
    return std::ranges::equal(one, other, [](Message const& a, Message const& b) {
        return a.peer == b.peer && a.bytes.data() == b.bytes.data() && a.bytes.size() == b.bytes.size();
    });
}

/// How an exchange goes, worked out. A trainer whose batches are padded repeats itself: the same exchange out of the
/// same buffers goes as it did.
struct route {
    exchange_algorithm wanted{};
    pair_traffic traffic;
    std::vector<outgoing> sends;
    std::vector<incoming> receives;

    exchange_algorithm algorithm{};
    std::uint64_t value = 0;              ///< a hash of the traffic and the algorithm
    std::optional<hops_of_rank> planned;  ///< none where the rank could not take part
    std::vector<circle const*> circles;
    std::byte const* relay = nullptr;  ///< the memory that `hops` refer to
    std::shared_ptr<itinerary const> hops;

    [[nodiscard]] bool is(exchange_algorithm algorithm_wanted, pair_traffic const& all, std::span<outgoing const> out,
                          std::span<incoming const> in) const {
        return planned && wanted == algorithm_wanted && same_places(std::span{sends}, out) &&
               same_places(std::span{receives}, in) && traffic == all;
    }

    [[nodiscard]] std::shared_ptr<itinerary const> const& through(std::byte* memory) {
        if (hops == nullptr || relay != memory) {
            auto of_world = planned->in(memory);
            std::size_t at = algorithm == exchange_algorithm::flat ? 1 : 0;
            itinerary next;
            for (auto const* circle : circles) {
                next.emplace_back(circle, circle->inside(std::move(of_world[at++])));
            }
            hops = std::make_shared<itinerary const>(std::move(next));
            relay = memory;
        }
        return hops;
    }
};

}  // namespace

class hierarchy::state {
  public:
    state(communicator& world, deadline until, link_costs const& costs)
        : costs_{costs},
          all_{world.split(0, static_cast<std::uint32_t>(to_index(world.rank())), until), {}},
          nodes_{all_.ranks->topology()} {
        auto const self = world.rank();
        auto const key = static_cast<std::uint32_t>(to_index(self));
        auto const node = static_cast<std::uint32_t>(to_index(world.topology().node_of(self)));
        auto const rail = static_cast<std::uint32_t>(nodes_.rail_of(self));
        node_.ranks = all_.ranks->split(node, key, until);
        rail_.ranks = all_.ranks->split(rail, key, until);
        for (std::size_t rank = 0; rank < world.size().value; ++rank) {
            auto const other = to_id<world_rank>(rank);
            all_.members.push_back(other);
            if (world.topology().node_of(other) == world.topology().node_of(self)) {
                node_.members.push_back(other);
            }
            if (nodes_.rail_of(other) == nodes_.rail_of(self)) {
                rail_.members.push_back(other);
            }
        }
        agree(*all_.ranks, "hierarchy",
              fingerprint{}
                  .add(costs.inside_ns_per_message)
                  .add(costs.between_ns_per_message)
                  .add(costs.inside_ps_per_byte)
                  .add(costs.between_ps_per_byte)
                  .add(costs.between_ns_per_hop)
                  .add(std::uint64_t{costs.cards_per_node})
                  .add(costs.crowding_percent)
                  .value(),
              until);
    }

    [[nodiscard]] communicator& all() const noexcept { return *all_.ranks; }
    [[nodiscard]] std::shared_ptr<copier> device_copier() const { return all().device_copier(); }
    [[nodiscard]] link_costs const& costs() const noexcept { return costs_; }
    [[nodiscard]] exchange_algorithm choose(pair_traffic const& traffic) const {
        return fastest_algorithm(traffic, all().topology(), costs_);
    }
    link_costs measure(deadline until, std::size_t bytes) {
        costs_ = link_measurement{all_, node_, rail_, nodes_, until, bytes}(costs_);
        last_ = {};
        return costs_;
    }

    std::shared_ptr<journey> begin(pair_traffic const& traffic, std::span<outgoing const> sends,
                                   std::span<incoming const> receives, exchange_options const& options, stream on,
                                   statement const& mine) {
        auto one = std::make_shared<journey>();
        one->operation = mine.operation;
        one->on = on;
        one->refused = mine.refused;
        auto algorithm = options.algorithm;
        try {
            if (algorithm != exchange_algorithm::automatic) {
                detail::require_way("hierarchy::exchange", algorithm);
            }
            if (last_.is(algorithm, traffic, sends, receives)) {
                algorithm = last_.algorithm;
            } else {
                last_ = {};
                detail::require_traffic("hierarchy::exchange", traffic, all().topology());
                if (algorithm == exchange_algorithm::automatic) {
                    algorithm = choose(traffic);
                }
                last_ = plan(algorithm, traffic, sends, receives, one->refused);
                last_.wanted = options.algorithm;
            }
            one->value = fingerprint{}.add(mine.value).add(last_.value).value();
            if (!one->refused) {
                find_memory(*one, sends, receives);
                auto const bytes = last_.planned->memory();
                if (one->device != nullptr) {
                    one->there = one->device->take(bytes, one->on);
                } else {
                    one->memory = shelf_.take(bytes);
                }
                one->hops = last_.through(one->device != nullptr ? one->there.get() : one->memory.bytes.get());
            }
        } catch (...) {
            // The others wait for this rank: they are told before the caller is.
            one->refused = true;
            one->refusal = std::current_exception();
        }
        if (one->hops == nullptr) {
            itinerary empty;
            for (auto const* circle : circles_of(algorithm, true)) {
                empty.emplace_back(circle, hop{});
            }
            one->hops = std::make_shared<itinerary const>(std::move(empty));
        }
        under_way_.push_back(one);
        drive(std::nullopt, nullptr);
        return one;
    }

    /// Carries the journeys on in order, until `target` is over or nothing can be done without waiting.
    ///
    /// @param until  Waits until then.
    void drive(std::optional<deadline> until, journey const* target) {
        while (!under_way_.empty()) {
            auto const first = under_way_.front();
            if (!carry_on(*first, until)) {
                return;
            }
            first->over = true;
            first->current = {};
            first->there = nullptr;
            shelf_.put_back(std::move(first->memory));
            under_way_.pop_front();
            if (first.get() == target) {
                return;
            }
        }
    }

    void give_up(journey& one) noexcept {
        one.over = true;
        one.current = {};
        std::erase_if(under_way_, [&](auto const& other) { return other.get() == &one; });
        all().abort("gave up a transfer");
    }

  private:
    /// @param thrice  Whether something is relayed to its receiver by a neighbour.
    [[nodiscard]] std::vector<circle const*> circles_of(exchange_algorithm algorithm, bool thrice) const {
        switch (algorithm) {
            case exchange_algorithm::two_hop: return {&node_, &rail_};
            case exchange_algorithm::spread:
                return thrice ? std::vector{&node_, &all_, &node_} : std::vector{&node_, &all_};
            default: return {&all_};
        }
    }

    /// Relays for a device, unless the messages of this rank are on the host.
    void find_memory(journey& one, std::span<outgoing const> sends, std::span<incoming const> receives) const {
        auto device = device_copier();
        if (device == nullptr) {
            return;
        }
        std::size_t there = 0;
        for (auto const& message : sends) {
            there += device->reaches(message.bytes.data()) ? 1U : 0U;
        }
        for (auto const& message : receives) {
            there += device->reaches(message.bytes.data()) ? 1U : 0U;
        }
        if (there == 0 && !(sends.empty() && receives.empty())) {
            return;
        }
        if (there != sends.size() + receives.size()) {
            throw_invalid("hierarchy::exchange", "sends", "messages on the device and on the host", "one of the two");
        }
        one.device = std::move(device);
        if (one.on == stream{}) {
            one.on = one.device->own_stream();
            one.on_own_stream = true;
        }
    }

    static void carry_out_in(journey const& one, std::span<local_copy const> copies) {
        if (copies.empty()) {
            return;
        }
        if (one.device != nullptr) {
            one.device->copy(copies, one.on);
        } else {
            carry_out(copies);
        }
    }

    [[nodiscard]] route plan(exchange_algorithm algorithm, pair_traffic const& traffic, std::span<outgoing const> sends,
                             std::span<incoming const> receives, bool refused) const {
        route next;
        next.algorithm = algorithm;
        fingerprint value;
        value.add(static_cast<std::uint64_t>(algorithm)).add(std::uint64_t{traffic.pairs.size()});
        for (auto const& pair : traffic.pairs) {
            value.add(std::uint64_t{to_index(pair.from)} << 32U | to_index(pair.to)).add(pair.bytes);
        }
        next.value = value.value();
        auto const passages = passages_of(traffic, all().topology(), algorithm);
        if (refused) {
            return next;
        }
        auto const self = all().rank();
        require_part_of(
            traffic, "sends", sends, [&](pair_bytes const& pair) { return pair.from == self; },
            [](pair_bytes const& pair) { return pair.to; });
        require_part_of(
            traffic, "receives", receives, [&](pair_bytes const& pair) { return pair.to == self; },
            [](pair_bytes const& pair) { return pair.from; });
        bool const thrice = std::ranges::any_of(passages, [](passage const& way) { return way.landing != way.to; });
        next.circles = circles_of(algorithm, thrice);
        next.traffic = traffic;
        next.sends.assign(sends.begin(), sends.end());
        next.receives.assign(receives.begin(), receives.end());
        next.planned.emplace(passages, self, sends, receives);
        return next;
    }

    /// @return whether it is over.
    bool carry_on(journey& one, std::optional<deadline> const& until) {
        while (one.next < one.hops->size()) {
            auto const& [circle, hop] = (*one.hops)[one.next];
            try {
                if (!one.begun) {
                    begin_hop(one, *circle, hop);
                }
                if (until) {
                    one.current.wait(later(*until, one.next));
                } else if (!one.current.ready()) {
                    return false;
                }
                one.current = {};
                if (!one.doubtful && !one.refused) {
                    carry_out_in(one, hop.after);
                    if (one.on_own_stream && one.next + 1 == one.hops->size()) {
                        one.device->finish_own_stream();
                    }
                }
            } catch (error const& wrong) {
                one.current = {};
                if (!wrong.can_go_on() || circle == &all_) {
                    one.error = wrong.can_go_on() ? std::current_exception() : fault_of(one, *circle, wrong);
                    return true;
                }
                one.doubtful = true;
                if (one.next + 1 == one.hops->size()) {
                    // All ranks of all nodes have found that somebody disagrees: together they find who.
                    auto longer = *one.hops;
                    longer.emplace_back(&all_, comm::hop{});
                    one.hops = std::make_shared<itinerary const>(std::move(longer));
                }
            } catch (...) {
                one.error = std::current_exception();
                all().abort("could not take part");
                return true;
            }
            one.begun = false;
            ++one.next;
        }
        if (one.doubtful || one.refused) {
            one.error = std::make_exception_ptr(
                error{one.operation, all().rank(), std::nullopt, "the ranks disagree", aftermath::can_go_on});
        }
        return true;
    }

    void begin_hop(journey& one, circle const& circle, hop const& hop) {
        bool const moves = !one.doubtful && !one.refused;
        statement const mine{.operation = one.operation,
                             .value = one.value,
                             .refused = one.refused || (one.doubtful && &circle != &all_)};
        if (moves) {
            carry_out_in(one, hop.before);
        }
        one.current = moves ? circle.ranks->exchange(hop.sends, hop.receives, one.on, mine)
                            : circle.ranks->exchange({}, {}, one.on, mine);
        one.begun = true;
    }

    /// Who does not come to a later hop may wait for somebody in an earlier one. So the later a hop, the longer its
    /// ranks wait: whoever misses a rank in the first one speaks first.
    [[nodiscard]] static deadline later(deadline const& until, std::size_t hop) {
        constexpr std::chrono::milliseconds turn{20};
        auto const now = deadline::clock::now();
        auto const left = std::max(until.at() - now, deadline::clock::duration::zero());
        return left < deadline::clock::time_point::max() - now - turn * hop ? deadline{left + turn * hop} : until;
    }

    /// The fault of all ranks, told in the numbers of the world; everybody is told.
    std::exception_ptr fault_of(journey const& one, circle const& circle, error const& wrong) {
        auto own = renumbered(wrong, all().rank(), circle.members);
        if (one.next > 0 && wrong.reason().starts_with(deadline_passed)) {
            // Who is late here may have been held up by others.
            own = {own.operation(), own.rank(), std::nullopt, std::string{own.reason()} + " to a later hop"};
        }
        if (&circle != &all_) {
            all().abort(own.reason(), own.peer());
            try {
                all().require_alive();
            } catch (error const& of_all) {
                own = of_all;
            }
        }
        // What this rank was the first to tell has its name twice.
        auto reason = own.reason();
        if (auto const teller = rank_text(all().rank()) + ": "; reason.starts_with(teller)) {
            reason.remove_prefix(teller.size());
        }
        return std::make_exception_ptr(error{one.operation, all().rank(), own.peer(), reason});
    }

    link_costs costs_;
    circle all_;
    evenkeel::node_members nodes_;  // of `all_`, which counts nodes without gaps
    circle node_;
    circle rail_;
    memory_shelf shelf_;
    route last_;
    std::deque<std::shared_ptr<journey>> under_way_;  // last: given up before the communicators are gone
};

namespace {

class journey_transfer final : public transfer {
  public:
    journey_transfer(std::shared_ptr<hierarchy::state> state, std::shared_ptr<journey> one)
        : state_{std::move(state)}, journey_{std::move(one)} {}

    ~journey_transfer() override {
        if (!journey_->over) {
            state_->give_up(*journey_);
        }
    }

    bool ready() override {
        if (!journey_->over) {
            state_->drive(std::nullopt, journey_.get());
        }
        rethrow();
        return journey_->over;
    }

    void wait(deadline until) override {
        if (!journey_->over) {
            state_->drive(until, journey_.get());
        }
        rethrow();
    }

  private:
    void rethrow() const {
        if (journey_->over && journey_->error != nullptr) {
            // An error that names this rank, which knows more.
            std::rethrow_exception(journey_->refusal != nullptr ? journey_->refusal : journey_->error);
        }
    }

    std::shared_ptr<hierarchy::state> state_;
    std::shared_ptr<journey> journey_;
};

}  // namespace

hierarchy::hierarchy(communicator& world, deadline until, link_costs const& costs)
    : state_{std::make_shared<state>(world, until, costs)} {}
hierarchy::hierarchy(hierarchy&&) noexcept = default;
hierarchy& hierarchy::operator=(hierarchy&&) noexcept = default;
hierarchy::~hierarchy() = default;

world_rank hierarchy::rank() const noexcept { return state_->all().rank(); }
world_size hierarchy::size() const noexcept { return state_->all().size(); }
topology const& hierarchy::topology() const noexcept { return state_->all().topology(); }
std::shared_ptr<copier> hierarchy::device_copier() const { return state_->device_copier(); }
link_costs const& hierarchy::costs() const noexcept { return state_->costs(); }
link_costs hierarchy::measure(deadline until, std::size_t bytes) { return state_->measure(until, bytes); }
exchange_algorithm hierarchy::choose(pair_traffic const& all) const { return state_->choose(all); }

pending hierarchy::exchange(pair_traffic const& all, std::span<outgoing const> sends,
                            std::span<incoming const> receives, exchange_options const& options, stream on,
                            statement const& mine) {
    auto one = state_->begin(all, sends, receives, options, on, mine);
    return pending{std::make_unique<journey_transfer>(state_, std::move(one))};
}

}  // namespace evenkeel::comm
