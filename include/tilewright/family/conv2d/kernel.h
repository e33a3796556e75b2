// Convolution: D[n,p,q,k] = epilogue(sum over r,s,c of A[n,h,w,c] * B[k,r,s,c]), NHWC and KRSC,
// with h = p * stride + r * dilation - pad, w alike. It is matmul with another loader: D is a
// matrix of n * p * q rows and k columns. Which operands are MN-major tells the direction: none,
// forward; B, backward data; both, backward filter.
#pragma once

#include "tilewright/bind/recipe.h"
#include "tilewright/bind/thread_recipe.h"
#include "tilewright/epilogue/begun.h"
#include "tilewright/family/conv2d/groups.h"
#include "tilewright/family/conv2d/im2col_copy.h"
#include "tilewright/family/conv2d/pixel_store.h"
#include "tilewright/isa/has_amdgcn.h"
#include "tilewright/isa/has_ptx.h"
#if TW_HAS_AMDGCN
#include "tilewright/family/conv2d/im2col_halves.h"
#endif
#if TW_HAS_PTX
#include "tilewright/bind/streamed.h"
#include "tilewright/family/conv2d/channels.h"
#include "tilewright/family/conv2d/depthwise.h"
#include "tilewright/family/conv2d/filter_blocks.h"
#include "tilewright/family/conv2d/im2col.h"
#include "tilewright/family/conv2d/im2col_lines.h"
#include "tilewright/family/conv2d/im2col_pieces.h"
#include "tilewright/family/conv2d/shared_groups.h"
#include "tilewright/pipeline/fenced_op.h"
#endif

namespace tw {

constexpr bool is_backward_data(const MatmulConfig& config) {
  return config.tiling.a_major == Major::K && config.tiling.b_major == Major::MN;
}

template <Tiling tiling, bool narrow>
class Im2colLoader;

// The rows of C that a group of threads reads itself: in forward kernels without a role for C.
constexpr unsigned rows_read(const MatmulConfig& config) {
  return config.c_stages != 0 || config.tiling.b_major != Major::K ? 0 : config.group_rows();
}

// `Seen`, or behind sums that begin at C what is left of it.
template <MatmulConfig config, class Seen>
using EpilogueBehind = std::conditional_t<config.initial_c != 0, BegunEpilogue<Seen>, Seen>;

// One recipe for the three directions, of a loader by TMA; its epilogue sees the whole output.
struct Conv2dRecipe : MatmulRecipe {
  template <class, Tiling tiling, RoleTable>
  using Loader = Im2colLoader<tiling, false>;

  // Backward data makes an image in phases, whose sums differ in length.
  static consteval RoleTable roles(const RoleTable& table, const MatmulConfig& config) {
    require(!is_backward_data(config) || config.split == Split::Whole,
            "Sums of phases differ in length.");
    return table;
  }
  template <MatmulConfig config, class TargetStore>
  using Store = std::conditional_t<is_backward_data(config), PixelStore<TargetStore>, TargetStore>;
  template <MatmulConfig config, bool elected>
  using Epilogue = EpilogueBehind<
      config, GroupedEpilogue<std::conditional_t<
                                  is_backward_data(config), PixelView,
                                  std::conditional_t<config.tiling.a_major == Major::MN && !elected,
                                                     GroupedRows, GroupedColumns>>,
                              elected ? rows_read(config) : 0>>;
  template <MatmulConfig config, Tiling tiling, class TileMap>
  using Map =
      std::conditional_t<is_backward_data(config), PhaseTiles<TileMap, int{tiling.k()}>, TileMap>;
};

// The same with im2col by four warps.
struct Conv2dByThreads : ThreadRecipe<Conv2dRecipe, Im2colCopyLoader> {};
struct Conv2dByWaves : ThreadRecipe<Conv2dRecipe, Im2colWaveLoader> {};

#if TW_HAS_AMDGCN
// The same by waves that take turns: straight to LDS, by halves as the target's own loader has
// them.
struct Conv2dByHalves : Conv2dRecipe {
  template <class Target, Tiling tiling, RoleTable table>
  using Loader =
      Im2colHalves<tiling, table.load.warps, Target::template Loader<tiling, table>::bytes,
                   Target::template Loader<tiling, table>::a_lines,
                   Target::template Loader<tiling, table>::b_lines>;
};
#endif

#if TW_HAS_PTX
// Forward with im2col in pieces, by eight warps: a copy takes its thread many instructions, each of
// which waits for the one before. Who multiplies fences.
struct Conv2dByPieces : ThreadRecipe<Conv2dRecipe, Im2colPieceLoader> {
  template <class, Tiling tiling, RoleTable table>
  using Loader = Im2colPieceLoader<tiling, table.load.warps, Completion::WarpsArrive>;
  template <class TargetOp, Tiling, unsigned>
  using Op = FencedOp<TargetOp>;
  // Beside eight warps that load, registers are too few to read C at once.
  template <MatmulConfig config, bool>
  using Epilogue = SharedGroupsEpilogue<config.tiling.a_type, 0>;

