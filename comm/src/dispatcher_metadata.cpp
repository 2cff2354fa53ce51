// SPDX-License-Identifier: Apache-2.0
#include "dispatcher_metadata.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

#include <evenkeel/comm/error.hpp>
#include <evenkeel/core/errors.hpp>

#include "agreement.hpp"

namespace evenkeel::comm {

namespace {

/// @param name  Makes the name of the argument, for an error alone: a step that is fine allocates nothing.
template <class Name>
void require_count(Name name, std::size_t found, std::size_t expected, std::string_view of) {
    if (found != expected) {
        throw_invalid("prepare", name() + ".size()", found,
                      "one for each of " + std::to_string(expected) + " " + std::string{of});
    }
}

/// Reads what `step_metadata` has written, word after word.
class word_reader {
  public:
    explicit word_reader(std::span<std::uint64_t const> words) : words_{words} {}

    std::uint64_t next() { return take(1).front(); }

    std::span<std::uint64_t const> take(std::uint64_t count) {
        if (count > words_.size()) {
            throw_invalid("prepare", "the lengths of a rank", "cut off", "what the rank has sent");
        }
        auto const result = words_.first(count);
        words_ = words_.subspan(count);
        return result;
    }

  private:
    std::span<std::uint64_t const> words_;
};

void append(std::vector<std::uint64_t>& to, std::span<std::uint64_t const> more) {
    to.insert(to.end(), more.begin(), more.end());
}

/// Names the rank that cannot take part, or nothing where there are several.
void require_all_take_part(std::span<std::uint64_t const> blocks, std::size_t ranks, std::size_t word,
                           world_rank self) {
    std::size_t const length = blocks.size() / ranks;
    auto const refused = [&](std::size_t rank) { return blocks[rank * length + word] != 0; };
    bool some = false;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        some = some || refused(rank);
    }
    if (!some) {
        return;
    }
    std::vector<statement> statements;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        statements.push_back({.operation = {}, .value = 0, .refused = refused(rank)});
    }
    auto const dissent = dissent_in(statements);
    throw error{"prepare", self, dissent->peer, dissent->reason, aftermath::can_go_on};
}

/// Names the rank that is not like most, or nothing where there are several.
void require_alike(std::span<std::uint64_t const> blocks, std::size_t ranks, std::size_t word, world_rank self,
                   std::string_view text) {
    std::size_t const length = blocks.size() / ranks;
    std::uint64_t const first = blocks[word];
    bool alike = true;
    for (std::size_t rank = 1; rank < ranks; ++rank) {
        alike = alike && blocks[rank * length + word] == first;
    }
    if (alike) {
        return;
    }
    std::vector<statement> statements;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        statements.push_back({.operation = {}, .value = blocks[rank * length + word]});
    }
    auto const dissent = dissent_in(statements);
    throw error{"prepare", self, dissent->peer, std::string{text} + dissent->reason, aftermath::can_go_on};
}

}  // namespace

void require_drawn(drawn_samples const& samples, std::size_t encoders) {
    if (!samples.labels.empty()) {
        require_count([] { return std::string{"samples.labels"}; }, samples.labels.size(), samples.text.size(),
                      "samples");
    }
    require_count([] { return std::string{"samples.units"}; }, samples.units.size(), encoders, "encoders");
    for (std::size_t encoder = 0; encoder < encoders; ++encoder) {
        auto const& units = samples.units[encoder];
        auto const member = [encoder](char const* name) {
            return [encoder, name] { return element("samples.units", encoder) + name; };
        };
        require_count(member(".counts"), units.counts.size(), samples.text.size(), "samples");
        std::size_t owned = 0;
        for (std::size_t sample = 0; sample < units.counts.size(); ++sample) {
            if (units.counts[sample] > units.lengths.size() - owned) {
                throw_invalid("prepare", element(member(".counts")(), sample), units.counts[sample],
                              "counts that add up to the " + std::to_string(units.lengths.size()) + " units");
            }
            owned += units.counts[sample];
        }
        require_count(member(".lengths"), units.lengths.size(), owned, "units that samples own");
        if (!units.starts.empty()) {
            require_count(member(".starts"), units.starts.size(), owned, "units");
        }
    }
}

void step_metadata::begin(claim const& mine, std::uint64_t refused) {
    words_.clear();
    words_.insert(words_.end(), {0, mine.number, mine.job, refused});
}

void step_metadata::refuse(claim const& mine) {
    begin(mine, 1);
    words_[0] = words_.size();
}

void step_metadata::write(drawn_samples const& samples, claim const& mine) {
    begin(mine, 0);
    words_.push_back(samples.text.size());
    words_.push_back(samples.labels.empty() ? 0 : 1);
    append(words_, samples.text);
    append(words_, samples.labels);
    for (auto const& units : samples.units) {
        words_.push_back(units.lengths.size());
        words_.push_back(units.starts.empty() ? 0 : 1);
        words_.insert(words_.end(), units.counts.begin(), units.counts.end());
        append(words_, units.lengths);
        append(words_, units.starts);
    }
    words_[0] = words_.size();
}

void step_metadata::read(std::span<std::uint64_t const> blocks, world_rank self, world_size ranks, std::size_t encoders,
                         step_samples& samples) {
    std::size_t const length = blocks.size() / ranks.value;
    require_all_take_part(blocks, ranks.value, 3, self);
    require_alike(blocks, ranks.value, 1, self, "of the numbers of steps, ");
    require_alike(blocks, ranks.value, 2, self, "of phases and options, ");

    samples.counts.clear();
    samples.text.clear();
    samples.labels.clear();
    samples.inputs.resize(encoders);
    for (auto& inputs : samples.inputs) {
        inputs.units.offsets.assign(1, 0);
        inputs.lengths.clear();
        inputs.starts.clear();
    }
    bool some_labels = false;
    for (std::size_t rank = 0; rank < ranks.value; ++rank) {
        auto const block = blocks.subspan(rank * length, length);
        word_reader words{block.first(std::min<std::uint64_t>(length_of(block), length))};
        words.take(header);
        std::uint64_t const count = words.next();
        bool const labelled = words.next() != 0;
        some_labels = some_labels || labelled;
        auto const text = words.take(count);
        samples.counts.push_back(count);
        append(samples.text, text);
        // Without labels all text counts.
        append(samples.labels, labelled ? words.take(count) : text);
        for (auto& inputs : samples.inputs) {
            std::uint64_t const units = words.next();
            bool const placed = words.next() != 0;
            for (auto const owned : words.take(count)) {
                inputs.units.offsets.push_back(inputs.units.offsets.back() + owned);
            }
            append(inputs.lengths, words.take(units));
            if (placed) {
                append(inputs.starts, words.take(units));
            }
        }
    }
    if (!some_labels) {
        samples.labels.clear();
    }
}

}  // namespace evenkeel::comm
