// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace evenkeel::comm::mpi {

/// What a parcel is about.
enum class subject : std::uint32_t {
    gather,    ///< a rank has come to an all-gather, and its bytes
    exchange,  ///< a rank has come to an exchange, and what it states
    details,   ///< what a rank has called, where the ranks have not called the same
    message,   ///< bytes of one rank for another
    taken,     ///< a rank has read a message out of its sender's memory
    fault,     ///< the communicator has ended
    farewell,  ///< the last parcel of a process
};

/// In one go, at any optimisation level.
inline void copy_bytes(std::span<std::byte const> from, std::span<std::byte> to) noexcept {
    if (!from.empty()) {
        std::memcpy(to.data(), from.data(), from.size());
    }
}

/// What stands on a parcel: whose it is and where it belongs. So it may arrive in any order and before anybody waits
/// for it, and MPI's tags, of which there may be no more than 32768, need not tell parcels apart.
struct label {
    std::uint64_t context = 0;   ///< the communicator
    std::uint64_t number = 0;    ///< the operation, as the ranks count them
    std::uint64_t identity = 0;  ///< a hash of what the rank calls
    std::uint64_t total = 0;     ///< the bytes of all parcels of the shipment
    std::uint64_t offset = 0;    ///< of this parcel's bytes in them
    std::uint32_t from = 0;      ///< a rank of the communicator
    std::uint32_t to = 0;        ///< likewise, of a message or its taking; of a fault 1 more than the peer, or 0
    subject about{};
    std::uint32_t unused = 0;
};
static_assert(std::has_unique_object_representations_v<label>, "no padding travels");

/// One MPI message: a label and, right behind it, a piece of the bytes.
class parcel {
  public:
    parcel() = default;
    parcel(std::size_t capacity, std::size_t size)
        : data_{std::make_unique_for_overwrite<std::byte[]>(capacity)}, capacity_{capacity}, size_{size} {}

    [[nodiscard]] std::byte* data() noexcept { return data_.get(); }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] std::span<std::byte> bytes() noexcept { return {data_.get() + sizeof(label), size_ - sizeof(label)}; }

    /// Leaves the memory to whoever still uses it.
    void abandon() noexcept { static_cast<void>(data_.release()); }

  private:
    friend class parcel_shelf;

    std::unique_ptr<std::byte[]> data_;
    std::size_t capacity_ = 0;
    std::size_t size_ = 0;
};

/// Large parcels, to be used again: memory fresh from the system takes longer to get than to fill.
class parcel_shelf {
  public:
    /// @param size  Of the parcels that are kept.
    explicit parcel_shelf(std::size_t size) : size_{size} {}

    [[nodiscard]] parcel take(std::size_t size) {
        if (size > size_ || size < size_ / 2) {
            return parcel{size, size};
        }
        if (shelved_.empty()) {
            return parcel{size_, size};
        }
        parcel taken = std::move(shelved_.back());
        shelved_.pop_back();
        taken.size_ = size;
        return taken;
    }

    void put_back(parcel used) {
        if (used.capacity_ == size_ && shelved_.size() < most_) {
            shelved_.push_back(std::move(used));
        }
    }

  private:
    static constexpr std::size_t most_ = 32;

    std::size_t size_;
    std::vector<parcel> shelved_;
};

}  // namespace evenkeel::comm::mpi