  static consteval RoleTable roles(const RoleTable& given, const MatmulConfig& config) {
    RoleTable table = ThreadRecipe<Conv2dRecipe, Im2colPieceLoader>::roles(given, config);
    table.load = {0, 8, 88};
    table.multiply.first_warp = 8;
    table.multiply.registers = 160;
    return table;
  }
};

// Forward groups that fill a k-tile together. TMA brings their channels, threads the blocks of
// their filters: two roles for a stage.
inline constexpr Role load_filters = "load filters";
template <Tiling tiling, class Loader, class Filters, RoleArrivals reads, RoleArrivals adds>
struct SharedGroupsPayload : MatmulPayload<tiling, Loader, Filters, reads, adds> {
  static constexpr Part parts[2] = {
      {tiling.a_bytes(), Loader::completion, {Role::Load, Loader::arrivals}, {reads}},
      {tiling.b_bytes(), Filters::completion, {load_filters, Filters::arrivals}, {reads}}};
};
template <class Kernel>
struct SharedGroupsProgram : kernel::OneProduct<Kernel> {
  using Base = kernel::OneProduct<Kernel>;
  template <unsigned>
  using Own = typename Base::template LoadsInto<load_filters, typename Base::Scales>;
};
struct Conv2dSharedGroups : Conv2dRecipe {
  template <class, Tiling tiling, RoleTable>
  using Loader = Im2colImageLoader<tiling>;
  template <Tiling tiling, RoleTable table>
  using Scales = FilterBlocks<tiling, table.own[0].spec.warps>;
  template <Tiling tiling, class Loader, class Filters, RoleArrivals reads, RoleArrivals adds>
  using Payload = SharedGroupsPayload<tiling, Loader, Filters, reads, adds>;
  template <class TargetOp, Tiling, unsigned>
  using Op = FencedOp<TargetOp>;
  template <MatmulConfig config, bool>
  using Epilogue = SharedGroupsEpilogue<config.tiling.a_type, rows_read(config)>;
  template <class Kernel>
  using Program = SharedGroupsProgram<Kernel>;

  static consteval RoleTable roles(const RoleTable& given, const MatmulConfig& config) {
    RoleTable table = Conv2dRecipe::roles(given, config);
    require(!table.schedule.played() && !table.source.played(),
            "The warps beside the one that loads bring filters.");
    table.own[0] = {load_filters, {4, 4}};
    table.load.registers = 72;
    table.multiply.first_warp = 8;
    table.multiply.registers = 168;
    return table;
  }
};

// Forward by TMA, of each position as many channels and products as there are.
struct Conv2dByChannels : Conv2dRecipe {
  template <class, Tiling tiling, RoleTable>
  using Loader = Im2colLoader<tiling, true>;
  template <Tiling tiling, class Loader, class Scales, RoleArrivals reads, RoleArrivals adds>
  using Payload = NarrowPayload<MatmulPayload<tiling, Loader, Scales, reads, adds>>;
  template <Tiling, RoleTable>
  using Scales = ChannelCounts;
  template <class TargetOp, Tiling tiling, unsigned>
  using Op = ChannelOp<TargetOp, products_of_k_tile<tiling>, 1>;
  template <class Kernel>
  using Program = ChannelProgram<Kernel>;

