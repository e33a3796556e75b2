#include "src/layout_tool/draw.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/layout_tool/panels.h"
#include "tilewright/layout/text.h"

namespace tw::layout_tool {

namespace {

constexpr double margin = 36;
constexpr double smallest_width = 880;
// Above a large grid the heading is larger too, so that it can be read when all is in view.
constexpr double largest_scale = 2;

std::string without_spaces(std::string text) {
  std::erase_if(text, [](char c) { return c == ' ' || c == '\t' || c == '\n'; });
  return text;
}

// Draws lines as long as `width` allows and returns the y below them.
double draw_wrapped(Svg& svg, double y, double width, double font_size, const char* style,
                    const std::string& text) {
  const std::size_t fits = static_cast<std::size_t>(width / monospace_width(1, font_size));
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = std::min(text.size(), begin + fits);
    const std::size_t comma = text.rfind(',', end - 1);
    if (end < text.size() && comma != std::string::npos && comma > begin) end = comma + 1;
    y += 1.4 * font_size;
    svg.text(margin, y, style, text.substr(begin, end - begin));
    begin = end;
  }
  return y;
}

std::string extent_text(const Drawing& drawing) {
  const Grid& grid = drawing.grid;
  const std::int64_t span = grid.largest_offset() - grid.smallest_offset() + 1;
  return fmt::format("{} x {} elements of {} byte{}, spread over {} bytes", grid.rows(),
                     grid.columns(), drawing.element_bytes, drawing.element_bytes == 1 ? "" : "s",
                     checked_product(span, drawing.element_bytes));
}

std::string grid_caption(const Drawing& drawing) {
  const int modes = rank(drawing.grid.layout());
  std::string caption =
      drawing.grid.rows() == 1 ? "One row, line by line" : "Mode 0 goes down, mode 1 across";
  if (modes > 2 && drawing.grid.rows() > 1)
    caption = fmt::format("Mode 0 goes down, modes 1 to {} across", modes - 1);
  caption += ". A cell holds its offset, coloured by bank";
  if (drawing.access.has_value()) caption += "; this phase reads the outlined ones";
  return caption + ".";
}

double draw_verdict(Svg& svg, double y, const Drawing& drawing) {
  const std::string style = drawing.conflicts.is_free() ? "good" : "bad";
  const std::string text = describe(*drawing.access, drawing.conflicts);
  svg.rectangle(margin, y + 14, monospace_width(text.size(), 13) + 24, 30, style);
  svg.text(margin + 12, y + 33.5, "verdict " + style, text);
  return y + 44;
}

// Everything above the grid; returns the y below it.
double draw_heading(Svg& svg, double width, const Drawing& drawing) {
  double y = draw_wrapped(svg, margin - 12, width, 20, "title", drawing.expression);
  const std::string result = to_string(drawing.grid.layout());
  if (without_spaces(result) != without_spaces(drawing.expression)) {
    y = draw_wrapped(svg, y + 4, width, 15, "result", "= " + result);
  }
  y += 24;
  svg.text(margin, y, "note", extent_text(drawing));
  if (drawing.access.has_value()) y = draw_verdict(svg, y, drawing);
  y += 24;
  draw_banks(svg, {margin, y}, drawing);
  y += room_of_banks(drawing).height + 30;
  svg.text(margin, y, "note", grid_caption(drawing));
  return y + 10;
}

}  // namespace

std::string draw(const Drawing& drawing) {
  const Room grid_room = room_of_grid(drawing.grid);
  const double heading_width = std::max(room_of_banks(drawing).width, smallest_width);
  const double scale = std::clamp(grid_room.width / heading_width, 1.0, largest_scale);
  const double width = std::max(grid_room.width, scale * heading_width);
  Svg heading;
  const double below = scale * draw_heading(heading, width / scale, drawing);
  Svg svg;
  svg.place(heading, scale);
  draw_grid(svg, {scale * margin, below}, drawing);
  return svg.finish(width + 2 * scale * margin, below + grid_room.height + scale * margin,
                    drawing.expression);
}

}  // namespace tw::layout_tool
