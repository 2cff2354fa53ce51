// SPDX-License-Identifier: Apache-2.0
// The calls of NCCL and the CUDA runtime that `comm` makes, over threads and host memory. See nccl_double.hpp for what
// it is and is not.
#include "nccl_double.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <cuda_runtime_api.h>
#include <nccl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace {

std::mutex all_mutex;  ///< guards everything here: the double is for order, not for speed

/// Work in the order of a stream. A step returns whether it is done.
struct work_queue {
    std::deque<std::function<bool()>> work;
    bool capturing = false;
};

struct fake_event {
    std::shared_ptr<bool> reached;
};

/// One end of a message that waits for the other one.
struct message_end {
    ncclComm* owner = nullptr;
    void* bytes = nullptr;
    std::size_t size = 0;
    std::shared_ptr<bool> done;
};

struct gathering {
    std::map<int, std::pair<void const*, void*>> ranks;  ///< what each sends, and where it receives
    std::size_t size = 0;
    std::shared_ptr<bool> done = std::make_shared<bool>(false);
};

struct clique;

struct splitting {
    struct wish {
        int color = 0;
        int key = 0;
        ncclComm* child = nullptr;
    };
    std::map<int, wish> ranks;
};

/// The ranks of one communicator.
struct clique {
    int size = 0;
    int joined = 0;
    std::map<std::pair<int, int>, std::deque<message_end>> sends;  ///< by sender and receiver
    std::map<std::pair<int, int>, std::deque<message_end>> receives;
    std::map<int, gathering> gatherings;  ///< by number
    std::map<int, splitting> splittings;
};

}  // namespace

struct ncclComm {
    std::shared_ptr<clique> ranks;
    int rank = 0;
    int next_gathering = 0;
    int next_splitting = 0;
    ncclResult_t wrong = ncclSuccess;
    bool aborted = false;
};

