// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
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
    wanted,    ///< likewise, it cannot, and wants it to be sent
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

/// Parcels to be used again: memory fresh from the system takes longer to get than to fill, and a step like the one
/// before should get none. In classes of size, each twice as large as the one before.
class parcel_shelf {
  public:
    /// @param size  Of the largest that are kept.
    explicit parcel_shelf(std::size_t size) : size_{size} {}

    /// Makes so many of each usual size, within so many bytes: as many as peers that lag keep on their way at a time.
    /// That is seldom seen in a first step, nor which sizes travel by MPI where neighbours have no room.
    void expect(std::size_t parcels, std::size_t bytes) {
        first_ = std::max(parcels, first_);
        bytes_of_first_ = std::max(bytes, bytes_of_first_);
        auto const largest = std::min(most_expected_bytes_, size_);
        for (std::size_t capacity = std::bit_ceil(sizeof(label)); capacity <= largest; capacity *= 2) {
            make(capacity, first_of(capacity));
        }
    }

    [[nodiscard]] parcel take(std::size_t size) {
        if (size > size_) {
            return parcel{size, size};
        }
        auto& [shelved, made] = of_class_[class_of(size)];
        if (shelved.empty()) {
            // Twice as many as so far: how many are on their way at a time differs from step to step.
            auto const capacity = std::min(std::bit_ceil(size), size_);
            make(capacity, std::clamp(made, first_of(capacity), most_of(capacity)));
        }
        parcel taken = std::move(shelved.back());
        shelved.pop_back();
        taken.size_ = size;
        return taken;
    }

    void put_back(parcel used) {
        if (used.capacity_ == 0 || used.capacity_ > size_) {
            return;
        }
        auto& [shelved, made] = of_class_[class_of(used.capacity_)];
        if (shelved.size() < most_of(used.capacity_)) {
            shelved.push_back(std::move(used));
        } else {
            --made;
        }
    }

  private:
    /// So many of each class are kept, or of so many bytes together.
    static constexpr std::size_t least_ = 32;
    static constexpr std::size_t most_expected_bytes_ = std::size_t{1} << 16U;
    static constexpr std::size_t bytes_of_class_ = std::size_t{8} << 20U;

    struct class_of_size {
        std::vector<parcel> shelved;
        std::size_t made = 0;
    };

    void make(std::size_t capacity, std::size_t more) {
        auto& [shelved, made] = of_class_[class_of(capacity)];
        shelved.reserve(made + more);
        for (std::size_t number = 0; number < more; ++number) {
            shelved.push_back(parcel{capacity, capacity});
            ++made;
        }
    }
    static std::size_t most_of(std::size_t capacity) noexcept { return std::max(least_, bytes_of_class_ / capacity); }
    [[nodiscard]] std::size_t first_of(std::size_t capacity) const noexcept {
        return std::min(std::clamp<std::size_t>(bytes_of_first_ / capacity, 2, first_), most_of(capacity));
    }
    static std::size_t class_of(std::size_t size) noexcept {
        return static_cast<std::size_t>(std::bit_width(size - 1));
    }

    std::size_t size_;
    std::size_t first_ = 16;
    std::size_t bytes_of_first_ = std::size_t{2} << 20U;
    std::array<class_of_size, 65> of_class_;
};

}  // namespace evenkeel::comm::mpi
