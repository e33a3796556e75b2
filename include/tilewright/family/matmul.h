// Matmul: D = epilogue(A B^T) for each matrix of a batch; A is m by k, B is n by k.
#pragma once

#include "tilewright/epilogue/fragment_loop.h"
#include "tilewright/epilogue/runtime.h"
#include "tilewright/epilogue/source_supply.h"
#include "tilewright/family/matmul_config.h"
#include "tilewright/kernel/warp_specialized.h"
#include "tilewright/schedule/cluster_reduction.h"
#include "tilewright/schedule/hilbert_order.h"
#include "tilewright/schedule/reduction.h"
#include "tilewright/schedule/split_tiles.h"
#include "tilewright/schedule/work_tile.h"

namespace tw {

// Nothing beside A and B.
struct NoSide {
  struct Tile {};
  struct Params {};
  static constexpr Completion completion = Completion::WarpsArrive;
  static constexpr unsigned arrivals = 0;
  static constexpr unsigned column_step = 1;  // tiles begin at multiples of it
};

template <Tiling tiling>
struct OperandTiles {
  alignas(1024) unsigned char a[tiling.a_bytes()];  // (m,k) lines of 128 bytes, swizzled
  alignas(1024) unsigned char b[tiling.b_bytes()];  // (n,k) lines of 128 bytes, swizzled
};

// One stage: the tiles of A and B, and what a role of its own brings beside them (which may be
// empty).
template <Tiling tiling, class Side>
struct MatmulTiles : OperandTiles<tiling>, Side::Tile {};

// A and B are read by the role that multiplies, the side part by the one that adds up.
template <Tiling tiling, class Loader, class Side, RoleArrivals reads, RoleArrivals adds>
struct MatmulPayload {
  static constexpr Space space = Space::Shared;
  static constexpr const char* name = "input";
  static constexpr const char* full_name = "input.full";
  static constexpr const char* empty_name = "input.empty";
  using Tiles = MatmulTiles<tiling, Side>;
  static constexpr RoleArrivals loads = {Role::Load, Loader::arrivals};
  static constexpr Part parts[3] = {
      {tiling.a_bytes() / tiling.m * tiling.a_rows(), Loader::completion, loads, {reads}},
      {sizeof(OperandTiles<tiling>::b), Loader::completion, loads, {reads}},
      {sizeof(typename Side::Tile),
       Side::completion,
       {Role::Side, Side::arrivals},
       {Side::arrivals > 0 ? adds : RoleArrivals{}}},
  };
};

// Binds matmul to a target: `Arch` is a page of arch/. `Named` carries the configuration, because
// nvcc cannot spell it as a value.
template <class ArchPage, class Named>
struct Matmul {
  using Arch = ArchPage;
  static constexpr MatmulConfig config = Named::config.checked();
  static constexpr RoleTable roles = Arch::roles(config);
  static_assert(roles.registers() <= Arch::registers,
                "The roles ask for more registers than an SM has.");
  static constexpr bool in_clusters = Arch::in_clusters;
  static constexpr bool dependent_launch = config.dependent_launch != 0;
  using Trace = std::conditional_t<config.tracing == Tracing::On, EventTrace, NoTrace>;

  using Loader = typename Arch::template Loader<config.tiling, roles>;
  static constexpr Tiling tiling = Loader::in_shared();
  template <class Page>
  struct SideOf {
    using Type = NoSide;
  };
  template <class Page>
  requires requires { typename Page::template Side<tiling, roles>; }
  struct SideOf<Page> {
    using Type = typename Page::template Side<tiling, roles>;
  };
  using Side = typename SideOf<Arch>::Type;
  static_assert(tiling.a_bytes() % 1024 == 0 && tiling.b_bytes() % 1024 == 0,
                "Operand tiles must be multiples of 1024 bytes: the swizzle repeats there.");
  using Op =
      typename Arch::template Op<config, tiling, unsigned{sizeof(MatmulTiles<tiling, Side>)}>;
  static constexpr RoleArrivals multiplies = {
      Role::Multiply,
      Op::releases*(config.consumers == Consumers::PingPong ? 1 : config.multiply_groups)};
  static constexpr RoleArrivals adds =
      roles.epilogue.played() ? RoleArrivals{Role::Epilogue, roles.epilogue.warps} : multiplies;
  using Payload = MatmulPayload<tiling, Loader, Side, multiplies, adds>;

  using Accumulators = typename Arch::template Accumulators<config, Op, Trace>;
  using Store = typename Arch::template Store<config, Trace>;
  using Epilogue = FragmentLoop<RuntimeEpilogue, Store>;

