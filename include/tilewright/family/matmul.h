// Matmul: D (m by n) = alpha A (m by k) B (n by k)^T + beta C + bias, bf16 with float32 sums.
#pragma once

#include "tilewright/arch/sm90.h"
#include "tilewright/base/require.h"
#include "tilewright/epilogue/fragment_loop.h"
#include "tilewright/epilogue/runtime.h"
#include "tilewright/io/tma_loader.h"
#include "tilewright/kernel/warp_specialized.h"
#include "tilewright/op/wgmma.h"
#include "tilewright/pipeline/ring.h"
#include "tilewright/schedule/static_persistent.h"

namespace tw {

enum class Tracing : unsigned { Off, On };

struct MatmulConfig {
  unsigned tile_m = 128;
  unsigned tile_n = 256;
  unsigned tile_k = 64;
  ClusterShape cluster = {2, 1};
  Consumers consumers = Consumers::Cooperative;
  unsigned multiply_groups = 2;
  // Stages by which each cooperative group starts behind the one before it.
  unsigned stagger = 0;
  Tracing tracing = Tracing::Off;

  constexpr unsigned groups_per_tile() const {
    return consumers == Consumers::Cooperative ? multiply_groups : 1;
  }
  constexpr unsigned group_rows() const { return tile_m / groups_per_tile(); }

  consteval MatmulConfig checked() const {
    require(tile_k == 64, "tile_k must be 64: one swizzle span of bf16.");
    require(tile_m % (64 * groups_per_tile()) == 0,
            "tile_m must be a multiple of 64 rows for each warpgroup that shares the tile.");
    require(tile_n % 64 == 0 && tile_n <= 256, "tile_n must be a multiple of 64 up to 256.");
    require(group_rows() * tile_n <= 64 * 256,
            "A warpgroup's share of the tile must fit 128 accumulators a thread: 64 by 256.");
    require(stagger == 0 || consumers == Consumers::Cooperative,
            "stagger is for cooperative groups; ping-pong groups take turns.");
    require(cluster.size() <= Sm90::max_cluster, "A cluster has at most 8 CTAs.");
    return *this;
  }
};
static_assert(std::has_unique_object_representations_v<MatmulConfig>);

template <MatmulConfig config>
struct MatmulPayload {
  struct Tiles {
    alignas(1024) Bf16 a[config.tile_m * config.tile_k];  // (m,k) 128-byte swizzle
    alignas(1024) Bf16 b[config.tile_n * config.tile_k];  // (n,k) 128-byte swizzle
  };
  static constexpr Part parts[2] = {
      {sizeof(Tiles::a), Completion::TransactionBytes, 1, config.groups_per_tile()},
      {sizeof(Tiles::b), Completion::TransactionBytes, 1, config.groups_per_tile()},
  };
};

// Binds matmul to Hopper. `Named` carries the configuration: nvcc cannot spell it as a value.
template <class Named>
struct MatmulSm90 {
  static constexpr MatmulConfig config = Named::config.checked();
  using Payload = MatmulPayload<config>;
  using Tiles = typename Payload::Tiles;
  static constexpr RoleTable roles = Sm90::roles(config.multiply_groups, config.consumers);
  static_assert(roles.registers() <= Sm90::registers,
                "The roles ask for more registers than an SM has.");

  using Trace = std::conditional_t<config.tracing == Tracing::On, EventTrace, NoTrace>;
  using Epilogue = FragmentLoop<RuntimeEpilogue, Trace>;
  // As many stages as fit beside the staging buffers and the barriers.
  static constexpr unsigned stages =
      (Sm90::shared_bytes - config.multiply_groups * sizeof(typename Epilogue::Output::Buffers) -
       1024) /
      sizeof(Tiles);
  static_assert(stages >= 2, "Fewer than two stages fit: the tile is too large.");
  static_assert(config.stagger * (config.multiply_groups - 1) < stages,
                "A group that starts this late would wait for a stage that cannot be filled yet.");

  using Ring = tw::Ring<Payload, stages, config.cluster>;
  using Loader = TmaLoader<config.tile_m, config.tile_n, config.tile_k, config.cluster>;
  using Op = WgmmaOp<config.group_rows(), config.tile_n, config.tile_k, sizeof(Tiles)>;
  using Schedule = StaticPersistent<config.cluster>;

  static constexpr unsigned group_row(unsigned group) {
    return config.consumers == Consumers::Cooperative ? group * config.group_rows() : 0;
  }
  static TW_DEVICE Op op(const Tiles& first, unsigned group) {
    return Op(isa::shared_address(first.a) + group_row(group) * config.tile_k * 2,
              isa::shared_address(first.b));
  }
  static TW_DEVICE int row(const WorkTile& tile, unsigned group) {
    return tile.m * static_cast<int>(config.tile_m) + static_cast<int>(group_row(group));
  }
  static TW_DEVICE int column(const WorkTile& tile) {
    return tile.n * static_cast<int>(config.tile_n);
  }
};

template <class Named>
using MatmulKernelSm90 = kernel::WarpSpecialized<MatmulSm90<Named>>;

}  // namespace tw
