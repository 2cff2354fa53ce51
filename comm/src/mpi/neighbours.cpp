// SPDX-License-Identifier: Apache-2.0
#include "neighbours.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <climits>
#include <cstring>
#include <limits>
#include <new>
#include <random>
#include <string>
#include <string_view>

#ifdef __linux__
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
#endif

#include "post.hpp"

namespace evenkeel::comm::mpi {

namespace {

constexpr std::size_t leases = 1024;
constexpr std::size_t alignment = 64;
/// Stands where a parcel would, and says that the next one is at the beginning of the ring.
constexpr std::uint64_t turn = std::numeric_limits<std::uint64_t>::max();

constexpr std::size_t aligned(std::size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

/// What stands before a parcel.
struct alignas(alignment) parcel_head {
    std::uint64_t bytes = 0;
};

/// What a process shows its neighbours at a time.
constexpr std::size_t shown_bytes = std::size_t{16} << 20U;

/// Few processes get rings that hold several exchanges, many rings that fit into memory.
std::size_t ring_bytes(std::size_t processes) {
    constexpr std::size_t of_all = std::size_t{8} << 20U;
    return aligned(std::clamp(of_all / processes, std::size_t{1} << 14U, std::size_t{1} << 16U));
}

}  // namespace

/// The parcels of one process for another, in the memory of the latter.
struct neighbours::ring {
    alignas(alignment) std::atomic<std::uint64_t> written;
    alignas(alignment) std::atomic<std::uint64_t> read;
    alignas(alignment) std::atomic<std::uint64_t> other_way;
};

/// What a process shares with its neighbours: this, one ring per process of the host, the bytes of the rings, and what
/// it shows.
struct neighbours::segment {
    std::uint64_t secret;  ///< by which it is told from any other file
    alignas(alignment) std::atomic<std::uint32_t> arrived;
    alignas(alignment) std::atomic<std::uint32_t> awaited;
    std::atomic<std::uint32_t> sleeping;
    alignas(alignment) std::array<std::atomic<std::uint32_t>, leases> open;

    [[nodiscard]] ring* ring_of(std::size_t position) noexcept {
        return reinterpret_cast<ring*>(reinterpret_cast<std::byte*>(this) + aligned(sizeof(segment))) + position;
    }
    [[nodiscard]] std::byte* bytes_of(std::size_t position, std::size_t processes, std::size_t size) noexcept {
        return reinterpret_cast<std::byte*>(ring_of(processes)) + position * size;
    }
};

/// Both rings that join this process and another, and how far this one has come in each.
struct neighbours::neighbour {
    int process = 0;
    std::int64_t id = 0;  ///< the system's
    segment* its = nullptr;
    ring* to = nullptr;
    std::byte* to_bytes = nullptr;
    ring* from = nullptr;
    std::byte const* from_bytes = nullptr;
    std::size_t size = 0;  ///< of a ring
    std::uint64_t written = 0;
    std::uint64_t read = 0;
    std::uint64_t came_other_way = 0;
};

#ifdef __linux__

namespace {

void futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value, timespec const* timeout) noexcept {
    static_assert(sizeof word == sizeof(std::uint32_t) && std::atomic<std::uint32_t>::is_always_lock_free);
    static_cast<void>(::syscall(SYS_futex, &word, operation, value, timeout, nullptr, 0));
}

/// A file that only its name in /proc leads to, and that goes away with those who have opened it.
class shared_file {
  public:
    shared_file() : descriptor_{::memfd_create(name, MFD_CLOEXEC)} {}
    /// That of another process. A number in /proc may be somebody else's, with a file of its own behind it: where
    /// processes are in other namespaces than the /proc that they see.
    explicit shared_file(std::string const& path)
        : descriptor_{is_shared(path) ? ::open(path.c_str(), O_RDWR | O_CLOEXEC) : -1} {}
    shared_file(shared_file const&) = delete;
    shared_file& operator=(shared_file const&) = delete;
    ~shared_file() {
        if (descriptor_ >= 0) {
            ::close(descriptor_);
        }
    }