namespace {

std::set<work_queue*> queues;
work_queue default_queue;
/// Two views of the same bytes: callers have one that the host must not touch.
struct device_block {
    std::size_t size = 0;
    std::byte* behind = nullptr;
};
std::map<std::byte*, device_block> device_memory;  ///< by the callers' view
long batches_launched = 0;
bool only_ends = false;
std::map<std::uint64_t, std::shared_ptr<clique>> cliques;
std::set<ncclComm*> comms;  ///< those that live: work of the others is void
std::vector<std::unique_ptr<ncclComm>> buried;
std::uint64_t next_id = 1;
int devices = 1;
thread_local int device = 0;
thread_local std::string failing;
thread_local std::string exhausting;
thread_local std::string last_error;

struct point_to_point {
    bool sends = false;
    void* bytes = nullptr;
    std::size_t size = 0;
    int peer = 0;
    ncclComm* comm = nullptr;
    work_queue* on = nullptr;
};
thread_local int group_depth = 0;
thread_local std::vector<point_to_point> grouped;
thread_local bool group_broken = false;  ///< a call in it has failed: as with NCCL, nothing of it is launched

bool fails(char const* call) {
    if (exhausting == call) {
        exhausting.clear();
        throw std::bad_alloc{};
    }
    if (failing == call) {
        failing.clear();
        last_error = "as the test has asked";
        return true;
    }
    return false;
}

ncclResult_t refuse(char const* why) {
    last_error = why;
    return ncclInvalidUsage;
}

/// Where the `size` bytes at `address` are for the double. What leaves its allocation ends the test.
std::byte* behind(void const* address, std::size_t size) {
    auto* const at = static_cast<std::byte*>(const_cast<void*>(address));
    auto found = device_memory.upper_bound(at);
    if (found == device_memory.begin()) {
        return at;
    }
    --found;
    auto const offset = static_cast<std::size_t>(at - found->first);
    if (offset >= std::max<std::size_t>(found->second.size, 1)) {
        return at;
    }
    if (offset + size > found->second.size) {
        std::fprintf(stderr, "the double: %zu bytes at %zu of %zu bytes of device memory\n", size, offset,
                     found->second.size);
        std::abort();
    }
    return found->second.behind + offset;
}

void move_bytes(void* to, void const* from, std::size_t size) {
    if (size == 0) {
        return;
    }
    constexpr std::size_t end = std::size_t{1} << 16U;
    auto* const target = behind(to, size);
    auto const* const source = behind(from, size);
    if (only_ends && size > 2 * end) {
        std::memcpy(target, source, end);
        std::memcpy(target + size - end, source + size - end, end);
        return;
    }
    std::memcpy(target, source, size);
}

bool lives(ncclComm* comm) { return comms.contains(comm) && !comm->aborted; }

/// Carries out all that can be done, on all streams.
void proceed() {
    for (bool happened = true; std::exchange(happened, false);) {
        auto const drain = [&](work_queue& queue) {
            while (!queue.work.empty() && queue.work.front()()) {
                queue.work.pop_front();
                happened = true;
            }
        };
        drain(default_queue);
        for (auto* const queue : queues) {
            drain(*queue);
        }
    }
}

work_queue& queue_of(cudaStream_t stream) {
    return stream == nullptr ? default_queue : *reinterpret_cast<work_queue*>(stream);
}

void match(clique& ranks, std::pair<int, int> pair) {
    auto& sends = ranks.sends[pair];
    auto& receives = ranks.receives[pair];
    while (!sends.empty() && !receives.empty()) {
        auto& send = sends.front();
        auto& receive = receives.front();
        if (send.size != receive.size) {
            send.owner->wrong = receive.owner->wrong = ncclInvalidUsage;
            return;
        }
        move_bytes(receive.bytes, send.bytes, send.size);
        *send.done = *receive.done = true;
        sends.pop_front();
        receives.pop_front();
    }
}

/// All messages of a group: each end is laid out when the stream gets there, and the group is done when all are met.
std::function<bool()> together(ncclComm* comm, std::vector<point_to_point> messages) {
    auto const done = std::make_shared<std::vector<std::shared_ptr<bool>>>();
    return [comm, messages = std::move(messages), done] {
        if (!lives(comm)) {
            return true;
        }
        if (done->empty()) {
            for (auto const& one : messages) {
                done->push_back(std::make_shared<bool>(false));
                auto const pair = one.sends ? std::pair{comm->rank, one.peer} : std::pair{one.peer, comm->rank};
                (one.sends ? comm->ranks->sends : comm->ranks->receives)[pair].push_back(
                    {comm, one.bytes, one.size, done->back()});
                match(*comm->ranks, pair);
            }
        }
        return std::ranges::all_of(*done, [](auto const& one) { return *one; });
    };
}

/// What a communicator has laid out is withdrawn.
void withdraw(ncclComm* comm) {
    for (auto* const ends : {&comm->ranks->sends, &comm->ranks->receives}) {
        for (auto& [pair, waiting] : *ends) {
            std::erase_if(waiting, [&](message_end const& one) { return one.owner == comm; });
        }
    }
    for (auto& [number, one] : comm->ranks->gatherings) {
        if (!*one.done) {
            one.ranks.erase(comm->rank);
        }
    }
}

void complete(splitting& all) {
    for (auto const& [rank, mine] : all.ranks) {
        std::vector<std::pair<int, int>> members;  // key, rank
        for (auto const& [other, wish] : all.ranks) {
            if (wish.color == mine.color) {
                members.emplace_back(wish.key, other);
            }
        }
        std::ranges::sort(members);
        auto& first = *all.ranks.at(members.front().second).child;
        if (first.ranks == nullptr) {
            first.ranks = std::make_shared<clique>();
            first.ranks->size = first.ranks->joined = static_cast<int>(members.size());
        }
        mine.child->ranks = first.ranks;
        mine.child->rank = static_cast<int>(std::ranges::find(members, std::pair{mine.key, rank}) - members.begin());
    }
}

}  // namespace

