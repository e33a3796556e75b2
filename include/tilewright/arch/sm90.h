// Hopper, sm_90a: TMA loads with multicast, wgmma into registers, TMA stores.
#pragma once

#include "tilewright/arch/target.h"
#include "tilewright/epilogue/direct_store.h"
#include "tilewright/epilogue/source_supply.h"
#include "tilewright/epilogue/staged_store.h"
#include "tilewright/epilogue/transposed_store.h"
#include "tilewright/io/shifted_copy.h"
#include "tilewright/io/weights_first.h"
#include "tilewright/kernel/left_out.h"
#include "tilewright/kernel/roles.h"
#include "tilewright/op/wgmma.h"
#include "tilewright/pipeline/mbarrier.h"
#include "tilewright/pipeline/turns.h"
#include "tilewright/schedule/cluster_reduction.h"
#include "tilewright/schedule/dynamic.h"
#include "tilewright/schedule/group_reduction.h"

namespace tw {

struct Sm90 {
  static constexpr TargetFacts target = target::sm90a;
  static constexpr unsigned shared_bytes = 232448;  // per CTA, opted in; the host checks the device
  static constexpr unsigned registers = 65536;
  static constexpr unsigned max_cluster = 8;
  static constexpr bool in_clusters = true;

  using Signal = Mbarriers;
  template <Tiling tiling, RoleTable>
  using Loader =
      std::conditional_t<tiling.weights_first != 0, WeightsFirst<tiling>, TmaLoader<tiling>>;
  template <auto config, Tiling tiling, unsigned stage_bytes>
  using Op = WgmmaOp<tiling, config.group_rows(), stage_bytes, config.promote_every>;
  template <auto config, class Op, class Trace>
  using Accumulators = RegisterAccumulators<typename Op::Accumulator>;
  // Rows of D are staged by 128 or 64 bytes and stored by TMA; tiles of few columns by threads.
  template <auto config, class Trace>
  using Store = std::conditional_t<
      config.tiling.swap_ab != 0, TransposedStore<config.d_type, config.tiling.n, Trace>,
      std::conditional_t<
          config.tiling.n % (128 / bytes_of(config.d_type)) == 0 &&
              config.tiling.n / (128 / bytes_of(config.d_type)) >= config.finishers,
          StagedStore<config.d_type, 64, Trace, 128, config.output_buffers>,
          std::conditional_t<config.tiling.n % 32 == 0 && bytes_of(config.d_type) == 2,
                             StagedStore<config.d_type, 64, Trace, 64, config.output_buffers>,
                             DirectStore<config.d_type, Trace, 16>>>>;
  template <ElementType type, unsigned rows, unsigned row_bytes, unsigned chunks,
            unsigned row_chunks, unsigned reading_warps, unsigned staged>
  using StagedSources =
      tw::StagedSources<type, rows, row_bytes, chunks, row_chunks, reading_warps, staged>;
  template <ClusterShape cluster, unsigned group_warps, unsigned warps, unsigned values,
            unsigned row_values>
  using ClusterReduction = tw::ClusterReduction<cluster, group_warps, warps, values, row_values>;
  template <unsigned groups, unsigned warps, unsigned values, class Next>
  using GroupReduction = tw::GroupReduction<groups, warps, values, Next>;
  template <unsigned groups, unsigned group_warps>
  using Turns = tw::Turns<groups, group_warps>;
  template <ClusterShape cluster, class Map, RoleTable roles>
  using Tickets = Dynamic<cluster, Map, AtomicTickets, roles.listening_warps()>;

  // The helpers share a warpgroup, which keeps the least that setmaxnreg allows.
  template <class Config>
  static consteval RoleTable roles(const Config& config) {
    require(config.tiling.m % (64 * config.groups_per_tile()) == 0,
            "The tile's m must be a multiple of 64 rows for each warpgroup that shares the tile.");
    require(config.tiling.n % (config.tiling.swap_ab != 0 ? 8 : 16) == 0 && config.tiling.n <= 256,
            "The tile's n must be a multiple of 16 up to 256; of 8 with swap_ab.");
    require(
        config.group_rows() * config.tiling.n * (config.promote_every == 0 ? 1 : 2) <=
            64 * (config.plain_epilogue != 0 ? 384 : 320),
        "A warpgroup's share of the tile must fit 160 accumulators a thread, 64 by 320; 192 with "
        "a plain epilogue.");
    require(
        config.multiply_groups <= 2 ||
            (config.multiply_groups == 3 && config.group_rows() * config.tiling.n <= 64 * 160) ||
            (config.multiply_groups == 4 && config.group_rows() * config.tiling.n <= 64 * 32),
        "At most three warpgroups multiply, or four; three have 160 registers a thread, of which "
        "80 hold sums, four have 112 and 16.");
    require(config.tiling.cluster.size() <= max_cluster, "A cluster has at most 8 CTAs.");
    require(config.tiling.group == 1, "Pairs of CTAs that multiply as one need sm_100a.");
    // A Hilbert curve is more than 24 registers can follow.
    const unsigned helping = config.sweep == decltype(config.sweep){} ? 24 : 40;
    const bool asks = config.scheduling != decltype(config.scheduling){};
    // Three groups get by with 160 registers a thread where two have 240, and four with 112.
    const unsigned multiplying = config.multiply_groups == 4   ? 112
                                 : config.multiply_groups == 3 ? 160
                                 : helping == 24               ? 240
                                                               : 232;
    return RoleTable{.load = {0, 1, helping},
                     .schedule = {1, asks ? 1u : 0u, helping},
                     .source = {2, config.c_stages != 0 ? 1u : 0u, helping},
                     .multiply = {4, 4 * config.multiply_groups, multiplying},
                     .groups = config.multiply_groups,
                     .consumers = config.consumers}
        .checked();
  }
};

// The same with operands of two bytes that threads copy through registers, for rows of any
// alignment: wgmma reads them through the async proxy all the same.
struct Sm90Plain : Sm90 {
  template <Tiling tiling, RoleTable roles>
  using Loader = ThreadLoader<tiling, ShiftedCopy, roles.load.warps, Completion::WarpsArriveFenced>;
  template <class Config>
  static consteval RoleTable roles(const Config& config) {
    require(config.tiling.cluster.size() == 1, "What threads copy is not sent to other CTAs.");
    RoleTable table = Sm90::roles(config);
    require(!table.schedule.played() && !table.source.played(),
            "Where threads copy, nobody asks for work or brings sources.");
    // Bytes on their way to an SM are what eight warps hold in registers.
    const bool is_alone = config.multiply_groups == 1;
    table.load = {0, 8, is_alone ? 136u : 96u};
    table.multiply = {8, table.multiply.warps, is_alone ? 224u : 152u};
    return table.checked();
  }
};

// The same where threads copy what is soon copied again: shared memory and the L1 are one memory,
// of which the L1 gets a third.
struct Sm90Cached : Sm90 {
  // An SM's 256 KB less an L1 of 92, and less 1 KB that every CTA is charged.
  static constexpr unsigned shared_bytes = 163 * 1024;
};

}  // namespace tw
