#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "src/layout_tool/palette.h"
#include "src/layout_tool/panels.h"

namespace tw::layout_tool {

namespace {

constexpr double cell_height = 22;
constexpr double label_height = 18;
constexpr double value_size = 10;
constexpr std::int64_t wrapped_columns = 32;

// Where the elements stand. A single row is wrapped.
struct Places {
  explicit Places(const Grid& grid)
      : is_wrapped(grid.rows() == 1),
        columns(is_wrapped ? std::min(grid.columns(), wrapped_columns) : grid.columns()),
        rows(is_wrapped ? ceil_divide(grid.columns(), columns) : grid.rows()) {
    const std::size_t digits = std::max(std::to_string(grid.largest_offset()).size(),
                                        std::to_string(grid.smallest_offset()).size());
    cell_width = std::max(cell_height, monospace_width(digits, value_size) + 8);
    side_width = monospace_width(std::to_string(std::max(rows, grid.columns())).size(), 10) + 8;
  }

  double x(std::int64_t column) const {
    const std::int64_t place = is_wrapped ? column % columns : column;
    return side_width + cell_width * static_cast<double>(place);
  }
  double y(std::int64_t row, std::int64_t column) const {
    const std::int64_t place = is_wrapped ? column / columns : row;
    return label_height + cell_height * static_cast<double>(place);
  }

  bool is_wrapped;
  std::int64_t columns;
  std::int64_t rows;
  double cell_width;
  double side_width;
};

// Lines between the repetitions of the innermost part of a mode, where a mode has parts.
void draw_boundaries(Svg& svg, Corner corner, const Grid& grid, const Places& places) {
  const Layout& layout = grid.layout();
  if (rank(layout) != 2 || places.is_wrapped) return;
  const double right = corner.x + places.x(places.columns);
  const double bottom = corner.y + places.y(places.rows, 0);
  auto inner_extent = [&](int index) {
    const LeafRange range = leaves_of_mode(layout, index);
    return range.last - range.first > 1 ? layout.extents[range.first] : size(mode(layout, index));
  };
  for (std::int64_t row = inner_extent(0); row < grid.rows(); row += inner_extent(0)) {
    const double y = corner.y + places.y(row, 0) - 0.5;
    svg.line(corner.x + places.side_width, y, right, y, "boundary");
  }
  for (std::int64_t column = inner_extent(1); column < grid.columns(); column += inner_extent(1)) {
    const double x = corner.x + places.x(column) - 0.5;
    svg.line(x, corner.y + label_height, x, bottom, "boundary");
  }
}

void draw_labels(Svg& svg, Corner corner, const Places& places) {
  for (std::int64_t column = 0; column < places.columns; ++column) {
    svg.text(corner.x + places.x(column) + places.cell_width / 2, corner.y + label_height - 6,
             "label", std::to_string(column));
  }
  for (std::int64_t row = 0; row < places.rows; ++row) {
    const std::int64_t first = places.is_wrapped ? row * places.columns : row;
    svg.text(corner.x + places.side_width - 6,
             corner.y + places.y(row, first) + cell_height / 2 + 3.5, "side",
             std::to_string(first));
  }
}

}  // namespace

Room room_of_grid(const Grid& grid) {
  const Places places(grid);
  return {places.side_width + places.cell_width * static_cast<double>(places.columns),
          label_height + cell_height * static_cast<double>(places.rows)};
}

void draw_grid(Svg& svg, Corner corner, const Drawing& drawing) {
  const Grid& grid = drawing.grid;
  const Places places(grid);
  std::vector<std::string> paths(static_cast<std::size_t>(drawing.memory.banks));
  for (std::int64_t row = 0; row < grid.rows(); ++row) {
    for (std::int64_t column = 0; column < grid.columns(); ++column) {
      const int bank = bank_of(grid.offset(row, column), drawing.element_bytes, drawing.memory);
      paths[static_cast<std::size_t>(bank)] +=
          rectangle_path(corner.x + places.x(column), corner.y + places.y(row, column),
                         places.cell_width - 1, cell_height - 1);
    }
  }
  for (int bank = 0; bank < drawing.memory.banks; ++bank) {
    svg.shapes(paths[static_cast<std::size_t>(bank)], bank_colour(bank, drawing.memory.banks));
  }
  draw_boundaries(svg, corner, grid, places);
  draw_labels(svg, corner, places);
  for (std::int64_t row = 0; row < grid.rows(); ++row) {
    for (std::int64_t column = 0; column < grid.columns(); ++column) {
      svg.text(corner.x + places.x(column) + (places.cell_width - 1) / 2,
               corner.y + places.y(row, column) + cell_height / 2 + 3, "value",
               std::to_string(grid.offset(row, column)));
    }
  }
  if (!drawing.access.has_value()) return;
  const Access& access = *drawing.access;
  for (const LaneRead& read : access.phases[drawing.conflicts.worst_phase]) {
    svg.rectangle(corner.x + places.x(read.column), corner.y + places.y(read.row, read.column),
                  places.cell_width * access.elements_per_lane - 1, cell_height - 1, "lane");
  }
}

}  // namespace tw::layout_tool
