// SPDX-License-Identifier: Apache-2.0
#include "process.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <exception>
#include <thread>
#include <utility>

#include "hub.hpp"

namespace evenkeel::comm::mpi {

namespace {

/// The root's; no child has it but by a chance of 2^-64.
constexpr std::uint64_t root_context = 0;

/// Both ends of a shipment then have pieces to work on, and the link between them does not run dry.
constexpr std::size_t most_pieces_out = 4;

/// What is read out of the memory of a neighbour at a time.
constexpr std::size_t fetch_bytes = std::size_t{1} << 18U;

/// An answer that is near comes soonest to who asks for it all the time; one that is far should cost nothing.
constexpr unsigned impatient = 200;

}  // namespace

process::process(MPI_Comm processes, std::size_t piece_bytes, bool meet)
    : post_{processes, piece_bytes},
      neighbours_{processes, meet},
      staging_{neighbours_.shown()},
      piece_bytes_{piece_bytes},
      // Where processes share processors, who asks keeps the others from answering.
      patience_{neighbours_.count() >= std::thread::hardware_concurrency() ? 3 : impatient} {}

process::~process() {
    int finalized = 0;
    if (MPI_Finalized(&finalized) != MPI_SUCCESS || finalized != 0) {
        return;
    }
    // The others are done, too, or nearly so. Where they are not, the communicator stays until MPI_Finalize.
    deadline const patience = std::chrono::seconds{1};
    label const farewell{.about = subject::farewell};
    try {
        for (int other = 0; other < post_.processes(); ++other) {
            if (other != self()) {
                announce(other, farewell, {}, true);
            }
        }
    } catch (std::exception const&) {
        broken_ = true;
    }
    std::unique_lock lock{mutex_};
    std::condition_variable nobody;
    for (unsigned idle = 0; !closed() && !broken_ && !patience.passed();) {
        step(lock, nobody, patience, idle, 1);
    }
    if (closed() && !broken_) {
        post_.close();
    }
}

bool process::closed() const noexcept {
    // What went by MPI may be slower than the farewell.
    return farewells_ == post_.processes() - 1 && post_.idle() && !neighbours_.other_way_is_due();
}

std::shared_ptr<hub> process::root(topology const& nodes) {
    auto const ranks_here = nodes.size().value / static_cast<std::size_t>(post_.processes());
    several_ranks_ = ranks_here > 1;
    // A dispatcher has two threads that wait, its owner's and its own, and three exchanges under way.
    constexpr std::size_t usual = 4;
    sleeping_.reserve(usual * ranks_here);
    auto const others = static_cast<std::size_t>(post_.processes() - 1);
    // What each rank tells every other process, and a message for every rank.
    std::size_t const shipments = usual * ranks_here * (others + nodes.size().value);
    constexpr std::size_t bytes_per_rank = std::size_t{4} << 20U;
    loading_.reserve(shipments);
    // Between neighbours with one rank each, what goes by MPI is an exception.
    if (others > 0 && (several_ranks_ || neighbours_.count() < others)) {
        post_.expect(shipments, bytes_per_rank * ranks_here);
    }
    news_.arrived.reserve(2 * usual * ranks_here * std::max<std::size_t>(8, others));
    news_.sent.reserve(news_.arrived.capacity());
    fetches_.reserve(usual * ranks_here * neighbours_.count());
    std::vector<int> process_of(nodes.size().value);
    for (std::size_t rank = 0; rank < process_of.size(); ++rank) {
        process_of[rank] = static_cast<int>(rank / ranks_here);
    }
    return make(nullptr, root_context, nodes, std::move(process_of));
}

std::shared_ptr<hub> process::child(std::shared_ptr<hub> const& parent, std::uint64_t context, topology const& nodes,
                                    std::vector<int> process_of) {
    auto const found = hubs_.find(context);
    if (found != hubs_.end()) {
        if (auto made = found->second.lock()) {
            return made;
        }
    }
    auto made = make(parent, context, nodes, std::move(process_of));
    parent->adopt(made);
    if (auto const early = early_.extract(context)) {
        for (auto const& parcel : early.mapped()) {
            deliver(parcel);
        }
    }
    return made;
}

std::shared_ptr<hub> process::make(std::shared_ptr<hub> const& parent, std::uint64_t context, topology const& nodes,
                                   std::vector<int> process_of) {
    // Not make_shared: the mark that stays in `hubs_` would keep the memory of the whole hub.
    std::shared_ptr<hub> made{new hub{shared_from_this(), parent, context, nodes, std::move(process_of)}};
    hubs_[context] = made;
    return made;
}

void process::ship(std::shared_ptr<shipment> shipment) { loading_.push_back(std::move(shipment)); }

void process::drop_shipments(hub const& of) noexcept {
    std::erase_if(loading_, [&](auto const& shipment) { return shipment->of == &of; });
    forget_fetches();
    std::erase_if(fetches_, [&](auto const& one) { return one.of == &of; });
}

void process::begin_fetch(fetch one) {
    if (fetches_.size() == fetches_.capacity()) {
        forget_fetches();
    }
    fetches_.push_back(std::move(one));
}

void process::forget_fetches() noexcept {
    fetches_.erase(fetches_.begin(), fetches_.begin() + static_cast<std::ptrdiff_t>(fetches_over_));
    fetches_over_ = 0;
}

std::byte* process::room_for(int other, label const& label, std::size_t bytes) noexcept {
    auto* const room = neighbours_.has(other) ? neighbours_.room_for(other, sizeof label + bytes) : nullptr;
    if (room == nullptr) {
        return nullptr;
    }
    std::memcpy(room, &label, sizeof label);
    return room + sizeof label;
}

void process::announce(int other, label const& label, std::span<std::byte const> bytes, bool urgent) {
    if (auto* const room = room_for(other, label, bytes.size())) {
        copy_bytes(bytes, {room, bytes.size()});
        neighbours_.send(other, urgent);
        return;
    }
    if (neighbours_.has(other)) {
        neighbours_.announce_other_way(other);
    }
    post_.send(other, label, bytes, nullptr);
}

bool process::needs_mpi() const noexcept {
    return neighbours_.count() + 1 != static_cast<std::size_t>(post_.processes()) || !post_.idle() ||
           neighbours_.other_way_is_due();
}

bool process::progress() noexcept {
    bool happened = false;
    try {
        happened = neighbours_.receive([&](std::span<std::byte const> parcel) { deliver(parcel); }) > 0;
        if (needs_mpi()) {
            news_.arrived.clear();
            news_.sent.clear();
            post_.poll(news_);
            happened = happened || !news_.arrived.empty() || !news_.sent.empty();
            for (auto& [content, sender] : news_.arrived) {
                neighbours_.count_other_way(sender);
                deliver({content.data(), content.size()});
                post_.put_back(std::move(content));
            }
            for (auto& shipment : news_.sent) {
                left(*shipment);
            }
        }
        happened = fetch_on() || happened;
        happened = load() || happened;
    } catch (failure const& wrong) {
        end(wrong.process(), wrong.what());
    } catch (std::exception const& wrong) {
        end(post_.self(), wrong.what());
    }
    if (happened && asleep_) {
        neighbours_.wake();
    }
    return happened;
}

void process::deliver(std::span<std::byte const> parcel) {
    label label;
    std::memcpy(&label, parcel.data(), sizeof label);
    if (label.about == subject::farewell) {
        ++farewells_;
        return;
    }
    broken_ = broken_ || (label.about == subject::fault && label.context == root_context);
    auto const found = hubs_.find(label.context);
    if (found == hubs_.end()) {
        early_[label.context].emplace_back(parcel.begin(), parcel.end());
    } else if (auto const hub = found->second.lock()) {
        hub->deliver(label, parcel.subspan(sizeof label));
    }
}

bool process::read(fetch const& one, std::span<std::byte> piece) const noexcept {
    if (!one.staged) {
        return neighbours_.read(one.process, one.source.address, piece);
    }
    auto const shown = neighbours_.shown_by(one.process);
    if (one.source.address > shown.size() || piece.size() > shown.size() - one.source.address) {
        return false;
    }
    copy_bytes(shown.subspan(one.source.address, piece.size()), piece);
    return true;
}

bool process::fetch_on() {
    if (fetches_over_ == fetches_.size()) {
        return false;
    }
    // A piece at a time, so that other things happen in between.
    auto& one = fetches_[fetches_over_];
    auto const piece = one.target.first(std::min(fetch_bytes, one.target.size()));
    bool const there = read(one, piece);
    one.source.address += piece.size();
    one.target = one.target.subspan(piece.size());
    if (there && !one.target.empty()) {
        return true;
    }
    auto const ended = std::move(one);
    if (++fetches_over_ == fetches_.size()) {
        forget_fetches();
    }
    // Otherwise the message never comes: its sender has told or will tell what is wrong.
    if (neighbours_.is_open(ended.process, ended.source.until)) {
        there ? ended.of->end_fetch(ended) : ended.of->ask_for(ended);
    }
    return true;
}

void process::left(shipment& shipment) {
    --shipment.pieces_out;
    if (!shipment.loading() && shipment.pieces_out == 0) {
        // What it held may serve others.
        auto const sender = std::exchange(shipment.sender, nullptr);
        shipment.owner = nullptr;
        post_.put_back(std::move(shipment.own));
        std::erase_if(sender->shipments, [&](auto const& one) { return one.get() == &shipment; });
        sender->changed.notify_all();
    }
}

bool process::load() {
    bool happened = false;
    // By position: what is delivered here may start other shipments, or drop some.
    for (std::size_t s = 0; s < loading_.size(); ++s) {
        auto const shipment = loading_[s];
        if (!shipment->loading() || shipment->pieces_out == most_pieces_out) {
            continue;
        }
        auto const piece = shipment->bytes.subspan(
            shipment->loaded, std::min<std::uint64_t>(piece_bytes_, shipment->bytes.size() - shipment->loaded));
        auto label = shipment->what;
        label.offset = shipment->loaded;
        shipment->begun = true;
        shipment->loaded += piece.size();
        ++shipment->pieces_out;
        happened = true;
        if (shipment->process == self()) {
            shipment->of->deliver(label, piece);
            left(*shipment);
        } else if (auto* const room = room_for(shipment->process, label, piece.size())) {
            copy_bytes(piece, {room, piece.size()});
            neighbours_.send(shipment->process, false);
            left(*shipment);
        } else {
            if (neighbours_.has(shipment->process)) {
                neighbours_.announce_other_way(shipment->process);
            }
            post_.send(shipment->process, label, piece, shipment);
        }
    }
    std::erase_if(loading_, [](auto const& shipment) { return !shipment->loading(); });
    return happened;
}

void process::step(std::unique_lock<std::mutex>& lock, std::condition_variable& changed, deadline until, unsigned& idle,
                   std::size_t lacks) {
    if (progress()) {
        idle = 0;
    } else if (polled_) {
        sleeping_.push_back(&changed);
        changed.wait_until(lock, until.at());
        std::erase(sleeping_, &changed);
    } else {
        polled_ = true;
        rest(lock, changed, until, idle++, lacks);
        polled_ = false;
    }
}

void process::rest(std::unique_lock<std::mutex>& lock, std::condition_variable& changed, deadline until, unsigned idle,
                   std::size_t lacks) {
    constexpr std::chrono::microseconds nap{50};
    // MPI wakes nobody.
    bool const by_mpi = needs_mpi();
    if (post_.processes() == 1) {
        changed.wait_until(lock, until.at());
    } else if (idle < (by_mpi ? impatient : patience_)) {
        lock.unlock();
        std::this_thread::yield();
        lock.lock();
    } else if (neighbours_.count() == 0 || several_ranks_) {
        changed.wait_until(lock, std::min(until.at(), deadline::clock::now() + nap));
    } else {
        // Whoever is killed while it wakes others wakes nobody.
        constexpr std::chrono::milliseconds long_nap{20};
        auto const end = std::min(until.at(), deadline::clock::now() + (by_mpi ? nap : long_nap));
        auto const seen = neighbours_.seen();
        asleep_ = true;
        lock.unlock();
        neighbours_.sleep(seen, by_mpi ? 1 : static_cast<std::uint32_t>(lacks), end);
        lock.lock();
        asleep_ = false;
    }
}

void process::hand_over() noexcept {
    if (!polled_ && !sleeping_.empty()) {
        sleeping_.front()->notify_all();
    }
}

void process::end(int culprit, char const* reason) noexcept {
    broken_ = true;
    if (auto const root = hubs_[root_context].lock()) {
        root->fail_because_of_mpi(culprit, reason);
    }
}

}  // namespace evenkeel::comm::mpi
