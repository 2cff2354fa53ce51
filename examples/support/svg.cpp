// SPDX-License-Identifier: Apache-2.0
#include "svg.hpp"

#include <array>
#include <cmath>
#include <cstddef>

#include "text.hpp"

namespace evenkeel::examples {
namespace {

constexpr auto shared_style =
    R"(text { font-family: Inter, "Segoe UI", Helvetica, Arial, "Liberation Sans", "DejaVu Sans", sans-serif;
  font-size: 12px; fill: #52606d }
.title { font-size: 20px; font-weight: 600; fill: #1f2933 }
.subtitle { font-size: 13px }
.phase { font-size: 15px; font-weight: 600; fill: #1f2933 }
.figure { font-weight: 600; fill: #1f2933 }
.tick { font-size: 11px; fill: #7b8794 }
.middle { text-anchor: middle }
.end { text-anchor: end }
.waiting { fill: #fdebdd }
.grid { stroke: #1f2933; stroke-opacity: 0.09; stroke-width: 1; fill: none }
.axis { stroke: #9aa5b1; stroke-width: 1; fill: none }
)";

std::string escaped(std::string_view text) {
    auto result = std::string{};
    while (!text.empty()) {
        auto const next = first_character(text);
        switch (next.code) {
            case '&': result += "&amp;"; break;
            case '<': result += "&lt;"; break;
            case '>': result += "&gt;"; break;
            case '"': result += "&quot;"; break;
            default:
                // The last two are the only others that XML can't hold.
                if (!next.valid || is_control(next.code) || next.code == 0xfffe || next.code == 0xffff) {
                    result += "\xef\xbf\xbd";
                } else {
                    result += text.substr(0, next.bytes);
                }
        }
        text.remove_prefix(next.bytes);
    }
    return result;
}

}  // namespace

double step_of(double most, double wanted) {
    auto const rough = most / wanted;
    auto const power = std::pow(10.0, std::floor(std::log10(rough)));
    auto const lead = rough / power;
    return power * (lead < 1.5 ? 1 : lead < 3.5 ? 2 : lead < 7.5 ? 5 : 10);
}

std::string amount(double value) {
    constexpr auto units = std::array{"", "k", "M", "G", "T", "P", "E"};
    auto unit = std::size_t{0};
    for (; value >= 1000 && unit + 1 < units.size(); ++unit) {
        value /= 1000;
    }
    return fmt::format("{:.4g}{}", value, units[unit]);
}

svg_picture::svg_picture(double width, double height, std::string_view title, std::string_view style) {
    add(R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="{1}" viewBox="0 0 {0} {1}" role="img">)", width,
        height);
    add("\n<title>{}</title>\n<style>\n{}{}</style>\n", escaped(title), shared_style, style);
    add(R"(<rect width="100%" height="100%" fill="#ffffff"/>)");
}

void svg_picture::text(double x, double y, std::string_view kind, std::string_view words) {
    add("\n<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"{}\">{}</text>", x, y, kind, escaped(words));
}

void svg_picture::line(std::string_view kind, double x1, double y1, double x2, double y2) {
    add("\n<path class=\"{}\" d=\"M{:.2f} {:.2f}L{:.2f} {:.2f}\"/>", kind, x1, y1, x2, y2);
}

void svg_picture::box(std::string_view kind, double x, double y, double width, double height) {
    add("\n<rect class=\"{}\" x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\"/>", kind, x, y, width,
        height);
}

std::string svg_picture::finish() {
    svg_ += "</svg>\n";
    return std::move(svg_);
}

}  // namespace evenkeel::examples