  // One chunk of C for each chunk of D.
  template <unsigned staged, class Output>
  struct SourcesOf {
    using Type = DirectSources;
  };
  template <unsigned staged, class Output>
  requires(staged > 0) struct SourcesOf<staged, Output> {
    static constexpr unsigned row_chunks = config.tiling.n / Output::chunk_columns;
    static constexpr unsigned chunk_rows = config.group_rows() / Output::chunk_rows;
    using Type = StagedSources<config.d_type, Output::chunk_rows, Output::row_bytes,
                               chunk_rows * row_chunks, row_chunks, 4, staged>;
  };
  using Sources = typename SourcesOf<config.c_stages, Store>::Type;

  // Groups that take turns have tiles of their own; others have shares of one.
  static constexpr unsigned storing_warps = roles.epilogue.played()
                                                ? roles.epilogue.warps
                                                : roles.group_warps() * config.groups_per_tile();
  static constexpr unsigned group_step = config.groups_per_tile() == 1 ? 0 : roles.group_warps();
  template <Split split, unsigned warps>
  struct ReductionOf {
    using Type =
        WorkspaceReduction<group_step, warps, config.tiling.m * config.tiling.n / (warps * 32)>;
  };
  template <unsigned warps>
  struct ReductionOf<Split::Whole, warps> {
    using Type = NoReduction;
  };
  template <unsigned warps>
  struct ReductionOf<Split::Cluster, warps> {
    using Type = ClusterReduction<config.tiling.cluster, group_step, warps,
                                  config.tiling.m * config.tiling.n / (warps * 32)>;
  };
  using Reduction = typename ReductionOf<config.split, storing_warps>::Type;

  // As many stages as fit beside the staging buffers and the barriers.
  static constexpr unsigned storing_groups = roles.epilogue.played() ? 1 : roles.groups;
  static constexpr unsigned buffer_bytes = std::is_empty_v<typename Store::Buffers>
                                               ? 0
                                               : storing_groups * sizeof(typename Store::Buffers);
  static constexpr unsigned source_bytes =
      Sources::has_role ? storing_groups * sizeof(typename Sources::Storage) : 0;
  static constexpr unsigned part_bytes =
      config.split == Split::Cluster ? unsigned{sizeof(typename Reduction::Storage)} : 0;
  static constexpr unsigned stages =
      (Arch::shared_bytes - buffer_bytes - source_bytes - part_bytes - 1024) /
      sizeof(typename Payload::Tiles);
  static_assert(stages >= 2, "Fewer than two stages fit: the tile is too large.");
  static_assert(Loader::stages_held < stages,
                "A ring with fewer stages than are held would never let go of one.");
  static_assert(config.stagger * (roles.groups - 1) < stages,
                "A group that starts this late would wait for a stage that cannot be filled yet.");
  using Ring =
      tw::Ring<Payload, stages, typename Arch::Signal, config.tiling.cluster, config.tiling.group>;

  using Order = std::conditional_t<config.sweep == TileSweep::Hilbert, HilbertOrder, GroupedOrder>;
  using Map = std::conditional_t<
      config.split == Split::Whole, WholeTiles<config.tiling.cluster, Order>,
      std::conditional_t<config.split == Split::Parts, SplitTiles<config.tiling.cluster, Order>,
                         std::conditional_t<config.split == Split::Cluster,
                                            ClusterSplitTiles<config.tiling.cluster, Order>,
                                            StreamTiles<config.tiling.cluster, Order>>>>;
  template <Scheduling scheduling, class Page, class Tiles>
  struct ScheduleOf {
    using Type = StaticPersistent<config.tiling.cluster, Tiles>;
  };
  template <class Page, class Tiles>
  struct ScheduleOf<Scheduling::Dynamic, Page, Tiles> {
    using Type = typename Page::template Tickets<config.tiling.cluster, Tiles, roles>;
  };
  using Schedule = typename ScheduleOf<config.scheduling, Arch, Map>::Type;

  static constexpr unsigned group_row(unsigned group) {
    return config.consumers == Consumers::Cooperative ? group * config.group_rows() : 0;
  }
  static TW_DEVICE Place place(const WorkTile& tile, unsigned group) {
    return {tile.batch, tile.first_row(config.tiling.m) + static_cast<int>(group_row(group)),
            tile.first_column(config.tiling.n), tile.m_end};
  }
};

template <class Arch, class Named>
using MatmulKernel = kernel::WarpSpecialized<Matmul<Arch, Named>>;

}  // namespace tw
