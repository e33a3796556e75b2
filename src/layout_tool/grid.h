// A layout as rows and columns: mode 0 goes down, the other modes go across; a layout of one mode
// is a single row.
#pragma once

#include <string>

#include "tilewright/layout/offset.h"

namespace tw::layout_tool {

inline constexpr std::int64_t most_elements = 65536;

class Grid {
 public:
  // Refuses a layout that has too many elements or is not fully known.
  explicit Grid(const Layout& layout);

  const Layout& layout() const { return layout_; }
  std::int64_t rows() const { return rows_; }
  std::int64_t columns() const { return columns_; }
  std::int64_t offset(std::int64_t row, std::int64_t column) const {
    return tw::offset(layout_, row + rows_ * column);
  }
  std::int64_t smallest_offset() const { return smallest_; }
  std::int64_t largest_offset() const { return largest_; }

 private:
  Layout layout_;
  std::int64_t rows_;
  std::int64_t columns_;
  std::int64_t smallest_ = 0;
  std::int64_t largest_ = 0;
};

// One line for each coordinate, with its index and its offset.
std::string table_of(const Grid& grid);

}  // namespace tw::layout_tool
