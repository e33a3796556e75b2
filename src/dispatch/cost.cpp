#include "src/dispatch/cost.h"

#include <algorithm>
#include <cmath>

#include "tilewright/host/exchange.h"

namespace tw {

namespace {

// Fitted to 2,633 measurements of 94 shapes on an H200 (2026-11-15, bench/results), each weighed by
// how near it is to its shape's fastest: the kernel it takes is 2 % slower than that in the mean.
// Cycles, microseconds, bytes per microsecond.
constexpr double cycles_per_us = 1700;
constexpr double cycles_lost_when_hot = 224;  // of those, when a kernel runs for long
constexpr double product_cycles = 1.075;      // of a perfect tensor core's
constexpr double alone_factor = 0.92;         // where one warpgroup multiplies: rows to spare
constexpr double turns_factor = 0.88;         // where groups take turns
constexpr double wide_factor = 1.03;          // and their tiles are wide
constexpr double row_cycles = 1.36;           // a line of 128 bytes that TMA brings to an SM
constexpr double received_share = 0.5;        // of that, for a line that another CTA sends
constexpr double straddling_factor = 2.5;     // of the rest, where rows begin amid lines
constexpr double pixel_factor = 1.4;          // where the lines are pixels of an image
constexpr double outside_row_cycles = 3.6;    // a line outside of the matrix, filled with zeros
constexpr double neighbour_factor = 1.64;     // where two SMs of a pair load side by side
constexpr double l2_bytes_per_us = 19.2e6;
constexpr double dram_bytes_per_us = 4.21e6;
constexpr double stage_sharpness = 4.8;  // how little products and lines of a stage add up
constexpr double sharpness = 2.9;        // and the limits of the whole
constexpr double start_us = 0.8;
constexpr double late_start_us = 1.0;  // where the grid before is not overlapped
constexpr double pair_us = 0.1, cluster_us = 0.34;
constexpr double last_store_us = 2.11, store_us = 2.3;  // a tile of 128 by 128
constexpr double cluster_parts_us = 1.28, cluster_part_us = 1.73;
constexpr double workspace_parts_us = 2.19, workspace_part_us = 1.88;
constexpr double stream_us = 8.1, stream_share = 0.053;
constexpr double ticket_factor = 1.02;
// Sums of a stage that are scaled and added up, by element, and what the stage waits for it: fitted
// to 36 shapes of blockwise FP8 on the H200, of which it takes the fastest kernel for 34.
constexpr double scaled_cycles = 0.002, scaled_stage_cycles = 250;
// Not measured in the same way: mma.sync multiplies at half the rate, plain copies go through
// registers.
constexpr double mma_sync_factor = 1.9;
constexpr double unpacked_factor = 2.5;  // 8-bit floats, which mma.sync takes as fp16
constexpr double plain_copy_factor = 6;

double up(double value, double unit) { return std::ceil(value / unit); }

// Of several limits, the largest, and a little of the others.
double together(double sharp, double a, double b, double c = 0) {
  return std::pow(std::pow(a, sharp) + std::pow(b, sharp) + std::pow(c, sharp), 1 / sharp);
}

// CTAs that run at once: larger clusters leave SMs idle (30 of four on 132 SMs).
double running_ctas(unsigned cluster, unsigned sms) {
  const double share = cluster <= 2 ? 1.0 : 120.0 / 132.0;
  return std::max(1.0, std::floor(sms * share / cluster)) * cluster;
}

}  // namespace

double expected_microseconds(const KernelFacts& kernel, const MatmulProblem& given,
                             const MatmulOrder& order, unsigned sms, double operand_bytes) {
  const MatmulConfig& config = kernel.config;
  const MatmulProblem problem = config.tiling.exchanged != 0 ? exchanged(given) : given;
  const ClusterShape& cluster = config.tiling.cluster;
  const double m = static_cast<double>(problem.m), n = static_cast<double>(problem.n);
  const double k = static_cast<double>(problem.k), batch = static_cast<double>(problem.batch);
  const double element = bytes_of(config.tiling.a_type);
  const bool of_image = operand_bytes != 0;
  if (!of_image) operand_bytes = batch * element * (m * k + n * k);
  const double from_dram =
      (operand_bytes + batch * double(bytes_of(config.d_type)) * m * n) / dram_bytes_per_us;
  if (kernel.streams) return start_us + late_start_us + from_dram;

  const double tiles_m = up(m, config.tiling.m * cluster.m) * cluster.m;
  const double tiles_n = up(n, config.tiling.n * cluster.n) * cluster.n;
  double parts = cluster.k;
  if (config.split == Split::Parts) parts = order.split_k;
  const double work = tiles_m * tiles_n * batch * parts;
  const double stages = std::max(1.0, up(up(k, config.tiling.k()), parts));
  const double ctas = running_ctas(cluster.size(), sms);
  const double waves = config.split == Split::Stream ? std::max(1.0, work / ctas) : up(work, ctas);

  // Of one stage, for a CTA: products, and lines of 128 bytes. A tile at the edge reaches back
  // where there is no C.
  const bool has_source = problem.epilogue.source != nullptr && problem.epilogue.beta != 0.0f;
  const double loaded =
      config.tiling.loaded_rows != 0 ? config.tiling.loaded_rows : config.tiling.m;
  const bool reaches_back = m >= config.tiling.m && !has_source;
  const double outside = reaches_back ? 0 : std::max(0.0, loaded * tiles_m - m) / tiles_m;
  const double inside = loaded - outside;
  // Columns are few where operands are exchanged: rows of A, of which some are not there.
  const double columns_outside =
      config.tiling.exchanged != 0 && n < config.tiling.n ? config.tiling.n - n : 0.0;
  const bool in_turns = config.consumers == Consumers::PingPong;
  double products = config.tiling.m * config.tiling.n / 32.0 * product_cycles;
  if (config.multiply_groups == 1) products *= alone_factor;
  if (in_turns) products *= config.tiling.n > 128 ? turns_factor * wide_factor : turns_factor;
  // Nothing is gained by a filter that another CTA sends: whoever waits for pixels waits longer.
  const auto share = [of_image](unsigned ctas, const MatmulOperand& operand) {
    if (of_image) return pixel_factor;
    // Unsigned: nobody checks a pitch where nothing is read.
    const bool straddles =
        static_cast<std::uint64_t>(operand.pitch) * bytes_of(operand.type) % 128 != 0;
    return received_share + (1 - received_share) / ctas * (straddles ? straddling_factor : 1.0);
  };
  double lines = (inside * share(cluster.n, problem.a) +
                  (config.tiling.n - columns_outside) * share(cluster.m, problem.b)) *
                     row_cycles +
                 (outside + columns_outside) * outside_row_cycles;
  if (std::min(work, ctas) > sms / 2.0) lines *= neighbour_factor;
  if (kernel.any_alignment) lines *= plain_copy_factor;
  if (kernel.target[2] == '8') products *= mma_sync_factor;
  if (kernel.target[2] == '8' && element == 1 && !is_integer(config.tiling.a_type)) {
    products *= unpacked_factor;
  }
  if (kernel.scales_sums) {
    products += config.tiling.m * config.tiling.n * scaled_cycles + scaled_stage_cycles;
  }
  const double cycles =
      waves * stages * config.tiling.spans * together(stage_sharpness, products, lines);
  const double hot = std::clamp((cycles - 2e5) / 3e5, 0.0, 1.0);
  double busy = cycles / (cycles_per_us - cycles_lost_when_hot * hot);

  // Stores of a tile are hidden behind the next tile's products where groups take turns and the
  // products last; else the less the shorter the sums are.
  const double size = config.tiling.m * config.tiling.n / 16384.0;
  // Groups share the storing; rows that are not whole lines of 128 bytes take longer.
  const unsigned row_bytes = config.output_columns() * bytes_of(config.d_type);
  const double groups =
      (config.groups_per_tile() == 1 ? 1.0 : 0.67) * (row_bytes % 128 == 0  ? 1.0
                                                      : row_bytes % 64 == 0 ? 1.15
                                                                            : 1.5);
  const double tile_us = cycles / waves / cycles_per_us;
  const double shown = in_turns
                           ? std::max(0.1, 1 - tile_us / (store_us * size))
                           : 0.33 + 0.63 * std::max(0.0, 1 - stages * config.tiling.spans / 44);
  busy += store_us * size * groups * shown * (waves - 1);

  const double from_l2 = work * stages * config.tiling.spans * 128.0 *
                         (inside / cluster.n + config.tiling.n / double(cluster.m)) /
                         l2_bytes_per_us;
  const double body = together(sharpness, busy, from_l2, from_dram);

  double joining = 0;
  if (config.split == Split::Cluster)
    joining = cluster_parts_us + cluster_part_us * size * (parts - 1);
  if (config.split == Split::Parts) {
    // Where groups take turns, one of them joins a whole tile.
    joining = workspace_parts_us + workspace_part_us * (in_turns ? 2 : 1) * size * (parts - 1);
  }
  if (config.split == Split::Stream) joining = stream_us + stream_share * body;
  const double first_stage = config.tiling.spans * lines / cycles_per_us;
  double expected = start_us + first_stage + body + last_store_us * size * groups + joining;
  if (config.dependent_launch == 0) expected += late_start_us;
  if (cluster.size() == 2) expected += pair_us;
  if (cluster.size() > 2) expected += cluster_us * waves;
  if (config.scheduling == Scheduling::Dynamic) expected *= ticket_factor;
  // A role that brings C ahead of the epilogue pays where there is one.
  if ((config.c_stages != 0) != has_source) expected *= has_source ? 1.2 : 1.01;
  if (config.promote_every != 0 && !kernel.scales_sums) expected *= 1.2;
  return expected;
}

}  // namespace tw
