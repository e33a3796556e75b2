#include "src/layout_tool/access.h"

#include <fmt/format.h>

#include <algorithm>

namespace tw::layout_tool {

namespace {

constexpr int vector_bytes = 16;

constexpr SharedMemory memories[] = {{"nvidia", 32, 32}, {"amd", 64, 64}};

constexpr AccessPattern patterns[] = {
    {"ldmatrix", "nvidia", "8 rows of 16 bytes, one row per lane"},
    {"mfma16", "amd", "16 rows of 4 x 16 bytes: the operand of a 16x16 mfma"},
    {"mfma32", "amd", "32 rows of 2 x 16 bytes: the operand of a 32x32 mfma"},
    {"vector", "", "16 bytes per lane, along the rows"},
    {"row", "nvidia", "one element per lane, along the rows"},
    {"column", "nvidia", "one element per lane, down the columns"},
};

// The lanes that ds_read_b128 serves together, in lanes 0 to 31; lanes 32 to 63 repeat it.
constexpr int amd_phases[2][16] = {
    {0, 1, 2, 3, 12, 13, 14, 15, 20, 21, 22, 23, 24, 25, 26, 27},
    {4, 5, 6, 7, 8, 9, 10, 11, 16, 17, 18, 19, 28, 29, 30, 31},
};

template <class Named>
const Named& find(std::span<const Named> known, std::string_view name, const char* option) {
  std::string names;
  for (const Named& one : known) {
    if (one.name == name) return one;
    names += (names.empty() ? "" : ", ") + std::string(one.name);
  }
  throw Refusal(fmt::format("{} is '{}', but must be one of {}.", option, name, names));
}

// The reads of one instruction, lane by lane, cut into phases.
void push_phases(Access& access, const std::vector<LaneRead>& reads) {
  if (access.memory.name == "amd") {
    for (int half = 0; half < 2; ++half) {
      for (const auto& lanes : amd_phases) {
        Phase phase;
        for (int lane : lanes) {
          const std::size_t index = static_cast<std::size_t>(lane + 32 * half);
          if (index < reads.size()) phase.push_back(reads[index]);
        }
        if (!phase.empty()) access.phases.push_back(phase);
      }
    }
    return;
  }
  // All banks together serve so many consecutive lanes at once.
  const std::size_t together = static_cast<std::size_t>(
      std::min(access.memory.lanes, access.memory.banks * bank_bytes / access.bytes_per_lane()));
  for (std::size_t first = 0; first < reads.size(); first += together) {
    const auto begin = reads.begin() + static_cast<std::ptrdiff_t>(first);
    const auto length = std::min(together, reads.size() - first);
    access.phases.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(length));
  }
}

// Blocks of `rows` rows by `across` vectors; lanes go down the rows first.
void read_blocks(Access& access, const Grid& grid, int rows, int across) {
  const int columns = across * access.elements_per_lane;
  if (grid.rows() % rows != 0 || grid.columns() % columns != 0) {
    throw Refusal(
        fmt::format("{} reads blocks of {} rows by {} columns of {} bytes; they do not "
                    "divide the layout, which has {} by {}.",
                    access.name, rows, columns, access.element_bytes, grid.rows(), grid.columns()));
  }
  for (std::int64_t row = 0; row < grid.rows(); row += rows) {
    for (std::int64_t column = 0; column < grid.columns(); column += columns) {
      std::vector<LaneRead> reads;
      for (int lane = 0; lane < rows * across; ++lane) {
        reads.push_back({lane, row + lane % rows, column + lane / rows * access.elements_per_lane});
      }
      push_phases(access, reads);
    }
  }
}

// Consecutive lanes read consecutive elements or vectors, from row to row or column to column.
void read_in_order(Access& access, const Grid& grid, bool down) {
  const std::int64_t vectors = grid.columns() / access.elements_per_lane;
  if (grid.columns() % access.elements_per_lane != 0) {
    throw Refusal(
        fmt::format("{} reads {} elements per lane, which does not divide the {} columns.",
                    access.name, access.elements_per_lane, grid.columns()));
  }
  std::vector<LaneRead> reads;
  for (std::int64_t i = 0; i < grid.rows() * vectors; ++i) {
    const std::int64_t row = down ? i % grid.rows() : i / vectors;
    const std::int64_t vector = down ? i / grid.rows() : i % vectors;
    reads.push_back({static_cast<int>(reads.size()), row, vector * access.elements_per_lane});
    if (static_cast<int>(reads.size()) == access.memory.lanes) {
      push_phases(access, reads);
      reads.clear();
    }
  }
  push_phases(access, reads);
}

// One lane's bytes are read as one word, so they must be neighbours and aligned.
void check_vectors(const Access& access, const Grid& grid) {
  for (const Phase& phase : access.phases) {
    for (const LaneRead& read : phase) {
      const std::int64_t first = grid.offset(read.row, read.column);
      if (first * access.element_bytes % access.bytes_per_lane() != 0) {
        throw Refusal(fmt::format(
            "{} reads {} aligned bytes per lane, but ({},{}) lies at byte {}.", access.name,
            access.bytes_per_lane(), read.row, read.column, first * access.element_bytes));
      }
      for (int i = 1; i < access.elements_per_lane; ++i) {
        const std::int64_t offset = grid.offset(read.row, read.column + i);
        if (offset == first + i) continue;
        throw Refusal(fmt::format(
            "{} reads {} elements at once, but ({},{}) lies at offset {} and ({},{}) at {}.",
            access.name, access.elements_per_lane, read.row, read.column, first, read.row,
            read.column + i, offset));
      }
    }
  }
}

}  // namespace

std::span<const SharedMemory> shared_memories() { return memories; }
std::span<const AccessPattern> access_patterns() { return patterns; }

Access make_access(const Grid& grid, std::string_view pattern_name, std::string_view memory_name,
                   int element_bytes) {
  const SharedMemory& memory = find(shared_memories(), memory_name, "--banks");
  const AccessPattern& pattern = find(access_patterns(), pattern_name, "--access");
  if (!pattern.memory.empty() && pattern.memory != memory.name) {
    throw Refusal(fmt::format("--access {} is only known for --banks {}, not {}.", pattern.name,
                              pattern.memory, memory.name));
  }
  if (grid.smallest_offset() < 0) {
    throw Refusal("A layout with negative offsets has no place in shared memory.");
  }
  checked_product(grid.largest_offset() + 1, element_bytes);
  const bool is_single = pattern.name == "row" || pattern.name == "column";
  Access access{std::string(pattern.name),
                memory,
                element_bytes,
                is_single ? 1 : vector_bytes / element_bytes,
                {}};
  if (pattern.name == "ldmatrix") {
    read_blocks(access, grid, 8, 1);
  } else if (pattern.name == "mfma16") {
    read_blocks(access, grid, 16, 4);
  } else if (pattern.name == "mfma32") {
    read_blocks(access, grid, 32, 2);
  } else {
    read_in_order(access, grid, pattern.name == "column");
  }
  check_vectors(access, grid);
  return access;
}

}  // namespace tw::layout_tool
