// Parts that follow from a configuration: each choice of a type is a function, which can be asked
// alone.
#pragma once

#include "tilewright/bind/config.h"
#include "tilewright/bind/contracts.h"
#include "tilewright/kernel/left_out.h"
#include "tilewright/pipeline/event_trace.h"
#include "tilewright/schedule/hilbert_order.h"
#include "tilewright/schedule/reduction.h"
#include "tilewright/schedule/shared_finish.h"
#include "tilewright/schedule/split_tiles.h"
#include "tilewright/schedule/work_tile.h"

namespace tw {

template <class T>
struct Chosen {
  using Type = T;
};

template <MatmulConfig config>
consteval auto trace_of() {
  if constexpr (config.tracing == Tracing::On) {
    return Chosen<EventTrace>();
  } else {
    return Chosen<NoTrace>();
  }
}

template <MatmulConfig config>
consteval auto order_of() {
  if constexpr (config.sweep == TileSweep::Hilbert) {
    return Chosen<HilbertOrder>();
  } else {
    return Chosen<BandedOrder>();
  }
}

template <MatmulConfig config>
consteval auto tile_map_of() {
  using Order = typename decltype(order_of<config>())::Type;
  constexpr ClusterShape cluster = config.tiling.cluster;
  if constexpr (config.split == Split::Whole) {
    return Chosen<WholeTiles<cluster, Order>>();
  } else if constexpr (config.split == Split::Parts) {
    return Chosen<SplitTiles<cluster, Order, config.keeps_last_part()>>();
  } else if constexpr (config.split == Split::Cluster) {
    return Chosen<ClusterSplitTiles<cluster, Order>>();
  } else {
    return Chosen<StreamTiles<cluster, Order>>();
  }
}

// Where a GPU is several dies, each gets neighbours. A CTA that finishes a sum waits for parts that
// were taken before: their order stays.
template <MatmulConfig config, class Target, class Map>
consteval auto dealt_of() {
  if constexpr (requires { Target::dies; } && config.split == Split::Whole) {
    return Chosen<typename Target::template Dealt<Map>>();
  } else {
    return Chosen<Map>();
  }
}

// Whoever is done asks as the target can; else a formula says what comes next.
template <auto config, class Target, RoleTable roles, class Map>
consteval auto schedule_of() {
  if constexpr (config.scheduling == Scheduling::Dynamic) {
    static_assert(has_tickets<Target>());
    return Chosen<typename Target::template Tickets<config.tiling.cluster, Map, roles>>();
  } else {
    return Chosen<StaticPersistent<config.tiling.cluster, Map>>();
  }
}

// Groups that take turns wait for them as the target can.
template <class Target, RoleTable roles>
consteval auto turns_of() {
  if constexpr (roles.consumers == Consumers::PingPong) {
    static_assert(has_turns<Target>());
    return Chosen<typename Target::template Turns<roles.groups, roles.group_warps()>>();
  } else {
    return Chosen<NoTurns>();
  }
}

// One chunk of C for each chunk of D.
template <MatmulConfig config, class Target, class Store>
consteval auto sources_of() {
  if constexpr (config.c_stages == 0) {
    return Chosen<DirectSources>();
  } else {
    static_assert(has_staged_sources<Target>());
    constexpr unsigned row_chunks = config.tiling.n / Store::chunk_columns;
    constexpr unsigned chunk_rows = config.group_rows() / Store::chunk_rows;
    return Chosen<typename Target::template StagedSources<
        config.d_type, Store::lines, Store::line_bytes, chunk_rows * row_chunks, row_chunks, 4,
        config.c_stages>>();
  }
}

// Shares of a tile are whole chunks of its store.
template <MatmulConfig config, class Target, RoleTable roles, class Store>
consteval auto reduction_of() {
  // Groups that take turns have tiles of their own; others have shares of one.
  constexpr unsigned warps = roles.epilogue.played()
                                 ? roles.epilogue.warps
                                 : roles.group_warps() * config.groups_per_tile();
  constexpr unsigned group_step = config.groups_per_tile() == 1 ? 0 : roles.group_warps();
  constexpr unsigned values = config.tiling.m * config.tiling.n / (warps * roles.lanes);
  if constexpr (config.consumers == Consumers::AlongK) {
    using Parts = WorkspaceReduction<group_step, warps, values, roles.lanes>;
    using Next = std::conditional_t<config.split == Split::Whole, NoReduction, Parts>;
    static_assert(has_group_reduction<Target>());
    return Chosen<
        typename Target::template GroupReduction<config.multiply_groups, warps, values, Next>>();
  } else if constexpr (config.split == Split::Whole) {
    return Chosen<NoReduction>();
  } else if constexpr (config.split == Split::Cluster) {
    static_assert(has_cluster_reduction<Target>());
    return Chosen<typename Target::template ClusterReduction<config.tiling.cluster, group_step,
                                                             warps, values, config.tiling.n / 2>>();
  } else if constexpr (config.scheduling == Scheduling::Dynamic) {
    static_assert(has_last_finish<Target>());
    static_assert(roles.epilogue.played(), "The warps that leave a part must store it together.");
    return Chosen<typename Target::template LastFinish<warps, values, roles.lanes>>();
  } else if constexpr (config.finishers != 1) {
    return Chosen<SharedFinish<group_step, warps, values, roles.lanes, Store::chunk_columns / 2>>();
  } else {
    return Chosen<WorkspaceReduction<group_step, warps, values, roles.lanes>>();
  }
}

// The epilogue and the store of a kernel do what its configuration asks of them.
template <MatmulConfig config, RoleTable roles, class Epilogue, class Store>
consteval bool ends_as_asked() {
  static_assert((config.output_buffers > 2) == Store::stores_tiles,
                "This store has two buffers, or none: it does not store whole tiles.");
  static_assert((config.tiling.swap_ab != 0) == Store::transposes,
                "With swap_ab a tile's rows are D's columns: the store must "
                "transpose them.");
  static_assert((config.initial_c != 0) == Epilogue::begins,
                "Sums begin at C if and only if the recipe's epilogue begins with it.");
  static_assert(config.initial_c == 0 || !roles.epilogue.played(),
                "Who multiplies has the sums, and lets them begin at C.");
  static_assert(config.finishers == 1 || config.finishers <= config.tiling.n / Store::chunk_columns,
                "A share of a tile is at least a chunk of its columns.");
  return true;
}

// Groups of warps that store the same rows of a tile, each its columns, where the page says so.
template <class Target>
consteval unsigned column_groups_of() {
  if constexpr (requires { Target::column_groups; }) return Target::column_groups;
  return 1;
}

// One stage is read while another is loaded, unless the page says that fewer will do.
template <class Target>
consteval unsigned least_stages() {
  if constexpr (requires { Target::least_stages; }) return Target::least_stages;
  return 2;
}

// Stages that fit beside the staging buffers, the barriers and `beside` bytes.
template <MatmulConfig config, class Target, RoleTable roles, class Stage, class Store,
          class Sources, class Reduction, unsigned beside>
consteval unsigned stages_that_fit() {
  constexpr unsigned storing_groups = roles.storing_groups();
  unsigned taken = 1024 + beside;
  if (!std::is_empty_v<typename Store::Buffers>) {
    taken += storing_groups * unsigned{sizeof(typename Store::Buffers)};
  }
  if (Sources::has_role) taken += storing_groups * unsigned{sizeof(typename Sources::Storage)};
  if (config.split == Split::Cluster || config.consumers == Consumers::AlongK) {
    taken += unsigned{sizeof(typename Reduction::Storage)};
  }
  return (Target::shared_bytes - taken) / unsigned{sizeof(Stage)};
}

}  // namespace tw
