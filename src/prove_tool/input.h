// K-tiles that one thread loads by TMA, 16 bytes each, and what readers saw of them.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "tilewright/isa/ptx/tma.h"
#include "tilewright/layout/shared_tile.h"
#include "tilewright/layout/text.h"
#include "tilewright/number/narrow_float.h"
#include "tilewright/pipeline/mbarrier.h"
#include "tilewright/pipeline/ring.h"
#include "vgpu/explore/exploration.h"
#include "vgpu/tensor_map.h"

namespace tw::prove {

inline constexpr unsigned input_columns = 8;  // the 16 bytes that are TMA's least
inline constexpr Layout input_layout = parse_layout("(1,8):(8,1)");
inline constexpr Role read_role = "read";
inline const NoTrace no_trace({}, 0, false);

// A stage is read by `readers` threads.
template <unsigned readers>
struct Payload {
  static constexpr Space space = Space::Shared;
  static constexpr const char *name = "input", *full_name = "input.full",
                              *empty_name = "input.empty";
  struct Tiles {
    alignas(128) Bf16 a[input_columns];
  };
  using StageTensors = SharedTile<Bf16, input_layout>;
  static constexpr Part parts[1] = {
      {sizeof(Tiles::a), Completion::TransactionBytes, {Role::Load, 1}, {{read_role, readers}}}};
};

class Input {
 public:
  // `readers` threads each read all k-tiles.
  explicit Input(unsigned k_tiles, unsigned readers = 1)
      : k_tiles_(k_tiles), rows_(k_tiles), seen_(k_tiles * readers) {
    for (unsigned k = 0; k < k_tiles; ++k) {
      std::ranges::fill(rows_[k].values, Bf16(static_cast<float>(k + 1)));
    }
    MatrixBox box = {rows_.data(), ElementType::Bf16, input_columns, k_tiles, 1, sizeof(Row)};
    box.box_inner = input_columns;
    box.swizzle = BoxSwizzle::None;
    map_ = map_for_virtual(box);
  }

  vgpu::Outcome run(const vgpu::Options& options, unsigned threads, std::size_t shared_bytes,
                    const std::function<void()>& kernel) {
    std::ranges::fill(seen_, -1.0f);
    const vgpu::GlobalRange memory[] = {
        {rows_.data(), rows_.size() * sizeof(Row), "A", true, false},
        {seen_.data(), seen_.size() * sizeof(float), "seen", false, true}};
    vgpu::Launch launch = {1, 1, threads, shared_bytes, kernel};
    launch.lanes = 1;
    vgpu::Outcome outcome = {vgpu::run(launch, memory, options)};
    for (unsigned i = 0; i < seen_.size(); ++i) {
      outcome.right &= seen_[i] == static_cast<float>(i % k_tiles_ + 1);
    }
    return outcome;
  }

  // The loading role.
  template <class Ring>
  void load(typename Ring::Barriers& barriers, typename Ring::Tiles* tiles) {
    isa::describe_role(Role::Load.name);
    Producer<Ring, Role::Load, NoTrace> input(barriers, tiles, no_trace);
    for (unsigned k = 0; k < k_tiles_; ++k) {
      const auto stage = input.produce();
      isa::cp_async_bulk_tensor_load(stage.tensors().address(), &map_, stage.full(),
                                     {0, static_cast<int>(k), 0}, isa::CacheHint::EvictNormal);
    }
    input.drain();
  }

  // What a reader finds in a stage.
  template <class Tiles>
  void see(unsigned k, Tiles& stage, unsigned reader = 0) {
    const TileTensor<Bf16, Space::Shared, input_layout> tile(stage.a);
    const auto value = static_cast<float>(tile.load(0, 0));
    store_element<Space::Global>(&seen_[reader * k_tiles_ + k], value);
  }

 private:
  struct Row {
    alignas(16) Bf16 values[input_columns];
  };

  unsigned k_tiles_;
  std::vector<Row> rows_;
  std::vector<float> seen_;
  TensorMap map_;
};

}  // namespace tw::prove
