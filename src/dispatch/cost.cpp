#include "src/dispatch/cost.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string_view>

#include "src/dispatch/chunk_cost.h"

namespace tw {

namespace {

double up(double value, double unit) { return std::ceil(value / unit); }

// Unsigned: nobody checks a pitch where nothing is read.
std::uint64_t pitch_bytes(const MatmulOperand& operand) {
  return static_cast<std::uint64_t>(operand.pitch) * bytes_of(operand.type);
}

// The largest of several limits, and a little of the others.
double together(std::initializer_list<double> limits) {
  const double largest = std::max(limits);
  if (largest <= 0) return 0;
  double sum = 0;
  for (const double limit : limits) sum += std::pow(limit / largest, 6);
  return largest * std::pow(sum, 1.0 / 6);
}

// CTAs that run at once: larger clusters leave SMs idle (30 of four on 132 SMs).
double running_ctas(unsigned cluster, double sms) {
  const double share = cluster <= 2 ? 1.0 : 120.0 / 132.0;
  return std::max(1.0, std::floor(sms * share / cluster)) * cluster;
}

bool is_mma_sync(const KernelFacts& kernel) { return kernel.target[2] == '8'; }

// A line of 128 bytes that begins amid lines lies in two, of which TMA reads the sectors that it
// needs.
double straddling(const MatmulOperand& operand) {
  return pitch_bytes(operand) % 128 != 0 ? 1.5 : 1;
}

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

// Rows of B that stream through registers, by CTAs of which an SM holds 16 warps. A warp alone
// waits for a load as long as four stages of a ring take, by which rings hide that; among others,
// whose loads fill the time, half as long.
Price streamed(const KernelFacts& kernel, const MatmulProblem& problem, double dram_bytes,
               const Machine& machine, Situation situation) {
  const Tiling& tiling = kernel.config.tiling;
  const double warps = 4.0 * kernel.config.multiply_groups, slots = machine.sms * 16 / warps;
  const double tiles = up(static_cast<double>(problem.m), tiling.m) *
                       up(static_cast<double>(problem.n), tiling.n) *
                       static_cast<double>(problem.batch);
  const double steps = up(static_cast<double>(problem.k), tiling.k() * warps);
  const double step_bytes = warps * tiling.spans * 128.0 * tiling.m;
  const double waiting =
      up(tiles, slots) * steps * 4 * machine.stage_cycles / machine.cycles_per_us;
  const double alone = waiting + up(tiles, slots) * steps * step_bytes / machine.sm_bytes_per_us;
  const double products = tiles * tiling.m * tiling.n * steps * warps * tiling.spans /
                          machine.products_per_cycle / machine.cycles_per_us / machine.sms;
  // Pieces that begin amid 16 bytes are put together from two.
  const bool is_aligned = pitch_bytes(problem.a) % 16 == 0 && pitch_bytes(problem.b) % 16 == 0;
  const double memory = std::max(dram_bytes, tiles * steps * step_bytes) * (is_aligned ? 1 : 1.3) /
                        machine.bytes_per_us;
  double fixed = machine.launch_us + (situation == Situation::Amid ? machine.alone_us : 0);
  if (problem.b_is_constant) fixed -= 0.39 * machine.launch_us;
  return {fixed, std::max(alone, products), memory + waiting / 2};
}

}  // namespace

Machine machine_of(const DispatchRequest& request) {
  Machine machine;
  machine.sms = request.sms;
  if (request.cycles_per_us > 0) machine.cycles_per_us = request.cycles_per_us;
  if (request.bytes_per_us > 0) machine.bytes_per_us = request.bytes_per_us;
  const std::string_view target = request.target;
  if (target == target::sm100a.name) machine.products_per_cycle *= 2;
  if (target == target::sm80.name || target == target::gfx942.name) machine.products_per_cycle /= 2;
  // The H20 is the one Hopper whose tensor cores are slower than their clock says.
  const std::string_view name = request.device == nullptr ? "" : request.device;
  if (name == "NVIDIA H20" || name.starts_with("NVIDIA H20-")) machine.products_per_cycle *= 0.234;
  return machine;
}

double Price::microseconds(double efficiency) const {
  return fixed_us + together({busy_us / efficiency, memory_us});
}

Price price_of(const KernelFacts& kernel, const MatmulProblem& problem, const LaunchOrder& order,
               const Machine& machine, Situation situation, double operand_bytes) {
  const MatmulConfig& config = kernel.config;
  const Tiling& tiling = config.tiling;
  const ClusterShape& cluster = tiling.cluster;
  const double m = static_cast<double>(problem.m), n = static_cast<double>(problem.n);
  const double k = static_cast<double>(problem.k), batch = static_cast<double>(problem.batch);
  const double element = bytes_of(tiling.a_type);
  const bool of_image = operand_bytes != 0;
  if (!of_image) operand_bytes = batch * element * (m * k + n * k);
  double dram_bytes = operand_bytes + batch * double(bytes_of(config.d_type)) * m * n;
  const EpilogueArguments& epilogue = problem.epilogue;
  const bool has_source = epilogue.source != nullptr && epilogue.beta != 0.0f;
  if (has_source) dram_bytes += batch * double(bytes_of(epilogue.source_type)) * m * n;
  if (kernel.by_warps) return streamed(kernel, problem, dram_bytes, machine, situation);
  if (kernel.streams) {
    const double memory = dram_bytes / machine.bytes_per_us;
    // Columns by themselves, where there are several: a product takes as long as a line.
    const double products = n > 1 ? batch * m * n * k : 0;
    const double busy = products * machine.line_cycles / machine.cycles_per_us / machine.sms;
    return {machine.launch_us + machine.alone_us, std::max(busy, memory), memory};
  }

  const double tiles_m = up(m, tiling.m * cluster.m) * cluster.m;
  const double tiles_n = up(n, tiling.n * cluster.n) * cluster.n;
  // Lines that leave the L2 first are gone when the next tile of the same rows asks for them.
  if (tiling.a_evict_first != 0) {
    dram_bytes += machine.again_share * batch * element * m * k * (tiles_n / cluster.n - 1);
  }
  const double parts = config.split == Split::Parts ? order.split_k : cluster.k;
  const double work = tiles_m * tiles_n * batch * parts;
  const double stages = std::max(1.0, up(up(k, tiling.k()), parts));
  const double ctas = running_ctas(cluster.size(), machine.sms);
  const double running = std::min(work, ctas);
  // A stream-K CTA gets an equal share of all stages: also less than a tile.
  const double waves =
      config.split == Split::Stream ? std::max(1.0 / stages, work / ctas) : up(work, ctas);
  const bool in_turns = config.consumers == Consumers::PingPong;

  // What a CTA does for a span of a stage: products, and lines of 128 bytes, which cost an SM the
  // more the more of them load. A tile at the edge reaches back where there is no C.
  const double rows = tiling.a_rows();
  const bool reaches_back = m >= tiling.m && !has_source;
  const double rows_outside = reaches_back ? 0 : std::max(0.0, rows * tiles_m - m) / tiles_m;
  // Columns are few with swap_ab, rows of A, and where they are filters.
  // Where one CTA of a cluster has them all, the next one has nothing but zeros.
  const bool are_few = (tiling.swap_ab != 0 || of_image) && n < tiling.n;
  const bool has_none = tiling.swap_ab != 0 && cluster.n > 1;
  const double columns_outside = are_few ? tiling.n - (has_none ? 0.0 : n) : 0.0;
  const auto line = [&machine](unsigned sharers, double reads) {
    return machine.again_share + (1 - machine.again_share) / sharers * reads;
  };
  double a_line = line(cluster.n, straddling(problem.a)),
         b_line = line(cluster.m, straddling(problem.b));
  double used = 1;  // share of the products of a stage that are issued
  if (of_image) {
    // A pixel's last channels fill a line up with zeros; pixels amid sectors touch one more.
    a_line = 1, b_line = line(cluster.m, 1);
    if (problem.a.batch_pitch % tiling.k() != 0) {
      const double zeros = machine.zero_line_cycles / machine.line_cycles - 1;
      const double channels = static_cast<double>(problem.a.batch_pitch);
      const double c_tiles = up(channels, tiling.k());
      // TMA takes 4.3 cycles for a whole line, 4.4 for one that is half zeros and 5.2 for one
      // that is a quarter or three quarters. The share 0.4 is fitted to the times of layers.
      const bool is_half = problem.a.batch_pitch % tiling.k() == tiling.k() / 2;
      const double ragged = zeros * (is_half ? 0.4 : 1) / c_tiles;
      const bool amid_sectors = pitch_bytes(problem.a) % 32 != 0;
      a_line += ragged * (amid_sectors ? 2 : 1);
      if (amid_sectors) b_line += ragged;
      if (kernel.counts_channels) {
        const double products = up(channels, tiling.k() / 4);
        used = products / (4 * c_tiles);
        const double share = narrow_share(products, c_tiles);
        a_line *= share, b_line *= share;
      }
    }
  }
  const double columns = kernel.positions * (tiling.b_rows() - columns_outside);
  const double zeros = rows_outside / cluster.n + kernel.positions * columns_outside / cluster.m;
  double lines = (((rows - rows_outside) * a_line + columns * b_line) * machine.line_cycles +
                  zeros * machine.zero_line_cycles) *
                 std::sqrt(running / machine.sms);
  // AMD's loads go to LDS, or by registers, at the rate of TMA's lines: 64 bytes of a cycle.
  const bool is_amd = kernel.target[0] == 'g';
  if (is_mma_sync(kernel) || (!is_amd && (kernel.by_threads || kernel.any_alignment))) {
    lines = (tiling.m + tiling.n) * 128 / piece_bytes(kernel, problem) * machine.line_cycles / 6;
  }
  // Sums that are scaled before they are added up wait for as long as a stage takes at least.
  const double products =
      used * tiling.m * tiling.n * kernel.positions / machine.products_per_cycle +
      (kernel.scales_sums ? machine.stage_cycles : 0);
  double handling = machine.stage_cycles * (1 + 0.64 * (tiling.spans - 1)) / tiling.spans;
  if (in_turns && waves > 1) handling /= 2;
  const double spans = stages * tiling.spans;
  double busy = waves * spans * together({products, lines, handling}) / machine.cycles_per_us;

  // Groups that take turns hide a store behind each other's products, others half of it; threads
  // that store in rows with gaps hide nothing. A tile that is stored at once is let go of earlier,
  // the last one is stored later.
  const double size = tiling.m * tiling.n / 16384.0;
  // Small tiles take a store's latency.
  const double store = machine.store_us * std::max(0.125, size);
  const bool at_once = config.output_buffers > 2;
  const double hidden = kernel.positions > 1 ? 0.0
                        : in_turns           ? std::min(0.9, busy / waves / store)
                        : at_once            ? 0.7
                                             : 0.5;
  double shows = store * (1 - hidden);
  if (of_image && in_turns && kernel.positions == 1) {
    // Behind sums of few stages, what follows them is what a group is busy with. Both numbers are
    // fitted to 1 x 1 layers of 16 to 240 channels.
    const double storing = 0.6 + 0.35 * chunks_of(config);
    shows = std::max(0.1 * store, (storing - busy / waves) / 2);
  }
  busy += shows * std::max(0.0, waves - 1);
  // Amid foreign kernels a CTA's further tiles take longer, which shows where sums are short.
  // Convolutions were fitted without it.
  const bool is_amid = situation == Situation::Amid;
  if (is_amid && !of_image) busy += machine.turn_us * (1 + size) * std::max(0.0, waves - 1);
  if (has_source) {
    const double own = busy / waves, reading = machine.source_us * source_waits(config);
    // In turns, the other group multiplies meanwhile: what shows is what its products do not hide,
    // which is a tenth at least.
    const double shows = in_turns ? std::max(0.1 * reading, (own + store + reading) / 2 -
                                                                std::max(own, (own + store) / 2))
                                  : reading;
    const bool is_ahead = config.c_stages != 0 || config.initial_c != 0;
    busy +=
        shows * std::max(0.0, waves - 1) + 0.5 * store + (is_ahead ? machine.source_us : reading);
  }

  // An SM whose neighbour draws, too, draws a quarter: one of the next grid, where launches
  // overlap. Those of large clusters are neighbours. Amid foreign kernels a grid has the memory to
  // itself, which 40 SMs do not fill (3.5 TB/s, where 132 draw 4.4).
  const bool are_neighbours = !is_amid && (running > machine.sms / 2 || cluster.m * cluster.n > 2);
  const double drawn =
      dram_bytes / running / (machine.sm_bytes_per_us * (are_neighbours ? 0.25 : 1));
  const double all = dram_bytes / machine.bytes_per_us;
  const double memory = is_amid ? std::hypot(all, drawn) : together({all, drawn});

  double joining = 0;
  if (config.split == Split::Cluster) {
    joining =
        (machine.meeting_us * std::log2(parts) + 2 * machine.joining_us * size * (parts - 1)) *
        waves;
  }
  // Parts that run at once have shares.
  const bool in_shares = config.finishers > 1 && parts >= shared_parts && work <= ctas;
  if (config.split == Split::Parts) {
    // Where groups take turns, one of them joins a whole tile.
    joining = machine.meeting_us + machine.joining_us * (in_turns ? 2 : 1) * size * (parts - 1) *
                                       waves * (in_shares ? 0.5 : 1);
  }
  if (config.split == Split::Stream)
    joining = 2 * machine.meeting_us + 4 * machine.joining_us * size;

  // Behind another kernel of ours a launch begins on the SMs that it leaves idle. Amid foreign
  // kernels nothing overlaps.
  const bool overlaps = !is_amid && config.dependent_launch != 0 && !in_shares;
  const double idle = is_amid ? 1 - running / machine.sms : 0;
  double fixed = machine.launch_us + (overlaps ? 0 : machine.alone_us * (1 + idle)) +
                 tiling.spans * lines / machine.cycles_per_us +
                 store * (at_once && !of_image ? 2 : 1) + joining +
                 machine.cluster_us * std::log2(static_cast<double>(cluster.size()));
  if (overlaps && problem.b_is_constant && tiling.weights_first != 0) {
    const bool fills_rings = waves == 1 && are_neighbours && config.multiply_groups == 1;
    fixed -= machine.launch_us * (fills_rings ? 0.78 : 0.26);
  }
  return {fixed, busy, memory};
}

double expected_microseconds(const KernelFacts& kernel, const MatmulProblem& problem,
                             const LaunchOrder& order, const Machine& machine, Situation situation,
                             double operand_bytes) {
  return price_of(kernel, problem, order, machine, situation, operand_bytes)
      .microseconds(kernel.efficiency);
}

double expected_copy_microseconds(double bytes, const Machine& machine) {
  return machine.launch_us + machine.alone_us + 2 * bytes / machine.bytes_per_us / usual_efficiency;
}

}  // namespace tw
