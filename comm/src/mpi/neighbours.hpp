// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <mpi.h>

namespace evenkeel::comm::mpi {

/// Says that bytes in the memory of a process may still be read by its neighbours.
struct lease {
    std::uint32_t slot = 0;
    std::uint32_t generation = 0;
};

/// The other processes on this host, reached without MPI: short parcels through rings in shared memory, longer messages
/// out of shared memory as well, the longest straight from the memory of their sender. A rank that waits sleeps until
/// what it waits for has come, which costs two switches between processes that share a processor, not two per message.
///
/// MPI lends memory to whoever sends or receives and cannot always take it back. Here the receiver copies, inside a
/// call of its own, and afterwards looks whether the sender still waits: what it has read is good only then.
class neighbours {
  public:
    /// Nobody.
    neighbours() = default;
    /// Collective over `processes`. Nobody, unless `wanted` and the system permits it: both for either end.
    neighbours(MPI_Comm processes, bool wanted);
    neighbours(neighbours const&) = delete;
    neighbours& operator=(neighbours const&) = delete;
    ~neighbours();

    [[nodiscard]] bool has(int process) const noexcept {
        return static_cast<std::size_t>(process) < of_process_.size() && of_process_[static_cast<std::size_t>(process)];
    }
    [[nodiscard]] std::size_t count() const noexcept { return all_.size(); }

    /// Room for a parcel of so many bytes; null if there is none, so that it takes the other way.
    [[nodiscard]] std::byte* room_for(int process, std::size_t bytes) noexcept;
    /// Hands over what stands in the room. @param urgent  Wakes also a process that waits for more.
    void send(int process, bool urgent) noexcept;
    /// A parcel is about to take the other way: by MPI.
    void announce_other_way(int process) noexcept;
    /// Such a parcel has come.
    void count_other_way(int process) noexcept;
    /// Whether such a parcel is due.
    [[nodiscard]] bool other_way_is_due() const noexcept;

    /// Calls `use` with each parcel that has come since the last time. @return how many
    template <class Use>
    std::size_t receive(Use use) {
        std::size_t taken = 0;
        seen_ = arrived();
        for (auto& one : all_) {
            for (auto parcel = next(*one); parcel; parcel = next(*one)) {
                use(*parcel);
                release(*one, parcel->size());
                ++taken;
            }
        }
        return taken;
    }

    /// Memory of this process that its neighbours see, and theirs. Nothing but zeros until it is written to.
    [[nodiscard]] std::span<std::byte> shown() const noexcept;
    [[nodiscard]] std::span<std::byte const> shown_by(int process) const noexcept;

    /// Copies bytes from the memory of a neighbour. @return whether they were all there
    [[nodiscard]] bool read(int process, std::uint64_t address, std::span<std::byte> into) const noexcept;
    /// None if there are too many already.
    [[nodiscard]] std::optional<lease> open_lease() noexcept;
    /// From here on, what a neighbour reads is worthless to it.
    void close_lease(lease lease) noexcept;
    /// Whether the lease of a neighbour is open.
    [[nodiscard]] bool is_open(int process, lease lease) const noexcept;

    /// How many parcels had come when `receive` last looked.
    [[nodiscard]] std::uint32_t seen() const noexcept { return seen_; }
    /// Sleeps until `more` parcels have come than `seen`, or an urgent one, or somebody wakes it.
    void sleep(std::uint32_t seen, std::uint32_t more, std::chrono::steady_clock::time_point until) noexcept;
    /// Wakes this process: another thread of it has something to do.
    void wake() noexcept;

  private:
    struct segment;
    struct ring;
    struct neighbour;
    struct invitation;
    /// Which of the processes `here`, on this host, are another one and this one.
    struct positions {
        std::size_t here = 0;
        std::size_t its = 0;
        std::size_t own = 0;
    };

    [[nodiscard]] std::unique_ptr<neighbour> reach(invitation const& other, positions const& at) const;
    void keep_mutual(MPI_Comm processes, std::vector<std::unique_ptr<neighbour>> reached);
    [[nodiscard]] std::uint32_t arrived() const noexcept;
    [[nodiscard]] static std::optional<std::span<std::byte const>> next(neighbour& one) noexcept;
    static void release(neighbour& one, std::size_t bytes) noexcept;

    segment* mine_ = nullptr;
    std::size_t mapped_ = 0;    ///< bytes of each segment
    std::size_t shown_at_ = 0;  ///< where they are in it
    std::uint32_t seen_ = 0;
    std::uint32_t generation_ = 0;
    std::vector<std::unique_ptr<neighbour>> all_;
    std::vector<neighbour*> of_process_;  ///< null for those elsewhere
};

}  // namespace evenkeel::comm::mpi
