// SPDX-License-Identifier: Apache-2.0
#include "process.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <thread>
#include <utility>

#include "hub.hpp"

namespace evenkeel::comm::mpi {

namespace {

/// The root's; no child has it but by a chance of 2^-64.
constexpr std::uint64_t root_context = 0;

/// Both ends of a shipment then have a piece to work on.
constexpr std::size_t most_pieces_out = 2;

}  // namespace

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
                announce(other, farewell, {});
            }
        }
    } catch (std::exception const&) {
        broken_ = true;
    }
    std::unique_lock lock{mutex_};
    std::condition_variable nobody;
    for (unsigned idle = 0; !closed() && !broken_ && !patience.passed();) {
        step(lock, nobody, patience, idle);
    }
    if (closed()) {
        post_.close();
    }
}

bool process::closed() const noexcept { return farewells_ == post_.processes() - 1 && post_.idle(); }

std::shared_ptr<hub> process::root(topology const& nodes) {
    auto const ranks_here = nodes.size().value / static_cast<std::size_t>(post_.processes());
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
        for (auto& parcel : early.mapped()) {
            deliver(std::move(parcel));
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
}

void process::announce(int other, label const& label, std::span<std::byte const> bytes) {
    post_.send(other, label, bytes, nullptr);
}

bool process::progress() noexcept {
    bool happened = false;
    try {
        news_.arrived.clear();
        news_.sent.clear();
        post_.poll(news_);
        happened = !news_.arrived.empty() || !news_.sent.empty();
        for (auto& parcel : news_.arrived) {
            deliver(std::move(parcel));
        }
        for (auto& shipment : news_.sent) {
            left(*shipment);
        }
        happened = load() || happened;
    } catch (failure const& wrong) {
        end(wrong.process(), wrong.what());
    } catch (std::exception const& wrong) {
        end(post_.self(), wrong.what());
    }
    return happened;
}

void process::deliver(parcel parcel) {
    label label;
    std::memcpy(&label, parcel.data(), sizeof label);
    if (label.about == subject::farewell) {
        ++farewells_;
        return;
    }
    broken_ = broken_ || (label.about == subject::fault && label.context == root_context);
    auto const found = hubs_.find(label.context);
    if (found == hubs_.end()) {
        early_[label.context].push_back(std::move(parcel));
    } else if (auto const hub = found->second.lock()) {
        hub->deliver(label, parcel.bytes());
        post_.put_back(std::move(parcel));
    }
}

void process::left(shipment& shipment) {
    --shipment.pieces_out;
    if (!shipment.loading() && shipment.pieces_out == 0) {
        std::erase_if(shipment.sender->shipments, [&](auto const& one) { return one.get() == &shipment; });
        shipment.sender->changed.notify_all();
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
        } else {
            post_.send(shipment->process, label, piece, shipment);
        }
    }
    std::erase_if(loading_, [](auto const& shipment) { return !shipment->loading(); });
    return happened;
}

void process::step(std::unique_lock<std::mutex>& lock, std::condition_variable& changed, deadline until,
                   unsigned& idle) {
    if (progress()) {
        idle = 0;
    } else if (polled_) {
        sleeping_.push_back(&changed);
        changed.wait_until(lock, until.at());
        std::erase(sleeping_, &changed);
    } else {
        polled_ = true;
        rest(lock, changed, until, idle++);
        polled_ = false;
    }
}

void process::rest(std::unique_lock<std::mutex>& lock, std::condition_variable& changed, deadline until,
                   unsigned idle) {
    // An answer that is near comes soonest to who asks for it all the time; one that is far should cost nothing.
    constexpr unsigned impatient = 200;
    constexpr std::chrono::microseconds nap{50};
    if (post_.processes() == 1) {
        changed.wait_until(lock, until.at());
    } else if (idle < impatient) {
        lock.unlock();
        std::this_thread::yield();
        lock.lock();
    } else {
        changed.wait_until(lock, std::min(until.at(), deadline::clock::now() + nap));
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
