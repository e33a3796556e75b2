// Floats two by two, of three, and with halves; unsigned pairs; and reductions of floats by a warp.
#include <algorithm>
#include <bit>
#include <cmath>

#include "tilewright/number/convert.h"
#include "vgpu/machine/engine.h"
#include "vgpu/ptx/run/operation.h"

namespace tw::vgpu::ptx {
namespace {

struct Two {
  float values[2];
};

// Both of a 64-bit register.
template <class Operation, unsigned operands>
void both(Frame& frame, const Step& step) {
  Two read[3] = {};
  for (unsigned i = 0; i < operands; ++i) read[i] = get<Two>(frame, step.slots[1 + i]);
  Two result;
  for (unsigned i = 0; i < 2; ++i) {
    result.values[i] = Operation::of(read[0].values[i], read[1].values[i], read[2].values[i]);
  }
  put(frame, step.slots[0], result);
}
struct AddTwo {
  static float of(float a, float b, float) { return a + b; }
};
struct SubtractTwo {
  static float of(float a, float b, float) { return a - b; }
};
struct MultiplyTwo {
  static float of(float a, float b, float) { return a * b; }
};
struct FuseTwo {
  static float of(float a, float b, float c) { return std::fma(a, b, c); }
};

float canonical_nan() { return std::bit_cast<float>(0x7fff'ffffu); }
template <bool is_most>
float extreme(float a, float b) {
  if (std::isnan(a)) return std::isnan(b) ? canonical_nan() : b;
  if (std::isnan(b)) return a;
  if (a == b) return std::signbit(a) == is_most ? b : a;
  return (a > b) == is_most ? a : b;
}
template <bool is_most>
void extreme_of_three(Frame& frame, const Step& step) {
  const float first =
      extreme<is_most>(get<float>(frame, step.slots[1]), get<float>(frame, step.slots[2]));
  put(frame, step.slots[0], extreme<is_most>(first, get<float>(frame, step.slots[3])));
}

// The first operand is a half, exact in a float, and of a fused product the second, too.
template <class Half>
float widened(const Frame& frame, Slot slot) {
  return to_float(Half::from_bits(get<std::uint16_t>(frame, slot)));
}
template <class Half, bool negates>
void add_half(Frame& frame, const Step& step) {
  const float a = widened<Half>(frame, step.slots[1]), c = get<float>(frame, step.slots[2]);
  put(frame, step.slots[0], negates ? a - c : a + c);
}
template <class Half>
void fuse_halves(Frame& frame, const Step& step) {
  put(frame, step.slots[0],
      std::fma(widened<Half>(frame, step.slots[1]), widened<Half>(frame, step.slots[2]),
               get<float>(frame, step.slots[3])));
}

template <class T, bool is_most>
void extreme_of_pairs(Frame& frame, const Step& step) {
  const auto a = get<std::uint32_t>(frame, step.slots[1]);
  const auto b = get<std::uint32_t>(frame, step.slots[2]);
  std::uint32_t result = 0;
  for (const unsigned shift : {0u, 16u}) {
    const T x = static_cast<T>(a >> shift), y = static_cast<T>(b >> shift);
    const auto taken = static_cast<std::uint16_t>(is_most ? std::max(x, y) : std::min(x, y));
    result |= std::uint32_t{taken} << shift;
  }
  put(frame, step.slots[0], result);
}

struct Exponential {
  static float of(float a) { return std::exp2(a); }
};
struct Logarithm {
  static float of(float a) { return std::log2(a); }
};

// redux.sync.max.f32 d, a, mask: detail says whether magnitudes are compared, and whether NaN wins.
constexpr std::uint32_t of_magnitudes = 1, keeps_nan = 2;
template <bool is_most>
void reduce(Frame& frame, const Step& step) {
  if (get<std::uint32_t>(frame, step.slots[2]) != ~0u ||
      engine().current().warp->lanes != first_lanes(warp_lanes)) {
    stop_incomplete(frame, "of some lanes has no model yet");
  }
  float value = get<float>(frame, step.slots[1]);
  if ((step.detail & of_magnitudes) != 0) value = std::fabs(value);
  bool is_nan = std::isnan(value);
  for (unsigned distance = 1; distance < warp_lanes; distance *= 2) {
    const unsigned other = engine().current().lane ^ distance;
    const auto brought =
        std::bit_cast<float>(model::shuffle(std::bit_cast<std::uint32_t>(value), other));
    is_nan = is_nan || std::isnan(brought);
    value = (step.detail & keeps_nan) != 0 && is_nan ? canonical_nan()
                                                     : extreme<is_most>(value, brought);
  }
  put(frame, step.slots[0], value);
}

template <class Half>
void add_with_halves(FormTable& table, const std::string& type) {
  for (const std::string rounding : {"", ".rn"}) {
    table.add("add" + rounding + ".f32" + type, "424", add_half<Half, false>);
    table.add("sub" + rounding + ".f32" + type, "424", add_half<Half, true>);
  }
  table.add("fma.rn.f32" + type, "4224", fuse_halves<Half>);
}

template <bool is_most>
void add_extremes(FormTable& table, const std::string& name) {
  table.add(name + ".f32", "4444", extreme_of_three<is_most>);
  table.add(name + ".u16x2", "444", extreme_of_pairs<std::uint16_t, is_most>);
  table.add(name + ".s16x2", "444", extreme_of_pairs<std::int16_t, is_most>);
  for (const bool magnitudes : {false, true}) {
    for (const bool nan : {false, true}) {
      table.add("redux.sync." + name + (magnitudes ? ".abs" : "") + (nan ? ".NaN" : "") + ".f32",
                "444", reduce<is_most>, (magnitudes ? of_magnitudes : 0) | (nan ? keeps_nan : 0));
    }
  }
}

}  // namespace

void add_pairs(FormTable& table) {
  for (const std::string rounding : {"", ".rn"}) {
    table.add("add" + rounding + ".f32x2", "888", both<AddTwo, 2>);
    table.add("sub" + rounding + ".f32x2", "888", both<SubtractTwo, 2>);
    table.add("mul" + rounding + ".f32x2", "888", both<MultiplyTwo, 2>);
  }
  table.add("fma.rn.f32x2", "8888", both<FuseTwo, 3>);
  add_extremes<false>(table, "min");
  add_extremes<true>(table, "max");
  add_with_halves<Fp16>(table, ".f16");
  add_with_halves<Bf16>(table, ".bf16");
  // With subnormals.
  add_unary<float, Exponential>(table, "ex2.approx.f32");
  add_unary<float, Logarithm>(table, "lg2.approx.f32");
}

}  // namespace tw::vgpu::ptx
