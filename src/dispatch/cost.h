// What a kernel's launch is expected to take.
#pragma once

#include "src/dispatch/launch_options.h"

namespace tw {

// Fitted by tilewright_fit to the candidates, exchanged and not, of 2026-11-16 and to those of
// 2026-11-15 on an H200 (bench/results). Cycles, microseconds, bytes per microsecond, picojoules.
struct CostConstants {
  double cycles_per_us = 1926;
  double product_cycles = 1.41;       // over those of a perfect tensor core at its highest clock
  double tensor_memory_factor = 0.5;  // sm_100a, by its peak; nothing was measured there
  double alone_factor = 0.984;        // where one warpgroup multiplies
  double turns_factor = 0.932;        // where groups take turns
  double wide_factor = 1.01;          // where their tiles are wide, too
  double row_cycles = 1.37;           // a line of 128 bytes that TMA brings to an SM
  double received_share = 0.201;      // share of row_cycles for a line that another CTA sends
  double straddling_factor = 1.44;    // on lines that are loaded, where rows begin amid lines
  double pixel_factor = 1.27;         // where the lines are pixels of an image
  double ragged_factor = 2.06;        // where a pixel's last channels do not fill a line
  double filter_factor = 0.395;       // lines of its filters; these and pieces: 108 layers
  double amid_sectors_factor = 2;     // on ragged_factor, where pixels begin amid 32 bytes
  // A tile of D's rows with gaps, which threads store in turns, costs so much that nothing hides;
  // reading C for it costs the second.
  double gaps_us = 0.42, gaps_source_us = 0.28;
  double image_pair_factor = 0.945;   // where two CTAs along n share pixels; 7 layers
  double image_source_factor = 1.15;  // where nobody brings C, of an image; 24 layers
  // Where sums of an image begin at C; the factor before it is of kernels that read it behind them,
  // by lines. 14 layers.
  double begun_lines_factor = 1.01, begun_staged_factor = 0.97, begun_factor = 0.98;
  double begun_alone_factor = 0.96;  // where there is none
  double outside_row_cycles = 4.78;  // a line outside of the matrix, filled with zeros on all SMs
  double outside_power = 0.387;      // exponent of the share of SMs that fill such lines
  double neighbour_factor = 2.06;    // where two SMs of a pair load side by side
  // A stage is waited for and given back, and a span of it multiplied, in no less.
  double stage_cycles = 50.5, span_cycles = 89.7;
  double odd_store_factor = 2.0;  // a store in rows that are no multiple of 64 bytes
  double odd_factor = 1.48;       // handling of a stage, where columns are no multiple of 32
  double stage_sharpness = 6.88;  // how little products and lines of a stage add up
  double sharpness = 5.76;        // how little the limits of the whole add up
  double l2_bytes_per_us = 26.5e6;
  double dram_bytes_per_us = 4.22e6, few_rows_factor = 1.045;
  double evicted_share = 0.3;  // share of evicted lines that are read again
  double sm_bytes_per_us = 1.3e5, paired_sm_bytes_per_us = 4.36e4, near_bytes_per_us = 5.7e4;
  // These three of images, whose constants were fitted with them.
  double image_sharpness = 4.11, image_dram_bytes_per_us = 4.87e6, image_paired_bytes_per_us = 5e4;
  double flop_pj = 0.227, dram_byte_pj = 37.9, l2_byte_pj = 5.73;  // for bf16, in slices of 3 ms
  // Where operands are exchanged: all of it, the handling of a stage, the store, and pairs of CTAs,
  // which share the smaller operand, in comparison.
  double swap_ab_factor = 0.947, swap_ab_handling_factor = 1.1, swap_ab_store_factor = 1.12;
  double swap_ab_pair_factor = 1.05;
  double busy_factor = 1.045;             // where groups take turns, or three multiply; 58 shapes
  double swap_ab_scaled_factor = 1.93;  // on scaled_stage_cycles: the sums' rows are B's
  double start_us = 1.2;
  double late_start_us = 0.743;  // where the grid before is not overlapped
  // Weights prefetched under PDL save early_us, plus a share of the mainloop when paired SMs load
  // them. Rows that stream save rows_early_us; where B has at most rows_early_bytes, most of it
  // comes early and saves more.
  double early_us = 0.4, early_neighbours_share = 0.1;
  double rows_early_us = 0.3, rows_all_early_us = 1.2, rows_early_bytes = 9e6;
  double pair_us = 0.251, cluster_us = 0.669;
  double last_store_us = 1.57, store_us = 2.33;  // a tile of 128 by 128
  double cluster_parts_us = 1.3, cluster_part_us = 2.17;
  double cluster_meeting_factor = 1.4;  // on cluster_parts_us, where more than two CTAs meet
  double workspace_parts_us = 1.97, workspace_part_us = 0.956;
  double shared_finish_factor = 0.65;  // on workspace_part_us, where parts share the finish; 11
                                       // shapes
  double joining_shown = 0.912;        // each join but the last shows so much of its time
  double stream_us = 8.36, stream_share = 0.0692;
  double ticket_factor = 1.03;
  // Where a tile is stored at once: of its store, of the last one by groups that take turns or
  // share it, and of all where sums are long. By hand, eleven shapes of 2026-11-17.
  double whole_store_factor = 0.87, whole_last_factor = 1.14, whole_shared_last_factor = 1.8;
  double whole_long_factor = 1.02;
  double plain_factor = 0.99;  // where sums alone are stored; 27 large train shapes
  // Sums of a stage that are scaled and added up: by element, and what the stage waits for it.
  double scaled_cycles = 0.00112, scaled_stage_cycles = 182;
  double scaled_cluster_factor = 0.98;  // where CTAs send each other operands
  double mma_sync_factor = 5.5;         // four warps multiply by mma.sync; by hand, few data
  double unpacked_factor = 2.5;         // 8-bit floats, which mma.sync takes as fp16; not fitted
  double gathering_factor = 6;          // lines that threads gather for wgmma; by hand, few data
  double piece_cycles = 0.455;          // a piece that a thread copies: 16 bytes, or as aligned
  double pixel_piece_cycles = 0.66;     // the same of an image, whose pixels are known
  double sought_piece_cycles = 3.4;     // where each piece is looked for; by hand, few data
  double pieces_factor = 1.2;           // all of it, beside kernels by TMA
  double copied_bytes_per_us = 1.75e6;  // copies of an operand, read and written; six matrices
  // Rows of B that stream, and those that begin amid 16 bytes: a warp's loads by themselves, and of
  // all SMs together; a tile's end, and what comes before. By hand, 27 shapes of 2026-11-16.
  double rows_wait_us = 0.35, rows_byte_us = 8.3e-5, rows_bytes_per_us = 5.6e6;
  double shifted_byte_us = 4.4e-4, shifted_bytes_per_us = 3.5e6;
  double rows_tile_us = 0.6, rows_us = 1.5, rows_step_us = 0.15, rows_sum_share = 2.2e-4;
  double rows_narrow_factor = 1.07;     // where a step reads 128 bytes of a row of B
  double streamed_product_us = 1.2e-6;  // by one column at a time, on all SMs; by hand, few data
};
inline constexpr CostConstants fitted_cost;

// Microseconds on a device with `sms` multiprocessors, from the tiles, the bytes and the products
// that each multiprocessor gets. `operand_bytes` are what A and B have in memory, where that is not
// m * k and n * k elements.
double expected_microseconds(const KernelFacts& kernel, const MatmulProblem& problem,
                             const LaunchOrder& order, unsigned sms, double operand_bytes = 0,
                             const CostConstants& cost = fitted_cost);

// What it takes to copy an operand before the product.
double expected_copy_microseconds(double bytes, const CostConstants& cost = fitted_cost);

}  // namespace tw
