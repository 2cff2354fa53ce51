// SPDX-License-Identifier: Apache-2.0
#include "courier.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "renumber.hpp"

namespace evenkeel::comm {

namespace {

/// Between two looks at transfers that are on their way: short for a stage, long for a processor.
constexpr std::chrono::microseconds pause{30};
/// Looks without a pause after something has moved, for the next step of a transfer often follows at once.
constexpr int eager_looks = 40;

}  // namespace

courier::courier(communicator& world) : world_{world}, thread_{[this] { work(); }} {}

courier::~courier() {
    {
        std::lock_guard const lock{mutex_};
        stopping_ = true;
    }
    to_courier_.notify_all();
    thread_.join();
}

courier::ticket courier::enqueue(job one) {
    ticket number = 0;
    {
        std::lock_guard const lock{mutex_};
        number = next_++;
        done_.push_back(false);
        one.number = number;
        posted_.push_back(std::move(one));
    }
    to_courier_.notify_all();
    return number;
}

bool courier::done(ticket which) {
    std::lock_guard const lock{mutex_};
    return which < first_ || done_[which - first_];
}

void courier::wait(ticket which, deadline until) {
    std::unique_lock lock{mutex_};
    auto const complete = [&] { return which < first_ || done_[which - first_]; };
    auto const over = [&] { return fault_ != nullptr || complete(); };
    if (!to_owner_.wait_until(lock, until.at(), over)) {
        // The transfer itself knows best who did not come.
        expired_ = which;
        to_courier_.notify_all();
        to_owner_.wait(lock, over);
    }
    if (!complete()) {
        std::rethrow_exception(fault_);
    }
}

void courier::abort(std::string reason) noexcept {
    std::unique_lock lock{mutex_};
    abort_ = std::move(reason);
    to_courier_.notify_all();
    to_owner_.wait(lock, [&] { return !abort_.has_value(); });
}

void courier::work() noexcept {
    std::unique_lock lock{mutex_};
    int looks = 0;
    while (true) {
        auto const called = [&] {
            return stopping_ || abort_ || (fault_ == nullptr && (!posted_.empty() || expired_));
        };
        if (open_.empty()) {
            to_courier_.wait(lock, called);
        } else if (looks > 0) {
            lock.unlock();
            std::this_thread::yield();
            lock.lock();
        } else {
            to_courier_.wait_for(lock, pause, called);
        }
        if (stopping_) {
            break;
        }
        if (abort_) {
            std::string const reason = *abort_;
            lock.unlock();
            world_.abort(reason);
            lock.lock();
            abort_.reset();
            to_owner_.notify_all();
        }
        if (fault_ != nullptr) {
            continue;
        }
        std::move(posted_.begin(), posted_.end(), std::back_inserter(open_));
        posted_.clear();
        // With what was posted, so that it is about one of these: the next one may be posted, and expire, meanwhile.
        auto const expired = std::exchange(expired_, std::nullopt);
        lock.unlock();
        std::exception_ptr fault;
        try {
            looks = std::max(looks - 1, 0);
            while (proceed()) {
                looks = eager_looks;
            }
            if (expired) {
                expire(*expired);
            }
        } catch (...) {
            fault = std::current_exception();
        }
        if (fault != nullptr) {
            fault = give_up(fault);
        }
        lock.lock();
        if (fault != nullptr) {
            fault_ = fault;
            to_owner_.notify_all();
        }
    }
    lock.unlock();
    open_.clear();
}

std::exception_ptr courier::give_up(std::exception_ptr const& fault) noexcept {
    auto told = fault;
    try {
        std::rethrow_exception(fault);
    } catch (error const& wrong) {
        try {
            told = in_numbers_of_the_world(wrong);
        } catch (...) {
            // Memory lacks for the words.
            world_.abort({});
        }
    } catch (std::exception const& wrong) {
        world_.abort(wrong.what());
    } catch (...) {
        world_.abort("an exception that is no std::exception");
    }
    open_.clear();
    return told;
}

std::exception_ptr courier::in_numbers_of_the_world(error const& wrong) {
    try {
        // If the world has ended, that is the cause, and this only what has become of it.
        world_.require_alive();
    } catch (error const&) {
        return std::current_exception();
    }
    auto own = renumbered(wrong, world_.rank(), at_work_);
    world_.abort(own.reason(), own.peer());
    return std::make_exception_ptr(std::move(own));
}

bool courier::proceed() {
    bool changed = false;
    for (auto one = open_.begin(); one != open_.end();) {
        at_work_ = one->ranks;
        if (!one->begun) {
            one->begun = one->call(one->begin.data());
            changed = true;
        }
        if (!one->begun->ready()) {
            ++one;
            continue;
        }
        changed = true;
        {
            std::lock_guard const lock{mutex_};
            done_[one->number - first_] = true;
            auto const first_open = std::ranges::find(done_, false);
            first_ += static_cast<ticket>(first_open - done_.begin());
            done_.erase(done_.begin(), first_open);
        }
        to_owner_.notify_all();
        one = open_.erase(one);
    }
    return changed;
}

void courier::expire(ticket which) {
    for (auto& one : open_) {
        if (one.number == which) {
            at_work_ = one.ranks;
            one.begun->wait(std::chrono::seconds{0});
        }
    }
}

}  // namespace evenkeel::comm
