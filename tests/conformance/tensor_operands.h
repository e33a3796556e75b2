// tcgen05 products with A in tensor memory, where threads store it, as attention stores weights.
#pragma once

#include "tests/conformance/tensor_products.h"
#include "tilewright/isa/ptx/tcgen05_tensor_a.h"

namespace tw::conformance {

// A row lies in its lane, 32 bytes of k in 8 columns, beside the sums.
template <MmaKind kind>
struct TensorOperandMultiply : MultiplyFrame<1> {
  using Params = conformance::Params;
  static constexpr unsigned row_words = OperandImage::steps * 8;
  static TW_DEVICE void run(const Params& params) {
    const TensorProducts& products = params.tensor_products;
    run_with(
        params,
        [&](TensorAddress sums) {
          for (unsigned step = 0; step < products.steps; ++step) {
            isa::tcgen05_mma_tensor_a<kind>(sums, sums + scales_column + 8 * step,
                                            b(products, step), products.instruction, step > 0);
          }
        },
        [&](TensorAddress sums) {
          std::uint32_t row[row_words];
          TW_UNROLL
          for (unsigned i = 0; i < row_words; ++i) {
            row[i] = get_input(params, isa::thread_index() * row_words + i);
          }
          isa::tcgen05_store((sums + scales_column) | own_lanes(), row);
          isa::tcgen05_wait_store();
          meet<1>();
        });
  }
};

inline std::vector<Program> list_tensor_operands() {
  using enum isa::OperandMajor;
  std::vector<Program> programs;
  for (const TensorFormat& format : {tensor_format::bf16, tensor_format::fp16}) {
    for (const auto b_major : {K, MN}) {
      for (const unsigned n : {64u, 128u}) {
        const std::uint32_t instruction =
            isa::tcgen05_instruction_descriptor({.m = 128,
                                                 .n = n,
                                                 .a = format.format,
                                                 .b = format.format,
                                                 .accumulator = isa::MmaAccumulator::F32,
                                                 .a_major = K,
                                                 .b_major = b_major});
        programs.push_back(
            tensor_product(std::string("tcgen05_tensor_a_") + format.name +
                               (b_major == K ? "" : "_mn") + "_n" + std::to_string(n),
                           body_of<TensorOperandMultiply<MmaKind::F16>>(), 1, n, instruction,
                           {K, 128, format.element_bytes}, {b_major, n, format.element_bytes},
                           format.fill, format.fill));
      }
    }
  }
  return programs;
}

}  // namespace tw::conformance
