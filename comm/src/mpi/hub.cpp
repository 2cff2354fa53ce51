// SPDX-License-Identifier: Apache-2.0
#include "hub.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <exception>
#include <iterator>
#include <new>
#include <string>
#include <utility>

#include <evenkeel/comm/error.hpp>
#include <evenkeel/core/fingerprint.hpp>

#include "judgement.hpp"

namespace evenkeel::comm::mpi {

namespace {

/// Short enough to be sent without the receiver's help, which a process that ends at once does not wait for.
constexpr std::size_t longest_fault = 2048;

/// Every operation has room for what a rank has told in so many bytes. What takes more, as in a large gathering, is
/// lent memory from a shelf, on which so many bytes are kept.
constexpr std::size_t most_kept_bytes = std::size_t{1} << 16U;
constexpr std::size_t most_shelved_bytes = std::size_t{64} << 20U;

/// So many are seldom under way at once: a dispatcher has three.
constexpr std::size_t usual_operations = 4;
constexpr std::size_t longest_usual_name = 63;

std::string text_of(fault const& fault) { return (fault.operation + '\0' + fault.reason).substr(0, longest_fault); }

fault fault_in(label const& label, std::span<std::byte const> text) {
    std::string all(text.size(), '\0');
    std::ranges::transform(text, all.begin(), [](std::byte byte) { return static_cast<char>(byte); });
    auto const end = std::min(all.find('\0'), all.size());
    auto const peer = label.to == 0 ? std::nullopt : std::optional{to_id<world_rank>(label.to - 1)};
    return {all.substr(0, end), peer, all.substr(std::min(end + 1, all.size()))};
}

}  // namespace

hub::hub(std::shared_ptr<process> process, std::shared_ptr<hub> parent, std::uint64_t context, evenkeel::topology nodes,
         std::vector<int> process_of)
    : process_{std::move(process)},
      parent_{std::move(parent)},
      context_{context},
      topology_{std::move(nodes)},
      process_of_{std::move(process_of)},
      ranks_here_{ranks_on(process_->self())},
      others_{process_of_},
      most_bytes_of_(process_of_.size()),
      parts_out_(ranks_here_.size()) {
    std::ranges::sort(others_);
    others_.erase(std::unique(others_.begin(), others_.end()), others_.end());
    std::erase(others_, process_->self());
    // A rank may begin an operation before it lets go of the one before.
    have_operations_for(2);
    lease_ = process_->open_lease();
}

hub::~hub() { close_lease(); }

void hub::close_lease() noexcept {
    if (lease_) {
        process_->close_lease(*lease_);
        lease_.reset();
    }
}

std::shared_ptr<operation> hub::join(std::shared_ptr<part> part, std::uint64_t number, subject about,
                                     std::uint64_t identity, std::span<std::byte const> bytes) {
    std::lock_guard const lock{process_->mutex()};
    if (fault_) {
        return nullptr;
    }
    auto const here = operation_at(number);
    here->parts[position_here(part->rank)] = part;
    ++process_->under_way;
    auto label = label_of(*part, number, about, bytes.size());
    label.identity = identity;
    make_room_for(label);
    bool const last = accept_arrival(*here, label, bytes);
    if (about == subject::exchange) {
        ship_with_early_messages(part, here, label, here->arrivals.of_rank[label.from].bytes);
    } else {
        ship_to_all(part, here, label, here->arrivals.of_rank[label.from].bytes);
    }
    if (last) {
        all_have_come(here, number);
    }
    process_->progress();
    return here;
}

/// Makes those that are here at once where each rank has `parts` at a time.
///
/// A rank lets go of its part only when all have come to the operation. So it is ahead of another one by as many
/// operations, at most, as it has parts in at once, and where all have equally many, there are never more operations
/// here than twice as many. New ones are made when a rank here has more parts than ever, not when others are early.
void hub::have_operations_for(std::size_t parts) {
    std::size_t const needed = 2 * parts;
    operations_.reserve(needed);
    spare_.reserve(needed);
    while (operations_kept_ < needed) {
        spare_.push_back(std::make_shared<operation>(size(), ranks_here_.size()));
        ++operations_kept_;
        fit(*spare_.back());
    }
}

/// Room for what any rank has told so far: which operation is next in which memory depends on who is ahead.
void hub::fit(operation& spare) {
    for (std::size_t rank = 0; rank < size(); ++rank) {
        take_back(spare.arrivals.of_rank[rank]);
        spare.arrivals.of_rank[rank].bytes.reserve(most_bytes_of_[rank]);
    }
}

/// Wherever `label.from` may tell as much next time, or a little more.
void hub::make_room_for(label const& label) {
    auto& most = most_bytes_of_[label.from];
    if (label.total <= most || label.total > most_kept_bytes) {
        return;
    }
    auto const room = std::bit_ceil(label.total);
    for (auto const& one : spare_) {
        one->arrivals.of_rank[label.from].bytes.reserve(room);
    }
    for (auto const& one : operations_) {
        // The bytes of one that has come may be on their way: it gets its room when it is over.
        if (auto& told = one->arrivals.of_rank[label.from]; !told.came) {
            told.bytes.reserve(room);
        }
    }
    most = room;
}

bool hub::accept_arrival(operation& here, label const& label, std::span<std::byte const> piece) {
    lend_room(here, label);
    return here.arrivals.accept(label, piece);
}

void hub::lend_room(operation& here, label const& label) {
    auto& told = here.arrivals.of_rank[label.from];
    if (label.total <= most_kept_bytes || told.came) {
        return;
    }
    // The smallest that is large enough, else new memory; then twice as much, for a rank may be ahead next time.
    auto best = large_.end();
    for (auto one = large_.begin(); one != large_.end(); ++one) {
        if (one->capacity() >= label.total && (best == large_.end() || one->capacity() < best->capacity())) {
            best = one;
        }
    }
    told.own = std::exchange(told.bytes, {});
    if (best != large_.end()) {
        large_bytes_ -= best->capacity();
        std::swap(*best, large_.back());
        told.bytes = std::move(large_.back());
        large_.pop_back();
        return;
    }
    large_.reserve(2 * operations_kept_ * size());
    told.bytes.reserve(label.total);
    if (label.total <= most_shelved_bytes - large_bytes_) {
        large_.emplace_back().reserve(label.total);
        large_bytes_ += large_.back().capacity();
    }
}

void hub::take_back(contribution& told) {
    if (told.bytes.capacity() <= most_kept_bytes) {
        return;
    }
    auto lent = std::exchange(told.bytes, std::exchange(told.own, {}));
    if (lent.capacity() <= most_shelved_bytes - large_bytes_) {
        large_bytes_ += lent.capacity();
        large_.push_back(std::move(lent));
    }
}

std::shared_ptr<operation> hub::find(std::uint64_t number) const noexcept {
    auto const found = std::ranges::find(operations_, number, [](auto const& one) { return one->number; });
    return found == operations_.end() ? nullptr : *found;
}

std::shared_ptr<operation> hub::operation_at(std::uint64_t number) {
    if (auto found = find(number)) {
        return found;
    }
    // The last owner of one may still look at it.
    auto const free = std::ranges::find_if(spare_, [](auto const& one) { return one.use_count() == 1; });
    auto next = free != spare_.end() ? *free : std::make_shared<operation>(size(), ranks_here_.size());
    next->begin_again(number);
    operations_.push_back(next);
    if (free != spare_.end()) {
        spare_.erase(free);
    } else {
        spare_.reserve(++operations_kept_);
    }
    return next;
}

std::shared_ptr<part> hub::next_part(world_rank rank, std::string_view operation) {
    std::lock_guard const lock{process_->mutex()};
    auto& out = parts_out_[position_here(rank)];
    have_operations_for(out + 1);
    have_parts_for(out + 1);
    auto const free = std::ranges::find_if(parts_, [](auto const& one) { return one.use_count() == 1; });
    auto const next = free != parts_.end() ? *free : parts_.emplace_back(new_part());
    next->begin_again(rank, operation);
    ++out;
    return next;
}

/// Likewise, those that ranks have where each has `parts` at a time. One that a rank has let go of stays with its
/// operation until the other ranks of this process are through with that, too.
void hub::have_parts_for(std::size_t parts) {
    std::size_t const needed = (parts + 1) * ranks_here_.size();
    parts_.reserve(needed);
    while (parts_.size() < needed) {
        parts_.push_back(new_part());
    }
}

std::shared_ptr<part> hub::new_part() const {
    auto made = std::make_shared<part>();
    // Which one serves which operation depends on who is ahead, so each has room for any.
    made->name.reserve(longest_usual_name);
    made->shipments.reserve(most_shipments());
    made->sends.reserve(size());
    made->receives.reserve(size());
    made->missing.reserve(size());
    made->untaken.reserve(lease_ ? size() : 0);
    made->staged.reserve(lease_ ? size() : 0);
    return made;
}

void hub::let_go(std::shared_ptr<part> part, std::shared_ptr<operation> operation) noexcept {
    std::lock_guard const lock{process_->mutex()};
    --parts_out_[position_here(part->rank)];
    part.reset();
    operation.reset();
}

label hub::label_of(part const& from, std::uint64_t number, subject about, std::uint64_t total) const {
    return {.context = context_,
            .number = number,
            .total = total,
            .from = static_cast<std::uint32_t>(to_index(from.rank)),
            .about = about};
}

std::vector<world_rank> hub::ranks_on(int process) const {
    std::vector<world_rank> ranks;
    for (std::size_t rank = 0; rank < process_of_.size(); ++rank) {
        if (process_of_[rank] == process) {
            ranks.push_back(to_id<world_rank>(rank));
        }
    }
    return ranks;
}

std::size_t hub::position_here(world_rank rank) const {
    return static_cast<std::size_t>(std::ranges::lower_bound(ranks_here_, rank) - ranks_here_.begin());
}

std::shared_ptr<shipment> hub::new_shipment(std::shared_ptr<part> const& sender, label const& label, int process) {
    std::shared_ptr<shipment> made;
    for (std::size_t looked = 0; looked < shipments_.size() && made == nullptr; ++looked) {
        auto const& one = shipments_[next_shipment_];
        next_shipment_ = (next_shipment_ + 1) % shipments_.size();
        made = one.use_count() == 1 ? one : nullptr;
    }
    if (made == nullptr) {
        // Twice as many as so far: how many are on their way at a time differs from step to step.
        next_shipment_ = shipments_.size();
        shipments_.resize(std::max(2 * shipments_.size(), usual_operations * most_shipments()));
        std::for_each(shipments_.begin() + static_cast<std::ptrdiff_t>(next_shipment_), shipments_.end(),
                      [](auto& one) { one = std::make_shared<shipment>(); });
        made = shipments_[next_shipment_];
    }
    *made = {.of = this, .sender = sender, .what = label, .bytes = {}, .owner = {}, .process = process, .own = {}};
    return made;
}

void hub::ship(std::shared_ptr<shipment> const& shipment) {
    shipment->sender->shipments.push_back(shipment);
    process_->ship(shipment);
}

void hub::ship_to_all(std::shared_ptr<part> const& sender, std::shared_ptr<operation> const& owner, label const& label,
                      std::span<std::byte const> bytes) {
    for (int const other : others_) {
        if (auto* const room = process_->room_for(other, label, bytes.size())) {
            copy_bytes(bytes, {room, bytes.size()});
            process_->send_room(other);
        } else {
            auto const made = new_shipment(sender, label, other);
            made->bytes = bytes;
            made->owner = owner;
            ship(made);
        }
    }
}

bool hub::is_early(outgoing const& message) const {
    return message.bytes.size() <=
           (lease_ && process_->is_neighbour(process_of_[to_index(message.peer)]) ? most_near_bytes : most_early_bytes);
}

bool hub::is_offered(outgoing const& message) const {
    return message.bytes.size() > most_near_bytes && lease_ &&
           process_->is_neighbour(process_of_[to_index(message.peer)]);
}

std::size_t hub::bytes_with_early_messages(part const& sender, int other) const {
    std::size_t bytes = sizeof(stated);
    for (auto const& message : sender.sends) {
        if (process_of_[to_index(message.peer)] == other) {
            bytes += is_offered(message) ? sizeof(early_label) + sizeof(offer)
                     : is_early(message) ? sizeof(early_label) + message.bytes.size()
                                         : 0;
        }
    }
    return bytes;
}

void hub::write_early_messages(part const& sender, int other, std::span<std::byte const> stated, std::byte* at) const {
    auto const write = [&](std::span<std::byte const> bytes) {
        copy_bytes(bytes, {at, bytes.size()});
        at += bytes.size();
    };
    write(stated);
    for (auto const& message : sender.sends) {
        bool const offered = is_offered(message);
        if (process_of_[to_index(message.peer)] != other || (!offered && !is_early(message))) {
            continue;
        }
        auto const staged = std::ranges::lower_bound(sender.staged, message.peer, {}, &staged_message::to);
        bool const is_staged = staged != sender.staged.end() && staged->to == message.peer;
        early_label const before{.to = static_cast<std::uint32_t>(to_index(message.peer)),
                                 .by = is_staged ? early_label::way::staged
                                       : offered ? early_label::way::offered
                                                 : early_label::way::enclosed,
                                 .bytes = message.bytes.size()};
        write(std::as_bytes(std::span{&before, 1}));
        if (offered) {
            offer const where{.address = is_staged ? staged->at : reinterpret_cast<std::uint64_t>(message.bytes.data()),
                              .until = *lease_};
            write(std::as_bytes(std::span{&where, 1}));
        } else {
            write(message.bytes);
        }
    }
}

void hub::stage(part& sender) {
    for (auto const& message : sender.sends) {
        if (!is_offered(message)) {
            continue;
        }
        sender.untaken.push_back(message.peer);
        if (message.bytes.size() <= most_staged_bytes) {
            if (auto const at = process_->stage(message.bytes)) {
                sender.staged.push_back({message.peer, *at});
            }
        }
    }
}

void hub::unstage(part& sender) noexcept {
    for (auto const& one : sender.staged) {
        process_->unstage(one.at);
    }
    sender.staged.clear();
}

void hub::ship_with_early_messages(std::shared_ptr<part> const& sender, std::shared_ptr<operation> const& owner,
                                   label const& label, std::span<std::byte const> stated) {
    stage(*sender);
    for (int const other : others_) {
        auto const bytes = bytes_with_early_messages(*sender, other);
        auto what = label;
        what.total = bytes;
        if (auto* const room = process_->room_for(other, what, bytes)) {
            write_early_messages(*sender, other, stated, room);
            process_->send_room(other);
            continue;
        }
        auto const made = new_shipment(sender, what, other);
        if (bytes > stated.size()) {
            made->own = process_->memory_for(bytes);
            write_early_messages(*sender, other, stated, made->own.bytes().data());
            made->bytes = made->own.bytes();
        } else {
            made->bytes = stated;
            made->owner = owner;
        }
        ship(made);
    }
}

bool hub::accept_early_messages(operation const& here, std::uint64_t number, world_rank from) {
    std::span<std::byte const> rest = here.arrivals.of_rank[to_index(from)].bytes;
    rest = rest.subspan(sizeof(stated));
    while (!rest.empty()) {
        early_label before;
        std::memcpy(&before, rest.data(), sizeof before);
        rest = rest.subspan(sizeof before);
        auto const& part = here.parts[position_here(to_id<world_rank>(before.to))];
        auto const* const room = part->room_for(from, before.bytes);
        if (room == nullptr) {
            return false;
        }
        if (before.by != early_label::way::enclosed) {
            fetch one{.of = this,
                      .number = number,
                      .receiver = part,
                      .from = from,
                      .process = process_of_[to_index(from)],
                      .staged = before.by == early_label::way::staged,
                      .source = {},
                      .target = room->bytes};
            std::memcpy(&one.source, rest.data(), sizeof one.source);
            process_->begin_fetch(std::move(one));
            rest = rest.subspan(sizeof(offer));
        } else {
            copy_bytes(rest.first(before.bytes), room->bytes);
            part->take_in(*room, before.bytes);
            rest = rest.subspan(before.bytes);
        }
    }
    return true;
}

void hub::end_fetch(fetch const& ended) {
    auto& part = *ended.receiver;
    auto const found = std::ranges::lower_bound(part.receives, ended.from, {}, &incoming::peer);
    part.take_in(*found, found->bytes.size());
    auto label = label_of(part, ended.number, subject::taken, 0);
    label.to = static_cast<std::uint32_t>(to_index(ended.from));
    process_->announce(ended.process, label, {}, false);
    if (part.missing_in_all == 0) {
        part.changed.notify_all();
    }
}

void hub::ask_for(fetch const& unread) {
    auto label = label_of(*unread.receiver, unread.number, subject::wanted, 0);
    label.to = static_cast<std::uint32_t>(to_index(unread.from));
    process_->announce(unread.process, label, {}, true);
}

std::shared_ptr<part> hub::accept_answer(label const& label) {
    auto const here = find(label.number);
    auto const part = here == nullptr ? nullptr : here->parts[position_here(to_id<world_rank>(label.to))];
    if (part == nullptr || std::erase(part->untaken, to_id<world_rank>(label.from)) == 0) {
        return nullptr;
    }
    if (part->untaken.empty()) {
        unstage(*part);
        part->changed.notify_all();
    }
    return part;
}

void hub::accept_wish(label const& label) {
    if (auto const part = accept_answer(label)) {
        auto const who = to_id<world_rank>(label.from);
        begin_message(part, label.number, *std::ranges::lower_bound(part->sends, who, {}, &outgoing::peer));
    }
}

bool hub::ready(operation const& operation, part const& part) {
    std::lock_guard const lock{process_->mutex()};
    process_->progress();
    if (fault_) {
        raise(part.rank);
    }
    return operation.done_for(part);
}

void hub::wait(operation const& operation, part& part, deadline until) {
    std::unique_lock lock{process_->mutex()};
    for (unsigned idle = 0; !fault_ && !operation.done_for(part);) {
        // What has come by the deadline counts, so there is one more look at it afterwards.
        bool const last_look = until.passed();
        process_->step(lock, part.changed, until, idle, lacks(operation, part));
        if (last_look && !fault_ && !operation.done_for(part)) {
            fail_locked(lateness_of(operation, part), true);
        }
    }
    process_->hand_over();
    if (fault_) {
        raise(part.rank);
    }
}

void hub::leave(std::uint64_t number) {
    std::lock_guard const lock{process_->mutex()};
    auto const here = find(number);
    if (here == nullptr) {
        return;
    }
    --process_->under_way;
    if (++here->left == ranks_here_.size()) {
        std::ranges::fill(here->parts, nullptr);
        try {
            fit(*here);
        } catch (std::bad_alloc const&) {
            // The rank is through. Whoever needs the room asks again.
        }
        spare_.push_back(here);
        std::erase(operations_, here);
    }
}

void hub::deliver(label const& label, std::span<std::byte const> piece) {
    if (fault_) {
        return;
    }
    switch (label.about) {
        case subject::gather:
        case subject::exchange:
            make_room_for(label);
            if (auto const here = operation_at(label.number); accept_arrival(*here, label, piece)) {
                all_have_come(here, label.number);
            }
            break;
        case subject::details:
            if (auto const here = operation_at(label.number);
                here->details_of_all().accept(label, piece) && here->arrivals.complete()) {
                fail_locked(judge(*here), true);
            }
            break;
        case subject::message: accept_message(label, piece); break;
        case subject::taken: static_cast<void>(accept_answer(label)); break;
        case subject::wanted: accept_wish(label); break;
        case subject::fault: fail_locked(fault_in(label, piece), false); break;
        case subject::farewell: break;
    }
}

void hub::all_have_come(std::shared_ptr<operation> const& here, std::uint64_t number) {
    if (!is_one_call(here->arrivals)) {
        begin_details(here, number);
        return;
    }
    if (here->arrivals.of_rank.front().about == subject::exchange) {
        here->objection = dissent_in(here->arrivals);
        if (!here->objection && !messages_match(here->arrivals)) {
            begin_details(here, number);
            return;
        }
    }
    here->agreed = true;
    if (here->arrivals.of_rank.front().about == subject::exchange && !here->objection) {
        for (std::size_t step = 1; step <= size(); ++step) {
            // Each rank starts with the one before it, so that not all read the memory of the same one at a time.
            auto const from = to_id<world_rank>((to_index(ranks_here_.front()) + size() - step) % size());
            if (!accept_early_messages(*here, number, from)) {
                // Only if messages that do not match have hashes that add up to 0.
                fail_locked({"exchange", from, rank_text(from) + " sends what nobody expects"}, true);
                return;
            }
        }
    }
    for (auto const& part : here->parts) {
        if (here->objection) {
            part->missing_in_all = 0;
            part->untaken.clear();
            unstage(*part);
        } else {
            begin_messages(part, number);
        }
        part->changed.notify_all();
    }
}

void hub::begin_messages(std::shared_ptr<part> const& part, std::uint64_t number) {
    // Each rank starts with the one after it, so that not all send to the same one at a time.
    auto const& sends = part->sends;
    auto const next = std::ranges::upper_bound(sends, part->rank, {}, &outgoing::peer) - sends.begin();
    for (std::size_t s = 0; s < sends.size(); ++s) {
        auto const& message = sends[(static_cast<std::size_t>(next) + s) % sends.size()];
        bool const early = is_early(message) || is_offered(message);
        if (early && process_of_[to_index(message.peer)] != process_->self()) {
            continue;
        }
        begin_message(part, number, message);
    }
}

void hub::begin_message(std::shared_ptr<part> const& part, std::uint64_t number, outgoing const& message) {
    auto label = label_of(*part, number, subject::message, message.bytes.size());
    label.to = static_cast<std::uint32_t>(to_index(message.peer));
    auto const made = new_shipment(part, label, process_of_[to_index(message.peer)]);
    made->bytes = message.bytes;
    ship(made);
}

void hub::begin_details(std::shared_ptr<operation> const& here, std::uint64_t number) {
    auto& details = here->details_of_all();
    for (auto const& part : here->parts) {
        auto const mine = details_of(*part);
        auto const label = label_of(*part, number, subject::details, mine.size());
        details.accept(label, mine);
        ship_to_all(part, here, label, details.of_rank[label.from].bytes);
    }
    if (details.complete()) {
        fail_locked(judge(*here), true);
    }
}

void hub::accept_message(label const& label, std::span<std::byte const> piece) {
    auto const from = to_id<world_rank>(label.from);
    auto const to = to_id<world_rank>(label.to);
    auto const here = find(label.number);
    auto const part = here == nullptr ? nullptr : here->parts[position_here(to)];
    if (part == nullptr || !part->accept(from, label.offset, piece)) {
        // Only if messages that do not match have hashes that add up to 0.
        fail_locked(mismatch("exchange", from, label.total, to, 0), true);
    } else if (part->missing_in_all == 0) {
        part->changed.notify_all();
    }
}

void hub::fail_because_of(std::optional<world_rank> culprit, std::string_view operation, world_rank rank,
                          std::string_view did, std::string_view reason) noexcept {
    auto fault = misdeed(culprit, operation, rank, did, reason);
    std::lock_guard const lock{process_->mutex()};
    fail_locked(std::move(fault), true);
    process_->progress();
}

void hub::fail_because_of_mpi(int culprit, char const* reason) noexcept {
    fault fault{.operation = "MPI", .peer = std::nullopt, .reason = {}};
    try {
        fault.reason = reason;
        if (auto const ranks = ranks_on(culprit); ranks.size() == 1) {
            fault.peer = ranks.front();
        }
    } catch (std::exception const&) {
        // The ranks must be told all the same.
    }
    fail_locked(std::move(fault), true);
}

void hub::inherit(fault const& of_parent) noexcept {
    fault fault;
    try {
        fault = inherited(of_parent);
    } catch (std::exception const&) {
        // The ranks must be told all the same.
    }
    // The other processes see to their own ranks.
    fail_locked(std::move(fault), false);
}

void hub::fail_locked(fault fault, bool tell) noexcept {
    if (fault_) {
        return;  // the first fault is the cause, later ones its consequences
    }
    fault_ = std::move(fault);
    // Before any rank hears of it: what it has offered is then its own again.
    close_lease();
    process_->drop_shipments(*this);
    for (auto const& operation : operations_) {
        process_->under_way += operation->left;
        for (auto const& part : operation->parts) {
            if (part != nullptr) {
                --process_->under_way;
                part->shipments.clear();
                unstage(*part);
                part->changed.notify_all();
            }
        }
    }
    operations_.clear();
    if (parent_ == nullptr) {
        process_->break_off();
    }
    if (tell) {
        tell_all(*fault_);
    }
    for (auto const& weak : children_) {
        if (auto const child = weak.lock()) {
            child->inherit(*fault_);
        }
    }
}

void hub::tell_all(fault const& fault) noexcept {
    try {
        auto const text = text_of(fault);
        label const label{.context = context_,
                          .total = text.size(),
                          .to = fault.peer ? static_cast<std::uint32_t>(to_index(*fault.peer)) + 1 : 0,
                          .about = subject::fault};
        for (int const other : others_) {
            process_->announce(other, label, std::as_bytes(std::span{text}), true);
        }
    } catch (std::exception const&) {
        // Who is not told finds out at its own deadline.
    }
}

void hub::require_alive(world_rank rank) const {
    std::lock_guard const lock{process_->mutex()};
    if (fault_) {
        raise(rank);
    }
}

void hub::look(world_rank rank) {
    std::lock_guard const lock{process_->mutex()};
    process_->progress();
    if (fault_) {
        raise(rank);
    }
}

void hub::raise(world_rank rank) const { throw error{fault_->operation, rank, fault_->peer, fault_->reason}; }

std::size_t hub::lacks(operation const& here, part const& part) const {
    // Another operation may need this process sooner.
    if (process_->under_way > 1) {
        return 1;
    }
    auto const absent = [](round const& round) { return round.of_rank.size() - round.whole; };
    return std::max<std::size_t>(1, !here.arrivals.complete() ? absent(here.arrivals)
                                    : !here.agreed            ? absent(here.details)
                                                              : part.untaken.size());
}

fault hub::lateness_of(operation const& here, part const& part) const {
    std::vector<world_rank> late;
    auto const add_absent = [&](round const& round) {
        for (std::size_t rank = 0; rank < round.of_rank.size(); ++rank) {
            if (!round.of_rank[rank].whole()) {
                late.push_back(to_id<world_rank>(rank));
            }
        }
    };
    add_absent(here.arrivals);
    if (late.empty() && !here.agreed) {
        add_absent(here.details);
    }
    if (!late.empty()) {
        return lateness(part.name, late, " came");
    }
    for (std::size_t r = 0; r < part.receives.size(); ++r) {
        if (part.missing[r] != 0) {
            late.push_back(part.receives[r].peer);
        }
    }
    if (!late.empty()) {
        return lateness(part.name, late, " had sent all bytes");
    }
    for (auto const& shipment : part.shipments) {
        if (shipment->what.about == subject::message) {
            late.push_back(to_id<world_rank>(shipment->what.to));
        } else {
            std::ranges::copy(ranks_on(shipment->process), std::back_inserter(late));
        }
    }
    std::ranges::copy(part.untaken, std::back_inserter(late));
    std::ranges::sort(late);
    late.erase(std::unique(late.begin(), late.end()), late.end());
    return lateness(part.name, late, " had taken all bytes");
}

std::shared_ptr<hub> hub::child(std::uint64_t number, std::uint32_t color, std::span<world_rank const> members,
                                evenkeel::topology const& nodes) {
    std::lock_guard const lock{process_->mutex()};
    std::vector<int> process_of;
    for (auto const member : members) {
        process_of.push_back(process_of_[to_index(member)]);
    }
    auto const context = fingerprint{}.add(context_).add(number).add(std::uint64_t{color}).value();
    return process_->child(shared_from_this(), context, nodes, std::move(process_of));
}

void hub::adopt(std::shared_ptr<hub> const& child) {
    std::erase_if(children_, [](auto const& weak) { return weak.expired(); });
    children_.push_back(child);
    if (fault_) {
        child->inherit(*fault_);
    }
}

}  // namespace evenkeel::comm::mpi
