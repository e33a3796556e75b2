// Arithmetic of floats and doubles: rounded to nearest, once for each instruction. What the
// hardware approximates is computed as isa/ptx models it.
#include <bit>
#include <cmath>
#include <initializer_list>
#include <limits>

#include "tilewright/isa/ptx/exponential.h"
#include "tilewright/isa/ptx/scalar.h"
#include "vgpu/ptx/run/operation.h"

namespace tw::vgpu::ptx {
namespace {

// What an instruction with .ftz makes of subnormals, and one with .sat of its result.
template <class T>
T flushed(T value) {
  return std::fabs(value) < std::numeric_limits<T>::min() ? std::copysign(T{0}, value) : value;
}
template <class T>
T saturated(T value) {
  return value >= 1 ? T{1} : value > 0 ? value : T{0};  // NaN becomes zero
}

template <class Operation, bool flushes, bool saturates>
struct Modified {
  template <class T, class... More>
  static T of(T first, More... more) {
    if constexpr (!flushes && !saturates) return Operation::of(first, more...);
    T result;
    if constexpr (flushes) {
      result = flushed(Operation::of(flushed(first), flushed(more)...));
    } else {
      result = Operation::of(first, more...);
    }
    if constexpr (saturates) result = saturated(result);
    return result;
  }
};

struct Add {
  template <class T>
  static T of(T a, T b) {
    return a + b;
  }
};
struct Subtract {
  template <class T>
  static T of(T a, T b) {
    return a - b;
  }
};
struct Multiply {
  template <class T>
  static T of(T a, T b) {
    return a * b;
  }
};
struct Divide {
  template <class T>
  static T of(T a, T b) {
    return a / b;
  }
};
struct MultiplyAdd {
  template <class T>
  static T of(T a, T b, T c) {
    return std::fma(a, b, c);
  }
};
struct Root {
  template <class T>
  static T of(T a) {
    return std::sqrt(a);
  }
};
struct Reciprocal {
  template <class T>
  static T of(T a) {
    return T{1} / a;
  }
};
struct ReciprocalRoot {
  template <class T>
  static T of(T a) {
    return static_cast<T>(1.0 / std::sqrt(static_cast<double>(a)));
  }
};
struct Sine {
  static float of(float a) { return std::sin(a); }
};
struct Cosine {
  static float of(float a) { return std::cos(a); }
};
struct Tangent {
  static float of(float a) { return std::tanh(a); }
};
struct Negate {
  template <class T>
  static T of(T a) {
    return -a;
  }
};
struct Absolute {
  template <class T>
  static T of(T a) {
    return std::fabs(a);
  }
};
// copysign d, a, b: b with the sign of a.
struct CopySign {
  template <class T>
  static T of(T a, T b) {
    return std::copysign(b, a);
  }
};

// The canonical NaN.
template <class T>
T nan_of() {
  if constexpr (sizeof(T) == 4) {
    return std::bit_cast<float>(0x7fff'ffffu);
  } else {
    return std::bit_cast<double>(0x7fff'ffff'ffff'ffffull);
  }
}
// Zeros are told apart: +0 is more than -0. Of a number and NaN it is the number.
template <bool is_most>
struct Extreme {
  template <class T>
  static T of(T a, T b) {
    if (std::isnan(a)) return std::isnan(b) ? nan_of<T>() : b;
    if (std::isnan(b)) return a;
    if (a == b) return std::signbit(a) == is_most ? b : a;
    return (a > b) == is_most ? a : b;
  }
};
template <bool is_most>
struct ExtremeOrNan {
  template <class T>
  static T of(T a, T b) {
    return std::isnan(a) || std::isnan(b) ? nan_of<T>() : Extreme<is_most>::of(a, b);
  }
};

struct ApproximateReciprocal {
  static float of(float a) { return isa::rcp_approx(flushed(a)); }
};
struct ApproximateExponential {
  static float of(float a) { return isa::ex2_approx(a); }
};
// Without .ftz subnormals count.
struct Exponential {
  static float of(float a) { return static_cast<float>(std::exp2(static_cast<double>(a))); }
};
struct Logarithm {
  static float of(float a) { return static_cast<float>(std::log2(static_cast<double>(a))); }
};
struct ApproximateLogarithm {
  static float of(float a) { return isa::lg2_approx(a); }
};

// With all that may stand between the name and the type: a rounding, .ftz, .sat.
template <class Operation, int operands>
void add_rounded(FormTable& table, const std::string& name,
                 std::initializer_list<std::string> roundings) {
  const auto add = [&]<class T, bool flushes, bool saturates>(const std::string& form) {
    using Done = Modified<Operation, flushes, saturates>;
    if constexpr (operands == 1) add_unary<T, Done>(table, form);
    if constexpr (operands == 2) add_binary<T, Done>(table, form);
    if constexpr (operands == 3) add_ternary<T, Done>(table, form);
  };
  for (const std::string& rounding : roundings) {
    const std::string begin = name + rounding;
    add.template operator()<float, false, false>(begin + ".f32");
    add.template operator()<float, true, false>(begin + ".ftz.f32");
    add.template operator()<float, false, true>(begin + ".sat.f32");
    add.template operator()<float, true, true>(begin + ".ftz.sat.f32");
    add.template operator()<double, false, false>(begin + ".f64");
  }
}

template <class Operation>
void add_approximate(FormTable& table, const std::string& name) {
  add_unary<float, Modified<Operation, false, false>>(table, name + ".approx.f32");
  add_unary<float, Modified<Operation, true, false>>(table, name + ".approx.ftz.f32");
}

// Two floats in 64 bits, each alone.
template <class Operation, int operands>
void on_two(Frame& frame, const Step& step) {
  float values[operands][2], result[2];
  for (int i = 0; i < operands; ++i) {
    std::memcpy(values[i], frame.words + step.slots[1 + i], sizeof values[i]);
  }
  for (int i = 0; i < 2; ++i) {
    if constexpr (operands == 2) result[i] = Operation::of(values[0][i], values[1][i]);
    if constexpr (operands == 3) {
      result[i] = Operation::of(values[0][i], values[1][i], values[2][i]);
    }
  }
  std::memcpy(frame.words + step.slots[0], result, sizeof result);
}
template <class Operation, int operands>
void add_two(FormTable& table, const std::string& name) {
  const std::string registers(operands + 1, '8');
  for (const std::string rounding : {"", ".rn"}) {
    table.add(name + rounding + ".f32x2", registers,
              on_two<Modified<Operation, false, false>, operands>);
    table.add(name + rounding + ".ftz.f32x2", registers,
              on_two<Modified<Operation, true, false>, operands>);
  }
}

}  // namespace

void add_floating(FormTable& table) {
  add_rounded<Add, 2>(table, "add", {"", ".rn"});
  add_rounded<Subtract, 2>(table, "sub", {"", ".rn"});
  add_rounded<Multiply, 2>(table, "mul", {"", ".rn"});
  add_rounded<MultiplyAdd, 3>(table, "fma", {".rn"});
  add_two<Add, 2>(table, "add");
  add_two<Subtract, 2>(table, "sub");
  add_two<Multiply, 2>(table, "mul");
  add_two<MultiplyAdd, 3>(table, "fma");
  add_rounded<Divide, 2>(table, "div", {".rn"});
  add_rounded<Root, 1>(table, "sqrt", {".rn"});
  add_rounded<Reciprocal, 1>(table, "rcp", {".rn"});
  add_rounded<Negate, 1>(table, "neg", {""});
  add_rounded<Absolute, 1>(table, "abs", {""});
  add_rounded<Extreme<false>, 2>(table, "min", {""});
  add_rounded<Extreme<true>, 2>(table, "max", {""});
  for (const std::string form : {"div.approx", "div.full"}) {
    add_binary<float, Divide>(table, form + ".f32");
    add_binary<float, Modified<Divide, true, false>>(table, form + ".ftz.f32");
  }
  add_approximate<Root>(table, "sqrt");
  add_approximate<ReciprocalRoot>(table, "rsqrt");
  add_approximate<Sine>(table, "sin");
  add_approximate<Cosine>(table, "cos");
  add_unary<float, Tangent>(table, "tanh.approx.f32");
  add_unary<float, Reciprocal>(table, "rcp.approx.f32");
  add_unary<float, ApproximateReciprocal>(table, "rcp.approx.ftz.f32");
  add_unary<float, ApproximateExponential>(table, "ex2.approx.ftz.f32");
  add_unary<float, Exponential>(table, "ex2.approx.f32");
  add_unary<float, Logarithm>(table, "lg2.approx.f32");
  add_unary<float, ApproximateLogarithm>(table, "lg2.approx.ftz.f32");
  add_binary<float, ExtremeOrNan<false>>(table, "min.NaN.f32");
  add_binary<float, ExtremeOrNan<true>>(table, "max.NaN.f32");
  add_binary<float, CopySign>(table, "copysign.f32");
  add_binary<double, CopySign>(table, "copysign.f64");
}

}  // namespace tw::vgpu::ptx
