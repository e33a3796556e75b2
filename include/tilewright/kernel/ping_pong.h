// The second skeleton of products, for targets whose page says how many barriers two groups of
// waves are apart: every wave loads and multiplies, and one of the two groups reads while the other
// multiplies. No wave waits for another but at the barrier of all, and nothing but stages lies in
// shared memory. Its loops over tiles and k are its own.
#pragma once

#include "tilewright/kernel/warp_specialized.h"
#include "tilewright/pipeline/wave_steps.h"
#include "tilewright/schedule/xcd_order.h"

namespace tw::kernel {

template <class Kernel>
concept InStep = requires {
  Kernel::Target::barriers_apart;
};

template <InStep Kernel>
class PingPong {
  using Ring = typename Kernel::Ring;
  using Loader = typename Kernel::Loader;
  using Op = typename Kernel::Op;
  using Epilogue = typename Kernel::Epilogue;
  using Sources = typename Kernel::Sources;
  using Reduction = typename Kernel::Reduction;
  using Trace = typename Kernel::Trace;
  using Map = typename Kernel::Map;
  using Target = typename Kernel::Target;
  static constexpr RoleTable roles = Kernel::roles;
  static_assert(Target::barriers_apart == 1, "The groups change places at every barrier.");
  static_assert(Kernel::Accumulators::promote_every == 0 && !Sources::has_role &&
                    std::is_empty_v<typename Trace::Params>,
                "All waves play one role: no other promotes or brings C, and none is traced.");
  static_assert(!Epilogue::begins, "No sums of waves begin at C.");
  using Steps = WaveSteps<Ring::stages, Loader::loads>;

 public:
  static constexpr unsigned threads = roles.threads();
  static constexpr unsigned tracks = 1;

  struct Params {
    typename Loader::Params loader;
    typename Epilogue::Params epilogue;
    typename Map::Params schedule;
    typename Reduction::Params reduction;
    typename Sources::Params sources;
    typename Trace::Params trace;
  };

  struct Storage {
    alignas(1024) typename Ring::Tiles stages[Ring::stages];
  };
  static_assert(sizeof(Storage) <= Target::lds_bytes, "The stages do not fit the LDS.");

  static TW_DEVICE void run(const Params& params) {
    Storage& storage = *static_cast<Storage*>(isa::dynamic_shared());
    const unsigned thread = isa::thread_index();
    // The wave index through a shuffle: the compiler then knows that a wave does not diverge here.
    const unsigned wave = isa::shuffle(thread / roles.lanes, 0);
    const unsigned group = wave / (roles.warps() / 2);
    isa::describe_role(group == 0 ? "multiply 0" : "multiply 1");
    if (thread == 0) describe(storage);
    const Map map(params.schedule);
    Multiplies multiplies(params, storage, group, thread);
    for (int index = static_cast<int>(isa::cta_index()); map.has(index);
         index += static_cast<int>(isa::cta_count())) {
      const WorkTile tile = map.tile(dealt(params.schedule, index));
      typename Op::Accumulator sum;
      multiplies.multiply(sum, tile);
      Nothing nothing;
      Storing<Kernel, true> storing(Steps::afterwards(params), nothing, 0,
                                    Steps::afterwards(thread), Trace(params.trace, 0, false));
      storing.store(sum, tile);
      storing.drain();
    }
  }

 private:
  // A Storing asks for these; they have no bytes here.
  struct Nothing {
    typename Epilogue::Buffers output[1];
    typename Sources::Storage sources[1];
    typename Reduction::Storage reduction;
  };
  static_assert(std::is_empty_v<typename Epilogue::Buffers> &&
                    std::is_empty_v<typename Sources::Storage> &&
                    std::is_empty_v<typename Reduction::Storage>,
                "Stores and parts of sums must not need shared memory.");

  static TW_DEVICE void describe(Storage& storage) {
    for (unsigned stage = 0; stage < Ring::stages; ++stage) {
      isa::describe_shared(isa::shared_address(&storage.stages[stage]),
                           sizeof(typename Ring::Tiles), Ring::Payload::name, stage);
    }
  }

  // A CTA that finishes a sum waits for parts that were taken before: their order stays.
  static TW_DEVICE int dealt(const typename Map::Params& map, int index) {
    if constexpr (Reduction::in_parts) return index;
    return dealt_to_dies<Target::dies, Target::chunk_of_die>(
        index, map.tiles_m * map.tiles_n * map.batches);
  }

  // A stage as loaders take it.
  struct Slot {
    using Fills = Ring;
    SharedAddress tiles;
    TW_DEVICE auto tensors() const { return typename Ring::Payload::StageTensors(tiles); }
  };

  class Multiplies {
   public:
    TW_DEVICE Multiplies(const Params& params, Storage& storage, unsigned group, unsigned thread)
        : loader_(params.loader, thread),
          op_(Ring::tensors(storage.stages), 0, thread),
          steps_(group),
          stages_(storage.stages) {}

    template <class Sum>
    TW_DEVICE void multiply(Sum& sum, const WorkTile& tile) {
      const int count = tile.num_k_tiles();
      const typename Loader::Sources sources = loader_.of(tile);
      const int direct = sources.direct - tile.k_begin;
      const int direct_end = direct < count ? direct : count;
      sum.clear();
      for (int ahead = 0; ahead < static_cast<int>(Steps::ahead); ++ahead) {
        load(sources, tile, ahead, direct_end, count, static_cast<unsigned>(ahead));
      }
      steps_.begin(count >= static_cast<int>(Steps::ahead));
      unsigned slot = 0, before = Ring::stages - 1;
      for (int k_tile = 0; k_tile < count; ++k_tile) {
        isa::describe_step(static_cast<unsigned>(k_tile));
        const int next = k_tile + static_cast<int>(Steps::ahead);
        const bool loads_on = next < count;
        TW_UNROLL
        for (unsigned step = 0; step < Op::steps; ++step) {
          typename Op::Fragments fragments;
          // Into the stage that was read before this one.
          if (step == 0) load(sources, tile, next, direct_end, count, before);
          op_.read_step(fragments, step, slot);
          if (step + 1 == Op::steps) steps_.wait_for_next(loads_on);
          steps_.end_reads();
          steps_.begin_products();
          op_.multiply_step(sum, fragments);
          steps_.end_products();
        }
        before = slot;
        slot = slot + 1 == Ring::stages ? 0 : slot + 1;
      }
      steps_.end();
    }

   private:
    // Straight to LDS before `direct_end`, by hand before `end`.
    TW_DEVICE void load(const typename Loader::Sources& sources, const WorkTile& tile, int k_tile,
                        int direct_end, int end, unsigned slot) {
      const Slot stage = {isa::shared_address(&stages_[slot])};
      if (k_tile < direct_end) {
        loader_.issue(stage.tensors(), sources, tile.k_begin + k_tile);
      } else if (k_tile < end) {
        loader_.load_by_hand(stage, tile, tile.k_begin + k_tile);
      }
    }

    Loader loader_;
    Op op_;
    Steps steps_;
    typename Ring::Tiles* stages_;
  };
};

// What a product's launch names.
template <InStep Kernel>
class WarpSpecialized<Kernel> : public PingPong<Kernel> {};

}  // namespace tw::kernel
