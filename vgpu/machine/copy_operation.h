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

// Joins bytes from shared memory with those where they go: elements of a type that the copy says.
using Reduce = void (*)(std::byte* into, const std::byte* from, std::size_t bytes);

struct StoreOperation {
  TileMap map;
  Reduce reduce = nullptr;  // null: the bytes replace what was there
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

// Coordinates of a copy as its map counts them in memory.
std::array<int, 5> in_memory(const TileMap& map, const int* coordinates);

class Engine;
// The map that the running thread gives to an instruction: reported, and the thread abandoned, if
// the hardware would not read it there, or if it is not one.
TileMap read_map(Engine& machine, const TensorMap* map, const char* instruction);
// The map that the running thread gives to a copy: the same, and reported if its rank or its mode
// is another than the instruction's, or if the hardware would not accept the coordinates or the
// shared address.
TileMap checked_map(Engine& machine, const TensorMap* map, const int* at, unsigned rank,
                    SharedAddress shared, CopyDirection direction, const char* instruction);

// Bytes and both places of a copy of plain bytes are multiples of 16.
void check_line(Engine& machine, std::uint64_t one_side, std::uint64_t other_side,
                std::uint32_t bytes, const char* instruction);

}  // namespace tw::vgpu

// Instructions that isa/ptx does not have.
namespace tw::model {

// cp.async.bulk: plain bytes.
void bulk_store(void* destination, SharedAddress source, std::uint32_t bytes, vgpu::Reduce reduce);
// From the own CTA's shared memory to that of a CTA of the cluster, where the barrier lies, too.
void bulk_copy(SharedAddress destination, SharedAddress source, std::uint32_t bytes,
               SharedAddress barrier, vgpu::Reduce reduce);
// cp.reduce.async.bulk.tensor; `reduce` is of the map's elements.
void tma_reduce(const TensorMap* map, SharedAddress source, const int* coordinates, unsigned rank,
                vgpu::Reduce reduce);
// Until the groups have written, too.
void bulk_wait_group(unsigned pending);

}  // namespace tw::model
