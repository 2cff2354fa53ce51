// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <mpi.h>

#include "parcel.hpp"

namespace evenkeel::comm::mpi {

struct shipment;

/// What MPI itself complains about.
class failure : public std::runtime_error {
  public:
    failure(std::string const& call, int code, int process);

    /// The process at the other end; negative where it is not known.
    [[nodiscard]] int process() const noexcept { return process_; }

  private:
    int process_;
};

/// @throws failure  if `code`, which `call` has returned, is an error.
void require_success(int code, char const* call, int process = -1);

/// Sends and receives parcels by MPI: the only place that hands memory to it, and the memory is its own.
///
/// MPI may use a buffer until the request is complete, and the send to a process that died never is; nor can it be
/// withdrawn. So what a caller owns is copied, and what is still on its way in the end is left to MPI with its memory.
class post {
  public:
    /// Takes over `processes`, which returns its errors.
    post(MPI_Comm processes, std::size_t piece_bytes);
    post(post const&) = delete;
    post& operator=(post const&) = delete;
    ~post();

    /// Frees the communicator, unless something is on its way. Nothing may come any more: MPI would take it for a
    /// message of the next communicator.
    void close() noexcept;

    [[nodiscard]] int self() const noexcept { return self_; }
    [[nodiscard]] int processes() const noexcept { return count_; }
    /// Whether nothing is on its way, in or out.
    [[nodiscard]] bool idle() const noexcept { return requests_.empty(); }

    /// Sends a copy of `bytes`. @param of  Named by `poll` when the copy has left; may be empty.
    void send(int process, label const& label, std::span<std::byte const> bytes, std::shared_ptr<shipment> of);

    struct arrival {
        parcel content;
        int process = 0;
    };
    struct news {
        std::vector<arrival> arrived;
        std::vector<std::shared_ptr<shipment>> sent;
    };
    /// So many parcels, and bytes of them, may be on their way at a time.
    void expect(std::size_t parcels, std::size_t bytes) { shelf_.expect(parcels, bytes); }
    /// A parcel to be filled with `bytes`.
    [[nodiscard]] parcel blank(std::size_t bytes) { return shelf_.take(sizeof(label) + bytes); }
    /// Takes a parcel back that has been looked at.
    void put_back(parcel seen) { shelf_.put_back(std::move(seen)); }
    /// Adds what has happened since the last time. @throws failure
    void poll(news& since);

  private:
    /// A parcel on its way, beside its request in `requests_`.
    struct underway {
        parcel content;
        int process = 0;
        bool arriving = false;
        std::shared_ptr<shipment> of;
    };

    MPI_Request& begin(underway one);
    void accept_arrivals();
    void collect(news& since);
    void forget_finished();

    MPI_Comm processes_;  ///< null when closed
    int self_ = 0;
    int count_ = 0;
    parcel_shelf shelf_;
    std::vector<MPI_Request> requests_;
    std::vector<underway> underway_;
    std::vector<int> finished_;  // kept for their memory
    std::vector<MPI_Status> statuses_;
};

}  // namespace evenkeel::comm::mpi
