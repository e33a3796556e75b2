// The parts of the picture. Each is drawn from a corner on and tells how much room it took.
#pragma once

#include "src/layout_tool/draw.h"
#include "src/layout_tool/svg.h"

namespace tw::layout_tool {

struct Corner {
  double x;
  double y;
};
struct Room {
  double width;
  double height;
};

Room room_of_grid(const Grid& grid);
void draw_grid(Svg& svg, Corner corner, const Drawing& drawing);

// The banks with their colours, and what the worst phase of the access wants from each.
Room room_of_banks(const Drawing& drawing);
void draw_banks(Svg& svg, Corner corner, const Drawing& drawing);

}  // namespace tw::layout_tool
