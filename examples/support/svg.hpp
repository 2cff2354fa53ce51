// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace evenkeel::examples {

/// 1, 2 or 5 times a power of ten, so that `most` takes about `wanted` steps.
[[nodiscard]] double step_of(double most, double wanted);

/// 0, 500, 20k, 1.5M.
[[nodiscard]] std::string amount(double value);

/// A picture that stands alone, drawn from the back to the front. All lengths are in pixels of its own size; y grows
/// downwards. A `kind` is a class of its style sheet, which begins with what all pictures share.
class svg_picture {
  public:
    svg_picture(double width, double height, std::string_view title, std::string_view style);

    void text(double x, double y, std::string_view kind, std::string_view words);
    void line(std::string_view kind, double x1, double y1, double x2, double y2);
    void box(std::string_view kind, double x, double y, double width, double height);

    /// Anything else, already escaped.
    template <class... Parts>
    void add(fmt::format_string<Parts...> format, Parts&&... parts) {
        fmt::format_to(std::back_inserter(svg_), format, std::forward<Parts>(parts)...);
    }

    [[nodiscard]] std::string finish();

  private:
    std::string svg_;
};

}  // namespace evenkeel::examples
