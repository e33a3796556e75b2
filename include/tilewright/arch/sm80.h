// Ampere and Ada, sm_80, sm_86, sm_89: cp.async loads, mma.sync by single warps, stores by threads.
// The portable baseline: later GPUs run it, too.
#pragma once

#include "tilewright/arch/target.h"
#include "tilewright/epilogue/direct_store.h"
#include "tilewright/io/async_copy.h"
#include "tilewright/io/thread_loader.h"
#include "tilewright/kernel/left_out.h"
#include "tilewright/kernel/roles.h"
#include "tilewright/op/mma_sync.h"
#include "tilewright/pipeline/counter.h"
#include "tilewright/pipeline/mbarrier.h"

namespace tw {

struct Sm80 {
  static constexpr TargetFacts target = target::sm80;
  static constexpr unsigned shared_bytes = 101376;  // what sm_86, 89 and 120 have
  static constexpr unsigned registers = 65536;
  static constexpr bool in_clusters = false;

  using Signal = Mbarriers;
  template <Tiling tiling, RoleTable roles>
  using Loader = ThreadLoader<tiling, AsyncCopy, roles.load.warps, Completion::CopiesArrive>;
  template <auto config, Tiling tiling, unsigned stage_bytes>
  using Op = MmaSyncOp<tiling, WarpGrid{2, 2}, stage_bytes>;
  template <auto config, class Op, class Trace>
  using Accumulators = RegisterAccumulators<typename Op::Accumulator>;
  template <auto config, class Trace>
  using Store = DirectStore<config.d_type, Trace>;

  template <class Config>
  static consteval RoleTable roles(const Config& config) {
    require(config.tiling.cluster.size() == 1, "Clusters need sm_90.");
    require(config.tiling.group == 1, "Pairs of CTAs that multiply as one need sm_100a.");
    require(config.multiply_groups == 1, "The multiplying warps are one group on sm_80.");
    require(config.promote_every == 0, "mma.sync adds up in float32: nothing to promote.");
    require(config.c_stages == 0, "Sources are staged by TMA, which needs sm_90.");
    require(config.scheduling == decltype(config.scheduling){},
            "Work is announced by transactions, which need sm_90.");
    return RoleTable{.load = {0, 4}, .multiply = {4, 4}}.checked();
  }
};

// The same with copies through registers: any layout of any type, any alignment.
struct Sm80Plain : Sm80 {
  template <Tiling tiling, RoleTable roles>
  using Loader = ThreadLoader<tiling, PlainCopy, roles.load.warps, Completion::WarpsArrive>;
};

// The same with atomic counters in place of barriers: what every target has.
struct Sm80SingleCounters : Sm80 {
  using Signal = SingleCounters;
  template <Tiling tiling, RoleTable roles>
  using Loader = ThreadLoader<tiling, AsyncCopy, roles.load.warps, Completion::WarpsArrive>;
};
struct Sm80SplitCounters : Sm80SingleCounters {
  using Signal = SplitCounters;
};

}  // namespace tw
