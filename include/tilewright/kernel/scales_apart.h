// The program of a product whose scales have a ring of their own: a pair of CTAs multiplies as one,
// with one signal for the operands of both, but scales come to each CTA by threads of its own, and
// are read by the warps that add up partial sums.
#pragma once

#include "tilewright/kernel/warp_specialized.h"

namespace tw::kernel {

template <class Scales>
struct alignas(16) ScalesTile : Scales::Tile {};

// The scales of one stage. scales.full: arrive the copies of who brings them; waited by the warps
// that add up. scales.empty: arrive these warps, each when it has read its scales; waited by who
// brings them.
template <class Scales, RoleArrivals adds>
struct ScalesPayload {
  static constexpr Space space = Space::Shared;
  static constexpr const char* name = "scales";
  static constexpr const char* full_name = "scales.full";
  static constexpr const char* empty_name = "scales.empty";
  using Tiles = ScalesTile<Scales>;
  using StageTensors = typename Scales::template Tensors<>;
  using RingTensors = typename Scales::template Tensors<unsigned{sizeof(Tiles)}>;
  static constexpr Part parts[1] = {{sizeof(typename Scales::Tile),
                                     Scales::completion,
                                     {Role::LoadScales, Scales::arrivals},
                                     {adds}}};
};

// Two rings: `input`, as a matmul has it, and `scales`.
template <class Kernel>
struct ScalesApart : OneProduct<Kernel> {
  using Product = OneProduct<Kernel>;
  using typename Product::Scales;
  using typename Product::Trace;
  static constexpr unsigned depth = Kernel::Recipe::scale_stages;
  using ScaleRing =
      tw::Ring<ScalesPayload<Scales, Kernel::adds>, depth, typename Kernel::Target::Signal>;
  static_assert(Kernel::roles.epilogue.played() && Kernel::Accumulators::promote_every == 1,
                "The warps of an epilogue add up partial sums of one stage with their scales.");

  struct Stages : Product::Stages {
    alignas(1024) typename ScaleRing::Tiles scales[depth];
  };
  struct Signals : Product::Signals {
    typename ScaleRing::Barriers scales;
  };
  static TW_DEVICE void init(Signals& signals, Stages& stages) {
    Product::init(signals, stages);
    ScaleRing::init(signals.scales, stages.scales);
  }

  template <unsigned>
  using Own = typename Product::template LoadsInto<Role::LoadScales, Scales, ScaleRing,
                                                   &Signals::scales, &Stages::scales>;

  // A thread has a row of the columns of its group.
  class Adds {
   public:
    TW_DEVICE Adds(Signals& signals, Stages& stages, unsigned thread, Trace trace)
        : input_(signals.scales, thread % Kernel::roles.lanes, trace),
          stages_(stages),
          row_(thread % Kernel::config.tiling.m),
          first_column_(thread / Kernel::config.tiling.m * columns) {}
    // The tensor core has the sum back as soon as its last columns are in registers, before these
    // are added up.
    template <class Total, class Sum>
    TW_DEVICE void add(Total& total, const Sum& sum, bool has_products) {
      if (!has_products) return;
      const float factor = take_factor();
      total.add(sum, [&]<unsigned count>(unsigned first, float(&factors)[count]) {
        sum.has_read(first + count);
        TW_UNROLL
        for (float& by : factors) by = factor;
      });
      sum.is_read();
    }

   private:
    static constexpr unsigned columns = Kernel::group_columns;
    static_assert(Scales::b_columns % columns == 0,
                  "A group's columns must share a scale: shared memory has no time for more.");
    // One factor for all columns, read once.
    TW_DEVICE float take_factor() {
      const auto stage = input_.consume();
      const auto tensors = ScaleRing::stage_tensors(stages_.scales, stage.slot());
      float factor[1];
      typename Scales::Reader(tensors, row_)(first_column_, factor);
      return factor[0];
    }

    Consumer<ScaleRing, Release::Warp, Trace> input_;
    Stages& stages_;
    unsigned row_;
    unsigned first_column_;
  };
};

}  // namespace tw::kernel
