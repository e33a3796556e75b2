// tcgen05 products of every kind and major, by one CTA and by a pair, with and without block
// scales: sums of small numbers, which are exact.
#pragma once

#include "tests/conformance/tensor_memory.h"
#include "tilewright/isa/ptx/tcgen05_scaled.h"

namespace tw::conformance {

// What a CTA needs from its input: A, B, then their scales.
inline unsigned operand_bytes(const TensorProducts& products) {
  return products.a_bytes + products.b_bytes + products.a_scale_bytes + products.b_scale_bytes;
}

template <unsigned group>
struct MultiplyFrame : TensorFrame {
  static constexpr unsigned columns = 512, scales_column = 256;

  struct Nothing {
    TW_DEVICE void operator()(TensorAddress) const {}
  };
  // All threads `prepare` tensor memory, then one issues.
  template <class Issue, class Prepare = Nothing>
  static TW_DEVICE void run_with(const Params& params, const Issue& issue,
                                 const Prepare& prepare = {}) {
    const TensorProducts& products = params.tensor_products;
    const unsigned words =
        (products.a_bytes + products.b_bytes + products.a_scale_bytes + products.b_scale_bytes) / 4;
    fill_shared(threads, operands_at / 4, words,
                [&](unsigned word) { return get_input(params, isa::cta_index() * words + word); });
    const TensorAddress address = start<group>(columns);
    prepare(address);
    if (issues() && isa::cluster_rank() % group == 0) {
      issue(address);
      if constexpr (group == 1)
        isa::tcgen05_commit<group>(shared_at(done_at));
      else
        isa::tcgen05_commit_multicast<group>(shared_at(done_at), 0b11);
    }
    wait(shared_at(done_at), 0);
    isa::tcgen05_fence_after_thread_sync();
    dump<32>(params, address, products.n);
    finish<group>(address, columns);
  }
  static TW_DEVICE std::uint64_t a(const TensorProducts& products, unsigned step) {
    return products.a_descriptor +
           (((shared_at(operands_at) & 0x3ffff) + step * products.a_step_bytes) >> 4);
  }
  static TW_DEVICE std::uint64_t b(const TensorProducts& products, unsigned step) {
    return products.b_descriptor + (((shared_at(operands_at + products.a_bytes) & 0x3ffff) +
                                     step * products.b_step_bytes) >>
                                    4);
  }
};

template <MmaKind kind, unsigned group>
struct TensorMultiply : MultiplyFrame<group> {
  using Params = conformance::Params;
  using Frame = MultiplyFrame<group>;
  static TW_DEVICE void run(const Params& params) {
    const TensorProducts& products = params.tensor_products;
    Frame::run_with(params, [&](TensorAddress sums) {
      for (unsigned step = 0; step < products.steps; ++step) {
        isa::tcgen05_mma<kind, group>(sums, Frame::a(products, step), Frame::b(products, step),
                                      products.instruction, step > 0);
      }
    });
  }
};

template <ScaledMmaKind kind, unsigned group>
struct ScaledMultiply : MultiplyFrame<group> {
  using Params = conformance::Params;
  using Frame = MultiplyFrame<group>;
  static TW_DEVICE void run(const Params& params) {
    const TensorProducts& products = params.tensor_products;
    Frame::run_with(params, [&](TensorAddress sums) {
      // A block of 128 rows by four scales: 512 bytes, four columns.
      const unsigned a_blocks = products.a_scale_bytes / 512;
      const unsigned blocks = a_blocks + products.b_scale_bytes / 512;
      const TensorAddress scales = sums + Frame::scales_column;
      const std::uint64_t from = isa::tcgen05_matrix_descriptor(
          shared_at(Frame::operands_at + products.a_bytes + products.b_bytes), 16, 8 * 16,
          isa::OperandSwizzle::None);
      for (unsigned block = 0; block < blocks; ++block) {
        isa::tcgen05_cp_32x128b_warpx4<group>(scales + 4 * block,
                                              isa::tcgen05_advance(from, 512 * block));
      }
      const unsigned b_row_blocks = (products.n + 127) / 128;
      for (unsigned step = 0; step < products.steps; ++step) {
        const unsigned scale = step * scales_per_row(kind);
        const std::uint32_t id = scale % 4;
        isa::tcgen05_mma_scaled<kind, group>(
            sums, Frame::a(products, step), Frame::b(products, step),
            products.instruction | id << 4 | id << 29, scales + scale / 4 * 4,
            scales + 4 * a_blocks + scale / 4 * 4 * b_row_blocks, step > 0);
      }
    });
  }
};

// The rows of an operand lie by 128 bytes: along k, of which a step takes 32 bytes, or along m or
// n.
struct OperandImage {
  isa::OperandMajor major = isa::OperandMajor::K;
  unsigned rows = 128;  // rows of m or n in a CTA
  unsigned element_bytes = 2;

