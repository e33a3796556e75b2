// Conversions between packed pairs: every fp8 code, and floats where rounding is hard.
#pragma once

#include <bit>

#include "tests/conformance/device.h"
#include "tilewright/isa/ptx/convert.h"

namespace tw::conformance {

// All pairs of codes.
template <bool is_e4m3>
struct WidenPairs {
  using Params = conformance::Params;
  static constexpr unsigned threads = 256;
  static TW_DEVICE void run(const Params& params) {
    for (unsigned pair = isa::thread_index(); pair < 65536; pair += threads) {
      const auto codes = static_cast<std::uint16_t>(pair);
      put_output(params, pair,
                 is_e4m3 ? isa::cvt_f16x2_e4m3x2(codes) : isa::cvt_f16x2_e5m2x2(codes));
    }
  }
};

enum class Target { F16, E4m3, E5m2, S32, S8 };

// Below the last bit that stays: what is there, or halfway to the next number and around it.
template <unsigned dropped_bits>
TW_DEVICE float near_tie(std::uint32_t bits) {
  if constexpr (dropped_bits != 0) {
    constexpr std::uint32_t half = 1u << (dropped_bits - 1);
    const std::uint32_t around = bits % 4 == 0 ? half - 1 : bits % 4 == 1 ? half + 1 : half;
    bits = (bits & ~((1u << dropped_bits) - 1)) | around;
  }
  return std::bit_cast<float>(bits);
}

template <Target target, unsigned dropped_bits>
struct Narrow {
  using Params = conformance::Params;
  static constexpr unsigned threads = 128;
  static TW_DEVICE void run(const Params& params) {
    for (unsigned pair = isa::thread_index(); pair < params.count; pair += threads) {
      const float lower = near_tie<dropped_bits>(get_input(params, 2 * pair));
      const float upper = near_tie<dropped_bits>(get_input(params, 2 * pair + 1));
      if constexpr (target == Target::F16) put_output(params, pair, isa::cvt_f16x2(lower, upper));
      if constexpr (target == Target::E4m3) put_output(params, pair, isa::cvt_e4m3x2(lower, upper));
      if constexpr (target == Target::E5m2) put_output(params, pair, isa::cvt_e5m2x2(lower, upper));
      if constexpr (target == Target::S32) {
        put_output(params, pair, static_cast<std::uint32_t>(isa::cvt_s32(lower)));
      }
      if constexpr (target == Target::S8) {
        put_output(params, pair, static_cast<std::uint32_t>(isa::cvt_s8(lower)));
      }
    }
  }
};

inline std::vector<Program> list_packed_conversions() {
  std::vector<Program> programs;
  const auto add = [&](std::string name, Body body, unsigned threads, std::vector<Segment> input,
                       unsigned pairs) {
    Program program;
    program.name = std::move(name);
    program.body = body;
    program.grid = {1, 1, threads, 0};
    program.input = std::move(input);
    program.output_bytes = std::size_t{pairs} * 4;
    program.params.count = pairs;
    programs.push_back(program);
  };
  add("cvt_f16x2_e4m3x2", body_of<WidenPairs<true>>(), 256, {}, 65536);
  add("cvt_f16x2_e5m2x2", body_of<WidenPairs<false>>(), 256, {}, 65536);
  const auto add_narrow = [&](const std::string& name, Body plain, Body tied) {
    const auto with = [&](const char* what, Body body, Fill fill, unsigned pairs) {
      add("cvt_" + name + what, body, 128, {{fill, std::size_t{pairs} * 8, 41}}, pairs);
    };
    with("_bits", plain, Fill::Bits, 4096);
    with("_normals", plain, Fill::FloatNormals, 2048);
    with("_ties", tied, Fill::FloatNormals, 2048);
    with("_special", plain, Fill::FloatSpecial, 512);
    with("_tiny", plain, Fill::FloatTiny, 256);
  };
  // Half a unit of f16 is 2^12 of a float's fraction, of e4m3 2^19, of e5m2 2^20; of an integer it
  // depends on the exponent, and 22 dropped bits give halves between 1 and 4.
  add_narrow("f16x2", body_of<Narrow<Target::F16, 0>>(), body_of<Narrow<Target::F16, 13>>());
  add_narrow("e4m3x2", body_of<Narrow<Target::E4m3, 0>>(), body_of<Narrow<Target::E4m3, 20>>());
  add_narrow("e5m2x2", body_of<Narrow<Target::E5m2, 0>>(), body_of<Narrow<Target::E5m2, 21>>());
  add_narrow("s32", body_of<Narrow<Target::S32, 0>>(), body_of<Narrow<Target::S32, 22>>());
  add_narrow("s8", body_of<Narrow<Target::S8, 0>>(), body_of<Narrow<Target::S8, 18>>());
  return programs;
}

}  // namespace tw::conformance
