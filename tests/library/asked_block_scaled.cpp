// block_scaled: its loader and blockwise name different things BlockScales.
#include "tests/library/asked_kernels.h"
#include "tilewright/arch/sm100_scaled.h"
#include "tilewright/family/block_scaled/launch.h"

namespace tw {

namespace {

struct BlockScaledNamed {
  static constexpr BlockScaledConfig config = {
      .tiling = {.n = 128, .a_type = ElementType::E4m3, .b_type = ElementType::E4m3},
      .multiply_groups = 1};
};

}  // namespace

std::span<const Instance> block_scaled_instances() {
  return tests::warp_specialized<
      BlockScaledLaunch,
      BlockScaled<Sm100Scaled, BlockScaledBy<ScaleType::Ue8m0>, BlockScaledNamed>>();
}

}  // namespace tw
