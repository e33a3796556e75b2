// Matmul: D = epilogue(A B^T) for each matrix of a batch; A is m by k, B is n by k. Its recipe is
// the one that others change.
#pragma once

#include "tilewright/bind/kernel.h"
#include "tilewright/epilogue/runtime.h"
#include "tilewright/io/stage.h"
#include "tilewright/number/scale_type.h"

namespace tw {

// Nothing beside A and B.
struct NoScales {
  struct Tile {};
  template <unsigned stage_bytes = 0>
  struct Tensors {
    TW_DEVICE explicit Tensors(SharedAddress) {}
  };
  struct Params {};
  static constexpr Completion completion = Completion::WarpsArrive;
  static constexpr unsigned arrivals = 0;
  static constexpr unsigned row_step = 1;
  static constexpr unsigned column_step = 1;  // tiles begin at multiples of it
};

// One stage: the tiles of A and B, and their scales (which may be none).
template <Tiling tiling, class Scales>
struct MatmulTiles : OperandTiles<tiling>, Scales::Tile {};

// The same as tensors: of one stage, or of a ring.
template <Tiling tiling, class Scales, unsigned stage_bytes = 0>
struct MatmulTensors : OperandTensors<tiling, stage_bytes>, Scales::template Tensors<stage_bytes> {
  TW_DEVICE explicit MatmulTensors(SharedAddress first_stage)
      : OperandTensors<tiling, stage_bytes>(first_stage),
        Scales::template Tensors<stage_bytes>(first_stage +
                                              unsigned{sizeof(OperandTiles<tiling>)}) {}
};

// A and B are read by the role that multiplies, scales by the one that adds up.
template <Tiling tiling, class Loader, class Scales, RoleArrivals reads, RoleArrivals adds>
struct MatmulPayload {
  static constexpr Space space = Space::Shared;
  static constexpr const char* name = "input";
  static constexpr const char* full_name = "input.full";
  static constexpr const char* empty_name = "input.empty";
  using Tiles = MatmulTiles<tiling, Scales>;
  using StageTensors = MatmulTensors<tiling, Scales>;
  using RingTensors = MatmulTensors<tiling, Scales, unsigned{sizeof(Tiles)}>;
  static constexpr RoleArrivals loads = {Role::Load, Loader::arrivals};
  static constexpr Part parts[3] = {
      {tiling.a_bytes() / tiling.m * tiling.a_rows(), Loader::completion, loads, {reads}},
      {sizeof(OperandTiles<tiling>::b), Loader::completion, loads, {reads}},
      {sizeof(typename Scales::Tile),
       Scales::completion,
       {Role::LoadScales, Scales::arrivals},
       {Scales::arrivals > 0 ? adds : RoleArrivals{}}},
  };
};

// The tensor core, waves, or threads that convert elements of any type multiply these by their
// block scales.
enum class BlockScaling { None, InTensorCores, InWaves, Converted };

struct MatmulRecipe {
  // Launches ask for these.
  static constexpr unsigned b_scale_rows = 0;  // rows of B that share a scale of 128 of k; 0: none
  static constexpr bool takes_exponents = false;  // scales of 128 of k must be powers of two
  static constexpr BlockScaling block_scaling = BlockScaling::None;
  static constexpr ScaleType block_scale_type = ScaleType::Ue8m0;
  static constexpr bool quantises_d = false;  // with block scales of its own
  // Shared memory of rings that the program has beside its stages.
  template <class Scales>
  static constexpr unsigned beside_bytes() {
    return 0;
  }

  // The configuration that the target's roles and TileOp see.
  static constexpr MatmulConfig asked(const MatmulConfig& config) { return config; }
  static consteval RoleTable roles(const RoleTable& table, const MatmulConfig&) { return table; }
  template <class Target, Tiling tiling, RoleTable table>
  using Loader = typename Target::template Loader<tiling, table>;
  template <Tiling, RoleTable>
  using Scales = NoScales;
  template <Tiling tiling, class Scales>
  using Stage = MatmulTiles<tiling, Scales>;
  template <Tiling tiling, class Loader, class Scales, RoleArrivals reads, RoleArrivals adds>
  using Payload = MatmulPayload<tiling, Loader, Scales, reads, adds>;
  template <class TargetOp, Tiling, unsigned stage_bytes>
  using Op = TargetOp;
  template <MatmulConfig, class TargetStore>
  using Store = TargetStore;
  template <MatmulConfig config, bool elected>  // whether one thread loads
  using Epilogue = std::conditional_t<config.plain_epilogue != 0, PlainEpilogue, RuntimeEpilogue>;
  template <MatmulConfig, Tiling, class TileMap>
  using Map = TileMap;
  template <class Kernel>
  using Program = kernel::OneProduct<Kernel>;
};

template <class Target, class Named>
using Matmul = Kernel<Target, MatmulRecipe, Named>;

template <class Target, class Named>
using MatmulKernel = kernel::WarpSpecialized<Matmul<Target, Named>>;

}  // namespace tw
