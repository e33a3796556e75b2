// The tensor memory of one CTA: numbers, allocations, and who has touched what. Instructions touch
// whole bands of 16 lanes, so order is judged per band and column.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tilewright/isa/model/tensor_memory.h"
#include "vgpu/machine/clock.h"
#include "vgpu/machine/wait.h"

namespace tw::vgpu {

class Engine;
struct Cta;
struct TensorPipeline;
struct Thread;
struct Warp;

constexpr unsigned tensor_lanes = 128;
constexpr unsigned tensor_columns = 512;
constexpr unsigned band_lanes = 16;
constexpr unsigned tensor_bands = tensor_lanes / band_lanes;
constexpr unsigned allocation_unit = 32;  // columns
constexpr std::uint32_t tensor_poison = 0xFFFFFFFF;

constexpr unsigned tensor_column(TensorAddress address) { return address & 0xFFFF; }
constexpr unsigned tensor_lane(TensorAddress address) { return address >> 16; }

enum class TensorUse : std::uint8_t { Product, Copy, Load, Store };

// 16 lanes of one column.
struct TensorCell {
  TensorPipeline* pipeline = nullptr;  // wrote last, unless a warp did
  Warp* warp = nullptr;
  Epoch write_epoch = 0;
  std::uint32_t shape = 0;  // the last product's: products of one shape keep their order
  TensorUse write_use = TensorUse::Product;
  Site write_site = {};
  bool written = false;
  bool was_loaded = false;                // since the write
  std::uint16_t in_flight = 0;            // writes between issue and landing
  std::array<Epoch, 8> load_epochs = {};  // since the write: by warpgroup, 0: none
  std::array<Site, 8> load_sites = {};
  // The last product that read scales here since the write; nobody's: null.
  TensorPipeline* reader = nullptr;
  Epoch read_epoch = 0;
  Site read_site = {};
  std::uint64_t step = ~std::uint64_t{0};  // the k-tile that a copy brought here, or none
};

// Cells that an instruction touches.
struct TensorRegion {
  Cta* cta = nullptr;
  std::uint8_t bands = 0;  // bit per band
  unsigned column = 0, columns = 0;
};

// A warp that waits for columns, or for its peer to free them.
struct AllocationRequest {
  Thread* thread = nullptr;  // for all lanes
  bool is_free = false;
  unsigned columns = 0;
  unsigned column = 0;            // to free
  std::uint32_t destination = 0;  // offset in shared memory
};

class TensorMemory {
 public:
  TensorMemory()
      : values_(tensor_lanes * tensor_columns, tensor_poison),
        cells_(tensor_bands * tensor_columns) {}

  std::uint32_t* row(unsigned lane, unsigned column) {
    return values_.data() + lane * tensor_columns + column;
  }
  TensorCell& cell(unsigned band, unsigned column) {
    return cells_[band * tensor_columns + column];
  }

  // The first of so many free columns, or tensor_columns.
  unsigned find_free(unsigned columns, unsigned from = 0) const;
  void allocate(unsigned column, unsigned columns);
  void free(unsigned column);
  // Columns of the allocation that starts here; 0 if none does.
  unsigned allocated_at(unsigned column) const {
    return column % allocation_unit == 0 && column < tensor_columns
               ? sizes_[column / allocation_unit]
               : 0;
  }
  // All of these columns belong to live allocations.
  bool owns(unsigned column, unsigned columns) const;
  bool was_ever_allocated(unsigned column) const {
    return column < tensor_columns && ever_used_[column / allocation_unit];
  }
  unsigned allocated_columns() const;

  unsigned cta_group = 0;  // 0: no instruction has said
  bool relinquished = false;
  unsigned last_columns = tensor_columns;  // what the last allocation asked for: the next may not
                                           // ask for more
  std::vector<AllocationRequest> allocations, frees;  // not fulfilled yet
  WaitList waiters;

 private:
  static constexpr unsigned units = tensor_columns / allocation_unit;
  std::vector<std::uint32_t> values_;
  std::vector<TensorCell> cells_;
  std::array<std::uint16_t, units> sizes_ = {};  // columns, where an allocation starts
  std::array<bool, units> used_ = {};
  std::array<bool, units> ever_used_ = {};
};

// Calls visit(cell) for the cells of a region.
template <class Visit>
void for_each_cell(TensorMemory& memory, const TensorRegion& region, Visit&& visit) {
  for (unsigned band = 0; band < tensor_bands; ++band) {
    if ((region.bands >> band & 1) == 0) continue;
    for (unsigned i = 0; i < region.columns; ++i) visit(memory.cell(band, region.column + i), band);
  }
}

}  // namespace tw::vgpu