    [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
    [[nodiscard]] bool resize(std::size_t bytes) const noexcept {
        return descriptor_ >= 0 && ::ftruncate(descriptor_, static_cast<off_t>(bytes)) == 0;
    }
    /// Null where that fails, or the file is of another size.
    [[nodiscard]] void* map(std::size_t bytes) const noexcept {
        struct stat found {};
        if (descriptor_ < 0 || ::fstat(descriptor_, &found) != 0 || static_cast<std::size_t>(found.st_size) != bytes) {
            return nullptr;
        }
        void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
        return at == MAP_FAILED ? nullptr : at;
    }

  private:
    static constexpr auto name = "evenkeel";

    static bool is_shared(std::string const& path) {
        std::array<char, 64> target{};
        auto const size = ::readlink(path.c_str(), target.data(), target.size());
        return size > 0 && std::string_view{target.data(), static_cast<std::size_t>(size)}.starts_with(
                               std::string{"/memfd:"} + name);
    }

    int descriptor_;
};

/// Has the system prepare memory now, not when it is first used. Where it cannot, it does so then.
void populate(std::byte* first, std::size_t bytes) noexcept {
#ifdef MADV_POPULATE_WRITE
    auto const page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    auto const begin = reinterpret_cast<std::uintptr_t>(first) / page * page;
    auto const end = (reinterpret_cast<std::uintptr_t>(first) + bytes + page - 1) / page * page;
    static_cast<void>(::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_POPULATE_WRITE));
#else
    static_cast<void>(first);
    static_cast<void>(bytes);
#endif
}

bool read_memory(std::int64_t id, std::uint64_t address, std::span<std::byte> into) noexcept {
    while (!into.empty()) {
        iovec const local{.iov_base = into.data(), .iov_len = into.size()};
        iovec const remote{.iov_base = reinterpret_cast<void*>(address), .iov_len = into.size()};
        auto const count = ::process_vm_readv(static_cast<pid_t>(id), &local, 1, &remote, 1, 0);
        if (count <= 0) {
            return false;
        }
        into = into.subspan(static_cast<std::size_t>(count));
        address += static_cast<std::uint64_t>(count);
    }
    return true;
}

/// Where a process stands among all, and among those of its host.
struct standing {
    int self = 0;
    int count = 0;
    int first = 0;  ///< the lowest process of the host
    int here = 1;   ///< how many it has
};

standing standing_in(MPI_Comm processes) {
    standing found;
    require_success(MPI_Comm_rank(processes, &found.self), "MPI_Comm_rank");
    require_success(MPI_Comm_size(processes, &found.count), "MPI_Comm_size");
    MPI_Comm host = MPI_COMM_NULL;
    require_success(MPI_Comm_split_type(processes, MPI_COMM_TYPE_SHARED, found.self, MPI_INFO_NULL, &host),
                    "MPI_Comm_split_type");
    found.first = found.self;
    int const told = MPI_Bcast(&found.first, 1, MPI_INT, 0, host);
    int const counted = MPI_Comm_size(host, &found.here);
    MPI_Comm_free(&host);
    require_success(told, "MPI_Bcast");
    require_success(counted, "MPI_Comm_size");
    return found;
}

std::uint64_t drawn_secret() {
    std::random_device random;
    return std::uint64_t{random()} << 32U | random();
}

}  // namespace

/// What a process tells the others, so that they find its memory.
struct neighbours::invitation {
    std::int64_t id = 0;
    std::int64_t descriptor = -1;
    std::uint64_t address = 0;  ///< of `secret`
    std::uint64_t secret = 0;
    std::int64_t host = 0;  ///< the lowest process that shares memory with it
};

neighbours::neighbours(MPI_Comm processes, bool wanted) {
    auto const standing = standing_in(processes);
    auto const here = static_cast<std::size_t>(standing.here);
    shown_at_ = aligned(sizeof(segment)) + here * (sizeof(ring) + ring_bytes(here));
    mapped_ = shown_at_ + shown_bytes;
    shared_file const file;
    auto const secret = drawn_secret();
    if (wanted && here > 1 && file.resize(mapped_)) {
        // All its members begin as 0, which fresh memory is.
        mine_ = static_cast<segment*>(file.map(mapped_));
    }
    if (mine_ != nullptr) {
        mine_->secret = secret;
    }
    invitation const mine{.id = ::getpid(),
                          .descriptor = mine_ == nullptr ? -1 : file.descriptor(),
                          .address = reinterpret_cast<std::uint64_t>(&secret),
                          .secret = secret,
                          .host = standing.first};
    std::vector<invitation> of_all(static_cast<std::size_t>(standing.count));
    require_success(MPI_Allgather(&mine, sizeof mine, MPI_BYTE, of_all.data(), sizeof mine, MPI_BYTE, processes),
                    "MPI_Allgather");

    auto const self = static_cast<std::size_t>(standing.self);
    auto const on_this_host = [&](invitation const& one) { return one.host == standing.first; };
    auto const position_of_self =
        static_cast<std::size_t>(std::count_if(of_all.begin(), of_all.begin() + standing.self, on_this_host));
    std::vector<std::unique_ptr<neighbour>> reached(of_all.size());
    std::size_t position = 0;
    for (std::size_t process = 0; process < of_all.size(); ++process) {
        if (!on_this_host(of_all[process])) {
            continue;
        }
        if (process != self && mine_ != nullptr) {
            reached[process] = reach(of_all[process], {.here = here, .its = position, .own = position_of_self});
        }
        ++position;
    }
    keep_mutual(processes, std::move(reached));
}

/// Opens the memory of another process of this host. Null if that is not permitted, or it is not who it says.
std::unique_ptr<neighbours::neighbour> neighbours::reach(invitation const& other, positions const& at) const {
    std::uint64_t found = 0;
    if (other.descriptor < 0 || !read_memory(other.id, other.address, std::as_writable_bytes(std::span{&found, 1})) ||
        found != other.secret) {
        return nullptr;
    }
    auto one = std::make_unique<neighbour>();
    shared_file const file{"/proc/" + std::to_string(other.id) + "/fd/" + std::to_string(other.descriptor)};
    auto* const its = static_cast<segment*>(file.map(mapped_));
    if (its == nullptr) {
        return nullptr;
    }
    if (its->secret != other.secret) {
        ::munmap(its, mapped_);
        return nullptr;
    }
    one->id = other.id;
    one->its = its;
    one->size = ring_bytes(at.here);
    one->to = its->ring_of(at.own);
    one->to_bytes = its->bytes_of(at.own, at.here, one->size);
    one->from = mine_->ring_of(at.its);
    one->from_bytes = mine_->bytes_of(at.its, at.here, one->size);
    return one;
}

/// Keeps those that have reached this process as well. Collective; behind it the invitations are accepted: what they
/// point to may go.
///
/// @param reached  Of each process, null where this one has not reached it.
void neighbours::keep_mutual(MPI_Comm processes, std::vector<std::unique_ptr<neighbour>> reached) {
    std::vector<char> reach(reached.size());
    std::ranges::transform(reached, reach.begin(), [](auto const& one) { return static_cast<char>(one != nullptr); });
    std::vector<char> reached_by(reached.size());
    int const compared = MPI_Alltoall(reach.data(), 1, MPI_BYTE, reached_by.data(), 1, MPI_BYTE, processes);
    of_process_.resize(reached.size());
    for (std::size_t process = 0; process < reached.size(); ++process) {
        auto& one = reached[process];
        if (one == nullptr) {
            continue;
        }
        if (compared == MPI_SUCCESS && reached_by[process] != 0) {
            one->process = static_cast<int>(process);
            of_process_[process] = one.get();
            populate(one->to_bytes, one->size);
            populate(const_cast<std::byte*>(one->from_bytes), one->size);
            all_.push_back(std::move(one));
        } else {
            ::munmap(one->its, mapped_);
        }
    }
    require_success(compared, "MPI_Alltoall");
}

neighbours::~neighbours() {
    for (auto const& one : all_) {
        ::munmap(one->its, mapped_);
    }
    if (mine_ != nullptr) {
        ::munmap(mine_, mapped_);
    }
}

bool neighbours::read(int process, std::uint64_t address, std::span<std::byte> into) const noexcept {
    return read_memory(of_process_[static_cast<std::size_t>(process)]->id, address, into);
}

void neighbours::sleep(std::uint32_t seen, std::uint32_t more, std::chrono::steady_clock::time_point until) noexcept {
    auto const left = until - std::chrono::steady_clock::now();
    if (left <= left.zero()) {
        return;
    }
    mine_->awaited = seen + more;
    mine_->sleeping = 1;
    auto const seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
    timespec const timeout{
        .tv_sec = static_cast<time_t>(seconds.count()),
        .tv_nsec = static_cast<long>(std::chrono::duration_cast<std::chrono::nanoseconds>(left - seconds).count())};
    // Whoever adds a parcel in between changes the number, with which the system does not let this process sleep.
    futex(mine_->arrived, FUTEX_WAIT, seen, &timeout);
    mine_->sleeping = 0;
}

void neighbours::wake() noexcept {
    if (mine_ != nullptr) {
        ++mine_->arrived;
        futex(mine_->arrived, FUTEX_WAKE, INT_MAX, nullptr);
    }
}

void neighbours::send(int process, bool urgent) noexcept {
    auto& one = *of_process_[static_cast<std::size_t>(process)];
    one.to->written.store(one.written, std::memory_order_release);
    auto const now = ++one.its->arrived;
    // One wakes it; before it runs again others need not try.
    if (one.its->sleeping != 0 && (urgent || static_cast<std::int32_t>(now - one.its->awaited.load()) >= 0) &&
        one.its->sleeping.exchange(0) != 0) {
        futex(one.its->arrived, FUTEX_WAKE, INT_MAX, nullptr);
    }
}

void neighbours::announce_other_way(int process) noexcept {
    auto& one = *of_process_[static_cast<std::size_t>(process)];
    ++one.to->other_way;
    ++one.its->arrived;
    futex(one.its->arrived, FUTEX_WAKE, INT_MAX, nullptr);
}

#else

neighbours::neighbours(MPI_Comm, bool) {}
neighbours::~neighbours() = default;
bool neighbours::read(int, std::uint64_t, std::span<std::byte>) const noexcept { return false; }
void neighbours::sleep(std::uint32_t, std::uint32_t, std::chrono::steady_clock::time_point) noexcept {}
void neighbours::wake() noexcept {}
void neighbours::send(int, bool) noexcept {}
void neighbours::announce_other_way(int) noexcept {}

#endif

std::span<std::byte> neighbours::shown() const noexcept {
    return all_.empty() ? std::span<std::byte>{}
                        : std::span{reinterpret_cast<std::byte*>(mine_) + shown_at_, shown_bytes};
}

std::span<std::byte const> neighbours::shown_by(int process) const noexcept {
    auto const* const its = of_process_[static_cast<std::size_t>(process)]->its;
    return {reinterpret_cast<std::byte const*>(its) + shown_at_, shown_bytes};
}

std::uint32_t neighbours::arrived() const noexcept { return mine_ == nullptr ? 0 : mine_->arrived.load(); }

std::byte* neighbours::room_for(int process, std::size_t bytes) noexcept {
    auto& one = *of_process_[static_cast<std::size_t>(process)];
    auto const whole = sizeof(parcel_head) + aligned(bytes);
    auto at = one.written % one.size;
    auto const rest = one.size - at;
    auto const skipped = whole > rest ? rest : 0;
    if (whole > one.size / 2 ||
        one.written + skipped + whole - one.to->read.load(std::memory_order_acquire) > one.size) {
        return nullptr;
    }
    if (skipped > 0) {
        std::memcpy(one.to_bytes + at, &turn, sizeof turn);
        one.written += skipped;
        at = 0;
    }
    parcel_head const head{.bytes = bytes};
    std::memcpy(one.to_bytes + at, &head, sizeof head);
    one.written += whole;
    return one.to_bytes + at + sizeof head;
}

std::optional<std::span<std::byte const>> neighbours::next(neighbour& one) noexcept {
    while (one.read != one.from->written.load(std::memory_order_acquire)) {
        auto const at = one.read % one.size;
        std::uint64_t bytes = 0;
        std::memcpy(&bytes, one.from_bytes + at, sizeof bytes);
        if (bytes != turn) {
            return std::span{one.from_bytes + at + sizeof(parcel_head), bytes};
        }
        one.read += one.size - at;
    }
    return std::nullopt;
}

void neighbours::release(neighbour& one, std::size_t bytes) noexcept {
    one.read += sizeof(parcel_head) + aligned(bytes);
    one.from->read.store(one.read, std::memory_order_release);
}

void neighbours::count_other_way(int process) noexcept {
    if (has(process)) {
        ++of_process_[static_cast<std::size_t>(process)]->came_other_way;
    }
}

bool neighbours::other_way_is_due() const noexcept {
    return std::ranges::any_of(all_, [](auto const& one) { return one->from->other_way.load() > one->came_other_way; });
}

std::optional<lease> neighbours::open_lease() noexcept {
    if (all_.empty()) {
        return std::nullopt;
    }
    for (std::size_t slot = 0; slot < leases; ++slot) {
        if (mine_->open[slot].load(std::memory_order_relaxed) == 0) {
            // Never 0, which says that nobody has it.
            generation_ = std::max(generation_ + 1, 1U);
            mine_->open[slot] = generation_;
            return lease{.slot = static_cast<std::uint32_t>(slot), .generation = generation_};
        }
    }
    return std::nullopt;
}

void neighbours::close_lease(lease lease) noexcept { mine_->open[lease.slot] = 0; }

bool neighbours::is_open(int process, lease lease) const noexcept {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return lease.slot < leases &&
           of_process_[static_cast<std::size_t>(process)]->its->open[lease.slot].load() == lease.generation;
}

}  // namespace evenkeel::comm::mpi
