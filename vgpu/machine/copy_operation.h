// TMA copies between issue and landing.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "vgpu/data/tile_map.h"
#include "vgpu/machine/cluster.h"

namespace tw::vgpu {

// The part of a load that lands in one CTA.
struct LoadOperation {
  TileMap map;
  std::array<int, 5> at = {};
  Cta* cta = nullptr;
  std::uint32_t offset = 0;
  std::uint32_t bytes = 0;
  Mbarrier* barrier = nullptr;
  std::uint64_t done_time = 0;
  const Thread* issuer = nullptr;
  bool behind_grids = false;  // issued behind a griddepcontrol.wait: so is whoever waits for it
};

struct StoreOperation {
  TileMap map;
  std::array<int, 5> at = {};
  Thread* issuer = nullptr;
  std::uint32_t offset = 0;  // in the issuer's shared memory
  std::uint64_t group = 0;
  std::uint64_t done_time = 0;
  std::vector<std::byte> data;  // the source as it was when the copy engine read it
  ClockRef known;               // by the issuer, when it issued the store
  Site site;                    // where it was issued
};

// Books the copy engine of a multiprocessor for so many bytes; when the last of them has moved.
std::uint64_t book_copy_engine(Multiprocessor& multiprocessor, std::uint64_t issue_time,
                               std::uint32_t bytes);

class Engine;
// The map that the running thread gives to an instruction: reported, and the thread abandoned, if
// the hardware would not read it there, or if it is not one.
TileMap read_map(Engine& machine, const TensorMap* map, const char* instruction);
// The map that the running thread gives to a copy: the same, and reported if its rank or its mode
// is another than the instruction's, or if the hardware would not accept the coordinates or the
// shared address.
TileMap checked_map(Engine& machine, const TensorMap* map, const int* at, unsigned rank,
                    SharedAddress shared, CopyDirection direction, const char* instruction);

}  // namespace tw::vgpu
