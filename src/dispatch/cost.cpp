#include "src/dispatch/cost.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "src/dispatch/streamed_cost.h"
#include "tilewright/launch/swap_ab.h"

namespace tw {

namespace {

constexpr double watts = 590;  // what is left of 700 for work

// The largest of several limits, and a little of the others.
double together(double sharp, std::initializer_list<double> limits) {
  double sum = 0;
  for (const double limit : limits) sum += std::pow(limit, sharp);
  return std::pow(sum, 1 / sharp);
}

// CTAs that run at once: larger clusters leave SMs idle (30 of four on 132 SMs).
double running_ctas(unsigned cluster, unsigned sms) {
  const double share = cluster <= 2 ? 1.0 : 120.0 / 132.0;
  return std::max(1.0, std::floor(sms * share / cluster)) * cluster;
}

bool is_mma_sync(const KernelFacts& kernel) { return kernel.target[2] == '8'; }
bool has_tensor_memory(const KernelFacts& kernel) { return kernel.target[2] == '1'; }

// What a thread copies at once.
double piece_bytes(const KernelFacts& kernel, const MatmulProblem& problem) {
  const unsigned element = bytes_of(kernel.config.tiling.a_type);
  unsigned bytes = kernel.any_alignment ? element : 16;
  while (bytes > element &&
         (pitch_bytes(problem.a) % bytes != 0 || pitch_bytes(problem.b) % bytes != 0)) {
    bytes /= 2;
  }
  return bytes;
}

// What a line of channels costs by TMA, on average: a pixel's last ones may fill less than one.
double channels_share(const MatmulProblem& problem, const MatmulConfig& config, bool amid_sectors,
                      const CostConstants& cost) {
  if (problem.a.batch_pitch % config.tiling.k() == 0) return 1;
  const double lines = up(static_cast<double>(problem.a.batch_pitch), config.tiling.k());
  const double ragged = cost.ragged_factor * (amid_sectors ? cost.amid_sectors_factor : 1);
  return 1 + (ragged - 1) / lines;
}

// What the groups of a CTA take for a span of k.
double product_cycles(const KernelFacts& kernel, bool in_turns, const CostConstants& cost) {
  const MatmulConfig& config = kernel.config;
  const Tiling& tiling = config.tiling;
  double cycles = tiling.m * tiling.n / 32.0 * kernel.positions * cost.product_cycles;
  if (has_tensor_memory(kernel)) {
    cycles *= cost.tensor_memory_factor;
  } else if (config.multiply_groups == 1) {
    cycles *= cost.alone_factor;
  }
  if (in_turns) {
    cycles *= cost.turns_factor * (tiling.n > 128 ? cost.wide_factor : 1);
  }
  if (is_mma_sync(kernel)) {
    cycles *= cost.mma_sync_factor;
    const bool is_unpacked = bytes_of(tiling.a_type) == 1 && !is_integer(tiling.a_type);
    if (is_unpacked) cycles *= cost.unpacked_factor;
  }
  if (kernel.scales_sums) {
    cycles += tiling.m * tiling.n * cost.scaled_cycles +
              cost.scaled_stage_cycles * (tiling.swap_ab != 0 ? cost.swap_ab_scaled_factor : 1);
  }
  return cycles;
}

// Where sums begin at C: beside a kernel of the same tile that reads it, or nothing, behind them.
double begun_factor(const KernelFacts& kernel, bool has_source, const CostConstants& cost) {
  if (kernel.positions > 1) return has_source ? cost.begun_lines_factor : 1.01;
  if (kernel.config.c_stages != 0) return has_source ? cost.begun_staged_factor : 0.99;
  return has_source ? cost.begun_factor : cost.begun_alone_factor;
}

}  // namespace

double expected_microseconds(const KernelFacts& kernel, const MatmulProblem& given,
                             const LaunchOrder& order, unsigned sms, double operand_bytes,
                             const CostConstants& cost) {
  const MatmulConfig& config = kernel.config;
  const MatmulProblem problem = config.tiling.swap_ab != 0 ? swap_ab(given) : given;
  const ClusterShape& cluster = config.tiling.cluster;
  const double m = static_cast<double>(problem.m), n = static_cast<double>(problem.n);
  const double k = static_cast<double>(problem.k), batch = static_cast<double>(problem.batch);
  const double element = bytes_of(config.tiling.a_type);
  const bool of_image = operand_bytes != 0;
  if (!of_image) operand_bytes = batch * element * (m * k + n * k);
  double dram_bytes = operand_bytes + batch * double(bytes_of(config.d_type)) * m * n;
  const double dram_bytes_per_us = of_image ? cost.image_dram_bytes_per_us : cost.dram_bytes_per_us;
  if (kernel.by_warps) return streamed_microseconds(config, problem, sms, cost);
  if (kernel.streams) {
    const double products = n > 1 ? batch * m * n * k : 0;  // else in vectors
    return cost.start_us + cost.late_start_us +
           std::max(dram_bytes / dram_bytes_per_us, products * cost.streamed_product_us);
  }

  const double tiles_m = up(m, config.tiling.m * cluster.m) * cluster.m;
  const double tiles_n = up(n, config.tiling.n * cluster.n) * cluster.n;
  // Lines that leave the L2 first are gone when the next tile of the same rows asks for them.
  if (config.tiling.a_evict_first != 0) {
    dram_bytes += cost.evicted_share * batch * element * m * k * (tiles_n / cluster.n - 1);
  }
  double parts = cluster.k;
  if (config.split == Split::Parts) parts = order.split_k;
  const double work = tiles_m * tiles_n * batch * parts;
  const double stages = std::max(1.0, up(up(k, config.tiling.k()), parts));
  const double ctas = running_ctas(cluster.size(), sms);
  // A stream-K CTA gets an equal share of all stages: also less than a tile.
  const double waves =
      config.split == Split::Stream ? std::max(1.0 / stages, work / ctas) : up(work, ctas);
  // Beside few rows B comes by no larger pieces than are asked for: a stream that lasts is faster.
  const bool lasts = !of_image && given.m <= 64 && waves > 1;
  const double from_dram = dram_bytes / dram_bytes_per_us / (lasts ? cost.few_rows_factor : 1);

  // What a CTA does for one stage: products, and lines of 128 bytes. A tile at the edge reaches
  // back where there is no C.
  const bool has_source = problem.epilogue.source != nullptr && problem.epilogue.beta != 0.0f;
  const double loaded =
      config.tiling.loaded_rows != 0 ? config.tiling.loaded_rows : config.tiling.m;
  const bool reaches_back = m >= config.tiling.m && !has_source;
  const double outside = reaches_back ? 0 : std::max(0.0, loaded * tiles_m - m) / tiles_m;
  const double inside = loaded - outside;
  // Columns are few where operands are exchanged, rows of A, and where they are filters: some are
  // not there.
  const double columns_outside =
      (config.tiling.swap_ab != 0 || of_image) && n < config.tiling.n ? config.tiling.n - n : 0.0;
  const bool in_turns = config.consumers == Consumers::PingPong;
  const bool takes_turns = in_turns && waves > 1;  // else there is one tile for one group
  const auto share = [of_image, &cost](unsigned ctas, const MatmulOperand& operand) {
    const bool straddles = pitch_bytes(operand) % 128 != 0;
    const double once = of_image ? cost.filter_factor : straddles ? cost.straddling_factor : 1.0;
    return cost.received_share + (1 - cost.received_share) / ctas * once;
  };
  const double running = std::min(work, ctas);
  double a_line = share(cluster.n, problem.a), b_line = share(cluster.m, problem.b);
  if (of_image) {
    const bool amid_sectors = pitch_bytes(problem.a) % 32 != 0;
    a_line = cost.pixel_factor * channels_share(problem, config, amid_sectors, cost);
    if (amid_sectors) b_line *= channels_share(problem, config, amid_sectors, cost);
  }
  double lines =
      (inside * a_line + kernel.positions * (config.tiling.b_rows() - columns_outside) * b_line) *
          cost.row_cycles +
      (outside / cluster.n + kernel.positions * columns_outside / cluster.m) *
          cost.outside_row_cycles * std::pow(running / sms, cost.outside_power);
  if (running > sms / 2.0) lines *= cost.neighbour_factor;
  if (is_mma_sync(kernel) || kernel.by_threads) {
    lines = (config.tiling.m + config.tiling.n) * 128 / piece_bytes(kernel, problem) *
            (!of_image           ? cost.piece_cycles
             : kernel.by_threads ? cost.pixel_piece_cycles
                                 : cost.sought_piece_cycles);
  } else if (kernel.any_alignment) {
    lines *= cost.gathering_factor;
  }
  // Operands are written to shared memory and read there at 128 bytes a cycle. What tensor memory
  // leaves of that is less than single CTAs need; those of a pair have half of B each.
  const double shared =
      has_tensor_memory(kernel) ? 2.0 * (config.tiling.m + config.tiling.b_rows()) : 0.0;
  double handling = cost.span_cycles + cost.stage_cycles / config.tiling.spans;
  if (takes_turns) handling /= 2;
  const bool swaps = config.tiling.swap_ab != 0;
  if (swaps) {
    handling *= cost.swap_ab_handling_factor;
  } else if (config.tiling.n % 32 != 0) {
    handling *= cost.odd_factor;
  }
  const double cycles = waves * stages * config.tiling.spans *
                        together(cost.stage_sharpness, {product_cycles(kernel, takes_turns, cost),
                                                        lines, handling, shared});
  double busy = cycles / cost.cycles_per_us;

  // Stores of a tile are hidden behind the next tile's products where groups take turns and the
  // products last; else the less the shorter the sums are.
  const double size = config.tiling.m * config.tiling.n / 16384.0;
  // Groups share the storing; rows that are not whole lines of 128 bytes take longer.
  const unsigned row_bytes = config.output_columns() * bytes_of(config.d_type);
  double groups = (config.groups_per_tile() == 1 ? 1.0 : 0.67) * (row_bytes % 128 == 0 ? 1.0
                                                                  : row_bytes % 64 == 0
                                                                      ? 1.15
                                                                      : cost.odd_store_factor);
  if (swaps) groups *= cost.swap_ab_store_factor;
  const double tile_us = cycles / waves / cost.cycles_per_us;
  // Threads that gather pixels do so while others store.
  const bool hides_stores = in_turns || (of_image && kernel.by_threads);
  const double shown = hides_stores
                           ? std::max(0.1, 1 - tile_us / (cost.store_us * size))
                           : 0.33 + 0.63 * std::max(0.0, 1 - stages * config.tiling.spans / 44);
  // A tile that is stored at once is let go of earlier, the last one is stored later.
  const bool at_once = config.output_buffers > 2;
  busy +=
      cost.store_us * size * groups * shown * (waves - 1) * (at_once ? cost.whole_store_factor : 1);
  if (kernel.positions > 1 && in_turns) {
    busy += waves * (cost.gaps_us + (has_source ? cost.gaps_source_us : 0));
  }

  const double l2_bytes =
      work * stages * config.tiling.spans * 128.0 *
      (inside / cluster.n + kernel.positions * config.tiling.n / double(cluster.m));
  const double picojoules = batch * m * n * k * kernel.positions * element * cost.flop_pj +
                            dram_bytes * cost.dram_byte_pj + l2_bytes * cost.l2_byte_pj;
  // Few SMs do not draw all that memory gives, neighbours less than others: those of large
  // clusters.
  const double paired = of_image ? cost.image_paired_bytes_per_us : cost.paired_sm_bytes_per_us;
  const double alone = cluster.m * cluster.n > 2 ? cost.near_bytes_per_us : cost.sm_bytes_per_us;
  const double drawn = dram_bytes / running / (running > sms / 2.0 ? paired : alone);
  const double body = together(
      of_image ? cost.image_sharpness : cost.sharpness,
      {busy, l2_bytes / cost.l2_bytes_per_us, from_dram, drawn, picojoules * 1e-6 / watts});

  double joining = 0;
  const double joins = 1 + (waves - 1) * cost.joining_shown;
  if (config.split == Split::Cluster) {
    const double meeting = cost.cluster_parts_us * (parts > 2 ? cost.cluster_meeting_factor : 1);
    joining = (meeting + cost.cluster_part_us * size * (parts - 1)) * joins;
  }
  // Parts that run at once have shares.
  const bool in_shares = config.finishers > 1 && parts >= shared_parts && work <= ctas;
  if (config.split == Split::Parts) {
    // Where groups take turns, one of them joins a whole tile.
    joining = cost.workspace_parts_us + cost.workspace_part_us * (in_turns ? 2 : 1) * size *
                                            (parts - 1) * joins *
                                            (in_shares ? cost.shared_finish_factor : 1);
  }
  if (config.split == Split::Stream) joining = cost.stream_us + cost.stream_share * body;
  const double first_stage = config.tiling.spans * lines / cost.cycles_per_us;
  double last_store = cost.last_store_us * size * groups;
  if (at_once) last_store *= in_turns ? cost.whole_last_factor : cost.whole_shared_last_factor;
  double expected = cost.start_us + first_stage + body + last_store + joining;
  // Buffers for whole tiles leave room for fewer stages.
  if (at_once && stages * config.tiling.spans > 8) expected *= cost.whole_long_factor;
  if (config.dependent_launch == 0 || in_shares) expected += cost.late_start_us;
  if (given.b_is_constant && config.tiling.weights_first != 0) {
    expected -= cost.early_us;
    const bool are_neighbours = waves == 1 && running > sms / 2.0 && config.multiply_groups == 1;
    if (are_neighbours) expected -= cost.early_neighbours_share * body;
  }
  if (kernel.scales_sums && cluster.size() > cluster.k) expected *= cost.scaled_cluster_factor;
  if (of_image && kernel.by_threads) expected *= cost.pieces_factor;
  if (of_image && cluster.n == 2) expected *= cost.image_pair_factor;
  if (swaps) expected *= cost.swap_ab_factor;
  if (swaps && cluster.m == 2) expected *= cost.swap_ab_pair_factor;
  if (swaps && (in_turns || config.multiply_groups > 2)) expected *= cost.busy_factor;
  if (cluster.size() == 2) expected += cost.pair_us;
  if (cluster.size() > 2) expected += cost.cluster_us * waves;
  if (config.scheduling == Scheduling::Dynamic) expected *= cost.ticket_factor;
  if (config.plain_epilogue != 0) expected *= cost.plain_factor;
  // A role that brings C ahead of the epilogue pays where there is one.
  if (config.initial_c != 0) {
    expected *= begun_factor(kernel, has_source, cost);
  } else if ((config.c_stages != 0) != has_source) {
    expected *= !has_source ? 1.01 : of_image ? cost.image_source_factor : 1.2;
  }
  if (config.promote_every != 0 && !kernel.scales_sums) expected *= 1.2;
  return expected;
}

double expected_copy_microseconds(double bytes, const CostConstants& cost) {
  return cost.start_us + cost.late_start_us + bytes / cost.copied_bytes_per_us;
}

}  // namespace tw
