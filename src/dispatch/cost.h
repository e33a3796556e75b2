// What a kernel's launch is expected to take.
#pragma once

#include "src/dispatch/launch_options.h"

namespace tw {

// Fitted by tilewright_fit to the candidates of 2026-11-16 and 2026-11-15 on an H200
// (bench/results). Cycles, microseconds, bytes per microsecond, picojoules.
struct CostConstants {
  double cycles_per_us = 1836;
  double product_cycles = 1.306;    // of a perfect tensor core's at its highest clock
  double alone_factor = 1.022;      // where one warpgroup multiplies
  double turns_factor = 0.9;        // where groups take turns
  double wide_factor = 1.019;       // and their tiles are wide
  double row_cycles = 1.425;        // a line of 128 bytes that TMA brings to an SM
  double received_share = 0.322;    // of that, for a line that another CTA sends
  double straddling_factor = 1.8;   // of the rest, where rows begin amid lines
  double pixel_factor = 1.4;        // where the lines are pixels of an image
  double outside_row_cycles = 5.4;  // a line outside of the matrix, filled with zeros on all SMs
  double outside_power = 0.45;      // of the share of SMs that fill such lines
  double neighbour_factor = 1.75;   // where two SMs of a pair load side by side
  // A stage is waited for and given back, and a span of it multiplied, in no less.
  double stage_cycles = 62, span_cycles = 83;
  double odd_factor = 1.38;      // of that, where columns are no multiple of 32
  double stage_sharpness = 5.3;  // how little products and lines of a stage add up
  double sharpness = 4.9;        // and the limits of the whole
  double l2_bytes_per_us = 21.8e6;
  double dram_bytes_per_us = 4.58e6;
  double flop_pj = 0.32, dram_byte_pj = 44, l2_byte_pj = 6.6;  // of bf16, in slices of 3 ms
  double start_us = 1.0;
  double late_start_us = 0.92;  // where the grid before is not overlapped
  double pair_us = 0.2, cluster_us = 0.56;
  double last_store_us = 1.84, store_us = 2.48;  // a tile of 128 by 128
  double cluster_parts_us = 1.29, cluster_part_us = 2.06;
  double workspace_parts_us = 1.74, workspace_part_us = 0.93;
  double joining_shown = 0.74;  // of each join but the last
  double stream_us = 8.2, stream_share = 0.062;
  double ticket_factor = 1.037;
  // Sums of a stage that are scaled and added up: by element, and what the stage waits for it.
  double scaled_cycles = 0.0016, scaled_stage_cycles = 287;
  double scaled_cluster_factor = 1.063;  // CTAs that send each other operands wait for each other
  double mma_sync_factor = 1.87;         // mma.sync multiplies at half the rate
  double unpacked_factor = 2.5;          // 8-bit floats, which mma.sync takes as fp16; not fitted
  double piece_cycles = 0.49;            // a piece that a thread copies: 16 bytes, or as aligned
};
inline constexpr CostConstants fitted_cost;

// Microseconds on a device with `sms` multiprocessors, from the tiles, the bytes and the products
// that each multiprocessor gets. `operand_bytes` are what A and B have in memory, where that is not
// m * k and n * k elements.
double expected_microseconds(const KernelFacts& kernel, const MatmulProblem& problem,
                             const MatmulOrder& order, unsigned sms, double operand_bytes = 0,
                             const CostConstants& cost = fitted_cost);

}  // namespace tw
