// A program that no family of the library has: D = A B^T + C E^T. Two rings of different depth,
// each with a loading role of its own, and two products in every step. The skeleton, the rings, the
// loaders, the TileOps and the epilogue are those of a matmul.
#pragma once

#include "tilewright/bind/recipe.h"

namespace tw::programs {

inline constexpr Role load_second = "load second";

// A matmul's payload under another name, brought by another role.
template <class Payload>
struct SecondPayload {
  static constexpr Space space = Payload::space;
  static constexpr const char* name = "second";
  static constexpr const char* full_name = "second.full";
  static constexpr const char* empty_name = "second.empty";
  using Tiles = typename Payload::Tiles;
  using StageTensors = typename Payload::StageTensors;
  using RingTensors = typename Payload::RingTensors;
  static constexpr Part brought(Part part) {
    part.loaded_by.role = load_second;
    return part;
  }
  static constexpr Part parts[2] = {brought(Payload::parts[0]), brought(Payload::parts[1])};
};

// `held_back` is how many stages of the second ring are kept while their products are in flight.
template <class Kernel, unsigned held_back>
struct TwoProducts {
  using Op = typename Kernel::Op;
  using Loader = typename Kernel::Loader;
  using Trace = typename Kernel::Trace;
  using LoaderParams = typename Loader::Params;
  using OwnParams = typename Loader::Params;
  static constexpr unsigned second_stages = 2;
  using First = typename Kernel::template RingOf<Kernel::stages - second_stages>;
  using Second = Ring<SecondPayload<typename Kernel::Payload>, second_stages,
                      typename Kernel::Target::Signal, Kernel::tiling.cluster>;
  static_assert(First::stages > Second::stages);

  struct Stages {
    alignas(1024) typename First::Tiles first[First::stages];
    alignas(1024) typename Second::Tiles second[Second::stages];
  };
  struct Signals {
    typename First::Barriers first;
    typename Second::Barriers second;
  };
  static TW_DEVICE void init(Signals& signals, Stages& stages) {
    First::init(signals.first, stages.first);
    Second::init(signals.second, stages.second);
  }
  static constexpr bool clears = false;

  struct Loads : kernel::Loading<First, Role::Load, Loader, Trace> {
    TW_DEVICE Loads(const LoaderParams& params, Signals& signals, Stages& stages, unsigned thread,
                    Trace trace)
        : kernel::Loading<First, Role::Load, Loader, Trace>(params, signals.first, stages.first,
                                                            thread, trace) {}
  };
  struct LoadsSecond : kernel::Loading<Second, load_second, Loader, Trace> {
    TW_DEVICE LoadsSecond(const OwnParams& params, Signals& signals, Stages& stages,
                          unsigned thread, Trace trace)
        : kernel::Loading<Second, load_second, Loader, Trace>(params, signals.second, stages.second,
                                                              thread, trace) {}
  };
  template <unsigned>
  using Own = LoadsSecond;

  class Multiplies {
    using FirstInput = Consumer<First, Op::release, Trace>;
    using SecondInput = Consumer<Second, Op::release, Trace>;

   public:
    TW_DEVICE Multiplies(const OwnParams&, Signals& signals, Stages& stages, unsigned group,
                         unsigned thread, Trace trace)
        : first_(signals.first, Op::speaker(thread), trace),
          second_(signals.second, Op::speaker(thread), trace),
          first_op_(First::tensors(stages.first), group * Kernel::group_step, thread),
          second_op_(Second::tensors(stages.second), group * Kernel::group_step, thread) {}

    TW_DEVICE bool leads() const { return first_op_.leads(); }
    TW_DEVICE void hang_back(unsigned stages) { first_.await_ahead(stages); }
    TW_DEVICE void skip(const WorkTile& tile) {
      first_.skip(tile.num_k_tiles());
      second_.skip(tile.num_k_tiles());
    }
    template <class Sum>
    TW_DEVICE void multiply(Sum& sum, const WorkTile& part, const kernel::Key& key) {
      Held<typename FirstInput::Token, Op::stages_held> first_held;
      Held<typename SecondInput::Token, held_back> second_held;
      for ([[maybe_unused]] const int k : part.k_tiles(key)) {
        auto first = first_.consume();
        first_op_.multiply(sum, first);
        first_held.keep(std::move(first));
        auto second = second_.consume();
        second_op_.multiply(sum, second);
        second_held.keep(std::move(second));
      }
      first_op_.finish(sum);
    }

   private:
    FirstInput first_;
    SecondInput second_;
    Op first_op_;
    Op second_op_;
  };

  struct Adds {
    TW_DEVICE Adds(Signals&, Stages&, unsigned, Trace) {}
  };
};

// `forgets`: the second ring's stages are let go while their products are in flight.
template <bool forgets = false>
struct TwoProductsRecipe : MatmulRecipe {
  static consteval RoleTable roles(RoleTable table, const MatmulConfig&) {
    // One thread of a helping warp loads by TMA; as many warps as for the first copy by threads.
    if (table.shifts_registers()) return table.with(load_second);
    table.own[0] = {load_second, {table.warps(), table.load.warps}};
    return table;
  }
  template <class Kernel>
  using Program = TwoProducts<Kernel, forgets ? 0 : Kernel::Op::stages_held>;
};

}  // namespace tw::programs
