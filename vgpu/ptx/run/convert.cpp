// Conversions between types.
#include "tilewright/isa/ptx/convert.h"

#include <cmath>
#include <limits>

#include "tilewright/isa/ptx/scalar.h"
#include "vgpu/ptx/run/operation.h"

namespace tw::vgpu::ptx {
namespace {

// A narrow result stands extended in a register that is wider than it.
template <class To>
void put_converted(Frame& frame, const Step& step, To value) {
  put_extended(frame, step.slots[0], step.is_wide, static_cast<std::uint64_t>(value));
}

template <class To, class From, bool saturates>
void convert_integer(Frame& frame, const Step& step) {
  const From value = get<From>(frame, step.slots[1]);
  if constexpr (saturates) {
    using Limits = std::numeric_limits<To>;
    const auto wide = static_cast<__int128>(value);
    const __int128 least = Limits::min(), most = Limits::max();
    put_converted(frame, step, static_cast<To>(wide < least ? least : wide > most ? most : wide));
  } else {
    put_converted(frame, step, static_cast<To>(value));
  }
}

enum class Rounding : std::uint8_t { Nearest, Zero, Down, Up };

template <Rounding rounding, class T>
T rounded(T value) {
  switch (rounding) {
    case Rounding::Nearest: return std::nearbyint(value);
    case Rounding::Zero: return std::trunc(value);
    case Rounding::Down: return std::floor(value);
    case Rounding::Up: return std::ceil(value);
  }
  return value;
}

// Values beyond the type become its nearest. NaN is zero, or of 64 bits the highest bit alone.
template <class To, class From, Rounding rounding>
void convert_to_integer(Frame& frame, const Step& step) {
  const From value = get<From>(frame, step.slots[1]);
  using Limits = std::numeric_limits<To>;
  if (std::isnan(value)) {
    constexpr bool is_wide = sizeof(To) == 8 || sizeof(From) == 8;
    return put_converted(frame, step,
                         static_cast<To>(is_wide ? std::uint64_t{1} << (8 * sizeof(To) - 1) : 0));
  }
  const From whole = rounded<rounding>(value);
  const From end = std::ldexp(From{1}, Limits::digits);  // the first that does not fit
  const To result = whole >= end                                   ? Limits::max()
                    : whole < (Limits::is_signed ? -end : From{0}) ? Limits::min()
                                                                   : static_cast<To>(whole);
  put_converted(frame, step, result);
}

template <class To, class From>
void convert_from_integer(Frame& frame, const Step& step) {
  put<To>(frame, step.slots[0], static_cast<To>(get<From>(frame, step.slots[1])));
}

template <Rounding rounding, class T>
void round_float(Frame& frame, const Step& step) {
  put<T>(frame, step.slots[0], rounded<rounding>(get<T>(frame, step.slots[1])));
}

// The letter of a source, which may stand in a wider register.
template <class T>
std::string source_letter() {
  return sizeof(T) == 1 ? "r" : sizeof(T) == 2 ? "H" : sizeof(T) == 4 ? "W" : "8";
}

template <class Visit>
void each_integer_and_byte(const Visit& visit) {
  visit(".u8", Type<std::uint8_t>());
  visit(".s8", Type<std::int8_t>());
  each_integer(visit);
}

template <Rounding rounding>
void add_rounding(FormTable& table, const std::string& name) {
  each_integer_and_byte([&](const std::string& type, auto tag) {
    using T = typename decltype(tag)::type;
    for (const std::string extra : {"", ".sat"}) {
      const std::string begin = "cvt." + name + extra + type;
      table.add(begin + ".f32", "r4", convert_to_integer<T, float, rounding>);
      table.add(begin + ".f64", "r8", convert_to_integer<T, double, rounding>);
    }
  });
  table.add("cvt." + name + ".f32.f32", "44", round_float<rounding, float>);
  table.add("cvt." + name + ".f64.f64", "88", round_float<rounding, double>);
}

std::uint16_t half_of(float value) { return Fp16(value).bits; }
std::uint16_t brain_of(float value) { return Bf16(value).bits; }

// cvt d, upper, lower.
template <std::uint16_t (*convert)(float)>
void convert_pair(Frame& frame, const Step& step) {
  const std::uint32_t upper = convert(get<float>(frame, step.slots[1]));
  put<std::uint32_t>(frame, step.slots[0], upper << 16 | convert(get<float>(frame, step.slots[2])));
}
template <std::uint16_t (*convert)(float, float)>
void convert_byte_pair(Frame& frame, const Step& step) {
  put<std::uint16_t>(frame, step.slots[0],
                     convert(get<float>(frame, step.slots[2]), get<float>(frame, step.slots[1])));
}
template <std::uint32_t (*convert)(std::uint16_t)>
void widen_byte_pair(Frame& frame, const Step& step) {
  put<std::uint32_t>(frame, step.slots[0], convert(get<std::uint16_t>(frame, step.slots[1])));
}
template <std::uint16_t (*convert)(float)>
void narrow(Frame& frame, const Step& step) {
  put<std::uint16_t>(frame, step.slots[0], convert(get<float>(frame, step.slots[1])));
}
void widen_half(Frame& frame, const Step& step) {
  put<float>(frame, step.slots[0], isa::cvt_f32_f16(get<std::uint16_t>(frame, step.slots[1])));
}
void widen_brain(Frame& frame, const Step& step) {
  put<std::uint32_t>(frame, step.slots[0],
                     std::uint32_t{get<std::uint16_t>(frame, step.slots[1])} << 16);
}
void half_to_brain(Frame& frame, const Step& step) {
  put<std::uint16_t>(frame, step.slots[0],
                     brain_of(isa::cvt_f32_f16(get<std::uint16_t>(frame, step.slots[1]))));
}
void float_to_double(Frame& frame, const Step& step) {
  put<double>(frame, step.slots[0], get<float>(frame, step.slots[1]));
}
void double_to_float(Frame& frame, const Step& step) {
  put<float>(frame, step.slots[0], static_cast<float>(get<double>(frame, step.slots[1])));
}

void add_narrow(FormTable& table) {
  table.add("cvt.f32.f16", "42", widen_half);
  for (const std::string rounding : {"", ".rn"}) {
    table.add("cvt" + rounding + ".bf16.f16", "22", half_to_brain);
  }
  table.add("cvt.f32.bf16", "42", widen_brain);
  table.add("cvt.rn.f16.f32", "24", narrow<half_of>);
  table.add("cvt.rn.bf16.f32", "24", narrow<brain_of>);
  table.add("cvt.rn.f16x2.f32", "444", convert_pair<half_of>);
  table.add("cvt.rn.bf16x2.f32", "444", convert_pair<brain_of>);
  table.add("cvt.rn.satfinite.e4m3x2.f32", "244", convert_byte_pair<isa::cvt_e4m3x2>);
  table.add("cvt.rn.satfinite.e5m2x2.f32", "244", convert_byte_pair<isa::cvt_e5m2x2>);
  table.add("cvt.rn.f16x2.e4m3x2", "42", widen_byte_pair<isa::cvt_f16x2_e4m3x2>);
  table.add("cvt.rn.f16x2.e5m2x2", "42", widen_byte_pair<isa::cvt_f16x2_e5m2x2>);
  table.add("cvt.f64.f32", "84", float_to_double);
  table.add("cvt.rn.f32.f64", "48", double_to_float);
}

}  // namespace

void add_conversions(FormTable& table) {
  each_integer_and_byte([&](const std::string& to, auto to_tag) {
    using To = typename decltype(to_tag)::type;
    each_integer_and_byte([&](const std::string& from, auto from_tag) {
      using From = typename decltype(from_tag)::type;
      const std::string source = source_letter<From>();
      table.add("cvt" + to + from, "r" + source, convert_integer<To, From, false>);
      table.add("cvt.sat" + to + from, "r" + source, convert_integer<To, From, true>);
    });
    const std::string source = source_letter<To>();
    table.add("cvt.rn.f32" + to, "4" + source, convert_from_integer<float, To>);
    table.add("cvt.rn.f64" + to, "8" + source, convert_from_integer<double, To>);
  });
  add_rounding<Rounding::Nearest>(table, "rni");
  add_rounding<Rounding::Zero>(table, "rzi");
  add_rounding<Rounding::Down>(table, "rmi");
  add_rounding<Rounding::Up>(table, "rpi");
  add_narrow(table);
}

}  // namespace tw::vgpu::ptx
