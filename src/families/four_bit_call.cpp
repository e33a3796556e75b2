// Activations by weights of four bits, behind the functions of tilewright.h.
#include <algorithm>
#include <cmath>
#include <string_view>

#include "src/dispatch/choose_launch.h"
#include "src/library/described.h"
#include "tilewright/family/four_bit/launch.h"

namespace tw {

std::span<const Instance> four_bit_instances();

namespace library {
namespace {

// Prices in microseconds of an SM, fitted to launches amid foreign kernels on an H200
// (bench/results/2026-11-18-four-bit-h200.md).
struct FourBitProducts : DescribedProducts<four_bit_instances> {
  static constexpr bool only_in_parts = true;
  // Only the device knows the groups: they are priced as if all that may have rows had as many.
  static MatmulProblem priced(const Instance&, const KernelProblem& problem) {
    MatmulProblem product = problem.product;
    if (FourBitFamily::in_groups(problem.checked.as<tw_four_bit_problem>())) {
      product.batch = std::min(product.batch, product.n);
      product.n = (product.n + product.batch - 1) / std::max<std::int64_t>(product.batch, 1);
    }
    return product;
  }
  // The product is the kernel's: rows are features, columns are tokens.
  static double microseconds(const PricedLaunch& launch) {
    const FourBitFacts& facts = *static_cast<const FourBitFacts*>(launch.instance.facts);
    const MatmulProblem& product = launch.product;
    const Machine& machine = launch.machine;
    const MatmulConfig& config = facts.product.config;
    const Tiling& tiling = config.tiling;
    // Nobody measured kernels whose threads unpack: they are for what no other takes.
    if (tiling.swap_ab == 0) return 10 * launch.microseconds(Situation::Following);
    const auto count = [](std::int64_t extent, unsigned tile) {
      return static_cast<double>((extent + tile - 1) / tile);
    };
    const double parts = std::max(launch.order.split_k, 1) * tiling.cluster.k;
    const double k = count(product.k, PackedWeights::k) * PackedWeights::k / parts;
    const double tiles = count(product.m, tiling.m * tiling.cluster.m) *
                         count(product.n, tiling.n) * static_cast<double>(product.batch);
    const double ctas = tiles * tiling.cluster.m * parts;
    // Clusters of four find no place on some SMs.
    const double rounds = std::ceil(ctas / (machine.sms * (tiling.cluster.m > 2 ? 0.9 : 1.0)));
    const double weights = tiling.m * k;
    const bool for_bytes = facts.weights.is_for_bytes();
    if (facts.in_groups) {
      // Measured with 8 and 128 experts: conversions and products take turns.
      const double group = config.multiply_groups == 1   ? 1.25
                           : config.multiply_groups == 2 ? 1
                                                         : 0.95;
      const double weight = for_bytes ? 10e-6 + 0.13e-6 * tiling.n : 16e-6 + 0.25e-6 * tiling.n;
      // Rows that lie as they are come by TMA.
      const double gathers = facts.gathers ? 1.05 : 1;
      return gathers * (4 + rounds * (weights * weight * group + 1.5));
    }
    const double bytes =
        weights * facts.weights.block_bytes() / (PackedWeights::rows * PackedWeights::k);
    const double loads = bytes / (machine.bytes_per_us / machine.sms * 0.85);
    // An SM does this for one of k: rows are converted, columns copied and multiplied. A group that
    // is alone waits for its own products.
    const bool along_k = config.consumers == Consumers::AlongK;
    const double column = (tiling.n <= 32 ? 12.5e-6 : 18e-6) * (tiling.cluster.m > 1 ? 0.8 : 1.0);
    const double alone = config.multiply_groups == 1 ? 1.15 : 1.0;
    const double works =
        for_bytes
            ? k * alone * (120e-6 + 9.2e-6 * tiling.m + (tiling.n <= 32 ? 8e-6 : 15e-6) * tiling.n)
            : k * alone * (170e-6 + 15.4e-6 * tiling.m + column * tiling.n);
    const double promotes = facts.is_scaled ? 1.4 : 1;           // partial sums join the sums
    const double ends = along_k ? 0.1 : 0.4 + 0.013 * tiling.n;  // what a tile's end takes
    const double joins = parts == 1 ? 0 : (along_k ? 1.0 : 1.5) + 0.5 * rounds;
    return (along_k ? 2.8 : 3.1) + rounds * (std::max(loads, promotes * works) + ends) + joins;
  }
};

// Where another family serves a checkpoint's weights, the refusal names it.
Status choose_four_bit(LaunchChoice& choice, const Checked& problem, const DispatchRequest& request,
                       std::vector<LaunchRejection>* rejections) {
  Status chosen = choose_launch<FourBitProducts>(choice, problem, request, rejections);
  const bool is_named = request.instance != nullptr;
  if (chosen.is_good() || is_named || request.target != std::string_view(target::sm100a.name)) {
    return chosen;
  }
  const int format = problem.as<tw_four_bit_problem>().format;
  if (format != TW_MXFP4 && format != TW_NVFP4) {
    return Status::refused(
        sentence("No compiled kernel multiplies by packed weights on sm100a, and none there "
                 "multiplies by {} at all.",
                 FourBitFamily::format_words[format]));
  }
  return Status::refused(
      "No compiled kernel multiplies by packed weights on sm100a: products with block scales take "
      "MXFP4 and NVFP4 there as they lie in a checkpoint, by activations quantised in blocks.");
}

constexpr Family four_bit = {&FourBitFamily::description,
                             four_bit_instances,
                             {launches_of<FourBitProducts>, choose_four_bit}};
const Registered registered_four_bit(four_bit);

}  // namespace
}  // namespace library

}  // namespace tw
