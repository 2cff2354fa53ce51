// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <string_view>
#include <utility>

#include <evenkeel/comm/dispatcher_record.hpp>
#include <evenkeel/core/errors.hpp>
#include <evenkeel/core/fingerprint.hpp>

namespace evenkeel::comm {

namespace {

/// "evenkeel" in letters, and the version of what follows.
constexpr std::uint64_t magic = 0x6c65656b6e657665;
constexpr std::uint64_t version = 1;

class record_writer {
  public:
    void add(std::uint64_t word) {
        sum_.add(word);
        for (unsigned shift = 0; shift < 64; shift += 8) {
            bytes_.push_back(static_cast<std::byte>(word >> shift));
        }
    }

    /// The number of values, then the values.
    template <class Values>
    void add_all(Values const& values) {
        add(values.size());
        for (auto const value : values) {
            add(static_cast<std::uint64_t>(value));
        }
    }

    [[nodiscard]] std::vector<std::byte> finish() {
        add(sum_.value());
        return std::move(bytes_);
    }

  private:
    std::vector<std::byte> bytes_;
    fingerprint sum_;
};

[[noreturn]] void refuse(std::string_view found) {
    throw_invalid("read_record", "bytes", found, "a record that `write_record` has written");
}

class record_reader {
  public:
    explicit record_reader(std::span<std::byte const> bytes) : bytes_{bytes} {
        if (bytes.size() % 8 != 0 || bytes.size() < 8) {
            refuse("bytes that are no whole number of words");
        }
    }

    std::uint64_t next() {
        if (bytes_.size() <= 8) {
            refuse("a record that is cut off");
        }
        auto const word = first_word();
        sum_.add(word);
        return word;
    }

    template <class Value>
    void read_all(std::vector<Value>& values) {
        std::uint64_t const count = next();
        if (count > bytes_.size() / 8) {
            refuse("a record that is cut off");
        }
        values.reserve(count);
        for (std::uint64_t number = 0; number < count; ++number) {
            values.push_back(static_cast<Value>(next()));
        }
    }

    void finish() {
        if (bytes_.size() != 8) {
            refuse("a record with more behind it");
        }
        if (auto const sum = sum_.value(); first_word() != sum) {
            refuse("a damaged record");
        }
    }

  private:
    std::uint64_t first_word() {
        std::uint64_t word = 0;
        for (unsigned byte = 0; byte < 8; ++byte) {
            word |= std::to_integer<std::uint64_t>(bytes_[byte]) << (8 * byte);
        }
        bytes_ = bytes_.subspan(8);
        return word;
    }

    std::span<std::byte const> bytes_;
    fingerprint sum_;
};

}  // namespace

std::vector<std::byte> write_record(step_record const& record) {
    record_writer out;
    out.add(magic);
    out.add(version);
    out.add(record.number);
    out.add(record.hash);
    out.add_all(record.samples.counts);
    out.add_all(record.samples.text);
    out.add_all(record.samples.labels);
    out.add(record.samples.inputs.size());
    for (auto const& inputs : record.samples.inputs) {
        out.add_all(inputs.units.offsets);
        out.add_all(inputs.lengths);
        out.add_all(inputs.starts);
    }
    out.add(record.plans.size());
    for (auto const& plan : record.plans) {
        out.add(plan.micro_batches);
        out.add_all(plan.offsets);
        out.add_all(plan.items);
    }
    return out.finish();
}

step_record read_record(std::span<std::byte const> bytes) {
    record_reader in{bytes};
    if (in.next() != magic) {
        refuse("something else");
    }
    if (auto const found = in.next(); found != version) {
        refuse("version " + std::to_string(found));
    }
    step_record record;
    record.number = in.next();
    record.hash = in.next();
    in.read_all(record.samples.counts);
    in.read_all(record.samples.text);
    in.read_all(record.samples.labels);
    for (std::uint64_t encoders = in.next(); encoders > 0; --encoders) {
        auto& inputs = record.samples.inputs.emplace_back();
        inputs.units.offsets.clear();
        in.read_all(inputs.units.offsets);
        in.read_all(inputs.lengths);
        in.read_all(inputs.starts);
    }
    for (std::uint64_t plans = in.next(); plans > 0; --plans) {
        auto& plan = record.plans.emplace_back();
        plan.offsets.clear();
        plan.micro_batches = in.next();
        in.read_all(plan.offsets);
        in.read_all(plan.items);
    }
    in.finish();
    return record;
}

}  // namespace evenkeel::comm
