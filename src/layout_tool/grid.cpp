#include "src/layout_tool/grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "tilewright/layout/text.h"

namespace tw::layout_tool {

Grid::Grid(const Layout& layout) : layout_(layout) {
  if (!is_static(layout)) {
    throw Refusal("A layout with extents or strides known only at run time has no table.");
  }
  const std::int64_t elements = size(layout);
  if (elements > most_elements) {
    throw Refusal(fmt::format("The layout has {} elements, too many to list or draw; at most {}.",
                              elements, most_elements));
  }
  rows_ = rank(layout) == 1 ? 1 : size(mode(layout, 0));
  columns_ = elements / rows_;
  for (std::int64_t index = 0; index < elements; ++index) {
    smallest_ = std::min(smallest_, tw::offset(layout, index));
    largest_ = std::max(largest_, tw::offset(layout, index));
  }
}

std::string table_of(const Grid& grid) {
  const Layout& layout = grid.layout();
  const std::int64_t elements = size(layout);
  std::size_t coordinate_width = std::string_view("coordinate").size();
  coordinate_width =
      std::max(coordinate_width, to_string(coordinate_at(layout, elements - 1)).size());
  std::string text =
      fmt::format("{:>6}  {:<{}}  {:>8}\n", "index", "coordinate", coordinate_width, "offset");
  for (std::int64_t index = 0; index < elements; ++index) {
    const std::string coordinate = to_string(coordinate_at(layout, index));
    fmt::format_to(std::back_inserter(text), "{:>6}  {:<{}}  {:>8}\n", index, coordinate,
                   coordinate_width, tw::offset(layout, index));
  }
  return text;
}

}  // namespace tw::layout_tool
