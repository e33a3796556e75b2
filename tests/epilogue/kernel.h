// A kernel that is nothing but known sums and the fragment loop, on the virtual GPU.
#pragma once

#include "tests/epilogue/problem.h"
#include "tests/epilogue/stand_in.h"
#include "tilewright/epilogue/direct_store.h"
#include "tilewright/epilogue/fragment_loop.h"
#include "tilewright/epilogue/runtime.h"
#include "tilewright/epilogue/staged_store.h"
#include "tilewright/pipeline/trace.h"
#include "vgpu/data/tile_map.h"

namespace tw::tests {

// What the host makes of D for the store.
template <class StoreParams>
void plan_store(StoreParams& params, EpilogueData& data, unsigned box_rows, unsigned row_bytes) {
  params.d = data.d.data();
  params.pitch = data.d.pitch;
  params.batch_pitch = data.d.batch_pitch;
  if constexpr (requires { params.map; }) {
    params.by_tma = data.problem.aligned;
    if (!params.by_tma) return;
    const std::uint32_t bytes = bytes_of(data.problem.output);
    vgpu::TileMap map;
    map.base = data.d.data();
    map.element_bytes = bytes;
    map.rank = 3;
    map.extents[0] = static_cast<std::uint64_t>(data.d.columns);
    map.extents[1] = static_cast<std::uint64_t>(data.d.rows);
    map.extents[2] = static_cast<std::uint64_t>(data.d.batch);
    map.pitch_bytes[0] = static_cast<std::uint64_t>(data.d.pitch) * bytes;
    map.pitch_bytes[1] = static_cast<std::uint64_t>(data.d.batch_pitch) * bytes;
    map.box[0] = row_bytes / bytes / (data.problem.arguments.gated ? 2 : 1);
    map.box[1] = box_rows;
    map.swizzle = row_bytes == 128 ? vgpu::MapSwizzle::Bytes128 : vgpu::MapSwizzle::Bytes64;
    params.map = vgpu::encode(map);
  }
}

struct PlainRun {
  // What becomes of a tile's place before the store gets it.
  static TileOrigin place(const TileOrigin& tile, const EpilogueData&) { return tile; }
  template <class Loop, class Sums>
  void store(Loop& loop, const Sums& sum, const TileOrigin& place) const {
    loop.store(sum, place);
  }
};

// Two CTAs of one group of threads take the tiles in turn.
template <class Epilogue, class Store, class Sums, class Run = PlainRun>
vgpu::Report run_kernel(EpilogueData& data, const typename Epilogue::Params& node,
                        const Run& how = {}) {
  using Loop = FragmentLoop<Epilogue, Store>;
  typename Loop::Params params{};
  unsigned row_bytes = 0;
  if constexpr (requires { Store::line_bytes; }) row_bytes = Store::line_bytes;
  plan_store(params.output, data, Sums::block_rows, row_bytes);
  params.m = data.problem.m;
  params.n = data.problem.n;
  params.epilogue = node;
  const std::vector<TileOrigin> tiles = data.tiles(Sums::tile_rows, Sums::tile_columns);
  const auto body = [&] {
    const unsigned thread = isa::thread_index();
    auto& buffers = *static_cast<typename Loop::Buffers*>(isa::dynamic_shared());
    isa::describe_role("epilogue");
    Loop loop(params, buffers, 1, thread, NoTrace({}, 0, false));
    for (unsigned i = isa::cta_index(); i < tiles.size(); i += isa::cta_count()) {
      const Sums sum = {{data.sums, data.problem.m, data.problem.n, tiles[i]}, thread};
      how.store(loop, sum, how.place(tiles[i], data));
    }
    loop.drain();
  };
  vgpu::Options options;
  options.landing = data.problem.landing;
  options.seed = data.problem.seed;
  constexpr std::size_t source_bytes = 64 << 10;
  const std::vector<vgpu::GlobalRange> ranges = data.ranges();
  return vgpu::run({2, 1, 128, sizeof(typename Loop::Buffers) + source_bytes, body}, ranges,
                   options);
}

using MatrixFloats = MatrixStandIn<2, 128, 1, float>;
using MatrixIntegers = MatrixStandIn<2, 128, 1, std::int32_t>;
using WarpFloats = MatrixStandIn<2, 32, 2, float>;
using WarpIntegers = MatrixStandIn<2, 32, 2, std::int32_t>;
using RowFloats = RowStandIn<128, float>;
using RowIntegers = RowStandIn<128, std::int32_t>;

template <ElementType output, class Epilogue, class Sums>
vgpu::Report run_stored(EpilogueData& data, const typename Epilogue::Params& node) {
  if (data.problem.mechanism == Mechanism::Direct) {
    return run_kernel<Epilogue, DirectStore<output, NoTrace>, Sums>(data, node);
  }
  if constexpr (Sums::block_rows < 64) {
    return {};
  } else {
    using Store = StagedStore<output, Sums::block_rows, NoTrace>;
    return run_kernel<Epilogue, Store, Sums>(data, node);
  }
}

// Rows of 64 bytes, and groups of 16 columns.
template <ElementType output, class Value>
vgpu::Report run_narrow(EpilogueData& data) {
  if (data.problem.mechanism == Mechanism::Direct) {
    return run_kernel<RuntimeEpilogue, DirectStore<output, NoTrace, 16>,
                      MatrixStandIn<2, 48, 1, Value>>(data, data.arguments);
  }
  return run_kernel<RuntimeEpilogue, StagedStore<output, 64, NoTrace, 64>,
                    MatrixStandIn<1, 192, 1, Value>>(data, data.arguments);
}

// The library's epilogue, in all layouts: compiled once for each output, outputs.cpp.in.
template <ElementType output>
vgpu::Report run_mixed(EpilogueData& data);

template <ElementType output, class Matrix, class Warp, class Row>
vgpu::Report run_held(EpilogueData& data) {
  switch (data.problem.held) {
    case Held::Matrix: return run_stored<output, RuntimeEpilogue, Matrix>(data, data.arguments);
    case Held::Narrow: return run_narrow<output, typename Matrix::Value>(data);
    case Held::Warps: return run_stored<output, RuntimeEpilogue, Warp>(data, data.arguments);
    default: return run_stored<output, RuntimeEpilogue, Row>(data, data.arguments);
  }
}

}  // namespace tw::tests
