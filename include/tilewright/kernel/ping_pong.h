// The second skeleton of products, for targets whose page says how many barriers two groups of
// waves are apart: every wave loads and multiplies, and one of the two groups reads while the other
// multiplies. No wave waits for another but at the barrier of all, and nothing but stages lies in
// shared memory. Its loops over tiles and k are its own.
#pragma once

#include "tilewright/io/lds_scales.h"
#include "tilewright/kernel/warp_specialized.h"
#include "tilewright/pipeline/wave_steps.h"

namespace tw::kernel {

template <class Kernel>
concept InStep = requires {
  Kernel::Target::barriers_apart;
};

// The loader of halves, which brings their scales as well where they have any.
template <class Halves>
struct BroughtBy {
  using Type = Halves;
};
template <class Loader, class Scales, bool has_scales>
consteval auto halves_of() {
  if constexpr (has_scales) {
    return BroughtBy<ScaledHalves<Loader, Scales>>();
  } else {
    return BroughtBy<Loader>();
  }
}

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
  using Scales = typename Kernel::Scales;
  // Scales come beside the halves that they are of.
  static constexpr bool has_scales = requires { Scales::loads; };
  using Halves = typename decltype(halves_of<Loader, Scales, has_scales>())::Type;
  using Steps = WaveSteps<Ring::stages, Halves::a_loads, Halves::b_loads>;
  static_assert(Op::a_lines == Loader::a_lines && Op::b_lines == Loader::b_lines,
                "What is loaded together is read together.");

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
    typename Scales::Params own;
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
    const int step = static_cast<int>(isa::cta_count());
    int index = static_cast<int>(isa::cta_index());
    if (!map.has(index)) return;
    constexpr bool ahead = Target::loads_while_storing;
    if constexpr (ahead) multiplies.load_first(map.tile(index));
    while (true) {
      const WorkTile tile = map.tile(index);
      if constexpr (!ahead) multiplies.load_first(tile);
      typename Op::Accumulator sum;
      multiplies.multiply(sum, tile);
      index += step;
      const bool goes_on = map.has(index);
      if constexpr (ahead) {
        // The first stages of the next tile are on their way while this one is stored. Behind the
        // last they are of nothing.
        WorkTile next = goes_on ? map.tile(index) : tile;
        if (!goes_on) next.k_end = next.k_begin;
        multiplies.load_first(next);
      }
      Nothing nothing;
      Storing<Kernel, true> storing(Steps::afterwards(params), nothing, 0,
                                    Steps::afterwards(thread), Trace(params.trace, 0, false));
      storing.store(sum, tile);
      storing.drain();
      if (!goes_on) break;
    }
    if constexpr (ahead) Steps::drain();
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

  // A stage as loaders take it.
  struct Slot {
    using Fills = Ring;
    SharedAddress tiles;
    TW_DEVICE auto tensors() const { return typename Ring::Payload::StageTensors(tiles); }
  };

  class Multiplies {
   public:
    TW_DEVICE Multiplies(const Params& params, Storage& storage, unsigned group, unsigned thread)
        : loader_(halves(params, thread)),
          op_(Ring::tensors(storage.stages), 0, thread),
          steps_(group),
          stages_(storage.stages) {}

    // The loads of all stages, of as many k-tiles as go straight to LDS.
    TW_DEVICE void load_first(const WorkTile& tile) const {
      const typename Halves::Sources sources = loader_.of(tile);
      const int end = end_of_direct(sources, tile);
      if constexpr (!Target::loads_while_storing) {
        if (end == tile.k_begin) return;
      }
      load_stages<0>(Halves::until(sources, end), tile.k_begin);
    }

