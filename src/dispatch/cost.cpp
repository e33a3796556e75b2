#include "src/dispatch/cost.h"

#include <algorithm>
#include <cmath>

namespace tw {

namespace {

// Fitted to 1,110 measurements of 48 shapes on an H200 (2026-11-15, bench/results): 7 % off in the
// mean, and the kernel it took was 1.7 % slower than the fastest. How far stores are hidden was
// changed afterwards, by reason, not by fit. Cycles, microseconds, bytes per microsecond.
constexpr double cycles_per_us = 1700;
constexpr double cycles_lost_when_hot = 255;  // of those, when a kernel runs for long
constexpr double product_cycles = 1.08;       // of a perfect tensor core's
constexpr double alone_factor = 0.87;         // where one warpgroup multiplies: rows to spare
constexpr double row_cycles = 1.52;           // a line of 128 bytes that TMA brings to an SM
constexpr double outside_row_cycles = 4.5;    // a line outside of the matrix, filled with zeros
constexpr double neighbour_factor = 1.37;     // where two SMs of a pair load side by side
constexpr double l2_bytes_per_us = 13.0e6;
constexpr double dram_bytes_per_us = 4.137e6;
constexpr double sharpness = 3.3;  // how little the limits add up
constexpr double start_us = 0.95;
constexpr double store_us = 2.16;  // a tile of 128 by 128
constexpr double cluster_parts_us = 1.1, cluster_part_us = 1.5;
constexpr double workspace_parts_us = 2.1, workspace_part_us = 1.9;
// Not measured in the same way: streams wait for each other, mma.sync multiplies at half the rate,
// plain copies go through registers.
constexpr double stream_us = 10, stream_share = 0.06;
constexpr double mma_sync_factor = 1.9;
constexpr double plain_copy_factor = 6;

double up(double value, double unit) { return std::ceil(value / unit); }

// CTAs that run at once: larger clusters leave SMs idle (30 of four on 132 SMs).
double running_ctas(unsigned cluster, unsigned sms) {
  const double share = cluster <= 2 ? 1.0 : 120.0 / 132.0;
  return std::max(1.0, std::floor(sms * share / cluster)) * cluster;
}

}  // namespace

double expected_microseconds(const KernelFacts& kernel, const MatmulProblem& problem,
                             const MatmulOrder& order, unsigned sms, double operand_bytes) {
  const MatmulConfig& config = kernel.config;
  const ClusterShape& cluster = config.cluster;
  const double m = static_cast<double>(problem.m), n = static_cast<double>(problem.n);
  const double k = static_cast<double>(problem.k), batch = static_cast<double>(problem.batch);
  const double element = bytes_of(config.a_type);

  const double tiles_m = up(m, config.tile_m * cluster.m) * cluster.m;
  const double tiles_n = up(n, config.tile_n * cluster.n) * cluster.n;
  double parts = cluster.k;
  if (config.split == Split::Parts) parts = order.split_k;
  const double work = tiles_m * tiles_n * batch * parts;
  const double stages = std::max(1.0, up(up(k, config.tiling().k()), parts));
  const double ctas = running_ctas(cluster.size(), sms);
  const double waves = config.split == Split::Stream ? std::max(1.0, work / ctas) : up(work, ctas);

  // Of one stage, for a CTA: products, and lines of 128 bytes.
  const double loaded = config.few_rows != 0 ? config.few_rows : config.tile_m;
  const double outside = std::max(0.0, loaded * tiles_m - m) / tiles_m;
  const double inside = loaded - outside;
  double products = config.tile_m * config.tile_n / 32.0 * product_cycles;
  if (config.groups_per_tile() == 1 && config.multiply_groups == 1) products *= alone_factor;
  double lines = (inside + config.tile_n) * row_cycles + outside * outside_row_cycles;
  if (std::min(work, ctas) > sms / 2.0) lines *= neighbour_factor;
  if (kernel.any_alignment) lines *= plain_copy_factor;
  if (kernel.target[2] == '8') products *= mma_sync_factor;
  const double cycles = waves * stages * config.spans * std::max(products, lines);
  const double hot = std::clamp((cycles - 2e5) / 3e5, 0.0, 1.0);
  const double multiplying = cycles / (cycles_per_us - cycles_lost_when_hot * hot);

  const double from_l2 = work * stages * config.spans * 128.0 *
                         (inside / cluster.n + config.tile_n / double(cluster.m)) / l2_bytes_per_us;
  if (operand_bytes == 0) operand_bytes = batch * element * (m * k + n * k);
  const double from_dram =
      (operand_bytes + batch * double(bytes_of(config.d_type)) * m * n) / dram_bytes_per_us;
  const double body = std::pow(std::pow(multiplying, sharpness) + std::pow(from_l2, sharpness) +
                                   std::pow(from_dram, sharpness),
                               1 / sharpness);

  const double size = config.tile_m * config.tile_n / 16384.0;
  const double groups = config.groups_per_tile() == 1 ? 1.0 : 0.6;  // share the storing
  // Stores of a tile are hidden behind the next tile's products where groups take turns and the
  // products last; else the less the shorter the sums are.
  const double storing_tile = store_us * size * groups;
  const double tile_us = cycles / waves / cycles_per_us;
  const double shown = config.consumers == Consumers::PingPong
                           ? std::max(0.1, 1 - tile_us / storing_tile)
                           : 0.3 + 0.7 * std::max(0.0, 1 - stages * config.spans / 32);
  const double storing = storing_tile * (1 + shown * (waves - 1));
  double joining = 0;
  if (config.split == Split::Cluster)
    joining = cluster_parts_us + cluster_part_us * size * (parts - 1);
  if (config.split == Split::Parts) {
    joining = workspace_parts_us + workspace_part_us * size * (parts - 1);
  }
  if (config.split == Split::Stream) joining = stream_us + stream_share * body;
  double expected = start_us + body + storing + joining;
  // A role that brings C ahead of the epilogue pays where there is one.
  const bool has_source = problem.epilogue.source != nullptr && problem.epilogue.beta != 0.0f;
  if (config.staged_source != 0) expected *= has_source ? 0.97 : 1.01;
  if (config.promote_every != 0) expected *= 1.2;
  return expected;
}

}  // namespace tw
