// What choices among kernels share, whatever family they are of: which kernels may be asked, and in
// which orders they may be launched.
#pragma once

#include <cstddef>
#include <vector>

#include "src/instances/instance.h"
#include "tilewright/launch/targets.h"

namespace tw {

struct MeasuredTable;

// What a launch finds before it: a kernel of ours, which it may overlap, or somebody else's.
enum class Situation : unsigned { Following, Amid };

struct DispatchRequest {
  const char* target = usual_target;
  int capability = 0;  // the device's, where it is known: one target may have several
  unsigned sms = 132;
  double cycles_per_us = 0, bytes_per_us = 0;  // the device's clock and memory; 0: the H200's
  const char* device = nullptr;                // its name; null: no table is about it
  bool batch_invariant = false;
  bool fast_accumulation = true;
  bool by_table = true;                      // false: the cost model alone
  const MeasuredTable* own_table = nullptr;  // about the device, searched before the compiled ones
  const char* instance = nullptr;            // null: any
  std::size_t workspace_limit = std::size_t{256} << 20;
};

// What dispatch knows of a compiled kernel.
struct KernelFacts {
  const char* target;
  MatmulConfig config;
  bool any_alignment = false;    // operands may begin anywhere: plain copies
  bool by_threads = false;       // threads copy operands in pieces as large as they are aligned
  bool scales_sums = false;      // scales the sums of every stage before they are added up
  bool streams = false;          // memory goes through registers, once
  bool by_warps = false;         // each warp of a CTA makes a part of each sum
  unsigned positions = 1;        // positions of a filter that a stage's pixels are multiplied by
  bool counts_channels = false;  // takes four products of a k-tile, or those of its channels
  int capability_end = 0;        // where devices that run it end; 0: where its target's do
  double efficiency = usual_efficiency;
};

// Whether a kernel may be asked at all.
Status suits(const KernelFacts& kernel, const DispatchRequest& request);

// The orders in which a kernel may be launched, as far as they differ in cost.
std::vector<LaunchOrder> orders_of(const MatmulConfig& config, const MatmulProblem& problem);

// Parts of sums that lie in the workspace; whether they can be counted, supports() says.
Status fits(const MatmulConfig& config, const MatmulProblem& problem, const LaunchOrder& order,
            const DispatchRequest& request);

}  // namespace tw
