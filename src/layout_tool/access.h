// How the lanes of a warp read a tile in shared memory, in the phases that the hardware serves one
// after the other.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/layout_tool/grid.h"

namespace tw::layout_tool {

struct SharedMemory {
  std::string_view name;
  int banks;
  int lanes;  // threads of a warp
};
inline constexpr int bank_bytes = 4;

// 32 lanes and 32 banks; and CDNA4's 64 lanes and 64 banks, as ds_read_b128 sees them.
std::span<const SharedMemory> shared_memories();

struct AccessPattern {
  std::string_view name;
  std::string_view memory;  // empty: any
  std::string_view meaning;
};
std::span<const AccessPattern> access_patterns();

// A lane reads `elements_per_lane` elements along its row, from `column` on.
struct LaneRead {
  int lane;
  std::int64_t row;
  std::int64_t column;
};
using Phase = std::vector<LaneRead>;

struct Access {
  std::string name;
  SharedMemory memory;
  int element_bytes;
  int elements_per_lane;
  std::vector<Phase> phases;  // all the reads that together cover the tile

  int bytes_per_lane() const { return element_bytes * elements_per_lane; }
};

// Refuses names that do not exist and tiles that the pattern does not fit.
Access make_access(const Grid& grid, std::string_view pattern, std::string_view memory,
                   int element_bytes);

}  // namespace tw::layout_tool
