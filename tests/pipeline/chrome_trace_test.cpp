// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <evenkeel/pipeline/chrome_trace.hpp>
#include <evenkeel/pipeline/distmm_pipe.hpp>
#include <evenkeel/pipeline/gpipe.hpp>
#include <evenkeel/pipeline/simulate.hpp>

namespace evenkeel::chrome_trace_test {
namespace {

using nlohmann::json;

struct traced {
    std::array<schedule, 2> pipelines = {distmm_pipe(stage_count{2}, {6}, {2}), distmm_pipe(stage_count{4}, {12}, {4})};
    simulation simulated = simulate(pipelines, std::array{uniform_times({2}, {.forward = 2, .backward = 4}),
                                                          uniform_times({4}, {.forward = 1, .backward = 2})});

    [[nodiscard]] json events(trace_options const& options = {}) const {
        return json::parse(to_chrome_trace(pipelines, simulated, options)).at("traceEvents");
    }
};

TEST(to_chrome_trace, has_a_slice_for_everything_that_is_computed) {
    std::map<std::string, std::size_t> categories;
    for (auto const& event : traced{}.events()) {
        if (event.at("ph") == "X") {
            ++categories[event.at("cat")];
        }
    }
    EXPECT_EQ(categories, (std::map<std::string, std::size_t>{
                              {"forward", 2 * 6 + 4 * 12}, {"backward", 2 * 6 + 4 * 12}, {"batch-sync", 2 * 3}}));
}

TEST(to_chrome_trace, says_when_and_what_each_slice_is) {
    auto const events = traced{}.events({.microseconds = 1000});
    auto const found = std::find_if(events.begin(), events.end(), [](json const& event) {
        return event.at("name") == "B5" && event.at("pid") == 1 && event.at("tid") == 3;
    });
    ASSERT_NE(found, events.end());
    // The second group of the image pipeline, after the sync that ends at 19.
    EXPECT_EQ(*found, (json{{"name", "B5"},
                            {"ph", "X"},
                            {"pid", 1},
                            {"tid", 3},
                            {"cat", "backward"},
                            {"ts", 19000.0},
                            {"dur", 2000.0},
                            {"args", {{"stage", 3}, {"micro_batch", 5}, {"group", 2}}}}));
}

TEST(to_chrome_trace, draws_an_arrow_for_every_transfer_between_slices) {
    traced const own;
    std::set<std::size_t> started;
    std::set<std::size_t> ended;
    std::map<std::size_t, double> start_of;
    auto const events = own.events();
    // The viewers tie an arrow to the slice around its end.
    auto const in_a_slice = [&](json const& arrow) {
        return std::any_of(events.begin(), events.end(), [&](json const& event) {
            return event.at("ph") == "X" && event.at("pid") == arrow.at("pid") && event.at("tid") == arrow.at("tid") &&
                   event.at("ts") <= arrow.at("ts") &&
                   arrow.at("ts") < event.at("ts").get<double>() + event.at("dur").get<double>();
        });
    };
    for (auto const& event : events) {
        if (event.at("ph") == "s") {
            EXPECT_TRUE(started.insert(event.at("id").get<std::size_t>()).second);
            start_of[event.at("id")] = event.at("ts");
            EXPECT_TRUE(in_a_slice(event));
        } else if (event.at("ph") == "f") {
            EXPECT_TRUE(ended.insert(event.at("id").get<std::size_t>()).second);
            EXPECT_LT(start_of.at(event.at("id")), event.at("ts"));
            EXPECT_TRUE(in_a_slice(event));
        }
    }
    EXPECT_EQ(started, ended);
    EXPECT_EQ(started.size(), 2u * 6 + 3 * 2 * 12);
}

TEST(to_chrome_trace, counts_micro_batches_or_bytes) {
    traced const own;
    auto const most = [&](trace_options const& options, std::string const& unit) {
        std::map<std::string, double> peaks;
        for (auto const& event : own.events(options)) {
            if (event.at("ph") == "C" && event.at("pid") == 1) {
                auto& peak = peaks[event.at("name")];
                peak = std::max(peak, event.at("args").at(unit).get<double>());
            }
        }
        return peaks;
    };
    EXPECT_EQ(most({}, "micro-batches"), (std::map<std::string, double>{{"in flight of device 0", 7},
                                                                        {"in flight of device 1", 6},
                                                                        {"in flight of device 2", 5},
                                                                        {"in flight of device 3", 4}}));

    std::vector<std::vector<memory_use>> memory;
    for (std::size_t number = 0; number < 2; ++number) {
        memory.push_back(memory_of(
            own.pipelines[number], own.simulated.pipelines[number],
            {.stages = std::vector<stage_memory>(own.pipelines[number].stages, {.fixed = 100, .activation = 10})}));
    }
    EXPECT_EQ(most({.memory = memory}, "bytes"), (std::map<std::string, double>{{"memory of device 0", 170},
                                                                                {"memory of device 1", 160},
                                                                                {"memory of device 2", 150},
                                                                                {"memory of device 3", 140}}));
}

TEST(to_chrome_trace, takes_any_name) {
    auto const names = std::vector<std::string>{"te\"xt\\", "im\nage"};
    std::set<std::string> found;
    for (auto const& event : traced{}.events({.names = names})) {
        if (event.at("name") == "process_name") {
            found.insert(event.at("args").at("name"));
        }
    }
    EXPECT_EQ(found, (std::set<std::string>{names.begin(), names.end()}));
}

TEST(to_chrome_trace, replaces_bytes_of_a_name_that_are_no_text) {
    auto const name_of = [](std::string const& name) {
        std::vector<std::string> const names{name, ""};
        return traced{}.events({.names = names}).at(0).at("args").at("name").get<std::string>();
    };
    std::string const odd = "\xef\xbf\xbd";
    // A byte that begins nothing, a character that ends early, one longer than it need be, half of a UTF-16 pair, and
    // one beyond Unicode.
    EXPECT_EQ(name_of("a\xff"), "a" + odd);
    EXPECT_EQ(name_of("\xe2\x82"
                      "b"),
              odd + odd + "b");
    EXPECT_EQ(name_of("\xe2\x82"), odd + odd);
    EXPECT_EQ(name_of("\xc0\xaf"), odd + odd);
    EXPECT_EQ(name_of("\xe0\x80\xaf"), odd + odd + odd);
    EXPECT_EQ(name_of("\xed\xa0\x80"), odd + odd + odd);
    EXPECT_EQ(name_of("\xf4\x90\x80\x80"), odd + odd + odd + odd);
    // Of one to four bytes, the first and the last of each.
    for (auto const* const text : {"\x7f", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80",
                                   "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"}) {
        EXPECT_EQ(name_of(text), text);
    }
}

TEST(to_chrome_trace, of_nothing_is_still_a_trace) {
    EXPECT_TRUE(json::parse(to_chrome_trace({}, {})).at("traceEvents").empty());
}

TEST(to_chrome_trace, refuses_what_belongs_to_other_pipelines) {
    traced own;
    std::vector<std::string> const one_name(1);
    std::vector<std::vector<memory_use>> const no_devices(2);
    EXPECT_THROW((void)to_chrome_trace(std::span{own.pipelines}.first(1), own.simulated), std::invalid_argument);
    EXPECT_THROW((void)to_chrome_trace(own.pipelines, own.simulated, {.names = one_name}), std::invalid_argument);
    EXPECT_THROW((void)to_chrome_trace(own.pipelines, own.simulated, {.memory = no_devices}), std::invalid_argument);
    EXPECT_THROW((void)to_chrome_trace(own.pipelines, own.simulated, {.microseconds = 0}), std::invalid_argument);
    auto const other = gpipe_sync(stage_count{4}, {12}, {4});
    ASSERT_EQ(other.instructions.size(), own.pipelines[1].instructions.size());
    EXPECT_THROW((void)to_chrome_trace(std::array{own.pipelines[0], other}, own.simulated), std::invalid_argument);
    std::swap(own.pipelines[0], own.pipelines[1]);
    EXPECT_THROW((void)to_chrome_trace(own.pipelines, own.simulated), std::invalid_argument);
}

TEST(to_chrome_trace, refuses_times_that_json_has_no_number_for) {
    for (double const microseconds :
         {std::numeric_limits<double>::infinity(), 1e308, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
        EXPECT_THROW((void)traced{}.events({.microseconds = microseconds}), std::invalid_argument) << microseconds;
    }
    EXPECT_FALSE(traced{}.events({.microseconds = 1e306}).empty());
}

TEST(to_chrome_trace, refuses_schedules_that_do_not_run) {
    traced own;
    own.pipelines[0].instructions[0].stage = stage_id{5'000'000};
    own.simulated.pipelines[0].drawn = fingerprint_of(own.pipelines[0]);
    EXPECT_THROW((void)to_chrome_trace(own.pipelines, own.simulated), std::invalid_argument);
}

}  // namespace
}  // namespace evenkeel::chrome_trace_test