  static constexpr unsigned steps = 4;
  unsigned k() const { return steps * 32 / element_bytes; }
  bool by_k() const { return major == isa::OperandMajor::K; }
  unsigned bytes() const { return by_k() ? rows * 128 : k() * rows * element_bytes; }
  // Along m or n spans of 128 bytes follow each other, each with all k.
  std::uint64_t descriptor() const {
    constexpr auto swizzle = isa::OperandSwizzle::Bytes128;
    return by_k() ? isa::tcgen05_k_major_descriptor(0, swizzle)
                  : isa::tcgen05_mn_major_descriptor(0, k() * 128, swizzle);
  }
  unsigned step_bytes() const { return by_k() ? 32 : k() / steps * 128; }
};

inline Program tensor_product(std::string name, Body body, unsigned group, unsigned n,
                              std::uint32_t instruction, const OperandImage& a,
                              const OperandImage& b, Fill a_fill, Fill b_fill) {
  Program program;
  program.name = std::move(name);
  program.body = body;
  TensorProducts& products = program.params.tensor_products;
  products.a_descriptor = a.descriptor();
  products.b_descriptor = b.descriptor();
  products.instruction = instruction;
  products.n = n;
  products.a_bytes = a.bytes();
  products.b_bytes = b.bytes();
  products.steps = OperandImage::steps;
  products.a_step_bytes = a.step_bytes();
  products.b_step_bytes = b.step_bytes();
  for (unsigned cta = 0; cta < group; ++cta) {
    program.input.push_back({a_fill, a.bytes(), 31 + cta});
    program.input.push_back({b_fill, b.bytes(), 41 + cta});
  }
  program.grid = {group, group, TensorFrame::threads,
                  TensorFrame::operands_at + operand_bytes(products)};
  program.output_bytes = std::size_t{group} * TensorFrame::threads * n * 4;
  return program;
}

struct TensorFormat {
  const char* name;
  isa::MmaFormat format;
  Fill fill;
  unsigned element_bytes;
};
namespace tensor_format {
inline constexpr TensorFormat bf16 = {"bf16", isa::mma_format::bf16, Fill::Bf16Integers, 2},
                              fp16 = {"fp16", isa::mma_format::fp16, Fill::Fp16Integers, 2},
                              tf32 = {"tf32", isa::mma_format::tf32, Fill::Tf32Integers, 4},
                              e4m3 = {"e4m3", isa::mma_format::e4m3, Fill::E4m3Integers, 1},
                              e5m2 = {"e5m2", isa::mma_format::e5m2, Fill::E5m2Integers, 1},
                              // 16 elements in the first 12 or 8 of 16 bytes: any are numbers.
    e2m3 = {"e2m3", isa::mma_format::e2m3, Fill::Bits, 1},
                              e3m2 = {"e3m2", isa::mma_format::e3m2, Fill::Bits, 1},
                              e2m1 = {"e2m1", isa::mma_format::e2m1, Fill::Bits, 1},
                              s8 = {"s8", isa::mma_format::s8, Fill::Bits, 1},
                              u8 = {"u8", isa::mma_format::u8, Fill::Bits, 1};
}  // namespace tensor_format

template <MmaKind kind, unsigned group>
void add_products(std::vector<Program>& programs, const TensorFormat& a, const TensorFormat& b,
                  std::initializer_list<unsigned> widths, bool every_major) {
  using enum isa::OperandMajor;
  const Body body = body_of<TensorMultiply<kind, group>>();
  for (const unsigned n : widths) {
    for (const auto a_major : {K, MN}) {
      for (const auto b_major : {K, MN}) {
        if (!every_major && (a_major != K || b_major != K)) continue;
        const std::uint32_t instruction = isa::tcgen05_instruction_descriptor(
            {.m = 128 * group,
             .n = n,
             .a = a.format,
             .b = b.format,
             .accumulator =
                 kind == MmaKind::I8 ? isa::MmaAccumulator::S32 : isa::MmaAccumulator::F32,
             .a_major = a_major,
             .b_major = b_major});
        programs.push_back(
            tensor_product(std::string("tcgen05_") + a.name + (a_major == K ? "_" : "_mn_") +
                               b.name + (b_major == K ? "" : "_mn") + "_n" + std::to_string(n) +
                               (group == 2 ? "_pair" : ""),
                           body, group, n, instruction, {a_major, 128, a.element_bytes},
                           {b_major, n / group, b.element_bytes}, a.fill, b.fill));
      }
    }
  }
}

inline std::vector<Program> list_tensor_products() {
  using namespace tensor_format;
  std::vector<Program> programs;
  add_products<MmaKind::F16, 1>(programs, bf16, bf16, {64, 256}, true);
  add_products<MmaKind::F16, 1>(programs, fp16, fp16, {192}, true);
  add_products<MmaKind::Tf32, 1>(programs, tf32, tf32, {32, 224}, false);
  add_products<MmaKind::F8F6F4, 1>(programs, e4m3, e4m3, {128}, true);
  add_products<MmaKind::F8F6F4, 1>(programs, e5m2, e4m3, {256}, false);
  add_products<MmaKind::F8F6F4, 1>(programs, e2m3, e2m1, {64}, false);
  add_products<MmaKind::F8F6F4, 1>(programs, e3m2, e2m1, {64}, false);
  add_products<MmaKind::F8F6F4, 1>(programs, e2m1, e4m3, {64}, false);
  return programs;
}

inline std::vector<Program> list_tensor_pairs() {
  using namespace tensor_format;
  std::vector<Program> programs;
  for (const unsigned n : {128u, 192u, 224u, 256u}) {
    add_products<MmaKind::F16, 2>(programs, bf16, bf16, {n}, n % 128 == 0);
  }
  add_products<MmaKind::Tf32, 2>(programs, tf32, tf32, {64}, false);
  add_products<MmaKind::F8F6F4, 2>(programs, e4m3, e5m2, {256}, true);
  return programs;
}

// Scales of ue8m0 are powers of two from a half to two; those of ue4m3 small integers.
template <ScaledMmaKind kind, unsigned group>
void add_scaled(std::vector<Program>& programs, const TensorFormat& a, const TensorFormat& b,
                unsigned n) {
  const bool packed = kind != ScaledMmaKind::Mxf8f6f4;
  const bool is_nvfp4 = kind == ScaledMmaKind::Mxf4nvf4;
  const std::uint32_t instruction = isa::tcgen05_scaled_instruction_descriptor(
      {.m = 128 * group,
       .n = n,
       .a_code = packed ? std::uint8_t{1} : a.format.code,
       .b_code = packed ? std::uint8_t{1} : b.format.code,
       .scale = is_nvfp4 ? isa::ScaleFormat::Ue4m3 : isa::ScaleFormat::Ue8m0});
  const char* const kinds[] = {"mxf8f6f4", "mxf4", "mxf4nvf4"};
  const unsigned which = packed ? (is_nvfp4 ? 2 : 1) : 0;
  Program program = tensor_product(
      std::string("tcgen05_") + kinds[which] + "_" + a.name + "_" + b.name + "_n" +
          std::to_string(n) + (group == 2 ? "_pair" : ""),
      body_of<ScaledMultiply<kind, group>>(), group, n, instruction, {isa::OperandMajor::K, 128, 1},
      {isa::OperandMajor::K, n / group, 1}, a.fill, b.fill);
  TensorProducts& products = program.params.tensor_products;
  const unsigned k_blocks = OperandImage::steps * scales_per_row(kind) / 4;
  products.a_scale_bytes = 512 * k_blocks;
  products.b_scale_bytes = 512 * k_blocks * ((n + 127) / 128);
  const Fill fill = is_nvfp4 ? Fill::E4m3Scales : Fill::PowersOfTwo;
  std::vector<Segment> input;
  for (unsigned cta = 0; cta < group; ++cta) {
    input.push_back(program.input[2 * cta]);
    input.push_back(program.input[2 * cta + 1]);
    input.push_back({fill, products.a_scale_bytes, 51 + cta});
    input.push_back({fill, products.b_scale_bytes, 61});  // all columns': both have the same
  }
  program.input = input;
  program.grid.shared_bytes = TensorFrame::operands_at + operand_bytes(products);
  programs.push_back(program);
}

inline std::vector<Program> list_scaled_products() {
  using namespace tensor_format;
  std::vector<Program> programs;
  add_scaled<ScaledMmaKind::Mxf8f6f4, 1>(programs, e4m3, e4m3, 128);
  add_scaled<ScaledMmaKind::Mxf8f6f4, 1>(programs, e5m2, e2m1, 256);
  add_scaled<ScaledMmaKind::Mxf8f6f4, 1>(programs, e2m3, e2m1, 64);
  add_scaled<ScaledMmaKind::Mxf4, 1>(programs, e2m1, e2m1, 128);
  add_scaled<ScaledMmaKind::Mxf4nvf4, 1>(programs, e2m1, e2m1, 256);
  add_scaled<ScaledMmaKind::Mxf8f6f4, 2>(programs, e4m3, e4m3, 192);
  add_scaled<ScaledMmaKind::Mxf4nvf4, 2>(programs, e2m1, e2m1, 128);
  return programs;
}

}  // namespace tw::conformance
