// Bits of registers: logic, shifts, fields and bytes.
#include <algorithm>
#include <bit>

#include "vgpu/ptx/run/operation.h"

namespace tw::vgpu::ptx {
namespace {

struct Not {
  template <class T>
  static T of(T a) {
    return static_cast<T>(~a);
  }
};
struct IsZero {
  template <class T>
  static T of(T a) {
    return a == 0 ? 1 : 0;
  }
};
struct Reverse {
  template <class T>
  static T of(T a) {
    T reversed = 0;
    for (unsigned i = 0; i < 8 * sizeof(T); ++i) {
      reversed = static_cast<T>(reversed << 1 | (a >> i & 1));
    }
    return reversed;
  }
};

// The amount is 32 bits wide whatever is shifted; amounts beyond the width shift everything out.
template <class T>
void shift_left(Frame& frame, const Step& step) {
  const auto amount = get<std::uint32_t>(frame, step.slots[2]);
  const auto value = get<T>(frame, step.slots[1]);
  put<T>(frame, step.slots[0], amount >= 8 * sizeof(T) ? T{0} : static_cast<T>(value << amount));
}
template <class T>
void shift_right(Frame& frame, const Step& step) {
  const auto amount = get<std::uint32_t>(frame, step.slots[2]);
  const auto value = get<T>(frame, step.slots[1]);
  constexpr std::uint32_t most = 8 * sizeof(T) - 1;
  if constexpr (std::is_signed_v<T>) {
    put<T>(frame, step.slots[0], static_cast<T>(value >> std::min(amount, most)));
  } else {
    put<T>(frame, step.slots[0], amount > most ? T{0} : static_cast<T>(value >> amount));
  }
}

// bfi d, a, b, position, length: a's lowest bits into b.
template <class T>
void insert_field(Frame& frame, const Step& step) {
  const auto a = get<T>(frame, step.slots[1]), b = get<T>(frame, step.slots[2]);
  const std::uint32_t position = get<std::uint32_t>(frame, step.slots[3]) & 0xff;
  const std::uint32_t length = get<std::uint32_t>(frame, step.slots[4]) & 0xff;
  constexpr std::uint32_t width = 8 * sizeof(T);
  T mask = length >= width ? static_cast<T>(~T{0}) : static_cast<T>((T{1} << length) - 1);
  mask = position >= width ? T{0} : static_cast<T>(mask << position);
  const T moved = position >= width ? T{0} : static_cast<T>(a << position);
  put<T>(frame, step.slots[0], static_cast<T>((b & ~mask) | (moved & mask)));
}
// bfe d, a, position, length: bits beyond the field are its sign, of signed types, or zero.
template <class T>
void extract_field(Frame& frame, const Step& step) {
  const auto a = get<T>(frame, step.slots[1]);
  const std::uint32_t position = get<std::uint32_t>(frame, step.slots[2]) & 0xff;
  const std::uint32_t length = get<std::uint32_t>(frame, step.slots[3]) & 0xff;
  constexpr std::uint32_t width = 8 * sizeof(T);
  const auto bit = [&](std::uint32_t at) { return static_cast<std::uint64_t>(a >> at & 1); };
  std::uint64_t sign = 0;
  if (std::is_signed_v<T> && length > 0) sign = bit(std::min(position + length - 1, width - 1));
  std::uint64_t result = 0;
  for (std::uint32_t i = 0; i < width; ++i) {
    const bool is_field = i < length && position + i < width;
    result |= (is_field ? bit(position + i) : sign) << i;
  }
  put<T>(frame, step.slots[0], static_cast<T>(result));
}

template <class T>
void count_bits(Frame& frame, const Step& step) {
  put<std::uint32_t>(frame, step.slots[0],
                     static_cast<std::uint32_t>(std::popcount(get<T>(frame, step.slots[1]))));
}
template <class T>
void count_leading_zeros(Frame& frame, const Step& step) {
  put<std::uint32_t>(frame, step.slots[0],
                     static_cast<std::uint32_t>(std::countl_zero(get<T>(frame, step.slots[1]))));
}

// lop3 d, a, b, c, table: the bit of the table that the three bits count.
void look_up_bits(Frame& frame, const Step& step) {
  const auto a = get<std::uint32_t>(frame, step.slots[1]);
  const auto b = get<std::uint32_t>(frame, step.slots[2]);
  const auto c = get<std::uint32_t>(frame, step.slots[3]);
  const auto table = get<std::uint32_t>(frame, step.slots[4]);
  std::uint32_t result = 0;
  for (unsigned i = 0; i < 8; ++i) {
    if ((table >> i & 1) == 0) continue;
    result |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
  }
  put(frame, step.slots[0], result);
}

// prmt d, a, b, selector. Bit 3 of a digit spreads the sign of the byte that it names.
void permute(Frame& frame, const Step& step) {
  const std::uint64_t bytes = std::uint64_t{get<std::uint32_t>(frame, step.slots[2])} << 32 |
                              get<std::uint32_t>(frame, step.slots[1]);
  const auto selector = get<std::uint32_t>(frame, step.slots[3]);
  std::uint32_t result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const std::uint32_t digit = selector >> 4 * i & 0xf;
    auto byte = static_cast<std::uint32_t>(bytes >> 8 * (digit & 7) & 0xff);
    if ((digit & 8) != 0) byte = (byte & 0x80) != 0 ? 0xff : 0;
    result |= byte << 8 * i;
  }
  put(frame, step.slots[0], result);
}

// shf d, low, high, amount: detail has what it shifts to, and what it does with large amounts.
constexpr std::uint32_t to_the_right = 1, clamps = 2;
void shift_funnel(Frame& frame, const Step& step) {
  const std::uint64_t value = std::uint64_t{get<std::uint32_t>(frame, step.slots[2])} << 32 |
                              get<std::uint32_t>(frame, step.slots[1]);
  auto amount = get<std::uint32_t>(frame, step.slots[3]);
  amount = (step.detail & clamps) != 0 ? std::min(amount, 32u) : amount & 31;
  put(frame, step.slots[0],
      static_cast<std::uint32_t>((step.detail & to_the_right) != 0 ? value >> amount
                                                                   : value << amount >> 32));
}

template <class Operation>
void of_predicates(Frame& frame, const Step& step) {
  put_predicate(frame, step.slots[0],
                (Operation::of(std::uint32_t{get_predicate(frame, step.slots[1])},
                               std::uint32_t{get_predicate(frame, step.slots[2])}) &
                 1) != 0);
}
void not_predicate(Frame& frame, const Step& step) {
  put_predicate(frame, step.slots[0], !get_predicate(frame, step.slots[1]));
}

}  // namespace

