// In the epilogue role: how partial sums that are handed over join their total.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/pipeline/ring.h"

namespace tw::kernel {

// With the scales of the one stage that each is the product of.
template <class Program, class Kernel>
class AddsWithScales {
  using Ring = typename Kernel::Ring;
  using Stages = typename Program::Stages;
  using Trace = typename Kernel::Trace;

 public:
  TW_DEVICE AddsWithScales(typename Program::Signals& signals, Stages& stages, unsigned thread,
                           Trace trace)
      : input_(signals.input, thread % Kernel::roles.lanes, trace),
        stages_(stages),
        thread_(thread) {}
  template <class Total, class Sum>
  TW_DEVICE void add(Total& total, const Sum& sum, bool has_products) {
    if (!has_products) return;
    const auto stage = input_.consume();
    const auto tensors = Ring::stage_tensors(stages_.input, stage.slot());
    total.add(sum, typename Kernel::Scales::Reader(tensors, thread_));
  }

 private:
  Consumer<Ring, Release::Warp, Trace> input_;
  Stages& stages_;
  unsigned thread_;
};

template <class Program, class Kernel>
struct AddsPlainly {
  TW_DEVICE AddsPlainly(typename Program::Signals&, typename Program::Stages&, unsigned,
                        typename Kernel::Trace) {}
  template <class Total, class Sum>
  TW_DEVICE void add(Total& total, const Sum& sum, bool) {
    total.add(sum);
  }
};

}  // namespace tw::kernel
