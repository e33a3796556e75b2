// CDNA3, gfx942 (MI300X, MI325X): loads through registers, counters, mfma by single waves, stores
// by threads.
#pragma once

#include "tilewright/accumulator/in_registers.h"
#include "tilewright/arch/target.h"
#include "tilewright/epilogue/direct_store.h"
#include "tilewright/io/vector_copy.h"
#include "tilewright/kernel/roles.h"
#include "tilewright/op/mfma.h"
#include "tilewright/pipeline/counter.h"

namespace tw {

struct Gfx942 {
  static constexpr TargetFacts target = target::gfx942;
  static constexpr unsigned shared_bytes = 65536;
  static constexpr unsigned registers = 131072;
  static constexpr bool in_clusters = false;

  using Signal = SplitCounters;
  template <Tiling tiling, RoleTable roles>
  using Loader =
      ThreadLoader<tiling, VectorCopy, roles.load.warps, Completion::WarpsArrive, roles.lanes>;
  template <auto config, Tiling tiling, unsigned stage_bytes>
  using Op = MfmaOp<tiling, WarpGrid{2, 2}, stage_bytes, Cdna::Three>;
  template <auto config, class Op, class Trace>
  using Accumulators = RegisterAccumulators<typename Op::Accumulator>;
  template <auto config, class Trace>
  using Store = DirectStore<config.d_type, Trace>;

  // Each of the four SIMDs of a CU runs a wave that loads and one that multiplies.
  template <class Config>
  static consteval RoleTable roles(const Config& config) {
    require(config.tiling.cluster.size() == 1, "CDNA has no clusters.");
    require(config.tiling.group == 1, "Pairs of CTAs that multiply as one need sm_100a.");
    require(config.multiply_groups == 1, "The multiplying waves are one group on CDNA.");
    require(config.promote_every == 0, "mfma adds up in float32: nothing to promote.");
    require(config.c_stages == 0, "Sources are staged by TMA, which CDNA does not have.");
    require(config.scheduling == decltype(config.scheduling){},
            "Work is announced by transactions, which CDNA does not have.");
    return RoleTable{.load = {0, 4}, .multiply = {4, 4}}.checked();
  }
};

}  // namespace tw
