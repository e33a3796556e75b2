// Every family but matmul, whose stand-ins have checks of their own, and block_scaled.
#include "tests/library/asked_kernels.h"

#include "tilewright/arch/sm80.h"
#include "tilewright/arch/sm90.h"
#include "tilewright/family/attention/launch.h"
#include "tilewright/family/attention/sm90.h"
#include "tilewright/family/block_dequantise/launch.h"
#include "tilewright/family/block_quantise/launch.h"
#include "tilewright/family/blockwise/launch.h"
#include "tilewright/family/combine/launch.h"
#include "tilewright/family/conv2d/launch.h"
#include "tilewright/family/four_bit/launch.h"
#include "tilewright/family/grouped/launch.h"
#include "tilewright/family/pack_weights/launch.h"
#include "tilewright/family/quantise/launch.h"
#include "tilewright/family/requantised/launch.h"
#include "tilewright/family/rms_norm/launch.h"
#include "tilewright/family/rotary/launch.h"
#include "tilewright/family/route/launch.h"

namespace tw {

namespace {

constexpr Tiling fp8 = {.n = 128, .a_type = ElementType::E4m3, .b_type = ElementType::E4m3};
struct AttentionNamed {
  static constexpr AttentionConfig config = {.tiling = {.m = 128, .n = 128}};
};
struct BlockDequantiseNamed {
  static constexpr BlockDequantiseConfig config = {};
};
struct BlockQuantiseNamed {
  static constexpr BlockQuantiseConfig config = {.element_type = ElementType::E4m3,
                                                 .scale_type = ScaleType::Ue8m0};
};
struct BlockwiseNamed {
  static constexpr BlockwiseConfig config = {.tiling = fp8, .promote_every = 1};
};
struct CombineNamed {
  static constexpr CombineConfig config = {};
};
struct Conv2dNamed {
  static constexpr Conv2dConfig config = {.tiling = {.n = 128}, .c_stages = 2};
};
struct FourBitNamed {
  static constexpr FourBitConfig config = {.tiling = {.n = 16, .spans = 2, .swap_ab = 1}};
};
struct GroupedNamed {
  static constexpr GroupedConfig config = {.stagger = 2};
};
struct PackWeightsNamed {
  static constexpr PackWeightsConfig config = {};
};
struct QuantiseNamed {
  static constexpr QuantiseConfig config = {.scale_rows = 1};
};
struct RequantisedNamed {
  static constexpr RequantisedConfig config = {
      .tiling = fp8, .d_type = ElementType::E4m3, .promote_every = 1};
};
struct RmsNormNamed {
  static constexpr RmsNormConfig config = {};
};
struct RotaryNamed {
  static constexpr RotaryConfig config = {};
};
struct RouteNamed {
  static constexpr RouteConfig config = {};
};

}  // namespace

std::span<const Instance> attention_instances() {
  return tests::warp_specialized<AttentionLaunch, Attention<Sm90Attention, AttentionNamed>>();
}
std::span<const Instance> block_dequantise_instances() {
  return tests::streaming<BlockDequantiseLaunch, BlockDequantise<Sm80, BlockDequantiseNamed>>();
}
std::span<const Instance> block_quantise_instances() {
  return tests::streaming<BlockQuantiseLaunch, BlockQuantise<Sm80, BlockQuantiseNamed>>();
}
std::span<const Instance> blockwise_instances() {
  return tests::warp_specialized<BlockwiseLaunch, Blockwise<Sm90, ScaledBy<128>, BlockwiseNamed>>();
}
std::span<const Instance> combine_instances() {
  return tests::streaming<CombineLaunch, Combine<Sm80, CombineNamed>>();
}
std::span<const Instance> conv2d_instances() {
  return tests::warp_specialized<Conv2dLaunch, Conv2d<Sm90, Conv2dRecipe, Conv2dNamed>>();
}
std::span<const Instance> four_bit_instances() {
  return tests::warp_specialized<
      FourBitLaunch, FourBit<Sm90, FourBitBy<WeightFormat::Mxfp4, 32>, FourBitNamed>>();
}
std::span<const Instance> grouped_instances() {
  return tests::warp_specialized<GroupedLaunch, Grouped<Sm90, MatmulRecipe, GroupedNamed>>();
}
std::span<const Instance> pack_weights_instances() {
  return tests::streaming<PackWeightsLaunch, PackWeights<Sm80, PackWeightsNamed>>();
}
std::span<const Instance> quantise_instances() {
  return tests::streaming<QuantiseLaunch, Quantise<Sm90, QuantiseNamed>>();
}
std::span<const Instance> requantised_instances() {
  return tests::warp_specialized<RequantisedLaunch,
                                 Requantised<Sm90, ScaledBy<128>, RequantisedNamed>>();
}
std::span<const Instance> rms_norm_instances() {
  return tests::streaming<RmsNormLaunch, RmsNorm<Sm80, RmsNormNamed>>();
}
std::span<const Instance> rotary_instances() {
  return tests::streaming<RotaryLaunch, Rotary<Sm80, RotaryNamed>>();
}
std::span<const Instance> route_instances() {
  return tests::streaming<RouteLaunch, Route<Sm80, RouteNamed>>();
}

}  // namespace tw
