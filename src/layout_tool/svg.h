// A picture under construction: shapes and text, with the type and colours that all of them share.
#pragma once

#include <string>
#include <string_view>

namespace tw::layout_tool {

class Svg {
 public:
  // `style` names one of the classes in svg.cpp.
  void text(double x, double y, std::string_view style, std::string_view content);
  void rectangle(double x, double y, double width, double height, std::string_view style,
                 std::string_view fill = "");
  void line(double x0, double y0, double x1, double y1, std::string_view style);
  // `path` is SVG path data: many shapes of one colour at the price of one.
  void shapes(std::string_view path, std::string_view fill);

  // Another picture, larger, from the origin on.
  void place(const Svg& part, double scale);

  std::string finish(double width, double height, std::string_view title) const;

 private:
  std::string body_;
};

// The path of a rectangle, for `shapes`.
std::string rectangle_path(double x, double y, double width, double height);

// Widths of text, near enough to place other things beside it.
double monospace_width(std::size_t characters, double font_size);

}  // namespace tw::layout_tool
