// Arithmetic of f16 and bf16, alone and in pairs.
#include "vgpu/ptx/run/half.h"

#include <limits>

#include "tilewright/isa/ptx/exponential.h"
#include "vgpu/ptx/run/operation.h"

namespace tw::vgpu::ptx {
namespace {

struct Subtract {
  static double of(double a, double b) { return odd_sum(a, -b); }
};
struct Multiply {
  static double of(double a, double b) { return a * b; }
};
struct MultiplyAdd {
  static double of(double a, double b, double c) { return odd_sum(a * b, c); }
};
struct Negate {
  static double of(double a) { return -a; }
};
struct Absolute {
  static double of(double a) { return std::fabs(a); }
};
// A number wins over NaN, unless the form says .NaN.
template <bool is_most, bool keeps_nan>
struct Extreme {
  static double of(double a, double b) {
    if (std::isnan(a) || std::isnan(b)) {
      if (keeps_nan) return std::numeric_limits<double>::quiet_NaN();
      return std::isnan(a) ? b : a;
    }
    if (a == b) return std::signbit(a) == is_most ? b : a;
    return (a > b) == is_most ? a : b;
  }
};
struct Exponential {
  static double of(double a) { return static_cast<double>(isa::ex2_approx(static_cast<float>(a))); }
};
struct Tangent {
  static double of(double a) { return std::tanh(a); }
};
// Below zero becomes zero; NaN stays.
template <class Operation>
struct Rectified {
  template <class... Values>
  static double of(Values... values) {
    const double result = Operation::of(values...);
    return result < 0 ? 0 : result;
  }
};
template <class Operation>
struct Saturated {
  template <class... Values>
  static double of(Values... values) {
    const double result = Operation::of(values...);
    return result >= 1 ? 1 : result > 0 ? result : 0;
  }
};

template <class Format, class Operation, int operands>
void one(Frame& frame, const Step& step) {
  const auto value = [&](int i) {
    return Format::value(get<std::uint16_t>(frame, step.slots[1 + i]));
  };
  double result = 0;
  if constexpr (operands == 1) result = Operation::of(value(0));
  if constexpr (operands == 2) result = Operation::of(value(0), value(1));
  if constexpr (operands == 3) result = Operation::of(value(0), value(1), value(2));
  put<std::uint16_t>(frame, step.slots[0], Format::round(result));
}
template <class Format, class Operation, int operands>
void two(Frame& frame, const Step& step) {
  const auto word = [&](int i) { return get<std::uint32_t>(frame, step.slots[1 + i]); };
  std::uint32_t result = 0;
  if constexpr (operands == 1) result = on_halves<Format, Operation>(word(0));
  if constexpr (operands == 2) result = on_halves<Format, Operation>(word(0), word(1));
  if constexpr (operands == 3) result = on_halves<Format, Operation>(word(0), word(1), word(2));
  put(frame, step.slots[0], result);
}

template <class Format, class Operation, int operands>
void add(FormTable& table, const std::string& name, const std::string& type) {
  table.add(name + type, std::string(operands + 1, '2'), one<Format, Operation, operands>);
  table.add(name + type + "x2", std::string(operands + 1, '4'), two<Format, Operation, operands>);
}

template <class Format>
void add_format(FormTable& table, const std::string& type) {
  for (const std::string flush : {"", ".ftz"}) {
    for (const std::string rounding : {"", ".rn"}) {
      add<Format, HalfAdd, 2>(table, "add" + rounding + flush, type);
      add<Format, Subtract, 2>(table, "sub" + rounding + flush, type);
      add<Format, Multiply, 2>(table, "mul" + rounding + flush, type);
      add<Format, Saturated<HalfAdd>, 2>(table, "add" + rounding + flush + ".sat", type);
      add<Format, Saturated<Multiply>, 2>(table, "mul" + rounding + flush + ".sat", type);
    }
    add<Format, MultiplyAdd, 3>(table, "fma.rn" + flush, type);
    add<Format, Saturated<MultiplyAdd>, 3>(table, "fma.rn" + flush + ".sat", type);
    add<Format, Rectified<MultiplyAdd>, 3>(table, "fma.rn" + flush + ".relu", type);
    add<Format, Extreme<false, false>, 2>(table, "min" + flush, type);
    add<Format, Extreme<true, false>, 2>(table, "max" + flush, type);
    add<Format, Extreme<false, true>, 2>(table, "min" + flush + ".NaN", type);
    add<Format, Extreme<true, true>, 2>(table, "max" + flush + ".NaN", type);
    add<Format, Negate, 1>(table, "neg" + flush, type);
    add<Format, Absolute, 1>(table, "abs" + flush, type);
    add<Format, Exponential, 1>(table, "ex2.approx" + flush, type);
  }
  add<Format, Tangent, 1>(table, "tanh.approx", type);
}

// Comparisons of one number each, and of two with a predicate each.
enum class Relation : std::uint8_t { Equal, NotEqual, Less, AtMost, More, AtLeast };
template <Relation relation>
bool holds(double a, double b) {
  switch (relation) {
    case Relation::Equal: return a == b;
    case Relation::NotEqual: return a < b || a > b;
    case Relation::Less: return a < b;
    case Relation::AtMost: return a <= b;
    case Relation::More: return a > b;
    case Relation::AtLeast: return a >= b;
  }
  return false;
}
template <class Format, Relation relation, bool or_nan>
void compare(Frame& frame, const Step& step) {
  const double a = Format::value(get<std::uint16_t>(frame, step.slots[1]));
  const double b = Format::value(get<std::uint16_t>(frame, step.slots[2]));
  put_predicate(frame, step.slots[0],
                holds<relation>(a, b) || (or_nan && (std::isnan(a) || std::isnan(b))));
}
template <class Format, Relation relation, bool or_nan>
void compare_two(Frame& frame, const Step& step) {
  const auto a = get<std::uint32_t>(frame, step.slots[2]);
  const auto b = get<std::uint32_t>(frame, step.slots[3]);
  for (unsigned half = 0; half < 2; ++half) {
    const double left = Format::value(static_cast<std::uint16_t>(a >> 16 * half));
    const double right = Format::value(static_cast<std::uint16_t>(b >> 16 * half));
    put_predicate(
        frame, step.slots[half],
        holds<relation>(left, right) || (or_nan && (std::isnan(left) || std::isnan(right))));
  }
}
template <class Format, Relation relation>
void add_relation(FormTable& table, const std::string& name, const std::string& type) {
  for (const std::string flush : {"", ".ftz"}) {
    table.add("setp." + name + flush + type, "122", compare<Format, relation, false>);
    table.add("setp." + name + "u" + flush + type, "122", compare<Format, relation, true>);
    table.add("setp." + name + flush + type + "x2", "1|144", compare_two<Format, relation, false>);
    table.add("setp." + name + "u" + flush + type + "x2", "1|144",
              compare_two<Format, relation, true>);
  }
}
template <class Format>
void add_relations(FormTable& table, const std::string& type) {
  add_relation<Format, Relation::Equal>(table, "eq", type);
  add_relation<Format, Relation::NotEqual>(table, "ne", type);
  add_relation<Format, Relation::Less>(table, "lt", type);
  add_relation<Format, Relation::AtMost>(table, "le", type);
  add_relation<Format, Relation::More>(table, "gt", type);
  add_relation<Format, Relation::AtLeast>(table, "ge", type);
}

}  // namespace

void add_halves(FormTable& table) {
  add_format<FormatF16>(table, ".f16");
  add_format<FormatBf16>(table, ".bf16");
  add_relations<FormatF16>(table, ".f16");
  add_relations<FormatBf16>(table, ".bf16");
}

}  // namespace tw::vgpu::ptx
