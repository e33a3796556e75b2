// stmatrix and the packed conversions.
#pragma once

#include "tests/conformance/device.h"
#include "tilewright/isa/ptx/convert.h"
#include "tilewright/isa/ptx/matrix.h"

namespace tw::conformance {

struct ConvertBf16x2 {
  using Params = conformance::Params;
  static constexpr unsigned threads = 128;
  static TW_DEVICE void run(const Params& params) {
    const auto* floats = reinterpret_cast<const float*>(params.input);
    for (unsigned pair = isa::thread_index(); pair < params.count; pair += threads) {
      put_output(params, pair,
                 isa::cvt_bf16x2(load_element<Space::Global>(floats + 2 * pair),
                                 load_element<Space::Global>(floats + 2 * pair + 1)));
    }
  }
};

enum class Rows { Packed, Backward, Swizzled, Apart };
enum class Matrices { Four, FourTransposed, TwoTransposed };

// Two warps, each with 32 rows of 16 bytes in its own half of shared memory.
template <Rows rows, Matrices matrices = Matrices::Four>
struct StoreMatrices {
  using Params = conformance::Params;
  static constexpr unsigned threads = 64;
  static constexpr unsigned warp_bytes = 1024;
  static constexpr unsigned row_offset(unsigned lane) {
    if (rows == Rows::Packed) return lane * 16;
    if (rows == Rows::Backward) return (31 - lane) * 16;
    if (rows == Rows::Apart) return lane * 32 + 16;
    return lane % 8 * 128 + (lane / 8 ^ lane % 8) * 16;
  }
  static TW_DEVICE void run(const Params& params) {
    const unsigned thread = isa::thread_index();
    fill_shared(threads, 0, 2 * warp_bytes / 4, [](unsigned word) { return pattern(word); });
    isa::barrier_sync(0, threads);
    const SharedAddress row = shared_at(thread / 32 * warp_bytes + row_offset(thread % 32));
    std::uint32_t r[4];
    for (unsigned i = 0; i < 4; ++i) r[i] = get_input(params, i * threads + thread);
    if constexpr (matrices == Matrices::Four) isa::stmatrix_x4(row, r[0], r[1], r[2], r[3]);
    if constexpr (matrices == Matrices::FourTransposed) {
      isa::stmatrix_x4_transposed(row, r[0], r[1], r[2], r[3]);
    }
    if constexpr (matrices == Matrices::TwoTransposed) {
      isa::stmatrix_x2_transposed(row, r[0], r[1]);
    }
    isa::barrier_sync(0, threads);
    dump_shared(params, threads, 0, 0, 2 * warp_bytes / 4);
  }
};

inline std::vector<Program> list_conversions() {
  std::vector<Program> programs;
  const auto add_convert = [&](const char* name, Fill fill, unsigned pairs) {
    Program program;
    program.name = std::string("cvt_bf16x2_") + name;
    program.body = body_of<ConvertBf16x2>();
    program.input = {{fill, pairs * 8, 2}};
    program.output_bytes = pairs * 4;
    program.params.count = pairs;
    programs.push_back(program);
  };
  add_convert("bits", Fill::Bits, 16384);
  add_convert("ties", Fill::FloatTies, 4096);
  add_convert("tiny", Fill::FloatTiny, 512);
  add_convert("near_largest", Fill::FloatNearLargest, 128);
  add_convert("special", Fill::FloatSpecial, 512);
  const auto add_store = [&](const char* name, Body body) {
    Program program;
    program.name = std::string("stmatrix_") + name;
    program.body = body;
    program.grid = {1, 1, 64, 2048};
    program.input = {{Fill::Bits, 64 * 16, 3}};
    program.output_bytes = 2048;
    programs.push_back(program);
  };
  add_store("x4_packed", body_of<StoreMatrices<Rows::Packed>>());
  add_store("x4_backward", body_of<StoreMatrices<Rows::Backward>>());
  add_store("x4_swizzled", body_of<StoreMatrices<Rows::Swizzled>>());
  add_store("x4_apart", body_of<StoreMatrices<Rows::Apart>>());
  add_store("x4_transposed_packed",
            body_of<StoreMatrices<Rows::Packed, Matrices::FourTransposed>>());
  add_store("x4_transposed_swizzled",
            body_of<StoreMatrices<Rows::Swizzled, Matrices::FourTransposed>>());
  add_store("x2_transposed_backward",
            body_of<StoreMatrices<Rows::Backward, Matrices::TwoTransposed>>());
  add_store("x2_transposed_swizzled",
            body_of<StoreMatrices<Rows::Swizzled, Matrices::TwoTransposed>>());
  return programs;
}

}  // namespace tw::conformance
