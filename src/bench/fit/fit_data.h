// What the cost model is fitted to: measured launches, shape by shape.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "src/dispatch/launch_options.h"

namespace tw::bench {

struct KnownKernel {
  std::string family;  // "matmul", "blockwise"
  std::string name;
  KernelFacts facts;
};
// Kernels of every family whose candidates are measured with names.
std::vector<KnownKernel> known_kernels();

struct MeasuredKernel {
  const KnownKernel* kernel;
  LaunchOrder order;
  double microseconds;
};

struct FitShape {
  std::string family, type;
  MatmulProblem problem;
  std::string model;  // the family of models that it is from, else its n and k: what is left out
  double weight = 1;
  double peer_us = 0;  // 0: none
  Situation situation = Situation::Following;
  double best_us = 0;
  std::vector<MeasuredKernel> launches;
};

// (family, type, m, n, k) of a suite's shapes, and the first word of where each is from.
using Origins =
    std::map<std::tuple<std::string, std::string, std::int64_t, std::int64_t, std::int64_t>,
             std::string>;
Status read_origins(Origins& origins, const std::string& suite);

// Adds what a file of --csv, or one with the columns type, m, n, k, kernel and us, has of known
// kernels. A run (column `run`, `slice_ms`) is a shape of its own: times are compared within it. So
// are its times with a foreign kernel between launches, less that kernel's.
Status read_measurements(std::vector<FitShape>& shapes, const std::string& path,
                         const std::vector<KnownKernel>& kernels, const Origins& origins,
                         double weight);

}  // namespace tw::bench