void add_bits(FormTable& table) {
  each_bits([&](const std::string& type, auto tag) {
    using T = typename decltype(tag)::type;
    const std::string width = letter<T>();
    add_binary<T, And>(table, "and" + type);
    add_binary<T, Or>(table, "or" + type);
    add_binary<T, Xor>(table, "xor" + type);
    add_unary<T, Not>(table, "not" + type);
    add_unary<T, IsZero>(table, "cnot" + type);
    table.add("shl" + type, width + width + "4", shift_left<T>);
    table.add("shr" + type, width + width + "4", shift_right<T>);
    if constexpr (sizeof(T) > 2) {
      add_unary<T, Reverse>(table, "brev" + type);
      table.add("bfi" + type, width + width + width + "44", insert_field<T>);
      table.add("popc" + type, "4" + width, count_bits<T>);
      table.add("clz" + type, "4" + width, count_leading_zeros<T>);
    }
  });
  each_integer([&](const std::string& type, auto tag) {
    using T = typename decltype(tag)::type;
    const std::string width = letter<T>();
    table.add("shr" + type, width + width + "4", shift_right<T>);
    if constexpr (sizeof(T) > 2) table.add("bfe" + type, width + width + "44", extract_field<T>);
  });
  table.add("lop3.b32", "44444", look_up_bits);
  table.add("prmt.b32", "4444", permute);
  table.add("shf.l.wrap.b32", "4444", shift_funnel);
  table.add("shf.r.wrap.b32", "4444", shift_funnel, to_the_right);
  table.add("shf.l.clamp.b32", "4444", shift_funnel, clamps);
  table.add("shf.r.clamp.b32", "4444", shift_funnel, to_the_right | clamps);
  table.add("and.pred", "111", of_predicates<And>);
  table.add("or.pred", "111", of_predicates<Or>);
  table.add("xor.pred", "111", of_predicates<Xor>);
  table.add("not.pred", "11", not_predicate);
}

}  // namespace tw::vgpu::ptx
