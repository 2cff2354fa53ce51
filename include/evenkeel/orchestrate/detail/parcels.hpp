// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include <evenkeel/orchestrate/detail/phase_task.hpp>

namespace evenkeel::detail {

enum class parcel_of : std::uint8_t { item, sample };

/// Visits neighbours that are in the same node together: most are at home, so that these are many.
template <class NodeOf, class Visit>
void for_each_run(std::size_t size, NodeOf node_of, Visit visit) {
    for (std::size_t first = 0, last = 0; first < size; first = last) {
        std::uint32_t const node = node_of(first);
        do {
            ++last;
        } while (last < size && node_of(last) == node);
        visit(node, first, last);
    }
}

/// Appends `first` to before `last`.
inline void append_numbers(std::vector<std::uint32_t>& list, std::size_t first, std::size_t last) {
    std::size_t const size = list.size();
    list.resize(size + (last - first));
    std::iota(list.begin() + static_cast<std::ptrdiff_t>(size), list.end(), static_cast<std::uint32_t>(first));
}

/// What changes nodes together: all items of a sample, which are neighbours, or each item for itself.
class parcels {
  public:
    /// @param homes  The node of each item; a sample is at home where its first item is, and so are then the others.
    void assign(phase_task const& task, std::span<std::uint32_t> homes, parcel_of kind) {
        starts_.reserve(task.size() + 1);
        if (kind == parcel_of::sample) {
            starts_.assign(task.starts.begin(), task.starts.end());
        } else {
            starts_.resize(task.size());
            std::iota(starts_.begin(), starts_.end(), 0U);
        }
        starts_.push_back(static_cast<std::uint32_t>(task.size()));
        weights_.assign(size(), 0);
        bytes_.assign(size(), 0);
        homes_.resize(size());
        for (std::size_t parcel = 0; parcel < size(); ++parcel) {
            homes_[parcel] = homes[starts_[parcel]];
            for (std::uint32_t item = starts_[parcel]; item < starts_[parcel + 1]; ++item) {
                homes[item] = homes_[parcel];
                weights_[parcel] += task.weights[item];
                bytes_[parcel] += task.bytes[item];
            }
        }
    }

    [[nodiscard]] std::size_t size() const noexcept { return starts_.size() - 1; }
    [[nodiscard]] std::uint32_t first(std::size_t parcel) const noexcept { return starts_[parcel]; }
    [[nodiscard]] std::uint64_t weight(std::uint32_t parcel) const noexcept { return weights_[parcel]; }

    /// Of parcels `first` to before `last` together.
    [[nodiscard]] std::uint64_t weight(std::size_t first, std::size_t last) const noexcept {
        auto const some = std::span{weights_}.subspan(first, last - first);
        return std::accumulate(some.begin(), some.end(), std::uint64_t{0});
    }

    /// What going from a node to another costs in bytes; less than nothing on the way home.
    [[nodiscard]] std::int64_t cost(std::uint32_t parcel, std::uint32_t from, std::uint32_t to) const noexcept {
        auto const bytes = static_cast<std::int64_t>(bytes_[parcel]);
        return (to != homes_[parcel] ? bytes : 0) - (from != homes_[parcel] ? bytes : 0);
    }

    /// Lets the items of a parcel go over from one list to another.
    void move(std::uint32_t parcel, std::vector<std::uint32_t>& from, std::vector<std::uint32_t>& to) const {
        std::erase_if(from, [&](std::uint32_t item) { return item >= starts_[parcel] && item < starts_[parcel + 1]; });
        for (std::uint32_t item = starts_[parcel]; item < starts_[parcel + 1]; ++item) {
            to.push_back(item);
        }
    }

  private:
    std::vector<std::uint32_t> starts_;  ///< the first item of each, then how many items there are
    std::vector<std::uint64_t> weights_;
    std::vector<std::uint64_t> bytes_;
    std::vector<std::uint32_t> homes_;
};

}  // namespace evenkeel::detail