namespace evenkeel::test::nccl_double {

void fail_next(std::string_view call) { failing = call; }
void run_out_of_memory_in(std::string_view call) { exhausting = call; }

void set_devices(int count) {
    std::lock_guard const lock{all_mutex};
    devices = count;
}

void set_capturing(void* stream, bool capturing) {
    std::lock_guard const lock{all_mutex};
    queue_of(static_cast<cudaStream_t>(stream)).capturing = capturing;
}

long batches() {
    std::lock_guard const lock{all_mutex};
    return batches_launched;
}

void move_only_ends(bool whether) {
    std::lock_guard const lock{all_mutex};
    only_ends = whether;
}

void* host_view(void const* address, std::size_t size) { return behind(address, size); }

long allocations() {
    std::lock_guard const lock{all_mutex};
    return static_cast<long>(device_memory.size());
}

std::size_t allocated_bytes() {
    std::lock_guard const lock{all_mutex};
    std::size_t sum = 0;
    for (auto const& [address, block] : device_memory) {
        sum += block.size;
    }
    return sum;
}

}  // namespace evenkeel::test::nccl_double

extern "C" {

// The CUDA runtime.

char const* cudaGetErrorString(cudaError_t code) {
    return code == cudaErrorInsufficientDriver ? "CUDA driver version is insufficient for CUDA runtime version"
                                               : "an error of the double";
}

cudaError_t cudaGetLastError() { return cudaSuccess; }

cudaError_t cudaGetDeviceCount(int* count) {
    std::lock_guard const lock{all_mutex};
    if (devices == 0) {
        return cudaErrorInsufficientDriver;  // as a machine without a driver does, which writes no count
    }
    *count = devices;
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int* current) {
    *current = device;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int wanted) {
    device = wanted;
    return cudaSuccess;
}

cudaError_t cudaMalloc(void** made, std::size_t bytes) {
    if (fails("cudaMalloc")) {
        return cudaErrorMemoryAllocation;
    }
    std::lock_guard const lock{all_mutex};
    std::size_t const mapped = std::max<std::size_t>(bytes, 1);
    int const file = memfd_create("device", 0);
    if (file < 0 || ftruncate(file, static_cast<off_t>(mapped)) != 0) {
        return cudaErrorMemoryAllocation;
    }
    auto* const data = mmap(nullptr, mapped, PROT_NONE, MAP_SHARED, file, 0);
    auto* const inside = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (data == MAP_FAILED || inside == MAP_FAILED) {
        return cudaErrorMemoryAllocation;
    }
    device_memory[static_cast<std::byte*>(data)] = {bytes, static_cast<std::byte*>(inside)};
    *made = data;
    return cudaSuccess;
}

cudaError_t cudaFree(void* data) {
    std::lock_guard const lock{all_mutex};
    auto const found = device_memory.find(static_cast<std::byte*>(data));
    if (found != device_memory.end()) {
        std::size_t const mapped = std::max<std::size_t>(found->second.size, 1);
        munmap(found->second.behind, mapped);
        munmap(data, mapped);
        device_memory.erase(found);
    }
    return cudaSuccess;
}

cudaError_t cudaMallocHost(void** made, std::size_t bytes) {
    *made = std::malloc(std::max<std::size_t>(bytes, 1));
    return cudaSuccess;
}

cudaError_t cudaFreeHost(void* data) {
    std::free(data);
    return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, void const* data) {
    std::lock_guard const lock{all_mutex};
    auto const* const at = static_cast<std::byte const*>(data);
    bool const there = std::ranges::any_of(device_memory, [&](auto const& one) {
        return one.first <= at && at < one.first + std::max<std::size_t>(one.second.size, 1);
    });
    attributes->type = there ? cudaMemoryTypeDevice : cudaMemoryTypeUnregistered;
    return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, void const* from, std::size_t bytes, cudaMemcpyKind, cudaStream_t on) {
    std::lock_guard const lock{all_mutex};
    queue_of(on).work.emplace_back([=] {
        move_bytes(to, from, bytes);
        return true;
    });
    proceed();
    return cudaSuccess;
}

cudaError_t cudaLaunchHostFunc(cudaStream_t on, cudaHostFn_t call, void* given) {
    std::lock_guard const lock{all_mutex};
    ++batches_launched;
    queue_of(on).work.emplace_back([=] {
        call(given);
        return true;
    });
    proceed();
    return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* made, unsigned int) {
    std::lock_guard const lock{all_mutex};
    auto* const queue = new work_queue;
    queues.insert(queue);
    *made = reinterpret_cast<cudaStream_t>(queue);
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    std::lock_guard const lock{all_mutex};
    proceed();
    auto* const queue = reinterpret_cast<work_queue*>(stream);
    queues.erase(queue);
    delete queue;
    return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
    if (fails("cudaStreamIsCapturing")) {
        return cudaErrorInvalidResourceHandle;
    }
    std::lock_guard const lock{all_mutex};
    *status = queue_of(stream).capturing ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
    return cudaSuccess;
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
    std::lock_guard const lock{all_mutex};
    proceed();
    return queue_of(stream).work.empty() ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    while (cudaStreamQuery(stream) == cudaErrorNotReady) {
        std::this_thread::yield();
    }
    return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int) {
    std::lock_guard const lock{all_mutex};
    auto const reached = reinterpret_cast<fake_event*>(event)->reached;
    queue_of(stream).work.emplace_back([reached] { return reached == nullptr || *reached; });
    proceed();
    return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* made, unsigned int) {
    *made = reinterpret_cast<cudaEvent_t>(new fake_event);
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
    delete reinterpret_cast<fake_event*>(event);
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    std::lock_guard const lock{all_mutex};
    auto const reached = std::make_shared<bool>(false);
    reinterpret_cast<fake_event*>(event)->reached = reached;
    queue_of(stream).work.emplace_back([reached] { return *reached = true; });
    proceed();
    return cudaSuccess;
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
    std::lock_guard const lock{all_mutex};
    proceed();
    auto const& reached = reinterpret_cast<fake_event*>(event)->reached;
    return reached == nullptr || *reached ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    while (cudaEventQuery(event) == cudaErrorNotReady) {
        std::this_thread::yield();
    }
    return cudaSuccess;
}

// NCCL.

char const* ncclGetErrorString(ncclResult_t code) {
    return code == ncclInvalidUsage ? "invalid usage" : "an error of the double";
}

char const* ncclGetLastError(ncclComm_t) { return last_error.c_str(); }

ncclResult_t ncclGetUniqueId(ncclUniqueId* made) {
    std::lock_guard const lock{all_mutex};
    std::memset(made, 0, sizeof *made);
    std::memcpy(made, &next_id, sizeof next_id);
    cliques[next_id++] = std::make_shared<clique>();
    return ncclSuccess;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* made, int ranks, ncclUniqueId id, int rank, ncclConfig_t* config) {
    if (fails("ncclCommInitRankConfig")) {
        return ncclSystemError;
    }
    std::lock_guard const lock{all_mutex};
    if (config->blocking != 0) {
        return refuse("the double does not block");
    }
    std::uint64_t number = 0;
    std::memcpy(&number, &id, sizeof number);
    auto const& all = cliques.at(number);
    all->size = ranks;
    ++all->joined;
    *made = new ncclComm{.ranks = all, .rank = rank};
    comms.insert(*made);
    return ncclInProgress;
}

ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t* made, ncclConfig_t* config) {
    if (fails("ncclCommSplit")) {
        return ncclSystemError;
    }
    std::lock_guard const lock{all_mutex};
    if (color < 0 || key < 0 || config->splitShare != 0) {
        return refuse("a colour or key below 0, or shared resources");
    }
    auto* const child = new ncclComm{};
    comms.insert(child);
    *made = child;
    auto& all = comm->ranks->splittings[comm->next_splitting++];
    all.ranks[comm->rank] = {color, key, child};
    if (static_cast<int>(all.ranks.size()) == comm->ranks->size) {
        complete(all);
    }
    return ncclInProgress;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* state) {
    std::lock_guard const lock{all_mutex};
    proceed();
    bool const here = comm->ranks != nullptr && comm->ranks->joined >= comm->ranks->size;
    *state = comm->wrong != ncclSuccess ? comm->wrong : here ? ncclSuccess : ncclInProgress;
    return ncclSuccess;
}

