// What a kernel's launch is expected to take: numbers of the machine, and one efficiency of the
// kernel, which tilewright_fit writes into its family's instances.txt.
#pragma once

#include "src/dispatch/launch_options.h"

namespace tw {

// What the price of a launch depends on, beside the kernel and the problem. A device has its own
// first four; the others were fitted to an H200 (docs/tuning.md) and are taken for its relatives.
struct Machine {
  double sms = 132;
  double cycles_per_us = 1980;
  double products_per_cycle = 32;  // an SM: elements of a tile by a span of 128 bytes
  double bytes_per_us = 4.917e6;   // memory
  double launch_us = 1.52;         // behind another kernel of ours: start and end that show
  double alone_us = 0.4;           // more, where the kernel before is not overlapped
  double cluster_us = 0.283;       // more, for each doubling of a cluster
  double line_cycles = 2.24;       // a line of 128 bytes that TMA brings to an SM, where all load
  // The share of a line that it costs who gets it from another CTA, and that is read again where
  // lines leave the L2 first.
  double again_share = 0.3;
  double zero_line_cycles = 6.08;   // a line outside of the matrix
  double stage_cycles = 161;        // the least that a stage of a ring takes
  double store_us = 1.19;           // a tile of 128 by 128
  double turn_us = 0.2;             // a further tile of a CTA, amid foreign kernels
  double source_us = 1.4;           // C that a group waits for
  double meeting_us = 1.03;         // CTAs that made parts of a sum
  double joining_us = 0.658;        // a part of 128 by 128
  double sm_bytes_per_us = 1.63e5;  // what an SM draws of memory while its neighbour draws none
};

// The device's own numbers, where the request has them, in place of the H200's.
Machine machine_of(const DispatchRequest& request);

// A launch by what bounds it: what no efficiency changes, what the kernel's SMs do at their peak,
// and what the memory that they share takes meanwhile.
struct Price {
  double fixed_us, busy_us, memory_us;
  double microseconds(double efficiency) const;
};

// The product is the one that the kernel computes. `operand_bytes` are what A and B have in memory,
// where that is not m * k and n * k elements.
Price price_of(const KernelFacts& kernel, const MatmulProblem& problem, const LaunchOrder& order,
               const Machine& machine, Situation situation = Situation::Following,
               double operand_bytes = 0);

double expected_microseconds(const KernelFacts& kernel, const MatmulProblem& problem,
                             const LaunchOrder& order, const Machine& machine,
                             Situation situation = Situation::Following, double operand_bytes = 0);

// What it takes to copy an operand before the product.
double expected_copy_microseconds(double bytes, const Machine& machine);

}  // namespace tw
