// What atomic operations and copies that reduce make of a value and another.
#pragma once

#include <type_traits>

#include "vgpu/ptx/run/half.h"
#include "vgpu/ptx/run/operation.h"

namespace tw::vgpu::ptx::change {

struct Add {
  template <class T>
  static T of(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      using Bits = std::make_unsigned_t<T>;
      return static_cast<T>(static_cast<Bits>(a) + static_cast<Bits>(b));
    } else {
      return a + b;
    }
  }
};
struct Least {
  template <class T>
  static T of(T a, T b) {
    return b < a ? b : a;
  }
};
struct Most {
  template <class T>
  static T of(T a, T b) {
    return a < b ? b : a;
  }
};
struct Increase {
  template <class T>
  static T of(T a, T b) {
    return a >= b ? T{0} : static_cast<T>(a + 1);
  }
};
struct Decrease {
  template <class T>
  static T of(T a, T b) {
    return a == 0 || a > b ? b : static_cast<T>(a - 1);
  }
};
struct Exchange {
  template <class T>
  static T of(T, T b) {
    return b;
  }
};

// Operations of half.h, on bits.
template <class Format, class Operation>
struct Halves {
  static std::uint32_t of(std::uint32_t a, std::uint32_t b) {
    return on_halves<Format, Operation>(a, b);
  }
};
template <class Format, class Operation>
struct Half {
  static std::uint16_t of(std::uint16_t a, std::uint16_t b) {
    return Format::round(Operation::of(Format::value(a), Format::value(b)));
  }
};

}  // namespace tw::vgpu::ptx::change