ncclResult_t ncclCommCount(ncclComm_t comm, int* count) {
    *count = comm->ranks->size;
    return ncclSuccess;
}

ncclResult_t ncclCommUserRank(ncclComm_t comm, int* rank) {
    *rank = comm->rank;
    return ncclSuccess;
}

ncclResult_t ncclCommFinalize(ncclComm_t) { return ncclInProgress; }

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
    std::lock_guard const lock{all_mutex};
    comms.erase(comm);
    delete comm;
    return ncclSuccess;
}

ncclResult_t ncclCommAbort(ncclComm_t comm) {
    std::lock_guard const lock{all_mutex};
    comm->aborted = true;
    // Its work is void from here on, but a splitting may still know it.
    comms.erase(comm);
    buried.emplace_back(comm);
    if (comm->ranks != nullptr) {
        withdraw(comm);
    }
    proceed();
    return ncclSuccess;
}

ncclResult_t ncclGroupStart() {
    ++group_depth;
    return ncclSuccess;
}

ncclResult_t ncclSend(void const* bytes, std::size_t size, ncclDataType_t, int peer, ncclComm_t comm, cudaStream_t on) {
    if (fails("ncclSend")) {
        group_broken = true;
        return ncclSystemError;
    }
    if (group_depth == 0) {
        return refuse("a send outside a group");
    }
    grouped.push_back({true, const_cast<void*>(bytes), size, peer, comm, &queue_of(on)});
    return ncclSuccess;
}

