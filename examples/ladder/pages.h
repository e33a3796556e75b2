// Seven pages for Hopper: the portable kernel, and what one line at a time makes of it.
// docs/adding_a_target.md says what each step is worth.
#pragma once

#include <tilewright/arch/sm80.h>
#include <tilewright/epilogue/staged_store.h>
#include <tilewright/io/tma_loader.h>
#include <tilewright/op/wgmma.h>
#include <tilewright/schedule/dynamic.h>

using namespace tw;

// Copies through registers, atomic counters, products by single warps, stores by threads: what
// every GPU can do.
struct LadderPlain : Sm80 {
  static constexpr TargetFacts target = target::sm90a;
  static constexpr bool in_clusters = true;
  static constexpr unsigned shared_bytes = 232448;
  using Signal = SplitCounters;
  template <Tiling tiling, RoleTable roles>
  using Loader = ThreadLoader<tiling, PlainCopy, roles.load.warps, Completion::WarpsArrive>;

  template <class Config>
  static consteval RoleTable roles(const Config& config) {
    const bool asks = config.scheduling != decltype(config.scheduling){};
    // Work is asked for where one thread loads: the other warps of the load role are free.
    return RoleTable{
        .load = {0, asks ? 1u : 4u}, .schedule = {1, asks ? 1u : 0u}, .multiply = {4, 4}}
        .checked();
  }
};

struct LadderAsyncCopy : LadderPlain {
  template <Tiling tiling, RoleTable roles>
  using Loader = ThreadLoader<tiling, AsyncCopy, roles.load.warps, Completion::WarpsArrive>;
};

struct LadderMbarrier : LadderAsyncCopy {
  using Signal = Mbarriers;
};

struct LadderTma : LadderMbarrier {
  template <Tiling tiling, RoleTable>
  using Loader = TmaLoader<tiling>;
};

struct LadderWgmma : LadderTma {
  template <auto config, Tiling tiling, unsigned stage_bytes>
  using Op = WgmmaOp<tiling, config.group_rows(), stage_bytes>;
};

struct LadderTmaStore : LadderWgmma {
  template <auto config, class Trace>
  using Store = StagedStore<config.d_type, 64, Trace>;
};

// The last step is the schedule, by a field of the configuration.
struct LadderDynamic : LadderTmaStore {
  template <ClusterShape cluster, class Map, RoleTable roles>
  using Tickets = Dynamic<cluster, Map, AtomicTickets, roles.listening_warps()>;
};
