// Blackwell, sm_100a: TMA loads with multicast, tcgen05 into tensor memory by one thread of a CTA
// or of a pair, an epilogue of its own, work handed out by the launcher.
#pragma once

#include "tilewright/arch/target.h"
#include "tilewright/epilogue/source_supply.h"
#include "tilewright/epilogue/staged_store.h"
#include "tilewright/epilogue/transposed_rows.h"
#include "tilewright/io/thread_loader.h"
#include "tilewright/io/weights_first.h"
#include "tilewright/kernel/roles.h"
#include "tilewright/op/tcgen05.h"
#include "tilewright/pipeline/mbarrier.h"
#include "tilewright/pipeline/tensor_accumulators.h"
#include "tilewright/schedule/cluster_reduction.h"
#include "tilewright/schedule/dynamic.h"
#include "tilewright/schedule/last_finish.h"

namespace tw {

struct Sm100 {
  static constexpr TargetFacts target = target::sm100a;
  static constexpr unsigned shared_bytes = 232448;  // per CTA, opted in; the host checks the device
  static constexpr unsigned registers = 65536;
  static constexpr unsigned max_cluster = 8;
  static constexpr bool in_clusters = true;

  using Signal = Mbarriers;
  template <Tiling tiling, RoleTable>
  using Loader =
      std::conditional_t<tiling.weights_first != 0, WeightsFirst<tiling>, TmaLoader<tiling>>;
  template <auto config, Tiling tiling, unsigned stage_bytes>
  using Op = Tcgen05Op<tiling, stage_bytes>;
  template <auto config, class Op, class Trace>
  using Accumulators =
      TensorAccumulators<config.tiling.n,
                         std::conditional_t<is_integer(config.tiling.a_type), int, float>, 2,
                         config.tiling.group, Trace, static_cast<int>(config.promote_every)>;
  // Rows of D are staged by 128 bytes, or by 64 where these are no whole part of a tile's row.
  template <auto config, class Trace>
  using Store = std::conditional_t<
      config.tiling.swap_ab != 0, TransposedRows<config.d_type, config.tiling.n, Trace>,
      StagedStore<config.d_type, 128, Trace,
                  config.tiling.n % (128 / bytes_of(config.d_type)) == 0 ? 128 : 64>>;
  template <ElementType type, unsigned rows, unsigned row_bytes, unsigned chunks,
            unsigned row_chunks, unsigned reading_warps, unsigned staged>
  using StagedSources =
      tw::StagedSources<type, rows, row_bytes, chunks, row_chunks, reading_warps, staged>;
  template <ClusterShape cluster, unsigned group_warps, unsigned warps, unsigned values,
            unsigned row_values>
  using ClusterReduction = tw::ClusterReduction<cluster, group_warps, warps, values, row_values>;
  template <unsigned warps, unsigned values, unsigned lanes>
  using LastFinish = tw::LastFinish<warps, values, lanes>;
  template <ClusterShape cluster, class Map, RoleTable roles>
  using Tickets = Dynamic<cluster, Map, LaunchControl, roles.listening_warps()>;

