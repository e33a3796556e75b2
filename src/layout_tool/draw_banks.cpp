#include <fmt/format.h>

#include <string>

#include "src/layout_tool/palette.h"
#include "src/layout_tool/panels.h"

namespace tw::layout_tool {

namespace {

constexpr double chip_height = 18;
constexpr double side_width = 76;
constexpr double heading_height = 26;
constexpr double group_gap = 4;
constexpr double legend_gap = 5;  // below the row of bank numbers

double chip_width(const SharedMemory& memory) { return memory.banks > 32 ? 18 : 22; }

double chip_y(int row) { return heading_height + chip_height * row + (row > 0 ? legend_gap : 0); }

double chip_x(const SharedMemory& memory, int bank) {
  return side_width + chip_width(memory) * bank + group_gap * (bank / 4);
}

std::string heading(const Drawing& drawing) {
  if (!drawing.access.has_value()) {
    return fmt::format("{} banks of {} bytes", drawing.memory.banks, bank_bytes);
  }
  return fmt::format(
      "Phase {} of {}{}: which lane wants a word of which bank, one row per wavefront",
      drawing.conflicts.worst_phase + 1, drawing.conflicts.phases,
      drawing.conflicts.fewest == drawing.conflicts.most ? "" : ", the slowest");
}

}  // namespace

Room room_of_banks(const Drawing& drawing) {
  const int rows = 1 + (drawing.access.has_value() ? drawing.conflicts.most : 0);
  return {chip_x(drawing.memory, drawing.memory.banks), chip_y(rows)};
}

void draw_banks(Svg& svg, Corner corner, const Drawing& drawing) {
  const SharedMemory& memory = drawing.memory;
  svg.text(corner.x, corner.y + 12, "note", heading(drawing));
  auto draw_chip = [&](int bank, int row, const std::string& text) {
    const double x = corner.x + chip_x(memory, bank);
    const double y = corner.y + chip_y(row);
    const std::string colour = text.empty() ? "" : bank_colour(bank, memory.banks);
    svg.rectangle(x, y, chip_width(memory) - 1, chip_height - 1, text.empty() ? "empty" : "wanted",
                  colour);
    svg.text(x + (chip_width(memory) - 1) / 2, y + chip_height / 2 + 3, "chip", text);
  };
  auto draw_side = [&](int row, const std::string& text) {
    svg.text(corner.x + side_width - 8, corner.y + chip_y(row) + chip_height / 2 + 3, "side", text);
  };
  draw_side(0, "bank");
  for (int bank = 0; bank < memory.banks; ++bank) draw_chip(bank, 0, std::to_string(bank));
  if (!drawing.access.has_value()) return;
  const Access& access = *drawing.access;
  const auto wanted =
      words_by_bank(drawing.grid, access, access.phases[drawing.conflicts.worst_phase]);
  for (int wavefront = 0; wavefront < drawing.conflicts.most; ++wavefront) {
    draw_side(wavefront + 1, fmt::format("wavefront {}", wavefront + 1));
    for (int bank = 0; bank < memory.banks; ++bank) {
      const WantedWords& words = wanted[static_cast<std::size_t>(bank)];
      const std::size_t index = static_cast<std::size_t>(wavefront);
      draw_chip(bank, wavefront + 1, index < words.size() ? std::to_string(words[index].lane) : "");
    }
  }
}

}  // namespace tw::layout_tool
