// Arithmetic of integers.
#include <limits>

#include "vgpu/ptx/run/operation.h"

namespace tw::vgpu::ptx {
namespace {

// Sums and products wrap; they are made without sign, which is the same bits. 16 bits would be
// promoted to int, whose products may overflow.
template <class T>
using Wrapping = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

template <class T>
Wrapping<T> bits(T value) {
  return static_cast<Wrapping<T>>(value);
}

template <class T>
using Twice = std::conditional_t<
    sizeof(T) == 2, std::conditional_t<std::is_signed_v<T>, std::int32_t, std::uint32_t>,
    std::conditional_t<sizeof(T) == 4,
                       std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>,
                       std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>>>;

struct Add {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(bits(a) + bits(b));
  }
};
struct Subtract {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(bits(a) - bits(b));
  }
};
struct MultiplyLow {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(bits(a) * bits(b));
  }
};
struct MultiplyHigh {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(static_cast<Twice<T>>(a) * static_cast<Twice<T>>(b) >> 8 * sizeof(T));
  }
};
struct MultiplyAddLow {
  template <class T>
  static T of(T a, T b, T c) {
    return static_cast<T>(bits(a) * bits(b) + bits(c));
  }
};
struct MultiplyAddHigh {
  template <class T>
  static T of(T a, T b, T c) {
    return Add::of(MultiplyHigh::of(a, b), c);
  }
};
// A division by zero gives what the hardware gives, and ends nothing.
struct Divide {
  template <class T>
  static T of(T a, T b) {
    if (b == 0) return static_cast<T>(~T{0});
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return static_cast<T>(0 - bits(a));
    return static_cast<T>(a / b);
  }
};
struct Remainder {
  template <class T>
  static T of(T a, T b) {
    if (b == 0) return a;
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return 0;
    return static_cast<T>(a % b);
  }
};
struct Least {
  template <class T>
  static T of(T a, T b) {
    return a < b ? a : b;
  }
};
struct Most {
  template <class T>
  static T of(T a, T b) {
    return a > b ? a : b;
  }
};
struct Negate {
  template <class T>
  static T of(T a) {
    return static_cast<T>(0 - bits(a));
  }
};
struct Absolute {
  template <class T>
  static T of(T a) {
    return a < 0 ? Negate::of(a) : a;
  }
};

template <class T>
void multiply_wide(Frame& frame, const Step& step) {
  const auto a = static_cast<Twice<T>>(get<T>(frame, step.slots[1]));
  const auto b = static_cast<Twice<T>>(get<T>(frame, step.slots[2]));
  put<Twice<T>>(frame, step.slots[0], a * b);
}
template <class T>
void multiply_add_wide(Frame& frame, const Step& step) {
  const auto a = static_cast<Twice<T>>(get<T>(frame, step.slots[1]));
  const auto b = static_cast<Twice<T>>(get<T>(frame, step.slots[2]));
  put<Twice<T>>(frame, step.slots[0],
                Add::of(static_cast<Twice<T>>(a * b), get<Twice<T>>(frame, step.slots[3])));
}

// dp4a d, a, b, c: the products of the bytes of a and b, and c. dp2a: of the halves of a, and the
// lower or upper two bytes of b.
template <class A, class B, unsigned first>
void dot(Frame& frame, const Step& step) {
  constexpr unsigned count = 4 / sizeof(A);
  const auto a = get<std::uint32_t>(frame, step.slots[1]),
             b = get<std::uint32_t>(frame, step.slots[2]);
  auto sum = get<std::uint32_t>(frame, step.slots[3]);
  for (unsigned i = 0; i < count; ++i) {
    const auto left = static_cast<A>(a >> (8 * sizeof(A) * i));
    const auto right = static_cast<B>(b >> (8 * (first + i)));
    sum += static_cast<std::uint32_t>(left) * static_cast<std::uint32_t>(right);
  }
  put(frame, step.slots[0], sum);
}
template <class A, class B, class Byte>
void add_dots(FormTable& table, const std::string& types) {
  table.add("dp4a" + types, "4444", dot<Byte, B, 0>);
  table.add("dp2a.lo" + types, "4444", dot<A, B, 0>);
  table.add("dp2a.hi" + types, "4444", dot<A, B, 2>);
}

template <class T>
void add_wide(FormTable& table, const std::string& type) {
  const std::string a = letter<T>(), d = letter<Twice<T>>();
  table.add("mul.wide" + type, d + a + a, multiply_wide<T>);
  table.add("mad.wide" + type, d + a + a + d, multiply_add_wide<T>);
}

}  // namespace

void add_integers(FormTable& table) {
  each_integer([&](const std::string& type, auto tag) {
    using T = typename decltype(tag)::type;
    add_binary<T, Add>(table, "add" + type);
    add_binary<T, Subtract>(table, "sub" + type);
    add_binary<T, MultiplyLow>(table, "mul.lo" + type);
    add_binary<T, MultiplyHigh>(table, "mul.hi" + type);
    add_ternary<T, MultiplyAddLow>(table, "mad.lo" + type);
    add_ternary<T, MultiplyAddHigh>(table, "mad.hi" + type);
    add_binary<T, Divide>(table, "div" + type);
    add_binary<T, Remainder>(table, "rem" + type);
    add_binary<T, Least>(table, "min" + type);
    add_binary<T, Most>(table, "max" + type);
    if constexpr (std::is_signed_v<T>) {
      add_unary<T, Negate>(table, "neg" + type);
      add_unary<T, Absolute>(table, "abs" + type);
    }
  });
  add_wide<std::uint16_t>(table, ".u16");
  add_wide<std::int16_t>(table, ".s16");
  add_wide<std::uint32_t>(table, ".u32");
  add_wide<std::int32_t>(table, ".s32");
  add_dots<std::uint16_t, std::uint8_t, std::uint8_t>(table, ".u32.u32");
  add_dots<std::uint16_t, std::int8_t, std::uint8_t>(table, ".u32.s32");
  add_dots<std::int16_t, std::uint8_t, std::int8_t>(table, ".s32.u32");
  add_dots<std::int16_t, std::int8_t, std::int8_t>(table, ".s32.s32");
}

}  // namespace tw::vgpu::ptx
