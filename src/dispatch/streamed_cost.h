// The cost model of kernels that stream rows of B. It is a part of cost.cpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "src/dispatch/cost.h"

namespace tw {

inline double up(double value, double unit) { return std::ceil(value / unit); }

// Unsigned: nobody checks a pitch where nothing is read.
inline std::uint64_t pitch_bytes(const MatmulOperand& operand) {
  return static_cast<std::uint64_t>(operand.pitch) * bytes_of(operand.type);
}

// Rows of B that stream, by CTAs of which an SM holds 16 warps. A step of all warps takes as long
// as its loads, or where all SMs have as many CTAs as they hold, as memory takes for all of these.
inline double streamed_microseconds(const MatmulConfig& config, const MatmulProblem& problem,
                                    unsigned sms, const CostConstants& cost) {
  const Tiling& tiling = config.tiling;
  const auto is_aligned = [](const MatmulOperand& operand) {
    return pitch_bytes(operand) % 16 == 0;
  };
  const bool aligned = is_aligned(problem.a) && is_aligned(problem.b);
  const double warps = 4.0 * config.multiply_groups, slots = sms * 16 / warps;
  const double tiles = up(static_cast<double>(problem.m), tiling.m) *
                       up(static_cast<double>(problem.n), tiling.n) *
                       static_cast<double>(problem.batch);
  const double steps = up(static_cast<double>(problem.k), tiling.k() * warps);
  const double bytes = 128.0 * tiling.spans * tiling.m;  // what a warp's step reads
  // Rows of A come from the L2; many sums take registers from loads.
  const double all_bytes =
      (bytes + 64.0 * tiling.spans * std::min<double>(static_cast<double>(problem.n), tiling.n)) *
      (1 + tiling.m * tiling.n * cost.rows_sum_share);
  double alone = bytes * cost.shifted_byte_us;
  double crowded = slots * warps * bytes / cost.shifted_bytes_per_us;
  if (aligned) {
    alone = cost.rows_wait_us + bytes * cost.rows_byte_us;
    crowded = cost.rows_step_us + slots * warps * all_bytes / cost.rows_bytes_per_us;
    if (tiling.spans == 1) crowded *= cost.rows_narrow_factor;
  }
  const auto round = [&](double share) {
    return steps * (alone + (crowded - alone) * share) + cost.rows_tile_us;
  };
  const double rounds = std::floor(tiles / slots), left = tiles / slots - rounds;
  const double usual = cost.rows_us + rounds * round(1) + (left > 0 ? round(left) : 0);
  if (!problem.b_is_constant) return usual;
  // The first steps, or most of a small B, come before the grid before has ended.
  const double all = static_cast<double>(problem.batch) * static_cast<double>(problem.m) *
                     static_cast<double>(problem.k) * bytes_of(tiling.a_type);
  const bool all_early = all <= cost.rows_early_bytes && tiles > sms / 6.0;
  return usual - (all_early ? cost.rows_all_early_us : cost.rows_early_us);
}

}  // namespace tw
