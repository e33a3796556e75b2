#include "src/layout_tool/svg.h"

#include <fmt/format.h>

#include <iterator>

namespace tw::layout_tool {

namespace {

constexpr std::string_view style_sheet = R"(
text{fill:#26313c;font-family:Inter,'Helvetica Neue',Arial,'DejaVu Sans',sans-serif}
.title,.result,.verdict,.value,.chip{
font-family:'JetBrains Mono',Menlo,Consolas,'DejaVu Sans Mono',monospace}
.title{font-size:20px;font-weight:600}
.result{font-size:15px;fill:#51606f}
.note{font-size:13px;fill:#51606f}
.label{font-size:10px;fill:#7c8a98;text-anchor:middle}
.side{font-size:10px;fill:#7c8a98;text-anchor:end}
.value{font-size:10px;text-anchor:middle}
.chip{font-size:10px;text-anchor:middle}
.verdict{font-size:13px;font-weight:600}
.good{fill:#2b6a4d}
.bad{fill:#a3402c}
rect.good{fill:#e6f0ea}
rect.bad{fill:#f7e8e3}
.empty{fill:#f3f5f7}
.lane{fill:none;stroke:#1d2731;stroke-width:1.8}
.boundary{stroke:#51606f;stroke-width:1.2}
)";

std::string escaped(std::string_view content) {
  std::string result;
  for (char character : content) {
    switch (character) {
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '&': result += "&amp;"; break;
      default: result += character;
    }
  }
  return result;
}

}  // namespace

void Svg::text(double x, double y, std::string_view style, std::string_view content) {
  fmt::format_to(std::back_inserter(body_), "<text x=\"{:g}\" y=\"{:g}\" class=\"{}\">{}</text>\n",
                 x, y, style, escaped(content));
}

void Svg::rectangle(double x, double y, double width, double height, std::string_view style,
                    std::string_view fill) {
  const std::string colour = fill.empty() ? "" : fmt::format(" fill=\"{}\"", fill);
  fmt::format_to(std::back_inserter(body_),
                 "<rect x=\"{:g}\" y=\"{:g}\" width=\"{:g}\" height=\"{:g}\" rx=\"3\" "
                 "class=\"{}\"{}/>\n",
                 x, y, width, height, style, colour);
}

void Svg::line(double x0, double y0, double x1, double y1, std::string_view style) {
  fmt::format_to(std::back_inserter(body_),
                 "<line x1=\"{:g}\" y1=\"{:g}\" x2=\"{:g}\" y2=\"{:g}\" class=\"{}\"/>\n", x0, y0,
                 x1, y1, style);
}

void Svg::shapes(std::string_view path, std::string_view fill) {
  if (path.empty()) return;
  fmt::format_to(std::back_inserter(body_), "<path fill=\"{}\" d=\"{}\"/>\n", fill, path);
}

void Svg::place(const Svg& part, double scale) {
  fmt::format_to(std::back_inserter(body_), "<g transform=\"scale({:g})\">\n{}</g>\n", scale,
                 part.body_);
}

std::string Svg::finish(double width, double height, std::string_view title) const {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:g}\" height=\"{1:g}\" "
      "viewBox=\"0 0 {0:g} {1:g}\">\n<title>{2}</title>\n<style>{3}</style>\n"
      "<rect width=\"{0:g}\" height=\"{1:g}\" fill=\"#ffffff\"/>\n{4}</svg>\n",
      width, height, escaped(title), style_sheet, body_);
}

std::string rectangle_path(double x, double y, double width, double height) {
  return fmt::format("M{:g} {:g}h{:g}v{:g}h{:g}z", x, y, width, height, -width);
}

double monospace_width(std::size_t characters, double font_size) {
  return 0.61 * font_size * static_cast<double>(characters);
}

}  // namespace tw::layout_tool