  static consteval RoleTable roles(const RoleTable& given, const MatmulConfig& config) {
    require(config.tiling.spans == 1 && config.tiling.b_major == Major::K &&
                config.split == Split::Whole && config.promote_every == 0,
            "Channels are counted in forward convolutions, from a sum's first k-tile on.");
    return Conv2dRecipe::roles(given, config);
  }
};

// Forward by TMA, each pixel once for a line of the filter. Rows of A, and so of the sums, count
// more pixels than there are outputs.
template <Tiling tiling, class Loader, class Scales, RoleArrivals reads, RoleArrivals adds>
struct LinePayload : MatmulPayload<tiling, Loader, Scales, reads, adds> {
  using Tiles = LineTiles<tiling>;
  using StageTensors = LineTensors<tiling>;
  using RingTensors = LineTensors<tiling, unsigned{sizeof(Tiles)}>;
  static constexpr RoleArrivals loads = {Role::Load, Loader::arrivals};
  static constexpr Part parts[2] = {{sizeof(Tiles::a), Loader::completion, loads, {reads}},
                                    {sizeof(Tiles::b), Loader::completion, loads, {reads}}};
};
struct Conv2dByLines : Conv2dRecipe {
  template <class, Tiling tiling, RoleTable>
  using Loader = Im2colLineLoader<tiling>;
  template <Tiling tiling, class>
  using Stage = LineTiles<tiling>;
  template <Tiling tiling, class Loader, class Scales, RoleArrivals reads, RoleArrivals adds>
  using Payload = LinePayload<tiling, Loader, Scales, reads, adds>;
  template <class TargetOp, Tiling tiling, unsigned stage_bytes>
  using Op = LineOp<TargetOp, tiling, stage_bytes>;
  template <MatmulConfig, class TargetStore>
  using Store = PixelStore<TargetStore, LineView>;
  template <MatmulConfig config, bool>
  using Epilogue = EpilogueBehind<config, GroupedEpilogue<LineView, rows_read(config)>>;
};

// Both.
struct Conv2dByLineChannels : Conv2dByLines {
  template <class, Tiling tiling, RoleTable>
  using Loader = Im2colLineLoader<tiling, true>;
  template <Tiling tiling, class Loader, class Scales, RoleArrivals reads, RoleArrivals adds>
  using Payload = NarrowPayload<LinePayload<tiling, Loader, Scales, reads, adds>>;
  template <Tiling, RoleTable>
  using Scales = ChannelCounts;
  template <class TargetOp, Tiling tiling, unsigned stage_bytes>
  using Op = ChannelOp<Conv2dByLines::Op<TargetOp, tiling, stage_bytes>, products_of_k_tile<tiling>,
                       line_positions>;
  template <class Kernel>
  using Program = ChannelProgram<Kernel>;

  static consteval RoleTable roles(const RoleTable& given, const MatmulConfig& config) {
    return Conv2dByChannels::roles(given, config);
  }
};

struct DepthwiseRecipe;

// A column of D sees one channel: there is nothing to multiply by tiles, so it streams.
template <TargetPage Page, class Named>
struct Kernel<Page, DepthwiseRecipe, Named> : Streamed<Page, Named> {
  static constexpr MatmulConfig config = Named::config;
  using Stream = DepthwiseStream<config.tiling.a_type, config.d_type>;
};
template <class Kernel>
concept DepthwiseKernel = requires {
  typename Kernel::Stream;
};

#endif

using Conv2dConfig = MatmulConfig;
template <class Page, class Recipe, class Named>
using Conv2d = Kernel<Page, Recipe, Named>;

}  // namespace tw