  // The epilogue comes first: its warps reach the lanes of their place in a warpgroup.
  template <class Config>
  static consteval RoleTable roles(const Config& config) {
    require(config.tiling.m == 128, "The tile's m must be 128: the lanes of tensor memory.");
    require(config.tiling.n % 32 == 0 && config.tiling.n <= 256,
            "The tile's n must be a multiple of 32 up to 256.");
    require(
        config.tiling.n % (64 / bytes_of(config.d_type)) == 0,
        "Rows of D are stored by 64 bytes: the tile's n must be a multiple of as many columns.");
    require(config.tiling.cluster.size() <= max_cluster, "A cluster has at most 8 CTAs.");
    require(config.tiling.group == 1 || (config.tiling.group == 2 && config.tiling.cluster.m == 2),
            "A pair of CTAs stands along m: the cluster must be two high.");
    require(config.tiling.group == 1 || config.tiling.cluster.k == 1,
            "A pair of CTAs commits to its whole cluster, which must not have parts along k.");
    require(config.multiply_groups == 1, "One thread multiplies on sm_100a.");
    require(config.promote_every == 0 || config.tiling.n <= 128,
            "A promoted row must fit the registers of a thread: n up to 128.");
    const bool asks = config.scheduling != decltype(config.scheduling){};
    return RoleTable{.load = {4, 1},
                     .schedule = {6, asks ? 1u : 0u},
                     .source = {7, config.c_stages != 0 ? 1u : 0u},
                     .multiply = {5, 1},
                     .epilogue = {0, 4}}
        .checked();
  }
};

// The same with two sums that share a chunk of columns: of 256 columns each, 64 are left in tensor
// memory.
struct Sm100Overlapped : Sm100 {
  template <auto config, class Op, class Trace>
  using Accumulators =
      TensorAccumulators<config.tiling.n,
                         std::conditional_t<is_integer(config.tiling.a_type), int, float>, 2,
                         config.tiling.group, Trace, static_cast<int>(config.promote_every),
                         128 / bytes_of(config.d_type)>;

  template <class Config>
  static consteval RoleTable roles(const Config& config) {
    require(config.tiling.n > 128 / bytes_of(config.d_type),
            "Sums that overlap must have more columns than a chunk of the output.");
    require(config.c_stages == 0,
            "A source comes chunk by chunk from left to right; sums that overlap are read in turns "
            "from the left and from the right.");
    return Sm100::roles(config);
  }
};

// The same for a pair of CTAs whose partial sums are promoted: two warpgroups read a sum, half of
// its columns each, which fit the registers of their threads. The other warps have few registers.
struct Sm100Promoting : Sm100 {
  static constexpr unsigned column_groups = 2;
  template <auto config, class Op, class Trace>
  using Accumulators = TensorAccumulators<config.tiling.n, float, 2, config.tiling.group, Trace,
                                          static_cast<int>(config.promote_every), 0, column_groups>;
  // Two groups have two buffers each: of 64 bytes a row, so that stages keep their room.
  template <auto config, class Trace>
  using Store = StagedStore<config.d_type, 128, Trace, 64>;

  template <class Config>
  static consteval RoleTable roles(const Config& config) {
    require(config.tiling.group == 2 && config.tiling.n == 256,
            "Two warpgroups that promote sums are for a pair's tiles of 256 columns.");
    require(!is_integer(config.tiling.a_type) && config.tiling.swap_ab == 0,
            "Sums that are promoted are of numbers, and their rows are D's.");
    require(config.c_stages == 0 && config.split == decltype(config.split){},
            "Sums that are promoted are whole, and no role brings C.");
    require(config.scheduling != decltype(config.scheduling){},
            "A role asks for work: warps that share registers fill warpgroups.");
    RoleTable table = Sm100::roles(config);
    table.epilogue = {0, 8, 224};
    table.load = {8, 1, 56};
    table.multiply = {9, 1};
    table.schedule = {10, 1};
    return table;
  }
};

// The same with operands that threads copy through registers: any layout of any type, at any
// alignment.
struct Sm100Plain : Sm100 {
  template <Tiling tiling, RoleTable roles>
  using Loader = ThreadLoader<tiling, PlainCopy, roles.load.warps, Completion::WarpsArriveFenced>;
  template <class Config>
  static consteval RoleTable roles(const Config& config) {
    require(config.tiling.cluster.size() == 1, "What threads copy is not sent to other CTAs.");
    RoleTable table = Sm100::roles(config);
    require(!table.schedule.played() && !table.source.played(),
            "Where threads copy, nobody asks for work or brings sources.");
    table.load = {table.warps(), 4};
    return table.checked();
  }
};

}  // namespace tw
