// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include <evenkeel/comm/stream.hpp>

#include "copy.hpp"

namespace evenkeel::comm {

/// Copies within memory that a backend reaches and the host does not, in the order of a stream. One rank's.
///
/// Throws a `comm::error` where the device complains.
class copier {
  public:
    copier() = default;
    copier(copier const&) = delete;
    copier& operator=(copier const&) = delete;
    virtual ~copier() = default;

    /// Whether this memory is such.
    [[nodiscard]] virtual bool reaches(void const* address) const = 0;
    /// Memory of that kind, for what is put on `on` before the result is gone.
    [[nodiscard]] virtual std::shared_ptr<std::byte> take(std::size_t bytes, stream on) = 0;
    /// Puts all copies on `on`, as one batch. Ranges do not overlap.
    virtual void copy(std::span<local_copy const> copies, stream on) = 0;
    /// Puts all runs one behind the other into `dense`, on `on`, or from there to where they belong.
    virtual void pack(std::span<scattered_run const> runs, std::byte* dense, stream on) = 0;
    virtual void unpack(std::span<scattered_run const> runs, std::byte* dense, stream on) = 0;
    /// A stream for those whose caller has none, and a wait for all that is on it.
    [[nodiscard]] virtual stream own_stream() = 0;
    virtual void finish_own_stream() = 0;
};

}  // namespace evenkeel::comm
