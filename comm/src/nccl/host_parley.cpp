// SPDX-License-Identifier: Apache-2.0
#include "host_parley.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

namespace evenkeel::comm::nccl {

namespace {

/// What errors of the host's communicator call the talk.
constexpr std::string_view talking = "all_gather";
/// Stands around the operation in what is told.
constexpr char mark = '\x1f';

}  // namespace

void host_parley::begin(std::string_view operation, std::span<std::byte const> mine, std::span<std::byte> all) {
    operation_ = operation;
    try {
        talk_ = host_->all_gather(mine, all);
    } catch (error const& wrong) {
        throw told{fault_of(wrong)};
    }
    talking_ = true;
}

bool host_parley::heard() {
    try {
        talking_ = !talk_.ready();
    } catch (error const& wrong) {
        throw told{fault_of(wrong)};
    }
    return !talking_;
}

void host_parley::listen() {
    try {
        host_->require_alive();
    } catch (error const& wrong) {
        throw told{fault_of(wrong)};
    }
}

fault host_parley::lateness(std::string_view operation) {
    try {
        if (talking_) {
            std::exchange(talk_, {}).wait(std::chrono::seconds{0});
            talking_ = false;
        }
        listen();
    } catch (error const& wrong) {
        return fault_of(wrong);
    } catch (told const& other) {
        return other.why;
    }
    return {std::string{operation}, std::nullopt, "the deadline passed while bytes were on their way"};
}

void host_parley::leave() noexcept {
    talk_ = {};
    talking_ = false;
}

void host_parley::tell(fault const& why, std::optional<world_rank> culprit) noexcept {
    try {
        // Where it names no rank, it is of interest where it was found.
        auto const finder = rank_text(host_->rank()) + ": ";
        bool const said = why.peer || why.reason.starts_with(finder);
        std::string words = mark + why.operation + mark;
        host_->abort(words.append(said ? "" : finder).append(why.reason), culprit);
    } catch (std::exception const&) {
        host_->abort({}, culprit);
    }
}

std::unique_ptr<parley> host_parley::split(std::uint32_t color, std::uint32_t key, wire&, cudaStream_t,
                                           deadline until) {
    return std::make_unique<host_parley>(host_->split(color, key, until));
}

fault host_parley::fault_of(error const& wrong) const {
    std::string text{wrong.reason()};
    if (auto const first = text.find(mark), last = text.rfind(mark); first != last) {
        auto operation = text.substr(first + 1, last - first - 1);
        // In front of it stand the rank that has told, and where.
        auto const teller = std::min(first, text.rfind("rank ", first));
        text.erase(teller, last + 1 - teller);
        return {std::move(operation), wrong.peer(), std::move(text)};
    }
    return {wrong.operation() == talking ? operation_ : wrong.operation(), wrong.peer(), std::move(text)};
}

}  // namespace evenkeel::comm::nccl
