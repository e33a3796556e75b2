// CDNA3, gfx942 (MI300X, MI325X): loads through registers, counters, mfma by single waves, stores
// by threads.
#pragma once

#include "tilewright/arch/target.h"
#include "tilewright/epilogue/direct_store.h"
#include "tilewright/io/fnuz_copy.h"
#include "tilewright/io/lds_halves.h"
#include "tilewright/io/vector_copy.h"
#include "tilewright/kernel/left_out.h"
#include "tilewright/kernel/ping_pong.h"
#include "tilewright/op/mfma.h"
#include "tilewright/op/mfma_halves.h"
#include "tilewright/pipeline/counter.h"
#include "tilewright/pipeline/wave_counter.h"
#include "tilewright/schedule/xcd_order.h"

namespace tw {

struct Gfx942 {
  static constexpr TargetFacts target = target::gfx942;
  static constexpr unsigned shared_bytes = 65536;
  static constexpr unsigned registers = 131072;
  static constexpr bool in_clusters = false;
  // Workgroups are dealt to the dies in turn.
  static constexpr int dies = 8;
  template <class Map>
  using Dealt = DealtToDies<Map, dies, 16>;

  using Signal = SplitCounters;
  template <Tiling tiling, RoleTable roles>
  using Loader =
      ThreadLoader<tiling,
                   std::conditional_t<tiling.a_type == ElementType::E4m3, FnuzCopy, VectorCopy>,
                   roles.load.warps, Completion::WarpsArrive, roles.lanes>;
  template <auto config, Tiling tiling, unsigned stage_bytes>
  using Op = MfmaOp<tiling, WarpGrid{2, 2}, stage_bytes, Cdna::Three, true>;
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

// The second step: loads straight to LDS, 4 bytes a lane.
struct Gfx942Lds : Gfx942 {
  using Signal = WaveCounters;
  template <Tiling tiling, RoleTable roles>
  using Loader = LdsLoader<tiling, roles.load.warps, 4>;
  template <auto config, Tiling tiling, unsigned stage_bytes>
  using Op = MfmaOp<tiling, WarpGrid{2, 2}, stage_bytes, Cdna::Three>;
};

// The third step: eight waves that all load and multiply, in two groups one barrier apart.
struct Gfx942PingPong : Gfx942Lds {
  static constexpr unsigned barriers_apart = 1;
  static constexpr unsigned lds_bytes = 65536;
  // A binder keeps 1024 bytes for signals; here are none.
  static constexpr unsigned shared_bytes = lds_bytes + 1024;

  // One stage is enough: loads follow the reads of each half.
  static constexpr unsigned least_stages = 1;
  // Its loads, of 4 bytes a lane, take more scalar registers than there are beside a tile to store.
  static constexpr bool loads_while_storing = false;

  static constexpr WarpGrid waves = {2, 4};
  template <Tiling tiling, RoleTable roles>
  using Loader =
      LdsHalves<tiling, roles.load.warps, 4, tiling.m / waves.m / 2, tiling.n / waves.n / 2>;
  template <auto config, Tiling tiling, unsigned stage_bytes>
  using Op = MfmaHalvesOp<tiling, waves, stage_bytes, Cdna::Three>;

  // Each of the four SIMDs of a CU runs a wave of either group.
  template <class Config>
  static consteval RoleTable roles(const Config& config) {
    Gfx942::roles(config);
    return RoleTable{.load = {0, 8}, .multiply = {0, 8}}.checked();
  }
};

}  // namespace tw
