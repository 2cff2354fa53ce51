// SPDX-License-Identifier: Apache-2.0
// Plans how a multimodal model is laid over a cluster: prints what each submodule gets and how that compares with all
// of them on every GPU; writes the plan as JSON and its placement as SVG. `--help` lists the options.
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

#include <evenkeel/core/infeasible.hpp>
#include <evenkeel/parallel/plan_cluster.hpp>

#include "support/input_error.hpp"
#include "support/plan_json.hpp"
#include "support/plan_options.hpp"
#include "support/plan_plot.hpp"
#include "support/plan_report.hpp"
#include "support/program.hpp"

namespace {

using namespace evenkeel::examples;

constexpr std::string_view program = "plan_cluster";

/// What the library refuses is the input's fault. It names the submodule, here its JSON pointer is added, and calls
/// itself by the program's name, which stands there already.
[[noreturn]] void blame_input(plan_input const& input, std::string const& name, std::string_view what) {
    auto const prefix = std::string{program} + ": ";
    what.remove_prefix(what.starts_with(prefix) ? prefix.size() : 0);
    auto text = name + ": ";
    if (what.find("interaction.batch") != what.npos) {
        text += "/interaction/batch: ";
    }
    auto const& submodules = input.model.submodules;
    for (auto i = std::size_t{0}; i < submodules.size(); ++i) {
        if (what.find(title_of(submodules[i])) != what.npos) {
            text += "/submodules/" + std::to_string(i) + ": ";
            break;
        }
    }
    throw input_error{text.append(what)};
}

evenkeel::cluster_plan plan(plan_input const& input, std::string const& name) {
    try {
        return evenkeel::plan_cluster(input.model, input.cluster, input.batch);
    } catch (evenkeel::infeasible const& error) {
        blame_input(input, name, error.what());
    } catch (std::invalid_argument const& error) {
        blame_input(input, name, error.what());
    }
}

bool plan_cluster(cluster_options const& options) {
    auto const& input = options.preset.input;
    if (options.written_input) {
        options.written_input->write(to_json(input));
    }
    auto const made = plan(input, options.name);
    print(to_table(made, options.preset, options.name));
    if (options.json) {
        options.json->write(to_json(made, input.cluster));
    }
    if (options.plot) {
        options.plot->write(to_svg({.name = options.name, .input = input, .plan = made}));
    }
    return true;
}

}  // namespace

int main(int argc, char** argv) {
    return run_program(program, [&] { return plan_cluster(parse_cluster_options(argc, argv)); });
}
