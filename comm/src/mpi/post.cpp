// SPDX-License-Identifier: Apache-2.0
#include "post.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace evenkeel::comm::mpi {

namespace {

/// Labels tell parcels apart.
constexpr int tag = 0;

/// What the ranks of one process tell those of another, short messages with it, is seldom more.
constexpr std::size_t longest_kept_parcel = std::size_t{1} << 20U;

std::string text_of(int code) {
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    if (MPI_Error_string(code, text, &length) != MPI_SUCCESS) {
        return "error " + std::to_string(code);
    }
    return {text, static_cast<std::size_t>(length)};
}

}  // namespace

failure::failure(std::string const& call, int code, int process)
    : std::runtime_error{call + ": " + text_of(code)}, process_{process} {}

void require_success(int code, char const* call, int process) {
    if (code != MPI_SUCCESS) {
        throw failure{call, code, process};
    }
}

post::post(MPI_Comm processes, std::size_t piece_bytes)
    : processes_{processes}, shelf_{std::max(sizeof(label) + piece_bytes, longest_kept_parcel)} {
    require_success(MPI_Comm_rank(processes_, &self_), "MPI_Comm_rank");
    require_success(MPI_Comm_size(processes_, &count_), "MPI_Comm_size");
    constexpr std::size_t usual = 64;
    requests_.reserve(usual);
    underway_.reserve(usual);
    finished_.reserve(usual);
    statuses_.reserve(usual);
}

post::~post() {
    for (auto& one : underway_) {
        one.content.abandon();
    }
}

void post::close() noexcept {
    if (requests_.empty()) {
        MPI_Comm_free(&processes_);
    }
}

void post::send(int process, label const& label, std::span<std::byte const> bytes, std::shared_ptr<shipment> of) {
    auto content = shelf_.take(sizeof label + bytes.size());
    std::memcpy(content.data(), &label, sizeof label);
    copy_bytes(bytes, content.bytes());
    std::byte* const data = content.data();
    auto const size = static_cast<int>(content.size());
    auto& request = begin({.content = std::move(content), .process = process, .arriving = false, .of = std::move(of)});
    require_success(MPI_Isend(data, size, MPI_BYTE, process, tag, processes_, &request), "MPI_Isend", process);
}

void post::poll(news& since) {
    accept_arrivals();
    collect(since);
}

MPI_Request& post::begin(underway one) {
    underway_.push_back(std::move(one));
    try {
        return requests_.emplace_back(MPI_REQUEST_NULL);
    } catch (...) {
        underway_.pop_back();
        throw;
    }
}

void post::accept_arrivals() {
    // A bound, so that a process that is sent to without end does other things, too.
    constexpr int at_a_time = 64;
    for (int accepted = 0; accepted < at_a_time; ++accepted) {
        int found = 0;
        MPI_Message message = MPI_MESSAGE_NULL;
        MPI_Status status;
        require_success(MPI_Improbe(MPI_ANY_SOURCE, tag, processes_, &found, &message, &status), "MPI_Improbe");
        if (found == 0) {
            return;
        }
        int size = 0;
        require_success(MPI_Get_count(&status, MPI_BYTE, &size), "MPI_Get_count", status.MPI_SOURCE);
        auto content = shelf_.take(static_cast<std::size_t>(size));
        std::byte* const data = content.data();
        auto& request =
            begin({.content = std::move(content), .process = status.MPI_SOURCE, .arriving = true, .of = {}});
        require_success(MPI_Imrecv(data, size, MPI_BYTE, &message, &request), "MPI_Imrecv", status.MPI_SOURCE);
    }
}

void post::collect(news& since) {
    if (requests_.empty()) {
        return;
    }
    finished_.resize(requests_.size());
    statuses_.resize(requests_.size());
    int count = 0;
    int const code =
        MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count, finished_.data(), statuses_.data());
    if (code != MPI_ERR_IN_STATUS) {
        require_success(code, "MPI_Testsome");
    }
    for (int f = 0; f < count; ++f) {
        auto& one = underway_[static_cast<std::size_t>(finished_[static_cast<std::size_t>(f)])];
        if (code == MPI_ERR_IN_STATUS) {
            require_success(statuses_[static_cast<std::size_t>(f)].MPI_ERROR, "MPI_Testsome", one.process);
        }
        if (one.arriving) {
            since.arrived.push_back({std::move(one.content), one.process});
            continue;
        }
        shelf_.put_back(std::move(one.content));
        if (one.of != nullptr) {
            since.sent.push_back(std::move(one.of));
        }
    }
    if (count != 0) {
        forget_finished();
    }
}

void post::forget_finished() {
    std::size_t kept = 0;
    for (std::size_t r = 0; r < requests_.size(); ++r) {
        if (requests_[r] != MPI_REQUEST_NULL) {
            requests_[kept] = requests_[r];
            if (kept != r) {
                underway_[kept] = std::move(underway_[r]);
            }
            ++kept;
        }
    }
    requests_.resize(kept);
    underway_.resize(kept);
}

}  // namespace evenkeel::comm::mpi
