// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <cerrno>
#include <cstdio>
#include <exception>
#include <new>
#include <stdexcept>
#include <system_error>

#include <fmt/format.h>

#include "input_error.hpp"
#include "text.hpp"

namespace evenkeel::examples {
namespace {

int complain(std::string_view name, char const* what, int status) noexcept {
    try {
        std::fputs(fmt::format("{}: {}\n", name, printable(what)).c_str(), stderr);
    } catch (...) {
        std::fputs(what, stderr);
        std::fputs("\n", stderr);
    }
    return status;
}

}  // namespace

int run_program(std::string_view name, std::function<bool()> const& body) noexcept {
    constexpr auto failed = 1;
    constexpr auto bad_input = 2;
    try {
        try {
            return body() ? 0 : failed;
        } catch (help_wanted const& help) {
            print(help.what());
            return 0;
        }
    } catch (failed_elsewhere const& other) {
        return other.status;
    } catch (input_error const& error) {
        return complain(name, error.what(), bad_input);
    } catch (std::bad_alloc const&) {
        return complain(name, "out of memory; a smaller job needs less", failed);
    } catch (std::exception const& error) {
        return complain(name, error.what(), failed);
    } catch (...) {
        return complain(name, "an unknown error", failed);
    }
}

int run_program(processes const& all, int argc, char const* const* argv,
                std::function<bool(options const&)> const& body) noexcept {
    return run_program("balance_a_trace", [&] {
        auto asked = options{};
        all.together([&] { asked = parse_options(argc, argv); });
        try {
            return body(asked);
        } catch (std::bad_alloc const&) {
            throw std::runtime_error{"out of memory; fewer ranks, samples or bytes per token need less"};
        }
    });
}

void print(std::string_view text) {
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
        throw input_error{
            fmt::format("the standard output cannot be written: {}", std::generic_category().message(errno))};
    }
}

}  // namespace evenkeel::examples
