// Sums of the columns of a bf16 matrix: one warp loads tiles by TMA into a ring, two warps add up.
#pragma once

#include <tilewright/isa/ptx/tma.h>
#include <tilewright/layout/shared_tile.h>
#include <tilewright/layout/text.h>
#include <tilewright/number/narrow_float.h>
#include <tilewright/pipeline/mbarrier.h>
#include <tilewright/pipeline/ring.h>
#include <tilewright/pipeline/trace.h>

struct ColumnSums {
  static constexpr unsigned rows = 64, columns = 64, stages = 3, adding_warps = 2;
  static constexpr unsigned threads = 32 * (1 + adding_warps);
  static constexpr tw::Role add = "add";
  // (row,column), in lines of 128 bytes, swizzled as TMA writes them.
  static constexpr tw::Layout layout = tw::parse_layout("Sw<3,3,3> o (64,64):(64,1)");

  // A stage is one tile: TMA counts its bytes, each adding warp arrives when it has read it.
  struct Payload {
    static constexpr tw::Space space = tw::Space::Shared;
    static constexpr const char *name = "input", *full_name = "input.full",
                                *empty_name = "input.empty";
    struct Tiles {
      alignas(1024) tw::Bf16 a[rows * columns];
    };
    struct StageTensors {  // as the loader sees a stage
      TW_DEVICE explicit StageTensors(tw::SharedAddress first) : a(first) {}
      tw::SharedTile<tw::Bf16, layout> a;
    };
    static constexpr tw::Part parts[1] = {{sizeof(Tiles::a),
                                           tw::Completion::TransactionBytes,
                                           {tw::Role::Load, 1},
                                           {{add, adding_warps}}}};
  };
  using Ring = tw::Ring<Payload, stages, tw::Mbarriers>;
  struct Params {
    tw::TensorMap a;
    float* sums;
    int m, n;
  };
  struct Storage {
    alignas(1024) Payload::Tiles tiles[stages];
    Ring::Barriers input;
  };

  static TW_DEVICE void run(const Params& params) {
    Storage& storage = *static_cast<Storage*>(tw::isa::dynamic_shared());
    const unsigned thread = tw::isa::thread_index();
    tw::start_together<false>(thread, threads, [&] { Ring::init(storage.input, storage.tiles); });
    if (tw::isa::shuffle(thread / 32, 0) > 0) return sum_up(params, storage, thread - 32);
    if (tw::isa::elect_one()) load(params, storage);
  }

  static TW_DEVICE void load(const Params& params, Storage& storage) {
    tw::isa::describe_role("load");
    tw::Producer<Ring, tw::Role::Load, tw::NoTrace> input(storage.input, storage.tiles,
                                                          tw::NoTrace({}, 0, false));
    for (int column = static_cast<int>(tw::isa::cta_index() * columns); column < params.n;
         column += static_cast<int>(tw::isa::cta_count() * columns)) {
      for (int row = 0; row < params.m; row += rows) {
        auto stage = input.produce();
        const int at[3] = {column, row, 0};
        tw::isa::cp_async_bulk_tensor_load(stage.tensors().a.address(), &params.a, stage.full(), at,
                                           tw::isa::CacheHint::EvictNormal);
      }
    }
    input.drain();
  }

  static TW_DEVICE void sum_up(const Params& params, Storage& storage, unsigned thread) {
    tw::isa::describe_role(add.name);
    tw::Consumer<Ring, tw::Release::Warp, tw::NoTrace> input(storage.input, thread % 32,
                                                             tw::NoTrace({}, 0, false));
    for (int column = static_cast<int>(tw::isa::cta_index() * columns); column < params.n;
         column += static_cast<int>(tw::isa::cta_count() * columns)) {
      float sum = 0;
      for (int row = 0; row < params.m; row += rows) {
        auto stage = input.consume();
        const tw::TileTensor<const tw::Bf16, tw::Space::Shared, layout> tile(
            storage.tiles[stage.slot()].a);
        for (unsigned i = 0; i < rows; ++i) {
#ifdef RELEASED_EARLY  // the token dies before the last rows are read
          if (i == rows - 8) auto gone = std::move(stage);
#endif
          sum += static_cast<float>(tile.load(i, thread));
        }
      }
      const int mine = column + static_cast<int>(thread);
      if (mine < params.n) tw::store_element<tw::Space::Global>(params.sums + mine, sum);
    }
  }
};
