// ldmatrix in every arrangement of rows, and mma.sync of every type on numbers whose sums are
// exact.
#pragma once

#include <utility>

#include "tests/conformance/device.h"
#include "tilewright/isa/ptx/convert.h"
#include "tilewright/isa/ptx/warp_matrix.h"

namespace tw::conformance {

enum class LoadRows { Packed, Backward, Swizzled, Apart, Same };

template <LoadRows rows, bool transposed>
struct LoadMatrices {
  using Params = conformance::Params;
  static constexpr unsigned threads = 64;
  static constexpr unsigned warp_bytes = 1024;
  static constexpr unsigned row_offset(unsigned lane) {
    if (rows == LoadRows::Packed) return lane * 16;
    if (rows == LoadRows::Backward) return (31 - lane) * 16;
    if (rows == LoadRows::Apart) return lane * 32 + 16;
    if (rows == LoadRows::Same) return lane % 8 * 16;
    return lane % 8 * 128 + (lane / 8 ^ lane % 8) * 16;
  }
  static TW_DEVICE void run(const Params& params) {
    const unsigned thread = isa::thread_index();
    fill_shared(threads, 0, 2 * warp_bytes / 4, [](unsigned word) { return pattern(word); });
    isa::barrier_sync(0, threads);
    const SharedAddress row = shared_at(thread / 32 * warp_bytes + row_offset(thread % 32));
    std::uint32_t registers[4];
    if constexpr (transposed) {
      isa::ldmatrix_x4_transposed(registers, row);
    } else {
      isa::ldmatrix_x4(registers, row);
    }
    TW_UNROLL
    for (unsigned i = 0; i < 4; ++i) put_output(params, i * threads + thread, registers[i]);
  }
};

// What a lane makes of a word of the input.
enum class Numbers {
  AsTheyAre,
  LowBits,  // with all bits set that tf32 ignores
  Halves,   // two integers from -8 to 8 as f16
};

template <Numbers numbers>
TW_DEVICE std::uint32_t operand(std::uint32_t word) {
  if constexpr (numbers == Numbers::LowBits) return word | 0x1fff;
  if constexpr (numbers == Numbers::Halves) {
    return isa::cvt_f16x2(static_cast<float>(static_cast<int>(word % 17) - 8),
                          static_cast<float>(static_cast<int>((word >> 8) % 17) - 8));
  }
  return word;
}

// A chain of `count` products on the same sums, by two warps.
template <MmaType type, Numbers numbers>
struct MultiplyFragments {
  using Params = conformance::Params;
  static constexpr unsigned threads = 64;
  static TW_DEVICE void run(const Params& params) {
    const unsigned thread = isa::thread_index();
    isa::MmaSum<type> d[4];
    TW_UNROLL
    for (unsigned i = 0; i < 4; ++i) {
      const auto* sums = reinterpret_cast<const isa::MmaSum<type>*>(params.input);
      d[i] = load_element<Space::Global>(sums + i * threads + thread);
    }
    for (unsigned step = 0; step < params.count; ++step) {
      const unsigned first = 4 * threads + step * 6 * threads + thread;
      std::uint32_t a[4], b[2];
      TW_UNROLL
      for (unsigned i = 0; i < 4; ++i) {
        a[i] = operand<numbers>(get_input(params, first + i * threads));
      }
      TW_UNROLL
      for (unsigned i = 0; i < 2; ++i) {
        b[i] = operand<numbers>(get_input(params, first + (4 + i) * threads));
      }
      isa::mma_sync<type>(d, a, b);
    }
    TW_UNROLL
    for (unsigned i = 0; i < 4; ++i) {
      auto* sums = reinterpret_cast<isa::MmaSum<type>*>(params.output);
      store_element<Space::Global>(sums + i * threads + thread, d[i]);
    }
  }
};

// One product per sum: A has a single number in each row, so rounding has nothing to do.
struct SingleProducts {
  using Params = conformance::Params;
  static constexpr unsigned threads = 32;
  static TW_DEVICE void run(const Params& params) {
    const unsigned lane = isa::thread_index();
    for (unsigned round = 0; round < params.count; ++round) {
      float d[4] = {0, 0, 0, 0};
      std::uint32_t a[4], b[2];
      TW_UNROLL
      for (unsigned i = 0; i < 4; ++i) {
        // The lane and half that hold k = round % 16 keep their number.
        const unsigned k = round % 16;
        const bool here = lane % 4 == k % 8 / 2 && i / 2 == k / 8;
        const std::uint32_t word = get_input(params, (round * 6 + i) * threads + lane);
        a[i] = here ? word & (k % 2 == 0 ? 0x0000ffffu : 0xffff0000u) : 0;
      }
      TW_UNROLL
      for (unsigned i = 0; i < 2; ++i) {
        b[i] = get_input(params, (round * 6 + 4 + i) * threads + lane);
      }
      isa::mma_sync<MmaType::Bf16>(d, a, b);
      TW_UNROLL
      for (unsigned i = 0; i < 4; ++i) {
        auto* floats = reinterpret_cast<float*>(params.output);
        store_element<Space::Global>(floats + (round * 4 + i) * threads + lane, d[i]);
      }
    }
  }
};

inline Program warp_program(std::string name, Body body, Grid grid, std::vector<Segment> input,
                            std::size_t output_bytes, unsigned count) {
  Program program;
  program.name = std::move(name);
  program.body = body;
  program.grid = grid;
  program.input = std::move(input);
  program.output_bytes = output_bytes;
  program.params.count = count;
  return program;
}

template <LoadRows rows>
void add_loads(std::vector<Program>& programs, const char* name) {
  const auto add = [&](const char* instruction, Body body) {
    programs.push_back(
        warp_program(std::string(instruction) + name, body, {1, 1, 64, 2048}, {}, 1024, 0));
  };
  add("ldmatrix_", body_of<LoadMatrices<rows, false>>());
  add("ldmatrix_transposed_", body_of<LoadMatrices<rows, true>>());
}

inline std::vector<Program> list_matrix_loads() {
  std::vector<Program> programs;
  add_loads<LoadRows::Packed>(programs, "packed");
  add_loads<LoadRows::Backward>(programs, "backward");
  add_loads<LoadRows::Swizzled>(programs, "swizzled");
  add_loads<LoadRows::Apart>(programs, "apart");
  add_loads<LoadRows::Same>(programs, "same");
  return programs;
}

template <MmaType type, Numbers numbers>
void add_products(std::vector<Program>& programs, const char* name, Fill sums, Fill operands,
                  unsigned steps) {
  const std::vector<Segment> input = {{sums, 1024, 31}, {operands, std::size_t{1536} * steps, 32}};
  programs.push_back(warp_program(std::string("mma_") + name,
                                  body_of<MultiplyFragments<type, numbers>>(), {1, 1, 64, 0}, input,
                                  1024, steps));
}

inline std::vector<Program> list_warp_products() {
  std::vector<Program> programs;
  constexpr auto plain = Numbers::AsTheyAre;
  const auto integers = Fill::FloatIntegers;
  add_products<MmaType::Bf16, plain>(programs, "bf16", integers, Fill::Bf16Integers, 1);
  add_products<MmaType::Bf16, plain>(programs, "bf16_chain", integers, Fill::Bf16Integers, 8);
  add_products<MmaType::F16, Numbers::Halves>(programs, "f16", integers, Fill::Bits, 1);
  add_products<MmaType::F16, Numbers::Halves>(programs, "f16_chain", integers, Fill::Bits, 8);
  add_products<MmaType::S8, plain>(programs, "s8", Fill::Bits, Fill::Bits, 1);
  add_products<MmaType::S8, plain>(programs, "s8_chain", Fill::Bits, Fill::Bits, 8);
  // Integers to 1024 have products to 2^20: one step stays exact.
  add_products<MmaType::Tf32, plain>(programs, "tf32", integers, integers, 1);
  add_products<MmaType::Tf32, Numbers::LowBits>(programs, "tf32_low_bits", integers, integers, 1);
  programs.push_back(warp_program("mma_bf16_single_products", body_of<SingleProducts>(),
                                  {1, 1, 32, 0}, {{Fill::Bf16Normals, 16 * 6 * 128, 33}}, 16 * 512,
                                  16));
  return programs;
}

}  // namespace tw::conformance