ncclResult_t ncclRecv(void* bytes, std::size_t size, ncclDataType_t, int peer, ncclComm_t comm, cudaStream_t on) {
    if (fails("ncclRecv")) {
        group_broken = true;
        return ncclSystemError;
    }
    if (group_depth == 0) {
        return refuse("a receive outside a group");
    }
    grouped.push_back({false, bytes, size, peer, comm, &queue_of(on)});
    return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
    if (--group_depth != 0) {
        return ncclSuccess;
    }
    auto messages = std::exchange(grouped, {});
    if (std::exchange(group_broken, false)) {
        return ncclSystemError;
    }
    if (messages.empty()) {
        return ncclSuccess;
    }
    std::lock_guard const lock{all_mutex};
    auto* const comm = messages.front().comm;
    long to_self = 0;
    for (auto const& one : messages) {
        if (one.comm != comm || one.on != messages.front().on) {
            return refuse("the double wants one communicator and one stream per group");
        }
        if (one.peer < 0 || one.peer >= comm->ranks->size) {
            last_error = "no such peer";
            return ncclInvalidArgument;
        }
        to_self += one.peer != comm->rank ? 0 : one.sends ? 1 : -1;
    }
    if (to_self != 0) {
        return refuse("a send to self without its receive");
    }
    auto& queue = *messages.front().on;
    queue.work.push_back(together(comm, std::move(messages)));
    proceed();
    return ncclInProgress;
}

ncclResult_t ncclAllGather(void const* mine, void* all, std::size_t size, ncclDataType_t, ncclComm_t comm,
                           cudaStream_t on) {
    if (fails("ncclAllGather")) {
        return ncclSystemError;
    }
    std::lock_guard const lock{all_mutex};
    int const number = comm->next_gathering++;
    auto const ranks = comm->ranks;
    auto const came = std::make_shared<bool>(false);
    queue_of(on).work.emplace_back([=] {
        if (!lives(comm)) {
            return true;
        }
        auto& one = ranks->gatherings[number];
        if (!std::exchange(*came, true)) {
            if (!one.ranks.empty() && one.size != size) {
                comm->wrong = ncclInvalidUsage;
                return false;
            }
            one.size = size;
            one.ranks[comm->rank] = {mine, all};
            if (static_cast<int>(one.ranks.size()) == ranks->size) {
                for (auto const& [rank, to] : one.ranks) {
                    for (auto const& [other, from] : one.ranks) {
                        move_bytes(static_cast<std::byte*>(to.second) + static_cast<std::size_t>(other) * size,
                                   from.first, size);
                    }
                }
                *one.done = true;
            }
        }
        return *one.done;
    });
    proceed();
    return ncclInProgress;
}

}  // extern "C"
