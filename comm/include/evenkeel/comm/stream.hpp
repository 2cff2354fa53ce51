// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace evenkeel::comm {

/// The queue of an accelerator on which a transfer runs, as that accelerator's own handle.
///
///     communicator.exchange(sends, receives);            // on the host: no stream
///     communicator.exchange(sends, receives, {handle});  // a cudaStream_t
///
/// Empty on the host. A backend that has no streams refuses one that is not empty.
struct stream {
    void* handle = nullptr;

    friend bool operator==(stream const&, stream const&) = default;
};

}  // namespace evenkeel::comm
