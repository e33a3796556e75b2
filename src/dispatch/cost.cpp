#include "src/dispatch/cost.h"

#include <algorithm>
#include <cmath>

namespace tw {

namespace {

double ceil_div(double value, double unit) { return std::ceil(value / unit); }

}  // namespace

double expected_microseconds(const MatmulInstance& instance, const MatmulProblem& problem,
                             const MatmulOrder& order, unsigned sms) {
  const MatmulConfig& config = instance.config;
  const double element = bytes_of(config.a_type);
  const double stage_k = config.tiling().k();
  const double tiles_m = ceil_div(problem.m, config.tile_m * config.cluster.m) * config.cluster.m;
  const double tiles_n = ceil_div(problem.n, config.tile_n * config.cluster.n) * config.cluster.n;
  const double k_tiles = std::max(1.0, ceil_div(problem.k, stage_k));
  const double tiles = tiles_m * tiles_n * problem.batch;
  const unsigned of_cluster = config.cluster.size();
  const double ctas = sms / of_cluster * of_cluster;
  double parts = config.split == Split::Cluster ? config.cluster.k : 1;
  if (config.split == Split::Parts) parts = order.split_k;
  const double waves =
      config.split == Split::Stream ? std::max(1.0, tiles / ctas) : ceil_div(tiles * parts, ctas);
  const double stages = waves * ceil_div(k_tiles, parts);
  // Per stage, in cycles: products at 4096 flop, shared memory at 128 bytes.
  const double flop = 2.0 * config.tile_m * config.tile_n * stage_k;
  const double products = flop / (element == 1 ? 8192 : element == 2 ? 4096 : 2048);
  const double loads = (config.tile_m + config.tile_n) * stage_k * element / 128;
  const double cycles = std::max(products, loads);
  const double mega_hertz = 1500;
  const double multiplying = stages * cycles / mega_hertz / 0.9;
  const double bytes = element * (double(problem.m) * problem.k + double(problem.n) * problem.k) +
                       double(bytes_of(config.d_type)) * problem.m * problem.n;
  const double busy = std::min(1.0, tiles * parts / ctas);
  const double moving = bytes * problem.batch / (4.4e6 * std::min(1.0, 1.3 * busy));
  const double storing = 1.0 + config.tile_m * config.tile_n / 32768.0 * 1.5;
  const double adding = parts > 1 || config.split == Split::Stream ? 2.0 : 0.0;
  return 2.0 + std::max(multiplying, moving) + storing + adding;
}

}  // namespace tw