    // k-tiles that go straight to LDS one behind the other, then each of the others by itself.
    template <class Sum>
    TW_DEVICE void multiply(Sum& sum, const WorkTile& tile) {
      const typename Halves::Sources sources = loader_.of(tile);
      const int direct_end = end_of_direct(sources, tile);
      sum.clear();
      steps_.wait_for_next();
      for (int begin = tile.k_begin; begin < tile.k_end;) {
        const bool is_direct = begin < direct_end;
        const int end = is_direct ? direct_end : begin + 1;
        const typename Halves::Sources run = Halves::until(sources, is_direct ? end : 0);
        if (!is_direct) {
          steps_.meet();
          loader_.load_by_hand(slot(0), tile, begin);
          load_stages<1>(run, begin);
        }
        multiply_run(sum, run, begin, end);
        begin = end;
      }
      // A tile without k-tiles has loads of nothing, for which none of its steps has waited.
      if (tile.k_begin == tile.k_end) steps_.meet();
      op_.finish(sum);
    }

   private:
    static TW_DEVICE Halves halves(const Params& params, unsigned thread) {
      if constexpr (has_scales) {
        return Halves(params.loader, params.own, thread);
      } else {
        return Halves(params.loader, thread);
      }
    }
    static TW_DEVICE int end_of_direct(const typename Halves::Sources& sources,
                                       const WorkTile& tile) {
      const int end = sources.direct < tile.k_end ? sources.direct : tile.k_end;
      return end < tile.k_begin ? tile.k_begin : end;
    }
    TW_DEVICE Slot slot(unsigned index) const { return {isa::shared_address(&stages_[index])}; }

    // The loads of all stages from `first_stage` on, in the order in which halves are read.
    template <unsigned first_stage>
    TW_DEVICE void load_stages(const typename Halves::Sources& sources, int k_tile) const {
      TW_UNROLL
      for (unsigned stage = first_stage; stage < Ring::stages; ++stage) {
        const auto tensors = slot(stage).tensors();
        const int k = k_tile + static_cast<int>(stage);
        loader_.template issue_b<0>(tensors, sources, k);
        loader_.template issue_a<0>(tensors, sources, k);
        loader_.template issue_b<1>(tensors, sources, k);
        loader_.template issue_a<1>(tensors, sources, k);
      }
    }

    // The loads of all stages are issued. Each step loads the half that takes the place of the one
    // that was read in the step before. Reads come first: loads are issued while they are on their
    // way.
    template <class Sum>
    TW_DEVICE void multiply_run(Sum& sum, const typename Halves::Sources& sources, int begin,
                                int end) const {
      typename Op::Fragments fragments;
      steps_.begin();
      op_.template read_b<0>(fragments, 0);
      steps_.part();
      unsigned own = 0;
      for (int k_tile = begin; k_tile < end; ++k_tile) {
        isa::describe_step(static_cast<unsigned>(k_tile - begin));
        const auto tensors = slot(own).tensors();
        const int loaded = k_tile + static_cast<int>(Ring::stages);
        const unsigned next = own + 1 == Ring::stages ? 0 : own + 1;
        op_.template read_a<0>(fragments, own);
        loader_.template issue_b<0>(tensors, sources, loaded);
        step<0, 0>(sum, fragments);
        op_.template read_b<1>(fragments, own);
        loader_.template issue_a<0>(tensors, sources, loaded);
        step<0, 1>(sum, fragments);
        op_.template read_a<1>(fragments, own);
        loader_.template issue_b<1>(tensors, sources, loaded);
        step<1, 0>(sum, fragments);
        op_.template read_b<0>(fragments, next);
        loader_.template issue_a<1>(tensors, sources, loaded);
        step<1, 1>(sum, fragments);
        own = next;
      }
      steps_.end();
    }
    template <unsigned a_half, unsigned b_half, class Sum>
    TW_DEVICE void step(Sum& sum, const typename Op::Fragments& fragments) const {
      steps_.wait_for_next();
      steps_.end_reads();
      steps_.begin_products();
      op_.template multiply<a_half, b_half>(sum, fragments);
      steps_.end_products();
    }

    Halves loader_;
    Op op_;
    Steps steps_;
    typename Ring::Tiles* stages_;
  };
};

// What a product's launch names.
template <InStep Kernel>
class WarpSpecialized<Kernel> : public PingPong<Kernel> {};

}  // namespace tw::kernel
