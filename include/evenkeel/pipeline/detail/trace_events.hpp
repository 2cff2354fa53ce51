// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/core/errors.hpp>
#include <evenkeel/core/ids.hpp>
#include <evenkeel/pipeline/detail/run.hpp>
#include <evenkeel/pipeline/detail/utf8.hpp>
#include <evenkeel/pipeline/schedule.hpp>
#include <evenkeel/pipeline/simulation.hpp>

namespace evenkeel::detail {

/// Writes the events of a Chrome trace.
class trace_events {
  public:
    explicit trace_events(double scale) : scale_{scale} {}

    void name_process(std::size_t process, std::string_view name) {
        begin("process_name", "M", process, 0).text(R"(,"args":{"name":)").quoted(name).text("}}");
    }

    void name_thread(std::size_t process, std::size_t device) {
        begin("thread_name", "M", process, device).text(R"(,"args":{"name":"device )").number(device).text("\"}}");
        begin("thread_sort_index", "M", process, device).text(R"(,"args":{"sort_index":)").number(device).text("}}");
    }

    void add_slices(schedule const& pipeline, timeline const& line, std::size_t process, std::size_t device) {
        for (std::size_t position = pipeline.offsets[device]; position < pipeline.offsets[device + 1]; ++position) {
            auto const& one = pipeline.instructions[position];
            if (is_transfer(one.kind)) {
                continue;
            }
            auto const& when = line.intervals[position];
            begin(drawn_name(one), "X", process, device).text(R"(,"cat":")").text(category(one.kind)).text("\"");
            time("ts", when.start).time("dur", when.length());
            text(R"(,"args":{"stage":)").number(to_index(one.stage));
            bool const syncs = one.kind == instruction_kind::batch_sync;
            if (!syncs) {
                text(R"(,"micro_batch":)").number(std::size_t{one.number} + 1);
            }
            if (pipeline.group != 0) {
                text(R"(,"group":)").number((syncs ? one.number : one.number / pipeline.group) + std::size_t{1});
            }
            text("}}");
        }
    }

    void count(std::size_t process, std::size_t device, std::string_view what, std::string_view unit, double at,
               std::uint64_t value) {
        begin(std::string{what}.append(" of device ").append(std::to_string(device)), "C", process, device);
        time("ts", at).text(R"(,"args":{)").quoted(unit).text(":").number(value).text("}}");
    }

    /// The micro-batches whose activations a device holds.
    void count_in_flight(schedule const& pipeline, timeline const& line, std::size_t process, std::size_t device) {
        std::uint64_t held = 0;
        for (std::size_t position = pipeline.offsets[device]; position < pipeline.offsets[device + 1]; ++position) {
            auto const kind = pipeline.instructions[position].kind;
            auto const& when = line.intervals[position];
            if (kind == instruction_kind::forward) {
                count(process, device, "in flight", "micro-batches", when.start, ++held);
            } else if (kind == instruction_kind::backward || kind == instruction_kind::weight_gradient) {
                count(process, device, "in flight", "micro-batches", when.end, --held);
            }
        }
    }

    /// From the slice before each send to the slice after its receive.
    void add_arrows(schedule const& pipeline, timeline const& line, std::size_t process) {
        struct departure {
            std::size_t device = 0;
            double at = 0;
        };
        std::vector<std::vector<departure>> sent(2 * pipeline.stages);
        each_transfer(pipeline, true, [&](std::size_t device, std::size_t position, instruction const& one) {
            double at = line.intervals[position].start;
            // An arrow starts within a slice: at the start of the one that made the bytes, for its end is the next
            // one's.
            for (std::size_t made = position; made-- > pipeline.offsets[device];) {
                auto const& maker = pipeline.instructions[made];
                if (!is_transfer(maker.kind) && maker.number == one.number && maker.stage == one.stage) {
                    at = line.intervals[made].start;
                    break;
                }
            }
            sent[channel_of(one)].push_back({device, at});
        });
        std::vector<std::size_t> received(2 * pipeline.stages);
        each_transfer(pipeline, false, [&](std::size_t device, std::size_t position, instruction const& one) {
            std::size_t const channel = channel_of(one);
            auto const& from = sent[channel][received[channel]++];
            double at = line.intervals[position].end;
            for (std::size_t user = position + 1; user < pipeline.offsets[device + 1]; ++user) {
                auto const& next = pipeline.instructions[user];
                if (!is_transfer(next.kind) && next.number == one.number && next.stage == one.stage) {
                    at = line.intervals[user].start;
                    break;
                }
            }
            auto const name = one.kind == instruction_kind::receive_activation ? "activation" : "gradient";
            begin(name, "s", process, from.device).text(R"(,"cat":"transfer","id":)").number(arrows_);
            time("ts", from.at).text("}");
            begin(name, "f", process, device).text(R"(,"cat":"transfer","bp":"e","id":)").number(arrows_++);
            time("ts", at).text("}");
        });
    }

    [[nodiscard]] std::string finish() const {
        return R"({"displayTimeUnit":"ms","traceEvents":[)" + events_ + "\n]}\n";
    }

  private:
    static std::string_view category(instruction_kind kind) {
        switch (kind) {
            case instruction_kind::forward: return "forward";
            case instruction_kind::batch_sync: return "batch-sync";
            default: return "backward";
        }
    }

    template <class Look>
    static void each_transfer(schedule const& pipeline, bool sends, Look look) {
        for (std::size_t device = 0; device < pipeline.devices(); ++device) {
            for (std::size_t position = pipeline.offsets[device]; position < pipeline.offsets[device + 1]; ++position) {
                auto const& one = pipeline.instructions[position];
                bool const is_send =
                    one.kind == instruction_kind::send_activation || one.kind == instruction_kind::send_gradient;
                if (is_transfer(one.kind) && is_send == sends) {
                    look(device, position, one);
                }
            }
        }
    }

    trace_events& begin(std::string_view name, std::string_view phase, std::size_t process, std::size_t thread) {
        text(events_.empty() ? "\n" : ",\n").text(R"({"name":)").quoted(name).text(R"(,"ph":")").text(phase);
        return text(R"(","pid":)").number(process).text(R"(,"tid":)").number(thread);
    }

    trace_events& time(std::string_view name, double value) {
        // JSON has neither infinity nor NaN.
        if (!std::isfinite(value * scale_)) {
            throw_invalid("to_chrome_trace", "options.microseconds", scale_,
                          "as many as keep every time of the simulation finite");
        }
        char digits[32];
        auto const end = std::to_chars(digits, digits + sizeof digits, value * scale_).ptr;
        return text(",\"").text(name).text("\":").text({digits, static_cast<std::size_t>(end - digits)});
    }

    trace_events& number(std::uint64_t value) { return text(std::to_string(value)); }

    trace_events& quoted(std::string_view words) {
        constexpr std::string_view hex = "0123456789abcdef";
        text("\"");
        while (!words.empty()) {
            auto const bytes = utf8_length(words);
            auto const code = static_cast<unsigned char>(words.front());
            if (bytes == 0) {
                text("\xef\xbf\xbd");  // U+FFFD
            } else if (code < 0x20) {
                text("\\u00").text(hex.substr(code >> 4u, 1)).text(hex.substr(code & 15u, 1));
            } else {
                text(code == '"' || code == '\\' ? "\\" : "").text(words.substr(0, bytes));
            }
            words.remove_prefix(bytes == 0 ? 1 : bytes);
        }
        return text("\"");
    }

    trace_events& text(std::string_view words) {
        events_.append(words);
        return *this;
    }

    double scale_;
    std::string events_;
    std::size_t arrows_ = 0;
};

}  // namespace evenkeel::detail
